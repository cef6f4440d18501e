"""`kb tags train`: the vocabulary of a knowledge base → a model in its home: n-grams, FastText, context. Deterministic."""

from __future__ import annotations

import time

from kb.config import TagsConfig
from kb.frozen import dataclass
from kb.runtime import Notify, Runtime, ignore
from kb.store.documents import utc_text
from kb.tags.arrays import Arrays
from kb.tags.context import train_context
from kb.tags.fasttext import MAX_EPOCHS, Trained, learned_nothing, train_fasttext
from kb.tags.grams import build_grams
from kb.tags.importing import require_vocabulary
from kb.tags.model import Figures, Model, model_folder, write_model
from kb.tags.records import TrainReport
from kb.tags.vocabulary import DOCUMENTS, Vocabulary
from kb.tags.words import fold, key_of

# For few items the first choice of epochs may be too low: it is doubled after each attempt but the last.
ATTEMPTS = 3
# Share of the items' tags that FastText reads as one of their aliases.
ALIAS_RATE = 0.1
# For FastText and for drawing the aliases that it reads.
SEED = 1


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that is not written yet, with what was left out of it and why."""

    model: Model
    notes: tuple[str, ...]


def train(kb: Runtime, notify: Notify = ignore) -> TrainReport:
    """Train on the current vocabulary and replace the model.

    raises  NotIndexed without a tag; InvalidInput when FastText learns nothing and `tags.neighbours` asks for it alone
    """
    with kb.snapshot():
        vocabulary = require_vocabulary(kb.corpus.tags)
        imported = kb.corpus.tags.imported_vocabulary()
        state = kb.corpus_state()
    trained = train_model(vocabulary, kb.config.tags, imported.origin if imported else DOCUMENTS, notify)
    stamp = write_model(kb.home, trained.model, state.revision, state.token)
    figures = trained.model.figures
    folder = model_folder(kb.home, stamp)
    return TrainReport(
        origin=figures.origin,
        digest=vocabulary.digest,
        tags=figures.tags,
        aliases=figures.aliases,
        items=figures.items,
        tokens=len(trained.model.tokens),
        epochs=figures.epochs,
        random_cosine=figures.random_cosine,
        neighbour_cosine=figures.neighbour_cosine,
        components=figures.components,
        seconds=figures.seconds,
        size_bytes=sum(file.stat().st_size for file in folder.iterdir()),
        notes=trained.notes,
    )


def train_model(vocabulary: Vocabulary, config: TagsConfig, origin: str, notify: Notify = ignore) -> TrainedModel:
    """A model of a vocabulary; see `train`."""
    began = time.perf_counter()
    tokens = vocabulary.neighbour_tokens()
    notes: list[str] = []
    fasttext = None
    if config.neighbours != "ngrams":
        fasttext = _train_fasttext(vocabulary, tokens, config, notify, notes)
    if vocabulary.items:
        notify(f"context: {len(vocabulary.items):,} items")
    context = train_context(vocabulary.items)
    if context is None:
        notes.append("no context was trained: there are not three tags in items of two or more")
    arrays: Arrays = build_grams(tokens)
    arrays |= fasttext.arrays if fasttext else {}
    arrays |= context.arrays if context else {}
    figures = Figures(
        origin=origin,
        trained_at=utc_text(),
        tags=len(vocabulary.tags),
        aliases=len(vocabulary.aliases),
        items=len(vocabulary.items),
        seconds=round(time.perf_counter() - began, 2),
        epochs=fasttext.epochs if fasttext else None,
        buckets=fasttext.buckets if fasttext else None,
        random_cosine=round(fasttext.random_cosine, 4) if fasttext else None,
        neighbour_cosine=round(fasttext.neighbour_cosine, 4) if fasttext else None,
        components=int(context.arrays["context_rows"].shape[1]) if context else None,
    )
    return TrainedModel(Model(vocabulary, tokens, context.tags if context else (), arrays, figures), tuple(notes))


def _train_fasttext(
    vocabulary: Vocabulary, tokens: tuple[str, ...], config: TagsConfig, notify: Notify, notes: list[str]
) -> Trained | None:
    """FastText's part; None, with a note, where there is nothing to learn from or nothing was learned.

    raises  InvalidInput when nothing was learned and the user asked for FastText alone
    """
    words = [fold(token) for token in tokens]
    items = [[fold(key_of(tag)) for tag in item] for item in vocabulary.items]
    aliases: dict[str, list[str]] = {}
    for alias, tags in vocabulary.aliases.items():
        for own in (fold(key_of(tag)) for tag in tags):
            if own != fold(alias):
                aliases.setdefault(own, []).append(fold(alias))
    read = f"FastText: {len(items):,} items, {sum(map(len, aliases.values())):,} aliases"
    epochs = 0
    for _ in range(ATTEMPTS):
        notify(read + (f", {epochs} epochs" if epochs else ""))
        trained = train_fasttext(words, items, aliases, ALIAS_RATE, epochs, SEED)
        if trained is None:
            notes.append("FastText was not trained: no item has two tags and no tag has an alias")
            return None
        if trained.has_learned:
            return trained
        error = learned_nothing(trained)
        if trained.epochs >= MAX_EPOCHS:
            break
        epochs = min(MAX_EPOCHS, trained.epochs * 2)
    if config.neighbours == "fasttext":
        raise error
    notes.append(f"{error.problem}: left out, n-grams alone find neighbours")
    return None
