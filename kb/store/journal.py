"""The door to the user's own history: answers, sessions, facts (`memories`), and measurements.

No foreign key leads from here to the corpus: the places and chunk ids in an answer may no longer exist. The history stays
with the user, wherever the corpus is. Each method is a function of the module named beside it, with the connection left out.
"""

from __future__ import annotations

from kb.store import answers, episodes, memories, node_tokens, sessions, shown
from kb.store.door import Rows, method


class Journal(Rows):
    """What one user asked and told kb, and the answers."""

    # answers
    save_answer = method(answers.save_answer)
    find_answer = method(answers.find_answer)
    answer_numbers = method(answers.answer_numbers)
    list_answers = method(answers.list_answers)
    each_answer = method(answers.each_answer)
    trace_ids_of = method(answers.trace_ids_of)
    count_answers = method(answers.count_answers)
    answers_bytes = method(answers.answers_bytes)
    count_answers_with = method(answers.count_answers_with)
    packed_texts = method(answers.packed_texts)
    remove_answers = method(answers.remove_answers)
    prune_answers = method(answers.prune_answers)

    # sessions
    list_sessions = method(sessions.list_sessions)
    last_session = method(sessions.last_session)
    session_names = method(sessions.session_names)
    session_turns = method(sessions.session_turns)
    measure_session = method(sessions.measure_session)
    count_topic_turns = method(sessions.count_topic_turns)
    trace_ids_of_session = method(sessions.trace_ids_of_session)
    like_turns = method(sessions.like_turns)
    shift_session = method(sessions.shift_session)
    shown_in_session = method(shown.shown_in_session)

    # memories: what the user told kb
    add_memory = method(memories.add_memory)
    forget = method(memories.forget)
    remove_memories = method(memories.remove_memories)
    list_memories = method(memories.list_memories)
    count_memories = method(memories.count_memories)
    recent_memories = method(memories.recent_memories)
    find_memories = method(memories.find_memories)

    # measurements
    fetch_averages = method(node_tokens.fetch_averages)
    add_measurements = method(node_tokens.add_measurements)
    save_episode = method(episodes.save_episode)
    count_episodes = method(episodes.count_episodes)
    logged_stabilities = method(episodes.logged_stabilities)
    save_thresholds = method(episodes.save_thresholds)
    forget_thresholds = method(episodes.forget_thresholds)
    threshold_rows = method(episodes.threshold_rows)
    read_thresholds = method(episodes.read_thresholds)
