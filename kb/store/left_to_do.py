"""What is left to do: chunks that wait for a vector, documents without cosines between their chunks, vectors that no chunk uses.

Triggers note them as they come about, and count the graph's rows (`sql/m018_left_to_do.sql`), so that asking costs what is
left and not what is there: each ingest asks several times.
"""

from __future__ import annotations

import sqlite3

from kb.store.database import is_full, stored_encoder, transaction
from kb.store.vectors import ENCODER_ID

# Chunks without a vector of an encoder, as the triggers of m018 find them.
_WAITING = (
    "SELECT chunk_id FROM chunks WHERE NOT EXISTS (SELECT 1 FROM embeddings"
    f" WHERE embeddings.embed_hash = chunks.embed_hash AND encoder_id = {ENCODER_ID})"
)
_IS_USED = (
    "(EXISTS (SELECT 1 FROM chunks WHERE chunks.embed_hash = embeddings.embed_hash)"
    " OR EXISTS (SELECT 1 FROM next_embed_hashes AS next WHERE next.embed_hash = embeddings.embed_hash))"
)

_INCOMPLETE = (
    "SELECT DISTINCT doc_id FROM chunks"
    " WHERE NOT EXISTS (SELECT 1 FROM chunk_neighbours WHERE chunk_neighbours.chunk_id = chunks.chunk_id)"
)
_COUNTS = (
    "SELECT 'names', kind, count(*) FROM graph_names GROUP BY kind"
    " UNION ALL SELECT 'edges', predicate, count(*) FROM graph_edges GROUP BY predicate"
)


def count_missing_vectors(connection: sqlite3.Connection, encoder_digest: str) -> int:
    """How many chunks have no vector of this encoder: they cannot be found by vector search."""
    return _count(connection, *_waiting(connection, encoder_digest))


def chunks_without_vector(connection: sqlite3.Connection, encoder_digest: str) -> list[int]:
    """The chunks that have no vector of this encoder: those of the files changed last come first, in reading order."""
    sql, values = _waiting(connection, encoder_digest)
    rows = connection.execute(
        f"SELECT chunk_id FROM ({sql}) JOIN chunks USING (chunk_id) JOIN documents USING (doc_id)"
        " ORDER BY mtime_ns DESC, doc_id, position",
        values,
    )
    return [chunk_id for (chunk_id,) in rows]


def _waiting(connection: sqlite3.Connection, encoder_digest: str) -> tuple[str, list[str]]:
    """A statement that selects the chunks without a vector of an encoder, and its values."""
    if encoder_digest == stored_encoder(connection)[1]:
        return "SELECT chunk_id FROM waiting_chunks", []
    return _WAITING, [encoder_digest]


def _count(connection: sqlite3.Connection, sql: str, values: list[str]) -> int:
    return int(connection.execute(f"SELECT count(*) FROM ({sql})", values).fetchone()[0])


def remove_unused_embeddings(connection: sqlite3.Connection) -> int:
    """Remove the vectors that no chunk uses, so that removed texts leave no trace, and those of earlier encoders.

    returns  how many
    """
    try:
        return _remove_unused(connection)
    except sqlite3.OperationalError as error:
        if not is_full(error):
            raise
    return 0  # the next ingest or removal drops them


def _remove_unused(connection: sqlite3.Connection) -> int:
    with transaction(connection):
        removed = connection.execute(
            f"DELETE FROM embeddings WHERE embed_hash IN (SELECT embed_hash FROM left_hashes) AND NOT {_IS_USED}"
        ).rowcount
        connection.execute("DELETE FROM left_hashes")
        if earlier := _earlier_encoders(connection):
            removed += connection.execute(
                f"DELETE FROM embeddings WHERE encoder_id IN ({', '.join(map(str, earlier))})"
            ).rowcount
            connection.execute(
                "DELETE FROM encoders WHERE encoder_id NOT IN (SELECT encoder_id FROM embeddings)"
                " AND encoder_id NOT IN (SELECT encoder_id FROM chunk_neighbours)"
            )
    return removed


def _earlier_encoders(connection: sqlite3.Connection) -> list[int]:
    """Encoders of which there may be vectors, but for the one that is searched and the one that is changed to."""
    rows = connection.execute(
        "SELECT encoder_id FROM encoders WHERE EXISTS (SELECT 1 FROM meta WHERE name = 'encoder_digest')"
        " AND digest NOT IN (SELECT value FROM meta WHERE name IN ('encoder_digest', 'next_encoder_digest'))"
    )
    return [encoder_id for (encoder_id,) in rows]


def count_wrong_notes(connection: sqlite3.Connection) -> int:
    """How many chunks, vectors and counts are noted otherwise than they are; reads all of them, and is 0 but for damage."""
    digest = stored_encoder(connection)[1]
    noted, counted = (
        "SELECT chunk_id FROM waiting_chunks",
        "SELECT counted, value, count FROM graph_counts WHERE count <> 0",
    )
    return (
        _count(connection, f"{_WAITING} EXCEPT {noted}", [digest])
        + _count(connection, f"{noted} EXCEPT {_WAITING}", [digest])
        + _count(connection, f"SELECT 1 FROM embeddings WHERE NOT {_IS_USED} AND embed_hash NOT IN left_hashes", [])
        + _count(connection, f"{_INCOMPLETE} EXCEPT SELECT doc_id FROM documents_to_complete", [])
        + _count(connection, f"SELECT * FROM ({_COUNTS}) EXCEPT {counted}", [])
        + _count(connection, f"{counted} EXCEPT SELECT * FROM ({_COUNTS})", [])
    )


def note_anew(connection: sqlite3.Connection) -> None:
    """Note all of it as it is."""
    digest = stored_encoder(connection)[1]
    with transaction(connection):
        connection.execute("DELETE FROM waiting_chunks")
        connection.execute(f"INSERT INTO waiting_chunks (chunk_id) {_WAITING}", [digest])
        connection.execute(
            f"INSERT OR IGNORE INTO left_hashes (embed_hash) SELECT embed_hash FROM embeddings WHERE NOT {_IS_USED}"
        )
        connection.execute(f"INSERT OR IGNORE INTO documents_to_complete (doc_id) {_INCOMPLETE}")
        connection.execute("DELETE FROM graph_counts")
        connection.execute(f"INSERT INTO graph_counts (counted, value, count) {_COUNTS}")
