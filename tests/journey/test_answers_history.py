"""kb answers list --search, replay, rm, export: the history of answers, on a real home."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kb.ask.stored import text_hash
from kb.store.answers import AnswerQuery, AnswerRow, list_answers, packed_texts, remove_answers, save_answer
from kb.store.database import open_for_reading, open_for_writing
from kb.store.records import compress
from tests.journey.conftest import ROOT, Call, call_aside
from tests.journey.ollama import CITED, QUESTION, use
from tests.llm.recorded_server import RecordedServer, answer, error
from tests.schemas import check_wire

KOREAN = "마리골드 거울은 며칠마다 청소해야 하나요?"
LEXICAL = ("--mode", "lexical")


@pytest.fixture(scope="module")
def asked_master(tmp_path_factory: pytest.TempPathFactory, corpus_master: Path, encoder_cache: Path) -> Path:
    """A home with three answers: grounded, grounded in Korean, refused; never written to."""
    folder = tmp_path_factory.mktemp("asked")
    home = folder / "home"
    shutil.copytree(corpus_master, home)
    for number, question in enumerate((QUESTION, KOREAN, "zzyzx?")):
        call_aside(["ask", question, *LEXICAL, "--home", home], folder / f"cache{number}", encoder_cache)
    return home


@pytest.fixture
def asked_home(asked_master: Path, tmp_path: Path) -> Path:
    """A copy of it, for a test to do with as it likes."""
    home = tmp_path / "home"
    shutil.copytree(asked_master, home)
    return home


def rows(home: Path, query: AnswerQuery | None = None) -> list[AnswerRow]:
    connection = open_for_reading(home)
    try:
        return list_answers(connection, 1000, query)
    finally:
        connection.close()


def values(home: Path, sql: str) -> list[Any]:
    connection = sqlite3.connect(home / "kb.sqlite")
    try:
        return [row[0] for row in connection.execute(sql)]
    finally:
        connection.close()


class TestList:
    @pytest.mark.parametrize(
        ("options", "questions"),
        [
            (["--search", "mirrors cleaning"], [QUESTION]),
            (["--search", "거울"], [KOREAN]),
            (["--search", "14일"], [KOREAN]),
            (["--search", "ZZYZX"], ["zzyzx?"]),
            (["--search", "mirror nonsense"], []),
            (["--search", '"*) OR (NEAR'], []),
            (["--refused"], ["zzyzx?"]),
            (["--grounded"], [KOREAN, QUESTION]),
            (["--grounded", "-n", "1"], [KOREAN]),
            (["--since", "2020-01-01", "--until", "2999-01-01"], ["zzyzx?", KOREAN, QUESTION]),
            (["--since", "2999-01-01"], []),
            (["--until", "2020-01-01"], []),
        ],
    )
    def test_what_is_listed(self, kb: Call, asked_home: Path, options: list[str], questions: list[str]) -> None:
        result = kb("answers", "list", *options, "--json", home=asked_home)
        check_wire(result.json(), "answer_list.v1")
        assert [row["question"] for row in result.json()["answers"]] == questions
        assert result.code == (0 if questions else 1)

    @pytest.mark.parametrize(
        "options", [["--since", "soon"], ["--refused", "--grounded"], ["--search", "?!"], ["--search", ""]]
    )
    def test_what_cannot_be_meant(self, kb: Call, asked_home: Path, options: list[str]) -> None:
        assert kb("answers", "list", *options, home=asked_home).code == 2


class TestReplay:
    def test_the_same_prompt_gives_the_same(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with RecordedServer([answer(CITED)]) as server:
            use(server, monkeypatch)
            kb("ask", QUESTION, "--temperature", "0.5", "--seed", "3", home=corpus_home)
            (first,) = rows(corpus_home)
            kb("rm", "guide/marigold-telescope.md", home=corpus_home)  # the evidence outlives its document
            result = kb("answers", "replay", first.trace_id, home=corpus_home)
        assert result.code == 0, result.err
        assert server.chats[1] == server.chats[0]
        assert "the same · from the stored prompt" in result.out
        assert CITED in result.out
        again = rows(corpus_home)[0]
        assert (again.replay_of, again.prompt_sha256) == (first.trace_id, first.prompt_sha256)
        assert (again.top_score, again.chunks_returned) == (first.top_score, first.chunks_returned)
        assert json.loads(again.citations_json) == json.loads(first.citations_json)
        assert "↻ 1 " in kb("answers", "list", home=corpus_home).out

    def test_what_changed_is_shown(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KB_RAG__PACKING", "ranked")
        other = "The mirror is cleaned every two weeks [#2]."
        with RecordedServer([answer(CITED), answer(other), answer("I do not know.")]) as server:
            use(server, monkeypatch)
            kb("ask", QUESTION, *LEXICAL, home=corpus_home)
            trace = rows(corpus_home)[0].trace_id
            told = kb("answers", "replay", trace, home=corpus_home)
            refused = kb("answers", "replay", trace, "--json", home=corpus_home)
        assert (told.code, refused.code) == (1, 1)
        assert f"-{CITED}\n+{other}\n" in told.out
        assert "citations: [#1] guide/marigold-telescope.md" in told.out
        found = refused.json()
        check_wire(found, "answer_replay.v1")
        assert (found["replay_of"], found["evidence"], found["is_same"]) == (trace, "packed", False)
        fields = {change["field"]: (change["before"], change["after"]) for change in found["changes"]}
        assert fields["grounded"] == (True, False)
        assert fields["refusal_reason"] == (None, "llm_self_judge")
        assert "prompt_sha256" not in fields

    @pytest.mark.usefixtures("default_readers")
    def test_against_todays_corpus(self, kb: Call, asked_home: Path, tmp_path: Path) -> None:
        trace = rows(asked_home, AnswerQuery(search="mirror"))[0].trace_id
        assert kb("answers", "replay", trace, "--fresh", home=asked_home).code == 0
        kb("rm", "guide/marigold-telescope.md", home=asked_home)
        result = kb("answers", "replay", trace, "--corpus", "--json", home=asked_home)
        assert result.code == 1
        changed = {change["field"] for change in result.json()["changes"]}
        assert {"answer", "packed", "prompt_sha256", "top_score"} <= changed
        assert result.json()["diff"]

    def test_filters_and_k_are_replayed(self, kb: Call, corpus_home: Path) -> None:
        kb("ask", QUESTION, *LEXICAL, "--path", "guide/*.md", "-k", "3", home=corpus_home)
        trace = rows(corpus_home)[0].trace_id
        found = kb("answers", "replay", trace, "--fresh", "--json", home=corpus_home).json()
        assert found["is_same"]
        assert (found["answer"]["retrieval"]["k"], found["answer"]["retrieval"]["mode"]) == (3, "lexical")

    def test_another_model(self, kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with RecordedServer([answer(CITED)]) as server:
            use(server, monkeypatch)
            kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        trace = rows(corpus_home)[0].trace_id
        assert kb("answers", "replay", trace, home=corpus_home).code == 2  # the server is gone
        result = kb("answers", "replay", trace, "--model", "extractive", home=corpus_home)
        assert result.code == 1
        assert "model_id: qwen2.5:3b → extractive-v2" in result.out

    def test_a_refusal_that_stays_one_is_the_same(self, kb: Call, asked_home: Path) -> None:
        trace = rows(asked_home, AnswerQuery(grounded=False))[0].trace_id
        result = kb("answers", "replay", trace, home=asked_home)
        assert (result.code, "--fresh" in result.err) == (2, True)
        assert kb("answers", "replay", trace, "--fresh", home=asked_home).code == 0

    def test_a_prompt_that_is_not_the_one_that_was_sent_is_an_error(self, kb: Call, asked_home: Path) -> None:
        trace = rows(asked_home, AnswerQuery(search="mirror"))[0].trace_id
        connection = sqlite3.connect(asked_home / "kb.sqlite")
        connection.execute("UPDATE packed_texts SET text = ?", [compress("another text")])
        connection.commit()
        connection.close()
        result = kb("answers", "replay", trace, "--json", home=asked_home)
        assert (result.code, json.loads(result.err)["code"]) == (2, "corrupt_store")

    def test_texts_are_stored_once(self, kb: Call, corpus_home: Path) -> None:
        for _ in range(3):
            kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        (texts,) = values(corpus_home, "SELECT count(*) FROM packed_texts")
        (links,) = values(corpus_home, "SELECT count(*) FROM answer_texts")
        assert links == 3 * texts > 0
        (prompt_chars,) = {len(row.prompt_json or "") for row in rows(corpus_home)}
        assert prompt_chars < sum(
            map(len, packed_texts(open_for_reading(corpus_home), rows(corpus_home)[0].trace_id).values())
        )


class TestRemove:
    def test_by_name(self, kb: Call, asked_home: Path) -> None:
        trace = rows(asked_home, AnswerQuery(search="mirror"))[0].trace_id
        result = kb("answers", "rm", trace, "--json", home=asked_home)
        check_wire(result.json(), "answer_removal.v1")
        assert (result.code, result.json()["removed"]) == (0, 1)
        assert len(rows(asked_home)) == 2
        assert kb("answers", "list", "--search", "mirror", home=asked_home).code == 1
        assert kb("answers", "rm", trace, home=asked_home).code == 2

    def test_shared_texts_stay_until_the_last_answer_goes(self, kb: Call, corpus_home: Path) -> None:
        for _ in range(2):
            kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        first, second = rows(corpus_home)
        kb("answers", "rm", first.trace_id, home=corpus_home)
        assert kb("answers", "replay", second.trace_id, home=corpus_home).code == 0
        kb("answers", "rm", "--all", "--yes", home=corpus_home)
        assert values(corpus_home, "SELECT count(*) FROM packed_texts") == [0]

    @pytest.mark.parametrize(
        ("options", "code", "left"),
        [
            (["--all"], 2, 3),
            ([], 2, 3),
            (["--all", "--before", "2999-01-01", "--yes"], 2, 3),
            (["--older-than", "soon", "--yes"], 2, 3),
            (["--before", "soon", "--yes"], 2, 3),
            (["--older-than", "1d", "--yes"], 1, 3),
            (["--older-than", "0h", "--before", "2999-01-01"], 2, 3),
            (["--before", "2020-01-01", "--yes"], 1, 3),
            (["--before", "2999-01-01", "--yes"], 0, 0),
            (["--all", "--yes"], 0, 0),
        ],
    )
    def test_by_time(self, kb: Call, asked_home: Path, options: list[str], code: int, left: int) -> None:
        assert kb("answers", "rm", *options, home=asked_home).code == code
        assert len(rows(asked_home)) == left

    @pytest.mark.parametrize(("said", "code", "left"), [("n\n", 1, 3), ("y\n", 0, 0)])
    def test_a_terminal_is_asked(
        self, kb_process: Callable[..., Any], asked_home: Path, said: str, code: int, left: int
    ) -> None:
        master, slave = pty.openpty()
        process = kb_process("answers", "rm", "--all", home=asked_home, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        os.write(master, said.encode())
        assert process.wait(30.0) == code
        os.close(master)
        assert len(rows(asked_home)) == left

    def test_the_file_shrinks_and_nothing_of_the_text_is_left(self, kb: Call, corpus_home: Path) -> None:
        fill(corpus_home, 2000)
        before = (corpus_home / "kb.sqlite").stat().st_size
        assert b"quokka" in (corpus_home / "kb.sqlite").read_bytes()
        result = kb("answers", "rm", "--all", "--yes", "--json", home=corpus_home)
        after = (corpus_home / "kb.sqlite").stat().st_size
        assert result.json() == {"schema_version": "answer_removal.v1", "removed": 2000, "freed_bytes": before - after}
        assert after < before / 2
        assert b"quokka" not in b"".join(path.read_bytes() for path in corpus_home.glob("kb.sqlite*"))

    def test_while_another_process_reads_the_answers_go_and_the_space_waits(self, kb: Call, corpus_home: Path) -> None:
        fill(corpus_home, 500)
        reader = open_for_reading(corpus_home)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM answers").fetchone()
        result = kb("answers", "rm", "--all", "--yes", "--json", home=corpus_home)
        reader.close()
        assert (result.code, result.json()["removed"], result.json()["freed_bytes"]) == (0, 500, None)
        assert rows(corpus_home) == []

    def test_the_bounds_of_the_history_hold_when_an_answer_is_stored(
        self, kb: Call, asked_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        connection = open_for_writing(asked_home)
        connection.execute("UPDATE answers SET created_at = '2020-01-01T00:00:00Z' WHERE question = 'zzyzx?'")
        connection.close()
        monkeypatch.setenv("KB_HISTORY__KEEP_DAYS", "30")
        kb("ask", "first", *LEXICAL, home=asked_home)
        assert {row.question for row in rows(asked_home)} == {QUESTION, KOREAN, "first"}
        monkeypatch.setenv("KB_HISTORY__KEEP_ANSWERS", "2")
        kb("ask", "second", *LEXICAL, home=asked_home)
        assert {row.question for row in rows(asked_home)} == {"first", "second"}
        assert values(
            asked_home, "SELECT count(*) FROM answer_texts WHERE answer_id NOT IN (SELECT answer_id FROM answers)"
        ) == [0]


class TestExport:
    def test_jsonl(self, kb: Call, asked_home: Path) -> None:
        result = kb("answers", "export", home=asked_home)
        exported = result.events()
        for row in exported:
            check_wire(row, "stored_answer.v1")
        assert [row["answer"]["question"] for row in exported] == [QUESTION, KOREAN, "zzyzx?"]
        assert kb("answers", "export", "--json", home=asked_home).out == result.out

    def test_csv(self, kb: Call, asked_home: Path) -> None:
        kb("ask", '=cmd|"calc"!A1', *LEXICAL, home=asked_home)
        table = list(csv.DictReader(io.StringIO(kb("answers", "export", "--format", "csv", home=asked_home).out)))
        assert [row["question"] for row in table] == [QUESTION, KOREAN, "zzyzx?", '\'=cmd|"calc"!A1']
        assert table[0]["grounded"] == "True"

    def test_markdown_to_a_file(self, kb: Call, asked_home: Path, tmp_path: Path) -> None:
        path = tmp_path / "answers.md"
        result = kb("answers", "export", "--format", "md", "--grounded", "-o", path, home=asked_home)
        assert (result.code, result.out) == (0, "")
        assert f"## {QUESTION}\n" in path.read_text(encoding="utf-8")
        assert [p.name for p in tmp_path.glob("answers.*")] == ["answers.md"]

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            (["--format", "xml"], 2),
            (["--format", "csv", "--json"], 2),
            (["-o", "/nonexistent/x"], 2),
            (["--since", "2999-01-01"], 1),
        ],
    )
    def test_what_cannot_be_exported(self, kb: Call, asked_home: Path, options: list[str], code: int) -> None:
        assert kb("answers", "export", *options, home=asked_home).code == code


def fill(home: Path, count: int) -> None:
    """Answers straight into the store, each with a text of its own and one that all share."""
    connection = open_for_writing(home)
    plain: dict[str, Any] = dict.fromkeys(AnswerRow.__dataclass_fields__)
    for number in range(count):
        row = AnswerRow(
            **plain
            | {
                "trace_id": f"01a00000-0000-7000-8000-{number:012x}",
                "question": f"what does quokka {number} eat?",
                "answer": "leaves " * 40,
                "raw_answer": "leaves",
                "grounded": number % 2 == 0,
                "model_id": "m",
                "model_provider": "p",
                "prompt_template_version": "rag-v1",
                "retrieval_mode": "hybrid",
                "retrieval_k": 10,
                "score_gate": 0.05,
                "chunks_returned": 1,
                "chunks_used": 1,
                "citations_json": "[]",
                "packed_json": "[]",
                "latency_ms": 1.0,
                "corpus_revision": 1,
                "created_at": f"2026-01-{1 + number % 28:02}T00:00:00Z",
            }
        )
        texts = (f"a quokka's passage {number} " * 20, "the same for all")
        save_answer(connection, row, {text_hash(text): text for text in texts})
    connection.close()


class TestOldHomes:
    """fixtures/stores/m001.sql: the dump of a home that the first release made, with three answers."""

    @pytest.fixture
    def old_home(self, tmp_path: Path) -> Path:
        home = tmp_path / "old"
        home.mkdir()
        connection = sqlite3.connect(home / "kb.sqlite")
        connection.executescript((ROOT / "fixtures" / "stores" / "m001.sql").read_text(encoding="utf-8"))
        connection.close()
        return home

    def test_nothing_is_lost_and_old_answers_are_found(self, kb: Call, old_home: Path) -> None:
        before = values(old_home, "SELECT answer FROM answers ORDER BY trace_id")
        listed_first = kb("answers", "list", home=old_home)
        assert (listed_first.code, "was written by an older kb; it is up to date now" in listed_first.err) == (0, True)
        assert kb("answers", "list", home=old_home).err == ""
        assert values(old_home, "SELECT answer FROM answers ORDER BY trace_id") == before
        assert len(before) == 3
        listed = kb("answers", "list", "--search", "거울", "--json", home=old_home).json()["answers"]
        assert [row["question"] for row in listed] == ["거울은 며칠마다 청소하나?"]
        assert (listed[0]["prompt"], listed[0]["replay_of"]) == (None, None)
        shown = kb("answers", "show", listed[0]["trace_id"], home=old_home)
        assert (shown.code, "거울은 14일마다 청소한다." in shown.out) == (0, True)

    def test_an_old_answer_is_replayed_from_todays_corpus_only(
        self, kb: Call, old_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KB_RAG__PACKING", "ranked")  # as it was packed
        kb("doctor", "--repair", home=old_home)
        trace = rows(old_home, AnswerQuery(search="lamp"))[0].trace_id
        assert kb("answers", "replay", trace, home=old_home).code == 2
        fresh = kb("answers", "replay", trace, "--fresh", "--json", home=old_home)
        changed = [change["field"] for change in fresh.json()["changes"]]
        # Weighed now, title, heading and passage scored as one text, and a passage quoted as it stands.
        assert (fresh.code, changed) == (
            1,
            ["answer", "raw_answer", "citations", "verification", "model_id", "top_score", "evidence_score"],
        )
        assert kb("answers", "rm", "--all", "--yes", home=old_home).code == 0


def test_the_full_text_index_keeps_step(corpus_home: Path) -> None:
    fill(corpus_home, 50)
    connection = open_for_writing(corpus_home)
    assert len(list_answers(connection, 100, AnswerQuery(search="quokka"))) == 50
    assert len(packed_texts(connection, "01a00000-0000-7000-8000-000000000003")) == 2
    remove_answers(connection, [f"01a00000-0000-7000-8000-{n:012x}" for n in range(0, 50, 2)])
    assert len(list_answers(connection, 100, AnswerQuery(search="quokka"))) == 25
    connection.execute("INSERT INTO answer_search (answer_search) VALUES ('integrity-check')")
    # The words of an answer whose record is damaged are not known any more: the index is made anew from the others.
    connection.execute("UPDATE answer_records SET piece = x'00' WHERE answer_id = (SELECT max(answer_id) FROM answers)")
    remove_answers(connection, [f"01a00000-0000-7000-8000-{n:012x}" for n in range(40, 50)])
    assert len(list_answers(connection, 100, AnswerQuery(search="quokka"))) == 20
    connection.execute("INSERT INTO answer_search (answer_search) VALUES ('integrity-check')")
    connection.close()


def test_no_transaction_is_held_while_the_model_writes(
    kb_process: Callable[..., Any], corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trap 20: a write transaction across a call would block everybody for minutes."""
    from tests.journey.test_ask_terminal import wait_for
    from tests.llm.recorded_server import Pause, Reply, last_line, line

    with RecordedServer([Reply((line("Every 14 days [#1]."), Pause(1.0), last_line()))]) as server:
        use(server, monkeypatch)
        process = kb_process("ask", QUESTION, *LEXICAL, home=corpus_home)
        wait_for(lambda: bool(server.chats))
        connection = sqlite3.connect(corpus_home / "kb.sqlite", timeout=0.0)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("ROLLBACK")
        connection.close()
        process.communicate(timeout=30)
    assert process.returncode == 0
    assert rows(corpus_home)[0].grounded


