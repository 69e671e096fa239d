"""CorefUD: CoNLL-U with entity brackets in the MISC column (`Entity=(e1-person-1-`, `e1)`).

Read: the fields of `# global.Entity` in any order, one-word, nested and discontinuous mentions, mentions
over sentence ends, multi-word tokens (their words count), empty nodes (they are no tokens of the text).
Kept, and written again: all columns of the words, the surface of multi-word tokens, comments, speakers, and
the attributes of mentions (head, minspan, infstat, salience, identity, ...). Written: `eid-etype-head`, the
attributes there are, `other`. Tokens are escaped as `escape` says; names, keys and unknown fields go into
our comment (`base`).
"""

import re
from collections.abc import Iterable, Iterator
from itertools import repeat, takewhile
from pathlib import Path
from typing import Any

from ..books import Mention, Record
from ..errors import FormatError
from . import base
from .base import BracketReader, place_brackets
from .compressed import bare_stem, packing
from .conversion_report import ConversionReport, Note
from .escape import escape, unescape
from .layers import Column, attributes_of, by_sentence, columns_of, heads_as, heads_of, speakers_of, stated
from .lines import read_lines

OVER_SENTENCES = "mentions that reach over a sentence end"
DISCONTINUOUS = "gaps in discontinuous mentions (the whole stretch is taken)"
ZERO = "mentions of empty nodes alone (they have no token in the text)"
ATTRIBUTES = "attributes of mentions with gaps or empty nodes (head, minspan and the like)"
LINKS = "bridging and split-antecedent links"
TYPES = "entity types of mentions, where their entity has another one before"
EMPTY_NODES = "empty nodes (words outside the text)"
ODD_SURFACES = "surface tokens whose words do not follow"
FILE_COMMENTS = "comments outside any document"
NO_TOKENS = "documents without tokens"

_DEFAULT_FIELDS = ("eid", "etype", "head", "other")
_CHUNK = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
_PIECE_OF = re.compile(r"(.+)\[(\d{1,4})/(\d{1,4})\]")
_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?")
_PLAIN_ID = re.compile(r"e\d{1,9}")
# The columns of a word behind its form; MISC in so far as it does not speak of entities.
_LAYERS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_COLUMNS = tuple(Column(name, "", ("_",)) for name in _LAYERS)
_BLANK_HEAD = "0"
_ENTITY_KEYS = ("Entity", "Bridge", "SplitAnte", "Split")
_ENTITY_ITEM = re.compile(rf"(?:^|\|)(?:{'|'.join(_ENTITY_KEYS)})(?=[=|]|$)")
# Attributes that the corpora have, in their order; others follow by name, `other` is the last.
_KNOWN_ATTRIBUTES = ("minspan", "infstat", "centering", "salience", "link", "identity")
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ATTRIBUTE_VALUE = re.compile(r"[^\s()|=\ud800-\udfff-]*")
_LINE = re.compile(r"[^\r\n\ud800-\udfff]+")
_LAST_VALUE = re.compile(r"[^\s()|=\ud800-\udfff]*")


def read(path: Path | str, *, report: ConversionReport | None = None) -> Iterator[Record]:
    """Yield the documents of a CorefUD file (plain, gzip or zstd), one at a time.

    A file without `# newdoc` is one document named after the file. `extra` keeps "entity_types" (one a
    cluster) where the file has any, "cluster_ids" where they are not of the form `e12`,
    "mention_attributes" ([start, end, {name: value}]), "multiword_tokens" ([first word, last word, surface,
    MISC]) and "comments" ([sentence, text]; the texts of sentences only where they are not what the words
    make).

    Raises FormatError: `file:line` of a row or an `Entity` value that cannot be.
    """
    path, report = Path(path), report or ConversionReport()
    for document in _documents(read_lines(path), str(path), bare_stem(path), report):
        note = report.note(document.doc_key)
        yield document.finish(note).record(document.comment, note)


