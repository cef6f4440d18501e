"""A claim and the texts it cites → how far they back it, in [0, 1]. Pure; deterministic.

`support_score` needs nothing but the texts. Words said, and how closely together, are weighed by a small logistic model
with fixed signs (weights.json; benchmarks/support.py --fit made it); what is exact then can only lower the score:
a number, date or unit that is not said, a negation that is not there, a word exchanged in an otherwise copied sentence.
With an encoder the meaning of the nearest sentences counts as well, where words are exchanged for others.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from kb.arrays import Encode
from kb.language.quantities import Facts, facts_of, join_facts, missing_facts
from kb.support.claims import find_claims, plain_text
from kb.support.overlap import Window, best_window, initials_of, pair_share, said_share, units_of, weights_of
from kb.support.polarity import contradicts, polarity_of
from kb.support.substitution import exchanged_words

# A claim is backed from here on: the probability that the fitted model gives it.
VERIFIED = 0.5
# Below this, nothing speaks for it; between the two it is weak.
WEAK = 0.25
# What is exact and wrong overrules every word in common: such a claim stays below WEAK, ordered by the rest.
CONTRADICTED = 0.2
# A sentence that says less of the claim than this may well speak of something else, and deny that.
SAME_MATTER = 0.6
# From this share of its words and neighbours on a claim is a copy: its meaning needs no encoder.
COPIED = 0.95
# What is longer is a table, a list or a log, where a negation is of some row only.
LONGEST_SENTENCE_CHARS = 350
# Between these, words leave a claim open, and its meaning is worth an encoding while a user waits.
OPEN_FROM, OPEN_TO = 0.1, 0.9
# The sentences of the evidence that are encoded for each claim: those with most of its words.
ENCODED_SENTENCES = 2
# Beyond so many open claims one sentence each has to do while a user waits: a text takes 4 to 6 ms.
MANY_CLAIMS = 2

FEATURES = ("said", "window", "pairs", "names", "elsewhere", "cosine")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found out about one claim.

    said       weighted share of its content words that the texts say anywhere
    window     the same of its best window of each text, taken together
    pairs      share of its neighbouring words that stand together
    names      share of its names that are said nowhere
    elsewhere  1 when its numbers are said, but not near the rest of it
    cosine     of the claim to the nearest sentence, None where no encoder was asked
    faults     why it cannot hold, as words for a message: what is exact and wrong
    windows    the best window of each text, in order
    """

    said: float
    window: float
    pairs: float
    names: float
    elsewhere: float
    cosine: float | None
    faults: tuple[str, ...]
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of the logistic model; see FEATURES."""

    bias: float
    weights: tuple[float, ...]


# Chosen on ClapNQ answers with and without a sentence of another answer (benchmarks/support.py).
MEAN_SHARE = 0.5

SupportStatus = Literal["verified", "weak", "unsupported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedSentence:
    """One sentence of a claim: what became of it; reasons say what is exact and wrong."""

    text: str
    status: SupportStatus
    score: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How far texts back a claim.

    score   in [0, 1]; backed from `threshold` on
    """

    schema_version: Literal["support.v1"] = "support.v1"
    score: float
    threshold: float
    backed: bool
    status: SupportStatus
    sentences: tuple[SupportedSentence, ...]


def support_score(claim: str, evidence: Sequence[str], encode: Encode | None = None) -> float:
    """How far texts back a claim, all of them together: a probability in [0, 1], backed from VERIFIED (0.5) on.

    A claim of several sentences is as good as its weakest and its average one in equal parts. Markers in it are ignored.

    claim     free text, Markdown allowed
    evidence  the texts; none back nothing
    encode    texts → (n, d) unit vectors; None goes by words alone
    """
    return check_support(claim, evidence, encode).score


def check_support(claim: str, evidence: Sequence[str], encode: Encode | None = None) -> Support:
    """`support_score` with its sentences."""
    sentences = [c.text for c in find_claims(claim)] or [plain_text(claim)]
    read = read_claims(sentences, [tuple(evidence)] * len(sentences), encode)
    scores = [score for score, _ in read]
    weights = [max(1, len(weights_of(sentence))) for sentence in sentences]
    mean = sum(s * w for s, w in zip(scores, weights, strict=True)) / sum(weights)
    score = MEAN_SHARE * mean + (1 - MEAN_SHARE) * min(scores)
    return Support(
        score=round(score, 6),
        threshold=VERIFIED,
        backed=score >= VERIFIED,
        status=status_of(score),
        sentences=tuple(
            SupportedSentence(
                text=text, status=status_of(s), score=round(s, 6), reasons=reading.faults if s < VERIFIED else ()
            )
            for text, (s, reading) in zip(sentences, read, strict=True)
        ),
    )


def status_of(score: float) -> SupportStatus:
    """What a score means."""
    return "verified" if score >= VERIFIED else "weak" if score >= WEAK else "unsupported"


def read_claims(
    claims: Sequence[str],
    evidence: Sequence[tuple[str, ...]],
    encode: Encode | None = None,
    *,
    open_only: bool = False,
) -> list[tuple[float, Reading]]:
    """(score, reading) of sentences, each against its own texts; sentences of all claims are encoded in one batch.

    open_only  encode only those that words leave open
    """
    readings = [read_claim(claim, texts) for claim, texts in zip(claims, evidence, strict=True)]
    asked = [
        bool(texts)
        and not reading.faults
        and min(reading.window, reading.pairs) < COPIED
        and (_is_open(reading) or not open_only)
        for texts, reading in zip(evidence, readings, strict=True)
    ]
    most = 1 if open_only and sum(asked) > MANY_CLAIMS else ENCODED_SENTENCES
    cosines = _cosines(claims, evidence, asked, encode, most) if encode else [None] * len(readings)
    out = []
    for reading, cosine in zip(readings, cosines, strict=True):
        complete = _with_cosine(reading, cosine)
        out.append((score_of(complete), complete))
    return out


