"""`create` on a small mirror: match, clean, tokenise, annotate with a backend of the test, write."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("gutenbergpy")
pytest.importorskip("polars")

import bookcoref_data as bc
from bookcoref_data.annotation.backends import BACKENDS
from bookcoref_data.annotation.state import State
from bookcoref_data.characters.match import MatchSettings
from bookcoref_data.characters.table import CastRow, write_table
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.formats.folder import iter_folder, read_build
from bookcoref_data.sources.store import Store
from bookcoref_data.stitch.container import read_container, write_container
from bookcoref_data.workflows import create
from bookcoref_data.workflows.annotate import Annotated
from bookcoref_data.workflows.annotate_many import release_backends
from bookcoref_data.workflows.casts import Repair
from bookcoref_data.workflows.create import build_silver, load_plan

PROSE = "Ada Brook baked the bread of the village before the sun was up, and\nTom Reed ate it.\n\n"
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/">
<pgterms:ebook rdf:about="ebooks/{id}"><dcterms:title>{title}</dcterms:title>
<dcterms:creator><pgterms:agent><pgterms:name>Holt, Mira</pgterms:name></pgterms:agent></dcterms:creator>
<dcterms:type><rdf:Description><rdf:value>Text</rdf:value></rdf:Description></dcterms:type>
<dcterms:language><rdf:Description><rdf:value>en</rdf:value></rdf:Description></dcterms:language>
</pgterms:ebook></rdf:RDF>"""
BOOKS = {900001: "The Lamp Road", 900002: "The Inn", 900003: "A Ferry"}
NAMES = ("Ada Brook", "Tom Reed", "Old Tam", "Sam", "Bib")


@pytest.fixture
def world(tmp_path):
    """A mirror with two of three books, a catalogue of three, a cast table, and an empty cache."""
    for number in (900001, 900002):
        folder = tmp_path / "mirror/cache/epub" / str(number)
        folder.mkdir(parents=True)
        title = BOOKS[number]
        (folder / f"pg{number}.txt").write_text(
            f"The Project Gutenberg EBook of {title}, by Mira Holt\n\n"
            "This eBook is for the use of anyone anywhere at no cost and with almost no restrictions "
            "whatsoever. You may copy it, give it away or re-use it under the terms of the Project Gutenberg "
            "License included with this eBook or online at www.gutenberg.org\n\n"
            f"Title: {title}\n\nAuthor: Mira Holt\n\n"
            f"*** START OF THIS PROJECT GUTENBERG EBOOK {title.upper()} ***\n\n\n"
            f"CHAPTER I\n\n\n{PROSE * 40}\n\n"
            f"*** END OF THIS PROJECT GUTENBERG EBOOK {title.upper()} ***\n" + "licence\n" * 50,
            encoding="utf-8",
        )
    with tarfile.open(tmp_path / "rdf-files.tar.bz2", "w:bz2") as tar:
        for number, title in BOOKS.items():
            data = RDF.format(id=number, title=title).encode()
            member = tarfile.TarInfo(f"cache/epub/{number}/pg{number}.rdf")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    write_table(tmp_path / "casts.jsonl", [
        CastRow("shmoop", title, title, name, author="Mira Holt")
        for title in BOOKS.values() for name in NAMES
    ])  # fmt: skip
    return tmp_path


def settings(world, **more):
    return {"out": world / "out", "cache_dir": world / "cache", "mirror": str(world / "mirror"),
            "catalogue": world / "rdf-files.tar.bz2", "offline": True, "jobs": 1, **more}  # fmt: skip


def plan(world, **more):
    return replace(load_plan(), **{"casts": (world / "casts.jsonl",), "annotate_recipe": None, **more})


def test_books_are_built_and_one_without_text_is_reported(world):
    report = build_silver(plan(world), **settings(world))
    assert report.built == ["the_lamp_road_900001", "the_inn_900002"]
    assert list(report.failed) == ["a_ferry_900003"]
    assert report.failed["a_ferry_900003"].exit_code == 3
    record = read_build(world / "out")
    assert len(record.books) == 2
    assert "a_ferry_900003" in record.missing
    assert {(book.sentences, book.split) for book in record.books} == {(41, "train")}
    matches = (world / "out-matches/matches.tsv").read_text(encoding="utf-8")
    assert "900003" in matches


