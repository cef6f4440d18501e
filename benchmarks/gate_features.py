"""Cases → their signals, as an ask computes them: searching, packing, weighing and reading.

Kept on disk in three parts, since they cost differently and change for different reasons: which passages are found (by the
digests of search, packing, encoder and reader, and by the home, whose name has that of the readers of files), what the encoder and the reader made of texts, and the signals (by the digest
of the code that computes them too). A changed signal is weighed anew in a hundredth of the time.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from gate_sets import REMOVED, Case

from kb.arrays import FloatVector
from kb.ask.pack import pack_chunks
from kb.ask.weigh import question_cosines, weigh_chunks
from kb.config import Config, cache_folder
from kb.evidence.records import Signals
from kb.records import RankedChunk, Ranking, SearchMode, SearchRequest, SearchTrace
from kb.runtime import Runtime
from kb.search.fuse import fuse
from kb.search.rerank import rerank
from kb.search.retrieve import retrieve

ROOT = Path(__file__).resolve().parents[1]
K = Config().rag.k
# What decides which passages are packed, and what computes their signals; a change of anything else leaves the kept ones.
FINDING = ("kb/search", "kb/reader", "kb/ask/pack.py")
TOLD = ("kb/language/sentences.py", "kb/language/tables.py")
WEIGHING = (*FINDING, *TOLD, "kb/evidence", "kb/ask/weigh.py", "benchmarks/gate_features.py")
NO_SIGNAL = ("gate.py", "weights.json")


@dataclass(frozen=True, slots=True)
class Weighed:
    """A case's signals.

    hybrid   in hybrid mode, words alone where the encoder cannot read the question
    lexical  in lexical mode
    read     in hybrid mode with the reader, which orders the passages too; None where it cannot read the question
    lacking  the names, numbers and rarest word of the question that no passage holds, as `read` or `hybrid` packs them, and
             the share of all that is asked about that none holds
    """

    case: Case
    hybrid: Signals
    lexical: Signals
    read: Signals | None
    lacking: tuple[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class Packed:
    """What one search of a case packs: chunk ids with their cosines, and both retrievers' lists."""

    chunks: tuple[tuple[int, float | None], ...]
    lexical: tuple[int, ...]
    vector: tuple[int, ...]
    with_vectors: bool


@dataclass(slots=True)
class Read:
    """What the models made of a question: logits by reader and text, vectors of sentences, and the question's as a query."""

    logits: dict[tuple[str, str], float] = field(default_factory=dict)
    vectors: dict[str, FloatVector] = field(default_factory=dict)
    query: FloatVector | None = None


# A case and the folder of its home: chunks have other numbers in another one.
Place = tuple[Case, str]


@dataclass(slots=True)
class Kept:
    """What is on disk, in three files."""

    folder: Path
    digests: tuple[str, str, str]
    found: dict[Place, dict[str, Packed]]
    read: dict[str, Read]
    weighed: dict[Place, Weighed]

    def save(self) -> None:
        for name, content in zip(self.digests, (self.found, self.read, self.weighed), strict=True):
            unfinished = self.folder / f"{name}.unfinished"
            unfinished.write_bytes(pickle.dumps(content))
            unfinished.replace(self.folder / f"{name}.pickle")


def weigh_all(
    cases: Sequence[Case], homes: dict[str, Runtime], most_seconds: float, kept_in: str = "gate"
) -> list[Weighed]:
    """Every case through search, packing and weighing; after so many seconds those that are done: a fair sample.

    kept_in  the folder of what is kept: another one for other corpora of the same names
    """
    kept = _open_kept(homes, kept_in)
    began = time.perf_counter()
    shuffled = sorted(cases, key=lambda case: sha256(f"{case.question} {case.kind}".encode()).hexdigest())
    # What was found before is weighed first: that takes no time.
    places = {case: (case, homes[case.home].home.name) for case in cases}
    waiting = sorted(
        (case for case in shuffled if places[case] not in kept.weighed), key=lambda case: places[case] not in kept.found
    )
    for number, case in enumerate(waiting):
        if time.perf_counter() - began > most_seconds and places[case] not in kept.found:
            break
        kept.weighed[places[case]] = _weigh(homes[case.home], case, kept)
        if number % 100 == 99:
            print(f"{len(kept.weighed)} kept of {len(cases)}", file=sys.stderr, flush=True)
            kept.save()
    kept.save()
    return [kept.weighed[places[case]] for case in cases if places[case] in kept.weighed]


