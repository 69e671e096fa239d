"""Hostile text in every field: each export is opened by its real consumer and compared item by item."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from dataclasses import replace

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Dropped, Marked, Quote, SourceText
from bookcoref_data.exports import TARGETS, export
from bookcoref_data.exports.tables import all_tables
from bookcoref_data.exports.targets import REPLACED
from bookcoref_data.formats import ConversionReport, read_documents
from tests.exports.test_export import SCHEMA, TEI

PAYLOADS = (
    *(
        "\x00",
        "\x01\x02",
        "\x08",
        "\x0b",
        "\x0c",
        "\x1b[31m",
        "\x1f",
        "\x7f",
        "\x85",
        "\ud800",
        "\udfff\ud800",
        "\ufffe",
    ),
    *(
        "\n",
        "\r",
        "\r\n",
        "\t",
        " a ",
        "[(|)]",
        "<&>\"'",
        "</script>",
        "]]>",
        "<!--",
        "&#0;",
        "\u202e",
        "\u200b",
    ),
    *("\U0001f40e", "x" * 20_000, "_", "-", "*", '"', "#begin document", "=cmd()", "; ", "\u2028"),
)
XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FORBIDDEN = (
    {"graphml": re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")}
    | dict.fromkeys(("gexf", "tei", "tei-standoff", "inception"), XML)
    | dict.fromkeys(("csv", "tsv"), re.compile("[\0\ud800-\udfff]"))
)


def hostile(payload: str, source: bool) -> Annotation:
    """A book with the payload in its tokens, names, reasons, titles, source, and fields."""
    tokens = ["Ann", payload, "said", f"a{payload}", "“", payload, "”", "."]
    text = " ".join(tokens)
    starts = [sum(len(t) + 1 for t in tokens[:i]) for i in range(len(tokens))]
    ends = tuple(s + len(t) for s, t in zip(starts, tokens, strict=True))
    file = SourceText(f"f{payload}", "0" * 64, text, tuple(starts), ends) if source else None
    return Annotation(
        Book.make("d", [tokens[:4], tokens[4:]], gutenberg_key=payload),
        (f"Ann{payload}", payload, "silent"),
        (Marked(0, 1, 0, payload, payload, 0.5, payload, ((1, 0.1),)), Marked(1, 3, 1), Marked(5, 5, 1)),
        (Quote(4, 6, 0, (1,), payload, 0.5), Quote(7, 7)),
        (Dropped(2, 2, 0, payload, payload),),
        source=file, chapters=((f"I {payload}", 0),), extra={payload: payload, "n": {payload: [payload]}},
    )  # fmt: skip


def clean(text, to):
    return FORBIDDEN.get(to, re.compile("[\ud800-\udfff]")).sub("\ufffd", text)


def tables(files, to, a):
    from bookcoref_data.exports.reading import LaidOutBook
    from bookcoref_data.exports.targets import _clean

    same = LaidOutBook(_clean(a, TARGETS[to].forbidden, ConversionReport().note("")))
    for file, table in zip(files, all_tables([same]), strict=True):
        if to == "parquet":
            import pyarrow.parquet as pq

            assert pq.read_table(file).to_pylist() == [
                {c: r.get(c) for c in table.columns} for r in table.rows
            ]
            continue
        with open(file, encoding="utf-8", newline="") as stream:
            head, *rows = csv.reader(stream, delimiter="," if to == "csv" else "\t")
        assert tuple(head) == table.columns
        expected = [["" if r.get(c) is None else str(r[c]) for c in table.columns] for r in table.rows]
        marked = [[f"'{v}" if v[:1] in set("=+-@\t\r") else v for v in row] for row in expected]
        assert rows == marked
    return 3


def network(files, to, a):
    import networkx as nx

    graph = getattr(nx, f"read_{to}")(files[0])
    assert sorted(d["label"] for _, d in graph.nodes(data=True)) == sorted(clean(n, to) for n in a.names[:2])
    return None


def tei(files, to, a):
    from lxml import etree

    tree = etree.parse(str(files[0]), etree.XMLParser(huge_tree=True))
    schema = etree.RelaxNG(etree.fromstring(SCHEMA))
    assert schema.validate(tree), schema.error_log
    assert [p[0].text for p in tree.findall(".//t:person", TEI)] == [clean(n, to) for n in a.names[:2]]
    where = ".//t:rs" if to == "tei" else ".//t:spanGrp[@type='mentions']/t:span"
    return sum(e.get("prev") is None for e in tree.iterfind(where, TEI))


def linked_data(files, to, a):
    rdflib = pytest.importorskip("rdflib")
    page = json.loads(files[0].read_text(encoding="utf-8"))
    # The context of the W3C, as far as we use it: nothing is fetched.
    page["@context"] = {
        "oa": "http://www.w3.org/ns/oa#", "id": "@id", "type": {"@id": "@type", "@type": "@vocab"},
        "@vocab": "http://www.w3.org/ns/oa#", "items": {"@id": "oa:items", "@container": "@list"},
        "body": {"@id": "oa:hasBody"}, "value": "oa:value", "target": "oa:hasTarget", "exact": "oa:exact",
    }  # fmt: skip
    graph = rdflib.Graph().parse(data=json.dumps(page), format="json-ld")
    oa = rdflib.Namespace("http://www.w3.org/ns/oa#")
    values = {str(value) for value in graph.objects(None, oa.value)}
    assert {clean(n, to) for n in a.names[:2]} <= values
    exact = [item["target"]["selector"][0]["exact"] for item in page["items"]]
    assert set(exact) == {str(v) for v in graph.objects(None, oa.exact)}
    return len(set(graph.subjects(rdflib.RDF.type, oa.Annotation))) - len(a.quotes)


def cas(files, to, a):
    import cassis

    with zipfile.ZipFile(files[0]) as packed:
        system = cassis.load_typesystem(packed.open("TypeSystem.xml"))
        read = cassis.load_cas_from_xmi(packed.open("d.xmi"), typesystem=system)
    if a.source:
        assert read.sofa_string == clean(a.source.text, to)
    links = read.select("de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink")
    assert sorted(link.referenceType for link in links) == sorted(
        clean(a.names[m.character], to) for m in a.mentions
    )
    said = read.select("webanno.custom.Quote")
    assert [(q.speaker, q.addressees) for q in said] == [
        (clean(a.names[0], to), clean(a.names[1], to)), (None, None)]  # fmt: skip
    return len(links)


def doc(files, to, a):
    import spacy
    from spacy.tokens import DocBin

    (read,) = DocBin().from_disk(files[0]).get_docs(spacy.blank("en").vocab)
    assert [t.text for t in read] == [clean(t, to) for t in a.book.tokens]
    assert {s.label_ for s in read.spans["characters"]} == {clean(n, to) for n in a.names[:2]}
    assert list(map(list, read.user_data["addressees"])) == [[clean(a.names[1], to)], []]
    return len(read.spans["characters"])


def booknlp(files, to, a):
    (record,) = read_documents(files[0])
    assert record.sentences == a.book.sentences
    assert record.extra["quotations"][0]["addressees"] == [a.names[1]]
    assert (record.gutenberg_key, record.characters[0][0]) == (a.book.gutenberg_key, a.names[0])
    assert a.extra.items() <= record.extra.items()
    for suffix in (".tokens", ".entities", ".quotes"):
        lines = files[0].with_suffix(suffix).read_text(encoding="utf-8").split("\n")
        assert len({line.count("\t") for line in lines[:-1]}) == 1, "as many cells in every row"
    assert files[0].with_suffix(".quotes").read_text("utf-8").count("\n") == 3
    return sum(map(len, record.clusters))


def text(files, to, a):
    assert files[0].read_bytes().decode("utf-8")


def lines(files, to, a):
    rows = [json.loads(line) for line in files[0].read_text(encoding="utf-8").split("\n")[:-1]]
    assert {r["speaker"] for r in rows} == {None, clean(a.names[0], to)}


CONSUMERS = {
    **dict.fromkeys(("csv", "tsv", "parquet"), tables), **dict.fromkeys(("graphml", "gexf"), network),
    **dict.fromkeys(("tei", "tei-standoff"), tei), "webannotation": linked_data, "inception": cas,
    "booknlp": booknlp, "spacy": doc, "replaced-text": text, "audiobook": lines,
}  # fmt: skip


def test_every_target_has_a_consumer_and_there_are_35_payloads():
    assert CONSUMERS.keys() == TARGETS.keys()
    assert len(set(PAYLOADS)) == 35


@pytest.mark.parametrize(("payloads", "source"), [
    (PAYLOADS[9::13], True), *(pytest.param(PAYLOADS, s, marks=pytest.mark.long) for s in (True, False)),
])  # fmt: skip
@pytest.mark.parametrize("to", TARGETS)
def test_the_consumer_reads_every_item(to, payloads, source, tmp_path):
    broken = []
    for number, payload in enumerate(payloads):
        a, report = hostile(payload, source), ConversionReport()
        try:
            files = export([a], to, tmp_path / str(number), report=report)
            mentions = CONSUMERS[to](files, to, a)
            assert mentions in (None, len(a.mentions))
            replaced = sum(i.count for i in report.not_kept if i.what == REPLACED)
            assert (replaced > 0) == (to != "booknlp" and clean(payload, to) != payload)
        except Exception as error:
            broken.append(f"{payload[:20]!r}: {type(error).__name__}: {str(error)[:300]}")
    assert not broken, f"{len(broken)} of {len(payloads)} broken:\n" + "\n".join(broken)


def bare(a: Annotation, part: str) -> Annotation:
    """The annotation without one part of what it says."""
    book = a.book
    match part:
        case "kinds of mentions":
            # What the rules would say, so that only the statement is gone.
            return replace(a, mentions=tuple(m._replace(kind="") for m in a.mentions))
        case "reasons of mentions (step, rule, score)":
            return replace(a, mentions=tuple(m._replace(step="", rule="", score=1.0) for m in a.mentions))
        case "other candidates for mentions":
            return replace(a, mentions=tuple(m._replace(others=()) for m in a.mentions))
        case "mentions that a step refused or took away":
            return replace(a, dropped=())
        case "quotations":
            return replace(a, quotes=())
        case "addressees of quotations":
            return replace(a, quotes=tuple(q._replace(addressees=()) for q in a.quotes))
        case "reasons of quotations (rule, score)":
            return replace(a, quotes=tuple(q._replace(rule="", score=0.0) for q in a.quotes))
        case "sentence boundaries":
            return replace(a, book=replace(book, sentence_ends=(len(book.tokens),)))
        case "names of characters":
            return replace(a, names=("X", *a.names[1:]))
        case "characters that nothing mentions":
            return replace(a, names=a.names[:2])
        case "Gutenberg keys":
            return replace(a, book=replace(book, gutenberg_key=""))
    assert part == "other fields of documents"
    return replace(a, extra={})


PARTS = (
    *("kinds of mentions", "reasons of mentions (step, rule, score)", "other candidates for mentions"),
    *("mentions that a step refused or took away", "addressees of quotations", "names of characters"),
    *("reasons of quotations (rule, score)", "sentence boundaries", "characters that nothing mentions"),
    *("Gutenberg keys", "other fields of documents", "quotations"),
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("to", TARGETS)
def test_what_changes_nothing_in_the_files_is_reported(to, part, tmp_path):
    a, report = hostile("x", source=True), ConversionReport()
    whole = export([a], to, tmp_path / "a", report=report)
    less = export([bare(a, part)], to, tmp_path / "b")
    told = {item.what: item.count for item in report.not_kept}
    same = [content(file) for file in whole] == [content(file) for file in less]
    # A network has quotes as counts of who speaks to whom, so it changes, and still has none of them.
    counted = part in ("quotations", "addressees of quotations") and to in ("graphml", "gexf")
    assert (part in told) == (same or counted), "counted just where no file says it"


def content(file):
    """All that belongs to one document: BookNLP has four files."""
    return [beside.read_bytes() for beside in sorted(file.parent.glob(f"{file.stem}.*"))]
