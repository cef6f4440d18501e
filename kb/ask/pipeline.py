"""A question → a cited answer or a refusal, stored either way: retrieve → gate → pack → prompt → generate → verify → cite → persist.

First of all it is decided which context nodes the question is worth; a courtesy ends there (kb/ask/acknowledge.py).
There are two gates, on the best fused score and on what the hits are worth; neither loads a model. What they refuse a
context node may still answer, said so and not grounded (kb/ask/from_nodes.py).
Single-threaded, in that order. Every way out returns the same complete record and writes its row.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kb.ask import generate as generation
from kb.ask.acknowledge import answer_courtesy
from kb.ask.choose import choose_passages, fetch_candidates
from kb.ask.cite import judge
from kb.ask.explain import explain
from kb.ask.fence import PLACEHOLDER, fence_tag
from kb.ask.from_nodes import find_backing, rests_on_line
from kb.ask.narrow import narrow_citation
from kb.ask.node_prompt import NODES_SUFFIX, render_context, with_context_slot
from kb.ask.node_steps import hold_nodes, speak, speak_of_user, without_documents
from kb.ask.pack import RESERVE_TOKENS, evidence_budget, pack_chunks, pack_passages, with_fence
from kb.ask.persist import new_trace_id, save
from kb.ask.progress import Progress
from kb.ask.prompt import render_user, template_for, uses_fence
from kb.ask.records import (
    Answer,
    AnswerCitation,
    AnswerEvent,
    AnswerInterrupted,
    AnswerRetrieval,
    AskRequest,
    EmbeddingRef,
    PackedChunk,
    RefusalReason,
    Usage,
)
from kb.ask.retry import may_retry, needs_retry, try_again
from kb.ask.situation import Outlook, read_for_prompt, view
from kb.ask.standalone import complete_question
from kb.ask.verify import Checked, verify
from kb.ask.weak_evidence import weak_evidence_lines
from kb.ask.weigh import weigh_evidence
from kb.errors import InvalidInput, NotIndexed
from kb.knowledge_base import KnowledgeBase
from kb.language.registry import question_language
from kb.llm.protocol import Evidence, GenerateRequest, LanguageModel
from kb.llm.references import configured_reference
from kb.llm.server import ContextExceeded
from kb.records import SearchRequest, SearchResponse
from kb.search.pipeline import search
from kb.search.retrieve import UNREAD_SHARE
from kb.store.documents import utc_text
from kb.text import estimate_tokens

if TYPE_CHECKING:  # most questions name no window
    from kb.ask.freshness import Fresh

OnEvent = Callable[[AnswerEvent], None]
NEAR_CANDIDATES = 3
# Of a context that a prompt has exceeded, and of the share it has exceeded it by where the server says so. Markdown has
# up to 1.21 times the tokens that are estimated, Korean 2.6 times with a vocabulary that does not know it
# (benchmarks/prompt_tokens.py); the answer needs room as well.
REPACKED_SHARE = 0.7


def ask(
    kb: KnowledgeBase,
    request: AskRequest,
    on_event: OnEvent = lambda event: None,
    outlook: Outlook | None = None,
) -> Answer:
    """Answer a question from the knowledge base, or refuse.

    on_event  told of the retrieval and of every piece of text as it comes; what it raises does not end the answer
    outlook   what was decided about the context nodes already (`answer_courtesy`); None decides it here
    returns   the answer, after it has been stored
    raises    InvalidInput, NotIndexed; ModelError when the model could not be used at all; AnswerInterrupted after a
              Ctrl-C while the model wrote
    """
    began = time.perf_counter()
    tell = _safely(on_event, kb)
    if not request.question.strip():
        raise InvalidInput("the question is empty", fix="say what to ask, for example: kb ask 'Who owns a value?'")
    if outlook is None:
        courtesy, outlook = answer_courtesy(kb, request)
        if courtesy is not None:
            return courtesy
    request = complete_question(kb, request)
    outlook = outlook.for_question(request.query)
    told = speak_of_user(kb, request, outlook, began)
    if told:
        return _finish(kb, told, grounded=False, reason=None)
    try:
        progress = _retrieve(kb, request, began)
    except NotIndexed:
        progress = without_documents(kb, request, began)
        progress.outlook = outlook
        progress.said = speak(progress)
        if progress.said is None:
            raise
        return _finish(kb, progress, grounded=False, reason=None)
    progress.outlook = outlook
    tell(AnswerEvent(event="retrieval", hits=progress.response.hits))
    refused = _gate(kb, progress)
    if refused:
        return _refuse(kb, progress, refused)
    model = kb.language_model()
    progress.model = model.reference()
    try:
        context = model.context_tokens()
    except KeyboardInterrupt:  # loading a model may take minutes
        progress.generated = generation.Generated(finish_reason="aborted", is_interrupted=True)
        raise AnswerInterrupted(_finish(kb, progress, grounded=False, reason="llm_stream_aborted")) from None
    _pack(kb, progress, context)
    try:
        return answer_packed(kb, progress, model, tell)
    except ContextExceeded as error:
        if len(progress.packed) == 1 and not any(text.text for text in progress.nodes):
            raise
        read, sent = error.details["context_tokens"], error.details["prompt_tokens"]
        share = REPACKED_SHARE * int(read) / int(sent) if read and sent else REPACKED_SHARE
        kb.notify("the prompt was longer than estimated and was refused: asking again with less evidence")
        used = sum(estimate_tokens(packed.entry) for packed in progress.packed)
        _pack(kb, progress, int(context * share), int(used * share))
        return answer_packed(kb, progress, model, tell)


def answer_packed(kb: KnowledgeBase, progress: Progress, model: LanguageModel, tell: OnEvent) -> Answer:
    """The second half of `ask`, from the prompt on; a replayed answer begins here."""
    assert progress.prompt is not None
    progress.generated = generation.generate(
        model, progress.prompt, lambda text: tell(AnswerEvent(event="token", text=text))
    )
    _retry(kb, progress, model)
    if progress.generated.finish_reason == "aborted":
        aborted = _finish(kb, progress, grounded=False, reason="llm_stream_aborted")
        if progress.generated.is_interrupted:
            raise AnswerInterrupted(aborted)
        return aborted
    # Of a prompt that was cut nobody knows which evidence the model has seen: whatever it says is not grounded.
    if progress.generated.finish_reason == "length" or progress.generated.prompt_truncated:
        return _finish(kb, progress, grounded=False, reason="llm_truncated")
    progress.checked = _verify(kb, progress)
    grounded, reason = judge(progress.checked.text, [p.marker for p in progress.packed])
    if grounded and kb.config.rag.require_verified and progress.checked.verification.status == "unsupported":
        grounded, reason = False, "llm_self_judge"
    grounded, reason = hold_nodes(progress, grounded, reason)
    return _refuse(kb, progress, reason) if reason else _finish(kb, progress, grounded=grounded, reason=None)


def _refuse(kb: KnowledgeBase, progress: Progress, reason: RefusalReason) -> Answer:
    """A refusal, unless a context node answers the question in its place; it may not repeat what was shown."""
    if progress.novelty is None or progress.novelty.used != "none":
        progress.said = speak(progress)
    return _finish(kb, progress, grounded=False, reason=None if progress.said else reason)


def _retrieve(kb: KnowledgeBase, request: AskRequest, began: float) -> Progress:
    # The axes of every hit go into the log that thresholds are recalibrated from; who keeps none need not pay for them.
    is_logged = kb.config.cswr.keep_episodes > 0 and not request.is_evaluation
    explain = request.explain or is_logged
    query = SearchRequest(request.query, request.mode, request.k, request.filters, None, explain, trace=True)
    with kb.snapshot():  # the evidence is what was found, whatever a writer does meanwhile
        response = search(kb, query)
        chunks = kb.corpus.fetch_chunks([hit.chunk_id for hit in response.hits])
        candidates = fetch_candidates(kb, response, request.k)
        fresh = _hold_against_shown(kb, request, response)
        model_id, _, dimensions = kb.stored_encoder()
    if response.note and not request.is_evaluation:  # said once for each question of a suite, nobody reads it
        kb.notify(f"note: {response.note}")
    return Progress(
        request=request,
        began=began,
        template=template_for(kb.config.rag.prompt_template_version, question_language(request.query)),
        response=response,
        ranked=[(chunks[hit.chunk_id], hit.retrieval.fusion_score) for hit in response.hits],
        candidates=candidates,
        embedding=None if request.mode == "lexical" else EmbeddingRef(id=model_id, dimensions=dimensions),
        model=configured_reference(kb.config.llm),
        version=kb.config.rag.prompt_template_version,
        fresh=fresh,
    )


def _hold_against_shown(kb: KnowledgeBase, request: AskRequest, response: SearchResponse) -> Fresh | None:
    if request.replay_of is not None or (request.window is None and request.session_id is None):
        return None
    from kb.ask.freshness import hold_against_shown

    return hold_against_shown(kb, response, request)


def _gate(kb: KnowledgeBase, progress: Progress) -> RefusalReason | None:
    """Why the model is not even asked, nor loaded; None when it may be."""
    hits = progress.response.hits
    if not hits:
        return "no_chunks"
    if hits[0].retrieval.fusion_score < kb.config.rag.score_gate:
        return "score_gate"
    # What a model with room enough would be given; one with less gets the best part of it.
    placeholder = PLACEHOLDER if uses_fence(progress.template) else ""
    evidence = pack_chunks(progress.ranked, kb.config.rag.max_context_tokens, placeholder)
    progress.verdict = weigh_evidence(kb, progress.request, progress.response, [p.chunk for p in evidence])
    if progress.fresh:
        from kb.ask.freshness import prefer_fresh

        if prefer_fresh(kb, progress, placeholder):
            return "weak_evidence"
    if progress.verdict.score.probability >= kb.config.rag.evidence_gate:
        return None
    progress.packed = evidence
    return "weak_evidence"


def _pack(kb: KnowledgeBase, progress: Progress, model_context_tokens: int, most_tokens: int | None = None) -> None:
    """Fill the prompt with as much evidence as the model's window leaves room for, or with `most_tokens` of it."""
    request, llm, language = progress.request, kb.config.llm, question_language(progress.request.query)
    version: str = kb.config.rag.prompt_template_version
    template = template_for(version, language)
    fixed = estimate_tokens(template.system) + estimate_tokens(template.user) + estimate_tokens(request.query)
    budget = evidence_budget(kb.config.rag.max_context_tokens, model_context_tokens, fixed, llm.max_answer_tokens)
    budget = budget if most_tokens is None else min(budget, most_tokens)
    progress.packed = _fit(kb, progress, budget, PLACEHOLDER if uses_fence(template) else "")
    # Evidence first: the nodes get what it leaves of the window.
    used = fixed + sum(estimate_tokens(p.entry) for p in progress.packed)
    left = model_context_tokens - used - llm.max_answer_tokens - RESERVE_TOKENS
    hits = tuple(dict.fromkeys(p.chunk.doc_id for p in progress.packed))
    progress.nodes = read_for_prompt(progress.outlook, hits, left) if progress.outlook else ()
    spoken = [text.text for text in progress.nodes if text.text]
    fence = fence_tag(kb.corpus.fence_secret(), [*(p.entry for p in progress.packed), *spoken])
    if uses_fence(template):
        progress.packed = with_fence(progress.packed, fence)
    if spoken:
        template, version = with_context_slot(template, language), version + NODES_SUFFIX
    progress.template, progress.version = template, version
    trace = progress.response.trace
    similarity: dict[int, float | None] = {row.chunk_id: row.score for row in trace.vector} if trace else {}
    similarity |= {hit.chunk_id: hit.retrieval.vector_score for hit in progress.response.hits}
    progress.prompt = GenerateRequest(
        system=template.system,
        user=render_user(
            template,
            request.query,
            [p.entry for p in progress.packed],
            fence,
            render_context(progress.nodes, fence) if spoken else "",
        ),
        question=request.query,
        evidence=tuple(
            Evidence(p.marker, p.chunk.text, p.chunk.heading_path, similarity.get(p.chunk.chunk_id))
            for p in progress.packed
        ),
        language=language,
        max_tokens=llm.max_answer_tokens,
        temperature=llm.temperature if request.temperature is None else request.temperature,
        seed=llm.seed if request.seed is None else request.seed,
        stop=(template.stop,),
        evidence_score=progress.verdict.score.probability if progress.verdict else None,
    )


