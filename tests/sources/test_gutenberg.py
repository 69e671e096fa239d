"""Texts of Gutenberg: mirrors, cache, several addresses, editions known and unknown."""

import json
import multiprocessing
import re
from pathlib import Path

import pytest

from bookcoref_data.errors import DataError, OfflineError, SourceError, UsageError
from bookcoref_data.files import sha256_bytes
from bookcoref_data.sources.editions import Address, Edition, EditionFile, Editions, KnownEditions
from bookcoref_data.sources.gutenberg import Texts
from bookcoref_data.sources.store import CacheError, Store

LAYOUT = ("cache/epub/{id}/pg{id}.txt", *("{numbered}/{id}" + end for end in ("-0.txt", "-8.txt", ".txt")))
CAPTCHA = b"<html><body>" + b"Are you human? " * 5000


def known(data, book="4321", path="cache/epub/4321/pg4321.txt"):
    """A manifest entry for this text."""
    text = sha256_bytes(data.decode("utf-8").replace("\r\n", "\n").encode())
    file = EditionFile(path, sha256_bytes(data), len(data), "utf-8")
    return book, KnownEditions("The Lamp at Hollow Ferry", (Edition(text, "first", (file,)),))


@pytest.fixture
def manifest(server):
    """Two copies of the current file, then an older file, all on the fault server."""

    def make(*books):
        addresses = (
            Address(server.url + "/ebooks/{id}", "current"),
            Address(server.url + "/mirror/pg{id}.txt", "current"),
            Address(server.url + "/old/{id}.txt", "older"),
        )
        return Editions(addresses, LAYOUT, dict(books))

    return make


@pytest.fixture
def texts(store, fetcher, manifest):
    return Texts(store, fetcher=fetcher, editions=manifest())


def write(root, path, data):
    target = root.joinpath(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return target


# -- addresses ------------------------------------------------------------------------------------------


def test_a_text_is_fetched_once_and_then_cached(server, reply, texts, make_book, no_network):
    url = server.script("/ebooks/4321", reply(make_book()))
    got = texts.get(4321)
    assert got.path.read_bytes() == make_book()
    assert got.sha256 == sha256_bytes(make_book())
    assert (got.address, got.bytes, got.known_edition) == (url, len(make_book()), None)
    assert "\r" not in got.read().text
    no_network()
    again = texts.get("4321")
    assert again == got


@pytest.mark.parametrize(
    "bad",
    [
        {"status": 404},
        {"status": 503},
        {"body": CAPTCHA},
        {"body": b""},
        {"stop": 3000, "ranges": False},
        {"announce": 10**6},
        {"status": 302, "headers": {"Location": "/ebooks/4321"}},
    ],
    ids=["404", "503", "html", "empty", "truncated", "wrong length", "redirect loop"],
)
def test_the_next_address_is_asked_when_one_fails(server, reply, texts, make_book, bad):
    server.script("/ebooks/4321", reply(**{"body": make_book(), **bad}))
    second = server.script("/mirror/pg4321.txt", reply(make_book()))
    got = texts.get(4321)
    assert (got.address, got.path.read_bytes()) == (second, make_book())
    stored = [p.name for p in got.path.parent.iterdir() if not p.name.startswith(".")]
    assert sorted(stored) == sorted([f"{got.sha256}.txt", f"{got.sha256}.json"])


def test_another_book_under_the_right_number_is_refused(server, reply, texts, make_book):
    server.script("/ebooks/4321", reply(make_book(number=1234)))
    server.script("/mirror/pg4321.txt", reply(make_book(number=1234)))
    server.script("/old/4321.txt", reply(make_book(number=1234)))
    with pytest.raises(SourceError, match="another book") as caught:
        texts.get(4321)
    assert str(caught.value).count("another book") == 3


def test_when_all_fail_every_address_is_listed_with_its_reason(server, reply, texts):
    server.script("/mirror/pg4321.txt", reply(CAPTCHA))
    with pytest.raises(SourceError) as caught:
        texts.get(4321)
    message = str(caught.value)
    for place in ("/ebooks/4321: status 404", "/mirror/pg4321.txt", "web page", "/old/4321.txt: status 404"):
        assert place in message
    assert caught.value.exit_code == 3


def test_candidates_offer_every_wording_once_and_fetch_only_what_is_asked_for(
    server, reply, texts, make_book
):
    new, old = make_book(note="second printing"), make_book(note="first printing")
    server.script("/ebooks/4321", reply(new))
    server.script("/mirror/pg4321.txt", reply(new))
    server.script("/old/4321.txt", reply(old))
    offered = texts.candidates(4321)
    assert next(offered).path.read_bytes() == new
    assert [path for path, _ in server.requests] == ["/ebooks/4321"]
    assert next(offered).path.read_bytes() == old
    # No edition is known here, so a second copy of the first is asked for before another wording.
    asked = ["/ebooks/4321", "/mirror/pg4321.txt", "/old/4321.txt"]
    assert [path for path, _ in server.requests] == asked
    assert list(offered) == []
    for _ in range(2):
        assert {t.path.read_bytes() for t in texts.candidates(4321)} == {new, old}
        # The old wording has one address: it is asked once more, and then never again.
        assert [path for path, _ in server.requests] == [*asked, "/old/4321.txt"]


def test_the_same_wording_in_another_file_is_no_new_candidate(server, reply, texts, make_book):
    server.script("/ebooks/4321", reply(make_book()))
    server.script("/old/4321.txt", reply(b"\xef\xbb\xbf" + make_book().replace(b"\r\n", b"\n")))
    assert len(list(texts.candidates(4321))) == 1


def test_a_known_edition_is_recognised_in_any_encoding(server, reply, store, fetcher, manifest, make_book):
    data = make_book(title="The Café at Hollow Ferry")
    texts = Texts(store, fetcher=fetcher, editions=manifest(known(data)))
    server.script("/ebooks/4321", reply(data.decode().encode("latin-1")))
    got = texts.get(4321)
    assert got.known_edition.note == "first"
    assert got.sha256 != sha256_bytes(data)


def test_known_editions_come_first_from_the_cache(server, reply, store, fetcher, manifest, make_book):
    new, old = make_book(note="second printing"), make_book(note="first printing")
    server.script("/ebooks/4321", reply(new))
    server.script("/old/4321.txt", reply(old))
    for wanted in (new, old):
        texts = Texts(store, fetcher=fetcher, editions=manifest(known(wanted)))
        list(texts.candidates(4321))
        assert texts.get(4321).path.read_bytes() == wanted


def test_a_cached_text_that_was_damaged_is_fetched_anew(server, reply, texts, make_book):
    server.script("/ebooks/4321", reply(make_book()))
    path = texts.get(4321).path
    path.write_bytes(path.read_bytes()[:-5])
    assert texts.get(4321).path.read_bytes() == make_book()
    assert len(server.requests) == 2


@pytest.mark.parametrize("bad", ["../../etc/passwd", "0", "1342/../../x", "", "13 42"])
def test_an_id_from_data_cannot_leave_the_cache(texts, server, bad):
    for ask in (texts.get, texts.cached, lambda i: texts.plan([i]), lambda i: list(texts.candidates(i))):
        with pytest.raises(DataError):
            ask(bad)
    assert server.requests == []


def test_an_unwritable_cache_is_told_once_not_per_address(
    server, reply, tmp_path, fetcher, manifest, make_book
):
    server.script("/ebooks/4321", reply(make_book()))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheError, match="BOOKCOREF_DATA_HOME"):
        Texts(Store(tmp_path / "file"), fetcher=fetcher, editions=manifest()).get(4321)


