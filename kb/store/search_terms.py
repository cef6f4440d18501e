"""Questions and answers ↔ the terms they are found by: the analyzer of documents and queries, for SQLite's full-text index.

SQLite's own tokenizers know neither Korean compounds nor stems; here they only split analysed text at its spaces.
"""

from __future__ import annotations

from kb.text import analyze, analyze_query, count_unspaced


def search_terms(question: str, answer: str) -> str:
    """The terms of one answer, with a space between two."""
    return " ".join(analyze(f"{question}\n{answer}"))


def terms_text(text: str) -> str:
    """The terms of one text, with a space between two."""
    return " ".join(analyze(text))


def any_expression(query: str) -> str | None:
    """A query as an FTS5 expression: one term is enough; None when it has none.

    >>> any_expression("clean mirrors")
    '"clean" OR "mirror"'
    """
    return " OR ".join(_quoted(analyze_query(query))) or None


def match_expression(query: str) -> str | None:
    """A query as an FTS5 expression: every term must be there; None when it has none.

    One character of a script without spaces stands for the bigrams that begin with it.

    >>> match_expression("clean mirrors"), match_expression("거울 면")
    ('"clean" AND "mirror"', '"거울" AND "면"*')
    """
    terms = analyze_query(query)
    return " AND ".join(_quoted(terms)) or None


def _quoted(terms: list[str]) -> list[str]:
    # The analyzer leaves no quotation mark in a term; they are doubled all the same, as SQL requires.
    return [
        '"' + term.replace('"', '""') + '"' + ("*" if len(term) == 1 and count_unspaced(term) else "") for term in terms
    ]
