"""A document as a file stores it: tokens as one run of bytes, never as Python strings.

Building and checking a data set goes through 24 million tokens; making a string of each takes longer than
all the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ..late import np
from .book import Book, Counted


class TokenBytes:
    """Tokens in UTF-8, each followed by a zero byte (`tokens_sha256` hashes just that).

    Args:
        data: the bytes.
        ends: for every token, the offset in `data` after its zero byte; shape (tokens,).
    """

    __slots__ = ("data", "ends")

    def __init__(self, data: bytes | memoryview, ends: np.typing.NDArray[np.integer]) -> None:
        self.data, self.ends = memoryview(data), ends

    @classmethod
    def of(cls, tokens: Sequence[str]) -> TokenBytes:
        """Encode tokens."""
        made = cls.of_joined("\0".join([*tokens, ""]).encode("utf-8", "surrogatepass"))
        if len(made) == len(tokens):
            return made
        # Zero bytes inside tokens, too: measure every token, which takes longer.
        sizes = (len(token.encode("utf-8", "surrogatepass")) + 1 for token in tokens)
        return cls(made.data, np.cumsum(np.fromiter(sizes, np.int64, len(tokens))))

    @classmethod
    def of_joined(cls, data: bytes) -> TokenBytes:
        """Tokens that are encoded already, where none holds a zero byte itself."""
        return cls(data, np.flatnonzero(np.frombuffer(data, np.uint8) == 0) + 1)

    def __len__(self) -> int:
        return len(self.ends)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenBytes):
            return NotImplemented
        # Without the ends, "a\0b" and "a", "b" would be the same.
        return np.array_equal(self.ends, other.ends) and np.array_equal(self._octets(), other._octets())

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, run: slice) -> TokenBytes:
        """A run of the tokens; it shares the bytes."""
        first, last, _ = run.indices(len(self))
        ends = self.ends[first:last]
        start = int(self.ends[first - 1]) if first else 0
        return TokenBytes(self.data[start : int(ends[-1]) if len(ends) else start], ends - start)

    def words(self) -> list[str]:
        """The tokens as strings."""
        words = str(self.data, "utf-8", "surrogatepass").split("\0")
        words.pop()  # Every token is followed by a zero, so nothing stands behind the last one.
        if len(words) == len(self):
            return words
        places = pairwise([0, *self.ends.tolist()])
        return [str(self.data[a : b - 1], "utf-8", "surrogatepass") for a, b in places]

    def without_zeros(self) -> tuple[bytes, np.typing.NDArray[np.int32]]:
        """(the bytes of the tokens alone, where each begins and the last one ends; shape (tokens + 1,))."""
        bare = bytes(self.data).replace(b"\0", b"")
        if len(bare) + len(self) != len(self.data):
            bare = np.delete(self._octets(), self.ends - 1).tobytes()
        offsets = np.zeros(len(self) + 1, np.int32)
        offsets[1:] = self.ends
        offsets -= np.arange(len(self) + 1, dtype=np.int32)
        return bare, offsets

    def sha256(self) -> str:
        """What `tokens_sha256` gives for the tokens."""
        return hashlib.sha256(self.data).hexdigest()

    def _octets(self) -> np.typing.NDArray[np.uint8]:
        return np.frombuffer(self.data, np.uint8)


@dataclass(frozen=True, slots=True)
class StoredBook(Counted):
    """A `Book` whose words stay bytes. Raises BookError as `Book` does."""

    tokens: TokenBytes

    @classmethod
    def of(cls, book: Book | StoredBook) -> StoredBook:
        """The book with its words encoded."""
        if isinstance(book, StoredBook):
            return book
        return cls(
            book.doc_key, book.gutenberg_key, TokenBytes.of(book.tokens), book.sentence_ends, book.clusters,
            book.characters, book.speakers,
        )  # fmt: skip

    def to_book(self) -> Book:
        """The book with its words as strings."""
        return Book(
            self.doc_key, self.gutenberg_key, tuple(self.tokens.words()), self.sentence_ends, self.clusters,
            self.characters, self.speakers,
        )  # fmt: skip

    def tokens_sha256(self) -> str:
        """Hex sha256 of the token sequence, the same as `Book.tokens_sha256`."""
        return self.tokens.sha256()


def are_parts(windows: Iterable[StoredBook], book: StoredBook) -> bool:
    """Whether the windows hold the tokens of the book, each once and in order."""
    parts = [window.tokens for window in windows]
    starts = accumulate((len(part.data) for part in parts), initial=0)
    ends = [part.ends + start for part, start in zip(parts, starts, strict=False)]
    nothing = np.zeros(0, np.int64)
    together = TokenBytes(b"".join(part.data for part in parts), np.concatenate([nothing, *ends]))
    return together == book.tokens
