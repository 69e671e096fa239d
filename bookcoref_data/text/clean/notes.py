"""What producers and editors added: credits, notes, illustrations, page numbers, footnotes."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain, pairwise

from .evidence import Patterns
from .headings import is_contents, is_division, is_notes, is_preface, is_prose, is_title
from .model import BLANK_LINE, KINDS, VISIBLE, Block, Draft

_FORM = Patterns("notes")

_STAR_DISTANCE = 4000  # characters between a star and its note
_MOST_PARAGRAPHS = 6  # of one note
_OPENS = re.compile(r"\n[^\S\n]*\n\s*\Z")
_CREDIT_BLOCKS = 12  # credits stand among the first and the last blocks

_MOST_OTHERS = 1  # paragraphs without such a word inside a note: a passage that is corrected
_QUOTES = "\"“‘'«„"
_LONG_NOTE = 6000
_NOTE_SHARE = 0.06  # of the text: a note near the end that goes on for longer is not one note


def cut_credits(draft: Draft) -> None:
    """Lines of producers at both ends, and every paragraph that names the project."""
    blocks = draft.blocks()
    for block in blocks[:_CREDIT_BLOCKS] + blocks[-_CREDIT_BLOCKS:]:
        if _FORM.CREDIT.match(block.line) and len(block.lines) <= 12:
            # It must name people or tools: "Prepared by long years" does not.
            words = block.text.split()
            raised = sum(not word[0].islower() for word in words)
            if _FORM.PRODUCERS.search(block.text) or raised >= 0.5 * len(words):
                draft.cut("credits", block.start, block.end)
    for block in blocks:
        if _FORM.PROJECT.search(block.text):
            draft.cut("credits", block.start, block.end)
    if blocks and _FORM.END_OF.match(blocks[-1].text.strip()):
        draft.cut("credits", blocks[-1].start, blocks[-1].end)


def cut_transcriber_notes(draft: Draft) -> None:
    """A bracketed note to its closing bracket; a titled note to the next wide gap, at the end to the end."""
    blocks = draft.blocks()
    for index, block in enumerate(blocks):
        # A note in a box: its first line is a rule.
        first = next((line.strip() for line in block.lines if re.search(r"\w", line)), "")
        if draft.marks[block.start] or not _FORM.NOTE_MARK.match(first):
            continue
        if block.text.lstrip().startswith("["):
            end = _closing(draft, block.text.index("[") + block.start)
        else:
            end, below = block.end, blocks[index + 1 :]
            # Whether the note closes the file: near its end, and no chapter behind it
            left, size = draft.end - block.start, draft.end - draft.start
            last = left <= 0.15 * size and (left <= _NOTE_SHARE * size or left <= _LONG_NOTE)
            last = last and not any(is_division(later) and later.gap >= 2 for later in below)
            if last and 2 * sum(map(_is_noted, below)) >= len(below):
                end = draft.end
            elif last or _FORM.NOTE_TITLE.match(block.line):
                # It ends with the last paragraph that has a word of transcribers, or with the list. A heading
                # ends it, and so does a wide gap, unless the note closes the file.
                others = 0
                for number, later in enumerate(below[:40]):
                    named = is_division(later) or is_contents(later) or is_preface(later)
                    others = 0 if _is_noted(later) else others + 1
                    if named or others > _MOST_OTHERS or (number and later.gap >= 3 and not last):
                        break
                    if not others:
                        end = later.end
        draft.cut("transcriber-note", block.start, end)
    for found in _FORM.NOTE_INSIDE.finditer(draft.text, draft.start, draft.end):
        if not draft.marks[found.start()]:
            draft.cut("transcriber-note", found.start(), _closing(draft, found.end()))


def _is_noted(block: Block) -> bool:
    """Whether a block below the title of a transcriber's note has a word of theirs, or is a list."""
    listed = not is_prose(block) and block.text.lstrip()[0] not in _QUOTES
    return listed or bool(_FORM.NOTE_WORDING.search(block.text))


def cut_illustrations(draft: Draft) -> None:
    """`[Illustration: caption]` to its closing bracket; other pictures where they begin a line."""
    for found in _FORM.ILLUSTRATION.finditer(draft.text, draft.start, draft.end):
        if not draft.marks[found.start()]:
            inside = found.group()[1:].lower().startswith("illustration")
            _cut_bracket(draft, "illustration", found.start(), inside=inside)
    for block in draft.blocks():
        if _FORM.PLATE.fullmatch(block.text.strip()):
            _cut_and_join(draft, "illustration", block.start, block.end)


