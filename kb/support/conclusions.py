"""A sentence that draws a conclusion about a case of the question from a rule that it states → whether it follows. Pure.

"At 26 kg he is too heavy, because the seat is permitted up to 22 kg": the case stands in one part, the rule in another. Whether the
rule is the texts' own is for them to say; what follows from it can be reckoned.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from kb.frozen import dataclass
from kb.language import english_contrasts, korean_contrasts
from kb.language.english import NUMBER_WORDS
from kb.language.number_forms import with_plain_numbers
from kb.language.quantities import Quantity, facts_of
from kb.language.registry import has_letters
from kb.support.contrast import bounds_of
from kb.support.numbers import counting
from kb.support.polarity import polarity_of

# A time of day is none.
_NUMBER = re.compile(r"(?<![\w.,:])[$€£₩]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d,]*\d)(?!:\d)")
_IN_WORDS = re.compile(
    rf"\b(?:{'|'.join(word for word, value in NUMBER_WORDS.items() if value > 1)})\b(?![- ](?:hundred|thousand)|-)",
    re.I,
)
_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s?(?:to|and|[-–—]|until)\s?(\d+(?:\.\d+)?)")
_FIRST_WORD = re.compile(f"^(?:{english_contrasts.ANSWERED}|{korean_contrasts.ANSWERED})", re.I)
_TURN, _TURN_KOREAN = re.compile(english_contrasts.TURN), re.compile(korean_contrasts.TURN)
# What denies without a negation, and words that leave a rule as it is.
_TOO = re.compile(f"{english_contrasts.TOO_MUCH}|{korean_contrasts.TOO_MUCH}", re.I)
_ONLY = re.compile(r"\b(?:only|just) ", re.I)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A rule as a sentence states it, and what it says of the case.

    rule      the part with the bound, to be held against the texts
    rest      the other part, with "this" for the amount
    follows   whether the rest says what the rule makes of the case, or the opposite
    reckoned  "26 is more than 22"
    """

    rule: str
    rest: str
    follows: bool
    reckoned: str


def conclusion_of(claim: str, question: str, before: str = "") -> Conclusion | None:
    """The conclusion that a sentence draws about a number of the question; from the sentence before it where it states no rule.

    >>> conclusion_of("At 26 kg he is too heavy, because the seat is permitted up to 22 kg.", "He weighs 26 kg, may he?")
    Conclusion(rule='the seat is permitted up to 22 kg.', rest='At this he is too heavy', follows=True, reckoned='26 kg is more than 22 kg')
    >>> conclusion_of("소금길은 5명까지라 6명은 못 합니다.", "6명이서 해도 돼요?").follows
    True
    """
    asked = {_digits(match) for match in _NUMBER.finditer(_plain(question))}
    if not asked:
        return None
    claim = _plain(_FIRST_WORD.sub("", claim))
    for one, other in (*_halves(claim), (_plain(before), claim)):
        for rule, rest in ((one, other), (other, one)):
            if found := _drawn(rule, rest, asked):
                return found
    return None


def _halves(claim: str) -> Iterator[tuple[str, str]]:
    """What stands before each turn of a sentence, and behind it."""
    for turn in (_TURN_KOREAN if has_letters("ko", claim) else _TURN).finditer(claim):
        ending = "이다." if "라" in turn[0] else "다." if has_letters("ko", turn[0]) else ""
        yield claim[: turn.start()] + ending, claim[turn.end() :]


def _drawn(rule: str, rest: str, asked: Collection[str]) -> Conclusion | None:
    cases = [match for match in _NUMBER.finditer(rest) if _digits(match) in asked]
    if len(cases) != 1 or any(_digits(match) in asked for match in _NUMBER.finditer(rule)):
        return None
    side = _side(cases[0], rest, rule)
    if side is None:
        return None
    is_inside, reckoned = side
    case = _written(cases[0], rest)
    follows = _denies(rest) == (_denies(rule) == is_inside)
    return Conclusion(_ONLY.sub("", rule), rest.replace(case, "this"), follows, f"{case} is {reckoned}")


def _side(case: re.Match[str], rest: str, rule: str) -> tuple[bool, str] | None:
    """(whether the case is in the rule's bound, what was reckoned); None where the rule has no one bound on such an amount."""
    bounds = dict(bounds_of(rule))
    limits = [
        (match, amounts, bound)
        for match in _NUMBER.finditer(rule)
        if (bound := bounds.get(float(_digits(match)), "")) in ("more", "less")
        and (amounts := _amounts(case, rest, match, rule))
    ]
    if len(limits) == 1:
        (match, (value, limit), bound) = limits[0]
        if value == limit:
            return None
        is_more = value > limit
        return is_more == (bound == "more"), f"{'more' if is_more else 'less'} than {_written(match, rule)}"
    if len(limits) == 2 and [bound for *_, bound in limits] == ["more", "less"]:
        (value, low), (_, high) = (amounts for _, amounts, _ in limits)
        return _in_range(value, low, high)
    spans = _RANGE.findall(rule)
    return None if limits or len(spans) != 1 else _in_range(float(_digits(case)), *map(float, spans[0]))


def _in_range(value: float, low: float, high: float) -> tuple[bool, str] | None:
    if low >= high:
        return None
    is_inside = low <= value <= high
    return is_inside, f"{'' if is_inside else 'not '}between {low:g} and {high:g}"


def _amounts(case: re.Match[str], rest: str, limit: re.Match[str], rule: str) -> tuple[float, float] | None:
    """Both in one unit; None of amounts of different kinds. An age may stand without "years"."""
    ours, theirs = _quantity(case, rest), _quantity(limit, rule)
    if ours and theirs and ours.kind and ours.kind == theirs.kind:
        return ours.value, theirs.value
    kinds = {quantity.kind for quantity in (ours, theirs) if quantity and quantity.kind not in ("", "month")}
    return None if len(kinds) > 1 else (float(_digits(case)), float(_digits(limit)))


def _quantity(number: re.Match[str], text: str) -> Quantity | None:
    return next((q for q in facts_of(text).quantities if q.kind and number[1] in q.written), None)


def _digits(number: re.Match[str]) -> str:
    return number[1].replace(",", "")


def _plain(text: str) -> str:
    """Numbers in words from two on as digits, "over eight hours", and Korean sums as one number."""
    return _IN_WORDS.sub(lambda word: f"{NUMBER_WORDS[word[0].lower()]:g}", with_plain_numbers(text))


def _written(number: re.Match[str], text: str) -> str:
    """A number with its sign or unit, as the text writes it."""
    if not number[0][0].isdecimal():
        return number[0]
    quantity = _quantity(number, text)
    return counting(quantity) if quantity and counting(quantity) in text else number[0]


def _denies(part: str) -> bool:
    """Whether a part says no: with a negation, or "too heavy"."""
    polarity = polarity_of(_ONLY.sub("", part))
    return bool(polarity.negated) or polarity.implicit or _TOO.search(part) is not None
