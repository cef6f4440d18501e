"""Functions over a connection → methods of a class, so that `Corpus` and `Journal` can list theirs, one line each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Rows:
    """Some tables of one SQLite file; the connection stays inside `kb/store`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection


def method(function: Callable[Concatenate[sqlite3.Connection, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A function whose first parameter is a connection, as a method of a `Rows`; signature and docstring stay."""

    @wraps(function)
    def call(self: Rows, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self._connection, *args, **kwargs)

    return call
