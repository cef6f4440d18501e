"""The `kb` command: finds the command's module, runs it, and is the one place where an error becomes text and an exit code.

Only the module of the command that is called is imported; `kb --help` imports none.
"""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

import typer
from typer.main import get_command

from kb import __version__
from kb.cli.commands import COMMANDS, GROUPS, Entry, present_names
from kb.cli.examples import EXAMPLES, examples_text
from kb.cli.help import EXIT_CODES, print_first_steps, print_help
from kb.cli.invocation import (
    Call,
    ColorOption,
    ConfigOption,
    HomeOption,
    Invocation,
    JsonOption,
    QuietOption,
    VerboseOption,
    VersionOption,
    hoist_global_options,
    split_leading,
    wants_json,
)
from kb.cli.shell_scripts import show_or_install
from kb.cli.terminal import print_error
from kb.config import find_home, load_config
from kb.errors import CorruptStore, ExitCode, InvalidInput, IoError, KbError, Locked
from kb.private import open_private
from kb.store.schema import FILE_NAME

Result = TypeVar("Result")


def main() -> None:
    """The console script."""
    # Before numpy is imported: what a query multiplies is small, and a second thread takes .1 s to wait for the first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    json = wants_json(sys.argv[1:])
    _protect_stdout(json)
    sys.exit(run(sys.argv[1:], json))


def run(arguments: list[str], json: bool) -> int:
    """Run one command line; returns the exit code. The command's name is noted, for the context node act_history."""
    words = hoist_global_options(arguments, GROUPS)
    call = _guard(lambda: _parse(words, json), words, json)
    if not isinstance(call, Call):
        return call
    code = _guard(lambda: _execute(call), words, json, call.invocation.home)
    if "--dry-run" not in words:  # that one changes nothing, anywhere
        _note(call.invocation, words, code)
    return code


