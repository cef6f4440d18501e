"""Why evidence was too weak → plain words for the refusal, in the question's language. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kb.ask.weigh import Verdict
from kb.language.registry import LANGUAGES

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
