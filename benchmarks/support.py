"""Measures the support check on free text: does a passage back an answer? And fits its weights.

    .venv/bin/python benchmarks/support.py DATA/clapnq [--fit] [--markdown]

Pairs are made of ClapNQ's human answers. Backed: an answer with its gold passage. Not backed: with the nearest other
passage by BM25 (near); with its own passage without the sentences it was written from (removed); with one sentence of
another answer put into it (mixed). Against it stands plain containment: the share of the answer's content words that the
passage holds. Figures are from five folds by passage; thresholds of the baseline are chosen on the other folds, ours is
0.5. `--fit` writes kb/support/weights.json from all of it. benchmarks/support_edits.py measures edited sentences.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from benchmarks.cached_encoder import CachedEncoder
from kb.support import check as support
from kb.support.claims import find_claims
from kb.support.overlap import weights_of
from kb.text import STOP_WORDS, analyze, analyze_query, split_sentences

FOLDS = 5
# Shares of a claim's everyday words that are exchanged for others: none, and three grades of abstraction.
REWORDED = (0.0, 0.25, 0.5, 0.75)
SEED = 7
MODEL_FILE = Path(support.__file__).parent / "weights.json"
# Signs are fixed: what is said raises the score, what is missing lowers it.
BOUNDS = {"said": (0, 8), "window": (0, 8), "pairs": (0, 4), "names": (-4, 0), "elsewhere": (-2, 0), "cosine": (0, 12)}
RIDGE = 0.01
# Share of pairs that are backed, as in sets of models' answers labelled by people (.6).
BASE_RATE = 0.6


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer and a text; group keeps what belongs together in one fold."""

    claim: str
    text: str
    label: int
    kind: str
    group: str
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """A pair with what the check reads in it, per sentence: features without and with the cosine, faults, weight."""

    pair: Pair
    readings: tuple[support.Reading, ...]
    cosines: tuple[float | None, ...]
    weights: tuple[int, ...]
    plain: float


def clean(text: str) -> str:
    """ClapNQ's texts are tokenized: ` ,` and `` `` ''` as people write them."""
    for old, new in (
        (" ,", ","),
        (" .", "."),
        (" '", "'"),
        ("`` ", '"'),
        ("''", '"'),
        (" - ", "-"),
        (" ;", ";"),
        ("( ", "("),
        (" )", ")"),
        ("\r\n", " "),
    ):
        text = text.replace(old, new)
    return text.strip()


def read_pairs(folder: Path) -> list[Pair]:
    """Every pair of every kind."""
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    texts = {p["_id"]: f"{p['title']}\n\n{clean(p['text'])}" for p in passages}
    ids = [p["_id"] for p in passages]
    ranking = BM25Okapi([analyze(texts[i]) for i in ids])
    rows = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    for row in rows:
        row["answers"] = [a for a in row["answers"] if len(analyze(a)) >= 4]  # "NA" and "" are no answers
    rows = [row for row in rows if row["answerable"] and row["answers"]]
    answers_of: dict[str, list[str]] = {}
    for row in rows:
        answers_of.setdefault(row["passage"][0], []).extend(clean(a) for a in row["answers"])
    pairs: list[Pair] = []
    for row in rows:
        gold = row["passage"][0]
        group = gold
        answer = clean(row["answers"][0])
        scores = ranking.get_scores(analyze_query(f"{row['text']} {answer}"))
        near = [ids[i] for i in np.argsort(-scores)[:12] if ids[i] not in row["passage"]]
        for said in row["answers"]:
            pairs.append(Pair(clean(said), texts[gold], 1, "gold", group))
        pairs += [Pair(answer, texts[other], 0, "near", group) for other in near[:1]]
        if left := _without(texts[gold], [clean(a) for a in row["answers"]]):
            pairs.append(Pair(answer, left, 0, "removed", group))
        foreign = [s for other in near for a in answers_of.get(other, []) for s in _sentences(a)]
        if foreign:
            pairs.append(
                Pair(_mixed(answer, random.Random(row["_id"]).choice(foreign)), texts[gold], 0, "mixed", group)
            )
    return pairs


def _sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in split_sentences(text)]


def _content(text: str) -> list[str]:
    return [t for t in analyze(text) if t not in STOP_WORDS]


def plain_containment(claim: str, text: str) -> float:
    """The baseline: share of the distinct content words of the answer that the text holds."""
    words = set(_content(claim))
    return len(words & set(analyze(text))) / len(words) if words else 0.0


def _without(text: str, answers: Sequence[str]) -> str:
    """The text without each sentence half of whose words an answer says; "" when nothing of length is left."""
    said = [set(_content(a)) for a in answers]
    kept = []
    for sentence in _sentences(text):
        words = set(_content(sentence))
        if words and max(len(words & s) / len(words) for s in said) < 0.5:
            kept.append(sentence)
    return " ".join(kept) if len(kept) >= 2 else ""


