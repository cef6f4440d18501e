"""Documents and chunks in a Milvus database, behind the doors of `kb.store.protocol` and `kb.index.protocol`.

Knows no SQLite: the journal stays in the home. Only `client` imports pymilvus.
"""
