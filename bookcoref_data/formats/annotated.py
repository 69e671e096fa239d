"""Annotated books with their reasons: the folder that `annotate` writes, read and written.

    annotation.jsonl     the official records; `source` names the file, `token_starts` and `token_ends` are
                         its characters, `chapters` the headings
    provenance.jsonl     one line per mention (step, rule, score), one per drop (with its reason)
    quotes.jsonl         one line per quote: speaker, addressees, how they were found
    texts/<doc_key>.txt  the decoded source file that the offsets count

Any other input that this package reads becomes an annotation without reasons.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..books.annotation import Annotation, Dropped, Marked, Quote, SourceText, annotation_of
from ..books.book import Record, text_of
from ..errors import BookError, FormatError, UsageError, listed
from ..files import safe_name, sha256_bytes, write_text
from ..outputs import ANNOTATION, refuse_data_set, whole
from ..shapes import check
from .base import cluster_ids
from .conversion_report import ConversionReport, Note
from .documents import PROVENANCE, read_documents
from .folder import check_losses, check_replaceable, losses
from .jsonl import write as write_jsonl
from .layers import note_layers
from .lines import json_lines, read_lines
from .reasons import REASONS as REASONS_FILE
from .reasons import read_reasons, with_reasons

QUOTES, TEXTS, DATASET = "quotes.jsonl", "texts", "dataset"
KIND = "annotation"
"""What the files of such a folder are together, in its record."""
UNIT = "characters of the decoded file: no byte order mark, line ends as one \\n"
REASONS = "reasons of mentions (step, rule, score)"
CANDIDATES = "other candidates for mentions"
REFUSED = "mentions that a step refused or took away"
_OWN_FIELDS = ("source", "token_starts", "token_ends", "chapters")
_Rows = Mapping[str, list[dict[str, Any]]]


def read_annotations(
    path: Path | str, *, config: str | None = None, report: ConversionReport | None = None
) -> list[Annotation]:
    """The annotated books of a folder of `annotate`, of a data set folder, or of a file in any format.

    `report` hears of layers and speakers of tokens, which an annotation has no place for.

    Raises:
        SourceError: nothing there. FormatError: not what it claims to be. BookError: a record without text.
    """
    path = Path(path)
    if config in (None, "full") and has_reasons(path):
        return [annotation for _, annotation in read_with_reasons(path)]
    records = read_documents(path, config=config, report=report)
    for record in records:
        note_layers(record, report)
    return [annotation_of(record) for record in records]


def has_reasons(path: Path) -> bool:
    """Whether a path is a folder of `annotate`, its `annotation.jsonl`, or a data set folder with reasons."""
    annotated = (path.is_dir() or path.name == ANNOTATION) and (_folder_of(path) / ANNOTATION).is_file()
    return annotated or (path / REASONS_FILE).is_file()


def read_with_reasons(path: Path) -> list[tuple[Record, Annotation]]:
    """The records of a folder that `has_reasons`, and what is known of each. Raises as `read_annotations`."""
    folder = _folder_of(path)
    if not (folder / ANNOTATION).is_file():
        lines, place = read_reasons(folder), folder / REASONS_FILE
        return [
            (record, with_reasons(annotation_of(record), lines.get(record.doc_key, ""), str(place)))
            for record in read_documents(folder)
        ]
    provenance, quotes = _rows(folder / PROVENANCE, "reason"), _rows(folder / QUOTES, "quote")
    records = read_documents(folder / ANNOTATION)
    for name, rows in ((PROVENANCE, provenance), (QUOTES, quotes)):
        if others := rows.keys() - {record.doc_key for record in records}:
            what = f"{folder / name} has lines of documents that {ANNOTATION} does not have"
            hint = "give the document its old key again, or take those lines out"
            raise FormatError(what, found=listed(sorted(others)), hint=hint)
    return [(record, _with_reasons(record, provenance, quotes, folder)) for record in records]


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _rows(path: Path, shape: str) -> _Rows:
    """The lines of a file by document key; nothing where there is no such file. `shape` is what they are."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for place, value in json_lines(path, shape) if path.is_file() else ():
        found[value["doc_key"]].append(value | {"place": place})
    return found


