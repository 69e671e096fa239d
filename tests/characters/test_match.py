"""Matching works to the catalogue: rules, editions, sources, overrides."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

pl = pytest.importorskip("polars")

from bookcoref_data.characters.editions import EditionSettings, choose  # noqa: E402
from bookcoref_data.characters.match import LENT, MatchSettings, match  # noqa: E402
from bookcoref_data.characters.match_rules import RULES, Override, overrides_from  # noqa: E402
from bookcoref_data.characters.presence import Presence  # noqa: E402
from bookcoref_data.characters.table import CastRow, HarvestedCast  # noqa: E402
from bookcoref_data.characters.titles import usual_title  # noqa: E402
from bookcoref_data.errors import UsageError  # noqa: E402

PERSON = pl.Struct({"role": pl.String, "name": pl.String, "aliases": pl.List(pl.String)})
SCHEMA = {"id": pl.Int64, "form": pl.String, "downloads": pl.Int64, "titles": pl.List(pl.String),
          "authors": pl.List(pl.String), "aliases": pl.List(pl.String), "subjects": pl.List(pl.String),
          "languages": pl.List(pl.String), "people": pl.List(PERSON)}  # fmt: skip


def record(number, title, author, *, aliases=(), downloads=100, languages=("en",), form="Text", subjects=(),
           others=()):  # fmt: skip
    people = [{"role": "cre", "name": author, "aliases": list(aliases)}]
    people += [{"role": role, "name": name, "aliases": []} for role, name in others]
    return {"id": number, "form": form, "downloads": downloads, "titles": [title], "authors": [author],
            "aliases": list(aliases), "subjects": list(subjects), "languages": list(languages),
            "people": people}  # fmt: skip


def frame(*records):
    return pl.DataFrame(list(records), schema=SCHEMA)


def cast(title, author="", size=6, source="wikidata", work_id="", **more):
    authors = (author,) if author else ()
    work_id = work_id or f"{source}-{title}"
    return HarvestedCast(tuple(
        CastRow(source, work_id, title, f"Person {n}", author=author, authors=authors, **more)
        for n in range(size)
    ))  # fmt: skip


def found(casts, records, settings=None, overrides=()):
    report = match(casts, frame(*records), settings, overrides)
    return [work.gutenberg_id for work in report.works]


def test_the_name_of_a_hero_is_none_of_the_books_about_him():
    doyle = "Doyle, Arthur Conan"
    works = [
        cast("Sherlock Holmes", "Arthur Conan Doyle"),
        cast("Memoirs of Sherlock Holmes", "Arthur Conan Doyle"),
    ]
    memoirs = [
        record(834, "The Memoirs of Sherlock Holmes", doyle),
        record(9555, "Memoirs of Sherlock Holmes", doyle),
    ]
    others = [record(1661, "The Adventures of Sherlock Holmes", doyle)]
    assert found(works, [*memoirs, *others]) == [None, 834]
    # One work in several editions, and what only a comma adds, decide as before.
    assert found(works, memoirs) == [834, 834]
    assert found(works, [*memoirs, record(9999, "Sherlock Holmes, Detective", doyle)]) == [834, 834]
    near = match(works, frame(*memoirs, *others)).works[0]
    assert {choice.gutenberg_id for choice in near.considered} == {834, 1661, 9555}
    assert "'The Adventures of Sherlock Holmes' by this author, too" in near.reason


# -- rules -------------------------------------------------------------------------------------------

CASES = {
    "exact": ("Emma", "Jane Austen", "Emma", "Austen, Jane"),
    "accents": ("Les Miserables", "Victor Hugo", "Les Misérables", "Hugo, Victor"),
    "article": ("Return of the Native", "Thomas Hardy", "The Return of the Native", "Hardy, Thomas"),
    "subtitle": ("Pan Tadeusz", "Adam Mickiewicz",
                 "Pan Tadeusz\r\nOr, the Last Foray in Lithuania; a Story of Life", "Mickiewicz, Adam"),
    "author": ("Emma", "J. Austen", "Emma", "Austen, Jane"),
    "alternative": ("Virtue Rewarded", "Samuel Richardson",
                    "Pamela, or Virtue Rewarded", "Richardson, Samuel"),
    "collection": ("The Awakening", "Kate Chopin",
                   "The Awakening, and Selected Short Stories", "Chopin, Kate"),
    "compound": ("The Boxcar Children", "G. Warner", "The Box-Car Children", "Warner, Gertrude Chandler"),
    "spelling": ("Dr. Grey in 80 Days", "Jules Verne", "Doctor Gray in Eighty Days", "Verne, Jules"),
    "plural": ("Leagues under the Seas", "Jules Verne", "Leagues Under the Sea", "Verne, Jules"),
    "named": ("Fables", "Aesop", "The Fables of Aesop", "Aesop"),
    "frame": ("Pudd'nhead Wilson", "Mark Twain", "The Tragedy of Pudd'nhead Wilson", "Twain, Mark"),
    "affix": ("The Way We Live", "Anthony Trollope", "The Way We Live Now", "Trollope, Anthony"),
    "part": ("Inferno", "Dante Alighieri", "The Divine Comedy: Inferno", "Dante Alighieri"),
    "near": ("Thérèse Raquin", "Émile Zola", "Theresa Raquin", "Zola, Émile"),
    "title-only": ("Emma", "", "Emma", "Austen, Jane"),
}  # fmt: skip


@pytest.mark.parametrize(("title", "author", "other"), [
    ("Mrs Dalloway", "Woolf, Virginia", "Mrs Dalloway in Bond Street"),
    ("The Jungle Book", "Kipling, Rudyard", "The Second Jungle Book"),
    ("Uncle Tom's Cabin", "Stowe, Harriet Beecher", "A Key to Uncle Tom's Cabin"),
    ("From the Earth to the Moon", "Verne, Jules",
     'The Purchase of the North Pole\nA sequel to "From the earth to the moon"'),
])  # fmt: skip
def test_a_sequel_or_a_piece_by_the_same_author_is_another_book(title, author, other):
    work = match([cast(title, author)], frame(record(7, other, author))).works[0]
    assert work.gutenberg_id is None


@pytest.mark.parametrize("rule", CASES)
def test_each_rule_finds_what_no_rule_before_it_finds(rule):
    title, author, gutenberg_title, gutenberg_author = CASES[rule]
    records, casts = frame(record(7, gutenberg_title, gutenberg_author)), [cast(title, author)]
    names = list(RULES)
    before = tuple(names[: names.index(rule)])
    if before:
        assert match(casts, records, MatchSettings(rules=before)).works[0].gutenberg_id is None
    work = match(casts, records).works[0]
    assert (work.gutenberg_id, work.rule) == (7, rule)
    assert work.reason.startswith(rule)


@pytest.mark.parametrize(("author", "gutenberg", "aliases"), [
    ("Leo Tolstoy", "Tolstoy, Leo, graf", ()),
    ("Count Leo Tolstoy", "Tolstoy, Leo, graf", ()),
    ("Sir Walter Scott", "Scott, Walter", ()),
    ("Alexandre Dumas (père)", "Dumas, Alexandre", ()),
    ("Miguel de Cervantes", "Cervantes Saavedra, Miguel de", ()),
    ("Murasaki Shikibu", "Murasaki Shikibu", ()),
    ("James F. Cooper", "Cooper, James Fenimore", ()),
    ("Charlotte Bronte", "Brontë, Charlotte", ()),
    ("Bjørnstjerne Bjørnson", "Bjørnson, Bjørnstjerne", ()),
    ("Wladyslaw Lozinski", "Łoziński, Władysław", ()),
    ("Samuel Clemens", "Twain, Mark", ("Clemens, Samuel Langhorne",)),
    ("Marie-Henri Beyle (Stendhal)", "Stendhal", ("Beyle, Marie-Henri",)),
    ("George Eliot", "Eliot, George (1819-1880)", ()),
    ("Lucy Maud Montgomery", "Montgomery, L. M. (Lucy Maud)", ()),
    ("David Herbert Lawrence", "Lawrence, D. H. (David Herbert)", ()),
    ("D. H. Lawrence", "Lawrence, D. H. (David Herbert)", ()),
    ("Eleanor Farjeon", "Farjeon, E.", ()),
    ("Yolande Smith", "Smith, Y. (Yolande)", ()),
    ("Martin Luther King, Jr.", "King, Martin Luther, Jr.", ()),
    ("Alexander Pope", "Pope, A. (Alexander)", ()),
    ("Ángel Guimerà", "Guimerà, À. (Àngel)", ()),
    ("Ortega y Gasset", "Ortega y Gasset, José", ("Ortega y Gasset",)),
])  # fmt: skip
def test_authors_as_gutenberg_writes_them(author, gutenberg, aliases):
    assert found([cast("X of Y", author)], [record(1, "X of Y", gutenberg, aliases=aliases)]) == [1]


@pytest.mark.parametrize(("title", "author", "other_title", "other_author"), [
    ("The Jungle", "Upton Sinclair", "The Jungle Book", "Kipling, Rudyard"),
    ("The Jungle", "Rudyard Kipling", "The Jungle Book", "Kipling, Rudyard"),
    ("Pride and Prejudice and Zombies", "Jane Austen", "Pride and Prejudice", "Austen, Jane"),
    ("Kidnapped", "Robert Louis Stevenson", "A Kidnapped Santa Claus", "Baum, L. Frank"),
    ("Emma", "Jane Austen", "Emma", "Austen, Charles"),
    ("The Awakening", "Kate Chopin", "The Awakening\r(The Resurrection)", "Tolstoy, Leo, graf"),
    ("Don Quixote", "Miguel de Cervantes", "The Story of Don Quixote", "Cervantes Saavedra, Miguel de"),
    ("Little Women", "Louisa May Alcott",
     "Little Women Letters from the House of Alcott", "Alcott, Louisa May"),
    ("Don Quixote", "Miguel de Cervantes", "The History of Don Quixote, Volume 1, Complete",
     "Cervantes Saavedra, Miguel de"),
    ("Uncle Tom's Cabin", "Harriet Beecher Stowe", "Uncle Tom's Cabin, Young Folks' Edition",
     "Stowe, Harriet Beecher"),
    ("Les Misérables (Vol. 1)", "Victor Hugo", "Les Misérables", "Hugo, Victor"),
    ("Don Quixote, Part Two", "Miguel de Cervantes", "Don Quixote", "Cervantes Saavedra, Miguel de"),
    ("Henry IV, Part II", "William Shakespeare", "King Henry IV, Part 1", "Shakespeare, William"),
    ("The Moonstone", "Wilkie Collins", "The Moonstone: A Dramatization", "Collins, Wilkie"),
    ("The Chimes", "Charles Dickens", "Christmas Books: A Christmas Carol; The Chimes; The Battle of Life",
     "Dickens, Charles"),
    ("Story of a Girl", "", "Girls: Faults and Ideals", "Miller, J. R."),
    ("Sister Carrie", "Theodore Dreiser", "Sister Clara", "Dreiser, Theodore"),
    ("Chapter Eleven", "J. Doe", "Chapter Seven", "Doe, John"),
])  # fmt: skip
def test_look_alikes_are_not_taken(title, author, other_title, other_author):
    assert found([cast(title, author)], [record(1, other_title, other_author)]) == [None]


@pytest.mark.parametrize(("title", "author", "other_title", "other_author"), [
    ("Confessions", "Saint Augustine", "The Confessions of St. Augustine", "Augustine, of Hippo, Saint"),
    ("Medea", "Euripides", "Medea of Euripides", "Euripides"),
    ("The Metamorphoses", "Ovid", "The Metamorphoses of Publius Ovidus Naso in English verse Vols. I & II",
     "Ovid"),
    ("Henry VI Part 2", "William Shakespeare", "King Henry VI, Part II",
     "Shakespeare, William"),
    ("RUR", "Karel Čapek", "R.U.R. (Rossum's Universal Robots)\nA Fantastic Melodrama", "Čapek, Karel"),
    ("Oedipus the King", "Sophocles", "Oedipus King of Thebes", "Sophocles"),
    ("Incidents in the Life of a Girl", "Harriet Jacobs",
     "Incidents in the Life of a Girl, Written by Herself", "Jacobs, Harriet A. (Harriet Ann)"),
])  # fmt: skip
def test_titles_of_the_same_work(title, author, other_title, other_author):
    aliases = ("Ovidius Naso, Publius",) if other_author == "Ovid" else ("Augustine, Saint",)
    records = [record(1, other_title, other_author, aliases=aliases)]
    assert found([cast(title, author)], records) == [1]


@pytest.mark.parametrize("title", [
    "Tale of Two Cities, A", "A Tale of Two Cities (novel)", "Tale of Two Cities, A (1859 novel)",
    "A Tale of Two Cities (book)", "A Tale of Two Cities (Charles Dickens novel)",
    "A Tale of Two Cities (novel by Charles Dickens)", "A Tale of Two Cities (book series)",
])  # fmt: skip
@pytest.mark.parametrize("author", ["Charles Dickens", ""])
def test_a_moved_article_and_what_a_title_is_are_not_part_of_it(title, author):
    names = ("A Tale of Two Cities", "Two Cities", "The Novel")
    records = [record(number, name, "Dickens, Charles") for number, name in enumerate(names, 1)]
    decided = [match([cast(t, author)], frame(*records)).works[0] for t in ("A Tale of Two Cities", title)]
    assert decided[0].gutenberg_id == decided[1].gutenberg_id == 1
    assert decided[0].rule == decided[1].rule


@pytest.mark.parametrize(
    "title", ["Camille (La Dame aux Camélias)", "Tales (The Second Jungle Book)", "(novel)"]
)
def test_other_words_in_brackets_stay(title):
    assert usual_title(title) == title


def test_a_named_part_is_preferred_to_the_whole():
    whole = record(1, "The Divine Comedy", "Dante Alighieri", downloads=9000)
    part = record(2, "Divine Comedy: The Inferno", "Dante Alighieri")
    assert found([cast("The Divine Comedy: Inferno", "Dante Alighieri")], [whole, part]) == [2]


def test_a_translator_or_illustrator_is_no_author():
    book = record(1, "War and Peace", "Tolstoy, Leo, graf", others=[("trl", "Maude, Louise")])
    assert found([cast("War and Peace", "Louise Maude")], [book]) == [None]


def test_titles_in_other_languages_count():
    work = cast("Le Rouge et le Noir", "Stendhal", titles=("The Red and the Black",))
    assert found([work], [record(1, "The Red and the Black: A Chronicle of 1830", "Stendhal")]) == [1]


# -- editions ----------------------------------------------------------------------------------------


def test_of_several_records_one_is_chosen_and_the_others_have_reasons():
    records = [
        record(5, "Emma", "Austen, Jane", downloads=50),
        record(6, "Emma", "Austen, Jane", downloads=900),
        record(7, "Emma", "Austen, Jane", downloads=9000, languages=("fr",)),
        record(8, "Emma", "Austen, Jane", downloads=9000, form="Sound"),
        record(9, "Emma: Volume 2", "Austen, Jane", downloads=9000),
        record(10, "Emma", "Austen, Jane", downloads=9000, subjects=["English drama -- 19th century"]),
        record(11, "Emma", "Austen, Jane", downloads=9000, languages=("en", "fr")),
        record(12, "Emma: School Edition", "Austen, Jane", downloads=9000),
        record(13, "Emma", "Austen, Jane", downloads=900),
        record(14, "Emma, retold", "Austen, Jane", downloads=9000),
    ]
    work = match([cast("Emma", "Jane Austen")], frame(*records)).works[0]
    assert work.gutenberg_id == 6
    assert {choice.gutenberg_id: choice.refused for choice in work.considered} == {
        5: "fewer downloads (50, not 900)", 6: "", 7: "language fr", 8: "not a text but Sound",
        9: "a part (2) of the work", 10: "a play", 11: "in several languages (en, fr)",
        12: "perhaps a shortened edition", 13: "the same in all, a higher number",
        14: "an adaptation ('retold' in the title)",
    }  # fmt: skip


def test_all_records_of_a_work_compete_whatever_rule_found_them():
    records = [record(1, "Little Women", "Alcott, Louisa May", downloads=3000),
               record(2, "Little Women; Or, Meg, Jo, Beth, and Amy", "Alcott, Louisa May", downloads=14000),
               record(3, "Little Women and Other Tales", "Alcott, Louisa May", downloads=90000)]  # fmt: skip
    work = match([cast("Little Women", "Louisa May Alcott")], frame(*records)).works[0]
    assert work.gutenberg_id == 2
    assert {c.gutenberg_id: c.refused.split(" (")[0] for c in work.considered} == {
        2: "", 1: "fewer downloads", 3: "its title fits less closely"}  # fmt: skip


def test_one_record_per_work_across_sources():
    records = [record(1, "Little Women", "Alcott, Louisa May", downloads=3000)]
    both = [cast("Little Women", "L. Alcott", source="shmoop"), cast("Little Women", "Louisa May Alcott")]
    same = match(both, frame(records[0], record(5, "Little Women", "Alcott, L.", downloads=9000)))
    assert len({work.gutenberg_id for work in same.works}) == len(same.books) == 1


def test_a_novel_in_two_spellings_is_one_book_whatever_source_names_it():
    records = frame(record(164, "Twenty Thousand Leagues under the Sea", "Verne, Jules", downloads=7000),
                    record(2488, "Twenty Thousand Leagues Under the Seas: An Underwater Tour of the World",
                           "Verne, Jules", downloads=1700))  # fmt: skip
    works = [cast("20,000 Leagues Under the Sea", "Jules Verne", source="shmoop"),
             cast("Twenty Thousand Leagues Under the Seas", "Jules Verne")]  # fmt: skip
    report = match(works, records)
    assert [work.gutenberg_id for work in report.works] == [164, 164]
    assert len(report.books) == 1


def test_a_record_or_a_work_without_author_can_match():
    nobody = record(1, "The Thousand and One Nights", "Anonymous") | {"authors": [], "people": []}
    other = record(2, "The Thousand and One Nights", "Somebody, A.", downloads=90)
    tales = "The Thousand and One Nights"
    assert found([cast(tales, "Anonymous")], [nobody]) == [1]
    assert found([cast(tales)], [nobody, other]) == [1]
    guide, wikidata = cast(tales, source="shmoop"), cast(tales, "Anonymous")
    assert found([guide, wikidata], [nobody]) == [1, 1]


def test_a_title_alone_may_begin_with_a_ligature():
    assert found([cast("Œdipe")], [record(1, "Œdipe", "Anonymous")]) == [1]


def test_the_book_that_a_source_names_itself_comes_first():
    records = [record(1, "Emma", "Austen, Jane", downloads=900), record(2, "Emma, a novel", "Austen, Jane")]
    work = match([cast("Emma", "Jane Austen", gutenberg_ids=("2",))], frame(*records)).works[0]
    assert (work.gutenberg_id, work.rule) == (2, "stated")


def test_a_play_is_taken_for_a_play_and_fiction_about_drama_stays_a_novel():
    play = record(1, "Faust", "Goethe, Johann", subjects=["German drama"])
    assert found([cast("Faust", "Johann Goethe", kinds=("Q8261",))], [play]) == [None]
    assert found([cast("Faust", "Johann Goethe", kinds=("Q25379",))], [play]) == [1]
    unknown = match([cast("Faust", "Johann Goethe", source="shmoop")], frame(play)).works[0]
    assert (unknown.gutenberg_id, "a play" in unknown.review) == (1, True)
    tale = record(2, "Faust", "Goethe, Johann", subjects=["Fiction"], downloads=9000)
    assert found([cast("Faust", "Johann Goethe", kinds=("Q25379",))], [play, tale]) == [1]
    assert found([cast("Faust", "Johann Goethe")], [play, tale]) == [2]
    novel = record(1, "Faust", "Goethe, Johann", subjects=["Drama -- Fiction"])
    assert found([cast("Faust", "Johann Goethe")], [novel]) == [1]


@pytest.mark.parametrize(("bearer", "taken", "others"), [
    ("elder", 2, ["the same in all, a higher number", "by a younger author of this name"]),
    ("younger", 1, ["the same in all, a higher number", "by an elder author of this name"]),
    ("", 1, ["the same in all, a higher number"] * 2),
])  # fmt: skip
def test_of_two_authors_of_one_name_the_one_meant_is_taken(bearer, taken, others):
    authors = ("Dumas, Alexandre (fils)", "Dumas, Alexandre (père)", "Dumas, Alexandre")
    records = [record(number, "Camille", author) for number, author in enumerate(authors, 1)]
    best, considered = choose(records, ["Camille"], EditionSettings(), bearer=bearer)
    assert best["id"] == taken
    assert sorted(one.refused for one in considered) == sorted(["", *others])


def test_languages_are_settable_and_ordered():
    records = [record(1, "Siddhartha", "Hesse, Hermann", languages=("de",), downloads=9),
               record(2, "Siddhartha", "Hesse, Hermann", languages=("en",), downloads=99)]  # fmt: skip
    german = MatchSettings(editions=EditionSettings(languages=("de", "en")))
    assert found([cast("Siddhartha", "Hermann Hesse")], records, german) == [1]
    assert found([cast("Siddhartha", "Hermann Hesse")], records) == [2]


# -- authors that are missing ------------------------------------------------------------------------


def test_an_author_is_lent_by_another_source_but_not_when_sources_disagree():
    records = [record(1, "The Tragedy of Pudd'nhead Wilson", "Twain, Mark")]
    guide, wikidata = cast("Pudd'nhead Wilson", source="shmoop"), cast("Pudd'nhead Wilson", "Mark Twain")
    report = match([guide, wikidata], frame(*records))
    assert [w.gutenberg_id for w in report.works] == [1, 1]
    assert "another source" in report.works[0].reason
    rival = cast("Pudd'nhead Wilson", "Somebody Else")
    works = match([guide, wikidata, rival], frame(*records)).works
    assert [bool(w.unproved) for w in works if w.gutenberg_id] == [True, False]
    assert works[2].gutenberg_id is None
    strangers = tuple(replace(row, character=f"Adam{n} Trask{n}") for n, row in enumerate(guide.rows))
    assert LENT not in match([HarvestedCast(strangers), wikidata], frame(*records)).works[0].reason
    assert LENT not in guide.work.flags


def test_a_title_alone_is_refused_when_two_authors_are_read_alike():
    records = [record(1, "The Awakening", "Chopin, Kate", downloads=160),
               record(2, "The Awakening", "Tolstoy, Leo, graf", downloads=100)]  # fmt: skip
    work = match([cast("The Awakening", source="shmoop")], frame(*records)).works[0]
    assert work.gutenberg_id is None
    assert "has another" in work.reason
    records[0]["downloads"] = 4000
    assert found([cast("The Awakening", source="shmoop")], records) == [1]


STORY = "Hester Prynne met Roger Chillingworth. " * 3 + "Pearl and Arthur Dimmesdale came; Pearl, Pearl! "


def people(title, *names, **more):
    rows = cast(title, source="shmoop", size=len(names), **more).rows
    return HarvestedCast(tuple(replace(row, character=name) for row, name in zip(rows, names, strict=True)))


def test_a_title_alone_is_kept_only_when_the_text_has_the_people():
    records = frame(record(1, "The Letter", "Hawthorne, Nathaniel"))
    theirs = people(
        "The Letter", "Hester Prynne", "Pearl", "Arthur Dimmesdale", "Mr. Chillingworth", "A Beadle"
    )
    report = match([theirs], records)
    assert (report.works[0].gutenberg_id, report.books[0].kept) == (1, False)
    assert "no text at hand" in report.books[0].reason
    report = match([theirs], records, text_of={1: STORY}.get)
    assert (report.works[0].unproved, report.books[0].kept) == ("", True)
    strangers = people("The Letter", "Adam Trask", "Cathy Ames", "Lee", "Sam Hamilton", "Abra Bacon")
    work = match([strangers], records, text_of={1: STORY}.get).works[0]
    assert work.gutenberg_id is None
    assert "0% of the cast" in work.reason
    some = people("The Letter", "Hester Prynne", "Pearl", "Adam Trask", "Lee", "Sam Hamilton")
    report = match([some], records, text_of={1: STORY}.get)
    assert (report.works[0].gutenberg_id, report.books[0].kept) == (1, False)


def test_of_several_books_of_one_title_the_one_with_the_people_is_taken():
    records = [record(1, "The Letter", "Nobody, A.", downloads=900), record(2, "The Letter", "Hawthorne, N."),
               record(3, "The Letter", "Other, B.", downloads=90)]  # fmt: skip
    theirs = people("The Letter", "Hester Prynne", "Pearl", "Arthur Dimmesdale", "Mr. Chillingworth", "Sue")
    texts = {1: "Nobody is here. " * 9, 2: STORY, 3: "Other people. " * 9}
    report = match([theirs], frame(*records), text_of=texts.get)
    assert (report.works[0].gutenberg_id, report.books[0].kept) == (2, True)


def test_one_surname_counts_once_and_first_names_say_little():
    seen = Presence("Mary Ann went. Mary, Mary and Ruth! Price the baker; old Price; Price. Ruth. Ruth.")
    family = [("Adah Price",), ("Leah Price",), ("Nathan Price",), ("Ruth Price",)]
    assert seen.share(family) == pytest.approx((1 + 0.4) / 4)
    assert seen.share([("The Baker",)]) == 0


def test_an_unknown_author_on_both_sides_needs_no_text():
    nobody = record(1, "Everyman", "Anonymous") | {"authors": [], "people": []}
    assert match([cast("Everyman", "Anonymous")], frame(nobody)).books[0].kept


# -- sources and the rule of five --------------------------------------------------------------------


def test_the_source_with_most_characters_wins_and_ties_go_by_order():
    records = [record(1, "Emma", "Austen, Jane")]
    casts = [cast("Emma", "Jane Austen", 7, "sparknotes"), cast("Emma", "Jane Austen", 9, "shmoop"),
             cast("Emma", "Jane Austen", 9, "cliffsnotes")]  # fmt: skip
    book = match(casts, frame(*records)).books[0]
    assert (book.work.source, len(book.characters), book.kept) == ("cliffsnotes", 9, True)
    assert {other[0]: other[2] for other in book.others} == {"sparknotes": 7, "shmoop": 9}
    first = match(
        casts, frame(*records), MatchSettings(choose="source-order", sources=("sparknotes",))
    ).books[0]
    assert first.work.source == "sparknotes"


def test_books_under_five_characters_fall_out_and_say_so():
    records = [record(1, "Emma", "Austen, Jane")]
    book = match([cast("Emma", "Jane Austen", 4)], frame(*records)).books[0]
    assert not book.kept
    assert "4 characters" in book.reason
    assert (
        match([cast("Emma", "Jane Austen", 4)], frame(*records), MatchSettings(least_characters=4))
        .books[0]
        .kept
    )


def test_the_author_and_groups_are_nobody_of_the_book_and_the_reviewer_sees_it():
    book = cast("Emma", "Jane Austen", size=7)
    flagged = {5: ("author",), 6: ("group", "shared-surname")}
    rows = tuple(replace(row, flags=flagged.get(n, ())) for n, row in enumerate(book.rows))
    report = match([HarvestedCast(rows)], frame(record(1, "Emma", "Austen, Jane")))
    assert report.works[0].left_out == ("Person 5 (author)", "Person 6 (group)")
    assert report.works[0].characters == len(report.books[0].characters) == 5
    report = match(
        [HarvestedCast(rows)], frame(record(1, "Emma", "Austen, Jane")), MatchSettings(leave_out=())
    )
    assert report.works[0].characters == 7


def test_a_cast_of_a_series_and_an_adaptation():
    emma = frame(record(1, "Emma", "Austen, Jane"))
    of_series = cast("Emma", "Jane Austen", flags=("series-cast",))
    assert match([of_series], emma).works[0].review == "the cast is that of its series"
    adaptation = cast("Emma", "Jane Austen", flags=("adaptation",))
    assert match([adaptation], emma).works[0].reason == "not a book: adaptation"


def test_films_are_no_books():
    work = match(
        [cast("Emma", "Jane Austen", flags=("film",))], frame(record(1, "Emma", "Austen, Jane"))
    ).works[0]
    assert work.gutenberg_id is None
    assert "film" in work.reason


# -- overrides ---------------------------------------------------------------------------------------


def test_overrides_decide_and_are_named_in_the_reason():
    records = [record(1, "Emma", "Austen, Jane"), record(2, "Something Else", "Nobody, A.")]
    to = Override(reason="the annotated edition", title="emma", author="Austen, J.", gutenberg_id=2)
    out = Override(reason="a parody", work_id="wikidata-Emma")
    idle = Override(reason="x", title="Persuasion")
    casts = [cast("Emma", "Jane Austen")]
    report = match(casts, frame(*records), None, [to, idle])
    assert (report.works[0].gutenberg_id, report.works[0].rule) == (2, "override")
    assert report.works[0].reason == "the annotated edition"
    assert report.unused_overrides == (idle,)
    assert match(casts, frame(*records), None, [out]).works[0].gutenberg_id is None
    for source, number in (("litcharts", 1), ("wikidata", 2)):
        there = Override(reason="x", title="Emma", source=source, gutenberg_id=2)
        assert match(casts, frame(*records), None, [there]).works[0].gutenberg_id == number
    gone = Override(reason="x", title="Emma", gutenberg_id=99)
    with pytest.raises(UsageError, match="not in the catalogue"):
        match(casts, frame(*records), None, [gone])


@pytest.mark.parametrize("entry", [
    {"title": "Emma"}, {"reason": "x"}, {"title": "Emma", "reason": "x", "gutenberg_id": "158"},
    {"title": "Emma", "reason": "x", "gutenberg_id": 0}, {"title": "Emma", "reason": "x", "colour": 1},
    "Emma",
])  # fmt: skip
def test_a_wrong_override_is_refused(entry):
    with pytest.raises(UsageError):
        overrides_from({"override": [entry]})


@pytest.mark.parametrize("wrong", [{"rules": ("exact", "exactly")}, {"rules": ()}, {"choose": "longest"}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(UsageError):
        MatchSettings(**wrong)


def test_no_casts_and_no_records_give_an_empty_report():
    assert match([], frame()).works == ()
    assert found([cast("Emma", "Jane Austen")], []) == [None]


# -- the real catalogue ------------------------------------------------------------------------------


def test_all_52_books_are_found_and_no_look_alike_is(shared_data, tmp_path):
    pytest.importorskip("gutenbergpy")
    from bookcoref_data.sources.catalogue import catalogue
    from bookcoref_data.sources.store import Store

    feed = shared_data / "gutenberg/cache/epub/feeds/rdf-files.tar.bz2"
    table = catalogue(Store.open(tmp_path), feed).frame()
    pairs = Path(__file__).resolve().parents[2] / "benchmarks/match_pairs.tsv"
    with open(pairs, encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    casts = [
        cast(
            r["title"],
            r["author"],
            work_id=f"{n}",
            titles=tuple(filter(None, (r["titles"] or "").split("|"))),
        )
        for n, r in enumerate(rows)
    ]
    works = match(casts, table).works
    wrong = [
        (r["author"], r["title"], w.gutenberg_id)
        for r, w in zip(rows, works, strict=True)
        if str(w.gutenberg_id or "") != r["gutenberg_id"]
    ]
    assert wrong == []
    assert len({r["gutenberg_id"] for r in rows if r["style"] == "wikidata"}) == 52
