"""A search's hits → the passages to pack and the chunks each is made of: as ranked, or as neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.ask.prompt import render_entry
from kb.knowledge_base import KnowledgeBase
from kb.rank.packing import Limits
from kb.rank.selection import Found, select_neighbourhoods
from kb.records import Chunk, SearchResponse
from kb.search.passages import merge_adjacent
from kb.search.retrieve import can_read
from kb.text import estimate_tokens

# For every passage that may be retrieved, candidates that neighbourhoods are chosen from.
CANDIDATES_PER_PASSAGE = 3
Candidates = Sequence[tuple[Chunk, float]]
# Scores by words alone spread wider than those that cosines are part of: of the least share, what is asked of them then.
# At .35 the span questions lose no recall at 2,000 tokens, at .5 .8 points (benchmarks/context_packs.py).
WORDS_ALONE = 0.7
# Digits of a marker that stands for any, while passages are measured.
MARKER = 99


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document for the prompt.

    chunk    one chunk, or one with the text and the lines of several that stand side by side
    score    of its best chunk in the search
    members  chunk_ids of what it is made of
    """

    chunk: Chunk
    score: float
    members: tuple[int, ...]


def fetch_candidates(kb: KnowledgeBase, response: SearchResponse, k: int) -> Candidates:
    """What neighbourhoods are chosen from: the ranking, farther down than the hits; empty for ranked packing."""
    if kb.config.rag.packing == "ranked" or response.trace is None:
        return ()
    rows = response.trace.ranking[: CANDIDATES_PER_PASSAGE * k]
    chunks = kb.corpus.fetch_chunks([row.chunk_id for row in rows])
    return [(chunks[row.chunk_id], row.score) for row in rows]


def choose_passages(
    kb: KnowledgeBase, response: SearchResponse, candidates: Candidates, most: int, budget_tokens: int, fence: str
) -> list[Passage]:
    """The neighbourhoods for a prompt, best first.

    most   chunks in all
    fence  the tag of the headers, or one that is as long
    """
    if kb.config.rag.packing == "stability":
        return _by_stability(kb, response, candidates, budget_tokens)
    chunks = {chunk.chunk_id: chunk for chunk, _ in candidates}
    found = [
        Found(c.chunk_id, c.doc_id, c.position, estimate_tokens(render_entry(MARKER, c, fence)), score)
        for c, score in candidates
    ]
    has_vectors = response.trace is not None and bool(response.trace.vector)
    least_share = kb.config.rag.least_share * (1.0 if has_vectors else WORDS_ALONE)
    passages = []
    for run in select_neighbourhoods(found, budget_tokens, most, least_share=least_share):
        best = max(run, key=lambda f: (f.score, -f.chunk_id))
        merged = merge_adjacent([chunks[f.chunk_id] for f in run], best.chunk_id)
        passages += [Passage(chunk, best.score, members) for chunk, members in merged]
    return passages


def _by_stability(
    kb: KnowledgeBase, response: SearchResponse, candidates: Candidates, budget_tokens: int
) -> list[Passage]:
    from kb.search.passage_packs import pack_found  # here: most questions are not packed by it

    has_vectors = response.mode != "lexical" and can_read(kb, response.query)
    query = kb.encode_query(response.query) if has_vectors else None
    ranking = [(chunk.chunk_id, score) for chunk, score in candidates]
    with kb.snapshot():
        packing = pack_found(kb, response.query, ranking, query, {}, Limits(total_tokens=budget_tokens))
    # Documents may have been replaced since they were found.
    return [Passage(chunk, score, members) for chunk, score, members in packing.passages] or [
        Passage(chunk, score, (chunk.chunk_id,)) for chunk, score in candidates[:1]
    ]
