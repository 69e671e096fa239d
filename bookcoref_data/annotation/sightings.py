"""Names as they occur in a book: words and titles of every capitalised name, and what makes it a person's."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..books import Book
from ..words import QUOTE_MARKS, calendar, honorifics, pronouns, word_set
from .embedded import lexicon as lex
from .embedded.parsing import Parse

Words = tuple[str, ...]

_PLACE_WORDS = word_set("in at to from near into towards toward through of")
_DEMONYMS = lex.words("DEMONYMS")
_NEVER_MEN = _DEMONYMS - lex.FIRST_NAMES
"""A Christian is hardly ever somebody of that name; see `sightings`."""
_NOBODY = (calendar.CALENDAR - calendar.NAMES) | _NEVER_MEN | lex.STYLES | pronouns.PERSONAL
_NOBODY |= lex.words("EXCLAIMED") | lex.words("NOBODY")
_NEVER_SURNAMES = lex.words("NEVER_SURNAMES")
LONE_TITLES = honorifics.HONORIFICS - honorifics.MARRIED - honorifics.UNMARRIED - lex.words("NOT_ALONE")
"""Titles by which a person may be called all through a book: "the General", "the Queen"."""
_ALSO_NAMES = lex.words("ALSO_NAMES")
"""Titles that are first names, too."""
_BEFORE_ANY_NAME = honorifics.ABBREVIATED & honorifics.BEFORE_SURNAMES | honorifics.UNMARRIED
"""Titles behind which a word with a capital is a name."""
_PARTICLES = word_set("de du des da di von van della del")
_SECOND_PARTICLES = word_set("la le der den")
"""Small words inside a surname: "de Worms", "van der Luyden"."""
_BEFORE_PARTICLES = lex.FIRST_NAMES | honorifics.HONORIFICS
_QUOTES = QUOTE_MARKS - {"’", "'"} | {"—", "--"}
_SPEAKERS_SHARE = 0.1
"""Share of uses as subject of a verb of saying at which a name in "s" is one person's: Monks, but not the
Bertrams."""
_SPEAKS = 8
"""Times that a name must speak, beside that share, to be a person's wherever else it stands; half of both are
enough where it never has "the"."""
_ALONE = 5
"""How many times more often a name must stand alone for a common word before it to be none of its words."""
_SPOKEN, _ACTS, _NAMED, _OF, _IN = 1.0, 0.4, 0.6, 0.3, 1.0
"""What it says for a person that a name speaks, is the subject of a verb, is a first name; and against one
that it stands behind "of" or "to", or behind "in" or "from". In 16 novels "of" and "to" are four times as
frequent before towns as before people who speak, "in" and "from" twenty times."""


@dataclass(slots=True)
class Sighting:
    """A name without its titles: how often it occurs with each title ("" without), what speaks for a person
    and for something else, how often it speaks, is "the Dashwoods", stands behind "the", its token numbers by
    title, and how often the next pronoun is "he" (m) or "she" (f): twice where the name is a subject."""

    words: Words
    titles: Counter[str] = field(default_factory=Counter)
    person: float = 0.0
    other: float = 0.0
    speaks: int = 0
    plural: int = 0
    behind_the: int = 0
    places: dict[str, list[int]] = field(default_factory=dict)
    pronouns: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return self.titles.total()

    def take(self, other: "Sighting") -> None:
        """Count the uses of another name as this one's."""
        self.titles += other.titles
        for number in ("person", "other", "speaks", "plural", "behind_the"):
            setattr(self, number, getattr(self, number) + getattr(other, number))
        for title, places in other.places.items():
            self.places.setdefault(title, []).extend(places)
        for title, votes in other.pronouns.items():
            self.pronouns.setdefault(title, Counter()).update(votes)

    def times(self, titles: frozenset[str]) -> int:
        """How often it stands with one of these titles."""
        return sum(n for title, n in self.titles.items() if title in titles)


def sightings(book: Book, parse: Parse) -> dict[Words, Sighting]:
    """Every name of a book that may be a person's, by its words."""
    found: dict[Words, Sighting] = {}
    runs = [*name_runs(book, parse)]
    names = _names_like_titles(book, parse, runs)
    for start, end in runs:
        titles, words = _split(book, start, end, names)
        # A month as in "in May" is nobody.
        dated = start == end and calendar.is_date(book.tokens, start)
        if not words:
            _add_lone_title(found, book, parse, start, end, titles)
        elif _may_be_a_name(words, titles) and not dated:
            name = titles[-1] if titles else "", words
            _add(found, book, parse, start, end, name)
            if gender := _gender_behind(book, parse, end):
                votes = found[words].pronouns.setdefault(name[0], Counter())
                votes[gender] += 2 if parse.dep[end] == "nsubj" else 1
    _leave_out_common_words(found, book, parse)
    for words, seen in [*found.items()]:
        if len(words) == 1 and words[0].lower() in _DEMONYMS and seen.speaks < _SPEAKS:
            del found[words]
        named = not seen.behind_the and seen.speaks >= max(_SPEAKS, _SPEAKERS_SHARE * seen.count) / 2
        if named or seen.speaks >= max(_SPEAKS, _SPEAKERS_SHARE * seen.count):
            # "Wilfred of Ivanhoe" makes no place of Ivanhoe where he speaks.
            seen.other = 0.0
    return found


