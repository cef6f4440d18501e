"""kb relevance: one decision for people and for scripts, many as NDJSON, and rules of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.relevance.read_rules import default_rules
from kb.wire import json_schema
from tests.journey.conftest import Call
from tests.schemas import check_wire

NODES = sorted(default_rules().token_estimates)
SCHEMA = json_schema("relevance.v1")


def test_a_decision_for_people_names_every_node_and_why(kb: Call) -> None:
    found = kb("expert", "relevance", "ACKNOWLEDGE", "--signals", '{"context_warmth": 0.1, "greeting_pattern": true}')
    assert found.code == 0
    head, signals, *rows = found.out.splitlines()
    assert head == "ACKNOWLEDGE: 6 of 17 nodes, about 1,130 tokens; 4,000 are left"
    assert signals == "signals: context_warmth 0.10, greeting_pattern yes, returning_from_silence no"
    assert sorted(row.split()[1] for row in rows) == NODES
    assert [row.split()[0] for row in rows] == ["in"] * 6 + ["hard"] * 11
    assert "  in    identity_context       150  safety: context_warmth < 0.3" in rows
    assert "  in    active_lists           400  soft rule: always → 3270 tokens were free" in rows


def test_a_decision_for_scripts(kb: Call) -> None:
    words = ["expert", "relevance", "act", "--signals", '{"working_memory_turns": 2, "context_warmth": 0.6}']
    found = kb(*words, "--budget", "6000", "--returning", "--urgency", "high", "--json")
    decision = found.json()
    check_wire(decision, SCHEMA)
    assert (found.code, decision["mode"], decision["token_budget_remaining"]) == (0, "ACT", 6000)
    assert decision["overrides_applied"] == [
        "urgency",
        "safety:identity_context",
        "safety:working_memory",
        "safety:warm_return_hint",
        "safety:user_traits",
    ]
    assert decision["recovered_soft"] == ["episodic_memory", "active_lists"]
    assert sorted(decision["included"] + decision["excluded_hard"] + decision["excluded_soft"]) == NODES
    assert (decision["nodes"], decision["signals"]) == (None, None)
    explained = kb(*words, "--json", "--explain").json()
    check_wire(explained, SCHEMA)
    assert [node["node"] for node in explained["nodes"]] == NODES


@pytest.mark.parametrize(
    ("prompt", "mode", "signal"),
    [("Hey!", "ACKNOWLEDGE", "greeting_pattern"), ("안녕하세요!", "ACKNOWLEDGE", "greeting_pattern"), ("아까 말한 거울은?", "RESPOND", "implicit_reference")],
)  # fmt: skip
def test_a_prompt_gives_the_signals_and_the_mode(kb: Call, prompt: str, mode: str, signal: str) -> None:
    found = kb("expert", "relevance", "--prompt", prompt, "--json", "--explain").json()
    assert (found["mode"], found["signals"][signal]) == (mode, True)
    hinted = kb(
        "expert",
        "relevance",
        "CLARIFY",
        "--prompt",
        prompt,
        "--signals",
        f'{{"{signal}": false}}',
        "--json",
        "--explain",
    )
    assert (hinted.json()["mode"], hinted.json()["signals"][signal]) == ("CLARIFY", False)


def test_warnings_and_slips_are_told_on_stderr(kb: Call) -> None:
    found = kb("expert", "relevance", "IGNORE", "--signals", '{"greeting_patern": true, "mood": 1}')
    assert found.code == 0
    assert found.err.splitlines() == [
        "note: no rule reads the signal 'greeting_patern'; did you mean 'greeting_pattern'?",
        "note: no rule reads the signal 'mood'",
        "note: unknown mode 'IGNORE', so every node is included; there are: RESPOND, CLARIFY, ACT, ACKNOWLEDGE",
    ]
    assert kb("expert", "relevance", "IGNORE", "--quiet").err == ""
    assert kb("expert", "relevance", "IGNORE", "--json").json()["included"] == NODES


def test_verbose_prints_the_line_of_log(kb: Call) -> None:
    (line,) = kb("expert", "relevance", "ACKNOWLEDGE", "--verbose").err.splitlines()
    assert line.startswith("[CONTEXT RELEVANCE] mode=ACKNOWLEDGE | excluded_hard=[act_history, ")
    assert line.endswith("total_included=6 | est_tokens=1130")


BULK = b"""\xef\xbb\xbf{"mode": "ACKNOWLEDGE"}

