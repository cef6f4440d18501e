"""A question and the passages packed for it → signals of whether they answer it, each in [0, 1]. Pure.

A higher signal speaks for an answer; None means that it does not apply (no vectors, no name in the question). The caller
passes the statistics of the corpus: document frequencies and the mean cosine to the query.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kb.evidence.question import Unit
from kb.evidence.records import Signals
from kb.frozen import dataclass
from kb.language.asked import matches_answer_type
from kb.language.sentences import Sentence
from kb.text import analyze

# Numbers of fewer digits are days, months and ordinals, which texts write in several ways.
LONG_NUMBER = 2
# Logits of readers lie mostly within this of 0.
LOGIT_REACH = 11.0
_WORD = re.compile(r"[\w'’-]+")
# How many ranks of both lists are compared.
AGREEMENT_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Passage:
    """One packed passage.

    terms         index terms of its text, headings and title
    title_terms   of title and headings alone
    sentences     its quotable sentences
    cosine        to the question; None where vectors took no part
    names         index terms of the words that are capitalised inside its sentences
    """

    terms: frozenset[str]
    title_terms: frozenset[str]
    sentences: tuple[Sentence, ...]
    cosine: float | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Field:
    """What a question's cosines are held against.

    by_chance  mean cosine of the question to the corpus at large
    alike      mean cosine of the corpus's passages to each other; None of a corpus with too few of them
    """

    by_chance: float
    alike: float | None


@dataclass(frozen=True, slots=True)
class Logits:
    """One reader's logits of passages and of windows; empty where it read none."""

    passages: Sequence[float] = ()
    windows: Sequence[float] = ()


UNREAD = Logits()


def idf_weights(units: Sequence[Unit], frequencies: Mapping[str, int], count: int) -> list[float]:
    """The weight of each unit, in [0, 1]: 1 for a unit the corpus does not hold, 0 for one that may be only an ending.

    frequencies  how many chunks hold each term
    count        chunks in the corpus
    """
    full = math.log1p((count + 0.5) / 0.5)

    def idf(term: str) -> float:
        holding = min(count, frequencies.get(term, 0))
        return math.log1p((count - holding + 0.5) / (holding + 0.5)) / full

    weights = []
    for unit in units:
        if unit.is_run() and not unit.is_certain and all(not frequencies.get(t) for t in unit.terms):
            weights.append(0.0)
        elif unit.is_run():
            weights.append(sum(idf(t) for t in unit.terms) / len(unit.terms))
        else:
            weights.append(idf(unit.terms[0]))
    return weights


def coverage(units: Sequence[Unit], weights: Sequence[float], terms: frozenset[str]) -> float:
    """Share of the units, by weight, that a text with these terms holds: in [0, 1], 0 when all weights are 0."""
    total = sum(weights)
    return sum(w * u.share_in(terms) for u, w in zip(units, weights, strict=True)) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Window:
    """Two neighbouring sentences of a passage, or its only one, or a row of a table, under their headings."""

    passage: int
    first: Sentence
    text: str
    terms: frozenset[str]
    score: float


def best_windows(
    units: Sequence[Unit], weights: Sequence[float], passages: Sequence[Passage], most: int
) -> list[Window]:
    """The windows that cover most of the units, in passages with high cosines; ties by passage, then by reading order.

    The passage's cosine is part of the order: with it three encoded sentences reach an AUC of .871 on questions of the same
    topic, without it four reach .861.
    """
    windows: list[Window] = []
    for number, passage in enumerate(passages):
        own = [frozenset(analyze(sentence.text)) for sentence in passage.sentences]
        for at, sentence in enumerate(passage.sentences):
            upto = at + (1 if sentence.kind == "row" else 2)  # the next row tells of something else
            pair = passage.sentences[at:upto]
            terms = own[at].union(*own[at + 1 : upto], passage.title_terms)
            alone = coverage(units, weights, own[at])
            # The sentence's own words break ties between windows that share a neighbour.
            score = coverage(units, weights, terms) + 0.25 * alone + max(0.0, passage.cosine or 0.0)
            windows.append(Window(number, sentence, " ".join(s.text for s in pair), terms, score))
    windows.sort(key=lambda window: (-window.score, window.passage, window.first.position))
    return windows[:most]


