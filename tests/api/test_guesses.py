"""What a new user of Python types before reading the docs: 44 guesses, written before any was tried.

Each function is one guess. `mypy --strict` reads this file, too: what a guess gives has a type, not `Any`.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import bookcoref_data as bc

TEXT = 'Anna met Tom at the station. She gave him a letter. "Thank you," said Tom.'
FASTCOREF = "We are so happy to see you using our coref package. This package is very fast!"

Guess = Callable[[bc.Books, bc.AnnotatedBook, bc.AnnotatedBook], bool]
World = tuple[Path, tuple[bc.Books, bc.AnnotatedBook, bc.AnnotatedBook]]
GUESSES: list[Guess] = []
"""Each is given the books of the sample, its only book, and the short text annotated."""


def guess(one: Guess) -> Guess:
    GUESSES.append(one)
    return one


@guess
def a_text(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return [str(m) for m in bc.annotate(text=TEXT).mentions][:3] == ["Anna", "Tom", "She"]


@guess
def a_text_with_a_line_end(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return set(bc.annotate(TEXT + "\n").characters) == {"Anna", "Tom"}


@guess
def a_text_of_others(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    found = bc.annotate(text=FASTCOREF)
    return found.text == FASTCOREF and not found.characters and bool(found.notes)


@guess
def a_text_with_a_cast(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return list(bc.annotate(text=TEXT, cast=["Tom"]).characters) == ["Tom"]


@guess
def text_of_a_mention(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    text: str = chat.mentions[0].text
    return text == "Anna"


@guess
def start_and_end(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    m = chat.mentions[1]
    return chat.tokens[m.start : m.end + 1] == ("Tom",)


@guess
def character_of_a_mention(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return [m.character for m in chat.mentions if m.text in ("She", "him")] == ["Anna", "Tom"]


@guess
def characters_in_the_text(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    chars = chat.mentions[2].chars
    return chars is not None and TEXT[slice(*chars)] == "She"


@guess
def kind_of_a_mention(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return chat.mentions[2].kind == "pronoun"


@guess
def score_of_a_mention(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    score = chat.mentions[2].score
    return score is not None and 0 < score <= 1


@guess
def mentions_of_a_character(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return [m.text for m in chat.characters["Anna"].mentions] == ["Anna", "She", "you"]


@guess
def length_of_a_character(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return len(chat.characters["Anna"]) == 3


@guess
def first_of_a_character(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return chat.characters["Anna"][0].start == 0


@guess
def loop_over_a_character(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return all(m.character == "Tom" for m in chat.characters["Tom"])


@guess
def name_of_a_character(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return [c.name for c in chat.characters.values()] == list(chat.characters)


@guess
def speaker_of_a_quote(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return chat.quotes[0].speaker == "Tom"


@guess
def text_of_a_quote(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return "Thank you" in chat.quotes[0].text


@guess
def addressees_of_a_quote(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    who: tuple[str, ...] = chat.quotes[0].addressees
    return "Tom" not in who


@guess
def quotes_of_a_character(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return len(chat.characters["Tom"].quotes) == 1


@guess
def a_mention_as_a_dict(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return bool(dict(chat.mentions[0])["text"] == chat.mentions[0]["text"] == "Anna")


@guess
def a_slice_of_mentions(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return [m.text for m in book.mentions[:3]] == book.mentions["text"][:3]


@guess
def a_slice_is_a_table(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return book.mentions[-5:].to_pandas().shape[0] == 5


@guess
def mentions_in_pandas(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return list(book.mentions.to_pandas().columns)[:3] == ["start", "end", "text"]


@guess
def books_in_pandas(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return bool(books.to_pandas()["mentions"][0] == 795)


@guess
def a_slice_of_books(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    first: bc.Books = books[:1]
    return first.keys == books.keys


@guess
def a_book_by_name(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    found: bc.AnnotatedBook = books["lamp"]
    return found.doc_key == book.doc_key


@guess
def is_a_book_there(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return book in books and books.keys[0] in books and "emma" not in books


@guess
def one_system(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return bc.evaluate(books, books).conll_f1 == 1


@guess
def one_book_against_one(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return bc.evaluate(book, book).conll_f1 == 1


@guess
def several_systems(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return len(bc.evaluate(books, [books, books]).systems) == 2


@guess
def several_systems_of_one_book(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return len(bc.evaluate(book, [book, book]).systems) == 2


@guess
def scores_as_a_number(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    f1: float = bc.evaluate(books, books).conll_f1
    return f1 == 1


@guess
def a_missing_file(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    for verb in (bc.read, bc.load, bc.annotate, lambda path: bc.evaluate(path, path), bc.clean):
        try:
            verb("nowhere.txt")
        except FileNotFoundError:
            continue
        return False
    return True


@guess
def a_missing_cast(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    try:
        bc.annotate(text=TEXT, cast="nowhere.txt")
    except FileNotFoundError:
        return True
    return False


@guess
def a_pickled_book(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return bool(pickle.loads(pickle.dumps(chat)) == chat) and chat != book


@guess
def pickled_books(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return bool(pickle.loads(pickle.dumps(books)) == books)


@guess
def a_pickled_table(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    again = pickle.loads(pickle.dumps(book.mentions))
    return bool(again == book.mentions) and again[0].text == book.mentions[0].text


@guess
def a_copied_mention(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return copy.deepcopy(chat.mentions[0]) == chat.mentions[0]


@guess
def a_set_of_mentions(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return len({*chat.mentions, *chat.mentions}) == len(chat.mentions)


@guess
def displacy(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    from spacy import displacy

    page: str = displacy.render(chat.to_spacy(), style="span", page=False, jupyter=False)
    return "Anna" in page and "Tom" in page


@guess
def spans_of_a_doc(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    doc = chat.to_spacy()
    return {span.label_ for span in doc.spans["sc"]} == {"Anna", "Tom"} and "coref_clusters_1" in doc.spans


@guess
def json_of_a_book(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    import json

    return bool(json.loads(json.dumps(chat.to_dict()))["doc_key"] == chat.doc_key)


@guess
def save_and_read(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    path: Path = chat.save("chat.jsonl")
    return bc.read(path)[0].characters.keys() == chat.characters.keys()


@guess
def show_a_book(books: bc.Books, book: bc.AnnotatedBook, chat: bc.AnnotatedBook) -> bool:
    return "Anna" in chat._repr_html_() and "2 clusters" in repr(chat) and "Mention" in repr(chat.mentions[0])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("guesses")
    bc.rebuild(folder / "bookcoref", sample=True, cache_dir=folder / "cache", jobs=1)
    books = bc.load(folder / "bookcoref")
    return folder, (books, books[0], bc.annotate(text=TEXT))


def test_there_are_44() -> None:
    assert len(GUESSES) == 44


@pytest.mark.parametrize("one", GUESSES, ids=[one.__name__ for one in GUESSES])
def test_it_works(world: World, monkeypatch: pytest.MonkeyPatch, one: Guess) -> None:
    folder, given = world
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(folder / "cache"))
    assert one(*given)


@pytest.mark.long
def test_what_they_give_has_types() -> None:
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", __file__],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
