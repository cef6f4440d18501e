"""A candidate's hashes against a known text → how much of the candidate is in the known text, in [0, 1]. Pure.

Overlap is *containment*: the share of the candidate's shingles that the known text has. A Jaccard index compares
sizes too, and so calls a passage of 50 tokens that stands verbatim in a span of 190 new. k belongs to the comparison: a
short candidate is compared by shingles of three on both sides.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from kb.fingerprint import SHORT_TEXT_TOKENS, Fingerprint
from kb.packing.known_text import SPAN_TOKENS, KnownText
from kb.shingles import shingle_hashes, shingles_behind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

# So few permutations that agree say little of how many shingles are shared, and the best of forty units has some by
# chance. Each tells which shingle it is, though: a common phrase gives the same one or two again and again, a copy gives
# different ones. Then at most twice as many are taken to be shared as were seen. What it does is in benchmarks/README.md.
FEW_MATCHES = 4


def is_short(token_count: int) -> bool:
    """True for texts that are compared by shingles of three, and in one place of the known text."""
    return token_count < SHORT_TEXT_TOKENS


def has_verbatim(known_text: KnownText, spaced_text: str) -> bool:
    """True when a normal form, spaced, stands in the known text as whole tokens."""
    return bool(spaced_text) and f" {spaced_text} " in known_text.words


def counted_containment(known_text: KnownText, hashes: Hashes) -> float:
    """The share of a candidate's shingles that the known text itself has; 0 for a candidate without a shingle.

    hashes  the candidate's tokens, (n,) uint64

    Of a short candidate the shingles count that stand in one place of the known text, within twice its length. A thousand
    tokens hold a third of the trigrams of any short sentence of their genre, scattered; a copy stands together.
    """
    import numpy as np

    short = is_short(len(hashes))
    k = known_text.shape.short_k if short else known_text.shape.k
    wanted = np.unique(shingle_hashes(hashes, k))
    ordered, places = known_text.ordered_shingles(k)
    if not len(wanted) or not len(ordered):
        return 0.0
    first = np.searchsorted(ordered, wanted, side="left")
    if not short:
        found = ordered[np.minimum(first, len(ordered) - 1)] == wanted
        return float(np.count_nonzero(found)) / len(wanted)
    last = np.searchsorted(ordered, wanted, side="right")
    matches = sorted(
        (int(place), shingle)
        for shingle, (start, end) in enumerate(zip(first, last, strict=True))
        for place in places[start:end]
    )
    return _most_within(matches, 2 * len(hashes)) / len(wanted)


def _most_within(matches: list[tuple[int, int]], reach: int) -> int:
    """The most different shingles whose places, ascending, lie less than `reach` apart."""
    inside: deque[tuple[int, int]] = deque()
    counts: Counter[int] = Counter()
    most = 0
    for place, shingle in matches:
        inside.append((place, shingle))
        counts[shingle] += 1
        while place - inside[0][0] >= reach:
            _, gone = inside.popleft()
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        most = max(most, len(counts))
    return most


def estimated_containment(known_text: KnownText, candidate: Fingerprint) -> float:
    """The same from signatures: the best of single spans and of runs of spans side by side.

    A run is as long as the candidate can reach over, two spans at least. From the Jaccard index of two signatures,
    containment is J·(|A| + |B|) / (|A|·(1 + J)). The whole known text is no unit: beside it a passage is too small to be seen.
    What few matches say is taken with care (FEW_MATCHES).
    """
    import numpy as np

    k = known_text.shape.short_k if is_short(candidate.token_count) else known_text.shape.k
    sketch = candidate.sketch(k)
    if sketch is None or not sketch.shingle_count:
        return 0.0
    units = known_text.units(k, 2 + (candidate.token_count - 1) // SPAN_TOKENS)
    if not len(units.counts):
        return 0.0
    own = np.frombuffer(sketch.minhash, "<u4")
    matches = units.signatures == own
    counts = np.count_nonzero(matches, axis=1)
    jaccard = counts / len(own)
    size = sketch.shingle_count
    # The index itself where a count of shingles that came from elsewhere makes the formula say less.
    containment = np.maximum(jaccard, jaccard * (size + units.counts) / (size * (1 + jaccard)))
    best = 0.0
    for unit in np.argsort(-containment, kind="stable"):
        if containment[unit] <= best:
            break
        most = 1.0
        if counts[unit] <= FEW_MATCHES:
            seen = np.unique(shingles_behind(own)[matches[unit]])
            most = min(1.0, 2 * len(seen) / size)
        best = max(best, min(most, float(containment[unit])))
    return best


def nearest_simhash(known_text: KnownText, candidate: Fingerprint) -> int | None:
    """The fewest bits in which the candidate's SimHash differs from a span's or the whole's; None without a word."""
    import numpy as np

    if not candidate.token_count or not len(known_text.simhashes):
        return None
    return int(np.bitwise_count(known_text.simhashes ^ np.uint64(candidate.simhash64)).min())
