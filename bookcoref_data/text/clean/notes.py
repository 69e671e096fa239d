"""What producers and editors added: credits, notes, illustrations, page numbers, footnotes."""

from __future__ import annotations

import re
from itertools import pairwise

from .headings import is_contents, is_division, is_notes, is_preface, is_title
from .model import Block, Draft

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
_PRODUCERS = re.compile(
    r"proofr|volunteer|scann|\bwww\.|https?:|@|\bimages?\b|\bHTML\b|e-?text|e-?book", re.I
)
_END_OF = re.compile(
    r"(?:The )?End of (?:[Tt]he )?[A-Z][^\W_]*(?:[ ,:'’-]+[^\W_]+){0,10}\.?(?: This is the last .*)?$", re.S
)
_CREDIT_BLOCKS = 12  # credits stand among the first and the last blocks

_NOTE_WORDS = r"(?:end\s?)?(?:notes?|comments?|corrections?|remarks?|amendments?|errata|details?|changes)"
_TRANSCRIBER = (
    rf"transcri(?:ber|ption)s?(?:['’]s?)?\s+{_NOTE_WORDS}\b|transcriber['’]?s?:"
    r"|notes? (?:de (?:la )?transcription|du transcripteur|sur la transcription)"
    r"|(?:anmerkung(?:en)?|hinweise?|bemerkung(?:en)?) "
    r"(?:zur transkription|des (?:bearbeiters|transkribenten))"
)
_NOTE_MARK = re.compile(rf"\W{{0,12}}(?:{_TRANSCRIBER}|Editor['’]s Note: It has|Producer['’]s note)", re.I)
_NOTE_TITLE = re.compile(rf"\W{{0,12}}(?:{_TRANSCRIBER})\W*$", re.I)
_LONG_NOTE = 6000
_NOTE_SHARE = 0.06  # of the text: a note near the end that goes on for longer is not one note
_ILLUSTRATION = re.compile(
    r"\[(?:illustrations?|picture|image|frontispiece|map|music)\b(?=[^\]\n]{0,2}[:\]\s])", re.I
)
_PAGE = re.compile(
    r"[ \t]*(?:\[p(?:ages?|g\.?|\.)?[ ]?\d{1,4}\]|\{p?g?\.? ?\d{1,4}\}"
    r"|\d{1,4}\)|p(?:age|\.) ?\d{1,4}\.?)[ \t]*$",
    re.I,
)
_PAGE_INLINE = re.compile(r"[\[{](?:pg|page|p)\.? ?\d{1,4}[\]}]", re.I)
_FOOTNOTE = re.compile(
    r"\[(?:footnote\b ?:?\s?([\w*†‡]{0,4})|(?:note|fu(?:ß|ss)note|anmerkung) (\d{1,4}|[A-Z*]): )", re.I
)
# Made from hypertext: "66 (return) [ A mask.]", with the number of the mark that leads back to the text.
_RETURN_NOTE = re.compile(
    r"^(?:[ \t]*(?:foot|end)?notes?:?\s+)?[ \t]*(\d{1,4}) \(return\)\s*(?=\[)", re.M | re.I
)
_NUMBERED_NOTE = re.compile(r"[ \t]*[\[({](\d{1,4}|[A-Z]|\*{1,3}|†|‡)[\])}][^\S\n]*(?=\S)")
_STAR_NOTE = re.compile(r"[ \t]*(\*{1,3}|†|‡) ?(?=[A-Za-z“\"‘'_(])")
# Patterns begin with the rare character and look behind from there: a search then skips to it, where one that
# begins with an optional blank or a look-behind tries every place of the book.
_LABEL = re.compile(
    r"[\[{(](?:(?<=[\w.,;:!?”’\"')_*][\[{(])|(?<=[\w.,;:!?”’\"')_*] [\[{(])|(?<=\n[\[{(]))"
    r"(\d{1,4}|[A-Z]|\*{1,3}|†)[\]})]"
)
_REFERENCE = re.compile(r"[{<]\d{1,3}[}>]")  # to notes at the end of a poem or of the book
_GLUED = re.compile(
    r"[0-9](?:(?<=[^\W\d_][0-9])\d{0,2}(?!\w)|(?<=[^\W\d][.,;:!?”’][0-9])\d{0,2}(?![\w.,]\d|\w))"
)
_STAR = re.compile(r"(?<=[\w.,;:!?”’\"'])(\*{1,3}|†|‡)(?=[\s.,;:!?”’\"')]|$)", re.M)
_BROKEN = re.compile(r"[.!?:;”\"’')\]*_—-]\s*$")


