"""SparkNotes: one page lists all characters, in one of three forms; in-depth pages have one person each."""

from typing import Any
from urllib.parse import urlsplit

from .page import LIST, PERSON, GuideEntry, GuidePage, finish, first_text, joined, summary_page, text_of

TITLE = ("h1.TitleHeader_title", "h1[class^=TitleHeader_title]", "[class*=TitleHeader_title]")
AUTHOR = (
    "div.TitleHeader_authorName", "a.TitleHeader_authorLink", ".TitleHeader_authorName__header",
    ".TitleHeader_authorLink__header", ".subnav__writtenby a",
)  # fmt: skip
SOFT_ERRORS = ("Something bad happened. Sorry.", "read ECONNRESET")
_PAGING = (
    ".pagination-links a[href]",
    ".interior-sticky-nav__navigation a[href]",
    ".interior-sticky-nav__navigation__list--short a[href]",
    "a.interior-pagination-short__link[href]",
)


def parse(soup: Any, address: str) -> GuidePage:
    title, author = first_text(soup, *TITLE), first_text(soup, *AUTHOR)
    if title in SOFT_ERRORS or (soup.title and text_of(soup.title) in SOFT_ERRORS):
        return GuidePage(LIST, problem="soft error")
    known = {"title": title, "author": author}
    if overview := soup.select("#plotoverview p"):
        return summary_page(overview, **known)
    if name := first_text(soup, "span.interior-sticky-nav__title__section"):
        texts = [text_of(p) for p in soup.select("div.mainTextContent p, div.content_txt p")]
        return finish(PERSON, [GuideEntry(name, joined(texts), analysis=joined(texts))], **known)
    if urlsplit(address).path.rstrip("/").endswith("/summary"):
        body = soup.select("div.mainTextContent p, div.studyGuideText p, #section p")
        return summary_page(body, **known)
    # Links to `<this page>/page/2/` and so on; those of other sections are none of ours.
    further = urlsplit(address).path.rstrip("/") + "/page/"
    more = [link for selector in _PAGING for a in soup.select(selector) if further in (link := a["href"])]
    if items := soup.select("li.mainTextContent__list-content__item"):
        told = ((first_text(item, "h3", "h4"), joined(map(text_of, item("p"))), item) for item in items)
        people = (GuideEntry(name, text, link=_in_depth(item)) for name, text, item in told)
        return finish(LIST, people, more=more, **known)
    run = [
        h for block in soup.select("div.mainTextContent, div.studyGuideText, #section") for h in block("h3")
    ]
    if run:
        return finish(LIST, map(_heading, dict.fromkeys(run)), more=more, **known)
    if blocks := soup.select("div.content_txt[id]"):
        return finish(LIST, map(_block, blocks), more=more, **known)
    return GuidePage(LIST, title, author, problem="unknown layout")


def _heading(heading: Any) -> GuideEntry:
    """A name and the paragraphs up to the next heading."""
    texts, link = [], ""
    for sibling in heading.find_next_siblings():
        if sibling.name in ("h1", "h2", "h3"):
            break
        texts.append(text_of(sibling))
        link = link or _in_depth(sibling)
    return GuideEntry(text_of(heading), joined(texts), link=link)


def _block(block: Any) -> GuideEntry:
    name = first_text(block, "h2", "h3", "h4", "b", "strong")
    return GuideEntry(name, joined(text_of(p).removeprefix(name).lstrip(" :-–—") for p in block("p")))


def _in_depth(node: Any) -> str:
    return next((a["href"] for a in node("a", href=True) if "in-depth" in text_of(a).lower()), "")
