"""The small language model is taught with torch: what is written is what was learned, and numpy reads it."""

from __future__ import annotations

import numpy as np
import pytest

from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded import minilm
from bookcoref_data.annotation.embedded.minilm import MiniLM
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.pointing import CLS, FIRST, KINDS, SEP, SLOTS, TURN, Stored
from tests.annotation.test_scene_lessons import CAST, STORY, write_vocabulary
from training.parses import link_text
from training.scene_lessons import LESSONS, NOBODY, OF_PRONOUN, OF_TURN, Known, LessonWindows, Library, pack

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")
pytestmark = pytest.mark.usefixtures("one_thread")

from training import scenes  # noqa: E402

SIZE, INNER, HEADS, LAYERS = 24, 32, 2, 2
NORMS = ("attention.output", "output")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("base") / "vocab.txt"
    return write_vocabulary(path, scenes.NAMES.split())


@pytest.fixture(scope="module")
def library(book_of, network) -> Library:
    book = book_of(STORY)
    text = link_text(book, parse_cast(CAST), parse_book(book))
    he = {i: 1 for i, token in enumerate(book.tokens) if token == "he"}
    windows = LessonWindows(Known(text, (), [], he), network)
    return Library([windows], [windows], [windows])


@pytest.fixture(scope="module")
def base(network) -> dict[str, np.ndarray]:
    """A base of two layers with random numbers."""
    rng = np.random.default_rng(3)
    shapes = {
        "embeddings.word_embeddings": (network.first_slot - FIRST, SIZE),
        "embeddings.token_type_embeddings": (2, SIZE),
        "embeddings.position_embeddings": (512, SIZE),
    }
    for n in range(LAYERS):
        for part, name in minilm._MATRICES.items():
            out, into = {"i": (INNER, SIZE), "u": (SIZE, INNER)}.get(part, (SIZE, SIZE))
            shapes[f"encoder.layer.{n}.{name}"] = out, into
    made = {f"{name}.weight": rng.normal(0, 0.3, shape) for name, shape in shapes.items()}
    made |= {f"{name}.bias": rng.normal(0, 0.1, out) for name, (out, _) in shapes.items()}
    for name in ("embeddings", *(f"encoder.layer.{n}.{of}" for n in range(LAYERS) for of in NORMS)):
        made[f"{name}.LayerNorm.weight"] = rng.normal(1, 0.1, SIZE)
        made[f"{name}.LayerNorm.bias"] = rng.normal(0, 0.1, SIZE)
    return {name: tensor.astype(np.float32) for name, tensor in made.items()}


@pytest.fixture(scope="module")
def known(library, network) -> np.ndarray:
    return scenes.known_pieces(library, network.words)


@pytest.fixture
def net(base, network, known):
    torch.manual_seed(1)
    return scenes.Pupil(base, network.words, known, heads=HEADS)


def read_back(net, base, network, known, path, rank=SIZE) -> MiniLM:
    np.savez_compressed(path, **scenes.changes(net, base, known, rank))
    with np.load(path, allow_pickle=False) as data:
        return MiniLM(network.words, base, Stored(data), heads=HEADS)


def scores(net, batch) -> np.ndarray:
    with torch.no_grad():
        found = net.eval()(*(torch.from_numpy(part) for part in batch[:3]))
    return torch.log_softmax(found, -1).numpy()


def differences(net, model: MiniLM, batch) -> float:
    """The largest difference between what torch and numpy say of the questions of a batch."""
    theirs, largest = scores(net, batch), 0.0
    for n in range(len(batch.words)):
        places, owner = batch.named[n][batch.named[n, :, 0] >= 0].T
        words = batch.words[n][batch.words[n] >= 0]
        x = model.read(words, np.zeros((4, 0)), np.arange(len(words)))
        for kind in range(KINDS):
            rows = np.flatnonzero((batch.asked[n, :, 0] >= 0) & (batch.asked[n, :, 1] == kind))
            ours = model.points(x[batch.asked[n, rows, 0]], kind, x[places], owner)
            people = [*range(ours.shape[1] - 1), NOBODY]
            found = np.abs(np.exp(ours) - np.exp(theirs[n][np.ix_(rows, people)]))
            largest = max(largest, float(found.max(initial=0)))
    return largest


