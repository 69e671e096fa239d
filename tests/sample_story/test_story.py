"""The gold of the sample keeps the annotation guidelines of BookCoref (Appendix D), where code can say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bookcoref_data.errors import FormatError
from bookcoref_data.sample_story.story import cast
from tests.sample_story.making import book_of, marked_story, sample_book, typeset
from tests.sample_story.markup import parse_markup

HONORIFICS = {"Mr.", "Mrs.", "Miss", "Dr.", "Captain", "Master"}
PERSONAL = set(
    re.findall(
        r"\w+",
        "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself "
        "we us our ours ourselves they them their theirs themselves",
    )
)
REVIEWED = Path(__file__).with_name("unannotated_pronouns.txt")


@pytest.fixture(scope="module")
def book():
    return sample_book()


def test_size_and_cast(book):
    assert 4_000 <= len(book.tokens) <= 6_000
    assert [c.name for c in book.characters] == list(cast().values())
    assert [c.mentions for c in book.characters] == list(book.clusters)


def test_every_mention_says_what_the_markup_says(book):
    marked = marked_story()
    expected = {name: [] for name in cast().values()}
    for span in marked.spans:
        expected[cast()[span.character]].append(_squeezed(marked.text_of(span)))
    for character in book.characters:
        got = [_squeezed("".join(book.tokens[m.start : m.end + 1])) for m in character.mentions]
        assert got == expected[character.name]


def _squeezed(text: str) -> str:
    return re.sub(r"[\s_]", "", text).replace("’", "'")


def test_no_singletons_and_no_span_of_two_characters(book):
    spans = [mention for cluster in book.clusters for mention in cluster]
    assert len(spans) == len(set(spans))
    assert min(map(len, book.clusters)) >= 2


def test_spans_nest_and_never_cross(book):
    spans = sorted((m for cluster in book.clusters for m in cluster), key=lambda m: (m.start, -m.end))
    still_open = []
    for span in spans:
        while still_open and still_open[-1].end < span.start:
            still_open.pop()
        assert not still_open or span.end <= still_open[-1].end
        still_open.append(span)


def test_mentions_cross_a_sentence_only_where_punkt_cuts_after_an_honorific(book):
    """The released books hold such mentions too, so the readers of the sample must bear them."""
    ends = set(book.sentence_ends)
    crossing = [
        book.text_of(mention)
        for cluster in book.clusters
        for mention in cluster
        if ends & set(range(mention.start + 1, mention.end + 1))
    ]
    assert crossing == ["a Mrs. Harlow", "Mr. Gadd", "Dr. Pike"]


def test_honorifics_lie_inside_their_span(book):
    """A span neither follows an honorific nor consists of one."""
    for cluster in book.clusters:
        for mention in cluster:
            assert book.tokens[mention.start - 1] not in HONORIFICS
            assert book.text_of(mention) not in HONORIFICS
    starts = {m.start for cluster in book.clusters for m in cluster}
    assert [
        i for i, t in enumerate(book.tokens) if t in HONORIFICS and i not in starts and i - 1 not in starts
    ] == []


def test_every_name_is_annotated(book):
    names = {"Meg", "Peggy", "Ned", "Margaret", "Edmund", "Hannah", "Abel", "Sam", "Bosun", "Thorne", "Gadd",
             "Pike", "Crane", "Whitlow", "Tully", "Harlow", "Ebenezer", "Josiah", "William"}  # fmt: skip
    covered = {i for cluster in book.clusters for m in cluster for i in range(m.start, m.end + 1)}
    assert {i for i, t in enumerate(book.tokens) if t in names} <= covered


def test_pronouns_left_out_are_the_reviewed_ones(book):
    """Every other personal or possessive pronoun is a mention; the list says why these are none."""
    single = {m.start for cluster in book.clusters for m in cluster if m.start == m.end}
    left_out = [
        " ".join([*book.tokens[i - 4 : i], f"[{token}]", *book.tokens[i + 1 : i + 4]]).replace("\n", "/")
        for i, token in enumerate(book.tokens)
        # A pronoun may also head a longer span ("he, who never did anything by the road").
        if token.lower() in PERSONAL and i not in single and not _heads_a_span(book, i)
    ]
    reviewed = [
        line.split("  #")[0].strip()
        for line in REVIEWED.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert left_out == reviewed


def _heads_a_span(book, i: int) -> bool:
    return book.tokens[i + 1] == "," and any(m.start == i for cluster in book.clusters for m in cluster)


def test_pronouns_agree_with_their_character(book):
    gender = {"he": "m", "him": "m", "his": "m", "himself": "m", "she": "f", "her": "f", "herself": "f"}
    women = {"Margaret Harlow", "Mrs. Harlow", "Miss Crane", "Hannah Hobb"}
    for character in book.characters:
        said = {gender.get(book.text_of(m).lower()) for m in character.mentions} - {None}
        assert said <= {"f" if character.name in women else "m"}, character.name


def test_released_text_is_set_in_type():
    text = typeset(marked_story())[0].text
    assert not set(text) & set("\"'_{}|")
    assert text.count("“") >= text.count("”") > 100  # a letter of several paragraphs opens each of them
    assert not re.search(r"“\s|\s”", text)


def test_a_span_inside_a_token_is_refused_with_its_line():
    marked = parse_markup("One.\n\nThe {sam|ferry}man spoke.", {"sam"})
    with pytest.raises(FormatError, match=r"story\.marked\.txt:3: the span 'ferry' of 'sam' does not align"):
        book_of(marked, {"sam": "Sam"})


def test_tokens_are_pinned(book):
    """Whoever changes the story changes this on purpose."""
    assert book.tokens_sha256() == "902832df420c334e3dac8cde615c4b17aee5bbc194d7e21558ca8adecd609e55"
