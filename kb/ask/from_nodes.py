"""A question that no document answers → what a context node answers in place of a refusal, and that it is from there.

Asked where the evidence is refused or does not name what is asked, and first for what the user told of themselves. What is
found here is not grounded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kb.context.kb_nodes import SKILLS, Skill
from kb.context.node_input import NodeInput, NodeText, make_safe, quote
from kb.context.question_subjects import asks_about, is_for_kb, refers_back
from kb.evidence.matching import match_strength, user_strength
from kb.evidence.question import units_of
from kb.frozen import dataclass
from kb.language.manner import is_about_user, is_errand, tidy
from kb.language.registry import LANGUAGES, question_language, with_translations, words
from kb.store.memories import Memory
from kb.store.sessions import Turn
from kb.text import STOP_WORDS, analyze, estimate_tokens

# Facts and turns that are looked at, best first by words.
LOOKED_AT = 20
# Facts of an answer when several answer equally well: the newest.
ANSWERING_FACTS = 3
NEWEST_DOCUMENTS = 3
LISTED_SKILLS = 3


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What a node answers.

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
    for node, answer in ANSWERS.items():
        if node in included and not (was_read and node in EARLIER_ANSWERS):
            text = answer(node_input)
            if text:
                return NodeAnswer(node, text)
    return None


def find_told_of_user(node_input: NodeInput, included: Collection[str]) -> NodeAnswer | None:
    """What the user told of themselves, where that is what is asked for: no document knows which night is theirs."""
    if "facts" not in included or not is_about_user(tidy(node_input.question)):
        return None
    found = find_facts(node_input)
    strengths = {fact: user_strength(node_input.question, fact.text) for fact in found}
    fits = [fact for fact in found if strengths[fact] and strengths[fact] == max(strengths.values())]
    return NodeAnswer("facts", fact_lines(node_input, fits[:ANSWERING_FACTS])) if fits else None


def find_full_fact(node_input: NodeInput, included: Collection[str], passages: Sequence[str]) -> NodeAnswer | None:
    """A fact that answers and names all that is asked, where no passage names all of it: "치과 예약" without any 치과.

    passages  texts of the evidence
    """
    if "facts" not in included:
        return None
    fits = [fact for fact in find_facts(node_input) if match_strength(node_input.question, fact.text) == 1.0]
    if not fits:
        return None
    units = [unit for unit in units_of(node_input.question) if unit.text not in words("asked_for")]
    for text in passages:
        terms = frozenset(analyze(with_translations(text)))
        if all(unit.share_in(terms) for unit in units):
            return None
    newest = sorted(fits, key=lambda fact: -fact.fact_id)[:ANSWERING_FACTS]
    return NodeAnswer("facts", fact_lines(node_input, newest))


def find_facts(node_input: NodeInput) -> list[Memory]:
    """The facts that share a word with the question, in whichever language, best first."""
    return node_input.journal.find_memories(with_translations(node_input.question), node_input.session_id, LOOKED_AT)


def fact_lines(node_input: NodeInput, facts: Sequence[Memory]) -> str:
    """Facts as an answer tells them, a line each."""
    wording = reply(node_input, "fact")
    return "\n".join(wording.format(date=f.created_at[:10], id=f.fact_id, text=make_safe(f.text)) for f in facts)


def reply(node_input: NodeInput, name: str) -> str:
    """What kb says in the question's language."""
    return LANGUAGES[question_language(node_input.question)].replies[name]


def world_answer(node_input: NodeInput, *, with_time: bool = False) -> str:
    """Today's date, or the time as well, of the user's own time zone."""
    now = node_input.now.astimezone()
    day = reply(node_input, "days").split()[now.weekday()]
    wording = reply(node_input, "time_format" if with_time else "date_format")
    return wording.format(date=now.strftime("%Y-%m-%d"), day=day, time=now.strftime("%H:%M"))


