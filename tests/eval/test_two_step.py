"""Two-step tasks: labels of a window, what still counts as new, what a context holds of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.config import Config
from kb.errors import SuiteInvalid
from kb.eval.judges import judge_suite
from kb.eval.pipeline import EvalRequest, evaluate
from kb.eval.suite import load_suite, parse_suite
from kb.eval.two_step import new_facts
from kb.runtime import open_runtime
from tests.journey.conftest import ROOT

SUITE = ROOT / "fixtures" / "suites" / "two-step.yaml"


def test_the_projects_own_tasks_are_at_least_twenty_in_two_languages() -> None:
    queries = load_suite(SUITE).queries
    assert len(queries) >= 20
    assert {query.slices["lang"] for query in queries} == {"en", "ko"}
    assert sum(query.slices["lang"] == "ko" for query in queries) >= 8
    assert all(query.window and query.labels for query in queries)


def test_a_window_has_labels_like_what_is_relevant() -> None:
    raw = """
queries:
  - id: a
    query: what else?
    window: [{path: a.md, anchor: "one"}, {path: b.md, heading: Two}]
    relevant: [{path: c.md, anchor: "three"}]
"""
    (query,) = parse_suite(raw.encode(), "s.yaml").queries
    assert [(label.path, label.anchor, label.heading) for label in query.window] == [
        ("a.md", "one", None),
        ("b.md", None, "Two"),
    ]


@pytest.mark.parametrize("window", ["[{path: a.md}]", "text", "[{anchor: x}]", "[{path: a.md, anchor: x, extra: 1}]"])
def test_a_window_with_a_fault_is_an_error_with_its_line(window: str) -> None:
    raw = f'queries:\n  - id: a\n    query: q\n    window: {window}\n    relevant: [{{path: c.md, anchor: "x"}}]\n'
    with pytest.raises(SuiteInvalid) as error:
        parse_suite(raw.encode(), "s.yaml")
    assert "s.yaml:4" in error.value.problem


def test_what_the_window_says_is_not_new() -> None:
    facts = new_facts(
        ["Bertha starts   by herself.", "Pip is small."], ["At first Bertha starts\nby herself. Then not."]
    )
    assert list(facts) == ["Pip is small."]


def test_a_run_says_what_the_window_is_worth(corpus_home: Path) -> None:
    suite = load_suite(SUITE)
    with open_runtime(corpus_home, Config()) as kb:
        request = EvalRequest(suite.name, suite.sha256, suite.queries, ("lexical",))
        (run,) = evaluate(kb, request, judge_suite(kb, suite), corpus_home)
    metrics = {name: interval.mean for name, interval in run.metrics.items()}
    assert run.metrics["context_recall"].n == len(suite.queries)
    for name in ("context_recall", "context_new_tokens"):
        known, plain = metrics[name], metrics[f"{name}_plain"]
        assert known is not None
        assert plain is not None
        assert known > plain
    assert not (corpus_home / "counters.sqlite").exists()
