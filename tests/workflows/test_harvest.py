"""Whole harvests through the command line: study guides from a loopback archive, names, Wikidata's replay."""

from __future__ import annotations

import gzip
import http.server
import json
import threading
import urllib.parse
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("bs4")

from bookcoref_data.characters.guide_files import GuideAddress
from bookcoref_data.characters.table import read_table
from bookcoref_data.cli.app import make_app
from bookcoref_data.errors import MissingFileError, SourceError, UsageError
from bookcoref_data.workflows.harvest import GuidesPlan, guides_of

SPARK = (
    """<h1 class="TitleHeader_title">The Lamp Road</h1><div class="TitleHeader_authorName">Mira Holt</div>"""
)
SPARK_LIST = (
    SPARK
    + """<ul><li class="mainTextContent__list-content__item"><h3>Ada Brook</h3><p>A baker.</p></li>
<li class="mainTextContent__list-content__item"><h3>Mr. and Mrs. Reed (sailors)</h3></li></ul>
<div class="pagination-links"><a href="/lit/lamproad/characters/page/2/">2</a></div>"""
)
SPARK_NEXT = (
    SPARK
    + """<ul><li class="mainTextContent__list-content__item"><h3>Old Tam</h3></li>
<li class="mainTextContent__list-content__item"><h3>Ada Brook</h3></li></ul>"""
)
SHMOOP = """<ul class="items"><li><a>1</a></li><li><a>2</a></li><li><a>3</a></li><li><a>The Inn</a></li></ul>
<span class="author-name"><a>Mira Holt</a></span>"""
SHMOOP_LIST = (
    SHMOOP
    + """<div data-element="main"><h2 class="title">Characters</h2>
<h3><a href="/study-guides/literature/inn/tom">Tom</a></h3>
<h3><a href="/study-guides/literature/inn/mira-holt">Mira Holt</a></h3></div>"""
)
SHMOOP_MINOR = (
    SHMOOP
    + """<div data-element="main"><h2 class="title">Minor Characters</h2><h3>Bib &amp; Bob</h3>
<p>Twins.</p></div>"""
)
SHMOOP_TOM = SHMOOP + '<div data-element="main"><h2 class="title">Tom</h2><p>He.</p></div>'
SHMOOP_OTHER = (
    SHMOOP.replace("The Inn", "Red Sky") + '<div data-element="main"><h2 class="title">Zed</h2></div>'
)

W = "https://web.archive.org/web/20201219000000/"
SPARK_ROOT = "https://www.sparknotes.com/lit/lamproad/"
INN = "https://www.shmoop.com/study-guides/literature/inn/"


