"""Words that stand before a name: courtesy titles, ranks, offices, kin.

One table holds every word with its gender and its traits; the sets below it are views of that table. Look a
word up in lower case and without its full stop: "Mrs." is `mrs`.
"""

from . import word_set

# forms | gender of the bearer (m, f, - for either) | traits
# surname: a single name after it is a surname ("Colonel Brandon").  married, unmarried: as it says.
# office: borne by men in the novels of the nineteenth century unless the book says otherwise.
_TABLE = """
mr mister mistah monsieur m signor herr señor senor  | m | surname
squire lord                                          | m | surname
lady                                                 | f | surname
sir don pan fr master massa esquire baronet          | m |
king prince duke archduke count baron earl marquis   | m |
viscount vicomte comte emperor czar tsar sultan      | m |
graf knez kniaz seigneur                             | m |
friar abbé abbe                                      | m |
father brother uncle grandfather grandpa papa gramps | m |
père pere                                            | m |
mrs mme madame señora senora signora frau            | f | married surname
missis missus                                        | f | married surname
miss mlle mademoiselle señorita senorita signorina   | f | unmarried surname
fräulein fraulein                                    | f | unmarried surname
ms madam mistress dame pani doña dona donna          | f |
queen princess duchess archduchess countess baroness | f |
baronne marchioness marquise viscountess comtesse    | f |
grafinia empress                                     | f |
mother sister aunt auntie grandmother grandma granny | f |
gram grams nanny nurse widow                         | f |
dr doctor captain capt colonel col major general     | - | office surname
lieutenant lieut lt sergeant sgt professor prof      | - | office surname
rev judge inspector parson admiral                   | - | office surname
doc maj gen corporal private commander commodore     | - | office
commandant reverend justice governor president mayor | - | office
senator detective constable officer bishop           | - | office
archbishop cardinal pope dean deacon vicar curate    | - | office
mx saint st hon honourable honorable cousin chief    | - |
comrade citizen citoyen                              | - |
citizeness                                           | f |
"""

_ROWS = [[cell.strip() for cell in line.split("|")] for line in _TABLE.strip().splitlines()]


def _with_gender(gender: str) -> frozenset[str]:
    return frozenset(word for forms, g, _ in _ROWS if g == gender for word in forms.split())


def _with_trait(trait: str) -> frozenset[str]:
    return frozenset(word for forms, _, traits in _ROWS if trait in traits.split() for word in forms.split())


HONORIFICS = frozenset(word for forms, _, _ in _ROWS for word in forms.split())
"""Every word of the table."""
MALE_HONORIFICS = _with_gender("m")
FEMALE_HONORIFICS = _with_gender("f")
MARRIED = _with_trait("married")
UNMARRIED = _with_trait("unmarried")
BEFORE_SURNAMES = _with_trait("surname")
OFFICES = _with_trait("office")

NAME_SUFFIXES = word_set("jr junior sr senior esq esquire ii iii iv")
"""Words that stand behind a name and are no part of it."""
ABBREVIATED = word_set(
    "mr mrs ms dr st messrs mme mlle m capt col gen lieut lt sgt rev hon prof maj esq jr sr"
)
"""Words that are written with a full stop which ends no sentence."""


def honorific_gender(word: str) -> str:
    """ "m" or "f" for a title that only men or only women bear, else ""; `word` as in the table."""
    return "m" if word in MALE_HONORIFICS else "f" if word in FEMALE_HONORIFICS else ""
