"""A document → what stands around it in the graph, as a picture: what leads to it on the left, where it leads on the right.

The layout is worked out here; the template draws it as SVG and lists the same below, for who does not see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from kb.context.graph_surroundings import GraphSurroundings
from kb.errors import NotFound
from kb.frozen import dataclass
from kb.graph.records import PREDICATES, Edge, Node
from kb.library import KnowledgeBase
from kb.page.addresses import document_address
from kb.page.arguments import PlainPage
from kb.records import Citation, Document

# Things on one side of the picture; the others are counted.
MOST_ON_A_SIDE = 12
# In units of the picture, which are pixels of a wide screen.
WIDTH, ROW, TOP, BOX_WIDTH, BOX_HEIGHT = 960, 46, 30, 250, 34
LABEL_CHARS = 30
# Predicate → as it reads from the document, and towards it.
WORDS = {
    "depends_on": ("depends on", "depends on it"),
    "conflicts_with": ("conflicts with", "conflicts with it"),
    "extends": ("extends", "extends it"),
    "resolves": ("resolves", "resolves it"),
    "relates_to_project": ("belongs to", "belongs to it"),
    "links_to": ("links to", "links to it"),
    "tagged": ("is tagged", "is tagged"),
    "mentions": ("mentions", "mentions it"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """One thing beside the document: x and y of its box's left upper corner."""

    label: str
    kind: str
    words: str
    address: str
    place: str
    x: int
    y: int
    is_before: bool

    @property
    def short(self) -> str:
        """Its name, as much as the box has room for."""
        wide = sum(2 if ord(character) > 0x1100 else 1 for character in self.label)
        most = LABEL_CHARS if wide == len(self.label) else LABEL_CHARS // 2
        return self.label if len(self.label) <= most else f"{self.label[: most - 1].rstrip()}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The picture of a document's neighbours; `more` were left out."""

    document: Document
    neighbours: tuple[Neighbour, ...]
    more: int
    height: int
    middle: int


def read_neighbourhood(base: KnowledgeBase, given: PlainPage, doc_id: int) -> Neighbourhood:
    """What stands around a document in the graph.

    raises  NotFound
    """
    kb = base.runtime()
    with kb.snapshot():
        document = kb.corpus.find_document(f"doc:{doc_id}")
        surroundings = GraphSurroundings(kb.corpus.graph)
        node = surroundings.document(doc_id)
        edges = surroundings.edges_of(node, False) if node else ()
        documents = {f"{d.source}/{d.path}": d.doc_id for d in kb.corpus.list_documents()} if edges else {}
    if node is None:
        raise NotFound(f"the graph does not hold {document.path}", fix="ingest it again")
    sides = _sides(node, edges)
    drawn = [side[:MOST_ON_A_SIDE] for side in sides]
    rows = max(*(len(side) for side in drawn), 1)
    neighbours = [
        _neighbour(edge, node, documents, at, len(side), rows, is_before=side is drawn[0])
        for side in drawn
        for at, edge in enumerate(side)
    ]
    height = 2 * TOP + rows * ROW
    return Neighbourhood(
        document=document,
        neighbours=tuple(neighbours),
        more=sum(map(len, sides)) - len(neighbours),
        height=height,
        middle=height // 2,
    )


def _sides(node: Node, edges: Sequence[Edge]) -> tuple[list[Edge], list[Edge]]:
    """The edges that lead to the document, and those that lead from it; relations first, each neighbour once."""
    before: dict[Node, Edge] = {}
    after: dict[Node, Edge] = {}
    for edge in sorted(edges, key=lambda edge: PREDICATES.index(edge.predicate)):
        (after if edge.subject == node else before).setdefault(edge.other(node), edge)
    return list(before.values()), list(after.values())


def _neighbour(
    edge: Edge, node: Node, documents: dict[str, int], at: int, of: int, rows: int, *, is_before: bool
) -> Neighbour:
    other = edge.other(node)
    cited = Citation(path=edge.path, uri=edge.path, start_line=edge.line, end_line=edge.line)
    return Neighbour(
        label=other.label,
        kind=other.kind,
        words=WORDS[edge.predicate][is_before],
        address=_address(other, documents),
        place=document_address(edge.doc_id, cited if edge.line else None),
        x=0 if is_before else WIDTH - BOX_WIDTH,
        y=TOP + (rows - of) * ROW // 2 + at * ROW + (ROW - BOX_HEIGHT) // 2,
        is_before=is_before,
    )


def _address(node: Node, documents: dict[str, int]) -> str:
    """A document itself; of a tag its documents, of anything else a search for it."""
    if node.kind == "document" and node.key in documents:
        return document_address(documents[node.key])
    return f"/?{urlencode({'tags' if node.kind == 'tag' else 'q': node.label}, errors='replace')}"
