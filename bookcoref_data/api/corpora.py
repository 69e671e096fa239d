"""Build, bring in and look at books from Python: `create`, `import_corpus`, `clean`, `list_books`, `show`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import plural
from ..files import path_of
from .books import PathLike, path_or_none, paths_of
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..progress import Progress
    from ..text.decode import Decoded
    from ..workflows.clean import CleanBook, Read
    from ..workflows.create import SilverReport
    from ..workflows.import_corpus import Imported


def create(
    out: PathLike = "silver",
    *,
    recipe: PathLike | None = None,
    casts: Iterable[PathLike] = (),
    names: Iterable[PathLike] = (),
    wikidata: Iterable[PathLike] = (),
    matched: PathLike | None = None,
    overrides: PathLike | None = None,
    catalogue: PathLike | None = None,
    mirror: PathLike | None = None,
    books: Iterable[str | int] = (),
    annotation: bool = True,
    replace: bool = False,
    jobs: int = 0,
    offline: bool = False,
    cache_dir: PathLike | None = None,
    progress: Progress | None = None,
) -> SilverReport:
    """From character lists to an annotated data set folder: match, clean, tokenise, annotate, write.

    Args:
        recipe: a recipe file, or the name of one that ships ("open-silver.toml").
        casts, names, wikidata: cast tables, name lists, folders of raw Wikidata answers.
        matched: `casts.jsonl` of `match`: skip harvest and match.
        books: only these Gutenberg ids or document keys.
        annotation: False writes clean, tokenised books without clusters.
        replace: let `out` lose books; your own files in it stay.

    Raises:
        UsageError: nothing to build from, or `out` is not ours. Errors of single books are in the report.
    """
    from ..workflows.create import BuildSettings, build_silver, load_plan

    plan = load_plan(path_or_none(recipe))
    plan = changed(
        plan,
        casts=(*plan.casts, *paths_of(casts)),
        names=(*plan.names, *paths_of(names)),
        wikidata=(*plan.wikidata, *paths_of(wikidata)),
        annotate_recipe=plan.annotate_recipe if annotation else None,
        overrides=path_or_none(overrides) or plan.overrides,
    )
    settings = BuildSettings(
        path_of(out), path_or_none(cache_dir), None if mirror is None else str(mirror),
        path_or_none(catalogue), path_or_none(matched), tuple(map(str, books)), offline, jobs, replace,
    )  # fmt: skip
    return build_silver(plan, settings, progress)


def import_corpus(
    kind: str,
    source: PathLike,
    out: PathLike,
    *,
    records: PathLike | None = None,
    split: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Read another corpus in its public layout and write it as a data set folder.

    Args:
        kind: litbank, fantasycoref, ontonotes, preco, gum, corefud, pdnc or booknlp.
        source: your copy of the corpus.
        records: a file of JSON lines for all that was read (speakers, quotations, ...).
        split: put all documents into this split.

    Raises:
        UsageError: an unknown corpus or split. SourceError, FormatError: files that are missing or wrong.
    """
    from ..workflows.import_corpus import import_corpus as run

    return run(
        kind, path_of(source), path_of(out), records=path_or_none(records), split=split,
        progress=progress,
    )  # fmt: skip


