"""A verb that is killed, or whose disk fails, at any step: the old state or the new one, and never a mix.

Every run: the verb with a fault at step n, a reader's look at what is there, the same command again without a
fault. By default one step of seven verbs (of all with -m "") and fault is drawn; `BOOKCOREF_STEPS` says how
many, or "all". A file
in `BOOKCOREF_STEPS_LOG` gets a line for each verb that passed with the number of its steps; what stands there
is not run again, so that a long run can go on where it stopped.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data.annotation.embedded.parsing import load_model
from bookcoref_data.errors import BookcorefError
from bookcoref_data.outputs import check, settle
from bookcoref_data.sample_story.story import sample_path
from bookcoref_data.workflows.code_version import annotator_version
from tests.faults.faulty import FINE, KILLED, REFUSED, TRACEBACK, Faults, digest, in_child
from tests.faults.workplace import NAMES, fill

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="forks")]
STEPS = os.environ.get("BOOKCOREF_STEPS", "1")
LOG = os.environ.get("BOOKCOREF_STEPS_LOG")
MIRROR = sample_path("mirror")


@dataclass(frozen=True)
class Verb:
    """A command, what it writes, and what was there before it."""

    run: Callable[[], object]
    out: str = "o"
    before: Callable[[], object] | None = None
    by_book: bool = False
    """Whether a fault costs one book, which is named, and the others are written."""
    once: bool = False
    """Whether it refuses to run again where it is done."""
    apart: bool = False
    """Whether its files stand for themselves: a report is there where the text is not."""


def two_books() -> None:
    Path("two").mkdir()
    for name in ("a", "b"):
        text = Path("tiny.jsonl").read_text().replace('"tiny"', f'"{name}"')
        Path("two", f"{name}.jsonl").write_text(text)


def table_of_another_book() -> None:
    bc.export("system.conll", "csv", "o")


VERBS = {
    "annotate": Verb(lambda: bc.annotate("tiny.jsonl", list(NAMES), out="o")),
    "annotate again": Verb(
        lambda: bc.annotate("tiny.jsonl", list(NAMES), out="o"),
        before=lambda: bc.annotate("tiny.jsonl", ["Anna"], out="o"),
    ),
    "annotate many": Verb(
        lambda: bc.annotate_many("two", "names.txt", out="o", jobs=1), before=two_books, by_book=True
    ),
    "edits apply": Verb(lambda: bc.apply_edits("ann", "edits.jsonl", "ann"), "ann"),
    "edits diff": Verb(lambda: bc.diff("ann", "tiny.jsonl", out="o")),
    "export csv": Verb(lambda: bc.export("ann", "csv", "o"), before=table_of_another_book),
    "export booknlp": Verb(lambda: bc.export("ann", "booknlp", "o/t.tokens")),
    "export tei": Verb(lambda: bc.export("ann", "tei", "o")),
    "view": Verb(lambda: bc.view("ann", "o/page.html")),
    "report": Verb(lambda: bc.report("ann", "o/page.md", plots=False)),
    "clean": Verb(lambda: bc.clean("lamp.txt", out="o/text.txt", map="o/map.json")),
    "convert": Verb(lambda: bc.convert("tiny.jsonl", "o/t.conll")),
    "align": Verb(
        lambda: bc.align("system.conll", "lamp.txt", out="o/t.jsonl", report="o/r.json"), apart=True
    ),
    "merge": Verb(lambda: bc.merge("parts.conll", "o", by="id", save="d.tsv")),
    "questions build": Verb(
        lambda: bc.questions_build("system.conll", "o", test=3, dev=0, draws=0),
        before=lambda: bc.questions_build("system.conll", "o", test=2, dev=1, draws=0),
    ),
    "contexts build": Verb(lambda: bc.contexts_build("bookcoref", "o", budget=100, strategies=["lead"])),
    "contexts references": Verb(lambda: bc.contexts_references("guides", "bookcoref", "o/r.jsonl")),
    "import": Verb(lambda: bc.import_corpus("fantasycoref", "corpus", "o", records="r.jsonl")),
    "match": Verb(lambda: bc.match("casts.jsonl", "o", catalogue="rdf.tar.bz2")),
    "create": Verb(
        lambda: bc.create(
            "o", casts=["casts.jsonl"], catalogue="rdf.tar.bz2", annotation=False, jobs=1, mirror=MIRROR
        )
    ),
    "rebuild": Verb(
        lambda: bc.rebuild("o", sample=True, jobs=1),
        before=lambda: bc.import_corpus("fantasycoref", "corpus", "p"),
    ),
    "pack": Verb(lambda: bc.pack("bookcoref", "o", mirror=MIRROR, licence="CC0-1.0", jobs=1)),
    "publish --dry-run": Verb(lambda: bc.publish("bookcoref", "me/lamp", dry_run=True, out="o"), once=True),
    "propose casts": Verb(lambda: bc.propose_casts("bookcoref", "o")),
    "manifest write": Verb(lambda: bc.manifest_write("bookcoref", "o/m.json")),
    "harvest": Verb(lambda: bc.harvest_liscu("o/list.jsonl", names=["guide.tsv"])),
    "sample": Verb(lambda: bc.sample("o")),
}


OF_EVERY_KIND = ("annotate many", "edits apply", "export csv", "convert", "rebuild", "clean", "merge")
"""One verb for each way to write, for a quick run: a folder of jobs, in its place, beside others, one file, a
data set, two files in one move, two in two places. `.ci/run` takes all verbs."""
QUICK = {(name, kill) for name in OF_EVERY_KIND for kill in (True, False)} - {("annotate many", True)}
"""A killed job costs most; in a quick run jobs fail, and the other verbs are killed."""


def _rooms() -> Iterator[str]:
    """The modules of this package that verbs import when they run."""
    root = Path(bc.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.stem not in ("__main__", "__init__", "spacy_plugin"):
            yield ".".join(("bookcoref_data", *path.relative_to(root).with_suffix("").parts))


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    # What the children need is loaded once, before they are forked; nothing of it is used, so no thread runs.
    packages = ("spacy", "pyarrow.parquet", "polars", "gutenbergpy", "huggingface_hub", "requests")
    for module in (*packages, "lxml.etree", "bs4", "bibtexparser", "rich.progress", *_rooms()):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    with contextlib.suppress(BookcorefError):
        load_model()
    annotator_version("embedded")
    gc.collect()
    gc.freeze()  # else each child copies what it looks through for garbage: two thirds of its time
    folder = tmp_path_factory.mktemp("filled")
    assert in_child(lambda: fill(folder)) == (FINE, "")
    return folder


@dataclass
class Place:
    """Copies of a folder in which a verb can run, with what the verb makes there when nothing fails."""

    verb: Verb
    template: Path
    root: Path
    number: int = 0

    def fresh(self) -> Path:
        self.number += 1
        target = self.root / str(self.number)
        # All but the cache can be linked: nothing of ours changes a file in its place.
        shutil.copytree(self.template, target, symlinks=True)
        return target

    def run(self, folder: Path, work: Callable[[], object], faults: Faults | None = None) -> tuple[int, str]:
        def there() -> None:
            os.chdir(folder)
            os.environ["BOOKCOREF_DATA_HOME"] = str(folder / "cache")
            work()

        return in_child(there, faults)


def state(folder: Path) -> dict[str, str]:
    """Everything that is there but the cache; the states after each step of `annotate` are no result."""
    return {
        name: sha
        for name, sha in digest(folder).items()
        if not name.startswith("cache") and "/states" not in name
    }


def looked_at(place: Place, folder: Path, out: str) -> dict[str, str] | None:
    """What a reader finds in a copy of what was left; None when it refuses it."""
    copy = place.root / "look"
    shutil.copytree(folder, copy, symlinks=True)

    try:
        for path in (copy / out, copy / f"{out}/dataset"):
            settle(path)
            check(path)
        found = state(copy)
    except BookcorefError:
        found = None
    shutil.rmtree(copy)
    return found


def steps_of(total: int, seed: str) -> Iterator[int]:
    count = total if STEPS == "all" else min(int(STEPS), total)
    return iter(sorted(random.Random(seed).sample(range(1, total + 1), count)))


@pytest.mark.parametrize(("name", "kill"), [
    pytest.param(name, kill, id=f"{name}-{'killed' if kill else 'failing'}",
                 marks=[] if (name, kill) in QUICK else [pytest.mark.long])
    for name in VERBS for kill in (True, False)
])  # fmt: skip
def test_a_fault_at_any_step_leaves_the_old_state_or_the_new_one(filled, tmp_path, name, kill):
    verb, line = VERBS[name], f"{name}, {'killed' if kill else 'failing'}: "
    if LOG and Path(LOG).exists() and line in Path(LOG).read_text():
        pytest.skip(f"stands in {LOG}")
    place = Place(verb, tmp_path / "template", tmp_path)
    shutil.copytree(filled, place.template, symlinks=True)
    if verb.before:
        assert place.run(place.template, verb.before) == (FINE, "")
    old = state(place.template)
    whole = place.fresh()
    counter = Faults(0, whole, kill=False)

    def counted() -> None:
        verb.run()
        Path("steps").write_text(str(counter.count))

    assert place.run(whole, counted, counter) == (FINE, "")
    total = int((whole / "steps").read_text())
    (whole / "steps").unlink()
    new = state(whole)
    assert new != old
    assert not [n for n in new if ".part" in n or ".bookcoref-data" in n]
    for at in steps_of(total, f"{name}{kill}"):
        folder = place.fresh()
        code, said = place.run(folder, verb.run, Faults(at, folder, kill=kill))
        where = f"step {at} of {total}: {said[-1500:]}"
        assert code != TRACEBACK, where
        assert code in ((KILLED,) if kill else (FINE, REFUSED)), where
        found = looked_at(place, folder, verb.out)
        parts = [_parts(one, verb.out) for one in (found, old, new)]
        some = (verb.by_book and not kill) or (verb.apart and parts[0].items() <= parts[2].items())
        assert found is None or parts[0] in parts[1:] or some, f"mixed after {where}"
        again, told = place.run(folder, verb.run)
        done = again == REFUSED and verb.once and parts[0] == parts[2]
        assert again == FINE or done, f"{where}\n--- again: {told[-1500:]}"
        assert state(folder) == new, where
        shutil.rmtree(folder)
    if LOG:
        with open(LOG, "a") as log:
            log.write(f"{line}{total if STEPS == 'all' else min(int(STEPS), total)} of {total} steps\n")


def _parts(found: dict[str, str] | None, out: str) -> dict[str, str]:
    """What belongs to an output. Files that wait hurt nobody: the next command removes them."""
    mine = {name: sha for name, sha in (found or {}).items() if name.split("/")[0] == out and sha != "empty"}
    return {name: sha for name, sha in mine.items() if "/.bookcoref-data/" not in name}
