"""One book of a rebuild: choose the text, decode it, apply the pack or the delta, verify, attach, write.

Two roads lead from a text to the released tokens. A released pack holds the changes by character; the
release's own files hold them by token. Where no edition has the released tokens, the annotation is carried
over to another one: from the pack, or from the book as an earlier run built it exactly.

    books/<content key>/       the finished book: tables, facts, and the checksums of these files
    books/<part>.exact.json    which of them was built exactly from a part of a release
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise, product
from pathlib import Path
from typing import Any, ClassVar

from ..books import Character, Record, read_window_key, split_book, split_by_rule
from ..books.annotation import annotation_of
from ..books.facts import BookFacts, facts_of
from ..books.stored import StoredBook, TokenBytes
from ..books.windows import RULES, WINDOW_RULES, WindowRule, cut_windows, windows_at
from ..errors import BookError, DataError, EditionError, SourceError, listed, plural
from ..files import sha256_bytes, sha256_file, write_text, writing
from ..formats import read_documents
from ..formats.jsonl import parse_record
from ..formats.lines import read_lines
from ..formats.reasons import REASONS, with_reasons
from ..formats.schema import CONFIGS, from_row, to_tables
from ..late import pa
from ..sources.gutenberg import TextFile
from ..sources.store import Store, read_note, write_note
from ..stitch.official import delta_from_bytes, sentence_ends
from ..text.tokens import available_engines, tokenize_official
from . import packed
from .align import carried, holds_edition, old_of_pack, old_of_record, tokenize_edition
from .engine import CachedJob, Finished, intact
from .ingest import BookPart

# Part of every content key: raise it when the same inputs would give another result.
BUILD_RULES = 7
_DAMAGED = "full and split annotations must come from the same whole release: fetch it again"


@dataclass(frozen=True, slots=True)
class RebuildJob(CachedJob):
    """Everything that makes one book.

    `text` is the edition to try, `tokenised` a tokenised file given by the user instead; with `remap` set,
    no edition was exact, and the annotation is carried over if at least that share of its mentions is kept.
    """

    PART: ClassVar[str] = "books"
    part: BookPart
    folder: Path
    cache: Path
    text: TextFile | None = None
    tokenised: Path | None = None
    expected: Mapping[str, Any] | None = None
    instructions: str = ""
    remap: float | None = None

    def __str__(self) -> str:
        return self.part.doc_key

    def inputs(self) -> list[Any]:
        return [
            BUILD_RULES, self.part.doc_key, self.part.gutenberg_key, self.part.split, self.part.key,
            self.text.sha256 if self.text else "", sha256_file(self.tokenised) if self.tokenised else "",
            self.expected, self.remap, self.part.bare,
        ]  # fmt: skip

    def exact_note(self) -> Path:
        """Names the book that was built with the released tokens from this part of a release."""
        name = f"{sha256_bytes(self.part.key.encode())[:40]}.exact.json"
        return Store(self.cache).path(self.PART, name)


@dataclass(frozen=True, slots=True)
class BuiltBook:
    """A book with its windows, how its tokens were verified, and what is to be said of it."""

    book: StoredBook
    windows: tuple[StoredBook, ...]
    check: str
    notes: list[str] = field(default_factory=list)
    reasons: str = ""


def build_book(job: RebuildJob) -> Finished:
    """The finished book of a job, from the cache or built now. Runs in a worker process. Raises EditionError:
    the text or the release does not fit; another edition may."""
    done = job.made(lambda folder: _write(job, rebuilt(job), folder))
    if job.remap is None and job.part.delta and done.fresh:
        write_note(job.exact_note(), {"book": done.folder.name})
    return done


def rebuilt(job: RebuildJob) -> BuiltBook:
    """Build one book in memory. Raises: as `build_book`."""
    path = job.folder / job.part.pack
    pack = packed.read_released(path, job.part.key) if job.part.pack and job.text else None
    if job.remap is not None and job.text:
        # The book in the tokens of another edition.
        text, left = job.text.read().text, []
        if pack:
            old, same = old_of_pack(pack), holds_edition(pack, text)
            left = ["speakers, scores and reasons count the released tokens: left out"] * bool(pack.reasons)
        else:
            # The book as an earlier run built it from this part of a release, with the released tokens.
            note = read_note(job.exact_note()) or {}
            folder = Store(job.cache).path(job.PART, str(note.get("book") or "none"))
            if not intact(folder):
                what = f"{job}: no earlier run has built this book, so it cannot be carried over"
                hint = "give the edition of the release once with --mirror DIR, or a release of packs"
                raise EditionError(what, hint=hint)
            full, _ = read_tables(folder)
            facts, record = read_facts(folder), from_row(full.to_pylist()[0], str(folder))
            old, same = old_of_record(record), facts.text.get("sha256") == job.text.sha256
        if same:
            raise EditionError(f"{job}: this text holds the released tokens; nothing is carried over")
        moved, report = carried(old, tokenize_edition(text))
        report.require(job.remap)
        # Tokens differ, so windows are cut by the rule of the split.
        book, notes = StoredBook.of(moved), [*packed.remap_notes(report), *left]
        return BuiltBook(book, split_by_rule(book, job.part.split).books, "remapped", notes)
    if pack and job.text:
        # Windows as released, else by the rule of the split
        book = pack.stored_book(job.text.read().text)
        windows = pack.window_books(book) or split_by_rule(book, job.part.split).books
        if pack.reasons:  # they must fit, or nothing is written
            with_reasons(annotation_of(book.to_book().to_record()), pack.reasons, job.part.pack)
        check = _verified(job, book.tokens, book.sentence_ends, "pack")
        return BuiltBook(book, windows, check, reasons=pack.reasons)
    record, window_records = Record(job.part.doc_key, job.part.gutenberg_key), list[Record]()
    if job.part.annotation:
        path = job.folder / job.part.annotation
        lines = enumerate(read_lines(path), 1)
        record, *window_records = [parse_record(line, f"{path}:{i}") for i, line in lines]
    if job.tokenised:
        records = [r for r in read_documents(job.tokenised) if r.sentences is not None]
        fits = [r for r in records if r.doc_key == job.part.doc_key] or records
        if len(fits) != 1 or fits[0].sentences is None:
            what = f"{job.tokenised} does not hold the text of {job.part.doc_key}"
            expected = "one tokenised document, or one of that name"
            raise DataError(what, expected=expected, found=f"{len(fits)} documents")
        tokens, ends = _flat(fits[0].sentences)
        check = _verified(job, tokens, ends, "given")
    elif record.sentences is not None:
        tokens, ends = _flat(record.sentences)
        check = _verified(job, tokens, ends, "release")
    else:
        tokens, ends, check = _cut_text(job)
    bare = StoredBook(job.part.doc_key, job.part.gutenberg_key, tokens, ends)
    hint = "the release is damaged, or it belongs to other tokens"
    book = _with_spans(bare, record, bare.doc_key, "annotation", hint)
    windows, notes = _windows(job, book, window_records)
    return BuiltBook(book, windows, check, notes)


def read_facts(folder: Path) -> BookFacts:
    return BookFacts.from_dict(json.loads((folder / "facts.json").read_text(encoding="utf-8")))


def read_tables(folder: Path) -> list[pa.Table]:
    """The rows of a finished book for each of `CONFIGS`."""
    tables = []
    for config in CONFIGS:
        with pa.ipc.open_file(str(folder / f"{config}.arrow")) as file:
            tables.append(file.read_all())
    return tables


def _flat(sentences: list[list[str]]) -> tuple[TokenBytes, tuple[int, ...]]:
    """The tokens of all sentences, and where each sentence ends."""
    return TokenBytes.of(list(chain.from_iterable(sentences))), tuple(accumulate(map(len, sentences)))


def _cut_text(job: RebuildJob) -> tuple[TokenBytes, tuple[int, ...], str]:
    """Tokenise the text as the official loader did, apply the delta, find the ends of the released
    sentences; and how they were verified.

    The engines for sentence ends differ in a few places, so each is tried before the text is refused.
    """
    if not job.part.delta or job.text is None:
        hint = job.instructions or f"give a tokenised text with --text {job}=FILE"
        raise SourceError(f"{job}: the release has neither a text nor a delta for this book", hint=hint)
    delta, lengths = delta_from_bytes((job.folder / job.part.delta).read_bytes())
    text = job.text.read().text
    failure: EditionError | None = None
    for engine in available_engines():
        base = [token for sentence in tokenize_official(text, engine) for token in sentence]
        try:
            tokens = TokenBytes.of(delta.apply(base))
            ends = sentence_ends(len(tokens), lengths, job.part.doc_key)
            return tokens, ends, _verified(job, tokens, ends, "counts")
        except EditionError as error:
            failure = failure or error
    assert failure is not None  # there is always an engine
    found = f"{failure.found} in {job.text.name} (sha256 {job.text.sha256[:16]}…)"
    raise EditionError(f"{job}: {failure.what}", expected=failure.expected, found=found, hint=failure.hint)


def _verified(job: RebuildJob, tokens: TokenBytes, ends: tuple[int, ...], otherwise: str) -> str:
    """How the tokens, in sentences that end at `ends`, were verified; `otherwise` when nothing is known of
    them beforehand. Raises EditionError: they are not the published tokens."""
    if not job.expected:
        return otherwise
    found = {"tokens": len(tokens), "sentences": len(ends), "tokens_sha256": tokens.sha256()}
    wanted = {name: job.expected[name] for name in found if name in job.expected}
    if all(found[name] == value for name, value in wanted.items()):
        return "manifest"
    if not job.part.annotation:
        return "other release"
    raise EditionError(
        f"{job}: these are not the published tokens",
        expected=_counts(wanted),
        found=_counts(found),
        hint="the text is of another edition, or the release is not the published one "
        "(then say so with --no-expect)",
    )


def _counts(facts: Mapping[str, Any]) -> str:
    size = f"{facts.get('tokens', 0):,} tokens, {facts.get('sentences', 0):,} sentences"
    return f"{size}, sha256 {str(facts.get('tokens_sha256', '-'))[:16]}…"


def _windows(
    job: RebuildJob, book: StoredBook, records: list[Record]
) -> tuple[tuple[StoredBook, ...], list[str]]:
    """The rows of the split config, and what is to be said of them.

    Where the release has windows of its own, their keys say where they begin and their spans are taken
    as released; otherwise the rule of the split decides (`books.windows.WINDOW_RULES`).
    """
    if job.part.bare:
        what = f"{book.doc_key}: the release has windows of other books of {job.part.split}, none of this"
        raise EditionError(what, expected=f"{book.doc_key}_split<size>_S<sentence>", hint=_DAMAGED)
    if not records:
        split = split_by_rule(book, job.part.split)
        notes = [f"{len(split.lost)} mention(s) cross the end of a window"] if split.lost else []
        return split.books, notes
    # Windows from the sentence numbers in the released keys.
    keys = [read_window_key(r.doc_key) for r in records]
    firsts = [key.first_sentence if key else -1 for key in keys]
    size = len(book.sentence_ends)
    rising = all(a < b for a, b in pairwise(firsts))
    if firsts[0] != 0 or not rising or firsts[-1] >= size:
        what = f"{book.doc_key}: the released windows do not fit the book"
        expected = f"window keys that start at S0 and rise, below S{size}"
        found = ", ".join(f"S{n}" for n in firsts[:12])
        raise EditionError(what, expected=expected, found=found, hint=_DAMAGED)
    # Where one is not there, the window before it would take its sentences.
    sizes = {WINDOW_RULES.get(job.part.split, WindowRule()).size, *(key.size for key in keys if key)}
    cuts = ({w.first_sentence for w in cut_windows(book.sentence_ends, *r)} for r in product(sizes, RULES))
    missing = next((sorted(all_.difference(firsts)) for all_ in cuts if all_ > {*firsts}), [])
    windows, starts = windows_at(firsts, book.sentence_ends), (0, *book.sentence_ends)
    # Under another rule a window is far larger then than its key says, even without its last sentence.
    bare = [w for w, record in zip(windows, records, strict=True) if record.sentences is None]
    large = [w for w in bare if starts[w.end_sentence - 1] - w.start > 1.5 * max(sizes)]
    within = [f"S{w.first_sentence + 1} to S{w.end_sentence - 1}" for w in large]
    if gone := [f"S{n}" for n in missing] or within:
        what = f"{book.doc_key}: the release lacks {plural(len(gone), 'window')} of this book"
        expected = f"one that begins with sentence {listed(gone)}"
        raise EditionError(what, expected=expected, found=plural(len(firsts), "window"), hint=_DAMAGED)
    made = split_book(book, windows=windows).books
    pairs = list(zip(records, made, strict=True))
    for record, cut in pairs:
        if record.sentences is not None and _flat(record.sentences) != (cut.tokens, cut.sentence_ends):
            what = f"{record.doc_key}: the sentences of this window are not those of the book"
            expected = f"{len(cut.tokens):,} tokens in {len(cut.sentence_ends)} sentences to the next window"
            found = f"{sum(map(len, record.sentences)):,} in {len(record.sentences)}, at {record.source}"
            raise EditionError(what, expected=expected, found=found, hint=_DAMAGED)
    books = tuple(_with_spans(cut, r, r.doc_key, "window annotation") for r, cut in pairs)
    given, ours = (sum(b.mention_count for b in parts) for parts in (books, made))
    if given == ours:
        return books, []
    return books, [f"its released windows hold {given:,} mentions, its own spans give {ours:,}"]


def _with_spans(book: StoredBook, record: Record, key: str, what: str, hint: str | None = None) -> StoredBook:
    """The tokens of a book or a window with its spans as released."""
    characters = tuple(Character(name, tuple(mentions)) for name, mentions in record.characters)
    clusters = tuple(map(tuple, record.clusters))
    try:
        return replace(book, doc_key=key, clusters=clusters, characters=characters)
    except BookError as error:
        raise BookError(f"{what} of {error.what}", found=record.source, hint=hint) from error


def _write(job: RebuildJob, made: BuiltBook, folder: Path) -> None:
    """Write the tables and the facts of a book."""
    text: dict[str, Any] = job.text.to_dict() if job.text else {"name": "embedded in the release"}
    if job.tokenised:
        text = {"name": job.tokenised.name, "sha256": sha256_file(job.tokenised)}
    facts = facts_of(made.book, made.windows, job.part.split, text=text, check=made.check, notes=made.notes,
                     reasons=made.reasons)  # fmt: skip
    if made.reasons:
        write_text(folder / REASONS, made.reasons)
    # Read once, when the folder is put together: Arrow's own format takes a third of the time of parquet.
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    for config, table in zip(CONFIGS, to_tables(made.book, made.windows), strict=True):
        with (
            writing(folder / f"{config}.arrow") as stream,
            pa.ipc.new_file(stream, table.schema, options=options) as writer,
        ):
            writer.write_table(table)
    with writing(folder / "facts.json", "w") as stream:
        json.dump(facts.to_dict(), stream, ensure_ascii=False)
