"""What a block tells once: copies, exports and revisions of a passage that stands in it are passed over."""

import pytest

from kb.context.repeats import without_repeats

RULES = "Each value has an owner.\nThere can only be one owner at a time.\nWhen the owner goes out of scope the value is dropped."
OTHERS = "Borrowing lends a value without giving it away, and the borrow checker holds every loan against its scope."


@pytest.mark.parametrize(
    "copy",
    [
        RULES,
        "- Each value has an _owner_.\n- There can only be one owner at a time.\n- When the owner goes out of scope the value is dropped.",
        RULES.replace("\n", " ").upper(),
        "There can only be one owner at a time.",
    ],
)
def test_a_repetition_is_passed_over(copy: str) -> None:
    assert without_repeats({1: RULES, 2: copy, 3: OTHERS}.items(), 2) == ([1, 3], 1)


def test_what_differs_by_more_than_a_share_stays() -> None:
    edited = RULES.replace("only be one", "be one")
    assert without_repeats({1: RULES, 2: edited, 3: OTHERS}.items(), 2) == ([1, 2], 0)


def test_what_says_more_than_the_one_before_it_stays() -> None:
    assert without_repeats([("part", "There can only be one owner at a time."), ("whole", RULES)], 5) == (
        ["part", "whole"],
        0,
    )


def test_short_and_empty_texts_and_the_end() -> None:
    assert without_repeats([(1, "yes"), (2, "yes"), (3, "no"), (4, OTHERS)], 2) == ([1, 3], 1)
    assert without_repeats([(1, ""), (2, "")], 2) == ([1], 1)
    assert without_repeats([], 3) == ([], 0)
