"""LitCharts: a list of major persons with links, minor persons in full, and a page for each major person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .page import LIST, PERSON, GuideEntry, GuidePage, finish, first_text, joined, summary_page, text_of

_PERSON_LINK = re.compile(r"/characters/[^/?#]+/?$")
_AUTHOR = ("span.book-author h3.inline", "span.book-author h3", ".book-author a")


def parse(soup: Any, address: str) -> GuidePage:
    known = {"title": first_text(soup, "h2.book-title", ".book-title"), "author": first_text(soup, *_AUTHOR)}
    if name := first_text(soup, "span.component-title"):
        texts = [text_of(p) for p in soup.select("div.highlightable-content p")]
        return finish(PERSON, "person", [GuideEntry(name, joined(texts))], **known)
    listed = [*map(_major, soup.select("div.character.index-list-item"))]
    minor = [*map(_minor, soup.select("div.character.readable"))]
    seen = {entry.name for entry in listed + minor}
    menu = [entry for entry in _menu(soup) if entry.name not in seen]
    if listed or minor or menu:
        return finish(LIST, "list" if listed or minor else "menu", [*listed, *menu, *minor], **known)
    if plot := soup.select("p.plot-text"):
        return summary_page("plot", plot, **known)
    problem = (
        "empty"
        if known["title"] and _PERSON_LINK.sub("", address).endswith("/characters")
        else "unknown layout"
    )
    return GuidePage(LIST, "", known["title"], known["author"], problem=problem)


def _major(item: Any) -> GuideEntry:
    """A major person; the link is the item's own, not the page's first."""
    link = next((a["href"] for a in item("a", href=True) if _PERSON_LINK.search(a["href"])), "")
    return GuideEntry(
        first_text(item, "h2", "div.name", "h3"), joined(text_of(p) for p in item("p")), link=link
    )


def _minor(item: Any) -> GuideEntry:
    texts = [text_of(node) for node in item.select("div.no-inline-characters")]
    return GuideEntry(first_text(item, "div.name", "h2"), joined(texts), minor=True)


def _menu(soup: Any) -> Iterator[GuideEntry]:
    """Persons of the side menu; its other entries (themes, ...) have other addresses."""
    for link in soup.select("a.subcomponent.tappable[href]"):
        if _PERSON_LINK.search(link["href"]):
            yield GuideEntry(text_of(link), link=link["href"])
