"""What the jobs run on: the store, indexes, encoder, reader and language model of one home, opened lazily and once.

These parts do not know each other; the runtime carries data between them: rows from the store into an index, the
encoder's vectors into a model. It knows nothing of the jobs above it. Users of the library see `kb.library` instead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kb.config import Config, cache_folder
from kb.corpora import KeeperDoor, check_part, describe_place, open_corpus, open_store
from kb.embed.registry import SERVED, expect_many_queries, open_encoder
from kb.errors import EmbeddingMismatch, IoError, KbError, ModelError, NotIndexed
from kb.index.protocol import LexicalIndex, VectorIndex
from kb.index.stamp import IndexStamp
from kb.language.registry import question_language
from kb.reader.registry import open_reader, reader_names
from kb.store.database import CorpusState

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix, FloatVector
    from kb.embed.protocol import Encoder
    from kb.llm.protocol import LanguageModel
    from kb.reader.protocol import Reader
    from kb.store.journal import Journal

Notify = Callable[[str], None]
# Sentence vectors kept: those of the largest evidence a model reads (32,768 tokens) are fewer; 3 MB at 384 dimensions.
FEW_QUERIES = 8  # encoded ahead together; for more, the encoder is opened to be fast rather than at once
SENTENCES_KEPT = 2048


def ignore(message: str) -> None:
    """A `notify` for callers who want no messages."""


def open_runtime(
    home: Path, config: Config, *, write: bool = False, notify: Notify = ignore, log: Notify = ignore
) -> Runtime:
    """Open the knowledge base of a home.

    write   create and migrate the store when needed; False opens it read-only
    notify  gets one line of text for what a user should know (a rebuild, a fallback)
    log     gets one line for each decision that is of interest when something looks wrong
    raises  NotIndexed when `write` is False and there is none; CorruptStore, IoError
    """
    return Runtime(home, config, write=write, notify=notify, log=log)


class Runtime:
    """See `open_runtime`. Not for use by several threads at once."""

    def __init__(
        self, home: Path, config: Config, *, write: bool = False, notify: Notify = ignore, log: Notify = ignore
    ) -> None:
        self.log = log
        self.home = home
        self.config = config
        self.notify = notify
        self.cache = cache_folder(os.environ)
        self.store = open_store(config, home, write=write)
        if self.store.made_private:
            notify(f"other users of this machine could read {home}; now only you can")
        if self.store.was_brought_up_to_date:
            notify(f"{home} was written by an older kb; it is up to date now")
        self.corpus, self._indexes, self._close_corpus = open_corpus(config, self.store, self._tell)
        self._configured: Encoder | None = None
        self._encoder: Encoder | None = None
        self._fault: KbError | None = None
        self._failed: tuple[str, KbError] | None = None
        self._model: LanguageModel | None = None
        self._last_query: tuple[str, FloatVector] | None = None
        self._ahead: dict[str, FloatVector] = {}
        self._sentences: dict[str, FloatVector] = {}
        self._readers: tuple[Reader, ...] | None = None
        self._missing_readers: list[str] = []
        self._read_for = ""
        self._read: dict[tuple[str, str], float] = {}
        self._told: set[str] = set()

    def close(self) -> None:
        """Close the store, and let go of indexes and models: they hold hundreds of megabytes, and Python would free them late."""
        self.store.close()
        self._indexes.close()
        self._close_corpus()
        self._configured = self._encoder = self._readers = self._model = None
        self._sentences.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def notify_once(self, message: str) -> None:
        """Tell the user something that holds for every question, the first time only."""
        if message not in self._told:
            self._told.add(message)
            self.notify(message)

    @property
    def journal(self) -> Journal:
        """Answers, sessions and memories of this home."""
        return self.store.journal

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside sees the same corpus."""
        with self.store.snapshot():
            yield

    def corpus_state(self) -> CorpusState:
        """Which corpus this is now."""
        return self.corpus.state()

    def require_documents(self) -> None:
        """raises  NotIndexed when there is nothing to find."""
        if not self.corpus.has_documents():
            where = describe_place(self.config, self.home)
            raise NotIndexed(f"the knowledge base in {where} is empty", fix="fill it with: kb ingest FOLDER")

    def require_part(self, part: str, command: str) -> None:
        """See `kb.corpora.check_part`."""
        check_part(self.config, self.corpus, part, command)

    # ---- indexes

    def lexical_index(self) -> LexicalIndex:
        """The newest lexical index, at once; see `IndexKeeper.index`."""
        return self._indexes.lexical.index()

    def vector_index(self) -> VectorIndex:
        """The newest vector index, at once; see `IndexKeeper.index`."""
        return self._indexes.vector.index()

    def describe_lag(self) -> str | None:
        """How far the indexes that were opened are behind, as a line for the user; None where they are not."""
        return self._indexes.describe_lag()

    def index_keepers(self) -> tuple[KeeperDoor[LexicalIndex], KeeperDoor[VectorIndex]]:
        """What keeps the lexical index, and what keeps the vector index: for kb status and kb doctor."""
        return self._indexes.lexical, self._indexes.vector

    def refresh_indexes(self, *, force: bool = False) -> tuple[IndexStamp, IndexStamp]:
        """Bring both indexes up to date and say nothing of it; for who holds the writer's lock.

        force    build both from nothing
        returns  what the lexical and the vector index hold
        """
        return self.refresh_lexical(force=force), self.refresh_vectors(force=force)

    def refresh_lexical(self, *, force: bool = False) -> IndexStamp:
        """The lexical half of `refresh_indexes`."""
        return self._indexes.refresh_lexical(force=force)

    def keep_reserve(self) -> None:
        """Hold room in the folder of the indexes, for removing documents on a full disk."""
        self._indexes.keep_reserve()

    def refresh_vectors(self, *, force: bool = False) -> IndexStamp:
        """The other half."""
        return self._indexes.refresh_vectors(force=force)

    def refresh_if_possible(self) -> None:
        """As `refresh_indexes`; where there is no room for an index, the next search builds it."""
        try:
            self.refresh_indexes()
        except IoError as error:
            self.notify(f"{error.problem}; the next search tries again")

    def _tell(self, message: str) -> None:
        self.notify(message)  # whoever is told may change while the knowledge base is open

    # ---- encoder

    def configured_encoder(self) -> Encoder:
        """The encoder that the configuration names; its weights are loaded on first use.

        raises  ModelError where there is no such model
        """
        if self._configured is None:
            self._configured = open_encoder(self.config.embedding, self.cache, self.notify, self.config.llm)
        return self._configured

    def encoder(self) -> Encoder:
        """The encoder of the stored vectors, even where another one is configured by now; without vectors, that one.

        raises  ModelError, EmbeddingMismatch where it is gone
        """
        if self._encoder and self.stored_encoder()[1] and not self.is_stored_encoder(self._encoder):
            self.forget_encoder()  # another process has changed the vectors
        if self._fault is not None:
            raise self._fault
        if self._encoder is None:
            try:
                self._encoder = self._find_encoder()
            except KbError as error:
                self._fault = error
                raise
        return self._encoder

    def has_configured_encoder(self) -> bool:
        """Whether the encoder of the stored vectors is the configured one; raises as `encoder`."""
        return self.encoder() is self._configured

    def why_no_encoder(self, query: str | None = None) -> KbError | None:
        """Why the encoder of the stored vectors cannot be used, None where it can.

        query  counts as a reason where it could not be encoded a moment ago, by a server that was lost meanwhile
        """
        try:
            self.encoder()
        except KbError as error:
            return error
        return self._failed[1] if self._failed and self._failed[0] == query else None

    def forget_encoder(self) -> None:
        """Look anew for the encoder of the stored vectors, after they were changed."""
        self._encoder = self._last_query = None
        self._ahead.clear()
        self._sentences.clear()
        self.forget_faults()

    def forget_faults(self) -> None:
        """Try again what has failed: a server may be back by the next question."""
        self._fault = self._failed = None

    def is_stored_encoder(self, encoder: Encoder) -> bool:
        """Whether an encoder makes the stored vectors: by its digest, and by what stands before documents."""
        prefixes = self.corpus.stored_prefixes()
        same_prefix = prefixes is None or prefixes[1] == encoder.document_prefix
        return encoder.digest == self.stored_encoder()[1] and same_prefix

    def _find_encoder(self) -> Encoder:
        (model_id, digest, _), name = self.stored_encoder(), self.config.embedding.model
        if not digest:
            return self.configured_encoder()
        # A server that is only configured is not waited for. Other names are compared: two may mean the same model.
        if model_id != name and name.partition(":")[0] in SERVED and (stored := self._open_stored(model_id, digest)):
            return stored
        fault = None
        try:
            if self.is_stored_encoder(self.configured_encoder()):
                return self.configured_encoder()
        except KbError as error:
            fault = error
        if stored := self._open_stored(model_id, digest):
            return stored
        if fault and model_id == name:
            raise fault
        has = f"the encoder of the stored vectors, {model_id}, {'has other weights now' if model_id == name else 'is gone'}"
        raise EmbeddingMismatch(has, fix=f"embed the documents with what is configured: kb init --encoder {name}")

    def _open_stored(self, model_id: str, digest: str) -> Encoder | None:
        """The encoder that made the stored vectors, None where it is gone or another by now."""
        own = replace(self.config.embedding, model=model_id, query_prefix="", document_prefix="")
        try:
            stored = open_encoder(own, self.cache, self.notify, self.config.llm)
        except KbError:
            return None
        if prefixes := self.corpus.stored_prefixes():
            # As they were, even where they were empty and the model has its own by now.
            stored.query_prefix, stored.document_prefix = prefixes
        return stored if stored.digest == digest else None

    def stored_encoder(self) -> tuple[str, str, int]:
        """(model_id, digest, dimensions) of the encoder that made the stored vectors; ("", "", 0) when there are none."""
        return self.corpus.stored_encoder()

    def encode_query(self, text: str) -> FloatVector:
        """The query's vector, (d,) float32, by the encoder that made the stored vectors.

        The user is told once where another one is configured.
        raises  ModelError, EmbeddingMismatch where it is gone
        """
        encoder, name = self.encoder(), self.config.embedding.model
        if self._last_query is None or self._last_query[0] != text:
            ahead = self._ahead.get(text)
            try:
                self._last_query = text, encoder.encode_query(text) if ahead is None else ahead
            except KbError as error:
                self._failed = text, error
                raise
            self._failed = None
        if not self.has_configured_encoder():
            self.notify_once(f"searching with {encoder.model_id}; to change to {name}: kb init --encoder {name}")
        return self._last_query[1]

    def search_vector(self, text: str) -> FloatVector:
        """The vector that passages are ranked by, (d,) float32: the query's, less a part of what questions of its language share.

        raises  ModelError, EmbeddingMismatch where the encoder is gone
        """
        return self.encoder().search_vector(self.encode_query(text), question_language(text))

    def encode_ahead(self, texts: Sequence[str]) -> float:
        """Encode the queries that will be asked next in one batch, in place of those encoded ahead before.

        returns  milliseconds for each; 0 where there is no encoder: the search that needs one will say so
        """
        import numpy as np

        self._ahead.clear()
        texts, began = list(dict.fromkeys(texts)), time.perf_counter()
        if len(texts) > FEW_QUERIES:
            expect_many_queries()
        try:
            vectors = self.encoder().encode_queries(texts)
            self._ahead.update(zip(texts, vectors, strict=True))
            self.vector_index().expect(np.stack([self.search_vector(text) for text in texts]) if texts else vectors)
        except KbError:
            return 0.0
        return (time.perf_counter() - began) * 1000 / max(1, len(texts))

    def encode_sentences(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of short texts, (n, d) float32; those of the question at hand are kept: the gate and the model share them."""
        import numpy as np

        new = list(dict.fromkeys(text for text in texts if text not in self._sentences))
        if len(self._sentences) + len(new) > SENTENCES_KEPT:
            self._sentences.clear()
            new = list(dict.fromkeys(texts))
        if new or not texts:
            vectors = self.encoder().encode_sentences(new)
            self._sentences.update(zip(new, vectors, strict=True))
        return np.stack([self._sentences[text] for text in texts]) if texts else vectors

    def forget_sentences(self) -> None:
        """Drop the sentence vectors that are kept, so that a benchmark can measure what they cost."""
        self._sentences.clear()

    def stored_vectors(self, chunk_ids: Iterable[int]) -> dict[int, FloatVector]:
        """Stored vectors by chunk_id, each (d,) float32; a chunk without one is left out."""
        import numpy as np

        rows = self.corpus.vectors_of(self.stored_encoder()[1], chunk_ids)
        return {chunk_id: np.frombuffer(blob, dtype="<f4") for chunk_id, blob in rows}

    def vector_share(self) -> float | None:
        """The chunks that have a vector, as a share of all in [0, 1]; None where there are no chunks."""
        chunks = self.corpus.count_chunks()
        return 1 - self.corpus.count_missing_vectors(self.stored_encoder()[1]) / chunks if chunks else None

    # ---- reader

    def readers(self) -> tuple[Reader, ...]:
        """The configured readers that are there; all works without."""
        if self._readers is None:
            found: list[Reader] = []
            for name in reader_names(self.config.reader.model):
                try:
                    found.append(open_reader(name, self.cache))
                except ModelError as error:
                    self._missing_readers.append(f"note: going on without a reader: {error} ({error.fix})")
            self._readers = tuple(found)
        return self._readers

    def readers_for(self, question: str) -> tuple[Reader, ...]:
        """The first two readers that have learnt the question's language: one orders, both judge; without one the user is told once."""
        found = tuple(islice((reader for reader in self.readers() if reader.can_read(question)), 2))
        for note in self._missing_readers if not found else ():
            self.notify_once(note)
        return found

    def reader_for(self, question: str) -> Reader | None:
        """The reader that orders passages for a question; None without one."""
        return next(iter(self.readers_for(question)), None)

    def read(self, question: str, texts: Sequence[str], *, again: bool = False) -> list[float] | None:
        """The logit of the first of `readers_for` the question for each text, of the second `again`; None without one.

        What was read for the question at hand is kept.
        """
        if (reader := next(iter(self.readers_for(question)[again:]), None)) is None:
            return None
        if self._read_for != question:
            self._read_for, self._read = question, {}
        name = reader.model_id
        new = list(dict.fromkeys(text for text in texts if (name, text) not in self._read))
        if new and reader.needs_preparing():
            self.notify(f"preparing the reader {name} (once per model)…")
        try:
            self._read.update(zip(((name, text) for text in new), reader.score(question, new), strict=True))
        except ModelError as error:
            self.notify_once(f"note: going on without a reader: {error} ({error.fix})")
            self._readers = tuple(other for other in self.readers() if other is not reader)
            return None
        return [self._read[name, text] for text in texts]

    # ---- language model

    def language_model(self) -> LanguageModel:
        """The configured language model, chosen on first use."""
        if self._model is None:
            from kb.llm.protocol import Scorers
            from kb.llm.registry import choose_model

            scorers = Scorers(self._encode_sentences(), self.read, partial(self.read, again=True))
            self._model = choose_model(self.config.llm, scorers, self.notify)
        return self._model

    def loaded_encoder(self) -> Encoder | None:
        """The encoder when something has opened it already, else None: for what is not worth loading it."""
        return self._encoder

    def _encode_sentences(self) -> Callable[..., FloatMatrix] | None:
        try:
            self.encoder()
        except KbError:
            return None
        return self.encode_sentences
