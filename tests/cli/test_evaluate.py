"""`bookcoref-data evaluate` from the outside: files in, tables or JSON out, and what it refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bookcoref_data.books import Mention
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, FormatError, UsageError
from bookcoref_data.formats import read_documents, write_documents
from bookcoref_data.scoring import MODES
from tests.sample_story.making import sample_book

pytestmark = pytest.mark.slow

SENTENCES = [["Anna", "met", "Ben", "."], ["She", "saw", "him", "\u200b", "é", "."]]
KEY = {
    "doc_key": "b_1",
    "gutenberg_key": "1",
    "sentences": SENTENCES,
    "clusters": [[[0, 0], [4, 4]], [[2, 2], [6, 6]]],
    "characters": [
        {"name": "Anna", "mentions": [[0, 0], [4, 4]]},
        {"name": "Ben", "mentions": [[2, 2], [6, 6]]},
    ],
}
RESPONSE = KEY | {"clusters": [[[0, 0], [4, 4], [6, 6]], [[2, 2]]], "characters": []}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "key.jsonl", KEY), write(tmp_path / "response.jsonl", RESPONSE)


def run(key, response, *options):
    """(stdout, stderr) of a run that must succeed."""
    result = CliRunner().invoke(make_app(), ["evaluate", "-k", str(key), "-r", str(response), *options])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def scores(key, response, *options):
    return json.loads(run(key, response, "--json", *options)[0])


def test_a_table_of_all_metrics_in_percent(files):
    out, _ = run(*files)
    rows = [line.split() for line in out.splitlines()]
    assert ["MUC", "50.00", "50.00", "50.00"] in rows
    # B3: recall (1 + 1 + 1/2 + 1/2) / 4, precision (2/3 + 2/3 + 1/3 + 1) / 4
    assert ["B3", "66.67", "75.00", "70.59"] in rows
    assert "singletons kept; bookcoref-data scorer 1" in out.splitlines()[0]


def test_json_carries_numbers_rules_and_books(files):
    found = scores(*files)
    assert found["pooled"]["muc"]["recall_denominator"] == 2
    assert found["rules"]["mode"] == "full"
    assert found["books"][0]["doc_key"] == "b_1"
    assert found["books"][0]["response_flaws"]["singletons"] == 1


@pytest.mark.parametrize(("option", "field", "title"), [
    ("--characters", "characters", "characters, each"),
    ("--breakdown", "breakdown", "by type"),
    ("--errors", "errors", "Kummerfeld"),
])  # fmt: skip
def test_explanations_come_as_tables_and_as_json(files, option, field, title):
    assert title in run(*files, option)[0]
    assert scores(*files, option)[field]
    assert field not in scores(*files)


def test_per_book_and_markdown(files):
    out, _ = run(*files, "--per-book", "--markdown")
    assert "| MUC | 50.00 | 50.00 | 50.00 |" in out
    assert "| b_1 |" in out


@pytest.mark.long
def test_two_systems_are_compared(tmp_path):
    rows = [KEY | {"doc_key": f"b_{i}"} for i in range(12)]
    key = write(tmp_path / "key.jsonl", *rows)
    worse = write(tmp_path / "worse.jsonl", *(RESPONSE | {"doc_key": r["doc_key"]} for r in rows))
    options = ("--compare", str(worse), "--unit", "book", "--bootstrap", "200", "--seed", "3")
    found = scores(key, key, *options)["resampling"]
    muc = found["metrics"][0]
    assert muc["difference"]["value"] == pytest.approx(0.5)
    assert muc["p"] < 0.01
    assert (found["units"], found["samples"], found["seed"]) == (12, 200, 3)
    assert "exchanged" in run(key, key, *options)[0]


def many(tmp_path, count=12):
    """Files of the key and of two systems on `count` books."""
    rows = {"key": KEY, "good": KEY, "worse": RESPONSE}
    return [
        write(tmp_path / f"{name}.jsonl", *(row | {"doc_key": f"b_{i}"} for i in range(count)))
        for name, row in rows.items()
    ]


def test_several_systems_stand_side_by_side(tmp_path):
    key, good, worse = many(tmp_path)
    out, _ = run(key, good, "-r", str(worse), "--macro")
    assert out.splitlines()[1].split() == ["metric", "good", "worse"]
    assert ["MUC", "100.00", "50.00"] in [line.split() for line in out.splitlines()]
    assert "macro average" in out
    found = scores(key, good, "-r", str(worse))
    assert [system["name"] for system in found["systems"]] == ["good", "worse"]
    assert found["systems"][1]["pooled"]["muc"]["f1"] == 0.5


@pytest.mark.long
def test_all_pairs_or_one_system_against_the_others(tmp_path):
    key, good, worse = many(tmp_path)
    third = tmp_path / "third.jsonl"
    third.write_bytes(worse.read_bytes())
    systems = (good, "-r", str(worse), "-r", str(third), "--unit", "book", "--bootstrap", "100")
    found = scores(key, *systems, "--compare", "all")
    pairs = found["comparisons"]
    assert found["groups"]["muc"] == [["good"], ["worse", "third"]]
    assert pairs[0]["resampling"]["metrics"][0]["p_adjusted"] > pairs[0]["resampling"]["metrics"][0]["p"]
    named = [(pair["response"], pair["other"]) for pair in pairs]
    assert named == [("good", "worse"), ("good", "third"), ("worse", "third")]
    against = scores(key, *systems, "--compare", str(third))["comparisons"]
    assert [(pair["response"], pair["other"]) for pair in against] == [("good", "third"), ("worse", "third")]
    two = scores(key, *systems[:3], *systems[5:], "--compare", str(worse))["comparisons"]
    assert [(pair["response"], pair["other"]) for pair in two] == [("good", "worse")]
    with pytest.raises(UsageError, match="two responses"):
        run(key, good, "--compare", "all")


def test_few_units_are_refused_unless_forced(tmp_path):
    key, good, worse = many(tmp_path, 3)
    options = ("--compare", str(worse), "--unit", "book", "--bootstrap", "100")
    with pytest.raises(UsageError, match="--few-units"):
        run(key, good, *options)
    out, err = run(key, good, *options, "--few-units")
    assert "p-values and intervals mean little" in err
    assert "exchanged" in out


def test_the_mean_over_books(tmp_path):
    key = write(tmp_path / "k.jsonl", KEY, KEY | {"doc_key": "b_2"})
    half = write(tmp_path / "r.jsonl", KEY, RESPONSE | {"doc_key": "b_2", "clusters": []})
    found = scores(key, half)
    assert found["macro"]["muc"]["f1"] == 0.5
    assert found["pooled"]["muc"]["f1"] == pytest.approx(2 / 3)
    assert "macro average" in run(key, half, "--macro")[0]


def test_typed_scores_of_two_systems(files, tmp_path):
    labels = write(tmp_path / "l.jsonl", {"doc_key": "b_1", "spans": [[0, 0, "PER"], [2, 2, "ANIMAL"]]})
    out, _ = run(files[0], files[1], "-r", str(files[0]), "--typed", str(labels))
    assert "typed link F1 on gold mentions" in out
    assert ["ANIMAL", "2", "66.67", "100.00"] in [line.split() for line in out.splitlines()]
    found = scores(*files, "--typed", str(labels), "--disagreeing", "override")["typed"]["systems"][0]
    assert found["key_coverage"] == {"mentions": 4, "direct": 2, "propagated": 4}
    assert found["macro_f1"]["mentions"] == pytest.approx((4 / 5 + 2 / 3) / 2)


def test_labels_of_other_tokens_are_moved_or_told_by_the_spans_that_cannot_be(tmp_path):
    text = [["Anna", "saw", "Ben-Ali", "."], ["Ben-Ali", "left", "."]]
    clusters = [[[0, 0]], [[2, 2], [4, 4]]]
    key = write(tmp_path / "k.jsonl", {"doc_key": "b_1", "sentences": text, "clusters": clusters})
    spans = [[0, 0, "PER"], [2, 4, "PER"], [6, 8, "PER"]]  # "Ben-Ali" is three tokens
    blind = write(tmp_path / "blind.jsonl", {"doc_key": "b_1", "spans": spans})
    assert (
        "typed spans that are not inside one sentence of their document: 2"
        in run(key, key, "--typed", str(blind))[1]
    )
    cut = [" ".join(sentence).replace("-", " - ").split() for sentence in text]
    told = write(tmp_path / "told.jsonl", {"doc_key": "b_1", "spans": spans, "sentences": cut})
    assert "moved by their characters, 0 lost" in run(key, key, "--typed", str(told))[1]
    assert scores(key, key, "--typed", str(told))["typed"]["systems"][0]["key_coverage"]["direct"] == 3


def test_labels_that_do_not_meet_the_key_are_told_and_lines_about_a_document_add_up(tmp_path, breaches):
    key = write(tmp_path / "k.jsonl", KEY, KEY | {"doc_key": "c_2"})
    lines = [("b_1", [[0, 0, "PER"]]), ("b_1", [[2, 2, "ANIMAL"], [99, 99, "PER"]]), ("d_3", [[0, 0, "PER"]])]
    labels = write(tmp_path / "l.jsonl", *({"doc_key": name, "spans": spans} for name, spans in lines))
    out, err = run(key, key, "--typed", str(labels))
    assert {"PER", "ANIMAL"} <= {line.split(" ")[0] for line in out.splitlines()}
    for told in (
        "documents of the key without typed spans: c_2",
        "typed spans of documents that are not in the key: d_3",
        "typed spans that are not inside one sentence of their document: 1",
    ):
        assert told in err
    assert not breaches(scores(key, key, "--typed", str(labels)))


def test_typed_scores_in_classes_of_cner_tell_what_none_stands_for(files, tmp_path, breaches):
    labels = write(tmp_path / "l.jsonl", {"doc_key": "b_1", "spans": [[0, 0, "VEH"], [2, 2, "CARDINAL"]]})
    out, err = run(*files, "--typed", str(labels), "--classes", "cner")
    assert "ARTIFACT" in out
    assert "VEH" not in out
    assert "no class of cner stands for, left out: CARDINAL 1" in err
    made = scores(*files, "--typed", str(labels), "--classes", "cner")
    assert not breaches(made)
    assert [one["label"] for one in made["typed"]["systems"][0]["labels"]] == ["ARTIFACT"]


def test_typed_scores_suggest_passages_that_can_be_corrected_and_change_the_scores(tmp_path, breaches):
    """The whole loop: scores, passages, corrections of a person, scores again."""
    story = sample_book().to_record()
    missed = [[m for i, m in enumerate(cluster) if i % 3] for cluster in story.clusters]
    kept = replace(story, clusters=[c for c in missed if c], characters=[], extra={})
    write_documents([story], tmp_path / "gold.jsonl")
    write_documents([kept], tmp_path / "system.jsonl")
    words = ("--typed", "nouns", "--suggest", str(tmp_path / "next.jsonl"), "--passages", "2")
    made = scores(tmp_path / "gold.jsonl", tmp_path / "system.jsonl", *words)
    assert not breaches(made)
    found = made["typed"]
    first, second = found["suggested"]
    assert first["worth"] >= second["worth"] > 0
    assert first["end"] - first["start"] >= 2000
    tokens = [t for s in story.sentences for t in s]
    passages = read_documents(tmp_path / "next.jsonl")
    keys = [f"{story.doc_key}_{p['start']}-{p['end']}" for p in (first, second)]
    assert [p.doc_key for p in passages] == keys
    assert [t for s in passages[0].sentences for t in s] == tokens[first["start"] : first["end"]]
    inside = [(a, b) for c in kept.clusters for a, b in c if first["start"] <= a and b < first["end"]]
    shown = [(a + first["start"], b + first["start"]) for c in passages[0].clusters for a, b in c]
    assert sorted(shown) == sorted(inside)

    # A person corrects the first passage on the page: the file of corrections is what the page saves.
    at, many = first["start"], range(first["start"], first["end"])
    gold = [[Mention(a - at, b - at) for a, b in c if a in many and b in many] for c in story.clusters]
    gold = replace(passages[0], clusters=[c for c in gold if c])
    one = tmp_path / "one.jsonl"
    write_documents(passages[:1], one)
    write_documents([gold], tmp_path / "right.jsonl")
    right, edits, corrected = (tmp_path / name for name in ("right.jsonl", "edits.jsonl", "corrected.jsonl"))
    for verb in (
        ("view", one, "--out", tmp_path / "page.html"), ("edits", "diff", one, right, "--out", edits),
        ("edits", "apply", one, "-e", edits, "--out", corrected),
    ):  # fmt: skip
        done = CliRunner().invoke(make_app(), list(map(str, verb)))
        assert done.exit_code in (0, 1), (verb, done.output, done.exception)
    before = scores(tmp_path / "right.jsonl", one, "--typed", "nouns")["pooled"]["conll"]["f1"]
    after = scores(tmp_path / "right.jsonl", tmp_path / "corrected.jsonl", "--typed", "nouns")
    assert before < 0.95
    assert after["pooled"]["conll"]["f1"] == 1.0
    refused = CliRunner().invoke(make_app(), ["evaluate", "-k", str(one), "-r", str(one), *words[2:]])
    assert isinstance(refused.exception, UsageError)


def test_typed_scores_by_the_noun_list(tmp_path):
    row = KEY | {"sentences": [["The", "old", "king", "."]], "clusters": [[[0, 2]]], "characters": []}
    path = write(tmp_path / "k.jsonl", row)
    found = scores(path, path, "--typed", "nouns")["typed"]["systems"][0]
    assert [one["label"] for one in found["labels"]] == ["PER"]


def test_a_key_on_another_edition_is_named(files, tmp_path):
    moved = write(tmp_path / "moved.jsonl", KEY | {"remapped": True})
    assert "moved to another edition" in run(moved, files[1])[1]
    assert "moved to another edition" not in run(*files)[1]


@pytest.fixture(scope="session")
def breaches():
    """What of a value is against the schema that the documentation publishes."""
    jsonschema = pytest.importorskip("jsonschema")
    text = (Path(__file__).parents[2] / "docs" / "schemas" / "evaluate.json").read_text(encoding="utf-8")
    validator = jsonschema.Draft202012Validator(json.loads(text))
    return lambda value: list(validator.iter_errors(value))


def test_the_json_of_one_system_is_as_documented(files, tmp_path, breaches):
    labels = write(tmp_path / "l.jsonl", {"doc_key": "b_1", "spans": [[0, 0, "PER"]]})
    everything = ("--errors", "--breakdown", "--characters", "--agreement", "--macro", "--typed", str(labels))
    assert breaches(scores(*files, *everything)) == []
    compared = (*files, "--compare", str(files[0]), "--block-size", "1", "--bootstrap", "100", "--few-units")
    found = scores(*compared)
    assert {"resampling", "compare"} <= found.keys()
    assert breaches(found) == []


@pytest.mark.long
def test_the_json_of_several_systems_is_as_documented(tmp_path, breaches):
    key, good, worse = many(tmp_path)
    options = ("--compare", "all", "--unit", "book", "--bootstrap", "100")
    assert breaches(scores(key, good, "-r", str(worse), *options)) == []
    assert breaches(scores(key, good, "-r", str(worse), *options[2:])) == []


def test_two_annotators_agree(files):
    out, _ = run(*files, "--agreement")
    assert ["same", "span", "(F1)", "100.00"] in [line.split() for line in out.splitlines()]


def test_renamed_documents_are_one_note(tmp_path):
    rows = [KEY | {"doc_key": f"k{i}", "sentences": [[f"w{i}"] * 8]} for i in range(5)]
    key = write(tmp_path / "k.jsonl", *rows)
    response = write(tmp_path / "r.jsonl", *(r | {"doc_key": f"x{i}"} for i, r in enumerate(rows)))
    err = run(key, response)[1]
    assert err.count("same tokens") == 1
    assert "5 documents of the response" in err


@pytest.mark.long
def test_pictures_are_written(files, tmp_path):
    pytest.importorskip("matplotlib")
    found = scores(*files, "--plots", str(tmp_path / "pictures"))
    names = sorted(p.name for p in (tmp_path / "pictures").glob("*.*g"))
    assert names == sorted(
        f"{stem}.{suffix}"
        for stem in ("confusion_b_1", "errors", "position_b_1")
        for suffix in ("png", "svg")
    )
    assert len(found["plots"]) == 6


def test_help_explains_every_mode():
    result = CliRunner().invoke(make_app(), ["evaluate", "--help"], terminal_width=100)
    text = " ".join(result.output.split())
    for mode in MODES:
        assert f"{mode}: " in text, mode


def test_notes_go_to_stderr(files, tmp_path):
    extra = write(tmp_path / "more.jsonl", RESPONSE, KEY | {"doc_key": "other"})
    out, err = run(files[0], extra)
    assert "not scored: other" in err
    assert "other" not in out


# --- the bad input a scorer meets -------------------------------------------------------------------


def test_books_in_another_order(tmp_path):
    two = KEY | {"doc_key": "c_2", "sentences": [["x"] * 10]}
    found = scores(write(tmp_path / "k.jsonl", KEY, two), write(tmp_path / "r.jsonl", two, KEY))
    assert found["pooled"]["conll"]["f1"] == 1.0


def test_gzip_zstd_and_crlf_files_score_the_same(files, tmp_path):
    import zstandard

    plain = scores(*files)["pooled"]
    data = files[1].read_bytes()
    packed = {
        "r.jsonl.gz": gzip.compress(data),
        "r.jsonl.zst": zstandard.compress(data),
        "crlf.jsonl": data.replace(b"\n", b"\r\n"),
    }
    for name, content in packed.items():
        (tmp_path / name).write_bytes(content)
        assert scores(files[0], tmp_path / name)["pooled"] == plain, name


def test_an_empty_response_scores_zero(files, tmp_path):
    empty = write(tmp_path / "empty.jsonl", KEY | {"clusters": [], "characters": []})
    assert scores(files[0], empty)["pooled"]["conll"]["f1"] == 0.0


def test_flawed_mentions_are_scored_and_named(files, tmp_path):
    """Repeated, in two clusters, crossing, out of range, singleton: one run, no exception."""
    flawed = [[[0, 0], [0, 0], [2, 2]], [[2, 2], [4, 6], [5, 7]], [[900, 901]]]
    out, err = run(files[0], write(tmp_path / "r.jsonl", RESPONSE | {"clusters": flawed}))
    assert "1 span listed again" in err
    assert "1 span in several clusters" in err
    assert "1 mention outside the text" in err
    assert "MUC" in out


def test_a_key_may_be_conll_and_the_response_jsonl(files, tmp_path):
    rows = ["#begin document (b_1); part 0"]
    cells = {0: "(0)", 2: "(1)", 4: "(0)", 6: "(1)"}
    position = 0
    for sentence in SENTENCES:
        for i, token in enumerate(sentence):
            rows.append(f"b_1\t0\t{i}\t{token}\t{cells.get(position, '-')}")
            position += 1
        rows.append("")
    conll = tmp_path / "key.conll"
    conll.write_text("\n".join([*rows, "#end document", ""]), encoding="utf-8")
    assert scores(conll, files[1])["pooled"] == scores(*files)["pooled"]


def test_a_bracket_that_never_closes_names_file_and_line(files, tmp_path):
    bad = tmp_path / "bad.conll"
    bad.write_text("#begin document (b_1); part 0\nb_1\t0\t0\tAnna\t(0\n\n#end document\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"bad\.conll:2"):
        run(files[0], bad)


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n", b"{not json}\n", b'{"doc_key": "b_1"}\n', b"\xff\xfe\x00"]
)
def test_files_that_are_not_what_they_claim(files, tmp_path, content):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.jsonl"):
        run(files[0], bad)


def test_other_text_is_refused_with_its_place(files, tmp_path):
    other = write(tmp_path / "r.jsonl", RESPONSE | {"sentences": [["Anna", "met", "Bob", "."], SENTENCES[1]]})
    with pytest.raises(DataError, match="token 2 is the first to differ"):
        run(files[0], other)


def test_no_book_in_common_is_wrong_usage(files, tmp_path):
    with pytest.raises(UsageError, match="no document in common"):
        run(files[0], write(tmp_path / "r.jsonl", RESPONSE | {"doc_key": "z", "sentences": [["x"] * 20]}))


def test_a_missing_file_is_named(files, tmp_path):
    with pytest.raises(Exception, match=r"nothing\.jsonl"):
        run(files[0], tmp_path / "nothing.jsonl")


@pytest.mark.long
def test_the_published_score_from_the_shell(shared_data):
    """The gold file against the released predictions: CoNLL F1 62.75, exit code 0, data on stdout."""
    command = [
        *(sys.executable, "-c", "from bookcoref_data.cli import main; main()", "evaluate"),
        *("-k", str(shared_data / "gold" / "animal_farm.conll")),
        *("-r", str(shared_data / "systems" / "finetuned" / "maverick_xl.jsonl")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("CoNLL")] == ["62.75"]
    assert "siddhartha_2500" in done.stderr


@pytest.mark.long
def test_scoring_ordinary_books_needs_no_heavy_package(files):
    """scipy alone would double the time of a run; it is loaded for giant alignments only."""
    arguments = ["evaluate", "-k", str(files[0]), "-r", str(files[1]), "--errors", "--breakdown"]
    heavy = {"scipy", "pandas", "pyarrow", "matplotlib", "datasets", "spacy"}
    code = (
        "import sys; from bookcoref_data.cli.app import make_app; "
        f"make_app()({arguments!r}, standalone_mode=False); "
        f"print(sorted({{m.split('.')[0] for m in sys.modules}} & {heavy!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
