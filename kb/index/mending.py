"""An opened index → the same, which is built anew once where a call finds its files damaged, and finds no chunk that is gone.

An index that could be opened may still be damaged where only some queries read it; one that is behind the corpus still
holds what was removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

from kb.errors import IndexOutOfDate
from kb.index.protocol import Abilities, Index
from kb.records import Ranking


def mending(index: Index, reopen: Callable[[], Index], gone: Callable[[Collection[int]], set[int]]) -> Index:
    """The index, with every call made again on the one that `reopen` gives where the first found damage.

    gone  those of some chunks that a search is not to find
    """
    return cast(Index, _Mending(index, reopen, gone))


class _Mending:
    """See OpenedIndex. Damage that is found in a rebuilt index is raised."""

    def __init__(self, index: Any, reopen: Callable[[], Any], gone: Callable[[Collection[int]], set[int]]) -> None:
        self._index, self._reopen, self._gone = index, reopen, gone

    @property
    def abilities(self) -> Abilities:
        abilities: Abilities = self._index.abilities
        return abilities

    def search(self, query: Any, depth: int, within: Sequence[int] | None = None) -> Ranking:
        wanted = depth
        while True:
            ranking: Ranking = self._call("search", query, wanted, within)
            gone = self._gone([chunk_id for chunk_id, _ in ranking])
            if not gone:
                return ranking[:depth]
            held = [row for row in ranking if row[0] not in gone]
            if len(held) >= depth or len(ranking) < wanted:
                return held[:depth]
            wanted *= 2

    def statistics(self, *arguments: Any) -> Any:
        return self._call("statistics", *arguments)

    def expect(self, queries: Any) -> None:
        self._call("expect", queries)

    def vectors_at_hand(self, chunk_ids: Sequence[int]) -> Any:
        return self._call("vectors_at_hand", chunk_ids)

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
