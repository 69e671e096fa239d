"""Is this file the book it should be? Checks for texts whose sha256 nobody knows yet.

Gutenberg changes its files, so an unknown sum is no fault. A web page saved as text, a notice of a
gateway, half a file or another book are.
"""

import re

from ..errors import DataError
from ..text.decode import Decoded, decode
from ..text.markers import ebook_numbers, field, is_cut_off, is_gutenberg, markup_of

MOST_BYTES = 32 << 20
_LEAST_CHARACTERS = 1000
_SHORT = 20_000
_HEAD = 6000
_FETCH_AGAIN = "fetch it from another address; this file was not kept"


def check_book_text(data: bytes, gutenberg_id: str, title: str | None = None) -> Decoded:
    """Decode a text and refuse what cannot be the plain text of this book.

    `title` is compared only when the header names a title but no eBook number.

    Raises:
        DataError: too large, too short, binary, HTML, mostly not letters, cut off (a START marker
            without an END), or a header that names another book.
    """
    what = f"the text of Gutenberg book {gutenberg_id}"
    if len(data) > MOST_BYTES:
        raise DataError(
            f"{what} is too large", expected=f"at most {MOST_BYTES:,} bytes", found=f"{len(data):,} bytes"
        )
    decoded = decode(data, what)
    text, head = decoded.text, decoded.text[:_HEAD]
    if markup_of(text) == "HTML":
        raise DataError(
            f"{what} is a web page, not a text", found=_excerpt(text), hint=f"a captcha? {_FETCH_AGAIN}"
        )
    signed = is_gutenberg(text)
    least = _LEAST_CHARACTERS if signed else _SHORT
    if len(text) < least:
        raise DataError(
            f"{what} is too short to be a book", expected=f"{least:,} characters or more",
            found=f"{len(text):,}: {_excerpt(text)}", hint=_FETCH_AGAIN,
        )  # fmt: skip
    letters = sum(map(str.isalpha, text[:_SHORT])) / min(len(text), _SHORT)
    if letters < 0.4:
        raise DataError(
            f"{what} does not read like a book", found=f"{letters:.0%} letters", hint=_FETCH_AGAIN
        )
    if is_cut_off(text):
        raise DataError(
            f"{what} is cut off", expected="an END marker, as there is a START marker",
            found=f"{len(data):,} bytes ending in {text[-40:]!r}", hint=_FETCH_AGAIN,
        )  # fmt: skip
    # The eBook number decides; without one, the title must share a word with the expected one
    numbers, named = ebook_numbers(head), field(head, "Title")
    if numbers:
        if gutenberg_id not in numbers:
            raise DataError(
                f"{what} is another book",
                expected=f"eBook #{gutenberg_id}",
                found=f"eBook #{numbers[0]}" + (f", {named}" if named else ""),
                hint=_FETCH_AGAIN,
            )
    elif named and title and not _words(named) & _words(title):
        raise DataError(f"{what} is another book", expected=title, found=named, hint=_FETCH_AGAIN)
    return decoded


def _words(title: str) -> set[str]:
    words = set(re.findall(r"\w+", title.casefold()))
    return words - {"the", "a", "an", "of", "and", "in", "or"} or words


def _excerpt(text: str) -> str:
    return repr(" ".join(text[:200].split())[:80])
