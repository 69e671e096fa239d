"""What may refer to a person: names, pronouns and noun phrases headed by a noun for a person."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from ...books import Book
from ...words import honorifics, kin, pronouns, word_set
from ..state import Marked
from . import lexicon as lex
from .parsing import Parse

SUBJECT, OBJECT, POSSESSIVE, OTHER = range(4)
_SUBJECT_DEPS = {"nsubj", "nsubjpass", "csubj", "agent"}
_OBJECT_DEPS = {"dobj", "iobj", "dative", "pobj", "oprd"}
_RIGHT_PARTS = {"prep", "relcl", "acl", "advmod", "amod", "nmod", "npadvmod"}
_PAUSES = word_set("\" ' , ! ? . ; -- ...")
_DEFINITE = {"the": "the", "this": "this", "that": "this", "a": "a", "an": "a", "such": "a",
             "another": "a", "no": "no",
             "some": "a", "any": "no", "every": "no", "each": "no"}  # fmt: skip


@dataclass(slots=True)
class Markable:
    """One place that may refer. `kind` is "name", "pronoun", "nominal" or "plural"; tokens are inclusive.

    `person` is 1, 2 or 3; `gender` "m", "f", "p" (plural) or ""; `noun` the head word of a nominal in
    lower case; `owner` the token of its possessor (-1), `definite` its determiner ("the", "this", "a",
    "no", "own", ""), `character` the cast index of a name (-1 for people outside the cast), `which` the words
    behind a noun that tell one such person from others ("in the white waistcoat").
    """

    start: int
    end: int
    head: int
    kind: str
    person: int
    gender: str
    role: int
    noun: str = ""
    owner: int = -1
    definite: str = ""
    character: int = -1
    text: str = ""
    reflexive: bool = False
    which: str = ""

    @property
    def at(self) -> int:
        """The token at which it is read: a phrase with its head, after the possessor inside it."""
        return self.head if self.kind == "nominal" else self.start


def find_markables(
    book: Book, parse: Parse, names: list[Marked], speaking: Collection[int] = ()
) -> list[Markable]:
    """All markables in the order in which they are read (`at`), longer ones first; `names` are the cast's.

    `speaking` are tokens that are people whatever word they are: subjects of verbs of saying.
    """
    found: list[Markable] = []
    named = np.zeros(len(book.tokens), dtype=bool)
    for m in names:
        head = _head_in(parse, m.start, m.end)
        text = " ".join(book.tokens[m.start : m.end + 1]).lower()
        found.append(
            Markable(
                m.start, m.end, head, "name", 3, "", _role(parse, head), character=m.character, text=text
            )
        )
        named[m.start : m.end + 1] = True
    i = 0
    while i < len(book.tokens):
        markable = _markable_at(book, parse, i, named, i in speaking)
        if markable is not None:
            found.append(markable)
            i = markable.end if markable.kind == "name" else i
        i += 1
    found.sort(key=lambda m: (m.at, -m.end))
    return found


def _markable_at(book: Book, parse: Parse, i: int, named: np.ndarray, speaking: bool) -> Markable | None:
    """The markable headed by a token, None where there is none; names of the cast are not looked at."""
    word, tag = book.tokens[i], parse.tag[i]
    low = word.lower()
    if low in _YOU_IN_DIALECT:
        return replace(_pronoun(parse, i, "your" if parse.dep[i] == "poss" else "you"), text=low)
    if word.rstrip(_GLUED) == "I":
        return None if _is_number_one(book, parse, i) else _pronoun(parse, i, "i")
    if tag in ("PRP", "PRP$") or low in _THOU:
        # "We must do His will": God.
        sacred = word.istitle() and low in pronouns.MALE and "".join(book.tokens[i - 1 : i]).islower()
        return _pronoun(parse, i, low) if low in pronouns.PERSONAL and not sacred else None
    if named[i]:
        return None
    if tag in ("NNS", "NNPS") and not _is_modifier(parse, i, named):
        # Several beings or things: nobody of the cast, but rivals for "they".
        return Markable(i, i, i, "plural", 3, "p", _role(parse, i), low, text=low)
    if speaking and tag in _SPEAKING_TAGS and low not in _ANYBODY:
        return _speaking(book, parse, i, named)
    if low in _CALLS and not (tag in ("NN", "NNP") and is_person_noun(low)):
        # The parser takes "sir", "dear" and "papa" for exclamations and adjectives.
        called = _nominal(book, parse, i, low)
        if low in kin.KIN:
            called = replace(called, start=i, end=i, text=low)
        return called if is_vocative(book, called) else None
    return _person_at(book, parse, i, named) if tag in ("NN", "NNP") else None


_CALLS = lex.PLAIN_VOCATIVES | kin.MOTHERS | kin.FATHERS
_GLUED = ".-"
"""Marks that tokenizers leave on a word: "said I.", "I-- ", said he."""
_NUMBERED = lex.words("NUMBERED")
_CROWNED = lex.words("CROWNED")
_RULERS = frozenset(["King", "Queen", "Pope", "Emperor", "Czar", "Tsar", "Prince", "Duke"])
"""Titles before a name with a number, whatever follows: "King James I was dead"."""
_LONG_TITLE = 12
"""Tokens of a line that are looked at to know a title in capitals."""
_FINITE = frozenset(["VBP", "VBD", "MD"])
_BEFORE_CLAUSES = frozenset(["when", "while", "that", "because", "if", "where", "as"])


def _is_number_one(book: Book, parse: Parse, i: int) -> bool:
    """Whether a token "I" is a numeral: alone in its line, in brackets or before a title in capitals, behind
    a word for a part ("CHAPTER I", "Act I"), or behind the name of a king, unless a verb follows that "I" may
    have ("the Letter I wrote", "when I met Henry I ran")."""
    tokens = book.tokens
    before = tokens[i - 1] if i else "\n"
    if before == "\n":
        end = next((k for k in range(i + 1, len(tokens)) if tokens[k] == "\n"), len(tokens))
        rest = [t for t in tokens[i + 1 : min(end, i + _LONG_TITLE)] if t != "."]
        return tokens[i] == "I." or all(t.isupper() or not t.isalpha() for t in rest)
    if before in ("(", ":", "§") and (i + 1 == len(tokens) or tokens[i + 1] in (")", ".", "\n")):
        return True
    if i > 1 and tokens[i - 2] in _RULERS and before[:1].isupper():
        return True
    if not before[:1].isupper():
        return False
    word = before.lower().rstrip(".")
    if word not in (_NUMBERED | _CROWNED):
        return False
    if before.isupper() or i + 1 == len(tokens) or parse.tag[i + 1] not in _FINITE:
        return True
    # "Napoleon I fled": where a name opens a clause, a comma would stand between it and "I".
    opens = i == 1 or tokens[i - 2].lower() in _BEFORE_CLAUSES or parse.sentence[i - 2] < parse.sentence[i]
    return bool(word in _CROWNED and opens and parse.tag[i + 1] != "VBP")


def _person_at(book: Book, parse: Parse, i: int, named: np.ndarray) -> Markable | None:
    """A noun for a person, or the name of somebody whom the cast does not have."""
    word = book.tokens[i]
    low = word.lower()
    if word == "Lord" and not {"my", "My"} & {*book.tokens[i - 1 : i]}:
        # "The Lord be praised", "Good Lord!", "O Lord": God.
        return _other_name(book, parse, i, named) if "".join(book.tokens[i + 1 : i + 2]).istitle() else None
    if is_person_noun(low) and not _is_modifier(parse, i, named):
        return _nominal(book, parse, i, low)
    begins_name = low.rstrip(".") in lex.TITLES or low in lex.FIRST_NAMES
    if parse.tag[i] == "NNP" and begins_name and word[:1].isupper():
        return _other_name(book, parse, i, named)
    return None


_SPEAKING_TAGS = frozenset(["NN", "NNP", "JJ", "CD"])
_ANYBODY = word_set("everyone everybody someone somebody anyone anybody nobody none one all nothing")
"""Subjects of verbs of saying that mean nobody in particular."""


def _speaking(book: Book, parse: Parse, i: int, named: np.ndarray) -> Markable:
    """The subject of a verb of saying: "the voice", "the other", "the Major", or a name the cast does not
    have."""
    described = i > 0 and book.tokens[i - 1].lower() == "the"
    if parse.tag[i] == "NNP" and book.tokens[i][:1].isupper() and not described:
        other = _other_name(book, parse, i, named)
        if other is not None:
            return other
    return _nominal(book, parse, i, book.tokens[i].lower())


_THOU = frozenset(["thou", "thee", "thy", "thine", "thyself", "ye"])
_YOU_IN_DIALECT = frozenset(["yer", "ya", "yeh"])


def is_person_noun(word: str) -> bool:
    """Whether a noun (lower case) is for a person or an animal; of a compound the last part decides."""
    return word in lex.PERSON_NOUNS or word.rpartition("-")[2] in _COMPOUND


_COMPOUND = lex.MALE_NOUNS | lex.FEMALE_NOUNS | word_set("keeper maker driver child servant seller writer")


def gender_of_noun(word: str) -> str:
    """ "m" or "f" where a noun for a person (lower case) has a gender, else ""."""
    last = word if word in lex.PERSON_NOUNS else word.rpartition("-")[2]
    return "m" if last in lex.MALE_NOUNS else "f" if last in lex.FEMALE_NOUNS else ""


def _pronoun(parse: Parse, i: int, low: str) -> Markable:
    person = 1 if low in pronouns.FIRST else 2 if low in pronouns.SECOND else 3
    gender = (
        "m" if low in pronouns.MALE else "f" if low in pronouns.FEMALE
        else "p" if low in pronouns.PLURAL else ""
    )  # fmt: skip
    if low in pronouns.POSSESSIVE and (parse.dep[i] == "poss" or low != "her"):
        role = POSSESSIVE
    elif low in pronouns.SUBJECT:
        role = SUBJECT
    else:
        role = _role(parse, i)
    return Markable(i, i, i, "pronoun", person, gender, role, text=low, reflexive=low in pronouns.REFLEXIVE)


def _is_modifier(parse: Parse, i: int, named: np.ndarray) -> bool:
    """Whether a noun only modifies another noun ("boy actor") or stands in a name's phrase."""
    head = int(parse.head[i])
    return (
        parse.dep[i] in ("compound", "nmod")
        and head > i
        and (parse.tag[head][:2] == "NN" or bool(named[head]))
    )