def weigh(
    question: str,
    units: Sequence[Unit],
    weights: Sequence[float],
    passages: Sequence[Passage],
    windows: Sequence[Window],
    *,
    known: frozenset[str],
    sentence_cosines: Sequence[float],
    field: Field | None,
    lexical_order: Sequence[int],
    vector_order: Sequence[int],
    read: Logits = UNREAD,
) -> Signals:
    """The signals of one question, without those of a second reader.

    windows           from best_windows
    known             the question's terms that the corpus holds
    sentence_cosines  of the first windows' sentences to the question, one each; empty without vectors
    field             None without vectors
    lexical_order, vector_order  chunk ids of both retrievers' lists, best first; empty where one was not asked
    read              of the reader that orders
    """
    # A question without words ("?!"), or only with endings that the corpus lacks, has nothing to cover.
    asks = sum(weights) > 0

    def share(shares: Sequence[float]) -> float | None:
        return max(shares, default=0.0) if asks else None

    cosines = [p.cosine for p in passages if p.cosine is not None]
    nearest = max(cosines) if cosines else None
    covered = [coverage(units, weights, p.terms) for p in passages]
    best = passages[covered.index(max(covered))] if covered else None
    liked = read.windows or sentence_cosines
    best_window = max(range(len(liked)), key=lambda i: (liked[i], -i), default=0)
    best_text = windows[best_window].text if windows else ""
    everything = frozenset[str]().union(*(p.terms for p in passages))
    return Signals(
        cosine=None if nearest is None else _bounded(nearest),
        sentence_cosine=_bounded(max(sentence_cosines)) if len(sentence_cosines) else None,
        margin=_margin(nearest, field.by_chance) if field else None,
        nearness=_nearness(nearest, field),
        by_chance=_bounded(field.by_chance) if field else None,
        alike=_bounded(field.alike) if field and field.alike is not None else None,
        first_coverage=share(covered[:1]),
        passage_coverage=share(covered),
        sentence_coverage=share([coverage(units, weights, w.terms) for w in windows]),
        packed_coverage=share([coverage(units, weights, everything)]),
        known=share([coverage(units, weights, known)]),
        rarest=_rarest(units, weights, windows) if asks else None,
        adjacency=_adjacency(units, weights, windows),
        agreement=_agreement(lexical_order, vector_order),
        names=_share_of_kind("name", units, best.terms if best else frozenset()),
        numbers=_share_of_kind("number", units, best.terms if best else frozenset()),
        title=share([coverage(units, weights, p.title_terms) for p in passages[:3]]),
        aligned=_aligned(units, weights, windows, passages),
        together=_together(units, weights, windows),
        reader=_read(read.passages),
        reader_sentence=_read(read.windows),
        answer_type=matches_answer_type(question, [_without(best_text, units)]),
    )


def with_second_reader(signals: Signals, read: Logits) -> Signals:
    """The signals with what a second reader says; the more it reads, the higher."""
    return replace(signals, second_reader=_read(read.passages), second_sentence=_read(read.windows))


def _bounded(value: float) -> float:
    return min(1.0, max(0.0, float(value)))


def _margin(nearest: float | None, by_chance: float) -> float | None:
    """Encoders differ in the cosine of unrelated texts: .1 for MiniLM, .7 for E5. In standard deviations it separated less."""
    return None if nearest is None else _bounded((nearest - by_chance) / max(1.0 - by_chance, 0.05))


def _nearness(nearest: float | None, field: Field | None) -> float | None:
    """In a speech all passages are alike, in an encyclopaedia few: the same margin means more in the first."""
    if nearest is None or field is None or field.alike is None:
        return None
    return _bounded((nearest - field.by_chance) / max(1.0 - field.alike, 0.05))


