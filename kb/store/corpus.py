"""The door to ingested documents: their chunks, vectors, and the rows derived from them.

`kb/store/protocol.py` names the part that another engine has to offer. Each method is a function of the module named
beside it, with the connection left out; its docstring stands there.
"""

from __future__ import annotations

import sqlite3

from kb.store import chunks, database, documents, filters, fingerprints, graph, neighbours, notes, tags
from kb.store.door import Rows, method


class GraphRows(Rows):
    """Names and relations read out of the documents (kb/store/graph.py)."""

    existing_keys = method(graph.existing_keys)
    names_by_key = method(graph.names_by_key)
    forms_by_key = method(graph.forms_by_key)
    names_by_document = method(graph.names_by_document)
    edges_by_key = method(graph.edges_by_key)
    edges_by_document = method(graph.edges_by_document)
    count_graph = method(graph.count_graph)


class TagRows(Rows):
    """The vocabulary, and the tags of documents (kb/store/tags.py)."""

    imported_vocabulary = method(tags.imported_vocabulary)
    save_vocabulary = method(tags.save_vocabulary)
    forget_vocabulary = method(tags.forget_vocabulary)
    read_vocabulary = method(tags.read_vocabulary)
    document_tag_lists = method(tags.document_tag_lists)
    applied_tags = method(tags.applied_tags)
    replace_applied_tags = method(tags.replace_applied_tags)
    documents_by_tag = method(tags.documents_by_tag)


class NoteRows(Rows):
    """What documents are about, and their open list items (kb/store/notes.py)."""

    heal_notes = method(notes.heal_notes)
    count_gists = method(notes.count_gists)
    fetch_gists = method(notes.fetch_gists)
    list_open_items = method(notes.list_open_items)


class NeighbourRows(Rows):
    """Adjacent chunks and projects, with their cosines: what context stability reads (kb/store/neighbours.py)."""

    heal_neighbours = method(neighbours.heal_neighbours)
    neighbours_of = method(neighbours.neighbours_of)
    passage_texts = method(neighbours.passage_texts)
    chunks_around = method(neighbours.chunks_around)
    known_tags = method(neighbours.known_tags)
    has_several_projects = method(neighbours.has_several_projects)
    read_projects = method(neighbours.read_projects)


class Corpus(Rows):
    """Documents and chunks of one knowledge base; its parts hold what is derived from them."""

    __slots__ = ("graph", "neighbours", "notes", "tags")

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.graph = GraphRows(connection)
        self.tags = TagRows(connection)
        self.notes = NoteRows(connection)
        self.neighbours = NeighbourRows(connection)

    # which corpus this is, and whose vectors it holds
    state = method(database.corpus_state)
    stored_encoder = method(database.stored_encoder)
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
    save_source = method(documents.save_source)
    save_document = method(documents.save_document)
    touch_document = method(documents.touch_document)
    remove_documents = method(documents.remove_documents)

    # chunks
    fetch_chunks = method(chunks.fetch_chunks)
    chunks_of_document = method(chunks.chunks_of_document)
    chunk_places = method(chunks.chunk_places)
    places_of = method(chunks.places_of)
    texts_around = method(chunks.texts_around)
    chunks_at_lines = method(chunks.chunks_at_lines)
    chunk_starts = method(chunks.chunk_starts)
    count_chunks = method(chunks.count_chunks)
    fetch_fingerprints = method(fingerprints.fetch_fingerprints)

    # filters
    allowed_documents = method(filters.allowed_documents)
    chunk_ids_of = method(filters.chunk_ids_of)
    chunk_ids_by_document = method(filters.chunk_ids_by_document)

    # rows for the indexes, and vectors
    lexical_rows = method(chunks.lexical_rows)
    vector_rows = method(chunks.vector_rows)
    vectors_of = method(chunks.vectors_of)
    stored_hashes = method(chunks.stored_hashes)
    count_missing_vectors = method(chunks.count_missing_vectors)
    chunks_without_vector = method(chunks.chunks_without_vector)
    save_vectors = method(chunks.save_vectors)
    sample_vectors = method(chunks.sample_vectors)
    remove_unused_embeddings = method(documents.remove_unused_embeddings)
