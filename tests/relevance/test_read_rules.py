"""Rules files: what they change, every fault with its place, and what happens without a readable one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import ConfigInvalid, IoError, NotFound, RulesInvalid
from kb.relevance.decide import decide
from kb.relevance.positions import Place, locate
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


def test_enabled_false_in_the_file_includes_everything(tmp_path: Path) -> None:
    rules = open_rules(written(tmp_path, '{"enabled": false}', "r.json"))
    assert set(decide(rules, Situation(mode="ACKNOWLEDGE")).included) == NODES


# text, then each fault as line:column: what (a part of it)
TOML_FAULTS = [
    ("[token_estimate]\n", ["1:2: unknown key 'token_estimate', did you mean 'token_estimates'?"]),
    ("[token_estimates]\nfacs = 3\n", ["2:1: unknown node 'facs', did you mean 'facts'?"]),
    (
        "[token_estimates]\nfacts = -1\ngists = 1.5\n",
        ["2:1: 'facts' must be from 0 to", "3:1: 'gists' must be a whole number"],
    ),
    ("soft_recovery_budget = true\n", ["1:1: 'soft_recovery_budget' must be a whole number, not true"]),
    (
        "max_included_nodes = 0\nenabled = 1\n",
        ["1:1: 'max_included_nodes' must be from 1", "2:1: 'enabled' must be true or false, not 1"],
    ),
    (
        "urgency_overrides = [\n  'facts',\n  'fact',\n  'facts',\n  7]\n",
        ["3:3: unknown node", "4:3: 'facts' is named twice", "5:3: "],
    ),
    (
        "[template_masks.M]\nfacts = 1\nnope = true\n",
        ["2:1: 'facts' must be true or false, not 1", "3:1: unknown node 'nope'"],
    ),
    ("template_masks.M = 3\n", ["1:16: 'M' must be a table, not 3"]),
    (
        "[[signal_rules.facts]]\nwhne = {}\n",
        ["1:16: 'facts[0]' has no 'when'", "2:1: unknown key 'whne', did you mean 'when'?"],
    ),
    (
        "[[signal_rules.facts]]\nwhen = {}\n[[signal_rules.facts]]\nwhen = 3\nstrength = 'firm'\n",
        ["4:1: 'when' must be a table", "5:1: strength must be"],
    ),
    (
        "[signal_rules]\nfacts = [\n { when = { x_gt = 'a' } } ]\n",
        ["3:13: 'x_gt' compares the signal 'x' with a number, not 'a'"],
    ),
    ("[signal_rules]\nfacts = {when = {at_lt = true}}\n", ["2:18: 'at_lt' compares the signal 'at' with a number"]),
    (
        "[signal_rules]\nfacts = {when = {at_lt_gte = 1, _gt = 1, x = nan}}\n",
        ["2:18: 'at_lt_gte' is ambiguous", "2:33: '_gt' names no", "2:42: 'x' must be"],
    ),
    (
        "[signal_rules]\nfacts = {when = {x = [1], y = {}}}\n",
        ["2:18: 'x' must be true, false, a number or text", "2:27: 'y' must be"],
    ),
    (
        "[safety_overrides]\nfacts = [{when = {returning_from_silence_gte = 1}}]\n",
        ["2:19: returning_from_silence is true or false"],
    ),
    ("[safety_overrides]\nfacts = [{when = {}, strength = 'hard'}]\n", ["2:22: unknown key 'strength'"]),
    ("[dependencies]\nfacts = ['gists']\ngists = ['facts']\n", ["2:10: circular dependency: facts → gists → facts"]),
    (
        "[dependencies]\ngists = ['episodic_memory']\n",
        ["2:10: circular dependency: gists → episodic_memory → gists"],
    ),
    ("[dependencies]\nfacts = ['facts']\n", ["2:10: circular dependency: facts → facts"]),
    (
        "[dependencies]\na = ['b']\nb = ['c']\nc = ['a']\n",
        [
            "2:1: unknown node 'a'",
            "2:6: circular dependency: a → b → c → a",
            "2:6: unknown node 'b'",
            "3:1:",
            "3:6:",
            "4:1:",
            "4:6:",
        ],
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
            assert line.startswith(f"{path}:{fault}"), lines
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
    assert [(line, column, what.split(",")[0].split(";")[0]) for line, column, what in caught.value.places] == [
        (4, 25, "'greeting_pattern' must be true"),
        (5, 25, "'x_lt' compares the signal 'x' with a number"),
        (5, 39, "unknown key 'strenght'"),
        (6, 5, "unknown node 'fokus'"),
        (8, 3, "enabled is given twice"),
        (8, 20, "unknown key 'café'"),
        (9, 30, "circular dependency: facts → focus → facts"),
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
    """C9."""
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


texts = st.text(st.characters(codec="utf-8"), max_size=6)
scalars = st.one_of(st.booleans(), st.integers(), texts, st.none(), st.floats(allow_nan=False))
documents = st.dictionaries(
    texts,
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=12
    ),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@given(documents, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_places_in_json_are_where_the_text_has_the_keys(
    document: dict[str, object], indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    places = locate(text, is_json=True)
    assert not places.repeated

    def walk(value: object, path: tuple[str | int, ...]) -> None:
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in members:
            place = places.found[(*path, key)]
            line = text.split("\n")[place.line - 1][place.column - 1 :]
            shown = json.dumps(key if isinstance(value, dict) else inner, indent=indent, ensure_ascii=ascii_only)
            assert line.startswith(shown.split("\n")[0])
            walk(inner, (*path, key))

    walk(document, ())


TOML = '''# a comment with [brackets] and "quotes"
top = 1  # behind = a value
"quoted.key" = \'\'\'
[not.a.table]
it = "is text"\'\'\'
a.b . c = [1, # one
  "]", {x = 1, y.z = \'}\'}]
when = 1979-05-27 07:32:00

[ table . inner ]
k = """\\"""still"""
[[rows]]
n = 1
[rows.below]
m = 1
[[rows]]
n = 2
[[rows.deep]]
d = 1
'''


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        (("top",), 2, 1),
        (("quoted.key",), 3, 1),
        (("a",), 6, 1),
        (("a", "b"), 6, 3),
        (("a", "b", "c"), 6, 7),
        (("a", "b", "c", 0), 6, 12),
        (("a", "b", "c", 1), 7, 3),
        (("a", "b", "c", 2, "x"), 7, 9),
        (("a", "b", "c", 2, "y", "z"), 7, 18),
        (("when",), 8, 1),
        (("table",), 10, 3),
        (("table", "inner", "k"), 11, 1),
        (("rows", 0, "n"), 13, 1),
        (("rows", 0, "below", "m"), 15, 1),
        (("rows", 1), 16, 3),
        (("rows", 1, "n"), 17, 1),
        (("rows", 1, "deep", 0, "d"), 19, 1),
    ],
)
def test_places_in_toml(path: tuple[str | int, ...], line: int, column: int) -> None:
    import tomllib

    value: object = tomllib.loads(TOML)
    for key in path:
        value = value[key]  # type: ignore[index]
    assert locate(TOML, is_json=False).found[path] == Place(line, column)


def test_a_place_that_is_not_there_is_that_of_what_stands_around_it() -> None:
    places = locate('{"a": {"b": 1}}', is_json=True)
    assert places.nearest(("a", "c", 3)) == Place(1, 2)
    assert places.nearest(("z",)) is None
