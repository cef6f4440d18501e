"""kb eval init: draft a suite from the documents, the questions that were asked and the searches that were made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.terminal import harmless_line, say_message
from kb.errors import ExitCode, InvalidInput
from kb.frozen import dataclass
from kb.records import Filters


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedSuite:
    """kb eval init: the file that was written, and how many drafts came from what."""

    schema_version: Literal["drafted_suite.v1"] = "drafted_suite.v1"
    path: str
    drafts: int
    origins: dict[str, int]


@command
def init(
    invocation: Invocation,
    filters: Filters,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="where to")] = "suite.yaml",
    limit: Annotated[
        int, typer.Option("-k", "-n", "--limit", metavar="N", help="how many questions at most", min=1)
    ] = 20,
    force: Annotated[bool, typer.Option("--force", help="write over a file that is there")] = False,
) -> None:
    """Draft a suite from your documents and past questions, for you to correct.

    Every question is marked as a draft: kb eval run leaves it out until you have checked it.
    """
    from kb.eval.drafting import write_draft  # what reads texts is heavy for eval list, report and compare

    path = Path(output)
    if path.exists() and not force:
        raise InvalidInput(f"{output} is there already", fix="name another file with -o, or write over it with --force")
    with invocation.open(invocation.config()) as kb:
        kb.require_documents()
        origins = write_draft(kb, invocation.home, path, filters, limit)
    if not origins:
        invocation.notify("nothing to draft from: no heading, no question in the text, no past question")
        raise typer.Exit(ExitCode.NOTHING)
    invocation.emit(DraftedSuite(path=output, drafts=origins.total(), origins=dict(origins)), _print_drafted)


WORDS = {
    "searched": "your searches",
    "asked": "your questions",
    "refused": "questions kb did not answer",
    "question": "questions in the documents",
    "heading": "headings",
    "title": "titles",
}


def _print_drafted(drafted: DraftedSuite) -> None:
    sources = ", ".join(f"{count} from {WORDS[origin]}" for origin, count in drafted.origins.items())
    name = harmless_line(drafted.path)
    say_message(f"wrote {name}: {drafted.drafts} drafts ({sources})")
    say_message("They measure nothing yet: correct each one, then delete its line 'draft: true'.")
    say_message(f"then: kb eval run {name} · to see it work before that: kb eval run {name} --drafts")
