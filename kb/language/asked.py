"""A question → the kind of answer that it asks for, and whether a text holds one. Pure.

The kinds are those that a pattern recognizes: a price, a number, a date, a duration, a proper name, a reason. Other questions, and
questions in other languages, get no judgement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from kb.language.events import tells_of_opposite
from kb.language.interface import PatternKind
from kb.language.registry import pattern, says
from kb.text import analyze, find_words

_DIGITS = re.compile(r"\d+")
# A share is no number of things.
_SHARE = re.compile(r"(?<![\d.,])\d[\d.,]{0,20}\s?(?:%|percent\b)", re.I)
_ASKS_SHARE = re.compile(r"percent|%", re.I)
# What is counted stands at most so many words behind its number: "two new mutable references".
_BEHIND, _BEHIND_CHARS = 4, 80

AnswerKind = Literal["price", "frequency", "duration", "count", "number", "date", "person", "reason"]


class _Pattern(NamedTuple):
    """How a kind is asked for and told, flags for the second; is_needed: a text without it does not answer.

    "How fast is it?" is answered by "faster than most", and "Who pays?" by "buyers".
    """

    asks: PatternKind
    tells: PatternKind
    flags: int = re.I
    is_needed: bool = True


# The first match decides. Names need capitals.
_PATTERNS: tuple[tuple[AnswerKind, _Pattern], ...] = (
    ("price", _Pattern("asks_price", "tells_price")),
    ("frequency", _Pattern("asks_frequency", "tells_frequency")),
    ("duration", _Pattern("asks_duration", "tells_duration")),
    ("count", _Pattern("asks_count", "tells_number")),
    ("date", _Pattern("asks_event_date", "tells_event_date")),
    ("date", _Pattern("asks_date", "tells_date")),
    ("number", _Pattern("asks_number", "tells_number", is_needed=False)),
    ("person", _Pattern("asks_person", "tells_person", flags=0, is_needed=False)),
    ("reason", _Pattern("asks_reason", "tells_reason", is_needed=False)),
)


def _asked(question: str) -> tuple[AnswerKind, _Pattern] | None:
    return next((row for row in _PATTERNS if says(row[1].asks, question, re.I)), None)


def _tells(by: _Pattern, text: str) -> bool:
    bare = pattern("label_number", text, re.I).sub(" ", text) if any(map(str.isdigit, text)) else text
    return says(by.tells, bare, by.flags)


def matches_answer_type(question: str, texts: Sequence[str]) -> float | None:
    """1.0 when a text holds the kind of answer that is asked for, 0.0 when none does, None when the kind is unknown.

    The number of a figure, a listing or a version counts nothing.

    >>> matches_answer_type("How many days?", ["It takes a while, see table 12."]), matches_answer_type("What is it?", [])
    (0.0, None)
    """
    asked = _asked(question)
    return None if asked is None else float(any(_tells(asked[1], text) for text in texts))


def tells_how_many(question: str, text: str) -> float:
    """1.0 where a number stands before what a question counts, 0.5 where "multiple" or the like does, else 0.0.

    >>> tells_how_many("How many owners can a value have?", "There can only be one owner."), tells_how_many("How many owners?", "One value.")
    (1.0, 0.0)
    >>> tells_how_many("How many owners?", "It may have multiple owners."), tells_how_many("How many owners?", "It has more than one owner.")
    (0.5, 0.5)
    >>> tells_how_many("How many companies use it?", "There are two use cases."), tells_how_many("How many owners?", "One or more owners.")
    (0.0, 0.5)
    """
    counted = pattern("asks_counted", question, re.I).search(question)
    if counted is None:
        return 0.0
    words = counted["counted"].split()
    noun = next((word for word in words if says("plural_noun", word, re.I)), words[-1])
    wanted = frozenset(analyze(noun))
    bare = pattern("label_number", text, re.I).sub(" ", text)
    best = 0.0
    for number in pattern("tells_number", bare, re.I).finditer(bare):
        behind = re.split(r"[.,;:]\s", bare[number.end() : number.end() + _BEHIND_CHARS])[0]
        if wanted & frozenset(analyze(" ".join(find_words(behind)[:_BEHIND]))):
            is_vague = says("vague_number", bare[max(0, number.start() - 20) : number.end()], re.I)
            best = max(best, 0.5 if is_vague or says("or_more", behind, re.I) else 1.0)
    return best


def asks_fact(question: str) -> bool:
    """True where a number, a time, a price or a name is the answer: a sentence tells it.

    >>> asks_fact("How long does a build take?"), asks_fact("Why does it take long?"), asks_fact("What is a build?")
    (True, False, False)
    >>> asks_fact("What is the default port of HTTPS?"), asks_fact("What is the default branch?")
    (True, False)
    >>> asks_fact("Which port does it listen on?"), asks_fact("What port mapping syntax does it have?")
    (True, False)
    """
    asked = _asked(question)
    return asked is not None and asked[0] != "reason"


def lacks_what_is_asked(question: str, text: str) -> AnswerKind | None:
    """The kind of answer that a question asks for, where a text that answers must hold it and this one does not; else None.

    >>> lacks_what_is_asked("How much does it cost per month?", "It is made by the team behind FastAPI.")
    'price'
    >>> lacks_what_is_asked("How many beds has the room on floor 2?", "New staff sleep on floor 2.")
    'count'
    >>> lacks_what_is_asked("How many lines has it?", "By speed we mean both how soon it starts and how far it gets.")
    'count'
    >>> lacks_what_is_asked("How many companies use it?", "The test coverage is at 100%.")
    'count'
    >>> lacks_what_is_asked("How many percent of users pay?", "45% of users pay.")
    >>> lacks_what_is_asked("What do thirty eggs cost?", "Eggs: size M, from the farm.")
    'price'
    >>> lacks_what_is_asked("What does the shot cost?", "- vaccine: Rabavert\\n- doses: 2\\n- clinic: 265")
    >>> lacks_what_is_asked("What is the cost of a clone?", "It copies the heap.")
    >>> lacks_what_is_asked("How fast is it?", "Faster than most.")
    >>> lacks_what_is_asked("거울을 코팅하는 데 얼마가 드나요?", "거울은 5년마다 코팅한다.")
    'price'
    >>> lacks_what_is_asked("시간이 얼마나 드나요?", "거울은 5년마다 코팅한다.")
    >>> lacks_what_is_asked("How long does a build take?", "The level has a range of 0 to 3.")
    'duration'
    >>> lacks_what_is_asked("How long does a build take?", "Between 40 ms and 2:30.")
    >>> lacks_what_is_asked("When does the shop close?", "The shop opens at 9:00.")
    'date'
    """
    asked = _asked(question)
    if asked is None or not asked[1].is_needed:
        return None
    kind, by = asked
    if kind == "count":  # the question's own numbers tell nothing
        own = "|".join(map(re.escape, _DIGITS.findall(question)))
        text = re.sub(rf"(?<!\d)(?:{own})(?!\d)", " ", text) if own else text
        if says("asks_counted", question, re.I) and not _ASKS_SHARE.search(question):
            text = _SHARE.sub(" ", text)
    if kind == "date" and tells_of_opposite(question, text):
        return kind
    return None if _tells(by, text) else kind
