"""Maverick (mes): mentions of a text and the antecedent of each, by one pass of an encoder.

A token is scored as the start of a mention, then every (start, end) inside a sentence as a mention; two
mentions are compared by a scorer of their category (see `categories`) plus one for all pairs. For long
texts (Maverick_xl) mentions are extracted window by window, and all are compared in the end.

Written from the architecture of the published models (Maverick, Martinelli et al. 2024, section 3).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...late import torch
from .batching import Batches
from .categories import COUNT, MentionWords
from .device import dtype_of
from .encoder import OnEncoder, Subwords, build_encoder, encode, load_tokenizer, special_id, split_words
from .layers import Shapes, moved, two_layers, two_layers_shapes
from .weights import State, check_shapes, find_folder, read_weights, without_prefix

SPEAKER = ("[SPEAKER_START]", "[SPEAKER_END]")
# Rows of the mention x mention table that are scored at once; bounds memory on long texts.
ROWS = 1024
# Sentences, and mentions that are given: (first word, last word).
MaverickText = tuple[Sequence[Sequence[str]], Sequence[tuple[int, int]]]


class Antecedent(NamedTuple):
    """Mention `mention` goes back to the earlier mention `antecedent` (indices), probability 0.5..1."""

    mention: int
    antecedent: int
    score: float


class Spans(NamedTuple):
    """Mentions of a text as (first word, last word), and the hidden states of both (mentions x size)."""

    words: list[tuple[int, int]]
    starts: torch.Tensor
    ends: torch.Tensor


def maverick_shapes(size: int) -> Shapes:
    """Names and shapes of a Maverick's own tensors for an encoder with hidden size `size`."""
    shapes: Shapes = {}
    for side in ("start", "end"):
        shapes |= two_layers_shapes(f"coref_{side}_all_mlps", size, 2 * size, COUNT * size)
        shapes |= two_layers_shapes(f"{side}_token_representation", size, size, size)
    shapes |= two_layers_shapes("start_token_classifier", size, size, 1)
    shapes |= two_layers_shapes("start_end_classifier", 2 * size, size, 1)
    for pair in ("s2s", "e2e", "s2e", "e2s"):
        shapes[f"antecedent_{pair}_all_weights"] = (COUNT, size, size)
        shapes[f"antecedent_{pair}_all_biases"] = (COUNT, size)
    return shapes


