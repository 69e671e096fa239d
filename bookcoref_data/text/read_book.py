"""The one road from the bytes of a book file to tokens (`read_book`): decode, clean, tokenise.

`annotate`, `create` and `clean` all come here, so the same file gives the same tokens.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..errors import BookcorefError, DataError, WrongFileError, plural, require_choice
from .clean import KINDS, CleanRecipe, CleanText, Witness, clean, places_in_file
from .clean.model import INSIDE_WORDS, NO_WIDTH
from .decode import Decoded, composed, encoded_once
from .ebook import decode_book
from .markers import as_on_a_page, ebook_numbers, is_cut_off, is_gutenberg, markup_of
from .tokens import Tokenized, paragraph_spans, tokenize_body

Span = tuple[int, int]
APPARATUS = ("auto", "cut", "keep")
"""Whether header, licence, notes and so on go: only from files of Project Gutenberg, always, never."""

PARAGRAPHS = ("all", "released")
"""Which ends of paragraphs are tokens: every one, or those that the release of BookCoref has."""

EMPHASIS = ("cut", "released")
"""What becomes of the marks of _emphasis_: they go, or stay in the tokens as in the release of BookCoref."""

_INVISIBLE = re.compile(f"({INSIDE_WORDS.pattern})|{NO_WIDTH}+")
"""They would be letters of the words beside them: a name at the beginning of a line would be unknown."""
_WHOLE = re.compile(r"""^\s*[A-Z][\w.' -]{0,30}:|(?:[.!?:;…—]|(?<!\w)-)["'”’»)\]_*]*$|["”’»]$""").search
_INDENTED = re.compile(r"[ \t\u3000]{2}|\t").match
_PARTED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)([-‐¬](?:[^\S\n]*\n[^\S\n]*|[^\S\n]+))([^\W\d_]+)")
_LINE_END = re.compile(r"(?<=\S)[^\S\n]*\n(?=[^\S\n]*\S)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ID_IN_NAME = re.compile(r"(?:pg)?(\d{1,7})(?:-\d)?(?:\.txt)?(?:\.utf-?8)?", re.I)


class Heading(NamedTuple):
    """A chapter's heading: its words, and its first and last token (both inclusive, as in `Mention`)."""

    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How a file becomes tokens.

    `recipe` has the cleaning of every book and of single ones; `apparatus` is one of `APPARATUS`,
    `paragraphs` one of `PARAGRAPHS`, `emphasis` one of `EMPHASIS`; `guard` False reports what would be
    refused instead of refusing it.
    """

    recipe: CleanRecipe = field(default_factory=CleanRecipe)
    apparatus: str = "auto"
    paragraphs: str = "all"
    guard: bool = True
    emphasis: str = "cut"

    def __post_init__(self) -> None:
        for name, known in (("apparatus", APPARATUS), ("paragraphs", PARAGRAPHS), ("emphasis", EMPHASIS)):
            require_choice(name, getattr(self, name), known)


@dataclass(frozen=True, slots=True)
class CleanFile:
    """A decoded file, its clean text, and what was noticed on the way; the state before tokens.

    `gutenberg_id` is "" when neither the name of the file nor its header gives one. `notes` are sentences
    for a person: broken bytes, whole sections that were cut or kept with the reason, and what the guard
    would have refused.
    """

    name: str
    gutenberg_id: str
    source: Decoded
    body: CleanText
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenisedText:
    """The tokens of a book with their places in its file.

    `tokens` and `sentence_ends` are what `Book` holds. Token i stands at [starts[i], ends[i]) of the decoded
    text of `file` ("\\n" line ends, no byte order mark); what lies between two tokens is the original white
    space and what was cut. The token "\\n" closes a paragraph; it has the empty span behind the paragraph's
    last character. A token with a cut inside ("_em_phasis") spans the cut as well.

    `paragraphs` are the numbers of the first tokens of all paragraphs; `chapters` the headings.
    """

    tokens: tuple[str, ...]
    sentence_ends: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    paragraphs: tuple[int, ...]
    chapters: tuple[Heading, ...]
    file: CleanFile

    @property
    def sentences(self) -> list[list[str]]:
        """The tokens by sentence (a new list of lists)."""
        return [list(self.tokens[a:b]) for a, b in pairwise((0, *self.sentence_ends))]


def read_book(data: bytes, name: str, settings: ReadSettings | None = None) -> TokenisedText:
    """The tokens of a book file.

    `name` is the name of the file; messages show it, and "pg1342.txt" or "1342-0.txt" give the Gutenberg id
    under which the recipe has exceptions (else the header's number does).

    Raises WrongFileError: RTF, TeX. DataError: a file cut off, two books in one, double-spaced, empty.
    UsageError: the recipe does not fit the text.
    """
    settings = settings or ReadSettings()
    return tokens_of(clean_file(decode_book(data, name), name, settings), settings)


def clean_file(
    source: Decoded, name: str, settings: ReadSettings, witness: Witness | None = None
) -> CleanFile:
    """Decoded text to clean text: the first half of `read_book`; see there."""
    notes = [note for note in [source.note(name)] if note]
    # Markup is no text: its tags would become words of the book
    if form := markup_of(source.text):
        what, found = f"{name} is written in {form}, not in plain text", " ".join(source.text[:200].split())
        hint = "fetch the book's plain text file (.txt), or save the document as plain text (UTF-8)"
        raise WrongFileError(what, expected="plain text", found=repr(found[:60]), hint=hint)
    if settings.guard:
        _refuse_doubled_lines(source.text, name)
    ours = is_gutenberg(source.text)
    number = gutenberg_id_of(name, source.text)
    rules = settings.recipe.for_book(number)
    if settings.apparatus == "keep" or (settings.apparatus == "auto" and not ours):
        rules = replace(rules, keep=KINDS, cut=(), spare=(), guard=False)
    elif is_cut_off(source.text):
        if settings.guard:
            expected = "a line *** END OF ..., as there is a START line"
            found = f"{len(source.text):,} characters ending in {source.text[-40:].strip()!r}"
            hint = "fetch the file again; with --no-guard it is read as far as it goes"
            raise DataError(f"{name} is cut off", expected=expected, found=found, hint=hint)
        notes.append(f"{name} is cut off: it has Project Gutenberg's START line, but no END")
    if settings.emphasis == "released":
        rules = replace(rules, keep=(*rules.keep, "emphasis"))
    rules = replace(rules, guard=rules.guard and settings.guard)
    if not source.text.strip():
        raise _no_text(name, f"{plural(len(source.text), 'character')}, none of them a letter")
    source, text, told = _as_read(source, ours)
    try:
        body = clean(text, rules, witness)
    except BookcorefError as error:
        error.what = f"{name}: {error.what}"
        raise
    notes += [f"{name}: {what}" for what in (*told, *body.sections)]
    return CleanFile(name, number, source, body, tuple(notes))


def _as_read(source: Decoded, ours: bool) -> tuple[Decoded, str, list[str]]:
    """The source as places in it are counted, its text to be cleaned, and what was done to it."""
    text, told = source.text, list[str]()

    def read(way: Callable[[str], str], what: str) -> str:
        if (plain := way(text)) != text:
            told.append(f"{what}; places count what is read")
        return plain

    if not source.headings:
        text = text if ours else read(as_on_a_page, "tags and signs of HTML (<i>, &quot;) read as on a page")
        text = read(encoded_once, "was encoded twice (“ as â€œ), read as before")
    # Line ends of word processors; and as many blanks as there were marks, so that places stay
    text = text.translate(dict.fromkeys(map(ord, "\v\u2028\u2029"), "\n"))
    text, marks = _INVISIBLE.subn(lambda found: found[1] or " " * len(found[0]), text)
    inside = len(INSIDE_WORDS.findall(text))
    source = source._replace(text=read(composed, "accents joined to letters, ligatures parted"))
    if marks > inside:
        told.append(f"{plural(marks - inside, 'mark')} of direction or of no width read as a space")
    if inside:
        told.append(f"{plural(inside, 'place')} mended where an unseen mark parted a word")
    if not (ours or source.headings) and (parted := with_blank_lines(source.text)):
        put = "; blank lines were put between them, and places count these"
        told.append(parted[1] if parted[0] == source.text else parted[1] + put)
        source = source._replace(text=parted[0])
    text = source.text if ours else with_soft_hyphens(source.text)
    if words := len(re.findall("\xad+", text)) - len(re.findall("\xad+", source.text)):
        told.append(f"{plural(words, 'word')} joined that the end of a line parts")
    return source, text, told


def _refuse_doubled_lines(text: str, name: str) -> None:
    """Where line ends were doubled, a blank line stands behind every line, and the paragraphs are lost."""
    lines = text[:200_000].split("\n")
    filled = [line.lstrip() for line in lines if line.strip()]
    together = sum(bool(a.strip() and b.strip()) for a, b in pairwise(lines))
    broken = sum(line[:1].islower() for line in filled)
    if len(filled) >= 50 and together <= len(filled) / 100 and broken >= len(filled) / 5:
        what = f"{name} is double-spaced"
        found = f"{broken:,} of {len(filled):,} lines go on in lower case behind a blank one"
        hint = "take out every second line end, or fetch the file again"
        raise DataError(what, expected="blank lines between paragraphs only", found=found, hint=hint)


def with_blank_lines(text: str) -> tuple[str, str] | None:
    """A text that has no blank lines with one between its paragraphs, and what was done; None where it has.

    A paragraph is a line where most lines end as paragraphs do, or begin as speeches ("Anna: ..."), above
    another line, even where blank lines stand elsewhere; else it begins with an indented line. Where neither
    can be seen, the text stays as it is.
    """
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    above = [_WHOLE(a.rstrip()) is not None for a, b in pairwise(lines) if a.strip() and b.strip()]
    apart = len(lines) - len(filled) > len(filled) / 20
    if len(above) > max(4, len(filled) / 2) and sum(above) >= (0.9 if apart else 0.7) * len(above):
        parted = _LINE_END.sub("\n\n", text)
        return parted, "few blank lines: every line was taken for a paragraph"
    if len(filled) < 20 or apart:
        return None
    whole = [_WHOLE(line.rstrip()) is not None for line in filled]
    first = [n for n, line in enumerate(filled) if n and _INDENTED(line)]
    if len(first) <= 0.6 * len(filled) and sum(whole[n - 1] for n in first) >= max(0.7 * len(first), 5):
        marked = ["\n" + line if _INDENTED(line) else line for line in filled]
        return "\n".join(marked), "no blank lines: a paragraph was taken to begin where a line is indented"
    told = "no blank line between paragraphs: they are guessed, and speakers are less sure. Put one there"
    return text, told


def with_soft_hyphens(text: str) -> str:
    """The text with soft hyphens where a line end parts a word ("doc-", "tor", or "doc- tor"); of one length.

    Such a text has more of its words elsewhere whole ("doctor") than with the hyphen ("to-morrow").
    """
    seen = Counter(_WORD.findall(_PARTED.sub(" ", text.lower()))) if _PARTED.search(text) else Counter[str]()

    def gain(found: re.Match[str]) -> float:
        first, last = found[1].lower(), found[3].lower()
        whole = seen[first + last] - seen[f"{first}-{last}"]
        return whole or 0.5 * (not (seen[first] and seen[last]))

    gains = [gain(found) for found in _PARTED.finditer(text)]
    if sum(whole >= 1 for whole in gains) <= max(2, sum(whole < 0 for whole in gains)):
        return text
    return _PARTED.sub(lambda f: f[1] + "\xad" * len(f[2]) + f[3] if gain(f) > 0 else f[0], text)


def _no_text(name: str, found: str) -> DataError:
    return DataError(f"{name} holds no text", expected="a book", found=found, hint="is this the right file?")


def gutenberg_id_of(name: str, text: str = "") -> str:
    """The Gutenberg id in the name of a file ("pg42.txt", "42-0.txt"), else in its header, else ""."""
    found = _ID_IN_NAME.fullmatch(re.split(r"[\\/]", name)[-1])
    if found:
        return found.group(1)
    numbers = ebook_numbers(text) if is_gutenberg(text) else []
    return numbers[0] if numbers else ""


def tokens_of(file: CleanFile, settings: ReadSettings | None = None) -> TokenisedText:
    """Clean text to tokens: the second half of `read_book`; see there."""
    settings = settings or ReadSettings()
    found = tokenize_body(file.body.text, split_dashes=settings.paragraphs == "all")
    if settings.paragraphs == "released":
        found = drop_released_breaks(found)
    if not found.starts:
        raise _no_text(file.name, "white space alone")
    tokens = tuple(token for sentence in found.sentences for token in sentence)
    first = np.asarray(found.starts, dtype=np.int64)
    lengths = np.fromiter((0 if t == "\n" else len(t) for t in tokens), np.int64, len(tokens))
    # Places in the file of tokens at `first` of the clean text. The end is one behind the last character, not
    # the place of the next one: a cut may lie between them. An empty span (a paragraph's end) lies one behind
    # the character before it, for the same reason.
    places = partial(places_in_file, np.asarray(file.body.runs, dtype=np.int64).reshape(-1, 3))
    ends = places(first + lengths - 1) + 1
    starts = np.where(lengths > 0, places(np.minimum(first, len(file.body.text) - 1)), ends)
    # Numbers of the first tokens of all paragraphs
    begins = np.fromiter((begin for begin, _ in paragraph_spans(file.body.text)), np.int64)
    words = np.flatnonzero(lengths)
    paragraphs = tuple(words[np.searchsorted(first[words], begins)].tolist())
    if file.source.headings:  # the file's own markup names them
        chapters = tuple(_headings(file.source.headings, file.source.text, starts[words], words))
    else:
        places_of = ((chapter.start, chapter.end) for chapter in file.body.chapters)
        chapters = tuple(_headings(places_of, file.body.text, first[words], words))
    sentence_ends = np.cumsum([len(sentence) for sentence in found.sentences])
    spans = tuple(starts.tolist()), tuple(ends.tolist())
    return TokenisedText(tokens, tuple(sentence_ends.tolist()), *spans, paragraphs, chapters, file)


def _headings(spans: Iterable[Span], text: str, places: np.ndarray, words: np.ndarray) -> Iterator[Heading]:
    """The headings at `spans` of a text that have tokens; `words` are tokens by number, at `places` of it."""
    for start, end in spans:
        first, stop = np.searchsorted(places, [start, end])
        if first < stop:
            yield Heading(" ".join(text[start:end].split()), int(words[first]), int(words[stop - 1]))


# In the released tokens a paragraph's end is a token "\\n" only where their sentence splitter saw no end of a
# sentence: behind a closing quotation mark, a colon, a heading; between two sentences it is gone. That rule
# gives exactly the 268 of Siddhartha and brings the counts of all books to those of the paper's Table 8
# (docs/results.md). For corpora of our own every paragraph keeps its token.
_ENDS = frozenset(".!?)") | {"..."}


def drop_released_breaks(found: Tokenized) -> Tokenized:
    """The same tokens without those closing "\\n" that stand behind the end of a sentence."""
    sentences: list[list[str]] = []
    starts: list[int] = []
    at = 0
    for sentence in found.sentences:
        kept = len(sentence) - (len(sentence) > 1 and sentence[-1] == "\n" and sentence[-2] in _ENDS)
        sentences.append(sentence[:kept])
        starts += found.starts[at : at + kept]
        at += len(sentence)
    return Tokenized(sentences, starts)
