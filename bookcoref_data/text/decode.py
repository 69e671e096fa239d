"""Bytes of a text file to characters: byte order mark, UTF-8 or latin-1, universal line ends.

This is the only decoder of the package. What it had to mend stands in the result.
"""

import codecs
import re
from typing import NamedTuple
from unicodedata import normalize

from ..errors import DataError, WrongFileError, listed, plural


class Mended(NamedTuple):
    """Bytes that are no UTF-8 in a file that else is: [start, end) in the file, and what stands for them.

    `start` counts the bytes behind a byte order mark.
    """

    start: int
    end: int
    text: str


class Decoded(NamedTuple):
    """The text with "\\n" line ends and no byte order mark, the encoding that was found, what was mended.

    Of a file with markup `encoding` is its form ("EPUB"), `headings` are the places of its headings
    [start, end), `left_out` says what of it is not in the text ("12 notes"), and `apart` has the kind and the
    text of each such piece.
    """

    text: str
    encoding: str
    mended: tuple[Mended, ...] = ()
    headings: tuple[tuple[int, int], ...] = ()
    left_out: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()

    def note(self, what: str = "the file") -> str:
        """What was mended or left out, in one sentence for a person; "" when nothing was."""
        if self.left_out:
            return f"{what} ({self.encoding}): left out {', '.join(self.left_out)}"
        if self.encoding in _OLD_MACHINES:
            return f"{what}: read as {self.encoding}, which alone makes words of its letters and quotes"
        if not self.mended:
            return ""
        places = listed((f"{m.text!r} at byte {m.start:,}" for m in self.mended), 3)
        return f"{what}: {plural(len(self.mended), 'broken UTF-8 sequence')}, read as {places}"


_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# A file with more broken sequences than this share of its characters (three are always allowed), or with
# more of them than sound characters outside ASCII, is not UTF-8 with a flaw but another encoding.
_MOST_BROKEN = 0.001
_ALWAYS_ALLOWED = 3
_NOT_IN_WINDOWS = b"\x81\x8d\x8f\x90\x9d"
_OLD_MACHINES = ("mac-roman", "cp850")
# What no file of latin-1 or Windows-1252 that was looked at has: a sign inside a word, a capital at the end
# of a lower-case one, a letter between a comma and a blank, a low quote behind a letter.
_ODD = re.compile(
    r"(?<=[a-z])(?![‘’“”´·…\xad‐-—ß-öø-ÿœšžƒ])[\x80-\uffff](?=[a-z])|(?<=[a-z])[À-ÖØ-ÞŠŒŽŸ](?=\s)"
    r"|(?<=[,.!?;])[À-ÖØ-öø-ÿŠŒŽŸšœž](?=\s)|(?<=[a-z])[‚„‰ˆ‹]"
)
# UTF-8 that was read as Windows-1252 (or latin-1) and written as UTF-8 again: "â€œ" for “, "Ã©" for é.
_BYTES = {bytes([b]).decode("cp1252", "ignore") or chr(b): b for b in range(0x80, 0x100)}
_BYTES |= {chr(b): b for b in range(0x80, 0x100)}
_BEHIND = "".join(re.escape(sign) for sign, byte in _BYTES.items() if byte < 0xC0)
_TWICE = re.compile(f"(?:[Â-Å]|â[€\x80])[{_BEHIND}]")
_APART = re.compile("[^\\W\\d_][\u0300-\u036f]+|[\ufb00-\ufb06]")
# What "surrogateescape" leaves in the place of bytes that cannot be decoded.
_BROKEN = re.compile("[\udc80-\udcff]+")


def composed(text: str) -> str:
    """The text as names are typed: a letter and its accents are one character, the ligature "ﬃ" is three."""
    return _APART.sub(lambda found: normalize("NFKC", found[0]), text)


def encoded_once(text: str) -> str:
    """The text as it was before it was encoded twice, where that explains what of it is not ASCII."""
    once, times = _TWICE.subn(lambda found: bytes(map(_BYTES.__getitem__, found[0])).decode(), text)
    rest = sum(not sign.isascii() for sign in text) - sum(map(len, _TWICE.findall(text)))
    return once if times > 1 and times >= 4 * rest else text


