"""Books to and from files: JSONL, CoNLL-2012, CorefUD, brat, BookNLP, parquet with dataset card."""
