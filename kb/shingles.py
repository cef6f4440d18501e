"""Normal form → hashes of its tokens and shingles, SimHash and MinHash over them. Pure numbers, (n,) arrays.

Punctuation around a word is not part of its token; punctuation inside it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from kb.normal_form import has_unspaced, spaced

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Signature = NDArray[np.uint32]
    Bits = NDArray[np.uint8]

# Names the way tokens become hashes and hashes signatures: payloads carry it, since signatures of two schemes look alike.
SCHEME = "blake2b64-poly-mul32"
# Seed of the multipliers of the permutations.
SEED = 20_260_000
# Shingles are made of the beginning of a normal form, sha256 of all of it.
MOST_CHARS = 20_000
# Entries of the table of token hashes: some 100 bytes each, and a corpus of 100,000 chunks has fewer words.
_MOST_TOKENS = 500_000
_EMPTY_SLOT = 0xFFFFFFFF


def tokens_of(normalized: str) -> list[str]:
    """The words of a normal form without the punctuation around them; a character each in scripts without spaces.

    >>> tokens_of("set `max_tokens` to **500**, then run -- 한글로 日本")
    ['set', 'max_tokens', 'to', '500', 'then', 'run', '한글로', '日', '本']
    """
    return [core for core in map(_core, spaced(normalized).split()) if core]


# Punctuation that is stripped around a word; inside one it stays: snake_case, a.b/c-d, x=3.
_AROUND = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~«»“”‘’„‚…–—·•、。「」『』（）【】《》"


def _core(word: str) -> str:
    return word.strip(_AROUND)


class _TokenHashes(dict[str, int]):
    """Word → 64-bit hash of its core, 0 for punctuation; filled as words are met, so that most words cost a look-up."""

    def __missing__(self, word: str) -> int:
        core = _core(word)
        value = 0
        if core:
            digest = hashlib.blake2b(core.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            value = int.from_bytes(digest, "little") or 1
        if len(self) < _MOST_TOKENS:
            self[word] = value
        return value


_token_hashes = _TokenHashes()


def word_hashes(words: Sequence[str]) -> Hashes:
    """The hashes of words between spaces, (n,) uint64; 0 for a word that is all punctuation and makes no token."""
    import numpy as np

    return np.fromiter(map(_token_hashes.__getitem__, words), np.uint64, len(words))


def token_hashes(normalized: str) -> Hashes:
    """The hashes of the tokens of a normal form's first MOST_CHARS, in order, (n,) uint64."""
    return hash_line(normalized, None)


def all_token_hashes(normalized: str) -> Hashes:
    """The hashes of all tokens of a normal form, however long."""
    return _without_punctuation(word_hashes(spaced(normalized).split()))


def hash_line(line: str, words: Sequence[str] | None) -> Hashes:
    """The token hashes of a normal form's first MOST_CHARS; its words, where they are at hand, save a split."""
    if len(line) > MOST_CHARS:
        line, words = line[:MOST_CHARS], None
    if words is None or has_unspaced(line):
        words = spaced(line).split()
    return _without_punctuation(word_hashes(words))


def _without_punctuation(hashes: Hashes) -> Hashes:
    return hashes if hashes.all() else hashes[hashes != 0]


def shingle_hashes(hashes: Hashes, k: int) -> Hashes:
    """Hashes of every k tokens in a row, (n - k + 1,) uint64, in order; empty when there are fewer than k."""
    import numpy as np

    count = len(hashes) - k + 1
    if count <= 0:
        return np.empty(0, np.uint64)
    # A polynomial in an odd constant keeps the order of the tokens; the end spreads the upper bits (splitmix64).
    mixed = hashes[:count].copy()
    for offset in range(1, k):
        mixed *= _MULTIPLIER()
        mixed += hashes[offset : offset + count]
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MULTIPLIER()
    mixed ^= mixed >> np.uint64(29)
    return mixed


@cache
def _MULTIPLIER() -> np.uint64:  # noqa: N802
    import numpy as np

    return np.uint64(0xBF58476D1CE4E5B9)  # of splitmix64 (Steele, Lea and Flood 2014)


def simhash64(hashes: Hashes) -> int:
    """SimHash of 64-bit features, one entry for each occurrence: a bit is set where most features have it; ties are 0."""
    import numpy as np

    return majorities(np.add.reduce(bits_of(hashes), axis=0, dtype=np.uint32)[None], [len(hashes)])[0]


def bits_of(hashes: Hashes) -> Bits:
    """(n,) uint64 as (n, 64) bits, the lowest first."""
    import numpy as np

    return np.unpackbits(hashes.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")


def majorities(ones: Signature, totals: Sequence[int]) -> list[int]:
    """For each row, (n, 64), the bits that more than half of its features have."""
    import numpy as np

    most = ones * 2 > np.array(totals, np.uint32)[:, None]
    packed: list[int] = np.packbits(most, axis=1, bitorder="little").view("<u8")[:, 0].tolist()
    return packed


@cache
def multipliers(permutations: int) -> Signature:
    """Odd uint32 factors, one a permutation; the first of a longer row are those of a shorter one."""
    import numpy as np

    # Philox is documented and the same on every machine; PCG's bits for integers may change between numpy versions.
    raw = np.random.Philox(SEED).random_raw(permutations)
    return (raw >> np.uint64(32)).astype(np.uint32) | np.uint32(1)


def minhash(shingles: Hashes, permutations: int) -> Signature:
    """The least value of each permutation over the shingles, (permutations,) uint32; all ones where there is none.

    A permutation is the product with an odd factor modulo 2³², a bijection; an added constant would cost a third more
    time and shifts nothing, since shingle hashes are already spread evenly.
    """
    import numpy as np

    if not len(shingles):
        return np.full(permutations, _EMPTY_SLOT, np.uint32)
    values = (shingles >> np.uint64(32)).astype(np.uint32)[:, None]
    factors = multipliers(permutations)
    least: Signature = np.minimum.reduce(values[:_ROWS] * factors, axis=0)
    for start in range(_ROWS, len(values), _ROWS):
        np.minimum(least, np.minimum.reduce(values[start : start + _ROWS] * factors, axis=0), out=least)
    return least


# Rows of the product at a time: 128 kB, which stay in the second-level cache.
_ROWS = 256


@cache
def _inverses(permutations: int) -> Hashes:
    """What undoes each multiplication: odd factors have an inverse modulo 2³²."""
    import numpy as np

    return np.array([pow(int(factor), -1, 2**32) for factor in multipliers(permutations)], np.uint64)


def shingles_behind(signature: Signature) -> Hashes:
    """Which shingle, as the 32 bits that are permuted, has the least value in each permutation, (permutations,)."""
    import numpy as np

    return (signature.astype(np.uint64) * _inverses(len(signature))) & np.uint64(0xFFFFFFFF)


def count_distinct(shingles: Hashes) -> int:
    """How many different shingles there are."""
    import numpy as np

    if not len(shingles):
        return 0
    ordered = np.sort(shingles)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
