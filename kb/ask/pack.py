"""Evidence that passed the gates → chosen, packed and put into the prompt, as long as the model's window allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.ask.compared import with_each
from kb.ask.node_prompt import NODES_SUFFIX, render_context, with_context_slot
from kb.ask.passages import Passage, choose_passages, with_sections
from kb.ask.prompt import PLACEHOLDER, Template, fence_tag, render_entry, render_user, template_for, uses_fence
from kb.ask.records import PackedChunk
from kb.ask.stages import Judged, Packed, Ranked
from kb.ask.subjects import told_of_others
from kb.context.node_input import NodeText
from kb.evidence.subjects import Subjects
from kb.llm.extractive import CONTEXT_TOKENS, PROVIDER
from kb.llm.protocol import Evidence, GenerateRequest
from kb.llm.server import ContextExceeded
from kb.records import ModelRef, SearchResponse
from kb.runtime import Runtime
from kb.search.retrieve import can_read
from kb.text import estimate_tokens

# Kept free beside prompt and question: chat template, rounding of the estimate.
RESERVE_TOKENS = 256
# Of a window that a prompt has exceeded, and of the share it has exceeded it by where the server says so. Markdown has
# up to 1.21 times the tokens that are estimated, Korean 2.6 times with a vocabulary that does not know it
# (benchmarks/prompt_tokens.py); the answer needs room as well.
REPACKED_SHARE = 0.7


def pack_evidence(
    kb: Runtime, judged: Judged, model: ModelRef, window_tokens: int, most_tokens: int | None = None
) -> Packed:
    """Fill the prompt with as much evidence as the model's window leaves room for; context nodes get what is left.

    window_tokens  of the model, prompt and answer together
    most_tokens    of evidence; None for as much as fits
    """
    question, rag, llm = judged.retrieved.question, kb.config.rag, kb.config.llm
    request = question.request
    asked = request.asked(question.language)
    version: str = rag.prompt_template_version
    template = template_for(version, question.language)
    fixed = estimate_tokens(template.system) + estimate_tokens(template.user) + estimate_tokens(asked)
    budget = evidence_budget(rag.max_context_tokens, window_tokens, fixed, llm.max_answer_tokens)
    budget = budget if most_tokens is None else min(budget, most_tokens)
    packed = _fit(kb, judged, budget, template)
    used = count_used(packed)
    if model.provider == PROVIDER:
        packed = _extend(kb, packed, template)
    left = window_tokens - fixed - _entry_tokens(packed) - llm.max_answer_tokens - RESERVE_TOKENS
    doc_ids = tuple(dict.fromkeys(p.chunk.doc_id for p in packed))
    nodes = question.decision.read_for_prompt(doc_ids, left) if question.decision else ()
    spoken = [text.text for text in nodes if text.text]
    fence = fence_tag(kb.corpus.fence_secret(), [*(p.entry for p in packed), *spoken])
    if uses_fence(template):
        packed = with_fence(packed, fence)
    if spoken:
        template, version = with_context_slot(template, question.language), version + NODES_SUFFIX
    retrieval = replace(judged.findings.retrieval, chunks_used=used)
    verdict = judged.findings.verdict
    prompt = GenerateRequest(
        system=template.system,
        user=_user_message(template, asked, packed, nodes, fence),
        question=request.query,
        evidence=_evidence(packed, judged.retrieved.response, judged.retrieved.subjects),
        language=question.language,
        max_tokens=llm.max_answer_tokens,
        temperature=llm.temperature if request.temperature is None else request.temperature,
        seed=llm.seed if request.seed is None else request.seed,
        stop=(template.stop,),
        evidence_score=verdict.score.probability if verdict else None,
        by_meaning=can_read(kb, request.query),
        told_of_others=told_of_others(kb, judged.retrieved, judged.ranked) if model.provider == PROVIDER else (),
    )
    findings = replace(judged.findings, retrieval=retrieval)
    return Packed(question, findings, packed, prompt, nodes, template, version, model)


def pack_less(kb: Runtime, judged: Judged, packed: Packed, window_tokens: int, exceeded: ContextExceeded) -> Packed:
    """The prompt again with less evidence, after the server has refused it as too long.

    raises  what the server said, where there is nothing to leave out
    """
    if len(packed.packed) == 1 and not any(text.text for text in packed.nodes):
        raise exceeded
    read, sent = exceeded.details["context_tokens"], exceeded.details["prompt_tokens"]
    share = REPACKED_SHARE * int(read) / int(sent) if read and sent else REPACKED_SHARE
    kb.notify("the prompt was longer than estimated and was refused: asking again with less evidence")
    used = int(_entry_tokens(packed.packed) * share)
    return pack_evidence(kb, judged, packed.model, int(window_tokens * share), used)


def count_used(packed: Sequence[PackedChunk]) -> int:
    """How many chunks the packed passages are made of."""
    return sum(max(1, len(p.members)) for p in packed)


def _fit(kb: Runtime, judged: Judged, budget_tokens: int, template: Template) -> tuple[PackedChunk, ...]:
    """The evidence, chosen as `rag.packing` says."""
    fence = PLACEHOLDER if uses_fence(template) else ""
    if kb.config.rag.packing == "ranked":
        return pack_chunks(judged.ranked, budget_tokens, fence)
    passages = with_each(choose_passages(kb, judged, budget_tokens, fence), judged.each)
    return pack_passages(passages, budget_tokens, fence)


def _extend(kb: Runtime, packed: Sequence[PackedChunk], template: Template) -> tuple[PackedChunk, ...]:
    """The passages with the rest of their sections, for a model that quotes; the budget is a language model's."""
    fence = PLACEHOLDER if uses_fence(template) else ""
    passages = [Passage(p.chunk, p.score, p.members or (p.chunk.chunk_id,)) for p in packed]
    return pack_passages(with_sections(kb, passages), CONTEXT_TOKENS, fence)


