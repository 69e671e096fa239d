"""Words for relatives."""

from . import long_lists, word_pairs, word_set

_FORMS = word_pairs(long_lists()["KIN_FORMS"])
_PLAIN = {form: word for word, forms in _FORMS.items() for form in forms.split()}
KIN = word_set(long_lists()["KIN"]) | frozenset(_PLAIN)
# Mothers and fathers bear the surname of the one whose kin they are, with the title of a married woman
# or of a man.
MOTHERS, FATHERS = (frozenset([word, *_FORMS[word].split()]) for word in ("mother", "father"))

_CONVERSES = word_pairs(long_lists()["CONVERSES"])
_CONVERSE = {word: tuple(back.split()) for words, back in _CONVERSES.items() for word in words.split()}


def plain(word: str) -> str:
    """A word for kin (lower case) in its plain form: "mamma" is a mother, "granny" a grandmother."""
    return _PLAIN.get(word, word)


def converse(word: str, male: bool) -> str:
    """What the owner is to the kin: whose `word` (lower case) she is, he is her brother, son, nephew.

    `male` is the gender of the owner. Returns "" for a word that has no converse.
    """
    back = _CONVERSE.get(plain(word))
    return back[0 if male else 1] if back else ""
