"""kb doctor: check the installation and the home, and repair what can be repaired."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.terminal import harmless, say, styled
from kb.doctor import Diagnosis, diagnose, repair_home
from kb.errors import ExitCode

HEALTH_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@command
def doctor(
    invocation: Invocation,
    repair: Annotated[bool, typer.Option("--repair", help="repair what can be repaired, then check again")] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="read everything that is stored and compare it with its checksums")
    ] = False,
) -> None:
    """Check this installation; every fault comes with its fix.

    Exit 3 when something fails.
    """
    config = invocation.config()
    if repair:
        repair_home(invocation.home, config, invocation.notify, deep=deep)
    diagnosis = diagnose(invocation.home, config, deep=deep)
    invocation.emit(diagnosis, _print_diagnosis)
    if not diagnosis.ok:
        raise typer.Exit(ExitCode.UNHEALTHY)


def _print_diagnosis(diagnosis: Diagnosis) -> None:
    for check in diagnosis.checks:
        status = styled(f"{check.status:<4}", HEALTH_COLOURS[check.status])
        say(f"{status}  {check.name:<15} {harmless(check.detail)}")
        if check.fix:
            say(f"{'':<21} fix: {harmless(check.fix)}")
