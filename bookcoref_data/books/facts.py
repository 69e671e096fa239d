"""What can be said of a book without showing it: counts and checksums."""

import difflib
import hashlib
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from ..errors import UsageError
from ..shapes import check
from .book import Counted, spans_sha256
from .windows import read_window_key

T = TypeVar("T")
# Ends the document key of every book whose annotation was carried over to another edition. Such a book has
# other tokens than the released one, so it must not pass for it anywhere.
REMAPPED_MARK = ".remapped"


def remapped_key(doc_key: str) -> str:
    """The document key of a book in another edition: "emma_158.remapped"."""
    return doc_key if is_remapped(doc_key) else doc_key + REMAPPED_MARK


def is_remapped(doc_key: str) -> bool:
    """Whether a document, or a window of one, was carried over to another edition."""
    window = read_window_key(doc_key)
    return (window.book if window else doc_key).endswith(REMAPPED_MARK)


def released_key(doc_key: str) -> str:
    """The key that the book has in its release, whether it was carried over or not."""
    return doc_key.removesuffix(REMAPPED_MARK)


def books_called(
    names: Sequence[str], books: Sequence[T], where: object, *, several: bool = True,
    keys: Callable[[T], tuple[str, str]] = operator.attrgetter("doc_key", "gutenberg_key"),
) -> list[T]:  # fmt: skip
    """The books that a person names, each by doc_key, Gutenberg id, title, or a part of one doc_key alone.

    Without names these are all books. An id or a title may stand for more than one book, unless only one is
    wanted (`several` is False). `where` says where they are; `keys` gives doc_key and Gutenberg id of a book.
    Raises UsageError: a name fits no book, or too many.
    """
    if not names:
        return list(books)
    known = {keys(book): book for book in books}
    chosen: dict[tuple[str, str], T] = {}
    for name in names:
        slug = name.lower().replace(" ", "_")
        exact = [pair for pair in known if name in pair]
        exact = exact or [pair for pair in known if slug == released_key(pair[0]).rpartition("_")[0].lower()]
        # Part of a number is another book's: what is cut out of a key begins and ends outside of numbers.
        part = re.compile(rf"(?<!\d(?=\d)){re.escape(slug)}(?!(?<=\d)\d)")
        is_part = slug and not slug.isdigit()
        fits = exact or [pair for pair in known if is_part and part.search(pair[0].lower())]
        if not fits or (len(fits) > 1 and not (exact and several)):
            there = [key for key, _ in fits or known]
            near = difflib.get_close_matches(slug, there, n=3, cutoff=0.4)
            what = f"{where} has {'several books' if fits else 'no book'} {name!r}"
            expected = "a doc_key, a Gutenberg id or a title, or a part of one doc_key alone"
            found = f"the books {', '.join(there[:20])}{' ...' if there[20:] else ''}"
            hint = f"did you mean {' or '.join(near)}?" if near else "take one of the books that are there"
            raise UsageError(what, expected=expected, found=found, hint=hint)
        chosen.update((pair, known[pair]) for pair in fits)
    return list(chosen.values())


def one_called(books: Sequence[T], name: str, where: object) -> T:
    """The book that is named, see `books_called`; without a name the only one there is. Raises UsageError:
    several and none is named, or none of this name."""
    if name:
        return books_called([name], books, where, several=False)[0]
    if len(books) != 1:
        keys = ", ".join(map(operator.attrgetter("doc_key"), books[:8])) + (" ..." if books[8:] else "")
        hint = "name one of these; --book KEY" if books else "is this the right file?"
        raise UsageError(f"{where} holds {len(books)} books", expected="one", found=keys or None, hint=hint)
    return books[0]


@dataclass(frozen=True, slots=True)
class BookFacts:
    """Counts and checksums of one built book.

    `document_sha256` covers everything in the row of the full config, in order; `windows_sha256` the same
    for its rows of the split config; `reasons_sha256` is that of its line of reasons, "" where it has none.
    `text` says where the text came from, `check` how its tokens were
    verified:

        manifest        by a token checksum known beforehand
        pack            by the token checksum of a pack
        counts          by the numbers of base tokens, tokens and sentences only
        release         not at all: text embedded in the release
        given           not at all: tokenised text given by the user
        remapped        they are not the released tokens but those of another edition
        other release   they are known not to be the published tokens (release without annotations)
        built           nothing to compare with: made here
    """

    doc_key: str
    gutenberg_key: str
    split: str
    tokens: int
    sentences: int
    characters: int
    clusters: int
    mentions: int
    tokens_sha256: str
    spans_sha256: str
    document_sha256: str
    windows: int
    windows_sha256: str
    text: dict[str, Any] = field(default_factory=dict)
    check: str = "built"
    notes: tuple[str, ...] = ()
    reasons_sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        value = asdict(self) | {"notes": list(self.notes)}
        return value if self.reasons_sha256 else {k: v for k, v in value.items() if k != "reasons_sha256"}

    @classmethod
    def from_dict(cls, value: Any) -> "BookFacts":
        """Read what `to_dict` wrote. Raises ValueError for other fields and other kinds of values."""
        check(value, "book_facts", "the facts", lambda what, **why: ValueError(f"{what}: {why['expected']}"))
        return cls(**(value | {"notes": tuple(value.get("notes", ()))}))


def facts_of(
    book: Counted, windows: Sequence[Counted], split: str, *, text: dict[str, Any] | None = None,
    check: str = "built", notes: Iterable[str] = (), reasons: str = "",
) -> BookFacts:  # fmt: skip
    """Count and hash a book and its windows: of a `StoredBook` much faster than of a `Book`."""
    tokens = book.tokens_sha256()
    return BookFacts(
        doc_key=book.doc_key, gutenberg_key=book.gutenberg_key, split=split, tokens=book.token_count,
        sentences=len(book.sentence_ends), characters=len(book.characters), clusters=len(book.clusters),
        mentions=book.mention_count, tokens_sha256=tokens, spans_sha256=spans_sha256(book.clusters),
        document_sha256=document_sha256(book, tokens), windows=len(windows),
        windows_sha256=_sha256("\n".join(map(document_sha256, windows))), text=text or {}, check=check,
        notes=tuple(notes), reasons_sha256=_sha256(reasons) if reasons else "",
    )  # fmt: skip


def document_sha256(book: Counted, tokens: str = "") -> str:
    """Hex sha256 of everything a row says, in its order: keys, tokens, sentence ends, spans, names.

    `tokens` is the sha256 of the tokens, where it is known already.
    """
    parts = [
        book.doc_key, book.gutenberg_key, tokens or book.tokens_sha256(),
        ",".join(map(str, book.sentence_ends)), "|".join(_spans(cluster) for cluster in book.clusters),
        "\0".join(f"{c.name}\0{_spans(c.mentions)}" for c in book.characters),
    ]  # fmt: skip
    return _sha256("\n".join(parts))


def content_digest(books: Iterable[BookFacts]) -> str:
    """One checksum for a whole data set: the documents of all splits, in order, and their reasons."""
    names = ("split", "doc_key", "document_sha256", "windows", "windows_sha256", "reasons_sha256")
    return _sha256("\n".join(" ".join(str(getattr(b, n)) for n in names).rstrip() for b in books))


def _spans(mentions: Iterable[tuple[int, int]]) -> str:
    return " ".join(f"{a},{b}" for a, b in mentions)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
