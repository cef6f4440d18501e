"""A neighbour source and a context made of tables, for the rules of the contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kb.tags.vocabulary import Tag, Vocabulary, make_vocabulary
from kb.tags.words import key_of


@dataclass
class TableNeighbours:
    """Neighbours by lookup, as they are given."""

    table: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        return [list(self.table.get(lookup, ()))[:k] for lookup in lookups]


@dataclass
class TableContext:
    """A context in which each tag has the cosine of the table, whatever the query; `terms` are the known lookups."""

    cosine: Mapping[str, float]
    terms: Sequence[str]

    def knows(self, lookup: str) -> bool:
        return lookup in self.terms

    def query(self, weights: Mapping[str, float]) -> np.ndarray | None:
        known = [w for lookup, w in weights.items() if lookup in self.terms]
        return np.array(known) if known else None

    def cosines(self, vector: np.ndarray, tags: Iterable[str]) -> dict[str, float]:
        return {tag: self.cosine[tag] for tag in tags if tag in self.cosine}


def vocabulary_of(
    *tags: str, aliases: Mapping[str, Sequence[str]] | None = None, counts: Mapping[str, int] | None = None
) -> Vocabulary:
    """A vocabulary of these tags; aliases → tags."""
    rows = [Tag(tag, count=(counts or {}).get(tag)) for tag in tags]
    return make_vocabulary(rows, {key_of(alias): names for alias, names in (aliases or {}).items()})
