"""Every export, read back with the library that is its home."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from bookcoref_data.books import Book, Character, Mention
from bookcoref_data.books.annotation import Annotation, Marked, Quote, SourceText, annotation_of
from bookcoref_data.errors import UsageError
from bookcoref_data.exports import TARGETS, export
from bookcoref_data.exports.reading import LaidOutBook
from bookcoref_data.exports.standards import replaced_text, segments
from bookcoref_data.exports.targets import SEVERAL, UNTITLED
from bookcoref_data.formats import ConversionReport
from bookcoref_data.text.tokens import tokenize_body

TEXT = """CHAPTER I

Anna  met her
brother Tom, and   he laughed. “I lost his key,” she said; “but you
have yours.”

CHAPTER II

=Tom= took her hand, and thanked her.
"""


@pytest.fixture(scope="module")
def annotation():
    found = tokenize_body(TEXT)
    tokens = [t for s in found.sentences for t in s]
    starts = tuple(found.starts)
    ends = tuple(s + (0 if t == "\n" else len(t)) for s, t in zip(starts, tokens, strict=True))
    at = {t: i for i, t in reversed(list(enumerate(tokens))) if i > 2}
    hers = [i for i, t in enumerate(tokens) if t == "her"]
    links = [
        (at["Anna"], at["Anna"], 0, "name"), (hers[0], hers[0], 0, "pronoun"),
        (hers[0], at["Tom"], 1, "nominal"), (at["Tom"], at["Tom"], 1, "name"),
        (hers[1], hers[1], 0, "pronoun"), (hers[2], hers[2], 0, "pronoun"),
        (at["key"], at["said"], 1, "nominal"),
        *((at[w], at[w], c, "pronoun") for w, c in (("he", 1), ("I", 0), ("his", 1), ("she", 0), ("you", 1))),
    ]  # fmt: skip
    marks = [i for i, t in enumerate(tokens) if t in "“”"]
    mentions = tuple(sorted(Marked(a, b, c, "link", "name", 0.9, kind) for a, b, c, kind in links))
    quotes = (
        Quote(marks[0], marks[1], 0, (1,), "turn", 0.8),
        Quote(marks[2], marks[3], 0, (1,), "turn", 0.8),
    )
    return Annotation(
        Book.make("key", found.sentences), ("Anna", "Tom & Co <x>"), mentions, quotes,
        source=SourceText("key.txt", "0" * 64, TEXT, starts, ends),
    )  # fmt: skip


@pytest.fixture(scope="module")
def written(annotation, tmp_path_factory):
    """{target: its files}."""
    out = tmp_path_factory.mktemp("export")
    return {to: export([annotation], to, out / to) for to in TARGETS}


def spans(annotation):
    source, names = annotation.source, annotation.names
    return sorted((source.span(m.start, m.end), names[m.character]) for m in annotation.mentions)


def test_tables_count_and_place_everything(annotation, written):
    tables = {
        f.stem: list(csv.DictReader(io.StringIO(f.read_text(encoding="utf-8")))) for f in written["csv"]
    }
    assert set(tables) == {"mentions", "quotes", "characters", "chapters", "speech"}
    for row in tables["mentions"] + tables["quotes"]:
        assert " ".join(TEXT[int(row["char_start"]) : int(row["char_end"])].split()) == row["text"].lstrip(
            "'"
        )
    values = {stem: [",".join(list(row.values())[1:]) for row in rows] for stem, rows in tables.items()}
    assert [*tables["characters"][0]] == [
        "doc_key", "character", "mentions", "names", "noun_phrases", "pronouns", "chapters", "first_token",
        "first_chapter", "last_token", "last_chapter", "quotes", "words_spoken", "quotes_heard",
    ]  # fmt: skip
    assert values["characters"] == ["Anna,6,1,0,5,2,3,1,42,2,2,8,0", "Tom & Co <x>,6,1,2,3,1,5,1,25,1,0,0,2"]
    assert [*tables["chapters"][0]] == [
        "doc_key", "chapter", "title", "start", "end", "words", "mentions", "characters", "most_mentioned",
        "quotes", "words_spoken",
    ]  # fmt: skip
    assert values["chapters"] == [
        "1,CHAPTER I,0,30,20,10,2,Tom & Co <x>,2,8",
        "2,CHAPTER II,31,43,9,2,1,Anna,0,0",
    ]
    assert [*tables["speech"][0]] == ["doc_key", "speaker", "addressee", "quotes", "words"]
    assert values["speech"] == ["Anna,Tom & Co <x>,2,8"]
    assert [*tables["quotes"][0]] == [
        "doc_key", "quote", "start", "end", "char_start", "char_end", "text", "speaker", "addressees",
        "words", "chapter", "paragraph", "rule", "score",
    ]  # fmt: skip
    assert values["quotes"] == [
        "1,13,19,56,73,“I lost his key,”,Anna,Tom & Co <x>,4,1,2,turn,0.8",
        "2,23,29,84,105,“but you have yours.”,Anna,Tom & Co <x>,4,1,2,turn,0.8",
    ]
    assert values["mentions"][5] == "14,14,57,58,I,Anna,pronoun,1,CHAPTER I,2,1,link,name,0.9"
    assert values["mentions"][-1] == "42,42,152,155,her,Anna,pronoun,2,CHAPTER II,4,,link,name,0.9"
    import pyarrow.parquet as pq

    for file in written["parquet"]:
        assert pq.read_table(file).num_rows == len(tables[file.stem])
    assert all("\t" in f.read_text(encoding="utf-8") for f in written["tsv"])


def test_characters_have_the_chapters_of_their_first_and_last_mention(annotation, tmp_path):
    """Tom, whom only a quote is said to, stands in no chapter."""
    few = replace(annotation, mentions=(annotation.mentions[0], annotation.mentions[-1]))
    (file,) = (f for f in export([few], "csv", tmp_path) if f.stem == "characters")
    assert file.read_text(encoding="utf-8").splitlines()[1:] == [
        "key,Anna,2,1,0,1,2,3,1,42,2,2,8,0",
        "key,Tom & Co <x>,0,0,0,0,0,,,,,0,0,2",
    ]


def test_a_cell_is_no_formula(tmp_path):
    evil = Annotation(Book.make("evil", [["=A1", "x"]]), ("=cmd()",), (Marked(0, 0, 0),))
    files = export([evil], "csv", tmp_path)
    assert "'=cmd()" in files[0].read_text(encoding="utf-8")


def test_tables_for_excel_begin_with_a_mark_and_others_do_not(tmp_path):
    some = Annotation(Book.make("b", [["Élise", "x"]]), ("Élise",), (Marked(0, 0, 0),))
    plain = export([some], "csv", tmp_path / "plain")
    marked = export([some], "csv", tmp_path / "excel", excel=True)
    for one, other in zip(plain, marked, strict=True):
        assert other.read_bytes() == b"\xef\xbb\xbf" + one.read_bytes()
    with pytest.raises(UsageError, match="byte order mark"):
        export([some], "tei", tmp_path / "x.xml", excel=True)


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_networkx_reads_the_network(written, kind):
    nx = pytest.importorskip("networkx")
    graph = getattr(nx, f"read_{kind}")(written[kind][0])
    assert {data["label"] for _, data in graph.nodes(data=True)} == {"Anna", "Tom & Co <x>"}
    (edge,) = (data for *_, data in graph.edges(data=True))
    assert (int(edge["spoken"]), int(edge["chapters"])) == (2, 1)


TEI = {"t": "http://www.tei-c.org/ns/1.0"}
SCHEMA = """
<grammar xmlns="http://relaxng.org/ns/structure/1.0" ns="http://www.tei-c.org/ns/1.0"
  datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
