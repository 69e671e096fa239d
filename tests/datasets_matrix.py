"""Does the built folder load under this version of `datasets`? Run by `.ci/datasets-matrix`.

`build A B` writes two different data sets, A/bookcoref and B/bookcoref, the rows expected of them, and the
first one as `publish` would upload it, A/published; `load A B` loads them in every supported way, from a Hub
on loopback, too, and compares values.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hub_server import HubServer, Repository


def build(first: Path, second: Path) -> None:
    """The sample data set, and a second one of the same shape with other content."""
    import bookcoref_data as bc
    from bookcoref_data.books import Book
    from bookcoref_data.formats.folder import BOOKCOREF_LICENCES, read_folder, write_folder
    from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild

    rebuild(prepare(RebuildSettings(out=first / "bookcoref", sample=True, cache_dir=first / "cache")), jobs=1)
    book = read_folder(first / "bookcoref")[0].to_book()
    shorter = Book.make(book.doc_key, book.sentences[:200], gutenberg_key=book.gutenberg_key,
                        clusters=[[m for m in c if m.end < 2000][:5] for c in book.clusters][:2])  # fmt: skip
    write_folder(second / "bookcoref", {"test": [shorter]}, title="Changed", licences=BOOKCOREF_LICENCES)
    bc.publish(first / "bookcoref", "me/lamp", dry_run=True, out=first / "published")
    for folder in (first, second):
        rows = {c: expected_rows(folder / "bookcoref", c) for c in ("full", "split")}
        (folder / "expected.json").write_text(json.dumps(rows), encoding="utf-8")


def expected_rows(folder: Path, config: str) -> list[dict]:
    """The rows of a config as plain values, read without `datasets`."""
    from bookcoref_data.formats.folder import read_folder
    from bookcoref_data.formats.schema import to_row

    return [to_row(record.to_book().to_record()) for record in read_folder(folder, config)]


def load(first: Path, second: Path) -> None:
    """Load as a user would, from the folder's parent, and compare values with what was written."""
    hub = serve(first / "published")
    import datasets

    datasets.disable_progress_bars()
    work = first.parent / f"work-{datasets.__version__}"
    work.mkdir()
    os.chdir(work)
    for folder in (first, second):
        # The second data set takes the first one's place: the cache must not serve the first again.
        shutil.rmtree(work / "bookcoref", ignore_errors=True)
        shutil.copytree(folder / "bookcoref", work / "bookcoref")
        check(json.loads((folder / "expected.json").read_text(encoding="utf-8")))
    check_hub(json.loads((first / "expected.json").read_text(encoding="utf-8")))
    hub.close()
    print(f"datasets {datasets.__version__}: loads from a Hub server, values equal")
    print(f"datasets {datasets.__version__}: both data sets load in every way, values equal")


def check(expected: dict[str, list[dict]]) -> None:
    """Every way to load: default config, named config, one split, streaming, builder, `bookcoref.load`."""
    from datasets import load_dataset

    import bookcoref

    for config in ("full", "split"):
        rows = expected[config]
        builder = bookcoref.BookCoref(config_name=config)
        builder.download_and_prepare()
        ways = {
            "load_dataset": load_dataset("bookcoref", config)["test"],
            "split=": load_dataset("bookcoref", config, split="test"),
            "path": load_dataset("./bookcoref", config, split="test"),
            "streaming": load_dataset("bookcoref", config, split="test", streaming=True),
            "bookcoref.load": bookcoref.load(config, split="test"),
            "builder": builder.as_dataset(split="test"),
            "builder streaming": builder.as_streaming_dataset(split="test"),
        }
        for way, found in ways.items():
            assert [plain(row) for row in found] == rows, f"{config} through {way} differs"
    assert [plain(r) for r in load_dataset("bookcoref", split="test")] == expected["full"], "default config"


def serve(published: Path) -> HubServer:
    """A Hub on loopback that has the files of a publication; libraries imported from now on use it."""
    hub = HubServer()
    hub.repositories["me/lamp"] = Repository()
    paths = [path for path in published.rglob("*") if path.is_file()]
    hub.repositories["me/lamp"].commit(
        {path.relative_to(published).as_posix(): path.read_bytes() for path in paths}, "the sample"
    )
    os.environ.update(hub.environment(os.environ["HF_HOME"]))
    return hub


def check_hub(expected: dict[str, list[dict]]) -> None:
    """`load_dataset("user/name", config)` from the Hub, whole and streaming."""
    from datasets import load_dataset

    for config, rows in expected.items():
        found = load_dataset("me/lamp", config)
        assert [plain(row) for row in found["test"]] == rows, f"{config} from the Hub differs"
    assert [plain(row) for row in load_dataset("me/lamp", split="test")] == expected["full"]
    streamed = load_dataset("me/lamp", "split", split="test", streaming=True)
    assert [plain(row) for row in streamed] == expected["split"]


def plain(row: dict) -> dict:
    """A row with characters as a list of objects, however this version of `datasets` hands them out."""
    people = row["characters"]
    if isinstance(people, dict):
        people = [dict(zip(people, values, strict=True)) for values in zip(*people.values(), strict=True)]
    return {**row, "characters": people}


if __name__ == "__main__":
    {"build": build, "load": load}[sys.argv[1]](Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve())
