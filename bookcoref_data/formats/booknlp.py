"""BookNLP's tables: `.tokens` (one token a row), `.entities` (one mention a row), `.quotes`, `.book` (names).

Read: columns by the names in the header, `end_token` inclusive; clusters are the values of `COREF`, kept as
`extra["cluster_ids"]`. The names of characters come from the `.book` file where there is one: the most
frequent proper name. BookNLP has its own tokens; `projection` moves its mentions onto the tokens of a key.
Written: the files and columns of BookNLP 1.0, blank ("_") where only a parser would know.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..books import Mention, Record
from ..errors import DataError, FormatError
from ..words.pronouns import ALL_PRONOUNS
from . import metadata_comment
from .brackets import OUTSIDE
from .compressed import packing, read_bytes
from .conll import EMPTY_SENTENCE
from .conversion_report import ConversionReport
from .escape import escape, unescape
from .kinds import mention_types
from .layers import Layer, by_sentence, document_heads, flat, layers_of, note_layers, speakers_of
from .lines import read_lines
from .pairs import beside, doc_key_of, needed_sibling, sibling, targets

TOKEN_COLUMNS = (
    "paragraph_ID",
    "sentence_ID",
    "token_ID_within_sentence",
    "token_ID_within_document",
    "word",
    "lemma",
    "byte_onset",
    "byte_offset",
    "POS_tag",
    "fine_POS_tag",
    "dependency_relation",
    "syntactic_head_ID",
    "event",
)
ENTITY_COLUMNS = ("COREF", "start_token", "end_token", "prop", "cat", "text")
QUOTE_COLUMNS = (
    "quote_start",
    "quote_end",
    "mention_start",
    "mention_end",
    "mention_phrase",
    "char_id",
    "quote",
)
FEATURES = "characters of the .book file of which actions, possessions, descriptions or gender are left out"
SUPERSENSES = "supersenses (.supersense file)"
UNKNOWN_QUOTES = "quotations that do not lie on tokens"
_DESCRIPTION = "bookcoref-data"
_GUESSED = "guessed_types"
_TYPE = re.compile(r"([A-Z]+)_([A-Z]+)")
# Layer, column, what stands for nothing in that column.
_LAYERS = (
    ("paragraph", "paragraph_ID", "0"),
    ("lemma", "lemma", "_"),
    ("upos", "POS_tag", "_"),
    ("xpos", "fine_POS_tag", "_"),
    ("deprel", "dependency_relation", "_"),
    ("event", "event", "O"),
    ("in_quote", "inQuote", "False"),
)
_HELD = {name for name, _, _ in _LAYERS} | {"head", "document_head", "offsets"}
_PROPER, _COMMON, _PRONOUN = "PROP", "NOM", "PRON"
_BOOK_KEYS = {_PROPER: "proper", _COMMON: "common", _PRONOUN: "pronoun"}


def read(path: Path | str, *, report: ConversionReport | None = None) -> Iterator[Record]:
    """Yield the one document of BookNLP files (`path` is the .tokens or .entities file, plain or packed).

    `extra` keeps "mention_types" ([start, end, "PROP_PER"] of each mention), "cluster_ids" (the values of
    COREF) and "quotations" ({"start", "end", "mention", "cluster"} of each row of .quotes).

    Raises:
        FormatError: `file:line` of a row that cannot be, or columns that are missing.
        SourceError: the .tokens or .entities file is missing.
    """
    path = Path(path)
    tokens_path = needed_sibling(path, ".tokens", "the token table")
    entities_path = needed_sibling(path, ".entities", "the entity table")
    key = doc_key_of(tokens_path)
    sentences, layers, index = _read_tokens(tokens_path)
    clusters, types = _read_entities(entities_path, index)
    book = _read_book(path)
    description = book.get(_DESCRIPTION)
    extra: dict[str, Any] = {}
    if description is not None:
        description = metadata_comment.parse(json.dumps(description), f"{path}: .book file")
        if description.get(_GUESSED) is True:
            types = []
    if types:
        extra["mention_types"] = types
    quotations = list(_read_quotes(path, index, key, report))
    if quotations:
        extra["quotations"] = quotations
    record = metadata_comment.record_of(
        description,
        key,
        sentences,
        clusters,
        str(path),
        extra,
        report,
        keep_ids=description is None,
        layers=layers,
    )
    if description is None:
        record.characters.extend(_named(book, clusters))
        _note_rest(path, key, book, report)
    yield record


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> int:
    """Write each document as .tokens, .entities, .quotes and .book; returns how many documents.

    `path` is a folder, or for a single document the name of its .tokens file. Where the record does not say
    whether a mention is a name, a noun phrase or a pronoun (`prop`), that is derived from its words, and its
    category (`cat`) is PER. Not sayable, and told to `report`: mentions outside the tokens, empty clusters
    and sentences.

    Raises:
        DataError: a document's tokens are not known. UsageError: several documents for one file.
    """
    count = 0
    for record, target in targets(records, path, ".tokens"):
        if record.sentences is None:
            raise DataError(
                f"{record.source or record.doc_key}: document {record.doc_key!r} has no tokens to write",
                expected="a record with sentences",
                hint="stitch the annotation onto its text first (bookcoref-data rebuild)",
            )
        mentions = _WrittenMentions(record, report)
        for suffix, lines in (
            (".entities", _entity_lines(mentions)),
            (".quotes", _quote_lines(mentions)),
            (".book", _book_lines(mentions, report)),
            (".tokens", _token_lines(record, report)),
        ):
            with packing(beside(target, suffix)) as stream:
                for line in lines:
                    stream.write(line.encode("utf-8"))
        count += 1
    return count


def _read_table(path: Path, columns: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, {column: cell}) of each row. Raises FormatError for missing columns or short rows."""
    lines = enumerate(read_lines(path), 1)
    _, header = next(lines, (1, ""))
    names = header.split("\t")
    missing = [column for column in columns if column not in names]
    if missing:
        raise FormatError(
            f"{path}:1: the header lacks {', '.join(missing)}",
            expected="BookNLP's header with " + ", ".join(columns),
            found=repr(header[:80]),
            hint="is this a file of BookNLP 1.0?",
        )
    for number, line in lines:
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) < len(names):
            raise FormatError(
                f"{path}:{number}: the row is too short",
                expected=f"{len(names)} columns",
                found=f"{len(cells)}: {line[:60]!r}",
                hint="is the file cut short?",
            )
        yield number, dict(zip(names, cells, strict=False))


