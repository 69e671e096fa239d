"""The four steps of the paper, run by the models of the hub."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...books import Book, Mention, Window
from ...late import torch
from ...progress import Progress
from ..state import Dropped, Marked, State
from ..steps import Job
from ..windowing import GROUP_WINDOWS, WINDOW_WORDS, annotation_windows, group_windows
from .categories import kind_of
from .device import warnings_of
from .kept import Kept, ask_together
from .maverick import Antecedent, Maverick, MaverickText, Spans
from .packages import Package, is_package, links_of
from .questions import check_template, question

LINE_END = "\n"
Settings = Mapping[str, Any]


class HubStep:
    """A step as questions to a model: `_items` is what a book asks, `_made` what the answers make of it.

    Answers are kept book by book, so that several books can ask first, together (`ask_ahead`).
    """

    name = ""

    def __init__(self, settings: Settings, load: Callable[[], Any], *scope: Any) -> None:
        self._settings, self._load = settings, load
        # What every answer of a model depends on besides its input
        named = ("model", "revision", "dtype", "encoder", "max_subwords", "endpoint")
        self._scope = [*(settings.get(name, "") for name in named), *scope]

    def run(self, job: Job, state: State, progress: Progress) -> State:
        items = self._items(job, state)
        (answers,) = self._answers([(job, items)], lambda: progress.advance(job.book.doc_key))
        return self._made(job, state, items, answers)

    def ask_ahead(self, books: Iterable[tuple[Job, State]], heard: Callable[[], None]) -> None:
        """Ask for several books in batches over all of them; their `run` then finds the answers."""
        self._answers([(job, self._items(job, state)) for job, state in books], heard)

    def _answers(self, asked: Iterable[tuple[Job, Sequence[Any]]], heard: Callable[[], None]) -> list[Any]:
        shelves = ((Kept(job.unfinished(self.name), self._scope), items) for job, items in asked)
        return ask_together(shelves, self._content, self._ask, heard)

    def _items(self, job: Job, state: State) -> Sequence[Any]:
        raise NotImplementedError

    def _content(self, item: Any) -> Any:
        """What the answer to an item depends on."""
        return item

    def _ask(self, items: Sequence[Any], told: Callable[[int, Any], None]) -> None:
        raise NotImplementedError

    def _made(self, job: Job, state: State, items: Sequence[Any], answers: Sequence[Any]) -> State:
        raise NotImplementedError


class LinkStep(HubStep):
    """Step 1: the reader ties explicit mentions to names of the cast, window by window."""

    name = "link"

    def units(self, job: Job) -> int:
        return len(self._windows(job.book))

    def _windows(self, book: Book) -> list[Window]:
        return annotation_windows(book.sentence_ends, self._settings.get("window_words", 400))

    def _items(self, job: Job, state: State) -> Sequence[Any]:
        return [(_without_line_ends(job.book, w)[0], job.cast.names) for w in self._windows(job.book)]

    def _ask(self, items: Sequence[Any], told: Callable[[int, Any], None]) -> None:
        self._load().read_all(items, told)

    def _made(self, job: Job, state: State, items: Sequence[Any], answers: Sequence[Any]) -> State:
        rule = f"relik {self._settings['model']}"
        found = []
        for window, links in zip(self._windows(job.book), answers, strict=True):
            places = _without_line_ends(job.book, window)[1]
            found += [
                Marked(places[start], places[end], name, self.name, rule, score, "name")
                for start, end, name, score in links
            ]
        return state.after(self.name, found, notes=warnings_of(self._settings, self.name))


class FilterStep(HubStep):
    """Step 2: the judge answers Yes or No for every link of the step before."""

    name = "filter"

    def units(self, job: Job) -> int:
        # The links are not known before the step before has run; their number is of this order.
        return max(1, len(job.book.tokens) // 35)

    def _items(self, job: Job, state: State) -> Sequence[Any]:
        check_template(self._settings["question"])
        template, words = self._settings["question"], self._settings.get("context_words", 400)
        names, tokens = job.cast.names, job.book.tokens
        return [question(template, tokens, m.mention, names[m.character], words) for m in state.mentions]

    def _ask(self, items: Sequence[Any], told: Callable[[int, Any], None]) -> None:
        self._load().ask_all(items, told)

    def _made(self, job: Job, state: State, items: Sequence[Any], answers: Sequence[Any]) -> State:
        kept: list[Marked] = []
        dropped: list[Dropped] = []
        for mark, yes in zip(state.mentions, answers, strict=True):
            if yes > 0.5:
                kept.append(mark)
            else:
                reason = f"{self._settings['model']} answered No to {job.cast.names[mark.character]!r}"
                dropped.append(Dropped(mark.start, mark.end, mark.character, self.name, reason, 1 - yes))
        return state.after(self.name, kept, dropped=dropped, notes=warnings_of(self._settings, self.name))


class ExpandStep(HubStep):
    """Steps 3 and 4: Maverick completes the given clusters in each stretch of the book.

    For `windows` a stretch is one window; for `groups` it is several, and mentions are extracted in parts
    of at most `mention_window` subwords (Maverick_xl). An item is (book, stretch, given mentions in it).
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
        super().__init__(settings, load, name, self._mention_window)

    def units(self, job: Job) -> int:
        return len(self._stretches(job.book))

    def _stretches(self, book: Book) -> list[Window]:
        return group_windows(annotation_windows(book.sentence_ends, self._words), self._group)

    def run(self, job: Job, state: State, progress: Progress) -> State:
        # In the other stretches nothing is given: there is nothing to complete.
        progress.advance(job.book.doc_key, self.units(job) - len(self._items(job, state)))
        return super().run(job, state, progress)

    def _items(self, job: Job, state: State) -> Sequence[Any]:
        given: dict[Mention, int] = {}
        for mark in state.mentions:
            given.setdefault(mark.mention, mark.character)
        found = []
        for stretch in self._stretches(job.book):
            inside = {m: c for m, c in given.items() if stretch.start <= m.start and m.end < stretch.end}
            if inside:
                found.append((job.book, stretch, inside))
        return found

    def _made(self, job: Job, state: State, items: Sequence[Any], answers: Sequence[Any]) -> State:
        found = list(state.mentions)
        for (book, stretch, _), (added, _) in zip(items, answers, strict=True):
            for start, end, character, score in added:
                first, last = start + stretch.start, end + stretch.start
                kind = kind_of(list(book.tokens[first : last + 1]))
                found.append(Marked(first, last, character, self.name, self._rule, score, kind))
        notes = warnings_of(self._settings, self.name)
        if refused := sum(count for _, count in answers):
            notes += (
                f"{self.name}: {refused} links between mentions of different characters were not followed",
            )
        return state.after(self.name, found, notes=notes)

    def _content(self, item: Any) -> Any:
        """Places count from the start of the stretch."""
        book, stretch, given = item
        first = stretch.start
        ends = book.sentence_ends[stretch.first_sentence : stretch.end_sentence]
        places = sorted((m.start - first, m.end - first, c) for m, c in given.items())
        return [book.tokens[first : stretch.end], [end - first for end in ends], places]

    def _ask(self, items: Sequence[Any], told: Callable[[int, Any], None]) -> None:
        """Complete the given clusters of every stretch; windows share batches, a group has its own."""
        model = self._load()
        if isinstance(model, Package):
            for number, item in enumerate(items):
                told(number, self._by_package(model, *item))
            return
        together = 1 if self.name == "groups" else len(items)
        for first in range(0, len(items), together or 1):
            chosen = range(first, min(first + together, len(items)))
            self._complete(model, {i: items[i] for i in chosen}, told)

    def _complete(
        self, model: Maverick, todo: Mapping[int, tuple[Book, Window, Mapping[Mention, int]]],
        told: Callable[[int, Any], None],
    ) -> None:  # fmt: skip
        parts = [(n, p) for n, (book, stretch, _) in todo.items() for p in self._parts(model, book, stretch)]
        left = Counter(number for number, _ in parts)
        spans: dict[int, Spans] = {}

        def heard(i: int, found: Spans) -> None:
            spans[i], number = found, parts[i][0]
            left[number] -= 1
            if not left[number]:
                mine = [(p, spans.pop(j)) for j, (n, p) in enumerate(parts) if n == number]
                told(number, self._joined(model, *todo[number], mine))

        texts = [_text_of(todo[number][0], part, todo[number][2]) for number, part in parts]
        model.spans_all(texts, heard)

    def _by_package(self, model: Package, book: Book, stretch: Window, given: Mapping[Mention, int]) -> Any:
        """As `_joined`, by the clusters of another package."""
        (sentences, seeds), places = _text_of(book, stretch, given), _without_line_ends(book, stretch)[1]
        clusters = model.find(sentences)
        words = sorted({*seeds, *((a, b) for cluster in clusters for a, b in cluster)})
        links = links_of(clusters, {span: i for i, span in enumerate(words)})
        return _answer(stretch, *complete([Mention(places[a], places[b]) for a, b in words], links, given))

    def _joined(
        self, model: Maverick, book: Book, stretch: Window, given: Mapping[Mention, int],
        parts: Sequence[tuple[Window, Spans]],
    ) -> Any:  # fmt: skip
        """The mentions added to given clusters, as (start, end, character, score), and how many links were
        refused."""
        mentions: list[Mention] = []
        for part, spans in parts:
            places = _without_line_ends(book, part)[1]
            mentions += (Mention(places[a], places[b]) for a, b in spans.words)
        starts, ends = (
            torch.cat([getattr(spans, side) for _, spans in parts]) for side in ("starts", "ends")
        )
        words = [[t for t in book.tokens[m.start : m.end + 1] if t != LINE_END] for m in mentions]
        links = model.antecedents(starts, ends, words)
        return _answer(stretch, *complete(mentions, links, given))

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


