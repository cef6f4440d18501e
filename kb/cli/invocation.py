"""The global options, before or after the command → one Invocation: home, config, how to print.

`@command` gives a typer command the global options without each command having to name them.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from kb import __version__
from kb.cli.terminal import choose_colour, tell
from kb.config import Config, cache_folder, find_config, find_home, load_config
from kb.frozen import dataclass
from kb.wire import to_json

if TYPE_CHECKING:  # annotations alone: these cost 40 ms, and a command that prints its help opens nothing
    from kb.library import KnowledgeBase
    from kb.runtime import Runtime

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Invocation:
    """How this process was called.

    json     print wire objects
    quiet    no progress, no messages
    verbose  more messages
    """

    home: Path
    config_path: Path | None
    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def config(self, **overrides: Any) -> Config:
        """The checked configuration; overrides are flags as section__key=value, None for a flag that was not given."""
        given = {name.replace("__", "."): value for name, value in overrides.items() if value is not None}
        return load_config(self.config_path, self.home, os.environ, given, self.notify)

    def base(self, config: Config, notify: Callable[[str], None] | None = None) -> KnowledgeBase:
        """The library's object for this home, opened on first use; its messages go to stderr, or to `notify`."""
        from kb.library import KnowledgeBase  # 40 ms that --help does not need

        return KnowledgeBase(self.home, config, notify=notify or self.notify, log=self.log)

    def open(self, config: Config, *, write: bool = False) -> Runtime:
        """The open store, indexes, encoder and model of this home, for jobs that the library has no method for."""
        return self.base(config).runtime(write=write)

    def cache(self) -> Path:
        """The folder of exported models and other files that can be created again, shared by all homes."""
        return cache_folder(os.environ)

    def emit(self, record: Record, print_text: Callable[[Record], object], *, flush: bool = False) -> None:
        """Print a record on stdout: as one line of JSON with --json, else as text.

        flush  write at once, for output that is read line by line
        """
        if self.json:
            print(to_json(record), flush=flush)
        else:
            print_text(record)

    def log(self, line: str) -> None:
        """A line of log, with --verbose; --quiet wins."""
        if self.verbose:
            self.notify(line)

    def notify(self, message: str) -> None:
        """A line for the user on stderr, unless --quiet."""
        if not self.quiet:
            tell(message)


@dataclass(frozen=True, slots=True)
class Call:
    """A command whose options were read and checked; `run` does its work."""

    invocation: Invocation
    run: Callable[[], None]


HomeOption = Annotated[
    str | None,
    typer.Option("--home", metavar="DIR", help="the knowledge base's folder [env: KB_HOME]", show_default=False),
]
ConfigOption = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="the config file [env: KB_CONFIG]", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="print JSON, for scripts", show_default=False)]
QuietOption = Annotated[bool, typer.Option("--quiet", help="no progress, no messages", show_default=False)]
VerboseOption = Annotated[bool, typer.Option("--verbose", help="say more", show_default=False)]
ColorOption = Annotated[
    str | None,
    typer.Option("--color", metavar="WHEN", help="auto, always or never; see NO_COLOR", show_default=False),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kb {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", "-V", help="print the version and exit", is_eager=True, callback=_print_version, show_default=False
    ),
]

GLOBAL_OPTIONS: dict[str, tuple[Any, Any]] = {
    "home": (HomeOption, None),
    "config": (ConfigOption, None),
    "json": (JsonOption, False),
    "quiet": (QuietOption, False),
    "verbose": (VerboseOption, False),
    "color": (ColorOption, None),
    "version": (VersionOption, False),
}


def command(function: Callable[..., None]) -> Callable[..., Call]:
    """A command whose first parameter is the Invocation: typer sees the others, and the global options after them.

    Typer only reads the options: the result is the Call, which `kb.cli.main` runs. A parameter `filters` becomes the
    filter options, and gets them as one record.
    """
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    make_filters: Callable[..., object] | None = None
    filter_options: dict[str, Any] = {}
    if any(p.name == "filters" for p in own):
        from kb.cli import filters  # 15 ms that a command without filters does not need

        filter_options, make_filters = filters.FILTER_OPTIONS, filters.make_filters
        own = [p for p in own if p.name != "filters"]
    shown = own + [_option(name, annotation, None) for name, annotation in filter_options.items()]
    shown += [_option(name, annotation, default) for name, (annotation, default) in GLOBAL_OPTIONS.items()]

    @wraps(function)
    def read(**values: Any) -> Call:
        given = {name: values.pop(name) for name in GLOBAL_OPTIONS}
        if make_filters:
            values["filters"] = make_filters(**{name: values.pop(name) for name in filter_options})
        choose_colour(given["color"])
        invocation = Invocation(
            home=find_home(given["home"]),
            config_path=find_config(given["config"]),
            json=given["json"],
            quiet=given["quiet"],
            verbose=given["verbose"],
        )
        return Call(invocation, partial(function, invocation, **values))

    signed: Any = read  # typer reads both attributes; `Callable` knows neither
    signed.__signature__ = inspect.Signature([p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in shown])
    signed.__annotations__ = {p.name: p.annotation for p in shown}
    return read


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def hoist_global_options(arguments: list[str], groups: Collection[str] = ()) -> list[str]:
    """Global options that stand before the command, put behind it: `kb --json search x` → `kb search --json x`.

    groups  names that are followed by the name of a command: the options go behind that one

    >>> hoist_global_options(["--home", "h", "--json", "search", "x"])
    ['search', '--home', 'h', '--json', 'x']
    >>> hoist_global_options(["--json", "answers", "list"], {"answers"})
    ['answers', 'list', '--json']
    """
    moved, rest = split_leading(arguments)
    if not rest or rest[0].startswith("-"):
        return [*rest, *moved]
    if rest[0] in groups:
        more, inner = split_leading(rest[1:])
        if not inner or inner[0].startswith("-"):
            return [rest[0], *inner]
        return [rest[0], inner[0], *moved, *more, *inner[1:]]
    return [rest[0], *moved, *rest[1:]]


def split_leading(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The global options at the front, and what follows them."""
    at = 0
    while at < len(arguments):
        name, separator, _ = arguments[at].partition("=")
        if name in ("--home", "--config", "--color"):
            at += 1 if separator else 2
        elif arguments[at] in ("--json", "--quiet", "--verbose"):
            at += 1
        else:
            break
    return arguments[:at], arguments[at:]


def wants_json(arguments: list[str]) -> bool:
    """True when the caller asked for JSON, even if the rest of the call cannot be understood."""
    before_separator = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in before_separator


def is_interactive() -> bool:
    """True when a person is at the other end of stdout."""
    return sys.stdout.isatty()
