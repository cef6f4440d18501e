"""A ranking → the one that is shown: copies of a better hit folded into it, a document's further passages a little later. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.fingerprint import SHORT_TEXT_TOKENS, Fingerprint, Sketch, normalize, tokens_of
from kb.records import CopyKind, Ranking

# Share of a passage's shingles that a better hit must have for the passage to be its copy; measured on the texts, since an
# estimate of 128 permutations is off by .05.
COPIED_SHARE = 0.9
# The estimate from which texts are compared at all: three standard errors below.
WORTH_COMPARING = 0.75
SHINGLE_WORDS = 3
# Of two texts that share half of their shingles, one pair in 65,000 agrees in none of so many permutations.
BANDS = 16


def spread_documents(ranking: Ranking, document_of: Mapping[int, int], loss: float) -> list[tuple[int, float]]:
    """The passages in another order, each picked by its score less a share for each passage of its document before it.

    loss     share of the score, in [0, 1): .1 leaves .9, .81, … to a document's second and third passage
    returns  (chunk_id, reduced score), best first; of equals the one that was first

    >>> spread_documents([(1, 0.8), (2, 0.79), (3, 0.75)], {1: 7, 2: 7, 3: 9}, 0.1)
    [(1, 0.8), (3, 0.75), (2, 0.7110000000000001)]
    """
    if not loss:
        return list(ranking)
    before: dict[int, int] = {}
    waiting: dict[int, float] = dict(ranking)
    picked: list[tuple[int, float]] = []
    while waiting:
        reduced = {i: score * (1 - loss) ** before.get(document_of.get(i, -i), 0) for i, score in waiting.items()}
        best = max(reduced, key=reduced.__getitem__)
        picked.append((best, reduced[best]))
        del waiting[best]
        document = document_of.get(best, -best)
        before[document] = before.get(document, 0) + 1
    return picked


def fold_copies(
    ranking: Ranking, texts: Mapping[int, str], fingerprints: Mapping[int, Fingerprint]
) -> tuple[list[tuple[int, float]], dict[int, list[tuple[int, CopyKind]]]]:
    """The ranking without passages that a better one says word for word, or nearly.

    returns  what is left, and for each passage that has copies their chunk_ids, with how alike they are
    """
    kept: list[tuple[int, float]] = []
    copies: dict[int, list[tuple[int, CopyKind]]] = {}
    like: dict[tuple[int, int | str], list[int]] = {}  # what is kept, by each of its first permutations
    for chunk_id, score in ranking:
        bands = _bands(fingerprints.get(chunk_id))
        for better in dict.fromkeys(i for band in bands for i in like.get(band, ())):
            kind = _copy_kind(better, chunk_id, texts, fingerprints)
            if kind:
                copies.setdefault(better, []).append((chunk_id, kind))
                break
        else:
            kept.append((chunk_id, score))
            for band in bands:
                like.setdefault(band, []).append(chunk_id)
    return kept, copies


def _bands(fingerprint: Fingerprint | None) -> list[tuple[int, int | str]]:
    """The first permutations of a signature, and its sha256 as one more: copies have one of them in common."""
    if fingerprint is None:
        return []
    signature = memoryview(fingerprint.long.minhash).cast("I")[:BANDS]
    return [(-1, fingerprint.sha256), *enumerate(signature)]


def _copy_kind(
    better: int, later: int, texts: Mapping[int, str], fingerprints: Mapping[int, Fingerprint]
) -> CopyKind | None:
    one, other = fingerprints.get(better), fingerprints.get(later)
    if one is None or other is None:
        return None
    if one.sha256 == other.sha256:
        return "same"
    if min(one.token_count, other.token_count) < SHORT_TEXT_TOKENS:
        return None
    if _containment(one.long, other.long) < WORTH_COMPARING:
        return None
    return "near" if holds_copy(texts[better], texts[later]) else None


def _containment(whole: Sketch, part: Sketch) -> float:
    """About which share of a text's shingles another has, by the permutations that agree."""
    a, b = (memoryview(sketch.minhash).cast("I") for sketch in (whole, part))
    jaccard = sum(map(int.__eq__, a, b)) / len(a)
    shared = jaccard * (whole.shingle_count + part.shingle_count) / (1 + jaccard)
    return shared / max(1, part.shingle_count)


def holds_copy(whole: str, part: str) -> bool:
    """Whether a text says what another says, nearly word for word, with the same numbers: v1 is no copy of v2.

    >>> holds_copy("The pump starts at 40 bar and stops at 60 bar.", "The pump starts at 40 bar and stops at 60 bar")
    True
    >>> holds_copy("The pump starts at 40 bar and stops at 60 bar.", "The pump starts at 45 bar and stops at 60 bar.")
    False
    """
    a, b = (tokens_of(normalize(text)) for text in (whole, part))
    if not _numbers(b) <= _numbers(a):
        return False
    wanted = _shingles(b)
    return bool(wanted) and len(wanted & _shingles(a)) >= COPIED_SHARE * len(wanted)


def _numbers(tokens: Sequence[str]) -> set[str]:
    return {token for token in tokens if any(c.isdigit() for c in token)}


def _shingles(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[i : i + SHINGLE_WORDS]) for i in range(len(tokens) - SHINGLE_WORDS + 1)}
