"""Parts of the formats at their borders: names of files, lines, cells, brackets, layers, tags, subwords."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Book, Mention, Record
from bookcoref_data.errors import DataError, FormatError, SourceError, UsageError
from bookcoref_data.formats import ConversionReport, base, layers, lines, write_documents
from bookcoref_data.formats.base import (
    BracketReader,
    are_parts,
    cluster_ids,
    in_order,
    inside,
    kept_by_cluster,
    place_brackets,
    same,
    sayable,
)
from bookcoref_data.formats.cells import cell_text, markdown_row
from bookcoref_data.formats.corpora.reading import beside, files_below, read_preco, split_of
from bookcoref_data.formats.documents import by_name, detect, for_output, require_known
from bookcoref_data.formats.escape import escape, escape_name, unescape
from bookcoref_data.formats.folder import write_folder
from bookcoref_data.formats.lines import cut_text
from bookcoref_data.formats.schema import from_row, to_row, to_table, to_tables
from bookcoref_data.formats.trainers import (
    head_of,
    is_blank,
    segment_ends,
    steady_speakers,
    trimmed,
    visible_clusters,
)
from bookcoref_data.formats.typed_spans import read_typed_spans


def unheard(what, example="", count=1):
    assert not count, f"{count} {what}"


class Notes(list):
    def __call__(self, what, example="", count=1):
        if count:
            self.append((what.split(" (")[0], example, int(count)))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("a", "a"),
        ("a/b", "a%2Fb"),
        (".a", "%2Ea"),
        ("a.b", "a.b"),
        ("", "%"),
        ("%", "%25"),
        ("é", "%C3%A9"),
        ("\ud800", "%ED%A0%80"),
        ("a b", "a%20b"),
        ("a" * 200, "a" * 200),
    ],
)
def test_a_key_is_a_name_of_a_file_and_back(key, name):
    assert base.file_name(key) == name
    assert base.doc_key_of(Path(f"x/{name}.ann")) == key


@pytest.mark.parametrize("stem", ["a b", "%zz", "%2e", "a%2fb", "%41", "%ff", "%C3", "a%", "é"])
def test_a_name_that_nobody_made_is_its_own_key(stem):
    assert base.doc_key_of(Path(f"{stem}.ann")) == stem


@given(st.text(st.sampled_from("a2F/.%é~ \ud800"), max_size=12))
def test_every_key_comes_back(key):
    assert base.doc_key_of(Path(f"{base.file_name(key)}.ann.gz")) == key


def test_a_key_beyond_two_hundred_characters_is_refused():
    with pytest.raises(DataError) as caught:
        base.file_name("é" * 33 + "abc")
    assert caught.value.what == f"the document key '{'é' * 33}abc'... is too long for a file name"
    assert (caught.value.expected, caught.value.found) == (
        "at most 200 characters when percent-encoded",
        "201",
    )


def test_files_of_one_document_lie_side_by_side(tmp_path):
    for name in ("a.txt.gz", "b.txt", "b.txt.zst"):
        (tmp_path / name).write_text("")
    assert base.sibling(tmp_path / "a.ann", ".txt") == tmp_path / "a.txt.gz"
    assert base.sibling(tmp_path / "b.ann.gz", ".txt") == tmp_path / "b.txt"
    assert base.sibling(tmp_path / "c.ann", ".txt") is None
    assert base.beside(tmp_path / "b.ann.GZ", ".txt").name == "b.txt.GZ"
    assert base.beside(tmp_path / "b.ann", ".txt").name == "b.txt"
    with pytest.raises(SourceError, match="the text is missing") as caught:
        base.needed_sibling(tmp_path / "c.ann", ".txt", "the text")
    assert caught.value.expected == str(tmp_path / "c.txt")
    one, two = Record("x/y", "", [["a"]]), Record("z", "", [["a"]])
    assert base.targets([one, two], tmp_path, ".ann") == [
        (one, tmp_path / "x%2Fy.ann"),
        (two, tmp_path / "z.ann"),
    ]
    assert base.targets([one], tmp_path / "q.ann.gz", ".ann") == [(one, tmp_path / "q.ann.gz")]
    with pytest.raises(UsageError, match=r"cannot write several documents to q\.ann"):
        base.targets([one, two], tmp_path / "q.ann", ".ann")


def lines_of(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    return list(lines.read_lines(tmp_path / "x"))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb", ["a", "b"]),
        (b"a\r\rb\r", ["a", "", "b"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        (b"\n", [""]),
        (b"\r", [""]),
        ("a\u2028b\x85\x0cc\n".encode(), ["a\u2028b\x85\x0cc"]),
    ],
)
def test_which_characters_end_a_line(tmp_path, data, found):
    assert lines_of(tmp_path, data) == found


def test_lines_that_cannot_be_read_are_named(tmp_path, monkeypatch):
    for data, what in ((b"\xff\xfea\0", ":1: is UTF-16 text"), (b"\xfe\xff\0a", ":1: is UTF-16 text")):
        with pytest.raises(FormatError) as caught:
            lines_of(tmp_path, data)
        assert caught.value.what == f"{tmp_path / 'x'}{what}"
    with pytest.raises(FormatError, match=r"x:2: is not UTF-8 text") as caught:
        lines_of(tmp_path, b"a\nbc\xe9d")
    assert caught.value.found == "byte 0xe9 at byte 3 of the line"
    monkeypatch.setattr(lines, "LONGEST_LINE", 5)
    assert lines_of(tmp_path, b"abcd\nabcde") == ["abcd", "abcde"]
    with pytest.raises(FormatError, match="a line is too long") as caught:
        lines_of(tmp_path, b"abcdef")
    assert caught.value.expected == "at most 5 bytes"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (1234.5, "1234.50"),
        (1234, "1,234"),
        (999, "999"),
        (True, "True"),
        ("x", "x"),
        (-1000, "-1,000"),
        ([1], "[1]"),
    ],
)
def test_a_cell_is_this_text(value, text):
    assert cell_text(value) == text


def test_a_row_breaks_no_table():
    assert markdown_row(["a|b", "c\nd", 1000]) == "| a\\|b | c d | 1,000 |"


@pytest.mark.parametrize(
    ("token", "field"),
    [
        ("", "&#;"),
        ("\n", "&#10;"),
        (" ", "&#32;"),
        ("a\x7fb", "a&#127;b"),
        ("\xa0", "&#160;"),
        ("\x9f", "&#159;"),
        ("¡", "¡"),
        ("&#", "&#38;#"),
        ("&", "&"),
        ("&x", "&x"),
        ("\ufeff", "&#65279;"),
        ("\ud800", "&#55296;"),
        ("\udfff", "&#57343;"),
        ("!", "!"),
    ],
)
def test_a_token_is_one_field(token, field):
    assert escape(token) == field
    assert unescape(field) == token


@pytest.mark.parametrize(
    "field",
    ["&#65;", "&amp;", "&", "&#1114112;", "&#9999999;", "&#1114111;", "&#x;", "a;&#", "&#160", "&#33;"],
)
def test_fields_of_other_people_stay(field):
    assert unescape(field) == field


def test_a_name_begins_no_comment():
    assert [escape_name(n) for n in ("#a", "a#", "", "# b")] == ["&#35;a", "a#", "&#;", "&#35;&#32;b"]
    assert unescape("&#35;a") == "#a"


@given(st.text(st.sampled_from("a&#1;0 \n\xa0\ud800"), max_size=10))
def test_every_token_comes_back_from_its_field(token):
    assert unescape(escape(token)) == token
    assert not any(c.isspace() for c in escape(token))


@pytest.mark.parametrize(
    ("text", "places", "sentences", "starts", "cut"),
    [
        ("", [], [], [], 0),
        ("ab cd", [], [["ab", "cd"]], [0, 3], 0),
        ("ab\n\ncd", [], [["ab"], ["cd"]], [0, 4], 0),
        ("abc", [1], [["a", "bc"]], [0, 1], 1),
        ("abc", [0, 3], [["abc"]], [0], 0),
        ("abc", [1, 2, 2], [["a", "b", "c"]], [0, 1, 2], 1),
        ("ab cd", [1, 4], [["a", "b", "c", "d"]], [0, 1, 3, 4], 2),
        ("ab cd", [2, 3], [["ab", "cd"]], [0, 3], 0),
        ("a\rb\r\nc", [], [["a"], ["b"], ["c"]], [0, 2, 5], 0),
        ("ab cd ef", [7], [["ab", "cd", "e", "f"]], [0, 3, 6, 7], 1),
    ],
)
def test_a_text_is_cut_at_its_spans(text, places, sentences, starts, cut):
    found = cut_text(text, places)
    assert (found.sentences, found.starts, found.cut) == (sentences, starts, cut)
    assert [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)] == [
        t for s in sentences for t in s
    ]


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        (0, 2, (0, 0)),
        (0, 3, (0, 0)),
        (0, 4, (0, 1)),
        (2, 3, None),
        (1, 2, (0, 0)),
        (3, 5, (1, 1)),
        (5, 6, None),
        (0, 5, (0, 1)),
    ],
)
def test_characters_become_tokens(start, end, span):
    assert cut_text("ab cd ", []).span(start, end) == (None if span is None else Mention(*span))


def test_brackets_nest_and_errors_name_their_place():
    reader = BracketReader()
    reader.open("a", 0, "f:1")
    reader.open("a", 1, "f:2")
    reader.open("b", 1, "f:2")
    assert reader.close("a", 2, "f:3") == Mention(1, 2)
    assert reader.single("c", 3) == Mention(3, 3)
    with pytest.raises(
        FormatError, match=r"f:2: the bracket \(b opens here|f:1: the bracket \(a opens here"
    ) as caught:
        reader.finish()
    assert caught.value.what == "f:1: the bracket (a opens here and never closes"
    assert reader.close("a", 4, "f:5") == Mention(0, 4)
    reader.close("b", 4, "f:5")
    assert reader.finish() == {
        "a": [Mention(0, 4), Mention(1, 2)],
        "b": [Mention(1, 4)],
        "c": [Mention(3, 3)],
    }
    with pytest.raises(FormatError, match="f:9: a bracket of cluster 'a' closes that was not opened"):
        reader.close("a", 9, "f:9")


def spans(*pairs_):
    return [Mention(*pair) for pair in pairs_]


@pytest.mark.parametrize(
    ("cluster", "said", "crossing"),
    [
        ([(0, 3), (1, 2)], [(0, 3), (1, 2)], 0),
        ([(0, 2), (2, 4)], [(0, 2), (2, 4)], 0),
        ([(0, 2), (1, 3)], [(0, 2)], 1),
        ([(0, 3), (3, 3)], [(0, 3), (3, 3)], 0),
        ([(0, 2), (1, 1), (1, 3)], [(0, 2), (1, 1)], 1),
        ([(0, 5), (1, 3), (2, 4)], [(0, 5), (1, 3)], 1),
        ([(0, 2), (0, 4)], [(0, 4), (0, 2)], 0),
        ([(0, 3), (1, 3)], [(0, 3), (1, 3)], 0),
        ([(0, 1), (3, 4), (2, 5)], [(0, 1), (2, 5), (3, 4)], 0),
    ],
)
def test_what_brackets_can_say(cluster, said, crossing):
    notes = Notes()
    assert list(sayable(spans(*cluster), notes)) == spans(*said)
    assert len(notes) == crossing


def test_brackets_stand_in_order_on_their_tokens():
    placed = place_brackets([spans((0, 2), (2, 2)), spans((0, 4), (1, 2), (0, 2))], unheard)
    assert placed == {
        0: ([], [], [(1, Mention(0, 4)), (0, Mention(0, 2)), (1, Mention(0, 2))]),
        1: ([], [], [(1, Mention(1, 2))]),
        2: ([(1, Mention(1, 2)), (1, Mention(0, 2)), (0, Mention(0, 2))], [(0, Mention(2, 2))], []),
        4: ([(1, Mention(0, 4))], [], []),
    }


def test_mentions_outside_the_tokens_are_counted():
    notes = Notes()
    assert inside([spans((0, 1), (-1, 0), (1, 2), (1, 0)), spans((0, 0)), []], 2, notes) == [
        spans((0, 1)),
        spans((0, 0)),
        [],
    ]
    assert notes == [("mentions outside the tokens", "(-1, 0)", 3), ("clusters without a mention", "", 1)]


@pytest.mark.parametrize(
    ("ids", "digits", "found"),
    [
        (["a", "b"], False, ["a", "b"]),
        (["a", "b"], True, ["0", "1"]),
        (["5", "3"], True, ["5", "3"]),
        (["5", "5"], False, ["0", "1"]),
        (["5"], False, ["0", "1"]),
        ([5, 3], False, ["0", "1"]),
        (["é", "b"], False, ["0", "1"]),
        (None, False, ["0", "1"]),
        (["a b", "c"], False, ["0", "1"]),
    ],
)
def test_clusters_keep_ids_that_can_be_written(ids, digits, found):
    record = Record(
        "d", "", [["a"]], [spans((0, 0)), spans((0, 0))], extra={} if ids is None else {"cluster_ids": ids}
    )
    assert cluster_ids(record, digits=digits) == found


def test_clusters_stand_as_listed_then_by_number_then_as_they_come():
    assert in_order(["x", "10", "e2", "1", "y"], {"clusters": ["y"]}) == ["y", "1", "e2", "10", "x"]
    assert in_order(["b", "a"], {}) == ["b", "a"]


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [(1, 1, True), (1, 1.0, False), (1, True, False), ({"a": 1}, {"a": 1}, True), ([1], [2], False)],
)
def test_values_are_the_same_in_json(a, b, equal):
    assert same(a, b) is equal


@pytest.mark.parametrize(
    ("value", "sound"),
    [
        ([["0", 2], ["1", 1]], True),
        ([["0", 3]], True),
        ([["0", 2]], False),
        ([["0", 2], ["0", 1]], False),
        ([["0", 4], ["1", -1]], False),
        ([[0, 3]], False),
        ([["0", 3, 1]], False),
        ("x", False),
        ([["0", 3], ["1", 0]], True),
        ([["0", 3.0]], False),
    ],
)
def test_parts_tell_how_many_sentences_each_has(value, sound):
    assert are_parts(value, 3) is sound


def test_no_parts_have_no_sentences():
    assert are_parts([], 0) is False


def test_fields_by_cluster_lose_the_clusters_that_are_gone():
    fields = {"cluster_ids": ["a", "b"], "entity_types": ["x"], "other": [1, 2]}
    assert kept_by_cluster(fields, [True, False]) == {
        "cluster_ids": ["a"],
        "entity_types": ["x"],
        "other": [1, 2],
    }


@pytest.mark.parametrize(
    ("layer", "runs"),
    [
        ([["", ""], [""]], []),
        ([["A", "A"], ["A"]], [[0, 2, "A"]]),
        ([["A", ""], ["B"]], [[0, 0, "A"], [2, 2, "B"]]),
        ([["", "A"], ["B"]], [[1, 1, "A"], [2, 2, "B"]]),
    ],
)
def test_speakers_are_runs_and_back(layer, runs):
    sentences = [["a", "b"], ["c"]]
    assert layers.runs_of(layer) == runs
    assert layers.from_runs(runs, sentences) == (layer if runs else None)


@pytest.mark.parametrize(
    "runs",
    [None, [], "x", [[0, 3, "A"]], [[1, 0, "A"]], [[-1, 0, "A"]], [[0, 1]], [[0, 1, 5]], [[0.0, 1, "A"]]],
)
def test_what_is_no_run_of_speakers(runs):
    assert layers.from_runs(runs, [["a", "b"], ["c"]]) is None
    assert layers.from_runs([[0, 2, "A"]], None) is None


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ([["x", "y"], ["z"]], True),
        ([["x"], ["z"]], False),
        ([["x", 1], ["z"]], False),
        ([("x", "y"), ["z"]], False),
        ("x", False),
        ([["x", "y"]], False),
    ],
)
def test_a_layer_has_a_text_for_each_token(value, fits):
    assert layers.is_layer(value, [["a", "b"], ["c"]]) is fits
    assert layers.is_layer(value, None) is False


def test_heads_are_told_in_two_ways():
    sentences = [["a", "b"], ["c"]]
    record = Record("d", "", sentences, layers={"head": [["2", "0"], ["1"]]})
    assert layers.heads_of(record) == [1, None, None]
    record = Record("d", "", sentences, layers={"head": [["3", "1"], ["x"]]})
    assert layers.heads_of(record) == [None, 0, None]
    record = Record("d", "", sentences, layers={"document_head": [["2", "1"], ["3"]]})
    assert layers.heads_of(record) == [2, None, None]
    assert layers.heads_of(Record("d", "", sentences)) is None
    heads = [1, None, 0]
    assert layers.heads_as("document_head", heads, sentences) == ["1", "1", "0"]
    assert layers.heads_as("head", heads, sentences) == ["2", "0", ""]


def test_a_column_writes_what_is_read_back():
    column = layers.Column("x", "0", ("_", "-"))
    assert list(column.cells(["a", "", "-", "_", "b c"])) == ["a", "_", "_", "_", "b&#32;c"]
    assert [column.value(c) for c in ("a", "_", "-", "b&#32;c")] == ["a", "", "", "b c"]
    assert layers.texts_in([["a", ""], ["b", 1]]) == 2


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.jsonl", "jsonl"),
        ("a.jsonlines", "jsonlines"),
        ("a.conll.gz", "conll"),
        ("a.conllu", "corefud"),
        ("a.ann", "brat"),
        ("a.tokens", "booknlp"),
    ],
)
def test_the_name_says_what_is_written(name, written):
    assert for_output(Path(name)) == written
    assert by_name(Path("a.txt")) is None


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("#begin document (x);", "conll"),
        ("\n\n# newdoc id", "corefud"),
        ("# global.Entity = x", "corefud"),
        ("# sent_id = 1", "corefud"),
        ("\n {", None),
        ("{}", "jsonl"),
        ("\n[1]", "jsonl"),
        ("paragraph_ID\tx", "booknlp"),
        ("x\n" * 49 + "#begin document", "conll"),
        ("x\n" * 50 + "#begin document", None),
        ("", None),
        ("Once", None),
    ],
)
def test_content_says_what_a_file_is(tmp_path, content, found):
    (tmp_path / "x").write_text(content)
    if found:
        assert detect(tmp_path / "x") == found
        return
    with pytest.raises(FormatError) as caught:
        detect(tmp_path / "x")
    first = next((line for line in content.splitlines() if line.strip()), "")
    assert caught.value.found == (repr(first) if first else "an empty file")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"PK\x03\x04", "an archive, as EPUB, Word and OpenDocument files are"),
        (b"%PDF-1", "a PDF document"),
        (b"{\\rtf1", "an RTF document"),
        (b"a\0b", "a file that is no text"),
    ],
)
def test_books_in_another_form_are_named(tmp_path, data, found):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(FormatError) as caught:
        detect(tmp_path / "x")
    assert caught.value.found == found


def test_an_unknown_format_lists_the_known():
    require_known("jsonl")
    with pytest.raises(UsageError, match="there is no format 'x'") as caught:
        require_known("x")
    assert caught.value.expected.startswith(
        "one of jsonl, conll, corefud, brat, booknlp, jsonlines, wl-coref"
    )


def test_the_name_of_a_system_means_its_format(tmp_path):
    record = Record("d", "", [["a"]], [spans((0, 0))])
    for format, keys in (
        ("maverick", ["doc_key", "sentences", "speakers", "clusters"]),
        ("fastcoref", ["doc_key", "tokens", "clusters"]),
    ):
        write_documents([record], tmp_path / "x.jsonl", format)
        assert list(json.loads((tmp_path / "x.jsonl").read_text())) == keys
    write_documents([record], tmp_path / "y.conll", "jsonlines")
    assert (tmp_path / "y.conll").read_text().startswith("{")
    write_documents([record], tmp_path / "z.conll")
    assert (tmp_path / "z.conll").read_text().splitlines()[1].startswith("#begin document")


@pytest.mark.parametrize(
    ("path", "split"),
    [
        ("a.conll", "test"),
        ("train/a.conll", "train"),
        ("dev/a.conll", "validation"),
        ("a-minidev.conll.gz", "validation"),
        ("train/test/a.conll", "test"),
        ("Training/a.conll", "train"),
        ("trainer/a.conll", "test"),
        ("dev/train_1.conll", "train"),
        ("valid.conll", "validation"),
    ],
)
def test_the_path_says_the_split(tmp_path, path, split):
    assert split_of(tmp_path / path, tmp_path) == split


def test_files_below_a_folder(tmp_path):
    for name in ("b.conll", "a.CONLL.gz", ".hidden/c.conll", "x/d.conll.zst", "e.conllu", "f.conll.bak"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "g.conll").mkdir()
    assert [f.relative_to(tmp_path).as_posix() for f in files_below(tmp_path, ".conll")] == [
        "a.CONLL.gz",
        "b.conll",
        "x/d.conll.zst",
    ]
    assert [f.name for f in files_below(tmp_path / "b.conll", ".conll")] == ["b.conll"]
    assert list(files_below(tmp_path / "b.conll", ".ann")) == []
    (tmp_path / "t.csv.zst").write_text("")
    assert beside(tmp_path, "t.csv").name == "t.csv.zst"
    with pytest.raises(SourceError, match="cannot read"):
        beside(tmp_path, "u.csv")


def test_preco_counts_within_sentences_and_names_broken_lines(tmp_path):
    row = {
        "id": "x",
        "sentences": [["a", "b"], ["c"]],
        "mention_clusters": [[[0, 0, 2], [1, 0, 1]], [[0, 1, 2]]],
    }
    bad = [
        {**row, "mention_clusters": [[span]]}
        for span in ([0, 0, 3], [0, 1, 1], [1, -1, 1], [-1, 0, 1], [2, 0, 1])
    ]
    bad += [{**row, "sentences": [["a", 1], ["c"]]}, []]
    file = tmp_path / "train.jsonl"
    file.write_text("\n".join(map(json.dumps, [row, *bad, {**row, "id": 7}])))
    report = ConversionReport()
    found = list(read_preco(tmp_path, report, None))
    assert [(f.split, f.record.doc_key, f.record.clusters) for f in found] == [
        ("train", key, [spans((0, 1), (2, 2)), spans((1, 1))]) for key in ("x", "7")
    ]
    assert [e.what for e in report.broken] == [
        f"{file}:{n}: the line is no document of PreCo" for n in range(2, 9)
    ]
    assert report.broken[0].found == "ValueError: the mention [0, 0, 3] is not in its sentence"
    assert report.broken[5].found == "a token that is no text"
    (tmp_path / "other.json").write_text("[]\n" + json.dumps(row))
    report = ConversionReport()
    assert len(list(read_preco(tmp_path / "other.json", report, None))) == 0
    assert len(report.broken) == 1


BOOKS = [
    Book.make(
        "a",
        [["x", "y"], ["z"]],
        gutenberg_key="1",
        clusters=[spans((0, 1), (2, 2)), spans((0, 0))],
        characters=[("Ann", spans((0, 1)))],
    ),
    Book.make("empty", []),
    Book.make("b", [["é", "\n"]], clusters=[spans((0, 0))]),
]


def test_a_table_gives_the_rows_that_were_put_in():
    assert to_table(BOOKS).to_pylist() == [to_row(book.to_record()) for book in BOOKS]
    assert to_table([]).num_rows == 0
    assert to_row(BOOKS[0].to_record()) == {
        "doc_key": "a",
        "gutenberg_key": "1",
        "sentences": [["x", "y"], ["z"]],
        "clusters": [[[0, 1], [2, 2]], [[0, 0]]],
        "characters": [{"name": "Ann", "mentions": [[0, 1]]}],
    }
    assert [from_row(to_row(book.to_record()), "").to_book() for book in BOOKS] == BOOKS
    parts = [Book.make("a_0", [["x", "y"]], clusters=[spans((0, 1))]), Book.make("a_1", [["z"]])]
    for windows in (parts, parts[:1]):
        whole, cut = to_tables(BOOKS[0], windows)
        assert whole.to_pylist() == [to_row(BOOKS[0].to_record())]
        assert cut.to_pylist() == [to_row(window) for window in windows]


def test_a_row_group_holds_a_book_or_a_hundred_windows(tmp_path):
    import pyarrow.parquet as pq

    book = Book.make("a", [["x"] * 1500] * 120)
    write_folder(tmp_path / "d", {"test": [book, BOOKS[2]]}, title="T", licences=[])
    sizes = {}
    for config in ("full", "split"):
        facts = pq.ParquetFile(tmp_path / "d" / config / "test.parquet").metadata
        sizes[config] = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
    assert sizes == {"full": [1, 1], "split": [100, 19, 1]}


@pytest.mark.parametrize(
    ("token", "blank"),
    [
        ("", True),
        (" ", True),
        ("\n", True),
        ("\ufeff", True),
        ("\xad", True),
        ("a", False),
        ("a ", False),
        ("\u200b", True),
        ("-", False),
    ],
)
def test_tokens_that_show_nothing(token, blank):
    assert is_blank(token) is blank


def test_clusters_for_trainers_begin_and_end_on_words():
    notes = Notes()
    record = Record(
        "d",
        "",
        [["\n", "a", "\n", "b", "\n"]],
        [spans((0, 1), (1, 3), (2, 2)), spans((3, 4), (1, 1)), spans((4, 4))],
    )
    assert visible_clusters(record, notes) == [spans((1, 1), (1, 3)), spans((3, 3), (1, 1))]
    assert [(what, example) for what, example, _ in notes] == [
        ("ends of mentions on white-space tokens", "(0, 1)"),
        ("mentions of white space alone", "(2, 2)"),
        ("ends of mentions on white-space tokens", "(3, 4)"),
        ("mentions of white space alone", "(4, 4)"),
    ]


def test_a_mention_has_one_speaker():
    notes = Notes()
    record = Record("d", "", [["a", "b"], ["c", "d"]], speakers=[["A", "B"], ["", "C"]])
    assert steady_speakers(record, [spans((1, 2)), spans((0, 0), (2, 3))], notes) == [["A", "B"], ["B", "B"]]
    assert notes == [("mentions in which the speaker changes", "", 2)]
    assert steady_speakers(Record("d", "", [["a"]]), [], unheard) == [["-"]]


@pytest.mark.parametrize(
    ("owners", "sentences", "room", "ends"),
    [
        ([], [], 3, []),
        ([0, 1, 2], [0, 0, 0], 3, [3]),
        ([0, 1, 2, 3], [0, 0, 1, 1], 3, [2, 4]),
        ([0, 1, 2, 3], [0, 0, 0, 0], 3, [3, 4]),
        ([0, 0, 1, 1, 1], [0, 0, 0, 0, 0], 3, [2, 5]),
        ([0, 0, 0, 0, 0], [0] * 5, 2, [2, 4, 5]),
        ([0, 1, 2], [0, 1, 2], 2, [2, 3]),
    ],
)
def test_segments_end_with_sentences_then_tokens(owners, sentences, room, ends):
    assert segment_ends(owners, sentences, room) == ends


def test_spans_without_the_blank_tokens_at_their_ends():
    blank = [False, True, False]
    assert [trimmed(Mention(*s), blank) for s in ((0, 0), (0, 1), (1, 2), (0, 2), (1, 1))] == [
        Mention(0, 0),
        Mention(0, 0),
        Mention(2, 2),
        Mention(0, 2),
        None,
    ]


@pytest.mark.parametrize(
    ("span", "heads", "head"),
    [
        ((0, 2), [1, None], 1),
        ((0, 2), [None, 0], 0),
        ((0, 2), [5, 5], 1),
        ((1, 3), [None, 0, 1], 1),
        ((1, 3), [None, 2, 3, None], 2),
        ((0, 3), [1, 2, 1], 2),
        ((0, 1), [4], 0),
    ],
)
def test_the_head_of_a_span(span, heads, head):
    assert head_of(Mention(*span), heads) == head


def test_typed_spans_from_tags_and_offsets(tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text(
        '{"doc_key": "d", "spans": [[0, 0, "PERSON"], [1, 3, "X"]]}\n\n{"doc_key": "e", "spans": []}\n'
    )
    assert read_typed_spans(file) == {"d": [(0, 0, "PER"), (1, 3, "X")], "e": []}
    file.write_text('{"doc_key": "d", "spans": []}\n{"doc_key": "d", "spans": [[2, 1, "X"]]}')
    with pytest.raises(FormatError, match=r"x\.jsonl:2: a span ends before it begins"):
        read_typed_spans(file)
