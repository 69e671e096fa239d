"""Every way a transfer can go wrong, against a real server on loopback."""

import errno
import re
import time

import pytest

from bookcoref_data.errors import DataError, OfflineError, SourceError, UsageError
from bookcoref_data.sources import http
from bookcoref_data.sources.http import Limits, agent_string
from bookcoref_data.sources.store import CacheError

BODY = bytes(range(256)) * 2000


def leftovers(folder):
    return sorted(p.name for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []


def test_a_whole_file_is_put_in_place_with_its_sum(server, reply, fetcher, tmp_path):
    url = server.script("/f", reply(BODY))
    got = fetcher.download(url, tmp_path / "f")
    assert got.path.read_bytes() == BODY
    assert (got.bytes, got.resumed) == (len(BODY), 0)
    assert leftovers(tmp_path) == ["f"]


def test_the_agent_string_names_this_project_and_nobody_else(server, reply, fetcher):
    fetcher.get(server.script("/page", reply(b"x")))
    [headers] = server.asked()
    assert headers["user-agent"] == agent_string()
    assert agent_string("me@example.org").startswith("bookcoref-data/")
    assert "coreference" in agent_string()
    assert "sapienzanlp" not in agent_string()
    assert "aclanthology" not in agent_string()
    # The form that Wikimedia's policy asks for: client/version (contact) library/version.
    policy = r"bookcoref-data/\d\S* \([^()]+; me@example\.org\) requests/\d\S*"
    assert re.fullmatch(policy, agent_string("me@example.org"))


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])
def test_a_busy_server_is_asked_again_after_the_time_it_names(server, reply, fetcher, slept, status):
    url = server.script("/f", reply(b"", status, {"Retry-After": "7"}), reply(b"there"))
    assert fetcher.get(url).content == b"there"
    assert slept == [7]


def test_retry_after_may_be_a_date(server, reply, fetcher, slept, http_date):
    url = server.script("/f", reply(b"", 429, {"Retry-After": http_date(time.time() + 60)}), reply(b"x"))
    fetcher.get(url)
    assert 0 < slept[0] <= 60  # less what the test itself took


def test_a_server_that_asks_for_hours_is_given_up_at_once(server, reply, fetcher, slept):
    url = server.script("/f", reply(b"", 429, {"Retry-After": "7200"}))
    with pytest.raises(SourceError, match="7200 s"):
        fetcher.get(url)
    assert slept == []
    assert len(server.requests) == 1


def test_tries_are_bounded_and_waits_double(server, reply, fetcher, slept):
    url = server.script("/f", reply(b"", 503))
    with pytest.raises(SourceError, match="503") as caught:
        fetcher.get(url)
    assert len(server.requests) == 3
    assert slept == [1, 2]
    assert caught.value.exit_code == 3
    assert caught.value.hint


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 426, 430, 451, 501, 505, 519, 525])
def test_a_lasting_refusal_is_not_repeated(server, reply, fetcher, status):
    url = server.script("/f", reply(b"", status))
    with pytest.raises(SourceError, match=str(status)):
        fetcher.get(url)
    assert len(server.requests) == 1
    assert fetcher.get(url, allow={status}).status == status


@pytest.mark.parametrize("reset", [True, False])
def test_a_broken_transfer_goes_on_where_it_stopped(server, reply, fetcher, tmp_path, reset):
    url = server.script("/f", reply(BODY, stop=200_000, reset=reset), reply(BODY))
    got = fetcher.download(url, tmp_path / "f")
    second = server.asked()[1]
    assert got.path.read_bytes() == BODY
    # A reset may throw away what was still under way; an orderly close does not.
    if "range" in second:
        assert second["if-range"] == '"edition-1"'
        assert got.resumed == int(second["range"].removeprefix("bytes=").removesuffix("-"))
    assert reset or 180_000 < got.resumed <= 200_000


def test_a_server_without_ranges_sends_the_file_anew(server, reply, fetcher, tmp_path):
    url = server.script("/f", reply(BODY, stop=100_000), reply(BODY, ranges=False))
    got = fetcher.download(url, tmp_path / "f")
    assert (got.path.read_bytes() == BODY, got.resumed) == (True, 0)


def test_a_file_that_changed_meanwhile_is_not_pasted_together(server, reply, fetcher, tmp_path):
    url = server.script("/f", reply(BODY, stop=100_000), reply(BODY[::-1], etag='"edition-2"'))
    assert fetcher.download(url, tmp_path / "f").path.read_bytes() == BODY[::-1]


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_a_firm_validator_nothing_is_continued(server, reply, fetcher, tmp_path, etag):
    url = server.script("/f", reply(BODY, stop=100_000, etag=etag), reply(BODY, etag=etag))
    assert fetcher.download(url, tmp_path / "f").path.read_bytes() == BODY
    assert "range" not in server.asked()[1]


