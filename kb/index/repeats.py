"""A query's terms, repeats included → how often each counts: BM25's part of the query. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

# Robertson and Walker, Okapi at TREC-8, use 7 to 1000; there is no difference between 1 and 1000 on the judged sets.
K3 = 8


def weigh_repeats(terms: Sequence[str]) -> dict[str, float]:
    """Term → (k3 + 1) · n / (k3 + n), in the order of first occurrence: 1 for a term that occurs once.

    >>> weigh_repeats(["wing", "flow", "wing"])
    {'wing': 1.8, 'flow': 1.0}
    """
    return {term: (K3 + 1) * count / (K3 + count) for term, count in Counter(terms).items()}
