"""What is derived from documents: graph, tags, notes, neighbours; and what writes documents with all of it.

A search reads none of this: `kb.store.corpus` opens it on first use.
"""

from __future__ import annotations

import sqlite3

from kb.store import export, graph, neighbours, notes, saving, tags
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


class Derived(Rows):
    """The parts, and the writing of documents."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.graph = GraphRows(connection)
        self.tags = TagRows(connection)
        self.notes = NoteRows(connection)
        self.neighbours = NeighbourRows(connection)

    save_document = method(saving.save_document)
    remove_documents = method(saving.remove_documents)
    stored_document = method(export.stored_document)
