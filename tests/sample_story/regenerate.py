"""Write the generated files of the sample anew, after a change of its story, markup or tokens: the sample as
an official release, with delta, sentence lengths and annotations of both configs.

The layout is that of the released BookCoref (Hub data set `sapienzanlp/bookcoref`): a deepdiff Delta from
the tokens of the raw file to the released tokens, and annotations that hold offsets and no text.
"""

import json
from difflib import SequenceMatcher
from typing import Any

from bookcoref_data.books import Book, split_book
from bookcoref_data.sample_story.story import GUTENBERG_KEY, gutenberg_text, sample_book, sample_path
from bookcoref_data.text.tokens import tokenize_official


def mirror_files() -> dict[str, bytes]:
    """The raw file at its place in Project Gutenberg's own layout: relative path -> content.

    Like the real files it has a byte order mark and CRLF line ends; reading takes both away again.
    """
    content = gutenberg_text().replace("\n", "\r\n").encode("utf-8-sig")
    return {f"cache/epub/{GUTENBERG_KEY}/pg{GUTENBERG_KEY}.txt": content}


def release_files() -> dict[str, bytes]:
    """The release: relative path -> content."""
    book = sample_book()
    base = [token for sentence in tokenize_official(gutenberg_text()) for token in sentence]
    windows = split_book(book).books
    return {
        "gutenberg_delta.json": _json(
            {"_iterable_opcodes": {f"root['{book.gutenberg_key}']": opcodes(base, list(book.tokens))}}
        ),
        "sentence_lengths.json": _json({book.gutenberg_key: [len(s) for s in book.sentences]}),
        "bookcoref_annotations/full/test.jsonl": _json(annotation(book)),
        "bookcoref_annotations/split/test_split.jsonl": b"".join(_json(annotation(w)) for w in windows),
    }


def opcodes(base: list[str], target: list[str]) -> list[dict[str, Any]]:
    """The edits from `base` to `target` as deepdiff writes them; all ends exclusive.

    Only the values that are put in are written out (none for a deletion); what is kept is told by index.
    """
    # Without autojunk, frequent tokens (commas, "the") count too, and the edits stay small.
    matcher = SequenceMatcher(None, base, target, autojunk=False)
    return [
        {
            "tag": tag, "t1_from_index": a, "t1_to_index": b, "t2_from_index": c, "t2_to_index": d,
            "old_values": None, "new_values": None if tag == "equal" else target[c:d],
        }
        for tag, a, b, c, d in matcher.get_opcodes()
    ]  # fmt: skip


def annotation(book: Book) -> dict[str, Any]:
    """One line of an annotation file: keys and offsets, no text."""
    return {
        "doc_key": book.doc_key,
        "gutenberg_key": book.gutenberg_key,
        "clusters": [[list(mention) for mention in cluster] for cluster in book.clusters],
        "characters": [
            {"name": c.name, "mentions": [list(mention) for mention in c.mentions]} for c in book.characters
        ],
    }


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8")


if __name__ == "__main__":
    for kind, contents in (("mirror", mirror_files()), ("release", release_files())):
        for name, content in contents.items():
            path = sample_path(kind) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
