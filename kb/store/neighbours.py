"""Cosine of each chunk to the chunks beside it, and the sum of each project's vectors: stored with the chunks.

Written in the transaction that writes the chunks, once every chunk of a document has its vector. For a document without
rows here the cosines are computed when they are read, and stored by the next ingest. A project is a source; in a store
of one source, a folder at its top.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from kb.frozen import dataclass
from kb.store.chunks import batches_of, marks
from kb.store.database import transaction
from kb.store.vectors import ENCODER_ID, WHOLE_VECTOR, read_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sums = NDArray[np.float64]

# Decimals of a stored cosine: float32 has seven, and computing it again must give the same number.
COSINE_DIGITS = 5
# Documents whose rows are written in one transaction while completing a store: other writers can write in between.
HEAL_BATCH_DOCUMENTS = 200
# The folder a path is in, "" at the top of its source.
_FOLDER = "CASE instr(path, '/') WHEN 0 THEN '' ELSE substr(path, 1, instr(path, '/') - 1) END"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A chunk's place, and its cosines to the chunks beside it in its document.

    before, after  None where there is no chunk, or one of both has no vector
    project        (source, top folder)
    """

    chunk_id: int
    doc_id: int
    position: int
    chunk_count: int
    before: float | None
    after: float | None
    project: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Project:
    """A project's chunks by one encoder: how many, and the sum of their vectors, (d,) float64."""

    chunk_count: int
    vector_sum: Sums


def add_neighbours(connection: sqlite3.Connection, doc_id: int, encoder_digest: str | None) -> None:
    """Compute a document's cosines and add it to its project; does nothing while one of its chunks has no vector.

    Part of the transaction that writes the chunks; the document must not have been added before.
    """
    import numpy as np

    rows = connection.execute(
        "SELECT chunk_id, position, vector FROM chunks LEFT JOIN embeddings"
        f" ON embeddings.embed_hash = chunks.embed_hash AND encoder_id = {ENCODER_ID} {WHOLE_VECTOR}"
        " WHERE doc_id = ? ORDER BY position",
        [encoder_digest, doc_id],
    ).fetchall()
    if not rows or any(vector is None for _, _, vector in rows):
        return
    vectors = read_vectors([vector for _, _, vector in rows])
    beside: list[float | None] = [
        None,
        *(round(float(a @ b), COSINE_DIGITS) for a, b in pairwise(vectors)),
        None,
    ]
    connection.executemany(
        "INSERT OR REPLACE INTO chunk_neighbours (chunk_id, encoder_id, doc_id, position, chunk_count, before, after)"
        f" VALUES (?, {ENCODER_ID}, ?, ?, ?, ?, ?)",
        [
            (chunk_id, encoder_digest, doc_id, position, len(rows), beside[i], beside[i + 1])
            for i, (chunk_id, position, _) in enumerate(rows)
        ],
    )
    connection.execute("DELETE FROM documents_to_complete WHERE doc_id = ?", [doc_id])
    _add_to_project(connection, doc_id, str(encoder_digest), len(rows), vectors.sum(axis=0, dtype=np.float64))


def withdraw_neighbours(connection: sqlite3.Connection, doc_ids: Iterable[int]) -> None:
    """Subtract documents from their projects and delete their cosines, before their chunks are replaced or removed."""
    import numpy as np

    for doc_id in doc_ids:
        rows = connection.execute(
            "SELECT digest, vector FROM chunk_neighbours n JOIN chunks USING (chunk_id) JOIN embeddings"
            " ON embeddings.embed_hash = chunks.embed_hash AND embeddings.encoder_id = n.encoder_id"
            f" JOIN encoders ON encoders.encoder_id = n.encoder_id WHERE n.doc_id = ? {WHOLE_VECTOR}",
            [doc_id],
        ).fetchall()
        if rows:
            vectors = read_vectors([vector for _, vector in rows])
            _add_to_project(connection, doc_id, rows[0][0], -len(rows), -vectors.sum(axis=0, dtype=np.float64))
        connection.execute("DELETE FROM chunk_neighbours WHERE doc_id = ?", [doc_id])
        connection.execute(
            "INSERT OR IGNORE INTO documents_to_complete (doc_id) SELECT doc_id FROM documents WHERE doc_id = ?",
            [doc_id],
        )


