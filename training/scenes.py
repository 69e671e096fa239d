"""Teach the small language model that points at people, and write what it learned (`weights/scenes.npz`).

    python -m training.scenes LITBANK MIRROR --base MINILM --teacher MPNET [--cache FOLDER] [--jobs N]
        --out scenes.npz

Needs the extra `gpu`. MIRROR holds novels; the package reads them, about a minute each. MINILM is a folder
with all-MiniLM-L6-v2, the base, and MPNET one with all-mpnet-base-v2, the base of a teacher of twelve layers.
One GPU trains first the teacher on lessons that `scene_lessons` cuts anew for every step, then the small
model, on such lessons and on what the teacher says of every turn and pronoun in them (Hinton et al. 2015).
Of what changed in each matrix the 64 strongest directions are kept, as 8-bit numbers.

Training on a GPU does not give the same file bit for bit. The one in the package was made on 2026-11-27 by an
earlier form of this script, on one H200: 3,569 steps of the teacher in 6 minutes, 3,365 of the small model in
less than 4, on 67 novels. There the bases came as 8-bit numbers, and each model was cut to rank 64 and taught
some 500 steps more as it was then. Figures are in docs/results.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from bookcoref_data.annotation.embedded.minilm import _EPS, _MATRICES, FILES, WordPieces, read_safetensors
from bookcoref_data.annotation.embedded.pointing import FIRST, KINDS, OF_TURN, SLOTS, SPOKEN_TO
from bookcoref_data.files import sha256_file

from .scene_lessons import LESSONS, Batch, Library, Vocabulary, pack, prepare

NAMES = """
john james william george henry thomas charles robert edward richard arthur joseph david peter frank paul mark
philip walter samuel daniel andrew martin simon
mary elizabeth anna alice jane margaret sarah helen emma catherine ellen lucy julia maria laura rose charlotte
emily sophie clara ruth martha susan diana
smith jones brown taylor wilson davis clark hall allen young king wright scott green baker adams nelson hill
campbell mitchell roberts carter phillips evans
"""
"""The words that the slots begin as: men, women, and anybody."""
MARKS = ("[CLS]", "[SEP]", "*", "#")
"""The pieces that the new words begin as, in the order of their numbers."""
STEPS, BATCH, RATE, RANK = 3365, 128, 2e-4, 64
STEPS_OF_TEACHER, RATE_OF_TEACHER = 3569, 8e-5
WARM_UP, LEAST_RATE, DECAY, DROPOUT, LONGEST_STEP = 300, 0.06, 0.01, 0.1, 1.0
NOISE = 0.06
"""Share of the words that are replaced by other words of the same step."""
LOUD = 0.5
"""How much the answers of the lessons count for the small model beside those of the teacher."""
SHARES = torch.tensor([1.0, 0.5, 1.0, 0.5])
"""How much a place of each kind counts."""
TEACHER = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""sha256 of the tensors of all-mpnet-base-v2 (Apache 2.0; Song et al. 2020)."""
_OF_MPNET = {
    "attention.attn.q": "attention.self.query", "attention.attn.k": "attention.self.key",
    "attention.attn.v": "attention.self.value", "attention.attn.o": "attention.output.dense",
    "attention.LayerNorm": "attention.output.LayerNorm",
}  # fmt: skip
"""Parts of a layer of MPNet -> how BERT calls them."""
_BUCKETS, _FARTHEST, _EPS_OF_MPNET = 32, 128, 1e-5
"""Of MPNet: kinds of distances between words, from where all are alike; its epsilon."""
_BEGIN, _END, _PIECES, _PLACES = 0, 2, slice(4, -1), slice(2, None)
"""Of MPNet: the pieces that begin and end a text, those that are BERT's, and the places that words have."""
_NORMS = {"n1": "attention.output.LayerNorm", "n2": "output.LayerNorm"}
_CHECKED = 8
"""Batches of the check."""
_FAR = -1e4


class Layer(nn.Module):
    """A layer of BERT, or of MPNet, where distances count. Attention is over words that are not filled up."""

    def __init__(self, size: int, inner: int, heads: int, eps: float) -> None:
        super().__init__()
        self._heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(size, size) for _ in range(4))
        self.i, self.u = nn.Linear(size, inner), nn.Linear(inner, size)
        self.n1, self.n2 = nn.LayerNorm(size, eps=eps), nn.LayerNorm(size, eps=eps)

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        q, k, v = (
            part(x).unflatten(-1, (self._heads, -1)).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        drop = DROPOUT if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, dropout_p=drop)
        x = self.n1(x + F.dropout(self.o(mixed.transpose(1, 2).flatten(2)), drop))
        return self.n2(x + F.dropout(self.u(F.gelu(self.i(x))), drop))


