"""The configuration → the encoder, by a registry of kinds: a new kind is one file in this folder and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from kb.config import EmbeddingConfig, LlmConfig
from kb.embed.families import choose_prefixes
from kb.embed.protocol import Encoder

DEFAULT = "sentence-transformers"
# Kind → "module:function", imported when it is opened: (EmbeddingConfig, cache folder, notify) → Encoder.
ENCODERS: dict[str, str] = {
    DEFAULT: "kb.embed.encoder:open_text_encoder",
}
# The same for encoders that run on a model server: (EmbeddingConfig, LlmConfig, cache folder, notify) → Encoder.
SERVED: dict[str, str] = {
    "ollama": "kb.llm.embedding:open_ollama_encoder",
}


def expect_many_queries() -> None:
    """Open encoders from now on for a process that encodes many queries.

    A session for a single query opens .1 s sooner; one with weights in the layout that it computes with, and operations joined,
    takes half of the time for a query, and 30 MB more (multilingual-e5-small).
    """
    global _are_many_expected
    _are_many_expected = True


def are_many_expected() -> bool:
    """Whether `expect_many_queries` was called in this process."""
    return _are_many_expected


_are_many_expected = False


def open_encoder(
    config: EmbeddingConfig, cache: Path, notify: Callable[[str], None], server: LlmConfig | None = None
) -> Encoder:
    """The configured encoder; its weights are loaded when the first text is encoded.

    embedding.model is "KIND" or "KIND:…" for a kind of the registry; any other name is a sentence-transformers model.

    cache   folder for digests and exported models
    notify  gets one line for long waits and for fallbacks
    server  where a model server is; None for the default address
    raises  ModelError where there is no such model
    """
    kind = config.model.partition(":")[0]
    encoder: Encoder
    if kind in SERVED:
        # A server's model comes without the prompts of its files.
        query, document = choose_prefixes(config.model, (config.query_prefix, config.document_prefix))
        with_prefixes = replace(config, query_prefix=query, document_prefix=document)
        encoder = _load(SERVED[kind])(with_prefixes, server or LlmConfig(), cache, notify)
    else:
        encoder = _load(ENCODERS.get(kind, ENCODERS[DEFAULT]))(config, cache, notify)
    return encoder


def _load(place: str) -> Callable[..., Encoder]:
    module, _, function = place.partition(":")
    opener: Callable[..., Encoder] = getattr(import_module(module), function)
    return opener
