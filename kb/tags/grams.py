"""Tokens → an index of character n-grams; a lookup → how alike each token is to it. No training, no library but numpy.

Each word of a token is a unit vector of its n-grams, weighted by how rare the word is; so a long common word ("framework")
does not drown a short rare one ("qt"). The words run together count half of that: "c-plus-plus" meets "cplusplus".
Initials stand beside it: "opa" meets "open-policy-agent" and the other way round.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from kb.tags.arrays import Arrays, places_of
from kb.tags.words import split_words

if TYPE_CHECKING:
    from kb.arrays import FloatVector

# benchmarks/tags.py --grid, held-out aliases of github topics, 3 seeds: 2 to 4 characters reach .835 recall@1 and .945
# recall@10, 2 to 3 .842 and .946, 3 to 6 .826 and .937; scikit-learn's char_wb, with all words alike, .736 and .894.
MIN_CHARS = 2
MAX_CHARS = 4
# Weight of the words run together, against 1 for the words apart: without .822 recall@1, at 1.5 .815.
JOINED_WEIGHT = 0.5
# How alike two tokens are by their initials alone; several with the same initials share it. Two letters are often chance.
# Without initials .811 recall@1, .917 recall@10.
INITIALS_SCORE = 0.8
TWO_INITIALS_SCORE = 0.5
SHARED_INITIALS_POWER = 0.25
MOST_INITIALS = 8
# An n-gram of more tokens than this (both limits) weighs nothing: it tells little, and most of the time goes into it.
COMMON_GRAM_TOKENS = 2_000
COMMON_GRAM_SHARE = 0.03


def grams_of(word: str) -> list[str]:
    """The n-grams of a word with a space on either side; a word too short for the longer ones has the shorter.

    >>> grams_of("qt")
    [' q', 'qt', 't ', ' qt', 'qt ', ' qt ']
    """
    padded = f" {word} "
    return [
        padded[i : i + size]
        for size in range(MIN_CHARS, min(MAX_CHARS, len(padded)) + 1)
        for i in range(len(padded) - size + 1)
    ]


def hash_of(text: str) -> int:
    """64 bits, the same on every machine and in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _parts(words: Sequence[str]) -> list[str]:
    """The words of a token, then all of them run together where there are several."""
    return [*words, "".join(words)] if len(words) > 1 else list(words)


def _grams(words: Sequence[str]) -> set[str]:
    return {gram for part in _parts(words) for gram in grams_of(part)}


def _initials(words: Sequence[str]) -> str | None:
    return "".join(word[0] for word in words) if 1 < len(words) <= MOST_INITIALS else None


def _weigh(
    words: Sequence[str], gram_weight: Mapping[str, float], word_weight: Mapping[str, float], unseen: float
) -> dict[str, float]:
    """The unit vector of a token's words, gram → weight."""
    vector: dict[str, float] = {}
    rarity = [word_weight.get(word, unseen) for word in words]
    weights = [*rarity, JOINED_WEIGHT * math.sqrt(sum(r * r for r in rarity))]
    for part, weight in zip(_parts(words), weights, strict=False):
        counts = Counter(grams_of(part))
        raw = {gram: (1 + math.log(n)) * gram_weight.get(gram, unseen) for gram, n in counts.items()}
        length = math.sqrt(sum(w * w for w in raw.values())) or 1.0
        for gram, value in raw.items():
            vector[gram] = vector.get(gram, 0.0) + weight * value / length
    length = math.sqrt(sum(v * v for v in vector.values())) or 1.0
    return {gram: value / length for gram, value in vector.items()}


