"""TEI P5: with the mentions inside the text (`inline`), or beside a tokenised text (`standoff`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ..books.layout import Chapter, TokenRange
from ..errors import needing
from ..late import etree
from ..shapes import together
from .reading import LaidOutBook

NAMESPACE = "http://www.tei-c.org/ns/1.0"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def tei(r: LaidOutBook) -> bytes:
    """A TEI document of one book: `rs` for mentions, `said` for quotes, `person` for characters.

    Mentions and quotes that cross each other or a paragraph are cut into parts that point to each other
    (`next`, `prev`).
    """
    return _TeiWriter(r, standoff=False).to_bytes()


def standoff(r: LaidOutBook) -> bytes:
    """The same with every token as a `w` with an id, and `span` elements that name the first and the last."""
    return _TeiWriter(r, standoff=True).to_bytes()


@dataclass
class _Interval:
    """Something to mark inside a paragraph: characters [start, end) of the text."""

    start: int
    end: int
    tag: str
    attributes: dict[str, str]
    id: str


class _TeiWriter:
    def __init__(self, r: LaidOutBook, standoff: bool) -> None:
        self.r, self.standoff = r, standoff
        self.parts: dict[str, list[etree._Element]] = {}

        def inside(spans: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
            """The numbers of some stretches in each paragraph, by its first token."""
            ends = ((r.paragraph_of(start), r.paragraph_of(end)) for start, end in spans)
            numbered = enumerate(range(first, last + 1) for first, last in ends)
            return together((r.paragraphs[k].start, number) for number, span in numbered for k in span)

        self.mentions = inside((m.start, m.end) for m in r.annotation.mentions)
        self.quotes = inside((q.start, q.end) for q in r.annotation.quotes)

    def to_bytes(self) -> bytes:
        with needing("export", "lxml", "TEI"):
            root = etree.Element(f"{{{NAMESPACE}}}TEI", nsmap={None: NAMESPACE})
        a = self.r.annotation
        header = self._add(root, "teiHeader")
        file = self._add(header, "fileDesc")
        self._add(self._add(file, "titleStmt"), "title", a.doc_key)
        self._add(self._add(file, "publicationStmt"), "p", "Annotated with bookcoref-data.")
        origin = f"The text is that of {a.source.file}, sha256 {a.source.sha256}." if a.source else a.doc_key
        self._add(self._add(file, "sourceDesc"), "p", origin)
        listed = list(self.r.mentioned())
        if listed:
            people = self._add(self._add(self._add(header, "profileDesc"), "particDesc"), "listPerson")
            for c in listed:
                self._add(self._add(people, "person", **{_XML_ID: f"c{c}"}), "persName", self.r.name(c))
        if self.standoff:
            stand = self._add(root, "standOff")
            marks = [(m.start, m.end, [m.character], self.r.kind(m)) for m in a.mentions]
            said = [(q.start, q.end, [q.speaker, *q.addressees], "speaker" if q.speaker >= 0 else "addressee")
                    for q in a.quotes]  # fmt: skip
            self._spans(stand, "mentions", marks)
            if said:
                self._spans(stand, "quotes", said)
        body = self._add(self._add(root, "text", **{_XML_LANG: "en"}), "body")
        for number, chapter in enumerate(self.r.chapters, 1):
            self._chapter(self._add(body, "div", type="chapter", n=str(number)), chapter)
        # Parts of one mention or quote point to each other
        for name, elements in self.parts.items():
            last = len(elements) - 1
            for n, element in enumerate(elements if last else ()):
                element.set(_XML_ID, f"{name}.{n}")
                if n:
                    element.set("prev", f"#{name}.{n - 1}")
                if n < last:
                    element.set("next", f"#{name}.{n + 1}")
        return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))

    def _add(self, parent: etree._Element, tag: str, text: str = "", **attributes: str) -> etree._Element:
        child: etree._Element = etree.SubElement(parent, f"{{{NAMESPACE}}}{tag}", attributes)
        if text:
            child.text = text
        return child

    def _spans(
        self, stand: etree._Element, kind: str, marks: Sequence[tuple[int, int, list[int], str]]
    ) -> None:
        """Elements for stretches of tokens (first, last, characters, type); white space has no element."""
        group, tokens = self._add(stand, "spanGrp", type=kind), self.r.annotation.book.tokens
        for number, (start, end, people, what) in enumerate(marks):
            inside = [i for i in range(start, end + 1) if tokens[i].strip()] or [end]
            attributes = {_XML_ID: f"{kind[0]}{number}", "from": f"#t{inside[0]}", "to": f"#t{inside[-1]}"}
            if who := " ".join(f"#c{c}" for c in people if c >= 0):
                attributes |= {"ana": who, "type": what}
            self._add(group, "span", **attributes)

    def _chapter(self, div: etree._Element, chapter: Chapter) -> None:
        headings = len(self.r.headings(chapter))
        for p in chapter.paragraphs:
            if not self.r.words(p.start, p.end - 1):
                continue
            element = self._add(div, "head" if len(div) < headings else "p")
            if self.standoff:
                layout, tokens = self.r.layout, self.r.annotation.book.tokens
                inside = [i for i in range(p.start, p.end) if tokens[i].strip()]
                for i, following in zip_longest(inside, inside[1:]):
                    kind = "w" if any(c.isalnum() for c in tokens[i]) else "pc"
                    text = layout.text[layout.starts[i] : layout.ends[i]]
                    word = self._add(element, kind, text, **{_XML_ID: f"t{i}"})
                    if following is not None:
                        word.tail = layout.text[layout.ends[i] : layout.starts[following]]
            else:
                self._marked(element, p)
        if len(div) == 0 or div[-1].tag.endswith("head"):
            self._add(div, "p")

    def _marked(self, element: etree._Element, p: TokenRange) -> None:
        """Write a paragraph with its intervals; those that cross are cut where the outer one ends."""
        at, behind = self.r.layout.starts[p.start], self.r.layout.ends[p.end - 1]
        opened, elements = list[_Interval](), [element]

        def write(to: int) -> None:
            nonlocal at
            text, at = self.r.layout.text[at:to], max(at, to)
            if len(parent := elements[-1]):
                parent[-1].tail = (parent[-1].tail or "") + text or None
            else:
                parent.text = (parent.text or "") + text or None

        def close(until: int) -> None:
            while opened and min(v.end for v in opened) <= until:
                k = min(range(len(opened)), key=lambda n: (opened[n].end, -n))
                write(opened[k].end)
                again = opened[k + 1 :]
                del opened[k:], elements[k + 1 :]
                for v in again:
                    start(v)

        def start(v: _Interval) -> None:
            opened.append(v)
            elements.append(self._add(elements[-1], v.tag, **v.attributes))
            self.parts.setdefault(v.id, []).append(elements[-1])

        for v in sorted(self._intervals(p), key=lambda v: (v.start, -v.end, v.tag != "said")):
            close(v.start)
            write(v.start)
            start(v)
        close(behind)
        write(behind)

    def _intervals(self, p: TokenRange) -> Iterator[_Interval]:
        r, layout = self.r, self.r.layout
        for number in self.quotes.get(p.start, ()):
            q = r.annotation.quotes[number]
            a, b = max(q.start, p.start), min(q.end, p.end - 1)
            if r.words(a, b):
                attributes = {"who": f"#c{q.speaker}"} if q.speaker >= 0 else {}
                if known := [f"#c{c}" for c in q.addressees if c >= 0]:
                    attributes["toWhom"] = " ".join(known)
                yield _Interval(layout.starts[a], layout.ends[b], "said", attributes, f"q{number}")
        for number in self.mentions.get(p.start, ()):
            m = r.annotation.mentions[number]
            a, b = max(m.start, p.start), min(m.end, p.end - 1)
            attributes = {"ref": f"#c{m.character}", "type": r.kind(m)}
            yield _Interval(layout.starts[a], layout.ends[b], "rs", attributes, f"m{number}")
