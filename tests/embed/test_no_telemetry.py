"""No library reports usage to its makers, whatever the environment says."""

import os
import subprocess
import sys

import pytest

import kb

# Those that have a switch, and would report without it.
REPORTING = ("onnxruntime", "huggingface_hub", "transformers", "sentence_transformers")


@pytest.mark.parametrize("before", ["0", ""])
def test_switches_are_set_before_any_library_is_imported(before: str) -> None:
    code = f"import kb, os, sys; print(*(os.environ[n] for n in {sorted(kb.REPORTS_OFF)}), *(n for n in {REPORTING} if n in sys.modules))"
    environment = os.environ | dict.fromkeys(kb.REPORTS_OFF, before)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"] * len(kb.REPORTS_OFF)


def test_the_hub_knows_its_switch() -> None:
    """It reads the names that are set here; a release that renames them fails here."""
    code = "import kb; from huggingface_hub import constants; print(constants.HF_HUB_DISABLE_TELEMETRY)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
