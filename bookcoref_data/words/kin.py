"""Words for relatives."""

from . import word_set

_FORMS = {
    "mother": "mamma mama mum mummy mom mommy ma", "father": "papa dad daddy pa",
    "grandmother": "grandmamma grandma granny", "grandfather": "grandpapa grandpa grandad granddad",
    "aunt": "auntie aunty",
}  # fmt: skip
_PLAIN = {form: word for word, forms in _FORMS.items() for form in forms.split()}
KIN = word_set(
    "husband wife father mother brother sister son daughter uncle aunt nephew niece cousin grandfather "
    "grandmother grandson granddaughter brother-in-law sister-in-law father-in-law mother-in-law "
    "son-in-law daughter-in-law stepfather stepmother parent child boy girl"
) | frozenset(_PLAIN)
# Mothers and fathers bear the surname of the one whose kin they are, with the title of a married woman
# or of a man.
MOTHERS, FATHERS = (frozenset([word, *_FORMS[word].split()]) for word in ("mother", "father"))

_CONVERSES = {
    "husband wife": "husband wife", "brother sister": "brother sister",
    "mother father parent": "son daughter", "son daughter child boy girl": "father mother",
    "uncle aunt": "nephew niece", "nephew niece": "uncle aunt", "cousin": "cousin cousin",
    "grandfather grandmother": "grandson granddaughter", "grandson granddaughter": "grandfather grandmother",
    "brother-in-law sister-in-law": "brother-in-law sister-in-law",
    "father-in-law mother-in-law": "son-in-law daughter-in-law",
    "son-in-law daughter-in-law": "father-in-law mother-in-law",
}  # fmt: skip
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