class Asking(nn.Module):
    """`Pointer.points` in torch, with one more answer: "nobody"."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.Q, self.K = (nn.ModuleList(nn.Linear(size, size) for _ in range(KINDS)) for _ in range(2))
        for head in (*self.Q, *self.K):
            nn.init.eye_(head.weight)
            nn.init.zeros_(head.bias)
        self.sharpness = nn.Parameter(torch.full((KINDS,), math.log(4 / size)))
        self.nobody = nn.Parameter(torch.zeros(KINDS, size))
        self.nobody_bias = nn.Parameter(torch.zeros(KINDS))

    def ask(self, x: Tensor, named: Tensor, asked: Tensor) -> Tensor:
        """The score of each person, and of nobody, for each question about windows that were read: shape
        (windows, questions, SLOTS + 1).

        A person has the logarithm of the sum over his or her places, as in `Pointer.points`.
        """
        x = x.float()
        window = torch.arange(len(x), device=x.device)[:, None]
        at, of = x[window, named[..., 0].clamp(min=0)], x[window, asked[..., 0].clamp(min=0)]
        there = named[..., 0] >= 0
        owner = F.one_hot(named[..., 1].clamp(min=0), SLOTS).float() * there[..., None]
        scores = []
        for kind in range(KINDS):
            asks, sharp = self.Q[kind](of), self.sharpness[kind].exp()
            score = (asks @ self.K[kind](at).transpose(1, 2) * sharp).masked_fill(~there[:, None], _FAR)
            most = score.amax(-1, keepdim=True).clamp(min=-50)
            people = torch.log((score - most).exp() @ owner + 1e-9) + most
            nobody = (asks @ self.nobody[kind]) * sharp + self.nobody_bias[kind]
            nobody = nobody.new_full(nobody.shape, _FAR) if kind in (OF_TURN, SPOKEN_TO) else nobody
            scores.append(torch.cat([people, nobody[..., None]], -1))
        kinds = asked[..., 1].clamp(min=0)[None, ..., None].expand(1, *scores[0].shape)
        return torch.stack(scores).gather(0, kinds)[0]


class Pupil(Asking):
    """`MiniLM` in torch.

    `known` are the pieces that occur in the lessons: the others stay as they are in the base.
    """

    def __init__(
        self, base: Mapping[str, np.ndarray], words: WordPieces, known: np.ndarray, heads: int = 12
    ) -> None:
        pieces = embeddings_of(base)
        super().__init__(pieces.shape[1])
        begin = [words._ids[mark] for mark in MARKS]
        slots = [words._ids[name] for name in NAMES.split()]
        rows = np.concatenate([pieces[begin], pieces[known], pieces[slots]])
        row = np.zeros(FIRST + len(pieces) + len(slots), np.int64)
        row[:FIRST], row[FIRST + known] = range(FIRST), FIRST + np.arange(len(known))
        row[FIRST + len(pieces) :] = np.arange(len(rows) - len(slots), len(rows))
        self.register_buffer("row", torch.from_numpy(row))
        self.words = nn.Embedding.from_pretrained(torch.from_numpy(rows), freeze=False)
        places = torch.from_numpy(base["embeddings.position_embeddings.weight"])
        self.places = nn.Embedding.from_pretrained(places, freeze=False)
        size = rows.shape[1]
        far = base.get("encoder.relative_attention_bias.weight")
        self.register_buffer("far", None if far is None else torch.from_numpy(by_distance(far, len(places))))
        eps = _EPS if far is None else _EPS_OF_MPNET
        self.norm = nn.LayerNorm(size, eps=eps)
        _copy(self.norm, base, "embeddings.LayerNorm")
        count = sum(name.endswith("query.weight") for name in base)
        inner = len(base["encoder.layer.0.intermediate.dense.bias"])
        self.layers = nn.ModuleList(Layer(size, inner, heads, eps) for _ in range(count))
        for n, layer in enumerate(self.layers):
            for part, name in (_MATRICES | _NORMS).items():
                _copy(getattr(layer, part), base, f"encoder.layer.{n}.{name}")

    def read(self, words: Tensor) -> Tensor:
        """The vectors of windows, shape (windows, words, size); -1 is no word."""
        x = self.norm(self.words(self.row[words.clamp(min=0)]) + self.places.weight[: words.shape[1]])
        x = F.dropout(x, DROPOUT, self.training)
        seen = (
            torch.zeros(words.shape, device=x.device).masked_fill(words < 0, _FAR)[:, None, None].to(x.dtype)
        )
        if self.far is not None:
            seen = seen + self.far[:, : words.shape[1], : words.shape[1]].to(x.dtype)
        for layer in self.layers:
            x = layer(x, seen)
        return x

    def forward(self, words: Tensor, named: Tensor, asked: Tensor) -> Tensor:
        """The score of each person, and of nobody, for each question: shape (windows, questions, SLOTS + 1).

        A person has the logarithm of the sum over his or her places, as in `Pointer.points`.
        """
        return self.ask(self.read(words), named, asked)


def _copy(part: nn.Module, base: Mapping[str, np.ndarray], name: str) -> None:
    part.load_state_dict({kind: torch.from_numpy(base[f"{name}.{kind}"]) for kind in ("weight", "bias")})


def embeddings_of(base: Mapping[str, np.ndarray]) -> np.ndarray:
    """The vectors of the pieces, with that of the one type of text where the base has types."""
    found: np.ndarray = base["embeddings.word_embeddings.weight"]
    types = base.get("embeddings.token_type_embeddings.weight")
    return found if types is None else found + types[0]


def as_bert(base: Mapping[str, np.ndarray], words: WordPieces) -> dict[str, np.ndarray]:
    """The tensors of MPNet under the names that BERT has for them, its pieces under BERT's numbers."""
    found = {}
    for name, tensor in base.items():
        for theirs, ours in _OF_MPNET.items():
            name = name.replace(f".{theirs}.", f".{ours}.")
        found[name] = tensor
    pieces, places = (f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position"))
    found[pieces], found[places] = base[pieces][_PIECES].copy(), base[places][_PLACES]
    for mark, piece in (("[CLS]", _BEGIN), ("[SEP]", _END)):
        found[pieces][words._ids[mark]] = base[pieces][piece]
    return found


def by_distance(table: np.ndarray, places: int) -> np.ndarray:
    """What MPNet adds to the attention of each head, shape (heads, places, places): near distances one by
    one, far ones together (Raffel et al. 2020), those ahead apart from those behind."""
    ahead = np.arange(places)[None] - np.arange(places)[:, None]
    half, distance = _BUCKETS // 2, np.abs(ahead)
    near = half // 2
    share = np.log(np.maximum(distance, 1) / near) / math.log(_FARTHEST / near)
    far = np.minimum(near + (share * (half - near)).astype(np.int64), half - 1)
    bucket = np.where(distance < near, distance, far) + (ahead > 0) * half
    return np.ascontiguousarray(table[bucket].transpose(2, 0, 1))


# --- training ---------------------------------------------------------------------------------------------


class Lessons(IterableDataset):
    """Batches of lessons without end; every process that cuts them draws its own."""

    def __init__(self, library: Library, first_slot: int, size: int, as_read: bool = False) -> None:
        self._library, self._first_slot, self._size = library, first_slot, size
        self._as_read = as_read

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        rng = np.random.default_rng(100 + (worker.id if worker else 0))
        while True:
            batch = pack([self._library.draw(rng, as_read=self._as_read) for _ in range(self._size)])
            yield batch if self._as_read else batch._replace(words=noisy(batch.words, self._first_slot, rng))


def noisy(words: np.ndarray, first_slot: int, rng: np.random.Generator) -> np.ndarray:
    """Some words replaced by other words; slots and marks stay."""
    other = rng.permutation(words.ravel()).reshape(words.shape)
    plain = [(some >= FIRST) & (some < first_slot) for some in (words, other)]
    return np.where((rng.random(words.shape) < NOISE) & plain[0] & plain[1], other, words)


def loss_of(net: Pupil, batch: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The loss of a batch, and for every question whether it is answered right: 1, 0, or -1 for none."""
    words, named, asked = batch[:3]
    with mixed(words):
        scores = net(words, named, asked).float()
    return judged(scores, asked)


def mixed(words: Tensor) -> torch.autocast:
    """On a GPU matrices are multiplied in bfloat16."""
    return torch.autocast(words.device.type, torch.bfloat16, enabled=words.is_cuda)


def judged(scores: Tensor, asked: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of the scores, and which are right.

    The answer must have a place in the window: who speaks may be named behind its end.
    """
    answer = asked[..., 2].clamp(min=0)
    counts = (asked[..., 0] >= 0) & (scores.gather(-1, answer[..., None])[..., 0] > -15)
    weight = torch.tensor([*LESSONS.values()], device=asked.device)[asked[..., 3].clamp(min=0)] * counts
    loss = F.cross_entropy(scores.flatten(0, 1), answer.flatten(), reduction="none").view_as(weight)
    right = torch.where(asked[..., 0] >= 0, (scores.argmax(-1) == answer).long(), -1)
    return (loss * weight).sum() / weight.sum().clamp(min=1), right


def follow(teacher: Pupil, net: Pupil, batch: Sequence[Tensor]) -> Tensor:
    """How far the net is from the lessons, and from the teacher at every place that asks in the package."""
    words, named, asked, marks = batch
    marks = with_heard(marks)
    with mixed(words):
        x = net.read(words)
        loss = judged(net.ask(x, named, asked), asked)[0]
        ours = net.ask(x, named, marks).log_softmax(-1)
        with torch.no_grad():
            says = teacher(words, named, marks).log_softmax(-1)
    return LOUD * loss + apart_from(says, ours, marks)


def with_heard(marks: Tensor) -> Tensor:
    """The places that ask in the package, and each turn once more: to whom it is spoken."""
    heard = marks.where(marks[..., 1:] == OF_TURN, -1)
    heard[..., 1] = heard[..., 1].where(heard[..., 0] < 0, SPOKEN_TO)
    return torch.cat([marks, heard], 1)


def apart_from(says: Tensor, ours: Tensor, marks: Tensor) -> Tensor:
    """How far our answers are from those of a teacher (both logarithms), on average over what is asked."""
    share = SHARES.to(marks.device)[marks[..., 1].clamp(min=0)] * (marks[..., 0] >= 0)
    return ((says.exp() * (says - ours)).sum(-1) * share).sum() / share.sum().clamp(min=1)


def teach(
    net: Pupil, library: Library, first_slot: int, *, teacher: Pupil | None = None,
    steps: int = STEPS, size: int = BATCH, rate: float = RATE, workers: int = 0,
) -> None:  # fmt: skip
    """Train for a number of steps: AdamW, the rate rises and falls by a cosine."""
    device = net.row.device
    lessons = DataLoader(
        Lessons(library, first_slot, size, as_read=teacher is not None), batch_size=None, num_workers=workers,
        multiprocessing_context="fork" if workers else None,
    )  # fmt: skip
    matrices, others = ([p for p in net.parameters() if (p.ndim > 1) == deep] for deep in (True, False))
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=device.type == "cuda")
    net.train()
    for n, batch in zip(range(steps), lessons, strict=False):
        falling = LEAST_RATE + (1 - LEAST_RATE) * (1 + math.cos(math.pi * n / steps)) / 2
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, (n + 1) / WARM_UP) * falling
        given = [part.to(device, non_blocking=True) for part in batch]
        loss = follow(teacher, net, given) if teacher else loss_of(net, given)[0]
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), LONGEST_STEP)
        optimiser.step()
        if n % 200 == 0:
            print(f"step {n:,}: loss {float(loss.detach()):.3f}", flush=True)


