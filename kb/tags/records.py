"""The records of the tag commands that leave the program as JSON, and the options of a suggestion."""

from __future__ import annotations

from typing import Literal

from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SuggestOptions:
    """The options of a suggestion, by their names in the retrieval contract.

    context_tags        canonical tags that count in the context, each like a phrase times `context_tag_weight`
    context_weight      share of the context in the combined score, in [0, 1]
    per_phrase_k        neighbours taken for each phrase
    per_phrase_final_k  candidates kept for each phrase; all tags that the phrase itself names are kept
    global_k            candidates kept in all
    min_count           tags known to be on fewer items are left out
    """

    allow_sensitive: bool = False
    context_tags: tuple[str, ...] = ()
    context_tag_weight: float = 1.0
    context_weight: float = 0.5
    per_phrase_k: int = 50
    per_phrase_final_k: int = 10
    global_k: int = 300
    min_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One suggested tag. Each of the three scores is the best over the phrases that led to it.

    score_combined  orders the candidates
    score_fasttext  likeness of the best neighbour that stands for the tag; 1.0 when a phrase names the tag
    score_context   cosine to all phrases together; None when none of them is in the context's vocabulary
    count           items that carry the tag, None when they were not counted
    sources         the phrases that led to it, sorted
    """

    tag: str
    score_combined: float
    score_fasttext: float | None
    score_context: float | None
    count: int | None
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseCandidate:
    """One row of one phrase's own list.

    alias_token      the most similar neighbour that stands for the tag
    context_imputed  the tag has no context of its own and got the 10th percentile of the others
    """

    tag: str
    alias_token: str
    score_fasttext: float
    score_context: float | None
    score_combined: float
    context_imputed: bool
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseReport:
    """One phrase with its candidates.

    phrase       as the user gave it; a head noun as it was cut off
    tfidf_vocab  the lookup is a term of the context's vocabulary; otherwise it is in oov_terms
    """

    phrase: str
    normalized: str
    lookup: str
    tfidf_vocab: bool
    oov_terms: tuple[str, ...]
    candidates: tuple[PhraseCandidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """kb tags suggest: candidates best first; phrases with --verbose only.

    query_has_context  when False, the combined score is that of the neighbours alone
    notes              what the user should know: no model, a model of another vocabulary, phrases that were left out
    """

    schema_version: Literal["tags.v1"] = "tags.v1"
    candidates: tuple[Candidate, ...]
    phrases: tuple[PhraseReport, ...] | None = None
    query_has_context: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """kb tags import; changed is False when the same vocabulary was imported already."""

    schema_version: Literal["tag_import.v1"] = "tag_import.v1"
    origin: str
    format: str
    tags: int
    aliases: int
    ambiguous_aliases: int
    items: int
    rated: int
    digest: str
    changed: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainReport:
    """kb tags train; a part that was not trained is None, with the reason in notes. Seconds are wall time."""

    schema_version: Literal["tag_training.v1"] = "tag_training.v1"
    origin: str
    digest: str
    tags: int
    aliases: int
    items: int
    tokens: int
    epochs: int | None
    random_cosine: float | None
    neighbour_cosine: float | None
    components: int | None
    seconds: float
    size_bytes: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagView:
    """One canonical tag with its aliases; documents carry it in their front matter, applied ones by kb tags apply."""

    tag: str
    category: str | None
    count: int | None
    rating: float | None
    sensitive: bool
    aliases: tuple[str, ...]
    documents: int
    applied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TagList:
    """kb tags list; total counts the vocabulary, `tags` may hold a part of it.

    origin  the imported file's name, or "documents"
    model   current, stale (of another vocabulary: not used), or none
    """

    schema_version: Literal["tag_list.v1"] = "tag_list.v1"
    origin: str
    digest: str
    total: int
    aliases: int
    items: int
    model: Literal["current", "stale", "none"]
    tags: tuple[TagView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedTag:
    """One tag for one document, with its score."""

    tag: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedDocument:
    """One document with its own tags, from its front matter, and the tags that were applied to it."""

    doc_id: int
    source: str
    path: str
    own: tuple[str, ...]
    applied: tuple[AppliedTag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagApplication:
    """kb tags apply.

    action         applied, planned (--dry-run: nothing was written), removed
    calibrated_on  documents with tags of their own that the thresholds were learned from; 0 when not learned
    threshold      for tags without one of their own
    thresholds     tag → its own threshold
    """

    schema_version: Literal["tag_application.v1"] = "tag_application.v1"
    action: Literal["applied", "planned", "removed"]
    documents: tuple[TaggedDocument, ...]
    calibrated_on: int
    threshold: float | None
    thresholds: dict[str, float]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasRecall:
    """One method to find the tag of a held-out alias: mean recall over the seeds, and the worst.

    method  suggest (all that is suggested, head nouns included); both, ngrams, fasttext (the phrase's own list); the
            baselines char_wb (scikit-learn's TF-IDF of 3 to 6 characters), popularity, random
    """

    method: str
    recall: dict[str, float]
    worst: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTagging:
    """One method to tag the documents that have tags of their own, with thresholds learned on the other folds.

    coverage  share of the vocabulary's tags that at least one document was given
    recall    recall@k of the ranked candidates, before thresholds
    """

    method: str
    micro_f1: float
    macro_f1: float
    precision: float
    recall_of_tags: float
    coverage: float
    tags_per_document: float
    recall: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagEvaluation:
    """kb tags eval; a part that cannot be measured is empty, with the reason in notes.

    aliases_held_out  aliases taken out for each seed
    documents         documents with tags of the vocabulary
    """

    schema_version: Literal["tag_eval.v1"] = "tag_eval.v1"
    origin: str
    tags: int
    aliases_held_out: int
    seeds: int
    aliases: tuple[AliasRecall, ...]
    documents: int
    tagging: tuple[DocumentTagging, ...]
    notes: tuple[str, ...]
