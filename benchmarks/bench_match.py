"""Matching: precision and recall of the exact rule and of each relaxation, casts beside Table 8, scale.

    python benchmarks/bench_match.py [--shared FOLDER] [--titles] [--names] [--records 75000]

`match_pairs.tsv` holds (author, title) as Wikidata and the study guides write them for the 52 books, and
works that are not in the mirror's catalogue. `--titles` matches real titles of study guides to a catalogue
of 78,511 records and counts what is right, in two halves by the hash of the id (look at errors in one half
only), and what is taken where nothing is right (decoys); `--names` takes authors of that catalogue by the
names that its brackets spell out, and counts LiSCU's casts in texts that are theirs and that are not.
`--records` makes a catalogue of that size by varying the mirror's records, and measures time and memory of
the first run and of the next.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import io
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from bookcoref_data.characters.match import ABSENT, PRESENT, MatchSettings, match
from bookcoref_data.characters.match_rules import RULES
from bookcoref_data.characters.presence import Presence
from bookcoref_data.characters.table import CastRow, HarvestedCast
from bookcoref_data.sources.catalogue import catalogue
from bookcoref_data.sources.store import Store
from bookcoref_data.text.decode import decode
from bookcoref_data.workflows.match import match_casts, read_casts

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("BOOKCOREF_SHARED", HERE.parent.parent / "shared"))
FEED = "data/gutenberg/cache/epub/feeds/rdf-files.tar.bz2"
# Words that set the generated titles and authors apart from the mirror's own.
WORDS = [
    "River",
    "Mountain",
    "Garden",
    "Winter",
    "Shadow",
    "Harbour",
    "Candle",
    "Orchard",
    "Letter",
    "Stranger",
    "Bridge",
    "Summer",
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--titles", action="store_true")
    parser.add_argument("--names", action="store_true")
    args = parser.parse_args()
    if args.child:
        return run_child(args.child[0], args.child[1])
    if args.titles or args.names:
        with tempfile.TemporaryDirectory() as folder:
            whole = catalogue(Store.open(folder), args.shared / "data/matching/catalogue.tar.bz2").frame()
        if args.titles:
            show_titles(whole, args.shared / "data/matching/dev")
            show_decoys(whole, args.shared / "data/matching/dev")
        if args.names:
            show_names(whole)
            show_presence(args.shared)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        frame = catalogue(Store.open(folder), args.shared / FEED).frame()
        show_rules(frame)
        show_casts(frame, args.shared)
    if args.records:
        show_scale(args.shared / FEED, args.records)
    return 0


def pairs() -> list[dict[str, str]]:
    with open(HERE / "match_pairs.tsv", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def cast_of(row: dict[str, str], number: int, size: int = 6) -> HarvestedCast:
    titles = tuple(t for t in row["titles"].split("|") if t) if row["titles"] else ()
    source = "wikidata" if row["style"] == "wikidata" else "shmoop"
    return HarvestedCast(tuple(
        CastRow(source, f"{row['style']}-{number}", row["title"], f"Person {n}", author=row["author"],
                authors=(row["author"],), titles=titles)
        for n in range(size)
    ))  # fmt: skip


def show_rules(frame) -> None:
    rows = pairs()
    casts = [cast_of(row, n) for n, row in enumerate(rows)]
    wanted = [int(row["gutenberg_id"]) if row["gutenberg_id"] else None for row in rows]
    books = {w for w, row in zip(wanted, rows, strict=True) if w and row["style"] != "other"}
    lookalikes = set(frame["id"].to_list()) - books
    print("| rules | found | right | precision | recall of pairs | books of 52 | look-alikes |")
    print("|---|---|---|---|---|---|---|")
    names = [name for name in RULES if RULES[name].needs_author]
    for upto in range(1, len(names) + 1):
        report = match(casts, frame, MatchSettings(rules=tuple(names[:upto])))
        found = [w.gutenberg_id for w in report.works]
        hits = [f for f, w in zip(found, wanted, strict=True) if f is not None and f == w]
        total = sum(f is not None for f in found)
        targets = sum(w is not None for w in wanted)
        # The Jungle Book is a work of its own in the pairs; it counts as a look-alike for no other.
        taken = sum(f in lookalikes and f != w for f, w in zip(found, wanted, strict=True))
        label = names[0] if upto == 1 else f"+ {names[upto - 1]}"
        precision, recall = len(hits) / max(1, total), len(hits) / targets
        print(f"| {label} | {total} | {len(hits)} | {precision:.3f} | {recall:.3f} "
              f"| {len(set(hits) & books)} | {taken} |")  # fmt: skip
    wrong = [(r["author"], r["title"], f) for r, f, w in zip(rows, found, wanted, strict=True) if f != w]
    print(f"wrong or missing with all rules: {wrong or 'none'}")


def show_casts(frame, shared: Path) -> None:
    """LiSCU's lists (no authors) beside Table 8's numbers of characters."""
    rows = pairs()
    casts = [cast_of(row, n, 1) for n, row in enumerate(rows) if row["style"] == "wikidata"]
    casts += liscu(shared / "reference/liscu_characters.tsv")
    report = match(casts, frame)
    with open(shared / "reference/bookcoref_books.tsv", encoding="utf-8") as stream:
        table = [r for r in csv.DictReader(stream, delimiter="\t") if r["gutenberg_id"]]
    lists: dict[int, dict[str, int]] = {}
    for work in report.works:
        if work.gutenberg_id and work.source != "wikidata":
            lists.setdefault(work.gutenberg_id, {})[work.source] = work.characters
    print("\n| book | LiSCU lists | largest | Table 8 |\n|---|---|---|---|")
    for row in table:
        mine = lists.get(int(row["gutenberg_id"]), {})
        counts = ", ".join(f"{source} {n}" for source, n in sorted(mine.items()))
        largest = max(mine.values(), default="-")
        print(
            f"| {row['title']} ({row['gutenberg_id']}) | {counts or '-'} | {largest} | {row['characters']} |"
        )
    ids = {int(r["gutenberg_id"]) for r in table}
    print(f"LiSCU list found for {len(set(lists) & ids)} books; lists matched to other records: "
          f"{sorted(set(lists) - ids) or 'none'}")  # fmt: skip
    texts = {int(p.stem[2:]): p for p in (shared / "data/gutenberg/cache/epub").glob("*/pg*.txt")}
    alone = match(liscu(shared / "reference/liscu_characters.tsv"), frame,
                  text_of=lambda n: decode(texts[n].read_bytes()).text if n in texts else None)  # fmt: skip
    found = {w.gutenberg_id for w in alone.works if w.gutenberg_id and not w.unproved}
    print(
        f"LiSCU alone, by titles and texts: {len(found & ids)} books; "
        f"other records: {sorted(found - ids) or 'none'}"
    )


# -- titles of study guides beside a whole catalogue ---------------------------------------------------


def show_titles(frame, folder: Path) -> None:
    """Right, another edition, wrong, missed and found, with and without author, by halves."""
    with open(folder / "truth.tsv", encoding="utf-8", newline="") as stream:
        truth = {row["id"]: row for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)}
    print("| list | half | works | complete there | right | other | wrong | wrong, kept | missed | found |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in ("with_author", "without_author"):
        report = match(read_casts([folder / f"{name}.jsonl"]), frame)
        kept = {book.gutenberg_id for book in report.books if book.kept}
        for half in (0, 1, None):
            works = [w for w in report.works if half in (None, _half(w.work_id))]
            counts = Counter(_kind(w, truth[w.work_id], kept) for w in works)
            whole = sum(bool(truth[w.work_id]["whole"]) for w in works)
            found = sum(
                bool(truth[w.work_id]["whole"]) and _kind(w, truth[w.work_id], kept) in ("right", "other")
                for w in works
            )
            wrong = counts["wrong"] + counts["wrong, kept"]
            print(f"| {name} | {'AB'[half] if half is not None else 'both'} | {len(works)} | {whole} "
                  f"| {counts['right']} | {counts['other']} | {wrong} | {counts['wrong, kept']} "
                  f"| {counts['missed']} | {100 * found / max(1, whole):.1f} % |")  # fmt: skip


def show_decoys(frame, folder: Path) -> None:
    """What is taken where nothing is right: works without their records, or by another work's author."""
    with open(folder / "truth.tsv", encoding="utf-8", newline="") as stream:
        truth = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    own = {int(number) for row in truth for column in ("whole", "other") for number in row[column].split()}
    casts = read_casts([folder / "with_author.jsonl"])
    authors = [cast.rows[0].author for cast in casts]
    swapped = [
        HarvestedCast(tuple(replace(r, author=other, authors=(other,), author_aliases=()) for r in cast.rows))
        for cast, mine, other in zip(casts, authors, authors[1:] + authors[:1], strict=True)
        if mine != other
    ]
    bare = frame.filter(~frame["id"].is_in(list(own)))
    print("\n| decoys | works | a record taken | kept |\n|---|---|---|---|")
    for label, given, records in (
        ("with author, their own records taken away", casts, bare),
        ("without author, their own records taken away", read_casts([folder / "without_author.jsonl"]), bare),
        ("with the author of the next work", swapped, frame),
    ):
        report = match(given, records)
        kept = {book.gutenberg_id for book in report.books if book.kept}
        taken = [w for w in report.works if w.gutenberg_id is not None]
        sure = [w for w in taken if w.gutenberg_id in kept and not w.unproved]
        print(f"| {label} | {len(given)} | {len(taken)} | {len(sure)} |")
        for work in sure:
            print(f"<!-- {work.work_id} -> {work.gutenberg_id} by {work.rule} -->")