CLOSED = "It is under copyright by the heirs of Mira Holt; all rights reserved."


def test_the_card_says_what_the_headers_say_of_rights(world):
    """The same question as `publish` asks, by the same function."""
    free = build_silver(plan(world), **settings(world))
    assert {key: rights.state for key, rights in free.texts.items()} == dict.fromkeys(
        ["the_lamp_road_900001", "the_inn_900002"], "public domain"
    )
    assert "**texts**: public domain in the United States" in (world / "out/README.md").read_text()
    path = world / "mirror/cache/epub/900001/pg900001.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Title: ", f"{CLOSED}\n\nTitle: "), encoding="utf-8")
    closed = build_silver(plan(world), **settings(world))
    assert closed.texts["the_lamp_road_900001"].state == "restricted"
    assert closed.to_dict()["texts"]["the_lamp_road_900001"]["state"] == "restricted"
    said = "Except: its header says that it is in copyright (pg900001.txt)"
    assert said in (world / "out/README.md").read_text()
    path.write_text(text.replace("This eBook is for the use of anyone", "Nobody"), encoding="utf-8")
    build_silver(plan(world), **settings(world))
    assert "Except: the header of pg900001.txt says nothing" in (world / "out/README.md").read_text()


def test_a_second_build_reuses_and_a_changed_setting_does_not(world):
    first = build_silver(plan(world), **settings(world))
    again = build_silver(plan(world), **settings(world))
    assert (len(first.built), len(again.built), len(again.reused)) == (2, 0, 2)
    assert again.record.digest == first.record.digest
    other = build_silver(plan(world, paragraphs="all"), **settings(world))
    assert (len(other.built), len(other.reused)) == (2, 0)
    assert other.record.digest != first.record.digest


def test_books_are_made_again_when_other_code_makes_their_tokens(world, monkeypatch):
    build_silver(plan(world), **settings(world))
    monkeypatch.setattr(create, "reader_version", lambda: "other")
    assert len(build_silver(plan(world), **settings(world)).built) == 2


def test_the_annotation_comes_from_the_backend_of_the_recipe(world, tmp_path, monkeypatch):
    recipe = tmp_path / "naming.toml"
    recipe.write_text('name = "naming"\nbackend = "naming"\nsteps = ["link"]\n', encoding="utf-8")
    made = []
    monkeypatch.setitem(BACKENDS, "naming", "bookcoref_data.workflows.create:_naming_backend")
    monkeypatch.setattr(create, "_naming_backend", lambda plan: made.append(plan) or Naming(), raising=False)
    release_backends()
    from dataclasses import replace

    report = build_silver(replace(plan(world), annotate_recipe=recipe), **settings(world))
    assert [facts["mentions"] for facts in report.books] == [80, 80]
    assert [facts["clusters"] for facts in report.books] == [2, 2]
    assert len(made) == 1
    row = json.loads(next((world / "cache/silver").glob("*/facts.json")).read_text())
    assert row["characters"] == 5
    facts = report.books[0]
    assert facts["cast"]["source"] == "shmoop"
    assert facts["match"]["rule"] == "exact"
    assert facts["plausibility"]["absent"] == ["Old Tam", "Sam", "Bib"]
    assert "3 of 5 names have no mention" in facts["plausibility"]["warnings"][0]
    card = (world / "out/README.md").read_text(encoding="utf-8")
    assert "cast from shmoop The Lamp Road" in card
    assert "3 of 5 names have no mention" in card
    release_backends()


