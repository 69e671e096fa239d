"""The four steps of the paper, run by the models of the hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...books import Book, Mention, Window
from ...progress import Progress
from ..state import Dropped, Marked, State
from ..steps import Job
from ..windowing import GROUP_WINDOWS, WINDOW_WORDS, annotation_windows, group_windows
from .completion import Completion, complete
from .device import warnings_of
from .judge import Judge
from .kept import Kept
from .maverick import Maverick, MaverickText, Spans
from .packages import Package, is_package, links_of
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
        self._settings, self._load = settings, load

    def units(self, job: Job) -> int:
        return len(annotation_windows(job.book.sentence_ends, self._words))

    def run(self, job: Job, state: State, progress: Progress) -> State:
        reader, book, names = self._load(), job.book, job.cast.names
        texts = [_without_line_ends(book, w) for w in annotation_windows(book.sentence_ends, self._words)]
        answers = Kept(job.unfinished(self.name), scope_of(self._settings)).answered(
            texts, lambda text: [text[0], names],
            lambda todo, told: reader.read_all([words for words, _ in todo], names, told),
            lambda: progress.advance(book.doc_key),
        )  # fmt: skip
        found = [
            Marked(places[start], places[end], name, self.name, self._rule, score, "name")
            for (_, places), links in zip(texts, answers, strict=True)
            for start, end, name, score in links
        ]
        return state.after(self.name, found, notes=warnings_of(self._settings, reader.device, self.name))


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
        judge = self._load()
        kept: list[Marked] = []
        dropped: list[Dropped] = []
        answers = Kept(job.unfinished(self.name), scope_of(self._settings)).answered(
            [self._question(job, mark) for mark in state.mentions], str, judge.ask_all,
            lambda: progress.advance(job.book.doc_key),
        )  # fmt: skip
        for mark, yes in zip(state.mentions, answers, strict=True):
            if yes > 0.5:
                kept.append(mark)
            else:
                reason = f"{self._settings['model']} answered No to {job.cast.names[mark.character]!r}"
                dropped.append(Dropped(mark.start, mark.end, mark.character, self.name, reason, 1 - yes))
        return state.after(
            self.name, kept, dropped=dropped, notes=warnings_of(self._settings, judge.device, self.name)
        )

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
        own = "" if is_package(settings["model"]) else "maverick "
        self._rule = f"{own}{settings['model']}" + (" (xl)" if name == "groups" else "")
        self._settings, self._load = settings, load
        self._scope = [*scope_of(settings), name, self._mention_window]

    def units(self, job: Job) -> int:
        return len(self._stretches(job.book))

    def _stretches(self, book: Book) -> list[Window]:
        return group_windows(annotation_windows(book.sentence_ends, self._words), self._group)

    def run(self, job: Job, state: State, progress: Progress) -> State:
        model, book = self._load(), job.book
        given: dict[Mention, int] = {}
        for mark in state.mentions:
            given.setdefault(mark.mention, mark.character)
        stretches = []
        for stretch in self._stretches(book):
            inside = {m: c for m, c in given.items() if stretch.start <= m.start and m.end < stretch.end}
            if inside:
                stretches.append((stretch, inside))
            else:
                progress.advance(book.doc_key)
        answers = Kept(job.unfinished(self.name), self._scope).answered(
            stretches, lambda item: self._content(book, *item),
            lambda todo, told: self._complete(model, book, todo, told),
            lambda: progress.advance(book.doc_key),
        )  # fmt: skip
        found = list(state.mentions)
        for (stretch, _), (added, _) in zip(stretches, answers, strict=True):
            for start, end, character, score in added:
                mention = Mention(start + stretch.start, end + stretch.start)
                found.append(self._mark(book, mention, character, score))
        notes = warnings_of(self._settings, model.device, self.name)
        if refused := sum(count for _, count in answers):
            notes += (
                f"{self.name}: {refused} links between mentions of different characters were not followed",
            )
        return state.after(self.name, found, notes=notes)

    def _content(self, book: Book, stretch: Window, given: Mapping[Mention, int]) -> Any:
        """All that the answer for one stretch depends on; places count from its start."""
        first = stretch.start
        ends = book.sentence_ends[stretch.first_sentence : stretch.end_sentence]
        places = sorted((m.start - first, m.end - first, c) for m, c in given.items())
        return [book.tokens[first : stretch.end], [end - first for end in ends], places]

    def _mark(self, book: Book, mention: Mention, character: int, score: float) -> Marked:
        kind = kind_of(list(book.tokens[mention.start : mention.end + 1]))
        return Marked(*mention, character, self.name, self._rule, score, kind)

    def _complete(
        self, model: Maverick, book: Book, todo: Sequence[tuple[Window, Mapping[Mention, int]]],
        told: Callable[[int, Any], None],
    ) -> None:  # fmt: skip
        """Complete the given clusters of every stretch; windows share batches, a group has its own."""
        if isinstance(model, Package):
            for number, item in enumerate(todo):
                told(number, self._by_package(model, book, *item))
            return
        together = 1 if self.name == "groups" else len(todo)
        for first in range(0, len(todo), together or 1):
            chosen = range(first, min(first + together, len(todo)))
            self._complete_some(model, book, {i: todo[i] for i in chosen}, told)

    def _complete_some(
        self, model: Maverick, book: Book, todo: Mapping[int, tuple[Window, Mapping[Mention, int]]],
        told: Callable[[int, Any], None],
    ) -> None:  # fmt: skip
        parts = [(n, p) for n, (stretch, _) in todo.items() for p in self._parts(model, book, stretch)]
        left = Counter(number for number, _ in parts)
        spans: dict[int, Spans] = {}

        def heard(i: int, found: Spans) -> None:
            spans[i], number = found, parts[i][0]
            left[number] -= 1
            if not left[number]:
                mine = [(p, spans.pop(j)) for j, (n, p) in enumerate(parts) if n == number]
                told(number, self._joined(model, book, *todo[number], mine))

        model.spans_all([_text_of(book, part, todo[number][1]) for number, part in parts], heard)

    def _by_package(
        self, model: Package, book: Book, stretch: Window, given: Mapping[Mention, int]
    ) -> Any:  # fmt: skip
        """As `_joined`, by the clusters of another package."""
        (sentences, seeds), places = _text_of(book, stretch, given), _without_line_ends(book, stretch)[1]
        clusters = model.find(sentences)
        words = sorted({*seeds, *((a, b) for cluster in clusters for a, b in cluster)})
        links = links_of(clusters, {span: i for i, span in enumerate(words)})
        return _answer(complete([Mention(places[a], places[b]) for a, b in words], links, given), stretch)

    def _joined(
        self, model: Maverick, book: Book, stretch: Window, given: Mapping[Mention, int],
        parts: Sequence[tuple[Window, Spans]],
    ) -> Any:  # fmt: skip
        """The mentions added to given clusters, as (start, end, character, score), and how many links were
        refused."""
        import torch

        mentions: list[Mention] = []
        for part, spans in parts:
            places = _without_line_ends(book, part)[1]
            mentions += (Mention(places[a], places[b]) for a, b in spans.words)
        starts, ends = (
            torch.cat([getattr(spans, side) for _, spans in parts]) for side in ("starts", "ends")
        )
        links = model.antecedents(starts, ends, [_words(book, m) for m in mentions])
        return _answer(complete(mentions, links, given), stretch)

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


def _answer(done: Completion, stretch: Window) -> Any:
    """What was added, places counted from the start of the stretch, and how many links were refused."""
    first = stretch.start
    return [[m.start - first, m.end - first, c, score] for m, c, score in done.added], done.refused


def scope_of(settings: Settings) -> list[Any]:
    """What every answer of a model depends on besides its input."""
    return [
        settings.get(name, "")
        for name in ("model", "revision", "dtype", "encoder", "max_subwords", "endpoint")
    ]


def _text_of(book: Book, part: Window, given: Mapping[Mention, int]) -> MaverickText:
    """The sentences of a part of the book, and the given mentions in it by their first and last word."""
    at = {place: i for i, place in enumerate(_without_line_ends(book, part)[1])}
    seeds = [(at[m.start], at[m.end]) for m in given if m.start in at and m.end in at]
    return _sentences(book, part), seeds


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
