"""Types of mentions by rule, held against the labels of LitBank."""

from __future__ import annotations

import pytest

from bookcoref_data.scoring.mention_types import TypeRules, head_of

STORY = (
    "The old pig slept . Napoleon watched him . Mr. Jones , of the Manor Farm , woke . Then Napoleon left . "
    "Mother was kind ; my mother sang . “ Comrade Snowball is dead , ” he said of Mr. Bingley 's sister . "
    "The father of Elizabeth \n Bennet spoke to a young man named Bingley . Sir was gone"
)
TEXT = STORY.split(" ")


def span_of(phrase):
    words = phrase.split(" ")
    start = next(i for i in range(len(TEXT)) if TEXT[i : i + len(words)] == words)
    return start, start + len(words) - 1


@pytest.fixture
def rules():
    ends = [i + 1 for i, token in enumerate(TEXT) if token == "."] + [len(TEXT)]
    return TypeRules(TEXT, ends)


@pytest.mark.parametrize(("phrase", "expected"), [
    ("him", "pronoun"),
    ("he", "pronoun"),
    ("my", "pronoun"),
    ("The old pig", "nominal"),
    ("Napoleon", "name"),
    ("Mr. Jones", "name"),
    ("Mr. Jones , of the Manor Farm", "name"),
    ("Mother", "nominal"),
    ("my mother", "nominal"),
    ("Comrade Snowball", "name"),
    ("Mr. Bingley 's sister", "nominal"),
    ("Mr. Bingley 's", "name"),
    ("The father of Elizabeth \n Bennet", "nominal"),
    ("Elizabeth \n Bennet", "name"),
    ("a young man named Bingley", "nominal"),
    ("Sir", "nominal"),
])  # fmt: skip
def test_types(rules, phrase, expected):
    assert rules.type_of(*span_of(phrase)) == expected


def test_a_characters_name_is_a_name_even_where_the_word_is_common():
    text = ["Clover", "ate", "clover", "and", "clover", "."]
    assert TypeRules(text, [6]).type_of(0, 0) == "nominal"
    assert TypeRules(text, [6], ["Mrs. Clover"]).type_of(0, 0) == "name"


@pytest.mark.parametrize("quote", ["“", "``", '"'])
def test_the_word_behind_a_quotation_mark_may_have_a_capital_for_its_place_alone(quote):
    assert not TypeRules(["so", "go", quote, "Go"]).is_name("Go")
    assert not TypeRules(["so", "go", quote, "Go", "on"]).is_name("Go")
    assert TypeRules(["so", "go", "Go", quote]).is_name("Go")
    assert TypeRules(["so", "go", "Go", quote, "On"]).is_name("Go")


def test_mentions_outside_the_text_have_no_head(rules):
    assert head_of(TEXT, 10_000, 10_001) is None
    assert rules.type_of(10_000, 10_001) == "nominal"
    assert rules.type_of(-3, -1) == "nominal"


def litbank_document(path):
    """Tokens, sentence ends and (type, start, end) of people in one brat file (blanks part tokens)."""
    kinds = {"PROP": "name", "NOM": "nominal", "PRON": "pronoun"}
    tokens, ends, first, last, position = [], [], {}, {}, 0
    for line in path.with_suffix(".txt").open(encoding="utf-8", newline=""):
        for word in line.rstrip("\n").split(" "):
            if word:
                first[position], last[position + len(word)] = len(tokens), len(tokens)
                tokens.append(word)
            position += len(word) + 1
        if tokens and ends[-1:] != [len(tokens)]:
            ends.append(len(tokens))
    mentions = []
    for line in path.open(encoding="utf-8"):
        label, start, end = line.split("\t")[1].split(" ") if line.startswith("T") else ("", "0", "0")
        if label.endswith("_PER") and int(start) in first and int(end) in last:
            mentions.append((kinds[label.split("_")[0]], first[int(start)], last[int(end)]))
    return tokens, ends, mentions


def test_agreement_with_litbank(shared_data):
    """24,000 mentions of people in 100 books: 98.2% as labelled when the rules were written."""
    right = total = 0
    for path in sorted((shared_data / "litbank" / "coref" / "brat").glob("*.ann")):
        tokens, ends, mentions = litbank_document(path)
        rules = TypeRules(tokens, ends)
        right += sum(rules.type_of(start, end) == kind for kind, start, end in mentions)
        total += len(mentions)
    assert total > 24_000
    assert right / total > 0.98
