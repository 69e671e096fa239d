"""The manifest of editions: what ships, and what a manifest may not say."""

import copy
import json

import pytest

from bookcoref_data.errors import DataError, FormatError, SourceError
from bookcoref_data.files import sha256_bytes, sha256_file
from bookcoref_data.resources import resource
from bookcoref_data.sources.editions import check_id, editions, fill, load_editions, numbered_folder
from bookcoref_data.text.decode import decode


@pytest.mark.parametrize(
    ("number", "folder"), [("1342", "1/3/4/1342"), (24, "2/24"), (7, "0/7"), ("66057", "6/6/0/5/66057")]
)
def test_the_numbered_layout(number, folder):
    assert numbered_folder(number) == folder


@pytest.mark.parametrize(
    "bad", ["0", "007", "", "../1", "1/2", "12a", "-1", "١٢", "1\n", "1234567890", 0, -5, None]
)
def test_only_whole_numbers_are_ids(bad):
    with pytest.raises(DataError):
        check_id(bad)
    with pytest.raises(DataError):
        fill("https://example.org/{id}", bad)


def test_the_shipped_manifest_has_every_gutenberg_book_of_the_set():
    books = json.loads(resource("manifests", "bookcoref.json").read_text(encoding="utf-8"))["books"]
    ids = {book["gutenberg_key"]: book["title"] for book in books if book["gutenberg_key"] != "0"}
    shipped = editions().books
    assert {key: book.title for key, book in shipped.items()} == ids
    assert len(shipped) == 52
    assert all(book.editions for book in shipped.values())


def test_addresses_come_in_the_declared_order():
    urls = [address.url for address in editions().addresses_of(1342)]
    assert urls[:2] == [
        "https://www.gutenberg.org/ebooks/1342.txt.utf-8",
        "https://www.gutenberg.org/cache/epub/1342/pg1342.txt",
    ]
    snapshot = "https://web.archive.org/web/20250406105821id_/https://www.gutenberg.org/ebooks/1342.txt.utf-8"
    assert snapshot in urls
    assert "https://aleph.gutenberg.org/1/3/4/1342/1342-0.txt" in urls
    assert editions().paths_of(24)[:2] == ["cache/epub/24/pg24.txt", "2/24/24-0.txt"]


@pytest.mark.long
def test_the_manifest_tells_the_truth_about_the_real_files(shared_data):
    checked = 0
    for book in editions().books.values():
        for edition in book.editions:
            for file in edition.files:
                path = shared_data / "gutenberg" / file.path
                text, encoding, mended, *_ = decode(path.read_bytes())
                assert (sha256_file(path), path.stat().st_size) == (file.sha256, file.bytes)
                assert sha256_bytes(text.encode()) == edition.text_sha256
                assert file.encoding.split(",")[0] == encoding
                assert mended == ()
                checked += 1
    assert checked == len(list((shared_data / "gutenberg").rglob("*.txt")))


SMALL = {
    "format": 1,
    "addresses": [{"url": "https://example.org/{id}.txt", "serves": "current", "right_on": "2026-11-21"}],
    "layout": ["{numbered}/{id}.txt"],
    "books": {
        "7": {
            "title": "Seven",
            "editions": [
                {
                    "text_sha256": "a" * 64,
                    "note": "first",
                    "files": [{"path": "0/7/7.txt", "sha256": "b" * 64, "bytes": 10, "encoding": "utf-8"}],
                }
            ],
        }
    },
}


def _set(path, value):
    def change(manifest):
        *before, last = path
        for key in before:
            manifest = manifest[key]
        manifest[last] = value

    return change


FILE = ["books", "7", "editions", 0, "files", 0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_set(["format"], 2), "format"),
        (_set(["addresses", 0, "url"], "file:///etc/{id}"), "http"),
        (_set(["addresses", 0, "url"], "https://example.org/x"), "addresses"),
        (_set(["addresses", 0, "right_on"], "lately"), "the day on which"),
        (_set(["layout", 0], "../{id}.txt"), "inside a mirror"),
        (_set(["books", "../7"], SMALL["books"]["7"]), "not the id"),
        (_set([*FILE, "path"], "/etc/passwd"), "inside a mirror"),
        (_set([*FILE, "sha256"], "xyz"), "a sha256"),
        (_set([*FILE, "bytes"], -1), "length in bytes"),
        (_set(["books", "7", "editions"], None), "editions"),
        (lambda manifest: manifest.pop("layout"), "layout"),
    ],
)
def test_a_manifest_with_faults_is_refused(tmp_path, change, reason):
    path = tmp_path / "editions.json"
    path.write_text(json.dumps(SMALL))
    assert load_editions(path).known("7", "b" * 64).note == "first"
    assert load_editions(path).known("7", "a" * 64).note == "first"
    manifest = copy.deepcopy(SMALL)
    change(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises((FormatError, DataError), match=reason):
        load_editions(path)


def test_a_manifest_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "editions.json"
    path.write_text("{")
    with pytest.raises(FormatError, match="JSON"):
        load_editions(path)
    with pytest.raises(SourceError, match="cannot read"):
        load_editions(tmp_path / "none.json")
