"""Tags in the store: the imported vocabulary, its items, and the tags that were applied to documents.

Applied tags are kept apart from the tags of the documents' own front matter and can be removed without touching those.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from kb.frozen import dataclass
from kb.store.chunks import batches_of, marks
from kb.store.database import read_meta, transaction, write_meta

DIGEST = "tag_vocabulary_digest"
ORIGIN = "tag_vocabulary_origin"
IMPORTED_AT = "tag_vocabulary_imported_at"


@dataclass(frozen=True, slots=True)
class StoredVocabulary:
    """The rows of an imported vocabulary.

    tags     (tag, category, count, rating), by name
    aliases  (alias, tag), by alias
    items    tags of each item
    """

    tags: tuple[tuple[str, str | None, int | None, float | None], ...]
    aliases: tuple[tuple[str, str], ...]
    items: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ImportedVocabulary:
    """The imported vocabulary's digest, its file's name, and when it was imported."""

    digest: str
    origin: str
    imported_at: str


def imported_vocabulary(connection: sqlite3.Connection) -> ImportedVocabulary | None:
    """The imported vocabulary; None when the documents' own tags are the vocabulary."""
    digest = read_meta(connection, DIGEST)
    if not digest:
        return None
    return ImportedVocabulary(digest, read_meta(connection, ORIGIN) or "", read_meta(connection, IMPORTED_AT) or "")


def save_vocabulary(
    connection: sqlite3.Connection, rows: StoredVocabulary, digest: str, origin: str, imported_at: str
) -> None:
    """Replace the imported vocabulary."""
    with transaction(connection):
        _delete_vocabulary(connection)
        connection.executemany("INSERT INTO tags (tag, category, count, rating) VALUES (?, ?, ?, ?)", rows.tags)
        connection.executemany("INSERT INTO tag_aliases (alias, tag) VALUES (?, ?)", rows.aliases)
        items = ((json.dumps(item, ensure_ascii=False),) for item in rows.items)
        connection.executemany("INSERT INTO tag_items (tags) VALUES (?)", items)
        for name, value in ((DIGEST, digest), (ORIGIN, origin), (IMPORTED_AT, imported_at)):
            write_meta(connection, name, value)


def forget_vocabulary(connection: sqlite3.Connection) -> None:
    """Delete the imported vocabulary: the documents' own tags are the vocabulary again."""
    with transaction(connection):
        _delete_vocabulary(connection)


def _delete_vocabulary(connection: sqlite3.Connection) -> None:
    for table in ("tags", "tag_aliases", "tag_items"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM meta WHERE name IN (?, ?, ?)", [DIGEST, ORIGIN, IMPORTED_AT])


def read_vocabulary(connection: sqlite3.Connection) -> StoredVocabulary:
    """The imported vocabulary, in the order in which it was saved."""
    tags = connection.execute("SELECT tag, category, count, rating FROM tags ORDER BY rowid").fetchall()
    aliases = connection.execute("SELECT alias, tag FROM tag_aliases ORDER BY rowid").fetchall()
    items = connection.execute("SELECT tags FROM tag_items ORDER BY item_id")
    return StoredVocabulary(tuple(tags), tuple(aliases), tuple(tuple(json.loads(row)) for (row,) in items))


def document_tag_lists(connection: sqlite3.Connection) -> dict[int, tuple[str, ...]]:
    """The tags of each document's own front matter, sorted; documents without any are left out."""
    found: dict[int, list[str]] = {}
    for doc_id, tag in connection.execute("SELECT doc_id, tag FROM document_tags ORDER BY doc_id, tag"):
        found.setdefault(doc_id, []).append(tag)
    return {doc_id: tuple(tags) for doc_id, tags in found.items()}


def applied_tags(connection: sqlite3.Connection, doc_ids: Sequence[int] | None = None) -> dict[int, tuple[str, ...]]:
    """The tags that were applied to each document, best first; doc_ids None for all documents."""
    found: dict[int, list[str]] = {}
    for batch in [None] if doc_ids is None else batches_of(doc_ids):
        where = "" if batch is None else f" WHERE doc_id IN {marks(batch)}"
        rows = connection.execute(
            f"SELECT doc_id, tag FROM applied_tags{where} ORDER BY doc_id, score DESC, tag", batch or []
        )
        for doc_id, tag in rows:
            found.setdefault(doc_id, []).append(tag)
    return {doc_id: tuple(tags) for doc_id, tags in found.items()}


def replace_applied_tags(connection: sqlite3.Connection, tags: Mapping[int, Iterable[tuple[str, float]]]) -> None:
    """Replace the tags that were applied to each document; rows are (tag, score)."""
    with transaction(connection):
        for doc_id, rows in tags.items():
            connection.execute("DELETE FROM applied_tags WHERE doc_id = ?", [doc_id])
            connection.executemany(
                "INSERT INTO applied_tags (doc_id, tag, score) VALUES (?, ?, ?)",
                [(doc_id, tag, score) for tag, score in rows],
            )


def documents_by_tag(connection: sqlite3.Connection, tags: Sequence[str]) -> dict[str, set[int]]:
    """The documents with each of the tags, in front matter or applied, whatever the letter case; keys as given."""
    found: dict[str, set[int]] = {tag: set() for tag in tags}
    by_lower = {tag.lower(): tag for tag in tags}
    for batch in batches_of(by_lower):
        for table in ("document_tags", "applied_tags"):
            rows = connection.execute(
                f"SELECT lower(tag), doc_id FROM {table} WHERE lower(tag) IN {marks(batch)}", batch
            )
            for tag, doc_id in rows:
                found[by_lower[tag]].add(doc_id)
    return found
