"""The command line: arguments, progress, printing and exit codes. Nothing else prints."""

import gc

# What imports make stays: looking through it for garbage was a twentieth of what a small command costs.
gc.set_threshold(20_000, 20, 20)

from .app import main  # noqa: E402

__all__ = ["main"]
