"""A question that no document answers → what a context node says to it, and which sentences of a model rest on one.

Asked after the evidence was refused, where there are no documents, and, for what the user told of themselves, before anything
is searched. A node never speaks for evidence: what is found here is no grounded answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from kb.ask.records import SentenceCheck, Verification
from kb.context.abilities import SKILLS, Skill
from kb.context.node_input import NodeInput, NodeText, make_safe, quote
from kb.context.question_subjects import asks_about, is_for_kb, refers_back
from kb.evidence.matching import match_strength, user_strength
from kb.language.manner import is_about_user, is_errand, tidy
from kb.language.registry import question_language
from kb.store.sessions import Turn
from kb.support.check import VERIFIED, support_score
from kb.text import STOP_WORDS, analyze, estimate_tokens

# Facts and turns that are looked at, best first by words.
LOOKED_AT = 20
# Facts that are said when several answer equally well: the newest.
SAID_FACTS = 3
NEWEST_DOCUMENTS = 3
LISTED_SKILLS = 3


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What a node says to a question.

    node  whose words these are
    text  the answer, in the question's language, which says where it is from
    """

    node: str
    text: str

    def as_text(self) -> NodeText:
        """For the record of what was read."""
        return NodeText(self.node, self.text, estimate_tokens(self.text))


def answer_from_nodes(node_input: NodeInput, included: Collection[str], *, was_read: bool) -> NodeAnswer | None:
    """The first node that answers strongly, of those that are included; None when none does.

    was_read  a model has read the evidence and found no answer in it: then no earlier answer is repeated
    """
    language = question_language(node_input.question)
    for node, speak in SPEAKERS.items():
        if node in included and not (was_read and node in EARLIER_ANSWERS):
            said = speak(node_input, language)
            if said:
                return NodeAnswer(node, said)
    return None


def find_told_of_user(node_input: NodeInput, included: Collection[str]) -> NodeAnswer | None:
    """What the user told of themselves, where that is what is asked for: no document knows which night is theirs."""
    if "facts" not in included or not is_about_user(tidy(node_input.question)):
        return None
    language = question_language(node_input.question)
    found = node_input.journal.find_memories(node_input.question, node_input.session_id, LOOKED_AT)
    strengths = {fact: user_strength(node_input.question, fact.text) for fact in found}
    fits = [fact for fact in found if strengths[fact] and strengths[fact] == max(strengths.values())][:SAID_FACTS]
    if not fits:
        return None
    lines = [_FACT[language].format(date=f.created_at[:10], id=f.fact_id, text=make_safe(f.text)) for f in fits]
    return NodeAnswer("facts", "\n".join(lines))


def _from_facts(node_input: NodeInput, language: str) -> str | None:
    found = node_input.journal.find_memories(node_input.question, node_input.session_id, LOOKED_AT)
    strengths = {fact: match_strength(node_input.question, fact.text) for fact in found}
    best = max(strengths.values(), default=0.0)
    if not best:
        return None
    fits = sorted((f for f in found if strengths[f] == best), key=lambda f: -f.fact_id)[:SAID_FACTS]
    wording = _FACT[language]
    return "\n".join(wording.format(date=f.created_at[:10], id=f.fact_id, text=make_safe(f.text)) for f in fits)


def _from_world(node_input: NodeInput, language: str) -> str | None:
    if asks_about(node_input.question, "date"):
        today = node_input.now.astimezone()
        return _TODAY[language].format(date=today.strftime("%Y-%m-%d"), day=_DAYS[language][today.weekday()])
    if not asks_about(node_input.question, "corpus"):
        return None
    count = node_input.corpus.count_documents()
    newest = node_input.corpus.newest_documents("", NEWEST_DOCUMENTS)
    said = _CORPUS[language].format(count=count, revision=node_input.corpus.state().revision)
    said += _NEWEST[language] if newest else "."
    return "\n".join([said] + [f" · {make_safe(path)} ({when[:10]})" for path, when in newest])


def _from_turns(node_input: NodeInput, language: str) -> str | None:
    if node_input.session_id is None:
        return None
    turns = node_input.journal.session_turns(node_input.session_id, LOOKED_AT)
    if turns and _LAST_QUESTION.search(tidy(node_input.question)):
        return _LAST[language].format(question=make_safe(quote(turns[-1].question)))
    return _from_answered([turn for turn in reversed(turns) if turn.grounded], node_input, _TURN[language])


def _from_episodes(node_input: NodeInput, language: str) -> str | None:
    if not node_input.speaks_freely and not refers_back(node_input.question):
        return None
    turns = node_input.journal.like_turns(node_input.question, node_input.session_id, LOOKED_AT)
    return _from_answered([turn for turn in turns if turn.grounded], node_input, _EPISODE[language])


def _from_answered(turns: Sequence[Turn], node_input: NodeInput, wording: str) -> str | None:
    """The first turn whose question is this one in other words, with its answer: markers taken out, they cite nothing now."""
    for turn in turns:
        if match_strength(node_input.question, f"{turn.question} {turn.answer}") and _is_same(
            node_input.question, turn
        ):
            return wording.format(
                date=turn.created_at[:10], trace=turn.trace_id[:13], text=make_safe(quote(turn.answer, 600))
            )
    return None


