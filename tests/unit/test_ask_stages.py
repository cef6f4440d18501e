"""The end of an ask's line: whichever way it was left, one function builds the whole answer and one mapping its row."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from kb.ask.answer import build_answer, new_trace_id
from kb.ask.persist import read_embedding, read_request, read_retrieval, to_row
from kb.ask.prompt import TEMPLATES
from kb.ask.records import (
    AnswerCitation,
    AnswerRetrieval,
    AskRequest,
    EmbeddingRef,
    PackedChunk,
    SentenceCheck,
    Verification,
)
from kb.ask.refuse import broke_off, near_citations
from kb.ask.stages import SECOND_TRY, Ended, Findings, Generated, NearPlace, Packed, Question, Written
from kb.ask.stored import keep_prompt, put_together, read_packed
from kb.config import Config
from kb.context.node_input import NodeText
from kb.llm.protocol import Evidence, GenerateRequest
from kb.records import Chunk, Citation, Filters, ModelRef
from kb.store.answers import AnswerRow
from kb.wire import to_json
from tests.schemas import check_wire

REQUEST = AskRequest(
    "And who does it?",
    mode="hybrid",
    k=7,
    filters=Filters(tags=("a", "b"), since="2026-01-01"),
    session_id="s",
    standalone="Who cleans the mirror?",
)
PLACE = Citation(path="a.md", uri="a.md#L1-L2", start_line=1, end_line=2)
CHUNK = Chunk(
    chunk_id=4,
    doc_id=2,
    source="notes",
    path="a.md",
    title="A",
    heading_path=("A", "B"),
    text="The crew cleans the mirror.",
    citation=PLACE,
    token_count=6,
    position=0,
    start=0,
    end=27,
    text_hash="0" * 64,
    tags=("x",),
    indexed_at="2026-11-21T00:00:00Z",
)
SEARCHED = Findings(
    AnswerRetrieval(
        mode="hybrid",
        k=7,
        score_gate=0.01,
        top_score=0.5,
        evidence_gate=0.15,
        evidence_score=0.4,
        chunks_returned=7,
        chunks_used=1,
        corpus_revision=3,
    ),
    embedding=EmbeddingRef(id="encoder", dimensions=4),
    nearest=(NearPlace(PLACE, 0.5),),
)
NOTHING = Findings(replace(SEARCHED.retrieval, top_score=None, evidence_score=None, chunks_returned=0, chunks_used=0))
PACKED = PackedChunk(1, CHUNK, 0.5, "[#1 doc=a.md]\nThe crew cleans the mirror.\n", members=(4, 5))
PROMPT = GenerateRequest(
    system="Answer.",
    user="[#1 doc=a.md]\nThe crew cleans the mirror.\n",
    question="Who cleans the mirror?",
    evidence=(Evidence(1, CHUNK.text, CHUNK.heading_path, 0.7),),
    language="en",
    max_tokens=100,
    temperature=0.5,
    seed=9,
    stop=("\n\n[Question]",),
    evidence_score=0.4,
)
QUESTION = Question(REQUEST, began=0.0)
CHECKS = Verification(
    status="verified",
    verified=1,
    total=1,
    coverage=1.0,
    sentences=(SentenceCheck(start=0, end=20, text="The crew.", markers=(1,), status="verified", score=0.9),),
)


def packed() -> Packed:
    return Packed(
        QUESTION,
        SEARCHED,
        (PACKED,),
        PROMPT,
        (),
        TEMPLATES["rag-v2"]["en"],
        "rag-v2",
        ModelRef("m", "ollama", "d" * 64),
    )


def ended(**more: object) -> Ended:
    p = packed()
    whole = Ended(
        QUESTION, SEARCHED, "The crew [#1].", packed=p.packed, prompt=p.prompt, model=p.model, version=p.version
    )
    return replace(whole, **more)  # type: ignore[arg-type]


WAYS_OUT = {
    "small talk": Ended(Question(AskRequest("Hey!"), 0.0), NOTHING, "Hello!", nodes=(NodeText("user_traits", "", 0),)),
    "a node without documents": Ended(QUESTION, NOTHING, "You told me.", rests_on=("facts",)),
    "nothing found": Ended(QUESTION, SEARCHED, "Not enough evidence.", reason="no_chunks"),
    "weak evidence": Ended(QUESTION, SEARCHED, "No.", reason="weak_evidence", packed=(PACKED,)),
    "aborted before the model was loaded": Ended(
        QUESTION, SEARCHED, "x", reason="llm_stream_aborted", written=Written(finish_reason="aborted")
    ),
    "grounded": ended(
        grounded=True,
        citations=(AnswerCitation(marker=1, citation=PLACE, quote="The crew"),),
        written=Written("The crew [#1].", "stop", 10, 5, first_token_at=1.5, prompt_truncated=False),
        verification=CHECKS,
    ),
    "asked twice": ended(written=Written("Second.", "stop", first_try="First."), reason="llm_self_judge"),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_every_way_out_gives_a_complete_answer_and_its_row(way: str) -> None:
    end = WAYS_OUT[way]
    answer = build_answer(Config(), end)
    check_wire(json.loads(to_json(answer)), "answer.v1")
    assert (answer.answer, answer.refusal_reason, answer.grounded) == (end.text, end.reason, end.grounded)
    assert answer.retrieval == end.findings.retrieval
    if end.model is None:
        assert (answer.model.digest, answer.prompt_template_version) == (None, Config().rag.prompt_template_version)
    row = to_row(answer, end, keep_prompt(end.packed, end.prompt, ()))
    assert read_retrieval(row) == answer.retrieval
    assert read_embedding(row) == answer.embedding
    again = read_request(row)
    assert (again.question, again.standalone, again.filters) == (
        end.question.request.question,
        end.question.request.standalone,
        end.question.request.filters,
    )
    assert again.replay_of == answer.trace_id
    assert (row.model_id, row.model_provider, row.model_digest) == (
        answer.model.id,
        answer.model.provider,
        answer.model.digest,
    )
    assert (row.latency_ms, row.first_token_ms) == (answer.usage.latency_ms, answer.usage.first_token_ms)
    assert (row.seed, row.temperature) == ((9, 0.5) if end.prompt else (None, None))
    assert row.finish_reason == end.written.finish_reason


def test_a_row_keeps_both_tries_and_no_texts_unless_asked_for() -> None:
    end = WAYS_OUT["asked twice"]
    kept = keep_prompt(end.packed, end.prompt, ())
    row = to_row(build_answer(Config(), end), end, kept)
    assert row.raw_answer == f"First.{SECOND_TRY}Second."
    assert row.packed_chunks_json is None
    explained = replace(end, question=replace(QUESTION, request=replace(REQUEST, explain=True)))
    row = to_row(build_answer(Config(), explained), explained, kept)
    assert json.loads(row.packed_chunks_json or "") == [{"marker": 1, "text": CHUNK.text}]


def test_every_column_of_a_row_has_one_source() -> None:
    """Two records with a field of one name would hide each other."""
    end = WAYS_OUT["grounded"]
    answer = build_answer(Config(), end)
    row = to_row(answer, end, keep_prompt(end.packed, end.prompt, ()))
    nothing = {
        "refusal_reason",
        "replay_of",
        "reader",
        "packed_chunks_json",
        "relevance_json",
        "nodes_json",
        "rests_on_json",
    }
    assert {f.name for f in fields(AnswerRow) if getattr(row, f.name) is None} == nothing


def test_a_stored_prompt_is_packed_again_as_it_was() -> None:
    end = WAYS_OUT["grounded"]
    kept = keep_prompt(end.packed, end.prompt, ())
    row = to_row(build_answer(Config(), end), end, kept)
    assert put_together(row, kept.texts) == PROMPT
    (again,) = read_packed(row, kept.texts)
    assert (again.marker, again.chunk, again.score) == (1, CHUNK, 0.5)


@pytest.mark.parametrize(
    ("written", "reason", "says"),
    [
        (Written("x", "stop"), None, ""),
        (Written("x", "aborted", is_interrupted=True), "llm_stream_aborted", "The answer broke off"),
        (Written("x", "length"), "llm_truncated", "The answer was cut"),
        (Written("x", "stop", prompt_truncated=True), "llm_truncated", "The model did not read all"),
    ],
)
def test_an_answer_that_is_not_whole_ends_the_line(written: Written, reason: str | None, says: str) -> None:
    end = broke_off(Generated(packed(), written))
    if reason is None:
        assert end is None
        return
    assert end is not None
    assert (end.reason, end.text.startswith(says), end.grounded) == (reason, True, False)
    assert end.citations == near_citations(SEARCHED)
    assert (end.prompt, end.written) == (PROMPT, written)


def test_trace_ids_sort_by_time() -> None:
    first, second = new_trace_id(), new_trace_id()
    assert first[:13] <= second[:13]
    assert (first[14], len(first)) == ("7", 36)
