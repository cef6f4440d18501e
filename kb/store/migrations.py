"""The store's schema as numbered steps: an empty or older kb.sqlite → the schema this version needs.

The statements are in kb/store/sql, in files named after the step; the step's name is in kb/store/schema.py too. In an
ALTER TABLE, put no comment behind the column: SQLite writes it into the table's definition, where it hides what follows.
Steps are only ever added at the end; a published one is never edited. Imported only by writers: reading needs no migration,
and so no sqlite_utils.
"""

from __future__ import annotations

import json
import os
import uuid
from hashlib import sha256
from pathlib import Path

from sqlite_utils import Database, Migrations

from kb.store.packed_texts import insert_text, made_of, refer_to_chunks
from kb.store.records import RECORD, insert_record
from kb.store.schema import MIGRATION_NAMES, MIGRATION_SET
from kb.store.seals import seal_all, seal_all_files, seal_moved_answer
from kb.store.search_terms import search_terms
from kb.store.vectors import pack_vector, short_name

_SQL = Path(__file__).parent / "sql"

migrations = Migrations(MIGRATION_SET)


def apply_migrations(database: Database) -> None:
    """Bring the schema up to date; each step is one transaction and records itself."""
    migrations.apply(database)


def _execute(database: Database, name: str) -> None:
    """Run the statements of a file; a semicolon before an empty line ends one, since triggers hold semicolons too."""
    for statement in (_SQL / f"{name}.sql").read_text(encoding="utf-8").split(";\n\n"):
        database.execute(statement)


@migrations(name=MIGRATION_NAMES[0])
def m001_documents_chunks_answers(database: Database) -> None:
    """Documents keyed by (source, path), chunks, vectors by content, answers, the corpus revision."""
    _execute(database, "m001_documents_chunks_answers")
    rows = {"store_id": str(uuid.uuid4()), "corpus_revision": "0", "corpus_state": os.urandom(8).hex()}
    for name, value in rows.items():
        database.execute("INSERT INTO meta (name, value) VALUES (?, ?)", [name, value])


@migrations(name=MIGRATION_NAMES[1])
def m002_answer_history(database: Database) -> None:
    """What replaying an answer needs, packed texts stored once, and a full-text index over questions and answers."""
    _execute(database, "m002_answer_history")
    rows = database.execute("SELECT trace_id, question, answer FROM answers ORDER BY created_at, trace_id").fetchall()
    for number, (trace_id, question, answer) in enumerate(rows, start=1):
        database.execute(
            "UPDATE answers SET search_id = ?, search_terms = ? WHERE trace_id = ?",
            [number, search_terms(question, answer), trace_id],
        )
    _execute(database, "m002_answer_search")


@migrations(name=MIGRATION_NAMES[2])
def m003_tags(database: Database) -> None:
    """The imported tag vocabulary with its items, and tags applied to documents apart from their own."""
    _execute(database, "m003_tags")


@migrations(name=MIGRATION_NAMES[3])
def m004_neighbourhoods(database: Database) -> None:
    """Cosines between adjacent chunks, sums of projects, and the log of what was packed."""
    _execute(database, "m004_neighbourhoods")


@migrations(name=MIGRATION_NAMES[4])
def m005_fingerprints(database: Database) -> None:
    """The fingerprint of each chunk's text; m017 drops them."""
    _execute(database, "m005_fingerprints")


@migrations(name=MIGRATION_NAMES[5])
def m006_graph(database: Database) -> None:
    """What documents are called, what they mention, and the relations they state."""
    _execute(database, "m006_graph")


@migrations(name=MIGRATION_NAMES[6])
def m007_nodes(database: Database) -> None:
    """What the context nodes read: facts, gists, open items, measured tokens; and which nodes an answer had."""
    _execute(database, "m007_nodes")


@migrations(name=MIGRATION_NAMES[7])
def m008_file_identity(database: Database) -> None:
    """What beside size and time tells that a file was changed; "" for documents that were stored before."""
    _execute(database, "m008_file_identity")


@migrations(name=MIGRATION_NAMES[8])
def m009_next_encoder(database: Database) -> None:
    """Vectors of the encoder that is being changed to, beside those that are searched."""
    _execute(database, "m009_next_encoder")


@migrations(name=MIGRATION_NAMES[9])
def m010_reader(database: Database) -> None:
    """Which reader ordered and judged the evidence of an answer; None for answers without one."""
    _execute(database, "m010_reader")


@migrations(name=MIGRATION_NAMES[10])
def m011_seals(database: Database) -> None:
    """A checksum beside each document, answer and fact."""
    _execute(database, "m011_seals")
    seal_all(database.conn)


