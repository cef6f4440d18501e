"""What novelty pressure did → one structured line a request, and a home's totals in Prometheus' text format.

The names are those of section 17 of the seed; a sum stands with its count, as a Prometheus summary.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kb.errors import IoError
from kb.search.novelty import Counts
from kb.store.counters import read_counts

PREFIX = "context_gateway_selfref"


@dataclass(frozen=True, slots=True)
class Metric:
    """One family.

    field, count  of the totals: the counter or the sum, and for a summary how many it is the sum of
    """

    name: str
    kind: Literal["counter", "summary"]
    help: str
    field: str
    count: str | None = None


METRICS = (
    Metric("requests_total", "counter", "requests that named a window", "requests"),
    Metric("candidates_total", "counter", "passages and paths held against a window", "candidates"),
    Metric("penalized_total", "counter", "of them, not novel", "penalized"),
    Metric("exact_duplicates_total", "counter", "of them, wholly in the window", "exact_duplicates"),
    Metric("expansion_total", "counter", "rounds of expansion", "expansions"),
    Metric("expansion_success_total", "counter", "rounds that found something new", "expansion_successes"),
    Metric("overlap_ratio", "summary", "overlap of the candidates with the window", "overlap_sum", "candidates"),
    Metric("novel_results", "summary", "novel candidates of a request", "novel", "requests"),
)


def prometheus_text(totals: Mapping[str, float]) -> str:
    """The totals as a page of the text exposition format, version 0.0.4."""
    lines = []
    for metric in METRICS:
        name = f"{PREFIX}_{metric.name}"
        lines += [f"# HELP {name} {metric.help}", f"# TYPE {name} {metric.kind}"]
        if metric.count is None:
            lines.append(f"{name} {totals.get(metric.field, 0.0):.12g}")
        else:
            lines.append(f"{name}_sum {totals.get(metric.field, 0.0):.12g}")
            lines.append(f"{name}_count {totals.get(metric.count, 0.0):.12g}")
    return "\n".join(lines) + "\n"


def write_metrics(home: Path, path: Path) -> None:
    """Write a home's totals for a collector to pick up: whole or not at all.

    raises  IoError
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(prometheus_text(read_counts(home)), encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise IoError(
            f"cannot write the metrics to {path}: {error.strerror}",
            fix="name a file in a folder that can be written to",
        ) from error


def log_line(query: str, session_id: str | None, counts: Counts) -> str:
    """One request as a line of JSON, with the fields of the seed."""
    return json.dumps(
        {
            "session_id": session_id,
            "query": query,
            "candidate_count": counts.candidates,
            "penalized_count": counts.penalized,
            "exact_duplicate_count": counts.exact_duplicates,
            "expansion_triggered": counts.expansions > 0,
            "novel_result_count": counts.novel,
        },
        ensure_ascii=False,
    )