def _half(work_id: str) -> int:
    return sha256(work_id.encode()).digest()[0] % 2


def _kind(work, truth: dict[str, str], kept: set[int]) -> str:
    whole, other = ({int(number) for number in truth[name].split()} for name in ("whole", "other"))
    if work.gutenberg_id is None:
        return "missed" if whole else "rightly none"
    if work.gutenberg_id in whole | other:
        return "right" if work.gutenberg_id in whole else "other"
    return "wrong, kept" if work.gutenberg_id in kept and not work.unproved else "wrong"


_SPELLED_OUT = re.compile(r"([^,(]+), ((?:\w\.\s?)+)\(([^)]+)\)")


def show_names(frame) -> None:
    """Of records by "Montgomery, L. M. (Lucy Maud)" those that "Lucy Maud Montgomery" does not find."""
    keys = RULES["author"].authors
    names = [p["name"] for row in frame["people"] for p in row if _SPELLED_OUT.match(p["name"])]
    lost = []
    for name in names:
        family, _, given = _SPELLED_OUT.match(name).groups()
        if not keys(name) & keys(f"{given.strip()} {family.strip()}"):
            lost.append(name)
    print(f"\nnames spelled out: {len(lost)} of {len(names):,} not found; {sorted(set(lost))}")


def show_presence(shared: Path) -> None:
    """Shares of LiSCU's casts (five people or more) in the texts of their books, and in all other texts."""
    with tempfile.TemporaryDirectory() as folder:
        frame = catalogue(Store.open(folder), shared / FEED).frame()
    casts = [c for c in liscu(shared / "reference/liscu_characters.tsv") if len(c.rows) >= 5]
    works = match(casts, frame).works
    paths = {int(p.stem[2:]): p for p in (shared / "data/gutenberg/cache/epub").glob("*/pg*.txt")}
    theirs, others = [], []
    for number, path in paths.items():
        presence = Presence(decode(path.read_bytes()).text)
        for cast, work in zip(casts, works, strict=True):
            share = presence.share([(row.character, *row.character_aliases) for row in cast.rows])
            (theirs if work.gutenberg_id == number else others).append(share)
    for label, shares in (("their books", theirs), ("other books", others)):
        high, low = sum(s >= PRESENT for s in shares), sum(s < ABSENT for s in shares)
        print(f"casts in {label}: {len(shares):,}; {PRESENT:.0%} of the people or more in {high:,}, "
              f"under {ABSENT:.0%} in {low:,}")  # fmt: skip


