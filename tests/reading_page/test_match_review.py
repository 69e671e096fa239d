"""The review page of matches, in a browser: what a person decides there is what `--overrides` reads."""

from __future__ import annotations

import pytest

from bookcoref_data.characters.match_rules import overrides_from
from bookcoref_data.reading_page.form import match_page
from bookcoref_data.resources import load_toml

RECORDS = [
    {"id": 7, "title": "The Inn at Sea", "author": "Holt, Mira", "downloads": 12, "refused": ""},
    {"id": 8, "title": "The Inn </script>", "author": "Reed", "downloads": 9, "refused": "language fr"},
]
WORKS = [
    {
        "source": "wikidata", "work_id": "Q1", "title": "The <Inn>", "author": "Mira Holt",
        "link": "https://x.org/Q1", "characters": 6, "names": ["Ada"], "gutenberg_id": 7,
        "left_out": ["Mira Holt (author)"],
        "review": "found by affix", "reason": "affix: alike", "book": "the only source", "records": RECORDS,
    },
    {
        "source": "shmoop", "work_id": "ferry", "title": "A Ferry", "author": "", "link": "",
        "characters": 5, "names": ["Sam"], "left_out": [], "gutenberg_id": None,
        "review": "near miss", "reason": "none",
        "book": "", "records": [],
    },
]  # fmt: skip


@pytest.mark.long
def test_decisions_made_on_the_page_are_overrides(browser, tmp_path):
    page = tmp_path / "review.html"
    page.write_text(match_page(WORKS), encoding="utf-8")
    browser.get(page.as_uri())
    first, second = browser.find_elements("tag name", "article")
    assert "The <Inn>" in first.text
    assert "not taken: language fr" in first.text
    assert "left out: Mira Holt (author)" in first.text
    first.find_elements("css selector", "input[type=radio]")[1].click()
    first.find_element("css selector", ".why").send_keys('the "other" one')
    second.find_element("css selector", "input[type=number]").send_keys("99\t")
    decided = tmp_path / "decisions.toml"
    decided.write_text(browser.find_element("id", "toml").text, encoding="utf-8")
    one, other = overrides_from(load_toml(decided))
    assert (one.source, one.work_id, one.gutenberg_id, one.reason) == ("wikidata", "Q1", 8, 'the "other" one')
    assert (other.work_id, other.gutenberg_id) == ("ferry", 99)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.long
def test_what_is_right_already_can_be_confirmed_and_taken_back(browser, tmp_path):
    page = tmp_path / "review.html"
    page.write_text(match_page(WORKS), encoding="utf-8")
    browser.get(page.as_uri())

    def decisions():
        decided = tmp_path / "decisions.toml"
        decided.write_text(browser.find_element("id", "toml").text, encoding="utf-8")
        found = overrides_from(load_toml(decided))
        return [(one.work_id, one.gutenberg_id, one.reason) for one in found]

    first, second = browser.find_elements("tag name", "article")
    keep, none = (work.find_element("css selector", ".confirm") for work in (first, second))
    assert (keep.text, none.text) == ("Right as it is", "Right, no book")
    keep.click()
    assert (keep.get_attribute("aria-pressed"), none.get_attribute("aria-pressed")) == ("true", "false")
    none.click()
    first.find_element("css selector", ".why").send_keys("read both")
    assert decisions() == [("Q1", 7, "read both"), ("ferry", None, "right as it is")]

    # Another record takes the confirmation back; confirming again takes the other record back.
    first.find_elements("css selector", "input[type=radio]")[1].click()
    assert keep.get_attribute("aria-pressed") == "false"
    assert decisions()[0][:2] == ("Q1", 8)
    keep.click()
    assert first.find_elements("css selector", "input[type=radio]")[0].is_selected()
    assert decisions()[0][:2] == ("Q1", 7)
    keep.click()
    none.click()
    assert browser.find_element("id", "toml").text == "Nothing decided yet."
    assert "mine" not in first.get_attribute("class").split()
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_page_allows_its_own_style_and_script_alone():
    page = match_page(WORKS)
    assert "default-src 'none'; style-src 'sha256-" in page
    assert page.count("</script>") == 2  # no text of a record ends the data
