"""What the evaluating commands share: progress, the table or the JSON at the end, gates, the exit code, output for CI."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kb.cli.invocation import Invocation
from kb.errors import ExitCode, InvalidInput

if TYPE_CHECKING:
    from kb.eval.ci_output import SuiteFault
    from kb.eval.compare import Gate
    from kb.eval.judged_sets import JudgedSet
    from kb.eval.records import Comparison, GateResult, Run, Suite
    from kb.ingest.report import IngestEvent
    from kb.records import SearchMode

ALL_MODES: tuple[SearchMode, ...] = ("lexical", "vector", "hybrid")


def chosen_modes(given: Sequence[str] | None, default: Sequence[SearchMode]) -> tuple[SearchMode, ...]:
    """The modes to run, each once, in the order given.

    raises  InvalidInput for a mode that is none
    """
    known: dict[str, SearchMode] = {mode: mode for mode in ALL_MODES}
    for mode in given or ():
        if mode not in known:
            raise InvalidInput(f"no mode '{mode}'", fix=f"use {', '.join(ALL_MODES)}")
    return tuple(dict.fromkeys(known[mode] for mode in given or default))


def query_progress(invocation: Invocation) -> Callable[[str, int, int], None]:
    """A counter on stderr while a run is under way, on a terminal only."""
    if invocation.quiet or invocation.json or not sys.stderr.isatty():
        return lambda mode, done, total: None

    def show(mode: str, done: int, total: int) -> None:
        end = "\r\x1b[K" if done == total else ""
        print(f"\r{mode}: {done} of {total} queries{end}", end="", file=sys.stderr, flush=True)

    return show


@contextmanager
def ingest_listener(invocation: Invocation) -> Iterator[Callable[[IngestEvent], None]]:
    """The progress of filling a throw-away home: a bar on a terminal, else silence."""
    from kb.cli.progress import Listener, make_listener

    if invocation.quiet or invocation.json or not sys.stderr.isatty():
        yield Listener().on_event
    else:
        with make_listener(invocation) as listener:
            yield listener.on_event


@dataclass(frozen=True, slots=True)
class Asked:
    """What a measuring command was asked to do with its runs.

    baseline   the run before, by id or file
    tolerance  how much worse a share may get
    junit      where the XML goes
    """

    gates: Sequence[Gate]
    baseline: str | None
    tolerance: float
    junit: str | None
    github: bool


def ask_for(
    gate: Sequence[str] | None, baseline: str | None, tolerance: float, junit: str | None, github: bool
) -> Asked:
    """The options as what they ask for.

    raises  InvalidInput for a gate that is none, before anything is run
    """
    from kb.eval.compare import parse_gate

    return Asked([parse_gate(text) for text in gate or ()], baseline, tolerance, junit, github)


def run_judged_set(invocation: Invocation, judged: JudgedSet, mode: Sequence[str] | None, asked: Asked) -> None:
    """Run a public collection in its throw-away home, all modes unless some are named."""
    from kb.eval.pipeline import evaluate

    modes = chosen_modes(mode, ALL_MODES)
    with ingest_listener(invocation) as on_event:
        kb = judged.open(invocation.cache(), invocation.config(), on_event, invocation.notify)
    with kb:
        runs = evaluate(kb, judged.request(modes), judged.judge(kb), invocation.home, query_progress(invocation))
    conclude(invocation, runs, asked)


def conclude(invocation: Invocation, runs: Sequence[Run], asked: Asked, suite: Suite | None = None) -> None:
    """Print the runs, check gates and baseline; exit 1 when one of them fails.

    suite  the file that annotations point to
    """
    from kb.cli.charts import print_comparison, print_gates, print_runs
    from kb.eval.compare import check_gates
    from kb.eval.records import EvalRuns
    from kb.eval.runs import summarize

    results = [result for run in runs for result in check_gates(run, asked.gates)]
    comparison = _compare_with_baseline(invocation, runs, asked)
    if invocation.json:
        from kb.wire import to_json

        if comparison:
            print(to_json(comparison))
        print(to_json(EvalRuns(runs=summarize(runs), gates=tuple(results))))
    else:
        print_runs(runs, all_metrics=invocation.verbose)
        print_gates(results)
        if comparison:
            print_comparison(comparison, all_metrics=invocation.verbose)
        kept = ", ".join(run.run_id for run in runs)
        invocation.notify(f"kept as {kept}")
        invocation.notify("see: kb eval report last -o report.html")
    write_ci_output(runs, results, comparison, asked.junit, asked.github, suite)
    if any(not result.passed for result in results) or (comparison and comparison.has_regression):
        raise typer.Exit(ExitCode.NOTHING)


def _compare_with_baseline(invocation: Invocation, runs: Sequence[Run], asked: Asked) -> Comparison | None:
    """With the run of the baseline's mode where there is one, else with the last."""
    from kb.eval.compare import compare_runs
    from kb.eval.runs import load_run

    if not asked.baseline:
        return None
    before = load_run(invocation.home, asked.baseline)
    now = next((run for run in runs if run.mode == before.mode), runs[-1])
    return compare_runs(before, now, asked.tolerance)


@contextmanager
def suite_faults_for_ci(junit: str | None, github: bool) -> Iterator[None]:
    """Faults of a suite go into the JUnit file and the annotations, too, before they end the command."""
    from kb.errors import SuiteInvalid

    try:
        yield
    except SuiteInvalid as error:
        from kb.eval.ci_output import SuiteFault

        faults = [SuiteFault(*place) for place in error.places]
        write_ci_output([], [], None, junit, github, faults=faults)
        raise


def write_ci_output(
    runs: Sequence[Run],
    gates: Sequence[GateResult],
    comparison: Comparison | None,
    junit: str | None,
    github: bool,
    suite: Suite | None = None,
    faults: Sequence[SuiteFault] = (),
) -> None:
    """A JUnit file and GitHub annotations, where they were asked for."""
    if not junit and not github:
        return
    from kb.eval.ci_output import github_annotations, junit_xml

    if junit:
        Path(junit).parent.mkdir(parents=True, exist_ok=True)
        Path(junit).write_text(junit_xml(runs, gates, comparison, faults), encoding="utf-8")
    if github:
        print(github_annotations(runs, gates, comparison, suite, faults), end="", file=sys.stderr)
