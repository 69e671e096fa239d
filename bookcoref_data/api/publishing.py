"""`publish` for Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..files import path_of
from .books import PathLike

if TYPE_CHECKING:
    from ..progress import Progress
    from ..workflows.publish import PublishReport


def publish(
    folder: PathLike,
    repo: str,
    *,
    private: bool = False,
    standoff: bool = False,
    licence: str | None = None,
    text_licence: str | None = None,
    citation: PathLike | None = None,
    title: str | None = None,
    languages: tuple[str, ...] = ("en",),
    tag: str | None = None,
    most_words: int = 12,
    dry_run: bool = False,
    out: PathLike | None = None,
    mirror: PathLike | None = None,
    offline: bool = False,
    cache_dir: PathLike | None = None,
    progress: Progress | None = None,
) -> PublishReport:
    """Publish a data set folder on the Hugging Face Hub, in the form that its rights allow.

    Args:
        repo: "user/name".
        private: make the repository private.
        standoff: publish packs and a card, no text.
        licence: licence of your own annotation, for instance "CC-BY-4.0".
        text_licence: licence of texts that are not from Gutenberg, as you know it.
        citation: a `.bib` file or a CITATION.cff.
        title: title of the data set, else the folder's.
        languages: language codes of the texts.
        tag: name of this version; None takes it from the content.
        most_words: with `standoff`, the longest run of a text's words in any file.
        dry_run: prepare and check everything, but open no connection to the Hub.
        out: a new folder for a copy of all files.
        mirror: folder or address of a Gutenberg mirror, where the rights in the texts are looked up.

    Raises:
        UsageError: the rights do not allow this form. DataError: the folder does not verify, or text was
        found in a standoff release. SourceError: a text or the Hub cannot be had.
    """
    from ..workflows.publish import PublishSettings
    from ..workflows.publish import publish as run

    def path(value: PathLike | None) -> Path | None:
        return None if value is None else path_of(value)

    settings = PublishSettings(
        path_of(folder), repo, private=private, standoff=standoff, citation=path(citation),
        licence=licence, text_licence=text_licence, title=title, languages=tuple(languages), tag=tag,
        most_words=most_words, mirror=None if mirror is None else str(mirror), cache_dir=path(cache_dir),
        offline=offline,
    )  # fmt: skip
    return run(settings, dry_run=dry_run, out=path(out), progress=progress)
