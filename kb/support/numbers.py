"""A claim and the texts it cites → the claim with its numbers and bounds as the texts write equal ones. Pure.

What reads words, a rule or a model of language, cannot convert: "2 traits" is "two traits", and 2,400 seconds are 40 minutes; "no more
than 15" is "at most 15", and what is 41 metres tall is "more than 40 metres" tall.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.language import english_contrasts, korean_contrasts
from kb.language.english_contrasts import SAME_BOUNDS
from kb.language.korean_particles import fitting_particle, is_hangul
from kb.language.number_forms import durations_of, with_halves_of_day
from kb.language.quantities import Quantity, clock_times, facts_of
from kb.support.contrast import bound_in, bounds_of
from kb.support.reckoning import rounded_by

_PARTICLE = re.compile("[을를은는이가과와](?![가-힣])")
# What is written behind 분 and 시간 with a number: 160분입니다.
_PARTICLE_BEHIND = re.compile(r"(?<=분)[가-힣]+$|(?<=시간)[가-힣]+$")
_MONEY = re.compile(r"[$€£₩]\s?[\d,.]*\d(?: (?:hundred|thousand|million|billion|trillion))?")
# The words of a bound before a number, from the longest on.
_BOUND_BEFORE = re.compile(
    rf"\b(?:just )?(?:{'|'.join(sorted((word for words in SAME_BOUNDS for word in words), key=len, reverse=True))}|about|around|nearly|almost|roughly|approximately) $",
    re.I,
)


def restate_numbers(claim: str, texts: Sequence[str]) -> str:
    """A claim with each number that no text writes so, as the texts write an equal one that measures or counts the same.

    A bound of another number goes, where the text's number keeps it and is near it.

    >>> restate_numbers("It bakes for 2,400 seconds.", ["Bake it for 40 minutes."])
    'It bakes for 40 minutes.'
    >>> restate_numbers("No more than 15 may climb it, for over 30 minutes.", ["At most 15 may climb it, for 35 minutes."])
    'At most 15 may climb it, for 35 minutes.'
    """
    claim = _restate_times(_restate_bounds(_restate_words(claim, texts), texts), texts)
    claim = _restate_durations(claim, texts)
    written: list[Quantity] = []
    for one in facts_of(claim).quantities:
        if any(_place_of(one.written).search(text) for text in texts):
            continue
        written = written or [said for text in texts for said in facts_of(text).quantities]
        of_its_kind = (said for said in written if (said.kind, said.counted) == (one.kind, one.counted))
        equal = next((said for said in of_its_kind if said.backs(one)), None)
        found = equal and _place_of(counting(one)).search(claim)
        if equal and found:
            claim = claim[: found.start()] + joined(counting(equal), claim[found.end() :])
        elif not equal:
            claim = _without_bound(claim, one, written)
    return claim


def _without_bound(claim: str, one: Quantity, written: Sequence[Quantity]) -> str:
    """A claim with a bound and its number replaced by the one number of the texts, of that kind, that keeps it."""
    place = _place_of(counting(one)).search(claim)
    before = place and _BOUND_BEFORE.search(claim[: place.start()])
    if not place or not before or not (one.kind or one.counted):
        return claim
    bound = bound_in(dict(bounds_of(claim)), one.written)
    kept = {q.value: q for q in rounded_by(one, bound, written) if q.counted == one.counted}
    if len(kept) != 1:
        return claim
    (said,) = kept.values()
    return claim[: before.start()] + counting(said) + claim[place.end() :]


# Words with a number in them, as others say the same: (what the claim says, what no text says then, what is said instead).
_SAID_OTHERWISE = tuple(
    (re.compile(ours, re.I), re.compile(theirs, re.I), instead)
    for ours, theirs, instead in (*english_contrasts.SAID_OTHERWISE, *korean_contrasts.SAID_OTHERWISE)
)
# Behind "a year" these make a moment or a stretch of it.
_NO_PERIOD = r"(?! ?(?:later|ago|before|after|earlier|old|long|or|동안|간|이상|이하|뒤|후|전|만에|넘))"
# A period as a line of the tables has it, before or behind a number.
_PERIODS = tuple(
    re.compile(
        rf"(?<![\w가-힣])(?:{'|'.join(sorted(same, key=len, reverse=True))})(?= ?[\d$€£₩한두세네석넉]|(?![\w가-힣])){_NO_PERIOD}",
        re.I,
    )
    for same in (*english_contrasts.SAME_PERIODS, *korean_contrasts.SAME_PERIODS)
)


def _restate_words(claim: str, texts: Sequence[str]) -> str:
    """A claim with two weeks for a fortnight, 오전 9시 for 아침 9시, and "a year" for "per year", unless a text says it as the claim does."""
    for ours, theirs, instead in _SAID_OTHERWISE:
        if ours.search(claim) and not any(theirs.search(text) for text in texts):
            claim = ours.sub(instead, claim)
    for period in _PERIODS:
        found = period.search(claim)
        said = found and {match[0] for text in texts for match in period.finditer(text)}
        # Where a text has several, it may be about another one.
        if found and said and len(said) == 1 and found[0] not in said:
            claim = claim[: found.start()] + said.pop() + claim[found.end() :]
    return claim


def _restate_times(claim: str, texts: Sequence[str]) -> str:
    """A claim with its times of day as a text writes them: 7.30 p.m. for 19:30."""
    claim = with_halves_of_day(claim)
    ours = clock_times(claim)
    written: dict[int, str] = {}
    for text in map(with_halves_of_day, texts) if ours else ():
        written |= {minutes: text[a:b] for minutes, a, b in clock_times(text)}
    for minutes, start, end in sorted(ours, key=lambda found: -found[1]):
        said = written.get(minutes)
        if said and not any(claim[start:end] in text for text in texts):
            claim = claim[:start] + said + claim[end:].removeprefix("." if said.endswith(".") else "")
    return claim


def _restate_durations(claim: str, texts: Sequence[str]) -> str:
    """A claim with 2시간 40분 for 160분, or 2 h 40 min for "2 hours and 40 minutes", where a text writes it so."""
    written = {minutes: said for text in texts for minutes, said in durations_of(text)}
    ours = [
        *durations_of(claim),
        *((round(q.value / 60), q.written) for q in facts_of(claim).quantities if q.kind == "time"),
    ]
    for minutes, said in ours:
        there = written.get(minutes)
        if there and said in claim and not any(said in text for text in texts):
            place = claim.index(said)
            kept = _PARTICLE_BEHIND.search(said)
            end = place + len(said) - (len(kept[0]) if kept else 0)
            claim = claim[:place] + there + claim[end:]
    return claim


def _restate_bounds(claim: str, texts: Sequence[str]) -> str:
    """A claim with "no more than 15" as the texts write it, "at most 15"."""
    for same in SAME_BOUNDS:
        words = "|".join(sorted(same, key=len, reverse=True))
        for found in reversed(list(re.finditer(rf"\b({words}) (?=([$€£]?\d[\d,.]*\d|\d))", claim, re.I))):
            there = [re.search(rf"\b({words}) {re.escape(found[2])}(?![\w,.]*\d)", text, re.I) for text in texts]
            said = [match[1] for match in there if match]
            if said and found[1].lower() not in (word.lower() for word in said):
                word = said[0].capitalize() if found[1][0].isupper() else said[0].lower()
                claim = claim[: found.start()] + word + claim[found.end(1) :]
    return claim


def counting(quantity: Quantity) -> str:
    """A quantity as it is written, without the particle of a Korean counter; a bare number without the word behind it."""
    if not quantity.kind and not quantity.counted:
        return re.sub(r"(?<=\d)[가-힣]+$", "", quantity.written.split()[0])
    if money := _MONEY.match(quantity.written):
        return money[0]  # £60 of "£60 a year"
    if is_hangul(quantity.written[-1]) and not quantity.counted:
        return _without_ending(quantity)
    return quantity.written[: quantity.written.casefold().rfind(quantity.counted) + len(quantity.counted) or None]


def _without_ending(quantity: Quantity) -> str:
    """A Korean quantity as it is written, without what stands behind its unit: 3개월 of 3개월입니다."""
    for end in range(1, len(quantity.written)):
        read = facts_of(quantity.written[:end]).quantities
        if len(read) == 1 and (read[0].value, read[0].kind) == (quantity.value, quantity.kind):
            return quantity.written[:end]
    return quantity.written


def joined(said: str, rest: str) -> str:
    """A Korean quantity and what stands behind it, with the particle that fits its last sound: 40분이 for 2400초가."""
    particle = _PARTICLE.match(rest)
    return said + (fitting_particle(said, particle[0]) + rest[1:] if particle and is_hangul(said[-1]) else rest)


def _place_of(written: str) -> re.Pattern[str]:
    end = "" if is_hangul(written[-1]) else r"(?!\w)"
    return re.compile(rf"(?<![\w-]){re.escape(written)}{end}")
