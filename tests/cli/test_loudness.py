"""-q and -v, behind any verb."""

from __future__ import annotations

import pytest


def test_quiet_says_results_and_errors_alone(built):
    loud, quiet = (built.run("convert", "bookcoref", "-", "--to", "jsonl", *flags) for flags in ((), ("-q",)))
    assert loud.code == quiet.code == 0
    assert loud.err
    assert quiet.err == ""
    assert built.run("show", "nobody", "--quiet").err.startswith("error: ")


@pytest.mark.long
def test_what_is_converted_goes_to_standard_output(built):
    built.run("convert", "bookcoref", "file.conll")
    there = built.run("convert", "bookcoref", "-", "--to", "conll")
    assert there.out == (built.cwd / "file.conll").read_text(encoding="utf-8")
    assert not (built.cwd / "-").exists()
    folder = built.run("convert", "bookcoref", "-", "--to", "brat")
    assert (folder.code, folder.out) == (2, "")
    assert "standard output takes one file" in folder.err


def test_verbose_shows_where_an_error_comes_from(built):
    assert "Traceback" in built.run("-v", "show", "nobody").err
    assert "Traceback" not in built.run("show", "nobody").err


def test_a_data_set_says_what_it_is(built):
    import datasets

    found = datasets.load_dataset_builder(
        str(built.cwd / "bookcoref"), "split", cache_dir=str(built.cwd / "hf")
    ).info
    assert "windows" in found.description
    assert "CC" in found.license
    assert (found.citation, found.homepage) == ("", "")  # the sample is not BookCoref
