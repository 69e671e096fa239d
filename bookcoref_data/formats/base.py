"""What the text formats (CoNLL, CorefUD, brat, BookNLP) share: what rows say, our comment, and the account.

A writer makes the rows of a document and reads them back as anyone would (`Parsed`). What they do not say
goes into our comment, what that has no place for either is counted (`comment_for`). So nothing that a record
holds is lost in silence, whatever it is.

The comment is one line, `# bookcoref-data {"doc_key": ..., "characters": [[name, cluster id], ...], ...}`,
which other programs skip. It holds keys, names of characters, the order of clusters, speakers, and the fields
that we do not know.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ..books import Mention, Record
from ..errors import DataError, FormatError, SourceError, UsageError
from ..shapes import check
from .compressed import SUFFIXES, bare_stem, bare_suffix
from .conversion_report import Note
from .layers import HEADS, SPEAKERS, Layer, flat, from_runs, kept_speakers, layers_of, note_lost, runs_of
from .lines import json_line

MARK = "# bookcoref-data "
UNNAMED = "characters whose mentions are not exactly one of the clusters"
ABSENT = "character names whose cluster is not in the file"
EMPTY_CLUSTER = "clusters without a mention"
EMPTY_SENTENCE = "empty sentences"
EMPTY_COMMENT = "comments of empty sentences"
OUTSIDE = "mentions outside the tokens"
NAMES = "names of characters"
GUTENBERG_KEYS = "Gutenberg keys"
FIELDS = "other fields of documents"
BY_CLUSTER = ("cluster_ids", "entity_types")
"""Fields with a value for each cluster."""
_COUNTED = re.compile(r"[A-Za-z]?([0-9]{1,18})")


def sentences_of(record: Record) -> list[list[str]]:
    """The sentences of a record. Raises DataError where there are none to write."""
    if record.sentences is None:
        what = f"{record.source or record.doc_key}: document {record.doc_key!r} has no tokens to write"
        hint = "stitch the annotation onto its text first (bookcoref-data rebuild)"
        raise DataError(what, expected="a record with sentences", hint=hint)
    return record.sentences


def inside(clusters: Iterable[Iterable[Mention]], size: int, note: Note) -> list[list[Mention]]:
    """The clusters without mentions outside the tokens, which are counted, as are clusters without any."""
    kept = []
    for own in map(list, clusters):
        kept.append([m for m in own if 0 <= m.start <= m.end < size])
        note(EMPTY_CLUSTER, count=not own)
        lost = [m for m in own if not 0 <= m.start <= m.end < size]
        note(OUTSIDE, str(tuple(*lost[:1])), len(lost))
    return kept


@dataclass
class Parsed:
    """What the rows of one document say: `clusters` by id, `types` their entity types by id.

    `keep_ids` says that the ids are the file's own: they go into `extra["cluster_ids"]`.
    """

    doc_key: str
    sentences: list[list[str]] | None
    clusters: dict[str, list[Mention]]
    source: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    speakers: Layer | None = None
    layers: dict[str, Layer] = field(default_factory=dict)
    keep_ids: bool = False
    types: dict[str, str] = field(default_factory=dict)
    characters: list[tuple[str, list[Mention]]] = field(default_factory=list)

    def record(self, comment: dict[str, Any] | None, note: Note) -> Record:
        """The document as a record, with what our comment adds, if there is one; it knows better."""
        known = comment or {}
        ids = list(self.clusters) if comment is None else in_order(self.clusters, known)
        extra = dict(self.extra)
        if self.keep_ids:
            extra["cluster_ids"] = ids
        if any(self.types.get(number) for number in ids):
            extra["entity_types"] = [self.types.get(number, "") for number in ids]
        guessed = ["mention_types"] if known.get("guessed_types") is True else []
        hidden = {*known.get("without", ()), *guessed}
        extra = {name: value for name, value in extra.items() if name not in hidden}
        characters = list(self.characters) if comment is None else []
        for name, number in known.get("characters", []):
            if number in self.clusters:
                characters.append((name, list(self.clusters[number])))
            else:
                note(ABSENT, repr(name))
        speakers = from_runs(known["speakers"], self.sentences) if "speakers" in known else self.speakers
        note(SPEAKERS, count="speakers" in known and speakers is None)
        return Record(
            self.doc_key, known.get("gutenberg_key", ""), self.sentences,
            [self.clusters[number] for number in ids], characters, self.source,
            {**extra, **known.get("extra", {})}, speakers,
            {name: layer for name, layer in self.layers.items() if name not in hidden},
        )  # fmt: skip


def comment_for(record: Record, parsed: Parsed, ids: Sequence[str], note: Note) -> dict[str, Any]:
    """The content of our comment: all that the rows, read back as `parsed`, do not say of a record.

    `ids` are the ids of its clusters as written. Layers of tokens have no place here: what of them is not in
    the rows is counted, as are characters that are no cluster.
    """
    written = [number for number in ids if number in parsed.clusters]
    order = {} if in_order(parsed.clusters, {}) == written else {"clusters": written}
    back, speakers = parsed.record(order, note), kept_speakers(record, note)
    same_speakers = flat(speakers) == (flat(back.speakers) or [""] * len(flat(speakers)))
    value: dict[str, Any] = {
        "gutenberg_key": record.gutenberg_key,
        "speakers": None if speakers is None or same_speakers else runs_of(speakers),
        "characters": name_clusters(record, ids, parsed, note),
        **order,
    }
    wanted = _moved_fields(record, [number in parsed.clusters for number in ids], note)
    value["extra"] = {k: v for k, v in wanted.items() if k not in back.extra or not same(v, back.extra[k])}
    note_lost(record, back, note)
    gained = back.layers.keys() - layers_of(record).keys() - HEADS
    value["without"] = sorted((back.extra.keys() - wanted.keys()) | gained)
    return {"doc_key": record.doc_key, **{name: said for name, said in value.items() if said}}


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same in JSON, where 1, 1.0 and true are three."""
    return a == b and json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _moved_fields(record: Record, full: list[bool], note: Note) -> dict[str, Any]:
    """The extra fields as they are without clusters that are not `full` and sentences without tokens."""
    extra = kept_by_cluster(record.extra, full)
    sentences = record.sentences or []
    if all(sentences):
        return extra
    new = [sum(map(bool, sentences[:i])) for i in range(len(sentences))]
    comments: Any = extra.get("comments")
    if type(comments) is list and all(type(c) is list and list(map(type, c)) == [int, str] for c in comments):
        empty = [i for i, _ in comments if 0 <= i < len(sentences) and not sentences[i]]
        note(EMPTY_COMMENT, count=len(empty))
        left = [item for item in comments if item[0] not in empty]
        extra["comments"] = [[new[i], text] if 0 <= i < len(new) else [i, text] for i, text in left]
        if empty and not left:
            del extra["comments"]
    parts: Any = extra.get("parts")
    if are_parts(parts, len(sentences)):
        at, extra["parts"] = 0, []
        for number, count in parts:
            extra["parts"].append([number, sum(map(bool, sentences[at : at + count]))])
            at += count
    return extra


