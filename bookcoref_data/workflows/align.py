"""Carry annotations from one text to another edition of it, files in, records and reports out."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..books import Book, Record
from ..books.facts import remapped_key
from ..errors import DataError, EditionError, UsageError
from ..files import read_regular
from ..formats import read_documents
from ..stitch.container import is_container
from ..stitch.pack import Pack, read_pack
from ..stitch.remap import LEAST_MATCHED, OldText, RemapReport, remap
from ..stitch.spans import Standoff
from ..text.decode import decode
from ..text.tokens import tokenize_body

_SHOUTED = re.compile(r"\b[A-Z]+['’](?:S|M|D|T|VE|LL|RE)\b")
MOST_TEXT_BYTES = 64 << 20
EXACT, REMAPPED = "exact", "remapped"


@dataclass(frozen=True, slots=True)
class Aligned:
    """One document in its new text. `result` is "exact" (the released tokens, verified by checksum; no
    report is needed) or "remapped" (tokens of the new text, see the report; the document key says so)."""

    record: Record
    result: str
    report: RemapReport | None = None

    def to_dict(self) -> dict[str, Any]:
        """The report, or of an exact one the number of mentions."""
        if self.report:
            return self.report.to_dict()
        mentions = sum(map(len, self.record.clusters))
        return {"doc_key": self.record.doc_key, "result": self.result, "mentions": mentions}


def holds_edition(pack: Pack, text: str) -> bool:
    """Whether a decoded text holds the very edition that a pack was made from."""
    try:
        pack.book(text)
    except EditionError:
        return False
    return True


def tokenize_edition(text: str) -> list[list[str]]:
    """Sentences of tokens of another edition (`text.tokens.tokenize_body`), contractions in capitals cut
    like all others: the tokenizer leaves `ISN'T` whole, and a mention `HE` in `HE'S` would be lost."""
    calm = _SHOUTED.sub(lambda found: found[0][0] + found[0][1:].lower(), text)
    made = tokenize_body(calm)
    if calm == text:
        return made.sentences
    starts = iter(made.starts)
    pairs = (zip(sentence, starts) for sentence in made.sentences)  # noqa: B905
    return [[token if token == "\n" else text[at : at + len(token)] for token, at in pair] for pair in pairs]


def old_of_pack(pack: Pack) -> OldText:
    """What a pack knows of its text."""
    return OldText(pack.doc_key, pack.gutenberg_key, pack.annotation, fingerprint=pack.fingerprint)


def old_of_record(record: Record) -> OldText:
    """An annotated document with its text. Raises BookError when it breaks a rule."""
    book = record.to_book()
    return OldText(book.doc_key, book.gutenberg_key, Standoff.of(book), tokens=book.tokens)


def align_files(
    old: Path, new: Path, *, old_format: str | None = None, new_format: str | None = None,
    doc_key: str | None = None, least_matched: float = LEAST_MATCHED,
) -> list[Aligned]:  # fmt: skip
    """Carry every document of `old` (annotated documents, or a pack) to `new`.

    `new` is a plain text file (`.txt`) or tokenised documents in one of the formats. One new document takes
    one old one; several are paired by document key. `doc_key` picks one document of `old`.
    """
    data = b"" if old.is_dir() else _read(old)
    if is_container(data):
        pack = read_pack(data, str(old))
        return _onto([old_of_pack(pack)], new, new_format, least_matched, pack)
    records = read_documents(old, old_format)
    chosen = [r for r in records if doc_key in (None, r.doc_key)]
    if not chosen:
        listed = ", ".join(r.doc_key for r in records[:20])
        raise UsageError(f"{old} has no document {doc_key or ''}".rstrip(), expected=listed or None)
    return align_records(chosen, new, new_format=new_format, least_matched=least_matched)


def align_records(
    records: list[Record], new: Path, *, new_format: str | None = None, least_matched: float = LEAST_MATCHED
) -> list[Aligned]:
    """Carry annotated documents to `new`, a plain text or tokenised documents; raises as `align_files`."""
    return _onto(list(map(old_of_record, records)), new, new_format, least_matched)


def _onto(
    olds: list[OldText], new: Path, new_format: str | None, least_matched: float, pack: Pack | None = None
) -> list[Aligned]:
    """Carry what was annotated, or is in a pack, to a plain text or to tokenised documents."""
    if new.suffix.lower() == ".txt" and not new_format:
        text = decode(_read(new), str(new)).text
        if len(olds) != 1:
            what = f"there are {len(olds)} annotated documents, but one plain text was given"
            found = ", ".join(old.doc_key for old in olds[:20])
            raise UsageError(what, expected="one document", found=found, hint="pick one with --doc-key")
        if pack:
            with suppress(EditionError):
                return [Aligned(pack.book(text).to_record(), EXACT)]
        pairs = [(olds[0], tokenize_edition(text))]
    else:
        pairs = _paired(olds, new, read_documents(new, new_format))
    done = (carried(old, sentences, least_matched) for old, sentences in pairs)
    return [Aligned(book.to_record(), REMAPPED, report) for book, report in done]


def carried(
    old: OldText, sentences: list[list[str]], least_matched: float = LEAST_MATCHED
) -> tuple[Book, RemapReport]:
    """The annotation in other tokens, as its key says, and what became of it. Raises: as `remap`."""
    made = remap(old, sentences, least_matched=least_matched)
    return replace(made.book, doc_key=remapped_key(made.book.doc_key)), made.report


def _paired(olds: list[OldText], new: Path, targets: list[Record]) -> list[tuple[OldText, list[list[str]]]]:
    """Each annotated text with the sentences of its new one."""
    bare = [t.doc_key for t in targets if t.sentences is None]
    if bare:
        raise DataError(f"{new}: document {bare[0]!r} has no text", hint="give a tokenised or plain text")
    by_key = {t.doc_key: t.sentences or [] for t in targets}
    if len(olds) == len(targets) == 1:
        return [(olds[0], by_key[targets[0].doc_key])]
    missing = [o.doc_key for o in olds if o.doc_key not in by_key]
    if missing:
        what = f"{new} has no document for {', '.join(missing[:5])}"
        expected = "the same document keys on both sides, or one document each"
        found = ", ".join(list(by_key)[:10])
        raise UsageError(what, expected=expected, found=found, hint="pick one with --doc-key")
    return [(o, by_key[o.doc_key]) for o in olds]


def _read(path: Path) -> bytes:
    return read_regular(path, MOST_TEXT_BYTES)
