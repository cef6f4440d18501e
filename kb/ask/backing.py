"""A verified answer and the context nodes of its prompt → which sentences rest on a node instead of a passage. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.ask.records import SentenceCheck, Verification
from kb.context.node_input import NodeText
from kb.frozen import dataclass
from kb.language.registry import LANGUAGES, question_language
from kb.support.check import VERIFIED, support_score

# Nodes that hold documents' own words: what they say can be cited from the documents, or not at all.
DOCUMENT_NODES = frozenset({"gists", "active_lists"})


@dataclass(frozen=True, slots=True)
class Backing:
    """What the nodes back of an answer.

    verification  with the sentences that rest on a node marked
    nodes         those they rest on, in the order of the prompt
    is_whole      every sentence is backed by what it cites, or by a node
    """

    verification: Verification
    nodes: tuple[str, ...]
    is_whole: bool


def find_backing(verification: Verification, nodes: Sequence[NodeText]) -> Backing:
    """Which sentences rest on a context node: no passage backs them, and one line of a node does.

    A marker behind such a sentence changes nothing: only evidence can be cited.
    """
    checks = [_with_node(check, nodes) for check in verification.sentences]
    used = {check.rests_on for check in checks}
    return Backing(
        verification=replace(verification, sentences=tuple(checks)),
        nodes=tuple(text.node for text in nodes if text.node in used),
        is_whole=all(check.rests_on or check.status in ("verified", "likely", "weak") for check in checks),
    )


def rests_on_line(nodes: Sequence[str], question: str) -> str:
    """What stands below an answer that rests on nodes, in the question's language."""
    language = question_language(question)
    return LANGUAGES[language].replies["from_nodes_below"].format(nodes=name_nodes(nodes, language))


def name_nodes(nodes: Sequence[str], language: str) -> str:
    """Context nodes by what users know them as; one of a rules file by its own name.

    >>> name_nodes(("facts", "house_rules"), "en"), name_nodes(("facts",), "ko")
    ('what you told kb, house rules', '기억해 둔 사실')
    """
    replies = LANGUAGES[language].replies
    return ", ".join(replies.get(f"node_{node}", node.replace("_", " ")) for node in nodes)


def _with_node(check: SentenceCheck, nodes: Sequence[NodeText]) -> SentenceCheck:
    if check.status in ("verified", "misattributed") or check.score >= VERIFIED:
        return check
    told = [(text.node, line) for text in nodes if text.node not in DOCUMENT_NODES for line in text.text.splitlines()]
    lines = [(support_score(check.text, [line]), node) for node, line in told]
    score, node = max(lines, key=lambda found: found[0], default=(0.0, ""))
    if score < VERIFIED:
        return check
    return replace(
        check, rests_on=node, reasons=(*check.reasons, f"only {name_nodes((node,), 'en')} says so, no document")
    )