def _user_message(
    template: Template, query: str, packed: Sequence[PackedChunk], nodes: Sequence[NodeText], fence: str
) -> str:
    context = render_context(nodes, fence) if any(text.text for text in nodes) else ""
    return render_user(template, query, [p.entry for p in packed], fence, context)


def _evidence(packed: Sequence[PackedChunk], response: SearchResponse, subjects: Subjects) -> tuple[Evidence, ...]:
    """The packed passages with their cosines to the question, for a model that quotes."""
    cosines: dict[int, float | None] = (
        {row.chunk_id: row.score for row in response.trace.vector} if response.trace else {}
    )
    cosines |= {hit.chunk_id: hit.retrieval.vector_score for hit in response.hits}
    return tuple(
        Evidence(
            p.marker,
            p.chunk.text,
            p.chunk.heading_path,
            cosines.get(p.chunk.chunk_id),
            subjects.hinted_of(p.chunk.doc_id),
            subjects.not_of(p.chunk.doc_id),
        )
        for p in packed
    )


def _entry_tokens(packed: Sequence[PackedChunk]) -> int:
    return sum(estimate_tokens(p.entry) for p in packed)


def evidence_budget(max_context_tokens: int, model_context_tokens: int, fixed_tokens: int, answer_tokens: int) -> int:
    """Tokens that evidence may take: the configured ceiling, or what the model's window leaves, whichever is less.

    fixed_tokens   system prompt and question
    answer_tokens  kept free for the answer, which shares the window
    """
    return min(max_context_tokens, model_context_tokens - fixed_tokens - answer_tokens - RESERVE_TOKENS)


def pack_passages(passages: Sequence[Passage], budget_tokens: int, fence: str = "") -> tuple[PackedChunk, ...]:
    """Number passages in order and take those that fit; one that does not is passed over, the first always goes in.

    fence  as in `pack_chunks`
    """
    packed: list[PackedChunk] = []
    used = 0
    for passage in passages:
        entry = render_entry(len(packed) + 1, passage.chunk, fence)
        size = estimate_tokens(entry)
        if not packed or used + size <= budget_tokens:
            packed.append(PackedChunk(len(packed) + 1, passage.chunk, passage.score, entry, passage.members))
            used += size
    return tuple(packed)


def pack_chunks(ranked: Ranked, budget_tokens: int, fence: str = "") -> tuple[PackedChunk, ...]:
    """Number chunks in rank order and take them until the next would overflow the budget; the first always goes in.

    ranked  (chunk, score), best first
    fence   the tag of the headers, or one that is as long while it is not known
    """
    packed: list[PackedChunk] = []
    used = 0
    for chunk, score in ranked:
        entry = render_entry(len(packed) + 1, chunk, fence)
        size = estimate_tokens(entry)
        if packed and used + size > budget_tokens:
            break
        packed.append(PackedChunk(len(packed) + 1, chunk, score, entry))
        used += size
    return tuple(packed)


def with_fence(packed: Sequence[PackedChunk], fence: str) -> tuple[PackedChunk, ...]:
    """The same passages with the tag in their headers."""
    return tuple(replace(p, entry=render_entry(p.marker, p.chunk, fence)) for p in packed)
