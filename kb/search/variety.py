"""A ranking → the one that is shown: copies of a better hit folded into it, a document's further passages a little later. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kb.fingerprint import SHORT_TEXT_TOKENS, normalize, tokens_of
from kb.records import CopyKind, Ranking

# Share of a passage's shingles that a better hit must have for the passage to be its copy.
COPIED_SHARE = 0.9
SHINGLE_WORDS = 3
# The longest words of a passage; texts are compared where a better hit has so many of them. Of the words of a copy, a
# tenth may be others, and those may be the longest.
PROBED_WORDS = 16
PROBES_SHARED = 0.6


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
    ranking: Ranking, texts: Mapping[int, str]
) -> tuple[list[tuple[int, float]], dict[int, list[tuple[int, CopyKind]]]]:
    """The ranking without passages that a better one says word for word, or nearly.

    texts    those that may be copies or have them
    returns  what is left, and for each passage that has copies their chunk_ids, with how alike they are
    """
    kept: list[tuple[int, float]] = []
    copies: dict[int, list[tuple[int, CopyKind]]] = {}
    with_word: dict[str, list[int]] = {}  # what is kept, by its words
    for chunk_id, score in ranking:
        words = _words(texts[chunk_id]) if chunk_id in texts else set()
        probes = sorted(sorted(words), key=len, reverse=True)[:PROBED_WORDS]
        shared = Counter(better for word in probes for better in with_word.get(word, ()))
        alike = [better for better, count in shared.items() if count >= PROBES_SHARED * len(probes)]
        for better in alike:
            kind = _copy_kind(texts[better], texts[chunk_id])
            if kind:
                copies.setdefault(better, []).append((chunk_id, kind))
                break
        else:
            kept.append((chunk_id, score))
            for word in words:
                with_word.setdefault(word, []).append(chunk_id)
    return kept, copies


def _words(text: str) -> set[str]:
    """The words of a text, with the punctuation at them; the text itself where it has none."""
    return set(text.lower().split()) or {text}


def _copy_kind(better: str, later: str) -> CopyKind | None:
    one, other = normalize(better), normalize(later)
    if one == other:
        return "same"
    if min(len(tokens_of(one)), len(tokens_of(other))) < SHORT_TEXT_TOKENS:
        return None
    return "near" if holds_copy(better, later) else None


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
