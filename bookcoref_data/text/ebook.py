"""Books in EPUB, HTML and Word files to plain text: blocks a blank line apart, headings by their markup.

    decode_book(data, "novel.epub").text

Notes, page numbers, pictures, tables of contents and scripts are left out, and counted in the result. The
files may be hostile: sizes are bounded before anything is unpacked, no entity is expanded, nothing outside
the archive is read.
"""

import codecs
import io
import lzma
import posixpath
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from html.parser import HTMLParser
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ..errors import UsageError, counted
from ..words import letters_of, word_set
from .decode import Decoded, composed, decode
from .markers import FORMS, markup_of

MOST_FILES = 10_000
MOST_BYTES = 200 * 2**20
"""Files in an archive, and bytes of all of them unpacked: fifty times the largest novel."""

_SIGNS = [(sign.encode("latin-1"), what, hint) for sign, (what, hint) in FORMS["signs"].items()]
_DAMAGE = (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BLOCKS = word_set("""
    address article aside blockquote body br caption center dd div dl dt figcaption figure footer form h1 h2
    h3 h4 h5 h6 header hr html li main nav ol p pre section table tbody td tfoot th thead tr ul
""")
_VOID = word_set("area base br col embed hr img input link meta param source track wbr")
_UNREAD = {"head": "", "script": "", "style": "", "svg": "pictures", "math": "formulas",
           "nav": "tables of contents", "figcaption": "captions"}  # fmt: skip
_LEFT_OUT = [(re.compile(rf"\b(?:{marks})\b", re.I), what) for what, marks in FORMS["ebook"].items()]
_SCRAMBLED_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_HIDDEN = re.compile(r"\bdisplay\s*:\s*none\b", re.I)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.I)


def decode_book(data: bytes, name: str) -> Decoded:
    """The text of a book file in any form that is read: plain text, EPUB 2 and 3, HTML, Word (.docx).

    Raises UsageError: the file is something else (it is named), encrypted, damaged or larger than the bounds.
    DataError: as `decode`.
    """
    # A file that is known to hold no text of a book is refused by what it is
    for sign, what, hint in _SIGNS:
        if data.startswith(sign):
            raise _refused(name, what, hint)
    if data[60:68] == b"BOOKMOBI":
        raise _refused(name, "a Kindle book (.mobi)", "convert it to EPUB first, for instance with Calibre")
    if data.startswith(b"PK\x03\x04"):
        try:
            archive = zipfile.ZipFile(io.BytesIO(data))
        except (*_DAMAGE, OverflowError, IndexError) as error:
            raise _refused(name, f"a damaged archive: {error}", "fetch the file again") from error
        entries = archive.infolist()
        size = sum(entry.file_size for entry in entries)
        if len(entries) > MOST_FILES or size > MOST_BYTES:
            held = f"{len(entries):,} files of {size:,} bytes in all"
            raise _refused(name, held, f"at most {MOST_FILES:,} files of {MOST_BYTES:,} bytes are read")
        names = set(archive.namelist())
        if "META-INF/container.xml" in names:
            return _epub(archive, name)
        if "word/document.xml" in names:
            return _docx(archive, name)
        kinds = {"content.xml": "an OpenDocument file (.odt)", "xl/workbook.xml": "an Excel workbook"}
        what = next((kind for part, kind in kinds.items() if part in names), "a ZIP archive")
        cure = "save it as plain text (UTF-8)" if what != "a ZIP archive" else "unpack it first"
        raise _refused(name, what, cure)
    found = decode(data, name)
    return read_html(_html_text(data, name)) if markup_of(found.text) == "HTML" else found


def _refused(name: str, what: str, hint: str = "") -> UsageError:
    expected, hint = "plain text, EPUB, HTML or Word (.docx)", hint or "give the book's text file"
    return UsageError(f"{name} is not the text of a book", expected=expected, found=what, hint=hint)


# -- archives -----------------------------------------------------------------------------------------------


def _docx(archive: zipfile.ZipFile, name: str) -> Decoded:
    """The paragraphs of a Word document; what was deleted in it, and notes, are not its text."""
    part = "word/document.xml"
    writer, waiting = _BlockWriter(), [_xml(_part(archive, part, name), part, name)]
    while waiting:
        paragraph, inner = waiting.pop(), list[Element]()
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        kind = (style.get(f"{_W}val") or "") if style is not None else ""
        writer.close(heading=bool(re.match(r"(?i)heading|title$|berschrift", kind)))
        for node in _own_nodes(paragraph, inner):
            tag = _local(node)
            if tag == "t":
                writer.write(node.text or "")
            elif tag in ("tab", "noBreakHyphen"):
                writer.write(" " if tag == "tab" else "-")
            elif tag in ("br", "cr"):
                writer.line()
            elif tag in ("footnoteReference", "endnoteReference"):
                writer.left_out["notes"] += 1
            elif tag in ("drawing", "pict"):
                writer.left_out["pictures"] += 1
        waiting += reversed(inner)
    return writer.done("Word")


