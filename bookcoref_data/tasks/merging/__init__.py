"""LongtoNotes: documents in parts become long documents.

`documents_of` groups the parts, `merge` applies decisions about their chains; decisions come from a table,
from equal ids, from the greedy baseline or from our linker.
"""