def _mixed(answer: str, foreign: str) -> str:
    sentences = _sentences(answer)
    return " ".join([*sentences, foreign] if len(sentences) == 1 else [*sentences[:-1], foreign])


class Rewording:
    """Words → the word of the corpus that the encoder finds nearest: what a writer does who uses words of their own.

    Applied alike to pairs of every kind, so that it tells nothing of the label. Names and numbers are kept.
    """

    def __init__(self, texts: Sequence[str], encode: Any) -> None:
        words = sorted({w for text in texts for w in re.findall(r"\b[a-z]{4,}\b", text) if w not in STOP_WORDS})
        vectors = encode(words)
        self._of: dict[str, str] = {}
        for start in range(0, len(words), 1000):
            cosines = vectors[start : start + 1000] @ vectors.T
            for i, row in enumerate(cosines, start):
                for j in np.argsort(-row)[1:8]:
                    if analyze(words[j]) != analyze(words[i]) and words[j][:4] != words[i][:4]:
                        self._of[words[i]] = words[j]
                        break

    def reword(self, text: str, share: float, seed: str) -> str:
        """A share of the words exchanged."""
        dice = random.Random(seed)
        return re.sub(r"\b[a-z]{4,}\b", lambda m: self._of.get(m[0], m[0]) if dice.random() < share else m[0], text)


def with_reworded(pairs: Sequence[Pair], encode: Any) -> list[Pair]:
    """Every pair as it is, and with three shares of its words exchanged."""
    wording = Rewording([p.claim for p in pairs] + [p.text for p in pairs], encode)
    out = []
    for pair in pairs:
        for share in REWORDED:
            claim = wording.reword(pair.claim, share, pair.claim) if share else pair.claim
            out.append(replace(pair, claim=claim, share=share))
    return out


def measure(pairs: Sequence[Pair], encode: Any) -> list[Measured]:
    """Read every pair once; the encoder is asked for every sentence that the check would ask it for."""
    out = []
    for pair in pairs:
        claims = [c.text for c in find_claims(pair.claim)] or [pair.claim]
        read = support.read_claims(claims, [(pair.text,)] * len(claims), encode)
        out.append(
            Measured(
                pair,
                tuple(replace(r, cosine=None) for _, r in read),
                tuple(r.cosine for _, r in read),
                tuple(max(1, len(weights_of(c))) for c in claims),
                plain_containment(pair.claim, pair.text),
            )
        )
    return out


def rows_of(measured: Measured, *, with_cosine: bool) -> list[tuple[float, ...]]:
    """Feature rows of a pair's sentences; a copied sentence, which is not encoded, counts as cosine 1."""
    rows = []
    for reading, cosine in zip(measured.readings, measured.cosines, strict=True):
        value = (1.0 if cosine is None else cosine) if with_cosine else None
        rows.append(support.features_of(replace(reading, cosine=value)))
    return rows


def score(
    measured: Measured, model: support.Model, *, with_cosine: bool, mean_share: float = support.MEAN_SHARE
) -> float:
    """The score of a pair under a model."""
    z = np.array(rows_of(measured, with_cosine=with_cosine)) @ np.array(model.weights) + model.bias
    p = 1 / (1 + np.exp(-z))
    p = np.where([bool(r.faults) for r in measured.readings], p * support.CONTRADICTED, p)
    w = np.array(measured.weights)
    return float(mean_share * (p @ w) / w.sum() + (1 - mean_share) * p.min())


def fit(rows: Sequence[Measured], *, with_cosine: bool) -> support.Model:
    """Logistic regression on pairs, through the score of their sentences, with bounds on the weights."""
    bounds = [BOUNDS[name] if with_cosine or name != "cosine" else (0, 0) for name in support.FEATURES]
    features = np.concatenate([np.array(rows_of(m, with_cosine=with_cosine)) for m in rows])
    owner = np.concatenate([[i] * len(m.readings) for i, m in enumerate(rows)])
    labels = np.array([m.pair.label for m in rows])
    weights = np.concatenate([np.array(m.weights) / sum(m.weights) for m in rows])
    positive = labels.mean()
    balance = np.where(labels == 1, BASE_RATE / positive, (1 - BASE_RATE) / (1 - positive))
    starts = np.searchsorted(owner, np.arange(len(rows)))

    def loss(theta: np.ndarray) -> float:
        p = 1 / (1 + np.exp(-(features @ theta[1:] + theta[0])))
        mean = np.add.reduceat(p * weights, starts)
        least = np.minimum.reduceat(p, starts)
        q = np.clip(support.MEAN_SHARE * mean + (1 - support.MEAN_SHARE) * least, 1e-6, 1 - 1e-6)
        return float(
            -np.mean(balance * (labels * np.log(q) + (1 - labels) * np.log(1 - q))) + RIDGE * (theta[1:] ** 2).mean()
        )

    start = np.array([-4.0, *(1.0 if b[1] > 0 else -0.5 if b[0] < 0 else 0.0 for b in bounds)])
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-20, 20), *bounds])
    return support.Model(float(found.x[0]), tuple(float(x) for x in found.x[1:]))


