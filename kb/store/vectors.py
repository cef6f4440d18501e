"""Vectors of texts: float32 bytes ↔ rows of `embeddings`, one for each text and encoder, in 16 bits (`kb/fixed_point.py`)."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from kb.arrays import FloatMatrix
from kb.fixed_point import from_fixed_point, to_fixed_point

# SQL for the number of the encoder with a digest; NULL where it has no vectors yet.
ENCODER_ID = "(SELECT encoder_id FROM encoders WHERE digest = ?)"
# A scale of four bytes, and two bytes a dimension.
SCALE_BYTES, NUMBER_BYTES = 4, 2
UNPACKED_TOGETHER = 256
# The end of a WHERE clause that leaves out vectors of another length than the stored encoder's, which only damage makes.
WHOLE_VECTOR = (
    "AND length(vector) = coalesce(nullif((SELECT CAST(value AS INTEGER) FROM meta"
    f" WHERE name = 'encoder_dimensions'), 0) * {NUMBER_BYTES} + {SCALE_BYTES}, length(vector))"
)


def short_name(digest: bytes) -> str:
    """What a vector is filed under: the first 128 bits of a digest, 22 characters."""
    return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()


def pack_vector(vector: bytes) -> bytes:
    """float32 bytes, little endian, as a row has them; of bytes of another length, which only damage makes, none."""
    import numpy as np

    if not isinstance(vector, bytes) or len(vector) % 4:
        return b""
    scales, numbers = to_fixed_point(np.frombuffer(vector, "<f4")[None])
    packed: bytes = scales.tobytes() + numbers.tobytes()
    return packed


def unpack_vector(packed: bytes) -> bytes:
    """The float32 bytes of a stored vector."""
    return read_vectors([packed]).tobytes()


def read_vectors(packed: Sequence[bytes]) -> FloatMatrix:
    """Stored vectors of one length as rows, (n, d) float32."""
    import numpy as np

    held = np.frombuffer(b"".join(packed), np.uint8).reshape(len(packed), -1)
    scales, numbers = np.split(held, [SCALE_BYTES], axis=1)
    return from_fixed_point(scales.copy().view("<f4")[:, 0], numbers.copy().view("<i2"))


def unpacked(rows: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Rows of a number and a stored vector, with the vector as float32 bytes; many at once, which is forty times as fast."""
    waiting = iter(rows)
    while batch := list(islice(waiting, UNPACKED_TOGETHER)):
        packed = [vector for _, vector in batch]
        if len(set(map(len, packed))) == 1:
            vectors = read_vectors(packed)
            yield from ((number, vector.tobytes()) for (number, _), vector in zip(batch, vectors, strict=True))
        else:  # of a store that does not say how long its vectors are
            yield from ((number, unpack_vector(vector)) for number, vector in batch)


def file_vectors(connection: sqlite3.Connection, encoder_digest: str | None, vectors: Mapping[str, bytes]) -> int:
    """Store vectors that are not stored yet: embed hash → float32 bytes; part of the caller's transaction.

    returns  how many were new
    """
    if not vectors:
        return 0
    connection.execute("INSERT OR IGNORE INTO encoders (digest) VALUES (?)", [encoder_digest])
    return connection.executemany(
        f"INSERT OR IGNORE INTO embeddings (encoder_id, embed_hash, vector) VALUES ({ENCODER_ID}, ?, ?)",
        [(encoder_digest, embed_hash, pack_vector(vector)) for embed_hash, vector in vectors.items()],
    ).rowcount
