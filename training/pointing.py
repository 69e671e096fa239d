"""Teach the language model of the package, and write its weights (`weights/pointing.npz`).

    python -m training.pointing LITBANK MIRROR --base MINILM [--cache FOLDER] [--jobs N] --out pointing.npz

Needs the extra `gpu`. MIRROR holds novels; the package reads them, about a minute each. The network begins as
random numbers. It learns from the lessons of `scene_lessons`, and from what a teacher says of every turn and
pronoun in them (Hinton et al. 2015) and makes of every word (Romero et al. 2015): MiniLM as `training.scenes`
taught it, whose base is the folder MINILM. All text that it reads is of novels that are free, and of LitBank.

Training on a GPU does not give the same file bit for bit. The one in the package was made on 2026-11-27 by an
earlier form of this script, on one H200: 4,539 steps of 192 windows in 9 minutes, on 66 novels and LitBank's
training part. Figures are in docs/results.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from bookcoref_data.annotation.embedded.minilm import (
    _MATRICES,
    MiniLM,
    WordPieces,
    load_minilm,
    read_safetensors,
)
from bookcoref_data.annotation.embedded.parsing import load_model
from bookcoref_data.annotation.embedded.pointing import (
    ENDING,
    FIRST,
    HEADS,
    KINDS,
    LONGEST,
    SLOTS,
    forms_of,
    is_no_word,
    turns_of,
)

from .scene_lessons import Batch, Lesson, Library, pack, prepare
from .scenes import _NORMS, LOUD, Asking, Pupil, apart_from, command_line, judged, mixed, small, with_heard

STEPS, BATCH = 4539, 192
SIZE, INNER, LAYERS, DROPOUT = 256, 768, 6, 0.05
LEAST_COUNT, LEAST_BOOKS, LONGEST_WORD, LEAST_OF_ENDING = 25, 4, 24, 40
"""A word is known that occurs so often, in so many books, and is no longer; an ending that so many words have
that are not."""
AS_READ = 0.6
"""Share of the lessons in which little is hidden."""
RATE, RATE_OF_VECTORS, RATE_OF_OTHERS, DECAY, LONGEST_STEP = 0.02, 4e-3, 2e-3, 0.01, 1.0
"""Rates of the matrices of the layers (by Muon), of the vectors of words, and of all else (both by AdamW)."""
WARM_UP, LEVEL, LEAST_RATE = 200, 0.4, 0.02
"""The rate rises for some steps, stays level for a share of all, and falls to a share of itself."""
UNLIKE, LAST_UNLIKE, LEAST_UNLIKE = 1.0, 0.8, 0.05
"""How much it counts that a word is not as the teacher has it: less and less, to a share of the steps."""
_PIECES = 512
"""Places of the teacher."""
_MOMENTUM, _NEWTON, _ROUNDS = 0.95, (3.4445, -4.7750, 2.0315), 5
_SPREAD = {"o": 0.1, "u": 0.1}
"""How large the matrices are at first that add to the vectors of words, beside others."""
_SLOT = 1 << 20
_MUST = (",", ".", "i", "“", "”", "he", "him", "his", "she", "her")
"""Words that a lesson may put in."""


class Types:
    """Numbers the words of the books as lessons are cut; what they are for the networks is said later."""

    first_slot, longest = _SLOT, LONGEST

    def __init__(self) -> None:
        nlp = load_model()[0]
        self.tags, self.relations = (
            ["", *sorted(set(nlp.get_pipe(pipe).labels))] for pipe in ("tagger", "parser")
        )
        self.number: dict[str, int] = {}

    def ids(self, token: str) -> tuple[int, ...]:
        if is_no_word(token):
            return ()
        return (FIRST + self.number.setdefault(token.lower(), len(self.number)),)


def vocabulary_of(library: Library, types: Types) -> list[str]:
    """The words and endings that the network shall know."""
    count: Counter[str] = Counter()
    books: Counter[str] = Counter()
    for book in (*library.novels, *library.excerpts, *library.held_back):
        here = Counter(token.lower() for token in book._text.book.tokens if types.ids(token))
        count.update(here)
        books.update(here.keys())
    often = [
        word
        for word, n in count.items()
        if n >= LEAST_COUNT and books[word] >= LEAST_BOOKS and len(word) <= LONGEST_WORD
    ]
    known = dict.fromkeys([*_MUST, *often])
    rest = [word for word in count if word not in known]
    endings = Counter(ENDING + word[-n:] for word in rest for n in (2, 3))
    return [*known, ENDING, *sorted(end for end, n in endings.items() if n >= LEAST_OF_ENDING)]


class Tables(NamedTuple):
    """A word of a lesson -> the word of the network; and its pieces for the teacher, `count` from `first`."""

    ours: np.ndarray
    first: np.ndarray
    count: np.ndarray
    pieces: np.ndarray

    @classmethod
    def of(cls, types: Types, vocabulary: Sequence[str], words: WordPieces) -> Tables:
        row = {word: FIRST + n for n, word in enumerate(vocabulary)}
        ours = [next(row[form] for form in forms_of(word) if form in row) for word in types.number]
        pieces = [words.pieces(word) or (words._ids["[UNK]"],) for word in types.number]
        slots = np.arange(3 * SLOTS)
        count = np.array([*[1] * FIRST, *map(len, pieces), *slots * 0 + 1])
        flat = [*range(FIRST), *(FIRST + piece for of in pieces for piece in of)]
        return cls(
            np.array([*range(FIRST), *ours, *(FIRST + len(vocabulary) + slots)]), np.cumsum(count) - count,
            count, np.array([*flat, *(FIRST + len(words._ids) + slots)]),
        )  # fmt: skip


class Doubled(NamedTuple):
    """A batch for the network, with the grammar of its words, and the same windows for the teacher: its
    pieces, and at which of them each word begins."""

    batch: Batch
    grammar: np.ndarray
    pieces: np.ndarray
    begins: np.ndarray


def doubled(lessons: Sequence[Lesson], tables: Tables) -> Doubled:
    """Lessons as arrays for both; words for which the teacher has no place are left out."""
    size = len(lessons)
    pieces = np.full((size, _PIECES), -1, np.int64)
    begins, grammar = np.zeros((size, LONGEST), np.int64), np.zeros((size, 4, LONGEST), np.int64)
    grammar[:, 3] = np.arange(LONGEST)
    for n, lesson in enumerate(lessons):
        words = np.array(lesson.words)
        words = np.where(words >= _SLOT, words - _SLOT + len(tables.count) - 3 * SLOTS, words)
        ends = np.cumsum(tables.count[words])
        words = words[: int(np.searchsorted(ends, _PIECES, "right"))]
        count = tables.count[words]
        begin = np.cumsum(count) - count
        at = np.repeat(tables.first[words] - begin, count) + np.arange(count.sum())
        pieces[n, : len(at)], begins[n, : len(words)] = tables.pieces[at], begin
        grammar[n, :, : len(words)] = lesson.grammar[:, : len(words)]
        grammar[n, 3] = np.where(grammar[n, 3] < len(words), grammar[n, 3], np.arange(LONGEST))
        lesson.words = tables.ours[words].tolist()
        for part in (lesson.named, lesson.marks, lesson.asked):
            part[:] = [one for one in part if one[0] < len(words)]
    batch = pack(lessons)
    filled = np.full((size, LONGEST), -1, np.int64)
    filled[:, : batch.words.shape[1]] = batch.words
    return Doubled(batch._replace(words=filled), grammar, pieces, begins)


class Lessons(IterableDataset):
    """Batches of lessons without end; every process that cuts them draws its own."""

    def __init__(self, library: Library, tables: Tables, size: int) -> None:
        self._library, self._tables, self._size = library, tables, size

    def __iter__(self) -> Iterator[Doubled]:
        worker = get_worker_info()
        rng = np.random.default_rng(100 + (worker.id if worker else 0))
        while True:
            drawn = [self._library.draw(rng, as_read=bool(rng.random() < AS_READ)) for _ in range(self._size)]
            yield doubled(drawn, self._tables)


class Net(Asking):
    """`OwnPointer` in torch. `alike` makes the teacher's vector of a word from ours."""

    def __init__(
        self, words: int, tags: int, relations: int, size: int = SIZE, inner: int = INNER,
        layers: int = LAYERS, of_teacher: int = 384,
    ) -> None:  # fmt: skip
        super().__init__(size)
        counts = {"embeddings": words, "tag": tags, "relation": relations, "quoted": 2}
        for name, count in counts.items():
            spread = 0.5 if name == "embeddings" else 0.2
            setattr(self, name, nn.Parameter(torch.randn(count, size) * spread))
        shapes = {"qkv": (3 * size, size), "o": (size, size), "i": (inner, size), "u": (size, inner)}
        self.head = _matrix(size, size, 0.5)
        self.layers = nn.ModuleList(
            nn.ParameterDict({part: _matrix(*of, _SPREAD.get(part, 1.0)) for part, of in shapes.items()})
            for _ in range(layers)
        )
        self.alike = _matrix(of_teacher, size, 1.0)
        self.register_buffer("turns", torch.from_numpy(turns_of(LONGEST, size // HEADS)))

    def read(self, words: Tensor, grammar: Tensor) -> Tensor:
        """The vectors of windows, shape (windows, words, size); -1 is no word."""
        x = self.embeddings[words.clamp(min=0)]
        for table, values in zip((self.tag, self.relation, self.quoted), grammar.unbind(1), strict=False):
            x = x + table[values]
        x = _normed(x)
        of_head = F.linear(x, self.head)
        x = x + of_head.gather(1, grammar[:, 3, :, None].expand(of_head.shape)).to(x.dtype)
        drop = DROPOUT if self.training else 0.0
        x, seen = F.dropout(x, drop), (words >= 0)[:, None, None]
        for layer in self.layers:
            q, k, v = (
                part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                for part in F.linear(_normed(x), layer["qkv"]).chunk(3, -1)
            )
            mixed = F.scaled_dot_product_attention(self._turned(q), self._turned(k), v, attn_mask=seen)
            x = x + F.dropout(F.linear(mixed.transpose(1, 2).flatten(2), layer["o"]), drop)
            inner = F.relu(F.linear(_normed(x), layer["i"])).square()
            x = x + F.dropout(F.linear(inner, layer["u"]), drop)
        return _normed(x)

    def _turned(self, x: Tensor) -> Tensor:
        cosine, sine = self.turns[:, : x.shape[-2]].to(x.dtype)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)


def _matrix(out: int, into: int, spread: float) -> nn.Parameter:
    return nn.Parameter(torch.randn(out, into) * spread / math.sqrt(into))


def _normed(x: Tensor) -> Tensor:
    return F.rms_norm(x, x.shape[-1:], eps=1e-6)


def teacher_of(model: MiniLM, base: Mapping[str, np.ndarray], words: WordPieces) -> Pupil:
    """The taught MiniLM in torch."""
    pieces = np.arange(model.first_slot - FIRST)
    net = Pupil(base, words, pieces, model._heads)
    state = {"words.weight": model._embeddings, "places.weight": model._places}
    state |= {"sharpness": model._sharpness, "nobody": model._nobody, "nobody_bias": model._bias}
    state["norm.weight"], state["norm.bias"] = model._norm
    for n, layer in enumerate(model._layers):
        for part in (*_MATRICES, *_NORMS):
            weight, bias = layer[part]
            state |= {f"layers.{n}.{part}.weight": weight.T, f"layers.{n}.{part}.bias": bias}
    for head, parts in (("Q", model._asks), ("K", model._is_asked)):
        for kind, (weight, bias) in enumerate(parts):
            state |= {f"{head}.{kind}.weight": weight, f"{head}.{kind}.bias": bias}
    net.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(part)) for name, part in state.items()},
                        strict=False)  # fmt: skip
    return net.eval()


