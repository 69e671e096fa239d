"""The inline markup: spans out, text whole, faults named with their line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import FormatError
from tests.sample_story.markup import parse_markup

KNOWN = {"meg": "Margaret", "ned": "Edmund"}
WORDS = st.text("abc .,\n’“é", min_size=1, max_size=6)
TREES = st.recursive(
    WORDS.map(lambda words: [words]),
    lambda inner: st.lists(st.one_of(WORDS, st.tuples(st.sampled_from(sorted(KNOWN)), inner)), min_size=1),
    max_leaves=12,
)


def write(tree) -> tuple[str, str, list[tuple[str, str]]]:
    """(marked, plain, [(id, words)]) of a tree of words and (id, subtree)."""
    marked, plain, spans = "", "", []
    for node in tree:
        if isinstance(node, str):
            marked, plain = marked + node, plain + node
        else:
            inner_marked, inner_plain, inner_spans = write(node[1])
            # A word of its own keeps the outer span from covering just what an inner one covers.
            marked += f"{{{node[0]}|the {inner_marked}}}"
            plain += f"the {inner_plain}"
            spans += [(node[0], f"the {inner_plain}"), *inner_spans]
    return marked, plain, spans


def test_nested_spans_come_outermost_first():
    marked = parse_markup("{meg|Meg} saw\n{ned|{meg|her} brother}.", KNOWN)
    assert marked.text == "Meg saw\nher brother."
    assert [tuple(s) for s in marked.spans] == [(0, 3, "meg", 1), (8, 19, "ned", 2), (8, 11, "meg", 2)]
    assert [marked.text_of(s) for s in marked.spans] == ["Meg", "her brother", "her"]


@given(TREES)
def test_text_and_spans_survive(tree):
    marked, plain, spans = write(tree)
    parsed = parse_markup(marked, KNOWN)
    assert parsed.text == plain
    assert sorted((s.character, parsed.text_of(s)) for s in parsed.spans) == sorted(spans)


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        ("one\n{meg|Meg\ntwo", r"s\.txt:2: the span of 'meg' is never closed"),
        ("one\n\nMeg} two", r"s\.txt:3: '}' closes a span that was never opened"),
        ("one\n{mge|Meg}", r"s\.txt:2: unknown character id 'mge'(.|\n)*did you mean 'meg'"),
        ("{meg|Meg}\n{ned}", r"s\.txt:2: stray '{'"),
        ("a | b", r"s\.txt:1: stray '\|'"),
        ("{meg|}", r"s\.txt:1: the span of 'meg' is empty"),
        ("x\n{meg|{ned|she}}", r"s\.txt:2: one span is marked twice, for 'ned' and 'meg'|'meg' and 'ned'"),
    ],
)
def test_faults_are_named_with_their_line(marked, message):
    with pytest.raises(FormatError, match=message):
        parse_markup(marked, KNOWN, source="s.txt")
