"""Carry an annotation from one text to another edition of it, and say what became of every mention.

The result is *remapped*: the tokens are those of the new edition, the offsets moved. It is never called
exact; that word is kept for `Pack.apply`, which gives back the released tokens, verified by checksum.

    kept      the same tokens (folded: case, accents, quotes, dashes, spelling), one after the other
    moved     kept, in a passage that stands elsewhere in the new text
    changed   at least one end is there and the other is there or was replaced by one word; carried over
    lost      no end is there, or one end has no counterpart; dropped
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

import numpy as np

from ..books import Book, Mention
from ..books.book import text_of
from ..errors import DataError, EditionError, plural
from ..shapes import AsFields, attributes
from .alignment import TokenAlignment, align_tokens, span_of_matches
from .fingerprint import EXACT, Fingerprint, codes_for
from .spans import Standoff

Sentences = Sequence[Sequence[str]]
LEAST_MATCHED = 0.75
"""Below this share of tokens found, the text is refused: another book, a part of it, a translation."""
MOST_EXTRA = 0.25
"""Above this share of foreign tokens inside the book, the text is reported as holding something else."""
MOST_LEFT_OUT = 0.02
"""From this share of the release in passages that are not there, the text is reported as incomplete."""
MOST_EDITED = 0.05
"""From this share of tokens changed one by one, the text is reported as edited. None of the 14 editions of
benchmarks/bench_pack.py --drift reaches it."""
STATUSES = ("kept", "moved", "changed", "lost")
KEPT, MOVED, CHANGED, LOST = range(4)
_EXAMPLES = 5
_LEAST_STRETCH = 60
_PASSAGE = 12  # a short sentence


@dataclass(frozen=True, slots=True)
class RemappedMention(AsFields):
    """One mention: where it was, where it is (None when lost), and its words where they are known."""

    character: str
    status: str
    old: Mention
    new: Mention | None
    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class RemapCounts:
    """How many mentions of one character (or cluster, or all) met which end."""

    name: str
    kept: int = 0
    moved: int = 0
    changed: int = 0
    lost: int = 0

    @property
    def total(self) -> int:
        return self.kept + self.moved + self.changed + self.lost

    @property
    def kept_share(self) -> float:
        """Share of mentions with the same words, in place or moved."""
        return (self.kept + self.moved) / self.total if self.total else 1.0

    def to_dict(self) -> dict[str, Any]:
        told = {"name": self.name, "mentions": self.total} | attributes(self, "kept moved changed lost")
        return told | {"kept_share": round(self.kept_share, 5)}


@dataclass(frozen=True)
class RemapReport:
    """What became of an annotation. `missing` and `extra` are stretches [start, end) of old and new tokens
    without counterpart; `warnings` are sentences for the person."""

    doc_key: str
    total: RemapCounts
    characters: tuple[RemapCounts, ...]
    tokens_matched: float
    old_tokens: int
    new_tokens: int
    extra_share: float
    shifted: int
    merged: int
    missing: tuple[tuple[int, int], ...]
    extra: tuple[tuple[int, int], ...]
    examples: tuple[RemappedMention, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        names = "total tokens_matched old_tokens new_tokens extra_share shifted merged missing extra"
        told: dict[str, Any] = {"doc_key": self.doc_key, "result": "remapped"}
        told |= attributes(self, f"{names} characters examples warnings")
        return told | {name: round(told[name], 5) for name in ("tokens_matched", "extra_share")}

    def require(self, min_kept: float) -> None:
        """Raises EditionError when a smaller share of the mentions was kept (or moved whole)."""
        if self.total.kept_share < min_kept:
            what = f"{self.doc_key}: too few mentions survive in this edition"
            found = f"{self.total.kept_share:.2%} of {self.total.total:,}"
            hint = "use an edition nearer to the released one, or lower --least-kept"
            raise EditionError(what, expected=f"at least {min_kept:.2%} kept", found=found, hint=hint)


@dataclass(frozen=True, slots=True)
class Remapped:
    """An annotated book in the tokens of another edition, and the report.

    `start` is the token of the given text at which the book begins (what lies before is front matter).
    """

    book: Book
    report: RemapReport
    start: int


@dataclass(frozen=True, slots=True)
class OldText:
    """What is known of the annotated text: its tokens, or only their fingerprint."""

    doc_key: str
    gutenberg_key: str
    annotation: Standoff
    tokens: Sequence[str] | None = None
    fingerprint: Fingerprint | None = None

    def codes(self, new_tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """(codes of the old tokens, codes of the new ones).

        Raises DataError: neither tokens nor a fingerprint.
        """
        if self.tokens is not None:
            return codes_for(self.tokens, EXACT), codes_for(new_tokens, EXACT)
        if self.fingerprint is None:
            what = f"{self.doc_key}: the pack has no fingerprint, so it fits one edition only"
            raise DataError(what, hint="give the edition it names, or make the pack with a fingerprint")
        return self.fingerprint.codes, codes_for(new_tokens, self.fingerprint.bits)


def remap(old: OldText, sentences: Sentences, *, least_matched: float = LEAST_MATCHED) -> Remapped:
    """Carry `old.annotation` to the new text given as sentences of tokens.

    What lies outside the book (header, footer, licence, another work) is cut off at sentence ends.

    Raises EditionError: too little of the old text is in the new one: another book, half a book, a
    translation; the message says which part was found.
    """
    tokens = list(chain.from_iterable(sentences))
    codes, new_codes = old.codes(tokens)
    alignment = align_tokens(codes, new_codes)
    if alignment.matched_share < least_matched:
        raise _refusal(old, alignment, len(tokens), least_matched)
    ends = list(accumulate(map(len, sentences)))
    # Numbers of the first and last sentence that the span touches
    span = span_of_matches(alignment.partner, len(tokens))
    first = int(np.searchsorted(ends, span[0], side="right"))
    last = int(np.searchsorted(ends, max(span[1] - 1, span[0]), side="right"))
    last = min(last, len(ends) - 1)
    start, stop = (0, *ends)[first], ends[last]
    # All mentions of all groups: clusters first, then characters whose mentions are no cluster
    had, links = old.annotation.groups()
    names = [f"cluster {i}" for i in range(len(had))]
    for (name, _), link in zip(old.annotation.characters, links, strict=True):
        names[link] = name
    numbers = chain.from_iterable(chain.from_iterable(had))
    spans = np.fromiter(numbers, dtype=np.int64).reshape(-1, 2)
    owners = np.repeat(np.arange(len(had)), list(map(len, had)))
    status, starts, ends_ = fate = _fate(spans, alignment, tokens, start, stop)
    # Some mentions fall together; groups that are emptied are left out.
    groups: list[list[Mention]] = [[] for _ in had]
    merged = 0
    seen: set[tuple[int, int, int]] = set()
    for i in np.flatnonzero(status != LOST).tolist():
        owner, a, b = int(owners[i]), int(starts[i]) - start, int(ends_[i]) - start
        if (owner, a, b) in seen:
            merged += 1
            continue
        seen.add((owner, a, b))
        groups[owner].append(Mention(a, b))
    clusters = [g for g in groups[: len(old.annotation.clusters)] if g]
    characters = [
        (name, groups[link])
        for (name, _), link in zip(old.annotation.characters, links, strict=True)
        if groups[link]
    ]
    book = Book.make(
        old.doc_key, sentences[first : last + 1], gutenberg_key=old.gutenberg_key,
        clusters=clusters, characters=characters,
    )  # fmt: skip
    owned = (names, owners, spans)
    return Remapped(book, _report(old, owned, fate, alignment, tokens, (start, stop), merged), start)


def _fate(
    spans: np.ndarray, alignment: TokenAlignment, tokens: Sequence[str], start: int, stop: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per mention: status, and new start and end (-1 when lost)."""
    size = len(alignment.partner)
    starts, ends = spans.T
    if starts.size and (ends.max() >= size or starts.min() < 0):
        raise DataError("a mention lies outside the annotated text", expected=f"below {size}")
    before, after = alignment.significant_old, alignment.significant_new
    # The first and the last token of every mention that counts
    first, last = np.full(len(starts), size), np.full(len(starts), -1)
    where = np.flatnonzero(np.diff(before))
    if where.size:
        first = where[np.minimum(before[starts], where.size - 1)]
        last = where[np.maximum(before[ends + 1] - 1, 0)]
    count_old = before[ends + 1] - before[starts]
    known = (count_old > 0) & (first < size) & (last >= 0)
    first, last = np.where(known, first, 0), np.where(known, last, 0)
    best = np.where(alignment.partner >= 0, alignment.partner, alignment.stand_in)
    new_first, new_last = best[first], best[last]
    # A word that stands in the place of another says where the mention ended, not that it is still there:
    # `his` -> `the parish` would count as carried. So one end must be the very same word.
    true_end = (alignment.partner[first] >= 0) | (alignment.partner[last] >= 0)
    there = known & true_end & (new_first >= start) & (new_last >= new_first) & (new_last < stop)
    new_first, new_last = np.where(there, new_first, 0), np.where(there, new_last, 0)
    count_new = after[new_last + 1] - after[new_first]
    # Ends that drifted apart by more than the mention itself belong to two places of the text.
    there &= count_new <= 2 * count_old + 2
    matched = np.concatenate(([0], np.cumsum(alignment.partner >= 0)))
    same = there & (count_new == count_old) & (matched[ends + 1] - matched[starts] == count_old)
    status = np.where(same, np.where(alignment.moved[first], MOVED, KEPT), np.where(there, CHANGED, LOST))

    # Take marks that the alignment ignores along at either end: as many as the old mention had there
    def is_mark(at: int) -> bool:
        return start <= at < stop and after[at + 1] == after[at] and not tokens[at].isspace()

    for i in np.flatnonzero(starts < first).tolist():
        for _ in range(int(first[i] - starts[i])):
            if is_mark(int(new_first[i]) - 1):
                new_first[i] -= 1
    for i in np.flatnonzero(ends > last).tolist():
        for _ in range(int(ends[i] - last[i])):
            if is_mark(int(new_last[i]) + 1):
                new_last[i] += 1
    return status, np.where(there, new_first, -1), np.where(there, new_last, -1)