def _names_like_titles(book: Book, parse: Parse, runs: Sequence[tuple[int, int]]) -> set[str]:
    """Words in lower case that are titles elsewhere and a name here: Don, who nods and flies, and is hardly
    ever "the Don" or "Don Carlos"."""
    alone, acts, other = Counter[str](), Counter[str](), Counter[str]()
    for start, end in runs:
        word = book.tokens[start].lower()
        if word in _ALSO_NAMES:
            by_itself = start == end and book.tokens[max(start - 1, 0)].lower() not in _DETERMINERS
            (alone if by_itself else other)[word] += 1
            acts[word] += by_itself and parse.dep[end] == "nsubj"
    return {word for word, times in acts.items() if times >= _SPEAKS and alone[word] >= _ALONE * other[word]}


def _leave_out_common_words(found: dict[Words, Sighting], book: Book, parse: Parse) -> None:
    """ "Whereupon Ursus" and "Friend Porthos" are Ursus and Porthos, mostly named without that word, which is
    written with a small letter elsewhere and rarely with a capital inside a sentence."""
    inside = (parse.sentence == np.roll(parse.sentence, 1)).tolist()
    behind = zip(("", *book.tokens), book.tokens, inside, strict=False)
    words_inside = Counter(token for mark, token, is_inside in behind if is_inside and mark not in _QUOTES)
    firsts = {words[0] for words in found if len(words) > 1}
    for words, seen in [*found.items()]:
        alone, low = found.get(words[1:]), words[0].lower()
        common = low not in lex.FIRST_NAMES and words_inside[low] >= max(words_inside[words[0]], 1)
        if common and len(words) == 1 and words[0] not in firsts and not seen.titles.keys() - {""}:
            # "Dat ole fool": a word of a dialect that begins many sentences.
            del found[words]
        elif alone and common and alone.count >= _ALONE * seen.count:
            alone.take(found.pop(words))


_PRONOUN_GENDER = dict.fromkeys(pronouns.MALE, "m") | dict.fromkeys(pronouns.FEMALE, "f")
_PRONOUN_REACH = 20
"""Tokens behind a name in which a pronoun tells of its gender."""


def _gender_behind(book: Book, parse: Parse, end: int) -> str:
    """ "m" or "f" by the first pronoun behind a name, if no other name and no quotation mark comes between;
    else ""."""
    for i in range(end + 1, min(end + 1 + _PRONOUN_REACH, len(book.tokens))):
        token = book.tokens[i]
        if token in _QUOTES or (parse.tag[i] in ("NNP", "NNPS") and token[:1].isupper()):
            return ""
        if gender := _PRONOUN_GENDER.get(token.lower()):
            return gender
    return ""


def name_runs(book: Book, parse: Parse) -> Iterator[tuple[int, int]]:
    """First and last token of runs of capitalised proper names."""
    tokens, tags = book.tokens, parse.tag
    i, size = 0, len(tokens)
    while i < size:
        if tags[i] not in ("NNP", "NNPS") or not tokens[i][:1].isupper() or tokens[i].isupper():
            i += 1
            continue
        end = i
        while end + 1 < size and _goes_on(book, parse, end):
            end += 1
        yield i, end
        i = end + 1


def _goes_on(book: Book, parse: Parse, end: int) -> bool:
    token, last = book.tokens[end + 1], book.tokens[end - (book.tokens[end] == ".")].lower().rstrip(".")
    if token == "." and last in honorifics.ABBREVIATED:
        return True
    if "-" in (token, book.tokens[end]):
        # "Elizabeth-Jane" is cut at its hyphen.
        at = end + (token == "-")
        return book.tokens[at - 1].istitle() and all(w.istitle() for w in book.tokens[at + 1 : at + 2])
    if last in _BEFORE_ANY_NAME and token.istitle() and token.isalpha():
        # Whatever the parser takes "Mr. Fielding" for, and if a sentence were to end behind "Mr.".
        return True
    if (token in _PARTICLES and last in _BEFORE_PARTICLES) or (
        token in _SECOND_PARTICLES and last in _PARTICLES
    ):
        # A word with a capital comes, maybe behind one more particle.
        words = book.tokens[end + 2 : end + 4]
        return any(w.istitle() for w in words[: 1 + (words[:1] != () and words[0] in _SECOND_PARTICLES)])
    return (
        parse.tag[end + 1] == "NNP"
        and token[:1].isupper()
        and token.replace("’", "").replace("'", "")[:2].isalpha()  # "O'Brien"
        and parse.sentence[end + 1] == parse.sentence[end]
    )


