"""From one format to another, with an account of what could not be said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from . import detect
from .conversion_report import Losses
from .documents import FORMATS, read_documents, write_documents
from .projection import project_all


@dataclass(frozen=True)
class Conversion:
    """What was done: how many documents, between which formats, with what losses."""

    documents: int
    tokens: int | None
    mentions: int
    clusters: int
    read_as: str
    written_as: str
    losses: Losses

    def to_json(self) -> dict:
        """All fields; `losses` as a list of objects."""
        return {**vars(self), "losses": self.losses.to_json()}


def convert(
    source: Path,
    target: Path,
    *,
    read_as: str | None = None,
    write_as: str | None = None,
    config: str | None = None,
    key: Path | None = None,
    parts: str | None = None,
) -> Conversion:
    """Read `source`, write `target`; formats are told from names and content where not given.

    `key` names documents onto whose tokens the mentions are moved. `config` chooses the config of a
    dataset folder, `parts` how parts of CoNLL documents are joined (join, merge, apart).

    Raises:
        UsageError: settings that do not fit. FormatError, DataError, SourceError: as the readers raise.
    """
    losses = Losses()
    read_as = read_as or detect.detect(source)
    write_as = write_as or detect.for_output(target)
    if write_as not in FORMATS:
        raise UsageError(f"cannot write the format {write_as!r}", expected=f"one of {', '.join(FORMATS)}")
    if parts is not None and (read_as != "conll" or parts not in ("join", "merge", "apart")):
        raise UsageError(
            f"--parts {parts} does not fit", expected="join, merge or apart, and an input in CoNLL-2012"
        )
    options = {} if parts is None else {"parts": parts}
    records = read_documents(source, read_as, config, losses=losses, **options)
    if key is not None:
        records = project_all(records, read_documents(key), losses)
    write_documents(records, target, write_as, losses=losses)
    lengths = [None if r.sentences is None else sum(map(len, r.sentences)) for r in records]
    return Conversion(
        documents=len(records),
        tokens=None if None in lengths else sum(lengths),
        mentions=sum(len(cluster) for r in records for cluster in r.clusters),
        clusters=sum(len(r.clusters) for r in records),
        read_as=read_as,
        written_as=write_as,
        losses=losses,
    )