_SPOUSES = {"lady": "wife", "widow": "wife", "missus": "wife", "lord": "husband", "widower": "husband"}
_MATES = word_set("spouse consort helpmate helpmeet half")
_MATE_OF = {"his": "wife", "her": "husband"}
"""Words for a husband or a wife: "his spouse", "her better half"."""
_ONES_OWN = frozenset(["my", "your", "our", "thy"])


def _nominal(book: Book, parse: Parse, head: int, low: str) -> Markable:
    start, owner, definite = head, -1, ""
    for i in range(int(parse.left[head]), head):
        if int(parse.head[i]) != head:
            continue
        word = book.tokens[i].lower()
        if parse.dep[i] == "poss":
            owner = i
            definite = "own"
        elif parse.dep[i] == "det" and not definite:
            definite = _DEFINITE.get(word, "")
    if owner < 0 and low in kin.KIN:
        owner = _behind_of(book, parse, head)
    start = _left_end(book, parse, head)
    end = _right_end(book, parse, head)
    addressed = low in lex.STYLES and owner >= 0 and book.tokens[owner].lower() in ("your", "thy")
    gender = gender_of_noun(low)
    if owner >= 0 and book.tokens[owner].lower() not in _ONES_OWN:
        low = _MATE_OF.get(book.tokens[owner].lower(), low) if low in _MATES else _SPOUSES.get(low, low)
        gender = gender_of_noun(low)
    return Markable(
        start, end, head, "nominal", 2 if addressed else 3, gender, _role(parse, head), low, owner, definite,
        text=" ".join(book.tokens[start : head + 1]).lower(), which=_which(book, parse, head),
    )  # fmt: skip


