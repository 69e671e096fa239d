"""The link reader, trained on LitBank as the paper did it (Appendix B), and scored by linking."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..annotation.cast import make_cast
from ..annotation.hub.backend import batches_for
from ..annotation.hub.device import choose_device
from ..annotation.hub.lessons import WINDOW_WORDS, Lesson, as_sample, lessons_of, parts_of, with_cast
from ..annotation.hub.reader import Reader
from ..annotation.hub.steps import LinkStep
from ..annotation.hub.training import WINDOWS, train
from ..annotation.hub.weights import SMALL_FILES, find_folder, need_packages
from ..annotation.steps import Job
from ..books import Book
from ..errors import UsageError
from ..files import write_bytes, write_text
from ..formats.conversion_report import ConversionReport
from ..formats.corpora import read_corpus
from ..late import safetensors
from ..outputs import RECORD
from ..progress import Progress, Silent, begun
from ..scoring import evaluate
from ..shapes import AsFields
from .import_corpus import tokenise

COLUMNS = ("part", "documents", "windows", "names", "mentions", "precision", "recall", "f1")


@dataclass(slots=True)
class LinkTraining(AsFields):
    """What was done: a row per part of LitBank; the loss of each step; F1 on "dev" before training and after
    each epoch. Scores are percent, on (name, span) pairs without pronouns; None where nothing was trained."""

    out: Path
    start: str
    steps: int
    device: str = ""
    parts: list[dict[str, Any]] = field(default_factory=list, repr=False)
    losses: list[float] = field(default_factory=list, repr=False)
    dev_f1: list[float] = field(default_factory=list, repr=False)
    files: list[str] = field(default_factory=list, repr=False)


def link_train(
    source: Path, out: Path, start: Mapping[str, Any], *, epochs: int = 10, steps: int = 0, seed: int = 0,
    data_only: bool = False, progress: Progress | None = None,
) -> LinkTraining:  # fmt: skip
    """What `link_train` of the front door does, from the reader that the settings `start` name."""
    if not data_only:
        need_packages("link-train")
    progress = progress or Silent()
    parts = read_parts(source)
    done = LinkTraining(out, start["model"], 0)
    for name, books in parts.items():
        lessons = [lesson for book in books for lesson in lessons_of(book)]
        samples = (json.dumps(as_sample(lesson), ensure_ascii=False) + "\n" for lesson in lessons)
        write_text(out / f"{name}.jsonl", "".join(samples))
        people = [character for book in books for character in book.characters]
        counts = (len(books), len(lessons), len(people), sum(len(p.mentions) for p in people))
        done.parts.append(dict(zip(COLUMNS, (name, *counts, None, None, None), strict=True)))
    if not data_only:
        _train(parts, start, done, epochs, steps, seed, progress)
    done.files = [f"{name}.jsonl" for name in parts] + done.files
    return done


def read_parts(source: Path) -> dict[str, list[Book]]:
    """The documents of LitBank by part, with their casts; those in which nobody has a name are left out."""
    found = read_corpus("litbank", source, ConversionReport("litbank", "folder"), tokenise)
    books = {item.record.doc_key: with_cast(item.record) for item in found}
    parts = {part: [books[name] for name in names] for part, names in parts_of([*books]).items()}
    named = {part: [book for book in books if book.characters] for part, books in parts.items()}
    if not all(named.values()):
        what = f"{source} has too few documents in which people have names"
        hint = "the brat files (coref/brat) say what is a person's name"
        raise UsageError(what, expected="the 100 of LitBank", found=f"{len(books)} documents", hint=hint)
    return named


def _train(
    parts: Mapping[str, Sequence[Book]], start: Mapping[str, Any], done: LinkTraining, epochs: int,
    steps: int, seed: int, progress: Progress,
) -> None:  # fmt: skip
    device = choose_device(start.get("device", "auto"))
    named = {name: start.get(name, "") for name in ("model", "revision", "encoder", "encoder_revision")}
    reader = Reader.load(**named, device=device)
    reader.batches = batches_for(reader.config, "float32", device, 0)
    lessons: list[Lesson] = [lesson for book in parts["train"] for lesson in lessons_of(book)]
    done.device, done.steps = str(device), steps or -(-len(lessons) // WINDOWS) * epochs
    best: dict[str, Any] = {}

    def after_epoch() -> None:
        done.dev_f1.append(_score(reader, parts["dev"])["f1"])
        if done.dev_f1[-1] >= max(done.dev_f1[1:]):
            best.update((name, weight.detach().cpu().clone()) for name, weight in reader.weights().items())

    done.dev_f1.append(_score(reader, parts["dev"])["f1"])
    with begun(progress, "train", done.steps, "steps") as advance:

        def heard(loss: float) -> None:
            done.losses.append(round(loss, 4))
            advance()

        train(reader, lessons, done.steps, seed, after_epoch, heard)
    for name, weight in reader.weights().items():
        weight.data.copy_(best[name])
    for row in done.parts[1:]:
        row |= _score(reader, parts[row["part"]])
    published = find_folder(named["model"], named["revision"])
    for path in sorted(path for kind in SMALL_FILES for path in published.glob(kind)):
        if path.name != RECORD and ".index." not in path.name:
            write_bytes(done.out / path.name, path.read_bytes())
            done.files.append(path.name)
    write_bytes(done.out / "model.safetensors", safetensors.torch.save(best))
    done.files.append("model.safetensors")


def _score(reader: Reader, books: Iterable[Book]) -> dict[str, float]:
    """Linking by the step of the pipeline, on windows of the same size, in percent."""
    step = LinkStep({"model": "", "window_words": WINDOW_WORDS, "revision": "trained"}, lambda: reader)
    jobs = [Job(book, make_cast(character.name for character in book.characters)) for book in books]
    answers = [step.run(job, job.empty_state(), Silent()).to_book(job.book) for job in jobs]
    linking = evaluate(books, answers).linking
    names = ("precision", "recall", "f1")
    return {name: round(100 * getattr(linking.linked, name), 2) if linking else 0.0 for name in names}
