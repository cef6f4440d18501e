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
