"""Configuration: precedence, checks, and the config.toml that documents it."""

from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from kb.config import ALIASES, SECTIONS, Config, SearchConfig, commented_toml, config_markdown, load_config
from kb.config.keys import environment_name
from kb.config.old_keys import REMOVED, RENAMED
from kb.errors import ConfigInvalid, ConfigNotFound
from kb.providers import PROVIDERS
from kb.records import SearchMode

ROOT = Path(__file__).parents[2]


def load(text: str, tmp_path: Path, environment: dict[str, str] | None = None, **flags: object) -> Config:
    (tmp_path / "config.toml").write_text(text)
    return load_config(None, tmp_path, environment or {}, {k.replace("__", "."): v for k, v in flags.items()})


def test_the_projects_config_toml_shows_every_key_at_its_default(tmp_path: Path) -> None:
    shown = (ROOT / "config.toml").read_text()
    assert shown == commented_toml()
    assert load(shown, tmp_path) == Config()
    for section in fields(Config):
        for entry in fields(getattr(Config(), section.name)):
            assert f"\n{entry.name} = " in shown


def all_keys() -> list[str]:
    config = Config()
    return [f"{name}.{f.name}" for name, attribute in SECTIONS.items() for f in fields(getattr(config, attribute))]


def test_modes_are_those_of_a_search_request() -> None:
    assert get_type_hints(SearchConfig)["mode"] == SearchMode


def test_there_are_fewer_than_90_keys_beside_the_address_of_a_corpus() -> None:
    assert len([name for name in all_keys() if not name.startswith("corpus.")]) < 90
    assert len(all_keys()) < 96


@pytest.mark.parametrize("section", SECTIONS)
def test_a_key_is_explained_and_allows_the_words_of_its_type(section: str) -> None:
    part = type(getattr(Config(), SECTIONS[section]))
    types = get_type_hints(part)
    for entry in fields(part):
        assert entry.metadata["doc"][-1] in ".…", entry.name
        wanted = ("auto", *PROVIDERS) if entry.name == "provider" else get_args(types[entry.name])
        assert entry.metadata["choices"] == wanted, entry.name


def test_the_table_of_the_documentation_has_every_key_once() -> None:
    table = config_markdown()
    for name in all_keys():
        assert table.count(f"| `{name}` |") == 1
        assert f"`{environment_name(name)}`" in table
    for variable in ALIASES:
        assert f"`{variable}`" in table
        assert variable in commented_toml()


def test_every_key_is_set_by_its_variable(tmp_path: Path) -> None:
    config = Config()
    for section, attribute in SECTIONS.items():
        part = getattr(config, attribute)
        for entry in fields(part):
            variable = environment_name(f"{section}.{entry.name}")
            assert load("", tmp_path, {variable: str(getattr(part, entry.name))}) == config
            with pytest.raises(ConfigInvalid, match=f"unknown key '{section}.{entry.name}x'"):
                load("", tmp_path, {variable + "X": "1"})


def test_the_file_that_init_writes_pins_nothing(tmp_path: Path) -> None:
    assert load(commented_toml(live=False), tmp_path) == Config()
    assert "\n# k = 10\n" in commented_toml(live=False)


def test_precedence(tmp_path: Path) -> None:
    text = "[search]\nk = 3\n"
    environment = {"KB_SEARCH__K": "4"}
    assert load("", tmp_path).search.k == 10
    assert load(text, tmp_path).search.k == 3
    assert load(text, tmp_path, environment).search.k == 4
    assert load(text, tmp_path, environment, search__k=5).search.k == 5


def test_the_users_own_file_is_the_last_resort(tmp_path: Path) -> None:
    user = tmp_path / "xdg" / "kb" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[search]\nk = 7\n")
    home = tmp_path / "home"
    home.mkdir()
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert load_config(None, home, environment).search.k == 7
    (home / "config.toml").write_text("[search]\nk = 8\n")
    assert load_config(None, home, environment).search.k == 8


def test_an_explicit_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigNotFound):
        load_config(tmp_path / "no.toml", tmp_path, {})