def _fit(kb: KnowledgeBase, progress: Progress, budget_tokens: int, fence: str) -> list[PackedChunk]:
    """The evidence, chosen as `rag.packing` says."""
    if kb.config.rag.packing == "ranked":
        return pack_chunks(progress.ranked, budget_tokens, fence)
    chosen = choose_passages(kb, progress.response, progress.candidates, progress.request.k, budget_tokens, fence)
    return pack_passages(chosen, budget_tokens, fence)


def _retry(kb: KnowledgeBase, progress: Progress, model: LanguageModel) -> None:
    """Ask once more where the form of the citations is wrong; a second try that is no better leaves the verdict to it."""
    request, first = progress.prompt, progress.generated
    assert request is not None
    if first.finish_reason != "stop" or not may_retry(kb.config.rag, progress.model.provider):
        return
    if needs_retry(first.text, [p.marker for p in progress.packed]):
        # Asked again for markers, a model puts them behind what no passage says.
        if progress.nodes and find_backing(_verify(kb, progress).verification, progress.nodes).nodes:
            return
        # The first prompt stays the answer's: whoever replays it gets to this point again.
        progress.generated = try_again(model, request, first, progress.template, kb.notify)


def _verify(kb: KnowledgeBase, progress: Progress) -> Checked:
    """Hold the answer against the packed passages; by meaning as well where the encoder is loaded and reads it."""
    text, encoder = progress.generated.text, kb.loaded_encoder()
    reads = encoder is not None and encoder.unread_share(text) < UNREAD_SHARE
    return verify(
        text,
        {p.marker: p.chunk for p in progress.packed},
        encoder.encode_sentences if encoder and reads else None,
        retried=progress.generated.first_try is not None,
    )


