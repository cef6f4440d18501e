"""Evidence and what the reader has been shown → the evidence to answer from: what is new first, if it carries the answer.

The prompt of an answer does not hold the window, so pressure must never cost the answer: what was shown already is used
again where what is new says less, and then the answer says so. A question that asks for more gets new evidence or none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kb.ask.choose import CANDIDATES_PER_PASSAGE
from kb.ask.pack import pack_chunks
from kb.ask.records import AnswerNovelty, AskRequest
from kb.ask.weigh import weigh_evidence
from kb.context.shown_text import known_text_of
from kb.knowledge_base import KnowledgeBase
from kb.language.registry import LANGUAGES, says
from kb.records import Chunk, SearchResponse
from kb.search.novelty import Counts, count_request, is_redundant, or_warn, penalize_until

if TYPE_CHECKING:
    from kb.ask.progress import Progress

Ranked = Sequence[tuple[Chunk, float]]

# New evidence is taken when the gate finds it at most so much less likely to answer than all of it. Of 139 questions asked
# again after their own evidence was shown, 0 loses 1 and wins 5, .02 loses 2, .1 4, .2 8, and the gate alone 75
# (benchmarks/novelty_context.py --only sessions).
MARGIN = 0.0
NOTHING_NEW = {code: language.replies["nothing_new"] for code, language in LANGUAGES.items()}


@dataclass(frozen=True, slots=True)
class Fresh:
    """The candidates of an ask held against what the reader has.

    ranked  those that do not mostly repeat it, with their scores in the search, best adjusted score first
    stale   chunk_id of each that does
    """

    ranked: Ranked
    stale: frozenset[int]
    counts: Counts


def asks_for_more(question: str) -> bool:
    """True when a question wants what was not said yet: "what else …", "또 다른 …".

    >>> asks_for_more("What else is in the logbook?"), asks_for_more("그 밖에 무엇이 있나요?"), asks_for_more("Who else's?")
    (True, True, True)
    >>> asks_for_more("What is the mirror made of?")
    False
    """
    return says("asks_more", question, re.IGNORECASE)


def hold_against_shown(kb: KnowledgeBase, response: SearchResponse, request: AskRequest) -> Fresh | None:
    """What of a search the reader has not been shown; None without a window, or, with a warning, where that fails.

    response  with its trace: new evidence may stand farther down than the hits
    """
    assert response.trace is not None
    window = known_text_of(kb, request.window, request.session_id, kb.notify)
    if window is None or window.is_empty:
        return None
    ranking = [(row.chunk_id, row.score) for row in response.trace.ranking]
    wanted = CANDIDATES_PER_PASSAGE * request.k
    penalized = or_warn(
        lambda: penalize_until(kb, ranking, wanted, window),
        "comparing the evidence with the seen text",
        kb.notify,
        kb.log,
    )
    if penalized is None:
        return None
    if not request.is_evaluation:
        count_request(kb, penalized.counts)
    stale = frozenset(s.candidate_id for s in penalized.scored if is_redundant(s, kb.config.novelty))
    new = [i for i, _ in penalized.kept if i not in stale][:wanted]
    chunks, scores = kb.corpus.fetch_chunks(new), dict(ranking)
    ranked = [(chunks[i], scores[i]) for i in new if i in chunks]
    return Fresh(ranked, stale, penalized.counts)


def prefer_fresh(kb: KnowledgeBase, progress: Progress, fence: str) -> bool:
    """Go on with the new evidence where it passes the gate and is not weaker than all of it; else with all, saying so.

    fence    as evidence is packed with
    returns  True when more was asked for and nothing new answers: the ask ends here
    """
    fresh, request, everything = progress.fresh, progress.request, progress.verdict
    assert fresh is not None
    assert everything is not None
    wants_more = asks_for_more(request.question)
    repeated = [chunk for chunk, _ in progress.ranked if chunk.chunk_id in fresh.stale]
    if not repeated:
        progress.novelty = _novelty(fresh, "fresh")
        return False
    verdict = None
    if fresh.ranked:
        packed = pack_chunks(fresh.ranked[: request.k], kb.config.rag.max_context_tokens, fence)
        verdict = weigh_evidence(kb, request, progress.response, [p.chunk for p in packed])
    if verdict and carries_the_answer(
        verdict.score.probability, everything.score.probability, kb.config.rag.evidence_gate, wants_more=wants_more
    ):
        progress.novelty = _novelty(fresh, "fresh")
    elif wants_more:
        progress.novelty = _novelty(fresh, "none")
    else:
        progress.novelty = _novelty(fresh, "all", _shown_in(kb, request, repeated))
        if not request.is_evaluation:
            kb.notify(shown_before_note(progress.novelty))
        return False
    progress.ranked, progress.candidates = list(fresh.ranked[: request.k]), fresh.ranked if progress.candidates else ()
    progress.verdict = verdict
    return progress.novelty.used == "none"


def carries_the_answer(fresh: float, everything: float, gate: float, *, wants_more: bool) -> bool:
    """Whether new evidence is good enough to answer from alone.

    fresh, everything  the evidence gate's probabilities of the new evidence, and of all of it
    gate               what it asks for

    >>> carries_the_answer(0.8, 0.81, 0.15, wants_more=False), carries_the_answer(0.4, 0.9, 0.15, wants_more=False)
    (True, False)
    >>> carries_the_answer(0.4, 0.9, 0.15, wants_more=True)
    True
    """
    return fresh >= gate and (wants_more or fresh >= everything - MARGIN)


def _shown_in(kb: KnowledgeBase, request: AskRequest, repeated: Sequence[Chunk]) -> tuple[str, ...]:
    """Trace ids of the session's answers that showed these chunks, in the chunks' order, each once."""
    if request.session_id is None:
        return ()
    everything = kb.journal.shown_in_session(request.session_id, kb.corpus.fetch_chunks)
    ids = (shown.trace_id for chunk in repeated for shown in everything if chunk.text.strip() in shown.text)
    return tuple(dict.fromkeys(ids))


def _novelty(fresh: Fresh, used: Literal["fresh", "all", "none"], shown_in: tuple[str, ...] = ()) -> AnswerNovelty:
    return AnswerNovelty(
        used=used,
        candidates=fresh.counts.candidates,
        novel=fresh.counts.novel,
        exact_duplicates=fresh.counts.exact_duplicates,
        shown_in=shown_in,
    )


def shown_before_note(novelty: AnswerNovelty) -> str:
    """What a reader is told of an answer from evidence that was shown before."""
    where = f", in answer {novelty.shown_in[0]}" if novelty.shown_in else ": you named it with --seen"
    return f"note: the evidence was shown before{where}"
