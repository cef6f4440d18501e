"""kb remember, forget, facts: what the user tells kb, for the context nodes. Never a citation source."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from kb.cli.invocation import Invocation, command
from kb.errors import ExitCode, InvalidInput
from kb.store.memories import LONGEST_MEMORY_CHARS, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """kb remember: the fact, and whether it is new; the same thing told before is that fact."""

    schema_version: Literal["fact_remembered.v1"] = "fact_remembered.v1"
    fact: Memory
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """kb forget.

    answers  stored answers whose question, answer or prompt still holds one of the texts
    """

    schema_version: Literal["facts_forgotten.v1"] = "facts_forgotten.v1"
    forgotten: tuple[Memory, ...]
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FactList:
    """kb facts, oldest first"""

    schema_version: Literal["fact_list.v1"] = "fact_list.v1"
    facts: tuple[Memory, ...]


@command
def remember(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="one fact in a sentence; - reads it from standard input")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="S", help="it holds in this session only", show_default=False)
    ] = None,
) -> None:
    """Remember a fact: questions that it fits get it beside the evidence.

    A fact is never cited: an answer that rests on one says so and is not grounded.
    """
    from kb.cli.terminal import harmless_line, say
    from kb.store.documents import utc_text

    said = _read_text(text)
    config = invocation.config()
    with invocation.open(config, write=True) as kb:
        fact, is_new = kb.journal.add_memory(said, session or None, utc_text())
    if invocation.json:
        from kb.wire import to_json

        print(to_json(Remembered(fact=fact, is_new=is_new)))
    elif is_new:
        say(f"remembered as fact {fact.fact_id}: {harmless_line(fact.text)}")
    else:
        say(f"known already, as fact {fact.fact_id} of {fact.created_at[:10]}: {harmless_line(fact.text)}")


@command
def forget(
    invocation: Invocation,
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="numbers of facts, as kb facts lists them")],
) -> None:
    """Forget facts, all that are named or none.

    Stored answers keep what they said; kb forget tells how many hold such a text still.
    """
    from kb.cli.terminal import harmless_line, say

    numbers = [_fact_id(name) for name in ids]
    config = invocation.config()
    with invocation.open(config):  # a home that is none is not made for this
        pass
    with invocation.open(config, write=True) as kb:
        facts = kb.journal.remove_memories(numbers)
        answers = kb.journal.count_answers_with([fact.text for fact in facts])
    if invocation.json:
        from kb.wire import to_json

        print(to_json(Forgotten(forgotten=tuple(facts), answers=answers)))
    for fact in () if invocation.json else facts:
        say(f"forgot fact {fact.fact_id}: {harmless_line(fact.text)}")
    if answers:
        hold = "1 stored answer still holds" if answers == 1 else f"{answers:,} stored answers still hold"
        invocation.notify(f"{hold} what was forgotten: kb answers list --search, kb answers rm")


@command
def facts(invocation: Invocation) -> None:
    """The facts that kb remembers, oldest first.

    Exit 1 when there is none.
    """
    from kb.cli.terminal import harmless_line, say, styled

    with invocation.open(invocation.config()) as kb:
        found = kb.journal.list_memories()
    if invocation.json:
        from kb.wire import to_json

        print(to_json(FactList(facts=tuple(found))))
    width = max((len(str(fact.fact_id)) for fact in found), default=1)
    for fact in () if invocation.json else found:
        only = f"  {styled(f'(session {harmless_line(fact.session_id)})', 'dim')}" if fact.session_id else ""
        say(f"{fact.fact_id:>{width}}  {styled(fact.created_at[:10], 'dim')}  {harmless_line(fact.text)}{only}")
    if not found:
        invocation.notify("no facts yet; kb remember TEXT makes one")
        raise typer.Exit(ExitCode.NOTHING)


def _read_text(text: str) -> str:
    """One line of text, white space collapsed.

    raises  InvalidInput for nothing, or for more than a fact
    """
    if text == "-":
        text = sys.stdin.buffer.read(4 * LONGEST_MEMORY_CHARS + 1).decode("utf-8", "replace").removeprefix("\ufeff")
    said = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    if not any(c.isalnum() for c in said):
        raise InvalidInput(
            "the fact is empty", fix="say what to remember: kb remember 'The office wifi is called Plover'"
        )
    if len(said) > LONGEST_MEMORY_CHARS:
        raise InvalidInput(
            f"a fact of more than {LONGEST_MEMORY_CHARS:,} characters is a document",
            fix="store it as one: kb ingest - --title T",
        )
    return said


def _fact_id(name: str) -> int:
    digits = name.removeprefix("fact:").removeprefix("#")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise InvalidInput(f"'{name}' is no number of a fact", fix="kb facts lists them with their numbers")
    return int(digits)
