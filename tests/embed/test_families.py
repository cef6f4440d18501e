"""The prefixes that the cards of encoders ask for, by the names people write."""

from __future__ import annotations

import pytest

from kb.embed.families import choose_prefixes, find_prefixes

TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
PASSAGES = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/e5-large-v2", "query: ", "passage: "),
        ("/models/multilingual-e5-base/", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", f"{TASK}Query: ", ""),
        ("intfloat/e5-mistral-7b-instruct", f"{TASK}Query: ", ""),
        ("BAAI/bge-small-en-v1.5", PASSAGES, ""),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-m3", "", ""),
        ("ollama:bge-m3:567m", "", ""),
        ("thenlper/gte-small", "", ""),
        ("Alibaba-NLP/gte-Qwen2-1.5B-instruct", f"{TASK}Query: ", ""),
        ("ollama:nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", PASSAGES, ""),
        ("ollama:snowflake-arctic-embed:335m", PASSAGES, ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("ollama:snowflake-arctic-embed2", "query: ", ""),
        ("Qwen/Qwen3-Embedding-0.6B", f"{TASK}Query:", ""),
        ("ollama:qwen3-embedding:4b", f"{TASK}Query:", ""),
        ("mixedbread-ai/mxbai-embed-large-v1", PASSAGES, ""),
        ("ollama:embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("all-MiniLM-L6-v2", "", ""),
        ("intfloat/simlm-base", "", ""),
        ("/home/e5-small/my-own", "", ""),
    ],
)
def test_prefixes_go_by_the_name(name: str, query: str, document: str) -> None:
    assert find_prefixes(name) == (query, document)


def test_the_configuration_wins_then_the_models_own_then_the_family() -> None:
    e5 = "intfloat/e5-base"
    assert choose_prefixes(e5, ("q: ", "")) == ("q: ", "passage: ")
    assert choose_prefixes(e5, ("", ""), ("find: ", "")) == ("find: ", ""), "a model that names one needs no other"
    assert choose_prefixes(e5, ("", "")) == ("query: ", "passage: ")
