"""Published weights are found, read without running anything in them, and refused when they do not fit."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bookcoref_data.annotation.hub import weights
from bookcoref_data.annotation.hub.encoder import build_encoder
from bookcoref_data.annotation.hub.maverick import maverick_shapes
from bookcoref_data.errors import FormatError, MissingExtraError, SourceError

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")


def test_a_name_is_found_in_the_cache_of_the_hub(offline_hub):
    assert weights.find_folder("tiny/reader") == offline_hub.reader
    assert weights.find_folder(str(offline_hub.judge)) == offline_hub.judge


def test_a_model_that_is_not_there_says_what_to_fetch_and_how_big_it_is(offline_hub):
    with pytest.raises(SourceError) as caught:
        weights.find_folder("Qwen/Qwen2-7B-Instruct", "abc123")
    message = str(caught.value)
    assert "hf download Qwen/Qwen2-7B-Instruct --revision abc123" in message
    assert "15.2 GB" in message
    assert "HF_HOME" in message
    assert caught.value.exit_code == 3


def test_a_folder_that_is_not_there_is_no_name_on_the_hub(tmp_path):
    with pytest.raises(SourceError, match="no folder"):
        weights.find_folder(str(tmp_path / "nothing"))


def test_a_folder_without_weights_lists_what_it_has(offline_hub):
    with pytest.raises(SourceError, match="no weights") as caught:
        weights.read_weights(offline_hub.encoder)
    assert "spm.model" in str(caught.value)


def test_a_checkpoint_with_objects_of_missing_packages_gives_its_tensors(offline_hub):
    state = weights.read_weights(offline_hub.maverick)
    assert {k.removeprefix("model.") for k in state} >= set(maverick_shapes(16))
    assert all(isinstance(v, torch.Tensor) for v in state.values())


class _Bomb:
    def __init__(self, path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_would_run_something_is_refused_and_does_not_run(tmp_path):
    target = tmp_path / "ran"
    torch.save({"state_dict": {"a": torch.ones(1)}, "x": _Bomb(target)}, tmp_path / "weights.ckpt")
    with pytest.raises(FormatError) as caught:
        weights.read_weights(tmp_path)
    assert not target.exists()
    assert "safetensors" in str(caught.value)


@pytest.mark.parametrize("name", ["weights.ckpt", "model.safetensors", "pytorch_model.bin"])
def test_a_damaged_file_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04 this is no model")
    with pytest.raises(FormatError, match=name):
        weights.read_weights(tmp_path)


def test_weights_of_another_architecture_are_refused_by_name_and_shape(offline_hub):
    state = weights.without_prefix(weights.read_weights(offline_hub.maverick), "model.")
    state["antecedent_s2s_all_biases"] = torch.zeros(7, 9)
    with pytest.raises(FormatError, match=r"antecedent_s2s_all_biases \(7, 9\), not \(7, 16\)"):
        weights.check_shapes(state, maverick_shapes(16), "here")


def test_an_encoder_whose_weights_do_not_fit_its_configuration_is_refused(offline_hub):
    state = weights.without_prefix(weights.read_weights(offline_hub.reader), "transformer_model.")
    lacking = {k: v for k, v in state.items() if "layer.1." not in k}
    with pytest.raises(FormatError, match="do not fit") as caught:
        build_encoder(offline_hub.encoder, lacking)
    names = sorted(k for k in state if "layer.1." in k)
    assert caught.value.found == "missing"
    assert len(caught.value.expected.removeprefix("also ").split(", ")) == 3
    assert set(caught.value.expected.removeprefix("also ").split(", ")) <= set(names)
    shorter = build_encoder(offline_hub.encoder, lacking, layers=1)
    assert shorter.config.num_hidden_layers == 1
    with pytest.raises(FormatError, match="do not fit") as caught:
        build_encoder(offline_hub.encoder, state | {"more.weight": torch.zeros(1)})
    assert (caught.value.found, caught.value.expected) == ("unknown: more.weight", "no other tensors")


def test_without_torch_the_install_line_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bookcoref-data\[gpu\]'"):
        weights.need_packages()


def test_importing_the_backend_does_not_import_torch():
    code = "import sys, bookcoref_data.annotation.hub.backend as b; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
