"""What is scored against what: whole books, or windows of them by one of several rules.

Every mode turns a pair of documents into a `BookPair`: both sides as arrays in book coordinates, cut
into units. Scores never cross a unit and are pooled over units.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise

import numpy as np

from ..books import Book, Record, Window, cut_windows, window_key
from ..books.windows import by_window
from ..errors import UsageError, plural, require_choice
from ..shapes import together
from .assignment import Ints
from .clustering import Clusters, Members, members
from .documents import Scorable, as_document, pair
from .input_checks import InputChecks, check_input, refuse_nonsense

MODES = {
    "full": "whole books against whole books (the paper's BookCoref_gold)",
    "split": "windows against windows, each predicted alone (the paper's Split-BookCoref_gold); "
    "a side given as whole books is cut into the released windows first",
    "gold-window": "whole-book predictions restricted to windows of whole sentences; "
    "the windows are a partition, so every mention counts exactly once",
    "gold-window-blocks": "the same with blocks of exactly 1500 tokens instead of whole sentences",
    "gold-window-released": "what the released code computes for gold_window, so that the paper's figures "
    "come out: mentions that start at a multiple of 1500 are lost, those of the last window may count twice",
}
"""The modes, each in one sentence."""

DEFAULT_WINDOW = 1500


@dataclass(frozen=True, slots=True, eq=False)
class BookPair:
    """One book of key and response, in token offsets of the whole book, cut into units.

    `bounds[u]` is the (start, end exclusive) of unit u in tokens. `key_names[i]` names the key cluster
    whose `source_cluster` in unit u is i: `key_names[u][i]` in split mode, where every window has its own
    list, `key_names[0][i]` otherwise.
    """

    doc_key: str
    key: Members
    response: Members
    bounds: tuple[tuple[int, int], ...]
    tokens: Sequence[str] | None
    sentence_ends: tuple[int, ...] | None
    length: int
    key_names: tuple[tuple[str | None, ...], ...]
    key_characters: tuple[tuple[str, Sequence[tuple[int, int]]], ...]
    response_characters: tuple[tuple[str, Sequence[tuple[int, int]]], ...]
    key_checks: InputChecks
    response_checks: InputChecks

    @property
    def units(self) -> int:
        return len(self.bounds)

    def name_of(self, cluster: int, key: Members) -> str | None:
        """The character of one key cluster, None when the key names none."""
        unit = int(key.cluster_unit[cluster]) if len(self.key_names) > 1 else 0
        return self.key_names[unit][int(key.source_cluster[cluster])]


@dataclass(frozen=True, slots=True, eq=False)
class ReadyToScore:
    """All books ready to be scored, and everything worth saying about them."""

    books: tuple[BookPair, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    notes: tuple[str, ...]


def prepare(
    key: Iterable[Record | Book], response: Iterable[Record | Book], mode: str = "full", *,
    missing: str = "error", window_size: int = DEFAULT_WINDOW,
) -> ReadyToScore:  # fmt: skip
    """Pair the documents of two sides and cut them as `mode` says.

    Raises UsageError: unknown mode or rule, no document in common, windows where whole books are needed.
    DataError: a document twice, missing documents, other tokens, offsets of another text.
    """
    require_choice("mode", mode, MODES)
    if window_size < 1:
        raise UsageError("the window size must be positive", found=window_size)
    keys, responses = [as_document(d) for d in key], [as_document(d) for d in response]
    if mode == "split":
        return _prepare_split(keys, responses, missing, window_size)
    paired = pair(keys, responses, missing=missing)
    found = [d.doc_key for d, _ in paired.pairs if d.window]
    if found and mode != "full":
        what = f"--mode {mode} restricts whole books to windows, but these documents are windows already"
        raise UsageError(what, found=", ".join(found[:3]), hint="score windows with --mode split")
    books = tuple(_whole(left, right) for left, right in paired.pairs)
    if mode != "full":
        books = tuple(_cut(book, mode, window_size) for book in books)
    return ReadyToScore(books, paired.missing, paired.extra, paired.notes)


def _whole(key: Scorable, response: Scorable) -> BookPair:
    """One book as a single unit, with its flaws."""
    left, right = members([key.clusters]), members([response.clusters])
    tokens = key.tokens if key.tokens is not None else response.tokens
    known = None if tokens is None else len(tokens)
    refuse_nonsense(key.doc_key, left, right, known)
    length = int(max(left.end.max(initial=-1), right.end.max(initial=-1))) + 1 if known is None else known
    return BookPair(
        key.doc_key, left, right, ((0, length),), tokens,
        key.sentence_ends if key.sentence_ends is not None else response.sentence_ends, length,
        (key.names,), key.characters, response.characters, check_input(key.clusters, left, known),
        check_input(response.clusters, right, known),
    )  # fmt: skip


def _cut(book: BookPair, mode: str, size: int) -> BookPair:
    """Restrict both sides to the windows of a mode, by where a mention starts; windows may overlap."""
    if mode == "gold-window":
        # The split config's windows: a mention belongs where it starts, so none is lost or counted twice.
        if book.sentence_ends is None:
            what = f"{book.doc_key}: windows of whole sentences need sentences, and neither side has any"
            raise UsageError(what, hint="give a file with sentences, or use --mode gold-window-blocks")
        places = [(w.start, w.end) for w in cut_windows(book.sentence_ends, size)]
    else:
        starts = np.concatenate([book.key.start, book.response.start])
        blocks = block_numbers(book.length, size, starts, text=book.tokens is not None).tolist()
        if mode == "gold-window-blocks":
            # Blocks of `size` tokens; the last one may be shorter.
            places = [(k * size, min((k + 1) * size, book.length)) for k in blocks]
        else:
            # The windows of the released code (reference: paper's repository, `gold_window`). They end at
            # `size`, 2 `size`, ... up to the last multiple within the book, and then at its length n; a
            # mention belongs to the window ending at s when `s - size < start < s`. So a start at a multiple
            # of `size` is in no window, and the last window is the last `size` tokens, overlapping the one
            # before.
            ends = [(k + 1) * size for k in blocks if (k + 1) * size <= book.length] + [book.length]
            places = [(end - size, end) for end in ends]
    bounds = np.array(places, np.int64).reshape(-1, 2)
    sides = []
    for side in (book.key, book.response):
        order = np.argsort(side.start, kind="stable")
        starts = side.start[order]
        released = mode == "gold-window-released"
        first = np.searchsorted(starts, bounds[:, 0], side="right" if released else "left")
        inside = np.maximum(np.searchsorted(starts, bounds[:, 1], side="left") - first, 0)
        unit = np.repeat(np.arange(len(bounds)), inside)
        place = np.arange(unit.size) - np.repeat(np.cumsum(inside) - inside, inside)
        taken = order[np.repeat(first, inside) + place]
        # Within a window the mentions keep the order in which the file lists them.
        listed = np.lexsort((taken, unit))
        sides.append(side.take(taken[listed], unit[listed]))
    return replace(book, key=sides[0], response=sides[1], bounds=tuple(places))


_ALL_LISTED = 10_000


def block_numbers(length: int, size: int, starts: Ints, *, text: bool) -> Ints:
    """The blocks of `size` tokens that a book of `length` tokens has.

    With a text its tokens bound their number. Without one a single offset of 2^31 would stand for 1.4
    million blocks: where blocks outnumber the mentions by far, only those are listed in which one of
    `starts` lies. Empty blocks add nothing to any score.
    """
    count = -(-length // size)
    if text or count <= max(_ALL_LISTED, 10 * starts.size):
        return np.arange(count, dtype=np.int64)
    return np.unique(starts // size)


# --- split: windows predicted alone -----------------------------------------------------------------


def _prepare_split(keys: list[Scorable], responses: list[Scorable], missing: str, size: int) -> ReadyToScore:
    """Bring both sides to windows, pair the windows, and put the windows of a book together."""
    layouts, notes = _layouts(keys, responses, size)
    sides = []
    for label, side in (("key", keys), ("response", responses)):
        whole = [document for document in side if not document.window]
        cut, lost = _split_documents(whole, layouts)
        if whole:
            what = "whole books" if len(whole) == len(side) else plural(len(whole), "whole book")
            notes.append(f"the {label} holds {what}: cut by us into the windows of the split config")
        if lost:
            notes.append(f"{lost:,} {label} mentions cross a window end and are in no window")
        sides.append([document for document in side if document.window] + cut)
    if any(not document.window for document in responses):
        notes.append("the response saw whole books: these are not the scores of a system run on windows")
    paired = pair(*sides, missing=missing)
    by_book = together((left.book_key, (left, right)) for left, right in paired.pairs)
    books = tuple(_join_windows(name, pairs) for name, pairs in by_book.items())
    return ReadyToScore(books, paired.missing, paired.extra, (*paired.notes, *notes))


_Cuts = dict[str, list[tuple[str, Window]]]
"""By book: the key of every window, and the window."""


def _layouts(keys: list[Scorable], responses: list[Scorable], size: int) -> tuple[_Cuts, list[str]]:
    """The windows of each book, from whichever side knows its sentences, the key asked first; and what is
    to be said of windows that are not there.

    Windows that are given keep their keys, whatever size these state. Where one is missing, how many tokens
    it has is not known, and they say nothing of where a whole book is cut.
    """
    layouts: _Cuts = {}
    notes: list[str] = []
    lengths = Counter[str]()
    for d in (one for one in (*keys, *responses) if not one.window):
        reached = (end + 1 for cluster in (() if d.tokens else d.clusters) for _, end in cluster)
        lengths[d.doc_key] = max(lengths[d.doc_key], len(d.tokens or ()), *reached)
    for label, side in (("key", keys), ("response", responses)):
        for name, documents in together((document.book_key, document) for document in side).items():
            ends = [d.sentence_ends for d in documents if d.sentence_ends is not None]
            if name in layouts or len(ends) < len(documents):
                continue
            if documents[0].window:
                ordered = sorted(documents, key=_first_sentence)
                starts = [0, *accumulate(len(d.tokens or ()) for d in ordered)]
                sentences = [0, *accumulate(len(d.sentence_ends or ()) for d in ordered)]
                if [*map(_first_sentence, ordered)] != sentences[:-1] or starts[-1] < lengths[name]:
                    notes.append(f"the {label} lacks windows of {name}: only those that are there are scored")
                    continue
                places = map(Window, sentences, sentences[1:], starts, starts[1:])
                layouts[name] = [(d.doc_key, place) for d, place in zip(ordered, places, strict=True)]
            else:
                layouts[name] = [(window_key(name, w, size), w) for w in cut_windows(ends[0], size)]
    return layouts, notes


def _first_sentence(document: Scorable) -> int:
    return document.window[1] if document.window else 0


def _split_documents(documents: list[Scorable], layouts: _Cuts) -> tuple[list[Scorable], int]:
    """Whole books as window documents with offsets from the window's start, and the mentions lost."""
    cut: list[Scorable] = []
    lost = 0
    for document in documents:
        if document.doc_key not in layouts:
            what = f"{document.doc_key}: cutting it into windows needs the sentences of all of it"
            raise UsageError(what, hint="give a file with sentences, or the windows themselves")
        layout = layouts[document.doc_key]
        windows = [window for _, window in layout]
        clusters, gone = by_window(zip(document.names, document.clusters, strict=True), windows)
        characters, _ = by_window(document.characters, windows)
        lost += len(gone)
        for i, (key, window) in enumerate(layout):
            tokens, ends = document.tokens, document.sentence_ends
            inside = slice(window.first_sentence, window.end_sentence)
            words = None if tokens is None else tokens[window.start : window.end]
            sentences = None if ends is None else tuple(end - window.start for end in ends[inside])
            names, mentions = zip(*clusters[i], strict=True) if clusters[i] else ((), ())
            named = tuple(characters[i])
            cut.append(Scorable(key, mentions, names, named, words, sentences, document.source))
    return cut, lost


