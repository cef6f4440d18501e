"""Answers in the store: every answer is written, refusals included, before anything is printed as final.

The texts that prompts held are stored once each and shared between answers; a text is removed with the last answer
that uses it. What is long and only read with its answer is compressed, in one record per answer.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from datetime import UTC, datetime
from typing import Any

from kb.errors import InvalidInput, NotFound
from kb.frozen import dataclass
from kb.records import SearchMode
from kb.store.chunks import batches_of, marks
from kb.store.database import transaction
from kb.store.dates import moment_ns
from kb.store.packed_texts import PLAIN_TEXT, insert_text, made_of
from kb.store.records import RECORD, insert_record, read_record
from kb.store.seals import seal_answer
from kb.store.search_terms import match_expression, search_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One answer; the names are a published contract. Hashes are hex, times milliseconds. Those in RECORDED are in its record.

    answer, raw_answer  what the user is shown, and what the model wrote
    packed_json         chunk id, text hash, score, span, title, headings and citation of every packed chunk
    packed_chunks_json  their full texts; None unless asked for with --explain
    verification_json   what the check of the citations found, None where none was made
    prompt_truncated    the model has read only a part of the prompt; None where that cannot be told
    prompt_json         the prompt in pieces, packed texts by their hash; None where no model was asked
    filters_json        the filters of the retrieval, None for answers of before they were kept
    replay_of           trace id of the answer this one repeats
    relevance_json      which context nodes were wanted, and why; None for answers of before they were chosen
    nodes_json          the nodes that the prompt held, each with its tokens and the hash of its text
    rests_on_json       nodes that the answer rests on instead of documents
    standalone_question the question as it was searched for, None where that is the question itself
    reader              name and digest of the reader that ordered and judged the evidence, None without one
    """

    trace_id: str
    question: str
    answer: str
    raw_answer: str
    grounded: bool
    refusal_reason: str | None
    model_id: str
    model_provider: str
    model_digest: str | None
    embedding_model_id: str | None
    embedding_dimensions: int | None
    prompt_template_version: str
    prompt_sha256: str | None
    retrieval_mode: SearchMode
    retrieval_k: int
    score_gate: float
    top_score: float | None
    evidence_gate: float | None
    evidence_score: float | None
    chunks_returned: int
    chunks_used: int
    citations_json: str
    packed_json: str
    packed_chunks_json: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: float
    first_token_ms: float | None
    temperature: float | None
    seed: int | None
    finish_reason: str | None
    session_id: str | None
    corpus_revision: int
    created_at: str
    verification_json: str | None = None
    prompt_truncated: bool | None = None
    prompt_json: str | None = None
    filters_json: str | None = None
    replay_of: str | None = None
    relevance_json: str | None = None
    nodes_json: str | None = None
    rests_on_json: str | None = None
    standalone_question: str | None = None
    reader: str | None = None


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """What is kept of an answer's prompt; the fields are those of `AnswerRow`, texts are by their sha256."""

    prompt_sha256: str | None = None
    packed_json: str = "[]"
    packed_texts_json: str | None = "[]"
    prompt_json: str | None = None
    nodes_json: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerQuery:
    """Which answers are selected; every field that is given narrows the selection.

    since, until  ISO dates (or date-times), UTC where they name no zone; `until` with a plain date includes that day
    before        a moment, written as `since`; it is not included itself
    grounded      True for grounded ones, False for refusals, None for both
    search        words that must all stand in question or answer
    """

    since: str | None = None
    until: str | None = None
    grounded: bool | None = None
    search: str | None = None
    before: str | None = None


# What a record holds, beside the search terms. The raw answer is left out where it is the answer.
RECORDED = (
    "raw_answer",
    "citations_json",
    "packed_json",
    "packed_chunks_json",
    "verification_json",
    "prompt_json",
    "filters_json",
    "relevance_json",
    "nodes_json",
)
SEARCH_TERMS = "search_terms"
# A damaged record is an answer without these; kb doctor --deep names it.
_WITHOUT_RECORD = {"citations_json": "[]", "packed_json": "[]"}
_PLAIN = [f.name for f in fields(AnswerRow) if f.name not in RECORDED]
_SELECT = f"SELECT {', '.join(_PLAIN)}, {RECORD} FROM answers"


