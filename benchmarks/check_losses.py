"""The ledger, checked: what a format does not give back must be in its report, with its count.

    python -m benchmarks.check_losses [--records 50000] [--seed 1]      random records, hostile in every field
    python -m benchmarks.check_losses --real SHARED/data                LitBank, OntoGUM, BookNLP, PDNC

Each record is written in every format and read back by our own reader (the witness). `losses` compares the
two field by field; `reported` puts the report into the same fields. Where these differ something was lost in
silence, or counted though it was kept. What was read back is written once more in another format, so that
pairs of formats are checked, too. The work is cut into pieces (1,000 random records, a corpus); with
`--log FILE` a run that was stopped goes on after the last piece. Exits with 1 when anything is unreported.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.pieces import Pieces
from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import DataError
from bookcoref_data.formats import FORMATS, ConversionReport, read_documents, write_documents
from bookcoref_data.formats.layers import HEADS, LAYER_WORDS, heads_of, is_layer

TARGETS = {
    "jsonl": "x.jsonl",
    "conll": "x.conll",
    "corefud": "x.conllu",
    "brat": "brat",
    "booknlp": "booknlp",
}
HOSTILE = (
    "\n", " ", "", "\t", "\r\n", "\xa0", "\u2028", "\x85", "\ufeff", "\u200b", "\x00", "\ud800",
    "\x1b", "(", ")", "(1", "1)", "(e1--1-", "|", "_", "-", "*", "#", "=", "{", "\"", "'", ";", ":",
    "&", "&#", "&#10;", "&#;", "&amp;", "%41", "\\n", "\\", "</script>", "<!--", "]]>", "\u202e",
    "\U0001f40e", "é", "日本", "O", "#begin document (x); part 000", "# newdoc", "# bookcoref-data {}",
    "#end document", "T1", "Entity=(e1", "SpaceAfter=No", "0", "1", "False", "None", "a b", "x" * 300,
    " a", "a\n", "-1", "e1", "1.1", "&#38;#", "&#35;", "&#38;", "&#65;",
)  # fmt: skip
WORDS = ("Ann", "she", "her", ".", "left", "the", "door", ",", "Bell", "said")


class Maker:
    """Random records: plain ones and hostile ones in every field, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0

    def text(self, hostile: float = 0.3) -> str:
        r = self.random
        if r.random() > hostile:
            return r.choice(WORDS)
        return r.choice(HOSTILE) if r.random() < 0.9 else "".join(r.choices(HOSTILE, k=2))

    def rarely(self, share: float) -> bool:
        return self.random.random() < share

    def span(self, size: int, outside: float = 0.0) -> Mention:
        r = self.random
        if not size or self.rarely(outside):
            return r.choice(
                (Mention(size, size + 1), Mention(size + 3, size + 3), Mention(-1, 0), Mention(2, 1))
            )
        start = r.randrange(size)
        return Mention(start, min(size - 1, start + r.choice((0, 0, 0, 1, 2, 5))))

    def layer(self, sentences: list[list[str]], values: Sequence[str] | None = None) -> list[list[str]]:
        def value() -> str:
            if self.rarely(0.3):
                return ""
            return self.random.choice(values) if values and not self.rarely(0.1) else self.text()

        made = [[value() for _ in sentence] for sentence in sentences]
        if self.rarely(0.05):
            made = made[:-1] if self.rarely(0.5) else [*made, ["x"]]
        return made

    def record(self) -> Record:
        r, self.number = self.random, self.number + 1
        least = 0 if self.rarely(0.1) else 1
        sentences = [[self.text() for _ in range(r.randint(least, 6))] for _ in range(r.randint(least, 5))]
        size = sum(map(len, sentences))
        outside = 0.2 if self.rarely(0.2) else 0.0
        clusters = [
            sorted(self.span(size, outside) for _ in range(r.randint(0 if self.rarely(0.1) else 1, 5)))
            for _ in range(r.randint(0, 4))
        ]
        if clusters and self.rarely(0.1):
            clusters.append(list(r.choice(clusters)))
        characters = [(self.text(), list(r.choice(clusters))) for _ in range(r.randint(0, 3)) if clusters]
        if self.rarely(0.1):
            characters.append((self.text(), [self.span(size)] * self.rarely(0.7)))
        key = f"{r.choice(('', 'a/', '#', '.', 'x); part ', 'ü', ' ', '-', '%41', chr(10)))}{self.number}"
        return Record(
            key,
            r.choice(("", "", "1342", self.text())),
            sentences,
            clusters,
            characters,
            "",
            self.extra(sentences, size, clusters, characters),
            self.layer(sentences) if self.rarely(0.4) else None,
            {name: self.layer(sentences, VALUES.get(name)) for name in NAMES if self.rarely(0.15)},
        )

    def extra(
        self, sentences: list[list[str]], size: int, clusters: list[list[Mention]], characters: list[Any]
    ) -> dict[str, Any]:
        r = self.random
        mentions = [m for c in clusters for m in c] or [Mention(0, 0)]
        spans = [list(r.choice(mentions) if self.rarely(0.9) else self.span(size)) for _ in range(3)]
        ids = r.choice(
            (("7", "3", "12", "x", "9"), ("a1", "b", "c", "d", "e"), ("e4", "e1", "e2", "e0", "e9"))
        )
        starts = sorted(r.sample(range(9 * size + 9), size))
        quote = {"start": 0, "end": max(size - 1, 0), "mention": spans[0], "cluster": r.choice(ids)}
        people = [name for name, _ in characters] or ["Ann"]
        rich = {"start": 0, "end": 0, "speaker": r.choice(people), "addressees": people[:2]}
        known = {
            "mention_types": [[*s, r.choice(("PROP_PER", "NOM_FAC", "Mention", self.text()))] for s in spans],
            "mention_attributes": [[*s, self.attributes()] for s in spans[: r.randint(1, 3)]],
            "entity_types": [r.choice(("person", "", self.text())) for _ in clusters],
            "cluster_ids": list(ids[: len(clusters)]),
            "quotations": r.choice(
                ([quote], [quote, quote | {"mention": None}], [rich], [quote, rich], [{}])
            ),
            "parts": [["000", len(sentences)]] if self.rarely(0.5) else [["0", 1], ["x", len(sentences) - 1]],
            "part": r.choice(("1", "002", self.text())),
            "document": self.text(),
            "sentence_lengths": list(map(len, sentences)),
            "comments": [[r.randint(0, 3), r.choice(("newpar", "x = 1", "sent_id = 4", self.text()))]],
            "multiword_tokens": [
                [0, min(1, size - 1), self.text(), r.choice(("", "SpaceAfter=No", self.text()))]
            ],
            "token_starts": starts,
            "token_ends": [s + 1 for s in starts],
            "chapters": [{"title": self.text(), "token": 0}],
            "source": {"file": self.text(), "sha256": "0", "unit": "x"},
            "guessed_types": True,
            "note": self.text(),
            "deep": {"a": [1, None, {"b": self.text()}], self.text(): 2.5},
            self.text(): self.text(),
            "text": self.text(),
            "tokens": ["x"],
            "doc_id": self.text(),
            "name": r.choice(({}, [], "", 0, False, None)),
        }
        wrong = (None, [], {}, "x", 3, [[0]], [[0, 0]], [["a", 1, 2]], [None], True)
        return {
            name: r.choice(wrong) if self.rarely(0.1) else value
            for name, value in known.items()
            if self.rarely(0.1)
        }

    def attributes(self) -> dict[str, Any]:
        r = self.random
        names = ("minspan", "infstat", "head", "other", "notes", "references", "Name", self.text())
        values = ("1", "2,3", "new", True, ["a"], [["Wiki Q1", "x"]], self.text(), 4, None)
        return {r.choice(names): r.choice(values) for _ in range(r.randint(0, 3))}


