"""BookNLP's tables, and its mentions on the tokens of a key."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import DataError, FormatError, SourceError
from bookcoref_data.formats import ConversionReport, read_documents, write_documents
from bookcoref_data.formats.lines import read_lines
from bookcoref_data.formats.projection import LOST, SNAPPED, project, project_all

HEADER = (
    "paragraph_ID sentence_ID token_ID_within_sentence token_ID_within_document word lemma byte_onset "
    "byte_offset POS_tag fine_POS_tag dependency_relation syntactic_head_ID event"
)
ROWS = [
    HEADER,
    "0 0 0 0 Mr. Mr. 0 3 PROPN NNP compound 1 O",
    "0 0 1 1 Bennet Bennet 4 10 PROPN NNP nsubj 2 O",
    "0 0 2 2 ran run 11 14 VERB VBD ROOT 2 EVENT",
    "0 1 0 3 He he 15 17 PRON PRP nsubj 4 O",
    "0 1 1 4 fell fall 18 22 VERB VBD ROOT 4 EVENT",
]
TOKENS = "".join(row.replace(" ", "\t") + "\n" for row in ROWS)
ENTITIES = (
    "COREF\tstart_token\tend_token\tprop\tcat\ttext\n"
    "93\t3\t3\tPRON\tPER\tHe\n"
    "93\t0\t1\tPROP\tPER\tMr. Bennet\n"
)
NAMES = [{"c": 1, "n": "Bennet"}, {"c": 5, "n": "Mr. Bennet"}]
BOOK = {
    "characters": [
        {"id": 93, "mentions": {"proper": NAMES}},
        {"id": 4, "mentions": {"proper": [{"c": 1, "n": "Nobody"}]}},
    ]
}


def spans(*pairs):
    return [Mention(*pair) for pair in pairs]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b.tokens").write_text(TOKENS)
    (tmp_path / "b.entities").write_text(ENTITIES)
    return tmp_path


def test_the_tables(folder):
    (record,) = read_documents(folder)
    assert (record.doc_key, record.sentences) == ("b", [["Mr.", "Bennet", "ran"], ["He", "fell"]])
    assert record.clusters == [spans((0, 1), (3, 3))]
    assert record.extra == {"mention_types": [[0, 1, "PROP_PER"], [3, 3, "PRON_PER"]], "cluster_ids": ["93"]}
    assert record.layers["lemma"] == [["Mr.", "Bennet", "run"], ["he", "fall"]]
    assert record.layers["document_head"] == [["1", "2", "2"], ["4", "4"]]
    assert record.layers["event"] == [["", "", "EVENT"], ["", "EVENT"]]
    assert "offsets" not in record.layers, "they are those that any writer gives"
    assert record.characters == []


def test_names_come_from_the_book_file(folder):
    (folder / "b.book").write_text(json.dumps(BOOK))
    (record,) = read_documents(folder / "b.tokens")
    assert record.characters == [("Mr. Bennet", spans((0, 1), (3, 3)))]


@pytest.mark.parametrize(("name", "text", "what"), [
    ("b.tokens", TOKENS.replace("sentence_ID", "sentence"), r"b\.tokens:1: the header lacks sentence_ID"),
    ("b.tokens", TOKENS + "0\t1\t1\n", r"b\.tokens:7: the row is too short"),
    ("b.tokens", TOKENS + TOKENS.splitlines()[-1], r"b\.tokens:7: the token id '4' is given twice"),
    ("b.entities", ENTITIES + "1\t4\t5\tNOM\tPER\tx\n", r"b\.entities:4: the mention is not in the tokens"),
    ("b.entities", ENTITIES + "1\t4\t3\tNOM\tPER\tx\n", r"b\.entities:4: the mention is not in the tokens"),
    ("b.entities", "a\tb\n", r"b\.entities:1: the header lacks COREF"),
    ("b.book", "{", r"b\.book: not valid JSON"),
    ("b.book", "[]", r"b\.book: is no book"),
])  # fmt: skip
def test_a_fault_is_named_by_file_and_line(folder, name, text, what):
    (folder / name).write_text(text)
    with pytest.raises(FormatError, match=what):
        read_documents(folder)


def test_a_missing_table_is_a_missing_source(folder):
    (folder / "b.entities").unlink()
    with pytest.raises(SourceError, match="entity table is missing"):
        read_documents(folder / "b.tokens")


def test_what_is_written_has_booknlps_columns(tmp_path):
    record = Record("b", "", [["Mr.", "\n", "B"]], [spans((0, 2))], [("B", spans((0, 2)))],
                    extra={"mention_types": [[0, 2, "PROP_PER"]]})  # fmt: skip
    write_documents([record], tmp_path / "b.tokens.gz")
    assert {p.name for p in tmp_path.iterdir()} == {
        f"b.{name}.gz" for name in ("tokens", "entities", "quotes", "book")
    }
    write_documents([record], tmp_path / "b.tokens")
    assert (tmp_path / "b.tokens").read_text().splitlines()[0] == TOKENS.splitlines()[0]
    assert (tmp_path / "b.entities").read_text().splitlines()[1] == "0\t0\t2\tPROP\tPER\tMr. &#10; B"


QUOTES = (
    "quote_start\tquote_end\tmention_start\tmention_end\tmention_phrase\tchar_id\tquote\n"
    "0\t2\t3\t3\tHe\t93\tMr. Bennet ran\n"
)


def test_booknlps_whole_set_is_read_and_written_again(folder, tmp_path):
    (folder / "b.quotes").write_text(QUOTES)
    report = ConversionReport()
    (record,) = read_documents(folder, report=report)
    assert record.extra["quotations"] == [{"start": 0, "end": 2, "mention": [3, 3], "cluster": "93"}]
    write_documents([record], tmp_path / "out" / "b.tokens", report=report)
    assert report.complete
    assert (tmp_path / "out/b.tokens").read_text() == TOKENS
    assert (tmp_path / "out/b.quotes").read_text() == QUOTES
    rows = (tmp_path / "out/b.entities").read_text().splitlines()
    assert sorted(rows[1:]) == sorted(ENTITIES.splitlines()[1:])
    (back,) = read_documents(tmp_path / "out")
    assert (back.extra, back.layers) == (record.extra, record.layers)


def test_the_book_file_says_what_characters_do(folder, tmp_path):
    write_documents(read_documents(folder), tmp_path / "out" / "b.tokens")
    (character,) = json.loads((tmp_path / "out/b.book").read_text())["characters"]
    assert (character["id"], character["count"]) == (93, 2)
    assert character["agent"] == [{"w": "ran", "i": 2}, {"w": "fell", "i": 4}]
    assert character["mentions"]["proper"] == [{"c": 1, "n": "Mr. Bennet"}]
    assert character["mentions"]["pronoun"] == [{"c": 1, "n": "He"}]


def test_kinds_of_mentions_are_told_from_the_words_where_nothing_is_said(tmp_path):
    clusters = [spans((0, 1), (3, 3)), spans((5, 6))]
    record = Record("b", "", [["Mr.", "Bennet", "saw", "her", "and", "the", "dog"]], clusters)
    write_documents([record], tmp_path / "b.tokens")
    rows = [row.split("\t") for row in (tmp_path / "b.entities").read_text().splitlines()[1:]]
    assert [row[3:5] for row in rows] == [["PROP", "PER"], ["PRON", "PER"], ["NOM", "PER"]]
    (back,) = read_documents(tmp_path)
    assert back.extra == {}, "what was guessed is not read back as stated"


def test_what_a_record_cannot_hold_of_booknlp_is_counted(folder):
    (folder / "b.book").write_text(json.dumps({"characters": [{"id": 93, "agent": [{"w": "ran", "i": 2}]}]}))
    (folder / "b.supersense").write_text("start_token\tend_token\tsupersense_category\ttext\n0\t0\tx\tMr.\n")
    (folder / "b.quotes").write_text(QUOTES + "0\t99\t\t\t\t93\tx\n")
    report = ConversionReport()
    read_documents(folder, report=report)
    assert [item.count for item in report.not_kept] == [1, 1, 1]


@pytest.mark.long
def test_real_output_goes_through_whole(shared_data, tmp_path):
    report = ConversionReport()
    folder = shared_data / "booknlp/TheSportOfTheGods"
    (record,) = read_documents(folder, report=report)
    assert sum(map(len, record.clusters)) == 8368
    assert len(record.clusters) == len(record.extra["cluster_ids"]) == 1520
    assert {item.what.split(" ")[0] for item in report.not_kept} == {"characters", "supersenses"}
    writing = ConversionReport()
    write_documents([record], tmp_path / "TheSportOfTheGods.tokens.gz", report=writing)
    assert writing.complete
    # Theirs has `inQuote`, False throughout, and numbers of sentences that begin anew at white space.
    theirs = [line.split("\t")[:13] for line in read_lines(folder / "TheSportOfTheGods.tokens.gz")]
    ours = [line.split("\t") for line in read_lines(tmp_path / "TheSportOfTheGods.tokens.gz")]
    assert [row[:1] + row[2:] for row in ours] == [row[:1] + row[2:] for row in theirs]
    quotes = (list(read_lines(f / "TheSportOfTheGods.quotes.gz")) for f in (tmp_path, folder))
    assert next(quotes) == next(quotes)


def key_of(*sentences, name="k"):
    return Record(name, "1", [s.replace("|", "\n").split(" ") for s in sentences])


def test_projection_over_another_tokenisation():
    source = Record("b", "", [["Mr", ".", "Bennet's"], ["“", "He", "fell", "”"]],
                    [spans((0, 1), (4, 4)), spans((2, 2))], [("B", spans((0, 1), (4, 4)))],
                    extra={"cluster_ids": ["9", "3"], "mention_types": [[4, 4, "PRON_PER"]]})  # fmt: skip
    key = key_of("Mr. Bennet 's |", '" He', 'fell "')
    report = ConversionReport()
    moved = project(source, key, report)
    assert (moved.doc_key, moved.gutenberg_key, moved.sentences) == ("k", "1", key.sentences)
    assert moved.clusters == [spans((0, 0), (5, 5)), spans((1, 2))]
    assert moved.characters == [("B", spans((0, 0), (5, 5)))]
    assert moved.extra == {"cluster_ids": ["9", "3"], "mention_types": [[5, 5, "PRON_PER"]]}
    assert report.complete


def test_mentions_that_are_not_in_the_key_are_told():
    source = Record("b", "", [["A", "preface", "Ann", "ran", "."]], [spans((1, 1)), spans((2, 2), (9, 9))])
    report = ConversionReport()
    moved = project(source, key_of("Ann ran ."), report)
    assert moved.clusters == [spans((0, 0))]
    assert {item.what: item.count for item in report.not_kept} == {LOST: 2}


def test_a_mention_of_which_less_than_half_is_in_the_key_is_lost():
    source = Record("b", "", [["Annabella", "Xyzzyqqqqqq", "ran", "away"]], [spans((0, 1)), spans((1, 2))])
    report = ConversionReport()
    assert project(source, key_of("Annabella ran away"), report).clusters == []
    assert {item.what: item.count for item in report.not_kept} == {LOST: 2}


def test_ends_inside_a_token_of_the_key_take_the_whole_token():
    report = ConversionReport()
    moved = project(Record("b", "", [["can", "not"]], [spans((0, 0))]), key_of("cannot"), report)
    assert moved.clusters == [spans((0, 0))]
    assert {item.what: item.count for item in report.not_kept} == {SNAPPED: 1}


def test_italics_marks_of_gutenberg_do_not_matter():
    report = ConversionReport()
    moved = project(Record("b", "", [["_I_", "ran"]], [spans((0, 0))]), key_of("| I ran"), report)
    assert moved.clusters == [spans((1, 1))]
    assert report.complete


def test_documents_meet_by_key_or_alone():
    source = Record("b", "", [["a"]], [spans((0, 0))])
    assert project_all([source], [key_of("a")], None)[0].doc_key == "k"
    both = [key_of("x a", name="c"), key_of("a", name="b")]
    assert project_all([source], both, None)[0].doc_key == "b"
    with pytest.raises(DataError, match="no document for b"):
        project_all([source], [*both[:1], key_of("a")], None)


@pytest.mark.long
def test_the_released_books_come_back_from_other_tokens(shared_data):
    for record in read_documents(shared_data / "systems/finetuned/maverick_xl.jsonl"):
        tokens, at = [], []
        for token in (t for s in record.sentences for t in s):
            at.append(len(tokens))
            if token != "\n":
                tokens += [token[:3], token[3:]] if len(token) > 5 else [token]
        at.append(len(tokens))
        clusters = [[Mention(at[a], at[b + 1] - 1) for a, b in c] for c in record.clusters]
        report = ConversionReport()
        moved = project(Record("x", "", [tokens], clusters), record, report)
        assert [sorted(c) for c in record.clusters] == moved.clusters
        assert report.complete
