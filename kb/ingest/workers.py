"""The interface of what reads files and makes vectors for an ingest in other processes; `kb/ray/` is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kb.embed.protocol import DocumentEncoder
from kb.ingest.examine import Examined
from kb.ingest.plan import Candidate
from kb.ingest.run import Run


class PooledEncoder(DocumentEncoder, Protocol):
    """Makes several batches of vectors at a time: `count` times as many as one encoder."""

    @property
    def count(self) -> int: ...


class Workers(Protocol):
    """Reads and encodes; it writes nothing."""

    def encoder(self, digest: str) -> PooledEncoder:
        """Makes vectors of texts that are stored already. raises EmbeddingMismatch where it is not the one with this digest"""

    def read(self, run: Run, candidates: Iterator[Candidate]) -> Iterator[Examined]:
        """What came of each file, in the order of the candidates, documents with the vectors that the store lacks.

        It takes candidates as it has room for them, and ends early when the run is asked to stop.
        """
