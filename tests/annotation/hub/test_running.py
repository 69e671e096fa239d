"""Batches, answers that are kept, devices, a judge at a server, other packages: long runs, and safe ones."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bookcoref_data.annotation.hub import backend, batching, device
from bookcoref_data.annotation.hub.backend import HubBackend, batches_for
from bookcoref_data.annotation.hub.batching import Batches
from bookcoref_data.annotation.hub.judge import ServedJudge
from bookcoref_data.annotation.hub.kept import Kept, ask_together
from bookcoref_data.annotation.hub.packages import is_package
from bookcoref_data.annotation.steps import run_steps
from bookcoref_data.books import Book
from bookcoref_data.errors import SourceError, UsageError
from bookcoref_data.formats.folder import write_folder

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")


def test_the_longest_rows_come_first_and_answers_keep_their_numbers():
    seen, told = [], {}
    rows = ["aa", "b", "cccc", "ddd", "e"]
    Batches(2).run(rows, len, lambda part: seen.append(part) or [r.upper() for r in part], told.__setitem__)
    assert seen == [["cccc", "ddd"], ["aa", "b"], ["e"]]
    assert told == dict(enumerate(r.upper() for r in rows))


def test_a_batch_that_does_not_fit_is_halved_and_stays_so():
    sizes = []

    def work(part):
        sizes.append(len(part))
        if len(part) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return part

    told = {}
    Batches(16).run(list(range(12)), lambda _: 1, work, told.__setitem__)
    assert told == {i: i for i in range(12)}
    assert sizes == [12, 6, 3, 3, 3, 3]


@pytest.mark.parametrize(
    "said",
    [
        "CUDA error: out of memory",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    ],
)
def test_memory_that_runs_out_outside_of_torch_halves_the_batch_too(said):
    def work(part):
        if len(part) > 1:
            raise RuntimeError(said)
        return part

    told = {}
    Batches(4).run(list(range(4)), lambda _: 1, work, told.__setitem__)
    assert told == {i: i for i in range(4)}


def test_a_model_that_does_not_fit_says_what_to_do(offline_hub, job, plan, monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 130.00 MiB.")

    monkeypatch.setattr(backend, "_load", full)
    with pytest.raises(SourceError, match="tiny/reader does not fit into the memory") as caught:
        run_steps(HubBackend(plan), job, ("link",))
    assert "Tried to allocate" in str(caught.value.found)
    assert "bfloat16" in caught.value.hint


def test_a_row_that_fits_nowhere_says_what_to_do_and_other_errors_pass():
    def full(part):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory")

    with pytest.raises(SourceError, match="one text alone"):
        Batches(4).run([1, 2], lambda _: 7, full, print)
    with pytest.raises(RuntimeError, match="shapes"):
        Batches(4).run([1, 2], lambda _: 7, lambda part: torch.ones(2, 2) @ torch.ones(3, 3), print)


def ten_seconds_each(monkeypatch):
    """Work that takes ten seconds for every item, by a clock of its own, and the sizes of its batches."""
    now, sizes = [0.0], []
    monkeypatch.setattr(batching.time, "monotonic", lambda: now[0])

    def work(part):
        sizes.append(len(part))
        now[0] += 10.0 * len(part)
        return part

    return work, sizes


def test_a_batch_that_lasts_is_made_smaller(monkeypatch):
    """A kill loses the running batch: it may not take more than LONGEST seconds."""
    work, sizes = ten_seconds_each(monkeypatch)
    Batches(8).run(list(range(20)), lambda _: 1, work, lambda *_: None)
    assert sizes == [8, 4, 2, 2, 2, 2]
    assert all(10.0 * size <= batching.LONGEST for size in sizes[2:])


def test_a_batch_may_last_just_as_long_as_is_allowed(monkeypatch):
    work, sizes = ten_seconds_each(monkeypatch)
    Batches(3).run(list(range(7)), lambda _: 1, work, lambda *_: None)
    assert sizes == [3, 3, 1]


def test_shorter_rows_go_together_again_after_longer_ones_did_not_fit():
    sizes = []

    def work(part):
        sizes.append(len(part))
        if sum(part) > 100:
            raise RuntimeError("CUDA out of memory")
        return part

    batches = Batches(8)
    batches.run([40] * 4 + [10] * 16, lambda row: row, work, lambda *_: None)
    assert sizes == [8, 4, 2, 2, 8, 8]
    sizes.clear()
    batches.run([40, 40, 40], lambda row: row, work, lambda *_: None)  # the next step begins with what fitted
    assert sizes == [2, 1]


def test_only_rows_for_which_there_is_room_run_together():
    sizes = []
    Batches(100, lambda length: 12 // length).run(
        [4, 4, 4, 4, 1, 1, 1, 20], lambda row: row, lambda part: sizes.append(part) or part, lambda *_: None
    )
    assert sizes == [[20], [4, 4, 4], [4, 1, 1], [1]]


def test_answers_are_kept_by_content_and_a_cut_line_loses_itself_alone(tmp_path):
    path, asked, heard = tmp_path / "states" / "a.filter.part.jsonl", [], []

    def ask(items, told):
        asked.append(list(items))
        for number, item in enumerate(items):
            told(number, len(item))

    def answers(items, scope):
        return ask_together([(Kept(path, scope), items)], str, ask, lambda: heard.append(1))[0]

    assert answers(["one", "three", "one"], ["m", "r1"]) == [3, 5, 3]
    assert answers(["three", "seventh"], ["m", "r1"]) == [5, 7]
    assert answers(["three"], ["m", "r2"]) == [5]
    assert asked == [["one", "three"], ["seventh"], ["three"]]
    assert len(heard) == 6
    path.write_bytes(path.read_bytes()[:-3])
    asked.clear()
    assert answers(["one", "three"], ["m", "r1"]) == [3, 5]
    assert answers(["three"], ["m", "r2"]) == [5]
    assert answers(["three"], ["m", "r2"]) == [5]
    assert asked == [["three"]]


def test_batches_change_no_answer(offline_hub, job, plan, tmp_path):
    one = run_steps(HubBackend(batch_of(plan, 1)), job)
    many = run_steps(HubBackend(batch_of(plan, 7)), job)
    assert {m.step for m in one.mentions} == {"link", "windows", "groups"}
    for a, b in zip(one.mentions, many.mentions, strict=True):
        assert a[:5] == b[:5]
        assert a.score == pytest.approx(b.score, abs=1e-5)


def batch_of(plan, rows):
    settings = {step: dict(plan.of(step)) | {"batch": rows} for step in plan.settings}
    return dataclasses.replace(plan, settings=settings)


@pytest.mark.long
@pytest.mark.parametrize("step", ["link", "filter", "windows"])
def test_a_kill_inside_a_step_loses_the_running_batch_alone(
    offline_hub, job, plan, tmp_path, monkeypatch, step
):
    """The run dies in the second batch; the next one asks for what is left, and comes to the same state."""
    plan = batch_of(plan, 1)
    steps = ("link", "filter", "windows")
    # No two windows alike: one answer serves all windows of the same words.
    book = Book.make("long_1", [[*s, *s[: i % 4]] for i, s in enumerate(job.book.sentences)])
    job = dataclasses.replace(job, book=book)
    expected = run_steps(HubBackend(plan), job, steps)
    job, asked = dataclasses.replace(job, states=tmp_path), []
    run = Batches.run

    def dying(self, rows, length, work, told):
        def count(part):
            asked.append(len(part))
            if len(asked) == 2 and dying.armed:
                raise KeyboardInterrupt
            return work(part)

        run(self, rows, length, count, told)

    dying.armed = False
    monkeypatch.setattr(Batches, "run", dying)
    before = run_steps(HubBackend(plan), job, steps[: steps.index(step)]) if step != "link" else None
    asked.clear()
    dying.armed = True
    with pytest.raises(KeyboardInterrupt):
        run_steps(HubBackend(plan), job, (step,), state=before)
    part = job.unfinished(step)
    assert part.read_text().count("\n") == 1
    dying.armed, first = False, sum(asked[:1])
    asked.clear()
    state = run_steps(HubBackend(plan), job, steps[steps.index(step) :], state=before)
    assert state.mentions == expected.mentions
    assert first == 1
    assert asked


@pytest.mark.long
def test_processes_take_devices_that_no_other_has(tmp_path):
    """Four processes, three devices: the first three have one each, the fourth shares; a death frees one."""
    code = (
        "import sys; from bookcoref_data.annotation.hub.device import choose_device\n"
        "print(choose_device('cpu:0 cpu:1 cpu:2'), flush=True); sys.stdin.read()"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        return process, process.stdout.readline().strip()

    processes = [start() for _ in range(4)]
    try:
        assert [name for _, name in processes[:3]] == ["cpu:0", "cpu:1", "cpu:2"]
        assert processes[3][1] in {"cpu:0", "cpu:1", "cpu:2"}
        processes[1][0].send_signal(signal.SIGKILL)
        processes[1][0].wait()
        processes.append(start())
        assert processes[-1][1] == "cpu:1"
    finally:
        for process, _ in processes:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


@pytest.mark.parametrize(
    ("most", "length", "fitting"), [(0, 1024, 4), (0, 1366, 2), (0, 4097, 1), (2, 10, 2), (100, 40, 100)]
)
def test_rows_of_4096_tokens_in_all_run_together_on_a_cpu(most, length, fitting):
    sizes = []
    made = batches_for(None, "float32", torch.device("cpu"), most)
    made.run([length] * 200, lambda row: row, lambda part: sizes.append(len(part)) or part, lambda *_: None)
    assert sizes[0] == fitting


def test_a_setting_names_one_device_or_several():
    assert device.devices_of("cpu:0 cpu:1") == ["cpu:0", "cpu:1"]
    assert device.devices_of("auto") == ([f"cuda:{i}" for i in range(torch.cuda.device_count())] or ["cpu"])


@pytest.fixture
def server():
    """A server that says Yes with 0.75 where the question names Anna, and can be told how to answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.asked.append(body)
            question = body["messages"][0]["content"]
            status = self.server.statuses.pop() if self.server.statuses else 200
            yes = -0.2876820724517809 if "Anna" in question else -2.0
            likely = [{"token": " Yes", "logprob": yes}, {"token": "No", "logprob": -1.3862943611198906}]
            choice = {"message": {"content": self.server.text}}
            if self.server.probabilities:
                choice["logprobs"] = {"content": [{"token": "Yes", "top_logprobs": likely}]}
            data = json.dumps({"choices": [choice]}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked, made.statuses, made.text, made.probabilities = [], [], "Yes", True
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{made.server_address[1]}/v1"
    yield made
    made.shutdown()
    made.server_close()


def test_a_server_judges_by_the_probabilities_of_the_first_token(server, job, plan, offline_hub):
    told = {}
    ServedJudge(server.url, "judge").ask_all(["Anna?", "who?"], told.__setitem__)
    assert told[0] == pytest.approx(0.75)
    assert told[1] < 0.5
    assert {name: value for name, value in server.asked[0].items() if name != "messages"} == {
        "model": "judge",
        "temperature": 0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": 20,
    }
    plan = plan.with_models({"filter": "judge"}, server.url)
    state = run_steps(HubBackend(plan), job, ("link", "filter"))
    assert {m.character for m in state.mentions} <= {0, 1, 2}
    assert len(server.asked) > 2
    assert all("judge answered No" in d.reason for d in state.dropped)


def test_a_server_without_probabilities_is_believed_and_nonsense_is_refused(server):
    server.probabilities, told = False, {}
    ServedJudge(server.url, "judge").ask_all(["Anna?"], told.__setitem__)
    assert told == {0: 1.0}
    server.text = "Perhaps"
    with pytest.raises(SourceError, match="another form"):
        ServedJudge(server.url, "judge").ask_all(["Anna?"], told.__setitem__)
    server.statuses = [404]
    with pytest.raises(SourceError, match="does not answer"):
        ServedJudge(server.url, "judge").ask_all(["Anna?"], told.__setitem__)
    with pytest.raises(UsageError, match="no web address"):
        ServedJudge("localhost", "judge")


def test_a_server_that_is_busy_is_asked_again(server):
    judge, waits, told = ServedJudge(server.url, "judge"), [], {}
    judge.server.sleep = waits.append
    server.statuses = [503, 429]
    judge.ask_all(["Anna?"], told.__setitem__)
    assert told[0] == pytest.approx(0.75)
    assert waits == [1.0, 2.0]


def test_another_package_takes_part_by_a_function(offline_hub, job, plan, tmp_path, monkeypatch):
    """Its clusters grow the given ones; a cluster of two characters goes to neither as a whole."""
    (tmp_path / "own_coref.py").write_text(
        textwrap.dedent("""
        def make(device):
            def find(sentences):
                words = [w for s in sentences for w in s]
                people = [(i, i) for i, w in enumerate(words) if w in ("Anna", "she", "Brown")]
                return [people] if len(people) > 1 else []
            return find
    """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    plan = plan.with_models({"windows": "own_coref:make", "groups": "own_coref:make"})
    linked = run_steps(HubBackend(plan), job, ("link",))
    anna = [m for m in linked.mentions if m.start == m.end and job.book.tokens[m.start] == "Anna"][:1]
    state = dataclasses.replace(linked, mentions=tuple(anna or linked.mentions[:1]))
    done = run_steps(HubBackend(plan), job, ("windows", "groups"), state=state)
    added = [m for m in done.mentions if m.step in ("windows", "groups")]
    assert added or not anna
    assert {job.book.tokens[m.start] for m in added} <= {"Anna", "she", "Brown"}
    assert {m.rule for m in added} <= {"own_coref:make", "own_coref:make (xl)"}
    with pytest.raises(UsageError, match="cannot be made"):
        run_steps(HubBackend(plan.with_models({"windows": "no_such:make"})), job, ("windows",), state=state)


def test_packages_are_told_from_folders_and_names():
    assert is_package("my.module:make")
    assert not any(map(is_package, ("sapienzanlp/maverick-mes-litbank", "C:/models/x", "./folder", "a-b:c")))


def test_a_model_for_an_unknown_step_is_refused(plan):
    with pytest.raises(UsageError, match="no step to give a model to: 'judge'"):
        plan.with_models({"judge": "x"})


def test_a_model_that_is_not_pinned_says_so(offline_hub, job, plan):
    state = run_steps(HubBackend(plan), job, ("link",))
    assert any("not pinned" in note for note in state.notes)
    pinned = dict(plan.settings) | {"link": dict(plan.of("link")) | {"revision": "0" * 40}}
    state = run_steps(HubBackend(dataclasses.replace(plan, settings=pinned)), job, ("link",))
    assert not any("not pinned" in note for note in state.notes)


@pytest.mark.long
def test_books_go_through_all_steps_on_two_devices_and_survive_a_kill(hub, plan, tmp_path, device):
    """The command on two books (BOOKCOREF_BOOKS for more), killed with all its processes in the filter."""
    count = int(os.environ.get("BOOKCOREF_BOOKS", "2"))
    two = "cpu:0 cpu:1" if device.type == "cpu" else f"{device.type}:0 {device.type}:0"
    books = [_book(number) for number in range(count)]
    write_folder(tmp_path / "old", {"train": books}, title="old", licences=[("Texts", "free")])
    environment = os.environ | {
        "HF_HUB_CACHE": str(hub.cache),
        "HF_HUB_OFFLINE": "1",
        "TMPDIR": str(tmp_path),
    }

    def start(cache, devices):
        recipe = tmp_path / f"{cache}.toml"
        recipe.write_text(_recipe(plan, devices))
        words = ["regenerate", "old", "--recipe", recipe.name, "--cache-dir", cache, "--json"]
        return subprocess.Popen(
            [sys.executable, "-m", "bookcoref_data", *words],
            cwd=tmp_path,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def answers():
        return sum(path.read_bytes().count(b"\n") for path in (tmp_path / "two").rglob("*.filter.part.jsonl"))

    killed = start("two", two)
    while killed.poll() is None and answers() < 20:
        time.sleep(0.1)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    kept = answers()
    assert kept >= 20, "it was not killed inside the filter"
    again = json.loads(start("two", two).communicate()[0])
    whole = json.loads(start("one", "cpu").communicate()[0])
    assert again["work"]["failed"] == {}
    assert len(again["work"]["made"]) == len(whole["work"]["made"]) == count
    assert again["scores"] == whole["scores"]
    assert again["differences"] == whole["differences"]
    assert not list((tmp_path / "two").rglob("*.part.jsonl"))
    print(f"{count} books, killed after {kept} answers of the filter")


def _book(number: int) -> Book:
    chance = random.Random(number)
    words = [
        "the",
        "old",
        "fox",
        "and",
        "young",
        "hare",
        "met",
        "at",
        "mill",
        "Anna",
        "Brown",
        "said",
        "to",
        "that",
        "she",
        "was",
        "tired",
        "he",
        "I",
        "you",
        "his",
        "her",
    ]
    sentences = [[chance.choice(words) for _ in range(chance.randint(4, 12))] for _ in range(30)]
    people = [("Anna Brown", [(0, 0)]), ("old fox", [(1, 1)])]
    return Book.make(f"book_{number}", sentences, clusters=[spans for _, spans in people], characters=people)


def _recipe(plan, devices: str) -> str:
    tables = [f'backend = "hub"\nsteps = {json.dumps(plan.steps)}']
    for step in plan.steps:
        settings = dict(plan.of(step)) | {"device": devices}
        tables.append("\n".join([f"[{step}]", *(f"{k} = {json.dumps(v)}" for k, v in settings.items())]))
    return "\n".join(tables) + "\n"
