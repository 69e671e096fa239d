"""The windows and groups in which clusters are expanded (paper, section 4, steps 3 and 4)."""

from collections.abc import Sequence
from itertools import pairwise

from ..books import Window
from ..books.windows import windows_at

WINDOW_WORDS = 1500
GROUP_WINDOWS = 10


def annotation_windows(sentence_ends: Sequence[int], words: int = WINDOW_WORDS) -> list[Window]:
    """Consecutive windows of whole sentences with at most `words` tokens each; a partition of the book.

    The paper says "at most 1500 words" and not where a window ends; whole sentences are our choice. This
    is not the rule of the split config (`books.cut_windows`), whose windows may pass 1500. A single
    sentence longer than `words` is a window of its own.
    """
    firsts, start = [0] if sentence_ends else [], 0
    for i, (last, end) in enumerate(pairwise(sentence_ends), 1):
        if end - start > words:
            firsts.append(i)
            start = last
    return windows_at(firsts, sentence_ends)


def group_windows(windows: Sequence[Window], size: int = GROUP_WINDOWS) -> list[Window]:
    """Groups of `size` consecutive windows, each as one long window; the last may be shorter."""
    parts = [windows[i : i + size] for i in range(0, len(windows), size)]
    return [Window(p[0].first_sentence, p[-1].end_sentence, p[0].start, p[-1].end) for p in parts]
