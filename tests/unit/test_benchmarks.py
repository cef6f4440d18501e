"""The scripts that print the figures: what they import is there, under these names. They are run by hand, and seldom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "training").glob("*.py")])


def own_imports(script: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of what a script imports of kb and of other scripts; the name is "" for a whole module."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and is_own(script, node.module):
            yield from ((node.module, each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names if is_own(script, each.name))


def is_own(script: Path, module: str) -> bool:
    return module.split(".")[0] in ("kb", "benchmarks", "training") or (script.parent / f"{module}.py").exists()


@cache
def names_of(script: Path) -> frozenset[str]:
    """What a script defines or imports at its top."""
    found: set[str] = set()
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {each.asname or each.name for each in node.names}
    return frozenset(found)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_a_script_imports_is_there(script: Path) -> None:
    for module, name in own_imports(script):
        if module.split(".")[0] == "kb":
            if name and not hasattr(import_module(module), name):
                assert find_spec(f"{module}.{name}"), f"{module} has no {name}"
            continue
        other = script.parent / f"{module}.py" if "." not in module else ROOT / f"{module.replace('.', '/')}.py"
        assert other.exists(), f"{module} is not there"
        assert not name or name in names_of(other), f"{module} has no {name}"
