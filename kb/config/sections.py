"""Every key of every section, with its default, its comment and the values it allows; and `Config`, which holds them.

The comments are shown to users in config.toml and in the documentation.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Literal

from kb.config.keys import key
from kb.frozen import dataclass
from kb.providers import PROVIDERS

# The SearchMode of kb.records, spelled again: importing the records takes 9 ms, and commands without any read the config too.
SearchMode = Literal["lexical", "vector", "hybrid"]
Fusion = Literal["convex", "rrf"]
HitOrder = Literal["relevance", "stability"]
NeighbourFinder = Literal["both", "fasttext", "ngrams"]
CoherenceKind = Literal["centroid", "neighbours"]
PromptVersion = Literal["rag-v1", "rag-v2"]
Retry = Literal["auto", "always", "never"]
EvidencePacking = Literal["ranked", "neighbourhoods", "stability"]
CorpusEngine = Literal["local", "milvus"]
VectorIndexKind = Literal["HNSW", "DISKANN", "IVF_SQ8", "FLAT", "AUTOINDEX"]


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """Where documents, passages and vectors are kept: in the home, or in a Milvus database that many share."""

    engine: CorpusEngine = key(
        "local", "local: kb.sqlite in the home. milvus: the database below.", choices=CorpusEngine
    )
    uri: str = key("", "Address of Milvus, http://HOST:19530, or a file that ends in .db for Milvus Lite.")
    token: str = key("", "USER:PASSWORD or an API key of Milvus; better in the environment than here.")
    database: str = key("", "Database of Milvus; empty: its default one.")
    collection: str = key("kb", "What the names of the collections begin with: a database can hold several corpora.")
    vector_index: VectorIndexKind = key("HNSW", "Vector index of new collections.", choices=VectorIndexKind)


@dataclass(frozen=True, slots=True)
class IngestConfig:
    """Which files kb reads."""

    max_text_bytes: int = key(
        10_000_000, "kb skips larger text, markup and source files and reports the reason.", low=1
    )
    max_binary_bytes: int = key(
        100_000_000, "kb skips larger PDF, Office and EPUB files and reports the reason.", low=1
    )
    prune: bool = key(True, "Forget documents whose files are gone (--prune/--no-prune).")
    hidden: bool = key(False, "Read files and folders whose names begin with a dot.")
    lock_wait_seconds: float = key(
        600.0,
        "Seconds that a writer waits for another writer to finish before it gives up.",
        low=0,
        high=86_400,
    )


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How kb cuts documents. After a change, kb cuts again and re-embeds only the chunks whose text changed."""

    target_tokens: int = key(
        200, "Approximate length of a chunk, in tokens of English; other languages get as much text.", low=16, high=8192
    )


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Which encoder turns text into vectors; kb encoders lists them, and kb init --encoder NAME changes to another one."""

    model: str = key(
        "multilingual-e5-small",
        "multilingual-e5-small, all-MiniLM-L6-v2 (English), a sentence-transformers model, a folder, or ollama:NAME.",
    )
    query_prefix: str = key("", "Text put before every query; empty: as the model was trained.")
    document_prefix: str = key("", "Text put before every chunk; empty: as the model was trained.")
    headings: bool = key(True, "Embed the title and the headings above a chunk with it.")


@dataclass(frozen=True, slots=True)
class ReaderConfig:
    """Which model reads question and passage together, to order what ask found and to judge whether it answers."""

    model: str = key(
        "by-language",
        "Who reads: one for English and one for Korean, a name of docs/reader.md, a CrossEncoder's name or folder, or none.",
    )
    claims: bool = key(
        True,
        "Read each sentence of a model's answer with the passages that it cites, for the verdict; else words decide.",
    )


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How kb finds passages and merges the results of its retrievers."""

    k: int = key(10, "Number of hits when -k is not given.", low=1, high=1000)
    mode: SearchMode = key("hybrid", "How to search when --mode is not given.", choices=SearchMode)
    depth: int = key(100, "Number of hits that each retriever contributes to the fusion.", low=1, high=10_000)
    fusion: Fusion = key(
        "convex",
        "How a hybrid search merges words and meaning: by a weighted sum of scores, or by reciprocal ranks.",
        choices=Fusion,
    )
    order: HitOrder = key(
        "relevance",
        "How hits are ordered: by relevance, or by relevance and context stability together.",
        choices=HitOrder,
    )
    vector_share: float = key(
        0.6, "convex: share of the score that comes from meaning; the rest comes from words.", low=0, high=1
    )
    feedback_chunks: int = key(
        10, "convex: number of top passages mixed into the query for a second ranking.", low=0, high=100
    )
    feedback_weight: float = key(
        0.45, "convex: their share of the mixed query at most; less where the first matches little.", low=0, high=0.9
    )
    heading_weight: float = key(
        0.5,
        "Additional weight of a match in the headings above, which count as text as well, with weight 1.",
        low=0,
        high=100,
    )
    expand_tags: bool = key(
        False, "hybrid: documents with the tags of the query join the fusion as one more list (--expand-tags)."
    )
    exact_up_to_chunks: int = key(
        100_000,
        "Vector search is exact up to this number of chunks and approximate above it.",
        low=1,
        high=100_000_000,
    )


