"""Stored rows → nodes and edges: which names mean one thing, which document a link leads to, what recurs enough to be a name.

Decided when the graph is asked, from the rows that are there now: so a link finds a document that came after it, and
nothing depends on the order in which documents were ingested.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.drafts import EndDraft
from kb.graph.names import name_key
from kb.graph.records import Edge, Node
from kb.store.graph import StoredEdge, StoredName
from kb.store.parts import GraphDoor

# A word written like a name is one when so many documents have it, or one document so often.
RECURRENT_DOCUMENTS = 2
RECURRENT_COUNT = 3
# Documents of one name that are told apart before it is given up as ambiguous.
NAMESAKES = 32
# Edges of one node, by kind: relations are rare and wanted, mentions are many and say little.
MOST_RELATIONS = 10
MOST_LINKS = 8
MOST_MENTIONS = 8
# A heading that so many documents have ("Overview") names none of them.
COMMON_HEADING_DOCUMENTS = 4


class GraphSurroundings:
    """The graph around a few nodes, read as it is needed, each thing once."""

    def __init__(self, graph: GraphDoor) -> None:
        self._graph = graph
        self._known: dict[str, bool] = {}
        self._named: dict[tuple[str, str], Node | None] = {}
        self._places: dict[str, Node | None] = {}
        self._doc_ids: dict[Node, int] = {}
        self._expanded: dict[tuple[Node, bool], tuple[Edge, ...]] = {}

    # ---- nodes

    def nodes_named(self, key: str) -> list[Node]:
        """The things of one name: documents, projects, tags, headings, else what recurs or is linked, code or related."""
        rows = {kind: self._graph.names_by_key(key, COMMON_HEADING_DOCUMENTS + 1, kind) for kind in _KINDS}
        nodes = [self._document(row) for row in rows["document"] if row.form != "path"]
        nodes += [Node(kind, key, found[0].label) for kind in ("project", "tag") if (found := rows[kind])]
        if len(rows["heading"]) <= COMMON_HEADING_DOCUMENTS:
            nodes += [self._heading(row) for row in rows["heading"]]
        if rows["entity"] and self.is_known(key):
            sources = dict.fromkeys(row.source for row in rows["entity"])
            if any(self._by_name(key, source) is None for source in sources):
                nodes.append(Node("entity", key, rows["entity"][0].label))
        return list(dict.fromkeys(nodes))

    def document(self, doc_id: int) -> Node | None:
        """A document by its id; None where there is none."""
        rows = self._graph.names_by_document(doc_id, "document", 1)
        return self._document(rows[0]) if rows else None

    def is_known(self, key: str) -> bool:
        """True for the name of a document, project or tag, for what is linked, code or in a relation, and what recurs."""
        known = self._known.get(key)
        if known is None:
            rows = self._graph.forms_by_key(key, RECURRENT_DOCUMENTS + 1)
            recurs = len(rows) >= RECURRENT_DOCUMENTS or sum(count for _, _, count in rows) >= RECURRENT_COUNT
            known = recurs or any(form != "name" for _, form, _ in rows)
            self._known[key] = known
        return known

    def _document(self, row: StoredName | StoredEdge) -> Node:
        node = Node("document", f"{row.source}/{row.path}", row.title)
        self._doc_ids[node] = row.doc_id
        return node

    def _heading(self, row: StoredName) -> Node:
        node = Node("heading", f"{row.source}/{row.path}#{row.key}", row.label)
        self._doc_ids[node] = row.doc_id
        return node

    def _by_name(self, key: str, source: str) -> Node | None:
        """The one document of a source that is called so: by title, else file name, else alias; None for none or several."""
        if (key, source) not in self._named:
            rows = self._graph.names_by_key(key, NAMESAKES, "document")
            found = None
            for forms in (("title", "stem", "alias"), ("title",), ("stem",), ("alias",)):
                several = {row.doc_id: row for row in rows if row.source == source and row.form in forms}
                if len(several) == 1:
                    found = self._document(next(iter(several.values())))
                    break
            self._named[key, source] = found
        return self._named[key, source]

    def _by_place(self, key: str, written: str) -> Node | None:
        """The document at a place, with the very suffix that was written where there are several."""
        if key not in self._places:
            rows = self._graph.names_by_key(key, NAMESAKES, "document")
            rows = sorted((row for row in rows if row.form == "path"), key=lambda row: (row.path != written, row.path))
            self._places[key] = self._document(rows[0]) if rows else None
        return self._places[key]

    def _end(self, end: EndDraft, row: StoredEdge) -> Node | None:
        """An end as a node; None for a bare word that nothing in the corpus backs."""
        if end.kind == "self":
            return self._document(row)
        if end.kind == "document":
            return self._by_place(end.key, end.label) or Node("entity", end.key, end.label)
        if end.kind == "project":
            return Node("project", end.key, end.label)
        if not end.is_sure and not self.is_known(end.key):
            return None
        return self._by_name(end.key, row.source) or Node("entity", end.key, end.label)

    # ---- edges

    def edges_of(self, node: Node, relations_only: bool) -> Sequence[Edge]:
        """The edges at a node: relations, then links, then tags and mentions, each kind bounded."""
        if (node, relations_only) not in self._expanded:
            edges = dict.fromkeys(self._relations(node, relations_only))
            if not relations_only:
                edges |= dict.fromkeys(self._mentions(node))
            self._expanded[node, relations_only] = tuple(edges)
        return self._expanded[node, relations_only]

    def _relations(self, node: Node, relations_only: bool) -> list[Edge]:
        if node.kind in ("heading", "tag"):
            return []
        rows: list[StoredEdge] = []
        if node.kind == "document":
            doc_id = self._doc_ids[node]
            rows += self._graph.edges_by_document(doc_id, MOST_RELATIONS, relations_only=relations_only)
            keys = [name.key for name in self._graph.names_by_document(doc_id, "document", NAMESAKES)]
        else:
            keys = [node.key]
        for key in keys:
            rows += self._graph.edges_by_key(key, MOST_RELATIONS, relations_only=relations_only)
        edges = [edge for row in rows if (edge := self._edge(row)) and node in (edge.subject, edge.object)]
        links = [edge for edge in edges if edge.predicate == "links_to"][:MOST_LINKS]
        return [*(edge for edge in edges if edge.predicate != "links_to"), *links]

    def _edge(self, row: StoredEdge) -> Edge | None:
        subject, end = self._end(row.subject, row), self._end(row.object, row)
        if subject is None or end is None or subject == end:
            return None
        return Edge(subject, row.predicate, end, row.doc_id, row.source, row.path, row.line, row.position)

    def _mentions(self, node: Node) -> list[Edge]:
        if node.kind == "heading":
            doc_id = self._doc_ids[node]
            key = node.key.rpartition("#")[2]
            rows = [r for r in self._graph.names_by_document(doc_id, "heading", NAMESAKES) if r.key == key]
            return [self._said(self._document(row), "mentions", node, row) for row in rows]
        if node.kind == "document":
            return self._mentioned_by(node)
        if node.kind == "project":
            return []
        rows = self._graph.names_by_key(node.key, MOST_MENTIONS, node.kind)
        predicate = "tagged" if node.kind == "tag" else "mentions"
        rows = [row for row in rows if node.kind == "tag" or self._by_name(node.key, row.source) is None]
        return [self._said(self._document(row), predicate, node, row) for row in rows]

    def _mentioned_by(self, node: Node) -> list[Edge]:
        """What a document is tagged with and mentions, and which documents mention it by its name."""
        doc_id = self._doc_ids[node]
        edges = []
        for row in self._graph.names_by_document(doc_id, "tag", MOST_MENTIONS):
            edges.append(self._said(node, "tagged", Node("tag", row.key, row.label), row))
        for row in self._graph.names_by_document(doc_id, "entity", MOST_MENTIONS):
            if self.is_known(row.key):
                named = self._by_name(row.key, row.source) or Node("entity", row.key, row.label)
                edges.append(self._said(node, "mentions", named, row))
        for own in self._graph.names_by_document(doc_id, "document", NAMESAKES):
            if own.form != "path" and self._by_name(own.key, own.source) == node:
                said = self._graph.names_by_key(own.key, MOST_MENTIONS, "entity")
                edges += [self._said(self._document(r), "mentions", node, r) for r in said if r.source == own.source]
        return [edge for edge in edges if edge.subject != edge.object]

    def _said(self, subject: Node, predicate: str, end: Node, row: StoredName) -> Edge:
        return Edge(subject, predicate, end, row.doc_id, row.source, row.path, row.line, row.position)


_KINDS = ("document", "project", "tag", "heading", "entity")


def project_node(neighbourhood: GraphSurroundings, project: str) -> Node | None:
    """The project of a name, None where no document belongs to one of that name."""
    return next((node for node in neighbourhood.nodes_named(name_key(project)) if node.kind == "project"), None)
