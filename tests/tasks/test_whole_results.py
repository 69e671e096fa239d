"""Small inputs whose whole result is written down: statistics, baselines, grades, requests, settings."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from bookcoref_data.books import Book, Mention, Record
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.tasks.contexts.passages import Retriever, paragraphs_of, sentences_about
from bookcoref_data.tasks.contexts.prompts import joint_prompt, merge_prompt, prompt_of, split_joint
from bookcoref_data.tasks.folder import TaskFolder, read_task, write_task_folder
from bookcoref_data.tasks.guides.identification import baselines, grade_identification
from bookcoref_data.tasks.guides.texts import GuideText, keep_long, rows_of, split_by_title
from bookcoref_data.tasks.merging.asking import Session
from bookcoref_data.tasks.merging.features import ChainCandidates, Observed, profile_of
from bookcoref_data.tasks.merging.laying import documents_of
from bookcoref_data.tasks.merging.parts import ChainRef
from bookcoref_data.tasks.merging.scoring import DecisionScores, score_decisions
from bookcoref_data.tasks.merging.statistics import save_plots, scores_by_size, statistics
from bookcoref_data.tasks.questions.baselines import annotation_answers, evenly, text_answers
from bookcoref_data.tasks.questions.build import NONE_OF_THE_ABOVE
from bookcoref_data.tasks.questions.entities import make_document
from bookcoref_data.tasks.questions.grading import Share, grade
from bookcoref_data.tasks.questions.phrases import LONGEST_PHRASE, trimmed
from bookcoref_data.tasks.questions.scores import net_distractors, overlapping
from bookcoref_data.tasks.questions.settings import read_settings
from bookcoref_data.tasks.runner.run import Prices, Request, RunReport, preview

A, B, C, D = (ChainRef(0, "A"), ChainRef(0, "B"), ChainRef(1, "C"), ChainRef(1, "D"))


def two_parts(middle=20):
    """Part 0: Anna (A) and Tom Hill (B), far apart; part 1: she (C), then Tom twice (D)."""
    words = ["Anna", *[f"w{i}" for i in range(1, middle)], "Tom", "Hill", "\n", "."]
    first = Record(
        "s_0",
        "",
        [words],
        [[Mention(0, 0)], [Mention(middle, middle + 1)]],
        extra={"document": "s", "part": "0", "cluster_ids": ["A", "B"]},
    )
    later = Record(
        "s_1",
        "",
        [["she", "saw", "Tom", ",", "Tom", "."]],
        [[Mention(0, 0)], [Mention(2, 2), Mention(4, 4)]],
        extra={"document": "s", "part": "1", "cluster_ids": ["C", "D"]},
    )
    (document,) = documents_of([first, later])
    return document


def test_a_mention_is_shown_with_twelve_tokens_on_either_side():
    session = Session(two_parts(), {}, {})
    around = [f"w{i}" for i in range(1, 20)]
    assert session.context(Mention(0, 0)) == f"...  [Anna] {' '.join(around[:12])} ..."
    assert session.context(Mention(20, 21)) == (
        f"... {' '.join(around[-12:])} [Tom Hill] / . she saw Tom , Tom . ..."
    )
    assert session.context(Mention(12, 13)) == (
        "... " + " ".join(["Anna", *around[:11], "[w12 w13]", *around[13:], "Tom Hill / . she saw ..."])
    )
    assert session.contexts(D) == [
        f"... {' '.join(around[-6:])} Tom Hill / . she saw [Tom] , Tom . ...",
        f"... {' '.join(around[-4:])} Tom Hill / . she saw Tom , [Tom] . ...",
    ]


@pytest.mark.parametrize(
    ("advice", "ref", "roots"),
    [
        ({}, D, [B, A]),
        ({D: A}, D, [A, B]),
        ({D: B}, D, [B, A]),
        ({D: None}, D, [B, A]),
        # "she" shares no word longer than two letters with anybody: the nearest comes first.
        ({}, C, [B, A]),
    ],
)
def test_options_come_by_advice_then_words_then_nearness(advice, ref, roots):
    options = Session(two_parts(), {}, advice).options(ref)
    assert [option.root for option in options] == roots
    assert {option.root: (option.size, option.words) for option in options} == {
        A: (1, ("Anna",)),
        B: (1, ("Tom Hill",)),
    }


def test_the_summary_of_a_part_says_what_every_chain_joins():
    session = Session(two_parts(), {C: A, D: None}, {})
    assert session.summary(1) == [(C, "she", "Anna"), (D, "Tom", "new")]
    assert session.summary(0) == [(A, "Anna", "new"), (B, "Tom Hill", "new")]
    assert session.next_question is None
    assert Session(two_parts(), {C: A}, {}).next_question == D


def pieces(key, spans, words):
    return Record(key, "", [["w"] * words], [[Mention(a, b) for a, b in cluster] for cluster in spans])


def test_statistics_are_these_numbers():
    one = pieces("bc/x/1", [[(0, 0), (4, 4), (5004, 5005)], [(7, 8)]], 6000)
    two = pieces("bc/x/2", [[(1, 1), (5002, 5002)]], 6002)
    (genre, everything) = statistics([one, two])
    assert genre.to_dict() == {
        "genre": "bc",
        "documents": 2,
        "tokens": 12002,
        "chains": 3,
        "mentions": 6,
        "tokens_per_document": 6001.0,
        "chains_per_document": 1.5,
        "mentions_per_document": 3.0,
        "chain_length": 2.0,
        "mean_distance": (4 + 5000 + 5001) / 3,
        "largest_distance": 5001,
        "far_mentions": 1,
    }
    assert genre.distances == (4, 5000, 5001)
    assert everything.to_dict() == genre.to_dict() | {"genre": "all"}
    assert statistics([]) == []


def test_a_document_belongs_to_the_bin_whose_upper_limit_it_reaches():
    records = [
        pieces(f"d{n}", [[(i, i), (i + 1, i + 1)] for i in range(0, 2 * chains, 2)], tokens)
        for n, (tokens, chains) in enumerate([(10, 1), (11, 2), (20, 3), (21, 3)])
    ]
    found = scores_by_size([(r, r) for r in records], (10, 20), (2,))
    assert {name: [(b.label, b.documents) for b in bins] for name, bins in found.items()} == {
        "tokens": [("0 to 10", 1), ("10 to 20", 2), ("over 20", 1)],
        "chains": [("0 to 2", 2), ("over 2", 2)],
    }
    row = found["tokens"][0].to_dict()
    assert (row["bin"], row["documents"], row["conll"], list(row)) == (
        "0 to 10",
        1,
        1.0,
        ["bin", "documents", "conll", "scores"],
    )


def test_a_plot_gives_the_share_of_chains_with_at_least_so_many_mentions(tmp_path, monkeypatch):
    figure = pytest.importorskip("matplotlib.figure").Figure
    drawn = []

    def keep(self, path, **_):
        drawn.append((path.name, [line.get_xydata().tolist() for line in self.axes[0].lines]))

    monkeypatch.setattr(figure, "savefig", keep)
    record = pieces("d", [[(0, 0), (4, 4), (9, 9)], [(1, 1), (2, 2)]], 10)
    assert save_plots({"one": [record], "none": []}, tmp_path / "new") == [
        tmp_path / "new" / "chain_lengths.png",
        tmp_path / "new" / "antecedent_distances.png",
    ]
    assert drawn == [
        ("chain_lengths.png", [[[3, 0.5], [2, 1.0]], []]),
        ("antecedent_distances.png", [[[5, 1 / 3], [4, 2 / 3], [1, 1.0]], []]),
    ]


TEXT = [
    "Anna",
    "Brown",
    ",",
    "the",
    "old",
    "painter",
    "of",
    "York",
    ",",
    "met",
    "Tom",
    ".",
    "She",
    "saw",
    "Tom",
    ".",
    "Tom",
    "slept",
    ".",
]


def annotated(clusters, names=None):
    spans = [[Mention(*span) for span in cluster] for cluster in clusters]
    characters = list(zip(names, spans, strict=True)) if names else []
    return Record("d", "", [TEXT], spans, characters)


@pytest.mark.parametrize(
    ("response", "names", "asked", "answer"),
    [
        # The same span, by the name of its character.
        ([[(0, 1), (12, 12)], [(10, 10)]], ["Anna Brown", "Tom"], (12, 12), "Anna Brown"),
        # Without names: the option that shares most other mentions.
        ([[(0, 1), (12, 12)], [(10, 10)]], None, (12, 12), "Anna Brown"),
        # The mention asked about does not count for its own cluster.
        ([[(12, 12)], [(10, 10)]], None, (12, 12), NONE_OF_THE_ABOVE),
        # The shortest mention around it; one that begins or ends inside is none.
        ([[(0, 7), (10, 10), (14, 14)], [(3, 5), (12, 12), (0, 1)]], None, (4, 5), "Anna Brown"),
        ([[(3, 5), (10, 10), (14, 14)]], None, (3, 4), "Tom"),
        ([[(3, 5), (10, 10), (14, 14)]], None, (4, 5), "Tom"),
        ([[(3, 5), (10, 10), (14, 14)]], None, (2, 4), NONE_OF_THE_ABOVE),
        ([[(3, 5), (10, 10), (14, 14)]], None, (4, 6), NONE_OF_THE_ABOVE),
        ([[(10, 10), (14, 14)]], ["Thomas"], (10, 10), "Tom"),
        ([], None, (12, 12), NONE_OF_THE_ABOVE),
    ],
)
def test_an_annotation_answers_by_name_then_by_shared_mentions(response, names, asked, answer):
    key = annotated([[(0, 1), (3, 7), (12, 12)], [(10, 10), (14, 14), (16, 16)]], ["Anna Brown", "Tom"])
    phrases = [phrase for phrase in make_document(key).phrases if phrase]
    assert phrases == ["Anna Brown", "Tom"]
    question = {
        "id": 7,
        "doc_key": "d",
        "start": asked[0],
        "end": asked[1],
        "options": [*phrases, NONE_OF_THE_ABOVE],
    }
    other = question | {"id": 8, "doc_key": "elsewhere"}
    found = annotation_answers([question, other], {"d": key}, {"d": annotated(response, names)})
    assert found == [{"id": "7", "answer": answer}]


@pytest.mark.parametrize(
    ("text", "nearest", "frequent"),
    [
        ("Tom met Ann . {{ he }} saw Tom .", "Ann", "Tom"),
        ("Tom met Ann . Ann {{ he }} saw .", "Ann", "Ann"),
        ("Tom met . {{ he }} saw Ann , Ann .", "Tom", "Ann"),
        ("{{ he }} saw Ann .", NONE_OF_THE_ABOVE, "Ann"),
        ("Tom {{ he }}", "Tom", "Tom"),
        ("{{ he }}", NONE_OF_THE_ABOVE, NONE_OF_THE_ABOVE),
    ],
)
def test_words_alone_answer_with_the_nearest_and_the_commonest_name(text, nearest, frequent):
    question = {"id": 1, "text": text, "options": ["Ann", "Tom", NONE_OF_THE_ABOVE]}
    assert text_answers([question]) == {
        "nearest name": [{"id": "1", "answer": nearest}],
        "most frequent": [{"id": "1", "answer": frequent}],
    }
    assert (
        text_answers([question | {"options": [NONE_OF_THE_ABOVE]}])["nearest name"][0]["answer"]
        == NONE_OF_THE_ABOVE
    )


@pytest.mark.parametrize(
    ("most", "kept"),
    [(0, []), (1, [0]), (2, [0, 3]), (3, [0, 3, 4]), (4, [0, 1, 3, 4]), (9, [0, 1, 2, 3, 4])],
)
def test_questions_are_taken_in_turn_from_every_kind(most, kept):
    rows = [
        {"n": n, "dataset": d, "category": c, "band": b}
        for n, (d, c, b) in enumerate(
            [
                ("x", "NOM", None),
                ("x", "NOM", None),
                ("x", "NOM", None),
                ("x", "PRON", None),
                ("x", "NOM", "far"),
            ]
        )
    ]
    assert [row["n"] for row in evenly(rows, most)] == kept


def question(number, answer, category="NOM", options=("Ann", "Tom"), **more):
    return {
        "id": number,
        "answer": answer,
        "category": category,
        "options": [*options, NONE_OF_THE_ABOVE],
        "mention": "he",
        "dataset": "x",
    } | more


def test_grades_are_these_counts():
    nobody = NONE_OF_THE_ABOVE
    rows = [
        question(
            1,
            "Ann",
            band="near",
            genders=["female", "male", "none"],
            is_nested=True,
            overlapping=["Tom"],
            pronoun_class=-1,
            in_dialogue=False,
        ),
        question(
            2,
            "Ann",
            "PRON",
            band="far",
            dataset="y",
            genders=["female", "male", "none"],
            is_nested=False,
            pronoun_class=3,
            in_dialogue=True,
        ),
        question(
            3,
            nobody,
            "PRON",
            options=("Ann",),
            band="far",
            is_nested=True,
            pronoun_class=1,
            in_dialogue=False,
        ),
        question(
            4,
            "Tom",
            "PRON",
            genders=["female", "male", "none"],
            is_nested=True,
            overlapping=["Ann"],
            pronoun_class=5,
            in_dialogue=False,
        ),
        question(5, "Tom", is_nested=False, pronoun_class=-1, in_dialogue=False),
    ]
    answers = [
        {"id": 1, "answer": "Ann"},
        {"id": 1, "answer": "Tom"},
        {"id": 2, "answer": nobody},
        {"id": 3, "answer": "Zoe"},
        {"id": 4, "answer": " Tom "},
        {"id": 9, "answer": "Ann"},
    ]
    found = grade(rows, answers).to_dict()
    assert {name: (group["right"], group["total"]) for name, group in found["groups"].items()} == {
        "all": (1, 5),
        "NOM": (0, 2),
        "PRON": (1, 3),
        "entity": (1, 4),
        "none": (0, 1),
        "nested": (1, 3),
        "not nested": (0, 2),
        "male answer": (1, 1),
        "female answer": (0, 2),
        "neutral answer": (0, 0),
        "I or you": (0, 1),
        "other pronouns": (0, 1),
        "PRON in dialogue": (0, 1),
        "PRON outside dialogue": (1, 2),
        "band near": (0, 1),
        "band far": (0, 2),
        "dataset x": (1, 4),
        "dataset y": (0, 1),
    }
    assert found["errors"] == {
        "entity-entity": 2,
        "entity-none": 1,
        "outside the options": 1,
        "none-entity": 1,
        "no answer": 1,
    }
    assert found["random_baseline"] == pytest.approx((4 / 3 + 1 / 2) / 5)
    assert (found["nested"]["right"], found["nested"]["total"]) == (1, 3)
    assert found["nested_errors_to_overlapping"] == 1
    assert (found["answers_to_unknown_questions"], found["answers_replaced"]) == (1, 1)
    assert found["genders"] == {"female - male": 1, "female - none": 1}
    assert found["mention_extracted"] is None


def test_without_genders_and_other_data_sets_there_are_fewer_groups():
    found = grade([question(1, "Ann")], [])
    assert list(found.groups) == ["all", "NOM", "PRON", "entity", "none"]
    assert grade([], []).groups["all"] == Share(0, 0)
    assert Share(0, 0).to_dict() == {"right": 0, "total": 0, "accuracy": 0.0, "low": 0.0, "high": 1.0}
    with pytest.raises(DataError, match="same id"):
        grade([question(1, "Ann"), question("1", "Tom")], [])


def test_mentions_that_replies_quote_are_graded():
    rows = [question(n, "Ann") for n in range(4)]
    replies = [
        "- Mention: {{he}}\n- The mention refers to: Ann",
        "- Mention: {{she}}\n- The mention refers to: Ann",
        "- Mention: {{he}}\n- The mention refers to: Tom",
        "nothing",
    ]
    found = grade(rows, [{"id": n, "response": reply} for n, reply in enumerate(replies)])
    assert (found.mention_extracted, found.mention_extracted_and_right) == (Share(2, 4), Share(1, 4))
    assert found.groups["all"] == Share(2, 4)


@pytest.mark.parametrize(("extra", "kept"), [(0, True), (1, False)])
def test_a_phrase_has_sixty_characters_at_most(extra, kept):
    phrase = "Anna " + "B" * (LONGEST_PHRASE - 5 + extra)
    assert LONGEST_PHRASE == 60
    assert trimmed(phrase) == (phrase if kept else None)


def test_helpers_and_distractors_stand_within_ten_mentions():
    classes, owners = [2] * 23, [0, *[1] * 21, 0]
    assert net_distractors(11, classes, [1] * 23) == (21, 0)
    assert net_distractors(10, classes, owners) == (20, 1)
    assert net_distractors(0, classes, owners) == (1, 10)
    assert net_distractors(22, [2] * 11 + [3] * 11 + [2], [0] * 23) == (1, 10)
    assert net_distractors(1, [-1, 2, -1, 3], [0, 0, 0, 1]) == (1, 0)


@pytest.mark.parametrize(
    ("spans", "found"),
    [
        ([], []),
        ([(0, 0), (1, 1)], [[], []]),
        ([(0, 1), (1, 2)], [[], []]),
        ([(0, 1), (0, 2)], [[1], [0]]),
        ([(0, 2), (1, 2)], [[1], [0]]),
        ([(0, 3), (1, 2), (3, 3), (4, 4)], [[1, 2], [0], [0], []]),
    ],
)
def test_mentions_overlap_when_one_lies_in_the_other(spans, found):
    assert overlapping([Mention(*span) for span in spans]) == found


@pytest.mark.parametrize(
    ("change", "sound"),
    [
        ({"untyped": "rules"}, True),
        ({"untyped": "x"}, False),
        ({"none_share": 0.0}, True),
        ({"none_share": 1.0}, False),
        ({"none_share": -0.1}, False),
        ({"most_unlabelled": 1.0}, True),
        ({"most_unlabelled": 1.1}, False),
        ({"least": 1.0}, True),
        ({"least": 1.01}, False),
        ({"bands": [1, 5]}, True),
        ({"bands": [0, 5]}, False),
        ({"bands": [5, 5]}, False),
        ({"bands": [5, 1]}, False),
        ({"test": 0}, True),
        ({"test": -1}, False),
        ({"apart": -1}, False),
        ({"most_options": 2}, True),
        ({"most_options": 1}, False),
        ({"most_options": 3, "least_options": 3}, True),
        ({"most_options": 3, "least_options": 4}, False),
    ],
)
def test_settings_have_limits(change, sound):
    if sound:
        assert {name: getattr(read_settings("repo", **change), name) for name in change} == {
            name: tuple(value) if isinstance(value, list) else value for name, value in change.items()
        }
        return
    with pytest.raises(UsageError, match="cannot be right"):
        read_settings("repo", **change)


def test_a_request_is_a_conversation_and_its_digest_holds_all_that_matters():
    assert Request("k", "ask").messages == [{"role": "user", "content": "ask"}]
    assert Request("k", "", system="be brief").messages == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": ""},
    ]
    plain = Request("k", "ask", "a|b", ("a", "b"), "say ")
    value = ["ask", "a|b", ["a", "b"], "say ", {"m": 1}]
    assert plain.digest({"m": 1}) == hashlib.sha256(json.dumps(value).encode()).hexdigest()
    with_system = Request("other", "ask", "a|b", ("a", "b"), "say ", "be brief")
    assert (
        with_system.digest({"m": 1}) == hashlib.sha256(json.dumps([*value, "be brief"]).encode()).hexdigest()
    )


def test_a_preview_and_a_report_count_everything():
    requests = [Request(str(n), "p" * 6) for n in range(3)]
    assert preview(requests, 2, Prices(2e6, 1e6)) == {
        "requests": 3,
        "prompt_tokens_about": 4,
        "prompt_cost_about": 8.0,
        "prompts": [{"key": "0", "prompt": "pppppp"}, {"key": "1", "prompt": "pppppp"}],
    }
    assert Prices(2e6, 3e6).cost(1, 2) == 8.0
    report = RunReport("m", 1, 2, 3, 4, 5.0)
    report.add(RunReport("other", 10, 20, 30, 40, 50.0))
    assert report == RunReport("m", 11, 22, 33, 44, 55.0)


def test_decisions_are_scored_by_these_counts():
    document = two_parts()
    right = {C: A, D: B}
    assert score_decisions(document, right, right) == DecisionScores(2, 2, 2, 2, 2)
    assert score_decisions(document, right, {C: None, D: A}) == DecisionScores(2, 0, 1, 0, 2)
    assert score_decisions(document, {C: None, D: B}, {C: None, D: B}) == DecisionScores(2, 2, 1, 1, 1)
    assert score_decisions(document, {C: None, D: None}, {C: A, D: None}) == DecisionScores(2, 1, 1, 0, 0)
    # What is right by the second decisions alone counts for nothing.
    assert score_decisions(document, {C: None, D: B}, {C: A, D: B}, {C: A, D: B}) == DecisionScores(
        2, 2, 1, 1, 1
    )
    scores = DecisionScores(4, 3, 2, 1, 4)
    assert scores.to_dict() == {
        "decisions": 4,
        "right": 3,
        "links": 2,
        "right_links": 1,
        "key_links": 4,
        "precision": 0.5,
        "recall": 0.25,
        "f1": pytest.approx(1 / 3),
        "accuracy": 0.75,
    }


def guide(kind="description", words=3, character="Ada", **more):
    return GuideText(kind, "site", "guide", "T", "", " ".join(["w"] * words), character, **more)


@pytest.mark.parametrize(("strictly", "kept"), [(False, [3, 4]), (True, [4])])
def test_texts_are_kept_from_a_length_on(strictly, kept):
    texts = [guide(words=n) for n in (2, 3, 4)]
    long, short = keep_long(texts, {"description": 3}, strictly=strictly, tokens="spaces")
    assert [len(t.text.split()) for t in long] == kept
    assert len(long) + len(short) == 3
    # A kind without a limit keeps everything that has a word, or everything.
    analysis = [guide("analysis", n) for n in (0, 1)]
    assert keep_long(analysis, {"description": 3}, strictly=False, tokens="spaces") == (analysis, [])


def test_rows_of_texts_stand_in_their_split():
    texts = [guide(order=1, gutenberg_key="9", aliases=("A",)), guide("summary", 2, ""), guide("analysis", 1)]
    splits = {"site|guide|description|Ada|9": "test", "site|guide|summary": "train"}
    found = rows_of(texts, splits)
    assert {place: [row["id"] for row in rows] for place, rows in found.items()} == {
        ("description", "test"): ["site|guide|description|Ada|9"],
        ("summary", "train"): ["site|guide|summary"],
    }
    assert found["description", "test"][0] == {
        "id": "site|guide|description|Ada|9",
        "doc_key": "",
        "gutenberg_key": "9",
        "title": "T",
        "author": "",
        "source": "site",
        "guide": "guide",
        "character": "Ada",
        "aliases": ["A"],
        "minor": False,
        "order": 1,
        "text": "w w w",
        "words": 3,
        "address": "",
    }


def test_titles_keep_their_split():
    found = {
        split: [n for n in range(30) if split_by_title(f"Book {n}") == split]
        for split in ("test", "validation")
    }
    assert found == {"test": [4, 6, 17], "validation": [3, 28]}


def identify(number, answer="Ada", options=("Ada", "Sam", "Eve"), masks=1, source="s", summary="", masked=""):
    return {
        "id": number,
        "answer": answer,
        "options": list(options),
        "masks": masks,
        "source": source,
        "summary": summary,
        "masked_description": masked,
    }


def test_identification_is_graded_by_source_and_name():
    rows = [identify(1), identify(2, "Sam", masks=0), identify(3, "Eve", ("Ada", "Eve"), source="t")]
    found = grade_identification(rows, [{"id": 1, "answer": " Ada "}, {"id": 2, "answer": "Ada"}, {"id": 3}])
    assert {name: (g["right"], g["total"]) for name, g in found["groups"].items()} == {
        "all": (1, 3),
        "s": (1, 2),
        "t": (0, 1),
        "name masked": (1, 2),
        "no name in the text": (0, 1),
    }
    assert found["random_baseline"] == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert found["unanswered"] == 1
    twice = grade_identification(rows, [{"id": 1, "answer": "Eve"}, {"id": 1, "answer": "Ada"}, {"id": "x"}])
    assert (twice["answers_replaced"], twice["answers_to_unknown_questions"]) == (1, 1)
    assert grade_identification([], [])["random_baseline"] == 0
    with pytest.raises(DataError, match="same id"):
        grade_identification([identify(1), identify("1")], [])


def test_baselines_of_identification_count_names_and_rare_words():
    summary = "Sam bakes bread. Ada bakes cakes for Sam! Eve sails far."
    rows = [
        identify(1, summary=summary, masked="[MASK] sails a boat."),
        identify(2, summary=summary, masked="[MASK] bakes cakes."),
        identify(3, summary="", masked="x"),
    ]
    assert baselines(rows) == {
        "frequency": [
            {"id": "1", "answer": "Sam"},
            {"id": "2", "answer": "Sam"},
            {"id": "3", "answer": "Ada"},
        ],
        "overlap": [{"id": "1", "answer": "Eve"}, {"id": "2", "answer": "Ada"}, {"id": "3", "answer": "Ada"}],
    }


def test_a_task_folder_is_read_back_and_a_changed_table_is_noticed(tmp_path):
    out = tmp_path / "out"
    content = TaskFolder(
        "quiz", "Quiz", {"n": "int32"}, {("default", "test"): [{"n": 1}, {"n": 2}]}, {"seed": 3}
    )
    assert write_task_folder(out, content) == [
        out / "README.md",
        out / "task.json",
        out / "default/test.jsonl",
    ]
    record, tables = read_task(out, "quiz")
    assert (record["task"], record["settings"], tables) == (
        "quiz",
        {"seed": 3},
        {"default/test.jsonl": out / "default/test.jsonl"},
    )
    assert record["files"] == {"default/test.jsonl": hashlib.sha256(b'{"n": 1}\n{"n": 2}\n').hexdigest()}
    for folder, task in ((out, "other"), (tmp_path, "quiz")):
        with pytest.raises(UsageError, match=f"is no folder of {task}"):
            read_task(folder, task)
    (out / "task.json").write_text("[]")
    with pytest.raises(UsageError, match="is no folder of quiz"):
        read_task(out, "quiz")
    (out / "task.json").write_text(json.dumps(record))
    (out / "default/test.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match="is not what was written"):
        read_task(out, "quiz")
    (out / "default/test.jsonl").unlink()
    with pytest.raises(DataError, match="is not what was written"):
        read_task(out, "quiz")


def paragraphs(*lengths, who=()):
    """A book of paragraphs of so many words; `who` are the numbers of those that name Ada first."""
    sentences, mentions, at = [], [], 0
    for n, length in enumerate(lengths):
        if n in who:
            mentions.append(Mention(at, at))
        sentences.append([f"p{n}w{i}" for i in range(length)] + ["\n", "\n"])
        at += length + 2
    return Book.make("d", sentences, characters=[("Ada", mentions)])


@pytest.mark.parametrize(
    ("budget", "lead", "chunks", "coref"),
    [
        (9, [0, 1, 2], [[0, 1, 2]], [0, 2]),
        (8, [0, 1], [[0, 1], [2]], [0, 2]),
        (7, [0, 1], [[0, 1], [2]], [0, 2]),
        (6, [0], [[0], [1, 2]], [0, 2]),
        (5, [0], [[0], [1, 2]], [2]),
    ],
)
def test_a_context_takes_whole_paragraphs_within_the_budget(budget, lead, chunks, coref):
    book = paragraphs(4, 3, 2, who=(0, 2))
    reader = Retriever(book, budget=budget)
    starts = [p.start for p in reader.paragraphs]
    assert [p.size for p in reader.paragraphs] == [4, 3, 2]

    def taken(strategy):
        return [[starts.index(p.start) for p in c.pieces] for c in reader.contexts("Ada", strategy)]

    assert taken("lead") == [lead]
    assert taken("chunks") == chunks
    assert [c.chunk for c in reader.contexts("Ada", "chunks")] == list(range(len(chunks)))
    assert taken("none") == [[]]
    assert taken("coref")[0] == coref
    assert reader.mention_counts("Ada") == {0: 1, 2: 1}


@pytest.mark.parametrize(
    ("longest", "sizes"), [(99, [5]), (5, [5]), (4, [3, 2]), (3, [3, 2]), (2, [2, 1, 2]), (1, [1] * 5)]
)
def test_a_long_paragraph_is_cut_at_sentences_then_anywhere(longest, sizes):
    book = Book.make("d", [["a", "b", "."], ["c", ".", "\n", "\n"], ["d", "\n", "\n"]])
    found = paragraphs_of(book, longest)
    assert [p.size for p in found] == [*sizes, 1]
    assert paragraphs_of(Book.make("d", [["\n"]]), 3) == []
    assert (found[0].start, found[-1].size) == (0, 1)


@pytest.mark.parametrize(
    ("most", "found"),
    [(0, []), (1, ["p0w0 p0w1"]), (2, ["p0w0 p0w1", "p2w0 p2w1"]), (3, ["p0w0 p0w1", "p2w0 p2w1"])],
)
def test_sentences_about_somebody_stand_in_their_order(most, found):
    book = paragraphs(2, 2, 2, who=(0, 2))
    assert sentences_about(book, "Ada", most) == found
    assert sorted(sentences_about(book, "Ada", most, seed=1)) == found or most == 1
    assert len(sentences_about(book, "Ada", most, seed=1)) == len(found)
    assert sentences_about(book, "Eve", most) == []


def test_prompts_are_these_texts():
    assert prompt_of("Ada", "") == "Describe character: Ada."
    assert (
        prompt_of("Ada", "X", "analysis")
        == "Analyse in-depth character: Ada given the following context.\n\nContext: X"
    )
    assert joint_prompt(["Ada", "Eve"], "X").startswith("Describe each of the following")
    assert joint_prompt(["Ada"], "X", "analysis") == (
        "Analyse in-depth each of the following characters in turn, given the following context. Begin each "
        'answer with a line "### NAME".\n- Ada\nContext: X'
    )
    assert merge_prompt("Ada", ["one", "two"], "analysis") == (
        "Analyse in-depth character: Ada by merging the following analyses into a single analysis.\n\n"
        "Analyses:\none\n\ntwo\n"
    )
    for ask in (lambda: prompt_of("Ada", "", "x"), lambda: joint_prompt(["Ada"], "", "x")):
        with pytest.raises(UsageError, match="no kind 'x'"):
            ask()


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("", {}),
        ("text", {}),
        ("### Ada\n", {}),
        ("### Ada\ntext", {"Ada": "text"}),
        ("### ada\none\ntwo\n### Eve\nthree", {"Ada": "one\ntwo", "Eve": "three"}),
        ("# **Ada**\none\n## Zoe\ntwo", {"Ada": "one"}),
    ],
)
def test_a_joint_reply_is_taken_apart(reply, found):
    assert split_joint(reply, ["Ada", "Eve"]) == found


CHAINS = Path(__file__).parent / "chains"


def document_of(text):
    """A document of parts ("===" between them) in which "[3 the ship]" is a mention of chain 3 of its part.

    Each line is a sentence; "Tom:" before it is its speaker, and "* 70" stands for so many other words.
    """
    records = []
    for number, part in enumerate(text.split("===\n")):
        sentences, speakers, chains, first = [], [], {}, 0
        for line in part.splitlines():
            speaker, said, words = line.rpartition(": ")
            sentence, opened = [], []
            for word in words.split() if words[0] != "*" else ["filler"] * int(words[2:]):
                if word[0] == "[":
                    opened.append((word[1:], first + len(sentence)))
                    continue
                sentence.append(word.rstrip("]"))
                for _ in range(len(word) - len(sentence[-1])):
                    name, start = opened.pop()
                    chains.setdefault(name, []).append(Mention(start, first + len(sentence) - 1))
            sentences.append(sentence)
            speakers.append([speaker] * len(sentence))
            first += len(sentence)
        extra = {"document": "s", "part": str(number), "cluster_ids": list(chains)}
        found = [sorted(mentions) for mentions in chains.values()]
        said = speakers if any(map(any, speakers)) else None
        records.append(Record(f"s_{number}", "", sentences, found, speakers=said, extra=extra))
    (document,) = documents_of(records)
    return document


def features_of(document):
    """Lines of "chain, chain before or new, features that are not 0 by column".

    Each chain of a part is looked at with each chain of the part before, among all chains before.
    """
    reading, rows = Observed(document), []
    known = {ref: profile_of(reading, mentions, ref.part) for ref, mentions in document.chains.items()}
    for part in range(1, len(document.part_starts)):
        before = [ref for ref in known if ref.part < part]
        near = [i for i, ref in enumerate(before) if ref.part == part - 1]
        here = [profile for ref, profile in known.items() if ref.part == part]
        candidates = ChainCandidates(reading, [known[ref] for ref in before], part, here)
        for ref in document.of_part(part):
            pairs = candidates.pair_features(known[ref], near)
            told = [(before[i].chain, row) for i, row in zip(near, pairs, strict=True)]
            for other, row in [*told, ("new", candidates.new_features(known[ref]))]:
                values = " ".join(f"{k}:{value:.3g}" for k, value in enumerate(row) if value)
                rows.append(f"{ref.part}.{ref.chain} {other} {values}\n")
    return "".join(rows)


@pytest.mark.parametrize("name", ["story", "talk"])
def test_chains_have_the_features_that_the_weights_were_learned_for(name):
    found = features_of(document_of((CHAINS / f"{name}.txt").read_text("utf-8")))
    expected = CHAINS / f"{name}.features.txt"
    if os.environ.get("BOOKCOREF_WRITE_EXPECTED"):
        expected.write_text(found, "utf-8")
    assert found == expected.read_text("utf-8")
