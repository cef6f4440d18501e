"""A number of a claim that no text has → whether it may be reckoned from those that are there: rounded, a sum, a span, a share. Pure.

Whether the claim says it rightly is not told by numbers: what is reckoned is left to what reads words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from kb.language import english_contrasts, korean_contrasts
from kb.language.number_forms import with_halves_of_day
from kb.language.quantities import FIRST_YEAR, LAST_YEAR, Date, Facts, Quantity, clock_times, facts_of, is_backed

# A rounded number and its word, against the exact one: (least, most) times the claimed one.
ROUNDED = {"more": (1.0, 1.25), "less": (0.8, 1.0), "about": (0.9, 1.1)}
# More of a kind, and every number is some sum of them.
MOST_SUMMED = 8
_RECKONED, _HALVED, _NEXT, _IN_ALL, _FRACTION = (
    re.compile(f"{getattr(english_contrasts, name)}|{getattr(korean_contrasts, name)}", re.I)
    for name in ("RECKONED", "HALVED", "NEXT", "IN_ALL", "FRACTION")
)
_MONTH = re.compile(rf"\b(?:{'|'.join(english_contrasts.MONTHS)})\b|(?<!\d)(?:1[0-2]|[1-9])월", re.I)
_WHOLE_MONTH = re.compile(
    r"(?<!\d)1일\s?(?:부터|~|-|–)\s?(?:말일|(?:28|29|30|31)일)|\b1(?:st)? ?(?:to|until|–|-) ?(?:28|29|30|31)\b"
)
# Between the ends of a stretch of time.
_TO = re.compile(r"\s*(?:[-–—~]|to|until|till|and|부터|에서)\s*", re.I)


def rounded_by(claimed: Quantity, bound: str, there: Sequence[Quantity]) -> list[Quantity]:
    """The quantities there that keep a bound ("more", "less", "about") and are near it."""
    if bound not in ROUNDED:
        return []
    least, most = ROUNDED[bound]
    return [q for q in there if q.kind == claimed.kind and claimed.value * least <= q.value <= claimed.value * most]


def is_reckoned(claim: str, one: Quantity, there: Facts, texts: Sequence[str] = ()) -> bool:
    """Whether a number that is not there may be reckoned from some that are.

    A difference or what is left, where the claim has a word for it; a sum or a product "in all"; a share of which the texts tell; the time between two
    times; the difference, sum or change in per cent of two numbers that the claim itself names, and that are there.

    >>> is_reckoned("64 began, 58 stayed, 6 left.", facts_of("6 left").quantities[0], facts_of("64 took part. 58 stayed to the end."))
    True
    """
    return (
        any(_is_near(one.value, value) for value in _of_the_claim(claim, one, there))
        or any(_is_near(one.value, value) for text in texts for value in _spans(one, text))
        or any(_is_near(one.value, value) for value in _in_all(claim, one, there))
        or any(_is_near(one.value, value, 0.006) for value in _shares(one, there, texts))
        or _is_two_digit_year(one, there)
        or _is_by_words(claim, one, there)
    )


def is_dated(date: Date, there: Facts, headings: str = "") -> bool:
    """Whether a date may be made of parts that are there: its year in the headings or the only one, its day of a stretch of days.

    >>> is_dated(facts_of("12 May 2023").dates[0], facts_of("He began on 12 May."), "Report 2023")
    True
    """
    years = {value for value in there.bare if FIRST_YEAR <= value < LAST_YEAR}
    has_year = date.year is None or date.year in facts_of(headings).bare or years == {float(date.year)}
    for said in there.dates:
        if said.month != date.month:
            continue
        if said.day == date.day and said.year is None and has_year:
            return True
        is_year = date.year is None or said.year == date.year or (said.year is None and has_year)
        if (
            is_year
            and date.day is not None
            and any(q.value == date.day and q.kind in ("day", "") for q in there.quantities)
        ):
            return True
    return False


def _of_the_claim(claim: str, one: Quantity, there: Facts) -> Iterator[float]:
    """Sums, differences and changes in per cent of two numbers of the claim that are there."""
    own = [q for q in facts_of(claim).quantities if q is not one and is_backed(q, there)]
    for a, b in combinations(own, 2):
        if a.kind != b.kind or a.counted != b.counted or a.value == b.value:
            continue
        if one.kind == "share" and a.kind != "share" and min(a.value, b.value) > 0:
            yield from (round(100 * abs(a.value - b.value) / q.value) for q in (a, b))
            yield 100 * min(a.value, b.value) / max(a.value, b.value)
        if a.kind == one.kind and (a.counted == one.counted or not one.counted or not a.counted):
            yield from (abs(a.value - b.value), a.value + b.value)


def _spans(one: Quantity, text: str) -> Iterator[float]:
    """The lengths of time between neighbouring times of day, or months, of a text."""
    if one.kind == "time":
        told = with_halves_of_day(text)
        times = sorted(clock_times(told), key=lambda found: found[1])
        for (first, _, end), (last, start, _) in pairwise(times):
            if _TO.fullmatch(told[end:start]):
                yield from (60.0 * ((last - first) % whole) for whole in (24 * 60, 12 * 60))
    if one.kind == "month":
        months = [
            (facts_of(f"{found[0]} 1" if found[0].isascii() else found[0]).dates, found)
            for found in _MONTH.finditer(text)
        ]
        named = [(dates[0].month, found) for dates, found in months if dates]
        for (first, a), (last, b) in pairwise(named):
            if b.start() - a.end() < 16 and "." not in text[a.end() : b.start()]:
                yield float((last - first) % 12 + 1)
        if _WHOLE_MONTH.search(text):
            yield 1.0
    if one.kind == "day":
        days = [date for date in facts_of(text).dates if date.day is not None]
        for begin, finish in pairwise(days):
            if begin.month == finish.month and begin.day is not None and finish.day is not None:
                yield from (float(finish.day - begin.day), float(finish.day - begin.day + 1))


def _in_all(claim: str, one: Quantity, there: Facts) -> Iterator[float]:
    """Sums and products of numbers that are there or in the claim, where the claim speaks of all."""
    if not _IN_ALL.search(claim):
        return
    known = {(q.value, q.kind): q for q in (*there.quantities, *facts_of(claim).quantities) if q is not one}.values()
    alike = [q.value for q in known if q.kind == one.kind and q.value != one.value][:MOST_SUMMED]
    yield from (a + b for a, b in combinations(alike, 2))
    factors = [value for value in there.bare | facts_of(claim).bare if 2 <= value <= 100 and value == int(value)]
    yield from (a * b for a in alike for b in factors if one.kind)


def _shares(one: Quantity, there: Facts, texts: Sequence[str]) -> Iterator[float]:
    """What a share that the texts tell is of their numbers, and what it leaves."""
    for share in {share for text in texts for share in _fractions(text)}:
        if one.kind == "share":
            yield from (100 * share, 100 * (1 - share))
        for q in there.quantities if one.kind != "share" else ():
            if q.kind == one.kind:
                yield from (q.value * share, q.value * (1 - share))


def _fractions(text: str) -> Iterator[float]:
    """The shares that a text tells in words: two thirds, a quarter, 3분의 2, halved."""
    parts = english_contrasts.PARTS
    for found in _FRACTION.finditer(text):
        if found["of"]:  # 3분의 2
            number = korean_contrasts.SINO
            yield number.get(found["top"], 0) / number.get(found["of"], 1)
        elif found["part"]:
            count = english_contrasts.COUNTS.get((found["count"] or "a").lower(), 1)
            share = count / parts[found["part"].lower().rstrip("s")]
            yield from (share,) if share < 1 else ()
        else:
            yield 0.5


def _is_two_digit_year(one: Quantity, there: Facts) -> bool:
    """True for 1983년 where the text has 83년."""
    is_year = not one.kind and 1900 <= one.value < 2100
    return is_year and any(
        q.kind == "month" and q.value == one.value % 100 * 12 and q.value >= 360 for q in there.quantities
    )


def _is_by_words(claim: str, one: Quantity, there: Facts) -> bool:
    """A difference, what is left, a half, the year after: where the claim has a word for it."""
    if _HALVED.search(claim) and any(q.kind == one.kind and q.value == 2 * one.value for q in there.quantities):
        return True
    is_next = any(_NEXT.search(word) for word in there.words)
    if not _RECKONED.search(claim) and not is_next:
        return False
    alike = sorted({q.value for q in there.quantities if not one.kind or q.kind == one.kind})
    if one.kind == "time":
        alike += [60.0 * minutes for minutes in there.times]
    if one.kind == "day":
        alike += [float(date.day) for date in there.dates if date.day]
    years = [q.value / 12 for q in there.quantities if q.kind == "month"]
    if not one.kind and FIRST_YEAR <= one.value < LAST_YEAR:
        began = [value for value in there.bare if FIRST_YEAR <= value < LAST_YEAR]
        return any(abs(one.value - year) in (*years, *([1.0] if is_next else ())) for year in began)
    return any(_is_near(abs(a - b), one.value) for a in alike for b in alike)


def _is_near(one: float, other: float, share: float = 1e-6) -> bool:
    return other > 0 and abs(one - other) <= share * max(1.0, abs(one))
