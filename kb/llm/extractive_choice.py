"""The sentences that answer best → the quote to show: the best few are read once more, as they would be shown.

A sentence that fits the question may stand in a section about something else; what the user reads is the section.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kb.frozen import dataclass
from kb.language.systems import serves
from kb.llm.extractive_quote import Quote
from kb.llm.extractive_rank import Asked, Candidate, is_recap
from kb.llm.protocol import Read

# So many quotes are read, and so much of each: three find as many as six (`benchmarks/quote_choice.py`).
READ_QUOTES, READ_CHARS = 3, 800
# What a logit of the reader adds to the score of the sentence, and what a thousand characters add: a short quote is more often half an answer.
# On manuals .1 to .2 and .15 to .4 choose as well; with .3 for length fewer of `benchmarks/answers.py`'s first quotes hold the answer.
BY_LOGIT, BY_THOUSAND_CHARS = 0.15, 0.15
# Quotes whose worth is so near to the best one's are read by the second reader, too, and what a logit of it adds. Of 367 questions about manuals
# 87 are read so, and 25 first quotes change: 15 for the better, 5 for the worse. With .2 and .15 149 are, and 45 change, 23 and 8.
UNDECIDED, BY_SECOND_LOGIT = 0.1, 0.05
# What a recap loses where steps are asked for: to a reader "you learnt how to update it" is an answer.
RECAP = 1.0
# What a quote loses that does not name the operating system that is asked about.
ANOTHER_SYSTEM = 0.5


@dataclass(frozen=True, slots=True)
class Choice:
    """A quote that may be shown.

    at     index of the sentence that answers in it, among the candidates
    score  of that sentence
    """

    at: int
    quote: Quote
    score: float


def quotes_of(
    candidates: Sequence[Candidate],
    scores: Sequence[float | None],
    order: Sequence[int],
    quote_for: Callable[[Candidate], Quote],
    most: int = READ_QUOTES,
) -> list[Choice]:
    """The best sentences with their quotes, each stretch once, best first.

    order  indices of the candidates, best first; empty gives an empty list
    """
    found: list[Choice] = []
    for at in order:
        candidate = candidates[at]
        if any(holds(choice, candidates, candidate) for choice in found):
            continue
        found.append(Choice(at, quote_for(candidate), scores[at] or 0.0))
        if len(found) == most:
            break
    return found


def choose_quote(
    read: Read | None,
    asked: Asked,
    choices: Sequence[Choice],
    candidates: Sequence[Candidate],
    read_again: Read | None = None,
) -> Choice:
    """The first of the choices, or the one that a reader finds to answer better.

    candidates  that the choices were made of
    read_again  a second reader, for those between which the first is undecided
    """
    # In Korean kb-reader chose worse so: of 127 questions 58 to 62 were right and readable, of its paragraphs 64.
    if read is None or not asked.is_english or len(choices) < 2:
        return choices[0]
    keys = [candidates[choice.at] for choice in choices]
    with_list = "default" in asked.terms
    texts = [as_read(key, choice.quote, with_list=with_list) for key, choice in zip(keys, choices, strict=True)]
    logits = read(asked.question, texts)
    if not logits:
        return choices[0]
    worth = [
        choice.score
        + BY_LOGIT * logit
        + BY_THOUSAND_CHARS * len(choice.quote.text) / 1000
        - RECAP * (asked.wants_steps and is_recap(key))
        - ANOTHER_SYSTEM * (bool(asked.systems) and not serves(asked.systems, f"{key.path}\n{choice.quote.text}"))
        for choice, key, logit in zip(choices, keys, logits, strict=True)
    ]
    near = [i for i, each in enumerate(worth) if each >= max(worth) - UNDECIDED]
    again = read_again(asked.question, [texts[i] for i in near]) if read_again and len(near) > 1 else None
    if again:
        worth = [worth[i] + BY_SECOND_LOGIT * logit for i, logit in zip(near, again, strict=True)]
        choices = [choices[i] for i in near]
    return choices[max(range(len(choices)), key=lambda i: (worth[i], -i))]


def as_read(key: Candidate, quote: Quote, *, with_list: bool = False) -> str:
    """What a reader is given of a quote: its headings and its beginning.

    with_list  with a list above the paragraph that answers, too ("Type: …, Default: …")
    """
    first, _, below = quote.text.partition("\n\n")
    is_above = first[:2] in ("- ", "* ", "+ ") and quote.key is not None and quote.key[0] > len(first)
    text = " ".join((below if is_above and not with_list else quote.text).split())
    return f"{key.beside(key.heading)} {key.shown_heading()} {text}".strip()[:READ_CHARS]


def holds(choice: Choice, candidates: Sequence[Candidate], other: Candidate) -> bool:
    """Whether a sentence stands in a quote."""
    return candidates[choice.at].passage == other.passage and choice.quote.start <= other.start < choice.quote.end
