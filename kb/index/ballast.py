"""Rows that hold no chunk, which bring an engine's average field lengths to those of the rows that count. Pure.

BM25 divides a field's length by the average length. An engine that counts deleted rows, or estimates lengths when it
merges segments, has another average than an index that was built from nothing, and so other scores. Rows with no term
lower its average, terms that no query has raise it; neither can be found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from kb.frozen import dataclass

# The chunk_id and doc_id of ballast; those of chunks and documents begin at 1.
BALLAST_ID = 0
# Averages that differ by less are the same: an engine divides as float32, which has 24 bits.
TOLERANCE = 2e-7
# Lengths are whole, so the average is met up to half a term over all rows; of so many numbers of rows the best is taken.
# A multiple of the live rows meets it exactly: in an index so small that half a term is much, one is among these.
TRIED_ROWS = 32
TRIED_ROWS_WHEN_SMALL = 512


@dataclass(frozen=True, slots=True)
class Ballast:
    """rows: how many to add; lengths: field → the terms that one of them holds there."""

    rows: int
    lengths: Mapping[str, int]


def needed_ballast(live: int, lengths: Mapping[str, int], rows: int, averages: Mapping[str, float]) -> Ballast | None:
    """What brings the averages to those of the live rows; None where they are the same.

    live      rows that count
    lengths   field → terms of all of these together, 1 or more
    rows      rows as the engine counts them
    averages  field → average length as the engine computes it

    >>> needed_ballast(100, {"text": 1000}, 110, {"text": 9.5})
    Ballast(rows=1, lengths={'text': 65})
    """
    wanted = {field: length / live for field, length in lengths.items()}
    if all(abs(averages[field] / wanted[field] - 1) <= TOLERANCE for field in wanted):
        return None
    # As many rows as it takes to need no fewer terms than there are, in every field.
    least = max(1, *(math.ceil(averages[field] * rows / wanted[field]) - rows for field in wanted))

    def terms(count: int) -> dict[str, float]:
        return {field: wanted[field] * (rows + count) - averages[field] * rows for field in wanted}

    def error(count: int) -> float:
        return max(abs(exact - round(exact)) / (wanted[field] * rows) for field, exact in terms(count).items())

    tried = range(least, least + (TRIED_ROWS if live > TRIED_ROWS_WHEN_SMALL else live))
    best = next((count for count in tried if error(count) < TOLERANCE / 4), None) or min(tried, key=error)
    return Ballast(best, {field: max(0, round(exact)) for field, exact in terms(best).items()})
