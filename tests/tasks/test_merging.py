"""Documents in parts: decisions, merging, baselines, the linker, agreement, the annotation round."""

from __future__ import annotations

import csv

import pytest

from bookcoref_data.books import Record
from bookcoref_data.books.book import Mention
from bookcoref_data.errors import DataError, FormatError, UsageError
from bookcoref_data.formats import conll
from bookcoref_data.tasks.merging import (
    ChainRef,
    Session,
    agreement,
    agreement_by_genre,
    choices,
    decide_by_id,
    decide_greedily,
    decide_with_linker,
    decisions_from_whole,
    documents_of,
    merge,
    read_table,
    score_decisions,
    score_merged,
    scores_by_size,
    statistics,
    vote,
    write_table,
)

# The worked example of the specification: each word is one token, each chain its words in order.
PARTS = [
    ("John Mary car he her it", {"A": (0, 3), "B": (1, 4), "C": (2, 5)}),
    ("he Smith car his she it dog it", {"p": (0, 3), "q": (1, 4), "r": (2, 5), "s": (6, 7)}),
    ("Mary she", {"t": (0, 1)}),
]
A, B, C = (ChainRef(0, name) for name in "ABC")
P, Q, R, S = (ChainRef(1, name) for name in "pqrs")
T = ChainRef(2, "t")
ONE = {P: A, Q: B, R: C, S: None, T: B}
TWO = {P: A, Q: None, R: C, S: None, T: B}


def example(key="bc/demo/1"):
    records = []
    for number, (words, chains) in enumerate(PARTS):
        clusters = [[Mention(i, i) for i in at] for at in chains.values()]
        extra = {"document": key, "part": str(number), "cluster_ids": list(chains)}
        records.append(Record(f"{key}_part{number}", "", [words.split()], clusters, extra=extra))
    (document,) = documents_of(records)
    return document


def test_the_worked_example_gives_four_chains():
    document = example()
    assert document.questions == (P, Q, R, S, T)
    merged = merge(document, ONE)
    assert merged.chains == {A: [A, P], B: [B, Q, T], C: [C, R], S: [S]}
    assert sorted(len(c) for c in merged.to_record().clusters) == [2, 4, 4, 6]
    assert merged.to_record().clusters[0] == [(0, 0), (3, 3), (6, 6), (9, 9)]
    assert len(merged.to_record().sentences) == 3


def test_agreement_of_the_worked_example():
    document = example()
    one, two = (choices(document, d) for d in (ONE, TWO))
    found = agreement([(one[r], two[r]) for r in document.questions])
    assert (found.strict, found.jaccard, found.new, found.not_new) == (0.6, 0.7, 0.5, 0.5)
    assert round(found.alpha, 4) == 0.5385
    assert agreement([(one[r], one[r]) for r in document.questions]).to_dict() == {
        "decisions": 5, "strict": 1.0, "jaccard": 1.0, "new": 1.0, "not_new": 1.0, "alpha": 1.0,
    }  # fmt: skip


def test_agreement_is_given_by_genre_and_needs_two():
    documents = [example("bc/demo/1"), example("mz/demo/2")]
    tables = {n: {d.doc_key: t for d in documents} for n, t in (("x", ONE), ("y", TWO), ("z", ONE))}
    found = agreement_by_genre(documents, tables)
    assert set(found) == {"all", "bc", "mz"}
    assert set(found["bc"]) == {("x", "y"), ("x", "z"), ("y", "z")}
    assert (found["all"]["x", "y"].decisions, found["bc"]["x", "z"].strict) == (10, 1.0)
    with pytest.raises(UsageError, match="two annotators"):
        agreement_by_genre(documents, {"x": tables["x"]})


def test_the_majority_decides_and_the_first_annotator_breaks_ties():
    document = example()
    assert vote(document, [TWO, ONE, ONE])[Q] == B
    three = {**ONE, Q: C}
    assert vote(document, [three, ONE, TWO])[Q] == C
    assert vote(document, [TWO])[Q] is None


def test_two_chains_of_a_part_may_join_one_and_are_warned_about():
    merged = merge(example(), {**ONE, R: A})
    assert len(merged.warnings) == 1
    assert merged.chains[A] == [A, P, R]


@pytest.mark.parametrize("target", [ChainRef(0, "Z"), S, T])
def test_a_decision_must_name_a_chain_of_an_earlier_part(target):
    with pytest.raises(DataError, match="cannot join"):
        merge(example(), {**ONE, Q: target})


def test_a_table_is_read_back_as_written_and_later_rows_win(tmp_path):
    document = example()
    path = tmp_path / "d.tsv"
    assert write_table(path, [document], {document.doc_key: ONE}, "ann") == 5
    assert read_table(path, [document]) == {"ann": {document.doc_key: ONE}}
    path.write_text(path.read_text() + "bc/demo/1\t1\tq\tnew\tnew\tann\n")
    assert read_table(path, [document])["ann"][document.doc_key] == TWO


