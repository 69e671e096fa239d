"""Harvests from a real SPARQL server on loopback, over Turtle in Wikidata's shape, with faults in between."""

from __future__ import annotations

import gzip
import http.client
import http.server
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from bookcoref_data.characters.wikidata_cast import CastReport, cast_rows
from bookcoref_data.errors import FormatError, MissingExtraError, OfflineError, SourceError, UsageError
from bookcoref_data.sources.http import Fetcher, Pace
from bookcoref_data.sources.sparql import Archive, SparqlEndpoint, TooHeavyError, require_contact
from bookcoref_data.sources.wikidata import WikidataSettings, harvest

pytest.importorskip("SPARQLWrapper")

PREFIXES = """\
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix schema: <http://schema.org/> .
"""

# Q100 a novel; Q101 two authors, no P1476; Q102 a film without author, of the same title as Q100;
# Q103 titles in three languages; Q104 an author who is unknown. Q205 was merged into Q206.
WORLD = (
    PREFIXES
    + """\
wd:Q100 wdt:P31 wd:Q7725634 ; wdt:P50 wd:Q1 ; wdt:P1476 "The Lamp Road"@en ; rdfs:label "The Lamp Road"@en ;
  wdt:P674 wd:Q200, wd:Q201, wd:Q205 ; schema:description "a novel"@en .
wd:Q101 wdt:P31 wd:Q7725634 ; wdt:P50 wd:Q1, wd:Q2 ; rdfs:label "Two Hands"@en, "Zwei Haende"@de ;
  wdt:P674 wd:Q202 .
wd:Q102 wdt:P31 wd:Q11424 ; wdt:P1476 "The Lamp Road"@en ; rdfs:label "The Lamp Road"@en ; wdt:P674 wd:Q200 .
wd:Q103 wdt:P31 wd:Q8261 ; wdt:P50 wd:Q2 ; wdt:P1476 "La Route"@fr, "Droga"@pl, "The Road"@en ;
  rdfs:label "La Route"@fr ; wdt:P674 wd:Q203, wd:Q204 .
wd:Q104 wdt:P50 <http://www.wikidata.org/.well-known/genid/abc> ; wdt:P1476 "Old Tale"@en ; wdt:P674 wd:Q201 .
wd:Q105 wdt:P50 wd:Q1 ; wdt:P1476 "Empty"@en .
wd:Q110 wdt:P50 wd:Q2 ; wdt:P31 wd:Q7725634 ; wdt:P1476 "Volume One"@en ; wdt:P179 wd:Q111 .
wd:Q111 wdt:P31 wd:Q277759 ; rdfs:label "The Cycle"@en ; wdt:P674 wd:Q201 .
wd:Q207 rdfs:label "Late Ann"@en ; wdt:P1441 wd:Q104 .
wd:Q1 rdfs:label "Mira Holt"@en, "Мира Холт"@ru ; skos:altLabel "M. Holt"@en, "Mira Holt-Lamp"@fr .
wd:Q2 rdfs:label "Sam Reed"@en .
wd:Q200 rdfs:label "Ada Brook"@en, "Ada Brook"@de ; skos:altLabel "Ada"@en, "Adchen"@de .
wd:Q201 rdfs:label "Old Tam"@mul .
wd:Q202 rdfs:label "Тамара"@ru .
wd:Q203 rdfs:label "Ὀδυσσεύς"@grc .
wd:Q204 schema:description "has no label at all"@en .
wd:Q205 owl:sameAs wd:Q206 .
wd:Q206 rdfs:label "Bib"@en .
"""
)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def start_oxigraph(folder: Path, turtle: str):
    """(process, port) of a read-only server over `turtle`."""
    program = shutil.which("oxigraph") or str(Path(sys.executable).with_name("oxigraph"))
    if not Path(program).exists():
        pytest.skip("needs the oxigraph server (pip install oxigraph)")
    (folder / "world.ttl").write_text(turtle, encoding="utf-8")
    store = str(folder / "store")
    subprocess.run([program, "load", "--location", store, "--file", str(folder / "world.ttl")], check=True,
                   capture_output=True)  # fmt: skip
    port = free_port()
    bind = ["--bind", f"127.0.0.1:{port}"]
    server = subprocess.Popen([program, "serve-read-only", "--location", store, *bind],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    server.kill()
    raise RuntimeError("oxigraph did not start")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    server, port = start_oxigraph(tmp_path_factory.mktemp("world"), WORLD)
    yield port
    server.kill()
    server.wait()


class Proxy:
    """Stands before the server; `fault(query)` may answer instead of it. Remembers queries and agents."""

    def __init__(self, port: int) -> None:
        self.port, self.queries, self.agents = port, [], []
        self.fault = lambda query: None
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                query = urllib.parse.parse_qs(body.decode())["query"][0]
                proxy.queries.append(query)
                proxy.agents.append(self.headers["User-Agent"])
                answer = proxy.fault(query) or proxy.forward(body, self.headers)
                if answer is CLOSE:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/query"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def forward(self, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", "/query", body, {k: headers[k] for k in ("Content-Type", "Accept")})
        answer = connection.getresponse()
        return answer.status, {"Content-Type": answer.headers["Content-Type"]}, answer.read()


