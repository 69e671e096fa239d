"""Run a benchmark and put what it prints into its section of docs/results.md, with command and commit.

    python -m benchmarks.results dialogue "Dialogue in whole novels" -- \\
        'python -m benchmarks.bench_dialogue --scorer "$SCORER" --data "$PDNC"'

The command is run by the shell and stands on the page as it was given, so name folders of your own machine by
variables. What it prints is taken as Markdown if it has a table or a heading, else as it stands. The section
is replaced if it is there, else it is added at the end. A tree with changes that are not committed is
refused: the commit would not give the figures.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "results.md"


def section(key: str, title: str, command: str, commit: str, day: str, printed: str) -> str:
    """One section of the page, between marks that carry its key."""
    printed = printed.strip()
    shown = printed if re.search(r"^[|#*]", printed, re.MULTILINE) else f"```\n{printed}\n```"
    head = f"## {title}\n\n`{command}`, commit {commit}, {day}"
    return f"<!-- begin {key} -->\n{head}\n\n{shown}\n<!-- end {key} -->\n"


def put(page: str, key: str, made: str) -> str:
    """The page with the section in its place: where one of the same key stands, else at the end."""
    marks = re.compile(rf"<!-- begin {re.escape(key)} -->.*?<!-- end {re.escape(key)} -->\n", re.DOTALL)
    if marks.search(page):
        return marks.sub(lambda _: made, page, count=1)
    return f"{page.rstrip()}\n\n{made}"


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("key")
    options.add_argument("title")
    options.add_argument("command")
    given = options.parse_args()
    if changed := _git("status", "--porcelain", "--", ".", ":!docs"):
        sys.exit(f"commit these changes first, or the figures belong to no commit:\n{changed}")
    ran = subprocess.run(given.command, shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        sys.exit(f"the command ended with {ran.returncode}; the page is as it was")
    commit = _git("rev-parse", "--short", "HEAD")
    made = section(given.key, given.title, given.command, commit, str(date.today()), ran.stdout)
    PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), given.key, made), encoding="utf-8")
    print(f"wrote section {given.key} of {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
