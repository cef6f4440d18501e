"""Fingerprints of chunks in the store: written with the chunks, read for comparing them with text the reader has.

A chunk without one (stored by an earlier kb) or with one of another version is not an error: the reader computes it from
the text, and the next write of its document stores it. Always of the default shape, 1,085 bytes each.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from kb.fingerprint import DEFAULT_SHAPE, Fingerprint, Shape, fingerprint_many, header, pack, unpack
from kb.store.chunks import batches_of, marks


def add_fingerprints(connection: sqlite3.Connection, doc_id: int) -> int:
    """Compute and store what is missing or of another version among a document's chunks; returns how many there were.

    Part of the transaction that writes the chunks.
    """
    current = header()
    rows = connection.execute(
        "SELECT chunk_id, text FROM chunks LEFT JOIN chunk_fingerprints USING (chunk_id)"
        " WHERE doc_id = ? AND substr(fingerprint, 1, ?) IS NOT ?",
        [doc_id, len(current), current],
    ).fetchall()
    fingerprints = fingerprint_many(text for _, text in rows)
    connection.executemany(
        "INSERT OR REPLACE INTO chunk_fingerprints (chunk_id, fingerprint) VALUES (?, ?)",
        [(chunk_id, pack(found)) for (chunk_id, _), found in zip(rows, fingerprints, strict=True)],
    )
    return len(rows)


def fetch_fingerprints(
    connection: sqlite3.Connection, chunk_ids: Iterable[int], shape: Shape = DEFAULT_SHAPE
) -> dict[int, Fingerprint]:
    """The stored fingerprints of chunks; those that are absent, of another version or another shape are left out."""
    found: dict[int, Fingerprint] = {}
    for batch in batches_of(chunk_ids):
        rows = connection.execute(
            f"SELECT chunk_id, fingerprint FROM chunk_fingerprints WHERE chunk_id IN {marks(batch)}", batch
        )
        for chunk_id, packed in rows:
            fingerprint = unpack(packed, shape)
            if fingerprint is not None:
                found[chunk_id] = fingerprint
    return found
