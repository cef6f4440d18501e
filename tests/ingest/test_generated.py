"""Files that a machine made are told from those that people wrote, and left out with the reason."""

from __future__ import annotations

import base64
import json
import random

import pytest

from kb.ingest.generated import generated_by_content, generated_by_name
from tests.ingest.corpora import FORMATS

_RANDOM = random.Random(1)
_NOISE = _RANDOM.randbytes(30_000)
_NAMES = "alpha beta gamma delta epsilon reading config".split()


@pytest.mark.parametrize(
    ("name", "is_generated"),
    [
        ("package-lock.json", True),
        ("Cargo.lock", True),
        ("go.sum", True),
        ("jquery-3.7.min.js", True),
        ("site.css.map", True),
        ("lock.md", False),
        ("admin.js", False),
        ("roadmap.md", False),
        ("min.py", False),
        ("package.json", False),
    ],
)
def test_names_of_generated_files(name: str, is_generated: bool) -> None:
    assert (generated_by_name(name) is not None) == is_generated


def minified(functions: int) -> str:
    return "".join(f'function a{i}(b,c){{return b.d(c,"{i}")||e[{i}].f(b)}}' for i in range(functions))


CONTENTS: dict[str, tuple[str, str, str | None]] = {
    "minified code": ("code", minified(1_000), "minified code"),
    "the same code, too short to matter": ("code", minified(20), None),
    "code with lines as people write them": (
        "code",
        minified(1_000).replace("{", " {\n    ").replace("}", "\n}\n"),
        None,
    ),
    "prose in one line": ("text", "The keeper oils the hinge every autumn. " * 600, None),
    "prose in one comment of code": ("code", "# " + "The keeper oils the hinge every autumn. " * 600, None),
    "base64": ("text", base64.encodebytes(_NOISE).decode(), "encoded bytes, as in base64"),
    "base64 in one line": ("text", base64.b64encode(_NOISE).decode(), "encoded bytes, as in base64"),
    "a page with a picture inside": (
        "markdown",
        f"# Harbour\n\n![a](data:{base64.b64encode(_NOISE).decode()})\n",
        None,
    ),
    "a text of which half is a picture": (
        "text",
        "The keeper oils the hinge. " * 1_500 + base64.b64encode(_NOISE).decode(),
        None,
    ),
    "a dump": ("text", "-- MySQL dump 10.13\n" + "INSERT INTO `t` VALUES (1,'a');\n" * 1_000, "the dump of a database"),
    "a script for a database": ("code", "INSERT INTO harbours VALUES (1, 'Skerry');\n" * 1_000, None),
    "numbers": ("text", "\n".join(f"{i},{i * 7 % 97}.5,-{i}" for i in range(12_000)), "numbers alone"),
    "numbers with labels": ("text", "\n".join(f"{_NAMES[i % 7]},{i * 7 % 97}.5" for i in range(12_000)), None),
    "numbers in a table that is not large": ("text", "\n".join(f"{i},{i * 7 % 97}.5" for i in range(3_000)), None),
    "a line of JSON": ("text", json.dumps([{"name": name, "at": i} for i in range(500) for name in _NAMES]), None),
    "Korean without a blank": ("text", "소유권이란메모리를관리하는규칙이다" * 1_000, None),
    "addresses": ("text", "\n".join(f"https://example.org/path/to/page-{i}?q=harbour" for i in range(1_000)), None),
}


@pytest.mark.parametrize("what", CONTENTS)
def test_contents_of_generated_files(what: str) -> None:
    type_name, text, reason = CONTENTS[what]
    assert generated_by_content(type_name, text.encode()) == (reason and f"made by a machine: {reason}")


def test_no_fixture_counts_as_generated() -> None:
    files = [path for path in FORMATS.parent.rglob("*") if path.is_file()]
    assert len(files) > 50
    assert [
        path for path in files if generated_by_name(path.name) or generated_by_content("text", path.read_bytes())
    ] == []
