"""A small list of English nouns by semantic class, with the short tags of CNER.

It is meant for quick looks without a download: it knows common nouns of novels, and people by their
honorifics. What it does not know it leaves unlabelled.
"""

from __future__ import annotations

from . import word_set
from .kin import KIN

NOUN_CLASSES = {
    "PER": KIN
    | word_set("""
        man men woman women gentleman gentlemen lady ladies boy boys girl girls child children person
        people fellow fellows friend friends enemy enemies servant servants maid master mistress king queen
        prince princess duke duchess lord soldier soldiers officer officers captain doctor lawyer priest
        clergyman nurse teacher pupil stranger visitor guest guests host hostess neighbour neighbours neighbor
        neighbors farmer sailor sailors merchant beggar thief hero heroine lover bride widow widower orphan
        baby infant companion traveller traveler villager villagers peasant peasants shepherd carpenter
        miller smith cook butler coachman driver clerk judge prisoner murderer poet artist painter writer
        author reader student scholar genius fool wretch creature youth maiden lad lass husband wife sir
        madam daughters sons brothers sisters parents uncles aunts cousins
    """),
    "ANIMAL": word_set("""
        animal animals horse horses dog dogs cat cats pig pigs sow boar cow cows sheep lamb goat goats hen
        hens cock duck ducks goose geese bird birds fish whale whales wolf wolves fox bear lion tiger donkey
        mule pony raven pigeon pigeons rat rats mouse mice rabbit rabbits snake insect bee bees beast beasts
        hound hounds puppy puppies kitten mare stallion calf bull ox oxen deer eagle
    """),
    "GROUP": word_set("""
        family families crowd party company society crew army regiment gang band group tribe class court
        audience household couple pair committee council government police public
    """),
    "STRUCT": word_set("""
        house houses home room rooms hall parlour parlor kitchen bedroom chamber church chapel castle palace
        cottage barn inn hotel school prison tower bridge gate door window wall stable farmhouse windmill
        library shop office street road station
    """),
    "LOC": word_set("""
        place places town towns village villages city cities country countries county land field fields
        farm garden park forest wood woods hill hills mountain mountains valley river rivers sea ocean island
        shore coast world region north south east west
    """),
    "ARTIFACT": word_set("""
        carriage ship ships boat boats cart coach sword gun knife table chair bed lamp candle watch ring coat
        hat dress gown shoe shoes boots bag box key bottle glass cup plate clock mirror
    """),
    "MEDIA": word_set("""
        book books letter letters note newspaper paper papers song songs poem story tale play picture
        pictures portrait novel speech sermon
    """),
    "PART": word_set("""
        head face eye eyes hand hands arm arms foot feet leg legs heart mouth lip lips nose hair ear ears
        voice finger fingers shoulder shoulders neck breast tail wing wings
    """),
    "FEELING": word_set("""
        love hate fear joy anger grief sorrow happiness hope despair pride shame jealousy affection pity
        surprise pleasure pain
    """),
    "DATETIME": word_set("""
        day days night nights morning evening afternoon hour hours minute minutes moment week weeks month
        months year years time today yesterday tomorrow century winter summer spring autumn
    """),
    "EVENT": word_set("""
        war battle wedding marriage ball dinner supper breakfast journey voyage death birth meeting
        rebellion revolution funeral visit
    """),
    "FOOD": word_set("bread milk wine beer tea coffee cake meat apple apples corn soup food sugar"),
    "PLANT": word_set("tree trees flower flowers rose roses grass oak leaf leaves bush"),
    "SUPER": word_set("god gods devil angel angels spirit spirits ghost ghosts fairy fairies demon witch"),
    "MONEY": word_set("money pound pounds shilling shillings guinea guineas dollar dollars fortune penny"),
    "DISEASE": word_set("fever illness cold disease headache madness plague"),
}
"""Words in lower case by class; no word is in two."""

CLASS_OF = {word: name for name, words in NOUN_CLASSES.items() for word in words}
