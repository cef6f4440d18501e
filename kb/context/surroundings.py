"""The world around a question → lines: the date and the corpus, the terminal it is asked at, what was done, how to begin."""

from __future__ import annotations

import os
import sys

from kb.context.node_input import NodeInput, news_since
from kb.context.question_subjects import asks_about
from kb.store.acts import read_acts

NEWS_DOCUMENTS = 5
ACTS = 10
# Answers before which a knowledge base counts as new.
NEW_ANSWERS = 1


def tell_world(given: NodeInput) -> list[str]:
    """The date, the corpus, and what was ingested lately."""
    if not given.speaks_freely and not asks_about(given.question, "time", "corpus"):
        return []
    last_turn = given.journal.measure_session(given.session_id)[1] if given.session_id else None
    count = given.corpus.count_documents()
    lines = [
        f"today is {given.now.astimezone().strftime('%A, %Y-%m-%d')}",
        f"the knowledge base holds {count} documents, revision {given.corpus.state().revision}",
    ]
    news = given.corpus.newest_documents(news_since(last_turn, given.now), NEWS_DOCUMENTS)
    return lines + [f"- ingested {indexed_at[:16].replace('T', ' ')} UTC: {path}" for path, indexed_at in news]


def tell_client(given: NodeInput) -> list[str]:
    """Where kb runs: folder, locale, terminal."""
    if not given.speaks_freely and not asks_about(given.question, "here"):
        return []
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = "gone"
    spoken = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or "not set"
    terminal = os.environ.get("TERM", "unknown") if sys.stdout.isatty() else "none, output goes to a pipe or file"
    return [f"folder: {folder}", f"locale: {spoken}", f"terminal: {terminal}"]


def tell_acts(given: NodeInput) -> list[str]:
    """The newest kb commands on this home, newest first."""
    if not given.speaks_freely and not asks_about(given.question, "commands"):
        return []
    acts = read_acts(given.home)
    return [
        f"- {act.done_at[:16].replace('T', ' ')} UTC kb {act.command}"
        + ("" if act.exit_code == 0 else f" (exit {act.exit_code})")
        for act in reversed(acts[-ACTS:])
    ]


def tell_beginning(given: NodeInput) -> list[str]:
    """How to begin, for a knowledge base without documents, or one that nobody has asked yet."""
    if not given.corpus.has_documents():
        return ["the knowledge base is empty; kb ingest FOLDER fills it"]
    asked = given.journal.count_answers(NEW_ANSWERS)
    if not given.speaks_freely or asked >= NEW_ANSWERS:
        return []
    return ["this is the first question to this knowledge base; kb open PLACE opens what an answer cites"]
