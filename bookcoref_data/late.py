"""Heavy packages under their usual names, each imported when something of it is first used.

So small commands start fast, and a package of an extra need not be there. Where it is missing, its first use
raises ImportError, as the import would: `errors.needing` stands around that. The modules of a room of ours
can be late as well (`modules_of`).
"""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "F", "bibtexparser", "etree", "filelock", "hf", "matplotlib", "np", "nx", "pa", "pl", "pq", "requests",
    "safetensors", "scipy", "spacy", "torch", "transformers",
]  # fmt: skip

if TYPE_CHECKING:
    import bibtexparser
    import filelock
    import huggingface_hub as hf
    import matplotlib.pyplot
    import networkx as nx
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    import requests
    import safetensors.torch
    import scipy
    import spacy
    import torch
    import torch.nn.functional as F
    import transformers
    from lxml import etree


class _Late:
    """A module that is imported when an attribute, or a module in it, is asked for or changed. Nothing is
    kept: it is always the module that `import` gives."""

    __slots__ = ("__name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_Late__name", name)

    def __getattr__(self, attribute: str) -> Any:
        module = import_module(self.__name)
        if not hasattr(module, attribute):
            with suppress(ImportError):
                import_module(f"{self.__name}.{attribute}")
        return getattr(module, attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        setattr(import_module(self.__name), attribute, value)

    def __delattr__(self, attribute: str) -> None:
        delattr(import_module(self.__name), attribute)


if not TYPE_CHECKING:
    _SHORT = {
        "F": "torch.nn.functional", "etree": "lxml.etree", "hf": "huggingface_hub", "np": "numpy",
        "nx": "networkx", "pa": "pyarrow", "pl": "polars", "pq": "pyarrow.parquet",
    }  # fmt: skip
    globals().update({name: _Late(_SHORT.get(name, name)) for name in __all__})


def modules_of(room: str, **names: str) -> Callable[[str], Any]:
    """The `__getattr__` of a room whose modules are late: others import them at their top, as all modules.

    `names` are those that the room offers itself, by the module that has them.
    """
    places = {name: module for module, listed in names.items() for name in listed.split()}

    def attribute(name: str) -> Any:
        if name in places:
            return getattr(import_module(f"{room}.{places[name]}"), name)
        if name.startswith("_"):
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return _Late(f"{room}.{name}")

    return attribute
