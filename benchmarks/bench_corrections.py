"""How many other links become right when a person corrects the least certain ones.

    python benchmarks/bench_corrections.py PDNC/WhereAngelsFearToTread [--most 100]

PDNC marks, in every quotation of a novel, its speaker and who is meant by the mentions inside. The novel is
annotated with the gold cast; then the least certain links that PDNC knows the answer of get the gold answer
as edits, and the novel is annotated again with them. Three rounds: mentions inside quotes, speakers of
quotes, and speakers of the same number of random quotes. Counted are the links that were *not* corrected: how
many were wrong and are right now, and the reverse.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import io
import random
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.cast import Cast, Entry, make_cast
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books.annotation import Annotation
from bookcoref_data.edits import Edit, anchor_of
from bookcoref_data.workflows.annotate import annotate_book, read_sources
from bookcoref_data.workflows.given import corrections_of

Span = tuple[int, int]


@dataclass(frozen=True)
class Gold:
    """A novel of PDNC: its text, the cast, and by characters of the text who speaks and who is meant."""

    text: str
    cast: Cast
    speakers: dict[Span, str]
    mentions: dict[Span, str]


def read_gold(folder: Path) -> Gold:
    text = gzip.decompress((folder / "novel_text.txt.gz").read_bytes()).decode("utf-8")
    entries, main_name = [], {}
    with open(folder / "character_info.csv", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            name = row["Main Name"]
            aliases = sorted(ast.literal_eval(row["Aliases"])) if row["Aliases"].strip() else []
            gender = {"M": "m", "F": "f"}.get(row["Gender"], "")
            if not name.startswith("_"):
                entries.append(Entry(name, tuple(aliases), gender))
            main_name |= dict.fromkeys([*aliases, name], name)
    speakers: dict[Span, str] = {}
    mentions: dict[Span, str] = {}
    table = gzip.decompress((folder / "quotation_info.csv.gz").read_bytes()).decode("utf-8")
    for row in csv.DictReader(io.StringIO(table)):
        for start, end in ast.literal_eval(row["quoteByteSpans"]):
            speakers[start, end] = main_name.get(row["speaker"], row["speaker"])
        for spans, people in zip(
            ast.literal_eval(row["mentionSpansList"]),
            ast.literal_eval(row["mentionEntitiesList"]),
            strict=True,
        ):
            for (start, end), who in zip(spans, people, strict=True):
                if len(who) == 1:
                    mentions[start, end] = main_name.get(who[0], who[0])
    known = {e.name for e in entries}
    return Gold(
        text, make_cast(entries), {k: v for k, v in speakers.items() if v in known},
        {k: v for k, v in mentions.items() if v in known},
    )  # fmt: skip


def answers(gold: Gold, a: Annotation) -> tuple[dict[Span, tuple[str, str, float]], ...]:
    """{token span: (gold, found, score)} of mentions, and of quotes; a quote belongs where it begins."""
    assert a.source is not None
    begins = {s: i for i, s in enumerate(a.source.starts) if a.book.tokens[i] != "\n"}
    ends = {e: i for i, e in enumerate(a.source.ends) if a.book.tokens[i] != "\n"}
    found = {(m.start, m.end): (a.names[m.character], m.score) for m in a.mentions}
    links = {}
    for (start, end), name in gold.mentions.items():
        if start in begins and end in ends:
            span = begins[start], ends[end]
            links[span] = (name, *found.get(span, ("", 0.0)))
    by_start = {i: q for q in a.quotes for i in range(q.start, q.end + 1)}
    quotes = {}
    for (start, _), name in gold.speakers.items():
        q = by_start.get(begins.get(start, -1))
        if q is not None:
            quotes[q.start, q.end] = (name, a.names[q.speaker] if q.speaker >= 0 else "", q.score)
    return links, quotes


def compare(before: dict, after: dict, corrected: Iterable[Span]) -> str:
    left = before.keys() & after.keys() - set(corrected)
    was = {s for s in left if before[s][0] == before[s][1]}
    now = {s for s in left if after[s][0] == after[s][1]}
    return f"{len(left):,} | {len(was):,} | {len(now):,} | {len(now - was):,} | {len(was - now):,}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("novel", type=Path)
    parser.add_argument("--most", type=int, default=100)
    arguments = parser.parse_args()
    gold, plan = read_gold(arguments.novel), default_plan("embedded")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "novel.txt"
        path.write_text(gold.text, encoding="utf-8")
        (source,) = read_sources(path)
    backend = make_backend(plan)  # keeps the parse for all rounds
    first = annotate_book(source, gold.cast, plan, backend=backend).annotation()
    links, quotes = answers(gold, first)
    tokens = source.book.tokens

    def link(span: Span) -> Edit:
        return Edit("link", at=anchor_of(tokens, *span), character=links[span][0])

    def speaker(span: Span) -> Edit:
        return Edit("speaker", at=anchor_of(tokens, *span), speaker=quotes[span][0])

    least = sorted((s for s in links if links[s][1]), key=lambda s: links[s][2])[: arguments.most]
    doubtful = sorted(quotes, key=lambda s: quotes[s][2])[: arguments.most]
    drawn = random.Random(1).sample(sorted(quotes), min(arguments.most, len(quotes)))
    print(
        "| corrected | wrong | counted | others | right before | right after | became right | became wrong |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, spans, make, told in (
        (f"{len(least)} least certain mentions", least, link, links),
        (f"{len(doubtful)} least certain speakers", doubtful, speaker, quotes),
        (f"{len(drawn)} random speakers", drawn, speaker, quotes),
    ):
        found = corrections_of([make(s) for s in spans], source.book, gold.cast)
        again = annotate_book(source, found.cast, plan, given=found.given, backend=backend).annotation()
        new_links, new_quotes = answers(gold, again)
        wrong = sum(told[s][0] != told[s][1] for s in spans)
        print(f"| {name} | {wrong} | mentions | {compare(links, new_links, spans)} |")
        print(f"| | | speakers | {compare(quotes, new_quotes, spans)} |", flush=True)
    backend.close()


if __name__ == "__main__":
    main()
