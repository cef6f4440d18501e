"""Evidence that the reader has been shown, and evidence that is new to the reader → which of them answers.

The prompt of an answer does not hold the window, so novelty must never cost the answer: what was shown already is used
again where what is new says less (kb/ask/judge.py), and then the answer says so. A question that asks for more gets new
evidence or none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kb.ask.records import AnswerNovelty, AskRequest
from kb.language.registry import LANGUAGES, says
from kb.records import Chunk
from kb.runtime import Runtime

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


def carries_the_answer(fresh: float, everything: float, gate: float, *, wants_more: bool) -> bool:
    """Whether new evidence is good enough to answer from alone.

    fresh, everything  the evidence gate's probabilities of the new evidence, and of all of it
    gate               what it asks for

    >>> carries_the_answer(0.82, 0.81, 0.15, wants_more=False), carries_the_answer(0.4, 0.9, 0.15, wants_more=False)
    (True, False)
    >>> carries_the_answer(0.4, 0.9, 0.15, wants_more=True)
    True
    """
    return fresh >= gate and (wants_more or fresh >= everything - MARGIN)


def shown_in(kb: Runtime, request: AskRequest, repeated: Sequence[Chunk]) -> tuple[str, ...]:
    """Trace ids of the session's answers that showed these chunks, in the chunks' order, each once."""
    if request.session_id is None:
        return ()
    everything = kb.journal.shown_in_session(request.session_id, kb.corpus.fetch_chunks)
    ids = (shown.trace_id for chunk in repeated for shown in everything if chunk.text.strip() in shown.text)
    return tuple(dict.fromkeys(ids))


def shown_before_note(novelty: AnswerNovelty, numbers: Mapping[str, int]) -> str:
    """What a reader is told of an answer from evidence that was shown before.

    numbers  the short names of answers, by trace id
    """
    if novelty.shown_in:
        number = numbers.get(novelty.shown_in[0])
        where = f", in answer {number}" if number else ", in an answer of this session"
    else:
        where = ": you named it with --seen"
    return f"note: the evidence was shown before{where}"
