"""The words around a quote that say who speaks ("said Mr. Bennet", "she cried to him"), and vocatives."""

from bisect import bisect_left
from dataclasses import dataclass

from ...books import Book
from ...words import OWNS, honorifics, word_set
from . import lexicon as lex
from .markables import POSSESSIVE, SUBJECT, Markable, is_vocative
from .parsing import Parse
from .quotes import Speech
from .saying import LEADS, Surroundings, bare_word, lead_of, speaks, subject_before_quote, subjects_of

_STOPS = {".", "!", "?", ";", "\n"}
_REACH_AFTER, _REACH_BEFORE = 10, 40
_ASIDES = word_set(", ; --")
"""Marks that may stand between a quote and its tag."""
_NEAR_LEAD = 4
"""Tokens before the mark that opens on a quote within which its verb of saying stands."""
_SHORT_SENTENCE = 15
"""Most tokens of a sentence of its own that says who speaks next."""
_INTERRUPTION = 40
"""Most tokens of narration that break into a sentence which is spoken."""
_PARTICLES = frozenset(["in", "out", "on", "up", "back", "forth", "off", "away", "again", "over"])
_SAID = lex.SPEECH_NOUNS | lex.VOICES
_COMES = word_set("burst came broke escaped fell issued rang rose")
"""Verbs of words that come "from" somebody, or from his mouth."""
_MOUTHS = word_set("lips mouth throat")
_BEGINNINGS = ("CC", "IN", "RB", "WRB")
"""Tags of words with a capital that begin a sentence which does not tell of the quote before it: "Before Anna
could answer", "And he looked so pale", "Suddenly he said"."""
_OPEN_ENDS = word_set("! ? -- ...")
"""Marks that may end a quote in the middle of a sentence."""
_THESE_WORDS = lex.words("THESE_WORDS")
"""Objects of a verb of saying that stand for the quote beside it, or for the one who is spoken to."""
_ABOUT = frozenset(["of", "about", "after"])


@dataclass(slots=True)
class Tag:
    """What surrounds one quote: indices of markables, -1 for none.

    `subject` of the speech verb, `object` whom it is said to, `before` and `after` the nearest subjects of
    narration in the same paragraph, `vocatives` those addressed inside, `inside` all names inside.
    `position` is "after", "before" or "", `verb` the token that says it (-1 for none). `stranger` is set
    where the verb has a subject that is no markable ("said someone").
    """

    subject: int = -1
    object: int = -1
    before: int = -1
    after: int = -1
    position: str = ""
    vocatives: tuple[int, ...] = ()
    stranger: bool = False
    verb: int = -1


def find_tags(book: Book, parse: Parse, speech: Speech, markables: list[Markable]) -> list[Tag]:
    """One `Tag` per quote."""
    starts = [m.at for m in markables]
    by_head = {m.head: k for k, m in reversed(list(enumerate(markables)))}
    place = Surroundings(book, parse, speech, markables, starts, by_head)
    tags: list[Tag] = []
    for number, (a, b) in enumerate(speech.spans):
        tag = Tag()
        if not number or not _is_one_sentence(place, speech.spans[number - 1][1], a, tags[-1]):
            # Words that lead to the quote, else those behind it.
            _tag_that_leads(place, a, tag)
            if tag.subject < 0:
                _tag_after(place, b, tag)
            if tag.subject < 0:
                _tag_before(place, a, tag)
        elif not speech.real_paragraphs:
            # Guessed paragraphs do not hold the parts of a sentence together, so the tag does.
            tag.subject, tag.object, tag.position = tags[-1].subject, tags[-1].object, "after"
        tag.before = _subject_beside(place, bisect_left(starts, a) - 1, a, -1)
        tag.after = _subject_beside(place, bisect_left(starts, b + 1), b, 1)
        tag.vocatives = tuple(
            k
            for k in range(bisect_left(starts, a), bisect_left(starts, b))
            if speech.quote[markables[k].at] == number and is_vocative(book, markables[k])
        )
        tags.append(tag)
    return tags


def _is_one_sentence(place: Surroundings, end: int, a: int, tag: Tag) -> bool:
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
    return not any(place.says(v) and subject_before_quote(place, inside, v) >= 0 for v in range(said + 1, a))


def _stops(place: Surroundings, i: int) -> bool:
    """Whether a sentence or clause ends at token `i`; its full stop may be glued to a word ("said I.")."""
    tokens, sentence = place.book.tokens, place.parse.sentence
    if tokens[i] in _STOPS:
        return tokens[i - 1].lower() not in honorifics.ABBREVIATED
    return tokens[i] == "I." and (i + 1 == len(tokens) or bool(sentence[i + 1] != sentence[i]))


def tag_subjects(book: Book, parse: Parse, speech: Speech) -> set[int]:
    """The tokens that are subjects of a verb of saying right after a quote: whatever they are ("the voice",
    "the other", "Charly"), they speak."""
    found: set[int] = set()
    for _, b in speech.spans:
        for v in range(b + 1, min(b + 5, len(book.tokens))):
            if speech.quote[v] >= 0 or book.tokens[v] in _STOPS:
                break
            if bare_word(book, v) in lex.SPEECH_VERBS and parse.tag[v][:2] == "VB":
                found.update(subjects_of(book, parse, speech, v))
                break
    return found