CLOSE = object()


@pytest.fixture
def proxy(world):
    proxy = Proxy(world)
    yield proxy
    proxy.server.shutdown()
    proxy.server.server_close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def endpoint(proxy, tmp_path, waits):
    fetcher = Fetcher(Pace(per_second=0, attempts=4, first_wait=1), sleep=waits.append, draw=lambda: 0.0)
    return SparqlEndpoint(
        proxy.address, "harvester/1 (mail@example.org)", Archive(tmp_path / "raw"), fetcher, timeout=10
    )


SMALL = WikidataSettings(works_batch=2, persons_batch=3)


def once(*answers):
    """A fault that gives each answer once, then none."""
    left = list(answers)
    return lambda query: left.pop(0) if left else None


def refused(status, **headers):
    return status, {"Content-Type": "text/plain", **headers}, b"busy"


# --- what a harvest finds -------------------------------------------------------------------------------


def test_a_harvest_finds_works_characters_authors_and_follows_redirects(endpoint):
    found = harvest(endpoint, SMALL)
    assert found.works == ["Q100", "Q101", "Q103", "Q104"]
    assert {t.value[-4:] for t in found.of("Q100")["wdt:P674"]} == {"Q200", "Q201", "Q205"}
    assert set(found.of("Q103")["wdt:P1476"]) == {("La Route", "fr"), ("Droga", "pl"), ("The Road", "en")}
    assert found.redirects == {"Q205": "Q206"}
    assert found.of("Q205")["rdfs:label"] == [("Bib", "en")]
    assert set(found.of("Q1")["skos:altLabel"]) == {("M. Holt", "en"), ("Mira Holt-Lamp", "fr")}
    assert found.failed == []


def test_names_in_no_wanted_language_are_asked_for_once_more(endpoint):
    found = harvest(endpoint, SMALL)
    assert found.of("Q203")["rdfs:label"] == [("Ὀδυσσεύς", "grc")]
    assert found.of("Q204") == {}


def test_several_authors_and_titles_do_not_multiply(endpoint):
    found = harvest(endpoint, SMALL)
    assert len(found.of("Q101")["wdt:P50"]) == 2
    assert len(found.of("Q101")["wdt:P674"]) == 1


def test_works_without_author_come_only_when_asked_for(endpoint):
    settings = WikidataSettings(require_author=False)
    assert "Q102" in harvest(endpoint, settings).works


def test_a_character_that_names_its_work_and_the_cast_of_a_series_are_found(endpoint):
    found = harvest(endpoint, SMALL)
    assert found.of("Q104")["^wdt:P1441"] == [("http://www.wikidata.org/entity/Q207", "")]
    assert found.of("Q207")["rdfs:label"] == [("Late Ann", "en")]
    # Q110 is a book of the series Q111 and lists nobody; a series has no author here.
    found = harvest(endpoint, WikidataSettings(require_author=False))
    assert {"Q110", "Q111"} <= set(found.works)
    rows = list(cast_rows(["Q110"], found.of, found.current, "", CastReport()))
    assert [(row.character, "series-cast" in row.flags) for row in rows] == [("Old Tam", True)]


def test_a_given_list_of_works_is_asked_for_directly(endpoint, proxy):
    found = harvest(endpoint, SMALL, works=["Q103", "Q999", "Q102"])
    assert found.works == ["Q102", "Q103"]
    assert not any("wdt:P674 ?" in query for query in proxy.queries)
    # Q999 has nothing to say, as anybody may list anything: it is not asked for again
    assert sum("wd:Q999" in query and "wdt:P674" in query for query in proxy.queries) == 1
    assert not found.failed


