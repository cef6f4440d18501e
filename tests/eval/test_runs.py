"""Runs on disk: written line by line, read back, found by name, and whole again after a kill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kb.errors import InvalidInput, NotFound
from kb.eval.records import Run
from kb.eval.runs import (
    append_result,
    begin_run,
    finish_run,
    list_runs,
    load_run,
    mend_run,
    new_run_id,
    run_path,
    save_run,
    summarize,
)
from tests.eval.sample_runs import make_run


@pytest.fixture
def run() -> Run:
    return replace(make_run("hybrid", "ask", queries=6), run_id="20261121-1")


def write(home: Path, run: Run, results: int) -> Path:
    path = run_path(home, run.run_id)
    begin_run(path, replace(run, finished=False))
    for result in run.results[:results]:
        append_result(path, result)
    return path


def test_what_is_written_is_read_back(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, run, 6)
    assert load_run(tmp_path, run.run_id) == replace(run, finished=False)
    finish_run(path, run)
    assert load_run(tmp_path, run.run_id) == run
    save_run(tmp_path / "kept" / "baseline.jsonl", run)
    save_run(tmp_path / "kept" / "baseline.jsonl", run)  # in place of what was there
    assert load_run(tmp_path, str(tmp_path / "kept" / "baseline.jsonl")) == run


def test_a_torn_last_line_is_left_out_and_mended(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, run, 3)
    raw = path.read_bytes()
    for cut in (1, 2, 50):
        path.write_bytes(raw[:-cut])
        # Without its last byte, the end of the line, it is a whole row still, and stays one.
        kept = 3 if cut == 1 else 2
        assert len(load_run(tmp_path, run.run_id).results) == kept
        mend_run(path)
        append_result(path, run.results[5])
        assert load_run(tmp_path, run.run_id).results == (*run.results[:kept], run.results[5])
    mended = path.read_bytes()
    mend_run(path)
    assert path.read_bytes() == mended


def test_a_broken_line_before_the_last_is_an_error(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, run, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:40] + b"\n" + lines[2])
    with pytest.raises(InvalidInput, match=r"jsonl:2 is not a line of a run"):
        load_run(tmp_path, run.run_id)
    told: list[str] = []
    assert (list_runs(tmp_path, told.append), len(told)) == ([], 1)
    path.write_bytes(b"")
    with pytest.raises(InvalidInput, match="holds no run"):
        load_run(tmp_path, run.run_id)


def test_names(tmp_path: Path, run: Run) -> None:
    with pytest.raises(NotFound, match="no run 'last'"):
        load_run(tmp_path, "last")
    for name in ("20261121-1", "20261121-2", "20261122-1"):
        write(tmp_path, replace(run, run_id=name), 1)
    assert load_run(tmp_path, "last").run_id == "20261122-1"
    assert load_run(tmp_path, "20261122").run_id == "20261122-1"
    with pytest.raises(NotFound, match="several runs are called '20261121'"):
        load_run(tmp_path, "20261121")
    write(tmp_path, replace(run, run_id="20261120-101010-123-5c12-lexical"), 1)
    assert load_run(tmp_path, "5c12").run_id == "20261120-101010-123-5c12-lexical"
    (tmp_path / "eval" / "20261120-101010-123-5c12-lexical.jsonl").unlink()
    with pytest.raises(NotFound, match="no run '2027'"):
        load_run(tmp_path, "2027")
    summaries = summarize(list_runs(tmp_path, pytest.fail))
    assert [(s.run_id, s.queries, s.finished) for s in summaries] == [
        ("20261121-1", 1, False),
        ("20261121-2", 1, False),
        ("20261122-1", 1, False),
    ]
    began = [new_run_id()[:19] for _ in range(3)]
    assert began == sorted(began)
