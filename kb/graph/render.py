"""A walk → one canonical sentence with its places, and its base score."""

from __future__ import annotations

from collections.abc import Sequence

from kb.graph.records import HIGH_SIGNAL_PREDICATES, Edge

# English whatever language the documents are in: a prompt reads it. Names stay as they are.
_VERBS = {
    "depends_on": "depends on",
    "conflicts_with": "conflicts with",
    "extends": "extends",
    "resolves": "resolves",
    "relates_to_project": "is part of the project",
    "links_to": "links to",
    "tagged": "is tagged",
    "mentions": "mentions",
}
BASE_SCORE = 0.50
HIGH_SIGNAL_BONUS = 0.10
LONG_PENALTY = 0.05
# Walks of this length, the longest there are, get the penalty.
LONGEST_EDGES = 3


def score_edges(edges: Sequence[Edge]) -> float:
    """.50, .10 more for each high-signal edge, .05 less for a walk of all 3 edges; in [0, 1]."""
    return score_hits(sum(edge.predicate in HIGH_SIGNAL_PREDICATES for edge in edges), len(edges))


def score_hits(hits: int, edge_count: int) -> float:
    """`score_edges` from the number of high-signal edges."""
    long = LONG_PENALTY if edge_count >= LONGEST_EDGES else 0.0
    return round(min(1.0, max(0.0, BASE_SCORE + HIGH_SIGNAL_BONUS * hits - long)), 4)


def render_edges(edges: Sequence[Edge]) -> str:
    """`Marigold depends on Tulip; Tulip extends Rose (notes/x.md:12)`: each place once, behind its last clause."""
    clauses: list[str] = []
    for number, edge in enumerate(edges):
        said = f"{_label(edge.subject.label)} {_VERBS[edge.predicate]} {_label(edge.object.label)}"
        is_last_here = number + 1 == len(edges) or edges[number + 1].place() != edge.place()
        clauses.append(f"{said} ({edge.place()})" if is_last_here else said)
    return "; ".join(clauses)


def _label(label: str) -> str:
    return " ".join(label.split())
