"""kb speaks to nobody but the model server that was named, and writes nowhere but home, cache and temporary folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kb.embed.model_files import ENGLISH_MODEL
from tests.journey.ollama import CITED, QUESTION
from tests.llm.recorded_server import MODEL, RecordedServer, answer

# Everything a user does on an ordinary day, in one process, whose readers and threads are watched with it.
DAY = """
import sys
from kb.cli.main import run
notes, suite, home = sys.argv[1:]
for words in (
    ["ingest", notes],
    ["search", "mirror"],
    ["search", "how often is it cleaned", "--mode", "hybrid"],
    ["ask", "{question}"],
    ["eval", "run", suite],
    ["status"],
    ["doctor"],
):
    code = run([*words, "--home", home], json=False)
    print("code", words[0], int(code))
"""
SUITE = """\
name: alone
version: 1
queries:
  - {id: a, query: "How often is the mirror cleaned?", answerable: true, lang: en, group: a, difficulty: easy, kind: question,
     relevant: [{path: "mirror.md", anchor: "The mirror must be cleaned every 14 days.", grade: 2}]}
"""
SPEAKS = re.compile(r"\b(?:connect|sendto|sendmsg|sendmmsg|bind)\(.*?sa_family=(AF_\w+)(.*)")
ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?"([0-9a-fA-F.:]+)"')
CHANGES = re.compile(
    r"\b(?:openat|open|creat|mkdir|mkdirat|rename|renameat|renameat2|unlink|unlinkat|link|linkat|symlink|symlinkat|"
    r'truncate|chmod|fchmodat)\((?:AT_FDCWD<(?P<cwd>[^>]*)>, |\d+<(?P<folder>[^>]*)>, )?"(?P<path>[^"]*)"(?P<rest>.*)'
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "mirror.md").write_text("# Marigold\n\nThe mirror must be cleaned every 14 days.\n")
    (folder / "dome.html").write_text("<html><body><h1>Dome</h1><p>The dome turns with the wind.</p></body></html>")
    (tmp_path / "suite.yaml").write_text(SUITE)
    return folder


def watched(tmp_path: Path, notes: Path, before: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    """A day with kb in a process of its own, which a user with an empty home folder starts in an empty folder."""
    for name in ("user", "here", "temporary"):
        (tmp_path / name).mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_") or "CACHE" in name}
    environment |= {"HOME": str(tmp_path / "user"), "TMPDIR": str(tmp_path / "temporary"), **settings}
    # Its own compiled files are the installation's, not kb's.
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    day = [sys.executable, "-c", DAY.replace("{question}", QUESTION), notes, tmp_path / "suite.yaml", tmp_path / "home"]
    words = [*before, *map(str, day)]
    done = subprocess.run(
        words, cwd=tmp_path / "here", env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    codes = dict(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("code "))
    assert set(codes) == {"ingest", "search", "ask", "eval", "status", "doctor"}, done.stderr
    assert set(codes.values()) == {"0"}, done.stdout + done.stderr
    assert list((tmp_path / "user").iterdir()) == list((tmp_path / "here").iterdir()) == []
    return done


def test_no_socket_but_to_the_named_server_and_no_file_elsewhere(tmp_path: Path, notes: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    log = tmp_path / "calls"
    trace = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", "trace=network,file,fchmod", "-o", str(log)]
    if subprocess.run([*trace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no right to trace a process")
    with RecordedServer([answer(CITED)]) as server:
        port = server.url.rpartition(":")[2].rstrip("/")
        watched(tmp_path, notes, trace, KB_LLM__PROVIDER="ollama", KB_LLM__ENDPOINT=server.url, KB_LLM__MODEL=MODEL)
        assert server.chats
    calls = log.read_text(errors="replace").splitlines()
    spoken_to = {(family, *where) for family, where in addresses(calls)}
    spoken_to -= {("AF_INET6", "0", "::1")}  # urllib3 tries whether a socket can have such an address; it sends nothing
    assert {row for row in spoken_to if row[0] in ("AF_INET", "AF_INET6")} == {("AF_INET", port, "127.0.0.1")}
    # AF_NETLINK is the C library's question to the kernel about addresses; nothing leaves the process.
    assert {family for family, *_ in spoken_to} <= {"AF_INET", "AF_NETLINK"}
    cache = Path(os.environ["XDG_CACHE_HOME"])
    assert [place.name for place in cache.iterdir()] == ["kb"]
    allowed = [tmp_path / "home", tmp_path / "temporary", cache, cache / "kb", Path("/dev/null")]
    allowed += [place.resolve() for place in allowed]
    changed = changed_paths(calls)
    assert any(path.is_relative_to(tmp_path / "home") for path in changed)
    assert sorted(str(p) for p in changed if not any(p.is_relative_to(place) for place in allowed)) == []


def addresses(calls: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """(family, (port, address)) of everything that was connected, bound or sent to."""
    found = [match for match in map(SPEAKS.search, calls) if match]
    return [(match[1], tuple(ADDRESS.search(match[2]).groups()) if ADDRESS.search(match[2]) else ()) for match in found]


def changed_paths(calls: list[str]) -> set[Path]:
    """What was opened for writing, made, renamed or removed."""
    changed = set()
    for match in map(CHANGES.search, calls):
        if match is None or " = -1 " in match["rest"]:
            continue
        is_open = "open" in match[0].split("(")[0]
        if is_open and not re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", match["rest"]):
            continue
        changed.add(Path(match["cwd"] or match["folder"] or "/", match["path"]))
        changed.update(
            Path(match["cwd"] or "/", other) for other in re.findall(r', "([^"]*)"', match["rest"]) if not is_open
        )
    return changed


def test_everything_works_where_there_is_no_network(tmp_path: Path, notes: Path) -> None:
    apart = ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no right to make a network namespace")
    light = {"KB_READER__MODEL": "none", "KB_EMBEDDING__MODEL": ENGLISH_MODEL}
    done = watched(tmp_path, notes, apart, KB_LLM__PROVIDER="extractive", **light)
    assert "14 days" in done.stdout


def test_the_reading_of_calls_sees_what_it_is_there_for() -> None:
    calls = [
        '7 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("1.2.3.4")}, 16) = 0',
        '7 sendto(3, "x", 1, 0, {sa_family=AF_INET6, sin6_port=htons(53), inet_pton(AF_INET6, "::1", &sin6_addr)}, 28) = 1',
        '7 openat(AT_FDCWD</here>, "a", O_WRONLY|O_CREAT, 0666) = 3</here/a>',
        '7 openat(4</there>, "b", O_RDWR) = 3</there/b>',
        '7 openat(AT_FDCWD</here>, "c", O_RDONLY) = 3</here/c>',
        '7 rename("/d", "/e") = 0',
        '7 mkdir("/f", 0777) = -1 EEXIST (File exists)',
    ]
    assert addresses(calls) == [("AF_INET", ("443", "1.2.3.4")), ("AF_INET6", ("53", "::1"))]
    assert changed_paths(calls) == {Path("/here/a"), Path("/there/b"), Path("/d"), Path("/e")}