def _join_windows(name: str, pairs: list[tuple[Scorable, Scorable]]) -> BookPair:
    """The windows of one book as the units of one pair, offsets counted from the start of the book.

    Windows that the key leaves out leave no gap: positions are those of the windows put together.
    """
    pairs = sorted(pairs, key=lambda pair: _first_sentence(pair[0]))
    windows = [_whole(*pair) for pair in pairs]
    starts = [0, *accumulate(window.length for window in windows)]
    whole = all(window.tokens is not None for window in windows)
    texts = zip(starts, windows, strict=False)
    ends = tuple(start + end for start, window in texts for end in window.sentence_ends or ())
    return BookPair(
        name, _moved([left.clusters for left, _ in pairs], starts),
        _moved([right.clusters for _, right in pairs], starts), tuple(pairwise(starts)),
        list(chain.from_iterable(window.tokens or () for window in windows)) if whole else None,
        ends if whole else None, starts[-1], tuple(left.names for left, _ in pairs),
        _moved_characters([left.characters for left, _ in pairs], starts),
        _moved_characters([right.characters for _, right in pairs], starts),
        sum((w.key_checks for w in windows), InputChecks()),
        sum((w.response_checks for w in windows), InputChecks()),
    )  # fmt: skip


def _moved(clusterings: Iterable[Clusters], starts: Sequence[int]) -> Members:
    own = members(clusterings)
    shift = np.array(starts, np.int64)[own.unit] if own.start.size else np.int64(0)
    return Members(own.start + shift, own.end + shift, own.owner, own.cluster_unit, own.source_cluster)


def _moved_characters(
    lists: Iterable[Iterable[tuple[str, Iterable[tuple[int, int]]]]], starts: Iterable[int]
) -> tuple[tuple[str, list[tuple[int, int]]], ...]:
    whole: dict[str, list[tuple[int, int]]] = {}
    for characters, shift in zip(lists, starts, strict=False):
        for name, spans in characters:
            whole.setdefault(name, []).extend((a + shift, b + shift) for a, b in spans)
    return tuple(whole.items())