def skills_answer(node_input: NodeInput, skills: Sequence[Skill] = SKILLS, wording: str = "abilities") -> str:
    """Commands, each with what it does."""
    calls = "\n".join(f" · {skill.call}: {skill.does}" for skill in skills)
    return reply(node_input, wording).format(calls=calls)


def _from_facts(node_input: NodeInput) -> str | None:
    found = find_facts(node_input)
    strengths = {fact: match_strength(node_input.question, fact.text) for fact in found}
    best = max(strengths.values(), default=0.0)
    fits = sorted((f for f in found if strengths[f] == best), key=lambda f: -f.fact_id)[:ANSWERING_FACTS]
    return fact_lines(node_input, fits) if best else None


def _from_world(node_input: NodeInput) -> str | None:
    if asks_about(node_input.question, "date"):
        return world_answer(node_input)
    if not asks_about(node_input.question, "corpus"):
        return None
    count = node_input.corpus.count_documents()
    newest = node_input.corpus.newest_documents("", NEWEST_DOCUMENTS)
    text = reply(node_input, "corpus").format(count=count, revision=node_input.corpus.state().revision)
    text += reply(node_input, "newest") if newest else "."
    return "\n".join([text] + [f" · {make_safe(path)} ({when[:10]})" for path, when in newest])


def _from_turns(node_input: NodeInput) -> str | None:
    if node_input.session_id is None:
        return None
    turns = node_input.journal.session_turns(node_input.session_id, LOOKED_AT)
    return _from_answered([turn for turn in reversed(turns) if turn.grounded], node_input, "turn")


def _from_episodes(node_input: NodeInput) -> str | None:
    if not node_input.gives_all and not refers_back(node_input.question):
        return None
    turns = node_input.journal.like_turns(node_input.question, node_input.session_id, LOOKED_AT)
    return _from_answered([turn for turn in turns if turn.grounded], node_input, "episode")


def _from_answered(turns: Sequence[Turn], node_input: NodeInput, wording: str) -> str | None:
    """The first turn whose question is this one in other words, with its answer: markers taken out, they cite nothing now."""
    for turn in turns:
        if match_strength(node_input.question, f"{turn.question} {turn.answer}") and _is_same(
            node_input.question, turn
        ):
            return reply(node_input, wording).format(
                date=turn.created_at[:10], trace=turn.trace_id[:13], text=make_safe(quote(turn.answer, 600))
            )
    return None


def _is_same(question: str, turn: Turn) -> bool:
    """Both questions ask about the same: what is in an answer alone is not what was asked.

    A follow-up stands behind the question before it, which was asked already: "How many does it carry? when was it built?"
    """
    follow_up = question.rpartition("? ")[2]
    return all(
        match_strength(asked, other, adds=False)
        for asked, other in ((question, turn.question), (turn.question, question), (follow_up, turn.question))
    )


def _from_skills(node_input: NodeInput) -> str | None:
    if not is_for_kb(node_input.question):
        return None
    terms = frozenset(analyze(node_input.question))
    scores = {skill: _skill_score(skill, terms, node_input.question) for skill in SKILLS}
    fits = [skill for skill in SKILLS if scores[skill] == max(scores.values()) > 0][:LISTED_SKILLS]
    wording = "errand" if is_errand(tidy(node_input.question)) else "abilities"
    return skills_answer(node_input, fits or SKILLS, wording)


def _skill_score(skill: Skill, terms: frozenset[str], question: str) -> int:
    own = frozenset(analyze(f"{skill.call} {skill.does}")) - STOP_WORDS - {"kb"}
    return len(own & terms) + sum(word in question for word in skill.korean)


# Node → what it answers, the nearest to the user first; what nobody asks for (traits, styles, the terminal) answers nothing.
ANSWERS: dict[str, Callable[[NodeInput], str | None]] = {
    "facts": _from_facts,
    "world_state": _from_world,
    "available_skills": _from_skills,
    "working_memory": _from_turns,
    "episodic_memory": _from_episodes,
}
# Nodes that repeat what was answered from documents before.
EARLIER_ANSWERS = frozenset({"working_memory", "episodic_memory"})
