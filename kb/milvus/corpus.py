"""A corpus in Milvus as the jobs know it: `kb.store.protocol.CorpusDoor`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from kb.config import CorpusConfig
from kb.milvus.client import Client
from kb.milvus.parts import Neighbours, NoGraph, Notes, Tags
from kb.milvus.saving import Saving


class MilvusCorpus(Saving):
    """Documents and chunks of one Milvus collection set.

    home    keeps the number of this writer
    raises  ExtraMissing, IoError
    """

    def __init__(self, settings: CorpusConfig, home: Path, notify: Callable[[str], None]) -> None:
        super().__init__(Client(settings), home, notify)

    def close(self) -> None:
        """Let go of the connection."""
        self.client.close()

    def lacks(self) -> frozenset[str]:
        """Relations are not kept in Milvus."""
        return frozenset({"graph"})

    @cached_property
    def graph(self) -> NoGraph:
        """See CorpusDoor."""
        return NoGraph()

    @cached_property
    def tags(self) -> Tags:
        """See CorpusDoor."""
        return Tags(self)

    @cached_property
    def notes(self) -> Notes:
        """See CorpusDoor."""
        return Notes(self)

    @cached_property
    def neighbours(self) -> Neighbours:
        """See CorpusDoor."""
        return Neighbours(self)
