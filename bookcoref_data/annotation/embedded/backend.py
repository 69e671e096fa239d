"""The embedded backend: the four steps of the contract over one parse of the book."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...books import Book, Window
from ...books.annotation import Annotation
from ...progress import Progress
from ..cast import Cast
from ..given import NOBODY
from ..narration import Narration
from ..plan import LEAST, Plan
from ..state import Dropped, Marked, Quote, State
from ..steps import Job, Step
from ..windowing import GROUP_WINDOWS, WINDOW_WORDS, annotation_windows, group_windows
from .aliases import Learned, learn_aliases, name_the_missing
from .calibration import calibrated
from .linking import filter_names, link_names, listed_twice, never_found
from .minilm import load_minilm
from .names import book_words, learned_table
from .narrator import find_narration
from .network import Ranker, Wavering, load_rankers
from .outsiders import find_outsiders, link_outsiders
from .parsing import Parse, parse_book
from .pointing import own_network
from .reader import Decision, OneReading, Teacher, subjects_of
from .scenes import answers_of, read_scenes
from .text import Text, make_text

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class HowToRead:
    """The least score by kind of decision, and whether every quote has a speaker who is known by name (a
    complete cast) or may be nobody's. `encoder` is the folder or name of the base of the language model that
    reads along, "" for the model of the package, "none" for none."""

    least: tuple[tuple[str, float], ...] = ()
    somebody: bool = False
    encoder: str = ""


RULE_NAMES = {"third": "ranker: he, she, they", "second": "ranker: you", "nominal": "ranker: noun phrase"}


class EmbeddedBackend:
    """Keeps the parse of the book and its last reading at hand: four steps parse once, and two read once.

    `rankers` take the place of those of the package.
    """

    name = "embedded"

    def __init__(self, plan: Plan, rankers: Mapping[str, Ranker] | None = None) -> None:
        self.plan = plan
        self.rankers = rankers
        encoders = {str(plan.of(step).get("encoder", "")) for step in ("windows", "groups")}
        for encoder in encoders - {"", "none"}:
            load_minilm(encoder)  # Fails before the first book, not in the middle of it.
        self._held: tuple[str, Parse] | None = None
        self._read: tuple[object, Reading] | None = None
        self._known: tuple[object, Learned] | None = None

    def wavering(self, seed: int) -> EmbeddedBackend:
        """A backend that shares parse and learned names, and whose rankers draw their choices."""
        rankers, draw = self.rankers or load_rankers(), np.random.default_rng(seed)
        drawn = {
            name: Wavering(r.mean, r.scale, r.w1, r.b1, r.w2, r.forest, draw=draw)
            for name, r in rankers.items()
        }
        other = EmbeddedBackend(self.plan, drawn)
        other._held, other._known = self._held, self._known
        return other

    def step(self, name: str) -> Step:
        kinds: dict[str, Callable[[EmbeddedBackend, Mapping[str, Any], Plan], Step]] = {
            "link": LinkStep, "filter": FilterStep, "windows": WindowStep, "groups": GroupStep,
        }  # fmt: skip
        return kinds[name](self, self.plan.of(name), self.plan)

    def hold(self, book: Book, parse: Parse) -> None:
        """Use `parse` for `book` in place of a parse of our own."""
        self._held = (book.tokens_sha256(), parse)

    def parse(self, book: Book) -> Parse:
        """The parse of a book, made once."""
        key = book.tokens_sha256()
        if self._held is None or self._held[0] != key:
            self._held = (key, parse_book(book))
        return self._held[1]

    def known(self, job: Job) -> Learned:
        """The cast with the names that the book gives it, learned once."""
        key = (job.book.tokens_sha256(), job.cast)
        if self._known is None or self._known[0] != key:
            parse = self.parse(job.book)
            learned = learn_aliases(job.book, job.cast, parse)
            self._known = (key, name_the_missing(job.book, learned, parse))
        return self._known[1]

    def read(self, job: Job, names: list[Marked], fixed: Mapping[Span, int], how: HowToRead) -> Reading:
        """The reading of the job's book with these names and settings; `fixed` are spans known beforehand.

        A free reading with the same names and settings is taken again if it agrees with `fixed`: reading on
        from one's own decisions leads to the same ones.
        """
        key = (job.book.tokens_sha256(), job.cast, job.narration, tuple(names), how, job.given.key())
        said = job.given.spans  # part of the key, and taken as they are
        found = {span: who for span, who in fixed.items() if span not in said}
        if self._read is not None and self._read[0] == key and self._read[1].agrees(found):
            return self._read[1]
        rankers = load_rankers() if self.rankers is None else self.rankers
        reading = read_text(self.parse(job.book), job, self.known(job), names, fixed, how, rankers)
        if not found:
            self._read = (key, reading)
        return reading

    def nobodys(self, a: Annotation) -> list[Marked]:
        """Pronouns and noun phrases for one person that the last reading, that of `a`, gives to nobody of the
        cast, and that no person has judged: `others` may be meant, `score` is the chance that one is. And
        names of people outside the cast, with their number where it is known who they are."""
        if self._read is None:
            return []
        reading, taken = self._read[1], {m.mention for m in a.mentions}
        ms = reading.text.markables
        found = [Marked(m.start, m.end, m.character, kind="name") for m in ms if m.kind == "name"]
        for i, others in sorted(reading.reader.maybe.items()):
            if (m := ms[i]).person == 3 and m.gender != "p":
                listed = tuple(o for o in others if o[0] < len(a.names))
                chance = sum(p for _, p in listed)
                found.append(Marked(m.start, m.end, NOBODY, "", "", chance, m.kind, listed))
        return [m for m in found if m.mention not in taken]

    def close(self) -> None:
        self._held = self._read = self._known = None
        answers_of.cache_clear()
        book_words.cache_clear()
        learned_table.cache_clear()


@dataclass(frozen=True, slots=True)
class Reading:
    """A book that was read: its text, the reader at the end, the decisions, and why this narrator."""

    text: Text
    reader: OneReading
    decisions: list[Decision]
    why: str

    def agrees(self, fixed: Mapping[Span, int]) -> bool:
        """Whether it found all that `fixed` (span -> character) demands."""
        if not fixed:
            return True
        ms = self.text.markables
        found = {(ms[d.index].start, ms[d.index].end): d.character for d in self.decisions}
        return fixed.items() <= found.items()


def read_text(
    parse: Parse, job: Job, known: Learned, names: list[Marked], given: Mapping[Span, int], how: HowToRead,
    rankers: Mapping[str, Ranker], teach: Callable[[Text], Teacher] | None = None,
) -> Reading:  # fmt: skip
    """Read a book from the start. People outside the cast are numbered after it.

    `known` is the cast of the job with the names that were learned.

    `teach` makes the teacher that sees every decision, for training.
    """
    outsiders = find_outsiders(job.book, known.cast, parse, known.groups)
    people = Cast((*known.cast.entries, *outsiders))
    linked = link_outsiders(job.book, known.cast, outsiders, parse, names)
    # What a person has given to somebody of the cast is no outsider's.
    whose = {m: given.get(m.mention, NOBODY) for m in linked}
    everybody = [*names, *(m._replace(character=who) if who >= 0 else m for m, who in whose.items())]
    text = make_text(job.book, people, parse, everybody)
    narration, why = (job.narration, "given") if job.narration else find_narration(text)
    fixed = {
        i: given[m.start, m.end]
        for i, m in enumerate(text.markables)
        if m.kind != "name" and (m.start, m.end) in given
    }
    heard = ((q, job.given.quote_at(*span)) for q, span in enumerate(text.speech.spans))
    told = {q: answer for q, answer in heard if answer is not None} if job.given.quotes else {}
    if text.speech.spans and not text.speech.real_paragraphs:
        guessed = "the text has no paragraphs: guessed, which makes speakers less sure"
        text = replace(text, notes=(*text.notes, guessed))
    read = partial(
        OneReading, text, rankers, narration=narration, fixed=fixed, told=told, thresholds=dict(how.least),
        always_somebody=how.somebody,
    )  # fmt: skip
    if teach:
        reader = read(teacher=teach(text))
    else:
        scenes = None
        if how.encoder != "none":
            pointer = load_minilm(how.encoder) if how.encoder else own_network()
            said, ms = job.given.spans, text.markables
            judged = {i: who for i, who in fixed.items() if (ms[i].start, ms[i].end) in said}
            scenes = read_scenes(text, narration, pointer, subjects_of(told, text) | judged)
        earlier = read(scenes=scenes)
        earlier.read()
        # The second reading knows from the start what the first was sure of.
        reader = read(earlier=earlier, scenes=scenes)
    return Reading(text, reader, reader.read(), why)


class _EmbeddedStep(ABC):
    name = ""

    def __init__(self, backend: EmbeddedBackend, settings: Mapping[str, Any], plan: Plan) -> None:
        self.backend, self.settings, self.plan = backend, settings, plan

    def units(self, job: Job) -> int:
        return len(job.book.sentence_ends)

    @abstractmethod
    def run(self, job: Job, state: State, progress: Progress) -> State: ...


class LinkStep(_EmbeddedStep):
    """Names of the cast, alias-aware."""

    name = "link"

    def run(self, job: Job, state: State, progress: Progress) -> State:
        parse = self.backend.parse(job.book)
        known = self.backend.known(job)
        mentions, learned = link_names(job.book, known.cast, parse, self.name)
        progress.advance(job.book.doc_key, self.units(job))
        missing = never_found(job.book, job.cast, parse, mentions)
        notes = [*job.cast.notes, *listed_twice(job.cast), *known.notes, *learned, *missing]
        return state.after(self.name, mentions, notes=notes, memory={"parser": parse.model})


class FilterStep(_EmbeddedStep):
    """Rules in the place of the paper's language model: titles, other people's names, places."""

    name = "filter"

    def run(self, job: Job, state: State, progress: Progress) -> State:
        parse = self.backend.parse(job.book)
        cast = self.backend.known(job).cast
        kept, dropped = filter_names(job.book, cast, parse, state.mentions, self.name)
        progress.advance(job.book.doc_key, self.units(job))
        return state.after(self.name, kept, dropped=dropped)


class _ExpandStep(_EmbeddedStep):
    """Read the book and keep what it says of characters that are present in a `place`; what is left then is
    dropped if the step is `final`."""

    place = ""
    final = False

    def _areas(self, job: Job) -> list[Window]:
        words = int(self.plan.of("windows").get("words", WINDOW_WORDS))
        return annotation_windows(job.book.sentence_ends, words)

    def units(self, job: Job) -> int:
        return len(self._areas(job))

    def run(self, job: Job, state: State, progress: Progress) -> State:
        areas, final = self._areas(job), self.final
        names = [m for m in state.mentions if m.kind == "name"]
        given = {(m.start, m.end): m.character for m in state.mentions if m.kind != "name"}
        given |= dict.fromkeys(job.given.nobody, NOBODY)
        reading = self.backend.read(job, names, given, self._how_to_read())
        present = _present(state.mentions, areas)
        exempt = {n.narrator for n in reading.reader.narration} | {*reading.text.nouns.values()}
        kept, dropped = list(state.mentions), []
        for d in reading.decisions:
            m = reading.text.markables[d.index]
            if (m.start, m.end) in given or d.character >= len(job.cast.entries):
                continue
            area = _area_of(areas, m.start)
            # Who tells a long story in quotes is seldom named in it.
            tells = final and d.rule == "speaker of the quote"
            narrates = tells or d.rule == "narrator" or d.character in exempt
            marked = self._marked(job, reading, d)
            if area >= 0 and (present[area][d.character] or narrates):
                kept.append(marked)
            elif final:
                reason = f"{marked.rule}, but {job.cast.names[d.character]} is not named in this {self.place}"
                dropped.append(Dropped(m.start, m.end, d.character, self.name, reason, marked.score))
        progress.advance(job.book.doc_key, self.units(job))
        return self._state_after(job, state, reading, kept, dropped)

    def _how_to_read(self) -> HowToRead:
        kinds = ("least_pronoun", "least_nominal")
        alike = {f"{name}_in_quotes": self.settings.get(name, 0.0) for name in kinds}
        given = alike | dict(self.settings)
        least = tuple((kind, float(given.get(name, 0.0))) for kind, name in LEAST.items())
        encoder = str(self.settings.get("encoder", ""))
        return HowToRead(least, bool(self.settings.get("somebody_speaks", False)), encoder)

    def _marked(self, job: Job, reading: Reading, d: Decision) -> Marked:
        """A decision as a mention of this step, with the probability that it is right."""
        m = reading.text.markables[d.index]
        score = round(calibrated(_scale_of(d, reading), float(d.score)), 3)
        others = tuple(o for o in d.others if o[0] < len(job.cast.entries))
        rule = RULE_NAMES.get(d.rule, d.rule)
        return Marked(m.start, m.end, d.character, self.name, rule, score, m.kind, others)

    def _state_after(
        self, job: Job, state: State, reading: Reading, kept: list[Marked], dropped: list[Dropped]
    ) -> State:
        """The state with these mentions, and with the quotes and narrators of the reading."""
        told_by = [n for n in reading.reader.narration if n.narrator < len(job.cast.entries)]
        who = [job.cast.names[n] for n in dict.fromkeys(n.narrator for n in told_by)]
        known = any(n.startswith("narrator: ") for n in state.notes)
        narrators = _narrator_notes(job, told_by) or [f"narrator: {reading.why}"]
        notes = [] if known else [*narrators, *reading.text.notes]
        return state.after(
            self.name,
            kept,
            dropped=dropped,
            quotes=_quotes(reading.reader, len(job.cast.entries)),
            notes=notes,
            memory={"narrator": ", ".join(who), "quote_style": reading.text.speech.style},
        )


class WindowStep(_ExpandStep):
    """Clusters grow inside windows, those that have a name there."""

    name, place = "windows", "window"


class GroupStep(_ExpandStep):
    """Clusters grow over groups of windows: also where the name is some windows away."""

    name, place, final = "groups", "group of windows", True

    def _areas(self, job: Job) -> list[Window]:
        return group_windows(super()._areas(job), int(self.settings.get("windows", GROUP_WINDOWS)))


def _scale_of(d: Decision, reading: Reading) -> str:
    """The scale of a decision about a mention: pronouns of narration and of quotes have their own, so has
    "sir", which is harder than "you", and "I" is as sure as the speaker of its quote."""
    m = reading.text.markables[d.index]
    q = int(reading.text.speech.quote[m.at])
    if d.rule == "speaker of the quote":
        return reading.reader.spoken[q].scale
    kind = "called" if (d.rule, m.kind) == ("second", "nominal") else d.rule
    return f"{kind} in a quote" if q >= 0 else kind


_MOST_NOTED = 12
"""Ranges of narrators that are listed in the notes."""


def _narrator_notes(job: Job, narration: list[Narration]) -> list[str]:
    """Who narrates, and where if it is not one for the whole book."""
    names, size = job.cast.names, len(job.book.tokens)
    lines = [
        f"narrator: {names[n.narrator]}"
        + ("" if n.end - n.start == size else f", tokens {n.start:,} to {n.end - 1:,}")
        for n in narration
    ]
    more = len(lines) - _MOST_NOTED
    said = [f"narrator: {more} more {'range' if more == 1 else 'ranges'}"] if more > 0 else []
    return lines[:_MOST_NOTED] + said


def _area_of(areas: list[Window], at: int) -> int:
    return bisect_right(areas, at, key=lambda a: a.start) - 1


def _present(mentions: tuple[Marked, ...], areas: list[Window]) -> list[Counter[int]]:
    """Mentions of each character in each area."""
    found: list[Counter[int]] = [Counter() for _ in areas]
    for m in mentions:
        found[_area_of(areas, m.start)][m.character] += 1
    return found


def _quotes(reader: OneReading, cast: int) -> list[Quote]:
    spans = reader.t.speech.spans
    return [
        Quote(
            a,
            b,
            s.speaker if 0 <= s.speaker < cast else -1,
            tuple(e for e in s.addressees if 0 <= e < cast),
            s.rule,
            round(calibrated(s.scale, float(s.score)), 3),
        )
        for (a, b), s in zip(spans, reader.spoken, strict=True)
    ]
