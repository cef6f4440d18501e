"""A stored document → all that was saved of it, so that it can be saved in another corpus; its relations aside."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from hashlib import sha256

from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, OpenItem
from kb.frozen import dataclass
from kb.store.chunks import read_headings
from kb.store.database import stored_encoder
from kb.store.vectors import ENCODER_ID, SCALE_BYTES, WHOLE_VECTOR, pack_vector, unpack_vector


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What `CorpusDoor.save_document` is given, and the tags that were applied since.

    chunks   each with the hash its vector is filed under
    vectors  hash → float32 bytes, of those chunks that have one
    applied  (tag, score), best first
    """

    draft: DocumentDraft
    chunks: tuple[tuple[ChunkDraft, str], ...]
    vectors: Mapping[str, bytes]
    notes: DocumentNotes | None
    applied: tuple[tuple[str, float], ...]

    def digest(self) -> str:
        """sha256 over everything in it, hex: equal in two corpora where they hold the same, vectors in 16 bits."""
        found = sha256(repr((self.draft, self.chunks, self.notes, self.applied)).encode())
        for embed_hash in sorted(self.vectors):
            found.update(embed_hash.encode() + pack_vector(self.vectors[embed_hash])[SCALE_BYTES:])
        return found.hexdigest()


def stored_document(connection: sqlite3.Connection, doc_id: int) -> StoredDocument | None:
    """A document with its chunks and vectors; None where it is gone."""
    row = connection.execute(
        "SELECT source, path, title, type, language, size_bytes, mtime_ns, content_hash, signature, note, file_identity"
        " FROM documents WHERE doc_id = ?",
        [doc_id],
    ).fetchone()
    if row is None:
        return None
    tags = connection.execute("SELECT tag FROM document_tags WHERE doc_id = ? ORDER BY tag", [doc_id])
    *names, size, mtime_ns, content_hash, signature, note, identity = row
    source, path, title, kind, language = names
    own = tuple(tag for (tag,) in tags)
    draft = DocumentDraft(
        source, path, title, kind, language, own, size, mtime_ns, content_hash, signature, note or None, identity or ""
    )
    applied = connection.execute(
        "SELECT tag, score FROM applied_tags WHERE doc_id = ? ORDER BY score DESC, tag", [doc_id]
    ).fetchall()
    chunks = connection.execute(
        "SELECT position, start_char, end_char, text, heading_path, token_count, start_line, end_line, page, section,"
        " embed_hash FROM chunks WHERE doc_id = ? ORDER BY position",
        [doc_id],
    )
    vectors = connection.execute(
        "SELECT embed_hash, vector FROM embeddings WHERE encoder_id = "
        f"{ENCODER_ID} AND embed_hash IN (SELECT embed_hash FROM chunks WHERE doc_id = ?) {WHOLE_VECTOR}",
        [stored_encoder(connection)[1], doc_id],
    )
    return StoredDocument(
        draft,
        tuple(
            (ChunkDraft(position, start, end, text, read_headings(headings), *rest), embed_hash)
            for position, start, end, text, headings, *rest, embed_hash in chunks
        ),
        {embed_hash: unpack_vector(vector) for embed_hash, vector in vectors},
        _notes(connection, doc_id),
        tuple(applied),
    )


def _notes(connection: sqlite3.Connection, doc_id: int) -> DocumentNotes | None:
    row = connection.execute("SELECT version, text FROM gists WHERE doc_id = ?", [doc_id]).fetchone()
    if row is None:
        return None
    items = connection.execute("SELECT line, text FROM open_items WHERE doc_id = ? ORDER BY position", [doc_id])
    version, gist = row
    return DocumentNotes(version, gist, tuple(OpenItem(line, text) for line, text in items))
