"""CoNLL-2012: the irregularities of real files, parts, and brackets that cannot be."""

from __future__ import annotations

import csv

import pytest

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import DataError, FormatError, counted
from bookcoref_data.formats import ConversionReport, read_documents, write_documents

TWO_PARTS = """#begin document (bc/demo/00/demo_0001); part 000
bc/demo/00/demo_0001  0  0  John   NNP  *  -  -  -  spk1  *  (0)
bc/demo/00/demo_0001  0  1  drove  VBD  *  -  -  -  spk1  *  -
bc/demo/00/demo_0001  0  2  his    PRP$ *  -  -  -  spk1  *  (1|(0)
bc/demo/00/demo_0001  0  3  car    NN   *  -  -  -  spk1  *  1)

#end document
#begin document (bc/demo/00/demo_0001); part 001
bc/demo/00/demo_0001  1  0  He     PRP  *  -  -  -  spk1  *  (0)
bc/demo/00/demo_0001  1  1  left   VBD  *  -  -  -  spk1  *  -

#end document
"""


@pytest.fixture
def read(tmp_path):
    def run(text, **options):
        path = tmp_path / "x.conll"
        path.write_text(text, encoding="utf-8", newline="")
        return read_documents(path, **options)

    return run


def rows(*cells, name="(d); part 000", doc="d"):
    body = "".join(f"{doc}\t0\t{i}\tw{i}\t-\t{cell}\n" for i, cell in enumerate(cells))
    return f"#begin document {name}\n{body}\n#end document\n"


def spans(*pairs):
    return [Mention(*pair) for pair in pairs]


def test_parts_joined_merged_and_apart(read):
    (joined,) = read(TWO_PARTS)
    assert joined.sentences == [["John", "drove", "his", "car"], ["He", "left"]]
    assert joined.clusters == [spans((0, 0), (2, 2)), spans((2, 3)), spans((4, 4))]
    assert joined.extra == {"parts": [["000", 1], ["001", 1]]}
    (merged,) = read(TWO_PARTS, parts="merge")
    assert merged.clusters == [spans((0, 0), (2, 2), (4, 4)), spans((2, 3))]
    first, second = read(TWO_PARTS, parts="apart")
    assert (first.doc_key, second.doc_key) == ("bc/demo/00/demo_0001_part000", "bc/demo/00/demo_0001_part001")
    assert (second.clusters, second.extra["cluster_ids"]) == ([spans((0, 0))], ["0"])


@pytest.mark.parametrize("parts", ["join", "apart"])
def test_parts_round_trip_with_their_numbers(read, tmp_path, parts):
    records = read(TWO_PARTS, parts=parts)
    write_documents(records, tmp_path / "y.conll")
    headers = [line for line in (tmp_path / "y.conll").read_text().splitlines() if line.startswith("#begin")]
    assert headers == [f"#begin document (bc/demo/00/demo_0001); part 00{i}" for i in (0, 1)]
    again = read_documents(tmp_path / "y.conll", parts=parts)
    assert [(r.doc_key, r.sentences, r.clusters, r.extra) for r in again] == [
        (r.doc_key, r.sentences, r.clusters, r.extra) for r in records
    ]


def test_a_cluster_over_parts_makes_one_part_and_the_parts_are_in_our_comment(read, tmp_path):
    report = ConversionReport()
    (record,) = read(TWO_PARTS, parts="merge")
    write_documents([record], tmp_path / "y.conll", report=report)
    assert report.complete
    assert (tmp_path / "y.conll").read_text().count("#begin document") == 1
    (back,) = read_documents(tmp_path / "y.conll")
    assert (back.clusters, back.extra) == (record.clusters, record.extra)


@pytest.mark.parametrize("cells", [("(1|(3", "-", "3)|1)"), ("(1(3", "_", "3)1)"), ("(1(3", "*", "1)3)")])
def test_cells_with_bars_or_glued(read, cells):
    (record,) = read(rows(*cells))
    assert record.clusters == [spans((0, 2)), spans((0, 2))]


def test_one_id_nests_and_the_innermost_closes(read):
    (record,) = read(rows("(7", "(7", "7)", "7)|(7)"))
    assert record.clusters == [spans((0, 3), (1, 2), (3, 3))]


def test_duplicates_are_kept_for_the_scorer_to_judge(read):
    (record,) = read(rows("(1(1", "1)1)"))
    assert record.clusters == [spans((0, 1), (0, 1))]


