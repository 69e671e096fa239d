"""A small folder with an input for every verb that writes: a novel, a cast, corrections, tables."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.characters.table import CastRow, write_table
from bookcoref_data.sample_story.story import gutenberg_text

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/">
<pgterms:ebook rdf:about="ebooks/99000001"><dcterms:title>The Lamp</dcterms:title>
<dcterms:creator><pgterms:agent><pgterms:name>Holt, Mira</pgterms:name></pgterms:agent></dcterms:creator>
<dcterms:type><rdf:Description><rdf:value>Text</rdf:value></rdf:Description></dcterms:type>
<dcterms:language><rdf:Description><rdf:value>en</rdf:value></rdf:Description></dcterms:language>
</pgterms:ebook></rdf:RDF>"""
PARTS = """#begin document (bc/demo/1); part 000
d\t0\t0\tJohn\tNNP\t*\t-\t-\t-\t-\t*\t(0)

#end document
#begin document (bc/demo/1); part 001
d\t1\t0\tHe\tPRP\t*\t-\t-\t-\t-\t*\t(0)

#end document
"""
TINY = {
    "doc_key": "tiny", "gutenberg_key": "0", "sentences": [["Anna", "saw", "Mr.", "Ford", "."]],
    "clusters": [[[0, 0]], [[2, 3]]],
    "characters": [{"name": "Anna", "mentions": [[0, 0]]}, {"name": "Mr. Ford", "mentions": [[2, 3]]}],
}  # fmt: skip
EDIT = {"op": "rename", "character": "Anna", "name": "Anna Ford"}
NAMES = ("Anna", "Mr. Ford")


STORY = "the old fox met Anna Brown\nshe was tired\nAnna said that Brown was at the mill\nthe hare met Brown"
PEOPLE = [
    (16, 26, "PROP_PER", "Anna_Brown-1"), (27, 30, "PRON_PER", "Anna_Brown-1"),
    (41, 45, "PROP_PER", "Anna_Brown-1"), (0, 11, "NOM_PER", "the_old_fox-2"),
    (56, 61, "PROP_PER", "Brown-3"), (69, 77, "NOM_FAC", "the_mill-4"), (91, 96, "PROP_PER", "Brown-3"),
    (78, 86, "NOM_PER", "Brown-3"),
]  # fmt: skip
"""Mentions of STORY in characters, with LitBank's type and cluster."""


def write_litbank(folder: Path, documents: int = 6) -> Path:
    """A LitBank of documents that are all alike, in brat files as the corpus has them."""
    brat = folder / "coref" / "brat"
    brat.mkdir(parents=True)
    lines = [
        f"T{2 * i + n}\t{kind} {start} {end}\t{STORY[start:end]}\n"
        for i, (start, end, *kinds) in enumerate(PEOPLE)
        for n, kind in enumerate(kinds)
    ]
    for number in range(documents):
        (brat / f"{number}_story_brat.txt").write_text(STORY + "\n", encoding="utf-8")
        (brat / f"{number}_story_brat.ann").write_text("".join(lines), encoding="utf-8")
    return folder


def fill(folder: Path) -> None:
    """Make all inputs in an empty folder."""
    (folder / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    (folder / "names.txt").write_text("Anna\nMr. Ford\n", encoding="utf-8")
    (folder / "edits.jsonl").write_text(json.dumps(EDIT) + "\n", encoding="utf-8")
    (folder / "tiny.jsonl").write_text(json.dumps(TINY) + "\n", encoding="utf-8")
    (folder / "parts.conll").write_text(PARTS, encoding="utf-8")
    (folder / "guide.tsv").write_text("title\tsource\tcharacter\nFarm\tcliffnotes\tBen\n", encoding="utf-8")
    bc.rebuild(folder / "bookcoref", sample=True, cache_dir=folder / "cache", jobs=1)
    books = bc.load(folder / "bookcoref")
    books.save(folder / "system.conll")
    (folder / "corpus").mkdir()
    books.save(folder / "corpus" / "lamp.conll")
    bc.annotate(folder / "tiny.jsonl", list(NAMES), out=folder / "ann")
    write_table(folder / "casts.jsonl", [
        CastRow("shmoop", "The Lamp", "The Lamp", name, order=i, author="Mira Holt", raw_character=name)
        for i, name in enumerate(("Ada Brook", "Tom Reed", "Old Tam", "Sam", "Bib"))
    ])  # fmt: skip
    with tarfile.open(folder / "rdf.tar.bz2", "w:bz2") as tar:
        member = tarfile.TarInfo("cache/epub/99000001/pg99000001.rdf")
        member.size = len(RDF)
        tar.addfile(member, io.BytesIO(RDF.encode()))
    (folder / "guides" / "description").mkdir(parents=True)
    row = {"doc_key": "x", "gutenberg_key": "1", "character": "Ada", "text": "She bakes."}
    (folder / "guides" / "description" / "test.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