@dataclass(frozen=True, slots=True)
class TagsConfig:
    """How kb finds tags for phrases and documents. Run kb tags train after a change of a key marked (train)."""

    neighbours: NeighbourFinder = key(
        "both",
        "(train) What finds tokens similar to a phrase: FastText, character n-grams, or both.",
        choices=NeighbourFinder,
    )
    context_weight: float = key(
        0.5, "Share of the context in the score of a tag, where there is a context.", low=0, high=1
    )
    per_phrase_k: int = key(50, "Number of neighbours looked up for each phrase.", low=1, high=10_000)
    per_phrase_final_k: int = key(10, "Number of tags kept for each phrase.", low=1, high=10_000)
    global_k: int = key(300, "Number of tags kept in total.", low=1, high=100_000)
    min_count: int = key(0, "Leave out tags that fewer items than this carry.", low=0)
    sensitive_threshold: float = key(
        0.95,
        "Leave out tags whose probability of being sensitive is this or higher, unless --allow-sensitive is given.",
        low=0,
        high=1,
    )
    phrases: int = key(12, "Number of key phrases taken from a text or a document.", low=1, high=1000)


@dataclass(frozen=True, slots=True)
class CswrConfig:
    """Context stability: how well a passage fits its surroundings and the question. Scores lie in [0, 0.90]."""

    threshold_general: float = key(0.70, "Stability below this counts as drift in general questions.", low=0, high=1)
    threshold_tech: float = key(0.65, "Stability below this counts as drift in technical questions.", low=0, high=1)
    threshold_code: float = key(0.55, "Stability below this counts as drift in questions about code.", low=0, high=1)
    coherence: CoherenceKind = key(
        "centroid",
        "How a passage is compared with its project: with the project's mean vector, or by the share of its five"
        " nearest passages that belong to the project.",
        choices=CoherenceKind,
    )
    keep_episodes: int = key(
        0,
        "Number of recent questions kept with their scores for recalibration; 0 scores and keeps none.",
        low=0,
        high=1_000_000,
    )


@dataclass(frozen=True, slots=True)
class CswrWeightsConfig:
    """Weights of the parts of the context stability score. Their sum is 1."""

    vector: float = key(0.35, "Similarity of the passage to the query.", low=0, high=1)
    stability: float = key(0.25, "Similarity of the passage to its neighbours.", low=0, high=1)
    fit: float = key(0.20, "Names, facts, intent and form that the question asks for.", low=0, high=1)
    drift: float = key(0.10, "Penalty for a passage that differs from its surroundings.", low=0, high=1)
    coherence: float = key(0.10, "Similarity of the passage to the rest of its project.", low=0, high=1)


