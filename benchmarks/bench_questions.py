"""Questions from LitBank: the published scores, the time for 600 questions, and answers without a model.

    python benchmarks/bench_questions.py LITBANK_BRAT_FOLDER SCORES.tsv [--annotator]

SCORES.tsv has the columns of IdentifyMe's published analysis tables; its LitBank rows are computed anew.
With --annotator the documents are annotated with the embedded backend, whose clusters then answer.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

from bookcoref_data.formats import read_documents
from bookcoref_data.tasks.questions.entities import make_document
from bookcoref_data.tasks.questions.grading import grade
from bookcoref_data.tasks.questions.scores import MentionScores, score_mentions
from bookcoref_data.tasks.questions.settings import read_settings
from bookcoref_data.workflows import questions as work

COLUMNS = {
    "fuzzy_score": "fuzzy", "neighbour_distance": "neighbour",
    "surface_neighbour_distance": "surface_neighbour",
    "nominal_neighbour_distance": "nominal_neighbour", "pronoun_class": "pronoun_class",
    "num_helpers": "helpers", "num_dists": "distractors", "fin_dists": "net_distractors",
    "is_nested": "nested",
}  # fmt: skip


def scores_of(row: dict[str, str], litbank: Path) -> MentionScores:
    """The scores of a published row, with the published phrase for its entity."""
    (record,) = read_documents(litbank / (row["doc_key"].removesuffix("_0") + ".ann"))
    document = make_document(record)
    index = int(row["mention_ind"])
    phrases = list(document.phrases)
    phrases[document.owners[index]] = row["entity_phrase"]
    return next(s for s in score_mentions(make_document(record, phrases=phrases)) if s.index == index)


def check_scores(litbank: Path, table: Path) -> None:
    with open(table, encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter="\t") if row["dataset"] == "litbank"]
    equal = 0
    for row in rows:
        found = scores_of(row, litbank)
        equal += all(int(getattr(found, ours)) == int(row[theirs]) for theirs, ours in COLUMNS.items())
    print(f"published LitBank rows that come out exactly: {equal} of {len(rows)}")


def main() -> None:
    litbank, table = Path(sys.argv[1]), Path(sys.argv[2])
    check_scores(litbank, table)
    settings = read_settings("repo")
    start, cpu = time.perf_counter(), time.process_time()
    made = work.build([litbank], settings)
    with tempfile.TemporaryDirectory() as folder:
        work.write_questions(made, settings, Path(folder) / "questions")
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    rows = [q.to_dict() for q in made.tables["default", "test"]]
    print(f"{len(rows)} test questions, written: {wall:.1f} s, {used:.1f} CPU s; documents left out: "
          f"{len(made.rejected)} of {made.documents}")  # fmt: skip
    print(f"options per question {sum(len(q['options']) for q in rows) / len(rows):.1f}, "
          f"a guess is right in {made.random_baseline:.2%}")  # fmt: skip
    if "--annotator" in sys.argv:
        grades = grade(rows, work.from_annotator(rows, litbank))
        print("our annotator:", {k: round(100 * s.value, 1) for k, s in grades.groups.items()})


if __name__ == "__main__":
    main()
