"""What is said before a run: costs without weights are those of real networks; 3 where it cannot run."""

from __future__ import annotations

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from bookcoref_data.annotation.hub import check as module
from bookcoref_data.annotation.hub import device as device_module
from bookcoref_data.annotation.hub.check import CANNOT, LOOK, check
from bookcoref_data.annotation.hub.cost import cost_of, facts
from bookcoref_data.annotation.hub.device import attention_of, dtype_of, warnings_of
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import UsageError

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")


def test_the_pinned_revisions_of_the_recipe_are_commits():
    plan = default_plan("hub")
    for step in plan.steps:
        for name in ("revision", "encoder_revision") if plan.of(step).get("encoder") else ("revision",):
            assert len(plan.of(step)[name]) == 40
            assert int(plan.of(step)[name], 16)


@pytest.mark.parametrize(("network", "length"), [("judge", 300), ("encoder", 700)])
def test_costs_by_shape_are_those_of_the_network_when_it_runs(hub, network, length):
    """Weights and operations of a small network with real weights, at a length that was not run by shape."""
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(getattr(hub, network))
    model = AutoModel.from_config(config).eval().requires_grad_(False)
    ids = torch.ones(1, length, dtype=torch.long)
    with torch.inference_mode(), FlopCounterMode(display=False) as counted:
        model(input_ids=ids, attention_mask=torch.ones_like(ids))
    cost = cost_of(config.to_dict(), "float32")
    operations = cost.row_operations(length)
    if network == "judge":  # the CPU's fused attention is not counted by torch
        operations -= 2 * 4 * config.hidden_size * length**2
    assert operations == pytest.approx(counted.get_total_flops(), rel=1e-3)
    head = config.vocab_size * config.hidden_size if network == "judge" else 0
    assert cost.weights == 4 * (sum(p.numel() for p in model.parameters()) + head)


@pytest.mark.long
def test_costs_of_the_real_networks():
    """7,615,616,512 weights of the judge (its index file says 15,231,233,024 bytes), 434 M of the encoder."""
    networks = facts()["networks"]
    judge, encoder = (
        cost_of(networks["qwen2-7b"], "bfloat16"),
        cost_of(networks["deberta-v3-large"], "float32"),
    )
    assert judge.weights == 15_231_233_024
    assert encoder.weights == 4 * 434_012_160
    # Twice the weights outside the embeddings, and 4 x length x hidden size in each layer.
    assert judge.row_operations(640) == pytest.approx(2 * 6.525e9 * 640 + 28 * 4 * 3584 * 640**2, rel=0.01)
    assert encoder.row_bytes(4000) > 12 * encoder.row_bytes(1000)
    gib = 2**30
    assert judge.rows(650, 16 * gib - judge.weights) == pytest.approx(12, abs=3)
    assert encoder.rows(4000, 8 * gib - encoder.weights) == 0


def test_what_is_missing_is_named_with_its_size_and_offline_cannot_run(offline_hub, plan):
    missing = plan.with_models({"filter": "Qwen/Qwen2-0.5B-Instruct"})
    found = {one.what: one for one in check(missing, 100_000)}
    assert found["Qwen/Qwen2-0.5B-Instruct"].verdict == CANNOT
    assert "0.9 GiB" in found["Qwen/Qwen2-0.5B-Instruct"].found
    assert "not pinned" in found["Qwen/Qwen2-0.5B-Instruct"].found
    assert found["tiny/reader"].verdict == LOOK  # here, and not pinned
    assert str(offline_hub.reader) in found["tiny/reader"].found
    assert found["package torch"].found == torch.__version__
    assert found["link: memory"].verdict == "fine"
    assert "computed" in found["time"].found
    assert any(what.startswith("approximate: windows.model") for what in found)


def test_online_it_is_fetched_and_the_disk_must_have_room(offline_hub, plan, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    missing = plan.with_models({"filter": "Qwen/Qwen2-0.5B-Instruct"})
    found = {one.what: one for one in check(missing, 1000)}
    assert found["Qwen/Qwen2-0.5B-Instruct"].verdict == LOOK
    assert found["disk"].verdict == "fine"
    usage = module.shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: usage)
    assert {one.what: one for one in check(missing, 1000)}["disk"].verdict == CANNOT


