"""A slice → names near the query, with which a search that found nothing new can be expanded."""

from __future__ import annotations

from kb.frozen import dataclass
from kb.graph.names import name_key
from kb.graph.records import HIGH_SIGNAL_PREDICATES, PREDICATES, Node, Slice

# Shares of the path's score for a neighbour by a relation, by a link, and by a common mention.
_BY_RELATION, _BY_LINK, _BY_MENTION = 1.0, 0.6, 0.4


@dataclass(frozen=True, slots=True)
class AdjacentTerm:
    """A name from the graph that the query does not hold.

    predicate  of the edge that leads to it
    kind       of its node: document, heading, tag, project, entity
    weight     in (0, 1], higher is closer
    """

    text: str
    predicate: str | None
    kind: str
    weight: float


def adjacent_terms(found: Slice) -> tuple[AdjacentTerm, ...]:
    """Labels of the nodes on the paths, high-signal predicates first, then by weight.

    Entities and labels of the query itself are left out. Each label appears once, with its best weight; ties by predicate,
    then by label.
    """
    query = f" {name_key(found.query)} "
    best: dict[str, AdjacentTerm] = {}
    for path in found.paths:
        for depth, (edge, node) in enumerate(zip(path.edges, path.nodes[1:], strict=True)):
            key = name_key(node.label)
            if node in found.entities or not key or f" {key} " in query:
                continue
            term = AdjacentTerm(_text(node), edge.predicate, node.kind, _weigh(edge.predicate, depth, path.base_score))
            if key not in best or _order(term) < _order(best[key]):
                best[key] = term
    return tuple(sorted(best.values(), key=_order))


def _text(node: Node) -> str:
    return " ".join(node.label.split())


def _weigh(predicate: str, depth: int, base_score: float) -> float:
    share = (
        _BY_RELATION if predicate in HIGH_SIGNAL_PREDICATES else _BY_LINK if predicate == "links_to" else _BY_MENTION
    )
    return round(base_score * share / (1 + depth), 4)


def _order(term: AdjacentTerm) -> tuple[bool, float, int, str]:
    predicate = term.predicate or ""
    rank = PREDICATES.index(predicate) if predicate in PREDICATES else len(PREDICATES)
    return (predicate not in HIGH_SIGNAL_PREDICATES, -term.weight, rank, term.text)
