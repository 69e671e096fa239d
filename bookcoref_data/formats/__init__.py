"""Books to and from files: JSONL, CoNLL-2012, CorefUD, brat, BookNLP, parquet with dataset card.

`read_documents(path)` reads any of them into unchecked `Record`s. What a format cannot say is
counted in a `ConversionReport`, never dropped in silence.
"""

from .conversion_report import ConversionReport, NotKept
from .documents import FORMATS, TRAINERS, read_documents, write_documents

__all__ = ["FORMATS", "TRAINERS", "ConversionReport", "NotKept", "read_documents", "write_documents"]
