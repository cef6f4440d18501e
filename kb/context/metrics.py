"""A home's totals of compared and penalized passages → Prometheus' text format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kb.errors import IoError
from kb.store.counters import read_counts

PREFIX = "context_gateway_selfref_"
# Name, kind, help, the total, and for a summary how many it is the sum of.
METRICS = (
    ("requests_total", "counter", "requests that named seen text", "requests", None),
    ("candidates_total", "counter", "passages and paths compared with seen text", "candidates", None),
    ("penalized_total", "counter", "of them, not novel", "penalized", None),
    ("exact_duplicates_total", "counter", "of them, whose whole text was seen", "exact_duplicates", None),
    ("expansion_total", "counter", "rounds of expansion", "expansions", None),
    ("expansion_success_total", "counter", "rounds that found something new", "expansion_successes", None),
    ("overlap_ratio", "summary", "overlap of the candidates with the seen text", "overlap_sum", "candidates"),
    ("novel_results", "summary", "novel candidates of a request", "novel", "requests"),
)


def prometheus_text(totals: Mapping[str, float]) -> str:
    """The totals as a page of the text exposition format, version 0.0.4."""
    lines = []
    for name, kind, words, total, count in METRICS:
        lines += [f"# HELP {PREFIX}{name} {words}", f"# TYPE {PREFIX}{name} {kind}"]
        samples = {"": total} if count is None else {"_sum": total, "_count": count}
        lines += [f"{PREFIX}{name}{end} {totals.get(field, 0.0):.12g}" for end, field in samples.items()]
    return "\n".join(lines) + "\n"


def write_metrics(home: Path, path: Path) -> None:
    """Write a home's totals for a collector to pick up: whole or not at all. raises  IoError"""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(prometheus_text(read_counts(home)), encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        fix = "name a file in a folder that can be written to"
        raise IoError(f"cannot write the metrics to {path}: {error.strerror}", fix=fix) from error
