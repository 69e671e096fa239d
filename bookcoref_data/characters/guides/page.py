"""What a study-guide page says, and the few ways of reading HTML that all sites share."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ...errors import needing
from ...resources import load_toml, resource
from ..name_lists import ARTICLES
from ..names import read_name
from ..titles import PARTICLES

KINDS = LIST, PERSON, MINOR, SUMMARY = "list", "person", "minor", "summary"


@dataclass(frozen=True, slots=True)
class GuideEntry:
    """One character as a page lists it: the name as found, its text (None if there is none), and its link.

    `analysis` is all that a page about this person alone says of it, sub-headings left out; None on lists.
    """

    name: str
    text: str | None = None
    minor: bool = False
    link: str = ""
    analysis: str | None = None


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A page read. `kind` is "list", "person", "minor" or "summary".

    `title` and `author` are the book's, "" when the page does not say. `more` are links to pages that
    go on with this page, `analyses` links to in-depth pages that name nobody. `text` is the summary of a page
    of summaries. `problem` is "" or the reason why nothing could be read: "soft error", "empty", "unknown
    layout".
    """

    kind: str
    title: str = ""
    author: str = ""
    entries: tuple[GuideEntry, ...] = ()
    more: tuple[str, ...] = ()
    problem: str = ""
    text: str | None = None
    analyses: tuple[str, ...] = ()


def soup_of(html: bytes | str) -> Any:
    """The parsed page, without scripts, comments and the archive's toolbar."""
    with needing("harvest", "beautifulsoup4", "reading study-guide pages"):
        from bs4 import BeautifulSoup, Comment
    soup = BeautifulSoup(html, "html.parser")
    for node in soup.select("script, style, noscript, #wm-ipp-base, #wm-ipp, #donato"):
        node.decompose()
    for comment in soup.find_all(string=lambda s: isinstance(s, Comment)):
        comment.extract()
    return soup


_BLOCKS = frozenset({"p", "div", "li", "ul", "ol", "br", "h1", "h2", "h3", "h4", "h5", "h6"}) | {
    "blockquote", "section", "article", "td",
}  # fmt: skip


def text_of(node: Any) -> str:
    """The text of an element on one line: inline tags add nothing, `br` and blocks a space."""
    return " ".join("".join(_pieces(node)).split())


def _pieces(node: Any) -> Iterator[str]:
    for child in node.children:
        name = getattr(child, "name", None)
        if name is None:
            yield str(child)
        elif name in _BLOCKS:
            yield from (" ", *_pieces(child), " ")
        else:
            yield from _pieces(child)


def first_text(soup: Any, *selectors: str) -> str:
    """The text of the first element that any selector finds with text, in the order of the selectors."""
    for selector in selectors:
        for node in soup.select(selector):
            if text := text_of(node):
                return text
    return ""


def following(heading: Any, *stops: str) -> Iterator[Any]:
    """The elements behind a heading, beside it, up to the next one with one of these tags."""
    return takewhile(lambda sibling: sibling.name not in stops, heading.find_next_siblings())


_MOST_WORDS = 15
_IN_NAMES = PARTICLES | ARTICLES | {"of", "and", "or", "to", "in", "from", "with", "at", "on", "who", "alias"}
_WORDING = load_toml(resource("manifests", "guide_pages.toml"))
_TO_READERS = re.compile(_WORDING["to_readers"])
_FOOTERS = [re.compile(footer) for footer in _WORDING["footers"]]


def without_footers(text: str) -> str:
    """Text without "Read an in-depth analysis of X.", "Continued on next page..." and the like."""
    for footer in _FOOTERS:
        text = footer.sub("", text)
    return text.strip()


def joined(paragraphs: Iterable[str]) -> str | None:
    """Paragraphs in one text, an empty line between them; None when nothing is left."""
    kept = [text for text in map(without_footers, paragraphs) if text]
    return "\n\n".join(kept) or None


def author_name(text: str) -> str:
    """An author field without a leading "by"."""
    return re.sub(r"^by\s+", "", text, flags=re.IGNORECASE).strip()


_MINOR = re.compile(r"(?:the )?(?:minor|other|secondary|supporting) characters?:?", re.IGNORECASE)
_MAJOR = re.compile(r"(?:the )?(?:major|main|primary) characters?:?", re.IGNORECASE)


def group_heading(text: str) -> bool | None:
    """True for "Minor Characters", False for "Major Characters", None for anything else."""
    if _MINOR.fullmatch(text):
        return True
    return False if _MAJOR.fullmatch(text) else None


def summary_page(
    paragraphs: Iterable[Any], *, title: str, author: str, more: Iterable[str] = ()
) -> GuidePage:
    """A page with the summary in these elements; without any it has a problem."""
    text = joined(map(text_of, paragraphs))
    problem = "" if text else "empty"
    return GuidePage(SUMMARY, title, author_name(author), (), tuple(dict.fromkeys(more)), problem, text)


def finish(
    kind: str, entries: Iterable[GuideEntry], *, title: str, author: str, more: Iterable[str] = ()
) -> GuidePage:
    """A page with its entries, nameless ones dropped; without any it has a problem.

    Most entries must look like people. Pages of later years carry offers, sections and quizzes in the same
    elements; such a page has an unknown layout and no entries.
    """
    named = tuple(entry for entry in entries if entry.name)
    people = sum(map(looks_like_a_person, named))
    problem = "" if 2 * people > len(named) else "unknown layout" if named else "empty"
    kept = () if problem else named
    return GuidePage(kind, title, author_name(author), kept, tuple(dict.fromkeys(more)), problem)


def looks_like_a_person(entry: GuideEntry) -> bool:
    """Whether a name reads like one, and what is said of it does not speak to the reader."""
    words = entry.name.split()
    plain = [word for word in words[1:] if word[0].islower() and word.strip(".,()") not in _IN_NAMES]
    described = words[0].lower() in ARTICLES or any(mark in entry.name for mark in "(,:")
    if len(words) > _MOST_WORDS or entry.name[-1] in "?!…" or (len(plain) > 1 and not described):
        return False
    return bool(read_name(entry.name).people) and not _TO_READERS.search(entry.text or "")
