"""LitCharts: a list of major persons with links, minor persons in full, and a page for each major person."""

import re
from typing import Any

from .page import LIST, PERSON, GuideEntry, GuidePage, finish, first_text, joined, summary_page, text_of

_PERSON_LINK = re.compile(r"/characters/[^/?#]+/?$")
_AUTHOR = ("span.book-author h3.inline", "span.book-author h3", ".book-author a")


def parse(soup: Any, address: str) -> GuidePage:
    known = {"title": first_text(soup, "h2.book-title", ".book-title"), "author": first_text(soup, *_AUTHOR)}
    if name := first_text(soup, "span.component-title"):
        texts = [text_of(p) for p in soup.select("div.highlightable-content p")]
        return finish(PERSON, [GuideEntry(name, joined(texts))], **known)
    listed = [*map(_major, soup.select("div.character.index-list-item"))]
    told = (
        (first_text(item, "div.name", "h2"), joined(map(text_of, item.select("div.no-inline-characters"))))
        for item in soup.select("div.character.readable")
    )
    minor = [GuideEntry(name, text, minor=True) for name, text in told]
    seen = {entry.name for entry in listed + minor}
    # The side menu; its entries that are no persons (themes, ...) have other addresses
    links = [a for a in soup.select("a.subcomponent.tappable[href]") if _PERSON_LINK.search(a["href"])]
    menu = [GuideEntry(text_of(a), link=a["href"]) for a in links if text_of(a) not in seen]
    if listed or minor or menu:
        return finish(LIST, [*listed, *menu, *minor], **known)
    if plot := soup.select("p.plot-text"):
        return summary_page(plot, **known)
    listed_here = known["title"] and _PERSON_LINK.sub("", address).endswith("/characters")
    problem = "empty" if listed_here else "unknown layout"
    return GuidePage(LIST, known["title"], known["author"], problem=problem)


def _major(item: Any) -> GuideEntry:
    """A major person; the link is the item's own, not the page's first."""
    link = next((a["href"] for a in item("a", href=True) if _PERSON_LINK.search(a["href"])), "")
    return GuideEntry(first_text(item, "h2", "div.name", "h3"), joined(map(text_of, item("p"))), link=link)
