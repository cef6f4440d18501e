"""kb sessions list, show, export, rm: conversations, as the stored answers tell them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.invocation import Invocation, command, is_interactive
from kb.errors import ExitCode, InvalidInput, NotFound

if TYPE_CHECKING:
    from kb.knowledge_base import KnowledgeBase

app = typer.Typer(
    help="Conversations: list them, show one, export or remove it. kb chat --session NAME goes on with one.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

NameArgument = Annotated[str, typer.Argument(metavar="SESSION", help="its name")]


@app.command("list")
@command
def list_(invocation: Invocation) -> None:
    """All sessions, the one that was used last first.

    Exit 1 when there is none.
    """
    from kb.cli.session_views import SessionList
    from kb.cli.terminal import harmless_line, say

    with invocation.open(invocation.config()) as kb:
        found = kb.journal.list_sessions()
    if invocation.json:
        from kb.wire import to_json

        print(to_json(SessionList(sessions=found)))
    for session in () if invocation.json else found:
        turns = "1 turn" if session.turns == 1 else f"{session.turns} turns"
        say(f"{harmless_line(session.session_id)}  {turns}  {session.first_at} to {session.last_at}")
    if not found:
        invocation.notify("no sessions yet; kb chat makes them, and kb ask --session NAME")
        raise typer.Exit(ExitCode.NOTHING)


@app.command("show")
@command
def show(invocation: Invocation, name: NameArgument) -> None:
    """The questions and answers of a session, oldest first."""
    from kb.cli.session_views import print_session, session_of

    with invocation.open(invocation.config()) as kb:
        session = session_of(kb, _find(kb, name))
    if invocation.json:
        from kb.wire import to_json

        print(to_json(session))
    else:
        print_session(session)


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
    from kb.cli.answer_views import open_output
    from kb.cli.session_views import session_of, to_markdown
    from kb.wire import to_json

    with invocation.open(invocation.config()) as kb:
        session = session_of(kb, _find(kb, name))
    with open_output(output) as file:
        file.write(f"{to_json(session)}\n" if invocation.json else to_markdown(session))
    if output:
        invocation.notify(f"exported {len(session.turns)} turns to {output}")


@app.command("rm")
@command
def rm(
    invocation: Invocation,
    names: Annotated[list[str], typer.Argument(metavar="SESSION…", help="their names")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask back")] = False,
) -> None:
    """Forget sessions with their answers, and give the space back."""
    from kb.cli.answer_views import print_removal
    from kb.cli.views import AnswerRemoval

    with invocation.open(invocation.config()) as kb:
        doomed = [t for name in names for t in kb.journal.trace_ids_of_session(_find(kb, name))]
    if is_interactive() and sys.stdin.isatty() and not yes:
        question = f"forget {len(names)} {'session' if len(names) == 1 else 'sessions'}, {len(doomed)} answers?"
        if not typer.confirm(question, err=True):
            raise typer.Exit(ExitCode.NOTHING)
    with invocation.open(invocation.config(), write=True) as kb:
        removed = kb.journal.remove_answers(list(dict.fromkeys(doomed)))
        print_removal(AnswerRemoval(removed=removed, freed_bytes=kb.store.compact()), invocation.json)


def _find(kb: KnowledgeBase, name: str) -> str:
    """The session of this name.

    raises  NotFound, naming the nearest
    """
    import difflib

    known = [session.session_id for session in kb.journal.list_sessions()]
    if name in known:
        return name
    if not name.strip():
        raise InvalidInput("the session's name is empty", fix="see the names with: kb sessions list")
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean: {', '.join(near)}?" if near else "see what there is with: kb sessions list"
    raise NotFound(f"no session '{name}'", fix=hint)