def test_the_open_recipe_proposes_casts_and_leaves_out_what_looks_wrong(
    world, tmp_path, monkeypatch, fits_schema
):
    recipe = tmp_path / "naming.toml"
    recipe.write_text('name = "naming"\nbackend = "naming"\nsteps = ["link"]\n', encoding="utf-8")
    monkeypatch.setitem(BACKENDS, "naming", "bookcoref_data.workflows.create:_naming_backend")
    monkeypatch.setattr(create, "_naming_backend", lambda plan: Naming(), raising=False)
    casts = iter([(("Ada Brook", ("Ada",)), ("Tom Reed", ())), (("Ada Brook", ()), ("Sam", ()), ("Bib", ()))])
    monkeypatch.setattr(create, "_proposed", lambda *_: next(casts))
    release_backends()
    from dataclasses import replace

    shipped = load_plan(Path("open-silver.toml"))
    assert (shipped.propose, shipped.licence, shipped.casts, len(shipped.books)) == (
        True,
        "CC-BY-4.0",
        (),
        52,
    )
    ours = replace(shipped, books=("900001", "900002"), annotate_recipe=recipe)
    report = build_silver(ours, **settings(world))
    fits_schema("create", report.to_dict())
    assert [facts["doc_key"] for facts in report.books] == ["the_lamp_road_900001"]
    assert "2 of 3 names have no mention" in report.left_out["the_inn_900002"]
    record = read_build(world / "out")
    assert record.missing["the_inn_900002"].startswith("looks implausible: 2 of 3 names")
    assert record.source["books"]["the_lamp_road_900001"]["cast"]["source"] == "proposed"
    assert record.source["licence"] == "CC-BY-4.0"

    # It goes up whole: texts by their header, casts from the books, an open licence.
    made = bc.publish(
        world / "out", "me/open", mirror=world / "mirror", cache_dir=world / "cache", dry_run=True
    )
    assert not made.publication.standoff
    assert "casts: proposed from the book itself (1 book)" in made.card
    assert "not in this release: `the_inn_900002`: looks implausible" in made.card
    release_backends()


@pytest.fixture
def silver(world, tmp_path, monkeypatch):
    """An annotated data set of one book, and its packs."""
    recipe = tmp_path / "naming.toml"
    recipe.write_text('name = "naming"\nbackend = "naming"\nsteps = ["link"]\n', encoding="utf-8")
    monkeypatch.setitem(BACKENDS, "naming", "bookcoref_data.workflows.create:_naming_backend")
    monkeypatch.setattr(create, "_naming_backend", lambda plan: Naming(), raising=False)
    release_backends()
    build_silver(plan(world, annotate_recipe=recipe, licence="CC0-1.0"), **settings(world, books=("900001",)))
    bc.publish(
        world / "out", "me/open", standoff=True, licence="CC0-1.0", mirror=world / "mirror",
        cache_dir=world / "cache", dry_run=True, out=world / "packs",
    )  # fmt: skip
    release_backends()
    return world


def rebuilt(world, **more):
    return bc.rebuild(
        world / "again", release=world / "packs", mirror=world / "mirror", cache_dir=world / "cache",
        offline=True, jobs=1, **more,
    )  # fmt: skip


def test_packs_give_back_speakers_scores_and_reasons(silver):
    assert rebuilt(silver).ok
    made, again = (silver / name / "reasons.jsonl" for name in ("out", "again"))
    assert made.read_bytes() == again.read_bytes()
    assert read_build(silver / "out").digest == read_build(silver / "again").digest
    assert bc.verify(silver / "again").ok
    assert bc.verify(silver / "packs").ok
    for folder in ("out", "again"):
        (book,) = bc.load(silver / folder)
        assert [(q.speaker, q.addressees, q.score) for q in book.quotes] == [
            ("Ada Brook", ("Bib",), 0.75), (None, (), 0.0),
        ]  # fmt: skip
        assert {(m.character, m.rule, m.score) for m in book.mentions} == {
            ("Ada Brook", "name", 0.9), ("Tom Reed", "name", 0.775),
        }  # fmt: skip
    report = bc.convert(silver / "again", silver / "again.jsonl")
    assert json.loads((silver / "again.jsonl").read_text())["quotations"][0]["speaker"] == "Ada Brook"
    assert report.to_dict()


