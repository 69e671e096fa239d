"""Carry an annotation over to another edition of the same text.

    python examples/follow_a_changed_edition.py

The other edition is made here: one word is replaced throughout, and a paragraph is new.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.sample_story.story import gutenberg_text


def main() -> None:
    """Print what was kept, moved, changed and lost."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        bc.rebuild(home / "bookcoref", sample=True, cache_dir=home / "cache")
        book = bc.load(home / "bookcoref")[0]
        text = gutenberg_text().replace("lantern", "great lantern")
        (home / "other.txt").write_text(text, encoding="utf-8")
        carried = bc.align(book, home / "other.txt")
        print(f"{sum(map(len, book.clusters))} mentions before, {carried}")
        print(carried.to_markdown())


if __name__ == "__main__":
    main()
