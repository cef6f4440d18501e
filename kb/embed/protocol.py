"""The interface of encoders: texts → unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kb.arrays import FloatMatrix, FloatVector


class DocumentEncoder(Protocol):
    """The half of an encoder that an ingest needs: see Encoder."""

    @property
    def digest(self) -> str: ...

    def encode_documents(
        self,
        texts: Sequence[str],
        on_batch: Callable[[int], None] | None = None,
        expected_texts: int | None = None,
    ) -> FloatMatrix: ...


class Encoder(Protocol):
    """Turns texts into vectors of unit length.

    model_id         the configured name
    digest           sha256 over weights, tokenizer, pooling and limits: equal digests make comparable vectors
    dimensions       length of every vector
    max_tokens       longer texts are cut by the model, special tokens not counted
    query_prefix     stands before every query: the configured one, else the model's own, else that of its family
    document_prefix  the same before every document
    """

    model_id: str
    digest: str
    dimensions: int
    max_tokens: int
    query_prefix: str
    document_prefix: str

    def encode_documents(
        self,
        texts: Sequence[str],
        on_batch: Callable[[int], None] | None = None,
        expected_texts: int | None = None,
    ) -> FloatMatrix:
        """Vectors of texts, prefixed as documents: (n, d) float32, unit rows, in the order given.

        on_batch        called after each batch with the number of texts done so far; an exception it raises ends the work
        expected_texts  how many texts the whole job has, None when these are all: few are not worth a slow start
        """

    def encode_query(self, text: str) -> FloatVector:
        """The vector of one query, prefixed as a query: (d,) float32, unit length."""

    def encode_queries(self, texts: Sequence[str]) -> FloatMatrix:
        """The vectors of several queries, as `encode_query` makes them: (n, d) float32; 2.5 times the rate."""

    def token_starts(self, text: str) -> list[int]:
        """Character offset where each token of the text begins, ascending; see TokenCounter."""

    def unread_share(self, text: str) -> float:
        """Share of a text's letters, in [0, 1], whose words this encoder's vocabulary does not know."""

    def describe(self) -> str:
        """Model, device and precision in a few words, for the user."""

    def encode_sentences(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of short texts, for comparing sentences with each other: (n, d) float32; unrelated ones near 0."""

    def search_vector(self, query: FloatVector, language: str) -> FloatVector:
        """What passages are ranked by: a query's vector, less what questions of its language have in common where that misleads."""


class TokenCounter(Protocol):
    """The encoder's own tokenizer, used to measure text without loading the model."""

    max_tokens: int

    def token_starts(self, text: str) -> list[int]:
        """Character offset where each token of the text begins, ascending; special tokens left out."""
