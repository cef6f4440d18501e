"""kb: a knowledge base over one SQLite file, as a command and as a library.

>>> import kb
>>> with kb.open("my-home") as base:                        # doctest: +SKIP
...     base.ingest("notes")
...     base.search("borrow checker", k=5).hits[0].citation
...     base.ask("When does Rust drop a value?").answer

The parts, in the order that data takes:

frozen, records, drafts, errors, text, text_units, places, arrays, private, wire, extras, providers   the ground: what everything talks about
config/          config.toml, environment and flags → one checked Config
symbols          text → operators and names with their signs, as index terms
normal_form, shingles, fingerprint   text → what it is recognised by: sha256, SimHash, MinHash
language/        words, phrases, numbers and endings of English and Korean, behind one record a language
store/           SQLite, the only truth: the corpus (documents, chunks, vectors) and the journal (answers, sessions, facts)
embed/           text → vectors: sentence-transformers for batches, ONNX for one query
reader/          question + texts → a score for each, by a cross-encoder that reads both together
index/           one door to lexical (Tantivy BM25) and vector (mapped files) search: built from rows, changed row by row
graph/           text → names and stated relations; names in a query → paths, with a token that vouches for them
support/         claim + texts → does the text back it: numbers, names, negations, words
packing/         scores beside relevance: how well passages hold together, fit a question, repeat known text; packing
followup/        a question that depends on earlier ones → a sentence that stands alone, or all of them joined
relevance/       mode and signals of a prompt → which context nodes are worth their tokens
llm/             prompt → streamed text: Ollama, or the embedded extractive model
milvus/          the corpus and its indexes in a Milvus database, in place of SQLite, Tantivy and mapped files
indexes          rows and changes from the store to both indexes; who may write them, how far they are behind
corpora          which of both a configuration names
runtime          what the jobs run on: store, indexes, encoder and model of one home, opened lazily, once
ingest/          scan → plan → read → prepare (parse, chunk, names, gist) → embed → save → index
ray/             the same with files read and vectors made on a Ray cluster, for kb ingest --ray
tags/            a closed vocabulary: import, train, suggest, apply
search/          filter → retrieve → fuse → calibrate → fold copies → reorder (context stability, known text) → hits
context/         a query and known text → a block for a prompt; context nodes; the walk through the graph
evidence/        how likely passages answer a question: the evidence gate, which decides before a model is asked
ask/             question → retrieve → judge → pack → generate → verify → conclude or refuse → persist
chat/            the same turn by turn: sessions, slash commands
eval/            suites → runs → metrics → compare → report
reading          a document → the part of it that is asked for, within a budget
copying          a corpus → another one, with its vectors, verified
status, doctor, soundness, stability_thresholds   the state of a home; checks of this installation and of all that is stored; thresholds of context stability
library          the Python API: kb.open() and its methods, on the runtime
doors/           what servers share: the library kept warm for many callers; who may come in over HTTP
mcp/             tools, resources and prompts of the Model Context Protocol, on the library
page/            a page to read in: search, documents, answers, conversations, relations, evaluations as HTML of the server
serve/           the JSON of the commands over HTTP, described in OpenAPI, with mcp/ and page/ beside it
cli/             one thin module per command group; render.py prints
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# What libraries report to their makers is off before the first one is imported, whatever the environment says: onnxruntime
# starts when it is imported, the others ask when they report. docs/promises.md has what was looked at.
REPORTS_OFF = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
os.environ.update(REPORTS_OFF)

if TYPE_CHECKING:  # imported by `__getattr__` when they are used: `import kb` costs nothing
    from kb.ask.records import (
        Answer,
        AnswerCitation,
        AnswerEvent,
        AnswerInterrupted,
        AnswerNovelty,
        AnswerRelevance,
        AnswerRetrieval,
        RefusalReason,
        SentenceCheck,
        Usage,
        Verification,
    )
    from kb.config import Config
    from kb.context.records import ContextPassage, ContextPath, ContextResponse
    from kb.errors import KbError
    from kb.graph.records import Slice
    from kb.ingest.report import IngestEvent, IngestReport, Outcome
    from kb.library import KnowledgeBase, open
    from kb.records import (
        AlsoIn,
        Chunk,
        Citation,
        Document,
        Filters,
        Hit,
        HitGroup,
        ModelRef,
        Retrieval,
        SearchMode,
        SearchResponse,
        SearchTrace,
    )
    from kb.store.memories import Forgotten, Memory, Remembered

__version__ = "0.1.0"

# public name → the module that defines it
_HOMES = {
    "kb.library": ("KnowledgeBase", "open"),
    "kb.config": ("Config",),
    "kb.errors": ("KbError",),
    "kb.records": (
        "AlsoIn",
        "Chunk",
        "Citation",
        "Document",
        "Filters",
        "Hit",
        "HitGroup",
        "AlsoIn",
        "HitGroup",
        "ModelRef",
        "Retrieval",
        "SearchMode",
        "SearchResponse",
        "SearchTrace",
    ),
    "kb.ask.records": (
        "Answer",
        "AnswerCitation",
        "AnswerEvent",
        "AnswerInterrupted",
        "AnswerNovelty",
        "AnswerRelevance",
        "AnswerRetrieval",
        "RefusalReason",
        "SentenceCheck",
        "Usage",
        "Verification",
    ),
    "kb.context.records": ("ContextPassage", "ContextPath", "ContextResponse"),
    "kb.ingest.report": ("IngestEvent", "IngestReport", "Outcome"),
    "kb.graph.records": ("Slice",),
    "kb.store.memories": ("Forgotten", "Memory", "Remembered"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - grouped by what they are for
    # open one
    "open",
    "KnowledgeBase",
    "Config",
    "KbError",
    # search
    "Filters",
    "SearchMode",
    "SearchResponse",
    "SearchTrace",
    "Hit",
    "HitGroup",
    "AlsoIn",
    "Retrieval",
    "Citation",
    "Chunk",
    "Document",
    # ask
    "Answer",
    "AnswerCitation",
    "AnswerEvent",
    "AnswerInterrupted",
    "AnswerNovelty",
    "AnswerRelevance",
    "AnswerRetrieval",
    "ModelRef",
    "RefusalReason",
    "SentenceCheck",
    "Usage",
    "Verification",
    # context, graph, ingest, memories
    "ContextPassage",
    "ContextPath",
    "ContextResponse",
    "Slice",
    "IngestEvent",
    "IngestReport",
    "Outcome",
    "Memory",
    "Remembered",
    "Forgotten",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'kb' has no attribute '{name}'")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
