"""The sample story in its forms: as marked, as a Project Gutenberg text file, as released, as a Book."""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

from ..books import Book, Mention
from ..errors import FormatError
from ..resources import load_toml
from ..text.tokens import Tokenized, tokenize_body
from .markup import MarkedSpan, ParsedMarkup, parse_markup

TITLE = "The Lamp at the Ferry House"
GUTENBERG_KEY = "99000001"  # far above every id that Project Gutenberg has given out
DOC_KEY = f"the_lamp_at_the_ferry_house_{GUTENBERG_KEY}"
SOURCE = "story.marked.txt"
WIDTH = 72  # characters of a line in Project Gutenberg's plain text files


def sample_path(name: str) -> Path:
    """Where a part of the sample lies in the package: "mirror", "release", "cast.toml", ..."""
    return Path(__file__).resolve().parent / name


@cache
def cast() -> dict[str, str]:
    """Character id -> name, in the order of the cast list."""
    return dict(load_toml(sample_path("cast.toml"))["characters"])


@cache
def marked_story() -> ParsedMarkup:
    """The story as written (straight quotes, `_emphasis_`), with its marked spans."""
    return parse_markup(sample_path(SOURCE).read_text(encoding="utf-8"), cast(), source=SOURCE)


def gutenberg_text() -> str:
    """The story as a Project Gutenberg text file: header, contents, wrapped body, footer."""
    paragraphs = marked_story().text.replace("—", "--").strip().split("\n\n")
    contents = "\n".join(
        f" {number} {title}" for number, title in pairwise(paragraphs) if number.startswith("CHAPTER ")
    )
    body = "\n\n".join(_set(paragraph) for paragraph in paragraphs)
    frame = sample_path("frame.txt").read_text(encoding="utf-8")
    return frame.replace("<contents>", contents).replace("<story>", body)


def sample_book() -> Book:
    """The gold book: released tokens, and one cluster per character of the cast."""
    return book_of(marked_story(), cast())


def book_of(marked: ParsedMarkup, names: dict[str, str]) -> Book:
    """Token spans for marked spans; characters come in the order of `names`, those unmarked left out.

    Raises:
        FormatError: a span that begins or ends inside a token, with its line.
    """
    released, tokens = typeset(marked)
    mentions: dict[str, list[Mention]] = {character: [] for character in names}
    flat = [token for sentence in tokens.sentences for token in sentence]
    for span in released.spans:
        mentions[span.character].append(_mention(span, released.text_of(span), flat, tokens.starts))
    named = [(names[character], spans) for character, spans in mentions.items() if spans]
    return Book.make(
        DOC_KEY, tokens.sentences, gutenberg_key=GUTENBERG_KEY, clusters=[spans for _, spans in named],
        characters=named,
    )  # fmt: skip


def typeset(marked: ParsedMarkup) -> tuple[ParsedMarkup, Tokenized]:
    """The released form of a marked text (underscores gone, quotes curled), and its tokens."""
    kept = [0, *accumulate(c != "_" for c in marked.text)]
    # Typographic quotes for straight ones, one character for one; the story uses no inner quotes
    opened = re.sub(r'(?<![^\s—(])"(?=\S)', "“", marked.text)
    text = opened.replace('"', "”").replace("'", "’").replace("_", "").rstrip()
    spans = tuple(MarkedSpan(kept[s.start], kept[s.end], s.character, s.line) for s in marked.spans)
    return ParsedMarkup(text, spans), tokenize_body(text)


def _mention(span: MarkedSpan, words: str, flat: Sequence[str], starts: Sequence[int]) -> Mention:
    first = bisect_left(starts, span.start)
    last = bisect_left(starts, span.end) - 1
    if first > last or starts[first] != span.start or starts[last] + len(flat[last]) != span.end:
        raise FormatError(
            f"{SOURCE}:{span.line}: the span {words!r} of {span.character!r} does not align with tokens",
            expected="a span that begins and ends at a token edge",
            found=" ".join(flat[max(0, first - 1) : last + 2]),
        )
    return Mention(first, last)


def _set(paragraph: str) -> str:
    # Real files break lines at spaces only, never inside a hyphenated word.
    lines = textwrap.wrap(paragraph, WIDTH, break_on_hyphens=False, break_long_words=False)
    return "\n\n\n" + "\n".join(lines) if paragraph.startswith("CHAPTER ") else "\n".join(lines)
