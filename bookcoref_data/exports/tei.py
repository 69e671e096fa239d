"""TEI P5: with the mentions inside the text (`inline`), or beside a tokenised text (`standoff`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
        # The numbers of the mentions in each paragraph, by its first token
        ends = ((r.paragraph_of(m.start), r.paragraph_of(m.end)) for m in r.annotation.mentions)
        spans = enumerate(range(first, last + 1) for first, last in ends)
        self.inside = together((r.paragraphs[k].start, number) for number, span in spans for k in span)

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
            marks = self._add(stand, "spanGrp", type="mentions")
            for number, m in enumerate(a.mentions):
                start, end = self._words(m.start, m.end)
                self._add(marks, "span", **{
                    _XML_ID: f"m{number}", "from": f"#t{start}", "to": f"#t{end}", "ana": f"#c{m.character}",
                    "type": self.r.kind(m),
                })  # fmt: skip
            if a.quotes:
                said = self._add(stand, "spanGrp", type="quotes")
                for number, q in enumerate(a.quotes):
                    start, end = self._words(q.start, q.end)
                    who = [f"#c{c}" for c in (q.speaker, *q.addressees) if c >= 0]
                    attributes = {_XML_ID: f"q{number}", "from": f"#t{start}", "to": f"#t{end}"}
                    if who:
                        kind = "speaker" if q.speaker >= 0 else "addressee"
                        attributes |= {"ana": " ".join(who), "type": kind}
                    self._add(said, "span", **attributes)
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

    def _chapter(self, div: etree._Element, chapter: Chapter) -> None:
        headings = len(self.r.headings(chapter))
        for p in chapter.paragraphs:
            if not self.r.words(p.start, p.end - 1):
                continue
            element = self._add(div, "head" if len(div) < headings else "p")
            if self.standoff:
                layout, tokens = self.r.layout, self.r.annotation.book.tokens
                last: etree._Element | None = None
                at = 0
                for i in range(p.start, p.end):
                    if not tokens[i].strip():
                        continue
                    if last is not None:
                        last.tail = layout.text[at : layout.starts[i]]
                    kind = "w" if any(c.isalnum() for c in tokens[i]) else "pc"
                    text = layout.text[layout.starts[i] : layout.ends[i]]
                    last, at = self._add(element, kind, text, **{_XML_ID: f"t{i}"}), layout.ends[i]
            else:
                self._marked(element, p)
        if len(div) == 0 or div[-1].tag.endswith("head"):
            self._add(div, "p")

    def _marked(self, element: etree._Element, p: TokenRange) -> None:
        """Write a paragraph with its intervals; those that cross are cut where the outer one ends."""
        first, behind = self.r.layout.starts[p.start], self.r.layout.ends[p.end - 1]
        stack: list[tuple[_Interval, etree._Element]] = []
        at = first

        def write(to: int) -> None:
            nonlocal at
            text = self.r.layout.text[at:to]
            at = max(at, to)
            parent = stack[-1][1] if stack else element
            if not text:
                return
            if len(parent):
                parent[-1].tail = (parent[-1].tail or "") + text
            else:
                parent.text = (parent.text or "") + text

        def close(until: int) -> None:
            while stack and min(v.end for v, _ in stack) <= until:
                k = min(range(len(stack)), key=lambda n: (stack[n][0].end, -n))
                write(stack[k][0].end)
                again = [v for v, _ in stack[k + 1 :]]
                del stack[k:]
                for v in again:
                    start(v)

        def start(v: _Interval) -> None:
            parent = stack[-1][1] if stack else element
            child = self._add(parent, v.tag, **v.attributes)
            self.parts.setdefault(v.id, []).append(child)
            stack.append((v, child))

        for v in sorted(self._intervals(p), key=lambda v: (v.start, -v.end, v.tag != "said")):
            close(v.start)
            write(v.start)
            start(v)
        close(behind)
        write(behind)

    def _intervals(self, p: TokenRange) -> Iterator[_Interval]:
        r, layout = self.r, self.r.layout
        for number, q in enumerate(r.annotation.quotes):
            a, b = max(q.start, p.start), min(q.end, p.end - 1)
            if a <= b and r.words(a, b):
                attributes = {"who": f"#c{q.speaker}"} if q.speaker >= 0 else {}
                if known := [f"#c{c}" for c in q.addressees if c >= 0]:
                    attributes["toWhom"] = " ".join(known)
                yield _Interval(layout.starts[a], layout.ends[b], "said", attributes, f"q{number}")
        for number in self.inside.get(p.start, ()):
            m = r.annotation.mentions[number]
            a, b = max(m.start, p.start), min(m.end, p.end - 1)
            attributes = {"ref": f"#c{m.character}", "type": r.kind(m)}
            yield _Interval(layout.starts[a], layout.ends[b], "rs", attributes, f"m{number}")

    def _words(self, start: int, end: int) -> tuple[int, int]:
        """The span without white space tokens at its ends: those have no element."""
        tokens = self.r.annotation.book.tokens
        while start < end and not tokens[start].strip():
            start += 1
        while end > start and not tokens[end].strip():
            end -= 1
        return start, end
