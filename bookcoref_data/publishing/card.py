"""The card of a published data set: what the Hub reads (YAML), what people ask first; Croissant metadata."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import Any
from urllib.parse import quote

from ..errors import plural
from ..files import json_page
from ..formats.cells import markdown_row
from ..formats.schema import CARD
from .publication import BOOKS_FILE, TABLES, FileFacts, Publication
from .rights import PUBLIC_DOMAIN

_MOST_ROWS = 200
_CASTS = {"proposed": "proposed from the book itself", "wikidata": "Wikidata (CC0 1.0)"}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def render_card(publication: Publication) -> str:
    """The whole README.md."""
    get = "rebuild" if publication.standoff else "load"
    books = publication.books
    tokens, mentions = sum(b.tokens for b in books), sum(b.mentions for b in books)
    form = CARD["published"]["standoff" if publication.standoff else "whole"]
    opening = (
        f"# {publication.title}\n\n{publication.summary}\n\n{form}\n\n"
        f"{plural(len(books), 'book')}, {tokens:,} tokens, "
        f"{plural(sum(b.characters for b in books), 'character')}, {plural(mentions, 'mention')}."
    )
    plausibility, notes = "", publication.notes
    if notes:
        lines = [f"- `{key}`: {warning}" for key, (_, warnings) in notes.items() for warning in warnings]
        good = sum(not warnings for _, warnings in notes.values())
        told = f"{CARD['published']['plausibility']}{good} of {plural(len(notes), 'book')} without a warning."
        plausibility = "\n\n".join([told, *(["\n".join(_limited(lines))] if lines else [])])
    sections = (
        opening, _section(publication, get), _section(publication, "fields"),
        _books(publication), _licences(publication), _made(publication), plausibility,
        _limits(publication), _section(publication, "check"), _citation(publication),
    )  # fmt: skip
    return _head(publication) + "\n\n".join(section for section in sections if section) + "\n"


def render_task_card(publication: Publication, page: str, rows: int) -> str:
    """The card of questions: their own page, then rights, limits and citation of the books they are about."""
    sections = (page, *(make(publication) for make in (_licences, _made, _limits, _citation)))
    head = _head(publication, ("question-answering", "multiple-choice-qa"), rows)
    return head + "\n\n".join(section.strip() for section in sections if section) + "\n"


def data_yaml(card: str) -> str:
    """The part of a data set folder's card that `datasets` reads: its configurations and columns."""
    head = card.split("\n---\n", 1)[0]
    return head[head.index("\ndataset_info:") + 1 :] if "\ndataset_info:" in head else ""


def _head(
    publication: Publication, task: tuple[str, str] = ("token-classification", "coreference-resolution"),
    rows: int | None = None,
) -> str:  # fmt: skip
    licence = publication.licence
    if rows is None:  # As the Hub counts: rows of all configurations.
        windows = 0 if publication.standoff else sum(b.windows for b in publication.books)
        rows = len(publication.books) + windows
    size = next((name for most, name in _SIZES if rows < most), "1M<n<10M")
    lines = ["---", "language:", *(f"- {language}" for language in publication.languages),
             f"license: {licence.hub}"]  # fmt: skip
    if licence.hub == "other":
        lines.append(f"license_name: {json.dumps(licence.id, ensure_ascii=False)}")
    kinds = {"int": "int64", "str": "string"}
    columns = (f"  - name: {name}\n    dtype: {kinds[kind]}" for name, kind, _ in TABLES["book_columns"])
    told = Template(CARD["published"]["books_yaml"])
    title = json.dumps(" ".join(publication.title.splitlines()), ensure_ascii=False)
    standoff = told.substitute(columns="\n".join(columns), books=BOOKS_FILE)
    lines += [
        f"pretty_name: {title}", "task_categories:", f"- {task[0]}", "task_ids:",
        f"- {task[1]}", "size_categories:", f"- {size}",
        "tags:", "- coreference-resolution", "- long-document", "- books", "- literature",
        "- project-gutenberg", "- croissant", publication.yaml or standoff, "---",
    ]  # fmt: skip
    return "\n".join(lines) + "\n\n"


