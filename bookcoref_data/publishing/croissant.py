"""Croissant metadata of a published data set (https://docs.mlcommons.org/croissant/), version 1.1.

A whole data set has a record set for each config and split, with the columns of the parquet files, and so
have questions, in JSON lines; a standoff release has one, its table of books.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .publication import BOOKS_FILE, TABLES, FileFacts, Publication

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
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


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
