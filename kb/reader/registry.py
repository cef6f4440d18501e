"""The configuration → the reader, by a registry of kinds: a new kind is one file in this folder and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from kb.reader.protocol import Reader

# The value of reader.model that turns reading off.
OFF = "none"
OTHER = "cross-encoder"
# The value that has each question read by the first of these that knows its language.
BY_LANGUAGE = "by-language"
OF_LANGUAGES = ("ms-marco-MiniLM-L-12-v2", "kb-reader")
# Kind → "module:function", imported when it is opened: (reader.model, cache folder) → Reader.
READERS: dict[str, str] = {
    "ms-marco-MiniLM-L-12-v2": "kb.reader.packaged:open_packaged",
    "kb-reader": "kb.reader.trained:open_trained",
    OTHER: "kb.reader.cross_encoder:open_cross_encoder",
}

# Reads a claim in the place of a question; no value of reader.model.
CLAIMS_READER = "kb-claims"


def reader_names(model: str) -> tuple[str, ...]:
    """The readers that a value of reader.model stands for, in the order in which they are asked whether they can read.

    >>> reader_names("by-language"), reader_names("none")
    (('ms-marco-MiniLM-L-12-v2', 'kb-reader'), ())
    """
    if model == OFF:
        return ()
    return OF_LANGUAGES if model == BY_LANGUAGE else (model,)


def open_reader(model: str, cache: Path) -> Reader:
    """One reader; its weights are loaded with the first text.

    model   a name of the registry, or any CrossEncoder of sentence-transformers: a folder, or a name in the Hugging Face
            cache
    cache   folder for digests and graphs
    raises  ModelError where there is no such model
    """
    module, _, function = READERS.get(model, READERS[OTHER]).partition(":")
    opener: Callable[[str, Path], Reader] = getattr(import_module(module), function)
    return opener(model, cache)


@lru_cache(maxsize=1)
def open_claims_reader(cache: Path) -> Reader:
    """The reader of claims, as `open_reader`; a process keeps it, for the next answer."""
    opener: Callable[[str, Path], Reader] = import_module("kb.reader.trained").open_trained
    return opener(CLAIMS_READER, cache)
