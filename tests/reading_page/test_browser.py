"""Reading, searching, correcting and comparing in a real browser, on the sample story."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.edits import apply, parse_edits
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.reading_page import PageOptions, compare, render
from bookcoref_data.reading_page.serve import EditServer
from tests.sample_story.making import sample_book

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sample() -> Annotation:
    """The sample story with its gold, one quote, and reasons for some links."""
    book = sample_book()
    names = tuple(c.name for c in book.characters)
    mentions = tuple(
        sorted(
            Marked(m.start, m.end, i, "windows", "ranker", 0.4 if m.start % 7 == 0 else 0.9)
            for i, c in enumerate(book.characters)
            for m in c.mentions
        )
    )
    bare = Book(book.doc_key, book.gutenberg_key, book.tokens, book.sentence_ends)
    marks = [i for i, t in enumerate(book.tokens) if t in ("“", '"')]
    return Annotation(bare, names, mentions, (Quote(marks[0], marks[0] + 8, 0, (1,), "turn", 0.5),))


class Page:
    """A page in the browser, and what a person does with it."""

    def __init__(
        self, driver, path: Path, annotation: Annotation, options: PageOptions | None = None
    ) -> None:
        self.driver, self.annotation = driver, annotation
        path.write_text(render(annotation, options), encoding="utf-8")
        path.with_name("empty.html").write_text("", encoding="utf-8")
        self.address, self.empty = path.as_uri(), path.with_name("empty.html").as_uri()
        self.open()

    def open(self, place: str = "", *, fresh: bool = True) -> None:
        self.driver.get(self.empty if fresh else "about:blank")
        if fresh:  # all files share what is stored, and an empty one is soon there
            self.run("localStorage.clear(); sessionStorage.clear();")
        self.driver.get(self.address + place)
        self.until("return document.documentElement.dataset.ready")

    def run(self, script: str, *values):
        return self.driver.execute_script(script, *values)

    def until(self, script: str, seconds: float = 20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.run(script):
                return found
            time.sleep(0.05)
        raise AssertionError(f"never true: {script}")

    def keys(self, *keys: str) -> None:
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            body = self.driver.switch_to.active_element
            body.send_keys(getattr(Keys, key, key))

    def about(self) -> str:
        return self.run("return document.getElementById('about').textContent")

    def choose(self, name: str) -> None:
        self.run("choose(book.names.indexOf(arguments[0]))", name)

    def saved(self) -> list[dict]:
        return [e.to_dict() for e in parse_edits(self.run("return jsonLines()"))]


@pytest.fixture
def page(browser, sample, tmp_path):
    yield Page(browser, tmp_path / "page.html", sample)
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []


def test_a_reader_walks_a_character_through_the_book(page):
    thorne = page.annotation.names.index("Captain Thorne")
    starts = [m.start for m in page.annotation.mentions if m.character == thorne]
    page.choose("Captain Thorne")
    page.keys("n", "n", "n")
    assert page.run("return location.hash") == f"#t={starts[2]}"
    assert "Captain Thorne" in page.about()
    page.keys("p")
    assert page.run("return location.hash") == f"#t={starts[1]}"
    top = page.run("return document.querySelector('main .current').getBoundingClientRect().top")
    assert 80 < top < page.run("return innerHeight")
    assert page.run("return [...document.querySelectorAll('main .chosen')].length") > 3


def test_the_strip_leads_to_a_place_and_is_read_out(page):
    page.choose("Bosun")
    assert page.run("return document.getElementById('strip').getAttribute('aria-label')").startswith("Bosun")
    page.run(
        "const s = document.getElementById('strip'), b = s.getBoundingClientRect();"
        "s.dispatchEvent(new MouseEvent('click', {clientX: b.left + b.width * 0.75, clientY: b.top + 5}))"
    )
    token = int(page.run("return location.hash").removeprefix("#t="))
    assert abs(token / len(page.annotation.book.tokens) - 0.75) < 0.05


@pytest.mark.long
def test_a_click_finds_the_word_and_a_link_leads_to_it(page):
    from selenium.webdriver.common.action_chains import ActionChains

    tokens = page.annotation.book.tokens
    marked = {i for m in page.annotation.mentions for i in range(m.start, m.end + 1)}
    free = next(
        i for i, t in enumerate(tokens) if i > 2600 and len(t) > 6 and t.isalpha() and i not in marked
    )
    page.open(f"#t={free}", fresh=False)
    box = page.run("const b = rangeOf(arguments[0], arguments[0]).getBoundingClientRect();"
                   "return [b.left + b.width / 2, b.top + b.height / 2]", free)  # fmt: skip
    assert 80 < box[1] < page.run("return innerHeight")
    ActionChains(page.driver).move_by_offset(int(box[0]), int(box[1])).click().move_by_offset(
        -int(box[0]), -int(box[1])
    ).perform()
    assert tokens[free] in page.about()
    assert "Not marked" in page.about()


def test_the_text_is_that_of_the_book_and_far_chapters_are_empty(page):
    def together(text: str) -> str:
        return "".join(text.split())

    tokens = page.annotation.book.tokens
    shown = together(page.run("return chapters[0].section.textContent"))
    assert shown
    assert together("".join(tokens)).startswith(shown)
    page.run("jump(DATA.tokens - 1)")
    page.until("return chapters.at(-1).filled && !chapters[0].section.hasChildNodes()")
    assert together(page.run("return chapters.at(-1).section.textContent")).endswith(together(tokens[-1]))
    text = page.run("return chapters.map((c) => shown(c.text)).join(' ')")
    assert together(text) == together("".join(tokens))


@pytest.mark.long
def test_print_holds_the_whole_book(page):
    pdf = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= len(page.annotation.book.tokens) / 1000
    page.run("dispatchEvent(new Event('beforeprint'))")
    text = page.run("return document.querySelector('main').textContent")
    words = "".join("".join(page.annotation.book.tokens).split())
    assert words in "".join(text.split())


@pytest.mark.long
def test_search_sees_the_whole_text(page):
    page.keys("/")
    page.keys("lantern")
    page.until("return document.querySelectorAll('#pane ol li').length > 0")
    told = page.run("return document.querySelector('#pane .note').textContent")
    assert told == f"{' '.join(page.annotation.book.tokens).lower().count('lantern')} places"
    page.run("document.querySelector('#pane ol li:last-child button').click()")
    token = int(page.run("return location.hash").removeprefix("#t="))
    assert page.annotation.book.tokens[token].lower().startswith("lantern")


def test_corrections_are_kept_saved_and_say_what_was_done(page):
    before = {(m.start, m.end): page.annotation.names[m.character] for m in page.annotation.mentions}
    page.choose("Captain Thorne")
    page.keys("n", "n", "e")
    page.run("document.getElementById('thisis').value = ''")
    page.keys("Mr. Gadd", "ENTER")
    page.keys("ESCAPE")
    page.run("choose(book.names.indexOf('Bosun')); walk(1)")
    page.keys("x")
    page.run("correctSpeaker(book.quotes[0], 'Bosun', ['Meg the cat']);"
             "renameCharacter(book.names.indexOf('Miss Crane'), 'Aunt Crane')")  # fmt: skip
    edits = page.saved()
    assert [e["op"] for e in edits] == ["link", "unlink", "new", "speaker", "rename"]
    assert edits[0]["was"] == "Captain Thorne"
    assert edits[0]["at"]["before"]
    page.open(fresh=False)
    assert page.saved() == edits
    done = apply(page.annotation, parse_edits(page.run("return jsonLines()")))
    assert (done.changed, done.conflicts) == (5, ())
    now = {(m.start, m.end): done.annotation.names[m.character] for m in done.annotation.mentions}
    place = tuple(edits[0]["at"]["tokens"])
    assert (before[place], now[place]) == ("Captain Thorne", "Mr. Gadd")
    shown = page.run(
        "return book.order.map((i) => [book.start[i], book.end[i], book.names[book.character[i]]])"
    )
    assert {(a, b, c) for a, b, c in shown} == {(*span, name) for span, name in now.items()} | {
        (m.start, m.end, done.annotation.names[m.character]) for m in done.annotation.mentions
    }
    page.keys("z", "z")
    assert [e["op"] for e in page.saved()] == ["link", "unlink"]


def test_the_same_for_the_rest_of_the_chapter(page):
    i = page.run("return book.order.find((k) => wordsOf(book.start[k], book.end[k]) === 'he')")
    page.run(
        "correctMention(book.start[arguments[0]], book.end[arguments[0]], arguments[0], 'Mr. Gadd', 'words')",
        i,
    )
    answer(page, "Yes, change them")
    edits = page.saved()
    assert len(edits) > 3
    assert {e["at"]["words"].lower() for e in edits} == {"he"}
    assert len({e["group"] for e in edits}) == 1


def test_doubtful_links_come_least_certain_first(page):
    page.keys("u")
    assert "40% certain" in page.about()
    page.run("showTab('Doubtful')")
    told = page.run("return [...document.querySelectorAll('#pane li small')].map((e) => e.textContent)")
    scores = [int(text.split()[-1].rstrip("%")) for text in told]
    assert scores == sorted(scores)


def test_a_spoiler_safe_reader_sees_nothing_from_further_on(page):
    page.run("document.getElementById('spoiler').click()")
    reach = page.run("return reach")
    assert reach < 1500
    late = [c for c in range(len(page.annotation.names)) if
            min(m.start for m in page.annotation.mentions if m.character == c) > reach]  # fmt: skip
    assert late
    seen = page.run(
        "return document.getElementById('side').textContent + document.getElementById('people').innerHTML"
    )
    assert [page.annotation.names[c] for c in late if page.annotation.names[c] in seen] == []
    page.run("showTab('Contents')")
    assert page.run("return document.querySelectorAll('#pane li').length") == 1
    page.run("jump(DATA.tokens - 1)")
    page.until("return reach > 5000")


def test_the_table_counts_mentions_by_chapter_and_character(page):
    table = page.run("return chapterTable()")
    assert sum(sum(row[1:]) for row in table["rows"]) == len(page.annotation.mentions)
    assert page.run("return csv([['=a', 'b,c', 3]])") == '\ufeff\'=a,"b,c",3\r\n'


def test_pieces_without_a_heading_belong_to_the_chapter_before(browser, sample, tmp_path):
    """A chapter that is cut to keep the page fast is one chapter in the contents and the table."""
    long = Annotation(sample.book, sample.names, sample.mentions, chapters=(("One", 40), ("Two", 5000)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bookcoref_data.books.layout._PART", 800)
        page = Page(browser, tmp_path / "page.html", long)
    assert page.run("return chapters.length") > 5
    page.run("showTab('Contents')")
    shown = page.run("return [...document.querySelectorAll('#pane li .text')].map((e) => e.textContent)")
    assert shown == ["Before the first chapter", "One", "Two"]
    named = page.run("return [...document.querySelectorAll('section[aria-label]')].map((e) => e.ariaLabel)")
    assert named == shown  # two landmarks of one name are a barrier
    rows = page.run("return chapterTable()")["rows"]
    assert [row[0] for row in rows] == shown
    assert sum(sum(row[1:]) for row in rows) == len(sample.mentions)


def test_chapters_of_one_name_are_landmarks_with_two(browser, sample, tmp_path):
    """Each book of a novel has its Chapter I."""
    chapters = (("Chapter I", 0), ("Chapter II", 1500), ("Chapter I", 3000), ("Chapter II", 4500))
    twice = Annotation(sample.book, sample.names, sample.mentions, chapters=chapters)
    page = Page(browser, tmp_path / "page.html", twice)
    named = page.run("return [...document.querySelectorAll('section[aria-label]')].map((e) => e.ariaLabel)")
    assert named == ["Chapter I", "Chapter II", "Chapter I (2)", "Chapter II (2)"]


@pytest.mark.long
def test_differences_are_walked_and_counted(browser, sample, tmp_path):
    moved = tuple(m._replace(character=1) if n % 50 == 0 else m for n, m in enumerate(sample.mentions[:-3]))
    other = replace(sample, mentions=tuple(sorted(set(moved))))
    found = compare(sample, other, labels=("gold", "system"))
    page = Page(browser, tmp_path / "compare.html", sample, PageOptions(differences=found))
    first = f"#t={found.rows[0].start}"
    page.keys("d")
    page.until(f"return location.hash === '{first}'")
    assert "gold" in page.about()
    page.keys("d", "D")
    page.until(f"return location.hash === '{first}'")
    page.until("return document.querySelectorAll('main .df').length > 0")
    told = page.run("return document.getElementById('pane').textContent")
    assert f"missed ({found.counts()['missed']})" in told


@pytest.mark.long
def test_lists_say_how_many_they_leave_out_and_give_the_rest_by_keyboard(browser, tmp_path):
    tokens = [f"Anna{n}" for n in range(900)]
    mentions = tuple(Marked(n, n, n, "link", "name", 0.5, "name") for n in range(900))
    many = Annotation(Book.make("many", [tokens]), tuple(tokens), mentions)
    found = compare(many, replace(many, mentions=mentions[::4]), labels=("gold", "system"))
    page = Page(browser, tmp_path / "page.html", many, PageOptions(differences=found))
    search = (
        "const f = document.getElementById('search'); f.value = 'anna'; f.dispatchEvent(new Event('input'))"
    )
    for tab, most, total in (("Differences", 300, 675), ("People", 400, 900), ("Doubtful", 200, 900),
                             ("Search", 300, 900)):  # fmt: skip
        page.run(f"showTab('{tab}'); {search if tab == 'Search' else ''}")
        page.until(f"return document.querySelectorAll('#pane li').length === {most}")
        more = "[...document.querySelectorAll('#pane .note button')].at(-1)"
        assert f"{most} of {total} are listed" in page.run(f"return {more}.parentElement.textContent")
        page.run(f"{more}.focus()")
        page.keys("ENTER")
        assert page.run("return document.querySelectorAll('#pane li').length") == 2 * most
        listed = "[...document.querySelectorAll('#pane li button')]"
        assert page.run(f"return {listed}.indexOf(document.activeElement)") == most
        while page.run(f"return Boolean({more})"):
            page.run(f"{more}.click()")
        assert page.run("return document.querySelectorAll('#pane li').length") == total


def test_crossing_and_nested_mentions_are_visible_and_names_stay_text(browser, tmp_path):
    tokens = ["Anna", "Smith", "and", "her", "brother", "Tom", "met", "the", "old", "king", "of", "Anna", "."]
    evil = "</script><img onerror=document.title='x' src=x>"
    spans = [(0, 5, 0), (3, 3, 0), (3, 5, 1), (5, 6, 2), (2, 4, 2), (7, 11, 1), (11, 11, 0)]
    annotation = Annotation(
        Book.make("evil", [tokens]), (evil, "Tom", "<b>"), tuple(sorted(Marked(*s) for s in spans))
    )
    page = Page(browser, tmp_path / "evil.html", annotation)
    page.run("walk(1); choose(0); showTab('Search')")
    texts = page.run(
        "const all = {}; document.querySelectorAll('main [data-m]').forEach((e) => {"
        "all[e.dataset.m] = (all[e.dataset.m] || '') + e.textContent}); return all"
    )
    words = {str(n): " ".join(tokens[m.start : m.end + 1]) for n, m in enumerate(annotation.mentions)}
    assert {k: v.strip() for k, v in texts.items()} == words
    heights = page.run(
        "return [...document.querySelectorAll('main [data-m]')].map((e) => getComputedStyle(e).paddingBottom)"
    )
    assert len(set(heights)) > 2
    assert page.run("return document.images.length") == 0
    assert page.run("return document.title") == "evil"
    assert evil in page.run("return document.body.textContent")


def test_no_request_leaves_the_page(page):
    page.driver.get_log("performance")
    page.open()
    page.keys("n", "u")
    page.run("showTab('Corrections'); drawStrip()")
    sent = [json.loads(line["message"])["message"] for line in page.driver.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    assert {url.split(":")[0] for url in asked} <= {"file", "about"}
    assert page.run("return fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"
    assert any("Content Security Policy" in line["message"] for line in page.driver.get_log("browser"))


@pytest.mark.long
def test_a_served_page_saves_straight_to_disk(browser, sample, tmp_path):
    path = tmp_path / "edits.jsonl"
    server = EditServer(lambda known: render(sample, PageOptions(server=known, author="Ada")), path)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        browser.get(server.address)
        page = Page.__new__(Page)
        page.driver, page.annotation = browser, sample
        page.until("return document.documentElement.dataset.ready")
        page.run("renameCharacter(book.names.indexOf('Bosun'), 'the dog')")
        end = time.monotonic() + 10
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.05)
        (edit,) = parse_edits(path.read_text(encoding="utf-8"))
        assert (edit.op, edit.name, edit.author) == ("rename", "the dog", "Ada")
        path.write_text("", encoding="utf-8")
        page.run("renameCharacter(0, 'Somebody')")
        page.until("return document.getElementById('toast').textContent.includes('reload')")
        assert path.read_text(encoding="utf-8") == ""
        status = page.run(
            "return fetch('edits', {method: 'POST', body: '', headers: {'X-Token': 'x'}})"
            ".then((a) => a.status)"
        )
        assert status == 403
    finally:
        server.stop()
        thread.join(timeout=5)


def test_a_folder_of_annotate_opens_with_its_reasons(browser, tmp_path, sample):
    from bookcoref_data.formats.annotated import write_annotations

    write_annotations([sample], tmp_path / "annotated")
    (again,) = read_annotations(tmp_path / "annotated")
    assert again.mentions == sample.mentions
    page = Page(browser, tmp_path / "page.html", again)
    page.keys("j")
    assert "Why" in page.about()
    assert "read inside a window" not in page.about()


@pytest.mark.long
def test_a_whole_novel_opens_and_jumps_without_filling_up(browser, shared_data, tmp_path):
    """Pride and Prejudice, 142,742 tokens, as a system annotated it."""
    path = shared_data / "systems/finetuned/maverick_xl.jsonl"
    annotation = next(a for a in read_annotations(path) if "pride" in a.doc_key)
    page = Page(browser, tmp_path / "novel.html", annotation)
    assert (tmp_path / "novel.html").stat().st_size < 1_100_000
    assert page.run("return chapters.length") > 45
    for token in (140_000, 20_000, 90_000, 5):
        page.run("jump(arguments[0])", token)
        word = page.run("return rangeOf(arguments[0], arguments[0]).toString()", token)
        assert word == annotation.book.tokens[token]
        top = page.run("return rangeOf(arguments[0], arguments[0]).getBoundingClientRect().top", token)
        assert 0 < top < page.run("return innerHeight")
    page.until("return chapters.filter((c) => c.filled).length < 12")
    assert page.run("return findAll('Netherfield').length") == " ".join(annotation.book.tokens).count(
        "Netherfield"
    )


def typed(page, field: str, text: str) -> None:
    page.run("document.querySelector(arguments[0]).value = arguments[1];"
             "document.querySelector(arguments[0]).form.requestSubmit()", field, text)  # fmt: skip


def asked(page) -> list[str]:
    return page.run(
        "return document.getElementById('dialog').open ? "
        "[...document.querySelectorAll('#dialog button')].map((b) => b.textContent) : []"
    )


def answer(page, text: str) -> None:
    buttons = "[...document.querySelectorAll('#dialog button')]"
    page.run(f"{buttons}.find((b) => b.textContent === arguments[0]).click()", text)


@pytest.mark.parametrize(
    "name", ["Thorne", "captain thorne", "Captian Thorne", "Thorn", "CAPTAIN THÓRNE", "Throne"]
)
def test_a_typed_name_is_completed_to_the_one_it_fits(page, name):
    page.choose("Bosun")
    page.keys("n")
    typed(page, "#thisis", name)
    assert asked(page) == []
    (edit,) = page.saved()
    assert (edit["op"], edit["character"]) == ("link", "Captain Thorne")


def test_somebody_new_is_made_only_when_confirmed(page):
    page.choose("Bosun")
    page.keys("n")
    typed(page, "#thisis", "Zacharias")
    assert asked(page) == ["New person: Zacharias", "Close"]
    answer(page, "Close")
    assert page.saved() == []
    typed(page, "#thisis", "+Thorne")
    assert asked(page)[0] == "New person: Thorne"
    answer(page, "New person: Thorne")
    new, link = page.saved()
    assert (new["op"], new["character"], new["confirmed"], link["character"]) == (
        "new",
        "Thorne",
        True,
        "Thorne",
    )
    done = apply(page.annotation, parse_edits(page.run("return jsonLines()")))
    assert done.conflicts == ()


@pytest.mark.long
def test_of_several_who_fit_one_is_chosen(browser, tmp_path):
    tokens = ["Anna", "Hill", "met", "Tom", "Hill", "and", "Élise", "."]
    annotation = Annotation(
        Book.make("hill", [tokens]), ("Anna Hill", "Tom Hill", "Élise"),
        (Marked(0, 1, 0), Marked(3, 4, 1), Marked(6, 6, 2)), (Quote(2, 2, 0),), extra={"cast": [
            {"name": "Élise", "aliases": ["Lizzy"]}]},
    )  # fmt: skip
    page = Page(browser, tmp_path / "hill.html", annotation)
    page.run("select(book.order[2])")
    typed(page, "#thisis", "hill")
    assert asked(page) == ["Anna Hill", "Tom Hill", "New person: hill", "Close"]
    answer(page, "Tom Hill")
    assert [e["character"] for e in page.saved()] == ["Tom Hill"]
    page.run("select(book.order[0])")
    typed(page, "#thisis", "lizzy")
    assert [e["character"] for e in page.saved()] == ["Tom Hill", "Élise"]
    page.run("characterDialog(0)")
    typed(page, '#dialog [aria-label="Merge into"]', "elise")
    assert "Yes, change them" not in asked(page), "one mention asks nothing"
    assert page.saved()[-1]["into"] == "Élise"
    page.keys("z")
    page.run("characterDialog(2)")
    typed(page, '#dialog [aria-label="Name"]', "Tom Hilll")
    assert asked(page)[:2] == ["Yes: merge with Tom Hill", "No: call Élise Tom Hilll"]
    answer(page, "No: call Élise Tom Hilll")
    assert page.saved()[-1]["confirmed"] is True
    assert apply(annotation, parse_edits(page.run("return jsonLines()"))).conflicts == ()


@pytest.mark.long
def test_what_moves_much_of_somebody_asks_first(page):
    total = page.run("return counts()[book.names.indexOf('Captain Thorne')]")
    page.choose("Captain Thorne")
    page.keys("n", "n")
    page.run("document.querySelector('#about select').value = 'book'")
    typed(page, "#thisis", "Bosun")
    assert asked(page) == ["Yes, change them", "Close"]
    told = page.run("return document.querySelector('#dialog li').textContent")
    assert told == f"{total - 1} of {total} mentions of Captain Thorne become Bosun."
    answer(page, "Close")
    assert page.saved() == []
    page.run("mergeCharacter(book.names.indexOf('Captain Thorne'), 'Bosun')")
    answer(page, "Yes, change them")
    assert [e["op"] for e in page.saved()] == ["merge"]
    page.run("who('captain thorne', (name) => { window.found = name; })")
    assert page.run("return window.found") == "Bosun"


@pytest.mark.long
def test_every_operation_can_be_taken_back(page):
    state = "return JSON.stringify([book.names, book.start, book.end, book.character, book.quotes])"
    before = page.run(state)
    at = "book.order.find((i) => book.names[book.character[i]] === 'Bosun')"
    for step in (
        f"const i = {at}; correctMention(book.start[i], book.end[i], i, 'Mr. Gadd', 'one')",
        f"correctNobody({at})", f"const i = {at}; correctSpan(i, book.start[i] - 1, book.end[i])",
        "correctMention(3, 3, NONE, 'Zacharias', 'one')", "correctSpeaker(book.quotes[0], 'Bosun', [])",
        "renameCharacter(0, 'Zacharias')",
        "commit([{op: 'merge', character: 'Bosun', into: 'Captain Thorne'}], '')",
        "past.push(edits); take(parseLines('{\"op\": \"new\", \"character\": \"Eve\"}')); rebuild()",
    ):  # fmt: skip
        page.run(step)
        assert page.run(state) != before, step
        page.run("undo()")
        assert page.run(state) == before, step
        assert page.saved() == []


def rename(old: str, new: str, doc_key: str) -> dict:
    return {"op": "rename", "doc_key": doc_key, "character": old, "name": new}


def test_corrections_of_another_book_stay_in_the_file_and_change_nothing_here(browser, sample, tmp_path):
    """They were carried out on this book, and left out of what was saved once the page was opened again."""
    other = rename("Bosun", "Smee", "another book")
    page = Page(browser, tmp_path / "page.html", sample, PageOptions(edits=[other]))
    for _ in range(2):
        assert page.run("return book.names").count("Bosun") == 1
        assert page.saved() == [other]
        page.open(fresh=False)


def test_a_file_that_is_opened_is_added_to_what_is_there(page, sample, tmp_path):
    """It took the place of the corrections made so far, and those of other books were dropped unsaid."""
    page.run("renameCharacter(book.names.indexOf('Bosun'), 'Zacharias')")
    (mine,) = page.saved()
    more = [rename("Mr. Gadd", "Quentin", sample.doc_key), rename("Ann", "Eve", "another book")]
    file = tmp_path / "ben.jsonl"
    file.write_text("".join(json.dumps(e) + "\n" for e in [mine, *more]), encoding="utf-8")
    page.run("showTab('Corrections')")
    page.run("return document.querySelector('input[type=file]')").send_keys(str(file))
    told = page.until("return document.body.innerText.match(/.*corrections read.*/)?.[0]")
    assert told == "3 corrections read: 1 new, 1 here already, 1 of other books, which stay in the file."
    assert page.saved() == [more[1], mine, more[0]]


def test_a_page_made_anew_has_its_corrections_and_those_of_the_browser(browser, sample, tmp_path):
    """Those of the browser hid the ones with which `view --edits` made the page again."""
    page = Page(browser, tmp_path / "page.html", sample)
    page.run("renameCharacter(book.names.indexOf('Bosun'), 'Zacharias')")
    (mine,) = page.saved()
    ben = rename("Mr. Gadd", "Quentin", sample.doc_key)
    html = render(sample, PageOptions(edits=[ben]))
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page.open(fresh=False)
    assert page.saved() == [ben, mine]
    assert {"Zacharias", "Quentin"} <= {*page.run("return book.names")}
    page.run("edits = [mine]; rebuild(); store()".replace("mine", json.dumps(mine)))
    page.open(fresh=False)  # what was taken back does not come again
    assert page.saved() == [mine]


def test_the_beginning_of_a_name_is_offered_before_a_new_person(page):
    """ "griff" and Enter twice made a person of it, beside Thomas Griffith."""
    page.run("who('thor', (name) => { window.found = name; })")
    offered = "return [...document.querySelectorAll('#dialog .choices button')].map((b) => b.textContent)"
    assert page.run(offered) == ["Captain Thorne", "New person: thor"]
    page.keys("ENTER")
    assert page.run("return window.found") == "Captain Thorne"
