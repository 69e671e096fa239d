"""Run an annotation recipe over the books of a data set and compare with the annotation that is there.

The tokens of each book are taken as they are and its characters are the cast; the annotation itself is
not looked at until the new one is finished. `recipes/silver-as-published.toml` on the books of the
released data set is the paper's silver pipeline again.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..annotation.backends import findings
from ..annotation.cast import make_cast
from ..annotation.plan import Plan
from ..books import Book, Mention, Record
from ..books.facts import BookFacts, books_called
from ..errors import UsageError, plural
from ..formats.annotated import check_kept
from ..formats.card import CITATION
from ..formats.folder import BOOKCOREF_LICENCES, is_folder, iter_folder, read_build
from ..formats.schema import SPLITS
from ..progress import Progress
from ..scoring import evaluate
from ..scoring.evaluation import Evaluation
from ..scoring.labels import snippet
from .annotate import LICENCES, source_of
from .annotate_many import ReadingJob, annotate_books, collect, read_book
from .engine import JobResults
from .publish_facts import kind_of

PARTS = ("same", "missing", "spurious", "moved_away", "moved_in")


@dataclass(frozen=True, slots=True)
class MentionDifference:
    """One mention that differs: "missing" (only there), "spurious" (only here) or "moved" (both, but of
    another character). `there` and `here` name its characters, "" where it has none."""

    kind: str
    mention: Mention
    there: str
    here: str
    text: str


@dataclass(frozen=True, slots=True)
class CharacterDifference:
    """What became of one character's mentions. `there` and `here` are its sizes on both sides."""

    name: str
    there: int
    here: int
    same: int
    missing: int
    spurious: int
    moved_away: int
    moved_in: int


@dataclass(frozen=True, slots=True)
class FoundDifferences:
    """The differences of one book: counts of (character, span) pairs, by character, and examples."""

    doc_key: str
    same: int
    missing: int
    spurious: int
    moved: int
    characters: tuple[CharacterDifference, ...]
    examples: tuple[MentionDifference, ...]


@dataclass(slots=True)
class Regeneration:
    """The result: scores (pooled and by book), differences by book, and what the run did."""

    plan: Plan
    work: JobResults
    evaluation: Evaluation | None = None
    comparisons: dict[str, FoundDifferences] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def regenerate(
    folder: Path, plan: Plan, cache: Path, *, out: Path | None = None, books: Sequence[str] = (),
    splits: Sequence[str] = SPLITS, workers: int = 0, examples: int = 3, replace: bool = False,
    progress: Progress | None = None,
) -> Regeneration:  # fmt: skip
    """What `regenerate` of the front door does; `examples` are the most differences per book and kind."""
    called = _called(folder, splits, books)
    chosen = {book.doc_key: book.split for book in called if book.characters}
    bare = (book.doc_key for book in called if not book.characters)
    notes = [f"{key} names no characters, so there is no cast: left out" for key in bare]
    if not chosen:
        raise UsageError(f"{folder} has no book with named characters", hint="; ".join(notes) or None)
    if out:
        check_kept(out, chosen, replace=replace)

    def jobs() -> Iterator[ReadingJob]:
        for _, record in _records(folder, splits, chosen):
            yield ReadingJob(source_of(record), make_cast(n for n, _ in record.characters), plan, cache)

    work = annotate_books(jobs, len(chosen), workers=workers, progress=progress)
    result = Regeneration(plan, work, notes=notes)
    if not work.finished:
        return result
    if out:
        released = kind_of(read_build(folder)) == "bookcoref"
        licences = (*BOOKCOREF_LICENCES, *LICENCES[1:]) if released else LICENCES
        source = {"recipe": plan.name, "backend": plan.backend, "recipe_key": plan.key()}
        title = f"{folder.name}, annotated again by {plan.name}"
        result.files = collect(
            work, out, title=title, splits=chosen, licences=licences, source=source, replace=replace,
            citation=CITATION if released else "",
        )  # fmt: skip
    # Compare book by book, then score all of them; for scoring, texts are not kept.
    left: list[Record] = []
    right: list[Record] = []
    for _, key in _records(folder, splits, work.finished):
        book = read_book(work.finished[key.doc_key])
        result.comparisons[key.doc_key] = compare(key.to_book(), book, examples)
        left.append(_without_text(key))
        right.append(_without_text(book.to_record()))
    result.evaluation = evaluate(left, right)
    result.notes += result.evaluation.notes
    return result


