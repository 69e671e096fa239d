"""Rebuilding: right rows from the right text, every fault named, nothing repeated, nothing half-written."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bookcoref_data.books import split_by_rule
from bookcoref_data.errors import BookError, DataError, EditionError, FormatError, SourceError, UsageError
from bookcoref_data.formats.folder import read_build, read_folder
from bookcoref_data.workflows import rebuild as room
from bookcoref_data.workflows.rebuild import RebuildSettings, plan_fetch, prepare
from bookcoref_data.workflows.verify import verify

pytestmark = pytest.mark.slow


def settings(world, **changes) -> RebuildSettings:
    base = {"out": world.root / "bookcoref", "release": world.release, "mirror": str(world.mirror),
            "offline": True}  # fmt: skip
    return RebuildSettings(**(base | changes))


def run(world, jobs=1, **changes):
    return room.rebuild(prepare(settings(world, **changes)), jobs=jobs)


def test_books_come_out_as_released(world):
    report = run(world)
    assert (report.built, report.reused, report.failed) == (["one_11", "two_12"], [], {})
    rows = read_folder(report.out)
    assert [r.doc_key for r in rows] == ["one_11", "two_12"]
    assert rows[0].characters == [("Ann", [(3, 4), (9, 9), (2000, 2001)])]
    lengths = json.loads((world.release / "sentence_lengths.json").read_text())
    assert [len(s) for s in rows[1].sentences] == lengths["12"]
    assert read_folder(report.out, "split")[0].doc_key == "one_11_split1500_S0"
    assert verify(report.out).exit_code == 0


def test_two_processes_give_the_same_as_one(world):
    one, two = run(world, jobs=1), run(world, jobs=2, out=world.root / "other", cache_dir=world.root / "c2")
    assert one.record.digest == two.record.digest
    assert set(two.built) == {"one_11", "two_12"}


def test_a_second_run_does_nothing(world):
    first = run(world)
    stamp = (first.out / "build.json").stat().st_mtime_ns
    second = run(world)
    assert (second.built, second.reused, second.unchanged) == ([], ["one_11", "two_12"], True)
    assert (first.out / "build.json").stat().st_mtime_ns == stamp


def test_changed_annotations_rebuild_only_their_book(world):
    run(world)

    def drop_mention(rows):
        rows[1]["clusters"][0].pop()
        return rows

    world.rewrite(drop_mention)
    report = run(world)
    assert (report.built, report.reused) == (["two_12"], ["one_11"])
    assert not report.unchanged
    assert [len(r.clusters[0]) for r in read_folder(report.out)] == [3, 2]


def test_one_book_needs_only_its_own_files(world):
    world.raw("12").unlink()
    assert run(world, books=("11",)).built == ["one_11"]
    assert run(world, books=("one",)).reused == ["one_11"]


def test_a_missing_text_stops_no_other_book_and_is_told(world):
    world.raw("11").unlink()
    report = run(world)
    assert report.built == ["two_12"]
    assert isinstance(report.failed["one_11"], SourceError)
    assert "11" in str(report.failed["one_11"])
    assert list(read_build(report.out).missing) == ["one_11"]
    assert verify(report.out).exit_code == 1


@pytest.mark.parametrize(("missing", "kind"), [(("11", "12"), SourceError), (("11",), DataError)])
def test_if_no_book_can_be_built_the_error_is_one_of_texts_only_where_all_texts_fail(world, missing, kind):
    for number in ("11", "12"):
        world.raw(number).write_bytes(world.raw(number).read_bytes().replace(b"lamp", b"old lamp", 1))
    for number in missing:
        world.raw(number).unlink()
    with pytest.raises(kind, match="none of the 2 books") as caught:
        run(world)
    assert caught.value.exit_code == kind.exit_code
    assert "11" in caught.value.found


def test_a_text_of_another_edition_is_refused_with_counts_and_hash(world):
    text = world.raw("11").read_bytes()
    world.raw("11").write_bytes(text.replace(b"lamp", b"old lamp", 1))
    report = run(world)
    error = report.failed["one_11"]
    assert isinstance(error, EditionError)
    assert "one_11" in error.what
    assert "base tokens" in str(error.expected)
    assert "sha256" in str(error.found)
    assert report.built == ["two_12"]


def test_the_next_edition_is_tried_when_the_first_does_not_fit(world):
    right = world.raw("11").read_bytes()
    world.raw("11").write_bytes(right.replace(b"lamp", b"old lamp", 1))
    numbered = world.mirror / "1/11/11-0.txt"
    numbered.parent.mkdir(parents=True)
    numbered.write_bytes(b"\xef\xbb\xbf" + right)
    report = run(world)
    assert sorted(report.built) == ["one_11", "two_12"]
    assert report.failed == {}


def test_latin1_and_marked_files_give_the_same_tokens(world):
    digest = run(world).record.digest
    text = world.raw("11").read_bytes().decode()
    world.raw("11").write_bytes(b"\xef\xbb\xbf" + text.replace("\r\n", "\n").encode())
    report = run(world, out=world.root / "marked")
    assert report.built == ["one_11"]
    assert report.record.digest == digest


def test_known_tokens_are_compared_before_offsets_are_attached(world):
    plan = prepare(settings(world))
    facts = read_build(room.rebuild(plan, jobs=1).out).books[0]
    wrong = {"one_11": {"tokens": facts.tokens, "sentences": facts.sentences, "tokens_sha256": "0" * 64}}
    report = room.rebuild(dataclasses.replace(plan, expected=wrong), jobs=1)
    assert "not the published tokens" in str(report.failed["one_11"])
    assert facts.tokens_sha256[:16] in str(report.failed["one_11"])
    right = {"one_11": wrong["one_11"] | {"tokens_sha256": facts.tokens_sha256}}
    checks = [b.check for b in room.rebuild(dataclasses.replace(plan, expected=right), jobs=1).record.books]
    assert checks == ["manifest", "counts"]


def test_offsets_out_of_range_are_refused_with_their_line(world):
    def stretch(rows):
        rows[0]["clusters"][0].append([5, 999_999])
        return rows

    world.rewrite(stretch)
    error = run(world).failed["one_11"]
    assert isinstance(error, BookError)
    assert "(5, 999999) outside" in str(error)
    assert "one_11.jsonl:1" in str(error)


def test_release_faults_name_file_and_line(world):
    good = world.full.read_text(encoding="utf-8")
    world.full.write_text(good + good.splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"test\.jsonl:3: document 'one_11' comes twice"):
        run(world)
    world.full.write_text(good.replace('"clusters"', '"clusters', 1), encoding="utf-8")
    with pytest.raises(FormatError, match=r"test\.jsonl:1"):
        run(world)
    world.full.write_text(good.replace("one_11", "../../one_11", 1), encoding="utf-8")
    with pytest.raises(room.DataError, match="cannot be used as a file name"):
        run(world)
    assert not (world.root / "bookcoref").exists()
    assert not list(world.root.rglob("*.part"))


def test_old_field_names_and_embedded_sentences_are_read(world):
    def older(rows):
        rows[0]["doc_id"] = rows[0].pop("doc_key")
        rows[0]["characters"] = [{"name": c["name"], "cluster": c["mentions"]} for c in rows[0]["characters"]]
        rows[1] |= {"sentences": [["Ann", "sang"]], "clusters": [[[0, 0]]], "gutenberg_key": "0",
                    "doc_key": "farm_0", "characters": []}  # fmt: skip
        return rows

    world.rewrite(older)
    (world.release / "bookcoref_annotations/split/test_split.jsonl").unlink()
    report = run(world)
    assert [(b.doc_key, b.check) for b in report.record.books] == [
        ("one_11", "counts"),
        ("farm_0", "release"),
    ]
    assert read_folder(report.out)[0].characters[0][0] == "Ann"


def test_a_book_without_text_is_a_declared_case(world):
    def farm(rows):
        rows[1] |= {"doc_key": "animal_farm_0", "gutenberg_key": "0"}
        return rows

    world.rewrite(farm)
    (world.release / "bookcoref_annotations/split/test_split.jsonl").unlink()
    report = run(world, expect=False)
    assert "--text animal_farm_0=FILE" in str(report.failed["animal_farm_0"])
    tokens = world.root / "farm.jsonl"
    sentences = [["w"] * 100] * 30
    tokens.write_text(json.dumps({"doc_key": "x", "sentences": sentences, "clusters": []}), encoding="utf-8")
    report = run(world, expect=False, texts={"animal_farm_0": tokens})
    assert report.failed == {}
    assert [b.check for b in report.record.books] == ["counts", "given"]


def test_released_window_keys_decide(world):
    path = world.release / "bookcoref_annotations/split/test_split.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    cut = [{"doc_key": f"one_11_split4000_S{n}", "gutenberg_key": "11", "clusters": [], "characters": []}
           for n in (0, 7, 30)]  # fmt: skip
    rest = [r for r in rows if r["doc_key"].startswith("two")]
    path.write_text("".join(json.dumps(r) + "\n" for r in cut + rest), encoding="utf-8")
    report = run(world)
    found = [r for r in read_folder(report.out, "split") if r.doc_key.startswith("one")]
    whole = read_folder(report.out)[0].sentences
    assert [r.doc_key.rpartition("S")[2] for r in found] == ["0", "7", "30"]
    assert [r.sentences for r in found] == [whole[:7], whole[7:30], whole[30:]]
    path.write_text("".join(json.dumps(r) + "\n" for r in [cut[1], *rest]), encoding="utf-8")
    assert "do not fit the book" in str(run(world).failed["one_11"])
    path.write_text("".join(json.dumps(r) + "\n" for r in rest), encoding="utf-8")
    assert "windows of other books of test, none of this" in str(run(world).failed["one_11"])


@pytest.mark.parametrize("embedded", [False, True])
@pytest.mark.parametrize("lost", [(1,), (-1,), (1, -1)])
def test_a_window_that_the_release_lacks_is_named_and_no_other_takes_its_sentences(world, lost, embedded):
    """Where the release has no texts, windows cut by a known rule say it; else their sentences do."""
    path = world.release / "bookcoref_annotations/split/test_split.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    whole = {r.doc_key: r for r in read_folder(run(world).out, "split")}
    own = [r for r in rows if r["doc_key"].startswith("one")]
    gone = [own[i]["doc_key"] for i in lost]
    for row in rows if embedded else ():
        row["sentences"] = whole[row["doc_key"]].sentences
    kept = [r for r in rows if r["doc_key"] not in gone]
    path.write_text("".join(json.dumps(r) + "\n" for r in kept), encoding="utf-8")
    report = run(world, out=world.root / "lacking")
    error = report.failed["one_11"]
    assert f"the release lacks {len(gone)} window" in error.what
    assert all(key.rpartition("_")[2] in error.expected for key in gone)
    assert error.hint
    assert report.built + report.reused == ["two_12"]


def test_a_window_that_lacks_is_missed_whatever_the_rule_of_the_others(world):
    """The released silver windows fit neither rule that we know."""
    path = world.release / "bookcoref_annotations/split/test_split.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    two = [row for row in rows if row["doc_key"].startswith("two")]

    def failed(firsts):
        cut = [{"doc_key": f"one_11_split1350_S{n}", "gutenberg_key": "11", "clusters": [], "characters": []}
               for n in firsts]  # fmt: skip
        path.write_text("".join(json.dumps(row) + "\n" for row in cut + two), encoding="utf-8")
        return run(world).failed.get("one_11")

    firsts = [0, 75, 160, 235]
    assert failed(firsts) is None
    assert "S1 to S159" in failed([0, 160, 235]).expected
    assert "S76 to S234" in failed([0, 75, 235]).expected


def test_a_window_with_other_sentences_than_the_book_is_refused(world):
    path = world.release / "bookcoref_annotations/split/test_split.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row, built in zip(rows, read_folder(run(world).out, "split"), strict=True):
        row["sentences"] = built.sentences
    rows[0]["sentences"][0][0] += "x"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    error = run(world, out=world.root / "other").failed["one_11"]
    assert "sentences of this window are not those of the book" in error.what


def test_without_released_windows_the_rule_of_the_split_decides(world):
    """Silver books were cut by another rule than the test books; `verify` reads both kinds of keys."""
    annotations = world.release / "bookcoref_annotations"
    (annotations / "split/test_split.jsonl").unlink()
    (annotations / "full/test.jsonl").rename(annotations / "full/train.jsonl")
    report = run(world)
    found = [r for r in read_folder(report.out, "split") if r.doc_key.startswith("one")]
    book = read_folder(report.out)[0].to_book()
    assert [r.doc_key for r in found] == [w.doc_key for w in split_by_rule(book, "train").books]
    assert found[1].doc_key.startswith("one_11_split1350_S")
    checked = verify(report.out)
    assert checked.problems == []
    assert [book.problems for book in checked.books] == [[], []]


def test_unknown_books_get_the_nearest_names(world):
    with pytest.raises(UsageError, match="did you mean one_11"):
        run(world, books=("on_11",))
    with pytest.raises(UsageError, match="not a book of this rebuild"):
        run(world, texts={"x": world.full})


def test_a_release_without_annotations_wants_to_be_asked_for(world):
    import shutil

    shutil.rmtree(world.release / "bookcoref_annotations")
    with pytest.raises(UsageError, match="--texts-only"):
        run(world)
    report = run(world, texts_only=True)
    assert [b.mentions for b in report.record.books] == [0, 0]
    (world.release / "gutenberg_delta.json").rename(world.release / "changes.json")
    assert run(world, texts_only=True).record.books  # known by its first bytes
    (world.release / "changes.json").write_text("{}")
    with pytest.raises(SourceError, match="holds no release") as error:
        run(world)
    assert "changes.json" in str(error.value)


def test_everything_cached_works_with_the_network_unplugged(world, unplugged):
    run(world)
    assert run(world).unchanged


def test_dry_run_opens_nothing(world, unplugged):
    release, *rows = plan_fetch(RebuildSettings(out=world.root / "x", books=("1342", "animal_farm_0")))
    assert release.gutenberg_id == "release"
    assert [(r.gutenberg_id, r.action) for r in rows] == [("1342", "fetch")]
    assert rows[0].bytes > 500_000


def test_dry_run_of_a_local_release_lists_its_books(world):
    rows = plan_fetch(settings(world, offline=False))
    assert [(r.gutenberg_id, r.action) for r in rows] == [("11", "mirror"), ("12", "mirror")]


def test_an_interrupted_rebuild_goes_on_where_it_was(world, monkeypatch):
    calls = []
    real = room.build_book

    def interrupted(job):
        calls.append(job.part.doc_key)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(job)

    monkeypatch.setattr(room, "build_book", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(world)
    assert not (world.root / "bookcoref").exists()
    report = run(world)
    assert (report.reused, report.built) == (["one_11"], ["two_12"])


def test_a_full_disk_leaves_nothing_half_written(world, monkeypatch):
    run(world, out=world.root / "good")
    import bookcoref_data.files as files

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(SourceError, match="No space left"):
        run(world, out=world.root / "bad")
    assert not (world.root / "bad").exists()
    assert not list(world.root.rglob("*.part"))


def rebuild_process(world, out, cache):
    code = (
        "import sys; from pathlib import Path; from bookcoref_data.workflows.rebuild import *;"
        "from bookcoref_data.workflows.rebuild import rebuild;"
        f"r = rebuild(prepare(RebuildSettings(out=Path({str(out)!r}), release=Path({str(world.release)!r}),"
        f" mirror={str(world.mirror)!r}, cache_dir=Path({str(cache)!r}), offline=True)), jobs=2);"
        "print(r.record.digest)"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


@pytest.mark.long
def test_two_processes_may_rebuild_into_one_cache_at_once(world):
    cache = world.root / "shared-cache"
    running = [rebuild_process(world, world.root / f"out{i}", cache) for i in range(2)]
    digests = [p.communicate(timeout=120)[0].strip() for p in running]
    assert [p.returncode for p in running] == [0, 0]
    assert digests[0] == digests[1] != ""


def kill_worker(job):
    if job == "bad":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return job


def test_a_killed_worker_is_reported_and_the_others_finish():
    from bookcoref_data.workflows.engine import run_jobs

    outcomes = {o.job: o for o in run_jobs(kill_worker, ["a", "bad", "b", "c"], 2)}
    assert {j for j, o in outcomes.items() if o.result} == {"a", "b", "c"}
    assert isinstance(outcomes["bad"].error, SourceError)
    assert "killed" in str(outcomes["bad"].error)


def loaded(package):
    try:
        __import__(package)
    except ImportError:
        return False
    return True


def test_workers_do_without_packages_that_they_need_not():
    from bookcoref_data.workflows.engine import run_jobs

    jobs = ["tabnanny", "zipapp"]
    assert {o.job: o.result for o in run_jobs(loaded, jobs, 2, without=("tabnanny",))} == {
        "tabnanny": False, "zipapp": True,
    }  # fmt: skip
    assert loaded("tabnanny")


@pytest.mark.long
def test_the_real_pair_is_exact(shared_data, tmp_path, cache_home):
    """1342, 2500 and Animal Farm: released tokens, sentences and windows, from delta and mirror."""
    report = room.rebuild(
        prepare(RebuildSettings(out=tmp_path / "bookcoref", release=shared_data / "release",
                         mirror=str(shared_data / "gutenberg"), offline=True)), jobs=2,
    )  # fmt: skip
    assert report.failed == {}
    assert {b.check for b in report.record.books} == {"manifest"}
    for config, name in (("full", "maverick_xl"), ("split", "maverick_xl_splitted")):
        path = shared_data / f"systems/finetuned/{name}.jsonl"
        released = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found = read_folder(report.out, config)
        assert [r.doc_key for r in found] == [r["doc_key"] for r in released]
        assert [r.sentences for r in found] == [r["sentences"] for r in released]
    assert verify(Path(report.out)).exit_code == 0


def words(book, mention) -> str:
    return book.text_of(mention).replace("’", "'")


def drift(text: str) -> str:
    """The text as a later edition might have it: other quotes, one word changed, a preface."""
    head, mark, body = text.partition("CHAPTER")
    return f"{head}A NEW PREFACE.\r\n\r\nThis edition was mended by hand.\r\n\r\n{mark}" + body.replace(
        "lamp", "zanthern", 1
    ).replace("'", "’")


def test_an_earlier_build_is_carried_over_to_a_new_edition_and_the_card_says_so(world):
    old = read_folder(run(world).out)[0].to_book()
    text = world.raw("11").read_bytes().decode()
    world.raw("11").write_bytes(drift(text).encode())
    kept = run(world)
    assert kept.kept == {"one_11": "the released tokens of"}
    assert kept.record.books[0].check == "counts"
    report = run(world, replace=True)
    assert report.failed == {}
    book = report.record.books[0]
    assert book.check == "remapped"
    assert "REMAPPED" in book.notes[0]
    assert "REMAPPED" in (report.out / "README.md").read_text(encoding="utf-8")
    new = read_folder(report.out)[0].to_book()
    assert "zanthern" in new.tokens
    assert "zanthern" not in old.tokens
    assert [words(new, m) for m in new.characters[0].mentions] == [
        words(old, m) for m in old.characters[0].mentions
    ]
    assert verify(report.out, accept_remapped=True).exit_code == 0


def test_exact_forbids_and_min_kept_bounds_what_may_be_carried_over(world):
    run(world)
    text = world.raw("11").read_bytes().decode()
    world.raw("11").write_bytes(drift(text).encode())
    assert "another edition" in str(run(world, min_kept=None).failed["one_11"])
    assert run(world, min_kept=0.5).failed == {}
    world.raw("11").write_bytes((text[: len(text) // 2] + text[-2500:]).encode())
    error = run(world, min_kept=0.5).failed["one_11"]
    assert isinstance(error, EditionError)


def test_packs_are_a_release(world):
    from bookcoref_data.workflows.pack import pack_plan

    exact = run(world)
    pack_plan(prepare(settings(world)), world.root / "packs", world.root / "work")
    report = run(world, release=world.root / "packs", cache_dir=world.root / "fresh")
    assert report.record.digest == exact.record.digest
    assert {b.check for b in report.record.books} == {"pack"}


def test_a_rebuild_of_bookcoref_is_cited(world, tmp_path):
    import datasets

    asked = RebuildSettings(
        out=world.root / "d", release=world.release, mirror=str(world.mirror), offline=True
    )
    out = room.rebuild(prepare(asked), jobs=1).out
    found = datasets.load_dataset_builder(str(out), "full", cache_dir=str(tmp_path / "hf")).info
    assert "martinelli-etal-2025-bookcoref" in found.citation
    assert found.homepage.startswith("https://huggingface.co/datasets/")


@pytest.mark.parametrize("index", [False, pytest.param(True, marks=pytest.mark.long)])
def test_packs_of_others_have_neither_name_nor_paper_nor_licence_of_bookcoref(world, index):
    from bookcoref_data.workflows.pack import pack_plan

    packs = world.root / "packs"
    mine = {"licence": "CC-BY-4.0", "attribution": "Mira Holt"}
    pack_plan(prepare(settings(world)), packs, world.root / "work", settings=mine)
    if not index:
        (packs / "index.json").unlink()
    report = run(world, release=packs, cache_dir=world.root / "fresh")
    card = (report.out / "README.md").read_text(encoding="utf-8")
    assert report.record.title == "Books rebuilt from packs"
    assert "- **Annotations**: CC-BY-4.0 (Mira Holt)" in card
    assert "Martinelli" not in card
    assert "NC-SA" not in card


def test_packs_of_bookcoref_keep_its_name_and_paper(world):
    from bookcoref_data.workflows.pack import pack_plan

    pack_plan(prepare(settings(world)), world.root / "packs", world.root / "work")
    report = run(world, release=world.root / "packs", cache_dir=world.root / "fresh")
    assert report.record.title == "BookCoref"
    assert "martinelli-etal-2025" in (report.out / "README.md").read_text(encoding="utf-8")


BORN_INTERRUPTED = """
import os, signal, threading
from bookcoref_data.progress import Silent
from bookcoref_data.workflows.annotate_many import relaying
from bookcoref_data.workflows.engine import interrupts_held, run_jobs

signal.signal(signal.SIGINT, signal.default_int_handler)
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))
with relaying(Silent(), 2) as channel:
    channel.put(("note", "heard"))
    print(sorted(outcome.result for outcome in run_jobs(str, [1, 2, 3], 2)))

threading.Thread(target=threading.Event().wait, daemon=True).start()  # may be handed the signal, too
reached = False
try:
    with interrupts_held():
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10_000):
            os.getppid()
        reached = True
except KeyboardInterrupt:
    print("interrupted", reached)
"""


@pytest.mark.long
def test_an_interrupt_meets_no_process_that_is_just_starting():
    command = [sys.executable, "-c", BORN_INTERRUPTED]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout.splitlines(), ran.stderr) == (["['1', '2', '3']", "interrupted True"], "")
