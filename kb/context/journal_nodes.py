"""The journal → lines: this session's turns, earlier ones like this, facts, the topic, how long the user was away, commands."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from kb.context.node_input import NodeInput, quote
from kb.context.question_subjects import asks_about, refers_back
from kb.language.manner import tidy
from kb.language.registry import with_translations
from kb.relevance.signals import RETURNING_AFTER_SECONDS, content_words, measure_silence
from kb.store.acts import read_acts
from kb.store.memories import Memory
from kb.store.sessions import Turn

# Turns of a session that are read; more than fit beside the evidence.
TURNS = 6
# Facts that are offered to the budget, the fitting ones first.
FACTS = 20
# Earlier answers that are offered; each takes about 100 tokens.
EPISODES = 5
# Commands that are listed.
ACTS = 10
TOPIC_WORDS = 6
TOPIC_DOCUMENTS = 3


def lines_of_turns(given: NodeInput) -> list[str]:
    """This session's turns, newest first."""
    if given.session_id is None:
        return []
    turns = given.journal.session_turns(given.session_id, TURNS)
    return [_turn_line(turn) for turn in reversed(turns)]


def lines_of_episodes(given: NodeInput) -> list[str]:
    """Similar questions of other sessions with their answers, best first."""
    if not given.gives_all and not refers_back(given.question):
        return []
    return [
        _turn_line(turn)
        for turn in given.journal.like_turns(given.question, given.session_id, EPISODES)
        if turn.question != given.question
    ]


def lines_of_facts(given: NodeInput) -> list[str]:
    """Facts that share a word with the question, best first; in a session the newest others after them."""
    found = given.journal.find_memories(with_translations(given.question), given.session_id, FACTS)
    if given.gives_all:
        found += given.journal.recent_memories(given.session_id, FACTS)
    return [fact_line(fact) for fact in dict.fromkeys(found)]


def lines_of_focus(given: NodeInput) -> list[str]:
    """The topic of the session: its words, newer ones weigh more, its documents and their project."""
    if given.session_id is None:
        return []
    turns = given.journal.session_turns(given.session_id, TURNS)
    words: Counter[str] = Counter()
    for age, turn in enumerate(reversed(turns)):
        for word in dict.fromkeys(content_words(tidy(turn.question))):
            words[word] += 2 * TURNS - age
    cited = [chunk_id for turn in reversed(turns) for chunk_id in turn.cited_chunk_ids]
    places = list(dict.fromkeys(given.corpus.places_of(cited[:50])))
    lines = []
    if words:
        lines.append("topic: " + ", ".join(sorted(words, key=lambda w: (-words[w], w))[:TOPIC_WORDS]))
    if places:
        project, path = places[0]
        lines.append(f"project: {project}" + (f"/{path.split('/')[0]}" if "/" in path else ""))
        lines.append("documents: " + ", ".join(path for _, path in places[:TOPIC_DOCUMENTS]))
    return lines


def lines_of_return(given: NodeInput) -> list[str]:
    """How long the user was away, and the last question; nothing while the session goes on."""
    if given.session_id is None:
        return []
    turns = given.journal.session_turns(given.session_id, 1)
    silence = measure_silence(turns[-1].created_at, given.now) if turns else None
    if silence is None or silence < RETURNING_AFTER_SECONDS:
        return []
    return [f"the user comes back after {_ago(silence)}; the last question was: {quote(turns[-1].question)}"]


def lines_of_acts(given: NodeInput) -> list[str]:
    """The newest kb commands on this home, newest first."""
    if not given.gives_all and not asks_about(given.question, "commands"):
        return []
    acts = read_acts(given.home)
    return [
        f"- {act.done_at[:16].replace('T', ' ')} UTC kb {act.command}"
        + ("" if act.exit_code == 0 else f" (exit {act.exit_code})")
        for act in reversed(acts[-ACTS:])
    ]


def fact_line(fact: Memory) -> str:
    """A fact with its number and date."""
    return f"- (fact {fact.fact_id}, {fact.created_at[:10]}) {fact.text}"


def _turn_line(turn: Turn) -> str:
    answered = quote(turn.answer) if turn.refusal_reason is None else "no answer in the documents"
    return f"- {turn.created_at[:16].replace('T', ' ')} asked: {quote(turn.question)} | answered: {answered}"


def _ago(seconds: float) -> str:
    """A duration in its largest unit.

    >>> _ago(7300.0), _ago(90.0)
    ('2 hours', '1 minute')
    """
    for unit, size in (
        ("day", timedelta(days=1)),
        ("hour", timedelta(hours=1)),
        ("minute", timedelta(minutes=1)),
    ):
        count = int(seconds // size.total_seconds())
        if count:
            return f"{count} {unit}" + ("s" if count > 1 else "")
    return "a moment"