def test_the_service_sees_the_agent_with_its_contact(endpoint, proxy):
    harvest(endpoint, SMALL)
    assert set(proxy.agents) == {"harvester/1 (mail@example.org)"}


@pytest.mark.parametrize("contact", ["", "somebody"])
def test_a_harvest_without_contact_is_refused(contact):
    with pytest.raises(UsageError, match="write to"):
        require_contact(contact)
    assert require_contact("a@b.org") == "a@b.org"


def test_without_the_package_the_error_has_the_install_line(endpoint, monkeypatch):
    monkeypatch.setitem(sys.modules, "SPARQLWrapper", None)
    with pytest.raises(MissingExtraError, match=r"bookcoref-data\[harvest\]"):
        harvest(endpoint, SMALL)


# --- replay and resume ----------------------------------------------------------------------------------


def offline(endpoint):
    return SparqlEndpoint(endpoint.address, "x", endpoint.archive, Fetcher(offline=True))


def test_a_finished_harvest_replays_without_network(endpoint, proxy):
    found = harvest(endpoint, SMALL)
    proxy.server.shutdown()
    proxy.server.server_close()
    again = offline(endpoint)
    assert harvest(again, SMALL) == found
    assert again.tally.asked == 0
    assert again.tally.first_retrieved == endpoint.tally.first_retrieved


def test_offline_without_the_answers_says_what_is_missing(endpoint, proxy):
    with pytest.raises(OfflineError, match="not in the archive"):
        harvest(offline(endpoint), SMALL)
    assert proxy.queries == []


def test_an_interrupted_harvest_asks_only_for_what_is_missing(endpoint, proxy):
    def break_at_fourth(query):
        return refused(403) if len(proxy.queries) >= 4 else None

    proxy.fault = break_at_fourth
    with pytest.raises(SourceError, match="contact"):
        harvest(endpoint, SMALL)
    done = proxy.queries[:3]
    proxy.fault = lambda query: None
    proxy.queries.clear()
    found = harvest(endpoint, SMALL)
    assert not set(done) & set(proxy.queries)
    assert found.works == ["Q100", "Q101", "Q103", "Q104"]


def test_every_raw_answer_is_kept_with_query_and_date(endpoint):
    harvest(endpoint, SMALL)
    records = [json.loads(gzip.decompress(p.read_bytes())) for p in endpoint.archive.folder.iterdir()]
    assert len(records) == endpoint.tally.asked
    for record in records:
        assert record["query"].startswith("PREFIX")
        assert datetime.fromisoformat(record["retrieved"]).tzinfo
        assert record["endpoint"] == endpoint.address
        assert "bindings" in record["answer"]["results"]


def test_old_answers_are_asked_for_anew_only_when_an_age_is_set(endpoint, proxy):
    harvest(endpoint, SMALL)
    asked = len(proxy.queries)
    harvest(endpoint, SMALL)
    assert len(proxy.queries) == asked
    endpoint.max_age_days = 30
    endpoint.now = lambda: datetime.now(timezone.utc) + timedelta(days=31)
    harvest(endpoint, SMALL)
    assert len(proxy.queries) == 2 * asked


def test_a_damaged_kept_answer_is_named(endpoint):
    harvest(endpoint, SMALL)
    path = next(endpoint.archive.folder.iterdir())
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(FormatError, match=re.escape(path.name)):
        harvest(endpoint, SMALL)


# --- faults of the service ------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [
    refused(500), refused(502), refused(503), refused(429),
    (200, {"Content-Type": "text/html"}, b"<html><body>Wikimedia Error</body></html>"),
    (200, {"Content-Type": "application/sparql-results+json"}, b"<!DOCTYPE html>"),
    (200, {"Content-Type": "application/sparql-results+json"}, b'{"head": {}, "results": {"bind'),
    (200, {"Content-Type": "application/sparql-results+json"}, b'{"head": {}}'),
    (200, {"Content-Type": "application/sparql-results+json"}, b'{"results": {"bindings": [{"work": 1}]}}'),
    (200, {"Content-Type": "application/sparql-results+json"}, b""),
    CLOSE,
], ids=["500", "502", "503", "429", "html", "html-as-json", "cut", "no-results", "odd-row", "empty",
        "closed"])  # fmt: skip
