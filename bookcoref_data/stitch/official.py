"""The official delta: deepdiff opcodes from base tokens to released tokens, read without deepdiff.

The file is one JSON object; its `_iterable_opcodes` maps `root['<gutenberg id>']` to a list of opcodes
over the flat tokens of that book. Everything else in it (`values_changed`, 10 % of the bytes) is
redundant. An opcode says: keep base tokens [t1_from_index, t1_to_index), or put in `new_values`.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ..errors import EditionError, FormatError
from ..shapes import require_text
from .json_stream import JsonStream

MOST_TOKENS = 2**31 - 1
"""Offsets beyond this are no book; the bound keeps them safe in any integer array."""
OPCODES_KEY = "_iterable_opcodes"
_BOOK_KEY = re.compile(r"root\[(['\"]?)(\d{1,10})\1\]\Z")
_TAGS = frozenset({"equal", "replace", "insert", "delete"})
_INDICES = ("t1_from_index", "t1_to_index", "t2_from_index", "t2_to_index")
_NEEDED = {"tag", *_INDICES}


@dataclass(frozen=True, slots=True)
class Delta:
    """What turns the base tokens of one book into its released tokens.

    Step i first copies base tokens [`kept[i, 0]`, `kept[i, 1]`), then adds `added[i]` of the `literals`.
    `base_count` and `released_count` are the token counts the delta was made for.
    """

    gutenberg_id: str
    kept: np.ndarray
    added: np.ndarray
    literals: tuple[str, ...]
    base_count: int
    released_count: int

    def apply(self, base: Sequence[str]) -> list[str]:
        """The released tokens. Raises EditionError: `base` has another number of tokens than the delta was
        made for."""
        if len(base) != self.base_count:
            what = f"book {self.gutenberg_id}: the delta was made for another edition of the text"
            expected = f"{self.base_count:,} base tokens"
            hint = "fetch the edition named in the manifest, or use a pack: it can follow an edition"
            raise EditionError(what, expected=expected, found=f"{len(base):,} base tokens", hint=hint)
        released: list[str] = []
        literals, at = self.literals, 0
        for (start, end), count in zip(self.kept.tolist(), self.added.tolist(), strict=True):
            released += base[start:end]
            if count:
                released += literals[at : at + count]
                at += count
        return released


def _delta(gutenberg_id: str, where: str, opcodes: Iterable[object]) -> Delta:
    """The delta of one book, each opcode checked against the one before."""
    kept, added, literals, base, released = list[tuple[int, int]](), list[int](), list[str](), 0, 0

    def bad(expected: str) -> FormatError:
        return FormatError(
            f"{where}: opcode of book {gutenberg_id} cannot be followed", expected=expected,
            found=repr(opcode)[:200], hint="the delta is damaged or in another layout; fetch it again",
        )  # fmt: skip

    for opcode in opcodes:
        if not isinstance(opcode, dict) or not opcode.keys() >= _NEEDED:
            raise bad(", ".join(("tag", *_INDICES)))
        tag, new = opcode["tag"], opcode.get("new_values") or []
        if type(tag) is not str or tag not in _TAGS or type(new) is not list:
            raise bad("a known tag, and a list of new_values")
        indices = from1, to1, from2, to2 = [opcode[name] for name in _INDICES]
        if not all(type(index) is int and 0 <= index <= MOST_TOKENS for index in indices):
            raise bad(f"whole numbers from 0 to {MOST_TOKENS}")
        size = to1 - from1 if tag == "equal" else len(new)
        if from1 != base or to1 < from1 or from2 != released or to2 - from2 != size:
            raise bad(f"to go on at base token {base} and released token {released}")
        if tag == "equal" or (new and not kept):
            kept.append((from1, to1) if tag == "equal" else (0, 0))
            added.append(0)
        if tag != "equal" and new:
            if not all(type(token) is str and token and "\0" not in token for token in new):
                raise bad("new_values to be non-empty strings without NUL")
            added[-1] += len(new)
            literals += new
        base, released = to1, to2
    what = f"{where}: a token of book {gutenberg_id} is no text"
    require_text(literals, what, "the delta is damaged; fetch it again")
    copied = np.array(kept, dtype=np.int32).reshape(-1, 2)
    put_in = np.array(added, dtype=np.int32)
    return Delta(gutenberg_id, copied, put_in, tuple(literals), base, released)


def read_deltas(pieces: Iterable[str], name: str) -> Iterator[Delta]:
    """One `Delta` per book of an official delta file, in the order of the file, streaming.

    `pieces` is the text of the file in pieces of any size; `name` is used in messages. Memory holds one
    opcode and the compact form of one book at a time.

    Raises FormatError: not JSON, not in the official layout, or opcodes that contradict each other.
    """
    stream = JsonStream(pieces, name)
    if stream.peek() != "{":
        raise FormatError(f"{name} is no deepdiff delta", expected="a JSON object", found=repr(stream.peek()))
    seen: set[str] = set()
    found = False
    for key in stream.members():
        if key != OPCODES_KEY:
            stream.skip()
            continue
        found = True
        for book in stream.members():
            match = _BOOK_KEY.match(book)
            if not match or match[2] in seen:
                what = f"{name}: unexpected or repeated book key {book[:80]!r}"
                hint = "the delta is in another layout than the released one"
                raise FormatError(what, expected="root['<gutenberg id>'], once each", hint=hint)
            seen.add(match[2])
            yield _delta(match[2], name, stream.values())
    stream.finish()
    if not found:
        hint = "the official delta was serialised with its opcodes; this file was not"
        raise FormatError(f"{name} holds no opcodes", expected=f"the key {OPCODES_KEY!r}", hint=hint)


def sentence_ends(tokens: int, lengths: Sequence[int], book: str) -> tuple[int, ...]:
    """Exclusive token offsets of the ends of sentences of the given lengths. Raises EditionError: the lengths
    do not add up to the number of tokens, or one is not positive."""
    ends = tuple(accumulate(lengths))
    if (ends[-1] if ends else 0) != tokens or any(n <= 0 for n in lengths):
        what = f"book {book}: sentence lengths and tokens do not fit"
        expected = f"{ends[-1] if ends else 0:,} tokens in {len(ends):,} non-empty sentences"
        hint = "delta and sentence lengths must come from the same release"
        raise EditionError(what, expected=expected, found=f"{tokens:,} tokens", hint=hint)
    return ends


def delta_to_bytes(delta: Delta, lengths: Sequence[int]) -> bytes:
    """A delta and its book's sentence lengths in compact form: a numpy archive of plain arrays."""
    stream = io.BytesIO()
    np.savez(
        stream,
        kept=delta.kept,
        added=delta.added,
        literals=np.frombuffer("\0".join(delta.literals).encode("utf-8", "surrogatepass"), np.uint8),
        counts=np.array(
            [int(delta.gutenberg_id), delta.base_count, delta.released_count, len(delta.literals)]
        ),
        lengths=np.array(lengths, np.int32),
    )
    return stream.getvalue()


def delta_from_bytes(data: bytes) -> tuple[Delta, list[int]]:
    """The inverse of `delta_to_bytes`: the delta and the sentence lengths."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        gutenberg_id, base, released, literals = arrays["counts"].tolist()
        text = arrays["literals"].tobytes().decode("utf-8", "surrogatepass")
        delta = Delta(
            str(gutenberg_id), arrays["kept"], arrays["added"], tuple(text.split("\0")) if literals else (),
            base, released,
        )  # fmt: skip
        return delta, arrays["lengths"].tolist()
