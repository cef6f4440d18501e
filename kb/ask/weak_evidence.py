"""Why evidence was too weak → plain words for the refusal, in the question's language. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.ask.weigh import Verdict

# More would be a list of the question's own words.
MOST_WORDS = 3
_WORD_SIGNALS = frozenset(
    ("passage_coverage", "sentence_coverage", "packed_coverage", "known", "rarest", "adjacency", "names", "numbers")
)
_MEANING_SIGNALS = frozenset(("cosine", "sentence_cosine", "margin"))


@dataclass(frozen=True, slots=True)
class Wording:
    """What a refusal for weak evidence says in one language.

    missing   {words} stand in no passage
    apart     {words} stand in no passage together
    far       nothing comes near in meaning
    topic     the topic is there, the answer is not
    near      the line above the nearest places
    """

    missing: str
    apart: str
    far: str
    topic: str
    near: str


WORDINGS = {
    "en": Wording(
        missing="No passage mentions {words}.",
        apart="No passage mentions {words} together.",
        far="No passage comes near the question in meaning.",
        topic="Some passages touch the topic, none seems to answer the question.",
        near="Nearest places (evidence {score:.2f}, below the gate {gate:g}):",
    ),
    "ko": Wording(
        missing="찾은 글 어디에도 {words} 언급이 없음.",
        apart="{words} 함께 다룬 글이 없음.",
        far="뜻이 질문에 가까운 글이 없음.",
        topic="주제에 닿는 글은 있으나, 질문에 답하는 글은 없어 보임.",
        near="가까운 후보 (근거 점수 {score:.2f}, 임계 {gate:g} 미만):",
    ),
}


def explain_weakness(verdict: Verdict, language: str) -> str:
    """One sentence on what the evidence lacks: the words it does not hold where the words are what it lacks most."""
    wording, weighed, score = WORDINGS[language], verdict.weighed, verdict.score
    if weighed.missing and (score.weakest in _WORD_SIGNALS or weighed.signals.cosine is None):
        return wording.missing.format(words=_quoted(weighed.missing))
    if weighed.apart and score.weakest not in _MEANING_SIGNALS:
        return wording.apart.format(words=_quoted(weighed.apart))
    if weighed.missing:
        return wording.missing.format(words=_quoted(weighed.missing))
    return wording.far if score.weakest in _MEANING_SIGNALS else wording.topic


def weak_evidence_lines(verdict: Verdict, gate: float, language: str, nearest: Sequence[str]) -> list[str]:
    """What stands under the refusal: why, and the nearest places, as uris with their lines."""
    heading = WORDINGS[language].near.format(score=verdict.score.probability, gate=gate)
    return [explain_weakness(verdict, language), heading, *(f" · {uri}" for uri in nearest)]


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words[:MOST_WORDS])
