"""What a search found → packs of coherent neighbourhoods: scored, walked through in their documents, merged to passages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kb.frozen import dataclass
from kb.packing.packs import Limits, Pack, Scored, pack_neighbourhoods
from kb.packing.stability import UNKNOWN_STABILITY
from kb.records import Chunk, Ranking
from kb.runtime import Runtime
from kb.search.passages import merge_adjacent
from kb.search.stability import ContextScores, score_chunks
from kb.store.neighbours import PassageText

if TYPE_CHECKING:
    from kb.arrays import FloatVector

# Centres whose surroundings are read, for each pack: some are taken by better packs, or too long.
CENTRES_PER_PACK = 3
# How far a pack may reach to either side: at 200 tokens a chunk, 1,800 tokens are nine of them.
REACH_CHUNKS = 8

Sizer = Callable[[PassageText], int]


@dataclass(frozen=True, slots=True)
class Packing:
    """The packs for one query.

    passages  (passage, score of its best chunk in the search, chunk_ids it is made of), in the order of the packs; a
              passage is a chunk with the text and the lines of several
    scores    of everything that was looked at
    """

    packs: tuple[Pack, ...]
    passages: tuple[tuple[Chunk, float, tuple[int, ...]], ...]
    scores: ContextScores


def pack_found(
    kb: Runtime,
    query: str,
    ranking: Ranking,
    query_vector: FloatVector | None,
    pool: Mapping[int, FloatVector],
    limits: Limits,
    size: Sizer = lambda passage: passage.token_count,
) -> Packing:
    """Pack the neighbourhoods of what was found.

    ranking  (chunk_id, score), best first
    size     what a passage takes of the budgets in `limits`
    """
    scores = score_chunks(kb, query, [i for i, _ in ranking], query_vector, pool)
    order = sorted(scores.rows.values(), key=lambda row: (-row.csw, row.chunk_id))
    centres = [row.chunk_id for row in order[: CENTRES_PER_PACK * limits.most_packs]]
    around = [i for i in kb.corpus.neighbours.chunks_around(centres, REACH_CHUNKS) if i not in scores.rows]
    beside = score_chunks(kb, query, around, query_vector, pool, scores.question)
    scores = replace(scores, rows={**beside.rows, **scores.rows}, texts={**beside.texts, **scores.texts})
    scored = {i: _scored(scores, i, size) for i in scores.rows}
    placed = {(s.doc_id, s.position): s for s in scored.values()}
    packs = pack_neighbourhoods([scored[row.chunk_id] for row in order], placed, limits)
    return Packing(tuple(packs), tuple(_passages(kb, packs, dict(ranking))), scores)


def _scored(scores: ContextScores, chunk_id: int, size: Sizer) -> Scored:
    row, text = scores.rows[chunk_id], scores.texts[chunk_id]
    stability = UNKNOWN_STABILITY if row.stability is None else row.stability
    return Scored(chunk_id, text.doc_id, text.position, size(text), stability, row.csw)


def _passages(
    kb: Runtime, packs: Sequence[Pack], found: Mapping[int, float]
) -> list[tuple[Chunk, float, tuple[int, ...]]]:
    """The packs' texts; packs that touch in one document become one, where the better of them stands."""
    places = {m.chunk_id: (m.doc_id, m.position) for pack in packs for m in pack.members}
    centres = {pack.centre.chunk_id for pack in packs}
    runs: list[list[int]] = []
    for pack in packs:
        run = [m.chunk_id for m in pack.members]
        touching = [other for other in runs if _touch(other, run, places)]
        joined = sorted([*run, *(i for other in touching for i in other)], key=places.__getitem__)
        runs = (
            [joined if other is touching[0] else other for other in runs if other not in touching[1:]]
            if touching
            else [*runs, run]
        )
    chunks = kb.corpus.fetch_chunks(places)
    passages: list[tuple[Chunk, float, tuple[int, ...]]] = []
    for run in runs:
        centre = next((i for i in run if i in centres), run[0])
        best = max((found[i] for i in run if i in found), default=0.0)
        passages += [(p, best, ids) for p, ids in merge_adjacent([chunks[i] for i in run if i in chunks], centre)]
    return passages


def _touch(run: Sequence[int], other: Sequence[int], places: Mapping[int, tuple[int, int]]) -> bool:
    """Whether one run of chunks ends where the other begins."""
    (doc, a), (_, b) = places[run[0]], places[run[-1]]
    (other_doc, c), (_, d) = places[other[0]], places[other[-1]]
    return doc == other_doc and (b + 1 == c or d + 1 == a)
