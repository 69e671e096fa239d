"""A release on the Hugging Face Hub: only the files that a rebuild needs, each checked by its sum.

`HF_HOME` and `HF_HUB_OFFLINE` are honoured. What was fetched once is found again without asking the Hub
and without importing its library: a note in our cache (part `hub`) lists the files of a whole release.
"""

import contextlib
import fnmatch
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..errors import ChecksumError, OfflineError, SourceError, UsageError, listed
from ..files import safe_name
from ..formats.compressed import PACKED
from ..late import hf
from ..progress import Progress, begun
from .http import Fetcher, Pace
from .release import DELTA, HEAD_BYTES, LENGTHS, ReleaseLayout, kind_of
from .store import Store, read_note, sha256_once, write_note

PART = "hub"
_MOST_SNIFFED = 12  # files whose first bytes are looked at
_TRUE = {"1", "on", "yes", "true"}
# What `publish` writes: records and card at the top, tables in two folders, packs at the top.
_PUBLISHED = re.compile(
    r"(README\.md|CITATION\.cff|\.zenodo\.json|[a-z]+\.jsonl?|(full|split)/[a-z]+\.parquet"
    r"|[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.pack)"
)
ADDRESS = "hf:"
_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{8,}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Packages whose exceptions mean trouble on the way, whichever version of the library is installed.
_CARRIERS = {"requests", "urllib3", "httpx", "httpx2", "httpcore", "huggingface_hub", "hf_xet"}


@dataclass(frozen=True, slots=True)
class HubRelease:
    """A dataset repository at one commit, and where things lie in it.

    `published`: the repository is one that `publish` made, so all its files are wanted. `endpoint` and
    `cache_dir` are for a Hub or cache other than HF_ENDPOINT and HF_HOME say.
    """

    repository: str = "sapienzanlp/bookcoref"
    revision: str = "2c2587aca956a4225712abdcf1af72b93f18a28f"
    layout: ReleaseLayout = field(default_factory=ReleaseLayout)
    endpoint: str | None = None
    cache_dir: Path | None = None
    published: bool = False

    def __str__(self) -> str:
        return f"{self.repository} at {self.revision[:12]}"


class HubFile(NamedTuple):
    """A file of the repository: its length and its sum (sha256 for large files, else git's sha1)."""

    path: str
    bytes: int
    sum: str


def is_hub_address(place: Path | str) -> bool:
    """Whether `place` names a repository on the Hub ("hf:user/name", "hf:user/name@revision")."""
    return str(place).startswith(ADDRESS)


def parse_address(place: Path | str) -> tuple[str, str]:
    """(repository, revision) of "hf:user/name@revision"; "main" where no revision is given. Raises
    UsageError: it is no such address."""
    repository, _, revision = str(place).removeprefix(ADDRESS).partition("@")
    if not re.fullmatch(r"[\w.-]{1,96}/[\w.-]{1,96}", repository) or ".." in repository:
        what = f"{str(place)[:200]!r} is no address of a data set on the Hub"
        raise UsageError(what, expected="hf:user/name, or hf:user/name@revision")
    return repository, revision or "main"


def fetch_published(store: Store, place: Path | str, *, offline: bool = False) -> Path:
    """The folder of a repository that `publish` made: "hf:user/name" or "hf:user/name@revision".

    A branch or tag is looked up each time; offline, the commit of the last time is used. Raises UsageError:
    no such address. Otherwise as `fetch_release`.
    """
    return fetch_release(store, _published(store, place, offline=is_offline(offline)), offline=offline)


def _published(store: Store, place: Path | str, *, offline: bool) -> HubRelease:
    """What `place` names, at the commit that its revision is now, or was when it was looked up last."""
    repository, revision = parse_address(place)
    release = HubRelease(repository, revision, endpoint=own_endpoint(), published=True)
    if _COMMIT.fullmatch(revision):
        return release
    name = hashlib.sha256(f"{release.endpoint} {repository} {revision}".encode()).hexdigest()[:32]
    note = store.path(PART, f"{name}.commit.json")
    if not offline:
        with hub_faults(release):
            commit = hf.HfApi(endpoint=release.endpoint).dataset_info(repository, revision=revision).sha
        write_note(note, {"commit": commit})
    elif not (commit := (read_note(note) or {}).get("commit")):
        what = f"{repository} at {revision} was never fetched, and the network is switched off"
        raise OfflineError(what, hint="run once without --offline and HF_HUB_OFFLINE")
    return replace(release, revision=str(commit))


