"""The configuration → the encoder: which kinds of encoders there are, and what opens each.

A new kind is one file in this folder and one entry here.
"""

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

    cache   where digests and exported models are kept
    notify  told, in one line, what takes long and which fallback is used
    raises  ModelError where there is no such model
    """
    kind = config.model.partition(":")[0]
    module, _, function = ENCODERS.get(kind, ENCODERS[DEFAULT]).partition(":")
    encoder: Encoder = getattr(import_module(module), function)(config, cache, notify)
    return encoder