def _section(publication: Publication, name: str) -> str:
    """A section that is the same on every card, but for names."""
    tokens, windows = (sum(getattr(b, name) for b in publication.books) for name in ("tokens", "windows"))
    return Template(CARD["published"][name]).substitute(
        repository=publication.repository, tag=publication.tag, name=publication.name, books=BOOKS_FILE,
        windows=f"windows of about {round(tokens / max(1, windows), -1):,.0f} tokens",
        digest=publication.digest,
    )  # fmt: skip


def _books(publication: Publication) -> str:
    splits = Counter(b.split for b in publication.books)
    windows = {split: sum(b.windows for b in publication.books if b.split == split) for split in splits}
    counts = "\n".join(f"| {split} | {number:,} | {windows[split]:,} |" for split, number in splits.items())
    columns = ("doc_key", "split", "tokens", "sentences", "characters", "clusters", "mentions", "windows")
    shown = publication.books[:_MOST_ROWS]
    rows = [markdown_row(getattr(book, column) for column in columns) for book in shown]
    more = len(publication.books) - len(shown)
    place = BOOKS_FILE if publication.standoff else "build.json"
    rest = f"\n\nand {more:,} more: see `{place}`." if more > 0 else ""
    return (
        f"## Books\n\n| split | books | windows |\n|---|---|---|\n{counts}\n\n"
        f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n" + "\n".join(rows) + rest
    )


def _licences(publication: Publication) -> str:
    lines = [f"- **{part}**: {text}" for part, text in publication.licences]
    states = Counter(rights.state for rights in publication.texts.values())
    lines += [f"- {plural(number, 'text')}: {state}" for state, number in states.most_common()]
    # The evidence without the name of the file, so that equal ones are counted together.
    named = re.compile(r" of [\w.-]+\.txt| \([\w.-]+\.txt\)")
    known = Counter(named.sub("", rights.evidence) for rights in publication.texts.values()).most_common(10)
    lines += [f"- how we know: {text} ({plural(number, 'book')})" for text, number in known]
    if PUBLIC_DOMAIN in states:
        lines += ["- Texts that are in the public domain in the United States may be in copyright elsewhere."]
    return "## Licences\n\n" + "\n".join(lines)


def _made(publication: Publication) -> str:
    told = (cast.partition(" ")[0] for cast, _ in publication.notes.values() if cast)
    casts = Counter(_CASTS.get(name, name) for name in told)
    lines = [*(f"- {line}" for line in publication.recipe), f"- built with {publication.made_with}"]
    lines += [f"- casts: {source} ({plural(number, 'book')})" for source, number in casts.most_common()]
    return "## How it was made\n\n" + "\n".join(lines)


def _limits(publication: Publication) -> str:
    out = [f"not in this release: `{key}`: {reason}" for key, reason in publication.left_out.items()]
    lines = _limited(f"- {line}" for line in (*publication.limits, *out))
    return "## Known limits\n\n" + "\n".join(lines) if lines else ""


def _citation(publication: Publication) -> str:
    return f"## Citation\n\n```bibtex\n{publication.citation.bibtex}\n```"


def _limited(lines: Iterable[str]) -> list[str]:
    found = list(lines)
    more = len(found) - _MOST_ROWS
    return found[:_MOST_ROWS] + ([f"- and {more:,} more"] if more > 0 else [])


# -- Croissant (https://docs.mlcommons.org/croissant/), version 1.1 -----------------------------------

# A whole data set has a record set for each config and split, with the columns of the parquet files, and so
# have questions, in JSON lines; a standoff release has one, its table of books.
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
PARQUET, JSON_LINES = "application/x-parquet", "application/jsonlines"