def read_claim(claim: str, texts: Sequence[str]) -> Reading:
    """Everything about one sentence that words tell; cosine None."""
    weights = weights_of(claim)
    windows = tuple(best_window(claim, text) for text in texts)
    parts = [text[w.start : w.end] for text, w in zip(texts, windows, strict=True)]
    joined = " ".join(initials_of(text) for text in texts)
    said = said_share(weights, [t for text in texts for unit in units_of(text) for t in unit.terms], joined)
    near = said_share(weights, [t for part in parts for unit in units_of(part) for t in unit.terms], joined)
    claimed = facts_of(claim)
    numbers, names, far_numbers = _missing(claimed, texts, parts)
    nearest = max(zip(windows, parts, strict=True), key=lambda pair: pair[0].said, default=None)
    faults = [f"{number} is not there" for number in numbers]
    if nearest is not None:
        faults += _faults_against(claim, nearest[1])
    return Reading(
        said=said,
        window=near,
        pairs=pair_share(claim, texts),
        names=len(names) / len(claimed.names) if claimed.names else 0.0,
        elsewhere=float(bool(far_numbers)),
        cosine=None,
        faults=tuple(faults),
        windows=windows,
    )


def _missing(claimed: Facts, texts: Sequence[str], parts: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """(numbers said nowhere, names said nowhere, numbers said outside the windows only)."""
    if not claimed.has_any():
        return [], [], []
    numbers, names = missing_facts(claimed, join_facts([facts_of(text) for text in texts]))
    has_numbers = bool(claimed.quantities or claimed.dates or claimed.times)
    if numbers or not has_numbers:
        return numbers, names, []
    return numbers, names, missing_facts(claimed, join_facts([facts_of(part) for part in parts]))[0]


def _faults_against(claim: str, window: str) -> list[str]:
    """What the nearest sentence of the window denies, or says with another word in its place."""
    sentences = [window[unit.start : unit.end] for unit in units_of(window)]
    if not sentences:
        return []
    weights = weights_of(claim)
    nearest = max(
        sentences, key=lambda s: (said_share(weights, [t for u in units_of(s) for t in u.terms], ""), -len(s))
    )
    faults = []
    share = said_share(weights, [t for unit in units_of(nearest) for t in unit.terms], "")
    is_sentence = max(len(claim), len(nearest)) <= LONGEST_SENTENCE_CHARS
    if share >= SAME_MATTER and is_sentence and contradicts(polarity_of(claim), polarity_of(nearest)):
        faults.append("a negation is there, or here, only")
    faults += [f"'{ours}' stands for '{theirs}'" for ours, theirs in exchanged_words(claim, nearest)]
    return faults


def score_of(reading: Reading) -> float:
    """The model's probability, held under CONTRADICTED where something exact is wrong."""
    model = load_models()["words" if reading.cosine is None else "cosine"]
    values = features_of(reading)
    z = model.bias + sum(w * v for w, v in zip(model.weights, values, strict=True))
    probability = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))
    return probability * CONTRADICTED if reading.faults else probability


def features_of(reading: Reading) -> tuple[float, ...]:
    """The model's inputs, in the order of FEATURES; a cosine that was not asked for is 0."""
    return (
        reading.said,
        reading.window,
        reading.pairs,
        reading.names,
        reading.elsewhere,
        reading.cosine if reading.cosine is not None else 0.0,
    )


@lru_cache(maxsize=1)
def load_models() -> dict[str, Model]:
    """The fitted weights: "words" without an encoder, "cosine" with one."""
    stored = json.loads((Path(__file__).parent / "weights.json").read_text(encoding="utf-8"))
    return {
        name: Model(float(m["bias"]), tuple(float(m["weights"][feature]) for feature in FEATURES))
        for name, m in stored["models"].items()
    }


def _with_cosine(reading: Reading, cosine: float | None) -> Reading:
    return reading if cosine is None else replace(reading, cosine=cosine)


def _is_open(reading: Reading) -> bool:
    return OPEN_FROM < score_of(reading) < OPEN_TO


def _cosines(
    claims: Sequence[str], evidence: Sequence[tuple[str, ...]], asked: Sequence[bool], encode: Encode, most: int
) -> list[float | None]:
    """Cosine of each claim that is asked to the nearest of its likeliest sentences; None for the others."""
    wanted = {i: likeliest_sentences(claims[i], evidence[i])[:most] for i in range(len(claims)) if asked[i]}
    batch = list(dict.fromkeys(text for i, found in wanted.items() for text in (claims[i], *found)))
    if not batch:
        return [None] * len(claims)
    vectors = encode(batch)
    place = {text: row for row, text in enumerate(batch)}
    cosines: list[float | None] = [None] * len(claims)
    for i, found in wanted.items():
        own = vectors[place[claims[i]]]
        cosines[i] = max((float(vectors[place[text]] @ own) for text in found), default=0.0)
    return cosines


def likeliest_sentences(claim: str, texts: Sequence[str]) -> list[str]:
    """The ENCODED_SENTENCES sentences that say most of a claim; ties in reading order."""
    weights = weights_of(claim)
    ranked = [
        (said_share(weights, unit.terms, ""), -at, text[unit.start : unit.end])
        for text in texts
        for at, unit in enumerate(units_of(text))
    ]
    return [sentence for _, _, sentence in sorted(ranked, key=lambda row: (-row[0], -row[1]))[:ENCODED_SENTENCES]]