def check(net: Pupil, library: Library, size: int = BATCH) -> dict[str, tuple[int, int]]:
    """By lesson: questions answered right, and questions, on the novels held back."""
    rng, names, found = np.random.default_rng(7), list(LESSONS), dict.fromkeys(LESSONS, (0, 0))
    net.eval()
    for _ in range(_CHECKED if library.held_back else 0):
        batch = pack([library.draw(rng, check=True) for _ in range(size)])
        with torch.no_grad():
            right = loss_of(net, [torch.from_numpy(part).to(net.row.device) for part in batch])[1]
        for lesson, yes in zip(batch.asked[..., 3].ravel(), right.cpu().numpy().ravel(), strict=True):
            if yes >= 0:
                good, count = found[names[lesson]]
                found[names[lesson]] = good + int(yes), count + 1
    return found


# --- what is written --------------------------------------------------------------------------------------


def changes(
    net: Pupil, base: Mapping[str, np.ndarray], known: np.ndarray, rank: int
) -> dict[str, np.ndarray]:
    """What the net has that the base has not, as `MiniLM` takes it."""
    new = {name: value.detach().float().cpu().numpy() for name, value in net.state_dict().items()}
    rows, last = new["words.weight"], FIRST + len(known)
    made = {"known": known.astype(np.int32), "sharpness": new["sharpness"]}
    plain = {"special": rows[:FIRST], "slots": rows[last:], "places": new["places.weight"]}
    plain |= {"nobody": new["nobody"], "nobody.bias": new["nobody_bias"]}
    plain |= {name: new[name] for name in ("norm.weight", "norm.bias")}
    made |= low_rank("words", rows[FIRST:last] - embeddings_of(base)[known], rank)
    for n in range(len(net.layers)):
        for part, name in _MATRICES.items():
            changed = new[f"layers.{n}.{part}.weight"] - base[f"encoder.layer.{n}.{name}.weight"]
            made |= low_rank(f"{n}.{part}", changed, rank)
            plain[f"{n}.{part}.bias"] = new[f"layers.{n}.{part}.bias"]
        for part in _NORMS:
            plain |= {f"{n}.{part}.{kind}": new[f"layers.{n}.{part}.{kind}"] for kind in ("weight", "bias")}
    for head in (f"{head}{kind}" for head in "QK" for kind in range(KINDS)):
        made |= small(head, new[f"{head[0]}.{head[1]}.weight"])
        plain[f"{head}.bias"] = new[f"{head[0]}.{head[1]}.bias"]
    return made | {name: value.astype(np.float16) for name, value in plain.items()}


