"""The pages on which people answer, in a real browser: keys, what is saved, and no barrier for anybody."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import axe_core_python
import pytest

import bookcoref_data as bc
from bookcoref_data.edits import parse_edits
from bookcoref_data.reading_page.serve import EditServer

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
    from selenium.webdriver.common.keys import Keys

    for key in keys:
        browser.switch_to.active_element.send_keys(getattr(Keys, key, key))


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
    asked = bc.review(story / "annotated", edits=story / "none.jsonl", most=5, out=story / "questions.html")
    opened(browser, (story / "questions.html").as_uri())
    first, second, third = asked.questions[:3]
    press(browser, "2", "n", "z", "c", "o")
    press(browser, *"mrs harlow", "ENTER")
    made = [parse_edits(line)[0] for line in browser.execute_script("return lines()").splitlines()]
    assert (made[0].at.start, made[0].speaker or made[0].character) == (first.start, first.people[1])
    assert ("seen", second.start) in {(e.op, e.at.start) for e in made}
    assert {e.speaker or e.character for e in made if e.at.start == third.start} == {"Mrs. Harlow"}
    assert browser.get_log("browser") == []


def test_a_served_page_saves_each_answer_and_reads_again(browser, story):
    edits = story / "served.jsonl"
    asked = bc.review(story / "annotated", edits=edits, most=2, about=["speaker"])
    first = asked.questions[0]
    pages = iter([asked.page, lambda server: (asked.next(), asked.page(server))[1]])
    server = EditServer(lambda known: next(pages)(known), edits)
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


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_pages_have_no_barriers(screen, story):
    bc.review(story / "annotated", edits=story / "none.jsonl", most=3, out=story / "q.html", replace=True)
    opened(screen, (story / "q.html").as_uri())
    assert barriers(screen) == []
    press(screen, "o")
    assert barriers(screen) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_book_and_report_have_no_barriers(screen, story):
    bc.view(story / "annotated", story / "page.html", replace=True)
    bc.report(story / "annotated", story / "report.html", plots=False, replace=True)
    opened(screen, (story / "page.html").as_uri())
    press(screen, "u")
    assert barriers(screen) == []
    screen.get((story / "report.html").as_uri())
    assert barriers(screen) == []
