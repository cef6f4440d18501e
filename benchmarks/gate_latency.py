"""What the evidence gate adds to an ask on a large home: milliseconds in one process, the question's vector known."""

from __future__ import annotations

import os
import statistics
import time
from itertools import cycle, islice

from kb.ask.pack import pack_chunks
from kb.ask.records import AskRequest
from kb.ask.weigh import weigh_evidence
from kb.config import Config, cache_folder
from kb.drafts import ChunkDraft, DocumentDraft
from kb.knowledge_base import KnowledgeBase, open_knowledge_base
from kb.records import SearchRequest
from kb.search.pipeline import search
from kb.store.chunks import fetch_chunks, vectors_of
from kb.store.database import write_meta
from kb.store.documents import save_document, save_source

CHUNKS = 20_000
PER_DOCUMENT = 20
QUESTIONS = (
    "what is the role of the prime minister in canada",
    "How do I declare a path parameter with a type?",
    "What happens when two threads access the same data in Rust?",
    "how many people live in the largest city of the state",
    "Which effects does the boundary layer have on heat transfer at high speed?",
    "When did the murder rate fall most sharply?",
    "쿼리 매개변수를 선택적으로 만들려면 기본값을 무엇으로 두나요?",
    "Who wrote the first compiler and why was it needed?",
)
ROUNDS = 8


def fill_large_home(kb: KnowledgeBase, homes: dict[str, KnowledgeBase]) -> None:
    """CHUNKS real chunks with their vectors, from the homes in turn, over again when they run out."""
    model_id, digest, dimensions = homes["clapnq"].stored_encoder()
    for part, value in (("model_id", model_id), ("digest", digest), ("dimensions", dimensions)):
        write_meta(kb.connection, f"encoder_{part}", value)
    save_source(kb.connection, "mixed", "/mixed")
    texts: list[tuple[str, bytes]] = []
    for home in homes.values():
        rows = dict(home.connection.execute("SELECT chunk_id, text FROM chunks"))
        texts += [(rows[i], blob) for i, blob in vectors_of(home.connection, digest, rows)]
    chosen = list(islice(cycle(texts), CHUNKS))
    for number, start in enumerate(range(0, CHUNKS, PER_DOCUMENT)):
        rows, blobs = [], {}
        for position, (text, blob) in enumerate(chosen[start : start + PER_DOCUMENT]):
            name = f"h{start + position}"
            rows.append((ChunkDraft(position, 0, len(text), text, ("Heading",), 200, 1, 2), name))
            blobs[name] = blob
        draft = DocumentDraft("mixed", f"d{number}.md", f"Title {number}", "markdown", "en", (), 1, 1, "h", "s")
        save_document(kb.connection, draft, rows, digest, blobs)
    kb.refresh_lexical()
    kb.refresh_vector()


def print_latency(homes: dict[str, KnowledgeBase]) -> None:
    """Median and 95th percentile of the gate alone, by mode; every question with new sentences to encode."""
    folder = cache_folder(os.environ) / "eval" / "gate-latency"
    if not (folder / "complete").exists():
        with open_knowledge_base(folder, Config(), write=True) as kb:
            fill_large_home(kb, homes)
        (folder / "complete").touch()
    kb = open_knowledge_base(folder, Config())
    began = time.perf_counter()
    for number in range(ROUNDS):
        kb.encode_query(f"{QUESTIONS[0]} {number}")
    print(f"one query encoded: {(time.perf_counter() - began) / ROUNDS * 1000:.1f} ms, the first opens the encoder")
    for mode in ("hybrid", "lexical"):
        added: list[float] = []
        for number in range(ROUNDS * len(QUESTIONS)):
            question = QUESTIONS[number % len(QUESTIONS)]
            request = AskRequest(question, mode=mode)
            response = search(kb, SearchRequest(question, mode, request.k, explain=True))
            chunks = fetch_chunks(kb.connection, [hit.chunk_id for hit in response.hits])
            packed = [p.chunk for p in pack_chunks([(chunks[h.chunk_id], h.score) for h in response.hits], 8000)]
            kb.forget_sentences()
            began = time.perf_counter()
            weigh_evidence(kb, request, response, packed)
            added.append((time.perf_counter() - began) * 1000)
        added = sorted(added[len(QUESTIONS) :])  # the first round opens what is opened once
        p95 = added[round(0.95 * (len(added) - 1))]
        print(f"{mode:<8} gate p50 {statistics.median(added):.1f} ms, p95 {p95:.1f} ms, {len(added)} asks")
