"""What a chain of a part and an earlier document chain have in common, as numbers.

The features are general: words, tags where a document has them, speakers and quotation marks, pronouns,
names and their parts, sizes, places. None depends on a genre or a word list of names.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import log1p

import numpy as np

from ...books import Mention
from ...formats.layers import flat
from ...scoring.mention_types import TypeRules, head_of
from ...shapes import together
from ...words import word_set
from ...words.honorifics import HONORIFICS, OFFICES, honorific_gender
from ...words.pronouns import FEMALE, FIRST, FIRST_PLURAL, MALE, NEUTER, PLURAL, SECOND
from .parts import SplitDocument

_WE_WORDS = FIRST_PLURAL | {"'s", "’s"}
"""With the short form of "let us"."""
_CLASSES = (MALE, FEMALE, NEUTER, PLURAL, _WE_WORDS, FIRST, SECOND)
_WE, _I, _YOU = 4, 5, 6
_FIRST_KINDS = ("indefinite", "definite", "possessive", "name", "pronoun", "bare")
_DETERMINERS = word_set("the a an this that these those such some any no")
_INDEFINITE = word_set("a an some another any no one two three")
_POINTING = word_set("this that these those such")
_POSSESSIVE = word_set("his her their my your our its thy")
_MALE_NOUNS = word_set("man boy husband father brother son uncle king prince lord gentleman fellow")
_FEMALE_NOUNS = word_set("woman girl wife mother sister daughter aunt queen princess lady maiden")
_OPENING, _CLOSING = frozenset({"“", "``", "«"}), frozenset({"”", "''", "»"})
_LONGEST_QUOTE = 400
_NEAR = 60
"""Tokens before a part's end in which a mention counts as near it."""
_FAR, _MOST, _MANY = 1500, 50, 6
"""Tokens, chains and parts beyond which counts say no more: books go far beyond what was learned from."""


class Observed:
    """A document read once: kinds of mentions, quotations, who says a token, how often a word occurs."""

    def __init__(self, document: SplitDocument) -> None:
        self.document = document
        self.tokens = document.tokens
        self.rules = TypeRules(document.tokens, document.sentence_ends)
        self.tags = flat(document.layers.get("xpos")) or [""] * len(self.tokens)
        self.speakers = flat(document.layers.get("speakers")) or [""] * len(self.tokens)
        self.words = Counter(token.lower() for token in self.tokens)
        # Whether each token stands in quotation marks; a quotation that nobody closes ends by itself
        self.quoted, since = list[bool](), -1
        for i, token in enumerate(self.tokens):
            if token in _OPENING or (token == '"' and since < 0):
                since = i
            elif token in _CLOSING or token == '"' or i - since > _LONGEST_QUOTE:
                since = -1
            self.quoted.append(since >= 0)
        self.openers = {0, *document.sentence_ends}

    def kind_of(self, mention: Mention) -> str:
        """ "name", "nominal" or "pronoun": by tags where there are any, else by rules on words."""
        found = self.rules.type_of(*mention)
        head = head_of(self.tokens, *mention)
        tag = self.tags[head] if head is not None else ""
        if not tag:
            # "Major", whom nobody calls by another name
            word = self.tokens[head] if head is not None and mention.start == mention.end else ""
            return "name" if word[:1].isupper() and word.lower() in OFFICES else found
        if mention.start == mention.end and tag.startswith(("PRP", "WP", "DT", "EX", "WDT")):
            return "pronoun"
        return "name" if tag.startswith(("NNP", "NP")) else found if found == "pronoun" else "nominal"

    @cached_property
    def addressees(self) -> list[str]:
        """For every token whom its speaker answers: the speaker of the turn before; in the first, after."""
        turns: list[tuple[int, str]] = []  # first token and speaker
        for i, speaker in enumerate(self.speakers):
            if speaker and (not turns or turns[-1][1] != speaker):
                turns.append((i, speaker))
        found = [""] * len(self.tokens)
        for i, (at, speaker) in enumerate(turns):
            end = turns[i + 1][0] if i + 1 < len(turns) else len(self.tokens)
            around = [turns[j][1] for j in (i - 1, i + 1) if 0 <= j < len(turns)]
            other = next((who for who in around if who != speaker), "")
            found[at:end] = [other] * (end - at)
        return found


