"""The options of every command → options.json, so that a shell can complete them without importing a command (300 ms).

`python -m kb.cli.option_table` writes the file; a test holds it to the commands.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from kb.cli.commands import COMMANDS
from kb.cli.main import build_app

FILE = Path(__file__).with_name("options.json")


def option_table() -> dict[str, dict[str, Any]]:
    """Command ("search", "answers show") → its help, and its options as [name, help, whether a value follows]."""
    table: dict[str, dict[str, Any]] = {}
    for name, entry in COMMANDS.items():
        if entry.renamed_to is not None:
            continue
        root: Any = typer.main.get_command(build_app([name]))
        found = root.commands[name] if hasattr(root, "commands") and name in root.commands else root
        inner = getattr(found, "commands", {})
        table[name] = {"help": entry.help, "options": [] if inner else _options(found)}
        for inner_name, command in inner.items():
            help_text = (command.short_help or command.help or "").strip().partition("\n")[0]
            table[f"{name} {inner_name}"] = {"help": help_text, "options": _options(command)}
    return table


def _options(command: Any) -> list[list[Any]]:
    rows = []
    for param in command.params:
        if param.param_type_name == "option" and not param.hidden:
            takes_value = not param.is_flag
            rows += [[name, param.help or "", takes_value] for name in (*param.opts, *param.secondary_opts)]
    return sorted([*rows, ["--help", "show its help", False]])


def table_text() -> str:
    """What options.json holds: a line a command."""
    lines = [f" {json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}" for name, row in option_table().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(table_text(), encoding="utf-8")
