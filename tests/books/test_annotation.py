"""Annotations: names of characters and clusters, and the way back to a book."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Mention, Record
from bookcoref_data.books.annotation import Annotation, Marked, annotation_of, distinct, typical_mention

SENTENCES = [["Mary", "Ann", "saw", "him", "."], ["He", "saw", "Mary", "and", "the", "old", "cat", "."]]


def record(clusters, characters=(), **extra):
    return Record(
        "b",
        sentences=SENTENCES,
        clusters=clusters,
        characters=list(characters),
        gutenberg_key="1",
        extra=extra,
    )


HIM, CAT, MARY = [Mention(3, 3), Mention(5, 5)], [Mention(9, 11)], [Mention(0, 1), Mention(7, 7)]


def test_characters_keep_their_names_and_other_clusters_are_named_by_a_mention():
    made = annotation_of(record([HIM, CAT, MARY], [("Mary Ann", MARY)], note="kept"))
    assert made.names == ("Mary Ann", "him", "the old cat")
    assert made.guessed == {1, 2}
    assert made.index == {"Mary Ann": 0, "him": 1, "the old cat": 2}
    assert [(m.start, m.end, m.character) for m in made.mentions] == [
        (0, 1, 0), (3, 3, 1), (5, 5, 1), (7, 7, 0), (9, 11, 2),
    ]  # fmt: skip
    assert made.by_character[1] == [Marked(3, 3, 1), Marked(5, 5, 1)]
    assert made.extra == {"note": "kept"}


def test_the_way_back_gives_guessed_names_to_no_character():
    given = record([MARY, HIM, CAT], [("Mary Ann", MARY)], note="kept")
    back = annotation_of(given).to_book()
    assert [[tuple(m) for m in c] for c in back.clusters] == [
        [tuple(m) for m in cluster] for cluster in (MARY, HIM, CAT)
    ]
    assert [c.name for c in back.characters] == ["Mary Ann"]
    assert annotation_of(given).to_record().extra == {"note": "kept"}


def test_a_character_without_mentions_is_no_cluster():
    made = annotation_of(record([MARY], [("Mary Ann", MARY)]))
    more = Annotation(made.book, ("Nobody", "Mary Ann"), tuple(Marked(a, b, 1) for a, b in MARY))
    assert [c.name for c in more.to_book().characters] == ["Mary Ann"]
    assert len(more.to_book().clusters) == 1


def test_the_same_name_again_gets_a_number():
    assert distinct(["Mary", "Tom", "Mary", "Mary (2)", "Mary"]) == (
        "Mary", "Tom", "Mary (2)", "Mary (2) (2)", "Mary (3)",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mentions", "name"),
    [
        ([(3, 3), (3, 3), (0, 1)], "Mary Ann"),  # a name before a pronoun, however often this comes
        ([(5, 5), (9, 11)], "the old cat"),  # "He" has a capital but is no name
        ([(0, 1), (7, 7), (7, 7)], "Mary"),  # the most frequent
        ([(0, 1), (7, 7)], "Mary Ann"),  # the longer one
    ],
)
def test_a_cluster_is_named_by_its_typical_mention(mentions, name):
    assert typical_mention(record([]).to_book(), [Mention(*m) for m in mentions]) == name


def test_a_cluster_of_line_ends_has_no_typical_mention():
    one = Record("b", sentences=[["Mary", "\n"]], clusters=[[Mention(1, 1)]], gutenberg_key="1")
    assert annotation_of(one).names == ("nameless",)


def test_a_name_made_of_a_mention_is_cut_after_80_characters():
    long = Record("b", sentences=[["a" * 50, "b" * 50]], clusters=[[Mention(0, 1)]], gutenberg_key="1")
    assert annotation_of(long).names == (("a" * 50 + " " + "b" * 50)[:80],)
