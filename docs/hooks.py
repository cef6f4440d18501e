"""MkDocs hook: adds the pages that are generated at build time, so that they cannot drift.

commands.md       every command's --help
configuration.md  config.toml as one table per section
schemas.md        every JSON Schema, as `kb schema` prints it
benchmarks.md     benchmarks/README.md
changes.md        HOTFIXES.md

In architecture.md, `<!-- map -->` becomes the map of the package, from the docstring of kb/__init__.py.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.main import get_command

from kb.cli.commands import COMMANDS
from kb.cli.main import build_app, run

ROOT = Path(__file__).parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs with the files that it found; returns them with the generated pages."""
    for name, text in generated_pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Called by MkDocs with the text of each page; puts the map into the one that asks for it."""
    if "<!-- map -->" not in markdown:
        return markdown
    docstring = ast.get_docstring(ast.parse((ROOT / "kb" / "__init__.py").read_text(encoding="utf-8"))) or ""
    map_of_parts = docstring.partition("The parts, in the order that data takes:\n")[2]
    if not map_of_parts:
        raise RuntimeError("kb/__init__.py: no map of the parts in its docstring")
    return markdown.replace("<!-- map -->", f"```text\n{map_of_parts.strip()}\n```")


def generated_pages() -> dict[str, str]:
    """Each generated page by its name below docs/, as Markdown."""
    return {
        "commands.md": commands_page(),
        "configuration.md": configuration_page((ROOT / "config.toml").read_text(encoding="utf-8")),
        "schemas.md": schemas_page(),
        "benchmarks.md": (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8"),
        "changes.md": (ROOT / "HOTFIXES.md").read_text(encoding="utf-8"),
    }


def commands_page() -> str:
    """The help of every command and subcommand, in the order of `kb --help`."""
    parts = [
        "# Commands\n",
        "This page is generated from the `--help` of each command. Global options may stand before or after the command.\n",
    ]
    for words, command in all_commands():
        with command.make_context(" ".join(words), [], resilient_parsing=True) as context:
            context.max_content_width = context.terminal_width = 100
            parts.append(f"## {' '.join(words)}\n\n```text\n{context.get_help().strip()}\n```\n")
    return "\n".join(parts)


def all_commands() -> Iterator[tuple[list[str], Any]]:
    """(words, command) of every command that is not a group; old names are left out."""
    for name, entry in COMMANDS.items():
        if entry.renamed_to is None:
            built = get_command(build_app([name]))
            command = built.commands[name] if name in getattr(built, "commands", {}) else built
            yield from _leaves(command, ["kb", name])


def _leaves(command: Any, words: list[str]) -> Iterator[tuple[list[str], Any]]:
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, inner in command.commands.items():
        if not inner.hidden:
            yield from _leaves(inner, [*words, name])


def configuration_page(text: str) -> str:
    """config.toml, whose keys each have a comment above them, as tables."""
    parts = [
        "# Configuration\n",
        "This page is generated from `config.toml`, which lists every key at its default. `kb init` writes a copy into the"
        " data folder with all keys commented out.\n",
        "A later source wins over an earlier one: the default, the file, the environment variable `KB_<SECTION>__<KEY>`,"
        " the command-line option. An unknown key is an error that names the nearest known key. kb reads the first file that"
        " exists: `--config FILE`, `KB_CONFIG`, `config.toml` in the data folder, `$XDG_CONFIG_HOME/kb/config.toml`.\n",
    ]
    comments: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("# "):
            comments.append(line[2:])
        elif section := re.fullmatch(r"\[([\w.]+)\]", line):
            parts.append(f"\n## {section[1]}\n\n{' '.join(comments)}\n\n| key | default | meaning |\n|---|---|---|")
            comments = []
        elif setting := re.fullmatch(r"(\w+) = (.*)", line):
            meaning = " ".join(comments).replace("|", "\\|")
            parts.append(f"| `{setting[1]}` | `{setting[2]}` | {meaning} |")
            comments = []
        else:
            comments = []
    return "\n".join(parts) + "\n"


def schemas_page() -> str:
    """Every wire object with its JSON Schema, folded away."""
    parts = [
        "# JSON schemas\n",
        "Every object that a command prints with `--json` has a `schema_version`. Within `v1`, only optional fields are"
        " added. `kb schema NAME` prints a schema, `kb schema` lists the names. This page is generated from both.\n",
    ]
    for name in _printed("schema").split():
        schema = _printed("schema", name).strip()
        parts.append(
            f"## {name}\n\n<details markdown><summary>Schema</summary>\n\n```json\n{schema}\n```\n\n</details>\n"
        )
    return "\n".join(parts)


def _printed(*words: str) -> str:
    """What the command line prints for these words."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run(list(words), False)
    if code:
        raise RuntimeError(f"kb {' '.join(words)}: exit code {code}")
    return out.getvalue()
