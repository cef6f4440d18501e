"""kb models list, use, pull: the language models of the Ollama server, and the one that answers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Literal

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.listing import LimitOption, Sortings, arranged, sort_option
from kb.cli.model import write_model
from kb.cli.tables import Table, draw
from kb.cli.terminal import has_colour, say
from kb.cli.views import Finished
from kb.config import LlmConfig
from kb.errors import ModelNotPulled
from kb.frozen import dataclass
from kb.llm.model_info import PulledModel, PullStep, find_by_name
from kb.llm.protocol import NoServer
from kb.llm.server import OllamaServer
from kb.providers import AUTO, PROVIDERS, provider_of

app = typer.Typer(
    help="The language models of the Ollama server: list them, choose one, download one.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="for example qwen2.5:3b")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One language model.

    size_bytes     0 where it needs no file of its own, or the server does not say
    parameters     their number as its maker writes it, "3.1B"; "" where unknown
    is_configured  the one that the configuration names
    """

    name: str
    provider: str
    size_bytes: int
    parameters: str
    is_configured: bool


SORTINGS: Sortings[ModelRow] = {
    "name": (lambda row: row.name, False),
    "size": (lambda row: row.size_bytes, True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """kb models list

    endpoint      the server that was asked
    has_answered  False where no server answers there
    provider      llm.provider: "auto" takes the configured model where the server has it, else the last of the list
    """

    schema_version: Literal["model_list.v1"] = "model_list.v1"
    endpoint: str
    has_answered: bool
    provider: str
    configured: str
    models: tuple[ModelRow, ...]


@app.command("list")
@command
def list_(
    invocation: Invocation, limit: LimitOption = None, sort: Annotated[str | None, sort_option(SORTINGS)] = None
) -> None:
    """The models that kb can answer with; the configured one is marked."""
    config = invocation.config().llm
    server = OllamaServer(config)
    pulled: tuple[PulledModel, ...] | None
    try:
        pulled = server.list_models()
    except NoServer:
        pulled = None
    listed = _list(pulled, server.endpoint, config)
    found = replace(listed, models=arranged(listed.models, SORTINGS, sort, limit))
    invocation.emit(found, _print_list)
    if pulled is None:
        invocation.notify(f"no Ollama server answers at {server.endpoint}: start it, or set llm.endpoint")
    elif config.model and not any(row.is_configured for row in listed.models):
        invocation.notify(f"the configured model {config.model} is not there: kb models pull {config.model}")


def _list(pulled: tuple[PulledModel, ...] | None, endpoint: str, config: LlmConfig) -> ModelList:
    is_ollama = config.provider != AUTO[-1]
    rows = [
        ModelRow(
            name=model.name,
            provider="ollama",
            size_bytes=model.size_bytes,
            parameters=model.parameters,
            is_configured=is_ollama and find_by_name({model.name: True}, config.model) is not None,
        )
        for model in pulled or ()
    ]
    rows += [
        ModelRow(name=name, provider=name, size_bytes=0, parameters="", is_configured=config.provider == name)
        for name, provider in PROVIDERS.items()
        if provider.model_id
    ]
    return ModelList(
        endpoint=endpoint,
        has_answered=pulled is not None,
        provider=config.provider,
        configured=config.model,
        models=tuple(rows),
    )


def _print_list(found: ModelList) -> None:
    rows = [
        (
            "*" if row.is_configured else "",
            row.name,
            row.parameters,
            model_size(row.size_bytes) if row.size_bytes else "",
            "" if row.provider == "ollama" else "quotes your documents, no model",
        )
        for row in found.models
    ]
    say(draw([Table(("", "model", "parameters", "size", ""), rows)], colour=has_colour(sys.stdout)))


@app.command("use")
@command
def use(invocation: Invocation, name: NameArgument) -> None:
    """Answer with this model from now on; it is written to config.toml.

    'extractive' quotes the documents and asks no language model.
    """
    config = invocation.config().llm
    if provider_of(name) != name:
        _check_pulled(invocation, OllamaServer(config), name)
    path = write_model(invocation, config, name)
    done = Finished(done=f"kb answers with {name} from now on", path=str(path))
    invocation.emit(done, lambda record: say(f"{record.done}; it is set in {record.path}"))


def _check_pulled(invocation: Invocation, server: OllamaServer, name: str) -> None:
    try:
        pulled = {model.name: True for model in server.list_models()}
    except NoServer:
        invocation.notify(f"no server answers at {server.endpoint}, so kb could not check that it has {name}")
        return
    if not find_by_name(pulled, name):
        raise ModelNotPulled(
            f"Ollama at {server.endpoint} has no model {name}; it has {', '.join(pulled) or 'none at all'}",
            fix=f"kb models pull {name}",
            model=name,
        )


@app.command("pull")
@command
def pull(invocation: Invocation, name: NameArgument) -> None:
    """Download a model to the Ollama server; Ctrl-C stops, and the next pull goes on from there."""
    server = OllamaServer(invocation.config(llm__model=name).llm)
    steps = server.pull(name)
    if invocation.quiet or invocation.json or not sys.stderr.isatty():
        last = ""
        for step in steps:
            if step.status != last:
                invocation.notify(step.status)
            last = step.status
    else:
        _show_progress(steps)
    done = Finished(done=f"{name} is ready", path=server.endpoint)
    invocation.emit(done, lambda record: say(f"{record.done}; answer with it from now on: kb models use {name}"))


def _show_progress(steps: Iterable[PullStep]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, no_color=not has_colour(sys.stderr))
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        for step in steps:
            progress.update(
                task, description=step.status[:24], completed=step.done_bytes, total=step.total_bytes or None
            )


def model_size(size_bytes: int) -> str:
    """A size as it stands in lists of models."""
    return f"{size_bytes / 1e9:.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:.0f} MB"
