"""Sessions of commands whose whole outcome is written down: what each prints, and every file it writes.

`sessions/NAME.commands` has one command a line, run one behind the other in a folder with the inputs of
`place` and of `sessions/world`; `sessions/NAME.outcome.txt` has what they leave. All inputs are ours. The
annotation in `world/family` is stored, so that only the sessions `annotate` and `people` change with the
annotator. `as_written` (tests/conftest.py) tells how to write the outcomes anew.
"""

from __future__ import annotations

import io
import shlex
import shutil
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from tests.cli.outcomes import CHANGES, OF_ANNOTATOR, files_of, outcome

SESSIONS = Path(__file__).parent / "sessions"
ANNOTATING = frozenset(["annotate", "people"])
LONG = frozenset(["annotate", "contexts", "data", "mistakes", "people", "questions", "reading"])


RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/">
<pgterms:ebook rdf:about="ebooks/{0}"><dcterms:title>{1}</dcterms:title>
<dcterms:creator><pgterms:agent><pgterms:name>{2}</pgterms:name></pgterms:agent></dcterms:creator>
<dcterms:type><rdf:Description><rdf:value>{4}</rdf:value></rdf:Description></dcterms:type>
<dcterms:language><rdf:Description><rdf:value>{3}</rdf:value></rdf:Description></dcterms:language>
</pgterms:ebook></rdf:RDF>"""


def pack_catalogue(folder):
    """Gutenberg's catalogue of the books in `catalogue.tsv`: number, title, author, language, kind."""
    with tarfile.open(folder / "catalogue.tar.bz2", "w:bz2") as tar:
        for line in (folder / "catalogue.tsv").read_text(encoding="utf-8").splitlines():
            row = line.split("\t")
            data = RDF.format(*row).encode()
            member = tarfile.TarInfo(f"cache/epub/{row[0]}/pg{row[0]}.rdf")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] if name in LONG else [])
        for name in sorted(path.stem for path in SESSIONS.glob("*.commands"))
    ],
)
def test_a_session_leaves_what_is_written_down(place, monkeypatch, tmp_path, as_written, name):
    here = shutil.copytree(place, tmp_path / "here", symlinks=True)
    shutil.copytree(SESSIONS / "world", here, dirs_exist_ok=True)
    pack_catalogue(here)
    monkeypatch.chdir(here)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(here / "cache"))
    monkeypatch.setenv("COLUMNS", "150")
    app, parts = make_app(), []
    changes = CHANGES + OF_ANNOTATOR if name in ANNOTATING else CHANGES
    before = files_of(here)
    for line in (SESSIONS / f"{name}.commands").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            done = CliRunner().invoke(app, shlex.split(line))
            after = files_of(here)
            parts.append(f"$ {line}\n{outcome(done, here, before, after, changes)}")
            before = after
    as_written(SESSIONS / f"{name}.outcome.txt", "\n".join(parts))
