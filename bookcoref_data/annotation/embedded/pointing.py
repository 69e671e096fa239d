"""Networks that read windows of a book (`scenes`) and point at people, in numpy; and the one of the package.

That one is small and our own: its weights (`weights/pointing.npz`) were made from random numbers by
`training.pointing`, on free novels. It reads words, and what the parser says of each.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile

import numpy as np

from ...errors import FormatError

WEIGHTS = Path(__file__).resolve().parent.parent / "weights" / "pointing.npz"
SLOTS = 24
"""Slots of each of three pools: men, women, and people of whom the book does not say."""
CLS, SEP, TURN, PARAGRAPH = range(FIRST := 4)
"""Marks: begin of the window, end of the list of people, a turn, the end of a paragraph. Words follow."""
OF_TURN, OF_PRONOUN, IN_QUOTE, SPOKEN_TO = range(KINDS := 4)
"""What is asked, each with a head of its own: who speaks a turn, whom "he" or "she" means in the narration
and in a quote, and whom a turn is spoken to."""
LONGEST, HEADS = 392, 8
"""Of the network of the package: most words of a window, and heads of attention."""
ENDING = "~"
"""Begins the entry for unknown words of an ending."""
_SLOWEST = 1000.0
"""Of the places in a window: base of the wavelengths by which they turn (Su et al. 2021)."""


_Built = TypeVar("_Built")


class Stored(dict[str, np.ndarray]):
    """Arrays of a file of weights."""

    def plain(self, name: str) -> np.ndarray:
        return self[name].astype(np.float32)

    def whole(self, name: str) -> np.ndarray:
        """A matrix that is stored as small integers, with a scale for every row."""
        matrix: np.ndarray = self[name] * self.plain(f"{name}.scale")[:, None]
        return matrix


def built_from(path: Path, what: str, build: Callable[[Stored], _Built]) -> _Built:
    """What is built from a file of the package. Raises FormatError: the file is damaged."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as data:
            return build(Stored({name: data[name] for name in data.files}))
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise FormatError(
            f"{path} does not hold {what}", found=str(error), hint="reinstall the package"
        ) from error