def _behind_of(book: Book, parse: Parse, head: int) -> int:
    """Whose kin a noun names that has him behind it: "the wife of Captain Hill". A token, -1 for nobody."""
    of = head + 1
    if of >= len(book.tokens) or book.tokens[of] != "of" or int(parse.head[of]) != head:
        return -1
    inside = range(of + 1, int(parse.right[of]) + 1)
    return next((i for i in inside if int(parse.head[i]) == of and parse.dep[i] == "pobj"), -1)


def _which(book: Book, parse: Parse, head: int) -> str:
    """The words right behind a noun that tell one such person from others: a clause ("the man who drove the
    cab"), or what he has or where he is, if the reader knows of it ("the gentleman in the white waistcoat",
    not "the girl in a low voice"); "" where there are none."""
    i = next((i for i in range(head + 1, int(parse.right[head]) + 1) if int(parse.head[i]) == head), head)
    if i == head or int(parse.left[i]) != head + 1:
        return ""
    words = [token.lower() for token in book.tokens[head + 1 : int(parse.right[i]) + 1]]
    if parse.dep[i] == "relcl":
        return " ".join(words) if words[0] in _RELATIVE else ""
    inside = range(i + 1, int(parse.right[i]) + 1)
    things = [book.tokens[j].lower() for j in inside if int(parse.head[j]) == i and parse.dep[j] == "pobj"]
    known = words[0] in _SEEN and words[1:2] == ["the"] and bool(things) and things[0] not in _MANNER
    return " ".join(words) if parse.dep[i] == "prep" and known else ""


