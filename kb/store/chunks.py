"""Chunks and vectors from the store: by id for hits, all in order for building an index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kb.frozen import dataclass
from kb.records import Chunk, Citation
from kb.store.database import raise_revision, transaction
from kb.store.vectors import ENCODER_ID, WHOLE_VECTOR, file_vectors, unpack_vector, unpacked

# SQLite 3.40 allows 32,766 variables in one statement; smaller batches keep the statement cache useful.
VARIABLES_PER_STATEMENT = 500
FEW_CHUNKS = 10_000

_CHUNK_COLUMNS = (
    "SELECT chunk_id, doc_id, source, path, title, heading_path, text, token_count, position, start_char, end_char,"
    " start_line, end_line, page, section, lower(hex(text_digest)), indexed_at,"
    " (SELECT json_group_array(tag) FROM document_tags WHERE document_tags.doc_id = documents.doc_id)"
    " FROM chunks JOIN documents USING (doc_id)"
)


def batches_of(values: Iterable[int | str]) -> Iterator[list[int | str]]:
    """Values in lists short enough for one SQL statement."""
    batch: list[int | str] = []
    for value in values:
        batch.append(value)
        if len(batch) == VARIABLES_PER_STATEMENT:
            yield batch
            batch = []
    if batch:
        yield batch


def marks(values: Collection[object]) -> str:
    """The `(?, ?, …)` of an SQL statement for these values."""
    return "(" + ", ".join("?" * len(values)) + ")"


def fetch_chunks(connection: sqlite3.Connection, chunk_ids: Iterable[int]) -> dict[int, Chunk]:
    """Chunks by id; an id that is not there any more is left out."""
    found: dict[int, Chunk] = {}
    for batch in batches_of(chunk_ids):
        for row in connection.execute(f"{_CHUNK_COLUMNS} WHERE chunk_id IN {marks(batch)}", batch):
            found[row[0]] = _to_chunk(row)
    return found


def first_chunks(connection: sqlite3.Connection, doc_ids: Iterable[int]) -> dict[int, Chunk]:
    """doc_id → the chunk that a document begins with; one that has none is left out."""
    found: dict[int, Chunk] = {}
    for batch in batches_of(doc_ids):
        for row in connection.execute(f"{_CHUNK_COLUMNS} WHERE position = 0 AND doc_id IN {marks(batch)}", batch):
            found[row[1]] = _to_chunk(row)
    return found


def fetch_texts(connection: sqlite3.Connection, chunk_ids: Iterable[int]) -> dict[int, tuple[int, str]]:
    """chunk_id → (doc_id, text): a third of the time that whole chunks take; an id that is gone is left out."""
    found: dict[int, tuple[int, str]] = {}
    for batch in batches_of(chunk_ids):
        sql = f"SELECT chunk_id, doc_id, text FROM chunks WHERE chunk_id IN {marks(batch)}"
        found |= {chunk_id: (doc_id, str(text)) for chunk_id, doc_id, text in connection.execute(sql, batch)}
    return found


def chunks_of_document(connection: sqlite3.Connection, doc_id: int) -> list[Chunk]:
    """A document's chunks in reading order."""
    rows = connection.execute(f"{_CHUNK_COLUMNS} WHERE chunks.doc_id = ? ORDER BY position", [doc_id])
    return [_to_chunk(row) for row in rows]


def _to_chunk(row: tuple[Any, ...]) -> Chunk:
    (chunk_id, doc_id, source, path, title, headings, text, tokens, position, start, end, *rest) = row
    start_line, end_line, page, section, text_hash, indexed_at, tags = rest
    heading_path = read_headings(headings)
    return Chunk(
        chunk_id=chunk_id,
        doc_id=doc_id,
        source=str(source),
        path=str(path),
        title=str(title),
        heading_path=heading_path,
        text=str(text),
        citation=make_citation(str(path), start_line, end_line, page, section or last_headings(heading_path)),
        token_count=tokens,
        position=position,
        start=start,
        end=end,
        text_hash=str(text_hash),
        tags=tuple(sorted(json.loads(str(tags)))),
        indexed_at=str(indexed_at),
    )


def read_headings(stored: object) -> tuple[str, ...]:
    """Headings as they are stored; none where they are damaged, which kb doctor finds: a search must go on."""
    try:
        return tuple(str(heading) for heading in json.loads(str(stored)))
    except (ValueError, TypeError, RecursionError):
        return ()


def last_headings(heading_path: tuple[str, ...]) -> str | None:
    """Where in a document a chunk is, for formats without lines or pages."""
    return " > ".join(heading_path[-2:]) or None


