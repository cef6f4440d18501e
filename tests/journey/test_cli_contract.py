"""What holds for every command: help, global options, which folders are touched, and how errors look."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from kb.cli.examples import EXAMPLES
from kb.cli.invocation import Call as MadeCall
from kb.cli.main import COMMANDS, GROUPS, build_app
from kb.errors import error_codes
from kb.wire import json_schema
from tests.journey.conftest import CORPUS, ROOT, Call
from tests.journey.measured import MEASURABLE
from tests.schemas import check_wire

VOCABULARY = ROOT / "fixtures" / "tags" / "reading.json"
# Every command as words that succeed (or find nothing) on a home with the corpus; {new} is a path that does not exist,
# {suite}, {beir} and {spans} are the smallest things that can be measured, {run} a run that was kept in a file.
CALLS: dict[str, list[str]] = {
    "init": ["init"],
    "ingest": ["ingest", str(CORPUS / "notes" / "history.txt"), "--dry-run"],
    "search": ["search", "mirror", "--mode", "lexical"],
    "demo": ["demo", "--list"],
    "context": ["context", "mirror", "--mode", "lexical"],
    "ask": ["ask", "How often must the mirror be cleaned?", "--mode", "lexical"],
    "chat": ["chat", "--mode", "lexical"],
    "sessions list": ["sessions", "list"],
    "sessions show": ["sessions", "show", "a"],
    "sessions export": ["sessions", "export", "a"],
    "sessions rm": ["sessions", "rm", "a"],
    "verify": [
        "verify",
        "--claim",
        "The archive burned.",
        "--evidence",
        str(CORPUS / "notes" / "history.txt"),
        "--no-encoder",
    ],
    "answers list": ["answers", "list"],
    "answers show": ["answers", "show", "0"],
    "answers replay": ["answers", "replay", "0"],
    "answers rm": ["answers", "rm", "0"],
    "answers prune": ["answers", "prune", "0"],
    "answers export": ["answers", "export"],
    "graph": ["graph", "lampd"],
    "list": ["list"],
    "show": ["show", "doc:3"],
    "open": ["open", "guide/glossary.md#L3"],
    "rm": ["rm", "guide/glossary.md"],
    "status": ["status"],
    "doctor": ["doctor"],
    "reindex": ["reindex"],
    "backup": ["backup", "{new}"],
    "corpus copy": ["corpus", "copy", "local", "{new}"],
    "restore": ["restore", "{backup}", "--replace"],
    "schema": ["schema"],
    "remember": ["remember", "The dome key hangs in the kitchen."],
    "forget": ["forget", "1"],
    "facts": ["facts"],
    "expert relevance": ["expert", "relevance", "RESPOND"],
    "models list": ["models", "list"],
    "encoders": ["encoders"],
    "models use": ["models", "use", "extractive"],
    "models pull": ["models", "pull", "qwen2.5:3b"],
    "tags import": ["tags", "import", str(VOCABULARY)],
    "tags train": ["tags", "train"],
    "tags list": ["tags", "list"],
    "tags suggest": ["tags", "suggest", "telescope mirror"],
    "tags apply": ["tags", "apply", "--all", "--dry-run"],
    "tags eval": ["tags", "eval", "--seeds", "0"],
    "expert stability": ["expert", "stability"],
    "expert recalibrate": ["expert", "recalibrate"],
    "eval sessions": ["eval", "sessions", "{sessions}"],
    "eval init": ["eval", "init", "-o", "{new}"],
    "eval run": ["eval", "run", "{suite}", "--mode", "lexical"],
    "eval beir": ["eval", "beir", "{beir}", "--mode", "lexical"],
    "eval spans": ["eval", "spans", "{spans}", "--mode", "lexical"],
    "eval compare": ["eval", "compare", "{run}", "{run}"],
    "eval report": ["eval", "report", "{run}"],
    "eval list": ["eval", "list"],
}
# On a home that has no answers and no facts.
NOTHING_STORED = {
    "sessions list": 1,
    "sessions show": 2,
    "sessions export": 2,
    "sessions rm": 2,
    "answers list": 1,
    "answers show": 2,
    "answers replay": 2,
    "answers rm": 2,
    "answers prune": 2,
    "answers export": 1,
    "forget": 2,
    "facts": 1,
}
NAMES = [name for name, entry in COMMANDS.items() if entry.renamed_to is None]
GLOBAL_FLAGS = ("--home DIR", "--config FILE", "--json", "--quiet", "--verbose", "--version")


def call_of(name: str, tmp_path: Path) -> list[str]:
    """The words of a command, with what they name made first."""
    places = {"new": tmp_path / "new.sqlite"}
    wanted = {key for key, make in MEASURABLE.items() if f"{{{key}}}" in CALLS[name]}
    places |= {key: MEASURABLE[key](tmp_path / f"measured-{key}") for key in wanted}
    return [word.format(**places) for word in CALLS[name]]


def error_of(err: str) -> dict[str, Any]:
    """The one line of error.v1 on stderr, checked against its schema."""
    lines = [line for line in err.splitlines() if line.startswith("{")]
    assert len(lines) == 1, err
    error: dict[str, Any] = json.loads(lines[0])
    check_wire(error, "error.v1")
    return error


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.lstat().st_size, p.lstat().st_mtime_ns) for p in folder.rglob("*")}


def test_no_command_is_forgotten_here() -> None:
    assert {name.split()[0] for name in CALLS} == set(NAMES) - {
        "mcp",
        "serve",
        "watch",
    }  # these serve until they are stopped


@pytest.mark.parametrize("name", CALLS)
def test_help_shows_usage_and_the_global_options(kb: Call, name: str) -> None:
    words = CALLS[name][: 2 if " " in name else 1]
    for flag in ("--help", "-h"):
        found = kb(*words, flag)
        assert (found.code, found.err) == (0, "")
        assert found.out.startswith(f"Usage: kb {name} ")
        assert all(f"\n    {example}\n" in found.out for example in EXAMPLES[name])
        assert all(option in found.out for option in GLOBAL_FLAGS)
    assert kb("--json", *words, "--help").code == 0


def test_the_help_of_kb_lists_commands_options_and_exit_codes(kb: Call) -> None:
    found = kb("--help")
    assert found.code == 0
    assert all(f"\n  {name} " in found.out for name in NAMES)
    assert all(option in found.out for option in GLOBAL_FLAGS)
    assert "130 interrupted" in found.out


@pytest.mark.parametrize(("name", "example"), [(name, line) for name, lines in EXAMPLES.items() for line in lines])
def test_an_example_can_be_typed(name: str, example: str) -> None:
    words = shlex.split(example.split(" > ")[0].rpartition(" | ")[2])
    assert words[0] == "kb"
    assert " ".join(words[1:]).startswith(name)
    call = build_app(words[1:])(args=words[1:], prog_name="kb", standalone_mode=False)
    assert isinstance(call, MadeCall), example
    assert len(example) <= 56


def test_every_command_has_two_examples() -> None:
    assert set(CALLS) <= set(EXAMPLES)
    assert all(len(lines) == 2 for lines in EXAMPLES.values())


def test_help_is_a_command_too(kb: Call) -> None:
    for words in (["help", "search"], ["help", "answers", "show"]):
        assert kb(*words).out == kb(*words[1:], "--help").out != ""
        assert kb(*words, home=Path("a home")).out == kb(*words[1:], "--help").out
    assert kb("help").out == kb("--help").out == kb("-h").out
    assert kb("-V").out == kb("--version").out


def test_without_a_knowledge_base_the_first_steps_are_named(kb: Call, tmp_path: Path) -> None:
    found = kb()
    assert (found.code, found.err) == (2, "")
    for words in ("kb ingest", "kb search", "kb ask"):
        assert f"\n  {words}" in found.out
    assert "Exit codes" not in found.out


def test_without_a_command_help_is_printed_and_the_call_failed(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_HOME", str(corpus_home))
    for words in ([], *([group] for group in sorted(GROUPS))):
        found = kb(*words)
        assert (found.code, found.err) == (2, "")
        assert found.out.startswith(" ".join(["Usage: kb", *words]))
    for words in (["--json"], *([group, "--json"] for group in sorted(GROUPS))):
        found = kb(*words)
        assert (found.code, found.out) == (2, "")
        assert error_of(found.err)["code"] == "invalid_input"


@pytest.mark.parametrize(
    "words", [["--version"], ["search", "--version"], ["--json", "--version"], ["list", "--version"]]
)
def test_version(kb: Call, words: list[str]) -> None:
    found = kb(*words)
    assert (found.code, found.out, found.err) == (0, "kb 0.1.0\n", "")


@pytest.mark.parametrize("name", ["search", "answers list", "list", "show", "open", "status", "schema"])
def test_global_options_may_stand_anywhere(kb: Call, corpus_home: Path, tmp_path: Path, name: str) -> None:
    words = call_of(name, tmp_path)
    config = tmp_path / "other.toml"
    config.write_text("[search]\nk = 2\n")
    options = [f"--home={corpus_home}", "--config", str(config), "--json", "--quiet"]
    calls = [[*options, *words], [*words, *options], [*options[:1], *words, *options[1:]]]
    if " " in name:
        calls.append([words[0], *options, *words[1:]])
    found = [kb(*call) for call in calls]
    assert len({result.code for result in found}) == 1
    seen = [json.loads(result.out) for result in found]
    for response in seen:
        response.pop("took_ms", None)
    assert all(response == seen[0] for response in seen)
    if name == "search":
        assert len(seen[0]["hits"]) == 2


@pytest.mark.parametrize("name", CALLS)
def test_a_config_that_does_not_exist_is_an_error(
    kb: Call, corpus_home: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(corpus_home)
    missing = tmp_path / "missing.toml"
    found = kb(*call_of(name, tmp_path), "--config", missing, "--json", home=corpus_home)
    assert (found.code, found.out) == (2, "")
    error = error_of(found.err)
    assert error["code"] == "config_not_found"
    assert str(missing) in error["message"]
    monkeypatch.setenv("KB_CONFIG", str(missing))
    assert kb(*call_of(name, tmp_path), home=corpus_home).err.startswith("error: no config file")
    assert tree(corpus_home) == before


@pytest.mark.parametrize("name", CALLS)
def test_the_named_home_is_the_only_place_touched(
    kb: Call, corpus_home: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    if name in ("list", "status", "rm"):
        monkeypatch.setenv("KB_HOME", str(corpus_home))
        found = kb(*call_of(name, tmp_path))
    else:
        found = kb(*call_of(name, tmp_path), home=corpus_home, stdin="" if name == "chat" else None)
    assert found.code == {**NOTHING_STORED, "eval list": 1, "models pull": 2}.get(name, 0), found.err
    for folder in ("xdg_data_home", "xdg_config_home", "xdg_state_home", "user"):
        assert not (tmp_path / folder).exists(), folder


READS = ["search", "context", "ask", *NOTHING_STORED, "list", "show", "open", "rm", "status", "reindex", "backup"]


@pytest.mark.parametrize("name", READS)
def test_reading_nothing_makes_nothing(kb: Call, tmp_path: Path, name: str) -> None:
    home = tmp_path / "nowhere"
    found = kb(*call_of(name, tmp_path), "--json", home=home)
    assert (found.code, found.out) == (2, "")
    error = error_of(found.err)
    assert (error["code"], error["fix"]) == ("not_indexed", "make one with: kb ingest FOLDER")
    assert not home.exists()


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_option_is_two_lines_or_one_object(kb: Call, tmp_path: Path, name: str) -> None:
    words = [*call_of(name, tmp_path), "--no-such-option"]
    found = kb(*words)
    assert (found.code, found.out) == (2, "")
    first, second = found.err.splitlines()
    assert first.startswith("error: No such option: --no-such-option")
    assert second.startswith("  fix: see: kb ")
    found = kb(*words, "--json")
    assert (found.code, found.out) == (2, "")
    assert error_of(found.err)["code"] == "invalid_input"


@pytest.mark.parametrize("words", [["frobnicate"], ["--frobnicate"], ["answers", "frobnicate"], ["--home"]])
def test_an_unknown_command_is_an_error(kb: Call, words: list[str]) -> None:
    found = kb(*words)
    assert (found.code, found.out, len(found.err.splitlines())) == (2, "", 2)
    found = kb("--json", *words)
    assert (found.code, error_of(found.err)["code"]) == (2, "invalid_input")


def test_the_error_codes_are_the_published_ones() -> None:
    assert error_codes() == sorted(
        "config_invalid config_not_found not_found not_indexed index_out_of_date embedding_mismatch model_unavailable"
        " model_not_pulled timeout stream_aborted malformed_response locked corrupt_store parse_failed invalid_input"
        " io_error suite_invalid".split()
    )
    assert json_schema("error.v1")["properties"]["code"]["enum"] == error_codes()


@pytest.mark.parametrize(
    ("setting", "fix"),
    [("[serach]\nk = 1", "search"), ("[search]\nkk = 1", "search.k"), ("[search]\nk = 0", "1 to"), ("[search", "line")],
)
def test_a_config_that_cannot_be_used_is_an_error(kb: Call, corpus_home: Path, setting: str, fix: str) -> None:
    (corpus_home / "config.toml").write_text(setting)
    found = kb("list", "--json", home=corpus_home)
    assert (found.code, found.out) == (2, "")
    error = error_of(found.err)
    assert error["code"] == "config_invalid"
    assert fix in error["fix"]


def test_a_home_that_cannot_be_made_is_an_io_error(kb: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for words in (["init"], ["ingest", str(CORPUS / "notes")]):
        found = kb(*words, "--json", home=tmp_path / "file" / "home")
        assert (found.code, error_of(found.err)["code"]) == (2, "io_error")
