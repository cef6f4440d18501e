"""An answer, new or stored → how it came about, told in the language of its question: a sentence a step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kb.ask.backing import name_nodes
from kb.ask.records import Answer, Outcome
from kb.followup.records import context_of
from kb.frozen import dataclass
from kb.language.registry import LANGUAGES, question_language
from kb.support.check import NOT_FOUND

DOUBTFUL = {"en": {"likely": "said in other words, if at all", "weak": "only partly backed", "unsupported": "not backed", "contradicted": "the evidence says otherwise"},
            "ko": {"likely": "다른 말로 있을 수 있음", "weak": "일부만 뒷받침됨", "unsupported": "뒷받침되지 않음", "contradicted": "근거와 다름"}}  # fmt: skip
SENTENCES = {
    "en": {
        "together": "I searched for your question together with: {earlier}",
        "searched": "I searched for: {question}",
        "found": "The search found {count} passages; the best is {best:.0f}% likely to be relevant.",
        "found_only": "The search found {count} passages.",
        "found_none": "The search found no passage.",
        "enough": "It is {score:.0f}% probable that they answer the question. That is enough: below {gate:.0f}% I say nothing.",
        "too_little": "It is only {score:.0f}% probable that they answer the question; from {gate:.0f}% on I answer.",
        "quoted": "I asked no language model: the answer is quoted from your documents as it stands there.",
        "wrote": "{model} read {count} passages and wrote {total} sentences; {verified} of them hold against the text they cite.",
        "wrote_only": "{model} wrote the answer.",
        "all_shown": "All it rests on was shown before in this session.",
        "nothing_new": "Nothing was found that this session has not shown.",
        "rests_on": "It comes from {nodes}, not from a document.",
        "refused": "So I did not answer: {why}.",
        "whole": "Everything that was kept of it: kb answers show {name} --json",
    },
    "ko": {
        "together": "질문을 이 말과 함께 찾았습니다: {earlier}",
        "searched": "이렇게 찾았습니다: {question}",
        "found": "대목 {count}개를 찾았고, 가장 나은 것이 관련될 확률은 {best:.0f}%입니다.",
        "found_only": "대목 {count}개를 찾았습니다.",
        "found_none": "찾은 대목이 없습니다.",
        "enough": "이 대목들이 질문에 답할 확률은 {score:.0f}%로 충분합니다. {gate:.0f}%보다 낮으면 답하지 않습니다.",
        "too_little": "이 대목들이 질문에 답할 확률은 {score:.0f}%뿐입니다. {gate:.0f}%부터 답합니다.",
        "quoted": "언어 모델에 묻지 않고 문서의 글을 그대로 옮겼습니다.",
        "wrote": "{model} 모델이 대목 {count}개를 읽고 {total}문장을 썼으며, 그 가운데 {verified}문장이 인용한 글과 맞습니다.",
        "wrote_only": "{model} 모델이 답을 썼습니다.",
        "all_shown": "근거가 된 글은 모두 이 대화에서 이미 보여 드린 것입니다.",
        "nothing_new": "이 대화에서 보여 드리지 않은 새 글은 없었습니다.",
        "rests_on": "{nodes}에서 온 답이며, 문서에서 온 것은 아닙니다.",
        "refused": "그래서 답하지 않았습니다: {why}.",
        "whole": "남겨 둔 것 전부: kb answers show {name} --json",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoryFacts:
    """What a story tells of; None and empty are not told.

    model     the language model that wrote it, None where none was asked
    doubtful  (status, sentence) of those that do not hold
    novelty   "all" where everything was shown before, "none" where nothing new was found
    """

    question: str
    standalone: str | None
    chunks_returned: int
    top_score: float | None
    evidence_score: float | None
    evidence_gate: float | None
    is_quote: bool
    model: str | None
    chunks_used: int
    checked: tuple[int, int] | None
    doubtful: tuple[tuple[str, str], ...]
    novelty: str | None
    rests_on: tuple[str, ...]
    outcome: Outcome

    def language(self) -> str:
        """That of the question, where stories are told in it."""
        found = question_language(self.standalone or self.question)
        return found if found in SENTENCES else "en"


def facts_of_answer(answer: Answer) -> StoryFacts:
    """The facts of an answer that was just given."""
    check, found = answer.verification, answer.retrieval
    was_asked = answer.refusal_reason not in NOT_ASKED and not answer.is_quote()
    return StoryFacts(
        question=answer.question,
        standalone=answer.standalone_question,
        chunks_returned=found.chunks_returned,
        top_score=found.top_score,
        evidence_score=found.evidence_score,
        evidence_gate=found.evidence_gate,
        is_quote=answer.is_quote(),
        model=answer.model.id if was_asked else None,
        chunks_used=found.chunks_used,
        checked=(check.verified, check.total) if check else None,
        doubtful=tuple((s.status, s.text) for s in check.sentences if s.status != "verified") if check else (),
        novelty=answer.novelty.used if answer.novelty else None,
        rests_on=answer.rests_on,
        outcome=answer.outcome,
    )


# Refused before any model was asked.
NOT_ASKED = ("no_chunks", "score_gate", "weak_evidence")


def stored_outcome(
    refusal_reason: str | None, evidence_score: float | None, evidence_gate: float | None, text: str = ""
) -> Outcome:
    """How a stored answer ended, as near as its row tells: "not sure" where the passages may answer, but nobody could say.

    text  what was said: a question may lack a word that no passage has, whatever the evidence is else
    """
    if refusal_reason is None:
        return "answered"
    if refusal_reason in ("llm_stream_aborted", "llm_truncated"):
        return "broken_off"
    if any(text.startswith(language.replies["not_in_documents"]) for language in LANGUAGES.values()):
        return "not_in_documents"
    if refusal_reason == "no_chunks" or (evidence_score is not None and evidence_score < (evidence_gate or 0.0)):
        return "not_in_documents"
    return "not_sure"


def sign_of(status: str | None) -> str:
    """What an answer that stands is shown with, by the status of its verification; one that was not checked is a quote.

    >>> [sign_of(status) for status in (None, "verified", "likely", "weak")]
    ['✓', '✓', '≈', '⚠']
    """
    return {None: "✓", "verified": "✓", "likely": "≈"}.get(status, "⚠")


def stored_fault(verification_json: str | None) -> str:
    """What is worst about the sentences of a stored answer that did not stand; "" where it was not checked."""
    found = json.loads(verification_json) if verification_json else {}
    bad = [
        check for check in found.get("sentences", ()) if check["status"] not in ("verified", "likely", "misattributed")
    ]
    if any(check["status"] == "contradicted" for check in bad):
        return "contradicted"
    is_certain = any(reason != NOT_FOUND for check in bad for reason in check.get("reasons", ()))
    return ("unsupported" if is_certain else "unconfirmed") if bad else "in_other_words" if found else ""


def stored_sign(verification_json: str | None) -> str:
    """The same of a stored answer."""
    return sign_of(json.loads(verification_json)["status"] if verification_json else None)


def facts_of_row(values: Mapping[str, Any]) -> StoryFacts:
    """The facts of a stored answer, its JSON columns as objects."""
    check = values.get("verification") or {}
    is_quote = bool(values["grounded"]) and values["model_provider"] == "extractive"
    was_asked = values["refusal_reason"] not in NOT_ASKED and not is_quote and bool(values.get("prompt_sha256"))
    return StoryFacts(
        question=values["question"],
        standalone=values.get("standalone_question"),
        chunks_returned=values["chunks_returned"],
        top_score=values["top_score"],
        evidence_score=values["evidence_score"],
        evidence_gate=values["evidence_gate"],
        is_quote=is_quote,
        model=values["model_id"] if was_asked else None,
        chunks_used=values["chunks_used"],
        checked=(check["verified"], check["total"]) if check else None,
        doubtful=tuple((s["status"], s["text"]) for s in check.get("sentences", ()) if s["status"] != "verified"),
        novelty=None,
        rests_on=tuple(values.get("rests_on") or ()),
        outcome=stored_outcome(
            values["refusal_reason"], values["evidence_score"], values["evidence_gate"], values["answer"]
        ),
    )


def tell_story(facts: StoryFacts, name: str | int) -> list[str]:
    """How an answer came about, in the order in which it did; the last line names what tells everything.

    name  what `kb answers show` calls it
    """
    language = facts.language()
    words = SENTENCES[language]
    lines = [*_search(facts, words), *_judgement(facts, words), *_writing(facts, words, language)]
    if facts.novelty in ("all", "none"):
        lines.append(words["all_shown" if facts.novelty == "all" else "nothing_new"])
    if facts.rests_on:
        lines.append(words["rests_on"].format(nodes=name_nodes(facts.rests_on, language)))
    if facts.outcome != "answered":
        lines.append(words["refused"].format(why=LANGUAGES[language].replies[f"state_{facts.outcome}"]))
    return [*lines, words["whole"].format(name=name)]


def _search(facts: StoryFacts, words: Mapping[str, str]) -> Sequence[str]:
    lines = []
    if earlier := context_of(facts.standalone, facts.question):
        lines.append(words["together"].format(earlier=earlier))
    elif facts.standalone:
        lines.append(words["searched"].format(question=facts.standalone))
    count = facts.chunks_returned
    if count and facts.top_score:
        lines.append(words["found"].format(count=count, best=100 * facts.top_score))
    elif not facts.rests_on:
        lines.append(words["found_only" if count else "found_none"].format(count=count))
    return lines


def _judgement(facts: StoryFacts, words: Mapping[str, str]) -> Sequence[str]:
    if facts.evidence_score is None or not facts.evidence_gate:
        return ()
    key = "enough" if facts.evidence_score >= facts.evidence_gate else "too_little"
    return (words[key].format(score=100 * facts.evidence_score, gate=100 * facts.evidence_gate),)


def _writing(facts: StoryFacts, words: Mapping[str, str], language: str) -> Sequence[str]:
    if facts.is_quote:
        return (words["quoted"],)
    if facts.model is None or facts.rests_on:
        return ()
    if facts.checked is None:
        return (words["wrote_only"].format(model=facts.model),)
    verified, total = facts.checked
    told = words["wrote"].format(model=facts.model, count=facts.chunks_used, total=total, verified=verified)
    return (told, *(f"  {DOUBTFUL[language].get(status, status)}: {text}" for status, text in facts.doubtful))
