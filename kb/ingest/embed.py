"""Texts that have no vector yet → vectors: each distinct text once, the store's own first, in windows of documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb.drafts import ChunkDraft
from kb.ingest.prepare import Prepared, Settings
from kb.ingest.report import Tally
from kb.knowledge_base import KnowledgeBase

HEAL_BATCH_CHUNKS = 128


@dataclass(slots=True)
class Window:
    """Documents whose texts are embedded together."""

    documents: Sequence[Prepared]
    embed_ms: float = 0.0

    @property
    def text_count(self) -> int:
        """How many texts the documents hold, known ones included."""
        return sum(len(d.texts) for d in self.documents)

    def texts(self) -> dict[str, str]:
        """Embed hash → text, each once."""
        return {h: text for document in self.documents for h, text in document.texts.items()}


def embed_window(
    kb: KnowledgeBase, window: Window, expected_texts: int, tally: Tally, on_embedded: Callable[[int], None]
) -> dict[str, bytes]:
    """Vectors of the window's texts that the store does not have: embed hash → float32 bytes.

    expected_texts  how many the whole run will need, for choosing between a quick start and a high rate
    """
    began = time.perf_counter()
    texts = window.texts()
    encoder = kb.encoder()
    known = kb.corpus.stored_hashes(encoder.digest, texts)
    vectors = _encode(kb, {h: t for h, t in texts.items() if h not in known}, expected_texts, on_embedded)
    window.embed_ms = (time.perf_counter() - began) * 1000
    tally.vectors_written += len(vectors)
    tally.cache_hits += sum(len(d.chunks) for d in window.documents) - len(vectors)
    return vectors


def _encode(
    kb: KnowledgeBase,
    texts: dict[str, str],
    expected_texts: int,
    on_embedded: Callable[[int], None],
) -> dict[str, bytes]:
    if not texts:
        return {}
    done = [0]

    def on_batch(so_far: int) -> None:
        on_embedded(so_far - done[0])
        done[0] = so_far

    matrix = kb.encoder().encode_documents(list(texts.values()), on_batch, expected_texts)
    return {h: row.astype("<f4").tobytes() for h, row in zip(texts, matrix, strict=True)}


def embed_missing(
    kb: KnowledgeBase,
    settings: Settings,
    tally: Tally,
    should_stop: Callable[[], bool],
    on_embedded: Callable[[int], None] = lambda chunks: None,
) -> int:
    """Give every stored chunk a vector of the present encoder: heals what another encoder or a crash left behind.

    returns  how many chunks got one
    """
    digest = kb.stored_encoder()[1]
    healed = 0
    if not digest or digest != settings.encoder_digest:
        return healed
    while not should_stop() and (rows := kb.corpus.chunks_without_vector(digest, HEAL_BATCH_CHUNKS)):
        texts: dict[str, str] = {}
        hashes: dict[int, str] = {}
        for row in rows:
            text = settings.embedding_text(row.title, _as_draft(row.text, row.heading_path, settings))
            hashes[row.chunk_id] = settings.embed_hash(text)
            texts[hashes[row.chunk_id]] = text
        known = kb.corpus.stored_hashes(digest, texts)
        vectors = _encode(kb, {h: t for h, t in texts.items() if h not in known}, len(texts), on_embedded)
        kb.corpus.save_vectors(digest, hashes, vectors)
        tally.vectors_written += len(vectors)
        healed += len(rows)
    return healed


def _as_draft(text: str, heading_path: tuple[str, ...], settings: Settings) -> ChunkDraft:
    tokens = len(settings.token_starts(text))
    return ChunkDraft(0, 0, len(text), text, heading_path, tokens)


def stored_texts(kb: KnowledgeBase, settings: Settings, most: int) -> list[tuple[str, bytes]]:
    """Some chunks as (what would be embedded for them now, the vector that is stored), for checking one by the other.

    Only chunks whose text would be filed under the same hash today: with other prefixes or headings it is another text.
    """
    found: list[tuple[str, bytes]] = []
    for row in kb.corpus.sample_vectors(settings.encoder_digest, most):
        text = settings.embedding_text(row.title, _as_draft(row.text, row.heading_path, settings))
        if settings.embed_hash(text) == row.embed_hash:
            found.append((text, row.vector))
    return found
