"""A pack: one book of a release without its text, about fifty times smaller than the official delta.

For whoever builds (all pure, no tokenizer needed to read):

    data = make_pack(text, sentences, doc_key=..., gutenberg_key=..., source_sha256=...,
                     annotation=Standoff.of(book), windows=[(key, first_sentence), ...])
    pack = read_pack(data)                # checks the envelope and the bounds; FormatError / DataError
    pack.doc_key, pack.gutenberg_key, pack.source_sha256, pack.token_count, pack.sentence_count
    pack.tokens_sha256                    # of the released tokens, as books.tokens_sha256
    sentences = pack.apply(text)          # exact, verified by tokens_sha256; or EditionError
    book = pack.book(text)                # the same as a checked Book with clusters and characters
    pack.annotation, pack.windows, pack.window_annotations   # offsets; see `Standoff`, `Pack`

`text` is decoded with "\\n" line ends and without byte order mark (`text.decode`). `apply` also finds the
released text where another header, footer, wrapping or encoding surrounds it. What it cannot find
exactly, `stitch.remap` carries over by the fingerprint.

The format is described byte by byte in docs/pack-format.md.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from ..alignment.sequence import codes_of, kgrams
from ..books import Book, Character, split_book
from ..books.book import tokens_sha256
from ..books.stored import StoredBook, TokenBytes
from ..books.windows import Whole, windows_at
from ..errors import DataError, EditionError, FormatError
from ..shapes import check
from .chars import CharStream, text_of, visible
from .container import read_container, write_container
from .edits import Edits, apply_edits, make_edits
from .fingerprint import BITS, Fingerprint, make_fingerprint
from .spans import Standoff, pack_annotation, unpack_annotation
from .token_boundaries import NONE, Cuts, decode_cuts, encode_cuts

# A pack is found inside its file by landmarks, whatever header and footer surround it.

PROBE = 64
"""Characters at both ends of the body that are known by a hash."""
MOST_PLACES = 4


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Where the body lay in the source (visible characters), and 64-bit hashes of its first and last
    `PROBE` characters (0 where it has fewer)."""

    start: int
    length: int
    first: int
    last: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "start": self.start, "length": self.length,
            "first": f"{self.first:016x}", "last": f"{self.last:016x}",
        }  # fmt: skip

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "Landmarks":
        """What `to_dict` wrote, checked before as a part of META."""
        return cls(value["start"], value["length"], int(value["first"], 16), int(value["last"], 16))


def landmarks_of(codes: np.ndarray, start: int, length: int) -> Landmarks:
    """The landmarks of `codes[start : start + length]`."""
    ends = (codes[start : start + PROBE], codes[start + length - PROBE : start + length])
    sums = (int(kgrams(probe, PROBE)[0]) for probe in ends)
    return Landmarks(start, length, *(sums if length >= PROBE else (0, 0)))


def find_body(codes: np.ndarray, landmarks: Landmarks) -> Iterator[int]:
    """Starts at which the body may lie: where it lay in the source first, then wherever both of its
    ends are found at the right distance. Cheap when the text is the source itself."""
    start, length = landmarks.start, landmarks.length
    if start + length <= len(codes) and landmarks_of(codes, start, length) == landmarks:
        yield start
    if length < PROBE or length > len(codes):
        return
    # Where the hash of `PROBE` characters is that of the beginning; only windows with no hope are spared
    sums = kgrams(codes[: len(codes) - length + PROBE], PROBE)
    found = 0
    for place in np.flatnonzero(sums == np.uint64(landmarks.first)).tolist():
        if place != start and landmarks_of(codes, place, length) == replace(landmarks, start=place):
            yield place
            found += 1
            if found == MOST_PLACES:
                return


NEWLINE_TOKEN = "\n"
SEPARATOR = "\0"


