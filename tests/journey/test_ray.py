"""kb ingest --ray: the corpus is that of an ingest without it, whatever process is killed. Skipped where Ray is not installed."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from benchmarks.ray_ingest import NAMES, differences, processes_below
from kb import library
from kb.config import Config, CorpusConfig, EmbeddingConfig
from kb.embed.model_files import ENGLISH_MODEL
from kb.errors import IoError
from kb.extras import is_installed
from kb.ingest.report import IngestEvent, IngestReport
from tests.contract.corpora import needs_milvus
from tests.journey.conftest import Call
from tests.journey.folders import fill
from tests.llm.recorded_server import free_port

ABSENT = "Ray is not installed (kb-cited[ray]); it is not among the packages of the tests"
needs_ray = pytest.mark.skipif(not is_installed("ray"), reason=ABSENT)
CONFIG = Config(embedding=EmbeddingConfig(model=ENGLISH_MODEL))
FILES = 30


@pytest.mark.skipif(is_installed("ray"), reason="Ray is installed")
def test_without_ray_the_extra_is_named(kb: Call, tmp_path: Path) -> None:
    refused = kb("ingest", tmp_path, "--ray", "auto", home=tmp_path / "home")
    assert refused.code == 2
    assert refused.err.startswith("error: ingest on Ray needs ray, which is not installed\n  fix: ")
    assert "kb-cited[ray]" in refused.err
    assert not (tmp_path / "home").exists()


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Ray on this machine, for all tests of the module: starting it takes seconds."""
    from kb.ray.cluster import connect

    with connect("auto") as ray:
        yield ray


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Documents of several passages; two of them have one text."""
    texts = {
        f"{n:02}.md": f"# Note {n}\n\n"
        + "\n\n".join(f"## Part {p}\n\nHeron {n} saw tide {p} at the pier." for p in range(4))
        for n in range(FILES)
    }
    return fill(tmp_path / "notes", {**texts, "same.md": texts["07.md"], "broken.pdf": b"%PDF-1.4 nothing"})


def ingest(
    home: Path, notes: Path, *, ray: str | None, on_event: Callable[[IngestEvent], None] | None = None, **options: Any
) -> IngestReport:
    with library.open(home, options.pop("config", CONFIG)) as base:
        return base.ingest(notes, ray=ray, on_event=on_event, **options)


@needs_ray
def test_the_corpus_is_that_of_an_ingest_without_ray(ray: Any, notes: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    seen: list[IngestEvent] = []
    assert ingest(here, notes, ray=None).counts == ingest(there, notes, ray="auto", on_event=seen.append).counts
    assert differences(here, there) == []
    for home in (here, there):
        with library.open(home, CONFIG) as base:
            assert [d.doc_id for d in base.documents()] == list(range(1, FILES + 2)), (
                "ids follow the order of the files"
            )
            assert base.runtime().vector_share() == 1
    assert [event.event for event in seen][-1] == "completed"
    assert sum(event.event == "document_finished" for event in seen) == FILES + 2

    (notes / "03.md").write_text("# Note 3\n\nA cormorant dries its wings.\n")
    (notes / "04.md").rename(notes / "moved.md")
    (notes / "05.md").unlink()
    again = ingest(there, notes, ray="auto")
    assert {k: v for k, v in again.counts.items() if v} == {
        "scanned": FILES + 1,
        "updated": 1,
        "moved": 1,
        "pruned": 1,
        "failed": 1,
        "unchanged": FILES - 2,
    }
    ingest(here, notes, ray=None)
    assert differences(here, there) == []


@needs_ray
def test_vectors_that_are_missing_are_made_on_ray_too(ray: Any, notes: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    ingest(here, notes, ray=None)
    assert ingest(there, notes, ray="auto", words_only=True).vectors_written == 0
    assert ingest(there, notes, ray="auto").vectors_written > FILES
    assert differences(here, there) == []


@needs_ray
def test_a_run_that_is_asked_to_stop_goes_on_later(ray: Any, notes: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    finished: list[str] = []

    def count(event: IngestEvent) -> None:
        finished.extend([event.path or ""] if event.event == "document_finished" else [])

    report = ingest(there, notes, ray="auto", on_event=count, should_stop=lambda: len(finished) >= 3)
    assert report.interrupted
    assert 3 <= report.counts["new"] < FILES
    with library.open(there, CONFIG) as base:
        assert not base.ingest(resume=True, ray="auto").interrupted
    ingest(here, notes, ray=None)
    assert differences(here, there) == []


@needs_ray
@pytest.mark.parametrize("kind", NAMES)
def test_processes_may_be_killed(ray: Any, notes: Path, tmp_path: Path, kind: str) -> None:
    """After some of the documents every process of a kind is killed; what it worked on is done again, once."""
    here, there = tmp_path / "here", tmp_path / "there"
    killed: list[int] = []
    finished = [0]

    def kill(event: IngestEvent) -> None:
        finished[0] += event.event == "document_finished"
        if event.event == "document_finished" and finished[0] in (2, 9, 20):
            for pid, line in processes_below(os.getpid()):
                if line.startswith(NAMES[kind]):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    report = ingest(there, notes, ray="auto", on_event=kill)
    assert (report.counts["new"], report.counts["failed"]) == (FILES + 1, 1)
    assert killed
    ingest(here, notes, ray=None)
    assert differences(here, there) == []


@needs_ray
def test_the_command_may_be_killed_and_takes_ray_with_it(notes: Path, tmp_path: Path, kb_process: Any) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    environment = os.environ | {"KB_EMBEDDING__MODEL": ENGLISH_MODEL}
    with kb_process("ingest", notes, "--ray", "auto", "--json", home=there, env=environment) as process:
        for line in process.stdout:
            if b"document_finished" in line:
                break
        # Ray's two agents try for a minute to tell of it; they do nothing else.
        below = [pid for pid, line in processes_below(process.pid) if "Agent" not in line.partition(" ")[0]]
        process.kill()
    assert below
    gone = subprocess.run(
        [sys.executable, "-c", WAIT_FOR_THE_END, *map(str, below)], timeout=60, check=False, capture_output=True
    )
    assert gone.returncode == 0, gone.stderr
    assert ingest(there, notes, ray=None).counts["failed"] == 1
    ingest(here, notes, ray=None)
    assert differences(here, there) == []


WAIT_FOR_THE_END = """
import sys, time, pathlib
while any(pathlib.Path("/proc", pid, "exe").exists() for pid in sys.argv[1:]):
    time.sleep(0.05)
