"""Pages and files over HTTP: polite (rate, back-off, Retry-After), bounded, resumed, checked before they
are in place.

`Fetcher.get` is for pages that fit in memory, `Fetcher.download` for files, `Fetcher.retrying` lends
manners (rate, back-off, Retry-After, offline switch) to a client that opens its own connections.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar
from urllib.parse import urljoin, urlsplit

from .. import __version__
from ..errors import OfflineError, SourceError, UsageError
from ..files import write_text
from ..late import requests
from ..progress import Progress, Silent, begun
from .deadline import Sockets, Watch, watched_session
from .store import CacheError

T = TypeVar("T")
_NO_HEADERS: Mapping[str, str] = {}

# Answers that a later try may change: time-outs, too many requests, server and gateway trouble.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_PIECE = 1 << 14  # at most this much is lost when a connection breaks
_MIB = 1 << 20
_REDIRECTS = 10
# A host that refuses connections is tried this often, one that stays silent that often. Then it is left out
# for the rest of the run, so that 52 books without a network fail in seconds, not in an hour.
_UNREACHABLE_TRIES = 3
_SILENT_TRIES = 2
# Waits that are shorter are not worth a line.
_LEAST_REPORTED = 2.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Manners towards a host.

    per_second     requests per second and host; 0 means no limit (for a mirror of one's own)
    attempts       tries for one address before it is given up
    first_wait     seconds before the second try; doubles with each further try, with jitter
    longest_wait   no wait is longer; a host that asks for more (Retry-After) is given up at once
    """

    per_second: float = 1.0
    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 120.0

    def __post_init__(self) -> None:
        if self.per_second < 0 or self.attempts < 1 or self.first_wait < 0 or self.longest_wait < 0:
            raise UsageError("a pace cannot be negative", found=repr(self), hint="use 0 for no limit")

    def back_off(self, attempt: int, draw: Callable[[], float] = random.random) -> float:
        """Seconds to wait after the failed try number `attempt` (from 1).

        Half of the doubling wait is fixed and half is drawn, so that many clients do not return at once.
        """
        full = min(self.first_wait * 2 ** (attempt - 1), self.longest_wait)
        return float(full / 2 + full / 2 * draw())


class Turns:
    """Gives every host one turn per 1/`per_second` seconds; safe between threads."""

    def __init__(
        self, per_second: float, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._gap = 1 / per_second if per_second else 0.0
        self._clock, self._sleep = clock, sleep
        self._next: dict[str, float] = {}
        self._guard = threading.Lock()

    def wait(self, host: str) -> None:
        """Return when it is this caller's turn at `host`."""
        with self._guard:
            now = self._clock()
            turn = max(now, self._next.get(host, now))
            self._next[host] = turn + self._gap
        if turn > now:
            self._sleep(turn - now)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, 10.2.3): a number or an HTTP date.

    None when the header is absent or cannot be read; 0 for a date gone by.
    """
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - (now or datetime.now(timezone.utc))).total_seconds())


class Retry(Exception):
    """Raised inside `Fetcher.retrying` for a fault that may pass; `wait` is what the host asked for.

    `give_up_after`: with so many tries that ended like this the host is left out for the rest of the run;
    0 for a fault that says nothing of the host.
    """

    def __init__(self, reason: str, wait: float | None = None, *, give_up_after: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.wait, self.give_up_after = reason, wait, give_up_after


class HttpResponse(NamedTuple):
    """An answer held in memory; `url` is where redirects ended, header names are lower case."""

    url: str
    status: int
    headers: dict[str, str]
    content: bytes


class Download(NamedTuple):
    """A file in its place; `resumed` counts the bytes kept from an earlier try."""

    path: Path
    bytes: int
    url: str
    resumed: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to connect, until the answer begins and for each 16 kB of it, and for one whole answer; the
    most bytes of a file and a page."""

    connect: float = 10.0
    silence: float = 30.0
    answer: float = 1800.0
    file_bytes: int = 64 * _MIB
    page_bytes: int = 16 * _MIB


