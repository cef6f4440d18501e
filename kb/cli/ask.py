"""kb ask"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated

import typer

from kb.ask.records import AnswerInterrupted
from kb.cli.answer_printer import AnswerPrinter
from kb.cli.examples import EXAMPLES
from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.known_text import KnownTextOption, read_known_text_option
from kb.cli.model import ModelOption, model_settings
from kb.cli.model_offer import offer_model
from kb.cli.reader import ReaderWatch
from kb.cli.search import KOption, ModeOption
from kb.cli.sources import shown_places
from kb.cli.spinner import Spinner
from kb.errors import ExitCode, InvalidInput, KbError
from kb.language.registry import question_language
from kb.records import Filters
from kb.store.last_shown import note_shown

PlainOption = Annotated[bool, typer.Option("--plain", help="print a model's Markdown as it is written, not rendered")]


@command
def ask(
    invocation: Invocation,
    filters: Filters,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION…", help="in any words, with quotes or without; English or Korean; - reads it from stdin"
        ),
    ] = None,
    mode: ModeOption = None,
    k: KOption = None,
    model: ModelOption = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", metavar="T", help="randomness, 0 to 2", show_default=False)
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="seed of the sampling", show_default=False)
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="S",
            help="file the answer under this name; what its answers showed counts as seen",
            show_default=False,
        ),
    ] = None,
    window: KnownTextOption = None,
    intent: Annotated[
        str | None,
        typer.Option(
            "--intent",
            metavar="M",
            help="what kind of prompt it is: RESPOND, CLARIFY, ACT, ACKNOWLEDGE, or a mode of your rules",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="show the context nodes, the retrieval, the gates and the packed passages"),
    ] = False,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream", help="print the answer as it comes; default on a terminal", show_default=False
        ),
    ] = None,
    plain: PlainOption = False,
) -> None:
    """Ask a question: a cited answer, or an honest refusal (exit 1).

    What only you have told kb (kb remember) is said to be that, and is exit 1 as well.
    """

    config = invocation.config(
        search__mode=mode,
        rag__k=k,
        **model_settings(model),
        llm__temperature=temperature,
        llm__seed=seed,
    )
    config = offer_model(invocation, config)
    seen = read_known_text_option(invocation, config, window)
    streams = _streams(stream, invocation)
    question = _question(words or [])
    is_shown = not (invocation.quiet or invocation.json)
    spinner = Spinner("searching", is_shown=is_shown, language=question_language(question))
    notify = (lambda message: None) if invocation.quiet else spinner.notify
    with invocation.base(config, notify) as base:
        renders = is_interactive() and not plain
        printer = AnswerPrinter(as_json=invocation.json, streams=streams, renders=renders, spinner=spinner)
        watch = ReaderWatch()
        try:
            with spinner, watch if printer.streams else nullcontext():
                answer = base.ask(
                    question,
                    filters=filters,
                    session=session,
                    seen=seen,
                    intent=intent,
                    explain=explain,
                    on_event=printer.on_event,
                )
        except KeyboardInterrupt as interrupt:
            if watch.has_left:  # what came of the answer is stored
                raise BrokenPipeError from interrupt
            if isinstance(interrupt, AnswerInterrupted):
                printer.finish(interrupt.answer)
            raise
        except KbError:
            printer.close()
            raise
        if not invocation.json:
            printer.roots = base.runtime().corpus.source_roots()
    printer.finish(answer)
    if not invocation.json and answer.citations:
        note_shown(invocation.home, shown_places(answer))
    if not answer.grounded and not answer.is_acknowledgement():
        raise typer.Exit(ExitCode.NOTHING)


def _question(words: Sequence[str]) -> str:
    """The question that was typed; what stdin holds for "-", and in a pipe where none was typed.

    raises  InvalidInput where there is none
    """
    is_piped = not words and not sys.stdin.isatty()
    question = sys.stdin.read() if is_piped or list(words) == ["-"] else " ".join(words)
    if not question.strip():
        raise InvalidInput("no question given", fix=f"for example: {EXAMPLES['ask'][0]}; see: kb ask --help")
    return question.strip()


def _streams(wanted: bool | None, invocation: Invocation) -> bool:
    """Pieces as they come for people at a terminal, the whole for pipes and scripts, unless told otherwise."""
    return is_interactive() and not invocation.json if wanted is None else wanted