def test_a_changed_reason_is_noticed(silver):
    path = silver / "out/reasons.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("0.75", "0.76"), encoding="utf-8")
    problems = bc.verify(silver / "out").problems
    assert any("reasons_sha256" in problem for problem in problems)
    assert any("reasons.jsonl was changed" in problem for problem in problems)
    path.write_text("{}\n", encoding="utf-8")
    assert not bc.verify(silver / "out").ok
    path.unlink()
    assert any("reasons.jsonl is missing" in problem for problem in bc.verify(silver / "out").problems)


@pytest.mark.parametrize(
    "forged",
    [
        b"", b"\xff", b"{", b"[" * 100_000, b"0" * 1000, b'{"doc_key": "the_lamp_road_900001"}',
        (b"0.75", b"NaN"), (b"0.75", b"2"), (b'"steps":[3,', b'"steps":[9999,'),
        (b'"speakers":[0,', b'"speakers":[9,'), (b'"mentions":[', b'"mentions":[0,'),
        (b'"lengths":[', b'"lengths":[1,'), (b"the_lamp", b"the_damp"),
    ],
)  # fmt: skip
def test_forged_reasons_in_a_pack_are_refused(silver, forged):
    (path,) = (silver / "packs").glob("*.pack")
    sections = read_container(path.read_bytes())
    whole = sections["WHYS"]
    sections["WHYS"] = whole.replace(*forged) if isinstance(forged, tuple) else forged
    assert sections["WHYS"] != whole
    path.write_bytes(write_container(sections))
    (silver / "packs/index.json").unlink()
    if forged:
        with pytest.raises(DataError):
            rebuilt(silver)
        assert not (silver / "again").exists()
    else:  # a pack of before, or of somebody who keeps them back
        assert rebuilt(silver).ok
        assert not (silver / "again/reasons.jsonl").exists()


def test_a_book_carried_over_leaves_its_reasons(silver):
    path = silver / "mirror/cache/epub/900001/pg900001.txt"
    path.write_text(
        path.read_text(encoding="utf-8").replace("Tom Reed ate", "Tom Reed had", 1), encoding="utf-8"
    )
    (silver / "packs/index.json").unlink()
    assert not rebuilt(silver).ok
    assert not (silver / "again/reasons.jsonl").exists()
    assert "reasons count the released tokens" in (silver / "again/README.md").read_text(encoding="utf-8")


def test_a_cast_is_proposed_from_the_names_of_the_book(world):
    from bookcoref_data.books import Book

    sentences = [
        ["Mrs.", "Brook", "said", "that", "Tom", "Reed", "was", "late", "."],
        ["Tom", "Reed", "laughed", "."],
    ] * 8
    names = [name for name, _ in create._proposed(Book.make("book_1", sentences), None)]
    assert any("Reed" in name for name in names)


class Naming:
    """A backend whose only step marks the names themselves."""

    name = "naming"

    def step(self, name):
        return self

    def units(self, job):
        return 1

    def run(self, job, state, progress):
        from bookcoref_data.annotation.state import Marked, Quote

        marked = []
        tokens = job.book.tokens
        for index, name in enumerate(job.cast.names):
            words = tuple(name.split())
            marked += [
                Marked(i, i + len(words) - 1, index, "link", "name", 0.9 - index / 8, "name")
                for i in range(len(tokens))
                if tokens[i : i + len(words)] == words
            ]
        quotes = [Quote(3, 9, 0, (len(job.cast.names) - 1,), "said", 0.75), Quote(12, 15)]
        return state.after("link", mentions=tuple(sorted(marked)), quotes=quotes)

    def close(self):
        pass


def test_only_the_books_asked_for(world):
    report = build_silver(plan(world), **settings(world, books=("900002",)))
    assert [facts["gutenberg_id"] for facts in report.books] == ["900002"]
    with pytest.raises(UsageError, match="77"):
        build_silver(plan(world), **settings(world, books=("77",)))


def test_without_lists_and_with_a_wrong_recipe_it_says_what_is_needed(world, tmp_path):
    with pytest.raises(UsageError, match="character lists"):
        build_silver(load_plan(), **settings(world))
    for text in ("[clean]\ncolour = 1\n", "[tokenise]\nparagraphs = 'some'\n", "[colour]\n"):
        recipe = tmp_path / "wrong.toml"
        recipe.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError):
            load_plan(recipe)


