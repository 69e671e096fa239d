"""Ask a SPARQL endpoint through SPARQLWrapper: with patience, and with every raw answer kept.

The package itself never retries, reports an overloaded service in six different ways (see `_exchange`) and
takes an HTML page with status 200 for an answer. `SparqlEndpoint.ask` knows these. Answers are kept in a
folder, one file per query, so that an interrupted harvest goes on where it stopped and a finished one can be
replayed without network.
"""

import gzip
import http.client
import json
import urllib.error
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FormatError, OfflineError, SourceError, UsageError, needing
from ..files import sha256_bytes, write_bytes
from ..shapes import check, parse_json
from .http import Fetcher, Retry, retry_after


class Term(NamedTuple):
    """One value of an answer: an IRI or the text of a literal, and the literal's language ("" if none)."""

    value: str
    language: str = ""


Row = dict[str, Term]
Complaint = Callable[[list[Row]], str]
"""What is wrong with rows that cannot be the whole answer, else ""; `CUT_OFF` asks for less."""
CUT_OFF = "as many rows as a service may cut an answer off at"


class TooHeavyError(SourceError):
    """The endpoint cannot answer this query in its time; a smaller one may pass."""


class Archive:
    """A folder of raw answers: `<sha256 of endpoint and query>.json.gz` with query, time and answer.

    A query without an answer is kept as well: `trouble` says what came instead, `refusals` when the service
    itself said that the query takes too long. A replay then asks the same smaller queries again; a new
    harvest asks once more, unless the service refused twice at different times (an outage never counts).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, endpoint: str, query: str) -> Path:
        key = sha256_bytes("\n".join((endpoint, query)).encode())
        return self.folder / f"{key[:40]}.json.gz"

    def read(self, endpoint: str, query: str) -> dict[str, Any] | None:
        """The kept record, or None. Raises FormatError when the file is damaged."""
        path = self.path(endpoint, query)
        if not path.is_file():
            return None
        try:
            kept: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
            return kept
        except (OSError, EOFError, ValueError) as error:
            raise FormatError(
                f"{path} is not a kept answer", found=str(error), hint="delete it; it is asked for again"
            ) from error

    def write(self, endpoint: str, query: str, agent: str, when: datetime, **content: Any) -> dict[str, Any]:
        record = dict(endpoint=endpoint, agent=agent, retrieved=when.isoformat(), query=query, **content)
        data = json.dumps(record, ensure_ascii=False).encode()
        write_bytes(self.path(endpoint, query), gzip.compress(data, 6, mtime=0))
        return record


_BETWEEN_REFUSALS = timedelta(hours=6)


def utc_now() -> datetime:
    """The time now, in UTC, to whole seconds."""
    return datetime.now(timezone.utc).replace(microsecond=0)


@dataclass
class Tally:
    """What an endpoint was asked for: queries answered, read from the archive, and tried again."""

    asked: int = 0
    replayed: int = 0
    retried: int = 0
    too_heavy: int = 0
    first_retrieved: str = ""
    last_retrieved: str = ""

    def dated(self, retrieved: str) -> None:
        self.first_retrieved = min(filter(None, (self.first_retrieved, retrieved)))
        self.last_retrieved = max(self.last_retrieved, retrieved)


@dataclass
class SparqlEndpoint:
    """A SPARQL service and the rules for using it.

    `fetcher` holds the rate, the patience and the offline switch; `agent` is sent as User-Agent and must name
    a contact. `timeout` is how many seconds one query may take. Kept answers older than `max_age_days` are
    asked for anew (None: never). After `give_up_after` queries in a row without an answer the service
    counts as down, so that asking for less and less cannot turn into a flood.
    """

    address: str
    agent: str
    archive: Archive
    fetcher: Fetcher
    timeout: float = 75.0
    max_age_days: float | None = None
    give_up_after: int = 20
    now: Callable[[], datetime] = utc_now
    tally: Tally = field(default_factory=Tally)
    _failures: int = field(default=0, repr=False)

    def ask(self, query: str, complaint: Complaint = lambda rows: "", *, anew: bool = False) -> list[Row]:
        """The rows of a SELECT query, from the archive or from the service.

        An answer with a `complaint` is asked for again, or for less, and is not kept. With `anew` a kept
        answer without rows is asked for again.

        Raises OfflineError: the answer is not kept, and the network is switched off. TooHeavyError: the
        service timed out, or failed on every attempt; ask for less. SourceError: the service is down, refuses
        us, or does not understand the query.
        """
        kept = self.archive.read(self.address, query) or {}
        offline, days = self.fetcher.offline, self.max_age_days
        if kept and not offline and days is not None:
            old = self.now() - datetime.fromisoformat(kept["retrieved"]) > timedelta(days=days)
            kept = {} if old else kept
        # Refused at two times that one bad hour cannot explain
        refused = sorted(map(datetime.fromisoformat, kept.get("refusals", ())))
        for_good = bool(refused) and refused[-1] - refused[0] >= _BETWEEN_REFUSALS
        rows = _rows(kept["answer"]) if "answer" in kept else []
        if "answer" in kept and (offline or not (complaint(rows) or (anew and not rows))):
            self.tally.replayed += 1
        elif kept and "answer" not in kept and (offline or for_good):
            self.tally.replayed += 1
            raise TooHeavyError("this query was too heavy before", found=kept.get("trouble"))
        elif offline:
            what = "an answer of this harvest is not in the archive"
            hint = "run the harvest once without --offline, with the same settings"
            raise OfflineError(what, expected=str(self.archive.path(self.address, query)), hint=hint)
        else:
            kept = self._ask_service(query, complaint)
        self.tally.dated(kept["retrieved"])
        return _rows(kept["answer"])

    def _ask_service(self, query: str, complaint: Complaint) -> dict[str, Any]:
        """Ask, and keep what came: the answer, or that the query is too heavy."""
        faults: list[_Fault] = []

        def once() -> Any:
            answer = self._exchange(query)
            if not isinstance(answer, _Fault) and (wrong := complaint(_rows(answer))):
                answer = _Fault(wrong, heavy=wrong == CUT_OFF, down=wrong != CUT_OFF)
            if not isinstance(answer, _Fault):
                return answer
            faults.append(answer)
            if answer.heavy:
                raise TooHeavyError("the query is too heavy for the endpoint", found=answer.what)
            if answer.fatal:
                raise SourceError(f"{self.address} refuses the query", found=answer.what, hint=answer.hint)
            raise Retry(answer.what, retry_after(answer.retry_after))

        try:
            answer = self.fetcher.retrying(self.address, once)
        except SourceError as error:
            self.tally.retried += max(0, len(faults) - 1)
            if not faults or faults[-1].fatal or faults[-1].down:
                raise
            # Ask for less now; remember for later only that the service itself refused the query.
            fault = faults[-1]
            self._failures += 1
            if self._failures >= self.give_up_after:
                found = f"{fault.what}; {self._failures} queries in a row"
                hint = "run the same command again later; everything fetched so far is kept"
                raise SourceError(f"{self.address} does not answer", found=found, hint=hint) from error
            self.tally.too_heavy += 1
            before = self.archive.read(self.address, query) or {}
            now = self.now()
            refusals = [*before.get("refusals", ()), *([now.isoformat()] if fault.refused else [])]
            self.archive.write(self.address, query, self.agent, now, trouble=fault.what, refusals=refusals)
            raise TooHeavyError("the query is too heavy for the endpoint", found=fault.what) from error
        self._failures = 0
        self.tally.asked += 1
        self.tally.retried += len(faults)
        return self.archive.write(self.address, query, self.agent, self.now(), answer=answer)

    def _exchange(self, query: str) -> Any:
        """The answer as parsed JSON, or the `_Fault` that came instead of it."""
        with needing("harvest", "SPARQLWrapper", "asking a SPARQL endpoint"):
            import SPARQLWrapper as library
        wrapper = library.SPARQLWrapper(self.address, agent=self.agent, returnFormat=library.JSON)
        wrapper.setMethod(library.POST)
        wrapper.setTimeout(max(1, round(self.timeout)))
        wrapper.setQuery(query)
        errors = library.SPARQLExceptions
        try:
            response = wrapper.query().response
            # The JSON answer, or a fault: services send HTML error pages and half answers with status 200.
            body = response.read()
            if "html" in (response.headers.get("Content-Type") or "").lower() or body.lstrip()[:1] == b"<":
                return _Fault("a page of HTML with status 200", down=True)
            with suppress(UnicodeDecodeError, FormatError):
                answer = parse_json(body.decode("utf-8-sig"), self.address)
                check(answer, "sparql_answer", self.address)
                if response.status != 206:  # which is a part
                    return answer
            # A query that times out half-way leaves status 200, rows, and then the service's stack trace.
            told = _says_timeout(body[-4000:].decode("utf-8", "replace"))
            return _Fault(f"not a whole answer ({len(body):,} bytes)", heavy=told, refused=told)
        except errors.QueryBadFormed as error:
            return _Fault(f"400, query not understood: {_short(error)}", fatal=True)
        except errors.EndPointNotFound:
            return _Fault("404", fatal=True, hint="check the address of the endpoint in the recipe")
        except (errors.Unauthorized, errors.URITooLong) as error:
            return _Fault(_short(error), fatal=True)
        except errors.EndPointInternalError as error:
            told = _says_timeout(str(error))
            return _Fault(f"500: {_short(error)}", heavy=told, refused=told)
        except urllib.error.HTTPError as error:
            code = error.code
            after = error.headers.get("Retry-After")
            if code == 429:
                return _Fault("429, too many requests", down=True, retry_after=after)
            if code in (401, 403):
                hint = "name a reachable contact (--contact), and wait before the next try"
                return _Fault(f"{code}, refused", fatal=True, hint=hint)
            if code == 504:
                return _Fault("504, gateway timeout", heavy=True)
            fatal, down = 400 <= code < 500 and code != 408, code in (502, 503)
            return _Fault(str(code), fatal=fatal, down=down, retry_after=after)
        except TimeoutError:
            return _Fault(f"no answer within {self.timeout:.0f} s", heavy=True)
        except urllib.error.URLError as error:
            return _Fault(f"no connection: {error.reason}", down=True)
        except (http.client.HTTPException, ConnectionError) as error:
            return _Fault(f"the answer broke off: {_short(error) or type(error).__name__}")


class _Fault(NamedTuple):
    """Why there is no answer.

    `heavy`: ask for less; `refused`: the service itself says that the query takes too long; `fatal`: never
    ask again; `down`: not served now, whatever is asked.
    """

    what: str
    heavy: bool = False
    fatal: bool = False
    down: bool = False
    refused: bool = False
    retry_after: str | None = None
    hint: str | None = None


def _says_timeout(text: str) -> bool:
    return "timeout" in text.lower() or "timed out" in text.lower()


def _short(error: object) -> str:
    return " ".join(str(error).split())[:200]


def _rows(answer: Any) -> list[Row]:
    """Rows of a SPARQL 1.1 JSON answer (shape "sparql_answer")."""
    return [
        {name: Term(cell["value"], cell.get("xml:lang", "")) for name, cell in row.items()}
        for row in answer["results"]["bindings"]
    ]


def require_contact(contact: str) -> str:
    """Return `contact` if a service could write to it. Raises UsageError: it is neither a mail address nor a
    page; public endpoints refuse anonymous harvests."""
    if "@" not in contact and "://" not in contact:
        what = "a harvest over the network must name whom the service can write to"
        hint = "give --contact, or set `contact` in the recipe"
        raise UsageError(what, expected="a mail address or a web page", found=repr(contact), hint=hint)
    return contact
