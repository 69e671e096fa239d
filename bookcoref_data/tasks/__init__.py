"""Sister tasks on top of annotated books: `questions` (who is meant), `merging` (parts into documents) and
`contexts` (passages about a character). `runner` asks models, `folder` writes what `load_dataset` reads.
"""
