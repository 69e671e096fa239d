"""The folder of a task: JSON lines, a card that `datasets.load_dataset` reads, and a list of the files.

OUT/README.md                   the card: features, configs, notes
OUT/<config>/<split>.jsonl      one row a line
OUT/task.json                   the task, its settings, and every file with its checksum
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import DataError, UsageError, listed
from ..files import json_page, safe_name, sha256_bytes, sha256_file, write_bytes, write_text
from ..formats.lines import json_lines
from ..outputs import whole
from ..shapes import parse_json, together

RECORD_FILE = "task.json"
Row = Mapping[str, Any]
Feature = str | list[str] | list[dict[str, str]]
"""A type as `datasets` names it ("string", "int32"), a list of one type, or of structs of named types."""


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """What a task writes. `tables` maps (config, split) to rows; the first config is the default one.

    `settings` and `notes` go on the card; `features` has the type of every column, in order, and
    `own_features` those of configs that have others. `left_out` says what came to nothing, and why.
    """

    task: str
    title: str
    features: Mapping[str, Feature]
    tables: Mapping[tuple[str, str], Sequence[Row]]
    settings: Mapping[str, Any]
    notes: Sequence[str] = ()
    own_features: Mapping[str, Mapping[str, Feature]] = field(default_factory=dict)
    left_out: Sequence[str] = ()


def write_task_folder(out: Path, content: TaskFolder) -> list[Path]:
    """Write the folder, file by file; files of an earlier run that are no longer part of it are removed.

    Raises DataError: there is not one row. UsageError: `out` holds something that this package did not write.
    SourceError: the folder cannot be written.
    """
    if not any(content.tables.values()):
        what = f"there are no {content.task} to write"
        hint = "see what left them out; nothing was written"
        raise DataError(what, expected="at least one row", found=listed(content.left_out) or None, hint=hint)
    written: dict[str, str] = {}
    with whole(out, f"task {content.task}"):
        for (config, split), rows in content.tables.items():
            data = jsonl_bytes(rows)
            name = f"{config}/{split}.jsonl"
            write_bytes(out / name, data)
            written[name] = sha256_bytes(data)
        digest = sha256_bytes("".join(f"{n}{s}" for n, s in sorted(written.items())).encode("ascii"))
        record = {
            "task": content.task, "made_with": f"bookcoref-data {__version__}",
            "settings": dict(content.settings), "digest": digest, "files": written,
        }  # fmt: skip
        write_text(out / RECORD_FILE, json_page(record))
        # The card. The `datasets` cache is keyed by its YAML, so the YAML carries the digest of the content.
        configs = together(content.tables)
        lines = ["---", "language:\n- en", f"pretty_name: {json.dumps(content.title)}", "dataset_info:"]
        for config in configs:
            columns = content.own_features.get(config, content.features)
            features = "".join(_feature(name, kind, 2) for name, kind in columns.items())
            lines.append(f"- config_name: {config}\n  features:\n{features}".rstrip())
        lines.append("configs:")
        for number, (config, splits) in enumerate(configs.items()):
            default = "\n  default: true" if number == 0 else ""
            files = "".join(f"\n  - split: {s}\n    path: {config}/{s}.jsonl" for s in splits)
            told = f'  description: "sha256:{digest}"\n  data_files:{files}'
            lines.append(f"- config_name: {config}{default}\n{told}")
        lines.append("---\n")
        counts = [f"| `{c}` | `{s}` | {len(rows):,} |" for (c, s), rows in content.tables.items()]
        settings = [f"- `{name}`: `{json.dumps(value)}`" for name, value in content.settings.items()]
        head = f"# {content.title}\n\nMade with `bookcoref-data`.\n"
        page = [head, "| config | split | rows |\n|---|---|---|"]
        page += [*counts, "\n## Settings\n", *settings]
        if content.notes:
            page += ["\n## Notes\n", *(f"- {note}" for note in content.notes)]
        write_text(out / "README.md", "\n".join([*lines, *page]) + "\n")
    return [out / name for name in ("README.md", RECORD_FILE, *written)]


def read_task(folder: Path, task: str) -> tuple[dict[str, Any], dict[str, Path]]:
    """The record of a folder that `write_task_folder` wrote, and its tables by name.

    Raises UsageError: it is no folder of this task. DataError: a table is not what was written.
    """
    path = folder / RECORD_FILE
    record = parse_json(path.read_text(encoding="utf-8"), str(path)) if path.is_file() else None
    if not isinstance(record, dict) or record.get("task") != task:
        raise UsageError(f"{folder} is no folder of {task}", expected=f"{RECORD_FILE} and tables")
    tables = {n: folder.joinpath(*(safe_name(part, n) for part in n.split("/"))) for n in record["files"]}
    for name, table in tables.items():
        if not table.is_file() or sha256_file(table) != record["files"][name]:
            raise DataError(f"{table} is not what was written", hint="make the folder again")
    return record, tables


def jsonl_bytes(rows: Iterable[Row]) -> bytes:
    """Rows as UTF-8 JSON lines; half a surrogate pair in a text, which our readers refuse, is a "?"."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")


def read_rows(path: Path, shape: str = "row") -> list[dict[str, Any]]:
    """The objects of a JSONL file, blank lines skipped; each must have a `shape` of `manifests/inputs.json`.

    Raises SourceError: the file cannot be read. FormatError: `file:line` of what is no such object.
    """
    return [row for _, row in json_lines(path, shape)]


def _feature(name: str, kind: Feature, indent: int) -> str:
    space = " " * indent
    if isinstance(kind, str):
        return f"{space}- name: {name}\n{space}  dtype: {kind}\n"
    inner = kind[0]
    if isinstance(inner, str):
        return f"{space}- name: {name}\n{space}  list: {inner}\n"
    parts = "".join(_feature(n, k, indent + 2) for n, k in inner.items())
    return f"{space}- name: {name}\n{space}  list:\n{parts}"
