"""Refusals, all of them: which outcome it is, its words in the question's language, the closest passages, how it is laid out.

A refusal is a text and places: the text never holds the places, and whoever shows one (terminal, export, chat) takes
`refusal_lines`. Where a context node answers the question, its answer comes instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kb.ask.cite import is_refusal
from kb.ask.mentions import find_mention
from kb.ask.pack import count_used
from kb.ask.records import AnswerCitation, Outcome, PackedChunk, RefusalReason, Verification
from kb.ask.stages import Ended, Findings, Generated, Question, Written
from kb.ask.unseen import NOTHING_NEW
from kb.ask.weigh import Verdict
from kb.ask.without_documents import answer_in_place
from kb.language.korean import MONTH_NUMBER
from kb.language.registry import LANGUAGES, says, words
from kb.llm.extractive import PROVIDER
from kb.records import ModelRef
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
        return replace(ended, text=NOTHING_NEW[question.language], outcome="not_in_documents")
    told = answer_in_place(question, was_read=False)
    if told:
        return replace(ended, text=told.text, reason=None, rests_on=(told.node,), nodes=(told.as_text(),))
    outcome = _outcome(findings, reason)
    replies = LANGUAGES[question.language].replies
    why = _why_nothing(question, findings, replies) if reason == "no_chunks" else None
    places = near_citations(findings)
    if reason == "weak_evidence" and findings.verdict:
        word = held_elsewhere(findings.verdict)
        mention = find_mention(kb, question.request.query, findings.response, word) if word else None
        if mention and any(place.citation.uri == mention.uri for place in places):
            mention = None  # another passage of a document that is listed as a whole
        places += (AnswerCitation(marker=None, citation=mention),) if mention else ()
        is_placed = mention is not None
        why = explain_weakness(findings.verdict, question.language, question.request.query, is_placed=is_placed)
    text = " ".join(filter(None, (replies[outcome], why)))
    return replace(ended, text=text, outcome=outcome, citations=places)


def _why_nothing(question: Question, findings: Findings, replies: Mapping[str, str]) -> str:
    """Why a search found nothing at all: filters that no document passes, or else the words."""
    trace = findings.response.trace if findings.response else None
    if trace and trace.filtered_documents == 0:
        return replies["filtered_out"].format(filters=question.request.filters.as_options())
    return replies["nothing_found"]


def refuse_answer(generated: Generated, reason: RefusalReason, verification: Verification | None) -> Ended:
    """The end where the model has found no answer in the evidence, or gave none that holds."""
    ended = replace(end_of(generated), reason=reason, verification=verification, outcome="not_sure")
    told = answer_in_place(ended.question, was_read=True)
    if told:
        # Of the text that the model wrote nothing is shown, so nothing is said of its sentences.
        return replace(
            ended,
            text=told.text,
            reason=None,
            outcome="answered",
            rests_on=(told.node,),
            citations=(),
            verification=None,
        )
    replies = LANGUAGES[generated.packed.prompt.language].replies
    why = "model_found_none" if is_refusal(generated.written.text) else "model_unusable"
    if generated.packed.model.provider == PROVIDER:
        why = "no_sentence_fits"
    return replace(ended, text=f"{replies['not_sure']} {replies[why]}")


def broke_off(generated: Generated) -> Ended | None:
    """The end of an answer that was not written to its end, or from a prompt that was cut; None for every other one.

    Of a prompt that was cut nobody knows which evidence the model has seen: whatever it says is not grounded.
    """
    written, replies = generated.written, LANGUAGES[generated.packed.prompt.language].replies
    if written.finish_reason == "aborted":
        return replace(end_of(generated), text=replies["aborted"], reason="llm_stream_aborted", outcome="broken_off")
    if written.finish_reason == "length" or written.prompt_truncated:
        text = replies["prompt_cut" if written.prompt_truncated else "truncated"]
        return replace(end_of(generated), text=text, reason="llm_truncated", outcome="broken_off")
    return None


def refuse_interrupted(question: Question, findings: Findings, model: ModelRef) -> Ended:
    """The end where a Ctrl-C came while the model was loaded."""
    return Ended(
        question=question,
        findings=findings,
        text=LANGUAGES[question.language].replies["aborted"],
        citations=near_citations(findings),
        reason="llm_stream_aborted",
        outcome="broken_off",
        model=model,
        written=Written(finish_reason="aborted", is_interrupted=True),
    )


def end_of(generated: Generated) -> Ended:
    """The end of an ask whose model was asked, with the closest passages; its text is still to come."""
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


def refusal_lines(text: str, uris: Sequence[str], language: str) -> list[str]:
    """A refusal as it is shown everywhere: its words, then the closest passages, numbered for /open.

    >>> refusal_lines("Not sure.", ["a.md#L1"], "en")
    ['Not sure.', '', 'Closest passages:', '  1. a.md#L1']
    """
    places = [f"  {number}. {uri}" for number, uri in enumerate(uris, start=1)]
    return [text, "", LANGUAGES[language].replies["closest"], *places] if places else [text]


def describe_outcome(outcome: Outcome, language: str) -> str:
    """The outcome in two or three words, for a footer."""
    return LANGUAGES[language].replies[f"state_{outcome}"]


def _outcome(findings: Findings, reason: RefusalReason) -> Outcome:
    """Whether the documents hold no answer, or nobody can be sure."""
    verdict, gate = findings.verdict, findings.retrieval.evidence_gate or 0.0
    if reason == "no_chunks":
        return "not_in_documents"
    if verdict and (verdict.weighed.lacking or verdict.score.probability < gate):
        return "not_in_documents"
    return "not_sure"


# More would be a list of the question's own words.
MOST_WORDS = 3
_WORD_SIGNALS = frozenset(
    ("passage_coverage", "sentence_coverage", "packed_coverage", "known", "rarest", "adjacency", "names", "numbers")
)
_MEANING_SIGNALS = frozenset(("cosine", "sentence_cosine", "margin", "nearness", "by_chance", "alike", "subject"))


def explain_weakness(verdict: Verdict, language: str, asked: str = "", *, is_placed: bool = False) -> str:
    """One sentence on what the evidence lacks: the words it does not hold where the words are what it lacks most.

    asked      the question, as which the words are written
    is_placed  where documents hold these words all the same, a passage that does stands last among the places below
    """
    replies, weighed, score = LANGUAGES[language].replies, verdict.weighed, verdict.score
    if absent := _absent(verdict):
        nowhere = [word for word in absent if word not in weighed.elsewhere]
        if nowhere:
            return replies["missing"].format(words=_quoted(nowhere, asked))
        if is_placed:
            return replies["elsewhere"].format(words=_quoted(absent[:1], asked))
        return replies["not_near"].format(words=_quoted(absent, asked))
    if weighed.apart and score.weakest not in _MEANING_SIGNALS:
        return replies["apart"].format(
            words=", ".join(f"'{name}'" for w in weighed.apart for name in names_in(asked, [w]))
        )
    return replies["far"] if score.weakest in _MEANING_SIGNALS else replies["topic"]


def held_elsewhere(verdict: Verdict) -> str | None:
    """The first word that a refusal names, where passages that were not packed hold all that it names."""
    absent = _absent(verdict)
    return absent[0] if absent and all(word in verdict.weighed.elsewhere for word in absent) else None


def _absent(verdict: Verdict) -> tuple[str, ...]:
    """The words that a refusal names: no packed passage holds them; none where words are not what tells."""
    weighed, score = verdict.weighed, verdict.score
    lacking, missing = _telling(weighed.lacking), _telling(weighed.missing)
    if lacking:
        return lacking
    tells = score.weakest in _WORD_SIGNALS or weighed.signals.cosine is None
    is_apart = bool(weighed.apart) and score.weakest not in _MEANING_SIGNALS
    return missing if tells or not is_apart else ()


def _telling(found: Sequence[str]) -> tuple[str, ...]:
    """The words whose absence tells what the passages are not about: no verbs in the past, no "got", no "hasn't"."""
    everyday = words("everyday")
    return tuple(w for w in found if w.lower() not in everyday and not says("no_topic", w))


def _quoted(found: Sequence[str], asked: str) -> str:
    return ", ".join(f"'{word}'" for word in names_in(asked, found)[:MOST_WORDS])


def names_in(asked: str, found: Sequence[str]) -> list[str]:
    """Words as a question has them: parts of one word together, a capitalised one with those before it, neighbours as one.

    >>> names_in("Is there Wi-Fi in the New York office?", ["Wi", "Fi", "York"])
    ['Wi-Fi', 'New York']
    >>> names_in("dogs at orchard mews, or in Rowan Cottage?", ["orchard", "mews", "Rowan", "Cottage"])
    ['orchard mews', 'Rowan Cottage']
    >>> names_in("9월 회의에서 뭘 정했어?", ["9"])
    ['9월']
    """
    named: list[str] = []
    for word in found:
        whole = re.search(rf"(?<![\w-])(?:[A-Z][\w'’]*[ -])*?(?:\w+-)*{re.escape(word)}(?:-\w+)*(?![\w-])", asked)
        is_name = whole is not None and (word[:1].isupper() or "-" in whole[0]) and word.isascii()
        told = whole[0] if whole and is_name else word
        first, _, rest = told.partition(" ")
        told = rest if rest and first.casefold() in words("stop") else told  # "Which York"
        told = f"{word}월" if word.isdecimal() and word in re.findall(MONTH_NUMBER, asked) else told
        both = told if named and told.startswith(f"{named[-1]} ") else " ".join((*named[-1:], told))
        if named and re.search(rf"(?<![\w-]){re.escape(both)}(?![A-Za-z0-9])", asked):
            named[-1] = both
        elif told not in named:
            named.append(told)
    return named
