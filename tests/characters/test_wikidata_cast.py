"""Rows from Wikidata's facts: titles, names, aliases and flags, with the traps of real items."""

from __future__ import annotations

import pytest

from bookcoref_data.characters.wikidata_cast import CastReport, best_label, cast_rows

WD = "http://www.wikidata.org/entity/"


def item(number):
    return (f"{WD}{number}", "")


NOVEL = {
    "wdt:P31": [item("Q7725634")],
    "wdt:P50": [item("Q1")],
    "wdt:P1476": [("The Lamp Road", "en")],
    "rdfs:label": [("The Lamp Road (novel)", "en")],
    "wdt:P674": [item("Q20"), item("Q3")],
}
PEOPLE = {
    "Q1": {"rdfs:label": [("Mira Holt", "en"), ("Мира Холт", "ru")],
           "skos:altLabel": [("M. Holt", "en"), ("X", "fr")]},
    "Q2": {"rdfs:label": [("Sam Reed", "en")]},
    "Q3": {"rdfs:label": [("Ada Brook", "en")],
           "skos:altLabel": [("Ada", "en"), ("Adchen", "de"), ("Ada", "mul")]},
    "Q20": {"rdfs:label": [("Тамара", "ru"), ("Tamara", "fr")]},
    "Q21": {"rdfs:label": [("Mr. and Mrs. Jones", "en")], "skos:altLabel": [("the Joneses", "en")]},
    "Q22": {},
    "Q23": {"rdfs:label": [("Mira Holt", "en")]},
    "Q24": {"rdfs:label": [("Minor Characters", "en")]},
}  # fmt: skip


def rows(work, redirects=(), report=None):
    facts = {"Q100": work, **PEOPLE}
    redirects = dict(redirects)
    current = lambda i: redirects.get(i, i)  # noqa: E731
    report = report if report is not None else CastReport()
    return list(
        cast_rows(["Q100"], lambda i: facts.get(current(i), {}), current, "2026-11-21T10:00:00+00:00", report)
    )


def test_a_row_says_where_it_is_from_and_rows_stand_in_the_order_of_item_numbers():
    first, second = rows(NOVEL)
    assert (first.source, first.work_id, first.title, first.author) == (
        "wikidata",
        "Q100",
        "The Lamp Road",
        "Mira Holt",
    )
    assert (first.character, first.character_id, first.order) == ("Ada Brook", "Q3", 0)
    assert (second.character, second.character_id, second.order) == ("Tamara", "Q20", 1)
    assert first.kinds == ("Q7725634",)
    assert first.titles == ("The Lamp Road (novel)",)
    assert first.author_aliases == ("M. Holt",)
    assert first.character_aliases == ("Ada",)
    assert first.retrieved == "2026-11-21"
    assert first.address == "https://www.wikidata.org/wiki/Q100"
    assert first.flags == ("no-class",)


def test_a_name_without_english_label_is_flagged():
    assert rows(NOVEL)[1].flags == ("no-english-label", "no-class")


@pytest.mark.parametrize(("facts", "name", "english"), [
    ({"rdfs:label": [("A", "de"), ("B", "en")]}, "B", True),
    ({"rdfs:label": [("A", "de"), ("B", "en-GB")]}, "B", True),
    ({"rdfs:label": [("A", "de")], "skos:altLabel": [("B", "en")]}, "B", True),
    ({"rdfs:label": [("A", "de"), ("B", "mul")]}, "B", True),
    ({"rdfs:label": [("A", "pl"), ("B", "de"), ("C", "fr")]}, "C", False),
    ({"rdfs:label": [("A", "grc"), ("B", "zh")]}, "A", False),
    ({"skos:altLabel": [("A", "grc")]}, "A", False),
    ({"rdfs:label": [(" ", "en")]}, "", False),
    ({}, "", False),
])  # fmt: skip
def test_which_label_is_used(facts, name, english):
    assert best_label(facts) == (name, english)


