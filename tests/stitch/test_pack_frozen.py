"""A pack of format 1, byte for byte: packs are read for years, so its rules must not drift unseen.

If this test fails, the cutting rule, a class of characters or an encoding changed: raise the format version
and keep reading the old one, or take the change back.
"""

from __future__ import annotations

import json

from bookcoref_data.stitch.container import read_container, write_container
from bookcoref_data.stitch.pack import make_pack, read_pack

TEXT = """HEADER of the file

Mr. Stone didn't see Mrs. Vale's lamp--or so he said. "I cannot," she
cried; "it's half-past ten o'clock!" They weren't there.

Next day (at 3.30) the ferry-man, J. Hall, sold 1,000 eels... "Who?"
asked Ann.
"""
RELEASED = (
    "Mr. Stone did n’t see Mrs. Vale ’s lamp — or so he said .",
    "“ I can not , ” she cried ; “ it ’s half - past ten o’clock ! ” They were n’t there . \n "
    "Next day ( at 3.30 ) the ferry - man , J. Hall , sold 1,000 eels ... “ Who ? ” asked Ann .",
)
SENTENCES = [sentence.split(" ") for sentence in RELEASED]
SECTIONS = {
    "EDIT": "0e000c0c050b0809020e06093a040900010102010101010101010101000001010101010101010101010100",
    "LITS": "e28099e28099e28094e2809ce2809de2809ce28099e28099e2809de28099e2809ce2809d",
    "TCTX": "729e72fc78",
    "SCTX": "00000200000000000000000100",
}
META = {
    "doc_key": "d",
    "gutenberg_key": "",
    "split": "",
    "source": {"sha256": "", "name": ""},
    "tokens": 65,
    "sentences": 2,
    "visible": 171,
    "tokens_sha256": "af81b7ec6aa5d9d20fd9287f359b2ecb95c23b4c5296cd8a592e21c252f266b9",
    "sentences_sha256": "f0b44acfe4bfdb73760c0790b4ebb8f332f5c4f6b5dfab99bfd85d7a0678ce89",
    "body": {"start": 15, "length": 172, "first": "846ee613258c3de2", "last": "b8330d98d8ffc8fd"},
}


def test_an_old_pack_is_still_read():
    sections = {name: bytes.fromhex(body) for name, body in SECTIONS.items()}
    data = write_container({"META": json.dumps(META).encode(), **sections})
    assert read_pack(data).apply(TEXT) == SENTENCES


def test_the_same_pack_is_still_written():
    made = read_container(make_pack(TEXT, SENTENCES, doc_key="d", fingerprint_bits=0, most_literal_share=1))
    assert json.loads(made.pop("META")) == META
    assert {name: body.hex() for name, body in made.items()} == SECTIONS
