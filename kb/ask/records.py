"""What an answer is: the same complete record for every way an ask can end."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from kb.evidence.records import Signals, Variant
from kb.followup.records import context_of, with_context
from kb.frozen import dataclass
from kb.language.registry import question_language
from kb.records import Chunk, Citation, Filters, Hit, ModelRef, SearchMode, SearchTrace
from kb.relevance.decide import Decision

if TYPE_CHECKING:  # most questions name no window
    from kb.packing.known_text import KnownText

RefusalReason = Literal[
    "no_chunks", "score_gate", "weak_evidence", "llm_self_judge", "not_backed", "llm_stream_aborted", "llm_truncated"
]

# How an ask ends, for people. not_sure: passages are close, none clearly answers; not_told: the user asks about themselves,
# and nobody told kb; broken_off: no answer was written to its end.
Outcome = Literal["answered", "not_sure", "not_in_documents", "not_told", "broken_off"]


@dataclass(frozen=True, slots=True)
class AskRequest:
    """One question as the user put it.

    k              passages to retrieve at most
    temperature    None takes the configured one; so does seed
    explain        keep the packed texts with the answer, and the trace in it
    is_evaluation  not the user's own question: the answer is given back and not stored among theirs
    replay_of      trace id of the stored answer that this one repeats
    known_text     what the reader has already; what the answers of the session have cited joins it
    intent         the mode of the relevance rules that is meant, whatever the question looks like; None leaves it to them
    standalone     the question as it stands alone, where `question` depends on an earlier one: a sentence, or the earlier
                   questions followed by this one; None where it is complete
    """

    question: str
    mode: SearchMode = "hybrid"
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    temperature: float | None = None
    seed: int | None = None
    explain: bool = False
    session_id: str | None = None
    is_evaluation: bool = False
    replay_of: str | None = None
    known_text: KnownText | None = None
    intent: str | None = None
    standalone: str | None = None

    @property
    def query(self) -> str:
        """What is searched for and weighed, and what quotes are chosen by."""
        return self.standalone or self.question

    @property
    def own_question(self) -> str:
        """What is asked this time: the completed sentence, without earlier questions that it was joined to for the search."""
        return self.question if context_of(self.standalone, self.question) else self.query

    def asked(self, language: str) -> str:
        """What a model is asked: a sentence, or the question as typed with the earlier ones as its context."""
        earlier = context_of(self.standalone, self.question)
        return with_context(self.question, earlier, language) if earlier else self.query


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """One passage in the prompt.

    marker  the n of [#n], from 1
    entry   header and text, as the prompt holds them
    members  chunk_ids it is made of; empty where it is its chunk alone
    """

    marker: int
    chunk: Chunk
    score: float
    entry: str
    members: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCitation:
    """A place the answer points to.

    marker  the n of [#n] in the answer; None for the near candidates that a refusal lists
    quote   the cited words, None where the whole passage is meant
    source  where its document comes from; the citation's path is relative to that
    title   of its document
    """

    marker: int | None
    citation: Citation
    quote: str | None = None
    source: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRef:
    """Which encoder took part; absent in lexical mode."""

    id: str
    dimensions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRetrieval:
    """What was retrieved for an answer, and the gates it had to pass.

    top_score       fused score of the best hit, None without a hit
    evidence_gate   threshold of the evidence gate, 0 when it is off
    evidence_score  the probability it found that the evidence answers, None without a hit
    reader          name and digest of the reader that ordered and judged the evidence, None where none could read the
                    question
    """

    mode: SearchMode
    k: int
    score_gate: float
    top_score: float | None
    evidence_gate: float | None = None
    evidence_score: float | None = None
    chunks_returned: int
    chunks_used: int
    corpus_revision: int
    reader: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an answer cost; tokens as the model counted them, None where it did not say.

    prompt_truncated  the model has read only a part of the prompt; None where that cannot be told
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: float
    first_token_ms: float | None
    prompt_truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedView:
    """A packed passage as --explain shows it."""

    marker: int
    chunk_id: int
    score: float
    citation: Citation
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceView:
    """The evidence gate's reasons as --explain shows them.

    variant  which weights: fitted to the encoder, words alone, or unfitted (an encoder that there are none for)
    weakest  the signal that costs most against an answered question's, None where none does
    missing  what is asked about and stands in no packed passage
    """

    score: float
    variant: Variant
    weakest: str | None
    missing: tuple[str, ...]
    signals: Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUse:
    """One context node that was read: the tokens of what it said, 0 where it had nothing to say."""

    node: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRelevance:
    """Which context nodes a question was worth, and what they gave.

    chosen_by   why it is this mode
    nodes       those that were read, in the order of the prompt; a refusal reads those only that could answer
    decision    with --explain: every node with its reasons
    The other fields are those of relevance.v1.
    """

    mode: str
    chosen_by: str
    included: tuple[str, ...]
    excluded_hard: tuple[str, ...]
    excluded_soft: tuple[str, ...]
    recovered_soft: tuple[str, ...]
    deps_added: tuple[str, ...]
    overrides_applied: tuple[str, ...]
    est_tokens: int
    token_budget_remaining: int
    nodes: tuple[NodeUse, ...] = ()
    decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What --explain adds: the retrieval trace, the packed passages, what the evidence gate saw in them."""

    trace: SearchTrace
    packed: tuple[PackedView, ...]
    evidence: EvidenceView | None = None


SentenceStatus = Literal[
    "verified", "likely", "weak", "contradicted", "unsupported", "unknown_marker", "misattributed", "forged", "uncited"
]
VerificationStatus = Literal["verified", "likely", "weak", "contradicted", "unsupported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceCheck:
    """One sentence of an answer, held against the passages it cites.

    start, end        [start, end) offsets into `answer`, markers included
    text              without markers
    status            verified, likely, weak, unsupported: how far the cited passages back it, likely: they may say it in other
                      words; contradicted: they say otherwise;
                      unknown_marker: it cites only what was not packed; misattributed: another packed passage backs it, the cited ones do not; forged: its
                      marker was copied out of a document and the passage of that number does not back it; uncited
    score             probability that its passages back it, in [0, 1]; of an uncited one, the best that any passage does
    misattributed_to  the marker whose passage backs it instead, or is likely to; None where the cited ones do, and where none does
    idle_markers      cited beside others that back it without them; those that stand for no passage too
    reasons           why it is not backed, in words
    rests_on          the context node that says it where no passage does; None otherwise
    """

    start: int
    end: int
    text: str
    markers: tuple[int, ...]
    status: SentenceStatus
    score: float
    misattributed_to: int | None = None
    idle_markers: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    rests_on: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of holding an answer's sentences against the text they cite.

    status    contradicted: a text says otherwise than a sentence; unsupported: no more than half of the answer is backed;
              weak: most of it is; likely: every sentence is, or may be in other words; verified: every sentence is. Only the
              last three stand, and are grounded
    verified  sentences that are backed, by what they cite or, citing nothing, by a packed passage; total: all sentences; coverage: share that cites a packed passage
    retried   the model was asked once more, because markers were missing or unknown
    """

    status: VerificationStatus
    verified: int
    total: int
    coverage: float
    sentences: tuple[SentenceCheck, ...]
    forged_markers: tuple[int, ...] = ()
    retried: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNovelty:
    """The evidence held against what the reader has been shown.

    used        fresh: only what mostly does not repeat it; all: what was shown carries the answer better; none: more was
                asked for, and there is nothing new that answers
    candidates  passages that were held against it; novel: those that it hardly has; exact_duplicates: those it has whole
    shown_in    trace ids of the session's answers that showed the evidence used again
    """

    used: Literal["fresh", "all", "none"]
    candidates: int
    novel: int
    exact_duplicates: int = 0
    shown_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of an ask.

    answer          what to show; for a refusal the refusal, never what the model made up
    grounded        every marker is known, there is at least one, and no sentence rests on a context node instead
    outcome         how it ended, for people: a refusal is not sure, or says that the documents do not answer
    refusal_reason  None when grounded, when a context node answers (`rests_on`), and for small talk
    relevance       which context nodes were wanted; None for a replay
    standalone_question  what was searched for, where the question depends on earlier turns: the completed question, or the
                         earlier question followed by this one; None where it is complete
    rests_on        context nodes that say what no document does: such an answer is not grounded
    verification    the sentences held against the text they cite; None where no model wrote any to the end
    novelty         against what the reader has been shown; None without a window and outside a session
    highlights      [start, end) in `answer` of the sentences that answer, where it is made of quotes
    model           who wrote it; where no model was asked, the one that is configured, without a digest
    """

    schema_version: Literal["answer.v1"] = "answer.v1"
    trace_id: str
    question: str
    answer: str
    citations: tuple[AnswerCitation, ...]
    grounded: bool
    refusal_reason: RefusalReason | None
    model: ModelRef
    embedding: EmbeddingRef | None
    prompt_template_version: str
    retrieval: AnswerRetrieval
    usage: Usage
    created_at: str
    verification: Verification | None = None
    explanation: Explanation | None = None
    novelty: AnswerNovelty | None = None
    relevance: AnswerRelevance | None = None
    rests_on: tuple[str, ...] = ()
    standalone_question: str | None = None
    highlights: tuple[tuple[int, int], ...] = ()
    outcome: Outcome = "answered"

    def places(self) -> tuple[tuple[int, Citation], ...]:
        """The places it cites by their markers; the closest passages of a refusal numbered from 1."""
        cited = [c for c in self.citations if c.marker is not None] or self.citations
        return tuple((c.marker if c.marker is not None else n, c.citation) for n, c in enumerate(cited, start=1))

    def language(self) -> str:
        """The language of what was asked, and so of the answer."""
        return question_language(self.standalone_question or self.question)

    def is_quote(self) -> bool:
        """True for an answer of quotes, which no language model wrote."""
        return self.grounded and self.model.provider == "extractive"

    def is_acknowledgement(self) -> bool:
        """True for the reply to small talk: it asserts nothing."""
        return not (self.grounded or self.refusal_reason or self.rests_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEvent:
    """One step of an ask, as NDJSON: what was retrieved, each piece of text, that the answer is stored.

    highlights  [start, end) in `text` of the sentence that answers, where the piece is a quote

    The line after `answer` is the answer.v1 itself, the last one.
    """

    schema_version: Literal["answer_event.v1"] = "answer_event.v1"
    event: Literal["retrieval", "token", "answer"]
    hits: tuple[Hit, ...] | None = None
    text: str | None = None
    trace_id: str | None = None
    highlights: tuple[tuple[int, int], ...] | None = None


class AnswerInterrupted(KeyboardInterrupt):
    """A Ctrl-C ended an answer; what came of it is stored.

    answer  the refusal, llm_stream_aborted
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer
