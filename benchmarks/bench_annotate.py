"""Speed, memory and quality of the embedded annotation backend, beside the cost the paper reports for others.

    python benchmarks/bench_annotate.py BOOK [BOOK ...] [--litbank FOLDER] [--gold RELEASED.jsonl]
                                        [--system SYSTEM.jsonl]

With --system, agreement with the released clusters of the books that RELEASED.jsonl has without text, on the
text of the system's file.

BOOKs are Gutenberg files; the cast is proposed from each book, so nothing else is needed. Every book runs
in a process of its own: CPU seconds and peak memory are those of that process, model loading included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from functools import partial
from pathlib import Path

# Martinelli et al. (2025), Table 4: inference on the three gold books (225,506 tokens), RTX 4090.
PAPER = (
    ("BookNLP (paper, RTX 4090)", 180, 6.9),
    ("Maverick_xl (paper, RTX 4090)", 211, 14.8),
    ("Maverick_xl fine-tuned (paper, RTX 4090)", 183, 12.8),
    ("Longdoc fine-tuned (paper, RTX 4090)", 26, 5.8),
)
PAPER_TOKENS = 225_506


def measure(path: str, recipe: Path | None = None) -> tuple[str, int, float, float, float, float]:
    """(name, tokens, CPU s to read and tokenise, CPU s to annotate, of these parse, peak GiB)."""
    from bookcoref_data.annotation.backends import make_backend
    from bookcoref_data.annotation.propose import propose_cast
    from bookcoref_data.api.annotating import plan_for
    from bookcoref_data.workflows.annotate import annotate_book, read_sources

    start = time.process_time()
    (source,) = read_sources(Path(path))
    read = time.process_time() - start
    cast = propose_cast(source.book).cast
    plan = plan_for(recipe, "embedded", None, "")
    backend = make_backend(plan)
    start = time.process_time()
    backend.parse(source.book)
    parse = time.process_time() - start
    annotate_book(source, cast, plan, backend=backend)
    total = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Path(path).stem, len(source.book.tokens), read, total, parse, peak


def speed(books: list[str], recipe: Path | None = None) -> None:
    print(
        f"{'book':24} {'tokens':>9} {'read s':>7} {'annotate s':>10} "
        f"{'parse s':>8} {'tokens/s':>9} {'GiB':>5}"
    )
    total = seconds = 0.0
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name, tokens, read, annotate, parse, peak in pool.imap(partial(measure, recipe=recipe), books):
            total, seconds = total + tokens, seconds + read + annotate
            rate = tokens / (read + annotate)
            print(f"{name:24} {tokens:9,} {read:7.1f} {annotate:10.1f} {parse:8.1f} {rate:9,.0f} {peak:5.2f}")
    if not seconds:
        return
    from bookcoref_data.annotation.embedded.parsing import kernel

    print(f"\nparse multiplied with {kernel()}")
    ours = total / seconds
    print(
        f"\nall: {total:,.0f} tokens in {seconds:,.0f} CPU s on one core, "
        f"{ours:,.0f} tokens/s, tokenising included"
    )
    print("\nfor context, not run here: cost figures of the paper's Table 4, on a GPU")
    for name, paper_seconds, gigabytes in PAPER:
        rate = PAPER_TOKENS / paper_seconds
        print(
            f"  {name:42} {rate:7,.0f} tokens/s, {gigabytes:4.1f} GB of GPU; "
            f"ours runs at {ours / rate:.1f} x that"
        )


def quality(litbank: Path | None, gold: Path | None, recipe: Path | None = None) -> None:
    from bookcoref_data.annotation.backends import make_backend
    from bookcoref_data.annotation.cast import make_cast
    from bookcoref_data.api.annotating import plan_for
    from bookcoref_data.books import Book
    from bookcoref_data.formats.jsonl import read
    from bookcoref_data.workflows.annotate import COLUMNS, Source, annotate_book, table_rows

    plan = plan_for(recipe, "embedded", None, "")
    if litbank:
        from training.score import score_part

        backend = make_backend(plan)
        for part in ("dev", "test"):
            s = score_part(litbank, part, plan, backend)
            c = s.clusters
            print(
                f"LitBank {part}: CoNLL {100 * c.conll.f1:.1f} (MUC {100 * c.muc.f1:.1f}, "
                f"B3 {100 * c.b_cubed.f1:.1f}, "
                f"CEAF-e {100 * c.ceaf_e.f1:.1f}); speakers {s.right} of {s.quotations} right"
            )
    for record in read(gold) if gold else ():
        if record.sentences is None:
            continue
        key = record.to_book()
        source = Source(Book(key.doc_key, key.gutenberg_key, key.tokens, key.sentence_ends))
        done = annotate_book(source, make_cast(c.name for c in key.characters), plan)
        print(key.doc_key, *COLUMNS[1:])
        for row in table_rows(key, done.states):
            print("  ", *row)


def agreement(released: Path, system: Path) -> None:
    """CoNLL F1 of ours against released clusters, for books whose text only the system's file has."""
    from bookcoref_data.annotation.cast import make_cast
    from bookcoref_data.annotation.plan import default_plan
    from bookcoref_data.books import Book
    from bookcoref_data.formats.jsonl import read
    from bookcoref_data.scoring import score_clusters
    from bookcoref_data.workflows.annotate import Source, annotate_book

    bare = {r.doc_key: r.characters for r in read(released) if r.sentences is None}
    for record in read(system):
        if record.doc_key not in bare:
            continue
        book, characters = record.to_book(), bare[record.doc_key]
        source = Source(Book(book.doc_key, book.gutenberg_key, book.tokens, book.sentence_ends))
        done = annotate_book(source, make_cast(name for name, _ in characters), default_plan("embedded"))
        ours = [[tuple(m) for m in spans] for spans in done.state.spans() if spans]
        f1 = score_clusters([[tuple(m) for m in spans] for _, spans in characters], ours).conll.f1
        print(f"{record.doc_key}: {100 * f1:.1f} CoNLL F1 against {len(characters)} released clusters")


