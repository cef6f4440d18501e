"""A claim that takes its amount from the question, and the texts' rule on such amounts → the claim in the rule's own amount. Pure.

"A trip for 7,000 euros needs approval" is what "a trip that costs more than €5,000 needs approval" says of the trip that was asked about.
What reads words cannot reckon that; put as "a trip for more than €5,000" it can be read. Where the case is not in the bound, it is put
as the other side of it, "up to 300 kg" as "more than 300 kg" of 412 kg, so that a claim which forgets the bound is against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.frozen import dataclass
from kb.language import english_contrasts
from kb.language.quantities import Quantity, facts_of
from kb.language.registry import has_letters
from kb.support.clauses import content_of, shared
from kb.support.contrast import bound_in, bound_said, bounds_of
from kb.support.numbers import counting, joined
from kb.text import split_sentences

# How a bound is put where its own words cannot stand before an amount: "exceeds 11 m/s".
_ENGLISH = {"more": "more than", "less": "less than"}
_KOREAN = {"more": " 초과", "less": " 미만"}
_BEFORE = re.compile(rf"\b(?:{english_contrasts.MORE}|{english_contrasts.LESS}) $", re.I)
_VERB = re.compile("exceed|surpass", re.I)
_BEHIND = re.compile(r"\s?(?:이상|이하|미만|초과|이내|까지)")


@dataclass(frozen=True, slots=True)
class _Rule:
    """A bound of a text: "more" or "less" than an amount; how both stand in `sentence`."""

    amount: Quantity
    bound: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Restated:
    """A claim as it is read.

    reckoned  what was reckoned for it, as a person would say it: "412 kg is more than 300 kg"
    """

    text: str
    reckoned: tuple[str, ...] = ()


def restate_cases(claim: str, texts: Sequence[str], question: str) -> Restated:
    """A claim with each amount that the question gives, and no text has, as the bound of a text puts it.

    >>> rule = ["A trip that costs more than €5,000 needs approval."]
    >>> restate_cases("A trip for 7,000 euros needs approval.", rule, "Who approves a trip for 7,000 euros?").text
    'A trip for more than €5,000 needs approval.'
    >>> restate_cases("She can carry 412 kg.", ["She carries up to 300 kg."], "Can she carry 412 kg?")
    Restated(text='She can carry more than 300 kg.', reckoned=('412 kg is more than 300 kg',))
    """
    reckoned = []
    for asked in facts_of(question).quantities:
        if not (asked.kind or asked.counted) or _is_said(asked, texts):
            continue
        for one in facts_of(claim).quantities:
            is_it = (one.value, one.kind, one.counted) == (asked.value, asked.kind, asked.counted)
            if not is_it or _bound(one, claim):
                continue
            rule = max(_rules(one, texts), key=lambda rule: _alike(claim, rule), default=None)
            put = _put(claim, one, rule) if rule and rule.amount.value != one.value else claim
            if rule and put != claim:
                side = _ENGLISH["more" if one.value > rule.amount.value else "less"]
                reckoned.append(f"{counting(one)} {'are' if one.counted else 'is'} {side} {counting(rule.amount)}")
                claim = put
            break
    return Restated(claim, tuple(reckoned))


def _is_said(amount: Quantity, texts: Sequence[str]) -> bool:
    return any(said.backs(amount) for text in texts for said in facts_of(text).quantities)


def _rules(case: Quantity, texts: Sequence[str]) -> Iterator[_Rule]:
    """The bounds on amounts of what the case has so much of."""
    for text in texts:
        for start, end in split_sentences(text):
            sentence = text[start:end]
            for amount in facts_of(sentence).quantities:
                bound = _bound(amount, sentence)
                if bound in ("more", "less") and (amount.kind, amount.counted) == (case.kind, case.counted):
                    yield _Rule(amount, bound, sentence)


def _bound(amount: Quantity, text: str) -> str:
    if amount.written[0].isdecimal() or amount.kind:
        return bound_in(dict(bounds_of(text)), amount.written)
    return bound_said(amount.written, text)


def _alike(claim: str, rule: _Rule) -> float:
    """The share of the claim that the rule's sentence has: of two rules on such amounts it is the nearer one's case."""
    return shared(content_of(claim), content_of(rule.sentence))


def _put(claim: str, case: Quantity, rule: _Rule) -> str:
    """The claim with the rule's bound for the case; as it is where the case cannot be found in it."""
    written, amount = counting(case), counting(rule.amount)
    at = claim.find(written)
    if at < 0:
        return claim
    keeps = (case.value > rule.amount.value) == (rule.bound == "more")
    side = rule.bound if keeps else ("less" if rule.bound == "more" else "more")
    place = rule.sentence.find(amount)
    rest = claim[at + len(written) :]
    if has_letters("ko", claim):
        own = _BEHIND.match(rule.sentence, place + len(amount)) if keeps else None
        return claim[:at] + joined(f"{amount}{own[0] if own else _KOREAN[side]}", rest)
    before = _BEFORE.search(rule.sentence[:place]) if keeps else None
    own_words = before[0].strip().lower() if before and not _VERB.match(before[0]) else ""
    return f"{claim[:at]}{own_words or _ENGLISH[side]} {amount}{rest}"