class Cleaned(Result):
    """A cleaned book: its `text`, what was cut of the file, and the files `written` and `map`."""

    def __init__(self, book: CleanBook, written: Path | None = None, map: Path | None = None) -> None:
        self.book, self.written, self.map = book, written, map

    @property
    def name(self) -> str:
        """What the book is called: "pg1342", or the name of the file."""
        return self.book.name

    @property
    def text(self) -> str:
        """The clean text."""
        return self.book.text

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed while the file was read."""
        return tuple(self.book.file.notes)

    @property
    def table(self) -> Table:
        """One row per piece that was cut: kind, start and end (characters of the file), an excerpt."""
        from ..workflows.clean import cuts_of

        return Table.of_dicts(cuts_of(self.book))

    def to_dict(self) -> dict[str, Any]:
        """The same document as `clean --json` prints for a book."""
        from ..workflows.clean import summary

        files = {"written": self.written, "map": self.map}
        return summary(self.book) | {name: str(path) for name, path in files.items() if path is not None}

    def _line(self) -> str:
        kept, length = len(self.text), self.book.body.file_length
        return f"{self.name}, {kept:,} of {length:,} characters kept"


def clean(
    source: PathLike | int,
    *,
    out: PathLike | None = None,
    map: PathLike | None = None,
    recipe: PathLike | None = None,
    guard: bool = True,
    emphasis: str = "cut",
    mirror: PathLike | None = None,
    offline: bool = False,
    cache_dir: PathLike | None = None,
) -> Cleaned:
    """The body of a Gutenberg book: without header, licence, notes, contents and other apparatus.

    Args:
        source: a file, or the number of a Gutenberg book.
        out: a file (with a suffix) or a folder for the clean text.
        map: likewise, for the map back to the file.
        recipe: a recipe that extends the one that ships.
        guard: stop when more would be cut than the limits allow.
        emphasis: marks of _emphasis_ are "cut", or left as in the released tokens ("released").
        mirror: folder or address of a Gutenberg mirror.

    Raises:
        SourceError: the text cannot be had. DataError: too much would be cut.
    """
    from ..workflows.clean import clean_one, read_settings, write_clean, write_map

    read = reader_of(mirror, offline, cache_dir)
    settings = read_settings(path_or_none(recipe), apparatus="cut", guard=guard, emphasis=emphasis)
    book = clean_one(str(source), settings, read)
    text_file, map_file = path_or_none(out), path_or_none(map)
    return Cleaned(
        book,
        write_clean(book, text_file) if text_file is not None else None,
        write_map(book, map_file) if map_file is not None else None,
    )


class Shown(Result):
    """A book at a glance, the mentions of a character, or what stands at a token."""

    def __init__(self, headline: str, document: dict[str, Any], table: Table) -> None:
        self.headline, self._document, self._table = headline, document, table

    @property
    def table(self) -> Table:
        """One row per character of the book, or per mention."""
        return self._table

    def to_dict(self) -> dict[str, Any]:
        """The same document as `show --json`."""
        return self._document

    def _line(self) -> str:
        return self.headline


def show(
    book: str, folder: PathLike = "bookcoref", *, at: int | None = None, character: str | None = None
) -> Shown:
    """One book: counts, origin of its text, its characters; or the mentions of one; or one place.

    Args:
        book: doc_key, Gutenberg id, part of either; or a folder or file with one book.
        folder: a data set folder, or another folder or file of books.
        at: show what stands at this token.
        character: list the mentions of this character, by its name or part of it.

    Raises:
        UsageError: no such book, token or character.
    """
    from ..workflows.catalogue import describe, mentions_of, place_of

    path = path_of(folder)
    if at is not None:
        place = place_of(path, book, at)
        columns = ("character", "start", "end", "text")
        rows = [[mention[c] for c in columns] for mention in place["mentions"]]
        return Shown(f"{place['doc_key']}, token {at:,}: {place['context']}", place,
                     Table.of_rows(columns, rows))  # fmt: skip
    if character is not None:
        name, found = mentions_of(path, book, character)
        mentions = Table.of_rows(("start", "end", "text"), found)
        document = {"character": name, "mentions": mentions.to_dicts()}
        return Shown(f"{name}: {plural(len(found), 'mention')}", document, mentions)
    value = describe(path, book)
    people = Table.of_rows(("character", "mentions", "most frequent"), value["characters"])
    return Shown(f"{value['facts']['doc_key']}, {plural(len(people), 'character')}", value, people)


def list_books(folder: PathLike = "bookcoref", cache_dir: PathLike | None = None) -> Table:
    """The 53 books of BookCoref: split, counts, which texts are cached, which books are built in `folder`."""
    from ..workflows.catalogue import overview

    rows = overview(path_of(folder), path_or_none(cache_dir))
    return Table({name: [row[name] for row in rows] for name in rows[0]})


def cite() -> str:
    """The BibTeX entry of the BookCoref paper."""
    from ..formats.card import CITATION

    return CITATION


def sample(out: PathLike = "story", *, replace: bool = False) -> Path:
    """Write the sample story (`lamp.txt`, `cast.txt`) into a folder; returns the folder.

    Raises:
        UsageError: one of the files is there and is another one, or was changed; not with `replace`.
    """
    from functools import partial

    from ..files import write_text
    from ..guard import require_new_or_own
    from ..sample.story import cast, gutenberg_text

    folder = path_of(out)
    names = "".join(f"{name}\n" for name in cast().values())
    files = {folder / "lamp.txt": gutenberg_text(), folder / "cast.txt": names}
    if not replace:
        for path, text in files.items():
            require_new_or_own(
                path, partial(_holds, text), "the file of the sample",
                hint="choose another folder with --out, or add --replace; nothing was written",
            )  # fmt: skip
    for path, text in files.items():
        write_text(path, text)
    return folder


def _holds(text: str, path: Path) -> bool:
    return path.read_bytes() == text.encode()


def reader_of(mirror: PathLike | None, offline: bool, cache_dir: PathLike | None) -> Read:
    """A function that reads the text of a Gutenberg number: (decoded text, sha256 of its file)."""

    def read(gutenberg_id: str) -> tuple[Decoded, str]:
        from ..sources.gutenberg import Texts
        from ..sources.store import Store

        where = None if mirror is None else str(mirror)
        file = Texts(Store.open(path_or_none(cache_dir)), where, offline).get(gutenberg_id)
        return file.read(), file.sha256

    return read