"""


@needs_ray
def test_ray_on_this_machine_listens_to_this_machine_alone(ray: Any) -> None:
    sockets = {
        os.readlink(link).removeprefix("socket:[").removesuffix("]")
        for pid, _ in [(os.getpid(), ""), *processes_below(os.getpid())]
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if link.is_symlink() and os.readlink(link).startswith("socket:[")
    }
    listening = [
        fields[1].partition(":")[0]
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
        if fields[3] == "0A" and fields[9] in sockets
    ]
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert listening
    assert set(listening) <= loopback
    assert not any("dashboard.py" in line and "--minimal" not in line for _, line in processes_below(os.getpid()))
    assert ray.get(ray.remote(lambda: os.environ["RAY_USAGE_STATS_ENABLED"]).remote()) == "0"


@needs_ray
@needs_milvus
def test_ray_reads_and_milvus_keeps(ray: Any, notes: Path, tmp_path: Path) -> None:
    corpus = CorpusConfig(engine="milvus", uri=str(tmp_path / "corpus.db"))
    config = Config(embedding=CONFIG.embedding, corpus=corpus)
    report = ingest(tmp_path / "home", notes, ray="auto", config=config)
    assert (report.counts["new"], report.vector_share) == (FILES + 1, 1)
    assert ingest(tmp_path / "home", notes, ray="auto", config=config).counts["unchanged"] == FILES + 1
    with library.open(tmp_path / "home", config) as base:
        assert base.search("heron 12 tide", mode="hybrid").hits[0].path == "12.md"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of one machine that asks for a token, as somebody else has started it.

    environment  of who calls it
    addresses    for a machine of it, and for Ray's client
    head         its first machine: the process above all of that machine's processes
    """

    environment: dict[str, str]
    addresses: tuple[str, str]
    head: subprocess.Popen[bytes]


