"""The dataset card: what `datasets` reads (YAML) and what a person reads (licences, counts, citation)."""

import json
import re
from collections.abc import Mapping, Sequence
from string import Template

from .cells import markdown_row
from .schema import CARD, CONFIGS, DESCRIPTIONS, SPLITS

CITATION: str = CARD["citation"]
HOMEPAGE = "https://huggingface.co/datasets/sapienzanlp/bookcoref"
"""Of the released data set, whose citation this is."""
DIGEST_PREFIX = "sha256:"
_DIGEST = re.compile(r"^  description: \"?sha256:([0-9a-f]{64})\"?$", re.MULTILINE)


# Config version of the layout; the content is told apart by the digest in its description.
LAYOUT_VERSION = "1.0.0"


def render_card(
    title: str, digest: str, tables: Mapping[tuple[str, str], tuple[int, int]],
    books: Sequence[Mapping[str, object]], notes: Sequence[str], licences: Sequence[tuple[str, str]],
    citation: str,
) -> str:  # fmt: skip
    """The whole README.md: YAML head, then the page.

    `datasets` keys its cache by this YAML alone, never by the parquet files, so both the config version
    and the description carry the content: another build can never be served from a stale cache.

    `digest` is the hex sha256 of the content. `tables` are the files that there are, by config and split: how
    many documents, and their size in memory in bytes. `books` has one row per book: doc_key, split, tokens,
    sentences, characters, mentions, text (where the text came from), check (how its tokens were verified).
    """
    released = set(CARD["bookcoref_licences"].items()) <= set(licences)
    # In the description that `datasets` shows: which books are of another edition
    keys = [str(row["doc_key"]) for row in books if row.get("check") == "remapped"]
    note = f". REMAPPED onto another edition, not the released tokens: {', '.join(keys)}" if keys else ""
    infos, configs, counts = [], [], []
    for config in CONFIGS:
        there = {split: tables[config, split] for split in SPLITS if (config, split) in tables}
        splits = "".join(
            f"  - name: {split}\n    num_bytes: {size}\n    num_examples: {number}\n"
            for split, (number, size) in there.items()
            if number
        )
        told = {
            "description": f"{title}, {DESCRIPTIONS[config]}{note}", "citation": citation.strip(),
            "homepage": HOMEPAGE if released else "",
            "license": "; ".join(f"{part}: {text}" for part, text in licences),
        }  # fmt: skip
        info = "".join(f"  {name}: {_quoted(text)}\n" for name, text in told.items() if text)
        info = f"- config_name: {config}\n  version: {LAYOUT_VERSION}\n{info}{CARD['features']}"
        infos.append(f"{info}  splits:\n{splits}".rstrip())
        default = "  default: true\n" if config == "full" else ""
        files = "".join(f"\n  - split: {split}\n    path: {config}/{split}.parquet" for split in there)
        configs.append(
            f"- config_name: {config}\n{default}  version: {LAYOUT_VERSION}\n"
            f'  description: "{DIGEST_PREFIX}{digest}"\n  data_files:{files}'
        )
        counts.append(markdown_row([f"`{config}`", *(there.get(split, (0, 0))[0] for split in SPLITS)]))
    head = "\n".join(
        [
            "---", "language:\n- en", "pretty_name: " + _quoted(title),
            "tags:\n- coreference-resolution\n- books\n- project-gutenberg", "dataset_info:",
            *infos, "configs:", *configs, "---",
        ]
    )  # fmt: skip
    columns = ("doc_key", "split", "tokens", "sentences", "characters", "mentions", "text", "check")
    said = {
        "title": title, "digest": digest, "citation": citation, "counts": "\n".join(counts),
        "columns": " | ".join(columns), "rule": "---|" * len(columns),
        "rows": "\n".join(markdown_row(row.get(c) for c in columns) for row in books),
        "notes": "\n".join(f"- {note}" for note in notes),
        "licences": "\n".join(f"- **{part}**: {text}" for part, text in licences),
    }  # fmt: skip
    page = CARD["page"] + (CARD["cited"] if citation else "")
    return f"{head}\n\n{Template(page).substitute(said)}"


def card_digest(card: str) -> str | None:
    """The content digest a card states, or None when it is not a card of ours."""
    found = _DIGEST.search(card)
    return found[1] if found else None


def card_says(card: str) -> tuple[list[tuple[str, str]], str]:
    """The licences and the citation that a card of ours states."""
    cited = re.search(r'^  citation: (".*")$', card, re.MULTILINE)
    licences = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", card, re.MULTILINE)
    return licences, json.loads(cited[1]) if cited else ""


def card_files(card: str) -> list[str]:
    """The data files that a card points to, as `datasets` reads them."""
    return re.findall(r"^ +(?:- )?path: *(.+?) *$", card.split("\n---\n", 1)[0], re.MULTILINE)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
