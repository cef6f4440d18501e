"""kb eval run, beir, spans, tune, compare, report, list: measure, gate, compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from kb.cli.charts import print_comparison, print_run_list
from kb.cli.eval_init import init
from kb.cli.eval_output import (
    ALL_MODES,
    Checks,
    CiOutput,
    chosen_modes,
    conclude,
    ingest_listener,
    query_progress,
    read_checks,
)
from kb.cli.eval_sessions import sessions
from kb.cli.eval_tune import tune
from kb.cli.invocation import Invocation, command
from kb.cli.listing import LimitOption, Sortings, arranged, sort_option
from kb.errors import ExitCode, InvalidInput
from kb.eval.compare import compare_runs, needs_answers
from kb.eval.records import EvalRuns, Run
from kb.eval.report import FORMATS, render_report
from kb.eval.runs import list_runs, load_run, save_run, summarize
from kb.eval.suite import load_suite
from kb.records import Filters

app = typer.Typer(help="Measure search and answers, gate and compare.", rich_markup_mode=None)
app.command("init")(init)

SORTINGS: Sortings[Run] = {
    "oldest": (lambda run: run.created_at, False),
    "newest": (lambda run: run.created_at, True),
    "suite": (lambda run: run.suite, False),
}

ModesOption = Annotated[
    list[str] | None,
    typer.Option("--mode", metavar="MODE", help="lexical, vector or hybrid; repeatable", show_default=False),
]
GateOption = Annotated[
    list[str] | None,
    typer.Option("--gate", metavar="G", help="such as 'ndcg@10>=0.40'; exit 1 when one fails", show_default=False),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline", metavar="RUN", help="compare with this run or file; exit 1 on a regression", show_default=False
    ),
]
ToleranceOption = Annotated[
    float, typer.Option("--tolerance", metavar="T", help="a drop up to this is no regression", min=0)
]
JunitOption = Annotated[
    str | None,
    typer.Option("--junit", metavar="FILE", help="write gates and regressions as JUnit XML", show_default=False),
]
GithubOption = Annotated[bool, typer.Option("--github", help="print annotations for a GitHub workflow")]


@app.command("run")
@command
def run(
    invocation: Invocation,
    filters: Filters,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="a suite's YAML file")],
    mode: ModesOption = None,
    ask: Annotated[bool, typer.Option("--ask", help="answer each question too, and judge the answers")] = False,
    gate: GateOption = None,
    baseline: BaselineOption = None,
    tolerance: ToleranceOption = 0.01,
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="answer each question N times", min=1)] = 1,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="go on with a run that broke off", show_default=False)
    ] = None,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FILE", help="keep the run in a file, as a baseline", show_default=False),
    ] = None,
    junit: JunitOption = None,
    github: GithubOption = False,
    drafts: Annotated[bool, typer.Option("--drafts", help="try the drafts of kb eval init too; gates nothing")] = False,
) -> None:
    """Run a suite against this knowledge base.

    A query with 'draft: true' is left out: nobody has judged it.
    """
    config = invocation.config()
    checks = read_checks(gate, baseline, tolerance, junit, github)
    if drafts and (gate or baseline or save or junit):
        raise InvalidInput(
            "drafts gate nothing: nobody has judged them",
            fix="leave out --gate, --baseline, --save and --junit, or check the drafts and delete their 'draft: true'",
        )
    if save and len(set(mode or ())) > 1:
        raise InvalidInput("--save keeps one run, and there are several modes", fix="name one --mode")
    with checks.output.suite_faults(), invocation.open(config) as kb:
        kb.require_documents()
        loaded = load_suite(Path(suite), with_drafts=drafts)
        if loaded.drafts:
            invocation.notify(f"{loaded.drafts} drafts of {suite} are left out: nobody has judged them")
        runs = _judged_sets().evaluate_suite(
            kb,
            loaded,
            chosen_modes(mode, (config.search.mode,)),
            invocation.home,
            query_progress(invocation),
            answers=ask or any(needs_answers(g) for g in checks.gates),
            seeds=seeds,
            filters=filters,
            resume=resume,
        )
    if save:
        save_run(Path(save), runs[-1])
    conclude(invocation, runs, checks, loaded)


@app.command("beir")
@command
def beir(
    invocation: Invocation,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="corpus.jsonl, queries.jsonl, qrels/test.tsv")],
    corpus: Annotated[
        str | None, typer.Option("--corpus", metavar="FILE", help="corpus.jsonl from elsewhere", show_default=False)
    ] = None,
    mode: ModesOption = None,
    gate: GateOption = None,
    baseline: BaselineOption = None,
    tolerance: ToleranceOption = 0.01,
    junit: JunitOption = None,
    github: GithubOption = False,
) -> None:
    """Run a BEIR collection in a throw-away home, all modes side by side."""
    folders = [Path(folder), *([Path(corpus)] if corpus else [])]
    _run_judged_set(invocation, "beir", folders, mode, read_checks(gate, baseline, tolerance, junit, github))


@app.command("spans")
@command
def spans(
    invocation: Invocation,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="questions_df.csv beside corpora/")],
    mode: ModesOption = None,
    gate: GateOption = None,
    baseline: BaselineOption = None,
    tolerance: ToleranceOption = 0.01,
    junit: JunitOption = None,
    github: GithubOption = False,
) -> None:
    """Run questions with exact spans: token recall, precision, IoU."""
    checks = read_checks(gate, baseline, tolerance, junit, github)
    _run_judged_set(invocation, "spans", [Path(folder)], mode, checks)


def _judged_sets() -> ModuleType:
    """Loading what searches and answers would triple the time of eval list, report and compare."""
    from kb.eval import judged_sets

    return judged_sets


def _run_judged_set(
    invocation: Invocation, layout: str, paths: Sequence[Path], mode: Sequence[str] | None, checks: Checks
) -> None:
    """Run a public collection in its throw-away home, in all modes unless some are named."""
    judged = _judged_sets().LAYOUTS[layout](*paths)
    modes = chosen_modes(mode, ALL_MODES)
    with ingest_listener(invocation) as on_event:
        kb = judged.open(invocation.cache(), invocation.config(), on_event, invocation.notify)
    with kb:
        runs = _judged_sets().evaluate_set(kb, judged, modes, invocation.home, query_progress(invocation))
    conclude(invocation, runs, checks)


@app.command("compare")
@command
def compare(
    invocation: Invocation,
    a: Annotated[str, typer.Argument(metavar="A", help="the run before: an id, its beginning, or a file")],
    b: Annotated[str, typer.Argument(metavar="B", help="the run now; 'last' is the newest")] = "last",
    tolerance: ToleranceOption = 0.01,
    junit: JunitOption = None,
    github: GithubOption = False,
) -> None:
    """Compare two runs query by query; exit 1 on a regression."""
    before, now = load_run(invocation.home, a), load_run(invocation.home, b)
    comparison = compare_runs(before, now, tolerance)
    invocation.emit(comparison, partial(print_comparison, all_metrics=invocation.verbose))
    CiOutput(junit, github).write([now], [], comparison)
    if comparison.has_regression:
        raise typer.Exit(ExitCode.NOTHING)


@app.command("report")
@command
def report(
    invocation: Invocation,
    names: Annotated[list[str], typer.Argument(metavar="RUN…", help="ids, their beginnings, or files")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="where to; stdout when not given", show_default=False),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", metavar="F", help="html, md, json or csv", show_default=False)
    ] = None,
) -> None:
    """Write runs as one self-contained page, or as md, json or csv."""
    runs = [load_run(invocation.home, name) for name in names]
    chosen = form or (Path(output).suffix.lstrip(".") if output else "md")
    if chosen not in FORMATS:
        raise InvalidInput(f"no format '{chosen}'", fix=f"use one of: {', '.join(FORMATS)}")
    same_queries = len(runs) == 2 and {r.query_id for r in runs[0].results} & {r.query_id for r in runs[1].results}
    comparison = compare_runs(runs[0], runs[1]) if same_queries and runs[0].suite == runs[1].suite else None
    text = render_report(runs, comparison, chosen)
    if output:
        Path(output).write_text(text, encoding="utf-8")
        invocation.notify(f"wrote {output}")
    else:
        print(text)


@app.command("list")
@command
def list_(
    invocation: Invocation, limit: LimitOption = None, sort: Annotated[str | None, sort_option(SORTINGS)] = None
) -> None:
    """The runs of this home, oldest first; with --limit the newest of them."""
    every = list_runs(invocation.home, lambda problem: invocation.notify(f"left out: {problem}"))
    runs = arranged(every[-limit:] if limit and not sort else every, SORTINGS, sort, limit)
    invocation.emit(EvalRuns(runs=summarize(runs)), lambda _: print_run_list(runs))
    if not runs:
        invocation.notify("no runs yet; make one with: kb eval run SUITE")
        raise typer.Exit(ExitCode.NOTHING)


app.command("sessions")(sessions)
app.command("tune")(tune)
