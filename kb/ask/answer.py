"""Ended → the answer's record. The one place that builds it."""

from __future__ import annotations

import os
import time

from kb.ask.records import Answer, Explanation, PackedView, Usage
from kb.ask.stages import Ended, Question, Written
from kb.config import Config
from kb.llm.references import configured_reference
from kb.store.documents import utc_text


def build_answer(config: Config, ended: Ended) -> Answer:
    """The complete record, however the ask ended; its trace id and time are made here."""
    question, findings = ended.question, ended.findings
    return Answer(
        trace_id=new_trace_id(),
        question=question.request.question,
        answer=ended.text,
        citations=ended.citations,
        grounded=ended.grounded,
        refusal_reason=ended.reason,
        model=ended.model or configured_reference(config.llm),
        embedding=findings.embedding,
        prompt_template_version=ended.version or config.rag.prompt_template_version,
        retrieval=findings.retrieval,
        usage=_usage(question, ended.written),
        created_at=utc_text(),
        verification=ended.verification,
        explanation=_explain(ended) if question.request.explain else None,
        novelty=findings.novelty,
        relevance=question.decision.view(ended.nodes) if question.decision else None,
        rests_on=ended.rests_on,
        standalone_question=question.request.standalone,
        outcome=ended.outcome,
        highlights=_highlights(ended) if ended.grounded else (),
    )


def _highlights(ended: Ended) -> tuple[tuple[int, int], ...]:
    keys = ((quote.at, quote.place.key) for quote in ended.written.quotes)
    return tuple((at + key[0], at + key[1]) for at, key in keys if key)


def new_trace_id() -> str:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits, so that ids sort by time."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | (random >> 68) << 64
    value |= 0b10 << 62 | random & (1 << 62) - 1
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _usage(question: Question, written: Written) -> Usage:
    return Usage(
        prompt_tokens=written.prompt_tokens,
        completion_tokens=written.completion_tokens,
        latency_ms=_milliseconds(question.began, time.perf_counter()),
        first_token_ms=_milliseconds(question.began, written.first_token_at) if written.first_token_at else None,
        prompt_truncated=written.prompt_truncated,
    )


def _milliseconds(began: float, moment: float) -> float:
    return round((moment - began) * 1000, 1)


def _explain(ended: Ended) -> Explanation | None:
    """What --explain adds; None where nothing was searched."""
    findings = ended.findings
    if findings.response is None or findings.response.trace is None:
        return None
    views = [
        PackedView(
            marker=p.marker, chunk_id=p.chunk.chunk_id, score=p.score, citation=p.chunk.citation, text=p.chunk.text
        )
        for p in ended.packed
    ]
    evidence = findings.verdict.view() if findings.verdict else None
    return Explanation(trace=findings.response.trace, packed=tuple(views), evidence=evidence)