def save_answer(connection: sqlite3.Connection, row: AnswerRow, texts: Mapping[str, str]) -> None:
    """Write one answer.

    texts  what its prompt held, by sha256
    """
    chunks = made_of(json.loads(row.packed_json))
    with transaction(connection):
        answer_id = insert_answer(connection, row, search_terms(row.question, row.answer))
        for text_hash, text in texts.items():
            insert_text(connection, answer_id, bytes.fromhex(text_hash), text, chunks.get(text_hash, ()))
        seal_answer(connection, row.trace_id)


def insert_answer(connection: sqlite3.Connection, row: AnswerRow, terms: str) -> int:
    """The rows of one answer, not yet sealed; part of the caller's transaction. Returns its answer_id."""
    held = {name: getattr(row, name) for name in RECORDED if name != "raw_answer" or row.raw_answer != row.answer}
    values = [getattr(row, name) for name in _PLAIN]
    mode = json.loads(row.relevance_json).get("mode") if row.relevance_json else None
    (answer_id,) = connection.execute("SELECT coalesce(max(answer_id), 0) + 1 FROM answers").fetchone()
    connection.execute(
        f"INSERT INTO answers (answer_id, {', '.join(_PLAIN)}, relevance_mode)"
        f" VALUES (?, {', '.join('?' * len(values))}, ?)",
        [answer_id, *values, mode],
    )
    insert_record(connection, answer_id, held | {SEARCH_TERMS: terms})
    connection.execute("INSERT INTO answer_search (rowid, search_terms) VALUES (?, ?)", [answer_id, terms])
    return int(answer_id)


def packed_texts(connection: sqlite3.Connection, trace_id: str) -> dict[str, str]:
    """The texts that an answer's prompt held, by sha256; empty where nothing was kept, damaged ones left out."""
    rows = connection.execute(
        f"SELECT lower(hex(text_hash)), {PLAIN_TEXT} FROM answers JOIN answer_texts USING (answer_id)"
        " JOIN packed_texts USING (text_id) WHERE trace_id = ?",
        [trace_id],
    )
    return {text_hash: text for text_hash, text in rows if text is not None}


def list_answers(connection: sqlite3.Connection, limit: int, query: AnswerQuery | None = None) -> list[AnswerRow]:
    """The newest answers, newest first.

    raises  InvalidInput for an invalid date, or a search without a word
    """
    clause, values = _where(query or AnswerQuery())
    order = "ORDER BY created_at DESC, trace_id DESC"
    # The inner query needs only the index on time, which holds every filtered column; only listed rows are read.
    chosen = f"SELECT trace_id FROM answers{clause} {order} LIMIT ?"
    rows = connection.execute(f"{_SELECT} WHERE trace_id IN ({chosen}) {order}", [*values, limit])
    return [_to_row(row) for row in rows]


def each_answer(connection: sqlite3.Connection, query: AnswerQuery) -> Iterator[AnswerRow]:
    """Every selected answer, oldest first, read one at a time; raises as `list_answers`."""
    clause, values = _where(query)
    return map(_to_row, connection.execute(f"{_SELECT}{clause} ORDER BY created_at, trace_id", values))


def trace_ids_of(connection: sqlite3.Connection, query: AnswerQuery) -> list[str]:
    """The trace ids of the selected answers, oldest first."""
    clause, values = _where(query)
    rows = connection.execute(f"SELECT trace_id FROM answers{clause} ORDER BY created_at, trace_id", values)
    return [trace_id for (trace_id,) in rows]


def count_answers(connection: sqlite3.Connection, most: int | None = None) -> int:
    """How many answers there are; with `most`, counting stops there."""
    limit = -1 if most is None else most
    return int(connection.execute("SELECT count(*) FROM (SELECT 1 FROM answers LIMIT ?)", [limit]).fetchone()[0])


