"""Publish a data set folder on the Hub, in the form that its rights allow.

rights of every text and of the annotation  ->  the whole data set, or packs and card (standoff), or nothing
card, Croissant, CITATION.cff, .zenodo.json ->  stated apart: texts and annotation
standoff: no run of the text's words in any file
one commit, tagged, and compared with what was sent
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..books import Mention
from ..books.facts import content_digest
from ..errors import DataError, UsageError
from ..files import json_page, write_bytes
from ..formats.folder import BUILD_FILE, DESCRIPTIONS, BuildRecord, is_folder, iter_folder, read_build
from ..formats.reasons import REASONS
from ..outputs import Replaceable, whole
from ..progress import Progress, Silent, followed
from ..publishing.card import data_files, data_yaml, render_card, render_croissant, render_task_card
from ..publishing.citation import render_cff, render_zenodo
from ..publishing.leaks import LeakedRun, Uploads
from ..publishing.publication import (
    BOOKS_FILE,
    PUBLICATION_FILE,
    FileFacts,
    Publication,
    read_publication,
    render_books,
    render_publication,
)
from ..publishing.rights import check_publishable
from ..shapes import attributes, plain
from ..sources.hub import holds_token, parse_address, sha256_of
from ..sources.hub_upload import Content, Upload, Uploaded, page_of, released_on, size_of, upload
from ..tasks.folder import RECORD_FILE, read_rows, read_task
from ..tasks.questions.build import mark
from .pack import pack_folder
from .packed import INDEX
from .publish_facts import PublishSettings, origin_of
from .published import MANIFEST_FILE
from .rebuild import TextCandidates
from .verify import manifest_of, require_sound

_MOST_TEXT = 64 << 20


@dataclass(slots=True)
class PublishReport:
    """What was found and done; `uploaded` is None after a dry run. `files` maps paths to size and sha256."""

    publication: Publication
    files: Mapping[str, FileFacts]
    longest: LeakedRun | None
    card: str
    uploaded: Uploaded | None = None
    copied: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Size of all files together."""
        return sum(facts.bytes for facts in self.files.values())

    def __repr__(self) -> str:
        made, state = self.publication, "uploaded" if self.uploaded else "not uploaded"
        return f"<PublishReport: {made.repository}, {len(made.books)} books, {self.bytes:,} bytes, {state}>"

    def to_dict(self) -> dict[str, Any]:
        made = self.publication
        return {
            **attributes(made, "repository page"), "form": "standoff" if made.standoff else "whole",
            **attributes(made, "tag digest annotation texts"), "books": [book.doc_key for book in made.books],
            "left_out": dict(made.left_out),
            "files": [{"path": path, **asdict(facts)} for path, facts in self.files.items()],
            "bytes": self.bytes, "longest_run": plain(self.longest), "uploaded": plain(self.uploaded),
        }  # fmt: skip


def publish(
    settings: PublishSettings, *, dry_run: bool = False, out: Path | None = None,
    progress: Progress | None = None,
) -> PublishReport:  # fmt: skip
    """Prepare everything, and upload it unless `dry_run`; `out` keeps a copy of the files in a new folder."""
    progress = progress or Silent()
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty", expected="a new or empty folder for --out")
    with preparing(settings, progress, asks=not dry_run) as (made, contents, longest):
        files = {path: FileFacts(size_of(c), sha256_of(c)) for path, c in sorted(contents.items())}
        report = PublishReport(made, files, longest, _bytes_of(contents["README.md"]).decode("utf-8"))
        if out is not None:
            with whole(out) as outputs:
                folder = outputs.folder(out, Replaceable)
                for path, content in contents.items():
                    write_bytes(folder / path, _bytes_of(content))
            report.copied = out
        if not dry_run:
            job = Upload(
                settings.repository, contents, made.tag, f"{made.title}: {made.tag}", PUBLICATION_FILE,
                lambda path: found.files if (found := read_publication(path)) else (),
                settings.private or None,
            )  # fmt: skip
            report.uploaded = upload(job, progress)
    return report


