"""Names that a shell completes, read from the store in a few milliseconds: no migration, no index, no lock."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kb.store.schema import FILE_NAME

# More than a shell can show; the next letters narrow the documents, the newest answers are the ones that are meant.
MOST_ROWS = 2000
QUERIES = {
    "lang": "SELECT language, count(*) || ' documents' FROM documents GROUP BY 1 ORDER BY count(*) DESC",
    "type": "SELECT type, count(*) || ' documents' FROM documents GROUP BY 1 ORDER BY count(*) DESC",
    "source": "SELECT source, count(*) || ' documents' FROM documents GROUP BY 1 ORDER BY count(*) DESC",
    "tag": "SELECT tag, count(*) || ' documents' FROM"
    " (SELECT tag FROM document_tags UNION ALL SELECT tag FROM applied_tags) GROUP BY 1 ORDER BY count(*) DESC",
    "document": "SELECT path, title FROM documents ORDER BY path",
    "session": "SELECT session_id, count(*) || ' turns' FROM answers WHERE session_id IS NOT NULL GROUP BY 1"
    " ORDER BY max(created_at) DESC",
    "answer": "SELECT answer_id, substr(question, 1, 60) FROM answers ORDER BY answer_id DESC",
}


def completion_values(home: Path, kind: str) -> list[tuple[str, str]]:
    """(name, what it is) of one of `QUERIES`; empty where there is no store.

    raises  sqlite3.Error for a store that cannot be read
    """
    file = home / FILE_NAME
    if not file.is_file():
        return []
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=0.05)
    try:
        rows = connection.execute(f"{QUERIES[kind]} LIMIT {MOST_ROWS}").fetchall()
    finally:
        connection.close()
    return [(str(name), str(about or "")) for name, about in rows if name not in (None, "")]