def _add_to_project(
    connection: sqlite3.Connection, doc_id: int, encoder_digest: str, chunk_count: int, vector_sum: Sums
) -> None:
    import numpy as np

    source, folder = connection.execute(
        f"SELECT source, {_FOLDER} FROM documents WHERE doc_id = ?", [doc_id]
    ).fetchone()
    key = [encoder_digest, source, folder]
    where = "WHERE encoder_digest = ? AND source = ? AND folder = ?"
    row = connection.execute(f"SELECT chunk_count, vector_sum FROM projects {where}", key).fetchone()
    if row:
        chunk_count += row[0]
        vector_sum = vector_sum + np.frombuffer(row[1], dtype="<f8")
    if chunk_count <= 0:
        connection.execute(f"DELETE FROM projects {where}", key)
    else:
        connection.execute(
            "INSERT OR REPLACE INTO projects (encoder_digest, source, folder, chunk_count, vector_sum)"
            " VALUES (?, ?, ?, ?, ?)",
            [*key, chunk_count, vector_sum.astype("<f8").tobytes()],
        )


def heal_neighbours(connection: sqlite3.Connection, encoder_digest: str) -> int:
    """Add every document that this encoder's rows lack, and delete other encoders' rows; returns how many were added."""
    _drop_other_encoders(connection, encoder_digest)
    complete = [
        doc_id
        for (doc_id,) in connection.execute(
            "SELECT doc_id FROM documents_to_complete AS noted WHERE NOT EXISTS (SELECT 1 FROM chunks"
            " JOIN waiting_chunks USING (chunk_id) WHERE chunks.doc_id = noted.doc_id) ORDER BY doc_id"
        )
    ]
    for start in range(0, len(complete), HEAL_BATCH_DOCUMENTS):
        with transaction(connection):
            for doc_id in complete[start : start + HEAL_BATCH_DOCUMENTS]:
                withdraw_neighbours(connection, [doc_id])
                add_neighbours(connection, doc_id, encoder_digest)
    return len(complete)


def _drop_other_encoders(connection: sqlite3.Connection, encoder_digest: str) -> None:
    other = "encoder_id IN (SELECT encoder_id FROM encoders WHERE digest <> ?)"
    with transaction(connection):
        connection.execute("DELETE FROM projects WHERE encoder_digest <> ?", [encoder_digest])
        if connection.execute("SELECT 1 FROM encoders WHERE digest <> ?", [encoder_digest]).fetchone():
            connection.execute(
                "INSERT OR IGNORE INTO documents_to_complete (doc_id)"
                f" SELECT DISTINCT doc_id FROM chunk_neighbours WHERE {other}",
                [encoder_digest],
            )
            connection.execute(f"DELETE FROM chunk_neighbours WHERE {other}", [encoder_digest])


def neighbours_of(
    connection: sqlite3.Connection, encoder_digest: str, chunk_ids: Sequence[int]
) -> dict[int, Neighbour]:
    """Each chunk with its cosines: as stored, or computed from the vectors for a document without rows."""
    found: dict[int, Neighbour] = {}
    for batch in batches_of(chunk_ids):
        rows = connection.execute(
            "SELECT chunk_id, doc_id, position, chunk_count, before, after, source,"
            f" {_FOLDER} FROM chunk_neighbours JOIN documents USING (doc_id)"
            f" WHERE encoder_id = {ENCODER_ID} AND chunk_id IN {marks(batch)}",
            [encoder_digest, *batch],
        )
        found |= {row[0]: Neighbour(*[*row[:6], (row[6], row[7])]) for row in rows}
    if len(found) < len(chunk_ids):
        found |= _compute(connection, encoder_digest, [i for i in chunk_ids if i not in found])
    return found


