"""Trains a reader of claims: does a passage say what a sentence says? An experiment; kb has no such weights.

    PYTHONPATH=. python training/train_support.py DATA_FOLDER PAGES_FOLDER HOMES_FOLDER OUT_FOLDER [--seconds N]

It goes on from kb-reader, whose first text is a question: here it is a claim. It learns from answers that a language model wrote
(benchmarks/verdicts.jsonl.gz, without the manuals that are held out), from labelled claims of people (DATA_FOLDER/reader/support.jsonl.gz),
and from lies and truths by script (benchmarks/lies.py). Prints its AUC on the manuals that are held out, beside that of kb's own score,
and writes OUT_FOLDER/support.pt. PAGES_FOLDER and HOMES_FOLDER are those of benchmarks/verdicts.py.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from train_reader import Model, begin

from benchmarks.lies import make_cases
from benchmarks.verdicts import answers, passages
from kb.embed.unigram import Unigram, write_pieces
from kb.reader.trained_weights import WEIGHTS
from kb.support.check import read_claims
from kb.support.claims import find_claims

CLAIM_TOKENS, MAX_TOKENS = 80, 220
BATCH, RATE, WARM_UP_STEPS = 24, 1e-4, 40
# Of each set of people's labels, so many; written answers are learnt so often.
PEOPLE = {"klue": 3500, "fm2": 2500, "wice": 1500}
WRITTEN_ROUNDS = 4
SCRIPTED = 2000
# One manual of so many is held out.
HELD_OUT = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A claim, a text, whether the text says it, and its language."""

    claim: str
    text: str
    is_said: bool
    language: str


def written(pages: Path, homes: Path) -> tuple[list[Row], list[Row]]:
    """(to learn from, held out)"""
    rows = answers()
    texts = dict(passages(pages, homes, sorted({row["manual"] for row in rows})))
    learnt: list[Row] = []
    held: list[Row] = []
    for language in ("en", "ko"):
        names = sorted({row["manual"] for row in rows if row["lang"] == language})
        for row in rows:
            if row["lang"] == language and row["passage"] in texts:
                side = held if row["manual"] in names[::HELD_OUT] else learnt
                side.append(Row(_bare(row["answer"]), "\n".join(texts[row["passage"]]), row["true"], language))
    return learnt, held


def labelled(data: Path, rng: random.Random) -> list[Row]:
    """Claims that people labelled, and lies and truths by script."""
    sets: dict[str, list[Row]] = {name: [] for name in PEOPLE}
    with gzip.open(data / "reader/support.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            name = row["source"].split("-")[0]
            if name in sets and "weak" not in row["source"]:
                sets[name].append(Row(row["claim"], row["evidence"], row["label"] == "supported", row["lang"]))
    found = [row for name, rows in sets.items() for row in rng.sample(rows, min(len(rows), PEOPLE[name]))]
    cases = [case for case in make_cases(data, "dev", None, 60, 5) if " " not in case.kind]
    scripted = [Row(_bare(case.answer), case.passage, case.is_true, case.language) for case in cases]
    return found + rng.sample(scripted, min(len(scripted), SCRIPTED))


def _bare(answer: str) -> str:
    return re.sub(r"\s*\[#\d+\]", "", answer)


def to_ids(rows: Sequence[Row], words: Unigram) -> list[tuple[int, ...]]:
    """<s> claim </s></s> text </s>"""
    claims = words.encode([row.claim for row in rows], CLAIM_TOKENS)
    texts = words.encode([row.text for row in rows], MAX_TOKENS)
    return [(*claim, 2, *text[1:]) for claim, text in zip(claims, texts, strict=True)]


def to_tensors(ids: Sequence[tuple[int, ...]], pad: int) -> tuple[Tensor, Tensor]:
    """ids and mask, (n, longest)"""
    rows = [torch.tensor(row) for row in ids]
    padded = torch.nn.utils.rnn.pad_sequence
    return padded(rows, batch_first=True, padding_value=pad), padded(
        [torch.ones_like(row) for row in rows], batch_first=True
    )


def auc(scores: Sequence[float], rows: Sequence[Row]) -> float:
    """Share of pairs of a said and an unsaid claim in order, ties half."""
    said = [score for score, row in zip(scores, rows, strict=True) if row.is_said]
    unsaid = [score for score, row in zip(scores, rows, strict=True) if not row.is_said]
    return sum((a > b) + 0.5 * (a == b) for a in said for b in unsaid) / max(1, len(said) * len(unsaid))


def score(model: Model, ids: Sequence[tuple[int, ...]]) -> list[float]:
    """Logits."""
    with torch.no_grad():
        parts = (to_tensors(ids[at : at + BATCH], model.pad) for at in range(0, len(ids), BATCH))
        return [float(value) for part in parts for value in model(*part)[:, 0]]


def own_score(row: Row) -> float:
    """What kb's check gives a claim: that of its worst sentence."""
    sentences = [claim.text for claim in find_claims(row.claim)] or [row.claim]
    return min(found for found, _ in read_claims(sentences, [(row.text,)] * len(sentences)))


def show(model: Model, held: Sequence[Row], ids: Sequence[tuple[int, ...]]) -> None:
    """A line per language."""
    scores = score(model, ids)
    for language in ("en", "ko"):
        mine = [n for n, row in enumerate(held) if row.language == language]
        rows = [held[n] for n in mine]
        own = auc([own_score(row) for row in rows], rows)
        print(
            f"{language}, {len(rows)} held out: AUC {auc([scores[n] for n in mine], rows):.3f}, kb's own {own:.3f}",
            flush=True,
        )


def learn(
    model: Model, rows: Sequence[Row], ids: Sequence[tuple[int, ...]], seconds: float, rng: random.Random
) -> None:
    """One round in batches of about one length, or so much of it as there is time for."""
    order = list(range(len(rows)))
    rng.shuffle(order)
    pools = [sorted(order[at : at + 20 * BATCH], key=lambda n: len(ids[n])) for at in range(0, len(order), 20 * BATCH)]
    batches = [pool[at : at + BATCH] for pool in pools for at in range(0, len(pool), BATCH)]
    rng.shuffle(batches)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    began = time.perf_counter()
    for step, batch in enumerate(batches):
        done = max(step / len(batches), (time.perf_counter() - began) / seconds)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, step / WARM_UP_STEPS) * (1 - done)
        logits = model(*to_tensors([ids[n] for n in batch], model.pad))[:, 0]
        loss = F.binary_cross_entropy_with_logits(logits, torch.tensor([float(rows[n].is_said) for n in batch]))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def main() -> None:
    """Begin, learn, show, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "pages", "homes", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=1200)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    torch.manual_seed(1)
    model = Model()
    begin(model, Path(__file__).resolve().parents[1] / "kb/reader" / WEIGHTS)
    write_pieces(model.pieces, chosen.out)
    words = Unigram(chosen.out, MAX_TOKENS)
    learnt, held = written(chosen.pages, chosen.homes)
    rows = [*learnt * WRITTEN_ROUNDS, *labelled(chosen.data, rng)]
    held_ids = to_ids(held, words)
    show(model, held, held_ids)
    learn(model, rows, to_ids(rows, words), chosen.seconds, rng)
    show(model, held, held_ids)
    torch.save(model.state_dict(), chosen.out / "support.pt")


if __name__ == "__main__":
    main()