def answers_bytes(connection: sqlite3.Connection) -> int:
    """The room that answers take in the file, with their texts and indexes."""
    tables = ("answers", "answer_records", "answer_texts", "packed_texts", "text_chunks", "episodes")
    names = f"SELECT name FROM sqlite_schema WHERE tbl_name IN {marks(tables)} OR name LIKE 'answer_search%'"
    try:
        query = f"SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN ({names})"
        row = connection.execute(query, tables).fetchone()
    except sqlite3.OperationalError:  # a SQLite that was built without this table: the texts alone
        columns = " + ".join(f"coalesce(length({name}), 0)" for name in _PLAIN)
        texts = "SELECT coalesce(sum(length(text)), 0) FROM packed_texts"
        query = (
            f"SELECT coalesce(sum({columns}), 0) + ({texts}) FROM answers LEFT JOIN answer_records USING (answer_id)"
        )
        row = connection.execute(query).fetchone()
    return int(row[0] or 0)


def count_answers_with(connection: sqlite3.Connection, texts: Sequence[str]) -> int:
    """How many answers hold one of these texts: in question or answer, or in what their prompt held."""
    found: set[str] = set()
    for text in texts:
        rows = connection.execute(
            "SELECT trace_id FROM answers WHERE instr(question, ?1) OR instr(answer, ?1)"
            f" OR instr(recorded({RECORD}, 'raw_answer'), ?1)"
            " UNION SELECT trace_id FROM answers JOIN answer_texts USING (answer_id) JOIN packed_texts USING (text_id)"
            f" WHERE instr({PLAIN_TEXT}, ?1)",
            [text],
        )
        found.update(trace_id for (trace_id,) in rows)
    return len(found)


def answer_numbers(connection: sqlite3.Connection, trace_ids: Sequence[str]) -> dict[str, int]:
    """The short name of each answer by its trace id; answers that are gone are left out.

    The number of the newest answer is given again when that one was removed.
    """
    found: dict[str, int] = {}
    for batch in batches_of(trace_ids):
        rows = connection.execute(
            f"SELECT trace_id, answer_id FROM answers WHERE trace_id IN {marks(batch)}", list(batch)
        )
        found.update(rows.fetchall())
    return found


def find_answer(connection: sqlite3.Connection, name: str) -> AnswerRow:
    """The answer with this number or trace id, with the only trace id that has this beginning, or the "last" one.

    raises  NotFound
    """
    if name.lower() == "last":
        newest = list_answers(connection, 1)
        if not newest:
            raise NotFound("no answers yet", fix="kb ask makes them")
        return newest[0]
    if re.fullmatch(r"#?[1-9]\d{0,11}", name):
        row = connection.execute(f"{_SELECT} WHERE answer_id = ?", [int(name.removeprefix("#"))]).fetchone()
        if row is not None:
            return _to_row(row)
    trace_id = name
    beginning = trace_id.lower()
    # A trace id is hexadecimal: "g" sorts after every id with this prefix, so the key's index finds the range.
    rows = connection.execute(
        f"{_SELECT} WHERE trace_id >= ? AND trace_id < ? LIMIT 2", [beginning, f"{beginning}g"]
    ).fetchall()
    if len(rows) != 1:
        problem = f"no answer '{trace_id}'" if not rows else f"several answers begin with '{trace_id}'"
        raise NotFound(problem, fix="see them with: kb answers list")
    return _to_row(rows[0])


def remove_answers(connection: sqlite3.Connection, trace_ids: Sequence[str]) -> int:
    """Remove these answers and the texts that no other answer uses, all or nothing; returns how many were there.

    Their content is overwritten in the file, not only marked as free.
    """
    connection.execute("PRAGMA secure_delete = ON")
    with transaction(connection):
        removed = _delete(connection, trace_ids)
        # Until segments are merged the full-text index keeps the words of what was removed.
        connection.execute("INSERT INTO answer_search (answer_search) VALUES ('optimize')")
    return removed


