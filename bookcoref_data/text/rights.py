"""What a Gutenberg file or its catalogue record says about the rights in the text.

A pack may hold a fingerprint only of texts that are known to be free: with a language model, likely words
can be guessed from it. "Known" means that the file's own header or the record in the catalogue says so.
"""

from __future__ import annotations

import re

_HEAD = 12_000
# The words of the header since 1993. Books that are still in copyright have the same header, with a notice.
_FREE = re.compile(
    r"is for the use of anyone anywhere|etext of a public domain|(?:are|is) in the public domain"
    r"|public domain in the u|\(cc0",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"copyrighted project gutenberg|this (?:etext|ebook) is copyright", re.IGNORECASE)
_RECORD = re.compile(r"<dcterms:rights>([^<]*)</dcterms:rights>")

WHY_NO_FINGERPRINT = (
    "no fingerprint: neither the header of the text nor its catalogue record says that it is in the public "
    "domain, so the pack fits one edition only"
)
"""The sentence for a person when a pack is made without a fingerprint."""


def header_says_free(text: str) -> bool:
    """Whether the header of a decoded Gutenberg text says that anyone may use it."""
    head = " ".join(text[:_HEAD].split())
    return bool(_FREE.search(head)) and not _COPYRIGHT.search(head)


def record_says_free(record: str) -> bool | None:
    """Whether an RDF record of the catalogue says "Public domain"; None when it states no rights."""
    found = _RECORD.search(record)
    return found[1].strip().lower().startswith("public domain") if found else None
