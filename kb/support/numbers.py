"""A claim and the texts it cites → the claim with its numbers as the texts write equal ones. Pure.

What reads words, a rule or a model of language, cannot convert: "2 traits" is "two traits", and 2,400 seconds are 40 minutes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.language.korean_particles import is_hangul
from kb.language.quantities import Quantity, facts_of


def restate_numbers(claim: str, texts: Sequence[str]) -> str:
    """A claim with each number that no text writes so, as the texts write an equal one that measures or counts the same.

    >>> restate_numbers("It bakes for 2,400 seconds.", ["Bake it for 40 minutes."])
    'It bakes for 40 minutes.'
    """
    written: list[Quantity] = []
    for one in facts_of(claim).quantities:
        if any(_place_of(one.written).search(text) for text in texts):
            continue
        written = written or [said for text in texts for said in facts_of(text).quantities]
        of_its_kind = (said for said in written if (said.kind, said.counted) == (one.kind, one.counted))
        equal = next((said for said in of_its_kind if said.backs(one)), None)
        found = equal and _place_of(_counting(one)).search(claim)
        if equal and found:
            claim = claim[: found.start()] + _counting(equal) + claim[found.end() :]
    return claim


def _counting(quantity: Quantity) -> str:
    """A quantity as it is written, without the particle of a Korean counter; a bare number without the word behind it."""
    if not quantity.kind and not quantity.counted:
        return quantity.written.split()[0]
    return quantity.written[: quantity.written.casefold().rfind(quantity.counted) + len(quantity.counted) or None]


def _place_of(written: str) -> re.Pattern[str]:
    end = "" if is_hangul(written[-1]) else r"(?!\w)"
    return re.compile(rf"(?<![\w-]){re.escape(written)}{end}")
