"""The pages on which people answer, in a real browser: keys, what is saved, and no barrier for anybody."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import axe_core_python
import pytest
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.annotation.cast import parse_cast
from bookcoref_data.books import Mention, Record
from bookcoref_data.cli.app import make_app
from bookcoref_data.cli.verbs.tasks import round_page
from bookcoref_data.edits import parse_edits
from bookcoref_data.errors import BookcorefError
from bookcoref_data.formats import write_documents
from bookcoref_data.reading_page.form import match_page
from bookcoref_data.reading_page.serve import EditServer, version_of
from bookcoref_data.tasks.merging.asking import Session
from bookcoref_data.tasks.merging.linker import decide_with_linker
from bookcoref_data.workflows.merge import AnswerFile, read_parts

pytestmark = [pytest.mark.slow, pytest.mark.long]
WIDTHS, THEMES = (400, 1280), ("light", "dark")


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    bc.sample(folder)
    bc.annotate(folder / "lamp.txt", folder / "cast.txt", out=folder / "annotated")
    return folder


def opened(browser, address: str):
    browser.get("about:blank")
    browser.get(address)
    until(browser, "return document.documentElement.dataset.ready")


def until(browser, script: str, seconds: float = 60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := browser.execute_script(script):
            return found
        time.sleep(0.05)
    raise AssertionError(f"never true: {script}")


def press(browser, *keys: str) -> None:
    """Press keys as a person does: they go to what has the focus then, also where the page was drawn anew."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    for key in keys:
        ActionChains(browser).send_keys(getattr(Keys, key, key)).perform()