def make_citation(
    path: str, start_line: int | None, end_line: int | None, page: int | None, section: str | None
) -> Citation:
    """A place as path, uri and parts; a section is not part of the uri.

    `%` and `#` in the path are percent-encoded so that the uri can be split again.

    >>> make_citation("a#b.md", 12, 34, None, None).uri
    'a%23b.md#L12-L34'
    """
    fragment = ""
    if start_line is not None:
        fragment = f"#L{start_line}" if end_line in (None, start_line) else f"#L{start_line}-L{end_line}"
    elif page is not None:
        fragment = f"#page={page}"
    uri = path.replace("%", "%25").replace("#", "%23") + fragment
    return Citation(path=path, uri=uri, start_line=start_line, end_line=end_line, page=page, section=section)


def lexical_rows(connection: sqlite3.Connection) -> Iterator[tuple[int, int, str, str, str]]:
    """Every chunk in id order as (chunk_id, doc_id, title, headings, text), for building the lexical index."""
    rows = connection.execute(
        "SELECT chunk_id, doc_id, title, heading_path, text FROM chunks JOIN documents USING (doc_id) ORDER BY chunk_id"
    )
    for chunk_id, doc_id, title, headings, text in rows:
        yield chunk_id, doc_id, title, " \n ".join(read_headings(headings)), text


def places_of(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> list[tuple[str, str]]:
    """(source, path) of each chunk in their order; those that are gone are left out."""
    found: dict[int, tuple[str, str]] = {}
    for batch in batches_of(chunk_ids):
        rows = connection.execute(
            f"SELECT chunk_id, source, path FROM chunks JOIN documents USING (doc_id) WHERE chunk_id IN {marks(batch)}",
            batch,
        )
        found.update((chunk_id, (source, path)) for chunk_id, source, path in rows)
    return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]


def texts_around(connection: sqlite3.Connection, doc_id: int, position: int, reach: int) -> list[str]:
    """The texts of a document's chunks from `reach` before a position to `reach` after it, in reading order."""
    rows = connection.execute(
        "SELECT text FROM chunks WHERE doc_id = ? AND position BETWEEN ? AND ? ORDER BY position",
        [doc_id, position - reach, position + reach],
    )
    return [text for (text,) in rows]


def chunk_places(connection: sqlite3.Connection) -> dict[int, str]:
    """chunk_id → its document's path, for every chunk."""
    return dict(connection.execute("SELECT chunk_id, path FROM chunks JOIN documents USING (doc_id)").fetchall())


def chunk_starts(connection: sqlite3.Connection) -> dict[str, list[tuple[int, str]]]:
    """path → (first character, text) of its chunks in reading order, for every document."""
    found: dict[str, list[tuple[int, str]]] = {}
    for path, start, text in connection.execute(
        "SELECT path, start_char, text FROM documents JOIN chunks USING (doc_id) ORDER BY doc_id, position"
    ):
        found.setdefault(path, []).append((start, text))
    return found


def chunks_at_lines(connection: sqlite3.Connection, path: str, first: int, last: int) -> list[tuple[str, bool, str]]:
    """(root of its source, lies wholly inside, text) of every chunk at `path` that touches the lines `first` to `last`."""
    rows = connection.execute(
        "SELECT root, start_line >= ? AND end_line <= ?, text FROM chunks JOIN documents USING (doc_id)"
        " JOIN sources USING (source) WHERE path = ? AND start_line <= ? AND end_line >= ? ORDER BY doc_id, position",
        [first, last, path, last, first],
    )
    return [(root, bool(is_inside), text) for root, is_inside, text in rows]


def count_chunks(connection: sqlite3.Connection) -> int:
    """How many chunks there are."""
    return int(connection.execute("SELECT count(*) FROM chunks").fetchone()[0])


def vector_rows(connection: sqlite3.Connection, encoder_digest: str) -> Iterator[tuple[int, bytes]]:
    """Every chunk that has a vector of this encoder, in id order, as (chunk_id, float32 bytes)."""
    return unpacked(
        connection.execute(
            f"SELECT chunk_id, vector FROM chunks JOIN embeddings USING (embed_hash) WHERE encoder_id = {ENCODER_ID}"
            f" {WHOLE_VECTOR} ORDER BY chunk_id",
            [encoder_digest],
        )
    )


def vectors_of(
    connection: sqlite3.Connection, encoder_digest: str, chunk_ids: Iterable[int]
) -> Iterator[tuple[int, bytes]]:
    """The vectors of these chunks, as (chunk_id, float32 bytes), in no particular order."""
    for batch in batches_of(chunk_ids):
        yield from unpacked(
            connection.execute(
                "SELECT chunk_id, vector FROM chunks JOIN embeddings USING (embed_hash)"
                f" WHERE encoder_id = {ENCODER_ID} AND chunk_id IN {marks(batch)} {WHOLE_VECTOR}",
                [encoder_digest, *batch],
            )
        )


