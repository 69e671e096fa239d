"""Books to and from files: JSONL, CoNLL-2012, CorefUD, brat, BookNLP, parquet with dataset card.

`read_documents(path)` reads any of them into unchecked `Record`s. What a format cannot say is
collected in `Losses`, never dropped in silence.
"""

from .conversion_report import Loss, Losses
from .documents import FORMATS, read_documents, write_documents

__all__ = ["FORMATS", "Loss", "Losses", "read_documents", "write_documents"]
