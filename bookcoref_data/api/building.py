"""`rebuild`, `rebuild_plan` and `verify` for Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import plural
from ..files import path_of
from .books import PathLike, path_or_none
from .tables import Table

if TYPE_CHECKING:
    from ..progress import Progress
    from ..sources.release import ReleaseLayout
    from ..workflows.rebuild import RebuildReport
    from ..workflows.verify import Verification

_FACTS = ("doc_key", "split", "tokens", "sentences", "characters", "mentions", "windows", "check")


class Rebuilt:
    """What a rebuild did; `ok` is False when a book failed or was remapped."""

    def __init__(self, report: RebuildReport) -> None:
        self.report = report

    @property
    def out(self) -> Path:
        """The data set folder."""
        return self.report.out

    @property
    def failed(self) -> dict[str, str]:
        """Books that could not be built, with the reason."""
        return {key: str(error) for key, error in self.report.failed.items()}

    @property
    def books(self) -> Table:
        """One row per book: sizes, and how its tokens were verified."""
        found = self.report.record.books if self.report.record else []
        return Table({name: [getattr(b, name) for b in found] for name in _FACTS})

    @property
    def ok(self) -> bool:
        """Whether every book was built from the right edition, and the folder written."""
        return not self.failed and not self.report.kept and "remapped" not in self.books["check"]

    def to_dict(self) -> dict[str, Any]:
        """The same document as `rebuild --json`."""
        return self.report.to_dict()

    def __repr__(self) -> str:
        return f"<Rebuilt {str(self.out)!r}: {plural(len(self.books), 'book')}, {len(self.failed)} failed>"

    def _repr_html_(self) -> str:
        return self.books._repr_html_()


class Verified:
    """What `verify` found; `ok` is True when everything is right and complete."""

    def __init__(self, result: Verification) -> None:
        self.result = result

    @property
    def ok(self) -> bool:
        """Whether nothing is missing and nothing differs."""
        return self.result.exit_code == 0

    @property
    def digest(self) -> str:
        """SHA-256 of the content, the one string to compare."""
        return self.result.digest

    @property
    def problems(self) -> list[str]:
        """Everything that is wrong, in sentences."""
        listed = [f"{check.doc_key}: {problem}" for check in self.result.books for problem in check.problems]
        return [*listed, *self.result.problems]

    def to_dict(self) -> dict[str, Any]:
        """The same document as `verify --json`."""
        return self.result.to_dict()

    def __repr__(self) -> str:
        state = "ok" if self.ok else f"{len(self.problems)} problems"
        return f"<Verified: {state}, {plural(len(self.result.books), 'book')}, sha256 {self.digest[:16]}>"


def rebuild(
    out: PathLike = "bookcoref",
    *,
    sample: bool = False,
    release: PathLike | None = None,
    mirror: PathLike | None = None,
    books: Iterable[str] = (),
    texts: Mapping[str, PathLike] | None = None,
    texts_only: bool = False,
    expect: bool = True,
    min_kept: float | None = 0.9,
    annotations: str | None = None,
    delta: str | None = None,
    lengths: str | None = None,
    replace: bool = False,
    jobs: int = 0,
    offline: bool = False,
    cache_dir: PathLike | None = None,
    progress: Progress | None = None,
) -> Rebuilt:
    """Rebuild BookCoref (or the sample) into the folder `out`, which `load` and `load_dataset` read.

    Args:
        sample: build the sample story, without network.
        release: a local folder of the release or of packs, or what somebody has published
            ("hf:user/name@tag"); None downloads the official one.
        mirror: folder or address of a Gutenberg mirror; None tries several addresses.
        books: only these books, by doc_key, Gutenberg id or title.
        texts: tokenised files by doc_key, for books that are not on Gutenberg.
        texts_only: accept a release without annotation.
        expect: compare tokens with the published ones.
        min_kept: share of mentions that must survive where only another edition can be had; None forbids
            carrying annotation over.
        annotations, delta, lengths: names of the release's annotation folder, delta file and file of
            sentence lengths, where they are not the official ones.
        replace: let `out` lose books that this run does not build.
        jobs: processes; 0 means one per core.

    Raises:
        UsageError, SourceError, DataError: as the command line reports them.
    """
    from ..progress import Silent
    from ..workflows.rebuild import rebuild as run
    from ..workflows.setup import RebuildSettings, prepare

    settings = RebuildSettings(
        out=path_of(out), sample=sample, release=path_or_none(release),
        mirror=None if mirror is None else str(mirror), cache_dir=path_or_none(cache_dir), offline=offline,
        books=tuple(books), texts={key: Path(path) for key, path in (texts or {}).items()},
        texts_only=texts_only, expect=expect, min_kept=min_kept, replace=replace,
        layout=_layout(annotations, delta, lengths),
    )  # fmt: skip
    listener = progress or Silent()
    return Rebuilt(run(prepare(settings, listener), jobs=jobs, progress=listener))


def rebuild_plan(
    *,
    sample: bool = False,
    release: PathLike | None = None,
    mirror: PathLike | None = None,
    books: Iterable[str] = (),
    annotations: str | None = None,
    delta: str | None = None,
    lengths: str | None = None,
    offline: bool = False,
    cache_dir: PathLike | None = None,
) -> Table:
    """What `rebuild` would download from where, one row per file; nothing is fetched or written.

    The arguments are those of `rebuild`. Actions are "fetch", "cached", "local" and "missing".
    """
    from ..workflows.setup import RebuildSettings, plan_release, plan_texts

    settings = RebuildSettings(
        out=Path(), sample=sample, release=path_or_none(release),
        mirror=None if mirror is None else str(mirror), cache_dir=path_or_none(cache_dir), offline=offline,
        books=tuple(books), layout=_layout(annotations, delta, lengths),
    )  # fmt: skip
    first = plan_release(settings)
    return Table.of_dicts([row._asdict() for row in (*([first] if first else []), *plan_texts(settings))])


def _layout(annotations: str | None, delta: str | None, lengths: str | None) -> ReleaseLayout:
    from ..sources.release import ReleaseLayout

    named: dict[str, Any] = {
        "annotations": annotations,
        "delta": delta and (delta,),
        "lengths": lengths and (lengths,),
    }
    return ReleaseLayout(**{key: value for key, value in named.items() if value})


def verify(
    folder: PathLike = "bookcoref",
    *,
    manifest: PathLike | None = None,
    complete: bool = False,
    accept_remapped: bool = False,
    offline: bool = False,
    cache_dir: PathLike | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Recompute all counts and checksums of a data set folder and compare them with what is known.

    Args:
        folder: a folder, or what somebody has published: "hf:user/name", "hf:user/name@tag".
        manifest: facts that were recorded earlier (`bookcoref-data manifest write`).
        complete: require all published books.
        accept_remapped: take books that were carried over to another edition as they are.

    Raises:
        SourceError, DataError: the folder cannot be read.
    """
    from ..workflows.published import verify as run

    return Verified(
        run(
            path_of(folder), manifest=path_or_none(manifest), complete=complete,
            accept_remapped=accept_remapped, cache_dir=path_or_none(cache_dir), offline=offline,
            progress=progress,
        )
    )  # fmt: skip