@dataclass(frozen=True, slots=True)
class RagConfig:
    """How kb ask decides, packs evidence and cites it."""

    k: int = key(10, "Number of passages retrieved when -k is not given.", low=1, high=1000)
    prompt_template_version: PromptVersion = key("rag-v2", "Wording of the prompt.", choices=PromptVersion)
    score_gate: float = key(0.01, "Refuse when the best score of the search is below this.", low=0, high=1)
    evidence_gate: float = key(
        0.18,
        "Refuse when the estimated probability that the evidence answers the question is below this; 0 turns it off.",
        low=0,
        high=1,
    )
    # Of the 120 questions of benchmarks/answers.py: of the 30 without an answer one is answered at .3 and none from .4 on; of the 90 others 88
    # at .3, 87 at .55, 86 from .6 to .7.
    sure_gate: float = key(
        0.6,
        "Without a language model: show quotes as the closest passages, not as an answer, when that probability is below this; for an English "
        "question to documents of one subject, below half-way from this to 1.",
        low=0,
        high=1,
    )
    require_verified: bool = key(False, "Refuse an answer when the cited text does not support one of its sentences.")
    retry: Retry = key(
        "auto",
        "Ask the model once more when its answer cites nothing or cites missing passages; auto does so with Ollama.",
        choices=Retry,
    )
    packing: EvidencePacking = key(
        "neighbourhoods",
        "Which passages go into the prompt: all hits in their order, runs of neighbouring passages by relevance, or the"
        " same runs by context stability ([cswr]).",
        choices=EvidencePacking,
    )
    least_share: float = key(
        0.45,
        "neighbourhoods: leave out passages that score below this share of the best (0.7 of it in a search by words).",
        low=0,
        high=1,
    )
    max_context_tokens: int = key(
        8000, "Maximum length of the evidence in a prompt, in tokens.", low=64, high=1_000_000
    )


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """Which language model writes the answers."""

    provider: str = key(
        "auto",
        "Which program runs the model; auto uses Ollama when it runs and the built-in extractive model otherwise.",
        choices=("auto", *PROVIDERS),
    )
    model: str = key("qwen2.5:3b", "Name of the Ollama model.")
    endpoint: str = key("http://127.0.0.1:11434", "Address of the Ollama server.")
    temperature: float = key(0.0, "Sampling temperature of the answer.", low=0, high=2)
    seed: int = key(0, "Seed of the sampling.", low=0)
    context_tokens: int = key(
        8192,
        "Context window requested from Ollama (num_ctx), in tokens. It is rounded down to a power of two so that a loaded"
        " model stays loaded, and it never exceeds the model's own.",
        low=512,
        high=1_000_000,
    )
    max_answer_tokens: int = key(768, "Maximum length of an answer, in tokens (num_predict).", low=1, high=100_000)
    keep_alive: str = key(
        "30m", "How long Ollama keeps the model loaded: 30m, 3600 (seconds), 0 (not at all) or -1 (for ever)."
    )
    connect_timeout_seconds: float = key(
        3.0, "Seconds to wait for the server to accept a connection; 0 waits for ever.", low=0, high=86_400
    )
    first_token_timeout_seconds: float = key(
        600.0,
        "Seconds to wait for the model to load, and again for it to read the prompt; 0 waits for ever.",
        low=0,
        high=86_400,
    )
    between_tokens_timeout_seconds: float = key(
        60.0, "Seconds to wait between two tokens; 0 waits for ever.", low=0, high=86_400
    )


@dataclass(frozen=True, slots=True)
class HistoryConfig:
    """How long kb keeps answers. kb forgets the answers beyond a limit when it stores the next one."""

    keep_days: int = key(0, "Forget answers older than this number of days; 0 keeps them for ever.", low=0, high=36_500)
    keep_answers: int = key(0, "Number of recent answers kept; 0 keeps all.", low=0, high=100_000_000)
    keep_commands: int = key(
        100,
        "Number of kb commands whose names are kept in commands.log of the home, without arguments, and of searches on a"
        " terminal in recent_searches.json; 0 keeps none.",
        low=0,
        high=400,
    )


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """How kb context fills a block: 60 % of its tokens for passages, 30 % for relations, 10 % for the lines around them."""

    k: int = key(5, "Maximum number of passages when -k is not given.", low=1, high=100)
    max_tokens: int = key(500, "Maximum tokens of a block when --max-tokens is not given.", low=50, high=100_000)
    lend_unused: bool = key(
        False, "Give the tokens that relations and the lines around them leave unused to the passages."
    )


