"""Does a section read like the story or like what editors, printers and booksellers write around it?

A heading alone is weak evidence: "NOTE" opens the epilogue of *Dracula*, "INTRODUCTION" the frame of *My
Ántonia*. So a section is also read: how much of it is the wording of editors or of catalogues, how many of
its paragraphs are numbered, and whether people act and talk in it as they do in the middle of the book.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..markers import FORMS


class Patterns:
    """The wording and forms of apparatus: one table of manifests/apparatus.toml, each pattern an attribute.

    `{NAME}` stands for the fragment NAME.
    """

    def __init__(self, table: str) -> None:
        parts = {name: "".join(value) for name, value in FORMS[table].items()}
        for name, text in parts.items():
            filled = re.sub(r"\{([A-Z]{2,}(?:_[A-Z]+)*)\}", lambda found: parts[found.group(1)], text)
            parts[name] = filled
            setattr(self, name, re.compile(filled))

    def __getattr__(self, name: str) -> re.Pattern[str]:
        raise AttributeError(f"manifests/apparatus.toml has no pattern {name}")


_FORM = Patterns("evidence")


# Measured on the 52 books of BookCoref and on 22 others of which every paragraph is labelled. Prefaces
# and notes by editors have 6 to 130 editorial words in 1,000 (a long one that tells the story 12), running
# story below 5, with peaks of 6 in short pieces; adverts have 17 to 62 words of the trade, story below 1 (a
# piece of 300 words at most 22); adverts and introductions have a tenth to two thirds of the book's pronouns.
_EDITORIAL_RATE = 6.0
_EDITORIAL_ABOUT_THE_STORY = 10.0
_EDITORIAL_ABOVE_ALL = 30.0  # no tale has as many, even one of a found manuscript
_LEAST_EDITORIAL = 2  # words
_TRADE_RATE, _LEAST_TRADE = 12.0, 3
_NUMBERED_SHARE = 0.3  # of the paragraphs of a section of notes; nine tenths are usual
_FEW_PEOPLE, _AS_MANY_PEOPLE = 0.65, 0.75  # of the rate of the book
_LEAST_PEOPLE = 30.0  # in the book: less shows another language
_LEAST_WORDS = 60  # of a section of which the people can be counted
_NAMES_SAMPLE = 400_000
_SAMPLE = 100_000  # characters of the middle in which people and verbs of saying are counted


@dataclass(frozen=True, slots=True)
class Story:
    """What the middle of a book shows: its most frequent names, and rates in 1,000 words.

    `rate` is that of these names, `people` of pronouns of persons, `told` of verbs of saying beside speech.
    """

    names: frozenset[str]
    rate: float
    people: float = 0.0
    told: float = 0.0

    @classmethod
    def of(cls, text: str, start: int, end: int) -> "Story":
        """The story between two places, read in its middle three fifths, or less of a long book."""
        margin = max((end - start) // 5, (end - start - _NAMES_SAMPLE) // 2)
        begin, stop = start + margin, end - margin
        counts = Counter(found.group() for found in _FORM.NAME.finditer(text, begin, stop))
        least = max(3, (stop - begin) // 60_000)
        names = frozenset(name for name, count in counts.most_common(25) if count >= least)
        rate = _rate(sum(counts[name] for name in names), text.count(" ", begin, stop) + 1)
        middle = max(begin, (begin + stop - _SAMPLE) // 2)
        sample = text[middle : min(stop, middle + _SAMPLE)]
        words = _count(_FORM.WORD, sample)
        people, told = (_rate(_count(form, sample), words) for form in (_FORM.PEOPLE, _FORM.TOLD))
        return cls(names, rate, people, told)

    def evidence(self, section: str, paragraphs: Sequence[str], witness: str = "") -> "Evidence":
        """What `section` shows beside this story."""
        words = max(1, _count(_FORM.WORD, section))
        names = sum(found.group() in self.names for found in _FORM.NAME.finditer(section))
        numbered = sum(bool(_FORM.NUMBERED.match(p)) for p in paragraphs) / max(1, len(paragraphs))
        rules = (_FORM.EDITORIAL, _FORM.TRADE, _FORM.PEOPLE, _FORM.TOLD, _FORM.SUM)
        editorial, trade, people, told, sums = (_rate(_count(rule, section), words) for rule in rules)
        trade += min(trade, sums)  # sums without words of the trade are accounts, a will, a bill
        return Evidence(words, _rate(names, words), editorial, trade, people, told, numbered, self, witness)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a section shows beside the `story`, per 1,000 words.

    `names` of the story, `editorial` words, words of the `trade`, pronouns of `people`, verbs by which speech
    is `told`; `numbered` is the share of paragraphs that begin with a number, a letter in brackets or a star;
    `words` the length; `witness` says what another edition does with the section.
    """

    words: int
    names: float
    editorial: float
    trade: float
    people: float
    told: float
    numbered: float
    story: Story
    witness: str = ""

    @property
    def is_editorial(self) -> bool:
        """Whether the wording is that of editors: more so when it also speaks of the story's people."""
        least = _EDITORIAL_ABOUT_THE_STORY if self.names >= self.story.rate else _EDITORIAL_RATE
        return self.editorial >= least and self.editorial * self.words >= 1000 * _LEAST_EDITORIAL

    @property
    def is_trade(self) -> bool:
        """Whether the wording is that of catalogues and reviews."""
        return self.trade >= _TRADE_RATE and self.trade * self.words >= 1000 * _LEAST_TRADE

    @property
    def is_worded(self) -> bool:
        return self.is_trade or self.is_editorial

    @property
    def is_numbered(self) -> bool:
        return self.numbered >= _NUMBERED_SHARE

    @property
    def lacks_people(self) -> bool:
        """Whether fewer persons act in it than in the book: a description does so as well."""
        known = self.words >= _LEAST_WORDS and self.story.people >= _LEAST_PEOPLE
        return known and self.people < _FEW_PEOPLE * self.story.people

    @property
    def is_tale(self) -> bool:
        """Whether people act as in the book, and are those of the book or talk."""
        talk = self.told * self.words >= 2000 and self.told >= 0.3 * self.story.told
        acts = self.people >= _AS_MANY_PEOPLE * self.story.people
        told = not self.is_numbered and self.editorial < _EDITORIAL_ABOVE_ALL
        return acts and told and (talk or self.names >= 0.5 * self.story.rate > 0)

    @property
    def signs(self) -> list[str]:
        """What speaks for apparatus, apart from heading and place."""
        found = {
            f"{self.editorial:.0f} words of editors in 1,000": self.is_editorial,
            f"{self.trade:.0f} words of catalogues in 1,000": self.is_trade,
            f"{self.numbered:.0%} of the paragraphs numbered": self.is_numbered,
            f"{self.people:.0f} words for persons, {self.story.people:.0f} in the book": self.lacks_people,
        }
        return [sign for sign, seen in found.items() if seen] + [self.witness] * bool(self.witness)

    def __str__(self) -> str:
        return (
            f"in 1,000 words {self.editorial:.0f} of editors, {self.trade:.0f} of catalogues, "
            f"{self.names:.0f} names of the story, {self.people:.0f} for persons; "
            f"{self.numbered:.0%} of the paragraphs numbered"
        )


def _count(rule: re.Pattern[str], text: str) -> int:
    """How often a rule matches, without a list of all the words of a book."""
    return sum(1 for _ in rule.finditer(text))


def _rate(count: int, words: int) -> float:
    return 1000 * count / max(1, words)
