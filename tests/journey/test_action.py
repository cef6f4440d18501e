"""The composite action of a GitHub workflow: its shell steps are run by bash, as a runner does, on a real knowledge base."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.eval.runs import load_run
from tests.forked_kb import KB
from tests.journey.conftest import ROOT
from tests.journey.measured import write_suite

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner's folders, and `kb` on its PATH: this checkout's, in the place of the step that installs it."""
    for name in ("bin", "temp", "work"):
        (tmp_path / name).mkdir()
    program = tmp_path / "bin" / "kb"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(KB)} "$@"\n')
    program.chmod(0o755)
    return tmp_path


def run_step(name: str, runner: Path, inputs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """One step by bash as GitHub starts it, with the values of its expressions."""
    values = {key: declared.get("default", "") for key, declared in ACTION["inputs"].items()} | inputs
    assert set(inputs) <= set(ACTION["inputs"])
    known = {f"inputs.{key}": value for key, value in values.items()} | {"runner.temp": str(runner / "temp")}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], text)

    step = STEPS[name]
    assert "${{" not in step["run"]  # an input could be code there: it comes by the environment
    environment = {
        **os.environ,
        **{key: filled(value) for key, value in step["env"].items()},
        "PATH": f"{runner / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "RUNNER_TEMP": str(runner / "temp"),
        "GITHUB_OUTPUT": str(runner / "output"),
        "GITHUB_STEP_SUMMARY": str(runner / "summary"),
    }
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(words, env=environment, cwd=runner / "work", capture_output=True, text=True)


def test_a_job_passes_and_fails_by_its_gates(runner: Path, corpus_home: Path) -> None:
    """On a home that has the fixture corpus already: reading all of it again would show no more of the action."""
    corpus_home.rename(runner / "temp" / "kb-home")
    (runner / "work" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (runner / "work" / "a page.md").write_text("# A page\n\nWith one sentence.\n")
    ingested = run_step("ingest", runner, {"documents": "a page.md\n\nbroken.pdf\n"})
    assert (ingested.returncode, "::warning title=kb ingest::" in ingested.stdout) == (0, True), ingested.stderr

    suite = str(write_suite(runner / "work"))
    gates = {"suite": suite, "mode": "lexical", "gates": "mrr>=0.1\nhit@10>=0.1\n"}
    passed = run_step("eval", runner, gates)
    assert passed.returncode == 0, passed.stderr
    outputs = dict(line.split("=", 1) for line in (runner / "output").read_text().splitlines())
    assert set(outputs) == set(ACTION["outputs"])
    assert load_run(runner, outputs["run"]).mode == "lexical"
    assert "<!doctype html>" in Path(outputs["report"]).read_text()[:100].lower()
    assert "🟢 passed" in (runner / "summary").read_text()
    baseline = runner / "before.jsonl"
    Path(outputs["run"]).rename(baseline)

    failed = run_step("eval", runner, gates | {"gates": "mrr>=1.1", "baseline": str(baseline)})
    assert failed.returncode == 1
    assert "::error" in failed.stderr
    assert 'name="gate mrr&gt;=1.1"' in Path(outputs["junit"]).read_text()
    assert Path(outputs["report"]).exists()


def test_an_input_is_never_run_as_code(runner: Path) -> None:
    found = run_step("eval", runner, {"suite": '"; touch owned; echo "', "gates": "$(touch owned)"})
    assert found.returncode == 2
    assert not (runner / "work" / "owned").exists()


def test_the_first_steps_make_a_python_and_install_this_checkout() -> None:
    first, install = ACTION["runs"]["steps"][:2]
    assert first["uses"].startswith("actions/setup-python@")
    assert install["run"].endswith('pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH"')
    assert all(step["shell"] == "bash" for step in STEPS.values())
