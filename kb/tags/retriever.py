"""A knowledge base → its tag retriever: over the trained model where that is current, else over n-grams alone.

It is opened on first use and kept until the vocabulary or the model changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal
from weakref import WeakKeyDictionary

from kb.config import TagsConfig
from kb.errors import IndexOutOfDate, InvalidInput, NotIndexed
from kb.frozen import dataclass
from kb.index.stamp import IndexStamp
from kb.runtime import Runtime
from kb.tags.context import Context
from kb.tags.draft import first_few
from kb.tags.fasttext import FastTextIndex
from kb.tags.grams import GramIndex, build_grams
from kb.tags.importing import require_vocabulary
from kb.tags.model import FORMAT, Model, model_stamp, read_figures, read_model
from kb.tags.neighbours import gram_neighbours, make_source
from kb.tags.phrases import query_phrases
from kb.tags.records import Candidate, Suggestions, SuggestOptions
from kb.tags.suggest import ContextSource, NeighbourSource, suggest
from kb.tags.vocabulary import DOCUMENTS, Vocabulary, vocabulary_of_documents
from kb.tags.words import fold, is_sayable, normalize_phrase

# A less similar tag is not offered as "did you mean".
NEAR_ENOUGH = 0.3
# FastText's share where it is mixed with n-grams (benchmarks/tags.py compares 0.05 to 0.4).
FASTTEXT_WEIGHT = 0.1

ModelState = Literal["current", "stale", "none"]


@dataclass(frozen=True, slots=True)
class Retriever:
    """Makes suggestions from a vocabulary, a source of neighbours and a context.

    context  None without a trained model, or where its items were too few
    notes    why the trained model is not used, in words for the user
    """

    vocabulary: Vocabulary
    source: NeighbourSource
    context: ContextSource | None
    sensitive: frozenset[str]
    notes: tuple[str, ...] = ()

    def suggest(self, phrases: Sequence[str], options: SuggestOptions) -> Suggestions:
        """Candidates for phrases, with a report for each phrase; see `kb.tags.suggest.suggest`.

        raises  InvalidInput when no phrase has a letter, a digit or a tag of its own, or a context tag is unknown
        """
        named = [p for p in phrases if is_sayable(normalize_phrase(p)) or self.vocabulary.project(p)]
        left_out = [p for p in phrases if p not in named]
        if not named:
            shown = f"'{left_out[0]}' has no letter and no digit" if left_out else "no phrase given"
            raise InvalidInput(shown, fix="say what it is about, for example: kb tags suggest 'borrow checker'")
        tags = tuple(dict.fromkeys(tag for name in options.context_tags for tag in self._context_tag(name)))
        blocked = frozenset() if options.allow_sensitive else self.sensitive
        found = suggest(named, self.vocabulary, self.source, self.context, replace(options, context_tags=tags), blocked)
        notes = self.notes
        if left_out:
            shown = first_few([f"'{phrase}'" for phrase in left_out])
            notes = (*notes, f"left out, without a letter or digit: {shown}")
        return replace(found, notes=notes)

    def _context_tag(self, name: str) -> tuple[str, ...]:
        tags = self.vocabulary.project(name)
        if not tags:
            raise InvalidInput(f"no tag '{name}'", fix=self._nearest(name))
        return tags

    def _nearest(self, name: str) -> str:
        found = suggest([name], self.vocabulary, self.source, None, SuggestOptions(global_k=3))
        near = [row.tag for row in found.candidates if row.score_combined >= NEAR_ENOUGH]
        return f"did you mean: {', '.join(near)}?" if near else "see what there is with: kb tags list"


_opened: WeakKeyDictionary[Runtime, tuple[object, Retriever]] = WeakKeyDictionary()


def open_retriever(kb: Runtime) -> Retriever:
    """The retriever of this knowledge base as it is now.

    raises  NotIndexed when there is no tag at all
    """
    stamp = model_stamp(kb.home)
    imported = kb.corpus.tags.imported_vocabulary()
    mark = (stamp, imported, None if imported else kb.corpus_state())
    held = _opened.get(kb)
    if held is None or held[0] != mark:
        held = _opened[kb] = (mark, _open(kb, stamp))
    return held[1]


def model_state(kb: Runtime, stamp: IndexStamp | None) -> ModelState:
    """Whether there is a model, and whether it was trained on the current vocabulary."""
    if stamp is None:
        return "none"
    if stamp.format != FORMAT:
        return "stale"
    imported = kb.corpus.tags.imported_vocabulary()
    if imported is not None:
        return "current" if stamp.encoder_digest == imported.digest else "stale"
    if stamp.kind == DOCUMENTS and stamp.state == kb.corpus_state().token:
        return "current"
    own = vocabulary_of_documents(kb.corpus.tags.document_tag_lists().values())
    return "current" if stamp.encoder_digest == own.digest else "stale"


def _open(kb: Runtime, stamp: IndexStamp | None) -> Retriever:
    state = model_state(kb, stamp)
    config = kb.config.tags
    if stamp is not None and state == "current":
        try:
            return trained_retriever(read_model(kb.home, stamp), config)
        except IndexOutOfDate as error:
            note = f"{error.problem}: not used; {error.fix}"
    elif stamp is not None:
        note = _describe_stale(kb, stamp)
    else:
        note = "not trained yet: letters alone find neighbours, without context; train with: kb tags train"
    return untrained_retriever(require_vocabulary(kb.corpus.tags), config, (note,))


def _describe_stale(kb: Runtime, stamp: IndexStamp) -> str:
    figures = read_figures(kb.home, stamp)
    imported = kb.corpus.tags.imported_vocabulary()
    origin, shown = (imported.origin, imported.origin) if imported else (DOCUMENTS, "the documents' own tags")
    if figures is None or stamp.format != FORMAT:
        made = "by another version of kb"
    else:
        made = f"on {'the documents' if figures.origin == DOCUMENTS else figures.origin} at {figures.trained_at}"
    changed = f"the vocabulary is {shown} now"
    if figures and figures.origin == origin:
        changed = "which have changed since"
    return f"the model {stamp.place} was trained {made}, {changed}: it is not used; train again with: kb tags train"


def trained_retriever(model: Model, config: TagsConfig) -> Retriever:
    """A retriever over an opened model."""
    arrays, figures = model.arrays, model.figures
    grams = GramIndex(arrays, len(model.tokens))
    fasttext = None
    if "word_vectors" in arrays and figures.buckets:
        words = [fold(token) for token in model.tokens]
        fasttext = FastTextIndex(arrays, words, figures.buckets, figures.random_cosine or 0.0)
    notes: tuple[str, ...] = ()
    if fasttext is None and config.neighbours == "fasttext":
        notes = ("the model has no FastText part: n-grams find neighbours; train again with: kb tags train",)
    context = None
    if model.context_tags:
        keys = model.vocabulary.keys()
        context = Context(arrays, model.context_tags, [keys[tag] for tag in model.context_tags])
    source = make_source(config.neighbours, model.tokens, grams, fasttext, FASTTEXT_WEIGHT)
    sensitive = model.vocabulary.sensitive(config.sensitive_threshold)
    return Retriever(model.vocabulary, source, context, sensitive, notes)


def untrained_retriever(vocabulary: Vocabulary, config: TagsConfig, notes: tuple[str, ...] = ()) -> Retriever:
    """A retriever that needs no training: names, aliases and character n-grams, indexed in memory."""
    tokens = vocabulary.neighbour_tokens()
    source = gram_neighbours(GramIndex(build_grams(tokens), len(tokens)), tokens)
    return Retriever(vocabulary, source, None, vocabulary.sensitive(config.sensitive_threshold), notes)


def default_options(config: TagsConfig) -> SuggestOptions:
    """The configured options of a suggestion."""
    return SuggestOptions(
        context_weight=config.context_weight,
        per_phrase_k=config.per_phrase_k,
        per_phrase_final_k=config.per_phrase_final_k,
        global_k=config.global_k,
        min_count=config.min_count,
    )


def suggest_for_query(kb: Runtime, query: str, most: int) -> tuple[Candidate, ...]:
    """The tags a search's query is about, best first, `most` at most; none for a query without phrases or without any tag."""
    phrases = [phrase for phrase in query_phrases(query) if is_sayable(phrase)]
    if not phrases:
        return ()
    try:
        retriever = open_retriever(kb)
    except NotIndexed:
        return ()
    return retriever.suggest(phrases, replace(default_options(kb.config.tags), global_k=most)).candidates
