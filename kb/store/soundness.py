"""A store → what in it is not as it was written: rows, texts and vectors; and what can be put right without the files.

SQLite's own checks see the structure of the file, not what stands in a row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256

from kb.frozen import dataclass
from kb.store.chunks import batches_of, marks
from kb.store.database import ENCODER_PARTS, raise_revision, read_meta, stored_encoder, transaction
from kb.store.door import Rows, method
from kb.store.left_to_do import count_wrong_notes, note_anew
from kb.store.packed_texts import PLAIN_TEXT
from kb.store.seals import broken_answers, broken_documents, broken_facts
from kb.store.shape import find_wrong_shape
from kb.store.vectors import ENCODER_ID, NUMBER_BYTES, SCALE_BYTES, read_vectors

# Affinity of a column → the storage classes its values may have.
_CLASSES = {"TEXT": ("text", "blob", "null"), "INTEGER": ("integer", "null"), "REAL": ("real", "integer", "null")}
_CLASSES["BLOB"] = ("blob", "null")
_COUNTED_META = ("corpus_revision", "encoder_dimensions")
_VIRTUAL = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"


def find_unreadable(connection: sqlite3.Connection, most_rows: int | None = None) -> list[str]:
    """Values that no part of kb could have written, as phrases: another type, broken JSON, a count that is no number.

    Of a store whose tables are not as kb makes them, that alone.

    most_rows  of each table so many rows at most are looked at; None looks at all
    """
    if faults := find_wrong_shape(connection):
        return faults
    for table in _tables(connection):
        columns = connection.execute(f"PRAGMA table_info('{table}')").fetchall()
        wrong = {column: _is_wrong(column, str(kind)) for _, column, kind, *_ in columns}
        rows = f'"{table}"' if most_rows is None else f'(SELECT * FROM "{table}" LIMIT {most_rows})'
        counts = connection.execute(f"SELECT {', '.join(f'sum({x})' for x in wrong.values())} FROM {rows}").fetchone()
        faults += [f"{n} unreadable values in {table}.{column}" for column, n in zip(wrong, counts, strict=True) if n]
    for name in _COUNTED_META:
        if not (read_meta(connection, name) or "0").isdecimal():
            faults.append(f"meta.{name} is not a number")
    return faults


def _is_wrong(column: str, kind: str) -> str:
    """SQL for whether kb cannot have written a value of this column."""
    allowed = _CLASSES.get(kind.upper())
    wrong = f'typeof("{column}") NOT IN {allowed}' if allowed else "0"
    if column.endswith("_json") or column == "heading_path":
        return f'({wrong} OR typeof("{column}") = \'text\' AND NOT json_valid("{column}"))'
    return f"({wrong} OR typeof(\"{column}\") = 'blob')" if kind == "TEXT" else wrong


def look_over(connection: sqlite3.Connection, most_rows: int) -> list[str]:
    """What is wrong as far as a look at part of a large store tells, as phrases.

    Tables of up to `most_rows` rows are checked whole, by SQLite's own checks too; of others so many rows are looked at.
    """
    if faults := find_unreadable(connection, most_rows):
        return faults
    for table in _tables(connection):
        if connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1 OFFSET {most_rows}').fetchone() is None:
            faults += [row[0] for row in connection.execute(f"PRAGMA quick_check('{table}')") if row[0] != "ok"]
            dangling = connection.execute(f"PRAGMA foreign_key_check('{table}')").fetchmany(3)
            faults += [f"dangling row in {row[0]}" for row in dangling]
    return faults


def count_wrong_vectors(connection: sqlite3.Connection, most_rows: int | None = None) -> int:
    """How many vectors of the stored encoder have another length than its vectors.

    most_rows  so many vectors at most are looked at; None looks at all
    """
    _, digest, dimensions = stored_encoder(connection)
    row = connection.execute(
        "SELECT count(*) FROM (SELECT encoder_id, length(vector) AS bytes FROM embeddings LIMIT ?)"
        f" WHERE encoder_id = {ENCODER_ID} AND bytes <> ?",
        [-1 if most_rows is None else most_rows, digest, SCALE_BYTES + NUMBER_BYTES * dimensions],
    ).fetchone()
    return int(row[0])


def wrong_vectors(connection: sqlite3.Connection, tolerance: float) -> list[str]:
    """The embed hashes of vectors that have another length, or not unit norm; a text without a word may have zeros.

    tolerance  most that a norm may differ from 1
    """
    import numpy as np

    _, digest, dimensions = stored_encoder(connection)
    found = []
    for embed_hash, vector in connection.execute(
        f"SELECT embed_hash, vector FROM embeddings WHERE encoder_id = {ENCODER_ID}", [digest]
    ):
        if not isinstance(vector, bytes) or len(vector) != SCALE_BYTES + NUMBER_BYTES * dimensions:
            found.append(embed_hash)
            continue
        norm = float(np.linalg.norm(read_vectors([vector]).astype(np.float64)))
        if norm == 0 and not _has_words(connection, embed_hash):
            continue
        if not abs(norm - 1) <= tolerance:  # written so that NaN is found
            found.append(embed_hash)
    return found


def _has_words(connection: sqlite3.Connection, embed_hash: str) -> bool:
    rows = connection.execute("SELECT text FROM chunks WHERE embed_hash = ?", [embed_hash])
    return any(character.isalnum() for (text,) in rows for character in str(text))


def hashes_of(connection: sqlite3.Connection, chunk_ids: Iterable[int]) -> list[str]:
    """The embed hashes of some chunks."""
    found: list[str] = []
    for batch in batches_of(chunk_ids):
        rows = connection.execute(f"SELECT embed_hash FROM chunks WHERE chunk_id IN {marks(batch)}", batch)
        found += [embed_hash for (embed_hash,) in rows]
    return found


def remove_vectors(connection: sqlite3.Connection, hashes: Collection[str]) -> int:
    """Remove vectors of the stored encoder, and the cosines that were computed from any; returns how many."""
    removed = 0
    digest = stored_encoder(connection)[1]
    with transaction(connection):
        for batch in batches_of(hashes):
            removed += connection.execute(
                f"DELETE FROM embeddings WHERE encoder_id = {ENCODER_ID} AND embed_hash IN {marks(batch)}",
                [digest, *batch],
            ).rowcount
        if removed:
            connection.execute("DELETE FROM chunk_neighbours")
            connection.execute("INSERT OR IGNORE INTO documents_to_complete (doc_id) SELECT doc_id FROM documents")
            connection.execute("DELETE FROM projects")
            raise_revision(connection)
    return removed


@dataclass(frozen=True, slots=True)
class Altered:
    """What is not as it was written and cannot be derived from anything else in the store.

    documents  doc_id → source/path
    """

    documents: dict[int, str]
    answers: tuple[str, ...]
    facts: tuple[int, ...]


def find_altered(connection: sqlite3.Connection) -> Altered:
    """Compare every text with its hash, and every document, answer and fact with its seal."""
    documents = dict(broken_documents(connection))
    rows = connection.execute(
        "SELECT doc_id, source || '/' || path, text, lower(hex(text_digest)) FROM chunks JOIN documents USING (doc_id)"
    )
    for doc_id, place, text, text_hash in rows:
        if _hash(text) != text_hash:
            documents[doc_id] = place
    return Altered(
        documents,
        (*broken_answers(connection), *_answers_of(connection, _altered_texts(connection))),
        (*broken_facts(connection),),
    )


def mark_to_read_again(connection: sqlite3.Connection, doc_ids: Collection[int]) -> None:
    """Let the next ingest of their sources read these documents' files, whatever their size and time."""
    with transaction(connection):
        connection.executemany(
            "UPDATE documents SET size_bytes = -1, mtime_ns = 0, content_hash = '', signature = '' WHERE doc_id = ?",
            [(doc_id,) for doc_id in doc_ids],
        )


