"""Filters → expressions that Milvus applies before it ranks; and the documents that pass, counted or listed on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

from kb.records import Filters
from kb.store.dates import moment_ns


def quoted(value: str) -> str:
    """A text as a literal of an expression."""
    return json.dumps(value, ensure_ascii=False)


def one_of(field: str, values: Iterable[int | str]) -> str:
    """The field is one of these values.

    >>> one_of("type", ["pdf", 'a"b'])
    'type in ["pdf", "a\\\\"b"]'
    """
    return f"{field} in [{', '.join(str(v) if isinstance(v, int) else quoted(v) for v in values)}]"


def all_of(*expressions: str) -> str:
    """All of these hold; empty ones are left out.

    >>> all_of("a == 1", "", "b == 2")
    '(a == 1) and (b == 2)'
    """
    given = [expression for expression in expressions if expression]
    return given[0] if len(given) == 1 else " and ".join(f"({expression})" for expression in given)


def expression_of(filters: Filters) -> str:
    """What documents and chunks have to pass, paths aside: a glob is no expression of Milvus.

    raises  InvalidInput for an invalid date
    """
    languages = [tag.partition("-")[0].lower() for tag in filters.languages]  # documents carry the primary subtag only
    parts = [
        one_of(field, [value.lower() for value in wanted])
        for field, wanted in (("source_lower", filters.sources), ("type", filters.types), ("language", languages))
        if wanted
    ]
    if filters.tags:
        parts.append(f"array_contains_any(tags_lower, [{', '.join(quoted(tag.lower()) for tag in filters.tags)}])")
    if filters.since is not None:
        parts.append(f"mtime_ns >= {moment_ns(filters.since, '--since')}")
    if filters.until is not None:
        parts.append(f"mtime_ns < {moment_ns(filters.until, '--until', whole_day=True)}")
    return all_of(*parts)


class Passing(Sequence[int]):
    """The documents that pass an expression, as a sequence of doc_ids, ascending: a search uses the expression alone."""

    def __init__(self, expression: str, count: Callable[[], int], list_ids: Callable[[], list[int]]) -> None:
        self.expression = expression
        self._count, self._list_ids = count, list_ids

    @cached_property
    def _ids(self) -> list[int]:
        return self._list_ids()

    @cached_property
    def _length(self) -> int:
        return self._count()

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids)

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> list[int]: ...

    def __getitem__(self, place: int | slice) -> int | list[int]:
        return self._ids[place]


def within(documents: Sequence[int] | None) -> str:
    """The expression for chunks of these documents; "" for all."""
    if documents is None:
        return ""
    return documents.expression if isinstance(documents, Passing) else one_of("doc_id", documents)
