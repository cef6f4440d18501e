"""kb expert relevance"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.relevance_output import print_decision
from kb.cli.terminal import print_error
from kb.errors import ExitCode, InvalidInput
from kb.relevance.decide import Decision, decide, log_line
from kb.relevance.read_rules import configured_rules, read_rules
from kb.relevance.requests import make_situation, parse_request, parse_signals, unread_signals
from kb.relevance.rules import Rules, Situation
from kb.relevance.signals import Conversation, choose_mode, compute_signals
from kb.wire import to_json

URGENCIES = ("low", "normal", "medium", "high")


@command
def relevance(
    invocation: Invocation,
    mode: Annotated[
        str | None,
        typer.Argument(metavar="MODE", help="RESPOND, CLARIFY, ACT, ACKNOWLEDGE or one of yours", show_default=False),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt", metavar="TEXT", help="take the signals, and the mode, from a prompt", show_default=False
        ),
    ] = None,
    signals: Annotated[
        str | None,
        typer.Option("--signals", metavar="JSON", help='as in {"greeting_pattern": true}', show_default=False),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", help="tokens that are left; default 4000", show_default=False)
    ] = None,
    returning: Annotated[bool, typer.Option("--returning", help="the user comes back after a pause")] = False,
    urgency: Annotated[
        str | None, typer.Option("--urgency", metavar="U", help="low, normal, medium or high", show_default=False)
    ] = None,
    rules: Annotated[
        str | None, typer.Option("--rules", metavar="FILE", help="try these rules, JSON or TOML", show_default=False)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="with JSON: every node with its reasons")] = False,
    bulk: Annotated[
        bool, typer.Option("--bulk", help="read one JSON object per line from standard input, print one per line")
    ] = False,
) -> None:
    """Try the context relevance rules: which context nodes a prompt would get, and why."""
    alone = [
        name for name, given in [("MODE", mode), ("--prompt", prompt), ("--signals", signals)] if given is not None
    ]
    if bulk and (alone or returning or urgency or budget is not None):
        named = alone[0] if alone else "--returning, --urgency or --budget"
        raise InvalidInput(f"--bulk reads everything from its lines, {named} too", fix="put it into the lines")
    if not bulk and mode is None and prompt is None:
        raise InvalidInput("no mode given", fix="kb expert relevance RESPOND, or: kb expert relevance --prompt 'Hey!'")
    chosen = _open_rules(invocation, rules)
    if bulk:
        if not _answer_lines(invocation, chosen, explain=explain):
            raise typer.Exit(ExitCode.NOTHING)
        return
    situation = _situation(mode, prompt, signals, budget, returning, urgency)
    _answer_one(invocation, chosen, situation, explain=explain)


def _open_rules(invocation: Invocation, named: str | None) -> Rules:
    """The rules of the named file, else the configured ones."""
    config = invocation.config()
    if named is not None:
        return read_rules(Path(named).expanduser())
    return configured_rules(config.relevance)


def _situation(
    mode: str | None, prompt: str | None, signals: str | None, budget: int | None, returning: bool, urgency: str | None
) -> Situation:
    if urgency is not None and urgency not in URGENCIES:
        raise InvalidInput(f"--urgency is '{urgency}'", fix=f"use one of: {', '.join(URGENCIES)}")
    given = parse_signals(signals) if signals is not None else {}
    if prompt is None:
        return make_situation(mode or "", given, urgency, returning, budget)
    found = compute_signals(prompt, Conversation())
    values = {**found.values(), **given}
    return make_situation(choose_mode(found, mode).mode, values, urgency, returning, budget)


def _answer_one(invocation: Invocation, rules: Rules, situation: Situation, *, explain: bool) -> None:
    decision = decide(rules, situation, explain=explain or not invocation.json)
    for line in (*unread_signals(situation.signals, rules), *decision.warnings):
        invocation.notify(f"note: {line}")
    _log(invocation, decision)
    invocation.emit(decision, print_decision)


def _answer_lines(invocation: Invocation, rules: Rules, *, explain: bool) -> bool:
    """Print one decision for each line of standard input, blank lines apart; True when every line could be read."""
    noted: set[str] = set(rules.warnings)
    for warning in rules.warnings:
        invocation.notify(f"note: {warning}")
    all_read = True
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        if not raw.strip():
            continue
        try:
            situation, unread = parse_request(raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw)
        except InvalidInput as error:
            all_read = False
            details = {**error.details, "line": number}
            found = InvalidInput(f"line {number}: {error.problem}", fix=error.fix, **details)
            print_error(found, json=invocation.json)
            continue
        for note in [f"the key '{name}' is not read" for name in unread] + unread_signals(situation.signals, rules):
            if note not in noted:
                noted.add(note)
                invocation.notify(f"note: line {number}: {note}")
        decision = replace(decide(rules, situation, explain=explain), line=number)
        _log(invocation, decision)
        print(to_json(decision), flush=True)
    return all_read


def _log(invocation: Invocation, decision: Decision) -> None:
    if invocation.verbose:
        invocation.log(log_line(decision))
