"""Answers as corrections: what a person said of a question, what was said before, and how far two agree."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..books.layout import Layout
from ..edits import UNSURE, Edit, anchor_of
from ..scoring.scores import cohens_kappa
from ..shapes import plain
from ..words import pronouns
from .questions import OFFERS_NO_PEOPLE, OUTSIDER, OUTSIDERS, Key, ReviewQuestion, pair_key, signs

_BEFORE, _AFTER = 90, 45
"""Tokens that are shown before and behind a place."""
_USUAL = 2.0
"""Answers that must speak against the usual share of wrong ones before they count as much as it."""
NOBODY, YES, NO = "nobody of the cast", "one person", "two people"


@dataclass(frozen=True, slots=True)
class Answer:
    """One way to answer a question: the key that chooses it, how it reads, the corrections it makes."""

    key: str
    says: str
    edits: tuple[Edit, ...]


def answers_to(question: ReviewQuestion, tokens: Sequence[str], doc_key: str) -> list[Answer]:
    """The answers that a question offers; "somebody else" is left to `answer_with`, which needs a name."""
    at = anchor_of(tokens, question.start, question.end)
    unsure = Edit("seen", at=at, doc_key=doc_key, name=UNSURE)
    if question.kind == "words":
        (whole, rest), group = question.people, f"q{question.start}"
        spans = (
            Edit("seen", at=at, doc_key=doc_key, name=rest, group=group),
            *_links(question.places, question.now, None, tokens, doc_key, group),
        ) if question.stress else tuple(
            Edit("span", at=anchor_of(tokens, *span), was=question.now, doc_key=doc_key,
                 to=anchor_of(tokens, span[0] + 1, span[1]), group=group)
            for span in question.places
        )  # fmt: skip
        kept = Edit("seen", at=at, doc_key=doc_key, name=whole)
        says = (f"{whole}, as a mention of its own", f"only {rest}") if question.stress else (whole, rest)
        return [Answer("1", says[0], (kept,)), Answer("2", says[1], spans), Answer("c", UNSURE, (unsure,))]
    if question.kind == "same person":
        one, other = question.people
        merge = Edit("merge", character=one, into=other, doc_key=doc_key)
        seen = Edit("seen", character=one, into=other, doc_key=doc_key)
        others = (("2", NO), ("c", UNSURE))
        return [Answer("1", YES, (merge,)), *(Answer(k, s, (replace(seen, name=s),)) for k, s in others)]
    keys = [*((str(n), name) for n, name in enumerate(question.people, 1)), ("n", None)]
    found = [Answer(k, name or NOBODY, answer_with(question, name, tokens, doc_key)) for k, name in keys]
    return [*found, Answer("c", UNSURE, (unsure,))]


def answer_with(
    question: ReviewQuestion, name: str | None, tokens: Sequence[str], doc_key: str
) -> tuple[Edit, ...]:
    """The corrections that say that `name` speaks or is meant; None: nobody of the cast."""
    places = question.places or ((question.start, question.end),)
    several = len(places) > 1 or (question.kind == "speaker" and bool(question.places))
    group = f"q{question.start}" if several else ""
    if question.kind == "speaker":
        at = anchor_of(tokens, question.start, question.end)
        said = Edit("speaker", at=at, was=question.now, speaker=name, doc_key=doc_key, group=group)
        made = (said, *_links(question.places, question.now, name, tokens, doc_key, group))
    else:
        made = _links(places, question.now, name, tokens, doc_key, group)
    if name is None:  # who was listed is told once: somebody who is added later may be meant after all
        made = (replace(made[0], extra=made[0].extra | {"cast": list(question.cast)}), *made[1:])
    return made


def _links(
    places: Iterable[tuple[int, int]], was: str | None, name: str | None, tokens: Sequence[str],
    doc_key: str, group: str,
) -> tuple[Edit, ...]:  # fmt: skip
    """The corrections that give mentions to somebody or to nobody (`why`: nobody of the cast has them)."""
    op, why = "unlink" if name is None else "link", {} if name or was else {"why": NOBODY}
    one = Edit(op, was=was, character=name or "", doc_key=doc_key, group=group, extra=why)
    return tuple(replace(one, at=anchor_of(tokens, *span)) for span in places)


_EVERY = ["words", "quote", "mention"]
_KIND = {"link": "mention", "unlink": "mention", "speaker": "quote", "span": "words"}


def settled(edits: Iterable[Edit]) -> dict[Key, Hashable]:
    """What corrections decide already, and how: {the key of a question: the answer}."""
    found: dict[Key, Hashable] = {}
    for e in edits:
        if e.at is None:
            if e.into:
                found[pair_key(e.character, e.into)] = YES if e.op == "merge" else e.name
            continue
        place, kinds = (e.at.start, e.at.end), [_KIND[e.op]] if e.op in _KIND else []
        if e.op == "seen":  # of `audit`, of a question about words, or of any question about this place
            kinds = _EVERY if e.name == UNSURE else ["mention" if "why" in e.extra else "words"]
        said = {"link": e.character, "speaker": e.speaker or NOBODY, "seen": e.name}.get(e.op, NOBODY)
        for kind in kinds:
            key = (kind, e.at.words) if kind == "words" else (kind, *place)
            found[key] = e.to.words if e.to else said
    return found


def taught(edits: Iterable[Edit]) -> dict[Key, float]:
    """What answers teach about the questions that are left: {sign: how many times as often as usual somebody
    was wrong}; see `signs`."""
    asked, wrong, outsiders = Counter[Key](), Counter[Key](), defaultdict[object, list[bool]](list)
    for e in edits:
        if e.at is None or e.op not in ("link", "unlink", "speaker"):
            continue
        what, now = ("quote", e.speaker) if e.op == "speaker" else ("mention", e.character or None)
        for sign in ((what,), *signs(what, e.was, e.at.words)) if e.was is not None else ():
            asked[sign] += 1
            wrong[sign] += now != e.was
        last = e.at.words.rpartition(" ")[2]
        if e.was is None and what == "mention" and last.istitle() and last.lower() not in pronouns.PERSONAL:
            outsiders[e.group or e.at.start].append(now is not None)
    usual: dict[Key, float] = {s: (wrong[s] + 1) / (n + 2) for s, n in asked.items()}
    found = {s: (wrong[s] + _USUAL) / (usual[s[:1]] * n + _USUAL) for s, n in asked.items() if len(s) > 1}
    expected = sum(OUTSIDER[len(told) > 1] for told in outsiders.values())
    return found | {OUTSIDERS: (sum(told[0] for told in outsiders.values()) + 1) / (expected + 1)}


def passage(layout: Layout, tokens: Sequence[str], start: int, end: int, since: int = -1) -> dict[str, Any]:
    """A place with the text before and behind it, from token `since` on where that is farther away."""
    first = max(0, start - _BEFORE if since < 0 else min(start - _BEFORE, since))
    last = min(len(tokens) - 1, end + _AFTER)
    return {
        "start": start, "end": end, "before": layout.text[layout.starts[first] : layout.starts[start]],
        "words": layout.slice(start, end), "after": layout.text[layout.ends[end] : layout.ends[last]],
    }  # fmt: skip


def as_dict(question: ReviewQuestion, layout: Layout, tokens: Sequence[str], doc_key: str) -> dict[str, Any]:
    """A question with its passage and all that may be answered; `typed` are the corrections for a name that
    takes the place of "?"."""
    typed = () if question.kind in OFFERS_NO_PEOPLE else answer_with(question, "?", tokens, doc_key)
    offered = answers_to(question, tokens, doc_key)
    return {
        "kind": question.kind, **passage(layout, tokens, question.start, question.end, question.since),
        "now": {"words": offered[0].says, "same person": NO}.get(question.kind, question.now),
        "people": list(question.people), "wrong": round(question.chance, 3),
        "hangs": round(question.hangs, 1),
        "places": 1 if question.kind in ("speaker", "same person") else len(question.places),
        "answers": plain(offered), "typed": plain(typed),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReviewAgreement:
    """How far two people agree where both answered; `kappa` is Cohen's (1960), None where it has no value.

    `differ` are the keys of the questions that they answer differently.
    """

    both: int
    same: int
    kappa: float | None
    differ: tuple[Key, ...]


def agreement(one: Iterable[Edit], other: Iterable[Edit]) -> ReviewAgreement:
    """Compare the answers of two people; what either cannot tell does not count."""
    mine, theirs = settled(one), settled(other)
    both = [k for k in mine if k in theirs and UNSURE not in (mine[k], theirs[k])]
    same = sum(mine[k] == theirs[k] for k in both)
    kappa = cohens_kappa(Counter((mine[k], theirs[k]) for k in both))
    return ReviewAgreement(len(both), same, kappa, tuple(k for k in both if mine[k] != theirs[k]))
