"""The global options, before or after the command → one Invocation: home, config, how to print.

`@command` gives a typer command the global options without each command having to name them.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb import __version__
from kb.config import Config, cache_folder, default_home, load_config
from kb.errors import ConfigNotFound

if TYPE_CHECKING:  # a command that only prints its help opens nothing
    from kb.knowledge_base import KnowledgeBase

PANEL = "Global options"


@dataclass(slots=True)
class Invocation:
    """How this process was called.

    json     print wire objects
    quiet    no progress, no messages
    verbose  more of them
    kept_commands  history.keep_commands, once the configuration was read
    """

    home: Path
    config_path: Path | None
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    kept_commands: int = 0

    def config(self, **overrides: Any) -> Config:
        """The checked configuration; overrides are flags as section__key=value, None for a flag that was not given."""
        given = {name.replace("__", "."): value for name, value in overrides.items() if value is not None}
        config = load_config(self.config_path, self.home, os.environ, given, self.notify)
        self.kept_commands = config.history.keep_commands
        return config

    def open(self, config: Config, *, write: bool = False) -> KnowledgeBase:
        """The knowledge base of this home; its messages go to stderr."""
        from kb.knowledge_base import open_knowledge_base

        return open_knowledge_base(self.home, config, write=write, notify=self.notify, log=self.log)

    def cache(self) -> Path:
        """Where what can be made again is kept, shared by all homes."""
        return cache_folder(os.environ)

    def log(self, line: str) -> None:
        """A line of log, for those who want to see it; --quiet wins."""
        if self.verbose and not self.quiet:
            from kb.cli.terminal import tell

            tell(line)

    def notify(self, message: str) -> None:
        """A line for the user, unless quiet."""
        if not self.quiet:
            from kb.cli.terminal import tell

            tell(message)


# The command that is run in this process, for the note that is taken of it when it has ended.
LAST: list[Invocation] = []

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


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kb {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", help="print the version and exit", is_eager=True, callback=_print_version, show_default=False
    ),
]

GLOBAL_OPTIONS: dict[str, tuple[Any, Any]] = {
    "home": (HomeOption, None),
    "config": (ConfigOption, None),
    "json": (JsonOption, False),
    "quiet": (QuietOption, False),
    "verbose": (VerboseOption, False),
    "version": (VersionOption, False),
}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command whose first parameter is the Invocation: typer sees the others, and the global options after them.

    A parameter `filters` becomes the filter options, and gets them as one record.
    """
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    filter_names: list[str] = []
    if any(p.name == "filters" for p in own):
        from kb.cli.filters import FILTER_OPTIONS

        filter_names = list(FILTER_OPTIONS)
        options = [_option(name, annotation, None) for name, annotation in FILTER_OPTIONS.items()]
        own = [p for p in own if p.name != "filters"] + options
    shown = own + [_option(name, annotation, default) for name, (annotation, default) in GLOBAL_OPTIONS.items()]

    @wraps(function)
    def run(**values: Any) -> None:
        given = {name: values.pop(name) for name in GLOBAL_OPTIONS}
        if filter_names:
            from kb.cli.filters import make_filters

            values["filters"] = make_filters(**{name: values.pop(name) for name in filter_names})
        invocation = invocation_from(given)
        LAST.append(invocation)
        try:
            function(invocation, **values)
        except KeyboardInterrupt as interrupted:  # here, for typer turns it into an exit code without a word
            if str(interrupted):
                print(interrupted, file=sys.stderr)
            raise

    signed: Any = run  # typer reads both attributes; `Callable` knows neither
    signed.__signature__ = inspect.Signature([p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in shown])
    signed.__annotations__ = {p.name: p.annotation for p in shown}
    return run


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def invocation_from(given: dict[str, Any]) -> Invocation:
    """Flags, else environment, else default. Paths are expanded here, once.

    raises  ConfigNotFound for a named file that is not there, whether or not the command would read it
    """
    home = given["home"] or os.environ.get("KB_HOME")
    config = given["config"] or os.environ.get("KB_CONFIG")
    config_path = _absolute(config) if config else None
    if config_path and not config_path.is_file():
        raise ConfigNotFound(f"no config file at {config_path}", fix="correct --config or KB_CONFIG, or leave it out")
    return Invocation(
        home=_absolute(home) if home else default_home(os.environ),
        config_path=config_path,
        json=given["json"],
        quiet=given["quiet"],
        verbose=given["verbose"],
    )


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()


def hoist_global_options(arguments: list[str], groups: Collection[str] = ()) -> list[str]:
    """Global options that stand before the command, put behind it: `kb --json search x` → `kb search --json x`.

    groups  names that are followed by the name of a command: the options go behind that one

    >>> hoist_global_options(["--home", "h", "--json", "search", "x"])
    ['search', '--home', 'h', '--json', 'x']
    >>> hoist_global_options(["--json", "answers", "list"], {"answers"})
    ['answers', 'list', '--json']
    """
    moved, rest = _split_leading(arguments)
    if not rest or rest[0].startswith("-"):
        return [*rest, *moved]
    if rest[0] in groups:
        more, inner = _split_leading(rest[1:])
        if not inner or inner[0].startswith("-"):
            return [rest[0], *inner]
        return [rest[0], inner[0], *moved, *more, *inner[1:]]
    return [rest[0], *moved, *rest[1:]]


def _split_leading(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The global options at the front, and what follows them."""
    at = 0
    while at < len(arguments):
        name, separator, _ = arguments[at].partition("=")
        if name in ("--home", "--config"):
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
