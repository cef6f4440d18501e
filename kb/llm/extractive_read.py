"""Candidates that words and meaning rank → what a reader says of the paragraphs they stand in, between 0 and 1. Pure but for the reader.

A reader is trained on paragraphs: a sentence alone has lost what it is about, so it reads the paragraph, or the part of it
around the sentence, behind the last heading.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.llm.extractive_rank import Candidate
from kb.llm.protocol import Read

# Stretches that are read, each some 15 ms; characters of one.
READ_STRETCHES, STRETCH_CHARS = 12, 500
# Logits of readers lie mostly within this of 0.
LOGIT_REACH = 11.0


def read_candidates(
    read: Read, question: str, candidates: Sequence[Candidate], scores: Sequence[float]
) -> list[float] | None:
    """What the reader says of each candidate, between 0 and 1; None where it cannot read the question.

    scores   of words and meaning: those that score best are read, the others get the least of what was read
    """
    order = sorted(range(len(candidates)), key=lambda i: (-scores[i], i))
    stretches: dict[int, str] = {}
    chosen: dict[str, None] = {}
    for i in order:
        stretch = stretch_of(candidates[i])
        if stretch not in chosen and len(chosen) == READ_STRETCHES:
            continue
        chosen[stretch] = None
        stretches[i] = stretch
    logits = read(question, list(chosen))
    if not logits:
        return None
    told = {
        text: min(1.0, max(0.0, 0.5 + logit / (2 * LOGIT_REACH))) for text, logit in zip(chosen, logits, strict=True)
    }
    least = min(told.values())
    return [told[stretches[i]] if i in stretches else least for i in range(len(candidates))]


def stretch_of(candidate: Candidate) -> str:
    """What is read for a candidate: its paragraph, or as much of it around the sentence as a reader takes in."""
    around = " ".join(candidate.around.split())
    if len(around) > STRETCH_CHARS:
        at = max(0, around.find(candidate.text))
        start = max(0, min(at - STRETCH_CHARS // 4, len(around) - STRETCH_CHARS))
        around = around[start : start + STRETCH_CHARS]
    last = candidate.heading.rpartition(" > ")[2]
    heading = ", ".join(part for part in (candidate.beside(last), last) if part)
    return f"{heading}: {around}" if heading else around
