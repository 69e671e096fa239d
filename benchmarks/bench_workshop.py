"""Repairs that the proposed casts of novels need in the workshop, made with real keys in a real browser.

    python benchmarks/bench_workshop.py main_characters.json --mirror MIRROR [--cache FOLDER] [--show]
    python benchmarks/bench_workshop.py --scorer SCORER --data PDNC [NOVEL ...] [--cache FOLDER]

The file has, by number of a Gutenberg book, the main characters with all their names, written down from
knowledge of the novels before the proposals were seen. With `--data` the lists are those of the Project
Dialogism Novel Corpus.

The ten characters whose names occur most are repaired by a person who knows these lists: each name of the
book that only one character of the list has, is his; other names are not judged. A name counts if it occurs
three times and makes at least 1 % of its character's mentions. The person takes the repair that moves most
mentions, answers `y` where one of the first three questions is just that repair (and `x` before it), and else
uses the keys of the page. Printed:

    repairs     changes until all names that count are where they belong
    keys        keys of the longest repair; and of all
    questions   those open at first, by what the lists answer: yes, no, or nothing
    right       share of the judged mentions of the ten that are in the right place, before, and after: as the
                annotator reads the file that the page saves
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bench_cast import plain
from benchmarks.bench_dialogue import load_scorer, source_of
from bookcoref_data.annotation.cast import format_cast
from bookcoref_data.annotation.embedded.names import name_words
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.annotation.workshop import make_workshop
from bookcoref_data.reading_page.form import form
from bookcoref_data.workflows.annotate import Source, read_sources
from training.parses import parse_with_cache

TOP, LEAST, SHARE, MOST = 10, 3, 0.01, 40
STATE = """
return {people: people.map((p, i) => ({gone: p.gone, name: p.names[0]})), shown: shown(),
  names: names.map((n) => ({text: n.text, owner: n.owner, times: n.at.length, first: n.at[0]})),
  questions: questions().map((q) => q.key), current, base}
