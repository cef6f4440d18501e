"""Measures the evidence gate: does its score tell answerable questions from others, and what does the default gate refuse?

    python benchmarks/gate.py [DATA_FOLDER] [--encoder MODEL] [--only CORPUS…] [--titles FOLDER] [--as-made] [--seconds N] [--fit]
        [--groups] [--latency]

Cases come from gate_sets.py, each asked of a real home through the real search (gate_features.py keeps their signals on
disk). Every figure is out of fold: scored by weights fitted without the question's whole set, or, where a language has one
set, without its gold document. --fit also writes these weights, from all cases, into kb/evidence/weights.json, beside
those of other encoders; the fixture suite and gate_korean.yaml are never fitted on. --groups compares sets of signals. --latency times what the gate adds to
an ask on a home of 20,000 real chunks.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gate_features import Weighed, weigh_all
from gate_fit import RECIPES, Fitted, Vector, case_weights, fit, is_fitted_on, language_of, out_of_fold
from gate_groups import print_groups
from gate_latency import print_latency
from gate_sets import (
    ACROSS,
    ANSWERABLE,
    NEAR,
    NOT_SAID,
    REMOVED,
    SAME_TOPIC,
    WRONG,
    Case,
    home_of,
    load_cases,
    open_homes,
    read_papers,
    read_titles,
    verdict_of,
)
from scipy.stats import rankdata

from kb.ask.judge import least_probability
from kb.config import Config
from kb.evidence.gate import ACROSS as IN_ANOTHER
from kb.evidence.gate import KOREAN, MOST_ACROSS, READ, READ_TWICE, SPREAD, WORDS, load_models
from kb.evidence.records import Signals

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = ROOT / "kb/evidence/weights.json"
GATE, SURE = Config().rag.evidence_gate, Config().rag.sure_gate
BOOTSTRAPS = 1000
# What the gate is set by: the share of answerable questions that it may refuse.
FALSE_REFUSALS = 0.05
BINS = 10
PAPERS = tuple(map(home_of, read_papers()))


def auc(good: Vector, bad: Vector) -> float:
    """Share of pairs in order, ties half; NaN without a pair."""
    if not len(good) or not len(bad):
        return float("nan")
    ranks = rankdata(np.r_[good, bad])
    return float((ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad)))


def auc_interval(good: Vector, bad: Vector) -> tuple[float, float]:
    """95 % interval, cases resampled."""
    generator = np.random.default_rng(0)
    found = [auc(generator.choice(good, len(good)), generator.choice(bad, len(bad))) for _ in range(BOOTSTRAPS // 5)]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Kind:
    """One row of the report: which cases are told from which."""

    title: str
    good: Vector
    bad: Vector


def kinds_of(cases: Sequence[Case]) -> Iterator[Kind]:
    """Answerable against each kind of the same sets."""
    sets, kinds = np.array([c.set for c in cases]), np.array([c.kind for c in cases])
    languages = np.array([language_of(c) for c in cases])
    own = np.array([not c.set.startswith("fixtures") for c in cases])
    for language, groups in (
        (
            "en",
            (
                ("same topic", SAME_TOPIC, ("clapnq", "reader-en")),
                ("same topic, ClapNQ", SAME_TOPIC, ("clapnq",)),
                ("same topic, others", SAME_TOPIC, ("reader-en",)),
                ("papers that do not say it", NOT_SAID, PAPERS),
                ("near miss", NEAR, ()),
                ("wrong corpus", WRONG, ()),
                (
                    "gold removed",
                    REMOVED,
                    ("clapnq", "finance", "pubmed", "wikitexts", "state_of_the_union", "chatlogs"),
                ),
            ),
        ),
        (
            "ko",
            (
                ("not in the passages", SAME_TOPIC, ("reader-ko",)),
                ("near miss", NEAR, ("reader-ko",)),
                ("papers that do not say it", NOT_SAID, PAPERS),
                ("wrong corpus", WRONG, ("reader-ko",)),
                ("written for kb, near miss", NEAR, ("korean",)),
                ("written for kb, wrong corpus", WRONG, ("korean",)),
            ),
        ),
    ):
        for title, kind, names in groups:
            chosen = np.isin(sets, names) if names else ~np.isin(sets, ("korean", *PAPERS))
            mine = own & (languages == language) & chosen
            good, found = np.flatnonzero(mine & (kinds == ANSWERABLE)), mine & (kinds == kind)
            foreign = np.array([c.home.endswith("-ko") != (language == "ko") for c in cases])
            for bad, where in ((found & ~foreign, ""), (found & foreign, ", documents in another language")):
                if len(good) and bad.any():
                    yield Kind(f"{language}: {title}{where}", good, np.flatnonzero(bad))
    for language in ("en", "ko"):
        mine = sets == f"fixtures-{language}"
        good, bad = np.flatnonzero(mine & (kinds == ANSWERABLE)), np.flatnonzero(mine & (kinds != ANSWERABLE))
        if len(good) and len(bad):
            yield Kind(f"{language}: fixture suite", good, bad)
        across = np.flatnonzero((sets == ACROSS) & (languages == language) & (kinds == ANSWERABLE))
        if len(across) and len(bad):
            yield Kind(f"{language}: the same, across languages", across, bad)


def print_kinds(cases: Sequence[Case], scores: Vector, floors: Vector, title: str) -> None:
    """AUC with its interval; refused, and not answered, at the default gates; at FALSE_REFUSALS of the row's own answerable cases.

    floors  per case, what its score must reach because no passage holds one of its words: what an ask refuses counts as refused
    """
    told = np.where(scores < floors, 0.0, scores)
    print(
        f"\n{title}\n{'':34}    cases  AUC [95 %]            refused at {GATE:g} (falsely)"
        f"   not answered at {SURE:g} (falsely)   refused at 5 % falsely, without the rule for lacking words"
    )
    for kind in kinds_of(cases):
        good, bad = scores[kind.good], scores[kind.bad]
        low, high = auc_interval(good, bad)
        at = np.quantile(good, FALSE_REFUSALS)
        shares = " ".join(
            f"{(told[kind.bad] < gate).mean():7.1%} ({(told[kind.good] < gate).mean():5.1%}) {'':10}"
            for gate in (GATE, SURE)
        )
        print(
            f"{kind.title:<34} {len(good):4}/{len(bad):<4} {auc(good, bad):.3f} [{low:.3f}, {high:.3f}]"
            f"   {shares} {(bad < at).mean():6.1%} (gate {at:.2f})"
        )


def print_answerable(cases: Sequence[Case], scores: Vector, floors: Vector) -> None:
    """False refusals of every set at the default gate."""
    print("False refusals by set: ", end="")
    least = np.maximum(floors, GATE)
    for name in dict.fromkeys(c.set for c in cases):
        rows = [i for i, c in enumerate(cases) if c.set == name and c.is_answerable]
        if rows:
            print(f"{name} {(scores[rows] < least[rows]).mean():.1%} of {len(rows)}", end=" · ")
    print()


def print_calibration(cases: Sequence[Case], scores: Vector, name: str) -> None:
    """Expected calibration error, cases weighted as they are fitted: half of the weight is answerable."""
    rows = [i for i, c in enumerate(cases) if is_fitted_on(c, RECIPES[name])]
    weights = case_weights([cases[i] for i in rows], RECIPES[name])
    mine, answers = scores[rows], np.array([cases[i].is_answerable for i in rows])
    bins = np.minimum((mine * BINS).astype(int), BINS - 1)
    error, line = 0.0, []
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            predicted, observed = (np.average(v[inside], weights=weights[inside]) for v in (mine, answers))
            error += weights[inside].sum() / weights.sum() * abs(predicted - observed)
            line.append(f"{predicted:.2f}→{observed:.2f}")
    print(f"Calibration error {error:.3f}: {' '.join(line)}")


# ---- weights


def to_json(fitted: Fitted) -> dict[str, object]:
    """Weights of less than a hundredth are dropped: bounded fits leave them at 0."""
    kept = {n: (w, t) for n, w, t in zip(fitted.names, fitted.weights, fitted.typical, strict=True) if w >= 0.01}
    return {
        "weights": {name: round(float(w), 4) for name, (w, _) in kept.items()},
        "typical": {name: round(float(t), 4) for name, (_, t) in kept.items()},
        "intercept": round(fitted.intercept, 4),
    }


def signals_for(weighed: Sequence[Weighed], name: str) -> list[Signals]:
    """The signals that a set of weights is fitted on and asked with."""
    if READ in name:  # so it is in READ_TWICE
        return [w.read or w.hybrid for w in weighed]
    return [w.lexical if name.startswith(WORDS) else w.hybrid for w in weighed]


def can_fit(weighed: Sequence[Weighed], name: str) -> bool:
    """Whether there are cases: without a reader of its language, or an encoder of it, a set of weights has none."""
    recipe = RECIPES[name]
    mine = [s for w, s in zip(weighed, signals_for(weighed, name), strict=True) if is_fitted_on(w.case, recipe)]
    needed = [s.reader for s in mine] if READ in name else []
    needed += [s.second_reader for s in mine] if READ_TWICE in name else []
    needed += [s.cosine for s in mine] if not name.startswith(WORDS) else []
    return bool(mine) and sum(value is None for value in needed) < len(mine) / 10


def write_weights(weighed: Sequence[Weighed], encoder: tuple[str, str], readers: dict[str, list[str]]) -> None:
    """Fit on every case that may be fitted on, and write the package's file; other encoders' weights stay."""
    kept = json.loads(WEIGHTS.read_text(encoding="utf-8"))["models"]
    cases = [w.case for w in weighed]
    for name in RECIPES:
        if not can_fit(weighed, name):
            continue
        recipe = RECIPES[name]
        signals = signals_for(weighed, name)
        rows = [i for i, case in enumerate(cases) if is_fitted_on(case, recipe)]
        fitted = to_json(fit([cases[i] for i in rows], [signals[i] for i in rows], recipe))
        if name.startswith("vectors"):
            kept[name.replace("vectors", encoder[1])] = {"encoder": encoder[0]} | fitted
        else:
            kept[name] = fitted
    made = {"made_by": "benchmarks/gate.py --fit", "cases": len(cases), "readers": readers, "models": kept}
    WEIGHTS.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Weigh all cases, then fit or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--encoder", default=Config().embedding.model, help="whose weights are fitted")
    parser.add_argument("--only", nargs="*", default=(), metavar="CORPUS", help="corpora; all when left out")
    parser.add_argument("--titles", type=Path, help="files in SQuAD's form, for the titles that the reader's rows lack")
    parser.add_argument("--as-made", action="store_true", help="report on those too whose label raters contradict")
    parser.add_argument("--seconds", type=float, default=math.inf, help="weigh new cases for so long, then go on")
    parser.add_argument("--fit", action="store_true", help="write the weights too")
    parser.add_argument("--groups", action="store_true", help="what each group of signals is worth, nothing else")
    parser.add_argument("--latency", action="store_true", help="time what the gate adds, nothing else")
    chosen = parser.parse_args()
    if not (chosen.data / "clapnq").is_dir():
        parser.error(f"no {chosen.data / 'clapnq'}")
    began = time.perf_counter()
    config = replace(Config(), embedding=replace(Config().embedding, model=chosen.encoder))
    homes = open_homes(chosen.data, chosen.only, config, read_titles(chosen.titles) if chosen.titles else None)
    if chosen.latency:
        print_latency(homes)
        return
    kept_in = "gate-titled" if chosen.titles else "gate"
    weighed = weigh_all(load_cases(chosen.data, homes, as_made=chosen.as_made), homes, chosen.seconds, kept_in)
    judged = [
        w.case
        for w in weighed
        if w.case.kind != WRONG and w.case.set != "korean" and not w.case.set.startswith(("fixtures", "papers-"))
    ]
    unjudged = sum(verdict_of(case) is None for case in judged)
    print(f"{len(weighed)} cases; of {len(judged)} to be judged {unjudged} have no verdict", file=sys.stderr)
    if chosen.fit:
        model_id, digest, _ = homes["clapnq"].stored_encoder()
        asked = {"en": "Who asks?", "ko": "누가 묻나요?"}
        readers = {
            code: [reader.digest for reader in homes["clapnq"].readers_for(text)] for code, text in asked.items()
        }
        write_weights(weighed, (model_id, digest), readers)
    if chosen.groups:
        print_groups(weighed)
        return
    report(weighed, chosen.encoder, next(iter(homes.values())).stored_encoder()[1])
    print(f"{time.perf_counter() - began:.0f} s in all", file=sys.stderr)


def scores_across(weighed: Sequence[Weighed], digest: str) -> Vector:
    """What the nearness of passages in another language gives each case at least, by weights that none of them was fitted to."""
    scores = []
    for each in weighed:
        signals = each.read or each.hybrid
        model = load_models().get(f"{digest}{IN_ANOTHER}/{language_of(each.case)}")
        scores.append(min(MOST_ACROSS, model.probability(signals)) if model and signals.subject is not None else 0.0)
    return np.array(scores)


def report(weighed: Sequence[Weighed], encoder: str, digest: str) -> None:
    """Every table, each question by the weights that an ask would take for it."""
    cases = [w.case for w in weighed]
    across = scores_across(weighed, digest)
    floors = np.array([least_probability(*w.lacking, w.case.question) for w in weighed])
    korean = np.array([language_of(c) == "ko" for c in cases])
    scores = {
        # Beside papers Korean has one set, whose weights are not those of papers alone.
        name: out_of_fold(cases, signals_for(weighed, name), RECIPES[name], by_set=not RECIPES[name].papers)
        for name in RECIPES
        if can_fit(weighed, name)
    }

    read = [w.read or w.hybrid for w in weighed]
    times_read = np.array([0 if s.reader is None else 1 if s.second_reader is None else 2 for s in read])
    only_across = np.array([s.subject is not None and s.packed_coverage is None for s in read])

    def as_read(found: dict[str, Vector], name: str) -> Vector:
        """The scores of a set of weights; of a question that fewer readers have read, as across languages, those of fewer."""
        kind, by = (
            name.partition("+")[0],
            {READ_TWICE: 2, READ: 1}.get(name[name.find("+") :] if "+" in name else "", 0),
        )
        chosen = found[name]
        for fewer, suffix in ((1, READ), (0, "")):
            if fewer < by and f"{kind}{suffix}" in found:
                chosen = np.where(times_read <= fewer, found[f"{kind}{suffix}"], chosen)
        return chosen

    def of_korean(name: str) -> Vector:
        kind, _, readers = name.partition("+")
        read = READ if readers else ""
        wanted = (f"{kind}{read}{KOREAN}", f"{kind}{KOREAN}", f"words{read}{KOREAN}", f"words{KOREAN}")
        return next(scores[each] for each in wanted if each in scores)

    by_document = {
        name: out_of_fold(cases, signals_for(weighed, name), RECIPES[name], by_set=False)
        for name in (f"vectors{READ_TWICE}", f"vectors{READ}", "vectors")
        if name in scores
    }
    for name, found in by_document.items():
        own = np.where(korean, of_korean(name), as_read(by_document, name))
        both = np.where(only_across, across, np.maximum(own, across))
        print_kinds(cases, both, floors, f"{encoder}, {name}, fitted without the question's document alone")
        print_answerable(cases, both, floors)
        print_calibration(cases, found, name)
    for name, title in (
        (f"vectors{READ_TWICE}", f"{encoder} and both readers"),
        (f"vectors{READ}", f"{encoder} and the reader"),
        ("vectors", f"{encoder} without a reader"),
        (f"words{READ_TWICE}", "words and both readers"),
        (f"words{READ}", "words and the reader"),
        ("words", "words alone"),
    ):
        if name in scores:
            both = np.where(korean, of_korean(name), as_read(scores, name))
            if name.startswith("vectors"):
                both = np.where(only_across, across, np.maximum(both, across))
            print_kinds(cases, both, floors, title)
            print_answerable(cases, both, floors)
            print_calibration(cases, scores[name], name)
    for name in (f"vectors{KOREAN}", f"words{KOREAN}", f"vectors{READ}{KOREAN}", f"words{READ}{KOREAN}"):
        if name in scores:
            print(f"\nKorean, {name}")
            print_calibration(cases, scores[name], name)
    spread = out_of_fold(cases, signals_for(weighed, SPREAD), RECIPES[SPREAD], by_set=True)
    for name in ("words", f"words{READ}", f"words{READ_TWICE}"):
        if name in scores:
            print_kinds(
                cases, np.fmax(scores[name], spread), floors, f"As for an encoder without weights: {name}, or margin"
            )


if __name__ == "__main__":
    main()
