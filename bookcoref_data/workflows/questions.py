"""`questions`: build multiple-choice questions from annotated books, answer and grade them.

OUT/default/{test,validation}.jsonl   the questions; README.md and task.json beside them
OUT/random/draw_01.jsonl ...          random draws without the limits of difficulty
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..annotation.cast import make_cast
from ..annotation.plan import default_plan
from ..books import Mention, Record
from ..errors import DataError, FormatError, UsageError
from ..formats import read_documents
from ..formats.layers import flat
from ..formats.lines import read_lines
from ..progress import Progress, begun, followed
from ..sources.store import Store
from ..tasks.folder import TaskFolder, read_rows, write_task_folder
from ..tasks.questions.baselines import annotation_answers, evenly, text_answers
from ..tasks.questions.build import FEATURES, NONE_OF_THE_ABOVE, QuestionSet, build_questions
from ..tasks.questions.grading import grade
from ..tasks.questions.prompts import answer_in
from ..tasks.questions.settings import QuestionSettings
from ..tasks.runner.run import AskedModel, Request
from .annotate import annotate_book, source_of
from .annotate_many import ReadingJob, annotate_one, read_state

NOTES = (
    "Do not publish questions made from data that others keep back as a test set.",
    '`answer` is "None of the Above" where the right phrase was taken out of the options; `entity` keeps it.',
    "Texts and annotations keep the licences of the books they come from.",
)
Rows = list[dict[str, Any]]
Phrases = Mapping[tuple[str, int], str]


def build(
    paths: Sequence[Path], settings: QuestionSettings, *, format: str | None = None,
    phrases: Phrases | None = None, cache_dir: Path | None = None, progress: Progress | None = None,
) -> QuestionSet:  # fmt: skip
    """The questions of some inputs in any format of this package; each path is a data set of its own.

    For a release of silver each book is annotated again, once: what that gives stays in the cache.
    """
    datasets = [(path.stem, read_documents(path, format)) for path in paths]
    if not any(records for _, records in datasets):
        raise DataError(f"{', '.join(map(str, paths))}: no document", hint="is this the right file?")
    keys = Counter(record.doc_key for _, records in datasets for record in records)
    if twice := next((key for key, count in keys.items() if count > 1), None):
        where = f"{', '.join(map(str, paths))}: leave one of the two out, or rename it"
        raise DataError(f"document {twice!r} is in two data sets", hint=where)
    if strange := [key for key, _ in phrases or () if key not in keys]:
        raise DataError(f"there are phrases for {strange[0]!r}, but no such document")

    def phrases_of(record: Record) -> list[str | None] | None:
        by_group = {group: text for (key, group), text in (phrases or {}).items() if key == record.doc_key}
        return [by_group.get(i) or None for i in range(max(by_group) + 1)] if by_group else None

    def sure(record: Record) -> frozenset[Mention]:
        """The mentions that our annotator gives to the same character again, and is so sure of."""
        cast = make_cast(name for name, _ in record.characters)
        job = ReadingJob(source_of(record), cast, default_plan("embedded"), store.root)
        annotate_one(job)
        state = read_state(job.finished())
        given = {(m.start, m.end, name) for name, mentions in record.characters for m in mentions}
        named = ((m, (m.start, m.end, state.names[m.character])) for m in state.mentions)
        return frozenset(m.mention for m, link in named if m.score >= settings.least and link in given)

    store, total = Store.open(cache_dir, progress), sum(len(records) for _, records in datasets)
    with store.working(), begun(progress, "questions", total, "documents") as advance:
        made = build_questions(
            datasets, settings, phrases=phrases_of,
            sure=lambda record: sure(record) if settings.least else None, listen=lambda _: advance(),
        )  # fmt: skip
    if settings.questions:
        rows = [question.to_dict() for question in made.tables["default", "test"]]
        # How many questions each baseline answers right; our annotator is asked some, evenly.
        books = {r.doc_key: r for _, rs in datasets for r in rs}
        some = evenly(rows, settings.judged) if settings.judged else []
        found = {name: grade(rows, given) for name, given in text_answers(rows).items()}
        if some:
            found["our annotator"] = grade(some, from_passages(some, books))
        for name, grades in found.items():
            groups = [g for g in grades.groups if g in ("all", "NOM", "PRON") or g.startswith("band")]
            shares = ((group, grades.groups[group]) for group in groups)
            made.baselines[name] = {group: (share.right, share.total) for group, share in shares}
    return made


def from_passages(questions: Rows, books: Mapping[str, Record]) -> Rows:
    """The answers of our annotator when it reads each passage alone, with the options as its cast."""
    plan, answers = default_plan("embedded"), []
    for question in questions:
        first, last = question["text_start"], question["text_end"]
        book = books[question["doc_key"]].to_book()
        starts = [0, *book.sentence_ends]
        inside = [s for s, at in zip(book.sentences, starts, strict=False) if first <= at < last]
        passage = replace(books[question["doc_key"]], sentences=inside, clusters=[], characters=[], extra={})
        cast = make_cast([o for o in question["options"] if o != NONE_OF_THE_ABOVE])
        state = annotate_book(source_of(passage), cast, plan).state
        place = (question["start"] - first, question["end"] - first)
        said = {(m.start, m.end): state.names[m.character] for m in state.mentions}
        answers.append({"id": question["id"], "answer": said.get(place, NONE_OF_THE_ABOVE)})
    return answers


def write_questions(made: QuestionSet, settings: QuestionSettings, out: Path) -> list[Path]:
    """Write the folder that `load_dataset` reads; returns its files."""
    tables = {name: [q.to_dict() for q in rows] for name, rows in made.tables.items()}
    scores = (
        f"{name}: {100 * right / max(1, total):.1f}% of {total:,} right, " + ", ".join(
            f"{group} {100 * r / max(1, n):.1f}%" for group, (r, n) in groups.items() if group != "all"
        ) for name, groups in made.baselines.items() for right, total in (groups["all"],)
    )  # fmt: skip
    content = TaskFolder(
        "questions", "Who is meant? Questions about mentions", FEATURES, tables,
        settings.to_dict(), (*NOTES, *scores),
        left_out=[f"{key}: {why}" for key, why in [*made.rejected.items(), *made.counts.items()]],
    )  # fmt: skip
    return write_task_folder(out, content)


def read_phrases(path: Path) -> dict[tuple[str, int], str]:
    """Phrases given by hand: a table with doc_key, group and phrase, separated by tabs.

    `group` is the number of the character or cluster in the document, from 0, characters first.
    """
    found = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split("\t")
        if not line.strip() or cells[0] == "doc_key":
            continue
        if len(cells) != 3 or not cells[1].isdecimal() or cells[1][6:] or (cells[0], int(cells[1])) in found:
            what, expected = f"{path}:{number}: the row has no phrase", "doc_key, group, phrase; each once"
            raise FormatError(what, expected=expected, found=repr(line[:80]))
        found[cells[0], int(cells[1])] = cells[2].strip()
    return found


def read_questions(path: Path, split: str = "test") -> Rows:
    """The rows of a question file, or of a split of the default config of a folder of questions."""
    if path.is_dir():
        file = path / (f"{split}.jsonl" if "/" in split else f"default/{split}.jsonl")
        if not file.is_file():
            there = sorted(str(p.relative_to(path).with_suffix("")) for p in path.glob("*/*.jsonl"))
            expected = ", ".join(there) or "a folder that `bookcoref-data questions build` wrote"
            raise UsageError(f"{path} has no questions {split!r}", expected=expected)
        path = file
    return read_rows(path, "question_row")


def from_annotation(questions: Rows, key: Path, response: Path) -> Rows:
    """The answers of an annotation: `key` is what the questions were made from, `response` has its tokens."""
    keys = _keys(questions, key)
    responses = {record.doc_key: record for record in read_documents(response) if record.doc_key in keys}
    for doc_key, other in responses.items():
        if other.sentences is not None and flat(keys[doc_key].sentences) != flat(other.sentences):
            hint = "annotate the tokenised documents (.jsonl), not their plain text"
            raise UsageError(f"document {doc_key!r} has other tokens in {response}", hint=hint)
    return list(annotation_answers(questions, keys, responses))


def _keys(questions: Rows, key: Path) -> dict[str, Record]:
    """The documents that the questions were made from. Raises UsageError: one is missing in `key`."""
    found = {record.doc_key: record for record in read_documents(key)}
    wanted = {question["doc_key"] for question in questions}
    if missing := sorted(wanted - found.keys()):
        raise UsageError(f"{key} has no document {missing[0]!r}", hint="give the file the questions are from")
    return {doc_key: record for doc_key, record in found.items() if doc_key in wanted}


def from_annotator(questions: Rows, key: Path, *, progress: Progress | None = None) -> Rows:
    """The answers of our own annotator: each document annotated anew, the options being its cast."""
    keys = _keys(questions, key)
    casts: dict[str, dict[str, None]] = {}
    for question in questions:
        names = [o for o in question["options"] if o != NONE_OF_THE_ABOVE]
        casts.setdefault(question["doc_key"], {}).update(dict.fromkeys(names))
    plan, made = default_plan("embedded"), {}
    for doc_key, names_of in followed(casts.items(), progress, "annotate", len(casts), "documents"):
        done = annotate_book(source_of(keys[doc_key]), make_cast(list(names_of)), plan)
        made[doc_key] = done.book.to_record()
    return list(annotation_answers(questions, keys, made))


def answer_with(requests: Sequence[Request], model: AskedModel) -> Rows:
    """The answers of a model, which are written, too."""
    replies, rows = model.replies(requests), []
    for request in requests:
        text = replies[request.key].text
        answer = text.strip() if text.strip() in request.choices else answer_in(text)
        rows.append({"id": request.key, "answer": answer, "response": text})
    model.write(rows)
    return rows
