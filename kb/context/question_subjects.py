"""A question → what it asks about: something that kb itself knows, or a subject that a context node fits. Pure."""

from __future__ import annotations

from typing import Literal

from kb.language.interface import OwnKind
from kb.language.manner import has_implicit_reference, is_about_kb, is_errand, tidy
from kb.language.registry import pattern_in, question_language, says, words

Subject = Literal["time", "date", "corpus", "here", "overview", "tasks", "past", "commands"]
# What kb knows without any document: the user, the date and the time, itself, earlier questions, open list items.
Own = Literal["user", "date", "time", "abilities", "tools", "earlier", "tasks"]

# Longer questions say more than that they ask about the user or the date.
MOST_OWN_CHARS = 100
_ENDS = " ?!.,…~。？！"
_OWN_KINDS: dict[Own, OwnKind] = {
    "user": "own_user",
    "date": "own_date",
    "time": "own_time",
    "abilities": "own_abilities",
    "tools": "own_tools",
    "earlier": "own_earlier",
    "tasks": "own_tasks",
}

# The nodes that may answer each, the first that has an answer first.
OWN_NODES: dict[Own, tuple[str, ...]] = {
    "user": ("facts", "user_traits", "working_memory"),
    "date": ("world_state",),
    "time": ("world_state",),
    "abilities": ("available_skills",),
    "tools": ("available_skills",),
    "earlier": ("working_memory", "episodic_memory"),
    "tasks": ("active_lists",),
}


def asked_of_kb(question: str) -> Own | None:
    """What a question asks of kb itself; None for a question to the documents.

    The whole question has to ask for that: "What is my name?" does, "What is my name server?" does not.

    >>> asked_of_kb("Hey, what's the date today?"), asked_of_kb("내 이름이 뭐야?"), asked_of_kb("What date was it built?")
    ('date', 'user', None)
    """
    tidied = tidy(question)
    if len(tidied) > MOST_OWN_CHARS:
        return None
    kinds = [(own, kind) for own, kind in _OWN_KINDS.items() if any(sign in tidied for sign in words(kind))]
    if not kinds:
        return None
    code = question_language(tidied)
    core = pattern_in(code, "own_frame").sub("", tidied.rstrip(_ENDS), count=1)
    core = pattern_in(code, "own_tail").sub("", core, count=1).strip()
    return next((own for own, kind in kinds if pattern_in(code, kind).fullmatch(core)), None)


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
