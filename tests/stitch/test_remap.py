"""Annotations follow their book into other editions; what is called kept is right, the rest is told."""

from __future__ import annotations

import random
import textwrap
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Book, Mention
from bookcoref_data.errors import DataError, EditionError
from bookcoref_data.stitch.fingerprint import fold, make_fingerprint
from bookcoref_data.stitch.remap import OldText, remap
from bookcoref_data.stitch.spans import Standoff
from bookcoref_data.text.tokens import tokenize_body
from tests.drawing import drawn

pytestmark = pytest.mark.slow

PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--"})


def by_fingerprint(book: Book, bits: int = 8) -> OldText:
    """All that a pack knows."""
    return OldText(
        book.doc_key, book.gutenberg_key, Standoff.of(book), fingerprint=make_fingerprint(book.tokens, bits)
    )


def by_text(book: Book) -> OldText:
    return OldText(book.doc_key, book.gutenberg_key, Standoff.of(book), tokens=book.tokens)


def plain(text: str) -> str:
    """Quotes, dashes and accents as an old 7-bit edition has them."""
    folded = unicodedata.normalize("NFKD", text.translate(PLAIN))
    return "".join(c for c in folded if not unicodedata.combining(c))


def illustrated(text: str, every: int) -> str:
    """A caption after every few paragraphs."""
    paragraphs = text.split("\n\n")
    caption = "[Illustration: “He looked at the\nriver, and said nothing.”]"
    return "\n\n".join(p + "\n\n" + caption if i % every == 0 else p for i, p in enumerate(paragraphs))


def wrong_share(book: Book, edition, old: OldText) -> tuple[float, float]:
    """(share of mentions kept, share of those whose words are not the old ones), judged by words.

    Every mention is a cluster of its own here, so that each can be followed.
    """
    spans = sorted({m for c in book.clusters for m in c})
    single = OldText(old.doc_key, "", Standoff.make([[m] for m in spans], []), old.tokens, old.fingerprint)
    result = remap(single, edition)
    report = result.report
    clusters = iter(result.book.clusters)
    wrong = 0
    for tally, span in zip(report.characters, spans, strict=True):
        new = None if tally.lost else next(clusters)[0]
        if tally.kept or tally.moved:
            here = [f for f in map(fold, result.book.tokens[new.start : new.end + 1]) if f]
            there = [f for f in map(fold, book.tokens[span.start : span.end + 1]) if f]
            wrong += here != there
    kept = report.total.kept + report.total.moved
    return kept / len(spans), wrong / max(kept, 1)


def test_the_same_text_keeps_everything(story):
    for old in (by_fingerprint(story.book), by_text(story.book)):
        result = remap(old, story.book.sentences)
        assert result.book == story.book
        assert result.report.total.kept == result.report.total.total > 0
        assert result.report.shifted == 0


def test_two_runs_give_the_same(story):
    edition = tokenize_body(story.text).sentences
    assert remap(by_fingerprint(story.book), edition) == remap(by_fingerprint(story.book), edition)


EDITIONS = {
    "gutenberg file": lambda t: t,
    "seven bits": plain,
    "wrapped anew": lambda t: "\n\n".join(textwrap.fill(p, 55) for p in t.split("\n\n")),
    "headings in capitals": lambda t: t.replace("Chapter", "CHAPTER"),
    "capitals": str.upper,
    "illustrated": lambda t: illustrated(t, 6),
    "front matter": lambda t: "A preface by the editor.\n\n" * 300 + t + "\n\nNOTES\n\n" * 100,
}


@pytest.mark.parametrize("name", EDITIONS)
def test_the_sample_survives_its_editions(story, name):
    edition = tokenize_body(EDITIONS[name](story.text)).sentences
    kept, wrong = wrong_share(story.book, edition, by_fingerprint(story.book))
    assert kept >= 0.97
    assert wrong == 0


def test_front_and_back_matter_are_cut_off(story):
    edition = tokenize_body(story.text).sentences
    result = remap(by_fingerprint(story.book), edition)
    tokens = [t for s in edition for t in s]
    assert tokens[result.start : result.start + 20] == list(result.book.tokens[:20])
    assert "Gutenberg" not in result.book.tokens
    assert abs(len(result.book.tokens) - len(story.book.tokens)) < 0.02 * len(story.book.tokens)


