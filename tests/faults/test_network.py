"""Servers that are silent, slow, dead, demanding or lead astray: every wait ends, and something is said."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from bookcoref_data.errors import SourceError
from bookcoref_data.progress import Silent
from bookcoref_data.sources import deadline
from bookcoref_data.sources.gutenberg import Texts
from bookcoref_data.sources.http import Limits

QUICK = Limits(connect=0.3, silence=0.3, answer=5)
PATIENCE = 20.0  # seconds on a busy machine; without a bound it would be minutes


class Heard(Silent):
    """A listener that keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@contextmanager
def raw_server(talk):
    """A socket on loopback; `talk(connection, stop)` answers each connection in a thread of its own."""
    stop = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    accepted: list[socket.socket] = []

    def serve() -> None:
        while not stop.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            accepted.append(connection)
            threading.Thread(target=_quietly, args=(talk, connection, stop), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", accepted
    finally:
        stop.set()
        listening.close()
        for connection in accepted:
            connection.close()


def _quietly(talk, connection, stop) -> None:
    with suppress(OSError):
        talk(connection, stop)


def silent(connection, stop) -> None:
    stop.wait(60)


def slow_header(connection, stop) -> None:
    for letter in b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 10_000:
        connection.sendall(bytes([letter]))
        if stop.wait(0.05):
            return


def slow_body(connection, stop) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while not stop.wait(0.05):
        connection.sendall(b"x")


def endless_body(connection, stop) -> None:
    """No length is announced, so a cut connection looks like the end of the file."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while not stop.wait(0.05):
        connection.sendall(b"x")


def no_tls(connection, stop) -> None:
    """Accepts the connection and never answers the handshake."""
    stop.wait(60)


@pytest.fixture
def heard(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setattr(deadline, "NOTICE_AFTER", 0.1)
    return Heard()


@pytest.mark.long
@pytest.mark.parametrize("talk", [silent, slow_header, slow_body, endless_body])
def test_a_slow_server_is_left_by_the_clock(make_fetcher, tmp_path, heard, talk):
    fetcher = make_fetcher(limits=QUICK, attempts=5)
    fetcher.progress = heard
    start = time.monotonic()
    with raw_server(talk) as (url, accepted):
        with pytest.raises(SourceError):
            fetcher.download(url + "/book.txt", tmp_path / "book.txt")
        asked = len(accepted)
        # The host is dead for the whole run: nothing more is asked, whatever the book.
        with pytest.raises(SourceError, match="given up in this run"):
            fetcher.download(url + "/other.txt", tmp_path / "other.txt")
        assert len(accepted) == asked <= 2
    assert time.monotonic() - start < PATIENCE
    assert not (tmp_path / "book.txt").exists()
    assert any(note.startswith("waiting for 127.0.0.1") for note in heard.notes)
    assert any("left out for the rest of this run" in note for note in heard.notes)


@pytest.mark.long
def test_a_handshake_without_end_is_left(make_fetcher, heard):
    start = time.monotonic()
    with raw_server(no_tls) as (url, _), pytest.raises(SourceError):
        make_fetcher(limits=QUICK).get(url.replace("http://", "https://") + "/f")
    assert time.monotonic() - start < PATIENCE


@pytest.mark.long
def test_another_address_is_asked_when_one_is_silent(make_fetcher, server, reply, store, make_book, heard):
    fetcher = make_fetcher(limits=QUICK)
    fetcher.progress = heard
    with raw_server(silent) as (dead, _):
        server.script("/pg4321.txt", reply(make_book()))
        texts = Texts(store, fetcher=fetcher, editions=_two_addresses(dead, server.url))
        assert texts.get(4321).address == server.url + "/pg4321.txt"


def _two_addresses(first: str, second: str):
    from bookcoref_data.sources.editions import Address, Editions, KnownEditions

    book = KnownEditions("The Lamp at Hollow Ferry", ())
    addresses = tuple(Address(f"{host}/pg{{id}}.txt", "current") for host in (first, second))
    return Editions(addresses, ("cache/epub/{id}/pg{id}.txt",), {"4321": book})


def test_a_long_retry_after_is_the_last_request(make_fetcher, server, reply):
    url = server.script("/a", reply(b"", 429, {"Retry-After": "86400"}))
    server.script("/b", reply(b"there"))
    fetcher = make_fetcher()
    for path in (url, server.url + "/b", server.url + "/c"):
        with pytest.raises(SourceError):
            fetcher.get(path)
    assert [path for path, _ in server.requests] == ["/a"]


def test_each_wait_between_tries_is_reported(make_fetcher, server, reply, heard):
    url = server.script("/a", reply(b"", 503, {"Retry-After": "30"}), reply(b"there"))
    fetcher = make_fetcher()
    fetcher.progress = heard
    assert fetcher.get(url).content == b"there"
    # A busy machine may miss an answer besides, which is reported, too.
    (note,) = [note for note in heard.notes if "503" in note]
    assert "30 s" in note


@pytest.mark.parametrize("way", ["mirror", "addresses"])
def test_only_the_given_mirror_is_asked(make_fetcher, server, reply, store, make_book, heard, way):
    """A redirect to another host is followed for Gutenberg's own addresses, and refused for a mirror."""
    body = make_book()
    elsewhere = server.script("/elsewhere/pg4321.txt", reply(body)).replace("127.0.0.1", "localhost")
    path = "/cache/epub/4321/pg4321.txt" if way == "mirror" else "/pg4321.txt"
    server.script(path, reply(b"", 302, {"Location": elsewhere}))
    mirror = server.url if way == "mirror" else None
    texts = Texts(store, mirror, fetcher=make_fetcher(), editions=_two_addresses(server.url, server.url))
    if way == "addresses":
        assert texts.get(4321).path.read_bytes() == body
        return
    with pytest.raises(SourceError, match="a redirect to another host"):
        texts.get(4321)
    assert "/elsewhere/pg4321.txt" not in [asked for asked, _ in server.requests]


def test_a_lock_that_is_held_is_reported_with_its_holder(store, monkeypatch):
    from bookcoref_data.sources import store as room

    monkeypatch.setattr(room, "_SILENT_WAIT", 0.1)
    heard = Heard()
    other = room.Store(store.root, heard)
    with (
        store.lock("work"),
        pytest.raises(SourceError, match="held by process"),
        other.lock("work", wait=0.3),
    ):
        pass
    (note,) = heard.notes
    assert "waiting for work" in note
    import os

    assert f"process {os.getpid()} " in note
    with other.lock("work", wait=0.3):
        assert len(heard.notes) == 1


def test_a_stopped_holder_is_called_stopped(store, monkeypatch):
    from bookcoref_data.sources import store as room

    monkeypatch.setattr(room, "_is_stopped", lambda pid: True)
    with store.lock("work"):
        assert "which is stopped" in room.lock_holder(store.root / ".locks/work.lock")
    assert room.lock_holder(store.root / ".locks/work.lock") == "a process that left no name"
