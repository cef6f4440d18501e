"""What the reader already has → a known text that candidates are compared with: spans, a whole, exact shingle sets. Pure.

A known text is made of raw text or of blocks, and then it knows its own text: overlap with it is counted. Or it is made of a
payload of fingerprints (`kb/packing/known_text_payload.py`), and then overlap is estimated. Knows no candidate and no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from kb.fingerprint import (
    DEFAULT_SHAPE,
    Fingerprint,
    Shape,
    Sketch,
    fingerprint_normalized,
    sha256_of,
)
from kb.normal_form import normalize, spaced
from kb.shingles import all_token_hashes, count_distinct, minhash, shingle_hashes, simhash64, word_hashes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Places = NDArray[np.int64]
    Signatures = NDArray[np.uint32]
    Counts = NDArray[np.float64]

# Spans of about this many tokens: the middle of 160 to 220, the length chunks have.
SPAN_TOKENS = 190
# The longest span that equal cuts leave (one and a half times SPAN_TOKENS would make two).
LONGEST_CUT_TOKENS = 284
# About a million tokens, the longest prompt that models of today read; more takes seconds and cannot be in a prompt.
MOST_KNOWN_CHARS = 4_000_000


@dataclass(frozen=True, slots=True)
class Span:
    """One block, or one cut of a text: the unit that a candidate is compared with."""

    span_id: str
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class OwnText:
    """A known text's own words: the blocks' normal forms, spaced, one after the other; their token hashes, (n,) uint64."""

    words: str
    hashes: Hashes


@dataclass(frozen=True, slots=True)
class Units:
    """Everything of a known text that a signature can be held against: spans, and runs of spans side by side.

    signatures  (n, permutations) uint32
    counts      (n,) shingles of each, those of a run added up
    """

    signatures: Signatures
    counts: Counts


# Without slots: the tables for comparing are made when they are first needed, once for a known text.
@dataclass(frozen=True, eq=False)
class KnownText:
    """What the reader already has.

    whole          the global fingerprint
    text           None for a known text from a payload
    dropped_chars  what was beyond MOST_KNOWN_CHARS, the oldest of it (the beginning), and is not in the known text
    """

    shape: Shape
    spans: tuple[Span, ...]
    whole: Fingerprint
    text: OwnText | None
    dropped_chars: int = 0

    @property
    def is_empty(self) -> bool:
        """True when nothing in it could be repeated."""
        return self.whole.token_count == 0

    @property
    def has_text(self) -> bool:
        """True when overlap can be counted instead of estimated."""
        return self.text is not None

    @cached_property
    def digests(self) -> frozenset[str]:
        """sha256 of the whole and of every span that has a word."""
        known = [self.whole, *(span.fingerprint for span in self.spans)]
        return frozenset(one.sha256 for one in known if one.token_count)

    @cached_property
    def simhashes(self) -> Hashes:
        """SimHash of the whole and of every span that has a word, (n,) uint64."""
        import numpy as np

        known = [self.whole, *(span.fingerprint for span in self.spans)]
        return np.array([one.simhash64 for one in known if one.token_count], np.uint64)

    @cached_property
    def words(self) -> str:
        """The text between two spaces, so that ` words ` is found only as whole tokens."""
        return f" {self.text.words} " if self.text else ""

    @cached_property
    def _ordered(self) -> dict[int, tuple[Hashes, Places]]:
        return {}

    def ordered_shingles(self, k: int) -> tuple[Hashes, Places]:
        """Every shingle of the text, ascending by hash, and its place in tokens: (n,) uint64 and (n,) int64."""
        import numpy as np

        if k not in self._ordered:
            shingles = shingle_hashes(self.text.hashes, k) if self.text else np.empty(0, np.uint64)
            places = np.argsort(shingles, kind="stable")
            self._ordered[k] = (shingles[places], places)
        return self._ordered[k]

    @cached_property
    def _units(self) -> dict[tuple[int, int], Units]:
        return {}

    def units(self, k: int, widest: int) -> Units:
        """Spans, and runs of up to `widest` spans side by side, as signatures of shingles of k.

        A run's signature is the least of its spans' element by element, that of the union of their shingles. Spans that
        are longer than a cut stand alone: their own cuts follow them.
        """
        if (k, widest) not in self._units:
            self._units[k, widest] = _make_units([span.fingerprint for span in self.spans], k, widest)
        return self._units[k, widest]


def _make_units(spans: Sequence[Fingerprint], k: int, widest: int) -> Units:
    import numpy as np

    sketches = [span.sketch(k) for span in spans]
    known = [(span, sketch) for span, sketch in zip(spans, sketches, strict=True) if sketch and sketch.shingle_count]
    if not known:
        return Units(np.empty((0, 0), np.uint32), np.empty(0))
    signatures = np.stack([np.frombuffer(sketch.minhash, "<u4") for _, sketch in known])
    counts = np.array([sketch.shingle_count for _, sketch in known], np.float64)
    joins = np.array([span.token_count <= LONGEST_CUT_TOKENS for span, _ in known])
    rows, sizes = [signatures], [counts]
    merged, total, whole = signatures, counts, joins
    for width in range(2, min(widest, len(known)) + 1):
        merged = np.minimum(merged[:-1], signatures[width - 1 :])
        total = total[:-1] + counts[width - 1 :]
        whole = whole[:-1] & joins[width - 1 :]
        rows.append(merged[whole])
        sizes.append(total[whole])
    return Units(np.concatenate(rows), np.concatenate(sizes))


def known_text_from_blocks(blocks: Sequence[str], shape: Shape = DEFAULT_SHAPE) -> KnownText:
    """The known text of blocks (messages, files, passages shown): one block is one span.

    A block longer than a cut adds its equal cuts as further spans, without which a fingerprint payload could not tell
    that a passage is inside it. Blocks without a word are left out.
    """
    kept, dropped = _newest(blocks)
    normal_forms = [normal for normal in map(normalize, kept) if normal]
    spans: list[Span] = []
    for number, normal in enumerate(normal_forms):
        cuts = _cut(normal, shape, f"block-{number}.")
        own = Span(f"block-{number}", fingerprint_normalized(normal, shape))
        spans += [own] if len(cuts) < 2 else [own, *cuts]
    return _known_text(spans, " ".join(normal_forms), shape, dropped)


def known_text_from_text(text: str, shape: Shape = DEFAULT_SHAPE) -> KnownText:
    """The known text of one running text, cut into max(1, round(T / 190)) equal spans of its T tokens."""
    (kept,), dropped = _newest([text])
    normal = normalize(kept)
    return _known_text(_cut(normal, shape, "span-"), normal, shape, dropped)


def merge_known_texts(first: KnownText, second: KnownText) -> KnownText:
    """Both known texts as one, the spans of the first before those of the second; of text only where both know theirs.

    raises  ValueError when they are of different shapes
    """
    if first.shape != second.shape:
        raise ValueError("windows of different shapes cannot be compared with one candidate")
    import numpy as np

    known = [known_text for known_text in (first, second) if not known_text.is_empty]
    if len(known) < 2:
        base = known[0] if known else first
        return KnownText(base.shape, base.spans, base.whole, base.text, first.dropped_chars + second.dropped_chars)
    spans = tuple(
        Span(f"{side}.{span.span_id}", span.fingerprint)
        for side, known_text in (("a", first), ("b", second))
        for span in known_text.spans
    )
    # The whole of a payload is known by its fingerprint only; it stays recognisable as a span of its own.
    wholes = [
        Span(f"{side}.whole", known_text.whole)
        for side, known_text in (("a", first), ("b", second))
        if known_text.whole.sha256 not in {span.fingerprint.sha256 for span in known_text.spans}
    ]
    text = None
    if first.text and second.text:
        hashes = np.concatenate([first.text.hashes, second.text.hashes])
        text = OwnText(f"{first.text.words} {second.text.words}", hashes)
    digest = sha256_of(f"{first.whole.sha256} {second.whole.sha256}")
    bits = simhash64(text.hashes) if text else 0
    whole = _whole([*spans, *wholes], digest, bits, first.whole.token_count + second.whole.token_count)
    dropped = first.dropped_chars + second.dropped_chars
    return KnownText(first.shape, (*spans, *wholes), whole, text, dropped)


def _newest(blocks: Sequence[str]) -> tuple[list[str], int]:
    """The end of the blocks, MOST_KNOWN_CHARS of it: what was said last is what a prompt that is cut still holds."""
    kept: list[str] = []
    room, dropped = MOST_KNOWN_CHARS, 0
    for block in reversed(blocks):
        kept.append(block[len(block) - room :] if len(block) > room else block)
        dropped += max(0, len(block) - room)
        room -= len(kept[-1])
    return kept[::-1], dropped


def _cut(normal: str, shape: Shape, prefix: str) -> list[Span]:
    """Equal spans of a normal form. A span's shingles are those that begin in it, so that none is lost between two."""
    import numpy as np

    words = spaced(normal).split()
    hashes = word_hashes(words)
    places = np.flatnonzero(hashes)  # of the words that are no punctuation
    tokens = hashes[places]
    count = max(1, round(len(tokens) / SPAN_TOKENS))
    bounds = [round(i * len(tokens) / count) for i in range(count + 1)]
    spans: list[Span] = []
    for number, (start, end) in enumerate(pairwise(bounds)):
        if start == end:
            continue
        first = 0 if not number else int(places[start])
        last = len(words) if number == count - 1 else int(places[end])
        own = " ".join(words[first:last]) if count > 1 else normal
        spans.append(Span(f"{prefix}{number}", _span_fingerprint(own, tokens, start, end, shape)))
    return spans