def _finish(kb: KnowledgeBase, progress: Progress, *, grounded: bool, reason: RefusalReason | None) -> Answer:
    """Build the record, store it, return it."""
    if (
        progress.verdict is None and progress.ranked and not progress.retrieval
    ):  # the score gate came first: scored all the same
        progress.verdict = weigh_evidence(kb, progress.request, progress.response, [c for c, _ in progress.ranked])
    text, citations = _shown(kb, progress, grounded, reason)
    generated, request, hits = progress.generated, progress.request, progress.response.hits
    answer = Answer(
        trace_id=new_trace_id(),
        question=request.question,
        answer=text,
        citations=citations,
        grounded=grounded,
        refusal_reason=reason,
        model=progress.model,
        embedding=progress.embedding,
        prompt_template_version=progress.version,
        retrieval=progress.retrieval
        or AnswerRetrieval(
            mode=request.mode,
            k=request.k,
            score_gate=kb.config.rag.score_gate,
            top_score=hits[0].retrieval.fusion_score if hits else None,
            evidence_gate=kb.config.rag.evidence_gate,
            evidence_score=round(progress.verdict.score.probability, 4) if progress.verdict else None,
            chunks_returned=len(hits),
            chunks_used=sum(max(1, len(p.members)) for p in progress.packed),
            corpus_revision=progress.response.index_revision,
        ),
        usage=Usage(
            prompt_tokens=generated.prompt_tokens,
            completion_tokens=generated.completion_tokens,
            latency_ms=round((time.perf_counter() - progress.began) * 1000, 1),
            first_token_ms=_milliseconds(progress.began, generated.first_token_at),
            prompt_truncated=generated.prompt_truncated,
        ),
        created_at=utc_text(),
        verification=progress.checked.verification if progress.checked else None,
        explanation=explain(progress) if request.explain else None,
        novelty=progress.novelty,
        relevance=view(progress.outlook, progress.nodes) if progress.outlook else None,
        rests_on=progress.rests_on,
        standalone_question=request.standalone,
    )
    if not request.is_evaluation:
        save(
            kb,
            answer,
            request,
            packed=progress.packed,
            prompt=progress.prompt,
            generated=generated,
            response=progress.response,
            nodes=progress.nodes,
        )
    return answer


