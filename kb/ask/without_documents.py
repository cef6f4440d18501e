"""A question that kb answers itself, asks about the user, or no document answers → the answer of a context node, if any."""

from __future__ import annotations

from kb.ask.from_nodes import NodeAnswer, answer_from_nodes, find_full_fact, find_told_of_user
from kb.ask.own_questions import NOBODY, answer_own_question
from kb.ask.small_talk import nothing_searched
from kb.ask.stages import Ended, Judged, Question
from kb.runtime import Runtime


def answer_what_kb_knows(kb: Runtime, question: Question) -> Ended | None:
    """The answer to a question about the user, the date, kb, earlier questions or open items; None for every other question.

    Filters name documents: a question that is asked with them is for the documents.
    """
    if question.decision is None or not question.request.filters.is_empty():
        return None
    told = answer_own_question(question.decision.node_input, question.decision.included)
    return _answer(kb, question, told) if told else None


def answer_about_user(kb: Runtime, question: Question) -> Ended | None:
    """The answer to a question about the user, from what they told; None for every other question."""
    if question.decision is None:
        return None
    told = find_told_of_user(question.decision.node_input, question.decision.included)
    return _answer(kb, question, told) if told else None


def answer_from_full_fact(judged: Judged) -> Ended | None:
    """What the user told, where it names all that is asked and no passage of the evidence does; None otherwise."""
    question = judged.retrieved.question
    if question.decision is None:
        return None
    passages = [chunk.text for chunk, _ in judged.ranked]
    told = find_full_fact(question.decision.node_input, question.decision.included, passages)
    if told is None:
        return None
    return Ended(question, judged.findings, told.text, rests_on=(told.node,), nodes=(told.as_text(),))


def answer_without_documents(kb: Runtime, question: Question) -> Ended | None:
    """A node's answer in a knowledge base without documents; None where no node answers."""
    told = answer_in_place(question, was_read=False)
    return _answer(kb, question, told) if told else None


def answer_in_place(question: Question, *, was_read: bool) -> NodeAnswer | None:
    """A node's answer to a question that the documents do not answer; None for a replay.

    was_read  a model has read the evidence and found no answer in it
    """
    if question.decision is None:
        return None
    return answer_from_nodes(question.decision.node_input, question.decision.included, was_read=was_read)


def _answer(kb: Runtime, question: Question, told: NodeAnswer) -> Ended:
    """The end of an ask without a search: a node's answer, or the refusal that stands in NOBODY's."""
    findings = nothing_searched(kb, question.request)
    if told.node == NOBODY:
        return Ended(question, findings, told.text, reason="no_chunks", outcome="not_told")
    return Ended(question, findings, told.text, rests_on=(told.node,), nodes=(told.as_text(),))