def render_croissant(publication: Publication, files: Mapping[str, FileFacts]) -> str:
    """The metadata as JSON-LD; `files` are the data files, by their path in the repository."""
    tables = sorted(path for path in files if "/" in path)
    kinds = {"int": "sc:Integer", "str": "sc:Text"}
    rows = TABLES["book_columns"]
    columns = [_field("books", BOOKS_FILE, name, kinds[kind], "", about) for name, kind, about in rows]
    what = "one row per book: counts, checksums, the pack to rebuild it from"
    sets = [_table(path) for path in tables] or [_record_set("books", what, columns)]
    authors = publication.citation.works[0].authors
    creators = [{"@type": f"sc:{'Person' if a.given else 'Organization'}", "name": str(a)} for a in authors]
    kinds_of_files = {".parquet": PARQUET, ".jsonl": JSON_LINES, ".json": "application/json"}
    distribution = [
        {
            "@type": "cr:FileObject", "@id": path, "name": path,
            "description": f"{path} of {publication.name}",
            "contentUrl": f"{publication.page}/resolve/{quote(publication.tag, safe='')}/{quote(path)}",
            "contentSize": f"{facts.bytes} B",
            "encodingFormat": kinds_of_files.get(path[path.rfind(".") :], "application/octet-stream"),
            "sha256": facts.sha256,
        }
        for path, facts in sorted(files.items())
    ]  # fmt: skip
    value = {
        "@context": TABLES["context"], "@type": "sc:Dataset", "name": publication.name,
        "alternateName": publication.title, "description": publication.summary, "conformsTo": CONFORMS_TO,
        "license": publication.licence.url or publication.licence.id, "url": publication.page,
        "version": publication.version, "datePublished": publication.date,
        "inLanguage": list(publication.languages),
        "keywords": ["coreference resolution", "long documents", "books", "Project Gutenberg"],
        "creator": creators,
        "citeAs": publication.citation.bibtex, "isLiveDataset": False,
        "distribution": distribution, "recordSet": sets,
    }  # fmt: skip
    return json_page(value)


def _table(path: str) -> dict[str, Any]:
    name = path.rpartition(".")[0].replace("/", "_")  # "full/test.parquet" -> "full_test"
    if not path.endswith(".parquet"):
        fields = [_field(name, path, *column) for column in TABLES["question_columns"]]
        return _record_set(name, "one row per question", fields)
    config, _, split = path.removesuffix(".parquet").partition("/")
    what = "whole books" if config == "full" else "windows of about 1,500 tokens"
    fields = [_field(name, path, *column) for column in TABLES["document_columns"]]
    # Characters are a list of objects: Croissant reads both sub-fields from the one column.
    inner = f"{name}/characters"
    parts = [
        _field(inner, path, "name", "sc:Text", "", "The name of the character."),
        _field(inner, path, "mentions", "cr:Int32", "-1,2", "The mentions of the character."),
    ]
    for part in parts:
        part["source"] = {**_source(path, "characters"), "transform": {"jsonPath": part["name"]}}
    characters = {
        "@type": "cr:Field", "@id": inner, "name": "characters",
        "description": "The named characters and their mentions, the same spans as in the clusters.",
        "isArray": True, "arrayShape": "-1", "subField": parts,
    }  # fmt: skip
    return _record_set(name, f"{split} split, {what}", [*fields, characters])


def _record_set(name: str, about: str, fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": about, "field": list(fields)}


def _field(records: str, path: str, name: str, kind: str, shape: str, about: str) -> dict[str, Any]:
    made = {"@type": "cr:Field", "@id": f"{records}/{name}", "name": name, "description": about,
            "dataType": kind, "source": _source(path, name)}  # fmt: skip
    return {**made, "isArray": True, "arrayShape": shape} if shape else made


def _source(path: str, column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": path}, "extract": {"column": column}}


def data_files(paths: Iterable[str]) -> list[str]:
    """The files that hold data, and so belong into the metadata."""
    tables = (path for path in paths if path.endswith((".parquet", ".pack")) or path == BOOKS_FILE)
    return [*tables, *(path for path in paths if path.endswith(".jsonl") and "/" in path)]
