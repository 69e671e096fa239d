"""The words around a quote that say who speaks ("said Mr. Bennet", "she cried to him"), and vocatives."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from ...books import Book
from ...words import honorifics
from . import lexicon as lex
from .clauses import is_heard
from .markables import OTHER, POSSESSIVE, SUBJECT, Markable, is_vocative
from .parsing import Parse
from .quotes import Speech

_STOPS = {".", "!", "?", ";", "\n"}
_REACH_AFTER, _REACH_BEFORE = 10, 40
_CLIMB = 6
"""Most words climbed from a verb of saying to the verb that has its subject."""
_JOINED = frozenset(["conj", "advcl", "xcomp", "pcomp", "prep", "dobj", "pobj", "acl", "acomp"])
"""Ties to the word above: "he rose and said", "she took the opportunity of saying"."""
_ASIDES = frozenset([",", ";", "--", "—"])
"""Marks that may stand between a quote and its tag."""
_OBJECT_FORMS = frozenset(["him", "her", "me", "us", "them"])
_NEAR_LEAD = 4
"""Tokens before the mark that opens on a quote within which its verb of saying stands."""
_SHORT_SENTENCE = 15
"""Most tokens of a sentence of its own that says who speaks next."""
_INTERRUPTION = 40
"""Most tokens of narration that break into a sentence which is spoken."""
_RELATIVE = frozenset(["who", "that", "which"])
_PARTICLES = frozenset(["in", "out", "on", "up", "back", "forth", "off", "away", "again", "over"])
_HEARING = frozenset(["hear", "hears", "heard", "hearing", "make", "makes", "made", "making", "let"])
"""Verbs that one says of somebody's words: "he heard her say", "it made her cry"."""
_SAID = lex.SPEECH_NOUNS | lex.VOICES
_WHEN = frozenset(["until", "till", "as", "while", "when", "after", "before"])
_OWNS = frozenset(["'s", "’s"])
_WITHOUT_NOUN = frozenset(["other", "latter", "former", "first", "second", "third"])
"""Adjectives that stand for somebody without a noun."""
_OPEN_ENDS = frozenset(["!", "?", "--", "—", "–", "...", "…"])
"""Marks that may end a quote in the middle of a sentence."""
_LEADS = {",", ":", "--", "—", "\n", ":--", ":—"}


@dataclass(slots=True)
class Tag:
    """What surrounds one quote: indices of markables, -1 for none.

    `subject` of the speech verb, `object` whom it is said to, `before` and `after` the nearest subjects of
    narration in the same paragraph, `vocatives` those addressed inside, `inside` all names inside.
    `position` is "after", "before" or "". `stranger` is set where the verb has a subject that is no
    markable ("said someone").
    """

    subject: int = -1
    object: int = -1
    before: int = -1
    after: int = -1
    position: str = ""
    vocatives: tuple[int, ...] = ()
    stranger: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """Everything the search for tags looks at."""

    book: Book
    parse: Parse
    speech: Speech
    markables: list[Markable]
    starts: list[int]
    by_head: dict[int, int]

    def inside(self, low: int, high: int) -> range:
        """The markables that are read in tokens [low, high)."""
        return range(bisect_left(self.starts, low), bisect_left(self.starts, high))

    def subjects_of(self, v: int) -> list[int]:
        """The grammatical subjects of a verb."""
        return _subjects_of(self.book, self.parse, self.speech, v)

    def is_verb(self, i: int) -> bool:
        return self.parse.tag[i][:2] == "VB"

    def says(self, i: int) -> bool:
        """Whether token `i` is a verb of saying; the parser takes some for nouns."""
        return _word(self.book, i) in lex.SPEECH_VERBS and self.parse.tag[i][:2] in ("VB", "NN")