def _read_tokens(path: Path) -> tuple[list[list[str]], dict[str, Layer], dict[str, int]]:
    """The tokens by sentence, the layers that say anything, and the position of each token id."""
    sentences: list[list[str]] = []
    index: dict[str, int] = {}
    columns: dict[str, list[str]] = {}
    current = None
    for number, row in _read_table(path, ("sentence_ID", "token_ID_within_document", "word")):
        if row["sentence_ID"] != current:
            current = row["sentence_ID"]
            sentences.append([])
        sentences[-1].append(unescape(row["word"]))
        if row["token_ID_within_document"] in index:
            raise FormatError(
                f"{path}:{number}: the token id {row['token_ID_within_document']!r} is given twice",
                expected="each token_ID_within_document once",
            )
        index[row["token_ID_within_document"]] = len(index)
        for name, column, blank in _LAYERS:
            cell = row.get(column, blank)
            columns.setdefault(name, []).append("" if cell == blank else sys.intern(unescape(cell)))
        columns.setdefault("heads", []).append(row.get("syntactic_head_ID", ""))
        columns.setdefault("offsets", []).append(f"{row.get('byte_onset', '')} {row.get('byte_offset', '')}")
    if columns:
        heads = [index.get(head, i) for i, head in enumerate(columns.pop("heads"))]
        if any(head != i for i, head in enumerate(heads)):
            columns["document_head"] = list(map(str, heads))
        if all(_is_laid_out(columns["offsets"], sentences)):
            del columns["offsets"]
    layers = {name: by_sentence(column, sentences) for name, column in columns.items() if any(column)}
    return sentences, layers, index


def _is_laid_out(offsets: list[str], sentences: list[list[str]]) -> Iterator[bool]:
    """For each token whether its offsets are those that we write ourselves, and so say nothing."""
    at = 0
    tokens = (token for sentence in sentences for token in sentence)
    for offset, token in zip(offsets, tokens, strict=True):
        end = at + len(escape(token))
        yield offset in (f"{at} {end}", " ")
        at = end + 1