@pytest.mark.long
@pytest.mark.parametrize("name", ["gutenberg file", "seven bits", "illustrated"])
def test_real_books_survive_editions_as_promised(real, name):
    """The issue's figures: 98.5 % of the mentions of 1342, 99.7 % of 2500; wrong at most 0.1 %."""
    edition = tokenize_body(EDITIONS[name](real.text)).sentences
    report = remap(by_fingerprint(real.book), edition).report
    assert report.total.kept_share >= {"1342": 0.985, "2500": 0.997}[real.book.gutenberg_key]
    _, wrong = wrong_share(real.book, edition, by_fingerprint(real.book))
    assert wrong <= 0.001


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "name"), [("1342", "1/3/4/1342/1342-0.txt"), ("2500", "2/5/0/2500/2500-8.txt")]
)
def test_the_numbered_files_of_the_mirror_keep_the_mentions(real, shared_data, number, name):
    if real.book.gutenberg_key != number:
        return
    from bookcoref_data.text.decode import decode

    text = decode((shared_data / "gutenberg" / name).read_bytes()).text
    report = remap(by_fingerprint(real.book), tokenize_body(text).sentences).report
    assert report.total.kept_share >= {"1342": 0.985, "2500": 0.997}[number]


def edited(editor, book, seed, share):
    return (
        editor(book, seed)
        .replace_words(share)
        .drop_words(share / 2)
        .insert_words(share / 2)
        .drop_sentences(share)
        .repeat_sentences(share)
        .move_passage(8)
        .move_passage(8)
    )


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))])
def test_kept_means_the_same_words_in_edited_books(siddhartha, editor, seed):
    """Words replaced, dropped, inserted, sentences dropped and repeated elsewhere, passages moved: the
    truth is known token by token."""
    made = edited(editor, siddhartha.book, seed, 0.02)
    kept, wrong = wrong_share(siddhartha.book, made.tokens, by_fingerprint(siddhartha.book))
    assert kept >= 0.9
    assert wrong <= 0.001
    assert wrong_share(siddhartha.book, made.tokens, by_text(siddhartha.book))[1] == 0


@drawn(50)
@given(st.integers(0, 2**32), st.floats(0, 0.08))
def test_carried_mentions_stay_at_their_own_tokens(story, editor, seed, share):
    """With both texts known: a kept mention covers the very tokens it came from, or ones that read alike."""
    made = edited(editor, story.book, seed, share)
    origin = made.origin
    spans = sorted({m for c in story.book.clusters for m in c})
    old = OldText("d", "", Standoff.make([[m] for m in spans], []), tokens=story.book.tokens)
    try:
        result = remap(old, made.tokens, least_matched=0.3)
    except EditionError:
        return
    clusters = iter(result.book.clusters)
    for tally, span in zip(result.report.characters, spans, strict=True):
        new = None if tally.lost else next(clusters)[0]
        if tally.kept or tally.moved:
            place = slice(new.start + result.start, new.end + result.start + 1)
            same_tokens = [i for i in origin[place] if i >= 0] == list(range(span.start, span.end + 1))
            here = [f for f in map(fold, result.book.tokens[new.start : new.end + 1]) if f]
            assert same_tokens or here == [f for f in map(fold, story.book.text_of(span).split()) if f]


def test_a_moved_chapter_is_followed_and_named(siddhartha, editor):
    made = editor(siddhartha.book, 1)
    passage = made.sentences[200:260]
    made.sentences[200:260] = []
    made.sentences[900:900] = passage
    report = remap(by_fingerprint(siddhartha.book), made.tokens).report
    inside = {i for s in passage for _, i in s}
    expected = sum(m.start in inside for c in siddhartha.book.clusters for m in c)
    assert expected > 50
    assert report.total.moved >= 0.97 * expected
    assert report.total.kept + report.total.moved >= 0.999 * report.total.total


