"""An answer → its row in the store, refusals included. Written before anything is shown as final."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from kb.ask.records import Answer, AskRequest, PackedChunk
from kb.context.node_input import NodeText
from kb.knowledge_base import KnowledgeBase
from kb.llm.protocol import GenerateRequest
from kb.records import SearchResponse
from kb.store.answers import AnswerRow, KeptPrompt, time_text
from kb.store.filters import SECONDS_PER_DAY
from kb.store.store import Store

if TYPE_CHECKING:  # a courtesy is stored without them, and does not wait for their import
    from kb.ask.generate import Generated


def new_trace_id() -> str:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits, so that ids sort by time."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | (random >> 68) << 64
    value |= 0b10 << 62 | random & (1 << 62) - 1
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def save(
    kb: KnowledgeBase,
    answer: Answer,
    request: AskRequest,
    *,
    packed: Sequence[PackedChunk] = (),
    prompt: GenerateRequest | None = None,
    generated: Generated | None = None,
    response: SearchResponse | None = None,
    nodes: Sequence[NodeText] = (),
) -> None:
    """Write the row; opens the store for writing just for this, so that asking never holds up an ingest.

    response  what was found; None where nothing was searched
    nodes     the context nodes that were read; those that had something to say are measured, and kept with a prompt
    """
    spoken = [text for text in nodes if text.text]
    kept = _keep_prompt(packed, prompt, spoken if prompt else []) if packed or prompt else KeptPrompt()
    row = _to_row(answer, request, kept, prompt, generated)
    episode = None
    if response is not None and response.trace is not None and kb.config.cswr.keep_episodes:
        from kb.ask.episode import make_episode  # here: a courtesy need not pay for it

        episode = make_episode(kb, answer, packed, response)
    history = kb.config.history
    days = history.keep_days
    oldest_kept = time_text(time.time_ns() - days * SECONDS_PER_DAY * 10**9) if days else None
    with Store(kb.home, write=True) as store:
        store.journal.save_answer(row, kept.texts)
        if spoken:
            store.journal.add_measurements({text.node: text.tokens for text in spoken})
        if episode:
            store.journal.save_episode(episode, kb.config.cswr.keep_episodes)
        if days or history.keep_answers:
            store.journal.prune_answers(history.keep_answers, oldest_kept)


def _keep_prompt(
    packed: Sequence[PackedChunk], prompt: GenerateRequest | None, nodes: Sequence[NodeText]
) -> KeptPrompt:
    from kb.ask.stored import keep_prompt

    return keep_prompt(packed, prompt, nodes)


def _to_row(
    answer: Answer,
    request: AskRequest,
    kept: KeptPrompt,
    prompt: GenerateRequest | None,
    generated: Generated | None,
) -> AnswerRow:
    return AnswerRow(
        trace_id=answer.trace_id,
        question=answer.question,
        answer=answer.answer,
        raw_answer=generated.raw_text() if generated else "",
        grounded=answer.grounded,
        refusal_reason=answer.refusal_reason,
        model_id=answer.model.id,
        model_provider=answer.model.provider,
        model_digest=answer.model.digest,
        embedding_model_id=answer.embedding.id if answer.embedding else None,
        embedding_dimensions=answer.embedding.dimensions if answer.embedding else None,
        prompt_template_version=answer.prompt_template_version,
        prompt_sha256=kept.prompt_sha256,
        retrieval_mode=answer.retrieval.mode,
        retrieval_k=answer.retrieval.k,
        score_gate=answer.retrieval.score_gate,
        top_score=answer.retrieval.top_score,
        evidence_gate=answer.retrieval.evidence_gate,
        evidence_score=answer.retrieval.evidence_score,
        chunks_returned=answer.retrieval.chunks_returned,
        chunks_used=answer.retrieval.chunks_used,
        citations_json=_citations_json(answer),
        packed_json=kept.packed_json,
        packed_chunks_json=kept.packed_texts_json if request.explain else None,
        prompt_tokens=answer.usage.prompt_tokens,
        completion_tokens=answer.usage.completion_tokens,
        latency_ms=answer.usage.latency_ms,
        first_token_ms=answer.usage.first_token_ms,
        temperature=prompt.temperature if prompt else None,
        seed=prompt.seed if prompt else None,
        finish_reason=generated.finish_reason if generated else None,
        session_id=request.session_id,
        corpus_revision=answer.retrieval.corpus_revision,
        created_at=answer.created_at,
        prompt_truncated=generated.prompt_truncated if generated else None,
        prompt_json=kept.prompt_json,
        filters_json=json.dumps(asdict(request.filters), ensure_ascii=False),
        replay_of=request.replay_of,
        verification_json=json.dumps(asdict(answer.verification), ensure_ascii=False) if answer.verification else None,
        relevance_json=_relevance_json(answer),
        nodes_json=kept.nodes_json,
        rests_on_json=json.dumps(answer.rests_on) if answer.rests_on else None,
        standalone_question=request.standalone,
    )


def _relevance_json(answer: Answer) -> str | None:
    """All but the reasons of every node, which only --explain asks for."""
    if answer.relevance is None:
        return None
    return json.dumps(asdict(replace(answer.relevance, decision=None)), ensure_ascii=False)


def _citations_json(answer: Answer) -> str:
    rows = [
        {"marker": c.marker, "uri": c.citation.uri, "path": c.citation.path, "quote": c.quote} for c in answer.citations
    ]
    return json.dumps(rows, ensure_ascii=False)
