"""Text → tokens of a unigram vocabulary (SentencePiece), in Python over a table of hashes.

`tokenizers` takes 0.5 s and 300 MB to open XLM-R's 250,000 pieces, which the first search of a process would wait for; this
opens in 10 ms. The tokens are the same (tests/embed/test_unigram.py). Words are remembered, so that a corpus is read about
as fast as by `tokenizers`.

source  Kudo: Subword Regularization, ACL 2018 (the best segmentation by Viterbi); SentencePiece's nmt_nfkc
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kb.frozen import dataclass

FILE = "pieces.npy"
BOS, EOS, UNKNOWN = 0, 2, 3  # <s>, </s>, <unk> in XLM-R's vocabulary
SPACE = "▁"
MOST_PIECE_CHARS = 16  # of XLM-R's vocabulary
# tokenizers and SentencePiece: a character without a piece costs the least score minus 10
UNKNOWN_PENALTY = 10.0
# Words of a corpus repeat: 15,000 words make up most of a megabyte.
MOST_REMEMBERED_WORDS = 100_000
LONGEST_REMEMBERED_WORD = 40
WORDS_AT_ONCE = 4_000  # looked up together: 100,000 substrings, 10 MB
# A longer stretch without a space is no text: three megabytes of one letter took 40 s. Its tokens are those of this
# beginning, over and over. No encoder reads past it: 512 tokens of 16 characters.
LONGEST_READ = 8_192

# nmt_nfkc is NFKC, with these as spaces, without control characters, and with the full-width tilde as it is
_WORD = re.compile("[^\\s\u200b-\u200f\ufeff\ufffd\u2581]+")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1f\x7f\x8f\x9f]")
_TILDE = "\uff5e"


@dataclass(frozen=True, slots=True)
class Word:
    """The tokens of one word.

    ids     token ids
    starts  character of the word where each token begins, ascending
    """

    ids: tuple[int, ...]
    starts: tuple[int, ...]


def write_pieces(pieces: Sequence[tuple[str, float]], folder: Path) -> None:
    """Write the table of a vocabulary: (hash, id, score) per piece, ascending by hash.

    pieces  (text, log probability) per token id
    raises  ValueError for pieces longer than MOST_PIECE_CHARS
    """
    import numpy as np

    if max(len(text) for text, _ in pieces) > MOST_PIECE_CHARS:
        raise ValueError(f"the vocabulary has pieces of more than {MOST_PIECE_CHARS} characters")
    table = np.empty(len(pieces), dtype=[("hash", "<u8"), ("id", "<u4"), ("score", "<f4")])
    table["hash"] = _hashes(text for text, _ in pieces)
    table["id"] = np.arange(len(pieces))
    table["score"] = [score for _, score in pieces]
    # Hashes alone are sorted a hundred times as fast as records by their hash.
    np.save(folder / FILE, table[np.argsort(table["hash"], kind="stable")])


class Unigram:
    """A `TokenCounter` over the table in a folder, loaded on first use (10 ms)."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self._path = folder / FILE
        self._hashes: Any = None
        self._table: Any = None
        self._unknown_score = 0.0
        self._words: dict[str, Word] = {}

    def token_starts(self, text: str) -> list[int]:
        """Character offset where each token of the text begins, ascending; special tokens left out.

        Inside a word that NFKC makes longer or shorter, the offsets are in proportion.
        """
        found = self._read([text])
        return [match.start() + start for match in _WORD.finditer(text) for start in found[match.group()].starts]

    def unread_share(self, text: str) -> float:
        """Share of a text's letters, in [0, 1], for which the vocabulary has no piece; 0 without letters."""
        if text.isascii():
            return 0.0
        found, letters, unread = self._read([text]), 0, 0
        for match in _WORD.finditer(text):
            raw, word = match.group(), found[match.group()]
            letters += sum(c.isalpha() for c in raw)
            for token, start, end in zip(word.ids, word.starts, (*word.starts[1:], len(raw)), strict=True):
                if token == UNKNOWN:
                    unread += sum(c.isalpha() for c in raw[start:end])
        return unread / letters if letters else 0.0

    def encode(self, texts: Sequence[str], max_length: int) -> list[list[int]]:
        """Token ids of each text between <s> and </s>, max_length at most; [] for a text without a token."""
        found = self._read(texts)
        rows: list[list[int]] = []
        for text in texts:
            ids: list[int] = []
            for match in _WORD.finditer(text):
                ids += found[match.group()].ids
                if len(ids) >= max_length:
                    break
            rows.append([BOS, *ids[: max_length - 2], EOS])
        return rows

    def _read(self, texts: Sequence[str]) -> dict[str, Word]:
        """The tokens of every word of the texts; words of usual length are remembered."""
        self._load()
        words = {match.group() for text in texts for match in _WORD.finditer(text)}
        found = {word: self._words[word] for word in words if word in self._words}
        new = sorted(words - found.keys())
        for start in range(0, len(new), WORDS_AT_ONCE):
            found |= self._segment(new[start : start + WORDS_AT_ONCE])
        if len(self._words) > MOST_REMEMBERED_WORDS:
            self._words.clear()
        self._words |= {word: found[word] for word in new if len(word) <= LONGEST_REMEMBERED_WORD}
        return found

    def _segment(self, words: list[str]) -> dict[str, Word]:
        normal = {word: [SPACE + part for part in _normalize(word).split()] for word in words}
        parts = {part for found in normal.values() for part in found}
        beginnings = {part[:LONGEST_READ] for part in parts}
        pieces = self._find({piece for part in beginnings for piece in _substrings(part)})
        best = {part: _best(part, pieces, self._unknown_score) for part in beginnings}
        tokens = {part: _repeated(best[part[:LONGEST_READ]], len(part)) for part in parts}
        return {word: _place(word, normal[word], tokens) for word in words}

    def _find(self, texts: set[str]) -> dict[str, tuple[int, float]]:
        """(id, score) of those texts that are pieces."""
        import numpy as np

        ordered = sorted(texts)
        wanted = _hashes(ordered)
        places = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
        (hits,) = np.nonzero(self._hashes[places] == wanted)
        rows = self._table[places[hits]]
        ids, scores = rows["id"].tolist(), rows["score"].tolist()
        return {ordered[hit]: (ids[i], scores[i]) for i, hit in enumerate(hits.tolist())}

    def _load(self) -> None:
        if self._table is None:
            import numpy as np

            self._table = np.load(self._path)
            self._hashes = np.ascontiguousarray(self._table["hash"])
            self._unknown_score = float(self._table["score"].min()) - UNKNOWN_PENALTY


