"""The corpus → lines: the gists of the documents hit, the open items of all, how many there are and which are new."""

from __future__ import annotations

from kb.context.node_input import QUOTED_CHARS, NodeInput, news_since, quote
from kb.context.question_subjects import asks_about

# A gist takes about 90 tokens; five fill the node's estimate.
GISTS = 5
ITEMS = 30
NEWS_DOCUMENTS = 5


def lines_of_gists(given: NodeInput) -> list[str]:
    """The gists of the documents that were found, best first."""
    if not given.gives_all and not asks_about(given.question, "overview"):
        return []
    documents = tuple(dict.fromkeys(given.hit_documents))[:GISTS]
    return [f"- {gist.path}: {quote(gist.text, QUOTED_CHARS)}" for gist in given.corpus.notes.fetch_gists(documents)]


def lines_of_open_items(given: NodeInput) -> list[str]:
    """The number of open items and the first of them, newest documents first."""
    if not given.gives_all and not asks_about(given.question, "tasks"):
        return []
    total, items = given.corpus.notes.list_open_items(ITEMS)
    if not total:
        return []
    lines = [f"- {item.text} ({item.path}{'' if item.line is None else f':{item.line}'})" for item in items]
    return [f"{total} open items", *lines]


def lines_of_world(given: NodeInput) -> list[str]:
    """The date, the corpus, and what was ingested lately."""
    if not given.gives_all and not asks_about(given.question, "time", "corpus"):
        return []
    last_turn = given.journal.measure_session(given.session_id)[1] if given.session_id else None
    count = given.corpus.count_documents()
    lines = [
        f"today is {given.now.astimezone().strftime('%A, %Y-%m-%d')}",
        f"the knowledge base holds {count} documents, revision {given.corpus.state().revision}",
    ]
    news = given.corpus.newest_documents(news_since(last_turn, given.now), NEWS_DOCUMENTS)
    return lines + [f"- ingested {indexed_at[:16].replace('T', ' ')} UTC: {path}" for path, indexed_at in news]