class Muon:
    """Steps of one length in every direction of a matrix (Jordan et al. 2024), for groups of one shape."""

    def __init__(self, groups: Sequence[Sequence[nn.Parameter]]) -> None:
        self._groups = groups
        self._means = [torch.zeros(len(group), *group[0].shape, device=group[0].device) for group in groups]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for group, mean in zip(self._groups, self._means, strict=True):
            slope = torch.stack([part.grad for part in group])
            mean.mul_(_MOMENTUM).add_(slope, alpha=1 - _MOMENTUM)
            moves = whitened(slope.mul(1 - _MOMENTUM).add(mean, alpha=_MOMENTUM))
            long = max(1, mean.shape[1] / mean.shape[2]) ** 0.5
            for part, move in zip(group, moves, strict=True):
                part.mul_(1 - DECAY * rate).sub_(move, alpha=rate * long)


def whitened(matrices: Tensor) -> Tensor:
    """Matrices whose singular values are all near 1, by an iteration of Newton and Schulz."""
    x = matrices.to(torch.bfloat16) if matrices.is_cuda else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    a, b, c = _NEWTON
    for _ in range(_ROUNDS):
        y = x @ x.mT
        x = a * x + (b * y + c * y @ y) @ x
    return (x.mT if tall else x).to(matrices.dtype)


