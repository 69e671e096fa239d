"""Rebuild, verify, annotate, score and explain book-scale coreference data (BookCoref, ACL 2025).

The rooms, from the ground floor up: `books` (what a book is), `text`, `stitch`, `evaluate`, `formats`;
`sources`, `characters`, `annotate`, `report`; `workflows` (verbs that join rooms); `cli`. Importing this
package imports none of them, so that it costs nothing.
"""

__version__ = "0.1.0"
