"""Whether a data set may be published, and in which form.

    texts in the public domain (or under an open licence) and an open annotation licence: the whole data set
    anything else that is known: standoff, that is packs and a card, no text
    unknown rights: nothing

Texts and annotation have rights of their own, so they are stated apart.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from ..errors import UsageError, listed, plural
from ..resources import load_toml, resource
from ..shapes import AsFields, attributes
from ..text.markers import SMALL_PRINT, START

PUBLIC_DOMAIN, OPEN, RESTRICTED, UNKNOWN = "public domain", "open licence", "restricted", "unknown"
_FREE = {PUBLIC_DOMAIN, OPEN}

WHY_NO_FINGERPRINT = (
    "no fingerprint: neither the header of the text nor its catalogue record says that it is in the public "
    "domain, so the pack fits one edition only"
)
"""The sentence for a person when a pack is made without a fingerprint. With a language model, likely words
can be guessed from one, so only texts that are known to be free have it."""
_PHRASES = load_toml(resource("manifests", "rights.toml"))
_GRANT, _CLOSED, _CLOSED_HEADER, _YOUNG, _DOUBTFUL, _DOUBTFUL_ELSEWHERE = (
    re.compile("|".join(_PHRASES[name]), re.I)
    for name in ("grants", "closed", "closed_header", "young", "doubtful", "doubtful_elsewhere")
)
_NOT_YET_OLD = 95 + 15
"""Nobody writes before 15: who was born so many years ago has written nothing that age alone makes free."""
_LIVING = re.compile(
    r"<pgterms:birthdate\b[^>]*>(\d{4})(?!(?:(?!</pgterms:agent>).)*<pgterms:deathdate)", re.S
)
_NAMES = re.compile(r"^\s*(?:title|author|.*project gutenberg\b).*", re.I | re.M)
_MOST_HEADER, _NOTES = 40_000, 3000
_RECORD = re.compile(r"<dcterms:rights\b[^>]*>([^<]*)</dcterms:rights>")
_FREE_RECORD = re.compile(r"\s*public domain(?: in the usa)?\.?\s*", re.I)


def header_says_free(text: str) -> bool | None:
    """Whether the header of a decoded Gutenberg text gives it to everybody; None when it does not say.

    Only what stands above the line that ends the header can give; what takes away may stand right below it.
    Years that no such text can have (of its release, its writer, an edition, a notice) leave it open.
    """
    ends = [found for line in (START, SMALL_PRINT) if (found := line.search(text))]
    end = min(ends, key=lambda found: found.start(), default=None)
    if end is None or end.end() > _MOST_HEADER:
        return None
    parts = re.split(r"\n[ \t]*\n", text[: end.start()].replace("’", "'"))
    paragraphs = [" ".join(part.split()) for part in parts]
    notes = " ".join(text[end.start() : end.end() + _NOTES].split())
    if any(map(_CLOSED.search, (*paragraphs, notes))) or any(map(_CLOSED_HEADER.search, paragraphs)):
        return False
    if _YOUNG.search(notes) or _impossible(text[: end.start()]):
        return None
    if re.fullmatch(_PHRASES["small_print_free"], " ".join(end.group().split()), re.I):
        return True
    others = [part for part, one in zip(parts, paragraphs, strict=True) if not _GRANT.fullmatch(one)]
    told = " ".join(_NAMES.sub("", "\n".join(others)).split())
    doubtful = _DOUBTFUL.search(" ".join(" ".join(others).split())) or _DOUBTFUL_ELSEWHERE.search(told)
    return None if doubtful or len(others) == len(parts) else True


def _impossible(header: str) -> bool:
    """Whether a year in a header contradicts that the text is free. Project Gutenberg began in 1971, and what
    was printed in 1964 or later needed no renewal."""
    now = date.today().year
    may = {"released": range(1971, now + 1), "persons": range(now - _NOT_YET_OLD + 1), "printed": range(1964)}
    for name, years in may.items():
        for line in re.findall(rf"^{_PHRASES[name]}: *(.*(?:\n[ \t]+\S.*)*)", header, re.I | re.M):
            births = re.sub(r"(\d{4})\s*[-\u2013\u2014]\s*\d{4}", r"\1", line)
            if any(int(year) not in years for year in re.findall(r"(?<![#\d])[12]\d{3}(?!\d)", births)):
                return True
    return False


def record_says_free(record: str) -> bool | None:
    """Whether an RDF record of the catalogue says "Public domain"; None when it states no rights, or names
    somebody who may be living."""
    found = _RECORD.findall(record)
    free = all(map(_FREE_RECORD.fullmatch, found)) if found else None
    young = any(int(born) > date.today().year - _NOT_YET_OLD for born in _LIVING.findall(record))
    return None if free and young else free


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence: its SPDX name, address, whether it is open, and its names on the Hub and at Zenodo."""

    id: str
    url: str = ""
    open: bool = False
    hub: str = "other"
    zenodo: str = ""


