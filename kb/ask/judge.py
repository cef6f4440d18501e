"""What was found → evidence good enough to answer from, or a refusal: the score gate, the evidence gate, and novelty.

Neither gate asks a language model; the evidence gate may have the encoder read a few sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.ask.pack import pack_chunks
from kb.ask.prompt import PLACEHOLDER, template_for, uses_fence
from kb.ask.records import AnswerNovelty, AnswerRetrieval, PackedChunk
from kb.ask.refuse import refuse_evidence
from kb.ask.stages import Ended, Findings, Judged, NearPlace, Ranked, Retrieved, UnseenEvidence
from kb.ask.unseen import asks_for_more, carries_the_answer, shown_before_note, shown_in
from kb.ask.weigh import Verdict, weigh_evidence
from kb.evidence.naming import is_name
from kb.language.registry import has_letters, question_language
from kb.records import Chunk
from kb.runtime import Runtime

# The places that a refusal lists.
NEAR_PLACES = 3
# Asked of evidence that lacks a name, a number or the rarest word of the question, in any form (kb/evidence/standing.py).
# A name in Latin letters or a number that no passage holds is always refused ("Who is the CEO …?", .93, where the passages name
# a director): of 405 answerable questions of benchmarks/gate_sets.py 5 lack one, of 717 others 122.
# A verb is often said in another word: of 405 answerable questions 65 lack their rarest word, of 717 others 237, so little more is
# asked of them. Korean writes a number as a word, too: 4 of 228 answerable questions lack one, of 410 others 15.
LACKING_NAME_GATE, LACKING_GATE, LACKING_WORD_GATE = 1.0, 0.5, 0.2
# From this share on most of an English question stands in no passage: of those between the gate and .5 none is answerable, and 8
# are not. A Korean one may be said in other words.
MOST_LACKING = 0.6
# Passages in the question's language are left out where they answer less than this share as likely as others are about it. Of the fixtures'
# questions that other documents alone answer the likeliest is .54; none that its own answer is judged by its subject.
OWN_SHARE = 0.6


def judge_evidence(kb: Runtime, retrieved: Retrieved) -> Judged | Ended:
    """The evidence to answer from; the refusal, or a context node's answer in its place, where it is too weak."""
    question, findings = retrieved.question, _findings(kb, retrieved)
    if not retrieved.ranked:
        return refuse_evidence(kb, question, findings, "no_chunks")
    if retrieved.relevance.get(retrieved.ranked[0][0].chunk_id, 0.0) < kb.config.rag.score_gate:
        # Weighed all the same: the stored answer tells the evidence score of every refusal.
        chunks = [chunk for chunk, _ in retrieved.ranked]
        findings = _with_verdict(
            findings, weigh_evidence(kb, question.request, retrieved.response, chunks, retrieved.subjects)
        )
        return refuse_evidence(kb, question, findings, "score_gate")
    packed, verdict = _weigh(kb, retrieved, retrieved.ranked, retrieved.each)
    judged = Judged(retrieved, _with_verdict(findings, verdict), retrieved.ranked, retrieved.candidates, retrieved.each)
    if retrieved.unseen:
        judged = _prefer_unseen(kb, judged, verdict, retrieved.unseen)
    if judged.findings.novelty and judged.findings.novelty.used == "none":
        return refuse_evidence(kb, question, judged.findings, "weak_evidence")
    weighed = judged.findings.verdict
    if weighed and weighed.score.probability < _gate(kb, weighed, question.request.query):
        return refuse_evidence(kb, question, judged.findings, "weak_evidence", packed)
    own_share = weighed.score.own_share if weighed else None
    is_across = own_share is not None and own_share < OWN_SHARE
    return _prefer_across(judged, question.language) if is_across else judged


def _gate(kb: Runtime, verdict: Verdict, query: str) -> float:
    """The configured gate; a higher one where no passage holds a name, a number or the rarest word; 0 where it is off."""
    gate, weighed = kb.config.rag.evidence_gate, verdict.weighed
    return max(gate, least_probability(weighed.lacking, weighed.lacking_share, query)) if gate else 0.0


def least_probability(lacking: Sequence[str], lacking_share: float, query: str) -> float:
    """What is asked of evidence for what it lacks; 0 where it lacks nothing that counts."""
    most = LACKING_GATE if lacking_share >= MOST_LACKING and not has_letters("ko", query) else 0.0
    return max([most, *(lacking_gate(text, query) for text in lacking)])


def lacking_gate(text: str, query: str) -> float:
    """The least probability at which a question is answered although no passage holds one of its words; 1.0 is never reached.

    >>> lacking_gate("CEO", "Who is the CEO of Rust?"), lacking_gate("Server", "How Do I Start The Server"), lacking_gate("pay", "")
    (1.0, 0.5, 0.2)
    >>> lacking_gate("Oracle", "How do I use FastAPI with Oracle Forms?")
    1.0
    """
    # Of a Hangul word nothing tells whether it is a name, and the documents may say it otherwise: 강풍, 센 바람.
    if not text.isascii() or (text.islower() and text.isalpha()):
        return LACKING_WORD_GATE
    if text[0].isdigit() and has_letters("ko", query):
        return LACKING_WORD_GATE
    return LACKING_NAME_GATE if is_name(text, query) else LACKING_GATE


