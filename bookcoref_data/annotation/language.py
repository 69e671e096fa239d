"""Which language a text is in, by its commonest words: enough to refuse what is not English."""

from collections import Counter
from collections.abc import Sequence

from ..resources import load_toml, resource

_WORDS = {
    name: frozenset(words.split())
    for name, words in load_toml(resource("manifests", "languages.toml")).items()
}
_SCRIPTS = (("Russian", "\u0400", "\u04ff"), ("Greek", "\u0370", "\u03ff"), ("Chinese", "\u4e00", "\u9fff"),
            ("Japanese", "\u3040", "\u30ff"), ("Hebrew", "\u0590", "\u05ff"),
            ("Arabic", "\u0600", "\u06ff"))  # fmt: skip
_SAMPLE = 20_000
_ENOUGH = 300
"""Words from which on an English text shows its language: of 52 novels and the texts for cleaning at least
0.42 are among the commonest words of English."""


def not_english(tokens: Sequence[str]) -> str:
    """What a text is instead of English, with its share of common English words; "" where it may be."""
    words = _sample(tokens)
    share = sum(word in _WORDS["English"] for word in words) / max(1, len(words))
    language = language_of(tokens)
    if language == "English" or (not language and len(words) < _ENOUGH):
        return ""
    return (
        f"{language or 'no language we know'}: {share:.1%} of the words are common English ones "
        f"(the, and, of, ...), in English books over 40%"
    )


def language_of(tokens: Sequence[str]) -> str:
    """The likeliest language of a text, "" when nothing speaks for one (too short, no known words)."""
    sample = _sample(tokens)
    if len(sample) < 50:
        return ""
    for name, low, high in _SCRIPTS:
        if sum(low <= t[0] <= high for t in sample) > 0.4 * len(sample):
            return name
    counts = Counter(sample)
    shares = {name: sum(counts[w] for w in words) / len(sample) for name, words in _WORDS.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] > 0.08 else ""


def _sample(tokens: Sequence[str]) -> list[str]:
    """The words at the beginning of a text, in small letters."""
    return [t.lower() for t in tokens[:_SAMPLE] if t[:1].isalpha()]
