"""Sister tasks: `merge`, `questions` and `contexts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ... import api
from ...api.models import Asked
from ...api.options import OpenPage, Port, only_with
from ...errors import UsageError, counted, plural
from ...errors import listed as names_listed
from ...tasks.merging.asking import Session
from ...tasks.merging.parts import ChainRef, SplitDocument, keep_answer
from ...tasks.merging.table import rows_of
from ...tasks.runner.run import RunReport
from ..common import cells, emit_json, emit_problems, emit_rows, emit_table, listed, say
from ..declared import Given, Json, verb

if TYPE_CHECKING:
    from ...workflows.merge import AnswerFile, MergeReport


@verb(flags={"decisions": "-d"})
@only_with("ask", "serve annotator")
@only_with("serve", "open_page port")
def merge(
    given: Given, parts: Path, out: Path | None, decisions: list[Path] | None, save: Path | None,
    format: str | None, ask: bool = False, serve: bool = False, open_page: OpenPage = False, port: Port = 0,
    annotator: str = "", agreement: bool = False, stats: bool = False, json: Json = False,
) -> None:  # fmt: skip
    """
    Args:
        ask: decide in the terminal; answers go to the one table of `decisions`.
        serve: with `ask`: decide on a page on this machine.
        annotator: your name in the table, with `ask`.
        agreement: agreement of the annotators.
        stats: statistics by genre, before and after.
    """
    if ask:
        from ...workflows.merge import AnswerFile, read_parts

        if decisions is None or len(decisions) != 1:
            raise UsageError("--ask needs one table for the answers", expected="--decisions FILE")
        documents, answers = read_parts(parts, format), AnswerFile(decisions[0], annotator or "annotator")
        if serve:
            serve_all(documents, answers, port, open_page)
        else:
            ask_all(documents, answers)
    if agreement:
        found: api.Table = given(api.merge_agreement, decisions=decisions or ())
        if json:
            emit_json(found.to_dicts())
            return
        told = found.to_dict() | {"annotators": [" and ".join(names) for names in found["annotators"]]}
        told["alpha"] = [round(alpha, 4) for alpha in found["alpha"]]
        titles = ("genre", "annotators", "decisions", "strict", "Jaccard", "New", "not New", "alpha")
        emit_table(titles, zip(*told.values(), strict=True))
        return
    merged: api.Merged = given()
    listed("warning:", merged.warnings)
    listed("not kept:", (counted(item.count, item.what) for item in merged.not_kept))
    if out is not None:
        say(f"wrote {out}")
    if save is not None:
        say(f"wrote {plural(merged.saved, 'decision')} to {save}")
    listed("wrote", merged.plots)
    if json:
        emit_json(merged.to_dict())
        return
    _show_merged(merged.report)
    for name, rows in merged.statistics.items() if stats else ():
        emit_table(tuple(_STATISTICS), cells(rows, tuple(_STATISTICS.values())), title=name)


_STATISTICS = {
    "genre": "genre", "docs": "documents", "tok/doc": "tokens_per_document",
    "chains/doc": "chains_per_document", "ment/doc": "mentions_per_document", "ment/chain": "chain_length",
    "distance": "mean_distance", "largest": "largest_distance", "over 5,000": "far_mentions",
}  # fmt: skip


def _show_merged(report: MergeReport) -> None:
    read = f"{plural(len(report.records), 'document')} from {plural(report.parts, 'part')}"
    say(f"{read}: {plural(report.links, 'chain')} joined, {report.new:,} new")
    found = report.decision_scores
    if found is None or report.scores is None or report.unmerged is None:
        return
    shares = (found.precision, found.recall, found.f1, found.accuracy)
    row = (found.decisions, found.links, *(100 * value for value in shares))
    emit_table(("decisions", "links", "precision", "recall", "F1", "accuracy"), [row])
    rows = []
    for name, scores in (("unmerged", report.unmerged), ("merged", report.scores)):
        parts = (scores.muc, scores.b_cubed, scores.ceaf_e, scores.conll, scores.lea)
        rows.append((name, *(100 * s.f1 for s in parts)))
    emit_table(("F1", "MUC", "B3", "CEAF-e", "CoNLL", "LEA"), rows)
    for what, bins in report.by_size.items():
        sized = ((b.label, b.documents, 100 * b.scores.conll.f1) for b in bins)
        emit_table((what, "documents", "CoNLL"), sized)


# -- the annotation round of `merge --ask` in the terminal -------------------------------------------

SHOWN = 9
HELP = "number: join that chain; n: new; a: all options; s: summary of this part; q: stop here"


def ask_all(documents: Sequence[SplitDocument], answers: AnswerFile) -> None:
    """Ask about every chain that has no answer yet. Stopping keeps all answers. Raises typer.Exit: the person
    stopped."""
    from ...tasks.merging.linker import decide_with_linker

    given = answers.load(documents)
    for document in documents:
        session = Session(document, given[document.doc_key], decide_with_linker(document))
        while (ref := session.next_question) is not None:
            _ask(session, ref, answers)
            following = session.next_question
            if following is None or following.part != ref.part:
                _review(session, ref.part, answers)
    say(f"all chains are decided; answers are in {answers.path}")


def round_page(
    documents: Sequence[SplitDocument], answers: AnswerFile
) -> tuple[Callable[[dict[str, str]], str], Callable[[str, str], object]]:
    """What makes the page of a round, and what checks a table that it saves."""
    from ...reading_page.form import form
    from ...tasks.merging.linker import decide_with_linker

    advice = {document.doc_key: decide_with_linker(document) for document in documents}

    def page(server: dict[str, str]) -> str:
        return form("merge", "Merge chains", {**answers.page_data(documents, advice), "server": server})

    return page, lambda text, name: list(rows_of(text.split("\n"), documents, name))


def serve_all(documents: Sequence[SplitDocument], answers: AnswerFile, port: int, open_page: bool) -> None:
    """Ask on a page until the person stops with Ctrl-C. Raises typer.Exit: chains are left to be decided."""
    from .novel import serve_page

    page, check = round_page(documents, answers)
    answers.path.parent.mkdir(parents=True, exist_ok=True)
    serve_page(page, answers.path, port, open_page, check=check)
    given = answers.load(documents)
    left = sum(ref not in given[document.doc_key] for document in documents for ref in document.questions)
    if left:
        say(f"{left:,} chains are not decided; run the same command to go on")
        raise typer.Exit(130)


def _ask(session: Session, ref: ChainRef, answers: AnswerFile) -> None:
    """Show one chain and take an answer."""
    document = session.document
    of_part = document.of_part(ref.part)
    place = f"chain {of_part.index(ref) + 1} of {len(of_part)}"
    typer.echo(f"\n{document.doc_key}, part {document.numbers[ref.part]}, {place}")
    for context in session.contexts(ref):
        typer.echo(f"    {context}")
    options = session.options(ref)
    _list_options(session, ref, SHOWN)
    while True:
        answer = typer.prompt("joins (number, n, a, s, q, ?)", prompt_suffix=" ").strip().lower()
        if answer == "q":
            say(f"stopped; answers are kept in {answers.path}, run the same command to go on")
            raise typer.Exit(130)
        chosen = answer.isdecimal() and 1 <= int(answer) <= len(options)
        if chosen or answer == "n":
            target = options[int(answer) - 1].root if chosen else None
            forgotten = keep_answer(session.document, session.decisions, ref, target)
            answers.add(session.document, ref, target)
            if forgotten:
                typer.echo(f"{len(forgotten)} later answers depend on this one and are asked again")
            return
        if answer == "a":
            _list_options(session, ref, len(options))
        elif answer == "s":
            _summary(session, ref.part)
        else:
            typer.echo(HELP)


def _list_options(session: Session, ref: ChainRef, most: int) -> None:
    options = session.options(ref)
    for number, option in enumerate(options[:most], 1):
        typer.echo(f"  {number:3}. ({option.size:,}) {' | '.join(option.words)}")
    if len(options) > most:
        typer.echo(f"       and {len(options) - most:,} more (a)")
    typer.echo("    n. a new chain")


def _summary(session: Session, part: int) -> None:
    for number, (ref, own, joined) in enumerate(session.summary(part), 1):
        state = joined if ref in session.decisions else "(not decided)"
        typer.echo(f"  {number:3}. {own}\n         -> {state}")


def _review(session: Session, part: int, answers: AnswerFile) -> None:
    """The page after a part: answers may be revised until it is confirmed."""
    refs = session.document.of_part(part)
    while True:
        typer.echo(f"\nsummary of part {session.document.numbers[part]}")
        _summary(session, part)
        answer = typer.prompt("number to revise, or y when all is right", prompt_suffix=" ").strip().lower()
        if answer in ("y", "yes"):
            return
        if answer == "q":
            say(f"stopped; answers are kept in {answers.path}, run the same command to go on")
            raise typer.Exit(130)
        if answer.isdecimal() and 1 <= int(answer) <= len(refs):
            _ask(session, refs[int(answer) - 1], answers)


# -- questions and models ----------------------------------------------------------------------------


@verb()
def questions_build(made: api.Questions, out: Path) -> None:
    listed("left out:", (f"{key}: {reason}" for key, reason in made.rejected.items()))
    emit_rows(made.table)
    first = next(iter(made.made.tables), ("", ""))
    say(f"a guess is right in {made.random_baseline:.2%} of {first[1]} questions")
    for name, groups in made.made.baselines.items():
        shares = ((group, n, 100 * right / n if n else None) for group, (right, n) in groups.items())
        emit_table(("questions", "n", "right in %"), shares, title=name)
    say(f"wrote {out}")


@verb(flags={"answers": "-a"})
def questions_evaluate(graded: api.Graded, out: Path | None, json: Json = False) -> None:
    if not _print_run(graded, out, json):
        return
    for name, grades in graded.grades.items():
        rows: list[list[Any]] = []
        for label, share in grades.groups.items():
            low, high = share.interval
            interval = f"{100 * low:.1f} to {100 * high:.1f}" if share.total else None
            accuracy = 100 * share.value if share.total else None
            rows.append([label, share.total, share.right, accuracy, interval])
        rows.append(["guess", grades.groups["all"].total, None, 100 * grades.random_baseline, None])
        emit_table(("questions", "n", "right", "accuracy", "95% interval"), rows, title=name)
        errors = ", ".join(f"{kind} {count:,}" for kind, count in sorted(grades.errors.items())) or "none"
        typer.echo(f"errors: {errors}")
        if grades.genders:
            pairs = ", ".join(f"{pair} {count:,}" for pair, count in sorted(grades.genders.items()))
            typer.echo(f"gender of the right answer and of the one given instead: {pairs}")
        told = f"{grades.nested.right:,} of {grades.nested.total:,} right; of the errors "
        told += f"{grades.nested_errors_to_overlapping:,} name an entity of an overlapping mention"
        typer.echo(f"nested mentions: {told}")
        quoted, both = grades.mention_extracted, grades.mention_extracted_and_right
        if quoted and both:
            typer.echo(f"mention quoted right: {quoted.right:,}; and answered right: {both.right:,}")
        _say_odd(name, grades.to_dict())


def _say_odd(name: str, grades: dict[str, Any]) -> None:
    if count := grades["answers_to_unknown_questions"]:
        say(f"{name}: {counted(count, 'answers to other questions')}, left out")
    if count := grades["answers_replaced"]:
        say(f"{name}: {counted(count, 'answers')} contradicted by a later one, which counts")


def _print_run(done: Asked | api.Graded | api.Identified, out: Path | None, json: bool) -> bool:
    """Print the prompts of a dry run or a line about the run; whether the results are still to be printed."""
    if (preview := done.preview) is None:
        _say_run(done.report, out)
        return not json
    if not json:
        for item in preview["prompts"]:
            typer.echo(f"--- {item['key']} ---\n{item['prompt']}\n")
        say(
            f"{preview['requests']:,} prompts, about {preview['prompt_tokens_about']:,} tokens, "
            f"about {preview['prompt_cost_about']:.2f} for prompts; nothing was asked"
        )
    return False


def _say_run(report: RunReport | None, out: Path | None) -> None:
    if report is not None:
        say(
            f"{report.model}: {report.asked:,} asked, {report.cached:,} from earlier replies, "
            f"{report.prompt_tokens:,} + {report.reply_tokens:,} tokens, cost {report.cost:.4f}; "
            f"answers in {out}"
        )


# -- contexts ----------------------------------------------------------------------------------------


@verb(flags={"strategies": "-s", "characters": "-c"})
def contexts_build(made: api.Contexts, out: Path) -> None:
    emit_rows(made.table)
    listed("left out, without characters:", made.nameless)
    listed("summaries of other books, not used:", made.others)
    say(f"wrote {out}")


@verb()
def contexts_ask(done: Asked, out: Path | None, json: Json = False) -> None:
    _print_run(done, out, json)


SCORES = {
    "rouge1": "R-1", "rouge2": "R-2", "rougeL": "R-L", "entity_recall": "entities",
    "novel_bigrams": "new bigrams", "bert_score": "BERTScore", "entailment": "entailed",
    "fact_precision": "facts P", "fact_recall": "facts R", "fact_f1": "facts F1",
    "qa_exact": "QA EM", "qa_f1": "QA F1",
}  # fmt: skip


@verb(flags={"answers": "-a"})
def contexts_score(done: api.SystemScores, out: Path | None) -> None:
    """Scores are in percent; --json has fractions."""
    _say_run(done.report, out)
    shown = [name for name in SCORES if any(name in scores for scores in done.scores.values())]
    found = done.scores.items()
    rows = [[name, int(scores["texts"]), *(_percent(scores.get(c)) for c in shown)] for name, scores in found]
    emit_table(("system", "texts", *(SCORES[name] for name in shown)), rows)
    for name, scores in done.scores.items():
        said = (("read_as", "name", "read as the reference's"),
                ("without_reference", "answer", "left out, without a reference that is long enough"),
                ("unanswered", "character", "with a reference, but without an answer"))  # fmt: skip
        for kind, things, what in said:
            if names := scores.get("names", {}).get(kind):
                say(f"{name}: {plural(len(names), things)} {what}: {names_listed(names, 10)}")
    columns = ("system", "kind", "answer_facts", "reference_facts")
    shares = ("fact_precision", "fact_recall", "fact_f1")
    kinds = [[*(r[c] for c in columns), *(_percent(r.get(c)) for c in shares)] for r in done.kinds]
    if kinds:
        emit_table(("system", "facts", "in answers", "in references", "P", "R", "F1"), kinds)
    for name, scores in done.scores.items():
        if "kappa" in scores:
            typer.echo(f"{name}: kappa of the two judges {scores['kappa']:.3f}")


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def known(found: api.Table) -> list[dict[str, Any]]:
    """The rows of a table without what is unknown."""
    return [{name: value for name, value in row.items() if value is not None} for row in found]


@verb(flags={"books": "--books"}, document=known)
def contexts_novelty(found: api.Table) -> None:
    """Shares are in percent; --json has fractions."""
    shares = {name: name for name in found.columns if name.endswith("-grams")}
    _show_shares(found, ("texts of", "texts", "other books"), shares)


@verb(flags={"budgets": "-b"}, document=known)
def contexts_compare(found: api.Table) -> None:
    """Shares are in percent; --json has fractions."""
    shares = {"entity_recall": "entities", "mention_recall": "mentions", "precision": "precision"}
    _show_shares(found, ("book", "budget", "strategy", "characters"), shares)


def _show_shares(found: api.Table, columns: Sequence[str], shares: Mapping[str, str]) -> None:
    """Print rows with shares under their titles, in percent."""
    rows = [[*(r[c] for c in columns), *(_percent(r.get(n)) for n in shares)] for r in found]
    emit_table((*columns, *shares.values()), rows)


@verb()
def contexts_tables(found: api.TableDefects, out: Path | None) -> None:
    if out is not None:
        say(f"wrote {out}")
    books = [", ".join(d.books[:6]) + (", ..." if len(d.books) > 6 else "") for d in found.defects]
    listed = [[d.table, d.what, len(d.books), ids] for d, ids in zip(found.defects, books, strict=True)]
    emit_table(("table", "what", "books", "ids"), listed)
    say("splits without leaks: " + ", ".join(f"{split} {count}" for split, count in found.splits.items()))


@verb(code=lambda done: bool(done.problems))
def contexts_collect(done: api.GuideTexts) -> None:
    report = done.report
    tables = {"texts": report.texts, "rows": report.splits, "left out": report.left_out}
    for title, counts in {**tables, "pages": report.pages}.items():
        emit_table((title, "number"), counts.items())
    emit_problems(report.problems)
    say(f"wrote {report.out}")


@verb()
def contexts_references(done: api.NamedReferences, out: Path) -> None:
    found = done.found
    say(
        f"wrote {len(found.rows):,} references to {out}; {found.without_book:,} texts are about other books, "
        f"{len(found.without_character):,} about characters that are not annotated"
    )
    listed("not annotated:", found.without_character[:10])


@verb(flags={"answers": "-a"})
def contexts_identify(done: api.Identified, out: Path | None, json: Json = False) -> None:
    if not _print_run(done, out, json):
        return
    for name, grades in done.grades.items():
        rows = [
            (g, s["right"], s["total"], 100 * s["accuracy"], f"{100 * s['low']:.1f} to {100 * s['high']:.1f}")
            for g, s in grades["groups"].items()
        ]
        emit_table((name, "right", "of", "accuracy", "95 %"), rows)
        say(f"at random: {100 * grades['random_baseline']:.2f} %; without an answer: {grades['unanswered']}")
        _say_odd(name, grades)
