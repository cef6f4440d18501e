"""A search and what the reader has been shown → the evidence that is new to the reader."""

from __future__ import annotations

from kb.ask.records import AnswerNovelty, AskRequest
from kb.ask.stages import UnseenEvidence
from kb.context.shown_text import known_text_of
from kb.records import SearchTrace
from kb.runtime import Runtime
from kb.search.depth import CANDIDATES_PER_PASSAGE
from kb.search.novelty import count_request, is_redundant, penalize_until
from kb.search.show import or_warn


def compare_with_shown(kb: Runtime, trace: SearchTrace, request: AskRequest) -> UnseenEvidence | None:
    """What of a search the reader has not been shown; None where that is nothing, or, with a warning, where the
    comparison fails.

    trace  its whole ranking is looked at: new evidence may stand further down than the hits
    """
    known = known_text_of(kb, request.known_text, request.session_id, kb.notify)
    if known is None or known.is_empty:
        return None
    ranking = [(row.chunk_id, row.score) for row in trace.ranking]
    wanted = CANDIDATES_PER_PASSAGE * request.k
    penalized = or_warn(
        lambda: penalize_until(kb, ranking, wanted, known),
        "comparing the evidence with the seen text",
        kb.notify,
        kb.log,
    )
    if penalized is None:
        return None
    if not request.is_evaluation:
        count_request(kb, penalized.counts, request.question, request.session_id)
    repeated = frozenset(s.candidate_id for s in penalized.scored if is_redundant(s, kb.config.novelty))
    new = [i for i, _ in penalized.kept if i not in repeated][:wanted]
    chunks, scores = kb.corpus.fetch_chunks(new), dict(ranking)
    counts = penalized.counts
    return UnseenEvidence(
        ranked=[(chunks[i], scores[i]) for i in new if i in chunks],
        repeated=repeated,
        summary=AnswerNovelty(
            used="fresh",
            candidates=counts.candidates,
            novel=counts.novel,
            exact_duplicates=counts.exact_duplicates,
        ),
    )
