"""Other corpora in their public layouts: small files of our own, and the real ones where they are at hand."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import DataError, FormatError, SourceError, UsageError, WrongFileError
from bookcoref_data.formats import read_documents
from bookcoref_data.formats.corpora import corpora
from bookcoref_data.workflows.import_corpus import import_corpus

CONLL = """\
#begin document ({name}); part 000
{name}	0	0	Ann	NNP	*	-	-	-	Ann_L	*	(0)
{name}	0	1	ran	VBD	*	-	-	-	Ann_L	*	-

#end document
#begin document ({name}); part 001
{name}	1	0	She	PRP	*	-	-	-	-	*	(0)

#end document
"""
CONLLU = """\
# newdoc id = {name}
# global.Entity = GRP-etype-infstat-salience-centering-minspan-link-identity
# sent_id = {name}-1
# speaker = Ann
1	Ann	Ann	PROPN	NNP	_	2	nsubj	_	Entity=(1-person-new-sal-cf1-1-coref-Ann_L)
2	ran	run	VERB	VBD	_	0	root	_	_

"""


def files(folder, **contents):
    for name, text in contents.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def by_split(folder, config="full"):
    from bookcoref_data.formats.folder import iter_folder

    return {record.doc_key: (split, record) for split, record in iter_folder(folder, config)}


def not_kept(done):
    return {item.what.split(" (")[0]: item.count for item in done.report.not_kept}


def test_ontonotes_is_read_by_parts_with_its_splits(tmp_path):
    files(
        tmp_path / "in",
        data__train__data__english__nw__a_dot_v4_gold_conll=CONLL.format(name="nw/a"),
        data__development__b_dot_v4_gold_conll=CONLL.format(name="nw/b"),
        data__test__c_dot_v4_gold_conll=CONLL.format(name="nw/c"),
    )
    done = import_corpus("ontonotes", tmp_path / "in", tmp_path / "out", records=tmp_path / "all.jsonl")
    found = by_split(tmp_path / "out")
    assert {key: split for key, (split, _) in found.items()} == {
        "nw/a_part000": "train", "nw/a_part001": "train", "nw/b_part000": "validation",
        "nw/b_part001": "validation", "nw/c_part000": "test", "nw/c_part001": "test"}  # fmt: skip
    assert done.splits == {"train": 2, "validation": 2, "test": 2}
    assert done.report.complete, "the records keep what the columns do not"
    kept = read_documents(tmp_path / "all.jsonl")
    assert (kept[0].speakers, kept[0].layers["xpos"]) == ([["Ann_L", "Ann_L"]], [["NNP", "VBD"]])
    again = import_corpus("ontonotes", tmp_path / "in", tmp_path / "out")
    assert not_kept(again) == {
        "speakers of tokens": 6,
        "parts of speech of tokens": 9,
        "fields of documents that the columns have no place for": 6,
    }
    assert again.digest == done.digest


@pytest.mark.parametrize("name", ["x", "ryu_x"])
def test_stories_of_fantasycoref_are_whole(name, tmp_path):
    """One story has another name in parts than whole; its words tell."""
    whole = CONLL.format(name="x").split("#begin document (x); part 001")[0].replace("#end document\n", "")
    whole += CONLL.format(name="x").split("part 001\n")[1]
    files(tmp_path / "in", gft_parts_dot_conll=CONLL.format(name=name), gft_whole_dot_conll=whole)
    done = import_corpus("fantasycoref", tmp_path / "in", tmp_path / "out")
    (record,) = [record for _, record in by_split(tmp_path / "out").values()]
    assert record.doc_key == "x"
    assert record.clusters == [[(0, 0), (2, 2)]], "equal ids are one cluster"
    assert not_kept(done)["stories in parts of which the whole is there too"] == 1


@pytest.mark.parametrize("kind", ["gum", "corefud"])
def test_conllu_corpora(kind, tmp_path):
    files(tmp_path / "in", **{"en_x-ud-train_dot_conllu": CONLLU.format(name="GUM_a"),
                              "en_x-ud-dev_dot_conllu": CONLLU.format(name="GUM_b")})  # fmt: skip
    done = import_corpus(kind, tmp_path / "in", tmp_path / "out", records=tmp_path / "all.jsonl")
    assert done.splits == {"train": 1, "validation": 1, "test": 0}
    record = read_documents(tmp_path / "all.jsonl")[0]
    assert record.speakers == [["Ann", "Ann"]]
    assert record.extra["mention_attributes"][0][2]["identity"] == "Ann_L"


PRECO = {"id": "p1", "sentences": [["Ann", "ran", "."], [], [" ", "She", "fell"]],
         "mention_clusters": [[[0, 0, 1], [2, 1, 2]], [[2, 1, 3]]]}  # fmt: skip


def test_preco_counts_ends_exclusively_and_by_sentence(tmp_path):
    files(tmp_path / "in", dev_dot_jsonl=json.dumps(PRECO) + "\n")
    done = import_corpus("preco", tmp_path / "in", tmp_path / "out")
    split, record = by_split(tmp_path / "out")["p1"]
    assert (split, record.clusters) == ("validation", [[(0, 0), (4, 4)], [(4, 5)]])
    assert not_kept(done) == {"empty sentences": 1}


def test_a_damaged_line_of_preco_is_named_and_the_others_are_written(tmp_path):
    wrong = {**PRECO, "id": "p2", "mention_clusters": [[[2, 1, 9]]]}
    lines = [json.dumps(value) for value in (PRECO, wrong, {**PRECO, "id": "p3"})]
    files(tmp_path / "in", dev_dot_jsonl="\n".join(lines), notes_dot_json='{\n "no": "document"\n}\n')
    done = import_corpus("preco", tmp_path / "in", tmp_path / "out")
    assert sorted(by_split(tmp_path / "out")) == ["p1", "p3"]
    line, other = map(str, done.report.broken)
    assert "dev.jsonl:2: the line is no document of PreCo" in line
    assert "notes.json:1" in other, "a file that begins with no document is left out whole"
    (tmp_path / "in/dev.jsonl").unlink()
    with pytest.raises(FormatError, match=r"notes\.json:1"):
        import_corpus("preco", tmp_path / "in", tmp_path / "none")
    assert not (tmp_path / "none").exists()


NOVEL = 'CHAPTER I\n\n"I ran, Bo," said Ann Lee.\n\n"You did," said Bo.\n'
QUOTES = """"quoteID","quoteText","subQuotationList","quoteByteSpans","speaker","addressees","quoteType",\
"referringExpression","mentionTextsList","mentionSpansList","mentionEntitiesList"
"Q0","I ran, Bo","['I ran, Bo']","[[12, 22]]","Ann Lee","['Bo']","Explicit","said Ann Lee",\
"[['I', 'Bo']]","[[[12, 13], [19, 21]]]","[[['Ann'], ['Bo']]]"
"Q1","You did","['You did']","[[40, 48]]","_group","['Ann Lee', 'Bo']","nan","nan","[['You']]",\
"[[[40, 43]]]","[[['Ann Lee', 'Bo']]]"
"""
PEOPLE = """Character ID,Main Name,Aliases,Gender,Category
0,Ann Lee,"{'Ann', 'Ann Lee'}",F,major
1,Bo,['Bo'],M,major
"""


def test_pdnc_gives_speakers_quotations_and_characters(tmp_path):
    assert NOVEL[12:22] == "I ran, Bo,"
    files(tmp_path / "in/Novel", novel_text_dot_txt=NOVEL, quotation_info_dot_csv=QUOTES,
          character_info_dot_csv=PEOPLE)  # fmt: skip
    done = import_corpus("pdnc", tmp_path / "in", tmp_path / "out", records=tmp_path / "all.jsonl")
    (record,) = read_documents(tmp_path / "all.jsonl")
    tokens = [token for sentence in record.sentences for token in sentence]
    named = {name: [tokens[a : b + 1] for a, b in spans] for name, spans in record.characters}
    assert named == {"Ann Lee": [["I"]], "Bo": [["Bo"]]}
    first, second = record.extra["quotations"]
    assert tokens[first["start"] : first["end"] + 1] == ["I", "ran", ",", "Bo", ","]
    assert (first["speaker"], first["addressees"], second["speaker"]) == ("Ann Lee", ["Bo"], "_group")
    flat = [name for row in record.speakers for name in row]
    assert [t for t, name in zip(tokens, flat, strict=True) if name] == ["I", "ran", ",", "Bo", ","]
    assert not_kept(done) == {"quotations whose speaker is no character": 1,
                              "mentions that mean several characters or none": 1}  # fmt: skip


@pytest.mark.parametrize(("what", "before", "after", "told"), [
    ("character_info", "['Bo']", "['Bo'", "a list cannot be read"),
    ("character_info", "['Bo']", "7", "is no list"),
    ("character_info", "Main Name", "Name", "no column 'Main Name'"),
    ("quotation_info", "speaker", "who", "no column 'speaker'"),
    ("quotation_info", "[[12, 22]]", "[[12]]", "no pair of numbers"),
    ("quotation_info", "[[[40, 43]]]", "[40]", "no list"),
    ("novel_text", NOVEL, "", "no such file"),
])  # fmt: skip
def test_a_broken_novel_of_pdnc_is_named_and_the_others_are_written(tmp_path, what, before, after, told):
    texts = {"novel_text": NOVEL, "quotation_info": QUOTES, "character_info": PEOPLE}
    endings = {"novel_text": ".txt"}
    for novel in ("A", "B", "C"):
        (tmp_path / "in" / novel).mkdir(parents=True)
        for name, text in texts.items():
            text = text.replace(before, after) if (novel, name) == ("B", what) else text
            if text:
                path = tmp_path / "in" / novel / f"{name}{endings.get(name, '.csv')}"
                path.write_text(text, encoding="utf-8")
    ran = CliRunner().invoke(
        make_app(), ["import", "pdnc", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--json"]
    )
    assert ran.exit_code == 1
    assert sorted(by_split(tmp_path / "out")) == ["A", "C"]
    (error,) = json.loads(ran.stdout)["broken"]
    assert told in error
    assert str(tmp_path / "in/B") in error


def test_what_cannot_be_is_one_message_and_leaves_nothing(tmp_path):
    with pytest.raises(UsageError, match="no corpus 'nothing'"):
        import_corpus("nothing", tmp_path, tmp_path / "out")
    with pytest.raises(WrongFileError, match="no documents of PreCo"):
        import_corpus("preco", tmp_path, tmp_path / "out")
    with pytest.raises(SourceError, match="cannot read"):
        import_corpus("preco", tmp_path / "none", tmp_path / "out")
    with pytest.raises(UsageError, match="split"):
        import_corpus("preco", tmp_path, tmp_path / "out", split="dev")
    files(tmp_path / "in", a_dot_conllu=CONLLU.format(name="x"), b_dot_conllu=CONLLU.format(name="x"))
    with pytest.raises(DataError, match="comes twice"):
        import_corpus("gum", tmp_path / "in", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("folder", ["brat", "conll"])
def test_a_document_of_litbank_without_its_quotations_is_told(tmp_path, folder):
    """Its speakers were missing without a word."""
    made, quotes = tmp_path / "in/coref" / folder, tmp_path / "in/quotations/tsv"
    made.mkdir(parents=True), quotes.mkdir(parents=True)
    for name in ("1_a", "2_b"):
        if folder == "brat":
            (made / f"{name}.txt").write_text("Ada went .\n")
            (made / f"{name}.ann").write_text("T1\tPER 0 3\tAda\n")
        else:
            (made / f"{name}.conll").write_text(
                f"#begin document ({name}); part 0\n{name}\t0\t0\tAda\t(0)\n\n#end document\n"
            )
    (quotes / "1_a.ann").write_text("QUOTE\tQ1\t0\t0\t0\t1\tAda went\nATTRIB\tQ1\tAda-1\n")
    done = import_corpus("litbank", tmp_path / "in", tmp_path / "out")
    counts = {item["what"]: item["count"] for item in done.to_dict()["not_kept"]}
    lacking = "documents without a file of quotations beside their file in brat"
    assert counts[lacking] == (1 if folder == "brat" else 2)


KEYS = {"kind": str, "name": str, "out": str, "records": str | None, "splits": dict, "digest": str,
        "documents": int, "tokens": int, "mentions": int, "clusters": int, "not_kept": list,
        "texts": str, "annotation": str, "citation": str, "published": dict, "broken": list}  # fmt: skip


def test_json_has_the_documented_keys(tmp_path):
    files(tmp_path / "in", dev_dot_jsonl=json.dumps(PRECO) + "\n")
    words = ["import", "preco", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--json"]
    ran = CliRunner().invoke(make_app(), words, catch_exceptions=False)
    value = json.loads(ran.stdout)
    assert ran.exit_code == 0
    assert value.keys() == KEYS.keys()
    assert all(isinstance(value[name], kind) for name, kind in KEYS.items())
    assert [set(item) for item in value["not_kept"]] == [{"what", "count", "documents", "examples"}]
    strict = CliRunner().invoke(make_app(), [*words, "--strict"], catch_exceptions=False)
    assert strict.exit_code == 1


OPTIONAL = ("licence", "published", "published_by")


def test_every_corpus_states_licence_and_citation():
    for corpus in corpora().values():
        # Without a stated licence there is none to name; `annotation` says so in words.
        stated = {name: value for name, value in corpus.to_dict().items() if name not in OPTIONAL}
        assert all(stated.values()), corpus.kind
        assert corpus.annotation.replace(" ", "-").startswith(corpus.licence or "")
        assert corpus.bibtex.startswith("@inproceedings{")
    assert "Bamman, Lewke, Mansoor. An Annotated Dataset" in corpora()["litbank"].citation


@pytest.mark.long
def test_real_litbank_with_its_quotations(shared_data, tmp_path):
    done = import_corpus("litbank", shared_data / "litbank", tmp_path / "out", records=tmp_path / "all.jsonl")
    assert (done.report.documents, done.report.clusters) == (100, 7927)
    records = read_documents(tmp_path / "all.jsonl")
    assert {r.gutenberg_key for r in records} >= {"1342", "158"}
    quotations = [q for r in records for q in r.extra.get("quotations", [])]
    assert len(quotations) == 1765
    assert all(q["cluster"] for q in quotations)
    tokens = {r.doc_key: [t for s in r.sentences for t in s] for r in records}
    opened = sum(tokens[r.doc_key][q["start"]] in ('"', "'", "``", "“", "‘", "--", "'T", "'t")
                 for r in records for q in r.extra.get("quotations", []))  # fmt: skip
    assert opened > 0.95 * len(quotations)


def test_real_fantasycoref(reference, tmp_path):
    done = import_corpus("fantasycoref", reference / "fantasycoref", tmp_path / "out")
    assert done.report.documents == 6
    assert done.report.clusters == 18 + 18 + 51 + 7 + 20 + 23
    assert not_kept(done)["stories in parts of which the whole is there too"] == 6


@pytest.mark.long
def test_a_real_novel_of_pdnc(shared_data, tmp_path):
    done = import_corpus(
        "pdnc", shared_data / "pdnc/WinnieThePooh", tmp_path / "out", records=tmp_path / "all.jsonl"
    )
    (record,) = read_documents(tmp_path / "all.jsonl")
    assert done.report.mentions == sum(map(len, record.clusters)) > 500
    assert "names that no character has" not in not_kept(done)
    spans = done.report.mentions + len(record.extra["quotations"])
    assert not_kept(done)["spans that begin or end inside a token"] < 0.02 * spans


THREE = (
    "# begin document {name}\n0\tAnn\t(person-1-Ann)\n1\tand\t_\n2\ther\t(person-2(person-1-Ann)\n"
    "3\tson\tperson-2)\n# end document\n"
)


def test_a_clone_of_gum_repeats_its_documents(tmp_path):
    files(
        tmp_path / "clone",
        en_gum_ud_train_dot_conllu=CONLLU.format(name="GUM_a"),
        **{"not-to-release__sources__GUM_a_dot_conllu": CONLLU.format(name="GUM_a")},
        coref__gum__conllu__GUM_a_dot_conllu=CONLLU.format(name="GUM_a"),
        _build__src__dep__GUM_a_dot_conllu="1\tAnn\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tran\t_\t_\t_\t_\t0\troot\t_\t_\n",
    )
    done = import_corpus("gum", tmp_path / "clone", tmp_path / "out")
    assert (done.splits["train"], done.report.documents, done.report.mentions) == (1, 1, 1)
    assert not_kept(done)["documents that are in another folder, too"] == 3
    inside = import_corpus("gum", tmp_path / "clone/not-to-release", tmp_path / "again")
    assert inside.report.documents == 1


@pytest.mark.parametrize("name", ["GUM_a", ""])
def test_gum_in_three_columns(name, tmp_path):
    """Some files of the corpus have no name behind `# begin document`: it is that of the file."""
    files(tmp_path / "in", coref__ontogum__conll__GUM_a_dot_conll=THREE.format(name=name))
    done = import_corpus("gum", tmp_path / "in", tmp_path / "out")
    ((_, record),) = by_split(tmp_path / "out").values()
    assert record.doc_key == "GUM_a"
    assert [[(m.start, m.end) for m in c] for c in record.clusters] == [[(0, 0), (2, 2)], [(2, 3)]]
    assert not done.report.broken


def test_a_broken_file_is_named_and_the_rest_is_written(tmp_path):
    broken = THREE.format(name="GUM_b").replace("person-2)", "person-9)")
    files(
        tmp_path / "in",
        a_dot_conll=THREE.format(name="GUM_a"),
        b_dot_conll=broken,
        c_dot_conll=THREE.format(name="GUM_c"),
    )
    words = ["import", "gum", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(make_app(), [*words, "--json"])
    assert ran.exit_code == 1
    found = json.loads(ran.stdout)
    assert found["documents"] == 2
    assert len(found["broken"]) == 1
    assert "b.conll:" in found["broken"][0]
    assert sorted(by_split(tmp_path / "out")) == ["GUM_a", "GUM_c"]
    (tmp_path / "in/a.conll").unlink(), (tmp_path / "in/c.conll").unlink()
    with pytest.raises(FormatError, match=r"b\.conll:"):
        import_corpus("gum", tmp_path / "in", tmp_path / "none")


def test_published_counts_that_differ_are_told(tmp_path):
    files(tmp_path / "in", data__train__a_dot_v4_gold_conll=CONLL.format(name="nw/a"))
    done = import_corpus("ontonotes", tmp_path / "in", tmp_path / "out")
    assert done.differences == {"train": (2802, 2), "validation": (343, 0), "test": (348, 0)}


@pytest.mark.long
def test_books_of_booknlp_without_tokens_are_named(shared_data, tmp_path):
    for novel in ("TheInvisibleMan", "TheGambler"):
        shutil.copytree(shared_data / "booknlp" / novel, tmp_path / "in" / novel)
    done = import_corpus("booknlp", tmp_path / "in", tmp_path / "out")
    assert done.report.documents == 1
    (error,) = done.report.broken
    assert "TheGambler.entities" in str(error)
    assert "no .tokens file" in str(error)
