"""Citations of the user's own, and the files that are made of them."""

import json

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

BIB = r"""
@article{hill-2026,
  title = {The {Lamp} and its People},
  author = {Hill, Anna and Mart{\'i}n, Jos{\'e} and {The Saltmere Group}},
  journal = {Journal of Ferries}, year = 2026, doi = {https://doi.org/10.1234/ferry.5},
}
"""
FACTS = {"title": "Lamp", "licence": "CC-BY-4.0", "version": "1.0.0", "date": "2026-01-02",
         "url": "https://example.org/lamp"}  # fmt: skip


def test_bibtex_is_read_with_its_accents_and_groups():
    work = citation_of_bibtex(BIB, "x.bib").works[0]
    assert [str(a) for a in work.authors] == ["Hill, Anna", "Martín, José", "The Saltmere Group"]
    assert (work.title, work.year, work.doi) == ("The Lamp and its People", 2026, "10.1234/ferry.5")


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
    zenodo = json.loads(render_zenodo(citation, description="About.", **FACTS))
    assert (zenodo["upload_type"], zenodo["creators"]) == ("dataset", [{"name": "me"}])