def cut_credits(draft: Draft) -> None:
    """Lines of producers at both ends, and every paragraph that names the project."""
    blocks = draft.blocks()
    ends = blocks[:_CREDIT_BLOCKS] + blocks[-_CREDIT_BLOCKS:]
    for block in ends:
        if _CREDIT.match(block.line) and len(block.lines) <= 12 and _names_producers(block):
            draft.cut("credits", block.start, block.end)
    for block in blocks:
        if _PROJECT.search(block.text):
            draft.cut("credits", block.start, block.end)
    if blocks and _END_OF.match(blocks[-1].text.strip()):
        draft.cut("credits", blocks[-1].start, blocks[-1].end)


def _names_producers(block: Block) -> bool:
    """Whether a block that opens like a credit names people or tools; "Prepared by long years" does not."""
    words = block.text.split()
    raised = sum(not word[0].islower() for word in words)
    return bool(_PRODUCERS.search(block.text)) or raised >= 0.5 * len(words)


def cut_transcriber_notes(draft: Draft) -> None:
    """A bracketed note to its closing bracket; a titled note to the next wide gap, at the end to the end."""
    blocks = draft.blocks()
    for index, block in enumerate(blocks):
        if draft.marks[block.start] or not _NOTE_MARK.match(block.lines[0]):
            continue
        if block.text.lstrip().startswith("["):
            end = _closing(draft, block.text.index("[") + block.start)
        elif _is_last(draft, blocks, index):
            end = draft.end
        elif _NOTE_TITLE.match(block.line):
            end = _titled_note_end(blocks, index)
        else:
            end = block.end
        draft.cut("transcriber-note", block.start, end)


def _is_last(draft: Draft, blocks: list[Block], index: int) -> bool:
    """Whether the note at `index` closes the file: near its end, and no chapter behind it."""
    size = draft.end - draft.start
    left = draft.end - blocks[index].start
    if left > 0.15 * size or (left > _NOTE_SHARE * size and left > _LONG_NOTE):
        return False
    return not any(is_division(block) and block.gap >= 2 for block in blocks[index + 1 :])


def _titled_note_end(blocks: list[Block], index: int) -> int:
    """A title is followed by at least one block, then by all up to a wide gap or a heading."""
    end = blocks[index].end
    for later, block in enumerate(blocks[index + 1 : index + 40]):
        named = is_division(block) or is_contents(block) or is_preface(block)
        if (later and block.gap >= 3) or named:
            break
        end = block.end
    return end


def cut_illustrations(draft: Draft) -> None:
    """`[Illustration: caption]` to its closing bracket, wherever it begins a line."""
    for found in _ILLUSTRATION.finditer(draft.text, draft.start, draft.end):
        line = draft.text.rfind("\n", 0, found.start()) + 1
        if not draft.marks[found.start()] and not draft.text[line : found.start()].strip():
            _cut_and_join(draft, "illustration", line, _closing(draft, found.start()))


def cut_page_numbers(draft: Draft) -> None:
    """Marks such as [Pg 12] and {p. 12}; lines such as `12)` when ten or more rise through the book."""
    for found in _PAGE_INLINE.finditer(draft.text, draft.start, draft.end):
        blanks = len(draft.text[max(0, found.start() - 8) : found.start()])
        blanks -= len(draft.text[max(0, found.start() - 8) : found.start()].rstrip(" \t"))
        draft.cut("page-number", found.start() - blanks, found.end())
    numbered = [b for b in draft.blocks() if b.end - b.start <= 20 and _PAGE.match(b.text)]
    values = [_number(block.text) for block in numbered]
    rising = sum(a < b for a, b in pairwise(values))
    if len(values) >= 10 and rising >= 0.9 * (len(values) - 1):
        for block in numbered:
            _cut_and_join(draft, "page-number", block.start, block.end)


def cut_footnotes(draft: Draft) -> None:
    """Bodies of footnotes, then the marks in the text whose label has a body."""
    labels = _cut_bracketed_notes(draft) | _cut_return_notes(draft)
    _cut_note_sections(draft)
    further, starred = _cut_note_paragraphs(draft)
    _cut_labels(draft, labels | further)
    _cut_references(draft)
    if starred:
        for found in _STAR.finditer(draft.text, draft.start, draft.end):
            draft.cut("footnote", *found.span())


def _cut_bracketed_notes(draft: Draft) -> set[str]:
    """Cut `[Footnote 1: ...]`, which may stand inside a paragraph and hold several; gives their labels."""
    labels: set[str] = set()
    for found in _FOOTNOTE.finditer(draft.text, draft.start, draft.end):
        if draft.marks[found.start()]:
            continue
        labels.add(found.group(1) or found.group(2) or "")
        line = draft.text.rfind("\n", 0, found.start()) + 1
        end = _closing(draft, found.start())
        if not draft.text[line : found.start()].strip():
            _cut_and_join(draft, "footnote", line, end)
        else:
            draft.cut("footnote", found.start() - (draft.text[found.start() - 1] == " "), end)
    return labels


