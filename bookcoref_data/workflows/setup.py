"""From what a person asks for to a plan of a rebuild: which release, which texts, which books."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..books.facts import books_called
from ..errors import UsageError
from ..formats.card import CITATION
from ..formats.folder import BOOKCOREF_LICENCES
from ..formats.jsonl import parse_record
from ..formats.lines import read_lines
from ..progress import Progress, Silent
from ..publishing.publication import read_publication
from ..sample_story.story import TITLE as SAMPLE_TITLE
from ..sample_story.story import sample_path
from ..sources.gutenberg import PlanRow, Texts
from ..sources.release import Release, ReleaseLayout
from ..sources.store import Store
from .ingest import BookPart, ingest, ingested
from .packed import ATTRIBUTION, LICENCE, is_pack_release, makers_of_packs, pack_parts
from .rebuild import RebuildPlan, TextCandidates
from .rebuild_book import CandidateText
from .verify import known_facts, published_books

SAMPLE_NOTE = (
    "This is the embedded sample of bookcoref-data, one short story written for it: it shows the layout "
    "and is no part of BookCoref."
)
SAMPLE_LICENCES = (
    ("Text", "written for bookcoref-data, CC0 1.0"),
    ("Annotations", "made by hand for bookcoref-data, CC0 1.0"),
)
# Of the files that a rebuild needs of the official release, as the Hub lists them at the pinned commit.
RELEASE_BYTES = 208_000_000
_TEXTS_OF_PACKS = ("Texts", "as those from which the packs were made; check the law where you are")
TEXTS_ONLY_NOTE = "This build holds texts only: the release it was made from has no annotations."


@dataclass(frozen=True, slots=True)
class RebuildSettings:
    """What was asked for.

    `release` is a local folder in the official layout or of packs, the address of packs that somebody
    published ("hf:user/name"), or None for the official release from the Hub; `mirror` a folder or
    address in Gutenberg's layout, or None for the addresses of the manifest. `texts` maps doc_keys to
    tokenised files. `texts_only` accepts a release without annotations. `expect` compares tokens with
    the published ones. `min_kept` is the share of mentions that must survive where only another edition
    is to be had (None: such a book fails).
    """

    out: Path
    sample: bool = False
    release: Path | None = None
    mirror: str | None = None
    cache_dir: Path | None = None
    offline: bool = False
    books: tuple[str, ...] = ()
    texts: dict[str, Path] = field(default_factory=dict)
    texts_only: bool = False
    expect: bool = True
    min_kept: float | None = 0.9
    layout: ReleaseLayout = field(default_factory=ReleaseLayout)
    replace: bool = False


def prepare(settings: RebuildSettings, progress: Progress | None = None) -> RebuildPlan:
    """Find the release and split it into the cache, and lay out the rebuild.

    Raises:
        UsageError: unknown books, settings that contradict each other.
        SourceError: no release, or no network for it.
        FormatError, EditionError: the release is damaged.
    """
    progress = progress or Silent()
    store = Store.open(settings.cache_dir, progress)
    with store.working():
        # The settings with a published release fetched, so that `release` is a folder.
        from ..sources.hub import fetch_published, is_hub_address

        if settings.release is None or not is_hub_address(settings.release):
            with_release = settings
        else:
            folder = fetch_published(store, settings.release, offline=settings.offline, progress=progress)
            if not is_pack_release(folder):
                raise UsageError(
                    f"{settings.release} holds a whole data set, which needs no rebuild",
                    hint=f'load_dataset("{str(settings.release).removeprefix("hf:").partition("@")[0]}")',
                )
            with_release = replace(settings, release=folder)
        return _lay_out(with_release, store, progress)


def _lay_out(settings: RebuildSettings, store: Store, progress: Progress) -> RebuildPlan:
    published, named = published_books(), _BOOKCOREF
    if settings.release and is_pack_release(settings.release):
        folder, parts = pack_parts(settings.release)
        notes, source = _notes(settings, True), {"release": "packs"}
        if about := read_publication(folder):
            named = Credits(about.title, about.licences, about.citation)
            source["licence"] = about.licence
            notes += about.limits
        else:
            # Packs that say nothing of themselves but who annotated them: BookCoref's own have its name,
            # paper and licence, others have none of these.
            makers, ours = makers_of_packs(settings.release), (LICENCE, ATTRIBUTION)
            if others := sorted({maker for maker in makers if any(maker)} - {ours}):
                told = [
                    f"{terms or 'no licence is stated'} ({who or 'nobody is named'})" for terms, who in others
                ]
                told += [f"{LICENCE} ({ATTRIBUTION})"] if ours in makers else []
                licences = (_TEXTS_OF_PACKS, ("Annotations", "; ".join(told)))
                named = Credits("Books rebuilt from packs", licences, "")
    else:
        release = _open_release(settings, store, progress)
        folder = store.path("release", release.key()[:32])
        # What is there and sound needs no lock, so that a cache that cannot be written serves, too.
        parts = ingested(folder) or []
        if not parts:
            with store.lock(f"release-{folder.name}"):
                parts = ingest(
                    release, folder, progress, {b["gutenberg_key"]: b["doc_key"] for b in published}
                )
        notes = _notes(settings, bool(release.annotations))
        name = "sample" if settings.sample else "local" if settings.release else "Hub"
        source = {"release": name, "release_sha256": release.key()}
    parts = books_called(settings.books, parts, "the release")
    keys = {p.doc_key for p in parts}
    for key, path in settings.texts.items():
        if key not in keys:
            raise UsageError(
                f"--text names {key!r}, which is not a book of this rebuild",
                expected=", ".join(sorted(keys)[:20]),
            )
        if not path.is_file():
            raise UsageError(f"--text {key}: there is no file {path}")
    if settings.sample:
        named = Credits(SAMPLE_TITLE, SAMPLE_LICENCES, "")
    return RebuildPlan(
        parts=parts, folder=folder, store=store, out=settings.out,
        candidates=candidates_of(texts_of(settings, store, progress)), min_kept=settings.min_kept,
        title=named.title, licences=named.licences, citation=named.citation, source=source,
        tokenised=settings.texts, expected=known_facts() if settings.expect else {},
        instructions={b["doc_key"]: b["instructions"] for b in published if "instructions" in b},
        notes=notes, replace=settings.replace,
    )  # fmt: skip


class Credits(NamedTuple):
    """How a data set is called, what its parts may be used for, and what to cite."""

    title: str
    licences: tuple[tuple[str, str], ...]
    citation: str


_BOOKCOREF = Credits("BookCoref", BOOKCOREF_LICENCES, CITATION)


def _open_release(settings: RebuildSettings, store: Store, progress: Progress) -> Release:
    from ..sources.hub import HubRelease, fetch_release

    folder = sample_path("release") if settings.sample else settings.release
    if folder is None:
        of_hub = HubRelease(layout=settings.layout)
        folder = fetch_release(store, of_hub, offline=settings.offline, progress=progress)
    release = Release.open(folder, settings.layout)
    if not release.annotations and not settings.texts_only:
        raise UsageError(
            f"the release in {release.folder} has no annotations",
            expected=f"{settings.layout.annotations}/full/<split>.jsonl",
            hint="name the folder with --annotations, or build the texts alone with --texts-only",
        )
    return release


def plan_texts(settings: RebuildSettings) -> list[PlanRow]:
    """What would be fetched for the books asked for, from where and how many bytes; opens no connection and
    writes nothing.

    With a local release these are its books that need a text, else the published ones on Gutenberg. The
    books of a release on the Hub are known once it was fetched.
    """
    from ..sources.hub import cached_published, is_hub_address

    store = Store.open(settings.cache_dir)
    if settings.release and is_hub_address(settings.release):
        folder = cached_published(store, settings.release)
        if folder is None:
            return []
        settings = replace(settings, release=folder)
    parts = books_called(settings.books, _listed(settings), "the release")
    chosen = [p.gutenberg_key for p in parts if p.gutenberg_key != "0"]
    return texts_of(settings, store, Silent()).plan(chosen)


def plan_release(settings: RebuildSettings) -> PlanRow | None:
    """What would be fetched of the official release; None when a local one is used."""
    from ..sources.hub import HubRelease, cached_published, is_hub_address
    from ..sources.hub import plan_release as plan

    if settings.release and is_hub_address(settings.release):
        folder = cached_published(Store.open(settings.cache_dir), settings.release)
        action = "cached" if folder else "missing" if settings.offline else "fetch"
        name = str(settings.release)
        return PlanRow("release", name, action, str(folder or name), 0 if folder else None, 0)
    if settings.sample or settings.release:
        return None
    release = HubRelease(layout=settings.layout)
    found = plan(Store.open(settings.cache_dir), release, offline=settings.offline)
    size = 0 if found.action == "cached" else RELEASE_BYTES
    address = f"https://huggingface.co/datasets/{release.repository}/tree/{release.revision}"
    return PlanRow("release", str(release), found.action, found.folder or address, size, 0)


def _listed(settings: RebuildSettings) -> list[BookPart]:
    """The books that are in question, read without splitting a release into the cache."""
    published = published_books()
    if not (settings.sample or settings.release):
        return [BookPart(b["doc_key"], b["gutenberg_key"], "", "", "", "") for b in published]
    if settings.release and is_pack_release(settings.release):
        return pack_parts(settings.release)[1]
    release = _open_release(settings, Store.open(settings.cache_dir), Silent())
    names = {b["gutenberg_key"]: b["doc_key"] for b in published}
    with_delta = release.sentence_lengths() if release.delta else {}
    if not release.annotations:
        return [BookPart(names.get(gid, f"book_{gid}"), gid, "", "", gid, "") for gid in with_delta]
    parts = []
    for (config, split), path in release.annotations.items():
        for number, line in enumerate(read_lines(path) if config == "full" else (), 1):
            if line.strip():
                record = parse_record(line, f"{path}:{number}")
                gid = record.gutenberg_key or record.doc_key.rpartition("_")[2]
                if record.sentences is None and gid in with_delta:
                    parts.append(BookPart(record.doc_key, gid, split, "", gid, ""))
    return parts


def texts_of(settings: RebuildSettings, store: Store, progress: Progress) -> Texts:
    """The finder of Gutenberg texts for these settings."""
    from ..sources.http import Fetcher

    mirror = str(sample_path("mirror")) if settings.sample else settings.mirror
    fetcher = Fetcher(offline=settings.offline, progress=progress)
    return Texts(store, mirror=mirror, offline=settings.offline, fetcher=fetcher)


def candidates_of(texts: Texts) -> TextCandidates:
    def candidates(gutenberg_id: str) -> Iterator[CandidateText]:
        for text in texts.candidates(gutenberg_id):
            name = text.path.name if text.path.name.startswith("pg") else f"Gutenberg {gutenberg_id}"
            # Where a text came from, without the folders of this computer.
            address = text.address if "://" in text.address else Path(text.address).name
            yield CandidateText(text.path, text.sha256, name, address)

    return candidates


def _notes(settings: RebuildSettings, annotated: bool) -> tuple[str, ...]:
    notes = [SAMPLE_NOTE] if settings.sample else []
    if not annotated:
        notes.append(TEXTS_ONLY_NOTE)
    return tuple(notes)