def test_weights_that_do_not_fit_cannot_run(offline_hub, plan, monkeypatch):
    monkeypatch.setattr(module, "_free_memory", lambda: 2**18)
    found = {one.what: one for one in check(plan, 1000)}
    assert found["filter: memory"].verdict == CANNOT
    assert "more than" in found["filter: memory"].found


def test_packages_that_are_missing_or_old_cannot_run(offline_hub, plan, monkeypatch):
    monkeypatch.setattr(
        module, "requires", lambda _: ['torch>=99; extra == "gpu"', "no-such; extra == 'gpu'"]
    )
    found = check(plan, 1000)
    assert [one.verdict for one in found] == [CANNOT, CANNOT]
    assert ">=99 is needed" in found[0].found


def test_a_server_or_another_package_is_not_looked_at(offline_hub, plan):
    found = check(plan.with_models({"windows": "own:make"}, "http://localhost:1/v1"), 1000)
    assert {one.what for one in found if "not looked at" in one.found} == {"filter", "windows"}
    assert not any(one.what == "filter: memory" for one in found)


APPROXIMATE = {
    "link": ["model", "revision", "encoder", "dtype", "window_words"],
    "filter": ["revision", "dtype", "context_words"],
    "windows": ["model", "revision", "encoder", "dtype", "words"],
    "groups": ["dtype"],
}


@pytest.fixture
def known(monkeypatch):
    """A machine without the list of the extra, with 6 MiB of memory and packages of known versions."""
    monkeypatch.setattr(module, "_free_memory", lambda: 6 * 2**20)
    monkeypatch.setattr(module, "requires", lambda _: None)
    monkeypatch.setattr(module, "version", lambda name: f"{len(name)}.0")


def test_everything_that_is_said_of_a_run(offline_hub, plan, known):
    found = check(plan.with_models({"filter": "Qwen/Qwen2-0.5B-Instruct"}), 10**9)
    assert [(one.what, one.verdict) for one in found] == [
        *((f"package {name}", "fine") for name in ("torch", "transformers", "safetensors", "sentencepiece")),
        ("device", LOOK),
        ("filter: attention", "fine"),
        ("tiny/reader", LOOK),
        ("Qwen/Qwen2-0.5B-Instruct", CANNOT),
        ("tiny/encoder", LOOK),
        ("tiny/maverick", LOOK),
        ("disk", "fine"),
        *((f"{step}: memory", CANNOT if step == "filter" else "fine") for step in plan.steps),
        *((f"{step}: time", "fine") for step in plan.steps),
        ("time", LOOK),
        *((f"approximate: {step}.{name}", LOOK) for step, names in APPROXIMATE.items() for name in names),
    ]
    said = {one.what: one.found for one in found}
    assert said["package torch"] == "5.0"
    assert said["device"] == "no GPU is used; the CPU has 6.0 MiB of memory free: a long book takes days"
    assert said["filter: attention"] == "sdpa"
    assert said["approximate: link.revision"].startswith("empty: not determined by the paper")
    assert said["approximate: windows.words"].startswith("30: paper, section 4, step 3")


