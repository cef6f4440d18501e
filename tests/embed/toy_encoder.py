"""An encoder of one file: words hashed into 64 dimensions. What a new kind of encoder has to bring."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kb.config import EmbeddingConfig

DIMENSIONS = 64


def open_toy(config: EmbeddingConfig, cache: Path, notify: Callable[[str], None]) -> ToyEncoder:
    return ToyEncoder(config.model)


class ToyEncoder:
    digest = "0" * 64
    dimensions = DIMENSIONS
    max_tokens = 200
    query_prefix = ""
    document_prefix = ""

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id

    def encode_documents(
        self,
        texts: Sequence[str],
        on_batch: Callable[[int], None] | None = None,
        expected_texts: int | None = None,
    ) -> Any:
        return self.encode_sentences(texts)

    def encode_query(self, text: str) -> Any:
        return self.encode_sentences([text])[0]

    def encode_queries(self, texts: Sequence[str]) -> Any:
        return self.encode_sentences(texts)

    def encode_sentences(self, texts: Sequence[str]) -> Any:
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                vectors[row, hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

    def search_vector(self, query: Any, language: str) -> Any:
        return query

    def token_starts(self, text: str) -> list[int]:
        return [match.start() for match in re.finditer(r"\S+", text)]

    def unread_share(self, text: str) -> float:
        return 0.0

    def describe(self) -> str:
        return f"{self.model_id}: words hashed into {DIMENSIONS} dimensions"