def _guard(step: Callable[[], Result], arguments: list[str], json: bool, home: Path | None = None) -> Result | int:
    """The step's result, or the exit code of its error. Errors are printed here and nowhere else.

    home  the data folder that the step works on, whose damage may be the cause of an error
    """
    try:
        return step()
    except KbError as error:
        return _print_error(error, json)
    except (KeyboardInterrupt, typer.Abort) as interrupted:
        print(str(interrupted) or "interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except Exception as error:
        known = _known_cause(error, arguments, home) or (_find_damage(home) if home else None)
        return _print_error(known, json) if known else _print_bug(error, json)


def _parse(arguments: list[str], json: bool) -> Call | int:
    """The call that the arguments mean; the exit code where they ask for help, the version or nothing."""
    if not arguments or (len(arguments) == 1 and arguments[0] in GROUPS):
        if json:
            raise InvalidInput("no command given", fix=f"see: {' '.join(['kb', *arguments])} --help")
        if not arguments and not (find_home(None) / FILE_NAME).exists():
            print_first_steps()
        else:
            _parse([*arguments, "--help"], json)
        return ExitCode.USER_ERROR
    if arguments[0] == "help" and "help" not in COMMANDS:
        _, asked = split_leading(arguments[1:])
        arguments = [*takewhile(lambda word: not word.startswith("-"), asked), "--help"]
    option, _, value = arguments[0].partition("=")
    if option in ("--show-completion", "--install-completion"):
        show_or_install(option, value or next(iter(arguments[1:]), None))
        return ExitCode.DONE
    if arguments[0] in ("--help", "-h"):
        print_help()
        return ExitCode.DONE
    arguments = _with_present_names(arguments)
    name = arguments[0] if arguments[0] in COMMANDS else None
    try:
        result = _command(name, COMMANDS[name] if name else None)(args=arguments, prog_name="kb", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # typer's own answer to a closed pipe is exit 1
            raise leaving.__context__ from None
        raise
    except typer.TyperException as error:
        message = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
        raise InvalidInput(message.rstrip("."), fix=_usage_hint(message, arguments)) from error
    return result if isinstance(result, Call | int) else ExitCode.DONE


def _usage_hint(message: str, arguments: list[str]) -> str:
    """Where to look after a call that cannot be understood; an example where something is missing."""
    name = " ".join(arguments[: 2 if arguments[0] in GROUPS else 1])
    if examples_text(name) is None:
        name = arguments[0] if arguments[0] in COMMANDS else ""
    hint = f"for example: {EXAMPLES[name][0]}; " if name in EXAMPLES and "argument" in message else ""
    return f"{hint}see: {' '.join(['kb', *name.split(), '--help'])}"


def _execute(call: Call) -> int:
    code: int = ExitCode.DONE
    try:
        call.run()
    except typer.Exit as leaving:
        code = leaving.exit_code
    sys.stdout.flush()
    return code


def _note(invocation: Invocation, words: list[str], code: int) -> None:
    """Note the command in the home's short history; a broken configuration keeps none."""
    from kb.store.acts import Act, note_act  # 4 ms (json) that --help does not need

    try:
        kept = load_config(invocation.config_path, invocation.home, os.environ, notify=lambda line: None)
    except KbError:
        return
    name = " ".join(words[: 2 if words[0] in GROUPS else 1])
    done_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    note_act(invocation.home, Act(name, done_at, int(code)), kept.history.keep_commands)


def _with_present_names(arguments: list[str]) -> list[str]:
    """The same call in today's names; names of earlier versions work for one version, with a note."""
    present, notes = present_names(arguments)
    if not {"--quiet", "--json"} & set(arguments):
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
    return present


@cache
def _command(name: str | None, _entry: Entry | None) -> Callable[..., object]:
    """The parser of a command, or of all of them for None; built once, however many command lines a process runs."""
    return get_command(build_app([name] if name else []))


def build_app(arguments: list[str]) -> typer.Typer:
    """The typer application with the one command that is called, or with all of them when that cannot be told."""
    app = typer.Typer(
        name="kb",
        help="A local knowledge base: ingest documents, search them, ask them, with citations that are checked.",
        epilog=f"Exit codes: {EXIT_CODES}.",
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, entry in COMMANDS.items():
        if arguments and name == arguments[0]:
            _add(app, name, entry)
            return app
    for name, entry in COMMANDS.items():
        if entry.renamed_to is None:  # a list of what there is imports none of it
            app.command(name, help=entry.help)(_root)
    return app


def _add(app: typer.Typer, name: str, entry: Entry) -> None:
    module, _, attribute = entry.place.partition(":")
    target = getattr(import_module(module), attribute)
    is_hidden = entry.renamed_to is not None
    if entry.is_group:
        for info in target.registered_commands:
            # A short help of its own is shown whole; one that typer makes ends in "..." where the terminal is narrow.
            info.short_help = info.help or (info.callback.__doc__ or "").strip().partition("\n")[0]
            info.epilog = examples_text(f"{name} {info.name}")
        app.add_typer(target, name=name, hidden=is_hidden)
    else:
        app.command(name, hidden=is_hidden, epilog=examples_text(name))(target)


def _root(
    home: HomeOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
    version: VersionOption = False,
) -> None:
    """The global options in `kb --help`; in a call with a command they have been moved behind it."""


def _protect_stdout(json: bool) -> None:
    """Never fail on a character; under --json keep stdout for JSON even when a native library prints on its own."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if json:
        real = os.dup(1)
        os.dup2(2, 1)
        sys.stdout = os.fdopen(real, "w", encoding="utf-8", errors="backslashreplace")


def _find_damage(home: Path) -> KbError | None:
    """The damage in a store that makes a command fail in a way nobody foresaw; None where the store is sound."""
    from kb.store.store import Store  # an error that is a bug is rare enough for it

    fix = "see what can be mended with: kb doctor --deep"
    try:
        with Store(home) as store:
            faults = store.find_faults() or store.soundness.find_unreadable()
    except CorruptStore as error:
        return error
    except KbError:
        return None
    except Exception as error:
        return CorruptStore(f"kb.sqlite is damaged: {error}", fix=fix)
    return CorruptStore(f"kb.sqlite is damaged: {faults[0]}", fix=fix) if faults else None


def _known_cause(error: Exception, arguments: list[str], home: Path | None) -> KbError | None:
    """Errors of the machine that libraries report in their own words, as errors with a fix; None for a bug in kb."""
    text = str(error)
    if isinstance(error, UnicodeEncodeError) and any("\udc80" <= c <= "\udcff" for a in arguments for c in a):
        return InvalidInput("an argument holds bytes that are not UTF-8 text", fix="write it in UTF-8")
    if isinstance(error, sqlite3.OperationalError) and ("locked" in text or "busy" in text):
        return Locked(f"the store is busy: {text}", fix="try again in a moment")
    if isinstance(error, sqlite3.OperationalError) and ("full" in text or "I/O" in text or "readonly" in text):
        return _unwritable(f"the store cannot be written: {text}", home)
    if isinstance(error, sqlite3.DatabaseError) and ("malformed" in text or "not a database" in text):
        return CorruptStore(f"kb.sqlite is damaged: {text}", fix="restore a copy made with kb backup, or ingest again")
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return _unwritable(f"{place}{error.strerror}", home)
    return None


def _unwritable(problem: str, home: Path | None) -> IoError:
    place = next((place for place in (home, *home.parents) if place.exists()), None) if home else None
    if place is None:
        return IoError(problem, fix="check the path, its permissions and free space")
    free = shutil.disk_usage(place).free
    fix = f"make room in {home} ({free / 1e6:,.1f} MB are free), or check its permissions"
    return IoError(problem, fix=fix, path=str(home), free_bytes=free)


def _print_error(error: KbError, json: bool) -> int:
    print_error(error, json=json)
    return ExitCode.USER_ERROR


def _print_bug(error: Exception, json: bool) -> int:
    """A bug keeps its traceback, in the log; the user gets one line and where the log is."""
    import traceback

    state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    log = Path(state) / "kb" / "kb.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(log, "a", encoding="utf-8", errors="backslashreplace", opener=open_private) as file:
            # The command's name alone: its arguments are questions, facts and names of files.
            name = next((word for word in sys.argv[1:] if word in COMMANDS), "")
            file.write(f"kb {__version__} {name}\nTraceback (most recent call last):\n")
            file.writelines(traceback.format_tb(error.__traceback__))
            file.write(f"{type(error).__name__}\n\n")
        place = f"the traceback is in {log}"
    except OSError:
        place = "".join(traceback.format_exception_only(error)).strip()
    bug = KbError(f"kb has a bug: {type(error).__name__}: {error}", fix=f"please report it; {place}")
    return _print_error(bug, json)


if __name__ == "__main__":
    main()
