"""The tag retriever against its bars: training, suggesting, held-out aliases; on github topics and on a large made-up vocabulary.

    python benchmarks/tags.py TOPICS.json [--seeds 5] [--skip large] [--grid]
    python benchmarks/tags.py VOCABULARY.csv          # any file that kb tags import reads

Training runs in processes of its own, whose peak memory is taken; `suggest` is timed in process (median of 30 after one
call, 8 phrases of two words) and as a whole command (median of 5). Aliases: a fifth held out, a model trained for each seed,
`both` is the default. --grid measures what was tried for the neighbours, on seed 0 to 4, without context.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.config import Config, TagsConfig
from kb.runtime import open_runtime
from kb.store.store import Store
from kb.tags import fasttext, grams, retriever
from kb.tags.importing import import_vocabulary, load_vocabulary_file
from kb.tags.measure import CharWbNeighbours, _own_list, alias_recall, hold_out, recall_of
from kb.tags.model import Model
from kb.tags.neighbours import make_source
from kb.tags.records import SuggestOptions
from kb.tags.retriever import open_retriever, trained_retriever
from kb.tags.suggest import NeighbourSource
from kb.tags.train import train_model
from kb.tags.vocabulary import Tag, Vocabulary, make_vocabulary

PHRASES_ASKED = 8
REPEATS = 30
COMMAND_REPEATS = 5
LARGE_TAGS, LARGE_ITEMS, LARGE_PAIRS, LARGE_ALIASES = 20_000, 25_000, 250_000, 30_000

TRAIN = """
import json, resource, sys, time
from pathlib import Path
from kb.config import Config
from kb.runtime import open_runtime
from kb.tags.train import train
began = time.perf_counter()
with open_runtime(Path(sys.argv[1]), Config()) as kb:
    report = train(kb)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, report.epochs, report.random_cosine, report.neighbour_cosine, report.size_bytes]))
