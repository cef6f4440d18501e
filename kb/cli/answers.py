"""kb answers list, show, replay, rm, export: the persisted answers, refusals included."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from kb.ask.node_prompt import base_version
from kb.ask.records import AnswerInterrupted
from kb.ask.replay import replay as run_replay
from kb.cli.answer_views import (
    EXPORTS,
    age_limit,
    as_objects,
    open_output,
    print_answer,
    print_answers,
    print_removal,
    print_replay,
)
from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.listing import Sortings, arranged, check_sort, sort_option
from kb.cli.model import model_settings
from kb.cli.views import AnswerList, AnswerRemoval, StoredAnswer
from kb.errors import ExitCode, InvalidInput
from kb.providers import PROVIDERS
from kb.store.answers import AnswerQuery, AnswerRow
from kb.wire import to_json

app = typer.Typer(
    help="The persisted answers: list and search them, show one, replay it, remove or export them.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

SORTINGS: Sortings[AnswerRow] = {
    "newest": (lambda row: (row.created_at, row.trace_id), True),
    "oldest": (lambda row: (row.created_at, row.trace_id), False),
    "question": (lambda row: row.question.casefold(), False),
    "slowest": (lambda row: row.latency_ms, True),
}
EVERY_ANSWER = -1

SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="DATE", help="only answers from then on", show_default=False)
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", metavar="DATE", help="only answers up to it, that day included", show_default=False),
]
SearchOption = Annotated[
    str | None,
    typer.Option(
        "--search", metavar="TEXT", help="only with all these words in question or answer", show_default=False
    ),
]
RefusedOption = Annotated[bool, typer.Option("--refused", help="only refusals")]
GroundedOption = Annotated[bool, typer.Option("--grounded", help="only grounded answers")]


@app.command("list")
@command
def list_(
    invocation: Invocation,
    n: Annotated[int, typer.Option("-k", "-n", "--limit", metavar="N", help="how many at most", min=1)] = 20,
    sort: Annotated[str | None, sort_option(SORTINGS)] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    refused: RefusedOption = False,
    grounded: GroundedOption = False,
    search: SearchOption = None,
) -> None:
    """The newest answers, newest first, each with the number that names it.

    Exit 1 when there is none.
    """

    check_sort(SORTINGS, sort)
    query = _query(since, until, refused, grounded, search)
    with invocation.open(invocation.config()) as kb:
        found = kb.journal.list_answers(n if sort in (None, "newest") else EVERY_ANSWER, query)
        rows = arranged(found, SORTINGS, sort, n)
        numbers = kb.journal.answer_numbers([t for row in rows for t in (row.trace_id, row.replay_of) if t])
    if invocation.json:
        listed = tuple(as_objects(row) | {"number": numbers.get(row.trace_id)} for row in rows)
        print(to_json(AnswerList(answers=listed)))
    else:
        print_answers(rows, numbers)
        if len(rows) == n:
            invocation.notify(f"the {'newest' if sort in (None, 'newest') else 'first'} {n}; -n {5 * n} shows more")
    if not rows:
        narrowed = any(option is not None for option in (since, until, search)) or refused or grounded
        invocation.notify("no such answers" if narrowed else "no answers yet; kb ask makes them")
        raise typer.Exit(ExitCode.NOTHING)


AnswerArgument = Annotated[
    str, typer.Argument(metavar="ANSWER", help="its number in the list, 'last', a trace id or its beginning")
]


@app.command("show")
@command
def show(invocation: Invocation, trace: AnswerArgument) -> None:
    """One answer: what it says and cites, and how it came about; with --verbose everything that was stored of it."""

    with invocation.open(invocation.config()) as kb:
        row = kb.journal.find_answer(trace)
        number = kb.journal.answer_numbers([row.trace_id]).get(row.trace_id)
    stored = as_objects(row) | {"number": number}
    invocation.emit(StoredAnswer(answer=stored), lambda view: print_answer(view.answer, everything=invocation.verbose))


@app.command("replay")
@command
def replay(
    invocation: Invocation,
    trace: AnswerArgument,
    fresh: Annotated[
        bool, typer.Option("--fresh", "--corpus", help="search today's corpus instead of sending the stored prompt")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="another Ollama model, or 'extractive'", show_default=False),
    ] = None,
) -> None:
    """Answer a stored question again, and show what changed.

    The stored prompt is sent byte for byte, to the model that answered then. The replay is stored as an answer of its
    own. Exit 0 when nothing changed, a refusal that stays one included; 1 when something did.
    """

    with invocation.open(invocation.config()) as kb:
        row = kb.journal.find_answer(trace)
    if (known := PROVIDERS.get(row.model_provider)) and not model:
        model = row.model_provider if known.model_id else row.model_id
    config = invocation.config(
        **model_settings(model),
        rag__prompt_template_version=base_version(row.prompt_template_version),
    )
    with invocation.open(config) as kb:
        try:
            replayed = run_replay(kb, row, is_fresh=fresh)
        except AnswerInterrupted:
            invocation.notify("what came of it: kb answers show last")
            raise
        numbers = kb.journal.answer_numbers([replayed.trace_id, replayed.replay_of])
    invocation.emit(replayed, partial(print_replay, numbers=numbers))
    if not replayed.is_same:
        raise typer.Exit(ExitCode.NOTHING)


@app.command("prune", help="The same as rm: kb answers prune --older-than 1y.")
@app.command("rm")
@command
def rm(
    invocation: Invocation,
    traces: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ANSWER]…", help="numbers, trace ids, or their beginnings", show_default=False),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="all older than this: 30d, 12h, 8w", show_default=False),
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="DATE", help="all from before it", show_default=False)
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="all there are")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask back")] = False,
) -> None:
    """Forget answers, with the texts only they had packed, and give the space back."""

    if sum(map(bool, (traces, older_than, before, all_))) != 1:
        raise InvalidInput(
            "say which answers", fix="name their numbers, or one of --older-than 30d, --before DATE, --all"
        )
    limit = age_limit(older_than) if older_than else None
    with invocation.open(invocation.config()) as kb:
        if traces:
            doomed = list(dict.fromkeys(kb.journal.find_answer(trace).trace_id for trace in traces))
        else:
            doomed = kb.journal.trace_ids_of(AnswerQuery(before=limit or before))
    if not doomed:
        invocation.notify("no such answers")
        raise typer.Exit(ExitCode.NOTHING)
    _confirm(f"forget {len(doomed):,} {'answer' if len(doomed) == 1 else 'answers'}?", yes, is_named=bool(traces))
    with invocation.open(invocation.config(), write=True) as kb:
        removed = kb.journal.remove_answers(doomed)
        print_removal(AnswerRemoval(removed=removed, freed_bytes=kb.store.compact()), invocation.json)


@app.command("export")
@command
def export(
    invocation: Invocation,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="jsonl|csv|md", help="default jsonl", show_default=False)
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="default stdout", show_default=False)
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    refused: RefusedOption = False,
    grounded: GroundedOption = False,
    search: SearchOption = None,
) -> None:
    """Every answer, oldest first: one stored_answer.v1 a line, a table, or text to read."""

    name = format_ or "jsonl"
    if name not in EXPORTS:
        raise InvalidInput(f"no format '{name}'", fix=f"use one of: {', '.join(EXPORTS)}")
    if invocation.json and name != "jsonl":
        raise InvalidInput(f"--json and --format {name} exclude each other", fix="leave one of them out")
    query = _query(since, until, refused, grounded, search)
    with invocation.open(invocation.config()) as kb, kb.snapshot(), open_output(output) as file:
        count = EXPORTS[name](kb.journal.each_answer(query), file)
    if output or not count:
        invocation.notify(f"exported {count:,} answers" + (f" to {output}" if output else ""))
    if not count:
        raise typer.Exit(ExitCode.NOTHING)


def _query(since: str | None, until: str | None, refused: bool, grounded: bool, search: str | None) -> AnswerQuery:
    if refused and grounded:
        raise InvalidInput("--refused and --grounded exclude each other", fix="leave one of them out")
    return AnswerQuery(since, until, False if refused else True if grounded else None, search)


def _confirm(question: str, is_answered: bool, *, is_named: bool) -> None:
    """Ask at a terminal, a no is exit 1; elsewhere, what was not named one by one needs --yes."""
    if is_answered:
        return
    if is_interactive() and sys.stdin.isatty():
        if not typer.confirm(question, err=True):
            raise typer.Exit(ExitCode.NOTHING)
    elif not is_named:
        raise InvalidInput(f"{question} nobody is there to answer", fix="add --yes")
