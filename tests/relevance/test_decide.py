"""The seven layers of rules: single cases, scenarios of the original rules, a slow reference, and invariants."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.relevance.decide import LAYERS, Decision, decide, log_line
from kb.relevance.read_rules import default_rules, open_rules
from kb.relevance.rules import RETURNING, Condition, Predicate, Rules, SignalRule, Situation
from kb.relevance.signals import MODES_WITHOUT_RETRIEVAL, Conversation, choose_mode, compute_signals
from tests.relevance.reference import EXCLUSIONS, MODES, TABLE, original_nodes, reference_map

SHARED = next((p / "shared" for p in Path(__file__).parents if (p / "shared" / "data").is_dir()), Path("shared"))
SCENARIOS = SHARED / "data" / "context_relevance_scenarios.json"
RULES = default_rules()
NODES = frozenset(TABLE)


def choose(mode: str, signals: dict[str, Any] | None = None, budget: int = 4000, **given: Any) -> Decision:
    return decide(
        RULES, Situation(mode=mode, signals=signals or {}, token_budget_remaining=budget, **given), explain=True
    )


def test_the_default_rules_are_the_reference_tables() -> None:
    assert dict(RULES.token_estimates) == {node: row[0] for node, row in TABLE.items()}
    assert list(RULES.masks) == MODES
    for place, mode in enumerate(MODES, start=1):
        assert RULES.masks[mode] == {node for node, row in TABLE.items() if row[place]}
    assert sum(map(len, RULES.signal_rules.values())) == len(EXCLUSIONS)
    assert [len(LAYERS), RULES.max_included_nodes, RULES.soft_recovery_budget] == [7, 12, 1500]


GREETING2 = {"greeting_pattern": True, "prompt_token_count": 2}
WARM = {"context_warmth": 0.7, "working_memory_turns": 3}

# name: (mode, signals, budget, urgency, returning) → nodes that must be in, nodes that must be out
ACCEPTANCE: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "C1": (
        ("ACKNOWLEDGE", {}, 4000, None, False),
        "identity_context communication_style user_traits",
        "episodic_memory working_memory facts gists world_state focus client_context act_history",
    ),
    "C2": (
        ("ACT", {}, 4000, None, False),
        "available_tools available_skills",
        "identity_context user_traits onboarding_nudge identity_modulation",
    ),
    "greeting of two words": (
        ("RESPOND", GREETING2, 10000, None, False),
        "",
        "working_memory world_state focus active_lists episodic_memory",
    ),
    "urgent greeting": (
        ("RESPOND", GREETING2, 1000, "high", False),
        "working_memory world_state facts",
        "focus active_lists",
    ),
    "warm, 4,000 tokens left": (("CLARIFY", WARM, 4000, None, False), "gists", "episodic_memory"),
    "warm, 6,000 tokens left": (("CLARIFY", WARM, 6000, None, False), "episodic_memory", ""),
    "cold context": (("ACT", {"context_warmth": 0.2}, 4000, None, False), "identity_context", "user_traits"),
    "one turn": (("ACKNOWLEDGE", {"working_memory_turns": 1}, 4000, None, False), "working_memory", "facts"),
    "back after a pause": (
        ("ACKNOWLEDGE", {}, 4000, None, True),
        "identity_context user_traits warm_return_hint",
        "facts",
    ),
    "unknown mode": (("IGNORE", GREETING2, 0, None, False), " ".join(TABLE), ""),
    "no facts": (("RESPOND", {"fact_count": 0}, 4000, None, False), "gists", "facts"),
    "number of facts absent": (("RESPOND", {}, 4000, None, False), "facts world_state", ""),
    "number of facts null": (("RESPOND", {"fact_count": None}, 4000, None, False), "facts", ""),
    "reference absent": (("RESPOND", {"information_density": 0.4}, 4000, None, False), "world_state", ""),
    "reference false": (
        ("RESPOND", {"information_density": 0.4, "implicit_reference": False}, 4000, None, False),
        "episodic_memory",
        "world_state",
    ),
}


@pytest.mark.parametrize("name", ACCEPTANCE)
def test_acceptance(name: str) -> None:
    (mode, signals, budget, urgency, returning), inside, outside = ACCEPTANCE[name]
    found = choose(mode, signals, budget, urgency=urgency, returning_from_silence=returning)
    assert set(inside.split()) <= set(found.included)
    assert not set(outside.split()) & set(found.included)


def test_a_chain_of_dependencies_is_followed_to_its_end() -> None:
    """A circle of dependencies is tested in test_read_rules.py."""
    rules = rules_of(["a", "b", "c", "d"], dependencies={"a": ("b",), "b": ("c",)}, masks={"M": frozenset("a")})
    found = decide(rules, Situation(mode="M"))
    assert (found.included, found.deps_added, found.excluded_hard) == (("a", "b", "c"), ("b", "c"), ("d",))


def test_what_safety_forces_brings_its_dependencies() -> None:
    """The dependencies are added once more after the safety overrides."""
    rules = rules_of(
        ["a", "b", "c"],
        dependencies={"a": ("b",)},
        masks={"M": frozenset("c")},
        safety_overrides={"a": (Condition(()),)},
    )
    found = decide(rules, Situation(mode="M"))
    assert (found.included, found.deps_added, found.overrides_applied) == (("a", "b", "c"), ("b",), ("safety:a",))
    clarify = replace(RULES, masks={"CLARIFY": RULES.masks["CLARIFY"] - {"identity_context", "onboarding_nudge"}})
    clarify = replace(clarify, safety_overrides={"warm_return_hint": RULES.safety_overrides["warm_return_hint"]})
    assert decide(clarify, Situation(mode="CLARIFY", returning_from_silence=True)).deps_added == ("identity_context",)


def test_disabled_rules_include_everything() -> None:
    found = decide(open_rules(None, enabled=False), Situation(mode="ACKNOWLEDGE", signals=GREETING2))
    assert (set(found.included), found.est_tokens, found.warnings) == (NODES, 4760, ())


def test_an_unknown_mode_includes_everything_and_warns() -> None:
    found = choose("IGNORE")
    assert (set(found.included), found.excluded_hard, found.mode) == (NODES, (), "IGNORE")
    assert found.warnings == (
        "unknown mode 'IGNORE', so every node is included; there are: RESPOND, CLARIFY, ACT, ACKNOWLEDGE",
    )
    assert choose("acknowledge").mode == "ACKNOWLEDGE"


def test_the_number_of_nodes_is_warned_about_and_not_cut() -> None:
    assert choose("RESPOND").warnings == ("14 nodes are included, more than 12",)
    assert choose("ACT").warnings == ()


def test_soft_exclusions_come_back_in_order_while_there_is_room() -> None:
    signals = {"greeting_pattern": True, "prompt_token_count": 9}
    before = choose("RESPOND", signals, 0).est_tokens
    assert before == 3130
    steps = [(1500, ()), (1501, ("episodic_memory",)), (2300, ("episodic_memory",))]
    steps += [(2301, ("episodic_memory", "active_lists")), (2700, ("episodic_memory", "active_lists"))]
    steps += [(2701, ("episodic_memory", "active_lists", "focus"))]
    for room, recovered in steps:
        assert choose("RESPOND", signals, before + room).recovered_soft == recovered, room


def test_recovery_reckons_with_what_comes_after_it() -> None:
    """Episodic memory alone would fit here; with the gists it needs and what a return forces it would not."""
    signals = WARM | {"gist_count": 0}
    assert choose("ACT", signals, 4000).recovered_soft == ("episodic_memory",)
    returning = choose("ACT", signals, 4000, returning_from_silence=True)
    assert returning.recovered_soft == ("active_lists",)
    assert returning.est_tokens <= 4000
    assert choose("ACT", signals, 4300, returning_from_silence=True).recovered_soft == ("episodic_memory",)


def test_measured_tokens_replace_estimates() -> None:
    found = choose("CLARIFY", WARM, 4000, measured_tokens={"gists": 50, "world_state": 20, "no_node": 9})
    assert found.recovered_soft == ("episodic_memory",)
    assert found.est_tokens == choose("CLARIFY", WARM, 0).est_tokens - 450 - 280 + 800
    assert {node.node for node in found.nodes or ()} == NODES


def test_the_strongest_rule_wins_and_text_never_compares_with_a_number() -> None:
    found = choose("RESPOND", WARM | {"information_density": 0.1}, 100_000)
    assert "episodic_memory" in found.excluded_hard
    for value in ("0", "", "3"):
        assert "facts" in choose("RESPOND", {"fact_count": value}).included
        assert "working_memory" not in choose("ACKNOWLEDGE", {"working_memory_turns": value}).included
    assert "working_memory" in choose("ACKNOWLEDGE", {"working_memory_turns": True}).included
    assert "facts" in choose("RESPOND", {"fact_count": float("nan")}).included


def test_every_layer_explains_itself() -> None:
    found = choose("ACT", WARM | {"gist_count": 0}, 4300, urgency="high", returning_from_silence=True)
    reasons = {node.node: node.reasons for node in found.nodes or ()}
    assert reasons["identity_context"] == (
        "ACT has no place for it",
        "safety: returning_from_silence is true",
    )
    assert reasons["episodic_memory"] == (
        "soft rule: context_warmth >= 0.5 and working_memory_turns >= 2",
        "1950 tokens were free",
    )
    assert reasons["gists"] == ("hard rule: gist_count is 0 and working_memory_turns >= 2", "episodic_memory needs it")
    assert reasons["facts"] == ("urgent",)
    assert reasons["focus"] == ()
    assert found.overrides_applied[:2] == ("urgency", "safety:identity_context")


def test_urgency_and_pause_can_be_asked_for_by_rules() -> None:
    wanted = {
        "n1": (Condition((Predicate("urgency", "", "high"),)),),
        "n2": (Condition((Predicate(RETURNING, "", False),)),),
    }
    rules = rules_of(NAMES, masks={"M": frozenset()}, safety_overrides=wanted)
    assert decide(rules, Situation(mode="M", urgency="high")).included == ("n1", "n2")
    assert decide(rules, Situation(mode="M", urgency="low", returning_from_silence=True)).included == ()


def test_a_prompt_in_its_session_is_decided_as_ask_does_it() -> None:
    """The whole way that `ask` and the providers go: signals, mode, decision, and only the included providers run."""
    ran: list[str] = []
    providers = {node: (lambda node=node: ran.append(node)) for node in TABLE}
    signals = compute_signals("Hey!", Conversation(turns=0, fact_count=2, silence_seconds=90_000))
    choice = choose_mode(signals)
    found = decide(
        RULES, signals.situation(choice.mode, token_budget_remaining=2000, measured_tokens={"user_traits": 40})
    )
    for node in found.included:
        providers[node]()
    assert choice.mode in MODES_WITHOUT_RETRIEVAL
    assert ran == ["communication_style", "identity_context", "identity_modulation", "user_traits", "warm_return_hint"]
    assert found.est_tokens == 730 - 300 + 40
    assert found.overrides_applied[0] == "safety:identity_context"


def test_the_log_line_has_all_fields_of_the_seed() -> None:
    found = choose("CLARIFY", WARM, urgency="high")
    assert log_line(found) == (
        "[CONTEXT RELEVANCE] mode=CLARIFY | excluded_hard=[available_skills, available_tools, warm_return_hint] | "
        "excluded_soft=[active_lists, episodic_memory] | recovered_soft=[] | deps_added=[] | "
        "overrides_applied=[urgency, safety:working_memory] | total_included=12 | est_tokens=3080"
    )
    assert "\n" not in log_line(choose("a\nb"))


# Scenarios where kb differs from the original rules: (nodes that only kb includes, nodes that only the original includes).
# act_history is left out of the comparison: the original rules do not know this node.
DEVIATIONS: dict[str, tuple[set[str], set[str]]] = {
    # a greeting of fewer than six words excludes episodic memory, and recovery does not bring it back
    "greeting Hey! warm0": (set(), {"episodic_memory"}),
    "greeting, 1 WM turn": (set(), {"episodic_memory"}),
    # an unknown mode includes every node
    "unknown mode": (set(TABLE) - {"act_history"}, set()),
}


def scenarios() -> list[Any]:
    if not SCENARIOS.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{SCENARIOS.name} is not here"))]
    rows = json.loads(SCENARIOS.read_text())["scenarios"]
    return [pytest.param(row, id=row["name"]) for row in rows]


@pytest.mark.parametrize("row", scenarios())
def test_the_originals_scenarios(row: Any) -> None:
    asked = row["input"]
    found = choose(
        asked["mode"],
        asked.get("signals"),
        asked.get("token_budget_remaining", 4000),
        urgency=asked.get("classification", {}).get("urgency"),
        returning_from_silence=asked.get("returning_from_silence", False),
    )
    urgent, returning = "urgency" in asked.get("classification", {}), asked.get("returning_from_silence", False)
    budget = asked.get("token_budget_remaining", 4000)
    assert original_nodes(asked["mode"], asked.get("signals", {}), urgent, returning, budget) == set(row["included"])
    more, less = DEVIATIONS.get(row["name"], (set(), set()))
    assert set(found.included) - {"act_history"} == set(row["included"]) - less | more
    differs = sum(TABLE[n][0] for n in more) - sum(TABLE[n][0] for n in less) + 400 * found.includes("act_history")
    assert found.est_tokens == row["est_tokens"] + differs


def test_a_grid_equals_the_slow_reference_and_without_recovery_the_original() -> None:
    axes: list[list[Any]] = [
        [*MODES, "OTHER"],
        [{}, {"greeting_pattern": True, "prompt_token_count": 1}, {"greeting_pattern": True, "prompt_token_count": 12}],
        [{}, {"context_warmth": 0.2}, {"context_warmth": 0.8}],
        [{}, {"working_memory_turns": 1}, {"working_memory_turns": 3}],
        [{}, {"gist_count": 0, "fact_count": 0}],
        [
            {},
            {"information_density": 0.1, "implicit_reference": False},
            {"information_density": 0.4, "implicit_reference": True},
        ],
        [{}, {"tool_relevance_score": 0.05, "intent_needs_tools": False}, {"intent_needs_tools": True}],
        [(False, False), (True, False), (False, True)],
        [1000, 4000, 10_000],
    ]
    for mode, *parts, (urgent, returning), budget in itertools.product(*axes):
        signals = {name: value for part in parts for name, value in part.items()}
        situation = Situation(
            mode=mode,
            signals=signals,
            urgency="high" if urgent else "low",
            returning_from_silence=returning,
            token_budget_remaining=budget,
        )
        found = decide(RULES, situation)
        wanted = reference_map(mode, signals, urgent, returning, budget)
        assert {node: found.includes(node) for node in TABLE} == wanted, situation
        assert not found.recovered_soft or found.est_tokens <= budget, situation
        if budget == 1000 and mode in MODES:
            # Without recovery, the nodes are those of the original rules.
            original = original_nodes(mode, signals, urgent, returning, budget)
            assert set(found.included) - {"act_history"} == original, situation


# Any rules over a few nodes, not only ours: what always holds must hold for those that people write.


def rules_of(nodes: list[str], **given: Any) -> Rules:
    tables: dict[str, Any] = {
        "enabled": True,
        "token_estimates": dict.fromkeys(nodes, 100),
        "masks": {"M": frozenset(nodes)},
        "signal_rules": {},
        "urgency_overrides": (),
        "dependencies": {},
        "safety_overrides": {},
        "soft_recovery_budget": 0,
        "soft_recovery_priority": tuple(nodes),
        "max_included_nodes": 12,
    }
    return Rules(**(tables | given))


NAMES = [f"n{i}" for i in range(7)]
SIGNALS = ["s", "t", "u"]
values = st.one_of(st.booleans(), st.integers(-2, 5), st.floats(-1, 2), st.sampled_from(["a", "1"]))
predicates = st.builds(
    Predicate, st.sampled_from(SIGNALS), st.sampled_from(["", "_eq", "_gte", "_gt", "_lte", "_lt"]), st.integers(-1, 4)
)
conditions = st.builds(Condition, st.lists(predicates, max_size=2).map(tuple))
some_nodes = st.lists(st.sampled_from(NAMES), unique=True)


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    rules = st.builds(SignalRule, conditions, st.sampled_from(["hard", "soft"]))
    return rules_of(
        NAMES,
        token_estimates={name: draw(st.integers(0, 900)) for name in NAMES},
        masks={"M": frozenset(draw(some_nodes))},
        signal_rules=draw(st.dictionaries(st.sampled_from(NAMES), st.lists(rules, max_size=3).map(tuple))),
        urgency_overrides=tuple(draw(some_nodes)),
        # A node depends only on later ones, so that there is no circle.
        dependencies={
            n: tuple(draw(st.lists(st.sampled_from(NAMES[i + 1 :]), unique=True))) for i, n in enumerate(NAMES[:-1])
        },
        safety_overrides=draw(st.dictionaries(st.sampled_from(NAMES), st.lists(conditions, max_size=2).map(tuple))),
        soft_recovery_budget=draw(st.integers(0, 1500)),
        soft_recovery_priority=tuple(draw(some_nodes)),
    )


any_situations = st.builds(
    Situation,
    mode=st.just("M"),
    signals=st.dictionaries(st.sampled_from(SIGNALS), st.none() | values),
    urgency=st.sampled_from([None, "low", "high"]),
    returning_from_silence=st.booleans(),
    token_budget_remaining=st.integers(-500, 6000),
    measured_tokens=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 900), max_size=2),
)


@settings(max_examples=60, deadline=None)
@given(any_rules(), any_situations)
def test_what_always_holds(rules: Rules, situation: Situation) -> None:
    found = decide(rules, situation, explain=True)
    assert found == decide(rules, situation, explain=True)
    parts = [*found.included, *found.excluded_hard, *found.excluded_soft]
    assert sorted(parts) == sorted(NAMES)
    assert set(found.recovered_soft) | set(found.deps_added) <= set(found.included)
    # The budget reaches soft exclusions only, and never beyond itself.
    poor = decide(rules, replace(situation, token_budget_remaining=-1))
    assert set(found.recovered_soft).isdisjoint(poor.excluded_hard)
    assert set(found.recovered_soft) <= set(poor.excluded_soft) | set(poor.deps_added) | forced_in(poor)
    assert not found.recovered_soft or found.est_tokens <= situation.token_budget_remaining
    assert set(poor.included) <= set(found.included)
    # A hard-excluded node is in only where urgency, a dependency or safety wants it.
    for node in found.nodes or ():
        if node.included and any(why.startswith("hard") or "no place" in why for why in node.reasons):
            assert any(why == "urgent" or why.startswith("safety") or why.endswith("needs it") for why in node.reasons)
    # The closure is a fixpoint.
    assert rules.with_dependencies(frozenset(found.included)) == frozenset(found.included)
    tokens = {**rules.token_estimates, **situation.measured_tokens}
    assert found.est_tokens == sum(tokens[node] for node in found.included)


def forced_in(found: Decision) -> set[str]:
    return {name.removeprefix("safety:") for name in found.overrides_applied}
