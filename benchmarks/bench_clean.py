"""Cleaning against the release: token counts of the 52 books, alignment of the two books with known tokens.

    python benchmarks/bench_clean.py [--shared FOLDER] [--book ID ...] [--speed]

`released` counts paragraph ends as the release does (docs/cleaning.md), `all` one token per paragraph;
`table 8` leaves out the author's short prefaces, too (`prefaces = "long"`), as the table seems to; `markers`
is the peer: the text between the START and END lines, as other tools cut it. `--speed` prints CPU time beside
gutenbergpy's `strip_headers`, and the memory of cleaning large files, and nothing else.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bookcoref_data.alignment import align
from bookcoref_data.text.clean.edges import find_edges
from bookcoref_data.text.decode import decode
from bookcoref_data.text.read_book import clean_file, drop_released_breaks
from bookcoref_data.text.tokens import Tokenized, tokenize_body
from bookcoref_data.workflows.clean import clean_one, read_settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("BOOKCOREF_SHARED", ROOT.parent / "shared"))
# Why a count is off by more than 1%, where the text of the edition shows it.
WHY = {
    "102": "Table 8's figure is that of the text without any paragraph tokens",
    "2852": "Table 8's figure is that of the text without any paragraph tokens",
    "19810": "Table 8 leaves out the introduction, which is part of the fiction (the narrator's frame)",
    "370": "Table 8 leaves out Defoe's own preface",
    "1377": "Table 8 counts Scott's introduction",
    "28240": "Table 8 counts the 62,000 characters of translator's notes",
    "2383": "an annotated edition; the recipe cuts glosses and the poems behind the Tales",
    "996": "Table 8 leaves out the commendatory verses and Cervantes's own preface",
}
FORBIDDEN = ("Project Gutenberg", "PROJECT GUTENBERG", "Gutenberg-tm", "Produced by", "Proofreading Team")
PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-"})


def count_as_released(sentences: list[list[str]]) -> int:
    """The number of tokens with the release's paragraph tokens, as the paper counts."""
    every = Tokenized(sentences, [0] * sum(map(len, sentences)))
    return sum(map(len, drop_released_breaks(every).sentences))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--book", action="append", default=[])
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return run_child(*args.child)
    if args.speed:
        show_speed(args.shared)
        return 0
    rows = counts(args.shared, args.book)
    show_counts(rows)
    if not args.book:
        show_alignment(args.shared)
    return 0


def mirror_file(shared: Path, book: str) -> Path:
    return shared / "data/gutenberg/cache/epub" / book / f"pg{book}.txt"


def counts(shared: Path, only: list[str]) -> list[dict]:
    settings, rows = read_settings(), []
    rules = replace(settings.recipe.settings, prefaces="long")
    as_table = replace(settings, recipe=replace(settings.recipe, settings=rules))
    with open(shared / "reference/bookcoref_books.tsv", encoding="utf-8") as stream:
        books = [row for row in csv.DictReader(stream, delimiter="\t") if row["gutenberg_id"]]
    for row in books:
        book = row["gutenberg_id"]
        if only and book not in only:
            continue
        path = mirror_file(shared, book)
        text = decode(path.read_bytes()).text
        began = time.perf_counter()
        body = clean_one(str(path), settings).body
        seconds = time.perf_counter() - began
        tokens = tokenize_body(body.text).sentences
        bare = clean_one(str(path), as_table).body
        between = tokenize_body(_between_markers(text)).sentences
        rows.append(
            {
                "id": book,
                "title": row["title"],
                "table8": int(row["tokens"]),
                "released": count_as_released(tokens),
                "all": sum(map(len, tokens)),
                "table 8": count_as_released(tokenize_body(bare.text).sentences),
                "markers": count_as_released(between),
                "seconds": seconds,
                "bad": [word for word in FORBIDDEN if word in body.text],
            }
        )
        print(f"\r{len(rows)} of {len(books)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return rows


def _between_markers(text: str) -> str:
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("***") and "START" in line.upper()
              and "FULL LICENSE" not in line]  # fmt: skip
    ends = [i for i, line in enumerate(lines) if line.startswith("***") and "END OF" in line.upper()]
    return "\n".join(lines[starts[0] + 1 if starts else 0 : ends[0] if ends else len(lines)])