@contextmanager
def preparing(
    settings: PublishSettings, progress: Progress, *, asks: bool = False
) -> Iterator[tuple[Publication, Mapping[str, Content], LeakedRun | None]]:
    """What would go up: the publication's facts, every file by its path in the repository, and the longest
    run of a book's words that was found in the files of a standoff release; packs are in a temporary folder
    until the end of the block. Where it `asks` the Hub, a version that is there keeps its day."""
    parse_address(settings.repository)
    folder = _folder_of(settings.books or settings.folder)
    record = read_build(folder)
    if settings.books and settings.standoff:
        raise UsageError("questions have no standoff form", expected="texts that may be passed on")
    require_sound(folder, "published")
    origin = origin_of(record, settings, progress)
    texts = {b.doc_key: origin.text_rights(b, settings.text_licence) for b in record.books}
    if not settings.standoff:
        facts = {book.doc_key: book for book in record.books}
        for _, row in iter_folder(folder, "full"):
            if texts[row.doc_key].free:
                sentences = row.to_book().sentences
                texts[row.doc_key] = origin.text_rights(facts[row.doc_key], settings.text_licence, sentences)
    else:
        # A book without a Gutenberg text cannot be rebuilt by others: it is left out with its text.
        own = [b.doc_key for b in record.books if origin.kind == "own" and b.gutenberg_key in ("", "0")]
        texts = {k: rights for k, rights in texts.items() if k not in origin.without_text and k not in own}
    annotation = origin.annotation_rights(settings.licence)
    check_publishable(texts, annotation, standoff=settings.standoff)
    digest = read_task(settings.folder, "questions")[0]["digest"] if settings.books else record.digest
    settings = replace(settings, tag=settings.tag or f"sha256-{digest[:12]}")
    # The day on which the folder was built, so that the same folder makes the same files each time
    built = datetime.fromtimestamp((folder / BUILD_FILE).stat().st_mtime, timezone.utc).date().isoformat()
    date = (asks and released_on(settings.repository, settings.tag or "")) or built
    publication = origin.publication(folder, settings, page_of(settings.repository), texts, annotation, date)
    longest = None
    with tempfile.TemporaryDirectory(prefix="bookcoref-publish-") as work:
        if settings.books:
            made, files = _questions(settings, folder, publication)
        elif settings.standoff:
            made, files = _standoff(folder, record, publication, origin.candidates, Path(work), progress)
            longest = _refuse_text(folder, files, settings.most_words, progress)
        else:
            # The tables as they are, and a card, a record and descriptions of the published form
            made = replace(publication, yaml=data_yaml((folder / "README.md").read_text(encoding="utf-8")))
            tables = {path: folder / path for path in record.files if path.endswith((".parquet", REASONS))}
            files = {**tables, **_descriptions(made, tables, [BUILD_FILE, "README.md"])}
            files["README.md"] = render_card(made).encode("utf-8")
            sums = {path: {"bytes": size_of(c), "sha256": sha256_of(c)} for path, c in sorted(files.items())}
            files[BUILD_FILE] = replace(record, title=made.title, files=sums).to_text().encode("utf-8")
        for path, content in files.items():
            if size_of(content) <= _MOST_TEXT and holds_token(_bytes_of(content)):
                what = f"{path} holds your token for the Hub"
                raise DataError(what, hint="remove it from the files; nothing was uploaded")
        yield made, files, longest


def _folder_of(path: Path) -> Path:
    """The data set folder at `path`, or inside the output of `annotate`. Raises UsageError: there is none."""
    for folder in (path, path / "dataset"):
        if (folder / BUILD_FILE).is_file() and is_folder(folder):
            return folder
    hint = "publish what rebuild, create, import or annotate has written"
    expected = f"README.md, {BUILD_FILE} and parquet files"
    raise UsageError(f"{path} is no data set folder", expected=expected, hint=hint)


# -- files -------------------------------------------------------------------------------------------


def _questions(
    settings: PublishSettings, books: Path, publication: Publication
) -> tuple[Publication, dict[str, Content]]:
    """The tables of a folder of questions, whose passages must stand in these books, and their card."""
    folder = settings.folder
    record, tables = read_task(folder, "questions")
    rows = [row for path in tables.values() for row in read_rows(path, "released_question")]
    known = {r.doc_key: r.to_book() for _, r in iter_folder(books, "full")}
    for row in rows:
        book, mention = known.get(row["doc_key"]), Mention(row["start"], row["end"])
        first, last = row["text_start"], row["text_end"]
        inside = book is not None and first <= mention.start <= mention.end < last <= len(book.tokens)
        if book is None or not inside or row["text"] != mark(book.tokens, mention, first, last):
            what = f"the passage of question {row['id']} is not in {books}"
            raise DataError(what, hint="give the books that the questions were made from")
    card = (folder / "README.md").read_text(encoding="utf-8")
    asked = {row["doc_key"] for row in rows}
    kept = tuple(book for book in publication.books if book.doc_key in asked)
    title = settings.title or f"Who is meant? Questions about {publication.title}"
    publication = replace(
        publication, title=title, digest=record["digest"], yaml=data_yaml(card), books=kept,
        texts={k: publication.texts[k] for k in asked},
        summary=f"{len(rows):,} multiple-choice questions about whom a mention means, in {len(kept)} books.",
    )  # fmt: skip
    made: dict[str, Content] = {**tables, RECORD_FILE: folder / RECORD_FILE}
    made |= _descriptions(publication, made, ["README.md"])
    made["README.md"] = render_task_card(publication, card.partition("\n---\n")[2], len(rows)).encode("utf-8")
    return publication, made