def cut_page_numbers(draft: Draft) -> None:
    """Marks such as [Pg 12] and {p. 12}, and (p. 12) where page follows page; lines such as `12)` when ten
    or more rise through the book.

    Bare numbers such as `12`, `[12]` or `- 12 -` may be chapters or verses: a fourth of them must break a
    paragraph in two.
    """
    cited = list(_FORM.PAGE_CITED.finditer(draft.text, draft.start, draft.end))
    following = sum(_number(b[0]) == _number(a[0]) + 1 for a, b in pairwise(cited))
    cited = cited if len(cited) >= 10 and following >= 0.9 * (len(cited) - 1) else []
    for found in chain(_FORM.PAGE_INLINE.finditer(draft.text, draft.start, draft.end), cited):
        start = found.start()
        while start > draft.start and draft.text[start - 1] in " \t":
            start -= 1
        alone = draft.text[start - 1 : start] in "\n" and draft.text[found.end() : found.end() + 1] in "\n"
        (_cut_and_join if alone else Draft.cut)(draft, "page-number", start, found.end())
    short = [block for block in draft.blocks() if block.end - block.start <= 60]
    for form, least in ((_FORM.PAGE, 0.0), (_FORM.BARE_PAGE, 0.25)):
        numbered = [block for block in short if form.match(block.text) and not draft.marks[block.start]]
        broken = {block.start for block in numbered if _breaks(draft, block.start, block.end)}
        if least:  # a number that stands apart is a chapter
            numbered = [block for block in numbered if block.gap < 2 or block.start in broken]
        values = [_number(block.text) for block in numbered]
        rising = sum(a < b for a, b in pairwise(values))
        if len(values) >= 10 and rising >= 0.9 * (len(values) - 1) and len(broken) >= least * len(values):
            for block in numbered:
                start = block.end - len(block.text.lstrip())
                _cut_and_join(draft, "page-number", start, block.end)


def cut_footnotes(draft: Draft) -> None:
    """Notes that have a form of their own and a mark in the text, or a heading; then their marks."""
    labels: set[str] = set()
    for found in _FORM.FOOTNOTE.finditer(draft.text, draft.start, draft.end):
        if draft.marks[found.start()]:
            continue
        labels.add(found.group(1) or found.group(2) or "")
        _cut_bracket(draft, "footnote", found.start())
    if "(return)" in draft.text:
        for back in _FORM.RETURN_NOTE.finditer(draft.text, draft.start, draft.end):
            labels.add(back.group(1))
            draft.cut("footnote", back.start(), _closing(draft, back.end()))
    marks = _Marks(draft)
    # Numbered notes below a heading such as FOOTNOTES or "Notes to the Knight's Tale", inside the book
    blocks = draft.blocks()
    for index, block in enumerate(blocks):
        foot = is_notes(block) and re.match(r"foot", block.line, re.I)
        if not foot:
            # "NOTES" alone may be a chapter: a mark in the text must point to the first of them.
            below = blocks[index + 1] if index + 1 < len(blocks) and block.gap >= 2 else None
            worded = re.match(r"notes? (?:to|on)\b", block.line, re.I)
            if not below or not is_notes(block) or not (worded or marks.point_to(below)):
                continue
        stop = _notes_end(blocks, index)
        if stop == index:
            # What stands below the heading was cut as a note already.
            seen = VISIBLE.search(draft.text, block.end, draft.end)
            if foot and seen and draft.marks[seen.start()] == KINDS.index("footnote") + 1:
                draft.cut("footnote", block.start, block.end)
            continue
        for note in blocks[index:stop]:
            for label in _labels_of(note, plain=True):
                marks.take(label, block, draft.end)
            draft.cut("footnote", note.start, note.end)
    _cut_note_paragraphs(draft, marks)
    for found in _FORM.LABEL.finditer(draft.text, draft.start, draft.end):
        if found.group(1) in labels and found.group()[0] in "[{":
            _cut_mark(draft, found.start(), found.end())
    # Numbers of notes elsewhere: {12} and <12>; if they rise, "read.231" and "[12]", which may be pages, too
    for pattern, least in ((_FORM.REFERENCE, 3), (_FORM.GLUED, 20), (_FORM.BRACKETED, 20)):
        references = [
            found
            for found in pattern.finditer(draft.text, draft.start, draft.end)
            if not draft.marks[found.start()]
            and (pattern is not _FORM.BRACKETED or draft.text[found.start() - 2 : found.start()].strip())
        ]
        numbers = [_number(m.group()) for m in references]
        rising = sum(a < b for a, b in pairwise(numbers))
        if len(references) >= least and (pattern is _FORM.REFERENCE or rising >= 0.95 * (len(numbers) - 1)):
            for m in references:
                _cut_mark(draft, *m.span())


