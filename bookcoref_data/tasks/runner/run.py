"""Ask a model many things: replies are kept as they come, so that a run resumes where it stopped.

What is asked (`Request`), what is answered (`Reply`), and what every model offers (`Model`).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from ...files import cannot_write, sha256_bytes, unreadable, write_bytes
from ...progress import Progress, Silent
from ...shapes import AsFields, together
from ..folder import Row, jsonl_bytes

CHARACTERS_PER_TOKEN = 4
"""A rough rule for English, for estimates before a run."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt. `key` names it in the answers.

    `pattern` is a regular expression that the whole reply must match, for servers that can constrain
    decoding. `choices` are the only answers wanted, `lead` what the reply says before one of them: a local
    model then decodes nothing but a choice. `system` is the system message, "" for none.
    """

    key: str
    prompt: str
    pattern: str = ""
    choices: tuple[str, ...] = ()
    lead: str = ""
    system: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as a conversation."""
        said = (("system", self.system), ("user", self.prompt))
        return [{"role": role, "content": text} for role, text in said if text or role == "user"]

    def digest(self, settings: Mapping[str, Any]) -> str:
        """Hex sha256 of the prompt, its constraints and the model's settings: the key of the cache."""
        value: list[Any] = [self.prompt, self.pattern, self.choices, self.lead, dict(settings)]
        value += [self.system] if self.system else []
        return sha256_bytes(json.dumps(value, sort_keys=True).encode("utf-8"))


@dataclass(frozen=True, slots=True)
class Reply:
    """The text a model answered, and the tokens it counted (0 where it does not say)."""

    text: str
    prompt_tokens: int
    reply_tokens: int


class Model(Protocol):
    """Something that replies to requests."""

    @property
    def name(self) -> str: ...

    @property
    def parallel(self) -> int:
        """How many requests may run at a time."""

    def settings(self) -> dict[str, Any]:
        """Everything that can change a reply, as JSON values."""

    def reply(self, request: Request) -> Reply:
        """Answer one request; raises SourceError when the model cannot be reached."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Price of a million tokens in the prompt and in the reply, in any currency."""

    prompt: float = 0.0
    reply: float = 0.0

    def cost(self, prompt_tokens: int, reply_tokens: int) -> float:
        return (self.prompt * prompt_tokens + self.reply * reply_tokens) / 1e6


@dataclass(slots=True)
class RunReport(AsFields):
    """What a run asked and what it cost. `cached` replies came from an earlier run and cost nothing now."""

    model: str
    asked: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float = 0.0

    def add(self, other: "RunReport") -> None:
        """Count a further run in."""
        for name in ("asked", "cached", "prompt_tokens", "reply_tokens", "cost"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def ask(
    requests: Iterable[Request], model: Model, cache: Path, *, prices: Prices | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, Reply], RunReport]:  # fmt: skip
    """The reply to every request, by its key.

    `cache` is a JSONL file: one line a reply, with the digest of prompt and settings. Lines are appended as
    replies come and read at the start; a last line that was cut off is dropped. Equal prompts are asked once.

    Raises SourceError: the model does not answer, or the cache cannot be written. Replies so far are kept.
    """
    prices, listener = prices or Prices(), progress or Silent()
    report, replies = RunReport(model.name), {}
    settings = model.settings()
    by_digest = together((request.digest(settings), request) for request in requests)
    known = read_cache(cache)
    todo = []
    for digest, group in by_digest.items():
        if digest in known:
            report.cached += len(group)
            replies.update({r.key: known[digest] for r in group})
        else:
            todo.append((digest, group))
    listener.begin(model.name, len(todo), "replies")
    with _log(cache) if todo else nullcontext(lambda row: None) as add:
        for (digest, group), reply in _replies(todo, model):
            add({
                "digest": digest, "key": group[0].key, "model": model.name, "response": reply.text,
                "prompt_tokens": reply.prompt_tokens, "reply_tokens": reply.reply_tokens,
            })  # fmt: skip
            replies.update({r.key: reply for r in group})
            report.asked += 1
            report.cached += len(group) - 1
            report.prompt_tokens += reply.prompt_tokens
            report.reply_tokens += reply.reply_tokens
            listener.advance(model.name)
    listener.end(model.name)
    report.cost = prices.cost(report.prompt_tokens, report.reply_tokens)
    return replies, report


class AskedModel:
    """A model that is asked for the answers in the file `out`; `report` counts what it did.

    Replies are kept beside that file: the same requests again ask nothing.
    """

    def __init__(
        self, model: Model, out: Path, prices: Prices | None = None, progress: Progress | None = None
    ) -> None:
        self.out, self.report = out, RunReport(model.name)
        self._model, self._prices, self._progress = model, prices, progress

    def replies(self, requests: Iterable[Request]) -> dict[str, Reply]:
        """The reply to every request, by its key. Raises as `ask`."""
        kept = self.out.with_name(f"{self.out.name}.replies.jsonl")
        found, report = ask(requests, self._model, kept, prices=self._prices, progress=self._progress)
        self.report.add(report)
        return found

    def write(self, answers: Sequence[Row]) -> None:
        """Write the answers, one a line."""
        write_bytes(self.out, jsonl_bytes(answers))


_BookRequests = tuple[str, list[Request]]


def _replies(todo: Sequence[_BookRequests], model: Model) -> Iterator[tuple[_BookRequests, Reply]]:
    """Replies as they come; never more than a few requests wait, so that an interrupt stops soon."""
    if model.parallel < 2:
        for work in todo:
            yield work, model.reply(work[1][0])
        return
    queue = iter(todo)
    running: dict[Future[Reply], _BookRequests] = {}
    with ThreadPoolExecutor(model.parallel) as pool:
        try:
            while True:
                for work in islice(queue, model.parallel - len(running)):
                    running[pool.submit(model.reply, work[1][0])] = work
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                failed = [f for f in done if f.exception() is not None]
                for future in done - set(failed):
                    yield running.pop(future), future.result()
                for future in failed:
                    future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def read_cache(path: Path) -> dict[str, Reply]:
    """The replies in a cache file by digest; lines that are cut off or not ours are passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise unreadable(path, error) from error
    found = {}
    for line in lines:
        try:
            row = json.loads(line)
            reply = Reply(str(row["response"]), int(row["prompt_tokens"]), int(row["reply_tokens"]))
            found[str(row["digest"])] = reply
        except (ValueError, TypeError, KeyError):
            continue
    return found


@contextmanager
def _log(path: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Appends rows to the cache, each line flushed at once."""
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = stack.enter_context(open(path, "ab+"))
        except OSError as error:
            raise cannot_write(path.parent, error) from error
        # After an interrupt the last line may lack its end; ours must not be glued to it
        if stream.tell():
            stream.seek(-1, 2)
            if stream.read(1) != b"\n":
                stream.write(b"\n")

        def add(row: dict[str, Any]) -> None:
            stream.write(json.dumps(row).encode("ascii") + b"\n")
            stream.flush()

        yield add


def preview(requests: Iterable[Request], most: int, prices: Prices | None = None) -> dict[str, Any]:
    """The first prompts, and a rough count of the tokens of all prompts and their price."""
    requests = list(requests)
    tokens = sum(len(r.prompt) for r in requests) // CHARACTERS_PER_TOKEN
    return {
        "requests": len(requests),
        "prompt_tokens_about": tokens,
        "prompt_cost_about": (prices or Prices()).cost(tokens, 0),
        "prompts": [{"key": r.key, "prompt": r.prompt} for r in requests[:most]],
    }
