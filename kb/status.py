"""What is in a knowledge base, and whether it is complete and up to date: `kb status`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from kb.corpora import KeeperDoor
from kb.frozen import dataclass
from kb.index.stamp import INDEX_FOLDER
from kb.runtime import Runtime
from kb.store.counters import read_counts
from kb.store.lock import lock_owner
from kb.store.schema import FILE_NAME

WHOLE_COUNTS = ("requests", "candidates", "penalized", "exact_duplicates", "expansions", "expansion_successes")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """One source: its folder on this machine, None for text from standard input, and what came from it."""

    source: str
    root: str | None
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """One derived index: up to date or not, how many chunks are in it."""

    name: str
    up_to_date: bool
    rows: int
    kind: str
    recall: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStatus:
    """What documents name, by kind, and the relations they state, by predicate; each counted once a document."""

    names: dict[str, int]
    edges: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderStatus:
    """The configured encoder, where the vectors in use are another one's.

    chunks_done  chunks that have its vector already; all of them have one when the change is done
    """

    model: str
    chunks_done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoveltyTotals:
    """Totals of the requests that came with text the reader already has.

    candidates                            passages and relations that were compared with it
    penalized                             candidates that were not novel
    overlap_ratio_sum, novel_results_sum  over the candidates of all requests
    """

    requests: int
    candidates: int
    penalized: int
    exact_duplicates: int
    expansions: int
    expansion_successes: int
    overlap_ratio_sum: float
    novel_results_sum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """kb status"""

    schema_version: Literal["status.v1"] = "status.v1"
    home: str
    corpus_revision: int
    documents: int
    chunks: int
    chunks_without_vector: int
    answers: int
    types: dict[str, int]
    sources: tuple[SourceStatus, ...]
    embedding_model: str
    embedding_dimensions: int
    indexes: tuple[IndexStatus, ...]
    store_bytes: int
    index_bytes: int
    writer: str | None
    graph: GraphStatus | None = None
    novelty: NoveltyTotals | None = None
    next_encoder: EncoderStatus | None = None
    answers_bytes: int | None = None


def read_status(kb: Runtime) -> Status:
    """The state of an open knowledge base; changes nothing."""
    with kb.snapshot():
        model_id, digest, dimensions = kb.stored_encoder()
        by_source = kb.corpus.count_documents_by("source")
        roots = kb.corpus.source_roots()
        types = kb.corpus.count_documents_by("type")
        names, edges = kb.corpus.graph.count_graph()
        return Status(
            home=str(kb.home),
            corpus_revision=kb.corpus_state().revision,
            documents=sum(types.values()),
            chunks=kb.corpus.count_chunks(),
            chunks_without_vector=kb.corpus.count_missing_vectors(digest),
            answers=kb.journal.count_answers(),
            types=types,
            sources=tuple(
                SourceStatus(source=name, root=root, documents=by_source.get(name, 0)) for name, root in roots.items()
            ),
            embedding_model=model_id,
            embedding_dimensions=dimensions,
            indexes=tuple(_index_status(keeper) for keeper in kb.index_keepers()),
            store_bytes=_size(kb.home / FILE_NAME) + _size(kb.home / f"{FILE_NAME}-wal"),
            index_bytes=sum(_size(path) for path in (kb.home / INDEX_FOLDER).rglob("*")),
            writer=lock_owner(kb.home),
            graph=GraphStatus(names=names, edges=edges) if names else None,
            novelty=_novelty_totals(kb.home),
            next_encoder=_next_encoder(kb, model_id),
            answers_bytes=kb.journal.answers_bytes() if kb.journal.count_answers(1) else 0,
        )


def _next_encoder(kb: Runtime, used: str) -> EncoderStatus | None:
    """By its name alone: opening an encoder would take longer than all the rest."""
    begun, configured = kb.corpus.next_encoder(), kb.config.embedding.model
    if begun:
        return EncoderStatus(model=begun.model_id, chunks_done=begun.chunks_done)
    return EncoderStatus(model=configured, chunks_done=0) if used and used != configured else None


def _novelty_totals(home: Path) -> NoveltyTotals | None:
    totals = read_counts(home)
    if not totals.get("requests"):
        return None
    whole = {name: int(totals.get(name, 0)) for name in WHOLE_COUNTS}
    return NoveltyTotals(
        **whole,
        overlap_ratio_sum=round(totals.get("overlap_sum", 0.0), 6),
        novel_results_sum=int(totals.get("novel", 0)),
    )


def _index_status(keeper: KeeperDoor[Any]) -> IndexStatus:
    stamp = keeper.stamp()
    if stamp is None:
        return IndexStatus(name=keeper.kind, up_to_date=False, rows=0, kind="", recall=None)
    return IndexStatus(
        name=keeper.kind, up_to_date=keeper.is_current(stamp), rows=stamp.rows, kind=stamp.kind, recall=stamp.recall
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
