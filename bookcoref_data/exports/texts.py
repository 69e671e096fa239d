"""Plain texts: pronouns replaced by names, and segments of narration and speech for audiobooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..books.annotation import Marked
from ..words import pronouns, word_set
from .reading import LaidOutBook

_POSSESSIVE = pronouns.POSSESSIVE | word_set("its our ours")


def replaced_text(r: LaidOutBook) -> str:
    """The text with the name of its character in the place of every pronoun; all else is as in the file.

    "his", "my" and their like become "Tom's"; "her" does where another word of the phrase follows it. A
    pronoun that two characters share is left alone.
    """
    layout = r.layout
    first, behind = (layout.starts[0], layout.ends[-1]) if layout.starts else (0, 0)
    pieces: list[str] = []
    at = first
    for m, name in _pronouns(r):
        start, end = r.characters(m.start, m.end)
        if start >= at:
            pieces += (layout.text[at:start], name)
            at = end
    return "".join([*pieces, layout.text[at:behind], "\n"])


def _pronouns(r: LaidOutBook) -> Iterator[tuple[Marked, str]]:
    spans: dict[tuple[int, int], list[Marked]] = {}
    for m in r.annotation.mentions:
        spans.setdefault((m.start, m.end), []).append(m)
    for group in spans.values():
        if len(group) == 1 and group[0].start == group[0].end and r.kind(group[0]) == "pronoun":
            m = group[0]
            tokens = r.annotation.book.tokens
            word = tokens[m.start].lower()
            if word != "her":
                possessive = word in _POSSESSIVE
            else:
                following = tokens[m.start + 1] if m.start + 1 < len(tokens) else ""
                possessive = following.isalpha() and following.lower() not in _NOT_OWNED
            yield m, r.name(m.character) + ("’s" if possessive else "")


_NOT_OWNED = word_set("""
    a an the and or but for to of in on at by with from as if that when while who what how so then not no
    again away up down out off over into upon is was were had has have would could should will shall may might
    he she it they i you we his my your their our this these those very too now there here before after
""")


def segments(r: LaidOutBook) -> list[dict[str, Any]]:
    """The book in reading order: narration and speech, never both in one segment, none beyond a paragraph.

    Every segment has its chapter and paragraph (from 1), its kind, its text on one line, its characters in
    the layout's text and, for speech, speaker and addressees (null and [] where not known).
    """
    found: list[dict[str, Any]] = []
    tokens = r.annotation.book.tokens
    for number, p in enumerate(r.paragraphs, 1):
        start = p.start
        while start < p.end:
            quote = r.quote_of.get(start)
            end = start
            while end + 1 < p.end and r.quote_of.get(end + 1) == quote:
                end += 1
            inside = [i for i in range(start, end + 1) if tokens[i].strip()]
            if inside:
                found.append(_segment(r, len(found) + 1, number, inside[0], inside[-1], quote))
            start = end + 1
    return found


def _segment(
    r: LaidOutBook, number: int, paragraph: int, start: int, end: int, quote: int | None
) -> dict[str, Any]:
    chapter = r.chapter_of(start)
    q = None if quote is None else r.annotation.quotes[quote]
    first, behind = r.characters(start, end)
    return {
        "segment": number, "chapter": chapter + 1, "chapter_title": r.chapters[chapter].title,
        "paragraph": paragraph, "kind": "narration" if q is None else "speech",
        "speaker": r.name(q.speaker) or None if q else None, "addressees": r.addressees(q) if q else [],
        "text": r.words(start, end), "char_start": first, "char_end": behind,
    }  # fmt: skip


def segment_file(r: LaidOutBook) -> bytes:
    """The segments as JSON lines."""
    lines = (json.dumps(s, ensure_ascii=False) + "\n" for s in segments(r))
    return "".join(lines).encode("utf-8")
