"""Heavy packages under their usual names, each imported when something of it is first used.

So small commands start fast, and a package of an extra need not be there. Where it is missing, its first use
raises ImportError, as the import would: `errors.needing` stands around that.
"""

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
else:

    class _Late:
        """A module that is imported when an attribute, or a module in it, is asked for. Nothing is kept, so
        that it is always the module that `import` gives."""

        def __init__(self, name: str) -> None:
            self.__name = name

        def __getattr__(self, attribute: str) -> Any:
            module = import_module(self.__name)
            if not hasattr(module, attribute):
                with suppress(ImportError):
                    import_module(f"{self.__name}.{attribute}")
            return getattr(module, attribute)

    _SHORT = {
        "F": "torch.nn.functional", "etree": "lxml.etree", "hf": "huggingface_hub", "np": "numpy",
        "nx": "networkx", "pa": "pyarrow", "pl": "polars", "pq": "pyarrow.parquet",
    }  # fmt: skip
    globals().update({name: _Late(_SHORT.get(name, name)) for name in __all__})