def _standoff(
    folder: Path, record: BuildRecord, publication: Publication, candidates: TextCandidates, work: Path,
    progress: Progress,
) -> tuple[Publication, dict[str, Content]]:  # fmt: skip
    """Packs, their index, a manifest of what they give, the table of books, and the descriptions."""
    attribution = "; ".join(str(work.title) for work in publication.citation.works)
    settings = {"licence": publication.licence.id, "attribution": attribution}
    report = pack_folder(folder, candidates, work, settings=settings, jobs=1, progress=progress)
    # Books that have no pack are left out, with the reason.
    packed = {pack.doc_key for pack in report.packs}
    reasons = {**report.left_out, **{key: error.what for key, error in report.failed.items()}}
    books = tuple(book for book in record.books if book.doc_key in packed)
    kept = replace(record, books=books, digest=content_digest(books), title=publication.title)
    publication = replace(
        publication, books=books, digest=kept.digest,
        left_out={**publication.left_out, **{key: reasons[key] for key in sorted(reasons)}},
        texts={key: rights for key, rights in publication.texts.items() if key in packed},
        notes={key: note for key, note in publication.notes.items() if key in packed},
    )  # fmt: skip
    names = {pack.doc_key: (pack.file, pack.sha256, pack.source_sha256) for pack in report.packs}
    made: dict[str, Content] = {pack.file: work / pack.file for pack in report.packs}
    made[INDEX] = work / INDEX
    made[MANIFEST_FILE] = json_page(manifest_of(kept)).encode("utf-8")
    made[BOOKS_FILE] = render_books(kept.books, publication.texts, names).encode("utf-8")
    made |= _descriptions(publication, made, ["README.md"])
    made["README.md"] = render_card(publication).encode("utf-8")
    return publication, made


def _descriptions(
    publication: Publication, files: Mapping[str, Content], others: list[str]
) -> dict[str, Content]:
    """Croissant, CITATION.cff, .zenodo.json and publication.json, for these files and the `others`."""
    facts = {path: FileFacts(size_of(files[path]), sha256_of(files[path])) for path in data_files(files)}
    known = publication.licence
    shared: dict[str, str] = attributes(publication, "title version date") | {"url": publication.page}
    citation = publication.citation
    spdx = known.id if known.url else ""
    made = {
        "CITATION.cff": render_cff(citation, abstract=publication.summary, licence=spdx, **shared),
        ".zenodo.json": render_zenodo(
            citation, publication.languages, description=publication.summary, licence=known.zenodo, **shared
        ),
        "croissant.json": render_croissant(publication, facts),
        PUBLICATION_FILE: render_publication(publication, [*files, *others, *DESCRIPTIONS]),
    }
    return {path: text.encode("utf-8") for path, text in made.items()}


# -- checks ------------------------------------------------------------------------------------------


def _refuse_text(
    folder: Path, files: Mapping[str, Content], most_words: int, progress: Progress
) -> LeakedRun | None:
    """Look for the words of every book of the folder in every file of a standoff release. Raises DataError: a
    run of more than `most_words` words."""
    uploads = Uploads(((path, _bytes_of(content)) for path, content in sorted(files.items())), most_words)
    longest: LeakedRun | None = None
    books, number = iter_folder(folder, "full"), len(read_build(folder).books)
    for _, record in followed(books, progress, "text check", number, "books"):
        run = uploads.longest_run(record.doc_key, record.to_book().tokens)
        if run.words > most_words:
            what = f"{run.file} would publish {run.words} words of {run.doc_key} in a row"
            hint = "nothing was uploaded; leave the book out, or allow more words with --most-words"
            raise DataError(what, expected=f"at most {most_words}", found=f"“{run.begins} …”", hint=hint)
        longest = max((run, longest or run), key=lambda r: r.words)
    return longest


def _bytes_of(content: Content) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()
