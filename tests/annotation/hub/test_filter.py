"""The filter's question and the judge's answer: the paper's words, and sharing that changes nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation.hub import device
from bookcoref_data.annotation.hub import judge as judge_module
from bookcoref_data.annotation.hub.judge import Judge, common_prefix
from bookcoref_data.annotation.hub.questions import check_template, excerpt, question
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books import Mention
from bookcoref_data.errors import SourceError, UsageError

torch = pytest.importorskip("torch", reason="the extra gpu is not installed")
transformers = pytest.importorskip("transformers", reason="the extra gpu is not installed")

TOKENS = [f"w{i}" for i in range(20)]


def test_the_question_is_that_of_the_paper():
    template = default_plan("hub").of("filter")["question"]
    assert question(template, ["Then", "Liz", "\n", "Bennet", "left"], Mention(1, 3), "Elizabeth", 400) == (
        "I will give you an excerpt from a book with a highlighted mention of a character with []. You will "
        "need to answer if the assigned character is correct (Yes), or not (No).\n"
        "Book excerpt: Then [Liz Bennet] left\n"
        "Does the mention [Liz Bennet] correspond to the character Elizabeth? (Yes/No)"
    )


def test_the_mention_stands_in_the_middle_and_the_excerpt_shifts_at_the_ends():
    assert excerpt(TOKENS, Mention(10, 10), 5) == "w8 w9 [w10] w11 w12"
    assert excerpt(TOKENS, Mention(0, 0), 5) == "[w0] w1 w2 w3 w4"
    assert excerpt(TOKENS, Mention(19, 19), 5) == "w15 w16 w17 w18 [w19]"
    assert excerpt(TOKENS, Mention(3, 8), 2) == "[w3 w4 w5 w6 w7 w8]"


@given(st.integers(1, 30), st.integers(0, 29), st.integers(0, 5), st.integers(1, 40))
def test_an_excerpt_has_all_the_words_there_is_room_for(size, start, more, words):
    start = min(start, size - 1)
    mention = Mention(start, min(start + more, size - 1))
    tokens = [f"w{i}" for i in range(size)]
    shown = excerpt(tokens, mention, words).replace("[", "").replace("]", "").split()
    assert len(shown) == min(size, max(words, mention.end - mention.start + 1))
    assert shown == tokens[tokens.index(shown[0]) :][: len(shown)]
    assert set(tokens[mention.start : mention.end + 1]) <= set(shown)


@pytest.mark.parametrize("template", ["$book $mention", "$book $mention $character $price", "$ $book"])
def test_templates_that_cannot_be_filled_are_refused(template):
    with pytest.raises(UsageError, match="question"):
        check_template(template)


QUESTIONS = [
    "book excerpt : the old [ fox ] met the hare . Does the mention [ fox ] correspond Anna ?",
    "book excerpt : the old fox met [ Anna ] at the mill . Does the mention [ Anna ] correspond Brown ?",
    "book excerpt : the young",
]


@pytest.fixture
def judge(offline_hub) -> Judge:
    return Judge.load("tiny/judge", device=torch.device("cpu"), dtype="float32")


def test_answers_are_the_next_token_of_the_whole_prompt(judge):
    """Each question by itself, through the whole language model: softmax over Yes and No."""
    expected = []
    for text in QUESTIONS:
        ids = torch.tensor([judge.tokens(text)])
        logits = judge._model(input_ids=ids).logits[0, -1, judge._answers]
        expected.append(logits.softmax(-1)[0].item())
    assert judge.ask(QUESTIONS) == pytest.approx(expected, abs=1e-5)
    assert max(expected) - min(expected) > 0.01


@pytest.mark.filterwarnings("error::FutureWarning")
def test_sharing_and_batching_change_no_answer(judge):
    """No argument has a name that transformers is about to drop, either."""
    alone = [judge.ask([text])[0] for text in QUESTIONS]
    plain = Judge(judge._model, judge._tokenizer, share_prefix=False)
    assert plain.ask(QUESTIONS) == pytest.approx(alone, abs=1e-5)
    assert judge.ask(QUESTIONS[::-1]) == pytest.approx(alone[::-1], abs=1e-5)
    assert judge.ask([QUESTIONS[0]] * 3) == pytest.approx([alone[0]] * 3, abs=1e-5)
    assert judge.ask([]) == []


def test_the_shared_part_is_run_once(judge, monkeypatch):
    runs = []
    forward = judge._model.model.forward
    monkeypatch.setattr(
        judge._model.model,
        "forward",
        lambda **given: runs.append(given["input_ids"].shape) or forward(**given),
    )
    first = judge.ask(QUESTIONS)
    again = judge.ask(QUESTIONS)
    shared = common_prefix([judge.tokens(q) for q in QUESTIONS])
    longest = max(len(judge.tokens(q)) for q in QUESTIONS)
    assert runs == [(1, shared), (3, longest - shared), (3, longest - shared)]
    assert again == pytest.approx(first, abs=1e-6)
    assert shared > 5


def test_answers_must_be_one_token_each(judge):
    with pytest.raises(UsageError, match="cuts 'Yes'"):
        Judge(judge._model, lambda text, **_: {"input_ids": list(range(len(text)))})


def test_the_attention_is_what_is_installed_and_falls_back(offline_hub, monkeypatch):
    """flash-attn on a GPU in half precision; a network that cannot have it runs with torch's own."""
    assert device.attention_of("cpu", "bfloat16") == "sdpa"
    assert device.attention_of("cuda:0", "bfloat16") == "sdpa"
    expected = Judge.load("tiny/judge", device=torch.device("cpu"), dtype="float32")
    monkeypatch.setattr(device, "find_spec", lambda name: object())
    assert device.attention_of(torch.device("cuda:1"), "bfloat16") == device.FLASH
    assert device.attention_of("cuda:1", "float32") == "sdpa"
    asked = []
    load = transformers.AutoModelForCausalLM.from_pretrained

    def refusing(folder, **options):
        asked.append(options["attn_implementation"])
        if asked[-1] == device.FLASH:
            raise ImportError("FlashAttention2 has been toggled on, but it cannot be used")
        return load(folder, **options)

    monkeypatch.setattr(judge_module, "attention_of", lambda *_: device.FLASH)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", refusing)
    judge = Judge.load("tiny/judge", device=torch.device("cpu"), dtype="float32")
    assert asked == [device.FLASH, "sdpa"]
    assert judge.ask(["Yes?", "No?"]) == expected.ask(["Yes?", "No?"])


def test_a_model_without_chat_template_or_safetensors_is_refused(offline_hub, tmp_path):
    for path in offline_hub.judge.iterdir():
        if path.suffix == ".json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    template = next(iter(offline_hub.judge.glob("chat_template*")), None)
    if template:
        (tmp_path / template.name).write_bytes(template.read_bytes())
    with pytest.raises(SourceError, match="could not be fetched"):
        Judge.load(str(tmp_path), device=torch.device("cpu"))
    if template:
        (tmp_path / template.name).unlink()
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(UsageError, match="no chat template"):
        Judge.load(str(tmp_path), device=torch.device("cpu"))


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=5))
def test_a_common_prefix_leaves_a_token_to_everyone(rows):
    size = common_prefix(rows)
    assert all(row[:size] == rows[0][:size] and len(row) > size for row in rows)
    longer = {tuple(row[: size + 1]) for row in rows}
    assert len(longer) > 1 or min(map(len, rows)) == size + 1