def _get(root, editions, queue):
    from bookcoref_data.sources.http import Fetcher, Pace

    queue.put(
        Texts(Store(Path(root)), fetcher=Fetcher(Pace(per_second=0)), editions=editions).get(4321).sha256
    )


@pytest.mark.long
def test_two_processes_fetching_one_text_fetch_it_once(server, reply, store, manifest, make_book):
    server.script("/ebooks/4321", reply(make_book(), hang=0.3))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    workers = [context.Process(target=_get, args=(str(store.root), manifest(), queue)) for _ in range(2)]
    for worker in workers:
        worker.start()
    assert {queue.get(timeout=60) for _ in workers} == {sha256_bytes(make_book())}
    for worker in workers:
        worker.join(60)
    assert len(server.requests) == 1


# -- offline ---------------------------------------------------------------------------------------------


def test_offline_without_the_text_says_what_to_do(store, make_fetcher, manifest, no_network):
    no_network()
    texts = Texts(store, fetcher=make_fetcher(offline=True), editions=manifest())
    with pytest.raises(OfflineError, match="4321") as caught:
        texts.get(4321)
    assert "--mirror" in caught.value.hint


def test_offline_candidates_end_with_what_is_cached(server, reply, store, make_fetcher, manifest, make_book):
    server.script("/ebooks/4321", reply(make_book()))
    Texts(store, fetcher=make_fetcher(), editions=manifest()).get(4321)
    offline = Texts(store, offline=True, editions=manifest())
    assert len(list(offline.candidates(4321))) == 1
    assert len(server.requests) == 1


def test_a_mirror_address_offline_is_not_asked(server, store, manifest, no_network):
    no_network()
    with pytest.raises(OfflineError):
        Texts(store, mirror=server.url, offline=True, editions=manifest()).get(4321)


