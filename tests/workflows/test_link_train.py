"""`link-train` where its packages are missing. (With them: tests/annotation/hub/test_link_train.py.)"""

from __future__ import annotations

import sys

import pytest

import bookcoref_data as bc
from bookcoref_data.errors import MissingExtraError


@pytest.mark.parametrize("package", ["torch", "safetensors"])
def test_a_missing_package_is_named_before_anything_is_read_or_written(tmp_path, monkeypatch, package):
    (tmp_path / "litbank").mkdir()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="link-train needs the package") as caught:
        bc.link_train(tmp_path / "litbank", tmp_path / "out")
    assert caught.value.hint == "pip install 'bookcoref-data[gpu]'"
    assert not (tmp_path / "out").exists()
