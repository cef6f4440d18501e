"""A BERT most of whose products run in 8 bits: a query takes half of the time, with a cosine of .9998 to the whole one.

Weights have one scale a row. What they multiply has a fixed range, measured on texts of all kinds, so that a vector does not
depend on the texts beside it. Where single channels are far above the others, they are divided by a power of their range,
and the weights multiplied by it. The last product of each layer stays whole: single numbers of what it multiplies are a
hundred times the others, and 8 bits for all of them cost more than everything else (.9993).

source  Xiao et al.: SmoothQuant, ICML 2023
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kb.embed.bert import Bert, Graph, build_bert
from kb.embed.signs import ZERO, are_sums_cut
from kb.frozen import dataclass

MICROSOFT = "com.microsoft"
# Powers of the channels' ranges that are tried.
POWERS = (0.0, 0.5, 0.65)
LAST_PRODUCT = ".output.dense"
LEAST_RANGE = 1e-5


@dataclass(frozen=True, slots=True)
class Rounding:
    """How what one product multiplies is rounded to 0 … 255.

    divisors  (inputs,) float32; None where all are 1
    step      size of one of the 255 steps
    zero      the step that stands for 0
    """

    divisors: Any
    step: float
    zero: int

    def scaled(self, weights: Any) -> Any:
        """The weights, (outputs, inputs), for inputs that were divided."""
        return weights if self.divisors is None else weights * self.divisors


def choose_rounding(inputs: Any, weights: Any) -> Rounding:
    """The rounding that changes the product least.

    inputs   (n, inputs) float32, as they occur
    weights  (outputs, inputs) float32
    """
    import numpy as np

    exact = inputs @ weights.T
    best, least = Rounding(None, LEAST_RANGE, 0), float("inf")
    for power in POWERS:
        divisors = _divisors(inputs, weights, power) if power else None
        divided = inputs if divisors is None else inputs / divisors
        low, high = min(float(divided.min()), 0.0), max(float(divided.max()), LEAST_RANGE)
        step = (high - low) / 255
        found = Rounding(divisors, step, round(-low / step))
        values, scales = in_8_bits(found.scaled(weights))
        rounded = (np.clip(np.round(divided / step) + found.zero, 0, 255) - found.zero) * step
        error = float(np.linalg.norm(rounded @ (values * scales[:, None]).T - exact))
        if error < least:
            best, least = found, error
    return best


def _divisors(inputs: Any, weights: Any, power: float) -> Any:
    """(inputs,) float32 with a geometric mean of 1."""
    import numpy as np

    of_inputs = np.maximum(np.abs(inputs).max(axis=0), LEAST_RANGE) ** power
    of_weights = np.maximum(np.abs(weights).max(axis=0), LEAST_RANGE) ** (1 - power)
    divisors = of_inputs / of_weights
    return (divisors / np.exp(np.log(divisors).mean())).astype(np.float32)


def in_8_bits(weights: Any) -> tuple[Any, Any]:
    """((outputs, inputs) int8, (outputs,) float32), their product the weights."""
    import numpy as np

    scales = np.maximum(np.abs(weights).max(axis=1), 1e-12) / 127
    return np.round(weights / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def write_quantized(bert: Bert, batches: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the graph.

    batches  what the whole graph is run on to see what its products multiply: input → array
    """
    inputs = _inputs_of_products(bert, batches, path)
    roundings = {name: choose_rounding(value, _joined(bert, name)) for name, value in inputs.items()}
    build_bert(QuantizedGraph(bert, roundings), path)


class QuantizedGraph(Graph):
    """roundings  the name of a product's weights, one for all products of the same input → how it is rounded"""

    def __init__(self, bert: Bert, roundings: Mapping[str, Rounding]) -> None:
        super().__init__(bert)
        self._roundings = roundings
        self._rounded: dict[str, tuple[str, str, str]] = {}

    def linear(self, name: str, value: str) -> str:
        rounding = self._roundings.get(_shared(name))
        if rounding is None:
            return super().linear(name, value)
        if value not in self._rounded:
            step, zero = self.constant(rounding.step, "float32"), self.constant(rounding.zero, "uint8")
            divided = value
            if rounding.divisors is not None:
                divided = self.add("Mul", value, self.constant(1 / rounding.divisors, "float32"))
            self._rounded[value] = self.add("QuantizeLinear", divided, step, zero), step, zero
        rounded, step, zero = self._rounded[value]
        values, scales = in_8_bits(rounding.scaled(self.bert.weights[f"{name}.weight"]))
        kind, middle = ("uint8", ZERO) if are_sums_cut() else ("int8", 0)
        weights = self.constant(values.T.astype("int16") + middle, kind), step, self.constant(scales, "float32"), zero
        middles = self.constant([middle] * len(scales), kind)
        return self.add(
            "MatMulIntegerToFloat", rounded, *weights, middles, self.weight(f"{name}.bias"), domain=MICROSOFT
        )


class _WatchedGraph(Graph):
    """The whole graph, which notes what is multiplied."""

    def __init__(self, bert: Bert) -> None:
        super().__init__(bert)
        self.watched: dict[str, str] = {}

    def linear(self, name: str, value: str) -> str:
        if not _is_last(name):
            self.watched.setdefault(_shared(name), value)
        return super().linear(name, value)


def _is_last(name: str) -> bool:
    return name.endswith(LAST_PRODUCT) and ".attention." not in name


def _shared(name: str) -> str:
    """Query, key and value multiply the same."""
    before, is_attention, _ = name.partition(".attention.self.")
    return before + is_attention


def _joined(bert: Bert, name: str) -> Any:
    """The weights of all products of one input, (outputs, inputs)."""
    import numpy as np

    if not name.endswith("."):
        return bert.weights[f"{name}.weight"]
    return np.concatenate([bert.weights[f"{name}{part}.weight"] for part in ("query", "key", "value")])


def _inputs_of_products(bert: Bert, batches: Sequence[Mapping[str, Any]], path: Path) -> dict[str, Any]:
    """The name of a product's weights → what it multiplies, (n, inputs) float32."""
    import numpy as np
    import onnxruntime

    graph = _WatchedGraph(bert)
    watched_path = path.with_suffix(".watched.onnx")
    build_bert(graph, watched_path, also=graph.watched)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(watched_path), options, providers=["CPUExecutionProvider"])
    watched_path.unlink()
    found: dict[str, list[Any]] = {name: [] for name in graph.watched}
    for batch in batches:
        for name, value in zip(graph.watched, session.run(list(graph.watched.values()), dict(batch)), strict=True):
            found[name].append(value.reshape(-1, value.shape[-1]))
    return {name: np.concatenate(values) for name, values in found.items()}
