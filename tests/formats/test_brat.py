"""brat: offsets checked against the text, tokens recovered, LitBank's way of naming clusters."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import FormatError, SourceError, UsageError
from bookcoref_data.formats import ConversionReport, read_documents, write_documents

TEXT = "Mr. Bennet, his wife\nsaw her."


@pytest.fixture
def read(tmp_path):
    def run(annotation, text=TEXT, **options):
        (tmp_path / "d.txt").write_bytes(text.encode("utf-8"))
        (tmp_path / "d.ann").write_text(annotation, encoding="utf-8")
        return read_documents(tmp_path / "d.ann", **options)

    return run


def entity(number, text, start, kind="PER"):
    return f"T{number}\t{kind} {start} {start + len(text)}\t{text}\n"


def spans(*pairs):
    return [Mention(*pair) for pair in pairs]


ENTITIES = (
    entity(1, "Mr. Bennet", 0) + entity(2, "his", 12) + entity(3, "his wife", 12) + entity(4, "her", 25)
)


def test_untokenised_text_is_cut_at_mentions(read):
    report = ConversionReport()
    (record,) = read(ENTITIES + "*\tCoref T1 T2\nR1\tCoref Arg1:T3 Arg2:T4\n", report=report)
    assert record.sentences == [["Mr.", "Bennet", ",", "his", "wife"], ["saw", "her", "."]]
    assert record.clusters == [spans((0, 1), (3, 3)), spans((3, 4), (6, 6))]
    assert [(item.what.split()[0], item.count) for item in report.not_kept] == [("tokens", 2)]
    assert record.extra["mention_types"][0] == [0, 1, "PER"]


def test_links_are_transitive_and_lone_entities_are_singletons(read):
    (record,) = read(ENTITIES + "R1\tCoref Arg1:T4 Arg2:T3\nR2\tcoreference Arg1:T2 Arg2:T4\n")
    assert record.clusters == [spans((0, 1)), spans((3, 3), (3, 4), (6, 6))]


def test_other_relations_and_events_are_told_not_mixed_in(read):
    report = ConversionReport()
    text = "R1\tMarried Arg1:T1 Arg2:T4\nE1\tSee:T4 Actor:T1\nA1\tNegation T1\n#1\tAnnotatorNotes T1\thello\n"
    (record,) = read(ENTITIES + text, report=report)
    assert len(record.clusters) == 4
    assert [item.examples for item in report.not_kept if item.what.startswith("relations")] == [
        ["d: Married", "d: See"]
    ]


def test_attributes_references_and_notes_are_kept_and_written_again(read, tmp_path):
    lines = (
        "*\tCoref T1 T2\nA1\tNegation T1\nM2\tGender T1 male\nN1\tReference T4 Wikipedia:12\tMrs. Bennet\n"
        "#1\tAnnotatorNotes T1\tthe father\n#2\tMissing T2\tcheck\n"
    )
    places = [(1, "Mr. Bennet", 0), (2, "his", 13), (3, "his wife", 13), (4, "her", 22)]
    report = ConversionReport()
    (record,) = read(
        "".join(entity(*e, "Mention") for e in places) + lines,
        report=report,
        text="Mr. Bennet , his wife her",
    )
    assert record.extra == {
        "mention_attributes": [
            [0, 1, {"Negation": True, "Gender": "male", "notes": ["the father"]}],
            [3, 3, {"notes": ["Missing: check"]}],
            [5, 5, {"references": [["Wikipedia:12", "Mrs. Bennet"]]}],
        ]
    }
    write_documents([record], tmp_path / "e.ann", report=report)
    assert report.complete
    written = (tmp_path / "e.ann").read_text()
    assert "A2\tGender T1 male\n" in written
    assert "N1\tReference T4 Wikipedia:12\tMrs. Bennet\n" in written
    assert read_documents(tmp_path / "e.ann")[0].extra == record.extra


def test_what_is_said_about_relations_is_counted(read):
    report = ConversionReport()
    read(
        ENTITIES + "R1\tMarried Arg1:T1 Arg2:T4\nA1\tSure R1\n#1\tAnnotatorNotes R1\thm\n?1\tx\n",
        report=report,
    )
    counts = {item.what: item.count for item in report.not_kept}
    assert counts["attributes, references and notes of relations and events"] == 2
    assert counts["lines of a kind that brat does not know"] == 1


def test_speakers_go_into_the_note_and_layers_are_counted(tmp_path):
    record = Record("d", "", [["Hi", "!"], ["Bye", "."]], [spans((0, 0))], speakers=[["Ann"] * 2, ["", "Bo"]],
                    layers={"xpos": [["UH", "."], ["UH", "."]]})  # fmt: skip
    report = ConversionReport()
    write_documents([record], tmp_path / "d.ann", report=report)
    assert [(item.what, item.count) for item in report.not_kept] == [("parts of speech of tokens", 4)]
    assert read_documents(tmp_path / "d.ann")[0].speakers == record.speakers


def test_lines_that_end_in_a_carriage_return(read):
    (record,) = read(entity(4, "her", 25).replace("\n", "\r"), text=TEXT.replace("\n", "\r"))
    assert record.sentences == [["Mr.", "Bennet,", "his", "wife"], ["saw", "her", "."]]
    assert record.clusters == [spans((5, 5))]


def test_litbank_names_clusters_by_a_second_entity(read):
    text = (
        entity(0, "Mr. Bennet", 0, "PROP_PER") + entity(1, "Mr. Bennet", 0, "Mr_Bennet-4")
        + entity(2, "his", 12, "PRON_PER") + entity(3, "his", 12, "Mr_Bennet-4")
        + entity(4, "his wife", 12, "NOM_PER") + "R1\tcop Arg1:T4 Arg2:T0\n"
    )  # fmt: skip
    (record,) = read(text, text="Mr. Bennet , his wife\n".replace(" ,", ",", 1))
    assert record.clusters == [spans((0, 1), (3, 3)), spans((3, 4))]
    assert record.extra["cluster_ids"] == ["Mr_Bennet-4", "T4"]
    assert record.extra["mention_types"] == [[0, 1, "PROP_PER"], [3, 3, "PRON_PER"], [3, 4, "NOM_PER"]]


def test_gaps_and_line_ends_inside_a_mention(read):
    report = ConversionReport()
    over_line = "T1\tPER 12 20;21 24\this wife saw\n"
    with_gap = "T2\tPER 0 3;12 15\tMr. his\n"
    (record,) = read(over_line + with_gap, report=report)
    assert sorted(m for c in record.clusters for m in c) == spans((0, 2), (2, 4))
    assert [item.examples for item in report.not_kept if item.what.startswith("gaps")] == [["d: Mr. his"]]


def test_crlf_and_bom_count_as_brat_counts_them(read):
    (record,) = read(entity(1, "saw", 23), text="\ufeff" + TEXT.replace("\n", "\r\n"))
    assert record.clusters == [spans((4, 4))]
    assert record.sentences[0][0] == "Mr."


def test_what_is_written(tmp_path):
    record = Record("b/c", "7", [["a", "\n"], ["b", "c"]], [spans((0, 0), (0, 2)), spans((3, 3))],
                    [("A", spans((0, 0), (0, 2)))])  # fmt: skip
    write_documents([record], tmp_path / "out", "brat")
    assert (tmp_path / "out/b%2Fc.txt").read_text() == "a &#10;\nb c\n"
    assert (tmp_path / "out/b%2Fc.ann").read_text().splitlines() == [
        "T1\tMention 0 1\ta",
        "T2\tMention 0 7;8 9\ta &#10; b",
        "T3\tMention 10 11\tc",
        "*\tCoref T1 T2",
        "#1\tAnnotatorNotes T1\tbookcoref-data "
        '{"doc_key": "b/c", "gutenberg_key": "7", "characters": [["A", "T1"]]}',
    ]


def test_names_from_data_cannot_leave_the_folder(tmp_path):
    documents = [
        Record(key, "", [["a"]], [spans((0, 0))]) for key in ("../../x", "..", ".hidden", "a\0b", "~")
    ]
    write_documents(documents, tmp_path / "out", "brat")
    assert {p.name for p in tmp_path.iterdir()} == {"out"}
    assert len(list((tmp_path / "out").iterdir())) == 10
    assert {r.doc_key for r in read_documents(tmp_path / "out")} == {d.doc_key for d in documents}


def test_several_documents_need_a_folder(tmp_path):
    documents = [Record(key, "", [["a"]], []) for key in "ab"]
    with pytest.raises(UsageError, match=r"x\.ann"):
        write_documents(documents, tmp_path / "x.ann")


@pytest.mark.parametrize(("annotation", "line", "what"), [
    (entity(1, "Mr. Bennet", 1), 1, "do not fit the text"),
    (entity(1, "her", 25) + entity(1, "his", 12), 2, "given twice"),
    ("T1\tPER 25 99\ther.\n", 1, "offsets inside the text"),
    ("T1\tPER 5 5\t\n", 1, "offsets inside the text"),
    ("T1\tPER a b\tx\n", 1, "not brat standoff"),
    ("T1 PER 1 2 x\n", 1, "not brat standoff"),
    (ENTITIES + "R1\tCoref T1 T2\n", 5, "not brat standoff"),
])  # fmt: skip
def test_a_fault_is_named_by_file_and_line(read, annotation, line, what):
    with pytest.raises(FormatError) as caught:
        read(annotation)
    assert f"d.ann:{line}: " in str(caught.value)
    assert what in str(caught.value)


def test_relations_to_nothing_and_entities_of_nothing(read):
    with pytest.raises(FormatError, match="names 'T9'"):
        read(ENTITIES + "*\tCoref T1 T9\n")
    with pytest.raises(FormatError, match="white space alone"):
        read("T1\tPER 1 3\t  \n", text="a  b")


def test_a_missing_text_is_a_missing_source(tmp_path):
    (tmp_path / "d.ann").write_text(ENTITIES)
    with pytest.raises(SourceError, match="the text is missing") as caught:
        read_documents(tmp_path / "d.ann")
    assert caught.value.expected.endswith("d.txt")


@pytest.mark.long
def test_litbank_in_both_its_formats(shared_data):
    brat = {r.doc_key: r for r in read_documents(shared_data / "litbank/coref/brat")}
    conll = {r.doc_key: r for r in read_documents(shared_data / "litbank/coref/conll")}
    assert brat.keys() == conll.keys()
    assert all(brat[key].sentences == conll[key].sentences for key in conll)
    differ = {key for key in conll if sorted(brat[key].clusters) != sorted(conll[key].clusters)}
    assert differ == {"1400_great_expectations_brat"}  # the two releases themselves differ there
    assert sum(len(r.clusters) for r in brat.values()) == 7_927
    assert sum(len(c) for r in brat.values() for c in r.clusters) == 29_103
    bennet = brat["1342_pride_and_prejudice_brat"]
    assert "Netherfield_Park-8" in bennet.extra["cluster_ids"]
