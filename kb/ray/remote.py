"""What runs on the workers: a file → what came of it; texts → vectors. Writes nothing, so any of it can be done again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from kb.arrays import FloatMatrix
from kb.config import Config, cache_folder
from kb.embed.protocol import Encoder
from kb.embed.registry import open_encoder
from kb.frozen import dataclass
from kb.ingest.examine import Examined, Left, examine, load
from kb.ingest.guarded_reading import FileReader
from kb.ingest.plan import Candidate
from kb.ingest.prepare import LoadedFile, Settings
from kb.ingest.request import IngestRequest


@dataclass(frozen=True, slots=True)
class Order:
    """What every worker is told once.

    config  without what is of no use to it, as the token of a corpus
    """

    config: Config
    request: IngestRequest


def examine_there(order: Order, file: Candidate | LoadedFile) -> Examined:
    """Read a file, if its bytes do not come with it, and parse and chunk it."""
    settings, reader = _tools(order.config)
    loaded = load(file, order.config.ingest, order.request) if isinstance(file, Candidate) else file
    return loaded if isinstance(loaded, Left) else examine(loaded, settings, reader, force=order.request.force)


class EncoderThere:
    """An encoder with its weights, in a process of its own."""

    def __init__(self, config: Config) -> None:
        self._encoder = _open(config)

    def digest(self) -> str:
        """Which encoder it is; its weights are loaded then."""
        self._encoder.encode_documents(["ready"])
        return self._encoder.digest

    def encode(self, texts: Sequence[str]) -> FloatMatrix:
        """(n, d) float32, unit rows, in the order given."""
        return self._encoder.encode_documents(texts)


@lru_cache(maxsize=1)
def _tools(config: Config) -> tuple[Settings, FileReader]:
    """Kept by the process for all its files. Only the tokenizer of the encoder is loaded."""
    return Settings.of(config, _open(config)), FileReader()


def _open(config: Config) -> Encoder:
    return open_encoder(config.embedding, cache_folder(os.environ), lambda line: None, config.llm)