def cached_published(store: Store, place: Path | str) -> Path | None:
    """The folder of "hf:user/name" as it was fetched last; None when it was not. No network."""
    try:
        return cached_release(store, _published(store, place, offline=True))
    except OfflineError:
        return None


def own_endpoint() -> str | None:
    """The address in HF_ENDPOINT, read anew; None for the Hub itself."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or None


def fetch_release(store: Store, release: HubRelease, *, offline: bool = False) -> Path:
    """The folder of a release, fetched if it is not there yet; `Release.open` reads it.

    Raises OfflineError: it would have to be fetched, and --offline or HF_HUB_OFFLINE forbids it. SourceError:
    the Hub cannot be reached, or has no such repository, revision or files (the message lists what was
    found). ChecksumError: a file arrived with other content than the Hub's own index names.
    """
    if folder := cached_release(store, release):
        return folder
    if is_offline(offline):
        return _from_hub_cache(release)
    progress = store.progress
    with store.lock(_note(store, release).stem), hub_faults(release):
        files = choose(index_of(release), release, partial(_by_first_bytes, release, progress))
        # Fetch the files into the Hub's own cache and check each; return the folder they share
        total, folder = sum(file.bytes for file in files), release.cache_dir or Path()
        with silent_bars(), begun(progress, f"release {release}", total, "bytes") as advance:
            for file in files:
                for again in (False, True):
                    path = fetch_file(release, file.path)
                    if not (fault := _fault(path, file)):
                        break
                    # Out of the Hub's cache, the content and the link to it, so that it is fetched again.
                    path.resolve().unlink(missing_ok=True)
                    path.unlink(missing_ok=True)
                    if again:
                        what = f"{file.path} of {release} arrived damaged"
                        expected = f"{file.bytes:,} bytes, {file.sum}"
                        hint = "it was removed; run the same command again"
                        raise ChecksumError(what, expected=expected, found=fault, hint=hint)
                    progress.note(f"{file.path} of {release} is damaged ({fault}); it is fetched again")
                folder = path.parents[file.path.count("/")]
                advance(file.bytes)
    sums = {file.path: sha256_once(folder / file.path) for file in files}
    write_note(_note(store, release), {"folder": str(folder), "files": sums})
    return folder


def cached_release(store: Store, release: HubRelease) -> Path | None:
    """The folder of a release that was fetched whole and is as it was then; None otherwise. No network."""
    note = read_note(_note(store, release))
    try:
        if note is None:
            return None
        folder = Path(note["folder"])
        whole = all(sha256_once(folder / path) == sha256 for path, sha256 in note["files"].items())
    except (OSError, KeyError, TypeError, AttributeError):
        return None
    return folder if whole else None


def _by_first_bytes(
    release: HubRelease, progress: Progress, files: Mapping[str, HubFile], kind: str
) -> list[str]:
    """The one file at the top of a repository that is of that kind by its first bytes, or nothing."""
    endings = tuple(f".json{end}" for end in PACKED)
    fits = []
    names = [path for path in sorted(files) if path.endswith(endings) and "/" not in path]
    for path in names[:_MOST_SNIFFED]:
        url = hf.hf_hub_url(
            release.repository, path, repo_type="dataset", revision=release.revision,
            endpoint=release.endpoint,
        )  # fmt: skip
        wanted = {"Range": f"bytes=0-{HEAD_BYTES - 1}"}
        with contextlib.suppress(SourceError):
            answer = Fetcher(Pace(0, 2)).get(url, headers=wanted, max_bytes=2 * HEAD_BYTES)
            fits += [path] if kind_of(answer.content) == kind else []
    if len(fits) != 1:
        return []
    progress.note(f"{release}: {fits[0]} is the {kind}, by its first bytes")
    return fits


def choose(
    files: Mapping[str, HubFile], release: HubRelease,
    by_content: Callable[[Mapping[str, HubFile], str], list[str]] = lambda files, kind: [],
) -> list[HubFile]:  # fmt: skip
    """The files that a rebuild needs: all annotations, the delta, the sentence lengths; of a repository that
    `publish` made, all that it wrote. `by_content` is asked where no name fits.

    Raises SourceError: one of the three is not there under any of its names; lists what is there. DataError:
    a file has a name that cannot be used here.
    """
    if release.published:
        # Card, records, tables and packs, in the places where `publish` puts them.
        published = [files[path] for path in sorted(files) if _PUBLISHED.fullmatch(path)]
        if not any(file.path.endswith((".parquet", ".pack")) for file in published):
            names = sorted(files)
            what = f"{release} is no data set of bookcoref-data"
            there = ", ".join(names[:40]) or "an empty repository"
            hint = "the official release needs no address: leave --release out"
            raise SourceError(what, expected="full/*.parquet, or packs (*.pack)", found=there, hint=hint)
        return published
    layout = release.layout
    annotations = (f"{layout.annotations}/full/*.jsonl*", f"{layout.annotations}/split/*.jsonl*")
    chosen: dict[str, HubFile] = {}
    for kind, patterns in (("annotations", annotations), (DELTA, layout.delta), (LENGTHS, layout.lengths)):
        # All annotations that fit, else what fits the first pattern that fits something. A pattern without a
        # folder is for the repository's root, as in a release folder.
        found = [
            [path for path in files if path.count("/") == pattern.count("/")
             and any(fnmatch.fnmatch(path, pattern + end) for end in PACKED)]
            for pattern in patterns
        ]  # fmt: skip
        fits = next(filter(None, found), [])
        if kind == "annotations":
            fits = [path for some in found for path in some]
        elif patterns and not fits:
            fits = by_content(files, kind)
        if patterns and not fits:
            what = f"{release} has no file for the {kind}"
            there = listed(sorted(files), 40) or "an empty repository"
            hint = "name the file as it is called there (settings annotations, delta, lengths)"
            raise SourceError(what, expected=" or ".join(patterns), found=there, hint=hint)
        chosen |= {path: files[path] for path in fits}
    for path in chosen:
        for name in path.split("/"):
            safe_name(name, f"in {release} the file name")
    return [chosen[path] for path in sorted(chosen)]


def index_of(release: HubRelease) -> dict[str, HubFile]:
    """Every file of the repository at the revision, with length and sum."""
    api = hf.HfApi(endpoint=release.endpoint)
    at, kind = release.revision, "dataset"
    entries = api.list_repo_tree(release.repository, recursive=True, revision=at, repo_type=kind)
    files = {}
    for entry in entries:
        if getattr(entry, "size", None) is not None:
            sha256 = getattr(getattr(entry, "lfs", None), "sha256", None)
            files[entry.path] = HubFile(entry.path, entry.size, sha256 or entry.blob_id)
    return files


def fetch_file(release: HubRelease, path: str) -> Path:
    """A file of the repository in the Hub's own cache."""
    return Path(hf.hf_hub_download(
        release.repository, path, repo_type="dataset", revision=release.revision, endpoint=release.endpoint,
        cache_dir=release.cache_dir,
    ))  # fmt: skip


