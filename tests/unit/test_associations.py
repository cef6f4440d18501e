"""What belongs to one of two things, said of the other: their properties, and their titles."""

from __future__ import annotations

import pytest

from kb.support.associations import exchanged_associations, exchanged_titles
from kb.support.check import VERIFIED, check_support

CODES = "Error E4 means the hopper is empty, E7 that the flue is blocked."
STORES = "Oars are stored on the left wall, life jackets on the right."
BUILT = "The tower was built by the mason Hugh Tarrant to a design by the architect Edmund Lisle. Nora Finch, the keeper, oils it."


@pytest.mark.parametrize(
    ("claim", "sentence", "exchanged"),
    [
        ("Error E4 means that the flue is blocked, E7 that the hopper is empty.", CODES, True),
        ("The oars are on the right-hand wall and the life jackets on the left.", STORES, True),
        ("Adults pay 3 euros and children 6.50.", "A swim costs 6.50 for adults and 3 for children.", True),
        # The same in another order, in other words, or of one of them.
        ("E7 says that the flue is blocked, and E4 that the hopper is empty.", CODES, False),
        ("On the right there are life jackets, and on the left oars.", STORES, False),
        ("The oars are on the left wall and the life jackets on the right-hand one.", STORES, False),
        ("Children pay 3 euros and adults 6.50.", "A swim costs 6.50 for adults and 3 for children.", False),
        ("Error E7 means that the flue is blocked.", CODES, False),
        (
            "While it charges, the lamp is orange; once it is full, the lamp is green.",
            "The lamp is orange during charging and turns green when it is full.",
            False,
        ),
        ("노는 오른쪽, 조끼는 왼쪽에 있다.", "노는 왼쪽, 조끼는 오른쪽에 있다.", True),
        ("멈출 수 있지만 지나갈 수는 없다.", "지나갈 수 있지만 멈출 수는 없다.", True),
        ("지나갈 수는 있지만 멈출 수 없다.", "지나갈 수 있지만 멈출 수는 없다.", False),
        (  # a word that stands twice tells nothing
            "A Content-Length header is added for you, and for text types a charset is appended to the Content-Type header.",
            "A Content-Length header is included for you; the Content-Type header is added, with a charset appended for text types.",
            False,
        ),
        (
            "Her letters are in Riga, and her notebooks are kept at the Royal Library.",
            "Her letters, some 2,300 of them, are kept at the Royal Library; her notebooks are in Riga.",
            True,
        ),
    ],
)
def test_properties(claim: str, sentence: str, exchanged: bool) -> None:
    assert bool([*exchanged_associations(claim, sentence)]) is exchanged


@pytest.mark.parametrize(
    ("claim", "exchanged"),
    [
        ("The architect who designed the tower was Hugh Tarrant.", True),
        ("The mason Edmund Lisle built the tower.", True),
        ("Edmund Lisle was the mason.", True),
        ("Hugh Tarrant, the keeper, oils it.", True),
        ("The architect was Edmund Lisle.", False),
        ("The architect Edmund Lisle and the mason Hugh Tarrant made the tower.", False),
        ("Nora Finch is the keeper.", False),
        ("The architect chose Hugh Tarrant.", False),
        ("The keeper was Hugh Tarrant before Nora Finch.", False),  # it tells of both
        ("The painter was Hugh Tarrant.", False),  # no title that another name has
    ],
)
def test_titles(claim: str, exchanged: bool) -> None:
    assert bool([*exchanged_titles(claim, [BUILT])]) is exchanged


def test_the_verdict_sees_them() -> None:
    assert (
        check_support("Error E4 means that the flue is blocked, E7 that the hopper is empty.", [CODES]).status
        == "contradicted"
    )
    assert check_support("The architect was Hugh Tarrant.", [BUILT]).status == "contradicted"
    assert check_support("E7 means that the flue is blocked.", [CODES]).score >= VERIFIED
