"""Every format gives back what it can say, and counts what it cannot; broken files fail by name and line."""

from __future__ import annotations

import dataclasses
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.check_losses import HOSTILE
from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import BookcorefError
from bookcoref_data.formats import FORMATS, ConversionReport, read_documents, write_documents
from tests.drawing import drawn

pytestmark = pytest.mark.slow

NAMES = {"jsonl": "x.jsonl", "conll": "x.conll", "corefud": "x.conllu", "brat": "folder", "booknlp": "folder"}
tokens = (
    st.sampled_from(HOSTILE) | st.text(min_size=1, max_size=4) | st.sampled_from(["Ann", "she", "her", "."])
)
keys = st.sampled_from(["a", "b/c d", "#begin", "x); part 000", "..", "ünï", "%41", "a\tb", "e\n", "-"])


@st.composite
def records(draw, key=None):
    sentences = draw(st.lists(st.lists(tokens, min_size=1, max_size=6), min_size=1, max_size=5))
    size = sum(map(len, sentences))
    position = st.integers(0, size - 1)
    mention = st.tuples(position, position).map(lambda p: Mention(min(p), max(p)))
    clusters = draw(st.lists(st.lists(mention, min_size=1, max_size=5).map(sorted), max_size=5))
    named = draw(st.lists(st.sampled_from(range(len(clusters))), unique=True)) if clusters else []
    return Record(
        draw(keys) if key is None else key,
        draw(st.sampled_from(["", "1342"])),
        sentences,
        clusters,
        [(draw(st.text(max_size=5)), clusters[i]) for i in named],
    )


corpora = st.lists(records(), min_size=1, max_size=3, unique_by=lambda r: r.doc_key)


def through(documents, format, folder, report=None):
    target = Path(folder) / NAMES[format]
    write_documents(documents, target, format, report=report)
    return read_documents(target, format, report=report)


def bare(documents):
    """The documents without their place of origin, in the order of their keys."""
    return sorted((dataclasses.replace(d, source="") for d in documents), key=lambda d: d.doc_key)


def mentions(documents):
    return sum(len(c) for d in documents for c in d.clusters)


@pytest.mark.parametrize("format", FORMATS)
@given(documents=corpora)
def test_a_format_gives_back_what_it_did_not_report_as_lost(format, documents):
    report = ConversionReport()
    with tempfile.TemporaryDirectory() as folder:
        back = through(documents, format, folder, report)
    assert [r.sentences for r in bare(back)] == [r.sentences for r in bare(documents)]
    lost = sum(item.count for item in report.not_kept if item.what.startswith("mentions"))
    assert mentions(back) == mentions(documents) - lost
    before = {(r.doc_key, m) for r in documents for c in r.clusters for m in c}
    assert {(r.doc_key, m) for r in back for c in r.clusters for m in c} <= before
    if report.complete:
        assert bare(back) == bare(documents)


@pytest.mark.parametrize("format", ["jsonl", "brat", "booknlp"])
@given(documents=corpora)
@drawn(30)
def test_formats_with_offsets_lose_no_mention(format, documents):
    report = ConversionReport()
    with tempfile.TemporaryDirectory() as folder:
        back = through(documents, format, folder, report)
    assert [r.clusters for r in bare(back)] == [r.clusters for r in bare(documents)]
    # Without a mention brat has nothing to pin a note to.
    assert {item.what for item in report.not_kept} <= {"Gutenberg keys", "names of characters"}


@pytest.mark.long
@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
@given(data=st.data())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_two_formats_in_a_row(first, second, data):
    documents = data.draw(corpora)
    report = ConversionReport()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        between = through(documents, first, one, report)
        back = through(between, second, two, report)
    assert [r.sentences for r in bare(back)] == [r.sentences for r in bare(documents)]
    if report.complete:
        assert bare(back) == bare(documents)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_packed_files_are_told_by_their_bytes_not_their_names(format, packed, tmp_path):
    document = Record("a", "1", [["Ann", "\n", "left"]], [[Mention(0, 0)]], [("Ann", [Mention(0, 0)])])
    suffix = {"brat": ".ann", "booknlp": ".tokens"}.get(format, Path(NAMES[format]).suffix)
    target = tmp_path / f"a{suffix}{packed}"
    write_documents([document], target, format)
    assert bare(read_documents(target)) == [document]
    magic = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}[packed]
    assert all(file.read_bytes().startswith(magic) for file in tmp_path.iterdir())
    for file in tmp_path.iterdir():  # the name lies, the bytes do not
        file.rename(file.with_suffix(""))
    assert bare(read_documents(tmp_path / f"a{suffix}")) == [document]


