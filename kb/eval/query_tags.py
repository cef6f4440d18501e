"""A query that names its tags → how many of them its results carry, and how many the tag retriever suggests for it."""

from __future__ import annotations

from collections.abc import Sequence

from kb.eval.records import Query, Scores
from kb.knowledge_base import KnowledgeBase
from kb.tags.retriever import suggest_for_query

SUGGESTED = 10


def tag_scores(kb: KnowledgeBase, query: Query, carried: Sequence[Sequence[str]]) -> Scores:
    """Both scores of a query; empty where no tag is expected.

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
    """Share of the expected tags that stand in any of the lists, case and underscores aside; None where none is expected.

    >>> tag_recall(["Optics", "dome"], [("optics",), ("night", "optics")])
    0.5
    """
    there = {_plain(tag) for tags in given for tag in tags}
    wanted = {_plain(tag) for tag in expected}
    return len(wanted & there) / len(wanted) if wanted else None


def _plain(tag: str) -> str:
    return " ".join(tag.casefold().replace("_", " ").split())