NAMES = (*LAYER_WORDS, "mood", "speakers")
VALUES: dict[str, Sequence[str]] = {
    "head": ("0", "1", "2", "3"),
    "document_head": ("0", "1", "2", "3", "4"),
    "parse": ("(S*", "*", "*)"),
    "arguments": ("*\t(V*)", "(ARG0*)", "*"),
    "offsets": ("0 1", "2 3", " "),
    "paragraph": ("0", "1"),
    "in_quote": ("True", "False"),
    "event": ("EVENT", "O"),
    "misc": ("SpaceAfter=No", "Entity=(e1", "X=Y|Bridge=e1<e2", "_"),
    "named_entities": ("(PERSON*", "*", "*)"),
}

Losses = Counter[str]


def losses(before: Record, after: Record) -> Losses:
    """What of `before` is not in `after`, or otherwise there, by field; a gain counts as a loss."""
    found: Losses = Counter()
    rows = [s for s in before.sentences or [] if s]
    found["empty sentences"] = len(before.sentences or []) - len(after.sentences or [])
    back = [s for s in after.sentences or [] if s]
    if rows != back:
        found["tokens"] = 1
    found["gutenberg_key"] = int(before.gutenberg_key != after.gutenberg_key)
    kept = _matched(before.clusters, after.clusters)
    if kept is None:
        found["order of clusters"] = 1
        kept = list(after.clusters) + [[]] * (len(before.clusters) - len(after.clusters))
    found["mentions"] = sum(map(len, before.clusters)) - sum(map(len, after.clusters))
    found["empty clusters"] = sum(not c for c in before.clusters) - sum(not c for c in after.clusters)
    found["characters"] = _characters(before, after, kept)
    found += _tokenwise("speakers", before.speakers, after.speakers, before, after)
    for name in {*before.layers, *after.layers} - HEADS:
        found += _tokenwise(name, before.layers.get(name), after.layers.get(name), before, after)
    found["head"] = _heads(before, after)
    found += _extra(before, after, kept)
    return +found


