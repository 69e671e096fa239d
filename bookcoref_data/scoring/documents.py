"""Pair key and response documents by `doc_key`, and refuse what cannot be scored.

Everything a flawed response may hold is let through and named in notes; what would make the numbers
meaningless (no common book, another text, windows against whole books) is refused with the way out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from ..books import Book, Record, read_window_key
from ..errors import DataError, UsageError, listed, require_choice
from ..shapes import together
from .clustering import Clusters

MISSING_RULES = ("error", "skip", "empty")
_SIDES = ("whole books", "windows of books")


@dataclass(frozen=True, slots=True, eq=False)
class Scorable:
    """One document as the scorer sees it. `tokens` and `sentence_ends` are None where a file has no text.

    `names[i]` is the character of `clusters[i]`, None when the file names none.
    """

    doc_key: str
    clusters: Clusters
    names: tuple[str | None, ...]
    characters: tuple[tuple[str, Sequence[tuple[int, int]]], ...]
    tokens: Sequence[str] | None
    sentence_ends: tuple[int, ...] | None
    source: str = ""

    @property
    def window(self) -> tuple[str, int] | None:
        """(book key, first sentence) when the key is that of a window, else None."""
        found = read_window_key(self.doc_key)
        return (found.book, found.first_sentence) if found else None

    @property
    def book_key(self) -> str:
        """The key of the book, also for a window of it."""
        return self.window[0] if self.window else self.doc_key


def as_document(source: Record | Book) -> Scorable:
    """The scorer's view of a record or a book.

    A document with characters but no clusters is scored on its characters.
    """
    characters: tuple[tuple[str, Sequence[tuple[int, int]]], ...]
    tokens: Sequence[str] | None = None
    ends: tuple[int, ...] | None = None
    where = ""
    if isinstance(source, Book):
        characters = tuple((c.name, c.mentions) for c in source.characters)
        tokens, ends = source.tokens, source.sentence_ends
    else:
        characters = tuple(source.characters)
        where = source.source
        if source.sentences is not None:
            tokens = list(chain.from_iterable(source.sentences))
            ends = tuple(accumulate(map(len, source.sentences)))
    clusters: Clusters = source.clusters or tuple(mentions for _, mentions in characters)
    # A cluster has the name of the character that names most of its mentions.
    name_of = {tuple(span): name for name, spans in characters for span in spans}
    names: list[str | None] = [None] * len(clusters)
    for i, cluster in enumerate(clusters if name_of else ()):
        counted = Counter(name for span in cluster if (name := name_of.get(tuple(span))))
        names[i] = counted.most_common(1)[0][0] if counted else None
    return Scorable(source.doc_key, clusters, tuple(names), characters, tokens, ends, where)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Documents of both sides that belong together, in the order of the key, and what does not."""

    pairs: tuple[tuple[Scorable, Scorable], ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    notes: tuple[str, ...]


def pair(key: Iterable[Scorable], response: Iterable[Scorable], *, missing: str = "error") -> Pairing:
    """Pair documents by `doc_key`; documents under different keys pair when their tokens are identical.

    `missing`: what becomes of key documents the response lacks: "error", "skip" (score the common ones),
    "empty" (score them as documents without any mention). Extra response documents are only named.

    Raises DataError: a key twice on one side, a missing document, tokens that differ. UsageError: no document
    in common (says which mode fits when one side is windows), unknown rule.
    """
    require_choice("rule for missing documents", missing, MISSING_RULES)
    keys, responses = _by_key(key, "key"), _by_key(response, "response")
    if not keys:
        raise DataError("the key holds no document", hint="check the file given as --key")
    notes = _pair_renamed(keys, responses)
    absent = tuple(k for k in keys if k not in responses)
    extra = tuple(k for k in responses if k not in keys)
    if len(absent) == len(keys) and (responses or missing != "empty"):
        windows = [any(d.window for d in side.values()) for side in (keys, responses)]
        hint = "check that both files belong to the same data set; documents are paired by doc_key"
        if not responses:
            hint = "the response file is empty; --missing empty scores it as 0"
        elif windows[0] != windows[1]:
            holds = "the key holds {}, the response {}".format(*(_SIDES[one] for one in windows))
            hint = f"{holds}: --mode split compares windows with windows and cuts whole books itself"
        what = "key and response have no document in common"
        raise UsageError(what, expected=_listed(keys), found=_listed(responses), hint=hint)
    if absent and missing == "error":
        what = f"the response lacks {len(absent)} of the key's {len(keys)} documents: {_listed(absent)}"
        hint = "--missing skip scores the common ones, --missing empty counts them as empty responses"
        raise DataError(what, expected=f"documents {_listed(keys)}", found=_listed(responses), hint=hint)
    pairs = tuple(
        (d, responses.get(k) or Scorable(d.doc_key, (), (), (), d.tokens, d.sentence_ends))
        for k, d in keys.items()
        if k in responses or missing == "empty"
    )
    for left, right in pairs:
        check_tokens(left, right)
    notes += _no_clusters("key", [left for left, _ in pairs])
    notes += _no_clusters("response", [right for _, right in pairs])
    if absent:
        done = "scored as empty" if missing == "empty" else "left out of the scores"
        notes.append(f"missing in the response, {done}: {_listed(absent)}")
    if extra:
        notes.append(f"in the response but not in the key, not scored: {_listed(extra)}")
    return Pairing(pairs, absent, extra, tuple(notes))


def _no_clusters(side: str, documents: Sequence[Scorable]) -> list[str]:
    """How many characters of a side are none of its clusters, mention by mention."""
    odd: list[str] = []
    for document in documents:
        clusters = {frozenset(map(tuple, cluster)) for cluster in document.clusters}
        odd += [name for name, spans in document.characters if {*map(tuple, spans)} not in clusters]
    count = sum(len(document.characters) for document in documents)
    told = f"{len(odd):,} of the {count:,} characters of the {side} have other mentions than its clusters"
    return [f"{told} (such as {odd[0]!r}): clusters are scored, linking by the characters"] if odd else []


def _by_key(documents: Iterable[Scorable], side: str) -> dict[str, Scorable]:
    found: dict[str, Scorable] = {}
    for document in documents:
        if document.doc_key in found:
            places = [d.source for d in (found[document.doc_key], document) if d.source]
            what = f"the {side} holds document {document.doc_key!r} twice"
            where = " and ".join(places) or None
            hint = "remove one of the two; which one is meant cannot be guessed"
            raise DataError(what, expected="every doc_key once", found=where, hint=hint)
        found[document.doc_key] = document
    return found


def _pair_renamed(keys: dict[str, Scorable], responses: dict[str, Scorable]) -> list[str]:
    """Give response documents the key of the key document with the same tokens, where that is unique."""
    renamed: list[tuple[str, str]] = []
    new = [(name, one.tokens) for name, one in responses.items() if name not in keys]
    texts = together((tuple(tokens), name) for name, tokens in new if tokens)
    for name in [k for k in keys if k not in responses] if texts else []:
        same = texts.get(tuple(keys[name].tokens or ()), [])
        if len(same) == 1:
            responses[name] = responses.pop(same.pop())
            renamed.append((responses[name].doc_key, name))
    if not renamed:
        return []
    if len(renamed) == 1:
        return ["{!r} of the response is {!r} of the key: same tokens".format(*renamed[0])]
    return [
        "{} documents of the response have another key but the same tokens as one of the key, "
        "and are paired with it (such as {!r} with {!r})".format(len(renamed), *renamed[0])
    ]


def check_tokens(key: Scorable, response: Scorable) -> None:
    """Raise DataError naming the first token in which two documents differ, with its neighbours."""
    a, b = key.tokens, response.tokens
    if a is None or b is None or (len(a) == len(b) and list(a) == list(b)):
        return
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    raise DataError(
        f"{key.doc_key}: key and response are not the same text; token {at} is the first to differ",
        expected=f"{_around(a, at)} ({len(a):,} tokens)",
        found=f"{_around(b, at)} ({len(b):,} tokens)",
        hint="run the system on the key's tokens, or move its offsets onto them first "
        "(bookcoref-data convert projects by characters)",
    )


def _around(tokens: Sequence[str], at: int, width: int = 4) -> str:
    before = " ".join(map(_visible, tokens[max(at - width, 0) : at]))
    here = _visible(tokens[at]) if at < len(tokens) else "end of text"
    return f"{before} >>{here}<< {' '.join(map(_visible, tokens[at + 1 : at + 1 + width]))}".strip()


def _visible(token: str) -> str:
    return token if token.isprintable() and token else ascii(token)


def _listed(names: Iterable[str]) -> str:
    return listed(names, 8) or "none"
