"""GradeSaver: one page lists all characters, each in a section or under a heading of its own."""

from typing import Any

from .page import LIST, GuideEntry, GuidePage, finish, first_text, following, joined, summary_page, text_of

_AUTHOR = ("[itemprop=author] a", "[itemprop=author]")
_HEADS = "section.linkTarget > h2, h2.toc_header"


def parse(soup: Any, address: str) -> GuidePage:
    title = first_text(soup, "h1")
    for ending in (" Study Guide", " Characters", " Character List", " Summary"):
        title = title.removesuffix(ending)
    known = {"title": title, "author": first_text(soup, *_AUTHOR)}
    body = soup.select_one("article.section__article, article[role=article]")
    heads = list(dict.fromkeys((body or soup).select(_HEADS)))
    if heads:
        found = []
        for head in heads:  # a name, and the paragraphs before the next name or the end of its section
            nodes = following(head, "h1", "h2", "section")
            told = joined(text_of(node) for node in nodes if node.name in ("p", "blockquote"))
            found.append(GuideEntry(text_of(head).rstrip(": "), told))
        return finish(LIST, found, **known)
    if body is None:
        return GuidePage(LIST, known["title"], known["author"], problem="unknown layout")
    if address.rstrip("/").endswith("summary"):
        return summary_page(body.find_all("p", recursive=False), **known)
    return GuidePage(LIST, known["title"], known["author"], problem="empty")
