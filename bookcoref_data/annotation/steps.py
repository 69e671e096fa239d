"""The contract of the pipeline: what a step is, in which order steps run, how they are run and resumed.

    link     explicit mentions are tied to names of the cast              (paper, section 4, step 1)
    filter   each link is kept, or dropped with a reason                  (step 2)
    windows  clusters grow by pronouns and noun phrases inside windows    (step 3, at most 1500 words)
    groups   clusters grow again over groups of windows                   (step 4, 10 windows)

A step takes a `Job` (what is given: book, cast, narrators) and a `State` (what is known so far) and
returns the next `State`. It may not look at other steps: what it needs from them is in the state. So
each step can be run, saved, scored and resumed alone, and steps of different backends can be mixed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from ..books import Book
from ..errors import UsageError, require_choice
from ..files import safe_name
from ..progress import Progress, Silent
from .cast import Cast
from .given import Given
from .narration import Narration
from .state import State

STEP_NAMES = ("link", "filter", "windows", "groups")
"""All steps in their order. `filter` and `groups` may be left out, as in the rows of the paper's Table 2."""

NEEDS = {"link": (), "filter": ("link",), "windows": ("link",), "groups": ("windows",)}
"""What must be done before a step, whoever did it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is given for one book. `narration` says who narrates where; empty: to be found in the text.

    `given` are corrections by a person: every step leaves them as they are. In the folder `states` a step may
    keep work that is not finished.
    """

    book: Book
    cast: Cast
    narration: tuple[Narration, ...] = ()
    given: Given = field(default_factory=Given)
    states: Path | None = None

    def unfinished(self, step: str) -> Path | None:
        """The file for unfinished work of a step; it is removed when the step's state is saved."""
        name = safe_name(self.book.doc_key, "document key")
        return self.states and self.states / f"{name}.{step}.part.jsonl"

    def empty_state(self) -> State:
        """The state before the first step."""
        return State(self.book.doc_key, self.book.tokens_sha256(), self.cast.names)


@runtime_checkable
class Step(Protocol):
    """One step of one backend.

    `name` is one of STEP_NAMES. `run` must return `state.after(self.name, ...)`, must not change its
    arguments, and calls `progress.advance(key, n)` as it gets through `units(job)` units of work, where
    `key` is the document key.
    """

    name: str

    def units(self, job: Job) -> int:
        """How many units of work (windows, mentions, groups) this step will report."""
        ...

    def run(self, job: Job, state: State, progress: Progress) -> State: ...


@runtime_checkable
class Backend(Protocol):
    """A family of steps with common models. `close` frees them (GPU memory, files)."""

    name: str

    def step(self, name: str) -> Step: ...

    def close(self) -> None: ...


def check_order(wanted: Sequence[str], done: Sequence[str] = ()) -> None:
    """Refuse a plan that cannot run, before any work starts.

    Raises:
        UsageError: unknown step, a step twice, wrong order, or a missing step that another one needs.
    """
    for i, name in enumerate(wanted):
        require_choice("step", name, STEP_NAMES)
        before = (*done, *wanted[:i])
        if name in before:
            raise UsageError(f"step {name!r} is done already", found=" -> ".join((*before, name)))
        late = [b for b in before if STEP_NAMES.index(b) > STEP_NAMES.index(name)]
        if late:
            raise UsageError(f"step {name!r} cannot run after {late[0]!r}", expected=" -> ".join(STEP_NAMES))
        missing = [n for n in NEEDS[name] if n not in before]
        if missing:
            what = f"step {name!r} needs {missing[0]!r} first"
            found = " -> ".join(before) or "nothing done yet"
            hint = f"add {missing[0]} to --steps, or resume from a state in which it is done"
            raise UsageError(what, expected=f"{missing[0]} before {name}", found=found, hint=hint)


def run_steps(
    backend: Backend,
    job: Job,
    names: Sequence[str] = STEP_NAMES,
    *,
    state: State | None = None,
    after_step: Callable[[State], None] | None = None,
    progress: Progress | None = None,
) -> State:
    """Run `names` in order from `state` (default: nothing done); `after_step` sees each new state.

    Raises:
        UsageError: the order cannot be right (before any work).
        BookError: `state` belongs to another text or cast, or a step broke the contract.
    """
    progress = progress or Silent()
    state = job.empty_state() if state is None else state
    state.check_fits(job.book, job.cast.names)
    check_order(names, state.done)
    for name in names:
        step = backend.step(name)
        progress.begin(job.book.doc_key, step.units(job), name)
        try:
            state = job.given.applied(checked(step.run(job, state, progress), job, name))
        finally:
            progress.end(job.book.doc_key)
        if after_step:
            after_step(state)
    return state


def checked(state: State, job: Job, step: str) -> State:
    """`state` if it keeps the contract: the step is marked done and every mention lies in the book."""
    if state.done[-1:] != (step,):
        raise UsageError(f"step {step!r} returned a state that does not say it is done", found=state.done)
    size, cast = len(job.book.tokens), len(job.cast.names)
    for m in state.mentions:
        if not (0 <= m.start <= m.end < size and 0 <= m.character < cast):
            raise UsageError(f"step {step!r} made a mention outside book or cast", found=tuple(m))
    return state
