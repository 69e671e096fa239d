"""Publishing, against a Hub on loopback that takes the upload and serves the result."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data.edits import Edit, anchor_of, apply, format_edits
from bookcoref_data.errors import ChecksumError, DataError, SourceError, UsageError
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.formats.folder import read_build, writing_folder
from bookcoref_data.formats.reasons import format_reasons
from bookcoref_data.progress import Silent
from bookcoref_data.publishing.card import render_task_card
from bookcoref_data.sample_story.story import sample_path
from bookcoref_data.workflows.publish import preparing
from bookcoref_data.workflows.publish_facts import PublishSettings

sys.path.append(str(Path(__file__).resolve().parent.parent))
from hub_server import HubServer

MIRROR = sample_path("mirror")
KEY = "the_lamp_at_the_ferry_house_99000001"


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The sample as a data set folder."""
    home = tmp_path_factory.mktemp("publish")
    bc.rebuild(home / "lamp", sample=True, cache_dir=home / "cache", jobs=1)
    return home / "lamp"


@pytest.fixture
def hub(tmp_path, monkeypatch, cache_home):
    """A Hub that this process uses instead of the real one."""
    running = HubServer()
    for name, value in running.environment(str(tmp_path / "hf")).items():
        monkeypatch.setenv(name, value)
    # The library reads these when it is imported, which another test may have done before.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    yield running
    running.close()


def own(
    sample: Path, out: Path, source: dict, gutenberg_key: str = "99000001", facts: Sequence[str] = ("sha256",)
) -> Path:
    """The sample's book as somebody's own annotation, with these facts on the file that it was made from."""
    from bookcoref_data.formats.folder import read_folder, writing_folder

    text = read_build(sample).books[0].text
    with writing_folder(out) as writer:
        for record in read_folder(sample):
            book = replace(record.to_book(), gutenberg_key=gutenberg_key)
            writer.add_book(book, "train", text={name: text[name] for name in facts})
        writer.finish("Lamps", licences=[("Annotation", "mine")], source=source)
    return out


# -- what goes up --------------------------------------------------------------------------------------


def test_the_card_says_how_many_rows_there_are_as_the_hub_does(sample):
    with preparing(PublishSettings(sample, "me/lamp"), Silent()) as (publication, *_):
        pass
    for least, most, size in [
        (0, 999, "n<1K"), (1_000, 9_999, "1K<n<10K"), (10_000, 99_999, "10K<n<100K"),
        (100_000, 999_999, "100K<n<1M"), (1_000_000, 9_999_999, "1M<n<10M"),
    ]:  # fmt: skip
        for rows in (least, most):
            assert f"size_categories:\n- {size}\n" in render_task_card(publication, "", rows), rows


def test_a_dry_run_shows_everything_and_sends_nothing(sample, hub, tmp_path):
    report = bc.publish(sample, "me/lamp", dry_run=True, out=tmp_path / "copy")
    assert hub.requests == []
    assert report.uploaded is None
    shown = {
        p.relative_to(tmp_path / "copy").as_posix() for p in (tmp_path / "copy").rglob("*") if p.is_file()
    }
    assert shown == set(report.files)
    assert {"README.md", "croissant.json", "CITATION.cff", ".zenodo.json", "full/test.parquet"} <= shown
    croissant = json.loads((tmp_path / "copy/croissant.json").read_text(encoding="utf-8"))
    assert [one["description"] for one in croissant["recordSet"]] == [
        "test split, whole books", "test split, windows of about 1,500 tokens",
    ]  # fmt: skip
    assert bc.verify(tmp_path / "copy").ok
    for wanted in ("license: cc0-1.0", "task_ids:\n- coreference-resolution", "## Licences", "795 mentions",
                   "## Citation", "verify hf:me/lamp"):  # fmt: skip
        assert wanted in report.card
    assert "martinelli" not in report.card.lower()  # the sample is not BookCoref


