"""The name of an encoder → the prefixes its model card asks for before queries and before documents. Pure.

They hold where neither the configuration nor the model's own files name a prefix. Checked against the cards of the models.
"""

from __future__ import annotations

import re

from kb.frozen import dataclass

Prefixes = tuple[str, str]

_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
_PASSAGES = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Family:
    """Encoders of one maker that were trained with the same prefixes.

    pattern   matches somewhere in the lower-case name, without the organisation; the first family that matches counts
    query     stands before every query
    document  stands before every document
    """

    pattern: str
    query: str
    document: str


FAMILIES: tuple[Family, ...] = (
    # The instruction goes before the query alone (cards of multilingual-e5-large-instruct, e5-mistral-7b-instruct).
    Family(r"\be5-.*instruct\b", f"{_TASK}Query: ", ""),
    Family(r"\be5-(small|base|large)", "query: ", "passage: "),
    # Without a blank behind "Query:" (config_sentence_transformers.json of the three sizes).
    Family(r"\bqwen3-embedding", f"{_TASK}Query:", ""),
    Family(r"\bgte-qwen2?", f"{_TASK}Query: ", ""),
    Family(r"\bgte-", "", ""),
    # The English models of v1 and v1.5; BGE-M3 takes no instruction.
    Family(r"\bbge-(small|base|large)-en", _PASSAGES, ""),
    Family(r"\bbge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    Family(r"\bbge-", "", ""),
    Family(r"\bnomic-embed-text", "search_query: ", "search_document: "),
    # Ollama calls version 2 snowflake-arctic-embed2.
    Family(r"\barctic-embed(2|-[ml]-v2)", "query: ", ""),
    Family(r"\barctic-embed", _PASSAGES, ""),
    Family(r"\bmxbai-embed-(large|2d-large|xsmall)", _PASSAGES, ""),
    Family(r"\bembeddinggemma", "task: search result | query: ", "title: none | text: "),
)


def find_prefixes(model: str) -> Prefixes:
    """(before queries, before documents) of the family that a model's name or folder names; empty where it names none.

    >>> find_prefixes("intfloat/multilingual-e5-small")
    ('query: ', 'passage: ')
    >>> find_prefixes("ollama:nomic-embed-text:v1.5"), find_prefixes("all-MiniLM-L6-v2")
    (('search_query: ', 'search_document: '), ('', ''))
    """
    name = model.rstrip("/").rpartition("/")[2].lower()
    found = next((family for family in FAMILIES if re.search(family.pattern, name)), None)
    return (found.query, found.document) if found else ("", "")


def choose_prefixes(model: str, configured: Prefixes, own: Prefixes = ("", "")) -> Prefixes:
    """The prefixes of an encoder: each as configured, else the model's own, else its family's.

    own  as the model's files state them; a model that states one states both
    """
    known = own if any(own) else find_prefixes(model)
    return configured[0] or known[0], configured[1] or known[1]
