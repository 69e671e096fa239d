"""A headless Chromium for the tests that read and correct as a person would."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REQUIRED = os.environ.get("BOOKCOREF_REQUIRE_BROWSER") == "1"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1400,900",
)  # fmt: skip


def _without(reason: str) -> None:
    if REQUIRED:
        pytest.fail(f"BOOKCOREF_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """One Chromium for all tests, logging the console and every request it makes."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(found):
        _without("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    try:
        from selenium import webdriver
    except ImportError:
        _without("the package selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    folder = tmp_path_factory.mktemp("chromium")
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))
    driver.downloads = Path(folder)
    yield driver
    driver.quit()


@pytest.fixture
def browser(shared_chromium: Any) -> Any:
    """The shared Chromium as a test expects it: an empty page, nothing of an earlier test in its logs."""
    shared_chromium.get("about:blank")
    for kind in ("browser", "performance"):
        shared_chromium.get_log(kind)
    return shared_chromium
