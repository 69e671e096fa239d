"""The embedded sample: a story of our own, its characters marked by hand, and the release made of them.

`story.marked.txt` and `cast.toml` are the source; `mirror/` and `release/` are generated from them by
`python tests/sample_story/regenerate.py` and committed: a rebuild of the sample reads files, exactly like a
rebuild of the real data set.
"""

from .markup import MarkedSpan, ParsedMarkup, parse_markup
from .release import mirror_files, release_files
from .story import (
    DOC_KEY,
    GUTENBERG_KEY,
    TITLE,
    gutenberg_text,
    marked_story,
    released_text,
    sample_book,
    sample_path,
)

__all__ = [
    "DOC_KEY", "GUTENBERG_KEY", "TITLE", "MarkedSpan", "ParsedMarkup", "gutenberg_text", "marked_story",
    "mirror_files", "parse_markup", "release_files", "released_text", "sample_book", "sample_path",
]  # fmt: skip
