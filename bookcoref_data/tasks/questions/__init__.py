"""IdentifyMe: multiple-choice questions about who a mention refers to.

`build_questions` makes them from annotated records, `prompts` asks them, `grade` scores the answers and
`annotation_answers` answers them from an annotation.
"""