<start><element name="TEI"><ref name="header"/><optional><ref name="stand"/></optional>
 <element name="text"><attribute name="xml:lang"/><element name="body"><oneOrMore><ref name="div"/></oneOrMore></element></element></element></start>
<define name="header"><element name="teiHeader"><element name="fileDesc">
 <element name="titleStmt"><element name="title"><text/></element></element>
 <element name="publicationStmt"><element name="p"><text/></element></element>
 <element name="sourceDesc"><element name="p"><text/></element></element></element>
 <optional><element name="profileDesc"><element name="particDesc"><element name="listPerson"><oneOrMore>
  <element name="person"><ref name="id"/><element name="persName"><text/></element></element></oneOrMore></element></element></element></optional></element></define>
<define name="id"><attribute name="xml:id"><data type="ID"/></attribute></define>
<define name="pointer"><data type="anyURI"/></define>
<define name="stand"><element name="standOff"><oneOrMore><element name="spanGrp"><attribute name="type"/>
 <oneOrMore><element name="span"><ref name="id"/><attribute name="from"><ref name="pointer"/></attribute>
 <attribute name="to"><ref name="pointer"/></attribute><optional><attribute name="ana"/></optional>
 <optional><attribute name="type"/></optional></element></oneOrMore></element></oneOrMore></element></define>
<define name="div"><element name="div"><attribute name="type"/><attribute name="n"/>
 <zeroOrMore><element name="head"><ref name="inline"/></element></zeroOrMore>
 <oneOrMore><element name="p"><ref name="inline"/></element></oneOrMore></element></define>
