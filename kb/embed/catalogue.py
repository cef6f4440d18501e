"""Encoders that kb knows by name: what they are, and how well they found things where that was measured. Pure.

Any other sentence-transformers model, folder or Ollama embedding model works too; these are the ones worth a look.
"""

from __future__ import annotations

from typing import Literal

from kb.frozen import dataclass

EncoderKind = Literal["embedded", "folder", "hub", "ollama"]
MANY = "about 100"
OLLAMA = "ollama:"


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """One encoder, by the name that embedding.model takes.

    size_bytes  of its weights, as they are installed, downloaded or pulled
    languages   "English", or how many
    ndcg_en     nDCG@10 of hybrid search on the English questions of fixtures/suites/corpus.yaml, by `kb eval run --mode hybrid`;
                None where not measured
    ndcg_ko     the same of its Korean questions
    """

    name: str
    kind: EncoderKind
    size_bytes: int
    dimensions: int
    languages: str
    licence: str
    ndcg_en: float | None = None
    ndcg_ko: float | None = None


CATALOGUE: tuple[KnownEncoder, ...] = (
    KnownEncoder("multilingual-e5-small", "embedded", 91_000_000, 384, MANY, "MIT", 0.840, 0.724),
    KnownEncoder("all-MiniLM-L6-v2", "embedded", 91_000_000, 384, "English", "Apache-2.0", 0.813, 0.634),
    KnownEncoder("intfloat/multilingual-e5-base", "hub", 1_112_000_000, 768, MANY, "MIT"),
    KnownEncoder("BAAI/bge-small-en-v1.5", "hub", 133_000_000, 384, "English", "MIT"),
    KnownEncoder("BAAI/bge-m3", "hub", 2_270_000_000, 1024, MANY, "MIT"),
    KnownEncoder("Qwen/Qwen3-Embedding-0.6B", "hub", 1_190_000_000, 1024, MANY, "Apache-2.0"),
    KnownEncoder("ollama:all-minilm", "ollama", 46_000_000, 384, "English", "Apache-2.0"),
    KnownEncoder("ollama:nomic-embed-text", "ollama", 274_000_000, 768, "English", "Apache-2.0"),
    KnownEncoder("ollama:mxbai-embed-large", "ollama", 670_000_000, 1024, "English", "Apache-2.0"),
    KnownEncoder("ollama:embeddinggemma", "ollama", 622_000_000, 768, MANY, "Gemma"),
    KnownEncoder("ollama:qwen3-embedding:0.6b", "ollama", 639_000_000, 1024, MANY, "Apache-2.0"),
    KnownEncoder("ollama:bge-m3", "ollama", 1_200_000_000, 1024, MANY, "MIT"),
    KnownEncoder("ollama:snowflake-arctic-embed2", "ollama", 1_200_000_000, 1024, "74", "Apache-2.0"),
)


def kind_of(name: str) -> EncoderKind:
    """Where the encoder of this name comes from.

    >>> kind_of("ollama:bge-m3"), kind_of("/models/mine"), kind_of("all-MiniLM-L6-v2"), kind_of("BAAI/bge-m3")
    ('ollama', 'folder', 'embedded', 'hub')
    """
    known = next((encoder for encoder in CATALOGUE if encoder.name == name), None)
    if known:
        return known.kind
    if name.startswith(OLLAMA):
        return "ollama"
    return "folder" if name.startswith(("/", ".", "~")) else "hub"
