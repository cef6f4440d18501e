"""Counters: added up across requests and processes, never in the way; the Prometheus page; the line of the log."""

from __future__ import annotations

import json
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kb.context.metrics import METRICS, prometheus_text, write_metrics
from kb.errors import IoError
from kb.search.novelty import Counts, log_line
from kb.store.counters import FILE_NAME, add_counts, read_counts

PUBLISHED_NAMES = (
    "context_gateway_selfref_candidates_total context_gateway_selfref_penalized_total"
    " context_gateway_selfref_exact_duplicates_total context_gateway_selfref_expansion_total"
    " context_gateway_selfref_expansion_success_total context_gateway_selfref_overlap_ratio_sum"
    " context_gateway_selfref_novel_results_sum"
).split()


def test_counts_add_up(tmp_path: Path) -> None:
    assert read_counts(tmp_path) == {}
    with ThreadPoolExecutor(4) as pool:
        problems = list(pool.map(lambda _: add_counts(tmp_path, {"candidates": 3, "overlap_sum": 0.5}), range(20)))
    assert problems == [None] * 20
    assert read_counts(tmp_path) == {"candidates": 60, "overlap_sum": 10}


def test_a_home_that_cannot_be_written_goes_uncounted(tmp_path: Path) -> None:
    assert add_counts(tmp_path / "absent", {"candidates": 1}) is not None
    (tmp_path / FILE_NAME).write_bytes(b"no database at all" * 100)
    assert add_counts(tmp_path, {"candidates": 1}) is not None
    assert read_counts(tmp_path) == {}


def test_a_busy_file_is_not_waited_for(tmp_path: Path) -> None:
    add_counts(tmp_path, {"candidates": 1})
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert add_counts(tmp_path, {"candidates": 1}) is not None
    other.execute("ROLLBACK")
    other.close()
    assert read_counts(tmp_path) == {"candidates": 1}


SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*) (\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def test_the_page_is_prometheus_text_format() -> None:
    text = prometheus_text({"requests": 2, "candidates": 30, "overlap_sum": 4.25, "novel": 20})
    assert text.endswith("\n")
    samples: dict[str, float] = {}
    declared = ""
    for line in text.splitlines():
        if line.startswith("# "):
            keyword, name, rest = line[2:].split(" ", 2)
            assert keyword in ("HELP", "TYPE")
            assert rest
            declared = name
            assert keyword == "HELP" or rest in ("counter", "summary")
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert match[1] in (declared, f"{declared}_sum", f"{declared}_count")
        samples[match[1]] = float(match[2])
    assert set(PUBLISHED_NAMES) <= set(samples)
    assert samples["context_gateway_selfref_overlap_ratio_sum"] == 4.25
    assert samples["context_gateway_selfref_overlap_ratio_count"] == 30
    assert len(METRICS) == text.count("# TYPE")


def test_prometheus_itself_reads_the_page() -> None:
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus_client is not installed")
    families = list(parser.text_string_to_metric_families(prometheus_text({"candidates": 3, "overlap_sum": 0.5})))
    found = {sample.name for family in families for sample in family.samples}
    assert set(PUBLISHED_NAMES) <= found
    assert {family.type for family in families} == {"counter", "summary"}


def test_metrics_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    add_counts(tmp_path, {"candidates": 7})
    write_metrics(tmp_path, tmp_path / "kb.prom")
    assert "candidates_total 7\n" in (tmp_path / "kb.prom").read_text()
    with pytest.raises(IoError):
        write_metrics(tmp_path, tmp_path / "absent" / "kb.prom")
    assert {path.name for path in tmp_path.iterdir()} == {FILE_NAME, "kb.prom"}


def test_the_log_line_has_the_seeds_fields() -> None:
    row = json.loads(log_line("거울", None, Counts(candidates=15, penalized=4, exact_duplicates=1, novel=11)))
    assert row == {
        "session_id": None,
        "query": "거울",
        "candidate_count": 15,
        "penalized_count": 4,
        "exact_duplicate_count": 1,
        "expansion_triggered": False,
        "novel_result_count": 11,
    }