def dissect(sentences: Sequence[Sequence[str]]) -> tuple[np.ndarray, Cuts]:
    """(code points of all tokens except "\\n", where they are cut).

    Raises DataError: an empty sentence, an empty token, or a token that holds the zero character.
    """
    flat = list(chain.from_iterable(sentences))
    if not all(flat) or not all(sentences) or any(SEPARATOR in token for token in flat):
        expected = "no empty sentence, no empty token, no zero character in a token"
        raise DataError("these sentences cannot be packed", expected=expected)
    words = [token for token in flat if token != NEWLINE_TOKEN]
    token_ends = np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=len(words))) - 1
    patterns = [1] * (len(words) + 1)
    gap = 0
    for sentence in sentences:
        for token in sentence:
            if token == NEWLINE_TOKEN:
                patterns[gap] = patterns[gap] << 1
            else:
                gap += 1
        patterns[gap] = patterns[gap] << 1 | 1
    # Patterns beyond 62 bits cannot be stored anyway; cut them so that the check upstairs can speak.
    cut = np.array([min(p, 1 << 62) for p in patterns], dtype=np.int64)
    return codes_of("".join(words)), Cuts(token_ends, cut)


def join_tokens(codes: np.ndarray, cuts: Cuts) -> tuple[str, np.ndarray]:
    """(all tokens, each followed by the zero character; exclusive token offsets of sentence ends).

    One string, because slicing it once at C speed is what makes a rebuild fast; its UTF-8 is also what
    the checksum of the tokens is taken over.
    """
    # Gaps with "\n" tokens, how many there are in each, exclusive token offsets of all sentence ends
    special = np.flatnonzero(cuts.patterns != NONE)
    values = cuts.patterns[special]
    newlines = np.zeros(len(special), dtype=np.int64)
    shapes = [(int(p), f"{int(p):b}"[1:]) for p in np.unique(values)]
    for pattern, shape in shapes:
        newlines[values == pattern] = shape.count("0")
    # Tokens before a gap: the words before it, and the line ends of earlier gaps.
    before = special + np.cumsum(newlines) - newlines
    places = [
        before[values == pattern] + shape[:k].count("0")
        for pattern, shape in shapes
        for k, event in enumerate(shape)
        if event == "1"
    ]
    ends = np.sort(np.concatenate(places)) if places else np.zeros(0, np.int64)
    gaps, newlines = special[newlines > 0], newlines[newlines > 0]
    # How many characters go into the gaps up to each token: its own separator, a pair for every "\n".
    before = np.zeros(len(cuts.patterns), dtype=np.int64)
    before[gaps] = 2 * newlines
    before = np.cumsum(before)
    separators = cuts.token_ends + np.arange(1, len(cuts.token_ends) + 1) + before[:-1]
    # "\n" and its separator stand in pairs behind the separator of the token before.
    first = np.concatenate(([-1], separators))[gaps] + 1
    nth = np.arange(int(newlines.sum())) - np.repeat(np.cumsum(newlines) - newlines, newlines)
    lines = np.repeat(first, newlines) + 2 * nth
    size = len(codes) + len(cuts.token_ends) + 2 * len(lines)
    joined, kept = np.zeros(size, dtype=codes.dtype), np.ones(size, dtype=bool)
    joined[lines] = ord(NEWLINE_TOKEN)
    for inserted in (separators, lines, lines + 1):
        kept[inserted] = False
    joined[kept] = codes
    return text_of(joined), ends


MOST_CHARACTERS = 1 << 27
MOST_LITERAL_SHARE = 0.05
"""A pack may hold at most this share of the released characters as text, unless its maker says more."""
LEAST_LITERAL_CHARACTERS = 200
"""Below this number of characters the share is not asked for: a short text may differ in a heading."""

_CUT_SECTIONS = {
    "token_contexts": "TCTX", "token_flips": "TFLP", "token_joins": "TJOI", "token_splits": "TSPL",
    "sentence_contexts": "SCTX", "pattern_places": "PPLC", "patterns": "PVAL",
}  # fmt: skip
_SECTIONS = {*_CUT_SECTIONS.values(), "META", "EDIT", "LITS", "FPRT", "SPAN", "NAME", "WIND", "WSPN", "WHYS"}


