"""What the published models go by and what is kept of their answers, as far as no torch is needed."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.hub import lessons
from bookcoref_data.annotation.hub.categories import (
    CATEGORIES,
    COUNT,
    GROUP_OF,
    PRONOUN_GROUPS,
    MentionWords,
    kind_of,
    pronoun_group,
)
from bookcoref_data.annotation.hub.check import need_of
from bookcoref_data.annotation.hub.cost import MOST_ROWS, Cost
from bookcoref_data.annotation.hub.encoder import Subwords, special_id, split_words
from bookcoref_data.annotation.hub.kept import Kept, ask_together
from bookcoref_data.annotation.hub.layers import projection_shapes, two_layers_shapes
from bookcoref_data.annotation.hub.maverick import Antecedent, maverick_shapes
from bookcoref_data.annotation.hub.packages import is_package, links_of
from bookcoref_data.annotation.hub.questions import check_template, excerpt, question
from bookcoref_data.annotation.hub.reader import ReaderSettings, reader_shapes
from bookcoref_data.annotation.hub.steps import FilterStep, complete
from bookcoref_data.annotation.hub.weights import find_folder, missing_weights, without_prefix
from bookcoref_data.annotation.steps import Job
from bookcoref_data.books import Book, Mention, Record
from bookcoref_data.errors import SourceError, UsageError

sys.path.append(str(Path(__file__).resolve().parents[2]))
from hub_server import HubServer, Repository


@pytest.mark.parametrize(
    ("words", "kind", "group"),
    [
        ([], "", -1),
        (["he"], "pronoun", 2),
        (["I"], "pronoun", 0),
        (["this"], "pronoun", 7),
        (["mine"], "pronoun", 0),
        (["themselves"], "pronoun", 6),
        (["Anna"], "", -1),
        (["he", "her"], "", -1),
        (["the", "he"], "", -1),
    ],
)
def test_a_pronoun_is_one_word_of_a_group(words, kind, group):
    assert kind_of(words) == kind
    assert pronoun_group(frozenset(word.lower() for word in words)) == group


def test_every_listed_pronoun_has_the_number_of_its_group():
    assert {word: group for group, words in enumerate(PRONOUN_GROUPS) for word in words} == GROUP_OF
    assert (len(PRONOUN_GROUPS), len(GROUP_OF)) == (8, 32)


@pytest.mark.parametrize(
    ("one", "other", "category"),
    [
        ("he", "his", 0),
        ("I", "my", 0),
        ("that", "This", 0),
        ("he", "she", 1),
        ("I", "you", 1),
        ("he", "Anna", 2),
        ("Anna", "it", 2),
        ("he", "he Anna", 2),
        ("the", "he", 2),
        ("the old fox", "old fox", 3),
        ("Anna", "anna", 3),
        ("fox", "of the fox", 3),
        ("the", "a", 3),
        ("Anna Brown", "Anna", 4),
        ("fox", "the old fox", 4),
        ("the", "fox", 4),
        ("Anna Brown", "Anna Hill", 5),
        ("Anna", "Brown", 5),
    ],
)
def test_two_mentions_are_compared_by_their_words(one, other, category):
    """The names of the categories are the rule; stop words count for nothing."""
    words = MentionWords([one.split(), other.split(), ["mill"]])
    assert words.categories(0, 1)[0, 1] == category
    assert words.categories(1, 2).tolist() == [
        [category, words.categories(1, 2)[0, 1], *words.categories(1, 2)[0, 2:]]
    ]
    assert words.categories(0, 3).shape == (3, 3)
    assert len(CATEGORIES) + 1 == COUNT


def test_no_mentions_have_no_categories():
    assert MentionWords([]).categories(0, 0).shape == (0, 0)


TOKENS = [f"w{i}" for i in range(10)]


@pytest.mark.parametrize(
    ("start", "end", "words", "found"),
    [
        (4, 4, 1, "[w4]"),
        (4, 4, 2, "[w4] w5"),
        (4, 4, 3, "w3 [w4] w5"),
        (4, 5, 2, "[w4 w5]"),
        (4, 5, 5, "w3 [w4 w5] w6 w7"),
        (4, 5, 6, "w2 w3 [w4 w5] w6 w7"),
        (1, 1, 5, "w0 [w1] w2 w3 w4"),
        (8, 8, 5, "w5 w6 w7 [w8] w9"),
        (8, 9, 2, "[w8 w9]"),
        (0, 9, 3, "[w0 w1 w2 w3 w4 w5 w6 w7 w8 w9]"),
        (4, 4, 10, "w0 w1 w2 w3 [w4] w5 w6 w7 w8 w9"),
        (4, 4, 99, "w0 w1 w2 w3 [w4] w5 w6 w7 w8 w9"),
    ],
)
def test_an_excerpt_is_this_text(start, end, words, found):
    assert excerpt(TOKENS, Mention(start, end), words) == found


def test_line_ends_are_left_out_of_question_and_excerpt():
    asked = question("$book|$mention|${character}", ["a", "\n", "b", "\n", "c"], Mention(1, 3), "Anna", 5)
    assert asked == "a [b] c|b|Anna"


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("$mention $character", "no $book"),
        ("$book $character", "no $mention"),
        ("${book} $mention", "no $character"),
        ("$book $mention $character $x", "'x'"),
        ("$ $book", None),
    ],
)
def test_a_template_must_have_the_three_fields(template, found):
    check_template("${book} $mention ${character}")
    with pytest.raises(UsageError) as caught:
        check_template(template)
    assert caught.value.expected == "$book, $mention, $character"
    assert found is None or caught.value.found == found


def test_links_of_clusters_go_to_the_mention_before_in_the_order_of_the_text():
    number = {(i, i): i for i in range(6)}
    clusters = [[(4, 4), (0, 0), (2, 2)], [(3, 3), (1, 1), (3, 3)], [(5, 5)]]
    assert links_of(clusters, number) == [Antecedent(2, 0, 1.0), Antecedent(3, 1, 1.0), Antecedent(4, 2, 1.0)]
    assert links_of([], {}) == []


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("ab:c", True),
        ("a.b:c", True),
        ("ab:", False),
        ("ab", False),
        ("a:c", False),
        (":c", False),
        ("a-b:c", False),
        ("", False),
        ("a.:c", False),
    ],
)
def test_a_package_is_named_by_module_and_function(name, is_one):
    assert is_package(name) is is_one


def mentions(count):
    return [Mention(i, i) for i in range(count)]


@pytest.mark.parametrize(
    ("links", "given_to", "expected"),
    [
        ([], {}, ([], 0)),
        ([(1, 0, 0.6)], {0: 5}, ([(Mention(1, 1), 5, 0.6)], 0)),
        ([(1, 0, 0.6)], {1: 5}, ([(Mention(0, 0), 5, 0.6)], 0)),
        ([(1, 0, 0.6)], {0: 5, 1: 5}, ([], 0)),
        ([(1, 0, 0.6)], {0: 5, 1: 6}, ([], 1)),
        ([(1, 0, 0.6)], {}, ([], 0)),
        # The better of two links counts; what is joined already is not joined again.
        (
            [(1, 0, 0.6), (2, 1, 0.9), (2, 0, 0.99)],
            {0: 0},
            ([(Mention(1, 1), 0, 0.9), (Mention(2, 2), 0, 0.9)], 0),
        ),
        # The later of two links that meet is refused, and what hangs on it stays where it was.
        (
            [(1, 0, 0.6), (3, 2, 0.7), (2, 1, 0.8)],
            {0: 0, 3: 1},
            ([(Mention(1, 1), 0, 0.6), (Mention(2, 2), 1, 0.7)], 1),
        ),
        # A cluster of nobody learns whose it is by a later link, and keeps it against the next.
        (
            [(1, 0, 0.6), (2, 1, 0.7), (3, 1, 0.8)],
            {2: 1, 3: 2},
            ([(Mention(0, 0), 1, 0.6), (Mention(1, 1), 1, 0.7)], 1),
        ),
    ],
)
def test_links_complete_given_clusters(links, given_to, expected):
    done = complete(
        mentions(4), [Antecedent(*link) for link in links], {Mention(i, i): c for i, c in given_to.items()}
    )
    assert done == expected


class Counting:
    """Answers with the length of an item, and notes what it was asked and how often somebody heard."""

    def __init__(self):
        self.asked, self.heard = [], 0

    def ask(self, items, told):
        self.asked.append(list(items))
        for number, item in enumerate(items):
            told(number, len(item))

    def hear(self):
        self.heard += 1


def test_answers_are_kept_with_their_book_and_asked_in_one_go(tmp_path):
    model, paths = Counting(), [tmp_path / "new" / "a.jsonl", tmp_path / "new" / "b.jsonl"]
    shelves = [
        (Kept(path, ["m"]), items)
        for path, items in zip(paths, (["x", "yy", "x"], ["x", "zzz"]), strict=True)
    ]
    assert ask_together(shelves, str, model.ask, model.hear) == [[1, 2, 1], [1, 3]]
    assert model.asked == [["x", "yy", "x", "zzz"]]
    assert model.heard == 5
    assert [[json.loads(line)[1] for line in path.read_bytes().splitlines() if line] for path in paths] == [
        [1, 2],
        [1, 3],
    ]
    again = [(Kept(paths[0], ["m"]), ["yy", "x"])]
    assert ask_together(again, str, model.ask, model.hear) == [[2, 1]]
    assert model.heard == 7
    assert len(model.asked) == 1
    other = Kept(paths[0], ["n"])
    assert other.key("x") not in other.known
    assert {len(json.loads(line)[0]) for line in paths[0].read_bytes().splitlines() if line} == {32}


def test_without_a_file_answers_are_known_while_the_shelf_lives(tmp_path):
    model, kept = Counting(), Kept(None, ["m"])
    assert ask_together([(kept, ["x", "x"])], str, model.ask, model.hear) == [[1, 1]]
    assert ask_together([(kept, ["x"])], str, model.ask, model.hear) == [[1]]
    assert model.asked == [["x"]]
    assert Kept(tmp_path / "none.jsonl", ["m"]).known == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([["Tom"]], "Tom"),
        # At least half as frequent as the most frequent: 2 of 4 counts, 1 of 4 does not.
        ([["Tom"]] * 4 + [["Tom", "Sawyer"]] * 2, "Tom Sawyer"),
        ([["Tom"]] * 4 + [["Tom", "Sawyer"]], "Tom"),
        ([["Tom"]] * 3 + [["Tom", "Sawyer"]], "Tom"),
        # Of equally many words the longer in letters.
        ([["Tom"], ["Thomas"]], "Thomas"),
        ([["Tom"], ["Mr.", "T"], ["Thomas"]], "Mr. T"),
    ],
)
def test_a_cluster_is_called_by_the_longest_of_its_frequent_names(names, found):
    assert lessons.cluster_name(names) == found


@pytest.mark.parametrize(
    ("documents", "drawn"), [(2, 0), (3, 1), (5, 1), (6, 2), (29, 9), (30, 10), (100, 10)]
)
def test_dev_and_test_have_a_third_each_and_ten_at_most(documents, drawn):
    names = [f"{i:03}" for i in range(documents)]
    parts = lessons.parts_of(reversed(names))
    assert {part: len(found) for part, found in parts.items()} == {
        "train": documents - 2 * drawn,
        "dev": drawn,
        "test": drawn,
    }
    assert sorted(itertools.chain(*parts.values())) == names
    assert all(found == sorted(found) for found in parts.values())


def test_the_drawn_documents_of_litbank_stay_the_same():
    parts = lessons.parts_of([f"{i:03}" for i in range(100)])
    assert parts["dev"][:3] == ["005", "006", "008"]
    assert parts["test"][:3] == ["000", "010", "022"]


def litbank(clusters, kinds, words="Anna Brown met Tom . She saw him in York .", key="doc"):
    spans = [[Mention(*span) for span in cluster] for cluster in clusters]
    types = [
        (*span, kind)
        for cluster, of in zip(clusters, kinds, strict=True)
        for span, kind in zip(cluster, of, strict=True)
    ]
    return Record(key, "", [words.split()], spans, extra={"mention_types": types})


def test_the_cast_of_a_document_are_its_people_with_names():
    record = litbank(
        [[(0, 1), (5, 5)], [(3, 3)], [(9, 9)], [(7, 7)], [(0, 0), (9, 9)], [(6, 6)]],
        [
            ["PROP_PER", "PRON_PER"],
            ["PROP_PER"],
            ["PROP_GPE"],
            ["PRON_PER"],
            ["PROP_PER", "PROP_GPE"],
            ["NOM_PER"],
        ],
    )
    assert [(c.name, c.mentions) for c in lessons.with_cast(record).characters] == [
        ("Anna Brown", (Mention(0, 1),)),
        ("Tom", (Mention(3, 3),)),
    ]


def test_people_of_one_name_get_numbers():
    record = litbank([[(0, 0)], [(1, 1)], [(3, 3)]], [["PROP_PER"]] * 3, words="Tom TOM met Tom .")
    assert [c.name for c in lessons.with_cast(record).characters] == ["Tom", "TOM (2)", "Tom (3)"]


def test_lessons_are_the_windows_with_the_whole_cast_and_the_links_inside():
    book = Book.make(
        "doc",
        [["Tom", "ran", "."], ["Then", "Tom", "fell", "."], ["Oh", "!"]],
        characters=[("Tom", [Mention(0, 0), Mention(4, 4), Mention(2, 3)]), ("Oh", [Mention(7, 8)])],
    )
    found = list(lessons.lessons_of(book, 4))
    assert [(one.document, one.number, list(one.words), one.links) for one in found] == [
        ("doc", 0, ["Tom", "ran", "."], [(0, 0, 0)]),
        ("doc", 1, ["Then", "Tom", "fell", "."], [(1, 1, 0)]),
        ("doc", 2, ["Oh", "!"], [(0, 1, 1)]),
    ]
    assert {tuple(one.names) for one in found} == {("Tom", "Oh")}
    (whole,) = lessons.lessons_of(book)
    assert lessons.as_sample(whole._replace(words=("Tom", "ran"), links=((0, 0, 0), (0, 1, 1)))) == {
        "doc_id": "doc",
        "window_id": 0,
        "text": "Tom ran",
        "tokens": ["Tom", "ran"],
        "token2char_start": {"0": 0, "1": 4},
        "token2char_end": {"0": 3, "1": 7},
        "char2token_start": {"0": 0, "4": 1},
        "char2token_end": {"3": 0, "7": 1},
        "span_candidates": ["Tom", "Oh"],
        "window_labels": [[0, 3, "Tom"], [0, 7, "Oh"]],
    }


def test_lessons_have_as_many_words_as_the_paper_s_windows():
    book = Book.make("doc", [["w"] * 200, ["w"] * 200, ["w"]])
    assert [len(one.words) for one in lessons.lessons_of(book)] == [400, 1]


@given(st.integers(0, 3000), st.floats(0, 1e6))
def test_rows_fit_into_four_fifths_of_the_room(length, room):
    cost = Cost(7, (0.0, 2.0, 10.0), (1.0, 0.0, 3.0))
    rows = cost.rows(length, room)
    assert cost.row_bytes(length) == 2 * length + 10
    assert cost.row_operations(length) == length**2 + 3
    assert rows * cost.row_bytes(length) <= 0.8 * room
    assert rows == MOST_ROWS == 256 or (rows + 1) * cost.row_bytes(length) > 0.8 * room * (1 - 1e-12)
    assert cost.rows(length, -5.0) == 0


@pytest.mark.parametrize(
    ("step", "settings", "found"),
    [
        ("link", {}, (1000, 1 / 400)),
        ("link", {"window_words": 100}, (270, 1 / 100)),
        ("link", {"window_words": 400, "max_subwords": 500}, (500, 1 / 400)),
        ("filter", {}, (650, 0.0313)),
        ("filter", {"context_words": 100}, (245, 0.0313)),
        ("windows", {}, (2025, 1 / 1500)),
        ("windows", {"words": 100}, (135, 1 / 100)),
        ("groups", {}, (4000, 1.35 / 4000)),
        ("groups", {"mention_window": 100}, (100, 1.35 / 100)),
    ],
)
def test_what_a_step_needs_follows_from_its_settings(step, settings, found):
    assert need_of(step, settings) == found


def test_the_tensors_of_the_heads_have_the_published_names_and_shapes():
    assert two_layers_shapes("a", 2, 3, 5) == {
        "a.layer.dense1.weight": (3, 2),
        "a.layer.dense1.bias": (3,),
        "a.layer.layer_norm.weight": (3,),
        "a.layer.layer_norm.bias": (3,),
        "a.layer.dense.weight": (5, 3),
        "a.layer.dense.bias": (5,),
    }
    plain = {"a.1.weight": (3, 2), "a.1.bias": (3,), "a.4.weight": (5, 3), "a.4.bias": (5,)}
    assert projection_shapes("a", 2, 3, 5, norm=False) == plain
    assert projection_shapes("a", 2, 3, 5, norm=True) == plain | {"a.5.weight": (5,), "a.5.bias": (5,)}
    shapes = maverick_shapes(4)
    assert shapes["antecedent_e2s_all_weights"] == (7, 4, 4)
    assert shapes["antecedent_s2s_all_biases"] == (7, 4)
    assert shapes["coref_end_all_mlps.layer.dense1.weight"] == (8, 4)
    assert shapes["coref_end_all_mlps.layer.dense.weight"] == (28, 8)
    assert shapes["start_end_classifier.layer.dense1.weight"] == (4, 8)
    assert shapes["start_token_classifier.layer.dense.weight"] == (1, 4)
    assert len(shapes) == 6 * 6 + 8


@pytest.mark.parametrize(("binary", "outputs"), [(False, 1), (True, 2)])
def test_the_tensors_of_a_reader(binary, outputs):
    settings = ReaderSettings.of({"linears_hidden_size": 3, "binary_end_logits": binary})
    shapes = reader_shapes(4, settings)
    assert shapes["ned_start_classifier.4.weight"] == (2, 3)
    assert shapes["ned_end_classifier.dense_0.weight"] == (4, 8)
    assert shapes["ned_end_classifier.LayerNorm.weight"] == (4,)
    assert shapes["ned_end_classifier.dense_1.weight"] == (outputs, 4)
    assert shapes["ed_end_projector.4.weight"] == (3, 3)
    assert len(shapes) == 4 + 6 + 2 * 6


def test_a_configuration_of_a_reader_is_read_with_the_published_defaults():
    assert ReaderSettings.of({}) == ReaderSettings("microsoft/deberta-v3-base", 101, None, "gelu", 512, False)
    said = {
        "transformer_model": "x",
        "additional_special_symbols": 4,
        "num_layers": 2,
        "activation": "relu",
        "linears_hidden_size": 8,
        "binary_end_logits": True,
        "use_last_k_layers": 1,
    }
    assert ReaderSettings.of(said) == ReaderSettings("x", 4, 2, "relu", 8, True)
    assert ReaderSettings.of(said, "mine").encoder == "mine"
    with pytest.raises(UsageError, match="several layers"):
        ReaderSettings.of({"use_last_k_layers": 2})


class Letters:
    """A tokenizer that cuts words into letters, and knows no line end."""

    unk_token_id = 0

    def __call__(self, words, add_special_tokens=True):
        assert not add_special_tokens
        return {"input_ids": [[ord(c) for c in word.strip()] for word in words]}

    def convert_tokens_to_ids(self, token):
        return {"[X]": 7, "[UNK]": 0}.get(token)


def test_words_are_cut_each_by_itself():
    found = split_words(Letters(), ["ab", "\n", "c"])
    assert (found.ids, found.word_of) == ((97, 98, 99), (0, 0, 2))
    assert found.first_and_last() == {0: (0, 1), 2: (2, 2)}
    assert split_words(Letters(), []) == Subwords((), ())
    assert special_id(Letters(), "[X]") == 7
    for token in ("[Y]", "[UNK]"):
        with pytest.raises(SourceError, match=r"the tokenizer has no token"):
            special_id(Letters(), token)


def test_a_model_that_is_not_here_is_named_with_its_size_and_how_to_get_it():
    assert missing_weights("a/b", "r1").hint.startswith("with a network: hf download a/b --revision r1; else")
    assert missing_weights("a/b").hint.startswith("with a network: hf download a/b; else")
    assert missing_weights("a/b", cause="x" * 300 + "\ny").found == "x" * 200
    assert missing_weights("a/b", cause="  ").found is None
    assert missing_weights("a/b").expected == "its files in the hub's cache (HF_HOME, HF_HUB_CACHE)"
    assert missing_weights("Qwen/Qwen2-7B-Instruct").expected.endswith(", about 15.2 GB")
    assert without_prefix({"a.b": 1, "a.a.c": 2, "b.a.": 3}, "a.") == {"b": 1, "a.c": 2}


def test_how_much_there_is_to_judge_is_guessed_before_the_links_are_known():
    step, cast = FilterStep({"model": "judge"}, lambda: None), make_cast(["Ann"])
    told = [step.units(Job(Book.make("b", [["Ann"] * tokens]), cast)) for tokens in (1, 69, 70, 35_000)]
    assert told == [1, 1, 2, 1000]


SMALL = ["config.json", "spm.model", "vocab.txt"]


@pytest.mark.parametrize(
    ("weights", "has", "fetched"),
    [
        (True, ["model.safetensors", "pytorch_model.bin", "flax_model.msgpack"], ["model.safetensors"]),
        (True, ["pytorch_model.bin", "flax_model.msgpack"], ["pytorch_model.bin"]),
        (True, ["last.ckpt"], ["last.ckpt"]),
        (False, ["model.safetensors", "pytorch_model.bin"], []),
    ],
)
def test_of_a_model_on_the_hub_what_is_read_is_fetched_once(monkeypatch, tmp_path, weights, has, fetched):
    """Configuration and tokenizer, and the weights in one form: a repository often holds them in three."""
    from huggingface_hub import constants

    hub = HubServer()
    files = {name: name.encode() for name in [*SMALL, *has]}
    hub.repositories["tiny/model"] = model = Repository()
    commit = model.commit(files, "the model")
    model.commit({}, "taken back")
    for name, value in {
        "ENDPOINT": hub.url, "HF_HUB_OFFLINE": False, "HF_HUB_CACHE": str(tmp_path),
        "HF_HUB_DISABLE_XET": True,
        "HUGGINGFACE_CO_URL_TEMPLATE": hub.url + "/{repo_id}/resolve/{revision}/{filename}",
    }.items():  # fmt: skip
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = find_folder("tiny/model", commit, weights=weights)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*SMALL, *fetched])
    hub.requests.clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert find_folder("tiny/model", commit, weights=weights) == folder
    assert hub.requests == []
    hub.close()
