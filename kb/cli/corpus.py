"""kb corpus: where documents and passages are kept; copied from one place to another."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.stopping import stop_on_ctrl_c
from kb.cli.terminal import harmless, say
from kb.config import Config, CorpusConfig
from kb.copying import CorpusCopy, copy_corpus
from kb.errors import ExitCode, InvalidInput
from kb.milvus.address import FORM, is_address, read_address
from kb.runtime import Runtime

app = typer.Typer()
SIDE = f"local (this home), another data folder, or an address: {FORM}"


@app.callback()
def corpus() -> None:
    """Copy documents with their vectors between kb.sqlite and Milvus."""


@app.command("copy")
@command
def copy(
    invocation: Invocation,
    source: Annotated[str, typer.Argument(metavar="FROM", help=SIDE)],
    target: Annotated[str, typer.Argument(metavar="TO", help="the same; made where it is missing")],
) -> None:
    """Copy a corpus, with its vectors, and compare every document afterwards.

    Nothing is read or encoded again. Ctrl-C stops, and the same call goes on. Relations are not copied, nor are answers.
    """
    config = invocation.config()
    sides = [_side(name, invocation.home, config) for name in (source, target)]
    if sides[0] == sides[1]:
        raise InvalidInput("FROM and TO are the same corpus", fix="name two")
    with (
        Runtime(*sides[0], notify=invocation.notify) as kb_from,
        Runtime(*sides[1], write=True, notify=invocation.notify) as kb_to,
        stop_on_ctrl_c(invocation.quiet, "document") as stopped,
    ):
        report = copy_corpus(kb_from, kb_to, (source, target), invocation.log, lambda: bool(stopped))
    if invocation.json or not invocation.quiet:
        invocation.emit(report, _print)
    if not report.is_complete:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _side(name: str, home: Path, config: Config) -> tuple[Path, Config]:
    """The home and the configuration with which a corpus is opened; Milvus takes this home for the number of the writer."""
    if is_address(name):
        keys: dict[str, Any] = {key.partition(".")[2]: value for key, value in read_address(name).items()}
        return home, replace(config, corpus=replace(config.corpus, **keys))
    local = CorpusConfig(**(asdict(config.corpus) | {"engine": "local", "uri": "", "database": ""}))
    return home if name == "local" else Path(name).expanduser().absolute(), replace(config, corpus=local)


def _print(report: CorpusCopy) -> None:
    say(
        harmless(
            f"{'copied' if report.is_complete else 'stopped after'} {report.copied:,} documents from {report.source} to"
            f" {report.target}, {report.unchanged:,} were there"
        )
    )
    if report.is_complete:
        say(
            f"compared {report.verified:,} documents, {report.chunks:,} passages, {report.vectors:,} vectors: all equal"
        )