def test_several_authors_are_all_kept_and_flagged():
    found = rows({**NOVEL, "wdt:P50": [item("Q2"), item("Q1")]})
    assert {row.author for row in found} == {"Mira Holt"}
    assert {row.authors for row in found} == {("Mira Holt", "Sam Reed")}
    assert all("several-authors" in row.flags for row in found)
    assert len(found) == 2


def test_without_a_title_the_label_stands_in_and_says_so():
    work = {k: v for k, v in NOVEL.items() if k != "wdt:P1476"}
    assert {(row.title, "no-title" in row.flags) for row in rows(work)} == {("The Lamp Road (novel)", True)}


@pytest.mark.parametrize(("titles", "labels", "first", "others"), [
    ([("La Route", "fr"), ("The Road", "en")], [("La Route", "fr")], "The Road", ("La Route",)),
    ([("La Route", "fr"), ("Droga", "pl")], [("The Road", "en")], "The Road", ("La Route", "Droga")),
    ([("La Route", "fr")], [("Droga", "pl")], "La Route", ("Droga",)),
])  # fmt: skip
def test_titles_in_several_languages_prefer_english_and_keep_all(titles, labels, first, others):
    row = rows({**NOVEL, "wdt:P1476": titles, "rdfs:label": labels})[0]
    assert (row.title, row.titles) == (first, others)


def test_a_film_of_the_same_title_is_told_apart():
    film = {k: v for k, v in NOVEL.items() if k != "wdt:P50"}
    row = rows({**film, "wdt:P31": [item("Q11424")]})[0]
    assert {"film", "no-author"} <= set(row.flags)
    assert row.author == ""


def test_an_author_who_is_unknown_is_flagged():
    assert (
        "unknown-author"
        in rows({**NOVEL, "wdt:P50": [("http://www.wikidata.org/.well-known/genid/a", "")]})[0].flags
    )


def test_characters_merged_into_one_item_come_once():
    found = rows({**NOVEL, "wdt:P674": [item("Q3"), item("Q33")]}, redirects={"Q33": "Q3"})
    assert [row.character_id for row in found] == ["Q3"]


def test_two_items_of_one_name_are_flagged(monkeypatch):
    """Father and son, or one person who is listed twice: annotated, they are one."""
    monkeypatch.setitem(PEOPLE, "Q4", {"rdfs:label": [("ADA BROOK", "en")]})
    report = CastReport()
    found = rows(NOVEL | {"wdt:P674": [item("Q3"), item("Q4"), item("Q20")]}, report=report)
    assert [(row.character_id, "same-name" in row.flags) for row in found] == [
        ("Q3", True),
        ("Q4", True),
        ("Q20", False),
    ]
    assert report.counts["same-name"] == 2


def test_two_people_of_one_item_are_two_rows_without_its_aliases():
    found = rows({**NOVEL, "wdt:P674": [item("Q21")]})
    assert [(row.character, row.character_id, row.character_aliases) for row in found] == [
        ("Mr. Jones", "Q21", ()), ("Mrs. Jones", "Q21", ())]  # fmt: skip


def test_the_author_as_character_is_flagged():
    assert rows({**NOVEL, "wdt:P674": [item("Q23")]})[0].flags == ("no-class", "author")


def test_who_has_no_name_is_reported_and_not_invented():
    report = CastReport()
    assert rows({**NOVEL, "wdt:P674": [item("Q22"), item("Q24")]}, report=report) == []
    assert report.nameless == ["Q22"]
    assert report.counts["rejected-name"] == 1
    assert (report.works, report.works_with_cast, report.rows) == (1, 0, 0)


def test_a_work_without_any_name_is_reported():
    report = CastReport()
    assert rows({"wdt:P674": [item("Q3")]}, report=report) == []
    assert report.nameless == ["Q100"]


def test_the_number_of_an_item_is_no_name():
    """Services give it where an item has no label in the language asked for."""
    report = CastReport()
    named = {"wdt:P1476": [], "rdfs:label": [("Q100", "en")]}
    assert rows({**NOVEL, **named}, report=report) == []
    assert report.nameless == ["Q100"]
    named["rdfs:label"].append(("Die Lampe", "de"))
    assert {row.title for row in rows({**NOVEL, **named})} == {"Die Lampe"}


