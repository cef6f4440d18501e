"""Rules files: what they change, every fault with its place, and what happens without a readable one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.errors import ConfigInvalid, IoError, NotFound, RulesInvalid
from kb.relevance.decide import decide
from kb.relevance.read_rules import DEFAULTS, default_rules, open_rules, read_rules
from kb.relevance.rules import Predicate, Situation, split_key

NODES = frozenset(default_rules().token_estimates)


def written(folder: Path, text: str, name: str = "rules.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    rules = read_rules(
        written(
            tmp_path,
            """
soft_recovery_budget = 2000
[token_estimates]
gists = 50
[template_masks.RESPOND]
gists = false
[template_masks.TRIAGE]
facts = true
world_state = true
[signal_rules]
focus = [{ when = { mood_gt = 3, greeting_pattern = true } }]
[dependencies]
facts = ["gists"]
[safety_overrides]
focus = { when = { mood = "bad" } }
""",
        )
    )
    before = default_rules()
    assert rules.soft_recovery_budget == 2000
    assert rules.token_estimates == {**before.token_estimates, "gists": 50}
    assert rules.masks["RESPOND"] == before.masks["RESPOND"] - {"gists"}
    assert rules.masks["TRIAGE"] == {"facts", "world_state"}
    assert rules.masks["ACT"] == before.masks["ACT"]
    assert [str(rule.when.text) for rule in rules.signal_rules["focus"]] == ["mood > 3 and greeting_pattern is true"]
    assert rules.signal_rules["focus"][0].strength == "soft"
    assert rules.signal_rules["facts"] == before.signal_rules["facts"]
    assert rules.dependencies == {**before.dependencies, "facts": ("gists",)}
    assert set(rules.safety_overrides) == {*before.safety_overrides, "focus"}
    found = decide(rules, Situation(mode="TRIAGE", signals={"mood": "bad"}))
    assert found.included == ("facts", "focus", "gists", "world_state")


def test_a_file_may_start_from_nothing(tmp_path: Path) -> None:
    rules = read_rules(
        written(tmp_path, json.dumps({"extends": False, "template_masks": {"M": {"facts": True}}}), "r.json")
    )
    assert (list(rules.masks), rules.signal_rules, rules.safety_overrides) == (["M"], {}, {})
    assert decide(rules, Situation(mode="M", signals={"fact_count": 0})).included == ("facts",)
    assert set(rules.token_estimates) == NODES


def test_the_defaults_as_a_file_are_the_defaults(tmp_path: Path) -> None:
    import tomllib
    from dataclasses import replace

    text = DEFAULTS.read_text()
    for name, content in (
        ("a.toml", text),
        ("a.json", json.dumps(tomllib.loads(text))),
        ("b", text),
        ("c", json.dumps(tomllib.loads(text))),
    ):
        found = read_rules(written(tmp_path, content, name))
        assert replace(found, source="the defaults") == default_rules()


OWN_NODES = """
[nodes.house_style]
text = "Write measures in SI units."
[nodes.ticket]
[template_masks.RESPOND]
house_style = true
ticket = true
[dependencies]
ticket = ["house_style"]
[signal_rules]
house_style = [{ when = { greeting_pattern = true }, strength = "hard" }]
"""


def test_a_file_adds_nodes_of_its_own(tmp_path: Path) -> None:
    rules = read_rules(written(tmp_path, OWN_NODES))
    assert rules.warnings == ()
    assert rules.node_texts == {"house_style": "Write measures in SI units.", "ticket": ""}
    assert rules.token_estimates["house_style"] > rules.token_estimates["ticket"] == 0
    assert {"house_style", "ticket"} <= set(decide(rules, Situation(mode="RESPOND")).included)
    greeted = decide(rules, Situation(mode="RESPOND", signals={"greeting_pattern": True}), explain=True)
    assert greeted.deps_added == ("house_style",)
    assert "house_style" in decide(rules, Situation(mode="ACT")).excluded_hard
    assert "house_style" in decide(rules, Situation(mode="NO SUCH MODE")).included


def test_an_own_node_takes_the_estimate_that_the_file_gives(tmp_path: Path) -> None:
    rules = read_rules(written(tmp_path, OWN_NODES + "[token_estimates]\nticket = 40\n"))
    assert rules.token_estimates["ticket"] == 40


def test_an_own_node_without_a_place_is_warned_about(tmp_path: Path) -> None:
    text = json.dumps({"nodes": {"new_node": {}}, "dependencies": {"new_node": ["facts"]}})
    rules = read_rules(written(tmp_path, text, "r.json"))
    assert rules.dependencies["new_node"] == ("facts",)
    (warning,) = rules.warnings
    assert warning.endswith("the node 'new_node' has a place in no mode; give it one in template_masks")


def test_enabled_false_in_the_file_includes_everything(tmp_path: Path) -> None:
    rules = open_rules(written(tmp_path, '{"enabled": false}', "r.json"))
    assert set(decide(rules, Situation(mode="ACKNOWLEDGE")).included) == NODES


# text, then each fault as key path: what (the beginning of it)
TOML_FAULTS = [
    ("[token_estimate]\n", ["token_estimate: unknown key 'token_estimate', did you mean 'token_estimates'?"]),
    ("[token_estimates]\nfacs = 3\n", ["token_estimates.facs: unknown node 'facs', did you mean 'facts'?"]),
    (
        "[token_estimates]\nfacts = -1\ngists = 1.5\n",
        ["token_estimates.facts: 'facts' must be from 0 to", "token_estimates.gists: 'gists' must be a whole number"],
    ),
    (
        "soft_recovery_budget = true\n",
        ["soft_recovery_budget: 'soft_recovery_budget' must be a whole number, not true"],
    ),
    (
        "max_included_nodes = 0\nenabled = 1\n",
        ["max_included_nodes: 'max_included_nodes' must be from 1", "enabled: 'enabled' must be true or false, not 1"],
    ),
    (
        "urgency_overrides = [\n  'facts',\n  'fact',\n  'facts',\n  7]\n",
        [
            "urgency_overrides[1]: unknown node",
            "urgency_overrides[2]: 'facts' is named twice",
            "urgency_overrides[3]: 'urgency_overrides[3]' must be",
        ],
    ),
    (
        "[template_masks.M]\nfacts = 1\nnope = true\n",
        ["template_masks.M.facts: 'facts' must be true or false, not 1", "template_masks.M.nope: unknown node 'nope'"],
    ),
    ("template_masks.M = 3\n", ["template_masks.M: 'M' must be a table, not 3"]),
    (
        "[[signal_rules.facts]]\nwhne = {}\n",
        [
            "signal_rules.facts[0].whne: unknown key 'whne', did you mean 'when'?",
            "signal_rules.facts[0]: 'facts[0]' has no 'when'",
        ],
    ),
    (
        "[[signal_rules.facts]]\nwhen = {}\n[[signal_rules.facts]]\nwhen = 3\nstrength = 'firm'\n",
        ["signal_rules.facts[1].strength: strength must be", "signal_rules.facts[1].when: 'when' must be a table"],
    ),
    (
        "[signal_rules]\nfacts = [\n { when = { x_gt = 'a' } } ]\n",
        ["signal_rules.facts[0].when.x_gt: 'x_gt' compares the signal 'x' with a number, not 'a'"],
    ),
    (
        "[signal_rules]\nfacts = {when = {at_lt = true}}\n",
        ["signal_rules.facts.when.at_lt: 'at_lt' compares the signal 'at' with a number"],
    ),
    (
        "[signal_rules]\nfacts = {when = {at_lt_gte = 1, _gt = 1, x = nan}}\n",
        [
            "signal_rules.facts.when.at_lt_gte: 'at_lt_gte' is ambiguous",
            "signal_rules.facts.when._gt: '_gt' names no",
            "signal_rules.facts.when.x: 'x' must be",
        ],
    ),
    (
        "[signal_rules]\nfacts = {when = {x = [1], y = {}}}\n",
        [
            "signal_rules.facts.when.x: 'x' must be true, false, a number or text",
            "signal_rules.facts.when.y: 'y' must be",
        ],
    ),
    (
        "[safety_overrides]\nfacts = [{when = {returning_from_silence_gte = 1}}]\n",
        ["safety_overrides.facts[0].when.returning_from_silence_gte: returning_from_silence is true or false"],
    ),
    (
        "[safety_overrides]\nfacts = [{when = {}, strength = 'hard'}]\n",
        ["safety_overrides.facts[0].strength: unknown key 'strength'"],
    ),
    (
        "[dependencies]\nfacts = ['gists']\ngists = ['facts']\n",
        ["dependencies.facts[0]: circular dependency: facts → gists → facts"],
    ),
    (
        "[dependencies]\ngists = ['episodic_memory']\n",
        ["dependencies.gists[0]: circular dependency: gists → episodic_memory → gists"],
    ),
    ("[dependencies]\nfacts = ['facts']\n", ["dependencies.facts[0]: circular dependency: facts → facts"]),
    (
        "[dependencies]\na = ['b']\nb = ['c']\nc = ['a']\n",
        [
            "dependencies.a[0]: unknown node 'b'",
            "dependencies.b[0]: unknown node 'c'; a node of yo",
            "dependencies.c[0]: unknown node 'a'",
            "dependencies.a: unknown node 'a'",
            "dependencies.b: unknown node 'b'",
            "dependencies.c: unknown node 'c'; a node of yo",
            "dependencies.a[0]: circular dependency: a → b → c → a",
        ],
    ),
    ("[nodes.facts]\n", ["nodes.facts: 'facts' is a node that kb has already"]),
    (
        "[nodes.x]\ntxt = 'a'\ntext = 3\n",
        ["nodes.x.txt: unknown key 'txt', did you mean 'text'?", "nodes.x.text: 'text' must be text"],
    ),
    ("[nodes]\n'a b' = {}\nc = 1\n", ['nodes."a b": a node cannot be named', "nodes.c: 'c' must be a table"]),
    (
        "[template_masks.RESPOND]\nzzz = true\n",
        ["template_masks.RESPOND.zzz: unknown node 'zzz'; a node of your own needs"],
    ),
]


@pytest.mark.parametrize(("text", "faults"), TOML_FAULTS)
def test_every_fault_of_a_toml_file_has_its_place(text: str, faults: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, text)
    for version in (text, text.replace("\n", "\r\n")):
        path.write_bytes(version.encode())
        with pytest.raises(RulesInvalid) as caught:
            open_rules(path)
        lines = caught.value.problem.splitlines()[1:]
        assert len(lines) == len(faults), lines
        for line, fault in zip(lines, faults, strict=True):
            assert line.startswith(f"{path}: {fault}"), lines
        assert caught.value.code == "config_invalid"
        assert caught.value.details["faults"] == len(faults) == len(caught.value.places)


def test_every_fault_of_a_json_file_has_its_place(tmp_path: Path) -> None:
    text = """{
  "enabled": "yes",
  "signal_rules": {
    "focus": [{"when": {"greeting_pattern": null}, "strength": "hard"},
              {"when": {"x_lt": "3"}, "strenght": "soft"}],
    "fokus": []
  },
  "enabled": true, "caf\\u00e9": 1,
  "dependencies": {"facts": ["focus"], "focus": ["facts"]}
}"""
    with pytest.raises(RulesInvalid) as caught:
        read_rules(written(tmp_path, text, "r.json"))
    assert [(place, what.split(",")[0].split(";")[0]) for place, what in caught.value.places] == [
        ("signal_rules.focus[0].when.greeting_pattern", "'greeting_pattern' must be true"),
        ("signal_rules.focus[1].strenght", "unknown key 'strenght'"),
        ("signal_rules.focus[1].when.x_lt", "'x_lt' compares the signal 'x' with a number"),
        ("signal_rules.fokus", "unknown node 'fokus'"),
        ("café", "unknown key 'café'"),
        ("enabled", "'enabled' is given twice"),
        ("dependencies.facts[0]", "circular dependency: facts → focus → facts"),
    ]


def test_many_faults_are_cut_to_a_hundred(tmp_path: Path) -> None:
    text = "".join(f"k{i} = 1\n" for i in range(150))
    with pytest.raises(RulesInvalid) as caught:
        read_rules(written(tmp_path, text))
    assert len(caught.value.problem.splitlines()) == 102
    assert caught.value.problem.splitlines()[-1] == "… and 50 more"
    assert len(caught.value.places) == 150


@pytest.mark.parametrize(
    ("name", "raw", "says"),
    [
        ("r.json", b'{"a": 1,}', "line 1 column"),
        ("r.json", b"", "cannot be parsed"),
        ("r.json", b"[" * 100_000, "nested too deeply"),
        ("r.json", b'{"soft_recovery_budget": ' + b"9" * 5000 + b"}", "cannot be parsed"),
        ("r.toml", b"a = = 1", "line 1, column 5"),
        ("r.toml", b"a = 1\n\nb = '\xff'\n", "line 3"),
        ("r.toml", b"a = " + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_parsed_includes_everything_with_a_warning(
    name: str, raw: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(ConfigInvalid, match=says) as caught:
        read_rules(path)
    assert not isinstance(caught.value, RulesInvalid)
    found = decide(open_rules(path), Situation(mode="ACKNOWLEDGE"))
    assert set(found.included) == NODES
    assert len(found.warnings) == 1
    assert says in found.warnings[0]
    assert "so every node is included" in found.warnings[0]


def test_a_file_that_is_missing_or_a_folder_includes_everything_with_a_warning(tmp_path: Path) -> None:
    for path, error in ((tmp_path / "no.json", NotFound), (tmp_path, IoError)):
        with pytest.raises(error):
            read_rules(path)
        found = decide(open_rules(path), Situation(mode="ACKNOWLEDGE"))
        assert set(found.included) == NODES
        assert str(path) in found.warnings[0]
    assert open_rules(tmp_path / "no.json", enabled=False).warnings == ()


@pytest.mark.parametrize("text", ["[]", "3", '"x"', "null"])
def test_a_file_without_a_table_is_a_fault(text: str, tmp_path: Path) -> None:
    with pytest.raises(RulesInvalid, match="not a table"):
        read_rules(written(tmp_path, text, "r.json"))


def test_a_signal_that_looks_misspelt_is_warned_about_and_others_are_not(tmp_path: Path) -> None:
    rules = read_rules(written(tmp_path, "[signal_rules]\nfacts = {when = {greting_pattern = true, mood = 'x'}}\n"))
    (warning,) = rules.warnings
    assert warning.endswith("kb computes no signal 'greting_pattern'; did you mean 'greeting_pattern'?")


@pytest.mark.parametrize(
    ("key", "signal", "suffix"),
    [("a_gte", "a", "_gte"), ("a_gt", "a", "_gt"), ("a_lte", "a", "_lte"), ("a_lt", "a", "_lt"), ("a_eq", "a", "_eq"), ("gate", "gate", ""), ("agte", "agte", "")],
)  # fmt: skip
def test_suffixes(key: str, signal: str, suffix: str) -> None:
    assert split_key(key) == (signal, suffix)


@pytest.mark.parametrize(
    ("suffix", "expected", "holding", "failing"),
    [
        ("", True, [True, 1, 1.0], [False, 0, None, "true", 2]),
        ("", False, [False, 0], [True, None, ""]),
        ("", "ko", ["ko"], ["en", None, 1]),
        ("_eq", 0, [0, False, 0.0], [1, None, "0"]),
        ("_gte", 2, [2, 2.0, 3], [1, 1.99, None, "3", float("nan")]),
        ("_gt", 2, [2.01, 3], [2, None, "3"]),
        ("_lte", 2, [2, -1, True], [2.01, None, "1"]),
        ("_lt", 2, [1.99, False], [2, None, "", float("nan")]),
    ],
)
def test_predicates(suffix: str, expected: bool | int | str, holding: list[object], failing: list[object]) -> None:
    predicate = Predicate("s", suffix, expected)
    assert all(predicate.holds({"s": value}) for value in holding)  # type: ignore[dict-item]
    assert not any(predicate.holds({"s": value}) for value in failing)  # type: ignore[dict-item]
    assert not predicate.holds({})
