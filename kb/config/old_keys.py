"""Keys of earlier versions → the keys that replace them, with one line for the user about each.

A key stays here for one version after it was renamed or removed; then it is unknown like any other wrong name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kb.config.keys import environment_name

# Old key → new key. Values are taken over, apart from those in VALUES.
RENAMED = {
    "rag.packs": "rag.packing",
    **{f"cswr_weights.{axis}": f"cswr.weights.{axis}" for axis in ("vector", "stability", "fit", "drift", "coherence")},
}
# Values of renamed keys that the new key spells differently.
VALUES = {("rag.packs", "relevance"): "neighbourhoods"}

# Removed key → what kb does now, whatever the key says.
REMOVED = {
    "chunking.max_tokens": "the encoder's own limit bounds a chunk",
    "context.fusion": "the hits of a widened search join those of the first by reciprocal ranks",
    "context.tokenizer": "tokens are counted as an estimate for language models",
    "cswr.confidence": "packs that hold an answer with a probability under 0.55 are dropped",
    "cswr.least_score": "packs start from passages that score 0.25 or more",
    "cswr.main_stability": "neighbours with a stability of 0.65 or more join a pack",
    "cswr.pack_tokens": "a pack holds 1,800 tokens at most",
    "cswr.packs": "a prompt holds 4 packs at most",
    "cswr.supporting_score": "a less stable neighbour joins a pack when it scores 0.40 or more",
    "embedding.batch_size": "texts are encoded 32 at a time",
    "embedding.fast_queries": "queries are read by ONNX Runtime where the model can be exported",
    "novelty.cache_entries": "10,000 fingerprints are cached",
    "novelty.cache_ttl_seconds": "fingerprints are cached for 20 minutes",
    "novelty.exponent": "the penalty grows with the overlap to the power of 1.35",
    "novelty.near_duplicate_overlap": "a passage is a near-duplicate from an overlap of 0.85 on",
    "novelty.novel_overlap": "a passage is new below an overlap of 0.30",
    "novelty.path_weight": "a repeated path of the graph loses 0.60 of its score at most",
    "search.repeat_loss": "hits of one document are not moved apart",
    "search.rrf_k": "the constant of reciprocal rank fusion is 60",
    "search.tags_weight": "the list of --expand-tags weighs 0.25",
    "search.title_weight": "the title counts as a part of the text",
    "tags.alias_rate": "FastText reads a tenth of the tags as one of their aliases",
    "tags.epochs": "FastText reads the items as often as their number needs",
    "tags.fasttext_weight": "FastText has a share of 0.1 in the mixture",
    "tags.seed": "the seed is 1",
}


class Setting(NamedTuple):
    """One value that somebody set: section.key, the value, and the file, variable or flag that set it."""

    name: str
    value: Any
    origin: str


def replace_old_keys(settings: Iterable[Setting], notify: Callable[[str], None]) -> list[Setting]:
    """The settings of one source by their present names, with a line to the user about each old one.

    A renamed key comes first, so that the present name wins where a source sets both.
    """
    renamed: list[Setting] = []
    present: list[Setting] = []
    for setting in settings:
        name, value, origin = setting
        if name in RENAMED:
            new = RENAMED[name]
            respelled = VALUES.get((name, str(value)))
            renamed.append(Setting(new, respelled or value, origin))
            shown = environment_name(new) if origin == environment_name(name) else new
            notify(f"{name} in {origin} has a new name: use {shown}" + (f" = {respelled}" if respelled else ""))
        elif name in REMOVED:
            notify(f"{name} in {origin} was removed and is ignored: {REMOVED[name]}")
        else:
            present.append(setting)
    return renamed + present