@pytest.mark.parametrize(("header", "name"), [
    ("(Cinderella, or (the) Little “Slipper”); part 000", "Cinderella, or (the) Little “Slipper”"),
    ("(nw/x/00/y_0001); part 003", "nw/x/00/y_0001"), ("(a);", "a"), ("(a); ", "a"), ("(a)", "a"),
    ("(a b); part 0", "a b"), ("a; part 0", "a"), ("(a; part 2); part 000", "a; part 2"),
    ("(a); part 000); part 000", "a); part 000"), ("(#a); part 000", "#a"),
])  # fmt: skip
def test_odd_document_names(read, header, name):
    (record,) = read(rows("(1)", name=header, doc=name))
    assert (record.doc_key, record.clusters) == (name, [spans((0, 0))])


def test_two_columns_have_no_words_but_positions(read, tmp_path):
    (record,) = read("#begin document (d); part 000\nd -\nd (5\nd 5)\t\n\nd (5)\n#end document\n")
    assert (record.sentences, record.clusters) == (None, [spans((1, 2), (3, 3))])
    assert record.extra == {"sentence_lengths": [3, 1]}
    write_documents([record], tmp_path / "y.conll")
    (again,) = read_documents(tmp_path / "y.conll")
    assert (again.sentences, again.clusters, again.extra) == (None, record.clusters, record.extra)


def test_few_columns_with_words(read):
    (record,) = read("#begin document (d);\nAnn (5)\nran -\n\n#end document\n")
    assert (record.sentences, record.clusters) == ([["Ann", "ran"]], [spans((0, 0))])


def test_missing_end_and_crlf_and_footer(read):
    text = rows("(1)").replace("#end document\n", "") + rows("(1)", name="(e); part 000")
    text = text.replace("#end document", "#end document  34979 e").replace("\n", "\r\n")
    assert [(r.doc_key, r.clusters) for r in read(text)] == [("d", [spans((0, 0))]), ("e", [spans((0, 0))])]


@pytest.mark.parametrize(("text", "line", "what"), [
    (rows("(1", "-"), 2, "opens here and never closes"),
    (rows("-", "(2", "-", "(1|2)"), 5, "opens here and never closes"),
    (rows("-", "1)"), 3, "closes that was not opened"),
    (rows("(1)", "VBD"), 3, "no coreference cell"),
    (rows("(1"), 2, "never closes"),
    (rows("()"), 2, "no coreference cell"),
    ("d\t0\t0\tw\t-\n", 1, "outside any document"),
    ("#begin document\nd\t-\n", 1, "no name"),
    ("#begin document (d)\nd\n", 2, "one column"),
    (rows("(1)") + rows("(1)"), 5, "given twice"),
    (rows("(1)", name="(d); part 0") + rows("(1)", name="(d); part 0"), 5, "part 0 of document 'd'"),
    ("# bookcoref-data {]\n" + rows("(1)"), 1, "comment is damaged"),
    ('# bookcoref-data {"doc_key": "d", "characters": [["A"]]}\n' + rows("(1)"), 1, "comment is damaged"),
])  # fmt: skip
def test_a_fault_is_named_by_file_and_line(read, text, line, what):
    with pytest.raises(FormatError) as caught:
        read(text)
    first = str(caught.value).splitlines()[0]
    assert f"x.conll:{line}: " in first
    assert what in first


def test_an_unclosed_bracket_is_found_at_the_end_of_its_part_not_of_the_file(read):
    with pytest.raises(FormatError, match=r"x\.conll:2"):
        read(rows("(1", "-") + rows("1)", "-", name="(e); part 000"))


def test_what_is_written_is_what_others_read(tmp_path):
    record = Record("my book", "9", [["Mr.", "\n", "B", "&#10;"]], [spans((0, 2)), spans((2, 3), (3, 3))],
                    [("B", spans((0, 2)))])  # fmt: skip
    write_documents([record], tmp_path / "y.conll")
    head, begin, *body = (tmp_path / "y.conll").read_text("utf-8").splitlines()
    assert head == '# bookcoref-data {"doc_key": "my book", "gutenberg_key": "9", "characters": [["B", "0"]]}'
    assert begin == "#begin document (my&#32;book); part 000"
    assert [line.split("\t")[3] for line in body[:4]] == ["Mr.", "&#10;", "B", "&#38;#10;"]
    assert [line.split("\t")[-1] for line in body[:4]] == ["(0", "-", "0)|(1", "1)|(1)"]
    assert {len(line.split()) for line in body[:4]} == {12}
    assert body[4:] == ["", "#end document"]


