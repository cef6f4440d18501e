"""The configuration → the reader, by a registry of kinds: a new kind is one file in this folder and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from kb.reader.protocol import Reader

# The value of reader.model that turns reading off.
OFF = "none"
OTHER = "cross-encoder"
# Kind → "module:function", imported when it is opened: (reader.model, cache folder) → Reader.
READERS: dict[str, str] = {
    "ms-marco-MiniLM-L-12-v2": "kb.reader.packaged:open_packaged",
    OTHER: "kb.reader.cross_encoder:open_cross_encoder",
}


def open_reader(model: str, cache: Path) -> Reader | None:
    """The configured reader, None where it is turned off; its weights are loaded with the first text.

    model   a name of the registry, "none", or any CrossEncoder of sentence-transformers: a folder, or a name in the
            Hugging Face cache
    cache   folder for digests
    raises  ModelError where there is no such model
    """
    if model == OFF:
        return None
    module, _, function = READERS.get(model, READERS[OTHER]).partition(":")
    opener: Callable[[str, Path], Reader] = getattr(import_module(module), function)
    return opener(model, cache)
