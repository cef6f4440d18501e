"""--limit and --sort of the commands that list: the same words everywhere, with the sortings there are in the error."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import typer

from kb.errors import InvalidInput

Row = TypeVar("Row")
# How a list can be sorted: name → (what of a row decides, descending).
Sortings = Mapping[str, tuple[Callable[[Row], Any], bool]]

LimitOption = Annotated[
    int | None, typer.Option("-k", "-n", "--limit", metavar="N", help="how many at most", min=1, show_default=False)
]


def sort_option(sortings: Sortings[Row]) -> Any:
    """--sort with the names of these sortings in its help."""
    return typer.Option("--sort", metavar="BY", help=f"by {_listed(sortings)}", show_default=False)


def arranged(rows: Sequence[Row], sortings: Sortings[Row], sort: str | None, limit: int | None) -> tuple[Row, ...]:
    """Rows in the order that is asked for, as they come without one; equal rows stay in their order.

    raises  InvalidInput for a sorting that there is not
    """
    found = list(rows)
    if sort is not None:
        key, is_descending = _find(sortings, sort)
        found.sort(key=key, reverse=is_descending)
    return tuple(found[:limit])


def check_sort(sortings: Sortings[Row], sort: str | None) -> None:
    """Refuse a sorting that there is not, before anything is read."""
    if sort is not None:
        _find(sortings, sort)


def _find(sortings: Sortings[Row], name: str) -> tuple[Callable[[Row], Any], bool]:
    found = sortings.get(name.lower())
    if found is None:
        near = difflib.get_close_matches(name.lower(), sortings, n=1)
        meant = f"did you mean '{near[0]}'? " if near else ""
        raise InvalidInput(f"--sort '{name}' is not a sorting", fix=f"{meant}use {_listed(sortings)}")
    return found


def _listed(sortings: Sortings[Row]) -> str:
    *others, last = sortings
    return f"{', '.join(others)} or {last}" if others else last