def test_a_file_without_our_comment_still_restores_the_tokens(tmp_path):
    write_documents([Record("d", "", [["a", "\n", ""]], [])], tmp_path / "y.conll")
    text = (tmp_path / "y.conll").read_text()
    (tmp_path / "z.conll").write_text(text[text.index("#begin") :])
    assert read_documents(tmp_path / "z.conll")[0].sentences == [["a", "\n", ""]]


def test_references_in_other_peoples_files_stay(read):
    text = rows("-", "-", "-").replace("w0", "&#65;").replace("w1", "&amp;").replace("w2", "R&D")
    assert read(text)[0].sentences == [["&#65;", "&amp;", "R&D"]]


def test_crossing_mentions_of_a_cluster_are_told_touching_ones_are_said(tmp_path):
    report = ConversionReport()
    record = Record("d", "", [list("abcdef")], [spans((0, 2), (2, 4)), spans((0, 3), (2, 5)), []])
    write_documents([record], tmp_path / "y.conll", report=report)
    (again,) = read_documents(tmp_path / "y.conll")
    assert again.clusters == [spans((0, 2), (2, 4)), spans((0, 3))]
    assert {item.what.split(" ")[0]: item.count for item in report.not_kept} == {"mentions": 1, "clusters": 1}
    assert [e for item in report.not_kept for e in item.examples] == ["d: (2, 5)"]


def test_mentions_outside_and_characters_without_cluster_are_told(tmp_path):
    report = ConversionReport()
    record = Record("d", "", [["a"], []], [spans((0, 0), (0, 9))], [("A", spans((0, 0)))])
    write_documents([record], tmp_path / "y.conll", report=report)
    assert sorted(item.what for item in report.not_kept) == [
        "characters whose mentions are not exactly one of the clusters",
        "empty sentences",
        "mentions outside the tokens",
    ]


def test_a_document_without_text_cannot_be_written(tmp_path):
    with pytest.raises(DataError, match="no tokens"):
        write_documents([Record("d", clusters=[spans((0, 0))])], tmp_path / "y.conll")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_litbank(shared_data):
    records = read_documents(shared_data / "litbank/coref/conll")
    assert len(records) == 100
    assert sum(len(s) for r in records for s in r.sentences) == 210_532
    assert sum(len(c) for r in records for c in r.clusters) == 29_103
    assert sum(len(r.clusters) for r in records) == 7_927


def test_the_official_cases_open(reference):
    files = sorted((reference / "conll_cases").glob("TC-*.*"))
    assert len(files) == 50
    for file in files:
        (record,) = read_documents(file)
        assert record.clusters
    (a9,) = read_documents(reference / "conll_cases/TC-A-9.response")
    assert [len(c) for c in a9.clusters] == [1, 3, 11, 2]
    assert a9.clusters[1][0] == a9.clusters[2][0]  # the shared span: cluster 1 opens before cluster 3


def test_parts_joined_by_equal_ids_are_the_whole_stories(reference):
    folder = reference / "fantasycoref"
    whole = {r.doc_key: r for r in read_documents(folder / "gft_whole.conll")}
    merged = read_documents(folder / "gft_parts.conll", parts="merge")
    joined = {r.doc_key: r for r in read_documents(folder / "gft_parts.conll")}
    with open(folder / "expected.tsv", encoding="utf-8") as stream:
        expected = list(csv.DictReader(stream, delimiter="\t"))
    assert len(merged) == len(expected) == 6
    for record in merged:
        assert record.sentences == whole[record.doc_key].sentences
        assert sorted(map(sorted, record.clusters)) == sorted(map(sorted, whole[record.doc_key].clusters))
    assert sum(len(r.clusters) for r in joined.values()) == 191


ROWS = """\
#begin document (tc/ch/00/ch_0010); part 000
tc/ch/00/ch_0010	0	0	Ann	NNP	(TOP(S(NP*)	-	-	-	A_Lee	(PERSON)	(ARG0*)	*	(0)
tc/ch/00/ch_0010	0	1	ran	VBD	(VP*	run	01	2	A_Lee	*	(V*)	*	-
tc/ch/00/ch_0010	0	2	.	.	*))	-	-	-	A_Lee	*	*	(V*)	-

tc/ch/00/ch_0010	0	0	She	PRP	(TOP*)	-	-	-	-	*	(0)

#end document
"""


