"""Text → its fingerprint: sha256, SimHash64 and MinHash over token shingles, for comparing texts by hashes alone.

Two views of a text. The normal form (NFKC, small letters, one space, Markdown's marks gone where they are marks) is what
sha256 is taken of: it keeps every character that may mean something. Tokens are the normal form's words without the
punctuation around them: shingles and SimHash are made of these, so quotes, emphasis and line breaks do not change them.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from kb.frozen import dataclass
from kb.normal_form import normal_words, normalize
from kb.shingles import (
    bits_of,
    count_distinct,
    hash_line,
    majorities,
    minhash,
    shingle_hashes,
    token_hashes,
    tokens_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

__all__ = [
    "DEFAULT_SHAPE",
    "FP_VERSION",
    "Fingerprint",
    "FingerprintCache",
    "Shape",
    "Sketch",
    "fingerprint",
    "fingerprint_many",
    "normalize",
    "tokens_of",
]

# Bump when a fingerprint of the same text changes: the normal form, the tokens, the hashes or the permutations.
FP_VERSION = "kb-fp-1"
# The shingle size of short texts, and the length in tokens below which a text is short.
SHORT_K = 3
SHORT_TEXT_TOKENS = 20


@dataclass(frozen=True, slots=True)
class Shape:
    """What a signature is made with; two signatures can be compared only when theirs are the same.

    k             tokens of a shingle; short texts are compared by shingles of min(3, k)
    permutations  length of a MinHash signature
    """

    k: int = 5
    permutations: int = 128

    @property
    def short_k(self) -> int:
        """Tokens of a shingle of a short text."""
        return min(SHORT_K, self.k)


DEFAULT_SHAPE = Shape()


@dataclass(frozen=True, slots=True)
class Sketch:
    """A text's shingles of one size, as a MinHash signature.

    minhash        uint32, little endian, one for each permutation; all ones where there is no shingle
    shingle_count  distinct shingles
    """

    k: int
    minhash: bytes
    shingle_count: int


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The hashes that identify a text, and estimate its overlap with another.

    sha256      of the whole normal form, hex
    simhash64   over its tokens by frequency (Charikar 2002); 0 for a text without a token
    long        shingles of the shape's k (5)
    short       shingles of three: what short texts are compared by
    """

    sha256: str
    simhash64: int
    long: Sketch
    short: Sketch
    token_count: int

    @property
    def shape(self) -> Shape:
        """What it was made with."""
        return Shape(self.long.k, len(self.long.minhash) // 4)

    def sketch(self, k: int) -> Sketch | None:
        """The sketch of shingles of this size, None where there is none."""
        return self.long if self.long.k == k else self.short if self.short.k == k else None


def fingerprint(text: str, shape: Shape = DEFAULT_SHAPE) -> Fingerprint:
    """The fingerprint of one text."""
    return fingerprint_normalized(normalize(text), shape)


def fingerprint_many(texts: Iterable[str], shape: Shape = DEFAULT_SHAPE) -> list[Fingerprint]:
    """The fingerprints of texts, in their order; faster for each than one at a time."""
    found: list[Fingerprint] = []
    remaining = iter(texts)
    while batch := [normal_words(text) for text in islice(remaining, _BATCH)]:
        found += _fingerprint_batch([line for line, _ in batch], [hash_line(*one) for one in batch], shape)
    return found


def fingerprint_normalized(normalized: str, shape: Shape = DEFAULT_SHAPE) -> Fingerprint:
    """The fingerprint of a text that is in normal form already."""
    return fingerprint_of(normalized, token_hashes(normalized), shape)


def fingerprint_of(normalized: str, hashes: Hashes, shape: Shape = DEFAULT_SHAPE) -> Fingerprint:
    """The fingerprint of a normal form whose `token_hashes` are known."""
    return _fingerprint_batch([normalized], [hashes], shape)[0]


# Texts per numpy call: enough to share its fixed cost, and few enough that their bits fit the second-level cache.
_BATCH = 32


def _fingerprint_batch(normals: Sequence[str], hashes: Sequence[Hashes], shape: Shape) -> list[Fingerprint]:
    """Fingerprints of normal forms. Shingles are made over all tokens at once; those that span two texts are left out."""
    import numpy as np

    ends = np.cumsum([len(one) for one in hashes]).tolist()
    starts = [0, *ends[:-1]]
    row = np.concatenate(hashes)
    bits = bits_of(row)
    ones = np.empty((len(hashes), 64), np.uint32)
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        np.add.reduce(bits[start:end], axis=0, dtype=np.uint32, out=ones[number])
    simhashes = majorities(ones, [len(one) for one in hashes])
    long = shingle_hashes(row, shape.k)
    short = shingle_hashes(row, shape.short_k)
    found = []
    for normal, simhash, start, end in zip(normals, simhashes, starts, ends, strict=True):
        found.append(
            Fingerprint(
                sha256=sha256_of(normal),
                simhash64=simhash,
                long=sketch_of(long[start : max(start, end - shape.k + 1)], shape.k, shape.permutations),
                short=sketch_of(short[start : max(start, end - shape.short_k + 1)], shape.short_k, shape.permutations),
                token_count=end - start,
            )
        )
    return found


def sha256_of(normalized: str) -> str:
    """sha256 of a normal form, hex."""
    return hashlib.sha256(normalized.encode("utf-8", "surrogatepass")).hexdigest()


def sketch_of(shingles: Hashes, k: int, permutations: int) -> Sketch:
    """Shingle hashes as a sketch."""
    return Sketch(k, minhash(shingles, permutations).astype("<u4", copy=False).tobytes(), count_distinct(shingles))


class FingerprintCache:
    """Fingerprints by sha256 of the normal form: least recently used entries are dropped first, old ones are not used.

    max_entries  0 keeps nothing; 10,000 of the default shape take 11 MB
    ttl_seconds  since it was computed
    """

    def __init__(self, max_entries: int = 10_000, ttl_seconds: float = 1200.0, shape: Shape = DEFAULT_SHAPE) -> None:
        self.max_entries = max_entries
        self.ttl_seconds = ttl_seconds
        self.shape = shape
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[str, tuple[float, Fingerprint]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def fingerprint(self, text: str) -> Fingerprint:
        """The text's fingerprint, from the cache where it is there and young enough."""
        return self.fingerprint_many([text])[0]

    def fingerprint_many(self, texts: Sequence[str]) -> list[Fingerprint]:
        """The same for several texts, in their order."""
        return [self.of_normal_form(normalize(text)) for text in texts]

    def of_normal_form(self, normalized: str) -> Fingerprint:
        """The same for a text that is in normal form already."""
        key, now = sha256_of(normalized), time.monotonic()
        made, known = self._entries.get(key, (0.0, None))
        if known is not None and now - made <= self.ttl_seconds:
            self.hits += 1
            self._entries.move_to_end(key)
            return known
        self.misses += 1
        found = fingerprint_normalized(normalized, self.shape)
        self._entries[key] = (now, found)
        self._entries.move_to_end(key)
        while len(self._entries) > self.max_entries:
            self._entries.popitem(last=False)
        return found