@pytest.mark.parametrize(
    "row", ["x", "bc/demo/1\t1\tzz\tnew\tnew", "bc/demo/1\t9\tq\tnew\tnew", "no\t1\tq\t0\tA"]
)
def test_a_bad_row_names_its_line(tmp_path, row):
    path = tmp_path / "d.tsv"
    path.write_text(f"document\tpart\tchain\tjoins_part\tjoins_chain\n{row}\n")
    with pytest.raises(FormatError, match=r"d\.tsv:2"):
        read_table(path, [example()])


@pytest.fixture(scope="module")
def fantasy(reference):
    folder = reference / "fantasycoref"
    documents = documents_of(conll.read(folder / "gft_parts.conll", parts="apart"))
    whole = {r.doc_key: r for r in conll.read(folder / "gft_whole.conll")}
    with open(folder / "expected.tsv", encoding="utf-8") as stream:
        expected = {row["story"]: row for row in csv.DictReader(stream, delimiter="\t")}
    return documents, whole, expected


def test_parts_joined_by_id_are_the_whole_stories(fantasy):
    documents, whole, expected = fantasy
    assert len(documents) == 6
    for document in documents:
        key, row = decide_by_id(document), expected[document.doc_key]
        record = merge(document, key).to_record()
        assert {frozenset(c) for c in record.clusters} == {
            frozenset(c) for c in whole[document.doc_key].clusters
        }
        assert record.sentences == whole[document.doc_key].sentences
        assert decisions_from_whole(document, whole[document.doc_key]) == key
        links = sum(target is not None for target in key.values())
        assert (len(key), links) == (int(row["merge_decisions"]), int(row["decisions_link"]))
        unmerged = score_merged([(document, key, {})])
        got = [
            round(100 * s.f1, 2) for s in (unmerged.muc, unmerged.b_cubed, unmerged.ceaf_e, unmerged.conll)
        ]
        names = ("muc", "b_cubed", "ceaf_e", "conll")
        assert got == [float(row[f"unmerged_{name}_f1"]) for name in names]
        assert score_merged([(document, key, key)]).conll.f1 == 1.0


def test_greedy_and_linker_on_the_stories(fantasy):
    documents, _, _ = fantasy

    def scored(decide):
        both = [(d, decide_by_id(d), decide(d)) for d in documents]
        counts = [score_decisions(*item) for item in both]
        return sum(counts[1:], start=counts[0]), score_merged(both).conll.f1

    greedy, greedy_conll = scored(decide_greedily)
    linker, linker_conll = scored(decide_with_linker)
    assert (greedy.links, greedy.right_links, greedy.key_links) == (36, 35, 54)
    assert round(100 * greedy_conll, 1) == 94.7
    assert linker.f1 >= 0.85
    assert linker.precision >= greedy.precision
    assert 1 - linker_conll <= (1 - greedy_conll) / 2


def test_pronoun_chains_are_new_for_the_greedy_baseline():
    assert decide_greedily(example()) == {P: None, Q: None, R: C, S: None, T: B}


def test_the_linker_never_joins_two_chains_of_a_part(fantasy):
    documents, _, _ = fantasy
    for document in documents:
        assert merge(document, decide_with_linker(document)).warnings == []


def test_statistics_by_genre_and_scores_by_size():
    documents = [example("bc/demo/1"), example("mz/demo/2")]
    records = [merge(d, ONE).to_record() for d in documents]
    by_genre = {s.genre: s for s in statistics(records)}
    assert list(by_genre) == ["bc", "mz", "all"]
    assert (by_genre["bc"].tokens, by_genre["bc"].chains, by_genre["bc"].mentions) == (16, 4, 16)
    assert by_genre["all"].chains_per_document == 4.0
    assert by_genre["bc"].largest_distance == 4
    found = scores_by_size([(r, r) for r in records], (10, 100), (4,))
    assert [(b.label, b.documents) for b in found["tokens"]] == [("10 to 100", 2)]
    assert [(b.label, b.scores.conll.f1) for b in found["chains"]] == [("0 to 4", 1.0)]


def test_a_session_asks_in_order_and_forgets_what_a_revision_overthrows():
    document = example()
    session = Session(document, {}, {Q: B})
    assert session.next_question == P
    for ref, target in ((P, A), (Q, B), (R, C), (S, None), (T, B)):
        assert session.next_question == ref
        assert session.answer(ref, target) == []
    assert session.next_question is None
    assert session.answer(Q, None) == [T]
    assert session.next_question == T
    assert session.options(Q)[0].root == B
    assert "[Smith]" in session.contexts(Q)[0]
    assert [joined for _, _, joined in session.summary(1)][3] == "new"


def test_parts_are_known_by_keys_too():
    records = [Record(f"story_part{n}", "", [["a"]], [[Mention(0, 0)]]) for n in (0, 1)]
    (document,) = documents_of(records)
    assert (document.doc_key, document.numbers, document.genre) == ("story", ("0", "1"), "")
    assert documents_of([Record("other", "", [["a"]], [])])[0].numbers == ("0",)
