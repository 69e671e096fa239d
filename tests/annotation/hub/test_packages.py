"""Checkpoints of other coreference packages: their words are ours, and what they leave out is said.

The tests with the package itself run where it is installed (fastcoref 2.1.6 needs transformers 4).
"""

from __future__ import annotations

import json
import shutil
import sys
import types

import pytest

from bookcoref_data.annotation.hub.packages import Package, is_package
from bookcoref_data.annotation.steps import run_steps
from bookcoref_data.errors import SourceError, UsageError

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")

from bookcoref_data.annotation.hub.backend import HubBackend  # noqa: E402

CPU = torch.device("cpu")
SENTENCES = [["the", "old", "fox", "met", "Anna", "Brown", "."], ["she", "was", "tired", "."],
             ["Anna", "said", "that", "he", "was", "young", "."]]  # fmt: skip


class Result:
    def __init__(self, spans):
        self._spans = spans

    def get_clusters(self, as_strings=True):
        assert not as_strings
        return self._spans


@pytest.fixture
def stub(monkeypatch):
    """A module that answers as fastcoref does: ends are exclusive, mentions at special tokens are None."""
    asked = []

    class Model:
        max_doc_len = 8

        def __init__(self, name, device, nlp=None, enable_progress_bar=True):
            assert (nlp, enable_progress_bar) == (None, False)
            asked.append((type(self).__name__, name, device))

        def predict(self, texts, is_split_into_words=False):
            assert is_split_into_words
            return [Result([[(0, 3), None, (7, 8)], [None, (4, 6)]]) for t in texts if len(t) < 20]

    module = types.ModuleType("fastcoref")
    module.FCoref, module.LingMessCoref = type("FCoref", (Model,), {}), type("LingMessCoref", (Model,), {})
    monkeypatch.setitem(sys.modules, "fastcoref", module)
    return asked


def test_spans_are_words_with_both_ends_and_what_is_no_mention_is_left_out(stub):
    model = Package.load("fastcoref:biu-nlp/f-coref", CPU)
    assert model.find(SENTENCES) == [[(0, 2), (7, 7)]]
    assert Package.load("lingmess:/models/x", CPU).find(SENTENCES) == [[(0, 2), (7, 7)]]
    assert stub == [("FCoref", "biu-nlp/f-coref", "cpu"), ("LingMessCoref", "/models/x", "cpu")]
    assert is_package("fastcoref:biu-nlp/f-coref")


def test_a_text_that_lingmess_leaves_out_is_an_error(stub):
    with pytest.raises(SourceError, match="cannot read a text of 36 words"):
        Package.load("lingmess:biu-nlp/lingmess-coref", CPU).find(SENTENCES * 2)


def test_a_package_that_is_not_there_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastcoref", None)
    with pytest.raises(UsageError, match=r"fastcoref 2\.1\.6"):
        Package.load("fastcoref:biu-nlp/f-coref", CPU)


def test_a_checkpoint_with_random_weights_takes_part(offline_hub, job, plan, tmp_path):
    """The public layout, through the package itself: its clusters, found again in the book."""
    fastcoref = pytest.importorskip("fastcoref", reason="fastcoref is not installed")
    folder = checkpoint(tmp_path / "f-coref")
    told = fastcoref.FCoref(str(folder), "cpu", nlp=None, enable_progress_bar=False).predict(
        [[word for sentence in SENTENCES for word in sentence]], is_split_into_words=True
    )[0]
    public = [[span for span in c if span] for c in told.get_clusters(as_strings=False)]
    model = Package.load(f"fastcoref:{folder}", CPU)
    assert model.find(SENTENCES) == [[(a, b - 1) for a, b in c] for c in public if len(c) > 1]
    plan = plan.with_models(dict.fromkeys(("windows", "groups"), f"fastcoref:{folder}"))
    done = run_steps(HubBackend(plan), job)
    assert done.done == ("link", "filter", "windows", "groups")


@pytest.mark.long
def test_an_xcore_checkpoint_with_random_weights_finds_words(offline_hub, tmp_path):
    """Its file is a Lightning checkpoint, read without running what is pickled in it."""
    pytest.importorskip("xcore", reason="xcore-coref is not installed")
    encoder = tmp_path / "encoder"
    shutil.copytree(offline_hub.encoder, encoder)
    # The package joins clusters by a network that is made for this width.
    wide = json.loads((encoder / "config.json").read_text()) | {"hidden_size": 1024, "num_hidden_layers": 1}
    (encoder / "config.json").write_text(json.dumps(wide))
    folder = xcore_checkpoint(tmp_path / "xcore", encoder)
    find = Package.load(f"xcore:{folder}", CPU, str(encoder)).find
    (cluster,) = find([*SENTENCES, []])
    words = sum(map(len, SENTENCES))
    assert len(cluster) > 2
    assert all(0 <= a <= b < words for a, b in cluster)
    assert find([]) == []


