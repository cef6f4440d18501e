"""kb eval sessions: the conversations of a suite, with relevance decisions and with every context node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.eval_output import query_progress
from kb.cli.invocation import Invocation, command
from kb.cli.tables import Table, draw
from kb.cli.terminal import harmless_line, say
from kb.errors import InvalidInput
from kb.eval.suite import load_suite

if TYPE_CHECKING:  # loading what answers would slow down eval list, report and compare
    from kb.eval.sessions import Cost, SessionsReport


@command
def sessions(
    invocation: Invocation,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="a YAML file whose queries have sessions")],
) -> None:
    """Measure conversations: follow-ups, greetings, facts, returns; what turns cost and whether they are answered.

    They run in a copy of the home, twice: with the relevance parser, and with every context node included.
    """
    from kb.eval.sessions import report_sessions, run_sessions  # heavy, as above

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
    invocation.emit(report, _print)


def _print(report: SessionsReport) -> None:
    say(f"{report.suite}: {report.turns} turns in {report.sessions} conversations")
    say(f"mode as expected: {report.mode_matches} of {report.mode_expected}")
    for fault in report.mode_faults:
        say(f"  {harmless_line(fault)}")
    say(
        f"right: {_share(report.right_with)} with the parser, {_share(report.right_without)} with every node"
        f" · false refusals: {_share(report.false_refusals_with)}, {_share(report.false_refusals_without)}\n"
    )
    figures = [
        [
            row.name,
            str(row.turns),
            *map(_share, (row.recall_typed, row.recall, row.recall_by_hand, row.answered, row.right)),
        ]
        for row in report.figures
    ]
    costs = [
        _cost_row(f"{cost.mode}, {name}", cost.turns, found)
        for cost in report.costs
        for name, found in (("parser", cost.with_parser), ("every node", cost.without_parser))
    ]
    heads = (
        ("turns of", "turns", "typed", "rules", "hand", "answered", "right"),
        ("mode", "turns", "prompt", "nodes", "SQL", "encoder", "indexes", "ms"),
    )
    say(draw([Table(heads[0], figures), Table(heads[1], costs)]))


def _cost_row(name: str, turns: int, cost: Cost) -> list[str]:
    counts = (turns, cost.prompt_tokens, cost.node_tokens, cost.statements, cost.encoder_calls, cost.index_opens)
    return [name, *(f"{count:,}" for count in counts), f"{cost.milliseconds:.1f}"]


def _share(value: float | None) -> str:
    return "·" if value is None else f"{value:.3f}"
