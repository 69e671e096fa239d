"""Cast files: names, aliases, hints, and what is wrong with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.annotation import propose
from bookcoref_data.annotation.cast import Entry, format_cast, is_sayable, make_cast, parse_cast
from bookcoref_data.annotation.embedded.parsing import parse_book
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.errors import UsageError


def test_a_cast_file_holds_names_aliases_hints_and_comments():
    cast = parse_cast(
        "# people\nMr. Darcy; Fitzwilliam Darcy ;Darcy\n\nPip [m]  # the boy\nThe Crew [group]\n"
    )
    assert cast.entries == (
        Entry("Mr. Darcy", ("Fitzwilliam Darcy", "Darcy")),
        Entry("Pip", (), "m"),
        Entry("The Crew", (), "group"),
    )
    assert cast.notes == ()


def test_a_name_given_twice_is_one_character_and_reported():
    cast = parse_cast("Anna; Annie\nBen\nanna; Ann\n")
    assert cast.names == ("Anna", "Ben")
    assert cast.entries[0].aliases == ("Annie", "Ann")
    assert len(cast.notes) == 1
    assert "'anna'" in cast.notes[0]


@pytest.mark.parametrize("text", ["", "# nobody\n", " \n;\n"])
def test_a_cast_of_nobody_is_refused(text):
    with pytest.raises(UsageError, match="names nobody"):
        parse_cast(text)


def test_an_unknown_hint_names_its_line():
    with pytest.raises(UsageError, match=r"people.txt:2: unknown hint \[male\]"):
        parse_cast("Anna\nBen [male]\n", "people.txt")


def test_names_are_found_by_alias_and_case():
    cast = parse_cast("Ben\nAnna; Nan\n")
    assert cast.index("nan") == 1
    with pytest.raises(UsageError, match="no character is called 'Carl'"):
        cast.index("Carl")


names = st.text("abc DE.'é", min_size=1, max_size=12).map(lambda s: " ".join(s.split())).filter(is_sayable)


@given(st.lists(st.tuples(names, st.lists(names, max_size=3), st.sampled_from(["", "m", "f"])), min_size=1))
def test_what_is_written_is_read_back(rows):
    cast = make_cast(Entry(n, tuple(a), g) for n, a, g in rows)
    assert parse_cast(format_cast(cast, ["7 times by name"] * len(cast.entries))).entries == cast.entries


def test_a_proposed_cast_keeps_the_lady_apart_from_the_man(book_of):
    text = (
        "Lady Russell spoke to Henry Russell. Lady Russell smiled, and Henry Russell said no. "
        "Captain Harville bowed to Fanny Harville, and Captain Harville spoke. Fanny Harville laughed. "
        "Harville said yes.\n\n"
    ) * 6
    cast = propose_cast(book_of(text)).cast
    names = {entry.name: entry.aliases for entry in cast.entries}
    assert "Lady Russell" in names
    assert not any("Harville" in aliases and name.startswith("Fanny") for name, aliases in names.items())


def test_a_proposal_does_not_parse_again(book_of, monkeypatch):
    book = book_of("Anna Hill spoke to Mr. Ford. Mr. Ford answered Anna Hill.\n\n" * 6)
    parse = parse_book(book)
    monkeypatch.setattr(propose, "parse_book", None)
    assert {e.name for e in propose_cast(book, parse=parse).cast.entries} == {"Anna Hill", "Mr. Ford"}


@pytest.mark.parametrize("field", ['"mentions": []', '"cluster": []', '"gender": "f"'])
def test_characters_without_mentions_are_the_cast_of_a_tokenised_record(tmp_path, field):
    import bookcoref_data as bc

    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"doc_key": "a_0", "gutenberg_key": "0", "sentences": [["Anna", "came", "."], ["She", "sat", "."]], '
        f'"characters": [{{"name": "Anna", {field}}}]}}\n',
        encoding="utf-8",
    )
    done = bc.annotate(path)
    assert done.summary()["characters"] == {"Anna": 2}


@pytest.mark.parametrize(
    ("cast", "twice"),
    [
        ("Ford\nTom Ford; Mr. Ford", "Tom Ford; Mr. Ford; Ford"),
        ("Tom Ford; Mr. Ford\nTom; Tommy", "Tom Ford; Mr. Ford; Tom; Tommy"),
        ("Ford\nAnna Ford [f]\nTom Ford [m]", "Tom Ford; Ford [m]"),
        ("Ford\nMrs. Ford", ""),
        ("Ford\nTom Ford\nJohn Ford", ""),
        ("Mr. Ford\nTom Ford", ""),
        ("Mr. Ford\nTom Ford; Mr. Ford", "Tom Ford; Mr. Ford"),
        ("The Ford\nTom Ford", ""),
        ("Anna [f]\nAnna Hill [m]", ""),
    ],
)
def test_two_lines_that_may_be_one_person_are_pointed_out_with_the_line_that_joins_them(
    annotate, cast, twice
):
    notes = [n for n in annotate("Tom Ford came in.", cast).state.notes if "twice" in n]
    assert len(notes) == bool(twice)
    assert not twice or notes[0].endswith(f"one line joins them: {twice}")


def test_a_hint_that_the_pronouns_of_the_book_contradict_is_said_to_be_so(annotate):
    text = "Robin came in. He sat down, and he laughed. Anna left. She ran.\n\n" * 12
    said = (
        "Robin: the hint [f] is not what the book says: most pronouns behind the name are of the other gender"
    )
    assert said in annotate(text, "Robin [f]\nAnna").state.notes
    assert not [n for n in annotate(text, "Robin [m]\nAnna [f]").state.notes if "hint" in n]
    assert not [n for n in annotate(text[:70], "Robin [f]\nAnna").state.notes if "hint" in n]


def test_a_harvested_table_is_no_cast_of_people_with_names_of_json():
    row = '{"source": "shmoop", "work_id": "emma", "title": "Emma", "character": "Emma Woodhouse"}\n'
    with pytest.raises(UsageError, match=r"casts\.jsonl:1: names nobody") as caught:
        parse_cast(row, "casts.jsonl")
    assert "create --casts" in str(caught.value.hint)
