"""What the turns around a quote say about who speaks it, and of whom it talks."""

import numpy as np

from ...words import honorifics, kin
from .discourse import INDEX, Candidates
from .markables import gender_of_noun
from .memory import Memory


def mark_last_quote(known: Memory, rows: Candidates, q: int) -> None:
    """How near the quote before quote `q` is."""
    if q and known.conversation.goes_on(q):
        speech = known.t.speech
        a, b = speech.spans[q][0], speech.spans[q - 1][1]
        rows.every("last quote adjoins", a - b <= 2)
        rows.every("last quote same paragraph", speech.paragraph[a] == speech.paragraph[b])


def mark_turns(known: Memory, rows: Candidates, q: int) -> None:
    """Who speaks the turns before and after quote `q`, whom these call, and what their tags say."""
    talk = known.conversation
    rows.mark(talk.named_ahead(q, 0), "same turn speaker")
    rows.mark(talk.named_ahead(q, 1), "next speaker")
    rows.mark(talk.named_ahead(q, 2), "next but one speaker")
    for turns, name in ((1, "next tag fits"), (2, "next but one tag fits")):
        k = talk.tag_ahead(q, turns)
        if k >= 0 and (gender := known.t.markables[k].gender) in ("m", "f"):
            rows.x[:-1, INDEX[name]] = known.state.p[rows.ids, "mf".index(gender)] - 0.5
    rows.every("real paragraphs", known.t.speech.real_paragraphs)
    for step, name in ((1, "called next"), (-1, "called before")):
        for k in talk.called_beside(q, step):
            rows.mark(known.entity_of(k), name)
    mark_later_turns(known, rows, q)
    past = mark_past_turns(known, rows, q)
    rows.every("m turn", np.log1p(len(past)))
    if len(past) > 1:
        rows.mark(past[1], "two turns ago")
    if past:
        tokens, paragraphs = talk.gap_before(q)
        rows.every("turn gap", np.log1p(max(tokens, 0)))
        rows.every("paragraph gap", min(paragraphs, 6))
    _mark_exchange(known, rows, q)


def mark_past_turns(known: Memory, rows: Candidates, q: int) -> list[int]:
    """Who spoke before quote `q`, how long ago and how often; returns the speakers, last one first."""
    past = known.conversation.past_turns(q)
    for e in {*past}:
        rows.mark(e, "turns since", 1.0 / (1 + past.index(e)))
        rows.mark(e, "share of turns", past.count(e) / len(past))
    return past


def mark_later_turns(known: Memory, rows: Candidates, q: int) -> None:
    """Whom the tags of later turns name, at even and odd distance from quote `q`."""
    later = known.conversation.named_later(q)
    for ahead, e in later:
        rows.raise_to(e, "named odd turns ahead" if ahead % 2 else "named even turns ahead", 1.0 / ahead)
        rows.add(e, "share of tags ahead", 1.0 / len(later))


def _mark_exchange(known: Memory, rows: Candidates, q: int) -> None:
    """Whom the turns of an exchange call: at an odd distance likely the one who speaks here, at an even
    distance, as in this turn, the other one."""
    t, talk = known.t, known.conversation
    around = talk.exchange(q)
    rows.every("exchange before", sum(away < 0 for away, _ in around))
    for away, turn in [(0, talk.turn_of(q)), *around]:
        if away == -1:
            rows.every("asked", t.book.tokens[t.speech.spans[turn[-1]][1] - 1] == "?")
        for k in (k for n in turn for k in t.tags[n].vocatives):
            _mark_call(known, rows, k, away)


def _mark_call(known: Memory, rows: Candidates, k: int, away: int) -> None:
    """What the call `k` says of the candidates, that many turns away from it."""
    m, near = known.t.markables[k], 1 / (1 + abs(away))
    if m.kind == "name":
        name = "called odd turns away" if away % 2 else "called even turns away"
        rows.raise_to(known.entity_of(k), name, near)
    elif away % 2:
        for e in rows.ids if m.noun in kin.KIN else ():
            rows.raise_to(known.kin.who_is(e, m.noun), "called as kin", near)
        gender = gender_of_noun(m.noun) or honorifics.honorific_gender(m.noun)
        if gender in ("m", "f"):
            fits = known.state.p[rows.ids, "mf".index(gender)] - 0.5
            rows.x[:-1, INDEX["odd call fits"]] += near * fits
