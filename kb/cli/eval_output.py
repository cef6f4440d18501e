"""What the evaluating commands share: modes, progress, the tables or the JSON at the end, gates, output for CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import typer

from kb.cli.charts import print_comparison, print_gates, print_runs, print_worst_queries
from kb.cli.invocation import Invocation
from kb.cli.progress import Listener, make_listener
from kb.cli.terminal import say
from kb.errors import ExitCode, InvalidInput, SuiteInvalid
from kb.eval.ci_output import SuiteFault, github_annotations, junit_xml
from kb.eval.compare import Gate, check_gates, compare_runs, parse_gate
from kb.eval.markdown import step_summary
from kb.eval.records import Comparison, EvalRuns, GateResult, Run, Suite
from kb.eval.runs import load_run, short_name, summarize
from kb.eval.worst import FailedGate, failed_gates
from kb.frozen import dataclass
from kb.ingest.report import IngestEvent
from kb.records import SearchMode
from kb.wire import to_json

ALL_MODES: tuple[SearchMode, ...] = get_args(SearchMode)


def chosen_modes(given: Sequence[str] | None, default: Sequence[SearchMode]) -> tuple[SearchMode, ...]:
    """The modes to run, each once, in the order given.

    raises  InvalidInput for an unknown mode
    """
    known: dict[str, SearchMode] = {mode: mode for mode in ALL_MODES}
    for mode in given or ():
        if mode not in known:
            raise InvalidInput(f"no mode '{mode}'", fix=f"use {', '.join(ALL_MODES)}")
    return tuple(dict.fromkeys(known[mode] for mode in given or default))


def _shows_progress(invocation: Invocation) -> bool:
    return not invocation.quiet and not invocation.json and sys.stderr.isatty()


def query_progress(invocation: Invocation) -> Callable[[str, int, int], None]:
    """A counter on stderr while a run is under way, on a terminal only."""
    if not _shows_progress(invocation):
        return lambda mode, done, total: None

    def show(mode: str, done: int, total: int) -> None:
        end = "\r\x1b[K" if done == total else ""
        print(f"\r{mode}: {done} of {total} queries{end}", end="", file=sys.stderr, flush=True)

    return show


@contextmanager
def ingest_listener(invocation: Invocation) -> Iterator[Callable[[IngestEvent], None]]:
    """The progress of filling a throw-away home: a bar on a terminal, nothing elsewhere."""
    if not _shows_progress(invocation):
        yield Listener().on_event
    else:
        with make_listener(invocation) as listener:
            yield listener.on_event


@dataclass(frozen=True, slots=True)
class CiOutput:
    """Where a CI server reads the results, beside stdout.

    junit   the file for JUnit XML, None for none
    github  whether annotations go to stderr
    """

    junit: str | None
    github: bool

    def write(
        self,
        runs: Sequence[Run],
        gates: Sequence[GateResult],
        comparison: Comparison | None,
        suite: Suite | None = None,
        faults: Sequence[SuiteFault] = (),
        failed: Sequence[FailedGate] = (),
    ) -> None:
        """Write what was asked for.

        suite   the file that annotations point to
        failed  the gates among these that failed, with their worst queries
        """
        if self.junit:
            Path(self.junit).parent.mkdir(parents=True, exist_ok=True)
            Path(self.junit).write_text(junit_xml(runs, gates, comparison, faults, failed), encoding="utf-8")
        if self.github and (runs or faults) and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
            with open(summary, "a", encoding="utf-8") as file:
                file.write(step_summary(runs, gates, failed, comparison, faults))
        if self.github:
            print(github_annotations(runs, gates, comparison, suite, faults, failed), end="", file=sys.stderr)

    @contextmanager
    def suite_faults(self) -> Iterator[None]:
        """Write the faults of an invalid suite before they end the command."""
        try:
            yield
        except SuiteInvalid as error:
            self.write([], [], None, faults=[SuiteFault(*place) for place in error.places])
            raise


@dataclass(frozen=True, slots=True)
class Checks:
    """What the runs of a command are checked against, and where the results go.

    baseline   an earlier run, by id or file
    tolerance  how much worse a share may get
    """

    gates: Sequence[Gate]
    baseline: str | None
    tolerance: float
    output: CiOutput


def read_checks(
    gate: Sequence[str] | None, baseline: str | None, tolerance: float, junit: str | None, github: bool
) -> Checks:
    """The options of a measuring command.

    raises  InvalidInput for an invalid gate, before anything is run
    """
    return Checks([parse_gate(text) for text in gate or ()], baseline, tolerance, CiOutput(junit, github))


def conclude(invocation: Invocation, runs: Sequence[Run], checks: Checks, suite: Suite | None = None) -> None:
    """Print the runs, check gates and baseline; exit 1 when one of them fails.

    suite  the file that annotations point to
    """
    checked = [pair for run in runs for pair in zip(checks.gates, check_gates(run, checks.gates), strict=True)]
    results = [result for _, result in checked]
    baseline = load_run(invocation.home, checks.baseline) if checks.baseline else None
    comparison = _compare(baseline, runs, checks.tolerance) if baseline else None
    failed = failed_gates(runs, checked, baseline, suite)
    if invocation.json:
        if comparison:
            print(to_json(comparison))
        print(to_json(EvalRuns(runs=summarize(runs), gates=tuple(results))))
    else:
        print_runs(runs, all_metrics=invocation.verbose)
        if results:
            say()
        print_gates(results)
        print_worst_queries(failed)
        if comparison:
            print_comparison(comparison, all_metrics=invocation.verbose)
        kept = ", ".join(f"{short_name(run.run_id)} ({run.mode})" for run in runs)
        invocation.notify(f"kept as {kept} · as a page: kb eval report last -o report.html")
    checks.output.write(runs, results, comparison, suite, failed=failed)
    if any(not result.passed for result in results) or (comparison and comparison.has_regression):
        raise typer.Exit(ExitCode.NOTHING)


def _compare(before: Run, runs: Sequence[Run], tolerance: float) -> Comparison:
    """The comparison with the run of the baseline's mode, else with the last run."""
    now = next((run for run in runs if run.mode == before.mode), runs[-1])
    return compare_runs(before, now, tolerance)
