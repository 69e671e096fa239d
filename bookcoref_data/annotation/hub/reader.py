"""The ReLiK reader (span extraction): explicit mentions in a text, each tied to one of the given names.

Input of the network, as published: [CLS] text [SEP] --NME-- [E-0] name [E-1] name ... [SEP]. A classifier
finds tokens that start a mention; for each of them another finds its end; start and end, projected, are
compared with the projected states of [CLS] (nothing), --NME-- (somebody not listed) and every [E-i].

Written from the architecture of the published models (ReLiK, Orlando et al. 2024, section 3.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...errors import UsageError
from ...late import F, torch
from .batching import Batches
from .device import dtype_of
from .encoder import OnEncoder, Subwords, build_encoder, encode, load_tokenizer, special_id, split_words
from .layers import Shapes, linear_shapes, moved, norm_shapes, projection, projection_shapes
from .weights import State, check_shapes, find_folder, read_config, read_weights, without_prefix

NOBODY = "--NME--"
MAX_NAME_SUBWORDS = 22  # as published: longer names are cut
DROPOUT = 0.1  # in the heads, as published
# Below every score a network gives, and still finite in half precision.
MASKED = -65500.0
# Starts whose ends are scored at once; bounds memory.
STARTS = 32


class Link(NamedTuple):
    """A mention in a text: first and last word (inclusive), index of the name, probability 0..1."""

    start: int
    end: int
    name: int
    score: float


class ReaderRow(NamedTuple):
    """What the network reads at once of the text `number`: its words from `at`, the names from `first`.

    `ids` are all subwords, `head` of them before the names; `symbols` are the places of the classes.
    """

    number: int
    at: int
    first: int
    text: Subwords
    ids: list[int]
    head: int
    symbols: list[int]


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """What config.json of a reader says, with the defaults of the published code."""

    encoder: str
    symbols: int = 101
    layers: int | None = None
    activation: str = "gelu"
    hidden: int = 512
    binary_ends: bool = False

    @classmethod
    def of(cls, config: dict[str, Any], encoder: str = "") -> ReaderSettings:
        """Raises UsageError for a configuration that no published reader has."""
        if config.get("use_last_k_layers", 1) != 1:
            what = "readers that join several layers of the encoder are not supported"
            raise UsageError(what, expected="use_last_k_layers = 1", found=config["use_last_k_layers"])
        return cls(
            encoder or config.get("transformer_model", "microsoft/deberta-v3-base"),
            config.get("additional_special_symbols", 101),
            config.get("num_layers"),
            config.get("activation", "gelu"),
            config.get("linears_hidden_size", 512),
            bool(config.get("binary_end_logits", False)),
        )


def reader_shapes(size: int, settings: ReaderSettings) -> Shapes:
    """Names and shapes of a reader's own tensors for an encoder with hidden size `size`."""
    shapes = projection_shapes("ned_start_classifier", size, settings.hidden, 2, norm=False)
    shapes |= linear_shapes("ned_end_classifier.dense_0", 2 * size, size)
    shapes |= norm_shapes("ned_end_classifier.LayerNorm", size)
    shapes |= linear_shapes("ned_end_classifier.dense_1", size, 2 if settings.binary_ends else 1)
    for name in ("ed_start_projector", "ed_end_projector"):
        shapes |= projection_shapes(name, size, settings.hidden, settings.hidden, norm=True)
    return shapes