@dataclass(frozen=True)
class Pack:
    """One packed book. `windows` are (key, first sentence); `window_annotations` maps numbers of windows
    whose released spans are not those of the book to their own, with offsets in the window. `reasons` are
    speakers, scores and reasons as they were packed ("" for none): whoever reads them checks them."""

    doc_key: str
    gutenberg_key: str
    split: str
    source_sha256: str
    source_name: str
    token_count: int
    sentence_count: int
    tokens_sha256: str
    sentences_sha256: str
    visible_count: int
    windows: tuple[tuple[str, int], ...]
    window_annotations: Mapping[int, Standoff]
    fingerprint: Fingerprint | None
    edits: Edits = field(repr=False)
    landmarks: Landmarks = field(repr=False)
    parts: Mapping[str, bytes] = field(repr=False)
    spans: tuple[bytes, bytes] = field(repr=False)
    licence: str = ""
    attribution: str = ""
    reasons: str = field(default="", repr=False)

    @cached_property
    def annotation(self) -> Standoff:
        """Clusters and characters, decoded when first asked for: whoever wants the text alone need not wait.

        Raises DataError: the spans do not add up, or lie outside the book.
        """
        numbers, names = self.spans
        return unpack_annotation(numbers, names, self.token_count) if numbers else Standoff()

    @property
    def literal_characters(self) -> int:
        """Characters of the released text that the pack holds as text; all other text is not in it."""
        return self.edits.literal_characters

    def apply(self, text: str) -> list[list[str]]:
        """The released sentences, verified by the checksum of their tokens.

        Raises EditionError: this text is not (or does not contain) the edition the pack was made from.
        DataError: the pack contradicts itself.
        """
        tokens, ends = self._released(text)
        words = tokens.words()
        return [words[first:end] for first, end in pairwise([0, *ends])]

    def _released(self, text: str) -> tuple[TokenBytes, list[int]]:
        """The released tokens, and where each sentence ends. Raises as `apply`."""
        stream = visible(text)
        for start in find_body(stream.codes, self.landmarks):
            body = slice(start, start + self.landmarks.length)
            made = apply_edits(CharStream(stream.codes[body], stream.after[body]), self.edits)
            if len(made) != self.visible_count:
                continue
            try:
                joined, ends = join_tokens(made.codes, decode_cuts(made, self.parts))
            except DataError:
                # Contexts that do not occur, gaps that are not there: another edition.
                continue
            data = joined.encode("utf-8", "surrogatepass")
            same = hashlib.sha256(data).hexdigest() == self.tokens_sha256
            if same and _ends_sha256(ends) == self.sentences_sha256:
                return TokenBytes.of_joined(data), ends.tolist()
        what = f"{self.doc_key}: this text is another edition than the pack was made from"
        expected = f"{self.source_name or 'the source text'} (sha256 {self.source_sha256[:16]}…)"
        found = f"{len(stream):,} visible characters that do not contain it"
        hint = "give the edition named above, or carry the annotation over: bookcoref-data align"
        raise EditionError(what, expected=expected, found=found, hint=hint)

    def book(self, text: str) -> Book:
        """The released book with its annotation. Raises as `apply`, and BookError if the spans misfit."""
        return self.stored_book(text).to_book()

    def stored_book(self, text: str) -> StoredBook:
        """The same as `book`, without one string per token."""
        tokens, ends = self._released(text)
        return StoredBook(
            self.doc_key, self.gutenberg_key, tokens, tuple(ends), self.annotation.clusters,
            tuple(Character(name, mentions) for name, mentions in self.annotation.characters),
        )  # fmt: skip

    def window_books(self, book: Whole) -> tuple[Whole, ...]:
        """The released windows of `book` under their keys (none when the release has no windows)."""
        if not self.windows:
            return ()
        cuts = windows_at([first for _, first in self.windows], book.sentence_ends)
        books = []
        for i, part in enumerate(split_book(book, windows=cuts).books):
            own = self.window_annotations.get(i)
            if own is not None:
                characters = tuple(Character(name, mentions) for name, mentions in own.characters)
                part = replace(part, clusters=own.clusters, characters=characters)
            books.append(replace(part, doc_key=self.windows[i][0]))
        return tuple(books)


