"""Contexts of characters: paragraphs, strategies, budgets, prompts, scores, published tables."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.books import Book, Mention, Record
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.formats import write_documents
from bookcoref_data.resources import resource
from bookcoref_data.tasks.contexts.passages import Retriever, paragraphs_of, sentences_about
from bookcoref_data.tasks.contexts.prompts import joint_prompt, merge_prompt, prompt_of, split_joint
from bookcoref_data.tasks.contexts.scores import (
    entailment_share,
    entity_recall,
    named_entities,
    novel_ngrams,
    oracle_sentences,
    parts_within,
    qa_scores,
    rouge,
    token_f1,
)
from bookcoref_data.tasks.contexts.splits import (
    find_defects,
    keep_length,
    leakless_splits,
    overlap,
    read_tables,
)
from bookcoref_data.workflows import contexts as work


@pytest.fixture(scope="module")
def book(story) -> Book:
    return story.to_book()


def lengths_book(*lengths: int) -> Book:
    """Paragraphs of so many words, each one sentence that ends with a line end; one character in all."""
    sentences = [[f"w{n}_{i}" for i in range(size)] + ["\n"] for n, size in enumerate(lengths)]
    starts, at = [], 0
    for size in lengths:
        starts.append(at)
        at += size + 1
    return Book.make("lengths", sentences, characters=[("Ann", [(s, s) for s in starts])])


def sizes(context):
    return [piece.size for piece in context.pieces]


def test_the_worked_example_of_lead_and_chunks():
    book = lengths_book(4, 5, 3, 12, 2)
    assert [p.size for p in paragraphs_of(book, 100)] == [4, 5, 3, 12, 2]
    (lead,) = Retriever(book, budget=10).contexts("Ann", "lead")
    assert sizes(lead) == [4, 5]
    chunks = Retriever(book, budget=12).contexts("Ann", "chunks")
    assert [sizes(c) for c in chunks] == [[4, 5, 3], [12], [2]]
    assert [c.chunk for c in chunks] == [0, 1, 2]


def test_long_paragraphs_are_cut_and_no_chunk_is_empty():
    book = lengths_book(25, 3)
    chunks = Retriever(book, budget=10).contexts("Ann", "chunks")
    assert [sizes(c) for c in chunks] == [[10], [10], [5, 3]]
    assert sum(c.size for c in chunks) == 28


@pytest.mark.parametrize("strategy", ["coref", "bm25", "lead", "random", "chunks"])
@pytest.mark.parametrize("budget", [40, 1000])
def test_every_offset_points_to_what_it_quotes_within_the_budget(book, strategy, budget):
    retriever = Retriever(book, budget=budget)
    for character in book.characters:
        for context in retriever.contexts(character.name, strategy):
            row = context.to_dict(book)
            assert row["tokens"] <= budget
            assert row["context"] == "\n\n".join(piece["text"] for piece in row["pieces"])
            for piece in row["pieces"]:
                words = book.tokens[piece["start"] : piece["end"]]
                assert piece["text"] == " ".join(t for t in words if t.strip())
            places = [(p["start"], p["end"]) for p in row["pieces"]]
            assert all(a[1] <= b[0] for a, b in pairwise(places))


def test_coreference_finds_paragraphs_that_say_no_name(book):
    retriever = Retriever(book, budget=100_000)
    name = max(book.characters, key=lambda c: len(c.mentions)).name
    (coref,), (bm25,) = (retriever.contexts(name, s) for s in ("coref", "bm25"))
    mentions = next(c.mentions for c in book.characters if c.name == name)
    assert all(any(p.start <= m.start < p.end for p in coref.pieces) for m in mentions)
    assert not all(any(p.start <= m.start < p.end for p in bm25.pieces) for m in mentions)
    assert all(any(p.start <= m.start < p.end for m in mentions) for p in coref.pieces)


def test_what_is_not_there_is_named(book):
    retriever = Retriever(book)
    with pytest.raises(UsageError, match="no character"):
        retriever.contexts("Nobody", "coref")
    with pytest.raises(UsageError, match="no strategy"):
        retriever.contexts(book.characters[0].name, "best")
    with pytest.raises(UsageError, match="at least one token"):
        Retriever(book, budget=0)


def test_the_published_rule_cuts_the_end_off_where_paragraphs_do_not_fit():
    starts = [(0, 0), (21, 21), (32, 32), (33, 33), (34, 34)]
    sentences = [[f"w{n}_{i}" for i in range(size)] + ["\n"] for n, size in enumerate((20, 10, 8))]
    book = Book.make("cut", sentences, characters=[("Ann", starts)])
    for truncate, wanted in ((True, [20, 10]), (False, [10, 8])):
        (context,) = Retriever(book, budget=30, truncate=truncate).contexts("Ann", "coref")
        assert sizes(context) == wanted


def test_wording_that_books_lack_is_counted_by_length(place, tmp_path, book, fits_schema):
    key = book.doc_key
    copied = " ".join(t for t in book.tokens[:40] if t.strip())
    for name, text in (("described", copied), ("analysed", "a wholly other wording of mine")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"doc_key": key, "character": "x", "text": text}))
    words = (
        "novelty",
        tmp_path / "described.jsonl",
        tmp_path / "analysed.jsonl",
        "--books",
        place / "books.jsonl",
    )
    found = json.loads(run(*words, "--json").stdout)
    fits_schema("contexts-novelty", found)
    rows = {row["texts of"]: row for row in found}
    assert rows["described"]["4-grams"] == 0.0
    assert rows["analysed"]["4-grams"] == 1.0 > rows["analysed"]["1-grams"]
    (tmp_path / "other.jsonl").write_text('{"doc_key": "?", "character": "x", "text": "y"}')
    none = json.loads(run("novelty", tmp_path / "other.jsonl", *words[-2:], "--json").stdout)
    assert none == [{"texts of": "other", "texts": 0, "other books": 1}]
    assert run("novelty", tmp_path / "other.jsonl", *words[-2:]).stdout.split() == [
        "texts", "of", "texts", "other", "books", "--------", "-----", "-----------", "other", "0", "1",
    ]  # fmt: skip


def test_novelty_takes_one_file_or_several_and_says_where_there_is_none(place, tmp_path, book):
    one = tmp_path / "one.jsonl"
    one.write_text(json.dumps({"doc_key": book.doc_key, "character": "x", "text": "zz yy"}))
    books = place / "books.jsonl"
    assert bc.contexts_novelty(one, books=books) == bc.contexts_novelty([str(one)], books=books)
    assert bc.contexts_novelty(one, books=books)["1-grams"] == [1.0]
    with pytest.raises(UsageError, match="no texts to look at"):
        bc.contexts_novelty([], books=books)


def test_sampling_is_the_published_one_unless_it_is_given(place, chat, tmp_path):
    words = ("ask", place / "c", "--endpoint", chat.url, "--model", "m", "--most", 1, "--out")
    assert run(*words, tmp_path / "a.jsonl").exit_code == 0
    assert run(*words, tmp_path / "b.jsonl", "--kind", "analysis", "--temperature", 0, "--top-p", 0.9,
               "--seed", 7, "--most-tokens", 9).exit_code == 0  # fmt: skip
    sent = [{k: v for k, v in b.items() if k not in ("model", "messages")} for b in chat.bodies]
    assert sent == [
        {"temperature": 0.4, "max_tokens": 110},
        {"temperature": 0.0, "max_tokens": 9, "top_p": 0.9, "seed": 7},
    ]


def test_sentences_about_a_character(book):
    name = book.characters[0].name
    first = sentences_about(book, name, 4)
    drawn = sentences_about(book, name, 4, seed=1)
    everything = sentences_about(book, name, 10**6)
    assert first == everything[:4]
    assert len(drawn) == 4
    assert [everything.index(s) for s in drawn] == sorted(everything.index(s) for s in drawn)
    assert drawn == sentences_about(book, name, 4, seed=1)


def test_prompts_are_the_published_ones():
    described = "Describe character: Meg given the following context.\n\nContext: TEXT"
    analysed = "Analyse in-depth character: Meg given the following context.\n\nContext: TEXT"
    assert prompt_of("Meg", "TEXT") == described
    assert prompt_of("Meg", "TEXT", "analysis") == analysed
    # The public files of these two end with a line end, which the public code sends, too.
    assert merge_prompt("Meg", ["A", "B"]) == (
        "Describe character: Meg by merging the following descriptions into a single description.\n\n"
        "Descriptions:\nA\n\nB\n"
    )
    assert merge_prompt("Meg", ["A", "B"], "analysis") == (
        "Analyse in-depth character: Meg by merging the following analyses into a single analysis.\n\n"
        "Analyses:\nA\n\nB\n"
    )
    with pytest.raises(UsageError, match="kind"):
        joint_prompt(["Meg"], "T", "poem")


def test_joint_answers_are_taken_apart():
    reply = "Here:\n### Meg\nA teacher.\nBrave.\n### **Ned**\nHer brother.\n### Nobody\nx"
    assert split_joint(reply, ["Meg", "Ned", "Tom"]) == {"Meg": "A teacher.\nBrave.", "Ned": "Her brother."}


def test_scores_of_texts():
    same = rouge("Meg teaches the little ones", "Meg teaches the little ones")
    assert same == {"rouge1": 1.0, "rouge2": 1.0, "rougeL": 1.0}
    assert rouge("a b c d", "a x c y")["rouge1"] == pytest.approx(0.5)
    assert entity_recall("Meg met Mr. Gadd in Lampton", ["meg", "Mr. Gadd", "Ned"]) == pytest.approx(2 / 3)
    assert entity_recall("Megan", ["Meg"]) == 0.0
    assert entity_recall("x", []) is None
    assert novel_ngrams("a b c", "z a b", 2) == 0.5
    assert novel_ngrams("a", "a", 2) is None
    assert token_f1("The Lamp", "lamp.") == (1.0, 1.0)
    assert token_f1("old lamp", "lamp") == (0.0, pytest.approx(2 / 3))


def test_measures_by_models_take_any_judge():
    held = entailment_share(["a b", "c"], ["a b z", "q"], lambda p, s: float(s in p))
    assert held == 0.5
    assert entailment_share([], ["a"], lambda p, s: 1.0) is None
    reader = {"r": "blue", "o": "red"}
    found = qa_scores([("q1", "blue"), ("q2", "green")], "r", "o", lambda q, text: reader[text])
    assert found == {"exact": 0.0, "f1": 0.0, "questions": 1.0}


def test_the_oracle_takes_the_sentences_nearest_to_the_reference():
    sentences = ["Meg teaches.", "It rained.", "Meg is brave and kind."]
    assert oracle_sentences(sentences, "Meg is brave", 1) == ["Meg is brave and kind."]


def test_length_filters_of_paper_and_code_differ_at_the_border():
    text = "word " * 30
    assert keep_length(text, 30)
    assert not keep_length(text, 30, strictly=True)
    assert keep_length("a, b.", 4, tokens="nltk")
    assert not keep_length("a, b.", 4)


def test_defects_of_the_published_tables_are_found(reference):
    tables = read_tables(reference / "bookworm")
    found = {(d.table, d.what): d.books for d in find_defects(tables)}
    assert set(found["splits/analysis", "listed, but without any address"]) == {
        "981", "15067", "30338", "1780", "1126", "8073",
    }  # fmt: skip
    assert found["analysis_data", "is not in books.tsv"] == ("9701",)
    assert found["splits/description", "listed twice"] == ("28885",)
    titles = "rows whose title differs from books.tsv: join on the id"
    assert (len(found["description_data", titles]), len(found["analysis_data", titles])) == (38, 22)
    leaks = {key: len(books) for key, books in found.items() if "leak" in key[1]}
    assert leaks["splits/description/test", "in train of analysis: a leak between tasks"] == 6
    assert leaks["splits/description/val", "in train of analysis: a leak between tasks"] == 11
    assert leaks["splits/analysis/val", "in train of description: a leak between tasks"] == 9
    books = json.loads(resource("manifests", "bookcoref.json").read_text("utf-8"))["books"]
    shared = {d.what: len(d.books) for d in overlap(tables, books) if d.table == "books"}
    assert shared == {"in BookCoref by Gutenberg id": 22, "in BookCoref by title, another edition": 4}
    placed = leakless_splits(tables)
    assert set(placed) == {row.book for rows in tables.data.values() for row in rows}
    for splits in tables.splits.values():
        tests = {row.book for row in splits["test"]} & set(placed)
        assert {placed[book] for book in tests} == {"test"}


def run(*words):
    return CliRunner().invoke(make_app(), ["contexts", *map(str, words)])


@pytest.fixture(scope="module")
def place(tmp_path_factory, story):
    folder = tmp_path_factory.mktemp("contexts")
    write_documents([story], folder / "books.jsonl")
    words = ("build", folder / "books.jsonl", "--out", folder / "c", "--budget", 300)
    assert run(*words, "-s", "coref", "-s", "chunks").exit_code == 0
    return folder


def test_a_folder_of_contexts_loads_with_datasets(place, book):
    from datasets import load_dataset

    rows = load_dataset(str(place / "c"), cache_dir=str(place / "cache"))["contexts"]
    assert {row["character"] for row in rows} == {c.name for c in book.characters}
    assert rows.to_list() == work.read_contexts(place / "c")


@pytest.mark.long
def test_a_model_describes_and_chunks_are_merged(place, chat, book, tmp_path, fits_schema):
    chat.answer = lambda body: "merged" if "by merging" in body["messages"][0]["content"] else "a person"
    words = ("ask", place / "c", "--endpoint", chat.url, "--model", "m", "--out", tmp_path / "a.jsonl")
    result = run(*words)
    assert result.exit_code == 0, result.output
    answers = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    texts = {(a["strategy"], a["text"]) for a in answers}
    assert texts == {("coref", "a person"), ("chunks", "merged")}
    assert len(answers) == 2 * len(book.characters)
    asked = len(chat.bodies)
    again = run(*words, "--json")
    assert again.exit_code == 0
    fits_schema("contexts-ask", json.loads(again.stdout))
    assert len(chat.bodies) == asked


def test_no_context_and_summaries_are_strategies_too(place, book, tmp_path):
    summaries = tmp_path / "s.jsonl"
    summaries.write_text(json.dumps({"doc_key": book.doc_key, "text": "A lamp is lit."}) + "\n")
    words = ("build", place / "books.jsonl", "--out", tmp_path / "c", "-s", "none", "--summaries", summaries)
    assert run(*words).exit_code == 0
    rows = [r for r in work.read_contexts(tmp_path / "c") if r["character"] == "Margaret Harlow"]
    assert [(r["strategy"], r["pieces"], r["prompt"]) for r in rows] == [
        ("none", [], "Describe character: Margaret Harlow."),
        ("summary", [], prompt_of("Margaret Harlow", "A lamp is lit.")),
    ]


def test_summaries_of_other_books_are_told_and_of_two_of_one_none_wins(place, book, tmp_path, fits_schema):
    summaries = tmp_path / "s.jsonl"
    rows = [{"doc_key": key, "text": "A lamp is lit."} for key in (book.doc_key, "emma_158", "dune")]
    summaries.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("build", place / "books.jsonl", "--out", tmp_path / "c", "-s", "none", "--summaries", summaries)
    shown = [line for line in run(*words).output.splitlines() if "not used" in line]
    assert shown == [f"summaries of other books, not used: {key}" for key in ("dune", "emma_158")]
    report = json.loads(run(*words, "--json").stdout)
    fits_schema("contexts-build", report)
    assert report["others"] == ["dune", "emma_158"]
    summaries.write_text("".join(json.dumps(rows[0] | {"text": text}) + "\n" for text in "AB"))
    with pytest.raises(DataError, match="a book has two summaries"):
        raise run(*words).exception


def test_joint_prompts_ask_about_five_at_most(place, book):
    rows = work.build([book], work.read_plan(budget=500), joint=True)
    assert len(rows) == -(-len(book.characters) // 5)
    assert rows[0]["prompt"].count("\n- ") == 5
    assert all(row["tokens"] <= 500 for row in rows)


def test_descriptions_and_baselines_are_scored(place, book, tmp_path, fits_schema):
    references = tmp_path / "r.jsonl"
    key = "the_lamp_at_the_ferry_house_99000001"
    later = sorted(sentences_about(book, "Dr. Pike", 99)[4:], key=len)[-2:]
    texts = {"Dr. Pike": f"Meg. {' '.join(later)}", "Mr. Gadd": "too short"}
    references.write_text(
        "".join(json.dumps({"doc_key": key, "character": c, "text": t}) + "\n" for c, t in texts.items())
    )
    result = run("score", references, "--answers", references, "--books", place / "books.jsonl", "--json")
    found = json.loads(result.stdout)
    fits_schema("contexts-score", found)
    assert found["answers"]["texts"] == 1
    assert found["answers"]["rouge1"] == 1.0
    assert found["baseline oracle"]["rouge2"] > found["baseline lead"]["rouge2"]
    assert found["answers"]["entity_recall"] == 1.0


def test_a_long_premise_is_read_in_parts():
    def letters(words, add_special_tokens):
        return SimpleNamespace(input_ids=[list(word) for word in words])

    assert parts_within(["aa", "bbb", "c", "dddddd", "ee"], 5, letters) == ["aa bbb", "c", "dddddd", "ee"]
    assert parts_within([], 5, letters) == []


def test_entities_are_found_by_the_model_of_the_extra_annotate():
    found = named_entities("In 1811 Elizabeth Bennet went to London with Mr. Darcy.")
    assert "London" in found
    assert "1811" not in found
    assert any("Bennet" in entity for entity in found)


def test_a_character_with_several_references_is_scored_against_each():
    said = ["Ann bakes bread " * 10, "Sam sails away now " * 10]
    rows = [{"doc_key": "b", "character": "Ann", "text": text} for text in said]
    plan = work.read_plan()
    gold = work.long_references(rows, plan)
    found = work.score(work.compared(work.by_system(rows[:1]), gold, [], plan), [])["answers"]
    assert (found["texts"], found["rouge1"]) == (2, 0.5)


def test_texts_that_stand_alone_are_counted(tmp_path, fits_schema):
    long = "Ann bakes bread and sells it . " * 6
    rows = {
        "r": [("b", "Ann", long), ("b", "Sam", long), ("b", "Meg", "too short")],
        "a": [("b", "Ann", "Ann bakes."), ("b", "Meg", "Meg."), ("other", "Ann", "Ann.")],
        "twice": [("b", "Ann", "Ann bakes."), ("b", "Ann", "Ann sells.")],
    }
    for name, texts in rows.items():
        lines = (json.dumps(dict(zip(("doc_key", "character", "text"), t, strict=True))) for t in texts)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    book = Record("b", "", [["Ann", "bakes", "."]], [[Mention(0, 0)]], [("Ann", [Mention(0, 0)])])
    empty = Record("e", "", [["Rain", "."]], [], [])
    write_documents([book, empty], tmp_path / "books.jsonl")
    result = run("score", tmp_path / "r.jsonl", "-a", tmp_path / "a.jsonl")
    assert "2 answers left out, without a reference that is long enough" in result.output
    assert "1 character with a reference, but without an answer" in result.output
    found = json.loads(run("score", tmp_path / "r.jsonl", "-a", tmp_path / "a.jsonl", "--json").stdout)
    fits_schema("contexts-score", found)
    own = found["answers"]
    assert (own["texts"], own["without_reference"], own["unanswered"]) == (1, 2, 1)
    done = run("score", tmp_path / "r.jsonl", "-a", tmp_path / "twice.jsonl")
    assert isinstance(done.exception, DataError)
    assert "'Ann' of 'b' has two answers" in str(done.exception)

    (tmp_path / "again").mkdir()
    shutil.copy(tmp_path / "twice.jsonl", tmp_path / "again" / "a.jsonl")
    texts = (tmp_path / "a.jsonl", tmp_path / "again" / "a.jsonl")
    found = json.loads(run("novelty", *texts, "--books", tmp_path / "books.jsonl", "--json").stdout)
    fits_schema("contexts-novelty", found)
    assert [(row["texts"], row["other books"]) for row in found] == [(2, 1), (2, 0)]

    made = run("build", tmp_path / "books.jsonl", "-o", tmp_path / "c", "-s", "lead")
    assert "left out, without characters: e" in made.output


def test_names_are_matched_as_they_fit_and_who_is_left_out_is_named(tmp_path, fits_schema):
    long = "Ann bakes bread and sells it . " * 6
    people = ["Mr. Bell", "Zoé Hall", "Kate", "Mr. Gray", "Mrs. Gray", "Ann", "Lost"]
    answers = ["BELL", "zoe hall", "KATE", "Gray", "Miss Bell", "Ann", "ANN"]
    for name, names in (("r", people), ("a", answers)):
        rows = [{"doc_key": "b", "character": n, "text": long} for n in names]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cast = [(n.upper(), [Mention(0, 0)]) for n in people[:-1]]
    book = Record("b", "", [["Ann", "bakes", "."]], [[Mention(0, 0)]], cast)
    write_documents([book], tmp_path / "books.jsonl")
    words = ("score", tmp_path / "r.jsonl", "-a", tmp_path / "a.jsonl", "--books", tmp_path / "books.jsonl")
    found = json.loads(run(*words, "--json").stdout)
    fits_schema("contexts-score", found)
    own = found["answers"]
    assert (own["texts"], own["without_reference"], own["unanswered"]) == (4, 3, 3)
    assert own["names"] == {
        "read_as": ["b: BELL as Mr. Bell", "b: zoe hall as Zoé Hall", "b: KATE as Kate"],
        "without_reference": ["b: Gray", "b: Miss Bell", "b: ANN"],
        "unanswered": ["b: Mr. Gray", "b: Mrs. Gray", "b: Lost"],
    }
    assert found["baseline lead"]["texts"] == 6, "nothing is said about who is not in the book"
    assert found["baseline lead"]["names"]["unanswered"] == ["b: Lost"]
    shown = " ".join(run(*words).output.split())
    assert (
        "3 answers left out, without a reference that is long enough: b: Gray, b: Miss Bell, b: ANN" in shown
    )
    assert "3 names read as the reference's: b: BELL as Mr. Bell" in shown
    assert "baseline lead: 1 character with a reference, but without an answer: b: Lost" in shown


def test_answers_by_the_names_of_the_book_find_references_by_those_of_a_guide():
    book = Book.make("b", [["w"] * 4], characters=[
        (name, [(i, i)]) for i, name in enumerate(["Fitzwilliam Darcy", "Gray", "Mrs. Lee", "Mr. Lee"])
    ])  # fmt: skip
    gold = {("b", name): ["text"] for name in ("Mr. Darcy", "Mr. Gray", "Mr. Lee", "Nobody")}
    own = {("b", name): "text" for name in ("Fitzwilliam Darcy", "Gray", "Lee", "Mrs. Lee")}
    for books, lee in (([book], "Lee"), ([], "Mr. Lee")):
        read = work.read_names(own, gold, books)
        assert [name for _, name in read.values()] == ["Mr. Darcy", "Mr. Gray", lee, "Mrs. Lee"]
    twins = {("b", "Darcy"): ["text"], **gold}
    assert work.read_names(own, twins, [book])["b", "Fitzwilliam Darcy"] == ("b", "Fitzwilliam Darcy")


def test_a_book_of_line_ends_has_contexts_without_words():
    book = Book.make("b", [["\n", "\n"]], characters=[("Ann", [(0, 0)])])
    reader = Retriever(book, budget=10)
    assert [reader.contexts("Ann", way)[0].pieces for way in ("coref", "random", "lead")] == [(), (), ()]


def test_strategies_are_compared_in_one_table(place):
    result = run("compare", place / "books.jsonl", "--budget", 1500, "--json")
    rows = {row["strategy"]: row for row in json.loads(result.stdout)}
    assert list(rows) == ["coref", "bm25", "lead", "random"]
    assert rows["coref"]["mention_recall"] > rows["bm25"]["mention_recall"]
    assert rows["coref"]["precision"] == 1.0
    shown = run("compare", place / "books.jsonl", "--budget", 1500).stdout
    assert shown.split("\n")[0].split()[4:] == ["entities", "mentions", "precision"]
    assert f"{100 * rows['bm25']['precision']:.2f}" in shown


def test_mistakes_of_the_command_are_named(place, tmp_path):
    assert isinstance(run("ask", place / "c").exception, UsageError)
    assert isinstance(
        run("build", place / "books.jsonl", "-o", tmp_path / "x", "-s", "luck").exception, UsageError
    )
    assert isinstance(run("score", place / "c/default/contexts.jsonl").exception, UsageError)
