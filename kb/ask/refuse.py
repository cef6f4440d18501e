"""How an ask ends: refused by a gate or by the model, broken off, or concluded with an answer → Ended.

A refusal is a text and the nearest places; where a context node answers the question, its answer comes instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.ask.backing import rests_on_line
from kb.ask.cite import narrow_citation
from kb.ask.pack import count_used
from kb.ask.prompt import Template, template_for
from kb.ask.records import AnswerCitation, PackedChunk, RefusalReason, Verification
from kb.ask.stages import Ended, Findings, Generated, Question, Verified
from kb.ask.unseen import NOTHING_NEW
from kb.ask.weigh import Verdict
from kb.ask.without_documents import answer_in_place
from kb.language.registry import LANGUAGES
from kb.runtime import Runtime


def refuse_evidence(
    kb: Runtime,
    question: Question,
    findings: Findings,
    reason: RefusalReason,
    packed: Sequence[PackedChunk] = (),
) -> Ended:
    """The end where the evidence is too weak to ask a model.

    packed  what the model would have been given
    """
    used = replace(findings.retrieval, chunks_used=count_used(packed))
    ended = Ended(question, replace(findings, retrieval=used), text="", reason=reason, packed=tuple(packed))
    if findings.novelty and findings.novelty.used == "none":  # a node would only repeat what was shown
        return replace(ended, text=NOTHING_NEW[question.language])
    told = answer_in_place(question, was_read=False)
    if told:
        return replace(ended, text=told.text, reason=None, rests_on=(told.node,), nodes=(told.as_text(),))
    template = template_for(kb.config.rag.prompt_template_version, question.language)
    lines = [template.refusal, *_evidence_lines(template, reason, question, findings)]
    return replace(ended, text="\n".join(lines), citations=near_citations(findings))


def refuse_answer(generated: Generated, reason: RefusalReason, verification: Verification | None) -> Ended:
    """The end where the model has found no answer in the evidence, or gave none that holds."""
    ended = replace(end_of(generated), reason=reason, verification=verification)
    told = answer_in_place(ended.question, was_read=True)
    if told:
        # Of the text that the model wrote nothing is shown, so nothing is said of its sentences.
        return replace(ended, text=told.text, reason=None, rests_on=(told.node,), citations=(), verification=None)
    return replace(ended, text=generated.packed.template.refusal)


def broke_off(generated: Generated) -> Ended | None:
    """The end of an answer that was not written to its end, or from a prompt that was cut; None for every other one.

    Of a prompt that was cut nobody knows which evidence the model has seen: whatever it says is not grounded.
    """
    written, template = generated.written, generated.packed.template
    if written.finish_reason == "aborted":
        return replace(end_of(generated), text=template.aborted, reason="llm_stream_aborted")
    if written.finish_reason == "length" or written.prompt_truncated:
        text = template.prompt_cut if written.prompt_truncated else template.truncated
        return replace(end_of(generated), text=text, reason="llm_truncated")
    return None


def end_of(generated: Generated) -> Ended:
    """The end of an ask whose model was asked, with the nearest places; its text is still to come."""
    packed = generated.packed
    return Ended(
        question=packed.question,
        findings=packed.findings,
        text="",
        citations=near_citations(packed.findings),
        nodes=packed.nodes,
        packed=packed.packed,
        prompt=packed.prompt,
        model=packed.model,
        version=packed.version,
        written=generated.written,
    )


def near_citations(findings: Findings) -> tuple[AnswerCitation, ...]:
    """The places that a refusal lists, without markers."""
    return tuple(AnswerCitation(marker=None, citation=place.citation) for place in findings.nearest)


def _evidence_lines(template: Template, reason: RefusalReason, question: Question, findings: Findings) -> list[str]:
    """What a gate's refusal says below its first line."""
    retrieval = findings.retrieval
    if reason == "score_gate":
        places = [f" · {place.citation.uri} (score {place.score:.2f})" for place in findings.nearest]
        return [template.near.format(gate=retrieval.score_gate), *places]
    if reason == "weak_evidence" and findings.verdict:
        gate = retrieval.evidence_gate or 0.0
        uris = [place.citation.uri for place in findings.nearest]
        return weak_evidence_lines(findings.verdict, gate, question.language, uris)
    return []


def conclude(verified: Verified) -> Ended:
    """The text to show and the places it cites; what it rests on besides documents is said below it."""
    generated, checked = verified.generated, verified.checked
    if verified.reason:
        return refuse_answer(generated, verified.reason, checked.verification)
    chunks = {p.marker: p.chunk for p in generated.packed.packed}
    text = checked.text
    if verified.rests_on:
        text += rests_on_line(verified.rests_on, generated.packed.question.request.query)
    return replace(
        end_of(generated),
        text=text,
        citations=tuple(narrow_citation(n, chunks[n], checked.windows.get(n, ())) for n in checked.markers),
        grounded=verified.grounded,
        rests_on=verified.rests_on,
        verification=checked.verification,
    )


# More would be a list of the question's own words.
MOST_WORDS = 3
_WORD_SIGNALS = frozenset(
    ("passage_coverage", "sentence_coverage", "packed_coverage", "known", "rarest", "adjacency", "names", "numbers")
)
_MEANING_SIGNALS = frozenset(("cosine", "sentence_cosine", "margin"))


def explain_weakness(verdict: Verdict, language: str) -> str:
    """One sentence on what the evidence lacks: the words it does not hold where the words are what it lacks most."""
    replies, weighed, score = LANGUAGES[language].replies, verdict.weighed, verdict.score
    if weighed.missing and (score.weakest in _WORD_SIGNALS or weighed.signals.cosine is None):
        return replies["missing"].format(words=_quoted(weighed.missing))
    if weighed.apart and score.weakest not in _MEANING_SIGNALS:
        return replies["apart"].format(words=_quoted(weighed.apart))
    if weighed.missing:
        return replies["missing"].format(words=_quoted(weighed.missing))
    return replies["far"] if score.weakest in _MEANING_SIGNALS else replies["topic"]


def weak_evidence_lines(verdict: Verdict, gate: float, language: str, nearest: Sequence[str]) -> list[str]:
    """What stands under the refusal: why, and the nearest places, as uris with their lines."""
    heading = LANGUAGES[language].replies["near"].format(score=verdict.score.probability, gate=gate)
    return [explain_weakness(verdict, language), heading, *(f" · {uri}" for uri in nearest)]


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words[:MOST_WORDS])
