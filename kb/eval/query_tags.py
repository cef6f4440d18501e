"""A query with expected tags → the shares of them that its results have and that the tag retriever suggests."""

from __future__ import annotations

from collections.abc import Sequence

from kb.eval.records import Query, Scores
from kb.runtime import Runtime
from kb.tags.retriever import suggest_for_query

SUGGESTED = 10


def tag_scores(kb: Runtime, query: Query, carried: Sequence[Sequence[str]]) -> Scores:
    """Both scores of a query; empty without expected tags.

    carried  the tags of the first ten results' documents
    """
    if not query.tags:
        return {}
    return {
        "tag_recall@10": tag_recall(query.tags, carried),
        "suggested_tag_recall@10": tag_recall(
            query.tags, [[row.tag for row in suggest_for_query(kb, query.text, SUGGESTED)]]
        ),
    }


def tag_recall(expected: Sequence[str], given: Sequence[Sequence[str]]) -> float | None:
    """Share of the expected tags found in any of the lists; case and underscores do not matter. None without expected tags.

    >>> tag_recall(["Optics", "dome"], [("optics",), ("night", "optics")])
    0.5
    """
    found = {_plain(tag) for tags in given for tag in tags}
    wanted = {_plain(tag) for tag in expected}
    return len(wanted & found) / len(wanted) if wanted else None


def _plain(tag: str) -> str:
    return " ".join(tag.casefold().replace("_", " ").split())