@dataclass(frozen=True, slots=True)
class TextRights(AsFields):
    """The rights in one text: one of the four words above, and how we know."""

    state: str
    evidence: str

    @property
    def free(self) -> bool:
        """Whether anybody may pass the text on."""
        return self.state in _FREE


def line_of_texts(texts: Iterable[TextRights]) -> str:
    """What a card says of the rights in the texts of a data set."""
    texts = list(texts)
    others = "; ".join(sorted({rights.evidence for rights in texts if rights.state != PUBLIC_DOMAIN}))
    if not any(rights.state == PUBLIC_DOMAIN for rights in texts):
        return others
    free = "public domain in the United States (Project Gutenberg); check the law where you are"
    return f"{free}. Except: {others}" if others else free


@dataclass(frozen=True, slots=True)
class ReuseRights:
    """The licence of the annotation (None: unknown), how we know, and what stands against open publication.

    `closed` are sentences, for instance about casts from a source whose terms are not open.
    """

    licence: Licence | None
    evidence: str
    closed: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Whether anybody may pass the annotation on, for any purpose."""
        return self.licence is not None and self.licence.open and not self.closed

    def to_dict(self) -> dict[str, Any]:
        licence = self.licence.id if self.licence else None
        return {"licence": licence} | attributes(self, "open evidence closed")


def find_licence(name: str) -> Licence:
    """The licence of a name ("CC BY 4.0", "cc-by-4.0"); one that we do not know counts as not open."""
    if not name.strip():
        raise UsageError("the licence has no name", expected="for instance CC-BY-4.0")
    return _licences().get(_plain(name)) or Licence(" ".join(name.split()))


@lru_cache(maxsize=1)
def _licences() -> dict[str, Licence]:
    """The licences that we know, by every name of theirs."""
    rows = json.loads(resource("manifests", "licences.json").read_text(encoding="utf-8"))["licences"]
    named = [(row.pop("names"), Licence(**row)) for row in rows]
    return {_plain(name): licence for names, licence in named for name in (*names, licence.id)}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def check_publishable(texts: Mapping[str, TextRights], annotation: ReuseRights, *, standoff: bool) -> None:
    """Refuse what may not be published in this form."""
    if annotation.licence is None:
        what = "the licence of the annotation is unknown, so it cannot be published"
        hint = "if the annotation is yours, choose one: --licence CC-BY-4.0"
        raise UsageError(what, found=annotation.evidence, hint=hint)
    unknown = [key for key, rights in texts.items() if rights.state == UNKNOWN]
    if unknown:
        raise UsageError(
            f"the rights in {plural(len(unknown), 'text')} are unknown, so nothing is published",
            expected="a text whose Gutenberg header or catalogue record says that it is free",
            found=listed(f"{key} ({texts[key].evidence})" for key in unknown),
            hint="give the Gutenberg texts with --mirror DIR; if you know the terms of texts from elsewhere, "
            "state them with --text-licence",
        )
    if standoff:
        return
    restricted = [key for key, rights in texts.items() if not rights.free]
    if restricted:
        what = f"{plural(len(restricted), 'text')} may not be passed on, so the data set cannot go out whole"
        found = listed(f"{key} ({texts[key].evidence})" for key in restricted)
        raise UsageError(what, found=found, hint="add --standoff: packs and a card, no text")
    if not annotation.open:
        what = "the annotation is not under an open licence, so the data set cannot be published whole"
        expected = "for instance CC0-1.0, CC-BY-4.0 or CC-BY-SA-4.0, and casts from open sources"
        found = "; ".join([f"{annotation.licence.id} ({annotation.evidence})", *annotation.closed])
        hint = "add --standoff: packs and a card, no text"
        raise UsageError(what, expected=expected, found=found, hint=hint)
