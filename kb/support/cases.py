"""A claim that takes its amount from the question, and the texts' rule on such amounts → the claim in the rule's own amount. Pure.

"A trip for 7,000 euros needs approval" is what "a trip that costs more than €5,000 needs approval" says of the trip that was asked about.
What reads words cannot reckon that; put as "a trip for more than €5,000" it can be read. Where the case is not in the bound, it is put
as the other side of it, "up to 300 kg" as "more than 300 kg" of 412 kg, so that a claim which forgets the bound is against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.frozen import dataclass
from kb.language import english_contrasts, korean_contrasts
from kb.language.quantities import Quantity, facts_of
from kb.language.registry import has_letters
from kb.support.check import FENCES
from kb.support.clauses import content_of, shared
from kb.support.conclusions import denies
from kb.support.contrast import bounded
from kb.support.faults import LONGEST_SENTENCE_CHARS
from kb.support.numbers import counting, joined
from kb.text import split_sentences

# How a bound is put where its own words cannot stand before an amount: "exceeds 11 m/s".
_ENGLISH = {"more": "more than", "less": "less than"}
_KOREAN = {"more": " 초과", "less": " 미만"}
_BEFORE = re.compile(rf"\b(?:{english_contrasts.MORE}|{english_contrasts.LESS}) $", re.I)
_VERB = re.compile("exceed|surpass", re.I)
# What stands before an amount that is itself what a claim tells, and behind it.
_MEASURES = re.compile(english_contrasts.MEASURES, re.I)
_IS_ALL = re.compile(korean_contrasts.IS_ALL)
# Bounds whose sentences have this share of what the nearest one has of a claim are as near.
AS_NEAR = 0.5
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
    if len(claim) > LONGEST_SENTENCE_CHARS or claim.startswith(FENCES):
        return Restated(claim)
    for asked in facts_of(question[:LONGEST_SENTENCE_CHARS]).quantities:
        if not (asked.kind or asked.counted) or _is_said(asked, texts):
            continue
        for one in facts_of(claim).quantities:
            is_it = (one.value, one.kind, one.counted) == (asked.value, asked.kind, asked.counted)
            if not is_it or any(amount == one for amount, _ in bounded(claim)):
                continue
            rule = _rule_of(one, claim, texts)
            put = _put(claim, one, rule) if rule else claim
            if rule and put != claim:
                side = _ENGLISH["more" if one.value > rule.amount.value else "less"]
                reckoned.append(f"{counting(one)} {'are' if one.counted else 'is'} {side} {counting(rule.amount)}")
                claim = put
            break
    return Restated(claim, tuple(reckoned))


def _is_said(amount: Quantity, texts: Sequence[str]) -> bool:
    return any(said.backs(amount) for text in texts for said in facts_of(text).quantities)


def _rule_of(case: Quantity, claim: str, texts: Sequence[str]) -> _Rule | None:
    """The bound that a claim is about: the one that it states itself, or of those near to its words the narrowest that has the case in it,
    as the rule for over €100 of an order of €150 where one for over €50 stands beside it.
    """
    rules = [(rule, _alike(claim, rule)) for rule in _rules(case, texts) if rule.amount.value != case.value]
    stated = {(q.value, q.kind, q.counted) for q in facts_of(claim).quantities}
    if own := [rule for rule, _ in rules if (rule.amount.value, rule.amount.kind, rule.amount.counted) in stated]:
        return own[0]
    best = max((alike for _, alike in rules), default=0.0)
    near = [(rule, alike) for rule, alike in rules if alike >= AS_NEAR * best]
    inside = [rule for rule, _ in near if _has(rule, case)]
    if inside:
        return min(inside, key=lambda rule: abs(rule.amount.value - case.value))
    return max(near, key=lambda one: one[1])[0] if near else None


def _has(rule: _Rule, case: Quantity) -> bool:
    return (case.value > rule.amount.value) == (rule.bound == "more")


def _rules(case: Quantity, texts: Sequence[str]) -> Iterator[_Rule]:
    """The bounds on amounts of what the case has so much of."""
    for text in texts:
        for start, end in split_sentences(text):
            sentence = text[start:end]
            for amount, bound in bounded(sentence) if end - start <= LONGEST_SENTENCE_CHARS else ():
                if (amount.kind, amount.counted) == (case.kind, case.counted):
                    yield _Rule(amount, bound, sentence)


def _alike(claim: str, rule: _Rule) -> float:
    """The share of the claim that the rule's sentence has: of two rules on such amounts it is the nearer one's case."""
    return shared(content_of(claim), content_of(rule.sentence))


def _put(claim: str, case: Quantity, rule: _Rule) -> str:
    """The claim with the rule's bound for the case.

    As it is where the case cannot be found in it, where the amount is what it tells ("the bridge is 250 metres long"), and where it
    denies what the rule does not, or the other way: what follows then is no matter of words (kb/support/conclusions.py).
    """
    written, amount = counting(case), counting(rule.amount)
    found = re.search(rf"(?<![\w.,]){re.escape(written)}", claim)
    if not found or _MEASURES.search(claim[: found.start()]) or _IS_ALL.match(claim, found.end()):
        return claim
    if denies(claim) != denies(rule.sentence):
        return claim
    before, rest = claim[: found.start()], claim[found.end() :]
    keeps = _has(rule, case)
    side = rule.bound if keeps else ("less" if rule.bound == "more" else "more")
    place = max(0, rule.sentence.find(amount))  # at 0 nothing stands before it: **300** kg is not found
    if has_letters("ko", claim):
        own = _BEHIND.match(rule.sentence, place + len(amount)) if keeps else None
        return before + joined(f"{amount}{own[0] if own else _KOREAN[side]}", rest)
    said = _BEFORE.search(rule.sentence[:place]) if keeps else None
    words = said[0].strip().lower() if said and not _VERB.match(said[0]) else ""
    return f"{before}{words or _ENGLISH[side]} {amount}{rest}"
