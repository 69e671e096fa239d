"""Lessons from novels: what they ask, what they answer, and that they do not give the answer away."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import bench_labels
from benchmarks.bench_labels import labels_of, print_answers
from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded.discourse import INDEX
from bookcoref_data.annotation.embedded.network import WEIGHTS, Ranker, load_rankers
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.reader import OneReading
from bookcoref_data.books import Book
from training.kernels import KERNELS, start_again_with
from training.litbank import parts, read_excerpt
from training.novels import (
    READ_BY_EYE,
    cast_of,
    kept_casts,
    novel_files,
    paragraphs_of,
    read_novel,
    silver_examples,
)
from training.parses import link_text
from training.silver import SilverReader
from training.train import KINDS, QUOTED, Question, by_ranker, check, fit

pytestmark = pytest.mark.slow

CAST = parse_cast("Anna Hill [f]\nMr. Ford\nClara Dale [f]\n")
SCENE = "Anna Hill and Mr. Ford sat by the fire. Clara Dale stood at the door.\n\n"


@pytest.fixture(scope="module")
def silver_of(book_of):
    """Text -> (examples, the text) of a reading that hides as much as it can."""

    @cache
    def linked(story: str):
        book = book_of(story)
        return link_text(book, CAST, parse_book(book))

    def read(story: str, seed: int = 1):
        text = linked(story)
        reader = SilverReader(text, load_rankers(), seed=seed, hide=1.0)
        reader.read()
        return reader.examples, text

    return read


def talk(name: str) -> str:
    return (
        SCENE + f"“It is late,” said {name}.\n\n“Not so very late,” said Anna Hill.\n\n"
        "“Let us go home,” said Mr. Ford.\n"
    )


@pytest.mark.long
def test_a_tag_left_out_asks_for_the_name_that_stood_there(silver_of):
    seen = 0
    for seed in range(16):
        examples, _ = silver_of(talk("Mr. Ford"), seed)
        for e in examples:
            if e.lesson == "speaker":
                seen += 1
                assert e.x[e.right, INDEX["none"]] == 0
                assert not e.x[:, [INDEX["tagged"], INDEX["tag subject"], INDEX["same turn speaker"]]].any()
    assert seen >= 8


def test_a_tag_left_out_does_not_show_in_the_features(silver_of):
    """The first quote looks the same whoever says it: the answer is all that differs."""
    compared = 0
    for seed in range(8):
        (first, _), (second, _) = silver_of(talk("Mr. Ford"), seed), silver_of(talk("Clara Dale"), seed)
        if first and second and first[0].lesson == second[0].lesson == "speaker":
            compared += 1
            assert np.array_equal(first[0].x, second[0].x)
            assert first[0].right != second[0].right
    assert compared


def test_a_name_behind_a_pronoun_is_asked_for_by_its_gender(silver_of):
    found = [e for seed in range(8) for e in silver_of(talk("Mr. Ford"), seed)[0] if e.lesson == "third"]
    assert found
    for e in found:
        assert e.x[0, INDEX["m male"]] + e.x[0, INDEX["m female"]] == 1
        assert e.x[0, INDEX["m tag"]] == 1


def test_a_name_behind_a_phrase_is_asked_for_as_a_noun(silver_of):
    story = talk("Mr. Ford") + "\n“The gentleman is late,” said Anna Hill. The man bowed to the lady.\n"
    found = [e for seed in range(12) for e in silver_of(story, seed)[0] if e.lesson == "nominal"]
    assert {bool(e.x[0, INDEX["m male"]]) for e in found} == {True, False}
    for e in found:
        assert e.x[0, INDEX["m tag"]] == e.x[0, INDEX["d the"]] == 1
        assert e.x[e.right, INDEX["cast"]] == 1
        assert not e.x[e.right, INDEX["named ahead in sentence"]]


def test_what_a_hidden_name_was_called_is_forgotten(book_of):
    """Only the nouns of the book itself may be learned from."""
    book = book_of(talk("Mr. Ford"))
    text = link_text(book, CAST, parse_book(book))
    for seed in range(12):
        reader = SilverReader(text, load_rankers(), seed=seed, hide=1.0)
        reader.read()
        assert not any(reader.phrases.nouns_of(e) for e in range(reader.state.size))
        assert not any(called - {""} for called in reader.state.nouns[: len(CAST.entries)])


def test_reading_leaves_the_text_as_it_was(silver_of):
    _, text = silver_of(talk("Mr. Ford"))
    _, again = silver_of(talk("Mr. Ford"))
    assert [m.kind for m in text.markables] == [m.kind for m in again.markables]
    assert [t.subject for t in text.tags] == [t.subject for t in again.tags]
    assert sum(t.subject >= 0 for t in text.tags) == 3


def test_a_name_that_is_called_is_left_out_and_asked_for(silver_of):
    story = SCENE + "“You are late, Anna Hill,” said Mr. Ford.\n\n“So I am,” said Anna Hill.\n"
    asked = [e for seed in range(8) for e in silver_of(story, seed)[0] if e.lesson == "second"]
    assert asked
    for e in asked:
        assert e.x[e.right, INDEX["none"]] == 0
        assert not e.x[:, [INDEX["vocative here"], INDEX["named ahead in sentence"]]].any()


def test_a_name_in_a_quote_is_asked_for_as_she(silver_of):
    story = (
        SCENE + "“Clara Dale is late, and Clara Dale is ill,” said Mr. Ford.\n\n“So, Clara Dale,” said he.\n"
    )
    examples, text = silver_of(story)
    asked = [e for e in examples if e.lesson == "quoted"]
    assert len(asked) == 2
    for e in asked:
        assert e.x[0, INDEX["m female"]] == e.x[0, INDEX["m quoted"]] == 1
        assert e.x[e.right, INDEX["none"]] == 0
    assert asked[1].x[asked[1].right, INDEX["same quote"]] == 1
    assert not asked[1].x[:, INDEX["named ahead in sentence"]].any()
    assert [m.kind for m in text.markables if m.text == "clara dale"] == ["name"] * 4


def test_questions_in_quotes_weigh_more_for_the_ranker_of_quotes():
    x = np.zeros((2, len(INDEX)), dtype=np.float32)
    quoted = x.copy()
    quoted[:, INDEX["m quoted"]] = 1
    questions = {
        "third": [Question(x, 0), Question(quoted, 1, 0.5)],
        "nominal": [],
        "speaker": [Question(x, 0)],
    }
    found = by_ranker(questions)
    assert [q.weight for q in found["third"]] == [1.0, 0.5]
    assert [q.weight for q in found["third in a quote"]] == [0.5, 1.0]
    assert [q.right for q in found["third in a quote"]] == [0, 1]
    assert set(found) == {*questions, "third in a quote", "nominal in a quote"}


def test_the_tags_of_the_next_turns_are_sometimes_hidden_too(silver_of):
    seen = set()
    for seed in range(12):
        examples, _ = silver_of(talk("Mr. Ford"), seed)
        seen |= {bool(e.x[:, INDEX["next speaker"]].any()) for e in examples if e.lesson == "speaker"}
    assert seen == {True, False}


def test_where_gender_decides_it_is_hidden(silver_of):
    examples, _ = silver_of("Anna Hill met Mr. Ford in the lane. She smiled.\n")
    (blind,) = [e for e in examples if e.lesson == "blind"]
    people = blind.x[:-1]
    assert len(people) == 2
    assert people[blind.right, INDEX["was subject"]] == 1
    assert people[0, INDEX["gender sure"]] == people[1, INDEX["gender sure"]] == 1


def test_where_two_could_be_meant_nothing_is_asked(silver_of):
    examples, _ = silver_of("Anna Hill met Clara Dale in the lane. Mr. Ford was there. She smiled.\n")
    assert not [e for e in examples if e.lesson == "blind"]


def test_pronouns_in_quotes_have_a_ranker_of_their_own(book_of):
    book = book_of("Mr. Ford slept. He snored.\n\n“He is ill,” said Anna Hill.\n")
    text = link_text(book, CAST, parse_book(book))
    names = np.zeros((len(INDEX), 1), dtype=np.float32)
    names[INDEX["none"]] = 50
    nobody = Ranker(np.zeros(len(INDEX)), np.ones(len(INDEX)), names, np.zeros(1), np.ones(1))

    def found(rankers: dict[str, Ranker]) -> list[tuple[str, bool]]:
        decisions = OneReading(text, rankers).read()
        ms = [text.markables[d.index] for d in decisions]
        return [(m.text, bool(text.speech.quote[m.at] >= 0)) for m in ms]

    assert found(load_rankers()) == [("he", False), ("he", True)]
    assert found(load_rankers() | {"third in a quote": nobody}) == [("he", False)]


def test_a_weight_of_nothing_teaches_nothing():
    rng = np.random.default_rng(0)
    width = len(INDEX)
    plain = [Question(rng.normal(size=(3, width)).astype(np.float32), n % 3) for n in range(40)]
    muted = [Question(q.x, (q.right + 1) % 3, 0.0) for q in plain for _ in range(4)]
    ranker = fit(plain + muted, 16, 60, seed=1)
    assert sum(ranker.scores(q.x).argmax() == q.right for q in plain) >= 38


def test_paragraphs_come_from_the_novel():
    novel = Book.make(
        "n", [["Preface", "\n"], ["“", "Yes", ".", "”", "\n"], ["He", "_left_", ".", "\n"], ["x"]]
    )
    book = Book.make("e", [["``", "Yes", ".", "''"], ["He", "left", "."]])
    found = paragraphs_of(SimpleNamespace(job=SimpleNamespace(book=book)), novel)
    assert found.tolist() == [1, 1, 1, 1, 2, 2, 2]


def test_another_book_gives_no_paragraphs():
    novel = Book.make("n", [["Something", "else", "entirely", "\n"]])
    book = Book.make("e", [["He", "left", "."]])
    assert paragraphs_of(SimpleNamespace(job=SimpleNamespace(book=book)), novel) is None


def test_novels_that_are_tested_on_are_never_read(shared_data):
    litbank = shared_data / "litbank"
    files = novel_files(shared_data / "gutenberg", litbank)
    split = parts(litbank)
    assert len(files) >= 40
    assert not READ_BY_EYE & files.keys()
    assert not {name.split("_")[0] for part in ("dev", "test") for name in split[part]} & files.keys()


@pytest.mark.long
def test_every_text_of_training_has_a_cast_that_is_kept(shared_data):
    litbank = shared_data / "litbank"
    novels = {path.stem for path in novel_files(shared_data / "gutenberg", litbank).values()}
    excerpts = {
        e.job.book.doc_key: e for name in parts(litbank)["train"] if (e := read_excerpt(litbank, name))
    }
    assert set(kept_casts()) == novels | set(excerpts)
    assert all(len(parse_cast(kept_casts()[novel]).entries) > 1 for novel in novels)
    # The rankers learn whom the answers mean by the places of people in the cast.
    for key, excerpt in excerpts.items():
        assert [e.name for e in parse_cast(kept_casts()[key]).entries] == list(excerpt.job.cast.names)


def test_a_kept_cast_stands_where_another_would_be_proposed(book_of):
    words = "Mr. Ford met Anna Hill. Anna Hill slept, and Mr. Ford left. Anna Hill saw Mr. Ford.\n" * 4
    book = book_of(words)
    proposed = cast_of(book, parse_book(book))
    assert {"Anna Hill", "Mr. Ford"} <= set(proposed.names)
    kept = cast_of(replace(book, doc_key="pg24"), parse_book(book))
    assert kept == parse_cast(kept_casts()["pg24"]) != proposed
    given = parse_cast("Anna Hill\nMr. Ford; Tom Ford")
    assert cast_of(book, parse_book(book), given).names == given.names


@pytest.mark.long
def test_a_real_novel_teaches_and_gives_paragraphs(shared_data):
    litbank = shared_data / "litbank"
    path = novel_files(shared_data / "gutenberg", litbank)["24"]
    excerpt = read_excerpt(litbank, "24_o_pioneers_brat")
    paragraphs = paragraphs_of(excerpt, read_novel(path))
    assert paragraphs[-1] - paragraphs[0] == 14
    lessons = {e.lesson for e in silver_examples(path, load_rankers())}
    assert lessons == {"blind", "third", "nominal", "quoted", "speaker", "second"}


def test_weights_are_compared_number_by_number(capsys):
    rankers = load_rankers()
    assert check(rankers, WEIGHTS) == 0
    rankers["third"].w1[0, 0] += 0.25
    del rankers["second"]
    assert check(rankers, WEIGHTS) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "speaker: the same" in lines
    assert "second: differs by up to inf" in lines
    assert "third: differs by up to 0.25" in lines


def test_the_labels_of_a_novel_answer_what_a_reader_asks(book_of):
    """A quote, the pronoun in its tag and a mention inside it have the characters that the gold names."""
    story = SCENE + "“It is late, Clara,” he said.\n"
    book = book_of(story)
    text = link_text(book, CAST, parse_book(book))
    places, at = [], 0
    for token in book.tokens:
        at = story.index(token, at)
        places.append((at, at + len(token)))
        at += len(token)
    clara, quote = story.index("Clara,”"), story.index("It is late")
    gold = SimpleNamespace(
        mentions={(clara, clara + len("Clara")): "Clara Dale"},
        quotes=[SimpleNamespace(spans=[(quote, clara + 6)], speaker="Mr. Ford")],
    )
    labels = labels_of(text, gold, places, CAST.names)
    (he,) = (i for i, m in enumerate(text.markables) if m.text == "he")
    (name,) = (i for i, m in enumerate(text.markables) if m.text == "clara")
    assert labels == {("quote", 0): 1, he: 1, name: 2}


def test_questions_are_answered_by_rankers_of_the_other_folds(monkeypatch, capsys):
    """The package takes the first candidate, what the labels taught nobody, the last row, and the second one
    if it must be somebody; each question counts once, for the ranker of its place."""
    rows = np.zeros((3, len(INDEX)), dtype=np.float32)
    inside = rows.copy()
    inside[:, INDEX["m quoted"]] = 1
    names = (*KINDS, *QUOTED.values())
    taught = []

    def train(lessons, more, members, jobs):
        taught.append(lessons)
        return {name: SimpleNamespace(scores=lambda x: np.array([0, 1, 2])) for name in names}

    monkeypatch.setattr(bench_labels, "train", train)
    first = {name: SimpleNamespace(scores=lambda x: np.array([2, 1, 0])) for name in names}
    monkeypatch.setattr(bench_labels, "load_rankers", lambda: first)
    one = {kind: [Question(rows, 0), Question(inside, 2), Question(inside, 2)] for kind in KINDS}
    other = {kind: [Question(inside, 1)] for kind in KINDS}
    print_answers({"one": one, "other": other}, {}, 2, 1, 1)
    assert taught == [[other], [one]]
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    shares = {line.split(" questions: ")[0]: line.split(" questions: ")[1] for line in printed}
    assert shares["third 1"] == "package 100.0 %, labels 0.0 %; somebody: package 100.0 %, labels 0.0 %"
    assert shares["speaker 4"] == "package 25.0 %, labels 50.0 %; somebody: package 25.0 %, labels 25.0 %"
    quoted = "package 0.0 %, labels 66.7 %; somebody: package 0.0 %, labels 33.3 %"
    assert shares["third in a quote 3"] == quoted


def test_training_runs_with_kernels_that_every_processor_has(monkeypatch):
    """numpy reads the names of the kernels when it is loaded, so the process is replaced, once."""
    started = []
    monkeypatch.setattr("os.execve", lambda path, args, env: started.append((args, env)))
    monkeypatch.setattr("sys.argv", ["train.py", "litbank", "--check"])
    start_again_with("training.train")
    ((args, env),) = started
    assert args[1:] == ["-m", "training.train", "litbank", "--check"]
    assert KERNELS.items() <= env.items()
    for name in KERNELS:
        monkeypatch.setenv(name, env[name])
    start_again_with("training.train")
    assert len(started) == 1
