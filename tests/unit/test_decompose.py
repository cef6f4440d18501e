"""What a question asks, English and Korean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.packing.decompose import candidate_names, decompose
from kb.packing.fit import question_fit

KNOWN = {"Router", "NAT", "소유권", "Rust Book", "parse_config", "telescope"}


def known(names: list[str]) -> set[str]:
    return {name for name in names if name in KNOWN}


@pytest.mark.parametrize(
    ("query", "intent", "shape", "entities", "facts"),
    [
        ("How does the Router handle NAT?", "explain", "text", ("Router", "NAT"), ("handle",)),
        ("What is the Rust Book?", "define", "definition", ("Rust Book",), ()),
        ("What is the difference between the Router and NAT?", "compare", "definition", ("Router", "NAT"), ("difference",)),
        ("parse_config fails with an error", "troubleshoot", "text", ("parse_config",), ("fails", "error")),
        ("How many mirrors has the telescope?", "lookup", "number", ("telescope",), ("mirrors",)),
        ("소유권은 무엇인가?", "define", "definition", ("소유권",), ()),
        ("소유권은 왜 필요한가?", "explain", "text", ("소유권",), ("필요",)),
        ("거울은 며칠마다 청소하나요?", "lookup", "number", (), ("거울", "청소")),
        ("", "lookup", "text", (), ()),
    ],
)  # fmt: skip
def test_what_a_question_asks(
    query: str, intent: str, shape: str, entities: tuple[str, ...], facts: tuple[str, ...]
) -> None:
    found = decompose(query, known)  # type: ignore[arg-type]
    assert (found.intent, found.shape, found.entities, found.facts) == (intent, shape, entities, facts)


def test_names_that_nothing_knows_are_facts() -> None:
    found = decompose("How does the Router handle NAT?")
    assert found.entities == ()
    assert set(found.facts) == {"Router", "handle", "NAT"}


def test_particles_do_not_stay_on_korean_names() -> None:
    assert "소유권" in candidate_names("소유권에서는 값이 어떻게 되나?")
    assert "FastAPI" in candidate_names("FastAPI에서 의존성은?")


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_taken_apart_the_same_every_time(query: str, text: str) -> None:
    found = decompose(query, lambda names: names[::2])
    assert found == decompose(query, lambda names: names[::2])
    assert 0 <= question_fit(text, found) <= 1
