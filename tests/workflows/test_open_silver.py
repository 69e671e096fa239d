"""The packs that ship: what they are, and two books rebuilt from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bookcoref_data as bc
from bookcoref_data.files import sha256_bytes
from bookcoref_data.workflows.packed import read_released

SHIPPED = Path(__file__).resolve().parents[2] / "manifests" / "open-silver"
MOST_BYTES = 4_000_000


def test_the_packs_are_ours_small_and_hold_no_text():
    packs = json.loads((SHIPPED / "index.json").read_text(encoding="utf-8"))["packs"]
    books = json.loads((SHIPPED / "manifest.json").read_text(encoding="utf-8"))["books"]
    assert {pack["doc_key"] for pack in packs} == set(books)
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < MOST_BYTES
    for pack in packs:
        assert pack["licence"] == "CC-BY-4.0"
        assert pack["literal_characters"] < 20
        released = read_released(SHIPPED / pack["file"], pack["sha256"])
        assert released.token_count == pack["tokens"]
        assert sha256_bytes(released.reasons.encode()) == books[pack["doc_key"]]["reasons_sha256"]


@pytest.mark.long
def test_what_ships_verifies():
    assert bc.verify(SHIPPED).problems == []


def test_the_plan_names_every_book():
    packs = json.loads((SHIPPED / "index.json").read_text(encoding="utf-8"))["packs"]
    plan = bc.rebuild_plan(release="open-silver", offline=True)
    assert {pack["gutenberg_key"] for pack in packs} <= set(plan["gutenberg_id"])


@pytest.mark.long
def test_two_books_are_rebuilt(shared_data, tmp_path):
    keys = ["the_boxcar_children_42796", "siddhartha_2500"]
    done = bc.rebuild(
        tmp_path / "silver", release="open-silver", mirror=shared_data / "gutenberg", books=keys,
        offline=True, cache_dir=tmp_path / "cache", jobs=1,
    )  # fmt: skip
    assert done.ok
    card = (tmp_path / "silver" / "README.md").read_text(encoding="utf-8")
    assert "Open silver" in card
    assert "NC-SA" not in card  # neither BookCoref's licence nor its paper
    assert "martinelli" not in card
    bc.manifest_write(tmp_path / "silver", tmp_path / "manifest.json")
    found, known = (
        json.loads(path.read_text(encoding="utf-8"))["books"]
        for path in (tmp_path / "manifest.json", SHIPPED / "manifest.json")
    )
    assert found == {key: known[key] for key in keys}
    book = bc.load(tmp_path / "silver")["boxcar"]
    assert {"Henry", "Jess", "Benny", "Violet"} <= set(book.characters)
    assert all(m.rule and m.score is not None for m in book.mentions)
    assert sum(q.speaker == "Henry" for q in book.quotes) > 100
    assert sum(bool(q.addressees) for q in book.quotes) > 100
