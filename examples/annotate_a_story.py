"""Annotate a story with a cast of three, and list who says how much.

pip install 'bookcoref-data[annotate]'
python examples/annotate_a_story.py [story.txt]
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.sample_story.story import gutenberg_text

CAST = ["Captain Thorne; the Captain", "Martha Pell; Martha", "Silas Grout; Silas"]


def main() -> None:
    """Annotate the story that is named, else the sample."""
    with tempfile.TemporaryDirectory() as folder:
        path, cast = Path(folder) / "lamp.txt", CAST
        path.write_text(gutenberg_text(), encoding="utf-8")
        if len(sys.argv) > 1:
            path, cast = Path(sys.argv[1]), "auto"
        book = bc.annotate(path, cast=cast)
    print(book)
    for name, mentions in book.characters.items():
        print(f"{name}: {len(mentions)} mentions, for instance {book.book.text_of(mentions[0])!r}")
    words: Counter[str] = Counter()
    for quote in book.quotes:
        words[quote["speaker"] or "nobody of the cast"] += len(quote["text"].split())
    for name, count in words.most_common():
        print(f"{name} says {count} words")


if __name__ == "__main__":
    main()
