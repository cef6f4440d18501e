"""The interface of readers: a question and texts → a score for each text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

# A question of which more is unknown to the vocabulary is not read: the scores would be noise.
UNREAD_SHARE = 0.25
# Question and text together, special tokens counted; longer texts are cut. Windows of passages are shorter.
MAX_TOKENS = 256


class Reader(Protocol):
    """Reads a question and a text together, which vectors of each alone cannot replace.

    model_id    the configured name
    digest      sha256 over weights and tokenizer: equal digests give comparable scores
    """

    model_id: str

    @property
    def digest(self) -> str: ...

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit for each text, in the order given: higher is better; how likely it is, the evidence gate tells.

        raises  ModelError where the weights cannot be used
        """

    def can_read(self, text: str) -> bool:
        """Whether the model has learnt the words of a text's language."""

    def needs_preparing(self) -> bool:
        """Whether the next text has files made that are kept: seconds, once on a machine."""


def probability(logit: float) -> float:
    """A logit as a number in [0, 1]; it orders as the logit does and is calibrated by the evidence gate only.

    >>> probability(0.0), round(probability(-4.0), 3)
    (0.5, 0.018)
    """
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))
