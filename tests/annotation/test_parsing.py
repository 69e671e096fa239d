"""The parse: the kernel that multiplies its matrices, and how often it is made."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

import bookcoref_data as bc
from bookcoref_data.annotation.cast import Entry, make_cast
from bookcoref_data.annotation.embedded import parsing
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.books import Book
from bookcoref_data.workflows import create
from bookcoref_data.workflows.annotate import Source, annotate_book
from bookcoref_data.workflows.annotate_many import backend_of, release_backends
from tests.sample_story.making import sample_book

thinc = pytest.importorskip("thinc.api")


def _model_with(kernel: str):
    """The model loaded anew, on a machine where that kernel is the faster one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "kernel", lambda: kernel)
        return parsing.load_model.__wrapped__()


@pytest.fixture(scope="module")
def models():
    """Both models, loaded once; nobody may change them."""
    return {kernel: _model_with(kernel) for kernel in ("blis", "numpy")}


def _ops(nlp) -> set[bool]:
    return {node.ops.use_blis for _, pipe in nlp.pipeline for node in pipe.model.walk()}


def test_the_pipeline_multiplies_with_the_faster_kernel(models):
    assert parsing.kernel() in ("blis", "numpy")
    assert _ops(models["blis"][0]) == {True}
    assert _ops(models["numpy"][0]) == {False}


def test_the_kernel_is_measured_once_per_machine(tmp_path, monkeypatch):
    """A second process reads the note; a note that says nonsense is not believed, and none is overwritten."""
    measured = []
    choose = parsing.kernel.__wrapped__
    monkeypatch.setattr(parsing.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(parsing, "_faster_kernel", lambda: measured.append(1) or "blis")
    assert (choose(), choose(), len(measured)) == ("blis", "blis", 1)
    (note,) = tmp_path.iterdir()
    note.write_bytes(b"\xffmkl")
    assert (choose(), choose(), len(measured)) == ("blis", "blis", 3)
    assert note.read_bytes() == b"\xffmkl"
    monkeypatch.setattr(parsing.platform, "node", lambda: "another")
    assert (choose(), choose(), len(measured)) == ("blis", "blis", 4)
    monkeypatch.setattr(parsing.tempfile, "gettempdir", lambda: str(tmp_path / "nowhere"))
    assert (choose(), choose(), len(measured)) == ("blis", "blis", 6)


def test_ops_of_another_device_are_left_alone(monkeypatch):
    class Ops(thinc.NumpyOps):
        """Stands for a GPU's."""

    nlp = _model_with("blis")[0]
    node = next(iter(nlp.pipeline[0][1].model.walk()))
    node.ops = other = Ops()
    monkeypatch.setattr(parsing, "kernel", lambda: "numpy")
    parsing.use_faster_kernel(nlp)
    assert node.ops is other


@pytest.mark.long
def test_both_kernels_make_the_same_parse(models, monkeypatch):
    book = sample_book()
    made = []
    for model in models.values():
        monkeypatch.setattr(parsing, "load_model", lambda model=model: model)
        made.append(parsing.parse_book(book))
    one, other = made
    assert np.array_equal(one.head, other.head)
    assert (one.tag, one.dep) == (other.tag, other.dep)


@pytest.mark.long
@pytest.mark.parametrize("edits", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_book_whose_cast_is_proposed_is_parsed_once(tmp_path, monkeypatch, edits):
    from bookcoref_data.annotation import propose
    from bookcoref_data.annotation.embedded import backend

    times = []

    def parse_once(book, progress=None):
        times.append(book.doc_key)
        return parsing.parse_book(book, progress)

    for module in (propose, backend):
        monkeypatch.setattr(module, "parse_book", parse_once)
    release_backends()
    corrections = tmp_path / "edits.jsonl"
    corrections.write_text("", encoding="utf-8")
    book = sample_book()
    book = Book.make(book.doc_key, book.sentences[:120], gutenberg_key="0")
    done = bc.annotate(bc.AnnotatedBook(book.to_record()), "auto", edits=corrections if edits else None)
    assert len(times) == 1
    plan = default_plan("embedded")
    cast = create._proposed(book, plan)
    assert cast
    entries = make_cast(Entry(name, tuple(aliases)) for name, aliases in cast)
    annotate_book(Source(book), entries, plan, backend=backend_of(plan))
    assert len(times) == 2
    assert json.loads(json.dumps(done.summary()))["kernel"] == parsing.kernel()


@pytest.mark.long
def test_a_long_book_takes_little_memory_beside_the_model():
    """Only the parser sees several chunks at once: their word vectors alone took 240 MiB together."""
    words = ("The", "man", "went", "with", "his", "young", "friend", ",", "and", "spoke", ".")
    times = parsing.CHUNK_TOKENS * 4 // len(words) + 1
    ends = range(len(words), len(words) * times + 1, len(words))
    book = Book("sea", "0", words * times, (*ends,))
    parsing.load_model()
    tracemalloc.start()
    try:
        parsing.parse_book(book)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 120 << 20
