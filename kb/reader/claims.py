"""A sentence and the texts that it cites → how likely they say it, by a model that was trained to tell.

It reads each sentence alone, so that what it says of one does not depend on the others; 30 to 60 ms of CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kb.arrays import ReadClaims
from kb.errors import ModelError
from kb.language.registry import has_letters
from kb.reader.protocol import Reader, probability
from kb.reader.registry import open_claims_reader
from kb.reader.windows import best_window
from kb.text import analyze

# What is read of all texts of a claim together: about 200 tokens. Korean takes more tokens for its characters.
LATIN_CHARS, KOREAN_CHARS = 850, 450
# A title or a heading is read whole beside the others.
SHORT_CHARS = 160


def open_claims(cache: Path, notify: Callable[[str], object], *, wanted: bool = True) -> ReadClaims | None:
    """(claim, its texts) of each pair → a probability in [0, 1] that they say it, None for a language it has not learnt.

    cache    folder for its graph
    wanted   False gives None
    returns  None where it is not installed: the user is told
    """
    if not wanted:
        return None
    try:
        reader = open_claims_reader(cache)
    except ModelError as error:
        notify(_without(error))
        return None
    return lambda pairs: read_claims(reader, pairs, notify)


def read_claims(
    reader: Reader, pairs: Sequence[tuple[str, Sequence[str]]], notify: Callable[[str], object]
) -> list[float | None]:
    """See `open_claims`."""
    if pairs and reader.needs_preparing():
        notify(f"preparing the reader {reader.model_id} (once per model)…")
    try:
        return [
            probability(reader.score(claim, [windows_of(claim, texts)])[0]) if reader.can_read(claim) else None
            for claim, texts in pairs
        ]
    except ModelError as error:
        notify(_without(error))
        return [None] * len(pairs)


def _without(error: ModelError) -> str:
    return f"note: checking answers without a reader of claims: {error} ({error.fix})"


def windows_of(claim: str, texts: Sequence[str]) -> str:
    """The stretch of each text that holds most of a claim, in the order given; texts that are short are whole.

    >>> windows_of("It closes at nine.", ["The gate closes at nine.", "Gates"])
    'The gate closes at nine.\\nGates'
    """
    terms = frozenset(analyze(claim))
    room = KOREAN_CHARS if has_letters("ko", claim) else LATIN_CHARS
    share = room // max(1, sum(len(text) > SHORT_CHARS for text in texts))
    return "\n".join(best_window(terms, text, share) for text in texts if text.strip())
