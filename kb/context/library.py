"""The documents → lines: the gists of those that were hit, and the open items of all."""

from __future__ import annotations

from kb.context.node_input import QUOTED_CHARS, NodeInput, quote
from kb.context.question_subjects import asks_about

# A gist takes about 90 tokens; five fill the node's estimate.
GISTS = 5
ITEMS = 30


def tell_gists(given: NodeInput) -> list[str]:
    """What the documents hit are about, best first."""
    if not given.speaks_freely and not asks_about(given.question, "overview"):
        return []
    documents = tuple(dict.fromkeys(given.hit_documents))[:GISTS]
    return [f"- {gist.path}: {quote(gist.text, QUOTED_CHARS)}" for gist in given.corpus.notes.fetch_gists(documents)]


def tell_open_items(given: NodeInput) -> list[str]:
    """How many items are open, and the first of them: newest documents first."""
    if not given.speaks_freely and not asks_about(given.question, "tasks"):
        return []
    total, items = given.corpus.notes.list_open_items(ITEMS)
    if not total:
        return []
    lines = [f"- {item.text} ({item.path}{'' if item.line is None else f':{item.line}'})" for item in items]
    return [f"{total} open items", *lines]
