"""A Config → the commented config.toml, and the Markdown table of every key that the documentation shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kb.config.keys import environment_name, range_text
from kb.config.sections import SECTIONS, Config


def commented_toml(config: Config | None = None, *, live: bool = True) -> str:
    """The text of config.toml: every section and key with its comment.

    live  False puts a `# ` before every key, so that the file documents the defaults without pinning them
    """
    lines = [
        "# Every key of kb at its default. A flag wins over the environment (KB_<SECTION>__<KEY>), the environment over this",
        "# file, and this file over the default.",
    ]
    config = config or Config()
    for section, attribute in SECTIONS.items():
        part = getattr(config, attribute)
        lines += ["", f"# {_doc(part)}", f"[{section}]"]
        for entry in fields(part):
            setting = f"{entry.name} = {toml_value(getattr(part, entry.name))}"
            lines += _comment(entry.metadata)
            lines.append(setting if live else f"# {setting}")
    return "\n".join(lines) + "\n"


def config_markdown() -> str:
    """Markdown with a table for every section: key, default, allowed values, environment variable, meaning."""
    config = Config()
    lines: list[str] = []
    for section, attribute in SECTIONS.items():
        part = getattr(config, attribute)
        lines += [f"## [{section}]", "", _doc(part), ""]
        lines += ["| Key | Default | Allowed | Environment | Meaning |", "|---|---|---|---|---|"]
        for entry in fields(part):
            default = f"`{toml_value(entry.default)}`"
            allowed = range_text(entry.metadata).replace("|", "\\|")
            variables = [environment_name(f"{section}.{entry.name}"), entry.metadata["alias"]]
            names = ", ".join(f"`{name}`" for name in variables if name)
            lines.append(
                f"| `{section}.{entry.name}` | {default} | {allowed} | {names} | {_cell(entry.metadata['doc'])} |"
            )
        lines.append("")
    return "\n".join(lines)


def set_key(text: str, name: str, value: Any) -> str:
    """The text of a config.toml with one key set; comments and all other lines stay.

    name  "section.key"

    >>> set_key('[llm]\\n# model = "a"\\ntemperature = 0.1\\n', "llm.model", "b")
    '[llm]\\nmodel = "b"\\ntemperature = 0.1\\n'
    """
    section, _, key = name.rpartition(".")
    setting = f"{key} = {toml_value(value)}"
    lines = text.splitlines()
    if f"[{section}]" not in (line.strip() for line in lines):
        return "\n".join([*lines, *([""] if lines else []), f"[{section}]", setting]) + "\n"
    start = next(i for i, line in enumerate(lines) if line.strip() == f"[{section}]") + 1
    end = next((i for i in range(start, len(lines)) if lines[i].lstrip().startswith("[")), len(lines))
    for mark in ("", "#"):  # a line that is in force goes before one that is commented out
        for i in range(start, end):
            word = lines[i].partition("=")[0].strip()
            if "=" in lines[i] and word.startswith(mark) and word.removeprefix(mark).strip() == key:
                lines[i] = setting
                return "\n".join(lines) + "\n"
    return "\n".join([*lines[:start], setting, *lines[start:]]) + "\n"


def set_keys(text: str, values: Mapping[str, Any]) -> str:
    """The text of a config.toml with several keys set, as `set_key` sets one."""
    for name, value in values.items():
        text = set_key(text, name, value)
    return text


def toml_value(value: Any) -> str:
    """A value as config.toml writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return f"{value:_}" if isinstance(value, int) else repr(value)


def _comment(metadata: Mapping[str, Any]) -> list[str]:
    import textwrap

    allowed = range_text(metadata)
    text = metadata["doc"] + (f" Allowed: {allowed}." if allowed else "")
    if metadata["alias"]:
        text += f" The variable {metadata['alias']} sets it too."
    return textwrap.wrap(text, 118, initial_indent="# ", subsequent_indent="# ")


def _doc(part: object) -> str:
    return type(part).__doc__ or ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