def find_tags(book: Book, parse: Parse, speech: Speech, markables: list[Markable]) -> list[Tag]:
    """One `Tag` per quote."""
    starts = [m.at for m in markables]
    by_head = {m.head: k for k, m in reversed(list(enumerate(markables)))}
    place = _Place(book, parse, speech, markables, starts, by_head)
    tags: list[Tag] = []
    for number, (a, b) in enumerate(speech.spans):
        tag = Tag()
        if not number or not _is_one_sentence(place, speech.spans[number - 1][1], a, tags[-1]):
            _find_tag(place, a, b, tag)
        elif not speech.real_paragraphs:
            # Guessed paragraphs do not hold the parts of a sentence together, so the tag does.
            tag.subject, tag.object, tag.position = tags[-1].subject, tags[-1].object, "after"
        tag.before = _subject_before(speech, markables, starts, a)
        tag.after = _subject_after(speech, markables, starts, b)
        tag.vocatives = tuple(
            k
            for k in range(bisect_left(starts, a), bisect_left(starts, b))
            if speech.quote[markables[k].at] == number and is_vocative(book, markables[k])
        )
        tags.append(tag)
    return tags


def _find_tag(place: _Place, a: int, b: int, tag: Tag) -> None:
    """The tag of the quote from token `a` to `b`: words that lead to it, else those behind it."""
    _tag_that_leads(place, a, tag)
    if tag.subject < 0:
        _tag_after(place, b, tag)
    if tag.subject < 0:
        _tag_before(place, a, tag)


def _is_one_sentence(place: _Place, end: int, a: int, tag: Tag) -> bool:
    """Whether the quote at token `a` goes on with the sentence of the quote that ends at `end`, which `tag`
    breaks into: "Anna," said he, "we want you." Then it has no tag of its own."""
    tokens = place.book.tokens
    between = range(end + 1, a)
    if tag.subject < 0 or tag.position != "after" or not 0 < len(between) <= _INTERRUPTION:
        return False
    if any(_stops(place, i) for i in between):
        return False
    if next((t[0].islower() for t in tokens[a : a + 4] if t[:1].isalpha()), False):
        return True
    said, inside = place.markables[tag.subject].end, place.inside(end + 1, a)
    return not any(place.says(v) and _subject_before_quote(place, inside, v) >= 0 for v in range(said + 1, a))


def _stops(place: _Place, i: int) -> bool:
    """Whether a sentence or clause ends at token `i`."""
    return place.book.tokens[i] in _STOPS and place.book.tokens[i - 1].lower() not in honorifics.ABBREVIATED


def tag_subjects(book: Book, parse: Parse, speech: Speech) -> set[int]:
    """The tokens that are subjects of a verb of saying right after a quote, or before one: whatever they are
    ("the voice", "the other", "Charly"), they speak."""
    found = set()
    for a, b in speech.spans:
        found.update(_subjects_behind(book, parse, speech, b))
        found.update(_subjects_ahead(book, parse, speech, a))
    return found


def _subjects_behind(book: Book, parse: Parse, speech: Speech, b: int) -> list[int]:
    """The subjects of a verb of saying right after a quote that ends at token `b`."""
    v = _first_verb_of_saying(book, parse, speech, range(b + 1, min(b + 5, len(book.tokens))))
    return _subjects_of(book, parse, speech, v) if v >= 0 else []


def _subjects_ahead(book: Book, parse: Parse, speech: Speech, a: int) -> list[int]:
    """The subjects of a verb of saying that leads to a quote at token `a`, where they are no nouns ("the
    other went on"): a noun is often a thing there ("his eyes said")."""
    lead = _lead(book, a)
    if lead <= 0 or book.tokens[lead] not in (",", ":"):
        return []
    near = range(lead - 1, max(lead - 1 - _NEAR_LEAD, -1), -1)
    v = _first_verb_of_saying(book, parse, speech, near)
    subjects = _subjects_of(book, parse, speech, v) if v >= 0 else []
    return [i for i in subjects if i < v and parse.tag[i] in ("JJ", "CD")]