@pytest.mark.parametrize(
    ("text", "says", "hints"),
    [
        ("[search]\nkk = 3\n", "search.kk", "search.k"),
        ("[serch]\nk = 3\n", "serch", "search"),
        ("[search]\nk = 'ten'\n", "whole number", "10"),
        ("[search]\nk = true\n", "whole number", "10"),
        ("[search]\nk = 0\n", "search.k", "1 to 1,000"),
        ("[search]\nmode = 'fuzzy'\n", "fuzzy", "hybrid"),
        ("[rag]\nscore_gate = 1.5\n", "1.5", "0 to 1"),
        ("[rag]\nscore_gate = nan\n", "number", "0.01"),
        ("search = 3\n", "not a section", "[search]"),
        ("[search\n", "TOML", "line"),
    ],
)
def test_faults_name_the_key_and_the_way_out(text: str, says: str, hints: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load(text, tmp_path)
    assert says in caught.value.problem
    assert hints in caught.value.fix


@pytest.mark.parametrize(("value", "expected"), [("false", False), ("0", False), ("TRUE", True), ("yes", True)])
def test_booleans_from_the_environment(value: str, expected: bool, tmp_path: Path) -> None:
    assert load("", tmp_path, {"KB_INGEST__PRUNE": value}).ingest.prune is expected


def test_unknown_environment_keys_are_faults_and_other_variables_are_not(tmp_path: Path) -> None:
    assert load("", tmp_path, {"KB_HOME": "x", "PATH": "y"}) == Config()
    with pytest.raises(ConfigInvalid):
        load("", tmp_path, {"KB_SEARCH__DEPHT": "3"})


WEIGHTS = {"VECTOR": "0.25", "STABILITY": "0.35"}


@pytest.mark.parametrize("prefix", ["KB_CSWR__WEIGHTS__", "KB_CSWR_WEIGHTS__"])
def test_a_section_inside_another_has_variables_too(
    prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = load("", tmp_path, {prefix + name: value for name, value in WEIGHTS.items()}).cswr_weights
    assert (weights.vector, weights.stability, weights.fit) == (0.25, 0.35, 0.20)
    told = capsys.readouterr().err
    assert ("KB_CSWR_WEIGHTS__VECTOR has a new name: use KB_CSWR__WEIGHTS__VECTOR" in told) is (
        prefix == "KB_CSWR_WEIGHTS__"
    )
    assert len(told.splitlines()) == (2 if told else 0)


# ---- keys of earlier versions


def test_no_old_key_is_a_present_one_and_every_new_name_exists() -> None:
    keys = set(all_keys())
    assert not keys & (set(RENAMED) | set(REMOVED))
    assert set(RENAMED.values()) <= keys


@pytest.mark.parametrize("name", sorted(REMOVED))
def test_a_removed_key_is_ignored_with_one_line_about_it(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    section, _, key = name.rpartition(".")
    assert load(f"[{section}]\n{key} = 1\n", tmp_path) == Config()
    told = capsys.readouterr().err
    assert told.startswith(f"{name} in {tmp_path / 'config.toml'} was removed and is ignored: ")
    assert told.count("\n") == 1
    variable = environment_name(name)
    assert load("", tmp_path, {variable: "1"}) == Config()
    assert capsys.readouterr().err.startswith(f"{name} in {variable} was removed")


@pytest.mark.parametrize(
    ("text", "variables", "packing", "advice"),
    [
        ("[rag]\npacks = 'stability'\n", {}, "stability", "rag.packing"),
        ("[rag]\npacks = 'relevance'\n", {}, "neighbourhoods", "rag.packing = neighbourhoods"),
        ("[rag]\npacks = 'stability'\npacking = 'ranked'\n", {}, "ranked", "rag.packing"),
        ("[rag]\npacking = 'ranked'\n", {"KB_RAG__PACKS": "stability"}, "stability", "KB_RAG__PACKING"),
        ("", {"KB_RAG__PACKS": "stability", "KB_RAG__PACKING": "ranked"}, "ranked", "KB_RAG__PACKING"),
    ],
)
def test_a_renamed_key_sets_the_key_that_replaces_it(
    text: str, variables: dict[str, str], packing: str, advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load(text, tmp_path, variables).rag.packing == packing
    assert capsys.readouterr().err.endswith(f" has a new name: use {advice}\n")


def test_a_bad_value_of_a_renamed_key_is_a_fault_of_the_new_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match=r"rag\.packing in KB_RAG__PACKS is 'best'"):
        load("", tmp_path, {"KB_RAG__PACKS": "best"})


GATEWAY_VARIABLES = [
    ("CONTEXT_GATEWAY_SELFREF_ENABLED", "enabled", "0", False),
    ("CONTEXT_GATEWAY_SELFREF_SHINGLE_SIZE", "shingle_size", "4", 4),
    ("CONTEXT_GATEWAY_SELFREF_MINHASH_PERM", "minhash_permutations", "64", 64),
    ("CONTEXT_GATEWAY_SELFREF_DUP_HAMMING", "duplicate_hamming_bits", "5", 5),
    ("CONTEXT_GATEWAY_SELFREF_TRIGGER_OVERLAP", "trigger_overlap", "0.5", 0.5),
    ("CONTEXT_GATEWAY_SELFREF_MIN_NOVEL", "min_novel", "3", 3),
]


@pytest.mark.parametrize(("variable", "name", "text", "value"), GATEWAY_VARIABLES)
def test_the_gateways_variables_are_aliases(variable: str, name: str, text: str, value: object, tmp_path: Path) -> None:
    file = f"[novelty]\n{name} = {str(getattr(Config().novelty, name)).lower()}\n"
    assert getattr(load(file, tmp_path, {variable: text}).novelty, name) == value
    own = {variable: "not looked at", f"KB_NOVELTY__{name.upper()}": text}
    assert getattr(load(file, tmp_path, own).novelty, name) == value
    assert getattr(load(file, tmp_path, dict(reversed(own.items()))).novelty, name) == value
    assert load(file, tmp_path, {variable: ""}).novelty == Config().novelty


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CONTEXT_GATEWAY_SELFREF_MIN_NOVEL", "two"), ("KB_NOVELTY__MIN_NOVEL", "-1"), ("KB_SEARCH__K", "ten")],
)
def test_a_bad_value_names_the_variable_that_was_set(variable: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load("", tmp_path, {variable: value})
    assert variable in caught.value.problem
    assert "min_novel" in caught.value.problem or "search.k" in caught.value.problem
