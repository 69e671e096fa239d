"""Texts of Project Gutenberg: from a mirror of one's own, the cache, or several addresses per book.

    Texts(store).get(1342)                          any text that is the book
    for text in Texts(store).candidates(1342): ...  one edition after the other, until one fits

What costs nothing is offered first: files of a mirror folder, then cached files, then the network. Each
wording is offered once. With a mirror, no other address is asked.

A cached text is named after its sha256 and checked each time; a damaged one is removed and fetched again.
A text that the manifest does not know may be a new edition or a damaged transfer. It is kept, but when it
does not fit a book its address is asked once more: two equal answers confirm it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ..errors import BookcorefError, ChecksumError, DataError, OfflineError, SourceError
from ..files import path_of, sha256_bytes, sha256_file
from ..text.decode import Decoded, decode
from ..text.markers import HEAD, ebook_numbers, field, is_cut_off, is_gutenberg, markup_of
from .editions import Address, Edition, Editions, check_id
from .editions import editions as shipped_editions
from .http import Fetcher, check_address
from .store import CacheError, Store, read_note, write_note

MOST_BYTES = 32 << 20
_LEAST_CHARACTERS = 1000
_SHORT = 20_000
_AGAIN = "fetch it from another address; this file was not kept"


def check_book_text(data: bytes, gutenberg_id: str, title: str | None = None) -> Decoded:
    """Decode a text and refuse what cannot be the plain text of this book: its sha256 may be new, since
    Gutenberg changes its files; a web page, a notice of a gateway, half a file or another book are faults.

    `title` is compared only when the header names a title but no eBook number.

    Raises DataError: too large, too short, binary, HTML, mostly not letters, cut off (a START marker without
    an END), or a header that names another book.
    """
    what = f"the text of Gutenberg book {gutenberg_id}"
    if len(data) > MOST_BYTES:
        raise DataError(
            f"{what} is too large", expected=f"at most {MOST_BYTES:,} bytes", found=f"{len(data):,} bytes"
        )
    decoded = decode(data, what)
    text, head = decoded.text, decoded.text[:HEAD]
    if markup_of(text) == "HTML":
        raise DataError(
            f"{what} is a web page, not a text", found=_excerpt(text), hint=f"a captcha? {_AGAIN}"
        )
    least = _LEAST_CHARACTERS if is_gutenberg(text) else _SHORT
    if len(text) < least:
        raise DataError(
            f"{what} is too short to be a book", expected=f"{least:,} characters or more",
            found=f"{len(text):,}: {_excerpt(text)}", hint=_AGAIN,
        )  # fmt: skip
    letters = sum(map(str.isalpha, text[:_SHORT])) / min(len(text), _SHORT)
    if letters < 0.4:
        raise DataError(f"{what} does not read like a book", found=f"{letters:.0%} letters", hint=_AGAIN)
    if is_cut_off(text):
        raise DataError(
            f"{what} is cut off", expected="an END marker, as there is a START marker",
            found=f"{len(data):,} bytes ending in {text[-40:]!r}", hint=_AGAIN,
        )  # fmt: skip
    # The eBook number decides; without one, the title must share a word with the expected one
    numbers, named = ebook_numbers(head), field(head, "Title")
    if numbers:
        if gutenberg_id not in numbers:
            expected = f"eBook #{gutenberg_id}"
            found = f"eBook #{numbers[0]}" + (f", {named}" if named else "")
            raise DataError(f"{what} is another book", expected=expected, found=found, hint=_AGAIN)
    elif named and title and not _words(named) & _words(title):
        raise DataError(f"{what} is another book", expected=title, found=named, hint=_AGAIN)
    return decoded


def _words(title: str) -> set[str]:
    words = set(re.findall(r"\w+", title.casefold()))
    return words - {"the", "a", "an", "of", "and", "in", "or"} or words


def _excerpt(text: str) -> str:
    return repr(" ".join(text[:200].split())[:80])


PART = "texts"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text on disk. `sha256` is of its bytes, `text_sha256` of the decoded text, which is what tells
    editions apart; `known_edition` is None for one that the manifest does not list. `confirmed`: the
    same bytes arrived twice, so they are what the source has and not a damaged transfer."""

    gutenberg_id: str
    path: Path
    sha256: str
    text_sha256: str
    bytes: int
    address: str
    known_edition: Edition | None
    confirmed: bool = False

    @property
    def settled(self) -> bool:
        """Whether asking the same source again cannot give a better text."""
        return self.known_edition is not None or self.confirmed

    @property
    def name(self) -> str:
        """What the text is called."""
        return self.path.name if self.path.name.startswith("pg") else f"Gutenberg {self.gutenberg_id}"

    def to_dict(self) -> dict[str, str]:
        """Where the text came from, without the folders of this computer."""
        address = self.address if "://" in self.address else Path(self.address).name
        return {"name": self.name, "address": address, "sha256": self.sha256}

    def read(self) -> Decoded:
        """The decoded text ("\\n" line ends, no byte order mark) and the encoding found. Raises
        ChecksumError when the file has changed since it was found."""
        data = self.path.read_bytes()
        if (found := sha256_bytes(data)) != self.sha256:
            what, hint = f"{self.path} has changed while it was used", "run the same command again"
            raise ChecksumError(what, expected=self.sha256, found=found, hint=hint)
        return decode(data, str(self.path))


