"""The verb `annotate`, as a person runs it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import BookcorefError, MissingFileError, UsageError

STORY = (
    "Anna Hill opened the door, and Mr. Ford came in.\n\n“You are late,” said Anna.\n\n"
    "“I missed my train, Anna,” replied Mr. Ford. He sat down. Anna Hill laughed.\n\n“Sit,” said Anna Hill.\n\n"  # noqa: E501
    "“Thank you,” said Mr. Ford. Anna smiled, and Mr. Ford smiled. Mr. Ford said nothing. “Well,” said Anna.\n"  # noqa: E501
)


@pytest.fixture
def story(tmp_path):
    (tmp_path / "novel.txt").write_text(STORY, encoding="utf-8")
    (tmp_path / "cast.txt").write_text("Anna Hill; Nan [f]\nMr. Ford\nNobody Else\n", encoding="utf-8")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(make_app(), ["annotate", *map(str, arguments)])


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_novel_and_a_cast_give_a_folder_that_everything_reads(story):
    out = story / "out"
    result = run(story / "novel.txt", "-c", story / "cast.txt", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)["books"][0]
    assert summary["steps"] == ["link", "filter", "windows", "groups"]
    assert any("'Nobody Else' does not occur" in n for n in summary["notes"])
    (record,) = lines(out / "annotation.jsonl")
    assert set(record) >= {"doc_key", "gutenberg_key", "sentences", "clusters", "characters"}
    tokens = [t for s in record["sentences"] for t in s]
    provenance = lines(out / "provenance.jsonl")
    for row in provenance:
        if not row.get("dropped"):
            assert row["text"] == " ".join(t for t in tokens[row["start"] : row["end"] + 1] if t != "\n")
            assert row["step"]
            assert row["rule"]
    spans = {(c["name"], *m) for c in record["characters"] for m in c["mentions"]}
    assert spans == {(r["character"], r["start"], r["end"]) for r in provenance if not r.get("dropped")}
    quotes = lines(out / "quotes.jsonl")
    assert [q["speaker"] for q in quotes][:2] == ["Anna Hill", "Mr. Ford"]
    assert all(q["text"].startswith(("“", '"')) for q in quotes)


def test_the_folder_loads_as_a_data_set(story):
    pytest.importorskip("datasets")
    from datasets import load_dataset

    run(story / "novel.txt", "-c", story / "cast.txt", "--out", story / "out")
    full = load_dataset(str(story / "out" / "dataset"), "full", split="test", cache_dir=str(story / "hf"))
    assert [c["name"] for c in full[0]["characters"]] == ["Anna Hill", "Mr. Ford"]


def test_a_run_is_resumed_from_its_states(story):
    out = story / "out"
    run(story / "novel.txt", "-c", story / "cast.txt", "--out", out, "--steps", "link,filter")
    assert sorted(p.name for p in (out / "states").iterdir()) == ["novel.filter.json", "novel.link.json"]
    marker = out / "states" / "novel.filter.json"
    saved = json.loads(marker.read_text(encoding="utf-8"))
    saved["notes"] = ["kept from before"]
    marker.write_text(json.dumps(saved), encoding="utf-8")
    result = run(story / "novel.txt", "-c", story / "cast.txt", "--out", out, "--resume", "--json")
    assert "kept from before" in json.loads(result.stdout)["books"][0]["notes"]


def test_a_changed_cast_is_not_resumed(story):
    out = story / "out"
    run(story / "novel.txt", "-c", story / "cast.txt", "--out", out)
    (story / "cast.txt").write_text("Anna Hill\n", encoding="utf-8")
    result = run(story / "novel.txt", "-c", story / "cast.txt", "--out", out, "--resume", "--json")
    assert list(json.loads(result.stdout)["books"][0]["characters"]) == ["Anna Hill"]


def test_the_report_has_a_row_per_step(story):
    run(story / "novel.txt", "-c", story / "cast.txt", "--out", story / "out")
    gold = story / "out" / "annotation.jsonl"
    result = run(gold, "--report", gold, "--json")
    rows = json.loads(result.stdout)["report"]["novel"]
    assert [r["configuration"] for r in rows] == [
        "pattern matching", "link", "link + filter", "link + filter + windows",
        "link + filter + windows + groups",
    ]  # fmt: skip
    assert rows[-1]["CoNLL"] == 100.0
    assert rows[0]["R"] < rows[1]["R"] < rows[3]["R"] <= rows[4]["R"]
    assert rows[0]["P"] == 100.0


def test_a_proposed_cast_can_be_used_as_it_is(story):
    result = run(story / "novel.txt", "--propose-cast")
    assert "Anna Hill; Anna" in result.stdout
    assert "Mr. Ford" in result.stdout
    (story / "proposed.txt").write_text(result.stdout, encoding="utf-8")
    again = run(story / "novel.txt", "-c", story / "proposed.txt", "--json")
    assert set(json.loads(again.stdout)["books"][0]["characters"]) == {"Anna Hill", "Mr. Ford"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "o"], "no cast"),
        (["-c", "cast.txt"], "nowhere to write"),
        (["-c", "missing.txt", "--out", "o"], "cannot read the cast file"),
        (["-c", "cast.txt", "--out", "o", "--narrator", "Ishmael"], "no character is called 'Ishmael'"),
        (["-c", "cast.txt", "--out", "o", "--steps", "groups"], "needs 'windows' first"),
        (["-c", "cast.txt", "--out", "o", "--backend", "crystal"], "no backend"),
        (["-c", "cast.txt", "--out", "o", "--engine", "datatrove"], "are for many books"),
        (["-c", "cast.txt", "--out", "o", "--slurm", "long"], "does nothing without --engine datatrove"),
    ],
)
def test_wrong_usage_is_explained(story, monkeypatch, arguments, words):
    monkeypatch.chdir(story)
    result = run("novel.txt", *arguments)
    assert isinstance(result.exception, UsageError | MissingFileError)
    assert words in str(result.exception)


def test_a_cast_is_proposed_and_used_in_one_go(story):
    out = story / "out"
    result = run(story / "novel.txt", "--cast", "auto", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    assert set(json.loads(result.stdout)["books"][0]["characters"]) == {"Anna Hill", "Mr. Ford"}
    assert "cast proposed from the book: 2 characters" in json.loads(result.stdout)["books"][0]["notes"]


def test_casts_of_a_folder_are_written_and_never_overwritten(story):
    books, casts = story / "books", story / "casts"
    books.mkdir()
    (story / "novel.txt").rename(books / "lamp.txt")
    assert run(books, "--propose-cast", "--out", casts).exit_code == 0
    text = (casts / "lamp.txt").read_text(encoding="utf-8")
    assert "Anna Hill; Anna" in text
    assert "times: " in text
    (casts / "lamp.txt").write_text("Anna Hill\n", encoding="utf-8")
    again = run(books, "--propose-cast", "--out", casts)
    assert isinstance(again.exception, UsageError)
    assert (casts / "lamp.txt").read_text(encoding="utf-8") == "Anna Hill\n"


def test_an_annotation_is_annotated_again_with_the_same_result(story):
    """Aliases, hints, narrators and characters that never occur are stored beside the clusters."""
    first, second = story / "first", story / "second"
    (story / "cast.txt").write_text("Anna Hill; the guest [f]\nMr. Ford\nNobody Else\n", encoding="utf-8")
    text = (story / "novel.txt").read_text(encoding="utf-8") + "\nI saw the guest, and my heart stood.\n"
    (story / "novel.txt").write_text(text, encoding="utf-8")
    run(story / "novel.txt", "-c", story / "cast.txt", "--narrator", "Mr. Ford", "--out", first)
    assert run(first / "annotation.jsonl", "--out", second).exit_code == 0
    for name in ("annotation.jsonl", "provenance.jsonl", "quotes.jsonl", "texts/novel.txt"):
        assert (second / name).read_bytes() == (first / name).read_bytes(), name
    (record,) = lines(second / "annotation.jsonl")
    assert record["cast"][0] == {"name": "Anna Hill", "aliases": ["the guest"], "gender": "f"}
    assert record["narrators"] == ["Mr. Ford"]


def test_a_record_without_clusters_is_a_text(story):
    record = {"doc_key": "a_0", "gutenberg_key": "0", "sentences": [["Anna", "slept", "."]]}
    (story / "a.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (story / "one.txt").write_text("Anna\n", encoding="utf-8")
    result = run(story / "a.jsonl", "-c", story / "one.txt", "--json")
    assert json.loads(result.stdout)["books"][0]["characters"] == {"Anna": 1}


def test_a_text_of_two_words_says_why_nothing_came_of_it(story):
    (story / "two.txt").write_text("She slept.\n", encoding="utf-8")
    result = run(story / "two.txt", "-c", story / "cast.txt", "--json")
    notes = json.loads(result.stdout)["books"][0]["notes"]
    assert any("only 2 words" in note for note in notes)


def test_a_name_that_never_occurs_has_the_nearest_that_do(story):
    (story / "cast.txt").write_text("Hanna Hill\nMr. Fordyce\n", encoding="utf-8")
    result = run(story / "novel.txt", "-c", story / "cast.txt", "--json")
    notes = json.loads(result.stdout)["books"][0]["notes"]
    assert any("'Mr. Fordyce' does not occur in the text; the nearest: Ford (" in note for note in notes)


def test_corrections_are_counted_and_those_left_out_are_named(story):
    edits = story / "edits.jsonl"
    renamed = {"op": "rename", "character": "Anna Hill", "name": "Anna of the hill"}
    unknown = {"op": "rename", "character": "Nobody at all", "name": "Somebody"}
    edits.write_text("".join(json.dumps(e) + "\n" for e in (renamed, unknown)), encoding="utf-8")
    common = (story / "novel.txt", "-c", story / "cast.txt", "--edits", edits)
    result = run(*common, "--out", story / "out")
    assert result.exit_code == 1, result.output
    assert "novel: 1 correction kept, 1 left out" in result.output
    assert "edit 2 (rename), left out: no character is called 'Nobody at all'" in result.output
    (record,) = lines(story / "out" / "annotation.jsonl")
    assert "Anna of the hill" in [c["name"] for c in record["characters"]]
    edits.write_text(json.dumps(renamed) + "\n", encoding="utf-8")
    again = run(*common, "--out", story / "again")
    assert again.exit_code == 0
    assert "novel: 1 correction kept, 0 left out" in again.output


def test_corrections_that_change_much_elsewhere_ask_first(story):
    edits, out = story / "edits.jsonl", story / "out"
    common = (story / "novel.txt", "-c", story / "cast.txt")
    assert run(*common, "--out", out).exit_code == 0
    before = {p.name: p.read_bytes() for p in out.iterdir() if p.is_file()}
    names = [c["name"] for c in lines(out / "annotation.jsonl")[0]["characters"]]
    renamed = {"op": "rename", "character": names[0], "name": "Zenobia", "confirmed": True}
    edits.write_text(json.dumps(renamed) + "\n", encoding="utf-8")
    shown = run(*common, "--edits", edits, "--dry-run")
    assert shown.exit_code == 0, shown.output
    with pytest.raises(UsageError, match="--dry-run"):
        raise run(*common, "--dry-run").exception

    def much(effects):
        raise BookcorefError("much changed", hint="add --accept")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bookcoref_data.api.annotating._require_little", much)
        assert run(*common, "--edits", edits, "--dry-run").exit_code == 0
        assert run(*common, "--edits", edits, "--out", out).exit_code == 1
    assert {p.name: p.read_bytes() for p in out.iterdir() if p.is_file()} == before
    accepted = run(*common, "--edits", edits, "--out", out, "--accept")
    assert accepted.exit_code == 0, accepted.output
    assert "Zenobia" in [c["name"] for c in lines(out / "annotation.jsonl")[0]["characters"]]


def test_one_changed_mention_in_a_hundred_is_much():
    from bookcoref_data.api.annotating import _require_little
    from bookcoref_data.edits import Effect

    _require_little([Effect("Anna", 100, 101, 1, 10, 10, 0), Effect("New", 0, 7, 7, 0, 3, 3)])
    for much in (Effect("Anna", 100, 98, 2, 0, 0, 0), Effect("Anna", 9, 9, 0, 20, 21, 1)):
        with pytest.raises(BookcorefError, match="Anna"):
            _require_little([much])
    seven = [Effect(f"P{n}", 100, 98, 2, 0, 0, 0) for n in range(7)]
    with pytest.raises(BookcorefError, match="P4: 2 of 100 mentions and 2 others"):
        _require_little(seven)
