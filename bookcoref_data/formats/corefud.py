"""CorefUD: CoNLL-U with entity brackets in the MISC column (`Entity=(e1-person-1-`, `e1)`).

Read: the fields of `# global.Entity` in any order, one-word, nested and discontinuous mentions, mentions
over sentence ends, multi-word tokens (their words count), empty nodes (they are no tokens of the text).
Kept, and written again: all columns of the words, the surface of multi-word tokens, comments, speakers, and
the attributes of mentions (head, minspan, infstat, salience, identity, ...). Written: `eid-etype-head`, the
attributes there are, `other`. Tokens are escaped as `escape` says; names, keys and unknown fields go into
the comment of `metadata_comment`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..books import Mention, Record
from ..errors import DataError, FormatError
from . import metadata_comment
from .brackets import BracketReader, Placed, clusters_of, place_brackets
from .compressed import bare_stem, packing
from .conll import note_empties
from .conversion_report import ConversionReport
from .escape import escape, unescape
from .kinds import mention_attributes
from .layers import Layer, by_sentence, document_heads, flat, layers_of, note_layers, speakers_of
from .lines import read_lines

OVER_SENTENCES = "mentions that reach over a sentence end"
DISCONTINUOUS = "gaps in discontinuous mentions (the whole stretch is taken)"
ZERO = "mentions of empty nodes alone (they have no token in the text)"
ATTRIBUTES = "attributes of mentions with gaps or empty nodes (head, minspan and the like)"
LINKS = "bridging and split-antecedent links"
EMPTY_NODES = "empty nodes (words that are not in the text)"
ODD_SURFACES = "surface tokens whose words do not follow"
FILE_COMMENTS = "comments outside any document"
UNSAID_VALUE = "annotations of tokens that a column of this format cannot hold"
NO_TOKENS = "documents without tokens"

_DEFAULT_FIELDS = ("eid", "etype", "head", "other")
_CHUNK = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
_PIECE_OF = re.compile(r"(.+)\[(\d{1,4})/(\d{1,4})\]")
_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?")
_PLAIN_ID = re.compile(r"e\d{1,9}")
# The columns of a word by their place, and MISC in so far as it does not speak of entities.
_COLUMNS = {2: "lemma", 3: "upos", 4: "xpos", 5: "feats", 6: "head", 7: "deprel", 8: "deps", 9: "misc"}
_BLANK_HEAD = "0"
_ENTITY_KEYS = ("Entity", "Bridge", "SplitAnte", "Split")
# Attributes that the corpora have, in their order; others follow by name, `other` is the last.
_KNOWN_ATTRIBUTES = ("minspan", "infstat", "centering", "salience", "link", "identity")
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ATTRIBUTE_VALUE = re.compile(r"[^\s()|=-]*")
_LAST_VALUE = re.compile(r"[^\s()|=]*")
_COLUMN_VALUE = re.compile(r"[^\s]+")


def read(path: Path | str, *, report: ConversionReport | None = None) -> Iterator[Record]:
    """Yield the documents of a CorefUD file (plain, gzip or zstd), one at a time.

    A file without `# newdoc` is one document named after the file. `extra` keeps "entity_types" (one a
    cluster) where the file has any, "cluster_ids" where they are not of the form `e12`,
    "mention_attributes" ([start, end, {name: value}]), "multiword_tokens" ([first word, last word, surface,
    MISC]) and "comments" ([sentence, text]; the texts of sentences only where they are not what the words
    make).

    Raises:
        FormatError: `file:line` of a row or an `Entity` value that cannot be.
    """
    path = Path(path)
    document: _DocumentReader | None = None
    fields: tuple[str, ...] = _DEFAULT_FIELDS
    description: dict[str, Any] | None = None
    count = outside = 0
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
                document = _DocumentReader(name, place, fields, description, report)
                description = None
            elif line.startswith(metadata_comment.MARK):
                description = metadata_comment.parse(line[len(metadata_comment.MARK) :], place)
            elif key == "global.Entity":
                fields = _fields(value, place)
                if document is not None:
                    document.fields = fields
            elif document is not None:
                document.comments.append(line)
            elif not key.startswith("global."):
                outside += 1
        elif line:
            if document is None:
                document = _DocumentReader(bare_stem(path), place, fields, description, report)
                description = None
            document.add(line, place)
        elif document is not None:
            document.end_sentence()
    if document is not None:
        yield document.finish()
    if report is not None:
        report.add(FILE_COMMENTS, path.name, count=outside)


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> int:
    """Write documents as CorefUD; returns how many.

    Not sayable, and told to `report`: mentions over a sentence end (scorers of this format refuse them),
    mentions that cross one of their own cluster or lie outside the tokens, empty clusters and sentences,
    documents without tokens, characters whose mentions are no cluster.

    Raises:
        DataError: a document's tokens are not known.
    """
    count = clusters = 0
    with packing(path) as stream:
        for record in records:
            for line in _lines_of(record, _ids(record, clusters), report):
                stream.write(line.encode("utf-8"))
            count += 1
            clusters += len(record.clusters)
    return count


class _DocumentReader:
    """One document while its lines come in.

    Brackets are placed on nodes (words and empty nodes in the order of the file); `_words[i]` is how many
    words stand before node i, so that spans of nodes become spans of words at the end.
    """

    def __init__(
        self,
        name: str,
        place: str,
        fields: tuple[str, ...],
        description: dict[str, Any] | None,
        report: ConversionReport | None,
    ) -> None:
        self.fields = fields
        self.comments: list[str] = []  # of the sentence that comes in
        self._name, self._place, self._description, self._report = name, place, description, report
        self._brackets = BracketReader()
        self._sentences: list[list[str]] = []
        self._sentence: list[str] = []
        self._words: list[int] = [0]
        self._types: dict[str, str] = {}
        self._rows: list[list[str]] = []  # the columns of each word, from the lemma on
        self._surfaces: list[list[Any]] = []
        self._kept_comments: list[list[Any]] = []
        self._speakers: list[str] = []
        self._open_attributes: dict[str, list[dict[str, str]]] = {}
        self._attributes: dict[tuple[str, Mention], dict[str, str]] = {}

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
            self._add_surface(cells)
            return
        if "." not in cells[0]:
            self._sentence.append(unescape(cells[1]))
            self._words.append(self._words[-1] + 1)
            misc = "|".join(i for i in cells[9].split("|") if i.partition("=")[0] not in _ENTITY_KEYS)
            self._rows.append([*cells[2:9], misc])
        else:
            self._words.append(self._words[-1])
            self._note(EMPTY_NODES, cells[0])
        if cells[9] != "_":
            self._read_misc(cells[9], place)

    def _add_surface(self, cells: list[str]) -> None:
        first, last = map(int, cells[0].split("-"))
        if first == len(self._sentence) + 1 and last >= first:
            at = self._words[-1]
            self._surfaces.append([at, at + last - first, unescape(cells[1]), cells[9].replace("_", "", 1)])
        else:
            self._note(ODD_SURFACES, cells[0])

    def end_sentence(self) -> None:
        """Take the blank line after a sentence."""
        if not self._sentence:
            return
        count, first = len(self._sentences), self._words[-1] - len(self._sentence)
        speaker, text = "", None
        for comment in self.comments:
            key, _, value = comment[1:].partition("=")
            key, value = key.strip(), value.strip()
            if key == "speaker":
                speaker = unescape(value)
            elif key == "text":
                text = value
            elif comment.strip() != f"# sent_id = {_sentence_id(escape(self._name), count)}":
                self._kept_comments.append([count, comment[1:].strip()])
        self._speakers.append(speaker)
        self._sentences.append(self._sentence)
        forms = [escape(token) for token in self._sentence]
        spaces = [_no_space(row[7]) for row in self._rows[first:]]
        if text is not None and text != _text_of(forms, spaces, self._surfaces, first):
            self._kept_comments.append([count, f"text = {text}"])
        self._sentence, self.comments = [], []

    def finish(self) -> Record:
        """The document as a record. Raises FormatError for brackets left open."""
        self.end_sentence()
        found = self._brackets.finish()
        surfaces = [surface for surface in self._surfaces if surface[1] < self._words[-1]]
        if self._report is not None:
            self._report.add(ODD_SURFACES, self._name, count=len(self._surfaces) - len(surfaces))
        clusters = self._in_words(self._without_gaps(found))
        extra = {
            "mention_attributes": self._listed_attributes(found),
            "multiword_tokens": surfaces,
            "comments": self._kept_comments,
        }
        record = metadata_comment.record_of(
            self._description,
            self._name,
            self._sentences,
            clusters,
            self._place,
            {name: value for name, value in extra.items() if value},
            self._report,
            keep_ids=True,
            speakers=self._speaker_layer(),
            layers=self._layers(),
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

    def _speaker_layer(self) -> Layer | None:
        if not any(self._speakers):
            return None
        return [[name] * len(s) for name, s in zip(self._speakers, self._sentences, strict=True)]

    def _layers(self) -> dict[str, Layer]:
        """The columns that say anything. A head of 0 alone is what writers put who know no syntax."""
        layers = {}
        for place, name in _COLUMNS.items():
            cells = ["" if row[place - 2] == "_" else unescape(row[place - 2]) for row in self._rows]
            if name == "head" and set(cells) <= {_BLANK_HEAD, ""}:
                continue
            if any(cells):
                layers[name] = by_sentence(cells, self._sentences)
        return layers

    def _listed_attributes(self, found: dict[str, list[Mention]]) -> list[list[Any]]:
        """[start, end, attributes] over words; those of mentions that changed are counted as left out."""
        listed: list[list[Any]] = []
        for number, spans in found.items():
            for span in spans:
                attributes = self._attributes.get((number, span))
                if not attributes:
                    continue
                start, end = self._words[span.start], self._words[span.end + 1] - 1
                if end - start != span.end - span.start or _PIECE_OF.fullmatch(number):
                    self._note(ATTRIBUTES, f"{number} {attributes}")
                else:
                    listed.append([start, end, attributes])
        return sorted(listed, key=lambda item: (item[0], item[1]))

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
                number = self._closing_id(chunk[3])
                mention = self._brackets.close(number, position, place)
                self._attributes[number, mention] = self._open_attributes[number].pop()
                continue
            number, attributes = self._opening(chunk[1], place)
            if chunk[2]:
                self._attributes[number, self._brackets.single(number, position)] = attributes
            else:
                self._brackets.open(number, position, place)
                self._open_attributes.setdefault(number, []).append(attributes)
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

    def _opening(self, text: str, place: str) -> tuple[str, dict[str, str]]:
        """The id of an opening bracket, and the attributes of its mention that say anything."""
        # The last field may hold hyphens of its own (titles of articles).
        parts = dict(zip(self.fields, text.split("-", len(self.fields) - 1), strict=False))
        number = parts.pop("eid", "") or parts.pop("GRP", "")
        if not number:
            raise FormatError(
                f"{place}: an entity bracket has no id",
                expected="-".join(self.fields),
                found=repr(text[:60]),
            )
        kind = parts.pop("etype", "") or parts.pop("entity", "")
        base = _PIECE_OF.fullmatch(number)
        self._types.setdefault(base[1] if base else number, kind)
        if parts.get("head") == "1":
            del parts["head"]
        return number, {name: value for name, value in parts.items() if value}

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
        if self._report is not None:
            self._report.add(what, self._name, example)


def _fields(value: str, place: str) -> tuple[str, ...]:
    fields = tuple(value.split("-"))
    if "eid" not in fields and "GRP" not in fields:
        raise FormatError(
            f"{place}: the global.Entity comment names no entity id",
            expected="fields with eid, such as eid-etype-head-other",
            found=repr(value[:60]),
        )
    return fields


def _lines_of(record: Record, ids: list[str], report: ConversionReport | None) -> Iterator[str]:
    if record.sentences is None:
        raise DataError(
            f"{record.source or record.doc_key}: document {record.doc_key!r} has no tokens to write",
            expected="a record with sentences",
            hint="stitch the annotation onto its text first (bookcoref-data rebuild)",
        )
    if report is not None:
        _note_left_out(record, report)
    # Sentences without tokens are left out, so what stands beside the sentences must do the same.
    filled = [i for i, sentence in enumerate(record.sentences) if sentence]
    sentences = [record.sentences[i] for i in filled]
    if not sentences:
        return
    types = _types(record)
    attributes = _Attributes(record)
    size = sum(map(len, sentences))
    inside = list(_inside_sentences(record, sentences, report))
    placed = place_brackets(inside, size, record.doc_key, report)
    entities = {position: _entity(at, ids, types, attributes) for position, at in placed.items()}
    if report is not None:
        report.wrote(size, clusters_of(placed, len(ids)))
    surfaces, comments = _surfaces_of(record, sentences), _comments_of(record)
    yield from _header(record, ids, types, attributes, surfaces, comments, report)
    rows = _columns(record, report)
    speakers = speakers_of(record)
    name = escape(record.doc_key)
    position = 0
    for number, (at, sentence) in enumerate(zip(filled, sentences, strict=True)):
        forms = [escape(token) for token in sentence]
        own = rows[position : position + len(sentence)]
        yield from _sentence_comments(
            comments.get(at, []),
            _sentence_id(name, number),
            _text_of(forms, [_no_space(row[7]) for row in own], surfaces, position),
            speakers[at] if speakers else [],
        )
        for i, (form, row) in enumerate(zip(forms, own, strict=True), 1):
            yield from _surface_row(surfaces, position, i)
            misc = "|".join(filter(None, (entities.get(position, ""), "" if row[7] == "_" else row[7])))
            yield "\t".join((str(i), form, *row[:7], misc or "_")) + "\n"
            position += 1
        yield "\n"


def _header(
    record: Record,
    ids: list[str],
    types: list[str],
    attributes: _Attributes,
    surfaces: Surfaces,
    comments: dict[int, list[str]],
    report: ConversionReport | None,
) -> Iterator[str]:
    """Our comment, and the two lines that open a document."""
    drop = ["entity_types"] if any(types) else []
    if record.extra.get("cluster_ids") == ids:
        drop.append("cluster_ids")
    written = {"mention_attributes": attributes.names, "multiword_tokens": surfaces, "comments": comments}
    drop += [name for name, value in written.items() if value]
    speakers = speakers_of(record)
    mixed = speakers if speakers and any(len(set(row)) > 1 for row in speakers) else None
    description = metadata_comment.describe(record, ids, report, drop=drop, speakers=mixed)
    yield metadata_comment.to_line(description) + "\n"
    yield f"# newdoc id = {escape(record.doc_key)}\n# global.Entity = {'-'.join(attributes.fields)}\n"


def _sentence_comments(kept: list[str], sent_id: str, text: str, speakers: list[str]) -> Iterator[str]:
    """The comments above a sentence: those that came with it, and those that every sentence has."""
    keys = {comment.partition("=")[0].strip() for comment in kept}
    yield from (f"# {comment}\n" for comment in kept)
    if "sent_id" not in keys:
        yield f"# sent_id = {sent_id}\n"
    if "text" not in keys:
        yield f"# text = {text}\n"
    if len(set(speakers)) == 1 and speakers[0]:
        yield f"# speaker = {_comment_value(speakers[0])}\n"


def _comment_value(value: str) -> str:
    """A value as it can stand in a comment: as it is, unless `unescape` or the line would change it."""
    plain = value == value.strip() and value.isprintable() and "&#" not in value
    return value if plain else escape(value)


def _sentence_id(name: str, number: int) -> str:
    return f"{name.replace('/', '_')}-{number + 1}"


def _columns(record: Record, report: ConversionReport | None) -> list[list[str]]:
    """The cells of each word from lemma to MISC, blank where the record has nothing."""
    layers = layers_of(record)
    note_layers(record, report, {"speakers", "document_head", *_COLUMNS.values()})
    if "document_head" in layers:
        layers["head"] = _heads_in_sentences(record, report)
    columns = []
    for name in _COLUMNS.values():
        blank = _BLANK_HEAD if name == "head" and "head" not in layers else "_"
        values = flat(layers[name]) if name in layers else [""] * sum(map(len, record.sentences or []))
        columns.append([escape(value) if value else blank for value in values])
        if name == "misc":
            # What would be taken for an entity when read again is not this layer's to say.
            bad = [i for i, v in enumerate(columns[-1]) if any(f"{k}=" in v for k in _ENTITY_KEYS)]
            for i in bad:
                columns[-1][i] = "_"
            if report is not None:
                report.add(UNSAID_VALUE, record.doc_key, count=len(bad))
    return [list(row) for row in zip(*columns, strict=True)]


def _heads_in_sentences(record: Record, report: ConversionReport | None) -> Layer:
    """Heads that are positions in the document as this format counts them; one in another sentence is "".

    A head that stands in another sentence cannot be said and is counted.
    """
    heads = document_heads(record) or []
    rows: Layer = []
    first = outside = 0
    for sentence in record.sentences or []:
        row = []
        for head in heads[first : first + len(sentence)]:
            inside = head is None or first <= head < first + len(sentence)
            outside += not inside
            row.append("0" if head is None else str(head - first + 1) if inside else "")
        rows.append(row)
        first += len(sentence)
    if report is not None:
        report.add("syntactic heads in another sentence", record.doc_key, count=outside)
    return rows


def _no_space(misc: str) -> bool:
    return "SpaceAfter=No" in misc.split("|")


Surfaces = dict[int, tuple[int, str, str]]
"""By the position of their first word: the position of the last one, the surface, MISC."""


def _text_of(forms: list[str], no_space: list[bool], surfaces: Surfaces | list[list[Any]], first: int) -> str:
    """The text of a sentence as its words, or the surfaces that stand for several words, make it.

    `first` is the position of its first word in the document.
    """
    by_first = surfaces if isinstance(surfaces, dict) else {s[0]: (s[1], s[2], s[3]) for s in surfaces}
    pieces = []
    i = 0
    while i < len(forms):
        surface = by_first.get(first + i)
        if surface is None:
            pieces.append(forms[i] + ("" if no_space[i] else " "))
            i += 1
        else:
            pieces.append(escape(surface[1]) + ("" if _no_space(surface[2]) else " "))
            i = max(surface[0] - first, i) + 1
    return "".join(pieces).strip(" ")


def _surface_row(surfaces: Surfaces, position: int, number: int) -> Iterator[str]:
    if position in surfaces:
        last, form, misc = surfaces[position]
        span = f"{number}-{number + last - position}"
        yield "\t".join((span, escape(form), *"_______", misc or "_")) + "\n"


def _surfaces_of(record: Record, sentences: list[list[str]]) -> Surfaces:
    """The surfaces of words that can be written: whole words of one sentence, one after the other."""
    sentence_of = [i for i, sentence in enumerate(sentences) for _ in sentence]
    listed = record.extra.get("multiword_tokens")
    found: Surfaces = {}
    for item in listed if type(listed) is list else ():
        if type(item) is not list or list(map(type, item)) != [int, int, str, str]:
            return {}
        first, last, form, misc = item
        if not 0 <= first <= last < len(sentence_of) or sentence_of[first] != sentence_of[last]:
            return {}
        if (found and first <= max(end for end, _, _ in found.values())) or re.search(r"[\t\r\n]", misc):
            return {}
        found[first] = (last, form, misc)
    return found


def _comments_of(record: Record) -> dict[int, list[str]]:
    """The comments by sentence; {} if any of them cannot be written as one."""
    listed = record.extra.get("comments")
    found: dict[int, list[str]] = {}
    for item in listed if type(listed) is list else ():
        right = type(item) is list and list(map(type, item)) == [int, str]
        if not right or not 0 <= item[0] < len(record.sentences or []) or not _is_comment(item[1]):
            return {}
        found.setdefault(item[0], []).append(item[1])
    return found


def _is_comment(text: str) -> bool:
    """Whether a text is a comment of a sentence, and not a line that says something of the document."""
    ours = metadata_comment.MARK.lstrip("# ")
    reserved = ("newdoc", "global.", ours.strip(), "speaker")
    clean = text == text.strip() and "\n" not in text and "\r" not in text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return clean and bool(text) and not text.startswith(reserved)


class _Attributes:
    """The attributes of a record's mentions, if all of them can be written in brackets."""

    def __init__(self, record: Record) -> None:
        by_span = mention_attributes(record)
        names = sorted({name for attributes in by_span.values() for item in attributes for name in item})
        self.names = names
        self._by_span = {span: list(items) for span, items in by_span.items()}
        if not self._sayable():
            self.names, self._by_span = [], {}
        known = [name for name in _KNOWN_ATTRIBUTES if name in self.names]
        others = [n for n in self.names if n not in (*_KNOWN_ATTRIBUTES, "head", "other")]
        self.fields = ("eid", "etype", "head", *known, *others, "other")

    def _sayable(self) -> bool:
        if any(
            not _ATTRIBUTE_NAME.fullmatch(n) or n in ("eid", "etype", "GRP", "entity") for n in self.names
        ):
            return False
        return all(
            type(value) is str
            and value != ""
            and (_LAST_VALUE if name == "other" else _ATTRIBUTE_VALUE).fullmatch(value)
            and not (name == "head" and value == "1")
            for items in self._by_span.values()
            for item in items
            for name, value in item.items()
        )

    def of(self, mention: Mention) -> str:
        """The fields behind id and type for one mention. Each item is used once: spans may be shared."""
        items = self._by_span.get(mention)
        own = items.pop(0) if items else {}
        return "-".join(own.get(name, "1" if name == "head" else "") for name in self.fields[2:])