def _own_nodes(element: Element, inner: list[Element]) -> Iterator[Element]:
    """The nodes of a paragraph once each; paragraphs in it (text boxes) go into `inner`. What was moved away
    or is there for old programs is said elsewhere."""
    waiting = [*reversed(element)]
    while waiting:
        node = waiting.pop()
        if (tag := _local(node)) == "p":
            inner.append(node)
        elif tag not in ("moveFrom", "Fallback"):
            yield node
            waiting += reversed(node)


def _part(archive: zipfile.ZipFile, part: str, name: str) -> bytes:
    """One file of an archive; at most as many bytes as its directory says."""
    try:
        entry = archive.getinfo(part)
        if entry.flag_bits & 1:
            raise _refused(name, "an encrypted archive", "only books without copy protection can be read")
        with archive.open(entry) as stream:
            content = stream.read(entry.file_size + 1)
    except KeyError as error:
        raise _refused(name, f"an archive without its part {part}", "fetch the file again") from error
    except _DAMAGE as error:
        raise _refused(name, f"a damaged archive: {part}: {error}", "fetch the file again") from error
    if len(content) > entry.file_size:
        raise _refused(name, f"an archive whose part {part} is larger than it says", "fetch the file again")
    return content


def _xml(content: bytes, part: str, name: str) -> Element:
    if b"<!ENTITY" in content:
        raise _refused(name, f"{part} declares entities", "they are never expanded")
    try:
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise _refused(name, f"{part} is no sound XML: {error}", "fetch the file again") from error


def _epub(archive: zipfile.ZipFile, name: str) -> Decoded:
    """The documents of an EPUB in reading order, without its own navigation."""
    if "META-INF/encryption.xml" in archive.namelist():
        # Fonts may be scrambled; a book may not
        root = _xml(_part(archive, "META-INF/encryption.xml", name), "META-INF/encryption.xml", name)
        schemes = [e.get("Algorithm", "") for e in root.iter() if _local(e) == "EncryptionMethod"]
        if not set(schemes) <= {*_SCRAMBLED_FONTS}:
            raise _refused(name, "an encrypted EPUB", "only books without copy protection can be read")
    container = _xml(_part(archive, "META-INF/container.xml", name), "META-INF/container.xml", name)
    place = next((e.get("full-path", "") for e in container.iter() if _local(e) == "rootfile"), "")
    package = _xml(_part(archive, place, name), place, name)
    items = {e.get("id"): e for e in package.iter() if _local(e) == "item"}
    order = [e.get("idref") for e in package.iter() if _local(e) == "itemref"]
    parts = [items[i] for i in order if i in items]

    def path(item: Element) -> str:
        address = _unquoted((item.get("href") or "").split("#")[0])
        return posixpath.normpath(posixpath.join(posixpath.dirname(place), address))

    contents = _Contents()
    for item in items.values():
        listed = "nav" in (item.get("properties") or "").split() or "ncx" in (item.get("media-type") or "")
        if listed and path(item) in archive.namelist():
            contents.read_table(path(item), _html_text(_part(archive, path(item), name), name))
    writer, others = _BlockWriter(), 0
    for item in parts:
        if "nav" in (item.get("properties") or "").split():
            continue
        if (item.get("media-type") or "").lower() not in _PAGES:
            others += 1
            continue
        page = _html_text(_part(archive, path(item), name), f"{name}: {path(item)}")
        writer.labels, writer.page = contents.labels[path(item)], writer.page + 1
        _PageReader(writer).read(page)
        writer.close()
    missing = len(order) - len(parts)
    writer.left_out |= {"parts that the reading order names and the file lacks": missing}
    writer.left_out |= {"parts that are no page": others}
    made = writer.done("EPUB")
    if not made.text.strip():
        raise _refused(name, "an EPUB whose reading order has no text", "fetch the file again")
    return made


def _unquoted(address: str) -> str:
    """An address with its %20 and the like as characters."""
    plain = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), address.encode())
    return plain.decode("utf-8", "replace")


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


# -- HTML ---------------------------------------------------------------------------------------------------


def _html_text(data: bytes, name: str) -> str:
    """The characters of an HTML file: by its mark, else as it declares, else as plain text is decoded."""
    declared = _DECLARED.search(data[:2048])
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            known = codecs.lookup(declared[1].decode("ascii")).name
            if known not in ("iso8859-1", "ascii"):  # so pages in Windows-1252 call themselves, too
                return data.decode(known)
        except (LookupError, UnicodeDecodeError):
            pass  # a wrong declaration is common: the bytes decide
    return decode(data, name).text


def read_html(source: str) -> Decoded:
    """The text of a page: blocks a blank line apart, white space as a browser shows it."""
    _PageReader(writer := _BlockWriter()).read(source)
    return writer.done("HTML")