def _fault(path: Path, file: HubFile) -> str | None:
    """How the file differs from the index of the Hub, or None."""
    size, found = path.stat().st_size, sum_like(file.sum, path)
    return None if (size, found) == (file.bytes, file.sum) else f"{size:,} bytes, {found}"


def sha256_of(content: Path | bytes) -> str:
    """Hex sha256 of a file or of content in memory."""
    return hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else sha256_once(content)


def sum_like(stated: str, content: Path | bytes) -> str:
    """The checksum of the kind that is stated: sha256, else git's name, which the Hub has for small files."""
    if len(stated) == 64:
        return sha256_of(content)
    data = content if isinstance(content, bytes) else content.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _named_after_content(path: Path) -> bool:
    """Whether a file of the Hub's cache is what its name states: content is stored under its checksum."""
    name = path.resolve().name
    return not re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", name) or sum_like(name, path) == name


def _from_hub_cache(release: HubRelease) -> Path:
    """A release that some other program has put into the Hub's cache, without the network."""
    layout = release.layout
    named = [p + end for p in (*layout.delta, *layout.lengths) for end in PACKED]
    try:
        found = hf.snapshot_download(
            release.repository, repo_type="dataset", revision=release.revision, local_files_only=True,
            cache_dir=release.cache_dir,
            allow_patterns=None if release.published else [f"{layout.annotations}/*", *named],
        )  # fmt: skip
        folder = Path(found)
        paths = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
        chosen = choose({path: HubFile(path, 0, "") for path in paths}, release)
    except (hf.utils.LocalEntryNotFoundError, SourceError) as error:
        what = f"the release {release} is not in the cache, and the network is switched off"
        found = error.what + " there" if isinstance(error, SourceError) else None
        hint = "run once without --offline and HF_HUB_OFFLINE, or give a local copy with --release DIR"
        raise OfflineError(what, found=found, hint=hint) from error
    if damaged := [file.path for file in chosen if not _named_after_content(folder / file.path)]:
        what = f"the cached release {release} is damaged, and the network is switched off"
        hint = "run once without --offline to fetch it again, or give a local copy with --release DIR"
        raise OfflineError(what, found=", ".join(damaged), hint=hint)
    return folder


