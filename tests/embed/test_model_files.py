"""Names and paths → model files; digests that change with the content and with nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kb.embed.model_files import ModelFiles, find_model
from kb.errors import ModelError


@pytest.fixture
def copied_model(tmp_path: Path) -> Path:
    """MiniLM's files in a folder of their own, with weights of a few bytes."""
    folder = tmp_path / "copied"
    source = find_model("all-MiniLM-L6-v2", tmp_path / "cache").folder
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors", "data_config.json"))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_the_english_model_is_the_installed_package(tmp_path: Path) -> None:
    files = find_model("all-MiniLM-L6-v2", tmp_path)
    assert (files.dimensions, files.max_tokens, files.max_length, files.pooling) == (384, 254, 256, "mean")
    assert len(files.digest) == 64
    long_name = find_model("sentence-transformers/all-MiniLM-L6-v2", tmp_path)
    assert (long_name.digest, long_name.folder) == (files.digest, files.folder)


def test_unknown_model_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="no encoder 'nowhere/nothing'") as raised:
        find_model("nowhere/nothing", tmp_path)
    assert raised.value.code == "model_unavailable"
    assert "HF_HUB_OFFLINE=0" in raised.value.fix


def test_folder_without_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="holds no weights"):
        find_model(str(tmp_path), tmp_path / "cache")


def test_folder_with_another_kind_of_model_is_refused(copied_model: Path, tmp_path: Path) -> None:
    (copied_model / "config.json").write_text("not json")
    with pytest.raises(ModelError, match="not a sentence-transformers model"):
        find_model(str(copied_model), tmp_path / "cache")


def test_model_in_the_hugging_face_cache(copied_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "hub" / "models--someone--small"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("abc123")
    shutil.copytree(copied_model, kept / "snapshots" / "abc123")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    files = find_model("someone/small", tmp_path / "cache")
    assert files.folder.endswith("snapshots/abc123")
    assert files.digest == find_model(str(copied_model), tmp_path / "cache").digest


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors", b"other weights"),
        ("1_Pooling/config.json", b'{"word_embedding_dimension": 384, "pooling_mode_cls_token": true}'),
        ("sentence_bert_config.json", b'{"max_seq_length": 128}'),
        ("modules.json", b"[]"),
    ],
)
def test_digest_follows_the_content(copied_model: Path, tmp_path: Path, name: str, content: bytes) -> None:
    before = find_model(str(copied_model), tmp_path / "cache")
    (copied_model / name).write_bytes(content)
    assert find_model(str(copied_model), tmp_path / "cache").digest != before.digest


def test_digest_ignores_what_does_not_matter(copied_model: Path, tmp_path: Path) -> None:
    before = find_model(str(copied_model), tmp_path / "cache")
    (copied_model / "README.md").write_text("other words")
    os.utime(copied_model / "model.safetensors", (1, 1))
    assert find_model(str(copied_model), tmp_path / "cache") == before


def test_remembered_digest_is_used_and_a_damaged_memo_is_not(copied_model: Path, tmp_path: Path) -> None:
    cache = tmp_path / "memo"
    found = find_model(str(copied_model), cache)
    (memo,) = (cache / "models").iterdir()
    known = json.loads(memo.read_text())
    known["files"]["digest"] = "remembered"
    memo.write_text(json.dumps(known))
    assert find_model(str(copied_model), cache).digest == "remembered"
    memo.write_text("{")
    assert find_model(str(copied_model), cache) == found


def test_cache_that_cannot_be_written_only_costs_time(copied_model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(find_model(str(copied_model), tmp_path / "file"), ModelFiles)


def test_opening_imports_nothing_heavy(encoder_cache: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom kb.config import EmbeddingConfig\n"
        "from kb.embed.registry import open_encoder\n"
        f"encoder = open_encoder(EmbeddingConfig(), Path({str(encoder_cache)!r}), print)\n"
        "assert encoder.dimensions == 384 and encoder.digest and encoder.max_tokens == 510\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'onnxruntime', 'numpy', 'tokenizers'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "encoder.encode_query('what is ownership')\n"
        "print(sorted((heavy | {'onnx'}) & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "['numpy', 'onnxruntime']"]
    assert run.stderr == ""