def test_a_cut_prompt_is_never_grounded(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trap 2, whole: the count is far below the least the prompt can have."""
    with RecordedServer([answer(CITED, prompt_eval_count=60)]) as server:
        use(server, monkeypatch)
        told = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
        found = kb("ask", QUESTION, *LEXICAL, "--json", home=corpus_home).json()
    assert told.code == 1
    assert "it was cut" in told.err
    assert "the prompt was cut" in told.out
    assert (found["grounded"], found["refusal_reason"]) == (False, "llm_truncated")
    assert found["usage"]["prompt_truncated"] is True
    assert found["answer"].startswith("The model did not read all of the evidence")
    assert rows(corpus_home)[0].prompt_truncated is True


def test_a_prompt_that_was_refused_as_too_long_is_made_shorter_once(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    too_long = error("request (9351 tokens) exceeds the available context size (8192 tokens), try increasing it", 400)
    monkeypatch.setenv("KB_LLM__CONTEXT_TOKENS", "4096")
    monkeypatch.setenv("KB_RAG__PACKING", "ranked")
    with RecordedServer([too_long, answer(CITED), too_long]) as server:
        use(server, monkeypatch)
        result = kb("ask", QUESTION, *LEXICAL, "-k", "40", home=corpus_home)
        first, second = (len(body["messages"][1]["content"]) for body in server.chats)
        refused = kb("ask", QUESTION, *LEXICAL, home=corpus_home)
    assert result.code == 0
    assert "asking again with less evidence" in result.err
    assert second < 0.9 * first
    assert (refused.code, len(server.chats)) == (2, 4)
    assert "9351 tokens does not fit into the context of 8192" in refused.err