"""


PRESSED = """
return [...document.querySelectorAll('#dialog [aria-pressed=true]')].map((b) => b.childNodes[1].textContent)
"""
FITTING = """
return [...document.querySelectorAll('#dialog .choices button')].map((b) => b.childNodes[1].textContent)
"""


@dataclass
class Repaired:
    """What one book came to."""

    book: str
    repairs: list[str] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    questions: Counter[str] = field(default_factory=Counter)
    before: tuple[int, int] = (0, 0)
    after: tuple[int, int] = (0, 0)
    left: list[str] = field(default_factory=list)


class Person:
    """Somebody at the keyboard who knows whose each name is."""

    def __init__(self, driver: Any, page: Path, owners: dict[str, str], top: list[str]) -> None:
        self.driver, self.owners, self.top = driver, owners, top
        driver.get(page.as_uri())
        self.pressed = 0

    def state(self) -> dict[str, Any]:
        return self.driver.execute_script(STATE)

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key, key))
            self.pressed += 1

    def whose(self, name: dict[str, Any]) -> str | None:
        return self.owners.get(plain(name["text"]))

    def homes(self, state: dict[str, Any]) -> dict[str, int]:
        """The person of the page who is each character: the one with most of his mentions, the more frequent
        character first."""
        counts: dict[str, Counter[int]] = defaultdict(Counter)
        for name in state["names"]:
            if (who := self.whose(name)) is not None and name["owner"] >= 0:
                counts[who][name["owner"]] += name["times"]
        found: dict[str, int] = {}
        for who in sorted(counts, key=lambda w: -counts[w].total()):
            free = [(n, p) for p, n in counts[who].items() if p not in found.values()]
            if free:
                found[who] = max(free)[1]
        return found

    def wrong(self, state: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, Any], int]]:
        """(times, character, name, where it should be) of names of the ten that are in a wrong place, and of
        other people's names that one of the ten has."""
        homes = self.homes(state)
        total = Counter[str]()
        for name in state["names"]:
            total[self.whose(name) or ""] += name["times"]
        for name in state["names"]:
            who = self.whose(name)
            counts = who is not None and name["times"] >= max(LEAST, SHARE * total[who])
            among = who in self.top or name["owner"] in [homes.get(t) for t in self.top]
            if counts and among and (name["owner"] < 0 or homes.get(who, -1) != name["owner"]):
                yield name["times"], who, name, homes.get(who, -1)

    def right(self, state: dict[str, Any]) -> tuple[int, int]:
        """Judged mentions of the ten that are in the right place, and all."""
        homes = self.homes(state)
        judged = [(n, self.whose(n)) for n in state["names"] if self.whose(n) in self.top]
        return (
            sum(n["times"] for n, who in judged if homes.get(who) == n["owner"]),
            sum(n["times"] for n, _ in judged),
        )

    def questions(self, state: dict[str, Any]) -> Counter[str]:
        """How many of the open questions the lists answer "yes", "no", or "" where they do not say."""
        owned: dict[int, Counter[str]] = defaultdict(Counter)
        for name in state["names"]:
            if (who := self.whose(name)) is not None:
                owned[name["owner"]][who] += name["times"]
        people = enumerate(state["people"])
        most = {
            p["name"]: owned[at].most_common(1)[0][0] for at, p in people if at in owned and not p["gone"]
        }
        found = Counter[str]()
        for key in state["questions"]:
            kind, person, told = _parts(key)
            one, other = (
                most.get(person),
                most.get(told) if kind == "1" else self.whose({"text": told.split(",")[0]}),
            )
            known = one is not None and other is not None
            found[("yes" if (one == other) == (kind != "2") else "no") if known else ""] += 1
        return found

    # -- repairs

    def go(self, state: dict[str, Any], who: int) -> None:
        at = state["shown"].index(who)
        if state["current"] == who:
            return
        base = state["base"]
        for _ in range(abs(at // 10 - base // 10)):
            self.press("PAGE_DOWN" if at > base else "PAGE_UP")
        self.press(str((at + 1) % 10))

    def choose(self, text: str) -> bool:
        """Press the key of a choice that begins with these words."""
        key = self.driver.execute_script(
            "return [...document.querySelectorAll('#dialog .choices button')]"
            ".filter((b) => b.querySelector('kbd') && b.childNodes[1].textContent === arguments[0])"
            ".map((b) => b.querySelector('kbd').textContent)[0]",
            text,
        )
        if key:
            self.press(key)
        return bool(key)

    def type(self, text: str) -> None:
        """Type a name until it is among the names that fit, and take it with its digit."""
        self.press("/")
        for letter in text:
            self.press(letter)
            fit = self.driver.execute_script(FITTING)
            if text in fit:
                return self.press(str(fit.index(text) + 1))
        self.press("ENTER")

    def repair(self, state: dict[str, Any]) -> str:
        """Make the repair that moves most mentions; what it was, "" where none is left."""
        found = sorted(self.wrong(state), key=lambda w: -w[0])
        if not found:
            return ""
        _, who, name, home = found[0]
        together = [n for _, w, n, _ in found if w == who and n["owner"] == name["owner"]]
        people, owner = state["people"], name["owner"]
        others = [n for n in state["names"] if n["owner"] == owner and self.whose(n) not in (who, None)]
        asked = self.asked(state, owner, home, together)
        if asked:
            return asked
        if owner < 0 and home < 0:
            self.press("n")
            self.choose(name["text"]) or self.type(name["text"])
            return f"new: {name['text']}"
        if owner < 0 or (home >= 0 and others and len(together) == 1):
            self.go(state, home)
            self.press("a")
            told = name["text"] + (f" ({people[owner]['name']})" if owner >= 0 else "")
            self.choose(told) or self.type(name["text"])
            return f"{people[home]['name']} also {name['text']}"
        if home >= 0 and not others:
            self.go(state, home)
            self.press("m")
            self.choose(people[owner]["name"]) or self.type(people[owner]["name"])
            return f"{people[home]['name']} is {people[owner]['name']}"
        self.go(state, owner)
        self.press("s")
        wanted = {n["text"] for n in together}
        for _ in range(2 * len(state["names"])):
            wrong = wanted ^ {*self.driver.execute_script(PRESSED)}
            if not wrong:
                break
            self.choose(min(wrong, key=lambda text: (text not in wanted, len(text))))
        if home >= 0:
            self.press("+")
            self.choose(people[home]["name"]) or self.type(people[home]["name"])
        else:
            self.press("ENTER")
        return f"{people[owner]['name']} is not {', '.join(n['text'] for n in together)}"

    def asked(self, state: dict[str, Any], owner: int, home: int, together: list[dict[str, Any]]) -> str:
        """Answer a question among the first three that is this repair; "" where none is."""
        name = [state["people"][at]["name"] if at >= 0 else "" for at in (owner, home)]
        texts = ",".join(n["text"] for n in together)
        wanted = {
            ("3", name[1], together[0]["text"]),
            ("1", *name),
            ("1", *reversed(name)),
            ("2", name[0], texts),
        }
        for before, key in enumerate(state["questions"][:3]):
            if (
                _parts(key) in wanted
                and not (key[0] == "2" and home >= 0)
                and not (key[0] == "1" and home < 0)
            ):
                self.press(*["x"] * before, "y")
                return f"yes to {key} after {before} no"
        return ""


def _parts(key: str) -> tuple[str, str, str]:
    """The kind of a question of the page, the person, and the other person or the names that it is about."""
    kind, rest = key.split(" ", 1)
    person, _, told = rest.partition("; ")
    return kind, person, told


def repaired(
    driver: Any, source: Source, characters: list[list[str]], cache: Path | None, work: Path
) -> Repaired:
    """Repair the proposed cast of one book."""
    parse = parse_with_cache(source.book, cache)
    text = format_cast(propose_cast(source.book, parse=parse).cast)
    made = make_workshop(source.book, parse, text, source.chapters)
    whose: dict[str, set[str]] = defaultdict(set)
    for names in characters:
        for name in names:
            whose[plain(name)].add(names[0])
    owners = {name: next(iter(who)) for name, who in whose.items() if len(who) == 1 and name_words(name)}
    times = Counter[str]()
    for name in made.names:
        times[owners.get(plain(name.text), "")] += len(name.starts)
    del times[""]
    top = [who for who, _ in times.most_common(TOP)]
    page = work / "workshop.html"
    page.write_text(form("cast", source.book.doc_key, made.to_dict() | {"server": None, "file": "cast.txt"}))
    person, done = Person(driver, page, owners, top), Repaired(source.book.doc_key)
    done.before, done.questions = person.right(person.state()), person.questions(person.state())
    while len(done.repairs) < MOST:
        before = person.pressed
        told = person.repair(state := person.state())
        if not told:
            break
        if person.state()["names"] == state["names"]:
            done.left.append(told)
            break
        done.repairs.append(told)
        done.keys.append(person.pressed - before)
    # What the annotator reads in the saved file, not what the page believes.
    again = make_workshop(source.book, parse, driver.execute_script("return fileText()"), source.chapters)
    read = [{"text": n.text, "owner": n.owner, "times": len(n.starts)} for n in again.names]
    done.after = person.right({"names": read})
    homes = person.homes({"names": read})
    done.left += [
        f"{n['text']} {n['times']}: {again.people[n['owner']][0].name if n['owner'] >= 0 else 'nobody'}"
        for n in read
        if (who := person.whose(n)) in top and n["owner"] != homes.get(who) and n["times"] > 1
    ]
    driver.execute_script("unsaved = false")
    return done


def open_browser() -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tempfile.mkdtemp()}"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def books(options: argparse.Namespace) -> Iterator[tuple[Source, list[list[str]]]]:
    """The books with their lists."""
    work = Path(tempfile.mkdtemp())
    if options.mirror:
        for number, characters in json.loads(Path(options.lists[0]).read_text(encoding="utf-8")).items():
            file = options.mirror / "cache" / "epub" / number / f"pg{number}.txt"
            yield read_sources(file)[0], characters
        return
    scorer = load_scorer(options.scorer)
    for novel in options.lists or scorer.novels(options.data):
        gold = scorer.load(options.data, novel, None)
        yield source_of(gold, work), [[name, *sorted(gold.aliases[name] - {name})] for name in gold.names]


def main() -> None:
    """Repair and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lists", nargs="*", help="the file of names, or novels of the corpus")
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--scorer", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    driver, work = open_browser(), Path(tempfile.mkdtemp())
    done: list[Repaired] = []
    print("| book | repairs | longest, keys | all keys | questions: yes, no, ? | right before | after |")
    print("|---|---|---|---|---|---|---|")
    try:
        for source, characters in books(options):
            one = repaired(driver, source, characters, options.cache, work)
            done.append(one)
            shares = [f"{100 * a / max(b, 1):.1f}" for a, b in (one.before, one.after)]
            asked = ", ".join(str(one.questions[told]) for told in ("yes", "no", ""))
            cells = [one.book, len(one.repairs), max(one.keys, default=0), sum(one.keys), asked, *shares]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
            if options.show:
                for told, keys in zip(one.repairs, one.keys, strict=True):
                    print(f"    {keys} keys: {told}")
                for told in one.left:
                    print(f"    left: {told}")
    finally:
        driver.quit()
    few = sum(len(one.repairs) <= 3 for one in done)
    keys = [n for one in done for n in one.keys]
    print(f"\n{few} of {len(done)} books need at most three repairs;", end=" ")
    print(f"{sum(n <= 4 for n in keys)} of {len(keys)} repairs take at most four keys;", end=" ")
    asked = [told.split() for one in done for told in one.repairs if told.startswith("yes to ")]
    print(f"{len(asked)} are a question that was answered yes, behind {sum(int(t[-2]) for t in asked)} noes")


if __name__ == "__main__":
    main()
