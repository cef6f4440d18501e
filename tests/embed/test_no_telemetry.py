"""No library that encodes reports usage to its makers."""

import subprocess
import sys


def test_onnxruntime_is_told_before_it_is_imported() -> None:
    code = "import kb.embed.fast, os, sys; print(os.environ.get('ORT_DISABLE_TELEMETRY'), 'onnxruntime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