# -- mirrors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "encoding"),
    [
        ("cache/epub/4321/pg4321.txt", "utf-8"),
        ("4/3/2/4321/4321-0.txt", "utf-8-sig"),
        ("4/3/2/4321/4321-8.txt", "latin-1"),
        ("4/3/2/4321/4321.txt", "utf-8"),
    ],
)
def test_a_mirror_folder_is_read_in_every_form(tmp_path, store, manifest, make_book, path, encoding):
    data = make_book(title="The Café at Hollow Ferry")
    file = write(tmp_path / "mirror", path, data.decode().encode(encoding))
    texts = Texts(store, tmp_path / "mirror", offline=True, editions=manifest(known(data)))
    got = texts.get(4321)
    assert (got.path, got.address) == (file, str(file))
    assert got.known_edition.note == "first"
    assert not store.root.exists()


def test_one_digit_ids_lie_under_zero(tmp_path, store, manifest, make_book):
    write(tmp_path, "0/7/7.txt", make_book(number=7))
    assert Texts(store, tmp_path, offline=True, editions=manifest()).get(7).gutenberg_id == "7"


def test_a_mirror_folder_is_the_only_place_asked(
    server, reply, tmp_path, store, fetcher, manifest, make_book
):
    server.script("/ebooks/4321", reply(make_book()))
    with pytest.raises(SourceError, match=re.escape("cache/epub/4321/pg4321.txt")) as caught:
        Texts(store, tmp_path, fetcher=fetcher, editions=manifest()).get(4321)
    assert str(tmp_path) in str(caught.value)
    assert server.requests == []


def test_a_web_page_in_a_mirror_is_passed_over(tmp_path, store, manifest, make_book):
    write(tmp_path, "cache/epub/4321/pg4321.txt", CAPTCHA)
    with pytest.raises(SourceError, match="web page"):
        Texts(store, tmp_path, editions=manifest()).get(4321)
    good = write(tmp_path, "4/3/2/4321/4321.txt", make_book())
    assert Texts(store, tmp_path, editions=manifest()).get(4321).path == good


def test_a_mirror_may_be_an_address(server, reply, store, fetcher, manifest, make_book):
    url = server.script("/pub/4/3/2/4321/4321-8.txt", reply(make_book()))
    texts = Texts(store, mirror=server.url + "/pub/", fetcher=fetcher, editions=manifest())
    assert texts.get(4321).address == url
    assert [path for path, _ in server.requests] == [
        "/pub/cache/epub/4321/pg4321.txt",
        "/pub/4/3/2/4321/4321-0.txt",
        "/pub/4/3/2/4321/4321-8.txt",
    ]


def test_a_mirror_that_cannot_be_one_is_refused_at_once(store, tmp_path):
    with pytest.raises(SourceError, match="no mirror folder"):
        Texts(store, mirror=tmp_path / "nowhere")
    with pytest.raises(UsageError):
        Texts(store, mirror="ftp://example.org/gutenberg")


# -- plan ------------------------------------------------------------------------------------------------


def test_the_plan_says_what_from_where_and_how_much_without_opening_anything(
    server, reply, store, fetcher, manifest, make_book, no_network
):
    data = make_book()
    editions = manifest(known(data), known(data, book="99"))
    server.script("/ebooks/4321", reply(data))
    Texts(store, fetcher=fetcher, editions=editions).get(4321)
    no_network()
    before = json.dumps(sorted(str(p) for p in store.root.rglob("*")))
    rows = Texts(store, fetcher=fetcher, editions=editions).plan([4321, "99", 5])
    assert [(r.gutenberg_id, r.action, r.bytes) for r in rows] == [
        ("4321", "cached", len(data)),
        ("99", "fetch", len(data)),
        ("5", "fetch", None),
    ]
    assert rows[1].address == server.url + "/ebooks/99"
    assert rows[1].further_addresses == 2
    assert json.dumps(sorted(str(p) for p in store.root.rglob("*"))) == before
    [row] = Texts(store, offline=True, editions=editions).plan([99])
    assert (row.action, row.address) == ("missing", None)


def test_the_plan_of_a_mirror_names_its_files(tmp_path, store, manifest, make_book):
    file = write(tmp_path, "4/3/2/4321/4321.txt", make_book())
    [row] = Texts(store, tmp_path, editions=manifest()).plan([4321])
    assert (row.action, row.address, row.bytes) == ("mirror", str(file), len(make_book()))


# -- real texts ------------------------------------------------------------------------------------------


def test_all_books_come_from_the_real_mirror_as_known_editions(shared_data, store):
    texts = Texts(store, shared_data / "gutenberg", offline=True)
    for book in texts.editions.books:
        [text] = texts.candidates(book)
        assert text.known_edition in texts.editions.books[book].editions
        assert text.path.name == f"pg{book}.txt"