@dataclass(frozen=True, slots=True)
class NoveltyConfig:
    """Down-ranks passages that repeat text the reader already has (--seen). Overlaps lie in [0, 1]."""

    enabled: bool = key(True, "false ranks as if no seen text were given.", alias="CONTEXT_GATEWAY_SELFREF_ENABLED")
    shingle_size: int = key(
        5,
        "Number of tokens in a shingle; texts under 20 tokens use shingles of 3.",
        low=1,
        high=20,
        alias="CONTEXT_GATEWAY_SELFREF_SHINGLE_SIZE",
    )
    minhash_permutations: int = key(
        128,
        "Length of the MinHash signatures that estimate the overlap.",
        low=16,
        high=1024,
        alias="CONTEXT_GATEWAY_SELFREF_MINHASH_PERM",
    )
    duplicate_hamming_bits: int = key(
        3,
        "Texts whose SimHashes differ in this number of bits or fewer are near-duplicates; -1 turns this off.",
        low=-1,
        high=64,
        alias="CONTEXT_GATEWAY_SELFREF_DUP_HAMMING",
    )
    trigger_overlap: float = key(
        0.60,
        "A passage with this overlap or more counts as a repetition of the seen text.",
        low=0,
        high=1,
        alias="CONTEXT_GATEWAY_SELFREF_TRIGGER_OVERLAP",
    )
    min_novel: int = key(
        2,
        "kb widens the search when fewer of the first k passages are new; 0 never widens.",
        low=0,
        high=1000,
        alias="CONTEXT_GATEWAY_SELFREF_MIN_NOVEL",
    )
    chunk_weight: float = key(0.90, "Penalty of a passage whose whole text was seen.", low=0, high=1)
    best_effort: bool = key(False, "Show exact duplicates when there is nothing else.")


@dataclass(frozen=True, slots=True)
class RelevanceConfig:
    """Which context nodes go into a prompt."""

    enabled: bool = key(True, "false puts every node into every prompt.")
    rules: str = key("", "A JSON or TOML file of rules that replace defaults; the path is relative to the config file.")
    token_budget: int = key(
        4000,
        "Maximum tokens of context nodes in a prompt; the evidence takes its tokens first.",
        low=0,
        high=100_000,
    )


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """Who asks and how to answer. Prompts receive this as context, never as evidence. Empty keys add nothing."""

    name: str = key("", "Your name.")
    traits: str = key("", "What the model should know about you.")
    style: str = key("", "How you like answers: short, with examples …")
    identity: str = key("", "Name and role of the assistant.")
    modulation: str = key("", "Tone of the assistant: dry, warm …")


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be tuned, checked."""

    corpus: CorpusConfig = CorpusConfig()
    ingest: IngestConfig = IngestConfig()
    chunking: ChunkingConfig = ChunkingConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    reader: ReaderConfig = ReaderConfig()
    search: SearchConfig = SearchConfig()
    tags: TagsConfig = TagsConfig()
    cswr: CswrConfig = CswrConfig()
    cswr_weights: CswrWeightsConfig = CswrWeightsConfig()
    rag: RagConfig = RagConfig()
    llm: LlmConfig = LlmConfig()
    history: HistoryConfig = HistoryConfig()
    context: ContextConfig = ContextConfig()
    novelty: NoveltyConfig = NoveltyConfig()
    relevance: RelevanceConfig = RelevanceConfig()
    profile: ProfileConfig = ProfileConfig()


# Name of a section in the file → its attribute of Config.
SECTIONS = {{"cswr_weights": "cswr.weights"}.get(f.name, f.name): f.name for f in fields(Config)}
# Variable of another program → the key that it sets too.
ALIASES = {
    entry.metadata["alias"]: f"{section}.{entry.name}"
    for section, attribute in SECTIONS.items()
    for entry in fields(getattr(Config(), attribute))
    if entry.metadata["alias"]
}
