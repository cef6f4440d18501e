"""An answer and what was packed for it → one episode of the log that thresholds are recalibrated from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from kb.ask.records import Answer, PackedChunk
from kb.packing.fit import Question
from kb.records import ChunkAxes, SearchResponse, StabilityTrace
from kb.runtime import Runtime
from kb.search.retrieve import can_read
from kb.search.stability import score_chunks
from kb.store.episodes import EpisodeRow


def make_episode(
    kb: Runtime, answer: Answer, packed: Sequence[PackedChunk], response: SearchResponse
) -> EpisodeRow | None:
    """The log's row: how the question was taken apart, the axes of every hit and packed chunk, and what came of it.

    None where nothing was scored: no hit, or the answer is a replay.
    """
    stability = response.trace.stability if response.trace else None
    if stability is None:
        return None
    packs = [list(p.members) or [p.chunk.chunk_id] for p in packed]
    known = {row.chunk_id for row in stability.chunks}
    rows = [*stability.chunks, *_score(kb, response, stability, [i for pack in packs for i in pack if i not in known])]
    query = {name: value for name, value in asdict(stability).items() if name != "chunks"}
    return EpisodeRow(
        trace_id=answer.trace_id,
        domain=stability.domain,
        query_json=json.dumps(query, ensure_ascii=False),
        axes_json=json.dumps([_numbers(row) for row in rows]),
        packed_json=json.dumps(packs),
        outcome=answer.refusal_reason or "grounded",
        created_at=answer.created_at,
    )


def _score(
    kb: Runtime, response: SearchResponse, stability: StabilityTrace, chunk_ids: Sequence[int]
) -> list[ChunkAxes]:
    if not chunk_ids:
        return []
    query = None
    if response.mode != "lexical" and can_read(kb, response.query):
        query = kb.encode_query(response.query)
    question = Question(stability.entities, stability.facts, stability.intent, stability.shape)
    with kb.snapshot():
        rows = score_chunks(kb, response.query, chunk_ids, query, {}, question).rows
    return [rows[i] for i in chunk_ids if i in rows]


def _numbers(row: ChunkAxes) -> dict[str, float | int]:
    return {name: round(value, 4) for name, value in asdict(row).items() if value is not None}