"""


def save(home: Path, vocabulary: Vocabulary, name: str) -> None:
    """A home that holds a vocabulary and nothing else."""
    store = Store(home, write=True)
    import_vocabulary(store.corpus.tags, vocabulary, name, "json", [])
    store.close()


def bar(name: str, value: float, unit: str, limit: float, *, least: bool = False) -> None:
    """One line: what was measured, and whether the bar holds."""
    holds = value >= limit if least else value <= limit
    print(f"  {name:<34} {value:>9.3f} {unit:<4} {'≥' if least else '≤'} {limit:<8g} {'ok' if holds else 'MISSED'}")


def measure_speed(home: Path, phrases: list[str], train_seconds: float, train_mb: float, suggest_ms: float) -> None:
    """Train in a process of its own, then suggest in this one and as a command."""
    made = subprocess.run([sys.executable, "-c", TRAIN, home], capture_output=True, text=True, check=True)
    seconds, processor, peak, epochs, random_cosine, neighbour_cosine, size = json.loads(made.stdout)
    print(
        f"  {epochs} epochs, cosine of random tags {random_cosine}, of neighbours {neighbour_cosine}, {size / 1e6:.1f} MB on disk"
    )
    bar("train", seconds, "s", train_seconds)
    print(f"  {'train, processor time':<34} {processor:>9.3f} s    (what it takes on a machine that does nothing else)")
    bar("train, peak memory", peak, "MB", train_mb)
    with open_runtime(home, Config()) as kb:
        times = []
        for _ in range(REPEATS + 1):
            began = time.perf_counter()
            open_retriever(kb).suggest(phrases, SuggestOptions())
            times.append((time.perf_counter() - began) * 1000)
    bar("suggest, warm, 8 phrases", statistics.median(times[1:]), "ms", suggest_ms)
    commands = []
    for _ in range(COMMAND_REPEATS):
        began = time.perf_counter()
        words = [sys.executable, "-m", "kb", "tags", "suggest", *phrases, "--json", "--home", str(home)]
        subprocess.run(words, check=True, capture_output=True)
        commands.append(time.perf_counter() - began)
    bar("suggest, as a command", statistics.median(commands), "s", 0.6)


def some_phrases(vocabulary: Vocabulary) -> list[str]:
    """Two words each, of tags and aliases, so that some are names and some are not."""
    dice = random.Random(0)
    names = [tag.tag for tag in vocabulary.tags] + list(vocabulary.aliases)
    return [f"{dice.choice(names)} {dice.choice(names)}".replace("_", " ") for _ in range(PHRASES_ASKED)]


def make_large() -> Vocabulary:
    """Words of syllables, tags of one to three words, items drawn around topics, aliases as spellings of tags."""
    dice = random.Random(0)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "ol")]
    words = sorted({"".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(12_000)})
    names: set[str] = set()
    while len(names) < LARGE_TAGS:
        names.add("_".join(dice.choices(words, k=dice.choice((1, 2, 2, 3)))))
    tags = sorted(names)
    aliases: dict[str, list[str]] = {}
    while len(aliases) < LARGE_ALIASES:
        tag = dice.choice(tags)
        parts = tag.split("_")
        spelled = dice.choice(
            [
                "".join(parts),
                "-".join(reversed(parts)),
                f"{tag}s",
                f"{tag}_{dice.choice(words)}",
                tag[: max(3, len(tag) - 3)],
            ]
        )
        if spelled not in names:
            aliases.setdefault(spelled, [tag])
    items = []
    topics = [dice.sample(tags, 60) for _ in range(2_000)]
    for _ in range(LARGE_ITEMS):
        around = dice.choice(topics)
        items.append(dice.sample(around, 8) + dice.sample(tags, LARGE_PAIRS // LARGE_ITEMS - 8))
    return make_vocabulary([Tag(tag) for tag in tags], aliases, items)


def with_underscores(vocabulary: Vocabulary) -> Vocabulary:
    """The same vocabulary with every hyphen as an underscore."""

    def name(text: str) -> str:
        return text.replace("-", "_")

    return make_vocabulary(
        [replace(tag, tag=name(tag.tag)) for tag in vocabulary.tags],
        {name(alias): [name(tag) for tag in tags] for alias, tags in vocabulary.aliases.items()},
        [[name(tag) for tag in item] for item in vocabulary.items],
    )


def print_aliases(vocabulary: Vocabulary, seeds: int) -> None:
    """Recall of every way, and the bars of the default."""
    rows = alias_recall(vocabulary, TagsConfig(), range(seeds))
    for row in rows:
        figures = "  ".join(f"{at} {row.recall[at]:.3f} (worst {row.worst[at]:.3f})" for at in row.recall)
        print(f"  {row.method:<11} {figures}")
    default = next(row for row in rows if row.method == "suggest")
    bar("held-out aliases, recall@1", default.recall["recall@1"], "", 0.72, least=True)
    bar("held-out aliases, recall@10", default.recall["recall@10"], "", 0.90, least=True)


def print_grid(vocabulary: Vocabulary, seeds: int) -> None:
    """What was tried for the neighbours: sizes of n-grams, words run together, initials, FastText's share."""
    options = SuggestOptions(per_phrase_k=400, per_phrase_final_k=50, allow_sensitive=True)

    def show(name: str, make: Callable[[Vocabulary], NeighbourSource]) -> None:
        runs = []
        for seed in range(seeds):
            kept, held = hold_out(vocabulary, seed)
            runs.append(recall_of(_own_list(kept, make(kept), options), held))
        print(f"  {name:<38} " + "  ".join(f"{at} {statistics.fmean(r[at] for r in runs):.3f}" for at in runs[0]))

    def with_grams(**values: float) -> Callable[[Vocabulary], NeighbourSource]:
        def make(kept: Vocabulary) -> NeighbourSource:
            before = {name: getattr(grams, name) for name in values}
            for name, value in values.items():
                setattr(grams, name, value)
            try:
                tokens = kept.neighbour_tokens()
                index = grams.GramIndex(grams.build_grams(tokens), len(tokens))
                source = make_source("ngrams", tokens, index, None, 0.0)
                return _Fixed(source, values)
            finally:
                for name, value in before.items():
                    setattr(grams, name, value)

        return make

    show("scikit-learn char_wb 3–6", lambda kept: CharWbNeighbours(kept.neighbour_tokens()))
    show("n-grams as they are", with_grams())
    show("  2–3 characters", with_grams(MAX_CHARS=3))
    show("  2–5 characters", with_grams(MAX_CHARS=5))
    show("  3–6 characters", with_grams(MIN_CHARS=3, MAX_CHARS=6))
    show("  words not run together", with_grams(JOINED_WEIGHT=0.0))
    show("  words run together count 1.5", with_grams(JOINED_WEIGHT=1.5))
    show("  without initials", with_grams(INITIALS_SCORE=0.0, TWO_INITIALS_SCORE=0.0))
    for low, high in ((2, 5), (3, 6)):
        fasttext.MIN_CHARS, fasttext.MAX_CHARS = low, high
        models = {}
        for seed in range(seeds):
            kept = hold_out(vocabulary, seed)[0]
            models[kept.digest] = train_model(kept, TagsConfig(), "documents").model
        for weight in (0.05, 0.1, 0.2, 0.4):
            retriever.FASTTEXT_WEIGHT = weight
            show(f"mixed, FastText {low}–{high}, weight {weight}", _Trained(models, TagsConfig()).source)
        retriever.FASTTEXT_WEIGHT = 0.1
        alone = replace(TagsConfig(), neighbours="fasttext")
        show(f"FastText alone, {low}–{high} characters", _Trained(models, alone).source)
    fasttext.MIN_CHARS, fasttext.MAX_CHARS = 2, 5