def _span_fingerprint(normal: str, tokens: Hashes, start: int, end: int, shape: Shape) -> Fingerprint:
    def sketch(k: int) -> Sketch:
        shingles = shingle_hashes(tokens[start : end + k - 1], k)
        least = minhash(shingles, shape.permutations).astype("<u4", copy=False).tobytes()
        return Sketch(k, least, count_distinct(shingles))

    return Fingerprint(
        sha256_of(normal), simhash64(tokens[start:end]), sketch(shape.k), sketch(shape.short_k), end - start
    )


def _known_text(spans: Sequence[Span], normal: str, shape: Shape, dropped_chars: int) -> KnownText:
    text = OwnText(spaced(normal), all_token_hashes(normal))
    if spans:
        whole = _whole(spans, sha256_of(normal), simhash64(text.hashes), len(text.hashes))
    else:
        whole = fingerprint_normalized(normal, shape)
    return KnownText(shape, tuple(spans), whole, text, dropped_chars)


def _whole(spans: Sequence[Span], sha256: str, simhash: int, token_count: int) -> Fingerprint:
    """The fingerprint of all spans together: the least of their signatures; shingles of cuts are counted once each."""
    import numpy as np

    def sketch(sketches: Sequence[Sketch]) -> Sketch:
        least = np.minimum.reduce([np.frombuffer(one.minhash, "<u4") for one in sketches])
        # Not the count of distinct ones: what two spans share is counted twice, and only a set as large as the known text
        # is ever estimated with it.
        total = sum(one.shingle_count for one in sketches)
        return Sketch(sketches[0].k, least.tobytes(), min(total, max(0, token_count - sketches[0].k + 1)))

    fingerprints = [span.fingerprint for span in spans]
    return Fingerprint(
        sha256, simhash, sketch([f.long for f in fingerprints]), sketch([f.short for f in fingerprints]), token_count
    )
