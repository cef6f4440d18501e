"""Rows that cannot be told from damaged ones by themselves → a seal beside them, made when they are written.

Texts have their sha256 and indexes their checksum; titles, places, lines, tags, names and answers have these.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b

from kb.store.records import RECORD

# What is shown of a document, with what was read out of it.
_OF_DOCUMENT = (
    "SELECT source, path, title, type, language, note, indexed_at FROM documents WHERE doc_id = ?",
    "SELECT tag FROM document_tags WHERE doc_id = ? ORDER BY tag",
    "SELECT position, start_char, end_char, start_line, end_line, page, section, heading_path,"
    " lower(hex(text_digest)), token_count FROM chunks WHERE doc_id = ? ORDER BY position",
    "SELECT key, kind, weight, form, label, line, position FROM graph_names WHERE doc_id = ? ORDER BY key, kind, weight",
    "SELECT subject_kind, subject_key, subject_label, predicate, object_kind, object_key, object_label, line, position"
    " FROM graph_edges WHERE doc_id = ? ORDER BY edge_id",
    "SELECT version, text FROM gists WHERE doc_id = ?",
    "SELECT position, line, text FROM open_items WHERE doc_id = ? ORDER BY position",
)
# As the step m011 sealed documents: the same rows, from another column.
_OF_DOCUMENT_BEFORE = tuple(query.replace("lower(hex(text_digest))", "text_hash") for query in _OF_DOCUMENT)
# Of its file: changes without the rest.
_OF_FILE = ("SELECT size_bytes, mtime_ns, content_hash, signature, file_identity FROM documents WHERE doc_id = ?",)
# Of an answer, with all that is shown of it.
_OF_ANSWER = (
    "SELECT question, answer, grounded, refusal_reason, model_id, model_provider, model_digest, embedding_model_id,"
    " embedding_dimensions, prompt_template_version, prompt_sha256, retrieval_mode, retrieval_k, score_gate, top_score,"
    " evidence_gate, evidence_score, chunks_returned, chunks_used, prompt_tokens, completion_tokens, latency_ms,"
    " first_token_ms, temperature, seed, finish_reason, session_id, corpus_revision, created_at, prompt_truncated,"
    f" replay_of, rests_on_json, standalone_question, reader, relevance_mode, {RECORD} FROM answers WHERE trace_id = ?",
)
# As the step m011 sealed answers, before they had records; answers_before is what m014 calls them.
_OF_ANSWER_BEFORE = (
    "SELECT question, answer, raw_answer, grounded, refusal_reason, model_id, model_provider, retrieval_mode, top_score,"
    " evidence_score, citations_json, packed_json, prompt_json, verification_json, relevance_json, rests_on_json,"
    " standalone_question, session_id, replay_of, corpus_revision FROM {table} WHERE trace_id = ?"
)
# The seal of an answer that was damaged already when its seal was made anew.
_BROKEN = "broken"
_OF_FACT = ("SELECT text, session_id FROM facts WHERE fact_id = ?",)


def seal_document(connection: sqlite3.Connection, doc_id: int) -> None:
    """Seal a document as it stands now; the last step of the transaction that writes it."""
    seal = _seal(connection, _OF_DOCUMENT, doc_id)
    connection.execute("UPDATE documents SET seal = ? WHERE doc_id = ?", [seal, doc_id])
    seal_file(connection, doc_id)


def seal_file(connection: sqlite3.Connection, doc_id: int) -> None:
    """Seal what is known of a document's file as it stands now."""
    connection.execute(
        "UPDATE documents SET file_seal = ? WHERE doc_id = ?", [_seal(connection, _OF_FILE, doc_id), doc_id]
    )


def seal_answer(connection: sqlite3.Connection, trace_id: str) -> None:
    """Seal an answer as it stands now."""
    connection.execute(
        "UPDATE answers SET seal = ? WHERE trace_id = ?", [_seal(connection, _OF_ANSWER, trace_id), trace_id]
    )


def seal_fact(connection: sqlite3.Connection, fact_id: int) -> None:
    """Seal a fact as it stands now."""
    connection.execute("UPDATE facts SET seal = ? WHERE fact_id = ?", [_seal(connection, _OF_FACT, fact_id), fact_id])


def seal_moved_answer(connection: sqlite3.Connection, trace_id: str) -> None:
    """Seal an answer that was moved out of answers_before; part of m014. One that was damaged there stays so."""
    find = "SELECT seal FROM answers_before WHERE trace_id = ?"
    (before,) = connection.execute(find, [trace_id]).fetchone()
    query = _OF_ANSWER_BEFORE.format(table="answers_before")
    if before is None or before == _seal(connection, (query,), trace_id):
        seal_answer(connection, trace_id)
    else:
        connection.execute("UPDATE answers SET seal = ? WHERE trace_id = ?", [_BROKEN, trace_id])


def seal_all(connection: sqlite3.Connection) -> None:
    """Seal everything that an earlier version has stored; part of m011."""
    for doc_id in _ids(connection, "SELECT doc_id FROM documents"):
        seal = _seal(connection, _OF_DOCUMENT_BEFORE, doc_id)
        connection.execute("UPDATE documents SET seal = ? WHERE doc_id = ?", [seal, doc_id])
    query = _OF_ANSWER_BEFORE.format(table="answers")
    for trace_id in _ids(connection, "SELECT trace_id FROM answers"):
        seal = _seal(connection, (query,), trace_id)
        connection.execute("UPDATE answers SET seal = ? WHERE trace_id = ?", [seal, trace_id])
    for fact_id in _ids(connection, "SELECT fact_id FROM facts"):
        seal_fact(connection, int(fact_id))


def seal_all_files(connection: sqlite3.Connection) -> None:
    """Seal the files of all documents; part of m016."""
    for doc_id in _ids(connection, "SELECT doc_id FROM documents"):
        seal_file(connection, int(doc_id))


def broken_documents(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    """(doc_id, source/path) of the documents that are not as they were sealed; one without a seal is not compared."""
    find = "SELECT doc_id, source || '/' || path, seal, file_seal FROM documents ORDER BY doc_id"
    for doc_id, place, seal, file_seal in connection.execute(find).fetchall():
        sealed = ((seal, _OF_DOCUMENT), (file_seal, _OF_FILE))
        if any(said is not None and said != _seal(connection, queries, doc_id) for said, queries in sealed):
            yield doc_id, place


def broken_answers(connection: sqlite3.Connection) -> Iterator[str]:
    """The trace ids of answers that are not as they were sealed."""
    for trace_id, seal in connection.execute("SELECT trace_id, seal FROM answers ORDER BY trace_id").fetchall():
        if seal is not None and seal != _seal(connection, _OF_ANSWER, trace_id):
            yield trace_id


def broken_facts(connection: sqlite3.Connection) -> Iterator[int]:
    """The ids of facts that are not as they were sealed."""
    for fact_id, seal in connection.execute("SELECT fact_id, seal FROM facts ORDER BY fact_id").fetchall():
        if seal is not None and seal != _seal(connection, _OF_FACT, fact_id):
            yield fact_id


def _seal(connection: sqlite3.Connection, queries: tuple[str, ...], key: int | str) -> str:
    """BLAKE2b of the rows, 16 hex digits: against accidents, not against somebody who can write the file."""
    rows = [connection.execute(query, [key]).fetchall() for query in queries]
    return blake2b(json.dumps(rows, default=repr).encode(), digest_size=8).hexdigest()


def _ids(connection: sqlite3.Connection, query: str) -> list[int | str]:
    return [key for (key,) in connection.execute(query).fetchall()]
