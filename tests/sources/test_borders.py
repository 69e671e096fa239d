"""Rules about texts, addresses and manners at their borders."""

from __future__ import annotations

import json
import os
import platform
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from bookcoref_data.errors import DataError, OfflineError, SourceError, UsageError
from bookcoref_data.sources import gutenberg, store
from bookcoref_data.sources.catalogue import Catalogue
from bookcoref_data.sources.editions import (
    Address,
    Edition,
    EditionFile,
    Editions,
    KnownEditions,
    check_id,
    fill,
    numbered_folder,
)
from bookcoref_data.sources.gutenberg import check_book_text
from bookcoref_data.sources.http import Pace, Turns, retry_after
from bookcoref_data.sources.hub import HubRelease, is_hub_address, parse_address
from bookcoref_data.sources.hub_upload import upload_faults
from bookcoref_data.sources.sparql import Archive, SparqlEndpoint, Tally, TooHeavyError

SIGNED = (
    "The Project Gutenberg EBook of X\n\nTitle: The Lamp\n\n[EBook #5]\n\n"
    "*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n"
)
END = "\n*** END OF THIS PROJECT GUTENBERG EBOOK X ***\n"


def signed(length: int, letter: str = "a") -> bytes:
    return (SIGNED + letter * (length - len(SIGNED) - len(END)) + END).encode()


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (signed(1000), None),
        (signed(999), "the text of Gutenberg book 5 is too short to be a book"),
        (b"a" * 20_000, None),
        (b"a" * 19_999, "the text of Gutenberg book 5 is too short to be a book"),
        (b"a" * 8_000 + b"1" * 12_000, None),
        (b"a" * 7_999 + b"1" * 12_001, "the text of Gutenberg book 5 does not read like a book"),
        # Only the beginning is counted.
        (b"a" * 8_000 + b"1" * 50_000, None),
        (b"1" * 20_000 + b"a" * 50_000, "the text of Gutenberg book 5 does not read like a book"),
        (signed(2000).replace(b"#5", b"#6"), "the text of Gutenberg book 5 is another book"),
    ],
)
def test_a_text_is_a_book_from_these_borders_on(data, fault):
    if fault is None:
        assert check_book_text(data, "5").text == data.decode()
        return
    with pytest.raises(DataError) as caught:
        check_book_text(data, "5")
    assert caught.value.what == fault


def test_what_is_wrong_with_a_text_is_told_with_numbers():
    with pytest.raises(DataError) as caught:
        check_book_text(signed(999), "5")
    assert caught.value.expected == "1,000 characters or more"
    assert caught.value.found.startswith("999: 'The Project Gutenberg EBook of X Title: The Lamp")
    with pytest.raises(DataError) as caught:
        check_book_text(b"x y " * 4999, "5")
    assert caught.value.expected == "20,000 characters or more"
    assert caught.value.found == f"19,996: {('x y ' * 50).strip()[:80]!r}"
    with pytest.raises(DataError) as caught:
        check_book_text(b"a" * 7_999 + b"1" * 12_001, "5")
    assert caught.value.found == "40% letters"
    with pytest.raises(DataError) as caught:
        check_book_text(signed(2000).replace(b"#5", b"#6"), "5")
    assert (caught.value.expected, caught.value.found) == ("eBook #5", "eBook #6, The Lamp")
    with pytest.raises(DataError) as caught:
        check_book_text(signed(2000).replace(b"[EBook #5]", b""), "5", "The House")
    assert (caught.value.expected, caught.value.found) == ("The House", "The Lamp")
    assert check_book_text(signed(2000).replace(b"[EBook #5]", b""), "5", "A lamp of the house")
    assert check_book_text(signed(2000).replace(b"[EBook #5]", b"").replace(b"The Lamp", b"The"), "5", "The")


def test_a_text_has_a_largest_size(monkeypatch):
    monkeypatch.setattr(gutenberg, "MOST_BYTES", 20_000)
    assert check_book_text(b"a" * 20_000, "5")
    with pytest.raises(DataError) as caught:
        check_book_text(b"a" * 20_001, "5")
    assert (caught.value.expected, caught.value.found) == ("at most 20,000 bytes", "20,001 bytes")


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("5", 5.0),
        (" 5 ", 5.0),
        ("0", 0.0),
        ("-5", None),
        ("5.5", None),
        ("x", None),
        ("٥", None),
        ("²", None),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 11:59:30 GMT", 0.0),
        # A date without a zone is UTC, another zone is heeded.
        ("Sun, 01 Mar 2026 12:00:30 -0000", 30.0),
        ("Sun, 01 Mar 2026 13:00:30 +0100", 30.0),
    ],
)
def test_how_long_a_host_asks_to_wait(value, seconds):
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    ("attempt", "draw", "seconds"),
    [(1, 0, 0.5), (1, 1, 1.0), (2, 0, 1.0), (2, 0.5, 1.5), (4, 1, 8.0), (5, 1, 10.0), (60, 0, 5.0)],
)
def test_the_wait_doubles_up_to_the_longest(attempt, draw, seconds):
    assert Pace(first_wait=1.0, longest_wait=10.0).back_off(attempt, lambda: draw) == seconds


