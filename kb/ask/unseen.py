"""A search and what the reader has been shown → the evidence that is new to the reader.

The prompt of an answer does not hold the window, so novelty must never cost the answer: what was shown already is used
again where what is new says less (kb/ask/judge.py), and then the answer says so. A question that asks for more gets new
evidence or none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.ask.choose import CANDIDATES_PER_PASSAGE
from kb.ask.records import AnswerNovelty, AskRequest
from kb.ask.stages import UnseenEvidence
from kb.context.session import window_of
from kb.knowledge_base import KnowledgeBase
from kb.language.registry import LANGUAGES, says
from kb.records import Chunk, SearchTrace
from kb.search.novelty import count_request, is_echo, or_warn, press_until

# New evidence is taken when the gate finds it at most so much less likely to answer than all of it. Of 139 questions asked
# again after their own evidence was shown, 0 loses 1 and wins 5, .02 loses 2, .1 4, .2 8, and the gate alone 75
# (benchmarks/novelty_context.py --only sessions).
MARGIN = 0.0
NOTHING_NEW = {code: language.replies["nothing_new"] for code, language in LANGUAGES.items()}


def asks_for_more(question: str) -> bool:
    """True when a question wants what was not said yet: "what else …", "또 다른 …".

    >>> asks_for_more("What else is in the logbook?"), asks_for_more("그 밖에 무엇이 있나요?"), asks_for_more("Who else's?")
    (True, True, True)
    >>> asks_for_more("What is the mirror made of?")
    False
    """
    return says("asks_more", question, re.IGNORECASE)


def compare_with_shown(kb: KnowledgeBase, trace: SearchTrace, request: AskRequest) -> UnseenEvidence | None:
    """What of a search the reader has not been shown; None without a window and outside a session, for a replay, or, with
    a warning, where the comparison fails.

    trace  its whole ranking is looked at: new evidence may stand further down than the hits
    """
    if request.replay_of is not None or (request.window is None and request.session_id is None):
        return None
    window = window_of(kb, request.window, request.session_id, kb.notify)
    if window is None or window.is_empty:
        return None
    ranking = [(row.chunk_id, row.score) for row in trace.ranking]
    wanted = CANDIDATES_PER_PASSAGE * request.k
    pressed = or_warn(
        lambda: press_until(kb, ranking, wanted, window), "holding the evidence against the window", kb.notify
    )
    if pressed is None:
        return None
    if not request.is_evaluation:
        count_request(kb, pressed.counts)
    repeated = frozenset(int(s.candidate_id) for s in pressed.scored if is_echo(s, kb.config.novelty))
    new = [int(i) for i, _ in pressed.kept if int(i) not in repeated][:wanted]
    chunks, scores = kb.corpus.fetch_chunks(new), dict(ranking)
    counts = pressed.counts
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


def shown_in(kb: KnowledgeBase, request: AskRequest, repeated: Sequence[Chunk]) -> tuple[str, ...]:
    """Trace ids of the session's answers that showed these chunks, in the chunks' order, each once."""
    if request.session_id is None:
        return ()
    everything = kb.journal.shown_in_session(request.session_id, kb.corpus.fetch_chunks)
    ids = (shown.trace_id for chunk in repeated for shown in everything if chunk.text.strip() in shown.text)
    return tuple(dict.fromkeys(ids))


def shown_before_note(novelty: AnswerNovelty) -> str:
    """What a reader is told of an answer from evidence that was shown before."""
    where = f", in answer {novelty.shown_in[0]}" if novelty.shown_in else ": it is in the window"
    return f"note: the evidence was shown before{where}"
