"""Fixtures for all rooms: where the real data lies, when it is there."""

from __future__ import annotations

import difflib
import gc
import importlib.util
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
# `training` is not installed. It comes last, so that the installed package is tested, not the checkout.
sys.path.append(str(ROOT))
from tests.drawing import EXAMPLES  # noqa: E402

# A busy machine draws examples slowly; that is no fault of the code.
settings.register_profile(
    "busy", deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")
# Where Python is told to keep nothing that it compiled, each process would rewrite the asserts of all files.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and commands that tests interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
# No test asks the real Hub: its client reads this when it is imported. Tests start servers on loopback.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# No test cuts the power, and the disk takes some milliseconds for each of some thousand files.
os.fsync = lambda descriptor: None
SHARED = Path(os.environ.get("BOOKCOREF_SHARED", ROOT.parent / "shared"))


def pytest_configure(config: pytest.Config) -> None:
    """What `.ci/run` tests is the package that it installed, in this process and in every other."""
    place = importlib.util.find_spec("bookcoref_data")
    if (
        os.environ.get("BOOKCOREF_REQUIRE_INSTALLED") == "1"
        and ROOT in Path(str(place and place.origin)).parents
    ):
        raise pytest.UsageError(f"the checkout would be tested, not an installed package: {place}")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One process more than there are cores: tests wait for browsers, servers and commands."""
    return (yield) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that no process is left alone with one at the end.

    `config.collected` has the files with tests as they were found, before marks and words choose among them.
    """
    config.collected = {str(item.path) for item in items}  # type: ignore[attr-defined]
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: not to look at it for garbage, now and later, saves a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """In a folder that is run as a whole each process starts with other files; others compile the rest."""
    report = yield
    config = collector.config
    asked = {Path(config.invocation_params.dir, argument).resolve() for argument in config.args}
    if not asked & {collector.path, *collector.path.parents}:
        return report
    files = [found for found in report.result if isinstance(found, pytest.Module)]
    me, all_ = (os.environ.get(f"PYTEST_XDIST_WORKER{name}", "1") for name in ("", "_COUNT"))
    start = len(files) * int(me.removeprefix("gw")) // int(all_)
    for file in (*files[start:], *files[:start]):
        try:
            file.obj  # noqa: B018
        except (Exception, pytest.skip.Exception):
            # It is told when the file is collected, which would find the half of it.
            for name in [n for n, m in sys.modules.items() if getattr(m, "__file__", "") == str(file.path)]:
                del sys.modules[name]
    return report


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Files and (below) tests that are skipped are listed: `.ci/hub-tests` runs them with more packages."""
    if report.skipped and (listed := os.environ.get("BOOKCOREF_SKIPPED")):
        with open(listed, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


pytest_runtest_logreport = pytest_collectreport


def _shared(*parts: str) -> Path:
    path = SHARED.joinpath(*parts)
    if not path.exists():
        reason = f"needs {'/'.join(parts)} of the shared folder ({SHARED}), which is not here"
        if os.environ.get("BOOKCOREF_REQUIRE_DATA") == "1":
            pytest.fail(f"BOOKCOREF_REQUIRE_DATA=1, but this test {reason}")
        pytest.skip(reason)
    return path


_REMARK = re.compile(r" +# wrong.*")


@pytest.fixture(scope="session")
def as_written() -> Callable[[Path, str], None]:
    """A check that a whole result, as text, is what a file beside the test says.

    A failing test shows both as a diff. A line of the file may end in a remark ("# wrong: it is Anna") where
    the result is known to be wrong. After a change that is meant, write the files anew with
    `BOOKCOREF_WRITE_EXPECTED=1 pytest -n 0 FILE` (remarks stay on lines that say the same as before, numbers
    aside), then read each line of `git diff`: the tests hold it to be right from then on.
    """

    def check(path: Path, found: str) -> None:
        lines = found.splitlines()
        written = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if os.environ.get("BOOKCOREF_WRITE_EXPECTED") == "1":
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(_with_remarks(lines, written)) + "\n", encoding="utf-8")
            return
        plain = [_REMARK.sub("", line) for line in written]
        if lines != plain:
            shown = difflib.unified_diff(plain, lines, path.name, "found now", lineterm="", n=2)
            pytest.fail("\n".join(shown), pytrace=False)

    return check


def _with_remarks(lines: list[str], written: list[str]) -> list[str]:
    """The lines with the remarks of the old file."""
    said: dict[str, list[str]] = {}

    def same(line: str) -> str:
        return re.sub(r"[0-9]", "", _REMARK.sub("", line))

    for line in written:
        said.setdefault(same(line), []).append("".join(_REMARK.findall(line)))
    return [line + (said[same(line)].pop(0) if said.get(same(line)) else "") for line in lines]


@pytest.fixture(scope="session")
def fits_schema() -> Callable[[str, Any], None]:
    """A check that a document of `--json` is what the schema of that name in docs/schemas says."""
    import jsonschema

    def check(name: str, document: Any) -> None:
        schema = json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(document)

    return check


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data (Gutenberg mirror, gold, releases, LitBank); skips where it is absent."""
    return _shared("data")


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of reference facts (official metric cases, tables); skips where it is absent."""
    return _shared("reference")


@pytest.fixture
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this package, used by everything the test calls."""
    home = tmp_path / "cache"
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(home))
    return home
