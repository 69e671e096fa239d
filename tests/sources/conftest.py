"""A server on loopback that misbehaves as scripted, and a book of our own to serve."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bookcoref_data.sources.http import Fetcher, Limits, Pace
from bookcoref_data.sources.store import Store


@dataclass
class Reply:
    """How one request is answered.

    announce  Content-Length to state instead of the true one; below 0: none, the connection ends the body
    stop      send only so many bytes of the body, then close; with `reset`, break the connection off
    ranges    answer Range requests with 206 when If-Range agrees
    hang      seconds before the answer; `trickle`: between pieces of 16 kB
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    announce: int | None = None
    stop: int | None = None
    reset: bool = False
    ranges: bool = True
    etag: str | None = '"edition-1"'
    hang: float = 0.0
    trickle: float = 0.0


class FaultServer:
    """`script(path, reply, reply, ...)`: the replies to that path in order, the last one for ever after.

    `requests` holds (path, header dict) of everything that was asked.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self._scripts: dict[str, list[Reply]] = defaultdict(list)
        self.closing = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.answer(self)

            do_HEAD = do_GET

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        # A client that hangs up is what many tests want.
        self._http.handle_error = lambda request, address: None
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def script(self, path: str, *replies: Reply) -> str:
        self._scripts[path] = list(replies)
        return self.url + path

    def asked(self, path: str | None = None) -> list[dict[str, str]]:
        return [headers for p, headers in self.requests if path in (None, p)]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.split("?")[0]
        self.requests.append((path, {k.lower(): v for k, v in handler.headers.items()}))
        replies = self._scripts.get(path)
        if not replies:
            reply = Reply(b"not here", 404, etag=None)
        else:
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if reply.hang:
            self.closing.wait(reply.hang)
        self._send(handler, reply)

    def _send(self, handler, reply: Reply) -> None:
        body, status, extra = reply.body, reply.status, dict(reply.headers)
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        if asked and reply.ranges and status == 200 and handler.headers.get("If-Range") in (None, reply.etag):
            start = int(asked[1])
            if start >= len(body):
                status, body = 416, b""
            else:
                extra.setdefault("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
                status, body = 206, body[start:]
        handler.send_response(status)
        if reply.etag:
            handler.send_header("ETag", reply.etag)
        for name, value in extra.items():
            handler.send_header(name, value)
        length = len(body) if reply.announce is None else reply.announce
        if length >= 0:
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        if handler.command == "HEAD":
            return
        body = body if reply.stop is None else body[: reply.stop]
        step = 1 << 14 if reply.trickle else max(1, len(body))
        for at in range(0, len(body), step):
            handler.wfile.write(body[at : at + step])
            self.closing.wait(reply.trickle)
        handler.wfile.flush()
        if reply.stop is not None or reply.announce is not None:
            handler.close_connection = True
        if reply.reset:
            linger = struct.pack("ii", 1, 0)
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            handler.connection.close()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server(monkeypatch):
    """A running fault server; proxies of the environment do not stand between it and the test."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    running = FaultServer()
    yield running
    running.close()


@pytest.fixture
def reply():
    """The class of scripted replies."""
    return Reply


@pytest.fixture
def http_date():
    """Seconds since the epoch as an HTTP date."""
    return lambda moment: formatdate(moment, usegmt=True)


@pytest.fixture
def no_network(monkeypatch):
    """Call it to make every further connection a failure of the test."""

    def block() -> None:
        def refuse(self, address):
            raise AssertionError(f"a connection to {address} was opened")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket.socket, "connect_ex", refuse)

    return block


@pytest.fixture
def store(tmp_path):
    """An empty cache."""
    return Store(tmp_path / "cache")


@pytest.fixture
def slept():
    """The waits that the fetcher of the test asked for, in seconds; none of them is really waited."""
    return []


@pytest.fixture
def make_fetcher(slept):
    """Make a fetcher without rate limit and with fixed jitter, whose waits are noted in `slept`."""

    def make(offline=False, limits=None, **pace):
        settings = {"per_second": 0, "attempts": 3, "first_wait": 1.0} | pace
        return Fetcher(
            Pace(**settings),
            limits or Limits(connect=5, silence=5),
            offline=offline,
            sleep=slept.append,
            draw=lambda: 1.0,
        )

    return make


@pytest.fixture
def fetcher(make_fetcher):
    return make_fetcher()


@pytest.fixture
def make_book():
    """A text in the form of Gutenberg's files, written for the tests."""

    def make(number=4321, title="The Lamp at Hollow Ferry", paragraphs=60, note="first printing"):
        story = "\r\n\r\n".join(
            f"Chapter {i}. Mrs. Ardley set the lamp upon the sill, and Tom\r\n"
            f"watched the ferry come over the dark water for the {i}th time."
            for i in range(paragraphs)
        )
        return (
            f"The Project Gutenberg EBook of {title}, by Nobody\r\n\r\nTitle: {title}\r\n\r\n"
            f"Release Date: May, 1999 [EBook #{number}] {note}\r\n\r\n"
            f"*** START OF THIS PROJECT GUTENBERG EBOOK ***\r\n\r\n{story}\r\n\r\n"
            f"*** END OF THIS PROJECT GUTENBERG EBOOK ***\r\n"
        ).encode()

    return make
