"""The fixtures of other rooms that faults need: a tiny mirror and release, a terminal, a fault server."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def _fixtures_of(room: str):
    path = Path(__file__).resolve().parent.parent / room / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"_fault_fixtures_of_{room}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_sources, _workflows, _cli = (_fixtures_of(room) for room in ("sources", "workflows", "cli"))
server, reply, make_book = _sources.server, _sources.reply, _sources.make_book
store, slept, make_fetcher, no_network = (
    _sources.store,
    _sources.slept,
    _sources.make_fetcher,
    _sources.no_network,
)
world, world_template, raw_story = _workflows.world, _workflows.world_template, _workflows.raw_story
terminal = _cli.terminal
