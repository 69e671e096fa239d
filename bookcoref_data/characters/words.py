"""Word lists for reading names in cast lists: kin, suffixes, collectives. Data, no rules.

All words are lower case and without full stops.
"""

from __future__ import annotations

from ..words import word_set
from ..words.honorifics import NAME_SUFFIXES

ARTICLES = word_set("the a an")

ADJECTIVES = word_set("""
    old young little big great good bad mad poor fat tall short black white red first second third elder
    younger tiny blind long wicked
""")

KIN = word_set("""
    family families son sons daughter daughters wife husband children child fiancée fiancee fiancé fiance
    others friends friend company co brother brothers sister sisters mother father parents parent servants
    baby twins
""")

SUFFIXES = NAME_SUFFIXES | word_set("md phd jp dd kc qc mp sj obe")

COLLECTIVES = word_set("""
    family families club crew gang band company society army tribe clan people crowd chorus council committee
    household townspeople villagers brothers sisters friends children parents twins guards soldiers narrators
    detectives students servants neighbors neighbours gods witches boys girls men women animals
""")

ROLES = word_set(
    "husband wife narrator guard servant friend brother sister mother father son daughter lover teacher"
)

NUMBERS = word_set("two three four five six seven eight nine ten twelve")

HEADINGS = (
    r"(the )?(major|minor)",
    r"(the )?(major|minor|main|other|secondary|supporting|primary|central) characters?( list)?",
    r"(the )?characters?( list| descriptions?)?( in .+)?",
    r"(a )?notes?( (on|about) .+)?",
    r"(russian|character) names",
    r"(cast|list) of characters",
    r"dramatis personae",
    r"character (analysis|map)",
    # What the pages of study guides carry besides names: navigation, sections, offers.
    r"(full )?(book |plot |chapter )?(analysis|summary|overview|quiz|questions?)( (and|&) analysis)?",
    r"(take|start|try) (the|a|our) .*quiz.*",
    r"(related|useful|external|more) links?",
    r"(major |important |key )?(themes?|motifs?|symbols?|quot(es?|ations?))(,? .*(motifs?|symbols?))?",
    r"(sign|log) (up|in|on)\b.*",
    r"(subscribe|register|unlock|upgrade|continue reading|read more|learn more|see (all|more))\b.*",
    r"(get|download|buy|order|try) (the|this|your|our|a|an)\b.*",
    r"(study|discussion|essay|review) (guide|questions?|topics?|help|tools?)",
    r"(suggested |practice |sample )?essays?( topics| questions)?",
    r"(further|suggested) (reading|study)|bibliography|works cited|references|glossary",
    r"(how to )?cite( this.*)?|citations?|popular pages|table of contents|contents|home|menu|search|share",
    r"(next|previous)( (page|section|chapter))?|back( to .*)?|advertisements?|copyright.*",
    r"(historical |literary )?context|background|setting|genre|tone|style|point of view|plot",
    r"about (the|this) .*|author('s)? (bio.*|info.*)|test your (knowledge|understanding)",
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
