"""The page of `view` beside a naive page, in headless Chromium: ready time, size, memory, jumps.

    python benchmarks/bench_view.py annotated/ [other-annotated/ ...] [--repeat 3]

The naive page has an element for every token and one for every mention, all in the document at once. "Ready"
is the time from opening the file to the first frame after the program has run; memory is that of the renderer
(resident set); a jump goes to random mentions and ends when the word's place on the screen is known. Needs
chromium, chromedriver and the packages selenium and psutil.
"""

from __future__ import annotations

import argparse
import html
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bookcoref_data.books.annotation import Annotation
from bookcoref_data.books.layout import lay_out
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.reading_page import render

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1400,900",
)  # fmt: skip
READY = (
    "requestAnimationFrame(() => setTimeout(() => "
    "{document.documentElement.dataset.ready = performance.now()}))"
)
JUMPS = 20


def naive(annotation: Annotation) -> str:
    """A page with a span per token, nested in a span per mention, and nothing else."""
    layout = lay_out(annotation)
    opens: dict[int, list[int]] = {}
    closes: dict[int, int] = {}
    for m in annotation.mentions:
        opens.setdefault(m.start, []).append(m.character)
        closes[m.end] = closes.get(m.end, 0) + 1
    pieces = [
        "<!doctype html><meta charset=utf-8><title>naive</title><body style='max-width:38rem;margin:auto'>"
    ]
    for p in layout.paragraphs:
        pieces.append("<p>")
        for i in range(p.start, p.end):
            pieces += [
                f'<span class="m c{c}" style="border-bottom:2px solid" title="{c}">' for c in opens.get(i, ())
            ]
            token = annotation.book.tokens[i]
            pieces.append(f'<span id="t{i}">{html.escape(token)}</span> ')
            pieces.append("</span>" * closes.get(i, 0))
        pieces.append("</p>")
    pieces.append(f"<script>{READY}</script>")
    return "".join(pieces)


class Chromium:
    """A fresh browser for one page."""

    def __init__(self) -> None:
        from selenium import webdriver

        self.profile = tempfile.mkdtemp()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for flag in (*FLAGS, f"--user-data-dir={self.profile}"):
            options.add_argument(flag)
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)

    def open(self, path: Path) -> float:
        """Open a page; milliseconds until it was ready."""
        self.driver.get(path.as_uri())
        while not (ready := self.driver.execute_script("return document.documentElement.dataset.ready")):
            time.sleep(0.02)
        return float(ready)

    def memory(self) -> float:
        """Resident megabytes of the largest renderer."""
        import psutil

        browser = psutil.Process(self.driver.service.process.pid)
        sizes = [
            p.memory_info().rss for p in browser.children(recursive=True) if "--type=renderer" in p.cmdline()
        ]
        return max(sizes, default=0) / 1e6

    def close(self) -> None:
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)


def measure(page: Path, repeat: int, tokens: list[int] | None) -> dict[str, Any]:
    """Best ready time and memory of `repeat` fresh browsers; milliseconds of jumps in the last one."""
    ready, memory, jumps = [], [], []
    for n in range(repeat):
        browser = Chromium()
        try:
            ready.append(browser.open(page))
            memory.append(browser.memory())
            if tokens and n == repeat - 1:
                jumps = [float(browser.driver.execute_script("return jump(arguments[0])", t)) for t in tokens]
        finally:
            browser.close()
    return {"ready": min(ready), "memory": min(memory), "jumps": jumps}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("annotated", nargs="+", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print("| book | tokens | page | ready s | MB | renderer MB | jump ms: median, most |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.annotated:
            for annotation in read_annotations(path):
                draw = random.Random(1)
                tokens = [
                    m.start for m in draw.sample(annotation.mentions, min(JUMPS, len(annotation.mentions)))
                ]
                for name, content in (("naive", naive(annotation)), ("view", render(annotation))):
                    page = Path(folder) / f"{name}.html"
                    page.write_text(content, encoding="utf-8")
                    found = measure(page, arguments.repeat, tokens if name == "view" else None)
                    jumps = found["jumps"]
                    told = f"{statistics.median(jumps):.0f}, {max(jumps):.0f}" if jumps else "-"
                    print(
                        f"| {annotation.doc_key} | {len(annotation.book.tokens):,} | {name} "
                        f"| {found['ready'] / 1000:.2f} | {page.stat().st_size / 1e6:.2f} "
                        f"| {found['memory']:.0f} | {told} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
