"""A chunk's terms → a sparse vector, and a query's terms → one whose inner product with it is the BM25 of the local engine.

Each term of each field is a dimension. A chunk's weight is the part of BM25 that depends on the chunk, a query's weight is
idf × the field's weight × the term's repeats. Milvus has a BM25 of its own; it is not used: its idf is that of a shard and
counts deleted rows, it knows no weight for headings, and it does not tell the document frequencies that kb needs to say
how good a hit is. Pure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from kb.frozen import dataclass
from kb.index.repeats import weigh_repeats
from kb.language.morphemes import korean_terms
from kb.symbols import index_terms

K1 = 1.2
B = 0.75
FIELDS = ("text", "headings", "title")
# Terms in the fields of a chunk, on average, until those of the corpus are known: of the project's own fixtures.
FIRST_LENGTHS = {"text": 120.0, "headings": 8.0, "title": 4.0}
# A dimension is an unsigned 32-bit number: two bits for the field, and a hash. The first ones are kept for kb.
_FIELD_BITS = 30
_RESERVED = 16
# In the vector of a chunk without a term: Milvus takes no empty one. No query has it.
_NOTHING = 1
# Lengths up to here are exact, longer ones have four significant bits, as in Tantivy and Lucene: equal scores stay equal.
_EXACT_LENGTHS = 24


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """A chunk's terms by field, each with its number, and the fields' lengths in terms; the text includes the others."""

    counts: Mapping[str, Mapping[str, int]]
    lengths: Mapping[str, int]


def read_terms(title: str, headings: Sequence[str], text: str) -> ChunkTerms:
    """The terms of a chunk, by the analyzer of the local engine."""
    terms = {"title": _terms_of(title), "headings": _terms_of(" \n ".join(headings))}
    terms["text"] = [*terms["title"], *terms["headings"], *_terms_of(text)]
    return ChunkTerms({f: Counter(terms[f]) for f in FIELDS}, {f: len(terms[f]) for f in FIELDS})


def _terms_of(text: str) -> list[str]:
    return [*index_terms(text), *korean_terms(text)]


def dimension(field: str, term: str) -> int:
    """The dimension of a term in a field: a hash, so that writers need not agree on numbers."""
    found = int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "big")
    return (FIELDS.index(field) << _FIELD_BITS) + _RESERVED + found % ((1 << _FIELD_BITS) - _RESERVED)


def coarse_length(terms: int) -> int:
    """A length as Tantivy keeps it, in one byte.

    >>> [coarse_length(n) for n in (0, 24, 39, 41, 57, 123)]
    [0, 24, 39, 40, 56, 120]
    """
    rest = terms - _EXACT_LENGTHS
    if rest < 16:
        return terms
    step = 1 << (rest.bit_length() - 4)
    return _EXACT_LENGTHS + rest // step * step


def _saturation(length: int, average: float) -> float:
    """What is added to a term's number in the denominator of BM25."""
    return K1 * (1 - B + B * coarse_length(length) / average)


def chunk_vector(terms: ChunkTerms, averages: Mapping[str, float]) -> dict[int, float]:
    """The sparse vector of a chunk.

    averages  lengths of the fields, in terms
    """
    vector: dict[int, float] = {}
    for field, counts in terms.counts.items():
        added = _saturation(terms.lengths[field], averages[field])
        for term, count in counts.items():
            vector[dimension(field, term)] = count * (K1 + 1) / (count + added)
    return vector or {_NOTHING: 1.0}


def reweigh(
    vector: Mapping[int, float],
    lengths: Mapping[str, int],
    before: Mapping[str, float],
    after: Mapping[str, float],
) -> dict[int, float]:
    """A chunk's vector for other average lengths: its terms are not needed."""
    changed: dict[int, float] = {}
    for place, weight in vector.items():
        if place == _NOTHING:
            return {_NOTHING: 1.0}
        field = FIELDS[place >> _FIELD_BITS]
        count = round(weight * _saturation(lengths[field], before[field]) / (K1 + 1 - weight))
        changed[place] = count * (K1 + 1) / (count + _saturation(lengths[field], after[field]))
    return changed


def query_vector(
    terms: Sequence[str], holding: Mapping[str, Mapping[str, int]], rows: int, weights: Mapping[str, float]
) -> dict[int, float]:
    """The sparse vector of a query; empty where no chunk has any of its terms.

    holding  field → term → number of chunks with it there
    weights  field → weight of a match there
    """
    vector: dict[int, float] = {}
    for term, repeats in weigh_repeats(terms).items():
        for field, weight in weights.items():
            if weight > 0 and (held := holding[field].get(term, 0)):
                idf = math.log1p((max(rows, held) - held + 0.5) / (held + 0.5))
                vector[dimension(field, term)] = idf * weight * repeats
    return vector


def count_dimensions(vectors: Iterable[Iterable[int]], sign: int = 1) -> Counter[int]:
    """How many of the vectors have each dimension, times `sign`."""
    found: Counter[int] = Counter()
    for vector in vectors:
        for place in vector:
            if place != _NOTHING:
                found[place] += sign
    return found
