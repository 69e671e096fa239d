"""Addresses of archived pages, and the pages behind them: polite, kept, with a status for each.

An archived address is `<archive>/web/<stamp><flag>/<original>`. It is always taken apart first and links are
joined with the original: `urljoin` on the whole collapses the inner "https://", and a root-relative link
loses the archive altogether. Pages are asked for with the flag `id_`, which returns the stored bytes
without the archive's toolbar and rewritten links.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from ..errors import FormatError, OfflineError, SourceError, UsageError
from ..files import sha256_bytes, write_bytes, write_text
from .http import Fetcher, HttpResponse, Retry
from .sparql import utc_now

_ARCHIVED = re.compile(r"(https?://[^/]+/web/)(\d{1,14}|\*)([a-z]{2}_)?/(.+)", re.DOTALL)
_LINK = re.compile(r"(?:https?://[^/]+)?/web/(?:\d{1,14}|\*)(?:[a-z]{2}_)?/(https?:/.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Archived:
    """An archived address in its parts; `str()` puts them together again unchanged.

    `archive` ends in "/web/", `stamp` is any prefix of yyyyMMddhhmmss (often only a year), `flag` is "" or
    "id_" and the like.
    """

    archive: str
    stamp: str
    flag: str
    original: str

    def __str__(self) -> str:
        return f"{self.archive}{self.stamp}{self.flag}/{self.original}"

    def at(self, href: str) -> "Archived":
        """The address of a link on this page, in the same snapshot."""
        return replace(self, original=join(self.original, href))

    def years_earlier(self, years: int) -> "Archived":
        """The same page so many years before; the rest of the stamp stays."""
        return replace(self, stamp=f"{int(self.stamp[:4]) - years:04d}{self.stamp[4:]}")


def parse_address(address: str) -> Archived | None:
    """The parts of an archived address; None when it is not one."""
    match = _ARCHIVED.fullmatch(address)
    return Archived(match[1], match[2], match[3] or "", match[4]) if match else None


def original_of(href: str) -> str:
    """A link without the archive's prefix, if it has one."""
    match = _LINK.fullmatch(href)
    return re.sub(r"^(https?:)/+", r"\1//", match[1]) if match else href


def join(original: str, href: str) -> str:
    """Resolve a link of a page (archived or not) against the page's original address."""
    return urljoin(original, original_of(href.strip()))


def same_page(one: str, other: str) -> bool:
    """Whether two original addresses are one page to the archive: scheme, case, `www.`, end slash aside."""

    def key(address: str) -> str:
        parts = urlsplit(address.lower())
        query = f"?{parts.query}" if parts.query else ""
        return parts.netloc.removeprefix("www.").split(":")[0] + parts.path.rstrip("/") + query

    return key(one) == key(other)


# --- pages ----------------------------------------------------------------------------------------------

OK = "ok"
OTHER_SNAPSHOT = "other snapshot"
LEFT_ARCHIVE = "left the archive"
NOT_ARCHIVED = "not archived"
EXCLUDED = "excluded"
ARCHIVED_ERROR = "error page in the archive"
ARCHIVED_REDIRECT = "redirect in the archive"
UNREACHABLE = "unreachable"
TOO_NEW = "too new"
EMPTY_BODY = "empty body"
UNCERTAIN = "without Memento-Datetime"
FINAL = frozenset({OK, NOT_ARCHIVED, EXCLUDED, ARCHIVED_ERROR})
"""Statuses that asking again would not change; pages with others are fetched anew by the next run."""

