"""Upload files to a dataset repository of the Hub: one commit, resumable, with a tag.

Large files are sent one by one before the commit. The Hub keeps what has arrived, so a run that was
interrupted sends only the rest. The token is the Hub library's business (`hf auth login`, HF_TOKEN): it is
never read here but to keep it out of messages.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import ChecksumError, OfflineError, SourceError, UsageError, listed
from ..late import hf
from ..progress import Progress, begun
from ..shapes import AsFields
from . import hub

BRANCH = "main"
# Files that the Hub itself puts into a new repository.
_OF_THE_HUB = {".gitattributes"}
# From this size on a file is sent on its own, before the commit; smaller ones go with it.
_LARGE = 1 << 20
_HOME = "https://huggingface.co"
Content = Path | bytes


@dataclass(frozen=True, slots=True)
class Uploaded(AsFields):
    """What an upload did. `sent` are the bytes of files that the repository did not have; `unchanged`: the
    repository held just these files already, so there is no new commit."""

    url: str
    commit: str
    tag: str
    files: int
    sent: int
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Upload:
    """What goes where. `files` maps paths in the repository to files here, or to their content.

    `ours(text)` reads the publication file of an earlier version and returns the files that it lists; it
    raises when the file is not ours. `marker` is the name of that file. Files of an earlier version that
    the new one lacks are removed; all others stay.
    """

    repository: str
    files: Mapping[str, Content]
    tag: str
    message: str
    marker: str
    ours: Callable[[Path], tuple[str, ...]]
    private: bool | None = None


def page_of(repository: str) -> str:
    """The address of a dataset repository."""
    return f"{hub.own_endpoint() or _HOME}/datasets/{repository}"


def released_on(repository: str, tag: str) -> str:
    """The day on which a version was published, as its CITATION.cff says; "" where there is none. Raises
    SourceError: the Hub cannot be reached."""
    none = hf.utils.RepositoryNotFoundError, hf.utils.RevisionNotFoundError, hf.utils.EntryNotFoundError
    with upload_faults(repository), hub.silent_bars(), contextlib.suppress(*none):
        path = hub.fetch_file(_at(repository, tag), "CITATION.cff")
        found = re.search(r"^date-released: '?([\d-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        return found[1] if found else ""
    return ""


def _at(repository: str, revision: str) -> hub.HubRelease:
    return hub.HubRelease(repository, revision, endpoint=hub.own_endpoint())


def upload(job: Upload, progress: Progress | None = None) -> Uploaded:
    """Make the repository if it is not there, send the files in one commit, tag it, and check what arrived.

    Raises UsageError: the repository holds another data set, is public although private was asked for, or has
    the tag at another version. SourceError: the Hub cannot be reached, or the token has no right to write.
    ChecksumError: a file arrived with other content.
    """
    api = hf.HfApi(endpoint=hub.own_endpoint(), library_name="bookcoref-data")
    with upload_faults(job.repository), hub.silent_bars():
        api.create_repo(job.repository, repo_type="dataset", private=job.private, exist_ok=True)
        if job.private and not api.dataset_info(job.repository).private:
            raise UsageError(
                f"{job.repository} exists and is public", expected="a private repository",
                hint="choose another name, or make it private in its settings on the Hub",
            )  # fmt: skip
        there = hub.index_of(_at(job.repository, BRANCH))
        gone = _replaced(job, there)
        refs = api.list_repo_refs(job.repository, repo_type="dataset")
        tags = {ref.name: str(ref.target_commit) for ref in refs.tags}
        new = [path for path, content in sorted(job.files.items()) if not _same(content, there.get(path))]
        head = str(api.dataset_info(job.repository, revision=BRANCH).sha)
        if not new and not gone:
            tagged = _tag(api, job, tags, head)
            return Uploaded(page_of(job.repository), head, tagged, len(job.files), 0, unchanged=True)
        if job.tag in tags:
            what = f"{job.repository} has the tag {job.tag} already, and its files are others"
            hint = "give the new version another name with --tag"
            raise UsageError(what, found=listed([*new, *gone]), hint=hint)
        commit = _commit(api, job, new, gone, head, progress)
        there = hub.index_of(_at(job.repository, commit))
        bad = [path for path, content in job.files.items() if not _same(content, there.get(path))]
        if bad:
            raise ChecksumError(
                f"{len(bad)} files of {job.repository} are not what was sent", found=listed(sorted(bad)),
                hint="run the same command again",
            )  # fmt: skip
        tagged = _tag(api, job, tags, commit)
    sent = sum(size_of(job.files[path]) for path in new)
    return Uploaded(page_of(job.repository), commit, tagged, len(job.files), sent)


def _replaced(job: Upload, there: Mapping[str, hub.HubFile]) -> list[str]:
    """The files of an earlier version that the new one does not have. Raises UsageError: the repository holds
    files, and no version of ours."""
    if not there.keys() - _OF_THE_HUB:
        return []
    if job.marker not in there:
        what = f"{job.repository} holds another data set, which is left as it is"
        expected = f"a new repository, or one that bookcoref-data has published (with {job.marker})"
        found = listed(sorted(there.keys() - _OF_THE_HUB))
        raise UsageError(what, expected=expected, found=found, hint="choose another name with --repo")
    record = hub.fetch_file(_at(job.repository, BRANCH), job.marker)
    listed_there = {*job.ours(record), job.marker}
    return sorted((listed_there & there.keys()) - job.files.keys())


def _commit(
    api: hf.HfApi, job: Upload, new: list[str], gone: list[str], head: str, progress: Progress | None
) -> str:
    adds: list[hf.CommitOperationAdd] = [
        hf.CommitOperationAdd(path, c if isinstance(c, bytes) else str(c))
        for path, c in ((path, job.files[path]) for path in new)
    ]
    total = sum(size_of(job.files[path]) for path in new)
    with begun(progress, f"upload {job.repository}", total, "bytes") as advance:
        for add in adds:
            size = size_of(job.files[add.path_in_repo])
            if size >= _LARGE:
                api.preupload_lfs_files(job.repository, [add], repo_type="dataset", revision=BRANCH)
            advance(size)
        # A commit of somebody else in between makes ours fail instead of mixing the two.
        done = api.create_commit(
            job.repository, [*adds, *(hf.CommitOperationDelete(path) for path in gone)], repo_type="dataset",
            commit_message=job.message, revision=BRANCH, parent_commit=head,
        )  # fmt: skip
    return str(done.oid)


def _tag(api: hf.HfApi, job: Upload, tags: Mapping[str, str], commit: str) -> str:
    """Tag the commit, unless it has the tag already."""
    if tags.get(job.tag) not in (None, commit):
        raise UsageError(f"{job.repository} has {job.tag} at another version", hint="give another --tag")
    if job.tag not in tags:
        api.create_tag(job.repository, tag=job.tag, revision=commit, repo_type="dataset", exist_ok=True)
    return job.tag


def size_of(content: Content) -> int:
    """Bytes of a file or of content in memory."""
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _same(content: Content, there: hub.HubFile | None) -> bool:
    """Whether the Hub has just this content."""
    if there is None or there.bytes != size_of(content):
        return False
    return hub.sum_like(there.sum, content) == there.sum


@contextlib.contextmanager
def upload_faults(repository: str) -> Iterator[None]:
    """Turn what the Hub's library raises into errors of ours with a next step, without any token."""
    login = "log in with a token that may write: `hf auth login`, or set HF_TOKEN"
    try:
        yield
    except (hf.utils.OfflineModeIsEnabled, OfflineError) as error:
        raise OfflineError("the network is switched off", hint="unset HF_HUB_OFFLINE") from error
    except (SourceError, UsageError, ChecksumError):
        raise
    except hf.errors.LocalTokenNotFoundError as error:
        raise SourceError("there is no token for the Hub", hint=login) from error
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status is None and not (hub.is_of_the_way(error) or isinstance(error, RuntimeError | ValueError)):
            raise
        # The chain of causes holds the request with its headers: it is cut here.
        raise SourceError(
            f"cannot upload to {repository}", found=hub.without_token(hub.first_line(error)),
            hint=login if status in (401, 403) else "run the same command again: what has arrived is kept",
        ) from None  # fmt: skip
