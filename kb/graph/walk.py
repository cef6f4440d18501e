"""Start nodes + a way to ask for a node's edges → the best walks of at most 3 edges. Pure; knows no store.

Bounded whatever the graph is like: at every step the most promising walks go on, the others end where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kb.graph.records import HIGH_SIGNAL_PREDICATES, PREDICATES, Edge, Node, Path
from kb.graph.render import LONGEST_EDGES, render_edges, score_edges

# (node, whether only relations are wanted) → its edges, most telling first, in an order that is always the same.
Expand = Callable[[Node, bool], Sequence[Edge]]
# Walks that go on after the first and after the second edge. Each is a handful of lookups: benchmarks/graph.py.
BEAM = 24


@dataclass(frozen=True, slots=True)
class _Walk:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    ranks: tuple[int, ...]  # of each edge among those of its node


def walk(starts: Sequence[Node], expand: Expand, max_paths: int) -> list[Path]:
    """Walks from the starts, best first: by score, then by how many of the starts they meet, then the shorter.

    A walk of several edges counts when it ends in a relation or in another start; one that is part of a better one is
    left out.
    """
    goals = frozenset(starts)
    current = [_Walk((start,), (), ()) for start in dict.fromkeys(starts)]
    found: list[_Walk] = []
    for depth in range(1, LONGEST_EDGES + 1):
        grown = [new for old in current for new in _grow(old, expand, relations_only=depth == LONGEST_EDGES)]
        found += [new for new in grown if depth == 1 or _is_telling(new, goals)]
        current = sorted(grown, key=lambda w: _order(w, goals))[:BEAM]
    return _best(found, goals, max_paths)


def _grow(old: _Walk, expand: Expand, *, relations_only: bool) -> list[_Walk]:
    grown = []
    met = {node.key for node in old.nodes}  # a tag and a thing of one name are no step from each other
    for rank, edge in enumerate(expand(old.nodes[-1], relations_only)):
        other = edge.other(old.nodes[-1])
        if other.key not in met:
            grown.append(_Walk((*old.nodes, other), (*old.edges, edge), (*old.ranks, rank)))
    return grown


def _is_telling(found: _Walk, goals: Collection[Node]) -> bool:
    return found.edges[-1].predicate in HIGH_SIGNAL_PREDICATES or found.nodes[-1] in goals


def _order(found: _Walk, goals: Collection[Node]) -> tuple[object, ...]:
    met = sum(node in goals for node in found.nodes)
    predicates = tuple(PREDICATES.index(edge.predicate) for edge in found.edges)
    return (-score_edges(found.edges), -met, len(found.edges), predicates, sum(found.ranks), render_edges(found.edges))


def _best(found: Sequence[_Walk], goals: Collection[Node], max_paths: int) -> list[Path]:
    kept: list[tuple[frozenset[Edge], Path]] = []
    texts: set[str] = set()
    for candidate in sorted(found, key=lambda w: _order(w, goals)):
        if len(kept) >= max_paths:
            break
        edges = frozenset(candidate.edges)
        text = render_edges(candidate.edges)
        if text in texts or any(edges <= other for other, _ in kept):
            continue
        texts.add(text)
        kept.append((edges, Path(candidate.nodes, candidate.edges, text, score_edges(candidate.edges))))
    return [path for _, path in kept]
