"""The network of characters: who speaks to whom, who is mentioned near whom, who shares chapters."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from itertools import combinations

from ..errors import needing
from ..late import nx
from .reading import LaidOutBook

NEAR = 30
"""Tokens within which two mentions of two characters count as near."""


def network(r: LaidOutBook) -> nx.Graph[str]:
    """An undirected graph: characters as nodes, an edge where two of them meet.

    Nodes have `label`, `mentions`, `words_spoken`. Edges have `near` (mentions at most NEAR tokens apart,
    every mention counted with the next one of the other), `spoken` (quotes from one to the other), `chapters`
    (shared) and `weight` (near and spoken together).
    """
    with needing("export", "networkx", "a network of characters"):
        graph: nx.Graph[str] = nx.Graph(doc_key=r.annotation.doc_key)
    _, words = r.spoken(lambda q: (q.speaker,))
    for c in r.mentioned():
        times = len(r.annotation.by_character[c])
        graph.add_node(f"c{c}", label=r.name(c), mentions=times, words_spoken=words[c])
    near: Counter[tuple[int, int]] = Counter()
    marks = r.annotation.mentions
    for i, m in enumerate(marks):
        seen = {m.character}
        for other in marks[i + 1 :]:
            if other.start - m.end > NEAR or other.character == m.character:
                break
            if other.character not in seen:
                near[min(m.character, other.character), max(m.character, other.character)] += 1
                seen.add(other.character)
    said = ((q.speaker, to) for q in r.annotation.quotes for to in {*q.addressees} if to != q.speaker)
    spoken = Counter((min(pair), max(pair)) for pair in said if min(pair) >= 0)
    found: dict[int, set[int]] = defaultdict(set)
    for m in marks:
        found[r.chapter_of(m.start)].add(m.character)
    together = Counter(pair for group in found.values() for pair in combinations(sorted(group), 2))
    for pair in sorted(near.keys() | spoken.keys() | together.keys()):
        a, b = (f"c{c}" for c in pair)
        weight = near[pair] + spoken[pair]
        graph.add_edge(a, b, near=near[pair], spoken=spoken[pair], chapters=together[pair], weight=weight)
    return graph


def graphml(r: LaidOutBook) -> bytes:
    """The network as GraphML, as networkx writes it."""
    graph, buffer = network(r), io.BytesIO()
    nx.write_graphml_xml(graph, buffer)
    return buffer.getvalue()


def gexf(r: LaidOutBook) -> bytes:
    graph, buffer = network(r), io.BytesIO()
    graph.graph.clear()  # the writer takes "mode" and "name" from here and nothing else
    nx.write_gexf(graph, buffer)
    return buffer.getvalue()
