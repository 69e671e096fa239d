"""Citations of the user's own, and the files that are made of them."""

import json
from types import SimpleNamespace

import pytest
import yaml

from bookcoref_data.errors import FormatError
from bookcoref_data.formats.card import CITATION
from bookcoref_data.publishing.citation import (
    citation_of_bibtex,
    citation_of_dataset,
    read_citation,
    render_cff,
    render_zenodo,
)
from bookcoref_data.publishing.publication import Publication

BIB = r"""
@article{hill-2026,
  title = {The {Lamp} and its People},
  author = {Hill, Anna and Mart{\'i}n, Jos{\'e} and {The Saltmere Group}},
  journal = {Journal of Ferries}, year = 2026, doi = {https://doi.org/10.1234/ferry.5},
}
"""
FACTS = {
    "title": "Lamp",
    "licence": "CC-BY-4.0",
    "version": "1.0.0",
    "date": "2026-01-02",
    "url": "https://example.org/lamp",
}


def test_bibtex_is_read_with_its_accents_and_groups():
    work = citation_of_bibtex(BIB, "x.bib").works[0]
    assert [str(a) for a in work.authors] == ["Hill, Anna", "Martín, José", "The Saltmere Group"]
    assert (work.title, work.year, work.doi) == ("The Lamp and its People", 2026, "10.1234/ferry.5")


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v1.2.3", "1.2.3"), ("10.0.12", "10.0.12"),
        ("v1.2", "1.0.0"), ("1.2.3.4", "1.0.0"), ("v1.2.x", "1.0.0"), ("first", "1.0.0"), ("", "1.0.0"),
    ],
)  # fmt: skip
def test_a_tag_of_three_numbers_is_the_version(tag, version):
    assert Publication.version.fget(SimpleNamespace(tag=tag)) == version


def test_the_citation_of_bookcoref_is_read():
    work = citation_of_bibtex(CITATION, "card").works[0]
    assert [a.family for a in work.authors] == ["Martinelli", "Bonomo", "Huguet Cabot", "Navigli"]
    assert work.authors[2].given == "Pere-Lluís"


def test_a_citation_file_is_read_and_written(tmp_path):
    path = tmp_path / "CITATION.cff"
    text = render_cff(citation_of_bibtex(BIB, "x"), abstract="About a lamp.", **FACTS)
    path.write_text(text, encoding="utf-8")
    value = yaml.safe_load(text)
    assert value["cff-version"] == "1.2.0"
    assert value["preferred-citation"]["type"] == "article"
    found = read_citation(path)
    assert found.works[0].title == "The Lamp and its People"
    assert "Hill, Anna and Martín, José" in found.bibtex
    assert citation_of_bibtex(found.bibtex, "again").works[0].authors == found.works[0].authors


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.bib", "no entry"), ("b.bib", "@article{x, title = {T}}"), ("c.cff", "title: [\n"), ("d.cff", "- 1")],
)
def test_what_is_no_citation_is_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError):
        read_citation(tmp_path / name)


def test_a_data_set_without_a_paper_cites_itself():
    citation = citation_of_dataset("Lamp", ["me"], 2026, "https://example.org/lamp")
    value = yaml.safe_load(render_cff(citation, abstract="About.", **FACTS))
    assert value["authors"] == [{"name": "me"}]
    assert "preferred-citation" not in value
    zenodo = json.loads(render_zenodo(citation, ["en"], description="About.", **FACTS))
    assert (zenodo["upload_type"], zenodo["creators"]) == ("dataset", [{"name": "me"}])
    assert zenodo["language"] == "eng"
    french = json.loads(render_zenodo(citation, ["fr"], description="About.", **FACTS))
    assert "language" not in french


CFF = """title: The Lamp
type: {kind}
authors: [{{family-names: Hill, given-names: Anna}}, {{name: The Group}}]
date-released: 2026-01-02
{more}
"""


@pytest.mark.parametrize(
    ("kind", "more", "bibtex", "venue"),
    [
        ("article", "journal: Ferries", "@article", "journal = {Ferries},"),
        ("conference-paper", "collection-title: ACL", "@inproceedings", "booktitle = {ACL},"),
        ("dataset", "journal: Ferries", "@misc", "booktitle = {Ferries},"),
        ("song", "", "@misc", ""),
    ],
)
def test_a_citation_file_becomes_this_bibtex(tmp_path, kind, more, bibtex, venue):
    path = tmp_path / "CITATION.cff"
    path.write_text(CFF.format(kind=kind, more=more) + "url: https://example.org\n", encoding="utf-8")
    found = read_citation(path)
    lines = [line.strip() for line in found.bibtex.strip().splitlines()]
    assert lines[0] == f"{bibtex}{{hill-2026,"
    assert "title = {{The Lamp}}," in lines
    assert "author = {Hill, Anna and {The Group}}," in lines
    assert (venue in lines) is bool(venue)
    assert "year = {2026}," in lines
    (work,) = found.works
    assert (work.title, work.year, work.url, work.doi) == ("The Lamp", 2026, "https://example.org", "")
    assert [author.cff for author in work.authors] == [
        {"family-names": "Hill", "given-names": "Anna"},
        {"name": "The Group"},
    ]


@pytest.mark.parametrize(
    ("entry", "lacking"),
    [
        ("author = {A B}, year = 2020", "title"),
        ("title = {T}", "author, year"),
        ("title = {T}, author = {A}", "year"),
    ],
)
def test_what_an_entry_lacks_is_named(entry, lacking):
    with pytest.raises(FormatError) as caught:
        citation_of_bibtex(f"@article{{key, {entry}}}", "x.bib")
    assert caught.value.what == f"x.bib: the entry key lacks {lacking}"


@pytest.mark.parametrize(
    ("names", "authors"),
    [
        ("Hill, Anna", ["Hill, Anna"]),
        ("Anna Hill", ["Hill, Anna"]),
        ("Anna Maria Hill", ["Hill, Anna Maria"]),
        ("Hill", ["Hill"]),
        ("{The Group}", ["The Group"]),
        ("A B and  {C D}", ["B, A", "C D"]),
    ],
)
def test_names_of_authors_are_read(names, authors):
    work = citation_of_bibtex(
        f"@misc{{k, title = {{T}}, author = {{{names}}}, year = {{circa 1999}}}}", "x"
    ).works[0]
    assert [str(author) for author in work.authors] == authors
    assert (work.year, work.kind) == (1999, "misc")
