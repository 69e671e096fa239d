"""All that a command leaves, as text to be read and compared: what it prints, and the files it writes."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path

import pyarrow.parquet as pq

MOST_LINES, MOST_WIDTH = 24, 200
"""Lines of an output and characters of a line that are shown; the rest counts by its digest."""
CHANGES = (
    # How a page looks and works is the matter of other tests; here it is what it says.
    (r"(?s)<style>.*?</style>", "<style></style>"),
    (r"(?s)<script>.*?</script>", "<script></script>"),
    (r"'sha256-[A-Za-z0-9+/=]+'", "'sha256'"),
    (r"[^\s'\"]*/(recipes|manifests)/", r"<package>/\1/"),
    (r"[0-9a-f]{64}", "<sha256>"),
    (r"\b(?=[0-9]*[a-f])[0-9a-f]{12,40}\b", "<hex>"),
    (r"([0-9]\.[0-9]{4})[0-9]{2,}", r"\1"),
    (r"2[0-9]{3}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|\+00:00)?)?", "<date>"),
    (r"(@misc\{me-|year = \{)20[0-9]{2}", r"\1<year>"),
    (r"\b[0-9.]+ (s|ms|seconds)\b", "<time>"),
    (r'(\.parquet(?: +|": \{\s*"bytes": ))[0-9,]+', r"\1<size>"),
    (r'("contentSize": )"[^"]*"', r"\1<size>"),
    (r"[0-9,]+ bytes would go", "<size> would go"),
    (r'("(?:seconds|version|made_with|date|kernel)": )("[^"]*"|[0-9.]+)', r"\1<changes>"),
)
"""What differs from run to run, from machine to machine, or with the version of this package."""
OF_ANNOTATOR = ((r"([0-9]\.[0-9]{2})[0-9]+", r"\1"), (r'("bytes": )[0-9]+', r"\1<size>"))
"""What may differ besides where the annotator's scores are printed: processors round sums differently."""


def files_of(folder: Path) -> dict[str, bytes]:
    """The bytes of every file under a folder, by its path there. The cache is left out."""
    tops = (path for path in folder.iterdir() if path.name != "cache")
    found = sorted(path for top in tops for path in (top, *top.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def outcome(done, folder: Path, before: dict[str, bytes], after: dict[str, bytes], changes=CHANGES) -> str:
    """What a command printed (the result of typer's test runner), and every file that it wrote or took away,
    of the files `before` and `after` it. `changes`: what is replaced."""
    parts = [] if not done.exit_code else [f"(exit code {int(done.exit_code)})"]
    if done.exception and not isinstance(done.exception, SystemExit):
        parts += _plain(f"({done.exception!r})", folder, changes)
    parts += _shown(_plain(done.stdout, folder, changes))
    if done.stderr:
        parts += ["-- stderr", *_shown(_plain(done.stderr, folder, changes))]
    parts += [f"-- gone: {name}" for name in before if name not in after]
    for name, data in after.items():
        if before.get(name) != data:
            parts += [f"-- {name}", *_shown(_plain(_text_of(name, data), folder, changes))]
    return "\n".join(parts) + "\n"


def _text_of(name: str, data: bytes) -> str:
    if name.endswith(".parquet"):
        return "\n".join(map(str, pq.read_table(io.BytesIO(data)).to_pylist()))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "(not text)"


def _plain(text: str, folder: Path, changes) -> list[str]:
    """The lines of a text without what changes from run to run."""
    text = text.replace(str(folder), "<here>")
    for pattern, instead in changes:
        text = re.sub(pattern, instead, text)
    return [line.rstrip() for line in text.splitlines()]


def _shown(lines: list[str]) -> list[str]:
    """The first lines, cut; of what is left out its size and digest."""
    shown = [_cut(line) for line in lines[:MOST_LINES]]
    rest = "\n".join(lines[MOST_LINES:])
    return [*shown, f"... {len(lines) - MOST_LINES} more lines, {_digest(rest)}"] if rest else shown


def _cut(line: str) -> str:
    if len(line) <= MOST_WIDTH:
        return line
    return f"{line[:MOST_WIDTH]}... {len(line) - MOST_WIDTH} more characters, {_digest(line)}"


def _digest(text: str) -> str:
    return f"digest {hashlib.sha256(text.encode()).hexdigest()[:8]}"
