"""The sample story: where its files lie, and its text as Project Gutenberg has texts."""

from functools import cache
from pathlib import Path

from ..resources import load_toml
from ..text.decode import decode

TITLE = "The Lamp at the Ferry House"
GUTENBERG_KEY = "99000001"  # far above every id that Project Gutenberg has given out


def sample_path(name: str) -> Path:
    """Where a part of the sample lies in the package: "mirror", "release", "cast.toml", ..."""
    return Path(__file__).resolve().parent / name


@cache
def cast() -> dict[str, str]:
    """Character id -> name, in the order of the cast list."""
    return dict(load_toml(sample_path("cast.toml"))["characters"])


def gutenberg_text() -> str:
    """The story as a Project Gutenberg text file: header, contents, wrapped body, footer."""
    file = sample_path("mirror") / f"cache/epub/{GUTENBERG_KEY}/pg{GUTENBERG_KEY}.txt"
    return decode(file.read_bytes()).text
