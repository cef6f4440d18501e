"""The store's schema as numbered steps: an empty or older kb.sqlite → the schema this version needs.

The statements are in kb/store/sql, in files named after the step; the step's name is in kb/store/schema.py too. In an
ALTER TABLE, put no comment behind the column: SQLite writes it into the table's definition, where it hides what follows.
Steps are only ever added at the end; a published one is never edited. Imported only by writers: reading needs no migration.
The table of applied steps is that of sqlite-utils, which once applied them: importing it took 80 ms, and .5 s beside pandas.
"""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from kb.store.packed_texts import insert_text, made_of, refer_to_chunks
from kb.store.records import RECORD, insert_record
from kb.store.schema import MIGRATION_NAMES, MIGRATION_SET
from kb.store.seals import seal_all, seal_all_files, seal_moved_answer
from kb.store.search_terms import search_terms
from kb.store.vectors import pack_vector, short_name

_SQL = Path(__file__).parent / "sql"

Step = Callable[[sqlite3.Connection], None]

_steps: dict[str, Step] = {}


def apply_migrations(connection: sqlite3.Connection, names: Sequence[str] = MIGRATION_NAMES) -> None:
    """Bring the schema up to date, in the caller's transaction; each step records itself.

    names  the steps that the schema shall have; fewer than all make an older store
    """
    _execute(connection, "applied_steps")
    known = connection.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = ?", [MIGRATION_SET])
    applied = {name for (name,) in known}
    for name in names:
        if name not in applied:
            _steps[name](connection)
            connection.execute(
                "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
                [MIGRATION_SET, name, str(datetime.now(UTC))],
            )


def _step(function: Step) -> Step:
    """A step by its name."""
    _steps[function.__name__] = function
    return function


def _execute(connection: sqlite3.Connection, name: str) -> None:
    """Run the statements of a file; a semicolon before an empty line ends one, since triggers hold semicolons too."""
    for statement in (_SQL / f"{name}.sql").read_text(encoding="utf-8").split(";\n\n"):
        connection.execute(statement)


@_step
def m001_documents_chunks_answers(connection: sqlite3.Connection) -> None:
    """Documents keyed by (source, path), chunks, vectors by content, answers, the corpus revision."""
    _execute(connection, "m001_documents_chunks_answers")
    rows = {"store_id": str(uuid.uuid4()), "corpus_revision": "0", "corpus_state": os.urandom(8).hex()}
    for name, value in rows.items():
        connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", [name, value])


@_step
def m002_answer_history(connection: sqlite3.Connection) -> None:
    """What replaying an answer needs, packed texts stored once, and a full-text index over questions and answers."""
    _execute(connection, "m002_answer_history")
    rows = connection.execute("SELECT trace_id, question, answer FROM answers ORDER BY created_at, trace_id").fetchall()
    for number, (trace_id, question, answer) in enumerate(rows, start=1):
        connection.execute(
            "UPDATE answers SET search_id = ?, search_terms = ? WHERE trace_id = ?",
            [number, search_terms(question, answer), trace_id],
        )
    _execute(connection, "m002_answer_search")


@_step
def m003_tags(connection: sqlite3.Connection) -> None:
    """The imported tag vocabulary with its items, and tags applied to documents apart from their own."""
    _execute(connection, "m003_tags")


@_step
def m004_neighbourhoods(connection: sqlite3.Connection) -> None:
    """Cosines between adjacent chunks, sums of projects, and the log of what was packed."""
    _execute(connection, "m004_neighbourhoods")


@_step
def m005_fingerprints(connection: sqlite3.Connection) -> None:
    """The fingerprint of each chunk's text; m017 drops them."""
    _execute(connection, "m005_fingerprints")


@_step
def m006_graph(connection: sqlite3.Connection) -> None:
    """What documents are called, what they mention, and the relations they state."""
    _execute(connection, "m006_graph")


@_step
def m007_nodes(connection: sqlite3.Connection) -> None:
    """What the context nodes read: facts, gists, open items, measured tokens; and which nodes an answer had."""
    _execute(connection, "m007_nodes")


@_step
def m008_file_identity(connection: sqlite3.Connection) -> None:
    """What beside size and time tells that a file was changed; "" for documents that were stored before."""
    _execute(connection, "m008_file_identity")


@_step
def m009_next_encoder(connection: sqlite3.Connection) -> None:
    """Vectors of the encoder that is being changed to, beside those that are searched."""
    _execute(connection, "m009_next_encoder")


@_step
def m010_reader(connection: sqlite3.Connection) -> None:
    """Which reader ordered and judged the evidence of an answer; None for answers without one."""
    _execute(connection, "m010_reader")


@_step
def m011_seals(connection: sqlite3.Connection) -> None:
    """A checksum beside each document, answer and fact."""
    _execute(connection, "m011_seals")
    seal_all(connection)


@_step
def m012_stopped_files(connection: sqlite3.Connection) -> None:
    """Files that crashed their reader or passed a limit: not read again until they change."""
    _execute(connection, "m012_stopped_files")


