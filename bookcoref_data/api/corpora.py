"""Build and bring in data sets from Python: `create`, `import_corpus`, `clean`, `list_books`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING

from .books import PathLike, path_or_none
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
        casts=(*plan.casts, *_paths(casts)),
        names=(*plan.names, *_paths(names)),
        wikidata=(*plan.wikidata, *_paths(wikidata)),
        annotate_recipe=plan.annotate_recipe if annotation else None,
        overrides=path_or_none(overrides) or plan.overrides,
    )
    settings = BuildSettings(
        Path(out).expanduser(), path_or_none(cache_dir), None if mirror is None else str(mirror),
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
        kind, Path(source).expanduser(), Path(out).expanduser(), records=path_or_none(records), split=split,
        progress=progress,
    )  # fmt: skip


def clean(
    source: PathLike | int,
    *,
    recipe: PathLike | None = None,
    guard: bool = True,
    emphasis: str = "cut",
    mirror: PathLike | None = None,
    offline: bool = False,
    cache_dir: PathLike | None = None,
) -> CleanBook:
    """The body of a Gutenberg book: without header, licence, notes, contents and other apparatus.

    Args:
        source: a file, or the number of a Gutenberg book.
        guard: stop when more would be cut than the limits allow.
        emphasis: marks of _emphasis_ are "cut", or left as in the released tokens ("released").

    Raises:
        SourceError: the text cannot be had. DataError: too much would be cut.
    """
    from ..workflows.clean import clean_one, read_settings

    read = reader_of(mirror, offline, cache_dir)
    settings = read_settings(path_or_none(recipe), apparatus="cut", guard=guard, emphasis=emphasis)
    return clean_one(str(source), settings, read)


def list_books(folder: PathLike = "bookcoref", cache_dir: PathLike | None = None) -> Table:
    """The 53 books of BookCoref: split, counts, which texts are cached, which books are built in `folder`."""
    from ..workflows.catalogue import overview

    rows = overview(Path(folder).expanduser(), path_or_none(cache_dir))
    return Table({name: [row[name] for row in rows] for name in rows[0]})


def cite() -> str:
    """The BibTeX entry of the BookCoref paper."""
    from ..formats.card import CITATION

    return CITATION


def sample(out: PathLike = "story") -> Path:
    """Write the sample story (`lamp.txt`, `cast.txt`) into a folder; returns the folder."""
    from ..files import write_text
    from ..sample.story import cast, gutenberg_text

    folder = Path(out).expanduser()
    write_text(folder / "lamp.txt", gutenberg_text())
    write_text(folder / "cast.txt", "".join(f"{name}\n" for name in cast().values()))
    return folder


def reader_of(mirror: PathLike | None, offline: bool, cache_dir: PathLike | None) -> Read:
    """A function that reads the text of a Gutenberg number: (decoded text, sha256 of its file)."""

    def read(gutenberg_id: str) -> tuple[Decoded, str]:
        from ..sources.gutenberg import Texts
        from ..sources.store import Store

        where = None if mirror is None else str(mirror)
        file = Texts(Store.open(path_or_none(cache_dir)), where, offline).get(gutenberg_id)
        return file.read(), file.sha256

    return read


def _paths(values: Iterable[PathLike]) -> tuple[Path, ...]:
    return tuple(Path(value).expanduser() for value in values)