def loss_of(net: Net, teacher: Pupil, given: Doubled, unlike: float) -> Tensor:
    """How far the net is from the lessons, from what the teacher answers, and from how it sees each word."""
    words, named, asked, marks = given.batch
    marks = with_heard(marks)
    with torch.no_grad(), mixed(words):
        theirs = teacher.read(given.pieces).float()
    at = [_at_pieces(places, given.begins) for places in (named, marks)]
    with torch.no_grad():
        says = teacher.ask(theirs, *at).log_softmax(-1)
    with mixed(words):
        x = net.read(words, given.grammar)
    x = x.float()
    apart = apart_from(says, net.ask(x, named, marks).log_softmax(-1), marks)
    seen = F.layer_norm(theirs.gather(1, given.begins[..., None].expand(-1, -1, theirs.shape[-1])),
                        theirs.shape[-1:])  # fmt: skip
    there = (words >= 0).float()
    other = ((F.linear(x, net.alike) - seen).square().mean(-1) * there).sum() / there.sum()
    return LOUD * judged(net.ask(x, named, asked), asked)[0] + apart + unlike * other


def _at_pieces(places: Tensor, begins: Tensor) -> Tensor:
    """Places of words as places of the teacher's pieces."""
    at = begins.gather(1, places[..., 0].clamp(min=0)).where(places[..., 0] >= 0, -1)
    return torch.cat([at[..., None], places[..., 1:]], -1)


