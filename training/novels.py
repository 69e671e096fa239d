"""Whole novels without annotation: Gutenberg files that training reads beside LitBank.

    python -m training.novels path/to/litbank path/to/mirror [--cache FOLDER]

They give lessons of their own (`silver`), and the paragraphs that LitBank's excerpts have lost. The casts
that were proposed for them are kept in `casts.json`, with the names that were learned, there and in LitBank:
so other rules for names do not change what is learned. The command makes them anew.
"""

from __future__ import annotations

import argparse
import json
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import numpy as np

from bookcoref_data.annotation.cast import Cast, format_cast, parse_cast
from bookcoref_data.annotation.embedded.aliases import learn_aliases
from bookcoref_data.annotation.embedded.narrator import find_narration
from bookcoref_data.annotation.embedded.network import Ranker
from bookcoref_data.annotation.embedded.parsing import Parse
from bookcoref_data.annotation.propose import propose_cast
from bookcoref_data.books import Book
from bookcoref_data.text.clean import CleanSettings, clean
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import tokenize_body
from training.parses import link_text

from .litbank import Excerpt, parts, read_excerpt
from .parses import parse_with_cache
from .silver import Example, SilverReader

READ_BY_EYE = frozenset(["1342", "2500"])
"""Books whose links people judge (docs/results.md): never trained on."""
MOST_TOKENS = 60_000
_EXCERPT_REACH = 30_000
"""Tokens at the beginning of a novel among which LitBank's excerpt is looked for."""
_LEAST_ALIGNED = 0.9
CASTS = Path(__file__).with_name("casts.json")
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


@cache
def kept_casts() -> dict[str, str]:
    """The casts of the texts that training reads, as cast files, by the name of the text."""
    casts: dict[str, str] = json.loads(CASTS.read_text(encoding="utf-8"))
    return casts


def cast_of(book: Book, parse: Parse, cast: Cast | None = None) -> Cast:
    """The cast that is kept for a text; where none is, `cast` or one that is proposed from it, with the names
    that the text teaches."""
    kept = kept_casts().get(book.doc_key)
    return parse_cast(kept) if kept else _learned(book, parse, cast)


def _learned(book: Book, parse: Parse, cast: Cast | None = None) -> Cast:
    return learn_aliases(book, cast or propose_cast(book, parse=parse).cast, parse).cast


def silver_examples(path: Path, rankers: dict[str, Ranker], cache: Path | None = None) -> list[Example]:
    """What one novel teaches, read with the rankers trained so far and a cast proposed from the book."""
    book = read_novel(path)
    parse = parse_with_cache(book, cache)
    text = link_text(book, cast_of(book, parse), parse)
    narration, _ = find_narration(text)
    reader = SilverReader(text, rankers, seed=sum(map(ord, path.stem)), narration=narration)
    reader.read()
    return reader.examples


def main() -> None:
    """Make the casts anew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("litbank", type=Path)
    parser.add_argument("novels", type=Path)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    texts: list[tuple[Book, Cast | None]] = [
        (read_novel(path), None) for path in novel_files(options.novels, options.litbank).values()
    ]
    excerpts = (read_excerpt(options.litbank, name) for name in parts(options.litbank)["train"])
    texts += [(excerpt.job.book, excerpt.job.cast) for excerpt in excerpts if excerpt]
    casts = {
        book.doc_key: format_cast(_learned(book, parse_with_cache(book, options.cache), cast))
        for book, cast in texts
    }
    CASTS.write_text(json.dumps(casts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
