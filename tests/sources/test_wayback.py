"""Archived addresses taken apart and joined; pages fetched from a loopback archive, with faults."""

from __future__ import annotations

import csv
import gzip
import http.server
import json
import re
import socket
import threading

import pytest

from bookcoref_data.errors import FormatError, OfflineError, UsageError
from bookcoref_data.sources.http import Fetcher, Pace
from bookcoref_data.sources.wayback import PageStore, join, original_of, parse_address, plain_bytes, same_page

# --- addresses ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(reference):
    """All 8,310 rows of addresses that LiSCU and BookWorm publish."""
    found = []
    for name in ("liscu_urls.tsv", "bookworm/description_data.tsv", "bookworm/analysis_data.tsv"):
        with open(reference / name, encoding="utf-8", newline="") as stream:
            found += [row[-1] for row in csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
    return found


def test_every_published_address_is_parsed_and_rebuilt_without_change(published):
    assert len(published) == 7472 + 838
    for address in published:
        parts = parse_address(address)
        assert str(parts) == address
        assert re.fullmatch(r"https://www\.\w+\.com/.*", parts.original)


@pytest.mark.parametrize(("address", "stamp", "flag", "original"), [
    ("https://web.archive.org/web/2023/https://www.shmoop.com/x", "2023", "", "https://www.shmoop.com/x"),
    ("http://web.archive.org/web/20201219000000id_/http://a.com/b%2Ac/", "20201219000000", "id_", "http://a.com/b%2Ac/"),
    ("http://127.0.0.1:80/web/2020if_/https://a.com/?q=/web/1/", "2020", "if_", "https://a.com/?q=/web/1/"),
])  # fmt: skip
def test_addresses_in_other_forms(address, stamp, flag, original):
    parts = parse_address(address)
    assert (parts.stamp, parts.flag, parts.original) == (stamp, flag, original)
    assert str(parts) == address


@pytest.mark.parametrize("address", [
    "https://www.shmoop.com/x", "", "https://web.archive.org/web/https://a.com", "web/2020/https://a.com",
    "https://web.archive.org/save/2020/https://a.com",
])  # fmt: skip
def test_what_is_not_archived_is_not_parsed(address):
    assert parse_address(address) is None


PAGE = "https://www.sparknotes.com/lit/lamproad/characters/"


@pytest.mark.parametrize("href", [
    "/lit/lamproad/character/ada/",
    "../character/ada/",
    "https://www.sparknotes.com/lit/lamproad/character/ada/",
    "/web/20201219000000/https://www.sparknotes.com/lit/lamproad/character/ada/",
    "https://web.archive.org/web/20201219000000/https://www.sparknotes.com/lit/lamproad/character/ada/",
    "http://web.archive.org/web/2020id_/https:/www.sparknotes.com/lit/lamproad/character/ada/",
])  # fmt: skip
def test_links_of_every_form_join_to_one_address(href):
    assert join(PAGE, href) == "https://www.sparknotes.com/lit/lamproad/character/ada/"
    archived = parse_address(f"https://web.archive.org/web/2020/{PAGE}")
    assert str(archived.at(href)) == (
        "https://web.archive.org/web/2020/https://www.sparknotes.com/lit/lamproad/character/ada/"
    )


def test_joining_never_loses_the_prefix_or_a_slash(published):
    for address in published[::50]:
        parts = parse_address(address)
        for href in ("characters", "/x", "?p=2", f"/web/2020/{parts.original}", "#top"):
            joined = str(parts.at(href))
            assert joined.startswith(f"{parts.archive}{parts.stamp}/https://www.")
            assert "https:/w" not in joined


def test_a_plain_link_is_left_alone():
    assert original_of("/lit/x") == "/lit/x"
    assert original_of("https://a.com/web/x") == "https://a.com/web/x"


def test_a_year_is_taken_from_the_stamp_and_not_from_the_path():
    parts = parse_address("https://web.archive.org/web/2023/https://a.com/2023/x")
    assert str(parts.years_earlier(2)) == "https://web.archive.org/web/2021/https://a.com/2023/x"


@pytest.mark.parametrize(("one", "other", "same"), [
    ("http://www.A.com/x/", "https://a.com/X", True),
    ("https://a.com:80/x", "https://a.com/x", True),
    ("https://a.com/x", "https://a.com/y", False),
    ("https://a.com/x?p=1", "https://a.com/x?p=2", False),
])  # fmt: skip
def test_same_page(one, other, same):
    assert same_page(one, other) == same


# --- fetching -------------------------------------------------------------------------------------------

NOTICE = b"""<div id="error"><p class="code">Loading...</p><p class="code shift red">Got an HTTP 302
response at crawl time</p><p class="impatient"><a href="/web/2020/https://a.com/">Impatient?</a></p></div>"""
GOOD = "<h1>Ada Ántonia</h1>".encode()


class SmallArchive:
    """Answers from `pages`: path -> list of (status, headers, body), the last one for ever."""

    def __init__(self) -> None:
        self.pages, self.asked = {}, []
        archive = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                archive.asked.append(self.path)
                answers = archive.pages.get(self.path, [(404, {}, b"never captured")])
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                if answer == "close":
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, headers, body = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server.server_port}/web/"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def archive():
    archive = SmallArchive()
    yield archive
    archive.server.shutdown()
    archive.server.server_close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def make_store(archive, tmp_path, waits):
    def make(**settings):
        fetcher = Fetcher(Pace(0, attempts=3, first_wait=1), sleep=waits.append, draw=lambda: 1.0,
                          offline=settings.pop("offline", False))  # fmt: skip
        return PageStore(tmp_path / "pages", fetcher, archive=archive.root, **settings)

    return make


