"""The ReLiK reader: passes over many names, halves of long texts, spans that are spans."""

from __future__ import annotations

import json

import pytest

from bookcoref_data.annotation.hub.layers import activate
from bookcoref_data.annotation.hub.reader import Link, Reader, ReaderSettings
from bookcoref_data.errors import FormatError, SourceError, UsageError

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")

TEXT = ["the", "old", "fox", "said", "that", "Anna", "was", "tired", "and", "he", "met", "the", "hare"]
CPU = torch.device("cpu")


@pytest.fixture(params=["tiny/reader", "tiny/reader-bin"])
def reader(request, offline_hub) -> Reader:
    return Reader.load(request.param, device=CPU)


def eager(reader: Reader) -> Reader:
    """The same reader, made to start a mention at every word."""
    heads = dict(reader._heads) | {"ned_start_classifier.4.bias": torch.tensor([0.0, 1e3])}
    if len(heads["ned_end_classifier.dense_1.bias"]) == 2:
        heads["ned_end_classifier.dense_1.bias"] = torch.tensor([0.0, 1e3])
    reader._heads = heads
    return reader


def test_links_are_spans_of_the_text_and_names_of_the_list(reader):
    links = eager(reader).read(TEXT, ["Anna", "old fox", "hare"])
    assert links
    assert all(0 <= k.start <= k.end < len(TEXT) and 0 <= k.name < 3 and 0 < k.score <= 1 for k in links)
    assert len({k[:2] for k in links}) == len(links)
    assert links == sorted(links)


def test_nothing_is_found_where_no_mention_starts(reader):
    reader._heads = dict(reader._heads) | {"ned_start_classifier.4.bias": torch.tensor([1e3, 0.0])}
    assert reader.read(TEXT, ["Anna"]) == []


def test_no_text_or_no_names_give_no_links(reader):
    assert eager(reader).read([], ["Anna"]) == []
    assert eager(reader).read(TEXT, []) == []


def test_more_names_than_symbols_are_read_in_passes_and_the_best_wins(offline_hub):
    """The tiny reader has symbols for three names: nine names take three passes."""
    reader = eager(Reader.load("tiny/reader", device=CPU))
    names = ["Anna", "Brown", "fox", "hare", "mill", "old Anna", "young Brown", "tired fox", "he"]
    alone = [
        Link(k.start, k.end, k.name + i, k.score)
        for i in (0, 3, 6)
        for k in reader.read(TEXT, names[i : i + 3])
    ]
    best = {span: max(k.score for k in alone if k[:2] == span) for span in {k[:2] for k in alone}}
    found = reader.read(TEXT, names)
    assert {k[:2]: pytest.approx(k.score, abs=1e-5) for k in found} == best
    assert max(k.name for k in found) > 2


def test_a_text_too_long_for_the_network_is_read_in_halves(offline_hub):
    small = eager(Reader.load("tiny/reader", device=CPU, max_subwords=30))
    whole = small.read(TEXT, ["Anna", "hare"])
    half = len(TEXT) // 2
    later = small.read(TEXT[half:], ["Anna", "hare"])
    expected = small.read(TEXT[:half], ["Anna", "hare"]) + [
        Link(k.start + half, k.end + half, k.name, k.score) for k in later
    ]
    assert whole == expected
    assert whole


def test_the_symbols_must_be_in_the_tokenizer(offline_hub, tmp_path):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).symlink_to(offline_hub.reader / name)
    with pytest.raises(SourceError, match="--NME--"):
        Reader.load(str(tmp_path), device=CPU)


def test_heads_of_another_size_are_refused(offline_hub, tmp_path):
    for path in offline_hub.reader.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text()) | {"linears_hidden_size": 9}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match="another architecture"):
        Reader.load(str(tmp_path), device=CPU)


def test_configurations_that_cannot_be_run_are_refused():
    with pytest.raises(UsageError, match="several layers"):
        ReaderSettings.of({"use_last_k_layers": 2})
    with pytest.raises(UsageError, match="unknown activation"):
        activate(torch.zeros(1), "swish")
    assert activate(torch.tensor([20.0]), "gelu_10").item() == 10
    assert activate(torch.tensor([-1.0]), "relu").item() == 0
