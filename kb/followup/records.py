"""What goes into making a question complete, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Why = Literal["complete", "swap", "question-word", "pronoun", "definite", "more", "fragment", "continued"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange; courtesies are left out by the caller.

    question  as it was searched for, complete
    answer    what was said to it, empty where it was refused
    title     of the document that it rested on, empty where there was none
    """

    question: str
    answer: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question as it is to be searched for.

    question  complete; the one that was asked where nothing was missing
    why       the rule that made it; "complete" where none did
    carried   what was taken from earlier turns, in words
    """

    question: str
    why: Why = "complete"
    carried: tuple[str, ...] = ()
