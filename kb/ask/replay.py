"""A stored answer → the same question answered again, from the evidence it had or from today's corpus, and what changed.

A replay is an answer like any other: it is stored, with a link to the one it repeats.
"""

from __future__ import annotations

import difflib
import json
import time
from typing import Any, Literal

from kb.ask.answering import answer_packed
from kb.ask.finish import OnEvent
from kb.ask.judge import NEAR_PLACES
from kb.ask.node_prompt import base_version
from kb.ask.persist import read_embedding, read_request, read_retrieval
from kb.ask.pipeline import ask
from kb.ask.prompt import template_for
from kb.ask.records import Answer
from kb.ask.stages import Findings, NearPlace, Packed, Question
from kb.ask.stored import put_together, read_node_texts, read_packed
from kb.frozen import dataclass
from kb.runtime import Runtime
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
    kb: Runtime, row: AnswerRow, *, is_fresh: bool = False, on_event: OnEvent = lambda event: None
) -> AnswerReplay:
    """Answer the question of a stored answer again.

    is_fresh  search today's corpus, with the same settings; False asks with the stored prompt
    raises    InvalidInput where no prompt was kept, CorruptStore when it is not the one that was sent; ModelError
    """
    if is_fresh:
        answer = ask(kb, read_request(row), on_event)
    else:
        packed = read_stored(kb, row)
        model = kb.language_model()
        model.context_tokens()  # loads it; a prompt that no longer fits is refused by the server
        answer = answer_packed(kb, packed, model, on_event)
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


def read_stored(kb: Runtime, row: AnswerRow) -> Packed:
    """A stored answer as it stood when its prompt was made."""
    texts = kb.journal.packed_texts(row.trace_id)
    prompt = put_together(row, texts)
    packed = read_packed(row, texts)
    findings = Findings(
        retrieval=read_retrieval(row),
        embedding=read_embedding(row),
        nearest=tuple(NearPlace(p.chunk.citation, p.score) for p in packed[:NEAR_PLACES]),
    )
    return Packed(
        question=Question(read_request(row), time.perf_counter()),
        findings=findings,
        packed=packed,
        prompt=prompt,
        nodes=read_node_texts(row, texts),
        template=template_for(base_version(row.prompt_template_version), prompt.language),
        version=row.prompt_template_version,
        model=kb.language_model().reference(),
    )
