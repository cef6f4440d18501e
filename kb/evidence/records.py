"""The signals of the evidence gate. Answers hold their names, so this module imports nothing that computes them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

from kb.frozen import dataclass

Variant = Literal["fitted", "words", "unfitted"]


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals that the packed passages answer the question, each in [0, 1]; None where one does not apply.

    cosine             of the nearest passage
    sentence_cosine    of the nearest sentence under its headings
    margin             (cosine of the nearest passage - mean cosine of the corpus) / (1 - that mean)
    nearness           the same as a share of what sets the corpus's own passages apart: comparable from corpus to corpus
    by_chance          mean cosine of the corpus to the question: near when it is about what the corpus is about
    alike              mean cosine of the corpus's passages to each other: of a speech they are nearer than of an encyclopaedia
    subject            the margin by the vector that passages are ranked by, which lacks the form of the question's language; only of
                       passages in another language, and only where none in the question's own is much nearer
    first_coverage     idf-weighted share of the question's units that the first passage holds
    passage_coverage   the same for the passage that holds most
    sentence_coverage  the same for the two neighbouring sentences, with their headings, that hold most
    packed_coverage    the same for all passages together
    known              the same for the whole corpus
    rarest             share of the two rarest units that the best sentences hold
    adjacency          share of the pairs of neighbouring units that one window holds both of
    agreement          rank-biased overlap of the two retrievers' first ranks
    names              share of the question's names and identifiers that the best passage holds
    numbers            share of the question's numbers that the best passage holds
    title              idf-weighted share of the units that the best passage's title and headings hold
    aligned            of the question's names and numbers, the least share that stands where the rest of the question does
    together           the same for all its units, the mean by weight
    reader             of the passage that the reader likes best; 1/2 where it is undecided
    reader_sentence    the same for two neighbouring sentences
    second_reader, second_sentence  the same of another reader, which reads what the first likes best
    answer_type        1 when the best sentence or its neighbour holds the kind of answer asked for, in words that the question
                       lacks, 0 when not; the best is the reader's, without a reader the nearest
    """

    cosine: float | None = None
    sentence_cosine: float | None = None
    margin: float | None = None
    nearness: float | None = None
    by_chance: float | None = None
    alike: float | None = None
    subject: float | None = None
    first_coverage: float | None = None
    passage_coverage: float | None = None
    sentence_coverage: float | None = None
    packed_coverage: float | None = None
    known: float | None = None
    rarest: float | None = None
    adjacency: float | None = None
    agreement: float | None = None
    names: float | None = None
    numbers: float | None = None
    title: float | None = None
    aligned: float | None = None
    together: float | None = None
    reader: float | None = None
    reader_sentence: float | None = None
    second_reader: float | None = None
    second_sentence: float | None = None
    answer_type: float | None = None


NAMES = tuple(entry.name for entry in fields(Signals))
# Signals that compare the question's words with those of passages; names and numbers are written alike in many languages.
_OF_WORDS = (
    *("first_coverage", "passage_coverage", "sentence_coverage", "packed_coverage", "known", "rarest", "adjacency"),
    *("agreement", "title", "aligned", "together"),
)


def across_languages(signals: Signals, subject: float) -> Signals:
    """The signals of passages in another language than the question's, where common words tell nothing.

    >>> found = across_languages(Signals(cosine=0.8, known=0.0), 0.3)
    >>> found.cosine, found.known, found.subject
    (0.8, None, 0.3)
    """
    return replace(signals, subject=subject, **dict.fromkeys(_OF_WORDS))
