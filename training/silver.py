"""Lessons from books without annotation: what a reader can know for sure, asked as if he could not.

LitBank is small and has no paragraphs. Whole novels hold two kinds of answers of their own:

* where one man and one woman are on the scene, gender alone says whom "he" means. The ranker is shown the
  same place with the genders hidden, and learns who is meant for other reasons;
* where a paragraph is nothing but a quote and "said Anna", the name says who speaks. The ranker is shown
  the quote without the tag, and learns how turns are taken.

  Or the name is hidden behind a pronoun ("said she") or a noun phrase ("said the lady"), and has to be found
  again. Often the tags of the next turns are hidden as well, and the reading goes on with its own answer, as
  in a real run of turns without tags;
* where a quote names somebody who was just mentioned, "he" might stand as well: the name is asked for as if
  it did;
* where a quote calls somebody by name ("You are late, Anna"), the name is left out and "you" asked for.

The answer is never "nobody of these": how likely that is, LitBank has to tell. So these lessons count less.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bookcoref_data.annotation.embedded import lexicon as lex
from bookcoref_data.annotation.embedded.markables import Markable, is_vocative
from bookcoref_data.annotation.embedded.reader import OneReading
from bookcoref_data.annotation.embedded.tags import Tag
from bookcoref_data.annotation.embedded.text import Text
from bookcoref_data.words import kin

_SURE, _RULED_OUT = 0.9, 0.1
_SCENE = 250
"""Tokens within which nobody else of the right gender may have been mentioned."""
_CLOSE = 120
"""Most tokens since the last mention of the one who is meant."""
_TAG_TOKENS = 6
"""Most tokens of narration in a paragraph that is "nothing but a quote and its tag"."""
_RIVAL = 0.3
"""Least probability of gender at which somebody else might be meant by the pronoun in place of a name."""
_CALLED_HIDDEN = 0.5
"""Share of paragraphs that call one person by name in which the name is left out."""
_SEEN_AHEAD = 0.5
"""Share of hidden tags whose next turn is left as it is; the number of turns hidden ahead is geometric."""
_FOLLOWED = 0.7
"""Share of hidden tags after which the reading goes on with the right answer, not with its own."""
_BEAT_TOKENS = 25
"""Most tokens of narration around a tag whose name is replaced by a pronoun."""


_NOUNS = {"m": ("man", "gentleman", "fellow"), "f": ("woman", "lady", "girl")}
"""Nouns behind which the name in a tag is hidden, by gender."""
_PHRASES, _KNOWN_NOUN = 0.4, 0.5
"""Share of the hidden names in tags that a noun phrase hides, not a pronoun; and of these the share hidden by
a noun that was read as the speaker before, where there is one."""


def _is_phrase(noun: str, gender: str) -> bool:
    """Whether "the ..." with this noun may stand for anybody of a gender."""
    nouns = {"m": lex.MALE_NOUNS, "f": lex.FEMALE_NOUNS}[gender]
    return noun in nouns and noun not in kin.KIN


class Example(NamedTuple):
    """One question with its answer. `lesson` is "blind", "third" or "nominal" (a name in a tag hidden behind
    a pronoun or a noun phrase), "quoted" (a name in a quote hidden behind a pronoun), "speaker" (a tag left
    out) or "second" (a name left out that a quote calls), `x` has one row of features per candidate and one
    for nobody, `right` is a row."""

    lesson: str
    x: np.ndarray
    right: int


class SilverReader(OneReading):
    """Reads a book and collects `examples`."""

    def __init__(self, text: Text, rankers, *, seed: int, hide: float = 0.9, **options) -> None:
        super().__init__(text, rankers, bars=False, **options)
        self.examples: list[Example] = []
        self._rng = np.random.default_rng(seed)
        self._hide = hide
        self._hidden: int | None = None
        self._veiled = -1
        self._addressed = -1

    # --- pronouns ---------------------------------------------------------------------------------------

    def _rank(self, i: int, kind: str, q: int, tag: int) -> None:
        m = self.t.markables[i]
        if kind == "third" and m.gender in ("m", "f") and i != self._veiled:
            self._ask_blind(i, q, tag)
        super()._rank(i, kind, q, tag)

    def _refer(self, i: int, tag: int = -1) -> None:
        if self._may_be_pronoun(i):
            self._ask_quoted(i)
        super()._refer(i, tag)

    def _may_be_pronoun(self, i: int) -> bool:
        """Whether a name in a quote might as well be "he" or "she": its bearer was just mentioned."""
        m, state = self.t.markables[i], self.state
        if m.kind != "name" or m.character < 0 or self.t.speech.quote[m.at] < 0:
            return False
        recent = state.count[m.character] > 0 and m.at - state.last[m.character] <= _CLOSE
        return recent and state.p[m.character, :2].max() > _SURE and not is_vocative(self.t.book, m)

    def _ask_quoted(self, i: int) -> None:
        """Add an example with a name in a quote hidden, if there is a rival."""
        m, state = self.t.markables[i], self.state
        q = int(self.t.speech.quote[m.at])
        k = int(state.p[m.character, 1] > 0.5)
        self.namings.hide(m)
        self.t.markables[i] = replace(m, kind="pronoun", gender="mf"[k], text=("he", "she")[k], character=-1)
        ids = self.antecedents.candidates(i, "third", q)
        rivals = sum(state.p[e, k] > _RIVAL and m.at - state.last[e] <= _SCENE for e in ids)
        if m.character in ids and rivals > 1:
            x = self.antecedents.features(ids, i, "third", q, -1)
            self.examples.append(Example("quoted", x, ids.index(m.character)))
        self.t.markables[i] = m
        self.namings.show(m)

    def _ask_blind(self, i: int, q: int, tag: int) -> None:
        """Add an example where gender alone decides, with all genders made equal."""
        m, state = self.t.markables[i], self.state
        k = "mfp".index(m.gender)
        kept = state.p, dict(state.last_by_gender)
        blind = state.p.copy()
        single = state.p[:, 2] < 0.5
        blind[single, k] = np.maximum(state.p[single, 0], state.p[single, 1])
        state.p = blind
        newest = max("mf", key=lambda gender: state.last_by_gender[gender][1])
        state.last_by_gender[m.gender] = state.last_by_gender[newest]
        ids = self.antecedents.candidates(i, "third", q)
        known_p = kept[0]
        away = np.array([m.at - state.last[e] for e in ids])
        fits = np.array([known_p[e, k] for e in ids])
        near = away <= _SCENE
        sure = np.flatnonzero((fits > _SURE) & (away <= _CLOSE)) if len(ids) else []
        known = len(sure) == 1 and ((fits < _RULED_OUT) | ~near).sum() == len(ids) - 1 and near.sum() > 1
        if known:
            x = self.antecedents.features(ids, i, "third", q, tag)
            self.examples.append(Example("blind", x, int(sure[0])))
        state.p, state.last_by_gender = kept

    # --- speakers ---------------------------------------------------------------------------------------

    def _paragraph(self, markables, quotes: range) -> None:
        called = self._called_by_name(quotes)
        if len(called) != 1 or self._rng.random() > _CALLED_HIDDEN:
            self._tagged_paragraph(markables, quotes)
            return
        # "You are late, Anna": without the name, whom does "you" mean?
        tags, ms = self.t.tags, self.t.markables
        kept = {q: tags[q].vocatives for q in quotes}
        (self._addressed,) = called
        hidden = {
            k
            for q in quotes
            for k in tags[q].vocatives
            if ms[k].kind == "name" and ms[k].character == self._addressed
        }
        for q in quotes:
            tags[q].vocatives = tuple(k for k in kept[q] if k not in hidden)
        for k in hidden:
            self.namings.hide(ms[k])
        self._tagged_paragraph([i for i in markables if i not in hidden], quotes)
        for k in hidden:
            self.namings.show(ms[k])
        self._addressed = -1
        for q in quotes:
            tags[q].vocatives = kept[q]
        for k in sorted(hidden):
            self._settle(k, ms[k].character, "", 1.0)

    def _called_by_name(self, quotes: range) -> set[int]:
        """The characters who are called by name in the quotes of a paragraph."""
        ms = self.t.markables
        names = (ms[k] for q in quotes for k in self.t.tags[q].vocatives if ms[k].kind == "name")
        return {m.character for m in names if m.character >= 0}

    def _tagged_paragraph(self, markables, quotes: range) -> None:
        s, words = self._tag_by_name(markables, quotes)
        if s < 0 or self._rng.random() > self._hide:
            super()._paragraph(markables, quotes)
            return
        with self._future_hidden(quotes):
            self._ask(s, words, markables, quotes)

    def _ask(self, s: int, words: int, markables, quotes: range) -> None:
        """Read a paragraph with its tag hidden."""
        m = self.t.markables[s]
        self._hidden = m.character
        self.namings.hide(m)
        gender = "mf"[int(self.state.p[m.character, 1] > 0.5)]
        sure = self.state.p[m.character, "mf".index(gender)] > _SURE
        if words <= _TAG_TOKENS and (self._rng.random() < 0.5 or not sure):
            self._without_tag(s, markables, quotes)
        elif sure and self._rng.random() < _PHRASES:
            self._with_phrase(s, gender, markables, quotes)
        elif sure:
            self._with_pronoun(s, gender, markables, quotes)
        else:
            super()._paragraph(markables, quotes)
        self._hidden = None
        self.namings.show(m)

    @contextmanager
    def _future_hidden(self, quotes: range) -> Iterator[None]:
        """Hide the tags of the next turns, too, as many as chance says: where the tag of a turn is missing in
        a real book, those of its neighbours mostly are as well."""
        turns = int(self._rng.geometric(_SEEN_AHEAD)) - 1
        tags, ms, speech = self.t.tags, self.t.markables, self.t.speech
        here = speech.paragraph[speech.spans[quotes[0]][0]]
        kept: dict[int, Tag] = {}
        gone: list[Markable] = []
        for turn in self.conversation.next_turns(quotes[0], turns):
            for q in turn:
                kept[q] = tags[q]
                tags[q] = Tag(vocatives=tags[q].vocatives)
                m = ms[kept[q].subject]
                ahead = kept[q].subject >= 0 and speech.paragraph[m.at] > here
                if ahead and m.character >= 0 and m not in gone:
                    self.namings.hide(m)
                    gone.append(m)
        yield
        for q, tag in kept.items():
            tags[q] = tag
        for m in gone:
            self.namings.show(m)

    def _without_tag(self, s: int, markables, quotes: range) -> None:
        """Read a paragraph as if the tag was not there."""
        tags, m = self.t.tags, self.t.markables[s]
        kept = {q: tags[q] for q in quotes}
        for q in quotes:
            tags[q] = Tag(vocatives=tags[q].vocatives)
        super()._paragraph([i for i in markables if i != s], quotes)
        for q, tag in kept.items():
            tags[q] = tag
        self._settle(s, m.character, "", 1.0)

    def _with_pronoun(self, s: int, gender: str, markables, quotes: range) -> None:
        """Read a paragraph as if the tag was "said he"."""
        words = {"kind": "pronoun", "text": {"m": "he", "f": "she"}[gender]}
        self._veil(s, {"gender": gender, **words}, markables, quotes)

    def _with_phrase(self, s: int, gender: str, markables, quotes: range) -> None:
        """Read a paragraph as if the tag was "said the man", or another noun, maybe one read so before."""
        who = self.t.markables[s].character
        known = [n for n in self.phrases.nouns_of(who) if _is_phrase(n, gender)]
        nouns = known if known and self._rng.random() < _KNOWN_NOUN else _NOUNS[gender]
        noun = nouns[int(self._rng.integers(len(nouns)))]
        kept = self.phrases.of_noun(noun), [noun in called for called in self.state.nouns]
        words = {"kind": "nominal", "noun": noun, "definite": "the", "text": f"the {noun}"}
        self._veil(s, {"gender": gender, **words}, markables, quotes)
        # The book does not say so: what is read later must not learn from it.
        self.phrases.take_back(noun, kept[0])
        for called, before in zip(self.state.nouns, kept[1], strict=False):
            if not before:
                called.discard(noun)

    def _veil(self, s: int, words: dict[str, Any], markables, quotes: range) -> None:
        """Read a paragraph with other words in place of the name in its tag."""
        m = self.t.markables[s]
        self._veiled = s
        self.t.markables[s] = replace(m, character=-1, **words)
        super()._paragraph(markables, quotes)
        self.t.markables[s] = m
        self._veiled = -1

    def _tag_by_name(self, markables, quotes: range) -> tuple[int, int]:
        """The name in a paragraph whose only name outside quotes is in a tag (-1 for none), and the number
        of words outside quotes."""
        if not quotes or not self.t.speech.real_paragraphs:
            return -1, 0
        speech, ms = self.t.speech, self.t.markables
        outside = [i for i in markables if speech.quote[ms[i].at] < 0]
        s = max(self.t.tags[q].subject for q in quotes)
        if s < 0 or ms[s].kind != "name" or ms[s].character < 0 or s not in outside:
            return -1, 0
        number = speech.paragraph[ms[s].at]
        start = int(np.searchsorted(speech.paragraph, number))
        end = int(np.searchsorted(speech.paragraph, number, side="right"))
        words = sum(speech.quote[i] < 0 and self.t.book.tokens[i][:1].isalnum() for i in range(start, end))
        if words > _TAG_TOKENS:
            others = {ms[i].character for i in outside if i != s and ms[i].kind == "name"}
            return (s, words) if words <= _BEAT_TOKENS and ms[s].character not in others else (-1, 0)
        return (s, words) if outside == [s] else (-1, 0)

    def _decide(self, kind, ids, x, key, name="", somebody=False, lean=None, pointed=None):
        row, p = super()._decide(kind, ids, x, key, name, somebody, lean, pointed)
        if kind == "second" and self._addressed in ids:
            self.examples.append(Example(kind, x, ids.index(self._addressed)))
        if self._hidden is not None and (kind == "speaker" or key == self._veiled):
            right = len(ids)
            if self._hidden in ids:
                right = ids.index(self._hidden)
                if kind != "speaker" or self._veiled < 0:
                    self.examples.append(Example(kind, x, right))
            if self._rng.random() < _FOLLOWED:
                return right, p
        return row, p
