"""The official delta: what deepdiff would make of it, without deepdiff."""

import json
from difflib import SequenceMatcher
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import EditionError, FormatError
from bookcoref_data.stitch.official import delta_from_bytes, delta_to_bytes, read_deltas, sentence_ends
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import tokenize_official

TOKENS = st.lists(st.sampled_from(["a", "b", "the", "\n", "“", "ﬁ", "x\u200b"]), max_size=40)


def opcodes(base, target):
    return [
        {"tag": tag, "t1_from_index": a, "t1_to_index": b, "t2_from_index": c, "t2_to_index": d,
         "old_values": None, "new_values": None if tag == "equal" else target[c:d]}
        for tag, a, b, c, d in SequenceMatcher(None, base, target, autojunk=False).get_opcodes()
    ]  # fmt: skip


def delta_file(books, **others):
    return json.dumps({**others, "_iterable_opcodes": {f"root['{k}']": v for k, v in books.items()}})


def read(text, size=17):
    return list(read_deltas([text[i : i + size] for i in range(0, len(text), size)], "delta.json"))


@given(TOKENS, TOKENS, st.integers(1, 200))
def test_applying_gives_the_target(base, target, size):
    text = delta_file({"7": opcodes(base, target)}, values_changed={"root['7'][0]": {"new_value": "]}"}})
    (delta,) = read(text, size)
    assert delta.apply(base) == target
    assert (delta.base_count, delta.released_count) == (len(base), len(target))
    again, lengths = delta_from_bytes(delta_to_bytes(delta, [3, 1]))
    assert again.apply(base) == target
    assert lengths == [3, 1]


def test_another_edition_is_refused_with_both_counts():
    (delta,) = read(delta_file({"7": opcodes(list("abc"), list("abd"))}))
    with pytest.raises(EditionError) as error:
        delta.apply(list("abcd"))
    assert "3 base tokens" in str(error.value)
    assert "4 base tokens" in str(error.value)


GOOD = {"tag": "equal", "t1_from_index": 0, "t1_to_index": 2, "t2_from_index": 0, "t2_to_index": 2}


@pytest.mark.parametrize(
    "bad",
    [
        [{**GOOD, "tag": "exec"}],
        [{**GOOD, "t1_to_index": "2"}],
        [{**GOOD, "t1_from_index": 1}],
        [{**GOOD, "t2_to_index": 3}],
        [GOOD, {**GOOD, "t1_from_index": 1, "t1_to_index": 3, "t2_from_index": 2, "t2_to_index": 4}],
        [{**GOOD, "tag": "insert", "t1_to_index": 0, "t2_to_index": 1, "new_values": [3]}],
        [{**GOOD, "tag": "insert", "t1_to_index": 0, "t2_to_index": 1, "new_values": [""]}],
        [{"tag": "equal"}],
        ["equal"],
    ],
)
def test_opcodes_that_contradict_each_other_are_refused(bad):
    with pytest.raises(FormatError, match="opcode of book 7 cannot be followed"):
        read(delta_file({"7": bad}))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "no deepdiff delta"),
        ("{}", "holds no opcodes"),
        ('{"_iterable_opcodes": {"root[\'../etc\']": []}}', "unexpected or repeated book key"),
        (delta_file({"7": []}).replace("}}", ", \"root['7']\": []}}"), "unexpected or repeated"),
        (delta_file({"7": [GOOD]})[:-20], "broken JSON"),
    ],
)
def test_files_that_are_not_a_delta_are_refused(text, told):
    with pytest.raises(FormatError, match=told):
        read(text)


def test_sentence_lengths_must_fit():
    assert sentence_ends(3, [1, 2], "7") == (1, 3)
    for lengths in ([1, 1], [4], [3, 0], [4, -1]):
        with pytest.raises(EditionError, match="sentence lengths and tokens do not fit"):
            sentence_ends(3, lengths, "7")


@pytest.mark.long
def test_the_real_delta_gives_the_released_tokens(shared_data):
    released = {}
    predictions = (shared_data / "systems/finetuned/maverick_xl.jsonl").read_text(encoding="utf-8")
    for line in predictions.splitlines():
        row = json.loads(line)
        released[row["doc_key"].rpartition("_")[2]] = row["sentences"]
    lengths = json.loads((shared_data / "release/sentence_lengths.json").read_text())
    text = (shared_data / "release/gutenberg_delta.json").read_text(encoding="utf-8")
    deltas = read(text, 1 << 16)
    assert [d.gutenberg_id for d in deltas] == ["2500", "1342"]
    for delta in deltas:
        book = delta.gutenberg_id
        raw = decode((shared_data / f"gutenberg/cache/epub/{book}/pg{book}.txt").read_bytes()).text
        base = [t for s in tokenize_official(raw) for t in s]
        tokens = delta.apply(base)
        ends = sentence_ends(len(tokens), lengths[book], book)
        assert [tokens[a:b] for a, b in pairwise((0, *ends))] == released[book]
