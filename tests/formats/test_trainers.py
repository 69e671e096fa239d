"""What trainable systems read: the keys of their public readers, and the tokens that tokenizers drop."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from bookcoref_data.books import Mention, Record
from bookcoref_data.errors import FormatError, UsageError
from bookcoref_data.formats import ConversionReport, read_documents, write_documents
from bookcoref_data.formats.trainers import (
    head_of,
    is_blank,
    load_tokenizer,
    segment_ends,
    subwords_of,
    trimmed,
    visible_clusters,
)

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


def test_spans_go_to_the_subwords_of_their_tokens():
    tokens = [token for sentence in RECORD.sentences for token in sentence]
    ids, owners = subwords_of(tokens, Fast())
    assert len(ids) == len(owners)
    assert sorted({*owners}) == [i for i, token in enumerate(tokens) if not token.isspace()]
    bare = [i not in owners for i in range(len(tokens))]
    assert trimmed(Mention(0, 1), bare) == Mention(0, 0), "cut to the word"
    assert trimmed(Mention(1, 1), bare) is None


def test_slow_tokenizers_are_refused():
    class Slow:
        is_fast = False

    with pytest.raises(UsageError, match="fast tokenizer"):
        subwords_of(["a"], Slow())


def test_a_tokenizer_of_a_folder_is_loaded(tmp_path):
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=small_tokenizer(), unk_token="[UNK]")
    fast.save_pretrained(tmp_path / "tokenizer")
    loaded = load_tokenizer(str(tmp_path / "tokenizer"))
    assert subwords_of(["Ann", "\n", "fell"], loaded)[1] == [0, 0, 2, 2]
    with pytest.raises(UsageError, match="cannot be loaded"):
        load_tokenizer(str(tmp_path / "nothing"))


@pytest.mark.long
def test_real_books_keep_every_mention(shared_data, tmp_path):
    records = read_documents(shared_data / "gold/animal_farm.conll")
    for format in ("jsonlines", "wl-coref", "fastcoref"):
        report = ConversionReport()
        write_documents(records, tmp_path / "x.jsonlines", format, report=report)
        assert report.mentions == sum(len(c) for r in records for c in r.clusters)


# --- what the readers do with our files, in our own words -------------------------------------------------
#
# maverick-coref, LingMess and fastcoref put "[s] name [e]" before the words wherever the speaker changes and
# ask a fast tokenizer for the subwords of the first and last word of every mention. s2e encodes word by word.
# Longdoc and Dual-cache take segments of ids. wl-coref tokenizes word by word and predicts spans inside the
# sentence of the head.


BOOK = Record(
    "emma",
    "158",
    [["Ann", "\n", "ran", "to", "town", "."], ["\ufeff", "She", "fell", "."], ["\n"], ["Ann", "fell", "."]],
    [[Mention(0, 1), Mention(7, 7), Mention(11, 11)], [Mention(2, 8)], [Mention(6, 6)], [Mention(4, 4)]],
    speakers=[[""] * 6, ["Bo"] * 4, ["Bo"], [""] * 3],
)


def with_speakers(words: list[str], speakers: list[str]) -> tuple[list[str], list[int]]:
    """The words with a name before every change of speaker, and the new place of each word."""
    text: list[str] = []
    places = []
    last = None
    for word, speaker in zip(words, speakers, strict=True):
        if speaker != last:
            text += ["[s]", speaker, "[e]"]
            last = speaker
        places.append(len(text))
        text.append(word)
    return text, places


@pytest.mark.parametrize("format", ["jsonlines", "fastcoref"])
def test_readers_by_words_find_the_subwords_of_every_mention(format, tmp_path):
    line, report = written(tmp_path, format, BOOK)
    assert counts(report)["mentions in which the speaker changes"] == 1
    words = line["tokens"] if "tokens" in line else [w for sentence in line["sentences"] for w in sentence]
    speakers = [name for row in line["speakers"] for name in row]
    text, places = with_speakers(words, speakers)
    assert all(isinstance(name, str) and name for name in speakers)
    encoded = small_tokenizer().encode(text, is_pretokenized=True)
    for cluster in line["clusters"]:
        for start, end in cluster:
            # The trainers assert this: no name was put inside a mention.
            assert words[start : end + 1] == text[places[start] : places[end] + 1]
            # None here is where the trainers stop.
            first, last = (encoded.word_to_tokens(places[i]) for i in (start, end))
            assert first is not None
            assert last is not None
            assert encoded.word_ids[first[0]] == places[start]
            assert encoded.word_ids[last[1] - 1] == places[end]


def test_the_reader_of_s2e_encodes_every_word_alone(tmp_path):
    line, _ = written(tmp_path, "jsonlines", BOOK)
    words = [w for sentence in line["sentences"] for w in sentence]
    assert len(words) == sum(map(len, line["speakers"]))
    ids: list[int] = []
    reach = []
    for word in words:
        start = len(ids)
        ids += small_tokenizer().encode([word], is_pretokenized=True).ids
        reach.append((start, len(ids)))
    assert all(reach[i][0] < reach[i][1] for cluster in line["clusters"] for span in cluster for i in span)


def test_the_reader_of_wl_coref_finds_words_spans_and_genres(tmp_path):
    line, report = written(tmp_path, "wl-coref", BOOK)
    words, sentences = line["cased_words"], line["sent_id"]
    assert {len(line[key]) for key in ("sent_id", "speaker", "pos", "deprel", "head")} == {len(words)}
    assert line["document_id"][:2] in ("bc", "bn", "mz", "nw", "pt", "tc", "wb")
    assert isinstance(line["part_id"], int)
    # A word without subwords would be the mean of nothing.
    assert all(small_tokenizer().encode([word], is_pretokenized=True).ids for word in words)
    for head, start, end in line["head2span"]:
        assert start <= head < end
        assert sentences[start] == sentences[head] == sentences[end - 1]
    heads = [head for cluster in line["word_clusters"] for head in cluster]
    assert len(heads) == len(set(heads)), "one cluster a word"
    assert all(len(cluster) > 1 for cluster in line["word_clusters"])
    spans = [tuple(span) for cluster in line["span_clusters"] for span in cluster]
    assert (1, 7) in spans, "crossing mentions are scored, though their span is not learnt"
    assert (1, 7) not in [(start, end) for _, start, end in line["head2span"]]
    assert counts(report)["mentions that cross the end of a sentence"] == 1


@pytest.mark.parametrize("format", ["longdoc", "dual-cache"])
def test_the_readers_of_segments_find_every_subword(format, tmp_path):
    line, _ = written(tmp_path, format, BOOK, tokenizer=Fast(), segment_length=8)
    size = sum(map(len, line["sentences"]))
    assert len(line["sentence_map"]) == len(line["subtoken_map"]) == size
    assert all(isinstance(i, int) for segment in line["sentences"] for i in segment)
    assert all(0 < len(segment) + 2 <= 8 for segment in line["sentences"])
    assert line["sentence_map"] == sorted(line["sentence_map"])
    assert line["subtoken_map"] == sorted(line["subtoken_map"])
    assert all(0 <= start <= end < size for cluster in line["clusters"] for start, end in cluster)


def test_marks_that_nobody_sees_are_no_words():
    assert [is_blank(token) for token in ("", " ", "\n", "\ufeff", "\u00ad", "\u200b\n")] == [True] * 6
    assert [is_blank(token) for token in ("a", "-", "a\u00ad", "_")] == [False] * 4


def test_a_mention_is_cut_to_its_words():
    clusters = [[Mention(0, 3), Mention(1, 2)], [Mention(1, 5)], [Mention(3, 5)]]
    record = Record("d", "", [["\n", "Ann", "Lee", "\n", " ", "\n"]], clusters)
    counts = Counter[str]()
    found = visible_clusters(record, lambda what, example="", count=1: counts.update({what: count}))
    assert found == [[(1, 2), (1, 2)], [(1, 2)]]
    assert sorted(filter(None, counts.values())) == [1, 2]
