"""What the evaluating commands share: progress, the table or the JSON at the end, gates, the exit code, output for CI."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kb.cli.invocation import Invocation
from kb.errors import ExitCode, InvalidInput

if TYPE_CHECKING:
    from kb.eval.compare import Gate
    from kb.eval.records import Comparison, GateResult, Run
    from kb.ingest.report import IngestEvent
    from kb.records import SearchMode

ALL_MODES: tuple[SearchMode, ...] = ("lexical", "vector", "hybrid")


def chosen_modes(given: Sequence[str] | None, default: Sequence[str]) -> tuple[SearchMode, ...]:
    """The modes to run, each once, in the order given.

    raises  InvalidInput for a mode that is none
    """
    for mode in given or ():
        if mode not in ALL_MODES:
            raise InvalidInput(f"no mode '{mode}'", fix=f"use {', '.join(ALL_MODES)}")
    return tuple(dict.fromkeys(given or default))  # type: ignore[arg-type]


def query_progress(invocation: Invocation) -> Callable[[SearchMode, int, int], None]:
    """A counter on stderr while a run is under way, on a terminal only."""
    if invocation.quiet or invocation.json or not sys.stderr.isatty():
        return lambda mode, done, total: None

    def show(mode: SearchMode, done: int, total: int) -> None:
        end = "\r\x1b[K" if done == total else ""
        print(f"\r{mode}: {done} of {total} queries{end}", end="", file=sys.stderr, flush=True)

    return show


@contextmanager
def ingest_listener(invocation: Invocation) -> Iterator[Callable[[IngestEvent], None]]:
    """The progress of filling a throw-away home: a bar on a terminal, else silence."""
    from kb.cli.progress import Silence, make_listener

    if invocation.quiet or invocation.json or not sys.stderr.isatty():
        yield Silence().on_event
    else:
        with make_listener(invocation) as listener:
            yield listener.on_event


def conclude(
    invocation: Invocation,
    runs: Sequence[Run],
    *,
    gates: Sequence[Gate],
    baseline: str | None,
    tolerance: float,
    junit: str | None,
    github: bool,
) -> None:
    """Print the runs, check gates and baseline; exit 1 when one of them fails."""
    from kb.cli.charts import print_comparison, print_gates, print_runs
    from kb.eval.compare import check_gates, compare_runs
    from kb.eval.records import EvalRuns
    from kb.eval.runs import load_run, summarize

    results = [result for run in runs for result in check_gates(run, gates)]
    comparison = compare_runs(load_run(invocation.home, baseline), runs[-1], tolerance) if baseline else None
    if invocation.json:
        from kb.wire import to_json

        if comparison:
            print(to_json(comparison))
        print(to_json(EvalRuns(runs=summarize(runs), gates=tuple(results))))
    else:
        print_runs(runs)
        print_gates(results)
        if comparison:
            print_comparison(comparison)
    write_ci_output(runs, results, comparison, junit, github)
    if any(not result.passed for result in results) or (comparison and comparison.has_regression):
        raise typer.Exit(ExitCode.NOTHING)


def write_ci_output(
    runs: Sequence[Run],
    gates: Sequence[GateResult],
    comparison: Comparison | None,
    junit: str | None,
    github: bool,
) -> None:
    """A JUnit file and GitHub annotations, where they were asked for."""
    if not junit and not github:
        return
    from kb.eval.ci_output import github_annotations, junit_xml

    if junit:
        Path(junit).write_text(junit_xml(runs, gates, comparison), encoding="utf-8")
    if github:
        print(github_annotations(runs, gates, comparison), end="", file=sys.stderr)