class _Marks:
    """The marks in the text that point to notes. Each stands for one note, the next one with its label.

    "Rule (1)" is a word: a mark in round brackets is glued to its word, or its note is indented.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.free: dict[str, list[tuple[int, int]]] = {}
        text = draft.text
        rules = (_FORM.STAR, _FORM.LABEL)
        for found in chain(*(rule.finditer(text, draft.start, draft.end) for rule in rules)):
            label, at = found.group().replace(" ", ""), found.start()
            opens = _OPENS.search(text, max(0, at - 400), at) is not None
            apart = "apart" if label[0] == "(" and text[at - 1].isspace() else ""
            if not opens and not (label[0] == "(" and text[at - 2 : at].strip().endswith("*")):
                self.free.setdefault(label + apart, []).append(found.span())

    def point_to(self, note: Block) -> bool:
        """Whether a free mark before a note has its label."""
        before = (note.start, note.start)
        return any(self.free.get(label, [before])[0] < before for label in _labels_of(note, plain=True))

    def take(self, label: str, note: Block, within: int) -> bool:
        """Cut the last free mark with this label in the `within` characters before a note, if any."""
        before = note.start
        for key in (label, f"{label}apart") if note.source.startswith("   ", before) else (label,):
            free = self.free.get(key, [])
            place = bisect_left(free, (before, before)) - 1
            if place >= 0 and before - free[place][1] <= within:
                _cut_mark(self.draft, *free.pop(place))
                return True
        return False


def _cut_mark(draft: Draft, start: int, end: int) -> None:
    draft.cut("footnote", start - (draft.text[start - 1 : start] == " "), end)


def _cut_note_paragraphs(draft: Draft, marks: _Marks) -> None:
    """Paragraphs that begin with a label or a star, if a mark before them points to them.

    Notes in square brackets need no mark where they close a chapter.
    """
    blocks = [*draft.blocks(), None]
    behind = 0  # the first block that is no note, behind those looked at
    for index, block in enumerate(blocks):
        if not block or not _FORM.OPENING.match(draft.text, block.start):
            continue
        end = block.end
        star, worded = _FORM.STAR_NOTE.match(block.text), _FORM.WORDED_NOTE.match(block.text)
        if worded:
            found = [any(marks.take(label.format(worded[1]), block, draft.end) for label in ("[{}]", "({})"))]
            below = blocks[index + 1]
            if worded.end() == len(block.text.rstrip()) and below and below.text.startswith(" "):
                end = below.end  # its words are a paragraph of their own
        elif star:
            found = [marks.take(star.group(1).replace(" ", ""), block, _STAR_DISTANCE)]
        else:
            found = [marks.take(label, block, draft.end) for label in _labels_of(block)]
        closing = False
        if found and not found[0] and block.text.lstrip()[0] == "[":
            # Nothing but notes stands between it and the next wide gap, heading or the end.
            behind = max(behind, index + 1)
            while (below := blocks[behind]) and below.gap < 4 and _labels_of(below):
                behind += 1
            closing = not below or below.gap >= 4 or (below.gap >= 2 and is_division(below))
        if closing or (found and found[0]):
            _cut_and_join(draft, "footnote", block.start, end)


def _labels_of(block: Block, plain: bool = False) -> list[str]:
    """The labels, with brackets, of a block whose first line, and perhaps others, begins with one.

    `plain`: "1." is one, too.
    """
    if plain and _FORM.PLAIN_NOTE.match(block.text):
        return [f"[{_number(block.text)}]"]
    if not _FORM.NUMBERED_NOTE.match(block.text):
        return []
    found = [_FORM.NUMBERED_NOTE.match(line) for line in block.lines]
    return [note.group().strip() for note in found if note]


def _notes_end(blocks: Sequence[Block], index: int) -> int:
    """The end of the notes below the heading at `index`, or `index` if none is numbered.

    The prose of the book begins behind the last numbered note; what stands close below that one is part of
    it only if a heading or a wide gap closes the section.
    """
    last = index
    for later in range(index + 1, min(len(blocks), index + 2000)):
        block = blocks[later]
        first = last == index
        plain = _FORM.PLAIN_NOTE.match(block.text) and (first or block.gap == 1)
        if plain or _FORM.NUMBERED_NOTE.match(block.text):
            last = later
        elif first or block.gap >= 3 or _is_heading(block) or later - last > _MOST_PARAGRAPHS:
            break
    if last == index:
        return index
    stop = last + 1
    while stop < len(blocks) and stop <= last + _MOST_PARAGRAPHS and blocks[stop].gap == 1:
        if _is_heading(blocks[stop]):
            break
        stop += 1
    closed = stop == len(blocks) or blocks[stop].gap >= 2 or _is_heading(blocks[stop])
    return stop if closed else last + 1


def _is_heading(block: Block) -> bool:
    return is_division(block) or (is_title(block) and (block.gap >= 2 or block.line_count == 1))


def _number(text: str) -> int:
    """The first number in a text that holds one."""
    return int(re.findall(r"\d+", text)[0])


def _closing(draft: Draft, at: int) -> int:
    """Just behind the bracket that closes the one at `at`; the end of its block if a wide gap is first."""
    depth = 0
    far = min(draft.end, at + 20_000)
    wide = re.compile(rf"\n(?:[^\S\n]*\n){{{4 * draft.blank}}}").search(draft.text, at, far)
    for found in _FORM.BRACKET.finditer(draft.text, at, wide.start() if wide else far):
        depth += 1 if found.group() == "[" else -1
        if depth == 0:
            return found.end()
    blank = BLANK_LINE.search(draft.text, at, draft.end)
    return blank.start() if blank else draft.end


def _cut_bracket(draft: Draft, kind: str, start: int, *, inside: bool = True) -> None:
    """Cut what is in brackets, with the blanks before it; `inside` a line, too, or only at its start."""
    line, end = draft.text.rfind("\n", 0, start) + 1, _closing(draft, start)
    if not draft.text[line:start].strip():
        _cut_and_join(draft, kind, line, end)
    elif inside:
        draft.cut(kind, start - (draft.text[start - 1] == " "), end)


def _cut_and_join(draft: Draft, kind: str, start: int, end: int) -> None:
    """Cut a piece that stands alone; if it broke a paragraph in two, join the halves by one line end."""
    draft.cut(kind, start, end)
    if halves := _breaks(draft, start, end):
        before, behind = halves
        draft.cut(kind, max(draft.text.find("\n", before, behind), before) + 1, behind)


def _breaks(draft: Draft, start: int, end: int) -> tuple[int, int] | None:
    """The end and the beginning of the halves of a paragraph that the piece breaks in two, if it does.

    The text before ends without a full stop or quote, and the text behind goes on in lower case.
    """
    before, behind = start, end
    while behind < draft.end and (draft.text[behind].isspace() or draft.marks[behind]):
        behind += 1
    if behind == draft.end or not draft.text[behind].islower():
        return None  # before one looks back over all the pieces that are cut already
    while before > draft.start and (draft.text[before - 1].isspace() or draft.marks[before - 1]):
        before -= 1
    whole = before == draft.start or _FORM.BROKEN.search(draft.text[max(0, before - 3) : before])
    return None if whole else (before, behind)


_PAIRS = re.compile(
    r"(?<![=\w])=(?=\S)[^=\n]{1,120}?\S=(?![=\w])|(?<![+\w])\+(?=[A-Za-z])[^+\n]{1,120}?[\w.,!?]\+(?![+\w])"
)
# An underscore before a brace lowers what follows ("C_{2}HCl_{3}O"): it is no mark of emphasis.
_LETTER = re.compile(r"(?<=[^\W_])_(?=[^\W_])")
_WORD = re.compile(r"(?:(?!--)[^\s—])+")
_ADDRESS = re.compile(r"[@/\\]|\w\.[^\W_]")
_UNDERSCORE = re.compile(r"_(?<!__)(?![_{])")


def _marks_emphasis(block: Block, at: int) -> bool:
    """Whether an underscore is emphasis ("_im_portant"); inside a word it can be a letter ("lamp_1.txt")."""
    text = block.source
    if not _LETTER.match(text, at):
        return True
    begin = max(text.rfind("\n", 0, at), text.rfind(" ", 0, at)) + 1
    word = next(found for found in _WORD.finditer(text, begin) if found.end() > at)
    inner, marks = (len(rule.findall(text, *word.span())) for rule in (_LETTER, _UNDERSCORE))
    if marks == 1:  # one end of emphasis; the other end stands elsewhere in the paragraph
        inner, marks = (len(rule.findall(text, block.start, block.end)) for rule in (_LETTER, _UNDERSCORE))
        return (marks - inner) % 2 == 1
    named = _ADDRESS.search(word[0]) or (inner == 2 and re.search(r"\d", word[0]))
    return marks == 2 and not named


def cut_emphasis(draft: Draft) -> None:
    """The marks around emphasised words go, the words stay. A blank such as "Lord ____" stays whole."""
    for block in draft.blocks():
        for found in _UNDERSCORE.finditer(draft.text, block.start, block.end):
            if _marks_emphasis(block, found.start()):
                draft.cut("emphasis", *found.span())
    if "=" not in draft.text and "+" not in draft.text:
        return
    for found in _PAIRS.finditer(draft.text, draft.start, draft.end):
        draft.cut("emphasis", found.start(), found.start() + 1)
        draft.cut("emphasis", found.end() - 1, found.end())