@pytest.fixture
def screen(browser, width: int, theme: str):
    """The browser with this width and these colours."""
    look = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", look)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def barriers(browser) -> list[str]:
    """The rules of axe-core that the page as it stands breaks."""
    program = (Path(axe_core_python.__path__[0]) / "axe.min.js").read_text(encoding="utf-8")
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": program})
    run = "const d = arguments[0]; axe.run().then((r) => d(r.violations.map((v) => v.id)))"
    found = browser.execute_async_script(run)
    wide = browser.execute_script("return document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["wider than the screen"] if wide else [])]


def test_questions_are_answered_with_one_key_and_taken_back(browser, story):
    asked = bc.review(
        story / "annotated", edits=story / "none.jsonl", most=5, about=["speaker", "pronoun"],
        out=story / "questions.html", replace=True,
    )  # fmt: skip
    opened(browser, (story / "questions.html").as_uri())
    first, second = asked.questions[:2]
    press(browser, "2", "n", "z", "c", "o")
    press(browser, *"mrs harlow", "ENTER", "o", *"bosn", "ENTER")
    made = [parse_edits(line)[0] for line in browser.execute_script("return lines()").splitlines()]
    assert (made[0].at.start, made[0].speaker or made[0].character) == (first.start, first.people[1])
    assert ("seen", second.start) in {(e.op, e.at.start) for e in made}
    for q, who in zip(asked.questions[2:], ("Mrs. Harlow", "Bosun"), strict=False):
        assert {e.speaker or e.character for e in made if e.at.start == q.start} == {who}
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("theme", THEMES[:1])
@pytest.mark.parametrize("width", WIDTHS[:1])
def test_place_and_answers_are_on_one_small_screen(screen, story):
    bc.review(story / "annotated", edits=story / "none.jsonl", most=25, out=story / "many.html")
    opened(screen, (story / "many.html").as_uri())
    seen = """const box = (css) => document.querySelector(css).getBoundingClientRect();
        const inside = box(".passage"), mark = box("mark"), last = box(".choices li:last-child");
        return mark.top >= inside.top && mark.top < inside.bottom && last.bottom <= innerHeight;"""
    places = []
    for _ in range(25):
        places.append(screen.execute_script(seen))
        press(screen, "c")
    assert all(places)


def test_a_served_page_saves_each_answer_and_reads_again(browser, story):
    edits = story / "served.jsonl"
    asked = bc.review(story / "annotated", edits=edits, most=2, about=["speaker"])
    first = asked.questions[0]
    server = EditServer(asked.page, edits)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        opened(browser, server.address)
        press(browser, "1", "n")
        press(browser, "ENTER")
        until(browser, "return document.getElementById('state').textContent.includes('question 1')")
    finally:
        server.stop()
        thread.join()
    assert parse_edits(edits.read_text())[0].speaker == first.people[0]
    assert first.key not in {q.key for q in asked.questions}


def test_answers_that_are_not_saved_are_said_to_be_so_and_kept(browser, story):
    edits = story / "two.jsonl"
    edits.write_text("", encoding="utf-8")
    asked = bc.review(story / "annotated", edits=edits, most=2, about=["speaker"])
    server = EditServer(asked.page, edits)
    thread = threading.Thread(target=server.run)
    thread.start()
    state = "return document.getElementById('state').textContent"
    try:
        opened(browser, server.address)
        edits.write_text('{"op": "new", "character": "Zoe"}\n', encoding="utf-8")  # by somebody else
        press(browser, "1", "n")
        until(browser, f"{state}.includes('not saved: two.jsonl was changed by somebody else')")
        press(browser, "ENTER")  # saves a file
        assert "not saved" in browser.execute_script(state)
        until(browser, "return document.getElementById('tools').textContent.includes('Save edits.jsonl')")
        assert browser.execute_script("return [unsaved, given.length]") == [True, 2]
        browser.execute_script("unsaved = false")
    finally:
        server.stop()
        thread.join()
    assert len(parse_edits(edits.read_text())) == 1
    browser.get_log("browser")


PAGES = {
    "book": ("", "u", "?"), "compared": ("", "u"), "report": ("",), "workshop": ("", "1a", "?"),
    "questions": ("", "o"), "flags": ("",), "matches": ("",),
}  # fmt: skip
"""Every page for people, and the keys that open what lies over it."""


@pytest.fixture(scope="module")
def pages(story):
    folder = story / "pages"
    folder.mkdir()
    other = (story / "cast.txt").read_text(encoding="utf-8").splitlines()[:3]
    bc.annotate(story / "lamp.txt", other, out=folder / "other")
    bc.view(story / "annotated", folder / "book.html")
    bc.view(story / "annotated", folder / "compared.html", compare=folder / "other")
    bc.report(story / "annotated", folder / "report.html", plots=False)
    bc.cast(story / "lamp.txt", cast=story / "cast.txt", out=folder / "workshop.html")
    bc.review(story / "annotated", edits=story / "none.jsonl", most=3, out=folder / "questions.html")
    bc.audit(story / "annotated", read=False, out=folder / "flags.html")
    work = {
        "source": "wikidata", "work_id": "Q1", "title": "The Inn", "author": "Mira Holt", "link": "https://x.org/Q1",
        "characters": 6, "names": ["Ada"], "gutenberg_id": 7, "left_out": [], "review": "near miss",
        "reason": "affix: alike", "book": "", "records": [
            {"id": 7, "title": "The Inn at Sea", "author": "Holt, Mira", "downloads": 12, "refused": ""}],
    }  # fmt: skip
    (folder / "matches.html").write_text(match_page([work]), encoding="utf-8")
    return folder


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_a_barrier(screen, pages, name):
    for keys in PAGES[name]:
        screen.get("about:blank")
        screen.get((pages / f"{name}.html").as_uri())
        until(screen, "return document.readyState === 'complete'")
        press(screen, *keys)
        assert barriers(screen) == [], keys


# -- a round of merging chains ------------------------------------------------------------------------------

PEOPLE = [
    ("Meg saw Edmund . She <b>smiled</b> at him .", {"1": [0, 4], "2": [2, 7]}),
    ("Meg left . She waved . He did not . It rained .", {"1": [0, 3], "2": [6], "3": [10]}),
    ("She wrote to Edmund . He burnt it .", {"4": [0], "5": [3, 5], "6": [7]}),
]


@pytest.fixture
def parts(tmp_path):
    """A document in three parts, with a chain inside another and a word that looks like markup."""
    rows = []
    for n, (text, chains) in enumerate(PEOPLE):
        extra = {"document": "bc/demo/1", "part": f"00{n}", "cluster_ids": [*chains]}
        clusters = [[Mention(i, i) for i in chain] for chain in chains.values()]
        rows.append(Record(f"bc/demo/1_part{n}", "", [text.split()], clusters, extra=extra))
    write_documents(rows, tmp_path / "parts.jsonl")
    return tmp_path / "parts.jsonl"


@pytest.fixture
def merging(parts):
    """The server of a round; its answers are those of the terminal's table."""
    documents, answers = read_parts(parts, None), AnswerFile(parts.with_name("ann.tsv"), "ann")
    page, check = round_page(documents, answers)
    server = EditServer(page, answers.path, check=check)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server
    server.stop()
    thread.join()


def answered(browser, server) -> list[list[str]]:
    """The rows of the table on disk, without document and annotator."""
    until(browser, "return saving.then(() => true)")
    return [line.split("\t")[1:5] for line in server.edits.read_text().splitlines()[1:]]


def test_a_round_is_answered_by_keys_into_the_table_of_the_terminal(browser, parts, merging):
    opened(browser, merging.address)
    state = "return document.getElementById('state').textContent"
    assert browser.execute_script(state) == "bc/demo/1, part 001, chain 1 of 3"
    assert browser.execute_script("return document.querySelectorAll('main b').length") == 0
    assert "<b>smiled</b>" in browser.execute_script("return document.querySelector('.pane').textContent")
    meg = browser.execute_script("return optionsOf(asked()).findIndex((o) => o.root === 0)")
    press(browser, str(meg + 1))
    edmund = browser.execute_script("return optionsOf(asked()).findIndex((o) => o.root === 1)")
    press(browser, str(edmund + 1), "n")
    assert browser.execute_script(state) == "bc/demo/1, summary of part 001"
    said = browser.execute_script("return document.getElementById('main').textContent")
    assert "Meg | She → Meg | She" in said
    assert "It → new" in said
    press(browser, "y", "n", "z")  # the last one is taken back
    assert answered(browser, merging) == [
        ["001", "1", "000", "1"], ["001", "2", "000", "2"], ["001", "3", "new", "new"],
    ]  # fmt: skip
    opened(browser, merging.address)  # a new window goes on there
    assert browser.execute_script(state) == "bc/demo/1, part 002, chain 1 of 3"
    press(browser, "n", "s", "1", "n")
    assert answered(browser, merging)[-1] == ["002", "4", "new", "new"]
    press(browser, "n", "n", "y")
    assert "All chains are decided" in browser.execute_script("return document.body.textContent")
    made = CliRunner().invoke(make_app(), ["merge", str(parts), "-d", str(merging.edits), "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["decisions"] == {"link": 2, "new": 4}
    assert browser.get_log("browser") == []


def test_a_revised_answer_is_asked_again_with_all_later_ones(browser, parts, merging):
    """In the page as in the terminal, also when the table is read anew."""
    opened(browser, merging.address)
    press(browser, "n", "n", "n", "y", "n", "n")
    browser.execute_script("summary = { d: 0, part: 1 }; draw()")
    press(browser, "1", "1")
    assert "2 later answers" in browser.execute_script("return document.getElementById('say').textContent")
    assert len(answered(browser, merging)) == 6
    documents = read_parts(parts, None)
    answers = AnswerFile(merging.edits, "ann").load(documents)["bc/demo/1"]
    assert sorted(answers) == [(1, "1"), (1, "2"), (1, "3")]
    opened(browser, merging.address)
    assert browser.execute_script("return asked()") == {"d": 0, "chain": 5}


def test_the_page_and_the_terminal_offer_the_same_chains_in_the_same_order(browser, parts, merging):
    documents = read_parts(parts, None)
    advice = decide_with_linker(documents[0])
    opened(browser, merging.address)
    refs = list(documents[0].chains)
    for target in ("1", "n", "n", "y", "1", "1", "n"):
        if target == "y":
            press(browser, "y")
            continue
        given = AnswerFile(merging.edits, "ann").load(documents)["bc/demo/1"]
        session = Session(documents[0], given, advice)
        shown = browser.execute_script("return [asked().chain, optionsOf(asked()).map((o) => o.root)]")
        question = session.next_question
        assert shown == [refs.index(question), [refs.index(o.root) for o in session.options(question)]]
        press(browser, target)
        answered(browser, merging)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_round_has_no_barriers(screen, merging):
    opened(screen, merging.address)
    assert barriers(screen) == []
    press(screen, "s")
    assert barriers(screen) == []
    press(screen, "y", "n", "n", "n", "y", "n", "n", "n", "y")
    assert barriers(screen) == []


def test_rows_that_are_no_answers_are_not_saved(merging):
    for row in ("bc/demo/1\t001\t99\tnew\tnew\tann\n", "x\n"):
        with pytest.raises(BookcorefError):
            merging.save(row, version_of(""))
    assert not merging.edits.exists()


# -- the cast workshop -------------------------------------------------------------------------------------


@pytest.fixture
def workshop(browser, story, tmp_path):
    """The workshop of a cast file with comments, without a server."""
    file = tmp_path / "cast.txt"
    file.write_text("# ours\n" + CAST, encoding="utf-8")
    bc.cast(story / "lamp.txt", file, out=tmp_path / "workshop.html")
    opened(browser, (tmp_path / "workshop.html").as_uri())
    return browser


CAST = """Margaret Harlow; Meg   # the elder
Edmund Harlow [m]
Mrs. Harlow
Sam Tully
Tully
"""


def cast_text(browser) -> str:
    return browser.execute_script("return fileText()")


def said(browser) -> str:
    return browser.execute_script("return document.getElementById('say').textContent")


def rank_of(browser, name: str) -> str:
    """The digit that leads to a person."""
    at = browser.execute_script("return shown().map(nameOf).indexOf(arguments[0])", name)
    return str((at + 1) % 10)


def test_two_people_are_joined_split_and_taken_back_with_four_keys_each(workshop):
    untouched = cast_text(workshop)
    assert untouched == "# ours\n" + CAST
    choice = workshop.execute_script(
        "current = shown().find((i) => nameOf(i) === 'Sam Tully');"
        "return String(likely(current).map(nameOf).indexOf('Tully') + 1)"
    )
    press(workshop, rank_of(workshop, "Sam Tully"), "m", choice)
    assert "# in Sam Tully: Tully\n" in cast_text(workshop)
    assert "6 mentions move" in said(workshop)
    press(workshop, "z")
    assert cast_text(workshop) == untouched
    names = workshop.execute_script(
        "return mine(shown().find((i) => nameOf(i) === 'Margaret Harlow')).map((n) => n.text)"
    )
    press(workshop, rank_of(workshop, "Margaret Harlow"), "s", str(names.index("Meg") + 1), "ENTER")
    lines = cast_text(workshop).splitlines()
    assert lines[1] == "Margaret Harlow   # the elder"
    assert lines[-1] == "Miss Meg; Meg"  # what begins with the same name goes along
    assert "16 mentions move" in said(workshop)
    assert workshop.get_log("browser") == []


def test_names_that_a_rule_gave_stay_when_the_name_behind_the_rule_is_joined_or_changed(browser, tmp_path):
    """A surname that is also a month is one's as the main name says; as another name it says less."""
    (tmp_path / "trap.txt").write_text(MARCH)
    (tmp_path / "cast.txt").write_text("Hurry\nHarry March\nJudith\n")
    for keys in ("m1", "r/Henry"):
        made = bc.cast(tmp_path / "trap.txt", tmp_path / "cast.txt", out=tmp_path / "w.html", replace=True)
        opened(browser, (tmp_path / "w.html").as_uri())
        press(browser, rank_of(browser, "Hurry" if keys == "m1" else "Harry March"), *keys)
        press(browser, *["ENTER"] * (keys != "m1"))
        (tmp_path / "saved.txt").write_text(cast_text(browser))
        browser.execute_script("unsaved = false")
        again = bc.cast(tmp_path / "trap.txt", tmp_path / "saved.txt").workshop
        assert {n.text for n in made.workshop.names if n.owner >= 0} >= {"March", "Harry March"}
        assert {n.text: len(n.starts) for n in again.names if n.owner >= 0} == {
            n.text: len(n.starts) for n in made.workshop.names if n.owner >= 0
        }


MARCH = """Hurry came to the lake with Judith. Harry March was a tall man.

"Where is the canoe?" asked Hurry. Judith did not know. March went to look for it, and Judith went with March.

Hurry laughed. Harry March laughed, and then March sat down. Judith looked at Hurry.
"""


def test_gender_narrator_family_chapters_and_names_are_set_by_keys(workshop):
    press(workshop, rank_of(workshop, "Sam Tully"), "g", "m", "t", "ENTER")
    assert "Sam Tully [m] [narrator]" in cast_text(workshop)
    press(workshop, "t", *"2-3", "ENTER")
    assert "Sam Tully [m] [narrator 2-3]" in cast_text(workshop)
    press(workshop, "t", *"99", "ENTER")
    assert "no chapters 99" in said(workshop)
    press(workshop, "c", "1", *"two", "ENTER")
    assert "no chapter “two”" in said(workshop)
    press(workshop, "d")
    assert "# dropped: Sam Tully" in cast_text(workshop)
    press(workshop, "z")
    press(workshop, rank_of(workshop, "Mrs. Harlow"), "c", "1", "3", "ENTER")
    assert "Mrs. Harlow (from chapter 3); Mrs. Harlow:3-" in cast_text(workshop)
    press(workshop, "r", "/", *"Aunt Mary", "ENTER")
    assert cast_text(workshop).splitlines()[-1].startswith("Aunt Mary; ")
    press(workshop, "n", "/", *"Hannah", "ENTER")
    assert cast_text(workshop).splitlines()[-1] == "Hannah"
    assert parse_cast(cast_text(workshop)).narrators == ("Sam Tully:2-3",)


@pytest.mark.parametrize(("keys", "line"), [("a/t1", "Sam Tully; Tully"), ("m/e1", "# in Sam Tully: Edmund")])
def test_a_typed_letter_narrows_the_names_and_a_digit_takes_one(workshop, keys, line):
    press(workshop, rank_of(workshop, "Sam Tully"), *keys)
    assert line in cast_text(workshop)
    press(workshop, "a", "/", "q", "1")
    assert workshop.execute_script("return document.querySelectorAll('#dialog .choices button').length") == 0
    press(workshop, "BACKSPACE", "BACKSPACE")
    assert workshop.execute_script("return document.querySelectorAll('#dialog .choices button').length") > 0
    assert workshop.get_log("browser") == []


def test_what_annotate_notes_of_a_cast_stands_above_it(browser, story, tmp_path):
    (tmp_path / "cast.txt").write_text("Margaret Harlow\nZebedee Quill\nZora Quill\n")
    bc.cast(story / "lamp.txt", tmp_path / "cast.txt", out=tmp_path / "cast.html")
    opened(browser, (tmp_path / "cast.html").as_uri())
    told = browser.execute_script("return document.querySelector('main > .note').innerText")
    assert "Zebedee Quill" in told
    assert "[object" not in browser.execute_script("return document.body.innerText")


def test_hostile_names_are_text(browser, story, tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    (tmp_path / "cast.txt").write_text(f"Meg; {evil}\n</script><script>alert(2)</script>\n", encoding="utf-8")
    bc.cast(story / "lamp.txt", tmp_path / "cast.txt", out=tmp_path / "w.html")
    opened(browser, (tmp_path / "w.html").as_uri())
    press(browser, "1", "r", "/", *f"{evil};#[x]", "ENTER")
    assert browser.execute_script("return document.querySelectorAll('img, #main script').length") == 0
    assert cast_text(browser).splitlines()[0].startswith(evil + " x; Meg")
    assert browser.get_log("browser") == []


@pytest.fixture
def served(story, tmp_path, request):
    """A server of the workshop, and its cast file, which is not there yet if a test gives none."""
    (tmp_path / "lamp.txt").write_text((story / "lamp.txt").read_text(), encoding="utf-8")
    if text := getattr(request, "param", ""):
        (tmp_path / "lamp.cast.txt").write_text(text, encoding="utf-8")
    made = bc.cast(tmp_path / "lamp.txt")
    server = EditServer(made.page, made.file, check=made.check)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server
    server.stop()
    thread.join()


def test_changes_are_saved_at_once_and_annotate_reads_them(browser, served):
    opened(browser, served.address)
    kept = served.edits
    assert kept.name == "lamp.cast.txt"
    press(browser, "1", "g", "f", "2", "d", "1", "t", "ENTER")
    until(browser, "return document.getElementById('state').textContent.includes('saved')")
    until(browser, "return saving.then(() => true)")
    cast = parse_cast(kept.read_text())
    assert len(cast.narrators) == 1
    assert cast.narrators[0] == cast.names[0]
    opened(browser, served.address)
    assert len(browser.execute_script("return shown()")) == len(cast.names)
    done = bc.annotate(kept.with_name("lamp.txt"), kept)
    assert cast.names[0] in done.characters


def owners(browser) -> dict[int, str]:
    told = browser.execute_script(
        "return names.flatMap((n) => n.at.map((at) => [at, n.owner < 0 ? '' : nameOf(n.owner)]))"
    )
    return {at: name for at, name in told if name}


@pytest.mark.parametrize("served", [CAST], indirect=True)
def test_the_book_is_read_again_after_a_change_and_names_are_whose_annotate_takes_them_for(browser, served):
    opened(browser, served.address)
    before, text = owners(browser), served.edits.read_text()
    press(browser, rank_of(browser, "Edmund Harlow"), "d")
    assert "19 mentions move" in said(browser)
    until(browser, "return document.getElementById('say').textContent.startsWith('Read again')")
    assert "4 mentions go to Margaret Harlow" in said(browser)
    assert "# dropped: Edmund Harlow [m]\n" in served.edits.read_text()
    work = bc.cast(served.edits.with_name("lamp.txt")).workshop
    assert owners(browser) == {
        at: work.people[name.owner][0].name for name in work.names if name.owner >= 0 for at in name.starts
    }
    press(browser, "z")
    until(browser, "return saving.then(() => !unsaved)")
    assert served.edits.read_text() == text
    assert owners(browser) == before


@pytest.mark.parametrize("served", ["Sam Tully [narrator 2-3]\nEdmund Harlow\n"], indirect=True)
def test_the_workshop_saves_no_cast_that_annotate_would_refuse(browser, served):
    opened(browser, served.address)
    text = served.edits.read_text()
    for chapters, told in (("3", "Sam Tully says I in chapters 2-3"), ("3-2", "no chapters 3-2")):
        press(browser, rank_of(browser, "Edmund Harlow"), "t", *chapters, "ENTER")
        assert told in said(browser)
    press(browser, "r", "/", *"Ned:2", "ENTER")
    until(browser, "return document.getElementById('state').textContent.includes('chapters belong to')")
    assert served.edits.read_text() == text
    press(browser, "z")
    until(browser, "return saving.then(() => !unsaved)")
    press(browser, "d", "d")
    until(browser, "return document.getElementById('state').textContent.includes('0 people')")
    press(browser, "m", "a", "r")
    until(browser, "return !document.getElementById('dialog').open")
    press(browser, "z")
    until(browser, "return saving.then(() => !unsaved)")
    assert browser.execute_script("return document.getElementById('state').textContent").startswith(
        "1 person"
    )


def test_nothing_is_called_saved_before_the_answer(browser, served):
    opened(browser, served.address)
    browser.execute_script(
        "const ask = fetch; window.fetch = (...a) => new Promise((go) => answer = () => go(ask(...a)))"
    )
    press(browser, "1", "g", "f")
    until(browser, "return 'answer' in window")
    state = "return document.getElementById('state').textContent"
    assert "saving" in browser.execute_script(state)
    assert "saved" not in browser.execute_script(state)
    browser.execute_script("answer()")
    until(browser, f"{state}.includes('saved')")
    assert "[f]" in served.edits.read_text()


def test_of_two_windows_the_later_one_is_told_and_loses_nothing(browser, served):
    opened(browser, served.address)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    try:
        opened(browser, served.address)
        press(browser, "1", "g", "f")
        until(browser, "return document.getElementById('state').textContent.includes('saved')")
        kept = served.edits.read_text()
        browser.switch_to.window(first)
        press(browser, "2", "g", "m")
        until(browser, "return document.getElementById('state').textContent.includes('not saved')")
        assert served.edits.read_text() == kept
        assert "[m]" in cast_text(browser)
        assert any("412" in line["message"] for line in browser.get_log("browser"))
    finally:
        for handle in browser.window_handles:
            if handle != first:
                browser.switch_to.window(handle)
                browser.execute_script("unsaved = false")
                browser.close()
        browser.switch_to.window(first)
        browser.execute_script("unsaved = false")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_workshop_has_no_barriers(screen, workshop):
    assert barriers(screen) == []
    for keys in ("s1", "g", "t", "?"):
        press(screen, *keys)
        assert barriers(screen) == []
        press(screen, "ESCAPE")
