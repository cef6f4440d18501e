"""An answer → its row in the store and back, refusals included. Written before anything is shown as final.

The one place that knows which column holds which field of an answer.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, fields, replace
from typing import Any

from kb.ask.records import Answer, AnswerRetrieval, AskRequest, EmbeddingRef, Usage
from kb.ask.stages import Ended
from kb.ask.stored import keep_prompt
from kb.records import Filters, ModelRef
from kb.runtime import Runtime
from kb.store.answers import AnswerRow, KeptPrompt, time_text
from kb.store.dates import SECONDS_PER_DAY
from kb.store.episodes import EpisodeRow
from kb.store.store import Store


def save(kb: Runtime, answer: Answer, ended: Ended) -> None:
    """Write the row; opens the store for writing just for this, so that asking never holds up an ingest.

    The context nodes that had something to say are measured, and kept with a prompt.
    """
    spoken = [text for text in ended.nodes if text.text]
    kept = keep_prompt(ended.packed, ended.prompt, spoken)
    row = to_row(answer, ended, kept)
    episode = _episode(kb, answer, ended)
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


def _episode(kb: Runtime, answer: Answer, ended: Ended) -> EpisodeRow | None:
    """What the log for recalibration keeps of an answer; None where it is off, or nothing was scored."""
    response = ended.findings.response
    if not kb.config.cswr.keep_episodes or response is None or response.trace is None:
        return None
    # Imported here: it brings the scoring of context stability, which is off by default.
    from kb.ask.episode import make_episode

    return make_episode(kb, answer, ended.packed, response)


# What a row is made of.
Part = AskRequest | Answer | AnswerRetrieval | Usage | ModelRef | EmbeddingRef | KeptPrompt

# Record → field → column, where the two differ.
_RENAMED: dict[type, dict[str, str]] = {
    AnswerRetrieval: {"mode": "retrieval_mode", "k": "retrieval_k"},
    ModelRef: {"id": "model_id", "provider": "model_provider", "digest": "model_digest"},
    EmbeddingRef: {"id": "embedding_model_id", "dimensions": "embedding_dimensions"},
    KeptPrompt: {"packed_texts_json": "packed_chunks_json"},
}
_COLUMNS = frozenset(f.name for f in fields(AnswerRow))


def to_row(answer: Answer, ended: Ended, kept: KeptPrompt) -> AnswerRow:
    """The row of an answer.

    kept  what is kept of its prompt
    """
    request, written, prompt = ended.question.request, ended.written, ended.prompt
    columns: dict[str, Any] = dict.fromkeys(_RENAMED[EmbeddingRef].values())
    for record in (request, answer, answer.retrieval, answer.usage, answer.model, answer.embedding, kept):
        columns |= _columns_of(record)
    columns |= {
        "raw_answer": written.raw_text(),
        "finish_reason": written.finish_reason,
        "temperature": prompt.temperature if prompt else None,
        "seed": prompt.seed if prompt else None,
        "citations_json": _citations_json(answer),
        "filters_json": _json(asdict(request.filters)),
        "verification_json": _json(asdict(answer.verification)) if answer.verification else None,
        "relevance_json": _relevance_json(answer),
        "rests_on_json": json.dumps(answer.rests_on) if answer.rests_on else None,
    }
    if not request.explain:
        columns["packed_chunks_json"] = None
    return AnswerRow(**columns)


def read_request(row: AnswerRow) -> AskRequest:
    """The question of a stored answer as it was put, to be asked again."""
    stored: dict[str, Any] = json.loads(row.filters_json) if row.filters_json else {}
    filters: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return AskRequest(
        question=row.question,
        mode=row.retrieval_mode,
        k=row.retrieval_k,
        filters=Filters(**filters),
        temperature=row.temperature,
        seed=row.seed,
        replay_of=row.trace_id,
        standalone=row.standalone_question,
    )


def read_retrieval(row: AnswerRow) -> AnswerRetrieval:
    """What was retrieved for a stored answer."""
    return AnswerRetrieval(**_read(AnswerRetrieval, row))


def read_embedding(row: AnswerRow) -> EmbeddingRef | None:
    """The encoder that took part in a stored answer."""
    return None if row.embedding_model_id is None else EmbeddingRef(**_read(EmbeddingRef, row))


def _columns_of(record: Part | None) -> dict[str, Any]:
    """column → value, of those fields of a record that have a column."""
    if record is None:
        return {}
    renamed = _RENAMED.get(type(record), {})
    named = {f.name: renamed.get(f.name, f.name) for f in fields(record)}
    return {column: getattr(record, name) for name, column in named.items() if column in _COLUMNS}


def _read(kind: type[AnswerRetrieval] | type[EmbeddingRef], row: AnswerRow) -> dict[str, Any]:
    """field → value, of a record that a row holds the whole of."""
    renamed = _RENAMED[kind]
    return {f.name: getattr(row, renamed.get(f.name, f.name)) for f in fields(kind)}


def _relevance_json(answer: Answer) -> str | None:
    """All but the reasons of every node, which only --explain asks for."""
    return _json(asdict(replace(answer.relevance, decision=None))) if answer.relevance else None


def _citations_json(answer: Answer) -> str:
    return _json(
        [
            {"marker": c.marker, "uri": c.citation.uri, "path": c.citation.path, "quote": c.quote}
            for c in answer.citations
        ]
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
