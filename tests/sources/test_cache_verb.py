"""`cache path|size|clear` as a person uses them."""

import json

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import UsageError
from bookcoref_data.sources.store import Store


@pytest.fixture
def call():
    """Run the command line; errors of ours are raised, as `main` sees them."""

    def run(*arguments, stdin=None):
        result = CliRunner().invoke(make_app(), ["cache", *map(str, arguments)], input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def filled(cache_home):
    """A cache of two parts, found by the variable."""
    store = Store.open()
    store.make("delta", "key", lambda folder: (folder / "a").write_text("12345"))
    store.make("texts", "key", lambda folder: (folder / "b").write_text("123"))
    return store


def test_path_follows_the_variable_and_the_option(call, cache_home, tmp_path):
    assert call("path").stdout.strip() == str(cache_home)
    assert json.loads(call("path", "--json", "--cache-dir", tmp_path).stdout) == {"path": str(tmp_path)}


def test_size_counts_files_and_bytes_by_part(call, filled):
    report = json.loads(call("size", "--json").stdout)
    assert (report["files"], report["bytes"]) == (2, 8)
    assert report["parts"][0] == {"part": "delta", "files": 1, "bytes": 5}
    assert "delta" in call("size").stdout


def test_size_of_an_empty_cache_is_nothing(call, cache_home):
    assert json.loads(call("size", "--json").stdout)["parts"] == []
    assert not cache_home.exists()


def test_clear_removes_one_part_and_says_so(call, filled):
    report = json.loads(call("clear", "delta", "--yes", "--json").stdout)
    assert report["removed"] == [{"part": "delta", "files": 1, "bytes": 5}]
    assert filled.parts() == ["texts"]
    call("clear", "--yes")
    assert filled.parts() == []


def test_clear_without_yes_removes_nothing_where_it_cannot_ask(call, filled):
    for arguments in (["clear"], ["clear", "--json"]):
        with pytest.raises(UsageError, match="--yes"):
            call(*arguments)
    assert filled.parts() == ["delta", "texts"]


@pytest.mark.parametrize(("answer", "left"), [("n\n", ["delta", "texts"]), ("y\n", [])])
def test_clear_asks_on_a_terminal(call, filled, monkeypatch, answer, left):
    monkeypatch.setattr("bookcoref_data.cli.verbs.dataset._can_ask", lambda: True)
    result = call("clear", stdin=answer)
    assert filled.parts() == left
    assert result.exit_code == (1 if left else 0)


def test_clear_of_an_unknown_part_lists_the_parts(call, filled):
    with pytest.raises(UsageError, match="delta, texts"):
        call("clear", "text", "--yes")
