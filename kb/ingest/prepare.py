"""The bytes of one file → a document ready to be embedded and saved: parsed, chunked, its texts hashed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256

from kb.config import Config
from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft
from kb.embed.protocol import Encoder
from kb.frozen import dataclass
from kb.graph import GRAPH_VERSION
from kb.graph.extract import extract_graph
from kb.ingest.chunk import CHUNKER_VERSION, chunk_document, embedding_text
from kb.ingest.guarded_reading import FileReader
from kb.ingest.language import detect_language
from kb.ingest.notes import make_notes
from kb.ingest.plan import Candidate
from kb.ingest.readers import READERS
from kb.ingest.report import Outcome, Result
from kb.ingest.titles import title_of
from kb.store.documents import Stamp
from kb.store.vectors import short_name


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything besides a file's bytes that shapes its chunks, its vectors and its part of the graph.

    token_starts  the encoder's tokenizer
    max_tokens    no chunk is longer
    """

    target_tokens: int
    max_tokens: int
    headings: bool
    document_prefix: str
    encoder_digest: str
    token_starts: Callable[[str], list[int]]
    signatures: Mapping[str, str]

    @classmethod
    def of(cls, config: Config, encoder: Encoder) -> Settings:
        """The settings of a configuration and the encoder it names."""
        prefix, headings = encoder.document_prefix, config.embedding.headings
        max_tokens = encoder.max_tokens - len(encoder.token_starts(prefix))
        target_tokens = min(config.chunking.target_tokens, max_tokens)
        # Without the encoder and its prefix: another one makes other vectors of the same chunks (kb/ingest/reencode.py).
        common = [CHUNKER_VERSION, target_tokens, max_tokens, headings, GRAPH_VERSION]
        signatures = {
            name: hash_bytes(json.dumps([name, reader.version, *common]).encode())[:16]
            for name, reader in READERS.items()
        }
        return cls(target_tokens, max_tokens, headings, prefix, encoder.digest, encoder.token_starts, signatures)

    def signature(self, reader_name: str) -> str:
        """Names what shaped a document of this type: by values, so that renaming a config key changes nothing."""
        return self.signatures[reader_name]

    def embed_hash(self, text: str) -> str:
        """What a vector is filed under: the text with its prefix, so that prefixes never mix."""
        return short_name(sha256(f"{self.document_prefix}\0{text}".encode()).digest())

    def embedding_text(self, title: str, chunk: ChunkDraft) -> str:
        """What is embedded for a chunk, without the encoder's prefix."""
        return embedding_text(title, chunk, self.token_starts, self.max_tokens, self.headings)


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file with its bytes.

    content_hash  sha256 of the bytes, hex
    title         wins over the document's own
    read_ms       milliseconds that reading the bytes took
    """

    candidate: Candidate
    raw: bytes
    content_hash: str
    title: str | None = None
    read_ms: float = 0.0

    def stamp(self, settings: Settings) -> Stamp | None:
        """What the store should remember of it from now on; None for a file that is not stored yet."""
        found, signature = self.candidate, settings.signature(self.candidate.type)
        return found.stamp and replace(
            found.stamp,
            size_bytes=found.size_bytes,
            mtime_ns=found.mtime_ns,
            content_hash=self.content_hash,
            signature=signature,
            identity=found.identity,
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that is ready to be saved.

    texts       embed hash → text to embed, one per distinct text
    hashes      embed hash of each chunk, in order
    replacing   doc_id of the document this is a new state of
    moved_from  the document this file was before it was renamed or moved
    ms          milliseconds per phase
    vectors     embed hash → float32 bytes: those that are made already
    """

    draft: DocumentDraft
    chunks: Sequence[ChunkDraft]
    hashes: Sequence[str]
    texts: Mapping[str, str]
    result: Result
    replacing: int | None
    moved_from: Stamp | None
    ms: Mapping[str, float]
    graph: GraphDraft
    notes: DocumentNotes
    vectors: Mapping[str, bytes] = field(default_factory=dict)

    def moved(self, before: Stamp) -> Prepared:
        """The same as the new state of a document that had another path before."""
        return replace(self, result="moved", replacing=before.doc_id, moved_from=before)

    def outcome(self, *, is_changed: bool = True) -> Outcome:
        """What is reported of it once it is saved.

        is_changed  False where saving it changed nothing that can be found
        """
        return Outcome(
            source=self.draft.source,
            path=self.draft.path,
            result=self.result if is_changed else "unchanged",
            reason=self.draft.note,
            moved_from=self.moved_from.path if self.moved_from else None,
            chunks=len(self.chunks),
        )


def prepare(file: LoadedFile, settings: Settings, reader: FileReader) -> Prepared:
    """Parse and chunk one file.

    raises  ParseFailed; ReaderStopped, a kind of it, where reading it again would end in the same way
    """
    found = file.candidate
    began = time.perf_counter()
    parsed = reader.read(found.type, file.raw, found.path)
    parsed_at = time.perf_counter()
    shown_title = file.title or title_of(parsed, found.path, found.type)
    one_line_title = " ".join(shown_title.split())
    chunks = chunk_document(parsed, settings.token_starts, settings.target_tokens, settings.max_tokens)
    texts = [settings.embedding_text(shown_title, chunk) for chunk in chunks]
    hashes = [settings.embed_hash(text) for text in texts]
    chunked_at = time.perf_counter()
    graph = extract_graph(parsed, found.target.source, found.path, one_line_title, chunks)
    graphed_at = time.perf_counter()
    notes = make_notes([(chunk.text, chunk.start_line) for chunk in chunks], found.type)
    ms = {
        "read": file.read_ms,
        "parse": (parsed_at - began) * 1000,
        "chunk": (chunked_at - parsed_at) * 1000,
        "graph": (graphed_at - chunked_at) * 1000,
        "notes": (time.perf_counter() - graphed_at) * 1000,
    }
    draft = DocumentDraft(
        source=found.target.source,
        path=found.path,
        title=one_line_title,
        type=found.type,
        language=detect_language(parsed.text, parsed.language) if chunks else "und",
        tags=tuple(dict.fromkeys(tag.strip() for tag in parsed.tags if tag.strip())),
        size_bytes=len(file.raw),
        mtime_ns=found.mtime_ns,
        content_hash=file.content_hash,
        signature=settings.signature(found.type),
        note=parsed.note or (None if chunks else "holds no text"),
        file_identity=found.identity,
    )
    return Prepared(
        draft=draft,
        chunks=chunks,
        hashes=hashes,
        texts=dict(zip(hashes, texts, strict=True)),
        result="updated" if found.stamp else "new",
        replacing=found.stamp.doc_id if found.stamp else None,
        moved_from=None,
        ms=ms,
        graph=graph,
        notes=notes,
    )


def hash_bytes(raw: bytes) -> str:
    """sha256, hex."""
    return sha256(raw).hexdigest()
