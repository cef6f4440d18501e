"""A sentence-transformers model of 2 layers with random weights, saved as a folder: "model by path" without a download."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from kb.embed.model_files import find_model

DIMENSIONS = 32


def save_small_model(folder: Path, *, pooling: str = "cls", prompts: dict[str, str] | None = None) -> Path:
    """Write the model and return its folder. The vocabulary is MiniLM's; texts are cut at 64 tokens."""
    import torch
    from transformers import BertConfig, BertModel

    source = Path(find_model("all-MiniLM-L6-v2", folder / "no-cache").folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=30522, hidden_size=DIMENSIONS, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(source / name, folder / name)
    _write(folder / "modules.json", [_module(0, "", "Transformer"), _module(1, "1_Pooling", "Pooling")])
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 64, "do_lower_case": False})
    flag = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}[pooling]
    _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": DIMENSIONS, flag: True})
    if prompts:
        _write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


def _module(index: int, path: str, kind: str) -> dict[str, str | int]:
    return {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"}


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
