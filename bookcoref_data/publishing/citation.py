"""How a published data set is cited: from BibTeX or CITATION.cff to the three forms that sites read.

card            BibTeX
CITATION.cff    what GitHub and the Hub show as "Cite this"
.zenodo.json    what Zenodo fills in for a DOI
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import FormatError
from ..files import json_page, read_regular, utf8
from ..late import bibtexparser

_MOST_BYTES = 1 << 20
_KINDS = {"article": "article", "book": "book", "inproceedings": "conference-paper", "techreport": "report",
          "phdthesis": "thesis", "mastersthesis": "thesis", "dataset": "dataset"}  # fmt: skip
_DOI = re.compile(r"10\.\d{4,9}/\S+")


@dataclass(frozen=True, slots=True)
class Author:
    """A person (`family`, `given`), or a group whose whole name is in `family` (`given` is "")."""

    family: str
    given: str = ""

    def __str__(self) -> str:
        return f"{self.family}, {self.given}" if self.given else self.family

    @property
    def cff(self) -> dict[str, str]:
        """The author as CITATION.cff has it."""
        if self.given:
            return {"family-names": self.family, "given-names": self.given}
        return {"name": self.family}


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work to cite. `kind` is its BibTeX type."""

    title: str
    authors: tuple[Author, ...]
    year: int | None = None
    kind: str = "misc"
    venue: str = ""
    url: str = ""
    doi: str = ""

    def to_cff(self) -> dict[str, Any]:
        """The work as an entry of CITATION.cff."""
        made: dict[str, Any] = {
            "type": _KINDS.get(self.kind, "generic"), "title": self.title,
            "authors": [author.cff for author in self.authors],
        }  # fmt: skip
        if self.year:
            made["year"] = self.year
        if self.venue:
            made["collection-title" if self.kind == "inproceedings" else "journal"] = self.venue
        return made | {name: value for name, value in (("url", self.url), ("doi", self.doi)) if value}


@dataclass(frozen=True, slots=True)
class Citation:
    """What to cite: the works, the first one before all others, and the BibTeX that a person copies."""

    works: tuple[CitedWork, ...]
    bibtex: str


def read_citation(path: Path) -> Citation:
    """A citation of the user's own: BibTeX, or a CITATION.cff."""
    text = utf8(read_regular(path, _MOST_BYTES), path)
    if path.suffix.lower() in (".cff", ".yaml", ".yml"):
        try:
            value = yaml.safe_load(text)
            preferred = value.get("preferred-citation") or value
            title = str(preferred["title"])
            year = int(str(preferred.get("year") or preferred["date-released"])[:4])
            authors = tuple(
                Author(str(one["name"]))
                if "name" in one
                else Author(str(one["family-names"]), str(one.get("given-names", "")))
                for one in preferred["authors"]
            )
            if not authors:
                raise ValueError("no authors")
        except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError) as error:
            expected = "title, authors and a year or date-released"
            found = f"{type(error).__name__}: {str(error)[:200]}"
            raise FormatError(f"{path} is no CITATION.cff", expected=expected, found=found) from error
        kinds = {cff: bibtex for bibtex, cff in _KINDS.items()}
        kind = kinds.get(str(preferred.get("type", "")), "misc")
        venue = str(preferred.get("collection-title") or preferred.get("journal") or "")
        url, doi = (str(preferred.get(name) or "") for name in ("url", "doi"))
        work = CitedWork(title, authors, year, kind, venue, url, doi)
        fields = {"title": f"{{{title}}}", "author": _bibtex_names(authors)}
        fields["journal" if kind == "article" else "booktitle"] = venue
        fields |= {"year": str(year or ""), "url": url, "doi": doi}
        key = f"{authors[0].family} {year or ''}"
        return Citation((work,), _entry(kind if kind != "dataset" else "misc", key, fields))
    return citation_of_bibtex(text, str(path))


def citation_of_bibtex(text: str, source: str) -> Citation:
    """The works of a BibTeX text, in its order. Raises FormatError: no entry, or one without what we need."""
    parser = bibtexparser.bparser.BibTexParser(common_strings=True, ignore_nonstandard_types=False)
    try:
        entries: list[dict[str, str]] = bibtexparser.loads(text, parser=parser).entries
    except Exception as error:  # the parser raises classes of its own and of its grammar
        raise FormatError(f"{source} is not BibTeX", found=str(error)[:200]) from error
    if not entries:
        what = f"{source} has no BibTeX entry"
        expected = "@article{key, title = {...}, author = {...}, ...}"
        raise FormatError(what, expected=expected, hint="give a .bib file or a CITATION.cff")
    return Citation(tuple(_work(entry, source) for entry in entries), text.strip())


