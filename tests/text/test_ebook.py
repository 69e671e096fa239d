"""Books with markup: EPUB, HTML and Word give the text that a reader sees; everything else is named."""

from __future__ import annotations

import contextlib
import html
import io
import struct
import zipfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bookcoref_data.errors import BookcorefError, UsageError
from bookcoref_data.sample_story.story import gutenberg_text
from bookcoref_data.text import ebook
from bookcoref_data.text.ebook import decode_book, read_html
from bookcoref_data.text.read_book import read_book

CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>"""
OPF = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="two" href="text/b%20two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/a.xhtml" media-type="application/xhtml+xml"/>
<item id="css" href="style.css" media-type="text/css"/></manifest>
<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine></package>"""
ONE = """<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"
 xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Not text</title><style>p {}</style></head><body>
<h2>CHAPTER I<br/>The Ferry</h2><p>&#8220;Come,&#8221; said
 <i>Anna</i>.<a epub:type="noteref" href="#n1">1</a><span epub:type="pagebreak" title="3"/></p>
<p>Tom&nbsp;&amp; she <em>went</em>.</p>
<aside epub:type="footnote" id="n1"><p>A note.</p></aside></body></html>"""
TWO = """<html><body><h2>CHAPTER II</h2><div class="poem"><p>One line<br/>and another</p></div>
<p><img src="i.png" alt="I"/>t rained.<p>No end tag<li>a<li>b</body></html>"""
NAV = "<html><body><nav><ol><li><a href='text/a.xhtml'>CHAPTER I</a></li></ol></nav></body></html>"
PARTS = {
    "mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/content.opf": OPF,
    "OEBPS/nav.xhtml": NAV, "OEBPS/text/a.xhtml": ONE, "OEBPS/text/b two.xhtml": TWO,
}  # fmt: skip


def archive(parts: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return made.getvalue()


EPUB = archive(PARTS)


def test_an_epub_is_read_in_its_order_without_notes_pages_and_contents():
    found = decode_book(EPUB, "novel.epub")
    assert found.text.split("\n\n") == [
        "CHAPTER I\nThe Ferry", "\u201cCome,\u201d said Anna.", "Tom\xa0& she went.",
        "CHAPTER II", "One line\nand another", "It rained.", "No end tag", "a", "b",
    ]  # fmt: skip
    assert found.encoding == "EPUB"
    assert found.left_out == ("1 mark of notes", "1 note", "1 page number")
    assert [found.text[a:b] for a, b in found.headings] == ["CHAPTER I\nThe Ferry", "CHAPTER II"]


def test_chapters_are_the_headings_of_the_markup_and_places_lead_to_the_text():
    book = read_book(EPUB, "novel.epub")
    assert [c.title for c in book.chapters] == ["CHAPTER I The Ferry", "CHAPTER II"]
    cuts = [(book.starts[c.start], book.ends[c.end]) for c in book.chapters]
    assert [book.file.source.text[a:b] for a, b in cuts] == ["CHAPTER I\nThe Ferry", "CHAPTER II"]
    assert any("left out 1 mark of notes" in note for note in book.file.notes)
    assert book.file.source.encoding == "EPUB"


def test_headings_of_two_pages_are_two_though_nothing_stands_between():
    part = "<html><h1>PART ONE</h1></html>"
    found = decode_book(archive(PARTS | {"OEBPS/text/a.xhtml": part}), "novel.epub")
    assert [found.text[a:b] for a, b in found.headings] == ["PART ONE", "CHAPTER II"]
    found = decode_book(archive(PARTS | {"OEBPS/text/a.xhtml": f"{part}<h2>BOOK I</h2>"}), "novel.epub")
    assert [found.text[a:b] for a, b in found.headings] == ["PART ONE\n\nBOOK I", "CHAPTER II"]


def test_html_gives_the_words_of_the_same_plain_text():
    page = """<html><head><meta charset="latin-1"></head><body><h1>The Ferry</h1>
    <p>\xe9l\xe8ve Anna said, "Come."</p><p>Tom<br>came.</p><table><tr><td>A</td><td>B</td></tr></table>
    <script>var x = "<p>not</p>";</script></body></html>""".encode("latin-1")
    plain = 'The Ferry\n\n\xe9l\xe8ve Anna said, "Come."\n\nTom\ncame.\n\nA\n\nB'
    assert decode_book(page, "novel.html").text == plain
    assert read_book(page, "novel.html").tokens == read_book(plain.encode(), "novel.txt").tokens


def test_a_note_ends_where_its_element_ends():
    page = """<p class="footnote">A note without an end tag.<p>Story one.</p>
<div class="footnotes"><div>Two.</div><div>Three.</div> Four.</div><p>Story two.</p>"""
    found = read_html(page)
    assert found.text == "Story one.\n\nStory two."
    assert found.left_out == ("2 notes",)


def word_document(body: str) -> bytes:
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="m"'
    xml = f"<w:document {names}><w:body>{body}</w:body></w:document>"
    return archive({"word/document.xml": xml})


def test_a_word_document_is_read_without_what_was_deleted():
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>One</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Anna </w:t></w:r><w:del><w:r><w:delText>never</w:delText></w:r></w:del>"
        '<w:r><w:t>half</w:t><w:noBreakHyphen/><w:t>came.</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
        "<w:p><w:r><w:t>She</w:t><w:br/><w:t>sang,</w:t><w:cr/><w:t>he</w:t><w:tab/><w:t>ran.</w:t><w:drawing/></w:r></w:p>"
    )
    found = decode_book(word_document(body), "novel.docx")
    assert found.text == "One\n\nAnna half-came.\n\nShe\nsang,\nhe ran."
    assert [found.text[a:b] for a, b in found.headings] == ["One"]
    assert found.left_out == ("1 note", "1 picture")