def _with_reasons(record: Record, provenance: _Rows, quotes: _Rows, folder: Path) -> Annotation:
    check(record.extra, "annotation_fields", f"{folder / ANNOTATION}: {record.doc_key!r}")
    plain = annotation_of(record)
    rows, spoken = provenance.get(record.doc_key, []), quotes.get(record.doc_key, [])
    # Each character, speaker and addressee once, in the order of the rows
    given = [row.get("character") for row in rows]
    given += [name for row in spoken for name in (row.get("speaker"), *row.get("addressees", ()))]
    names = tuple(dict.fromkeys([*plain.names, *(name for name in given if name)]))
    index = {name: i for i, name in enumerate(names)}
    size = len(plain.book.tokens)
    reasons: dict[tuple[int, int, int], Marked] = {}
    dropped: list[Dropped] = []
    for row in rows:
        start, end, character = row["start"], row["end"], index[row["character"]]
        if row.get("dropped"):
            dropped.append(Dropped(start, end, character, row["step"], row["reason"], row.get("score", 0.0)))
            continue
        others = tuple((index[name], score) for name, score in row.get("others", ()) if name in index)
        step, rule, kind = (row.get(name, "") for name in ("step", "rule", "kind"))
        score = row.get("score", 1.0)
        reasons[start, end, character] = Marked(start, end, character, step, rule, score, kind, others)
    said = []
    for row in spoken:
        speaker = index[row["speaker"]] if row.get("speaker") else -1
        listed = tuple(index[n] for n in row.get("addressees", ()) if n)
        rule, score = row.get("rule", ""), row.get("score", 0.0)
        said.append(Quote(row["start"], row["end"], speaker, listed, rule, score))
        if not row["start"] <= row["end"] < size:
            raise FormatError(
                f"{row['place']}: the quote is not in the text", expected=f"tokens from 0 to {size - 1}",
                found=f"{row['start']} to {row['end']}",
            )  # fmt: skip
    extra = {k: v for k, v in plain.extra.items() if k not in _OWN_FIELDS}
    return replace(
        plain, names=names, mentions=tuple(reasons.get(m[:3], m) for m in plain.mentions),
        quotes=tuple(sorted(said)), extra=extra,
        dropped=tuple(d for d in dropped if 0 <= d.start <= d.end < size),
        source=source_text_of(record, folder), chapters=chapters_of(record),
    )  # fmt: skip


def source_text_of(record: Record, folder: Path) -> SourceText | None:
    """The source text of a record, if the folder still has it. Raises FormatError: it is not the text that
    the offsets count."""
    size = sum(map(len, record.sentences or ()))
    given, starts, ends = (record.extra.get(k) for k in ("source", "token_starts", "token_ends"))
    path = folder / TEXTS / f"{record.doc_key}.txt"
    if not (isinstance(given, dict) and isinstance(starts, list) and isinstance(ends, list)):
        return None
    if not os.path.isfile(path):  # False also for a name that no disk takes
        return None
    text = path.read_bytes().decode("utf-8", "replace")
    found = sha256_bytes(text.encode("utf-8"))
    sound = len(starts) == len(ends) == size and found == given.get("sha256")
    pairs = zip(starts, ends, strict=sound)
    if not sound or not all(type(a) is type(b) is int and 0 <= a <= b <= len(text) for a, b in pairs):
        raise FormatError(
            f"{path} is not the text that the offsets of {record.doc_key!r} count",
            expected=str(given.get("sha256"))[:12], found=found[:12],
            hint="annotate the book again, or remove the text: offsets are then not used",
        )  # fmt: skip
    return SourceText(str(given.get("file", path.name)), found, text, tuple(starts), tuple(ends))


def chapters_of(record: Record) -> tuple[tuple[str, int], ...]:
    """The headings that a record names: (title, first token)."""
    given = record.extra.get("chapters")
    if not isinstance(given, list):
        return ()
    told = [c for c in given if isinstance(c, dict) and type(c.get("token")) is int]
    return tuple((str(c.get("title", "")), c["token"]) for c in told)