def stored_hashes(connection: sqlite3.Connection, encoder_digest: str, hashes: Iterable[str]) -> set[str]:
    """Those of the embed hashes whose vector by this encoder is in the store already."""
    found: set[str] = set()
    for batch in batches_of(hashes):
        rows = connection.execute(
            f"SELECT embed_hash FROM embeddings WHERE encoder_id = {ENCODER_ID} AND embed_hash IN {marks(batch)}",
            [encoder_digest, *batch],
        )
        found.update(row[0] for row in rows)
    return found


@dataclass(frozen=True, slots=True)
class UnembeddedChunk:
    """A stored chunk that has no vector of the present encoder."""

    chunk_id: int
    title: str
    heading_path: tuple[str, ...]
    text: str


def unembedded_chunks(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> list[UnembeddedChunk]:
    """What is embedded of these chunks, in id order; ids that are gone are left out."""
    rows = connection.execute(
        "SELECT chunk_id, title, heading_path, text FROM chunks JOIN documents USING (doc_id)"
        f" WHERE chunk_id IN {marks(chunk_ids)} ORDER BY chunk_id",
        list(chunk_ids),
    )
    return [UnembeddedChunk(chunk_id, title, read_headings(path), text) for chunk_id, title, path, text in rows]


def save_vectors(
    connection: sqlite3.Connection, encoder_digest: str, hashes: Mapping[int, str], vectors: Mapping[str, bytes]
) -> None:
    """File vectors under their hashes and point chunks at them: chunk_id → embed hash, embed hash → float32 bytes."""
    with transaction(connection):
        connection.executemany(
            "UPDATE chunks SET embed_hash = ?1 WHERE chunk_id = ?2 AND embed_hash IS NOT ?1",
            [(h, chunk_id) for chunk_id, h in hashes.items()],
        )
        file_vectors(connection, encoder_digest, vectors)
        raise_revision(connection)


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A stored chunk with its vector, float32 bytes."""

    title: str
    heading_path: tuple[str, ...]
    text: str
    embed_hash: str
    vector: bytes


def sample_vectors(connection: sqlite3.Connection, encoder_digest: str, most: int) -> list[EmbeddedChunk]:
    """Some chunks with their vectors, spread over the corpus, the same ones every time."""
    chosen = _spread_ids(connection, most)
    rows = connection.execute(
        "SELECT title, heading_path, text, embed_hash, vector FROM chunks JOIN documents USING (doc_id)"
        f" JOIN embeddings USING (embed_hash) WHERE encoder_id = {ENCODER_ID} AND chunk_id IN {marks(chosen)}"
        f" {WHOLE_VECTOR}",
        [encoder_digest, *chosen],
    )
    return [EmbeddedChunk(t, read_headings(h), text, e, unpack_vector(v)) for t, h, text, e, v in rows]


def _spread_ids(connection: sqlite3.Connection, most: int) -> list[int]:
    """Ids of some chunks from the first to the last; of so many that reading all ids takes long, those next to even steps."""
    if count_chunks(connection) <= FEW_CHUNKS:
        ids = [row[0] for row in connection.execute("SELECT chunk_id FROM chunks ORDER BY chunk_id")]
        return ids[:: max(1, len(ids) // max(1, most))][:most]
    first, last = connection.execute("SELECT min(chunk_id), max(chunk_id) FROM chunks").fetchone()
    steps = range(first, last + 1, max(1, (last - first + 1) // max(1, most)))
    next_id = "SELECT min(chunk_id) FROM chunks WHERE chunk_id >= ?"
    return sorted({connection.execute(next_id, [step]).fetchone()[0] for step in steps[:most]})


def document_text(chunks: Sequence[Chunk]) -> tuple[int | None, str]:
    """A document's text put together from its chunks, and the line it begins at: 1, or None without lines."""
    if not chunks or chunks[0].citation.start_line is None:
        return None, "\n\n".join(chunk.text for chunk in chunks)
    lines: list[str] = []
    end = 0
    for chunk in chunks:
        first = (chunk.citation.start_line or 1) - 1
        rows = chunk.text.split("\n")
        if len(lines) == first + 1:  # the chunk goes on in the line where the last one stopped
            lines[-1] += " " * (chunk.start - end) + rows[0]
            rows = rows[1:]
        lines += [""] * (first - len(lines)) + rows
        end = chunk.end
    return 1, "\n".join(lines)