@pytest.mark.long
def test_croissant_is_valid_and_its_loader_reads_the_records(sample, tmp_path):
    import mlcroissant

    bc.publish(sample, "me/lamp", dry_run=True, out=tmp_path / "copy")
    path = tmp_path / "copy" / "croissant.json"
    # The addresses are those on the Hub; here the files lie beside the metadata.
    value = json.loads(path.read_text(encoding="utf-8"))
    for file in value["distribution"]:
        file["contentUrl"] = file["@id"]
    path.write_text(json.dumps(value), encoding="utf-8")
    dataset = mlcroissant.Dataset(path)
    assert (list(dataset.metadata.issues.errors), list(dataset.metadata.issues.warnings)) == ([], [])
    assert [r.uuid for r in dataset.metadata.record_sets] == ["full_test", "split_test"]
    record = next(iter(dataset.records("full_test")))
    book = bc.load(sample)[0]
    assert [[w.decode() for w in s] for s in record["full_test/sentences"]] == book.sentences
    assert [[tuple(m) for m in c] for c in record["full_test/clusters"]] == [
        [tuple(m) for m in c] for c in book.clusters
    ]
    people = {
        c["full_test/characters/name"].decode(): len(c["full_test/characters/mentions"])
        for c in record["full_test/characters"]
    }
    assert people == {name: len(mentions) for name, mentions in book.characters.items()}


def test_a_standoff_release_has_no_text_and_gives_the_same_data_set(sample, hub, tmp_path):
    report = bc.publish(sample, "me/lamp", standoff=True)
    assert report.longest.words <= 12
    assert not [path for path in report.files if path.endswith(".parquet")]
    assert bc.verify("hf:me/lamp").ok
    built = bc.rebuild(tmp_path / "again", release="hf:me/lamp", mirror=MIRROR, jobs=1)
    assert built.ok
    assert bc.verify(tmp_path / "again").digest == bc.verify(sample).digest
    card = (tmp_path / "again" / "README.md").read_text(encoding="utf-8")
    assert "CC0-1.0" in card
    assert "martinelli" not in card.lower()


def test_the_longest_run_of_words_is_told_with_its_file(sample, hub, capsys):
    from dataclasses import replace

    from bookcoref_data.cli.verbs.making import publish

    report = bc.publish(sample, "me/lamp", standoff=True, dry_run=True)
    for longest, told in ((replace(report.longest, words=3, file="a.json"), "any file: 3 (a.json)\n"),
                          (replace(report.longest, words=0, file=""), "any file: 0\n")):  # fmt: skip
        publish(replace(report, longest=longest))
        assert told in capsys.readouterr().out


def test_text_in_a_standoff_release_is_refused(sample, hub, tmp_path):
    words = " ".join(t for t in bc.load(sample)[0].tokens[400:460] if t.isalpha())
    citation = tmp_path / "c.bib"
    citation.write_text(
        f"@misc{{x, title = {{{words}}}, author = {{Hill, A}}, year = 2026}}", encoding="utf-8"
    )
    with pytest.raises(DataError, match="words of the_lamp"):
        bc.publish(sample, "me/lamp", standoff=True, citation=citation)
    assert hub.repositories == {}


# -- rights --------------------------------------------------------------------------------------------


def test_own_annotation_needs_a_licence(sample, tmp_path, cache_home):
    folder = own(sample, tmp_path / "own", {"recipe": "embedded.toml"})
    with pytest.raises(UsageError, match="licence of the annotation is unknown"):
        bc.publish(folder, "me/x", mirror=MIRROR, dry_run=True)
    report = bc.publish(folder, "me/x", mirror=MIRROR, licence="CC-BY-4.0", dry_run=True)
    # The header of the text says that it is free.
    assert (report.publication.texts[KEY].state, "header" in report.publication.texts[KEY].evidence) == (
        "public domain",
        True,
    )
    assert "Silver: made by a pipeline" in report.card
    assert "## Plausibility" in report.card


def test_the_card_of_corrected_books_says_how_many_mentions_people_gave(sample, tmp_path, cache_home):
    folder, told = own(sample, tmp_path / "own", {"licence": "CC-BY-4.0"}), "Silver: made by a pipeline"
    assert told + ", not checked by people." in bc.publish(folder, "me/x", mirror=MIRROR, dry_run=True).card
    (book,) = read_annotations(folder)
    edits = [
        Edit("link", at=anchor_of(book.book.tokens, m.start, m.end), character=book.names[m.character])
        for m in book.mentions[:3]
    ]
    done = apply(book, edits).annotation
    with writing_folder(tmp_path / "mended") as writer:
        writer.add_book(done.to_book(), "test", reasons=format_reasons(done))
        writer.finish("Lamps", licences=[("Annotation", "mine")])
    card = bc.publish(tmp_path / "mended", "me/x", mirror=MIRROR, licence="CC-BY-4.0", dry_run=True).card
    assert told + "; 3 mentions by people, the rest not checked." in card


