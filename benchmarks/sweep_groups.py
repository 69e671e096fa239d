"""How many windows should a group have? The sweep behind the paper's G = 10, for any book with gold.

    python benchmarks/sweep_groups.py GOLD [--recipe RECIPE] [--sizes 1,2,5,10,20,50] [--plot G.png]

GOLD: documents with characters (their names are the cast). Linking, filtering and the windows run once; only
the grouped expansion is repeated. One line a size: the scores of the last step, and the seconds it took.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.plan import Plan, default_plan, read_plan
from bookcoref_data.annotation.steps import Job, run_steps
from bookcoref_data.books import Record
from bookcoref_data.cli.common import emit_table
from bookcoref_data.formats import read_documents
from bookcoref_data.scoring import Evaluation, evaluate
from bookcoref_data.scoring.scores import LABELS

COLUMNS = ("G", "MUC", "B3", "CEAF-e", "CoNLL", "mentions R", "mentions P", "CPU s")


def with_group(plan: Plan, size: int) -> Plan:
    settings = {**plan.settings, "groups": {**plan.of("groups"), "windows": size}}
    return replace(plan, settings=settings)


def sweep(gold: list[Record], plan: Plan, sizes: Sequence[int]) -> list[tuple[int, Evaluation, float]]:
    """(size, scores, CPU seconds of the grouped step) of every size."""
    before = [step for step in plan.steps if step != "groups"]
    started = []
    first = make_backend(plan)
    for record in gold:
        book = replace(record, clusters=[], characters=[]).to_book()
        job = Job(book, make_cast(name for name, _ in record.characters))
        started.append((record, job, run_steps(first, job, before)))
    found = []
    for size in sizes:
        backend = make_backend(with_group(plan, size))
        start = time.process_time()
        response = []
        for record, job, state in started:
            done = run_steps(backend, job, ["groups"], state=state)
            clusters = [list(spans) for spans in done.spans() if spans]
            response.append(Record(record.doc_key, "", record.sentences, clusters))
        found.append((size, evaluate(gold, response), time.process_time() - start))
    return found


def save_plot(found: list[tuple[int, Evaluation, float]], path: Path) -> None:
    from bookcoref_data.reports.evaluation_plots import load_pyplot

    pyplot = load_pyplot()
    figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
    sizes = [size for size, _, _ in found]
    for name, style in (("muc", "--"), ("b_cubed", ":"), ("ceaf_e", "-."), ("conll", "-")):
        axes.plot(
            sizes,
            [100 * getattr(e.pooled, name).f1 for _, e, _ in found],
            style,
            marker="o",
            label=LABELS[name],
        )
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("windows in a group (G)")
    axes.set_ylabel("F1 (%)")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("gold", type=Path)
    parser.add_argument("--recipe", type=Path)
    parser.add_argument("--sizes", default="1,2,5,10,20,50")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    gold = [r for r in read_documents(arguments.gold) if r.sentences is not None and r.characters]
    if not gold:
        parser.error(f"{arguments.gold} has no document with text and characters")
    plan = read_plan(arguments.recipe) if arguments.recipe else default_plan("embedded")
    found = sweep(gold, plan, [int(size) for size in arguments.sizes.split(",")])
    rows = []
    for size, result, seconds in found:
        p = result.pooled
        scores = (p.muc.f1, p.b_cubed.f1, p.ceaf_e.f1, p.conll.f1, p.mentions.recall, p.mentions.precision)
        rows.append([size, *(100 * value for value in scores), seconds])
    emit_table(COLUMNS, rows)
    if arguments.plot:
        save_plot(found, arguments.plot)


if __name__ == "__main__":
    main()