def agent_string(contact: str | None = None, library: str = "requests") -> str:
    """`bookcoref-data/<version> (<address or purpose>; <contact>) <library>/<version>`.

    The form is the one of Wikimedia's user-agent policy: the project, whom to write to, the library used.
    """
    from importlib import metadata

    # This project's own address in the installed metadata; never that of a data set or a paper
    entries, version = list[str](), ""
    with contextlib.suppress(metadata.PackageNotFoundError):
        entries = metadata.metadata("bookcoref-data").get_all("Project-URL") or []
    with contextlib.suppress(metadata.PackageNotFoundError):
        version = f" {library}/{metadata.version(library)}"
    addresses = dict(entry.split(", ", 1) for entry in entries if ", " in entry)
    own = [f"+{addresses[name]}" for name in ("Repository", "Homepage") if name in addresses]
    about = [*(own or ["toolkit for book-scale coreference data"])[:1], *([contact] if contact else [])]
    return f"bookcoref-data/{__version__} ({'; '.join(about)}){version}"


def check_address(url: str) -> str:
    """Return the host of an http(s) address; refuse any other (file:, ftp:, no host, user names). Raises
    UsageError: not an address that may be fetched."""
    try:
        parts = urlsplit(url)
        host, user = parts.netloc.lower(), parts.username
    except ValueError:
        host, user, parts = "", None, None
    if parts is None or parts.scheme not in ("http", "https") or not host or user is not None:
        raise UsageError(f"cannot fetch from {url!r}", expected="an http(s) address without a user name")
    return host


