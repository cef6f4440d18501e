"""Filters → the documents that pass them, selected in the store before any retrieval."""

from __future__ import annotations

import difflib
import re
import sqlite3
from collections.abc import Mapping, Sequence

from kb.errors import InvalidInput
from kb.records import Filters
from kb.store.chunks import batches_of, marks
from kb.store.dates import moment_ns

# Values that are named where a filter has one that no document has.
MOST_NAMED = 8


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
    if pieces := [_literal_piece(glob) for glob in filters.paths]:
        # SQLite leaves out most paths at a tenth of what a regular expression costs.
        where.append(f"({' OR '.join(['instr(path, ?) > 0'] * len(pieces))})")
        values += pieces
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    rows = connection.execute(f"SELECT doc_id, path FROM documents{clause} ORDER BY doc_id", values)
    globs = [glob_pattern(g) for g in filters.paths]
    return [doc_id for doc_id, path in rows if not globs or any(g.fullmatch(path) for g in globs)]


def filter_values(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """What --source, --type, --lang and --tag can be, by option; the most frequent first."""
    values = {}
    for flag, column in (("source", "source"), ("type", "type"), ("lang", "language")):
        rows = connection.execute(f"SELECT {column} FROM documents GROUP BY 1 ORDER BY count(*) DESC, 1")
        values[flag] = [str(value) for (value,) in rows if value]
    rows = connection.execute(
        "SELECT tag FROM (SELECT tag FROM document_tags UNION ALL SELECT tag FROM applied_tags)"
        " GROUP BY 1 ORDER BY count(*) DESC, 1"
    )
    values["tag"] = [str(value) for (value,) in rows]
    return values


def no_match(filters: Filters, known: Mapping[str, list[str]]) -> str:
    """One line that says no document passes these filters, as the user wrote them, with the values there are.

    known  as `filter_values`

    >>> no_match(Filters(types=("markdwn",)), {"type": ["markdown", "pdf"]})
    "no document passes --type markdwn; did you mean 'markdown'? --type can be: markdown, pdf"
    """
    given = filters.as_options()
    for flag, wanted in filters.by_option().items():
        values = known.get(flag, [])
        for value in wanted:
            if flag in known and value.lower() not in (v.lower() for v in values):
                return f"no document passes {given}; {_suggest(flag, value, values)}"
    return f"no document passes {given}; kb list shows what there is"


def _suggest(flag: str, value: str, values: list[str]) -> str:
    """The value that was probably meant, and those there are."""
    if not values:
        return f"no document has a {flag}"
    lower = {v.lower(): v for v in values}
    near = difflib.get_close_matches(value.lower(), lower, n=1) or [v for v in lower if value.lower().startswith(v)]
    meant = f"did you mean '{lower[near[0]]}'? " if near else ""
    more = f" and {len(values) - MOST_NAMED} more" if len(values) > MOST_NAMED else ""
    return f"{meant}--{flag} can be: {', '.join(values[:MOST_NAMED])}{more}"


def chunk_ids_of(connection: sqlite3.Connection, doc_ids: Sequence[int]) -> list[int]:
    """The chunks of these documents, ascending."""
    found: list[int] = []
    for batch in batches_of(doc_ids):
        rows = connection.execute(f"SELECT chunk_id FROM chunks WHERE doc_id IN {marks(batch)}", batch)
        found += [row[0] for row in rows]
    return sorted(found)


def chunk_ids_by_document(connection: sqlite3.Connection, doc_ids: Sequence[int]) -> dict[int, list[int]]:
    """doc_id → its chunks, ascending; documents without any are left out."""
    found: dict[int, list[int]] = {}
    for batch in batches_of(doc_ids):
        rows = connection.execute(
            f"SELECT doc_id, chunk_id FROM chunks WHERE doc_id IN {marks(batch)} ORDER BY chunk_id", batch
        )
        for doc_id, chunk_id in rows:
            found.setdefault(doc_id, []).append(chunk_id)
    return found


def _literal_piece(glob: str) -> str:
    """The longest text that every path holds which a glob matches; "" where there is none.

    >>> _literal_piece("docs/**/*.md"), _literal_piece("**/*"), _literal_piece("[ab].md")
    ('docs', '', '')
    """
    if "[" in glob:
        return ""
    # `**/` stands for no folder too, so a slash beside it need not be there.
    return max((piece.strip("/") for piece in re.split(r"[*?]+", glob.removeprefix("./"))), key=len)


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
