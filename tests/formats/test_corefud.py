"""CorefUD: brackets in MISC, empty nodes, gaps, and what cannot be said."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import FormatError
from bookcoref_data.formats import Losses, read_documents, write_documents

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


def spans(*pairs):
    return [Mention(*pair) for pair in pairs]


def test_the_example_of_the_format(read):
    (record,) = read(MANUAL)
    assert (record.doc_key, record.sentences) == ("bc/demo/00/demo_0001", [["John", "drove", "his", "car"]])
    assert record.clusters == [spans((0, 0), (2, 2)), spans((2, 3))]
    assert record.extra == {"entity_types": ["person", "object"]}


def test_other_field_orders_and_old_names(read):
    text = sentence(
        ("1", "a", "Entity=(person-7-new-2-coref(place-3-giv-1-coref)"),
        ("2", "b", "Entity=7)|SpaceAfter=No"),
        fields="entity-GRP-infstat-MIN-coref_type",
    )
    (record,) = read(text)
    assert record.clusters == [spans((0, 1)), spans((0, 0))]
    assert record.extra == {"entity_types": ["person", "place"], "cluster_ids": ["7", "3"]}


def test_multiword_tokens_count_by_their_words(read):
    (record,) = read(sentence(("1", "I", ""), ("2-3", "don't", ""), ("2", "do", "Entity=(e1--1-"),
                              ("3", "n't", "Entity=e1)")))  # fmt: skip
    assert (record.sentences, record.clusters) == ([["I", "do", "n't"]], [spans((1, 2))])


def test_empty_nodes_are_no_tokens_but_may_carry_brackets(read):
    losses = Losses()
    text = sentence(
        ("1", "saw", ""), ("1.1", "he", "Entity=(e1--1-)(e2--1-"), ("2", "it", "Entity=e2)(e1--1-)")
    )
    (record,) = read(text, losses=losses)
    assert record.sentences == [["saw", "it"]]
    assert record.clusters == [spans((1, 1)), spans((1, 1))]
    assert [(loss.what[:8], loss.count) for loss in losses] == [("mentions", 1)]


def test_a_mention_with_a_gap_becomes_its_whole_stretch_and_is_told(read):
    losses = Losses()
    text = sentence(("1", "a", "Entity=(e1[1/2]-person-1-)"), ("2", "b", ""),
                    ("3", "c", "Entity=(e1[2/2]-person-1-"),
                    ("4", "d", "Entity=e1[2/2])(e1-person-1-)"))  # fmt: skip
    (record,) = read(text, losses=losses)
    assert record.clusters == [spans((0, 3), (3, 3))]
    assert [loss.examples for loss in losses] == [["d: e1 (0, 3)"]]


def test_mentions_over_sentences_are_read_but_not_written(read, tmp_path):
    (record,) = read(sentence(("1", "a", "Entity=(e1--1-")) + "1\tb\t" + "_\t" * 7 + "Entity=e1)\n")
    assert record.clusters == [spans((0, 1))]
    losses = Losses()
    write_documents([record], tmp_path / "y.conllu", losses=losses)
    assert [(loss.what, loss.examples) for loss in losses] == [
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


def test_litbank_loses_nothing_in_it(shared_data, tmp_path):
    records = read_documents(shared_data / "litbank/coref/conll")
    losses = Losses()
    write_documents(records, tmp_path / "y.conllu.zst", losses=losses)
    back = read_documents(tmp_path / "y.conllu.zst", losses=losses)
    assert not losses
    assert [(r.doc_key, r.sentences, r.clusters) for r in back] == [
        (r.doc_key, r.sentences, r.clusters) for r in records
    ]