def kept_by_cluster(extra: dict[str, Any], full: list[bool]) -> dict[str, Any]:
    """Fields, those with a value for each cluster without those of clusters that are gone (not `full`)."""
    return {
        name: list(compress(value, full))
        if name in BY_CLUSTER and type(value) is list and len(value) == len(full)
        else value
        for name, value in extra.items()
    }


def are_parts(value: object, sentences: int) -> bool:
    """Whether a value tells the parts of a document: [[number, how many sentences], ...]."""
    return (
        type(value) is list
        and all(type(p) is list and len(p) == 2 and type(p[0]) is str and type(p[1]) is int for p in value)
        and len({p[0] for p in value}) == len(value)
        and sum(p[1] for p in value) == sentences
        and min((p[1] for p in value), default=-1) >= 0
    )


def name_clusters(record: Record, ids: Sequence[str], parsed: Parsed, note: Note) -> list[tuple[str, str]]:
    """(name, cluster id) for each character whose mentions are exactly those of a cluster that is written."""
    by_mentions: dict[tuple[Mention, ...], str] = {}
    for cluster, number in zip(record.clusters, ids, strict=True):
        if number in parsed.clusters:
            by_mentions.setdefault(tuple(sorted(cluster)), number)
    names = []
    for name, mentions in record.characters:
        owner = by_mentions.get(tuple(sorted(mentions)))
        if owner is None:
            note(UNNAMED, repr(name))
        else:
            names.append((name, owner))
    return names