def test_losses_are_counted_by_character_with_examples():
    story = "Ann saw Bob . Then she left him , and Bob was sad for a while until Ann came home ."
    tokens = story.split()
    book = Book.make(
        "d", [tokens], clusters=[[(0, 0), (5, 5), (17, 17)], [(2, 2), (7, 7), (10, 10)]],
        characters=[("Ann", [(0, 0), (5, 5), (17, 17)]), ("Bob", [(2, 2), (7, 7), (10, 10)])],
    )  # fmt: skip
    new = ["it" if token == "him" else token for token in tokens[4:]]
    report = remap(by_text(book), [new], least_matched=0.5).report
    tallies = {t.name: t for t in report.characters}
    assert (tallies["Ann"].kept, tallies["Ann"].lost) == (2, 1)
    # `him` became `it`: nothing of the mention is left, so it is lost and not changed.
    assert (tallies["Bob"].kept, tallies["Bob"].changed, tallies["Bob"].lost) == (1, 0, 2)
    lost = [e for e in report.examples if e.status == "lost"]
    assert ("him", "", "Bob") in {(e.old_text, e.new_text, e.character) for e in lost}
    assert report.total.total == 6
    assert report.to_dict()["total"]["kept"] == 3


def test_min_kept_makes_a_build_fail(story, editor):
    made = editor(story.book, 0).replace_words(0.1)
    report = remap(by_fingerprint(story.book), made.tokens).report
    report.require(0.1)
    with pytest.raises(EditionError, match="too few"):
        report.require(0.999)


def test_british_and_american_spelling_old_forms_and_case_agree():
    for old, new in (
        ("colour", "color"), ("honoured", "honored"), ("neighbourhood", "neighborhood"),
        ("realise", "realize"), ("theatre", "theater"),
        ("travelled", "traveled"), ("judgement", "judgment"), ("shew", "show"),
        ("connexion", "connection"), ("grey", "gray"), ("defence", "defense"), ("develope", "develop"),
        ("Mr.", "MR"), ("“", '"'), ("—", "--"), ("café", "CAFE"), ("_her_", "her"), ("enquire", "inquire"),
        ("surprise", "surprize"), ("chusing", "choosing"), ("Cœur", "coeur"), ("’s", "'s"),
    ):  # fmt: skip
        assert fold(old) == fold(new), (old, new)
    for one, other in (("he", "she"), ("him", "her"), ("Jane", "Lydia"), ("four", "for"), ("her", "hers")):
        assert fold(one) != fold(other)


# -- what must not be stitched ---------------------------------------------------------------------------


def test_another_book_is_refused(story, siddhartha):
    with pytest.raises(EditionError, match="not an edition"):
        remap(by_fingerprint(siddhartha.book), story.book.sentences)
    with pytest.raises(EditionError, match="not an edition"):
        remap(by_fingerprint(story.book), siddhartha.book.sentences)


@pytest.mark.long
def test_other_novels_of_the_same_author_are_refused(shared_data, real):
    if real.book.gutenberg_key != "1342":
        return
    from bookcoref_data.text.decode import decode

    for number in ("105", "121"):
        text = decode((shared_data / f"gutenberg/cache/epub/{number}/pg{number}.txt").read_bytes()).text
        with pytest.raises(EditionError):
            remap(by_fingerprint(real.book), tokenize_body(text).sentences)


def test_half_a_book_is_refused_and_called_a_part(siddhartha):
    half = siddhartha.book.sentences[:700]
    with pytest.raises(EditionError) as caught:
        remap(by_fingerprint(siddhartha.book), half)
    assert "part of the book" in caught.value.found


def test_a_missing_chapter_is_reported_with_its_place(siddhartha):
    sentences = siddhartha.book.sentences
    report = remap(by_fingerprint(siddhartha.book), sentences[:400] + sentences[560:]).report
    (missing,) = report.missing
    start = siddhartha.book.sentence_ends[399]
    assert abs(missing[0] - start) < 30
    assert any("not the whole book" in w for w in report.warnings)


