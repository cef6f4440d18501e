"""Sentences of an answer to a question → how well texts support each, what the question gives taken from it. Pure.

An amount that the question gives, and that the texts bound, is read as the bound (kb/support/cases.py); a conclusion about it, by the
rule that it is drawn from (kb/support/conclusions.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kb.arrays import Encode, ReadClaims
from kb.frozen import dataclass
from kb.language.quantities import facts_of, join_facts, missing_facts
from kb.support.cases import restate_cases
from kb.support.check import CONTRADICTED, VERIFIED, Reading, SupportStatus, read_claims, reasons_of, status_of
from kb.support.conclusions import Conclusion, conclusion_of, denies
from kb.support.faults import DENIED, Found, find_faults

# How a reason ends that tells of another bound.
OTHER_BOUND = ", the text does not"
# A rule counts as the texts' own from this probability on: one with the number of another thing is likely, too.
RULE_SURE = 0.9


@dataclass(frozen=True, slots=True)
class Asked:
    """One sentence against its texts.

    score     in [0, 1]
    reckoned  what was reckoned with an amount of the question: "412 kg is more than 300 kg"
    concludes whether it follows from a rule that it states, and that the texts have
    leans     whether it names what the head of the texts' document says alone
    """

    score: float
    reading: Reading
    reckoned: tuple[str, ...] = ()
    concludes: bool = False
    leans: bool = False

    @property
    def status(self) -> SupportStatus:
        """As of any sentence; never more than "likely" where something was reckoned, for a bound need be no rule, or where it leans."""
        status = status_of(self.score, self.reading)
        return "likely" if self.concludes or ((self.reckoned or self.leans) and status == "verified") else status

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not backed, in words; what was reckoned stands for the words that it was read in."""
        reasons = reasons_of(self.score, self.reading)
        if not self.reckoned:
            return reasons
        return (*self.reckoned, *(r for r in reasons if not r.endswith(OTHER_BOUND))) if reasons else ()


def read_asked(
    claims: Sequence[str],
    evidence: Sequence[tuple[str, ...]],
    question: str,
    encode: Encode | None = None,
    read: ReadClaims | None = None,
    *,
    open_only: bool = False,
) -> list[Asked]:
    """`read_claims` of sentences that answer a question."""
    cases = [restate_cases(claim, texts, question) for claim, texts in zip(claims, evidence, strict=True)]
    found = read_claims([case.text for case in cases], evidence, encode, read, open_only=open_only)
    asked = [
        Asked(_found_or_doubted(score, reading) if case.reckoned else score, reading, case.reckoned)
        for (score, reading), case in zip(found, cases, strict=True)
    ]
    return _with_conclusions(asked, claims, evidence, question, read)


def _found_or_doubted(score: float, reading: Reading) -> float:
    """The score of what is made of a case: where it is no copy of the rule, words alone do not back it."""
    doubts = reading.reader is not None and reading.reader < VERIFIED
    return min(score, CONTRADICTED) if doubts else score


def _with_conclusions(
    asked: list[Asked],
    claims: Sequence[str],
    evidence: Sequence[tuple[str, ...]],
    question: str,
    read: ReadClaims | None,
) -> list[Asked]:
    """The same, those that are doubted read again by the rule from which they follow."""
    before = ["", *claims[:-1]]
    drawn = {
        i: conclusion_of(claims[i], question, before[i] if before[i] != claims[i] else "")
        for i, one in enumerate(asked)
        if one.score < VERIFIED
    }
    following = {
        i: found
        for i, found in drawn.items()
        if found
        and found.follows
        and _is_about(found, evidence[i])
        and _is_same(found.reckoned, asked[i].reckoned)
        and all(reason == DENIED or reason.endswith(OTHER_BOUND) for reason in asked[i].reading.found.against)
    }
    rules = read_claims([c.rule for c in following.values()], [evidence[i] for i in following], read=read)
    for (i, conclusion), (score, reading) in zip(following.items(), rules, strict=True):
        if score >= RULE_SURE and not reading.faults:
            own = replace(asked[i].reading, found=Found(), windows=reading.windows)
            asked[i] = Asked(score, own, (conclusion.reckoned,), concludes=True)
    return asked


def _is_same(drawn: str, reckoned: tuple[str, ...]) -> bool:
    """Whether a conclusion is drawn from the bound that the case was held against, where it was."""
    numbers = re.findall(r"\d[\d,.]*", drawn)
    return not reckoned or any(re.findall(r"\d[\d,.]*", told) == numbers for told in reckoned)


def _is_about(conclusion: Conclusion, texts: tuple[str, ...]) -> bool:
    """Whether the texts have the numbers and names of the part that tells of the case, and say nothing against what it allows."""
    if missing_facts(facts_of(conclusion.rest), join_facts([facts_of(text) for text in texts])) != ([], []):
        return False
    return denies(conclusion.rest) or not find_faults(conclusion.rest, texts, "").against
