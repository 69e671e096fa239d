"""CorefUD: CoNLL-U with entity brackets in the MISC column (`Entity=(e1-person-1-`, `e1)`).

Read: the fields of `# global.Entity` in any order, one-word, nested and discontinuous mentions, mentions
over sentence ends, multi-word tokens (their words count), empty nodes (they are no tokens of the text).
Written: `eid-etype-head-other` with head 1; syntax columns are left blank. Tokens are escaped as `escape`
says; names, keys and unknown fields go into the comment of `sideline`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..books import Mention, Record
from ..errors import DataError, FormatError
from . import metadata_comment
from .brackets import BracketReader, Placed, place_brackets
from .compressed import bare_stem, packing
from .conll import note_empties
from .conversion_report import Losses
from .escape import escape, unescape
from .lines import read_lines

OVER_SENTENCES = "mentions that reach over a sentence end"
DISCONTINUOUS = "gaps in discontinuous mentions (the whole stretch is taken)"
ZERO = "mentions of empty nodes alone (they have no token in the text)"
ATTRIBUTES = "head words and other attributes of mentions"
LINKS = "bridging and split-antecedent links"
NO_TOKENS = "documents without tokens"

_DEFAULT_FIELDS = ("eid", "etype", "head", "other")
_CHUNK = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
_PIECE_OF = re.compile(r"(.+)\[(\d{1,4})/(\d{1,4})\]")
_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?")
_PLAIN_ID = re.compile(r"e\d{1,9}")


def read(path: Path, *, losses: Losses | None = None) -> Iterator[Record]:
    """Yield the documents of a CorefUD file (plain, gzip or zstd), one at a time.

    A file without `# newdoc` is one document named after the file. `extra` keeps "entity_types" (one a
    cluster) where the file has any, and "cluster_ids" where they are not of the form `e12`.

    Raises:
        FormatError: `file:line` of a row or an `Entity` value that cannot be.
    """
    document: _Document | None = None
    fields: tuple[str, ...] = _DEFAULT_FIELDS
    description: dict | None = None
    count = 0
    for number, line in enumerate(read_lines(path), 1):
        place = f"{path}:{number}"
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            key, value = key.strip(), value.strip()
            if key == "newdoc" or key.startswith("newdoc "):
                if document is not None:
                    yield document.finish()
                count += 1
                name = unescape(value) or f"{bare_stem(path)}_{count}"
                document = _Document(name, place, fields, description, losses)
                description = None
            elif line.startswith(metadata_comment.MARK):
                description = metadata_comment.parse(line[len(metadata_comment.MARK) :], place)
            elif key == "global.Entity":
                fields = _fields(value, place)
                if document is not None:
                    document.fields = fields
        elif line:
            if document is None:
                document = _Document(bare_stem(path), place, fields, description, losses)
                description = None
            document.add(line, place)
        elif document is not None:
            document.end_sentence()
    if document is not None:
        yield document.finish()


def write(records: Iterable[Record], path: Path, *, losses: Losses | None = None) -> int:
    """Write documents as CorefUD; returns how many.

    Not sayable, and told to `losses`: mentions over a sentence end (scorers of this format refuse them),
    mentions that cross one of their own cluster or lie outside the tokens, empty clusters and sentences,
    documents without tokens, characters whose mentions are no cluster.

    Raises:
        DataError: a document's tokens are not known.
    """
    count = clusters = 0
    with packing(path) as stream:
        for record in records:
            for line in _lines_of(record, _ids(record, clusters), losses):
                stream.write(line.encode("utf-8"))
            count += 1
            clusters += len(record.clusters)
    return count


class _Document:
    """One document while its lines come in.

    Brackets are placed on nodes (words and empty nodes in the order of the file); `_words[i]` is how many
    words stand before node i, so that spans of nodes become spans of words at the end.
    """

    def __init__(
        self,
        name: str,
        place: str,
        fields: tuple[str, ...],
        description: dict | None,
        losses: Losses | None,
    ) -> None:
        self.fields = fields
        self._name, self._place, self._description, self._losses = name, place, description, losses
        self._brackets = BracketReader()
        self._sentences: list[list[str]] = []
        self._sentence: list[str] = []
        self._words: list[int] = [0]
        self._types: dict[str, str] = {}

    def add(self, line: str, place: str) -> None:
        """Take one row."""
        cells = line.split("\t")
        if len(cells) != 10 or not _ID.fullmatch(cells[0]):
            raise FormatError(
                f"{place}: the row is not CoNLL-U",
                expected="10 columns separated by tabs, the first one 1, 1-2 or 1.1",
                found=f"{len(cells)} columns: {line[:60]!r}",
            )
        if "-" in cells[0]:  # a surface token of several words: its words follow
            return
        if "." not in cells[0]:
            self._sentence.append(unescape(cells[1]))
            self._words.append(self._words[-1] + 1)
        else:
            self._words.append(self._words[-1])
        if cells[9] != "_":
            self._read_misc(cells[9], place)

    def end_sentence(self) -> None:
        """Take the blank line after a sentence."""
        if self._sentence:
            self._sentences.append(self._sentence)
            self._sentence = []

    def finish(self) -> Record:
        """The document as a record. Raises FormatError for brackets left open."""
        self.end_sentence()
        clusters = self._in_words(self._without_gaps(self._brackets.finish()))
        record = metadata_comment.record_of(
            self._description,
            self._name,
            self._sentences,
            clusters,
            self._place,
            {},
            self._losses,
            keep_ids=True,
        )
        ids = record.extra.get("cluster_ids", [])
        if all(_PLAIN_ID.fullmatch(number) for number in ids):
            record.extra.pop("cluster_ids", None)
        types = [self._types.get(number, "") for number in ids]
        if any(types):
            record.extra["entity_types"] = types
        if self._description is not None:
            kept = self._description.get("extra", {}).get("cluster_ids")
            if kept is not None:
                record.extra["cluster_ids"] = kept
        return record

    def _read_misc(self, misc: str, place: str) -> None:
        for item in misc.split("|"):
            key, _, value = item.partition("=")
            if key == "Entity":
                self._read_entity(value, place)
            elif key in ("Bridge", "SplitAnte", "Split"):
                self._note(LINKS, value)

    def _read_entity(self, value: str, place: str) -> None:
        position, end = len(self._words) - 2, 0
        for chunk in _CHUNK.finditer(value):
            if chunk.start() != end:
                break
            end = chunk.end()
            if chunk[3]:
                self._brackets.close(self._closing_id(chunk[3]), position, place)
                continue
            number = self._opening_id(chunk[1], place)
            if chunk[2]:
                self._brackets.single(number, position)
            else:
                self._brackets.open(number, position, place)
        if end != len(value) or not value:
            raise FormatError(
                f"{place}: the Entity attribute cannot be read",
                expected="brackets such as (e1-person-1-, (e2-place-1-), e1)",
                found=repr(value[:60]),
            )

    def _closing_id(self, text: str) -> str:
        """A closing bracket holds the id alone; older files repeat all the fields."""
        parts = text.split("-")
        return parts[self._id_index()] if len(parts) == len(self.fields) > 1 else text

    def _opening_id(self, text: str, place: str) -> str:
        parts = dict(zip(self.fields, text.split("-"), strict=False))
        number = parts.get("eid", parts.get("GRP", ""))
        if not number:
            raise FormatError(
                f"{place}: an entity bracket has no id",
                expected="-".join(self.fields),
                found=repr(text[:60]),
            )
        kind = parts.get("etype", parts.get("entity", ""))
        base = _PIECE_OF.fullmatch(number)
        self._types.setdefault(base[1] if base else number, kind)
        if parts.get("head", "1") not in ("", "1") or parts.get("other"):
            self._note(ATTRIBUTES, "")
        return number

    def _id_index(self) -> int:
        return self.fields.index("eid" if "eid" in self.fields else "GRP")

    def _without_gaps(self, clusters: dict[str, list[Mention]]) -> dict[str, list[Mention]]:
        """Join the pieces `e1[1/2]`, `e1[2/2]` of discontinuous mentions, first with first and so on."""
        whole: dict[str, list[Mention]] = {}
        pieces: dict[tuple[str, int], dict[int, list[Mention]]] = {}
        for number, spans in clusters.items():
            piece = _PIECE_OF.fullmatch(number)
            if piece is None:
                whole.setdefault(number, []).extend(spans)
            else:
                whole.setdefault(piece[1], [])
                pieces.setdefault((piece[1], int(piece[3])), {})[int(piece[2])] = spans
        for (number, total), by_index in pieces.items():
            runs = [by_index.get(i, []) for i in range(1, total + 1)]
            if not runs or any(len(run) != len(runs[0]) for run in runs) or len(by_index) != len(runs):
                raise FormatError(
                    f"{self._place}: a discontinuous mention of entity {number!r} lacks a piece",
                    expected=f"as many pieces [1/{total}] as [2/{total}] to [{total}/{total}]",
                    found=", ".join(f"{len(spans)} of [{i}/{total}]" for i, spans in by_index.items()),
                )
            for parts in zip(*runs, strict=True):
                span = Mention(min(p.start for p in parts), max(p.end for p in parts))
                whole[number].append(span)
                self._note(DISCONTINUOUS, f"{number} {tuple(span)}")
        return {number: sorted(spans) for number, spans in whole.items()}

    def _in_words(self, clusters: dict[str, list[Mention]]) -> dict[str, list[Mention]]:
        found: dict[str, list[Mention]] = {}
        for number, spans in clusters.items():
            for start, end in spans:
                span = Mention(self._words[start], self._words[end + 1] - 1)
                if span.start <= span.end:
                    found.setdefault(number, []).append(span)
                else:
                    self._note(ZERO, number)
        return found

    def _note(self, what: str, example: str) -> None:
        if self._losses is not None:
            self._losses.add(what, self._name, example)


def _fields(value: str, place: str) -> tuple[str, ...]:
    fields = tuple(value.split("-"))
    if "eid" not in fields and "GRP" not in fields:
        raise FormatError(
            f"{place}: the global.Entity comment names no entity id",
            expected="fields with eid, such as eid-etype-head-other",
            found=repr(value[:60]),
        )
    return fields


def _lines_of(record: Record, ids: list[str], losses: Losses | None) -> Iterator[str]:
    if record.sentences is None:
        raise DataError(
            f"{record.source or record.doc_key}: document {record.doc_key!r} has no tokens to write",
            expected="a record with sentences",
            hint="stitch the annotation onto its text first (bookcoref-data rebuild)",
        )
    sentences = [sentence for sentence in record.sentences if sentence]
    if losses is not None:
        _note_losses(record, losses)
    if not sentences:
        return
    types = _types(record)
    cells = {
        position: _entity(at, ids, types)
        for position, at in place_brackets(
            list(_inside_sentences(record, sentences, losses)),
            sum(map(len, sentences)),
            record.doc_key,
            losses,
        ).items()
    }
    name = escape(record.doc_key)
    said = ["entity_types"] if any(types) else []
    if record.extra.get("cluster_ids") == ids:
        said.append("cluster_ids")
    yield metadata_comment.to_line(metadata_comment.describe(record, ids, losses, drop=said)) + "\n"
    yield f"# newdoc id = {name}\n# global.Entity = {'-'.join(_DEFAULT_FIELDS)}\n"
    position = 0
    for number, sentence in enumerate(sentences, 1):
        forms = [escape(token) for token in sentence]
        yield f"# sent_id = {name.replace('/', '_')}-{number}\n# text = {' '.join(forms)}\n"
        for i, form in enumerate(forms, 1):
            yield f"{i}\t{form}\t_\t_\t_\t_\t0\t_\t_\t{cells.get(position, '_')}\n"
            position += 1
        yield "\n"


def _note_losses(record: Record, losses: Losses) -> None:
    note_empties(record, losses)
    if not any(record.sentences or []):
        losses.add(NO_TOKENS, record.doc_key)


def _ids(record: Record, first: int) -> list[str]:
    """The entity ids to write: the record's own if they fit, else e<first>, e<first + 1>, ...

    Tools of this format want ids to differ between the documents of a file.
    """
    ids = metadata_comment.cluster_ids(record)
    own = record.extra.get("cluster_ids") == ids and not any(number.isdigit() for number in ids)
    return ids if own else [f"e{first + i}" for i in range(len(record.clusters))]


def _types(record: Record) -> list[str]:
    """The entity types to write, "" where unknown."""
    types = record.extra.get("entity_types")
    right = type(types) is list and len(types) == len(record.clusters)
    if right and all(type(t) is str and re.fullmatch(r"[^\s()|=-]*", t) for t in types):
        return types
    return [""] * len(record.clusters)


def _inside_sentences(
    record: Record, sentences: list[list[str]], losses: Losses | None
) -> Iterator[list[Mention]]:
    """The clusters without the mentions that reach over a sentence end."""
    sentence_of = [i for i, sentence in enumerate(sentences) for _ in sentence]
    size = len(sentence_of)
    for cluster in record.clusters:
        kept = []
        for mention in cluster:
            inside = 0 <= mention.start <= mention.end < size
            if inside and sentence_of[mention.start] != sentence_of[mention.end]:
                if losses is not None:
                    losses.add(OVER_SENTENCES, record.doc_key, str(tuple(mention)))
            else:
                kept.append(mention)
        yield kept


def _entity(at: Placed, ids: list[str], types: list[str]) -> str:
    """The MISC cell of one token, its brackets in CorefUD's order."""
    closing = [f"{ids[n]})" for n, _ in at.closing]
    opening = [f"({ids[n]}-{types[n]}-1-" for n, _ in at.opening]
    single = [f"({ids[n]}-{types[n]}-1-)" for n, _ in at.single]
    ordered = closing + opening + single if opening else single + closing
    return f"Entity={''.join(ordered)}"
