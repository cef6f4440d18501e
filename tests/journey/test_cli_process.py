"""What only a real process shows: pipes, bytes that are no text, native output, the log of a bug, completion."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.forked_kb import FRESH, KB

NOT_TEXT = b"caf\xff\xed\xa0\x80"


def run(*words: str | bytes, home: Path | None = None, **options: str) -> subprocess.CompletedProcess[str]:
    """A real process; options are environment variables."""
    extra = ["--home", str(home)] if home else []
    return subprocess.run(
        [*FRESH, *extra, *words], capture_output=True, text=True, env={**os.environ, **options}, timeout=60
    )


def shell(line: str) -> tuple[list[int], str, str]:
    """A pipeline in bash: every exit code, and both streams."""
    line += '; echo "codes ${PIPESTATUS[@]}" >&2'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
    *messages, codes = done.stderr.splitlines()
    return [int(code) for code in codes.split()[1:]], done.stdout, "\n".join(messages)


@pytest.mark.parametrize(
    "pipeline",
    ["list | head -1", "search the --mode lexical -k 100 | head -c 1", "search the --mode lexical --json | true"],
)
def test_a_closed_pipe_is_success(corpus_home: Path, pipeline: str) -> None:
    command = " ".join(shlex.quote(word) for word in [*FRESH, "--home", str(corpus_home)])
    codes, _, messages = shell(f"{command} {pipeline}")
    assert (codes, messages) == ([0, 0], "")


def test_the_module_and_the_bare_command(corpus_home: Path) -> None:
    bare = run()
    assert (bare.returncode, bare.stderr) == (2, "")
    assert bare.stdout.startswith("Usage: kb ")
    assert run("--version").stdout == "kb 0.1.0\n"
    listed = run("list", home=corpus_home, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert listed.returncode == 0
    assert "마리골드 망원경" in listed.stdout


@pytest.mark.parametrize(
    "words",
    [
        [b"search", b"--mode", b"lexical", b"--tag", NOT_TEXT, NOT_TEXT],
        [b"ask", NOT_TEXT, b"--mode", b"lexical"],
        [b"list", b"--path", NOT_TEXT, b"--source", NOT_TEXT, b"--type", NOT_TEXT, b"--lang", NOT_TEXT],
        [b"list", b"--since", NOT_TEXT],
        [b"show", NOT_TEXT],
        [b"open", NOT_TEXT + b"#L3"],
        [b"rm", NOT_TEXT],
        [b"backup", b"/tmp/" + NOT_TEXT],
        [b"answers", b"show", NOT_TEXT],
        [b"schema", NOT_TEXT],
        [b"ingest", NOT_TEXT],
        [NOT_TEXT],
        [b"status", b"--config", NOT_TEXT],
        [b"--home", NOT_TEXT, b"init"],
        [b"search", b"x", b"-k", NOT_TEXT],
    ],
    ids=lambda words: words[0].decode(errors="replace"),
)
def test_arguments_that_are_no_text_crash_nothing(corpus_home: Path, words: list[bytes], tmp_path: Path) -> None:
    done = subprocess.run(
        [*KB, *words, b"--json"],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "KB_HOME": str(corpus_home)},
        timeout=60,
    )
    assert done.returncode in (1, 2)
    for line in (done.stdout + done.stderr).decode().splitlines():
        if line.startswith("{"):
            json.loads(line)
    assert b"bug" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_stdout_stays_json_when_a_native_library_prints(corpus_home: Path, tmp_path: Path) -> None:
    """Written to file descriptor 1 at the first import of tantivy and at the very end, as C libraries do."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        "class Noise:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tantivy':\n"
        "            os.write(1, b'native noise\\n')\n"
        "sys.meta_path.insert(0, Noise())\n"
        "atexit.register(os.write, 1, b'late noise\\n')\n"
    )
    done = run("search", "mirror", "--mode", "lexical", "--json", home=corpus_home, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema_version"] == "search_response.v1"
    assert done.stderr.splitlines() == ["native noise", "late noise"]


def test_no_colour_and_no_wrapping_in_a_pipe(corpus_home: Path) -> None:
    found = run("search", "mirror cleaning", "--mode", "lexical", "-k", "1", home=corpus_home, COLUMNS="20")
    assert "\x1b" not in found.stdout + found.stderr
    assert len(found.stdout.splitlines()) == 3
    assert len(found.stdout.splitlines()[2]) > 200


def test_no_color_is_honoured_on_a_terminal(corpus_home: Path) -> None:
    import pty

    shown = {}
    for name, options in {"colour": {}, "none": {"NO_COLOR": "1"}, "json": {"KB_JSON": ""}}.items():
        main, terminal = pty.openpty()
        words = [*KB, "--home", str(corpus_home), "list", "--path", "README.md"]
        words += ["--json"] if name == "json" else []
        environment = {**os.environ, "TERM": "xterm", **options}
        environment.pop("KB_JSON", None)
        subprocess.run(words, env=environment, stdout=terminal, stderr=terminal, check=True, timeout=60)
        os.close(terminal)
        shown[name] = os.read(main, 65536).decode()
        os.close(main)
    assert "\x1b[2m" in shown["colour"]
    assert "\x1b" not in shown["none"]
    assert "\x1b" not in shown["json"]
    assert "Welcome to Gannet Point" in shown["none"]


def test_a_bug_is_two_lines_and_its_traceback_is_in_the_log(corpus_home: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import kb.status\n"
        "def fail(*arguments):\n"
        "    raise ZeroDivisionError('provoked\\x1b[31m')\n"
        "kb.status.read_status = fail\n"
    )
    state = tmp_path / "state"
    path = f"{tmp_path}{os.pathsep}{os.getcwd()}"
    done = run("status", home=corpus_home, PYTHONPATH=path, XDG_STATE_HOME=str(state))
    first, second = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert first == "error: kb has a bug: ZeroDivisionError: provoked␛[31m"
    assert str(state / "kb" / "kb.log") in second
    log = (state / "kb" / "kb.log").read_text()
    assert "Traceback (most recent call last)" in log
    assert log.startswith("kb 0.1.0 status\n")
    state_file = tmp_path / "file"
    state_file.write_text("")
    unlogged = run("status", home=corpus_home, PYTHONPATH=path, XDG_STATE_HOME=str(state_file))
    assert len(unlogged.stderr.splitlines()) == 2
