"""Where exactly a rule of the sources begins and ends: sizes, shares, times, and what is said there."""

from __future__ import annotations

import json
import platform
from datetime import datetime, timedelta, timezone

import pytest

from bookcoref_data.errors import DataError, OfflineError, SourceError
from bookcoref_data.sources import store as stores
from bookcoref_data.sources.catalogue import Catalogue
from bookcoref_data.sources.gutenberg import check_book_text
from bookcoref_data.sources.hub_upload import upload_faults
from bookcoref_data.sources.pace import retry_after
from bookcoref_data.sources.sparql import Archive, SparqlEndpoint, TooHeavyError

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("Fri, 02 Jan 2026 03:04:15 -0000", 10), ("Fri, 02 Jan 2026 04:04:15 +0100", 10), ("0", 0), ("²", None)],
)
def test_a_date_without_a_zone_is_of_greenwich(value, seconds):
    assert retry_after(value, NOW) == seconds


SIGNED = "The Project Gutenberg EBook\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n{}\n*** END OF THIS PROJECT GUTENBERG EBOOK X ***\n"  # noqa: E501


@pytest.mark.parametrize(("length", "taken"), [(999, False), (1000, True)])
def test_a_signed_text_has_a_thousand_characters(length, taken):
    text = SIGNED.format("word " * 300)
    cut = len(text) - length
    text = text.replace("word " * 300, ("word " * 300)[:-cut])
    assert len(text) == length
    if taken:
        assert check_book_text(text.encode(), "1").text == text
    else:
        with pytest.raises(DataError) as caught:
            check_book_text(text.encode(), "1")
        assert caught.value.expected == "1,000 characters or more"
        assert caught.value.found == f"999: {' '.join(text[:200].split())[:80]!r}"


@pytest.mark.parametrize(("length", "taken"), [(19_999, False), (20_000, True)])
def test_a_text_of_nobody_has_twenty_thousand(length, taken):
    text = ("word " * 5000)[:length]
    if taken:
        assert check_book_text(text.encode(), "1").text == text
    else:
        with pytest.raises(DataError, match="too short"):
            check_book_text(text.encode(), "1")


@pytest.mark.parametrize(("letters", "taken"), [(3999, False), (4000, True)])
def test_two_fifths_of_the_beginning_are_letters(letters, taken):
    text = ("a" * letters + "1" * 10_000)[:10_000] * 2 + "b" * 60_000
    if taken:
        check_book_text(text.encode(), "1")
    else:
        with pytest.raises(DataError, match="does not read like a book") as caught:
            check_book_text(text.encode(), "1")
        assert caught.value.found == "40% letters"


def test_a_catalogue_is_named_by_its_sum_and_version(tmp_path):
    assert Catalogue(tmp_path, "0123456789abcdef" * 4, 7).key == "0123456789abcdef01234567-v2"


@pytest.mark.parametrize(
    ("state", "host", "said"),
    [
        ("S", "", "process 77 (annotate)"),
        ("T", "", "process 77 (annotate), which is stopped: let it go on (kill -CONT) or end it"),
        ("t", "", "process 77 (annotate), which is stopped: let it go on (kill -CONT) or end it"),
        ("T", "elsewhere", "process 77 (annotate on elsewhere)"),
    ],
)
def test_the_holder_of_a_lock_is_told_in_words(tmp_path, monkeypatch, state, host, said):
    lock = tmp_path / "books.lock"
    facts = {"pid": 77, "host": host or platform.node(), "program": "annotate"}
    lock.with_suffix(".holder").write_text(json.dumps(facts), encoding="utf-8")
    monkeypatch.setattr(stores, "_is_stopped", lambda pid: pid == 77 and state in "Tt")
    assert stores.lock_holder(lock) == said
    lock.with_suffix(".holder").write_text("{}", encoding="utf-8")
    assert stores.lock_holder(lock) == "a process that left no name"


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


ROWS = {"results": {"bindings": [{"a": {"value": "Ann", "xml:lang": "en"}, "b": {"value": "1"}}]}}


class Away:
    offline = True


def endpoint(folder, **options):
    return SparqlEndpoint("http://here", "agent", Archive(folder), Away(), now=lambda: NOW, **options)


def test_a_replay_counts_answers_and_the_days_they_are_of(tmp_path):
    asked = endpoint(tmp_path)
    for query, when in (("one", NOW), ("two", NOW - timedelta(days=3)), ("three", NOW - timedelta(days=1))):
        asked.archive.write("http://here", query, "agent", when, answer=ROWS)
        assert asked.ask(query) == [{"a": ("Ann", "en"), "b": ("1", "")}]
    assert (asked.tally.asked, asked.tally.replayed, asked.tally.retried) == (0, 3, 0)
    assert asked.tally.first_retrieved == "2025-12-30T03:04:05+00:00"
    assert asked.tally.last_retrieved == "2026-01-02T03:04:05+00:00"
    asked.archive.write("http://here", "heavy", "agent", NOW, trouble="500", refusals=[])
    with pytest.raises(TooHeavyError) as caught:
        asked.ask("heavy")
    assert (caught.value.found, asked.tally.replayed) == ("500", 4)
    with pytest.raises(OfflineError):
        asked.ask("four")
