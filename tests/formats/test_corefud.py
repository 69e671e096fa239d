"""CorefUD: brackets in MISC, empty nodes, gaps, and what cannot be said."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import FormatError
from bookcoref_data.formats import ConversionReport, read_documents, write_documents

MANUAL = """# newdoc id = bc/demo/00/demo_0001
# global.Entity = eid-etype-head-other
# sent_id = demo_0001-1
# text = John drove his car
1	John	_	_	_	_	0	_	_	Entity=(e0-person-1-)
2	drove	_	_	_	_	0	_	_	_
3	his	_	_	_	_	0	_	_	Entity=(e1-object-2-(e0-person-1-)
4	car	_	_	_	_	0	_	_	Entity=e1)
"""


@pytest.fixture
def read(tmp_path):
    def run(text, **options):
        path = tmp_path / "x.conllu"
        path.write_text(text, encoding="utf-8")
        return read_documents(path, **options)

    return run


def sentence(*cells, fields="eid-etype-head-other"):
    rows = "".join(
        "\t".join([number, word, *"______", "_", misc or "_"]) + "\n" for number, word, misc in cells
    )
    return f"# newdoc id = d\n# global.Entity = {fields}\n{rows}\n"


@pytest.mark.parametrize(("lost", "found"), [("2\tdrove", "word 3"), ("1\tJohn", "word 2")])
def test_words_that_are_not_numbered_one_by_one_are_refused(read, lost, found):
    text = "".join(line for line in MANUAL.splitlines(True) if not line.startswith(lost))
    with pytest.raises(FormatError, match="not numbered one by one") as caught:
        read(text)
    assert caught.value.found == found


def spans(*pairs):
    return [Mention(*pair) for pair in pairs]


def test_the_example_of_the_format(read):
    (record,) = read(MANUAL)
    assert (record.doc_key, record.sentences) == ("bc/demo/00/demo_0001", [["John", "drove", "his", "car"]])
    assert record.clusters == [spans((0, 0), (2, 2)), spans((2, 3))]
    assert record.extra == {"entity_types": ["person", "object"],
                            "mention_attributes": [[2, 3, {"head": "2"}]],
                            "comments": [[0, "sent_id = demo_0001-1"]]}  # fmt: skip


def test_other_field_orders_and_old_names(read):
    text = sentence(
        ("1", "a", "Entity=(person-7-new-2-coref(place-3-giv-1-coref)"),
        ("2", "b", "Entity=7)|SpaceAfter=No"),
        fields="entity-GRP-infstat-MIN-coref_type",
    )
    (record,) = read(text)
    assert record.clusters == [spans((0, 1)), spans((0, 0))]
    assert record.extra == {
        "entity_types": ["person", "place"],
        "cluster_ids": ["7", "3"],
        "mention_attributes": [
            [0, 0, {"infstat": "giv", "MIN": "1", "coref_type": "coref"}],
            [0, 1, {"infstat": "new", "MIN": "2", "coref_type": "coref"}],
        ],
    }
    assert record.layers == {"misc": [["", "SpaceAfter=No"]]}


def test_multiword_tokens_count_by_their_words(read):
    (record,) = read(sentence(("1", "I", ""), ("2-3", "don't", ""), ("2", "do", "Entity=(e1--1-"),
                              ("3", "n't", "Entity=e1)")))  # fmt: skip
    assert (record.sentences, record.clusters) == ([["I", "do", "n't"]], [spans((1, 2))])


def test_empty_nodes_are_no_tokens_but_may_carry_brackets(read):
    report = ConversionReport()
    text = sentence(
        ("1", "saw", ""), ("1.1", "he", "Entity=(e1--1-)(e2--1-"), ("2", "it", "Entity=e2)(e1--1-)")
    )
    (record,) = read(text, report=report)
    assert record.sentences == [["saw", "it"]]
    assert record.clusters == [spans((1, 1)), spans((1, 1))]
    assert [(item.what[:8], item.count) for item in report.not_kept] == [("empty no", 1), ("mentions", 1)]


def test_a_mention_with_a_gap_becomes_its_whole_stretch_and_is_told(read):
    report = ConversionReport()
    text = sentence(("1", "a", "Entity=(e1[1/2]-person-1-)"), ("2", "b", ""),
                    ("3", "c", "Entity=(e1[2/2]-person-1-"),
                    ("4", "d", "Entity=e1[2/2])(e1-person-1-)"))  # fmt: skip
    (record,) = read(text, report=report)
    assert record.clusters == [spans((0, 3), (3, 3))]
    assert [item.examples for item in report.not_kept] == [["d: e1 (0, 3)"]]


def test_mentions_over_sentences_are_read_but_not_written(read, tmp_path):
    (record,) = read(sentence(("1", "a", "Entity=(e1--1-")) + "1\tb\t" + "_\t" * 7 + "Entity=e1)\n")
    assert record.clusters == [spans((0, 1))]
    report = ConversionReport()
    write_documents([record], tmp_path / "y.conllu", report=report)
    assert [(item.what, item.examples) for item in report.not_kept] == [
        ("mentions that reach over a sentence end", ["d: (0, 1)"])
    ]
    assert "Entity=(" not in (tmp_path / "y.conllu").read_text()


def test_what_is_written(tmp_path):
    record = Record("d", "", [["Ann", "\n", "her", "self"]], [spans((0, 2), (2, 3)), spans((0, 3), (2, 2))],
                    extra={"entity_types": ["person", ""]})  # fmt: skip
    write_documents([record, Record("e", "", [["x"]], [spans((0, 0))])], tmp_path / "y.conllu")
    lines = (tmp_path / "y.conllu").read_text().splitlines()
    assert lines[:5] == [
        '# bookcoref-data {"doc_key": "d"}',
        "# newdoc id = d",
        "# global.Entity = eid-etype-head-other",
        "# sent_id = d-1",
        "# text = Ann &#10; her self",
    ]
    assert [line.split("\t")[9] for line in lines[5:9]] == [
        "Entity=(e1--1-(e0-person-1-", "_", "Entity=e0)(e0-person-1-(e1--1-)", "Entity=e0)e1)",
    ]  # fmt: skip
    assert all(len(line.split("\t")) == 10 for line in lines[5:9])
    assert lines[-2].endswith("Entity=(e2--1-)"), "ids go on through the file"
    back = read_documents(tmp_path / "y.conllu")
    assert [r.clusters for r in back] == [record.clusters, [spans((0, 0))]]
    assert back[0].extra == record.extra


WHOLE = """\
# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
# newdoc id = d
# global.Entity = eid-etype-head-minspan-infstat-salience-identity-other
# meta::title = A walk
# newpar
# sent_id = d-first
# text = "I didn't,"
# speaker = Ann Lee
1	"	"	PUNCT	``	_	4	punct	_	SpaceAfter=No
2	I	I	PRON	PRP	Case=Nom	4	nsubj	4:nsubj	Entity=(e4-person-1-1-giv:act-sal-Ann_Lee-)
3-4	didn't	_	_	_	_	_	_	_	SpaceAfter=No
3	did	do	AUX	VBD	_	0	root	_	_
4	n't	not	PART	RB	_	3	advmod	_	_
5	,	,	PUNCT	,	_	3	punct	_	SpaceAfter=No
6	"	"	PUNCT	''	_	3	punct	_	_