def _first_verb_of_saying(book: Book, parse: Parse, speech: Speech, near: range) -> int:
    """The first verb of saying among tokens outside quotes, before the sentence ends; -1 for none."""
    for v in near:
        if speech.quote[v] >= 0 or book.tokens[v] in _STOPS:
            break
        if _word(book, v) in lex.SPEECH_VERBS and parse.tag[v][:2] == "VB":
            return v
    return -1


def _lead(book: Book, a: int) -> int:
    """The token before a quote at token `a`, over the end of a line."""
    return a - 2 if a > 1 and book.tokens[a - 1] == "\n" else a - 1


def _subjects_of(book: Book, parse: Parse, speech: Speech, v: int) -> list[int]:
    """The grammatical subjects of a verb, on its side of the quotation marks; one that follows it ("replied
    the other") the parser may call an object, and "lucidly" a noun in "said the other lucidly"."""
    low, high = int(parse.left[v]), int(parse.right[v])
    tied = [
        i
        for i in range(max(low, v - 12), min(high, v + 8) + 1)
        if int(parse.head[i]) == v and i != v and (speech.quote[i] < 0) == (speech.quote[v] < 0)
    ]
    subjects = [i for i in tied if parse.dep[i] in ("nsubj", "nsubjpass")]
    behind = [i for i in tied if parse.dep[i] == "dobj" and int(parse.left[i]) in (v + 1, v + 2)]
    return [_without_adverb(book, parse, i) for i in subjects or behind]


def _without_adverb(book: Book, parse: Parse, i: int) -> int:
    """The adjective that is the subject where the parser makes a noun of the adverb behind it."""
    alone = book.tokens[i - 1].lower() in _WITHOUT_NOUN and int(parse.head[i - 1]) == i
    return i - 1 if alone and (parse.tag[i] == "RB" or book.tokens[i].endswith("ly")) else i


def _tag_after(place: _Place, b: int, tag: Tag) -> None:
    tokens, speech = place.book.tokens, place.speech
    size = len(tokens)
    low = b + 2 if b + 2 < size and tokens[b + 1] in _ASIDES else b + 1
    stop = low
    while stop < min(size, low + _REACH_AFTER) and speech.quote[stop] < 0 and not _stops(place, stop):
        stop += 1
    if stop == low:
        return
    inside = place.inside(low, stop)
    verbs = [v for v in range(low, stop) if place.says(v)]
    for v in verbs:
        subject = _subject_after_quote(place, inside, v, low)
        if subject >= 0:
            _set(place, tag, subject, v, inside, "after")
            return
        if v == low and place.is_verb(v) and place.subjects_of(v):
            tag.stranger = True
    if not tag.stranger:
        verb, subject = _tag_of_another_verb(place, inside, b, low, stop)
        if subject >= 0:
            _set(place, tag, subject, verb, inside, "after")
        else:
            # A sentence of its own ("Her voice rose") does not tell of the quote before it.
            _tag_by_noun(place, tag, inside, "after", told=tokens[low][:1].islower())


def _tag_of_another_verb(place: _Place, inside: range, b: int, low: int, stop: int) -> tuple[int, int]:
    """(verb, subject) of a tag whose verb is no verb of saying in our list, -1 where there is none: the verb
    stands right after the quote and before its subject ("snarled the ex-convict"), or the quote ends in a
    comma and the subject follows at once ("May brightly agreed")."""
    ms = place.markables
    if place.is_verb(low):
        for k in inside:
            if not _owns(place, k) and ms[k].start in (low + 1, low + 2) and _may_speak(ms[k]):
                particle = ms[k].start == low + 1 or place.book.tokens[low + 1].lower() in _PARTICLES
                return (low, k) if particle else (-1, -1)
    if place.book.tokens[b - 1] != "," and not _goes_on(place, b, low):
        return -1, -1
    for k in inside:
        if ms[k].start == low and _may_speak(ms[k]):
            verbs = (v for v in range(ms[k].head + 1, min(stop, ms[k].head + 5)) if place.is_verb(v))
            verb = next(verbs, -1)
            return (verb, k) if verb >= 0 else (-1, -1)
    return -1, -1