ASKED = "https://web.archive.org/web/20201219151133/https://a.com/x"
ID = "/web/20201219151133id_/https://a.com/x"
OTHER = "/web/20200628034512id_/https://a.com/x"


def moved(path):
    return 302, {"Location": path}, b""


def test_a_page_is_asked_for_in_its_raw_form_and_kept(archive, make_store):
    archive.pages[ID] = [(200, {"Memento-Datetime": "x"}, GOOD)]
    record, body = make_store().get(ASKED)
    assert (record.status, record.stamp, body) == ("ok", "20201219151133", GOOD)
    assert make_store().get(ASKED) == (record, body)
    assert archive.asked == [ID]


def test_kept_pages_are_read_offline_and_missing_ones_are_named(archive, make_store):
    archive.pages[ID] = [(200, {}, GOOD)]
    make_store().get(ASKED)
    offline = make_store(offline=True)
    assert offline.get(ASKED)[1] == GOOD
    with pytest.raises(OfflineError, match="not among the kept pages"):
        offline.get(ASKED + "/other")
    assert archive.asked == [ID]


def test_another_snapshot_is_taken_and_recorded_or_refused_when_strict(archive, make_store):
    archive.pages[ID] = [moved(OTHER)]
    archive.pages[OTHER] = [(200, {}, GOOD)]
    record, _ = make_store().get(ASKED)
    assert (record.status, record.stamp) == ("ok", "20200628034512")
    record, body = make_store(strict=True).get(ASKED)
    assert (record.status, record.stamp, body) == ("other snapshot", "20200628034512", b"")


def test_strict_accepts_the_same_page_under_another_spelling(archive, make_store):
    spelled = "/web/20201219151133id_/http://www.a.com/X/"
    archive.pages[ID] = [moved(spelled)]
    archive.pages[spelled] = [(200, {}, GOOD)]
    assert make_store(strict=True).get(ASKED)[0].status == "ok"


def test_a_redirect_out_of_the_archive_is_not_a_page(archive, make_store):
    archive.pages[ID] = [moved("/live")]
    archive.pages["/live"] = [(200, {}, GOOD)]
    assert make_store().get(ASKED)[0].status == "left the archive"


@pytest.mark.parametrize(("answer", "status"), [
    ((404, {}, b"x"), "not archived"),
    ((403, {}, b"x"), "excluded"),
    ((410, {}, b"x"), "not archived"),
    ((451, {}, b"x"), "excluded"),
    *(((status, {"Memento-Datetime": "Sat, 19 Dec 2020"}, b"x"), "error page in the archive")
      for status in (400, 403, 404, 410, 451, 500, 502, 503, 504)),
    ((200, {}, NOTICE), "redirect in the archive"),
    ((200, {}, b"  \n"), "empty body"),
])  # fmt: skip
def test_what_is_no_page_has_a_status_and_is_asked_for_once(archive, make_store, answer, status, waits):
    archive.pages[ID] = [answer]
    record, body = make_store().get(ASKED)
    assert (record.status, body, archive.asked, waits) == (status, b"", [ID], [])


