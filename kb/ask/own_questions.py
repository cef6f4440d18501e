"""A question that kb answers itself → the answer, before any document is searched: a document that happens to hold the words
of "What is my name?" knows nothing of the user.

Each answer is one node's and is not grounded. What nobody told kb about the user is refused, in words that say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from kb.ask.from_nodes import (
    ANSWERING_FACTS,
    LOOKED_AT,
    NodeAnswer,
    fact_lines,
    find_facts,
    reply,
    skills_answer,
    world_answer,
)
from kb.context.node_input import NodeInput, make_safe, quote
from kb.context.question_subjects import OWN_NODES, Own, asked_of_kb
from kb.evidence.about_user import asked_keys, tells_of_user_what
from kb.language.manner import tidy
from kb.language.registry import LANGUAGES, everyday_keys, question_language, says
from kb.store.answers import AnswerQuery

# The node of a refusal: none.
NOBODY = ""
EARLIER_QUESTIONS = 5
LISTED_ITEMS = 20
_SENTENCE_ENDS = re.compile(r"(?<=[.;!?])\s+|\n+")


def answer_own_question(node_input: NodeInput, included: Collection[str]) -> NodeAnswer | None:
    """The answer of what kb knows itself; None for a question to the documents, and where no node that may answer has one.

    returns  with the node NOBODY a refusal: the user asks about themselves, and nobody told kb
    """
    own = asked_of_kb(node_input.question)
    if own is None:
        return None
    for node, answer in zip(OWN_NODES[own], _ANSWERS[own], strict=True):
        text = answer(node_input) if node in included else None
        if text:
            return NodeAnswer(node, text)
    return NodeAnswer(NOBODY, _not_told(node_input)) if own == "user" else None


def _told_facts(node_input: NodeInput) -> str | None:
    """The facts that tell what is asked, the newest first; the newest of all for "what do you know about me?"."""
    recent = node_input.journal.recent_memories(node_input.session_id, LOOKED_AT)
    if _asks_for_all(node_input):
        return fact_lines(node_input, recent) or None
    candidates = dict.fromkeys([*find_facts(node_input), *recent])
    name = node_input.profile.name
    fits = [fact for fact in candidates if tells_of_user_what(node_input.question, fact.text, name)]
    return fact_lines(node_input, sorted(fits, key=lambda f: -f.fact_id)[:ANSWERING_FACTS]) or None


def _profile(node_input: NodeInput) -> str | None:
    """The name, and what [profile] traits says of what is asked."""
    name, traits = (make_safe(text) for text in (node_input.profile.name, node_input.profile.traits))
    asked = asked_keys(node_input.question)
    is_who = not everyday_keys(node_input.question)
    lines = [reply(node_input, "profile_name").format(name=name)] if name and "name" in asked else []
    if not is_who:
        traits = " ".join(line for line in _SENTENCE_ENDS.split(traits) if asked <= set(everyday_keys(line)))
    return "\n".join(lines + ([reply(node_input, "profile_traits").format(text=traits)] if traits else [])) or None


def _told_here(node_input: NodeInput) -> str | None:
    """What the user said in this session without asking: "I'm Petra"."""
    if node_input.session_id is None:
        return None
    turns = node_input.journal.session_turns(node_input.session_id, LOOKED_AT)
    told = [
        turn.question
        for turn in reversed(turns)
        if not says("asks", tidy(turn.question)) and tells_of_user_what(node_input.question, turn.question)
    ]
    return reply(node_input, "said_here").format(text=make_safe(quote(told[0]))) if told else None


def _not_told(node_input: NodeInput) -> str:
    """The refusal: what kb was not told, and how to tell it."""
    language = LANGUAGES[question_language(node_input.question)]
    if _asks_for_all(node_input):
        what = language.replies["not_told_you"]
    else:
        keys = [key for key in everyday_keys(node_input.question) if key in language.everyday] or ["name"]
        what = language.replies["not_told_what"].format(" ".join(language.everyday[key].split()[0] for key in keys))
    return language.replies["not_told"].format(what=what)


def _asks_for_all(node_input: NodeInput) -> bool:
    return says("own_all", tidy(node_input.question))


def _earlier_here(node_input: NodeInput) -> str | None:
    """The questions of this session; None outside of one, and in its first turn."""
    if node_input.session_id is None:
        return None
    turns = node_input.journal.session_turns(node_input.session_id, EARLIER_QUESTIONS)
    return _questions(node_input, [turn.question for turn in reversed(turns)], "questions_here") if turns else None


def _earlier(node_input: NodeInput) -> str:
    """The newest questions of this knowledge base, or that there is none."""
    rows = node_input.journal.list_answers(2 * EARLIER_QUESTIONS, AnswerQuery())
    asked = [row.question for row in rows if row.replay_of is None][:EARLIER_QUESTIONS]
    return _questions(node_input, asked, "questions") if asked else reply(node_input, "no_questions")


def _questions(node_input: NodeInput, newest_first: list[str], wording: str) -> str:
    asked = [make_safe(quote(question)) for question in newest_first]
    if says("own_last", tidy(node_input.question)):
        return reply(node_input, "last_question").format(text=asked[0])
    return reply(node_input, wording).format(lines="\n".join(f" · {question}" for question in asked))


def _open_items(node_input: NodeInput) -> str | None:
    """The open list items of all documents; None where there is none: the documents may say it in a sentence."""
    count, items = node_input.corpus.notes.list_open_items(LISTED_ITEMS)
    if not count:
        return None
    lines = [f" · {make_safe(i.text)} ({make_safe(i.path)}{'' if i.line is None else f':{i.line}'})" for i in items]
    if count > len(items):
        lines.append(reply(node_input, "more_items").format(count=count - len(items)))
    return reply(node_input, "open_items").format(count=count, lines="\n".join(lines))


def _tools(node_input: NodeInput) -> str:
    return reply(node_input, "no_tools") + skills_answer(node_input)


# What is asked → (node, its answer), in the order they are asked.
# In the order of OWN_NODES: each node's way to answer.
_ANSWERS: dict[Own, tuple[Callable[[NodeInput], str | None], ...]] = {
    "user": (_told_facts, _profile, _told_here),
    "date": (world_answer,),
    "time": (lambda node_input: world_answer(node_input, with_time=True),),
    "abilities": (skills_answer,),
    "tools": (_tools,),
    "earlier": (_earlier_here, _earlier),
    "tasks": (_open_items,),
}