def _shown(
    kb: KnowledgeBase, progress: Progress, grounded: bool, reason: RefusalReason | None
) -> tuple[str, tuple[AnswerCitation, ...]]:
    """The text to show and the places to list: what is cited, or the nearest candidates of a refusal."""
    checked = progress.checked
    if progress.said:
        return progress.said.text, ()
    if (grounded or progress.rests_on) and checked:
        chunks = {p.marker: p.chunk for p in progress.packed}
        text = checked.text + (rests_on_line(progress.rests_on, progress.request.query) if progress.rests_on else "")
        return text, tuple(narrow_citation(n, chunks[n], checked.windows.get(n, ())) for n in checked.markers)
    if progress.novelty and progress.novelty.used == "none":
        from kb.ask.freshness import NOTHING_NEW

        return NOTHING_NEW[question_language(progress.request.query)], ()
    near = progress.response.hits[:NEAR_CANDIDATES]
    template = progress.template
    said: dict[RefusalReason | None, str] = {
        "llm_stream_aborted": template.aborted,
        "llm_truncated": template.prompt_cut if progress.generated.prompt_truncated else template.truncated,
    }
    lines = [said.get(reason, template.refusal)]
    if reason == "score_gate":
        lines.append(template.near.format(gate=kb.config.rag.score_gate))
        lines += [f" · {hit.citation.uri} (score {hit.retrieval.fusion_score:.2f})" for hit in near]
    if reason == "weak_evidence" and progress.verdict:
        language = question_language(progress.request.query)
        lines += weak_evidence_lines(progress.verdict, kb.config.rag.evidence_gate, language, near)
    return "\n".join(lines), tuple(AnswerCitation(marker=None, citation=hit.citation) for hit in near)


def _milliseconds(began: float, moment: float | None) -> float | None:
    return None if moment is None else round((moment - began) * 1000, 1)


def _safely(on_event: OnEvent, kb: KnowledgeBase) -> OnEvent:
    """A listener that fails or has gone away must not cost the user the stored answer: it is told nothing more."""
    alive = [True]

    def tell(event: AnswerEvent) -> None:
        if alive[0]:
            try:
                on_event(event)
            except Exception as error:
                alive[0] = False
                if not isinstance(error, BrokenPipeError):  # whoever closes a pipe knows
                    kb.notify(f"the answer cannot be shown as it comes: {error!r}")

    return tell
