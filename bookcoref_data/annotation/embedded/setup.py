"""From a job, its parse and its linked names to a `Text` that can be read."""

from dataclasses import replace

import numpy as np

from ...books import Book
from ..cast import Cast
from ..state import Marked
from .clauses import is_anybodys
from .gender import character_genders, doubted_hints
from .letters import with_letters
from .linking import named_people
from .markables import find_markables
from .names import gender_by_aliases, learned_table, nouns_for_names
from .parsing import Parse
from .quotes import find_speech, with_marks_alike
from .reader import Text, prepare
from .tags import tag_subjects


def make_text(
    book: Book, cast: Cast, parse: Parse, names: list[Marked], paragraph: np.ndarray | None = None
) -> Text:
    """Quotes, markables, genders and tags of a book with linked names; `paragraph` as in `find_speech`."""
    known = learned_table(cast, book.tokens)[0].people
    people = [replace(person, gender=gender_by_aliases(person)) for person in known]
    calls = {form.upper(): i for i, e in enumerate(cast.entries) for form in (*e.aliases, e.name)}
    speech = find_speech(book, parse.sentence, calls, paragraph)
    book = replace(book, tokens=with_marks_alike(book.tokens, speech.spans))
    speech = with_letters(book, speech, names)
    found = find_markables(book, parse, names, tag_subjects(book, parse, speech))
    markables = [m for m in found if not is_anybodys(book, parse, m)]
    male, female, plural, votes = character_genders(people, markables, speech)
    nouns = nouns_for_names(people, named_people(book, names))
    read = prepare(book, parse, speech, markables, people, (male, female, plural), nouns)
    notes = doubted_hints(people, votes)
    if most := ", ".join(f"{name} {times}" for name, times in speech.others.most_common(5)):
        notes.append(f"{speech.others.total()} speaker lines name nobody of the cast: {most}")
    return replace(read, notes=tuple(notes))