@dataclass(frozen=True)
class _Trained:
    """Models by the digest of their vocabulary, asked in one way."""

    models: dict[str, Model]
    config: TagsConfig

    def source(self, kept: Vocabulary) -> NeighbourSource:
        return trained_retriever(self.models[kept.digest], self.config).source


class _Fixed:
    """A source whose module's constants are set while it is asked."""

    def __init__(self, source: NeighbourSource, values: dict[str, float]) -> None:
        self._source, self._values = source, values

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        before = {name: getattr(grams, name) for name in self._values}
        for name, value in self._values.items():
            setattr(grams, name, value)
        try:
            return self._source.neighbours(lookups, k)
        finally:
            for name, value in before.items():
                setattr(grams, name, value)


def main() -> None:
    """Print a line a bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--skip", action="append", default=[], choices=("small", "aliases", "large"))
    parser.add_argument("--grid", action="store_true")
    parser.add_argument(
        "--underscores", action="store_true", help="hyphens in names as underscores, as image boards write"
    )
    asked = parser.parse_args()
    os.environ.pop("KB_HOME", None)
    vocabulary, format, _ = load_vocabulary_file(asked.vocabulary, None)
    if asked.underscores:
        vocabulary = with_underscores(vocabulary)
    pairs = sum(map(len, vocabulary.items))
    print(
        f"{asked.vocabulary.name} ({format}): {len(vocabulary.tags):,} tags, {len(vocabulary.aliases):,} aliases, {pairs:,} pairs"
    )
    with TemporaryDirectory() as folder:
        if "small" not in asked.skip:
            save(Path(folder) / "small", vocabulary, asked.vocabulary.name)
            measure_speed(Path(folder) / "small", some_phrases(vocabulary), 20, 300, 15)
        if "aliases" not in asked.skip:
            print_aliases(vocabulary, asked.seeds)
        if asked.grid:
            print_grid(vocabulary, asked.seeds)
        if "large" not in asked.skip:
            large = make_large()
            pairs = sum(map(len, large.items))
            print(f"made up: {len(large.tags):,} tags, {len(large.aliases):,} aliases, {pairs:,} pairs")
            save(Path(folder) / "large", large, "large.json")
            measure_speed(Path(folder) / "large", some_phrases(large), 300, 1500, 50)


if __name__ == "__main__":
    main()
