"""What people decide: `cast`, `review`, `audit`."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from ...api.options import AskOnPage, OpenPage, Port, only_with
from ...api.reviewing import Audit, Casting, Review, edits_beside
from ...asking.answers import NOBODY
from ...edits.naming import Callings, offered
from ...errors import UsageError
from ...outputs import ANNOTATION
from ..common import emit_json, emit_rows, emit_table, say
from ..declared import Given, Json, verb
from .novel import say_conflicts, serve_page

_ASK = {
    "speaker": "Who says this?", "pronoun": "Who is meant?", "phrase": "Who is meant?",
    "name": "Who has this name?", "words": "Which words are the mention?",
}  # fmt: skip


@verb(flags={"cast": "--characters --cast -c"})
@only_with("serve", "open_page port")
@only_with("!json", "serve")
def cast(
    given: Given, out: Path | None, serve: bool = False, open_page: OpenPage = False, port: Port = 0,
    json: Json = False,
) -> None:  # fmt: skip
    """On the page a digit goes to a person; m joins two, s splits, a adds a name, r renames, d drops, g sets
    the gender, t the narrator, z undoes; ? lists all keys. `annotate` reads what it saves.

    Args:
        serve: show the workshop on this machine and save each change at once in the cast file.
    """
    found: Casting = given()
    if given.values["cast"] and not found.file.exists():
        say(f"there is no {found.file} yet: this is the cast that the book proposes")
    for note in found.workshop.notes:
        say(note)
    if json:
        emit_json(found.to_dict())
    elif serve:
        serve_page(found.page, found.file, port, open_page, check=found.check)
    elif out is not None:
        say(f"wrote {out}; save the cast from the page as {found.file}")
    else:
        emit_rows(found.table)


@verb(flags={"cast": "--characters --cast -c"})
@only_with("serve", "open_page port")
@only_with("!json", "serve")
def review(
    given: Given, source: Path, edits: Path | None, until: float, out: Path | None,
    serve: AskOnPage = False, open_page: OpenPage = False, port: Port = 0, json: Json = False,
) -> None:  # fmt: skip
    """In a terminal the questions are asked one by one: a key for each person, o for somebody else, n for
    nobody, c for "cannot tell", z undoes, q stops. Without a terminal they are listed."""
    kept = edits or edits_beside(source)
    asked: Review = given()
    if (a := asked.agreement) and not json:
        kappa = "" if a.kappa is None else f", Cohen's kappa {a.kappa:.2f}"
        say(f"of {a.both:,} decisions that both took {a.same:,} are the same{kappa}")
    say_conflicts(kept, asked.conflicts)
    if json:
        emit_json(asked.to_dict())
    elif serve:
        serve_page(asked.page, kept, port, open_page)
    elif out is not None:
        say(f"wrote {out}; save the answers from the page as {kept}")
    elif sys.stdin.isatty():
        cast = given.values["cast"] or "auto"
        book = source / ANNOTATION if source.is_dir() else f"{source} --cast {cast}"
        _ask_all(asked, f"annotate {book}", kept, typer.getchar)
    else:
        for number, question in enumerate(asked.to_dict()["questions"], 1):
            _show(question, number)
        _tell(asked)


def _ask_all(asked: Review, annotate: str, kept: Path, key: Callable[[], str]) -> None:
    """Ask until the person stops, the share is reached, or nothing is left; `annotate` reads the book."""
    while asked.questions:
        _tell(asked)
        if not _ask_batch(asked, key):
            break
        say("reading the book again ...")
        asked.next()
    _tell(asked)
    _tell_kept("answers", kept, f"{annotate} --edits {kept} --accept --out NEW")


def _tell_kept(what: str, kept: Path, command: str) -> None:
    """Where what a person decided is, and what to do with it."""
    does = f"{what} are in {kept}; take them over with: bookcoref-data {command}"
    say(does if kept.is_file() else f"no {what} yet")


def _ask_batch(asked: Review, key: Callable[[], str]) -> bool:
    """Ask the questions of one reading; False when the person stops."""
    told = asked.to_dict()["questions"]
    at = 0
    while at < len(told):
        question = asked.questions[at]
        _show(told[at], at + 1)
        for pressed in _keys(key):
            if pressed == "q":
                return False
            if pressed == "z":
                if at == 0:  # what was answered before is not on the screen
                    say("nothing to undo")
                    continue
                at -= asked.take_back()
                break
            try:
                asked.answer(question, _somebody(asked) if pressed == "o" else pressed)
            except UsageError as error:
                say(str(error))
                continue
            at += 1
            break
    return True


def _keys(key: Callable[[], str]) -> Iterator[str]:
    """The keys that a person presses; the end of the input is q."""
    while True:
        try:
            yield key() or "q"
        except (EOFError, KeyboardInterrupt):
            yield "q"


def _somebody(asked: Review) -> str:
    """A name that the person types, completed to one of the cast."""
    typed = typer.prompt("Name", default="", show_default=False, err=True).strip()
    known = Callings()
    for i, name in enumerate(asked.names):
        known.add(i, name, asked.aliases.get(name, ()))
    found = [typed] if typed in asked.names else [asked.names[i] for i in sorted(known.fitting(typed))]
    if len(found) != 1:
        raise UsageError(f"nobody alone is called {typed!r}{offered(found) or '; n: nobody of the cast'}")
    say(found[0])
    return found[0]


def _show(question: dict[str, Any], number: int) -> None:
    """A question with its passage and the keys of its answers."""
    _show_passage(question, number)
    now = f"now {question['now'] or NOBODY}, {question['wrong']:.0%} likely to be wrong"
    hangs = f"{n} decisions depend" if (n := round(question["hangs"])) > 1 else "nothing else depends"
    holds = f"; the answer holds for {question['places']} places" if question["places"] > 1 else ""
    asked = _ASK.get(question["kind"], f"{' and '.join(question['people'])}: one person, or two?")
    print(f"{asked} ({now}; {hangs} on it{holds})")
    keys = [f"{a['key']} {a['says']}" for a in question["answers"]]
    if question["typed"]:
        keys.insert(-2, "o somebody else")
    print("  " + "   ".join(keys))


def _show_passage(question: dict[str, Any], number: int) -> None:
    passage = f"{number}. ... {question['before']}>>>{question['words']}<<<{question['after']} ..."
    width = shutil.get_terminal_size((sys.maxsize, 0)).columns
    parts = [" ".join(part.split()) for part in passage.split("\n\n")]
    print("", *(textwrap.fill(part, width) for part in parts if part), sep="\n")


def _tell(asked: Review) -> None:
    end = "; the wanted share is reached" if asked.ready else ""
    say(f"{asked.likely_right:.1%} of mentions and speakers are likely right{end}")


@verb()
@only_with("serve", "open_page port")
@only_with("!json", "serve review")
@only_with("!serve", "review")
def audit(
    given: Given, source: Path, edits: Path | None, out: Path | None, serve: AskOnPage = False,
    open_page: OpenPage = False, port: Port = 0, review: bool = False, json: Json = False,
) -> None:  # fmt: skip
    """
    Args:
        review: ask of each flag in the terminal whether it is an error (z undoes, q stops), and keep the
            corrections in `edits`.
    """
    kept = edits or edits_beside(source)
    found: Audit = given(edits=kept)
    if json:
        emit_json(found.to_dict())
    elif serve:
        serve_page(lambda server: given(edits=kept, out=None).page(server), kept, port, open_page)
    elif review:
        # A key from a terminal; else the first letter of a line
        _ask_flags(found, kept, typer.getchar if sys.stdin.isatty() else lambda: sys.stdin.readline()[:1])
        _tell_kept("corrections", kept, f"edits apply {source} --edits {kept} --out NEW")
    elif found.flags:
        emit_rows(found.table)
        emit_table(("kind", "flags"), found.counts.items())
    else:
        say("no likely error was found")
    if out is not None:
        say(f"wrote {out}; save the corrections from the page as {kept}")


def _ask_flags(found: Audit, kept: Path, key: Callable[[], str]) -> None:
    """Ask of each flag whether it is an error, until the person stops."""
    flags, at = found.to_dict()["flags"], 0
    while at < len(flags):
        flag = flags[at]
        _show_passage(flag, at + 1)
        print(f"{flag['kind']}: {flag['reason']} (an error with {flag['wrong']:.0%} chance)")
        print("  " + "   ".join(f"{a['key']} {a['says']}" for a in flag["answers"]) + "   z undo   q stop")
        offered = {a["key"]: a["edits"] for a in flag["answers"]}
        pressed = next(pressed for pressed in _keys(key) if pressed in {*offered, "z", "q"})
        if pressed == "q":
            break
        if pressed == "z":  # what was answered before is not on the screen
            at -= at > 0 and found.take_back(kept)
        else:
            found.keep(offered[pressed], kept)
            at += 1