def test_a_text_box_is_said_once_and_what_was_moved_away_not_at_all():
    box = "<w:txbxContent><w:p><w:r><w:t>A box.</w:t></w:r></w:p></w:txbxContent>"
    body = (
        f"<w:p><w:r><w:t>Anna </w:t></w:r><w:r><m:Choice>{box}</m:Choice><m:Fallback>{box}</m:Fallback></w:r>"
        "<w:r><w:t>came.</w:t></w:r></w:p>"
        "<w:p><w:moveFrom><w:r><w:t>Tom sang.</w:t></w:r></w:moveFrom><w:r><w:t>It rained.</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:p><w:moveTo><w:r><w:t>Tom sang.</w:t></w:r></w:moveTo></w:p></w:tr></w:tbl>"
    )
    found = decode_book(word_document(body), "novel.docx")
    assert found.text == "Anna came.\n\nA box.\n\nIt rained.\n\nTom sang."


def test_parts_of_the_reading_order_that_are_no_pages_are_counted():
    opf = OPF.replace('href="style.css" media-type="text/css"', 'href="c.svg" media-type="image/svg+xml"')
    opf = opf.replace("<spine>", '<spine><itemref idref="css"/>').replace("xhtml+xml", "XHTML+xml")
    found = decode_book(archive({**PARTS, "OEBPS/content.opf": opf}), "novel.epub")
    assert found.text == decode_book(EPUB, "novel.epub").text
    assert "1 part that is no page" in found.left_out


def test_a_line_across_the_page_parts_and_a_picture_of_one_letter_is_that_letter():
    found = read_html('one<hr>two <img alt="O">nce <img alt="a lamp"><img>')
    assert found.text == "one\n\ntwo Once"
    assert found.left_out == ("2 pictures",)


@pytest.mark.parametrize(("data", "what"), [
    (b"%PDF-1.7 x", "a PDF document"), (b"\x89PNG\r\n", "a PNG picture"), (b"\x1f\x8b\x08", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "old Word document"), (archive({"a.txt": "x"}), "a ZIP archive"),
    (archive({"content.xml": "x"}), "OpenDocument"), (b"x" * 60 + b"BOOKMOBI", "Kindle"),
    (b"PK\x03\x04", "damaged"),
])  # fmt: skip
def test_another_kind_of_file_is_named(data, what):
    with pytest.raises(UsageError, match="is not the text of a book") as error:
        read_book(data, "novel")
    assert what in str(error.value)
    assert error.value.hint
    assert error.value.exit_code == 2


def test_hostile_archives_are_refused_before_memory_is_taken(monkeypatch):
    entity = '<!DOCTYPE a [<!ENTITY x "y">]>' + CONTAINER
    scheme = '<encryption><EncryptionMethod Algorithm="http://ns.adobe.com/adept"/></encryption>'
    cases = [
        (archive(PARTS | {"META-INF/container.xml": entity}), "declares entities"),
        (archive(PARTS | {"META-INF/encryption.xml": scheme}), "encrypted EPUB"),
        (
            archive(PARTS | {"OEBPS/content.opf": OPF.replace("text/a.xhtml", "../../etc/passwd")}),
            "without its part",
        ),
        (archive(PARTS | {"OEBPS/content.opf": "<package/>"}), "has no text"),
        (archive(PARTS | {"OEBPS/content.opf": "<pack"}), "no sound XML"),
    ]
    for data, said in cases:
        with pytest.raises(UsageError, match="not the text of a book") as error:
            decode_book(data, "novel.epub")
        assert said in str(error.value)
    monkeypatch.setattr(ebook, "MOST_BYTES", 1000)
    with pytest.raises(UsageError, match="at most"):
        decode_book(EPUB, "novel.epub")


def test_fonts_may_be_scrambled():
    scheme = '<encryption><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></encryption>'
    adobe = scheme.replace("www.idpf.org/2008/embedding", "ns.adobe.com/pdf/enc#RC")
    for fonts in (scheme, adobe):
        found = decode_book(archive(PARTS | {"META-INF/encryption.xml": fonts}), "n")
        assert found.text == decode_book(EPUB, "n").text


