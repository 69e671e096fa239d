"""Whole numbers as bytes: LEB128 (seven bits a byte, least significant first, high bit = more follows).

Vectorised: a book's pack holds tens of thousands of them. Readers bound counts before they allocate.
"""

import numpy as np

from ..errors import DataError

LIMIT = 1 << 38
"""Values must be smaller: far beyond any offset in a book, and no sum of them overflows 64 bits."""
_MOST_BYTES = 6


def pack_numbers(values: np.ndarray | list[int]) -> bytes:
    """Encode non-negative whole numbers below `LIMIT`. Raises DataError: a number is out of range."""
    numbers = np.asarray(values, dtype=np.int64)
    if numbers.size == 0:
        return b""
    if numbers.min() < 0 or numbers.max() >= LIMIT:
        raise DataError("a number does not fit the pack", expected=f"0 to {LIMIT - 1}")
    shifts = 7 * np.arange(_MOST_BYTES)
    groups = numbers[:, None] >> shifts
    used = groups > 0
    used[:, 0] = True
    follows = np.zeros_like(used)
    follows[:, :-1] = used[:, 1:]
    return ((groups & 0x7F) | (follows << 7)).astype(np.uint8)[used].tobytes()


def unpack_numbers(data: bytes, what: str = "pack") -> np.ndarray:
    """Decode a whole buffer of numbers to int64; memory is at most eight times the buffer. Raises DataError:
    the buffer ends inside a number, or a number is too long or too large."""
    octets = np.frombuffer(data, dtype=np.uint8)
    if octets.size == 0:
        return np.zeros(0, dtype=np.int64)
    last = octets < 0x80
    if not last[-1]:
        raise DataError(f"{what} ends inside a number", hint="the file is damaged; fetch it again")
    if last.all():
        return octets.astype(np.int64)
    ends = np.flatnonzero(last)
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    longest = int(lengths.max())
    if longest > _MOST_BYTES:
        raise DataError(f"{what} holds a number of {longest} bytes", expected=f"at most {_MOST_BYTES}")
    values = octets[starts].astype(np.int64) & 0x7F
    for step in range(1, longest):
        more = lengths > step
        values[more] |= (octets[starts[more] + step].astype(np.int64) & 0x7F) << (7 * step)
    if values.max() >= LIMIT:
        raise DataError(f"{what} holds the number {values.max()}", expected=f"below {LIMIT}")
    return values


def pack_increasing(positions: np.ndarray) -> bytes:
    """Encode strictly increasing positions as the differences to their predecessors, minus one."""
    return pack_numbers(np.diff(np.asarray(positions, dtype=np.int64), prepend=-1) - 1)


def unpack_increasing(data: bytes, end: int, what: str = "pack") -> np.ndarray:
    """Decode strictly increasing positions below `end`. Raises DataError: more positions than there is room
    for, or one beyond `end`."""
    steps = unpack_numbers(data, what)
    if steps.size > end:
        raise DataError(f"{what} holds {steps.size} positions", expected=f"at most {end}")
    positions = np.cumsum(steps + 1) - 1
    if positions.size and positions[-1] >= end:
        raise DataError(f"{what} points outside its text", expected=f"below {end}", found=int(positions[-1]))
    return positions
