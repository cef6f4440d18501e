"""Corpora to run one test on: SQLite in a folder, and Milvus Lite through pymilvus, over its real protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kb.config import Config, CorpusConfig, SearchConfig
from kb.corpora import IndexesDoor
from kb.drafts import ChunkDraft, DocumentDraft
from kb.extras import is_installed
from kb.indexes import Indexes
from kb.store.protocol import CorpusDoor
from kb.store.store import Store

ENCODER = ("toy", "digest", 4)
needs_milvus = pytest.mark.skipif(
    not (is_installed("pymilvus") and is_installed("milvus_lite")),
    reason="pymilvus and milvus-lite are not installed (kb-cited[milvus])",
)
ENGINES = ["local", pytest.param("milvus", marks=needs_milvus)]
# Each test has collections of its own in the one file of its module: opening a file takes a second.
_numbers = count(1)


@contextmanager
def open_corpus(engine: str, file: Path, home: Path, **settings: Any) -> Iterator[tuple[CorpusDoor, IndexesDoor]]:
    """An empty corpus with its indexes, its encoder stamped.

    file  of Milvus Lite, shared by tests of one module
    home  of this corpus alone
    """
    home.mkdir(exist_ok=True)
    if engine == "local":
        with Store(home, write=True) as store:
            store.corpus.stamp_encoder(ENCODER, ("", ""))
            indexes = Indexes(store, SearchConfig(), lambda line: None)
            yield store.corpus, indexes
            indexes.close()
        return
    with open_milvus(milvus_settings(file, **settings), home) as (corpus, served):
        corpus.stamp_encoder(ENCODER, ("", ""))
        yield corpus, served


def milvus_settings(file: Path, **settings: Any) -> CorpusConfig:
    """Of a corpus that no other test has."""
    values = {"collection": f"kb{next(_numbers)}", "uri": str(file)} | settings
    return CorpusConfig(engine="milvus", **values)


@contextmanager
def open_milvus(settings: CorpusConfig, home: Path) -> Iterator[tuple[Any, IndexesDoor]]:
    """A corpus in Milvus as it is."""
    from kb.milvus.indexes import open_served  # the libraries are an extra

    corpus, indexes, close = open_served(Config(corpus=settings), home, lambda line: None)
    try:
        yield corpus, indexes
    finally:
        close()


def a_document(path: str, tags: tuple[str, ...] = (), **changes: Any) -> DocumentDraft:
    """A draft of a Markdown document."""
    values: dict[str, Any] = {
        "source": "s",
        "path": path,
        "title": path,
        "type": "markdown",
        "language": "en",
        "tags": tags,
        "size_bytes": 10,
        "mtime_ns": 1_700_000_000 * 10**9,
        "content_hash": f"hash of {path}",
        "signature": "sig",
    }
    return DocumentDraft(**(values | changes))


def save(
    corpus: CorpusDoor,
    document: DocumentDraft,
    *texts: str,
    replacing: int | None = None,
    vectors: dict[str, bytes] | None = None,
) -> int:
    """Save a document of these passages; returns its doc_id."""
    if document.source not in corpus.source_roots():
        corpus.save_source(document.source, "/root")
    rows = [
        (ChunkDraft(i, i * 10, i * 10 + 5, text, ("H", f"h{i}"), 2, i + 1, i + 2), f"e:{text}")
        for i, text in enumerate(texts)
    ]
    return corpus.save_document(document, rows, ENCODER[1], vectors or {}, replacing, None, None).doc_id
