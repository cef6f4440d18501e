"""`kb --help` and the first screen of a new user: commands in groups, nothing cut at any width.

The lists are written here, not by typer, which shortens a description that does not fit.
"""

from __future__ import annotations

import shutil

from kb.cli.commands import COMMANDS, SECTIONS
from kb.cli.terminal import say, styled
from kb.cli.wrap import wrap_spans

MOST_COLUMNS = 80
OPTIONS = (
    ("--home DIR", "the knowledge base's folder [env: KB_HOME]"),
    ("--config FILE", "the config file [env: KB_CONFIG]"),
    ("--json", "print JSON, for scripts"),
    ("--quiet", "no progress, no messages"),
    ("--verbose", "say more"),
    ("--color WHEN", "auto, always or never; see NO_COLOR"),
    ("-V, --version", "print the version and exit"),
    ("-h, --help", "this help; of one command: kb help COMMAND"),
    ("--install-completion", "complete commands and values in your shell"),
    ("--show-completion", "print the completion script of a shell"),
)
EXIT_CODES = (
    "0 done · 1 nothing found, refused, or some inputs failed · 2 your call or setup needs a fix"
    " · 3 doctor found a fault · 130 interrupted"
)
FIRST_STEPS = (
    ("kb ingest ~/notes", "read a folder; nothing leaves this machine"),
    ("kb search how do backups work", "find passages"),
    ("kb ask how do backups work", "an answer that cites them"),
)


def print_help() -> None:
    """Every command that is listed, by section, and the options of all of them."""
    say("Usage: kb [OPTIONS] COMMAND [ARGS]…\n")
    _say_wrapped("A local knowledge base: ingest documents, search them, ask them, with citations that are checked.")
    width = max(len(name) for name, entry in COMMANDS.items() if entry.renamed_to is None)
    for title, names in SECTIONS.items():
        say(f"\n{styled(title, 'bold')}")
        for name in names:
            _say_row(name, COMMANDS[name].help, width)
    say(f"\n{styled('Options, before or after the command', 'bold')}")
    for name, text in OPTIONS:
        _say_row(name, text, max(len(option) for option, _ in OPTIONS))
    say()
    _say_wrapped(f"Exit codes: {EXIT_CODES}.")


def print_first_steps() -> None:
    """What to type first, where there is no knowledge base yet."""
    say("Usage: kb [OPTIONS] COMMAND [ARGS]…\n")
    _say_wrapped("There is no knowledge base here yet. To begin:")
    say()
    width = max(len(words) for words, _ in FIRST_STEPS)
    for words, text in FIRST_STEPS:
        _say_row(words, text, width)
    say()
    _say_wrapped("kb demo shows all of it on a small example · kb help lists every command.")


def _columns() -> int:
    return min(shutil.get_terminal_size().columns, MOST_COLUMNS)


def _say_wrapped(text: str) -> None:
    for start, end in wrap_spans(text, _columns()):
        say(text[start:end])


def _say_row(name: str, text: str, width: int) -> None:
    """A name, and what it stands for wrapped behind it."""
    room = max(_columns() - width - 4, 20)
    for at, (start, end) in enumerate(wrap_spans(text, room)):
        label = styled(f"{name:<{width}}", "cyan") if at == 0 else " " * width
        say(f"  {label}  {text[start:end]}")