def check(
    folder: Path, plan: Plan, *, books: Sequence[str] = (), splits: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    """What a run over these books needs on this machine: (what, found, verdict) for each thing."""
    chosen = _called(folder, splits or SPLITS, books)
    tokens = sum(b.tokens for b in chosen)
    found = f"{tokens:,} tokens, {plan.name}, steps {', '.join(plan.steps)}"
    return [(plural(len(chosen), "book"), found, "fine"), *findings(plan, tokens)]


def _called(folder: Path, splits: Sequence[str], wanted: Sequence[str]) -> list[BookFacts]:
    """The books of a data set folder that are wanted. Raises UsageError: it is none, or lacks one of them."""
    if not is_folder(folder):
        what = f"{folder} is not a built data set"
        hint = "bookcoref-data rebuild --sample --out sample makes a small one"
        raise UsageError(what, expected="a folder written by `bookcoref-data rebuild`", hint=hint)
    return books_called(wanted, [b for b in read_build(folder).books if b.split in splits], folder)


def _records(folder: Path, splits: Iterable[str], wanted: Collection[str]) -> Iterator[tuple[str, Record]]:
    return ((s, r) for s, r in iter_folder(folder, "full", splits) if r.doc_key in wanted)


def _without_text(record: Record) -> Record:
    """Clusters and characters of a record. What is scored are its characters where it has clusters too:
    the cast is made of names, so unnamed clusters cannot be found again."""
    named = [(name, list(mentions)) for name, mentions in record.characters]
    return Record(record.doc_key, record.gutenberg_key, None, [m for _, m in named], named)


def compare(there: Book, here: Book, examples: int = 3) -> FoundDifferences:
    """The differences between two annotations of one text, by character names; examples from all over it."""
    key, response = _named(there), _named(here)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    shown: dict[str, list[tuple[Mention, str, str]]] = {"moved": [], "missing": [], "spurious": []}

    for mention in sorted(key.keys() | response.keys()):
        was, now = key.get(mention, set()), response.get(mention, set())
        for name in was & now:
            counts[name]["same"] += 1
        for a, b in zip_longest(sorted(was - now), sorted(now - was), fillvalue=""):
            kind = "moved" if a and b else "missing" if a else "spurious"
            counts[a or b]["moved_away" if a and b else kind] += 1
            counts[b]["moved_in"] += bool(a and b)
            shown[kind].append((mention, a, b))
    old, new = ({c.name.strip(): len(c.mentions) for c in book.characters} for book in (there, here))
    sizes = ((name, old.get(name, 0), new.get(name, 0)) for name in old | new)
    rows = tuple(CharacterDifference(*size, *(counts[size[0]][part] for part in PARTS)) for size in sizes)
    some = ((kind, one) for kind, part in shown.items() for one in _spread(part, examples))
    picked = (MentionDifference(kind, m, a, b, snippet(there.tokens, *m) or "") for kind, (m, a, b) in some)
    moves, misses, more = map(len, shown.values())
    same = sum(row.same for row in rows)
    return FoundDifferences(there.doc_key, same, misses, more, moves, rows, tuple(picked))


def _spread(items: Sequence[Any], count: int) -> list[Any]:
    """`count` of the items, from all over the list: the first page of a book is not the book."""
    count = min(count, len(items))
    return [items[(2 * i + 1) * len(items) // (2 * count)] for i in range(count)]


def _named(book: Book) -> dict[Mention, set[str]]:
    found: dict[Mention, set[str]] = {}
    for character in book.characters:
        for mention in character.mentions:
            found.setdefault(mention, set()).add(character.name.strip())
    return found
