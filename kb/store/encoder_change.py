"""The vectors of the encoder that a knowledge base is being changed to, beside those that are searched.

A chunk points at its searched vector by `chunks.embed_hash`, and at its next one by a row of `next_embed_hashes`; both
vectors are rows of `embeddings`. Nothing of it changes what a search finds, and so not the revision, until the switch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from kb.frozen import dataclass
from kb.store.chunks import UnembeddedChunk, read_headings
from kb.store.database import ENCODER_PARTS, raise_revision, read_meta, stamp_rows, transaction, write_meta
from kb.store.vectors import file_vectors


@dataclass(frozen=True, slots=True)
class NextEncoder:
    """The encoder that the vectors are being changed to, and how far that is.

    chunks_done  chunks that have their next vector
    """

    model_id: str
    digest: str
    dimensions: int
    query_prefix: str
    document_prefix: str
    chunks_done: int


def next_encoder(connection: sqlite3.Connection) -> NextEncoder | None:
    """The change that has begun and is not done; None when there is none."""
    model_id, digest, dimensions, query, document = (read_meta(connection, f"next_{part}") for part in ENCODER_PARTS)
    if not digest:
        return None
    done = connection.execute("SELECT count(*) FROM next_embed_hashes").fetchone()[0]
    return NextEncoder(model_id or "", digest, int(dimensions or 0), query or "", document or "", int(done))


def begin_change(connection: sqlite3.Connection, encoder: tuple[str, str, int], prefixes: tuple[str, str]) -> int:
    """Say which encoder's vectors follow; a change to another one is given up, one to the same goes on.

    returns  chunks that have their next vector already
    """
    begun = next_encoder(connection)
    with transaction(connection):
        if begun and (begun.digest, begun.document_prefix) != (encoder[1], prefixes[1]):
            connection.execute("DELETE FROM next_embed_hashes")
            begun = None
        for part, value in zip(ENCODER_PARTS, (*encoder, *prefixes), strict=True):
            write_meta(connection, f"next_{part}", value)
    return begun.chunks_done if begun else 0


def chunks_without_next(connection: sqlite3.Connection, after: int, limit: int) -> list[UnembeddedChunk]:
    """Some of the chunks that have no next vector, in id order.

    after  only chunks with a higher id
    """
    rows = connection.execute(
        "SELECT chunk_id, title, heading_path, text FROM chunks JOIN documents USING (doc_id)"
        " WHERE chunk_id > ? AND NOT EXISTS (SELECT 1 FROM next_embed_hashes AS next"
        " WHERE next.chunk_id = chunks.chunk_id) ORDER BY chunk_id LIMIT ?",
        [after, limit],
    )
    return [UnembeddedChunk(chunk_id, title, read_headings(path), text) for chunk_id, title, path, text in rows]


def save_next_vectors(
    connection: sqlite3.Connection, encoder_digest: str, hashes: Mapping[int, str], vectors: Mapping[str, bytes]
) -> None:
    """Keep next vectors: chunk_id → embed hash, embed hash → float32 bytes. A chunk that is gone is left out."""
    with transaction(connection):
        connection.executemany(
            "INSERT OR REPLACE INTO next_embed_hashes (chunk_id, embed_hash)"
            " SELECT chunk_id, ? FROM chunks WHERE chunk_id = ?",
            [(embed_hash, chunk_id) for chunk_id, embed_hash in hashes.items()],
        )
        file_vectors(connection, encoder_digest, vectors)


def switch_encoder(connection: sqlite3.Connection) -> bool:
    """Let the next vectors be the ones that are searched, in one transaction.

    returns  False, and changes nothing, where no change has begun or a chunk has no next vector
    """
    with transaction(connection):
        found = next_encoder(connection)
        if found is None or chunks_without_next(connection, 0, 1):
            return False
        connection.execute(
            "UPDATE chunks SET embed_hash = (SELECT embed_hash FROM next_embed_hashes AS next"
            " WHERE next.chunk_id = chunks.chunk_id)"
        )
        connection.execute("DELETE FROM next_embed_hashes")
        stamp_rows(
            connection,
            (found.model_id, found.digest, found.dimensions),
            (found.query_prefix, found.document_prefix),
        )
        for part in ENCODER_PARTS:
            connection.execute("DELETE FROM meta WHERE name = ?", [f"next_{part}"])
        raise_revision(connection)
    return True


def give_up_change(connection: sqlite3.Connection) -> None:
    """Forget a change that has begun; its vectors go with the unused ones."""
    with transaction(connection):
        connection.execute("DELETE FROM next_embed_hashes")
        for part in ENCODER_PARTS:
            connection.execute("DELETE FROM meta WHERE name = ?", [f"next_{part}"])