def _tag_after(place: Surroundings, b: int, tag: Tag) -> None:
    tokens, speech = place.book.tokens, place.speech
    size = len(tokens)
    low = b + 2 if b + 2 < size and tokens[b + 1] in _ASIDES else b + 1
    stop = low
    while stop < min(size, low + _REACH_AFTER) and speech.quote[stop] < 0 and not _stops(place, stop):
        stop += 1
    stop += stop < size and tokens[stop] == "I."
    if stop == low:
        return
    if tokens[low][:1].isupper() and place.parse.tag[low] in _BEGINNINGS and _stops(place, b - 1):
        return
    inside = place.inside(low, stop)
    if (whom := _from_whom(place, inside, low)) >= 0:
        _set(place, tag, whom, low, inside, "after")
        return
    verbs = [v for v in range(low, stop) if place.says(v)]
    for v in verbs:
        subject = _subject_after_quote(place, inside, v, low)
        told = subject >= 0 and tokens[b - 1] == "." and tokens[low][:1].isupper()
        if told and place.markables[subject].end < v and _is_reported(place, v):
            # "... late." Anna said what was proper.
            return
        if subject >= 0:
            _set(place, tag, subject, v, inside, "after")
            return
        if v == low and place.is_verb(v) and place.subjects_of(v):
            tag.stranger = True
    if not tag.stranger:
        verb, subject = _tag_of_another_verb(place, inside, b, low, stop)
        if subject >= 0:
            _set(place, tag, subject, verb, inside, "after")
        elif tokens[low][:1].islower():
            # A sentence of its own ("Her voice rose") does not tell of the quote before it.
            _tag_by_noun(place, tag, inside, "after")


def _from_whom(place: Surroundings, inside: range, low: int) -> int:
    """ "Come in," from the Major; "Never!" burst from Anna, or from her lips. -1 for nobody."""
    tokens = place.book.tokens
    at = low + (tokens[low].lower() in _COMES)
    for k in inside if "from" in tokens[at : at + 1] else ():
        m = place.markables[k]
        mouth = not _MOUTHS.isdisjoint(tokens[m.end + 1 : m.end + 5])
        if m.start == at + 1 and (mouth or not (_owns(place, k) or m.role == POSSESSIVE)):
            return k
    return -1


def _tag_of_another_verb(place: Surroundings, inside: range, b: int, low: int, stop: int) -> tuple[int, int]:
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


def _goes_on(place: Surroundings, b: int, low: int) -> bool:
    """Whether the sentence that a quote opens goes on behind it: "Are you there?" he leaned over to her."""
    a = place.speech.spans[int(place.speech.quote[b])][0]
    opens = a == 0 or _stops(place, a - 1) or place.speech.quote[a - 1] >= 0
    return opens and place.book.tokens[b - 1] in _OPEN_ENDS and place.book.tokens[low][:1].islower()


def _may_speak(m: Markable) -> bool:
    return m.kind != "plural" and (m.kind != "pronoun" or m.role == SUBJECT)


def _subject_after_quote(place: Surroundings, inside: range, v: int, low: int) -> int:
    """The subject (a markable) of a verb of saying after a quote that ends before token `low`."""
    parse, ms = place.parse, place.markables
    # "Said Anna's brother": not Anna.
    near = [k for k in inside if not _owns(place, k)]
    for k in near if v == low else ():
        if ms[k].kind == "name" and ms[k].start == v + 1:
            # "said Mr. Hill looking round", where the parser makes one phrase of what follows.
            return k
    subjects = place.subjects_of(v) if v == low else []
    if place.book.tokens[low].lower() == "it" and parse.tag[low + 1][:2] == "VB":
        # "It was Anna who spoke."
        return place.relative_of(v)
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


def _owns(place: Surroundings, k: int) -> bool:
    """Whether a name stands in the possessive."""
    m = place.markables[k]
    return m.kind == "name" and place.book.tokens[min(m.end + 1, len(place.book.tokens) - 1)] in OWNS


def _tag_that_leads(place: Surroundings, a: int, tag: Tag) -> None:
    """ "She said, ": a verb of saying with its subject right before the mark that opens on the quote. What
    follows the quote is another matter then: she said, "Why?" he had no answer."""
    tokens = place.book.tokens
    lead = lead_of(place.book, a)
    if lead <= 0 or tokens[lead] not in (",", ":") or place.speech.quote[lead] >= 0:
        return
    first = _clause_before(place, a)
    near = range(max(first, lead - _NEAR_LEAD), lead)
    if any(place.says(v) for v in near):
        _tag_by_verb_before(place, near, tag, place.inside(first, a))