class Fetcher:
    """One client for all hosts. Nothing is imported or opened before the first request.

    `offline` refuses every request before a socket exists. `sleep` and `draw` (the jitter) are for tests.
    """

    def __init__(
        self, pace: Pace | None = None, limits: Limits | None = None, *, offline: bool = False,
        contact: str | None = None, progress: Progress | None = None,
        sleep: Callable[[float], None] = time.sleep, draw: Callable[[], float] = random.random,
    ) -> None:  # fmt: skip
        self.pace, self.limits, self.offline = pace or Pace(), limits or Limits(), offline
        self.progress = progress or Silent()
        self._contact, self._sleep, self._draw = contact, sleep, draw
        self._turns = Turns(self.pace.per_second, sleep=sleep)
        self._given_up: dict[str, str] = {}
        self._sockets = Sockets()

    @cached_property
    def _session(self) -> requests.Session:
        session = watched_session(self._sockets)
        session.headers["User-Agent"] = agent_string(self._contact)
        session.max_redirects = _REDIRECTS
        return session

    def retrying(self, url: str, once: Callable[[], T]) -> T:
        """Call `once` at this host's rate until it returns; a `Retry` it raises costs one try.

        Raises OfflineError: the network is switched off; `once` was not called. SourceError: all tries
        failed, or the host asks for a longer wait than allowed. UsageError: not an http(s) address.
        """
        host = check_address(url)
        if self.offline:
            hint = "run once without --offline, or give local files (--mirror DIR, --release DIR)"
            raise OfflineError(f"{url} is needed, but the network is switched off", hint=hint)
        what, hint = f"cannot fetch {url}", "check the network and run the same command again"
        hint += "; what is fetched is kept"
        # Fail at once for a host that was given up in this run
        if host in self._given_up:
            found = f"{self._given_up[host]} ({host} was given up in this run)"
            raise SourceError(what, found=found, hint=hint)
        for attempt in range(1, self.pace.attempts + 1):
            self._turns.wait(host)
            try:
                return once()
            except Retry as again:
                fault = again
            if (fault.wait or 0) > self.pace.longest_wait:
                what = f"{host} asks to come back in {fault.wait:.0f} s"
                self._give_up(host, what)
                expected = f"a wait of at most {self.pace.longest_wait:.0f} s"
                hint = "run the same command later; what is fetched is kept"
                raise SourceError(what, expected=expected, found=f"{fault.reason} for {url}", hint=hint)
            if fault.give_up_after and attempt >= fault.give_up_after:
                self._give_up(host, fault.reason)
                break
            if attempt < self.pace.attempts:
                seconds = max(self.pace.back_off(attempt, self._draw), fault.wait or 0)
                if seconds >= _LEAST_REPORTED:
                    self.progress.note(
                        f"{host}: {fault.reason}; asked again in {seconds:.0f} s "
                        f"(try {attempt + 1} of {self.pace.attempts})"
                    )
                self._sleep(seconds)
        raise SourceError(what, found=f"{fault.reason} (after {attempt} tries)", hint=hint)

    def _give_up(self, host: str, reason: str) -> None:
        self._given_up[host] = reason
        self.progress.note(f"{host} is left out for the rest of this run: {reason}")

    def get(
        self, url: str, *, headers: Mapping[str, str] = _NO_HEADERS, allow: Collection[int] = (),
        max_bytes: int | None = None,
    ) -> HttpResponse:  # fmt: skip
        """Fetch a page into memory. Statuses from 400 on are errors unless listed in `allow`.

        Raises: as `retrying`; SourceError also for a lasting status (404, ...), a redirect loop, or more
        than `max_bytes`.
        """
        most = max_bytes or self.limits.page_bytes

        def once() -> HttpResponse:
            with self._open(url, headers, allow=allow) as (answer, watch):
                content = bytearray()
                for piece in self._pieces(answer, watch):
                    content += piece
                    _hold_limit(url, len(content), most)
                _hold_length(_length(answer), len(content))
                named = {name.lower(): value for name, value in answer.headers.items()}
                return HttpResponse(answer.url, answer.status_code, named, bytes(content))

        return self.retrying(url, once)

    def download(
        self, url: str, target: Path, *, check: Callable[[Path], object] | None = None,
        max_bytes: int | None = None, label: str | None = None, same_host: bool = False,
    ) -> Download:  # fmt: skip
        """Fetch a file to `target`, which appears only when it is whole and accepted.

        An interrupted transfer leaves a `.part` file beside the target; the next call goes on where it
        stopped if the server can (Range with If-Range), and starts anew if the file has changed or
        nothing vouches that it has not. `check(path)` looks at the whole file before it is moved and
        raises to refuse it. One process at a time per target: hold a `Store.lock`. `same_host` refuses
        redirects to another host.

        Raises: as `get`; whatever `check` raises; CacheError when the disk is full or the folder cannot be
        written. In all these cases nothing is left in place.
        """
        part = _PartialFile(target)
        most = max_bytes or self.limits.file_bytes
        try:
            got = self.retrying(url, lambda: self._transfer(url, part, most, label or target.name, same_host))
            if check:
                check(part.path)
            part.finish()
        except SourceError:
            raise  # the transfer stopped: what has come is kept, as after Ctrl-C
        except Exception:
            part.drop()
            raise
        return got

    def _transfer(self, url: str, part: _PartialFile, most: int, label: str, same_host: bool) -> Download:
        """One try: open, continue or restart the part file, and read to the end."""
        kept, validator = part.state(url)
        headers = {"Accept-Encoding": "identity"}
        if kept and validator:
            headers |= {"Range": f"bytes={kept}-", "If-Range": validator}
        with self._open(url, headers, allow=(416,), same_host=same_host) as (answer, watch):
            if answer.status_code == 416:
                part.drop()
                raise Retry("the server refused to continue the transfer")
            total = _length(answer)
            if answer.status_code == 206:
                # The whole length that a 206 answer names; a range that does not join ours is thrown away
                stated = answer.headers.get("Content-Range", "").strip()
                fits = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", stated)
                if not fits or int(fits[1]) != kept or not kept:
                    part.drop()
                    raise Retry("the server sent another range than it was asked for")
                total = None if fits[2] == "*" else int(fits[2])
            else:
                # If-Range may carry a strong ETag, else Last-Modified, else nothing (RFC 9110, 13.1.5).
                kept, tag = 0, answer.headers.get("ETag", "")
                mark = tag if tag.startswith('"') else answer.headers.get("Last-Modified")
                plain = answer.headers.get("Content-Encoding", "identity").lower() == "identity"
                part.begin(url, mark if plain else None)
            _hold_limit(url, total or 0, most, part)
            with begun(self.progress, label, total, "bytes") as advance, part.appending() as (stream, size):
                advance(kept)
                for piece in self._pieces(answer, watch):
                    size += len(piece)
                    _hold_limit(url, size, most, part)
                    part.write(stream, piece)
                    advance(len(piece))
            _hold_length(total, size, part)
            return Download(part.target, size, answer.url, kept)

    def _pieces(self, answer: requests.Response, watch: Watch) -> Iterator[bytes]:
        """The body in pieces; a broken or a trickling connection becomes `Retry`."""
        limits = self.limits
        end = time.monotonic() + limits.answer
        try:
            watch.allow(min(limits.silence, limits.answer))
            for piece in answer.iter_content(_PIECE):
                yield piece
                # Leave a moment, so that the watch can still see that the whole time is used up.
                watch.allow(min(limits.silence, max(0.0, end - time.monotonic())))
        except requests.RequestException as error:
            if not watch.expired:
                silent = isinstance(error.args[0], Exception) and "timed out" in str(error)
                tries = _SILENT_TRIES if silent else 0
                raise Retry(f"the connection broke off: {_plain(error)}", give_up_after=tries) from error
        # A cut connection may also look like an orderly end.
        if watch.expired:
            if time.monotonic() >= end:
                raise Retry(f"the answer took longer than {limits.answer:g} s", give_up_after=_SILENT_TRIES)
            raise Retry(f"less than 16 kB came in {limits.silence:g} s", give_up_after=_SILENT_TRIES)

    @contextlib.contextmanager
    def _open(
        self, url: str, headers: Mapping[str, str], *, allow: Collection[int], same_host: bool = False
    ) -> Iterator[tuple[requests.Response, Watch]]:
        """Send one request; faults that may pass become `Retry`, lasting ones SourceError.

        Yields the answer, whose body is still to be read, and the watch over the request.
        """
        host, limits = check_address(url), self.limits
        waits = limits.connect + limits.silence
        _ = self._session  # what it costs to import the library is no wait for the server

        def notice() -> None:
            self.progress.note(f"waiting for {host} (at most {waits:.0f} s)")

        with (
            Watch(self._sockets, waits, notice) as watch,
            self._sent(url, headers, watch, same_host) as answer,
        ):
            status = f"status {answer.status_code} {answer.reason or ''}".strip()
            if answer.status_code in PASSING and answer.status_code not in allow:
                raise Retry(status, retry_after(answer.headers.get("Retry-After")))
            if answer.status_code >= 400 and answer.status_code not in allow:
                raise SourceError(f"cannot fetch {url}", found=status, hint="try another address")
            yield answer, watch

    def _sent(self, url: str, headers: Mapping[str, str], watch: Watch, same_host: bool) -> requests.Response:
        """The answer to a request, as soon as its header is there."""
        from urllib3.exceptions import NewConnectionError

        hooks = {"response": _refuse_other_hosts} if same_host else {}
        waits = (self.limits.connect, self.limits.silence)
        try:
            return self._session.get(url, headers=dict(headers), stream=True, hooks=hooks, timeout=waits)
        except requests.TooManyRedirects as error:
            raise SourceError(
                f"{url}: redirect loop", found=f"more than {_REDIRECTS} redirects", hint="try another address"
            ) from error
        except (requests.ConnectionError, requests.Timeout) as error:
            if watch.expired:
                raise Retry(f"no whole header in {sum(waits):g} s", give_up_after=_SILENT_TRIES) from error
            if isinstance(error, requests.exceptions.SSLError):
                raise SourceError(
                    f"no secure connection to {url}", found=_plain(error),
                    hint="check the clock and the certificates of this machine",
                ) from error  # fmt: skip
            tries = _SILENT_TRIES if isinstance(error, requests.ReadTimeout) else 0
            # Whether a connection failed to come about, as opposed to breaking off.
            reason = getattr(error.args[0], "reason", None) if error.args else None
            if isinstance(error, requests.ConnectTimeout) or isinstance(reason, NewConnectionError):
                tries = _UNREACHABLE_TRIES
            raise Retry(_plain(error), give_up_after=tries) from error
        except requests.RequestException as error:
            raise SourceError(f"cannot fetch {url}", found=_plain(error)) from error