def _weigh(kb: Runtime, case: Case, kept: Kept) -> Weighed:
    read = kept.read.setdefault(case.question, Read())
    kb._read_for, kb._read = case.question, read.logits
    kb._sentences = read.vectors
    kb._last_query = None if read.query is None else (case.question, read.query)
    place = case, kb.home.name
    packed = kept.found.get(place)
    if packed is None:
        packed = {"hybrid": _find(kb, case, "hybrid", read=False), "lexical": _find(kb, case, "lexical", read=False)}
        if kb.reader_for(case.question):
            packed["read"] = _find(kb, case, "hybrid", read=True)
        kept.found[place] = packed
    signals = {name: _signals(kb, case, entry, read=name == "read") for name, entry in packed.items()}
    read.query = kb._last_query[1] if kb._last_query and kb._last_query[0] == case.question else read.query
    (hybrid, lacking), (lexical, _) = signals["hybrid"], signals["lexical"]
    with_reader, lacking = signals.get("read", (None, lacking))
    return Weighed(case, hybrid, lexical, with_reader, lacking)


def _find(kb: Runtime, case: Case, mode: SearchMode, *, read: bool) -> Packed:
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
    ids = [chunk.chunk_id for chunk in packed]
    cosines = question_cosines(kb, case.question, ids) if mode == "hybrid" and not found.note else {}
    return Packed(
        tuple((chunk_id, cosines.get(chunk_id)) for chunk_id in ids),
        tuple(i for i, _ in found.lexical),
        tuple(i for i, _ in found.vector),
        with_vectors=mode == "hybrid" and not found.note,
    )


def _signals(kb: Runtime, case: Case, packed: Packed, *, read: bool) -> tuple[Signals, tuple[tuple[str, ...], float]]:
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in packed.chunks])
    trace = SearchTrace(
        lexical=_rows([(i, 0.0) for i in packed.lexical]),
        vector=_rows([(i, 0.0) for i in packed.vector]),
        query_terms=(),
        filtered_documents=None,
        stage_ms={},
    )
    pairs = [(chunks[i], cosine) for i, cosine in packed.chunks]
    weighed = weigh_chunks(kb, case.question, pairs, trace, with_vectors=packed.with_vectors, with_reader=read)
    return weighed.signals, (weighed.lacking, weighed.lacking_share)


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


def _open_kept(homes: dict[str, Runtime], kept_in: str) -> Kept:
    some = next(iter(homes.values()))
    models = " ".join((some.stored_encoder()[1], *(reader.digest for reader in some.readers())))
    digests = (
        f"found-{_digest(models, FINDING)}",
        f"logits-{_digest(models, ())}",
        f"weighed-{_digest(models, WEIGHING)}",
    )
    folder = cache_folder(os.environ) / "eval" / kept_in
    folder.mkdir(parents=True, exist_ok=True)
    return Kept(folder, digests, *(_load(folder / f"{name}.pickle") for name in digests))


def _digest(models: str, covered: Sequence[str]) -> str:
    digest = sha256(models.encode())
    for place in covered:
        for path in sorted((ROOT / place).rglob("*.py")) if (ROOT / place).is_dir() else [ROOT / place]:
            if path.name not in NO_SIGNAL:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _load(path: Path) -> dict:  # type: ignore[type-arg]
    return pickle.loads(path.read_bytes()) if path.exists() else {}
