"""A book prepared for reading: everything that does not depend on decisions, made from a job's parse and its
linked names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...books import Book
from ..cast import Cast
from ..state import Marked
from . import lexicon as lex
from .clauses import Clause, clause_of, is_anybodys
from .gender import character_genders, doubted_hints
from .letters import with_letters
from .linking import named_people
from .markables import Markable, find_markables, is_vocative
from .names import Person, gender_by_aliases, learned_table, nouns_for_names
from .parsing import Parse
from .quotes import Speech, find_speech, with_marks_alike
from .tags import Tag, find_tags, tag_subjects


@dataclass(slots=True)
class Text:
    """A book prepared for reading; `genders` are the probabilities (male, female, plural) of the `people`.

    `beats` are the subjects beside quotes without a tag, `called` the names and nouns in quotes that call
    somebody (markables), `nouns` says who of the cast is called by a mere noun ("The Lad"), `notes` what
    of the cast the text contradicts.
    """

    book: Book
    parse: Parse
    speech: Speech
    markables: list[Markable]
    tags: list[Tag]
    people: list[Person]
    genders: tuple[np.ndarray, np.ndarray, np.ndarray]
    clauses: list[Clause]
    beats: frozenset[int]
    called: frozenset[int]
    nouns: Mapping[str, int]
    notes: tuple[str, ...]

    def is_tellers(self, m: Markable) -> bool:
        """Whether a markable is an "I", "my" or "we" of the narration."""
        return m.kind == "pronoun" and m.person == 1 and bool(self.speech.quote[m.at] < 0)


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
    for m in markables:
        if speech.quote[m.at] >= 0 and m.noun in lex.PLAIN_VOCATIVES and is_vocative(book, m):
            # "Sir" means whom "you" means.
            m.person, m.gender = 2, ""
    tags = find_tags(book, parse, speech, markables)
    clauses = [clause_of(parse, m) for m in markables]
    beats = frozenset(k for t in tags if t.subject < 0 for k in (t.after, t.before) if k >= 0)
    called = frozenset(k for k, m in enumerate(markables) if speech.quote[m.at] >= 0 and is_vocative(book, m))
    notes = doubted_hints(people, votes)
    if most := ", ".join(f"{name} {times}" for name, times in speech.others.most_common(5)):
        notes.append(f"{speech.others.total()} speaker lines name nobody of the cast: {most}")
    genders = male, female, plural
    return Text(
        book, parse, speech, markables, tags, people, genders, clauses, beats, called, nouns, tuple(notes)
    )
