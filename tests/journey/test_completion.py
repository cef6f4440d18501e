"""What the shells complete: commands, options, live values; by the script that a shell really runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kb.cli.complete import OF_OPTION, Value, complete, whole_words
from kb.cli.option_table import FILE, option_table, table_text
from kb.cli.shell_scripts import SCRIPTS, completion_script
from tests.journey.conftest import Call


def texts(found: list[Value] | None) -> list[str]:
    assert found is not None
    return [value.text for value in found]


@pytest.fixture
def home(corpus_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KB_HOME", str(corpus_home))
    return corpus_home


def test_the_table_of_options_is_that_of_the_commands() -> None:
    assert FILE.read_text(encoding="utf-8") == table_text(), "make it anew: python -m kb.cli.option_table"
    known = {name for row in option_table().values() for name, _, _ in row["options"]}
    assert set(OF_OPTION) <= known


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["sea"], ["search"]),
        (["eval", "co"], ["compare"]),
        (["help", "stat"], ["status"]),
        (["search", "--min"], ["--min-score"]),
        (["search", "mirror", "--mode", ""], ["lexical", "vector", "hybrid"]),
        (["search", "--lang", ""], ["en", "ko"]),
        (["--json", "search", "--lang=k"], ["--lang=ko"]),
        (["search", "--type", "mark"], ["markdown"]),
        (["ask", "--source", ""], ["corpus"]),
        (["list", "--tag", "opt"], ["optics"]),
        (["list", "--sort", "t"], ["title", "type"]),
        (["show", "guide/glo"], ["guide/glossary.md"]),
        (["open", "guide/dep"], ["guide/deploying lampd.md"]),
        (["models", "use", "ex"], ["extractive"]),
        (["status", "--color", "al"], ["always"]),
        (["init", "--encoder", "all-Mini"], ["all-MiniLM-L6-v2", "all-MiniLM-L12-v2"]),
        (["frobnicate", ""], None),
        (["ingest", ""], None),
        (["eval", "run", "su"], None),
    ],
)
def test_what_can_follow(home: Path, words: list[str], values: list[str] | None) -> None:
    found = complete(words)
    assert found == values if values is None else set(texts(found)) & set(values) == set(texts(found)) != set()


def test_answers_and_sessions_are_completed(kb: Call, home: Path) -> None:
    assert texts(complete(["answers", "show", ""])) == []
    kb("ask", "How often must Marigold's mirror be cleaned?", "--mode", "lexical", "--session", "mirror talk")
    assert complete(["answers", "show", ""]) == [Value("1", "How often must Marigold's mirror be cleaned?")]
    assert complete(["chat", "--session", "mir"]) == [Value("mirror talk", "1 turns")]
    assert complete(["sessions", "show", ""]) == [Value("mirror talk", "1 turns")]


def test_without_a_store_nothing_is_completed(tmp_path: Path) -> None:
    for content in (None, b"", b"not a database at all"):
        if content is not None:
            (tmp_path / "kb.sqlite").write_bytes(content)
        assert complete(["--home", str(tmp_path), "search", "--lang", ""]) == []


@pytest.mark.parametrize(
    ("words", "whole", "cut"),
    [
        (["search", "--lang", "=", ""], ["search", "--lang="], 7),
        (["search", "--lang", "=", "k"], ["search", "--lang=k"], 7),
        (["models", "use", "qwen2.5", ":", "3"], ["models", "use", "qwen2.5:3"], 8),
        (["search", ""], ["search", ""], 0),
        ([], [""], 0),
    ],
)
def test_words_that_bash_has_broken_are_put_together(words: list[str], whole: list[str], cut: int) -> None:
    assert whole_words(words) == (whole, cut)


@pytest.mark.parametrize(
    ("words", "replies"),
    [("kb sea", "search"), ("kb show guide/dep", r"guide/deploying\ lampd.md"), ("kb search --lang = k", "ko")],
)
def test_bash_completes(home: Path, tmp_path: Path, words: str, replies: str) -> None:
    script = tmp_path / "kb.bash"
    script.write_text(completion_script("bash"))
    run = (
        f'source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _kb_complete; echo "$COMPREPLY"'
    )
    done = subprocess.run(["bash", "-c", run], capture_output=True, text=True)
    assert done.stdout.strip() == replies


def test_each_shell_gets_its_script(kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in SCRIPTS:
        assert kb("--show-completion", shell).out.strip() == completion_script(shell).strip()
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "complete -c kb" in kb("--show-completion").out
    monkeypatch.setenv("HOME", str(tmp_path))
    found = kb("--install-completion")
    place = Path(found.out.removeprefix("wrote ").strip())
    assert place.read_text() == completion_script("fish")
    assert kb("--show-completion", "tcsh").code == 2


def test_a_completion_imports_neither_typer_nor_a_library(home: Path) -> None:
    """100 ms is what a person waits for a key: python alone takes 20 of them."""
    for words in (["search", "--lang", ""], ["answers", "show", ""], ["s"]):
        code = f"import sys; sys.argv = ['x', 'zsh', *{words!r}]; from kb.cli.complete import main; main()"
        code += "\nprint([m for m in sys.modules if m.split('.')[0] in ('typer', 'rich', 'numpy', 'msgspec')])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
