"""What the history of answers costs on the disk, over real answers; benchmarks/answer_growth.py prints it by table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import yaml

from benchmarks.answer_growth import BAR_BYTES, growth
from kb.store.database import open_for_reading
from kb.store.records import compress, decompress, make_record, read_record
from tests.journey.conftest import ROOT, Call

TEXTS = {"raw_answer": "\x01\n{}\n거울", "packed_json": '[{"a": "\\"b\\""}]', "empty": "", "long": "otter " * 5000}


def test_an_answer_costs_less_than_six_kilobytes(kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_READER__MODEL", "none")
    suite = yaml.safe_load((ROOT / "fixtures" / "suites" / "corpus.yaml").read_text(encoding="utf-8"))
    questions = [entry["query"] for entry in suite["queries"]][:72:6]
    each, tables = growth(corpus_home, questions, "lexical")
    assert 500 < each <= BAR_BYTES, tables
    asked = kb("status", "--json", home=corpus_home).json()["answers_bytes"]
    assert each * len(questions) <= asked
    assert kb("answers", "rm", "--all", "--yes", home=corpus_home).code == 0
    with closing(open_for_reading(corpus_home)) as connection:
        for table in ("answers", "answer_records", "answer_texts", "packed_texts"):
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
