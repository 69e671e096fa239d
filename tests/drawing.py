"""How many examples the tests of properties draw: few by default, in `.ci/run` five times as many."""

from __future__ import annotations

import os

from hypothesis import settings

EXAMPLES = int(os.environ.get("BOOKCOREF_EXAMPLES", "20"))
"""Where a test does not say it."""


def drawn(most: int) -> settings:
    """Draw `most` examples in `.ci/run`, and in proportion, but at least ten, elsewhere."""
    return settings(max_examples=max(10, most * EXAMPLES // 100), deadline=None)