def test_all_columns_are_kept_and_written_again(tmp_path):
    (tmp_path / "x.conll").write_text(ROWS)
    report = ConversionReport()
    (record,) = read_documents(tmp_path / "x.conll", report=report)
    assert record.speakers == [["A_Lee"] * 3, [""]]
    assert record.layers["xpos"] == [["NNP", "VBD", "."], ["PRP"]]
    assert record.layers["frameset"] == [["", "01", ""], [""]]
    assert record.layers["arguments"] == [["(ARG0*)\t*", "(V*)\t*", "*\t(V*)"], [""]]
    write_documents([record], tmp_path / "y.conll", report=report)
    assert report.complete
    assert (tmp_path / "y.conll").read_text().split("\n", 1)[1] == ROWS
    write_documents([record], tmp_path / "y.jsonl")
    (back,) = read_documents(tmp_path / "y.jsonl")
    assert (back.speakers, back.layers) == (record.speakers, record.layers)


def test_a_token_inside_a_constituent_keeps_its_star(tmp_path):
    (tmp_path / "x.conll").write_text(ROWS.replace("*))", "*").replace("(VP*", "*"))
    write_documents(read_documents(tmp_path / "x.conll"), tmp_path / "y.conll")
    assert (tmp_path / "y.conll").read_text().split("\n", 1)[1] == (tmp_path / "x.conll").read_text()


def test_what_other_formats_have_no_place_for_is_counted(tmp_path):
    (tmp_path / "x.conll").write_text(ROWS)
    report = ConversionReport()
    write_documents(read_documents(tmp_path / "x.conll"), tmp_path / "y.conllu", report=report)
    assert {item.what: item.count for item in report.not_kept} == {
        "constituents on tokens": 4, "lemmas of predicates": 1, "framesets of predicates": 1,
        "word senses of tokens": 1, "named entities on tokens": 1, "arguments of predicates on tokens": 3,
    }  # fmt: skip
    assert read_documents(tmp_path / "y.conllu")[0].speakers == [["A_Lee"] * 3, [""]]


def test_columns_of_short_rows_are_counted(tmp_path):
    (tmp_path / "x.conll").write_text(
        "#begin document (a); part 0\na\t0\t0\tAnn\tNNP\tx\t(0)\n#end document\n"
    )
    report = ConversionReport()
    read_documents(tmp_path / "x.conll", report=report)
    assert [item.count for item in report.not_kept] == [2]


@pytest.mark.parametrize(
    ("damaged", "what"),
    [
        (lambda text: text.replace("#end document\n", ""), "1 last line '#end document'"),
        (lambda text: text.replace("a\t0\t1\tran\t-\n", ""), "1 word that the numbers"),
    ],
)
def test_a_file_that_has_lost_lines_is_not_read_in_silence(damaged, what, tmp_path):
    rows = "".join(f"a\t0\t{n}\t{word}\t-\n" for n, word in enumerate(["Ann", "ran", "home", "."]))
    text = f"#begin document (a); part 0\n{rows}\n#end document\n"
    told = []
    for content in (text, damaged(text)):
        (tmp_path / "x.conll").write_text(content)
        report = ConversionReport()
        read_documents(tmp_path / "x.conll", report=report)
        told.append([counted(item.count, item.what) for item in report.not_kept])
    assert told[0] == []
    assert [line.startswith(what) for line in told[1]] == [True]


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_any_line_end_ends_a_row(end, tmp_path):
    (tmp_path / "x.conll").write_bytes(ROWS.replace("\n", end).encode())
    (record,) = read_documents(tmp_path / "x.conll")
    assert record.sentences == [["Ann", "ran", "."], ["She"]]
    assert record.clusters == [[Mention(0, 0), Mention(3, 3)]]


def test_short_lists_of_sentence_lengths_write_no_large_files(tmp_path):
    record = Record("a", extra={"sentence_lengths": [10_000_000] * 60})
    with pytest.raises(DataError, match="cannot be"):
        write_documents([record], tmp_path / "y.conll")
    assert list(tmp_path.iterdir()) == []
