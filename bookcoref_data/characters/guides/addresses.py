"""Which guide an address belongs to, and where the guide's list of characters stands.

Works on original addresses (without the archive's prefix). A slug does not give a name, so nothing is ever
read out of one; it only tells guides apart.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...resources import load_toml, resource

_SITES = load_toml(resource("manifests", "guides.toml"))


@dataclass(frozen=True, slots=True)
class GuidePlace:
    """A guide: its site, the path of its root as written in the address, and an id that ignores case."""

    site: str
    root: str

    @property
    def id(self) -> str:
        return self.root.strip("/").lower()


def site_of(original: str) -> str | None:
    """The site of an original address, None when it is none of ours."""
    name = urlsplit(original).netloc.lower().split(":")[0].removeprefix("www.").removesuffix(".com")
    return name if name in _SITES else None


def place_of(original: str) -> GuidePlace | None:
    """The guide an original address belongs to; None when it is not a page of a guide."""
    site = site_of(original)
    if site is None:
        return None
    match = re.match(_SITES[site]["root"], urlsplit(original).path, re.IGNORECASE)
    return GuidePlace(site, match.group()) if match else None


def list_addresses(original: str) -> list[str]:
    """Original addresses of the pages that list all characters of the guide of `original`."""
    place = place_of(original)
    return [_page(original, place, ending) for ending in _SITES[place.site]["lists"]] if place else []


def _page(original: str, place: GuidePlace, ending: str) -> str:
    parts = urlsplit(original)
    return f"{parts.scheme}://{parts.netloc}{place.root}{ending}"


def summary_address(original: str) -> str | None:
    """Original address of the summary in the guide of `original`.

    None where it cannot be told: CliffsNotes calls it book, play, poem or story summary, so there only an
    address that is one itself will do.
    """
    if is_summary(original):
        return original
    place = place_of(original)
    ending = _SITES[place.site].get("summary") if place else None
    return _page(original, place, ending) if place and ending else None


def is_summary(original: str) -> bool:
    """Whether an address is that of a summary; those of CliffsNotes may have one segment more."""
    last = urlsplit(original).path.lower().rstrip("/").split("/")[-2:]
    return any(part == "summary" or part.endswith("-summary") for part in last)


def is_list(original: str) -> bool:
    """Whether an address is one of its guide's lists (an end slash and capitals aside)."""
    path = original.lower().rstrip("/")
    return any(path == listed.lower().rstrip("/") for listed in list_addresses(original))