def _changes(
    doc_key: str, text: str, sentences: Sequence[Sequence[str]], most_literal_share: float
) -> tuple[Landmarks, Edits, CharStream, Cuts]:
    """From a text to the released characters: where the book is in it, the edits, and what they give. Raises
    as `make_pack`."""
    source = visible(text)
    target, cuts = dissect(sentences)
    ends = np.zeros(len(target), dtype=bool)
    ends[cuts.token_ends] = True
    edits, start, length = make_edits(source, target, ends).within_body()
    size = len(target)
    held = edits.literal_characters
    if held > max(most_literal_share * size, LEAST_LITERAL_CHARACTERS):
        raise DataError(
            f"{doc_key}: a pack from this text would hold {held:,} characters of the book as text",
            expected=f"at most {most_literal_share:.1%} of {size:,}",
            found=f"{held / max(size, 1):.1%}; the longest piece has {edits.longest_literal:,}",
            hint="the text is another book or a very different edition; give the edition of the release, "
            "or raise the bound if the text may be passed on",
        )
    body = CharStream(source.codes[start : start + length], source.after[start : start + length])
    stream = apply_edits(body, edits)
    if not np.array_equal(stream.codes, target):
        raise DataError(f"{doc_key}: the packed text is not the released one", hint="report this defect")
    return landmarks_of(source.codes, start, length), edits, stream, cuts


def not_in_text(doc_key: str, text: str, sentences: Sequence[Sequence[str]]) -> tuple[float, int]:
    """What of the sentences a pack made from `text` would hold as text: (share, longest piece in characters).

    Raises DataError: the sentences cannot be packed.
    """
    _, edits, stream, _ = _changes(doc_key, text, sentences, 1.0)
    return edits.literal_characters / max(1, len(stream)), edits.longest_literal


def make_pack(
    text: str, sentences: Sequence[Sequence[str]], *, doc_key: str, gutenberg_key: str = "",
    split: str = "", source_sha256: str = "", source_name: str = "", annotation: Standoff | None = None,
    windows: Sequence[tuple[str, int]] = (), window_annotations: Mapping[int, Standoff] | None = None,
    fingerprint_bits: int = BITS, public_domain: bool = False,
    most_literal_share: float = MOST_LITERAL_SHARE, licence: str = "", attribution: str = "",
    reasons: str = "",
) -> bytes:  # fmt: skip
    """Pack the released `sentences` of the book whose Gutenberg text is `text`.

    `fingerprint_bits`: size of the hash kept per token so that other editions can be compared, 0 for none.
    It is left out unless `public_domain`: the text is known to be free (`publishing.rights`), because likely
    words can be guessed from it (docs/pack-format.md). `licence` and `attribution` are of the annotation;
    they are stored only with an annotation.

    Raises DataError: the sentences cannot be packed, or the pack would hold more of the released text than
    `most_literal_share` of its characters (the text is probably another book).
    """
    landmarks, edits, stream, cuts = _changes(doc_key, text, sentences, most_literal_share)
    tokens = [token for sentence in sentences for token in sentence]
    meta = {
        "doc_key": doc_key, "gutenberg_key": gutenberg_key, "split": split,
        "source": {"sha256": source_sha256, "name": source_name}, "tokens": len(tokens),
        "sentences": len(sentences), "visible": len(stream), "tokens_sha256": tokens_sha256(tokens),
        "sentences_sha256": _ends_sha256(np.array(list(accumulate(map(len, sentences))), dtype=np.int64)),
        "body": landmarks.to_dict(),
        **({"licence": licence, "attribution": attribution} if annotation else {}),
    }  # fmt: skip
    numbers, literals = edits.to_bytes()
    spans, names = pack_annotation(annotation) if annotation else (b"", b"")
    if annotation:
        unpack_annotation(spans, names, len(tokens))  # offsets outside the book are refused here
    own = [[number, of.clusters, of.characters] for number, of in sorted((window_annotations or {}).items())]
    data = write_container({
        "META": _json(meta), "EDIT": numbers, "LITS": literals,
        **{_CUT_SECTIONS[name]: part for name, part in encode_cuts(stream, cuts).items()},
        "SPAN": spans, "NAME": names, "WIND": _json(windows) if windows else b"",
        "WSPN": _json(own) if own else b"", "WHYS": reasons.encode() if annotation else b"",
        "FPRT": make_fingerprint(tokens, fingerprint_bits).to_bytes() if fingerprint_bits and public_domain
        else b"",
    })  # fmt: skip
    if read_pack(data).apply(text) != [list(s) for s in sentences]:
        raise DataError(f"{doc_key}: the pack does not give back what was packed", hint="report this defect")
    return data