@contextmanager
def machine(environment: dict[str, str], log: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A machine of a cluster, as far as Ray knows: processes of their own, with two cores. Killed at the end."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "2", *options]
    with (
        log.open("w") as out,
        subprocess.Popen(
            command, env=os.environ | environment, stdout=out, stderr=out, start_new_session=True
        ) as process,
    ):
        try:
            while "--block" not in log.read_text():  # the last it prints
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            yield process
        finally:
            unplug(process)


def unplug(process: subprocess.Popen[bytes]) -> None:
    """End all processes of a machine at once."""
    for pid in [process.pid, *(pid for pid, _ in processes_below(process.pid))]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def start_cluster(log: Path, *, is_alone: bool) -> Iterator[Cluster]:
    """is_alone: it listens to this machine alone, and no other machine can join."""
    joinable = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0" if is_alone else "1", "RAY_USAGE_STATS_ENABLED": "0"}
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    environment = {**joinable, **token, "KB_EMBEDDING__MODEL": ENGLISH_MODEL}
    ports = free_port(), free_port()
    options = ["--include-dashboard", "false", "--port", str(ports[0]), "--ray-client-server-port", str(ports[1])]
    place = ["--node-ip-address", "127.0.0.1"] if is_alone else []
    with (
        TemporaryDirectory(prefix="kb-test-") as folder,  # sockets have short names
        machine(environment, log, "--head", *options, *place, "--temp-dir", folder) as head,
    ):
        address = log.read_text().partition("Local node IP: ")[2].split()[0]
        yield Cluster(environment, (f"{address}:{ports[0]}", f"ray://{address}:{ports[1]}"), head)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(tmp_path_factory.mktemp("ray") / "head.log", is_alone=True) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def open_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(tmp_path_factory.mktemp("ray") / "head.log", is_alone=False) as cluster:
        yield cluster


@needs_ray
@pytest.mark.parametrize("kind", [0, 1], ids=["a machine of it", "by Ray's client"])
def test_a_cluster_that_is_there_is_used(
    cluster: Cluster, kind: int, notes: Path, tmp_path: Path, kb_process: Any
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with kb_process(
        "ingest", notes, "--ray", cluster.addresses[kind], "--json", home=there, env=os.environ | cluster.environment
    ) as process:
        out, err = process.communicate(timeout=200)
    assert process.returncode == 1, err.decode()  # one file is broken
    assert json.loads(out.splitlines()[-1])["counts"]["new"] == FILES + 1
    ingest(here, notes, ray=None)
    assert differences(here, there) == []


@needs_ray
@pytest.mark.parametrize("is_lost", [False, True], ids=["two machines", "one is lost"])
def test_every_machine_of_a_cluster_encodes(
    open_cluster: Cluster, is_lost: bool, notes: Path, tmp_path: Path, kb_process: Any
) -> None:
    """The second one has a GPU, as far as Ray knows. When its encoder works, it may lose its power."""
    here, there = tmp_path / "here", tmp_path / "there"
    joined = ("--address", open_cluster.addresses[0], "--num-gpus", "1")
    with machine(open_cluster.environment, tmp_path / "second.log", *joined) as second:
        machines = {"first": open_cluster.head, "second": second}
        encoding: set[str] = set()
        environment = os.environ | open_cluster.environment
        with kb_process(
            "ingest", notes, "--ray", open_cluster.addresses[0], "--json", home=there, env=environment
        ) as process:
            while process.poll() is None:
                for name, of in machines.items():
                    if any(line.startswith(NAMES["encoder"]) for _, line in processes_below(of.pid)):
                        encoding.add(name)
                if is_lost and "second" in encoding:
                    unplug(machines["second"])
                time.sleep(0.05)
            out, err = process.communicate()
    assert process.returncode == 1, err.decode()  # one file is broken
    assert json.loads(out.splitlines()[-1])["counts"]["new"] == FILES + 1
    assert encoding == {"first", "second"}
    ingest(here, notes, ray=None)
    assert differences(here, there) == []


@needs_ray
@pytest.mark.parametrize(
    ("address", "problem", "fix"),
    [
        ("127.0.0.1:1", "does not answer", "--ray auto"),
        ("ray://127.0.0.1:1", "does not answer", "--ray auto"),
        ("nowhere", "is no address of Ray", "HOST:6379"),
    ],
)
def test_a_cluster_that_is_away_is_said_in_two_lines(
    kb: Call, tmp_path: Path, address: str, problem: str, fix: str
) -> None:
    refused = kb("ingest", tmp_path, "--ray", address, home=tmp_path / "home")
    assert (refused.code, refused.err.count("\n")) == (2, 2)
    assert problem in refused.err.splitlines()[0]
    assert fix in refused.err.splitlines()[1]


@needs_ray
def test_another_encoder_on_a_machine_is_refused(ray: Any, tmp_path: Path) -> None:
    from kb.errors import EmbeddingMismatch
    from kb.ray.workers import RayWorkers

    encoder = RayWorkers(ray, CONFIG).encoder("the digest of another encoder")
    with pytest.raises(EmbeddingMismatch, match="another encoder of this name"):
        encoder.encode_documents(["text"])


@needs_ray
def test_a_cluster_without_kb_is_said(ray: Any) -> None:
    from kb.ray.calls import Waiter

    def read() -> None:
        raise ModuleNotFoundError("No module named 'kb'")

    with pytest.raises(IoError, match="cannot do kb's work") as refused:
        Waiter(ray).get(ray.remote(read).remote())
    assert "on every machine" in refused.value.fix


@needs_ray
def test_an_error_with_a_fix_arrives_with_it(ray: Any) -> None:
    from kb.ray.calls import Waiter

    def read() -> None:
        raise IoError("no room", fix="make room", path="/x")

    with pytest.raises(IoError, match="no room") as refused:
        Waiter(ray).get(ray.remote(read).remote())
    assert (refused.value.fix, refused.value.details) == ("make room", {"path": "/x"})
