"""A sentence that draws a conclusion about a case of the question from a rule that it states → whether it follows. Pure.

"At 26 kg he is too heavy, because the seat is permitted up to 22 kg": the case stands in one part, the rule in another. Whether the
rule is the texts' own is for them to say; what follows from it can be reckoned.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from kb.frozen import dataclass
from kb.language import english_contrasts, korean, korean_contrasts
from kb.language.english import NUMBER_WORDS
from kb.language.number_forms import with_plain_numbers
from kb.language.quantities import Quantity, facts_of
from kb.language.registry import has_letters
from kb.support.clauses import content_of, is_same, shared
from kb.support.contrast import bounds_of
from kb.support.faults import LONGEST_SENTENCE_CHARS
from kb.support.numbers import counting
from kb.support.polarity import polarity_of

# A time of day is none.
_NUMBER = re.compile(r"(?<![\w.,:])[$€£₩]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d,]*\d)(?!:\d)")
_IN_WORDS = re.compile(
    rf"\b(?:{'|'.join(word for word, value in NUMBER_WORDS.items() if value > 1)})\b(?![- ](?:hundred|thousand)|-)",
    re.I,
)
_TO = re.compile(r"\s?(?:to|and|[-–—]|until)\s?")
_FIRST_WORD = re.compile(f"^(?:{english_contrasts.ANSWERED}|{korean_contrasts.ANSWERED})", re.I)
_TURN, _TURN_KOREAN = re.compile(english_contrasts.TURN), re.compile(korean_contrasts.TURN)
# What denies without a negation, and words that leave a rule as it is.
_TOO = re.compile(f"{english_contrasts.TOO_MUCH}|{korean_contrasts.TOO_MUCH}", re.I)
_ONLY = re.compile(r"\b(?:only|just) ", re.I)
# A bound denies nothing, whatever words it is in: "must not exceed", "no more than".
_BOUND = re.compile(f"{english_contrasts.BOUND}|{korean_contrasts.BOUND}", re.I)
# What says no or yes by itself, as "free" of what is paid: where one part has it and the other has not, nothing is concluded.
_SIGN = re.compile(f"{english_contrasts.SIGN}|{korean_contrasts.SIGN}", re.I)
_PLAIN_ENDS = frozenset(f"{english_contrasts.PLAIN_ENDS} {korean_contrasts.PLAIN_ENDS}".split())
# The amount, other numbers, and denials.
_IDLE = re.compile(r"this|.*\d|\w+n['’]t$")
# Words of a conclusion that neither its rule nor the question has.
MOST_NEW = 1


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
    if not asked or max(len(claim), len(before)) > LONGEST_SENTENCE_CHARS:
        return None
    claim = _plain(_FIRST_WORD.sub("", claim))
    for one, other in _halves(claim):
        for rule, rest in ((one, other), (other, one)):
            if (found := _drawn(rule, rest, asked)) and _new_words(found, question) <= MOST_NEW:
                return found
    found = _drawn(_plain(before), claim, asked)
    is_of_it = found and not _new_words(found, question) and shared(content_of(found.rest), content_of(found.rule)) > 0
    return found if is_of_it else None


def _new_words(drawn: Conclusion, question: str) -> int:
    """How many words a conclusion has that stand neither in its rule nor in the question: "too heavy" and "possible" are none."""
    known = [word.key for word in (*content_of(drawn.rule), *content_of(question))]
    told = [word for word in content_of(_TOO.sub(" ", drawn.rest)) if not _IDLE.match(word.text)]
    told = [word for word in told if word.text.casefold() not in _PLAIN_ENDS]
    return sum(not any(is_same(word.key, key) for key in known) for word in told)


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
    if side is None or _signs(rule) != _signs(rest):
        return None
    is_inside, reckoned = side
    case = _written(cases[0], rest)
    follows = denies(rest) == (denies(rule) == is_inside)
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
    spans = [] if limits else list(_spans(rule))
    if len(spans) != 1 or not (amounts := _amounts(case, rest, spans[0][1], rule)):
        return None
    value, high = amounts
    return _in_range(value, high * float(_digits(spans[0][0])) / float(_digits(spans[0][1])), high)


def _spans(rule: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """The two numbers of each range, "12 to 18": its unit stands behind the second."""
    for low, high in pairwise(_NUMBER.finditer(rule)):
        if _TO.fullmatch(rule, low.end(), high.start()) and float(_digits(high)):
            yield low, high


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
    kinds = {quantity.kind if quantity else "" for quantity in (ours, theirs)}
    counted = {quantity.counted for quantity in (ours, theirs) if quantity and quantity.counted in korean.COUNTERS}
    is_alike = kinds in ({""}, {"", "month"}) and len(counted) < 2
    return (float(_digits(case)), float(_digits(limit))) if is_alike else None


def _quantity(number: re.Match[str], text: str) -> Quantity | None:
    this = re.compile(rf"(?<![\d.,]){re.escape(number[1])}(?![\d.,]*\d)")
    return next((q for q in facts_of(text).quantities if this.search(q.written)), None)


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


def denies(part: str) -> bool:
    """Whether a part of a sentence says no: with a negation, or "too heavy"; a bound is none, "no more than".

    >>> denies("Bags must not exceed 5 kg"), denies("a bag of 7 kg is not allowed"), denies("he is too heavy")
    (False, True, True)
    """
    polarity = polarity_of(_BOUND.sub(" ", _ONLY.sub("", part)))
    return bool(polarity.negated) or polarity.implicit or _TOO.search(part) is not None


def _signs(part: str) -> frozenset[str]:
    return frozenset(match[0].casefold()[:4] for match in _SIGN.finditer(part))
