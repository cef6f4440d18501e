"""A line of a shell block → its commands, run in this process where they are kb's and as processes where they are not.

Knows pipes, `<`, `>`, comments, quotes, line continuations and `NAME=value` before a command; no more is needed in a manual.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# run_kb(words, stdin) → exit code, stdout, stderr
RunKb = Callable[[list[str], str | None], tuple[int, str, str]]


@dataclass(frozen=True)
class Line:
    """One command line of a block: the text to run, and the exit code that its comment promises (0 without one)."""

    text: str
    exit_code: int


@dataclass(frozen=True)
class Ran:
    """What a line did."""

    exit_code: int
    out: str
    err: str


def lines_of(text: str) -> list[Line]:
    """The command lines of a block, continuations joined and comments read for `exit code N`."""
    found: list[Line] = []
    for line in text.replace("\\\n", " ").splitlines():
        command, comment = split_comment(line)
        if command.strip():
            promised = re.search(r"exit code (\d+)", comment)
            found.append(Line(command.strip(), int(promised[1]) if promised else 0))
    return found


def split_comment(line: str) -> tuple[str, str]:
    """A line as (command, comment); a # inside quotes or a word begins no comment."""
    quote = ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at], line[at + 1 :]
    return line, ""


def run_line(text: str, run_kb: RunKb) -> Ran:
    """Run one command line in the current folder. The exit code is that of the last command of its pipe."""
    piped: str | None = None
    errors = ""
    code = 0
    for words in _commands(text):
        words, source, target = _redirections(words)
        stdin = Path(source).read_text(encoding="utf-8") if source else piped
        environment = dict(word.split("=", 1) for word in _assignments(words))
        words = words[len(environment) :]
        if words[0] == "kb":
            saved = {name: os.environ.get(name) for name in environment}
            os.environ.update(environment)
            try:
                code, out, err = run_kb(words[1:], stdin)
            finally:
                for name, value in saved.items():
                    os.environ.pop(name, None)
                    if value is not None:
                        os.environ[name] = value
        else:
            done = subprocess.run(words, input=stdin, capture_output=True, text=True, env=os.environ | environment)
            code, out, err = done.returncode, done.stdout, done.stderr
        errors += err
        piped = out
        if target:
            Path(target).write_text(out, encoding="utf-8")
            piped = ""
    return Ran(code, piped or "", errors)


def _commands(text: str) -> list[list[str]]:
    """The commands of a pipe, each as its words."""
    words = shlex.shlex(text, posix=True, punctuation_chars="|<>")
    words.commenters = ""
    words.whitespace_split = True
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def _redirections(words: list[str]) -> tuple[list[str], str | None, str | None]:
    """(words, file of <, file of >)."""
    source = target = None
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "<":
            source = next(rest)
        elif word == ">":
            target = next(rest)
        else:
            kept.append(word)
    return kept, source, target


def _assignments(words: list[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if not re.match(r"[A-Z][A-Z0-9_]*=", word):
            break
        found.append(word)
    return found