def teach(
    net: Net, teacher: Pupil, library: Library, tables: Tables, *, steps: int = STEPS, size: int = BATCH,
    workers: int = 0,
) -> None:  # fmt: skip
    """Train for a number of steps: Muon for the matrices of the layers, AdamW for all else."""
    device = net.embeddings.device
    shapes = [[layer[part] for layer in net.layers] for part in ("qkv", "o", "i", "u")]
    muon = Muon([*shapes, [net.head]])
    vectors = [net.embeddings, net.tag, net.relation, net.quoted]
    apart = {id(one) for group in (*shapes, [net.head], vectors) for one in group}
    others = [one for one in net.parameters() if id(one) not in apart]
    groups = [{"params": vectors, "full": RATE_OF_VECTORS, "weight_decay": 0.0},
              {"params": others, "full": RATE_OF_OTHERS, "weight_decay": DECAY}]  # fmt: skip
    adam = torch.optim.AdamW(groups, lr=RATE_OF_OTHERS, betas=(0.9, 0.98), fused=device.type == "cuda")
    lessons = DataLoader(
        Lessons(library, tables, size), batch_size=None, num_workers=workers,
        multiprocessing_context="fork" if workers else None,
    )  # fmt: skip
    net.train()
    for n, drawn in zip(range(steps), lessons, strict=False):
        done = n / steps
        rate = min(1, (n + 1) / WARM_UP)
        if done > LEVEL:
            rate *= LEAST_RATE + (1 - LEAST_RATE) * (1 - done) / (1 - LEVEL)
        for group in adam.param_groups:
            group["lr"] = group["full"] * rate
        batch, *rest = drawn
        given = Doubled(Batch(*(part.to(device) for part in batch)), *(part.to(device) for part in rest))
        loss = loss_of(net, teacher, given, UNLIKE * max(LEAST_UNLIKE, 1 - done / LAST_UNLIKE))
        net.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*vectors, *others], LONGEST_STEP)
        adam.step()
        muon.step(RATE * rate)
        if n % 200 == 0:
            print(f"step {n:,}: loss {float(loss.detach()):.3f}", flush=True)


def stored(net: Net, vocabulary: Sequence[str], types: Types) -> dict[str, np.ndarray]:
    """The net as `OwnPointer` takes it."""
    texts = {"words": vocabulary, "tags": types.tags, "relations": types.relations}
    made = {name: np.frombuffer("\n".join(text).encode(), np.uint8) for name, text in texts.items()}
    new = {name: value.detach().float().cpu().numpy() for name, value in net.state_dict().items()}
    plain = {name: new[name] for name in ("tag", "relation", "quoted", "sharpness", "nobody")}
    plain["nobody.bias"] = new["nobody_bias"]
    made |= small("embeddings", new["embeddings"]) | small("head", new["head"])
    for n, layer in enumerate(net.layers):
        for part in layer:
            made |= small(f"{n}.{part}", new[f"layers.{n}.{part}"])
    for head in "QK":
        for kind in range(KINDS):
            made |= small(f"{head}{kind}", new[f"{head}.{kind}.weight"])
            plain[f"{head}{kind}.bias"] = new[f"{head}.{kind}.bias"]
    return made | {name: value.astype(np.float16) for name, value in plain.items()}


def main() -> None:
    options = command_line(__doc__, STEPS).parse_args()
    model, words, types = load_minilm(str(options.base)), WordPieces(options.base / "vocab.txt"), Types()
    library = prepare(options.litbank, options.mirror, types, options.cache, options.jobs)
    for token in _MUST:
        types.ids(token)
    vocabulary = vocabulary_of(library, types)
    tables = Tables.of(types, vocabulary, words)
    base = read_safetensors(options.base / "model.safetensors")
    torch.manual_seed(0)
    count = FIRST + len(vocabulary) + 3 * SLOTS
    net = Net(count, len(types.tags), len(types.relations)).to(options.device)
    teacher = teacher_of(model, base, words).to(options.device)
    teach(net, teacher, library, tables, steps=options.steps, workers=options.jobs)
    np.savez_compressed(options.out, **stored(net, vocabulary, types))


if __name__ == "__main__":
    main()
