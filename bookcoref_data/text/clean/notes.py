"""What producers and editors added: credits, notes, illustrations, page numbers, footnotes."""

from __future__ import annotations

import re
from itertools import pairwise

from .headings import is_contents, is_division, is_notes, is_preface, is_title
from .model import Block, Page

_CREDIT = re.compile(
    r"""(?:[Tt]his[ ])?(?:[Ee]-?text[ ]|[Ee]book[ ])?(?:was[ ])?
        (?:[Pp]roduced|[Pp]repared|[Tt]ranscribed|[Ss]canned|[Tt]yped|[Pp]roofread|[Dd]igitized)
        [ ](?:and[ ]\w+[ ])?(?:by|from)\b
      | Special[ ]thanks[ ]are[ ]due
      | An[ ]Anonymous[ ]Volunteer
      | HTML[ ]version
      | Updated[ ]edition
      | Images[ ]of[ ]the[ ]original
      | Note:[ ]Project[ ]Gutenberg
      | Online[ ]Distributed[ ]Proofread
      | (?:Enlarge|Full[ ]Size|Original)\b[^a-z]*$
    """,
    re.X,
)  # fmt: skip
_PROJECT = re.compile(
    r"Project Gutenberg|Gutenberg-tm|pgdp\.net|Distributed\s+Proofread|gutenberg\.(?:org|net)"
)
_END_OF = re.compile(r"(?:The )?End of (?:the )?[A-Z]\w*(?: \w+){0,8}\.(?: This is the last .*)?$", re.S)
_CREDIT_BLOCKS = 12  # credits stand among the first and the last blocks

_NOTE_MARK = re.compile(
    r"\W{0,12}(?:Transcriber|TRANSCRIBER|Transcription|Editor['’]s Note: It has|Producer['’]s note)"
)
_NOTE_TITLE = re.compile(r"\W{0,12}Transcri(?:ber|ption)\w*(?:['’]s?)?\s+(?:end\s?)?notes?\W*$", re.I)
_ILLUSTRATION = re.compile(
    r"[ \t]*\[(?:illustrations?|picture|image|frontispiece|map|music)\b(?=[^\]\n]{0,2}[:\]\s])", re.I
)
_PAGE = re.compile(
    r"[ \t]*(?:\[p(?:ages?|g\.?|\.)?[ ]?\d{1,4}\]|\{p?g?\.? ?\d{1,4}\}"
    r"|\d{1,4}\)|p(?:age|\.) ?\d{1,4}\.?)[ \t]*$",
    re.I,
)
_PAGE_INLINE = re.compile(r"[ \t]*(?:\[(?:pg|page|p)\.? ?\d{1,4}\]|\{(?:pg|page|p)\.? ?\d{1,4}\})", re.I)
_FOOTNOTE = re.compile(r"\s*\[(?:Foot)?note\b ?:?\s?([\w*†‡]{0,4})", re.I)
_NUMBERED_NOTE = re.compile(r"[ \t]*[\[({](\d{1,4}|[A-Z]|\*{1,3}|†|‡)[\])}][^\S\n]*(?=\S)")
_STAR_NOTE = re.compile(r"[ \t]*(\*{1,3}|†|‡) ?(?=[A-Za-z“\"‘'_(])")
_LABEL = re.compile(r"(?:(?<=[\w.,;:!?”’\"')_*]) ?|(?<=\n))[\[{(](\d{1,4}|[A-Z]|\*{1,3}|†)[\]})]")
_REFERENCE = re.compile(r"[ ]?(?:\{\d{1,3}\}|<\d{1,3}>)")  # to notes at the end of a poem or of the book
_GLUED = re.compile(r"(?<=[^\W\d_])\d{1,3}(?![\w])|(?<=[^\W\d][.,;:!?”’])\d{1,3}(?![\w.,]\d|\w)")
_STAR = re.compile(r"(?<=[\w.,;:!?”’\"'])(\*{1,3}|†|‡)(?=[\s.,;:!?”’\"')]|$)", re.M)
_BROKEN = re.compile(r"[.!?:;”\"’')\]*_—-]\s*$")