def _documents(
    lines: Iterable[str], path: str, stem: str, report: ConversionReport
) -> "Iterator[_SentenceReader]":
    """The documents of a file, each once its lines are in."""
    document: _SentenceReader | None = None
    fields: tuple[str, ...] = _DEFAULT_FIELDS
    comment: dict[str, Any] | None = None
    count = 0
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            key, value = key.strip(), value.strip()
            if key == "newdoc" or key.startswith("newdoc "):
                if document is not None:
                    yield document
                count += 1
                name = unescape(value) or f"{stem}_{count}"
                document = _SentenceReader(name, place, fields, comment, report.note(name))
                comment = None
            elif line.startswith(base.MARK):
                comment = base.parse(line[len(base.MARK) :], place)
            elif key == "global.Entity":
                fields = tuple(value.split("-"))
                if "eid" not in fields and "GRP" not in fields:
                    what = f"{place}: the global.Entity comment names no entity id"
                    expected = "fields with eid, such as eid-etype-head-other"
                    raise FormatError(what, expected=expected, found=repr(value[:60]))
                if document is not None:
                    document.fields = fields
            elif document is not None:
                document.comments.append(line)
            elif not key.startswith("global."):
                report.add(FILE_COMMENTS, Path(path).name)
        elif line:
            if document is None:
                document = _SentenceReader(stem, place, fields, comment, report.note(stem))
                comment = None
            document.add(line, place)
        elif document is not None:
            document.end_sentence()
    if document is not None:
        yield document


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> None:
    """Write documents as CorefUD.

    Not sayable, and told to `report`: mentions over a sentence end (scorers of this format refuse them),
    mentions that cross one of their own cluster or lie outside the tokens, empty clusters and sentences,
    documents without tokens, characters whose mentions are no cluster.

    Raises DataError: a document's tokens are not known.
    """
    report, clusters = report or ConversionReport(), 0
    with packing(path) as stream:
        for record in records:
            note = report.note(record.doc_key)
            # The record's own ids if they fit; tools of this format want ids to differ between documents.
            ids = base.cluster_ids(record)
            own = record.extra.get("cluster_ids") == ids and not any(number.isdigit() for number in ids)
            ids = ids if own else [f"e{clusters + i}" for i in range(len(record.clusters))]
            clusters += len(record.clusters)
            if not any(base.sentences_of(record)):
                note(NO_TOKENS)
                continue
            lines = list(_lines_of(record, ids, note))
            (document,) = _documents((line[:-1] for line in lines), "", "", ConversionReport())
            parsed = document.finish(ConversionReport().note(""))
            comment = base.comment_for(record, parsed, ids, note)
            report.wrote(sum(map(len, base.sentences_of(record))), parsed.clusters.values())
            stream.write("".join((base.to_line(comment), "\n", *lines)).encode("utf-8"))


