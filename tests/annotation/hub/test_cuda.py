"""The paper's models on a GPU: what they answer there is what they answer on the CPU.

Nothing here runs without a GPU. On one, `BOOKCOREF_DEVICE=cuda` also makes test_public, test_whole_run,
test_running and test_link_train run on it, against what is written down for the CPU. What was seen to pass
on a GPU, and what not, is in docs/results.md, "Cost of the paper's models".
"""

from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")

from bookcoref_data.annotation.hub.backend import HubBackend, batches_for  # noqa: E402
from bookcoref_data.annotation.hub.batching import Batches  # noqa: E402
from bookcoref_data.annotation.hub.check import check  # noqa: E402
from bookcoref_data.annotation.hub.device import choose_device  # noqa: E402
from bookcoref_data.annotation.hub.judge import Judge  # noqa: E402
from bookcoref_data.annotation.hub.maverick import Maverick  # noqa: E402
from bookcoref_data.annotation.hub.reader import Reader  # noqa: E402
from bookcoref_data.annotation.steps import run_steps  # noqa: E402
from bookcoref_data.errors import SourceError  # noqa: E402

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU here"),
]
MIB = 2**20
QUESTIONS = [
    "book excerpt : the old [ fox ] met the hare . Does the mention [ fox ] correspond Anna ?",
    "book excerpt : the old fox met [ Anna ] at the mill . Does the mention [ Anna ] correspond Brown ?",
    "book excerpt : the young",
] * 4


def on(plan, device, **more):
    """The plan with all steps on a device, and other settings for all of them."""
    settings = {step: dict(plan.of(step)) | {"device": device} | more for step in plan.settings}
    return dataclasses.replace(plan, settings=settings)


def run(plan, job):
    backend = HubBackend(plan)
    state = run_steps(backend, job)
    backend.close()
    return state


def same(one, other, close=1e-4):
    """Equal decisions, and scores that are as good as equal."""
    assert one.mentions
    assert [m[:5] for m in one.mentions] == [m[:5] for m in other.mentions]
    assert [d[:4] for d in one.dropped] == [d[:4] for d in other.dropped]
    for a, b in zip((*one.mentions, *one.dropped), (*other.mentions, *other.dropped), strict=True):
        assert a.score == pytest.approx(b.score, abs=close)


def test_auto_is_the_gpu_and_its_decisions_are_those_of_the_cpu(offline_hub, job, plan):
    assert choose_device("auto").type == "cuda"
    found = run(on(plan, "auto"), job)
    same(found, run(on(plan, "cpu"), job))
    assert not any("no GPU found" in note for note in found.notes)


def test_batches_and_repetition_change_no_answer(offline_hub, job, plan):
    found = run(on(plan, "cuda", batch=7), job)
    same(found, run(on(plan, "cuda", batch=1), job))
    again = run(on(plan, "cuda", batch=7), job)
    assert again.mentions == found.mentions
    assert again.dropped == found.dropped


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_runs_through_all_steps(offline_hub, job, plan, dtype):
    found = run(on(plan, "cuda", dtype=dtype), job)
    assert {"link", "windows"} <= {m.step for m in found.mentions}
    assert all(0.0 <= m.score <= 1.0 for m in (*found.mentions, *found.dropped))


@pytest.mark.parametrize(("dtype", "close"), [("float32", 1e-4), ("float16", 0.02), ("bfloat16", 0.15)])
def test_the_judge_answers_as_on_the_cpu(offline_hub, dtype, close):
    """In batches, with the shared beginning run once, against the CPU in float32, question by question."""
    plain = Judge.load("tiny/judge", device=torch.device("cpu"), dtype="float32")
    expected = [plain.ask([question])[0] for question in QUESTIONS]
    judge = Judge.load("tiny/judge", device=torch.device("cuda"), dtype=dtype)
    judge.batches = batches_for(judge.config, dtype, judge.device, 0)
    answers: dict[int, float] = {}
    judge.ask_all(QUESTIONS, answers.__setitem__)
    found = [answers[i] for i in range(len(QUESTIONS))]
    print(f"{dtype}: largest difference {max(abs(a - b) for a, b in zip(found, expected, strict=True)):.1e}")
    assert found == pytest.approx(expected, abs=close)


def test_rows_are_as_many_as_the_memory_has_room_for(offline_hub):
    """The cost of each network is worked out from the configuration that it was loaded with."""
    device = choose_device("auto")
    loaded = (
        (Reader.load("tiny/reader", device=device), "float32"),
        (Maverick.load("tiny/maverick", encoder="tiny/encoder", device=device), "float32"),
        (Judge.load("tiny/judge", device=device, dtype="bfloat16"), "bfloat16"),
    )
    for model, dtype in loaded:
        assert model.device.type == "cuda"
        # Every row is answered with the size of its batch.
        told: dict[int, int] = {}
        batches = batches_for(model.config, dtype, device, 0)
        batches.run([64] * 300, int, lambda part: [len(part)] * len(part), told.__setitem__)
        assert list(told.values()) == [256] * 256 + [44] * 44


@pytest.fixture
def little_memory():
    """64 MiB of the GPU beside what is in use."""
    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 64 * MIB) / total)
    yield 64 * MIB
    torch.cuda.set_per_process_memory_fraction(1.0)


def test_a_batch_that_does_not_fit_is_halved_and_its_memory_is_free_again(little_memory):
    sizes, told, before = [], {}, torch.cuda.memory_allocated()

    def work(part):
        sizes.append(len(part))
        held = torch.ones(len(part), little_memory // 4, dtype=torch.uint8, device="cuda")
        return held[:, 0].tolist()

    Batches(16).run(list(range(10)), lambda _: 1, work, told.__setitem__)
    assert sizes[0] == 10
    assert 1 <= sizes[-1] <= 4
    assert told == dict.fromkeys(range(10), 1)
    assert torch.cuda.memory_allocated() == before


def test_a_text_that_fits_nowhere_says_what_to_do(little_memory):
    def work(part):
        return torch.ones(len(part), 2 * little_memory, dtype=torch.uint8, device="cuda")[:, 0].tolist()

    with pytest.raises(SourceError, match="one text alone does not fit") as caught:
        Batches(4).run([1, 2, 3], lambda _: 77, work, lambda *_: None)
    assert "77 tokens" in caught.value.found
    assert torch.cuda.memory_allocated() < little_memory


def test_what_is_said_before_a_run_names_the_gpu(offline_hub, plan):
    found = {one.what: one for one in check(on(plan, "auto"), 100_000)}
    assert torch.cuda.get_device_name() in found["cuda:0"].found
    assert "rows at a time fit" in found["filter: memory"].found
    assert "computed" in found["time"].found