def _answer(stretch: Window, added: Iterable[tuple[Mention, int, float]], refused: int) -> Any:
    """What was added, places counted from the start of the stretch, and how many links were refused."""
    first = stretch.start
    return [[m.start - first, m.end - first, who, score] for m, who, score in added], refused


def complete(
    mentions: Sequence[Mention], links: Iterable[Antecedent], given: Mapping[Mention, int]
) -> tuple[list[tuple[Mention, int, float]], int]:
    """Follow the links of a model from the given mentions, each of which stays with its character: (mention,
    character, probability) of the new ones, and how many links would have joined two characters.

    Mentions joined by links are one cluster. A cluster with a given mention takes its character; a link
    that would join clusters of two characters is refused, the later link first: links are followed in
    the order of the text. Clusters without any given mention are dropped, by construction of the task.
    A span given to several characters counts for the first of them.
    """
    parent = list(range(len(mentions)))
    owner: list[int | None] = [given.get(m) for m in mentions]
    score = [0.0] * len(mentions)
    refused = 0

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for link in links:
        a, b = root(link.antecedent), root(link.mention)
        if a == b:
            continue
        if owner[a] is not None and owner[b] is not None and owner[a] != owner[b]:
            refused += 1
            continue
        parent[b] = a
        owner[a] = owner[b] if owner[a] is None else owner[a]
        score[link.mention] = max(score[link.mention], link.score)
        score[link.antecedent] = max(score[link.antecedent], link.score)
    owners = zip(mentions, (owner[root(i)] for i in range(len(mentions))), score, strict=True)
    return [(m, who, p) for m, who, p in owners if who is not None and m not in given], refused


def _text_of(book: Book, part: Window, given: Mapping[Mention, int]) -> MaverickText:
    """The sentences of a part of the book without line ends (their words are those of `_without_line_ends`),
    and the given mentions in it by their first and last word."""
    at = {place: i for i, place in enumerate(_without_line_ends(book, part)[1])}
    seeds = [(at[m.start], at[m.end]) for m in given if m.start in at and m.end in at]
    ends = book.sentence_ends[part.first_sentence : part.end_sentence]
    bounds = pairwise((part.start, *ends))
    return [[t for t in book.tokens[a:b] if t != LINE_END] for a, b in bounds], seeds


def _without_line_ends(book: Book, window: Window) -> tuple[list[str], list[int]]:
    """The words of a window and their places in the book; line ends are nothing a model can read."""
    places = [i for i in range(window.start, window.end) if book.tokens[i] != LINE_END]
    return [book.tokens[i] for i in places], places