@pytest.mark.parametrize("fault", [
    (503, {}, b"busy"), (500, {}, b"own error"), (429, {}, b""), "close", (502, {}, b""),
])  # fmt: skip
def test_a_passing_fault_of_the_archive_is_tried_again(archive, make_store, fault):
    archive.pages[ID] = [fault, (200, {}, GOOD)]
    assert make_store().get(ASKED)[1] == GOOD


def test_retry_after_is_honoured(archive, make_store, waits):
    archive.pages[ID] = [(429, {"Retry-After": "61"}, b""), (200, {}, GOOD)]
    make_store().get(ASKED)
    assert waits == [61]


@pytest.mark.parametrize("fault", [(429, {}, b""), (503, {}, b""), "close"])
def test_tries_are_bounded_and_an_unreachable_page_is_asked_for_by_the_next_run(archive, make_store, fault):
    archive.pages[ID] = [fault]
    record, _ = make_store().get(ASKED)
    assert record.status == "unreachable"
    assert len(archive.asked) <= 4
    archive.pages[ID] = [(200, {}, GOOD)]
    assert make_store().get(ASKED)[0].status == "ok"


def test_a_page_never_captured_is_not_asked_for_again(archive, make_store):
    make_store().get(ASKED)
    make_store().get(ASKED)
    assert archive.asked == [ID]


def test_snapshots_from_the_ceiling_on_are_refused_and_earlier_years_asked_for(archive, make_store):
    new, old = "/web/20241112000000id_/https://a.com/x", "/web/20231112000000id_/https://a.com/x"
    archive.pages["/web/2024id_/https://a.com/x"] = [moved(new)]
    archive.pages[new] = [(200, {}, b"new")]
    archive.pages["/web/2023id_/https://a.com/x"] = [moved(old)]
    archive.pages[old] = [(200, {}, GOOD)]
    record, body = make_store(ceiling="20241112000000").get(
        "https://web.archive.org/web/2024/https://a.com/x"
    )
    assert (record.status, record.stamp, body) == ("ok", "20231112000000", GOOD)


def test_at_most_four_earlier_years_are_asked_for(archive, make_store):
    new = "/web/20241112000000id_/https://a.com/x"
    for year in range(2015, 2025):
        archive.pages[f"/web/{year}id_/https://a.com/x"] = [moved(new)]
    archive.pages[new] = [(200, {}, b"new")]
    record, _ = make_store(ceiling="20241112000000").get("https://web.archive.org/web/2024/https://a.com/x")
    assert record.status == "too new"
    assert [p[5:9] for p in archive.asked if p != new] == ["2024", "2023", "2022", "2021", "2020"]


def test_a_body_packed_twice_is_unpacked(archive, make_store):
    archive.pages[ID] = [(200, {}, gzip.compress(GOOD))]
    assert make_store().get(ASKED)[1] == GOOD
    assert plain_bytes(gzip.compress(GOOD) + b"\r\n") == GOOD
    assert plain_bytes(gzip.compress(GOOD)[:-9]) == plain_bytes(b"\x1f\x8bnot gzip") == b""


def test_an_address_that_is_not_archived_is_refused(make_store):
    with pytest.raises(UsageError, match="not an archived address"):
        make_store().get("https://www.shmoop.com/x")


def test_a_changed_or_damaged_kept_page_is_noticed(archive, make_store, tmp_path):
    archive.pages[ID] = [(200, {}, GOOD)]
    make_store().get(ASKED)
    (page,) = (tmp_path / "pages").glob("*.html.gz")
    page.write_bytes(gzip.compress(b"other"))
    with pytest.raises(FormatError, match="was changed"):
        make_store().get(ASKED)
    (note,) = (tmp_path / "pages").glob("*.json")
    note.write_text(json.dumps({"address": ASKED}))
    with pytest.raises(FormatError, match="not a kept page"):
        make_store().get(ASKED)