def build_grams(tokens: Sequence[str]) -> Arrays:
    """The index of these tokens (keys; the position of a token is its row) as named arrays.

    gram_hashes, word_hashes  sorted; gram_idf, word_idf beside them; unseen: the weight of a gram or word of no token
    gram_starts, gram_rows, gram_weights              the postings of each gram
    initial_hashes, initial_starts, initial_rows      rows by the initials of their words, and by their one word
    """
    import numpy as np

    gram_counts: Counter[str] = Counter()
    word_counts: Counter[str] = Counter()
    split = [split_words(token) for token in tokens]
    for words in split:
        gram_counts.update(_grams(words))
        word_counts.update(set(words))
    unseen = math.log(1 + len(tokens)) + 1
    common = max(COMMON_GRAM_TOKENS, COMMON_GRAM_SHARE * len(tokens))
    gram_weight = {gram: unseen - math.log(1 + n) if n <= common else 0.0 for gram, n in gram_counts.items()}
    word_weight = {word: unseen - math.log(1 + n) for word, n in word_counts.items()}

    number = {gram: i for i, gram in enumerate(gram_counts)}
    columns, rows, weights = [], [], []
    for row, words in enumerate(split):
        vector = {g: w for g, w in _weigh(words, gram_weight, word_weight, unseen).items() if w}
        columns.append(np.fromiter((number[gram] for gram in vector), np.int32, len(vector)))
        weights.append(np.fromiter(vector.values(), np.float32, len(vector)))
        rows.append(np.full(len(vector), row, np.int32))
    hashes = np.fromiter(map(hash_of, gram_counts), np.uint64, len(gram_counts))
    order = np.argsort(hashes, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    place = rank[np.concatenate(columns)] if columns else np.empty(0, np.int64)
    by_gram = np.argsort(place, kind="stable")
    empty_rows, empty_weights = np.empty(0, np.int32), np.empty(0, np.float32)
    word_hashes = np.fromiter(map(hash_of, word_counts), np.uint64, len(word_counts))
    word_order = np.argsort(word_hashes, kind="stable")
    return {
        "gram_hashes": hashes[order],
        "gram_idf": np.fromiter(gram_weight.values(), np.float32, len(gram_weight))[order],
        "gram_starts": np.searchsorted(place[by_gram], np.arange(len(order) + 1)).astype(np.int64),
        "gram_rows": (np.concatenate(rows) if rows else empty_rows)[by_gram],
        "gram_weights": (np.concatenate(weights) if weights else empty_weights)[by_gram],
        "word_hashes": word_hashes[word_order],
        "word_idf": np.fromiter(word_weight.values(), np.float32, len(word_weight))[word_order],
        "unseen": np.array([unseen], np.float32),
        **_build_initials(split),
    }


def _build_initials(split: Sequence[Sequence[str]]) -> Arrays:
    import numpy as np

    places: dict[str, list[int]] = {}
    for row, words in enumerate(split):
        initials = _initials(words)
        if initials:
            places.setdefault(f"initials {initials}", []).append(row)
        elif len(words) == 1:
            places.setdefault(f"word {words[0]}", []).append(row)
    hashes = np.fromiter(map(hash_of, places), np.uint64, len(places))
    order = np.argsort(hashes, kind="stable")
    lists = list(places.values())
    sizes = np.array([len(lists[i]) for i in order], np.int64)
    return {
        "initial_hashes": hashes[order],
        "initial_starts": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "initial_rows": np.array([row for i in order for row in lists[i]], np.int32),
    }


class GramIndex:
    """A built index; the arrays may be memory-mapped."""

    def __init__(self, arrays: Arrays, size: int) -> None:
        self._arrays = arrays
        self._size = size
        self._unseen = float(arrays["unseen"][0])

    def score(self, lookup: str) -> FloatVector:
        """How alike each token is to a lookup, (tokens,) float32 in [0, 1]; 1 for a token of the same words."""
        import numpy as np

        words = split_words(lookup)
        gram_places = self._find("gram", _grams(words))
        arrays = self._arrays
        gram_idf = {gram: float(arrays["gram_idf"][at]) for gram, at in gram_places.items()}
        word_idf = {word: float(arrays["word_idf"][at]) for word, at in self._find("word", words).items()}
        vector = _weigh(words, gram_idf, word_idf, self._unseen)
        rows, values = [], []
        for gram, at in sorted(gram_places.items(), key=lambda pair: pair[1]):
            start, end = arrays["gram_starts"][at : at + 2]
            rows.append(arrays["gram_rows"][start:end])
            values.append(arrays["gram_weights"][start:end] * np.float32(vector[gram]))
        scores = np.zeros(self._size, np.float32)
        if rows:
            scores = np.bincount(np.concatenate(rows), np.concatenate(values), self._size).astype(np.float32)
        self._add_initials(scores, words)
        return np.minimum(scores, 1.0, out=scores)

    def _add_initials(self, scores: FloatVector, words: Sequence[str]) -> None:
        import numpy as np

        initials = _initials(words)
        name = f"word {initials}" if initials else f"initials {words[0]}" if len(words) == 1 else ""
        for at in self._find("initial", [name]).values() if name else ():
            start, end = self._arrays["initial_starts"][at : at + 2]
            letters = len(name.partition(" ")[2])
            if letters < 2:
                continue
            score = INITIALS_SCORE if letters > 2 else TWO_INITIALS_SCORE
            shared = np.float32(score / float(end - start) ** SHARED_INITIALS_POWER)
            rows = self._arrays["initial_rows"][start:end]
            scores[rows] = np.maximum(scores[rows], shared)

    def _find(self, kind: str, names: Iterable[str]) -> dict[str, int]:
        """The position of each name's hash; names that are not in the index are left out."""
        import numpy as np

        listed = sorted(set(names))
        wanted = np.fromiter(map(hash_of, listed), np.uint64, len(listed))
        places = places_of(wanted, self._arrays[f"{kind}_hashes"])
        return {name: int(at) for name, at in zip(listed, places, strict=True) if at >= 0}
