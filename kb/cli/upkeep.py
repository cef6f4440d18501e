"""kb init, status, doctor, reindex, backup: create a knowledge base, check it, and look after it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.render import print_status
from kb.cli.terminal import harmless, say, styled
from kb.cli.views import Finished
from kb.config import commented_toml
from kb.doctor import Diagnosis, diagnose, repair_home
from kb.errors import ExitCode, InvalidInput, IoError
from kb.status import read_status
from kb.store.store import Store

HEALTH_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@command
def init(
    invocation: Invocation,
    force: Annotated[bool, typer.Option("--force", help="replace an existing config.toml")] = False,
) -> None:
    """Create the data folder and a commented config.toml.

    Stored documents stay.
    """
    path = invocation.home / "config.toml"
    if path.exists() and not force:
        raise InvalidInput(f"{path} exists already", fix="edit it, or replace it with: kb init --force")
    Store(invocation.home, write=True).close()
    path.write_text(commented_toml(live=False), encoding="utf-8")
    _emit_done(invocation, "created a knowledge base; its settings, with their defaults, are in", path)


@command
def status(invocation: Invocation) -> None:
    """Show what is in the knowledge base, and whether it is complete."""
    with invocation.open(invocation.config()) as kb:
        found = read_status(kb)
    invocation.emit(found, print_status)


@command
def doctor(
    invocation: Invocation,
    repair: Annotated[bool, typer.Option("--repair", help="repair what can be repaired, then check again")] = False,
) -> None:
    """Check this installation; every fault comes with its fix.

    Exit 3 when something fails.
    """
    config = invocation.config()
    if repair:
        repair_home(invocation.home, config, invocation.notify)
    diagnosis = diagnose(invocation.home, config)
    invocation.emit(diagnosis, _print_diagnosis)
    if not diagnosis.ok:
        raise typer.Exit(ExitCode.UNHEALTHY)


def _print_diagnosis(diagnosis: Diagnosis) -> None:
    for check in diagnosis.checks:
        status = styled(f"{check.status:<4}", HEALTH_COLOURS[check.status])
        say(f"{status}  {check.name:<15} {harmless(check.detail)}")
        if check.fix:
            say(f"{'':<21} fix: {harmless(check.fix)}")


@command
def reindex(invocation: Invocation) -> None:
    """Rebuild both indexes from the store."""
    with invocation.open(invocation.config()) as kb:
        kb.require_documents()
        lexical, vector = kb.refresh_indexes(force=True)
    what = f"indexed {lexical.rows:,} chunks by words and {vector.rows:,} by vectors in"
    _emit_done(invocation, what, invocation.home / "index")


@command
def backup(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="where to put the copy; must not exist")],
) -> None:
    """Copy the whole knowledge base to one file.

    Safe while others write.
    """
    path = Path(file).expanduser().absolute()
    if path.exists():
        raise InvalidInput(f"{path} exists", fix="name a new file")
    if not path.parent.is_dir():
        raise InvalidInput(f"no folder {path.parent}", fix="create it first")
    with invocation.open(invocation.config()) as kb:
        try:
            kb.store.write_copy(path)
        except sqlite3.OperationalError as error:
            path.unlink(missing_ok=True)
            raise IoError(f"cannot write {path}: {error}", fix="check its folder and free space") from error
    _emit_done(invocation, "copied the knowledge base to", path)


def _emit_done(invocation: Invocation, done: str, path: Path) -> None:
    finished = Finished(done=done, path=str(path))
    if invocation.json or not invocation.quiet:
        invocation.emit(finished, lambda finished: say(harmless(f"{finished.done} {finished.path}")))