def put_back(net, model: MiniLM, network, known) -> None:
    """The net with the numbers that its file holds, so rounded as they are there."""

    def put(parameter, stored: np.ndarray) -> None:
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(stored))

    kept = [*range(FIRST), *(FIRST + known), *range(network.first_slot, len(model._embeddings))]
    put(net.words.weight, model._embeddings[kept])
    put(net.places.weight, model._places)
    for layer, stored in zip([net, *net.layers], [{"norm": model._norm}, *model._layers], strict=True):
        for name, (weight, bias) in stored.items():
            put(getattr(layer, name).weight, weight.T if weight.ndim > 1 else weight)
            put(getattr(layer, name).bias, bias)
    for heads, stored in ((net.Q, model._asks), (net.K, model._is_asked)):
        for head, (weight, bias) in zip(heads, stored, strict=False):
            put(head.weight, weight)
            put(head.bias, bias)


def test_what_is_learned_is_written_and_read_by_the_package(net, base, library, network, known, tmp_path):
    batch = pack([library.draw(np.random.default_rng(seed)) for seed in range(6)])
    tensors = [torch.from_numpy(part) for part in batch]
    before, loss = scores(net, batch), float(scenes.loss_of(net, tensors)[0].detach())
    scenes.teach(net, library, network.first_slot, steps=40, size=4, rate=0.2)
    moved = np.abs(scores(net, batch) - before).max()
    assert float(scenes.loss_of(net, tensors)[0].detach()) < loss - 0.02
    cut = read_back(net, base, network, known, tmp_path / "cut.npz", rank=1)
    model = read_back(net, base, network, known, tmp_path / "whole.npz")
    # Of 8-bit numbers, so not quite what was learned; the tangent in place of the exact function besides.
    assert differences(net, model, batch) < min(0.05 * moved, 0.5 * differences(net, cut, batch))
    put_back(net, model, network, known)
    assert differences(net, model, batch) < 1e-3


def test_a_teacher_is_followed_where_the_lessons_say_nothing(net, base, library, network, known, monkeypatch):
    monkeypatch.setattr(scenes, "LOUD", 0.0)
    teacher = scenes.Pupil(base, network.words, known, heads=HEADS).eval()
    with torch.no_grad():
        for head in teacher.Q:
            head.weight.normal_(0, 2)
    batch = [torch.from_numpy(p) for p in pack([library.draw(np.random.default_rng(s)) for s in range(6)])]
    batch[2] = torch.full_like(batch[2], -1)  # no question has an answer
    before = float(scenes.follow(teacher, net.eval(), batch).detach())
    assert float(scenes.follow(net, net.eval(), batch).detach()) == pytest.approx(0, abs=1e-5)
    scenes.teach(net, library, network.first_slot, teacher=teacher, steps=40, size=4, rate=0.05)
    assert float(scenes.follow(teacher, net.eval(), batch).detach()) < 0.7 * before


def test_the_base_of_the_teacher_is_mpnet_under_the_names_of_bert(tmp_path):
    transformers = pytest.importorskip("transformers", reason="the extra gpu is not installed")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "*", "#", *scenes.NAMES.split(), "tea", "pot"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    words = minilm.WordPieces(tmp_path / "vocab.txt")
    config = transformers.MPNetConfig(
        vocab_size=len(pieces) + 5, hidden_size=SIZE, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=302,
    )  # fmt: skip
    torch.manual_seed(2)
    theirs = transformers.MPNetModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for tensor in theirs.parameters():
            tensor.normal_(0, 0.2)
    base = {name: t.detach().numpy() for name, t in theirs.named_parameters()}
    known = np.arange(6, len(pieces))
    net = scenes.Pupil(scenes.as_bert(base, words), words, known, heads=HEADS).eval()
    piece = np.random.default_rng(4).integers(6, len(pieces), 260)  # so far apart that distances are alike
    with torch.no_grad():
        expected = theirs(torch.tensor([[0, *(piece + 4), 2]])).last_hidden_state[0]
        filled = torch.tensor([[CLS, *(net_word := piece + FIRST), SEP, -1, -1]])
        found = net.read(filled)[0, : len(net_word) + 2]
    assert torch.allclose(found, expected, atol=1e-4)