class _SentenceReader:
    """One document while its lines come in.

    Brackets are placed on nodes (words and empty nodes in the order of the file); `_words[i]` is how many
    words stand before node i, so that spans of nodes become spans of words at the end.
    """

    def __init__(
        self, name: str, place: str, fields: tuple[str, ...], comment: dict[str, Any] | None, note: Note
    ) -> None:
        self.fields = fields
        self.comments: list[str] = []  # of the sentence that comes in
        self.doc_key, self.comment, self._place, self._note = name, comment, place, note
        self._brackets = BracketReader()
        self._sentences: list[list[str]] = []
        self._sentence: list[str] = []
        self._words: list[int] = [0]
        self._types: dict[str, str] = {}
        self._rows: list[tuple[str, ...]] = []  # the columns of each word, from the lemma on
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}  # rows repeat themselves
        self._surfaces: list[list[Any]] = []
        self._kept_comments: list[list[Any]] = []
        self._speakers: list[str] = []
        self._open_attributes: dict[str, list[dict[str, str]]] = {}
        self._attributes: dict[tuple[str, Mention], dict[str, str]] = {}

    def add(self, line: str, place: str) -> None:
        """Take one row."""
        cells = line.split("\t")
        if len(cells) != 10 or not _ID.fullmatch(cells[0]):
            what = f"{place}: the row is not CoNLL-U"
            expected = "10 columns separated by tabs, the first one 1, 1-2 or 1.1"
            raise FormatError(what, expected=expected, found=f"{len(cells)} columns: {line[:60]!r}")
        if "-" in cells[0]:  # a surface token of several words: its words follow
            first, last = map(int, cells[0].split("-"))
            if first == len(self._sentence) + 1 and last >= first:
                at = self._words[-1]
                own = "" if cells[9] == "_" else unescape(cells[9])
                self._surfaces.append([at, at + last - first, unescape(cells[1]), own])
            else:
                self._note(ODD_SURFACES, cells[0])
            return
        if "." not in cells[0]:
            if cells[0] != str(len(self._sentence) + 1):
                what = f"{place}: the words of the sentence are not numbered one by one"
                expected = f"word {len(self._sentence) + 1} (is a line lost here, or given twice?)"
                raise FormatError(what, expected=expected, found=f"word {cells[0][:20]}")
            self._sentence.append(unescape(cells[1]))
            self._words.append(self._words[-1] + 1)
            misc = cells[9]
            if misc != "_":
                misc = "|".join(i for i in misc.split("|") if i.partition("=")[0] not in _ENTITY_KEYS)
            row = (*cells[2:9], misc)
            self._rows.append(self._known.setdefault(row, row))
        else:
            self._words.append(self._words[-1])
            self._note(EMPTY_NODES, cells[0])
        if cells[9] != "_":
            self._read_misc(cells[9], place)

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
            elif comment.strip() != f"# sent_id = {_sentence_id(escape(self.doc_key), count)}":
                self._kept_comments.append([count, comment[1:].strip()])
        self._speakers.append(speaker)
        self._sentences.append(self._sentence)
        forms = [escape(token) for token in self._sentence]
        spaces = [_no_space(row[7]) for row in self._rows[first:]]
        own = [*takewhile(lambda surface: surface[0] >= first, reversed(self._surfaces))]
        surfaces = {s[0]: (s[1], s[2], s[3]) for s in reversed(own)}
        if text is not None and text != _text_of(forms, spaces, surfaces, first):
            self._kept_comments.append([count, f"text = {text}"])
        self._sentence, self.comments = [], []

    def finish(self, note: Note) -> base.Parsed:
        """What the document says. Raises FormatError for brackets left open."""
        self.end_sentence()
        found = self._brackets.finish()
        surfaces = [surface for surface in self._surfaces if surface[1] < self._words[-1]]
        note(ODD_SURFACES, count=len(self._surfaces) - len(surfaces))
        clusters: dict[str, list[Mention]] = {}
        for number, spans in self._without_gaps(found).items():
            for start, end in spans:
                span = Mention(self._words[start], self._words[end + 1] - 1)
                if span.start <= span.end:
                    clusters.setdefault(number, []).append(span)
                else:
                    self._note(ZERO, number)
        # Attributes over words; those of mentions that changed are counted as left out
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
        extra = {
            "mention_attributes": sorted(listed, key=lambda item: (item[0], item[1])),
            "multiword_tokens": surfaces,
            "comments": self._kept_comments,
        }
        speakers = [[name] * len(s) for name, s in zip(self._speakers, self._sentences, strict=True)]
        # The columns that say anything. A head of 0 alone is what writers put who know no syntax
        layers = {}
        for i, column in enumerate(_COLUMNS):
            known = {row: column.value(row[i]) for row in self._known}
            said = set(known.values()) - {""}
            if said and not (column.layer == "head" and said == {_BLANK_HEAD}):
                layers[column.layer] = by_sentence([known[row] for row in self._rows], self._sentences)
        return base.Parsed(
            self.doc_key, self._sentences, clusters, self._place,
            {name: value for name, value in extra.items() if value},
            speakers if any(self._speakers) else None, layers,
            not all(map(_PLAIN_ID.fullmatch, clusters)), self._types,
        )  # fmt: skip

    def _read_misc(self, misc: str, place: str) -> None:
        for item in misc.split("|"):
            key, _, value = item.partition("=")
            if key == "Entity":
                position, end = len(self._words) - 2, 0
                for chunk in _CHUNK.finditer(value):
                    if chunk.start() != end:
                        break
                    end = chunk.end()
                    if chunk[3]:
                        # A closing bracket holds the id alone; older files repeat all the fields
                        parts = chunk[3].split("-")
                        at = self.fields.index("eid" if "eid" in self.fields else "GRP")
                        number = parts[at] if len(parts) == len(self.fields) > 1 else chunk[3]
                        mention = self._brackets.close(number, position, place)
                        self._attributes[number, mention] = self._open_attributes[number].pop()
                        continue
                    # The last field may hold hyphens of its own (titles of articles).
                    said = chunk[1].split("-", len(self.fields) - 1)
                    fields = dict(zip(self.fields, said, strict=False))
                    number = fields.pop("eid", "") or fields.pop("GRP", "")
                    if not number:
                        what = f"{place}: an entity bracket has no id"
                        raise FormatError(what, expected="-".join(self.fields), found=repr(chunk[1][:60]))
                    kind = fields.pop("etype", "") or fields.pop("entity", "")
                    piece = _PIECE_OF.fullmatch(number)
                    of = piece[1] if piece else number
                    if kind and kind != (known := self._types.get(of) or kind):
                        self._note(TYPES, f"{of} {known} {kind}")
                    self._types[of] = self._types.get(of) or kind
                    if fields.get("head") == "1":
                        del fields["head"]
                    attributes = {name: said for name, said in fields.items() if said}
                    if chunk[2]:
                        self._attributes[number, self._brackets.single(number, position)] = attributes
                    else:
                        self._brackets.open(number, position, place)
                        self._open_attributes.setdefault(number, []).append(attributes)
                if end != len(value) or not value:
                    what = f"{place}: the Entity attribute cannot be read"
                    expected = "brackets such as (e1-person-1-, (e2-place-1-), e1)"
                    raise FormatError(what, expected=expected, found=repr(value[:60]))
            elif key in ("Bridge", "SplitAnte", "Split"):
                self._note(LINKS, value)

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


