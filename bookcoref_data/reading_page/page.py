"""An annotated book as one HTML file that asks nobody for anything.

The page is fast on long books because it holds text as one string per chapter and mentions as flat lists of
whole numbers; elements are made only for chapters near the screen (`page/2-text.js`). A content security
policy allows the page's own style and script, by their hashes, and nothing else.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from ..books.annotation import Annotation
from ..books.layout import Chapter, Layout, lay_out
from ..edits import aliases_of
from ..scoring.mention_types import TypeRules
from .compare import Differences
from .form import FOLDER, document, read_part

_MARKERS = "|~^`¦§¬\u2063"
_DOUBT, _MOST_OTHERS = 0.6, 2
"""Links less certain than this carry their next best candidates, so many at most, to keep the page small."""


@dataclass(frozen=True)
class PageOptions:
    """What a page says beside the book.

    `title` is shown on top (default: the document key). `edits` are corrections the page begins with,
    `author` is written into new ones. `server` is what a page of `view --serve` must know: token, version
    and file.
    """

    title: str = ""
    edits: Sequence[dict[str, Any]] = ()
    author: str = ""
    spoiler_safe: bool = False
    differences: Differences | None = None
    server: dict[str, str] | None = None


def render(annotation: Annotation, options: PageOptions | None = None) -> str:
    """The page as one HTML document."""
    options = options or PageOptions()
    data, serving = page_data(annotation, options), options.server is not None
    return document(
        read_part("page/page.html"), options.title or annotation.doc_key, read_part("page/page.css"),
        page_script(), data, serving,
    )  # fmt: skip


@cache
def page_script() -> str:
    """The program of the page: what all pages share, then its parts in the order of their numbers."""
    parts = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("page/*.js"))
    return "\n".join(map(read_part, ["shared.js", *parts]))


def page_data(annotation: Annotation, options: PageOptions) -> dict[str, Any]:
    """Everything the page's program reads."""
    layout = lay_out(annotation)
    # A character that the book does not use; one byte if there is such.
    used = set().union(*annotation.book.tokens) if annotation.book.tokens else set()
    marker = next((c for c in _MARKERS if c not in used), "\ue000")
    codes = _numbers()  # of (kind, step, rule, length less one): most mentions share a few of them
    mentions = _flat_mentions(annotation, codes)
    reasons, rules = _numbers(), _numbers()
    gone = [[*d[:3], reasons[d.reason], _percent(d.score)] for d in sorted(annotation.dropped)]
    # start (difference to the one before), length less one, speaker, rule, score, addressees; repeated.
    flat: list[int] = []
    before = 0
    for q in annotation.quotes:
        flat += (q.start - before, q.end - q.start, q.speaker, rules[q.rule], _percent(q.score))
        flat += (len(q.addressees), *q.addressees)
        before = q.start
    unsure = ((i, m) for i, m in enumerate(annotation.mentions) if m.others and m.score < _DOUBT)
    return {
        "key": annotation.doc_key, "digest": annotation.book.tokens_sha256()[:16],
        "title": options.title or annotation.doc_key, "tokens": len(annotation.book.tokens), "marker": marker,
        "names": list(annotation.names), "aliases": aliases_of(annotation),
        "titles": [c.title for c in layout.chapters], "starts": [c.start for c in layout.chapters],
        "texts": [chapter_text(annotation, layout, c, marker) for c in layout.chapters],
        "editCode": codes["", "edit", "", 0], "codes": list(codes), "mentions": mentions,
        "others": {str(i): [[c, _percent(p)] for c, p in m.others[:_MOST_OTHERS]] for i, m in unsure},
        "quotes": flat, "quoteRules": list(rules), "dropped": gone, "reasons": list(reasons),
        "edits": list(options.edits), "author": options.author, "spoiler": options.spoiler_safe,
        "compared": options.differences.to_dict() if options.differences else None, "server": options.server,
    }  # fmt: skip


def _numbers() -> defaultdict[Any, int]:
    """Numbers distinct values in the order in which they come."""
    known: defaultdict[Any, int] = defaultdict()
    known.default_factory = known.__len__
    return known


def _percent(score: float) -> int:
    return max(0, min(100, round(100 * score)))


def _flat_mentions(annotation: Annotation, codes: dict[Any, int]) -> list[int]:
    """start (difference to the one before), character, code * 101 + score in percent; repeated."""
    rules = cache(partial(TypeRules.of, annotation))  # made where it is first asked
    flat: list[int] = []
    before = 0
    for m in annotation.mentions:
        kind = m.kind or rules().type_of(m.start, m.end)
        code = codes[kind, m.step, m.rule, m.end - m.start]
        flat += (m.start - before, m.character, 101 * code + _percent(m.score))
        before = m.start
    return flat


def chapter_text(annotation: Annotation, layout: Layout, chapter: Chapter, marker: str) -> str:
    """The chapter as one string; between two tokens stands a blank (printed) or the marker (not printed).

    "\\n" is a token that ends a paragraph, "\\t" ends a paragraph without a token, "\\f" is any other token
    of white space.
    """
    pieces: list[str] = []
    for number, p in enumerate(chapter.paragraphs):
        if number and not (pieces and pieces[-1] == "\n"):
            pieces.append("\t")
        separator = ""
        for i in range(p.start, p.end):
            token = annotation.book.tokens[i]
            if not token.strip():
                pieces.append("\n" if "\n" in token and i + 1 == p.end else "\f")
                separator = ""
                continue
            pieces += (separator, "\u00a0".join(token.split()))
            if i + 1 < p.end:
                gap = layout.text[layout.ends[i] : layout.starts[i + 1]]
                separator = " " if any(c.isspace() for c in gap) else marker
    return "".join(pieces)
