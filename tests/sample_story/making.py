"""The sample story in its forms: as marked, as a Project Gutenberg text file, as a Book, as a release.

The source is `story.marked.txt`, with `cast.toml` of the package. The files that the package has are made by
`python tests/sample_story/regenerate.py` and committed. The layout of the release is that of BookCoref (Hub
data set `sapienzanlp/bookcoref`): a deepdiff Delta from the tokens of the raw file to the released tokens,
sentence lengths, and annotations that hold offsets and no text.
"""

import json
import re
import textwrap
from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from bookcoref_data.books import Book, Mention, split_book
from bookcoref_data.errors import FormatError
from bookcoref_data.sample_story.story import GUTENBERG_KEY, cast
from bookcoref_data.text.tokens import Tokenized, tokenize_body, tokenize_official
from tests.sample_story.markup import MarkedSpan, ParsedMarkup, parse_markup

HERE = Path(__file__).resolve().parent
DOC_KEY = f"the_lamp_at_the_ferry_house_{GUTENBERG_KEY}"
SOURCE = "story.marked.txt"
WIDTH = 72  # characters of a line in Project Gutenberg's plain text files


@cache
def marked_story() -> ParsedMarkup:
    """The story as written (straight quotes, `_emphasis_`), with its marked spans."""
    return parse_markup((HERE / SOURCE).read_text(encoding="utf-8"), cast(), source=SOURCE)


def made_text() -> str:
    """The story as a Project Gutenberg text file: header, contents, wrapped body, footer."""
    paragraphs = marked_story().text.replace("—", "--").strip().split("\n\n")
    contents = "\n".join(
        f" {number} {title}" for number, title in pairwise(paragraphs) if number.startswith("CHAPTER ")
    )
    body = "\n\n".join(_set(paragraph) for paragraph in paragraphs)
    frame = (HERE / "frame.txt").read_text(encoding="utf-8")
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


def mirror_files() -> dict[str, bytes]:
    """The raw file at its place in Project Gutenberg's own layout: relative path -> content.

    Like the real files it has a byte order mark and CRLF line ends; reading takes both away again.
    """
    content = made_text().replace("\n", "\r\n").encode("utf-8-sig")
    return {f"cache/epub/{GUTENBERG_KEY}/pg{GUTENBERG_KEY}.txt": content}


def release_files() -> dict[str, bytes]:
    """The release: relative path -> content."""
    book = sample_book()
    base = [token for sentence in tokenize_official(made_text()) for token in sentence]
    windows = split_book(book).books
    return {
        "gutenberg_delta.json": _json(
            {"_iterable_opcodes": {f"root['{book.gutenberg_key}']": opcodes(base, list(book.tokens))}}
        ),
        "sentence_lengths.json": _json({book.gutenberg_key: [len(s) for s in book.sentences]}),
        "bookcoref_annotations/full/test.jsonl": _json(annotation(book)),
        "bookcoref_annotations/split/test_split.jsonl": b"".join(_json(annotation(w)) for w in windows),
    }


def opcodes(base: list[str], target: list[str]) -> list[dict[str, Any]]:
    """The edits from `base` to `target` as deepdiff writes them; all ends exclusive.

    Only the values that are put in are written out (none for a deletion); what is kept is told by index.
    """
    # Without autojunk, frequent tokens (commas, "the") count too, and the edits stay small.
    matcher = SequenceMatcher(None, base, target, autojunk=False)
    return [
        {
            "tag": tag, "t1_from_index": a, "t1_to_index": b, "t2_from_index": c, "t2_to_index": d,
            "old_values": None, "new_values": None if tag == "equal" else target[c:d],
        }
        for tag, a, b, c, d in matcher.get_opcodes()
    ]  # fmt: skip


def annotation(book: Book) -> dict[str, Any]:
    """One line of an annotation file: keys and offsets, no text."""
    return {
        "doc_key": book.doc_key,
        "gutenberg_key": book.gutenberg_key,
        "clusters": [[list(mention) for mention in cluster] for cluster in book.clusters],
        "characters": [
            {"name": c.name, "mentions": [list(mention) for mention in c.mentions]} for c in book.characters
        ],
    }


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8")
