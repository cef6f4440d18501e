"""Copies folded into the better hit, documents spread."""

from __future__ import annotations

import pytest

from kb.search.variety import fold_copies, holds_copy

TEXT = (
    "The pump in the north shed starts at forty bar and stops at sixty bar. Every keeper checks the gauge before the "
    "evening round, writes the figure into the log, and opens the valve by one turn when the needle is past the mark."
)
OTHER = (
    "The lamp of the lighthouse is wound by hand each evening, and the weights reach the floor of the tower at dawn; the "
    "keeper on duty sleeps beside the winch and listens for the bell that rings when the last chain is off its wheel."
)


def fold(*texts: str) -> tuple[list[int], dict[int, list[tuple[int, str]]]]:
    ranking = [(i, 1 - i / 10) for i in range(len(texts))]
    kept, copies = fold_copies(ranking, dict(enumerate(texts)))
    return [i for i, _ in kept], {i: list(rows) for i, rows in copies.items()}


@pytest.mark.parametrize(
    ("texts", "kept", "copies"),
    [
        ((TEXT, OTHER), [0, 1], {}),
        ((TEXT, TEXT), [0], {0: [(1, "same")]}),
        ((TEXT, f"*{TEXT}*\n"), [0], {0: [(1, "near")]}),
        ((TEXT, OTHER, TEXT, OTHER), [0, 1], {0: [(2, "same")], 1: [(3, "same")]}),
        ((f"{TEXT} {OTHER}", TEXT), [0], {0: [(1, "near")]}),  # all of it stands in the better hit
        ((TEXT, f"{TEXT} {OTHER}"), [0, 1], {}),  # the later one says more
        ((TEXT, TEXT.replace("writes", "notes")), [0], {0: [(1, "near")]}),
        (("Open the valve.", "Open  the valve."), [0], {0: [(1, "same")]}),
        (("Open the valve.", "Open the gate."), [0, 1], {}),
        (("---", "---", "***"), [0, 2], {0: [(1, "same")]}),
    ],
)
def test_copies_are_folded_into_the_better_hit(
    texts: tuple[str, ...], kept: list[int], copies: dict[int, list[tuple[int, str]]]
) -> None:
    assert fold(*texts) == (kept, copies)


def test_another_number_is_no_copy() -> None:
    one = TEXT.replace("forty", "40").replace("sixty", "60")
    assert holds_copy(one, one.replace("writes", "notes"))
    assert not holds_copy(one, one.replace("60", "65"))
    assert fold(one, one.replace("60", "65"))[0] == [0, 1]


def test_chunks_without_a_text_stay() -> None:
    assert fold_copies([(1, 0.5), (2, 0.4)], {1: TEXT}) == ([(1, 0.5), (2, 0.4)], {})