def _normalize(word: str) -> str:
    clean = _CONTROL.sub("", word)
    if clean.isascii():
        return clean
    return _TILDE.join(unicodedata.normalize("NFKC", part) for part in clean.split(_TILDE))


def _substrings(part: str) -> Iterator[str]:
    for start in range(len(part)):
        for end in range(start + 1, min(start + MOST_PIECE_CHARS, len(part)) + 1):
            yield part[start:end]


def _best(part: str, pieces: dict[str, tuple[int, float]], unknown_score: float) -> list[tuple[int, int]]:
    """(token id, its start) of the most probable segmentation; neighbouring unknown characters are one token."""
    size = len(part)
    scores = [float("-inf")] * (size + 1)
    scores[0] = 0.0
    came_from: list[tuple[int, int]] = [(0, UNKNOWN)] * (size + 1)
    for start in range(size):
        base = scores[start]
        if part[start] not in pieces and base + unknown_score > scores[start + 1]:
            scores[start + 1], came_from[start + 1] = base + unknown_score, (start, UNKNOWN)
        for end in range(start + 1, min(start + MOST_PIECE_CHARS, size) + 1):
            piece = pieces.get(part[start:end])
            if piece and base + piece[1] > scores[end]:
                scores[end], came_from[end] = base + piece[1], (start, piece[0])
    tokens: list[tuple[int, int]] = []
    at = size
    while at:
        start, token = came_from[at]
        if token == UNKNOWN and tokens and tokens[-1][0] == UNKNOWN:
            tokens.pop()
        tokens.append((token, start))
        at = start
    return tokens[::-1]


def _repeated(tokens: list[tuple[int, int]], chars: int) -> list[tuple[int, int]]:
    """The tokens of a beginning of LONGEST_READ characters, over and over until `chars`; a shorter part as it is."""
    return [
        (token, at + start) for at in range(0, chars, LONGEST_READ) for token, start in tokens if at + start < chars
    ]


def _place(word: str, parts: Sequence[str], tokens: dict[str, list[tuple[int, int]]]) -> Word:
    """The tokens of a word's normalized parts, at characters of the word itself."""
    normal_chars = sum(len(part) - 1 for part in parts)
    ids: list[int] = []
    starts: list[int] = []
    before = 0
    for part in parts:
        for token, start in tokens[part]:
            at = before + max(0, start - 1)  # the space mark is no character of the word
            ids.append(token)
            starts.append(at if normal_chars == len(word) else at * len(word) // max(1, normal_chars))
        before += len(part) - 1
    return Word(tuple(ids), tuple(starts))


def _hashes(texts: Iterable[str]) -> Any:
    """64-bit hashes: among 250,000 pieces and 100,000 substrings, the chance of a false hit is 1e-9."""
    import numpy as np

    digests = b"".join(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8")
