"""The Gutenberg catalogue: what gutenbergpy keeps, what it drops, faults of the archive."""

from __future__ import annotations

import bz2
import io
import os
import sys
import tarfile

import pytest

pytest.importorskip("gutenbergpy")
pytest.importorskip("polars")

from bookcoref_data.errors import DataError, MissingExtraError, OfflineError, SourceError
from bookcoref_data.sources.catalogue import catalogue
from bookcoref_data.sources.store import Store

RDF = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/"
  xmlns:marcrel="http://id.loc.gov/vocabulary/relators/">
<pgterms:ebook rdf:about="ebooks/{id}">
  <dcterms:title>{title}</dcterms:title><dcterms:alternative>{other}</dcterms:alternative>
  <dcterms:type><rdf:Description><rdf:value>Text</rdf:value></rdf:Description></dcterms:type>
  <dcterms:language><rdf:Description><rdf:value>en</rdf:value></rdf:Description></dcterms:language>
  <dcterms:language><rdf:Description><rdf:value>fr</rdf:value></rdf:Description></dcterms:language>
  <pgterms:downloads>12</pgterms:downloads><dcterms:issued>1998-06-01</dcterms:issued>
  <dcterms:creator><pgterms:agent><pgterms:name>Holt, Mira</pgterms:name>
    <pgterms:alias>Brook, Ada</pgterms:alias></pgterms:agent></dcterms:creator>
  <marcrel:trl><pgterms:agent><pgterms:name>Reader, A. B.</pgterms:name></pgterms:agent></marcrel:trl>
  <dcterms:subject><rdf:Description>
    <rdf:value>Bread -- Fiction</rdf:value></rdf:Description></dcterms:subject>
  <dcterms:hasFormat><pgterms:file rdf:about="https://x/{id}.txt.utf-8">
    <dcterms:extent>4321</dcterms:extent></pgterms:file></dcterms:hasFormat>
</pgterms:ebook></rdf:RDF>"""


def archive(path, records, compress="bz2"):
    with tarfile.open(path, f"w:{compress}") as tar:
        for name, data in records:
            data = data.encode() if isinstance(data, str) else data
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def member(number, title="The Lamp Road", other="Der Lampenweg"):
    return f"cache/epub/{number}/pg{number}.rdf", RDF.format(id=number, title=title, other=other)


def test_the_table_has_what_gutenbergpy_keeps_and_what_it_drops(tmp_path):
    path = archive(tmp_path / "rdf-files.tar.bz2", [member(7), member(3, "The &quot;Inn&quot;")])
    made = catalogue(Store.open(tmp_path / "cache"), path)
    three, seven = made.frame().to_dicts()
    assert made.records == 2
    assert (three["id"], seven["id"]) == (3, 7)
    assert seven["titles"] == ["The Lamp Road", "Der Lampenweg"]
    assert (seven["form"], seven["downloads"], seven["text_bytes"]) == ("Text", 12, 4321)
    assert seven["authors"] == ["Holt, Mira"]
    assert seven["aliases"] == ["Brook, Ada"]
    assert seven["subjects"] == ["Bread -- Fiction"]
    assert seven["languages"] == ["en", "fr"]
    assert [(p["role"], p["name"], p["aliases"]) for p in seven["people"]] == [
        ("cre", "Holt, Mira", ["Brook, Ada"]), ("trl", "Reader, A. B.", [])]  # fmt: skip


def gutenbergpy_makes_its_cache(path, folder, monkeypatch):
    """gutenbergpy's own way from an archive to gutenbergindex.db, in a folder of its own."""
    from gutenbergpy.gutenbergcache import GutenbergCache
    from gutenbergpy.gutenbergcachesettings import GutenbergCacheSettings

    monkeypatch.chdir(folder)
    path.rename(folder / GutenbergCacheSettings.CACHE_RDF_ARCHIVE_NAME)
    GutenbergCache.create(refresh=False, download=False, deleteTemp=False)
    return folder / GutenbergCacheSettings.CACHE_FILENAME


def test_a_cache_that_gutenbergpy_made_is_a_catalogue(tmp_path, monkeypatch):
    from gutenbergpy.gutenbergcachesettings import GutenbergCacheSettings

    path = archive(tmp_path / "x.tar.bz2", [member(7), member(3, "The Inn")])
    from_records = catalogue(Store.open(tmp_path / "cache"), path).frame().to_dicts()
    before = GutenbergCacheSettings.CACHE_FILENAME
    database = gutenbergpy_makes_its_cache(path, tmp_path, monkeypatch)
    read = catalogue(Store.open(tmp_path / "cache"), database)
    assert before == GutenbergCacheSettings.CACHE_FILENAME
    assert read.records == 2
    for mine, theirs in zip(read.frame().to_dicts(), from_records, strict=True):
        same = ("id", "authors", "aliases", "subjects", "form", "downloads", "issued")
        assert {name: mine[name] for name in same} == {name: theirs[name] for name in same}
        assert sorted(mine["titles"]) == sorted(theirs["titles"])
        assert mine["languages"] == theirs["languages"][:1]
        assert mine["people"] == theirs["people"][:1]


