"""kb chat: `ask` turn by turn, at a terminal with line editing, in a pipe one question a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from kb.ask.records import AnswerInterrupted
from kb.chat.commands import run_command
from kb.chat.names import check_session_name, new_session_name
from kb.chat.pipeline import Chat, take_turn
from kb.cli.answer_printer import AnswerPrinter
from kb.cli.ask import PlainOption
from kb.cli.chat_prompt import ask_for_lines
from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.looking import open_place
from kb.cli.model import ModelOption, model_settings
from kb.cli.model_offer import offer_model
from kb.cli.reader import ReaderWatch
from kb.cli.search import KOption, ModeOption
from kb.cli.session_views import session_of, to_markdown
from kb.cli.sources import shown_places
from kb.cli.spinner import Spinner
from kb.cli.terminal import counted, harmless, print_error, say, say_message, tell
from kb.errors import ExitCode, InvalidInput, IoError, KbError
from kb.language.registry import question_language
from kb.records import Filters
from kb.store.last_shown import note_shown

# Typed alone they end a chat, with a slash or without.
LEAVING = frozenset(("exit", "quit", "종료"))


@command
def chat(
    invocation: Invocation,
    filters: Filters,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="S", help="its name; one that there is goes on", show_default=False),
    ] = None,
    resume: Annotated[bool, typer.Option("--continue", "-c", help="go on with the session that was used last")] = False,
    mode: ModeOption = None,
    k: KOption = None,
    model: ModelOption = None,
    plain: PlainOption = False,
) -> None:
    """Ask turn by turn; what was said before is remembered, and follow-ups are understood.

    In a pipe: one question a line. Exit 1 when none was answered.
    """

    if session is not None and resume:
        raise InvalidInput("--session and --continue exclude each other", fix="leave one of them out")
    config = offer_model(invocation, invocation.config(search__mode=mode, rag__k=k, **model_settings(model)))
    notes = _Notes(invocation.quiet)
    with invocation.base(config, notes).runtime() as kb:
        kb.require_documents()
        name = check_session_name(session) if session is not None else kb.journal.last_session() if resume else None
        talk = Chat(kb, name or new_session_name(kb.journal), config.search.mode, config.rag.k, filters)
        answered = _talk(talk, invocation, notes, renders=not plain)
    if not answered:
        raise typer.Exit(ExitCode.NOTHING)


class _Notes:
    """Messages of a conversation: each is told once; while a question is asked, past its spinner."""

    def __init__(self, is_quiet: bool) -> None:
        self.spinner: Spinner | None = None
        self._is_quiet = is_quiet
        self._told: set[str] = set()

    def __call__(self, message: str) -> None:
        if self._is_quiet or message in self._told:
            return
        self._told.add(message)
        if self.spinner:
            self.spinner.notify(message)
        else:
            tell(message)


def _talk(talk: Chat, invocation: Invocation, notes: _Notes, *, renders: bool) -> bool:
    """Turn after turn until the end of the input; True when something was answered, or nothing was asked."""

    at_terminal = sys.stdin.isatty() and is_interactive() and not invocation.json
    answered: list[bool] = []
    for line in _read_terminal(talk) if at_terminal else _read_lines():
        text = line.strip()
        if not text:
            continue
        if text.casefold() in LEAVING:
            break
        try:
            if text.startswith("/"):
                said = run_command(talk, text)
                _print_said(said.lines, invocation)
                if said.opens:
                    _open_place(said.opens, invocation)
                if said.saves:
                    _save(talk, said.saves, invocation)
                if said.ends:
                    break
            else:
                is_shown = at_terminal and not invocation.quiet
                notes.spinner = Spinner("searching", is_shown=is_shown, language=question_language(text))
                with notes.spinner:
                    printer = AnswerPrinter(
                        as_json=invocation.json,
                        streams=at_terminal,
                        renders=at_terminal and renders,
                        spinner=notes.spinner,
                    )
                    answered.append(_answer(talk, text, invocation, printer, at_terminal))
        except KbError as error:
            # One question that cannot be asked does not end the conversation.
            print_error(error, json=invocation.json)
            answered.append(False)
    return any(answered) or not answered


def _read_lines() -> Iterator[str]:
    for raw in sys.stdin.buffer:
        yield raw.decode("utf-8", "replace").removeprefix("\ufeff")


def _read_terminal(talk: Chat) -> Iterator[str]:
    yield from ask_for_lines(talk)


def _answer(talk: Chat, question: str, invocation: Invocation, printer: AnswerPrinter, at_terminal: bool) -> bool:
    """Ask, print; True when it was answered."""

    watch = ReaderWatch()
    try:
        with nullcontext() if at_terminal else watch:
            answer = take_turn(talk, question, printer.on_event)
    except KbError:
        printer.close()
        raise
    except KeyboardInterrupt as interrupt:
        if watch.has_left:
            raise BrokenPipeError from interrupt
        if not at_terminal or not isinstance(interrupt, AnswerInterrupted):
            raise
        talk.last = interrupt.answer  # Ctrl-C ends the answer, not the chat
        answer = interrupt.answer
    if not invocation.json:
        printer.roots = talk.kb.corpus.source_roots()
    printer.finish(answer)
    if not invocation.json:
        note_shown(invocation.home, shown_places(answer))
        say()
    sys.stdout.flush()
    return answer.refusal_reason is None


def _print_said(lines: tuple[str, ...], invocation: Invocation) -> None:
    """What a command says is for the person: under --json stdout holds answers alone."""

    for line in lines:
        if invocation.json:
            tell(line)
        else:
            say_message(harmless(line))
    sys.stdout.flush()


def _save(talk: Chat, name: str, invocation: Invocation) -> None:
    """Write the session as Markdown; a file that is there already is left as it is."""
    path = Path(name).expanduser()
    turns = talk.kb.journal.session_turns(talk.session_id)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(to_markdown(session_of(talk.session_id, turns)))
    except FileExistsError as error:
        raise InvalidInput(f"{name} is there already", fix="name another file: /save FILE") from error
    except OSError as error:
        raise IoError(f"cannot write {name}: {error.strerror}", fix="name another file: /save FILE") from error
    _print_said((f"saved {counted(len(turns), 'turn')} to {name}",), invocation)


def _open_place(uri: str, invocation: Invocation) -> None:
    open_place(uri, invocation, returns=True)
