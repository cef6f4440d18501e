"""Items' tag lists → FastText vectors, by gensim; a lookup → how alike each token is to it, by numpy alone.

gensim takes most of a second to import. A lookup needs only the vectors of tokens and n-grams and FastText's hash (FNV-1a
over UTF-8 with signed bytes), which finds them; tests compare it with gensim's.

source  Bojanowski et al.: Enriching Word Vectors with Subword Information, TACL 2017
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kb.errors import InvalidInput
from kb.extras import require
from kb.frozen import dataclass
from kb.tags.arrays import Arrays, places_of

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix, FloatVector

# benchmarks/tags.py --grid on github topics: 2 to 5 characters alone reach .823 recall@10 on held-out aliases, 3 to 6 .782.
MIN_CHARS = 2
MAX_CHARS = 5
DIMENSIONS = 100
NEGATIVE = 10
WINDOW = 5
ALPHA = 0.05
# Tokens that training reads, all epochs together: 60 epochs of github topics. A tenth leaves random tags alike.
TOKENS_READ = 450_000
MIN_EPOCHS = 15
MAX_EPOCHS = 400
# gensim's default of 2,000,000 buckets takes 800 MB; one and a half times the distinct n-grams collide little.
MIN_BUCKETS = 2_000
MAX_BUCKETS = 200_000
BUCKETS_PER_GRAM = 1.5
# A model in which random tags are as alike as neighbours has learned nothing: its cosines would only add noise.
MAX_RANDOM_COSINE = 0.6
MIN_MARGIN = 0.15
SAMPLED_PAIRS = 2_000
# Products so small that OpenBLAS does not share them between threads, which wait for each other on a busy machine. 3,342
# tokens and 16 lookups beside two other processes: 8 ms in one product, .13 ms in these.
ROWS_PER_PRODUCT = 160
NEAREST = 5


@dataclass(frozen=True, slots=True)
class Trained:
    """Vectors, and how they were made.

    arrays            word_vectors (tokens, d) unit length; bucket_ids sorted; bucket_vectors (buckets in use, d)
    random_cosine     mean over random pairs of tags
    neighbour_cosine  mean of tags to their nearest tokens
    """

    arrays: Arrays
    buckets: int
    epochs: int
    random_cosine: float
    neighbour_cosine: float

    @property
    def has_learned(self) -> bool:
        """False when random tags are about as alike as neighbours."""
        return self.random_cosine <= MAX_RANDOM_COSINE and self.neighbour_cosine - self.random_cosine >= MIN_MARGIN


def gram_hashes(word: str, buckets: int) -> list[int]:
    """The bucket of each n-gram of a word, in gensim's order."""
    letters = [c.encode("utf-8", "replace") for c in f"<{word}>"]
    found = []
    for i in range(len(letters)):
        gram = b""
        for size, letter in enumerate(letters[i : i + MAX_CHARS], start=1):
            gram += letter
            if size >= MIN_CHARS:
                found.append(_hash(gram) % buckets)
    return found


def _hash(gram: bytes) -> int:
    value = 2166136261
    for byte in gram:
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return value


class _Sentences:
    """Items with their tags in random order, some tags replaced by one of their aliases; drawn anew in every epoch.

    A sentence of each tag with all its aliases follows, so that every alias is read beside its tag.
    """

    def __init__(
        self, items: Sequence[Sequence[str]], aliases: Mapping[str, Sequence[str]], rate: float, seed: int
    ) -> None:
        self._items, self._aliases, self._rate, self._seed, self._epoch = items, aliases, rate, seed, 0

    def __iter__(self) -> Iterator[list[str]]:
        dice = random.Random(f"{self._seed} {self._epoch}")
        self._epoch += 1
        for item in self._items:
            tags = [
                dice.choice(self._aliases[tag]) if tag in self._aliases and dice.random() < self._rate else tag
                for tag in item
            ]
            dice.shuffle(tags)
            yield tags
        for tag, aliases in self._aliases.items():
            yield [tag, *dice.sample(aliases, len(aliases))]


def epochs_for(tokens_per_epoch: int) -> int:
    """How often to read the items so that TOKENS_READ is reached, within limits."""
    return max(MIN_EPOCHS, min(MAX_EPOCHS, round(TOKENS_READ / max(1, tokens_per_epoch))))


def train_fasttext(
    tokens: Sequence[str],
    items: Sequence[Sequence[str]],
    aliases: Mapping[str, Sequence[str]],
    alias_rate: float,
    epochs: int,
    seed: int,
) -> Trained | None:
    """Vectors of all tokens; None when there is nothing to learn from: no item of two tags and no alias.

    tokens   keys of tags and aliases
    items    tag lists, as keys
    aliases  tag → its aliases, as keys
    epochs   0 chooses by the amount of data
    """
    useful = [item for item in items if len(item) > 1]
    if not useful and not aliases:
        return None
    require("training tags needs", "gensim")
    from gensim.models import FastText

    sentences = _Sentences(useful, aliases, alias_rate, seed)
    frequency = dict.fromkeys(tokens, 1)
    for item in useful:
        for tag in item:
            frequency[tag] += 1
    words = sum(len(item) for item in useful) + sum(1 + len(a) for a in aliases.values())
    epochs = epochs or epochs_for(words)
    buckets = _choose_buckets(tokens)
    model = FastText(
        vector_size=DIMENSIONS,
        window=WINDOW,
        min_count=1,
        sg=1,
        negative=NEGATIVE,
        alpha=ALPHA,
        min_n=MIN_CHARS,
        max_n=MAX_CHARS,
        bucket=buckets,
        # A vocabulary of 20 tags has no rare ones: leaving out frequent tags would leave nothing to read.
        sample=min(0.5, max(1e-3, 10 / len(tokens))),
        workers=1,
        seed=seed,
        epochs=epochs,
    )
    model.build_vocab_from_freq(frequency)
    model.train(sentences, total_examples=len(useful) + len(aliases), total_words=words, epochs=epochs)
    return _export(model, tokens, buckets, epochs, sorted({tag for item in useful for tag in item} | set(aliases)))


