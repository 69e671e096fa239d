"""EPUB, HTML and plain text of the same story: are the tokens the same?

    python benchmarks/bench_ebook.py ../shared/data/cleaning [--books 20]

The folder has Gutenberg texts with a label for every paragraph (story or not, by their HTML editions). Of
each book the story is written three times: as plain text, as one HTML page, and as an EPUB of a file per
hundred paragraphs, in which notes are `aside`s of the type footnote. Printed is the share of the plain text's
tokens that the other two have, too, in order. The files are made here: how publishers mark their books up is
not measured.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from bookcoref_data.alignment import align
from bookcoref_data.text.read_book import ReadSettings, read_book

CONTAINER = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'


def page(paragraphs: list[dict]) -> str:
    """Paragraphs as HTML; notes as asides."""
    rows = [
        f"<p>{escape(p['text'])}</p>" if p["label"] == "story" else
        f'<aside epub:type="footnote"><p>{escape(p["text"])}</p></aside>'
        for p in paragraphs
    ]  # fmt: skip
    return f"<html><head><meta charset='utf-8'/><title>x</title></head><body>{''.join(rows)}</body></html>"


def epub(paragraphs: list[dict]) -> bytes:
    """Paragraphs as an EPUB."""
    stream = io.BytesIO()
    parts = [paragraphs[at : at + 100] for at in range(0, len(paragraphs), 100)]
    items = "".join(
        f'<item id="c{i}" href="c{i}.xhtml" media-type="application/xhtml+xml"/>' for i in range(len(parts))
    )
    spine = "".join(f'<itemref idref="c{i}"/>' for i in range(len(parts)))
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("book.opf", f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>")
        for i, part in enumerate(parts):
            archive.writestr(f"c{i}.xhtml", page(part))
    return stream.getvalue()


def same(old: Sequence[str], new: Sequence[str]) -> float:
    """Share of the tokens of `old` that `new` has, in order."""
    number = {token: i for i, token in enumerate({*old, *new})}
    one, other = (np.array([number[token] for token in tokens]) for tokens in (old, new))
    return float(np.mean(align(one, other) >= 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--books", type=int, default=20)
    options = parser.parse_args()
    rows = []
    paths = sorted(options.folder.glob("*.truth.jsonl.gz"), key=lambda path: path.stat().st_size)
    print("| book | tokens | HTML | EPUB |\n|---|---|---|---|")
    for path in paths[: options.books]:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
        kept = [p for p in map(json.loads, lines) if p["label"] == "story" or "note" in p.get("kind", "")]
        story = "\n\n".join(p["text"] for p in kept if p["label"] == "story")
        forms = {"txt": story.encode(), "html": page(kept).encode(), "epub": epub(kept)}
        settings = ReadSettings(apparatus="keep")
        tokens = {form: read_book(data, f"book.{form}", settings).tokens for form, data in forms.items()}
        size = len(tokens["txt"])
        shares = {form: same(tokens["txt"], tokens[form]) for form in ("html", "epub")}
        rows.append((path.name.split(".")[0], size, shares["html"], shares["epub"]))
        print(f"| {rows[-1][0]} | {size:,} | {shares['html']:.4%} | {shares['epub']:.4%} |", flush=True)
    total = sum(row[1] for row in rows)
    html, book = (sum(row[1] * row[i] for row in rows) / total for i in (2, 3))
    print(f"| all {len(rows)} | {total:,} | {html:.4%} | {book:.4%} |")


if __name__ == "__main__":
    main()
