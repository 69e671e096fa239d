"""The sample, written in other marks, line ends and layouts, is annotated as before (`bench_exchanges`)."""

from __future__ import annotations

import pytest

from benchmarks.bench_exchanges import EXCHANGES, Novel, curly, kept, laid_out, moves, read
from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.sample_story.story import cast, gutenberg_text
from bookcoref_data.text.clean import clean

EXACT = (
    "quotes: « »", "quotes: ‘ ’", "dashes: spaced", "no-break spaces", "two spaces behind sentences",
    "lines of 60, CRLF", "a paragraph a line", "indented, no blank lines", "cast in another order",
    "four strangers in the cast",
)  # fmt: skip


@pytest.fixture(scope="module")
def sample():
    """The novel of the sample, and its annotation."""
    parts = [" ".join(part.split()) for part in clean(gutenberg_text()).text.split("\n\n")]
    novel = Novel(tuple(curly(part) for part in parts if part), make_cast(cast().values()))
    return novel, read(novel, laid_out(str)(novel))


@pytest.mark.long
@pytest.mark.parametrize("name", EXACT)
def test_what_must_not_matter_changes_nothing(sample, name):
    novel, before = sample
    change, lay_out = EXCHANGES[name]
    changed = change(novel)
    after = read(changed, (lay_out or laid_out(str))(changed))
    for old, new in zip(before, after, strict=True):
        assert old
        assert kept(moves(novel, changed), old, new) == (len(old), 0, [])


def test_names_are_exchanged_with_their_capitals_and_endings_and_places_follow():
    novel = Novel(("Anna’s ANNA met O'Hara.", "Old Anna slept."), make_cast(["Anna", "Mr. O'Hara"]))
    changed = novel.with_names({"Anna": "Jo", "O'Hara": "Hill"})
    assert changed.paragraphs == ("Jo’s JO met Hill.", "Old Jo slept.")
    assert changed.cast.names == ("Jo", "Mr. Hill")
    # Anna, her name in capitals, and the last one: by letters of the old text and of the new.
    before = {(0, 4): "Anna", (5, 9): "Anna", (20, 24): "Anna"}
    after = {(0, 2): "Anna", (3, 5): "Anna", (15, 17): "Anna", (8, 12): "Mr. O'Hara"}
    assert kept(moves(novel, changed), before, after) == (3, 1, [])
