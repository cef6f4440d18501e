"""config.toml, environment and flags → one checked Config; every tunable with its unit, range and default.

Loaded once, in the command line, and passed on explicitly: nothing below calls `load_config`. Precedence: built-in
default < file < environment `KB_<SECTION>__<KEY>` < flag. The commented config.toml is generated from this module.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from kb.config_nodes import ProfileConfig, RelevanceConfig
from kb.environment import environment_settings
from kb.errors import ConfigInvalid, ConfigNotFound
from kb.setting import check_value, key, range_text, toml_value, unknown_name

# Sections that stand inside another one in the file; in the environment their name is KB_CSWR_WEIGHTS__<KEY>.
NESTED = {"cswr_weights": "cswr.weights"}


@dataclass(frozen=True, slots=True)
class IngestConfig:
    """What is read, and how much of it."""

    max_text_bytes: int = key(10_000_000, "larger text, markup and source files are skipped, with the reason", low=1)
    max_binary_bytes: int = key(100_000_000, "larger PDF, Office and EPUB files are skipped, with the reason", low=1)
    prune: bool = key(True, "forget documents whose files are gone (--prune/--no-prune)")
    hidden: bool = key(False, "read files and folders whose names begin with a dot")
    lock_wait_seconds: float = key(
        600.0, "how long a second writer waits for the first before it gives up", low=0, high=86_400
    )


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How documents are cut. A change re-chunks, and re-embeds only what reads differently."""

    target_tokens: int = key(200, "chunks grow to about this many tokens of the encoder's tokenizer", low=16, high=8192)
    max_tokens: int = key(0, "no chunk is longer, in tokens; 0 for the encoder's own limit", low=0, high=8192)


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Which encoder turns text into vectors. A change needs the documents to be ingested again."""

    model: str = key("all-MiniLM-L6-v2", "a sentence-transformers model: its name, or a folder with its files")
    query_prefix: str = key("", "put before every query ('query: ' for E5 models)")
    document_prefix: str = key("", "put before every chunk ('passage: ' for E5 models)")
    headings: bool = key(True, "the title and headings above a chunk are embedded with it")
    batch_size: int = key(32, "texts per batch", low=1, high=4096)
    fast_queries: bool = key(True, "encode queries and small batches through ONNX (no torch import)")


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How passages are found and fused."""

    k: int = key(10, "hits returned when -k is not given", low=1, high=1000)
    mode: str = key("hybrid", "when --mode is not given", choices=("lexical", "vector", "hybrid"))
    depth: int = key(100, "how deep each retriever's list goes into the fusion", low=1, high=10_000)
    fusion: str = key("convex", "how a hybrid search orders what both retrievers found", choices=("convex", "rrf"))
    order: str = key(
        "relevance",
        "what hits are ordered by: how well they match, or how well they hold together too",
        choices=("relevance", "stability"),
    )
    vector_share: float = key(0.45, "convex: how much of the score is meaning, the rest is words", low=0, high=1)
    feedback_chunks: int = key(5, "convex: so many of the best passages are mixed into the query", low=0, high=100)
    feedback_weight: float = key(0.3, "convex: how much of the mixture is those passages", low=0, high=0.9)
    rrf_k: int = key(60, "rrf: the constant of reciprocal rank fusion (Cormack et al. 2009)", low=1, high=10_000)
    title_weight: float = key(0.5, "weight of a match in the document's title, against 1 for the text", low=0, high=100)
    heading_weight: float = key(1.0, "weight of a match in the headings above, against 1 for the text", low=0, high=100)
    expand_tags: bool = key(False, "hybrid: documents with the query's tags join as one more list (--expand-tags)")
    tags_weight: float = key(0.25, "weight of that list, against 1 for each of the others", low=0, high=10)
    exact_up_to_chunks: int = key(
        100_000, "vector search is exact up to this many chunks, approximate beyond", low=1, high=100_000_000
    )


@dataclass(frozen=True, slots=True)
class TagsConfig:
    """How tags of the vocabulary are found for phrases and documents. A change of what is marked (train) needs kb tags train."""

    neighbours: str = key(
        "both",
        "(train) who finds tokens like a phrase: FastText, character n-grams, or both mixed",
        choices=("both", "fasttext", "ngrams"),
    )
    fasttext_weight: float = key(0.1, "FastText's share where both are mixed", low=0, high=1)
    epochs: int = key(0, "(train) how often FastText reads the items; 0 chooses by their number", low=0, high=10_000)
    alias_rate: float = key(
        0.1, "(train) share of the items' tags that FastText reads as one of their aliases", low=0, high=1
    )
    seed: int = key(1, "(train) seed of FastText and of the aliases it reads", low=0, high=2**31 - 1)
    context_weight: float = key(0.5, "share of the context in a tag's score, where there is one", low=0, high=1)
    per_phrase_k: int = key(50, "neighbours taken for each phrase", low=1, high=10_000)
    per_phrase_final_k: int = key(10, "tags kept for each phrase", low=1, high=10_000)
    global_k: int = key(300, "tags kept in all", low=1, high=100_000)
    min_count: int = key(0, "tags that fewer items carry are left out", low=0)
    sensitive_threshold: float = key(
        0.95, "tags rated so likely to be sensitive are left out without --allow-sensitive", low=0, high=1
    )
    phrases: int = key(12, "key phrases taken from a text or a document", low=1, high=1000)


