"""Packed weights as a torch model with the interface that kb.embed.batches uses of a SentenceTransformer.

With bf16 in hardware it takes 40 ms of CPU for a text of 220 tokens, ONNX in float32 90.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kb.embed.bert import BlockTable
from kb.embed.model_files import ModelFiles
from kb.embed.packed import SPECIAL_IDS, read_packed
from kb.embed.unigram import Unigram

_WORDS = "embeddings.word_embeddings.weight"


def load_packed(files: ModelFiles, export: Path) -> PackedModel:
    """The model of a packed file, float32, in evaluation mode.

    export  folder of the finished export, for the vocabulary
    """
    import torch
    from transformers import BertConfig, BertModel

    packed = read_packed(Path(files.folder))
    head, weights = packed.head, dict(packed.bert.weights)
    table: BlockTable = weights.pop(_WORDS)
    config = BertConfig(
        vocab_size=1,  # the table of words stays in 8 bits, outside the model
        pad_token_id=0,
        hidden_size=head.width,
        num_hidden_layers=head.layers,
        num_attention_heads=head.heads,
        intermediate_size=head.inner_width,
        max_position_embeddings=head.max_length,
        type_vocab_size=head.token_kinds,
        layer_norm_eps=head.epsilon,
    )
    bert: Any = BertModel(config, add_pooling_layer=False)
    bert.eval()
    missing, unexpected = bert.load_state_dict(
        {name: torch.tensor(value) for name, value in weights.items()}, strict=False
    )
    if set(missing) - {_WORDS, "embeddings.position_ids", "embeddings.token_type_ids"} or unexpected:
        raise ValueError(f"the weights of {files.model_id} are of another architecture")
    return PackedModel(bert, torch.from_numpy(table.values), torch.from_numpy(table.scales), export, files.max_length)


class PackedModel:
    """What BatchEncoder calls: a tokenizer, `preprocess`, and the model itself."""

    def __init__(self, bert: Any, values: Any, scales: Any, export: Path, max_length: int) -> None:
        """values (rows, width) int8, scales (rows, blocks) float32: the table of words."""
        self._bert, self._values, self._scales = bert, values, scales
        self._pieces, self._max_length = Unigram(export, max_length), max_length

    def to(self, device: str) -> PackedModel:
        """Moves the weights to a device of torch; the tokenizer stays on the processor."""
        self._bert, self._values, self._scales = (x.to(device) for x in (self._bert, self._values, self._scales))
        return self

    def tokenizer(self, texts: Sequence[str], *, truncation: bool, max_length: int) -> dict[str, list[list[int]]]:
        """Token ids, special tokens included."""
        return {"input_ids": self._pieces.encode(texts, max_length)}

    def preprocess(self, texts: Sequence[str]) -> dict[str, Any]:
        """input_ids and attention_mask, (n, longest) int64."""
        import torch

        rows = [torch.tensor(ids) for ids in self._pieces.encode(texts, self._max_length)]
        pad = torch.nn.utils.rnn.pad_sequence
        return {
            "input_ids": pad(rows, batch_first=True, padding_value=SPECIAL_IDS[1]),
            "attention_mask": pad([torch.ones_like(ids) for ids in rows], batch_first=True),
        }

    def __call__(self, features: dict[str, Any]) -> dict[str, Any]:
        """ "sentence_embedding": the mean of the last hidden states, (n, width)."""
        ids, mask = features["input_ids"], features["attention_mask"]
        values, scales = self._values[ids], self._scales[ids]
        words = (values.float().unflatten(2, (scales.shape[2], -1)) * scales.unsqueeze(3)).flatten(2)
        hidden = self._bert(inputs_embeds=words, attention_mask=mask).last_hidden_state.float()
        counted = mask.unsqueeze(2).float()
        return {"sentence_embedding": (hidden * counted).sum(dim=1) / counted.sum(dim=1)}
