"""Runs and a comparison → a report as text: a page, a summary for a pull request, a table of queries, or JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Literal

from kb.errors import InvalidInput
from kb.eval.figures import outcome
from kb.eval.markdown import render_markdown
from kb.eval.page import render_page
from kb.eval.records import Comparison, QueryResult, Run
from kb.frozen import dataclass
from kb.wire import to_json

# A spreadsheet runs a cell that begins with one of these as a formula (OWASP, CSV injection).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport:
    """eval_report.v1: the runs as they are stored, and the comparison of two of them."""

    schema_version: Literal["eval_report.v1"] = "eval_report.v1"
    runs: tuple[Run, ...]
    comparison: Comparison | None = None


def render_report(runs: Sequence[Run], comparison: Comparison | None, format: str) -> str:
    """The report in one of FORMATS, the same text for the same runs; run by run in the order given.

    raises  InvalidInput for an unknown format
    """
    if format not in FORMATS:
        raise InvalidInput(f"no report format '{format}'", fix=f"there are: {', '.join(FORMATS)}")
    return FORMATS[format](runs, comparison)


def render_json(runs: Sequence[Run], comparison: Comparison | None) -> str:
    """eval_report.v1 in one line."""
    return to_json(EvalReport(runs=tuple(runs), comparison=comparison)) + "\n"


def render_csv(runs: Sequence[Run], comparison: Comparison | None) -> str:
    """A row per query, run and seed; an undefined value is empty. The comparison is left out: it has no rows by query.

    Columns: run and query, `slice:…`, the metrics by name, `ms:…`, the answer's outcome. Text that a spreadsheet would
    take for a formula gets an apostrophe before it.
    """
    results = [(run, result) for run in runs for result in run.results]
    slices = sorted({name for _, result in results for name in result.slices})
    metrics = sorted({name for _, result in results for name in result.scores})
    stages = sorted({stage for _, result in results for stage in result.stage_ms})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ["run_id", "suite", "kind", "mode", "query_id", "seed", "text", "answerable", "group"]
    names += [*(f"slice:{name}" for name in slices), *metrics, *(f"ms:{stage}" for stage in stages)]
    writer.writerow([*names, "retrieved", "outcome", "grounded", "refusal_reason", "citations"])
    for run, result in results:
        named = [run.run_id, run.suite, run.kind, run.mode, result.query_id, str(result.seed), result.text]
        named += ["true" if result.answerable else "false", result.group or ""]
        named += [result.slices.get(name, "") for name in slices]
        values = [_cell(result.scores.get(name)) for name in metrics]
        values += [_cell(result.stage_ms.get(stage)) for stage in stages]
        writer.writerow([*map(_harmless_cell, named), *values, *_answer_cells(result)])
    return out.getvalue()


def _answer_cells(result: QueryResult) -> list[str]:
    answer = result.answer
    found = [str(len(result.ranking)), outcome(result) or ""]
    if answer is None:
        return [*found, "", "", ""]
    return [*found, "true" if answer.grounded else "false", answer.refusal_reason or "", str(len(answer.citations))]


def _cell(value: float | None) -> str:
    return "" if value is None else repr(float(value))


def _harmless_cell(text: str) -> str:
    # A lone surrogate cannot be written as UTF-8; NUL ends a cell in some readers.
    clean = text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
    return f"'{clean}" if clean.startswith(FORMULA_STARTS) else clean


FORMATS: dict[str, Callable[[Sequence[Run], Comparison | None], str]] = {
    "html": render_page,
    "md": render_markdown,
    "json": render_json,
    "csv": render_csv,
}