@dataclass(frozen=True, slots=True)
class CswrConfig:
    """How well a passage holds together (context stability). Scores lie in [0, 0.90]."""

    threshold_general: float = key(
        0.70, "stability below this counts as drift, in questions of no domain", low=0, high=1
    )
    threshold_tech: float = key(0.65, "the same in technical questions", low=0, high=1)
    threshold_code: float = key(0.55, "the same in questions about code", low=0, high=1)
    pack_tokens: int = key(1800, "tokens of one pack at most", low=16, high=1_000_000)
    packs: int = key(4, "packs of one prompt at most", low=1, high=100)
    main_stability: float = key(
        0.65, "a neighbour at least this stable joins a pack, and the next is tried", low=0, high=1
    )
    supporting_score: float = key(
        0.40, "one that is less stable joins with at least this score, as the last", low=0, high=0.9
    )
    least_score: float = key(0.25, "no pack is made around a passage below this score", low=0, high=0.9)
    confidence: float = key(0.55, "packs less likely than this to hold an answer are dropped", low=0, high=1)
    coherence: str = key(
        "centroid",
        "likeness to its project: to the rest of it, or the share of the five nearest passages that are of it",
        choices=("centroid", "neighbours"),
    )
    keep_episodes: int = key(
        1000, "the newest so many packings are kept for recalibration; 0 keeps none", low=0, high=1_000_000
    )


@dataclass(frozen=True, slots=True)
class CswrWeightsConfig:
    """What each axis of the score weighs; they sum to 1."""

    vector: float = key(0.35, "closeness of the passage to the query", low=0, high=1)
    stability: float = key(0.25, "likeness to the passages beside it", low=0, high=1)
    fit: float = key(0.20, "names, facts, intent and shape that the question asks for", low=0, high=1)
    drift: float = key(0.10, "penalty for standing off from its surroundings", low=0, high=1)
    coherence: float = key(0.10, "likeness to the rest of its project", low=0, high=1)


@dataclass(frozen=True, slots=True)
class RagConfig:
    """How `ask` decides, packs and cites."""

    k: int = key(10, "passages retrieved when -k is not given", low=1, high=1000)
    prompt_template_version: str = key("rag-v2", "the prompt's wording", choices=("rag-v1", "rag-v2"))
    score_gate: float = key(0.01, "refuse when the best fused score is below this (0 to 1)", low=0, high=1)
    evidence_gate: float = key(
        0.15, "refuse when the evidence answers with a lower probability than this; 0 turns it off", low=0, high=1
    )
    require_verified: bool = key(False, "refuse an answer with a sentence that the text it cites does not back")
    retry: str = key(
        "auto",
        "ask once more when an answer cites nothing or what is not there; auto does so with Ollama",
        choices=("auto", "always", "never"),
    )
    packing: str = key(
        "neighbourhoods",
        "what of the hits is packed: all as ranked, or what stands together and scores near the best",
        choices=("ranked", "neighbourhoods"),
    )
    packs: str = key(
        "relevance",
        "neighbourhoods: chosen by relevance, or by context stability as [cswr] says",
        choices=("relevance", "stability"),
    )
    least_share: float = key(
        0.5,
        "neighbourhoods by relevance: what scores below this share of the best stays out (words alone: 0.7 of it)",
        low=0,
        high=1,
    )
    max_context_tokens: int = key(8000, "evidence packed into a prompt, in tokens at most", low=64, high=1_000_000)


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """Which language model writes the answers."""

    provider: str = key(
        "auto", "who answers; auto is Ollama where it runs, else extractive", choices=("auto", "ollama", "extractive")
    )
    model: str = key("qwen2.5:3b", "the Ollama model that answers")
    endpoint: str = key("http://127.0.0.1:11434", "where Ollama listens")
    temperature: float = key(0.0, "randomness of the answer", low=0, high=2)
    seed: int = key(0, "seed of the sampling", low=0)
    context_tokens: int = key(
        8192,
        "context window asked of Ollama (num_ctx), rounded down to a power of two so that a loaded model stays loaded;"
        " clamped to the model's own",
        low=512,
        high=1_000_000,
    )
    max_answer_tokens: int = key(768, "answer length asked of Ollama (num_predict)", low=1, high=100_000)
    keep_alive: str = key(
        "30m", "how long Ollama keeps the model loaded: 30m, 3600 (seconds), 0 not at all, -1 for ever"
    )
    connect_timeout_seconds: float = key(3.0, "to reach the server; 0 waits for ever", low=0, high=86_400)
    first_token_timeout_seconds: float = key(
        600.0, "to load the model, and again to read the prompt; 0 waits for ever", low=0, high=86_400
    )
    between_tokens_timeout_seconds: float = key(60.0, "between two tokens; 0 waits for ever", low=0, high=86_400)


