"""The pull parser reads what `json` reads, in pieces of any size, and refuses the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import FormatError
from bookcoref_data.stitch import json_stream
from bookcoref_data.stitch.json_stream import JsonStream

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def pieces(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


def walk(stream):
    """Read a document entering every object and array."""
    mark = stream.peek()
    if mark == "{":
        return {key: walk(stream) for key in stream.members()}
    if mark == "[":
        return [walk(stream) for _ in stream.elements()]
    return stream.value()


@given(VALUES, st.integers(1, 7), st.booleans())
def test_reads_what_json_reads(value, size, indent):
    text = json.dumps(value, indent=2 if indent else None)
    stream = JsonStream(pieces(text, size), "x.json")
    assert walk(stream) == value
    stream.finish()


@given(VALUES, st.integers(1, 7))
def test_skip_stands_behind_the_value(value, size):
    stream = JsonStream(pieces(json.dumps([value, "end"]), size), "x.json")
    found = []
    for i, _ in enumerate(stream.elements()):
        found.append(stream.value() if i else stream.skip())
    assert found == [None, "end"]


OBJECTS = st.dictionaries(
    st.sampled_from(["},", "},{", '"},', "a"]), VALUES | st.just('{"b": 1},'), max_size=3
)


@given(st.lists(OBJECTS | VALUES, max_size=8), st.integers(1, 60), st.booleans())
def test_the_elements_of_an_array_are_read_in_batches(value, size, indent):
    text = json.dumps({"first": value, "second": value}, indent=2 if indent else None)
    stream = JsonStream(pieces(text, size), "x.json")
    assert {key: list(stream.values()) for key in stream.members()} == {"first": value, "second": value}
    stream.finish()


def test_a_batch_reads_many_objects_in_one_go():
    stream = JsonStream([json.dumps([{"n": i} for i in range(50)])], "x.json")
    alone = []
    read, stream.value = stream.value, lambda: alone.append(read()) or alone[-1]
    assert list(stream.values()) == [{"n": i} for i in range(50)]
    assert alone == [{"n": 49}]


@pytest.mark.parametrize(
    "text",
    ['[{"a": 1},, {"b": 2}, 3]', '[{"a": 1}, {"b": 2},]', '[{"a": 1}], [{"b": 2}, 3]', '[, {"a": 1}, 2]',
     '[{"a": 1}, {"b": 2}'],
)  # fmt: skip
def test_a_batch_accepts_no_broken_array(text):
    def read():
        stream = JsonStream([text], "x.json")
        list(stream.values())
        stream.finish()

    with pytest.raises(FormatError, match=r"x\.json: broken JSON at character"):
        read()


@given(st.text(alphabet='{}[]",:0a \\u', max_size=40), st.integers(1, 5))
def test_garbage_raises_only_our_error(text, size):
    def read():
        stream = JsonStream(pieces(text, size), "x.json")
        found = walk(stream)
        stream.finish()
        return found

    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(FormatError, match=r"x\.json: broken JSON at character"):
            read()
    else:
        assert read() == expected


@pytest.mark.parametrize("kept", [1, 10, 1 << 20])
@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_place_of_a_fault_is_counted_from_the_start_of_the_file(size, kept, monkeypatch):
    """Also when text that was read has been dropped."""
    monkeypatch.setattr(json_stream, "_COMPACT_AT", kept)
    text = json.dumps(list(range(40)))[:-1] + ", x]"
    with pytest.raises(FormatError) as caught:
        list(JsonStream(pieces(text, size), "x.json").values())
    assert caught.value.what == f"x.json: broken JSON at character {text.index('x')}"
    assert caught.value.found.startswith("x")


def test_a_huge_value_is_refused_before_it_fills_the_memory():
    endless = (f'{"[" if i == 0 else ""}"{"a" * 1000}",' for i in range(10**9))
    stream = JsonStream(endless, "x.json", largest=100_000)
    with pytest.raises(FormatError, match="broken JSON"):
        stream.value()