def test_the_card_counts_corrections_that_leave_nothing_in_the_text(sample, tmp_path, cache_home):
    folder = own(sample, tmp_path / "own", {"licence": "CC-BY-4.0"})
    (book,) = read_annotations(folder)
    edits = [Edit("unlink", at=anchor_of(book.book.tokens, m.start, m.end)) for m in book.mentions[:5]]
    first, all_five, once = tmp_path / "first.jsonl", tmp_path / "edits.jsonl", tmp_path / "once"
    first.write_text(format_edits(edits[:2]))
    all_five.write_text(format_edits(edits))
    bc.apply_edits(folder, first, out=once)
    bc.apply_edits(folder, first, out=once)  # the same again, which is counted once
    bc.apply_edits(once, all_five, out=tmp_path / "twice")
    folder = tmp_path / "twice" / "dataset"
    card = bc.publish(folder, "me/x", mirror=MIRROR, licence="CC-BY-4.0", dry_run=True).card
    assert "Silver: made by a pipeline; 5 corrections by people, the rest not checked." in card


def test_texts_from_elsewhere_need_a_stated_licence(sample, tmp_path, cache_home):
    folder = own(sample, tmp_path / "own", {"licence": "CC-BY-4.0"}, gutenberg_key="0")
    with pytest.raises(UsageError, match="rights in 1 text are unknown"):
        bc.publish(folder, "me/x", dry_run=True)
    with pytest.raises(UsageError, match="may not be passed on"):
        bc.publish(folder, "me/x", text_licence="mine, all rights reserved", dry_run=True)
    assert bc.publish(folder, "me/x", text_licence="CC0", dry_run=True).publication.texts[KEY].free


def test_a_catalogue_record_that_states_a_copyright_counts_more_than_the_header(sample, tmp_path, cache_home):
    mirror = tmp_path / "mirror" / "cache" / "epub" / "99000001"
    mirror.mkdir(parents=True)
    text = (MIRROR / "cache/epub/99000001/pg99000001.txt").read_bytes()
    (mirror / "pg99000001.txt").write_bytes(text)
    (mirror / "pg99000001.rdf").write_text("<dcterms:rights>Copyrighted.</dcterms:rights>", encoding="utf-8")
    folder = own(sample, tmp_path / "own", {"licence": "CC-BY-4.0"})
    with pytest.raises(UsageError, match="in copyright"):
        bc.publish(folder, "me/x", mirror=tmp_path / "mirror", dry_run=True)


def test_casts_from_study_guides_are_not_published_whole(sample, tmp_path, cache_home):
    source = {"licence": "CC-BY-4.0", "books": {KEY: {"cast": {"source": "shmoop", "work_id": "x"}}}}
    folder = own(sample, tmp_path / "own", source)
    options = {"mirror": MIRROR, "dry_run": True}
    with pytest.raises(UsageError, match="shmoop"):
        bc.publish(folder, "me/x", **options)
    assert bc.publish(folder, "me/x", standoff=True, **options).publication.standoff


def test_of_a_book_whose_file_is_not_known_the_edition_is_found_that_has_its_words(
    sample, tmp_path, cache_home
):
    """What `annotate` writes names no file; the book has a Gutenberg number all the same."""
    folder = own(sample, tmp_path / "own", {"licence": "CC-BY-4.0"}, facts=())
    mirror, place = tmp_path / "mirror", "cache/epub/99000001/pg99000001.txt"
    for path, words in (("9/9/0/0/0/0/0/99000001/99000001-0.txt", b"ferry-boat"), (place, b"ferry")):
        (mirror / path).parent.mkdir(parents=True)
        (mirror / path).write_bytes((MIRROR / place).read_bytes().replace(b"ferry", words))
    bc.publish(folder, "me/x", mirror=mirror, standoff=True, dry_run=True, out=tmp_path / "packs")
    built = bc.rebuild(tmp_path / "again", release=tmp_path / "packs", mirror=MIRROR, jobs=1)
    assert built.ok
    assert read_build(tmp_path / "again").digest == read_build(folder).digest


