"""Small inputs whose whole result is written down: casts, corrections, figures of a book, contexts, facts."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.annotation.cast import Cast, Entry, parse_cast
from bookcoref_data.books import Book, Mention, Record
from bookcoref_data.books.facts import one_called
from bookcoref_data.edits import Edit, anchor_of
from bookcoref_data.edits.naming import MAKE
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.formats import read_documents, write_documents
from bookcoref_data.tasks.contexts.facts import Fact
from bookcoref_data.tasks.guides.texts import references_for
from bookcoref_data.workflows import contexts as contexts_module
from bookcoref_data.workflows import judged_scores
from bookcoref_data.workflows.casts import Repair, cast_fields, cast_of_record, narrators_of_record
from bookcoref_data.workflows.catalogue import describe, mentions_of, place_of
from bookcoref_data.workflows.correct import apply_edits, diff_edits, read_edits, signed, write_edits
from bookcoref_data.workflows.given import corrections_of
from bookcoref_data.workflows.plausibility import plausibility, summary_line


def record(characters=(), **extra):
    return Record("d", "", [["a", "b", "c"]], [], [(name, []) for name in characters], extra=extra)


@pytest.mark.parametrize(
    ("given", "entries"),
    [
        (record(), None),
        (record([" ", ""]), None),
        (record(["Ann", "Bob"]), [Entry("Ann"), Entry("Bob")]),
        (record(["Ann"], cast="none"), [Entry("Ann")]),
        (record(["Ann"], cast=[]), [Entry("Ann")]),
        (record(cast=[{"name": "Ann", "aliases": ["A", 1], "gender": "f"}]), [Entry("Ann", ("A", "1"), "f")]),
        (record(cast=[{"name": "Ann", "aliases": "A"}, {"name": ""}, {"x": 1}, "Bob"]), [Entry("Ann")]),
        # Characters that were renamed or added since come behind; nobody twice, nobody without a name.
        (
            record(["Ann", "Bob", " "], cast=[{"name": "Ann"}, {"name": "Cid"}]),
            [Entry("Ann"), Entry("Cid"), Entry("Bob")],
        ),
    ],
)
def test_a_record_brings_its_cast_along(given, entries):
    found = cast_of_record(given)
    assert (None if found is None else list(found.entries)) == entries


def test_a_cast_and_its_narrators_come_back_from_a_record():
    cast = Cast((Entry("Ann", ("A",), "f"), Entry("Bob")))
    fields = cast_fields(cast, ["Ann"])
    assert fields == {
        "cast": [{"name": "Ann", "aliases": ["A"], "gender": "f"}, {"name": "Bob", "aliases": []}],
        "narrators": ["Ann"],
    }
    again = record(**fields)
    assert cast_of_record(again).entries == cast.entries
    assert narrators_of_record(again) == ("Ann",)
    assert list(cast_fields(cast, [])) == ["cast"]
    assert narrators_of_record(record()) == narrators_of_record(record(narrators="Ann")) == ()


def repaired(**value):
    entries = parse_cast("Ann; A; Miss Ann\nBob; B\nCid\nThe Inn").entries
    return [(e.name, e.aliases) for e in Repair("r", **value).apply(entries)]


def test_a_repair_joins_drops_and_adds():
    assert repaired() == [("Ann", ("A", "Miss Ann")), ("Bob", ("B",)), ("Cid", ()), ("The Inn", ())]
    assert repaired(join=[["Ann", "Bob", "Cid"]], drop=["The Inn"], add=[["Dan", "D", "Danny"], ["Eve"]]) == [
        ("Ann", ("A", "Miss Ann", "Bob", "B", "Cid")),
        ("Dan", ("D", "Danny")),
        ("Eve", ()),
    ]
    assert repaired(drop=["Bob"], add=[["Bob", "Robert"]])[-1] == ("Bob", ("Robert",))
    assert Repair("r").apply([]) == []


@pytest.mark.parametrize(
    ("value", "message", "found"),
    [
        ({"drop": ["Zoe"]}, "a repair names 'Zoe', but the book does not propose them", "no 'Zoe'"),
        (
            {"drop": ["B", "Zoe", "B"]},
            "a repair names 'B', 'Zoe', but the book does not propose them",
            "'B' of 'Bob', no 'Zoe'",
        ),
        ({"join": [["Ann", "Zoe"]]}, "a repair names 'Zoe', but the book does not propose them", "no 'Zoe'"),
        (
            {"add": [["Ann", "X"]]},
            "a repair adds 'Ann', but the book proposes them already",
            "Ann, A, Miss Ann",
        ),
    ],
)
def test_a_repair_of_other_names_says_which(value, message, found):
    with pytest.raises(UsageError) as caught:
        repaired(**value)
    assert (caught.value.what, caught.value.found) == (message, found)


WORDS = ["Ann", "met", "Bob", ".", "She", "liked", "Tom", "Hill", ".", "Ann", "left", "."]
BOOK = Book.make("d", [WORDS[:4], WORDS[4:9], WORDS[9:]])
CAST = parse_cast("Ann; Annie\nBob\nTom Hill; Tom [m]")


def at(start, end=None):
    return anchor_of(WORDS, start, start if end is None else end)


def corrected(*edits):
    found = corrections_of(edits, BOOK, CAST)
    links = {span: found.cast.entries[m.character].name for span, m in found.given.links.items()}
    return found, links


@pytest.mark.parametrize(
    ("edits", "links", "nobody"),
    [
        ([Edit("link", at=at(4), character="Annie")], {(4, 4): "Ann"}, set()),
        ([Edit("unlink", at=at(4))], {}, {(4, 4)}),
        ([Edit("unlink", at=at(4)), Edit("link", at=at(4), character="Ann")], {(4, 4): "Ann"}, set()),
        ([Edit("link", at=at(4), character="Ann"), Edit("unlink", at=at(4))], {}, {(4, 4)}),
        (
            [Edit("link", at=at(4), character="Ann"), Edit("link", at=at(4), character="Bob")],
            {(4, 4): "Bob"},
            set(),
        ),
        (
            [Edit("link", at=at(4), character="Ann"), Edit("link", at=at(4), character="Bob", also=True)],
            {(4, 4): "Ann"},
            set(),
        ),
        ([Edit("span", at=at(6), to=at(6, 7), was="Tom")], {(6, 7): "Tom Hill"}, {(6, 6)}),
        (
            [Edit("link", at=at(6), character="Tom"), Edit("span", at=at(6), to=at(6, 7))],
            {(6, 7): "Tom Hill"},
            {(6, 6)},
        ),
        ([Edit("span", at=at(6), to=at(6, 7))], {}, set()),
        (
            [Edit("merge", character="Bob", into="Tom"), Edit("link", at=at(4), character="Bob")],
            {(4, 4): "Tom Hill"},
            set(),
        ),
        (
            [Edit("link", at=at(4), character="Bob"), Edit("merge", character="Bob", into="Tom")],
            {(4, 4): "Tom Hill"},
            set(),
        ),
        ([Edit("merge", character="Ann", into="Annie")], {}, set()),
        ([Edit("new", character="Zoe"), Edit("link", at=at(4), character="Zoe")], {(4, 4): "Zoe"}, set()),
        (
            [Edit("rename", character="Ann", name="Xenia"), Edit("link", at=at(4), character="Ann")],
            {(4, 4): "Xenia"},
            set(),
        ),
        ([Edit("link", at=at(4), character="Ann", doc_key="d")], {(4, 4): "Ann"}, set()),
        ([Edit("link", at=at(4), character="Ann", doc_key="other")], {}, set()),
        ([Edit("seen", at=at(4), character="Ann")], {}, set()),
    ],
)
def test_corrections_become_links_and_nobody(edits, links, nobody):
    found, linked = corrected(*edits)
    assert linked == links
    assert found.given.nobody == nobody
    assert found.kept + sum(not c.applied for c in found.conflicts) == sum(
        e.doc_key in ("", "d") for e in edits
    )
    assert all((m.step, m.rule, m.score) == ("edit", "corrected", 1.0) for m in found.given.links.values())


def test_corrections_that_contradict_each_other_are_listed_and_two_people_never_get_one_name():
    said = [Edit("link", at=at(4), character="Bob"), Edit("link", at=at(4), character="Ann")]
    found, links = corrected(*said)
    told = "edit 1 says that this is Bob; the later one is taken"
    assert [(c.number, c.reason, c.applied) for c in found.conflicts] == [(2, told, True)]
    assert (links, found.kept) == ({(4, 4): "Ann"}, 2)
    found, _ = corrected(Edit("rename", character="Bob", name="Ann", confirmed=True))
    assert [c.reason for c in found.conflicts] == ["there is a 'Ann' already; to join them, merge"]
    assert len({*found.cast.names}) == len(found.cast.names)


def test_joined_and_renamed_people_keep_their_names_and_hints():
    found, _ = corrected(
        Edit("merge", character="Tom Hill", into="Bob"),
        Edit("rename", character="Ann", name="Xenia"),
        Edit("speaker", at=at(0, 3), speaker="Tom", addressees=("Ann",)),
        Edit("speaker", at=at(4, 8), speaker=None),
    )
    assert [(e.name, e.aliases, e.gender) for e in found.cast.entries] == [
        ("Xenia", ("Annie", "Ann"), ""),
        ("Bob", ("Tom Hill", "Tom"), "m"),
    ]
    assert found.given.quotes == {(0, 3): (1, (0,)), (4, 8): (-1, ())}
    assert found.kept == 4
    keeps, _ = corrected(Edit("merge", character="Bob", into="Tom Hill"))
    assert [(e.name, e.aliases, e.gender) for e in keeps.cast.entries] == [
        ("Ann", ("Annie",), ""),
        ("Tom Hill", ("Tom", "Bob"), "m"),
    ]


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (Edit("link", at=at(4), character="Zoe"), f"no character is called 'Zoe'{MAKE}"),
        (
            Edit("link", at=anchor_of(["x", "y"], 0, 0), character="Ann"),
            "the place is not found, or not the only one: [x] y; at its tokens stands “Ann”",
        ),
        (Edit("link", character="Ann"), "the edit has no place"),
        (Edit("span", at=at(4), to=at(5)), "the edit does not say whose mention it is ('was')"),
    ],
)
def test_a_correction_that_cannot_be_done_says_why(edit, reason):
    found, _ = corrected(edit)
    assert [(c.number, c.edit, c.reason) for c in found.conflicts] == [(1, edit, reason)]
    assert found.kept == 0


def annotated(words, people, key="d"):
    sentences = [s.split() for s in words]
    return Book.make(
        key, sentences, clusters=[m for _, m in people if m], characters=[(n, m) for n, m in people if m]
    )


def test_the_figures_of_a_book_told_by_one_of_its_people():
    book = annotated(
        ["I saw Ann .", "“ I am here , ” she said .", "My dear Bob and I left the Hatter ."],
        [
            ("Ann", [Mention(2, 2), Mention(10, 10)]),
            ("Me", [Mention(0, 0), Mention(13, 13), Mention(17, 17)]),
        ],
    )
    found = plausibility(book, ["Me", "The Mad Hatter", "Ann", "Zoe", "Eve Noone"])
    assert json.loads(json.dumps(found.to_dict())) == {
        "cast": 5,
        "absent": ["The Mad Hatter", "Zoe", "Eve Noone"],
        "near": [["The Mad Hatter", "Hatter", 1]],
        "shares": [
            ["Me", 1, 0.6],
            ["Ann", 3, 0.4],
            ["The Mad Hatter", 2, 0.0],
            ["Zoe", 4, 0.0],
            ["Eve Noone", 5, 0.0],
        ],
        "first_person": round(3 / 13, 4),
        "first_person_linked": 1.0,
        "narrator": "Me",
        "pronouns": 0.8,
        "warnings": [
            "3 of 5 names have no mention (The Mad Hatter, Zoe, Eve Noone): the text may use other names"
        ],
    }
    assert summary_line(found.to_dict()) == (
        "mentions (no. in the cast): Me 60% (no. 1), Ann 40% (no. 3); 80% pronouns; 23.1% of the words "
        "outside quotes are I, me or my, 100% of them linked, most to Me; without a mention: "
        "The Mad Hatter (but 'Hatter' 1 times), Zoe, Eve Noone"
    )


def test_a_narrator_whom_nobody_found_is_warned_of():
    told = annotated(["I saw Ann and I left ."] * 2, [("Ann", [Mention(2, 2)])])
    (warning,) = plausibility(told, ["Ann"]).warnings
    assert warning == (
        "33.3% of the words outside quotes are I, me or my, and nobody has any of them: the book may be told "
        "by one of its people who was not found"
    )
    empty = plausibility(Book.make("d", []), [])
    assert (empty.first_person, empty.pronouns, empty.narrator, empty.warnings, empty.shares) == (
        0,
        0,
        "",
        (),
        (),
    )
    assert summary_line(empty.to_dict()) == (
        "mentions (no. in the cast): none; 0% pronouns; 0.0% of the words outside quotes are I, me or my"
    )


@pytest.mark.parametrize(("linked", "warned"), [(0, True), (1, True), (2, False)])
def test_a_narrator_must_have_a_fifth_of_all_i(linked, warned):
    book = annotated(
        ["I left ."] * 10, [("Ann", [Mention(3 * i, 3 * i) for i in range(linked)]), ("Bob", [Mention(1, 1)])]
    )
    found = plausibility(book, ["Ann", "Bob"])
    assert any("told by" in w for w in found.warnings) is warned
    assert any("'Ann' has 10% of them" in w for w in found.warnings) is (linked == 1)


@pytest.mark.parametrize(("others", "warned"), [(197, True), (198, False)])
def test_a_book_is_told_in_the_first_person_above_one_word_in_a_hundred(others, warned):
    book = Book.make("d", [["I"] * 2 + ["left"] * others])
    assert bool(plausibility(book, []).warnings) is warned


@pytest.mark.parametrize(("absent", "warned"), [(1, False), (2, True)])
def test_a_cast_is_doubted_when_more_than_a_quarter_is_absent(absent, warned):
    book = Book.make(
        "d", [["w"] * 8], characters=[(f"P{i}", [Mention(i, i)]) for i in range(4 if absent == 2 else 3)]
    )
    cast = [c.name for c in book.characters] + [f"Q{i}" for i in range(absent)]
    assert bool(plausibility(book, cast).warnings) is warned


@pytest.mark.parametrize(("absent", "listed"), [(5, "Q0, Q1, Q2, Q3, Q4)"), (6, "Q0, Q1, Q2, Q3, Q4, ...)")])
def test_five_absent_names_are_listed(absent, listed):
    (warning,) = plausibility(Book.make("d", [["w"]]), [f"Q{i}" for i in range(absent)]).warnings
    assert listed in warning


def guide_row(character, doc_key="", gutenberg_key="", aliases=()):
    return {
        "doc_key": doc_key,
        "gutenberg_key": gutenberg_key,
        "character": character,
        "aliases": list(aliases),
        "text": "T",
    }


@pytest.mark.parametrize(
    ("character", "aliases", "found"),
    [
        ("Ann Hill", [], "Ann Hill"),
        ("ANN HILL!", [], "Ann Hill"),
        ("Hill", [], ""),
        ("Ann", [], "Ann Hill"),
        ("Mrs. Ann Hill Ford", [], "Ann Hill"),
        ("Zoe", ["Bob"], "Bob"),
        ("Zoe", [], ""),
        ("Mr.", [], ""),
        ("the Bob", [], "Bob"),
        ("Hill", ["Tom"], "Tom Hill"),
        ("Mrs. Bell", [], ""),
        ("Miss Bell", [], ""),
        ("Mr. and Mrs. Bell", [], ""),
        ("BELL", [], "Mr. Bell"),
        ("Noë Dé", [], ""),
        ("Mrs. Gray", [], ""),
        ("Gray", [], "Miss Gray"),
    ],
)
def test_references_take_the_one_name_that_fits(character, aliases, found):
    names = ["Ann Hill", "Tom Hill", "Bob", "The Mr.", "Mr. Bell", "Noe De", "Noe Dé", "Miss Gray"]
    people = [(name, [Mention(i, i)]) for i, name in enumerate(names)]
    book = Book.make("d_5", [["w"] * 8], gutenberg_key="5", characters=people)
    other = Book.make("e_0", [["w"] * 8], gutenberg_key="0", characters=people)
    rows = [guide_row(character, "d_5", aliases=aliases), guide_row("x", "0", "0"), guide_row("x")]
    made = references_for(rows, [book, other])
    assert made.rows == [{"doc_key": "d_5", "character": found, "text": "T"}] * bool(found)
    assert made.to_dict() == {
        "references": int(bool(found)),
        "without_book": 2,
        "without_character": [] if found else [f"d_5: {character}"],
    }
    by_number = references_for([guide_row("Bob", "elsewhere", "5")], [book])
    assert by_number.rows == [{"doc_key": "d_5", "character": "Bob", "text": "T"}]


class Judge:
    """Draws the sentences of a text as facts, and holds those true that another text has, too."""

    def __init__(self, holds):
        self.holds = holds

    def facts(self, asked):
        return {(who, text): [Fact(f, "Role") for f in text.split("|") if f] for who, text in asked}

    def verdicts(self, asked):
        return {(fact, by): self.holds(fact, by) for fact, by in asked}


def test_facts_are_judged_from_both_sides():
    pair = judged_scores.Compared("d", "Ann", "a|b", "b|c|d")
    groups = {"x": [pair], "empty": []}
    found, rows = judged_scores.fact_scores(
        groups, Judge(lambda f, by: f in by), Judge(lambda f, by: None if f == "b" else False)
    )
    assert {name: found["x"][name] for name in ("fact_precision", "fact_recall")} == {
        "fact_precision": 0.5,
        "fact_recall": pytest.approx(1 / 3),
    }
    assert [(r["side"], r["fact"], r["kind"], r["verdicts"]) for r in rows] == [
        ("answer", "a", "Role", [False, False]),
        ("answer", "b", "Role", [True, None]),
        ("reference", "b", "Role", [True, None]),
        ("reference", "c", "Role", [False, False]),
        ("reference", "d", "Role", [False, False]),
    ]
    assert found["x"]["kappa"] == 0
    assert found["empty"]["kappa"] == 1.0
    alone, _ = judged_scores.fact_scores(groups, Judge(lambda f, by: f in by))
    assert "kappa" not in alone["x"]
    agreed, _ = judged_scores.fact_scores(
        {"x": [pair]}, Judge(lambda f, by: f in by), Judge(lambda f, by: f in by)
    )
    assert agreed["x"]["kappa"] == 1.0


LONG = Book.make(
    "long_1",
    [[f"w{i}" for i in range(20)], ["Ann", "and", "Ann", "Hill", "\n", "left"], [f"v{i}" for i in range(40)]],
    gutenberg_key="1",
    clusters=[[Mention(20, 20), Mention(22, 23)], [Mention(22, 22)], [Mention(0, 0)]],
    characters=[("Ann Hill", [Mention(20, 20), Mention(22, 23)]), ("Bob", [Mention(0, 0)])],
)


def test_a_book_a_place_and_its_mentions_are_shown_whole(tmp_path):
    file = tmp_path / "b.jsonl"
    write_documents([LONG.to_record()], file)
    shown = describe(file, "long")
    assert shown["facts"] == {
        "doc_key": "long_1",
        "gutenberg_key": "1",
        "tokens": 66,
        "sentences": 3,
        "characters": 2,
        "clusters": 3,
        "mentions": 4,
    }
    assert shown["begins"] == " ".join([f"w{i}" for i in range(20)] + ["Ann and Ann Hill left v0 v1 v2 v3 …"])
    assert shown["characters"] == [("Ann Hill", 2, "Ann"), ("Bob", 1, "w0")]
    place = place_of(file, "", 22)
    around = LONG.tokens[22 - 12 : 22], LONG.tokens[23 : 23 + 12]
    assert place["context"] == " ".join([*around[0], "[Ann]", *around[1]]).replace("\n", " ")
    assert place["mentions"] == [
        {"character": "1", "start": 22, "end": 22, "text": "Ann"},
        {"character": "Ann Hill", "start": 22, "end": 23, "text": "Ann Hill"},
    ]
    assert place_of(file, "", 0)["context"].startswith("[w0] w1")
    assert place_of(file, "", 65)["context"].endswith("v38 [v39]")
    for token in (-1, 66):
        with pytest.raises(UsageError, match=f"has no token {token}") as caught:
            place_of(file, "", token)
        assert caught.value.expected == "0 to 65"
    name, rows = mentions_of(file, "", "hill")
    before, behind = LONG.tokens[20 - 8 : 20], LONG.tokens[21 : 21 + 8]
    assert (name, [r[:2] for r in rows]) == ("Ann Hill", [(20, 20), (22, 23)])
    assert rows[0][2] == " ".join([*before, "[Ann]", *behind]).replace("\n", " ")


def documents(tmp_path, *keys):
    file = tmp_path / "in.jsonl"
    people = [("Ann", [Mention(0, 0)]), ("Bob", [Mention(2, 2)])]
    books = [Book.make(k, [WORDS], clusters=[m for _, m in people], characters=people) for k in keys]
    write_documents([b.to_record() for b in books], file)
    return file


def test_edits_go_to_their_documents(tmp_path):
    file = documents(tmp_path, "one", "two")
    edits = [Edit("link", at=at(4), character="Ann", doc_key="one"), Edit("unlink", at=at(2))]
    done = apply_edits(file, edits, tmp_path / "out.jsonl")
    assert [d.annotation.doc_key for d in done] == ["one", "two"]
    found = {
        r.doc_key: {n: [m.start for m in ms] for n, ms in r.characters if ms}
        for r in read_documents(tmp_path / "out.jsonl")
    }
    assert found == {"one": {"Ann": [0, 4]}, "two": {"Ann": [0]}}
    with pytest.raises(UsageError, match=r"edit 2 is for the document 'x', which .* does not have") as caught:
        apply_edits(file, [edits[0], Edit("unlink", at=at(2), doc_key="x")], tmp_path / "no.jsonl")
    assert caught.value.expected == "one, two"
    back = diff_edits(file, tmp_path / "out.jsonl", author="me")
    assert {key: [e.op for e in made.edits] for key, made in back.items()} == {
        "one": ["unlink", "link"],
        "two": ["unlink"],
    }
    with pytest.raises(UsageError, match="has no document 'two'"):
        diff_edits(file, documents(tmp_path / "more", "one", "three"))
    (tmp_path / "none.jsonl").write_text("")
    for old, new in ((tmp_path / "none.jsonl", file), (documents(tmp_path / "less", "one"), file)):
        with pytest.raises(UsageError, match=rf"{old.name} has no document"):
            diff_edits(old, new)


def test_half_a_surrogate_pair_is_refused_and_no_file_is_written(tmp_path):
    with pytest.raises(DataError, match="half a surrogate pair"):
        write_edits([Edit("rename", character="Ann", name="Ann \ud800")], tmp_path / "e.jsonl")
    assert not list(tmp_path.iterdir())


def test_one_document_is_taken_by_its_key_or_alone(tmp_path):
    from bookcoref_data.formats.annotated import read_annotations

    many = read_annotations(documents(tmp_path, *(f"d{i}" for i in range(9))))
    assert one_called(many, "d3", tmp_path).doc_key == "d3"
    assert one_called(many[:1], "", tmp_path).doc_key == "d0"
    with pytest.raises(UsageError, match="has no book 'x'") as caught:
        one_called(many[:1], "x", tmp_path)
    assert caught.value.found == "the books d0"
    with pytest.raises(UsageError, match="holds 9 books") as caught:
        one_called(many, "", tmp_path)
    assert caught.value.found == "d0, d1, d2, d3, d4, d5, d6, d7 ..."
    with pytest.raises(UsageError) as caught:
        one_called(many[:8], "", tmp_path)
    assert caught.value.found == "d0, d1, d2, d3, d4, d5, d6, d7"


def test_edits_are_signed_and_kept(tmp_path):
    edits = signed([Edit("unlink", at=at(2)), Edit("unlink", at=at(0), author="you", date="1900")], "me")
    assert [e.author for e in edits] == ["me", "you"]
    assert all(len(e.date) == 20 and e.date.endswith("Z") for e in edits)
    write_edits(edits, tmp_path / "e.jsonl")
    assert read_edits(tmp_path / "e.jsonl") == edits


def test_contexts_share_their_budget():
    plan = contexts_module.read_plan(strategies=["lead", "chunks"], budget=10)
    people = [("Ann", [Mention(0, 0)]), ("Bob", [Mention(1, 1)])]
    book = Book.make(
        "d",
        [["Ann", "Bob", *"abcd", "\n", "\n"], [*"efgh", "\n", "\n"], [*"ij", "\n", "\n"]],
        characters=people,
    )
    rows = contexts_module.build([book, Book.make("empty", [["a"]])], plan)
    assert [(r["character"], r["strategy"], r["chunk"], r["tokens"]) for r in rows] == [
        ("Ann", "lead", 0, 10),
        ("Bob", "lead", 0, 10),
        ("Ann", "chunks", 0, 10),
        ("Ann", "chunks", 1, 2),
        ("Bob", "chunks", 0, 10),
        ("Bob", "chunks", 1, 2),
    ]
    (one, *_) = contexts_module.build([book], plan, characters=["Bob"])
    assert one["character"] == "Bob"
    joint = contexts_module.build(
        [book], contexts_module.read_plan(strategies=["lead"], budget=12), joint=True
    )
    assert [(r["character"], r["tokens"]) for r in joint] == [("Ann | Bob", 6)]
