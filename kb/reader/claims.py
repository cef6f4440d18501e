"""A sentence and the texts that it cites → how likely they say it, by a model that was trained to tell.

It reads each sentence alone, so that what it says of one does not depend on the others; .2 s of CPU, in Korean 60 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kb.arrays import ReadClaims
from kb.errors import ModelError
from kb.language.registry import has_letters
from kb.reader.protocol import Reader, probability
from kb.reader.registry import CLAIMS_READERS, open_claims_reader
from kb.reader.windows import best_window
from kb.text import analyze

# What is read of all texts of a claim together: about 200 tokens. Korean takes more tokens for its characters.
LATIN_CHARS, KOREAN_CHARS = 850, 450
# A title or a heading is read whole beside the others.
SHORT_CHARS = 160


def open_claims(cache: Path, notify: Callable[[str], object], *, wanted: bool = True) -> ReadClaims | None:
    """(claim, its texts) of each pair → a probability in [0, 1] that they say it, None for a language nobody has learnt.

    cache    folder for graphs
    wanted   False gives None
    returns  None where no reader of claims is installed: the user is told
    """
    if not wanted:
        return None
    readers, missing = [], None
    for model in CLAIMS_READERS:
        try:
            readers.append(open_claims_reader(model, cache))
        except ModelError as error:
            missing = _without(error)
    if not readers and missing:
        notify(missing)
        return None
    return lambda pairs: read_claims(readers, pairs, notify, missing)


def read_claims(
    readers: Sequence[Reader],
    pairs: Sequence[tuple[str, Sequence[str]]],
    notify: Callable[[str], object],
    missing: str | None = None,
) -> list[float | None]:
    """See `open_claims`; each pair is read by the first reader that knows the language of both.

    missing  what to tell where a Korean claim has no reader
    """
    windows = [windows_of(claim, texts) for claim, texts in pairs]
    found: list[float | None] = [None] * len(pairs)
    left = list(range(len(pairs)))
    for reader in readers:
        own = [i for i in left if reader.can_read(pairs[i][0]) and reader.can_read(windows[i])]
        if own and reader.needs_preparing():
            notify(f"preparing the reader {reader.model_id} (once per model)…")
        try:
            for i in own:
                found[i] = probability(reader.score(pairs[i][0], [windows[i]])[0])
        except ModelError as error:
            missing = _without(error)
            notify(missing)
        left = [i for i in left if found[i] is None]
    if missing and any(has_letters("ko", pairs[i][0]) for i in left):
        notify(missing)
    return found


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