def _report(
    old: OldText, owned: tuple[Sequence[str], np.ndarray, np.ndarray],
    fate: tuple[np.ndarray, np.ndarray, np.ndarray], alignment: TokenAlignment, tokens: Sequence[str],
    region: tuple[int, int], merged: int,
) -> RemapReport:  # fmt: skip
    """What became of the mentions `owned` (names of groups, group and old span of each mention)."""
    (names, owners, spans), (statuses, starts, ends) = owned, fate
    counts = np.zeros((len(names), len(STATUSES)), dtype=np.int64)
    np.add.at(counts, (owners, statuses), 1)
    tallies = tuple(RemapCounts(name, *row) for name, row in zip(names, counts.tolist(), strict=True))
    inside = slice(*region)
    taken = np.zeros(len(tokens), dtype=bool)
    taken[alignment.partner[alignment.partner >= 0]] = True
    counts_new = np.diff(alignment.significant_new) > 0
    foreign = counts_new[inside] & ~taken[inside]
    extra_share = float(foreign.sum()) / max(int(counts_new[inside].sum()), 1)
    missing = _stretches((alignment.partner < 0) & (np.diff(alignment.significant_old) > 0),
                         np.diff(alignment.significant_old) == 0)  # fmt: skip
    extra = _stretches(foreign, ~counts_new[inside])
    examples = []
    for status in (LOST, CHANGED, MOVED):
        hits = np.flatnonzero(statuses == status)
        # Spread over the book, not the first few of one bad chapter.
        for i in hits[np.linspace(0, hits.size - 1, min(hits.size, _EXAMPLES)).astype(int)].tolist():
            was = Mention(*spans[i].tolist())
            now = None if status == LOST else Mention(int(starts[i]), int(ends[i]))
            examples.append(RemappedMention(
                names[owners[i]], STATUSES[status], was,
                Mention(now.start - region[0], now.end - region[0]) if now else None,
                text_of(old.tokens, *was) if old.tokens is not None else "",
                text_of(tokens, *now) if now else "",
            ))  # fmt: skip
    return RemapReport(
        doc_key=old.doc_key, total=RemapCounts("all", *counts.sum(axis=0).tolist()), characters=tallies,
        tokens_matched=alignment.matched_share, old_tokens=len(alignment.partner),
        new_tokens=region[1] - region[0], extra_share=extra_share,
        shifted=int(((statuses != LOST) & (starts - region[0] != spans[:, 0])).sum()),
        merged=merged, missing=missing, extra=extra, examples=tuple(examples),
        warnings=tuple(_warnings(missing, extra, extra_share, alignment)),
    )  # fmt: skip