class PlanRow(NamedTuple):
    """What would be done for a book: `action` is mirror, cached, fetch or missing.

    `bytes` is a known length (None when it is not known before fetching); `address` the first place.
    """

    gutenberg_id: str
    title: str | None
    action: str
    address: str | None
    bytes: int | None
    further_addresses: int


class Texts:
    """Finds texts by Gutenberg id. Making one touches neither disk nor network.

    `mirror` is a folder or an http(s) address in Gutenberg's own layout.
    """

    def __init__(
        self, store: Store, mirror: str | Path | None = None, offline: bool = False,
        fetcher: Fetcher | None = None, *, editions: Editions | None = None,
    ) -> None:  # fmt: skip
        self.store, self.editions = store, editions or shipped_editions()
        self.fetcher = fetcher or Fetcher(offline=offline, progress=store.progress)
        self.offline = offline or self.fetcher.offline
        self.mirror_url: str | None = None
        self.mirror_folder: Path | None = None
        if "://" in str(mirror):
            check_address(str(mirror))
            self.mirror_url = str(mirror).rstrip("/")
        elif mirror is not None:
            self.mirror_folder = path_of(mirror)
            if not self.mirror_folder.is_dir():
                raise SourceError(
                    f"there is no mirror folder {self.mirror_folder}",
                    expected="a folder or address in Gutenberg's layout "
                    "(cache/epub/<id>/pg<id>.txt, 1/3/4/1342/...)",
                )

    def get(self, gutenberg_id: str | int) -> TextFile:
        """The first text of the book. Raises as `candidates`."""
        return next(self.candidates(gutenberg_id))

    def candidates(self, gutenberg_id: str | int) -> Iterator[TextFile]:
        """Texts of the book, one per wording, each fetched only when it is asked for; at least one.

        Raises DataError: not a Gutenberg id. SourceError: no address has the book (all are listed with their
        reasons). OfflineError: it would have to be fetched, and the network is switched off.
        """
        book = check_id(gutenberg_id)
        seen: set[str] = set()
        failures: list[str] = []
        for text in self._found(book, failures):
            if text.text_sha256 not in seen:
                seen.add(text.text_sha256)
                yield text
        if not seen:
            found = "\n            ".join(failures) or None
            if self.mirror_folder:
                paths = ", ".join(self.editions.paths_of(book))
                what = f"no text of {self._name(book)} in the mirror {self.mirror_folder}"
                hint = "check the mirror's root folder, or leave --mirror out to fetch the text"
                raise SourceError(what, expected=f"one of {paths}", found=found, hint=hint)
            if self.offline:
                raise OfflineError(
                    f"the text of {self._name(book)} is not in the cache {self.store.root}, "
                    "and the network is switched off",
                    found=found,
                    hint="run once without --offline, or give a local copy with --mirror DIR",
                )
            raise SourceError(
                f"no address has the text of {self._name(book)}", found=found,
                hint="try again later, or give a local copy with --mirror DIR",
            )  # fmt: skip

    def plan(self, gutenberg_ids: Iterable[str | int]) -> list[PlanRow]:
        """What `get` would do for each book; opens no connection and writes nothing."""
        rows = []
        for book in map(check_id, gutenberg_ids):
            title, addresses = self.editions.title_of(book), self._addresses(book)
            if paths := self._mirror_paths(book):
                row = PlanRow(book, title, "mirror", str(paths[0]), paths[0].stat().st_size, len(paths) - 1)
            elif cached := self.cached(book):
                row = PlanRow(book, title, "cached", cached[0].address, cached[0].bytes, len(addresses))
            elif self.offline or not addresses:
                row = PlanRow(book, title, "missing", None, None, 0)
            else:
                # The length of a known edition's file: what a fetch will cost, give or take a new header.
                source = self.editions.books.get(book)
                likely = source.editions[0].files[0].bytes if source and source.editions else None
                row = PlanRow(book, title, "fetch", addresses[0].url, likely, len(addresses) - 1)
            rows.append(row)
        return rows

    def cached(self, gutenberg_id: str | int) -> list[TextFile]:
        """Undamaged texts of the book in the cache: known editions first."""
        book = check_id(gutenberg_id)
        texts = [text for path in self._cached_paths(book) if (text := self._from_cache(book, path))]
        return sorted(texts, key=lambda text: text.known_edition is None)

    # -- finding ------------------------------------------------------------------------------------

    def _found(self, book: str, failures: list[str]) -> Iterator[TextFile]:
        """Texts from all places in order; what cannot be had is noted in `failures`."""
        for path in self._mirror_paths(book):
            try:
                text = self._described(book, path, str(path))
                # Say that a mirror's file is no edition of the manifest: one changed letter looks like this.
                source = self.editions.books.get(text.gutenberg_id)
                if text.known_edition is None and source is not None and source.editions:
                    sums = {f.sha256 for edition in source.editions for f in edition.files}
                    known = " or ".join(f"{s[:16]}…" for s in sorted(sums))
                    self.fetcher.progress.note(
                        f"{text.path}: this is no edition of {self._name(text.gutenberg_id)} that is known "
                        f"(sha256 {text.sha256[:16]}…, expected {known}); "
                        "the file is damaged, was changed, or is a newer edition"
                    )
                yield text
            except (OSError, DataError) as error:
                failures.append(_because(path, error))
        # Remove cached texts that are not what they were, and say so: the search goes on without them
        for path in self._cached_paths(book):
            if self._from_cache(book, path) is None:
                failures.append(f"{path}: damaged since it was fetched, so it was removed")
                self._remove(path, "it is not what was fetched")
        cached = self.cached(book)
        yield from cached
        if self.offline:
            return
        settled = {text.address for text in cached if text.settled}
        done = {a.serves for a in self._addresses(book) if a.url in settled}
        for address in self._addresses(book):
            if address.serves in done:
                continue
            try:
                text = self._fetch(book, address, cached)
            except CacheError:
                raise
            except (SourceError, DataError) as error:
                since = f" (right on {address.right_on})" if address.right_on else ""
                failures.append(_because(address.url + since, error))
                continue
            if text.settled:
                done.add(address.serves)
            yield text

    def _addresses(self, book: str) -> list[Address]:
        """The addresses that may be asked: those of the mirror, or those of the manifest."""
        if self.mirror_folder:
            return []
        if self.mirror_url:
            paths = self.editions.paths_of(book)
            return [Address(f"{self.mirror_url}/{path}", path.split("/")[0]) for path in paths]
        return self.editions.addresses_of(book)

    def _mirror_paths(self, book: str) -> list[Path]:
        """Files of the book in the mirror folder, best first."""
        if not self.mirror_folder:
            return []
        paths = [self.mirror_folder.joinpath(*path.split("/")) for path in self.editions.paths_of(book)]
        return [path for path in paths if path.is_file()]

    def _fetch(self, book: str, address: Address, tried: list[TextFile]) -> TextFile:
        """Download one address into the cache, under the name of its content.

        `tried` are the cached texts that did not fit. One that another process has fetched since is taken.
        """
        folder = self.store.path(PART, book)
        arriving = folder / f"arriving-{sha256_bytes(address.url.encode())[:12]}.txt"
        with self.store.lock(f"{PART}-{book}"):
            before = self.cached(book)
            for text in before:
                if text.address == address.url and (text.settled or text not in tried):
                    return text
            self.fetcher.download(
                address.url, arriving,
                check=lambda path: check_book_text(path.read_bytes(), book, self.editions.title_of(book)),
                max_bytes=MOST_BYTES, label=self._name(book), same_host=self.mirror_url is not None,
            )  # fmt: skip
            with CacheError.around(folder):
                text = self._described(book, arriving, address.url)
                final = arriving.replace(folder / f"{text.sha256}.txt")
            text = replace(text, path=final, confirmed=any(t.sha256 == text.sha256 for t in before))
            facts = {"address": address.url, "bytes": text.bytes, "text_sha256": text.text_sha256}
            write_note(final.with_suffix(".json"), {**facts, "confirmed": text.confirmed})
            for other in before:
                if other.address == address.url and other.sha256 != text.sha256:
                    self._remove(other.path, "it has changed at its source, or arrived damaged")
        return text

    def _described(self, book: str, path: Path, address: str) -> TextFile:
        """Read, check and hash a text file."""
        data = path.read_bytes()
        sha256 = sha256_bytes(data)
        edition = self.editions.known(book, sha256)
        if edition:
            return TextFile(book, path, sha256, edition.text_sha256, len(data), address, edition)
        decoded = check_book_text(data, book, self.editions.title_of(book))
        text_sha256 = sha256_bytes(decoded.text.encode("utf-8"))
        edition = self.editions.known(book, text_sha256)
        return TextFile(book, path, sha256, text_sha256, len(data), address, edition)

    def _cached_paths(self, book: str) -> list[Path]:
        """Text files of the book in the cache that have a note; what is still arriving has none."""
        folder = self.store.path(PART, book)
        notes = sorted(folder.glob("*.json")) if folder.is_dir() else []
        return [path for note in notes if (path := note.with_suffix(".txt")).is_file()]

    def _from_cache(self, book: str, path: Path) -> TextFile | None:
        """A cached text; None when its bytes are not those that its name and its note state."""
        try:
            if sha256_file(path) != path.stem:
                return None
            facts = read_note(path.with_suffix(".json"))
            if facts is None:
                # The text is sound, so its facts can be had again; only its address is lost.
                return self._described(book, path, "an address that is not known")
            text_sha256 = facts["text_sha256"]
            return TextFile(
                book, path, path.stem, text_sha256, facts["bytes"], facts["address"],
                self.editions.known(book, text_sha256), facts.get("confirmed") is True,
            )  # fmt: skip
        except (OSError, KeyError, DataError):
            return None

    def _remove(self, path: Path, why: str) -> None:
        self.fetcher.progress.note(f"removed the cached text {path}: {why}")
        with CacheError.around(path.parent):
            path.unlink(missing_ok=True)
            path.with_suffix(".json").unlink(missing_ok=True)

    def _name(self, book: str) -> str:
        title = self.editions.title_of(book)
        return f"Gutenberg book {book}" + (f" ({title})" if title else "")


def _because(place: object, error: Exception) -> str:
    """One line for a place that did not serve: the reason without the advice."""
    if isinstance(error, BookcorefError):
        return f"{place}: {error.found if isinstance(error, SourceError) and error.found else error.what}"
    return f"{place}: {error}"
