"""What others have published, by its address: "hf:user/name", "hf:user/name@tag".

A whole data set is verified as the folder it is; a standoff release by its packs, its manifest and its table.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..books.book import spans_sha256
from ..books.facts import BookFacts
from ..errors import BookcorefError
from ..files import sha256_bytes
from ..formats.lines import json_lines
from ..progress import Progress
from ..publishing.publication import BOOKS_FILE, read_publication
from ..sources.hub import fetch_published, is_hub_address
from ..sources.store import Store
from .packed import is_pack_release, pack_parts, read_released
from .verify import CHANGED, MISSING, OK, Checked, Verification, read_manifest
from .verify import verify as verify_folder

MANIFEST_FILE = "manifest.json"


def verify(
    place: Path, *, manifest: Path | None = None, complete: bool = False, accept_remapped: bool = False,
    cache_dir: Path | None = None, offline: bool = False, progress: Progress | None = None,
) -> Verification:  # fmt: skip
    """Verify a data set folder, a folder of packs, or a repository of either on the Hub."""
    folder = place
    if is_hub_address(place):
        store = Store.open(cache_dir, progress)
        with store.working():
            folder = fetch_published(store, place, offline=offline)
    if (folder / MANIFEST_FILE).is_file() and is_pack_release(folder):
        # Compare every pack with the index, the manifest and the table of books of a standoff release.
        wanted = read_manifest(folder / MANIFEST_FILE)
        _, parts = pack_parts(folder)
        try:
            table = {row["doc_key"]: row for _, row in json_lines(folder / BOOKS_FILE)}
        except (BookcorefError, KeyError):
            table = {}  # damaged, or not there
        checks = [_check_pack(folder / p.pack, p.key, p.doc_key, wanted["books"], table) for p in parts]
        found = {check.doc_key for check in checks}
        left = (key for key in wanted["books"] if key not in found)
        checks += [Checked(key, MISSING, problems=["in the manifest, but there is no pack"]) for key in left]
        problems = []
        published = read_publication(folder)
        if published and published.digest != wanted["digest"]:
            problems.append("publication.json states another digest than the manifest")
        if {*table} != {*wanted["books"]}:
            problems.append(f"{BOOKS_FILE} lists other books than the manifest")
        result = Verification(folder, wanted["digest"], checks, problems)
    else:
        result = verify_folder(folder, manifest=manifest, complete=complete, accept_remapped=accept_remapped)
    result.folder = place
    return result


def _check_pack(
    path: Path, sha256: str, key: str, wanted: Mapping[str, Any], table: Mapping[str, Mapping[str, Any]]
) -> Checked:
    try:
        pack = read_released(path, sha256)
        clusters = pack.annotation.clusters
        # What a pack says of its book without the text
        found = {
            "split": pack.split, "tokens": pack.token_count, "sentences": pack.sentence_count,
            "tokens_sha256": pack.tokens_sha256, "windows": len(pack.windows), "clusters": len(clusters),
            "mentions": sum(map(len, clusters)), "spans_sha256": spans_sha256(clusters),
            "reasons_sha256": sha256_bytes(pack.reasons.encode()) if pack.reasons else "",
        }  # fmt: skip
    except (BookcorefError, OSError) as error:
        return Checked(key, CHANGED, problems=[getattr(error, "what", str(error))])
    stated = wanted.get(key)
    if stated is None:
        return Checked(key, CHANGED, problems=["the manifest does not have this book"])
    differ = ((name, value) for name, value in found.items() if stated.get(name, "") != value)
    problems = [f"{name}: manifest {stated.get(name)}, pack {value}" for name, value in differ]
    if table.get(key, {}).get("pack_sha256") != sha256:
        problems.append(f"{BOOKS_FILE} states another checksum of the pack")
    facts = BookFacts.from_dict({"doc_key": key, "gutenberg_key": pack.gutenberg_key, **stated})
    return Checked(key, CHANGED if problems else OK, "pack", "pack", facts, problems)
