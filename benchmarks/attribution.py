"""Measures the support check on claims that people have labelled: is this backed by that text?

    .venv/bin/python benchmarks/attribution.py FOLDER [--support DATA/reader/support.jsonl.gz] [--most 600] [--reader]

FOLDER holds checkouts of public repositories, each as OWNER+NAME (or OWNER+NAME/repo, bare): google/BEGIN-dataset,
vectara/FaithBench, salesforce/factualNLG (SummEdits), OSU-NLP-Group/AttributionBench, amazon-science/tofueval. What is
not there is left out. Printed per set: pairs, balanced accuracy at the check's own verdict (backed or likely to be; with a
tick), the shares of both labels with a tick, balanced accuracy at the best threshold on its score, and of plain containment at
its best threshold; the first with a bootstrap interval. Without the
encoder. The reader of claims (--reader) has learnt from rows of KLUE, FM2 and WiCE.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.support import plain_containment
from kb.arrays import ReadClaims
from kb.config import cache_folder
from kb.reader.claims import open_claims
from kb.support.check import check_support

SEED = 5
Pair = tuple[str, str, bool]


def read(folder: Path, name: str, path: str) -> str:
    """A file of a repository: of its work tree, or of its last commit."""
    for root in (folder / name, folder / name / "repo"):
        if (root / path).exists():
            return (root / path).read_text(encoding="utf-8")
        if (root / "HEAD").exists():
            shown = subprocess.run(["git", "-C", str(root), "show", f"HEAD:{path}"], capture_output=True, check=False)
            if shown.returncode == 0:
                return shown.stdout.decode("utf-8")
    raise FileNotFoundError(path)


def begin(folder: Path) -> Iterator[Pair]:
    """BEGIN: replies of dialogue models; generic ones are left out."""
    csv.field_size_limit(10**9)
    for path in (
        "wow/begin_test_wow.tsv",
        "wow/begin_dev_wow.tsv",
        "cmu-dog/begin_dev_cmu.tsv",
        "topicalchat/begin_dev_tc.tsv",
    ):
        rows = csv.DictReader(
            io.StringIO(read(folder, "google+BEGIN-dataset", path)), delimiter="\t", quoting=csv.QUOTE_NONE
        )
        for row in rows:
            label = row["begin_label"] or ""
            if label in ("Fully attributable", "Not fully attributable"):
                yield row["response"], row["knowledge"], label == "Fully attributable"


def faithbench(folder: Path) -> Iterator[Pair]:
    """FaithBench: summaries; unwanted and questionable spans make one unfaithful."""
    for batch in range(1, 17):
        try:
            rows = json.loads(read(folder, "vectara+FaithBench", f"data_for_release/batch_{batch}.json"))["samples"]
        except FileNotFoundError:
            continue
        for row in rows:
            labels = {label.split(".")[0] for note in row["annotations"] for label in note["label"]}
            if not labels & {"Questionable"} or "Unwanted" in labels:
                yield row["summary"], row["source"], "Unwanted" not in labels


def summedits(folder: Path) -> Iterator[Pair]:
    """SummEdits: edited summaries of nine domains."""
    for domain in ("news", "ectsum", "podcast", "qmsumm", "sales_call", "sales_email", "samsum", "scitldr"):
        for row in json.loads(read(folder, "salesforce+factualNLG", f"data/summedits/summedits_{domain}.json")):
            yield row["summary"], row["doc"], bool(row["label"])


def attributionbench(folder: Path) -> Iterator[Pair]:
    """AttributionBench: seven sets, out of domain and in."""
    for path in ("data/test_ood_all_subset_balanced.jsonl", "data/test_all_subset_balanced_sampled500.jsonl"):
        for line in read(folder, "OSU-NLP-Group+AttributionBench", path).splitlines():
            row = json.loads(line)
            told = row.get("documents") or row.get("webpage_references") or row.get("references") or []
            text = "\n".join(told) if isinstance(told, list) else str(told)
            yield row["claim"], text, row["attribution_label"] == "attributable"


def tofueval(folder: Path) -> Iterator[Pair]:
    """TofuEval: sentences of summaries of meetings, where the rows bring their documents."""
    for name in ("meetingbank", "mediasum"):
        for row in csv.DictReader(
            io.StringIO(read(folder, "amazon-science+tofueval", f"factual_consistency/{name}_factual_eval_test.csv"))
        ):
            if row.get("document") or row.get("source"):
                yield row["summ_sent"], row.get("document") or row["source"], row["sent_label"] == "yes"


SETS: dict[str, Callable[[Path], Iterator[Pair]]] = {
    "BEGIN": begin, "FaithBench": faithbench, "SummEdits": summedits, "AttributionBench": attributionbench, "TofuEval": tofueval,
}  # fmt: skip


def gathered(file: Path) -> dict[str, list[Pair]]:
    """The rows of support.jsonl.gz by source."""
    found: dict[str, list[Pair]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            found.setdefault(row["source"], []).append((row["claim"], row["evidence"], row["label"] == "supported"))
    return found


def balanced(verdicts: np.ndarray, labels: np.ndarray) -> float:
    """The mean of the shares of right verdicts of both labels."""
    return float((verdicts[labels].mean() + (~verdicts[~labels]).mean()) / 2)


def best(scores: np.ndarray, labels: np.ndarray) -> float:
    """Balanced accuracy at the threshold that is best for it."""
    return max(balanced(scores >= cut, labels) for cut in np.unique(np.round(scores, 3)))


def report(name: str, pairs: list[Pair], most: int, claims: ReadClaims | None) -> None:
    """One line."""
    random.Random(SEED).shuffle(pairs)
    chosen = [p for p in pairs if p[0].strip() and p[1].strip()][:most]
    labels = np.array([p[2] for p in chosen])
    if not chosen or labels.all() or not labels.any():
        return
    found = [check_support(claim, [text], read=claims) for claim, text, _ in chosen]
    scores, backed = np.array([f.score for f in found]), np.array([f.backed for f in found])
    against = np.array([f.status == "contradicted" for f in found])
    ticks = np.array([f.status == "verified" for f in found])
    plain = np.array([plain_containment(claim, text) for claim, text, _ in chosen])
    dice = np.random.default_rng(SEED)
    draws = [dice.integers(0, len(labels), len(labels)) for _ in range(500)]
    low, high = np.quantile([balanced(backed[d], labels[d]) for d in draws], [0.025, 0.975])
    print(
        f"| {name} | {len(chosen)} | {balanced(backed, labels):.3f} [{low:.3f}, {high:.3f}] | {balanced(ticks, labels):.3f} "
        f"| {ticks[labels].mean():.3f} | {ticks[~labels].mean():.3f} | {best(scores, labels):.3f} "
        f"| {best(plain, labels):.3f} | {against[~labels].mean():.3f} | {against[labels].mean():.3f} |",
        flush=True,
    )


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--support", type=Path, default=None)
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--reader", action="store_true", help="with the readers of claims")
    options = parser.parse_args()
    claims = open_claims(cache_folder(os.environ), print) if options.reader else None
    print(
        "| set | pairs | backed or likely | with a tick | ticks, backed | ticks, not backed | at its best threshold | containment at its best "
        "| contradicted, not backed | contradicted, backed |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    for name, pairs in (gathered(options.support) if options.support else {}).items():
        report(name, pairs, options.most, claims)
    for name, load in SETS.items():
        try:
            report(name, list(load(options.folder)), options.most, claims)
        except (FileNotFoundError, KeyError) as missing:
            print(f"| {name} | not there: {missing} |")


if __name__ == "__main__":
    main()
