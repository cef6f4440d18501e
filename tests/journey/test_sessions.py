"""Sessions as stored answers tell them: turns with what they packed and cited, replays left out."""

from __future__ import annotations

from pathlib import Path

from kb.store.database import open_for_reading
from kb.store.sessions import NEWEST_ANSWERS, like_turns, list_sessions, measure_session, session_turns
from tests.journey.conftest import Call

MIRROR = "How often must the mirror of Marigold be cleaned?"
LEXICAL = ("--mode", "lexical")


def test_turns_of_a_session(kb: Call, corpus_home: Path) -> None:
    kb("ask", MIRROR, "--session", "s", *LEXICAL, home=corpus_home)
    kb("ask", "Is zzyzx qwfp?", "--session", "s", *LEXICAL, home=corpus_home)
    kb("ask", "Hey!", "--session", "other", home=corpus_home)
    kb("ask", MIRROR, *LEXICAL, home=corpus_home)
    with open_for_reading(corpus_home) as connection:
        first, second = session_turns(connection, "s")
        assert kb("answers", "replay", first.trace_id, home=corpus_home).code == 0
        assert session_turns(connection, "s") == (first, second), "a replay is no turn"
        assert (first.question, first.grounded, first.refusal_reason, first.rests_on) == (MIRROR, True, None, ())
        assert "The mirror must be cleaned every 14 days. " in first.answer
        assert set(first.cited_chunk_ids) <= set(first.packed_chunk_ids)
        assert first.cited_chunk_ids
        assert (second.grounded, second.refusal_reason, second.packed_chunk_ids) == (False, "no_chunks", ())
        assert session_turns(connection, "s", 1) == (second,)
        assert session_turns(connection, "nowhere") == ()
        assert measure_session(connection, "s") == (2, second.created_at)
        assert measure_session(connection, "nowhere") == (0, None)
        assert {(s.session_id, s.turns) for s in list_sessions(connection)} == {("s", 2), ("other", 1)}


def test_earlier_turns_like_a_question(kb: Call, corpus_home: Path) -> None:
    kb("ask", MIRROR, "--session", "s", *LEXICAL, home=corpus_home)
    kb("ask", MIRROR, *LEXICAL, home=corpus_home)
    kb("ask", "zzyzx mirror?", "--session", "s", *LEXICAL, "--path", "nowhere/*", home=corpus_home)
    kb("ask", "Hey!", home=corpus_home)
    with open_for_reading(corpus_home) as connection:
        assert [turn.question for turn in like_turns(connection, "mirrors cleaned", None, 5)] == [MIRROR, MIRROR]
        assert len(like_turns(connection, "mirrors cleaned", "s", 5)) == 1, "not those of the session itself"
        assert len(like_turns(connection, "mirrors cleaned", None, 1)) == 1
        assert like_turns(connection, "hey", None, 5) == ()
        assert like_turns(connection, "?!", None, 5) == ()
    assert NEWEST_ANSWERS > 4
