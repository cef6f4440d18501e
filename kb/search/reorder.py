"""Fused → Ordered by more than relevance: how well passages hold together, and what the reader already has.

Imported only by a search that asks for one of these (kb/search/pipeline.py).
"""

from __future__ import annotations

from kb.packing.known_text import KnownText
from kb.records import Ranking, SearchRequest
from kb.runtime import Runtime
from kb.search.novelty import penalize_hits
from kb.search.records import Calibrated, Fused, Ordered, Varied
from kb.search.show import or_warn
from kb.search.stability import ContextScores, score_chunks
from kb.search.stopwatch import Stopwatch


def reorder(
    kb: Runtime,
    request: SearchRequest,
    fused: Fused,
    calibrated: Calibrated,
    varied: Varied,
    known_text: KnownText | None,
    clock: Stopwatch,
) -> Ordered:
    """The order that is shown: by context stability where search.order says so, then what the reader has comes later.

    known_text  None where it is not known what the reader has
    """
    by_stability = kb.config.search.order == "stability"
    ranking, scores = varied.ranking, None
    if request.explain or by_stability:
        with clock.stage("stability"):
            # What will be shown, or everything that may come to be.
            scored = ranking if by_stability else ranking[: request.k]
            found = fused.candidates
            scores = score_chunks(kb, request.query, [i for i, _ in scored], found.query_vector, found.pool)
        ranking = order_by_stability(ranking, scores) if by_stability else ranking
    penalized = None
    if known_text is not None and kb.config.novelty.enabled:
        with clock.stage("novelty"):
            penalized = or_warn(
                lambda: penalize_hits(kb, request.query, ranking, request.k, known_text),
                "comparing the hits with the seen text",
                kb.notify,
                kb.log,
            )
    if penalized:
        ranking = penalized.ranking
    return Ordered(
        fused=fused,
        calibrated=calibrated,
        varied=varied,
        ranking=ranking,
        kind="csw" if by_stability else fused.kind,
        csw={i: row.csw for i, row in scores.rows.items()} if scores else {},
        stability=scores.trace([i for i, _ in ranking[: request.k]]) if scores else None,
        novelty=penalized.novelty if penalized else {},
        novelty_trace=penalized.trace if penalized else None,
        note=penalized.note if penalized else None,
        why_empty=penalized.why_empty() if penalized else None,
    )


def order_by_stability(ranking: Ranking, scores: ContextScores) -> Ranking:
    """The same chunks with their context stability scores, best first; equals by chunk_id."""
    rows = [(chunk_id, scores.rows[chunk_id].csw) for chunk_id, _ in ranking if chunk_id in scores.rows]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
