"""The input and the result of completing a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Why = Literal["complete", "swap", "question-word", "pronoun", "definite", "more", "fragment", "continued"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange; the caller leaves out small talk.

    question  complete, as it was searched for
    answer    empty for a refusal
    title     of the document that the answer cites, empty without one
    """

    question: str
    answer: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question to be searched for.

    question  complete; the original one where nothing was missing
    why       the rule that completed it; "complete" where none did
    carried   the words taken from earlier turns
    """

    question: str
    why: Why = "complete"
    carried: tuple[str, ...] = ()
