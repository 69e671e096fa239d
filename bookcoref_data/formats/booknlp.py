"""BookNLP's tables: `.tokens` (one token a row), `.entities` (one mention a row), `.book` (names).

Read: columns by the names in the header, `end_token` inclusive; clusters are the values of `COREF`. The
names of characters come from the `.book` file where there is one: the most frequent proper name. BookNLP
has its own tokens; `projection` moves its mentions onto the tokens of a key.
Written: the columns of BookNLP 1.0, blank ("_") where only a parser would know, and names in `.book`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..books import Mention, Record
from ..errors import DataError, FormatError
from . import metadata_comment
from .brackets import OUTSIDE
from .compressed import packing, read_bytes
from .conll import EMPTY_SENTENCE
from .conversion_report import Losses
from .escape import escape, unescape
from .kinds import mention_types
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
SYNTAX = "lemmas, parts of speech, syntax, events and paragraphs"
_DESCRIPTION = "bookcoref-data"
_TYPE = re.compile(r"([A-Z]+)_([A-Z]+)")


def read(path: Path, *, losses: Losses | None = None) -> Iterator[Record]:
    """Yield the one document of BookNLP files (`path` is the .tokens or .entities file, plain or packed).

    `extra` keeps "mention_types" ([start, end, "PROP_PER"] of each mention).

    Raises:
        FormatError: `file:line` of a row that cannot be, or columns that are missing.
        SourceError: the .tokens or .entities file is missing.
    """
    tokens_path = needed_sibling(path, ".tokens", "the token table")
    entities_path = needed_sibling(path, ".entities", "the entity table")
    key = doc_key_of(tokens_path)
    sentences, index = _read_tokens(tokens_path)
    clusters, types = _read_entities(entities_path, index)
    book = _read_book(path)
    description = book.get(_DESCRIPTION)
    if description is not None:
        description = metadata_comment.parse(json.dumps(description), f"{path}: .book file")
    elif losses is not None:
        losses.add(SYNTAX, key)
    record = metadata_comment.record_of(
        description, key, sentences, clusters, str(path), {"mention_types": types} if types else {}, losses
    )
    if description is None:
        record.characters.extend(_named(book, clusters))
    yield record


def write(records: Iterable[Record], path: Path, *, losses: Losses | None = None) -> int:
    """Write each document as .tokens, .entities and .book; returns how many documents.

    `path` is a folder, or for a single document the name of its .tokens file. Not sayable, and told to
    `losses`: mentions outside the tokens, empty clusters and sentences.

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
        for suffix, lines in (
            (".entities", _entity_lines(record, losses)),
            (".book", _book_lines(record, losses)),
            (".tokens", _token_lines(record, losses)),
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


def _read_tokens(path: Path) -> tuple[list[list[str]], dict[str, int]]:
    """The tokens by sentence, and the position of each token id."""
    sentences: list[list[str]] = []
    index: dict[str, int] = {}
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
    return sentences, index


def _read_entities(path: Path, index: dict[str, int]) -> tuple[dict[str, list[Mention]], list[list]]:
    """The clusters by COREF, in the order of the file, and [start, end, PROP_CAT] of each mention."""
    clusters: dict[str, list[Mention]] = {}
    types = set()
    for number, row in _read_table(path, ENTITY_COLUMNS[:3]):
        ends = [index.get(row["start_token"]), index.get(row["end_token"])]
        if None in ends or ends[0] > ends[1]:
            raise FormatError(
                f"{path}:{number}: the mention is not in the tokens",
                expected=f"start_token <= end_token, both among the {len(index):,} token ids",
                found=f"{row['start_token']} to {row['end_token']}",
                hint="do .tokens and .entities come from the same run?",
            )
        mention = Mention(*ends)
        clusters.setdefault(row["COREF"], []).append(mention)
        kind = f"{row.get('prop', '_')}_{row.get('cat', '_')}"
        if _TYPE.fullmatch(kind):
            types.add((*mention, kind))
    return {number: sorted(spans) for number, spans in clusters.items()}, sorted(map(list, types))


def _read_book(path: Path) -> dict:
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


def _named(book: dict, clusters: dict[str, list[Mention]]) -> Iterator[tuple[str, list[Mention]]]:
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


def _token_lines(record: Record, losses: Losses | None) -> Iterator[str]:
    yield "\t".join(TOKEN_COLUMNS) + "\n"
    position = offset = 0
    sentences = [sentence for sentence in record.sentences or [] if sentence]
    empty = len(record.sentences or []) - len(sentences)
    if empty and losses is not None:
        losses.add(EMPTY_SENTENCE, record.doc_key, count=empty)
    for number, sentence in enumerate(sentences):
        for i, token in enumerate(sentence):
            word = escape(token)
            end = offset + len(word)
            yield (f"0\t{number}\t{i}\t{position}\t{word}\t_\t{offset}\t{end}\t_\t_\t_\t{position}\tO\n")
            position += 1
            offset = end + 1


def _entity_lines(record: Record, losses: Losses | None) -> Iterator[str]:
    tokens = [token for sentence in record.sentences or [] for token in sentence]
    types = mention_types(record, _TYPE)
    yield "\t".join(ENTITY_COLUMNS) + "\n"
    for number, cluster in enumerate(record.clusters):
        if not cluster and losses is not None:
            losses.add(metadata_comment.EMPTY_CLUSTER, record.doc_key)
        for mention in cluster:
            if not 0 <= mention.start <= mention.end < len(tokens):
                if losses is not None:
                    losses.add(OUTSIDE, record.doc_key, str(tuple(mention)))
                continue
            kind = types[mention].split("_") if mention in types else ("_", "_")
            text = " ".join(map(escape, tokens[mention.start : mention.end + 1]))
            yield "\t".join((str(number), str(mention.start), str(mention.end), *kind, text)) + "\n"


def _book_lines(record: Record, losses: Losses | None) -> Iterator[str]:
    """One JSON document: the characters as BookNLP lists them, and what only our reader restores."""
    ids = [str(i) for i in range(len(record.clusters))]
    drop = ("mention_types",) if mention_types(record, _TYPE) else ()
    description = metadata_comment.describe(record, ids, losses, drop=drop)
    characters = [
        {
            "id": int(number),
            "count": len(record.clusters[int(number)]),
            "mentions": {"proper": [{"c": 1, "n": name}], "common": [], "pronoun": []},
        }
        for name, number in description.get("characters", [])
    ]
    value = {"characters": characters, _DESCRIPTION: description}
    yield json.dumps(value) + "\n"
