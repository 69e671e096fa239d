"""What stands behind the story: notes, appendices, glossaries, catalogues of the publisher, ornaments."""

from collections.abc import Sequence

from .evidence import Patterns
from .headings import is_back, is_division, is_notes, is_prose, is_title, is_verse
from .model import Block, Draft
from .settings import CleanSettings

_FORM = Patterns("back")

_BACK_SHARE = 0.6
_HEADING = "its heading"
_SHORT_SECTION = 25  # words: too few to read anything from
_FEW_PEOPLE = 0.4  # of the rate of the book: a catalogue has a tenth to a third
_TALE = 80  # words from which on people and talk show a tale


def cut_back(draft: Draft, settings: CleanSettings) -> None:
    """Notes, appendices, glossaries, catalogues behind the last chapter; ornaments at the very end.

    Three places may begin them: the line THE END, if no tale follows; a heading behind the last chapter; the
    first paragraph of a catalogue that closes the file. The place alone decides nothing.
    """
    blocks = draft.blocks()
    while blocks and _FORM.ORNAMENT.fullmatch(blocks[-1].text):
        ornament = blocks.pop()
        draft.cut("back-matter", ornament.start, ornament.end)
    limit = draft.start + _BACK_SHARE * (draft.end - draft.start)
    late = [i for i, b in enumerate(blocks) if b.start > limit and not draft.marks[b.start]]
    begin = _ended(draft, blocks, late)
    if begin is not None and _judge(draft, blocks, begin, settings, "the line THE END stands above it"):
        return
    # A heading such as "CHAPTER I" above a numbered note is no chapter.
    chapters = [i for i in late if is_division(blocks[i]) and blocks[i].gap >= 2]
    below = {i: blocks[min(i + 1, len(blocks) - 1)] for i in chapters}
    last = max((i for i in chapters if not _FORM.NOTE.match(below[i].text)), default=-1)
    for index in late:
        block = blocks[index]
        shouted = is_notes(block) and block.line.startswith("NOTE")
        named = shouted or (block.gap >= 2 and (is_notes(block) or is_back(block)))
        if index > last and named and _judge(draft, blocks, index, settings, _HEADING):
            return
    # The groups that close the file may speak of books and prices, and of few people.
    begin = None
    for first, stop in reversed(_groups(blocks, late[0]) if late else []):
        shown = draft.evidence(blocks[first].start, blocks[stop - 1].end)
        prose = any(is_prose(block) for block in blocks[first:stop])
        if shown.is_trade and shown.people < _FEW_PEOPLE * shown.story.people:
            begin = first
        elif prose or shown.words > _TALE:
            break
    if begin is not None:
        _judge(draft, blocks, begin, settings, "a catalogue closes the file")


def _ended(draft: Draft, blocks: Sequence[Block], late: Sequence[int]) -> int | None:
    """The block behind the last line THE END, if none of the groups behind it tells a tale."""
    ends = [index for index in late if _FORM.END.match(blocks[index].line) and blocks[index].line_count == 1]
    if not ends or ends[-1] + 1 >= len(blocks):
        return None
    groups = _groups(blocks, ends[-1] + 1)
    if any(_tells(draft, blocks, *group) for group in groups):
        return None
    for first, stop in groups:
        # A group must have a sign of its own: the first may be the author's last word.
        shown = draft.evidence(blocks[first].start, blocks[stop - 1].end)
        signed = shown.is_worded or shown.is_numbered or is_notes(blocks[first])
        if signed or not any(is_prose(block) or is_verse(block) for block in blocks[first:stop]):
            return first
    return None


def _groups(blocks: Sequence[Block], begin: int) -> list[tuple[int, int]]:
    """[first, behind the last) of groups of blocks from `begin` on, parted by wide gaps or ornaments."""
    behind = range(begin + 1, len(blocks))
    wide = [i for i in behind if blocks[i].gap >= 2 or _FORM.ORNAMENT.fullmatch(blocks[i].text)]
    starts = [begin, *wide]
    return list(zip(starts, [*starts[1:], len(blocks)], strict=True))


def _tells(draft: Draft, blocks: Sequence[Block], first: int, stop: int) -> bool:
    shown = draft.evidence(blocks[first].start, blocks[stop - 1].end)
    return shown.words >= _TALE and shown.is_tale and not shown.is_trade


def _judge(draft: Draft, blocks: Sequence[Block], index: int, settings: CleanSettings, place: str) -> bool:
    """Decide on everything from a block on, up to the first tale behind it; whether all of it was cut."""
    stop, titled = len(blocks), False
    for first, behind in _groups(blocks, index):
        # Such a tale has a title of its own.
        own = is_title(blocks[first]) and not (is_notes(blocks[first]) or is_back(blocks[first]))
        if first > index and (own or titled) and _tells(draft, blocks, first, behind):
            stop = first - titled
            break
        titled = own and behind == first + 1
    start, end = blocks[index].start, draft.end if stop == len(blocks) else blocks[stop - 1].end
    size, doubt = end - start, ""
    share = size / max(1, draft.end - draft.start)
    shown = draft.evidence(start, end)
    signs = shown.signs
    if place != _HEADING and (is_notes(blocks[index]) or is_back(blocks[index])):
        signs.append(_HEADING)
    if not any(is_prose(block) for block in blocks[index + (place == _HEADING) : stop]):
        signs.append("no prose behind it")
    strong = [sign for sign in signs if "persons" not in sign]
    if size > settings.floor and share > settings.limit("back-matter"):
        doubt = f"{share:.1%} of the text is more than back matter has"
    elif not strong and shown.words >= _SHORT_SECTION:
        doubt = f"{place}, but it reads like the story ({shown})"
    elif shown.names >= 0.5 * shown.story.rate > 0 and shown.is_tale and not shown.is_worded:
        doubt = f"{place}, but people act and talk in it as in the story ({shown})"
    draft.decide("back-matter", start, end, doubt or "; ".join([place, *signs]), cut=not doubt)
    return not doubt and stop == len(blocks)
