"""`bookcoref-data rebuild` as a user meets it: faults, exit codes, interrupts, other processes."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import pytest

pytestmark = pytest.mark.slow

CR = "cache/epub/{0}/pg{0}.txt"


@pytest.fixture
def local(terminal, world):
    """The arguments of a rebuild of the two small books, and a terminal to type them in."""
    terminal.words = ["rebuild", "--from-gutenberg", "--release", world.release]
    terminal.mirror = ["--mirror", world.mirror]
    return terminal


def pages(server, reply, world, **scripts):
    """Serve both texts; `scripts` maps doc_keys to the replies of their first address."""
    for key in world.keys:
        gid = key.rpartition("_")[2]
        whole = reply(world.raw(gid).read_bytes())
        server.script("/" + CR.format(gid), *[whole if r is None else r for r in scripts.get(key, [None])])


def leftovers(terminal) -> list[str]:
    """Half-written folders and files in the cache and beside the output, but for resumable transfers."""
    found = [*terminal.cwd.rglob(".*"), *terminal.home.rglob(".*")]
    return [p.name for p in found if p.name.endswith((".part", ".old")) and "arriving" not in p.name]


def test_the_sample_is_built_once(built):
    ran = built.run("rebuild", "--sample", "--json")
    assert ran.code == 0
    value = ran.json
    assert (value["unchanged"], value["built"], value["failed"]) == (True, [], {})
    assert value["books"][0]["check"] == "manifest"
    assert "is up to date" in built.run("rebuild", "--sample").out


def test_a_digest_is_shown_everywhere_by_the_same_sixteen_letters(built):
    verbs = (["rebuild", "--sample"], ["verify", "bookcoref"], ["manifest", "show", "bookcoref"])
    told = [re.findall(r"sha256:(\w+)", built.run(*words).out) for words in verbs]
    digest = json.loads((built.cwd / "bookcoref/build.json").read_text(encoding="utf-8"))["digest"]
    assert told == [[digest[:16]]] * 3


def test_a_plan_is_printed_and_nothing_is_done(terminal):
    ran = terminal.run("rebuild", "--from-gutenberg", "--dry-run", "--json")
    assert ran.code == 0
    release, *rows = ran.json
    # The terminal forbids the Hub, so the release could not be fetched.
    assert (release["gutenberg_id"], release["action"]) == ("release", "missing")
    assert release["bytes"] > 200_000_000
    assert len(rows) == 52
    assert {row["action"] for row in rows} == {"fetch"}
    assert all(row["address"].startswith("https://") for row in rows)
    assert list(terminal.cwd.iterdir()) == []
    assert not terminal.home.exists()


@pytest.mark.long
def test_progress_is_drawn_on_stderr_alone(terminal):
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = terminal.start("rebuild", "--sample", "--json", stderr=slave)
    os.close(slave)
    drawn = b""
    try:
        while piece := os.read(master, 1 << 16):
            drawn += piece
    except OSError:
        pass  # the other end is closed
    ran = terminal.finish(process)
    os.close(master)
    assert ran.code == 0
    assert ran.json["built"]
    assert b"books" in drawn
    assert b"\x1b[" in drawn


def test_an_unknown_book_gets_suggestions(local):
    ran = local.run(*local.words, *local.mirror, "--book", "one_1")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean one_11" in ran.err
    assert not (local.cwd / "bookcoref").exists()


def test_a_folder_that_is_not_ours_is_refused_before_anything_is_fetched(local, server):
    mine = local.cwd / "bookcoref/thesis.txt"
    mine.parent.mkdir()
    mine.write_text("years of work")
    ran = local.run(*local.words, "--mirror", server.url)
    assert (ran.code, ran.out) == (2, "")
    assert "not a data set folder written by bookcoref-data" in ran.err
    assert "--out" in ran.err
    assert [p.name for p in mine.parent.iterdir()] == ["thesis.txt"]
    assert leftovers(local) == []
    assert server.requests == []


def test_an_unwritable_cache_names_the_variable_that_moves_it(terminal):
    terminal.home.write_text("a file where the folder should be")
    ran = terminal.run("rebuild", "--sample")
    assert (ran.code, ran.out) == (3, "")
    assert "BOOKCOREF_DATA_HOME" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.long
def test_a_full_disk_names_what_to_do_and_leaves_nothing_half_written(terminal):
    resource = pytest.importorskip("resource")
    # The system refuses to let any file grow beyond this, as a full disk would.
    limit = (resource.RLIMIT_FSIZE, (20_000, 20_000))

    def full_disk(*words):
        ran = terminal.run(*words, "--jobs", "1", preexec_fn=lambda: resource.setrlimit(*limit))
        assert (ran.code, ran.out) == (3, ""), ran.err
        assert "Traceback" not in ran.err
        assert leftovers(terminal) == []
        return ran.err

    assert "BOOKCOREF_DATA_HOME" in full_disk("rebuild", "--sample")
    assert not (terminal.cwd / "bookcoref").exists()
    assert terminal.run("rebuild", "--sample").code == 0
    before = (terminal.cwd / "bookcoref/build.json").read_bytes()
    # Now the cache has the book and the output folder is what does not fit.
    assert "other" in full_disk("rebuild", "--sample", "--out", "other")
    assert not (terminal.cwd / "other").exists()
    assert (terminal.cwd / "bookcoref/build.json").read_bytes() == before


@pytest.mark.long
def test_no_network_and_nothing_cached_is_a_source_error(terminal):
    ran = terminal.run("rebuild", "--from-gutenberg", "--offline")
    assert (ran.code, ran.out) == (3, "")
    assert "network" in ran.err
    assert "next:" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.long
def test_a_mirror_with_passing_faults_is_waited_for(local, world, server, reply):
    raw = world.raw("11").read_bytes()
    pages(
        server, reply, world,
        one_11=[reply(status=429, headers={"Retry-After": "2"}), reply(status=503),
                reply(raw, stop=20_000), None],
        two_12=[reply(world.raw("12").read_bytes(), stop=9000, reset=True), None],
    )  # fmt: skip
    ran = local.run(*local.words, "--mirror", server.url, "--json", longest_sleep=0.05)
    assert (ran.code, ran.json["failed"]) == (0, {}), ran.err
    assert ran.json["built"] == ["one_11", "two_12"]
    asked = server.asked("/" + CR.format("11"))
    assert len(asked) == 4
    assert asked[3]["range"].startswith("bytes=")
    assert all("bookcoref-data/" in headers["user-agent"] for headers in asked)
    texts = sorted(p.read_bytes() for p in (local.home / "texts").rglob("[!.]*.txt"))
    assert texts == sorted(world.raw(g).read_bytes() for g in ("11", "12"))


@pytest.mark.long
def test_a_mirror_that_serves_a_web_page_stops_no_other_book(local, world, server, reply):
    html = reply(b"<!DOCTYPE html><html><body>Are you human?" + b" " * 30_000 + b"</body></html>")
    pages(server, reply, world, two_12=[html])
    ran = local.run(*local.words, "--mirror", server.url, "--json", longest_sleep=0.05)
    assert ran.code == 1
    assert ran.json["built"] == ["one_11"]
    failure = ran.json["failed"]["two_12"]
    assert failure["exit_code"] == 3
    assert "web page" in failure["error"]
    alone = local.run(
        *local.words, "--mirror", server.url, "--book", "two_12", "--out", "alone", longest_sleep=0.05
    )
    assert (alone.code, alone.out) == (3, "")
    assert "web page" in alone.err
    assert not (local.cwd / "alone").exists()
    incomplete = local.run("verify")
    assert incomplete.code == 1
    assert "two_12" in incomplete.out


@pytest.mark.long
def test_an_interrupt_leaves_nothing_half_written_and_the_same_command_goes_on(local, world, server, reply):
    whole = reply(world.raw("12").read_bytes())
    # However often a busy machine asks before the interrupt, it waits.
    pages(server, reply, world, two_12=[reply(whole.body, hang=120)] * 9)
    words = [*local.words, "--mirror", server.url, "--jobs", "2"]
    # A test run in the background of a script ignores interrupts, and so would what it starts.
    process = local.start(*words, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    wait_for(lambda: server.asked("/" + CR.format("12")), process)
    wait_for(lambda: list((local.home / "books").glob("*/facts.json")), process)
    os.killpg(process.pid, signal.SIGINT)
    ran = local.finish(process)
    assert (ran.code, ran.out) == (130, ""), ran.err
    # A wait that began before may still be announced after it.
    assert [line for line in ran.err.splitlines() if line.startswith("interrupted; finished work is kept")]
    assert "Traceback" not in ran.err
    assert not (local.cwd / "bookcoref").exists()
    assert leftovers(local) == []
    pages(server, reply, world, two_12=[whole])
    again = local.run(*words, "--json")
    assert (again.code, again.json["reused"], again.json["built"]) == (0, ["one_11"], ["two_12"])


def wait_for(condition, process, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the moment to interrupt never came"
        time.sleep(0.02)


@pytest.mark.long
def test_two_at_once_give_one_whole_folder(terminal):
    running = [terminal.start("rebuild", "--sample", "--json") for _ in range(2)]
    first, second = [terminal.finish(process) for process in running]
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert first.json["digest"] == second.json["digest"]
    assert terminal.run("verify").code == 0
    assert leftovers(terminal) == []


@pytest.mark.long
def test_a_changed_edition_is_named_with_counts_and_hashes(local, world):
    text = world.raw("11").read_text(encoding="utf-8")
    world.raw("11").write_text(text + "\nAn appendix of the second edition.\n", encoding="utf-8")
    ran = local.run(*local.words, *local.mirror, "--exact", "--offline")
    assert ran.code == 1
    assert "failed: one_11:" in ran.err
    for word in ("expected:", "found:", "sha256", "tokens"):
        assert word in ran.err
    assert "1 failed" in ran.out