def decode(data: bytes, what: str = "text") -> Decoded:
    """Decode as Python's text mode would, without a guess where the bytes are plain.

    A byte order mark decides; else UTF-8 when the bytes are valid UTF-8, or when they are UTF-8 but for a few
    sequences: a single byte among them is read as Windows-1252 (0xE9 is "é", 0x92 a quote), a longer run
    becomes one U+FFFD, and all are listed in `mended`. Else Windows-1252 when its typographic quotes and
    dashes (0x80 to 0x9F) occur and all bytes are defined there; else latin-1, in which Gutenberg's `-8.txt`
    files are written; or what an old Macintosh or DOS wrote, where that alone makes words of them.

    Raises WrongFileError: the bytes hold NUL characters (a binary file). DataError: they contradict their
    byte order mark.
    """
    text, encoding, mended = _decode(data, what)
    if "\0" in text:
        expected = "text in UTF-8, latin-1 or Windows-1252"
        found = f"a NUL character at {text.index(chr(0))}"
        hint = "fetch the plain text file of the book"
        raise WrongFileError(f"{what} is not a text file", expected=expected, found=found, hint=hint)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # The line end of mainframes; beside another one it is a broken "…".
    return Decoded(text if "\n" in text else text.replace("\x85", "\n"), encoding, mended)


def _decode(data: bytes, what: str) -> tuple[str, str, tuple[Mended, ...]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _with_plain_ends(data[len(mark) :], encoding), encoding, ()
            except UnicodeDecodeError as error:
                mended = _mend(data[len(mark) :]) if encoding == "utf-8" else None
                if mended:
                    return mended[0], encoding, mended[1]
                place = len(mark) + _first_broken(data[len(mark) :], encoding)
                other = f"{what} begins with the byte order mark of {encoding} but is not {encoding}"
                hint = "fetch the file again; it may be damaged or pasted together"
                raise DataError(other, found=f"byte {data[place]:#04x} at {place}", hint=hint) from error
    try:
        return _with_plain_ends(data, "utf-8"), "utf-8", ()
    except UnicodeDecodeError:
        if mended := _mend(data):
            return mended[0], "utf-8", mended[1]
    signs = {byte for byte in set(data) if 0x80 <= byte <= 0x9F}
    encoding = "cp1252" if signs and signs.isdisjoint(_NOT_IN_WINDOWS) else "latin-1"
    odd = {encoding: len(_ODD.findall(data.decode(encoding)))}
    odd |= {name: len(_ODD.findall(data.decode(name))) for name in _OLD_MACHINES if odd[encoding] > 1}
    best = min(odd, key=odd.__getitem__)
    encoding = best if 4 * odd[best] <= odd[encoding] else encoding
    return data.decode(encoding), encoding, ()


def _with_plain_ends(data: bytes, encoding: str) -> str:
    """The text with "\\n" line ends where they can be set in the bytes.

    A character of a book takes up to four times the memory of a byte, so a second copy of the text is dear.
    """
    if not encoding.startswith("utf-16"):
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.decode(encoding)


def _first_broken(data: bytes, encoding: str) -> int:
    """The place of the first byte that cannot be decoded."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start
    return len(data)


def _mend(data: bytes) -> tuple[str, tuple[Mended, ...]] | None:
    """(text, what was mended) of UTF-8 with a few broken sequences; None when it is no such file."""
    loose = data.decode("utf-8", "surrogateescape")
    broken = list(_BROKEN.finditer(loose))
    damaged = sum(found.end() - found.start() for found in broken)
    sound = sum(character > "\x7f" for character in loose) - damaged
    if sound <= len(broken) or len(broken) > max(_ALWAYS_ALLOWED, _MOST_BROKEN * len(loose)):
        return None
    pieces: list[str] = []
    mended: list[Mended] = []
    at = place = 0
    for found in broken:
        before = loose[at : found.start()]
        place += len(before.encode("utf-8"))
        size = found.end() - found.start()
        stands = "\ufffd" if size > 1 else data[place : place + 1].decode("cp1252", "replace")
        pieces += [before, stands]
        mended.append(Mended(place, place + size, stands))
        place += size
        at = found.end()
    return "".join([*pieces, loose[at:]]), tuple(mended)
