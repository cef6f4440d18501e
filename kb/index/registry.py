"""The engines that indexes can be kept with: one file and one entry here for each.

Importing an engine's file loads no library; that happens when it writes or opens an index.
"""

from __future__ import annotations

from kb.index.faiss_index import FAISS
from kb.index.protocol import LexicalEngine, VectorEngine
from kb.index.tantivy_index import TANTIVY

LEXICAL_ENGINES: dict[str, LexicalEngine] = {"tantivy": TANTIVY}
VECTOR_ENGINES: dict[str, VectorEngine] = {"faiss": FAISS}

# The one of each kind that a knowledge base is opened with.
DEFAULT_LEXICAL = "tantivy"
DEFAULT_VECTOR = "faiss"