def _stretches(mask: np.ndarray, neutral: np.ndarray) -> tuple[tuple[int, int], ...]:
    """[start, end) of long stretches where `mask` holds, tokens that do not count not breaking them."""
    where, solid = np.flatnonzero(mask), np.cumsum(~(mask | neutral))
    runs = np.split(where, np.flatnonzero(np.diff(solid[where])) + 1)
    return tuple((int(run[0]), int(run[-1]) + 1) for run in runs if run.size >= _LEAST_STRETCH)


def _warnings(
    missing: Sequence[tuple[int, int]], extra: Sequence[tuple[int, int]], extra_share: float,
    alignment: TokenAlignment,
) -> Iterator[str]:  # fmt: skip
    size = len(alignment.partner)
    reported = 0
    for a, b in missing:
        if (b - a) / max(size, 1) >= 0.02:
            reported += b - a
            yield (
                f"tokens {a:,} to {b:,} of the release ({(b - a) / size:.0%}) are not in this text: "
                "it is not the whole book"
            )
    left_out, edited, passages = _gaps(alignment)
    if left_out - reported / max(size, 1) >= MOST_LEFT_OUT:
        yield (
            f"{left_out:.0%} of the release ({plural(passages, 'passage')}) is not in this text: "
            "it is an abridged edition, or paragraphs are missing"
        )
    if edited >= MOST_EDITED:
        yield f"{edited:.0%} of the tokens of the release differ one by one: the text was edited"
    if extra_share > MOST_EXTRA:
        yield (
            f"{extra_share:.0%} of the tokens between the book's first and last are not in the release: "
            "the file holds another work too, or a very different edition"
        )
    elif sum(b - a for a, b in extra) > 0.02 * size:
        longest = max(b - a for a, b in extra)
        more = plural(len(extra), "passage")
        yield f"not in the release: {more} of this text, the longest of {longest:,} tokens"


