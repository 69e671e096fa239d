"""Files that people have: each gives the right output, or a message of four parts, never a wrong result."""

from __future__ import annotations

import gzip
import json
import re
import zipfile

import pytest

from bookcoref_data.sample_story.story import gutenberg_text

CONTAINER = '<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
PACKAGE = (
    '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/>{more}</spine></package>'
)
MEND = ("annotate", "cast")
LOOK = ("view", "report")
REFUSED = {
    "empty.txt": "0 characters", "blank.txt": "white space|letter", "book.rtf": "rtf",
    "book.odt": "OpenDocument", "book.mobi": "Kindle", "book.txt.gz": "gzip", "folder": "directory",
    "missing.epub": "b.xhtml",
    "cut.epub": "damaged", "wide.txt": "NUL", "hebrew.txt": "Hebrew", "book.tex": "documentclass",
    "letters.txt": "",
}  # fmt: skip
"""Files that are no English book, and what the message says was found."""
WRONG_KIND = ("book.odt", "book.mobi", "book.txt.gz", "wide.txt", "book.tex")
"""Files of a kind that no verb reads: wrong usage, where a damaged file is not."""
READ = {("letters.txt", "annotate"), ("letters.txt", "cast"), ("folder", "annotate")}
"""A word of two million letters is a text (below), and a folder holds books."""
SAME = ("bom.txt", "crlf.txt", "mac.txt", "utf16.txt", "book.epub", "unlisted.epub", "rtl.txt", "line.txt")
"""The same story in another dress."""
WORDS = {"annotate": ("--cast", "auto", "--out", "done"), "cast": ("--serve",), "view": ("--out", "p.html"),
         "report": ("--out", "p.html")}  # fmt: skip


@pytest.fixture(scope="module")
def desk(built, tmp_path_factory):
    made = type(built)(tmp_path_factory.mktemp("odd"), built.home)
    story = gutenberg_text()
    story = story[story.index("CHAPTER I") :][:5000].rpartition("\n\n")[0]
    half = story.index("\n\n", len(story) // 2)
    pages = {
        name: "<html><body>"
        + "".join(f"<p>{p}</p>" for p in part.split("\n\n") if p.strip())
        + "</body></html>"
        for name, part in (("a.xhtml", story[:half]), ("b.xhtml", story[half:]))
    }

    def pack(name, **parts):
        with zipfile.ZipFile(made.cwd / name, "w") as archive:
            for part, content in parts.items():
                archive.writestr(part, content)

    def epub(name, pages, more=""):
        pack(name, **{"META-INF/container.xml": CONTAINER, "c.opf": PACKAGE.format(more=more)}, **pages)

    epub("book.epub", pages)
    epub("unlisted.epub", pages, '<itemref idref="lost"/>')
    epub("missing.epub", {"a.xhtml": pages["a.xhtml"]})
    pack("book.odt", **{"content.xml": "<office:document-content/>"})
    plain = story.encode("utf-8")
    for name, data in {
        "plain.txt": plain, "bom.txt": b"\xef\xbb\xbf" + plain, "crlf.txt": plain.replace(b"\n", b"\r\n"),
        "mac.txt": plain.replace(b"\n", b"\r"), "utf16.txt": story.encode("utf-16"),
        "wide.txt": story.encode("utf-16-le"), "empty.txt": b"", "blank.txt": b" \n\t\n",
        "line.txt": b" ".join(plain.split()), "book.rtf": b"{\\rtf1\\ansi " + plain + b"}",
        "rtl.txt": "".join(f"\u202b{line}\u202c\n" for line in story.split("\n")).encode(),
        "book.tex": b"\\documentclass{book}\n\\begin{document}\n" + plain, "letters.txt": b"x" * 2_000_000,
        "latin.txt": story.replace("Thorne", "Thérne").encode("latin-1"),
        "accents.txt": story.replace("Thorne", "Thérne").encode("utf-8"),
        "hebrew.txt": "ויאמר אלהים יהי אור ויהי אור. ".encode() * 400,
        "book.txt.gz": gzip.compress(plain),
        "book.mobi": b"Title".ljust(60, b"\0") + b"BOOKMOBI" + bytes(400),
        "cut.epub": (made.cwd / "book.epub").read_bytes()[:900],
    }.items():  # fmt: skip
        (made.cwd / name).write_bytes(data)
    (made.cwd / "folder").mkdir()
    (made.cwd / "folder" / "notes.txt").write_bytes(plain)
    return made


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "verb"), [(n, v) for n in REFUSED for v in (*MEND, *LOOK) if (n, v) not in READ]
)
def test_what_is_no_book_is_refused_by_what_it_is(desk, name, verb):
    ran = desk.run(verb, name, *WORDS[verb])
    assert ran.code in ((2,) if name in WRONG_KIND else (1, 2, 3)), ran.err
    assert "Traceback" not in ran.err
    for part in ("error:", "expected:", "found:", "next:"):
        assert part in ran.err, ran.err
    assert "\\x00" not in ran.err
    if verb in MEND:
        assert re.search(REFUSED[name], ran.err, re.I), ran.err
    assert not (desk.cwd / "done").exists()
    assert not (desk.cwd / "p.html").exists()


@pytest.mark.parametrize("verb", LOOK)
@pytest.mark.parametrize("name", ["book.epub", "plain.txt", "latin.txt"])
def test_a_book_that_waits_for_its_annotation_is_told_so(desk, verb, name):
    ran = desk.run(verb, name, *WORDS[verb])
    assert ran.code in (1, 2)
    assert "bookcoref-data annotate" in ran.err
    assert "iconv" not in ran.err


def _annotated(desk, name):
    ran = desk.run("annotate", name, "--cast", "auto", "--out", f"of-{name}")
    assert ran.code == 0, ran.err
    record = json.loads((desk.cwd / f"of-{name}" / "annotation.jsonl").read_text(encoding="utf-8"))
    tokens = [t for sentence in record["sentences"] for t in sentence]
    words = [t for t in tokens if t != "\n"]
    named = {c["name"]: [" ".join(tokens[a : b + 1]) for a, b in c["mentions"]] for c in record["characters"]}
    return ran, words, named


@pytest.fixture(scope="module")
def plain(desk):
    return _annotated(desk, "plain.txt")


@pytest.mark.long
@pytest.mark.parametrize("name", SAME)
def test_the_same_story_in_another_dress_is_read_alike(desk, plain, name):
    _, words, named = plain
    ran, found, people = _annotated(desk, name)
    assert found == words
    if name != "line.txt":  # without paragraphs turns of speech are unknown
        assert people == named
    told = {"rtl.txt": "direction", "unlisted.epub": "reading order"}
    assert told.get(name, "") in ran.err


@pytest.mark.long
def test_latin_1_is_read_as_utf_8_is(desk):
    assert _annotated(desk, "latin.txt")[1:] == _annotated(desk, "accents.txt")[1:]


@pytest.mark.long
def test_of_a_word_of_two_million_letters_it_says_why_nobody_is_in_it(desk):
    ran = desk.run("annotate", "letters.txt", "--cast", "auto", "--out", "of-letters")
    assert ran.code == 0
    assert "no mentions: the text has only 1 word" in ran.err