class Reader(OnEncoder):
    """A loaded reader. `read` takes words and names, and gives links."""

    def __init__(
        self, encoder: Any, tokenizer: Any, heads: State, settings: ReaderSettings, max_subwords: int
    ) -> None:  # fmt: skip
        self._encoder, self._tokenizer, self._heads = encoder, tokenizer, heads
        self._settings, self._max_subwords, self._dropout = settings, max_subwords, 0.0
        self.batches = Batches(1)
        self._eps = encoder.config.layer_norm_eps
        self._nobody = special_id(tokenizer, NOBODY)
        self._symbols = [special_id(tokenizer, f"[E-{i}]") for i in range(settings.symbols - 1)]

    @classmethod
    def load(
        cls, model: str, revision: str = "", *, device: torch.device, dtype: str = "float32",
        encoder: str = "", encoder_revision: str = "", max_subwords: int = 1000,
    ) -> Reader:  # fmt: skip
        """Load a reader from the hub's layout. Raises SourceError, FormatError, UsageError."""
        folder = find_folder(model, revision)
        settings = ReaderSettings.of(read_config(folder), encoder)
        state = read_weights(folder)
        base = find_folder(settings.encoder, encoder_revision, weights=False)
        network = build_encoder(base, without_prefix(state, "transformer_model."), layers=settings.layers)
        shapes = reader_shapes(network.config.hidden_size, settings)
        check_shapes(state, shapes, folder)
        precision = dtype_of(dtype)
        # Readers carry their tokenizer, with the symbols in it.
        own = folder if (folder / "tokenizer_config.json").is_file() else base
        tokenizer = load_tokenizer(own, model, config=network.config)
        heads = moved(state, shapes, device, precision)
        return cls(network.to(device, precision), tokenizer, heads, settings, max_subwords)

    def read(self, words: Sequence[str], names: Sequence[str]) -> list[Link]:
        """Links in one text, best name per span."""
        found: list[list[Link]] = []
        self.read_all([(words, names)], lambda _, links: found.append(links))
        return found[0]

    def read_all(
        self, texts: Sequence[tuple[Sequence[str], Sequence[str]]], told: Callable[[int, list[Link]], None]
    ) -> None:
        """Read many texts, each with its names, in batches; `told(number of the text, links)` hears of each.

        Texts too long for the network are read in halves. Names that do not fit beside the text, or outnumber
        the symbols, are read in further passes; their answers on one span are settled by probability.
        """
        casts = {tuple(names): self._encode_names(names) for _, names in texts}
        rows = [
            row
            for number, (words, names) in enumerate(texts)
            for row in self._rows(number, words, 0, casts[tuple(names)])
        ]
        best: list[dict[tuple[int, int], Link]] = [{} for _ in texts]
        left = Counter(row.number for row in rows)

        def heard(i: int, links: list[Link]) -> None:
            row = rows[i]
            for link in links:
                link = Link(link.start + row.at, link.end + row.at, link.name + row.first, link.score)
                known = best[row.number].setdefault((link.start, link.end), link)
                if (link.score, -link.name) > (known.score, -known.name):
                    best[row.number][link.start, link.end] = link
            left[row.number] -= 1
            if not left[row.number]:
                told(row.number, sorted(best[row.number].values()))

        for number in range(len(texts)):
            if not left[number]:
                told(number, [])
        self.batches.run(rows, lambda row: len(row.ids), self._read_rows, heard)

    def rows(self, words: Sequence[str], names: Sequence[str]) -> list[ReaderRow]:
        """What the network reads of one text."""
        return list(self._rows(0, words, 0, self._encode_names(names)))

    def _rows(
        self, number: int, words: Sequence[str], at: int, names: list[list[int]]
    ) -> Iterator[ReaderRow]:
        """What the network reads of one text: one row per part of it and list of names."""
        text = split_words(self._tokenizer, words)
        room = self._max_subwords - 20 - len(text.ids)  # 20 for special tokens, as published
        if room < max(map(len, names), default=0) and len(words) > 1:
            half = len(words) // 2
            yield from self._rows(number, words[:half], at, names)
            yield from self._rows(number, words[half:], at + half, names)
            return
        for first, part in self._passes(names, room):
            head = [self._tokenizer.cls_token_id, *text.ids, self._tokenizer.sep_token_id]
            tail, symbols = [self._nobody], [0, len(head)]
            for symbol, name in zip(self._symbols, part, strict=False):
                symbols.append(len(head) + len(tail))
                tail += [symbol, *name]
            ids = [*head, *tail, self._tokenizer.sep_token_id]
            yield ReaderRow(number, at, first, text, ids, len(head), symbols)

    def _encode_names(self, names: Sequence[str]) -> list[list[int]]:
        if not names:
            return []
        encoded = self._tokenizer(list(names), add_special_tokens=False)["input_ids"]
        return [ids[: MAX_NAME_SUBWORDS - 1] for ids in encoded]

    def _passes(self, names: list[list[int]], room: int) -> Iterator[tuple[int, list[list[int]]]]:
        """(index of the first name, names) of each pass: as many as there are symbols and room for."""
        first = 0
        while first < len(names):
            used, end = 0, first
            while end < len(names) and end - first < len(self._symbols):
                used += len(names[end]) + 1
                if used > room and end > first:
                    break
                end += 1
            yield first, names[first:end]
            first = end

    def _read_rows(self, rows: Sequence[ReaderRow]) -> list[list[Link]]:
        """One pass: everything the network says of some texts, each with its list of names."""
        with torch.inference_mode():
            return [self._links(*pair) for pair in zip(rows, self._hidden(rows), strict=True)]

    def _hidden(self, rows: Sequence[ReaderRow]) -> list[torch.Tensor]:
        types = [[0] * row.head + [1] * (len(row.ids) - row.head) for row in rows]
        return encode(self._encoder, [row.ids for row in rows], self.device, types)

    def _links(self, row: ReaderRow, hidden: torch.Tensor) -> list[Link]:
        text = row.text
        allowed = torch.zeros(len(hidden), dtype=torch.bool, device=hidden.device)
        allowed[1 : 1 + len(text.ids)] = True
        starts, ends = self._spans(hidden, allowed)
        if not len(starts):
            return []
        logits = self._compare(hidden, starts, ends, torch.tensor(row.symbols, device=hidden.device))
        scores, classes = logits.float().softmax(dim=-1).max(dim=-1)
        found = zip(starts.tolist(), ends.tolist(), classes.tolist(), scores.tolist(), strict=True)
        # Classes 0 and 1 are "nothing" and "somebody else"; positions count the [CLS] before the text.
        return [
            Link(text.word_of[s - 1], text.word_of[e - 1], c - 2, p)
            for s, e, c, p in found
            if c >= 2 and s <= e
        ]

    def loss(self, row: ReaderRow, links: Sequence[tuple[int, int, int]]) -> torch.Tensor:
        """The published training loss on one row: cross entropies of starts, of ends and of names, added up.

        `links` are (first word, last word, name) of the whole text; one whose name is not in the row is a
        mention of somebody else. A reader without binary ends learns the nearest end of each start.
        """
        hidden, size = self._hidden([row])[0], len(row.text.ids)
        classes = self._classes(row, links)
        begins = sorted({start for start, _ in classes})
        marks = torch.zeros(size, dtype=torch.long, device=self.device)
        marks[[start - 1 for start in begins]] = 1
        text = hidden[1 : 1 + size]
        total = F.cross_entropy(self._project("ned_start_classifier", text).float(), marks)
        if not classes:
            return total
        ends = self._end_logits(hidden, torch.tensor(begins, device=self.device))[:, 1 : 1 + size].float()
        right = torch.zeros(ends.shape[:2], dtype=torch.long, device=self.device)
        for start, end in classes:
            right[begins.index(start), end - 1] = 1
        if self._settings.binary_ends:
            total = total + F.cross_entropy(ends.flatten(0, 1), right.flatten())
        else:
            total = total + F.cross_entropy(ends.squeeze(-1), right.argmax(dim=-1))
        spans = torch.tensor(list(classes), device=self.device)
        symbols = torch.tensor(row.symbols, device=self.device)
        logits = self._compare(hidden, spans[:, 0], spans[:, 1], symbols)
        return total + F.cross_entropy(logits.float(), torch.tensor([*classes.values()], device=self.device))

    def _classes(self, row: ReaderRow, links: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int], int]:
        """Positions (first, last subword) of a row's mentions, in order, and the class of each."""
        places = row.text.first_and_last()
        found: dict[tuple[int, int], int] = {}
        for first, last, name in links:
            if first - row.at in places and last - row.at in places:
                span = 1 + places[first - row.at][0], 1 + places[last - row.at][1]
                here = 0 <= name - row.first < len(row.symbols) - 2
                found.setdefault(span, name - row.first + 2 if here else 1)
        return dict(sorted(found.items()))

    def learn(self, learning: bool) -> None:
        """Begin or end training: dropout, and gradients of all weights."""
        self._encoder.train(learning)
        for weight in self.weights().values():
            weight.requires_grad_(learning)
        self._dropout = DROPOUT if learning else 0.0

    def weights(self) -> dict[str, torch.Tensor]:
        """All weights by the names of the published layout."""
        named = self._encoder.named_parameters()
        return {f"transformer_model.{name}": weight for name, weight in named} | dict(self._heads)

    def _spans(self, hidden: torch.Tensor, allowed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Positions of the first and last subword of every mention found."""
        logits = self._project("ned_start_classifier", hidden)
        starts = ((logits[:, 1] > logits[:, 0]) & allowed).nonzero().squeeze(-1)
        if not len(starts):
            return starts, starts
        ends = torch.cat([self._end_logits(hidden, part) for part in starts.split(STARTS)])
        if self._settings.binary_ends:
            which, where = ((ends[..., 1] > ends[..., 0]) & allowed).nonzero(as_tuple=True)
            return starts[which], where
        return starts, ends.squeeze(-1).masked_fill(~allowed, MASKED).argmax(dim=-1)

    def _end_logits(self, hidden: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        """Scores (starts x positions x 1 or 2) of every position as the end of what begins at a start.

        The first layer reads a position beside the start; being linear, it is run once for either.
        """
        h, name, size = self._heads, "ned_end_classifier", hidden.shape[-1]
        weight = h[f"{name}.dense_0.weight"]
        position = F.linear(hidden, weight[:, :size], h[f"{name}.dense_0.bias"])
        start = F.linear(hidden[starts], weight[:, size:])
        x = (position.unsqueeze(0) + start.unsqueeze(1)).tanh()
        norm = h[f"{name}.LayerNorm.weight"]
        x = F.layer_norm(x, norm.shape, norm, h[f"{name}.LayerNorm.bias"], self._eps)
        return F.linear(x, h[f"{name}.dense_1.weight"], h[f"{name}.dense_1.bias"])

    def _compare(
        self, hidden: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor, symbols: torch.Tensor
    ) -> torch.Tensor:
        """Scores (mentions x classes) of the symbols for each span."""
        sides = (("ed_start_projector", starts), ("ed_end_projector", ends))
        spans = torch.cat([self._project(name, hidden[places]) for name, places in sides], -1)
        classes = torch.cat([self._project(name, hidden[symbols]) for name, _ in sides], -1)
        return spans @ classes.T

    def _project(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return projection(self._heads, name, x, self._settings.activation, self._eps, self._dropout)
