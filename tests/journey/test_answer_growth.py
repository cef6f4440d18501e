"""What the history of answers costs on the disk, over real answers; benchmarks/answer_growth.py prints it by table."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from benchmarks.answer_growth import BAR_BYTES, growth
from kb.ask.stored import put_together
from kb.store.answers import AnswerRow, find_answer, packed_texts
from kb.store.database import open_for_reading, open_for_writing, transaction
from kb.store.migrations import m015_texts_of_chunks
from kb.store.packed_texts import write_out
from kb.store.records import compress, decompress, make_record, read_record
from tests.journey.conftest import ROOT, Call

TEXTS = {"raw_answer": "\x01\n{}\n거울", "packed_json": '[{"a": "\\"b\\""}]', "empty": "", "long": "otter " * 5000}


def test_an_answer_costs_less_than_six_kilobytes(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_READER__MODEL", "none")
    suite = yaml.safe_load((ROOT / "fixtures" / "suites" / "corpus.yaml").read_text(encoding="utf-8"))
    questions = [entry["query"] for entry in suite["queries"]][:72:6]
    grown = growth(corpus_home, questions, "lexical")
    assert 500 < grown.mean <= BAR_BYTES, grown.by_table
    assert grown.single[-1] <= BAR_BYTES
    asked = kb("status", "--json", home=corpus_home).json()["answers_bytes"]
    assert grown.mean * len(questions) <= asked
    assert kb("answers", "rm", "--all", "--yes", home=corpus_home).code == 0
    with closing(open_for_reading(corpus_home)) as connection:
        for table in ("answers", "answer_records", "answer_texts", "packed_texts", "text_chunks"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_records_come_back_as_they_were() -> None:
    assert read_record(make_record(TEXTS | {"none": None})) == TEXTS
    assert [decompress(compress(text)) for text in TEXTS.values()] == list(TEXTS.values())
    assert len(compress(TEXTS["long"])) < 200


def test_a_damaged_record_is_never_another_text() -> None:
    record = make_record(TEXTS)
    for at in range(len(record)):
        altered = record[:at] + bytes([record[at] ^ 0x10]) + record[at + 1 :]
        assert read_record(altered) in (None, TEXTS)  # the last bits of a deflate stream may be padding
        assert read_record(record[:at]) is None
    assert decompress(record) is None


QUESTION = "How often must the mirror be cleaned?"


def prompt_of(home: Path) -> tuple[AnswerRow, dict[str, str]]:
    """The newest answer, and the texts that its prompt held."""
    with closing(open_for_reading(home)) as connection:
        answer = find_answer(connection, "last")
        return answer, packed_texts(connection, answer.trace_id)


def count(home: Path, table: str) -> int:
    with closing(open_for_reading(home)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_prompts_outlive_their_documents(
    kb: Call, small_master: Path, small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that chunks have are not stored again; they are written out before a document is changed or removed."""
    monkeypatch.setenv("KB_READER__MODEL", "none")
    assert kb("ask", QUESTION, "--mode", "lexical", home=small_home).code == 0
    answer, texts = prompt_of(small_home)
    assert count(small_home, "text_chunks") >= 1
    shutil.copytree(small_master / "notes", tmp_path / "notes")
    (tmp_path / "notes" / "mirror.md").write_text("# Mirror\n\nNobody cleans the mirror.\n")
    assert kb("ingest", tmp_path / "notes", "--words-only", home=small_home).code == 0
    assert prompt_of(small_home) == (answer, texts)
    assert kb("rm", "*", home=small_home).code == 0
    assert (prompt_of(small_home), count(small_home, "text_chunks")) == ((answer, texts), 0)
    put_together(answer, texts)
    assert kb("answers", "rm", "--all", "--yes", home=small_home).code == 0
    assert count(small_home, "packed_texts") == 0


def test_a_prompt_comes_back_with_the_chunk_that_was_damaged(
    kb: Call, small_master: Path, small_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_READER__MODEL", "none")
    assert kb("ask", QUESTION, "--mode", "lexical", home=small_home).code == 0
    before = prompt_of(small_home)
    with closing(sqlite3.connect(small_home / "kb.sqlite")) as store, store:
        store.execute(
            "UPDATE chunks SET text = text || ' altered' WHERE chunk_id IN (SELECT chunk_id FROM text_chunks)"
        )
    assert len(prompt_of(small_home)[1]) < len(before[1]), "an altered text was taken for the one that was sent"
    kb("doctor", "--deep", "--repair", home=small_home)
    assert kb("ingest", small_master / "notes", "--words-only", home=small_home).code == 0
    assert prompt_of(small_home) == before


def test_stores_of_before_are_moved_over(kb: Call, small_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_READER__MODEL", "none")
    assert kb("ask", QUESTION, "--mode", "lexical", home=small_home).code == 0
    before = prompt_of(small_home)
    refers = count(small_home, "text_chunks")
    with closing(open_for_writing(small_home)) as store, transaction(store):
        for doc_id in [doc_id for (doc_id,) in store.execute("SELECT doc_id FROM documents")]:
            write_out(store, doc_id)
        store.execute("DROP TABLE text_chunks")
        m015_texts_of_chunks(store)
    assert (prompt_of(small_home), count(small_home, "text_chunks")) == (before, refers)
