"""A claim and the texts it cites → how well they support it, in [0, 1]. Pure; deterministic.

A small logistic model with fixed signs (weights.json, fitted by benchmarks/support.py --fit) weighs the claim's words that
the texts hold, and how close together they stand. Exact checks then can only lower the score: a number, date or unit that
is missing, a negation on one side only, a word exchanged in an otherwise copied sentence. With an encoder the cosine to the
nearest sentences counts too, for paraphrases. With a reader of claims its probability counts most.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from kb.arrays import Encode, ReadClaims
from kb.frozen import dataclass
from kb.language.quantities import Facts, facts_of, join_facts, missing_facts
from kb.language.registry import has_letters
from kb.support.claims import find_claims, plain_text, without_lead
from kb.support.endings import restate_ending
from kb.support.faults import Found, find_faults, is_copy
from kb.support.numbers import restate_numbers
from kb.support.overlap import Window, best_window, initials_of, pair_share, said_share, units_of, weights_of

# A claim with at least this probability counts as supported.
VERIFIED = 0.5
# One in other words than the texts' counts as sure from here on, and as likely between the two: below it a reader of claims is wrong too
# often for a tick (benchmarks/verdicts.py has the shares). The Korean one is less sure of all it reads.
SURE, KOREAN_SURE = 0.95, 0.9
# And the reader itself has to be as sure: the words of a near copy with something changed speak for it, where they should not.
READER_SURE = 0.945
# Below this a claim is unsupported; between the two it is weak.
WEAK = 0.25
# The factor for a claim with a fault: it stays below WEAK, whatever words are in common.
CONTRADICTED = 0.2
# A claim with a name or a clause that no text holds reaches no more.
PARTLY = 0.45
# A claim with this share of its words and word pairs is a copy: it needs no encoder, the checks are exact there.
COPIED = 0.95
# From this probability on a reader outweighs doubts about denials, exceptions and numbers where less than NEAR_COPY of the claim is the
# texts' own words: other words may say the same ("is constant", "does not vary"). The claim is likely then, never sure.
OUTWEIGHED, NEAR_COPY = 0.9, 0.8
# Below it a reader is believed of a copy whose words stand in another order, too: they may belong to something else.
DOUBTED_COPY = 0.8
# Scores by words between which a claim is encoded while a user waits.
OPEN_FROM, OPEN_TO = 0.1, 0.9
# Where no exact check failed, and a reader does not find the claim in the texts.
NOT_FOUND = "the text does not seem to say this"
# Sentences of the evidence encoded for each claim: those with most of its words.
ENCODED_SENTENCES = 2
# With more open claims only one sentence each is encoded while a user waits: a text takes 4 to 6 ms.
MANY_CLAIMS = 2

FEATURES = ("said", "window", "pairs", "names", "elsewhere", "cosine")
# Of a claim that a reader has read: its logit; where the texts lack a name or a clause of it, how near a copy it is otherwise,
# for a reader does not see a word exchanged in a copy; and the logit by words.
READ = ("reader", "unsaid", "words")
FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Reading:
    """The features of one claim.

    said       weighted share of its content words that the texts hold anywhere
    window     the same for its best windows of all texts together
    pairs      share of its neighbouring words that stand near each other in a text
    names      share of its names that no text holds
    elsewhere  1 when its numbers are in a text, but outside the best windows
    cosine     of the claim to the nearest sentence; None without an encoder
    found      what the texts say against it, and what of it they do not say
    windows    the best window of each text, in order
    reader     the probability that a model gives which has read claim and texts together; None without one
    is_korean  whether the claim is; another reader reads it then
    outweighed whether the reader outweighs an exact check, which is not in `found` any more
    """

    said: float
    window: float
    pairs: float
    names: float
    elsewhere: float
    cosine: float | None
    found: Found
    windows: tuple[Window, ...]
    reader: float | None = None
    is_korean: bool = False
    outweighed: bool = False

    @property
    def faults(self) -> tuple[str, ...]:
        """What is exact and wrong: said otherwise, or a number that is not there."""
        return (*self.found.against, *self.found.absent)


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of the logistic model; see FEATURES."""

    bias: float
    weights: tuple[float, ...]


# The share of the mean, against the minimum, in the score of several sentences; chosen on ClapNQ answers with and without
# a sentence of another answer (benchmarks/support.py).
MEAN_SHARE = 0.5

