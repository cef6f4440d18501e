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
# The value that has each question read by those of these that know its language: the first orders; the second is asked by the gate, and where two quotes are as good.
BY_LANGUAGE = "by-language"
OF_LANGUAGES = ("ms-marco-MiniLM-L-12-v2", "kb-reader-english", "kb-reader")
# Kind → "module:function", imported when it is opened: (reader.model, cache folder) → Reader.
READERS: dict[str, str] = {
    "ms-marco-MiniLM-L-12-v2": "kb.reader.packaged:open_packaged",
    "kb-reader-english": "kb.reader.mpnet:open_english_questions",
    "kb-reader": "kb.reader.trained:open_trained",
    OTHER: "kb.reader.cross_encoder:open_cross_encoder",
}

# Read a claim in the place of a question; no values of reader.model. The first that knows the language of a claim and its texts.
CLAIMS_READER, ENGLISH_CLAIMS_READER = "kb-claims", "kb-claims-english"
CLAIMS_READERS: dict[str, str] = {
    ENGLISH_CLAIMS_READER: "kb.reader.english_claims:open_english_claims",
    CLAIMS_READER: "kb.reader.trained:open_trained",
}


def reader_names(model: str) -> tuple[str, ...]:
    """The readers that a value of reader.model stands for, in the order in which they are asked whether they can read.

    >>> reader_names("by-language"), reader_names("none")
    (('ms-marco-MiniLM-L-12-v2', 'kb-reader-english', 'kb-reader'), ())
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
    return _opener(READERS.get(model, READERS[OTHER]))(model, cache)


@lru_cache(maxsize=2)
def open_claims_reader(model: str, cache: Path) -> Reader:
    """One of CLAIMS_READERS, as `open_reader`; a process keeps it, for the next answer."""
    return _opener(CLAIMS_READERS[model])(model, cache)


def _opener(place: str) -> Callable[[str, Path], Reader]:
    module, _, function = place.partition(":")
    found: Callable[[str, Path], Reader] = getattr(import_module(module), function)
    return found
