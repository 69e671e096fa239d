"""Questions about mentions: published scores, ranking, selection, prompts, grading."""

from __future__ import annotations

import ast
import csv
import re
from dataclasses import replace

import pytest

from bookcoref_data.books import Record
from bookcoref_data.books.book import Mention
from bookcoref_data.errors import DataError, FormatError, UsageError
from bookcoref_data.formats import read_documents
from bookcoref_data.tasks.questions.baselines import annotation_answers
from bookcoref_data.tasks.questions.build import (
    NONE_OF_THE_ABOVE,
    build_questions,
    copeland_counts,
    is_hard,
    mark,
)
from bookcoref_data.tasks.questions.entities import make_document
from bookcoref_data.tasks.questions.grading import grade
from bookcoref_data.tasks.questions.phrases import (
    PRONOUN_CLASS,
    closed_up,
    proposals,
    readable,
    running_case,
    trimmed,
    written_words,
)  # fmt: skip
from bookcoref_data.tasks.questions.prompts import answer_in, answer_pattern, mention_in, prompt_of
from bookcoref_data.tasks.questions.scores import fuzzy_score, overlapping, score_mentions
from bookcoref_data.tasks.questions.settings import read_settings
from bookcoref_data.workflows.questions import read_phrases, write_questions


@pytest.fixture(scope="module")
def made(story):
    return build_questions([("sample", [story])], read_settings("repo", test=20, dev=10, draws=2, draw=15))


@pytest.fixture(scope="module")
def banded(story):
    return build_questions([("sample", [story])], read_settings("books", band_size=10, bands=[50, 500]))


def rows_of(made, name=("default", "test")):
    return [q.to_dict() for q in made.tables[name]]


@pytest.mark.parametrize(("phrase", "mention", "score"), [
    ("Mrs. Bennet", "his wife", 22), ("Mr. Greyson's Office", "his office", 74),
    ("Elizabeth Bennet", "Miss Bennet", 78), ("Mr. Bennet", "Bennet , Mr.", 100), ("Joe Gargery", "Joe", 100),
    ("Prince Rudolph", "the emperor", 40), ("Falada", "her horse", 0),
])  # fmt: skip
def test_the_fuzzy_score_is_the_published_one(phrase, mention, score):
    assert fuzzy_score(phrase, mention) == score


