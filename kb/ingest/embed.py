"""Texts that have no vector yet → vectors: each distinct text once, the store's own first, in windows of documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb.drafts import ChunkDraft
from kb.embed.protocol import Encoder
from kb.ingest.prepare import Prepared, Settings
from kb.runtime import Runtime
from kb.store.chunks import EmbeddedChunk, UnembeddedChunk

BATCH_CHUNKS = 128
# Documents are gathered until so many of their chunks wait for a vector. Enough to fill batches with texts of like
# length; few enough that Ctrl-C is answered in seconds.
WINDOW_CHUNKS = 128


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of some documents that the store did not have: embed hash → float32 bytes."""

    vectors: Mapping[str, bytes]
    ms_per_text: float


def windows(documents: Iterable[Prepared]) -> Iterator[tuple[Prepared, ...]]:
    """Documents in groups of at least WINDOW_CHUNKS texts; the last group may hold fewer."""
    window: list[Prepared] = []
    texts = 0
    for document in documents:
        window.append(document)
        texts += len(document.texts)
        if texts >= WINDOW_CHUNKS:
            yield tuple(window)
            window, texts = [], 0
    if window:
        yield tuple(window)


def embed_window(
    kb: Runtime, documents: Sequence[Prepared], expected_texts: int, on_embedded: Callable[[int], None]
) -> Embedded:
    """Embed what the store lacks of these documents, each text once.

    expected_texts  how many the whole run will need, for choosing between a quick start and a high rate
    """
    began = time.perf_counter()
    texts = {h: text for document in documents for h, text in document.texts.items()}
    text_count = sum(len(document.texts) for document in documents)
    known = kb.corpus.stored_hashes(kb.encoder().digest, texts)
    missing = {h: text for h, text in texts.items() if h not in known}
    vectors = _encode(kb.encoder(), missing, max(expected_texts, text_count), on_embedded)
    return Embedded(vectors, (time.perf_counter() - began) * 1000 / max(1, text_count))


def _encode(
    encoder: Encoder, texts: Mapping[str, str], expected_texts: int, on_embedded: Callable[[int], None]
) -> dict[str, bytes]:
    if not texts:
        return {}
    done = [0]

    def on_batch(so_far: int) -> None:
        on_embedded(so_far - done[0])
        done[0] = so_far

    matrix = encoder.encode_documents(list(texts.values()), on_batch, expected_texts)
    return {h: row.astype("<f4").tobytes() for h, row in zip(texts, matrix, strict=True)}


@dataclass(frozen=True, slots=True)
class Completed:
    """How many stored chunks got a vector, and how many vectors had to be made for that."""

    chunks: int
    vectors: int


def embed_missing(
    kb: Runtime,
    settings: Settings,
    should_stop: Callable[[], bool] = lambda: False,
    on_embedded: Callable[[int], None] = lambda chunks: None,
) -> Completed:
    """Give every stored chunk a vector of the present encoder, after a change of encoder or a crash."""
    digest = kb.stored_encoder()[1]
    chunks = made = 0
    if not digest or digest != settings.encoder_digest:
        return Completed(chunks, made)
    while not should_stop() and (rows := kb.corpus.chunks_without_vector(digest, BATCH_CHUNKS)):
        hashes, vectors = embed_rows(kb, kb.encoder(), settings, rows, len(rows), on_embedded)
        kb.corpus.save_vectors(digest, hashes, vectors)
        chunks, made = chunks + len(rows), made + len(vectors)
    return Completed(chunks, made)


def embed_rows(
    kb: Runtime,
    encoder: Encoder,
    settings: Settings,
    rows: Sequence[UnembeddedChunk],
    expected_texts: int,
    on_embedded: Callable[[int], None],
) -> tuple[dict[int, str], dict[str, bytes]]:
    """Embed what the store lacks of some stored chunks: (chunk_id → embed hash, embed hash → float32 bytes)."""
    texts = {row.chunk_id: _embedding_text(row, settings) for row in rows}
    hashes = {chunk_id: settings.embed_hash(text) for chunk_id, text in texts.items()}
    by_hash = {hashes[chunk_id]: text for chunk_id, text in texts.items()}
    known = kb.corpus.stored_hashes(encoder.digest, by_hash)
    missing = {h: text for h, text in by_hash.items() if h not in known}
    return hashes, _encode(encoder, missing, expected_texts, on_embedded)


def _embedding_text(chunk: EmbeddedChunk | UnembeddedChunk, settings: Settings) -> str:
    draft = ChunkDraft(0, 0, len(chunk.text), chunk.text, chunk.heading_path, token_count=0)
    return settings.embedding_text(chunk.title, draft)


def stored_texts(kb: Runtime, settings: Settings, most: int) -> list[tuple[str, bytes]]:
    """Some chunks as (what would be embedded for them now, the vector that is stored), for checking one by the other.

    Only chunks whose text would be filed under the same hash today: with other prefixes or headings it is another text.
    """
    found: list[tuple[str, bytes]] = []
    for row in kb.corpus.sample_vectors(settings.encoder_digest, most):
        text = _embedding_text(row, settings)
        if settings.embed_hash(text) == row.embed_hash:
            found.append((text, row.vector))
    return found