def show_counts(rows: list[dict]) -> None:
    print("| book | Table 8 | ours (released) | off % | ours (table 8) | off % | ours (all) | off % "
          "| markers off % | seconds | why |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    tally = {"released": [0, 0], "table 8": [0, 0], "all": [0, 0], "markers": [0, 0]}
    for row in rows:
        off = {key: 100 * (row[key] - row["table8"]) / row["table8"] for key in tally}
        for key, within in tally.items():
            within[0] += abs(off[key]) <= 1
            within[1] += abs(off[key]) <= 2
        far = max(abs(off["released"]), abs(off["table 8"])) > 1
        why = WHY.get(row["id"], "") if far else ""
        found = f" FOUND {row['bad']}" if row["bad"] else ""
        print(f"| {row['title']} ({row['id']}) | {row['table8']:,} | {row['released']:,} "
              f"| {off['released']:+.2f} | {row['table 8']:,} | {off['table 8']:+.2f} "
              f"| {row['all']:,} | {off['all']:+.2f} | {off['markers']:+.2f} "
              f"| {row['seconds']:.2f} | {why}{found} |")  # fmt: skip
    for key, (one, two) in tally.items():
        print(f"{key}: within 1%: {one}, within 2%: {two} of {len(rows)}")
    print(f"licence, credits or project name left in {sum(bool(row['bad']) for row in rows)} books")
    seconds = sum(row["seconds"] for row in rows)
    print(f"cleaning took {seconds:.1f} s for all, {1000 * seconds / max(1, len(rows)):.0f} ms a book")


def show_speed(shared: Path) -> None:
    """CPU seconds for all 52 files beside gutenbergpy, file by file in turns, the better of two rounds; and
    memory for large files.

    The files: the story of the largest book again and again, and the book with most cuts for its length as
    it is published, footnotes, line ends and all.
    """
    from gutenbergpy.textget import strip_headers

    files = [mirror_file(shared, book) for book in _books(shared)]
    texts = [path.read_bytes() for path in files]
    settings = read_settings()
    ours, theirs = [], []
    for path, data in zip(files, texts, strict=True):
        tools = (
            lambda p=path, d=data: clean_file(decode(d), p.name, settings),
            lambda d=data: strip_headers(d),
        )
        taken: tuple[list[float], list[float]] = ([], [])
        for side in (0, 1, 1, 0):
            began = time.process_time()
            tools[side]()
            taken[side].append(time.process_time() - began)
        ours.append(min(taken[0]))
        theirs.append(min(taken[1]))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{sum(map(len, texts)) / 1e6:.1f} MB in {len(texts)} files: ours {sum(ours):.2f} CPU s, "
          f"gutenbergpy {sum(theirs):.2f} CPU s, ratio {sum(ours) / sum(theirs):.2f}")  # fmt: skip
    print(f"by file: median {middle:.2f}, quartiles {low:.2f} and {high:.2f}, "
          f"from {min(ratios):.2f} to {max(ratios):.2f}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name, story in (("one story", _largest(texts)), ("as published", _as_published(shared))):
            large = Path(folder) / f"{name.replace(' ', '-')}.txt"
            large.write_bytes(_large_file(story, 33_000_000))
            for tool in ("ours", "gutenbergpy"):
                command = [sys.executable, __file__, "--child", tool, str(large)]
                out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                print(f"{name}, {out.strip()}")


def _books(shared: Path) -> list[str]:
    with open(shared / "reference/bookcoref_books.tsv", encoding="utf-8") as stream:
        return [row["gutenberg_id"] for row in csv.DictReader(stream, delimiter="\t") if row["gutenberg_id"]]


def _largest(texts: list[bytes]) -> str:
    """The story of the largest book."""
    return clean_file(decode(max(texts, key=len)), "largest.txt", read_settings(guard=False)).body.text


def _as_published(shared: Path) -> str:
    """The Canterbury Tales, which have most footnotes and marks in the text, with line ends of DOS."""
    text = decode(mirror_file(shared, "2383").read_bytes()).text
    start, end = find_edges(text)
    return text[start:end].replace("\n", "\r\n")


def _large_file(story: str, size: int) -> bytes:
    """One book of about `size` bytes: a story, again and again, in one header and footer."""
    body = "\n\n\n\n".join([story] * (1 + size // len(story.encode())))
    start = "The Project Gutenberg EBook of Many\n\n*** START OF THIS PROJECT GUTENBERG EBOOK MANY ***\n\n"
    return f"{start}{body}\n\n*** END OF THIS PROJECT GUTENBERG EBOOK MANY ***\n".encode()


def run_child(tool: str, path: str) -> int:
    """Read and clean one file in a process of its own; print the most memory beyond that of the imports."""
    from gutenbergpy.textget import strip_headers

    settings = read_settings(guard=False, apparatus="cut")
    size = Path(path).stat().st_size
    before = _peak()
    began = time.process_time()
    if tool == "ours":
        body = clean_one(path, settings).body
        taken = ", ".join(f"{kind} {share:.1%}" for kind, share in body.shares().items() if share > 0.001)
        done = f"{len(body.runs):,} runs kept; cut: {taken or 'nothing'}"
    else:
        done = f"{len(strip_headers(Path(path).read_bytes())):,} bytes kept"
    beyond = _peak() - before
    print(f"{tool}: {size / 1e6:.1f} MB, {time.process_time() - began:.2f} CPU s, at most {beyond:.0f} MiB "
          f"beyond the imports, {beyond * 1.048576e6 / size:.1f} times the file ({done})")  # fmt: skip
    return 0


def _peak() -> float:
    """The most memory that this process has had, in MiB (ru_maxrss would count the parent's)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024


def show_alignment(shared: Path) -> None:
    """Share of the released tokens found in order in ours, and what of ours the release does not have."""
    released = {}
    with open(shared / "data/systems/finetuned/maverick_xl.jsonl", encoding="utf-8") as stream:
        for line in stream:
            record = json.loads(line)
            released[record["doc_key"].rsplit("_", 1)[1]] = record["sentences"]
    settings = read_settings()
    as_printed = replace(settings, emphasis="released")
    for book, plan in (("2500", settings), ("1342", settings), ("1342", as_printed)):
        body = clean_one(str(mirror_file(shared, book)), plan).body
        ours = [t for s in drop_released_breaks(tokenize_body(body.text)).sentences for t in s]
        key = [t for s in released[book] for t in s]
        partner = _partners(_plain(key), _plain(ours))
        words = [i for i, t in enumerate(key) if t not in ("\n", "_")]
        found = sum(partner[i] >= 0 for i in words) / len(words)
        extra = np.ones(len(ours), dtype=bool)
        extra[partner[partner >= 0]] = False
        longest = ours[_longest(extra)]
        name = f"{book} (emphasis released)" if plan is as_printed else book
        excerpt = f"{' '.join(longest[:12])} ... ({len(longest)} tokens)"
        print(
            f"{name}: {100 * (partner >= 0).mean():.2f}% of {len(key):,} released tokens in order, "
            f'{100 * found:.2f}% without "\\n" and "_"; ours {len(ours):,}, of which {int(extra.sum()):,} '
            f"not in the release; longest such piece: {excerpt!r}"
        )


def _plain(tokens: list[str]) -> list[str]:
    return [token.translate(PLAIN) for token in tokens]


def _partners(key: list[str], ours: list[str]) -> np.ndarray:
    numbers: dict[str, int] = {}
    encode = [
        np.array([numbers.setdefault(t, len(numbers)) for t in side], dtype=np.int64) for side in (key, ours)
    ]
    return align(*encode)


def _longest(extra: np.ndarray) -> slice:
    best, at = slice(0, 0), 0
    while at < len(extra):
        end = at
        while end < len(extra) and extra[end]:
            end += 1
        if end - at > best.stop - best.start:
            best = slice(at, end)
        at = end + 1
    return best


if __name__ == "__main__":
    sys.exit(main())