def _tag_before(place: Surroundings, a: int, tag: Tag) -> None:
    tokens = place.book.tokens
    first = _clause_before(place, a)
    if first == a and place.speech.quote[a - 1] < 0:
        _tag_by_sentence_before(place, a, tag)
    if first == a or place.speech.quote[a - 1] >= 0:
        return
    lead = tokens[lead_of(place.book, a)]
    inside = place.inside(first, a)
    dash = lead.endswith("--")
    if tokens[a - 1] in LEADS or dash or bare_word(place.book, a - 1) in lex.SPEECH_VERBS:
        _tag_by_verb_before(place, range(first, a), tag, inside)
    if tag.subject < 0 and not tag.stranger and (dash or lead[:1] == ":"):
        # "She turned to him:" leads to her words without saying so.
        subjects = [k for k in inside if place.markables[k].role == SUBJECT]
        if subjects:
            tag.subject, tag.position = subjects[-1], "before"


def _tag_by_sentence_before(place: Surroundings, a: int, tag: Tag) -> None:
    """ "Miss Hill began again." before a quote in the same paragraph."""
    parse, speech = place.parse, place.speech
    if not speech.real_paragraphs or a < 3 or speech.paragraph[a - 2] != speech.paragraph[a]:
        return
    first = a - 1
    while first > 0 and parse.sentence[first - 1] == parse.sentence[a - 2] and a - first < _SHORT_SENTENCE:
        first -= 1
    cut = first > 0 and parse.sentence[first - 1] == parse.sentence[a - 2]
    if cut or (speech.quote[first:a] >= 0).any():
        return
    for v in range(first, a):
        subjects = [i for i in place.subjects_of(v) if i < v and speaks(place, i)]
        if parse.dep[v] == "ROOT" and place.says(v) and subjects and not _is_reported(place, v):
            _set(place, tag, place.by_head[subjects[0]], v, place.inside(first, a), "before")
            return


def _is_reported(place: Surroundings, v: int) -> bool:
    """Whether a verb of saying has what is said, asked after or thought of beside it: the words in quotes are
    then somebody else's ("Anna said what was proper")."""
    parse, tokens = place.parse, place.book.tokens
    tied = [i for i in range(v + 1, int(parse.right[v]) + 1) if int(parse.head[i]) == v]
    said = [i for i in tied if parse.dep[i] in ("ccomp", "dobj") and tokens[i].lower() not in _THESE_WORDS]
    about = [i for i in tied if parse.dep[i] == "prep" and tokens[i].lower() in _ABOUT]
    return any(place.speech.quote[i] < 0 for i in (*said, *about))


def _clause_before(place: Surroundings, a: int) -> int:
    """The first token of the narration that leads to a quote at token `a`; `a` where there is none."""
    tokens = place.book.tokens
    first = a
    while first > 0 and a - first < _REACH_BEFORE and place.speech.quote[first - 1] < 0:
        if _stops(place, first - 1) and (first < a - 1 or tokens[first - 1] != "\n"):
            break
        first -= 1
    return first


def _tag_by_verb_before(place: Surroundings, clause: range, tag: Tag, inside: range) -> None:
    """The last verb of saying in a clause before a quote, with its subject; else a noun of saying."""
    for v in reversed(clause):
        subject = subject_before_quote(place, inside, v) if place.says(v) else -1
        if subject >= 0:
            _set(place, tag, subject, v, inside, "before")
            return
    _tag_by_noun(place, tag, inside, "before")


def _set(place: Surroundings, tag: Tag, subject: int, v: int, inside: range, position: str) -> None:
    """Note subject, position and the one who is spoken to."""
    tokens, parse, said = place.book.tokens, place.parse, place.markables[subject]
    if tokens[said.head].lower() in lex.VOICES:
        # "Said Mr. Hill's voice", "said the voice of Mr. Hill": he said it.
        of = (k for k in place.inside(said.start, said.end + 1) if place.of_what(k) == said.head)
        subject = place.by_head.get(said.owner, next(of, subject))
    tag.subject, tag.position, tag.stranger, tag.verb = subject, position, False, v
    for k in inside:
        head = place.markables[k].head
        up = int(parse.head[head])
        direct = up == v and parse.dep[head] in ("dobj", "dative", "iobj") and k != subject
        if direct or (tokens[up].lower() in ("to", "with") and int(parse.head[up]) == v):
            tag.object = k


def _tag_by_noun(place: Surroundings, tag: Tag, inside: range, position: str) -> None:
    """Tags without a verb of saying: "was her husband's answer", "came the voice of Mr. Hill"."""
    for k in inside:
        m = place.markables[k]
        owned = place.parse.dep[m.head] == "poss" or m.role == POSSESSIVE
        what = int(place.parse.head[m.head]) if owned else place.of_what(k)
        if what >= 0 and bare_word(place.book, what) in _SAID:
            tag.subject, tag.position, tag.stranger = k, position, False
            return


def _subject_beside(place: Surroundings, k: int, at: int, step: int) -> int:
    """The nearest subject of narration in the paragraph of token `at`, from markable `k` on backwards (`step`
    -1) or on to the next quote (1); -1 for none."""
    speech, ms = place.speech, place.markables
    while 0 <= k < len(ms) and speech.paragraph[ms[k].at] == speech.paragraph[at]:
        quoted = speech.quote[ms[k].at] >= 0
        if (quoted and step > 0) or (not quoted and ms[k].role == SUBJECT):
            return -1 if quoted else k
        k += step
    return -1
