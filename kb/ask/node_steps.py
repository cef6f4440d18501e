"""The context nodes' part in the pipeline: a node that answers where documents do not, and claims that rest on one."""

from __future__ import annotations

from dataclasses import replace

from kb.ask.cite import is_refusal
from kb.ask.from_nodes import NodeAnswer, answer_about_user, answer_from_nodes, find_backing
from kb.ask.progress import Progress
from kb.ask.prompt import template_for
from kb.ask.records import AskRequest, RefusalReason
from kb.ask.situation import Outlook
from kb.knowledge_base import KnowledgeBase
from kb.language.registry import question_language
from kb.llm.references import configured_reference
from kb.records import SearchResponse


def hold_nodes(progress: Progress, grounded: bool, reason: RefusalReason | None) -> tuple[bool, RefusalReason | None]:
    """The verdict once it is known which sentences rest on a context node: with one, no answer is grounded."""
    assert progress.checked is not None
    if not any(text.text for text in progress.nodes) or is_refusal(progress.generated.text):
        return grounded, reason
    backing = find_backing(progress.checked.verification, progress.nodes)
    if not backing.nodes:
        return grounded, reason
    progress.checked = replace(progress.checked, verification=backing.verification)
    if not backing.is_whole:
        return False, reason or "llm_self_judge"
    progress.rests_on = backing.nodes
    return False, None


def speak(progress: Progress) -> NodeAnswer | None:
    """What a context node says to the question in place of a refusal; None where none does, and for a replay."""
    outlook = progress.outlook
    if outlook is None:
        return None
    said = answer_from_nodes(
        outlook.occasion, outlook.decision.included, was_read=progress.generated.finish_reason is not None
    )
    if said:
        progress.rests_on = (said.node,)
        if not progress.prompt:
            progress.nodes = (said.as_text(),)
    return said


def speak_of_user(kb: KnowledgeBase, request: AskRequest, outlook: Outlook, began: float) -> Progress | None:
    """The answer to a question about the user, from what they told; None for every other question."""
    told = answer_about_user(outlook.occasion, outlook.decision.included)
    if told is None:
        return None
    progress = without_documents(kb, request, began)
    progress.outlook, progress.said = outlook, told
    progress.rests_on, progress.nodes = (told.node,), (told.as_text(),)
    return progress


def without_documents(kb: KnowledgeBase, request: AskRequest, began: float) -> Progress:
    """An ask of a knowledge base that holds nothing yet but what the user told it."""
    revision = kb.corpus_state().revision
    return Progress(
        request=request,
        began=began,
        template=template_for(kb.config.rag.prompt_template_version, question_language(request.query)),
        response=SearchResponse(query=request.query, mode=request.mode, hits=(), took_ms=0.0, index_revision=revision),
        ranked=[],
        embedding=None,
        model=configured_reference(kb.config.llm),
        version=kb.config.rag.prompt_template_version,
    )
