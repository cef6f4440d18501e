"""What context nodes read from a large store: 50,000 answers, 20,000 documents, 10,000 facts, 10,000 open items.

    python benchmarks/node_store.py [--documents fixtures/corpus]

Every text is made of a corpus's words with a fixed seed; some words stand in most answers. Milliseconds are medians of
seven reads in one process. Then what making a document's notes takes at ingest, a chunk.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kb.ingest.notes import make_notes
from kb.store.acts import Act, note_act
from kb.store.answers import AnswerRow, insert_answer
from kb.store.database import open_for_writing, transaction
from kb.store.documents import newest_documents
from kb.store.memories import add_memory, count_memories, find_memories
from kb.store.notes import count_gists, list_open_items
from kb.store.search_terms import search_terms
from kb.store.sessions import like_turns, list_sessions, measure_session, session_turns

ROOT = Path(__file__).parents[1]
ANSWERS, DOCUMENTS, FACTS = 50_000, 20_000, 10_000
CHUNK_CHARS = 800
QUESTION = "which word of the archive was in word7 and word8"


def fill(connection: sqlite3.Connection, words: list[str]) -> None:
    """Rows as kb writes them, but for what no node reads."""
    draw = random.Random(0)
    plain: dict[str, Any] = dict.fromkeys(AnswerRow.__dataclass_fields__)
    plain |= dict.fromkeys(("model_id", "model_provider", "prompt_template_version", "retrieval_mode"), "x")
    plain |= dict.fromkeys(("retrieval_k", "score_gate", "chunks_returned", "chunks_used", "latency_ms"), 1)
    plain |= {"citations_json": "[]", "packed_json": "[]", "corpus_revision": 1, "grounded": True}
    with transaction(connection):
        for i in range(ANSWERS):
            question, answer = " ".join(draw.choices(words, k=8)), " ".join(draw.choices(words, k=30))
            own = {"trace_id": f"{i:032x}", "question": question, "answer": answer, "raw_answer": answer}
            own |= {"session_id": f"s{i % 500}", "created_at": "2026-01-01T00:00:00Z"}
            insert_answer(connection, AnswerRow(**plain | own), search_terms(question, answer))
        connection.execute("INSERT INTO sources (source) VALUES ('s')")
        for i in range(DOCUMENTS):
            connection.execute(
                "INSERT INTO documents (doc_id, source, path, title, type, language, size_bytes, mtime_ns, content_hash,"
                " signature, indexed_at) VALUES (?, 's', ?, 't', 'markdown', 'en', 1, ?, '', '', '2026-01-01T00:00:00Z')",
                [i, f"p{i}", i],
            )
            connection.execute("INSERT INTO gists VALUES (?, 1, ?)", [i, " ".join(draw.choices(words, k=40))])
            for j in range(2 if i % 4 == 0 else 0):
                connection.execute(
                    "INSERT INTO open_items VALUES (?, ?, 3, ?)", [i, j, " ".join(draw.choices(words, k=6))]
                )
    for _ in range(FACTS):
        add_memory(connection, " ".join(draw.choices(words, k=9)), None, "2026-01-01T00:00:00Z")


def report(name: str, read: Callable[[], object]) -> None:
    """Time a read, and print a line."""
    times = []
    for _ in range(7):
        began = time.perf_counter()
        read()
        times.append((time.perf_counter() - began) * 1000)
    print(f"{name:<44} {statistics.median(times):8.2f} ms")


def main() -> None:
    """Print a line a read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, default=ROOT / "fixtures" / "corpus")
    texts = [path.read_text(errors="replace") for path in sorted(parser.parse_args().documents.rglob("*.md"))]
    words = sorted({word for text in texts for word in text.split()}) + [f"word{i}" for i in range(3000)]
    with TemporaryDirectory() as folder:
        connection = open_for_writing(Path(folder))
        fill(connection, words)
        report("episodic_memory: answers like a question", lambda: like_turns(connection, QUESTION, "s1", 5))
        report("working_memory: six turns", lambda: session_turns(connection, "s1", 6))
        report("facts: those that fit", lambda: find_memories(connection, QUESTION, None, 20))
        report("active_lists: the first thirty", lambda: list_open_items(connection, 30))
        report("act_history: noting a command", lambda: note_act(Path(folder), Act("search", "x", 0), 100))
        report("deciding: turns of the session", lambda: measure_session(connection, "s1"))
        report("deciding: facts, counted", lambda: count_memories(connection, None))
        report("deciding: gists, counted to five", lambda: count_gists(connection, 5))
        report("deciding: is there news", lambda: newest_documents(connection, "2026-05", 1))
        report("list of sessions", lambda: list_sessions(connection))
        connection.close()
    documents = [[(text[i : i + CHUNK_CHARS], 1) for i in range(0, len(text), CHUNK_CHARS)] for text in texts]
    chunks = sum(map(len, documents))
    make_notes(documents[0], "markdown")  # patterns are compiled on first use
    began = time.perf_counter()
    for document in documents:
        make_notes(document, "markdown")
    print(f"{'notes at ingest':<44} {(time.perf_counter() - began) * 1000 / chunks:8.2f} ms a chunk, {chunks} chunks")


if __name__ == "__main__":
    main()