def test_a_foreign_folder_is_not_overwritten(world):
    (world / "out").mkdir()
    (world / "out/mine.txt").write_text("mine")
    with pytest.raises(UsageError):
        build_silver(plan(world), **settings(world))
    assert (world / "out/mine.txt").read_text() == "mine"


def run(*arguments):
    return CliRunner().invoke(make_app(), list(map(str, arguments)), catch_exceptions=False)


def test_the_verbs_match_clean_and_build_on_the_command_line(world, fits_schema):
    common = ["--cache-dir", world / "cache", "--offline"]
    done = run("match", world / "casts.jsonl", "--catalogue", world / "rdf-files.tar.bz2", "--out",
               world / "matches", "--json", *common)  # fmt: skip
    facts = json.loads(done.stdout)
    fits_schema("match", facts)
    assert facts["matched"] == 3
    assert facts["by_rule"] == {"exact": 3}
    casts = world / "matches/casts.jsonl"
    assert len(casts.read_text().splitlines()) == 3

    done = run("clean", "900001", "--mirror", world / "mirror", "--out", world / "clean", "--map",
               world / "clean", "--json", *common)  # fmt: skip
    report = json.loads(done.stdout)[0]
    text = (world / "clean/pg900001.txt").read_text(encoding="utf-8")
    assert text.startswith("CHAPTER I\n\nAda Brook")
    assert "licence" not in text
    runs = json.loads((world / "clean/pg900001.map.json").read_text())["runs"]
    assert sum(length for _, _, length in runs) == report["kept_characters"] == len(text) - 1

    done = run("clean", world / "mirror/cache/epub/900001/pg900001.txt", "--show-cuts")
    assert "footer" in done.stdout
    done = run("create", "--matched", casts, "--mirror", world / "mirror", "--no-annotation", "--out",
               world / "out", "-j", 1, "--json", *common)  # fmt: skip
    assert done.exit_code == 1
    fits_schema("create", json.loads(done.stdout))
    assert set(json.loads(done.stdout)["failed"]) == {"a_ferry_900003"}

    # A run that would lose a book leaves the folder as it is, unless --replace is given.
    before = (world / "out/build.json").read_bytes()
    with pytest.raises(UsageError, match="would lose the book"):
        run("create", "--matched", casts, "--mirror", world / "mirror", "--no-annotation", "--out",
            world / "out", "-j", 1, "--book", "900001", "--json", *common)  # fmt: skip
    assert (world / "out/build.json").read_bytes() == before


def test_overrides_of_a_recipe_survive_a_new_run(world):
    overrides = world / "overrides.toml"
    overrides.write_text('[[override]]\ntitle = "A Ferry"\nreason = "no book for us"\n', encoding="utf-8")
    for _ in range(2):
        done = run("match", world / "casts.jsonl", "--catalogue", world / "rdf-files.tar.bz2",
                   "--out", world / "matches", "--overrides", overrides,
                   "--cache-dir", world / "cache", "--json")  # fmt: skip
        facts = json.loads(done.stdout)
        assert facts["matched"] == 2
        assert facts["unmatched"][0]["reason"] == "left out: no book for us"


def test_what_is_prepared_of_the_catalogue_is_kept_and_gives_the_same(world, monkeypatch):
    from bookcoref_data.workflows import match as workflow

    def matched():
        return workflow.run_match([world / "casts.jsonl"], Store.open(world / "cache"),
                                  world / "rdf-files.tar.bz2", MatchSettings(), (), offline=True)  # fmt: skip

    first = matched()
    monkeypatch.setattr(workflow, "prepare", None)  # a second time it is not made again
    assert matched() == first