def _goes_on(place: _Place, b: int, low: int) -> bool:
    """Whether the sentence that a quote opens goes on behind it: "Are you there?" he leaned over to her."""
    a = place.speech.spans[int(place.speech.quote[b])][0]
    opens = a == 0 or _stops(place, a - 1) or place.speech.quote[a - 1] >= 0
    return opens and place.book.tokens[b - 1] in _OPEN_ENDS and place.book.tokens[low][:1].islower()


def _may_speak(m: Markable) -> bool:
    return m.kind != "plural" and (m.kind != "pronoun" or m.role == SUBJECT)


def _subject_after_quote(place: _Place, inside: range, v: int, low: int) -> int:
    """The subject (a markable) of a verb of saying after a quote that ends before token `low`."""
    parse, ms = place.parse, place.markables
    # "Said Anna's brother": not Anna.
    near = [k for k in inside if not _owns(place, k)]
    for k in near if v == low else ():
        if ms[k].kind == "name" and ms[k].start == v + 1:
            # "said Mr. Hill looking round", where the parser makes one phrase of what follows.
            return k
    subjects = place.subjects_of(v) if v == low else []
    for k in near:
        up = int(parse.head[ms[k].head])
        by = place.book.tokens[up].lower() == "by" and parse.dep[up] == "agent" and int(parse.head[up]) == v
        if by or (up == v and ms[k].role == SUBJECT) or ms[k].head in subjects:
            return k
    for k in near:
        m = ms[k]
        particle = m.start == v + 2 and place.book.tokens[v + 1].lower() in _PARTICLES
        if (m.start == v + 1 or particle) and not (m.kind == "pronoun" and m.role != SUBJECT):
            return k
        if m.end in (v - 1, v - 2) and m.start == low and _may_speak(m):
            return k
    return -1


def _owns(place: _Place, k: int) -> bool:
    """Whether a name stands in the possessive."""
    m = place.markables[k]
    return m.kind == "name" and place.book.tokens[min(m.end + 1, len(place.book.tokens) - 1)] in _OWNS


def _tag_that_leads(place: _Place, a: int, tag: Tag) -> None:
    """ "She said, ": a verb of saying with its subject right before the mark that opens on the quote. What
    follows the quote is another matter then: she said, "Why?" he had no answer."""
    tokens = place.book.tokens
    lead = _lead(place.book, a)
    if lead <= 0 or tokens[lead] not in (",", ":") or place.speech.quote[lead] >= 0:
        return
    first = _clause_before(place, a)
    near = range(max(first, lead - _NEAR_LEAD), lead)
    if any(place.says(v) for v in near):
        _tag_by_verb_before(place, near, tag, place.inside(first, a))


def _tag_before(place: _Place, a: int, tag: Tag) -> None:
    tokens = place.book.tokens
    first = _clause_before(place, a)
    if first == a and place.speech.quote[a - 1] < 0:
        _tag_by_sentence_before(place, a, tag)
    if first == a or place.speech.quote[a - 1] >= 0:
        return
    lead = tokens[_lead(place.book, a)]
    inside = place.inside(first, a)
    dash = lead.endswith(("--", "—"))
    if tokens[a - 1] in _LEADS or dash or _word(place.book, a - 1) in lex.SPEECH_VERBS:
        _tag_by_verb_before(place, range(first, a), tag, inside)
    if tag.subject < 0 and not tag.stranger and (dash or lead[:1] == ":"):
        # "She turned to him:" leads to her words without saying so.
        subjects = [k for k in inside if place.markables[k].role == SUBJECT]
        if subjects:
            tag.subject, tag.position = subjects[-1], "before"


