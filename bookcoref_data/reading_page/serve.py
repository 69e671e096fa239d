"""Show the page on this machine and save corrections straight to disk.

The server listens on 127.0.0.1 alone. The page is given out only at an address with a random token, and
corrections are taken only with that token, for this host name, and if nobody else changed the file meanwhile.
"""

import re
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..edits import parse_edits
from ..errors import BookcorefError, SourceError
from ..files import sha256_bytes, write_text
from ..outputs import locked

MOST_BYTES = 64 << 20
"""The largest file of corrections that is taken."""
MOST_AT_ONCE = 16
"""Connections that are answered at the same time; a browser opens six."""
SECONDS = 20
"""How long a client may be silent."""
_SIZE = re.compile(r"[0-9]{1,9}")


class _Server(ThreadingHTTPServer):
    """Answers a few clients at a time. Who comes when all places are taken is turned away at once."""

    daemon_threads = True
    request_queue_size = 128  # who finds a full queue (of 5) is asked to wait for seconds by the system

    def __init__(self, *given: Any) -> None:
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        super().__init__(*given)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


def version_of(text: str) -> str:
    """A name of the content of a file of corrections."""
    return sha256_bytes(text.encode("utf-8"))


class EditServer:
    """Serves one page and keeps its corrections in one file.

    `make_page` is called with what the page must know of the server (token, version, file) each time the page
    is asked for, so that a reload shows what is on disk. `check` is asked whether a text may be saved.

    Raises:
        SourceError: the port cannot be used.
    """

    def __init__(
        self, make_page: Callable[[dict[str, str]], str], edits: Path, port: int = 0,
        check: Callable[[str, str], object] = parse_edits,
    ) -> None:  # fmt: skip
        self._check = check
        self.token = secrets.token_urlsafe(24)
        self.edits = edits
        self._make_page = make_page
        try:
            self._server = _Server(("127.0.0.1", port), _handler(self))
        except OSError as error:
            raise SourceError(
                f"cannot listen on port {port}", found=error.strerror, hint="choose another with --port, or 0"
            ) from error

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        """Where the page is: open this in a browser of this machine."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until `stop` is called or the person interrupts."""
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self._server.server_close()

    def stop(self) -> None:
        self._server.shutdown()

    def text(self) -> str:
        """The corrections on disk."""
        return self.edits.read_text(encoding="utf-8") if self.edits.is_file() else ""

    def page(self) -> bytes:
        known = {"token": self.token, "version": version_of(self.text()), "file": self.edits.name}
        return self._make_page(known).encode("utf-8")

    def save(self, text: str, version: str) -> str | None:
        """Write corrections if the file is still the one of `version`; the new version, else None.

        Raises:
            FormatError: the text is no file of corrections; nothing is written.
        """
        self._check(text, self.edits.name)
        with locked(self.edits.parent.absolute()):
            if version != version_of(self.text()):
                return None
            write_text(self.edits, text, at_once=True)
            return version_of(text)


def _handler(server: EditServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "bookcoref-data"
        sys_version = ""
        timeout = SECONDS

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the address holds the token."""

        def do_GET(self) -> None:
            if not self._for_us() or self.path.split("?")[0] != f"/{server.token}/":
                return self._answer(404, "text/plain", b"There is nothing at this address.")
            try:
                page = server.page()
            except BookcorefError as error:
                return self._answer(500, "text/plain", str(error).encode("utf-8"))
            return self._answer(200, "text/html", page)

        def do_POST(self) -> None:
            given = self.headers.get("X-Token", "")
            allowed = secrets.compare_digest(given.encode("utf-8"), server.token.encode("ascii"))
            if not (self._for_us() and allowed and self.path == f"/{server.token}/edits"):
                return self._answer(403, "text/plain", b"This page may not save here.")
            size = self.headers.get("Content-Length", "")
            if not _SIZE.fullmatch(size) or int(size) > MOST_BYTES:
                return self._answer(413, "text/plain", b"Too much to save.")
            try:
                body = self.rfile.read(int(size))
                if len(body) < int(size):
                    return self._answer(400, "text/plain", b"The corrections did not arrive whole.")
                text = body.decode("utf-8")
                version = server.save(text, self.headers.get("If-Match", ""))
            except (BookcorefError, UnicodeDecodeError, OSError) as error:
                return self._answer(400, "text/plain", str(error).encode("utf-8"))
            if version is None:
                told = f"{server.edits.name} was changed by somebody else; reload the page"
                return self._answer(412, "text/plain", told.encode("utf-8"))
            return self._answer(200, "text/plain", version.encode("ascii"))

        def _for_us(self) -> bool:
            """Another name in the Host header means that some web page was made to point here."""
            return self.headers.get("Host", "") in (f"127.0.0.1:{server.port}", f"localhost:{server.port}")

        def _answer(self, code: int, kind: str, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
            self.end_headers()
            self.wfile.write(body)

    return Handler
