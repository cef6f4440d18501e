"""An answer's sentences and their markers → how much is cited, and how well: coverage, ALCE's recall and precision.

Pure; whether a text entails a sentence is asked of a function that is given. A refusal is not scored here: it counts as
neither supported nor unsupported, so the caller leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from kb.support.claims import find_claims

# (passage, sentence) → whether the passage entails it.
Entails = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """One sentence of an answer.

    text     without its markers
    markers  the n of every [#n] in it, each once
    """

    text: str
    markers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CitationQuality:
    """ALCE's two figures of one answer, in [0, 1].

    recall     share of the sentences that their cited passages together entail
    precision  share of the citations that are needed or entail on their own; 0 without citations
    """

    recall: float
    precision: float


def cited_sentences(text: str) -> tuple[CitedSentence, ...]:
    """The sentences of an answer with their markers; what claims nothing (a rule, a heading, a line that announces a list) is none.

    Markers after the full stop belong to the sentence before them, unless that one has its own.

    >>> [s.markers for s in cited_sentences("Red torches only. [#1] No phones [#2][#3].")]
    [(1,), (2, 3)]
    """
    return tuple(CitedSentence(claim.text, claim.markers) for claim in find_claims(text))


def citation_coverage(text: str, known_markers: Collection[int] | None = None) -> float | None:
    """Share of an answer's sentences with at least one valid marker; None when it has no sentence.

    known_markers  those of the packed passages; None takes every marker for valid
    """
    sentences = cited_sentences(text)
    if not sentences:
        return None
    covered = [s for s in sentences if any(known_markers is None or m in known_markers for m in s.markers)]
    return len(covered) / len(sentences)


def citation_quality(text: str, passages: Mapping[int, str], entails: Entails) -> CitationQuality:
    """Citation recall and precision of an answer as ALCE's eval.py computes them (Gao et al. 2023).

    A sentence counts when all its passages together entail it; without a marker, or with one that stands for nothing,
    it does not. One of several citations is bad when it does not entail the sentence alone and the others do without it.
    Other than there, a marker that stands twice in a sentence is one citation.

    passages  marker → what it stands for, title included
    """
    sentences = cited_sentences(text)
    supported = good = total = 0
    for sentence in sentences:
        if not sentence.markers or not all(marker in passages for marker in sentence.markers):
            continue
        total += len(sentence.markers)
        if not entails(_joined(passages, sentence.markers), sentence.text):
            continue
        supported += 1
        good += sum(_is_needed(marker, sentence, passages, entails) for marker in sentence.markers)
    return CitationQuality(
        recall=supported / len(sentences) if sentences else 0.0, precision=good / total if total else 0.0
    )


def _is_needed(marker: int, sentence: CitedSentence, passages: Mapping[int, str], entails: Entails) -> bool:
    others = [other for other in sentence.markers if other != marker]
    if not others or entails(passages[marker], sentence.text):
        return True
    return not entails(_joined(passages, others), sentence.text)


def _joined(passages: Mapping[int, str], markers: Collection[int]) -> str:
    return "\n".join(passages[marker] for marker in markers)