def cut_credits(page: Page) -> None:
    """Lines of producers at both ends, and every paragraph that names the project."""
    blocks = page.blocks()
    ends = blocks[:_CREDIT_BLOCKS] + blocks[-_CREDIT_BLOCKS:]
    for block in ends:
        if _CREDIT.match(block.line) and len(block.lines) <= 12:
            page.cut("credits", block.start, block.end)
    for block in blocks:
        if _PROJECT.search(block.text):
            page.cut("credits", block.start, block.end)
    if blocks and _END_OF.match(blocks[-1].text.strip()):
        page.cut("credits", blocks[-1].start, blocks[-1].end)


def cut_transcriber_notes(page: Page) -> None:
    """A bracketed note to its closing bracket; a titled note to the next wide gap, at the end to the end."""
    blocks = page.blocks()
    for index, block in enumerate(blocks):
        if page.marks[block.start] or not _NOTE_MARK.match(block.lines[0]):
            continue
        if block.text.lstrip().startswith("["):
            end = _closing(page, block.text.index("[") + block.start)
        elif block.start > page.start + 0.85 * (page.end - page.start):
            end = page.end
        elif _NOTE_TITLE.match(block.line):
            end = _titled_note_end(blocks, index)
        else:
            end = block.end
        page.cut("transcriber-note", block.start, end)


def _titled_note_end(blocks: list[Block], index: int) -> int:
    """A title is followed by at least one block, then by all up to a wide gap or a heading."""
    end = blocks[index].end
    for later, block in enumerate(blocks[index + 1 : index + 40]):
        named = is_division(block) or is_contents(block) or is_preface(block)
        if (later and block.gap >= 3) or named:
            break
        end = block.end
    return end


def cut_illustrations(page: Page) -> None:
    """`[Illustration: caption]` to its closing bracket, wherever it begins a line."""
    for found in re.finditer(rf"^{_ILLUSTRATION.pattern}", page.text, re.M | re.I):
        if page.start <= found.start() < page.end and not page.marks[found.start()]:
            at = page.text.index("[", found.start())
            _cut_and_join(page, "illustration", found.start(), _closing(page, at))


def cut_page_numbers(page: Page) -> None:
    """Marks such as [Pg 12] and {p. 12}; lines such as `12)` when ten or more rise through the book."""
    for found in _PAGE_INLINE.finditer(page.text, page.start, page.end):
        page.cut("page-number", *found.span())
    numbered = [b for b in page.blocks() if len(b.lines) == 1 and _PAGE.match(b.text)]
    values = [_number(block.text) for block in numbered]
    rising = sum(a < b for a, b in pairwise(values))
    if len(values) >= 10 and rising >= 0.9 * (len(values) - 1):
        for block in numbered:
            _cut_and_join(page, "page-number", block.start, block.end)


def cut_footnotes(page: Page) -> None:
    """Bodies of footnotes, then the marks in the text whose label has a body."""
    labels: set[str] = set()
    starred = False
    section = False
    # A note in Gutenberg's own form may stand inside a paragraph and hold several.
    for found in re.finditer(r"^[ \t]*\[Footnote\b", page.text[: page.end], re.M | re.I):
        if found.start() >= page.start and not page.marks[found.start()]:
            if note := _FOOTNOTE.match(page.text, found.start()):
                labels.add(note.group(1))
            at = page.text.index("[", found.start())
            _cut_and_join(page, "footnote", found.start(), _closing(page, at))
    _cut_note_sections(page)
    marks = {m.group(1) for m in _LABEL.finditer(page.text, page.start, page.end)}
    previous: Block | None = None
    for block in page.blocks():
        if is_division(block) and block.gap >= 2:
            section = False
        elif is_notes(block) and re.match(r"foot", block.line, re.I):
            section = True
        body = _NUMBERED_NOTE.match(block.text)
        star = _STAR_NOTE.match(block.text)
        if section or (body and body.group(1) in marks):
            _cut_and_join(page, "footnote", block.start, block.end)
            labels.update(_labels_of(block))
        elif star and previous and _marked(page, previous, star.group(1)):
            _cut_and_join(page, "footnote", block.start, block.end)
            starred = True
        else:
            previous = block
    _cut_labels(page, labels)
    _cut_references(page)
    if starred:
        for found in _STAR.finditer(page.text, page.start, page.end):
            page.cut("footnote", *found.span())


