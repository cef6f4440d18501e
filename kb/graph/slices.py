"""Paths + the state of the corpus → an admissibility token, and whether a slice still matches its token.

Only a traversal issues a token. Later stages may show fewer paths, but pass the slice on unchanged: a slice with a path
added, dropped or changed does not verify. The token is a digest, not a signature: it reveals mistakes, not forgery.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256

from kb.graph.records import Edge, Node, Path, Slice

TOKEN_VERSION = "kbslice1"
_TOKEN = re.compile(rf"{TOKEN_VERSION}:[0-9a-f]{{64}}")


def is_token(text: str) -> bool:
    """True for what could be a token of this version."""
    return _TOKEN.fullmatch(text) is not None


def issue_token(rows: Iterable[str], corpus_revision: str) -> str:
    """The token of a traversal's rows. Called by kb/context/traverse.py and by nothing else (a test looks).

    rows             of `slice_rows`, in any order
    corpus_revision  of `corpus_stamp`
    """
    return _digest(rows, corpus_revision)


def is_admissible(found: Slice) -> bool:
    """True when these are the paths, the query and the corpus that the token was issued for."""
    rows = slice_rows(found.query, found.project, found.entities, found.paths)
    return found.admissibility_token == _digest(rows, corpus_stamp(found.corpus_revision, found.corpus))


def corpus_stamp(revision: int, corpus: str) -> str:
    """The revision together with the store's own token of it."""
    return f"{revision}:{corpus}"


def slice_rows(query: str, project: str | None, entities: Iterable[Node], paths: Iterable[Path]) -> list[str]:
    """The content of a slice, one line per fact: any change but one of order changes a line."""
    rows = [_line("query", query, project)]
    rows += [_line("entity", *_node(node)) for node in entities]
    for path in paths:
        nodes = [_node(node) for node in path.nodes]
        rows.append(_line("path", path.text, path.base_score, nodes, [_edge(edge) for edge in path.edges]))
    return rows


def _node(node: Node) -> list[str]:
    return [node.kind, node.key, node.label]


def _edge(edge: Edge) -> list[object]:
    ends = [_node(edge.subject), edge.predicate, _node(edge.object)]
    return [*ends, edge.doc_id, edge.source, edge.path, edge.line, edge.position]


def _line(*values: object) -> str:
    return json.dumps(values, ensure_ascii=True)


def _digest(rows: Iterable[str], corpus_revision: str) -> str:
    # JSON keeps the rows apart, so that different sets of rows give different texts.
    text = json.dumps([TOKEN_VERSION, corpus_revision, sorted(rows)])
    return f"{TOKEN_VERSION}:{sha256(text.encode()).hexdigest()}"