def _is_same(question: str, turn: Turn) -> bool:
    """Both questions ask about the same: what is in an answer alone is not what was asked."""
    return bool(
        match_strength(question, turn.question, adds=False) and match_strength(turn.question, question, adds=False)
    )


def _from_skills(node_input: NodeInput, language: str) -> str | None:
    if not is_for_kb(node_input.question):
        return None
    terms = frozenset(analyze(node_input.question))
    scores = {skill: _skill_score(skill, terms, node_input.question) for skill in SKILLS}
    fits = [skill for skill in SKILLS if scores[skill] == max(scores.values()) > 0][:LISTED_SKILLS]
    wording = _SKILL if is_errand(tidy(node_input.question)) else _SKILLS
    return wording[language].format(calls="\n".join(f" · {s.call}: {s.does}" for s in fits or SKILLS))


def _skill_score(skill: Skill, terms: frozenset[str], question: str) -> int:
    words = frozenset(analyze(f"{skill.call} {skill.does}")) - STOP_WORDS - {"kb"}
    return len(words & terms) + sum(word in question for word in skill.korean)


# Who may answer, the nearest to the user first; what nobody asked for (traits, styles, the terminal) answers nothing.
SPEAKERS: dict[str, Callable[[NodeInput, str], str | None]] = {
    "facts": _from_facts,
    "world_state": _from_world,
    "available_skills": _from_skills,
    "working_memory": _from_turns,
    "episodic_memory": _from_episodes,
}
# Nodes that hold documents' own words: what they say can be cited from the documents, or not at all.
DOCUMENT_NODES = frozenset({"gists", "active_lists"})
# Nodes that repeat what was answered from documents before.
EARLIER_ANSWERS = frozenset({"working_memory", "episodic_memory"})

_FACT = {
    "en": "You told me on {date} (fact {id}): {text}",
    "ko": "{date}에 알려 주신 내용입니다 (사실 {id}): {text}",
}
_TODAY = {"en": "Today is {day}, {date}.", "ko": "오늘은 {date} {day}입니다."}
_DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "ko": ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"),
}
_CORPUS = {
    "en": "The knowledge base holds {count} documents (revision {revision})",
    "ko": "지식 베이스에 문서 {count}개가 있습니다 (개정 {revision})",
}
_NEWEST = {"en": "; the newest:", "ko": "; 최근 문서:"}
_TURN = {
    "en": "You asked this on {date} in this session; the answer was, from documents of that day ({trace}): {text}",
    "ko": "이 세션에서 {date}에 물으신 질문입니다. 그날의 문서에 따른 답 ({trace}): {text}",
}
_EPISODE = {
    "en": "You asked this on {date}; the answer was, from documents of that day ({trace}): {text}",
    "ko": "{date}에 물으신 질문입니다. 그날의 문서에 따른 답 ({trace}): {text}",
}
_LAST = {"en": "Your last question here was: {question}", "ko": "여기에서의 마지막 질문: {question}"}
_LAST_QUESTION = re.compile(
    r"\bwhat (?:did i|have i|was it i) (?:just |last )?ask|\bwhat was my (?:last|previous) question\b|(?:내가|제가) (?:방금|마지막으로|아까) .{0,10}(?:물었|질문)|마지막 질문"
)
_SKILL = {
    "en": "Asking changes nothing. What does it is a command:\n{calls}",
    "ko": "묻는 것만으로는 아무것도 바뀌지 않습니다. 다음 명령이 합니다:\n{calls}",
}

_SKILLS = {"en": "What kb can do, each by its command:\n{calls}", "ko": "kb 가 할 수 있는 일과 그 명령:\n{calls}"}


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
        is_whole=all(check.rests_on or check.status in ("verified", "weak") for check in checks),
    )


def rests_on_line(nodes: Sequence[str], question: str) -> str:
    """What stands below an answer that rests on nodes, in the question's language."""
    named = ", ".join(node.replace("_", " ") for node in nodes)
    return _RESTS[question_language(question)].format(nodes=named)


_RESTS = {
    "en": "\n\n(Not all of this is in your documents: it rests on {nodes}.)",
    "ko": "\n\n(모두 문서에 있는 내용은 아닙니다: {nodes} 에 따른 답입니다.)",
}


def _with_node(check: SentenceCheck, nodes: Sequence[NodeText]) -> SentenceCheck:
    if check.status in ("verified", "misattributed") or check.score >= VERIFIED:
        return check
    told = [(text.node, line) for text in nodes if text.node not in DOCUMENT_NODES for line in text.text.splitlines()]
    lines = [(support_score(check.text, [line]), node) for node, line in told]
    score, node = max(lines, key=lambda found: found[0], default=(0.0, ""))
    if score < VERIFIED:
        return check
    return replace(
        check, rests_on=node, reasons=(*check.reasons, f"only {node.replace('_', ' ')} says so, no document")
    )