def test_a_wrong_range_is_thrown_away(server, reply, fetcher, tmp_path):
    wrong = reply(BODY, headers={"Content-Range": f"bytes 5-{len(BODY) - 1}/{len(BODY)}"})
    url = server.script("/f", reply(BODY, stop=100_000), wrong, reply(BODY))
    assert fetcher.download(url, tmp_path / "f").path.read_bytes() == BODY
    assert "range" not in server.asked()[2]


def test_a_range_that_ends_early_is_continued(server, reply, fetcher, tmp_path):
    """A server may answer with less than the range asked for (RFC 9110, 15.3.7)."""
    kept = 6 << 14
    middle = reply(
        BODY[kept:200_000], 206, headers={"Content-Range": f"bytes {kept}-199999/{len(BODY)}"}, ranges=False
    )
    url = server.script("/f", reply(BODY, stop=kept), middle, reply(BODY))
    got = fetcher.download(url, tmp_path / "f")
    assert (got.path.read_bytes() == BODY, got.resumed) == (True, 200_000)


def test_the_part_of_one_address_is_not_continued_from_another(server, reply, make_fetcher, tmp_path):
    broken = server.script("/f", reply(BODY, stop=100_000))
    with pytest.raises(SourceError):
        make_fetcher(attempts=1).download(broken, tmp_path / "f")
    assert make_fetcher().download(server.script("/g", reply(BODY)), tmp_path / "f").path.read_bytes() == BODY
    assert "range" not in server.asked("/g")[0]


def test_a_range_the_server_cannot_give_is_fetched_anew(server, reply, fetcher, tmp_path):
    short = reply(BODY[:1000])
    url = server.script("/f", reply(BODY, stop=100_000), short, short)
    assert fetcher.download(url, tmp_path / "f").path.read_bytes() == BODY[:1000]
    assert ["range" in headers for headers in server.asked()] == [False, True, False]


def test_a_body_shorter_than_announced_is_never_kept(server, reply, fetcher, tmp_path):
    url = server.script("/f", reply(BODY, announce=len(BODY) + 10, ranges=False))
    with pytest.raises(SourceError) as caught:
        fetcher.download(url, tmp_path / "f")
    assert len(server.requests) == 3
    assert not (tmp_path / "f").exists()
    assert caught.value.found
    with pytest.raises(SourceError):
        fetcher.get(url)


def test_a_refused_file_is_not_put_in_place(server, reply, fetcher, tmp_path):
    def refuse(path):
        assert path.read_bytes() == BODY
        raise DataError("a web page")

    with pytest.raises(DataError):
        fetcher.download(server.script("/f", reply(BODY)), tmp_path / "f", check=refuse)
    assert leftovers(tmp_path) == []


def test_a_redirect_loop_ends(server, reply, fetcher):
    url = server.script("/a", reply(b"", 302, {"Location": "/b"}))
    server.script("/b", reply(b"", 302, {"Location": "/a"}))
    with pytest.raises(SourceError, match="redirect loop"):
        fetcher.get(url)
    assert len(server.requests) <= 12


def test_a_redirect_is_followed_and_told(server, reply, fetcher, tmp_path):
    url = server.script("/a", reply(b"", 302, {"Location": "/b"}))
    server.script("/b", reply(BODY))
    assert fetcher.download(url, tmp_path / "f").url.endswith("/b")


def test_a_silent_server_is_left(server, reply, make_fetcher):
    url = server.script("/f", reply(b"x", hang=30))
    impatient = make_fetcher(limits=Limits(connect=1, silence=0.2), attempts=2)
    with pytest.raises(SourceError, match="timed out"):
        impatient.get(url)
    assert len(server.requests) == 2


def test_a_trickling_server_is_left(server, reply, make_fetcher, tmp_path):
    url = server.script("/f", reply(BODY, trickle=0.05))
    impatient = make_fetcher(limits=Limits(connect=1, silence=5, answer=0.2), attempts=2)
    with pytest.raises(SourceError, match=r"longer than 0\.2 s"):
        impatient.download(url, tmp_path / "f")
    assert not (tmp_path / "f").exists()
    assert "range" in server.asked()[1]


