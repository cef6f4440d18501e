"""Text → the offsets of its tokens by the encoder's own tokenizer, without loading the model.

A long text is tokenized in windows, so that memory and time stay proportional to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kb.errors import ExtraMissing, ModelError
from kb.extras import require

# One encoding stays near 20 MB, and cuts inside a word stay rare.
WINDOW_CHARS = 100_000
UNKNOWN_TOKENS = frozenset({"[UNK]", "<unk>"})
WINDOWS_AT_ONCE = 4  # tokenized in parallel; more only needs more memory

lone_surrogate = re.compile("[\ud800-\udfff]")


class Tokens:
    """A `TokenCounter`: the tokenizer in one model's folder, loaded on first use (20 ms)."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self._folder = folder
        self._tokenizer: Any = None

    def token_starts(self, text: str) -> list[int]:
        """Character offset where each token of the text begins, ascending; special tokens left out.

        Tokens of one character (byte-level vocabularies) share an offset. A word longer than the tokenizer's own
        limit is one token.
        """
        if self._tokenizer is None:
            self._tokenizer = load_tokenizer(self._folder)
        starts: list[int] = []
        last = 0
        windows = _windows(replace_surrogates(text))
        while group := list(islice(windows, WINDOWS_AT_ONCE)):
            texts = [part for _, part in group]
            for (offset, _), encoding in zip(
                group, self._tokenizer.encode_batch(texts, add_special_tokens=False), strict=True
            ):
                for start, _ in encoding.offsets:
                    last = max(last, offset + start)
                    starts.append(last)
        return starts

    def unread_share(self, text: str) -> float:
        """Share of a text's letters that the vocabulary does not know as parts of words, in [0, 1]; 0 without letters.

        An encoder that splits a script into letters or parts of letters has not learnt its words: the default one uses two
        tokens for each Hangul syllable. Han characters are single tokens in every vocabulary and count only where unknown.
        """
        if text.isascii():
            return 0.0
        if self._tokenizer is None:
            self._tokenizer = load_tokenizer(self._folder)
        encoding = self._tokenizer.encode(replace_surrogates(text), add_special_tokens=False)
        letters = {i for i, c in enumerate(text) if c.isalpha()}
        spaced = {i for i in letters if not text[i].isascii() and not "\u3400" <= text[i] <= "\u9fff"}
        tokens_in_spaced = sum(1 for start, _ in encoding.offsets if start in spaced)
        unread = spaced if spaced and tokens_in_spaced >= len(spaced) else set()
        for (start, end), token in zip(encoding.offsets, encoding.tokens, strict=True):
            if token in UNKNOWN_TOKENS:
                unread = unread | (letters & set(range(start, end)))
        return len(unread) / len(letters) if letters else 0.0


def load_tokenizer(folder: Path) -> Any:
    """The `tokenizers.Tokenizer` of a model folder, truncation and padding off.

    raises  ModelError for a missing or unreadable one; ExtraMissing where only transformers could convert it
    """
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path)) if path.is_file() else _convert_tokenizer(folder)
    except ExtraMissing:
        raise
    except Exception as error:  # tokenizers raises bare Exception
        raise ModelError(
            f"the tokenizer in {folder} cannot be loaded: {error}",
            fix="save the model again with sentence-transformers, so that the folder has a tokenizer.json",
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def replace_surrogates(text: str) -> str:
    """The text with every lone surrogate as U+FFFD: tokenizers take valid Unicode only. Offsets stay."""
    return lone_surrogate.sub("\ufffd", text)


def _convert_tokenizer(folder: Path) -> Any:
    """Models saved before 2021 have a vocabulary only; transformers (seconds to import) converts it."""
    require(f"the tokenizer in {folder} needs", "transformers")
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    return loaded.backend_tokenizer


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """(offset, part) pieces of at most WINDOW_CHARS, cut after white space where a piece has any."""
    start = 0
    while len(text) - start > WINDOW_CHARS:
        end = start + WINDOW_CHARS
        cut = _last_space(text, start, end)
        yield start, text[start:cut]
        start = cut
    if start < len(text):
        yield start, text[start:]


def _last_space(text: str, start: int, end: int) -> int:
    """The end of a window: before the last white space in its second half, else its full length."""
    cut = max(text.rfind(space, (start + end) // 2, end) for space in (" ", "\n", "\t"))
    return cut if cut > start else end