def _findings(kb: Runtime, retrieved: Retrieved) -> Findings:
    """What the answer tells of the search; the gates' part is filled in by them."""
    request, response = retrieved.question.request, retrieved.response
    reader = kb.reader_for(request.query)
    return Findings(
        retrieval=AnswerRetrieval(
            mode=request.mode,
            k=request.k,
            score_gate=kb.config.rag.score_gate,
            top_score=retrieved.ranked[0][1] if retrieved.ranked else None,
            evidence_gate=kb.config.rag.evidence_gate,
            chunks_returned=len(response.hits),
            chunks_used=0,
            corpus_revision=response.index_revision,
            reader=f"{reader.model_id}@{reader.digest[:12]}" if reader else None,
        ),
        embedding=retrieved.embedding,
        nearest=tuple(
            NearPlace(chunk.citation, retrieved.relevance.get(chunk.chunk_id, 0.0))
            for chunk in _distinct(retrieved.ranked)[:NEAR_PLACES]
        ),
        response=response,
    )


def _with_verdict(findings: Findings, verdict: Verdict | None) -> Findings:
    score = round(verdict.score.probability, 4) if verdict else None
    return replace(findings, verdict=verdict, retrieval=replace(findings.retrieval, evidence_score=score))


def _weigh(
    kb: Runtime, retrieved: Retrieved, ranked: Ranked, each: Ranked = ()
) -> tuple[tuple[PackedChunk, ...], Verdict]:
    """What a model with room enough would be given, and the evidence gate's verdict on it.

    each  of `Retrieved`: it is packed, too
    """
    question = retrieved.question
    template = template_for(kb.config.rag.prompt_template_version, question.language)
    fence = PLACEHOLDER if uses_fence(template) else ""
    packed = pack_chunks(ranked, kb.config.rag.max_context_tokens, fence)
    chunks = {p.chunk.chunk_id: p.chunk for p in packed} | {chunk.chunk_id: chunk for chunk, _ in each}
    found, subjects = list(chunks.values()), retrieved.subjects
    return packed, weigh_evidence(kb, question.request, retrieved.response, found, subjects)


def _prefer_unseen(kb: Runtime, judged: Judged, everything: Verdict, unseen: UnseenEvidence) -> Judged:
    """Go on with the unseen evidence where it passes the gate and is not weaker than all of it; else with all, saying so.

    everything  the verdict on all of the evidence
    returns     with the novelty `none` when more was asked for and nothing new answers
    """
    request, gate = judged.retrieved.question.request, kb.config.rag.evidence_gate
    wants_more = asks_for_more(request.question)
    repeated = [chunk for chunk, _ in judged.ranked if chunk.chunk_id in unseen.repeated]
    if not repeated:
        return _with_novelty(judged, unseen.summary)
    verdict = _weigh(kb, judged.retrieved, unseen.ranked[: request.k])[1] if unseen.ranked else None
    carries = verdict is not None and carries_the_answer(
        verdict.score.probability, everything.score.probability, gate, wants_more=wants_more
    )
    if not carries and not wants_more:
        novelty = replace(unseen.summary, used="all", shown_in=shown_in(kb, request, repeated))
        if not request.is_evaluation:
            kb.notify(shown_before_note(novelty, kb.journal.answer_numbers(novelty.shown_in)))
        return _with_novelty(judged, novelty)
    only_unseen = replace(
        judged,
        findings=_with_verdict(judged.findings, verdict),
        ranked=unseen.ranked[: request.k],
        candidates=unseen.ranked if judged.candidates else (),
        each=(),
    )
    return _with_novelty(only_unseen, replace(unseen.summary, used="fresh" if carries else "none"))


def _prefer_across(judged: Judged, language: str) -> Judged:
    """Only the passages in another language than the question's: those in its own were too weak, and would be quoted for their words."""
    others = tuple((chunk, score) for chunk, score in judged.ranked if question_language(chunk.text) != language)
    candidates = tuple(
        (chunk, score) for chunk, score in judged.candidates if question_language(chunk.text) != language
    )
    return replace(judged, ranked=others, candidates=candidates, each=())


def _with_novelty(judged: Judged, novelty: AnswerNovelty) -> Judged:
    return replace(judged, findings=replace(judged.findings, novelty=novelty))


def _distinct(ranked: Ranked) -> list[Chunk]:
    """The chunks that are another place to look at than those before.

    A folder that was ingested twice is one place, and so is a document without lines and pages, which is opened as a whole.
    """
    first: dict[str, Chunk] = {}
    for chunk, _ in ranked:
        first.setdefault(chunk.text, chunk)
    places: dict[tuple[str, str], Chunk] = {}
    for chunk in first.values():
        places.setdefault((chunk.source, chunk.citation.uri), chunk)
    return list(places.values())