def _matched(before: list[list[Mention]], after: list[list[Mention]]) -> list[list[Mention]] | None:
    """For each cluster what came back of it, in order; None where something else came back."""
    left = list(after)
    kept = []
    for cluster in before:
        fits = bool(left) and not Counter(left[0]) - Counter(cluster) and bool(left[0] or not cluster)
        kept.append(left.pop(0) if fits else [])
    return None if left else kept


def _characters(before: Record, after: Record, kept: list[list[Mention]]) -> int:
    """Characters that are not there with the mentions that are left of them."""
    left = Counter((name, tuple(sorted(m))) for name, m in after.characters)
    of = {}
    for cluster, rest in zip(before.clusters, kept, strict=False):
        of.setdefault(tuple(sorted(cluster)), set()).add(tuple(sorted(rest)))
    lost = 0
    for name, mentions in before.characters:
        own = tuple(sorted(mentions))
        expected = [(name, own)] + [(name, rest) for rest in sorted(of.get(own, ()), key=len) if rest]
        hit = next((e for e in expected if left[e] > 0), None)
        if hit is None:
            lost += 1
        else:
            left[hit] -= 1
    return lost + (+left).total()


def _flat(layer: Any, record: Record) -> list[str] | None:
    return [v for row in layer for v in row] if is_layer(layer, record.sentences) else None


def _texts(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_texts, value))
    return int(isinstance(value, str) and value != "")


def _tokenwise(name: str, old: Any, new: Any, before: Record, after: Record) -> Losses:
    if old is None and new is None:
        return Counter()
    was, now = _flat(old, before), _flat(new, after)
    if was is None:
        return Counter({name: _texts(old) + _texts(now or [])})
    now = now if now is not None and len(now) == len(was) else [""] * len(was)
    return Counter({name: sum(a != b for a, b in zip(was, now, strict=True))})


def _heads(before: Record, after: Record) -> int:
    """Heads that are lost, by what they mean: two layers tell of them."""
    layers = {name: layer for name, layer in before.layers.items() if name in HEADS}
    wrong = [name for name, layer in layers.items() if not is_layer(layer, before.sentences)]
    lost = sum(_texts(layers.pop(name)) for name in wrong)
    if not layers and any(name in after.layers for name in HEADS):
        return lost + 1
    now = heads_of(after)
    for name, layer in layers.items():
        own = _flat(layer, before) or []
        if name in after.layers:
            lost += _tokenwise(name, layer, after.layers[name], before, after).total()
            continue
        mean = heads_of(replace(before, layers={name: layer})) or []
        for i, value in enumerate(own):
            kept = now is not None and _canonical(name, value, i, before) and mean[i] == now[i]
            lost += value != "" and not kept
    return lost