_WHO = frozenset(["who", "whom", "whose"])
_RELATIVE = _WHO | {"that"}
_SEEN = frozenset(["with", "in", "from", "at", "on", "behind", "near"])
"""Prepositions that say what somebody has or where he is."""
_MANNER = lex.VOICES | word_set("manner way whisper fashion style key air midst end")
"""What the same prepositions say of how somebody speaks."""


def _left_end(book: Book, parse: Parse, head: int) -> int:
    """The first token of the noun phrase: contiguous modifiers, with what hangs on them."""
    start = head
    for i in range(head - 1, int(parse.left[head]) - 1, -1):
        if parse.dep[i] in ("punct", "cc", "mark", "preconj", "intj") and int(parse.head[i]) == head:
            # A comma belongs inside only between adjectives ("a tall, dark man").
            adjective = parse.dep[i - 1] in ("amod", "det") and int(parse.head[i - 1]) == head
            if book.tokens[i] != "-" and not (book.tokens[i] == "," and i and adjective):
                break
            continue
        if int(parse.head[i]) == head:
            start = min(start, int(parse.left[i]))
    while start < head and book.tokens[start].lower() in _OUTSIDE:
        start += 1
    return start


_OUTSIDE = word_set("such what rather quite even indeed also perhaps only just , -")


def _right_end(book: Book, parse: Parse, head: int) -> int:
    """The last token of the maximal phrase: prepositional phrases and relative clauses that adjoin, and
    "who" clauses after a comma."""
    end = head
    for i in range(head + 1, int(parse.right[head]) + 1):
        if int(parse.head[i]) != head or parse.dep[i] not in _RIGHT_PARTS:
            continue
        left = int(parse.left[i])
        aside = left == end + 2 and book.tokens[end + 1] == "," and book.tokens[left].lower() in _WHO
        if left != end + 1 and not aside:
            break
        if parse.dep[i] == "prep" and book.tokens[i] not in _OF_THE_PHRASE:
            break
        end = int(parse.right[i])
    while end > head and not book.tokens[end][-1:].isalnum() and book.tokens[end] not in ("'s", "."):
        end -= 1
    return end


