"""Scores: `evaluate` and `stats`."""

from __future__ import annotations

from ... import api
from ..common import emit_table, listed
from ..declared import Json, Markdown, verb

# (heading, field); the paper's own columns first, then what the two disputed ones can also mean.
TABLE_1 = [
    ("docs", "documents"), ("tokens", "tokens"), ("mentions", "mentions"), ("tok/doc", "tokens_per_document"),
    ("ment/doc", "mentions_per_document"), ("chains/doc", "chains_per_document"),
    ("ment/chain", "mentions_per_chain"), ("ment. dist.", "mention_distance"),
]  # fmt: skip
BESIDE = [
    ("chains", "chains"), ("singletons", "singletons"), ("longest", "longest_chain"),
    ("ment/chain pooled", "mentions_per_chain_pooled"), ("dist. pooled pairs", "mention_distance_pooled"),
    ("dist. plain", "mention_distance_plain"), ("names %", "exact_name_percent"),
]  # fmt: skip


@verb(flags={"key": "-k", "response": "-r", "mode": "-m"})
def evaluate(scores: api.Scores, markdown: Markdown = False, json: Json = False) -> None:
    """Scores are in percent; --json has fractions with their numerators and denominators, and the rules
    used."""
    listed("note:", scores.notes)
    if json:
        return
    for i, table in enumerate(scores.shown):
        if i:
            print()
        emit_table(table.columns, table.rows, title=table.title, markdown=markdown)
    listed("wrote", scores.plots)


@verb(document=lambda found: found.documents())
def stats(found: api.Counts, markdown: Markdown = False, json: Json = False) -> None:
    """The plain ones stand in the second table."""
    listed("note:", found.notes)
    listed("wrote", found.plots)
    if json:
        return
    rows = [*found.totals, *(pair for pairs in found.of_books for pair in pairs)]
    for i, columns in enumerate((TABLE_1, BESIDE)):
        if i:
            print()
        cells = []
        for name, s in rows:
            share = s.exact_name_share
            values = {**s.to_dict(), "exact_name_percent": None if share is None else 100 * share}
            cells.append([name, *(values[field] for _, field in columns)])
        emit_table(["data set", *(heading for heading, _ in columns)], cells, markdown=markdown)
