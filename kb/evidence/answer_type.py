"""What a question word asks for, and whether a text holds such a thing. Pure.

Only what a pattern can tell is judged: a number, a date, a duration, a proper name, a reason. A question that asks for
something else, or in another language, is not judged at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.language.interface import PatternKind
from kb.language.registry import says

# What a question asks for, and what would answer it; the first that fits decides. A name is told by its capital.
_ASKS: tuple[tuple[PatternKind, PatternKind, int], ...] = (
    ("asks_frequency", "tells_frequency", re.I),
    ("asks_duration", "tells_duration", re.I),
    ("asks_number", "tells_number", re.I),
    ("asks_date", "tells_date", re.I),
    ("asks_person", "tells_person", 0),
    ("asks_reason", "tells_reason", re.I),
)


def matches_answer_type(question: str, texts: Sequence[str]) -> float | None:
    """1.0 when one of the texts holds the kind of thing that is asked for, 0.0 when none does, None when that cannot be told.

    >>> matches_answer_type("How many days?", ["It takes a fortnight."]), matches_answer_type("What is it?", [])
    (0.0, None)
    """
    for asked, wanted, flags in _ASKS:
        if says(asked, question, re.I):
            return float(any(says(wanted, text, flags) for text in texts))
    return None
