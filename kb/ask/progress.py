"""What is known of an answer while it is made: the steps of the pipeline fill it in one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.ask.choose import Candidates
from kb.ask.from_nodes import NodeAnswer
from kb.ask.generate import Generated
from kb.ask.prompt import Template
from kb.ask.records import AnswerNovelty, AnswerRetrieval, AskRequest, EmbeddingRef, PackedChunk
from kb.ask.situation import Outlook
from kb.ask.verify import Checked
from kb.ask.weigh import Verdict
from kb.context.node_input import NodeText
from kb.llm.protocol import GenerateRequest
from kb.records import Chunk, ModelRef, SearchResponse

if TYPE_CHECKING:  # most questions name no window
    from kb.ask.freshness import Fresh


@dataclass(slots=True)
class Progress:
    """What is known of an answer so far; the pipeline's `_finish` turns it into the record, whatever way it ended.

    ranked      the hits' chunks with their scores, best first
    candidates  the same of what neighbourhoods are chosen from, farther down the ranking
    verdict     the evidence gate's, None until it was asked
    fresh       the evidence held against what the reader has, None where that is not known; novelty: what came of it
    retrieval   what was retrieved, where that was long ago: the answer is replayed
    version     of the template the prompt was made with
    outlook     what was decided about the context nodes, None for a replay
    nodes       those that were read; rests_on: those that the answer rests on
    said        a node's own answer, in place of a refusal
    """

    request: AskRequest
    began: float
    template: Template
    response: SearchResponse
    ranked: list[tuple[Chunk, float]]
    embedding: EmbeddingRef | None
    model: ModelRef
    candidates: Candidates = ()
    packed: list[PackedChunk] = field(default_factory=list)
    prompt: GenerateRequest | None = None
    verdict: Verdict | None = None
    generated: Generated = field(default_factory=Generated)
    retrieval: AnswerRetrieval | None = None
    checked: Checked | None = None
    version: str = ""
    outlook: Outlook | None = None
    nodes: tuple[NodeText, ...] = ()
    rests_on: tuple[str, ...] = ()
    said: NodeAnswer | None = None
    fresh: Fresh | None = None
    novelty: AnswerNovelty | None = None
