"""W3C Web Annotation, UIMA CAS for INCEpTION, spaCy's DocBin; texts with names for pronouns, audiobooks."""

import io
import zipfile
from collections import Counter
from typing import Any

from ..errors import needing
from ..files import json_page
from ..formats.lines import json_line
from ..late import spacy
from ..spacy_model import words_for_spacy
from ..words import long_lists, pronouns, word_set
from .reading import LaidOutBook

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
AROUND = 32
"""Characters before and after a quote selector's words."""

_COREF = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.Coreference"
_SEGMENT = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
_QUOTE_TYPE = "webanno.custom.Quote"


def web_annotation(r: LaidOutBook) -> bytes:
    """An AnnotationPage: every mention and quote with TextQuote and TextPosition selectors.

    Positions count the characters of the source file where it is known (`text` of the layout else).
    """
    a, text = r.annotation, r.layout.text
    source = a.source.file if a.source else f"{a.doc_key}.txt"

    def body(value: str, purpose: str) -> dict[str, str]:
        return {"type": "TextualBody", "value": value, "purpose": purpose, "format": "text/plain"}

    def item(name: str, why: str, bodies: list[dict[str, str]], start: int, end: int) -> dict[str, Any]:
        first, behind = r.characters(start, end)
        before, after = text[max(0, first - AROUND) : first], text[behind : behind + AROUND]
        words = {"type": "TextQuoteSelector", "exact": text[first:behind], "prefix": before, "suffix": after}
        place = {"type": "TextPositionSelector", "start": first, "end": behind}
        return {
            "id": f"urn:bookcoref:{a.doc_key}:{name}", "type": "Annotation", "motivation": why,
            "body": bodies, "target": {"source": source, "selector": [words, place]},
        }  # fmt: skip

    items = []
    for n, m in enumerate(a.mentions):
        who = [body(r.name(m.character), "identifying"), body(r.kind(m), "classifying")]
        items.append(item(f"m{n}", "identifying", who, m.start, m.end))
    for n, q in enumerate(a.quotes):
        said = [body(f"speaker: {r.name(q.speaker)}", "identifying")] if q.speaker >= 0 else []
        said += [body(f"addressee: {name}", "tagging") for name in r.addressees(q)]
        items.append(item(f"q{n}", "describing", said, q.start, q.end))
    page = {"@context": CONTEXT, "id": f"urn:bookcoref:{a.doc_key}", "type": "AnnotationPage"}
    return json_page(page | {"items": items}).encode()


def inception(r: LaidOutBook) -> bytes:
    """A zip with the CAS (XMI) and its type system: tokens, sentences, coreference chains, quotes.

    INCEpTION reads it as "UIMA CAS XMI (XML 1.1)". The links of a chain carry the character's name.
    """
    with needing("export", "dkpro-cassis", "a UIMA CAS"):
        import cassis
    system = cassis.load_dkpro_core_typesystem()
    quote = system.create_type(name=_QUOTE_TYPE, supertypeName="uima.tcas.Annotation")
    for feature in ("speaker", "addressees"):
        system.create_feature(domainType=quote, name=feature, rangeType="uima.cas.String")
    cas = cassis.Cas(typesystem=system)
    cas.sofa_string, cas.sofa_mime = r.layout.text, "text/plain"
    token, sentence = (system.get_type(_SEGMENT + name) for name in ("Token", "Sentence"))
    tokens = r.annotation.book.tokens
    begin = 0
    for end in r.annotation.book.sentence_ends:
        inside = [i for i in range(begin, end) if tokens[i].strip()]
        begin = end
        if inside:
            left, right = r.characters(inside[0], inside[-1])
            cas.add(sentence(begin=left, end=right))
        for i in inside:
            cas.add(token(begin=r.layout.starts[i], end=r.layout.ends[i]))
    chain, link = system.get_type(f"{_COREF}Chain"), system.get_type(f"{_COREF}Link")
    for c, group in enumerate(r.annotation.by_character):
        following = None
        for m in reversed(group):
            left, right = r.characters(m.start, m.end)
            who = {"referenceType": r.name(c), "referenceRelation": r.kind(m)}
            following = link(begin=left, end=right, next=following, **who)
            cas.add(following)
        if following is not None:
            cas.add(chain(first=following))
    for q in r.annotation.quotes:
        first, behind = r.characters(q.start, q.end)
        to = "; ".join(r.addressees(q))
        cas.add(quote(begin=first, end=behind, speaker=r.name(q.speaker) or None, addressees=to or None))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        # A fixed time: the same annotation gives the same file.
        files = {f"{r.annotation.doc_key}.xmi": cas.to_xmi(), "TypeSystem.xml": system.to_xml()}
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content or "")
    return buffer.getvalue()


