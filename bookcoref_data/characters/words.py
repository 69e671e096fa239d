"""Word lists for reading names in cast lists: titles, kin, suffixes, collectives. Data, no rules.

All words are lower case and without full stops.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words("the a an")

TITLES = _words("""
    mr mrs ms miss mx dr doctor doc sir lady lord dame madam madame mme mlle mademoiselle monsieur m
    king queen prince princess duke duchess archduke archduchess earl count countess baron baroness
    marquis marquise emperor empress czar tsar viscount viscountess squire captain capt colonel col
    general gen major sergeant sgt lieutenant lt corporal private admiral commander officer
    inspector detective judge justice professor prof reverend rev father fr mother brother sister
    pope bishop archbishop cardinal abbé abbe saint st widow uncle aunt auntie cousin grandpa
    grandma gram gramps granny grandmother grandfather nurse nanny mistress master massa missis
    missus mister don dona doña donna señor señora señorita senor senora senorita herr frau fräulein
    signor signora signorina pan pani mayor president senator governor
""")

ADJECTIVES = _words("""
    old young little big great good bad mad poor fat tall short black white red first second third elder
    younger tiny blind long wicked
""")

KIN = _words("""
    family families son sons daughter daughters wife husband children child fiancée fiancee fiancé fiance
    others friends friend company co brother brothers sister sisters mother father parents parent servants
    baby twins
""")

SUFFIXES = _words("jr sr junior senior esq esquire ii iii iv md phd jp dd kc qc mp sj obe")

COLLECTIVES = _words("""
    family families club crew gang band company society army tribe clan people crowd chorus council committee
    household townspeople villagers brothers sisters friends children parents twins guards soldiers narrators
    detectives students servants neighbors neighbours gods witches boys girls men women animals
""")

ROLES = _words(
    "husband wife narrator guard servant friend brother sister mother father son daughter lover teacher"
)

NUMBERS = _words("two three four five six seven eight nine ten twelve")

HEADINGS = (
    r"(the )?(major|minor)",
    r"(the )?(major|minor|main|other|secondary|supporting|primary|central) characters?( list)?",
    r"(the )?characters?( list| descriptions?)?( in .+)?",
    r"(a )?notes?( (on|about) .+)?",
    r"(russian|character) names",
    r"(cast|list) of characters",
    r"dramatis personae",
    r"character (analysis|map)",
)
"""Headings of cast lists that pages mark up like names, as patterns for a whole lower-cased name."""

ALIAS_MARKS = (
    r"a\.?\s?k\.?\s?a\.?",
    r"also (?:called|known as|referred to as|spelled)",
    r"(?:better |formerly |later |previously )?known as",
    r"alias",
    r"called",
    r"nicknamed",
    r"surnamed",
    r"formerly",
    r"later",
    r"afterwards?",
)
"""Words after which another name of the same person follows."""