class Pointer(ABC):
    """What windows need of a network. `ids` gives the words that stand for a token; the slots of people are
    the words from `first_slot` on; `longest` is the most words of a window. `tags` and `relations` are the
    parser's that the network knows: the first stands for all others.
    """

    ids: Callable[[str], tuple[int, ...]]
    first_slot: int
    longest: int
    tags: Sequence[str] = ("",)
    relations: Sequence[str] = ("",)

    def __init__(self, stored: Stored) -> None:
        """Take the heads. Raises KeyError: something is missing."""
        plain = stored.plain
        self._asks, self._is_asked = (
            [(stored.whole(f"{head}{kind}"), plain(f"{head}{kind}.bias")) for kind in range(KINDS)]
            for head in "QK"
        )
        self._sharpness, self._nobody, self._bias = plain("sharpness"), plain("nobody"), plain("nobody.bias")

    @abstractmethod
    def read(self, words: Sequence[int], grammar: np.ndarray, at: np.ndarray) -> np.ndarray:
        """The vectors of the places `at` of a window, shape (places, size).

        `grammar` has a column for each word: tag, relation, whether in a quote, and the place of its head.
        """

    def points(self, asking: np.ndarray, kind: int, people: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """log P of each person at each place that asks and, last, of nobody, shape (asks, people + 1).

        `asking` and `people` are the vectors of the places that ask and of those of people, `owner` whose
        each is, counted from 0. `kind` says what is asked: a turn is somebody's, and to somebody.
        """
        of, to = self._asks[kind], self._is_asked[kind]
        asks, sharp = asking @ of[0].T + of[1], np.exp(self._sharpness[kind])
        nobody = asks @ self._nobody[kind] * sharp + self._bias[kind]
        if kind in (OF_TURN, SPOKEN_TO):
            nobody[:] = -np.inf
        score = np.column_stack([asks @ (people @ to[0].T + to[1]).T * sharp, nobody])
        most, last = score.max(-1, keepdims=True), owner.max() + 1
        mass = np.exp(score - most) @ np.eye(last + 1, dtype=np.float32)[np.append(owner, last)]
        found: np.ndarray = np.log(mass / mass.sum(-1, keepdims=True) + 1e-9)
        return found


class OwnPointer(Pointer):
    """The network of the package: a small transformer (Vaswani et al. 2017). It knows words in small letters;
    others it knows by their last letters."""

    longest = LONGEST

    def __init__(self, stored: Stored) -> None:
        """Put together what `training.pointing` has stored. Raises KeyError: something is missing."""
        super().__init__(stored)
        words, self.tags, self.relations = (
            stored[kind].tobytes().decode().split("\n") for kind in ("words", "tags", "relations")
        )
        self._ids = {word: FIRST + n for n, word in enumerate(words)}
        self.first_slot = FIRST + len(words)
        self.ids = cache(self._word)
        self._words, self._scales = stored["embeddings"], stored.plain("embeddings.scale")
        self._grammar = [stored.plain(name) for name in ("tag", "relation", "quoted")]
        self._of_head = np.ascontiguousarray(stored.whole("head").T)
        self._layers = [
            {part: np.ascontiguousarray(stored.whole(f"{n}.{part}").T) for part in ("qkv", "o", "i", "u")}
            for n in range(sum(name.endswith(".qkv") for name in stored))
        ]

    def _word(self, token: str) -> tuple[int, ...]:
        """The word of a token; none for a line end and an emphasis mark."""
        if is_no_word(token):
            return ()
        return (next(self._ids[form] for form in forms_of(token) if form in self._ids),)

    def read(self, words: Sequence[int], grammar: np.ndarray, at: np.ndarray) -> np.ndarray:
        ids = np.asarray(words)
        x = self._words[ids] * self._scales[ids, None]
        for table, values in zip(self._grammar, grammar, strict=False):
            x += table[values]
        x = _normed(x)
        x += (x @ self._of_head)[grammar[3]]
        turns = turns_of(len(ids), self._words.shape[1] // HEADS)
        for layer in self._layers[:-1]:
            x += self._attended(x, slice(None), layer, turns)
            x += _inner(x, layer)
        found: np.ndarray = x[at] + self._attended(x, at, self._layers[-1], turns)
        return _normed(found + _inner(found, self._layers[-1]))

    def _attended(
        self, x: np.ndarray, at: np.ndarray | slice, layer: Mapping[str, np.ndarray], turns: np.ndarray
    ) -> np.ndarray:
        """What the places `at` see."""
        q, k, v = np.split(_normed(x) @ layer["qkv"], 3, axis=1)
        found: np.ndarray = attention(q[at], k, v, HEADS, turns[:, at], turns) @ layer["o"]
        return found


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, heads: int,
    there: np.ndarray | None = None, turns: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """What the places that ask with `q` (overwritten) see, head by head: what one head needs stays in the
    cache of the processor. `there` and `turns` turn the places that ask, and all, as `turns_of` says."""
    size = q.shape[1] // heads
    q *= np.float32(size**-0.5)
    counted = np.ones((len(k), size + 1), dtype=np.float32)
    weight = np.empty((len(q), len(k)), dtype=np.float32)
    for a in range(0, q.shape[1], size):
        b = a + size
        np.matmul(_turned(q[:, a:b], there), _turned(k[:, a:b], turns).T, out=weight)
        weight -= weight.max(1, keepdims=True)
        np.exp(weight, out=weight)
        counted[:, :size] = v[:, a:b]
        mixed = weight @ counted  # The last column is the sum of the weights.
        np.divide(mixed[:, :size], mixed[:, size:], out=q[:, a:b])
    return q


def is_no_word(token: str) -> bool:
    """Whether a token is a line end or an emphasis mark, which no network reads."""
    return not token.strip() or token == "_"


def forms_of(token: str) -> tuple[str, ...]:
    """The entries of the vocabulary that may stand for a token, the best first."""
    word = token.lower()
    return word, ENDING + word[-3:], ENDING + word[-2:], ENDING


@cache
def own_network() -> OwnPointer:
    """The network of the package. Raises FormatError: its file is damaged."""
    return built_from(WEIGHTS, "the language model", OwnPointer)


def _normed(x: np.ndarray) -> np.ndarray:
    """Vectors of one length (Zhang and Sennrich 2019)."""
    found: np.ndarray = x / np.sqrt(np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1]) + 1e-6)[:, None]
    return found


def _inner(x: np.ndarray, layer: Mapping[str, np.ndarray]) -> np.ndarray:
    inner = _normed(x) @ layer["i"]
    np.maximum(inner, 0, out=inner)
    inner *= inner
    found: np.ndarray = inner @ layer["u"]
    return found


@cache
def turns_of(words: int, size: int) -> np.ndarray:
    """By how much each place turns a vector of this size: cosine and sine, shape (2, words, size / 2)."""
    speed = _SLOWEST ** (-np.arange(0, size, 2) / size)
    angle = np.arange(words)[:, None] * speed
    return np.stack([np.cos(angle), np.sin(angle)]).astype(np.float32)


def _turned(x: np.ndarray, turns: np.ndarray | None) -> np.ndarray:
    if turns is None:
        return x
    a, b = np.split(x, 2, axis=1)
    return np.hstack([a * turns[0] - b * turns[1], a * turns[1] + b * turns[0]])