def write_annotations(annotations: Iterable[Annotation], out: Path) -> list[Path]:
    """Write a folder that `read_annotations` reads back; returns the files, without the texts. Raises
    BookError: a text holds half a surrogate pair, which no file in UTF-8 can; nothing is written."""
    done = list(annotations)
    for a in done:
        try:
            "".join((a.doc_key, *a.names, *a.book.tokens)).encode("utf-8")
        except UnicodeEncodeError as error:
            raise BookError(
                f"{a.doc_key!r}: a name or token holds half a surrogate pair", found=str(error)
            ) from error
    reasons, quotes = list[dict[str, Any]](), list[dict[str, Any]]()
    for a in done:
        for m in a.mentions:
            told = _placed(a, m.start, m.end) | {
                "text": a.book.text_of(m.mention), "character": a.names[m.character], "kind": m.kind,
                "step": m.step, "rule": m.rule, "score": m.score,
            }  # fmt: skip
            others = {"others": [[a.names[c], score] for c, score in m.others]} if m.others else {}
            reasons.append(told | others)
        for d in a.dropped:
            told = {"character": a.names[d.character], "dropped": True, "step": d.step, "reason": d.reason}
            reasons.append(_placed(a, d.start, d.end) | told | {"score": d.score})
        for q in a.quotes:
            text = text_of(a.book.tokens, q.start, q.end)
            speaker = a.names[q.speaker] if q.speaker >= 0 else None
            told = {"text": text, "speaker": speaker, "addressees": [a.names[e] for e in q.addressees]}
            quotes.append(_placed(a, q.start, q.end) | told | {"rule": q.rule, "score": q.score})
    with whole(out, KIND):
        for a in done:
            if a.source is not None:
                name = safe_name(a.doc_key, "document key")
                write_text(out / TEXTS / f"{name}.txt", a.source.text)
        write_jsonl((_record(a) for a in done), out / ANNOTATION)
        for name, rows in ((PROVENANCE, reasons), (QUOTES, quotes)):
            write_text(out / name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return [out / name for name in (ANNOTATION, PROVENANCE, QUOTES)]


def check_kept(out: Path, names: Iterable[str], *, replace: bool = False) -> None:
    """Refuse to write annotations of the books `names` to a folder that has those of other books.

    Raises UsageError: lists what would be lost; it is a data set; or there are files of others. With
    `replace` books may go, and other files stay where they are.
    """
    refuse_data_set(out)
    check_replaceable(out / DATASET, replace=replace)
    if replace:
        return
    lost = dict(losses(out / DATASET, ()))
    earlier = out / ANNOTATION
    for line in read_lines(earlier) if earlier.is_file() else ():
        try:
            lost[str(json.loads(line)["doc_key"])] = "the annotation of"
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            hint = "choose another folder with --out, or add --replace"
            raise UsageError(f"{earlier} is no annotation, so it is not overwritten", hint=hint) from error
    kept = set(names)
    check_losses(out, {key: what for key, what in lost.items() if key not in kept})


def _record(a: Annotation) -> Record:
    record = a.to_record()
    extra = dict(record.extra)
    if a.source is not None:
        extra |= {
            "source": {"file": a.source.file, "sha256": a.source.sha256, "unit": UNIT},
            "token_starts": list(a.source.starts),
            "token_ends": list(a.source.ends),
        }
    if a.chapters:
        extra["chapters"] = [{"title": title, "token": token} for title, token in a.chapters]
    return replace(record, extra=extra)


def whole_record(a: Annotation, record: Record | None = None) -> Record:
    """An annotation as a record (or the record that it was read from) with its quotes as a field."""
    record = _record(a) if record is None else record
    if not a.quotes:
        return record
    names = cluster_ids(record, digits=True)
    ids = {tuple(sorted(c)): i for c, i in zip(record.clusters, names, strict=True)}
    spans = [tuple(sorted(m.mention for m in group)) for group in a.by_character]
    quotations = [
        {
            "start": q.start, "end": q.end, "mention": None,
            "cluster": ids.get(spans[q.speaker]) if q.speaker >= 0 else None,
            "speaker": a.names[q.speaker] if q.speaker >= 0 else None,
            "addressees": [a.names[to] for to in q.addressees], "rule": q.rule, "score": q.score,
        }
        for q in a.quotes
    ]  # fmt: skip
    return replace(record, extra={**record.extra, "quotations": quotations})


def note_reasons(a: Annotation, note: Note) -> None:
    """Count what an annotation knows of its mentions beyond a record."""
    note(REASONS, count=sum(bool(m.step or m.rule) for m in a.mentions))
    note(CANDIDATES, count=sum(len(m.others) for m in a.mentions))
    note(REFUSED, count=len(a.dropped))


def _placed(a: Annotation, start: int, end: int) -> dict[str, Any]:
    """The beginning of a row: what book and tokens it is about, and their characters where they are known."""
    characters = {} if a.source is None else {"characters": list(a.source.span(start, end))}
    return {"doc_key": a.doc_key, "start": start, "end": end, **characters}