def _refuse_other_hosts(answer: requests.Response, **_: object) -> None:
    """Stop at a redirect that leads away from the host that was asked."""
    if not answer.is_redirect:
        return
    target = urljoin(answer.url, answer.headers.get("Location", ""))
    here, there = urlsplit(answer.url).hostname, urlsplit(target).hostname
    if here != there:
        answer.close()
        what = f"{answer.url} leads to another host"
        found = f"a redirect to another host, {target}"
        hint = f"if {there} is to be trusted, name it with --mirror"
        raise SourceError(what, expected=f"a file on {here}", found=found, hint=hint)


class _PartialFile:
    """A file on its way: its bytes in `.<name>.part`, where they come from in `.<name>.part.json`."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f".{target.name}.part")
        self._note = target.with_name(f".{target.name}.part.json")

    def state(self, url: str) -> tuple[int, str | None]:
        """(bytes kept, validator) when this address can be continued, else (0, None)."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            size = self.path.stat().st_size
        except (OSError, ValueError):
            return 0, None
        if not isinstance(note, dict) or note.get("url") != url or not note.get("validator") or not size:
            return 0, None
        return size, note["validator"]

    def begin(self, url: str, validator: str | None) -> None:
        """Forget earlier bytes and remember where the coming ones are from."""
        with CacheError.around(self.target.parent):
            self.target.parent.mkdir(parents=True, exist_ok=True)
            open(self.path, "wb").close()
        write_text(self._note, json.dumps({"url": url, "validator": validator}))

    @contextlib.contextmanager
    def appending(self) -> Iterator[tuple[BinaryIO, int]]:
        """(open stream, bytes already there)."""
        with CacheError.around(self.target.parent):
            opened = open(self.path, "ab")  # noqa: SIM115
        with opened as stream:
            yield stream, stream.tell()

    def write(self, stream: BinaryIO, piece: bytes) -> None:
        """Write one piece. A full disk gets its space back: the part file is removed."""
        try:
            stream.write(piece)
            stream.flush()
        except OSError as error:
            self.drop()
            raise CacheError.at(self.target.parent, error) from error

    def finish(self) -> None:
        """Move the whole file into place."""
        with open(self.path, "rb") as stream:
            os.fsync(stream.fileno())
        os.replace(self.path, self.target)
        self._note.unlink(missing_ok=True)

    def drop(self) -> None:
        """Remove every trace."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def _length(answer: requests.Response) -> int | None:
    """The Content-Length, when it counts the bytes that we will hold (no compression on the way)."""
    value = answer.headers.get("Content-Length", "")
    plain = answer.headers.get("Content-Encoding", "identity").lower() == "identity"
    return int(value) if plain and value.isascii() and value.isdigit() else None


def _hold_limit(url: str, size: int, most: int, part: _PartialFile | None = None) -> None:
    if size > most:
        if part:
            part.drop()
        raise SourceError(f"{url} is too large", expected=f"up to {most:,} bytes", found=f"{size:,} or more")


def _hold_length(total: int | None, size: int, part: _PartialFile | None = None) -> None:
    """A short body may be continued; a long one is of no use."""
    if total is None or size == total:
        return
    if size > total and part:
        part.drop()
    raise Retry(f"the body has {size:,} bytes, {total:,} were announced")


def _plain(error: Exception) -> str:
    """The innermost cause in a few words; the libraries' own messages nest three deep."""
    while True:
        causes = (a for a in reversed(error.args) if isinstance(a, Exception))
        inner = getattr(error, "reason", None) or next(causes, None)
        if not isinstance(inner, Exception):
            break
        error = inner
    said = re.sub(r"<[^>]*>(: )?|\b\w+\(host='[^']*', port=\d+\): ", "", str(error))
    text = said.strip() or type(error).__name__
    return text[:200]
