"""kb itself → lines: its commands, the tools of a model, how to begin. A test compares the list with the command line."""

from __future__ import annotations

from kb.context.node_input import NodeInput
from kb.context.question_subjects import is_for_kb
from kb.frozen import dataclass

# Answers before which a knowledge base counts as new.
NEW_ANSWERS = 1


@dataclass(frozen=True, slots=True)
class Skill:
    """One command: its call, and what it does in words that questions use.

    korean  beginnings of the Korean words for it
    """

    call: str
    does: str
    korean: tuple[str, ...] = ()


SKILLS = (
    Skill("kb remember TEXT", "remember a fact", ("기억", "메모", "적어")),
    Skill("kb forget ID", "forget a fact", ("잊어", "지워")),
    Skill("kb facts", "list what is remembered"),
    Skill("kb ingest PATH", "add files and folders, update what has changed", ("수집", "추가", "등록", "넣어")),
    Skill("kb watch PATH", "follow folders, take up every change", ("감시",)),
    Skill("kb search QUERY", "find passages with their places"),
    Skill("kb ask QUESTION", "answer with citations, or refuse"),
    Skill("kb chat", "ask turn by turn, follow-ups understood"),
    Skill("kb sessions list", "list, show, export, remove conversations", ("대화",)),
    Skill("kb context QUERY", "compose a context block for another model's prompt"),
    Skill("kb graph QUERY", "show relations between names in the documents"),
    Skill("kb list", "list the documents", ("목록",)),
    Skill("kb show DOC", "show a document"),
    Skill("kb open CITATION", "open a cited place in the editor", ("열어",)),
    Skill("kb rm PATH", "forget a document", ("삭제", "지워")),
    Skill("kb answers list", "list, search, replay, remove, export stored answers"),
    Skill("kb tags suggest", "import, train, suggest and apply tags"),
    Skill("kb verify", "check whether texts back a claim"),
    Skill("kb eval run", "draft a suite, measure search and answers against its labels"),
    Skill("kb expert relevance MODE", "try the context relevance rules, show the thresholds of context stability"),
    Skill("kb status", "show the state of the knowledge base"),
    Skill("kb doctor", "check this installation and repair the store"),
    Skill("kb reindex", "rebuild the search indexes", ("색인", "인덱")),
    Skill("kb backup FILE", "back up the knowledge base", ("백업",)),
    Skill("kb corpus copy FROM TO", "copy documents and vectors to or from Milvus"),
    Skill("kb restore FILE", "restore the knowledge base from a backup", ("복원", "복구")),
    Skill("kb models list", "list, choose or download language models", ("언어 모델",)),
    Skill("kb encoders", "list the encoders and see which one is used", ("인코더", "임베딩 모델")),
    Skill("kb mcp", "answer agents over the Model Context Protocol"),
    Skill("kb serve --open", "read, search and ask in a browser"),
    Skill("kb demo", "show a tour on a small corpus"),
    Skill("kb init", "make a home and its settings"),
    Skill("kb schema", "print the JSON Schemas"),
)


def lines_of_skills(given: NodeInput) -> list[str]:
    """The commands, where kb is to do something or is asked what it can do."""
    if not given.gives_all and not is_for_kb(given.question):
        return []
    return [f"- {skill.call}: {skill.does}" for skill in SKILLS]


def lines_of_tools(given: NodeInput) -> list[str]:
    """The tools that a model may call: this version has none."""
    if not given.gives_all and not is_for_kb(given.question):
        return []
    return ["none: nothing is carried out by asking; the user runs the commands"]


def lines_of_beginning(given: NodeInput) -> list[str]:
    """The first step, for a knowledge base without documents, or without a question so far."""
    if not given.corpus.has_documents():
        return ["the knowledge base is empty; kb ingest FOLDER fills it"]
    asked = given.journal.count_answers(NEW_ANSWERS)
    if not given.gives_all or asked >= NEW_ANSWERS:
        return []
    return ["this is the first question to this knowledge base; kb open PLACE opens what an answer cites"]
