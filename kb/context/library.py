"""The documents → lines: the gists of those that were hit, and the open items of all."""

from __future__ import annotations

from kb.context.bearing import bears_on
from kb.context.occasion import QUOTED_CHARS, Occasion, quote

# A gist takes about 90 tokens; five fill the node's estimate.
GISTS = 5
ITEMS = 30


def tell_gists(occasion: Occasion) -> list[str]:
    """What the documents hit are about, best first."""
    if not occasion.speaks_freely and not bears_on(occasion.question, "overview"):
        return []
    documents = tuple(dict.fromkeys(occasion.hit_documents))[:GISTS]
    return [f"- {gist.path}: {quote(gist.text, QUOTED_CHARS)}" for gist in occasion.corpus.notes.fetch_gists(documents)]


def tell_open_items(occasion: Occasion) -> list[str]:
    """How many items are open, and the first of them: newest documents first."""
    if not occasion.speaks_freely and not bears_on(occasion.question, "tasks"):
        return []
    total, items = occasion.corpus.notes.list_open_items(ITEMS)
    if not total:
        return []
    lines = [f"- {item.text} ({item.path}{'' if item.line is None else f':{item.line}'})" for item in items]
    return [f"{total} open items", *lines]
