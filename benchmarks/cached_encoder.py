"""kb's default encoder for short texts, each encoded once: for measurements that compare the same sentences again and again."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from kb.arrays import FloatMatrix, FloatVector
from kb.config import EmbeddingConfig, cache_folder
from kb.embed.registry import open_encoder


class CachedEncoder:
    """Texts → unit vectors, (n, d) float32, as `ask` encodes sentences."""

    def __init__(self) -> None:
        self._encoder = open_encoder(EmbeddingConfig(), cache_folder(os.environ), print)
        self._known: dict[str, FloatVector] = {}

    def __call__(self, texts: Sequence[str]) -> FloatMatrix:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known.update(zip(new, self._encoder.encode_sentences(new), strict=True))
        return np.stack([self._known[text] for text in texts])