@pytest.mark.parametrize(
    ("change", "sound"),
    [
        ({"attempts": 1}, True),
        ({"attempts": 0}, False),
        ({"per_second": 0}, True),
        ({"per_second": -1}, False),
        ({"first_wait": 0}, True),
        ({"first_wait": -1}, False),
        ({"longest_wait": 0}, True),
        ({"longest_wait": -1}, False),
    ],
)
def test_a_pace_has_limits(change, sound):
    if sound:
        assert Pace(**change)
    else:
        with pytest.raises(UsageError, match="cannot be negative"):
            Pace(**change)


def test_turns_at_a_host_are_a_gap_apart():
    now, slept = [0.0], []
    turns = Turns(2, lambda: now[0], slept.append)
    for host in ("a", "a", "b", "a"):
        turns.wait(host)
    assert slept == [0.5, 1.0]
    now[0] = 5.0
    turns.wait("a")
    turns.wait("a")
    assert slept == [0.5, 1.0, 0.5]
    free = Turns(0, lambda: now[0], slept.append)
    free.wait("a")
    free.wait("a")
    assert len(slept) == 3


@pytest.mark.parametrize(
    ("number", "folder"),
    [
        ("7", "0/7"),
        ("10", "1/10"),
        (24, "2/24"),
        ("1342", "1/3/4/1342"),
        ("123456789", "1/2/3/4/5/6/7/8/123456789"),
    ],
)
def test_numbered_folders(number, folder):
    assert numbered_folder(number) == folder
    assert fill("x/{id}/{numbered}/{id}.txt", number) == f"x/{number}/{folder}/{number}.txt"


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        ("0", True),
        ("01", False),
        ("1234567890", False),
        ("-1", False),
        ("x", False),
        ("", False),
        ("1\n", False),
    ],
)
def test_what_is_no_id_is_refused(number, hint):
    with pytest.raises(DataError, match="is not the id of a Gutenberg book") as caught:
        check_id(number)
    assert (caught.value.hint is not None) is hint


def test_an_edition_is_known_by_text_or_file():
    files = (EditionFile("a", "f1", 1, "utf-8"), EditionFile("b", "f2", 1, "utf-8"))
    one, two = Edition("t1", "", files), Edition("t2", "", ())
    known = Editions(
        (Address("http://x/{id}", "x", "2020"),),
        ("{numbered}/{id}.txt",),
        {"5": KnownEditions("T", (one, two))},
    )
    assert [known.known("5", s) for s in ("t1", "f1", "f2", "t2", "x")] == [one, one, one, two, None]
    assert known.known("6", "t1") is None
    assert (known.title_of("5"), known.title_of("6")) == ("T", None)
    assert known.addresses_of(7) == [Address("http://x/7", "x", "2020")]
    assert known.paths_of("24") == ["2/24/24.txt"]


def test_a_catalogue_is_named_by_its_sum_and_version():
    assert Catalogue(Path("t"), "0123456789" * 4, 3).key == "012345678901234567890123-v2"


def test_who_holds_a_lock_is_said(tmp_path, monkeypatch):
    lock, holder = tmp_path / "a.lock", tmp_path / "a.holder"
    assert store.lock_holder(lock) == "a process that left no name"
    me, here = os.getpid(), platform.node()
    for facts, said in (
        ({"pid": me, "host": here, "program": "p" * 90}, f"process {me} ({'p' * 80})"),
        ({"pid": me, "host": "h" * 90, "program": "p"}, f"process {me} (p on {'h' * 80})"),
        ({"pid": "x", "host": here, "program": "p"}, "a process that left no name"),
        ({"pid": me}, "a process that left no name"),
    ):
        holder.write_text(json.dumps(facts))
        assert store.lock_holder(lock) == said
    monkeypatch.setattr(store, "_is_stopped", lambda pid: pid == me)
    for host, said in ((here, ", which is stopped: let it go on (kill -CONT) or end it"), ("other", "")):
        holder.write_text(json.dumps({"pid": me, "host": host, "program": "p"}))
        assert store.lock_holder(lock).partition(")")[2] == said


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("hf:a/b", ("a/b", "main")),
        ("hf:a/b@v1", ("a/b", "v1")),
        ("hf:a.x/b-y_z@", ("a.x/b-y_z", "main")),
        (f"hf:{'a' * 96}/b", ("a" * 96 + "/b", "main")),
    ],
)
def test_addresses_on_the_hub(address, found):
    assert is_hub_address(address)
    assert parse_address(address) == found


@pytest.mark.parametrize(
    "address", ["hf:", "hf:a", "hf:a/b/c", "hf:a/..", "hf:a b/c", f"hf:{'a' * 97}/b", "hf:a/@x"]
)
def test_what_is_no_address_on_the_hub(address):
    with pytest.raises(UsageError, match="is no address of a data set on the Hub"):
        parse_address(address)


def test_a_release_says_where_it_is():
    assert str(HubRelease("a/b", "0123456789abcdef")) == "a/b at 0123456789ab"
    assert not is_hub_address("a/b")


