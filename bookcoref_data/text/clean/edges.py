"""The header and footer of Project Gutenberg, in the forms of every era.

Since about 2003: `*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***` (also THE for THIS, also without
blanks, also over two lines) and `*** END OF ...`, with `End of the Project Gutenberg EBook of ...` above it.
1993 to 2003: a header that ends with `*END*THE SMALL PRINT! ...*END*`, a footer of one line.
Before: no line that ends the header; then the last of the leading paragraphs that speak of the project.
"""

from __future__ import annotations

import re

from .model import Page, blocks_of

_OPENING = r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG"
_STARTS = (
    re.compile(rf"^{_OPENING}[^\n]*(?:\n[^\n]+){{0,3}}?\*\*\*[ \t]*$", re.M | re.I),
    re.compile(rf"^{_OPENING}[^\n]*$", re.M | re.I),
    re.compile(r"^\*END ?\*? ?THE SMALL PRINT[^\n]*$", re.M | re.I),
)
_FOOTER = re.compile(
    r"""^[ \t>]*(?:
        \*{2,}[ ]?END[ ]OF[ ](?:THE|THIS)[ ]PROJECT[ ]GUTENBERG
      | (?:This[ ]is[ ])?(?:The[ ])?End[ ]of[ ](?:the[ ]|this[ ])?Project[ ]Gutenberg
      | End[ ]of[ ](?:the[ ])?(?:etext|e-text|ebook)\b.{0,10}Gutenberg
      | \*{2,}[ ]?START:[ ]FULL[ ]LICENSE
      | THE[ ]FULL[ ]PROJECT[ ]GUTENBERG
      | \*{2,}[ ]?This[ ]file[ ]should[ ]be[ ]named
    )""",
    re.M | re.I | re.X,
)
_OWN_WORDS = re.compile(r"project gutenberg|gutenberg-tm|\betexts?\b|\be-texts?\b|small print", re.I)
_OLD_HEADER_LIMIT = 25_000  # characters: the longest headers of the nineties have about 17,000


def find_edges(text: str) -> tuple[int, int]:
    """(start, end) of what lies between header and footer; (0, len) when the file has neither."""
    start = _header_end(text)
    footer = _FOOTER.search(text, start)
    return start, footer.start() if footer else len(text)


def _header_end(text: str) -> int:
    for pattern in _STARTS:
        found = list(pattern.finditer(text))
        if found:
            return found[-1].end()
    end = 0
    for block in blocks_of(text, 0, min(len(text), _OLD_HEADER_LIMIT)):
        if _OWN_WORDS.search(block.text) and not _FOOTER.match(block.text):
            end = block.end
    return end


def cut_edges(page: Page) -> None:
    """Mark header and footer, and set the page's body to what lies between."""
    page.start, page.end = find_edges(page.text)
    page.cut("header", 0, page.start)
    page.cut("footer", page.end, len(page.text))
