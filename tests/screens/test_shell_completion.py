"""The completion scripts in the real shells, at a prompt, by the Tab key; a shell that is not installed is skipped."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kb.cli.shell_scripts import completion_script
from tests.journey.conftest import corpus_home, corpus_master, own_environment
from tests.screens.emulator import Prompt

__all__ = ["corpus_home", "corpus_master", "own_environment"]

# What begins each shell without the user's own files, and how the script is loaded there.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "PS1='READY> '; source {script}"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "PROMPT='READY> '; autoload -Uz compinit; compinit -u -d {folder}/dump; source {script}",
    ),
    "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo -n 'READY> '; end; source {script}"),
}
# What is typed → what stands there after Tab.
TYPED = [
    ("kb sea", "kb search"),
    ("kb eval co", "kb eval compare"),
    ("kb search x --lang k", "kb search x --lang ko"),
    ("kb search --mod", "kb search --mode"),
    ("kb show guide/dep", r"kb show guide/deploying\ lampd.md"),
    ("kb ingest own-f", "kb ingest own-file.txt"),
    ("kb eval run own-s", "kb eval run own-suite.yaml"),
]


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_in_the_real_shell(corpus_home: Path, tmp_path: Path, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    folder = tmp_path / "user"
    folder.mkdir()
    (folder / "own-file.txt").write_text("x")
    (folder / "own-suite.yaml").write_text("name: own\nqueries:\n  - {id: a, query: b, answerable: false}\n")
    script = tmp_path / f"kb.{shell}"
    script.write_text(completion_script(shell))
    words, load = SHELLS[shell]
    prompt = Prompt(words, folder, corpus_home)
    try:
        prompt.type(load.format(script=script, folder=tmp_path) + "\n")
        prompt.wait_for("\nREADY>")
        for typed, completed in TYPED:
            prompt.type(typed + "\t")
            prompt.wait_for(f"READY> {completed}")
            prompt.type("\x03")  # gives the line up; the next prompt is another one
            prompt.type("clear\n")
    finally:
        prompt.close()
