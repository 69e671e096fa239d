"""LitBank as the pipeline sees it: people with a name are the cast, their clusters the key.

LitBank (Bamman, Lewke and Mansoor 2020, CC BY 4.0) annotates about 2,000 tokens of each of 100 novels.
The protocol, which the figures in docs/results.md use:

* a mention is a person if LitBank's entity layer calls its span PER;
* a character is a cluster of at least two mentions of which one is a proper name; all its mentions count,
  pronouns and noun phrases too;
* its name is the longest among its most frequent names (longest of those at least half as frequent as
  the most frequent one, by tokens, then characters, then order of appearance);
* ten documents are test and ten development, drawn by `lessons.parts_of`; settings are chosen
  on the development part, and the test part is only scored.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bookcoref_data.annotation.cast import Cast, make_cast
from bookcoref_data.annotation.hub.lessons import cluster_name, parts_of
from bookcoref_data.annotation.steps import Job
from bookcoref_data.books import Book, Mention


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A quotation of LitBank: its tokens (both inclusive), the character who speaks (-1 for others) and
    the coreference cluster of the speaker ("" when it was not found)."""

    start: int
    end: int
    speaker: int
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One LitBank document: the job the pipeline gets, the key, and the quotations.

    `key[i]` are the mentions of `job.cast.entries[i]`; `kinds` gives PROP, NOM or PRON per mention, also
    of people who are no characters, whose mentions are in `others` (cluster id by mention).
    """

    job: Job
    key: tuple[tuple[Mention, ...], ...]
    kinds: dict[Mention, str]
    others: dict[Mention, str]
    quotes: tuple[SpokenLine, ...]


def parts(root: Path) -> dict[str, list[str]]:
    """Document names by part ("train", "dev", "test"), each sorted."""
    return parts_of([p.stem for p in (root / "coref" / "conll").glob("*.conll")])


def read_excerpt(root: Path, name: str) -> Excerpt | None:
    """One document, or None when it has no character."""
    sentences, coreference = _read_conll(root / "coref" / "conll" / f"{name}.conll")
    tokens = [t for s in sentences for t in s]
    people = _read_entities(root / "coref" / "brat" / name, tokens)
    clusters: dict[str, list[Mention]] = {}
    others: dict[Mention, str] = {}
    for mention, cluster in coreference:
        if mention in people:
            clusters.setdefault(cluster, []).append(mention)
    named: list[tuple[str, list[Mention]]] = []
    ids: dict[str, int] = {}
    taken: Counter[str] = Counter()
    for cluster, mentions in clusters.items():
        if len(mentions) < 2 or not any(people[m] == "PROP" for m in mentions):
            others.update(dict.fromkeys(mentions, cluster))
            continue
        title = cluster_name([tokens[m.start : m.end + 1] for m in mentions if people[m] == "PROP"])
        taken[title.casefold()] += 1
        # Two people of one name stay two characters: the cast would merge equal names.
        title += f" ({taken[title.casefold()]})" if taken[title.casefold()] > 1 else ""
        ids[cluster] = len(named)
        named.append((title, mentions))
    if not named:
        return None
    by_mention = {m: i for i, (_, ms) in enumerate(named) for m in ms}
    book = Book.make(name, sentences)
    cast: Cast = make_cast(title for title, _ in named)
    quotes = _read_quotes(root / "quotations" / "tsv" / f"{name}.ann", sentences, by_mention, coreference)
    return Excerpt(Job(book, cast), tuple(tuple(sorted(ms)) for _, ms in named), people, others, quotes)


def _read_conll(path: Path) -> tuple[list[list[str]], list[tuple[Mention, str]]]:
    sentences: list[list[str]] = [[]]
    open_at: dict[str, list[int]] = {}
    found: list[tuple[Mention, str]] = []
    at = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if line.startswith("#") or len(cells) < 13:
            if sentences[-1] and not line.startswith("#"):
                sentences.append([])
            continue
        sentences[-1].append(cells[3])
        for mark in cells[12].split("|"):
            if not (digits := re.search(r"\d+", mark)):
                continue
            if mark.startswith("("):
                open_at.setdefault(digits[0], []).append(at)
            if mark.endswith(")"):
                found.append((Mention(open_at[digits[0]].pop(), at), digits[0]))
        at += 1
    return [s for s in sentences if s], found


def _read_entities(stem: Path, tokens: list[str]) -> dict[Mention, str]:
    """PROP, NOM or PRON for every span that is a person."""
    text = stem.with_name(stem.name + ".txt").read_text(encoding="utf-8")
    starts, ends, at = {}, {}, 0
    for i, token in enumerate(tokens):
        at = text.index(token, at)
        starts[at] = i
        at += len(token)
        ends[at] = i
    people = {}
    for line in stem.with_name(stem.name + ".ann").read_text(encoding="utf-8").splitlines():
        if not line.startswith("T"):
            continue
        kind, a, b = line.split("\t")[1].split()
        if kind.endswith("_PER") and int(a) in starts and int(b) in ends:
            people[Mention(starts[int(a)], ends[int(b)])] = kind.split("_")[0]
    return people


_FIRST = {"i", "me", "my", "mine", "myself"}


def _read_quotes(path, sentences, by_mention, coreference) -> tuple[SpokenLine, ...]:
    """Quotations with their speakers as characters.

    A speaker's id ("Mrs_Bennet-7") is a name and a number that is not that of the coreference layer. Its
    cluster is found by the name (three votes) and by the "I" and "my" that the speaker says (one each).
    """
    tokens = [t for s in sentences for t in s]
    spans, labels = _read_attributions(path, sentences)
    votes = _cluster_votes(tokens, spans, labels, coreference)
    best = {label: count.most_common(1)[0][0] if count else "" for label, count in votes.items()}
    character = {cluster: by_mention[m] for m, cluster in coreference if m in by_mention}
    speakers = {q: best.get(labels.get(q, ""), "") for q in spans}
    return tuple(
        SpokenLine(a, b, character.get(speakers[q], -1), speakers[q])
        for q, (a, b) in sorted(spans.items(), key=lambda item: item[1])
    )


def _read_attributions(
    path: Path, sentences: list[list[str]]
) -> tuple[dict[str, tuple[int, int]], dict[str, str]]:
    """First and last token of every quotation by its id, and the id of its speaker."""
    offsets = [0]
    for sentence in sentences:
        offsets.append(offsets[-1] + len(sentence))
    spans, labels = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if cells[0] == "QUOTE":
            s0, t0, s1, t1 = map(int, cells[2:6])
            spans[cells[1]] = (offsets[s0] + t0, offsets[s1] + t1)
        elif cells[0] == "ATTRIB":
            labels[cells[1]] = cells[2]
    return spans, labels


def _cluster_votes(
    tokens: list[str],
    spans: dict[str, tuple[int, int]],
    labels: dict[str, str],
    coreference: list[tuple[Mention, str]],
) -> dict[str, Counter[str]]:
    """What speaks for each cluster to be the speaker with an id: name, and "I" in the quotations."""
    cluster_of = dict(coreference)
    single = {m.start: m for m in cluster_of if m.start == m.end and tokens[m.start].lower() in _FIRST}
    votes: dict[str, Counter[str]] = {label: Counter() for label in labels.values()}
    for label, count in votes.items():
        name = label.rpartition("-")[0].replace("_", " ").casefold()
        for m, cluster in coreference:
            if " ".join(tokens[m.start : m.end + 1]).casefold() == name:
                count[cluster] = 3
    for quote, (a, b) in spans.items():
        for i in (i for i in range(a, b + 1) if i in single):
            votes[labels[quote]][cluster_of[single[i]]] += 1
    return votes
