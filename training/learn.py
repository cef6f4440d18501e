"""Batches of whole questions, the loss, the curve and the steps that every reader is trained by. The model is given."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from examples import Example
from scipy.stats import rankdata
from torch import Tensor

TOKENS_PER_STEP = 5120
WARM_UP, DECAY = 0.06, 0.01
# Of the loss: order within a question, and the teacher's score. Its logits lie within ±11.
BY_ORDER, BY_TEACHER, TEACHER_SCALE = 0.3, 0.5, 4.0
# Of rated quotes: how likely each rating answers, what it is worth in the order, and that order's part of the loss.
ANSWERS, WORTH, BY_RATED_ORDER = {3: 1.0, 2: 0.75, 1: 0.2, 0: 0.02}, {3: 7.0, 2: 3.0, 1: 0.5, 0: 0.0}, 0.5
WRITTEN = "written: "
CURVE_POINTS = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """An example in tokens; the teacher's logit is NaN where it has none."""

    ids: tuple[int, ...]
    example: Example
    taught: float


class Learner(Protocol):
    """Token ids and mask, (n, longest) → (n, 2): the score, and the teacher's.

    pad  the id that fills rows up
    """

    pad: int

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor: ...

    def parameters(self) -> Iterable[torch.nn.Parameter]: ...


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


def to_tensors(batch: Sequence[Pair], filler: int) -> tuple[Tensor, Tensor]:
    """ids and mask, (n, longest)"""
    rows = [torch.tensor(pair.ids) for pair in batch]
    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([torch.ones_like(row) for row in rows], batch_first=True)
    return pad(rows, batch_first=True, padding_value=filler), mask


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


def loss_of_rated(scores: Tensor, batch: Sequence[Pair]) -> Tensor:
    """How likely each answers, and the order within each question; what has no rating is right or wrong."""
    own = [p.example.rating if p.example.rating is not None else 3 * p.example.answers for p in batch]
    is_rated = [p.example.rating is not None for p in batch]
    likely = [
        ANSWERS[r] if rated else float(p.example.answers) for r, rated, p in zip(own, is_rated, batch, strict=True)
    ]
    loss = F.binary_cross_entropy_with_logits(scores[:, 0], torch.tensor(likely))
    groups = torch.tensor([p.example.group for p in batch])
    same = groups[:, None] == groups[None, :]
    worth = torch.where(same, torch.tensor([WORTH[r] for r in own])[None, :], torch.tensor(0.0))
    shares = torch.where(same, scores[None, :, 0], -1e4).log_softmax(1)
    of_group = -torch.where(same, worth * shares, torch.tensor(0.0)).sum(1) / worth.sum(1).clamp(min=1e-6)
    mixed = (worth.sum(1) >= WORTH[2]) & (same.sum(1) > 1)
    return loss + BY_RATED_ORDER * of_group[mixed].mean() if mixed.any() else loss


def first_ratings(model: Learner, dev: Sequence[Pair]) -> dict[str, float]:
    """Of questions with a rated quote that answers: the share whose first by score is right and readable, or answers at all."""
    rated = [(pair, pair.example.rating) for pair in dev if pair.example.rating is not None]
    scores = score(model, [pair for pair, _ in rated])
    groups: dict[int, list[tuple[float, int]]] = {}
    for logit, (pair, rating) in zip(scores, rated, strict=True):
        groups.setdefault(pair.example.group, []).append((logit, rating))
    firsts = [max(rows)[1] for rows in groups.values() if max(rating for _, rating in rows) >= 2]
    if not firsts:
        return {}
    return {
        "first is right and readable": round(sum(rating == 3 for rating in firsts) / len(firsts), 3),
        "first answers": round(sum(rating >= 2 for rating in firsts) / len(firsts), 3),
    }


def score(model: Learner, pairs: Sequence[Pair]) -> list[float]:
    """In the order given."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].ids))
    found = [0.0] * len(pairs)
    with torch.no_grad():
        for start in range(0, len(order), 48):
            rows = order[start : start + 48]
            for row, logit in zip(
                rows, model(*to_tensors([pairs[i] for i in rows], model.pad))[:, 0].tolist(), strict=True
            ):
                found[row] = logit
    return found


def curve_point(model: Learner, dev: Sequence[Pair]) -> dict[str, float]:
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


def train(
    model: Learner,
    batches: Sequence[list[Pair]],
    dev: Sequence[Pair],
    rate_at_most: float,
    loss_of: Callable[[Tensor, Sequence[Pair]], Tensor] = loss_of,
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
        loss = loss_of(model(*to_tensors(batch, model.pad)), batch)
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
            point |= first_ratings(model, dev)
            curve.append(point)
            print(json.dumps(point), flush=True)
    return curve
