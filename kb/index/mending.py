"""An opened index → the same, which is rebuilt once where a call finds its files damaged.

An index that could be opened may still be damaged where only some queries read it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from kb.errors import IndexOutOfDate
from kb.index.protocol import Abilities, Index


def mending(index: Index, reopen: Callable[[], Index]) -> Index:
    """The index, with every call made again on the one that `reopen` gives where the first found damage."""
    return cast(Index, _Mending(index, reopen))


class _Mending:
    """See OpenedIndex. Damage that is found in a rebuilt index is raised."""

    def __init__(self, index: Any, reopen: Callable[[], Any]) -> None:
        self._index, self._reopen = index, reopen

    @property
    def abilities(self) -> Abilities:
        abilities: Abilities = self._index.abilities
        return abilities

    def search(self, *arguments: Any) -> Any:
        return self._call("search", *arguments)

    def statistics(self, *arguments: Any) -> Any:
        return self._call("statistics", *arguments)

    def chunk_ids(self) -> Any:
        return self._call("chunk_ids")

    def vectors(self) -> Any:
        return self._call("vectors")

    def check(self) -> Any:
        return self._call("check")

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._index, name)(*arguments)
        except IndexOutOfDate:
            self._index = self._reopen()
            return getattr(self._index, name)(*arguments)
