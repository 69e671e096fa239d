"""Whole novels without annotation: Gutenberg files that training reads beside LitBank.

They give lessons of their own (`silver`), and the paragraphs that LitBank's excerpts have lost.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from bookcoref_data.annotation.embedded.narrator import find_narration
from bookcoref_data.annotation.embedded.network import Ranker
from bookcoref_data.annotation.embedded.setup import link_text
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.books import Book
from bookcoref_data.text.clean import CleanSettings, clean
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import tokenize_body

from .litbank import Excerpt, parts
from .parses import parse_with_cache
from .silver import Example, SilverReader

READ_BY_EYE = frozenset(["1342", "2500"])
"""Books whose links people judge (docs/results.md): never trained on."""
MOST_TOKENS = 60_000
_EXCERPT_REACH = 30_000
"""Tokens at the beginning of a novel among which LitBank's excerpt is looked for."""
_LEAST_ALIGNED = 0.9
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'"})


def novel_files(folder: Path, litbank: Path) -> dict[str, Path]:
    """Gutenberg id -> file, of all `pg<id>.txt` below `folder` that training may read.

    Left out are the books of LitBank's development and test parts and those that are judged by eye.
    """
    split = parts(litbank)
    kept_away = READ_BY_EYE | {name.split("_")[0] for part in ("dev", "test") for name in split[part]}
    found = {path.stem.removeprefix("pg"): path for path in sorted(folder.rglob("pg*.txt"))}
    return {key: found[key] for key in sorted(found) if key not in kept_away}


def read_novel(path: Path, most: int = MOST_TOKENS) -> Book:
    """The first `most` tokens of a Gutenberg file, to the end of a sentence."""
    text = clean(decode(path.read_bytes(), str(path)).text, CleanSettings(guard=False)).text
    sentences, count = [], 0
    for sentence in tokenize_body(text, split_dashes=True).sentences:
        count += len(sentence)
        if count > most:
            break
        sentences.append(sentence)
    return Book.make(path.stem, sentences)


def paragraphs_of(excerpt: Excerpt, novel: Book) -> np.ndarray | None:
    """The paragraph of every token of an excerpt, by aligning it with its novel; None where they differ."""
    theirs, numbers, number = [], [], 0
    for token in novel.tokens[:_EXCERPT_REACH]:
        if token == "\n":
            number += 1
            continue
        theirs.append(_plain(token))
        numbers.append(number)
    ours = [_plain(token) for token in excerpt.job.book.tokens]
    found = np.full(len(ours), -1, dtype=np.int32)
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        found[block.a : block.a + block.size] = numbers[block.b : block.b + block.size]
    known = found >= 0
    if known.mean() < _LEAST_ALIGNED:
        return None
    found[0] = found[known][0]
    return np.maximum.accumulate(found)


def _plain(token: str) -> str:
    return token.strip("_").replace("``", '"').replace("''", '"').translate(_QUOTES)


def silver_examples(path: Path, rankers: dict[str, Ranker], cache: Path | None = None) -> list[Example]:
    """What one novel teaches, read with the rankers trained so far and a cast proposed from the book."""
    book = read_novel(path)
    parse = parse_with_cache(book, cache)
    cast = propose_cast(book, parse=parse).cast
    text = link_text(book, cast, parse)
    narration, _ = find_narration(text)
    reader = SilverReader(text, rankers, seed=sum(map(ord, path.stem)), narration=narration)
    reader.read()
    return reader.examples
