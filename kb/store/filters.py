"""Filters → the documents that pass them, selected in the store before any retrieval."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime

from kb.errors import InvalidInput
from kb.records import Filters
from kb.store.chunks import batches_of, marks

SECONDS_PER_DAY = 86_400
# SQLite's integers reach about 292 years either side of 1970, and users may ask for the years 1 to 9999.
FARTHEST_NS = 2**63 - 1


def allowed_documents(connection: sqlite3.Connection, filters: Filters) -> list[int] | None:
    """doc_ids that pass, ascending; None when there is no filter at all.

    raises  InvalidInput for an invalid date
    """
    if filters.is_empty():
        return None
    where: list[str] = []
    values: list[str | int] = []
    languages = tuple(tag.partition("-")[0] for tag in filters.languages)  # documents carry the primary subtag only
    for column, wanted in (("source", filters.sources), ("type", filters.types), ("language", languages)):
        if wanted:
            where.append(f"lower({column}) IN {marks(wanted)}")
            values += [w.lower() for w in wanted]
    if filters.tags:
        tags = [t.lower() for t in filters.tags]
        carried = " UNION ALL ".join(
            f"SELECT doc_id FROM {table} WHERE lower(tag) IN {marks(tags)}"
            for table in ("document_tags", "applied_tags")
        )
        where.append(f"doc_id IN ({carried})")
        values += [*tags, *tags]
    if filters.since is not None:
        where.append("mtime_ns >= ?")
        values.append(moment_ns(filters.since, "--since"))
    if filters.until is not None:
        where.append("mtime_ns < ?")
        values.append(moment_ns(filters.until, "--until", whole_day=True))
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    rows = connection.execute(f"SELECT doc_id, path FROM documents{clause} ORDER BY doc_id", values)
    globs = [glob_pattern(g) for g in filters.paths]
    return [doc_id for doc_id, path in rows if not globs or any(g.fullmatch(path) for g in globs)]


def no_match(filters: Filters) -> str:
    """One line that says no document passes these filters, as the user wrote them."""
    flags = {
        "tag": filters.tags,
        "source": filters.sources,
        "path": filters.paths,
        "type": filters.types,
        "lang": filters.languages,
        "since": () if filters.since is None else (filters.since,),
        "until": () if filters.until is None else (filters.until,),
    }
    given = " ".join(f"--{flag} {value}" for flag, values in flags.items() for value in values)
    return f"no document passes {given}; kb list shows what there is"


def chunk_ids_of(connection: sqlite3.Connection, doc_ids: list[int]) -> list[int]:
    """The chunks of these documents, ascending."""
    found: list[int] = []
    for batch in batches_of(doc_ids):
        rows = connection.execute(f"SELECT chunk_id FROM chunks WHERE doc_id IN {marks(batch)}", batch)
        found += [row[0] for row in rows]
    return sorted(found)


def chunk_ids_by_document(connection: sqlite3.Connection, doc_ids: list[int]) -> dict[int, list[int]]:
    """doc_id → its chunks, ascending; documents without any are left out."""
    found: dict[int, list[int]] = {}
    for batch in batches_of(doc_ids):
        rows = connection.execute(
            f"SELECT doc_id, chunk_id FROM chunks WHERE doc_id IN {marks(batch)} ORDER BY chunk_id", batch
        )
        for doc_id, chunk_id in rows:
            found.setdefault(doc_id, []).append(chunk_id)
    return found


def glob_pattern(glob: str) -> re.Pattern[str]:
    """A path glob as a regular expression: `*` and `?` stay inside one folder, `**` crosses folders.

    A glob without a slash matches the file's name in any folder; one that ends in a slash matches all below it.

    >>> bool(glob_pattern("docs/**/*.md").fullmatch("docs/a.md"))
    True
    """
    text = glob.removeprefix("./")
    if text.endswith("/"):
        text += "**"
    if "/" not in text:
        text = "**/" + text
    out = ""
    i = 0
    while i < len(text):
        if text.startswith("**/", i):
            out, i = out + r"(?:.*/)?", i + 3
        elif text.startswith("**", i):
            out, i = out + r".*", i + 2
        elif text[i] == "[" and (end := text.find("]", i + 3 if text[i + 1 : i + 2] in ("!", "^") else i + 2)) > 0:
            inner = text[i + 1 : end]
            negated = inner[0] in "!^"
            out += f"[{'^' if negated else ''}{re.escape(inner[negated:]).replace(chr(92) + '-', '-')}]"
            i = end + 1
        else:
            out += {"*": r"[^/]*", "?": r"[^/]"}.get(text[i], re.escape(text[i]))
            i += 1
    try:
        return re.compile(out, re.DOTALL)
    except re.error as error:
        raise InvalidInput(f"--path '{glob}' is not a glob: {error.msg}", fix="write it as 'docs/**/*.md'") from error


def moment_ns(text: str, flag: str, *, whole_day: bool = False) -> int:
    """A date (or date-time) as nanoseconds since 1970, UTC where it names no zone.

    flag       the option it was given with, for the error
    whole_day  a plain date means the end of that day
    raises     InvalidInput
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(
            f"{flag} '{text}' is not a date", fix="write it as 2026-03-31 or 2026-03-31T18:00"
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = moment.timestamp() + (SECONDS_PER_DAY if whole_day and len(text) <= 10 else 0)
    return max(-FARTHEST_NS, min(FARTHEST_NS, int(seconds * 1e9)))