def liscu(path: Path) -> list[HarvestedCast]:
    names = {"cliffnotes": "cliffsnotes"}
    groups: dict[tuple[str, str], list[CastRow]] = {}
    with open(path, encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            source = names.get(row["source"], row["source"])
            key = (source, row["title"])
            groups.setdefault(key, []).append(CastRow(source, row["title"], row["title"], row["character"]))
    return [HarvestedCast(tuple(rows)) for rows in groups.values()]


# -- scale -------------------------------------------------------------------------------------------


def show_scale(feed: Path, records: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "rdf-files.tar.bz2"
        began = time.perf_counter()
        size = synthesize(feed, archive, records)
        packed = archive.stat().st_size
        print(f"\n{records:,} records, {size / 1e6:.0f} MB of RDF, archive {packed / 1e6:.0f} MB "
              f"(made in {time.perf_counter() - began:.0f} s)")  # fmt: skip
        print(f"unpacking alone: {unpack(archive):.1f} CPU s, the least that a first run can take")
        for label in ("first run", "next run"):
            command = [sys.executable, __file__, "--child", str(archive), str(Path(folder) / "cache")]
            began = time.perf_counter()
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            print(f"{label}: {time.perf_counter() - began:.1f} s; {out.strip()}")


def unpack(archive: Path) -> float:
    """CPU seconds of unpacking the archive and doing nothing with it."""
    began = time.process_time()
    with bz2.open(archive) as stream:
        while stream.read(1 << 22):
            pass
    return time.process_time() - began


def run_child(archive: str, cache: str) -> int:
    began, cpu, own = time.perf_counter(), time.process_time(), time.thread_time()
    store = Store.open(cache)
    found = catalogue(store, Path(archive))
    read, read_cpu = time.perf_counter() - began, time.process_time() - cpu
    parsed = time.thread_time() - own
    casts = [cast_of(row, n) for n, row in enumerate(pairs())]
    report = match_casts(casts, found, store)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    matched = sum(w.gutenberg_id is not None for w in report.works)
    whole = time.process_time() - cpu
    print(f"catalogue {read:.1f} s ({read_cpu:.1f} CPU s: {parsed:.1f} to parse, "
          f"{read_cpu - parsed:.1f} to unpack beside it), "
          f"matching {time.perf_counter() - began - read:.1f} s ({whole - read_cpu:.1f} CPU s); "
          f"{matched} of {len(casts)} works found; peak memory {memory:.0f} MiB")  # fmt: skip
    return 0


def synthesize(feed: Path, target: Path, records: int) -> int:
    """Write an archive of `records` records: the feed's own, then varied copies; returns bytes of RDF."""
    total = 0
    with tarfile.open(target, "w:bz2", compresslevel=1) as tar:
        for number, data in varied(feed, records):
            member = tarfile.TarInfo(f"cache/epub/{number}/pg{number}.rdf")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
            total += len(data)
    return total


def varied(feed: Path, records: int) -> Iterator[tuple[int, bytes]]:
    with tarfile.open(feed) as tar:
        own = {
            int(re.search(r"pg(\d+)", m.name).group(1)): tar.extractfile(m).read() for m in tar if m.isfile()
        }
    yield from own.items()
    ids, number = sorted(own), 100_000
    for copy in range(records - len(own)):
        source = ids[copy % len(ids)]
        number += 1
        word, turn = WORDS[copy % len(WORDS)], copy // len(ids)
        text = own[source].decode("utf-8")
        text = re.sub(r"(<dcterms:title>)", rf"\1The {word} {turn} of ", text)
        text = re.sub(r"(<pgterms:(?:name|alias)>)(\w+)", rf"\1\2{word.lower()}{turn % 3000}", text)
        text = re.sub(rf"(ebooks/|files/){source}\b", rf"\g<1>{number}", text)
        yield number, text.encode("utf-8")


if __name__ == "__main__":
    sys.exit(main())
