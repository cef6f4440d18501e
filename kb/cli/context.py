"""kb context, and kb context fingerprint"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.known_text import KnownTextOption, read_known_text_option
from kb.cli.search import ExpandTagsOption, ModeOption, check_expand_tags
from kb.cli.terminal import say
from kb.context.known_text_input import STDIN, read_known_text
from kb.context.metrics import write_metrics
from kb.context.records import ContextDebug, ContextResponse
from kb.errors import ExitCode, InvalidInput
from kb.packing.known_text_payload import known_text_payload
from kb.packing.novelty import NoveltySettings
from kb.records import Filters
from kb.search.depth import passages_text
from kb.wire import to_json

FINGERPRINT = "fingerprint"


@command
def context(
    invocation: Invocation,
    filters: Filters,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY", help="words or a question; or: fingerprint [FILE… | -], for --seen-fingerprint"
        ),
    ],
    window: KnownTextOption = None,
    window_fingerprint: Annotated[
        str | None,
        typer.Option(
            "--seen-fingerprint",
            metavar="FILE",
            help="what kb context fingerprint printed; it replaces --seen",
            show_default=False,
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="S", help="what its answers have cited counts as seen too", show_default=False
        ),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", help="of the whole block", show_default=False)
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", "-n", "--limit", metavar="N", help="passages at most", show_default=False)
    ] = None,
    mode: ModeOption = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="NAME", help="whose relations count first", show_default=False),
    ] = None,
    cwd: Annotated[
        str | None, typer.Option("--cwd", metavar="DIR", help="the project is this folder's name", show_default=False)
    ] = None,
    no_graph: Annotated[bool, typer.Option("--no-graph", help="passages alone, no relations and no token")] = False,
    no_novelty: Annotated[bool, typer.Option("--no-novelty", help="as if nothing had been seen")] = False,
    expand_tags: ExpandTagsOption = False,
    debug: Annotated[bool, typer.Option("--debug", help="every candidate's overlap and scores")] = False,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="FILE", help="write this home's totals for Prometheus", show_default=False),
    ] = None,
) -> None:
    """Compose a context block for a prompt: passages and relations that it does not hold yet, within a budget."""
    if words[0] == FINGERPRINT:
        _print_fingerprint(invocation, words[1:])
        return
    config = invocation.config(
        search__mode=mode,
        search__expand_tags=True if expand_tags else None,
        context__k=k,
        context__max_tokens=max_tokens,
    )
    check_expand_tags(expand_tags, config.search.mode)
    chosen_project = _project_of(project, cwd)
    seen = None if no_novelty else read_known_text_option(invocation, config, window, window_fingerprint)
    target = _checked_target(metrics)
    with invocation.base(config) as base:
        response = base.context(
            " ".join(words),
            filters=filters,
            seen=seen,
            session=session,
            project=chosen_project,
            graph=not no_graph,
            novelty=not no_novelty,
            debug=debug,
        )
    invocation.emit(response, partial(_print_response, invocation))
    if target:
        write_metrics(invocation.home, target)
    if not response.text:
        raise typer.Exit(ExitCode.NOTHING)


def _print_response(invocation: Invocation, response: ContextResponse) -> None:
    for note in response.notes:
        invocation.notify(note if note.startswith("warning:") else f"note: {note}")
    if response.omitted and response.text:
        invocation.notify(f"note: left out {passages_text(response.omitted)} that you have seen already")
    if response.debug:
        _tell_debug(invocation, response.debug)
    if response.text:
        say(response.text)
    else:
        invocation.notify(f"nothing to add: {response.hint}")


def _tell_debug(invocation: Invocation, debug: ContextDebug) -> None:
    """On stderr: the block on stdout stays what it is without --debug."""
    expanded = "; ".join(debug.expansion_queries) or ("failed" if debug.expansion_triggered else "no")
    invocation.notify(f"seen text: {debug.window_spans} spans · expanded by: {expanded}")
    for row in debug.candidates:
        estimate = "≈" if row.is_estimate else " "
        invocation.notify(
            f"{row.source:<5} {row.candidate_id:>6} overlap {estimate}{row.overlap_ratio:.3f} {row.reason:<14} "
            f"{row.original_score:.3f} → {row.adjusted_score:.3f}  ({row.found_by})"
        )
    invocation.notify("ms: " + ", ".join(f"{stage} {ms:.1f}" for stage, ms in debug.milliseconds.items()))


def _print_fingerprint(invocation: Invocation, names: list[str]) -> None:
    """window_fingerprint.v1 of files, or of standard input, with --json and without."""

    shape = NoveltySettings.of(invocation.config().novelty).shape
    known_text = read_known_text(names or [STDIN], None, shape, invocation.notify)
    if known_text is None:
        raise InvalidInput("there is no text to take a fingerprint of", fix="name text files, or - for standard input")
    print(to_json(known_text_payload(known_text)))


def _project_of(project: str | None, cwd: str | None) -> str | None:
    """The named project, or the name of the folder."""
    if project is not None and cwd is not None:
        raise InvalidInput("--project and --cwd both name a project", fix="give one of them")
    if cwd is None:
        return project
    return Path(cwd).expanduser().absolute().resolve().name or None


def _checked_target(metrics: str | None) -> Path | None:
    """Where the metrics go; said before the work when that cannot be."""
    if metrics is None:
        return None
    path = Path(metrics).expanduser().absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInput(f"the metrics cannot be written to {path}", fix="name a file in a folder that is there")
    return path