@contextlib.contextmanager
def hub_faults(release: HubRelease) -> Iterator[None]:
    """Turn what the Hub's library raises into errors of ours with a next step."""
    local = "or give a local copy with --release DIR"
    login = f"log in (`hf auth login`), {local}"
    answers = (
        (hf.utils.OfflineModeIsEnabled, f"{release} is needed, but the network is off",
         f"unset HF_HUB_OFFLINE {local}"),
        (hf.utils.RevisionNotFoundError,
         f"{release.repository} has no revision {release.revision} on the Hub",
         f"check the revision, {local}"),
        (hf.utils.GatedRepoError, f"{release.repository} asks for an agreement on the Hub",
         f"agree on its page, {login}"),
        (hf.utils.RepositoryNotFoundError, f"the Hub does not show {release.repository}",
         f"check the name; if it is private, {login}"),
    )  # fmt: skip
    try:
        yield
    except Exception as error:
        for kind, what, hint in answers:
            if isinstance(error, kind):
                ours = OfflineError if kind is hf.utils.OfflineModeIsEnabled else SourceError
                found = first_line(error) if kind is hf.utils.RepositoryNotFoundError else None
                raise ours(what, found=found, hint=hint) from error
        if not is_of_the_way(error):
            raise
        what = f"cannot fetch {release} from the Hub"
        hint = f"check the network and run the same command again, {local}"
        raise SourceError(what, found=first_line(error), hint=hint) from error


def is_of_the_way(error: Exception) -> bool:
    """Whether an error says that something failed between us and the Hub, in any version of its library."""
    return isinstance(error, OSError) or type(error).__module__.split(".")[0] in _CARRIERS


def first_line(error: Exception) -> str:
    lines = [line.strip() for line in without_token(str(error)).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def without_token(text: str) -> str:
    """`text` without any token of the Hub: what a server echoes must not end up in a log."""
    if token := hf.get_token():
        text = text.replace(token, "***")
    return _TOKEN.sub("***", text)


def holds_token(data: bytes) -> bool:
    """Whether the token of the Hub that is in use here stands in `data`."""
    token = hf.get_token()
    return bool(token) and token.encode("utf-8") in data


@contextlib.contextmanager
def silent_bars() -> Iterator[None]:
    """No bars of the library: our own progress says how far we are."""
    if hf.utils.are_progress_bars_disabled():
        yield
        return
    hf.utils.disable_progress_bars()
    try:
        yield
    finally:
        hf.utils.enable_progress_bars()


def is_offline(offline: bool) -> bool:
    """Whether the network is switched off, by the caller or by HF_HUB_OFFLINE."""
    return offline or os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE


def _note(store: Store, release: HubRelease) -> Path:
    """Where we note that a release is whole; another layout is another note."""
    parts = (release.layout, release.endpoint, release.cache_dir, *["published"] * release.published)
    layout = hashlib.sha256(repr(parts).encode()).hexdigest()
    return store.path(PART, f"{release.repository.replace('/', '--')}-{release.revision}-{layout[:8]}.json")