def _cut_return_notes(draft: Draft) -> set[str]:
    """Cut `66 (return) [ ...]`; gives the labels."""
    labels: set[str] = set()
    if "(return)" in draft.text:
        for back in _RETURN_NOTE.finditer(draft.text, draft.start, draft.end):
            labels.add(back.group(1))
            draft.cut("footnote", back.start(), _closing(draft, back.end()))
    return labels


def _cut_note_paragraphs(draft: Draft) -> tuple[set[str], bool]:
    """Cut paragraphs that are notes; gives their labels, and whether a note had a star."""
    labels: set[str] = set()
    starred = section = False
    marks = {m.group(1) for m in _LABEL.finditer(draft.text, draft.start, draft.end)}
    previous: Block | None = None
    for block in draft.blocks():
        if is_division(block) and block.gap >= 2:
            section = False
        elif is_notes(block) and re.match(r"foot", block.line, re.I):
            section = True
        body = _NUMBERED_NOTE.match(block.text)
        star = _STAR_NOTE.match(block.text)
        if section or (body and body.group(1) in marks):
            labels |= _labels_of(block)
        elif star and previous and _marked(draft, previous, star.group(1)):
            starred = True
        else:
            previous = block
            continue
        _cut_and_join(draft, "footnote", block.start, block.end)
    return labels, starred


def _cut_note_sections(draft: Draft) -> None:
    """Sections titled "Notes to the Knight's Tale" between the parts of a book, up to the next title."""
    blocks = draft.blocks()
    inside = False
    for block in blocks:
        if block.gap >= 2 and is_notes(block) and re.match(r"notes? (?:to|on)\b", block.line, re.I):
            inside = True
        elif inside and block.gap >= 2 and (is_division(block) or (is_title(block) and block.line.isupper())):
            inside = False
        if inside:
            draft.cut("footnote", block.start, block.end)


def _cut_references(draft: Draft) -> None:
    """Numbers that point to notes elsewhere: {12} and <12>; "read.231" if the numbers only rise."""
    for pattern, least in ((_REFERENCE, 3), (_GLUED, 20)):
        found = list(pattern.finditer(draft.text, draft.start, draft.end))
        numbers = [_number(m.group()) for m in found]
        rising = sum(a < b for a, b in pairwise(numbers))
        if len(found) >= least and (pattern is _REFERENCE or rising >= 0.95 * (len(found) - 1)):
            for m in found:
                blank = pattern is _REFERENCE and draft.text[m.start() - 1 : m.start()] == " "
                draft.cut("footnote", m.start() - blank, m.end())


def _number(text: str) -> int:
    """The first number in a text that holds one."""
    return int(re.findall(r"\d+", text)[0])


def _labels_of(block: Block) -> set[str]:
    return {m.group(1) for line in block.lines if (m := _NUMBERED_NOTE.match(line))}


def _marked(draft: Draft, block: Block, star: str) -> bool:
    """Whether a paragraph shortly before carries the mark of the note."""
    before = draft.text[max(draft.start, block.end - 4000) : block.end]
    return any(m.group(1) == star for m in _STAR.finditer(before))


def _cut_labels(draft: Draft, labels: set[str]) -> None:
    for found in _LABEL.finditer(draft.text, draft.start, draft.end):
        bracket = found.group()[0]
        if found.group(1) in labels and bracket in "[{":
            blank = draft.text[found.start() - 1 : found.start()] == " "
            draft.cut("footnote", found.start() - blank, found.end())


def _closing(draft: Draft, at: int) -> int:
    """Just behind the bracket that closes the one at `at`; the end of its block when none does."""
    depth = 0
    for found in re.compile(r"[\[\]]").finditer(draft.text, at, min(draft.end, at + 20_000)):
        depth += 1 if found.group() == "[" else -1
        if depth == 0:
            return found.end()
    end = draft.text.find("\n\n", at, draft.end)
    return end if end > 0 else draft.end


def _cut_and_join(draft: Draft, kind: str, start: int, end: int) -> None:
    """Cut a piece that stands alone; if it broke a paragraph in two, join the halves by one line end.

    A paragraph was broken when the text before ends without a full stop or quote and the text behind
    goes on in lower case.
    """
    draft.cut(kind, start, end)
    before, behind = start, end
    while before > draft.start and (draft.text[before - 1].isspace() or draft.marks[before - 1]):
        before -= 1
    while behind < draft.end and (draft.text[behind].isspace() or draft.marks[behind]):
        behind += 1
    if before == draft.start or behind == draft.end:
        return
    if draft.text[behind].islower() and not _BROKEN.search(draft.text[max(0, before - 3) : before]):
        breaks = draft.text.find("\n", before, behind)
        draft.cut(kind, max(breaks, before) + 1, behind)