@dataclass(frozen=True, slots=True)
class HistoryConfig:
    """How long answers are kept. What is beyond a bound is forgotten when the next answer is stored."""

    keep_days: int = key(
        0, "answers older than this many days are forgotten; 0 keeps them for ever", low=0, high=36_500
    )
    keep_answers: int = key(0, "the newest so many answers are kept; 0 keeps all", low=0, high=100_000_000)
    keep_commands: int = key(
        100,
        "names of so many kb commands are kept (commands.log in the home, never an argument); 0 notes none",
        low=0,
        high=400,
    )


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """How `kb context` composes a block: 60 % of its tokens for passages, 30 % for relations, 10 % around them."""

    k: int = key(5, "passages at most, when --k is not given", low=1, high=100)
    max_tokens: int = key(500, "tokens of a block, when --max-tokens is not given", low=50, high=100_000)
    tokenizer: str = key(
        "estimate",
        "whose tokens are counted: those of a language model, estimated, or the encoder's own",
        choices=("estimate", "encoder"),
    )
    lend_unused: bool = key(False, "what relations and the lines around leave unused goes to the passages")
    fusion: str = key(
        "rrf",
        "how what a widened search finds joins the first pass: by reciprocal ranks, or by adjusted score",
        choices=("rrf", "score"),
    )


@dataclass(frozen=True, slots=True)
class NoveltyConfig:
    """What the reader already has (a window) presses down what repeats it. Overlaps lie in [0, 1]."""

    enabled: bool = key(True, "false ranks as if no window were given")
    shingle_size: int = key(5, "tokens of a shingle; texts under 20 tokens are compared by 3", low=1, high=20)
    minhash_permutations: int = key(128, "length of the signatures that overlap is estimated from", low=16, high=1024)
    duplicate_hamming_bits: int = key(
        3, "texts whose SimHashes differ in no more bits are near-duplicates; -1 turns this off", low=-1, high=64
    )
    trigger_overlap: float = key(0.60, "from this overlap on a passage only repeats the window", low=0, high=1)
    novel_overlap: float = key(0.30, "below this overlap a passage is new", low=0, high=1)
    near_duplicate_overlap: float = key(0.85, "from this overlap on a passage is a near-duplicate", low=0, high=1)
    min_novel: int = key(
        2, "fewer new ones among the first k, and the search is widened; 0 never widens", low=0, high=1000
    )
    chunk_weight: float = key(0.90, "penalty of a passage that is all in the window", low=0, high=1)
    path_weight: float = key(0.60, "the same for a path of the graph: its structure may still be new", low=0, high=1)
    exponent: float = key(1.35, "the penalty grows with the overlap to this power", low=0.1, high=10)
    best_effort: bool = key(False, "give exact duplicates where there is nothing else")
    cache_entries: int = key(10_000, "fingerprints kept in memory; 0 keeps none", low=0, high=10_000_000)
    cache_ttl_seconds: float = key(1200.0, "how long a fingerprint is kept", low=0, high=86_400)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be tuned, checked."""

    ingest: IngestConfig = IngestConfig()
    chunking: ChunkingConfig = ChunkingConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    search: SearchConfig = SearchConfig()
    tags: TagsConfig = TagsConfig()
    cswr: CswrConfig = CswrConfig()
    cswr_weights: CswrWeightsConfig = CswrWeightsConfig()
    rag: RagConfig = RagConfig()
    llm: LlmConfig = LlmConfig()
    history: HistoryConfig = HistoryConfig()
    context: ContextConfig = ContextConfig()
    novelty: NoveltyConfig = NoveltyConfig()
    relevance: RelevanceConfig = field(default_factory=RelevanceConfig)
    profile: ProfileConfig = field(default_factory=ProfileConfig)


def load_config(
    explicit: Path | None, home: Path, environment: Mapping[str, str], overrides: Mapping[str, Any] | None = None
) -> Config:
    """Read and check the configuration.

    explicit   --config or KB_CONFIG; must exist. Else config.toml in the home, else the user's, else defaults.
    overrides  flags, as {"section.key": value}; they win
    raises     ConfigNotFound, ConfigInvalid
    """
    path = explicit or next((p for p in (home / "config.toml", user_config_path(environment)) if p.is_file()), None)
    values = _read_file(path) if path else {}
    config = Config()
    if path:
        _anchor_rules(values, path.parent)
    for section, given in _unnested(values).items():
        config = _with_section(config, section, given, str(path))
    for variable, section, name, value in environment_settings(environment):
        config = _with_section(config, section, {name: value}, variable)
    for dotted, value in (overrides or {}).items():
        section, _, name = dotted.partition(".")
        config = _with_section(config, section, {name: value}, "the command line")
    if config.chunking.max_tokens and config.chunking.target_tokens > config.chunking.max_tokens:
        raise ConfigInvalid(
            f"chunking.target_tokens ({config.chunking.target_tokens}) is above chunking.max_tokens "
            f"({config.chunking.max_tokens})",
            fix="lower target_tokens, or raise max_tokens (0 means the encoder's limit)",
        )
    _check_weights(config.cswr_weights)
    return config


def user_config_path(environment: Mapping[str, str]) -> Path:
    """Where the user's own config.toml is looked for when the home has none."""
    base = environment.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(base) / "kb" / "config.toml"