@pytest.mark.parametrize("format", FORMATS)
def test_real_documents_keep_their_types_and_cluster_names(format, shared_data, tmp_path):
    folder = shared_data / "litbank/coref/brat"
    documents = [read_documents(folder / f"{name}_brat.ann")[0] for name in ("158_emma", "2489_moby_dick")]
    assert all({"mention_types", "cluster_ids"} <= d.extra.keys() for d in documents)
    report = ConversionReport()
    assert bare(through(documents, format, tmp_path, report)) == bare(documents)
    assert report.complete


FIELDS = [
    "mention_types",
    "cluster_ids",
    "entity_types",
    "parts",
    "part",
    "document",
    "sentence_lengths",
    "x",
]
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from(["", "0", "a b", "PER", "PROP_PER", "\n"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=8,
)


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
@given(document=records("a"), extra=st.dictionaries(st.sampled_from(FIELDS), anything, max_size=4))
@drawn(40)
def test_strange_extra_fields_break_no_writer(format, document, extra):
    strange = dataclasses.replace(document, extra=extra)
    with tempfile.TemporaryDirectory() as folder:
        (back,) = through([strange], format, folder)
    assert back.sentences == document.sentences


SAMPLE = [
    Record(
        "one",
        "1342",
        [["Mr.", "Bennet", "\n", "saw", "his", "wife"], ["She", "&#10;", "(1", "left", "him", "."]],
        [[Mention(0, 1), Mention(4, 4), Mention(10, 10)], [Mention(4, 5), Mention(6, 6)], [Mention(8, 8)]],
        [("Mr. Bennet", [Mention(0, 1), Mention(4, 4), Mention(10, 10)])],
    ),
    Record("two", "", [["Ann", "ran"]], [[Mention(0, 0)]]),
]
JUNK = [
    b"\xff",
    b"\t",
    b"\n",
    b"(",
    b")",
    b"|",
    b"1",
    b"-1",
    b"{",
    b"null",
    b'"',
    b"\xef\xbb\xbf",
    b"[",
    b"e9)",
    b"T1",
    b" ",
]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to three edits: cut, insert junk, drop or repeat a stretch, swap lines."""
    for _ in range(rng.randint(1, 3)):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 2, 5, 40])
        match rng.randrange(5):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + rng.choice(JUNK) + data[at:]
            case 2:
                data = data[:at] + data[at + length :]
            case 3:
                data = data[: at + length] + data[at:]
            case _:
                lines = data.split(b"\n")
                rng.shuffle(lines)
                data = b"\n".join(lines)
    return data


def complaint(target: Path, format: str) -> str | None:
    """The message of the error that reading raises, None if it raises none."""
    try:
        read_documents(target, format)
    except BookcorefError as error:
        return str(error)
    return None


@pytest.mark.long
@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format", FORMATS)
def test_damaged_files_raise_our_errors_alone(format, packed, tmp_path):
    rng = random.Random(f"{format}{packed}")
    suffix = {"brat": ".ann", "booknlp": ".tokens"}.get(format, Path(NAMES[format]).suffix)
    if suffix in (".ann", ".tokens"):
        target, documents = tmp_path / f"one{suffix}{packed}", SAMPLE[:1]
    else:
        target, documents = tmp_path / f"x{suffix}{packed}", SAMPLE
    write_documents(documents, target, format)
    files = sorted(tmp_path.iterdir())
    good = {file: file.read_bytes() for file in files}
    refused = 0
    for _ in range(300 if not packed else 100):
        victim = rng.choice(files)
        victim.write_bytes(mutate(good[victim], rng))
        message = complaint(target, format)
        refused += message is not None
        assert message is None or any(file.name in message for file in files), message
        victim.write_bytes(good[victim])
    assert refused > 20


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("speakers", [
    [["Ann Lee"] * 3, [""] * 2],
    [["", "Ann", "Ann"], ["x\ny", " "]],
    [["é&#10;", "", "#"], ["", "newdoc = 1"]],
])  # fmt: skip
def test_speakers_come_back_from_every_format(format, speakers, tmp_path):
    document = Record("a", "", [["Hi", "\n", "."], ["Bye", "!"]], [[Mention(0, 0)]], speakers=speakers)
    report = ConversionReport()
    (back,) = through([document], format, tmp_path, report)
    assert report.complete
    assert back.speakers == speakers
