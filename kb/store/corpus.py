"""The door to ingested documents: their chunks, vectors, and the rows derived from them.

`kb/store/protocol.py` names the part that another engine has to offer. Each method is a function of the module named
beside it, with the connection left out; its docstring stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kb.store import changes, chunks, database, documents, encoder_change, filters, left_to_do
from kb.store.door import Rows, method

if TYPE_CHECKING:
    from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft
    from kb.store.derived import Derived, GraphRows, NeighbourRows, NoteRows, TagRows
    from kb.store.export import StoredDocument
    from kb.store.saving import Saved


class Corpus(Rows):
    """Documents and chunks of one knowledge base; its parts hold what is derived from them."""

    @cached_property
    def _derived(self) -> Derived:
        from kb.store.derived import Derived  # 10 ms that a search does not need

        return Derived(self._connection)

    @property
    def graph(self) -> GraphRows:
        """Names and relations."""
        return self._derived.graph

    @property
    def tags(self) -> TagRows:
        """The vocabulary, and the tags of documents."""
        return self._derived.tags

    @property
    def notes(self) -> NoteRows:
        """What documents are about, and their open list items."""
        return self._derived.notes

    @property
    def neighbours(self) -> NeighbourRows:
        """Adjacent chunks and projects, with their cosines."""
        return self._derived.neighbours

    def lacks(self) -> frozenset[str]:
        """Nothing: all parts are here."""
        return frozenset()

    # which corpus this is, and whose vectors it holds
    state = method(database.corpus_state)
    stored_encoder = method(database.stored_encoder)
    stored_prefixes = method(database.stored_prefixes)
    stamp_encoder = method(database.stamp_encoder)
    fence_secret = method(database.fence_secret)

    # documents
    has_documents = method(documents.has_documents)
    count_documents = method(documents.count_documents)
    count_documents_by = method(documents.count_documents_by)
    list_documents = method(documents.list_documents)
    find_document = method(documents.find_document)
    newest_documents = method(documents.newest_documents)
    document_titles = method(documents.document_titles)
    source_roots = method(documents.source_roots)

    # what ingest compares with, and writes
    document_stamps = method(documents.document_stamps)
    stopped_files = method(documents.stopped_files)
    note_stopped = method(documents.note_stopped)
    forget_stopped = method(documents.forget_stopped)
    save_source = method(documents.save_source)

    def save_document(
        self,
        draft: DocumentDraft,
        chunks: Sequence[tuple[ChunkDraft, str]],
        encoder_digest: str | None,
        vectors: Mapping[str, bytes],
        replacing: int | None = None,
        graph: GraphDraft | None = None,
        notes: DocumentNotes | None = None,
    ) -> Saved:
        """See `kb.store.saving.save_document`."""
        return self._derived.save_document(draft, chunks, encoder_digest, vectors, replacing, graph, notes)

    def remove_documents(self, doc_ids: Iterable[int]) -> int:
        """See `kb.store.saving.remove_documents`."""
        return self._derived.remove_documents(doc_ids)

    def stored_document(self, doc_id: int) -> StoredDocument | None:
        """See `kb.store.export.stored_document`."""
        return self._derived.stored_document(doc_id)

    touch_document = method(documents.touch_document)

    # chunks
    fetch_chunks = method(chunks.fetch_chunks)
    fetch_texts = method(chunks.fetch_texts)
    first_chunks = method(chunks.first_chunks)
    chunks_of_document = method(chunks.chunks_of_document)
    chunk_places = method(chunks.chunk_places)
    places_of = method(chunks.places_of)
    texts_around = method(chunks.texts_around)
    chunks_at_lines = method(chunks.chunks_at_lines)
    chunk_starts = method(chunks.chunk_starts)
    count_chunks = method(chunks.count_chunks)

    # filters
    allowed_documents = method(filters.allowed_documents)
    filter_values = method(filters.filter_values)
    chunk_ids_of = method(filters.chunk_ids_of)
    chunk_ids_by_document = method(filters.chunk_ids_by_document)

    # rows for the indexes, and vectors
    lexical_rows = method(chunks.lexical_rows)
    vector_rows = method(chunks.vector_rows)
    vectors_of = method(chunks.vectors_of)
    lexical_rows_of = method(changes.lexical_rows_of)
    changed_since = method(changes.changed_since)
    count_changed_documents = method(changes.count_changed_documents)
    existing_chunks = method(changes.existing_chunks)
    forget_changes = method(changes.forget_changes)
    stored_hashes = method(chunks.stored_hashes)
    count_missing_vectors = method(left_to_do.count_missing_vectors)
    chunks_without_vector = method(left_to_do.chunks_without_vector)
    unembedded_chunks = method(chunks.unembedded_chunks)
    save_vectors = method(chunks.save_vectors)
    sample_vectors = method(chunks.sample_vectors)

    # the encoder that is being changed to
    next_encoder = method(encoder_change.next_encoder)
    begin_change = method(encoder_change.begin_change)
    chunks_without_next = method(encoder_change.chunks_without_next)
    save_next_vectors = method(encoder_change.save_next_vectors)
    switch_encoder = method(encoder_change.switch_encoder)
    give_up_change = method(encoder_change.give_up_change)
    remove_unused_embeddings = method(left_to_do.remove_unused_embeddings)