def _read_quotes(
    path: Path, index: dict[str, int], key: str, report: ConversionReport | None
) -> Iterator[dict[str, Any]]:
    """The rows of the .quotes file beside `path`, if there is one."""
    file = sibling(path, ".quotes")
    if file is None:
        return
    for number, row in _read_table(file, ("quote_start", "quote_end", "char_id")):
        start, end = index.get(row["quote_start"]), index.get(row["quote_end"])
        if start is None or end is None or start > end:
            if report is not None:
                report.add(UNKNOWN_QUOTES, key, f"{file.name}:{number}")
            continue
        first, last = index.get(row.get("mention_start", "")), index.get(row.get("mention_end", ""))
        yield {
            "start": start,
            "end": end,
            "mention": None if first is None or last is None else [first, last],
            "cluster": row["char_id"] or None,
        }


def _note_rest(path: Path, key: str, book: dict[str, Any], report: ConversionReport | None) -> None:
    """Count what BookNLP's other files say and a record has no place for."""
    if report is None:
        return
    listed = book.get("characters")
    features = ("agent", "patient", "mod", "poss", "g")
    people = [c for c in (listed if type(listed) is list else ()) if type(c) is dict]
    report.add(FEATURES, key, count=sum(any(c.get(name) for name in features) for c in people))
    supersenses = sibling(path, ".supersense")
    if supersenses is not None:
        report.add(SUPERSENSES, key, count=max(sum(1 for line in read_lines(supersenses) if line) - 1, 0))


def _read_entities(path: Path, index: dict[str, int]) -> tuple[dict[str, list[Mention]], list[list[Any]]]:
    """The clusters by COREF, in the order of the file, and [start, end, PROP_CAT] of each mention."""
    clusters: dict[str, list[Mention]] = {}
    types = set()
    for number, row in _read_table(path, ENTITY_COLUMNS[:3]):
        start, end = index.get(row["start_token"]), index.get(row["end_token"])
        if start is None or end is None or start > end:
            raise FormatError(
                f"{path}:{number}: the mention is not in the tokens",
                expected=f"start_token <= end_token, both among the {len(index):,} token ids",
                found=f"{row['start_token']} to {row['end_token']}",
                hint="do .tokens and .entities come from the same run?",
            )
        mention = Mention(start, end)
        clusters.setdefault(row["COREF"], []).append(mention)
        kind = f"{row.get('prop', '_')}_{row.get('cat', '_')}"
        if _TYPE.fullmatch(kind):
            types.add((*mention, kind))
    return {number: sorted(spans) for number, spans in clusters.items()}, sorted(map(list, types))


def _read_book(path: Path) -> dict[str, Any]:
    """The .book file beside `path`, {} where there is none."""
    book = sibling(path, ".book")
    if book is None:
        return {}
    try:
        value = json.loads(read_bytes(book))
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{book}: is not valid JSON", found=str(error), hint="remove the file: only names are lost"
        ) from error
    if type(value) is not dict:
        raise FormatError(f"{book}: is no book", expected="a JSON object with characters")
    return value


def _named(book: dict[str, Any], clusters: dict[str, list[Mention]]) -> Iterator[tuple[str, list[Mention]]]:
    """The characters of a .book file that have a proper name, most frequent name first by count."""
    characters = book.get("characters")
    for character in characters if type(characters) is list else ():
        if type(character) is not dict:
            continue
        mentions = character.get("mentions")
        proper = mentions.get("proper") if type(mentions) is dict else None
        names = [
            (item["c"], item["n"])
            for item in (proper if type(proper) is list else ())
            if type(item) is dict and type(item.get("c")) is int and type(item.get("n")) is str
        ]
        number = str(character.get("id"))
        if names and number in clusters:
            yield max(names, key=lambda item: item[0])[1], list(clusters[number])


def _token_lines(record: Record, report: ConversionReport | None) -> Iterator[str]:
    in_quote = "in_quote" in layers_of(record)
    yield "\t".join((*TOKEN_COLUMNS, "inQuote") if in_quote else TOKEN_COLUMNS) + "\n"
    note_layers(record, report, {"speakers", *_HELD})
    sentences = [sentence for sentence in record.sentences or [] if sentence]
    empty = len(record.sentences or []) - len(sentences)
    if report is not None:
        report.add(EMPTY_SENTENCE, record.doc_key, count=empty)
    cells = _token_cells(record)
    heads = document_heads(record)
    offsets = flat(layers_of(record).get("offsets"))
    position = offset = 0
    for number, sentence in enumerate(sentences):
        for i, token in enumerate(sentence):
            word = escape(token)
            end = offset + len(word)
            own = {name: values[position] for name, values in cells.items()}
            place = offsets[position].split(" ", 1) if offsets else []
            onset, offset_end = place if len(place) == 2 else (str(offset), str(end))
            head = heads[position] if heads is not None else None
            row = [
                own["paragraph_ID"],
                str(number),
                str(i),
                str(position),
                word,
                own["lemma"],
                onset,
                offset_end,
                own["POS_tag"],
                own["fine_POS_tag"],
                own["dependency_relation"],
                str(position if head is None else head),
                own["event"],
                *([own["inQuote"]] if in_quote else []),
            ]
            yield "\t".join(row) + "\n"
            position += 1
            offset = end + 1