def test_a_reviewed_table_is_read_back_as_overrides(world):
    common = ("--catalogue", world / "rdf-files.tar.bz2", "--cache-dir", world / "cache", "--json")
    run("match", world / "casts.jsonl", "--out", world / "matches", *common)
    table = world / "matches/works.tsv"
    lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    assert lines[0][:2] == ["decision", "why"]
    row = next(line for line in lines if "A Ferry" in line)
    for decision, matched, reason in (("none", 2, "left out: not ours"), ("900001", 3, "")):
        row[:2] = decision, "not ours"
        table.write_text("\ufeff" + "".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
        done = run("match", world / "casts.jsonl", "--out", world / "again", "--overrides", table, *common)
        facts = json.loads(done.stdout)
        assert facts["matched"] == matched
        assert [work["reason"] for work in facts["unmatched"]] == [reason] * (3 - matched)
    row[0] = "perhaps"
    table.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(UsageError, match="decision = 'perhaps'"):
        run("match", world / "casts.jsonl", "--out", world / "again", "--overrides", table, *common)


def test_what_to_review_stands_beside_the_data_set(world):
    build_silver(plan(world), **settings(world))
    names = {path.name for path in (world / "out-matches").iterdir()}
    assert names == {"matches.tsv", "works.tsv", "casts.jsonl", "review.html", "files.json"}


def test_the_narrator_of_the_recipe_is_given_to_the_annotation(world, monkeypatch):
    asked = []

    def annotate(source, cast, plan, narrators=(), backend=None):
        asked.append((source.book.doc_key, *narrators, len(source.chapters)))
        state = State(source.book.doc_key, source.book.tokens_sha256(), cast.names)
        return Annotated(state, source.book, source=source)

    monkeypatch.setattr(create, "annotate_book", annotate)
    recipe = world / "own.toml"
    told = '[annotate]\nrecipe = "embedded.toml"\n[narrators]\n900001 = "Ada Brook"\n'
    told += 'the_inn_900002 = ["Sam", "Bib:1"]\n'
    recipe.write_text(told, encoding="utf-8")
    told = load_plan(recipe)
    assert told.narrators == {"900001": ("Ada Brook",), "the_inn_900002": ("Sam", "Bib:1")}
    own = replace(plan(world), annotate_recipe=told.annotate_recipe, narrators=told.narrators)
    report = build_silver(own, **settings(world))
    assert sorted(asked) == [("the_inn_900002", "Sam", "Bib:1", 1), ("the_lamp_road_900001", "Ada Brook", 1)]
    assert [facts["narrators"] for facts in report.books] == [["Ada Brook"], ["Sam", "Bib:1"]]
    recipe.write_text("[narrators]\n900001 = 3\n")
    with pytest.raises(UsageError, match="narrators"):
        load_plan(recipe)


def test_a_name_that_the_text_has_in_another_form_is_noticed():
    from bookcoref_data.books import Book
    from bookcoref_data.workflows.plausibility import plausibility, summary_line

    tom = ("Tom", [(6 * n + 4, 6 * n + 4) for n in range(12)])
    book = Book.make("a_0", [["The", "Hatter", "looked", "at", "Tom", "."]] * 12, characters=[tom],
                     clusters=[tom[1]])  # fmt: skip
    figures = plausibility(book, ["The Mad Hatter", "Tom", "Nobody Here"])
    assert figures.near == (("The Mad Hatter", "Hatter", 12),)
    assert "The Mad Hatter (but 'Hatter' 12 times)" in summary_line(figures.to_dict())
    assert figures.shares == (("Tom", 2, 1.0), ("The Mad Hatter", 1, 0.0), ("Nobody Here", 3, 0.0))
    assert "Tom 100% (no. 2)" in summary_line(figures.to_dict())


def test_marks_of_emphasis_stay_when_the_recipe_asks_for_the_released_convention(world):
    path = world / "mirror/cache/epub/900001/pg900001.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("before the sun", "_before_ the sun", 1))
    words = {}
    for emphasis in ("cut", "released"):
        build_silver(plan(world, emphasis=emphasis), **settings(world, replace=True, out=world / emphasis))
        (row,) = [r for _, r in iter_folder(world / emphasis) if r.doc_key == "the_lamp_road_900001"]
        words[emphasis] = " ".join(token for sentence in row.sentences for token in sentence)
    assert "_" not in words["cut"]
    assert words["released"].count("_") == 2


def test_a_narrator_who_was_not_found_is_noticed():
    from bookcoref_data.books import Book
    from bookcoref_data.workflows.plausibility import plausibility

    sentences = [["Call", "me", "Ishmael", "."], ["I", "saw", "Ahab", "and", "my", "ship", "."]] * 20
    ahab = ("Ahab", [(11 * n + 6, 11 * n + 6) for n in range(20)])
    lost = plausibility(
        Book.make("m_0", sentences, characters=[ahab], clusters=[ahab[1]]), ["Ahab", "Ishmael"]
    )
    assert lost.absent == ("Ishmael",)
    assert lost.first_person > 0.3
    assert any("told by one of its people" in warning for warning in lost.warnings)
    spans = [(11 * n + at, 11 * n + at) for n in range(20) for at in (1, 2, 4, 8)]
    told = Book.make("m_0", sentences, characters=[ahab, ("Ishmael", spans)], clusters=[ahab[1], spans])
    good = plausibility(told, ["Ishmael", "Ahab"])
    assert good.narrator == "Ishmael"
    assert good.warnings == ()
    assert good.shares[0] == ("Ishmael", 1, 0.8)
    assert good.pronouns == pytest.approx(0.6)
    assert good.to_dict()["first_person_linked"] == 1.0


def test_what_people_say_makes_no_narrator():
    from bookcoref_data.books import Book
    from bookcoref_data.workflows.plausibility import plausibility

    said = [["“", "I", "saw", "my", "ship", ",", "”", "said", "Ahab", "."], ["\n"]] * 30
    ahab = ("Ahab", [(11 * n + 8, 11 * n + 8) for n in range(30)])
    figures = plausibility(Book.make("m_0", said, characters=[ahab], clusters=[ahab[1]]), ["Ahab"])
    assert figures.first_person == 0
    assert figures.warnings == ()


REPAIR = """
[[repair]]
gutenberg_id = 1342
join = [["Jane", "Miss Bennet"]]
drop = ["Ye"]
add = [["Mr. Overton", "Overton"]]
reason = "the eldest Miss Bennet is Jane"
"""


def test_a_proposed_cast_is_repaired_as_the_recipe_says(tmp_path):
    from bookcoref_data.annotation.cast import Entry

    (tmp_path / "open.toml").write_text(REPAIR, encoding="utf-8")
    repair = load_plan(tmp_path / "open.toml").repairs["1342"]
    cast = [Entry("Jane", ("Janey",)), Entry("Miss Bennet", ("Miss B.",)), Entry("Ye"), Entry("Lydia")]
    assert repair.apply(cast) == [
        Entry("Jane", ("Janey", "Miss Bennet", "Miss B.")), Entry("Lydia"),
        Entry("Mr. Overton", ("Overton",)),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="a repair names 'Ye', but the book does not propose them"):
        repair.apply(cast[:2])
    with pytest.raises(UsageError, match="but the book proposes them already"):
        repair.apply([*cast, Entry("Mr. Overton")])
    with pytest.raises(UsageError) as refused:
        repair.apply([Entry("Lizzy", ("Miss Bennet",)), Entry("Jane")])
    assert refused.value.found == "no 'Ye', 'Miss Bennet' of 'Lizzy'"


def test_a_repaired_cast_is_annotated_and_told(world):
    shipped = load_plan(Path("open-silver.toml"))
    repair = Repair("the miller is nobody's", drop=("Tom Reed",), add=(("The Baker", "Ada"),))
    names = {}
    for key, repairs in {"plain": {}, "repaired": {"900001": repair}}.items():
        plan = replace(shipped, books=("900001",), repairs=repairs, leave_out_implausible=False)
        build_silver(plan, **settings(world, out=world / key))
        (row,) = [r for _, r in iter_folder(world / key) if r.doc_key == "the_lamp_road_900001"]
        names[key] = {name for name, _ in row.characters}
    assert names == {"plain": {"Ada Brook", "Tom Reed"}, "repaired": {"Ada Brook"}}
    card = (world / "repaired/README.md").read_text(encoding="utf-8")
    assert "cast repaired by a person: the miller is nobody's" in card
    assert "repaired" not in (world / "plain/README.md").read_text(encoding="utf-8")
