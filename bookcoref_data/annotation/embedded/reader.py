"""Read a book once from left to right and say of every pronoun, phrase and quote whom it means.

Paragraph by paragraph: first the narration (names are known, pronouns and noun phrases are ranked), then
who speaks each quote and to whom, then what is said inside ("I" is the speaker, "you" the addressee, the
rest is ranked). Decisions feed the discourse state that the next decisions look at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..narration import Narration
from .antecedents import Antecedents
from .conversation import Spoken
from .memory import LEAST_GENDER, Memory
from .network import Ranker
from .scenes import NOBODY, Guesses
from .speakers import Speakers
from .text import Text
from .voices import Voices

_MOST_OTHERS = 3
"""Candidates that are kept beside the chosen one."""
_CHANCE = 0.02
"""The least probability of one."""
_BY_TITLE = 0.9
"""Score of a wife whom the cast calls so: Mrs. Hill is the wife of Mr. Hill."""
_POINTED, _LEAST_POINTED = 0.3, -4.0
"""What the logarithms count by which a language model points at people beside those of the rankers (best of
0.2, 0.3, 0.5 and 1 on seven novels of PDNC), and the least of one."""
SURE, _SURE_BESIDE = 0.9, 0.947
"""Least score of a line that teaches how somebody talks, and of one that takes its speaker from another."""
_SURE_RULES = frozenset(["said by name", "said by pronoun", "said by noun", "same paragraph"])
Others = tuple[tuple[int, float], ...]
"""Members of the cast with their probabilities, the likeliest first."""


class Teacher(Protocol):
    """Knows the answers while the rankers are trained; see `training.oracle`."""

    def choose(self, kind: str, ids: list[int], x: np.ndarray, key: object, model: int) -> int: ...

    def settled(self, key: object, entity: int) -> None: ...


@dataclass(slots=True)
class Decision:
    """Markable `index` means cast member `character` by `rule`, with the ranker's probability.

    `others` are the next best members of the cast with theirs.
    """

    index: int
    character: int
    rule: str
    score: float
    others: Others = ()


_KIND_OF = {"pronoun": "third", "nominal": "nominal"}
"""Kind of a markable that means a third person -> kind of the decision."""
Told = Mapping[int, tuple[int, tuple[int, ...]]]
"""Number of a quote -> speaker (-1: somebody else) and addressees."""


def subjects_of(told: Told, text: Text) -> dict[int, int]:
    """Whom a pronoun or noun phrase means in the tag of a quote whose speaker is told ("said she"). Where the
    speaker cannot have its gender, the tag was misread and says nothing."""
    found: dict[int, int] = {}
    for q, (who, _) in told.items():
        i = text.tags[q].subject
        if i >= 0 and (m := text.markables[i]).kind in _KIND_OF and m.person == 3 and m.gender != "p":
            of = dict(zip("mf", text.genders, strict=False)).get(m.gender)
            if who < 0 or of is None or of[who] >= LEAST_GENDER:
                found[i] = who
    return found


class OneReading(Memory):
    """One reading of one text. `read` returns the decisions; `spoken` then tells of every quote, and `maybe`
    whom else a pronoun or noun phrase may mean.

    `fixed` are decisions of earlier steps (markable index -> character, -1 for somebody else), `told` quotes
    of which a person has said who speaks; both are taken as they are. `bars` says whether grammar rules
    people out and "he said" is one question: rankers that never see such people learn less.
    """

    def __init__(
        self, text: Text, rankers: Mapping[str, Ranker], *, narration: Sequence[Narration] = (),
        fixed: Mapping[int, int] | None = None, told: Told | None = None,
        thresholds: Mapping[str, float] | None = None, always_somebody: bool = False,
        teacher: Teacher | None = None, earlier: OneReading | None = None, scenes: Guesses | None = None,
        bars: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(text, narration)
        self.rankers = rankers
        self.fixed = fixed or {}
        self.told = told or {}
        self._told_subjects = subjects_of(self.told, text)
        self.thresholds = thresholds or {}
        self.always_somebody = always_somebody
        self.teacher = teacher
        self.decisions: list[Decision] = []
        self.maybe: dict[int, Others] = {}
        self._odds: dict[int, dict[int, float]] = {}
        self._bars = bars and teacher is None
        self.antecedents = Antecedents(self, self._bars, taught=teacher is not None)
        self.speakers = Speakers(self, self._bars)
        self._scenes = scenes
        self._voices = Voices(text.book, text.speech.spans, earlier.sure_lines()) if earlier else None
        if earlier:
            self.kin.take_over(earlier.kin)
            self.antecedents.take_over(earlier)

    def sure_lines(self) -> dict[int, int]:
        """The quotes that surely are a character's: number of the quote -> character."""
        return {
            q: s.speaker
            for q, s in enumerate(self.spoken)
            if 0 <= s.speaker < self.state.cast
            and s.rule in _SURE_RULES
            and s.score >= (_SURE_BESIDE if s.like else SURE)
        }

    # --- the walk -----------------------------------------------------------------------------------------

    def read(self) -> list[Decision]:
        """Read everything; decisions in the order in which they were taken."""
        ms, speech = self.t.markables, self.t.speech
        of_markables = [int(speech.paragraph[m.at]) for m in ms]
        of_quotes = [int(speech.paragraph[a]) for a, _ in speech.spans]
        at = q = 0
        for paragraph in sorted({*of_markables, *of_quotes}):
            first, first_quote = at, q
            while at < len(ms) and of_markables[at] == paragraph:
                at += 1
            while q < len(of_quotes) and of_quotes[q] == paragraph:
                q += 1
            self._paragraph(range(first, at), range(first_quote, q))
        return self.decisions

    def _paragraph(self, markables: Sequence[int], quotes: range) -> None:
        quote_of, ms = self.t.speech.quote, self.t.markables
        inner = []
        subjects = {self.t.tags[q].subject: q for q in quotes if self.t.tags[q].subject >= 0}
        for i in markables:
            if quote_of[ms[i].at] >= 0 and ms[i].kind != "name":
                inner.append(i)
            else:
                self._refer(i, tag=subjects.get(i, -1))
        self._speakers(quotes)
        for i in inner:
            self._refer(i)

    # --- references ---------------------------------------------------------------------------------------

    def _refer(self, i: int, tag: int = -1) -> None:
        m = self.t.markables[i]
        q = int(self.t.speech.quote[m.at])
        if (known := self.fixed.get(i, self._told_subjects.get(i))) is not None:
            # Somebody who is not in the cast is somebody all the same.
            who = known if known >= 0 else self.state.add(m.gender, m.noun)
            self._settle(i, who, "" if i in self.fixed else _KIND_OF[m.kind], 1.0)
        elif m.kind == "name":
            self._settle(i, m.character if m.character >= 0 else self.outsider(m), "", 1.0)
        elif m.kind == "plural":
            self._settle(i, self.crowd(m.noun), "", 1.0)
        elif m.kind == "nominal" and m.person == 3:
            self._rank(i, "nominal", q, tag)
        elif m.person == 3:
            self._rank(i, "third", q, tag)
        elif m.person == 1:
            if q < 0:
                self._settle(i, self.narrator_at(m.at), "narrator", 0.9)
            elif (who := self.who_says(m.at, q)) >= 0:
                self._settle(i, who, "speaker of the quote", self.spoken[q].score)
        elif q >= 0 and not self.cited_at(m.at):
            self._rank(i, "second", q, tag)

    def _rank(self, i: int, kind: str, q: int, tag: int) -> None:
        m, antecedents = self.t.markables[i], self.antecedents
        if tag >= 0 and kind == "nominal" and (who := antecedents.whose_voice(tag, m)) >= 0:
            self._settle(i, who, "", 1.0)
            return
        if kind == "nominal" and (spouse := antecedents.spouse(i)) >= 0:
            self._settle(i, spouse, kind, _BY_TITLE)
            return
        ids = antecedents.candidates(i, kind, q)
        bearer = antecedents.bearer(m) if kind == "nominal" else -1
        if bearer >= 0:
            ids = [bearer, *(e for e in ids if antecedents.is_named(e) and e != bearer)]
        x = antecedents.features(ids, i, kind, q, tag)
        name = kind
        if kind == "third":
            name = "they" if m.gender == "p" else "third in a quote" if q >= 0 else kind
        elif kind == "nominal" and q >= 0:
            name = "nominal in a quote"
        # "Replied the other": one of those on the scene.
        on_scene = tag >= 0 and m.noun == "other" and m.definite == "the"
        lean = antecedents.lean_of_recalled(m, ids)
        if tag >= 0 and kind == "third" and self._voices:
            # "Said he": one of them talks so.
            lean = self._voices.lean(self.conversation.turn_of(tag), ids)
        pointed = self._pointed_at(i, kind, q)
        row, p = self._decide(kind, ids, x, i, name, somebody=on_scene, lean=lean, pointed=pointed)
        score, others = float(p[row]), self._others(ids, p, row)
        self.maybe[i] = others
        if tag >= 0:
            self._odds[i] = {NOBODY: float(p[-1]), **dict(zip(ids, p.tolist(), strict=False))}
        apposed = antecedents.apposed(i) if kind == "nominal" else -1
        if row < len(ids) and (ids[row] < self.state.cast or apposed < 0):
            self._settle(i, ids[row], kind, score, others)
        elif bearer >= 0:
            self._settle(i, bearer, kind, score)
        elif kind == "nominal":
            self._settle(i, apposed if apposed >= 0 else self.state.add(m.gender, m.noun), "", score)
        elif self.teacher:
            self.teacher.settled(i, -1)

    def _others(self, ids: list[int], p: np.ndarray, row: int) -> Others:
        """The next best candidates of the cast, those with a chance at all."""
        left = [n for n, e in enumerate(ids) if n != row and e < self.state.cast and p[n] >= _CHANCE]
        left.sort(key=lambda n: -p[n])
        return tuple((ids[n], round(float(p[n]), 3)) for n in left[:_MOST_OTHERS])

    def _settle(self, i: int, e: int, rule: str, score: float, others: Others = ()) -> None:
        """Markable `i` means entity `e`; without a rule that is no decision about the cast."""
        t, m = self.t, self.t.markables[i]
        self.entity[i] = e
        if self.teacher:
            self.teacher.settled(i, e)
        q = int(t.speech.quote[m.at])
        if q not in t.speech.letters or m.person == 3:
            # Who writes a letter, and to whom, is not on the scene where it is read.
            sentence, paragraph = int(t.parse.sentence[m.at]), int(t.speech.paragraph[m.at])
            talked_of = q >= 0 and m.person == 3 and i not in t.called
            self.state.mention(e, m, sentence, paragraph, q, t.clauses[i], talked_of)
        if m.kind == "nominal":
            self.antecedents.remember(i, e, score)
        if rule and e < self.state.cast:
            self.decisions.append(Decision(i, e, rule, score, others))

    # --- decisions ----------------------------------------------------------------------------------------

    def _decide(
        self, kind: str, ids: list[int], x: np.ndarray, key: object, name: str = "", somebody: bool = False,
        lean: np.ndarray | None = None, pointed: Mapping[int, float] | None = None,
    ) -> tuple[int, np.ndarray]:  # fmt: skip
        """(row, probabilities of all rows); the last row means none of the candidates, which `somebody`
        excludes. `name` is a part of `kind` that may have a ranker of its own; `lean` is what else speaks for
        the candidates (a logarithm each), `pointed` what a language model says of characters."""
        ranker = self.rankers.get(name) or self.rankers.get(kind)
        row = len(ids)
        if ranker is not None:
            p = ranker.probabilities(x)
            if lean is not None:
                p[:-1] *= np.exp(lean)
                p /= p.sum()
            if pointed and ids:
                p = self._weigh(p, ids, pointed)
            row = int(p.argmax())
            least = self.thresholds.get(name or kind, 0.0)
            if row < len(ids) and ids[row] < self.state.cast and p[row] < least:
                row = len(ids)
            if somebody and ids:
                row = int(p[:-1].argmax())
        if self.teacher:
            row = self.teacher.choose(kind, ids, x, key, row)
        if ranker is None:
            p = np.ones(len(ids) + 1)
        return row, p

    def _pointed_at(self, i: int, kind: str, q: int) -> Mapping[int, float] | None:
        """Whom the language model takes "he", "she" or "you" for."""
        if self._scenes is None or kind not in ("third", "second"):
            return None
        if kind == "third":
            return self._scenes.pronouns.get(i)
        return self._scenes.spoken_to.get(self.conversation.turn_of(q).start)

    def _pointed_speakers(self, q: int) -> Mapping[int, float] | None:
        """Whom the language model takes for the speaker; None where a name says it, and for a speech of
        several paragraphs: who tells a long story was seldom named on the page that the model sees."""
        subject = self.t.tags[q].subject
        if self._scenes is None or (subject >= 0 and self.t.markables[subject].kind == "name"):
            return None
        turn = self.conversation.turn_of(q)
        goes_on = turn.stop < len(self.spoken) and self.conversation.continues(turn.stop)
        return None if goes_on else self._scenes.turns.get(turn.start)

    def _weigh(self, p: np.ndarray, ids: list[int], pointed: Mapping[int, float]) -> np.ndarray:
        """The probabilities of candidates, and of none, where the language model points at people. Its
        "nobody" is none of them and who has no name. It may raise what these have, and never lowers it: it
        knows no strangers, so it takes them for somebody of the cast.
        """
        named = np.array([*(e < self.state.cast for e in ids), False])
        if not named.any():
            return p
        says = np.maximum([pointed.get(e, _LEAST_POINTED) for e in (*ids, NOBODY)], _LEAST_POINTED)
        says[~named] = says[-1]
        moved: np.ndarray = p * np.exp(_POINTED * says)
        moved /= moved.sum()
        before, now = p[~named].sum(), moved[~named].sum()
        if now < before:
            moved[named] *= (1 - before) / (1 - now)
            moved[~named] = p[~named]
        return moved

    # --- speakers -----------------------------------------------------------------------------------------

    def _speakers(self, quotes: range) -> None:
        """Decide the quotes of a paragraph: one speaker, unless two tags name two people."""
        for q in quotes:
            if q in self.told:
                speaker, addressees = self.told[q]
                self.spoken[q] = Spoken(speaker, addressees, "given", 1.0)
        for q in self._spoken_first(quotes):
            self._speaker(q)
        for q in quotes:
            if not self.spoken[q].rule:
                self._speaker_of_the_turn(q, quotes)
        for q in quotes:
            if not self.spoken[q].addressees:
                self.spoken[q].addressees = self.speakers.addressees(q, quotes)
            if q not in self.t.speech.letters:
                self.conversation.remember(q)

    def _spoken_first(self, quotes: range) -> list[int]:
        """The quotes of a paragraph that do not take their speaker from the others: those with a tag,
        letters, speech that goes on, and the first. Where paragraphs are known, a tag anywhere in the turn
        tells of all its quotes."""
        tagged = [q for q in quotes if self.t.tags[q].subject >= 0]
        wait = bool(tagged) and self.t.speech.real_paragraphs
        return [
            q
            for q in quotes
            if q in tagged
            or (q == quotes[0] and not wait)
            or q in self.t.speech.letters
            or self.conversation.continues(q)
        ]

    def _speaker_of_the_turn(self, q: int, quotes: range) -> None:
        """Quote `q` has the speaker of the nearest quote of its turn that has one; else it stands alone."""
        decided = [k for k in quotes if self.spoken[k].rule and self.conversation.are_one_turn(k, q)]
        if not decided:
            self._speaker(q)
            return
        s = self.spoken[min(decided, key=lambda k: (abs(k - q), k))]
        self._say(q, s.speaker, "same paragraph", s.score, like=s.scale)

    def _say(
        self, q: int, speaker: int, rule: str, score: float, addressees: tuple[int, ...] = (), like: str = ""
    ) -> None:
        """Quote `q` is spoken by `speaker`."""
        self.spoken[q] = Spoken(speaker, addressees, rule, score, like)
        if self.teacher:
            self.teacher.settled(("quote", q), speaker)

    def _speaker(self, q: int) -> None:
        if q in self.told:
            return
        speech, tag = self.t.speech, self.t.tags[q]
        if q in speech.spoken_by:
            self.spoken[q] = Spoken(speech.spoken_by[q], (), "speaker line", 1.0)
        elif q in speech.letters:
            letter = speech.letters[q]
            reader = (letter.reader,) if letter.reader >= 0 else ()
            self.spoken[q] = Spoken(letter.writer, reader, "letter", 0.9)
        elif self.conversation.continues(q):
            s = self.spoken[q - 1]
            self._say(q, s.speaker, "speech goes on", s.score, s.addressees, s.scale)
        elif tag.stranger:
            self._say(q, -1, "said by someone else", 0.8)
        elif tag.subject < 0 and (teller := self.conversation.teller(q)) >= 0:
            self._say(q, teller, "story goes on", 0.8)
        else:
            self._rank_speaker(q)

    def _rank_speaker(self, q: int) -> None:
        """Choose among those who may speak a quote."""
        k = self.t.tags[q].subject
        subject = self.entity_of(k)
        if subject >= self.state.cast and self.t.markables[k].definite == "a":
            # "Cried a girl": whoever else is on the scene, it is not them.
            self._say(q, subject, "said by someone else", 0.8)
            return
        ids = self.speakers.candidates(q)
        lean = self.speakers.lean_to_nameless(ids)
        if self._voices and k < 0:
            turn = self.conversation.turn_of(q)
            lean += self._voices.lean(turn, ids) + self.speakers.lean_of_calls(turn, ids)
        x, pointed = self.speakers.features(ids, q), self._pointed_speakers(q)
        row, p = self._decide(
            "speaker", ids, x, ("quote", q), somebody=self.always_somebody, lean=lean, pointed=pointed
        )
        said = self.t.markables[k].kind.replace("nominal", "noun") if k >= 0 else ""
        if self._bars and k in self._odds and subject in ids:
            row = self._agreed(ids, p, k, subject)
        self._say(q, ids[row] if row < len(ids) else -1, f"said by {said}" if said else "turn", float(p[row]))

    def _agreed(self, ids: list[int], p: np.ndarray, k: int, subject: int) -> int:
        """The row of who speaks a quote with "she said". Whom "she" means (markable `k`) is one question with
        that: both answers count, and "she" is corrected where she was not who speaks."""
        odds = self._odds[k]
        odds.setdefault(subject, odds[NOBODY])  # Somebody new.
        row = int(np.argmax([p[n] * odds.get(e, 0.0) for n, e in enumerate(ids)]))
        if (who := ids[row]) != subject:
            self.entity[k] = who
            self.decisions = [d for d in self.decisions if d.index != k]
            if who < self.state.cast:
                self.decisions.append(Decision(k, who, _KIND_OF[self.t.markables[k].kind], odds[who]))
        return row
