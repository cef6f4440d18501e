"""The graph's rows: what each document contributes, written and removed with it; and the lookups of a traversal.

Which rows name the same thing is decided in kb/context/graph_surroundings.py. Every lookup has a limit and an order that does
not depend on when a document was ingested.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from kb.drafts import EdgeDraft, EndDraft, GraphDraft, NameDraft
from kb.frozen import dataclass
from kb.store.chunks import batches_of


@dataclass(frozen=True, slots=True)
class StoredName:
    """One row of graph_names with its document; see kb.drafts.NameDraft."""

    key: str
    kind: str
    count: int
    form: str
    label: str
    line: int | None
    position: int | None
    doc_id: int
    source: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """One row of graph_edges with the document that states it; see kb.drafts.EdgeDraft."""

    subject: EndDraft
    predicate: str
    object: EndDraft
    line: int | None
    position: int | None
    doc_id: int
    source: str
    path: str
    title: str


_NAME_COLUMNS = "key, kind, -weight, form, label, line, position"
_EDGE_COLUMNS = (
    "subject_kind, subject_key, subject_label, subject_sure, predicate, object_kind, object_key, object_label, object_sure,"
    " line, position"
)
_DOCUMENT = "doc_id, source, path, title"


def place_of(source: str, path: str) -> int:
    """A number that orders documents the same way in every store: 63 bits of a hash of source and path."""
    digest = blake2b(f"{source}\0{path}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


# ---- written with the document


def replace_graph(
    connection: sqlite3.Connection, doc_id: int, source: str, path: str, graph: GraphDraft | None
) -> bool:
    """Put a document's rows in place of those there are; True when they differ. Part of the document's transaction."""
    place = place_of(source, path)
    graph = graph or GraphDraft()
    names = sorted(
        (n.key, n.kind, -n.count, place, doc_id, n.form, n.label, n.line, n.position) for n in _distinct(graph.names)
    )
    edges = [_edge_row(doc_id, place, edge) for edge in graph.edges]
    if names == _name_rows(connection, doc_id) and edges == _edge_rows(connection, doc_id):
        return False
    connection.execute("DELETE FROM graph_names WHERE doc_id = ?", [doc_id])
    connection.execute("DELETE FROM graph_edges WHERE doc_id = ?", [doc_id])
    connection.executemany(f"INSERT INTO graph_names ({_NAME_TABLE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", names)
    marks = ", ".join("?" * len(_EDGE_TABLE.split(", ")))
    connection.executemany(f"INSERT INTO graph_edges ({_EDGE_TABLE}) VALUES ({marks})", edges)
    return True


_NAME_TABLE = "key, kind, weight, place, doc_id, form, label, line, position"
_EDGE_TABLE = f"doc_id, place, is_link, {_EDGE_COLUMNS}"


def _distinct(names: Iterable[NameDraft]) -> Iterable[NameDraft]:
    found: dict[tuple[str, str], NameDraft] = {}
    for name in names:
        found.setdefault((name.kind, name.key), name)
    return found.values()


def _edge_row(doc_id: int, place: int, edge: EdgeDraft) -> tuple[str | int | None, ...]:
    subject, end = edge.subject, edge.object
    ends = [(e.kind, e.key, e.label, int(e.is_sure)) for e in (subject, end)]
    return (
        doc_id,
        place,
        int(edge.predicate == "links_to"),
        *ends[0],
        edge.predicate,
        *ends[1],
        edge.line,
        edge.position,
    )


def _name_rows(connection: sqlite3.Connection, doc_id: int) -> list[tuple[str | int | None, ...]]:
    rows = connection.execute(f"SELECT {_NAME_TABLE} FROM graph_names WHERE doc_id = ?", [doc_id])
    return sorted(rows.fetchall(), key=lambda row: row[:2])


def _edge_rows(connection: sqlite3.Connection, doc_id: int) -> list[tuple[str | int | None, ...]]:
    query = f"SELECT {_EDGE_TABLE} FROM graph_edges WHERE doc_id = ? ORDER BY edge_id"
    return connection.execute(query, [doc_id]).fetchall()


# ---- read by a traversal


def existing_keys(connection: sqlite3.Connection, keys: Iterable[str]) -> set[str]:
    """Those of the keys that some document names."""
    found: set[str] = set()
    for batch in batches_of(keys):
        rows = connection.execute(
            "SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM graph_names WHERE key = value)",
            [json.dumps(batch)],
        )
        found.update(value for (value,) in rows)
    return found


def names_by_key(connection: sqlite3.Connection, key: str, limit: int, kind: str | None = None) -> list[StoredName]:
    """Rows of one key: by kind, then by count, largest first."""
    where, values = ("key = ? AND kind = ?", [key, kind]) if kind else ("key = ?", [key])
    rows = connection.execute(
        f"SELECT {_NAME_COLUMNS}, {_DOCUMENT} FROM graph_names JOIN documents USING (doc_id) WHERE {where}"
        " ORDER BY key, kind, weight, place, doc_id LIMIT ?",
        [*values, limit],
    )
    return [StoredName(*row) for row in rows]


def forms_by_key(connection: sqlite3.Connection, key: str, limit: int) -> list[tuple[str, str, int]]:
    """(kind, form, count) of one key's rows, headings and places left out: one row a document."""
    rows = connection.execute(
        "SELECT kind, form, -weight FROM graph_names WHERE key = ? AND kind <> 'heading' AND form <> 'path' LIMIT ?",
        [key, limit],
    )
    return rows.fetchall()


