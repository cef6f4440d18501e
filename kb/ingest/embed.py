"""Stored chunks that have no vector → vectors: each distinct text once, the files changed last first, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kb.drafts import ChunkDraft
from kb.embed.protocol import DocumentEncoder
from kb.frozen import dataclass
from kb.ingest.prepare import Settings
from kb.runtime import Runtime
from kb.store.chunks import EmbeddedChunk, UnembeddedChunk

# As IngestRequest has it. Enough to fill batches with texts of like length; few enough that Ctrl-C is answered in seconds.
BATCH_CHUNKS = 128


def _encode(
    encoder: DocumentEncoder, texts: Mapping[str, str], expected_texts: int, on_embedded: Callable[[int], None]
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
    on_saved: Callable[[], None] = lambda: None,
    batch_chunks: int = BATCH_CHUNKS,
    encoder: DocumentEncoder | None = None,
) -> Completed:
    """Give every stored chunk a vector of the present encoder; each batch is saved as it is made.

    on_embedded  told of chunks that have got their vectors
    on_saved     called after each batch
    encoder      makes the vectors; None takes that of the knowledge base
    """
    digest = kb.stored_encoder()[1]
    done = made = 0
    if not digest or digest != settings.encoder_digest:
        return Completed(done, made)
    waiting = kb.corpus.chunks_without_vector(digest)
    for start in range(0, len(waiting), batch_chunks):
        if should_stop():
            break
        rows = kb.corpus.unembedded_chunks(waiting[start : start + batch_chunks])
        hashes, vectors = embed_rows(kb, encoder or kb.encoder(), settings, rows, len(waiting), on_embedded)
        kb.corpus.save_vectors(digest, hashes, vectors)
        on_embedded(len(rows) - len(vectors))
        on_saved()
        done, made = done + len(rows), made + len(vectors)
    return Completed(done, made)


def embed_rows(
    kb: Runtime,
    encoder: DocumentEncoder,
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