SupportStatus = Literal["verified", "likely", "weak", "contradicted", "unsupported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedSentence:
    """The result for one sentence of a claim; reasons say why it is not backed."""

    text: str
    status: SupportStatus
    score: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How well texts support a claim.

    score   in [0, 1]; backed when it reaches `threshold`, and no sentence is contradicted
    """

    schema_version: Literal["support.v1"] = "support.v1"
    score: float
    threshold: float
    backed: bool
    status: SupportStatus
    sentences: tuple[SupportedSentence, ...]


def support_score(
    claim: str, evidence: Sequence[str], encode: Encode | None = None, read: ReadClaims | None = None
) -> float:
    """The probability in [0, 1] that texts together support a claim; VERIFIED (0.5) and more counts as supported.

    The score of several sentences is the mean of their average and their minimum. Markers in the claim are ignored.

    claim     free text, Markdown allowed
    evidence  the texts; without any the claim is unsupported
    encode    None goes without vectors
    read      None goes without a reader of claims
    """
    return check_support(claim, evidence, encode, read).score


def check_support(
    claim: str, evidence: Sequence[str], encode: Encode | None = None, read: ReadClaims | None = None
) -> Support:
    """`support_score` with the result of each sentence."""
    sentences = [c.text for c in find_claims(claim)] or [plain_text(claim)]
    found = read_claims(sentences, [tuple(evidence)] * len(sentences), encode, read)
    scores = [score for score, _ in found]
    weights = [max(1, len(weights_of(sentence))) for sentence in sentences]
    mean = sum(s * w for s, w in zip(scores, weights, strict=True)) / sum(weights)
    score = MEAN_SHARE * mean + (1 - MEAN_SHARE) * min(scores)
    status = _status_of_all(score, found)
    return Support(
        score=round(score, 6),
        threshold=VERIFIED,
        backed=status in ("verified", "likely"),
        status=status,
        sentences=tuple(
            SupportedSentence(
                text=text,
                status=status_of(s, reading),
                score=round(s, 6),
                reasons=reasons_of(s, reading),
            )
            for text, (s, reading) in zip(sentences, found, strict=True)
        ),
    )


def status_of(score: float, reading: Reading) -> SupportStatus:
    """The status for a score: backed, likely to be, partly backed, or not; contradicted where the texts say otherwise."""
    if reading.found.against:
        return "contradicted"
    if score >= VERIFIED:
        return "verified" if _is_sure(score, reading) else "likely"
    return "weak" if score >= WEAK else "unsupported"


def _is_sure(score: float, reading: Reading) -> bool:
    if reading.reader is None:
        return True
    sure = KOREAN_SURE if reading.is_korean else SURE
    return not reading.outweighed and score >= sure and reading.reader >= READER_SURE


def _status_of_all(score: float, found: Sequence[tuple[float, Reading]]) -> SupportStatus:
    if any(reading.found.against for _, reading in found):
        return "contradicted"
    if score >= VERIFIED:
        return "verified" if all(status_of(s, reading) == "verified" for s, reading in found) else "likely"
    return "weak" if score >= WEAK else "unsupported"


def reasons_of(score: float, reading: Reading) -> tuple[str, ...]:
    """Why a claim with this score is not backed, in words; empty for one that is."""
    if score >= VERIFIED:
        return ()
    return reading.found.reasons() or ((NOT_FOUND,) if reading.reader is not None else ())


def read_claims(
    claims: Sequence[str],
    evidence: Sequence[tuple[str, ...]],
    encode: Encode | None = None,
    read: ReadClaims | None = None,
    *,
    open_only: bool = False,
) -> list[tuple[float, Reading]]:
    """(score, reading) of sentences, each against its own texts; sentences of all claims are encoded in one batch.

    encode     encodes what was not read
    read       reads a claim without a fault that is no copy
    open_only  encode only claims whose score by words is between OPEN_FROM and OPEN_TO
    """
    claims = [_restated(claim, texts) for claim, texts in zip(claims, evidence, strict=True)]
    readings = [read_claim(claim, texts) for claim, texts in zip(claims, evidence, strict=True)]
    if read:
        readings = _with_probabilities(claims, evidence, readings, read)
    asked = [
        bool(texts)
        and reading.reader is None
        and not reading.faults
        and min(reading.window, reading.pairs) < COPIED
        and (_is_open(reading) or not open_only)
        for texts, reading in zip(evidence, readings, strict=True)
    ]
    most = 1 if open_only and sum(asked) > MANY_CLAIMS else ENCODED_SENTENCES
    cosines = _cosines(claims, evidence, asked, encode, most) if encode else [None] * len(readings)
    out = []
    for reading, cosine in zip(readings, cosines, strict=True):
        complete = reading if cosine is None else replace(reading, cosine=cosine)
        out.append((score_of(complete), complete))
    return out


def _restated(claim: str, texts: Sequence[str]) -> str:
    return claim if claim.startswith(FENCES) else restate_ending(restate_numbers(without_lead(claim), texts), texts)


def _with_probabilities(
    claims: Sequence[str], evidence: Sequence[tuple[str, ...]], readings: Sequence[Reading], read: ReadClaims
) -> list[Reading]:
    chosen = [
        i
        for i, reading in enumerate(readings)
        if (not reading.faults or (_copied(reading) < NEAR_COPY and reading.found.may_be_said_otherwise()))
        and not claims[i].startswith(FENCES)
        and not any(is_copy(claims[i], text) for text in evidence[i])
    ]
    said = dict(zip(chosen, read([(claims[i], evidence[i]) for i in chosen]), strict=True))
    return [_with_probability(reading, said.get(i)) for i, reading in enumerate(readings)]


def _copied(reading: Reading) -> float:
    """The share of a claim that is the texts' own words, in their order."""
    return min(reading.window, reading.pairs)


def _with_probability(reading: Reading, said: float | None) -> Reading:
    if said is None:
        return reading
    if reading.faults and said < OUTWEIGHED:
        return reading
    if _copied(reading) >= COPIED and said >= DOUBTED_COPY:
        return reading
    found = replace(reading.found, against=(), absent=())
    return replace(reading, reader=said, outweighed=bool(reading.faults), found=found)


def read_claim(claim: str, texts: Sequence[str]) -> Reading:
    """The features of one sentence by words; its cosine is None."""
    weights = weights_of(claim)
    windows = tuple(best_window(claim, text) for text in texts)
    parts = [text[w.start : w.end] for text, w in zip(texts, windows, strict=True)]
    joined = " ".join(initials_of(text) for text in texts)
    said = said_share(weights, [t for text in texts for unit in units_of(text) for t in unit.terms], joined)
    near = said_share(weights, [t for part in parts for unit in units_of(part) for t in unit.terms], joined)
    claimed = facts_of(claim)
    _numbers, names, far_numbers = _missing(claimed, texts, parts)
    found = find_faults(claim, texts, "\n".join(parts))
    return Reading(
        said=said,
        window=near,
        pairs=pair_share(claim, texts),
        names=len(names) / len(claimed.names) if claimed.names else 0.0,
        elsewhere=float(bool(far_numbers)),
        cosine=None,
        found=found,
        windows=windows,
        is_korean=has_letters("ko", claim),
    )


def _missing(claimed: Facts, texts: Sequence[str], parts: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """(numbers in no text, names in no text, numbers outside the windows only)."""
    if not claimed.has_any():
        return [], [], []
    numbers, names = missing_facts(claimed, join_facts([facts_of(text) for text in texts]))
    has_numbers = bool(claimed.quantities or claimed.dates or claimed.times)
    if numbers or not has_numbers:
        return numbers, names, []
    return numbers, names, missing_facts(claimed, join_facts([facts_of(part) for part in parts]))[0]


def score_of(reading: Reading) -> float:
    """The model's probability, times CONTRADICTED where an exact check failed; a reader's, where one has read the claim."""
    if reading.reader is not None:
        read = load_models()[reader_weights(is_korean=reading.is_korean)]
        return _sigmoid(read.bias + _product(read.weights, read_features_of(reading)))
    probability = _sigmoid(_logit_by_words(reading))
    if reading.faults:
        return probability * CONTRADICTED
    return min(probability, PARTLY) if reading.found.unsaid else probability


def reader_weights(*, is_korean: bool) -> str:
    """The name of the weights of READ, which differ with the reader."""
    return "reader, Korean" if is_korean else "reader"


def _logit_by_words(reading: Reading) -> float:
    model = load_models()["words" if reading.cosine is None else "cosine"]
    return model.bias + _product(model.weights, features_of(reading))


def _product(weights: Sequence[float], values: Sequence[float]) -> float:
    return sum(w * v for w, v in zip(weights, values, strict=True))


def _sigmoid(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))


def _logit(probability: float) -> float:
    held = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(held / (1 - held))


def features_of(reading: Reading) -> tuple[float, ...]:
    """The model's inputs, in the order of FEATURES; a missing cosine is 0."""
    return (
        reading.said,
        reading.window,
        reading.pairs,
        reading.names,
        reading.elsewhere,
        reading.cosine if reading.cosine is not None else 0.0,
    )


def read_features_of(reading: Reading) -> tuple[float, ...]:
    """What counts of a claim that a reader has read, in the order of READ."""
    unsaid = min(reading.window, reading.pairs) if reading.found.unsaid else 0.0
    return _logit(reading.reader or 0.0), unsaid, _logit_by_words(reading)


@lru_cache(maxsize=1)
def load_models() -> dict[str, Model]:
    """The fitted weights: "words" without an encoder, "cosine" with one; `reader_weights`, of READ, for what a reader says."""
    stored = json.loads((Path(__file__).parent / "weights.json").read_text(encoding="utf-8"))
    return {
        name: Model(
            float(m["bias"]),
            tuple(float(m["weights"][part]) for part in (READ if name.startswith("reader") else FEATURES)),
        )
        for name, m in stored["models"].items()
    }


def _is_open(reading: Reading) -> bool:
    return OPEN_FROM < score_of(reading) < OPEN_TO


def _cosines(
    claims: Sequence[str], evidence: Sequence[tuple[str, ...]], asked: Sequence[bool], encode: Encode, most: int
) -> list[float | None]:
    """Cosine of each claim in `asked` to the nearest of its likeliest sentences; None for the others."""
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
    """The ENCODED_SENTENCES sentences that hold most of a claim; ties in reading order."""
    weights = weights_of(claim)
    ranked = [
        (said_share(weights, unit.terms, ""), -at, text[unit.start : unit.end])
        for text in texts
        for at, unit in enumerate(units_of(text))
    ]
    return [sentence for _, _, sentence in sorted(ranked, key=lambda row: (-row[0], -row[1]))[:ENCODED_SENTENCES]]
