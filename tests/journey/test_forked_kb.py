"""The processes that other tests start: a fork of `kb` is a process like any other, and says so when it cannot be one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked_kb import FRESH, KB, Server, Start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt another's child")
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize(
    "words", [["--version"], ["list", "--home", "here"], ["schema", "no such"], ["search", "x", "-k"]]
)
def test_it_says_what_an_interpreter_of_its_own_says(words: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "KB_LLM__MODEL": "asked for"}
    fork, fresh = (
        subprocess.run([*command, *words], capture_output=True, cwd=tmp_path, env=environment)
        for command in (KB, FRESH)
    )
    assert (fork.returncode, fork.stdout, fork.stderr) == (fresh.returncode, fresh.stdout, fresh.stderr)


def test_it_is_a_child_that_can_be_killed_and_waited_for(tmp_path: Path) -> None:
    with subprocess.Popen([*KB, "mcp", "--home", "here"], cwd=tmp_path, start_new_session=True, **PIPES) as process:
        assert process.poll() is None
        assert parent_of(process.pid) == os.getpid()
        assert os.getsid(process.pid) == process.pid
        assert Path(f"/proc/{process.pid}/cwd").resolve() == tmp_path.resolve()
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL
    assert not Path(f"/proc/{process.pid}").exists()


def test_a_server_that_has_died_is_said() -> None:
    server = Server()
    server.process.kill()
    server.process.wait()
    with pytest.raises(RuntimeError, match="the server that forks kb has ended with -9"):
        server.fork(Start([], {}, b"/", False, None), [0, 1, 2])
    server.close()
