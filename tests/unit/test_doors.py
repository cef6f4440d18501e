"""The doors of the store: SQL and connections stay behind them, and the SQLite corpus offers what its protocol asks."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from kb.store.corpus import Corpus
from kb.store.journal import Journal
from kb.store.protocol import CorpusDoor

PACKAGE = Path(__file__).parents[2] / "kb"
OUTSIDE = [path for path in sorted(PACKAGE.rglob("*.py")) if "store" not in path.relative_to(PACKAGE).parts]
SQL = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|PRAGMA\s)", re.S)


def faults_of(source: str) -> list[str]:
    """Lines that hold SQL, read `.connection` or import the functions that open one."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    faults = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("connection", "_connection", "execute", "executemany"):
            faults.append(f"{node.lineno}: .{node.attr}")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            faults += [f"{node.lineno}: SQL"] if SQL.search(node.value) else []
        if isinstance(node, ast.ImportFrom) and node.module == "kb.store.database":
            names = {alias.name for alias in node.names} - {"CorpusState"}
            faults += [f"{node.lineno}: imports {name}" for name in names]
    return faults


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_sql_and_connections_stay_in_the_store(path: Path) -> None:
    assert faults_of(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "rows = kb.connection.execute('x')",
        "q = 'SELECT a FROM b'",
        "q = f'DELETE FROM {table}'",
        "from kb.store.database import transaction",
    ],
)
def test_the_guard_sees_what_it_is_there_for(source: str) -> None:
    assert faults_of(source)


def test_the_sqlite_corpus_offers_the_protocol() -> None:
    """Every method of the protocol is there, with the same parameters in the same order."""
    for name, wanted in inspect.getmembers(CorpusDoor, inspect.isfunction):
        if name.startswith("_"):
            continue
        offered = list(inspect.signature(getattr(Corpus, name)).parameters)[1:]
        assert offered == list(inspect.signature(wanted).parameters)[1:], name


@pytest.mark.parametrize("door", [Corpus, Journal])
def test_every_method_of_a_door_keeps_its_docstring(door: type) -> None:
    methods = [member for name, member in inspect.getmembers(door, inspect.isfunction) if not name.startswith("_")]
    assert len(methods) > 20
    assert all(method.__doc__ for method in methods)
