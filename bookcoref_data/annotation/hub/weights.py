"""Published weights: where they lie, how they are read without ever running what is pickled in them.

A model is a folder, or a name on the hub ("org/name") that is looked for in the hub's cache (HF_HOME,
HF_HUB_CACHE) and fetched when it is not there, unless HF_HUB_OFFLINE is set. Weights are read from
safetensors where there are any, else from torch files (`.bin`, `.ckpt`) by torch's weights-only reader.
"""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import FormatError, SourceError, needing
from ...files import path_of
from ...late import hf, safetensors, torch
from ...resources import resource

EXTRA = "gpu"
SMALL_FILES = ("*.json", "*.model", "*.txt")
# Two kinds, asked for one after the other: a repository that has both holds the same weights twice.
WEIGHT_FILES = (("*.safetensors",), ("*.bin", "*.ckpt"))
State = Mapping[str, "torch.Tensor"]


def need_packages(purpose: str = "the backend hub") -> None:
    """Raises MissingExtraError with the install line when a package of the extra is missing."""
    import importlib

    for package in ("torch", "transformers", "safetensors", "sentencepiece"):
        with needing(EXTRA, package, purpose):
            importlib.import_module(package)


def find_folder(model: str, revision: str = "", *, weights: bool = True) -> Path:
    """The folder with the files of `model`: a local path as it is, else the snapshot in the hub's cache.

    `weights=False` asks for configuration and tokenizer alone (an encoder whose weights are elsewhere).

    Raises:
        SourceError: no such folder, or the model is not in the cache and cannot be fetched.
    """
    local = path_of(model)
    if local.is_dir():
        return local
    if local.is_absolute() or model.startswith((".", "~")):
        raise SourceError(f"there is no folder {model} with a model", hint="check the recipe")
    folder = _snapshot(model, revision, SMALL_FILES)
    for patterns in WEIGHT_FILES if weights else ():
        if not any(next(folder.glob(pattern), None) for kinds in WEIGHT_FILES for pattern in kinds):
            folder = _snapshot(model, revision, (*SMALL_FILES, *patterns))
    return folder


def _snapshot(model: str, revision: str, patterns: Iterable[str]) -> Path:
    try:
        # Said outright: for a commit, huggingface_hub 1.33 asks the hub for the list of files all the same.
        given = {"revision": revision or None, "local_files_only": hf.constants.HF_HUB_OFFLINE}
        return Path(hf.snapshot_download(model, allow_patterns=list(patterns), **given))
    except (OSError, ValueError, hf.errors.HfHubHTTPError) as error:
        raise missing_weights(model, revision, error) from error


def missing_weights(model: str, revision: str = "", cause: object = None) -> SourceError:
    """The error that says what to download, how big it is, and where it is looked for."""
    known = json.loads(resource("manifests", "models.json").read_text(encoding="utf-8"))["models"]
    size = f", about {known[model]['bytes'] / 1e9:.3g} GB" if model in known else ""
    pinned = f" --revision {revision}" if revision else ""
    found = str(cause).strip().splitlines()[0][:200] if cause and str(cause).strip() else None
    return SourceError(
        f"the model {model} is not on this machine and could not be fetched",
        expected=f"its files in the hub's cache (HF_HOME, HF_HUB_CACHE){size}",
        found=found,
        hint=f"with a network: hf download {model}{pinned}; else copy such a cache here and set HF_HOME, "
        "or give a folder with its files in the recipe (HF_HUB_OFFLINE=1 forbids fetching)",
    )


def read_config(folder: Path) -> dict[str, Any]:
    """The model's config.json. Raises FormatError."""
    path = folder / "config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(
            f"{path} cannot be read", expected="the model's configuration", found=error
        ) from error
    return config


def read_weights(folder: Path) -> dict[str, torch.Tensor]:
    """All tensors of a model folder by name, on the CPU; safetensors before torch files.

    Raises:
        SourceError: no weights in the folder.
        FormatError: a file is damaged, or is a pickle of other things than tensors.
    """
    for pattern, read in (
        ("*.safetensors", _read_safetensors),
        ("pytorch_model*.bin", _read_torch),
        ("*.ckpt", _read_torch),
        ("*.bin", _read_torch),
    ):
        if files := sorted(folder.glob(pattern)):
            return {name: tensor for path in files for name, tensor in read(path).items()}
    what = f"no weights in {folder}"
    expected = "*.safetensors, pytorch_model*.bin or weights.ckpt"
    found = ", ".join(sorted(p.name for p in folder.iterdir())[:10]) or "an empty folder"
    raise SourceError(what, expected=expected, found=found, hint="download the model again, with its weights")


def _read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        state: dict[str, torch.Tensor] = safetensors.torch.load_file(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise FormatError(
            f"{path} is damaged", found=str(error)[:200], hint="remove the file and download it again"
        ) from error
    return state


class _Inert:
    """Stands in for every class that a checkpoint names and we do not need: takes anything, does nothing."""

    def __init__(self, *args: object, **named: object) -> None:
        pass

    __setstate__ = __setitem__ = __init__


def _read_torch(path: Path) -> dict[str, torch.Tensor]:
    """Tensors of a torch file, read by the weights-only reader, which runs no code of the file.

    Lightning checkpoints carry settings beside the weights (omegaconf objects): such classes are not
    imported, an inert object takes their place. Functions and modules that torch blocks stay blocked.
    """
    try:
        # Names that the reader does not know; files of torch before 1.6 are left to the reader.
        named = torch.serialization.get_unsafe_globals_in_checkpoint
        foreign = sorted(named(path)) if zipfile.is_zipfile(path) else []
        with torch.serialization.safe_globals([(_Inert, name) for name in foreign]):
            value = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, AttributeError, TypeError) as error:
        raise FormatError(
            f"{path} cannot be read as plain weights",
            expected="a torch file whose tensors torch.load(weights_only=True) gives",
            found=str(error).strip().splitlines()[0][:200],
            hint="where you trust the file, convert it once on a machine of its own: "
            "safetensors.torch.save_file({k: v.contiguous() for k, v in checkpoint['state_dict'].items()}, "
            "'model.safetensors'), and put the result beside config.json",
        ) from error
    state = value.get("state_dict", value) if isinstance(value, dict) else {}
    tensors = {k: v for k, v in state.items() if isinstance(v, torch.Tensor)}
    if not tensors:
        raise FormatError(f"{path} holds no weights", expected="a state dict, or one under 'state_dict'")
    return tensors


def without_prefix(state: State, prefix: str) -> dict[str, torch.Tensor]:
    """The tensors whose names begin with `prefix`, with it taken off."""
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}


def check_shapes(state: State, expected: Mapping[str, tuple[int, ...]], source: object) -> None:
    """Refuse weights of another architecture before they are used.

    Raises:
        FormatError: tensors missing or of another shape (the first five are named).
    """
    wrong = [
        f"{name} {tuple(state[name].shape) if name in state else 'missing'}, not {shape}"
        for name, shape in expected.items()
        if name not in state or tuple(state[name].shape) != shape
    ]
    if wrong:
        raise FormatError(
            f"{source}: weights of another architecture ({len(wrong)} of {len(expected)} tensors do not fit)",
            expected="the tensors of the network that this step runs",
            found="; ".join(wrong[:5]),
            hint="choose a model of the kind that the recipe names for this step",
        )