def _lines_of(record: Record, ids: list[str], note: Note) -> Iterator[str]:
    # Sentences without tokens are left out, so what stands beside the sentences must do the same.
    sentences = [sentence for sentence in record.sentences or [] if sentence]
    note(base.EMPTY_SENTENCE, count=len(record.sentences or []) - len(sentences))
    types, attributes = _types(record), _Attributes(record)
    # The clusters without the mentions that reach over a sentence end
    sentence_of = [i for i, sentence in enumerate(sentences) for _ in sentence]
    kept = []
    for cluster in base.inside(record.clusters, len(sentence_of), note):
        kept.append([m for m in cluster if sentence_of[m.start] == sentence_of[m.end]])
        for mention in cluster:
            if sentence_of[mention.start] != sentence_of[mention.end]:
                note(OVER_SENTENCES, str(tuple(mention)))
    entities = {}
    for position, found in place_brackets(kept, note).items():
        # The brackets of a token in CorefUD's order
        closing = [f"{ids[n]})" for n, _ in found.closing]
        opening = [f"({ids[n]}-{types[n]}-{attributes.of(m)}" for n, m in found.opening]
        single = [f"({ids[n]}-{types[n]}-{attributes.of(m)})" for n, m in found.single]
        ordered = closing + opening + single if opening else single + closing
        entities[position] = f"Entity={''.join(ordered)}"
    comments: dict[int, list[str]] = {}
    for at, comment in stated(record, "comments", int, str):
        reserved = ("newdoc", "global.", base.MARK.strip("# "), "speaker")
        if _LINE.fullmatch(comment) and comment == comment.strip() and not comment.startswith(reserved):
            comments.setdefault(at, []).append(comment)
    # The surfaces of words that can be written: whole words of one sentence, one after the other
    surfaces: Surfaces = {}
    free = 0
    for first, last, form, misc in stated(record, "multiword_tokens", int, int, str, str):
        if free <= first <= last < len(sentence_of) and sentence_of[first] == sentence_of[last]:
            surfaces[first], free = (last, form, misc), last + 1
    yield f"# newdoc id = {escape(record.doc_key)}\n"
    yield f"# global.Entity = {'-'.join(attributes.fields)}\n"
    rows = _columns(record)
    speakers = speakers_of(record)
    name = escape(record.doc_key)
    position = number = 0
    for at, sentence in enumerate(record.sentences or []):
        if not sentence:
            continue
        forms = [escape(token) for token in sentence]
        own = rows[position : position + len(sentence)]
        text = _text_of(forms, [_no_space(row[7]) for row in own], surfaces, position)
        said_by = speakers[at] if speakers else []
        yield from _sentence_comments(comments.get(at, []), _sentence_id(name, number), text, said_by)
        number += 1
        for i, (form, row) in enumerate(zip(forms, own, strict=True), 1):
            if position in surfaces:
                last, surface, said = surfaces[position]
                span = f"{i}-{i + last - position}"
                yield "\t".join((span, escape(surface), *"_______", escape(said) if said else "_")) + "\n"
            misc = "|".join(filter(None, (entities.get(position, ""), "" if row[7] == "_" else row[7])))
            yield "\t".join((str(i), form, *row[:7], misc or "_")) + "\n"
            position += 1
        yield "\n"


