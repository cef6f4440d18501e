"""A question and passages → the numbers, days and times of the question that are a case of what the passages rule. Pure.

"Can 17 visitors come in?" is answered by "No more than six visitors", and "Is it open on Tuesday?" by "Wednesday to Sunday": neither
has the word that was asked about, and it lacks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from kb.language.english import MONTHS, WEEKDAYS
from kb.language.interface import PatternKind
from kb.language.quantities import Quantity, facts_of
from kb.language.registry import pattern, says
from kb.language.systems import systems_in
from kb.support.contrast import bounded

# How a question tells of one case, and how a text rules such cases.
_RULED: tuple[tuple[PatternKind, PatternKind], ...] = (
    ("case_weekday", "rule_weekday"),
    ("case_date", "rule_date"),
    ("case_clock", "rule_clock"),
    ("case_age", "rule_age"),
    ("case_people", "rule_people"),
)
# Of a passage so much is read.
MOST_CHARS = 8000
# Of what has names besides numbers.
_NAMED = ("case_weekday", "case_date")
_DAYS_AND_MONTHS = frozenset((*WEEKDAYS, *MONTHS, *(month[:3] for month in MONTHS), "sept"))
_YEAR = re.compile(r"(?:19|20)\d\d")
# Who came after 2019 may have come in 2021.
_BOUNDED_YEAR = re.compile(
    r"(?:19|20)\d\d년?(?:\s?\d{1,2}월)?(?:\s?\d{1,2}일)?\s?(?:이후|이전|부터|까지|전에|후에)|\b(?:since|after|before|from|until) (?:[\w,]+ ){0,3}(?:19|20)\d\d\b",
    re.I,
)


def is_case(word: str, question: str, texts: Sequence[str]) -> bool:
    """Whether a number, a day or a time of a question is a case of what one of the texts rules, and none has it itself.

    >>> is_case("412", "Can she carry 412 kg?", ["Error 412", "She carries up to 300 kg."])
    True
    >>> is_case("412", "Can she carry 412 kg?", ["The engine weighs 412 kg.", "She carries up to 300 kg."])
    False
    """
    return ruled_by(word, question, texts) is not None


def ruled_by(word: str, question: str, texts: Sequence[str]) -> str | None:
    """How the first text that rules a case tells its rule; "" where only the thing is named; None of a word that is no case.

    >>> ruled_by("Tuesday", "Is it open on Tuesday?", ["Open Wednesday to Sunday."])
    'Wednesday to Sunday'
    >>> ruled_by("412", "Can she carry 412 kg?", ["She carries up to 300 kg."])
    '300 kg'
    >>> ruled_by("11", "Does it run on Windows 11?", ["Windows is supported inside WSL 2."])
    ''
    """
    if not _may_be_case(word) or says("no_case", question, re.I):
        return None
    texts = [text[:MOST_CHARS] for text in texts]
    for case, rule in _RULED:
        if not _is_inside(word, case, question):
            continue
        told = [found[0] for text in texts if (found := pattern(rule, text, re.I).search(text))]
        if told:
            return None if any(_is_inside(word, case, text) for text in texts) else told[0]
    if _is_version(word, question, texts):
        return ""
    amounts = _measured(word, question)
    if any(said.backs(amount) for text in texts for said in facts_of(text).quantities for amount in amounts):
        return None
    # A year is seldom an amount, and one before or after it stands in many a passage.
    kinds = {amount.kind or amount.counted for amount in amounts}
    return next((bound for text in texts for bound in _bounds(kinds, text)), None)


def is_bounded(number: str, question: str, text: str) -> bool:
    """Whether a text bounds such an amount as a number of the question is; of a year, whether it bounds years.

    >>> is_bounded("260", "260만 원인데 통장으로 받나요?", "300만 원 이하이면 통장으로 받는다.")
    True
    >>> is_bounded("7", "Can 7 visitors come in?", "No more than six visitors may come in.")
    True
    """
    if not number[0].isdecimal():
        return False
    asked = {amount.kind or amount.counted for amount in _measured(number, question)}
    if not asked and _YEAR.fullmatch(number):
        return _BOUNDED_YEAR.search(text) is not None
    return next(_bounds(asked, text), None) is not None


def _bounds(kinds: Collection[str], text: str) -> Iterator[str]:
    """The amounts of these kinds that a text bounds, as it writes them."""
    for amount, _ in bounded(text) if kinds else ():
        if (amount.kind or amount.counted) in kinds:
            yield amount.written


def _measured(number: str, question: str) -> list[Quantity]:
    """What a question has so much of."""
    if not number[0].isdecimal():
        return []
    this = re.compile(rf"(?<![\d.,]){re.escape(number)}(?![\d.,]*\d)")
    amounts = (quantity for quantity in facts_of(question).quantities if quantity.kind or quantity.counted)
    return [amount for amount in amounts if this.search(amount.written)]


def _may_be_case(word: str) -> bool:
    """Whether a word is a number, a day or a month: of the others no pattern need be compiled."""
    return word[0].isdecimal() or word.endswith("요일") or word.casefold().removesuffix("s") in _DAYS_AND_MONTHS


def _is_inside(word: str, kind: PatternKind, text: str) -> bool:
    """Whether a number, or the name of a day or a month, is in what the pattern finds in a text."""
    if not word[0].isdecimal() and kind not in _NAMED:
        return False
    found = (match.group() for match in pattern(kind, text, re.I).finditer(text))
    forms = {word.casefold(), f"{word.casefold()}s"}
    return any(forms & set(re.findall(r"\d+|[^\W\d]+", stretch.casefold())) for stretch in found)


def _is_version(number: str, question: str, texts: Sequence[str]) -> bool:
    """Whether a number stands behind the name of an operating system that a text speaks of, whatever version of it."""
    before = re.search(rf"([A-Za-z]+|[가-힣]+)\s?{re.escape(number)}\b", question) if number[0].isdecimal() else None
    asked = systems_in(f"on {before[1]}") if before else frozenset[str]()
    return bool(asked) and any(asked & systems_in(text) for text in texts)