def _choose_buckets(tokens: Sequence[str]) -> int:
    grams = {
        padded[i : i + size]
        for padded in (f"<{token}>" for token in tokens)
        for size in range(MIN_CHARS, MAX_CHARS + 1)
        for i in range(len(padded) - size + 1)
    }
    return max(MIN_BUCKETS, min(MAX_BUCKETS, int(len(grams) * BUCKETS_PER_GRAM)))


def _export(model: Any, tokens: Sequence[str], buckets: int, epochs: int, tags: Sequence[str]) -> Trained:
    import numpy as np

    vectors = model.wv
    order = [vectors.key_to_index[token] for token in tokens]
    words = _unit_rows(vectors.vectors[order])
    # Buckets that no token uses hold random numbers: an n-gram with such a bucket is unknown, and is left out.
    used = np.unique(np.concatenate([vectors.buckets_word[i] for i in order])).astype(np.int64)
    row = {token: i for i, token in enumerate(tokens)}
    random_cosine, neighbour_cosine = _measure(words, np.array([row[tag] for tag in tags]))
    arrays = {
        "word_vectors": words,
        "bucket_ids": used,
        "bucket_vectors": np.ascontiguousarray(vectors.vectors_ngrams[used], np.float32),
    }
    return Trained(arrays, buckets, epochs, random_cosine, neighbour_cosine)


def _unit_rows(matrix: FloatMatrix) -> FloatMatrix:
    import numpy as np

    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: FloatMatrix = (matrix / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


def _measure(words: FloatMatrix, rows: FloatVector) -> tuple[float, float]:
    """(mean cosine of random pairs of tags, mean cosine of tags to their nearest tokens)."""
    import numpy as np

    dice = np.random.default_rng(0)
    left, right = dice.choice(rows, SAMPLED_PAIRS), dice.choice(rows, SAMPLED_PAIRS)
    apart = left != right
    random_cosine = float(np.mean(np.sum(words[left[apart]] * words[right[apart]], axis=1))) if apart.any() else 1.0
    sample = dice.permutation(rows)[:200]
    cosines = words[sample] @ words.T
    nearest = min(NEAREST, max(1, len(words) // 5))
    top = np.sort(cosines, axis=1)[:, -nearest - 1 : -1]
    return random_cosine, float(np.mean(top)) if top.size else 1.0


def learned_nothing(trained: Trained) -> InvalidInput:
    """The error for vectors that have not learned; see `Trained.has_learned`."""
    return InvalidInput(
        f"FastText learned nothing in {trained.epochs} epochs: random tags have a mean cosine of"
        f" {trained.random_cosine:.3f}, neighbours of {trained.neighbour_cosine:.3f}",
        fix="import items with more tags, or set tags.neighbours = 'ngrams'",
        random_cosine=round(trained.random_cosine, 4),
        neighbour_cosine=round(trained.neighbour_cosine, 4),
    )


class FastTextIndex:
    """Trained vectors, asked without gensim; the arrays may be memory-mapped."""

    def __init__(self, arrays: Arrays, tokens: Sequence[str], buckets: int, random_cosine: float) -> None:
        self._arrays, self._buckets = arrays, buckets
        self._rows = {token: row for row, token in enumerate(tokens)}
        self.random_cosine = random_cosine

    def vector(self, lookup: str) -> FloatVector | None:
        """The unit vector of a lookup: a token's own, else the mean of its n-grams; None when no n-gram is known."""
        import numpy as np

        row = self._rows.get(lookup)
        if row is not None:
            return np.asarray(self._arrays["word_vectors"][row])
        if not lookup:
            return None
        wanted = np.array(gram_hashes(lookup, self._buckets), np.int64)
        places = places_of(wanted, self._arrays["bucket_ids"])
        places = places[places >= 0]
        if not len(places):
            return None
        total = self._arrays["bucket_vectors"][places].sum(axis=0)
        length = float(np.linalg.norm(total))
        return None if length < 1e-12 else (total / length).astype(np.float32)

    def score(self, lookups: Sequence[str]) -> list[FloatVector | None]:
        """Cosines of each lookup to every token, (tokens,) float32 in [-1, 1]; None when no n-gram of it is known."""
        import numpy as np

        vectors = [self.vector(lookup) for lookup in lookups]
        known = [vector for vector in vectors if vector is not None]
        if not known:
            return [None] * len(lookups)
        words, queries = self._arrays["word_vectors"], np.stack(known, axis=1)
        products = np.empty((len(words), len(known)), np.float32)
        for start in range(0, len(words), ROWS_PER_PRODUCT):
            end = start + ROWS_PER_PRODUCT
            np.matmul(words[start:end], queries, out=products[start:end])
        cosines = iter(products.T)
        return [None if vector is None else next(cosines) for vector in vectors]
