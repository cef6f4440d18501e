"""A query → the slice of the graph around the things it names. The one place that issues admissibility tokens."""

from __future__ import annotations

from kb.context.graph_surroundings import GraphSurroundings, project_node
from kb.errors import InvalidInput
from kb.graph.entities import candidates_of, choose_longest
from kb.graph.records import Node, Slice, TokenCheck
from kb.graph.slices import corpus_stamp, is_admissible, is_token, issue_token, slice_rows
from kb.graph.walk import walk
from kb.runtime import Runtime

MAX_PATHS = 12
# Nodes a walk starts from; a query that names more is a page, not a question.
MOST_ENTITIES = 8
# Documents and headings of one name, at most: the first by their order.
MOST_NAMESAKES = 3


def traverse(kb: Runtime, query: str, project: str | None = None, max_paths: int = MAX_PATHS) -> Slice:
    """The paths of at most 3 edges from what the query names, best first; none where it names nothing that is known.

    project  is one more thing to start from, after the query's own; one that no document belongs to changes nothing
    """
    with kb.snapshot():
        state = kb.corpus_state()
        neighbourhood = GraphSurroundings(kb.corpus.graph)
        starts = _starts(kb, neighbourhood, query)
        if project and (node := project_node(neighbourhood, project)):
            starts = list(dict.fromkeys([*starts, node]))
        paths = tuple(walk(starts, neighbourhood.edges_of, max_paths))
    rows = slice_rows(query, project, starts, paths)
    return Slice(
        query=query,
        project=project,
        entities=tuple(starts),
        paths=paths,
        admissibility_token=issue_token(rows, corpus_stamp(state.revision, state.token)),
        corpus_revision=state.revision,
        corpus=state.token,
    )


def check_token(
    kb: Runtime, token: str, query: str, project: str | None = None, max_paths: int = MAX_PATHS
) -> TokenCheck:
    """Walk again as the token's owner did, and see whether the token still is that of what is found.

    raises  InvalidInput for what is no token
    """
    if not is_token(token):
        raise InvalidInput(
            f"'{token}' is no admissibility token",
            fix="copy it whole, with its version: kbslice1:… of kb context or kb graph",
        )
    found = traverse(kb, query, project, max_paths)
    return TokenCheck(
        query=query,
        project=project,
        admissibility_token=token,
        is_admissible=is_admissible(found) and found.admissibility_token == token,
        paths=len(found.paths),
        corpus_revision=found.corpus_revision,
    )


def _starts(kb: Runtime, neighbourhood: GraphSurroundings, query: str) -> list[Node]:
    candidates = candidates_of(query)
    keys = kb.corpus.graph.existing_keys(dict.fromkeys(key for candidate in candidates for key in candidate.keys))
    nodes = {key: named[:MOST_NAMESAKES] for key in sorted(keys) if (named := neighbourhood.nodes_named(key))}
    chosen = [node for key in choose_longest(candidates, nodes) for node in nodes[key]]
    return list(dict.fromkeys(chosen))[:MOST_ENTITIES]