def note_untold(comment: dict[str, Any], note: Note) -> None:
    """Count what a comment says, where there is no place for the comment."""
    note(GUTENBERG_KEYS, count="gutenberg_key" in comment)
    note(SPEAKERS, count=sum(last + 1 - first for first, last, _ in comment.get("speakers", ())))
    note(NAMES, count=len(comment.get("characters", ())))
    note(FIELDS, ", ".join(sorted(comment.get("extra", {}))), len(comment.get("extra", {})))


def to_line(comment: dict[str, Any], mark: str = MARK) -> str:
    """The comment as a line of text without line ends."""
    return mark + json_line(comment).decode("utf-8")


def parse(text: str, place: str) -> dict[str, Any]:
    """The comment's content, checked. Raises FormatError (`place` is "file:line")."""
    try:
        value: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(place, str(error)) from error
    check(value, "our_comment", place, lambda *_, **__: _fault(place, text[:80]))
    return value


def cluster_ids(record: Record, *, digits: bool = False) -> list[str]:
    """The ids to write: those the record came with (`extra["cluster_ids"]`) if they fit, else 0, 1, ..."""
    ids = record.extra.get("cluster_ids")
    fits = (
        type(ids) is list
        and len(ids) == len(record.clusters) == len(set(map(str, ids)))
        and all(type(i) is str and i.isascii() and (i.isdigit() or (not digits and i.isalnum())) for i in ids)
    )
    return list(ids or []) if fits else [str(i) for i in range(len(record.clusters))]


def in_order(ids: Iterable[str], comment: dict[str, Any]) -> list[str]:
    """The cluster ids in the order they were written in: as listed, else by number; others last."""
    listed = {number: i for i, number in enumerate(comment.get("clusters", []))}

    def rank(number: str) -> tuple[int, int]:
        if number in listed:
            return 0, listed[number]
        count = _COUNTED.fullmatch(number)
        return (1, int(count[1])) if count else (2, 0)

    return sorted(ids, key=rank)


def _fault(place: str, found: str) -> FormatError:
    what = f"{place}: the bookcoref-data comment is damaged"
    expected = '{"doc_key": ..., "gutenberg_key": ..., "characters": [[name, cluster id], ...]}'
    hint = "remove the line: only names and keys are lost"
    return FormatError(what, expected=expected, found=found, hint=hint)


# -- mentions as brackets on tokens, as CoNLL-2012 and CorefUD have them -----------------------------

# A bracket closes the innermost open one of its cluster. So two mentions of one cluster that cross (overlap
# without one holding the other) cannot be said; where the first ends on the token on which the second begins,
# they can, because closing brackets are written first.
CROSSING = "mentions that cross another mention of their own cluster (brackets cannot say which closes)"