def length_penalty(gold: Path) -> None:
    """What length costs: every window of 1,500 words read alone, against the same windows of one reading of
    the whole book. Clusters are scored by window (both have the same key), links of all windows."""
    from bookcoref_data.annotation.backends import make_backend
    from bookcoref_data.annotation.cast import make_cast
    from bookcoref_data.annotation.plan import default_plan
    from bookcoref_data.annotation.windowing import annotation_windows
    from bookcoref_data.books import Book
    from bookcoref_data.formats.jsonl import read
    from bookcoref_data.scoring import score_documents
    from bookcoref_data.scoring.evaluation import score_linking
    from bookcoref_data.workflows.annotate import Source, annotate_book

    plan = default_plan("embedded")
    for record in read(gold):
        if record.sentences is None:
            continue
        key = record.to_book()
        cast = make_cast(c.name for c in key.characters)
        backend = make_backend(plan)
        bare = Book(key.doc_key, key.gutenberg_key, key.tokens, key.sentence_ends)
        whole = annotate_book(Source(bare), cast, plan, backend=backend).state
        right = {c.name: list(c.mentions) for c in key.characters}
        by_whole = dict(zip(whole.names, whole.spans(), strict=True))
        by_window: dict[str, list[tuple[int, int]]] = {name: [] for name in whole.names}
        pairs: dict[str, list[tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]]] = {
            "read whole": [], "read alone": [],
        }  # fmt: skip
        for n, w in enumerate(annotation_windows(key.sentence_ends)):
            ends = tuple(e - w.start for e in key.sentence_ends[w.first_sentence : w.end_sentence])
            part = Book(f"{key.doc_key}_{n}", key.gutenberg_key, key.tokens[w.start : w.end], ends)
            alone = annotate_book(Source(part), cast, plan, backend=backend).state
            found = [[(m.start + w.start, m.end + w.start) for m in spans] for spans in alone.spans()]
            for name, spans in zip(alone.names, found, strict=True):
                by_window[name] += spans
            inside = [[(a, b) for a, b in spans if w.start <= a and b < w.end] for spans in right.values()]
            cut = [[(a, b) for a, b in spans if w.start <= a and b < w.end] for spans in by_whole.values()]
            for label, response in (("read whole", cut), ("read alone", found)):
                pairs[label].append(([s for s in inside if s], [s for s in response if s]))
        print(f"{key.doc_key}: {len(pairs['read alone'])} windows; CoNLL by window, F1 of links")
        for label, named in (("read whole", by_whole), ("read alone", by_window)):
            conll = score_documents(pairs[label]).conll.f1
            links = score_linking(right.items(), named.items()).linked.f1
            print(f"  {label}: {100 * conll:.1f}, {100 * links:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("books", nargs="*")
    parser.add_argument("--recipe", type=Path, help="in place of the one that ships")
    parser.add_argument("--litbank", type=Path)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--system", type=Path, help="predictions with text; needs --gold")
    parser.add_argument(
        "--windows-alone", action="store_true", help="also measure what length costs; needs --gold"
    )
    options = parser.parse_args()
    speed(options.books, options.recipe)
    quality(options.litbank, options.gold, options.recipe)
    if options.gold and options.windows_alone:
        length_penalty(options.gold)
    if options.gold and options.system:
        agreement(options.gold, options.system)


if __name__ == "__main__":
    main()