def _cut_note_sections(page: Page) -> None:
    """Sections titled "Notes to the Knight's Tale" between the parts of a book, up to the next title."""
    blocks = page.blocks()
    inside = False
    for block in blocks:
        if block.gap >= 2 and is_notes(block) and re.match(r"notes? (?:to|on)\b", block.line, re.I):
            inside = True
        elif inside and block.gap >= 2 and (is_division(block) or (is_title(block) and block.line.isupper())):
            inside = False
        if inside:
            page.cut("footnote", block.start, block.end)


def _cut_references(page: Page) -> None:
    """Numbers that point to notes elsewhere: {12} and <12>; "read.231" if the numbers only rise."""
    for pattern, least in ((_REFERENCE, 3), (_GLUED, 20)):
        found = list(pattern.finditer(page.text, page.start, page.end))
        numbers = [_number(m.group()) for m in found]
        rising = sum(a < b for a, b in pairwise(numbers))
        if len(found) >= least and (pattern is _REFERENCE or rising >= 0.95 * (len(found) - 1)):
            for m in found:
                page.cut("footnote", *m.span())


def _number(text: str) -> int:
    """The first number in a text that holds one."""
    return int(re.findall(r"\d+", text)[0])


def _labels_of(block: Block) -> set[str]:
    return {m.group(1) for line in block.lines if (m := _NUMBERED_NOTE.match(line))}


def _marked(page: Page, block: Block, star: str) -> bool:
    """Whether a paragraph shortly before carries the mark of the note."""
    before = page.text[max(page.start, block.end - 4000) : block.end]
    return any(m.group(1) == star for m in _STAR.finditer(before))


def _cut_labels(page: Page, labels: set[str]) -> None:
    for found in _LABEL.finditer(page.text, page.start, page.end):
        bracket = found.group().lstrip()[0]
        if found.group(1) in labels and bracket in "[{":
            page.cut("footnote", *found.span())


def _closing(page: Page, at: int) -> int:
    """Just behind the bracket that closes the one at `at`; the end of its block when none does."""
    depth = 0
    for found in re.compile(r"[\[\]]").finditer(page.text, at, min(page.end, at + 20_000)):
        depth += 1 if found.group() == "[" else -1
        if depth == 0:
            return found.end()
    end = page.text.find("\n\n", at, page.end)
    return end if end > 0 else page.end


def _cut_and_join(page: Page, kind: str, start: int, end: int) -> None:
    """Cut a piece that stands alone; if it broke a paragraph in two, join the halves by one line end.

    A paragraph was broken when the text before ends without a full stop or quote and the text behind
    goes on in lower case.
    """
    page.cut(kind, start, end)
    before, behind = start, end
    while before > page.start and (page.text[before - 1].isspace() or page.marks[before - 1]):
        before -= 1
    while behind < page.end and (page.text[behind].isspace() or page.marks[behind]):
        behind += 1
    if before == page.start or behind == page.end:
        return
    if page.text[behind].islower() and not _BROKEN.search(page.text[max(0, before - 3) : before]):
        breaks = page.text.find("\n", before, behind)
        page.cut(kind, max(breaks, before) + 1, behind)