def test_two_books_in_one_file_keep_their_own(story, siddhartha):
    """The other book before or after is cut off; its words are in nothing that is carried."""
    for joined in (
        story.book.sentences + siddhartha.book.sentences,
        siddhartha.book.sentences + story.book.sentences,
    ):
        result = remap(by_fingerprint(siddhartha.book), joined)
        assert result.report.total.kept == result.report.total.total
        assert abs(len(result.book.tokens) - len(siddhartha.book.tokens)) <= 40


def test_a_book_inserted_into_the_middle_is_reported(story, siddhartha):
    sentences = siddhartha.book.sentences
    joined = sentences[:800] + story.book.sentences + sentences[800:]
    report = remap(by_fingerprint(siddhartha.book), joined).report
    assert report.extra
    assert any("not in the release" in w for w in report.warnings)
    assert report.total.kept_share > 0.999


def test_the_same_book_twice_in_one_file_is_refused(siddhartha):
    """Nothing is unique then, so no place can be trusted."""
    sentences = siddhartha.book.sentences
    twice = [["Two", "editions"], *sentences, ["The", "second"], *sentences, ["The", "end"]]
    with pytest.raises(EditionError):
        remap(by_fingerprint(siddhartha.book), twice)


def test_a_translation_is_refused(siddhartha):
    """Same names and punctuation, other words: what a translation has in common with its source."""
    picks = random.Random(0)
    words = ["der", "die", "und", "war", "nicht", "sein", "ihm", "ein", "Weg", "Fluss", "lange", "wieder"]
    names = {"Siddhartha", "Govinda", "Kamala", "Vasudeva", "Gotama"}
    translated = [
        [t if t in names or not t.isalpha() else picks.choice(words) for t in s]
        for s in siddhartha.book.sentences
    ]
    with pytest.raises(EditionError):
        remap(by_fingerprint(siddhartha.book), translated)


@pytest.mark.parametrize("sentences", [[], [["word"]], [["\n"]]])
def test_an_empty_text_is_refused(story, sentences):
    with pytest.raises(EditionError):
        remap(by_fingerprint(story.book), sentences)


def test_without_a_fingerprint_nothing_can_be_followed(story):
    bare = OldText("d", "", Standoff.of(story.book))
    with pytest.raises(DataError, match="no fingerprint"):
        remap(bare, story.book.sentences)


def test_mentions_outside_the_old_text_are_refused(story):
    bad = OldText("d", "", Standoff.make([[(0, 10**6)]], []), tokens=story.book.tokens)
    with pytest.raises(DataError, match="outside"):
        remap(bad, story.book.sentences)


def test_mentions_that_fall_together_are_merged_and_counted():
    """`_ her _` and `her` are two mentions; without marks of emphasis they are one."""
    tokens = ["I", "saw", "_", "her", "_", "and", "she", "saw", "me", "."]
    book = Book.make("d", [tokens], clusters=[[(2, 4), (3, 3)]])
    result = remap(by_text(book), [["I", "saw", "her", "and", "she", "saw", "me", "."]])
    assert result.report.merged == 1
    assert result.book.clusters == ((Mention(2, 2),),)


def test_marks_of_emphasis_stay_inside_the_mention():
    tokens = ["I", "saw", "_", "her", "_", "and", "she", "saw", "me", "."]
    book = Book.make("d", [tokens], clusters=[[(2, 4)]])
    result = remap(by_text(book), [["Today", "I", "saw", "_", "her", "_", "and", "she", "saw", "me", "."]])
    assert result.book.text_of(result.book.clusters[0][0]) == "_ her _"


def one_mention(
    old: str, new: str, span: tuple[int, int], frame: str = "it was late when {} came in at last"
):
    """What becomes of one mention when its words are replaced in an otherwise equal text."""
    before = [frame.format(old).split()]
    after = [frame.format(new).split()]
    first = frame.split().index("{}")
    book = Book.make("d", before, clusters=[[(first + span[0], first + span[1])]])
    return remap(by_text(book), after, least_matched=0.3)


@pytest.mark.parametrize(("old", "new"), [("his", "the parish"), ("she", "he"), ("her", "that")])
def test_a_replaced_word_is_lost_and_not_changed(old, new):
    result = one_mention(old, new, (0, 0))
    assert (result.report.total.changed, result.report.total.lost) == (0, 1)
    assert result.book.clusters == ()