def _compute(connection: sqlite3.Connection, encoder_digest: str, chunk_ids: Sequence[int]) -> dict[int, Neighbour]:

    places: dict[int, tuple[int, int, int, str, str]] = {}
    vectors: dict[tuple[int, int], NDArray[np.float32]] = {}
    for batch in batches_of(chunk_ids):
        for chunk_id, *place in connection.execute(
            "SELECT chunk_id, doc_id, position, (SELECT count(*) FROM chunks c WHERE c.doc_id = chunks.doc_id), source,"
            f" {_FOLDER} FROM chunks JOIN documents USING (doc_id) WHERE chunk_id IN {marks(batch)}",
            batch,
        ):
            places[chunk_id] = tuple(place)
        for doc_id, position, vector in connection.execute(
            "SELECT near.doc_id, near.position, vector FROM chunks own JOIN chunks near ON near.doc_id = own.doc_id"
            " AND near.position BETWEEN own.position - 1 AND own.position + 1 JOIN embeddings"
            " ON embeddings.embed_hash = near.embed_hash"
            f" WHERE encoder_id = {ENCODER_ID} AND own.chunk_id IN {marks(batch)} {WHOLE_VECTOR}",
            [encoder_digest, *batch],
        ):
            vectors[doc_id, position] = read_vectors([vector])[0]

    def cosine(doc_id: int, a: int, b: int) -> float | None:
        one, other = vectors.get((doc_id, a)), vectors.get((doc_id, b))
        return None if one is None or other is None else round(float(one @ other), COSINE_DIGITS)

    return {
        chunk_id: Neighbour(
            chunk_id, doc_id, p, n, cosine(doc_id, p, p - 1), cosine(doc_id, p, p + 1), (source, folder)
        )
        for chunk_id, (doc_id, p, n, source, folder) in places.items()
    }


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage's text with title and headings, for matching words; and its place and length, for packing it."""

    chunk_id: int
    doc_id: int
    position: int
    token_count: int
    text: str


def passage_texts(connection: sqlite3.Connection, chunk_ids: Iterable[int]) -> dict[int, PassageText]:
    """Chunks' texts under their titles and headings; ids that are not there any more are left out."""
    found: dict[int, PassageText] = {}
    for batch in batches_of(chunk_ids):
        rows = connection.execute(
            "SELECT chunk_id, doc_id, position, token_count, title, heading_path, text FROM chunks"
            f" JOIN documents USING (doc_id) WHERE chunk_id IN {marks(batch)}",
            batch,
        )
        for chunk_id, doc_id, position, tokens, title, headings, text in rows:
            # The headings' brackets and quotation marks are no letters: words match as they would without.
            found[chunk_id] = PassageText(chunk_id, doc_id, position, tokens, f"{title}\n{headings}\n{text}")
    return found


def chunks_around(connection: sqlite3.Connection, chunk_ids: Iterable[int], reach: int) -> list[int]:
    """These chunks and those up to `reach` places from them in their documents, ascending."""
    found: set[int] = set()
    for batch in batches_of(chunk_ids):
        rows = connection.execute(
            "SELECT near.chunk_id FROM chunks own JOIN chunks near ON near.doc_id = own.doc_id"
            f" AND near.position BETWEEN own.position - ? AND own.position + ? WHERE own.chunk_id IN {marks(batch)}",
            [reach, reach, *batch],
        )
        found.update(row[0] for row in rows)
    return sorted(found)


def known_tags(connection: sqlite3.Connection, names: Sequence[str]) -> set[str]:
    """Those of the names, in small letters, that are tags of documents."""
    rows = connection.execute(
        f"SELECT DISTINCT lower(tag) FROM document_tags WHERE lower(tag) IN {marks(names)}", names
    )
    return {tag for (tag,) in rows} if names else set()


def has_several_projects(connection: sqlite3.Connection) -> bool:
    """True when the documents are of more than one project."""
    rows = connection.execute(f"SELECT DISTINCT source, {_FOLDER} FROM documents LIMIT 2").fetchall()
    return len(rows) > 1


def read_projects(connection: sqlite3.Connection, encoder_digest: str) -> dict[tuple[str, str], Project]:
    """Every project by (source, folder); of a store with several sources by (source, ""), their folders taken together."""
    import numpy as np

    rows = connection.execute(
        "SELECT source, folder, chunk_count, vector_sum FROM projects WHERE encoder_digest = ? ORDER BY source, folder",
        [encoder_digest],
    ).fetchall()
    by_source = len({source for source, *_ in rows}) > 1
    found: dict[tuple[str, str], Project] = {}
    for source, folder, count, blob in rows:
        key = (source, "" if by_source else folder)
        total = np.frombuffer(blob, dtype="<f8")
        known = found.get(key)
        found[key] = (
            Project(count, total) if known is None else Project(known.chunk_count + count, known.vector_sum + total)
        )
    return found
