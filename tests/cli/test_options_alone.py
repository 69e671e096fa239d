"""An option that does nothing without another one, or beside it, is refused in place of being passed over."""

from __future__ import annotations

import pytest

import bookcoref_data as bc
from bookcoref_data.cli import app
from bookcoref_data.errors import UsageError

USELESS = """
annotate b.txt --tasks 3 --out o: --tasks does nothing without --engine datatrove
annotate b.txt --slurm long --out o: --slurm does nothing without --engine datatrove
annotate b.txt --dry-run: --dry-run does nothing without --edits
annotate b.txt --accept --out o: --accept does nothing without --edits
annotate b.txt --resume --json: --resume does nothing without --out
annotate b.txt --propose-cast --cast c.txt: --characters does nothing with --propose-cast
annotate b.txt --propose-cast --least 0.9: --least does nothing with --propose-cast
evaluate -k a -r b --block-size 10: --block-size does nothing without --compare or --bootstrap
evaluate -k a -r b --unit book: --unit does nothing without --compare or --bootstrap
evaluate -k a -r b --few-units: --few-units does nothing without --compare or --bootstrap
evaluate -k a -r b --seed 3: --seed does nothing without --compare or --bootstrap
evaluate -k a -r b --classes four: --classes does nothing without --typed
evaluate -k a -r b --suggest s.jsonl: --suggest does nothing without --typed
evaluate -k a -r b --typed nouns --passages 5: --passages does nothing without --suggest
evaluate -k a -r b --window-size 100: --window-size does nothing without --mode
rebuild --sample --mirror m: --mirror does nothing with --sample
rebuild --sample --delta d: --delta does nothing with --sample
show lamp --at 3 --character Meg: --character does nothing with --at
view b --out page.html --port 8000: --port does nothing without --serve
cast b.txt --open: --open does nothing without --serve
review b --port 8000: --port does nothing without --serve
audit b --open: --open does nothing without --serve
align a b --to conll: --to does nothing without --out
publish b --repo me/b --most-words 20: --most-words does nothing without --standoff
harvest liscu --names n.tsv --archive a: --archive does nothing without --urls
create --matched casts.jsonl --names n.tsv: --names does nothing with --matched
merge p --serve: --serve does nothing without --ask
merge p --annotator ann: --annotator does nothing without --ask
merge p --ask --port 8000: --port does nothing without --serve
merge p --decisions d.tsv --by greedy: --by does nothing with --decisions
merge p --decisions d.tsv --cast c.txt: --cast does nothing with --decisions
merge p --by greedy --least 0.9: --least does nothing without --by linker
merge p --key k --key-ids: --key does nothing with --key-ids
merge p --split train: --split does nothing without --out
merge p --out whole.conll --split train: --split does nothing where --out is a file
contexts build b --out c --seed 3: --seed does nothing without --strategy random
contexts build b --out c -s lead -s bm25 --seed 0: --seed does nothing without --strategy random
contexts build b --out c -s lead --truncate: --truncate does nothing without --strategy coref or bm25
regenerate b --model link=m: recipe 'embedded': the embedded step 'link' has no setting 'model'
regenerate b --check --endpoint h: recipe 'embedded': the embedded step 'filter' has no setting 'endpoint'
link-train litbank --out o --data-only --epochs 3: --epochs does nothing with --data-only
questions build b --out q --judged 3: --judged does nothing without --like release or --questions or --recipe
questions build b --out q --band-size 3: --band-size does nothing without --like books or --like release
questions evaluate q --answers a.jsonl --variant base: --variant does nothing without --endpoint or --local
questions evaluate q --baselines --model m: --model does nothing without --endpoint
questions evaluate q --baselines --out o.jsonl: --out does nothing without --annotation
contexts ask c --local m --out o --parallel 8: --parallel does nothing without --endpoint
contexts score r --bert-layers 8: --bert-layers does nothing without --bert-score
contexts score r --endpoint http://h: --endpoint does nothing without --facts or --qa
contexts identify t --out o.jsonl: --out does nothing without --endpoint or --local
""".strip().splitlines()


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """What a command says that is refused before anything is read or written."""
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> str:
        monkeypatch.setattr("sys.argv", ["bookcoref-data", *line.split()])
        with pytest.raises(SystemExit) as ended:
            app.main()
        assert ended.value.code in (2, 3)
        assert not [*tmp_path.iterdir()]
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize("case", USELESS)
def test_an_option_that_does_nothing_is_refused(refused, case):
    line, _, told = case.partition(": ")
    assert f"error: {told}" in (said := refused(line))
    assert "next:" in said or "found:" in said


def test_python_is_told_the_same():
    with pytest.raises(UsageError, match="--block-size does nothing without --compare or --bootstrap"):
        bc.evaluate("a", "b", block_size=10)
    with pytest.raises(UsageError, match="--tasks does nothing without --engine datatrove"):
        bc.annotate_many("books", out="o", tasks=2)
    with pytest.raises(TypeError, match="per_boook"):
        bc.evaluate("a", "b", per_boook=True)


def test_what_is_given_as_it_is_without_it_is_let_through(refused):
    """The value of the default changes nothing, and neither does an option of what it belongs to."""
    assert "does nothing" not in refused("evaluate -k a -r b -m whole --block-size 3500 --window-size 100")
    assert "does nothing" not in refused("annotate b.txt --engine datatrove --tasks 3")


def test_a_way_to_merge_that_is_not_there_is_named_by_its_option(refused):
    said = refused("merge p --by linkr")
    assert said.startswith("error: no --by 'linkr'")
    assert "linker, greedy, id, new" in said
    assert "did you mean linker?" in said
