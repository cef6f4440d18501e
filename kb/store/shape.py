"""A store's tables, columns, indexes and triggers → what of them is not as kb makes them: a flipped byte in their definition."""

from __future__ import annotations

import sqlite3
from functools import cache

from kb.store.database import make_tables
from kb.store.records import teach_records

# (type, name) → columns of a table, of an index, or the statement of a trigger or view
Shape = dict[tuple[str, str], tuple[object, ...]]

_COLUMNS = 'SELECT name, upper(type), "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)'
_INDEXED = "SELECT name FROM pragma_index_info(?)"


def find_wrong_shape(connection: sqlite3.Connection) -> list[str]:
    """What is missing, or defined in another way than in a new store, as phrases; nothing else can be relied on then."""
    found, expected = _shape_of(connection), expected_shape()
    return [
        f"{kind} {name} is {'not defined as kb defines it' if (kind, name) in found else 'missing'}"
        for (kind, name), definition in sorted(expected.items())
        if found.get((kind, name)) != definition
    ]


@cache
def expected_shape() -> Shape:
    """The shape of a new store. A table that a later step changed has the same columns, whatever its statement says."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        teach_records(connection)
        make_tables(connection)
        return _shape_of(connection)
    finally:
        connection.close()


def _shape_of(connection: sqlite3.Connection) -> Shape:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    return {(kind, name): _definition(connection, kind, name, sql) for kind, name, sql in rows}


def _definition(connection: sqlite3.Connection, kind: str, name: str, sql: str) -> tuple[object, ...]:
    if kind == "table":
        return tuple(connection.execute(_COLUMNS, [name]).fetchall())
    if kind == "index":
        return tuple(connection.execute(_INDEXED, [name]).fetchall())
    return (sql,)
