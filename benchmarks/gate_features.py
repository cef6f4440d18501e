"""Cases → their signals, computed once and kept on disk: searching, packing, weighing and reading as an ask does it.

Kept by the digest of the code that computes them, of the encoder and of the reader; the reader's logits are kept apart,
by question and text, since they outlive changes of the code.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from gate_sets import REMOVED, Case

from kb.ask.pack import pack_chunks
from kb.ask.weigh import weigh_chunks
from kb.config import Config, cache_folder
from kb.evidence.records import Signals
from kb.records import RankedChunk, Ranking, SearchMode, SearchRequest, SearchTrace
from kb.runtime import Runtime
from kb.search.fuse import fuse
from kb.search.rerank import rerank
from kb.search.retrieve import retrieve

ROOT = Path(__file__).resolve().parents[1]
K = Config().rag.k
# What computes a signal; a change of anything else leaves the kept ones as they are.
COVERED = ("kb/evidence", "kb/reader", "kb/ask/weigh.py", "kb/search/rerank.py", "benchmarks/gate_features.py")
NO_SIGNAL = ("gate.py", "weights.json")


@dataclass(frozen=True, slots=True)
class Weighed:
    """A case's signals.

    hybrid   in hybrid mode, words alone where the encoder cannot read the question
    lexical  in lexical mode
    read     in hybrid mode with the reader, which orders the passages too; None where it cannot read the question
    """

    case: Case
    hybrid: Signals
    lexical: Signals
    read: Signals | None


def weigh_all(cases: Sequence[Case], homes: dict[str, Runtime], most_seconds: float) -> list[Weighed]:
    """Every case through search, packing and weighing; after so many seconds those that are done: a fair sample."""
    kept, key = _open_kept(homes)
    logits = _load(_logits_path())
    began = time.perf_counter()
    shuffled = sorted(cases, key=lambda case: sha256(f"{case.question} {case.kind}".encode()).hexdigest())
    for number, case in enumerate(case for case in shuffled if case not in kept):
        if time.perf_counter() - began > most_seconds:
            break
        kb = homes[case.home]
        kb._read_for, kb._read = case.question, logits.setdefault(case.question, {})
        hybrid, lexical = _weigh(kb, case, "hybrid", read=False), _weigh(kb, case, "lexical", read=False)
        read = _weigh(kb, case, "hybrid", read=True) if kb.reader_for(case.question) else None
        kept[case] = Weighed(case, hybrid, lexical, read)
        if number % 50 == 49:
            print(f"{len(kept)} kept of {len(cases)}", file=sys.stderr, flush=True)
            _save(key, kept)
            _save(_logits_path(), _load(_logits_path()) | logits)  # another encoder's cases may be weighed meanwhile
    _save(key, kept)
    _save(_logits_path(), _load(_logits_path()) | logits)
    return [kept[case] for case in cases if case in kept]


def _weigh(kb: Runtime, case: Case, mode: SearchMode, *, read: bool) -> Signals:
    request = SearchRequest(case.question, mode, K, rerank=read)
    found = retrieve(kb, request)
    if case.kind == REMOVED:
        gone = answering_chunks(kb, case)
        found = replace(
            found,
            lexical=[row for row in found.lexical if row[0] not in gone],
            vector=[row for row in found.vector if row[0] not in gone],
            pool={i: vector for i, vector in found.pool.items() if i not in gone},
        )
    fused = fuse(found, mode, Config().search)
    if read:
        fused = rerank(kb, request, fused)
    ranking = fused.ranking[:K]
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in ranking])
    packed = [p.chunk for p in pack_chunks([(chunks[i], s) for i, s in ranking], kb.config.rag.max_context_tokens)]
    trace = SearchTrace(
        lexical=_rows(found.lexical),
        vector=_rows(found.vector),
        query_terms=(),
        filtered_documents=None,
        stage_ms={},
    )
    pairs = [(chunk, fused.cosines.get(chunk.chunk_id)) for chunk in packed]
    with_vectors = mode == "hybrid" and not found.note
    return weigh_chunks(kb, case.question, pairs, trace, with_vectors=with_vectors, with_reader=read).signals


def _rows(ranking: Ranking) -> tuple[RankedChunk, ...]:
    return tuple(RankedChunk(chunk_id=i, rank=n, score=s) for n, (i, s) in enumerate(ranking, start=1))


def answering_chunks(kb: Runtime, case: Case) -> set[int]:
    """The chunks that hold any of the gold passages."""
    found: set[int] = set()
    for path, start, end in case.gold:
        rows = kb.store._connection.execute(
            "SELECT chunk_id FROM chunks JOIN documents USING (doc_id)"
            " WHERE path = ? AND (? < 0 OR (start_char < ? AND end_char > ?))",
            [path, end, end, start],
        )
        found.update(row[0] for row in rows)
    return found


def _open_kept(homes: dict[str, Runtime]) -> tuple[dict[Case, Weighed], Path]:
    digest = sha256()
    for place in COVERED:
        for path in sorted((ROOT / place).rglob("*.py")) if (ROOT / place).is_dir() else [ROOT / place]:
            if path.name not in NO_SIGNAL:
                digest.update(path.read_bytes())
    some = next(iter(homes.values()))
    reader = some.reader()
    digest.update(f"{some.stored_encoder()[1]} {reader.digest if reader else ''}".encode())
    path = _folder() / f"{digest.hexdigest()[:16]}.pickle"
    return _load(path), path


def _logits_path() -> Path:
    return _folder() / "logits.pickle"


def _folder() -> Path:
    folder = cache_folder(os.environ) / "eval" / "gate"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _load(path: Path) -> dict:  # type: ignore[type-arg]
    return pickle.loads(path.read_bytes()) if path.exists() else {}


def _save(path: Path, content: object) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(pickle.dumps(content))
    unfinished.replace(path)