def _rarest(units: Sequence[Unit], weights: Sequence[float], windows: Sequence[Window]) -> float:
    """Least of the shares that the best windows show of the two heaviest units."""
    heaviest = sorted(range(len(units)), key=lambda i: (-weights[i], i))[:2]
    return max((sum(units[i].share_in(w.terms) for i in heaviest) / len(heaviest) for w in windows), default=0.0)


def _adjacency(units: Sequence[Unit], weights: Sequence[float], windows: Sequence[Window]) -> float | None:
    """Share of the question's neighbouring pairs that one window shows both of; None with one unit."""
    pairs = [(i, i + 1) for i in range(len(units) - 1)]
    total = sum(weights[i] * weights[j] for i, j in pairs)
    if not total:
        return None
    return (
        max(
            (
                sum(weights[i] * weights[j] * units[i].share_in(w.terms) * units[j].share_in(w.terms) for i, j in pairs)
                for w in windows
            ),
            default=0.0,
        )
        / total
    )


def _aligned(
    units: Sequence[Unit], weights: Sequence[float], windows: Sequence[Window], passages: Sequence[Passage]
) -> float | None:
    """Least binding of a name or number to the rest of the question; None where the question has none.

    A question typed without capitals names what the passages write with one.
    """
    names = frozenset[str]().union(*(p.names for p in passages))
    bound = [
        _binding(i, units, weights, windows)
        for i, unit in enumerate(units)
        if unit.kind != "word" or unit.terms[0] in names
    ]
    return min(bound, default=None)


def _together(units: Sequence[Unit], weights: Sequence[float], windows: Sequence[Window]) -> float | None:
    total = sum(weights)
    if len(units) < 2 or not total:
        return None
    return _bounded(sum(w * _binding(i, units, weights, windows) for i, w in enumerate(weights)) / total)


def _binding(which: int, units: Sequence[Unit], weights: Sequence[float], windows: Sequence[Window]) -> float:
    """How much of what the windows hold of the rest of the question stands beside this unit, in [0, 1].

    A swapped name is in another passage than what is asked of it, or in none.
    """
    rest = [w if i != which else 0.0 for i, w in enumerate(weights)]
    if not any(rest):
        return max((units[which].share_in(w.terms) for w in windows), default=0.0)
    held = [coverage(units, rest, w.terms) for w in windows]
    most = max(held, default=0.0)
    if not most:
        return 0.0
    return max(c * units[which].share_in(w.terms) for c, w in zip(held, windows, strict=True)) / most


def _read(logits: Sequence[float]) -> float | None:
    return _bounded(0.5 + max(logits) / (2 * LOGIT_REACH)) if len(logits) else None


def _without(text: str, units: Sequence[Unit]) -> str:
    """A text without the words of the question: "Who is Ada?" is not answered by the name Ada."""
    asked = frozenset(term for unit in units for term in unit.terms)
    return _WORD.sub(lambda word: "…" if asked.intersection(analyze(word[0])) else word[0], text)


def _agreement(lexical: Sequence[int], vector: Sequence[int]) -> float | None:
    """Rank-biased overlap of the two lists' first ranks (mean overlap over depths); None where one was not asked."""
    if not lexical or not vector:
        return None
    depth = min(AGREEMENT_DEPTH, max(len(lexical), len(vector)))
    shares = [len({*lexical[:d]} & {*vector[:d]}) / d for d in range(1, depth + 1)]
    return sum(shares) / depth


def _share_of_kind(kind: str, units: Sequence[Unit], terms: frozenset[str]) -> float | None:
    wanted = [unit for unit in units if unit.kind == kind and (kind != "number" or len(unit.text) >= LONG_NUMBER)]
    return sum(unit.share_in(terms) > 0 for unit in wanted) / len(wanted) if wanted else None
