"""CliffsNotes: a character list in running paragraphs (bold names, or names as headings), analysis pages."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from . import page

_BODY = ("article.copy", "div.contentArea")
_AUTHOR = ("#phsubheader_0_spAuthor", "div.title-wrapper > h2")
_ANALYSIS = re.compile(r"Character Analysis\s*[:–-]?\s*(\S.*)")
_ENDS = " :,;*–—-\u00a0"


def parse(soup: Any, address: str) -> page.GuidePage:
    title, author = page.first_text(soup, "div.title-wrapper > h1"), page.first_text(soup, *_AUTHOR)
    known = {"title": title, "author": author}
    body = next((found for selector in _BODY if (found := soup.select_one(selector))), None)
    if body is None:
        return page.GuidePage(page.LIST, title, author, problem="unknown layout")
    heading = page.first_text(body, "h1", "h2")
    if match := _ANALYSIS.fullmatch(heading):
        text = page.joined(page.text_of(p) for p in body("p"))
        return page.finish(page.PERSON, [page.GuideEntry(match[1], text, analysis=text)], **known)
    if re.fullmatch(r"(?:Book|Play|Poem|Story) Summary", heading):
        paragraphs = body.select("p.litNoteText") or body("p")
        return page.summary_page(paragraphs, more=_more(soup, address), **known)
    named = [p for p in body.select("p.litNoteTextHeading") if page.group_heading(page.text_of(p)) is None]
    listed = page.finish(page.LIST, _persons(body, bold=not named), more=_more(soup, address), **known)
    links = (a["href"] for a in soup.select("li a[href]") if "/character-analysis/" in a["href"])
    return replace(listed, analyses=tuple(dict.fromkeys(links)))


def _persons(body: Any, *, bold: bool) -> Iterator[page.GuideEntry]:
    """Persons in page order; text before the first belongs to none, and a heading ends a person."""
    minor, name, texts = False, "", []
    for node in body(["p", "h2", "h3", "h4"]):
        text = page.text_of(node)
        group = page.group_heading(text)
        heading = node.name != "p" or "litNoteTextHeading" in node.get("class", ())
        found, rest = _leading_bold(node) if bold and not heading else ("", text)
        if group is None and heading and not (not bold and node.name == "p"):
            continue
        if group is None and not heading and not found:
            texts += [text] if name else []
            continue
        if name:
            yield page.GuideEntry(name, page.joined(texts), minor)
        if group is not None:
            minor, name, texts = group, "", []
        elif heading:
            name, texts = text.strip(_ENDS), []
        else:
            name, texts = found, [rest]
    if name:
        yield page.GuideEntry(name, page.joined(texts), minor)


def _leading_bold(paragraph: Any) -> tuple[str, str]:
    """(name, rest) of a paragraph that opens with a bold name; ("", whole text) of any other.

    Bold words further on are emphasis, and every other way of telling names from text takes them for
    persons.
    """
    first = next((c for c in paragraph.children if getattr(c, "name", None) or str(c).strip()), None)
    while first is not None and getattr(first, "name", None) in ("i", "em", "span"):
        first = next((c for c in first.children if getattr(c, "name", None) or str(c).strip()), None)
    text = page.text_of(paragraph)
    if getattr(first, "name", None) not in ("b", "strong"):
        return "", text
    bold = page.text_of(first)
    name = bold.strip(_ENDS)
    return name, text[len(bold) :].lstrip(_ENDS) if name else text


def _more(soup: Any, address: str) -> list[str]:
    """The link to the rest of a list that is continued: `<this address>-2`, or a button with its name."""
    links = soup.select(
        "a.nav-bttn-filled[href], .small-6.columns.clear-padding-right a[href], a.cf-next[href]"
    )
    path = re.sub(r"(-\d+)?/?$", "", address.split("://")[-1].partition("/")[2])
    return [a["href"] for a in links if path and re.search(rf"{re.escape(path)}-\d+/?$", a["href"])]
