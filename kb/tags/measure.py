"""`kb tags eval`: recall of tags by held-out aliases, and F1 of tags for documents that have some; beside plain baselines."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from kb.config import TagsConfig
from kb.extras import require
from kb.runtime import Notify, Runtime, ignore
from kb.tags.apply import own_tags, score_documents
from kb.tags.importing import current_vocabulary
from kb.tags.records import AliasRecall, DocumentTagging, SuggestOptions, TagEvaluation
from kb.tags.retriever import open_retriever, trained_retriever
from kb.tags.suggest import NeighbourSource, suggest
from kb.tags.thresholds import calibrate
from kb.tags.train import train_model
from kb.tags.vocabulary import DOCUMENTS, Vocabulary, make_vocabulary
from kb.tags.words import fold, key_of

HELD_OUT_SHARE = 0.2
RECALL_AT = (1, 5, 10, 50)
# Neighbours taken for a list of up to 50 tags: several tokens project to one tag.
DEEP = 400
FOLDS = 5
LEAST_DOCUMENTS = 5

# alias → tags, best first
Ranker = Callable[[str], Sequence[str]]


def evaluate(kb: Runtime, seeds: int, notify: Notify = ignore) -> TagEvaluation:
    """Measure both.

    seeds   how often aliases are held out, each time with a model of its own; 0 leaves that part out
    raises  NotIndexed without a tag
    """
    retriever = open_retriever(kb)
    vocabulary = current_vocabulary(kb.corpus.tags)
    imported = kb.corpus.tags.imported_vocabulary()
    notes = list(retriever.notes)
    held_out = round(len(vocabulary.aliases) * HELD_OUT_SHARE)
    aliases: tuple[AliasRecall, ...] = ()
    if seeds and held_out:
        aliases = alias_recall(vocabulary, kb.config.tags, range(seeds), notify)
    elif seeds:
        notes.append(f"{len(vocabulary.aliases)} aliases: too few to hold some out")
    truth = own_tags(kb, retriever)
    tagging: tuple[DocumentTagging, ...] = ()
    if len(truth) >= LEAST_DOCUMENTS:
        scores = score_documents(kb, retriever, sorted(truth))
        tagging = document_tagging(scores, truth, [tag.tag for tag in vocabulary.tags])
    else:
        notes.append(f"{len(truth)} documents have tags of this vocabulary: too few to measure")
    return TagEvaluation(
        origin=imported.origin if imported else DOCUMENTS,
        tags=len(vocabulary.tags),
        aliases_held_out=held_out if aliases else 0,
        seeds=seeds if aliases else 0,
        aliases=aliases,
        documents=len(truth),
        tagging=tagging,
        notes=tuple(notes),
    )


def hold_out(vocabulary: Vocabulary, seed: int) -> tuple[Vocabulary, dict[str, tuple[str, ...]]]:
    """The vocabulary without a fifth of its aliases, and those, with their tags."""
    names = sorted(vocabulary.aliases)
    taken = set(random.Random(seed).sample(names, round(len(names) * HELD_OUT_SHARE)))
    kept = {alias: tags for alias, tags in vocabulary.aliases.items() if alias not in taken}
    return (
        make_vocabulary(vocabulary.tags, kept, vocabulary.items),
        {alias: vocabulary.aliases[alias] for alias in names if alias in taken},
    )


def alias_recall(
    vocabulary: Vocabulary, config: TagsConfig, seeds: Iterable[int], notify: Notify = ignore
) -> tuple[AliasRecall, ...]:
    """Recall of the right tag for held-out aliases by each method, over the seeds."""
    found: dict[str, list[dict[str, float]]] = {}
    for seed in seeds:
        kept, held = hold_out(vocabulary, seed)
        notify(f"seed {seed}: {len(held)} aliases held out of {len(vocabulary.aliases)}")
        for method, ranker in _rankers(kept, replace(config, neighbours="both"), config, seed).items():
            found.setdefault(method, []).append(recall_of(ranker, held))
    return tuple(
        AliasRecall(
            method=method,
            recall={at: round(fmean(run[at] for run in runs), 4) for at in runs[0]},
            worst={at: round(min(run[at] for run in runs), 4) for at in runs[0]},
        )
        for method, runs in found.items()
    )


def recall_of(ranker: Ranker, held: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """recall@k: the share of aliases one of whose tags is among the first k."""
    ranks = []
    for alias, tags in held.items():
        listed = list(ranker(alias))
        ranks.append(
            min((listed.index(tag) for tag in tags if tag in listed), default=len(listed) + max(RECALL_AT)) + 1
        )
    return {f"recall@{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in RECALL_AT}


def _rankers(kept: Vocabulary, training: TagsConfig, config: TagsConfig, seed: int) -> dict[str, Ranker]:
    model = train_model(kept, training, DOCUMENTS).model
    retriever = trained_retriever(model, config)
    options = SuggestOptions(
        allow_sensitive=True, context_weight=config.context_weight, per_phrase_k=DEEP, per_phrase_final_k=50
    )
    popular = [tag.tag for tag in sorted(kept.tags, key=lambda tag: (-(tag.count or 0), tag.tag))][: max(RECALL_AT)]
    names = [tag.tag for tag in kept.tags]
    dice = random.Random(seed)
    rankers: dict[str, Ranker] = {
        "suggest": lambda alias: [row.tag for row in retriever.suggest([alias], options).candidates]
    }
    for method in ("both", "ngrams", "fasttext"):
        source = trained_retriever(model, replace(config, neighbours=method)).source
        rankers[method] = _own_list(kept, source, options)
    rankers["char_wb"] = _own_list(kept, CharWbNeighbours(kept.neighbour_tokens()), options)
    rankers["popularity"] = lambda alias: popular
    rankers["random"] = lambda alias: dice.sample(names, min(len(names), max(RECALL_AT)))
    return rankers


def _own_list(vocabulary: Vocabulary, source: NeighbourSource, options: SuggestOptions) -> Ranker:
    def rank(alias: str) -> list[str]:
        reports = suggest([alias], vocabulary, source, None, options).phrases or ()
        return [row.tag for row in reports[0].candidates] if reports else []

    return rank


class CharWbNeighbours:
    """The plain baseline: scikit-learn's TF-IDF of character n-grams inside words, 3 to 6 long."""

    def __init__(self, tokens: Sequence[str]) -> None:
        require("kb tags eval needs", "sklearn")
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._tokens = tokens
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 6))
        self._rows = self._vectorizer.fit_transform([_spaced(token) for token in tokens])

    def neighbours(self, lookups: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """See NeighbourSource."""
        import numpy as np

        found = []
        for lookup in lookups:
            scores = (self._rows @ self._vectorizer.transform([_spaced(lookup)]).T).toarray().ravel()
            order = np.argsort(-scores, kind="stable")[:k]
            found.append([(self._tokens[i], float(scores[i])) for i in order if scores[i] > 0])
        return found


def _spaced(token: str) -> str:
    return fold(key_of(token)).replace("_", " ")


def document_tagging(
    scores: Mapping[int, Mapping[str, float]], truth: Mapping[int, frozenset[str]], tags: Sequence[str]
) -> tuple[DocumentTagging, ...]:
    """How well documents get the tags they have: by suggestion, by the tags' frequency, and by chance.

    Every fold of documents is tagged with thresholds, or frequencies, learned on the other folds.
    """
    documents = sorted(truth)
    folds = [documents[i :: min(FOLDS, len(documents))] for i in range(min(FOLDS, len(documents)))]
    given: dict[str, dict[int, list[str]]] = {"suggest": {}, "popularity": {}, "random": {}}
    ranked: dict[str, dict[int, list[str]]] = {"suggest": {}, "popularity": {}, "random": {}}
    dice = random.Random(0)
    for fold_documents in folds:
        others = [doc_id for doc_id in documents if doc_id not in fold_documents]
        thresholds = calibrate({d: scores[d] for d in others}, {d: truth[d] for d in others})
        frequency = Counter(tag for doc_id in others for tag in truth[doc_id])
        popular = sorted(frequency, key=lambda tag: (-frequency[tag], tag))
        usual = max(1, round(sum(frequency.values()) / max(1, len(others))))
        for doc_id in fold_documents:
            given["suggest"][doc_id] = [tag for tag, _ in thresholds.choose(scores[doc_id])]
            ranked["suggest"][doc_id] = sorted(scores[doc_id], key=lambda tag: (-scores[doc_id][tag], tag))
            shuffled = dice.sample(list(tags), len(tags))
            for method, listed in (("popularity", popular), ("random", shuffled)):
                given[method][doc_id], ranked[method][doc_id] = listed[:usual], listed
    return tuple(_figures(method, given[method], ranked[method], truth, tags) for method in given)


def _figures(
    method: str,
    given: Mapping[int, Sequence[str]],
    ranked: Mapping[int, Sequence[str]],
    truth: Mapping[int, frozenset[str]],
    tags: Sequence[str],
) -> DocumentTagging:
    right: Counter[str] = Counter()
    chosen_tags: Counter[str] = Counter()
    wanted: Counter[str] = Counter(tag for doc_id in given for tag in truth[doc_id])
    for doc_id, chosen in given.items():
        chosen_tags.update(chosen)
        right.update(tag for tag in chosen if tag in truth[doc_id])
    hits, all_chosen, all_wanted = right.total(), chosen_tags.total(), wanted.total()
    of_tags = [2 * right[tag] / (chosen_tags[tag] + wanted[tag]) for tag in sorted(set(chosen_tags) | set(wanted))]
    recall = {
        f"recall@{k}": round(fmean(len(truth[d].intersection(ranked[d][:k])) / len(truth[d]) for d in given), 4)
        for k in RECALL_AT
    }
    return DocumentTagging(
        method=method,
        micro_f1=round(2 * hits / max(1, all_chosen + all_wanted), 4),
        macro_f1=round(fmean(of_tags) if of_tags else 0.0, 4),
        precision=round(hits / max(1, all_chosen), 4),
        recall_of_tags=round(hits / max(1, all_wanted), 4),
        coverage=round(len(chosen_tags) / max(1, len(tags)), 4),
        tags_per_document=round(all_chosen / max(1, len(given)), 2),
        recall=recall,
    )
