"""A ranking with the chunks' positions → runs of adjacent chunks worth packing, by relevance with a bonus for neighbours. Pure.

A passage beside other good ones is more likely to be relevant than one alone; a passage that scores far below the best is
left out, however much room remains. `kb.packing.packs` chooses by context stability instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.frozen import dataclass

# The share of both neighbours' scores that is added to a chunk's own score. At 2,000 tokens the span questions'
# recall rises from .930 (0) to .938 (.1); .2 costs nDCG on documents of one or two chunks (benchmarks/context_packs.py).
LIFT = 0.1
# Chunks below this share of the best lifted score stay out: .4 to .55 lose no recall against ranked packing there.
LEAST_SHARE = 0.45


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk that a search found.

    position  0-based in its document
    tokens    what it takes of the budget
    score     0 or more
    """

    chunk_id: int
    doc_id: int
    position: int
    tokens: int
    score: float


def lift_scores(found: Sequence[Found], lift: float = LIFT) -> dict[int, float]:
    """chunk_id → its score plus a share of the scores of the chunks before and after it, where they were found too."""
    placed = {(f.doc_id, f.position): f.score for f in found}
    return {
        f.chunk_id: f.score + lift * sum(placed.get((f.doc_id, f.position + step), 0.0) for step in (-1, 1))
        for f in found
    }


def select_neighbourhoods(
    found: Sequence[Found],
    total_tokens: int,
    most_chunks: int,
    *,
    lift: float = LIFT,
    least_share: float = LEAST_SHARE,
) -> list[list[Found]]:
    """Runs of adjacent chunks of one document, each in reading order, the best run first.

    Chunks are taken by their lifted score, best first, while they fit; a chunk that does not fit is skipped. The first is
    taken whatever its length.

    found        best first; equal scores keep this order
    most_chunks  of all runs together
    least_share  chunks below this share of the best lifted score are left out; 0 for no such bound
    """
    lifted = lift_scores(found, lift)
    # A stable sort: chunks of equal lifted scores keep their rank.
    order = sorted(found, key=lambda f: -lifted[f.chunk_id])
    ranks = {each.chunk_id: rank for rank, each in enumerate(order)}
    chosen: list[Found] = []
    used = 0
    for each in order:
        if len(chosen) == most_chunks or (chosen and lifted[each.chunk_id] < least_share * lifted[order[0].chunk_id]):
            break
        if not chosen or used + each.tokens <= total_tokens:
            chosen.append(each)
            used += each.tokens
    return _runs(chosen, ranks)


def _runs(chosen: Sequence[Found], ranks: Mapping[int, int]) -> list[list[Found]]:
    runs: list[list[Found]] = []
    for each in sorted(chosen, key=lambda f: (f.doc_id, f.position)):
        if runs and (runs[-1][-1].doc_id, runs[-1][-1].position + 1) == (each.doc_id, each.position):
            runs[-1].append(each)
        else:
            runs.append([each])
    return sorted(runs, key=lambda run: min(ranks[f.chunk_id] for f in run))
