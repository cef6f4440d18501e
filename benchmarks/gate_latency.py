"""What gate, packing and checking add to an ask on a large home: milliseconds in one process, the question's vector known."""

from __future__ import annotations

import os
import statistics
import time
from itertools import cycle, islice

from kb.ask.pack import pack_chunks, with_fence
from kb.ask.prompt import PLACEHOLDER, fence_tag
from kb.ask.records import AskRequest
from kb.ask.verify import verify
from kb.ask.weigh import weigh_evidence
from kb.config import Config, cache_folder
from kb.drafts import ChunkDraft, DocumentDraft
from kb.records import SearchMode, SearchRequest
from kb.runtime import Runtime, open_runtime
from kb.search.pipeline import search
from kb.store.database import open_for_writing

CHUNKS = 20_000
PER_DOCUMENT = 20
# Each with an answer in other words than the passages': by words alone it cannot be told whether they back it.
ASKED = (
    (
        "what is the role of the prime minister in canada",
        "The prime minister leads the cabinet [#1]. Ministers are picked by that person [#1]. The office is held for as long as "
        "the house stands behind it [#2].",
    ),
    (
        "How do I declare a path parameter with a type?",
        "Annotate the argument of the function [#1]. Its value then arrives converted [#1]. A wrong one is answered with an "
        "error [#3].",
    ),
    (
        "What happens when two threads access the same data in Rust?",
        "The program does not compile unless a lock is held [#1]. Ownership rules are checked beforehand [#2]. So no race is left "
        "at run time [#2].",
    ),
    (
        "how many people live in the largest city of the state",
        "About 600,000 inhabitants were counted there [#1]. The second one is far behind [#2]. Growth has slowed since 2010 [#2].",
    ),
    (
        "Which effects does the boundary layer have on heat transfer at high speed?",
        "A thicker layer keeps warmth from the wall [#1]. Turbulence brings it back [#2]. Past Mach 5 friction itself warms the "
        "skin [#4].",
    ),
    (
        "When did the murder rate fall most sharply?",
        "Killings dropped by a tenth within one year [#1]. That was the steepest decline on record [#1]. It did not last [#2].",
    ),
    (
        "쿼리 매개변수를 선택적으로 만들려면 기본값을 무엇으로 두나요?",
        "기본값을 None 으로 둔다 [#1]. 그러면 빼고 불러도 된다 [#1]. 타입은 그대로 검사한다 [#2].",
    ),
    (
        "Who wrote the first compiler and why was it needed?",
        "A mathematician in the navy built it [#1]. Programs had been typed as numbers [#2]. Nobody believed that it would run [#3].",
    ),
)
ROUNDS = 8


def fill_large_home(kb: Runtime, homes: dict[str, Runtime]) -> None:
    """CHUNKS real chunks with their vectors, from the homes in turn, over again when they run out."""
    digest = homes["clapnq"].stored_encoder()[1]
    kb.corpus.stamp_encoder(homes["clapnq"].stored_encoder())
    kb.corpus.save_source("mixed", "/mixed")
    texts: list[tuple[str, bytes]] = []
    for home in homes.values():
        rows = dict(home.store._connection.execute("SELECT chunk_id, text FROM chunks"))
        texts += [(rows[i], blob) for i, blob in home.corpus.vectors_of(digest, rows)]
    chosen = list(islice(cycle(texts), CHUNKS))
    for number, start in enumerate(range(0, CHUNKS, PER_DOCUMENT)):
        rows, blobs = [], {}
        for position, (text, blob) in enumerate(chosen[start : start + PER_DOCUMENT]):
            name = f"h{start + position}"
            rows.append((ChunkDraft(position, 0, len(text), text, ("Heading",), 200, 1, 2), name))
            blobs[name] = blob
        draft = DocumentDraft("mixed", f"d{number}.md", f"Title {number}", "markdown", "en", (), 1, 1, "h", "s")
        kb.corpus.save_document(draft, rows, digest, blobs)
    kb.refresh_indexes()


def print_latency(homes: dict[str, Runtime]) -> None:
    """Median and 95th percentile of each step alone and of all three, by mode; nothing that was encoded before is kept."""
    folder = cache_folder(os.environ) / "eval" / "gate-latency"
    if not (folder / "complete").exists():
        with open_runtime(folder, Config(), write=True) as kb:
            fill_large_home(kb, homes)
        (folder / "complete").touch()
    open_for_writing(folder).close()  # of an older kb: today's schema
    kb = open_runtime(folder, Config())
    began = time.perf_counter()
    for number in range(ROUNDS):
        kb.encode_query(f"{ASKED[0][0]} {number}")
    print(f"one query encoded: {(time.perf_counter() - began) / ROUNDS * 1000:.1f} ms, the first opens the encoder")
    modes: tuple[SearchMode, ...] = ("hybrid", "lexical")
    for mode in modes:
        rounds = [time_steps(kb, question, answer, mode) for _ in range(ROUNDS) for question, answer in ASKED]
        rows = rounds[len(ASKED) :]  # the first round opens what is opened once
        for step in STEPS:
            took = sorted(row[step] for row in rows)
            p95 = took[round(0.95 * (len(took) - 1))]
            print(f"{mode:<8} {step:<18} p50 {statistics.median(took):5.1f} ms, p95 {p95:5.1f} ms, {len(took)} asks")


STEPS = ("gate", "packing", "checking a quote", "checking a paraphrase", "all three")


def time_steps(kb: Runtime, question: str, paraphrase: str, mode: SearchMode) -> dict[str, float]:
    """Milliseconds of each step of one ask; "all three" with the paraphrase, the dearer answer."""
    request = AskRequest(question, mode=mode)
    response = search(kb, SearchRequest(question, mode, request.k, explain=True))
    chunks = kb.corpus.fetch_chunks([hit.chunk_id for hit in response.hits])
    ranked = [(chunks[h.chunk_id], h.score) for h in response.hits]
    kb.forget_sentences()
    took: dict[str, float] = {}
    began = time.perf_counter()
    packed = pack_chunks(ranked, kb.config.rag.max_context_tokens, PLACEHOLDER)
    tag = fence_tag(kb.corpus.fence_secret(), [p.entry for p in packed])
    packed = with_fence(packed, tag)
    took["packing"] = since(began)
    began = time.perf_counter()
    weigh_evidence(kb, request, response, [p.chunk for p in packed])
    took["gate"] = since(began)
    passages = {p.marker: p.chunk for p in packed}
    quote = packed[0].chunk.text.split(". ")[0].strip() + ". [#1]"
    encode = kb.encoder().encode_sentences if mode == "hybrid" else None
    for step, answer in (("checking a quote", quote), ("checking a paraphrase", paraphrase)):
        began = time.perf_counter()
        verify(answer, passages, encode)
        took[step] = since(began)
    took["all three"] = took["packing"] + took["gate"] + took["checking a paraphrase"]
    return took


def since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
