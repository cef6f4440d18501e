"""kb sessions list, show, export, rm: conversations, put together from the stored answers."""

from __future__ import annotations

import difflib
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.answer_views import open_output, print_removal
from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.listing import LimitOption, Sortings, arranged, sort_option
from kb.cli.session_views import Session, SessionList, print_session, session_of, to_markdown
from kb.cli.terminal import harmless_line, say
from kb.cli.views import AnswerRemoval
from kb.errors import ExitCode, InvalidInput, NotFound
from kb.store.sessions import SessionSummary
from kb.wire import to_json

if TYPE_CHECKING:  # an annotation alone
    from kb.runtime import Runtime

app = typer.Typer(
    help="Conversations: list them, show one, export or remove it. kb chat --session NAME continues one.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

SORTINGS: Sortings[SessionSummary] = {
    "recent": (lambda session: session.last_at, True),
    "name": (lambda session: session.session_id, False),
    "turns": (lambda session: session.turns, True),
}
NameArgument = Annotated[str, typer.Argument(metavar="SESSION", help="its name")]


@app.command("list")
@command
def list_(
    invocation: Invocation,
    limit: LimitOption = None,
    sort: Annotated[str | None, sort_option(SORTINGS)] = None,
) -> None:
    """All sessions, the most recently used first.

    Exit 1 when there are none.
    """
    with invocation.open(invocation.config()) as kb:
        found = SessionList(sessions=arranged(kb.journal.list_sessions(), SORTINGS, sort, limit))
    invocation.emit(found, _print_sessions)
    if not found.sessions:
        invocation.notify("no sessions yet; start one with: kb chat, or kb ask --session NAME")
        raise typer.Exit(ExitCode.NOTHING)


def _print_sessions(found: SessionList) -> None:
    for session in found.sessions:
        turns = "1 turn" if session.turns == 1 else f"{session.turns} turns"
        say(f"{harmless_line(session.session_id)}  {turns}  {session.first_at} to {session.last_at}")


@app.command("show")
@command
def show(invocation: Invocation, name: NameArgument) -> None:
    """The questions and answers of a session, oldest first."""
    session = _read_session(invocation, name)
    with invocation.open(invocation.config()) as kb:
        numbers = kb.journal.answer_numbers([turn.trace_id for turn in session.turns])
    invocation.emit(session, partial(print_session, numbers=numbers))


@app.command("export")
@command
def export(
    invocation: Invocation,
    name: NameArgument,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="default stdout", show_default=False)
    ] = None,
) -> None:
    """A session as Markdown to keep or to send; with --json as session.v1."""
    session = _read_session(invocation, name)
    with open_output(output) as file:
        file.write(f"{to_json(session)}\n" if invocation.json else to_markdown(session))
    if output:
        invocation.notify(f"exported {len(session.turns)} turns to {output}")


@app.command("rm")
@command
def rm(
    invocation: Invocation,
    names: Annotated[list[str], typer.Argument(metavar="SESSION…", help="their names")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask for confirmation")] = False,
) -> None:
    """Forget sessions with their answers, and free the space."""
    with invocation.open(invocation.config()) as kb:
        trace_ids = [t for name in names for t in kb.journal.trace_ids_of_session(_find(kb, name))]
    if is_interactive() and sys.stdin.isatty() and not yes:
        question = f"forget {len(names)} {'session' if len(names) == 1 else 'sessions'}, {len(trace_ids)} answers?"
        if not typer.confirm(question, err=True):
            raise typer.Exit(ExitCode.NOTHING)
    with invocation.open(invocation.config(), write=True) as kb:
        removed = kb.journal.remove_answers(list(dict.fromkeys(trace_ids)))
        print_removal(AnswerRemoval(removed=removed, freed_bytes=kb.store.compact()), invocation.json)


def _read_session(invocation: Invocation, name: str) -> Session:
    with invocation.open(invocation.config()) as kb:
        found = _find(kb, name)
        return session_of(found, kb.journal.session_turns(found))


def _find(kb: Runtime, name: str) -> str:
    """The session of this name.

    raises  NotFound, naming the nearest
    """
    known = [session.session_id for session in kb.journal.list_sessions()]
    if name in known:
        return name
    if not name.strip():
        raise InvalidInput("the session's name is empty", fix="see the names with: kb sessions list")
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean: {', '.join(near)}?" if near else "see what there is with: kb sessions list"
    raise NotFound(f"no session '{name}'", fix=hint)
