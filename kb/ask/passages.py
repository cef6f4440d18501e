"""Judged evidence → the passages that a prompt is packed from: stretches of documents, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.ask.prompt import render_entry
from kb.ask.stages import Judged, Ranked
from kb.frozen import dataclass
from kb.packing.packs import Limits
from kb.packing.sections import REACH_CHUNKS, extend_run
from kb.packing.selection import Found, select_neighbourhoods
from kb.records import Chunk
from kb.runtime import Runtime
from kb.search.passages import merge_adjacent
from kb.search.retrieve import can_read
from kb.text import estimate_tokens

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


def choose_passages(kb: Runtime, judged: Judged, budget_tokens: int, fence: str) -> list[Passage]:
    """The passages for a prompt, best first, made of the request's k chunks at most.

    fence  the tag of the headers, or one that is as long
    """
    if kb.config.rag.packing == "stability":
        return _by_stability(kb, judged, budget_tokens)
    has_vectors = bool(judged.retrieved.response.trace and judged.retrieved.response.trace.vector)
    least_share = kb.config.rag.least_share * (1.0 if has_vectors else WORDS_ALONE)
    candidates = judged.candidates
    if judged.retrieved.has_rank_scores:  # scores that only order say nothing of how far below the best a chunk is
        candidates, least_share = _above(candidates, judged.retrieved.relevance, least_share), 0.0
    chunks = {chunk.chunk_id: chunk for chunk, _ in candidates}
    found = [
        Found(c.chunk_id, c.doc_id, c.position, estimate_tokens(render_entry(MARKER, c, fence)), score)
        for c, score in candidates
    ]
    most = judged.retrieved.question.request.k
    passages = []
    for run in select_neighbourhoods(found, budget_tokens, most, least_share=least_share):
        best = max(run, key=lambda f: (f.score, -f.chunk_id))
        passages += _merged([chunks[f.chunk_id] for f in run], best.chunk_id, best.score)
    return passages


def with_sections(kb: Runtime, passages: Sequence[Passage]) -> list[Passage]:
    """The passages with the rest of their sections; those that meet then are one, where the better of them stood."""
    found = {chunk_id for passage in passages for chunk_id in passage.members}
    around = kb.corpus.fetch_chunks(kb.corpus.neighbours.chunks_around(found, REACH_CHUNKS))
    placed: dict[int, dict[int, Chunk]] = {}
    for chunk in around.values():
        placed.setdefault(chunk.doc_id, {})[chunk.position] = chunk
    runs: list[tuple[Passage, dict[int, Chunk]]] = []
    for passage in passages:
        found_run = [around[chunk_id] for chunk_id in passage.members if chunk_id in around]
        # A document may have been replaced since it was found: what was found of it stands alone then.
        whole_run = extend_run(found_run, placed[found_run[0].doc_id]) if found_run else [passage.chunk]
        wide = {chunk.position: chunk for chunk in whole_run}
        doc_id = passage.chunk.doc_id
        met = [
            n
            for n, (other, taken) in enumerate(runs)
            if other.chunk.doc_id == doc_id and not taken.keys().isdisjoint(wide)
        ]
        best = runs[met[0]][0] if met else passage
        for n in met:
            wide |= runs[n][1]
        runs = [run for n, run in enumerate(runs) if n not in met]
        runs.insert(met[0] if met else len(runs), (best, wide))
    # What a page, or text that is in no chunk, parts from all that was found stays out.
    return [
        merged
        for passage, taken in runs
        for merged in _merged([taken[p] for p in sorted(taken)], passage.chunk.chunk_id, passage.score)
        if not found.isdisjoint(merged.members)
    ]


def _merged(run: Sequence[Chunk], centre: int, score: float) -> list[Passage]:
    """Adjacent chunks as one passage, or as several where a page ends between them."""
    return [Passage(chunk, score, members) for chunk, members in merge_adjacent(run, centre)]


def _above(candidates: Ranked, relevance: Mapping[int, float], least_share: float) -> Ranked:
    """The candidates, in their order, whose relevance is at least this share of the most relevant one's."""
    best = max((relevance.get(chunk.chunk_id, 0.0) for chunk, _ in candidates), default=0.0)
    return [row for row in candidates if relevance.get(row[0].chunk_id, 0.0) >= least_share * best]


def _by_stability(kb: Runtime, judged: Judged, budget_tokens: int) -> list[Passage]:
    # Imported here: it brings the scoring of context stability, which few questions are packed by.
    from kb.search.passage_packs import pack_found

    response, candidates = judged.retrieved.response, judged.candidates
    has_vectors = response.mode != "lexical" and can_read(kb, response.query)
    query = kb.encode_query(response.query) if has_vectors else None
    ranking = [(chunk.chunk_id, score) for chunk, score in candidates]
    with kb.snapshot():
        packing = pack_found(kb, response.query, ranking, query, {}, Limits(total_tokens=budget_tokens))
    # Documents may have been replaced since they were found.
    return [Passage(chunk, score, members) for chunk, score, members in packing.passages] or [
        Passage(chunk, score, (chunk.chunk_id,)) for chunk, score in candidates[:1]
    ]
