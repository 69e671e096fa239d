"""The word lists by which names in cast lists are read, from `manifests/names.toml`."""

from __future__ import annotations

from ..resources import load_toml, resource
from ..words import word_set
from ..words.honorifics import NAME_SUFFIXES

_LISTS = load_toml(resource("manifests", "names.toml"))
ARTICLES, ADJECTIVES, KIN = map(word_set, (_LISTS["articles"], _LISTS["adjectives"], _LISTS["kin"]))
COLLECTIVES, ROLES = map(word_set, (_LISTS["collectives"], _LISTS["roles"]))
NUMBERS, SUFFIXES = word_set(_LISTS["numbers"]), NAME_SUFFIXES | word_set(_LISTS["suffixes"])
HEADINGS, ALIAS_MARKS = tuple(_LISTS["headings"]), tuple(_LISTS["alias_marks"])