def _canonical(name: str, value: str, position: int, record: Record) -> bool:
    """Whether a head is written as our readers write it, so that its meaning is all of it."""
    if not (value.isascii() and value.isdigit() and str(int(value)) == value):
        return False
    if name == "document_head":
        return int(value) < sum(map(len, record.sentences or []))
    for sentence in record.sentences or []:
        if position < len(sentence):
            return int(value) <= len(sentence) and int(value) != position + 1
        position -= len(sentence)
    return False


def _items(value: Any) -> Counter[str]:
    return (
        Counter(json.dumps(item, sort_keys=True) for item in value) if isinstance(value, list) else Counter()
    )


def _extra(before: Record, after: Record, kept: list[list[Mention]]) -> Losses:
    found: Losses = Counter()
    for name in {*before.extra, *after.extra}:
        old, new = before.extra.get(name), after.extra.get(name)
        if json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True) and (name in before.extra) == (
            name in after.extra
        ):
            continue
        by_cluster = (
            name in ("cluster_ids", "entity_types") and isinstance(old, list) and len(old) == len(kept)
        )
        if by_cluster and [v for v, c in zip(old, kept, strict=True) if c] == new:
            continue  # as long as the clusters that are left
        if name in ("mention_types", "mention_attributes") and _items(old) == _items(new) != Counter():
            continue
        if name in ("comments", "parts") and old and found_moved(old, new or [], before, after):
            found["comments"] += len(old) - len(new or [])
            continue
        found["fields"] += 1
    return found


def found_moved(old: Any, new: Any, before: Record, after: Record) -> bool:
    """Whether places that count sentences were moved because sentences without tokens are gone."""
    if not isinstance(old, list) or not isinstance(new, list) or all(before.sentences or []):
        return False
    pairs = all(isinstance(item, list) and len(item) == 2 for item in (*old, *new))
    if not pairs or not all(isinstance(item[1], int if isinstance(item[0], str) else str) for item in old):
        return False
    if all(isinstance(item[0], str) for item in old):
        return [n for n, _ in old] == [n for n, _ in new] and sum(n for _, n in new) == len(
            after.sentences or []
        )
    filled = [i for i, sentence in enumerate(before.sentences or []) if sentence]
    left = [item for item in old if item[0] in filled or item[0] >= len(before.sentences or [])]
    return [text for _, text in left] == [text for _, text in new] and all(
        filled[b] == a for (a, _), (b, _) in zip(left, new, strict=True) if a in filled
    )


FIELD_OF = (
    (r"(gaps in|attributes of mentions|further values)", "fields"),
    (r"(mentions that|mentions outside|mentions of white|mentions for which)", "mentions"),
    (r"(empty sentences)", "empty sentences"),
    (r"comments of", "comments"),
    (r"clusters without a mention", "empty clusters"),
    (r"(characters whose|character names|names of characters)", "characters"),
    (r"Gutenberg keys", "gutenberg_key"),
    (r"speakers of tokens", "speakers"),
    (r"(fields|part boundaries|other fields|quotations|keys, names)", "fields"),
    (r"documents without tokens", "documents"),
    *((f"{re.escape(words)}$", name) for name, words in LAYER_WORDS.items() if name != "document_head"),
    (r"(\w+) of tokens$", "*"),
)


def reported(report: ConversionReport) -> Losses:
    """What a report says, by the fields of `losses`."""
    found: Losses = Counter()
    for item in report.not_kept:
        for pattern, field in FIELD_OF:
            if match := re.match(pattern, item.what):
                found[match[1] if field == "*" else field] += item.count
                break
        else:
            found[item.what] += item.count
    return found


class Refused(Exception):
    """A writer said why it does not write a record, before anything was written."""


def through(
    records: Sequence[Record], format: str, folder: Path, report: ConversionReport
) -> dict[str, Record]:
    """The records by key as they come back from a format."""
    target = folder / TARGETS[format]
    shutil.rmtree(target, ignore_errors=True)
    target.unlink(missing_ok=True)
    try:
        write_documents(records, target, format, report=report)
    except DataError as error:
        raise Refused from error
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return {}
    return {record.doc_key: record for record in read_documents(target, format)}


