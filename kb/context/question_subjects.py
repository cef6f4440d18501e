"""Which nodes a question that stands alone bears on, by its words. Pure."""

from __future__ import annotations

from typing import Literal

from kb.language.manner import has_implicit_reference, is_about_kb, is_errand, tidy
from kb.language.registry import says

Subject = Literal["time", "date", "corpus", "here", "overview", "tasks", "past", "commands"]


def asks_about(question: str, *subjects: Subject) -> bool:
    """True when the question speaks of one of the subjects, kinds of patterns.

    >>> asks_about("What day is it?", "time"), asks_about("What is a borrow checker?", "time", "corpus")
    (True, False)
    """
    tidied = tidy(question)
    return any(says(subject, tidied) for subject in subjects)


def refers_back(question: str) -> bool:
    """True when the question leans on something said before."""
    tidied = tidy(question)
    return has_implicit_reference(tidied) or says("past", tidied)


def is_for_kb(question: str) -> bool:
    """True when kb itself is to do something, or to say what it can do."""
    tidied = tidy(question)
    return is_errand(tidied) or is_about_kb(tidied)