nonsense
{"mode": "RESPOND", "signals": {"greeting_pattern": true, "prompt_token_count": 1}, "classification": {"urgency": "high", "topic": "x"}}
{"mode": "CLARIFY", "signals": {"context_warmth": 0.7, "working_memory_turns": 3}, "token_budget_remaining": 6000, "name": "warm"}
{"signals": {}}
[1]
{"mode": 3}
{"mode": "ACT", "signals": {"x": [1]}}
{"mode": "ACT", "signals": []}
{"mode": "ACT", "classification": "high"}
{"mode": "ACT", "classification": {"urgency": 1}}
{"mode": "ACT", "returning_from_silence": "yes"}
{"mode": "ACT", "token_budget_remaining": 1.5}
\xff\xfe
{"mode": "ACT", "signals": null, "classification": null, "returning_from_silence": null, "token_budget_remaining": null}
{"mode": "ACT", "signals": {"returning_from_silence": true, "urgency": "high"}}
{"mode": "ACT"}"""


def test_bulk_answers_every_good_line_and_tells_every_bad_one(kb: Call) -> None:
    found = kb("expert", "relevance", "--bulk", stdin=BULK)
    assert found.code == 1
    decisions = {decision["line"]: decision for decision in found.events()}
    assert list(decisions) == [1, 4, 5, 16, 17, 18]
    for decision in decisions.values():
        check_wire(decision, SCHEMA)
    assert decisions[4]["overrides_applied"] == ["urgency"]
    assert decisions[5]["recovered_soft"] == ["episodic_memory", "active_lists"]
    assert decisions[16]["included"] == decisions[18]["included"]
    assert decisions[17]["overrides_applied"][:2] == ["urgency", "safety:identity_context"]
    errors = [line for line in found.err.splitlines() if line.startswith("error: ")]
    assert [line.split(":")[1] for line in errors] == [f" line {n}" for n in (3, *range(6, 16))]
    assert "note: line 5: the key 'name' is not read" in found.err
    assert [line.split(": ", 2)[2] for line in errors[1:-1]] == [
        "'mode' is missing",
        "the line is a list, not an object",
        "'mode' must be text, not 3",
        "'signals.x' must be true, false, a number, text or null, not a list",
        "the signals are a list, not an object",
        "'classification' must be an object such as {\"urgency\": \"high\"}, not 'high'",
        "'classification.urgency' must be text, not 1",
        "'returning_from_silence' must be true or false, not 'yes'",
        "'token_budget_remaining' must be a whole number of tokens, not 1.5",
    ]


def test_bulk_errors_are_objects_for_scripts(kb: Call) -> None:
    found = kb("expert", "relevance", "--bulk", "--json", stdin='{"mode": "ACT"}\n{}\n')
    assert (found.code, len(found.events())) == (1, 1)
    error = json.loads(found.err)
    check_wire(error, "error.v1")
    assert (error["code"], error["details"]["line"]) == ("invalid_input", 2)
    assert kb("expert", "relevance", "--bulk", stdin="").code == 0
    assert kb("expert", "relevance", "--bulk", stdin='{"mode": "ACT"}\n').code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "no mode given"),
        (["ACT", "--bulk"], "MODE too"),
        (["--bulk", "--budget", "3"], "--budget too"),
        (["ACT", "--signals", "{"], "--signals is not JSON"),
        (["ACT", "--signals", "[]"], "the signals are a list"),
        (["ACT", "--signals", '{"x": {}}'], "'signals.x' must be"),
        (["ACT", "--urgency", "hihg"], "--urgency is 'hihg'"),
        (["ACT", "--budget", "many"], "--budget"),
        (["ACT", "--rules", "/nonexistent.json"], "no rules file at /nonexistent.json"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(kb: Call, words: list[str], says: str) -> None:
    found = kb("expert", "relevance", *words, stdin="")
    assert (found.code, found.out) == (2, "")
    assert says in found.err.splitlines()[0]
    assert found.err.splitlines()[1].startswith("  fix: ")


def test_rules_of_ones_own_stand_beside_the_config_that_names_them(
    kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[relevance]\nrules = "mine.json"\n')
    (home / "mine.json").write_text('{"template_masks": {"TRIAGE": {"facts": true}}}')
    assert kb("expert", "relevance", "TRIAGE", "--json", home=home).json()["included"] == ["facts"]
    assert (
        kb("expert", "relevance", "ACT", "--json", home=home).json()["included"]
        == kb("expert", "relevance", "ACT", "--json").json()["included"]
    )
    (tmp_path / "other.toml").write_text("[template_masks.TRIAGE]\ngists = true\n")
    assert kb("expert", "relevance", "TRIAGE", "--json", "--rules", tmp_path / "other.toml", home=home).json()[
        "included"
    ] == ["gists"]
    monkeypatch.setenv("KB_RELEVANCE__ENABLED", "false")
    assert kb("expert", "relevance", "TRIAGE", "--json", home=home).json()["included"] == NODES


def test_rules_that_cannot_be_read_include_everything_and_rules_with_faults_are_an_error(
    kb: Call, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[relevance]\nrules = "mine.json"\n')
    missing = kb("expert", "relevance", "ACKNOWLEDGE", "--json", home=home)
    assert (missing.code, missing.json()["included"]) == (0, NODES)
    assert f"no rules file at {home / 'mine.json'}, so every node is included" in missing.err
    (home / "mine.json").write_text('{"template_masks": ')
    broken = kb("expert", "relevance", "--bulk", stdin='{"mode": "ACT"}\n', home=home)
    assert (broken.code, broken.json()["included"]) == (0, NODES)
    assert "cannot be parsed" in broken.err
    assert "cannot be parsed" in broken.json()["warnings"][0]
    (home / "mine.json").write_text('{"dependencies": {\n"facts": ["gists"],\n"gists": ["facts"], "fact": []}}')
    faulty = kb("expert", "relevance", "ACT", home=home)
    assert (faulty.code, faulty.out) == (2, "")
    assert faulty.err.splitlines()[1:3] == [
        f"{home / 'mine.json'}: dependencies.fact: unknown node 'fact', did you mean 'facts'?",
        f"{home / 'mine.json'}: dependencies.facts[0]: circular dependency: facts → gists → facts",
    ]
    assert json.loads(kb("expert", "relevance", "ACT", "--json", home=home).err)["details"]["faults"] == 2