def _note_left_out(record: Record, report: ConversionReport) -> None:
    note_empties(record, report)
    if not any(record.sentences or []):
        report.add(NO_TOKENS, record.doc_key)


def _ids(record: Record, first: int) -> list[str]:
    """The entity ids to write: the record's own if they fit, else e<first>, e<first + 1>, ...

    Tools of this format want ids to differ between the documents of a file.
    """
    ids = metadata_comment.cluster_ids(record)
    own = record.extra.get("cluster_ids") == ids and not any(number.isdigit() for number in ids)
    return ids if own else [f"e{first + i}" for i in range(len(record.clusters))]


def _types(record: Record) -> list[str]:
    """The entity types to write, "" where unknown."""
    types: Any = record.extra.get("entity_types")
    right = type(types) is list and len(types) == len(record.clusters)
    if right and all(type(t) is str and re.fullmatch(r"[^\s()|=-]*", t) for t in types):
        return list(types)
    return [""] * len(record.clusters)


def _inside_sentences(
    record: Record, sentences: list[list[str]], report: ConversionReport | None
) -> Iterator[list[Mention]]:
    """The clusters without the mentions that reach over a sentence end."""
    sentence_of = [i for i, sentence in enumerate(sentences) for _ in sentence]
    size = len(sentence_of)
    for cluster in record.clusters:
        kept = []
        for mention in cluster:
            inside = 0 <= mention.start <= mention.end < size
            if inside and sentence_of[mention.start] != sentence_of[mention.end]:
                if report is not None:
                    report.add(OVER_SENTENCES, record.doc_key, str(tuple(mention)))
            else:
                kept.append(mention)
        yield kept


def _entity(at: Placed, ids: list[str], types: list[str], attributes: _Attributes) -> str:
    """The MISC cell of one token, its brackets in CorefUD's order."""
    closing = [f"{ids[n]})" for n, _ in at.closing]
    opening = [f"({ids[n]}-{types[n]}-{attributes.of(m)}" for n, m in at.opening]
    single = [f"({ids[n]}-{types[n]}-{attributes.of(m)})" for n, m in at.single]
    ordered = closing + opening + single if opening else single + closing
    return f"Entity={''.join(ordered)}"