def read_pack(data: bytes, what: str = "pack") -> Pack:
    """Read a pack; nothing of it is trusted, and memory stays within small multiples of its bounds.

    Raises FormatError: not a pack, damaged, or of another version. DataError: whole, but its parts contradict
    each other.
    """
    sections = read_container(data, what)
    unknown = sorted(set(sections) - _SECTIONS)
    if unknown:
        raise FormatError(f"{what} has sections that format 1 does not know", found=", ".join(unknown))
    meta = _read_json(sections.get("META", b""), what)
    check(meta, "pack_meta", f"{what}: META")
    tokens, sentences = meta["tokens"], meta["sentences"]
    edits = Edits.from_bytes(sections.get("EDIT", b""), sections.get("LITS", b""))
    landmarks = Landmarks.from_dict(meta["body"])
    if edits.reach > landmarks.length:
        raise DataError(f"the edits of {what} reach beyond it", expected=landmarks.length, found=edits.reach)
    print_ = sections.get("FPRT")
    value = _read_json(sections.get("WIND", b"[]"), what)
    check(value, "pack_windows", f"{what}: the windows", DataError)
    firsts = [first for _, first in value]
    if any(a >= b for a, b in pairwise(firsts)) or (firsts and (firsts[0] or firsts[-1] >= sentences)):
        what = f"the windows of {what} do not fit its sentences"
        raise DataError(what, expected="[key, first sentence], from 0, rising")
    layers = _read_json(sections.get("WSPN", b"[]"), what)
    check(layers, "window_annotations", f"{what}: the annotation of the windows", DataError)
    return Pack(
        doc_key=meta["doc_key"], gutenberg_key=meta["gutenberg_key"], split=meta["split"],
        source_sha256=meta["source"]["sha256"], source_name=meta["source"]["name"], token_count=tokens,
        sentence_count=sentences, tokens_sha256=meta["tokens_sha256"],
        sentences_sha256=meta["sentences_sha256"], visible_count=meta["visible"],
        windows=tuple((key, first) for key, first in value),
        window_annotations={number: Standoff.make(*layer) for number, *layer in layers},
        fingerprint=Fingerprint.from_bytes(print_, tokens) if print_ else None, edits=edits,
        landmarks=landmarks, spans=(sections.get("SPAN", b""), sections.get("NAME", b"")),
        parts={name: sections.get(tag, b"") for name, tag in _CUT_SECTIONS.items()},
        licence=meta.get("licence", ""), attribution=meta.get("attribution", ""),
        reasons=sections.get("WHYS", b"").decode("utf-8", "replace"),
    )  # fmt: skip


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _read_json(data: bytes, what: str) -> Any:
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what}: a section is not JSON", found=str(error)[:80]) from error


def _ends_sha256(ends: np.ndarray) -> str:
    """Hex sha256 of the exclusive token offsets of all sentence ends, as 64-bit little-endian numbers."""
    return hashlib.sha256(ends.astype("<i8").tobytes()).hexdigest()
