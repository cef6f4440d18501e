"""A configuration → its corpus and the indexes of it: SQLite with local indexes, or a Milvus database; both by one door."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Protocol, TypeVar

from kb.config import Config
from kb.errors import InvalidInput
from kb.index.protocol import LexicalIndex, VectorIndex
from kb.index.stamp import IndexStamp
from kb.indexes import Indexes
from kb.store.schema import FILE_NAME
from kb.store.store import Store

if TYPE_CHECKING:  # an annotation alone: 25 ms that a search does not need
    from pathlib import Path

    from kb.store.protocol import CorpusDoor

LOCAL = "local"
Opened = TypeVar("Opened", covariant=True)


class KeeperDoor(Protocol[Opened]):
    """One index, wherever it is kept: see `kb.index.keeper.IndexKeeper` for each method."""

    @property
    def kind(self) -> str: ...

    @property
    def lag(self) -> int | None: ...

    def index(self) -> Opened: ...

    def sound_index(self) -> Opened | None: ...

    def stamp(self) -> IndexStamp | None: ...

    def is_current(self, stamp: IndexStamp, /) -> bool: ...

    def fault(self, expected: Collection[int] | None = None, /, most_bytes: int | None = None) -> str | None: ...


class IndexesDoor(Protocol):
    """Both indexes of a corpus: see `Indexes` for each method."""

    @property
    def lexical(self) -> KeeperDoor[LexicalIndex]: ...

    @property
    def vector(self) -> KeeperDoor[VectorIndex]: ...

    def close(self) -> None: ...

    def describe_lag(self) -> str | None: ...

    def keep_reserve(self) -> None: ...

    def refresh_lexical(self, *, force: bool = False) -> IndexStamp: ...

    def refresh_vectors(self, *, force: bool = False) -> IndexStamp: ...


def open_store(config: Config, home: Path, *, write: bool) -> Store:
    """The store of a home. Where the corpus is elsewhere, it holds the journal alone, and is made for readers, too."""
    if config.corpus.engine != LOCAL and not (home / FILE_NAME).exists():
        Store(home, write=True).close()
    return Store(home, write=write)


def open_corpus(
    config: Config, store: Store, tell: Callable[[str], None]
) -> tuple[CorpusDoor, IndexesDoor, Callable[[], None]]:
    """The corpus that a configuration names, its indexes, and what closes it. raises ExtraMissing, IoError"""
    if config.corpus.engine == LOCAL:
        return store.corpus, Indexes(store, config.search, tell), lambda: None
    from kb.milvus.indexes import open_served  # a second with its libraries, for who has a corpus there

    return open_served(config, store.home, tell)


def describe_place(config: Config, home: Path) -> str:
    """Where a corpus is, for messages."""
    corpus = config.corpus
    return str(home) if corpus.engine == LOCAL else f"{corpus.uri} ({corpus.collection})"


def check_part(config: Config, corpus: CorpusDoor, part: str, command: str) -> None:
    """raises  InvalidInput where the engine of the corpus does not keep a part that a command needs."""
    if part in corpus.lacks():
        raise InvalidInput(
            f"{command} does not work with corpus.engine = {config.corpus.engine} yet: it keeps no {part}",
            fix="use it with a local corpus: kb --home OTHER ingest FOLDER makes one",
        )
