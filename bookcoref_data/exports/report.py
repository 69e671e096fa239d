"""What a scholar puts into a paper: cast with counts, shares of speech, presence by chapter, the network."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from ..books.annotation import Annotation
from ..errors import UsageError, needing, plural
from ..files import safe_name, write_bytes, write_text
from ..formats.cells import cell_text, markdown_row
from ..late import matplotlib, np, nx
from .network import network
from .reading import LaidOutBook
from .tables import characters, speech

_MOST = 20
"""Characters in plots."""
_WEAKEST = 0.02
"""Edges of the drawn network have at least this share of the heaviest one's weight."""
_WORDS = ("character", "speaker", "addressee")
"""Columns that hold words; the others hold numbers."""
_MOST_LETTERS = 40
"""Letters of a name in plots."""
_STYLE = (
    "body{font:1rem/1.5 Georgia,serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;font-size:.9rem}td,th{padding:.15rem .6rem;border-bottom:1px solid #ccc;"
    "text-align:right}.words{text-align:left}img{max-width:100%}div{overflow-x:auto}"
    "h1{overflow-wrap:anywhere}@media print{div{overflow:visible}}"
)

_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode("utf-8")).digest()).decode("ascii")
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def write_report(
    annotations: Sequence[Annotation], out: Path, *, plots: bool = True,
    titles: Mapping[str, str] | None = None,
) -> list[Path]:  # fmt: skip
    """Write the report of some books to `out`: .html with its pictures inside, .md with pictures beside it.

    `titles` are those of books by document key; without one the key stands for it.
    """
    if out.suffix not in (".html", ".md"):
        raise UsageError(f"a report is a page: {out}", expected="--out with .html or .md")
    readings = [LaidOutBook(a) for a in annotations]
    named = {a.doc_key: a.doc_key for a in annotations} | dict(titles or {})
    drawn: dict[str, dict[str, bytes]] = {r.annotation.doc_key: {} for r in readings}
    for r in readings if plots else ():
        drawn[r.annotation.doc_key]["presence"] = _png(draw_presence(r))
        if r.annotation.mentions:
            drawn[r.annotation.doc_key]["network"] = _png(draw_network(r))
    if out.suffix == ".html":
        write_text(out, _html(readings, drawn, named))
        return [out]
    files, pieces = [out], []
    for r in readings:
        key = r.annotation.doc_key
        pieces += [f"# {named[key]}", _facts(r)]
        for title, heads, rows in _tables(r):
            lines = [heads, ["---" if h in _WORDS else "---:" for h in heads], *rows]
            pieces += [f"## {title}", "\n".join(map(markdown_row, lines))]
        for kind, content in drawn[key].items():
            files.append(out.with_name(f"{out.stem}.{safe_name(key, 'document key')}.{kind}.png"))
            write_bytes(files[-1], content)
            picture = f"![{_CAPTIONS[kind]}]({quote(files[-1].name)})"
            pieces += [f"## {kind.capitalize()}", picture, _CAPTIONS[kind]]
    write_text(out, "\n\n".join(pieces) + "\n")
    return files


def _facts(r: LaidOutBook) -> str:
    a = r.annotation
    words = r.word_count(0, len(a.book.tokens) - 1)
    known = sum(q.speaker >= 0 for q in a.quotes)
    told = f"{words:,} words in {plural(len(r.chapters), 'chapter')}; {len(a.mentions):,} mentions of "
    told += plural(sum(1 for group in a.by_character if group), "character")
    return f"{told}; {len(a.quotes):,} quotes, {known:,} with a speaker." if a.quotes else f"{told}."


def _tables(r: LaidOutBook) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """(title, heads, rows) of the cast, and of who speaks to whom."""
    cast = characters(r)
    spoken = sum(row["words_spoken"] for row in cast)
    columns = {head: head for head in ("character", "mentions", "names", "pronouns", "chapters")}
    columns |= {"first": "first_chapter", "last": "last_chapter"}
    if spoken:
        columns |= {"quotes": "quotes", "words spoken": "words_spoken", "share of speech": "share"}
        cast = [row | {"share": f"{100 * row['words_spoken'] / spoken:.1f} %"} for row in cast]
    yield "Cast", [*columns], [[cell_text(row[c]) for c in columns.values()] for row in cast]
    pairs = [row for row in speech(r) if row["speaker"] and row["addressee"]][:_MOST]
    if pairs:
        heads = ["speaker", "addressee", "quotes", "words"]
        yield "Who speaks to whom", heads, [[cell_text(row[c]) for c in heads] for row in pairs]


_CAPTIONS = {
    "presence": "Mentions by chapter; darker is more, each row by its own greatest number.",
    "network": "Characters that speak to each other or are mentioned near each other; thicker is more often.",
}