def test_the_order_of_an_answer_changes_nothing():
    turned = {property_: values[::-1] for property_, values in NOVEL.items()}
    assert rows(turned) == rows(NOVEL)


CLASSES = {
    "Q50": {"rdfs:label": [("fictional town", "en")]},
    "Q51": {"rdfs:label": [("odd thing", "en")], "wdt:P279": [item("Q52")]},
    "Q52": {"wdt:P279": [item("Q11446")]},
    "Q53": {"rdfs:label": [("literary character", "en")]},
    "Q54": {"rdfs:label": [("group of fictional characters", "en")]},
    "Q55": {"rdfs:label": [("something else", "en")]},
}


@pytest.mark.parametrize(("kinds", "label", "stays", "flag"), [
    (["Q50"], "Lampton", False, "dropped, fictional town"),
    (["Q51"], "The Ferry", False, "dropped, ship"),
    (["Q51", "Q53"], "Argo", True, ""),
    (["Q5"], "Ada", True, ""),
    (["Q54"], "The Reeds", True, "group"),
    (["Q55"], "The Bell", True, "unknown-class"),
    ([], "Tam", True, "no-class"),
    (["Q53"], "list of Lamp Road characters", False, "dropped, list"),
    ([], "Q12345", False, ""),
])  # fmt: skip
def test_only_beings_become_characters_and_what_is_dropped_is_counted(kinds, label, stays, flag, monkeypatch):
    known = {**CLASSES, "Q77": {"rdfs:label": [(label, "en")], "wdt:P31": [item(kind) for kind in kinds]}}
    for name, facts in known.items():
        monkeypatch.setitem(PEOPLE, name, facts)
    report = CastReport()
    found = rows({**NOVEL, "wdt:P674": [item("Q77")]}, report=report)
    assert bool(found) is stays
    if found:
        assert set(found[0].flags) == ({flag} if flag else set())
    elif flag:
        assert report.counts[flag] == 1


def test_a_title_in_brackets_is_no_other_name(monkeypatch):
    monkeypatch.setitem(PEOPLE, "Q77", {"rdfs:label": [("Ada Brook (The Lamp Road)", "en")]})
    monkeypatch.setitem(PEOPLE, "Q78", {"rdfs:label": [("Tom (character)", "en")]})
    found = rows({**NOVEL, "wdt:P674": [item("Q77"), item("Q78")]})
    assert [(row.character, row.character_aliases) for row in found] == [("Ada Brook", ()), ("Tom", ())]


def test_the_class_of_a_work_counts_with_what_it_is_a_subclass_of(monkeypatch):
    monkeypatch.setitem(PEOPLE, "Q60", {"wdt:P279": [item("Q11424")]})
    assert "film" in rows({**NOVEL, "wdt:P31": [item("Q60")]})[0].flags
    assert rows({**NOVEL, "wdt:P2034": [("4321", "")]})[0].gutenberg_ids == ("4321",)


def test_who_names_the_work_counts_and_is_marked(monkeypatch):
    found = rows({**NOVEL, "^wdt:P1441": [item("Q2"), item("Q3")]})
    marked = {row.character: "present-in-work" in row.flags for row in found}
    assert marked == {"Sam Reed": True, "Ada Brook": False, "Tamara": False}


def test_a_work_based_on_one_of_its_title_is_an_adaptation_unless_it_is_a_book(monkeypatch):
    monkeypatch.setitem(PEOPLE, "Q70", {"wdt:P1476": [("The Lamp Road", "en")]})
    monkeypatch.setitem(PEOPLE, "Q71", {"wdt:P1476": [("Another Road", "en")]})
    based = {**NOVEL, "wdt:P31": [], "wdt:P144": [item("Q70")]}
    assert "adaptation" in rows(based)[0].flags
    assert "adaptation" not in rows({**based, "wdt:P144": [item("Q71")]})[0].flags
    assert "adaptation" not in rows({**based, "wdt:P31": [item("Q8261")]})[0].flags
