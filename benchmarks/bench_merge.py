"""Merging of parts and windows: unmerged, greedy, our linker, equal ids; links and CoNLL F1.

    python benchmarks/bench_merge.py PARTS.conll WHOLE.conll                     # stories in parts
    python benchmarks/bench_merge.py WINDOWS.jsonl GOLD [FULL.jsonl] [--cast CAST]  # windows of a system

    python benchmarks/bench_merge.py --booknlp BOOKNLP --pdnc PDNC [--novel NAME]
    python benchmarks/bench_merge.py --sample STORY   # of `bookcoref-data rebuild --sample`

Of windows the merged books are scored against the gold, beside the system's own run on whole books.
BookNLP's chains of people in a novel are cut into windows of 1,500 tokens and joined again, and judged,
beside its own run on the whole novel, by those of its mentions in quotations whose character PDNC names;
also with PDNC's list of characters as the cast. `--sample` does the same with our own annotator on the sample
story, in windows that it sees one by one, their names taken off.
`--chains N` makes a book of N chains (our own words) and prints how long the linker takes.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import resource
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from itertools import chain, pairwise, product
from pathlib import Path

import numpy as np

from bookcoref_data import annotate
from bookcoref_data.books import Mention, Record, split_book
from bookcoref_data.formats import read_documents, write_documents
from bookcoref_data.scoring import evaluate, score_clusters, score_documents
from bookcoref_data.tasks.merging.laying import documents_of
from bookcoref_data.tasks.merging.linker import decide_with_linker
from bookcoref_data.tasks.merging.parts import SplitDocument, decisions_from_whole, merge
from bookcoref_data.tasks.merging.scoring import score_decisions
from bookcoref_data.workflows.merge import DECIDERS, merge_documents, read_parts, with_cast


def stories(parts: Path, gold: Path) -> None:
    documents = read_parts(parts)
    whole = {record.doc_key: record for record in read_documents(gold)}
    key = {d.doc_key: decisions_from_whole(d, whole[d.doc_key]) for d in documents}
    print(f"{len(documents)} stories, {sum(len(d.questions) for d in documents)} decisions")
    print(f"{'':8}  links  right  of     P     R     F1    accuracy  CoNLL  CPU s")
    for name in ("new", "greedy", "linker", "id"):
        start = time.process_time()
        made = [(d, key[d.doc_key], DECIDERS[name](d)) for d in documents]
        used = time.process_time() - start
        counts = [score_decisions(*item) for item in made]
        s = sum(counts[1:], start=counts[0])
        both = [[merge(d, chosen).to_record().clusters for chosen in two] for d, *two in made]
        conll = 100 * score_documents(both).conll.f1
        print(f"{name:8}  {s.links:5}  {s.right_links:5}  {s.key_links:5}  {100 * s.precision:5.1f} "
              f"{100 * s.recall:5.1f} {100 * s.f1:5.1f}  {100 * s.accuracy:5.1f}     {conll:5.2f}  "
              f"{used:.2f}")  # fmt: skip


def windows(file: Path, gold: Path, full: Path | None, cast: Path | None) -> None:
    """CoNLL F1 of every book of the gold."""
    keys = list(read_documents(gold))
    tokens = {tuple(token for s in key.sentences or [] for token in s) for key in keys}
    documents = [d for d in read_parts(file) if d.tokens in tokens]
    rows = {}
    if full:
        rows["the system on whole books"] = [r for r in read_documents(full) if r.to_book().tokens in tokens]
    for name in ("new", "greedy", "linker"):
        rows[name] = [merge(d, DECIDERS[name](d)).to_record() for d in documents]
    named = merge_documents(documents, {d.doc_key: decide_with_linker(d) for d in documents}, named=True)
    rows["linker, chains with a name"] = named.records
    whole = {key.to_book().tokens: key for key in keys}
    rows["by the gold"] = [by_the_gold(d, whole[d.tokens]) for d in documents]
    if cast:
        named = with_cast(documents, cast)
        rows["linker, with a cast"] = [merge(d, decide_with_linker(d)).to_record() for d in named]
    print("| | MUC | B3 | CEAF-e | CoNLL |\n|---|---|---|---|---|")
    for name, records in rows.items():
        s = evaluate(keys, records).pooled
        values = (s.muc.f1, s.b_cubed.f1, s.ceaf_e.f1, s.conll.f1)
        print(f"| {name} | " + " | ".join(f"{100 * v:.2f}" for v in values) + " |")


def by_the_gold(document: SplitDocument, gold: Record) -> Record:
    """Every chain joined with those of the cluster that has most of its mentions; chains of none left out."""
    found = merge(document, decisions_from_whole(document, gold)).to_record()
    known = {mention for cluster in gold.clusters for mention in cluster}
    return replace(found, clusters=[c for c in found.clusters if not known.isdisjoint(c)], characters=[])


def book_of(chains: int) -> SplitDocument:
    """A hundred windows of people and things; a chain has four mentions, two of them pronouns."""
    rng = np.random.default_rng(0)
    records = []
    for number in range(100):
        sentences: list[list[str]] = []
        clusters = []
        for _ in range(chains // 100):
            who = int(rng.integers(chains // 4))
            name = f"Name{who}" if who % 3 else f"thing{who % 97}"
            start = sum(map(len, sentences))
            sentences.append([name, "came", "and", "he", "saw", name, ",", "said", "he", "."])
            clusters.append([Mention(start + i, start + i) for i in (0, 3, 5, 8)])
        records.append(Record(f"book_window{number}", "", sentences, clusters))
    (document,) = documents_of(records)
    return document


def speed(chains: int) -> None:
    document = book_of(chains)
    start = time.process_time()
    decide_with_linker(document)
    used = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(document.chains):,} chains: {used:.1f} CPU s, at most {memory:,.0f} MB")


def novel_of(booknlp: Path, pdnc: Path) -> tuple[Record, Record]:
    """BookNLP's chains of people in one novel, and PDNC's characters on the mentions that both have."""
    name = booknlp.name
    with gzip.open(pdnc / "novel_text.txt.gz", "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    table, prefix = booknlp / f"{name}.offsets.tsv.gz", ""
    if not table.exists():
        table, prefix = booknlp / f"{name}.tokens.gz", "byte_"
    with gzip.open(table, "rt", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        places = [(int(row[f"{prefix}onset"]), int(row[f"{prefix}offset"])) for row in rows]
    tokens = [text[a:b] for a, b in places]
    ends = [i + 1 for i, token in enumerate(tokens) if token in (".", "?", "!")]
    sentences = [tokens[a:b] for a, b in pairwise([0, *ends, len(tokens)]) if b > a]
    chains = defaultdict[str, set[Mention]](set)
    with gzip.open(booknlp / f"{name}.entities.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["cat"] == "PER":
                chains[row["COREF"]].add(Mention(int(row["start_token"]), int(row["end_token"])))
    there = {mention for chain in chains.values() for mention in chain}
    firsts, lasts = ({place[i]: n for n, place in enumerate(places)} for i in (0, 1))
    known = dict[Mention, str]()
    with gzip.open(pdnc / "quotation_info.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            spans, names = (ast.literal_eval(row[f"mention{x}List"]) for x in ("Spans", "Entities"))
            pairs = (zip(*both, strict=True) for both in zip(spans, names, strict=True))
            for found, who in chain.from_iterable(pairs):
                mention = Mention(firsts.get(found[0], -1), lasts.get(found[1], -1))
                if len(who) == 1 and mention in there:
                    known[mention] = who[0]
    key = [[m for m in known if known[m] == who] for who in sorted(set(known.values()))]
    return Record(name, "", sentences, [sorted(c) for c in chains.values()]), Record(name, "", sentences, key)


def cast_of(table: Path) -> str:
    """The characters of a novel of PDNC with their aliases, as a cast file."""
    lines = []
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            aliases = ast.literal_eval(row["Aliases"]) if row["Aliases"] else ()
            names = sorted(a for a in aliases if a != row["Main Name"] and a[:1].isupper())
            lines.append("; ".join([row["Main Name"], *names]))
    return "\n".join(lines) + "\n"


def sample(story: Path) -> None:
    """CoNLL F1 of our own annotator on a story, whole and in windows, with a cast given or proposed."""
    (gold,) = read_documents(story)
    print("| | own run | greedy | linker | by the gold | with a cast |\n|" + "---|" * 6)
    with tempfile.TemporaryDirectory() as folder:
        given, text = Path(folder, "cast.txt"), Path(folder, "text.jsonl")
        given.write_text("".join(f"{name}\n" for name, _ in gold.characters), encoding="utf-8")

        def annotated(sentences: list[list[str]], key: str, cast: Path | str) -> Record:
            write_documents([Record(key, "", sentences, [])], text)
            clusters = annotate(text, cast).record.clusters
            return Record(key, "", sentences, clusters)

        for cast, (size, overlap) in product((given, "auto"), ((1500, False), (1500, True), (600, False))):
            cut = split_book(gold.to_book(), size=size // (1 + overlap)).books
            windows = [[*w.sentences] for w in cut]
            if overlap:
                windows = [a + b for a, b in pairwise(windows)]
            parts = [annotated(w, f"{gold.doc_key}_window{i}", cast) for i, w in enumerate(windows)]
            (document,) = documents_of(parts)
            (named,) = with_cast([document], given)
            made = [annotated(gold.sentences or [], gold.doc_key, cast)]
            made += [merge(document, DECIDERS[how](document)).to_record() for how in ("greedy", "linker")]
            made.append(by_the_gold(document, gold))
            made.append(merge(named, decide_with_linker(named)).to_record())
            scores = (100 * evaluate([gold], [record]).pooled.conll.f1 for record in made)
            which = "cast of the story given" if cast == given else "a cast proposed from each"
            how = ", each half in the next" * overlap
            print(f"| windows of {size:,}{how}, {which} | " + " | ".join(f"{s:.2f}" for s in scores) + " |")


def novels(booknlp: Path, pdnc: Path, names: list[str]) -> None:
    """CoNLL F1 of linking mentions to characters, by novel."""
    print(
        "| | mentions | BookNLP's own run | windows apart | greedy | linker | with a cast |\n|" + "---|" * 7
    )
    for folder in sorted(booknlp.iterdir()):
        if names and folder.name not in names:
            continue
        own, key = novel_of(folder, pdnc / folder.name)
        windows = [w.to_record() for w in split_book(own.to_book()).books]
        (document,) = documents_of(windows)
        made = [merge(document, DECIDERS[how](document)).to_record() for how in ("new", "greedy", "linker")]
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(cast_of(pdnc / folder.name / "character_info.csv"))
            file.flush()
            (named,) = with_cast([document], Path(file.name))
        made.append(merge(named, decide_with_linker(named)).to_record())
        known = {mention for cluster in key.clusters for mention in cluster}
        cells = []
        for record in (own, *made):
            left = [[m for m in c if m in known] for c in record.clusters]
            scores = score_clusters(key.clusters, [c for c in left if c])
            cells.append(f"{100 * scores.conll.f1:.2f}")
        print(f"| {folder.name} | {len(known):,} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", type=Path, nargs="?")
    parser.add_argument("gold", type=Path, nargs="?")
    parser.add_argument("full", type=Path, nargs="?")
    parser.add_argument("--cast", type=Path)
    parser.add_argument("--chains", type=int)
    parser.add_argument("--booknlp", type=Path)
    parser.add_argument("--pdnc", type=Path)
    parser.add_argument("--novel", action="append", default=[])
    parser.add_argument("--sample", type=Path)
    a = parser.parse_args()
    if a.chains:
        speed(a.chains)
    elif a.sample:
        sample(a.sample)
    elif a.booknlp:
        novels(a.booknlp, a.pdnc, a.novel)
    elif a.parts.suffix == ".jsonl":
        windows(a.parts, a.gold, a.full, a.cast)
    else:
        stories(a.parts, a.gold)


if __name__ == "__main__":
    main()
