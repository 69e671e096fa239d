"""Verify proves content and completeness; every kind of damage has its exit code and is named."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bookcoref_data as bc
from bookcoref_data.books import Book
from bookcoref_data.cli.verbs.dataset import verify as show
from bookcoref_data.errors import DataError, FormatError, MissingFileError, UsageError
from bookcoref_data.formats.folder import write_folder, writing_folder
from bookcoref_data.workflows.verify import read_manifest, verify, write_manifest


def book(key="a_1", word="x", clusters=(((0, 0), (1, 2)),)):
    return Book.make(key, [["a", "b"], [word, "c"]], gutenberg_key=key[-1], clusters=clusters)


def folder(path, *books, check="built", missing=None):
    with writing_folder(path) as writer:
        for one in books or (book(),):
            writer.add_book(one, "test", check=check)
        writer.finish("T", licences=[("Text", "ours")], missing=missing)
    return path


def rows(path):
    return pq.read_table(path).to_pylist()


def put(path, changed):
    pq.write_table(pa.Table.from_pylist(changed, schema=pq.read_schema(path)), path)


def problems(result):
    return " | ".join([*result.problems, *(p for b in result.books for p in b.problems)])


def test_windows_of_every_split_belong_to_their_book(tmp_path):
    """Train and validation are cut at another size than test, and their keys say so."""
    out = tmp_path / "d"
    many = Book.make("c_3", [["a", "b", "c"]] * 1000, gutenberg_key="3", clusters=[[(0, 0), (2999, 2999)]])
    write_folder(out, {"train": [many], "test": [book()]}, title="T", licences=[("Text", "ours")])
    assert rows(out / "split" / "train.parquet")[1]["doc_key"] == "c_3_split1350_S451"
    assert [(b.doc_key, b.status) for b in verify(out).books] == [("c_3", "ok"), ("a_1", "ok")]
    assert verify(out).exit_code == 0


def test_an_untouched_folder_is_verified(tmp_path):
    result = verify(folder(tmp_path / "d", book(), book("b_2")))
    assert result.exit_code == 0
    assert [b.status for b in result.books] == ["ok", "ok"]


def swap_token(found):
    found[0]["sentences"][0][0] = "Z"


def swap_span(found):
    found[0]["clusters"][0][0] = [1, 1]


def swap_key(found):
    found[0]["gutenberg_key"] = "9"


def break_span(found):
    found[0]["clusters"][0][0] = [1, 99]


@pytest.mark.parametrize(
    ("config", "change", "told"),
    [
        ("full", swap_token, "tokens_sha256"),
        ("full", swap_span, "spans_sha256"),
        ("full", swap_key, "document_sha256"),
        ("full", break_span, "outside the 4 tokens"),
        ("split", swap_token, "windows hold 4 tokens that are not those of the book"),
        ("split", swap_span, "windows_sha256"),
    ],
)
def test_changed_content_is_a_checksum_mismatch(tmp_path, config, change, told):
    out = folder(tmp_path / "d")
    found = rows(out / config / "test.parquet")
    change(found)
    put(out / config / "test.parquet", found)
    result = verify(out)
    assert result.exit_code == 4
    assert told in problems(result)


def test_a_lost_book_and_a_lost_file_are_noticed(tmp_path):
    out = folder(tmp_path / "d", book(), book("b_2"))
    put(out / "full" / "test.parquet", rows(out / "full" / "test.parquet")[:1])
    assert verify(out).exit_code == 4
    out = folder(tmp_path / "e")
    (out / "split" / "test.parquet").unlink()
    result = verify(out)
    assert result.exit_code == 4
    assert "split/test.parquet is missing" in problems(result)


def test_strays_and_edited_cards_are_noticed(tmp_path):
    out = folder(tmp_path / "d")
    (out / "full" / "train.parquet").write_bytes((out / "full" / "test.parquet").read_bytes())
    assert "full/train.parquet is not in the build record" in problems(verify(out))
    out = folder(tmp_path / "e")
    card = out / "README.md"
    card.write_text(card.read_text().replace("sha256:", "sha256:0", 1))
    assert verify(out).exit_code == 4


def test_rewriting_the_record_does_not_hide_a_change(tmp_path):
    out = folder(tmp_path / "d")
    other = folder(tmp_path / "e", book(word="other"))
    (out / "build.json").write_text((other / "build.json").read_text())
    assert verify(out).exit_code == 4


def test_a_book_that_failed_makes_it_incomplete(tmp_path):
    out = folder(tmp_path / "d", missing={"b_2": "no text"})
    result = verify(out)
    assert result.exit_code == 1
    assert "no text" in problems(result)


def test_complete_demands_the_published_books(tmp_path):
    result = verify(folder(tmp_path / "d"), complete=True)
    assert result.exit_code == 1
    assert sum(b.status == "missing" for b in result.books) == 53
    assert "missing, and part of the published data set" in problems(result)


def test_published_tokens_are_a_witness(tmp_path):
    wrong = folder(tmp_path / "d", book("siddhartha_2500"), check="manifest")
    result = verify(wrong)
    assert result.exit_code == 4
    assert "tokens: publication 47,785, found 4" in problems(result)
    # The same book made by somebody's own pipeline claims nothing of the publication.
    assert verify(folder(tmp_path / "e", book("siddhartha_2500"))).exit_code == 0


def test_a_recorded_build_can_be_compared(tmp_path):
    mine = folder(tmp_path / "d", book(), book("b_2"))
    digest = write_manifest(mine, tmp_path / "m.json")
    assert digest == read_manifest(tmp_path / "m.json")["digest"]
    assert verify(folder(tmp_path / "same", book(), book("b_2")), manifest=tmp_path / "m.json").exit_code == 0
    other = verify(folder(tmp_path / "o", book(), book("b_2", "y")), manifest=tmp_path / "m.json")
    assert other.exit_code == 4
    assert [b.status for b in other.books] == ["ok", "changed"]
    fewer = verify(folder(tmp_path / "f"), manifest=tmp_path / "m.json")
    assert (fewer.exit_code, [b.status for b in fewer.books]) == (1, ["ok", "missing"])
    more = verify(folder(tmp_path / "e", book(), book("b_2"), book("c_3")), manifest=tmp_path / "m.json")
    assert (more.exit_code, [b.status for b in more.books]) == (1, ["ok", "ok", "extra"])
    assert "not in the manifest" in problems(more)
    swapped = verify(folder(tmp_path / "s", book("b_2"), book()), manifest=tmp_path / "m.json")
    assert "other order" in problems(swapped)


def test_nothing_wrong_is_recorded(tmp_path):
    out = folder(tmp_path / "d")
    found = rows(out / "full" / "test.parquet")
    swap_token(found)
    put(out / "full" / "test.parquet", found)
    with pytest.raises(DataError, match="does not verify"):
        write_manifest(out, tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


def test_what_is_no_folder_or_no_manifest_is_told(tmp_path):
    with pytest.raises(FormatError, match="not a built data set folder"):
        verify(tmp_path)
    with pytest.raises(MissingFileError, match="cannot read"):
        verify(folder(tmp_path / "d"), manifest=tmp_path / "none.json")
    (tmp_path / "m.json").write_text(json.dumps({"digest": "x"}))
    with pytest.raises(FormatError, match="not a recorded manifest"):
        verify(tmp_path / "d", manifest=tmp_path / "m.json")


def test_a_book_that_stands_twice_is_named_and_keeps_its_windows(tmp_path):
    path = folder(tmp_path / "d", book(), book("b_2")) / "full" / "test.parquet"
    put(path, [*rows(path), rows(path)[0]])
    (twice, _) = verify(tmp_path / "d").books
    assert twice.problems == ["it stands twice in the books of full, again in test"]
    assert twice.facts.windows == 1


def test_of_a_folder_without_a_data_set_the_files_are_verified_and_that_is_said(tmp_path, capsys):
    (tmp_path / "poem.txt").write_text(
        "It rained. The rain fell on the roof, and the night was long and dark.\n"
    )
    bc.annotate(tmp_path / "poem.txt", ["Anna Grey"], out=tmp_path / "out")
    assert not (tmp_path / "out" / "dataset").exists()
    found = bc.verify(tmp_path / "out")
    assert (found.ok, found.to_dict()["books"], found.to_dict()["files"]) == (True, [], 4)
    show(found)
    assert capsys.readouterr().out == (
        f"verified: 4 files as written; {tmp_path / 'out'} holds no data set\n"
    )
    with pytest.raises(UsageError, match="holds no data set"):
        bc.verify(tmp_path / "out", complete=True)