def low_rank(name: str, matrix: np.ndarray, rank: int) -> dict[str, np.ndarray]:
    """The nearest product of two matrices of this rank (Eckart and Young 1936)."""
    u, s, v = np.linalg.svd(matrix, full_matrices=False)
    root = np.sqrt(s[:rank])
    return small(f"{name}.a", u[:, :rank] * root) | small(f"{name}.b", root[:, None] * v[:rank])


def small(name: str, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """A matrix as 8-bit numbers with a scale for every row, never so small that half precision loses it."""
    scale = np.maximum(np.abs(matrix).max(1) / 127, np.finfo(np.float16).tiny).astype(np.float16)
    whole = np.clip(np.round(matrix / scale[:, None].astype(np.float32)), -127, 127)
    return {name: whole.astype(np.int8), f"{name}.scale": scale}


def known_pieces(library: Library, words: WordPieces) -> np.ndarray:
    """The pieces that occur in the books, or that a lesson may put in."""
    tokens = {",", ".", "i", "“", "”", "he", "him", "his", "she", "her"}
    for book in (*library.novels, *library.excerpts, *library.held_back):
        tokens.update(book.tokens)
    return np.array(sorted({piece for token in tokens for piece in words.pieces(token)}))


def command_line(about: str | None, steps: int) -> argparse.ArgumentParser:
    """What a script that teaches a network takes."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("litbank", type=Path)
    parser.add_argument("mirror", type=Path)
    parser.add_argument(
        "--base", type=Path, required=True, help="all-MiniLM-L6-v2: model.safetensors, vocab.txt"
    )
    parser.add_argument("--cache", type=Path, help="a folder that keeps parses")
    parser.add_argument("--jobs", type=int, default=1, help="processes that read books, then cut lessons")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, required=True)
    return parser


def main() -> None:
    parser = command_line(__doc__, STEPS)
    parser.add_argument("--teacher", type=Path, required=True, help="all-mpnet-base-v2: model.safetensors")
    options = parser.parse_args()
    for folder, name, expected in (
        *((options.base, name, expected) for name, expected in FILES.items()),
        (options.teacher, "model.safetensors", TEACHER),
    ):
        if sha256_file(folder / name) != expected:
            raise SystemExit(f"{folder / name} is not that of the base of this name")
    base = read_safetensors(options.base / "model.safetensors")
    words = WordPieces(options.base / "vocab.txt")
    theirs = as_bert(read_safetensors(options.teacher / "model.safetensors"), words)
    network = Vocabulary(words, FIRST + len(embeddings_of(base)))
    library = prepare(options.litbank, options.mirror, network, options.cache, options.jobs)
    known = known_pieces(library, words)
    torch.manual_seed(0)
    teacher, net = (Pupil(one, words, known).to(options.device) for one in (theirs, base))
    teach(
        teacher, library, network.first_slot, steps=options.steps * STEPS_OF_TEACHER // STEPS,
        rate=RATE_OF_TEACHER, workers=options.jobs,
    )  # fmt: skip
    teach(net, library, network.first_slot, teacher=teacher.eval(), steps=options.steps, workers=options.jobs)
    for lesson, (right, count) in check(net, library).items():
        print(f"{lesson}: {right:,} of {count:,} right")
    np.savez_compressed(options.out, **changes(net, base, known, RANK))


if __name__ == "__main__":
    main()
