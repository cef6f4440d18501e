"""Both indexes of a home, fed by its store: opened for who searches, brought up to date for who writes.

Carries rows, and the log of what changed, from the store to the keepers of the indexes; these do not know each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from kb.config import SearchConfig
from kb.errors import IoError, Locked
from kb.index.keeper import IndexKeeper, SharedSource, Source, Turn
from kb.index.protocol import LexicalIndex, LexicalRow, VectorIndex, VectorRow
from kb.index.registry import DEFAULT_LEXICAL, DEFAULT_VECTOR, LEXICAL_ENGINES, VECTOR_ENGINES
from kb.index.stamp import INDEX_FOLDER, IndexStamp, Origin, keep_reserve
from kb.store.lock import writer_lock
from kb.store.store import Store

if TYPE_CHECKING:  # an annotation alone: 25 ms that a search does not need
    from kb.store.protocol import CorpusDoor


class Indexes:
    """The keepers of the lexical and of the vector index of one home."""

    def __init__(self, store: Store, settings: SearchConfig, notify: Callable[[str], None]) -> None:
        self._store, self._settings, self._notify = store, settings, notify
        self._corpus: CorpusDoor = store.corpus
        self.lexical: IndexKeeper[LexicalRow, LexicalIndex] = self._keep_lexical()
        self.vector: IndexKeeper[VectorRow, VectorIndex] = self._keep_vector()

    def close(self) -> None:
        """Let go of both opened indexes."""
        self.lexical.close()
        self.vector.close()

    def describe_lag(self) -> str | None:
        """How far the indexes that were opened are behind, as a line for the user; None where they are not."""
        lags = self.lexical.lag, self.vector.lag
        if None in lags:
            return "documents that are being added cannot be found before their index is made"
        behind = max(lag or 0 for lag in lags)
        return f"the index is {behind:,} {'document' if behind == 1 else 'documents'} behind" if behind else None

    def keep_reserve(self) -> None:
        """See `kb.index.stamp.keep_reserve`."""
        keep_reserve(self._store.home / INDEX_FOLDER)

    def refresh_lexical(self, *, force: bool = False) -> IndexStamp:
        """Bring the lexical index up to date and say nothing of it; for who holds the writer's lock."""
        stamp = self.lexical.refresh(force=force, announce=False)
        self._forget_changes()
        return stamp

    def refresh_vectors(self, *, force: bool = False) -> IndexStamp:
        """The same of the vector index."""
        stamp = self.vector.refresh(force=force, announce=False)
        self._forget_changes()
        return stamp

    def _forget_changes(self) -> None:
        """Shorten the log of changes by what both indexes have taken up; a reader cannot, and leaves it."""
        lexical, vector = self.lexical.stamp(), self.vector.stamp()
        if self._store.is_writable and lexical and vector:
            self._corpus.forget_changes(lexical.revision, vector.revision)

    def _keep_lexical(self) -> IndexKeeper[LexicalRow, LexicalIndex]:
        corpus = self._corpus

        def origin() -> Origin:
            state = corpus.state()
            return Origin(state.revision, state.token)

        source = Source(
            origin=origin,
            rows=lambda _: corpus.lexical_rows(),
            rows_of=lambda _, chunk_ids: corpus.lexical_rows_of(chunk_ids),
            changed=lambda stamp: corpus.changed_since("lexical", stamp.revision, stamp.state),
            lag=lambda stamp: corpus.count_changed_documents("lexical", stamp.revision, stamp.state),
            **self._shared_source(),
        )
        engine = LEXICAL_ENGINES[DEFAULT_LEXICAL]
        return IndexKeeper(self._store.home / INDEX_FOLDER, engine, self._settings, source, self._notify)

    def _keep_vector(self) -> IndexKeeper[VectorRow, VectorIndex]:
        corpus = self._corpus

        def origin() -> Origin:
            state = corpus.state()
            return Origin(state.revision, state.token, *corpus.stored_encoder()[1:])

        source = Source(
            origin=origin,
            rows=lambda origin: corpus.vector_rows(origin.encoder_digest),
            rows_of=lambda origin, chunk_ids: corpus.vectors_of(origin.encoder_digest, chunk_ids),
            changed=lambda stamp: corpus.changed_since("vector", stamp.revision, stamp.state),
            lag=lambda stamp: corpus.count_changed_documents("vector", stamp.revision, stamp.state),
            **self._shared_source(),
        )
        engine = VECTOR_ENGINES[DEFAULT_VECTOR]
        return IndexKeeper(self._store.home / INDEX_FOLDER, engine, self._settings, source, self._notify)

    def _shared_source(self) -> SharedSource:
        return SharedSource(
            snapshot=self._store.snapshot,
            is_ahead=self._is_ahead,
            existing=self._corpus.existing_chunks,
            turn=self._turn,
        )

    def _is_ahead(self, stamp: IndexStamp) -> bool:
        """Whether the store has come to the revision of a stamp since this process took its snapshot."""
        with Store(self._store.home) as now:
            return now.corpus.changed_since("lexical", stamp.revision, stamp.state) is not None

    @contextmanager
    def _turn(self) -> Iterator[Turn]:
        """The writer's lock where nobody holds it: it is not waited for."""
        with ExitStack() as held:
            try:
                held.enter_context(writer_lock(self._store.home, 0, lambda line: None))
                turn: Turn = "ours"
            except Locked:
                turn = "theirs"
            except IoError:
                turn = "nobody's"
            yield turn