def test_published_scores_of_fantasycoref_rows(reference):
    with open(reference / "identifyme_scores.tsv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    fantasy = [row for row in rows if row["dataset"] == "fantasy"]
    assert len(fantasy) == 4
    for row in fantasy:
        assert fuzzy_score(row["entity_phrase"], row["mention"]) == int(row["fuzzy_score"])


def test_published_scores_of_litbank_rows(reference, shared_data):
    """All 8 rows come out: fuzzy score, three distances, distractor counts, nesting."""
    numbers = ["fuzzy_score", "neighbour_distance", "nominal_neighbour_distance",
               "surface_neighbour_distance",
               "pronoun_class", "num_helpers", "num_dists", "fin_dists", "is_nested"]  # fmt: skip
    checked = 0
    with open(reference / "identifyme_scores.tsv", encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if row["dataset"] != "litbank":
                continue
            file = shared_data / "litbank/coref/brat" / (row["doc_key"].removesuffix("_0") + ".ann")
            (record,) = read_documents(file)
            first = make_document(record)
            index = int(row["mention_ind"])
            phrases = list(first.phrases)
            phrases[first.owners[index]] = row["entity_phrase"]
            found = {s.index: s for s in score_mentions(make_document(record, phrases=phrases))}[index]
            got = (found.fuzzy, found.neighbour, found.nominal_neighbour, found.surface_neighbour,
                   found.pronoun_class, found.helpers, found.distractors, found.net_distractors,
                   int(bool(found.around)))  # fmt: skip
            assert got == tuple(int(row[name]) for name in numbers), row
            assert list(found.mention) == ast.literal_eval(row["token_bounds"])
            assert (found.category, found.text) == (row["category"], row["mention"])
            checked += 1
    assert checked == 8


def test_copeland_counts_of_the_worked_example():
    assert copeland_counts([(-30, 2, 5, 9), (-60, 2, 7, 9), (-30, 10, 3, -1)]) == [4.5, 4.0, 3.5]
    assert copeland_counts([]) == []


def test_overlapping_mentions_contain_or_lie_in_each_other():
    mentions = [Mention(0, 4), Mention(0, 9), Mention(3, 4), Mention(4, 6), Mention(20, 21)]
    assert overlapping(mentions) == [[1, 2], [0, 2, 3], [0, 1], [1], []]


def test_a_phrase_reads_as_the_text_would_print_it():
    assert closed_up("Mr. Hill , who isn 't Tom 's") == "Mr. Hill, who isn't Tom's"
    assert closed_up("the county ( o ' North )") == "the county (o' North)"
    assert closed_up('a woman , " young " and kind') == 'a woman, "young" and kind'
    assert closed_up("the “ Hispaniola ” of Bristol") == "the “Hispaniola” of Bristol"
    words = written_words(
        ["MR.", "HALE", "said", ".", "Mr.", "Hale", "and", "Mr.", "Hale", "went", ",", "II"]
    )
    assert running_case("MR. HALE", words) == "Mr. Hale"
    assert running_case("Tom HALE", words) == "Tom Hale"
    assert running_case("THE KEEPER", {}) == "The Keeper"
    assert running_case("Captain John Good , RN", {}) == "Captain John Good , RN"
    assert running_case("MRS. HALE and LOUIS XIV", {}) == "Mrs. Hale and Louis XIV"
    assert [trimmed(t) for t in ("of Mr. Hill", "Anna 's", "'the cook ,", "Tom Hill Jr.")] == [
        "Mr. Hill", "Anna", "the cook", "Tom Hill Jr."
    ]  # fmt: skip
    nobody = ("he", "My", "one of whom", "some one", ",", "everybody", "the " * 40)
    assert [trimmed(t) for t in nobody] == [None] * len(nobody)


def named(name, *said):
    """The proposals for an entity whose mentions are written "KIND text"."""
    kinds, texts = zip(*(one.split(" ", 1) for one in said), strict=True)
    return list(proposals(name, texts, kinds, written_words(["the", "Mr.", "Hill", "Anna"])))


def test_the_fullest_name_is_proposed_and_never_a_pronoun():
    hill = ["PROP Hill"] * 5 + ["PROP Mr. Tom Hill"] * 2 + ["PROP old Tom Hill of York"] + ["NOM The cook"]
    assert named(None, *hill, "PRON he")[0] == "Mr. Tom Hill"
    assert named("he", "PRON he", "NOM the cook")[0] == "the cook"
    assert named("MR__HILL", "PROP MR. HILL", "PRON he")[0] == "Mr. Hill"
    assert named(None, *hill)[-1] == "Mr. Tom Hill (the cook)"


def test_two_people_of_one_name_are_told_apart():
    text = (
        "Mr. Temple came . Mr Temple , the son , came . Mr. Temple and Mr Temple and Mr. Temple . Mr Temple"
    )
    temples = [Mention(at, at + 1) for at in (0, 12, 18)]
    sons = [Mention(at, at + 1) for at in (4, 7, 15, 21)]
    record = Record("b", sentences=[text.split()], clusters=[temples, sons])
    # The larger group chooses first; the other has no noun phrase that could tell it apart.
    assert make_document(record, untyped="rules").phrases == (None, "Mr Temple")
    fathers = [*temples, Mention(24, 25)]
    words = [*text.split(), ",", "the", "father"]
    record = Record("b", sentences=[words], clusters=[[*fathers, Mention(10, 10)], sons])
    assert make_document(record, untyped="rules").phrases == ("Mr. Temple", "the son")


def test_names_of_litbank_clusters_are_read():
    assert readable("Mrs__Hall") == "Mrs. Hall"
    assert readable("Mr_Bennet") == "Mr Bennet"
    assert readable("MR__HALE") == "MR. HALE"
    assert readable("the_servants___quarters") == "the servants quarters"
    assert readable("Tom_s_aunt") == "Tom's aunt"


def test_phrases_are_distinct_and_plurals_and_small_clusters_have_none():
    words = (
        "Ann saw Bob . She met them . Ann and they sat . Ann left Bob . Bob and they ate . He and they went ."
    )
    tokens = words.split()
    at = [i for i, t in enumerate(tokens)]
    where = {w: [(i, i) for i in at if tokens[i] == w] for w in ("Ann", "Bob", "they", "She", "them", "He")}
    clusters = [where["Ann"] + where["She"], where["Bob"] + where["He"], where["they"] + where["them"]]
    record = Record("d", "", [tokens], [[Mention(*m) for m in c] for c in clusters])
    assert make_document(record).phrases == ("Ann", "Bob", None)
    assert make_document(record, least_mentions=5).phrases == (None, None, None)


def test_limits_of_paper_and_code_differ_at_the_border(story):
    scores = score_mentions(make_document(story))
    nominal = next(s for s in scores if s.category == "NOM")
    edge = {name: read_settings(name, fuzzy_limit=nominal.fuzzy) for name in ("repo", "paper")}
    assert is_hard(nominal, edge["repo"])
    assert not is_hard(nominal, edge["paper"])
    pronoun = next(s for s in scores if s.category == "PRON")
    edge = {
        name: read_settings(name, net_distractor_limit=pronoun.net_distractors + (name == "repo"))
        for name in ("repo", "paper")
    }
    assert not is_hard(pronoun, edge["repo"])
    assert is_hard(pronoun, edge["paper"])
    assert (read_settings("repo").net_distractor_limit, read_settings("paper").net_distractor_limit) == (1, 0)


def test_every_question_can_be_answered(made, story):
    tokens = [t for s in story.sentences for t in s]
    assert [len(made.tables[n]) for n in made.tables] == [40, 20, 30, 30]
    for rows in made.tables.values():
        for q in rows:
            assert q.options[-1] == NONE_OF_THE_ABOVE
            assert len(set(q.options)) == len(q.options)
            assert q.answer in q.options
            assert (q.answer == q.entity) == (q.entity in q.options)
            inside = re.search(r"\{\{(.*)\}\} \(#This is the marked mention\)", q.text, re.DOTALL)[1]
            assert inside == " ".join(tokens[q.start : q.end + 1])
    ids = [{q.id for q in made.tables["default", s]} for s in ("test", "validation")]
    assert not ids[0] & ids[1]


def test_one_in_ten_has_no_right_option_in_every_group(made):
    for name, share in ((("default", "test"), 2), (("default", "validation"), 1), (("random", "draw_01"), 1)):
        for category in ("NOM", "PRON"):
            rows = [q for q in made.tables[name] if q.category == category]
            assert sum(q.answer == NONE_OF_THE_ABOVE for q in rows) == share


def test_the_same_seed_gives_the_same_questions_and_draws_differ(made, story):
    again = build_questions([("sample", [story])], read_settings("repo", test=20, dev=10, draws=2, draw=15))
    assert again.tables == made.tables
    one, two = (made.tables["random", f"draw_0{n}"] for n in (1, 2))
    assert {q.id for q in one} != {q.id for q in two}


def test_short_and_hardly_labelled_documents_are_left_out_with_a_reason(story):
    made = build_questions([("s", [story])], read_settings("repo", least_tokens=10**6))
    assert "fewer than" in made.rejected[story.doc_key]
    assert not made.tables["default", "test"]
    made = build_questions([("s", [story])], read_settings("repo", most_unlabelled=0.0, least_mentions=200))
    assert "unlabelled" in made.rejected[story.doc_key]


def test_passages_of_whole_books_hold_the_evidence(banded, story):
    tokens = [t for s in story.sentences for t in s]
    (rows,) = banded.tables.values()
    assert {q.band for q in rows} == {"0-50", "50-500", "500+"}
    for q in rows:
        low, _, high = q.band.partition("-")
        assert int(low.rstrip("+")) < q.evidence_distance <= (int(high) if high else 10**9)
        assert q.text_start <= q.evidence < q.start <= q.end < q.text_end
        assert q.evidence_distance == q.start - q.evidence
        assert fuzzy_score(q.entity, tokens[q.evidence]) > 0
        assert q.text == mark(tokens, Mention(q.start, q.end), q.text_start, q.text_end)
        assert len(q.options) > 1


def test_the_prompt_has_its_four_parts_in_order(made):
    row = rows_of(made)[0]
    prompt = prompt_of(row, "desc")
    places = [prompt.index(p) for p in ("Instruction:", "Text:", "Options for the answer:", "- Explanation:")]
    assert places == sorted(places)
    assert "- Explanation:" not in prompt_of(row, "base")
    assert all(f"\n{option}\n" in prompt for option in row["options"])
    with pytest.raises(UsageError, match="variant"):
        prompt_of(row, "long")


def test_the_pattern_fits_whole_answers_and_escapes_options():
    pattern = answer_pattern(["Mr. (Old) Gadd", "None of the Above"], "base")
    assert re.fullmatch(pattern, "- Mention: {{he}}\n- The mention refers to: Mr. (Old) Gadd")
    assert not re.fullmatch(pattern, "- Mention: {{he}}\n- The mention refers to: Mrs (Old) Gadd")
    long = answer_pattern(["A"], "desc")
    explained = "- Explanation: " + "word " * 30 + ".\n"
    assert re.fullmatch(long, "- Mention: {{he}}\n" + explained + "- The mention refers to: A")


def test_the_answer_follows_the_last_marker():
    reply = (
        "The mention refers to: X\n- **Mention:** {{his wife}}\n- **The mention refers to:** **Mrs. Bennet**"
    )
    assert answer_in(reply) == "Mrs. Bennet"
    assert mention_in(reply) == "his wife"
    assert answer_in("no marker") == mention_in("none") == ""


def test_grades_count_kinds_of_errors(made):
    rows = rows_of(made)
    perfect = grade(rows, [{"id": q["id"], "answer": q["answer"]} for q in rows])
    assert perfect.groups["all"].value == 1.0
    assert not perfect.errors
    assert perfect.random_baseline == pytest.approx(sum(1 / len(q["options"]) for q in rows) / len(rows))
    nothing = grade(rows, [])
    assert nothing.errors == {"no answer": 40, "entity-entity": 36, "none-entity": 4}
    none = grade(rows, [{"id": q["id"], "answer": NONE_OF_THE_ABOVE} for q in rows])
    assert (none.groups["none"].right, none.groups["entity"].right, none.errors["entity-none"]) == (4, 0, 36)
    assert grade(rows, [{"id": "?", "answer": "x"}]).answers_to_unknown_questions == 1
    both = [{"id": q["id"], "answer": answer} for q in rows for answer in ("x", q["answer"])]
    assert grade(rows, [{"id": q["id"], "answer": q["answer"]} for q in rows] * 2).answers_replaced == 0
    assert grade(rows, both).answers_replaced == 40
    with pytest.raises(DataError, match="same id"):
        grade([rows[0], rows[0]], [])


def test_nested_confusions_are_errors_that_name_an_overlapping_entity():
    row = {"id": "1", "options": ["A", "B", "C"], "answer": "A", "category": "NOM", "mention": "m",
           "is_nested": True, "overlapping": ["B"]}  # fmt: skip
    assert grade([row], [{"id": "1", "answer": "B"}]).nested_errors_to_overlapping == 1
    assert grade([row], [{"id": "1", "answer": "C"}]).nested_errors_to_overlapping == 0


def test_pronouns_are_graded_by_person():
    row = {"options": ["A", "B"], "answer": "A", "category": "PRON", "mention": "m", "is_nested": False,
           "in_dialogue": False, "overlapping": [], "genders": ["male", "female"]}  # fmt: skip
    words = ("I", "you", "he", "she", "they")
    rows = [{**row, "id": word, "pronoun_class": PRONOUN_CLASS[word.lower()]} for word in words]
    groups = grade(rows, [{"id": word, "answer": "A"} for word in ("I", "he")]).groups
    assert (groups["I or you"].right, groups["I or you"].total) == (1, 2)
    assert groups["other pronouns"].right == 1


def test_replies_are_read_and_the_quoted_mention_is_graded(made):
    rows = rows_of(made)[:4]
    reply = "- Mention: {{{{{}}}}}\n- The mention refers to: {}".format
    answers = [{"id": q["id"], "response": reply(q["mention"], q["answer"])} for q in rows]
    answers[0]["response"] = reply("something", rows[0]["answer"])
    grades = grade(rows, answers)
    assert (grades.groups["all"].right, grades.mention_extracted.right) == (4, 3)
    assert grades.mention_extracted_and_right.right == 3


def test_the_wilson_interval_is_the_textbook_one(made):
    share = grade(rows_of(made)[:1], []).groups["all"]
    low, high = share.interval
    assert (round(low, 4), round(high, 4)) == (0.0, 0.7935)


def test_the_key_as_annotation_is_always_right_and_a_lump_is_not(made, story):
    rows = [q for q in rows_of(made) if q["answer"] != NONE_OF_THE_ABOVE]
    key = {story.doc_key: story}
    assert grade(rows, annotation_answers(rows, key, key)).groups["all"].value == 1.0
    everything = sorted({m for c in story.clusters for m in c})
    lump = Record(story.doc_key, "", story.sentences, [everything], [])
    answers = annotation_answers(rows, key, {story.doc_key: lump})
    assert grade(rows, answers).groups["all"].value < 0.5
    empty = Record(story.doc_key, "", story.sentences, [], [])
    assert {a["answer"] for a in annotation_answers(rows, key, {story.doc_key: empty})} == {NONE_OF_THE_ABOVE}


def test_the_phrases_of_a_book_are_made_in_the_one_way_that_the_questions_use(made, story, monkeypatch):
    ways = []

    def counted(record, **how):
        ways.append(how["untyped"])
        return make_document(record, **how)

    monkeypatch.setattr("bookcoref_data.tasks.questions.baselines.make_document", counted)
    bare = replace(story, characters=[])
    others = build_questions([("s", [bare])], read_settings("repo", test=20, dev=0, draws=0))
    for questions, key in ((made, story), (others, bare)):
        annotation_answers(rows_of(questions), {key.doc_key: key}, {key.doc_key: key})
    assert ways == ["rules", "rules", "table"]


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_key_is_right_whatever_made_the_phrases(story, by_hand):
    """Without characters "repo" makes phrases in another way than "books", and a person makes them in any."""
    bare = replace(story, characters=[])
    settings = read_settings("repo", test=20, dev=0, draws=0, none_share=0.0)
    given = [f"person {i}" for i in range(len(bare.clusters))] if by_hand else None
    rows = rows_of(build_questions([("s", [bare])], settings, phrases=lambda record: given))
    key = {bare.doc_key: bare}
    assert len(rows) == 40
    assert grade(rows, annotation_answers(rows, key, key)).groups["all"].value == 1.0


def test_settings_that_cannot_be_right_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no variant"):
        read_settings("published")
    with pytest.raises(UsageError, match="none_share"):
        read_settings("repo", none_share=2.0)
    bad = tmp_path / "r.toml"
    bad.write_text("[variants.repo]\nfuzzy_limit = 'high'\n")
    with pytest.raises(UsageError, match="fuzzy_limit"):
        read_settings("repo", bad)


MALFORMED = re.compile(
    r"\s[,.;:!?]|\s\s|\b(?:mr|mrs|ms|dr),|^(?:of|to|and|but|by|for|with|in|on|at|from)\s|[,;:-]$|_|^\W",
    re.IGNORECASE,
)


@pytest.mark.long
def test_no_option_of_litbank_is_malformed_or_a_pronoun(shared_data):
    records = read_documents(shared_data / "litbank/coref/brat")
    tables = build_questions([("litbank", records)], read_settings("repo")).tables
    options = {option for rows in tables.values() for question in rows for option in question.options[:-1]}
    assert len(options) > 500
    assert {o for o in options if MALFORMED.search(o) or re.search(r"\b[A-Z]{4,}\b", o)} == set()
    assert {o for o in options if set(o.lower().split()) <= PRONOUN_CLASS.keys()} == set()
    assert all(MALFORMED.search(bad) for bad in ("MR, HALE", "the servants,  rooms", "of Mr, Pett", "a , b"))


def test_phrases_by_hand_may_be_few_but_name_groups_that_are_there(story):
    """A table without the last group ended in an IndexError; one for a group that is not there was lost."""
    bare = replace(story, characters=[])
    count = len(bare.clusters)
    assert make_document(bare, phrases=["Meg"]).phrases == ("Meg", *[None] * (count - 1))
    for wrong in (["Meg", *[None] * count], ["Meg", "Meg"]):
        with pytest.raises(DataError, match="phrases by hand"):
            make_document(bare, phrases=wrong)


def test_phrases_are_given_in_a_table(tmp_path):
    table = tmp_path / "phrases.tsv"
    table.write_text("doc_key\tgroup\tphrase\n\na_1\t0\tthe old king \na_1\t12\tRex\n", encoding="utf-8")
    assert read_phrases(table) == {("a_1", 0): "the old king", ("a_1", 12): "Rex"}
    for line in ("a_1\t0", "a_1\tzero\tRex", "a_1\t0\tRex\tmore", "a_1\t9999999\tRex"):
        table.write_text(f"doc_key\tgroup\tphrase\n{line}\n", encoding="utf-8")
        with pytest.raises(FormatError, match=r"phrases\.tsv:2: the row has no phrase"):
            read_phrases(table)


def test_a_set_without_a_question_is_not_written(story, tmp_path):
    """As `create` and `convert` with nothing to write: the reasons are told, and no folder is left."""
    settings = read_settings("repo", least_tokens=100_000)
    made = build_questions([("sample", [story])], settings)
    with pytest.raises(DataError, match="no questions to write") as refused:
        write_questions(made, settings, tmp_path / "questions")
    assert "5,445 tokens, fewer than 100,000" in str(refused.value)
    assert not (tmp_path / "questions").exists()
