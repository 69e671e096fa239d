"""What people really hand in: empty files, other languages, one endless line, broken bytes, odd casts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.language import language_of, not_english
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.errors import DataError, SourceError, UsageError
from bookcoref_data.workflows.annotate import Source, annotate_book, read_sources

PLAN = default_plan("embedded")


def read(tmp_path, data: bytes, name: str = "novel.txt") -> Source:
    path = tmp_path / name
    path.write_bytes(data)
    (source,) = read_sources(path)
    return source


@pytest.mark.parametrize("data", [b"", b" \n\n \t\n", b"\xef\xbb\xbf"])
def test_an_empty_book_is_refused_by_name(tmp_path, data):
    with pytest.raises(DataError, match=r"novel.txt holds no text"):
        read(tmp_path, data)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"nowhere.txt"):
        read_sources(tmp_path / "nowhere.txt")


def test_empty_tokens_are_refused_with_their_place(tmp_path):
    record = {"doc_key": "a_0", "gutenberg_key": "0", "sentences": [["Ada", "", "met", ""]], "clusters": []}
    with pytest.raises(DataError, match="'a_0' has empty tokens") as caught:
        read(tmp_path, json.dumps(record).encode(), "a.jsonl")
    assert caught.value.found == "2, the first is token 1"


def test_an_empty_record_is_refused(tmp_path):
    with pytest.raises(DataError):
        read(
            tmp_path, b'{"doc_key": "a_0", "gutenberg_key": "0", "sentences": [], "clusters": []}', "a.jsonl"
        )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("French", "Il était une fois dans la ville de Paris une femme qui ne voulait pas de mari . Elle "
         "avait un chat et des amis pour la soirée . "),
        ("German", "Es war einmal eine Frau , die hatte nicht einen Hund und sie ging mit dem Kind in den Wald . "),  # noqa: E501
        ("Russian", "Все счастливые семьи похожи друг на друга , каждая несчастливая семья несчастлива . "),
    ],
)  # fmt: skip
def test_another_language_is_refused_by_its_name_unless_english_is_said(tmp_path, language, text):
    source = read(tmp_path, (text * 12).encode())
    with pytest.raises(UsageError, match="not an English text") as caught:
        annotate_book(source, make_cast(["Anna"]), PLAN)
    assert language in str(caught.value.found)
    assert "% of the words" in str(caught.value.found)
    assert "--language en" in str(caught.value.hint)
    done = annotate_book(source, make_cast(["Anna"]), replace(PLAN, language="en"))
    assert any(language in note for note in done.state.notes)


def test_english_is_not_refused(tmp_path):
    text = "It was the best of times, and she was in the house with her mother, as he had said. " * 12
    assert not_english(read(tmp_path, text.encode()).book.tokens) == ""
    hungarian = ["Egy", "napon", "amikor", "még", "kicsi", "volt", "elment", "erdőbe"] * 50
    assert not_english(hungarian).startswith("no language we know")


def test_a_few_broken_bytes_do_not_spoil_the_accents(tmp_path):
    text = ("Ántonia saw the café. " * 50).encode() + b"Jos\xe9 left.\xff "
    source = read(tmp_path, text)
    assert "Ántonia" in source.book.tokens
    assert any("2 broken UTF-8 sequences" in n for n in source.notes)


def test_latin_1_is_read_as_such(tmp_path):
    source = read(tmp_path, "Anna saw the café. René left.".encode("latin-1"))
    assert {"café", "René"} <= set(source.book.tokens)


def test_a_gutenberg_file_loses_its_licence(tmp_path):
    text = (
        "The Project Gutenberg eBook of Anna\n\n*** START OF THE PROJECT GUTENBERG EBOOK ANNA ***\n\n"
        + "Anna slept in the old house by the river.\n\n" * 30
        + "*** END OF THE PROJECT GUTENBERG EBOOK ANNA ***\n\nThe licence of Project Gutenberg.\n"
    )
    tokens = read(tmp_path, text.encode()).book.tokens
    assert "Gutenberg" not in tokens
    assert tokens.count("Anna") == 30


@pytest.mark.long
def test_one_endless_line_is_read(tmp_path):
    line = "anna went on and on with mr. ford, and " * 4000 + "then Anna slept."
    done = annotate_book(read(tmp_path, line.encode()), make_cast(["Anna"]), PLAN)
    assert len(done.book.tokens) > 30_000
    assert done.book.characters[0].name == "Anna"


def test_names_that_never_occur_are_reported(annotate):
    done = annotate("Anna slept.", ["Anna", "Ben Stone"])
    assert "the name 'Ben Stone' does not occur in the text" in done.state.notes
    assert [c.name for c in done.book.characters] == ["Anna"]


def test_a_duplicate_name_is_reported(annotate):
    done = annotate("Anna slept.", "Anna\nANNA\n")
    assert any("more than once" in n for n in done.state.notes)
    assert done.state.names == ("Anna",)


def test_three_hundred_names_and_one(annotate, said):
    cast = [
        f"{a}{b} Stone" for a in ("Al", "Be", "Ca", "Do", "El", "Fi") for b in map(chr, range(97, 97 + 26))
    ]
    cast = [*cast, *(n.replace("Stone", "Brook") for n in cast)][:300]
    done = annotate(f"{cast[7]} met {cast[250]}. “Good day,” said {cast[7]}. He bowed.", cast)
    assert set(said(done)) >= {cast[7], cast[250]}
    assert set(said(annotate("Anna slept. She dreamt.", ["Anna"]))) == {"Anna"}


@pytest.mark.parametrize(
    "text",
    [
        "Shall I compare thee to a summer’s day?\nThou art more lovely, Anna,\nAnd more temperate.\n\n" * 10,
        "\n\n".join(["Anna"] * 40),
        "“" * 200 + " Anna slept.",
        "Anna " + "” “ ’ ‘ — -- " * 200,
        ("x" * 50_000) + " Anna slept.",
        "Anna\u200b slept.\u00a0She\u2028dreamt.\x0c\n\nAnna\tlived.",
    ],
    ids=["poem", "name alone", "only opening marks", "marks", "one long word", "odd spaces"],
)
def test_odd_texts_are_annotated(annotate, text):
    done = annotate(text, ["Anna"])
    assert [c.name for c in done.book.characters] == ["Anna"]


def test_a_book_without_the_cast_gives_an_empty_annotation(annotate):
    done = annotate("It rained. The river rose.", ["Anna"])
    assert done.book.characters == ()
    assert done.state.mentions == ()


def test_fifty_words_tell_a_language_and_fewer_do_not():
    assert language_of(["the", ",", "and"] * 25) == "English"
    assert language_of(["the", ",", "and"] * 24 + ["the", "."]) == ""