_ANSWERS = (400, 403, 404, 410, 451, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What is known of one page: asked for, served, when, and what came of it."""

    address: str
    status: str
    served: str = ""
    stamp: str = ""
    http_status: int = 0
    sha256: str = ""
    retrieved: str = ""
    detail: str = ""


@dataclass
class PageStore:
    """Archived pages in a folder: `<key>.html.gz` and `<key>.json` (a `FetchedPage`) per address.

    `strict` accepts only the snapshot asked for (LiSCU's rule); otherwise the archive's nearest is taken
    and its stamp recorded (most BookWorm stamps are wishes). A snapshot from `ceiling` on is refused, and
    one to four years earlier asked for. `archive` replaces the archive's own address, for a mirror.
    """

    folder: Path
    fetcher: Fetcher
    strict: bool = False
    ceiling: str = ""
    archive: str = ""
    now: Callable[[], datetime] = utc_now

    def get(self, address: str, *, anew: bool = False) -> tuple[FetchedPage, bytes]:
        """The record and the bytes of a page (empty unless its status is "ok"), kept or fetched.

        With `anew` a kept page is fetched again that may hold words of the archive itself (`UNCERTAIN`).

        Raises UsageError: not an archived address. OfflineError: the page is not kept, and the network is
        switched off. FormatError: a kept page is damaged.
        """
        parts = parse_address(address)
        if parts is None:
            what = f"{address!r} is not an archived address"
            raise UsageError(what, expected="https://web.archive.org/web/<stamp>/<address of the page>")
        note, page = self._path(address, ".json"), self._path(address, ".html.gz")
        kept = None
        if note.is_file():
            hint = "delete it; the page is fetched again"
            try:
                record = FetchedPage(**json.loads(note.read_text(encoding="utf-8")))
                body = gzip.decompress(page.read_bytes()) if record.status == OK else b""
            except (OSError, EOFError, ValueError, TypeError, zlib.error) as error:
                raise FormatError(f"{note} is not a kept page", found=str(error), hint=hint) from error
            if record.status == OK and sha256_bytes(body) != record.sha256:
                raise FormatError(f"{page} was changed", hint=hint)
            kept = record, body
        again = anew and kept and kept[0].detail == UNCERTAIN
        if kept and ((kept[0].status in FINAL and not again) or self.fetcher.offline):
            return kept
        if self.fetcher.offline:
            raise OfflineError(
                f"{address} is not among the kept pages", expected=str(self._path(address, ".json")),
                hint="run the harvest once without --offline",
            )  # fmt: skip
        record, body = self._fetch_once(address, parts)
        for years in range(1, 5):
            if record.status != TOO_NEW:
                break
            record, body = self._fetch_once(address, parts.years_earlier(years))
        if record.status == OK:
            write_bytes(self._path(record.address, ".html.gz"), gzip.compress(body, 6, mtime=0))
        write_text(self._path(record.address, ".json"), json.dumps(asdict(record), ensure_ascii=False))
        return record, body

    def _path(self, address: str, suffix: str) -> Path:
        key = sha256_bytes(f"{'strict ' if self.strict else ''}{address}".encode())[:40]
        return self.folder / f"{key}{suffix}"

    def _fetch_once(self, address: str, asked: Archived) -> tuple[FetchedPage, bytes]:
        url = str(replace(asked, flag="id_", archive=self.archive or asked.archive))
        blank = FetchedPage(address, UNREACHABLE, retrieved=self.now().isoformat())

        def sound(*, again: bool) -> HttpResponse:
            answer = self.fetcher.get(url, allow=_ANSWERS)
            if answer.status >= 500 and "memento-datetime" not in answer.headers:
                # Errors of the archive itself may pass; captured errors carry Memento-Datetime.
                if again:
                    raise Retry(f"status {answer.status}")
                return self.fetcher.retrying(url, lambda: sound(again=True))
            return answer

        try:
            page = sound(again=False)
        except SourceError as error:
            return replace(blank, detail=f"{error.what}: {error.found}"), b""
        body = plain_bytes(page.content)
        served = parse_address(page.url)
        known = replace(blank, served=page.url, stamp=served.stamp if served else "", http_status=page.status,
                        sha256=sha256_bytes(body))  # fmt: skip
        status = self._judge(page, body, asked, served)
        detail = UNCERTAIN if status == OK and "memento-datetime" not in page.headers else ""
        return replace(known, status=status, detail=detail), body if status == OK else b""

    def _judge(self, page: HttpResponse, body: bytes, asked: Archived, served: Archived | None) -> str:
        if page.status >= 400:
            if "memento-datetime" in page.headers:
                return ARCHIVED_ERROR
            return EXCLUDED if page.status in (403, 451) else NOT_ARCHIVED
        if served is None:
            return LEFT_ARCHIVE
        words = b" ".join(body.split())
        if b"response at crawl time" in words and b"impatient" in words:
            return ARCHIVED_REDIRECT  # the archive's notice of it, which comes with status 200
        if self.strict and not (served.stamp == asked.stamp and same_page(served.original, asked.original)):
            return OTHER_SNAPSHOT
        if self.ceiling and served.stamp.ljust(14, "0") >= self.ceiling:
            return TOO_NEW
        return OK if body.strip() else EMPTY_BODY


def plain_bytes(body: bytes) -> bytes:
    """Unpack a body that is still gzip, as originals stored packed are; b"" when it is not whole."""
    if body[:2] != b"\x1f\x8b":
        return body
    packed = zlib.decompressobj(31)
    try:
        plain = packed.decompress(body)
    except zlib.error:
        return b""
    return plain if packed.eof else b""