class BracketReader:
    """Turns opening and closing brackets, in the order of the text, into clusters.

    `place` ("file:line") names the bracket in errors. Clusters come in the order of their first opening
    bracket, the mentions of each by start and end.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[tuple[int, str]]] = {}
        self._found: dict[str, list[Mention]] = {}

    def open(self, cluster: str, position: int, place: str) -> None:
        self._found.setdefault(cluster, [])
        self._open.setdefault(cluster, []).append((position, place))

    def close(self, cluster: str, position: int, place: str) -> Mention:
        stack = self._open.get(cluster)
        if not stack:
            raise FormatError(
                f"{place}: a bracket of cluster {cluster!r} closes that was not opened",
                expected=f"({cluster} on this or an earlier line of the document",
                hint="mend the coreference column; is a line missing above?",
            )
        mention = Mention(stack.pop()[0], position)
        self._found[cluster].append(mention)
        return mention

    def single(self, cluster: str, position: int) -> Mention:
        mention = Mention(position, position)
        self._found.setdefault(cluster, []).append(mention)
        return mention

    def finish(self) -> dict[str, list[Mention]]:
        """The clusters by id. Raises FormatError naming the first bracket that never closed."""
        left = [(*stack[0], cluster) for cluster, stack in self._open.items() if stack]
        if left:
            _, place, cluster = min(left, key=lambda item: item[0])
            what = f"{place}: the bracket ({cluster} opens here and never closes"
            hint = "mend the coreference column; is the file cut short?"
            raise FormatError(what, expected=f"{cluster}) on this or a later line of the document", hint=hint)
        return {cluster: sorted(spans) for cluster, spans in self._found.items()}


class Placed(NamedTuple):
    """The brackets of one token, each as (cluster number, mention)."""

    closing: list[tuple[int, Mention]]
    single: list[tuple[int, Mention]]
    opening: list[tuple[int, Mention]]


def place_brackets(clusters: Sequence[Iterable[Mention]], note: Note) -> dict[int, Placed]:
    """The brackets by token for clusters whose mentions lie on the tokens.

    On one token: inner mentions close first, longer ones open first. Mentions that cross one of their own
    cluster are left out and noted.
    """
    spans = [(m, number) for number, cluster in enumerate(clusters) for m in sayable(cluster, note)]
    placed: dict[int, Placed] = {}

    def at(position: int) -> Placed:
        return placed.setdefault(position, Placed([], [], []))

    for mention, number in sorted(spans, key=lambda item: (*_text_order(item[0]), item[1])):
        if mention.start == mention.end:
            at(mention.start).single.append((number, mention))
        else:
            at(mention.start).opening.append((number, mention))
            at(mention.end).closing.append((number, mention))
    for brackets in placed.values():
        brackets.closing.sort(key=lambda item: (-item[1].start, -item[0]))
    return placed


def sayable(cluster: Iterable[Mention], note: Note) -> Iterator[Mention]:
    """The mentions of one cluster that brackets can say, in the order of the text."""
    around: list[Mention] = []
    for mention in sorted(cluster, key=_text_order):
        while around and around[-1].end <= mention.start:
            around.pop()
        if around and around[-1].end < mention.end:
            note(CROSSING, str(tuple(mention)))
            continue
        around.append(mention)
        yield mention


def _text_order(mention: Mention) -> tuple[int, int]:
    return mention.start, -mention.end


# -- several files a document (brat, BookNLP): names, siblings, where to write -----------------------

# Document keys come from data, so they never name a file as they are: every character but letters, digits,
# `.`, `_`, `-` is percent-encoded, a leading `.` too.
_LONGEST = 200


def file_name(doc_key: str) -> str:
    """The document key as one component of a path; `doc_key_of` gives it back."""
    name = quote(doc_key, safe="", errors="surrogatepass")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    name = name or "%"
    if len(name) > _LONGEST:
        what = f"the document key {doc_key[:40]!r}... is too long for a file name"
        expected = f"at most {_LONGEST} characters when percent-encoded"
        hint = "choose a format with all documents in one file (jsonl, conll, corefud)"
        raise DataError(what, expected=expected, found=f"{len(name)}", hint=hint)
    return name


def doc_key_of(path: Path) -> str:
    """The document key that a file's name stands for; names not made by `file_name` are taken as they are."""
    stem = bare_stem(path)
    try:
        key = "" if stem == "%" else unquote(stem, errors="surrogatepass")
        return key if file_name(key) == stem else stem
    except (DataError, UnicodeError):
        return stem


def sibling(path: Path, suffix: str) -> Path | None:
    """The file beside `path` with the same name and another suffix, plain or packed, if there is one."""
    base = bare_stem(path)
    for ending in ("", *SUFFIXES):
        candidate = path.with_name(f"{base}{suffix}{ending}")
        if candidate.is_file():
            return candidate
    return None


def needed_sibling(path: Path, suffix: str, what: str) -> Path:
    """Like `sibling`; raises SourceError when the file is not there."""
    found = sibling(path, suffix)
    if found is None:
        expected = str(path.with_name(f"{bare_stem(path)}{suffix}"))
        hint = "both files of a document must lie side by side"
        raise SourceError(f"cannot read {path}: {what} is missing", expected=expected, hint=hint)
    return found


def targets(records: Iterable[Record], path: Path, suffix: str) -> list[tuple[Record, Path]]:
    """Each record with the path of its main file: `path` itself if it ends in `suffix`, else inside it.

    Raises UsageError: several documents for one file. DataError: a key too long for a file name, no tokens.
    """
    listed = list(records)
    for record in listed:  # before the first file is written
        sentences_of(record)
    if bare_suffix(path) != suffix:
        return [(record, path / f"{file_name(record.doc_key)}{suffix}") for record in listed]
    if len(listed) > 1:
        expected = "the name of a folder: this format has its own files for each document"
        raise UsageError(f"cannot write several documents to {path.name}", expected=expected)
    return [(record, path) for record in listed]


def beside(path: Path, suffix: str) -> Path:
    """The name of the file beside `path` with another suffix, packed the same way."""
    packed = path.suffix if path.suffix.lower() in SUFFIXES else ""
    return path.with_name(f"{bare_stem(path)}{suffix}{packed}")