@_step
def m013_changes(connection: sqlite3.Connection) -> None:
    """What has changed since each index was made, so that it takes up that alone."""
    _execute(connection, "m013_changes")


@_step
def m014_answer_records(connection: sqlite3.Connection) -> None:
    """Long columns of answers, and the texts of their prompts, compressed; answers and texts numbered."""
    _execute(connection, "m014_answer_records")
    # Not what answers.py writes today: this step's columns and names never change.
    recorded = (
        "raw_answer, citations_json, packed_json, packed_chunks_json, verification_json, prompt_json, filters_json,"
        " relevance_json, nodes_json, search_terms"
    )
    before, now = (
        {row[1] for row in connection.execute(f"PRAGMA table_info({table})")} for table in ("answers_before", "answers")
    )
    plain = ", ".join(sorted(now & before - {"seal"}))
    texts = (
        "SELECT text_hash, text FROM answer_texts_before JOIN packed_texts_before USING (text_hash) WHERE trace_id = ?"
    )
    rows = connection.execute(f"SELECT trace_id, answer, {recorded} FROM answers_before ORDER BY created_at, trace_id")
    for answer_id, (trace_id, answer, *values) in enumerate(rows.fetchall(), start=1):
        held = dict(zip(recorded.split(", "), values, strict=True))
        if held["raw_answer"] == answer:
            held["raw_answer"] = None
        connection.execute(
            f"INSERT INTO answers (answer_id, {plain}, relevance_mode) SELECT ?, {plain},"
            " CASE WHEN json_valid(relevance_json) THEN json_extract(relevance_json, '$.mode') END"
            " FROM answers_before WHERE trace_id = ?",
            [answer_id, trace_id],
        )
        insert_record(connection, answer_id, held)
        terms = [answer_id, held["search_terms"] or ""]
        connection.execute("INSERT INTO answer_search (rowid, search_terms) VALUES (?, ?)", terms)
        for text_hash, text in connection.execute(texts, [trace_id]).fetchall():
            insert_text(connection, answer_id, _hash_bytes(text_hash), text)
        seal_moved_answer(connection, trace_id)
    _execute(connection, "m014_answer_records_end")


@_step
def m015_texts_of_chunks(connection: sqlite3.Connection) -> None:
    """Texts of prompts that chunks hold: what the chunks have of them is not stored again."""
    _execute(connection, "m015_texts_of_chunks")
    find = "SELECT text_id, plain_text(text, NULL) FROM packed_texts WHERE text_hash = ? AND text_id NOT IN (SELECT text_id FROM text_chunks)"
    rows = connection.execute(f"SELECT recorded({RECORD}, 'packed_json') FROM answers ORDER BY answer_id").fetchall()
    for (packed_json,) in rows:
        for text_hash, chunk_ids in made_of(json.loads(packed_json or "[]")).items():
            found = connection.execute(find, [_hash_bytes(text_hash)]).fetchone()
            if found and found[1] is not None:
                refer_to_chunks(connection, found[0], found[1], chunk_ids)
    # Written anew, one after the other: rows that became short leave pages half empty.
    connection.execute("PRAGMA defer_foreign_keys = ON")
    chunks = connection.execute("SELECT chunk_id, text_id FROM text_chunks").fetchall()
    texts = connection.execute("SELECT text_id, text_hash, text FROM packed_texts ORDER BY text_id").fetchall()
    connection.execute("DELETE FROM text_chunks")
    connection.execute("DELETE FROM packed_texts")
    connection.executemany("INSERT INTO packed_texts (text_id, text_hash, text) VALUES (?, ?, ?)", texts)
    connection.executemany("INSERT INTO text_chunks (chunk_id, text_id) VALUES (?, ?)", chunks)


@_step
def m016_file_seals(connection: sqlite3.Connection) -> None:
    """A checksum of what is known of each document's file, which changes without the rest."""
    _execute(connection, "m016_file_seals")
    seal_all_files(connection)


@_step
def m017_less_room(connection: sqlite3.Connection) -> None:
    """Vectors in 16 bits, hashes shorter, encoders by number, no fingerprints."""
    for name, function in (("short_hash", _short_hash), ("packed", pack_vector), ("unhexed", _hash_bytes)):
        connection.create_function(name, 1, function, deterministic=True)
    _execute(connection, "m017_less_room")


@_step
def m018_left_to_do(connection: sqlite3.Connection) -> None:
    """Notes of what waits for a vector and of vectors that are unused, and counts of the graph, kept by triggers."""
    _execute(connection, "m018_left_to_do")


def _short_hash(embed_hash: str) -> str:
    """As `kb.ingest.prepare` names a vector now; what only damage can have made stays as it is."""
    try:
        return short_name(bytes.fromhex(embed_hash))
    except ValueError:
        return embed_hash


def _hash_bytes(text_hash: str) -> bytes:
    try:
        return bytes.fromhex(text_hash)
    except ValueError:  # damaged: kept under another hash, which its text does not have either
        return sha256(text_hash.encode("utf-8", "surrogatepass")).digest()
