"""Find the facts (`manifests/`) and plans (`recipes/`) that ship with the package, and read TOML.

Both folders lie at the top of the repository; an installed wheel carries them in `_data/`.
"""

import sys
from pathlib import Path
from typing import Any

from .errors import DataError, SourceError, UsageError
from .files import read_regular, utf8

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PACKAGE = Path(__file__).resolve().parent


def resource(kind: str, name: str) -> Path:
    """The path of `manifests/<name>` or `recipes/<name>`.

    Raises UsageError: there is no such file; the message lists what there is.
    """
    installed, checkout = _PACKAGE / "_data" / kind, _PACKAGE.parent / kind
    folder = installed if installed.is_dir() else checkout
    path = folder / name
    if not path.is_file():
        names = sorted(p.name for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
        raise UsageError(f"there is no {kind}/{name}", expected=f"one of {', '.join(names)}")
    return path


_MOST_BYTES = 8 << 20
"""The largest file of settings that is read. The longest of ours has 3 kB."""


def load_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises UsageError naming file and place when it cannot be read or parsed."""
    try:
        table: dict[str, Any] = tomllib.loads(utf8(read_regular(path, _MOST_BYTES), path))
        return table
    except (SourceError, DataError) as error:
        raise UsageError(error.what, expected=error.expected, found=error.found, hint=error.hint) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not valid TOML", found=str(error), hint="mend that line") from error
