"""Fixtures of the tasks: the sample story, and a server with the OpenAI interface on a free port."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import typer.main

from bookcoref_data.cli.app import make_app
from tests.sample_story.making import sample_book


@cache
def command_line():
    """The command line with all its verbs."""
    return typer.main.get_command(make_app())


@pytest.fixture(scope="module", autouse=True)
def one_command_line():
    """typer makes the whole command line anew for every call, for 0.2 s; the tests here call it 50 times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", lambda app: command_line())
        yield


@pytest.fixture(scope="session")
def story():
    """The sample story as a record."""
    return sample_book().to_record()


class ChatServer:
    """A chat server on loopback. `answer` makes the reply of a request body; `script` holds status codes
    (with headers) to give first; `bodies` and `headers` are what it was sent.
    """

    def __init__(self) -> None:
        self.answer: Callable[[dict], str] = lambda body: "a reply"
        self.script: list[tuple[int, dict[str, str]]] = []
        self.bodies: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.raw: bytes | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.bodies.append(body)
                outer.headers.append(dict(self.headers))
                status, extra = outer.script.pop(0) if outer.script else (200, {})
                reply = {
                    "choices": [{"message": {"content": outer.answer(body)}}],
                    "usage": {"prompt_tokens": 10, "completion_tokens": 3},
                }
                data = outer.raw if outer.raw is not None else json.dumps(reply).encode()
                self.send_response(status)
                for name, value in extra.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    server = ChatServer()
    yield server
    server.close()
