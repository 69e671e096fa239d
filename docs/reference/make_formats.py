"""Write docs/reference/formats.md: what each format holds, by writing it and reading it back.

    python docs/reference/make_formats.py

A test fails where the page is not what this writes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bookcoref_data.books import Mention, Record
from bookcoref_data.formats import FORMATS, base, read_documents, write_documents
from bookcoref_data.formats.layers import heads_of

PAGE = Path(__file__).with_name("formats.md")
INTRODUCTION = """# What each format holds

Each field was written and read back by `docs/reference/make_formats.py`, which made this page. "yes": in the
rows of the format; "ours": in our comment (brat: our note; BookNLP: our part of `.book`), which other
programs skip; "no": counted as not kept. [Limits](../formats.md#what-each-format-can-hold).
"""
SUFFIXES = {"jsonl": ".jsonl", "conll": ".conll", "corefud": ".conllu"}
SENTENCES = [["Anna", "met", "old", "Tom", "."], ["She", "gave", "him", "a", "letter", "."]]
ANNA, TOM = [Mention(0, 0), Mention(5, 5)], [Mention(2, 3), Mention(3, 3), Mention(7, 7)]


def record(clusters: Any = (ANNA, TOM), **fields: Any) -> Record:
    fields = {"doc_key": "b", "gutenberg_key": "", "sentences": SENTENCES} | fields
    return Record(clusters=[list(cluster) for cluster in clusters], **fields)


def layers(**values: str) -> Record:
    """A record with layers: eleven words each, "_" for nothing."""
    cells = {name: ["" if cell == "_" else cell for cell in said.split()] for name, said in values.items()}
    return record(layers={name: [row[:5], row[5:]] for name, row in cells.items()})


def extra(name: str, value: Any) -> Record:
    return record(extra={name: value})


def of_extra(name: str) -> Callable[[Record], Any]:
    return lambda found: found.extra.get(name)


def clusters_of(found: Record) -> Any:
    return sorted(sorted(cluster) for cluster in found.clusters)


_LAYERS = {
    "`lemma`": {"lemma": "Anna meet old Tom . she give he a letter ."},
    "`upos`": {"upos": "PROPN VERB ADJ PROPN PUNCT PRON VERB PRON DET NOUN PUNCT"},
    "`xpos`": {"xpos": "NNP VBD JJ NNP . PRP VBD PRP DT NN ."},
    "`deprel`": {"deprel": "nsubj root amod obj punct nsubj root iobj det obj punct"},
    "`feats`, `deps`, `misc`": {
        "feats": "_ _ _ _ _ Case=Nom _ _ _ _ _", "deps": "_ _ _ _ _ 2:nsubj _ _ _ _ _",
        "misc": "_ _ _ SpaceAfter=No _ _ _ _ _ SpaceAfter=No _",
    },
    "`parse`": {"parse": "(S(NP*) (VP* (NP(JJ*) (NN*) *)) (S(NP*) (VP* (NP*) (NP(DT*) (NN*) *))"},
    "`named_entities`": {"named_entities": "(PERSON) _ _ (PERSON) _ _ _ _ _ _ _"},
    "predicates (4 layers)": {
        "predicate_lemma": "_ meet _ _ _ _ _ _ _ _ _", "frameset": "_ 01 _ _ _ _ _ _ _ _ _",
        "word_sense": "_ 1 _ _ _ _ _ _ _ _ _", "arguments": "(ARG0*) (V*) (ARG1* *) _ _ _ _ _ _ _",
    },
    "`event`, `in_quote`": {
        "event": "_ EVENT _ _ _ _ EVENT _ _ _ _", "in_quote": "_ _ _ _ _ True True True True True True",
    },
    "`paragraph`": {"paragraph": "4 4 4 4 4 7 7 7 7 7 7"},
}  # fmt: skip
HEADS = layers(head="2 0 4 2 2 2 0 2 5 2 2")
TYPES, ATTRIBUTES = [[0, 0, "PROP_PER"]], [[0, 0, {"infstat": "new"}]]
PARTS = [["000", 1], ["001", 1]]
QUOTE = {"start": 5, "end": 9, "mention": [0, 0], "cluster": "0"}
ROWS: list[tuple[str, Record, Callable[[Record], Any]]] = [
    ("mentions that nest, cross or stand twice, chains of one",
     record([[Mention(0, 2)], [Mention(1, 3), Mention(1, 3)], [Mention(2, 2)]]), clusters_of),
    ("mentions over a sentence end", record([[Mention(3, 6)], ANNA]), clusters_of),
    ("names of characters", record(characters=[("Anna", ANNA), ("Tom", TOM)]),
     lambda found: {name: sorted(mentions) for name, mentions in found.characters}),
    ("Gutenberg key", record(gutenberg_key="1342"), lambda found: found.gutenberg_key),
    ("unknown fields", extra("mine", {"a": 1}), of_extra("mine")),
    ("speakers, one a sentence", record(speakers=[["Tom"] * 5, ["Anna"] * 6]), lambda found: found.speakers),
    ("types of mentions (`mention_types`)", extra("mention_types", TYPES),
     lambda found: TYPES[0] in found.extra.get("mention_types", [])),
    ("attributes of mentions (`mention_attributes`)", extra("mention_attributes", ATTRIBUTES),
     lambda found: [said["infstat"] for *_, said in found.extra.get("mention_attributes", [])
                    if "infstat" in said]),
    ("types of clusters (`entity_types`)", extra("entity_types", ["person"] * 2), of_extra("entity_types")),
    ("quotations (`quotations`)", extra("quotations", [QUOTE]),
     lambda found: [(q["start"], q["end"]) for q in found.extra.get("quotations", [])]),
    ("parts (`parts`), no chain in two", record([ANNA[:1], TOM[2:]], extra={"parts": PARTS}),
     of_extra("parts")),
    ("`multiword_tokens`, `comments` of CoNLL-U",
     record(extra={"multiword_tokens": [[0, 1, "Annamet", ""]], "comments": [[1, "newpar"]]}),
     lambda found: (found.extra.get("multiword_tokens"), found.extra.get("comments"))),
    ("layer `head` or `document_head`", HEADS, heads_of),
    *((f"layer {name}" if name[0] == "`" else name, layers(**values),
       lambda found, names=(*values,): [found.layers.get(n) for n in names])
      for name, values in _LAYERS.items()),
]  # fmt: skip


def held(form: str, given: Record, told: Callable[[Record], Any]) -> str:
    """Whether a format gives a field back: in its rows, in our comment, or not at all."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"x{SUFFIXES.get(form, '')}")
        write_documents([given], path, format=form)
        if told(next(iter(read_documents(path)))) != told(given):
            return "no"
        if form == "jsonl":
            return "yes"
        whole = base.Parsed.record
        with patch.object(base.Parsed, "record", lambda self, comment, note: whole(self, None, note)):
            return "yes" if told(next(iter(read_documents(path)))) == told(given) else "ours"


def page() -> str:
    """The whole page."""
    rows = [f"| | {' | '.join(FORMATS)} |", f"|---|{'---|' * len(FORMATS)}"]
    rows += [f"| {name} | {' | '.join(held(form, *case) for form in FORMATS)} |" for name, *case in ROWS]
    return INTRODUCTION + "\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