def names_by_document(connection: sqlite3.Connection, doc_id: int, kind: str, limit: int) -> list[StoredName]:
    """A document's rows of one kind, those that come most first."""
    rows = connection.execute(
        f"SELECT {_NAME_COLUMNS}, {_DOCUMENT} FROM graph_names JOIN documents USING (doc_id)"
        " WHERE doc_id = ? AND kind = ? ORDER BY doc_id, kind, weight, key LIMIT ?",
        [doc_id, kind, limit],
    )
    return [StoredName(*row) for row in rows]


def edges_by_key(connection: sqlite3.Connection, key: str, limit: int, *, relations_only: bool) -> list[StoredEdge]:
    """Relations with an end of this key, then links to it, each at most `limit`, from either side."""
    branches = [
        f"SELECT * FROM (SELECT {_EDGE_COLUMNS}, {_DOCUMENT} FROM graph_edges JOIN documents USING (doc_id)"
        f" WHERE {side} = ?1 AND {extra}is_link = {is_link} ORDER BY {side}, is_link, place, edge_id LIMIT ?2)"
        for is_link in ((0,) if relations_only else (0, 1))
        for side, extra in (("subject_key", "subject_key <> '' AND "), ("object_key", ""))
    ]
    return [_stored_edge(row) for row in connection.execute(" UNION ALL ".join(branches), [key, limit])]


def edges_by_document(
    connection: sqlite3.Connection, doc_id: int, limit: int, *, relations_only: bool
) -> list[StoredEdge]:
    """Relations whose subject is the document itself, then its links, each at most `limit`, in the order of the text."""
    found: list[StoredEdge] = []
    for is_link in (0,) if relations_only else (0, 1):
        rows = connection.execute(
            f"SELECT {_EDGE_COLUMNS}, {_DOCUMENT} FROM graph_edges JOIN documents USING (doc_id)"
            " WHERE doc_id = ? AND is_link = ? AND subject_kind = 'self' ORDER BY doc_id, is_link, edge_id LIMIT ?",
            [doc_id, is_link, limit],
        )
        found += [_stored_edge(row) for row in rows]
    return found


def _stored_edge(row: tuple[Any, ...]) -> StoredEdge:
    kind, key, label, sure, predicate, to_kind, to_key, to_label, to_sure, *rest = row
    subject = EndDraft(str(kind), str(key), str(label), bool(sure))
    return StoredEdge(subject, str(predicate), EndDraft(str(to_kind), str(to_key), str(to_label), bool(to_sure)), *rest)


def count_graph(connection: sqlite3.Connection) -> tuple[dict[str, int], dict[str, int]]:
    """(rows per kind of name, edges per predicate); mentions and tags are rows of names."""
    sql = "SELECT value, count FROM graph_counts WHERE counted = ? AND count > 0 ORDER BY value"
    names, edges = (dict(connection.execute(sql, [counted]).fetchall()) for counted in ("names", "edges"))
    return names, edges
