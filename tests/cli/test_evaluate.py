"""`bookcoref-data evaluate` from the outside: files in, tables or JSON out, and what it refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, FormatError, UsageError
from bookcoref_data.evaluate import MODES

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


def test_two_systems_are_compared(tmp_path):
    rows = [KEY | {"doc_key": f"b_{i}"} for i in range(12)]
    key = write(tmp_path / "key.jsonl", *rows)
    worse = write(tmp_path / "worse.jsonl", *(RESPONSE | {"doc_key": r["doc_key"]} for r in rows))
    options = ("--compare", str(worse), "--unit", "book", "--bootstrap", "200", "--seed", "3")
    found = scores(key, key, *options)["resampling"]
    muc = found["metrics"][0]
    assert muc["difference"]["value"] == pytest.approx(0.5)
    assert muc["p_randomisation"] < 0.01
    assert (found["units"], found["samples"], found["seed"]) == (12, 200, 3)
    assert "p randomisation" in run(key, key, *options)[0]


def test_pictures_are_written(files, tmp_path):
    pytest.importorskip("matplotlib")
    found = scores(*files, "--plots", str(tmp_path / "pictures"))
    names = sorted(p.name for p in (tmp_path / "pictures").iterdir())
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
    assert "1 spans listed again" in err
    assert "1 spans in several clusters" in err
    assert "1 mentions outside the text" in err
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
