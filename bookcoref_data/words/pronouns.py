"""English pronouns by person, gender and case."""

from . import word_set

FIRST = word_set("i me my mine myself")
FIRST_PLURAL = word_set("we us our ours ourselves ourself")
SECOND = word_set("you your yours yourself thou thee thy thine thyself ye")
MALE = word_set("he him his himself")
FEMALE = word_set("she her hers herself")
NEUTER = word_set("it its itself")
PLURAL = word_set("they them their theirs themselves")
REFLEXIVE = word_set("myself yourself himself herself themselves thyself")
SUBJECT = word_set("i he she they thou ye")
POSSESSIVE = word_set("my mine your yours his her hers their theirs thy thine")
PERSONAL = FIRST | SECOND | MALE | FEMALE | PLURAL
"""Pronouns that can mean a single character."""
RELATIVE = word_set("who whom whose which that")
DEMONSTRATIVE = word_set("this these those")
DIALECT = word_set("'em em y' ya yeh yer 's yourselves themself oneself")
ALL_PRONOUNS = PERSONAL | FIRST_PLURAL | NEUTER | RELATIVE | DEMONSTRATIVE | DIALECT