def _gaps(alignment: TokenAlignment) -> tuple[float, float, int]:
    """Tell passages that were left out from words that were changed: the shares of both among the tokens that
    count, and the number of passages.

    A run of unmatched old tokens of at least `_PASSAGE` tokens with at most half as many new ones in its
    place was left out; all other unmatched tokens were edited.
    """
    old_at = np.flatnonzero(np.diff(alignment.significant_old))
    partner = alignment.partner[old_at]
    bare = np.concatenate(([False], partner < 0, [False]))
    edges = np.flatnonzero(np.diff(bare.astype(np.int8)))
    begins, ends = edges[::2], edges[1::2]
    lengths = ends - begins
    # New tokens between the partners on both sides of a run; outside the first and last match: none.
    count = alignment.significant_new
    padded = np.concatenate(([-1], partner, [-1]))
    low, high = padded[begins], padded[ends + 1]
    inner = (low >= 0) & (high > low)
    between = np.where(inner, count[np.where(inner, high, 0)] - count[np.where(inner, low + 1, 0)], 0)
    passage = (lengths >= _PASSAGE) & (2 * between <= lengths)
    size = max(old_at.size, 1)
    left_out = int(lengths[passage].sum())
    return left_out / size, (int(lengths.sum()) - left_out) / size, int(passage.sum())


def _refusal(old: OldText, alignment: TokenAlignment, new_size: int, least: float) -> EditionError:
    """An error that says what was found, because half a book and another book need different cures."""
    share, size = alignment.matched_share, len(alignment.partner)
    found, hint = f"{share:.1%} of {size:,} tokens", "give a text of the book that the annotation belongs to"
    at = np.flatnonzero(alignment.partner >= 0)
    if share < 0.05:
        if new_size:
            hint = "this is another book, another translation, or the book twice in one file; " + hint
    else:
        left_out, edited, passages = _gaps(alignment)
        low, high = int(at[int(0.01 * at.size)]), int(at[int(0.99 * (at.size - 1))])
        covered = int(alignment.significant_old[high + 1] - alignment.significant_old[low])
        whole = max(int(alignment.significant_old[-1]), 1)
        # Matches that lie close together in one stretch are a part of the book; matches all over it are not.
        if at.size / max(covered, 1) >= least and covered < 0.9 * whole:
            found += f", all of them in tokens {low:,} to {high:,}: this is a part of the book"
            hint = "give the whole book: its volumes in one file, or a complete edition"
        elif share >= 0.3 and left_out > edited:
            found += f", with {plural(passages, 'passage')} left out all over: this is an abridged text"
            hint = "give a complete edition"
        elif share >= 0.3:
            found += (
                f", with {edited:.0%} of the tokens changed all over the book: "
                "this is a very different or an edited text"
            )
            hint = "give an edition nearer to the released one"
    return EditionError(
        f"{old.doc_key}: the text is not an edition of the annotated book",
        expected=f"at least {least:.0%} of the annotated tokens", found=found, hint=hint,
    )  # fmt: skip
