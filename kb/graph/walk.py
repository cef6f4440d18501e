"""Start nodes + a function from a node to its edges → the best walks of at most 3 edges, by beam search. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, nsmallest

from kb.graph.names import name_key
from kb.graph.records import HIGH_SIGNAL_PREDICATES, PREDICATES, Edge, Node, Path
from kb.graph.render import LONGEST_EDGES, render_edges, score_edges, score_hits

_PREDICATE_RANKS = {predicate: rank for rank, predicate in enumerate(PREDICATES)}
_HIGH_SIGNALS = len(HIGH_SIGNAL_PREDICATES)  # they stand first in PREDICATES
# (node, only relations?) → its edges, best first, in a fixed order.
Expand = Callable[[Node, bool], Sequence[Edge]]
# Walks that are kept after the first and after the second edge. A traversal may take 10 ms at 100,000 chunks
# (benchmarks/graph.py traverse; measured with 12, 16 and 24).
BEAM = 12


@dataclass(slots=True)
class _Walk:
    """nodes, edges; `order` sorts walks, best first, without ties."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    ranks: tuple[int, ...]  # of the start, then of each edge among those of its node
    predicates: tuple[int, ...]
    met: int
    order: tuple[object, ...] = ()


def walk(starts: Sequence[Node], expand: Expand, max_paths: int) -> list[Path]:
    """Walks from the starts, best first: by score, then by how many of the starts they meet, then the shorter.

    A walk of several edges counts when it ends in another start, or in a relation with at most one other edge before it. A
    walk whose relations are all in better walks is left out, even where another document states them.
    """
    goals = frozenset(starts)
    current = [_Walk((start,), (), (number,), (), 1) for number, start in enumerate(dict.fromkeys(starts))]
    found: list[_Walk] = []
    for depth in range(1, LONGEST_EDGES + 1):
        grown = [new for old in current for new in _grow(old, expand, goals, relations_only=depth == LONGEST_EDGES)]
        found += [new for new in grown if depth == 1 or _is_telling(new, goals)]
        current = nsmallest(BEAM, grown, key=lambda w: w.order) if depth < LONGEST_EDGES else []
    return _best(found, max_paths)


def _grow(old: _Walk, expand: Expand, goals: Collection[Node], *, relations_only: bool) -> list[_Walk]:
    grown = []
    last, depth = old.nodes[-1], len(old.edges) + 1
    hits = sum(predicate < _HIGH_SIGNALS for predicate in old.predicates)
    total = sum(old.ranks[1:])
    for rank, edge in enumerate(expand(last, relations_only)):
        other = edge.other(last)
        if _is_back(old, other) or (old.edges and _is_sibling(old.edges[-1], edge, last) and other not in goals):
            continue
        predicate = _PREDICATE_RANKS[edge.predicate]
        ranks, predicates = (*old.ranks, rank), (*old.predicates, predicate)
        goals_met = old.met + (other in goals)
        worth = score_hits(hits + (predicate < _HIGH_SIGNALS), depth)
        order = (-worth, -goals_met, depth, predicates, total + rank, ranks)
        grown.append(_Walk((*old.nodes, other), (*old.edges, edge), ranks, predicates, goals_met, order))
    return grown


def _is_back(old: _Walk, other: Node) -> bool:
    """True for a step back to a node of the walk; nodes of the same name count as one, except two documents."""
    key = name_key(other.label)
    return any(
        other == node or (key == name_key(node.label) and not other.kind == node.kind == "document")
        for node in old.nodes
    )


def _is_sibling(before: Edge, after: Edge, through: Node) -> bool:
    """True for a step from one member of a project or tag to another: it relates neither to the other."""
    return through.kind in ("project", "tag") and before.predicate == after.predicate


def _is_telling(found: _Walk, goals: Collection[Node]) -> bool:
    others = sum(predicate >= _HIGH_SIGNALS for predicate in found.predicates)
    return found.nodes[-1] in goals or (found.predicates[-1] < _HIGH_SIGNALS and others <= 1)


def _best(found: Sequence[_Walk], max_paths: int) -> list[Path]:
    kept: list[Path] = []
    said: set[tuple[Node, str, Node]] = set()
    waiting = [(each.order, each) for each in found]
    heapify(waiting)  # only a few of some thousand are needed
    while waiting and len(kept) < max_paths:
        edges = (candidate := heappop(waiting)[1]).edges
        relations = {_fact(edge) for edge in edges if edge.predicate in HIGH_SIGNAL_PREDICATES}
        facts = {_fact(edge) for edge in edges}
        if not (relations or facts) <= said:
            said |= facts
            kept.append(Path(candidate.nodes, edges, render_edges(edges), score_edges(edges)))
    return kept


def _fact(edge: Edge) -> tuple[Node, str, Node]:
    """The statement of an edge, without its place."""
    return edge.subject, edge.predicate, edge.object
