"""Annotate books: read any input, run the steps of a plan, save each state, write what others can read.

OUT/annotation.jsonl            the official records; where each token stands in the file
OUT/provenance.jsonl            every mention with step, rule and score; every drop with its reason
OUT/quotes.jsonl                direct speech with speakers and addressees
OUT/texts/<doc_key>.txt         the decoded file that the offsets count
OUT/states/<doc_key>.<step>.json   the state after each step, to resume from
OUT/dataset/                    the folder that `load_dataset` reads
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..annotation.backends import make_backend
from ..annotation.cast import Cast
from ..annotation.given import Given
from ..annotation.language import not_english
from ..annotation.narration import names_in_place, narration_of
from ..annotation.plan import Plan
from ..annotation.state import State
from ..annotation.steps import STEP_NAMES, Backend, Job, check_order, run_steps
from ..books import Book, Record
from ..books.annotation import Annotation, Marked, SourceText
from ..books.book import Cluster
from ..errors import DataError, MissingFileError, UsageError, plural
from ..files import key_of, read_some, safe_name, sha256_bytes, write_text
from ..formats.annotated import DATASET, KIND, chapters_of, check_kept, source_text_of
from ..formats.annotated import write_annotations as write_folder_of_annotations
from ..formats.folder import write_folder
from ..formats.jsonl import read as read_jsonl
from ..formats.reasons import format_reasons
from ..outputs import whole
from ..progress import Progress
from ..scoring import score_clusters
from ..scoring.evaluation import score_linking
from ..scoring.mention_types import TypeRules
from ..spacy_model import words_for_spacy
from ..text.ebook import MOST_BYTES
from ..text.read_book import read_book
from .casts import cast_fields, cast_of_record, narrators_of_record, propose_with
from .clean import read_settings

LICENCES = (
    ("Texts", "as the texts that were annotated"),
    (
        "Annotations",
        "made by bookcoref-data; its rankers are trained on LitBank (CC BY 4.0) and on novels in the public "
        "domain",
    ),
)
CORRECTIONS = "corrections"
"""Where the record of a data set says how many corrections of people are in it."""
_SHORT_TEXT = 20
"""Tokens below which a text is too short for most of what is read: say so where nothing was found."""


@dataclass(frozen=True, slots=True)
class Source:
    """A book to annotate, the characters its file names, and what was noticed while reading it.

    `cast` and `narrators` are those that an annotated record brings along, `names` its characters;
    `origin` has the file and the places of the tokens in it, `chapters` the headings (title, first token);
    none for a book that came as tokens. `links` are the named clusters that a record brought along.
    """

    book: Book
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    origin: SourceText | None = None
    chapters: tuple[tuple[str, int], ...] = ()
    links: tuple[tuple[str, Cluster], ...] = ()
    cast: Cast | None = None
    narrators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotated:
    """One finished book: the last state, the annotated book, the states after every step run now, and how
    many corrections it was read with."""

    state: State
    book: Book
    states: tuple[State, ...] = field(default=())
    source: Source | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    corrections: int = 0

    def annotation(self) -> Annotation:
        """All that is known of the book now."""
        state, source = self.state, self.source
        return Annotation(
            self.book, state.names, state.mentions, state.quotes, state.dropped,
            source=source.origin if source else None, chapters=source.chapters if source else (),
            extra=dict(self.extra),
        )  # fmt: skip


def read_sources(path: Path) -> list[Source]:
    """The books in a file: tokenised records (.jsonl, plain or compressed), a Gutenberg file, or plain text,
    which "-" is read as. Raises SourceError: the file cannot be read; DataError: it holds no text."""
    if not path.exists() and str(path) != "-":
        what = f"there is no file {path}"
        hint = "check the path; in Python, bc.annotate(text=...) takes the text itself"
        raise MissingFileError(what, expected="a text file, or a .jsonl file of books", hint=hint)
    if ".jsonl" in path.suffixes:
        sources = [source_of(record, path.parent) for record in read_jsonl(path, bare=True)]
        if not sources:
            raise DataError(f"{path} holds no book", expected="one JSON document per line")
        return sources
    return [text_source(read_some(path, MOST_BYTES), path)]


def source_of(record: Record, folder: Path | None = None) -> Source:
    """The book of a record without its annotation, and the names and cast it gives.

    `folder` is where `annotate` wrote the record: the text that its offsets count is taken from there.
    """
    # Characters without a mention are the cast of a text that waits for its annotation.
    found = [(name, spans) for name, spans in record.characters if spans]
    book = replace(record, clusters=[c for c in record.clusters if c], characters=found).to_book()
    if not book.tokens:
        place = record.source or record.doc_key
        raise DataError(f"{place}: the book is empty", expected="at least one token")
    words_for_spacy(book.tokens, f"{record.source}: {book.doc_key!r}")
    bare = Book(book.doc_key, book.gutenberg_key, book.tokens, book.sentence_ends)
    named = tuple((c.name, c.mentions) for c in book.characters)
    return Source(
        bare, tuple(name for name, _ in record.characters),
        origin=source_text_of(record, folder) if folder else None, chapters=chapters_of(record), links=named,
        cast=cast_of_record(record), narrators=narrators_of_record(record),
    )  # fmt: skip


def text_source(data: bytes, path: Path) -> Source:
    """The book of a text; `path` gives it its name. Raises: as `text.read_book`."""
    text = read_book(data, str(path), read_settings())
    book = Book(key_of(path), text.file.gutenberg_id or "0", text.tokens, text.sentence_ends)
    characters = text.file.source.text
    digest = sha256_bytes(characters.encode("utf-8", "surrogatepass"))
    origin = SourceText(path.name, digest, characters, text.starts, text.ends)
    chapters = tuple((heading.title, heading.start) for heading in text.chapters)
    return Source(book, (), text.file.notes, origin, chapters)


def check_language(book: Book, language: str) -> tuple[str, ...]:
    """Refuse a text that is not English; a note instead where `language` ("en") says to read it so."""
    found = not_english(book.tokens)
    if found and language != "en":
        what = f"{book.doc_key} is not an English text"
        hint = "--language en reads it as English anyway (in Python language='en')"
        raise UsageError(what, expected="English, the only language of the models", found=found, hint=hint)
    return (f"{book.doc_key} is read as English, but looks like {found}",) if found else ()


def annotate_book(
    source: Source, cast: Cast | None, plan: Plan, *, narrators: Sequence[str] = (),
    steps: Sequence[str] | None = None, given: Given | None = None, states: Path | None = None,
    resume: bool = False, backend: Backend | None = None, progress: Progress | None = None,
) -> Annotated:  # fmt: skip
    """Run the steps of a plan over one book, with a cast proposed from it where `cast` is None.

    `narrators` say who tells what, see `annotation/narration.py`; none: those that came with the book.
    `states` is the folder where the state after every step is saved; with `resume` the latest state there
    that fits text, cast, narrator, corrections and plan is taken up, and only what is missing in `steps` is
    run. Without the step "link", the links that came with the book are its result. `given` are corrections:
    they stay as they are, and what is read after them builds on them.
    """
    foreign = check_language(source.book, plan.language)
    wanted = tuple(steps or plan.steps)
    check_order(wanted, ("link",) if "link" not in wanted and source.links else ())
    own, made = backend or make_backend(plan), list[State]()

    def keep(state: State) -> None:
        made.append(state)
        if states:
            write_state(state, states)
            if part := job.unfinished(state.done[-1]):
                part.unlink(missing_ok=True)

    try:
        notes = (*source.notes, *foreign)
        if cast is None:
            cast = propose_with(own, source.book).cast
            notes = (*notes, f"cast proposed from the book: {plural(len(cast.entries), 'character')}")
        told = tuple(narrators) or cast.narrators or source.narrators
        noted = replace(source, notes=notes)
        job, state, left = prepared(
            noted, cast, plan, wanted, told, given=given, states=states, resume=resume
        )
        state = run_steps(own, job, left, state=state, after_step=keep, progress=progress)
    finally:
        if backend is None:
            own.close()
    state = state.certain(plan.least)
    if not state.mentions:
        words = sum(any(c.isalnum() for c in token) for token in source.book.tokens)
        why = "no name of the cast occurs in the text; see the names above"
        if words < _SHORT_TEXT:
            why = f"the text has only {words} words; pronouns are read from names around them"
        elif state.dropped:
            why = "every link was dropped; provenance.jsonl has the reasons"
        state = replace(state, notes=(*state.notes, f"no mentions: {why}"))
    return Annotated(state, state.to_book(source.book), tuple(made), source, cast_fields(cast, told))


def prepared(
    source: Source, cast: Cast, plan: Plan, wanted: Sequence[str], told: Sequence[str], *,
    given: Given | None = None, states: Path | None = None, resume: bool = False,
) -> tuple[Job, State, list[str]]:  # fmt: skip
    """What is given for a book, the state in which it is taken up (saved or first), and the steps that are
    left. `told` are its narrators, all else as `annotate_book` takes it."""
    narration = narration_of(told, cast, source.book, source.chapters)
    job = Job(
        source.book, names_in_place(cast, source.book, source.chapters), narration, given or Given(), states
    )
    entries, names = job.cast.entries, job.cast.names
    # Everything but text and names that a state depends on
    who = [(n.start, n.end, n.narrator) for n in narration]
    key = f"{plan.key()} narrators={who} aliases={[(e.aliases, e.gender) for e in entries]}"
    key += f" given={job.given.key()}" if job.given else ""
    # The latest saved state that fits and holds no step beyond those wanted
    for step in reversed(STEP_NAMES if resume and states else ()):
        path = _state_file(states or Path(), job.book.doc_key, step)
        if step in wanted and path.is_file():
            state = State.from_json(path.read_text(encoding="utf-8"), str(path))
            fits = state.tokens_sha256 == job.book.tokens_sha256() and state.names == names
            if fits and state.memory.get("plan") == key and set(state.done) <= set(wanted):
                break
    else:
        state = replace(job.empty_state(), notes=source.notes, memory={"plan": key})
        if "link" not in wanted and source.links:
            # The links that came with the book are the result of `link`.
            rules = TypeRules(job.book.tokens, job.book.sentence_ends, names)
            known = {name.casefold(): i for i, e in enumerate(entries) for name in (*e.aliases, e.name)}
            named = [(known.get(name.casefold(), -1), name, mentions) for name, mentions in source.links]
            found = ((m, who) for who, _, mentions in named for m in mentions if who >= 0)
            marked = [Marked(*m, who, "link", "given", 1.0, rules.type_of(*m)) for m, who in found]
            lost = [name for who, name, _ in named if who < 0]
            notes = [f"links of {name!r} are left out: the cast does not name it" for name in lost]
            state = job.given.applied(state.after("link", marked, notes=notes))
    return job, state, [name for name in wanted if name not in state.done]


def write_state(state: State, folder: Path) -> None:
    """Save the state after a step in a folder, where it can be taken up."""
    path = _state_file(folder, state.doc_key, state.done[-1])
    write_text(path, json.dumps(state.to_dict(), ensure_ascii=False), at_once=True)


def _state_file(folder: Path, doc_key: str, step: str) -> Path:
    return folder / f"{safe_name(doc_key, 'document key')}.{step}.json"


def write_annotations(
    done: Iterable[Annotated], out: Path, *, dataset: bool = True, replace: bool = False
) -> list[Path]:
    """Write everything described at the top of this module except the states; returns the files."""
    done = list(done)
    check_kept(out, [a.state.doc_key for a in done], replace=replace)
    with whole(out, KIND):
        files = write_folder_of_annotations((a.annotation() for a in done), out)
        if dataset and any(a.book.clusters for a in done):
            notes = [note for a in done for note in a.state.notes]
            made = sum(a.corrections for a in done)
            write_folder(
                out / DATASET, {"test": [a.book for a in done]}, title="Annotated books",
                licences=LICENCES, notes=notes, replace=replace, source={CORRECTIONS: made} if made else {},
                reasons={a.book.doc_key: format_reasons(a.annotation()) for a in done},
            )  # fmt: skip
            files.append(out / DATASET)
    return files


COLUMNS = ("configuration", "P", "R", "F1", "MUC", "B3", "CEAF-e", "CoNLL")


def table_rows(key: Book, states: Iterable[State]) -> list[list[Any]]:
    """The rows of the paper's Table 2 for one book: pattern matching, then every state that was saved.

    Linking P, R and F1 are over (name, span) pairs, pronouns included, in percent.
    """
    states = list(states)
    rows = []
    if states:
        rows.append(_row("pattern matching", key, pattern_matching(key, states[0].names)))
    for state in states:
        if state.tokens_sha256 != key.tokens_sha256():
            what = f"the key of {key.doc_key!r} has other tokens than the annotated book"
            expected = state.tokens_sha256[:12]
            hint = "annotate the tokenised book of the key (a .jsonl file), not its plain text"
            raise DataError(what, expected=expected, found=key.tokens_sha256()[:12], hint=hint)
        named = {n: s for n, s in zip(state.names, state.spans(), strict=True) if s}
        rows.append(_row(" + ".join(state.done), key, named))
    return rows


def pattern_matching(book: Book, names: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """The paper's baseline: mentions that equal a character's name, token for token."""
    found: dict[str, list[tuple[int, int]]] = {}
    by_first: dict[str, list[tuple[str, list[str]]]] = {}
    for name in names:
        words = name.split() if name.split()[0] in book.tokens else re.findall(r"\w+\.?|\S", name)
        by_first.setdefault(words[0], []).append((name, words))
    tokens = book.tokens
    for i, token in enumerate(tokens):
        for name, words in by_first.get(token, ()):
            if list(tokens[i : i + len(words)]) == words:
                found.setdefault(name, []).append((i, i + len(words) - 1))
    return found


def _row(label: str, key: Book, named: Mapping[str, Sequence[tuple[int, int]]]) -> list[Any]:
    right = {c.name: list(c.mentions) for c in key.characters}
    link = score_linking(right.items(), named.items()).linked
    scores = score_clusters(list(key.clusters), [s for s in named.values() if s])
    values = (link.precision, link.recall, link.f1, scores.muc.f1, scores.b_cubed.f1, scores.ceaf_e.f1,
              scores.conll.f1)  # fmt: skip
    return [label, *(round(100 * v, 2) for v in values)]
