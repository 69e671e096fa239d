"""What may be published, and in which form."""

import pytest

from bookcoref_data.errors import UsageError
from bookcoref_data.publishing.rights import (
    OPEN,
    PUBLIC_DOMAIN,
    RESTRICTED,
    UNKNOWN,
    ReuseRights,
    TextRights,
    check_publishable,
    find_licence,
)
from bookcoref_data.workflows.publish_facts import Origin

FREE = {"emma_158": TextRights(PUBLIC_DOMAIN, "its header")}


def annotation(name="CC-BY-4.0", closed=()):
    return ReuseRights(find_licence(name) if name else None, "a test", tuple(closed))


@pytest.mark.parametrize("name", ["CC-BY-4.0", "cc by 4.0", "CC BY 4.0", "Cc_By 4.0"])
def test_a_licence_is_known_however_it_is_written(name):
    assert find_licence(name).id == "CC-BY-4.0"


def test_a_licence_that_nobody_knows_is_not_open():
    found = find_licence("Licence of  my uncle")
    assert (found.id, found.open, found.hub) == ("Licence of my uncle", False, "other")


def test_free_texts_with_an_open_licence_go_up_whole():
    check_publishable(FREE | {"own_0": TextRights(OPEN, "CC0")}, annotation(), standoff=False)


@pytest.mark.parametrize("standoff", [True, False])
def test_unknown_rights_are_refused_in_any_form(standoff):
    texts = FREE | {"novel_0": TextRights(UNKNOWN, "not from Project Gutenberg")}
    with pytest.raises(UsageError, match="novel_0"):
        check_publishable(texts, annotation(), standoff=standoff)
    with pytest.raises(UsageError, match="--licence"):
        check_publishable(FREE, annotation(None), standoff=standoff)


@pytest.mark.parametrize(
    ("texts", "rights"),
    [
        (FREE | {"animal_farm_0": TextRights(RESTRICTED, "in copyright")}, annotation()),
        (FREE, annotation("CC BY-NC-SA 4.0")),
        (FREE, annotation("CC-BY-4.0", ["the casts of 3 books come from shmoop"])),
    ],
    ids=["a restricted text", "a licence that is not open", "casts without open terms"],
)
def test_what_is_known_but_not_free_goes_up_without_text(texts, rights):
    with pytest.raises(UsageError, match="--standoff"):
        check_publishable(texts, rights, standoff=False)
    check_publishable(texts, rights, standoff=True)


def test_casts_whose_source_has_no_open_terms_are_told():
    """Guides and unknown sources; what is under a licence already gets no other one."""

    def rights(*sources, chosen=None, declared=("CC0-1.0", "a test")):
        books = {str(i): {"cast": {"source": source}} for i, source in enumerate(sources)} | {"x": {}}
        record = type("Record", (), {"source": {"books": books if sources else None}})()
        return Origin("own", record, None, declared).annotation_rights(chosen)

    unknown = "the casts of {} come from an unknown source, whose terms are not open"
    assert rights().closed == ()
    assert rights("wikidata", "proposed", "own").closed == (unknown.format("1 book"),)
    assert rights("litcharts", "wikidata", "litcharts", None, declared=None).closed == (
        "the casts of 2 books come from litcharts, whose terms are not open", unknown.format("2 books"),
    )  # fmt: skip
    assert rights(declared=None).licence is None
    assert rights(declared=None, chosen="CC-BY-4.0").licence == find_licence("CC-BY-4.0")
    assert rights(chosen="CC0-1.0").licence == find_licence("CC0-1.0")
    with pytest.raises(UsageError, match=r"under CC0-1\.0 already, so its licence cannot be CC-BY-4\.0"):
        rights(chosen="CC-BY-4.0")