def citation_of_dataset(title: str, authors: Sequence[str], year: int, url: str) -> Citation:
    """The citation of a data set that has no paper."""
    names = tuple(map(_author, authors))
    work = CitedWork(title, names, year, "dataset", url=url)
    key = f"{names[0].family} {year} {title}"
    fields = {"author": _bibtex_names(names), "title": f"{{{title}}}", "year": str(year), "url": url}
    return Citation((work,), _entry("misc", key, fields))


def render_cff(
    citation: Citation, *, title: str, abstract: str, licence: str, version: str, date: str, url: str
) -> str:
    """CITATION.cff of the data set; its paper, where there is one, is the preferred citation.

    `licence` is an SPDX name, or "" where there is none.
    """
    main = citation.works[0]
    value: dict[str, Any] = {
        "cff-version": "1.2.0", "message": "If you use this data set, please cite it as below.",
        "type": "dataset", "title": title, "abstract": abstract,
        "authors": [author.cff for author in main.authors], "version": version, "date-released": date,
        "url": url,
    }  # fmt: skip
    if licence:
        value["license"] = licence
    papers = [work.to_cff() for work in citation.works if work.kind != "dataset"]
    if papers:
        value["preferred-citation"] = papers[0]
    if papers[1:]:
        value["references"] = papers[1:]
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=100))


def render_zenodo(
    citation: Citation, languages: Sequence[str], *, title: str, description: str, licence: str, version: str,
    date: str, url: str,
) -> str:  # fmt: skip
    """`.zenodo.json`: what Zenodo reads from a repository when it makes a DOI."""
    dois = [work.doi for work in citation.works if work.doi]
    papers = [{"identifier": doi, "relation": "isDocumentedBy", "scheme": "doi"} for doi in dois]
    value: dict[str, Any] = {
        "title": title, "upload_type": "dataset", "description": description,
        "creators": [{"name": str(author)} for author in citation.works[0].authors], "access_right": "open",
        "version": version, "publication_date": date,
        "keywords": ["coreference resolution", "long documents", "books", "Project Gutenberg"],
        "related_identifiers": [{"identifier": url, "relation": "isIdenticalTo", "scheme": "url"}, *papers],
    }  # fmt: skip
    if licence:
        value["license"] = licence
    if {*languages} == {"en"}:  # one language, by a code of three letters
        value["language"] = "eng"
    return json_page(value)


def _work(entry: Mapping[str, str], source: str) -> CitedWork:
    fields = {name: _flat(value) for name, value in entry.items()}
    missing = [name for name in ("title", "author", "year") if not fields.get(name)]
    if missing:
        what = f"{source}: the entry {entry.get('ID', '?')} lacks {', '.join(missing)}"
        raise FormatError(what, expected="title, author and year")
    year = re.search(r"\d{4}", fields["year"])
    doi = _DOI.search(fields.get("doi", ""))
    return CitedWork(
        fields["title"], tuple(_author(name) for name in re.split(r"\s+and\s+", entry["author"])),
        int(year[0]) if year else None, entry.get("ENTRYTYPE", "misc"),
        fields.get("booktitle") or fields.get("journal", ""), fields.get("url", ""), doi[0] if doi else "",
    )  # fmt: skip


def _author(name: str) -> Author:
    """ "Last, First" or "First Last"; a single word, and a name in braces, is a group."""
    if name.strip().startswith("{"):
        return Author(_flat(name))
    family, comma, given = _flat(name).partition(",")
    if not comma:
        given, _, family = family.rpartition(" ")
    return Author(family.strip(), given.strip())


def _flat(value: str) -> str:
    """A value of BibTeX as plain text: no braces, accents as letters."""
    plain = bibtexparser.latexenc.latex_to_unicode(value)
    return " ".join(plain.replace("{", "").replace("}", "").split())


def _bibtex_names(authors: Sequence[Author]) -> str:
    """The names as BibTeX has them, groups in braces."""
    return " and ".join(str(author) if author.given else f"{{{author}}}" for author in authors)


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    """An entry of BibTeX; fields without a value are left out."""
    lines = "".join(f"    {name} = {{{value}}},\n" for name, value in fields.items() if value)
    label = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:60]
    return f"@{kind}{{{label},\n{lines}}}"
