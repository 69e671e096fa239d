"""BookWorm: contexts of characters for descriptions, their prompts and scores.

`Retriever` finds passages about a character within a budget, `prompts` asks for descriptions, `scores`
compares them with references, `splits` checks the published tables.
"""
