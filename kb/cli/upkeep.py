"""kb init, status, doctor, reindex, backup, schema: the care of a knowledge base."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.errors import ExitCode, InvalidInput, IoError


@command
def init(
    invocation: Invocation,
    force: Annotated[bool, typer.Option("--force", help="write config.toml anew over the one there is")] = False,
) -> None:
    """Make the home and a commented config.toml.

    Documents that are there stay.
    """
    from kb.config import commented_toml
    from kb.store.store import Store

    path = invocation.home / "config.toml"
    if path.exists() and not force:
        raise InvalidInput(f"{path} is there already", fix="edit it, or write it anew with: kb init --force")
    if not path.exists() or force:
        Store(invocation.home, write=True).close()
        path.write_text(commented_toml(live=False), encoding="utf-8")
    _print_done(invocation, "made a knowledge base; its settings, with their defaults, are in", str(path))


@command
def status(invocation: Invocation) -> None:
    """What is in here, and whether it is complete."""
    from kb.cli.render import print_status
    from kb.status import read_status

    with invocation.open(invocation.config()) as kb:
        found = read_status(kb)
    if invocation.json:
        from kb.wire import to_json

        print(to_json(found))
    else:
        print_status(found)


@command
def doctor(
    invocation: Invocation,
    repair: Annotated[bool, typer.Option("--repair", help="mend what can be mended, then check again")] = False,
) -> None:
    """Check this installation; every fault comes with its fix.

    Exit 3 when something fails.
    """
    from kb.cli.terminal import harmless, say, styled
    from kb.doctor import diagnose, repair_home

    config = invocation.config()
    if repair:
        repair_home(invocation.home, config, invocation.notify)
    diagnosis = diagnose(invocation.home, config)
    if invocation.json:
        from kb.wire import to_json

        print(to_json(diagnosis))
    else:
        colours = {"ok": "green", "warn": "yellow", "fail": "red"}
        for check in diagnosis.checks:
            say(f"{styled(f'{check.status:<4}', colours[check.status])}  {check.name:<15} {harmless(check.detail)}")
            if check.fix:
                say(f"{'':<21} fix: {harmless(check.fix)}")
    if not diagnosis.ok:
        raise typer.Exit(ExitCode.UNHEALTHY)


@command
def reindex(invocation: Invocation) -> None:
    """Build both indexes anew from the store."""
    config = invocation.config()
    with invocation.open(config) as kb:
        kb.require_documents()
        lexical, vector = kb.refresh_indexes(force=True)
    what = f"indexed {lexical.rows:,} chunks by words and {vector.rows:,} by vectors in"
    _print_done(invocation, what, str(invocation.home / "index"))


@command
def backup(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="where to put the copy; must not exist")],
) -> None:
    """Copy the whole knowledge base to one file.

    Safe while others write.
    """
    import sqlite3

    path = Path(file).expanduser().absolute()
    if path.exists():
        raise InvalidInput(f"{path} exists", fix="name a new file")
    if not path.parent.is_dir():
        raise InvalidInput(f"no folder {path.parent}", fix="make it first")
    with invocation.open(invocation.config()) as kb:
        try:
            kb.store.write_copy(path)
        except sqlite3.OperationalError as error:
            path.unlink(missing_ok=True)
            raise IoError(f"cannot write {path}: {error}", fix="check its folder and free space") from error
    _print_done(invocation, "copied the knowledge base to", str(path))


@command
def schema(
    invocation: Invocation,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="a wire object, such as answer.v1")] = None,
) -> None:
    """Print the JSON Schema of a wire object, or list them."""
    from kb.cli.views import SchemaList
    from kb.wire import json_schema, schema_names, to_json

    if name is None:
        print(to_json(SchemaList(schemas=tuple(schema_names()))) if invocation.json else "\n".join(schema_names()))
    else:
        print(json.dumps(json_schema(name), indent=2, ensure_ascii=False))


def _print_done(invocation: Invocation, done: str, path: str) -> None:
    if invocation.json:
        from kb.cli.views import Finished
        from kb.wire import to_json

        print(to_json(Finished(done=done, path=path)))
    elif not invocation.quiet:
        from kb.cli.terminal import harmless, say

        say(harmless(f"{done} {path}"))