def test_a_passing_fault_costs_one_more_try_and_changes_nothing(endpoint, proxy, waits, fault):
    proxy.fault = once(fault)
    found = harvest(endpoint, SMALL)
    assert found.works == ["Q100", "Q101", "Q103", "Q104"]
    assert proxy.queries[0] == proxy.queries[1]
    assert endpoint.tally.retried == 1
    assert waits[0] == pytest.approx(0.5)


def test_retry_after_is_honoured(endpoint, proxy, waits):
    proxy.fault = once(refused(429, **{"Retry-After": "7"}), refused(503, **{"Retry-After": "11"}))
    harvest(endpoint, SMALL)
    assert waits[:2] == [7, 11]


def test_a_service_that_wants_a_long_pause_is_left_alone(endpoint, proxy):
    proxy.fault = lambda query: refused(429, **{"Retry-After": "86400"})
    with pytest.raises(SourceError, match="86400"):
        harvest(endpoint, SMALL)
    assert len(proxy.queries) == 1


def test_a_service_that_stays_busy_ends_the_harvest_with_exit_code_3(endpoint, proxy):
    proxy.fault = lambda query: refused(429)
    with pytest.raises(SourceError) as caught:
        harvest(endpoint, SMALL)
    assert caught.value.exit_code == 3
    assert not isinstance(caught.value, TooHeavyError)
    assert len(proxy.queries) == 4


def test_a_refused_client_does_not_try_again(endpoint, proxy):
    proxy.fault = lambda query: refused(403)
    with pytest.raises(SourceError, match="contact"):
        harvest(endpoint, SMALL)
    assert len(proxy.queries) == 1


def test_a_wrong_address_says_so(endpoint, tmp_path, proxy):
    wrong = SparqlEndpoint(endpoint.address, "x", Archive(tmp_path / "b"), endpoint.fetcher)
    proxy.fault = lambda query: refused(404)
    with pytest.raises(SourceError, match="address of the endpoint"):
        harvest(wrong, SMALL)


def test_nobody_at_the_address_is_a_source_error_not_a_small_query(tmp_path, waits):
    fetcher = Fetcher(Pace(per_second=0, attempts=2, first_wait=0), sleep=waits.append)
    nobody = SparqlEndpoint(f"http://127.0.0.1:{free_port()}/query", "x", Archive(tmp_path), fetcher)
    with pytest.raises(SourceError) as caught:
        nobody.ask("SELECT * WHERE {}")
    assert not isinstance(caught.value, TooHeavyError)


def test_a_query_the_service_does_not_understand_is_not_repeated(endpoint, proxy):
    with pytest.raises(SourceError, match="400"):
        endpoint.ask("SELECT ?x WHERE { ?x undeclared:thing ?y }")
    assert len(proxy.queries) == 1


STACK = b'{"head": {}, "results": {"bindings": [\njava.util.concurrent.TimeoutException\n\tat com.bigdata'


def heavy_when(too_many):
    """A service that times out half-way through queries over more than so many items."""

    def fault(query):
        items = {f"wd:{item}" for item in re.findall(r"\(wd:(Q\d+) ", query)}
        if not items:
            return None
        return (200, {"Content-Type": "application/sparql-results+json"}, STACK) if too_many(items) else None

    return fault


def test_a_batch_too_heavy_is_halved_and_nothing_is_lost(endpoint, proxy, waits):
    proxy.fault = heavy_when(lambda items: len(items) > 1)
    found = harvest(endpoint, WikidataSettings(works_batch=4, persons_batch=8))
    assert found.failed == []
    assert found.works == ["Q100", "Q101", "Q103", "Q104"]
    assert found.of("Q205")["rdfs:label"] == [("Bib", "en")]
    assert waits == []  # a timeout is answered by asking for less, not by waiting
    settings = WikidataSettings(works_batch=4, persons_batch=8)
    assert harvest(offline(endpoint), settings) == found
    proxy.queries.clear()
    endpoint.now = lambda: datetime.now(timezone.utc) + timedelta(hours=7)
    assert harvest(endpoint, settings) == found
    assert proxy.queries  # refused once: asked once more, at another time
    proxy.queries.clear()
    assert harvest(endpoint, settings) == found
    assert proxy.queries == []  # refused twice: remembered