class Maverick(OnEncoder):
    """A loaded model. `spans` finds mentions of one text, `antecedents` compares mentions."""

    def __init__(self, encoder: Any, tokenizer: Any, heads: State) -> None:
        self._encoder, self._tokenizer, self._heads = encoder, tokenizer, heads
        self.batches = Batches(1)
        begin, end = (special_id(tokenizer, token) for token in SPEAKER)
        # The published models read "unknown speaker" before every text.
        speaker = split_words(tokenizer, ["-"]).ids
        self._head = (tokenizer.cls_token_id, begin, *speaker, end)

    @classmethod
    def load(
        cls, model: str, revision: str = "", *, encoder: str, encoder_revision: str = "",
        device: torch.device, dtype: str = "float32",
    ) -> Maverick:  # fmt: skip
        """Load a model from the hub's layout (`weights.ckpt`, or safetensors made from it).

        `encoder` names the encoder it was trained on: its configuration and tokenizer are read.

        Raises:
            SourceError, FormatError: see `weights`.
        """
        folder = find_folder(model, revision)
        state = read_weights(folder)
        state = without_prefix(state, "model.") or state
        base = find_folder(encoder, encoder_revision, weights=False)
        network = build_encoder(base, without_prefix(state, "encoder."))
        shapes = maverick_shapes(network.config.hidden_size)
        check_shapes(state, shapes, folder)
        tokenizer = load_tokenizer(base, encoder)
        tokenizer.add_tokens(list(SPEAKER), special_tokens=True)
        precision = dtype_of(dtype)
        return cls(network.to(device, precision), tokenizer, moved(state, shapes, device, precision))

    def spans(self, sentences: Sequence[Sequence[str]], given: Sequence[tuple[int, int]] = ()) -> Spans:
        """Mentions of one text: those found, and those `given` (first word, last word), sorted."""
        found: list[Spans] = []
        self.spans_all([(sentences, given)], lambda _, spans: found.append(spans))
        return found[0]

    def spans_all(self, texts: Sequence[MaverickText], told: Callable[[int, Spans], None]) -> None:
        """The same for many texts in batches; `told(number of the text, spans)` hears each of them."""
        subwords = [split_words(self._tokenizer, [w for s in sentences for w in s]) for sentences, _ in texts]

        def work(batch: list[int]) -> list[Spans]:
            sep = self._tokenizer.sep_token_id
            rows = [(*self._head, *subwords[i].ids, sep) for i in batch]
            with torch.inference_mode():
                hidden = encode(self._encoder, rows, self.device)
                return [self._spans(*texts[i], subwords[i], h) for i, h in zip(batch, hidden, strict=True)]

        self.batches.run(range(len(texts)), lambda i: len(subwords[i].ids), work, told)

    def _spans(
        self, sentences: Sequence[Sequence[str]], given: Sequence[tuple[int, int]], text: Subwords,
        hidden: torch.Tensor,
    ) -> Spans:  # fmt: skip
        places, offset = text.first_and_last(), len(self._head)
        # For each position, the last position at which a mention that starts there may end; -1 for none.
        # As published, a block of positions reaches from the first subword of one sentence's last word to
        # that of the next sentence's, both included.
        ends, word = [], 0
        for sentence in sentences:
            word += len(sentence)
            last = next((w for w in range(word - 1, word - 1 - len(sentence), -1) if w in places), None)
            if last is not None:
                ends.append(places[last][0] + offset)
        behind = [*ends, -1]
        limits = [behind[bisect_right(ends, position)] for position in range(len(hidden))]
        if ends:
            limits[ends[-1]] = ends[-1]
        firsts, lasts = self._extract(hidden, torch.tensor(limits, device=self.device))
        found = {
            (text.word_of[s - offset], text.word_of[e - offset])
            for s, e in zip(firsts.tolist(), lasts.tolist(), strict=True)
            if offset <= s and e < offset + len(text.ids)
        }
        kept = sorted(s for s in found | set(given) if s[0] in places and s[1] in places)
        at = [[places[a][0] + offset for a, _ in kept], [places[b][1] + offset for _, b in kept]]
        index = torch.tensor(at, dtype=torch.long, device=self.device)
        return Spans(kept, hidden[index[0]], hidden[index[1]])

    def _extract(self, hidden: torch.Tensor, limits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Positions (first, last) of the mentions found."""
        scores = two_layers(self._heads, "start_token_classifier", hidden).squeeze(-1)
        begins = ((scores > 0) & (limits >= 0)).nonzero().squeeze(-1)
        counts = limits[begins] - begins + 1
        firsts = begins.repeat_interleave(counts)
        shift = torch.arange(len(firsts), device=hidden.device) - (
            counts.cumsum(0) - counts
        ).repeat_interleave(counts)
        lasts = firsts + shift
        # The published model names these two the other way round: the "start" layer reads the last token.
        tail = two_layers(self._heads, "start_token_representation", hidden)
        head = two_layers(self._heads, "end_token_representation", hidden)
        kept = []
        for part in torch.arange(len(firsts), device=hidden.device).split(65536):
            pairs = torch.cat([tail[lasts[part]], head[firsts[part]]], dim=-1)
            kept.append(two_layers(self._heads, "start_end_classifier", pairs).squeeze(-1) > 0)
        chosen = torch.cat(kept) if kept else torch.zeros(0, dtype=torch.bool, device=hidden.device)
        return firsts[chosen], lasts[chosen]

    def antecedents(
        self, starts: torch.Tensor, ends: torch.Tensor, words: Sequence[Sequence[str]]
    ) -> list[Antecedent]:
        """The best antecedent of each mention that has one with a probability above one half.

        `starts` and `ends` are hidden states of the mentions in the order of the text, `words` their words.
        """
        if len(words) < 2:
            return []
        compared = MentionWords(words)
        found: list[Antecedent] = []
        with torch.inference_mode():
            first = self._by_category("coref_start_all_mlps", starts)
            last = self._by_category("coref_end_all_mlps", ends)
            for low in range(0, len(words), ROWS):
                high = min(low + ROWS, len(words))
                logits = self._logits(first, last, low, high, compared)
                best, where = logits.max(dim=-1)
                # Whole lists: to fetch one number is a wait for the GPU.
                rows = zip(where.tolist(), torch.sigmoid(best).tolist(), (best > 0).tolist(), strict=True)
                found += [Antecedent(low + i, at, p) for i, (at, p, one) in enumerate(rows) if one]
        return found

    def _by_category(self, name: str, hidden: torch.Tensor) -> torch.Tensor:
        """Hidden states projected once per category: categories x mentions x size."""
        projected = two_layers(self._heads, name, hidden)
        return projected.view(len(hidden), COUNT, -1).transpose(0, 1)

    def _logits(
        self, first: torch.Tensor, last: torch.Tensor, low: int, high: int, compared: MentionWords
    ) -> torch.Tensor:  # fmt: skip
        """Scores of mentions low..high-1 with all earlier mentions; 0 elsewhere, which means no."""
        h = self._heads
        s, e = first[:, low:high], last[:, low:high]
        to_start = s @ h["antecedent_s2s_all_weights"] + e @ h["antecedent_e2s_all_weights"]
        to_end = s @ h["antecedent_s2e_all_weights"] + e @ h["antecedent_e2e_all_weights"]
        categories = torch.from_numpy(compared.categories(low, high)).to(first.device)
        total = torch.zeros(categories.shape, dtype=torch.float32, device=first.device)
        for c in range(COUNT):
            # What a mention brings as an antecedent, whatever it is compared with
            from_start = h["antecedent_s2s_all_biases"][c] + h["antecedent_e2s_all_biases"][c]
            from_end = h["antecedent_e2e_all_biases"][c] + h["antecedent_s2e_all_biases"][c]
            bias = first[c] @ from_start + last[c] @ from_end
            scores = to_start[c] @ first[c].T + to_end[c] @ last[c].T + bias
            total += scores.float() if c == COUNT - 1 else scores.float() * (categories == c)
        earlier = torch.arange(categories.shape[1], device=first.device)[None, :] < torch.arange(
            low, high, device=first.device
        ).unsqueeze(1)
        return total * earlier
