"""The records that an ask hands from stage to stage, in the order they are made: Question, Retrieved, Judged, Packed,
Generated, Verified, and Ended, in which every ask ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from kb.ask.records import (
    AnswerCitation,
    AnswerNovelty,
    AnswerRetrieval,
    AskRequest,
    EmbeddingRef,
    Outcome,
    PackedChunk,
    RefusalReason,
    Verification,
)
from kb.ask.relevance_decision import RelevanceDecision
from kb.context.node_input import NodeText
from kb.evidence.subjects import NO_SUBJECTS, Subjects
from kb.frozen import dataclass
from kb.language.registry import question_language
from kb.records import Chunk, Citation, ModelRef, SearchResponse

if TYPE_CHECKING:  # small talk makes none of these
    from kb.ask.prompt import Template
    from kb.ask.weigh import Verdict
    from kb.llm.protocol import FinishReason, GenerateRequest, Quoted
    from kb.support.overlap import Window

# (chunk, score), best first.
Ranked = Sequence[tuple[Chunk, float]]
# Between the two texts where both are stored as what the model wrote.
SECOND_TRY = "\n\n--- second try ---\n\n"


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked.

    request   its `standalone` is filled in where the question depends on an earlier turn
    began     time.perf_counter() when the question came in
    decision  which context nodes the question gets; None for a replay
    """

    request: AskRequest
    began: float
    decision: RelevanceDecision | None = None

    @property
    def language(self) -> str:
        """ "en" or "ko"."""
        return question_language(self.request.query)


@dataclass(frozen=True, slots=True)
class UnseenEvidence:
    """The candidates of an ask, compared with what the reader has already.

    ranked    those that mostly say something else, best adjusted score first, with their scores in the search
    repeated  chunk_ids of the others
    summary   the counts, for the answer; its `used` is decided by the judge
    """

    ranked: Ranked
    repeated: frozenset[int]
    summary: AnswerNovelty


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the search found.

    response    with its trace
    ranked      the best k chunks by relevance, in whatever order the hits are shown
    candidates  the same ranking further down: what passages are chosen from; empty for ranked packing
    relevance   chunk_id → score in [0, 1], the one that a hit shows: the same in every mode and fusion
    has_rank_scores  the ranking was fused by ranks: its scores only order
    embedding   None in lexical mode
    unseen      None without a window and outside a session
    each        of a question about the difference of two things, what was found of each alone
    subjects    what the documents of all these are about
    others      what was left out because it is of other documents than the question names, best first
    """

    question: Question
    response: SearchResponse
    ranked: Ranked
    candidates: Ranked
    relevance: Mapping[int, float]
    has_rank_scores: bool
    embedding: EmbeddingRef | None
    unseen: UnseenEvidence | None
    each: Ranked = ()
    subjects: Subjects = NO_SUBJECTS
    others: Ranked = ()


@dataclass(frozen=True, slots=True)
class NearPlace:
    """A place that a refusal lists.

    score  the relevance of what was found there, in [0, 1]; in a replay, the score that its passage was packed with
    """

    citation: Citation
    score: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What an answer tells of its search: of this one, or of a stored answer's when it is replayed.

    nearest   the places that a refusal lists, best first
    response  what was found; None where nothing was searched
    verdict   of the evidence gate; None where it weighed nothing
    """

    retrieval: AnswerRetrieval
    embedding: EmbeddingRef | None = None
    nearest: tuple[NearPlace, ...] = ()
    response: SearchResponse | None = None
    verdict: Verdict | None = None
    novelty: AnswerNovelty | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """Evidence that passed the gates.

    ranked, candidates, each  of `Retrieved`, or of what the reader has not seen
    """

    retrieved: Retrieved
    findings: Findings
    ranked: Ranked
    candidates: Ranked
    each: Ranked = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """A prompt, ready to be sent. A replay enters the line here.

    nodes     context nodes that were read for the prompt
    template  with the place for the nodes, where the prompt has one; version: its name
    """

    question: Question
    findings: Findings
    packed: tuple[PackedChunk, ...]
    prompt: GenerateRequest
    nodes: tuple[NodeText, ...]
    template: Template
    version: str
    model: ModelRef

    def markers(self) -> list[int]:
        """The n of every [#n] that can be cited."""
        return [p.marker for p in self.packed]


@dataclass(frozen=True, slots=True)
class WrittenQuote:
    """A piece of the answer that is a quote.

    at, text  where it begins in the answer, and what stands there
    place     where its words stand in the evidence
    """

    at: int
    text: str
    place: Quoted


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wrote.

    finish_reason     None when it was not asked
    first_token_at    time.perf_counter() of the first piece, None without one
    is_interrupted    a Ctrl-C ended it
    prompt_truncated  the model has read only a part of the prompt; None where that cannot be told
    first_try         what the model wrote before it was asked once more, None when it was not
    quotes            the pieces, where all of them are quotes; empty where a model writes its own words
    """

    text: str = ""
    finish_reason: FinishReason | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    first_token_at: float | None = None
    is_interrupted: bool = False
    prompt_truncated: bool | None = None
    first_try: str | None = None
    quotes: tuple[WrittenQuote, ...] = ()

    def raw_text(self) -> str:
        """All that the model wrote."""
        return self.text if self.first_try is None else self.first_try + SECOND_TRY + self.text


@dataclass(frozen=True, slots=True)
class Generated:
    """A prompt and what the model wrote."""

    packed: Packed
    written: Written


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer's sentences compared with the passages they cite.

    verification  the record
    text          the answer with forged markers made unreadable as markers: [＃3]
    markers       the packed passages that the model cites itself, in order of first appearance
    windows       of each cited passage the stretches that back a sentence
    """

    verification: Verification
    text: str
    markers: tuple[int, ...]
    windows: Mapping[int, tuple[Window, ...]]


@dataclass(frozen=True, slots=True)
class Verified:
    """A checked answer and the verdict on it.

    reason    why it is refused; None for an answer that stands
    rests_on  context nodes that say what no passage does: such an answer stands and is not grounded
    """

    generated: Generated
    checked: Checked
    grounded: bool
    reason: RefusalReason | None
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of an ask, whichever way it came about: all that the answer is built and stored from.

    text      what is shown
    nodes     context nodes that were read
    model     None where none was asked; so is version, of the prompt's template
    """

    question: Question
    findings: Findings
    text: str
    citations: tuple[AnswerCitation, ...] = ()
    grounded: bool = False
    reason: RefusalReason | None = None
    outcome: Outcome = "answered"
    rests_on: tuple[str, ...] = ()
    nodes: tuple[NodeText, ...] = ()
    packed: tuple[PackedChunk, ...] = ()
    prompt: GenerateRequest | None = None
    model: ModelRef | None = None
    version: str | None = None
    written: Written = field(default_factory=Written)
    verification: Verification | None = None