@pytest.mark.parametrize(
    ("old", "new", "span", "words"),
    [
        ("the old man", "the young man", (0, 2), "the young man"),
        ("Lady Anne", "Lady Catherine", (0, 1), "Lady Catherine"),
        ("old Anne", "young Anne", (0, 1), "young Anne"),
    ],
)
def test_a_mention_with_one_true_end_is_changed(old, new, span, words):
    result = one_mention(old, new, span)
    assert result.report.total.changed == 1
    assert result.book.text_of(result.book.clusters[0][0]) == words


@pytest.mark.parametrize("known", ["text", "fingerprint"])
@pytest.mark.parametrize(
    ("sentence", "span"),
    [
        ("then came Wickham , Esq . and his friends of the regiment", (2, 5)),
        ("then came _ her _ and the rest of them again", (2, 4)),
        ("then spoke . . . Ann to all her friends of the house", (2, 5)),
    ],
)
def test_dots_and_marks_at_the_ends_of_a_mention_stay_on_equal_tokens(sentence, span, known):
    book = Book.make("d", [sentence.split()], clusters=[[span]])
    old = by_text(book) if known == "text" else by_fingerprint(book)
    result = remap(old, [sentence.split()])
    assert result.book == book
    assert result.report.total.kept == 1


def test_a_full_stop_that_the_mention_did_not_have_is_not_taken():
    book = Book.make(
        "d", [["We", "all", "saw", "Wickham", "."], ["He", "left", "us", "."]], clusters=[[(3, 3)]]
    )
    assert remap(by_text(book), book.sentences).book == book


def test_a_mention_counts_from_the_start_of_the_new_text():
    """`shifted` compares places: what lies before the book is cut off and moves nothing."""
    book = Book.make("d", [f"word{i} of the story".split() for i in range(40)], clusters=[[(8, 8), (40, 40)]])
    report = remap(by_text(book), [["Preface"], *book.sentences]).report
    assert report.shifted == 0
    inserted = [*book.sentences[:5], ["one", "more"], *book.sentences[5:]]
    assert remap(by_text(book), inserted).report.shifted == 1


def without_paragraphs(book: Book, share: float) -> list[list[str]]:
    """The sentences of a book without some runs of eight, spread over all of it."""
    picks = random.Random(4)
    blocks = [book.sentences[i : i + 8] for i in range(0, len(book.sentences), 8)]
    return [s for block in blocks if picks.random() >= share for s in block]


def test_a_text_with_paragraphs_missing_all_over_is_reported(siddhartha):
    report = remap(by_fingerprint(siddhartha.book), without_paragraphs(siddhartha.book, 0.15)).report
    (warning,) = [w for w in report.warnings if "paragraphs are missing" in w]
    share = int(warning.partition("%")[0])
    assert 12 <= share <= 18


def test_a_text_with_too_much_missing_all_over_is_called_abridged(siddhartha):
    with pytest.raises(EditionError) as caught:
        remap(by_fingerprint(siddhartha.book), without_paragraphs(siddhartha.book, 0.4))
    assert "abridged" in caught.value.found
    assert "part of the book" not in caught.value.found


def test_an_edited_text_is_called_edited_and_not_a_part(siddhartha, editor):
    made = editor(siddhartha.book, 0).replace_words(0.3)
    with pytest.raises(EditionError) as caught:
        remap(by_fingerprint(siddhartha.book), made.tokens, least_matched=0.9)
    assert "edited text" in caught.value.found
    assert "part of the book" not in caught.value.found
    report = remap(
        by_fingerprint(siddhartha.book), editor(siddhartha.book, 0).replace_words(0.1).tokens
    ).report
    assert any("differ one by one" in w for w in report.warnings)


def test_the_same_text_and_an_edition_of_it_give_no_warning(story):
    assert remap(by_fingerprint(story.book), story.book.sentences).report.warnings == ()
    assert remap(by_fingerprint(story.book), tokenize_body(plain(story.text)).sentences).report.warnings == ()