def _tag_by_sentence_before(place: _Place, a: int, tag: Tag) -> None:
    """ "Miss Hill began again." before a quote in the same paragraph."""
    parse, speech = place.parse, place.speech
    if not speech.real_paragraphs or a < 2 or speech.paragraph[a - 2] != speech.paragraph[a]:
        return
    first = a - 1
    while first > 0 and parse.sentence[first - 1] == parse.sentence[a - 2] and a - first < _SHORT_SENTENCE:
        first -= 1
    cut = first > 0 and parse.sentence[first - 1] == parse.sentence[a - 2]
    if cut or (speech.quote[first:a] >= 0).any():
        return
    for v in range(first, a):
        subjects = [i for i in place.subjects_of(v) if i < v and _speaks(place, i)]
        if parse.dep[v] == "ROOT" and place.says(v) and subjects:
            _set(place, tag, place.by_head[subjects[0]], v, place.inside(first, a), "before")
            return


def _clause_before(place: _Place, a: int) -> int:
    """The first token of the narration that leads to a quote at token `a`; `a` where there is none."""
    tokens = place.book.tokens
    first = a
    while first > 0 and a - first < _REACH_BEFORE and place.speech.quote[first - 1] < 0:
        if _stops(place, first - 1) and (first < a - 1 or tokens[first - 1] != "\n"):
            break
        first -= 1
    return first


def _tag_by_verb_before(place: _Place, clause: range, tag: Tag, inside: range) -> None:
    """The last verb of saying in a clause before a quote, with its subject; else a noun of saying."""
    for v in reversed(clause):
        subject = _subject_before_quote(place, inside, v) if place.says(v) else -1
        if subject >= 0:
            _set(place, tag, subject, v, inside, "before")
            return
    _tag_by_noun(place, tag, inside, "before")


def _subject_before_quote(place: _Place, inside: range, v: int) -> int:
    """The subject of a verb of saying that leads to a quote: its own, that of the verb it is joined to ("he
    rose and said"), the noun that "who" stands for, or whoever is named right before it."""
    parse, ms = place.parse, place.markables
    at = v
    for _ in range(_CLIMB):
        for i in place.subjects_of(at):
            if i < at and _speaks(place, i):
                subject = place.by_head[i]
                return subject if at == v else _named_between(place, inside, subject, v)
            if i < at and place.book.tokens[i].lower() in _RELATIVE and parse.dep[at] == "relcl":
                return place.by_head.get(int(parse.head[at]), -1)
        up = int(parse.head[at])
        if up == at or parse.dep[at] not in _JOINED or up > v or place.speech.quote[up] >= 0:
            break
        at = up
    before = [k for k in inside if ms[k].end < v and place.speech.quote[ms[k].start] < 0]
    adjoining = [k for k in before if ms[k].end >= v - 2 and _speaks(place, ms[k].head)]
    names = [k for k in before if ms[k].kind == "name"]
    named = [k for k in names if ms[k].role in (SUBJECT, OTHER)]
    if adjoining or named:
        return adjoining[0] if adjoining else named[-1]
    # "Until Anna, getting more and more angry, said", where the parser does not see the subject.
    tokens = place.book.tokens
    aside = [k for k in names if tokens[ms[k].end + 1] == "," and _is_no_object(place, ms[k].start - 1)]
    return aside[-1] if aside and tokens[v - 1] == "," else -1


def _is_no_object(place: _Place, i: int) -> bool:
    """Whether what follows token `i` may be a subject: "until Anna", not "upon Anna"."""
    return place.parse.tag[i] not in ("IN", "TO") or place.book.tokens[i] in _WHEN


def _named_between(place: _Place, inside: range, subject: int, v: int) -> int:
    """The last subject between the one of a verb above and a verb of saying if it is a name, else that
    subject: "they had gone on when Julia, with a pale face, exclaimed"."""
    ms = place.markables
    between = [k for k in inside if ms[subject].end < ms[k].start and ms[k].end < v]
    names = [k for k in between if ms[k].kind == "name" and ms[k].role == SUBJECT]
    return names[-1] if names else subject


