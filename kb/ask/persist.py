"""An answer → its row in the store, refusals included. Written before anything is shown as final."""

from __future__ import annotations

import time

from kb.ask.answer_row import to_row
from kb.ask.records import Answer
from kb.ask.stages import Ended
from kb.ask.stored import keep_prompt
from kb.knowledge_base import KnowledgeBase
from kb.store.answers import time_text
from kb.store.episodes import EpisodeRow
from kb.store.filters import SECONDS_PER_DAY
from kb.store.store import Store


def save(kb: KnowledgeBase, answer: Answer, ended: Ended) -> None:
    """Write the row; opens the store for writing just for this, so that asking never holds up an ingest.

    The context nodes that had something to say are measured, and kept with a prompt.
    """
    spoken = [text for text in ended.nodes if text.text]
    kept = keep_prompt(ended.packed, ended.prompt, spoken)
    row = to_row(answer, ended, kept)
    episode = _episode(kb, answer, ended)
    history = kb.config.history
    days = history.keep_days
    oldest_kept = time_text(time.time_ns() - days * SECONDS_PER_DAY * 10**9) if days else None
    with Store(kb.home, write=True) as store:
        store.journal.save_answer(row, kept.texts)
        if spoken:
            store.journal.add_measurements({text.node: text.tokens for text in spoken})
        if episode:
            store.journal.save_episode(episode, kb.config.cswr.keep_episodes)
        if days or history.keep_answers:
            store.journal.prune_answers(history.keep_answers, oldest_kept)


def _episode(kb: KnowledgeBase, answer: Answer, ended: Ended) -> EpisodeRow | None:
    """What the log for recalibration keeps of an answer; None where it is off, or nothing was scored."""
    response = ended.findings.response
    if not kb.config.cswr.keep_episodes or response is None or response.trace is None:
        return None
    # Imported here: it brings the scoring of context stability, which is off by default.
    from kb.ask.episode import make_episode

    return make_episode(kb, answer, ended.packed, response)
