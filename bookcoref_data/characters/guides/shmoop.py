"""Shmoop: a page for each major person, one for all minor persons, and a list that links to them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from . import page

_BREADCRUMB = ("ul.items > li:nth-of-type(4) > a",)
_MAIN = ("[data-element=main]", "[data-content-type=text]", "div.content-wrapper")
_NOT_PERSONS = ("minor-characters", "/characters", "/quiz", "/summary")


def parse(soup: Any, address: str) -> page.GuidePage:
    title = page.first_text(soup, *_BREADCRUMB) or _title_from_meta(soup)
    known = {"title": title, "author": page.first_text(soup, "span.author-name")}
    if overview := soup.select("div[data-class=SHPlotOverviewSection] > p"):
        return page.summary_page(overview, **known)
    # The block with the page's own title; its position among others has changed over the years
    blocks = (block for selector in _MAIN for block in soup.select(selector))
    main = next((block for block in blocks if block.select_one("h2.title")), None)
    if main is None:
        if menu := list(_linked(soup.select("a[href*=characters] + ul > li a[href]"))):
            return page.finish(page.LIST, menu, **known)
        return page.GuidePage(page.LIST, title, known["author"], problem="unknown layout")
    name = page.text_of(main.select_one("h2.title"))
    if name == "Minor Characters":
        people = ((head, page.joined(map(page.text_of, page.following(head, "h3")))) for head in main("h3"))
        minor = (page.GuideEntry(page.text_of(head), text, minor=True) for head, text in people)
        return page.finish(page.MINOR, minor, **known)
    if name == "Characters":
        return page.finish(page.LIST, _linked(main.select("h3 a[href], h4 a[href], li > a[href]")), **known)
    if re.fullmatch(r"(?:plot )?summary|plot overview", name, re.IGNORECASE):
        return page.summary_page(main.find_all("p", recursive=False), **known)
    whole = page.joined(map(page.text_of, main.find_all(["p", "blockquote"], recursive=False)))
    return page.finish(page.PERSON, [page.GuideEntry(name, _description(main), analysis=whole)], **known)


def _description(main: Any) -> str | None:
    """Paragraphs before the first sub-heading; on a page that opens with one, those of the first section."""
    sections: list[list[str]] = [[]]
    for node in main.children:
        name = getattr(node, "name", None)
        if name == "h3":
            sections.append([])
        elif name in ("p", "blockquote"):
            sections[-1].append(page.text_of(node))
    return next((text for text in map(page.joined, sections) if text), None)


def _linked(links: Iterable[Any]) -> Iterator[page.GuideEntry]:
    """The persons that links lead to; pages of many persons are none."""
    for link in links:
        if not link["href"].rstrip("/").endswith(_NOT_PERSONS):
            yield page.GuideEntry(page.text_of(link), link=link["href"])


def _title_from_meta(soup: Any) -> str:
    """The title from "X in Y | Shmoop", where both may hold " in ": the description confirms."""

    def content(name: str) -> str:
        node = soup.select_one(f"meta[name={name}]")
        return " ".join((node.get("content") or "").split()) if node else ""

    title, description = content("title").split(" | ")[0], content("description")
    pieces = title.split(" in ")
    candidates = [" in ".join(pieces[start:]) for start in range(1, len(pieces))]
    confirmed = (c for c in candidates if re.search(rf"\b(?:from|of|in) {re.escape(c)} by ", description))
    return next(confirmed, "")
