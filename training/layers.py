"""The layers of a BERT, of which the upper ones are trained, or all. In bfloat16, as fast as a CPU takes them backwards."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from kb.reader.mpnet_weights import DOWN, UP

LOWEST = 6  # layers that stay as they are, where nothing else is said
MATRICES = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
MATRICES += ("intermediate.dense", "output.dense")
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


class Layers(torch.nn.Module):
    """What two readers share. The weights of the tables and the lowest layers are no parameters.

    weights  name → float32, a matrix (outputs, inputs)
    lowest   so many layers stay as they are
    head     what the names of the head begin with, which is trained, too
    """

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        *,
        layers: int,
        heads: int,
        epsilon: float,
        lowest: int = LOWEST,
        head: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self.layers, self.heads, self.epsilon, self.lowest = layers, heads, epsilon, lowest
        upper = {name for name in weights if is_upper(name, lowest) or name.startswith(head or ("\0",))}
        self.frozen = {name: value for name, value in weights.items() if name not in upper}
        self.upper = torch.nn.ParameterDict(
            {name.replace(".", "/"): torch.nn.Parameter(weights[name].clone()) for name in sorted(upper)}
        )

    def trained(self) -> dict[str, Tensor]:
        """Name → what is trained of the encoder and its own head."""
        return {name.replace("/", "."): value for name, value in self.upper.items()}

    def through(self, embedded: Tensor, mask: Tensor, nearness: Tensor | None = None) -> Tensor:
        """(n, longest, width) before the first norm, and the mask → what the last layer gives, in float32.

        nearness  (1, heads, longest, longest) bfloat16, is added to what the tokens have to do with each other
        """
        bias = ((1 - mask.float()) * -1e4)[:, None, None, :].bfloat16()
        if nearness is not None:
            bias = bias + nearness
        hidden = self._norm(embedded, "embeddings.LayerNorm", {**self.frozen, **self.trained()}).bfloat16()
        weights = {**self.frozen, **self.trained()}
        for layer in range(self.layers):
            with torch.set_grad_enabled(torch.is_grad_enabled() and layer >= self.lowest):
                hidden = self._layer(hidden, bias, f"encoder.layer.{layer}", weights)
        return hidden.float()

    def _layer(self, hidden: Tensor, bias: Tensor, name: str, weights: Mapping[str, Tensor]) -> Tensor:
        n, length, width = hidden.shape

        def linear(part: str, value: Tensor) -> Tensor:
            weight, offset = weights[f"{name}.{part}.weight"], weights[f"{name}.{part}.bias"]
            found = F.linear(value, weight.bfloat16(), offset.bfloat16())
            down = weights.get(f"{name}.{part}.{DOWN}")
            if down is None:
                return found
            return found + F.linear(F.linear(value, down.bfloat16()), weights[f"{name}.{part}.{UP}"].bfloat16())

        def by_head(part: str) -> Tensor:
            return linear(part, hidden).view(n, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = (by_head(part) for part in MATRICES[:3])
        # The fused attention of torch takes twice the time backwards on a CPU.
        read = (query @ key.transpose(2, 3) * (width // self.heads) ** -0.5 + bias).softmax(3) @ value
        attended = linear(MATRICES[3], read.transpose(1, 2).reshape(n, length, width))
        hidden = self._norm(hidden + attended, f"{name}.{NORMS[0]}", weights)
        inner = linear(MATRICES[5], F.gelu(linear(MATRICES[4], hidden)))
        return self._norm(hidden + inner, f"{name}.{NORMS[1]}", weights)

    def _norm(self, value: Tensor, name: str, weights: Mapping[str, Tensor]) -> Tensor:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return F.layer_norm(value, value.shape[-1:], weight.to(value.dtype), bias.to(value.dtype), self.epsilon)


def is_upper(name: str, lowest: int) -> bool:
    """Whether a weight belongs to a layer above the lowest ones."""
    parts = name.split(".")
    return parts[0] == "encoder" and int(parts[2]) >= lowest
