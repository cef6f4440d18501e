"""The evaluations of a home: their list, and the report of one, or of two that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kb.errors import NotFound
from kb.eval import page
from kb.eval.compare import compare_runs
from kb.eval.figures import main_metric, number_text
from kb.eval.records import Run
from kb.eval.report import render_report
from kb.eval.runs import list_runs
from kb.frozen import dataclass

# Runs that are compared at most.
MOST_RUNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run in the list; `figure` is that of its main metric."""

    run_id: str
    suite: str
    kind: str
    mode: str
    queries: int
    finished: bool
    created_at: str
    metric: str
    figure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationsView:
    """All runs, the newest first; `unreadable` are files that hold none."""

    runs: tuple[RunRow, ...]
    unreadable: tuple[str, ...]


def read_evaluations(home: Path) -> EvaluationsView:
    """The runs of a home."""
    unreadable: list[str] = []
    runs = list_runs(home, unreadable.append)
    return EvaluationsView(runs=tuple(_row(run) for run in reversed(runs)), unreadable=tuple(unreadable))


def _row(run: Run) -> RunRow:
    metric = main_metric(run)
    interval = run.metrics[metric] if metric else None
    return RunRow(
        run_id=run.run_id,
        suite=run.suite,
        kind=run.kind,
        mode=run.mode,
        queries=len(run.results),
        finished=run.finished,
        created_at=run.created_at,
        metric=metric or "",
        figure=number_text(interval.mean if interval else None, metric or ""),
    )


def render_evaluations(home: Path, names: Sequence[str]) -> tuple[str, str]:
    """(the report of these runs, the policy for its one script). Names are compared with those there are, and never a path.

    raises  NotFound
    """
    known = {run.run_id: run for run in list_runs(home, lambda problem: None)}
    wanted = list(dict.fromkeys(names))[:MOST_RUNS]
    if not wanted or any(name not in known for name in wanted):
        raise NotFound("no such evaluation", fix="choose one from the list of evaluations")
    runs = [known[name] for name in wanted]
    shared = len(runs) == MOST_RUNS and {r.query_id for r in runs[0].results} & {r.query_id for r in runs[1].results}
    comparison = compare_runs(runs[0], runs[1]) if shared and runs[0].suite == runs[1].suite else None
    script = (page.TEMPLATES / "script.js").read_text(encoding="utf-8")
    return render_report(runs, comparison, "html"), page.content_policy(script)
