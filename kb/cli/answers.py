"""kb answers list, show: the persisted answers, refusals included."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from kb.cli.invocation import Invocation, command
from kb.errors import ExitCode

app = typer.Typer(help="The persisted answers: list them, show one.", rich_markup_mode=None, no_args_is_help=True)


@app.command("list")
@command
def list_(
    invocation: Invocation,
    n: Annotated[int, typer.Option("-n", metavar="N", help="how many at most", min=1)] = 20,
) -> None:
    """The newest answers, newest first."""
    from kb.cli.terminal import harmless_line, say, styled
    from kb.cli.views import AnswerList
    from kb.store.answers import list_answers

    with invocation.open(invocation.config()) as kb:
        rows = list_answers(kb.connection, n)
    if invocation.json:
        from kb.wire import to_json

        print(to_json(AnswerList(answers=tuple(_as_objects(asdict(row)) for row in rows))))
    for row in () if invocation.json else rows:
        verdict = styled("✓", "green") if row.grounded else styled(f"✗ {row.refusal_reason}", "red")
        say(f"{row.trace_id}  {row.created_at}  {verdict}  {harmless_line(row.question)}")
    if not rows:
        invocation.notify("no answers yet; kb ask makes them")
        raise typer.Exit(ExitCode.NOTHING)


@app.command("show")
@command
def show(
    invocation: Invocation,
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="a trace id, or its beginning")],
) -> None:
    """One answer with everything that was stored of it."""
    from kb.cli.terminal import harmless, say, styled
    from kb.cli.views import StoredAnswer
    from kb.store.answers import find_answer

    with invocation.open(invocation.config()) as kb:
        row = find_answer(kb.connection, trace)
    values = _as_objects(asdict(row))
    if invocation.json:
        from kb.wire import to_json

        print(to_json(StoredAnswer(answer=values)))
        return
    for name, value in values.items():
        if value is not None and value != [] and name not in ("question", "answer", "raw_answer"):
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            say(f"{styled(f'{name:<24}', 'dim')} {harmless(shown)}")
    for name in ("question", "answer", "raw_answer"):
        if values[name] and (name != "raw_answer" or values[name] != values["answer"]):
            say(f"{styled(name, 'bold')}\n{harmless(values[name])}")


def _as_objects(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its JSON columns as what they hold."""
    out: dict[str, Any] = {}
    for name, value in row.items():
        is_json = name.endswith("_json")
        out[name.removesuffix("_json")] = json.loads(value) if is_json and value else value
    return out