def _token_cells(record: Record) -> dict[str, list[str]]:
    """The cells of every column that a layer fills, one a token."""
    layers = layers_of(record)
    size = sum(map(len, record.sentences or []))
    cells = {
        column: [escape(value) if value else blank for value in flat(layers[name])]
        if name in layers
        else [blank] * size
        for name, column, blank in _LAYERS
    }
    if "paragraph" not in layers:
        cells["paragraph_ID"] = _paragraphs(record)
    return cells


def _paragraphs(record: Record) -> list[str]:
    """The number of each token's paragraph, from the comments that CoNLL-U files open paragraphs with."""
    comments = record.extra.get("comments")
    begins = {
        item[0]
        for item in (comments if type(comments) is list else ())
        if type(item) is list and list(map(type, item)) == [int, str] and item[1].startswith("newpar")
    }
    number, numbers = 0, list[str]()
    for i, sentence in enumerate(record.sentences or []):
        number += i in begins and bool(numbers)
        numbers += [str(number)] * len(sentence)
    return numbers


class _WrittenMentions:
    """The mentions of one record as BookNLP writes them: ids, types, words."""

    def __init__(self, record: Record, report: ConversionReport | None) -> None:
        self.record = record
        self.tokens = [token for sentence in record.sentences or [] for token in sentence]
        self.ids = metadata_comment.cluster_ids(record, digits=True)
        self.stated = mention_types(record, _TYPE)
        self._names = {name for name, _ in record.characters}
        self.clusters = [list(self._inside(cluster, report)) for cluster in record.clusters]
        self.guessed = any(m not in self.stated for cluster in self.clusters for m in cluster)
        if report is not None:
            report.wrote(len(self.tokens), self.clusters)

    def _inside(self, cluster: list[Mention], report: ConversionReport | None) -> Iterator[Mention]:
        if not cluster and report is not None:
            report.add(metadata_comment.EMPTY_CLUSTER, self.record.doc_key)
        for mention in cluster:
            if 0 <= mention.start <= mention.end < len(self.tokens):
                yield mention
            elif report is not None:
                report.add(OUTSIDE, self.record.doc_key, str(tuple(mention)))

    def text(self, mention: Mention) -> str:
        return " ".join(map(escape, self.tokens[mention.start : mention.end + 1]))

    def kind(self, mention: Mention) -> tuple[str, str]:
        """(prop, cat): as the record states them, else derived from the words."""
        if mention in self.stated:
            prop, _, cat = self.stated[mention].partition("_")
            return prop, cat
        words = [w for w in self.tokens[mention.start : mention.end + 1] if not w.isspace()]
        if words and all(word.lower() in ALL_PRONOUNS for word in words):
            return _PRONOUN, "PER"
        named = " ".join(words) in self._names or (bool(words) and words[-1][:1].isupper())
        return (_PROPER if named else _COMMON), "PER"


def _entity_lines(mentions: _WrittenMentions) -> Iterator[str]:
    yield "\t".join(ENTITY_COLUMNS) + "\n"
    for number, cluster in zip(mentions.ids, mentions.clusters, strict=True):
        for mention in cluster:
            row = (number, *map(str, mention), *mentions.kind(mention), mentions.text(mention))
            yield "\t".join(row) + "\n"


def _quotations(record: Record) -> list[dict[str, Any]] | None:
    """The quotations of a record if all of them can be written as rows, else None."""
    listed = record.extra.get("quotations")
    size = sum(map(len, record.sentences or []))
    if type(listed) is not list or not listed or not all(_is_quotation(item, size) for item in listed):
        return None
    return listed