@pytest.mark.parametrize(
    ("step", "length", "rows"), [("link", 81, 3_333_333_334), ("windows", 40, 3_333_333_334)]
)
def test_memory_and_time_follow_from_the_cost_of_the_network(offline_hub, plan, known, step, length, rows):
    said = {one.what: one.found for one in check(plan, 10**11)}
    config = json.loads((offline_hub.encoder / "config.json").read_text())
    cost = cost_of(config, "float32")
    fitting = int(0.8 * (6 * 2**20 - cost.weights) // cost.row_bytes(length))
    assert said[f"{step}: memory"] == (
        f"{cost.weights / 2**20:.1f} MiB of weights, {cost.row_bytes(length) / 2**20:.1f} MiB per row of "
        f"{length} tokens (float32): {min(256, fitting)} rows at a time fit"
    )
    operations = rows * cost.row_operations(length)
    hours = operations / 5e10 / 3600
    time = f"{hours:.1f} h" if hours < 100 else f"{hours / 24:,.0f} days"
    assert said[f"{step}: time"] == f"{rows:,} rows, {operations:.1e} operations: computed {time}"


def test_steps_of_unknown_cost_are_said_to_be_so(offline_hub, plan, known):
    unknown = plan.with_models({"link": "nobody/nothing"})
    settings = {**unknown.settings, "link": {**unknown.of("link"), "encoder": ""}}
    found = {one.what: one for one in check(dataclasses.replace(unknown, settings=settings), 1000)}
    assert found["link: memory"] == (
        "link: memory",
        "not known: no configuration of nobody/nothing is here",
        LOOK,
    )
    assert "link: time" not in found
    assert found["nobody/nothing"].found.startswith("missing, of unknown size; not pinned")
    assert "disk" not in found
    assert found["time"].found.endswith(
        "and the steps of unknown cost (guessed speed: 50 GFLOP/s); not measured"
    )


def test_a_step_on_the_cpu_and_a_model_that_may_change_are_warned_of(tmp_path):
    no_gpu = "no GPU found, so the paper's models run on the CPU, which takes days for a long book"
    unpinned = "a/b is not pinned to a revision: another day may give another model"
    for settings, notes in (
        ({"device": "cpu"}, [no_gpu, unpinned]),
        ({"device": "cpu", "revision": "x"}, [no_gpu]),
        ({"device": "cuda:0"}, [unpinned]),
        ({"device": "cpu", "endpoint": "http://x"}, [unpinned]),
        ({"device": "cpu", "model": str(tmp_path)}, [no_gpu]),
    ):
        found = warnings_of({"model": "a/b", **settings}, "link")
        assert found == tuple(f"link: {note}" for note in notes)


@pytest.mark.parametrize(
    ("device", "dtype", "installed", "attention"),
    [
        ("cuda:0", "bfloat16", True, "flash_attention_2"),
        ("cuda:0", "float32", True, "sdpa"),
        ("cpu", "bfloat16", True, "sdpa"),
        ("cuda:0", "bfloat16", False, "sdpa"),
    ],
)
def test_the_fastest_attention_is_for_gpus_in_half_precision(
    monkeypatch, device, dtype, installed, attention
):
    monkeypatch.setattr(device_module, "find_spec", lambda name: object() if installed else None)
    assert attention_of(device, dtype) == attention


def test_precisions_are_called_by_name():
    assert [dtype_of(name) for name in ("float32", "bfloat16", "float16")] == [
        torch.float32,
        torch.bfloat16,
        torch.float16,
    ]
    with pytest.raises(UsageError, match="no dtype 'int8'") as caught:
        dtype_of("int8")
    assert caught.value.expected == "one of float32, bfloat16, float16"


@pytest.mark.long
def test_the_verb_exits_with_3_where_it_cannot_run(offline_hub, tmp_path):
    runner = CliRunner()
    built = runner.invoke(make_app(), ["rebuild", "--sample", "--out", str(tmp_path / "b"), "--jobs", "1"])
    assert built.exit_code == 0, built.output
    words = ["regenerate", str(tmp_path / "b"), "--recipe", "silver-as-published"]
    small = ["--model", "link=tiny/reader", "--model", "filter=tiny/judge", "--model", "windows=own:make"]
    small += ["--model", "groups=own:make"]
    done = runner.invoke(make_app(), [*words, "--check", "--json", *small])
    rows = json.loads(done.stdout)
    assert rows[0]["what"] == "1 book"
    # The encoder that the recipe names is not in this cache, and the network is off.
    assert done.exit_code == 3
    assert [row["what"] for row in rows if row["verdict"] == CANNOT] == ["microsoft/deberta-v3-large"]
    embedded = runner.invoke(make_app(), ["regenerate", str(tmp_path / "b"), "--check"])
    assert embedded.exit_code == 0
