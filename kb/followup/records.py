"""The result of reading a question with the one before it, and the text that joins the two."""

from __future__ import annotations

from typing import Literal

from kb.frozen import dataclass

Why = Literal["complete", "swap", "question-word", "pronoun", "more", "fragment", "continued"]


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be searched for alone.

    question  the original where it is complete; else a sentence that a person would write, or the questions before it
              followed by the original (`join`)
    why       the rule that found it incomplete; "complete" where none did
    """

    question: str
    why: Why = "complete"


def join(last: str, question: str) -> str:
    """Both questions as one text, for a search.

    >>> join("How old is Heron?", "who built it?")
    'How old is Heron? who built it?'
    """
    return f"{last.strip()} {question}"


def context_of(standalone: str | None, question: str) -> str:
    """The earlier questions of a joined text; empty where nothing was joined.

    >>> context_of("How old is Heron? who built it?", "who built it?"), context_of("How old is Egret?", "and Egret?")
    ('How old is Heron?', '')
    """
    if not standalone or not question or not standalone.endswith(f" {question}"):
        return ""
    return standalone.removesuffix(question).strip()


def shown_sentence(standalone: str | None, question: str) -> str | None:
    """The completed question where it is one sentence; None where there is nothing to show a person."""
    return None if context_of(standalone, question) else standalone


# (the question, the earlier ones) → what a model reads.
_WITH_CONTEXT = {"en": "{question}\n(Asked before: {earlier})", "ko": "{question}\n(앞에서 한 질문: {earlier})"}


def with_context(question: str, earlier: str, language: str) -> str:
    """The question as typed, with the earlier questions that it depends on as their context."""
    return _WITH_CONTEXT[language].format(question=question, earlier=earlier)