def test_a_text_from_elsewhere_is_left_out_of_a_standoff_release_and_stops_no_other(
    sample, tmp_path, cache_home
):
    from bookcoref_data.formats.folder import read_folder, writing_folder

    options = {"mirror": MIRROR, "standoff": True, "licence": "CC0", "dry_run": True}
    (book,) = (record.to_book() for record in read_folder(sample))
    with writing_folder(tmp_path / "two") as writer:
        writer.add_book(replace(book, doc_key="pg99000001"), "test")
        writer.add_book(replace(book, doc_key="mine", gutenberg_key="0"), "test")
        writer.finish("Lamps", licences=[("Annotation", "mine")])
    report = bc.publish(tmp_path / "two", "me/x", **options)
    assert [book.doc_key for book in report.publication.books] == ["pg99000001"]
    assert "pgNUMBER.txt" in report.publication.left_out["mine"]
    with pytest.raises(DataError, match="no book could be packed") as caught:
        bc.publish(own(sample, tmp_path / "own", {}, gutenberg_key="0"), "me/x", **options)
    assert "has no Gutenberg number" in str(caught.value.found)


def test_the_licence_of_others_cannot_be_changed(sample, hub):
    with pytest.raises(UsageError, match="is under CC0"):
        bc.publish(sample, "me/x", licence="CC-BY-4.0", dry_run=True)


@pytest.mark.long
def test_bookcoref_is_cited_and_goes_up_without_text_only(tmp_path, shared_data, cache_home):
    data = shared_data
    bc.rebuild(tmp_path / "b", release=data / "release", mirror=data / "gutenberg", jobs=1,
               books=["siddhartha_2500", "animal_farm_0"])  # fmt: skip
    mirror = data / "gutenberg"
    with pytest.raises(UsageError, match="animal_farm_0"):
        bc.publish(tmp_path / "b", "me/b", mirror=mirror, dry_run=True)
    report = bc.publish(tmp_path / "b", "me/b", mirror=mirror, standoff=True, dry_run=True)
    assert [book.doc_key for book in report.publication.books] == ["siddhartha_2500"]
    assert "animal_farm_0" in report.publication.left_out
    assert report.publication.licence.id == "CC-BY-NC-SA-4.0"
    assert "martinelli-etal-2025-bookcoref" in report.card
    assert report.longest.words <= 12


