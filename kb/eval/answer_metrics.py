"""A query and its answer → the answer's scores. Pure.

The caller finds out what needs the store: whether cited lines are exact, and whether cited text supports a sentence.
"""

from __future__ import annotations

import unicodedata

from kb.eval.records import AnswerFigures, Query, Scores, Wanted
from kb.support.claims import find_claims


def score_answer(
    query: Query,
    answer: AnswerFigures,
    *,
    exact_lines: float | None = None,
    citation_support: float | None = None,
) -> Scores:
    """Every per-query score of an answer; precision and F1 of refusals are ratios over all queries (`refusal_figures`).

    A refusal is an answer that is not grounded, whatever the reason. It has no coverage and no support, fails
    must_contain, and is checked for must_not_contain like an answer.

    exact_lines, citation_support  as the caller found them, None where they mean nothing
    """
    refused = not answer.grounded
    return {
        "refused": float(refused),
        "false_refusal": float(refused) if query.answerable else None,
        "refusal_recall": None if query.answerable else float(refused),
        "citation_coverage": None if refused else 1.0 if answer.is_quote else citation_coverage(answer.answer),
        "citation_support": None if refused else citation_support,
        "must_contain": _score_must_contain(query, answer),
        "must_not_contain": _score_must_not_contain(query.must_not_contain, answer.answer),
        "exact_lines": None if refused else exact_lines,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "first_token_ms": answer.first_token_ms,
    }


def citation_coverage(text: str) -> float | None:
    """Share of an answer's sentences with at least one marker; None for a text without a sentence.

    >>> citation_coverage("Red torches only. [#1] No phones.")
    0.5
    """
    claims = find_claims(text)
    return sum(bool(claim.markers) for claim in claims) / len(claims) if claims else None


def _score_must_contain(query: Query, answer: AnswerFigures) -> float | None:
    wanted = query.must_contain
    if not query.answerable or not (wanted.all or wanted.any):
        return None
    return float(answer.grounded and contains_wanted(answer.answer, wanted))


def _score_must_not_contain(unwanted: Wanted, text: str) -> float | None:
    """0 when the answer says any of `any`, or all of `all` together."""
    if not (unwanted.all or unwanted.any):
        return None
    says_any = any(says(text, words) for words in unwanted.any)
    says_all = bool(unwanted.all) and all(says(text, words) for words in unwanted.all)
    return float(not (says_any or says_all))


def contains_wanted(text: str, wanted: Wanted) -> bool:
    """True when a text says all of `all` and at least one of `any`, if there are any."""
    return all(says(text, words) for words in wanted.all) and (
        not wanted.any or any(says(text, words) for words in wanted.any)
    )


def says(text: str, words: str) -> bool:
    """True when a text contains the words; case, width (NFKC) and runs of white space do not matter.

    >>> says("Ｅ-120:  see\\nthe LOG", "e-120: see the log")
    True
    """
    return _fold(words) in _fold(text)


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())
