"""Mutated inputs of every kind that people and other programs hand in: taken or refused, never a traceback.

    python -m benchmarks.check_inputs [--kind casts] [--inputs 100000] [--seed 1] [--log FILE]

An input is a sound one with a few letters or values changed, taken away, doubled, or of another kind. Our own
readers get it, in this process. What they refuse must be refused with an error of ours. What they take must
be fit for use: it is applied, scored or written, and what is written must be read again, the same.
The work is cut into pieces of 1,000; with `--log FILE` a run that was stopped goes on after the last one.
Exits with 1 when one input ended in a traceback or left what our readers refuse.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.pieces import Pieces
from bookcoref_data.annotation.cast import format_cast, make_cast, parse_cast
from bookcoref_data.annotation.plan import read_plan as read_annotation_plan
from bookcoref_data.asking.answers import settled
from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.characters.match_rules import overrides_from
from bookcoref_data.characters.table import CastRow, read_table, write_table
from bookcoref_data.edits import apply, format_edits, parse_edits
from bookcoref_data.errors import BookcorefError, SourceError
from bookcoref_data.formats import FORMATS, ConversionReport, read_documents, write_documents
from bookcoref_data.formats.annotated import read_annotations, write_annotations
from bookcoref_data.reading_page import render
from bookcoref_data.reading_page.serve import EditServer, version_of
from bookcoref_data.resources import load_toml, resource
from bookcoref_data.shapes import check
from bookcoref_data.tasks.folder import read_rows
from bookcoref_data.tasks.guides.identification import baselines, grade_identification
from bookcoref_data.tasks.guides.identification import requests_of as requests_who_is_masked
from bookcoref_data.tasks.guides.texts import references_for
from bookcoref_data.tasks.questions.baselines import evenly, text_answers
from bookcoref_data.tasks.questions.grading import Grades, grade
from bookcoref_data.tasks.questions.prompts import request_of
from bookcoref_data.tasks.questions.settings import read_settings
from bookcoref_data.workflows import contexts as contexts_work
from bookcoref_data.workflows import questions as questions_work
from bookcoref_data.workflows.correct import apply_edits, read_edits
from bookcoref_data.workflows.create import load_plan
from bookcoref_data.workflows.given import corrections_of
from bookcoref_data.workflows.harvest import recipe_table
from bookcoref_data.workflows.match import read_matched
from bookcoref_data.workflows.merge import read_plan as read_merge_plan

TOKENS = "Anna met Tom . “ I saw you , ” she said . He laughed .".split(" ")  # noqa: SIM905
PLACE = {"tokens": [0, 0], "words": "Anna", "before": "", "after": "met Tom"}
HE = {"tokens": [12, 12], "words": "He", "before": "said .", "after": "laughed ."}
QUOTE = {"tokens": [4, 9], "words": "“ I saw you , ”", "before": "Tom .", "after": "she said"}
EDITS = [
    {"op": "link", "at": HE, "was": "Tom", "character": "Anna", "author": "Ada", "date": "2026-11-21"},
    {"op": "unlink", "at": PLACE, "was": "Anna"},
    {"op": "span", "at": HE, "to": PLACE, "was": "Tom"},
    {"op": "speaker", "at": QUOTE, "speaker": "Tom", "addressees": ["Anna"]},
    {"op": "new", "character": "The Stranger", "confirmed": True},
    {"op": "rename", "character": "Anna", "name": "Mrs. Hill"},
    {"op": "merge", "character": "Tom", "into": "Anna", "group": "a"},
    {"op": "seen", "at": HE, "name": "cannot tell"},
    {"op": "seen", "character": "Tom", "into": "Anna", "name": "two people"},
]
ODD = (
    *(None, True, -1, 0, 10**30, 1.5, "", " ", "\x00", "\ud800", "x" * 2000, [], {}, [[]], "Tom", "²"),
    *("A\u2028B", "1", "\n", [None], {"": ""}, "../x", "[" * 200),
)
LETTERS = ("\x00", "\ud800", "\u202e", "é", '"', "\\", "\n", "", "\t", "\u2028", "{{", "|")
CUTS = (
    "[",
    "]",
    '"',
    "=",
    "\n",
    "3",
    "-1",
    "true",
    "\x00",
    "{",
    "}",
    ".",
    "nan",
    "x = 1\n",
    "",
    "inf",
    "0",
    "\t",
)
CAST = "# cast\nMr. Darcy; Fitzwilliam Darcy; Darcy\nElizabeth; Lizzy; Eliza [f]\nThe Gardiners [group]\n"
Draw = random.Random
Trial = Callable[[Draw, Path], None]
"""Makes an input, hands it in, uses what is taken. Raises BookcorefError where it is refused."""


class Unfit(Exception):
    """An input was taken, and what it left is not what our own readers give back."""


def story() -> Annotation:
    """A sentence or two with two characters and a quotation."""
    mentions = tuple(Marked(*row) for row in ((0, 0, 0), (2, 2, 1), (10, 10, 0), (12, 12, 1)))
    return Annotation(Book.make("b", [TOKENS]), ("Anna", "Tom"), mentions, (Quote(4, 9, 0, (1,)),))


def mutated(value: Any, draw: Draw) -> Any:
    """The value with something in it changed, taken away, doubled, or of another kind."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        key, kind = draw.choice(list(value)), draw.random()
        if kind < 0.2:
            return {k: v for k, v in value.items() if k != key}
        if kind < 0.3:
            return value | {draw.choice(["colour", key.upper(), ""]): draw.choice(ODD)}
        return value | {key: mutated(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.6:
        place = draw.randrange(len(value))
        changed = [*value[:place], mutated(value[place], draw), *value[place + 1 :]]
        return draw.choice([changed, value + value, value[1:]])
    if isinstance(value, str) and value and draw.random() < 0.5:
        place = draw.randrange(len(value))
        return value[:place] + draw.choice(LETTERS) + value[place:]
    if type(value) is int and draw.random() < 0.5:
        return value + draw.choice([-20, -1, 1, 3, 10**9])
    return draw.choice(ODD)


def cut(text: str, draw: Draw, pieces: Sequence[str] = CUTS) -> str:
    """The text with one to six short pieces put in, some in place of a few letters."""
    for _ in range(draw.randint(1, 6)):
        place = draw.randrange(len(text) + 1)
        text = text[:place] + draw.choice(pieces) + text[place + draw.randint(0, 8) :]
    return text


def lines_of(rows: Sequence[Any], draw: Draw, share: float = 0.4) -> str:
    """Rows as JSON lines, this share of them mutated, at times with the text cut, too."""
    given = [mutated(row, draw) if draw.random() < share else row for row in rows]
    text = "".join(json.dumps(row) + "\n" for row in given)
    return cut(text, draw) if draw.random() < share / 4 else text


def put(folder: Path, name: str, text: str) -> Path:
    """A file with this text; half surrogates become bytes that are no UTF-8."""
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def same(what: str, one: Any, other: Any) -> None:
    """Raises Unfit where two things differ."""
    if one != other:
        raise Unfit(f"{what}: {one!r:.200} and {other!r:.200}")


def edits(draw: Draw, folder: Path) -> None:
    text = lines_of(draw.sample(EDITS, draw.randint(1, 5)), draw)
    given = parse_edits(text)
    settled(given)
    result = apply(story(), given).annotation
    again = apply(story(), parse_edits(format_edits(given))).annotation
    same("applied twice", again, result)
    for name in result.names:
        check(name, "name", "name")
    corrections_of(given, story().book, make_cast(["Anna", "Tom"]))
    if draw.random() < 0.03:
        render(result)


@cache
def annotation_folder(folder: Path) -> Path:
    write_annotations([story()], folder / "ann")
    return folder / "ann"


@cache
def edit_server(folder: Path) -> EditServer:
    made = EditServer(lambda known: "", folder / "kept.jsonl")
    made._server.server_close()
    return made


def edits_on_disk(draw: Draw, folder: Path) -> None:
    """The command that applies corrections to a folder, and the page that saves them."""
    text = lines_of(draw.sample(EDITS, draw.randint(1, 3)), draw, 0.3)
    path = put(folder, "e.jsonl", text)
    given = read_edits(path)
    server = edit_server(folder)
    if server.save(path.read_text("utf-8"), version_of(server.text())) is None:
        raise Unfit("the page did not save what the command reads")
    same("saved", read_edits(server.edits), given)
    (done,) = apply_edits(annotation_folder(folder), given, folder / "o", replace=True)
    (back,) = read_annotations(folder / "o")
    same("characters", {*back.names, *done.unmentioned}, set(done.annotation.names))
    same("mentions", _named(back), _named(done.annotation))


def _named(a: Annotation) -> list[tuple[Any, ...]]:
    """All mentions and quotes with the names of those whom they are about."""
    names = (*a.names, "")
    said = [(q.start, q.end, names[q.speaker], *(names[to] for to in q.addressees)) for q in a.quotes]
    return [(m.start, m.end, names[m.character], m.rule) for m in a.mentions] + said


def casts(draw: Draw, folder: Path) -> None:
    pieces = (";", "\n", "[", "]", "#", "-", ".", "\x00", "\u2028", " ", "é", "", "\x85", "; -", "\ud800")
    cast = parse_cast(cut(CAST, draw, pieces))
    if not any("[" in n or "#" in n for e in cast.entries for n in (e.name, *e.aliases)):
        same("the cast", parse_cast(format_cast(cast)).entries, cast.entries)


ROW = {
    "source": "shmoop", "work_id": "The Lamp", "title": "The Lamp", "character": "Ada", "order": 1,
    "author": "Mira Holt", "titles": ["A Lamp"], "character_aliases": ["A."], "minor": False,
    "gutenberg_ids": ["12"], "flags": [], "raw_character": "Ada",
}  # fmt: skip
MATCHED = {
    "gutenberg_id": 3, "title": "T", "author": "X", "source": "s", "work_id": "w",
    "characters": [{"name": "A", "aliases": ["B"]}, {"name": "C"}],
}  # fmt: skip


def cast_tables(draw: Draw, folder: Path) -> None:
    rows = list(read_table(put(folder, "t.jsonl", lines_of([ROW, ROW], draw))))
    write_table(folder / "again.jsonl", rows)
    same("the table", list(read_table(folder / "again.jsonl")), rows)
    assert all(isinstance(row, CastRow) for row in rows)


def matched_books(draw: Draw, folder: Path) -> None:
    for book in read_matched(put(folder, "m.jsonl", lines_of([MATCHED, MATCHED], draw))):
        make_cast(c["name"] for c in book["characters"])


def _harvest(path: Path) -> object:
    return [recipe_table(path, name) for name in ("wikidata", "study_guides", "agent")]


def _overrides(path: Path) -> object:
    return overrides_from(load_toml(path))


RECIPES: tuple[tuple[str, Callable[[Path], object]], ...] = (
    ("bookcoref.toml", load_plan), ("open-silver.toml", load_plan), ("embedded.toml", read_annotation_plan),
    ("silver-unsure-no.toml", read_annotation_plan), ("silver-as-published.toml", read_annotation_plan),
    ("identifyme.toml", lambda path: read_settings("repo", path)), ("harvest.toml", _harvest),
    ("identifyme.toml", lambda path: read_settings("books", path)), ("longtonotes.toml", read_merge_plan),
    ("bookworm.toml", contexts_work.read_plan), ("match-overrides.toml", _overrides),
)  # fmt: skip


@cache
def recipe_text(name: str) -> str:
    return resource("recipes", name).read_text(encoding="utf-8")


def recipes(draw: Draw, folder: Path) -> None:
    name, reader = draw.choice(RECIPES)
    reader(put(folder, "r.toml", cut(recipe_text(name), draw)))


@cache
def annotation_files(folder: Path) -> dict[str, list[Any]]:
    """The lines of a sound annotation of a book with a source text, chapters and drops."""
    write_annotations([_sourced()], folder / "good")
    names = ("annotation.jsonl", "provenance.jsonl", "quotes.jsonl")
    rows = {n: [json.loads(x) for x in (folder / "good" / n).read_text("utf-8").splitlines()] for n in names}
    (folder / "bad" / "texts").mkdir(parents=True)
    (folder / "bad" / "texts" / "b.txt").write_text(" ".join(TOKENS), encoding="utf-8")
    return rows


def _sourced() -> Annotation:
    from bookcoref_data.books.annotation import Dropped, SourceText
    from bookcoref_data.files import sha256_bytes

    text = " ".join(TOKENS)
    starts = tuple(sum(len(t) + 1 for t in TOKENS[:i]) for i in range(len(TOKENS)))
    ends = tuple(s + len(t) for s, t in zip(starts, TOKENS, strict=True))
    source = SourceText("b.txt", sha256_bytes(text.encode("utf-8")), text, starts, ends)
    dropped = (Dropped(10, 10, 1, "link", "unsure", 0.4),)
    return replace(story(), source=source, dropped=dropped, chapters=(("I", 0),))


def annotations(draw: Draw, folder: Path) -> None:
    good = annotation_files(folder)
    changed = draw.choice(list(good))
    for name, rows in good.items():
        share = (0.9 if len(rows) == 1 else 0.4) if name == changed else 0.0
        put(folder / "bad", name, lines_of(rows, draw, share))
    text = " ".join(TOKENS)
    put(folder / "bad" / "texts", "b.txt", cut(text, draw) if draw.random() < 0.05 else text)
    for number, found in enumerate(read_annotations(folder / "bad")):
        if draw.random() < 0.03:
            render(found)
        write_annotations([found], folder / f"again{number}")
        (back,) = read_annotations(folder / f"again{number}")
        # A mention of a character whose name is there twice belongs to both, so only the places are compared.
        same("what is said", [m[:2] for m in back.mentions], [m[:2] for m in found.mentions])
        same("quotes", [q[:2] for q in back.quotes], [q[:2] for q in found.quotes])


@cache
def document_files(folder: Path) -> list[tuple[str, Path, str]]:
    """(format, target, file text) of every file that each format makes of a small record."""
    found = []
    suffixes = {"jsonl": "x.jsonl", "conll": "x.conll", "corefud": "x.conllu"}
    for name in FORMATS:
        target = folder / "documents" / suffixes.get(name, name)
        plain, speakers = story().to_record(), [[""] * 4, ["Anna"] * 11]
        record = replace(plain, sentences=[TOKENS[:4], TOKENS[4:]], gutenberg_key="1", speakers=speakers)
        write_documents([record], target, name)
        files = [target] if target.is_file() else sorted(target.iterdir())
        found += [(name, file, file.read_text(encoding="utf-8")) for file in files]
    return found


def documents(draw: Draw, folder: Path) -> None:
    """A file of one of the formats with letters changed, read, and written in any format."""
    name, path, text = draw.choice(document_files(folder))
    pieces = (*CUTS, "(", ")", "|", "(1", "1)", "_", "*", "#", "Entity=(e1", "T1\t", "-")
    target = path if path.parent.name == "documents" else path.parent
    try:
        path.write_bytes(cut(text, draw, pieces).encode("utf-8", "surrogatepass"))
        found = read_documents(target, name)
    finally:
        path.write_text(text, encoding="utf-8")
    other = draw.choice(list(FORMATS))
    out = folder / "w" / ("w.jsonl" if other == "jsonl" else f"w.{other}")
    shutil.rmtree(out.parent, ignore_errors=True)
    report = ConversionReport()
    write_documents(found, out, other, report=report)
    if not report.not_kept:
        back = {r.doc_key: r for r in read_documents(out, other)}
        same("documents", list(back), [r.doc_key for r in found])
        for r in found:
            same(
                "sentences",
                [s for s in r.sentences or [] if s],
                [s for s in back[r.doc_key].sentences or [] if s],
            )
            same("clusters", r.clusters, back[r.doc_key].clusters)


QUESTIONS = [
    {
        "id": f"lamp-{number}", "dataset": "lamp", "doc_key": "b", "start": 12, "end": 12, "band": "",
        "category": category, "mention": "He", "text": "Anna met Tom . {{ He }} laughed .",
        "options": ["Anna", "Tom", "None of the Above"], "answer": "Tom", "entity": "Tom",
        "pronoun_class": 2, "is_nested": nested, "overlapping": ["Anna"] if nested else [],
        "genders": ["female", "male", "none"], "in_dialogue": False, "fuzzy_score": 40,
    }
    for number, (category, nested) in enumerate([("PRON", False), ("NOM", True), ("PRON", True)])
]  # fmt: skip


def told(draw: Draw, grades: Grades) -> None:
    """Grades as JSON, now and then: the intervals of two dozen groups take most of the time."""
    if draw.random() < 0.05:
        json.dumps(grades.to_dict())


def questions(draw: Draw, folder: Path) -> None:
    rows = questions_work.read_questions(put(folder, "q.jsonl", lines_of(QUESTIONS, draw)))
    rows = evenly(rows, 2) if draw.random() < 0.3 else rows
    for variant, wording in (("desc", "ours"), ("base", "published")):
        [request_of(row, variant, wording) for row in rows]
    for given in text_answers(rows).values():
        told(draw, grade(rows, given))


def answers(draw: Draw, folder: Path) -> None:
    rows = QUESTIONS
    given = [{"id": q["id"], "answer": q["answer"]} for q in rows]
    said = [
        {"id": q["id"], "response": f"Mention: {{{{x}}}}\nThe mention refers to: {q['answer']}"} for q in rows
    ]
    found = read_rows(put(folder, "a.jsonl", lines_of([*given, *said], draw)), "answer_row")
    told(draw, grade(rows, found))


MASKED = {
    "id": "1", "doc_key": "x", "title": "T", "source": "s", "summary": "Ada bakes. Tom rows.", "masks": 1,
    "masked_description": "<mask> bakes.", "options": ["Ada", "Tom"], "answer": "Ada", "prompt": "Who?",
}  # fmt: skip
TOLD = {
    "doc_key": "b",
    "gutenberg_key": "0",
    "character": "Anna",
    "aliases": ["Ann"],
    "text": "She met Tom and saw.",
}
CONTEXT = {"doc_key": "b", "character": "Anna", "strategy": "lead", "chunk": 0, "prompt": "Describe Anna."}


def texts_about_characters(draw: Draw, folder: Path) -> None:
    """References, answers, summaries, contexts and masked descriptions."""
    book, plan = story().to_book(), context_plan()
    match draw.randrange(4):
        case 0:
            rows = read_rows(put(folder, "t.jsonl", lines_of([TOLD, TOLD], draw)), "guide_text")
            references_for(rows, [book])
        case 1:
            rows = read_rows(put(folder, "t.jsonl", lines_of([TOLD, TOLD], draw)), "character_text")
            gold = contexts_work.long_references(rows, plan)
            contexts_work.compared(contexts_work.by_system(rows), gold, [book], plan)
            contexts_work.novelty(rows, [book])
        case 2:
            rows = contexts_work.read_contexts(put(folder, "t.jsonl", lines_of([CONTEXT, CONTEXT], draw)))
            contexts_work.requests_of(rows)
            told = read_rows(put(folder, "s.jsonl", lines_of([TOLD], draw)), "book_text")
            contexts_work.add_summaries(rows, told, [book])
        case _:
            rows = read_rows(put(folder, "t.jsonl", lines_of([MASKED], draw)), "masked_row")
            requests_who_is_masked(rows)
            for given in baselines(rows).values():
                json.dumps(grade_identification(rows, given))


@cache
def context_plan() -> contexts_work.ContextPlan:
    return contexts_work.read_plan()


KINDS: dict[str, Trial] = {
    "edits": edits, "edits on disk": edits_on_disk, "casts": casts, "cast tables": cast_tables,
    "matched books": matched_books, "recipes": recipes, "annotations": annotations, "documents": documents,
    "questions": questions, "answers": answers, "texts about characters": texts_about_characters,
}  # fmt: skip


def tried(kind: str, count: int, seed: int, folder: Path) -> tuple[int, Counter[str], list[str]]:
    """(inputs taken, what went wrong by kind, examples) of so many mutated inputs."""
    place, taken = folder / kind.replace(" ", "_"), 0
    place.mkdir(exist_ok=True)
    faults: Counter[str] = Counter()
    examples = []
    for number in range(count):
        try:
            KINDS[kind](Draw(f"{seed} {number}"), place)
            taken += 1
        except SourceError as error:
            if "cannot be written" in str(error):
                faults["left what cannot be written"] += 1
        except BookcorefError:
            continue
        except Exception as error:
            what = f"{kind}: {type(error).__name__}: {str(error)[:80]}"
            faults[what] += 1
            if faults[what] == 1:
                examples.append(f"{what} (seed {seed}, number {number})\n{traceback.format_exc(limit=-6)}")
    return taken, faults, examples


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; repeatable")
    parser.add_argument("--inputs", type=int, default=100_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="a row for each piece that is done")
    options = parser.parse_args()
    pieces = Pieces(options.log)
    work = {
        f"{kind}, {min(1000, options.inputs - at)} from seed {options.seed + at // 1000}": (kind, at)
        for kind in options.kind or KINDS
        for at in range(0, options.inputs, 1000)
    }
    scratch = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        for name in pieces.left(work):
            kind, at = work[name]
            count = min(1000, options.inputs - at)
            taken, faults, examples = tried(kind, count, options.seed + at // 1000, Path(folder))
            print(*examples, sep="\n", end="\n" if examples else "")
            told = "; ".join(f"{times} {fault}" for fault, times in faults.most_common())
            pieces.add(name, count, faults.total(), f"{taken} taken {told}")
    print("| mutated inputs | tried | tracebacks and unfit results |\n|---|---|---|")
    for kind in options.kind or KINDS:
        count, wrong = pieces.total(name for name in work if work[name][0] == kind)
        print(f"| {kind} | {count:,} | {wrong:,} |")
    return int(pieces.total(work)[1] > 0)


if __name__ == "__main__":
    sys.exit(main())
