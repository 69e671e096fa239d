"""Conversations: who spoke last, whose turn it is, and what the words around later quotes give away."""

from collections.abc import Sequence
from dataclasses import dataclass

from .markables import Markable
from .quotes import Speech
from .tags import Tag

GAP = 250
"""Tokens after which a conversation is over: older quotes do not say who speaks next."""
_REMEMBERED, _PAST, _FORESEEN, _EXCHANGE = 12, 8, 8, 6
_INTERRUPTION = 15
"""Most tokens of narration inside one turn where paragraphs are guessed."""
_STORY_REACH = 20
"""Most quotes between two parts of a story."""


@dataclass(slots=True)
class Spoken:
    """Who speaks a quote to whom, as entities (-1 unknown), how it was known, and how surely. `like` is the
    rule of the quote from which this one takes its speaker, and with it its score; "" for its own."""

    speaker: int = -1
    addressees: tuple[int, ...] = ()
    rule: str = ""
    score: float = 0.0
    like: str = ""

    @property
    def scale(self) -> str:
        """The rule that says how sure the score is."""
        return self.like or self.rule


class Conversation:
    """The quotes of a book in turns: those of one paragraph are one turn. `spoken` is filled while reading;
    `remembered` are the quotes whose speaker is known, in the order in which they were read.
    """

    def __init__(
        self, tokens: Sequence[str], speech: Speech, tags: list[Tag], markables: list[Markable]
    ) -> None:
        self._tokens, self._speech, self._tags, self._markables = tokens, speech, tags, markables
        self.spoken = [Spoken() for _ in speech.spans]
        self.remembered: list[int] = []
        self._turn_of: list[int] = []
        self._turns: list[range] = []
        for q, (a, _) in enumerate(speech.spans):
            if q and speech.paragraph[a] == speech.paragraph[speech.spans[q - 1][0]]:
                self._turns[-1] = range(self._turns[-1].start, q + 1)
            else:
                self._turns.append(range(q, q + 1))
            self._turn_of.append(len(self._turns) - 1)
        # Whether each turn answers the one before; the last, which is not there, answers none.
        self._answers = [*(self.answers(turn.start) for turn in self._turns), False]

    def remember(self, q: int) -> None:
        """Quote `q` was read."""
        if self.spoken[q].speaker >= 0 and self.remembered[-1:] != [q]:
            self.remembered.append(q)

    def goes_on(self, q: int) -> bool:
        """Whether quote `q` follows the one before in the same conversation."""
        return self._speech.spans[q][0] - self._speech.spans[q - 1][1] <= GAP

    def continues(self, q: int) -> bool:
        """A quote that opens a paragraph while the one before was never closed: the same speech."""
        if not q:
            return False
        (a, _), (_, end) = self._speech.spans[q], self._speech.spans[q - 1]
        return (
            self._speech.style in ("double", "single")
            and self._tokens[a] == '"'
            and self._tokens[end] != '"'
            and a - end <= 3
        )

    def teller(self, q: int) -> int:
        """Who goes on with a story in quote `q`; -1 where none begins.

        A story is a speech of at least three paragraphs. Listeners break in, and chapters end; who told the
        last story of the conversation tells the next.
        """
        if not self._is_story(q + 2):
            return -1
        for k in range(q - 1, max(q - _STORY_REACH, 1), -1):
            if not self.goes_on(k + 1):
                return -1
            if self._is_story(k):
                return self.spoken[k].speaker
        return -1

    def _is_story(self, q: int) -> bool:
        """Whether quote `q` is the third paragraph of a speech, or a later one."""
        return q < len(self.spoken) and self.continues(q) and self.continues(q - 1)

    def answers(self, q: int) -> bool:
        """Whether a quote stands in the paragraph right after a paragraph with a quote: most likely an
        answer. False where paragraphs are guessed."""
        if not q or not self._speech.real_paragraphs:
            return False
        (a, _), (_, b) = self._speech.spans[q], self._speech.spans[q - 1]
        return int(self._speech.paragraph[a] - self._speech.paragraph[b]) == 1 and self.goes_on(q)

    def are_one_turn(self, k: int, q: int) -> bool:
        """Whether quotes `k` and `q` of one paragraph are one turn; guessed paragraphs may be too long."""
        spans, (first, second) = self._speech.spans, sorted((k, q))
        return self._speech.real_paragraphs or spans[second][0] - spans[first][1] <= _INTERRUPTION

    def recent_speakers(self) -> set[int]:
        """Who spoke the last quotes that were read."""
        return {self.spoken[q].speaker for q in self.remembered[-_REMEMBERED:]}

    def last_speakers(self, at: int) -> tuple[int, int]:
        """The speaker of the last quote before token `at`, and the last other speaker of the conversation."""
        last = before = -1
        edge = at
        for q in reversed(self.remembered[-_REMEMBERED:]):
            a, b = self._speech.spans[q]
            if b >= at:
                continue
            if edge - b > GAP:
                break
            edge = a
            who = self.spoken[q].speaker
            if last < 0:
                last = who
            elif who != last:
                before = who
                break
        return last, before

    def last_addressees(self, q: int) -> tuple[int, ...]:
        """Whom the quote before spoke to, in the same conversation."""
        return self.spoken[q - 1].addressees if q and self.goes_on(q) else ()

    def past_turns(self, q: int) -> list[int]:
        """The speakers of the last turns of the conversation before the turn of `q`, latest first."""
        turn = self._turn_of[q] - 1
        past: list[int] = []
        while turn >= 0 and len(past) < _PAST and self._gap_after(turn) <= GAP:
            past.append(self.spoken[self._turns[turn].stop - 1].speaker)
            turn -= 1
        return past

    def gap_before(self, q: int) -> tuple[int, int]:
        """(tokens, paragraphs) between quote `q` and the last quote of the turn before."""
        a, b = self._speech.spans[q][0], self._speech.spans[self._turns[self._turn_of[q]].start - 1][1]
        return a - b, int(self._speech.paragraph[a] - self._speech.paragraph[b])

    def tag_ahead(self, q: int, turns: int) -> int:
        """The subject (a markable, -1 for none) of the tag that many turns later in the conversation; 0 turns
        later means the rest of the turn."""
        turn = self._turn_of[q] + turns
        if turn >= len(self._turns):
            return -1
        if any(self._gap_after(t) > GAP for t in range(self._turn_of[q], turn)):
            return -1
        for k in self._turns[turn]:
            if k > q and self._tags[k].subject >= 0:
                return self._tags[k].subject
        return -1

    def named_ahead(self, q: int, turns: int) -> int:
        """The character who is named as speaker that many turns later, before that is read; -1 for none."""
        k = self.tag_ahead(q, turns)
        return self._markables[k].character if k >= 0 else -1

    def named_later(self, q: int) -> list[tuple[int, int]]:
        """(turns ahead, character) of the next turns of the conversation whose tag names the speaker."""
        found = []
        turn = self._turn_of[q]
        for ahead in range(1, _FORESEEN + 1):
            turn += 1
            if turn >= len(self._turns) or self._gap_after(turn - 1) > GAP:
                break
            who = self._named_in(turn)
            if who >= 0:
                found.append((ahead, who))
        return found

    def _named_in(self, turn: int) -> int:
        """The character whom a tag of that turn names; -1 for none."""
        for k in self._turns[turn]:
            if (subject := self._tags[k].subject) >= 0 and self._markables[subject].character >= 0:
                return self._markables[subject].character
        return -1

    def called_beside(self, q: int, step: int) -> list[int]:
        """Whom the next turn (`step` 1) or the turn before (-1) addresses by name or noun, as markables: the
        next often addresses the one who speaks now."""
        turn = self._turn_of[q] + step
        if not 0 <= turn < len(self._turns) or self._gap_after(min(turn, turn - step)) > GAP:
            return []
        return [k for quote in self._turns[turn] for k in self._tags[quote].vocatives]

    def turn_of(self, q: int) -> range:
        """All quotes of the turn of `q`."""
        return self._turns[self._turn_of[q]]

    def exchange(self, q: int) -> list[tuple[int, range]]:
        """(turns away, quotes) of the turns before and after that of `q`, as long as each answers the one
        before: most likely two people who speak in turns."""
        here = self._turn_of[q]
        found = []
        for step in (-1, 1):
            turn = here
            while abs(turn - here) < _EXCHANGE and self._answers[max(turn, turn + step)]:
                turn += step
                found.append((turn - here, self._turns[turn]))
        return found

    def next_turns(self, q: int, most: int) -> list[range]:
        """The quotes of the next turns of the conversation."""
        turn = self._turn_of[q]
        found: list[range] = []
        while turn + 1 < len(self._turns) and len(found) < most and self._gap_after(turn) <= GAP:
            turn += 1
            found.append(self._turns[turn])
        return found

    def _gap_after(self, turn: int) -> int:
        spans = self._speech.spans
        return spans[self._turns[turn + 1].start][0] - spans[self._turns[turn].stop - 1][1]