def default_home(environment: Mapping[str, str]) -> Path:
    """The knowledge base used when neither --home nor KB_HOME names one."""
    base = environment.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(base) / "kb"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where exported models are kept, shared by all homes; can be deleted at any time."""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "kb"


def commented_toml(config: Config | None = None, *, live: bool = True) -> str:
    """The text of config.toml: every section and key with its comment.

    live  False puts a `# ` before every key, so that the file documents the defaults without pinning them
    """
    lines = ["# Every key of kb at its default. Precedence: default < this file < KB_<SECTION>__<KEY> < flag."]
    config = config or Config()
    for section in fields(config):
        part = getattr(config, section.name)
        lines += ["", f"# {type(part).__doc__}", f"[{NESTED.get(section.name, section.name)}]"]
        for entry in fields(part):
            setting = f"{entry.name} = {toml_value(getattr(part, entry.name))}"
            allowed = range_text(entry.metadata)
            comment = f"# {entry.metadata['doc']}" + (f"; {allowed}" if allowed else "")
            lines += [comment, setting if live else f"# {setting}"]
    return "\n".join(lines) + "\n"


def _read_file(path: Path) -> dict[str, Any]:
    import tomllib

    if not path.is_file():
        raise ConfigNotFound(f"no config file at {path}", fix="check --config or KB_CONFIG, or run: kb init")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path} is not valid TOML: {error}", fix="correct that line", path=str(path)) from error
    except OSError as error:
        raise ConfigInvalid(f"cannot read {path}: {error.strerror}", fix="check its permissions") from error


def _unnested(values: dict[str, Any]) -> dict[str, Any]:
    """[cswr.weights] as a section of its own."""
    flat = dict(values)
    for name, dotted in NESTED.items():
        outer, _, inner = dotted.partition(".")
        if isinstance(flat.get(outer), dict) and inner in flat[outer]:
            flat[name] = flat[outer][inner]
            flat[outer] = {k: v for k, v in flat[outer].items() if k != inner}
    return flat


def _check_weights(weights: CswrWeightsConfig) -> None:
    total = sum(getattr(weights, f.name) for f in fields(weights))
    if abs(total - 1) > 0.001:
        raise ConfigInvalid(
            f"the weights in [cswr.weights] sum to {total:g}",
            fix="let them sum to 1: the thresholds of packing are on that scale",
        )


def _anchor_rules(values: dict[str, Any], folder: Path) -> None:
    """Make `relevance.rules` of a config file absolute: it is relative to that file, not to where kb is called."""
    section = values.get("relevance")
    if isinstance(section, dict) and isinstance(section.get("rules"), str) and section["rules"]:
        section["rules"] = str(folder / Path(section["rules"]).expanduser())


def _with_section(config: Config, section: str, given: Any, origin: str) -> Config:
    sections = {f.name: getattr(config, f.name) for f in fields(config)}
    if section not in sections:
        raise unknown_name(section, list(sections), "section", origin)
    if not isinstance(given, Mapping):
        raise ConfigInvalid(
            f"'{NESTED.get(section, section)}' in {origin} is not a section",
            fix=f"write it as [{NESTED.get(section, section)}] with keys below",
        )
    part, shown = sections[section], NESTED.get(section, section)
    known = {f.name: f for f in fields(part)}
    changed: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise unknown_name(f"{shown}.{name}", [f"{shown}.{k}" for k in known], "key", origin)
        changed[name] = check_value(f"{shown}.{name}", value, known[name], origin)
    return replace(config, **{section: replace(part, **changed)})
