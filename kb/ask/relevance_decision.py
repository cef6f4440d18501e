"""A question and what is known of its conversation → which context nodes it gets, decided before anything is fetched.

Costs a few counts in the store. Loads no encoder, no index and no model, and imports none of retrieval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime

from kb.ask.records import AnswerRelevance, AskRequest, NodeUse
from kb.context.node_input import NodeInput, NodeText, news_since
from kb.context.nodes import read_nodes
from kb.context.question_subjects import OWN_NODES, asked_of_kb
from kb.frozen import dataclass
from kb.relevance.decide import Decision, decide, log_line
from kb.relevance.read_rules import configured_rules
from kb.relevance.signals import (
    MODES_WITHOUT_RETRIEVAL,
    MODES_WITHOUT_TOPIC,
    WARM_GISTS,
    Conversation,
    ModeChoice,
    choose_mode,
    compute_signals,
    measure_silence,
)
from kb.runtime import Runtime

# What the rule and the fence of the nodes take in a prompt, beside their texts: 95 tokens in English, 113 in Korean.
SLOT_TOKENS = 120


@dataclass(frozen=True, slots=True)
class RelevanceDecision:
    """Which context nodes a question gets.

    choice    the mode, and why it is this one
    decision  of the relevance rules
    node_input  what the nodes' providers may read
    ceilings  node → tokens it may take at most: the rules' estimates
    """

    choice: ModeChoice
    decision: Decision
    node_input: NodeInput
    ceilings: Mapping[str, int]

    @property
    def included(self) -> tuple[str, ...]:
        """The nodes that are read."""
        return self.decision.included

    def needs_retrieval(self) -> bool:
        """False for a mode whose answer rests on no document; a hint names modes in any case."""
        return self.decision.mode not in MODES_WITHOUT_RETRIEVAL

    def for_question(self, question: str) -> RelevanceDecision:
        """The same for a question that was made complete: providers look for what it means."""
        return replace(self, node_input=replace(self.node_input, question=question))

    def read_without_hits(self) -> tuple[NodeText, ...]:
        """What the included nodes have to say where nothing is searched."""
        return read_nodes(self.node_input, self.included, self.ceilings, self.decision.token_budget_remaining)

    def read_for_prompt(self, doc_ids: tuple[int, ...], room_tokens: int) -> tuple[NodeText, ...]:
        """What the included nodes have to say beside the evidence.

        doc_ids      of the documents hit, best first
        room_tokens  what the evidence, the question and the answer leave of the model's window
        """
        budget = max(0, min(self.decision.token_budget_remaining, room_tokens - SLOT_TOKENS))
        return read_nodes(replace(self.node_input, hit_documents=doc_ids), self.included, self.ceilings, budget)

    def view(self, nodes: tuple[NodeText, ...]) -> AnswerRelevance:
        """As the answer's record shows it.

        nodes  the texts of the providers that ran
        """
        copied = {name: getattr(self.decision, name) for name in _COPIED}
        return AnswerRelevance(
            **copied,
            chosen_by=self.choice.why,
            nodes=tuple(NodeUse(node=text.node, tokens=text.tokens) for text in nodes),
            decision=self.decision if self.decision.nodes is not None else None,
        )


# Fields of the answer's record that the decision has as well.
_COPIED = {f.name for f in fields(AnswerRelevance)} & {f.name for f in fields(Decision)} - {"nodes"}


def decide_relevance(kb: Runtime, request: AskRequest, now: datetime | None = None) -> RelevanceDecision:
    """Signals, mode, and the decision; one line of log.

    raises  RulesInvalid
    """
    now = now or datetime.now(UTC)
    config = kb.config.relevance
    rules = configured_rules(config)
    with kb.snapshot():
        conversation = _conversation(kb, request.session_id, now)
        averages = kb.journal.fetch_averages()
    signals = compute_signals(request.query, conversation)
    own = asked_of_kb(request.query)
    choice = choose_mode(signals, hint=request.intent)
    if own and not request.intent and choice.mode in MODES_WITHOUT_TOPIC:
        choice = ModeChoice("RESPOND", "a question that kb answers itself")
    situation = signals.situation(choice.mode, token_budget_remaining=config.token_budget, measured_tokens=averages)
    decision = decide(rules, situation, explain=request.explain)
    if own:
        decision = include_asked_for(decision, OWN_NODES[own], rules.token_estimates)
    if not request.is_evaluation:
        _tell(kb, decision, is_known=rules.mode_named(choice.mode) is not None, faults=rules.warnings)
    node_input = NodeInput(
        corpus=kb.corpus,
        journal=kb.journal,
        home=kb.home,
        profile=kb.config.profile,
        question=request.query,
        mode=decision.mode,
        now=now,
        session_id=request.session_id,
        node_texts=rules.node_texts,
        gives_all=bool(conversation.topic_turns) or not rules.enabled,
    )
    return RelevanceDecision(choice, decision, node_input, rules.token_estimates)


def include_asked_for(decision: Decision, nodes: tuple[str, ...], tokens: Mapping[str, int]) -> Decision:
    """The decision with the nodes that the question itself asks for, where the rules left them out only softly.

    nodes   that may answer the question
    tokens  node → its estimate
    """
    back = tuple(node for node in nodes if node in decision.excluded_soft)
    if not back:
        return decision
    explained = decision.nodes and tuple(
        replace(n, included=True, reasons=(*n.reasons, "the question asks for it")) if n.node in back else n
        for n in decision.nodes
    )
    return replace(
        decision,
        included=tuple(sorted((*decision.included, *back))),
        excluded_soft=tuple(node for node in decision.excluded_soft if node not in back),
        recovered_soft=(*decision.recovered_soft, *back),
        est_tokens=decision.est_tokens + sum(tokens.get(node, 0) for node in back),
        nodes=explained,
    )


def _conversation(kb: Runtime, session_id: str | None, now: datetime) -> Conversation:
    turns, last_at = kb.journal.measure_session(session_id) if session_id is not None else (0, None)
    return Conversation(
        turns=turns,
        topic_turns=kb.journal.count_topic_turns(session_id, MODES_WITHOUT_TOPIC) if session_id and turns else 0,
        gist_count=kb.corpus.notes.count_gists(WARM_GISTS),
        fact_count=kb.journal.count_memories(session_id),
        has_world_state=bool(kb.corpus.newest_documents(news_since(last_at, now), 1)),
        silence_seconds=measure_silence(last_at, now),
    )


def _tell(kb: Runtime, decision: Decision, *, is_known: bool, faults: tuple[str, ...]) -> None:
    """Tell the user of a rules file that cannot be read and of an unknown mode; write the rest to the log."""
    kb.log(log_line(decision))
    for warning in decision.warnings:
        if warning in faults or (not is_known and warning.startswith("unknown mode")):
            kb.notify_once(f"note: {warning}")
        else:
            kb.log(f"[CONTEXT RELEVANCE] warning: {warning}")