def _html(
    readings: Sequence[LaidOutBook], drawn: Mapping[str, Mapping[str, bytes]], named: Mapping[str, str]
) -> str:
    pieces = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f'<meta http-equiv=Content-Security-Policy content="{_POLICY}">'
        f"<title>{escape(', '.join(named.values())[:200])}: characters</title>"
        f"<style>{_STYLE}</style><main>"
    ]
    for r in readings:
        pieces += [f"<h1>{escape(named[r.annotation.doc_key])}</h1><p>{_facts(r)}</p>"]
        for title, heads, rows in _tables(r):
            kinds = [" class=words" * (h in _WORDS) for h in heads]
            head = "".join(f"<th scope=col{k}>{escape(h)}</th>" for h, k in zip(heads, kinds, strict=True))
            cells = ((f"<td{k}>{escape(c)}</td>" for c, k in zip(row, kinds, strict=True)) for row in rows)
            body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
            pieces.append(
                f'<h2>{title}</h2><div tabindex=0 role=region aria-label="{title}"><table><thead>'
                f"<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            )
        for kind, content in drawn[r.annotation.doc_key].items():
            picture = base64.b64encode(content).decode("ascii")
            pieces.append(
                f"<h2>{kind.capitalize()}</h2>"
                f'<img alt="{_CAPTIONS[kind]}" src="data:image/png;base64,{picture}">'
                f"<p>{_CAPTIONS[kind]}</p>"
            )
    return "\n".join([*pieces, "</main></html>\n"])


# --- plots


def _figure(width: float, height: float) -> matplotlib.figure.Figure:
    with needing("plots", "matplotlib", "a report without --no-plots"):
        return matplotlib.figure.Figure(figsize=(width, height), layout="constrained")


def _png(figure: matplotlib.figure.Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()


def draw_presence(r: LaidOutBook) -> matplotlib.figure.Figure:
    """Characters by chapters, darker where there are more mentions; each row by its own greatest number."""
    most = [row["character"] for row in characters(r)[:_MOST]]
    row_of = {name: k for k, name in enumerate(most)}
    chapters = max(len(r.chapters), 1)  # a book without a word has none
    counts = np.zeros((max(len(most), 1), chapters))
    for m in r.annotation.mentions:
        k = row_of.get(r.name(m.character))
        if k is not None:
            counts[k, r.chapter_of(m.start)] += 1
    figure = _figure(9, 1.2 + 0.28 * len(most))
    axes = figure.subplots()
    axes.imshow(counts / np.maximum(counts.max(axis=1, keepdims=True), 1), aspect="auto", cmap="Blues")
    axes.set_yticks(range(len(most)), [_label(name) for name in most])
    axes.set_xlabel("chapter")
    places = range(0, chapters, -(-chapters // 20))  # twenty numbers fit side by side
    axes.set_xticks(list(places), [str(k + 1) for k in places])
    return figure


def draw_network(r: LaidOutBook) -> matplotlib.figure.Figure:
    """The most mentioned characters and how often they meet; weak edges are left out."""
    graph = network(r)
    graph = graph.subgraph(sorted(graph, key=lambda n: (-graph.nodes[n]["mentions"], n))[:_MOST]).copy()
    heaviest = max([w for *_, w in graph.edges(data="weight")], default=0)
    weak = [(a, b) for a, b, w in graph.edges(data="weight") if w < max(1, _WEAKEST * heaviest)]
    graph.remove_edges_from(weak)
    figure = _figure(9, 7)
    axes = figure.subplots()
    axes.axis("off")
    # The circle keeps names apart whatever the weights are, and is the same in every run.
    places = nx.circular_layout(graph)
    nx.draw_networkx_edges(
        graph, places, ax=axes, edge_color="#8a6d4b", alpha=0.6,
        width=[0.4 + 6 * w / heaviest for *_, w in graph.edges(data="weight")],
    )  # fmt: skip
    greatest = max((graph.nodes[n]["mentions"] for n in graph), default=1) or 1
    sizes = {n: 40 + 500 * graph.nodes[n]["mentions"] / greatest for n in graph}
    nx.draw_networkx_nodes(graph, places, ax=axes, node_color="#1c6dd0", node_size=[sizes[n] for n in graph])
    for n, (x, y) in places.items():
        side = "left" if x > 0.1 else "right" if x < -0.1 else "center"
        axes.text(x * 1.09, y * 1.09, _label(graph.nodes[n]["label"]), ha=side, va="center", fontsize=8)
    axes.margins(0.2)
    return figure


def _label(name: str) -> str:
    """A name in a plot: one short line, in which a dollar sign begins no formula."""
    text = " ".join("".join(c if c.isprintable() else " " for c in name[: 2 * _MOST_LETTERS]).split())
    return (text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…").replace("$", "\\$")