def doc_bin(r: LaidOutBook) -> bytes:
    """A spaCy DocBin of one Doc: spans "characters" (label: the name) and "quotes" (label: the speaker).

    `doc.user_data` has the addressees of quotes and, where the source file is known, the places of tokens.
    """
    a, layout = r.annotation, r.layout
    tokens = a.book.tokens
    gaps = [layout.text[layout.ends[i] : layout.starts[i + 1]] for i in range(len(tokens) - 1)]
    blanks = [any(c.isspace() for c in gap) for gap in gaps]
    starts = {0, *a.book.sentence_ends}
    doc = spacy.tokens.Doc(
        spacy.vocab.Vocab(), words=words_for_spacy(tokens, a.doc_key), spaces=[*blanks, False][: len(tokens)],
        sent_starts=[i in starts for i in range(len(tokens))],
    )  # fmt: skip
    people = ((m.start, m.end + 1, r.name(m.character), r.kind(m)) for m in a.mentions)
    span_of = spacy.tokens.Span
    doc.spans["characters"] = [span_of(doc, i, k, label=name, kb_id=kind) for i, k, name, kind in people]
    doc.spans["quotes"] = [span_of(doc, q.start, q.end + 1, label=r.name(q.speaker)) for q in a.quotes]
    doc.user_data["doc_key"] = a.doc_key
    doc.user_data["addressees"] = [r.addressees(q) for q in a.quotes]
    if a.source is not None:
        doc.user_data["token_starts"] = list(a.source.starts)
        doc.user_data["token_ends"] = list(a.source.ends)
    return bytes(spacy.tokens.DocBin(docs=[doc], store_user_data=True).to_bytes())


# -- plain texts -----------------------------------------------------------------------------------

_NOT_OWNED = word_set(long_lists()["NOT_OWNED"])
_POSSESSIVE = pronouns.POSSESSIVE | word_set("its our ours")


def replaced_text(r: LaidOutBook) -> str:
    """The text with the name of its character in the place of every pronoun; all else is as in the file.

    "his", "my" and their like become "Tom's"; "her" does where another word of the phrase follows it. A
    pronoun that two characters share is left alone.
    """
    layout = r.layout
    at, behind = (layout.starts[0], layout.ends[-1]) if layout.starts else (0, 0)
    pieces: list[str] = []
    tokens = r.annotation.book.tokens
    people = Counter(m.mention for m in r.annotation.mentions)
    for m in r.annotation.mentions:
        start, end = r.characters(m.start, m.end)
        if people[m.mention] > 1 or m.start != m.end or start < at or r.kind(m) != "pronoun":
            continue
        word = tokens[m.start].lower()
        possessive = word in _POSSESSIVE
        if word == "her":
            following = tokens[m.start + 1] if m.start + 1 < len(tokens) else ""
            possessive = following.isalpha() and following.lower() not in _NOT_OWNED
        pieces += (layout.text[at:start], r.name(m.character) + ("’s" if possessive else ""))
        at = end
    return "".join([*pieces, layout.text[at:behind], "\n"])


def segments(r: LaidOutBook) -> list[dict[str, Any]]:
    """The book in reading order: narration and speech, never both in one segment, none beyond a paragraph.

    Every segment has its chapter and paragraph (from 1), its kind, its text on one line, its characters in
    the layout's text and, for speech, speaker and addressees (null and [] where not known).
    """
    found: list[dict[str, Any]] = []
    tokens = r.annotation.book.tokens
    for number, p in enumerate(r.paragraphs, 1):
        start = p.start
        while start < p.end:
            quote, end = r.quote_of.get(start), start
            while end + 1 < p.end and r.quote_of.get(end + 1) == quote:
                end += 1
            inside = [i for i in range(start, end + 1) if tokens[i].strip()]
            if inside:
                chapter, q = r.chapter_of(inside[0]), None if quote is None else r.annotation.quotes[quote]
                first, behind = r.characters(inside[0], inside[-1])
                found.append({
                    "segment": len(found) + 1, "chapter": chapter + 1,
                    "chapter_title": r.chapters[chapter].title, "paragraph": number,
                    "kind": "narration" if q is None else "speech",
                    "speaker": r.name(q.speaker) or None if q else None,
                    "addressees": r.addressees(q) if q else [], "text": r.words(inside[0], inside[-1]),
                    "char_start": first, "char_end": behind,
                })  # fmt: skip
            start = end + 1
    return found


def segment_file(r: LaidOutBook) -> bytes:
    """The segments as JSON lines."""
    return b"".join(json_line(segment) + b"\n" for segment in segments(r))
