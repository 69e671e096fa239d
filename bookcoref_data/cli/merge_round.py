"""The annotation round of `merge --ask` in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from .common import say

if TYPE_CHECKING:
    from ..tasks.merging.asking import Session
    from ..tasks.merging.parts import ChainRef, SplitDocument
    from ..workflows.merge import AnswerFile

SHOWN = 9
HELP = "number: join that chain; n: new; a: all options; s: summary of this part; q: stop here"


def ask_all(documents: Sequence[SplitDocument], answers: AnswerFile) -> None:
    """Ask about every chain that has no answer yet. Stopping keeps all answers. Raises typer.Exit: the person
    stopped."""
    from ..tasks.merging.asking import Session
    from ..tasks.merging.linker import decide_with_linker

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
    from ..reading_page.form import form
    from ..tasks.merging.linker import decide_with_linker
    from ..tasks.merging.table import rows_of

    advice = {document.doc_key: decide_with_linker(document) for document in documents}

    def page(server: dict[str, str]) -> str:
        return form("merge", "Merge chains", {**answers.page_data(documents, advice), "server": server})

    return page, lambda text, name: list(rows_of(text.split("\n"), documents, name))


def serve_all(documents: Sequence[SplitDocument], answers: AnswerFile, port: int, open_page: bool) -> None:
    """Ask on a page until the person stops with Ctrl-C. Raises typer.Exit: chains are left to be decided."""
    from .verbs.novel import serve_page

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
    _list(session, ref, SHOWN)
    while True:
        answer = typer.prompt("joins (number, n, a, s, q, ?)", prompt_suffix=" ").strip().lower()
        if answer == "q":
            say(f"stopped; answers are kept in {answers.path}, run the same command to go on")
            raise typer.Exit(130)
        chosen = answer.isdecimal() and 1 <= int(answer) <= len(options)
        if chosen or answer == "n":
            _keep(session, ref, options[int(answer) - 1].root if chosen else None, answers)
            return
        if answer == "a":
            _list(session, ref, len(options))
        elif answer == "s":
            _summary(session, ref.part)
        else:
            typer.echo(HELP)


def _list(session: Session, ref: ChainRef, most: int) -> None:
    options = session.options(ref)
    for number, option in enumerate(options[:most], 1):
        typer.echo(f"  {number:3}. ({option.size:,}) {' | '.join(option.words)}")
    if len(options) > most:
        typer.echo(f"       and {len(options) - most:,} more (a)")
    typer.echo("    n. a new chain")


def _keep(session: Session, ref: ChainRef, target: ChainRef | None, answers: AnswerFile) -> None:
    from ..tasks.merging.parts import keep_answer

    forgotten = keep_answer(session.document, session.decisions, ref, target)
    answers.add(session.document, ref, target)
    if forgotten:
        typer.echo(f"{len(forgotten)} later answers depend on this one and are asked again")


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
