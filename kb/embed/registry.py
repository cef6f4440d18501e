"""The configuration → the encoder, by a registry of kinds: a new kind is one file in this folder and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from kb.config import EmbeddingConfig
from kb.embed.protocol import Encoder

DEFAULT = "sentence-transformers"
# Kind → "module:function", imported when it is opened: (EmbeddingConfig, cache folder, notify) → Encoder.
ENCODERS: dict[str, str] = {
    DEFAULT: "kb.embed.encoder:open_text_encoder",
}


def open_encoder(config: EmbeddingConfig, cache: Path, notify: Callable[[str], None]) -> Encoder:
    """The configured encoder; its weights are loaded when the first text is encoded.

    embedding.model is "KIND" or "KIND:…" for a kind of the registry; any other name is a sentence-transformers model.

    cache   folder for digests and exported models
    notify  gets one line for long waits and for fallbacks
    raises  ModelError where there is no such model
    """
    kind = config.model.partition(":")[0]
    module, _, function = ENCODERS.get(kind, ENCODERS[DEFAULT]).partition(":")
    encoder: Encoder = getattr(import_module(module), function)(config, cache, notify)
    return encoder