<define name="inline"><mixed><zeroOrMore><choice>
 <element name="rs"><attribute name="ref"><ref name="pointer"/></attribute><attribute name="type"/><ref name="part"/><ref name="inline"/></element>
 <element name="said"><optional><attribute name="who"/></optional><optional><attribute name="toWhom"/></optional><ref name="part"/><ref name="inline"/></element>
 <element name="w"><ref name="id"/><text/></element><element name="pc"><ref name="id"/><text/></element>
 </choice></zeroOrMore></mixed></define>
<define name="part"><optional><ref name="id"/></optional><optional><attribute name="next"/></optional><optional><attribute name="prev"/></optional></define>
</grammar>"""  # noqa: E501
"""What our documents use of TEI P5, after its Guidelines (4.x)."""


@pytest.mark.parametrize("length", [1, 2, 9])
def test_tei_has_a_quote_of_any_length_in_every_paragraph_that_it_reaches(annotation, length, tmp_path):
    tokens = annotation.book.tokens
    for start in range(3, len(tokens) - length + 1):
        quote = Quote(start, start + length - 1, 0, (), "turn", 0.8)
        quoted = replace(annotation, mentions=(), quotes=(quote,))
        (file,) = export([quoted], "tei", tmp_path / f"{start}.xml")
        said = ["".join(e.itertext()) for e in ElementTree.parse(file).iterfind(".//t:said", TEI)]
        assert "".join("".join(said).split()) == "".join("".join(tokens[start : start + length]).split())
        assert all(map(str.strip, said))


@pytest.mark.parametrize("kind", ["tei", "tei-standoff"])
def test_tei_is_valid_and_keeps_the_text(annotation, written, kind):
    etree = pytest.importorskip("lxml.etree")
    tree = etree.parse(str(written[kind][0]))
    schema = etree.RelaxNG(etree.fromstring(SCHEMA))
    assert schema.validate(tree), schema.error_log
    paragraphs = ["".join(p.itertext()) for p in tree.findall(".//t:body//t:p", TEI)]
    assert paragraphs[0] == TEXT[TEXT.index("Anna") : TEXT.index("\n\nCHAPTER II")]
    assert {p[0].text for p in tree.findall(".//t:person", TEI)} == set(annotation.names)
    if kind == "tei":
        whole = [e for e in tree.iterfind(".//t:rs", TEI) if e.get("prev") is None]
        assert len(whole) == len(annotation.mentions)
        cut = [e for e in tree.iterfind(".//t:rs", TEI) if e.get("next")]
        assert cut, "the mention that crosses the end of a quote is in two parts"
        assert tree.find(".//t:said", TEI).get("toWhom") == "#c1"
    else:
        ids = {e.get("{http://www.w3.org/XML/1998/namespace}id") for e in tree.iter()}
        for span in tree.iterfind(".//t:span", TEI):
            assert {
                span.get("from")[1:],
                span.get("to")[1:],
                *(a[1:] for a in span.get("ana").split()),
            } <= ids


def test_web_annotations_select_the_words_of_the_file(annotation, written):
    page = json.loads(written["webannotation"][0].read_text(encoding="utf-8"))
    assert page["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert len(page["items"]) == len(annotation.mentions) + len(annotation.quotes)
    for item in page["items"]:
        assert item["target"]["source"] == "key.txt"
        quote, place = item["target"]["selector"]
        exact = TEXT[place["start"] : place["end"]]
        assert quote["exact"] == exact
        assert TEXT.startswith(
            quote["prefix"] + exact + quote["suffix"], place["start"] - len(quote["prefix"])
        )


def test_cassis_reads_the_chains(annotation, written):
    cassis = pytest.importorskip("cassis")
    with zipfile.ZipFile(written["inception"][0]) as packed:
        system = cassis.load_typesystem(packed.open("TypeSystem.xml"))
        cas = cassis.load_cas_from_xmi(packed.open("key.xmi"), typesystem=system)
    assert cas.sofa_string == TEXT
    found = []
    for chain in cas.select("de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceChain"):
        link = chain.first
        while link is not None:
            found.append(((link.begin, link.end), link.referenceType))
            link = link.next
    assert sorted(found) == spans(annotation)
    said = cas.select("webanno.custom.Quote")
    assert [(q.speaker, q.addressees) for q in said] == [("Anna", "Tom & Co <x>")] * 2
    tokens = cas.select("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token")
    assert [t.get_covered_text() for t in tokens] == [t for t in annotation.book.tokens if t != "\n"]


def test_spacy_reads_the_docbin(annotation, written):
    import spacy
    from spacy.tokens import DocBin

    (doc,) = DocBin().from_disk(written["spacy"][0]).get_docs(spacy.blank("en").vocab)
    assert [t.text for t in doc] == list(annotation.book.tokens)
    starts, ends = doc.user_data["token_starts"], doc.user_data["token_ends"]
    found = sorted(((starts[s.start], ends[s.end - 1]), s.label_) for s in doc.spans["characters"])
    assert found == spans(annotation)
    assert [list(names) for names in doc.user_data["addressees"]] == [["Tom & Co <x>"]] * 2


def test_booknlp_is_read_back(annotation, written):
    from bookcoref_data.formats import read_documents

    (record,) = read_documents(written["booknlp"][0])
    assert sorted(map(len, record.clusters)) == sorted(len(g) for g in annotation.by_character)


def test_names_stand_for_pronouns_and_all_else_is_as_in_the_file(annotation):
    text = replaced_text(LaidOutBook(annotation))
    assert (
        "Anna  met Anna’s\nbrother Tom, and   Tom & Co <x> laughed. “Anna lost Tom & Co <x>’s key,”" in text
    )
    assert "took Anna’s hand, and thanked Anna." in text


def test_segments_are_the_whole_text_in_order(annotation):
    found = segments(LaidOutBook(annotation))
    said = [(s["speaker"], s["text"]) for s in found if s["kind"] == "speech"]
    assert said == [("Anna", "“I lost his key,”"), ("Anna", "“but you have yours.”")]
    assert " ".join(s["text"] for s in found).split() == TEXT.split()
    assert [s["segment"] for s in found] == list(range(1, len(found) + 1))


def test_a_name_that_two_characters_have_is_told_apart_and_counted(tmp_path):
    book = Book("b", "", ("Ann", "met", "Ann", "."), (4,))
    people = (Character("Ann", (Mention(0, 0),)), Character("Ann", (Mention(2, 2),)))
    record = replace(book, characters=people).to_record()
    report = ConversionReport()
    export([annotation_of(record)], "csv", tmp_path / "out", report=report)
    assert {item.what: (item.count, item.examples) for item in report.not_kept}[SEVERAL] == (
        1,
        ["b: Ann (2)"],
    )
    alone = replace(book, characters=people[:1]).to_record()
    export([annotation_of(alone)], "csv", tmp_path / "alone", report=(report := ConversionReport()))
    assert SEVERAL not in {item.what for item in report.not_kept}


def test_spans_beside_the_text_begin_and_end_at_words(tmp_path):
    """White space has no element that a span could point to; a chapter without text has a paragraph."""
    tokens = ["ONE", "\n", "“", "Hi", "”", "\n", "Ann", "\n", "TWO", "\n"]
    mentions = (Marked(5, 6, 0), Marked(6, 7, 0))
    made = Annotation(
        Book.make("d", [tokens]), ("Ann",), mentions, (Quote(1, 5, 0),), chapters=(("ONE", 0), ("TWO", 8))
    )
    (file,) = export([made], "tei-standoff", tmp_path / "d.xml")
    root = ElementTree.fromstring(file.read_bytes())
    ends = [(one.get("from"), one.get("to")) for one in root.iter("{http://www.tei-c.org/ns/1.0}span")]
    assert sorted(ends) == [("#t2", "#t4"), ("#t6", "#t6"), ("#t6", "#t6")]
    words = {one.get("{http://www.w3.org/XML/1998/namespace}id") for one in root.iter()}
    assert {place.removeprefix("#") for pair in ends for place in pair} <= words
    divisions = root.iter("{http://www.tei-c.org/ns/1.0}div")
    assert [[child.tag.partition("}")[2] for child in one] for one in divisions] == [
        ["head", "p", "p"],
        ["head", "p"],
    ]


@pytest.mark.parametrize("to", ["tei", "tei-standoff", "csv", "audiobook"])
def test_a_title_that_is_not_in_the_text_is_counted(tmp_path, to):
    tokens = ["I", "\n", "\n", "The", "Inn", "\n", "\n", "Ann", "came", ".", "\n", "\n", "He", "ran", "."]
    heads = (("I The Inn", 0), ("II The Flight", 12))
    made = Annotation(Book.make("d", [tokens]), ("Ann",), (Marked(7, 7, 0),), (), chapters=heads)
    export([made], to, tmp_path / "out", report=(report := ConversionReport()))
    lost = {item.what: (item.count, item.examples) for item in report.not_kept}.get(UNTITLED)
    assert lost == ((1, ["d: II The Flight"]) if to.startswith("tei") else None)
    # Two chapters that begin in one paragraph: only one of them has a division anywhere.
    both = replace(made, chapters=(heads[0], ("Then", 13), ("Last", 14)))
    export([both], to, tmp_path / "both", report=(report := ConversionReport()))
    assert {item.what: item.count for item in report.not_kept}[UNTITLED] == (2 if to.startswith("tei") else 1)