@pytest.mark.parametrize("fault", [
    refused(502), refused(503), refused(500), refused(504),
    (200, {"Content-Type": "text/html"}, b"<html><body>Wikimedia Error</body></html>"), CLOSE,
], ids=["502", "503", "500", "504", "html", "closed"])  # fmt: skip
def test_an_outage_is_over_when_the_service_is_back(endpoint, proxy, fault):
    endpoint.give_up_after = 3
    proxy.fault = lambda query: fault
    for hours in (0, 8, 16):
        endpoint.now = lambda hours=hours: datetime.now(timezone.utc) + timedelta(hours=hours)
        with pytest.raises(SourceError):
            harvest(endpoint, SMALL)
    proxy.fault = lambda query: None
    assert harvest(endpoint, SMALL).works == ["Q100", "Q101", "Q103", "Q104"]


def test_a_row_that_lacks_a_column_is_no_traceback(endpoint, proxy):
    answer = {"head": {}, "results": {"bindings": [{"item": {"type": "uri", "value": "x"}}]}}
    data = json.dumps(answer).encode()
    proxy.fault = lambda query: (200, {"Content-Type": "application/sparql-results+json"}, data)
    with pytest.raises(SourceError, match=r"without \?works"):
        harvest(endpoint, SMALL)
    with pytest.raises(SourceError, match=r"without \?property"):
        harvest(endpoint, SMALL, works=["Q100"])
    row = {name: {"type": "literal", "value": "many"} for name in ("work", "works")}
    data = json.dumps({"head": {}, "results": {"bindings": [row]}}).encode()
    endpoint.max_age_days = -1
    with pytest.raises(SourceError, match="no number of works"):
        harvest(endpoint, SMALL)


def test_an_item_that_fails_alone_is_reported_and_the_rest_is_kept(endpoint, proxy):
    proxy.fault = heavy_when(lambda items: "wd:Q200" in items)
    found = harvest(endpoint, WikidataSettings(works_batch=4, persons_batch=8))
    assert found.failed == ["Q200"]
    assert found.of("Q201")["rdfs:label"] == [("Old Tam", "mul")]


@pytest.mark.parametrize("heavy", [
    lambda query: "COUNT" in query,
    lambda query: "?character" in query and "STRENDS" not in query,
    lambda query: re.search(r"\?character \.(?!.*\d\d\")", query, re.S),
], ids=["count", "list", "list and its tenths"])  # fmt: skip
def test_a_list_too_heavy_is_divided_and_nothing_is_lost(endpoint, proxy, heavy):
    proxy.fault = lambda query: refused(504) if heavy(query) else None
    found = harvest(endpoint, WikidataSettings())
    assert found.works == ["Q100", "Q101", "Q103", "Q104"]
    assert found.failed == []


def test_a_part_that_cannot_be_had_however_small_is_named(endpoint, proxy):
    def fault(query):
        ending = re.search(r'STRENDS\(STR\(\?work\), "(\d+)"', query)
        heavy = "SELECT ?work" in query and (ending is None or ending[1].endswith("4"))
        return refused(504) if heavy else None

    proxy.fault = fault
    found = harvest(endpoint, WikidataSettings())
    assert found.works == ["Q100", "Q101", "Q103"]
    assert found.failed == [f"works that end in {digit}4" for digit in range(10)]


def answer(*rows):
    cells = [{name: {"type": "literal", "value": value} for name, value in row.items()} for row in rows]
    data = json.dumps({"head": {}, "results": {"bindings": cells}}).encode()
    return 200, {"Content-Type": "application/sparql-results+json"}, data


def test_an_empty_answer_is_no_list_of_no_works(endpoint, proxy, waits):
    proxy.fault = once(answer({"works": "0"}), answer())
    assert harvest(endpoint, SMALL).works == ["Q100", "Q101", "Q103", "Q104"]
    assert len(waits) == 2


def test_half_a_list_is_asked_for_again(endpoint, proxy):
    half = answer({"work": "http://www.wikidata.org/entity/Q100"})
    left = [half]
    proxy.fault = lambda query: left.pop() if left and "SELECT ?work" in query else None
    assert harvest(endpoint, SMALL).works == ["Q100", "Q101", "Q103", "Q104"]


def test_a_service_that_has_nothing_ends_the_harvest_without_a_table(endpoint, proxy):
    proxy.fault = lambda query: answer()
    with pytest.raises(SourceError):
        harvest(endpoint, SMALL)
    assert not list(endpoint.archive.folder.glob("*"))
    proxy.fault = lambda query: answer({"works": "0"}) if "COUNT" in query else None
    with pytest.raises(SourceError):
        harvest(endpoint, SMALL)
    proxy.fault = lambda query: None
    assert harvest(endpoint, SMALL).works == ["Q100", "Q101", "Q103", "Q104"]