class _BlockWriter:
    """Text that grows by blocks, page by page. `labels` are the letters of what a table of contents calls
    places of the page: such blocks are headings."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.apart: list[tuple[str, list[str]]] = []
        self._blocks: list[tuple[str, int]] = []  # texts; of headings with the number of their page, else 0
        self._now: list[str] = []
        self._heading = False
        self.labels: Container[str] = ()
        self.page = 1
        self.linked = False  # whether a link leads away from the block, as in a table of contents

    def write(self, text: str, *, plain: bool = False) -> None:
        """Add characters to the block; `plain` keeps line ends. Marks where a word may break are no text."""
        text = text.replace("\xad", "")
        self._now.append(text if plain else re.sub(r"[ \t\n\r\f]+", " ", text))

    def line(self) -> None:
        self._now.append("\n")

    def close(self, *, heading: bool = False) -> None:
        """End the block; `heading` is what the next one is."""
        text = re.sub(r" *\n *", "\n", re.sub(r" {2,}", " ", composed("".join(self._now)))).strip()
        text = re.sub(r"\n{2,}", "\n", text)
        if text:
            named = not self.linked and letters_of(text) in self.labels
            self._blocks.append((text, self.page if self._heading or named else 0))
        self._now, self._heading, self.linked = [], heading, False

    def done(self, form: str) -> Decoded:
        """All blocks; headings that follow each other on a page ("CHAPTER I", "The Ferry") are one."""
        self.close()
        headings: list[tuple[int, int]] = []
        at = before = 0
        for text, page in self._blocks:
            if page and page == before:
                headings[-1] = headings[-1][0], at + len(text)
            elif page:
                headings.append((at, at + len(text)))
            at, before = at + len(text) + 2, page
        text = "\n\n".join(text for text, _ in self._blocks)
        notes = (counted(count, kind) for kind, count in sorted(self.left_out.items()) if kind and count)
        apart = ((kind, "".join(said)) for kind, said in self.apart)
        return Decoded(text, form, (), tuple(headings), tuple(notes), tuple(apart))


class _Reader(HTMLParser):
    def read(self, source: str) -> None:
        self.feed(source)
        self.close()

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """ "<![if x]>" is a comment; the library's own reading of it fails on "<![1>"."""
        return self.parse_bogus_comment(i, report)


class _Contents(_Reader):
    """The entries of an EPUB's tables of contents (nav, NCX), as letters, by the part that they lead to."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.labels: defaultdict[str, set[str]] = defaultdict(set)

    def read_table(self, place: str, source: str) -> None:
        self._folder, self._said, self._leads = posixpath.dirname(place), list[str](), ""
        self.read(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("a", "navlabel"):
            self._said = []
        if tag in ("a", "content"):
            self._leads = next((value or "" for name, value in attrs if name in ("href", "src")), "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "content") and (label := letters_of("".join(self._said))):
            address = _unquoted(self._leads.split("#")[0])
            self.labels[posixpath.normpath(posixpath.join(self._folder, address))].add(label)

    def handle_data(self, data: str) -> None:
        self._said.append(data)


class _PageReader(_Reader):
    """Walks the tags of a page. An element that is left out is skipped to its end."""

    def __init__(self, writer: _BlockWriter) -> None:
        super().__init__(convert_charrefs=True)
        self.writer = writer
        self._open: list[str] = []
        self._skipped = 0  # how many elements were open when the one that is left out began, plus one
        self._plain = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            if self._skipped:
                return
            if tag == "br":
                self.writer.line()
            elif tag == "hr":
                self.writer.close()
            elif tag == "img":
                text = next((value or "" for name, value in attrs if name == "alt"), "")
                if len(text) == 1 and text.isalpha():
                    self.writer.write(text)  # a letter drawn large at the beginning of a chapter
                else:
                    self.writer.left_out["pictures"] += 1
            return
        if tag in ("p", "li", "td", "dt", "dd") and self._open and self._open[-1] == tag:
            self.handle_endtag(tag)  # HTML may leave the end of these out
        self._open.append(tag)
        if self._skipped:
            self.writer.apart[-1][1].append(" " * (tag in _BLOCKS))
            return
        kind = _UNREAD.get(tag)
        if kind is None:
            # Type, role or class may say that it is no text of the book.
            said = " ".join(value or "" for name, value in attrs if name in ("epub:type", "role", "class"))
            kind = next((why for pattern, why in _LEFT_OUT if pattern.search(said)), None) if said else None
            if any(n == "hidden" or (n == "style" and _HIDDEN.search(value or "")) for n, value in attrs):
                kind = "hidden parts"
        if kind is not None:
            self.writer.left_out[kind] += 1
            self.writer.apart.append((kind, []))
            self._skipped = len(self._open)
            if tag in _BLOCKS:
                self.writer.close()
            return
        self._plain += tag == "pre"
        self.writer.linked |= tag == "a" and any(name == "href" for name, _ in attrs)
        if tag in _BLOCKS:
            self.writer.close(heading=re.fullmatch(r"h[1-6]", tag) is not None)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            return
        while self._open:
            closed = self._open.pop()
            if self._skipped > len(self._open):
                self._skipped = 0
            elif not self._skipped:
                self._plain -= closed == "pre"
                if closed in _BLOCKS:
                    self.writer.close()
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._skipped:
            self.writer.apart[-1][1].append(data)
        else:
            self.writer.write(data, plain=self._plain > 0)
