"""brat standoff: a text file and, beside it, an annotation file with character offsets.

brat knows neither tokens nor sentences. Written, tokens are separated by one space and sentences by a line
end (tokens escaped as `escape` says), and read back the same way: a line is a sentence, a run without white
space a token. In texts that were not tokenised, a token is cut where a mention begins or ends inside it.

Coreference is read from equivalences (`*  Coref T1 T2`), from relations of a coreference type
(`R1  Coref Arg1:T1 Arg2:T2`), and in LitBank's own way, where a second `T` line over the span of an entity
has the name of its cluster as type. An entity that is linked to nothing is a cluster of one mention.
Attributes (`A`, `M`), references (`N`) and notes (`#`) of entities are kept as attributes of the mentions.
Written are equivalences, attributes, references and notes; names and keys go into a note on the first
mention.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from ..books import Mention, Record
from ..errors import FormatError
from ..files import utf8
from ..shapes import together
from . import base
from .base import beside, doc_key_of, needed_sibling, targets
from .compressed import bare_suffix, packing, read_bytes
from .conversion_report import ConversionReport, Note
from .escape import escape, unescape
from .layers import attributes_of, mention_types
from .lines import CUT, cut_text, read_lines

GAPS = "gaps in discontinuous mentions (the whole stretch is taken)"
RELATIONS = "relations and events that are not coreference"
RENAMED = "document keys in the place of which the name of the file is read"
ON_RELATIONS = "attributes, references and notes of relations and events"
ODD_LINES = "lines of a kind that brat does not know"

DEFAULT_TYPE = "Mention"
_COREFERENCE = re.compile(r"(coref.*|ident.*|same.*|equiv.*)", re.IGNORECASE)
_LITBANK_MENTION = re.compile(r"(PROP|NOM|PRON)_[A-Z]+")
_LITBANK_CLUSTER = re.compile(r"\S+-\d+")
_TYPE = re.compile(r"(?!\S+-\d+$)[^\s;\ud800-\udfff]+")  # no name of one of LitBank's clusters
_ENTITY = re.compile(r"([^\s;]+) (\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)")
_RELATION = re.compile(r"(\S+) Arg1:(\S+) Arg2:(\S+)\s*")
_ATTRIBUTE_NAME = re.compile(r"[^\s;:\ud800-\udfff]+")
_NOTES, _REFERENCES = "notes", "references"
_NOTE_MARK = base.MARK.lstrip("# ")
_LINE = re.compile(rf"(?!AnnotatorNotes \S+\t{_NOTE_MARK})[^\r\n\ud800-\udfff]*")


@dataclass
class _Entity:
    """One `T` line: its span in characters, end exclusive."""

    number: str
    kind: str
    start: int
    end: int


@dataclass
class _AnnFile:
    entities: dict[str, _Entity] = field(default_factory=dict)
    links: list[list[str]] = field(default_factory=list)
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    comment: dict[str, Any] | None = None


def read(path: Path | str, *, report: ConversionReport | None = None) -> Iterator[Record]:
    """Yield the one document of a brat pair (`path` is the .ann or the .txt file, plain or packed).

    `extra` keeps "mention_types" ([start, end, type] of each entity that has another type than our
    default), "mention_attributes" ([start, end, {name: value}]; True for attributes without a value,
    "notes" a list of texts, "references" a list of [id, text]), and for LitBank "cluster_ids", the names of
    the clusters, parallel to `clusters`.

    Raises FormatError: `file:line` of a line that cannot be, of offsets that do not fit the text.
    SourceError: one of the two files is missing.
    """
    path, report = Path(path), report or ConversionReport()
    if bare_suffix(path) == ".txt":
        path = needed_sibling(path, ".ann", "the annotation")
    key = doc_key_of(path)
    text_path = needed_sibling(path, ".txt", "the text")
    data = read_bytes(text_path)
    # brat counts a byte-order mark as a character, so it must stay in the count but in no token.
    text = " " * data.startswith(b"\xef\xbb\xbf") + utf8(data, text_path)
    parsed, comment = _parse(key, text, read_lines(path), str(path), report.note(key))
    if comment is not None:
        parsed.doc_key = comment["doc_key"]
    yield parsed.record(comment, report.note(key))


def _parse(
    key: str, text: str, lines: Iterable[str], path: str, note: Note
) -> tuple[base.Parsed, dict[str, Any] | None]:
    """What a text and the lines of its annotation say, and our comment."""
    annotation = _read_annotation(lines, path, text, note)
    tokens = cut_text(text, (p for e in annotation.entities.values() for p in (e.start, e.end)))
    note(CUT, count=tokens.cut)
    sentences = [[unescape(token) for token in sentence] for sentence in tokens.sentences]
    spans: dict[str, Mention] = {}
    for number, entity in annotation.entities.items():
        span = tokens.span(entity.start, entity.end)
        if span is None:
            what = f"{path}: the entity {entity.number} covers white space alone"
            expected = "at least one token"
            raise FormatError(what, expected=expected, found=f"characters {entity.start} to {entity.end}")
        spans[number] = span
    # Whether clusters are named by second entities over the spans of typed mentions
    entities = annotation.entities.values()
    mentions = {(e.start, e.end) for e in entities if _LITBANK_MENTION.fullmatch(e.kind)}
    names = [e for e in entities if not _LITBANK_MENTION.fullmatch(e.kind)]
    litbank = (
        bool(names)
        and not annotation.links
        and all(_LITBANK_CLUSTER.fullmatch(e.kind) and (e.start, e.end) in mentions for e in names)
    )
    groups = together((entity.kind, entity.number) for entity in (names if litbank else ()))
    # Mentions that no cluster names stand alone under their own id.
    named = {(e.start, e.end) for e in names}
    for entity in entities if litbank else ():
        if (entity.start, entity.end) not in named:
            groups[entity.number] = [entity.number]
            named.add((entity.start, entity.end))
    groups = groups if litbank else _linked_groups(annotation)
    clusters = {name: sorted(spans[number] for number in members) for name, members in groups.items()}
    extra: dict[str, Any] = {}
    types = {
        (*spans[number], entity.kind)
        for number, entity in annotation.entities.items()
        if entity.kind != DEFAULT_TYPE and (not litbank or _LITBANK_MENTION.fullmatch(entity.kind))
    }
    if types:
        extra["mention_types"] = sorted(map(list, types))
    if annotation.attributes:
        listed = [[*spans[number], values] for number, values in annotation.attributes.items()]
        extra["mention_attributes"] = sorted(listed, key=lambda item: (item[0], item[1]))
    return base.Parsed(key, sentences, clusters, path, extra, keep_ids=litbank), annotation.comment


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> None:
    """Write each document as a pair of files.

    `path` is a folder, or for a single document the name of its .ann file (the .txt goes beside it).
    Not sayable, and told to `report`: mentions outside the tokens, empty clusters and sentences,
    characters whose mentions are no cluster, keys and names where there is no mention to pin them to.

    Raises DataError: a document's tokens are not known. UsageError: several documents for one file.
    """
    report = report or ConversionReport()
    for record, target in targets(records, path, ".ann"):
        note = report.note(record.doc_key)
        # The text of the document, and the start and end (exclusive) of every token in it
        sentences = base.sentences_of(record)
        note(base.EMPTY_SENTENCE, count=sentences.count([]))
        words = [[escape(token) for token in sentence] for sentence in sentences if sentence]
        sizes = [len(token) + 1 for line in words for token in line]
        starts = list(accumulate(sizes, initial=0))
        ends = [start - 1 for start in starts[1:]]
        text = "".join(" ".join(line) + "\n" for line in words)
        # The mentions of each cluster that lie on the tokens, with their ids in the file
        count = itertools.count(1)
        kept = base.inside(map(sorted, record.clusters), len(ends), note)
        clusters: _Members = [[(f"T{next(count)}", mention) for mention in cluster] for cluster in kept]
        ids = [members[0][0] if members else "" for members in clusters]
        about = list(_about_lines(record, clusters))
        lines = [*_annotation_lines(record, clusters, text, starts, ends), *about]
        parsed, _ = _parse(record.doc_key, text, (s[:-1] for s in lines), "", ConversionReport().note(""))
        comment = base.comment_for(record, parsed, ids, note)
        report.wrote(len(ends), parsed.clusters.values())
        if any(clusters):
            told = base.to_line(comment, _NOTE_MARK)
            notes = sum(line.startswith("#") for line in about)
            lines.append(f"#{notes + 1}\tAnnotatorNotes T1\t{told}\n")
        else:
            base.note_untold(comment, note)
            note(RENAMED, count=doc_key_of(target) != record.doc_key)
        with packing(beside(target, ".txt")) as stream:
            stream.write(text.encode("utf-8"))
        with packing(target) as stream:
            stream.write("".join(lines).encode("utf-8"))


def _read_annotation(lines: Iterable[str], path: str, text: str, note: Note) -> _AnnFile:
    found = _AnnFile()
    about: list[tuple[str, str, Any]] = []  # id, name, value
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) < 2:
            raise _bad_line(place, line, "an id and its annotation, separated by a tab")
        if line[0] == "T":
            entity = _read_entity(cells, text, place, line, note)
            if entity.number in found.entities:
                raise _bad_line(place, line, f"each id once; {entity.number} is given twice")
            found.entities[entity.number] = entity
        elif line[0] == "*":
            found.links.append(cells[1].split()[1:])
        elif line[0] == "R":
            match = _RELATION.fullmatch(cells[1])
            if match is None:
                raise _bad_line(place, line, "R1<tab>Type Arg1:T1 Arg2:T2")
            if _COREFERENCE.fullmatch(match[1]):
                found.links.append([match[2], match[3]])
            else:
                note(RELATIONS, match[1])
        elif line[0] == "#" and len(cells) > 2 and cells[2].startswith(_NOTE_MARK):
            found.comment = base.parse("\t".join(cells[2:])[len(_NOTE_MARK) :], place)
        elif line[0] in "AMN#":
            about.append(_read_about(cells, place, line))
        else:
            note(RELATIONS if line[0] == "E" else ODD_LINES, cells[1].split(":")[0])
    if unknown := [m for members in found.links for m in members if m not in found.entities]:
        what = f"{path}: a relation names {unknown[0]!r}, which is no entity of the file"
        raise FormatError(what, expected="the id of a T line", hint="is a line missing?")
    # What lines say about entities goes beside these; what is about anything else is counted
    for entity_id, name, value in about:
        if entity_id not in found.entities:
            note(ON_RELATIONS, f"{name} {entity_id}")
            continue
        own = found.attributes.setdefault(entity_id, {})
        if name in (_NOTES, _REFERENCES):
            own.setdefault(name, []).append(value)
        elif name not in own:
            own[name] = value
        else:
            note("further values of an attribute of a mention", f"{name} {value}")
    return found


def _read_about(cells: list[str], place: str, line: str) -> tuple[str, str, Any]:
    """(id, name, value) of a line that says something about an entity, relation or event."""
    words = cells[1].split()
    if len(words) < 2:
        raise _bad_line(
            place, line, "A1<tab>Name T1 [value], N1<tab>Reference T1 Source:id<tab>text, or a note"
        )
    kind, number = words[0], words[1]
    rest = "\t".join(cells[2:])
    if line[0] == "#":
        return number, _NOTES, rest if kind == "AnnotatorNotes" else f"{kind}: {rest}"
    if line[0] == "N":
        return number, _REFERENCES, [" ".join(words[2:]), rest]
    return number, kind, " ".join(words[2:]) or True


def _read_entity(cells: list[str], text: str, place: str, line: str, note: Note) -> _Entity:
    match = _ENTITY.fullmatch(cells[1])
    if match is None or len(cells) < 3:
        raise _bad_line(place, line, "T1<tab>Type start end<tab>text")
    pieces = [tuple(map(int, piece.split(" "))) for piece in match[2].split(";")]
    if any(start >= end or end > len(text) for start, end in pieces):
        raise _bad_line(place, line, f"offsets inside the text of {len(text):,} characters, start < end")
    covered = " ".join(text[start:end] for start, end in pieces)
    said = "\t".join(cells[2:])
    if re.sub(r"\s", " ", covered).rstrip() != re.sub(r"\s", " ", said).rstrip():
        what = f"{place}: the offsets do not fit the text"
        hint = "is this the text that was annotated, with its own line ends?"
        raise FormatError(what, expected=repr(said[:60]), found=repr(covered[:60]), hint=hint)
    pieces.sort()
    if any(text[a[1] : b[0]].strip() for a, b in pairwise(pieces)):
        note(GAPS, said)
    return _Entity(cells[0], match[1], pieces[0][0], max(end for _, end in pieces))


def _bad_line(place: str, line: str, expected: str) -> FormatError:
    return FormatError(f"{place}: the line is not brat standoff", expected=expected, found=repr(line[:80]))


def _linked_groups(annotation: _AnnFile) -> dict[str, list[str]]:
    """Entity ids by cluster, named by the first of its ids in the file; linked ones share a cluster."""
    group = {number: {number} for number in annotation.entities}
    for members in annotation.links:
        for member in members[1:]:
            small, large = sorted((group[members[0]], group[member]), key=len)
            if small is not large:
                large |= small
                group |= dict.fromkeys(small, large)
    groups = together((id(group[number]), number) for number in annotation.entities)
    return {members[0]: members for members in groups.values()}


_Members = list[list[tuple[str, Mention]]]


def _annotation_lines(
    record: Record, clusters: _Members, text: str, starts: list[int], ends: list[int]
) -> Iterator[str]:
    types = mention_types(record, _TYPE)
    for number, mention in (member for members in clusters for member in members):
        kind = types.get(mention, DEFAULT_TYPE)
        # A `T` line; a mention over a line end is written in pieces, as brat does
        start = starts[mention.start]
        pieces = []
        for line in text[start : ends[mention.end]].split("\n"):
            pieces.append((start, start + len(line)))
            start += len(line) + 1
        spans = ";".join(f"{a} {b}" for a, b in pieces)
        yield f"{number}\t{kind} {spans}\t{' '.join(text[a:b] for a, b in pieces)}\n"
    for members in clusters:
        if len(members) > 1:
            yield f"*\tCoref {' '.join(number for number, _ in members)}\n"


def _about_lines(record: Record, clusters: _Members) -> Iterator[str]:
    """Lines for the attributes of mentions, so far as lines can say them; our comment has the rest."""
    left = {mention: list(items) for mention, items in attributes_of(record).items()}
    count: Counter[str] = Counter()
    for number, mention in (member for members in clusters for member in members):
        attributes = left[mention].pop(0) if left.get(mention) else {}
        for name, value in attributes.items():
            listed = value if type(value) is list else []
            said: list[tuple[str, str]] = []
            if name == _NOTES:
                said = [("#", f"AnnotatorNotes {number}\t{text}") for text in listed]
            elif name == _REFERENCES:
                pairs = [item for item in listed if type(item) is list and len(item) == 2]
                said = [("N", f"Reference {number} {source}\t{text}") for source, text in pairs]
            elif _ATTRIBUTE_NAME.fullmatch(name):
                said = [("A", f"{name} {number}" if value is True else f"{name} {number} {value}")]
            for mark, line in said:
                if _LINE.fullmatch(line):
                    count[mark] += 1
                    yield f"{mark}{count[mark]}\t{line}\n"
