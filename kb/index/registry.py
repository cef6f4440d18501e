"""The engines for indexes: one file and one entry here for each.

Importing an engine's file loads no library; writing or opening an index does.
"""

from __future__ import annotations

from kb.index.protocol import LexicalEngine, VectorEngine
from kb.index.tantivy_index import TANTIVY
from kb.index.vector_index import VECTORS

LEXICAL_ENGINES: dict[str, LexicalEngine] = {"tantivy": TANTIVY}
VECTOR_ENGINES: dict[str, VectorEngine] = {"mapped": VECTORS}

# The engine of each kind that a knowledge base uses.
DEFAULT_LEXICAL = "tantivy"
DEFAULT_VECTOR = "mapped"
