"""The bytes of one file → a document ready to be embedded and saved: parsed, chunked, its texts hashed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from kb.config import ChunkingConfig, Config
from kb.drafts import ChunkDraft, DocumentDraft, DocumentNotes, GraphDraft, Parsed
from kb.graph import GRAPH_VERSION
from kb.graph.extract import extract_graph
from kb.ingest.chunk import CHUNKER_VERSION, chunk_document, embedding_text
from kb.ingest.language import detect_language
from kb.ingest.notes import make_notes
from kb.ingest.readers import READERS, read_file
from kb.ingest.report import Outcome, Result, Tally
from kb.ingest.sources import Target
from kb.store.documents import Stamp

if TYPE_CHECKING:
    from kb.embed.protocol import Encoder


class FoundFile(Protocol):
    """What is known of a file before it is read."""

    @property
    def target(self) -> Target: ...
    @property
    def path(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def mtime_ns(self) -> int: ...
    @property
    def stamp(self) -> Stamp | None: ...


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
    signatures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, config: Config, encoder: Encoder) -> Settings:
        """The settings of a configuration and the encoder it names."""
        chunking: ChunkingConfig = config.chunking
        room = encoder.max_tokens - len(encoder.token_starts(encoder.document_prefix))
        return cls(
            target_tokens=min(chunking.target_tokens, room),
            max_tokens=room,
            headings=config.embedding.headings,
            document_prefix=encoder.document_prefix,
            encoder_digest=encoder.digest,
            token_starts=encoder.token_starts,
        )

    def signature(self, reader_name: str) -> str:
        """Names what shaped a document of this type: by values, so that renaming a config key changes nothing."""
        known = self.signatures.get(reader_name)
        if known is None:
            parts = [reader_name, READERS[reader_name].version, CHUNKER_VERSION, self.target_tokens, self.max_tokens]
            parts += [self.headings, self.document_prefix, self.encoder_digest, GRAPH_VERSION]
            known = sha256(json.dumps(parts).encode()).hexdigest()[:16]
            self.signatures[reader_name] = known
        return known

    def embed_hash(self, text: str) -> str:
        """What a vector is filed under: the text with its prefix, so that prefixes never mix."""
        return hash_bytes(f"{self.document_prefix}\0{text}".encode())

    def embedding_text(self, title: str, chunk: ChunkDraft) -> str:
        """What is embedded for a chunk, without the encoder's prefix."""
        return embedding_text(title, chunk, self.token_starts, self.max_tokens, self.headings)


@dataclass(slots=True)
class Prepared:
    """A document that waits for its vectors.

    texts      embed hash → text to embed, one per distinct text
    hashes     embed hash of each chunk, in order
    replacing  doc_id of the document this is a new state of
    """

    draft: DocumentDraft
    chunks: list[ChunkDraft]
    hashes: list[str]
    texts: dict[str, str]
    result: Result
    replacing: int | None
    moved_from: str | None
    ms: dict[str, float]
    graph: GraphDraft
    notes: DocumentNotes | None = None

    def hashed_chunks(self) -> list[tuple[ChunkDraft, str]]:
        """Each chunk with the hash its vector is filed under."""
        return list(zip(self.chunks, self.hashes, strict=True))

    def outcome(self) -> Outcome:
        """What will be said of it once it is saved."""
        return Outcome(
            source=self.draft.source,
            path=self.draft.path,
            result=self.result,
            reason=self.draft.note,
            moved_from=self.moved_from,
            chunks=len(self.chunks),
        )


def prepare(
    file: FoundFile,
    raw: bytes,
    content_hash: str,
    settings: Settings,
    tally: Tally,
    moved_from: Stamp | None = None,
    title: str | None = None,
) -> Prepared:
    """Parse and chunk one file.

    moved_from  the document this file was, when it was renamed or moved
    title       wins over the document's own
    raises      ParseFailed
    """
    began = time.perf_counter()
    reader = READERS[file.type]
    parsed = read_file(reader, raw, file.path)
    parsed_at = time.perf_counter()
    shown_title = title or parsed.title or PurePosixPath(file.path).stem or file.path
    chunks = chunk_document(parsed, settings.token_starts, settings.target_tokens, settings.max_tokens)
    texts = [settings.embedding_text(shown_title, chunk) for chunk in chunks]
    hashes = [settings.embed_hash(text) for text in texts]
    chunked_at = time.perf_counter()
    graph = extract_graph(parsed, file.target.source, file.path, " ".join(shown_title.split()), chunks)
    graphed_at = time.perf_counter()
    notes = make_notes([(chunk.text, chunk.start_line) for chunk in chunks], reader.name)
    ms = {
        "parse": (parsed_at - began) * 1000,
        "chunk": (chunked_at - parsed_at) * 1000,
        "graph": (graphed_at - chunked_at) * 1000,
        "notes": (time.perf_counter() - graphed_at) * 1000,
    }
    for phase, value in ms.items():
        tally.add_ms(phase, value)
    draft = DocumentDraft(
        source=file.target.source,
        path=file.path,
        title=" ".join(shown_title.split()),
        type=reader.name,
        language=detect_language(parsed.text, parsed.language) if chunks else "und",
        tags=tuple(dict.fromkeys(tag.strip() for tag in parsed.tags if tag.strip())),
        size_bytes=len(raw),
        mtime_ns=file.mtime_ns,
        content_hash=content_hash,
        signature=settings.signature(file.type),
        note=_note(parsed, chunks),
    )
    replaced = file.stamp or moved_from
    return Prepared(
        draft=draft,
        chunks=chunks,
        hashes=hashes,
        texts=dict(zip(hashes, texts, strict=True)),
        result="moved" if moved_from else "updated" if file.stamp else "new",
        replacing=replaced.doc_id if replaced else None,
        moved_from=moved_from.path if moved_from else None,
        ms=ms,
        graph=graph,
        notes=notes,
    )


def _note(parsed: Parsed, chunks: list[ChunkDraft]) -> str | None:
    return parsed.note or (None if chunks else "holds no text")


def hash_bytes(raw: bytes) -> str:
    """sha256, hex."""
    return sha256(raw).hexdigest()