_OF_THE_PHRASE = frozenset(["of", "with", "in", "from", "at"])
"""Prepositions whose phrase belongs to the noun before it more often than to the verb."""


def _other_name(book: Book, parse: Parse, i: int, named: np.ndarray) -> Markable | None:
    """A person who is not in the cast: a title or first name with the proper nouns after it."""
    end = i
    while (
        end + 1 < len(book.tokens)
        and (
            parse.tag[end + 1] == "NNP"
            or (book.tokens[end + 1] == "." and book.tokens[end].lower() in honorifics.ABBREVIATED)
        )
        and not named[end + 1]
        and parse.sentence[end + 1] == parse.sentence[i]
    ):
        end += 1
    low = book.tokens[i].lower().rstrip(".")
    if (end + 1 < len(book.tokens) and named[end + 1]) or (
        end == i and low in lex.TITLES and low not in lex.PERSON_NOUNS
    ):
        return None
    if book.tokens[end].lower() in lex.PLACES:
        return None
    gender = (
        "m" if low in honorifics.MALE_HONORIFICS or low in lex.MALE_FIRST - lex.FEMALE_FIRST
        else "f" if low in honorifics.FEMALE_HONORIFICS or low in lex.FEMALE_FIRST - lex.MALE_FIRST else ""
    )  # fmt: skip
    head = _head_in(parse, i, end)
    text = " ".join(book.tokens[i : end + 1]).lower()
    return Markable(i, end, head, "name", 3, gender, _role(parse, head), text=text)


def _head_in(parse: Parse, start: int, end: int) -> int:
    for i in range(start, end + 1):
        if not start <= int(parse.head[i]) <= end:
            return i
    return end


def _role(parse: Parse, head: int) -> int:
    dep = parse.dep[head]
    steps = 0
    while dep in ("conj", "appos", "compound", "nmod") and steps < 3:
        head = int(parse.head[head])
        dep = parse.dep[head]
        steps += 1
    if dep in _SUBJECT_DEPS:
        return SUBJECT
    if dep in _OBJECT_DEPS:
        return OBJECT
    return POSSESSIVE if dep == "poss" else OTHER


_KIND_WORDS = word_set("my dear dearest o oh ah poor good")
"""Words before a name that calls somebody."""


def is_vocative(book: Book, m: Markable) -> bool:
    """Whether a name or noun inside a quote addresses someone: set off by pauses, at least one a comma."""
    if m.kind == "pronoun" or (m.kind == "nominal" and m.noun not in lex.VOCATIVE_NOUNS):
        return False
    if m.kind == "nominal" and m.definite not in ("", "own"):
        return False
    start = m.start
    while start > 0 and book.tokens[start - 1].lower() in _KIND_WORDS:
        start -= 1
    before = book.tokens[start - 1] if start else ""
    after = book.tokens[m.end + 1] if m.end + 1 < len(book.tokens) else ""
    if before not in _PAUSES or after not in _PAUSES or (m.kind == "name" and _names_kin(book, start)):
        return False
    return before == "," or after in (",", "!") or start < m.start


_BE, _WHOSE = word_set("am are 'm 're be"), word_set("my your his her our their thy 's")


def _names_kin(book: Book, start: int) -> bool:
    """Whether a name tells who is kin: "my uncle, Sir William!", but not "I am your father, Luke"."""
    before = [token.lower() for token in book.tokens[max(start - 6, 0) : start]]
    *said, whose, noun, comma = ["", "", "", *before]
    return comma == "," and noun in kin.KIN and whose in _WHOSE and _BE.isdisjoint(said)