def _is_quotation(item: object, size: int) -> bool:
    if type(item) is not dict or item.keys() != {"start", "end", "mention", "cluster"}:
        return False
    spans = [[item["start"], item["end"]], *([item["mention"]] if item["mention"] is not None else [])]
    fits = all(
        type(s) is list and list(map(type, s)) == [int, int] and 0 <= s[0] <= s[1] < size for s in spans
    )
    cluster = item["cluster"]
    return fits and (cluster is None or (type(cluster) is str and escape(cluster) == cluster))


def _quote_lines(mentions: _WrittenMentions) -> Iterator[str]:
    """One row a quotation. Quotations that say more (their addressees) stay in our part of the .book file."""
    yield "\t".join(QUOTE_COLUMNS) + "\n"
    for item in _quotations(mentions.record) or []:
        phrase, first, last = "", "None", "None"
        if item["mention"] is not None:
            first, last = map(str, item["mention"])
            phrase = mentions.text(Mention(*item["mention"]))
        quote = mentions.text(Mention(item["start"], item["end"]))
        row = (str(item["start"]), str(item["end"]), first, last, phrase, item["cluster"] or "", quote)
        yield "\t".join(row) + "\n"


def _book_lines(mentions: _WrittenMentions, report: ConversionReport | None) -> Iterator[str]:
    """One JSON document: the characters as BookNLP lists them, and what only our reader restores."""
    record = mentions.record
    drop = ["quotations"] if _quotations(record) is not None else []
    if mentions.stated and not mentions.guessed:
        drop.append("mention_types")
    description = metadata_comment.describe(
        record, mentions.ids, report, drop=drop, speakers=speakers_of(record)
    )
    if mentions.guessed:
        description[_GUESSED] = True
    deeds = _deeds(mentions)
    characters: list[dict[str, Any]] = []
    for number, cluster in zip(mentions.ids, mentions.clusters, strict=True):
        texts: dict[str, Counter[str]] = {key: Counter() for key in _BOOK_KEYS.values()}
        for mention in cluster:
            prop, _ = mentions.kind(mention)
            texts[_BOOK_KEYS.get(prop, "common")][mentions.text(mention)] += 1
        # BookNLP lists clusters of people that are spoken of more than once.
        if len(cluster) > 1 and any(mentions.kind(m)[1] == "PER" for m in cluster):
            counted = {key: [{"c": c, "n": n} for n, c in t.most_common()] for key, t in texts.items()}
            owner = {"id": int(number), "g": None, "count": len(cluster), "mentions": counted}
            characters.append({**deeds.get(number, _no_deeds()), **owner})
    characters.sort(key=lambda item: -item["count"])
    yield json.dumps({"characters": characters, _DESCRIPTION: description}) + "\n"


def _no_deeds() -> dict[str, list[dict[str, Any]]]:
    return {"agent": [], "patient": [], "mod": [], "poss": []}


def _deeds(mentions: _WrittenMentions) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By cluster id what its members do, suffer, are and have, as BookNLP reads it out of spaCy's relations.

    Empty where the record has no syntax. agent: verb of a subject; patient: verb of an object or passive
    subject; mod: predicate of a subject of "be"; poss: what stands behind a possessor.
    """
    heads = document_heads(mentions.record)
    relations = flat(layers_of(mentions.record).get("deprel"))
    if heads is None or not relations:
        return {}
    lemmas = flat(layers_of(mentions.record).get("lemma")) or [token.lower() for token in mentions.tokens]
    predicates: dict[int, list[int]] = {}
    for i, head in enumerate(heads):
        if head is not None and relations[i] in ("attr", "acomp"):
            predicates.setdefault(head, []).append(i)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for number, cluster in zip(mentions.ids, mentions.clusters, strict=True):
        own = found.setdefault(number, _no_deeds())
        for mention in cluster:
            word = _head_in(mention, heads)
            verb = heads[word]
            if verb is None:
                continue
            slots = {"nsubj": "agent", "dobj": "patient", "nsubjpass": "patient", "poss": "poss"}
            slot, at = slots.get(relations[word]), [verb]
            if slot == "agent" and lemmas[verb] == "be":
                slot, at = "mod", predicates.get(verb, [])
            if slot is not None:
                own[slot] += [{"w": mentions.tokens[i], "i": i} for i in at]
    return found


def _head_in(mention: Mention, heads: list[int | None]) -> int:
    """The token of a mention that no other token of it governs: the first such, else the last token."""
    for i in range(mention.start, mention.end + 1):
        head = heads[i]
        if head is None or not mention.start <= head <= mention.end:
            return i
    return mention.end