def fault(kind, status=None):
    error = kind("no space left\nand more")
    if status:
        error.response = type("Response", (), {"status_code": status})()
    return error


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (fault(ValueError), "run the same command again: what has arrived is kept"),
        (fault(RuntimeError), "run the same command again: what has arrived is kept"),
        (fault(KeyError, 500), "run the same command again: what has arrived is kept"),
        (fault(KeyError, 401), "log in with a token that may write: `hf auth login`, or set HF_TOKEN"),
        (fault(KeyError, 403), "log in with a token that may write: `hf auth login`, or set HF_TOKEN"),
    ],
)
def test_what_the_library_of_the_hub_raises_comes_with_a_next_step(error, hint):
    with pytest.raises(SourceError) as caught, upload_faults("me/lamp"):
        raise error
    assert (caught.value.what, caught.value.hint) == ("cannot upload to me/lamp", hint)
    assert caught.value.__cause__ is None


def test_a_fault_of_our_own_is_not_the_hubs():
    with pytest.raises(KeyError), upload_faults("me/lamp"):
        raise KeyError("ours")
    with pytest.raises(OfflineError, match="switched off"), upload_faults("me/lamp"):
        raise OfflineError("x")


class Fetcher:
    offline = False

    def retrying(self, address, once):
        return once()


ANSWER = {"results": {"bindings": [{"x": {"value": "1", "xml:lang": "en"}, "y": {"value": "2"}}]}}


def endpoint(tmp_path, offline=False, days=None, **more):
    fetcher = Fetcher()
    fetcher.offline = offline
    made = SparqlEndpoint(
        "http://e", "me", Archive(tmp_path), fetcher, max_age_days=days, now=lambda: NOW, **more
    )
    return made


def test_kept_answers_are_counted_and_asked_for_anew_when_old(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(SparqlEndpoint, "_exchange", lambda self, query: asked.append(query) or ANSWER)
    one = endpoint(tmp_path)
    rows = one.ask("q")
    assert [{name: tuple(cell) for name, cell in row.items()} for row in rows] == [
        {"x": ("1", "en"), "y": ("2", "")}
    ]
    assert one.ask("q") == rows
    assert asked == ["q"]
    stamp = NOW.isoformat()
    assert one.tally == Tally(1, 1, 0, 0, stamp, stamp)
    for age, times in ((timedelta(days=2), 1), (timedelta(days=2, seconds=1), 2)):
        later = endpoint(tmp_path, days=2)
        later.now = lambda age=age: NOW + age
        later.ask("q")
        assert len(asked) == times
    away = endpoint(tmp_path, offline=True)
    assert away.ask("q", lambda rows: "wrong") == rows
    assert (away.tally.asked, away.tally.replayed) == (0, 1)
    with pytest.raises(OfflineError, match="not in the archive"):
        away.ask("another")
    away.archive.write("http://e", "heavy", "me", NOW, trouble="500", refusals=[])
    with pytest.raises(TooHeavyError) as caught:
        away.ask("heavy")
    assert (caught.value.found, away.tally.replayed) == ("500", 2)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("wrong", ["", "half of it"])
@pytest.mark.parametrize("anew", [False, True])
def test_a_kept_answer_is_asked_for_again_when_wrong_or_when_empty_and_not_believed(
    tmp_path, monkeypatch, rows, wrong, anew
):
    kept = {"results": {"bindings": ANSWER["results"]["bindings"] * rows}}
    complaints = [wrong]
    asked = []
    monkeypatch.setattr(SparqlEndpoint, "_exchange", lambda self, query: asked.append(query) or ANSWER)
    one = endpoint(tmp_path)
    one.archive.write("http://e", "q", "me", NOW, answer=kept)
    one.ask("q", lambda _: complaints.pop() if complaints else "", anew=anew)
    assert bool(asked) is (bool(wrong) or (anew and not rows))


@pytest.mark.parametrize(
    ("hours", "again"),
    [((), True), ((0,), True), ((0, 5.9), True), ((0, 6), False), ((7, 3, 1), False), ((0, 1, 2), True)],
)
def test_a_query_that_was_refused_twice_is_not_asked_again(tmp_path, monkeypatch, hours, again):
    asked = []
    monkeypatch.setattr(SparqlEndpoint, "_exchange", lambda self, query: asked.append(query) or ANSWER)
    one = endpoint(tmp_path)
    refusals = [(NOW + timedelta(hours=h)).isoformat() for h in hours]
    one.archive.write("http://e", "q", "me", NOW, trouble="timeout", refusals=refusals)
    if again:
        assert one.ask("q")
    else:
        with pytest.raises(TooHeavyError) as caught:
            one.ask("q")
        assert (caught.value.what, caught.value.found) == ("this query was too heavy before", "timeout")
        assert one.tally.replayed == 1
    assert bool(asked) is again


def test_times_of_answers_span_from_the_first_to_the_last():
    tally = Tally()
    for moment in ("2026-02", "2026-01", "2026-03"):
        tally.dated(moment)
    assert (tally.first_retrieved, tally.last_retrieved) == ("2026-01", "2026-03")
