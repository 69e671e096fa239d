"""What a bracket format has no column for, kept in one comment line per document.

`# bookcoref-data {"doc_key": ..., "gutenberg_key": ..., "characters": [[name, cluster id], ...], ...}`:
other programs skip it as a comment, ours restores from it the key, the names of the characters, the
order of the clusters, and the fields we do not know. It stands before the document it speaks of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..books import Mention, Record
from ..errors import FormatError
from .conversion_report import ConversionReport
from .layers import SPEAKERS, Layer, from_runs, said, speaker_runs

_COUNTED = re.compile(r"[A-Za-z]?([0-9]{1,18})")
MARK = "# bookcoref-data "
UNNAMED = "characters whose mentions are not exactly one of the clusters"
ABSENT = "character names whose cluster is not in the file"
EMPTY_CLUSTER = "clusters without a mention"
EXTRA = "fields beyond tokens and clusters"


def describe(
    record: Record,
    ids: Sequence[str],
    report: ConversionReport | None,
    *,
    drop: Sequence[str] = (),
    speakers: Layer | None = None,
) -> dict[str, Any]:
    """The content of the comment; `ids` are the cluster ids as written, listed unless they simply count.

    `drop` names the extra fields that the format says elsewhere. `speakers` are given where the format has
    no place for them.
    """
    value: dict[str, Any] = {"doc_key": record.doc_key}
    if record.gutenberg_key:
        value["gutenberg_key"] = record.gutenberg_key
    if speakers is not None and said(speakers):
        value["speakers"] = speaker_runs(speakers)
    names = name_clusters(record, ids, report)
    if names:
        value["characters"] = names
    if _in_order(ids, {}) != list(ids):
        value["clusters"] = list(ids)
    extra = {k: v for k, v in record.extra.items() if k not in drop}
    if extra:
        value["extra"] = extra
    return value


def name_clusters(
    record: Record, ids: Sequence[str], report: ConversionReport | None
) -> list[tuple[str, str]]:
    """(name, cluster id) for each character whose mentions are exactly those of a cluster."""
    by_mentions: dict[tuple[Mention, ...], str] = {}
    for cluster, number in zip(record.clusters, ids, strict=True):
        by_mentions.setdefault(tuple(sorted(cluster)), number)
    names = []
    for name, mentions in record.characters:
        owner = by_mentions.get(tuple(sorted(mentions)))
        if owner is not None:
            names.append((name, owner))
        elif report is not None:
            report.add(UNNAMED, record.doc_key, repr(name))
    return names


def to_line(description: dict[str, Any], mark: str = MARK) -> str:
    """The comment as a line of text without line ends."""
    text = json.dumps(description, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(description)
    return mark + text


def parse(text: str, place: str) -> dict[str, Any]:
    """The comment's content, checked. Raises FormatError (`place` is "file:line")."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(place, str(error)) from error
    names = value.get("characters", []) if type(value) is dict else None
    order = value.get("clusters", []) if type(value) is dict else None
    right = (
        type(value) is dict
        and type(value.get("doc_key")) is str
        and type(value.get("gutenberg_key", "")) is str
        and type(value.get("extra", {})) is dict
        and type(order) is list
        and all(type(number) is str for number in order)
        and type(names) is list
        and all(type(n) is list and len(n) == 2 and type(n[0]) is str and type(n[1]) is str for n in names)
    )
    if not right:
        raise _fault(place, text[:80])
    checked: dict[str, Any] = value
    return checked


def record_of(
    description: dict[str, Any] | None,
    doc_key: str,
    sentences: list[list[str]] | None,
    clusters: dict[str, list[Mention]],
    source: str,
    extra: dict[str, Any],
    report: ConversionReport | None,
    *,
    keep_ids: bool = False,
    speakers: Layer | None = None,
    layers: dict[str, Layer] | None = None,
) -> Record:
    """A record from what the columns say (`clusters` by id) and what the comment adds, if there is one.

    `keep_ids` puts the ids, in the order of the clusters, into `extra["cluster_ids"]`.
    """
    if description is None:
        description = {}
    else:
        clusters = {number: clusters[number] for number in _in_order(clusters, description)}
        extra = {**description.get("extra", {}), **extra}
    if keep_ids:
        extra = {**extra, "cluster_ids": list(clusters)}
    characters = []
    for name, number in description.get("characters", []):
        if number in clusters:
            characters.append((name, list(clusters[number])))
        elif report is not None:
            report.add(ABSENT, doc_key, repr(name))
    if speakers is None and "speakers" in description:
        speakers = from_runs(description["speakers"], sentences)
        if speakers is None and report is not None:
            report.add(SPEAKERS, doc_key)
    return Record(
        doc_key,
        description.get("gutenberg_key", ""),
        sentences,
        list(clusters.values()),
        characters,
        source,
        extra,
        speakers,
        layers or {},
    )


def cluster_ids(record: Record, *, digits: bool = False) -> list[str]:
    """The ids to write: those the record came with (`extra["cluster_ids"]`) if they fit, else 0, 1, ..."""
    ids = record.extra.get("cluster_ids")
    fits = (
        type(ids) is list
        and len(ids) == len(record.clusters) == len(set(map(str, ids)))
        and all(type(i) is str and i.isascii() and (i.isdigit() or (not digits and i.isalnum())) for i in ids)
    )
    return list(ids or []) if fits else [str(i) for i in range(len(record.clusters))]


def _in_order(ids: Iterable[str], description: dict[str, Any]) -> list[str]:
    """The cluster ids in the order they were written in: as listed, else by number; others last."""
    listed = {number: i for i, number in enumerate(description.get("clusters", []))}

    def rank(number: str) -> tuple[int, int]:
        if number in listed:
            return 0, listed[number]
        count = _COUNTED.fullmatch(number)
        return (1, int(count[1])) if count else (2, 0)

    return sorted(ids, key=rank)


def _fault(place: str, found: str) -> FormatError:
    return FormatError(
        f"{place}: the bookcoref-data comment is damaged",
        expected='{"doc_key": ..., "gutenberg_key": ..., "characters": [[name, cluster id], ...]}',
        found=found,
        hint="remove the line: only names and keys are lost",
    )
