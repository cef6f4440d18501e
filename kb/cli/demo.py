"""kb demo: a walk of two minutes through ingest, search, ask, chat and eval, on a small corpus in a temporary home."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.main import run
from kb.cli.terminal import say, styled
from kb.frozen import dataclass

ENGINE = "KB_CORPUS__ENGINE"
CORPUS = Path(__file__).with_name("demo_corpus")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the tour, and what it shows."""

    about: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStep:
    """One step as kb demo --list names it."""

    about: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tour:
    """kb demo --list"""

    schema_version: Literal["demo.v1"] = "demo.v1"
    steps: tuple[DemoStep, ...]


STEPS = (
    Step(
        "Five notes of an observatory, English and Korean, go in. Nothing leaves this machine.",
        ("ingest", str(CORPUS / "notes"), "--quiet"),
    ),
    Step(
        "Find passages. The number in front names a hit until the next search.",
        ("search", "when does the dome close", "-n", "2"),
    ),
    Step("The passage of the first hit; kb open 1 opens your editor at its line.", ("show", "1")),
    Step("A table is shown as a table.", ("search", "which error codes are high severity", "-n", "1")),
    Step(
        "Ask. The answer cites what it rests on; without a language model it is a quote.",
        ("ask", "How often must the mirror of Marigold be cleaned?", "--session", "demo"),
    ),
    Step(
        "A follow-up, as in kb chat: what was said before is understood.",
        ("ask", "And how long does that take?", "--session", "demo"),
    ),
    Step("In Korean as well.", ("ask", "거울은 며칠마다 청소해야 하나요?")),
    Step("What the notes do not hold is not made up.", ("ask", "Who won the football cup?")),
    Step("Each answer is kept, and can be shown, replayed and exported.", ("answers", "list")),
    Step(
        "Measure it: questions with the passages that answer them. In CI a gate fails the build.",
        ("eval", "run", str(CORPUS / "suite.yaml"), "--gate", "recall@10>=0.7"),
    ),
)
OWN_FILES = (
    ("kb ingest ~/notes", "read your own folder"),
    ("kb search WORDS", "find passages"),
    ("kb ask QUESTION", "get an answer with its sources"),
    ("kb chat", "ask turn by turn"),
)


@command
def demo(
    invocation: Invocation,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="go on without waiting for Enter")] = False,
    list_: Annotated[bool, typer.Option("--list", help="name the steps; run none")] = False,
) -> None:
    """Show search, ask, chat and eval on a small example, in two minutes.

    It works in a temporary folder; your own knowledge base is not touched.
    """
    invocation.config()  # a mistake in it is said before the tour begins
    tour = Tour(steps=tuple(DemoStep(about=step.about, command=f"kb {_shown(step.words)}") for step in STEPS))
    if list_ or invocation.json:
        invocation.emit(tour, _print_tour)
        return
    waits = is_interactive() and sys.stdin.isatty() and not yes
    with TemporaryDirectory(prefix="kb-demo-") as folder, _own_corpus():
        for at, step in enumerate(STEPS, start=1):
            say(f"\n{styled(f'{at} of {len(STEPS)}', 'dim')}  {styled(step.about, 'bold')}")
            say(styled(f"$ {tour.steps[at - 1].command}", "cyan") + "\n")
            sys.stdout.flush()
            run([*step.words, "--home", str(Path(folder) / "home")], json=False)
            if waits and at < len(STEPS):
                invocation.notify("\nEnter goes on, Ctrl-C ends the tour")
                input()
    say(f"\n{styled('Now with your own files:', 'bold')}\n")
    for words, about in OWN_FILES:
        say(f"  {styled(f'{words:<18}', 'cyan')}  {about}")


@contextmanager
def _own_corpus() -> Iterator[None]:
    """The tour's documents stay in its home, wherever the user's own are."""
    before = os.environ.get(ENGINE)
    os.environ[ENGINE] = "local"
    try:
        yield
    finally:
        del os.environ[ENGINE]
        os.environ.update({} if before is None else {ENGINE: before})


def _print_tour(tour: Tour) -> None:
    for step in tour.steps:
        say(f"{step.about}\n  {styled(step.command, 'cyan')}")


def _shown(words: tuple[str, ...]) -> str:
    """The command as a person would type it, the corpus by its name alone."""
    return " ".join(
        shlex.quote(word) if " " in word or "?" in word else word
        for word in (word.replace(str(CORPUS), "demo") for word in words)
    )
