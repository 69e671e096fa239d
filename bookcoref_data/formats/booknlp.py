"""BookNLP's tables: `.tokens` (one token a row), `.entities` (one mention a row), `.quotes`, `.book` (names).

Read: columns by the names in the header, `end_token` inclusive; clusters are the values of `COREF`, kept as
`extra["cluster_ids"]`. The names of characters come from the `.book` file where there is one: the most
frequent proper name. BookNLP has its own tokens; `projection` moves its mentions onto the tokens of a key.
Written: the files and columns of BookNLP 1.0, blank ("_") where only a parser would know.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby, islice, pairwise
from pathlib import Path
from typing import Any

from ..books import Mention, Record
from ..errors import FormatError
from ..shapes import together
from ..words.pronouns import ALL_PRONOUNS
from . import base
from .base import beside, doc_key_of, needed_sibling, sibling, targets
from .compressed import packing, read_bytes
from .conversion_report import ConversionReport, Note
from .escape import escape, unescape
from .layers import FACTS, Layer, by_sentence, columns_of, heads_as, heads_of, mention_types, stated, table_of
from .lines import read_lines

_HEADS = FACTS["booknlp"]
TOKEN_COLUMNS, ENTITY_COLUMNS, QUOTE_COLUMNS = (_HEADS[n].split() for n in ("tokens", "entities", "quotes"))
_COLUMNS = table_of("booknlp")
FEATURES = "characters of the .book file of which actions, possessions, descriptions or gender are left out"
SUPERSENSES = "supersenses (.supersense file)"
UNKNOWN_QUOTES = "quotations that do not lie on tokens"
_DESCRIPTION = "bookcoref-data"
_TYPE = re.compile(r"([A-Z]+)_([A-Z]+)")
_OFFSETS = re.compile(r"\d{1,12} \d{1,12}")
_PROPER, _COMMON, _PRONOUN = "PROP", "NOM", "PRON"
_BOOK_KEYS = {_PROPER: "proper", _COMMON: "common", _PRONOUN: "pronoun"}


def read(path: Path | str, *, report: ConversionReport | None = None) -> Iterator[Record]:
    """Yield the one document of BookNLP files (`path` is the .tokens or .entities file, plain or packed).

    `extra` keeps "mention_types" ([start, end, "PROP_PER"] of each mention), "cluster_ids" (the values of
    COREF) and "quotations" ({"start", "end", "mention", "cluster"} of each row of .quotes).

    Raises FormatError: `file:line` of a row that cannot be, or columns that are missing. SourceError: the
    .tokens or .entities file is missing.
    """
    path, report = Path(path), report or ConversionReport()
    tokens = needed_sibling(path, ".tokens", "the token table")
    tables = {".tokens": tokens, ".entities": needed_sibling(path, ".entities", "the entity table")}
    quotes, key = sibling(path, ".quotes"), doc_key_of(tokens)
    if quotes is not None:
        tables[".quotes"] = quotes
    note, file, book = report.note(key), sibling(path, ".book"), dict[str, Any]()
    if file is not None:
        try:
            book = json.loads(read_bytes(file))
        except (ValueError, RecursionError) as error:
            raise FormatError(
                f"{file}: not valid JSON", found=str(error), hint="remove the file: only names are lost"
            ) from error
        if type(book) is not dict:
            raise FormatError(f"{file}: is no book", expected="a JSON object with characters")
    lines = {suffix: (str(table), read_lines(table)) for suffix, table in tables.items()}
    parsed = _parse(key, str(path), lines, note)
    comment = book.get(_DESCRIPTION)
    if comment is None:
        parsed.characters = list(_named(book, parsed.clusters))
        # Count what BookNLP's other files say and a record has no place for
        listed = book.get("characters")
        features = ("agent", "patient", "mod", "poss", "g")
        people = [c for c in (listed if type(listed) is list else ()) if type(c) is dict]
        note(FEATURES, count=sum(any(c.get(name) for name in features) for c in people))
        supersenses = sibling(path, ".supersense")
        if supersenses is not None:
            note(SUPERSENSES, count=max(sum(1 for line in read_lines(supersenses) if line) - 1, 0))
    else:
        comment = base.parse(json.dumps(comment), f"{path}: .book file")
        parsed.doc_key = comment["doc_key"]
    yield parsed.record(comment, note)


_Tables = Mapping[str, tuple[str, Iterable[str]]]
"""By suffix the name of a table and its lines."""


def _parse(key: str, source: str, tables: _Tables, note: Note) -> base.Parsed:
    sentences, layers, index = _read_tokens(*tables[".tokens"])
    # The clusters by COREF, in the order of the file, and [start, end, PROP_CAT] of each mention
    clusters: dict[str, list[Mention]] = {}
    types = set()
    path, lines = tables[".entities"]
    table = _Table(path, lines, ENTITY_COLUMNS[:3])
    columns = (table.column(name, "_") for name in ENTITY_COLUMNS[:5])
    for line, number, first, last, prop, cat in zip(table.numbers, *columns, strict=True):
        start, end = index.get(first), index.get(last)
        if start is None or end is None or start > end:
            what = f"{path}:{line}: the mention is not in the tokens"
            expected = f"start_token <= end_token, both among the {len(index):,} token ids"
            hint = "do .tokens and .entities come from the same run?"
            raise FormatError(what, expected=expected, found=f"{first} to {last}", hint=hint)
        clusters.setdefault(number, []).append(Mention(start, end))
        if _TYPE.fullmatch(f"{prop}_{cat}"):
            types.add((start, end, f"{prop}_{cat}"))
    clusters = {number: sorted(spans) for number, spans in clusters.items()}
    quotations = []
    if ".quotes" in tables:
        path, lines = tables[".quotes"]
        table = _Table(path, lines, ("quote_start", "quote_end", "char_id"))
        names = ("quote_start", "quote_end", "mention_start", "mention_end", "char_id")
        for line, *row, speaker in zip(table.numbers, *map(table.column, names), strict=True):
            start, end, at, to = map(index.get, row)
            if start is None or end is None or start > end:
                note(UNKNOWN_QUOTES, f"{Path(path).name}:{line}")
                continue
            phrase = None if at is None or to is None else [at, to]
            quotations.append({"start": start, "end": end, "mention": phrase, "cluster": speaker or None})
    extra: dict[str, Any] = {"mention_types": sorted(map(list, types)), "quotations": quotations}
    extra = {name: value for name, value in extra.items() if value}
    return base.Parsed(key, sentences, clusters, source, extra, layers=layers, keep_ids=True)


def write(records: Iterable[Record], path: Path, *, report: ConversionReport | None = None) -> None:
    """Write each document as .tokens, .entities, .quotes and .book.

    `path` is a folder, or for a single document the name of its .tokens file. Where the record does not say
    whether a mention is a name, a noun phrase or a pronoun (`prop`), that is derived from its words, and its
    category (`cat`) is PER. Not sayable, and told to `report`: mentions outside the tokens, empty clusters
    and sentences.

    Raises DataError: a document's tokens are not known. UsageError: several documents for one file.
    """
    report = report or ConversionReport()
    for record, target in targets(records, path, ".tokens"):
        note = report.note(record.doc_key)
        note(base.EMPTY_SENTENCE, count=base.sentences_of(record).count([]))
        mentions = _WrittenMentions(record, note)
        entities = ["\t".join(ENTITY_COLUMNS) + "\n"]
        for number, cluster in zip(mentions.ids, mentions.clusters, strict=True):
            for mention in cluster:
                row = (number, *map(str, mention), *mentions.kind(mention), mentions.text(mention))
                entities.append("\t".join(row) + "\n")
        quotes, tokens = list(_quote_lines(mentions)), list(_token_lines(record))
        lines = {".entities": entities, ".quotes": quotes, ".tokens": tokens}
        tables: _Tables = {suffix: ("", [line[:-1] for line in rows]) for suffix, rows in lines.items()}
        parsed = _parse(record.doc_key, "", tables, ConversionReport().note(""))
        if mentions.guessed:
            del parsed.extra["mention_types"]
        comment = base.comment_for(record, parsed, mentions.ids, note)
        if mentions.guessed:
            comment["without"] = sorted({*comment.get("without", ()), "mention_types"})
        report.wrote(len(mentions.tokens), parsed.clusters.values())
        lines[".book"] = [_book_line(mentions, comment)]
        for suffix, rows in lines.items():
            with packing(beside(target, suffix)) as stream:
                for line in rows:
                    stream.write(line.encode("utf-8"))


class _Table:
    """The columns of a table by name, and the number of the line of each row.

    Raises FormatError: a needed column is missing, or a row is too short.
    """

    def __init__(self, path: str, lines: Iterable[str], needed: Iterable[str]) -> None:
        header, *rest = lines or [""]
        names = header.split("\t")
        if missing := [column for column in needed if column not in names]:
            what = f"{path}:1: the header lacks {', '.join(missing)}"
            expected = "BookNLP's header with " + ", ".join(needed)
            hint = "is this a file of BookNLP 1.0?"
            raise FormatError(what, expected=expected, found=repr(header[:80]), hint=hint)
        rows = [(number, line) for number, line in enumerate(rest, 2) if line]
        self.numbers = [number for number, _ in rows]
        tabs = len(names) - 1
        for number, line in rows:
            if line.count("\t") < tabs:
                what = f"{path}:{number}: the row is too short"
                expected = f"{len(names)} columns"
                found = f"{len(line.split(chr(9)))}: {line[:60]!r}"
                raise FormatError(what, expected=expected, found=found, hint="is the file cut short?")
        # One list for all cells: a list for each row costs more than all the rest.
        even = (s if s.count("\t") == tabs else "\t".join(s.split("\t")[: tabs + 1]) for _, s in rows)
        cells = "\t".join(even).split("\t") if rows else []
        self._columns = {name: cells[i :: len(names)] for i, name in enumerate(names)}

    def column(self, name: str, nothing: str = "") -> Sequence[str]:
        """The cells of a column; `nothing` in each row where the table has no such column."""
        return self._columns.get(name) or [nothing] * len(self.numbers)


def _read_tokens(path: str, lines: Iterable[str]) -> tuple[list[list[str]], dict[str, Layer], dict[str, int]]:
    """The tokens by sentence, the layers that say anything, and the position of each token id."""
    table = _Table(path, lines, ("sentence_ID", "token_ID_within_document", "word"))
    ids = table.column("token_ID_within_document")
    index = dict(zip(ids, range(len(ids)), strict=True))
    if len(index) < len(ids):
        first: dict[str, int] = {}
        again = next(i for i, name in enumerate(ids) if first.setdefault(name, i) != i)
        what = f"{path}:{table.numbers[again]}: the token id {ids[again]!r} is given twice"
        raise FormatError(what, expected="each token_ID_within_document once")
    words = map(unescape, table.column("word"))
    sizes = (len(list(group)) for _, group in groupby(table.column("sentence_ID")))
    sentences = [list(islice(words, size)) for size in sizes]
    columns: dict[str, list[str]] = {}
    for column in _COLUMNS:
        own = table.column(column.key, column.nothing[0])
        known = {cell: column.value(cell) for cell in set(own)}  # cells repeat themselves
        if any(known.values()):
            columns[column.layer] = list(map(known.__getitem__, own))
    heads = [index.get(head, i) for i, head in enumerate(table.column("syntactic_head_ID"))]
    if heads != list(range(len(heads))):
        columns["document_head"] = list(map(str, heads))
    offsets = list(map(" ".join, zip(table.column("byte_onset"), table.column("byte_offset"), strict=True)))
    if offsets != _laid_out(sentences) and any(map(str.strip, offsets)):
        columns["offsets"] = offsets
    return sentences, {name: by_sentence(column, sentences) for name, column in columns.items()}, index


def _laid_out(sentences: Iterable[Iterable[str]]) -> list[str]:
    """The offsets that we write where there are no others, which say nothing."""
    tokens = list(chain.from_iterable(sentences))
    width = {token: len(escape(token)) + 1 for token in set(tokens)}
    starts = accumulate(map(width.__getitem__, tokens), initial=0)
    return [f"{start} {after - 1}" for start, after in pairwise(starts)]


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


def _token_lines(record: Record) -> Iterator[str]:
    layers = columns_of(record)
    sentences = [sentence for sentence in record.sentences or [] if sentence]
    size = sum(map(len, sentences))
    # The number of each token's paragraph, from the comments that CoNLL-U files open paragraphs with
    begins = {at for at, text in stated(record, "comments", int, str) if text.startswith("newpar")}
    number, numbers = 0, list[str]()
    for i, sentence in enumerate(record.sentences or []):
        number += i in begins and bool(numbers)
        numbers += [str(number)] * len(sentence)
    layers.setdefault("paragraph", numbers)
    cells: dict[str, list[str]] = {
        column.key: list(column.cells(layers.get(column.layer) or [""] * size)) for column in _COLUMNS
    }
    heads = heads_of(record)
    governed = heads_as("document_head", [None] * size if heads is None else heads, sentences)
    # Where each token stands: in the text that was analysed, in the file that was read, else in ours
    given = layers.get("offsets")
    if not given or not all(map(_OFFSETS.fullmatch, given)):
        starts, ends = record.extra.get("token_starts"), record.extra.get("token_ends")
        if type(starts) is list and type(ends) is list and len(starts) == len(ends) == size > 0:
            given = [f"{start} {end}" for start, end in zip(starts, ends, strict=True)]
    offsets = given if given and all(map(_OFFSETS.fullmatch, given)) else _laid_out(sentences)
    columns = (*TOKEN_COLUMNS, *(["inQuote"] if "in_quote" in layers else []))
    onsets = [offset.partition(" ") for offset in offsets]
    cells |= {
        "sentence_ID": [str(number) for number, sentence in enumerate(sentences) for _ in sentence],
        "token_ID_within_sentence": [str(i) for sentence in sentences for i in range(len(sentence))],
        "token_ID_within_document": list(map(str, range(size))),
        "word": [escape(token) for sentence in sentences for token in sentence],
        "byte_onset": [onset for onset, _, _ in onsets],
        "byte_offset": [offset for _, _, offset in onsets],
        "syntactic_head_ID": governed,
    }
    yield "\t".join(columns) + "\n"
    for row in zip(*(cells[column] for column in columns), strict=True):
        yield "\t".join(row) + "\n"


class _WrittenMentions:
    """The mentions of one record as BookNLP writes them: ids, types, words."""

    def __init__(self, record: Record, note: Note) -> None:
        self.record = record
        self.tokens = [token for sentence in record.sentences or [] for token in sentence]
        self.ids = base.cluster_ids(record, digits=True)
        self.stated = mention_types(record, _TYPE)
        self._names = {name for name, _ in record.characters}
        self.clusters = base.inside(record.clusters, len(self.tokens), note)
        self.guessed = any(m not in self.stated for cluster in self.clusters for m in cluster)

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


def _quote_lines(mentions: _WrittenMentions) -> Iterator[str]:
    """One row a quotation. What a row cannot say (addressees) stays in our part of the .book file."""
    yield "\t".join(QUOTE_COLUMNS) + "\n"
    listed, size = mentions.record.extra.get("quotations"), len(mentions.tokens)
    by_mentions = {tuple(sorted(c)): i for c, i in zip(mentions.clusters, mentions.ids, strict=True)}
    owners = {name: by_mentions.get(tuple(sorted(spans))) for name, spans in mentions.record.characters}
    speakers = {name: number for name, number in owners.items() if number is not None}
    for item in listed if type(listed) is list else ():
        if type(item) is not dict or not _is_span([item.get("start"), item.get("end")], size):
            continue
        phrase, first, last = "", "None", "None"
        if _is_span(item.get("mention"), size):
            first, last = map(str, item["mention"])
            phrase = mentions.text(Mention(*item["mention"]))
        owner = item.get("cluster") or speakers.get(str(item.get("speaker")), "")
        owner = escape(owner) if type(owner) is str and owner else ""
        quote = mentions.text(Mention(item["start"], item["end"]))
        yield "\t".join((str(item["start"]), str(item["end"]), first, last, phrase, owner, quote)) + "\n"


def _is_span(value: object, size: int) -> bool:
    return type(value) is list and list(map(type, value)) == [int, int] and 0 <= value[0] <= value[1] < size


def _book_line(mentions: _WrittenMentions, comment: dict[str, Any]) -> str:
    """One JSON document: the characters as BookNLP lists them, and what only our reader restores."""
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
            characters.append({**deeds[number], **owner})
    characters.sort(key=lambda item: -item["count"])
    return json.dumps({"characters": characters, _DESCRIPTION: comment}) + "\n"


def _deeds(mentions: _WrittenMentions) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By cluster id what its members do, suffer, are and have, as BookNLP reads it out of spaCy's relations.

    Nothing where the record has no syntax. agent: verb of a subject; patient: verb of an object or passive
    subject; mod: predicate of a subject of "be"; poss: what stands behind a possessor.
    """
    found: dict[str, dict[str, list[dict[str, Any]]]] = {
        number: {"agent": [], "patient": [], "mod": [], "poss": []} for number in mentions.ids
    }
    heads = heads_of(mentions.record)
    columns = columns_of(mentions.record)
    if heads is None or not (relations := columns.get("deprel")):
        return found
    lemmas = columns.get("lemma") or [token.lower() for token in mentions.tokens]
    told = ((head, i) for i, head in enumerate(heads) if relations[i] in ("attr", "acomp"))
    predicates = together((head, i) for head, i in told if head is not None)
    for number, cluster in zip(mentions.ids, mentions.clusters, strict=True):
        for mention in cluster:
            # The token that no other token of the mention governs: the first such, else the last token
            start, end = mention
            inner = range(start, end + 1)
            word = next((i for i in inner if (head := heads[i]) is None or not start <= head <= end), end)
            verb = heads[word]
            if verb is None:
                continue
            slots = {"nsubj": "agent", "dobj": "patient", "nsubjpass": "patient", "poss": "poss"}
            slot, at = slots.get(relations[word]), [verb]
            if slot == "agent" and lemmas[verb] == "be":
                slot, at = "mod", predicates.get(verb, [])
            if slot is not None:
                found[number][slot] += [{"w": mentions.tokens[i], "i": i} for i in at]
    return found
