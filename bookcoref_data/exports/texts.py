"""Plain texts: pronouns replaced by names, and segments of narration and speech for audiobooks."""

import json
from collections import Counter
from typing import Any

from ..words import long_lists, pronouns, word_set
from .reading import LaidOutBook

_NOT_OWNED = word_set(long_lists()["NOT_OWNED"])
_POSSESSIVE = pronouns.POSSESSIVE | word_set("its our ours")


def replaced_text(r: LaidOutBook) -> str:
    """The text with the name of its character in the place of every pronoun; all else is as in the file.

    "his", "my" and their like become "Tom's"; "her" does where another word of the phrase follows it. A
    pronoun that two characters share is left alone.
    """
    layout = r.layout
    at, behind = (layout.starts[0], layout.ends[-1]) if layout.starts else (0, 0)
    pieces: list[str] = []
    tokens = r.annotation.book.tokens
    people = Counter(m.mention for m in r.annotation.mentions)
    for m in r.annotation.mentions:
        start, end = r.characters(m.start, m.end)
        if people[m.mention] > 1 or m.start != m.end or start < at or r.kind(m) != "pronoun":
            continue
        word = tokens[m.start].lower()
        possessive = word in _POSSESSIVE
        if word == "her":
            following = tokens[m.start + 1] if m.start + 1 < len(tokens) else ""
            possessive = following.isalpha() and following.lower() not in _NOT_OWNED
        pieces += (layout.text[at:start], r.name(m.character) + ("’s" if possessive else ""))
        at = end
    return "".join([*pieces, layout.text[at:behind], "\n"])


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
            quote, end = r.quote_of.get(start), start
            while end + 1 < p.end and r.quote_of.get(end + 1) == quote:
                end += 1
            inside = [i for i in range(start, end + 1) if tokens[i].strip()]
            if inside:
                chapter, q = r.chapter_of(inside[0]), None if quote is None else r.annotation.quotes[quote]
                first, behind = r.characters(inside[0], inside[-1])
                found.append({
                    "segment": len(found) + 1, "chapter": chapter + 1,
                    "chapter_title": r.chapters[chapter].title, "paragraph": number,
                    "kind": "narration" if q is None else "speech",
                    "speaker": r.name(q.speaker) or None if q else None,
                    "addressees": r.addressees(q) if q else [], "text": r.words(inside[0], inside[-1]),
                    "char_start": first, "char_end": behind,
                })  # fmt: skip
            start = end + 1
    return found


def segment_file(r: LaidOutBook) -> bytes:
    """The segments as JSON lines."""
    return "".join(json.dumps(s, ensure_ascii=False) + "\n" for s in segments(r)).encode("utf-8")
