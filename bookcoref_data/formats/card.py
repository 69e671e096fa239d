"""The dataset card: what `datasets` reads (YAML) and what a person reads (licences, counts, citation)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template

from .cells import markdown_row
from .schema import CARD, CONFIGS, DESCRIPTIONS, SPLITS

CITATION: str = CARD["citation"]
HOMEPAGE = "https://huggingface.co/datasets/sapienzanlp/bookcoref"
"""Of the released data set, whose citation this is."""
DIGEST_PREFIX = "sha256:"
_DIGEST = re.compile(r"^  description: \"?sha256:([0-9a-f]{64})\"?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What the card states about a build. `counts[config][split]` is the number of documents,
    `sizes[config][split]` their size in memory in bytes.

    `table` has one row per book: doc_key, split, tokens, sentences, characters, mentions, text (where
    the text came from), check (how its tokens were verified). `digest` is the hex sha256 of the content.
    """

    title: str
    digest: str
    version: str
    counts: Mapping[str, Mapping[str, int]]
    sizes: Mapping[str, Mapping[str, int]]
    table: Sequence[Mapping[str, object]]
    notes: Sequence[str]
    licences: Sequence[tuple[str, str]]
    files: Mapping[tuple[str, str], str]
    citation: str


def render_card(facts: CardFacts) -> str:
    """The whole README.md: YAML head, then the page.

    `datasets` keys its cache by this YAML alone, never by the parquet files, so both the config version
    and the description carry the content: another build can never be served from a stale cache.
    """
    released = set(CARD["bookcoref_licences"].items()) <= set(facts.licences)
    # In the description that `datasets` shows: which books are of another edition
    keys = [str(row["doc_key"]) for row in facts.table if row.get("check") == "remapped"]
    note = f". REMAPPED onto another edition, not the released tokens: {', '.join(keys)}" if keys else ""
    infos, configs = [], []
    for config in CONFIGS:
        splits = "".join(
            f"  - name: {split}\n    num_bytes: {facts.sizes[config][split]}\n    num_examples: {number}\n"
            for split in SPLITS
            if (number := facts.counts[config].get(split))
        )
        told = {"description": f"{facts.title}, {DESCRIPTIONS[config]}{note}",
                "citation": facts.citation.strip(),
                "homepage": HOMEPAGE if released else "",
                "license": "; ".join(f"{part}: {text}" for part, text in facts.licences)}  # fmt: skip
        info = "".join(f"  {name}: {_quoted(text)}\n" for name, text in told.items() if text)
        info = f"- config_name: {config}\n  version: {facts.version}\n{info}{CARD['features']}"
        infos.append(f"{info}  splits:\n{splits}".rstrip())
        default = "  default: true\n" if config == "full" else ""
        files = "".join(
            f"\n  - split: {split}\n    path: {facts.files[config, split]}"
            for split in SPLITS
            if (config, split) in facts.files
        )
        configs.append(
            f"- config_name: {config}\n{default}  version: {facts.version}\n"
            f'  description: "{DIGEST_PREFIX}{facts.digest}"\n  data_files:{files}'
        )
    head = "\n".join(
        [
            "---", "language:\n- en", "pretty_name: " + _quoted(facts.title),
            "tags:\n- coreference-resolution\n- books\n- project-gutenberg", "dataset_info:",
            *infos, "configs:", *configs, "---",
        ]
    )  # fmt: skip
    columns = ("doc_key", "split", "tokens", "sentences", "characters", "mentions", "text", "check")
    rows = "\n".join(markdown_row(row.get(c) for c in columns) for row in facts.table)
    counts = "\n".join(
        f"| `{config}` | " + " | ".join(f"{facts.counts[config].get(s, 0):,}" for s in SPLITS) + " |"
        for config in CONFIGS
    )
    licences = "\n".join(f"- **{part}**: {text}" for part, text in facts.licences)
    notes = "\n".join(f"- {note}" for note in facts.notes)
    said = {
        "title": facts.title, "digest": facts.digest, "citation": facts.citation, "counts": counts,
        "columns": " | ".join(columns), "rule": "---|" * len(columns), "rows": rows, "notes": notes,
        "licences": licences,
    }  # fmt: skip
    page = CARD["page"] + (CARD["cited"] if facts.citation else "")
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
