"""A ranking → the one that is shown: copies of a better hit folded into it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.fingerprint import SHORT_TEXT_TOKENS, normalize, tokens_of
from kb.records import CopyKind, Ranking

# Share of a passage's shingles that a better hit must have for the passage to be its copy.
COPIED_SHARE = 0.9
SHINGLE_WORDS = 3
# Texts are compared where a better hit has so many of a passage's parts: one word in thirty may be another, and its markup.
PARTS_SHARED = 1 / 3
# What a text is cut at: a letter that is one in twenty-five in English, and bytes of UTF-8 that end a letter in every other script:
# 이, 을, い, д, δ, and one in thirty of Chinese.
CUTS = (b"d", b"\xb4", b"\x84")
# A shorter text has few parts: its normal form is one more.
SHORT_CHARS = 200


def fold_copies(
    ranking: Ranking, texts: Mapping[int, str]
) -> tuple[list[tuple[int, float]], dict[int, list[tuple[int, CopyKind]]]]:
    """The ranking without passages that a better one says word for word, or nearly.

    texts    those that may be copies or have them
    returns  what is left, and for each passage that has copies their chunk_ids, with how alike they are
    """
    kept: list[tuple[int, float]] = []
    copies: dict[int, list[tuple[int, CopyKind]]] = {}
    parts_of: dict[int, set[bytes]] = {}  # of what is kept
    seen: set[bytes] = set()
    for chunk_id, score in ranking:
        if chunk_id not in texts:
            kept.append((chunk_id, score))
            continue
        parts = _parts(texts[chunk_id])
        least = max(1, int(PARTS_SHARED * len(parts)))
        is_known = len(seen & parts) >= least  # by all that is kept together: few passages come further
        for better, held in parts_of.items() if is_known else ():
            if len(held & parts) >= least and (kind := _copy_kind(texts[better], texts[chunk_id])):
                copies.setdefault(better, []).append((chunk_id, kind))
                break
        else:
            kept.append((chunk_id, score))
            parts_of[chunk_id] = parts
            seen |= parts
    return kept, copies


def _parts(text: str) -> set[bytes]:
    """A text cut up behind certain letters, wherever they are: what copies share is cut at the same places.

    Words would tell more, and take five times as long, which a search would wait for.
    """
    raw = text.lower().encode("utf-8", "surrogatepass").replace(b"\n", b" ")
    for other in () if text.isascii() else CUTS[1:]:
        raw = raw.replace(other, CUTS[0])
    parts = set(raw.split(CUTS[0]))
    if len(text) < SHORT_CHARS and (normal := normalize(text)):
        parts.add(normal.encode("utf-8", "surrogatepass"))
    return parts


def _copy_kind(better: str, later: str) -> CopyKind | None:
    one, other = normalize(better), normalize(later)
    if one == other:
        return "same"
    if min(len(tokens_of(one)), len(tokens_of(other))) < SHORT_TEXT_TOKENS:
        return None
    return "near" if holds_copy(better, later) else None


def holds_copy(whole: str, part: str) -> bool:
    """Whether a text says what another says, nearly word for word, with the same numbers: v1 is no copy of v2.

    >>> holds_copy("The pump starts at 40 bar and stops at 60 bar.", "The pump starts at 40 bar and stops at 60 bar")
    True
    >>> holds_copy("The pump starts at 40 bar and stops at 60 bar.", "The pump starts at 45 bar and stops at 60 bar.")
    False
    """
    a, b = (tokens_of(normalize(text)) for text in (whole, part))
    if not _numbers(b) <= _numbers(a):
        return False
    wanted = _shingles(b)
    return bool(wanted) and len(wanted & _shingles(a)) >= COPIED_SHARE * len(wanted)


def _numbers(tokens: Sequence[str]) -> set[str]:
    return {token for token in tokens if any(c.isdigit() for c in token)}


def _shingles(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[i : i + SHINGLE_WORDS]) for i in range(len(tokens) - SHINGLE_WORDS + 1)}
