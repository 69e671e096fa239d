"""The command line: arguments, progress, printing and exit codes. Nothing else prints."""

from .app import main

__all__ = ["main"]