def test_another_database_is_refused(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE books (id)")
    connection.close()
    with pytest.raises(DataError, match="not a catalogue"):
        catalogue(Store.open(tmp_path / "cache"), tmp_path / "other.db")


def test_a_person_who_is_pointed_to_is_the_one_named_before(tmp_path):
    name, data = member(7)
    data = data.replace(
        "<pgterms:agent><pgterms:name>Holt", '<pgterms:agent rdf:about="agents/1"><pgterms:name>Holt'
    )
    data = data.replace("</pgterms:ebook>", '<marcrel:ill rdf:resource="agents/1"/></pgterms:ebook>')
    path = archive(tmp_path / "x.tar.bz2", [(name, data)])
    (row,) = catalogue(Store.open(tmp_path / "cache"), path).frame().to_dicts()
    assert [(p["role"], p["name"]) for p in row["people"]] == [
        ("cre", "Holt, Mira"), ("trl", "Reader, A. B."), ("ill", "Holt, Mira")]  # fmt: skip


def test_the_second_time_nothing_is_read_again_and_the_working_folder_stays_clean(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = archive(tmp_path / "x.tar.bz2", [member(7)])
    before = set(os.listdir(tmp_path))
    store = Store.open(tmp_path / "cache")
    first = catalogue(store, path)
    stamp = first.table.stat().st_mtime_ns
    assert catalogue(store, path).table.stat().st_mtime_ns == stamp
    assert set(os.listdir(tmp_path)) - before == {"cache"}
    assert not list(first.table.parent.glob("*.txt"))


def test_a_changed_archive_is_read_anew(tmp_path):
    store = Store.open(tmp_path / "cache")
    first = catalogue(store, archive(tmp_path / "x.tar.bz2", [member(7)]))
    second = catalogue(store, archive(tmp_path / "x.tar.bz2", [member(7), member(8)]))
    assert (first.records, second.records) == (1, 2)
    assert first.sha256 != second.sha256


@pytest.mark.parametrize("packed", ["", "bz2", "gz", "xz"])
def test_other_files_in_the_archive_are_passed_over_and_doubles_count_once(tmp_path, packed):
    store, path = Store.open(tmp_path / "cache"), tmp_path / f"x.tar.{packed}"
    archive(path, [("README", "hello"), member(7), member(7)], packed)
    assert catalogue(store, path).records == 1
    archive(path, [member(n, os.urandom(40).hex()) for n in range(1, 60)], packed)
    path.write_bytes(path.read_bytes()[:-2000])
    if packed:  # of a plain archive these are the blocks of zeros at its end
        with pytest.raises(DataError):
            catalogue(store, path)


@pytest.mark.parametrize("content", [b"this is not an archive", b"", b"BZh9nonsense"])
def test_a_file_that_is_no_archive_is_refused_and_nothing_is_kept(tmp_path, content):
    path = tmp_path / "rdf-files.tar.bz2"
    path.write_bytes(content)
    store = Store.open(tmp_path / "cache")
    with pytest.raises(DataError, match="not a catalogue"):
        catalogue(store, path)
    assert not list((tmp_path / "cache").rglob("*.parquet"))


def test_an_archive_cut_short_or_with_broken_xml_is_refused(tmp_path):
    store = Store.open(tmp_path / "cache")
    whole = archive(tmp_path / "x.tar.bz2", [member(n, os.urandom(40).hex()) for n in range(1, 60)])
    whole.write_bytes(whole.read_bytes()[:-2000])
    with pytest.raises(DataError):
        catalogue(store, whole)
    plain = archive(tmp_path / "p.tar", [member(7), member(8)], "")
    assert catalogue(store, plain).records == 2
    for size in (700, 1024 + 512 * 4, 100):  # inside a record, between two, inside a header
        (tmp_path / "q.tar").write_bytes(plain.read_bytes()[:size])
        with pytest.raises(DataError):
            catalogue(store, tmp_path / "q.tar")
    broken = archive(tmp_path / "y.tar.bz2", [("cache/epub/1/pg1.rdf", "<rdf:RDF")])
    with pytest.raises(DataError):
        catalogue(store, broken)
    empty = archive(tmp_path / "z.tar.bz2", [("README", "hello")])
    with pytest.raises(DataError, match="no record"):
        catalogue(store, empty)


def test_an_archive_packed_in_several_streams_is_read_whole(tmp_path):
    """As pbzip2 packs; what follows the last stream is not looked at, as by `bz2.open`."""
    plain = archive(tmp_path / "p.tar", [member(n, os.urandom(3000).hex()) for n in range(1, 20)], "")
    data = plain.read_bytes()
    parts = [bz2.compress(data[at : at + 30_000]) for at in range(0, len(data), 30_000)]
    packed = tmp_path / "x.tar.bz2"
    packed.write_bytes(b"".join(parts) + b"behind the end")
    read = catalogue(Store.open(tmp_path / "cache"), packed).frame()
    assert read["id"].to_list() == list(range(1, 20))
    packed.write_bytes(b"".join(parts[:2])[:-5])
    with pytest.raises(DataError, match="end-of-stream marker"):
        catalogue(Store.open(tmp_path / "cache"), packed)


def test_a_damaged_header_is_refused(tmp_path):
    plain = archive(tmp_path / "p.tar", [member(7), member(8)], "")
    data = plain.read_bytes()
    plain.write_bytes(data.replace(b"cache/epub/8/pg8", b"cache/epub/8/pg9"))
    with pytest.raises(DataError, match="header"):
        catalogue(Store.open(tmp_path / "cache"), plain)


def test_without_a_file_and_without_network_the_error_says_so(tmp_path):
    store = Store.open(tmp_path / "cache")
    with pytest.raises(SourceError, match=r"none\.tar"):
        catalogue(store, tmp_path / "none.tar")
    with pytest.raises(OfflineError):
        catalogue(store, offline=True)


def test_without_polars_the_error_names_the_extra(tmp_path, monkeypatch):
    made = catalogue(Store.open(tmp_path / "cache"), archive(tmp_path / "x.tar.bz2", [member(7)]))
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="polars"):
        made.frame()