class Profile:
    """What the mentions of a chain say.

    `persons` counts pronouns and nouns of the classes he, she, it, they, we, I, you; `strings` and `names`
    count noun phrases and names up to their head, in lower case without determiners, `full` those as they
    stand; `modifiers` are the other words of noun phrases by head. `voices` are the speakers that say "I" of
    it, `addressed` those whom a speaker seems to call "you", `not_voices` who says "you" or is spoken of.
    """

    def __init__(self) -> None:
        self.size = self.nouns = self.links = self.quoted = 0
        self.pointing = self.opens = self.plural = self.singular = 0
        self.first, self.last, self.first_kind = -1, -1, ""
        self.persons = [0.0] * len(_CLASSES)
        self.strings, self.full, self.names = Counter[str](), Counter[str](), Counter[str]()
        self.name_counts = Counter[str]()
        self.heads, self.voices, self.we_voices = Counter[str](), Counter[str](), Counter[str]()
        self.you_voices, self.addressed, self.not_voices = Counter[str](), Counter[str](), Counter[str]()
        self.name_words, self.words, self.titles = set[str](), set[str](), set[str]()
        self.modifiers: dict[str, set[str]] = {}
        self.parts, self.places = set[int](), list[int]()

    def add(self, other: "Profile") -> None:
        """Join the facts of a later chain of the same entity."""
        for name in ("size", "nouns", "pointing", "opens", "plural", "singular", "quoted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.links += 1
        self.persons = [a + b for a, b in zip(self.persons, other.persons, strict=True)]
        for name, value in vars(other).items():
            if isinstance(value, Counter | set):
                getattr(self, name).update(value)
        for head, words in other.modifiers.items():
            self.modifiers.setdefault(head, set()).update(words)
        self.last = max(self.last, other.last)
        self.places = other.places
        for name in ("gender", "shares", "number"):
            self.__dict__.pop(name, None)

    @cached_property
    def gender(self) -> str:
        """ "m", "f", "n", "p" or "w" (we) when the pronouns and nouns of a chain agree, else ""."""
        counts = self.persons[:5]
        best = max(range(5), key=lambda i: counts[i])
        return "mfnpw"[best] if counts[best] > 0.7 * sum(counts) > 0 else ""

    @property
    def main_name(self) -> str:
        """The commonest name, "" without any."""
        return max(self.names, key=self.names.__getitem__) if self.names else ""

    @cached_property
    def shares(self) -> tuple[float, float, float, float, float]:
        """Of its mentions those that say I, you, we, a third person, and those in quotation marks."""
        counts = [self.persons[_I], self.persons[_YOU], self.persons[_WE], sum(self.persons[:4]), self.quoted]
        i, you, we, third, quoted = (count / self.size for count in counts)
        return i, you, we, third, quoted

    @cached_property
    def number(self) -> int:
        """1 where plurals prevail, -1 where singulars do, else 0."""
        plural = self.plural + self.persons[3] + self.persons[_WE]
        single = self.singular + sum(self.persons[:3]) + self.persons[_I]
        return int(plural > 2 * single) - int(single > 2 * plural)


def profile_of(reading: Observed, mentions: Sequence[Mention], part: int = 0) -> Profile:
    made = Profile()
    made.size, made.first, made.last = len(mentions), mentions[0].start, mentions[-1].start
    made.parts, made.places = {part}, [m.start for m in mentions]
    for number, mention in enumerate(mentions):
        words = [t.lower() for t in reading.tokens[mention.start : mention.end + 1] if t != "\n"] or [""]
        kind = reading.kind_of(mention)
        made.quoted += reading.quoted[mention.start]
        made.opens += mention.start in reading.openers
        made.pointing += words[0] in _POINTING
        if number == 0:
            kinds = {"indefinite": _INDEFINITE, "possessive": _POSSESSIVE, "definite": _DETERMINERS}
            nominal = next((name for name, begins in kinds.items() if words[0] in begins), "bare")
            made.first_kind = nominal if kind == "nominal" else kind
        if kind != "pronoun":
            _add_noun(made, reading, mention, words, kind == "name")
            continue
        for i, known in enumerate(_CLASSES):
            made.persons[i] += words[0] in known
        speaker = reading.speakers[mention.start]
        if speaker and words[0] in FIRST:
            made.voices[speaker] += 1
        elif speaker and words[0] in _WE_WORDS:
            made.we_voices[speaker] += 1
        elif speaker:
            made.not_voices[speaker] += 1
            if words[0] in SECOND:
                made.you_voices[speaker] += 1
                made.addressed.update(filter(None, [reading.addressees[mention.start]]))
    return made


def _add_noun(made: Profile, reading: Observed, mention: Mention, words: list[str], is_name: bool) -> None:
    at = head_of(reading.tokens, *mention)
    core = [t.lower() for t in reading.tokens[mention.start : (mention.end if at is None else at) + 1]]
    bare = core[1:] if core[0] in _DETERMINERS and len(core) > 1 else core
    head = bare[-1]
    made.nouns += 1
    made.full[" ".join(words)] += 1
    made.strings[" ".join(bare)] += 1
    made.words |= set(words)
    tag = reading.tags[at] if at is not None else ""
    plural = tag.endswith("S") if tag else head.endswith("s") and not head.endswith("ss") and not is_name
    made.plural += plural
    made.singular += not plural
    made.heads[head] += 1
    made.modifiers.setdefault(head, set()).update(w for w in bare if w != head)
    if is_name:
        made.names[" ".join(bare)] += 1
        made.name_words |= _plain(bare) or (set() if tag else OFFICES.intersection(bare))
        made.name_counts.update(bare)
        made.titles |= {g for w in bare if (g := honorific_gender(w.rstrip(".")))}
    for word in {head, *(w.rstrip(".") for w in bare[:1])}:
        gender = honorific_gender(word)
        made.persons[0] += gender == "m" or word in _MALE_NOUNS
        made.persons[1] += gender == "f" or word in _FEMALE_NOUNS


def contradict(c: Profile, d: Profile) -> bool:
    """Whether the names of two chains cannot be of one entity: no word in common (nor the first letters of
    the other's), an office that the other never has, titles of a man and of a woman, or whole names that
    share only the last word."""
    if not c.name_words or not d.name_words:
        return False
    if len(c.titles | d.titles) > 1 and len(c.titles) == len(d.titles) == 1:
        return True
    shared = c.name_words & d.name_words
    if not shared and (c.name_words <= OFFICES or d.name_words <= OFFICES):
        return c.name_counts.keys().isdisjoint(d.name_counts)
    if not shared:
        return not (_abbreviates(c, d) or _abbreviates(d, c))
    longer = [[n.split() for n in p.names if len(n.split()) == 2] for p in (c, d)]
    pairs = [(a, b) for a in longer[0] for b in longer[1] if a[1] == b[1]]
    plain = all(w.isalpha() and w not in HONORIFICS and len(w) > 1 for a, b in pairs for w in (a[0], b[0]))
    ends = {name.split()[-1] for p in (c, d) for name in p.names}
    return bool(pairs) and plain and len(ends) == 1 and all(a[0][0] != b[0][0] for a, b in pairs)


def says_little(c: Profile, d: Profile) -> bool:
    """Whether little says that c is d: c is one or two pronouns that tell no gender ("we", "it", "you"), or
    common nouns and pronouns, with no phrase that is one of d."""
    if not c.nouns:
        return c.size <= 2 and not (c.persons[0] or c.persons[1])
    return not (c.names or c.persons[_I] or c.persons[_YOU] or c.strings.keys() & d.strings.keys())


def _abbreviates(c: Profile, d: Profile) -> bool:
    short = {name.replace(".", "").replace(" ", "") for name in c.names}
    letters = {"".join(w[0] for w in name.split() if w[:1].isalnum()) for name in d.names}
    return any(a in letters or a in {w[: len(a)] for w in d.name_words} for a in short if len(a) > 1)


FEATURES = (90, 33)
"""How many features a pair and a chain have: weights for others are refused."""
MOST_CANDIDATES = 60
STRANGER = 0.2
"""A name that a chain has less often than this, against its home and against its other names, is a slip."""


class ChainCandidates:
    """The document chains that the chains of one part may join, with features of every pair.

    Of more than `MOST_CANDIDATES` chains those that share a head, name or voice are looked at, the most
    recent and the largest: the cost of a document is then linear in its chains.
    """

    def __init__(
        self, reading: Observed, profiles: Sequence[Profile], part: int, peers: Sequence[Profile]
    ) -> None:
        """`peers` are the chains of the part: of several that say "we", each says less than one alone."""
        starts = reading.document.part_starts
        self.reading, self.profiles, self.part = reading, profiles, part
        self._last, self._start = starts[part - 1], starts[part]
        everyone = range(len(profiles))
        self._recent_order = sorted(everyone, key=lambda i: -profiles[i].last)
        self._large_order = sorted(everyone, key=lambda i: -profiles[i].size)
        self._genders = Counter(p.gender for p in profiles)
        orders, genders = (self._recent_order, self._large_order), {*self._genders, "", *"mfnpw"}
        self._ranks = {of: [_ranks(profiles, order, of) for order in orders] for of in genders}
        self._with = together((key, i) for i, p in enumerate(profiles) for key in _keys(p))
        self._voices = {s for s in reading.speakers if s}
        shares = [[p.shares for p in some] for some in (profiles, peers)]
        self._talkers, self._peers = (
            [max(sum(s[k] > 0 for s in all_), 1) for k in range(3)] for all_ in shares
        )
        self._homes: dict[str, int] = {}
        for p in profiles:
            for name, count in p.names.items():
                self._homes[name] = max(count, self._homes.get(name, 0))

    def at_home(self, c: Profile, d: Profile) -> float:
        """How often d has the commonest name of c, as a share of the chain that has it most often.

        Slips of systems bring names into wrong chains; they are at home where they are frequent. 1 where no
        chain has it.
        """
        most = self._homes.get(c.main_name, 0)
        return d.names[c.main_name] / most if most else 1.0

    def contradict(self, c: Profile, d: Profile) -> bool:
        """Whether the names of c are those of another chain, or cannot be of the entity of d."""
        if contradict(c, d):
            return True
        mine, most = _plain(c.main_name.split()), d.names[c.main_name]
        others = sum(count for name, count in d.names.items() if not mine & _plain(name.split()))
        return bool(d.names) and self.at_home(c, d) < STRANGER and most < others * STRANGER

    def of(self, c: Profile) -> list[int]:
        """The places of the chains that c may join."""
        if len(self.profiles) <= MOST_CANDIDATES:
            return list(range(len(self.profiles)))
        eighth = MOST_CANDIDATES // 8
        found = dict.fromkeys(i for key in _keys(c) for i in self._with.get(key, ())[-eighth:])
        found |= dict.fromkeys(self._recent_order[: 2 * eighth])
        found |= dict.fromkeys(self._large_order[:eighth])
        return sorted(list(found)[:MOST_CANDIDATES])

    def new_features(self, c: Profile) -> list[float]:
        """Features of the chain itself, which decide about New."""
        known = (("string", c.strings), ("head", c.heads), ("name", c.name_words))
        occurs = max((self.reading.words[h] for h in c.heads), default=0)
        *talk, quoted = c.shares
        row: list[float] = [log1p(c.size), c.size == 1, not c.nouns, bool(c.names)]
        row += (c.first_kind == k for k in ("indefinite", "definite", "possessive", "bare", "pronoun"))
        row += (any((kind, word) in self._with for word in words) for kind, words in known)
        row += [_log(len(self.profiles), _MOST), bool(c.gender)]
        row += [_log(self._genders[c.gender] if c.gender else 0, _MOST), *talk, _log(self.part, _MANY)]
        row += [c.pointing / c.size, log1p(c.first - self._start) / 5, c.plural / c.size, quoted]
        row += [log1p(len(self._voices)), bool(c.voices or c.we_voices)]
        row += [_log(occurs - sum(c.heads.values()), _MOST), c.opens / c.size, log1p(len(c.words))]
        row += [c.main_name in self._homes]
        return row + [(share > 0) / n for share, n in zip(talk, self._peers, strict=False)]

    def pair_features(self, c: Profile, among: Sequence[int]) -> np.ndarray:
        """One row per document chain of `among`."""
        rivals = self._genders[c.gender] + self._genders[""] if c.gender else len(self.profiles)
        rows = [self._row(c, i, _log(rivals, _MOST)) for i in among]
        return np.array(rows, dtype=np.float32).reshape(len(rows), FEATURES[0])

    def _row(self, c: Profile, i: int, rivals: float) -> list[float]:
        d = self.profiles[i]
        strings, heads = c.strings.keys() & d.strings.keys(), c.heads.keys() & d.heads.keys()
        recent, large = (ranks[i] for ranks in self._ranks[c.gender])
        every_recent, every_large = (ranks[i] for ranks in self._ranks[""])
        only, quoted, others = not c.nouns, c.shares[4], d.shares[4]
        row = [*_words_of(c, d, strings, heads), *_persons(c, d), *self._voices_of(c, d)]
        row += [only, not d.nouns, only * recent, only * large, only * (recent == 1.0)]
        row += [log1p(c.size), _log(d.size, _MOST)]
        row += [_log(c.first - d.last, _FAR) / 5, log1p(max(c.first - self._start, 0)) / 5]
        row += [d.last >= self._last, sum(at >= self._start - _NEAR for at in d.places) / 4]
        row += [1 / (1 + _log(self._last - d.last, _FAR)), every_large, every_recent]
        row += [*self._strings_of(c, d, strings, heads), rivals, *self._heads_of(c, d, strings, heads)]
        row += [_log(d.links, _MANY), _log(len(d.parts), _MANY), quoted, others, abs(quoted - others)]
        row += [bool(c.names and d.names) and not c.name_words & d.name_words and _abbreviates(c, d)]
        row += [min(d.places) >= self._last]
        row += [bool(strings) and not (c.names and d.names), *self._names_of(c, d)]
        talk = [min(mine, theirs) for mine, theirs in zip(c.shares[:3], d.shares[:3], strict=True)]
        row += (
            share / n for some in (self._talkers, self._peers) for share, n in zip(talk, some, strict=True)
        )
        return row + [not heads and bool(p.heads.keys() & q.words) for p, q in ((c, d), (d, c))]

    def _names_of(self, c: Profile, d: Profile) -> list[float]:
        if not c.names or not d.names:
            return [0.0] * 4
        known, home = c.main_name in self._homes, self.at_home(c, d)
        one, other = c.name_counts, d.name_counts
        length = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
        cosine = sum(n * other[w] for w, n in one.items()) / length**0.5 if length else 0.0
        return [known * home, known and home == 1.0, cosine, _common(c.names, d.names)]

    def _voices_of(self, c: Profile, d: Profile) -> list[float]:
        """Whether the two chains are the same participants of a conversation."""
        if not self._voices:
            return [0.0] * 9
        said, known = _common(c.voices, d.voices), bool(c.voices and d.voices)
        called = max(_common(c.voices, d.addressed), _common(c.addressed, d.voices))
        excluded = max(_common(c.voices, d.not_voices), _common(c.not_voices, d.voices))
        joined = {"".join(n.split()).replace(".", "") for p in (c, d) for n in p.names}
        named = any(v.lower() in joined for v in c.voices | d.voices)
        two = len(self._voices) == 2
        row = [said, known and not said, _common(c.we_voices, d.we_voices)]
        row += [_common(c.you_voices, d.you_voices), called, _common(c.addressed, d.addressed)]
        return [*row, excluded, named, two and called > 0 and not excluded]

    def _strings_of(self, c: Profile, d: Profile, strings: set[str], heads: set[str]) -> list[float]:
        least_string = min((len(self._with["string", s]) for s in strings), default=0)
        least_head = min((len(self._with["head", h]) for h in heads), default=0)
        row = [_log(least_string, _MANY), _log(least_head, _MANY)]
        row += [*(c.first_kind == k for k in _FIRST_KINDS), c.size == 1, c.pointing / c.size]
        row += [least_string == 1, least_head == 1, any(len(h) > 6 for h in heads)]
        return [*row, len(c.words & d.words) / max(1, min(len(c.words), len(d.words)))]

    def _heads_of(self, c: Profile, d: Profile, strings: set[str], heads: set[str]) -> list[float]:
        kind, same, alike = c.first_kind, bool(heads), bool(strings)
        occurs = max((self.reading.words[h] for h in heads), default=0)
        mine = max((c.heads[h] + d.heads[h] for h in heads), default=0)
        row: list[float] = [same and kind == "definite", same and kind == "bare", same and c.pointing > 0]
        row += [
            alike and kind == "indefinite",
            alike and c.plural > c.singular,
            any(" " in s for s in strings),
        ]
        return [*row, _log(occurs - mine, _MOST), mine / occurs if occurs else 0.0]


def _words_of(c: Profile, d: Profile, strings: set[str], heads: set[str]) -> list[float]:
    names = c.name_words & d.name_words
    # Whether noun phrases of one head share a modifier, have only others, or c has one that d lacks
    modifiers = [(c.modifiers[head], d.modifiers[head]) for head in heads]
    agree = any(mine & theirs for mine, theirs in modifiers)
    clash = not agree and any(mine and theirs for mine, theirs in modifiers)
    row = [bool(c.full.keys() & d.full.keys()), bool(strings), _share(c.strings, strings)]
    row += [_share(d.strings, strings), _same_top(c.strings, d.strings), bool(heads)]
    row += [_same_top(c.heads, d.heads), bool(c.names.keys() & d.names.keys()), bool(names)]
    row += [len(names) / len(c.name_words) if names else 0.0]
    row += [bool(c.name_words and d.name_words and not names)]
    return [*row, agree, clash, any(mine - theirs for mine, theirs in modifiers)]


def _keys(p: Profile) -> Iterable[tuple[str, str]]:
    """What a chain is found by, in an order that is the same in every run: too many candidates are cut."""
    kinds: tuple[tuple[str, Iterable[str]], ...] = (
        ("string", p.strings), ("head", p.heads), ("name", sorted(p.name_words)),
        ("voice", p.voices | p.addressed), ("we", p.we_voices | p.you_voices),
    )  # fmt: skip
    return ((kind, word) for kind, words in kinds for word in words)


def _persons(c: Profile, d: Profile) -> list[float]:
    i, you, we, third, quoted = c.shares
    other_i, other_you, other_we, other_third, other_quoted = d.shares
    known, both_i = bool(c.gender and d.gender), min(i, other_i)
    row: list[float] = [known and c.gender == d.gender, known and c.gender != d.gender]
    row += [c.number * d.number < 0, both_i, both_i * ((quoted > 0) == (other_quoted > 0))]
    row += [min(you, other_you), min(we, other_we), max(min(i, other_you), min(you, other_i))]
    row += [max(min(i, other_we), min(we, other_i))]
    return [*row, max((i + you) * other_third, (other_i + other_you) * third)]


def _log(count: float, most: int) -> float:
    return log1p(min(max(count, 0), most))


def _common(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """How far two counts are of the same names, from 0 to 1."""
    if not one or not other:
        return 0.0
    return sum(min(one[k] / sum(one.values()), other.get(k, 0) / sum(other.values())) for k in one)


def _plain(words: Iterable[str]) -> set[str]:
    """The words of a name without titles and initials."""
    return {w for w in words if w.isalpha() and w not in HONORIFICS and len(w) > 1}


def _share(counts: Counter[str], shared: Iterable[str]) -> float:
    total = counts.total()
    return sum(counts[s] for s in shared) / total if total else 0.0


def _same_top(one: Counter[str], other: Counter[str]) -> bool:
    return bool(one and other) and max(one, key=one.__getitem__) == max(other, key=other.__getitem__)


def _ranks(profiles: Sequence[Profile], order: Sequence[int], gender: str) -> list[float]:
    """1 / (1 + rank) of each chain that can be of a gender, in an order; 0 for the others."""
    found, rank = [0.0] * len(profiles), 0
    for i in order:
        if not gender or profiles[i].gender in ("", gender):
            found[i] = 1 / (1 + rank)
            rank += 1
    return found