def test_works_left_out_of_an_answer_are_asked_for_once_more(endpoint, proxy):
    left = [answer()]
    proxy.fault = lambda query: left.pop() if left and "(wd:Q100 wdt:P674)" in query else None
    found = harvest(endpoint, SMALL)
    assert found.works == ["Q100", "Q101", "Q103", "Q104"]
    assert harvest(offline(endpoint), SMALL) == found


def works_in(query):
    """The works that a query asks for the characters of."""
    return re.findall(r"\(wd:(Q\d+) wdt:P674\)", query)


def silent_at_first():
    """A service that says nothing of a work when it is asked for it the first time."""
    asked = set()

    def fault(query):
        new = set(works_in(query)) - asked
        asked.update(new)
        return answer() if new else None

    return fault


def test_works_of_which_nothing_came_are_asked_for_in_half_as_large_queries(endpoint, proxy):
    proxy.fault = silent_at_first()
    found = harvest(endpoint, WikidataSettings(works_batch=4, persons_batch=3))
    assert (found.works, found.failed) == (["Q100", "Q101", "Q103", "Q104"], [])
    asked = [works for query in proxy.queries if (works := works_in(query))]
    assert asked[1:] == [["Q100", "Q101"], ["Q103", "Q104"]]


def test_a_work_of_which_nothing_came_when_it_was_asked_for_alone_is_asked_for_again(endpoint, proxy):
    """The second query is the first one, whose empty answer is kept: it is no second answer."""
    proxy.fault = silent_at_first()
    found = harvest(endpoint, WikidataSettings(works_batch=1, persons_batch=3))
    assert (found.works, found.failed) == (["Q100", "Q101", "Q103", "Q104"], [])
    asked = [works for query in proxy.queries if (works := works_in(query))]
    assert asked.count(["Q100"]) == 2


def test_a_work_of_which_nothing_ever_comes_is_named(endpoint, proxy):
    proxy.fault = lambda query: answer() if works_in(query) else None
    found = harvest(endpoint, WikidataSettings(works_batch=1, persons_batch=3))
    assert {"Q100", "Q101", "Q103"} <= set(found.failed)
    assert all(len(works_in(query)) <= 1 for query in proxy.queries)
    proxy.queries.clear()
    endpoint.fetcher.offline = True
    assert harvest(endpoint, WikidataSettings(works_batch=1, persons_batch=3)) == found
    assert not proxy.queries


@pytest.mark.parametrize("what", ["wdt:P1441", "wd:Q200 rdfs:label"])
def test_an_empty_answer_about_many_items_is_not_believed_at_once(endpoint, proxy, monkeypatch, what):
    """It took the characters that name their work, or the aliases and classes of all, without a word."""
    monkeypatch.setattr("bookcoref_data.sources.wikidata._SURE", 3)
    whole = harvest(endpoint, WikidataSettings())
    shutil.rmtree(endpoint.archive.folder)
    left = [answer()]
    proxy.fault = lambda query: left.pop() if left and what in query else None
    assert harvest(endpoint, WikidataSettings()) == whole
    assert not left
    assert harvest(offline(endpoint), WikidataSettings()) == whole


def test_persons_of_whom_nothing_came_are_asked_for_once_more(endpoint, proxy):
    whole = harvest(endpoint, SMALL)
    shutil.rmtree(endpoint.archive.folder)
    left = [answer()]
    proxy.fault = lambda query: left.pop() if left and "wd:Q200 rdfs:label" in query else None
    assert harvest(endpoint, SMALL) == whole
    assert not left


def test_a_service_that_cuts_answers_off_at_a_number_of_rows_is_asked_for_less(endpoint, proxy, monkeypatch):
    """Services that are no Wikidata of old give 1,000 or 10,000 rows at most, and say nothing of the rest."""
    monkeypatch.setattr("bookcoref_data.sources.wikidata._LIMITS", 9)
    whole = harvest(endpoint, WikidataSettings())
    shutil.rmtree(endpoint.archive.folder)
    forward = proxy.forward

    def capped(body, headers):
        status, kinds, data = forward(body, headers)
        found = json.loads(data)
        del found["results"]["bindings"][9:]
        return status, kinds, json.dumps(found).encode()

    proxy.forward = capped
    found = harvest(endpoint, WikidataSettings())
    assert harvest(offline(endpoint), WikidataSettings()) == found
    for harvested in (found, whole):
        for values in (values for facts in harvested.facts.values() for values in facts.values()):
            values.sort()
    assert found == whole