@pytest.fixture
def archive():
    """pages: original address -> HTML; `asked` are the originals asked for."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            original = self.path.split("id_/", 1)[1]
            server.asked.append(original)
            page = server.pages.get(original)
            body = (page or "never captured").encode()
            self.send_response(200 if page else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.pages, server.asked = {}, []
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(tmp_path, cache_home):
    """run(*arguments) -> (exit code, stdout as JSON or text); errors of ours keep their own exit code."""

    def run(*arguments):
        result = CliRunner().invoke(make_app(), ["harvest", *map(str, arguments)], catch_exceptions=True)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        start = result.stdout.find("{")
        return result.exit_code, json.loads(result.stdout[start:]) if "--json" in arguments else result.stdout

    return run


@pytest.fixture
def guides(archive, tmp_path, run):
    """guides(addresses, *options, **settings) -> (exit code, report, rows)."""

    def harvest(addresses, *options, **settings):
        urls, recipe, out = tmp_path / "urls.tsv", tmp_path / "recipe.toml", tmp_path / "cast.jsonl"
        urls.write_text("kind\tsite\turl\n" + "".join(f"x\ty\t{W}{address}\n" for address in addresses))
        place = f"http://127.0.0.1:{archive.server_port}/web/"
        values = {"archive": place, "per_second": 0, "attempts": 1, **settings}
        recipe.write_text("[study_guides]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items()))
        code, report = run("liscu", "--urls", urls, "--recipe", recipe, "-o", out, "--json", *options)
        return code, report, list(read_table(out))

    return harvest


def test_a_guide_is_read_with_the_pages_that_go_on_with_its_list(archive, guides):
    archive.pages = {SPARK_ROOT + "characters/": SPARK_LIST, SPARK_ROOT + "characters/page/2/": SPARK_NEXT}
    code, report, rows = guides([SPARK_ROOT + "summary/", SPARK_ROOT + "characters/"])
    assert code == 0
    assert [(r.character, r.order) for r in rows] == [
        ("Ada Brook", 0), ("Mr. Reed", 1), ("Mrs. Reed", 2), ("Old Tam", 3)]  # fmt: skip
    assert {(r.source, r.work_id, r.title, r.author) for r in rows} == {
        ("sparknotes", "lit/lamproad", "The Lamp Road", "Mira Holt")}  # fmt: skip
    assert rows[0].address == W + SPARK_ROOT + "characters/"
    assert report["works"] == 1
    assert SPARK_ROOT + "summary/" not in archive.asked  # title and author are known already


def test_list_pages_are_derived_and_person_pages_are_spared(archive, guides):
    archive.pages = {
        INN + "characters": SHMOOP_LIST,
        INN + "minor-characters": SHMOOP_MINOR,
        INN + "tom": SHMOOP_TOM,
    }
    code, _, rows = guides([INN + "summary", INN + "tom"])
    assert [(r.character, r.minor) for r in rows] == [
        ("Tom", False), ("Mira Holt", False), ("Bib", True), ("Bob", True)]  # fmt: skip
    assert "author" in rows[1].flags
    assert archive.asked == [INN + "characters", INN + "minor-characters"]
    assert code == 0


def test_person_pages_are_read_when_there_is_no_list(archive, guides):
    archive.pages = {INN + "tom": SHMOOP_TOM, INN + "minor-characters": SHMOOP_MINOR}
    code, report, rows = guides([INN + "summary", INN + "tom"])
    assert [r.character for r in rows] == ["Tom", "Bib", "Bob"]
    assert code == 1
    assert [W + INN + "characters", "not archived"] in report["problems"]


@pytest.mark.parametrize(("setting", "asked"), [("always", True), ("never", False)])
def test_person_pages_can_be_asked_for_always_or_never(archive, guides, setting, asked):
    archive.pages = {INN + "characters": SHMOOP_LIST, INN + "tom": SHMOOP_TOM}
    guides([INN + "tom"], person_pages=setting)
    assert (INN + "tom" in archive.asked) == asked


def test_a_page_of_another_book_is_reported(archive, guides):
    archive.pages = {
        INN + "characters": SHMOOP_LIST,
        INN + "minor-characters": SHMOOP_MINOR,
        INN + "zed": SHMOOP_OTHER,
    }
    _, report, _ = guides([INN + "zed"], person_pages="always")
    assert any("another book" in why and "Red Sky" in why for _, why in report["problems"])


def test_an_unknown_layout_is_a_problem_and_never_an_empty_book(archive, guides):
    archive.pages = {SPARK_ROOT + "characters/": "<h1>New layout</h1>"}
    code, report, rows = guides([SPARK_ROOT + "characters/"])
    assert (code, rows) == (1, [])
    assert [W + SPARK_ROOT + "characters/", "unknown layout"] in report["problems"]
    assert ["sparknotes: lit/lamproad", "no character found"] in report["problems"]


def test_a_page_of_the_archive_itself_is_asked_for_again(archive, guides):
    """With status 200, but without the header of archived pages. It was kept for good."""
    archive.pages = {SPARK_ROOT + "characters/": "<html><body>Down for maintenance</body></html>"}
    assert guides([SPARK_ROOT + "characters/"])[0] == 1
    archive.pages = {SPARK_ROOT + "characters/": SPARK_NEXT}
    code, _, rows = guides([SPARK_ROOT + "characters/"])
    assert (code, [row.character for row in rows]) == (0, ["Old Tam", "Ada Brook"])


def test_a_page_without_an_end_is_a_problem_and_its_names_are_kept(archive, guides):
    archive.pages = {SPARK_ROOT + "characters/": f"<html><body>{SPARK_NEXT}"}
    code, report, rows = guides([SPARK_ROOT + "characters/"])
    assert (code, len(rows)) == (1, 2)
    assert report["problems"] == [[W + SPARK_ROOT + "characters/", "the page has no end"]]


def test_a_second_run_asks_for_nothing_it_has_and_offline_replays_it(archive, guides):
    archive.pages = {SPARK_ROOT + "characters/": SPARK_LIST, SPARK_ROOT + "characters/page/2/": SPARK_NEXT}
    _, _, first = guides([SPARK_ROOT + "characters/"])
    asked = len(archive.asked)
    assert guides([SPARK_ROOT + "characters/"])[2] == first
    assert guides([SPARK_ROOT + "characters/"], "--offline")[2] == first
    assert len(archive.asked) == asked


def test_offline_without_pages_is_a_problem_for_each_and_opens_no_connection(archive, guides):
    code, report, rows = guides([SPARK_ROOT + "characters/"], "--offline")
    assert (code, rows, archive.asked) == (1, [], [])
    assert "not among the kept pages" in report["problems"][0][1]


def test_guides_that_are_not_to_be_had_do_not_replace_the_table(archive, guides, tmp_path):
    archive.pages = {INN + "characters": SHMOOP_LIST}
    _, _, rows = guides([INN + "characters"])
    assert rows
    code, report, kept = guides([SPARK_ROOT + "characters/"], "--offline")
    assert (code, kept) == (1, rows)
    assert report["out"] == str(tmp_path / "cast.smaller.jsonl")
    assert "kept the old table" in report["problems"][0][1]


def test_the_manifest_has_a_line_for_every_page(archive, guides, cache_home):
    archive.pages = {INN + "characters": SHMOOP_LIST}
    guides([INN + "tom"])
    (manifest,) = cache_home.rglob("manifest.tsv")
    header, *lines = [line.split("\t") for line in manifest.read_text().splitlines()]
    found = {line[-1]: dict(zip(header, line, strict=True)) for line in lines}
    assert found[W + INN + "characters"]["status"] == "ok"
    assert found[W + INN + "characters"]["entries"] == "2"
    assert found[W + INN + "minor-characters"]["status"] == "not archived"


def test_a_bookworm_row_gives_title_and_author_beforehand():
    (guide,) = guides_of(
        [GuideAddress(f"{W}https://www.gradesaver.com/inn", "The Inn", "Mira Holt")], complete=True
    )
    assert (guide.title, guide.author) == ("The Inn", "Mira Holt")
    assert guide.lists == [f"{W}https://www.gradesaver.com/inn/study-guide/character-list"]


@pytest.mark.parametrize("setting", ["if-needed", "always"])
def test_a_front_page_only_says_where_the_list_is(archive, guides, setting):
    archive.pages = {SPARK_ROOT + "characters/": SPARK_LIST, SPARK_ROOT + "characters/page/2/": SPARK_NEXT}
    code, _, rows = guides([SPARK_ROOT], person_pages=setting)
    assert (code, len(rows)) == (0, 4)
    assert SPARK_ROOT not in archive.asked


@pytest.mark.parametrize("address", ["https://www.shmoop.com/x", f"{W}https://example.com/lit/x", "nonsense"])
def test_an_address_that_cannot_be_harvested_is_refused_before_any_request(address):
    with pytest.raises(UsageError, match="cannot harvest"):
        guides_of([GuideAddress(address)], complete=True)


def test_settings_are_checked():
    with pytest.raises(UsageError, match="person_pages"):
        GuidesPlan(person_pages="sometimes")


# --- names and Wikidata ---------------------------------------------------------------------------------


def test_a_name_list_is_cleaned_and_counted(run, tmp_path, fits_schema):
    path = tmp_path / "names.tsv"
    path.write_text("title\tsource\tcharacter\nFarm\tcliffnotes\tBenjamin (a donkey)\nFarm\tcliffnotes\t-\n")
    code, report = run("liscu", "--names", path, "-o", tmp_path / "o.jsonl", "--json")
    assert code == 1
    fits_schema("harvest-liscu", report)
    assert report["counts"]["gloss-in-brackets"] == 1
    assert (report["counts"]["entries read"], report["counts"]["entries changed"]) == (2, 2)
    assert report["problems"] == [["-", "names nobody"]]
    assert report["mean_characters"] == 1.0
    assert [row.character for row in read_table(tmp_path / "o.jsonl")] == ["Benjamin"]


@pytest.mark.parametrize("options", [(), ("--names", "a.tsv", "--urls", "b.tsv")])
def test_liscu_wants_names_or_urls(run, options):
    with pytest.raises(UsageError, match="either --urls"):
        run("liscu", *options)


def test_wikidata_over_the_network_wants_a_contact(run, tmp_path):
    with pytest.raises(UsageError, match="write to"):
        run("wikidata", "-o", tmp_path / "o.jsonl", "--endpoint", "http://127.0.0.1:9/query")


def test_an_unknown_setting_of_the_recipe_is_named(run, tmp_path):
    recipe = tmp_path / "r.toml"
    recipe.write_text("[wikidata]\ncolour = 1\n")
    with pytest.raises(UsageError, match="colour"):
        run("wikidata", "--recipe", recipe)


def test_a_list_of_works_that_holds_something_else_is_refused(run, tmp_path):
    (tmp_path / "works.txt").write_text("Q1\nEmma\n")
    with pytest.raises(UsageError, match="Emma"):
        run("wikidata", "--works", tmp_path / "works.txt", "--contact", "a@b.org")
    with pytest.raises(MissingFileError, match="cannot read"):
        run("wikidata", "--works", tmp_path / "none.txt", "--contact", "a@b.org")


@pytest.fixture
def endpoint():
    """A service that knows one work; answers by what the query asks for."""
    wd, label = "http://www.wikidata.org/entity/", "http://www.w3.org/2000/01/rdf-schema#label"
    wdt = "http://www.wikidata.org/prop/direct/"
    facts = [("Q100", wdt + "P674", wd + "Q3", None), ("Q100", wdt + "P50", wd + "Q1", None),
             ("Q100", wdt + "P1476", "The Lamp Road", "en"), ("Q1", label, "Mira Holt", "en"),
             ("Q3", label, "Ada Brook (a baker)", "en")]  # fmt: skip

    def cell(value, language):
        return {"type": "uri", "value": value} if language is None else {
            "type": "literal", "value": value, "xml:lang": language}  # fmt: skip

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            query = urllib.parse.parse_qs(body)["query"][0]
            rows = [{"item": cell(wd + i, None), "property": cell(p, None), "value": cell(v, language)}
                    for i, p, v, language in facts if f"(wd:{i} " in query]  # fmt: skip
            if "?value ?property ?item" in query:  # who points to the work: nobody
                rows = []
            if "?character" in query:  # how many works, and which
                count = "COUNT" in query
                rows = [{"works": cell("1", "")} if count else {"work": cell(wd + "Q100", None)}]
            answer = json.dumps({"head": {"vars": []}, "results": {"bindings": rows}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/sparql-results+json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/query"
    server.shutdown()
    server.server_close()


def test_wikidata_from_question_to_table_and_again_offline(run, tmp_path, endpoint, fits_schema):
    pytest.importorskip("SPARQLWrapper")
    recipe, out, again = tmp_path / "r.toml", tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    recipe.write_text(f'[wikidata]\nendpoint = "{endpoint}"\nper_second = 0\n')
    code, report = run("wikidata", "--recipe", recipe, "-o", out, "--contact", "a@b.org", "--json")
    assert code == 0
    (row,) = read_table(out)
    assert (row.character, row.title, row.author, row.work_id) == (
        "Ada Brook",
        "The Lamp Road",
        "Mira Holt",
        "Q100",
    )
    fits_schema("harvest-wikidata", report)
    assert report["requests"]["asked"] == 5
    assert len(row.retrieved) == len("2026-11-21")
    code, report = run("wikidata", "--recipe", recipe, "-o", again, "--offline", "--json")
    assert report["requests"]["asked"] == 0
    assert again.read_bytes() == out.read_bytes()


def test_a_harvest_of_nothing_is_an_error_and_no_table(run, tmp_path, endpoint):
    pytest.importorskip("SPARQLWrapper")
    recipe, out, works = tmp_path / "r.toml", tmp_path / "a.jsonl.gz", tmp_path / "works.txt"
    recipe.write_text(f'[wikidata]\nendpoint = "{endpoint}"\nper_second = 0\n')
    works.write_text("Q999")
    with pytest.raises(SourceError, match="no character"):
        run("wikidata", "--recipe", recipe, "-o", out, "--contact", "a@b.org", "--works", works)
    assert not out.exists()


def test_a_listed_work_of_which_nothing_is_known_is_named(run, tmp_path, endpoint):
    pytest.importorskip("SPARQLWrapper")
    recipe, out, works = tmp_path / "r.toml", tmp_path / "a.jsonl.gz", tmp_path / "works.txt"
    recipe.write_text(f'[wikidata]\nendpoint = "{endpoint}"\nper_second = 0\n')
    works.write_text("Q100 Q999 Q100")
    words = ("wikidata", "--recipe", recipe, "-o", out, "--contact", "a@b.org", "--works", works, "--json")
    code, report = run(*words)
    assert (code, report["works"], report["counts"]["works asked for"]) == (1, 1, 2)
    assert report["problems"] == [["Q999", "the endpoint says nothing of it"]]


def test_one_setting_says_whom_to_write_to(tmp_path):
    from bookcoref_data.workflows.harvest import read_guides_plan, recipe_table

    recipe = tmp_path / "r.toml"
    recipe.write_text('[agent]\ncontact = "me@example.org"\n')
    assert recipe_table(recipe, "wikidata")["contact"] == "me@example.org"
    assert read_guides_plan(recipe).contact == "me@example.org"
    assert read_guides_plan(recipe, "you@example.org").contact == "you@example.org"


def test_raw_answers_lie_in_the_cache(run, tmp_path, endpoint, cache_home):
    pytest.importorskip("SPARQLWrapper")
    recipe = tmp_path / "r.toml"
    recipe.write_text(f'[wikidata]\nendpoint = "{endpoint}"\nper_second = 0\n')
    run("wikidata", "--recipe", recipe, "-o", tmp_path / "o.jsonl", "--contact", "a@b.org", "--json")
    kept = list((cache_home / "harvest" / "wikidata").glob("*.json.gz"))
    assert len(kept) == 5
    record = json.loads(gzip.decompress(Path(kept[0]).read_bytes()))
    assert "a@b.org" in record["agent"]


def test_a_harvest_that_shrinks_is_written_beside_the_old_table(tmp_path):
    from bookcoref_data.characters.table import CastRow, read_table, write_table
    from bookcoref_data.workflows.harvest import write_harvest

    rows = [CastRow("shmoop", "emma", "Emma", f"Person {n}") for n in range(32)]
    for name in ("casts.jsonl", "casts.jsonl.gz"):
        out = tmp_path / name
        assert write_harvest(out, rows, 0.1) == (out, [])
        for fewer in ([], rows[:28]):
            beside, problems = write_harvest(out, fewer, 0.1)
            assert len(list(read_table(out))) == 32
            assert len(list(read_table(beside))) == len(fewer)
            assert "32 before" in problems[0][1]
        assert write_harvest(out, rows[:29], 0.1) == (out, [])
        write_table(out, rows)
    (tmp_path / "casts.jsonl").write_text("not a table")
    assert write_harvest(tmp_path / "casts.jsonl", rows[:3], 0.1)[1] == []