def test_an_untaught_net_is_the_base(net, base, network, known, tmp_path):
    model = read_back(net, base, network, known, tmp_path / "scenes.npz", rank=2)
    words = network.words._ids
    for mark, number in (("[CLS]", CLS), ("[SEP]", SEP), ("*", TURN)):
        assert np.allclose(model._embeddings[number], scenes.embeddings_of(base)[words[mark]], atol=1e-3)
    assert np.allclose(model._embeddings[FIRST : network.first_slot], scenes.embeddings_of(base))
    slot = scenes.embeddings_of(base)[[words["john"], words["mary"], words["smith"]]]
    assert np.allclose(model._embeddings[network.first_slot :: SLOTS], slot, atol=1e-3)
    for layer in range(LAYERS):
        whole = base[f"encoder.layer.{layer}.attention.self.query.weight"]
        assert np.array_equal(model._layers[layer]["q"][0].T, whole)


def test_an_answer_that_stands_nowhere_in_the_window_and_nobody_for_a_turn_do_not_count(net):
    words = torch.arange(4, 16)[None]
    named = torch.tensor([[[1, 0], [2, 1]]])
    number = list(LESSONS).index("pronoun of LitBank")

    def loss(*asked) -> float:
        rows = torch.tensor([[(3, *question, number) for question in asked]])
        return float(scenes.loss_of(net.eval(), (words, named, rows))[0].detach())

    assert loss((OF_PRONOUN, 2)) == loss((OF_TURN, NOBODY)) == 0
    assert loss((OF_PRONOUN, 1), (OF_PRONOUN, 2)) == pytest.approx(loss((OF_PRONOUN, 1)))
    assert loss((OF_PRONOUN, NOBODY)) > 0


def test_some_words_become_other_words_and_slots_and_marks_stay():
    words = np.tile(np.arange(-1, 104), (50, 1))
    changed = scenes.noisy(words, 90, np.random.default_rng(2))
    fixed = (words < 4) | (words >= 90)
    assert np.array_equal(changed[fixed], words[fixed])
    assert ((changed[~fixed] >= 4) & (changed[~fixed] < 90)).all()
    assert 0.03 < (changed != words)[~fixed].mean() < 0.07


def test_a_matrix_of_small_numbers_keeps_its_rows_apart():
    matrix = np.outer([1.0, 0.02, 0.0], [0.5, -1.0, 0.25]).astype(np.float32)
    stored = scenes.low_rank("m", matrix, 1)
    a, b = (stored[f"m.{part}"] * stored[f"m.{part}.scale"].astype(np.float32)[:, None] for part in "ab")
    assert np.allclose(a @ b, matrix, rtol=0.02, atol=1e-6)
    assert stored["m.a"].dtype == np.int8


def test_the_check_counts_every_question_of_the_novels_held_back(net, library):
    found = scenes.check(net, library, size=2)
    assert found["tag left out"][1] > 0
    assert all(0 <= right <= count for right, count in found.values())
    assert found["speaker as read"] == (0, 0)


def test_another_base_is_refused(tmp_path, monkeypatch):
    for name in minilm.FILES:
        (tmp_path / name).write_bytes(b"other")
    folders = ["--base", str(tmp_path), "--teacher", str(tmp_path)]
    monkeypatch.setattr(
        "sys.argv", ["scenes", "litbank", "mirror", *folders, "--out", str(tmp_path / "out.npz")]
    )
    with pytest.raises(SystemExit, match=r"model\.safetensors is not that of the base"):
        scenes.main()
