"""Relations read from sentences: a labelled table, English and Korean, half of it traps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.drafts import Block, Parsed
from kb.graph.extract import MOST_EDGES, MOST_NAMES, extract_graph
from tests.graph.labelled import Labelled, read_labelled, read_relations
from tests.work import count_calls

CALLS_PER_CHARACTER = 40

LABELLED = read_labelled()
# Sentences that state something the rules do not read; more would be a loss, fewer a gain worth a new number.
MISSED_AT_MOST = 6


@pytest.mark.parametrize("labelled", LABELLED, ids=lambda labelled: labelled.sentence[:60])
def test_no_sentence_yields_a_relation_it_does_not_state(labelled: Labelled) -> None:
    assert read_relations(labelled.sentence) <= labelled.expected


def test_few_relations_are_missed() -> None:
    missed = [each.sentence for each in LABELLED if each.expected - read_relations(each.sentence)]
    assert len(LABELLED) >= 120
    assert len(missed) <= MISSED_AT_MOST, missed


def test_the_table_holds_what_it_says() -> None:
    """A trap without a word of a relation would test nothing."""
    assert sum(each.is_trap for each in LABELLED) >= 60
    assert sum(bool(each.expected) for each in LABELLED) >= 60


@pytest.mark.parametrize(
    "text",
    [
        "`a" * 12_500,
        "[" * 25_000,
        "[a](" * 12_500,
        "[[a|" * 12_500,
        "a_" * 25_000,
        "aA" * 25_000,
        "A" * 50_000,
        "Aa " * 17_500,
        "." * 50_000,
        ". A" * 7_500,
        "a.b" * 17_500,
        "lampd depends on tided " * 2_500,
        "의존한다 " * 10_000,
        "마리골드는 " * 10_000,
        "\n" * 25_000,
        "\n -" * 17_500,
        "[a]: " * 10_000,
        "> " * 25_000,
        "::a" * 17_500,
        "#1" * 25_000,
        "x" * 125_000,
        '"' * 50_000,
        "depends on " * 5_000,
        "\ue000" * 25_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_hostile_line_costs_no_more_than_its_length(text: str) -> None:
    drafts = []
    parsed = Parsed(text, (Block("paragraph", 0, len(text)),), has_lines=True)
    calls = count_calls(lambda: drafts.append(extract_graph(parsed, "s", "p.md", "p")))
    graph = drafts[0]
    assert calls.total() < 1_000 + CALLS_PER_CHARACTER * len(text)
    assert len(graph.names) <= MOST_NAMES
    assert len(graph.edges) <= MOST_EDGES


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400), st.sampled_from(["paragraph", "list", "code", "table", "quote"]))
def test_any_text_can_be_read(text: str, kind: str) -> None:
    parsed = Parsed(text, (Block(kind, 0, len(text)),), has_lines=True)  # type: ignore[arg-type]
    graph = extract_graph(parsed, "s", "p.md", "p")
    assert graph == extract_graph(parsed, "s", "p.md", "p")
    assert all(name.key and name.count > 0 for name in graph.names)
    assert len({(n.kind, n.key) for n in graph.names}) == len(graph.names)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([each.sentence for each in LABELLED if each.expected and not each.is_trap]))
def test_a_denied_sentence_states_nothing(sentence: str) -> None:
    assert not read_relations(f"It is a myth that {sentence}") or "=>" in sentence or not sentence.isascii()
