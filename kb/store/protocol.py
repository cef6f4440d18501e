"""What another corpus engine has to offer: everything that the jobs ask of the corpus.

`kb.store.corpus.Corpus` over SQLite is the first engine; the runtime's corpus has this type, so mypy finds a job that asks
for more. Rows derived from documents (graph, tags, notes, adjacent cosines) are separate parts; an engine may lack some,
and the command that needs one says so. The journal (`kb.store.journal.Journal`) is separate: it stays in the user's data
folder, wherever the corpus is.

Ids are integers that live as long as the row. Reads take batches and leave out what is gone. Writes are whole
documents: readers see the old one or the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft
from kb.records import Chunk, Document, Filters
from kb.store.changes import LogKind
from kb.store.chunks import EmbeddedChunk, UnembeddedChunk
from kb.store.database import CorpusState
from kb.store.documents import Stamp
from kb.store.encoder_change import NextEncoder
from kb.store.export import StoredDocument
from kb.store.parts import GraphDoor, NeighbourDoor, NoteDoor, TagDoor
from kb.store.saving import Saved


class CorpusDoor(Protocol):
    """Documents and chunks of one knowledge base."""

    # ---- which corpus this is

    def state(self) -> CorpusState:
        """Its revision, which rises with every change, and a token that differs between diverged copies."""

    def stored_encoder(self) -> tuple[str, str, int]:
        """(model_id, digest, dimensions) of the encoder that made the vectors; ("", "", 0) when there are none."""

    def stored_prefixes(self) -> tuple[str, str] | None:
        """What stands before queries and documents for that encoder; None where unknown."""

    def stamp_encoder(self, encoder: tuple[str, str, int], prefixes: tuple[str, str] | None = None, /) -> None:
        """Say whose vectors it holds, before the first of them is written."""

    def lacks(self) -> frozenset[str]:
        """Parts that this engine does not keep, as "graph": a command that needs one says so, the others find nothing in it."""

    def fence_secret(self) -> bytes:
        """The secret that fences evidence off in prompts: the same for as long as the corpus lives."""

    # ---- filters: applied before retrieval, never to a short list afterwards

    def filter_values(self) -> dict[str, list[str]]:
        """What --source, --type, --lang and --tag can be, by option; the most frequent first."""

    def allowed_documents(self, filters: Filters, /) -> Sequence[int] | None:
        """doc_ids that pass, ascending; None when there is no filter at all. raises InvalidInput"""

    def chunk_ids_of(self, doc_ids: Sequence[int], /) -> list[int]:
        """The chunks of these documents, ascending."""

    def chunk_ids_by_document(self, doc_ids: Sequence[int], /) -> dict[int, list[int]]:
        """doc_id → its chunks, ascending."""

    # ---- fetch

    def has_documents(self) -> bool:
        """True when there is anything to find."""

    def count_documents(self) -> int:
        """How many documents there are."""

    def count_documents_by(self, column: Literal["source", "type"], /) -> dict[str, int]:
        """How many documents there are of each source, or of each type."""

    def newest_documents(self, since: str, most: int, /) -> list[tuple[str, str]]:
        """(path, indexed_at) of the documents that were written since a moment, newest first."""

    def document_titles(self, most: int, /) -> list[str]:
        """The first titles in their order, each once."""

    def source_roots(self) -> dict[str, str | None]:
        """Every source and its folder; None for text from standard input."""

    def list_documents(self, doc_ids: Sequence[int] | None = None, /) -> list[Document]:
        """These documents, or all, by source and path."""

    def find_document(self, name: str, /) -> Document:
        """The document a user means. raises NotFound"""

    def fetch_chunks(self, chunk_ids: Iterable[int], /) -> dict[int, Chunk]:
        """Chunks by id; an id that is gone is left out."""

    def first_chunks(self, doc_ids: Iterable[int], /) -> dict[int, Chunk]:
        """doc_id → the chunk that a document begins with; one that has none is left out."""

    def fetch_texts(self, chunk_ids: Iterable[int], /) -> dict[int, tuple[int, str]]:
        """chunk_id → (doc_id, text); an id that is gone is left out."""

    def count_chunks(self) -> int:
        """How many chunks there are."""

    def places_of(self, chunk_ids: Sequence[int], /) -> list[tuple[str, str]]:
        """(source, path) of each chunk in their order; those that are gone are left out."""

    def chunk_places(self) -> dict[int, str]:
        """chunk_id → its document's path, for every chunk."""

    def chunks_at_lines(self, path: str, first: int, last: int, /) -> list[tuple[str, bool, str]]:
        """(root of its source, lies wholly inside, text) of every chunk at a path that touches these lines."""

    def vectors_of(self, encoder_digest: str, chunk_ids: Iterable[int], /) -> Iterator[tuple[int, bytes]]:
        """(chunk_id, float32 bytes) of these chunks, in no particular order."""

    # ---- neighbours

    def chunks_of_document(self, doc_id: int, /) -> list[Chunk]:
        """A document's chunks in reading order."""

    def texts_around(self, doc_id: int, position: int, reach: int, /) -> list[str]:
        """Texts of the chunks up to `reach` before and after a position of a document."""

    def chunk_starts(self) -> dict[str, list[tuple[int, str]]]:
        """path → (first character, text) of its chunks in reading order, for every document."""

    # ---- scan: for building an index, and for comparing files with what is stored

    def lexical_rows(self) -> Iterator[tuple[int, int, str, str, str]]:
        """(chunk_id, doc_id, title, headings, text) of every chunk, in id order."""

    def vector_rows(self, encoder_digest: str, /) -> Iterator[tuple[int, bytes]]:
        """(chunk_id, float32 bytes) of every chunk with a vector of this encoder, in id order."""

    def lexical_rows_of(self, chunk_ids: Iterable[int], /) -> Iterator[tuple[int, int, str, str, str]]:
        """`lexical_rows` of these chunks; those that are gone are left out."""

    def changed_since(self, kind: LogKind, revision: int, state: str, /) -> list[int] | None:
        """Chunks whose row in an index of this kind changed after a revision; None where that is not known any more."""

    def count_changed_documents(self, kind: LogKind, revision: int, state: str, /) -> int | None:
        """The number of documents with such a chunk."""

    def existing_chunks(self, chunk_ids: Iterable[int], /) -> set[int]:
        """Those of the chunks that are there."""

    def forget_changes(self, lexical: int, vector: int, /) -> None:
        """Forget the changes that both indexes have taken up, each at the revision that is given for it."""

    def document_stamps(self, source: str | None = None, /) -> list[Stamp]:
        """Size, time, hash and settings of each document of a source: what tells whether a file has changed."""

    def stored_hashes(self, encoder_digest: str, hashes: Iterable[str], /) -> set[str]:
        """Those of the embed hashes whose vector is here already."""

    def count_missing_vectors(self, encoder_digest: str, /) -> int:
        """How many chunks have no vector of this encoder."""

    def chunks_without_vector(self, encoder_digest: str, /) -> list[int]:
        """The chunks that have no vector of this encoder, those of the files changed last first."""

    def unembedded_chunks(self, chunk_ids: Sequence[int], /) -> list[UnembeddedChunk]:
        """What is embedded of these chunks, in id order."""

    def sample_vectors(self, encoder_digest: str, most: int, /) -> list[EmbeddedChunk]:
        """Some chunks with their vectors, spread over the corpus, the same ones every time."""

    def stored_document(self, doc_id: int, /) -> StoredDocument | None:
        """All that was saved of a document, for saving it in another corpus; None where it is gone."""

    # ---- write: one document, all of it or nothing

    def save_document(
        self,
        draft: DocumentDraft,
        chunks: Sequence[tuple[ChunkDraft, str]],
        encoder_digest: str | None,
        vectors: Mapping[str, bytes],
        replacing: int | None = None,
        graph: GraphDraft | None = None,
        notes: DocumentNotes | None = None,
        /,
    ) -> Saved:
        """Write a document with its chunks and vectors, in place of the document `replacing`."""

    def save_vectors(self, encoder_digest: str, hashes: Mapping[int, str], vectors: Mapping[str, bytes], /) -> None:
        """File vectors under their hashes and point chunks at them."""

    # ---- write: vectors of another encoder, beside those that are searched

    def next_encoder(self) -> NextEncoder | None:
        """The change of encoder that has begun and is not done; None when there is none."""

    def begin_change(self, encoder: tuple[str, str, int], prefixes: tuple[str, str], /) -> int:
        """Say which encoder's vectors follow; returns how many chunks have theirs already."""

    def chunks_without_next(self, after: int, limit: int, /) -> list[UnembeddedChunk]:
        """Some of the chunks after an id that have no next vector, in id order."""

    def save_next_vectors(
        self, encoder_digest: str, hashes: Mapping[int, str], vectors: Mapping[str, bytes], /
    ) -> None:
        """Keep next vectors; searches do not see them."""

    def switch_encoder(self) -> bool:
        """Search the next vectors from now on, in one transaction; False where they are not complete."""

    def give_up_change(self) -> None:
        """Forget a change that has begun."""

    # ---- write: sources, and what is not needed any more

    def save_source(self, source: str, root: str | None, /) -> None:
        """Remember where a source's paths start."""

    def touch_document(self, doc_id: int, now: Stamp, /) -> None:
        """Note a new size, time, hash or signature of a document whose chunks stay as they are."""

    def stopped_files(self) -> dict[tuple[str, str], tuple[str, str]]:
        """(source, path) → (state, reason) of each file whose reading was stopped."""

    def note_stopped(self, source: str, path: str, state: str, reason: str, /) -> None:
        """Remember that reading a file was stopped, and in which state the file was."""

    def forget_stopped(self, source: str, path: str, /) -> None:
        """Forget that reading a file was stopped, because it has been read now."""

    def remove_unused_embeddings(self) -> int:
        """Drop vectors that no chunk has any more; returns how many there were."""

    def remove_documents(self, doc_ids: Iterable[int], /) -> int:
        """Remove documents with all that was derived from them; returns how many there were."""

    # ---- parts: rows derived from documents

    @property
    def graph(self) -> GraphDoor:
        """Names and relations."""

    @property
    def tags(self) -> TagDoor:
        """The vocabulary, and the tags of documents."""

    @property
    def notes(self) -> NoteDoor:
        """What documents are about, and their open list items."""

    @property
    def neighbours(self) -> NeighbourDoor:
        """Adjacent chunks and projects, with their cosines."""