def _split(book: Book, start: int, end: int, names: Container[str]) -> tuple[list[str], Words]:
    """The titles (lower case, no point) and the other words of a run; "van der Luyden" is one. `names` are
    titles that are names in this book."""
    written = " ".join(book.tokens[k].strip("_") for k in range(start, end + 1) if book.tokens[k] != ".")
    words = written.replace(" - ", "-").split()
    titles = []
    while words and words[0].lower().rstrip(".") in lex.TITLES and words[0].lower() not in names:
        titles.append(words.pop(0).lower().rstrip("."))
    if len(words) > 1 and words[-1].lower().rstrip(".") in ("esquire", "esq"):
        words.pop()
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].split()[-1].lower() in _PARTICLES | _SECOND_PARTICLES:
            joined[-1] = f"{joined[-1].lower()} {word}"
        else:
            joined.append(word)
    return titles, tuple(joined)


def _may_be_a_name(words: Words, titles: list[str]) -> bool:
    low = [w.lower() for w in words]
    if low[-1] in calendar.CALENDAR and (set(titles) & honorifics.HONORIFICS or low[0] in lex.FIRST_NAMES):
        # "Mrs. March", "Meg March": a month by itself is nobody.
        low = [*low[:-1], "surname"]
    if len(words) > 3 or any(w in _NOBODY or len(w) < 2 for w in low) or "st" in titles or "saint" in titles:
        return False
    if low[-1] in lex.PLACES and (len(low) > 1 or not titles):
        # "Anna Hill" is a person, "Grace Church" and "Rose Hill" are not known to be.
        return len(low) > 1 and low[0] in lex.FIRST_NAMES and low[-1] not in _NEVER_SURNAMES
    # "Rector", "Architect": somebody, but not by a name.
    return not (len(low) == 1 and not titles and low[0] in lex.PERSON_NOUNS - lex.ANIMALS)


def _add(
    found: dict[Words, Sighting], book: Book, parse: Parse, start: int, end: int, name: tuple[str, Words]
) -> None:
    title, words = name
    seen = found.setdefault(words, Sighting(words))
    seen.titles[title] += 1
    seen.places.setdefault(title, []).append(start)
    if title and title not in lex.ADJECTIVES_OF_NAMES:
        seen.person += 1
    first = words[0].lower() in lex.FIRST_NAMES
    before = book.tokens[start - 1].lower() if start else ""
    seen.behind_the += before == "the"
    seen.plural += (before == "the" or parse.tag[end] == "NNPS") and words[-1][-1:] == "s"
    verb = int(parse.head[end])
    if parse.dep[end] == "nsubj" and parse.tag[verb][:2] == "VB":
        speaks = book.tokens[verb].lower() in lex.SPEECH_VERBS
        seen.speaks += speaks
        seen.person += _SPOKEN if speaks or first else _ACTS
    elif before in _PLACE_WORDS and not title:
        seen.other += _OF if first or before in ("of", "to") else _IN
    elif before == "the":
        seen.other += 0.5
    elif first:
        seen.person += _NAMED


def _add_lone_title(
    found: dict[Words, Sighting], book: Book, parse: Parse, start: int, end: int, titles: list[str]
) -> None:
    """ "The General" as a name, with nothing behind it; the places of "General" alone are kept beside it."""
    before = book.tokens[max(start - 1, 0)].lower()
    if start != end or titles[0] not in LONE_TITLES or before in _NO_CALLS:
        return
    words, the = ("the", book.tokens[start]), before == "the"
    seen = found.setdefault(words, Sighting(words))
    seen.titles[""] += the
    seen.places.setdefault("" if the else titles[0], []).append(start)
    verb = int(parse.head[end])
    if the and parse.dep[end] == "nsubj" and book.tokens[verb].lower() in lex.SPEECH_VERBS:
        seen.speaks += 1
        seen.person += _SPOKEN


_NO_CALLS = word_set("a an any every each no another this that his her its my your our their some two")
"""What shows that "Captain" behind it is not called so."""
_DETERMINERS = _NO_CALLS | {"the"}
_NO_EPITHETS = lex.words("NO_EPITHETS")
"""Nouns that mean anybody, or somebody's kin."""
_EPITHETS = (lex.PERSON_NOUNS | lex.CALLINGS | _DEMONYMS | LONE_TITLES) - _NO_EPITHETS - lex.ANIMALS


def epithets(book: Book, parse: Parse) -> dict[str, list[int]]:
    """ "The Jew", "the matron" as one would say a name: the places of "the" by the noun in lower case."""
    found: dict[str, list[int]] = {}
    tokens = book.tokens
    for i, token in enumerate(tokens[:-1]):
        noun = tokens[i + 1].lower()
        if token.lower() != "the" or noun not in _EPITHETS or parse.tag[i + 1] not in ("NN", "NNP"):
            continue
        following = tokens[i + 2] if i + 2 < len(tokens) else ""
        if following != "of" and not following[:1].isupper():
            found.setdefault(noun, []).append(i)
    return found


def is_person(seen: Sighting) -> bool:
    """Whether a name behaves as that of one person."""
    if seen.words[0] == "the":
        return seen.speaks >= 3 and seen.count >= 8
    several = 2 * seen.plural > seen.count and seen.speaks < _SPEAKERS_SHARE * seen.count
    return seen.person > seen.other and seen.person >= 1 and not several