def test_an_answer_that_lacks_a_column_is_not_kept(endpoint, proxy):
    left = [answer({"item": "http://www.wikidata.org/entity/Q100"})]
    proxy.fault = lambda query: left.pop() if left and works_in(query) else None
    with pytest.raises(SourceError, match=r"without \?property"):
        harvest(endpoint, SMALL)
    assert harvest(endpoint, SMALL).works == ["Q100", "Q101", "Q103", "Q104"]


def test_no_class_is_walked(endpoint, proxy):
    harvest(endpoint, SMALL)
    assert not [query for query in proxy.queries if re.search(r"\?\w+ wdt:P31 (?:wd:|\?class|<)", query)]


def test_a_server_that_never_recovers_is_not_flooded(endpoint, proxy):
    endpoint.give_up_after = 3
    proxy.fault = lambda query: refused(500)
    with pytest.raises(SourceError, match="3 queries in a row"):
        harvest(endpoint, SMALL, works=[f"Q{n}" for n in range(1, 40)])
    assert len(proxy.queries) == 3 * 4


def test_a_server_that_is_silent_for_too_long_counts_as_too_heavy(endpoint, proxy, monkeypatch):
    """The others have all the time they need, so that a busy machine makes no query too heavy."""
    from SPARQLWrapper import SPARQLWrapper

    def is_slow(query):
        return "(wd:Q100 " in query and "(wd:Q101 " in query and "wdt:P674)" in query

    def slow(query):
        if is_slow(query):
            over.wait(60)
            return CLOSE
        return None

    def asked(wrapper):
        if is_slow(wrapper.queryString):
            wrapper.setTimeout(1)
        return ask(wrapper)

    over, ask = threading.Event(), SPARQLWrapper.query
    monkeypatch.setattr(SPARQLWrapper, "query", asked)
    proxy.fault = slow
    try:
        found = harvest(endpoint, SMALL)
    finally:
        over.set()
    assert endpoint.tally.too_heavy == 1
    assert found.works == ["Q100", "Q101", "Q103", "Q104"]
    assert found.failed == []


# --- size -----------------------------------------------------------------------------------------------


def many_works(works: int, each: int) -> str:
    lines = [PREFIXES]
    for w in range(works):
        cast = ", ".join(f"wd:Q{9_000_000 + w * each + c}" for c in range(each))
        lines.append(f'wd:Q{1_000_000 + w} wdt:P50 wd:Q{8_000_000 + w // 3} ; wdt:P1476 "Book {w}"@en ; '
                     f'wdt:P674 {cast} .')  # fmt: skip
        lines.append(f'wd:Q{8_000_000 + w // 3} rdfs:label "Author {w // 3}"@en .')
        lines.extend(f'wd:Q{9_000_000 + w * each + c} rdfs:label "Person {w}-{c}"@en, "Figur {w}-{c}"@de .'
                     for c in range(each))  # fmt: skip
    return "\n".join(lines)


@pytest.mark.long
@pytest.mark.slow
def test_20000_characters_come_whole(tmp_path):
    server, port = start_oxigraph(tmp_path, many_works(2000, 10))
    try:
        fetcher = Fetcher(Pace(per_second=0, attempts=2, first_wait=0))
        endpoint = SparqlEndpoint(
            f"http://127.0.0.1:{port}/query", "x (a@b.org)", Archive(tmp_path / "raw"), fetcher
        )
        found = harvest(endpoint, WikidataSettings(works_batch=100, persons_batch=400))
    finally:
        server.kill()
        server.wait()
    assert len(found.works) == 2000
    names = {t.value for i in range(20_000) for t in found.of(f"Q{9_000_000 + i}")["rdfs:label"]}
    assert {f"Person {w}-{c}" for w in range(2000) for c in range(10)} <= names
    # Works are listed and counted, asked for facts, asked who points to them (larger batches); persons.
    assert endpoint.tally.asked == 2 + 20 + 2 * 5 + 52  # nobody points to them, which is asked twice
