"""Nodes, edges, paths and slices: the result of a walk over the graph."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from kb.frozen import dataclass

NodeKind = Literal["document", "heading", "tag", "project", "entity"]
PREDICATES = (
    "depends_on",
    "conflicts_with",
    "extends",
    "resolves",
    "relates_to_project",
    "links_to",
    "tagged",
    "mentions",
)
# Predicates that state a relation; the others only tell that both were named in one place.
HIGH_SIGNAL_PREDICATES = frozenset(PREDICATES[:5])


@dataclass(frozen=True, slots=True)
class Node:
    """One thing in the graph; equal when kind and key are, whatever the label.

    key    of a document `source/path`, of a heading the same with `#` and its name, else the `name_key`
    label  for people: a title, or the name as it was first written
    """

    kind: NodeKind
    key: str
    label: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """One relation and its place.

    predicate     one of PREDICATES
    doc_id        the document that states it; source and path are the document's
    line          1-based, None where the format has no lines
    position      of its chunk, None outside every chunk (front matter)
    """

    subject: Node
    predicate: str
    object: Node
    doc_id: int = field(compare=False)
    source: str
    path: str
    line: int | None = None
    position: int | None = None

    def other(self, node: Node) -> Node:
        """The node at the other end."""
        return self.object if node == self.subject else self.subject

    def place(self) -> str:
        """`path:line`, or the path alone."""
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Path:
    """A walk of 1 to 3 edges from a thing the query names.

    nodes       in the order of the walk, one more than edges
    text        one canonical sentence, with its places
    base_score  in [0, 1], before any penalty
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    text: str
    base_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The paths of one traversal, best first, with their admissibility token (kb/graph/slices.py).

    entities             the entities of the query, in its order
    admissibility_token  a digest of paths and corpus; it verifies for no other set of paths
    corpus_revision      of the store at the traversal
    corpus               the store's token of that state; it differs between diverged copies of equal revision
    """

    schema_version: Literal["graph.v1"] = "graph.v1"
    query: str
    project: str | None
    entities: tuple[Node, ...]
    paths: tuple[Path, ...]
    admissibility_token: str
    corpus_revision: int
    corpus: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCheck:
    """Whether a token holds for what the same query finds now.

    is_admissible    query, project, paths and corpus are those the token was issued for
    paths            how many there are now
    corpus_revision  of the store now
    """

    schema_version: Literal["token_check.v1"] = "token_check.v1"
    query: str
    project: str | None
    admissibility_token: str
    is_admissible: bool
    paths: int
    corpus_revision: int