@migrations(name=MIGRATION_NAMES[11])
def m012_stopped_files(database: Database) -> None:
    """Files that crashed their reader or passed a limit: not read again until they change."""
    _execute(database, "m012_stopped_files")


@migrations(name=MIGRATION_NAMES[12])
def m013_changes(database: Database) -> None:
    """What has changed since each index was made, so that it takes up that alone."""
    _execute(database, "m013_changes")


@migrations(name="m014_answer_records")
def m014_answer_records(database: Database) -> None:
    """Long columns of answers, and the texts of their prompts, compressed; answers and texts numbered."""
    _execute(database, "m014_answer_records")
    # Not what answers.py writes today: this step's columns and names never change.
    recorded = (
        "raw_answer, citations_json, packed_json, packed_chunks_json, verification_json, prompt_json, filters_json,"
        " relevance_json, nodes_json, search_terms"
    )
    before, now = (
        {row[1] for row in database.execute(f"PRAGMA table_info({table})")} for table in ("answers_before", "answers")
    )
    plain = ", ".join(sorted(now & before - {"seal"}))
    texts = (
        "SELECT text_hash, text FROM answer_texts_before JOIN packed_texts_before USING (text_hash) WHERE trace_id = ?"
    )
    rows = database.execute(f"SELECT trace_id, answer, {recorded} FROM answers_before ORDER BY created_at, trace_id")
    for answer_id, (trace_id, answer, *values) in enumerate(rows.fetchall(), start=1):
        held = dict(zip(recorded.split(", "), values, strict=True))
        if held["raw_answer"] == answer:
            held["raw_answer"] = None
        database.execute(
            f"INSERT INTO answers (answer_id, {plain}, relevance_mode) SELECT ?, {plain},"
            " CASE WHEN json_valid(relevance_json) THEN json_extract(relevance_json, '$.mode') END"
            " FROM answers_before WHERE trace_id = ?",
            [answer_id, trace_id],
        )
        insert_record(database.conn, answer_id, held)
        terms = [answer_id, held["search_terms"] or ""]
        database.execute("INSERT INTO answer_search (rowid, search_terms) VALUES (?, ?)", terms)
        for text_hash, text in database.execute(texts, [trace_id]).fetchall():
            insert_text(database.conn, answer_id, _hash_bytes(text_hash), text)
        seal_moved_answer(database.conn, trace_id)
    _execute(database, "m014_answer_records_end")


@migrations(name="m015_texts_of_chunks")
def m015_texts_of_chunks(database: Database) -> None:
    """Texts of prompts that chunks hold: what the chunks have of them is not stored again."""
    _execute(database, "m015_texts_of_chunks")
    find = "SELECT text_id, plain_text(text, NULL) FROM packed_texts WHERE text_hash = ? AND text_id NOT IN (SELECT text_id FROM text_chunks)"
    rows = database.execute(f"SELECT recorded({RECORD}, 'packed_json') FROM answers ORDER BY answer_id").fetchall()
    for (packed_json,) in rows:
        for text_hash, chunk_ids in made_of(json.loads(packed_json or "[]")).items():
            found = database.execute(find, [_hash_bytes(text_hash)]).fetchone()
            if found and found[1] is not None:
                refer_to_chunks(database.conn, found[0], found[1], chunk_ids)
    # Written anew, one after the other: rows that became short leave pages half empty.
    database.execute("PRAGMA defer_foreign_keys = ON")
    chunks = database.execute("SELECT chunk_id, text_id FROM text_chunks").fetchall()
    texts = database.execute("SELECT text_id, text_hash, text FROM packed_texts ORDER BY text_id").fetchall()
    database.execute("DELETE FROM text_chunks")
    database.execute("DELETE FROM packed_texts")
    database.conn.executemany("INSERT INTO packed_texts (text_id, text_hash, text) VALUES (?, ?, ?)", texts)
    database.conn.executemany("INSERT INTO text_chunks (chunk_id, text_id) VALUES (?, ?)", chunks)


@migrations(name="m016_file_seals")
def m016_file_seals(database: Database) -> None:
    """A checksum of what is known of each document's file, which changes without the rest."""
    _execute(database, "m016_file_seals")
    seal_all_files(database.conn)


@migrations(name="m017_less_room")
def m017_less_room(database: Database) -> None:
    """Vectors in 16 bits, hashes shorter, encoders by number, no fingerprints."""
    for name, function in (("short_hash", _short_hash), ("packed", pack_vector), ("unhexed", _hash_bytes)):
        database.conn.create_function(name, 1, function, deterministic=True)
    _execute(database, "m017_less_room")


@migrations(name="m018_left_to_do")
def m018_left_to_do(database: Database) -> None:
    """Notes of what waits for a vector and of vectors that are unused, and counts of the graph, kept by triggers."""
    _execute(database, "m018_left_to_do")


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
