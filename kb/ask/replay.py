"""A stored answer → the same question answered again, from the evidence it had or from today's corpus, and what changed.

A replay is an answer like any other: it is stored, with a link to the one it repeats.
"""

from __future__ import annotations

import difflib
import json
import time
from dataclasses import dataclass
from typing import Any, Literal

from kb.ask.node_prompt import base_version
from kb.ask.pipeline import OnEvent, answer_packed, ask
from kb.ask.progress import Progress
from kb.ask.prompt import template_for
from kb.ask.records import Answer, AnswerRetrieval, AskRequest, EmbeddingRef
from kb.ask.stored import as_hits, put_together, read_node_texts, read_packed
from kb.knowledge_base import KnowledgeBase
from kb.records import Filters, SearchResponse
from kb.store.answers import AnswerRow

# What may differ, in the order it is shown; times and counts of tokens differ always and say nothing.
COMPARED = (
    "grounded",
    "refusal_reason",
    "rests_on",
    "answer",
    "raw_answer",
    "citations",
    "verification",
    "packed",
    "prompt_sha256",
    "model_id",
    "model_digest",
    "top_score",
    "evidence_score",
    "finish_reason",
    "prompt_truncated",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that differs between an answer and its replay; citations and passages as their places."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReplay:
    """kb answers replay.

    evidence  packed: the prompt that was sent then, byte for byte; corpus: what is found today
    diff      the two answers as a unified diff, empty when they are the same
    """

    schema_version: Literal["answer_replay.v1"] = "answer_replay.v1"
    trace_id: str
    replay_of: str
    evidence: Literal["packed", "corpus"]
    is_same: bool
    changes: tuple[Change, ...]
    diff: tuple[str, ...]
    answer: Answer


def replay(
    kb: KnowledgeBase, row: AnswerRow, *, is_fresh: bool = False, on_event: OnEvent = lambda event: None
) -> AnswerReplay:
    """Answer the question of a stored answer again.

    is_fresh  search today's corpus, with the same settings; False asks with the stored prompt
    raises    InvalidInput where no prompt was kept, CorruptStore when it is not the one that was sent; ModelError
    """
    if is_fresh:
        answer = ask(kb, request_of(row), on_event)
    else:
        progress = _progress_of(kb, row)
        model = kb.language_model()
        progress.model = model.reference()
        model.context_tokens()  # loads it; a prompt that no longer fits is refused by the server
        answer = answer_packed(kb, progress, model, on_event)
    stored = kb.journal.find_answer(answer.trace_id)
    changes = compare_answers(row, stored)
    return AnswerReplay(
        trace_id=answer.trace_id,
        replay_of=row.trace_id,
        evidence="corpus" if is_fresh else "packed",
        is_same=not changes,
        changes=changes,
        diff=tuple(
            difflib.unified_diff(
                row.answer.splitlines(), stored.answer.splitlines(), row.trace_id, stored.trace_id, lineterm=""
            )
        ),
        answer=answer,
    )


def request_of(row: AnswerRow) -> AskRequest:
    """The question as it was put."""
    stored = json.loads(row.filters_json) if row.filters_json else {}
    kept: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
    return AskRequest(
        question=row.question,
        mode=row.retrieval_mode,
        k=row.retrieval_k,
        filters=Filters(**kept),
        temperature=row.temperature,
        seed=row.seed,
        replay_of=row.trace_id,
        standalone=row.standalone_question,
    )


def compare_answers(before: AnswerRow, after: AnswerRow) -> tuple[Change, ...]:
    """What differs, in the order of COMPARED."""
    one, other = _compared(before), _compared(after)
    return tuple(
        Change(field=name, before=one[name], after=other[name]) for name in COMPARED if one[name] != other[name]
    )


def _compared(row: AnswerRow) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(row, name, None) for name in COMPARED}
    values["prompt_truncated"] = bool(row.prompt_truncated)  # that it could not be told is no difference
    values["citations"] = [
        place["uri"] if place["marker"] is None else f"[#{place['marker']}] {place['uri']}"
        for place in json.loads(row.citations_json)
    ]
    values["packed"] = [f"{place['uri']} {place['text_hash'][:12]}" for place in json.loads(row.packed_json)]
    values["rests_on"] = json.loads(row.rests_on_json) if row.rests_on_json else []
    values["verification"] = json.loads(row.verification_json) if row.verification_json else None
    return values


def _progress_of(kb: KnowledgeBase, row: AnswerRow) -> Progress:
    """An ask as it stood when its prompt was made."""
    texts = kb.journal.packed_texts(row.trace_id)
    prompt = put_together(row, texts)
    packed = read_packed(row, texts)
    request = request_of(row)
    embedding = None
    if row.embedding_model_id is not None:
        embedding = EmbeddingRef(id=row.embedding_model_id, dimensions=row.embedding_dimensions or 0)
    return Progress(
        request=request,
        began=time.perf_counter(),
        template=template_for(base_version(row.prompt_template_version), prompt.language),
        response=SearchResponse(
            query=row.question,
            mode=request.mode,
            hits=as_hits(packed, row),
            took_ms=0.0,
            index_revision=row.corpus_revision,
        ),
        ranked=[(p.chunk, p.score) for p in packed],
        embedding=embedding,
        model=kb.language_model().reference(),
        packed=packed,
        prompt=prompt,
        version=row.prompt_template_version,
        nodes=read_node_texts(row, texts),
        retrieval=AnswerRetrieval(
            mode=request.mode,
            k=row.retrieval_k,
            score_gate=row.score_gate,
            top_score=row.top_score,
            evidence_gate=row.evidence_gate,
            evidence_score=row.evidence_score,
            chunks_returned=row.chunks_returned,
            chunks_used=row.chunks_used,
            corpus_revision=row.corpus_revision,
        ),
    )