def _speaks(place: _Place, i: int) -> bool:
    """Whether token `i` heads a subject outside quotes."""
    k = place.by_head.get(i, -1)
    outside = k >= 0 and place.speech.quote[i] < 0
    if not outside or place.markables[k].role != SUBJECT:
        return False
    return place.markables[k].text not in _OBJECT_FORMS or _is_heard_to_speak(place, k)


def _is_heard_to_speak(place: _Place, k: int) -> bool:
    """Whether an object form is the one who speaks: "she heard him say", not "she followed him to say"."""
    m, parse = place.markables[k], place.parse
    return is_heard(parse, m) and _word(place.book, int(parse.head[int(parse.head[m.head])])) in _HEARING


def _set(place: _Place, tag: Tag, subject: int, v: int, inside: range, position: str) -> None:
    """Note subject, position and the one who is spoken to."""
    tokens, parse = place.book.tokens, place.parse
    tag.subject, tag.position, tag.stranger = _bearer(place, subject), position, False
    for k in inside:
        head = place.markables[k].head
        up = int(parse.head[head])
        direct = up == v and parse.dep[head] in ("dobj", "dative", "iobj") and k != subject
        if direct or (tokens[up].lower() in ("to", "with") and int(parse.head[up]) == v):
            tag.object = k


def _bearer(place: _Place, k: int) -> int:
    """Whose voice a subject is ("his voice said", "said the voice of Mr. Hill"), else the subject itself."""
    m, tokens = place.markables[k], place.book.tokens
    if tokens[m.head].lower() not in lex.VOICES:
        return k
    if m.owner >= 0:
        return place.by_head.get(m.owner, k)
    behind = place.inside(m.head + 1, m.head + _REACH_AFTER)
    return next((n for n in behind if _is_of_a_voice(place, n)), k)


def _is_of_a_voice(place: _Place, k: int) -> bool:
    """Whether a mention says whose voice is heard: "came the voice of Mr. Hill"."""
    of = int(place.parse.head[place.markables[k].head])
    voice = int(place.parse.head[of])
    heard = place.parse.dep[voice] not in ("pobj", "dobj")
    return place.book.tokens[of] == "of" and place.book.tokens[voice].lower() in lex.VOICES and heard


def _tag_by_noun(place: _Place, tag: Tag, inside: range, position: str, told: bool = True) -> None:
    """Tags without a verb of saying: "was her husband's answer", "came the voice of Mr. Hill"; `told` says
    whether words about an answer or a voice tell of this quote."""
    for k in inside:
        m = place.markables[k]
        owned = place.parse.dep[m.head] == "poss" or m.role == POSSESSIVE
        of = _word(place.book, int(place.parse.head[m.head])) if owned else ""
        says = told and of in _SAID
        if says or _is_of_a_voice(place, k):
            tag.subject, tag.position, tag.stranger = k, position, False
            return


def _word(book: Book, i: int) -> str:
    """A token as a word: lower case, without the dash that may hang on it ("spoke--")."""
    return book.tokens[i].lower().strip("-—_")


def _subject_before(speech, markables, starts, a: int) -> int:
    k = bisect_left(starts, a) - 1
    while k >= 0 and speech.paragraph[markables[k].at] == speech.paragraph[a]:
        if speech.quote[markables[k].at] < 0 and markables[k].role == SUBJECT:
            return k
        k -= 1
    return -1


def _subject_after(speech, markables, starts, b: int) -> int:
    k = bisect_left(starts, b + 1)
    while k < len(markables) and speech.paragraph[markables[k].at] == speech.paragraph[b]:
        if speech.quote[markables[k].at] >= 0:
            return -1
        if markables[k].role == SUBJECT:
            return k
        k += 1
    return -1
