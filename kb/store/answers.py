"""Answers in the store: every answer is written, refusals included, before anything is printed as final."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields

from kb.errors import NotFound
from kb.store.database import transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One row of `answers`; the columns are a published contract. Hashes are hex, times milliseconds.

    answer, raw_answer  what the user is shown, and what the model wrote
    packed_json         chunk id, text hash, score and span of every packed chunk
    packed_chunks_json  their full texts; None unless asked for with --explain
    """

    trace_id: str
    question: str
    answer: str
    raw_answer: str
    grounded: bool
    refusal_reason: str | None
    model_id: str
    model_provider: str
    model_digest: str | None
    embedding_model_id: str | None
    embedding_dimensions: int | None
    prompt_template_version: str
    prompt_sha256: str | None
    retrieval_mode: str
    retrieval_k: int
    score_gate: float
    top_score: float | None
    evidence_gate: float | None
    evidence_score: float | None
    chunks_returned: int
    chunks_used: int
    citations_json: str
    packed_json: str
    packed_chunks_json: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: float
    first_token_ms: float | None
    temperature: float | None
    seed: int | None
    finish_reason: str | None
    session_id: str | None
    corpus_revision: int
    created_at: str


_COLUMNS = [f.name for f in fields(AnswerRow)]


def save_answer(connection: sqlite3.Connection, row: AnswerRow) -> None:
    """Write one answer."""
    values = [getattr(row, name) for name in _COLUMNS]
    with transaction(connection):
        connection.execute(
            f"INSERT INTO answers ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})", values
        )


def list_answers(connection: sqlite3.Connection, limit: int) -> list[AnswerRow]:
    """The newest answers, newest first."""
    rows = connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM answers ORDER BY created_at DESC, trace_id DESC LIMIT ?", [limit]
    )
    return [_to_row(row) for row in rows]


def find_answer(connection: sqlite3.Connection, trace_id: str) -> AnswerRow:
    """The answer with this trace id, or with the only one that begins so.

    raises  NotFound
    """
    rows = connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM answers WHERE substr(trace_id, 1, ?) = ? LIMIT 2",
        [len(trace_id), trace_id.lower()],
    ).fetchall()
    if len(rows) != 1:
        problem = f"no answer '{trace_id}'" if not rows else f"several answers begin with '{trace_id}'"
        raise NotFound(problem, fix="see them with: kb answers list")
    return _to_row(rows[0])


def _to_row(values: tuple[object, ...]) -> AnswerRow:
    named = dict(zip(_COLUMNS, values, strict=True))
    named["grounded"] = bool(named["grounded"])
    return AnswerRow(**named)  # type: ignore[arg-type]
