"""One knowledge base: its store, indexes, encoder and language model, opened lazily and once.

The materials do not know each other; here data is carried from one to the other: rows from the store into an index,
the encoder's vectors into a model. Knows nothing of the jobs above it. This is the Python API the command line uses:

>>> kb = open_knowledge_base(Path("my-home"), Config())           # doctest: +SKIP
>>> search(kb, SearchRequest("borrow checker")).hits[0].citation  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kb.config import Config, cache_folder
from kb.errors import EmbeddingMismatch, IndexOutOfDate, KbError, NotIndexed
from kb.index import lexical as lexical_module
from kb.index import vector as vector_module
from kb.index.lexical import LexicalIndex, TantivyIndex, build_lexical_index
from kb.index.stamp import IndexStamp, read_stamp, replace_index
from kb.index.vector import FaissIndex, VectorIndex, build_vector_index
from kb.store.database import CorpusState
from kb.store.store import Store

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix, FloatVector
    from kb.embed.protocol import Encoder
    from kb.llm.protocol import LanguageModel

Notify = Callable[[str], None]
# A reader may find the index gone that its stamp named, because a writer replaced it in between.
OPEN_ATTEMPTS = 3
# Sentence vectors kept: those of the largest evidence a model reads (32,768 tokens) are fewer; 3 MB at 384 dimensions.
SENTENCES_KEPT = 2048


def ignore(message: str) -> None:
    """A `notify` for callers who want no messages."""


def open_knowledge_base(
    home: Path, config: Config, *, write: bool = False, notify: Notify = ignore, log: Notify = ignore
) -> KnowledgeBase:
    """Open the knowledge base of a home.

    write   create and migrate the store when needed; False opens it read-only
    notify  gets one line of text for what a user should know (a rebuild, a fallback)
    log     gets one line for each decision that only who looks for it wants to see
    raises  NotIndexed when `write` is False and there is none; CorruptStore, IoError
    """
    return KnowledgeBase(home, config, write=write, notify=notify, log=log)


class KnowledgeBase:
    """See `open_knowledge_base`. Not for use by several threads at once."""

    def __init__(
        self, home: Path, config: Config, *, write: bool = False, notify: Notify = ignore, log: Notify = ignore
    ) -> None:
        self.log = log
        self.home = home
        self.config = config
        self.notify = notify
        self.cache = cache_folder(os.environ)
        self.store = Store(home, write=write)
        self.corpus = self.store.corpus
        self.journal = self.store.journal
        self._lexical: tuple[str, LexicalIndex] | None = None
        self._vector: tuple[str, VectorIndex] | None = None
        self._encoder: Encoder | None = None
        self._model: LanguageModel | None = None
        self._last_query: tuple[str, FloatVector] | None = None
        self._sentences: dict[str, FloatVector] = {}
        self._told: set[str] = set()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def notify_once(self, message: str) -> None:
        """Tell the user something that holds for every question, the first time only."""
        if message not in self._told:
            self._told.add(message)
            self.notify(message)

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
            raise NotIndexed(f"the knowledge base in {self.home} is empty", fix="fill it with: kb ingest FOLDER")

    # ---- indexes

    def lexical_index(self) -> LexicalIndex:
        """The lexical index of the corpus as it is now, rebuilt first when it is not."""
        weights = self.config.search.title_weight, self.config.search.heading_weight
        for _ in range(OPEN_ATTEMPTS):
            stamp = self.refresh_lexical()
            if self._lexical and self._lexical[0] == stamp.place:
                return self._lexical[1]
            try:
                self._lexical = stamp.place, TantivyIndex(self._index_folder / stamp.place, *weights)
            except (IndexOutOfDate, OSError):
                self._discard(lexical_module.NAME, stamp)
        if self._lexical is None:
            raise IndexOutOfDate("the lexical index cannot be opened", fix="rebuild it: kb reindex")
        return self._lexical[1]

    def vector_index(self) -> VectorIndex:
        """The vector index of the corpus as it is now, rebuilt first when it is not."""
        for _ in range(OPEN_ATTEMPTS):
            stamp = self.refresh_vector()
            if self._vector and self._vector[0] == stamp.place:
                return self._vector[1]
            try:
                self._vector = stamp.place, FaissIndex(self._index_folder / stamp.place, stamp)
            except (IndexOutOfDate, OSError):
                self._discard(vector_module.NAME, stamp)
        if self._vector is None:
            raise IndexOutOfDate("the vector index cannot be opened", fix="rebuild it: kb reindex")
        return self._vector[1]

    def refresh_lexical(self, *, force: bool = False, announce: bool = True) -> IndexStamp:
        """Build the lexical index unless the one there is was built from this corpus."""
        with self.snapshot():
            state = self.corpus_state()
            stamp = read_stamp(self._index_folder, lexical_module.NAME)
            if stamp and not force and self.is_current(lexical_module.NAME, stamp):
                return stamp
            if announce:
                self._tell_rebuild(stamp, "lexical", state)
            rows = self.corpus.lexical_rows()
            return self._replace(
                lexical_module.NAME, lambda path: build_lexical_index(path, rows, state.revision, state.token)
            )

    def refresh_vector(self, *, force: bool = False, announce: bool = True) -> IndexStamp:
        """Build the vector index unless the one there is was built from this corpus and encoder."""
        with self.snapshot():
            state = self.corpus_state()
            digest, dimensions = self.stored_encoder()[1:]
            stamp = read_stamp(self._index_folder, vector_module.NAME)
            if stamp and not force and self.is_current(vector_module.NAME, stamp):
                return stamp
            if announce:
                self._tell_rebuild(stamp, "vector", state)
            rows = self.corpus.vector_rows(digest)
            count = self.corpus.count_chunks()
            limit = self.config.search.exact_up_to_chunks
            return self._replace(
                vector_module.NAME,
                lambda path: build_vector_index(
                    path, rows, count, dimensions, digest, state.revision, state.token, limit
                ),
            )

    def is_current(self, name: str, stamp: IndexStamp) -> bool:
        """True when an index with this stamp was built from the corpus and encoder as they are now."""
        state = self.corpus_state()
        if name == lexical_module.NAME:
            return stamp.matches(state.revision, state.token, lexical_module.FORMAT)
        return stamp.matches(state.revision, state.token, vector_module.FORMAT, self.stored_encoder()[1])

    @property
    def _index_folder(self) -> Path:
        return self.home / "index"

    def _replace(self, name: str, build: Callable[[Path], IndexStamp]) -> IndexStamp:
        try:
            return replace_index(self._index_folder, name, build)
        except OSError as error:
            raise IndexOutOfDate(
                f"the {name} index does not match the documents and cannot be rebuilt: {error.strerror}",
                fix=f"make {self._index_folder} writable, or run kb reindex as its owner",
            ) from error

    def _discard(self, name: str, stamp: IndexStamp) -> None:
        """Forget an index that cannot be opened, unless another process has replaced it meanwhile."""
        if read_stamp(self._index_folder, name) == stamp:
            try:
                (self._index_folder / f"{name}.json").unlink(missing_ok=True)
            except OSError as error:
                raise IndexOutOfDate(
                    f"the {name} index cannot be opened, nor replaced: {error.strerror}",
                    fix=f"make {self._index_folder} writable, or run kb reindex as its owner",
                ) from error

    def _tell_rebuild(self, stamp: IndexStamp | None, name: str, state: CorpusState) -> None:
        if stamp and stamp.revision != state.revision:
            behind = f"built from revision {stamp.revision}, the documents are at {state.revision}"
            self.notify(f"rebuilding the {name} index ({behind})")
        elif stamp:
            self.notify(f"rebuilding the {name} index (it was built from other documents or by another version)")
        else:
            self.notify(f"building the {name} index (there is none that can be read)")

    # ---- encoder

    def encoder(self) -> Encoder:
        """The configured encoder; its weights are loaded on first use."""
        if self._encoder is None:
            from kb.embed.encoder import open_encoder

            self._encoder = open_encoder(self.config.embedding, self.cache, self.notify)
        return self._encoder

    def stored_encoder(self) -> tuple[str, str, int]:
        """(model_id, digest, dimensions) of the encoder that made the stored vectors; ("", "", 0) when there are none."""
        return self.corpus.stored_encoder()

    def encode_query(self, text: str) -> FloatVector:
        """The query's vector, (d,) float32, by the encoder that made the stored vectors.

        raises  EmbeddingMismatch when another one is configured now
        """
        encoder, (model_id, digest, _) = self.encoder(), self.stored_encoder()
        if digest and digest != encoder.digest:
            raise EmbeddingMismatch(
                f"the stored vectors were made by {model_id}, the configured encoder is {encoder.model_id}"
                + (" with other weights" if model_id == encoder.model_id else ""),
                fix=f"run kb ingest again to re-embed, or set embedding.model = '{model_id}'",
            )
        if self._last_query is None or self._last_query[0] != text:
            self._last_query = text, encoder.encode_query(text)
        return self._last_query[1]

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
        """Drop the sentence vectors that are kept: for who measures what they cost."""
        self._sentences.clear()

    def stored_vectors(self, chunk_ids: Iterable[int]) -> dict[int, FloatVector]:
        """Stored vectors by chunk_id, each (d,) float32; a chunk without one is left out."""
        import numpy as np

        rows = self.corpus.vectors_of(self.stored_encoder()[1], chunk_ids)
        return {chunk_id: np.frombuffer(blob, dtype="<f4") for chunk_id, blob in rows}

    def describe_gaps(self) -> str:
        """Why vector search might miss something, as words for a hint."""
        _, digest, _ = self.stored_encoder()
        missing = self.corpus.count_missing_vectors(digest)
        return f"{missing} chunks have no vector yet: run kb ingest again" if missing else "every chunk has its vector"

    # ---- language model

    def language_model(self) -> LanguageModel:
        """The configured language model, chosen on first use."""
        if self._model is None:
            from kb.llm.registry import choose_model

            self._model = choose_model(self.config.llm, encode=self._encode_sentences(), notify=self.notify)
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
