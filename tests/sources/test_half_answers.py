"""Half an answer of a SPARQL service, or no rows at all: asked for again, never taken for the whole."""

from __future__ import annotations

import gzip
import json
import socket
import threading

import pytest

from bookcoref_data.errors import SourceError
from bookcoref_data.sources.http import Fetcher, Pace
from bookcoref_data.sources.sparql import Archive, SparqlEndpoint, Term

pytest.importorskip("SPARQLWrapper")

ROWS = json.dumps(
    {"results": {"bindings": [{"w": {"type": "literal", "value": str(n)}} for n in range(3)]}}
).encode()
QUERY = "SELECT ?w WHERE { ?w ?p ?o }"
OPEN = b"Connection: close\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def chunks(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


def sized(body: bytes, more: int = 0) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % (len(body) + more) + body


WHOLE = {
    "with its length": sized(ROWS),
    "to the end of the connection": OPEN + ROWS,
    "in chunks": CHUNKED + chunks(ROWS[:50], ROWS[50:]) + b"0\r\n\r\n",
    "behind a mark of UTF-8": sized(b"\xef\xbb\xbf" + ROWS),
}
BROKEN = {
    "ends before its length": sized(ROWS[:-20], 20),
    "states a length that is too small": sized(ROWS, -20),
    "states a length that is too large": sized(ROWS, 20),
    "ends with the connection": OPEN + ROWS[:-20],
    "lacks chunks": CHUNKED + chunks(ROWS[:50], ROWS[50:-20]),
    "lacks the last chunk": CHUNKED + chunks(ROWS),
    "ends inside a chunk": CHUNKED + chunks(ROWS)[:-20],
    "goes on behind its end": sized(ROWS + b" java.util.concurrent"),
    "is packed": b"Content-Encoding: gzip\r\n" + sized(gzip.compress(ROWS)),
    "is no UTF-8": sized(ROWS.replace(b'"1"', b'"\xff"')),
    "has half a character": sized(ROWS.replace(b'"1"', b'"\\ud800"')),
    "has a number for a text": sized(ROWS.replace(b'"1"', b"1")),
    "has nothing for a text": sized(ROWS.replace(b'"1"', b"null")),
    "has no number for a text": sized(ROWS.replace(b'"1"', b"NaN")),
    "has a language that is no text": sized(ROWS.replace(b'"1"', b'"1", "xml:lang": 3')),
    "has an object for its rows": sized(b'{"results": {"bindings": {}}}'),
    "has a text for its rows": sized(b'{"results": {"bindings": ""}}'),
    "has results twice": sized(ROWS[:-1] + b', "results": {"bindings": []}}'),
    "is empty": sized(b""),
}


@pytest.fixture
def service(tmp_path):
    """(endpoint, what it answers: a list, the last for ever)"""
    answers: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                head, body = b"", b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(1 << 16)
                head, body = head.split(b"\r\n\r\n", 1)
                length = next(
                    line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
                )
                while len(body) < int(length.split(b":")[1]):
                    body += connection.recv(1 << 16)
                connection.sendall(answers.pop(0) if len(answers) > 1 else answers[0])

    threading.Thread(target=serve, daemon=True).start()
    fetcher = Fetcher(
        Pace(per_second=0, attempts=3, first_wait=1), sleep=lambda seconds: None, draw=lambda: 0.0
    )
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/query"
    yield SparqlEndpoint(address, "x (a@b.org)", Archive(tmp_path), fetcher, timeout=3), answers
    listening.close()


def with_head(answer: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Type: application/sparql-results+json\r\n" % status + answer


@pytest.mark.parametrize("kind", WHOLE)
def test_a_whole_answer_is_taken_at_once(service, kind):
    endpoint, answers = service
    answers += [with_head(WHOLE[kind]), with_head(sized(b"{}"))]
    assert [row["w"] for row in endpoint.ask(QUERY)] == [Term("0"), Term("1"), Term("2")]
    assert endpoint.tally.retried == 0


@pytest.mark.parametrize("kind", [*BROKEN, "is said to be a part"])
def test_half_an_answer_is_asked_for_again_and_never_kept(service, kind):
    endpoint, answers = service
    bad = with_head(BROKEN[kind]) if kind in BROKEN else with_head(sized(ROWS), b"206 Partial Content")
    answers += [bad, with_head(sized(ROWS))]
    assert [row["w"] for row in endpoint.ask(QUERY)] == [Term("0"), Term("1"), Term("2")]
    assert endpoint.tally.retried == 1
    answers[:] = [bad]
    with pytest.raises(SourceError):
        endpoint.ask(QUERY + "# again")
    assert "answer" not in endpoint.archive.read(endpoint.address, QUERY + "# again")
