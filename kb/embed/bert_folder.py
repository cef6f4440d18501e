"""A folder with a BERT in safetensors, as sentence-transformers saves it → its weights and numbers."""

from __future__ import annotations

import json
from pathlib import Path

from kb.embed.bert import POOLINGS, Bert
from kb.embed.model_files import ModelFiles, module_kinds, read_json

# The modules of sentence-transformers that the graph replaces; its reader scales the vectors to length 1.
KINDS = ("Transformer", "Pooling", "Normalize")


def can_write_bert(files: ModelFiles) -> bool:
    """Whether a model is a BERT with float32 safetensors, GELU, absolute positions, and mean or cls pooling only."""
    folder = Path(files.folder)
    config = read_json(folder / "config.json")
    weights = folder / "model.safetensors"
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and files.pooling in POOLINGS
        and set(module_kinds(folder)) <= set(KINDS)
        and not read_json(folder / "sentence_bert_config.json").get("do_lower_case")
        and weights.is_file()
        and _is_float32(weights)
    )


def read_bert(files: ModelFiles) -> Bert:
    """The model in a folder for which `can_write_bert` is true. Raises KeyError, ValueError for another architecture."""
    from safetensors.numpy import load_file

    config = read_json(Path(files.folder) / "config.json")
    tensors = load_file(Path(files.folder) / "model.safetensors")
    return Bert(
        {name.removeprefix("bert."): tensor for name, tensor in tensors.items()},
        int(config["num_hidden_layers"]),
        int(config["num_attention_heads"]),
        int(config["hidden_size"]),
        float(config["layer_norm_eps"]),
        files.pooling,
    )


def _is_float32(weights: Path) -> bool:
    """By the header of the file: 8 bytes with its length, then JSON."""
    with weights.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    kinds = {about["dtype"] for name, about in header.items() if name.endswith((".weight", ".bias"))}
    return kinds == {"F32"}