def check(record: Record, format: str, folder: Path) -> tuple[dict[str, tuple[int, int]], Record | None]:
    """{field: (lost, reported)} where the two differ, and the record as it came back."""
    report = ConversionReport()
    try:
        back = through([record], format, folder, report)
    except Refused:
        return {}, None  # refused with a reason, before anything was written
    except Exception as error:
        return {f"{type(error).__name__}: {str(error)[:60]}": (1, 0)}, None
    after = back.get(record.doc_key)
    told = reported(report)
    if after is None:
        return ({} if told["documents"] else {"documents": (1, 0)}), None
    lost = losses(record, after)
    return {
        field: (lost[field], told[field]) for field in {*lost, *told} if lost[field] != told[field]
    }, after


def check_many(records: Iterable[Record], folder: Path, seed: int) -> tuple[int, Counter[str], list[str]]:
    """(records, unreported by format and field, examples) of records through every format and pairs."""
    choice = random.Random(seed)
    faults: Counter[str] = Counter()
    examples: list[str] = []
    count = 0
    for record in records:
        count += 1
        for first in FORMATS:
            source: Record | None = record
            for format in (first, choice.choice(FORMATS)):
                if source is None:
                    break
                wrong, back = check(source, format, folder)
                for field, (lost, told) in wrong.items():
                    fault = f"{format}: {field}: {'unreported' if lost > told else 'overstated'}"
                    faults[fault] += 1
                    if faults[fault] <= 2:
                        examples.append(
                            f"{fault}: lost {lost}, told {told}\n  {vars_of(source)}\n  {vars_of(back)}"
                        )
                source = back
    return count, faults, examples


def vars_of(record: Record | None) -> str:
    """All fields of a record, cut where they are long."""
    named = {} if record is None else {f.name: getattr(record, f.name) for f in fields(record)}
    return ", ".join(f"{name}={value!r:.600}" for name, value in named.items())


def corpora(data: Path) -> dict[str, Iterable[Record]]:
    """LitBank (brat and CoNLL, with quotations), OntoGUM, BookNLP's output, the novels of PDNC."""
    from bookcoref_data.formats.corpora import read_corpus
    from bookcoref_data.workflows.import_corpus import tokenise

    def corpus(kind: str) -> Iterator[Record]:
        return (found.record for found in read_corpus(kind, data / kind, ConversionReport(), tokenise))

    def files(pattern: str) -> Iterator[Record]:
        return (record for file in sorted(data.glob(pattern)) for record in read_documents(file))

    return {
        **{kind: corpus(kind) for kind in ("litbank", "booknlp", "pdnc")},
        "litbank as CoNLL": files("litbank/coref/conll/*"),
        "ontogum": files("ontogum/dev/*.conll.gz"),
    }


def drawn(records: int, seed: int) -> dict[str, Iterable[Record]]:
    """Random records in pieces of 1,000, each with a seed of its own."""

    def piece(number: int, count: int) -> Iterator[Record]:
        maker = Maker(number)
        return (maker.record() for _ in range(count))

    starts = range(0, records, 1000)
    return {
        f"{min(1000, records - start)} random records, seed {seed + start // 1000}": piece(
            seed + start // 1000, min(1000, records - start)
        )
        for start in starts
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=Path, help="folder of litbank, ontogum, booknlp, pdnc")
    parser.add_argument("--corpus", action="append", help="only this one of them; repeatable")
    parser.add_argument("--first", type=int, help="only so many records of each corpus")
    parser.add_argument("--log", type=Path, help="a row for each piece that is done")
    options = parser.parse_args()
    work = corpora(options.real) if options.real else drawn(options.records, options.seed)
    work = {name: work[name] for name in options.corpus or work}
    if options.first:
        work = {f"{name}, first {options.first}": islice(some, options.first) for name, some in work.items()}
    pieces = Pieces(options.log)
    scratch = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        for name in pieces.left(work):
            count, faults, examples = check_many(work[name], Path(folder), options.seed)
            print(*examples, sep="\n", end="\n" if examples else "")
            told = "; ".join(f"{times:,} {fault}" for fault, times in faults.most_common())
            pieces.add(name, count, faults.total(), told)
    count, wrong = pieces.total(work)
    print(f"{count:,} records, {wrong:,} fields unreported or overstated")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
