"""The order of a reader: which stretch of a passage is read, and what becomes of the passages that are not."""

import pytest

from kb.reader.windows import best_window
from kb.search.rerank import reorder_by_reading, stretch_of
from tests.unit.test_pack_and_prompt import chunk

TEXT = "The mirror is cleaned in May. The dome is opened at dusk. Rain closes it. The mirror and the dome are old."


@pytest.mark.parametrize(
    ("terms", "most_chars", "window"),
    [
        (["dome"], 1000, TEXT),
        (["dome"], 30, "The dome is opened at dusk."),
        (["mirror", "dome"], 36, "The mirror and the dome are old."),
        (["none"], 30, "The mirror is cleaned in May."),
        (["mirror"], 10, "The mirror"),
        ([], 29, "The mirror is cleaned in May."),
    ],
)
def test_the_window_holds_most_of_the_terms(terms: list[str], most_chars: int, window: str) -> None:
    assert best_window(terms, TEXT, most_chars) == window


def test_rows_are_read_with_the_names_of_their_columns_under_the_title() -> None:
    rows = "\n".join(f"E-{n},low,Lamp {n} of the long corridor is out" for n in range(40))
    read = stretch_of(chunk(1, rows, headings=("code, severity, meaning",)), frozenset(["31", "corridor"]))
    assert read.startswith("T: code: E-")
    assert "code: E-31; severity: low; meaning: Lamp 31 of the long corridor is out." in read


def test_what_was_not_read_keeps_its_order_below() -> None:
    ranking = [(1, 0.9), (2, 0.8), (3, 0.7), (4, 0.6)]
    assert [i for i, _ in reorder_by_reading(ranking, {1: -8.0, 2: 8.0})] == [2, 1, 3, 4]
    assert [i for i, _ in reorder_by_reading(ranking, {})] == [1, 2, 3, 4]


def test_what_the_reader_cannot_read_keeps_its_score() -> None:
    ranking = [(1, 0.9), (2, 0.5), (3, 0.4)]
    ordered = reorder_by_reading(ranking, {1: None, 2: -11.0, 3: 11.0})
    assert ordered[0] == (1, pytest.approx(0.9))
    assert [i for i, _ in ordered] == [1, 3, 2]


def test_scores_fall_and_stay_in_their_range() -> None:
    scores = [s for _, s in reorder_by_reading([(1, 1.0), (2, 0.4), (3, 0.2)], {1: 11.0, 2: 3.0})]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= s <= 1 for s in scores)