# sent_id = d-2
# text = said the girl.
1	said	say	VERB	VBD	_	0	root	_	_
2	the	the	DET	DT	_	3	det	_	Entity=(e4-person-2-2-giv:act-sal-Ann_Lee-appos:2
3	girl	girl	NOUN	NN	_	1	nsubj	_	Entity=e4)|SpaceAfter=No
4	.	.	PUNCT	.	_	1	punct	_	_

"""


def test_all_that_a_file_says_is_kept_and_written_again(read, tmp_path):
    report = ConversionReport()
    (record,) = read(WHOLE, report=report)
    assert record.speakers == [["Ann Lee"] * 6, [""] * 4]
    assert record.layers["lemma"][1] == ["say", "the", "girl", "."]
    assert record.extra["mention_attributes"][1] == [
        7, 8, {"head": "2", "minspan": "2", "infstat": "giv:act", "salience": "sal", "identity": "Ann_Lee",
               "other": "appos:2"}]  # fmt: skip
    assert record.extra["multiword_tokens"] == [[2, 3, "didn't", "SpaceAfter=No"]]
    assert record.extra["comments"][:3] == [
        [0, "meta::title = A walk"],
        [0, "newpar"],
        [0, "sent_id = d-first"],
    ]
    write_documents([record], tmp_path / "y.conllu", report=report)
    assert report.complete
    written = (tmp_path / "y.conllu").read_text().splitlines()
    # The same lines; entities are numbered anew, and the list of columns is not repeated.
    same = [line.replace("e4", "e0").replace("SpaceAfter=No|Entity", "Entity") for line in WHOLE.splitlines()]
    assert sorted(line for line in written if "bookcoref-data" not in line) == sorted(same[1:])
    (back,) = read_documents(tmp_path / "y.conllu")
    assert (back.extra, back.layers, back.speakers) == (record.extra, record.layers, record.speakers)


def test_the_text_of_a_sentence_is_made_from_its_words(read):
    (record,) = read(WHOLE.replace('# text = "I didn', "# text = «I didn"))
    assert [0, "text = «I didn't,\""] in record.extra["comments"]


def test_what_conll_has_no_column_for_is_counted(read, tmp_path):
    report = ConversionReport()
    write_documents(read(WHOLE), tmp_path / "y.conll", report=report)
    counts = {item.what: item.count for item in report.not_kept}
    assert counts == {
        "lemmas of tokens": 10,
        "universal parts of speech of tokens": 10,
        "morphological features of tokens": 1,
        "syntactic heads of tokens": 10,
        "syntactic relations of tokens": 10,
        "enhanced dependencies of tokens": 1,
        "other attributes of tokens (SpaceAfter and the like)": 3,
    }
    (back,) = read_documents(tmp_path / "y.conll")
    assert back.speakers == [["Ann Lee"] * 6, [""] * 4]
    assert back.layers["xpos"][1] == ["VBD", "DT", "NN", "."]
    assert back.extra["mention_attributes"][0][2]["infstat"] == "giv:act"


def test_bridging_and_empty_nodes_are_counted(read):
    report = ConversionReport()
    text = sentence(("1", "a", "Entity=(e1--1-)|Bridge=e2<e1"), ("1.1", "b", "Entity=(e2[1/2]-p-2-)"),
                    ("2", "c", "Entity=(e2[2/2]-p-2-)"))  # fmt: skip
    read(text, report=report)
    assert {item.what.split(" ")[0]: item.count for item in report.not_kept} == {
        "bridging": 1, "empty": 1, "gaps": 1, "attributes": 2}  # fmt: skip


def test_a_surface_that_reaches_over_the_end_is_counted(read):
    report = ConversionReport()
    (record,) = read(sentence(("1-999999999", "x", ""), ("1", "x", "")), report=report)
    assert "multiword_tokens" not in record.extra
    assert [item.count for item in report.not_kept] == [1]


def test_a_file_without_newdoc_is_named_after_the_file(read):
    assert read(MANUAL.split("\n", 1)[1])[0].doc_key == "x"


@pytest.mark.parametrize(("text", "line", "what"), [
    (sentence(("1", "a", "Entity=(e1--1-")), 3, "never closes"),
    (sentence(("1", "a", ""), ("2", "b", "Entity=e1)")), 4, "closes that was not opened"),
    (sentence(("1", "a", "Entity=e1")), 3, "cannot be read"),
    (sentence(("1", "a", "Entity=")), 3, "cannot be read"),
    (sentence(("1", "a", "Entity=(-person-1-)")), 3, "has no id"),
    (sentence(("1", "a", "Entity=(e1[1/2]-p-1-)")), 1, "lacks a piece"),
    (sentence(("1", "a", ""), fields="etype-head"), 2, "names no entity id"),
    (sentence(("one", "a", "")), 3, "not CoNLL-U"),
    ("# newdoc id = d\n1\ta\tb\n", 2, "not CoNLL-U"),
])  # fmt: skip
def test_a_fault_is_named_by_file_and_line(read, text, line, what):
    with pytest.raises(FormatError) as caught:
        read(text)
    first = str(caught.value).splitlines()[0]
    assert f"x.conllu:{line}: " in first
    assert what in first


@pytest.mark.long
def test_litbank_loses_nothing_in_it(shared_data, tmp_path):
    records = read_documents(shared_data / "litbank/coref/conll")
    report = ConversionReport()
    write_documents(records, tmp_path / "y.conllu.zst", report=report)
    back = read_documents(tmp_path / "y.conllu.zst", report=report)
    assert report.complete
    assert [(r.doc_key, r.sentences, r.clusters) for r in back] == [
        (r.doc_key, r.sentences, r.clusters) for r in records
    ]


def test_udapi_finds_the_same_words_and_mentions(tmp_path):
    """The tool of the format, on hostile words, names, speakers, layers and attributes."""
    read = pytest.importorskip("udapi.block.read.conllu")
    from udapi.core.document import Document

    from benchmarks.check_losses import HOSTILE

    words = [token for token in HOSTILE if token]
    sentences = [words[i : i + 6] for i in range(0, len(words), 6)]
    clusters = [spans((0, 2), (1, 1)), spans(*((i, i) for i in range(3, len(words), 2)))]
    record = Record(
        "d", "", sentences, clusters, [(words[0], clusters[0])], speakers=sentences,
        layers={
            "lemma": sentences, "misc": sentences, "head": [["0", *"1" * (len(s) - 1)] for s in sentences],
        },
        extra={"mention_attributes": [[0, 2, {"minspan": words[0], "other": words[3]}]]},
    )  # fmt: skip
    write_documents([record], tmp_path / "x.conllu")
    document = Document()
    read.Conllu(files=[str(tmp_path / "x.conllu")]).process_document(document)
    (back,) = read_documents(tmp_path / "x.conllu")
    assert [n.ord for n in document.nodes] == [i for s in back.sentences for i in range(1, len(s) + 1)]
    place = {id(node): i for i, node in enumerate(document.nodes)}
    found = [sorted((place[id(m.words[0])], place[id(m.words[-1])]) for m in e.mentions)
             for e in document.coref_entities]  # fmt: skip
    assert sorted(found) == sorted([tuple(m) for m in c] for c in clusters)


@pytest.mark.parametrize(
    ("first", "second", "kept", "told"),
    [("person", "animal", ["person"], 1), ("", "animal", ["animal"], 0), ("person", "", ["person"], 0)],
)
def test_a_mention_of_another_type_than_its_entity_is_counted(read, first, second, kept, told):
    report = ConversionReport()
    cells = ("1", "Ann", f"Entity=(e1-{first}-1-)"), ("2", "she", f"Entity=(e1-{second}-1-)")
    (record,) = read(sentence(*cells), report=report)
    assert record.extra["entity_types"] == kept
    assert sum(item.count for item in report.not_kept) == told
