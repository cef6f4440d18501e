"""The examples in docstrings are true: they are what a reader goes by."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import kb

ROOT = Path(kb.__file__).parent
EXAMPLE = re.compile(r"^ +>>> ", re.M)


def modules_with_examples() -> list[str]:
    """Names of kb's modules that have an example."""
    files = [file for file in sorted(ROOT.rglob("*.py")) if EXAMPLE.search(file.read_text(encoding="utf-8"))]
    return [".".join(("kb", *file.relative_to(ROOT).with_suffix("").parts)) for file in files]


def test_there_are_examples() -> None:
    assert len(modules_with_examples()) > 100


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(import_module(name.removesuffix(".__init__")))
    assert found.attempted
    assert not found.failed