def test_a_host_that_cannot_be_reached_is_left_out_of_the_whole_run(server, make_fetcher, slept, monkeypatch):
    server.close()
    patient = make_fetcher(attempts=9)
    for _ in range(5):
        with pytest.raises(SourceError, match="refused"):
            patient.get(server.url + "/f")
    later = time.monotonic() + 6000
    monkeypatch.setattr(time, "monotonic", lambda: later)
    with pytest.raises(SourceError, match="given up in this run"):
        patient.get(server.url + "/other")
    assert slept == [1, 2]


def test_an_unknown_host_name_is_told(make_fetcher):
    with pytest.raises(SourceError) as caught:
        make_fetcher().get("http://books.invalid/f")
    assert "books.invalid" in caught.value.found
    assert "port=" not in caught.value.found


@pytest.mark.parametrize("announced", [True, False])
def test_a_file_too_large_is_stopped(server, reply, fetcher, tmp_path, announced):
    url = server.script("/f", reply(BODY, announce=None if announced else -1))
    with pytest.raises(SourceError, match="too large"):
        fetcher.download(url, tmp_path / "f", max_bytes=1000)
    with pytest.raises(SourceError, match="too large"):
        fetcher.get(url, max_bytes=1000)
    assert leftovers(tmp_path) == []


def test_a_full_disk_is_told_and_its_space_given_back(server, reply, fetcher, tmp_path, monkeypatch):
    class FullDisk:
        """A stream on a disk that is full after 100 kB."""

        def __init__(self, stream):
            self.stream = stream

        def write(self, piece):
            if self.stream.tell() + len(piece) > 100_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.stream.write(piece)

        def __getattr__(self, name):
            return getattr(self.stream, name)

        def __enter__(self):
            return self

        def __exit__(self, *args):
            self.stream.close()

    def open_on_full_disk(path, mode="r"):
        return FullDisk(open(path, mode)) if mode == "ab" else open(path, mode)

    monkeypatch.setattr(http, "open", open_on_full_disk, raising=False)
    url = server.script("/f", reply(BODY))
    with pytest.raises(CacheError, match="BOOKCOREF_DATA_HOME") as caught:
        fetcher.download(url, tmp_path / "f")
    assert "no space left" in str(caught.value)
    assert leftovers(tmp_path) == []
    assert len(server.requests) == 1


def test_an_unwritable_folder_names_the_variable(server, reply, fetcher, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheError, match="BOOKCOREF_DATA_HOME"):
        fetcher.download(server.script("/f", reply(BODY)), tmp_path / "file" / "f")


class InterruptedAfter:
    """A listener that presses Ctrl-C when so many bytes have come."""

    def __init__(self, amount):
        self.left = amount

    def begin(self, key, total, unit):
        pass

    def advance(self, key, amount=1):
        self.left -= amount
        if self.left < 0:
            raise KeyboardInterrupt

    def end(self, key):
        pass

    def note(self, message):
        pass


def test_after_ctrl_c_another_run_goes_on(server, reply, make_fetcher, tmp_path):
    url = server.script("/f", reply(BODY))
    first = make_fetcher()
    first.progress = InterruptedAfter(150_000)
    with pytest.raises(KeyboardInterrupt):
        first.download(url, tmp_path / "f")
    assert not (tmp_path / "f").exists()
    got = make_fetcher().download(url, tmp_path / "f")
    assert (got.path.read_bytes() == BODY, got.resumed > 100_000) == (True, True)
    assert leftovers(tmp_path) == ["f"]


def test_a_damaged_note_beside_the_part_costs_only_a_restart(server, reply, make_fetcher, tmp_path):
    url = server.script("/f", reply(BODY, stop=100_000), reply(BODY))
    with pytest.raises(SourceError):
        make_fetcher(attempts=1).download(url, tmp_path / "f")
    (tmp_path / ".f.part.json").write_text("[1, 2")
    got = make_fetcher().download(url, tmp_path / "f")
    assert (got.path.read_bytes() == BODY, got.resumed) == (True, 0)


def test_compressed_answers_are_unpacked_and_not_measured_by_their_packed_length(
    server, reply, fetcher, tmp_path
):
    import gzip

    url = server.script("/f", reply(gzip.compress(BODY), headers={"Content-Encoding": "gzip"}))
    assert fetcher.download(url, tmp_path / "f").path.read_bytes() == BODY


def test_offline_opens_no_socket(server, make_fetcher, tmp_path, no_network):
    no_network()
    with pytest.raises(OfflineError, match="--offline") as caught:
        make_fetcher(offline=True).download(server.url + "/f", tmp_path / "f")
    assert caught.value.exit_code == 3
    assert server.requests == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://x/y", "/etc/passwd", "http://", "https://u:p@x/"]
)
def test_only_plain_http_addresses_are_fetched(fetcher, url):
    with pytest.raises(UsageError):
        fetcher.get(url)