NCX = """<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>
<navPoint id="a"><navLabel><text>1. The &amp; Mill</text></navLabel><content src="text/a.xhtml"/>
<navPoint id="b"><navLabel><text>At Night</text></navLabel><content src="text/a.xhtml#n"/></navPoint>
</navPoint>
<navPoint id="c"><navLabel><text>The Ferry</text></navLabel><content src="text/b%20two.xhtml"/></navPoint>
</navMap></ncx>"""
PLAIN = """<html><body><p><a href="#x">1. The &amp; Mill</a></p><p id="x"><b>1. The &amp; <i>Mill</i></b></p>
<p>It rained.</p><div id="n"><span>AT NIGHT</span></div><p>Anna slept. The Ferry</p><p>The Ferry</p>
</body></html>"""
ENTRIES = """<html><body><nav epub:type="toc"><ol><li><a href="text/a.xhtml"><b>1.</b> The &amp; Mill</a><ol>
<li><a href="text/a.xhtml#n">At Night</a></li></ol></li>
<li><a href="text/b%20two.xhtml">The Ferry</a></li></ol></nav></body></html>"""
SECOND = "<html><body><p class='head'>The Ferry</p><p>It came.</p></body></html>"


@pytest.mark.parametrize("contents", ["ncx", "nav"])
def test_chapters_that_only_the_table_of_contents_tells(contents):
    opf = OPF if contents == "nav" else OPF.replace(
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
    )  # fmt: skip
    parts = PARTS | {
        "OEBPS/content.opf": opf, "OEBPS/text/a.xhtml": PLAIN, "OEBPS/text/b two.xhtml": SECOND,
        "OEBPS/nav.xhtml": ENTRIES, "OEBPS/toc.ncx": NCX,
    }  # fmt: skip
    found = decode_book(archive(parts), "n")
    assert [found.text[a:b] for a, b in found.headings] == ["1. The & Mill", "AT NIGHT", "The Ferry"]
    assert found.headings[-1][0] == found.text.rindex("The Ferry")


def test_a_table_of_contents_that_is_not_there_or_broken_changes_nothing():
    opf = OPF.replace(
        "<manifest>", '<manifest><item id="t" href="t.ncx" media-type="application/x-dtbncx+xml"/>'
    )
    for more in ({}, {"OEBPS/t.ncx": "<navLabel><a href='%zz'>x</a><content src='..'/><![1>"}):
        parts = PARTS | {"OEBPS/content.opf": opf} | more
        assert decode_book(archive(parts), "n") == decode_book(EPUB, "n")


def test_what_a_browser_hides_is_no_text():
    page = (
        b"<html><body><p hidden>one</p><div style='color: red; DISPLAY : none'><p>two</p></div><p>three</p>"
    )
    found = decode_book(page, "n")
    assert (found.text, found.left_out) == ("three", ("2 hidden parts",))


def test_marks_where_a_word_may_be_broken_hide_no_name():
    assert (
        decode_book(b"<html><body><p>Eliza&shy;beth and Jane</p></body></html>", "n").text
        == "Elizabeth and Jane"
    )


def test_a_page_that_calls_windows_1252_latin_1_keeps_its_quotes():
    page = '<html><meta charset="iso-8859-1"><body><p>\u201cCaf\xe9,\u201d he said \u2014</p></html>'
    assert decode_book(page.encode("cp1252"), "n").text == "\u201cCaf\xe9,\u201d he said \u2014"


@given(st.integers(0, len(EPUB) - 1), st.integers(1, 255))
def test_a_flipped_byte_is_an_error_of_ours_or_harmless(at, by):
    data = bytearray(EPUB)
    data[at] ^= by
    with contextlib.suppress(BookcorefError):
        assert decode_book(bytes(data), "novel.epub").text


@given(st.text(alphabet="<>/pbdivh1 a=\"'&;!-[]\n", max_size=60))
@example("<![1>x")
@example("<h1> <b>a</h1><p>b<h2></h2>")
def test_any_page_is_read(source):
    found = read_html(source)
    assert all(found.text[a:b].strip() for a, b in found.headings)


def test_a_flag_of_encryption_is_seen():
    data = bytearray(EPUB)
    at = data.index(b"PK\x01\x02", 0)
    for place in range(at, len(data) - 4):
        if data[place : place + 4] == b"PK\x01\x02":
            flags = struct.unpack_from("<H", data, place + 8)[0]
            struct.pack_into("<H", data, place + 8, flags | 1)
    with pytest.raises(UsageError, match="encrypted"):
        decode_book(bytes(data), "novel.epub")


def test_an_epub_of_the_sample_story_has_the_tokens_and_chapters_of_its_text():
    plain = read_book(gutenberg_text().encode(), "lamp.txt")
    titles = [heading.title for heading in plain.chapters]
    blocks = [" ".join(block.split()) for block in plain.file.body.text.split("\n\n")]
    tags = ["h2" if any(block in title for title in titles) else "p" for block in blocks]
    shown = [f"<{tag}>{html.escape(block)}</{tag}>" for tag, block in zip(tags, blocks, strict=True)]
    page = f"<html><body>{''.join(shown)}</body></html>"
    parts = PARTS | {"OEBPS/text/a.xhtml": page, "OEBPS/text/b two.xhtml": "<html><body/></html>"}
    found = read_book(archive(parts), "lamp.epub")
    assert found.tokens == plain.tokens
    assert [c.title for c in found.chapters] == titles
    assert len(titles) > 1
