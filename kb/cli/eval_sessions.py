"""kb eval sessions: a suite's conversations lived through, with the relevance parser and without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.invocation import Invocation, command

if TYPE_CHECKING:
    from kb.eval.sessions import Cost, SessionsReport


@command
def sessions(
    invocation: Invocation,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="a YAML file whose queries have sessions")],
) -> None:
    """Conversations: follow-ups, greetings, facts, returns. What turns cost, and whether they are answered.

    Lived through in a copy of the home, twice: with the relevance parser, and with every context node included.
    """
    from kb.cli.eval_output import query_progress
    from kb.errors import InvalidInput
    from kb.eval.sessions import report_sessions, run_sessions
    from kb.eval.suite import load_suite

    config = invocation.config()
    invocation.open(config).close()
    loaded = load_suite(Path(suite))
    if not any(query.session for query in loaded.queries):
        raise InvalidInput(f"{suite} has no conversations", fix="give its queries a 'session', or use: kb eval run")
    show = query_progress(invocation)
    results = run_sessions(invocation.home, config, loaded, lambda done, total: show("with parser", done, total))
    without = run_sessions(
        invocation.home, config, loaded, lambda done, total: show("with every node", done, total), uses_relevance=False
    )
    report = report_sessions(loaded, results, without)
    if invocation.json:
        from kb.wire import to_json

        print(to_json(report))
    else:
        _print(report)


def _print(report: SessionsReport) -> None:
    from kb.cli.terminal import harmless_line, say

    say(f"{report.suite}: {report.turns} turns in {report.sessions} conversations")
    say(f"mode as expected: {report.mode_matches} of {report.mode_expected}")
    for fault in report.mode_faults:
        say(f"  {harmless_line(fault)}")
    say(
        f"right: {_share(report.right_with)} with the parser, {_share(report.right_without)} with every node"
        f" · false refusals: {_share(report.false_refusals_with)}, {_share(report.false_refusals_without)}"
    )
    say()
    say(f"{'':22}{'turns':>6}{'typed':>8}{'rules':>8}{'hand':>8}{'answered':>10}{'right':>8}")
    for row in report.figures:
        cells = [row.recall_typed, row.recall, row.recall_by_hand]
        figures = "".join(f"{_share(cell):>8}" for cell in cells)
        say(f"{row.name:22}{row.turns:>6}{figures}{_share(row.answered):>10}{_share(row.right):>8}")
    say()
    say(f"{'':30}{'turns':>6}{'prompt':>9}{'nodes':>7}{'SQL':>6}{'encoder':>9}{'indexes':>9}{'ms':>9}")
    for cost in report.costs:
        say(_cost_line(f"{cost.mode}, parser", cost.turns, cost.with_parser))
        say(_cost_line(f"{cost.mode}, every node", cost.turns, cost.without_parser))


def _cost_line(name: str, turns: int, cost: Cost) -> str:
    return (
        f"{name:30}{turns:>6}{cost.prompt_tokens:>9,}{cost.node_tokens:>7,}{cost.statements:>6}"
        f"{cost.encoder_calls:>9}{cost.index_opens:>9}{cost.milliseconds:>9.1f}"
    )


def _share(value: float | None) -> str:
    return "·" if value is None else f"{value:.3f}"
