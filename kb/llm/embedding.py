"""Texts → unit vectors by an embedding model of an Ollama server (/api/embed).

The server's tokenizer cannot be asked, so lengths are estimated, on the safe side; what is longer all the same is cut by
the server. Its manifest names the weights: the digest of the vectors is made of it and of their length.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from kb.arrays import FloatMatrix, FloatVector
from kb.config import EmbeddingConfig, LlmConfig
from kb.errors import MalformedResponse, ModelError, ModelNotPulled, ModelTimeout
from kb.frozen import dataclass
from kb.llm.model_info import find_by_name, read_facts
from kb.llm.protocol import NoServer
from kb.llm.server import ContextExceeded, OllamaServer

KIND = "ollama"
# Texts of one request: enough to keep the server busy, few enough for a Ctrl-C and for steady progress.
TEXTS_PER_REQUEST = 16
# No longer text is sent, whatever the model was trained for: servers allocate 2,048 tokens and more, and the estimate of
# tokens may be a quarter too low for rare words.
MOST_TOKENS = 1536
ESTIMATE_SHARE = 0.75
MEMO_FORMAT = 1
# Vocabularies hold most words of six letters whole; digits come in threes; every other letter and sign is a token.
_TOKEN = re.compile(r"[A-Za-zÀ-ɏ]{1,6}|\d{1,3}|\w|[^\w\s]")


@dataclass(frozen=True, slots=True)
class EmbeddingFacts:
    """What must be known of a model before a text is sent; kept in the cache under the model's digest."""

    dimensions: int
    max_tokens: int


def open_ollama_encoder(
    config: EmbeddingConfig, server: LlmConfig, cache: Path, notify: Callable[[str], None]
) -> OllamaEncoder:
    """Find the model on the server; its weights are loaded there by the first text.

    config  `model` is "ollama:NAME"; its prefixes are used as they are
    cache   keeps the sizes of models, so that opening a known one takes one request
    raises  ModelError and its kinds; ConfigInvalid when the endpoint is no http address
    """
    name = config.model.partition(":")[2]
    asked = OllamaServer(replace(server, model=name))
    with _as_encoder(name):
        manifest = find_by_name(asked.list_digests(), name)
        memo = cache / "models" / f"ollama-{_hash(manifest or '')[:16]}.json"
        facts = _read_memo(memo) if manifest else None
        if facts is None:
            trained = read_facts(asked.show()).trained_tokens  # raises ModelNotPulled for a name that is not listed
            dimensions = len(asked.embed(["a"], server.keep_alive)[0])
            facts = EmbeddingFacts(dimensions, int(min(trained * ESTIMATE_SHARE, MOST_TOKENS)))
            if manifest:
                _write_memo(memo, facts)
    digest = _hash(f"{KIND}\n{manifest or name}\n{facts.dimensions}")
    return OllamaEncoder(config, server, asked, digest, facts)


class OllamaEncoder:
    """An `Encoder` on a server. Made by `open_ollama_encoder`."""

    def __init__(
        self, config: EmbeddingConfig, server: LlmConfig, asked: OllamaServer, digest: str, facts: EmbeddingFacts
    ) -> None:
        self.model_id = config.model
        self.digest = digest
        self.dimensions = facts.dimensions
        self.max_tokens = facts.max_tokens
        self.query_prefix = config.query_prefix
        self.document_prefix = config.document_prefix
        self._keep_alive = server.keep_alive
        self._server = asked

    def encode_query(self, text: str) -> FloatVector:
        """The vector of one query, prefixed as a query: (d,) float32, unit length."""
        vector: FloatVector = self.encode_queries([text])[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> FloatMatrix:
        """The vectors of several queries, in one request: (n, d) float32."""
        return self._encode([self.query_prefix + text for text in texts], None)

    def encode_sentences(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of short texts without any prefix, for comparing sentences with each other: (n, d) float32."""
        return self._encode(texts, None)

    def search_vector(self, query: FloatVector, language: str) -> FloatVector:
        """The query's vector: a server's models are taken as they are."""
        return query

    def encode_documents(
        self,
        texts: Sequence[str],
        on_batch: Callable[[int], None] | None = None,
        expected_texts: int | None = None,
    ) -> FloatMatrix:
        """Vectors of texts, prefixed as documents: (n, d) float32, unit rows, in the order given.

        A text without a letter or without a finite vector gets a row of zeros.
        on_batch  called after each request with the number of texts done so far; an exception it raises ends the work
        raises    ModelError and its kinds
        """
        return self._encode([self.document_prefix + text for text in texts], on_batch)

    def token_starts(self, text: str) -> list[int]:
        """Character offset where each token of the text begins, by an estimate that is rather too high."""
        return [match.start() for match in _TOKEN.finditer(text)]

    def unread_share(self, text: str) -> float:
        """Always 0: the server does not say what its model knows."""
        return 0.0

    def describe(self) -> str:
        """Model, address and sizes, for the user."""
        return (
            f"{self.model_id}: Ollama at {self._server.endpoint}, {self.dimensions} dimensions, "
            f"about {self.max_tokens} tokens at most"
        )

    def _encode(self, texts: Sequence[str], on_batch: Callable[[int], None] | None) -> FloatMatrix:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            batch = texts[start : start + TEXTS_PER_REQUEST]
            rows = [i for i, text in enumerate(batch, start) if text.strip()]  # servers refuse an empty text
            if rows:
                with _as_encoder(self.model_id.partition(":")[2]):
                    found = self._server.embed([texts[i] for i in rows], self._keep_alive)
                vectors[rows] = self._unit_rows(found)
            if on_batch:
                on_batch(start + len(batch))
        return vectors

    def _unit_rows(self, rows: list[list[float]]) -> FloatMatrix:
        import numpy as np

        try:
            found = np.array(rows, dtype=np.float32)
            found = found.reshape(len(rows), self.dimensions)
        except (ValueError, TypeError) as error:
            raise MalformedResponse(
                f"{self.model_id} sent vectors of another length than {self.dimensions}",
                fix="the model has changed on the server: run the command again",
            ) from error
        found[~np.isfinite(found).all(axis=1)] = 0.0
        unit: FloatMatrix = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), np.float32(1e-12))
        return unit


@contextmanager
def _as_encoder(name: str) -> Iterator[None]:
    """Errors of the server with the fix that helps an encoder; those of language models speak of other settings."""
    try:
        yield
    except NoServer as error:
        raise NoServer(error.problem, fix="start it (ollama serve), or correct llm.endpoint") from error
    except ModelNotPulled as error:
        raise ModelNotPulled(error.problem, fix=f"kb models pull {name}", model=name) from error
    except ContextExceeded as error:
        raise ModelError(
            f"a text is too long for {name}", fix="lower chunking.target_tokens, or take another encoder: kb encoders"
        ) from error
    except ModelTimeout as error:
        raise ModelTimeout(
            error.problem, fix="raise llm.first_token_timeout_seconds, or take a smaller encoder: kb encoders"
        ) from error


def _read_memo(path: Path) -> EmbeddingFacts | None:
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(path.read_text())
        if known.pop("format") == MEMO_FORMAT:
            return EmbeddingFacts(**known)
    return None


def _write_memo(path: Path, facts: EmbeddingFacts) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
        unfinished.write_text(json.dumps({"format": MEMO_FORMAT, **asdict(facts)}))
        unfinished.replace(path)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
