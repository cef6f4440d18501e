"""kb-claims-english: two models that read each English claim, and the mean of what they say.

The smaller one is ms-marco-MiniLM-L-12-v2 with layers that kb trained on, the larger one an MPNet. They are wrong about different
claims, so the mean is right more often than either (docs/reader.md has the table).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from statistics import mean

from kb.reader.mpnet import MpnetReader
from kb.reader.packaged import open_packaged
from kb.reader.protocol import Reader

# The mean of two models that are unsure of different claims lies nearer to 0 than either: so much wider it is as sure as it should be
# (benchmarks/verdicts.py --fit: the weight of its logit was 1.25, and .87 where the smaller one read alone).
WIDER = 1.4


def open_english_claims(model: str, cache: Path) -> Reader:
    """Find the files of both.

    raises  ModelError where one of them is not installed
    """
    return MeanReader(model, (open_packaged(model, cache), MpnetReader(model, cache)))


class MeanReader:
    """A `Reader`: the mean of the logits of several, times WIDER."""

    def __init__(self, model: str, readers: Sequence[Reader]) -> None:
        self.model_id = model
        self._readers = readers

    @cached_property
    def digest(self) -> str:
        """sha256 over theirs."""
        return hashlib.sha256(" ".join([str(WIDER), *(r.digest for r in self._readers)]).encode()).hexdigest()

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit for each text, in the order given."""
        found = [reader.score(question, texts) for reader in self._readers]
        return [WIDER * mean(logits) for logits in zip(*found, strict=True)]

    def needs_preparing(self) -> bool:
        """Whether a graph is still to be written."""
        return any(reader.needs_preparing() for reader in self._readers)

    def can_read(self, text: str) -> bool:
        """Whether all of them know its language."""
        return all(reader.can_read(text) for reader in self._readers)
