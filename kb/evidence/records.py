"""What the evidence gate goes by, as a record: its names stand in answers, so that they cost no import of what makes them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

Variant = Literal["fitted", "words", "unfitted"]


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for an answer in the packed passages, each in [0, 1]; None where it does not apply.

    cosine             of the nearest passage
    sentence_cosine    of the nearest sentence under its headings
    margin             of the nearest passage over the corpus's mean, as a share of what there is above that mean
    first_coverage     of what is asked, weighted by idf, by the first passage
    passage_coverage   by the passage that covers most
    sentence_coverage  by the two neighbouring sentences, with their headings, that cover most
    packed_coverage    by all passages together
    known              idf-weighted share of what is asked that the corpus holds at all
    rarest             of the rarest two things asked about, by the best sentences
    adjacency          of neighbouring things asked about, that one window shows both
    agreement          of the two retrievers' first ranks
    names              names and identifiers of the question that the best passage shows
    numbers            numbers of the question that the best passage shows
    title              idf-weighted share of what is asked that the best passage's title and headings show
    answer_type        1 when the best sentence or its neighbour holds what the question word asks for, 0 when not
    """

    cosine: float | None = None
    sentence_cosine: float | None = None
    margin: float | None = None
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
    answer_type: float | None = None


NAMES = tuple(entry.name for entry in fields(Signals))
