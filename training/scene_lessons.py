"""Lessons for the language model that points at people: windows of books, with the answers hidden.

A window is cut as the package cuts it (`Windows`): every name of the cast is a slot. What is asked:

* who speaks a turn whose tag names the speaker. Mostly the tag is hidden: left out where the paragraph is a
  quote and little else, or the name in it turned into "he" or "she";
* whom a pronoun means that stands in place of a name, whose bearer was named a little before;
* whom a turn is spoken to that calls somebody by name; mostly that name is left out;
* what the reader of the package was sure of: speakers of turns without a tag, and pronouns;
* the pronouns of LitBank, which people answered; there "nobody of these" is an answer, too.

Nothing here needs torch; `scenes` trains with it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bookcoref_data.annotation.embedded.calibration import calibrated
from bookcoref_data.annotation.embedded.markables import OTHER, POSSESSIVE, SUBJECT
from bookcoref_data.annotation.embedded.minilm import LONGEST, WordPieces
from bookcoref_data.annotation.embedded.narrator import find_narration
from bookcoref_data.annotation.embedded.pointing import (
    FIRST,
    IN_QUOTE,
    OF_PRONOUN,
    OF_TURN,
    PARAGRAPH,
    SLOTS,
    SPOKEN_TO,
)
from bookcoref_data.annotation.embedded.scenes import Scene, Windows
from bookcoref_data.annotation.embedded.text import Text
from bookcoref_data.annotation.narration import Narration
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.workflows.annotate import annotate_book, read_sources
from training.parses import link_text

from .litbank import parts, read_excerpt
from .novels import cast_of, novel_files
from .parses import Remembering, parse_with_cache

OF_PDNC = frozenset(["161"])
"""Novels that training may read elsewhere, but on which the speakers of this model are measured."""
HELD_BACK = ("98", "543")
"""Novels that are not learned from: on them it is counted how many questions are answered right."""
LESSONS = {
    "tag shown": 0.15, "tag left out": 1.0, "name in the tag hidden": 1.0, "name hidden": 0.7,
    "pronoun of LitBank": 1.5, "speaker as read": 0.4, "pronoun as read": 0.25,
    "spoken to": 0.7, "spoken to, named": 0.1,
}  # fmt: skip
"""What is asked -> how much an answer counts."""
NOBODY = SLOTS
"""The answer "nobody of these"; a person of the window is a smaller number."""
MOST_NAMED, MOST_ASKED, MOST_MARKED = 96, 48, 56
_SURE_SPEAKER, _SURER_SPEAKER, _SURE_PRONOUN = 0.9, 0.95, 0.95
"""Least probability that our reader is right about who "he" is in "said he", and about who speaks without a
tag; and least score of a pronoun."""
_TAG_WORDS = 7
"""Most words of narration in a paragraph that may be left out as a tag."""
_LEFT_OUT = 0.65
"""Share of the hidden tags that are left out where either way is open."""
_CLOSE = 120
"""Most tokens since a character was named for a pronoun in place of the next name."""
_OF_LITBANK, _BLIND, _AT_TURN = 0.03, 0.15, 0.6
"""Share of the lessons that are LitBank's, of those that hide who is a man and who a woman, and of those from
novels that are cut around a turn whose speaker is known."""
_BEFORE_TURN = 12
"""Paragraphs before such a turn with one of which the lesson begins."""
_HIDE, _RENAME = (0.3, 0.6, 0.9, 1.0), 0.15
"""Shares of the tags in a window that are hidden, of which one is drawn for each, and of the names behind
which a pronoun could stand that one stands for."""
_IN_LITBANK, _IN_CHECK, _AS_READ = (0.5, 0.05), (0.7, 0.1), (0.0, 0.03)
"""The same two shares for LitBank, where people have answered, for the check, and for most lessons of which a
teacher says what it thinks: little is hidden in a book that is read."""
_PLAIN = 0.6
"""Share of such lessons in which no more is hidden."""
_PRONOUNS = (("he", "him", "his"), ("she", "her", "her"))


class Vocabulary(NamedTuple):
    """What windows need of a network: how it cuts tokens, and the numbers of its words."""

    words: WordPieces
    first_slot: int
    longest: int = LONGEST
    tags: Sequence[str] = ("",)
    relations: Sequence[str] = ("",)

    def ids(self, token: str) -> tuple[int, ...]:
        return tuple(FIRST + piece for piece in self.words.pieces(token))


class Known(NamedTuple):
    """A book and what is known of it: `spoken` is who speaks each quote, and how surely, as the package read
    it (empty: not read); `pronouns` whom the pronoun at a token means (-1: nobody of the cast), and `judged`
    whether people said so."""

    text: Text
    narration: Sequence[Narration]
    spoken: list[tuple[int, float]]
    pronouns: Mapping[int, int]
    judged: bool = False


class _Told(NamedTuple):
    """Who speaks a turn, the token of the name that says so (-1), the tokens that can be left out, and
    whether only our reader says so."""

    who: int
    name: int = -1
    tag: range = range(0)
    read: bool = False


class Question(NamedTuple):
    """A place of a window, its kind, the answer (a character, -1 for nobody) and which lesson it is."""

    place: int
    kind: int
    who: int
    lesson: str


@dataclass
class Lesson:
    """A window with slots drawn for its people, and its questions with answers: persons, or `NOBODY`.
    `marks` are all places that ask in the package, with their kinds: a teacher can answer them."""

    words: list[int]
    grammar: np.ndarray
    people: list[int]
    named: list[tuple[int, int]]
    marks: list[tuple[int, int]]
    asked: list[Question] = field(default_factory=list)


class LessonWindows(Windows):
    """Cuts lessons from a book."""

    def __init__(self, known: Known, network: Vocabulary) -> None:
        super().__init__(known.text, known.narration, network)
        self._known, self._first_slot = known, network.first_slot
        self.tokens = frozenset(known.text.book.tokens)
        self._roles = {m.start: m.role for m in known.text.markables if m.kind == "name"}
        self._told = dict(self._told_turns())
        self._turns_at = {True: list(self._told), False: list(self._turns)}
        self._called = dict(self._called_by_name())
        (self._comma,), (self._stop,) = self._ids(","), self._ids(".")

    # --- what is known of turns -----------------------------------------------------------------------------

    def _told_turns(self) -> Iterator[tuple[int, _Told]]:
        """The first token of a paragraph, and who speaks in it where that is known."""
        spans, at = self._text.speech.spans, 0
        for a, b in self.paragraphs:
            first = at
            while at < len(spans) and spans[at][0] < b:
                at += 1
            if first < at and (told := self._said(range(first, at), a, b)):
                yield a, told

    def _said(self, turn: range, a: int, b: int) -> _Told | None:
        """Who speaks the quotes of the paragraph from token `a` to before `b`."""
        text = self._text
        subjects = [text.tags[q].subject for q in turn if text.tags[q].subject >= 0]
        tagged = {k: self._character(k) for k in subjects}
        named = {who for who in tagged.values() if who >= 0}
        unclear = len(named) != 1 or -1 in tagged.values()
        if not unclear and not any(text.tags[q].stranger for q in turn if text.tags[q].subject < 0):
            start = text.markables[subjects[-1]].start
            return _Told(named.pop(), start if start in self._names else -1, self._tag(a, b))
        if named or not self._known.spoken:
            return None
        who, sure = ({self._known.spoken[q][n] for q in turn} for n in (0, 1))
        if len(who) > 1 or not 0 <= min(who) < len(text.people) or min(sure) < _SURE_SPEAKER:
            return None
        if subjects and (m := text.markables[subjects[0]]).kind == "pronoun" and m.person == 3:
            return _Told(who.pop(), tag=self._tag(a, b))
        return _Told(who.pop(), read=True) if min(sure) >= _SURER_SPEAKER else None

    def _character(self, k: int) -> int:
        """Whom the subject of a tag names: a name, or the "I" of the narrator; -1 for anything else."""
        m = self._text.markables[k]
        if m.kind == "name":
            return m.character
        return self._narrator if m.start in self._selves else -1

    def _tag(self, a: int, b: int) -> range:
        """The tokens beside the quotes of a paragraph where they are few and in one place; else none."""
        quote, tokens = self._text.speech.quote, self._text.book.tokens
        outside = [i for i in range(a, b) if quote[i] < 0 and tokens[i] != "\n"]
        words = sum(tokens[i][:1].isalnum() for i in outside)
        if not outside or words > _TAG_WORDS or outside[-1] - outside[0] >= len(outside):
            return range(0)
        return range(outside[0], outside[-1] + 1)

    def _called_by_name(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """The first token of a name by which somebody is called: the quote that begins the turn, and who."""
        text = self._text
        starts = {int(text.speech.paragraph[a]): q for a, q in self._turns.items()}
        for q, (a, _) in enumerate(text.speech.spans):
            for k in text.tags[q].vocatives:
                m = text.markables[k]
                if m.kind == "name" and m.start in self._names:
                    yield m.start, (starts[int(text.speech.paragraph[a])], m.character)

    # --- a lesson -------------------------------------------------------------------------------------------

    def before_turn(self, rng: np.random.Generator, told: bool, otherwise: int) -> int:
        """The paragraph of a turn, or one shortly before it: of a turn whose speaker is known if it is to be
        `told`; `otherwise` where there is none."""
        if not (turns := self._turns_at[told]):
            return otherwise
        turn = bisect_right(self._starts, turns[int(rng.integers(len(turns)))]) - 1
        return max(0, turn - int(rng.integers(_BEFORE_TURN)))

    def lesson(
        self, at: int, rng: np.random.Generator, hide: float, rename: float, blind: bool = False
    ) -> Lesson:
        """The window that begins with paragraph `at`. `hide` is the share of the tags that are hidden and
        `rename` that of the names turned into pronouns; `blind` hides who is a man and who a woman."""
        self._rng, self._hide, self._rename = rng, hide, rename
        self._asked: list[Question] = []
        self._last: dict[int, int] = {}
        w = self.window(at)
        slots = rng.permuted(np.tile(np.arange(SLOTS), (3, 1)), axis=1).tolist()
        pools = [2 if blind else self.gender(character) for character in w.people]
        people = [self._first_slot + SLOTS * pool + slots[pool][n] for n, pool in enumerate(pools)]
        words = [people[-1 - word] if word < 0 else word for word in w.words[: self._longest]]
        made = Lesson(
            words, self.grammar(w.tokens[: len(words)]), w.people,
            [n for n in w.named if n[0] < len(words)][:MOST_NAMED],
            [(place, kind) for place, kind, _ in w.asks if place < len(words)],
        )  # fmt: skip
        for question in self._asked:
            nobody = question.who < 0 and self._known.judged
            person = NOBODY if nobody else w.people.index(question.who) if question.who in w.people else -1
            if person >= 0 and question.place < len(words):
                made.asked.append(question._replace(who=person))
        made.asked.sort()
        return made

    def _add_paragraph(self, w: Scene, a: int, b: int) -> None:
        told = self._told.get(a)
        before = len(w.asks)
        self._gone, self._veiled = range(0), -1
        lesson = self._hide_tag(told) if told else ""
        i = a
        while i < b and len(w.words) < self._longest - 2:
            i = self._add_token(w, i)
        mark = next((place for place, kind, _ in w.asks[before:] if kind == OF_TURN), -1)
        if told and mark >= 0:
            self._asked.append(Question(mark, OF_TURN, told.who, lesson))

    def _hide_tag(self, told: _Told) -> str:
        """Hide a tag, perhaps; the name of the lesson."""
        if told.read:
            return "speaker as read"
        if self._rng.random() < self._hide:
            veiled = told.name >= 0 and self.gender(told.who) < 2
            if told.tag and (not veiled or self._rng.random() < _LEFT_OUT):
                self._gone = told.tag
                return "tag left out"
            if veiled:
                self._veiled = told.name
                return "name in the tag hidden"
        return "tag shown"

    def _add_token(self, w: Scene, i: int) -> int:
        """The words of a token, or what stands for a name or a tag that begins there; the token behind."""
        if i in self._gone:
            if w.words[-1] != PARAGRAPH and w.words[-2] == self._comma:
                w.words[-2] = self._stop  # “Yes,” -> “Yes.”
            return self._gone.stop
        if i in self._called and (behind := self._hide_call(w, i)):
            return behind
        kind = IN_QUOTE if self._text.speech.quote[i] >= 0 else OF_PRONOUN
        end, character = self._names.get(i, (i, -1))
        if character >= 0:
            owns = [*self._text.book.tokens[end + 1 : end + 2]] == ["'s"]
            case = self._case(i, character, POSSESSIVE if owns else self._roles[i])
            if case >= 0 and i not in self._turns:
                self._asked.append(Question(len(w.words), kind, character, "name hidden"))
                w.add(self._ids(_PRONOUNS[self.gender(character)][case]), end)
                return end + 1 + owns
            self._last[character] = i
        elif i in self._known.pronouns:
            lesson = "pronoun of LitBank" if self._known.judged else "pronoun as read"
            place = len(w.words) + (i in self._turns)
            self._asked.append(Question(place, kind, self._known.pronouns[i], lesson))
        super()._add_paragraph(w, i, i + 1)
        return end + 1 if character in w.people else i + 1

    def _hide_call(self, w: Scene, i: int) -> int:
        """Ask whom a turn is spoken to that calls somebody by name; the token behind that name with one comma
        where it is left out, else 0."""
        turn, who = self._called[i]
        mark = next((place for place, kind, q in w.asks if kind == OF_TURN and q == turn), -1)
        told = self._told.get(self._starts[bisect_right(self._starts, i) - 1])
        if mark < 0 or (told and told.who == who):
            return 0
        left_out = self._rng.random() < self._hide
        lesson = "spoken to" if left_out else "spoken to, named"
        self._asked.append(Question(mark, SPOKEN_TO, who, lesson))
        if not left_out:
            return 0
        behind = self._names[i][0] + 1
        if w.words[-1] == self._comma:
            w.words.pop()
            w.tokens.pop()
        elif [*self._text.book.tokens[behind : behind + 1]] == [","]:
            behind += 1
        return behind

    def _case(self, i: int, character: int, role: int) -> int:
        """The case of the pronoun that stands for the name at a token; -1 where the name stays."""
        if i == self._veiled:
            return SUBJECT
        close = i - self._last.get(character, i - _CLOSE) < _CLOSE
        may = close and role != OTHER and self.gender(character) < 2
        return role if may and self._rng.random() < self._rename else -1


# --- batches ----------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Lessons as arrays, filled up with -1: `words` (lessons, words), `named` (lessons, MOST_NAMED, 2) with
    place and person, `asked` (lessons, MOST_ASKED, 4) with place, kind, answer and number of the lesson,
    `marks` (lessons, MOST_MARKED, 2) with place and kind."""

    words: np.ndarray
    named: np.ndarray
    asked: np.ndarray
    marks: np.ndarray


