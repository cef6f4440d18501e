"""config.toml, environment and flags → one checked `Config`. A setting is one line of `sections.py`.

keys      what one key is: its default, its comment, the values it allows
sections  every key of every section, and `Config` that holds them
old_keys  keys of earlier versions, and what replaces them
load      file + environment + flags → Config
write     Config → the commented config.toml, and the table of the documentation
"""

from kb.config.load import cache_folder, default_home, find_config, find_home, load_config, user_config_path
from kb.config.sections import (
    ALIASES,
    SECTIONS,
    ChunkingConfig,
    Config,
    ContextConfig,
    CorpusConfig,
    CswrConfig,
    CswrWeightsConfig,
    EmbeddingConfig,
    EvidencePacking,
    HistoryConfig,
    IngestConfig,
    LlmConfig,
    NeighbourFinder,
    NoveltyConfig,
    ProfileConfig,
    RagConfig,
    ReaderConfig,
    RelevanceConfig,
    SearchConfig,
    TagsConfig,
)
from kb.config.write import commented_toml, config_markdown, set_keys

__all__ = [
    "ALIASES",
    "SECTIONS",
    "ChunkingConfig",
    "Config",
    "ContextConfig",
    "CorpusConfig",
    "CswrConfig",
    "CswrWeightsConfig",
    "EmbeddingConfig",
    "EvidencePacking",
    "HistoryConfig",
    "IngestConfig",
    "LlmConfig",
    "NeighbourFinder",
    "NoveltyConfig",
    "ProfileConfig",
    "RagConfig",
    "ReaderConfig",
    "RelevanceConfig",
    "SearchConfig",
    "TagsConfig",
    "cache_folder",
    "commented_toml",
    "config_markdown",
    "default_home",
    "find_config",
    "find_home",
    "load_config",
    "set_keys",
    "user_config_path",
]