def test_a_damaged_folder_is_not_published(sample, tmp_path, cache_home):
    import shutil

    shutil.copytree(sample, tmp_path / "bad")
    data = bytearray((tmp_path / "bad/full/test.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bad/full/test.parquet").write_bytes(bytes(data))
    with pytest.raises(DataError, match="does not verify"):
        bc.publish(tmp_path / "bad", "me/x", dry_run=True)


# -- upload --------------------------------------------------------------------------------------------


def test_one_commit_with_a_tag_and_nothing_the_second_time(sample, hub):
    done = bc.publish(sample, "me/lamp", tag="v1.0.0", private=True).uploaded
    there = hub.repositories["me/lamp"]
    assert (len(there.commits), there.tags, there.private) == (2, {"v1.0.0": done.commit}, True)
    again = bc.publish(sample, "me/lamp", tag="v1.0.0", private=True).uploaded
    assert (again.unchanged, again.commit, len(there.commits)) == (True, done.commit, 2)


@pytest.mark.parametrize("standoff", [False, True])
def test_what_was_built_again_on_another_day_is_the_version_that_is_there(sample, hub, tmp_path, standoff):
    options = {"mirror": MIRROR, "standoff": standoff}
    first = bc.publish(sample, "me/lamp", **options).uploaded
    again = shutil.copytree(sample, tmp_path / "again")
    (built := again / "build.json").write_bytes(built.read_bytes())
    os.utime(built, (1_600_000_000, 1_600_000_000))
    second = bc.publish(again, "me/lamp", **options).uploaded
    assert (second.unchanged, second.commit) == (True, first.commit)
    # A version of its own has a day of its own.
    bc.publish(again, "me/lamp", tag="v2", **options)
    page = hub.repositories["me/lamp"].files["CITATION.cff"]
    assert b"date-released: '2020-09-13'" in page


@pytest.mark.long
def test_an_interrupted_upload_goes_on_where_it_was(sample, hub):
    hub.fail("POST", "/commit/", 500, times=9)
    with pytest.raises(SourceError, match="cannot upload") as caught:
        bc.publish(sample, "me/lamp")
    assert hub.token not in str(caught.value)
    sent = [path for method, path in hub.requests if method == "PUT"]
    assert len(sent) == 2
    hub._failures.clear()
    bc.publish(sample, "me/lamp")
    assert [path for method, path in hub.requests if method == "PUT"] == sent
    assert len(hub.repositories["me/lamp"].commits) == 2


def test_a_token_without_rights_gets_a_next_step_and_is_not_shown(sample, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_SomebodyElse123")
    with pytest.raises(SourceError, match="hf auth login") as caught:
        bc.publish(sample, "me/lamp")
    assert "hf_SomebodyElse123" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_token_in_a_file_is_not_published(sample, hub, tmp_path):
    citation = tmp_path / "c.bib"
    citation.write_text(f"@misc{{x, title={{{hub.token}}}, author={{Hill, A}}, year=2026}}", encoding="utf-8")
    with pytest.raises(DataError, match="holds your token"):
        bc.publish(sample, "me/lamp", citation=citation)
    assert hub.repositories == {}


def test_another_data_set_in_the_repository_is_left_alone(sample, hub):
    from hub_server import Repository

    hub.repositories["me/other"] = Repository()
    hub.repositories["me/other"].commit({"README.md": b"mine"}, "mine")
    with pytest.raises(UsageError, match="another data set"):
        bc.publish(sample, "me/other")
    assert hub.repositories["me/other"].files == {"README.md": b"mine"}


@pytest.mark.long
def test_a_new_version_replaces_our_files_and_keeps_the_users(sample, hub, tmp_path):
    bc.publish(sample, "me/lamp", tag="v1.0.0", standoff=True)
    there = hub.repositories["me/lamp"]
    there.commit({**there.files, "NOTES.md": b"mine"}, "a note of the user")
    with pytest.raises(UsageError, match="has the tag") as caught:
        bc.publish(sample, "me/lamp", tag="v1.0.0")
    assert "full/test.parquet" in caught.value.found
    bc.publish(sample, "me/lamp", tag="v2.0.0")
    assert "NOTES.md" in there.files
    assert "full/test.parquet" in there.files
    assert not [path for path in there.files if path.endswith(".pack") or path == "index.json"]
    assert bc.verify("hf:me/lamp@v2.0.0").ok
    assert bc.verify("hf:me/lamp@v1.0.0").ok


# -- the receiver --------------------------------------------------------------------------------------


@pytest.mark.long
def test_verify_finds_what_was_changed_on_the_hub(sample, hub):
    bc.publish(sample, "me/lamp", standoff=True)
    there = hub.repositories["me/lamp"]
    manifest = there.files["index.json"].replace(b'"tokens": 5445', b'"tokens": 5446')
    table = there.files["books.jsonl"].replace(b'"pack_sha256": "', b'"pack_sha256": "0')
    there.commit({**there.files, "index.json": manifest, "books.jsonl": table}, "changed")
    found = bc.verify("hf:me/lamp")
    assert not found.ok
    assert any("another checksum" in problem for problem in found.problems)


@pytest.mark.long
def test_a_file_that_arrives_damaged_is_refused(sample, hub):
    bc.publish(sample, "me/lamp")
    data = hub.repositories["me/lamp"].files["full/test.parquet"]
    hub.altered["full/test.parquet"] = data[:-1] + b"x"
    with pytest.raises(ChecksumError, match=r"full/test\.parquet"):
        bc.verify("hf:me/lamp")
    hub.altered.clear()
    assert bc.verify("hf:me/lamp").ok


@pytest.mark.long
def test_what_was_fetched_serves_offline(sample, hub, monkeypatch):
    bc.publish(sample, "me/lamp")
    with pytest.raises(SourceError, match="never fetched"):
        bc.verify("hf:me/lamp", offline=True)
    assert bc.verify("hf:me/lamp").ok
    asked = len(hub.requests)
    assert bc.verify("hf:me/lamp", offline=True).ok
    assert len(hub.requests) == asked


@pytest.mark.long
def test_the_command_line_and_load_dataset(sample, hub, tmp_path):
    """One process publishes, another loads with `datasets` from the same Hub."""
    command = [
        str(Path(sys.executable).parent / "bookcoref-data"),
        "publish",
        str(sample),
        "--repo",
        "me/lamp",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ}, cwd=tmp_path)
    assert (done.returncode, "tag sha256-419128fbb944" in done.stdout) == (0, True), done.stderr
    assert hub.token not in done.stdout + done.stderr
    code = (
        "from datasets import load_dataset; d = load_dataset('me/lamp', 'split')['test']; "
        "print(len(d), d[0]['doc_key'], len(d[0]['characters']))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert loaded.stdout.split()[:2] == ["4", f"{KEY}_split1500_S0"], loaded.stderr[-2000:]


# -- whose text it is ----------------------------------------------------------------------------------


def changed(sample: Path, out: Path, change, **more) -> Path:
    """The sample's book, its sentences changed, under its own Gutenberg number and checksum."""
    from bookcoref_data.books import Book
    from bookcoref_data.formats.folder import read_folder, writing_folder

    text = more.get("text", read_build(sample).books[0].text)
    with writing_folder(out) as writer:
        for record in read_folder(sample):
            sentences = change(record.to_book().sentences)
            book = Book.make(record.doc_key, sentences, gutenberg_key="99000001")
            writer.add_book(book, "train", text={"sha256": text["sha256"]} if text else {})
        source = {"licence": "CC-BY-4.0", **more.get("source", {})}
        writer.finish("Lamps", licences=[("Annotation", "mine")], source=source)
    return out


STRANGE = [f"Boxer{n} had commanded that the windmill be built by winter .".split() for n in range(60)]


@pytest.mark.parametrize("change", [
    lambda sentences: STRANGE,
    lambda sentences: [*sentences[:100], *STRANGE[:8], *sentences[100:]],
    lambda sentences: [[word if n % 3 else f"{word}ish" for n, word in enumerate(s)] for s in sentences],
], ids=["another text", "a page of another text", "a word in three"])  # fmt: skip
@pytest.mark.parametrize("known", [True, False])
def test_other_words_under_the_number_of_a_free_book_stay_here(sample, tmp_path, change, known, cache_home):
    folder = changed(sample, tmp_path / "own", change, **({} if known else {"text": {}}))
    for licence in (None, "CC0"):
        with pytest.raises(UsageError, match="not those of"):
            bc.publish(folder, "me/x", mirror=MIRROR, text_licence=licence, dry_run=True)


def test_a_corrected_word_is_still_the_books_own(sample, tmp_path, cache_home):
    folder = changed(sample, tmp_path / "own", lambda sentences: [["Corrected", "."], *sentences[1:]])
    assert bc.publish(folder, "me/x", mirror=MIRROR, dry_run=True).publication.texts[KEY].free


def test_another_text_does_not_pass_for_a_corpus(sample, tmp_path, cache_home):
    folder = changed(sample, tmp_path / "own", lambda sentences: STRANGE, source={"corpus": "litbank"})
    with pytest.raises(UsageError, match="not the tokens of LitBank"):
        bc.publish(folder, "me/x", mirror=MIRROR, dry_run=True)


@pytest.mark.long
def test_the_tokens_of_the_real_corpus_are_known(shared_data, tmp_path, cache_home):
    real = shared_data / "litbank/coref/conll/1342_pride_and_prejudice_brat.conll"
    folder = bc.import_corpus("litbank", real, tmp_path / "litbank").out
    [found] = bc.publish(folder, "me/x", dry_run=True).publication.texts.values()
    assert found.free


def test_another_text_does_not_pass_for_the_sample(sample, tmp_path, cache_home):
    folder = changed(sample, tmp_path / "own", lambda sentences: STRANGE, source={"release": "sample"})
    with pytest.raises(UsageError, match="not those of"):
        bc.publish(folder, "me/x", mirror=MIRROR, dry_run=True)
