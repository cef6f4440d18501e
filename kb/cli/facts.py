"""kb remember, forget, facts: what the user tells kb, for the context nodes. Never a citation source."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.listing import LimitOption, Sortings, arranged, sort_option
from kb.cli.terminal import harmless_line, say, styled
from kb.errors import ExitCode, InvalidInput
from kb.store.memories import LONGEST_MEMORY_CHARS, FactList, Forgotten, Memory, Remembered

SORTINGS: Sortings[Memory] = {
    "oldest": (lambda fact: fact.fact_id, False),
    "newest": (lambda fact: fact.fact_id, True),
    "text": (lambda fact: fact.text.casefold(), False),
}


@command
def remember(
    invocation: Invocation,
    words: Annotated[
        list[str], typer.Argument(metavar="TEXT…", help="one fact in a sentence; - reads it from standard input")
    ],
    session: Annotated[
        str | None, typer.Option("--session", metavar="S", help="it holds in this session only", show_default=False)
    ] = None,
) -> None:
    """Remember a fact: questions that it fits get it beside the evidence.

    A fact is never cited: an answer that rests on one says so and is not grounded.
    """
    text = " ".join(words)
    if text == "-":
        text = sys.stdin.buffer.read(4 * LONGEST_MEMORY_CHARS + 1).decode("utf-8", "replace").removeprefix("\ufeff")
    with invocation.base(invocation.config()) as base:
        remembered = base.remember(text, session=session or None)
    invocation.emit(remembered, _print_remembered)


def _print_remembered(remembered: Remembered) -> None:
    fact = remembered.fact
    if remembered.is_new:
        say(f"remembered as fact {fact.fact_id}: {harmless_line(fact.text)}")
    else:
        say(f"known already, as fact {fact.fact_id} of {fact.created_at[:10]}: {harmless_line(fact.text)}")


@command
def forget(
    invocation: Invocation,
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="numbers of facts, as kb facts lists them")],
) -> None:
    """Forget facts, all that are named or none.

    Stored answers keep what they said; kb forget tells how many still hold such a text.
    """
    with invocation.base(invocation.config()) as base:
        forgotten = base.forget(*map(_fact_id, ids))
    invocation.emit(forgotten, _print_forgotten)
    if answers := forgotten.answers:
        hold = "1 stored answer still holds" if answers == 1 else f"{answers:,} stored answers still hold"
        invocation.notify(f"{hold} what was forgotten: kb answers list --search, kb answers rm")


def _print_forgotten(forgotten: Forgotten) -> None:
    for fact in forgotten.forgotten:
        say(f"forgot fact {fact.fact_id}: {harmless_line(fact.text)}")


@command
def facts(
    invocation: Invocation, limit: LimitOption = None, sort: Annotated[str | None, sort_option(SORTINGS)] = None
) -> None:
    """The facts that kb remembers, oldest first.

    Exit 1 when there are none.
    """
    with invocation.base(invocation.config()) as base:
        found = FactList(facts=arranged(base.memories(), SORTINGS, sort, limit))
    invocation.emit(found, _print_facts)
    if not found.facts:
        invocation.notify("no facts yet; add one with: kb remember TEXT")
        raise typer.Exit(ExitCode.NOTHING)


def _print_facts(found: FactList) -> None:
    width = max((len(str(fact.fact_id)) for fact in found.facts), default=1)
    for fact in found.facts:
        only = f"  {styled(f'(session {harmless_line(fact.session_id)})', 'dim')}" if fact.session_id else ""
        say(f"{fact.fact_id:>{width}}  {styled(fact.created_at[:10], 'dim')}  {harmless_line(fact.text)}{only}")


def _fact_id(name: str) -> int:
    digits = name.removeprefix("fact:").removeprefix("#")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise InvalidInput(f"'{name}' is not the number of a fact", fix="kb facts lists them with their numbers")
    return int(digits)