@pytest.mark.parametrize("prefix", ["model.", ""])
def test_an_xcore_checkpoint_is_read_with_and_without_the_names_of_its_trainer(monkeypatch, tmp_path, prefix):
    """The package of this name stands in: its mentions may begin at no word, and its groups hold one."""
    made, asked = [], []

    class System(torch.nn.Linear):
        def __init__(self, huggingface_model_name, **options):
            super().__init__(2, 1)
            made.append((huggingface_model_name, options, self))

    class Model:
        def __get_model_tokenizer__(self):
            return self.model

        def predict(self, sentences, mode):
            asked.append((sentences, mode, self.device))
            return {"clusters_token_offsets": [[(0, 2), (None, 3), (7, 7)], [(None, None), (4, 5)]]}

    module = types.ModuleType("xcore")
    module.xCoRe_system, module.xCoRe = System, Model
    monkeypatch.setitem(sys.modules, "xcore", module)
    state = {f"{prefix}weight": torch.tensor([[3.0, 4.0]]), f"{prefix}bias": torch.tensor([5.0])}
    for name in ("weights", "encoder"):
        (tmp_path / name).mkdir()
    torch.save({"state_dict": state}, tmp_path / "weights" / "weights.ckpt")
    model = Package.load(f"xcore:{tmp_path / 'weights'}", CPU, str(tmp_path / "encoder"))
    ((encoder, options, network),) = made
    assert encoder == str(tmp_path / "encoder")
    assert options == {"freeze_encoder": False, "span_representation": "concat_start_end"}
    assert (network.weight.tolist(), network.bias.tolist()) == ([[3.0, 4.0]], [5.0])
    assert not network.training
    assert model.find([["a"], [], ["b"]]) == [[(0, 2), (7, 7)]]
    assert asked == [([["a"], ["b"]], "long", "cpu")]
    assert model.find([]) == []
    assert len(asked) == 1


def xcore_checkpoint(folder, encoder):
    """xCoRe's own class over a small encoder, with random weights, as Lightning saves it. With these weights
    mentions also begin at the tokens of the speaker, which are no words."""
    from transformers import AutoConfig, AutoModel
    from xcore.models.model_cross import xCoRe_system

    torch.manual_seed(5)
    AutoModel.from_config(AutoConfig.from_pretrained(encoder)).save_pretrained(encoder)
    network = xCoRe_system(
        huggingface_model_name=str(encoder), freeze_encoder=False, span_representation="concat_start_end"
    )
    torch.manual_seed(10)
    for name, parameter in network.named_parameters():
        if name.startswith(("start_", "end_token", "antecedent_")):
            torch.nn.init.normal_(parameter, std=0.1)
    folder.mkdir()
    state = {f"model.{name}": value for name, value in network.state_dict().items()}
    torch.save({"state_dict": state, "hyper_parameters": {"lr": 1}}, folder / "weights.ckpt")
    return folder


def checkpoint(folder):
    """A small RoBERTa with fastcoref's heads and random weights, saved by the package's own class."""
    from fastcoref.coref_models.modeling_fcoref import FCorefModel
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaTokenizerFast

    folder.mkdir()
    core = ByteLevelBPETokenizer(add_prefix_space=True)
    core.train_from_iterator(
        [" ".join(word for s in SENTENCES for word in s)] * 30, vocab_size=400,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    )  # fmt: skip
    core.save_model(str(folder))
    tokenizer = RobertaTokenizerFast.from_pretrained(folder, add_prefix_space=True)
    tokenizer.save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=130, pad_token_id=1, type_vocab_size=1,
    )  # fmt: skip
    config.coref_head = {
        "max_segment_len": 64, "max_span_length": 10, "top_lambda": 0.4, "ffnn_size": 16, "dropout_prob": 0.3,
    }  # fmt: skip
    torch.manual_seed(3)
    model = FCorefModel(config)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.4)
    model.save_pretrained(folder)
    return folder