def _sentence_comments(kept: list[str], sent_id: str, text: str, speakers: list[str]) -> Iterator[str]:
    """The comments above a sentence: those that came with it, and those that every sentence has."""
    keys = {comment.partition("=")[0].strip() for comment in kept}
    yield from (f"# {comment}\n" for comment in kept)
    if "sent_id" not in keys:
        yield f"# sent_id = {sent_id}\n"
    if "text" not in keys:
        yield f"# text = {text}\n"
    if len(set(speakers)) == 1 and speakers[0]:
        # A value as it can stand in a comment: as it is, unless `unescape` or the line would change it
        value = speakers[0]
        plain = value == value.strip() and value.isprintable() and "&#" not in value
        yield f"# speaker = {value if plain else escape(value)}\n"


def _sentence_id(name: str, number: int) -> str:
    return f"{name.replace('/', '_')}-{number + 1}"


def _columns(record: Record) -> list[tuple[str, ...]]:
    """The cells of each word from lemma to MISC, blank where the record has nothing."""
    layers = columns_of(record)
    sentences = record.sentences or []
    if "head" not in layers:
        heads = heads_of(record)
        none = [_BLANK_HEAD] * sum(map(len, sentences))
        layers["head"] = none if heads is None else heads_as("head", heads, sentences)
    # What would be taken for an entity when read again is not this layer's to say.
    layers["misc"] = ["" if _ENTITY_ITEM.search(v) else v for v in layers.get("misc", [])]
    columns = [c.cells(layers[c.layer]) if layers.get(c.layer) else repeat(c.nothing[0]) for c in _COLUMNS]
    return list(zip(*columns, strict=False))


def _no_space(misc: str) -> bool:
    return "SpaceAfter=No" in misc and "SpaceAfter=No" in misc.split("|")


Surfaces = dict[int, tuple[int, str, str]]
"""By the position of their first word: the position of the last one, the surface, MISC."""


def _text_of(forms: list[str], no_space: list[bool], surfaces: Surfaces, first: int) -> str:
    """The text of a sentence as its words, or the surfaces that stand for several words, make it.

    `first` is the position of its first word in the document.
    """
    if not surfaces and not any(no_space):
        return " ".join(forms)
    pieces = []
    i = 0
    while i < len(forms):
        surface = surfaces.get(first + i)
        if surface is None:
            pieces.append(forms[i] + ("" if no_space[i] else " "))
            i += 1
        else:
            pieces.append(escape(surface[1]) + ("" if _no_space(surface[2]) else " "))
            i = max(surface[0] - first, i) + 1
    return "".join(pieces).strip(" ")


class _Attributes:
    """The attributes of a record's mentions, so far as brackets can say them; our comment has the rest."""

    def __init__(self, record: Record) -> None:
        self._by_span = {span: list(items) for span, items in attributes_of(record).items()}
        stated = (name for items in self._by_span.values() for item in items for name in item)
        names = set(filter(_ATTRIBUTE_NAME.fullmatch, stated)) - {"eid", "etype", "GRP", "entity"}
        known = [name for name in _KNOWN_ATTRIBUTES if name in names]
        others = sorted(names - {*_KNOWN_ATTRIBUTES, "head", "other"})
        self.fields = ("eid", "etype", "head", *known, *others, "other")

    def of(self, mention: Mention) -> str:
        """The fields behind id and type for one mention. Each item is used once: spans may be shared."""
        items = self._by_span.get(mention)
        own = items.pop(0) if items else {}
        cells = []
        for name in self.fields[2:]:
            value, rule = own.get(name), _LAST_VALUE if name == "other" else _ATTRIBUTE_VALUE
            said = value if isinstance(value, str) and rule.fullmatch(value) else ""
            cells.append(said or ("1" if name == "head" else ""))
        return "-".join(cells)


def _types(record: Record) -> list[str]:
    """The entity types to write, "" where unknown."""
    types: Any = record.extra.get("entity_types")
    right = type(types) is list and len(types) == len(record.clusters)
    if right and all(type(t) is str and _ATTRIBUTE_VALUE.fullmatch(t) for t in types):
        return list(types)
    return [""] * len(record.clusters)
