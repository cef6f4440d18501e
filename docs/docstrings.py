"""Griffe extension: the project's docstrings → Markdown for the page of the Python API.

A docstring lists what it knows of parameters and fields as `name   meaning` lines; they become a list. The docstring of the
package itself is the map, which stands on the page of the architecture.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ENTRY = re.compile(r"^(?P<names>[\w.*]+(?:, [\w.*]+)*) {2,}(?P<meaning>\S.*)$")


class ProjectDocstrings(griffe.Extension):
    """Named in mkdocs.yml."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by Griffe for every module, class, function and attribute that it has read."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called by Griffe when a package is loaded."""
        pkg.docstring = None


def as_markdown(docstring: str) -> str:
    """The docstring with its `name   meaning` lines as a list, and the lines that continue one below it."""
    written: list[str] = []
    in_list = False
    for line in docstring.splitlines():
        entry = _ENTRY.match(line)
        if entry:
            if not in_list and written and written[-1]:
                written.append("")
            written.append(f"- `{entry['names']}`: {entry['meaning']}")
            in_list = True
        else:
            in_list = in_list and line.startswith(" ")
            written.append(f"  {line.strip()}" if in_list else line)
    return "\n".join(written)
