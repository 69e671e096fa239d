"""Cut the books of a data set folder into parts, as if somebody had annotated each part alone; for `merge`.

    bookcoref-data rebuild --sample
    python examples/cut_into_parts.py bookcoref parts.jsonl
    bookcoref-data merge parts.jsonl --key-ids --stats --out story.conll

The parts are windows of whole sentences of about 1,500 tokens.
"""

from __future__ import annotations

import sys

from bookcoref_data.books import Record, split_book
from bookcoref_data.formats import read_documents, write_documents


def main(folder: str, out: str) -> None:
    parts = []
    for record in read_documents(folder):
        for number, part in enumerate(split_book(record.to_book()).books):
            ids = [character.name for character in part.characters]
            clusters = [list(character.mentions) for character in part.characters]
            extra = {"document": record.doc_key, "part": str(number), "cluster_ids": ids}
            parts.append(Record(part.doc_key, "", part.sentences, clusters, extra=extra))
    write_documents(parts, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