def pack(lessons: Sequence[Lesson]) -> Batch:
    """Lessons as arrays."""
    made = Batch(
        np.full((len(lessons), max(len(lesson.words) for lesson in lessons)), -1, np.int64),
        np.full((len(lessons), MOST_NAMED, 2), -1, np.int64),
        np.full((len(lessons), MOST_ASKED, 4), -1, np.int64),
        np.full((len(lessons), MOST_MARKED, 2), -1, np.int64),
    )
    number = {name: n for n, name in enumerate(LESSONS)}
    for n, lesson in enumerate(lessons):
        asked = [(*question[:3], number[question.lesson]) for question in lesson.asked[:MOST_ASKED]]
        marks = lesson.marks[:: len(lesson.marks) // (MOST_MARKED + 1) + 1]
        for part, rows in zip(made, (lesson.words, lesson.named, asked, marks), strict=True):
            if rows:
                part[n, : len(rows)] = rows
    return made


@dataclass
class Library:
    """The books that are learned from, and those held back for a check."""

    novels: list[LessonWindows]
    excerpts: list[LessonWindows]
    held_back: list[LessonWindows]

    def draw(self, rng: np.random.Generator, check: bool = False, as_read: bool = False) -> Lesson:
        """A lesson with at least one question and two people; a long novel gives more of them. Most lessons
        of `as_read` hide hardly more than a book does."""
        while True:
            books, at_turn = self.novels, _AT_TURN
            hide, rename = _HIDE[int(rng.integers(len(_HIDE)))], _RENAME
            if as_read and rng.random() < _PLAIN:
                hide, rename = _AS_READ
            if check:
                books, (hide, rename), at_turn = self.held_back, _IN_CHECK, 0.0
            elif self.excerpts and rng.random() < _OF_LITBANK:
                books, (hide, rename), at_turn = self.excerpts, _IN_LITBANK, 0.0
            sizes = np.array([book.paragraphs[-1][1] for book in books], float)
            book = books[int(rng.choice(len(books), p=sizes / sizes.sum()))]
            at = int(rng.integers(len(book.paragraphs)))
            if rng.random() < at_turn:
                at = book.before_turn(rng, told=not as_read, otherwise=at)
            blind = not check and bool(rng.random() < _BLIND)
            made = book.lesson(at, rng, hide, rename, blind)
            if made.asked and len(made.people) > 1:
                return made


# --- books ------------------------------------------------------------------------------------------------


def know_novel(path: Path, cache: Path | None = None) -> Known:
    """A novel as the package reads it, with a cast proposed from it."""
    source = read_sources(path)[0]
    plan = default_plan("embedded")
    backend = Remembering(plan)
    backend.hold(source.book, parse_with_cache(source.book, cache))
    annotate_book(source, None, plan, backend=backend)
    text, reader = backend.last.text, backend.last.reader
    spoken = [(s.speaker, calibrated(s.scale, float(s.score))) for s in reader.spoken]
    sure = {
        text.markables[d.index].start: d.character
        for d in reader.decisions
        if d.rule == "third" and d.score >= _SURE_PRONOUN
    }
    asked = set(_pronouns(text))
    return Known(text, reader.narration, spoken, {i: who for i, who in sure.items() if i in asked})


def know_excerpt(root: Path, name: str, cache: Path | None = None) -> Known | None:
    """A document of LitBank with its pronouns; None where it has no character."""
    excerpt = read_excerpt(root, name)
    if excerpt is None:
        return None
    book = excerpt.job.book
    parse = parse_with_cache(book, cache)
    text = link_text(book, cast_of(book, parse, excerpt.job.cast), parse)
    meant = {m.start: who for who, ms in enumerate(excerpt.key) for m in ms if m.start == m.end}
    return Known(text, find_narration(text)[0], [], {i: meant.get(i, -1) for i in _pronouns(text)}, True)


def _pronouns(text: Text) -> list[int]:
    """The tokens that are "he", "she" and their like."""
    ms = text.markables
    return [m.start for m in ms if m.kind == "pronoun" and m.person == 3 and m.gender in ("m", "f")]


def prepare(
    root: Path, mirror: Path, network: Vocabulary, cache: Path | None = None, jobs: int = 1
) -> Library:
    """Read LitBank's training part and the novels of a mirror."""
    files = {key: path for key, path in novel_files(mirror, root).items() if key not in OF_PDNC}
    with ProcessPoolExecutor(jobs) as workers:
        known = workers.map(partial(know_novel, cache=cache), files.values())
        novels = {key: LessonWindows(k, network) for key, k in zip(files, known, strict=True)}
        excerpts = workers.map(partial(know_excerpt, root, cache=cache), parts(root)["train"])
        judged = [LessonWindows(k, network) for k in excerpts if k]
    taught = [book for key, book in novels.items() if key not in HELD_BACK]
    return Library(taught, judged, [novels[key] for key in HELD_BACK if key in novels])
