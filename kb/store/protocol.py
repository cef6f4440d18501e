"""The methods that another corpus engine has to offer first: the core of what search, ask, context and ingest call.

Not all of it: they also call, among others, `source_roots`, `save_source`, `touch_document`, `newest_documents`,
`document_titles`, `places_of`, `fence_secret` and a few counts of `Corpus`. Nothing is typed by this protocol yet;
tests/unit/test_doors.py holds `Corpus` to it.

`kb.store.corpus.Corpus` over SQLite is the first engine. Rows derived from documents (graph, tags, notes, adjacent
cosines) are separate parts of it; an engine may lack some, and the command that needs one says so. The journal
(`kb.store.journal.Journal`) is separate: it stays in the user's data folder, wherever the corpus is.

Ids are integers that live as long as the row. Reads take batches and leave out what is gone. Writes are whole
documents: readers see the old one or the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft
from kb.fingerprint import Fingerprint, Shape
from kb.records import Chunk, Document, Filters
from kb.store.database import CorpusState
from kb.store.documents import Stamp
from kb.store.saving import Saved


class CorpusDoor(Protocol):
    """Documents and chunks of one knowledge base."""

    # ---- which corpus this is

    def state(self) -> CorpusState:
        """Its revision, which rises with every change, and a token that differs between diverged copies."""

    def stored_encoder(self) -> tuple[str, str, int]:
        """(model_id, digest, dimensions) of the encoder that made the vectors; ("", "", 0) when there are none."""

    def stamp_encoder(self, encoder: tuple[str, str, int], /) -> None:
        """Say whose vectors it holds, before the first of them is written."""

    # ---- filters: applied before retrieval, never to a short list afterwards

    def allowed_documents(self, filters: Filters, /) -> list[int] | None:
        """doc_ids that pass, ascending; None when there is no filter at all. raises InvalidInput"""

    def chunk_ids_of(self, doc_ids: list[int], /) -> list[int]:
        """The chunks of these documents, ascending."""

    # ---- fetch

    def has_documents(self) -> bool:
        """True when there is anything to find."""

    def list_documents(self, doc_ids: Sequence[int] | None = None, /) -> list[Document]:
        """These documents, or all, by source and path."""

    def find_document(self, name: str, /) -> Document:
        """The document a user means. raises NotFound"""

    def fetch_chunks(self, chunk_ids: Iterable[int], /) -> dict[int, Chunk]:
        """Chunks by id; an id that is gone is left out."""

    def fetch_fingerprints(self, chunk_ids: Iterable[int], shape: Shape | None = None, /) -> dict[int, Fingerprint]:
        """Stored fingerprints by chunk id; the caller computes a missing one from the text."""

    def vectors_of(self, encoder_digest: str, chunk_ids: Iterable[int], /) -> Iterator[tuple[int, bytes]]:
        """(chunk_id, float32 bytes) of these chunks, in no particular order."""

    # ---- neighbours

    def chunks_of_document(self, doc_id: int, /) -> list[Chunk]:
        """A document's chunks in reading order."""

    def texts_around(self, doc_id: int, position: int, reach: int, /) -> list[str]:
        """Texts of the chunks up to `reach` before and after a position of a document."""

    # ---- scan: for building an index, and for comparing files with what is stored

    def lexical_rows(self) -> Iterator[tuple[int, int, str, str, str]]:
        """(chunk_id, doc_id, title, headings, text) of every chunk, in id order."""

    def vector_rows(self, encoder_digest: str, /) -> Iterator[tuple[int, bytes]]:
        """(chunk_id, float32 bytes) of every chunk with a vector of this encoder, in id order."""

    def document_stamps(self, source: str | None = None, /) -> list[Stamp]:
        """Size, time, hash and settings of each document of a source: what tells whether a file has changed."""

    def stored_hashes(self, encoder_digest: str, hashes: Iterable[str], /) -> set[str]:
        """Those of the embed hashes whose vector is here already."""

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

    def remove_documents(self, doc_ids: Iterable[int], /) -> int:
        """Remove documents with all that was derived from them; returns how many there were."""