def fold_of(group: str) -> int:
    """A passage's fold, the same in every run."""
    return int(sha256(group.encode()).hexdigest(), 16) % FOLDS


def cross_validate(rows: Sequence[Measured]) -> dict[str, np.ndarray]:
    """Scores of every pair by models that never saw its passage; and the baseline's verdicts."""
    out = {name: np.zeros(len(rows)) for name in ("words", "cosine", "plain", "plain_verdict")}
    folds = np.array([fold_of(m.pair.group) for m in rows])
    labels = np.array([m.pair.label for m in rows])
    plain = np.array([m.plain for m in rows])
    out["plain"] = plain
    for fold in range(FOLDS):
        rest = [m for m, f in zip(rows, folds, strict=True) if f != fold]
        here = np.flatnonzero(folds == fold)
        for name in ("words", "cosine"):
            model = fit(rest, with_cosine=name == "cosine")
            for i in here:
                out[name][i] = score(rows[i], model, with_cosine=name == "cosine")
        cut = best_cut(plain[folds != fold], labels[folds != fold])
        out["plain_verdict"][here] = plain[here] >= cut
    return out


def best_cut(values: np.ndarray, labels: np.ndarray) -> float:
    """The threshold with the most verdicts right, at the base rate."""
    weight = np.where(labels == 1, BASE_RATE / labels.mean(), (1 - BASE_RATE) / (1 - labels.mean()))
    cuts = np.unique(values)
    return float(max(cuts, key=lambda c: float((weight * ((values >= c) == labels)).sum())))


def accuracy(verdicts: np.ndarray, labels: np.ndarray) -> float:
    """Share of right verdicts at the base rate."""
    if labels.min() == labels.max():
        return float((verdicts == labels).mean())
    return float(BASE_RATE * verdicts[labels == 1].mean() + (1 - BASE_RATE) * (1 - verdicts[labels == 0]).mean())


def report(rows: Sequence[Measured], scores: dict[str, np.ndarray], *, markdown: bool) -> None:
    """A line per subset: AUC and accuracy of the baseline, of words alone, with the encoder."""
    labels = np.array([m.pair.label for m in rows])
    kinds = np.array([m.pair.kind for m in rows])
    low, high = np.quantile(scores["plain"][labels == 1], [1 / 3, 2 / 3])
    everything = np.ones(len(rows), bool)
    subsets = {"all": everything} | {f"gold / {k}": (kinds == k) | (labels == 1) for k in ("near", "removed", "mixed")}
    shares = np.array([m.pair.share for m in rows])
    subsets |= {f"{s:.0%} of the words exchanged": shares == s for s in REWORDED}
    # Terciles of the backed ones' overlap, unbacked pairs of the same overlap beside them.
    subsets |= {
        "low overlap": scores["plain"] <= low,
        "middle": (scores["plain"] > low) & (scores["plain"] <= high),
        "high overlap": scores["plain"] > high,
    }
    print(
        "| pairs | n | containment AUC · accuracy | words | with encoder |\n|---|---|---|---|---|" if markdown else ""
    )
    for name, chosen in subsets.items():
        y = labels[chosen]
        if len(set(y)) < 2:
            continue
        cells = []
        for key in ("plain", "words", "cosine"):
            verdict = scores["plain_verdict"][chosen] if key == "plain" else scores[key][chosen] >= support.VERIFIED
            cells.append(f"{roc_auc_score(y, scores[key][chosen]):.3f} · {accuracy(verdict, y):.3f}")
        print(f"| {name} | {len(y)} | " + " | ".join(cells) + " |")
    faulty = np.array([any(r.faults for r in m.readings) for m in rows])
    print(f"backed pairs with a fault: {faulty[labels == 1].mean():.3f}; unbacked: {faulty[labels == 0].mean():.3f}")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--most", type=int, default=0)
    options = parser.parse_args()
    encode = CachedEncoder()
    pairs = with_reworded(read_pairs(options.folder)[: options.most or None], encode)
    rows = measure(pairs, encode)
    report(rows, cross_validate(rows), markdown=options.markdown)
    if options.fit:
        models = {name: fit(rows, with_cosine=name == "cosine") for name in ("words", "cosine")}
        stored = {
            "recipe": "benchmarks/support.py --fit",
            "models": {
                name: {
                    "bias": round(m.bias, 3),
                    "weights": {f: round(w, 3) for f, w in zip(support.FEATURES, m.weights, strict=True)},
                }
                for name, m in models.items()
            },
        }
        MODEL_FILE.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
        print(MODEL_FILE.read_text())


if __name__ == "__main__":
    main()