def mend_meta(connection: sqlite3.Connection) -> int:
    """Put right what can be derived of the meta values; returns how many were."""
    mended = 0
    with transaction(connection):
        if not (read_meta(connection, "corpus_revision") or "").isdecimal():
            raise_revision(connection)
            mended += 1
        if not (read_meta(connection, ENCODER_PARTS[2]) or "0").isdecimal():
            connection.execute(
                f"UPDATE meta SET value = (SELECT (length(vector) - {SCALE_BYTES}) / {NUMBER_BYTES} FROM embeddings"
                " JOIN encoders USING (encoder_id) WHERE digest = (SELECT value FROM meta WHERE name = ?) GROUP BY length(vector) ORDER BY count(*) DESC LIMIT 1)"
                " WHERE name = ?",
                [ENCODER_PARTS[1], ENCODER_PARTS[2]],
            )
            mended += 1
    return mended


def check_in_full(connection: sqlite3.Connection) -> list[str]:
    """SQLite's own check of its file with every index and reference, which takes as long as reading it."""
    faults = [row[0] for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
    return faults + [f"dangling row in {row[0]}" for row in connection.execute("PRAGMA foreign_key_check").fetchmany(3)]


def rebuild_btrees(connection: sqlite3.Connection) -> None:
    """Make SQLite's own indexes anew from their tables."""
    connection.execute("REINDEX")


def _altered_texts(connection: sqlite3.Connection) -> Iterator[int]:
    for text_id, text_hash, text in connection.execute(
        f"SELECT text_id, hex(text_hash), {PLAIN_TEXT} FROM packed_texts"
    ):
        if text is None or _hash(text) != text_hash.lower():
            yield text_id


def _answers_of(connection: sqlite3.Connection, text_ids: Iterable[int]) -> list[str]:
    """The trace ids of the answers that these texts belong to."""
    found: list[str] = []
    for batch in batches_of(list(text_ids)):
        rows = connection.execute(
            f"SELECT trace_id FROM answer_texts JOIN answers USING (answer_id) WHERE text_id IN {marks(batch)}", batch
        )
        found += [trace_id for (trace_id,) in rows]
    return found


def _hash(text: object) -> str:
    return sha256(str(text).encode("utf-8", "surrogatepass")).hexdigest()


def _tables(connection: sqlite3.Connection) -> list[str]:
    """kb's own tables; those of full-text indexes are SQLite's."""
    virtual = [name for (name,) in connection.execute(_VIRTUAL)]
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    hidden = ("sqlite_", "_sqlite_", *virtual)
    return [name for (name,) in names if not name.startswith(hidden)]


class Soundness(Rows):
    """The functions above as methods, for `Store.soundness`."""

    find_unreadable = method(find_unreadable)
    look_over = method(look_over)
    count_wrong_vectors = method(count_wrong_vectors)
    wrong_vectors = method(wrong_vectors)
    hashes_of = method(hashes_of)
    remove_vectors = method(remove_vectors)
    find_altered = method(find_altered)
    mark_to_read_again = method(mark_to_read_again)
    mend_meta = method(mend_meta)
    check_in_full = method(check_in_full)
    rebuild_btrees = method(rebuild_btrees)
    count_wrong_notes = method(count_wrong_notes)
    note_anew = method(note_anew)
