"""What trainable systems read: the keys of their public readers, and the tokens that tokenizers drop."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import FormatError, UsageError
from bookcoref_data.formats import ConversionReport, read_documents, write_documents
from bookcoref_data.formats.trainers.longdoc import segment_ends
from bookcoref_data.formats.trainers.subwords import load_tokenizer, map_subwords
from bookcoref_data.formats.trainers.wl_coref import head_of

PIECES = ["An", "##n", "ra", "##n", "She", "fe", "##ll", ".", "to", "town", "[UNK]"]


def small_tokenizer() -> Tokenizer:
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(PIECES))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


class Fast:
    """The part of a Hugging Face fast tokenizer that is used, without transformers."""

    is_fast = True

    def __call__(self, text: list[str], **options: Any) -> Any:
        assert options["is_split_into_words"]
        assert options["truncation"] is False
        encoded = small_tokenizer().encode(text, is_pretokenized=True)

        class Encoding(dict):
            def word_ids(self):
                return encoded.word_ids

        return Encoding(input_ids=encoded.ids)


RECORD = Record(
    "emma",
    "158",
    [["Ann", "\n", "ran", "to", "town", "."], ["\n", "She", "fell", "."]],
    [[Mention(0, 1), Mention(7, 7)], [Mention(4, 4), Mention(6, 6)], [Mention(0, 4)]],
    [("Ann", [Mention(0, 1), Mention(7, 7)])],
    speakers=[["", "", "", "", "", ""], ["Bo", "Bo", "Bo", "Bo"]],
)


def written(tmp_path, format, record=RECORD, **options):
    report = ConversionReport()
    write_documents([record], tmp_path / "x.jsonlines", format, report=report, **options)
    return json.loads((tmp_path / "x.jsonlines").read_text()), report


def counts(report):
    return {item.what.split(" (")[0]: item.count for item in report.not_kept}


def test_jsonlines_of_ontonotes(tmp_path):
    line, report = written(tmp_path, None)
    assert list(line) == ["doc_key", "sentences", "speakers", "clusters"]
    assert line["speakers"] == [["-"] * 6, ["Bo"] * 4]
    assert line["clusters"] == [[[0, 0], [7, 7]], [[4, 4]], [[0, 4]]]
    assert counts(report) == {
        "names of characters": 1,
        "Gutenberg keys": 1,
        "ends of mentions on white-space tokens": 1,
        "mentions of white space alone": 1,
    }
    assert (report.mentions, report.clusters) == (4, 3)
    (back,) = read_documents(tmp_path / "x.jsonlines")
    assert (back.sentences, back.speakers) == (RECORD.sentences, RECORD.speakers)


def test_fastcoref_by_tokens_and_by_characters(tmp_path):
    line, _ = written(tmp_path, "fastcoref")
    assert list(line) == ["doc_key", "tokens", "clusters", "speakers"]
    assert line["tokens"] == [token for sentence in RECORD.sentences for token in sentence]
    assert line["clusters"][0] == [[0, 0], [7, 7]]
    line, _ = written(tmp_path, "fastcoref-text")
    texts = [[line["text"][a:b] for a, b in cluster] for cluster in line["clusters"]]
    assert [[" ".join(t.split()) for t in cluster] for cluster in texts] == [
        ["Ann", "She"], ["town"], ["Ann ran to town"]]  # fmt: skip
    (back,) = read_documents(tmp_path / "x.jsonlines")
    assert back.sentences == [["Ann"], ["ran", "to", "town", "."], ["She", "fell", "."]]
    assert back.clusters == [[(0, 0), (5, 5)], [(3, 3)], [(0, 3)]]


def test_what_fastcoref_predicts_is_read_by_characters(tmp_path):
    line = {
        "text": "Ann's dog ran.",
        "clusters": [[[0, 3]], [[0, 9]]],
        "clusters_strings": [["Ann"], ["Ann's dog"]],
    }
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    report = ConversionReport()
    (record,) = read_documents(tmp_path / "x.jsonl", doc_key="novel", report=report)
    assert record.sentences == [["Ann", "'s", "dog", "ran."]]
    assert record.clusters == [[(0, 0)], [(0, 2)]]
    assert counts(report) == {"tokens cut where a mention begins or ends inside them": 1}
    (tmp_path / "x.jsonl").write_text(json.dumps({**line, "clusters": [[[0, 99]]]}))
    with pytest.raises(FormatError, match=r"clusters\[0\]\[0\]"):
        read_documents(tmp_path / "x.jsonl", doc_key="novel")


def test_wl_coref_has_words_heads_and_exclusive_ends(tmp_path):
    heads = [["3", "1", "0", "3", "4", "3"], ["2", "3", "0", "3"]]
    record = Record(**{**vars_of(RECORD), "layers": {"head": heads, "xpos": [["NNP"] * 6, ["PRP"] * 4]}})
    line, report = written(tmp_path, "wl-coref", record)
    assert line["document_id"] == "pt_emma"
    assert line["cased_words"] == ["Ann", "ran", "to", "town", ".", "She", "fell", "."]
    assert line["sent_id"] == [0, 0, 0, 0, 0, 1, 1, 1]
    assert line["speaker"] == ["-"] * 5 + ["Bo"] * 3
    assert line["head"] == [1, None, 1, 2, 1, 6, None, 6]
    assert line["span_clusters"] == [[[0, 1], [5, 6]], [[3, 4]], [[0, 4]]]
    assert sorted(line["head2span"]) == [[0, 0, 1], [1, 0, 4], [3, 3, 4], [5, 5, 6]]
    assert line["word_clusters"] == [[0, 5]]
    assert counts(report)["white-space tokens"] == 2
    assert counts(report)["clusters of which fewer than two heads are left"] == 2


def vars_of(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in Record.__dataclass_fields__}


def test_heads_without_syntax_and_heads_that_are_shared(tmp_path):
    assert head_of(Mention(0, 3), [None, None, None]) == 2
    assert head_of(Mention(0, 3), [1, 7, 1, None]) == 1
    record = Record("bn/1", "", [["the", "old", "man"]], [[Mention(0, 2), Mention(0, 0)], [Mention(1, 2)]])
    line, report = written(tmp_path, "wl-coref", record)
    assert line["document_id"] == "bn/1"
    assert sorted(line["head2span"]) == [[0, 0, 1], [2, 1, 3]]
    assert line["word_clusters"] == []
    assert counts(report) == {
        "mentions whose head is that of a shorter mention": 1,
        "clusters of which fewer than two heads are left": 2,
    }


@pytest.mark.parametrize("format", ["longdoc", "dual-cache"])
def test_segments_of_subwords(format, tmp_path):
    line, report = written(tmp_path, format, tokenizer=Fast(), segment_length=8)
    assert list(line) == ["doc_key", "sentences", "clusters", "sentence_map", "subtoken_map"]
    names = {i: piece for piece, i in small_tokenizer().get_vocab().items()}
    assert [[names[i] for i in segment] for segment in line["sentences"]] == [
        ["An", "##n", "ra", "##n", "to", "town"], [".", "She", "fe", "##ll", "."]]  # fmt: skip
    assert line["subtoken_map"] == [0, 0, 2, 2, 3, 4, 5, 7, 8, 8, 9]
    assert line["sentence_map"] == [0] * 7 + [1] * 4
    assert line["clusters"] == [[[0, 1], [7, 7]], [[5, 5]], [[0, 5]]]
    assert counts(report)["white-space tokens"] == 2


def test_segments_end_with_sentences_then_with_tokens_and_cut_only_what_must_be():
    assert segment_ends([0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1], 4) == [3, 6]
    assert segment_ends([0, 0, 1, 1, 2], [0] * 5, 3) == [2, 5]
    assert segment_ends([0] * 5, [0] * 5, 2) == [2, 4, 5]
    assert segment_ends([], [], 2) == []


def test_longdoc_needs_a_tokenizer_and_says_which(tmp_path):
    with pytest.raises(UsageError, match="tokenizer"):
        written(tmp_path, "longdoc")
    with pytest.raises(UsageError, match="too short"):
        written(tmp_path, "longdoc", tokenizer=Fast(), segment_length=2)
    assert list(tmp_path.iterdir()) == []


def test_spans_go_to_subwords_and_back():
    tokens = [token for sentence in RECORD.sentences for token in sentence]
    subwords = map_subwords(tokens, Fast())
    visible = [i for i, token in enumerate(tokens) if not token.isspace()]
    for start in visible:
        for end in visible[visible.index(start) :]:
            span = subwords.to_subwords(Mention(start, end))
            assert subwords.to_tokens(span) == Mention(start, end)
    assert subwords.to_subwords(Mention(0, 1)) == Mention(0, 1), "cut to the word"
    assert subwords.to_subwords(Mention(1, 1)) is None
    assert subwords.to_tokens(Mention(1, 2)) == Mention(0, 2), "whole tokens"


def test_slow_tokenizers_are_refused():
    class Slow:
        is_fast = False

    with pytest.raises(UsageError, match="fast tokenizer"):
        map_subwords(["a"], Slow())


def test_a_tokenizer_of_a_folder_is_loaded(tmp_path):
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=small_tokenizer(), unk_token="[UNK]")
    fast.save_pretrained(tmp_path / "tokenizer")
    loaded = load_tokenizer(str(tmp_path / "tokenizer"))
    assert map_subwords(["Ann", "\n", "fell"], loaded).tokens == [0, 0, 2, 2]
    with pytest.raises(UsageError, match="cannot be loaded"):
        load_tokenizer(str(tmp_path / "nothing"))


def test_real_books_keep_every_mention(shared_data, tmp_path):
    records = read_documents(shared_data / "gold/animal_farm.conll")
    for format in ("jsonlines", "wl-coref", "fastcoref"):
        report = ConversionReport()
        write_documents(records, tmp_path / "x.jsonlines", format, report=report)
        assert report.mentions == sum(len(c) for r in records for c in r.clusters)
