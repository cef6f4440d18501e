"""A question → the kind of answer its question word asks for, and whether a text holds one. Pure.

The kinds are those that a pattern recognizes: a number, a date, a duration, a proper name, a reason. Other questions, and
questions in other languages, get no judgement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.language.interface import PatternKind
from kb.language.registry import says

# (pattern of the question, pattern of the answer, flags of the answer's); the first match decides. Names need capitals.
_ASKS: tuple[tuple[PatternKind, PatternKind, int], ...] = (
    ("asks_frequency", "tells_frequency", re.I),
    ("asks_duration", "tells_duration", re.I),
    ("asks_number", "tells_number", re.I),
    ("asks_date", "tells_date", re.I),
    ("asks_person", "tells_person", 0),
    ("asks_reason", "tells_reason", re.I),
)


def matches_answer_type(question: str, texts: Sequence[str]) -> float | None:
    """1.0 when a text holds the kind of answer that is asked for, 0.0 when none does, None when the kind is unknown.

    >>> matches_answer_type("How many days?", ["It takes a fortnight."]), matches_answer_type("What is it?", [])
    (0.0, None)
    """
    for asked, wanted, flags in _ASKS:
        if says(asked, question, re.I):
            return float(any(says(wanted, text, flags) for text in texts))
    return None
