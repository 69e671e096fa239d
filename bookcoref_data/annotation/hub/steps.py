"""The four steps of the paper, run by the models of the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...books import Book, Mention, Window
from ...progress import Progress
from ..state import Dropped, Marked, State
from ..steps import Job
from ..windowing import GROUP_WINDOWS, WINDOW_WORDS, annotation_windows, group_windows
from .completion import complete
from .device import cpu_warning
from .judge import Judge
from .maverick import Maverick
from .pronouns import kind_of
from .questions import check_template, question
from .reader import Reader

LINE_END = "\n"
Settings = Mapping[str, Any]


class LinkStep:
    """Step 1: the reader ties explicit mentions to names of the cast, window by window."""

    name = "link"

    def __init__(self, settings: Settings, load: Callable[[], Reader]) -> None:
        self._words = settings.get("window_words", 400)
        self._rule = f"relik {settings['model']}"
        self._load = load

    def units(self, job: Job) -> int:
        return len(annotation_windows(job.book.sentence_ends, self._words))

    def run(self, job: Job, state: State, progress: Progress) -> State:
        reader, book, names = self._load(), job.book, job.cast.names
        found: list[Marked] = []
        for window in annotation_windows(book.sentence_ends, self._words):
            words, places = _without_line_ends(book, window)
            for link in reader.read(words, names):
                start, end = places[link.start], places[link.end]
                found.append(Marked(start, end, link.name, self.name, self._rule, link.score, "name"))
            progress.advance(book.doc_key)
        return state.after(self.name, found, notes=cpu_warning(reader.device, self.name))


class FilterStep:
    """Step 2: the judge answers Yes or No for every link of the step before."""

    name = "filter"

    def __init__(self, settings: Settings, load: Callable[[], Judge]) -> None:
        check_template(settings["question"])
        self._settings, self._load = settings, load

    def units(self, job: Job) -> int:
        # The links are not known before the step before has run; their number is of this order.
        return max(1, len(job.book.tokens) // 35)

    def run(self, job: Job, state: State, progress: Progress) -> State:
        judge, batch = self._load(), self._settings.get("batch", 16)
        kept: list[Marked] = []
        dropped: list[Dropped] = []
        for i in range(0, len(state.mentions), batch):
            part = state.mentions[i : i + batch]
            for mark, yes in zip(part, judge.ask([self._question(job, m) for m in part]), strict=True):
                if yes > 0.5:
                    kept.append(mark)
                else:
                    reason = f"{self._settings['model']} answered No to {job.cast.names[mark.character]!r}"
                    dropped.append(Dropped(mark.start, mark.end, mark.character, self.name, reason, 1 - yes))
            progress.advance(job.book.doc_key, len(part))
        return state.after(self.name, kept, dropped=dropped, notes=cpu_warning(judge.device, self.name))

    def _question(self, job: Job, mark: Marked) -> str:
        words = self._settings.get("context_words", 400)
        name = job.cast.names[mark.character]
        return question(self._settings["question"], job.book.tokens, mark.mention, name, words)


class ExpandStep:
    """Steps 3 and 4: Maverick completes the given clusters in each stretch of the book.

    For `windows` a stretch is one window; for `groups` it is several, and mentions are extracted in parts
    of at most `mention_window` subwords (Maverick_xl).
    """

    def __init__(
        self, name: str, settings: Settings, window_words: int, load: Callable[[], Maverick]
    ) -> None:
        self.name = name
        self._words = settings.get("words", WINDOW_WORDS) if name == "windows" else window_words
        self._group = settings.get("windows", GROUP_WINDOWS) if name == "groups" else 1
        self._mention_window = settings.get("mention_window", 4000)
        self._rule = f"maverick {settings['model']}" + (" (xl)" if name == "groups" else "")
        self._load = load

    def units(self, job: Job) -> int:
        return len(self._stretches(job.book))

    def _stretches(self, book: Book) -> list[Window]:
        return group_windows(annotation_windows(book.sentence_ends, self._words), self._group)

    def run(self, job: Job, state: State, progress: Progress) -> State:
        model, book = self._load(), job.book
        given: dict[Mention, int] = {}
        for mark in state.mentions:
            given.setdefault(mark.mention, mark.character)
        found = list(state.mentions)
        refused = 0
        for stretch in self._stretches(book):
            inside = {m: c for m, c in given.items() if stretch.start <= m.start and m.end < stretch.end}
            if inside:
                done = self._complete(model, book, stretch, inside)
                refused += done.refused
                found += (self._mark(book, *addition) for addition in done.added)
            progress.advance(book.doc_key)
        notes = cpu_warning(model.device, self.name)
        if refused:
            notes += (
                f"{self.name}: {refused} links between mentions of different characters were not followed",
            )
        return state.after(self.name, found, notes=notes)

    def _mark(self, book: Book, mention: Mention, character: int, score: float) -> Marked:
        kind = kind_of(list(book.tokens[mention.start : mention.end + 1]))
        return Marked(*mention, character, self.name, self._rule, score, kind)

    def _complete(self, model: Maverick, book: Book, stretch: Window, given: Mapping[Mention, int]):
        import torch

        mentions: list[Mention] = []
        starts, ends = [], []
        for part in self._parts(model, book, stretch):
            _, places = _without_line_ends(book, part)
            at = {place: i for i, place in enumerate(places)}
            seeds = [(at[m.start], at[m.end]) for m in given if m.start in at and m.end in at]
            spans = model.spans(_sentences(book, part), seeds)
            mentions += (Mention(places[a], places[b]) for a, b in spans.words)
            starts.append(spans.starts)
            ends.append(spans.ends)
        texts = [_words(book, m) for m in mentions]
        return complete(mentions, model.antecedents(torch.cat(starts), torch.cat(ends), texts), given)

    def _parts(self, model: Maverick, book: Book, stretch: Window) -> Iterator[Window]:
        """The parts of a stretch in which mentions are extracted: whole sentences, bounded subwords."""
        if self.name == "windows":
            yield stretch
            return
        first, start, end, size = stretch.first_sentence, stretch.start, stretch.start, 0
        for i in range(stretch.first_sentence, stretch.end_sentence):
            one = Window(i, i + 1, end, book.sentence_ends[i])
            subwords = model.subwords(_without_line_ends(book, one)[0])
            if size + subwords > self._mention_window and i > first:
                yield Window(first, i, start, end)
                first, start, size = i, end, 0
            size, end = size + subwords, book.sentence_ends[i]
        yield Window(first, stretch.end_sentence, start, end)


def _without_line_ends(book: Book, window: Window) -> tuple[list[str], list[int]]:
    """The words of a window and their places in the book; line ends are nothing a model can read."""
    places = [i for i in range(window.start, window.end) if book.tokens[i] != LINE_END]
    return [book.tokens[i] for i in places], places


def _sentences(book: Book, window: Window) -> list[Sequence[str]]:
    """The sentences of a window without line ends; the words are those of `_without_line_ends`."""
    start = window.start
    found: list[Sequence[str]] = []
    for end in book.sentence_ends[window.first_sentence : window.end_sentence]:
        found.append([t for t in book.tokens[start:end] if t != LINE_END])
        start = end
    return found


def _words(book: Book, mention: Mention) -> list[str]:
    return [t for t in book.tokens[mention.start : mention.end + 1] if t != LINE_END]
