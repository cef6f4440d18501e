"""Chunks and a query → the axes of each and its context stability score, from the store, the vectors and the word index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kb.config import CswrConfig, CswrWeightsConfig
from kb.errors import KbError
from kb.frozen import dataclass
from kb.index.protocol import LexicalStatistics
from kb.packing.decompose import decompose
from kb.packing.fit import Question, detect_domain, fit_scorer
from kb.packing.stability import (
    Axes,
    Beside,
    Weights,
    combine_axes,
    drift_penalty,
    local_stability,
    neighbour_share,
    project_coherence,
    raw_drift,
    thresholds_in_force,
    vector_scores,
)
from kb.records import ChunkAxes, StabilityTrace
from kb.runtime import Runtime
from kb.store.neighbours import (
    Neighbour,
    PassageText,
)
from kb.text import analyze

if TYPE_CHECKING:
    from kb.arrays import DoubleVector, FloatVector

AXES = ("vector", "stability", "fit", "drift", "coherence")
# How many of the nearest chunks the coherence by neighbours counts.
NEAREST = 5
# A capitalized word is a name of the knowledge base when so many chunks hold it.
FREQUENT_NAME_CHUNKS = 2


@dataclass(frozen=True, slots=True)
class ContextScores:
    """The scores of some chunks for one query.

    threshold  stability below it is counted as drift
    absent     axes that could not be computed: their weight is with the others
    rows       by chunk_id; a chunk that is not there any more is left out
    texts      what the rows were read from
    """

    question: Question
    domain: str
    threshold: float
    absent: tuple[str, ...]
    rows: Mapping[int, ChunkAxes]
    texts: Mapping[int, PassageText]

    def trace(self, chunk_ids: Sequence[int]) -> StabilityTrace:
        """The scores of these chunks, in this order, with what they were scored by."""
        return StabilityTrace(
            intent=self.question.intent,
            shape=self.question.shape,
            entities=self.question.entities,
            facts=self.question.facts,
            domain=self.domain,
            threshold=self.threshold,
            absent=self.absent,
            chunks=tuple(self.rows[i] for i in chunk_ids if i in self.rows),
        )


def score_chunks(
    kb: Runtime,
    query: str,
    chunk_ids: Iterable[int],
    query_vector: FloatVector | None,
    pool: Mapping[int, FloatVector],
    question: Question | None = None,
) -> ContextScores:
    """Score chunks by all axes.

    query_vector  None where the query was not searched by meaning: the axes that need vectors are then absent
    pool          vectors that are at hand; those that are not are read
    question      what the query asks, where that is known
    """
    config = kb.config.cswr
    texts = kb.corpus.neighbours.passage_texts(chunk_ids)
    ids = sorted(texts)
    question = question or decompose(query, lambda names: known_names(kb, names))
    domain = detect_domain(query)
    threshold = thresholds_of(kb, config)[domain]
    score_fit = fit_scorer(question)
    axes, neighbours = _axes(kb, ids, [score_fit(texts[i].text) for i in ids], query_vector, pool, threshold)
    scores = combine_axes(axes, _weights(kb.config.cswr_weights))
    columns = {name: getattr(axes, name) for name in AXES}
    rows = _rows(ids, scores, columns, neighbours)
    absent = tuple(name for name, column in columns.items() if column is None)
    return ContextScores(question, domain, threshold, absent, rows, texts)


def _rows(
    ids: Sequence[int],
    scores: DoubleVector,
    columns: Mapping[str, DoubleVector | None],
    neighbours: Mapping[int, Neighbour],
) -> dict[int, ChunkAxes]:
    nothing = [None] * len(ids)
    listed: dict[str, Any] = {
        name: nothing if column is None else column.round(6).tolist() for name, column in columns.items()
    }
    rows = {}
    for i, (chunk_id, csw) in enumerate(zip(ids, scores.round(6).tolist(), strict=True)):
        near = neighbours.get(chunk_id)
        rows[chunk_id] = ChunkAxes(
            chunk_id=chunk_id,
            csw=csw,
            before=near.before if near else None,
            after=near.after if near else None,
            **{name: values[i] for name, values in listed.items()},
        )
    return rows


def _axes(
    kb: Runtime,
    ids: Sequence[int],
    fits: Sequence[float],
    query_vector: FloatVector | None,
    pool: Mapping[int, FloatVector],
    threshold: float,
) -> tuple[Axes, dict[int, Neighbour]]:
    import numpy as np

    fit = np.array(fits, dtype=np.float64)
    if query_vector is None or not ids:
        return Axes(None, None, fit, None, None), {}
    vectors = {**pool, **kb.stored_vectors([i for i in ids if i not in pool])}
    nothing = np.zeros_like(query_vector)
    matrix = np.stack([vectors.get(i, nothing) for i in ids]).astype(np.float64)
    digest = kb.stored_encoder()[1]
    neighbours = kb.corpus.neighbours.neighbours_of(digest, ids)
    beside = _beside([neighbours.get(i) for i in ids])
    stability = local_stability(beside)
    axes = Axes(
        vector=vector_scores(matrix @ query_vector.astype(np.float64)),
        stability=stability,
        fit=fit,
        drift=drift_penalty(raw_drift(beside), stability, threshold),
        coherence=_coherence(kb, digest, matrix, [neighbours.get(i) for i in ids]),
    )
    return axes, neighbours


def _beside(neighbours: Sequence[Neighbour | None]) -> Beside:
    import numpy as np

    def cosines(values: Iterable[float | None]) -> DoubleVector:
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    return Beside(
        cosines(n.before if n else None for n in neighbours),
        cosines(n.after if n else None for n in neighbours),
        np.array([n.position if n else 0 for n in neighbours], dtype=np.int64),
        np.array([n.chunk_count if n else 0 for n in neighbours], dtype=np.int64),
    )


def _coherence(
    kb: Runtime, digest: str, matrix: DoubleVector, neighbours: Sequence[Neighbour | None]
) -> DoubleVector | None:
    """Each chunk against the rest of its project; None where there are several that have not been summed up yet."""
    import numpy as np

    projects = kb.corpus.neighbours.read_projects(digest)
    if not projects:
        is_one = len({n.project for n in neighbours if n}) < 2 and not kb.corpus.neighbours.has_several_projects()
        return np.ones(len(matrix)) if is_one else None
    if kb.config.cswr.coherence == "neighbours" and len(projects) > 1:
        return _shares(kb, digest, matrix, neighbours)
    cosines = np.full(len(matrix), np.nan)
    members: dict[tuple[str, str], list[int]] = {}
    for i, near in enumerate(neighbours if len(projects) > 1 else ()):
        if near:
            members.setdefault(near.project if near.project in projects else (near.project[0], ""), []).append(i)
    for key, rows in members.items():
        project = projects.get(key)
        if project and project.chunk_count > 1:
            own = matrix[rows]
            rest = project.vector_sum - own
            lengths = np.sqrt(np.einsum("nd,nd->n", rest, rest) * np.einsum("nd,nd->n", own, own))
            cosines[rows] = np.einsum("nd,nd->n", rest, own) / (lengths + 1e-9)
    return project_coherence(cosines, len(projects))


def _shares(kb: Runtime, digest: str, matrix: DoubleVector, neighbours: Sequence[Neighbour | None]) -> DoubleVector:
    """Of each chunk, the share of the NEAREST chunks that are of its project: a vector search each, .2 ms."""
    import numpy as np

    index = kb.vector_index()
    found = [[i for i, _ in index.search(row.astype(np.float32), NEAREST + 1)] for row in matrix]
    known = kb.corpus.neighbours.neighbours_of(digest, list({i for near in found for i in near}))
    shares = []
    for own, near in zip(neighbours, found, strict=True):
        # The chunk itself is its own nearest; where a twin comes before it, the last one is as good to leave out.
        others = [known[i].project for i in near if i in known and (own is None or i != own.chunk_id)][:NEAREST]
        shares.append(neighbour_share(own.project, others) if own else 0.0)
    return np.array(shares)


def known_names(kb: Runtime, names: Sequence[str]) -> set[str]:
    """Those of the names that this knowledge base has: in a title, among the headings of a chunk, as a tag; names that
    look like one (a capital letter, a digit, an identifier) also when several texts hold them.
    """
    try:
        index = kb.lexical_index()
    except KbError:  # explaining a vector search must not fail for want of the other index
        return set()
    tags = kb.corpus.neighbours.known_tags([name.casefold() for name in names])
    terms_of = {name: terms for name in names if (terms := tuple(dict.fromkeys(analyze(name))))}
    statistics = index.statistics([term for terms in terms_of.values() for term in terms], terms_of.values())
    found = set()
    for name, terms in terms_of.items():
        has_look = name != name.lower() or any(c.isdigit() or c in "._" for c in name)
        if (
            name.casefold() in tags
            or any(statistics.together[field][terms] for field in ("headings", "title"))
            or (has_look and " " not in name and is_frequent(statistics, terms, FREQUENT_NAME_CHUNKS))
        ):
            found.add(name)
    return found


def is_frequent(statistics: LexicalStatistics, terms: Sequence[str], least: int) -> bool:
    """True when so many texts hold each of these terms."""
    return bool(terms) and all(statistics.holding["text"][term] >= least for term in terms)


def thresholds_of(kb: Runtime, config: CswrConfig) -> dict[str, float]:
    """Each domain's stability threshold: what `kb expert recalibrate` found, else what is configured."""
    return thresholds_in_force(configured_thresholds(config), kb.journal.read_thresholds())


def configured_thresholds(config: CswrConfig) -> dict[str, float]:
    """Each domain's stability threshold by [cswr]."""
    return {"general": config.threshold_general, "tech": config.threshold_tech, "code": config.threshold_code}


def _weights(config: CswrWeightsConfig) -> Weights:
    return Weights(config.vector, config.stability, config.fit, config.drift, config.coherence)