def prune_answers(connection: sqlite3.Connection, keep_answers: int, oldest_kept: str | None) -> int:
    """Remove the answers beyond the limits of the history; returns how many.

    keep_answers  how many of the newest stay, 0 for no limit
    oldest_kept   as created_at is written; None for no limit
    """
    doomed: list[str] = []
    if oldest_kept is not None:
        doomed += [t for (t,) in connection.execute("SELECT trace_id FROM answers WHERE created_at < ?", [oldest_kept])]
    if keep_answers:
        newest = "SELECT trace_id FROM answers ORDER BY created_at DESC, trace_id DESC LIMIT -1 OFFSET ?"
        doomed += [t for (t,) in connection.execute(newest, [keep_answers])]
    if not doomed:
        return 0
    connection.execute("PRAGMA secure_delete = ON")
    with transaction(connection):  # the index is merged by what is added to it; doing it here would cost every answer
        return _delete(connection, list(dict.fromkeys(doomed)))


def _delete(connection: sqlite3.Connection, trace_ids: Sequence[str]) -> int:
    removed, is_damaged = 0, False
    for batch in batches_of(trace_ids):
        # The full-text index keeps no text: it must be told which words it forgets.
        terms = connection.execute(
            f"SELECT answer_id, recorded({RECORD}, 'search_terms') FROM answers WHERE trace_id IN {marks(batch)}",
            batch,
        ).fetchall()
        is_damaged |= any(text is None for _, text in terms)
        connection.executemany(
            "INSERT INTO answer_search (answer_search, rowid, search_terms) VALUES ('delete', ?, ?)",
            [(answer_id, text) for answer_id, text in terms if text is not None],
        )
        removed += connection.execute(f"DELETE FROM answers WHERE trace_id IN {marks(batch)}", batch).rowcount
    if is_damaged:
        _fill_search(connection)
    return removed


def _fill_search(connection: sqlite3.Connection) -> None:
    """Make the full-text index anew; words of answers whose records are damaged come from question and answer."""
    connection.execute("INSERT INTO answer_search (answer_search) VALUES ('delete-all')")
    rows = connection.execute(
        f"SELECT answer_id, recorded({RECORD}, 'search_terms'), question, answer FROM answers"
    ).fetchall()
    connection.executemany(
        "INSERT INTO answer_search (rowid, search_terms) VALUES (?, ?)",
        [
            (number, search_terms(question, answer) if terms is None else terms)
            for number, terms, question, answer in rows
        ],
    )


def time_text(moment_nanoseconds: int) -> str:
    """A moment as `created_at` writes it."""
    return datetime.fromtimestamp(moment_nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _where(query: AnswerQuery) -> tuple[str, list[str | int]]:
    where: list[str] = []
    values: list[str | int] = []
    if query.since is not None:
        where.append("created_at >= ?")
        values.append(time_text(moment_ns(query.since, "--since")))
    if query.until is not None:
        where.append("created_at < ?")
        values.append(time_text(moment_ns(query.until, "--until", whole_day=True)))
    if query.before is not None:
        where.append("created_at < ?")
        values.append(time_text(moment_ns(query.before, "--before")))
    if query.grounded is not None:
        where.append("grounded = ?")
        values.append(int(query.grounded))
    if query.search is not None:
        expression = match_expression(query.search)
        if expression is None:
            raise InvalidInput(f"--search '{query.search}' has no word in it", fix="give a word of question or answer")
        # The plus keeps SQLite from looking each of 100,000 found answers up and sorting them for the newest 20.
        where.append("+answer_id IN (SELECT rowid FROM answer_search WHERE answer_search MATCH ?)")
        values.append(expression)
    return (f" WHERE {' AND '.join(where)}" if where else ""), values


def _to_row(values: tuple[object, ...]) -> AnswerRow:
    named: dict[str, Any] = dict(zip(_PLAIN, values, strict=False))
    texts = read_record(bytes(values[-1]) if isinstance(values[-1], bytes) else None)
    held = _WITHOUT_RECORD if texts is None else texts
    named |= {name: held.get(name) for name in RECORDED}
    named["raw_answer"] = held.get("raw_answer", named["answer"])
    named["grounded"] = bool(named["grounded"])
    if named["prompt_truncated"] is not None:
        named["prompt_truncated"] = bool(named["prompt_truncated"])
    return AnswerRow(**named)
