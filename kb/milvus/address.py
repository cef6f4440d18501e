"""milvus://host:19530/database → the keys of [corpus]; a file that ends in .db is Milvus Lite, inside this process."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from kb.errors import InvalidInput

FORM = "milvus://HOST:19530/DATABASE, milvus+tls://HOST:19530/DATABASE or a file that ends in .db"
_SCHEMES = {"milvus": "http", "milvus+tls": "https", "http": "http", "https": "https"}
_PORT = 19530


def read_address(text: str) -> dict[str, str]:
    """The config keys, under their full names, that an address stands for.

    raises  InvalidInput for another form, and for a token inside the address: it would show in lists of processes

    >>> read_address("milvus://db.example:19530/team")
    {'corpus.engine': 'milvus', 'corpus.uri': 'http://db.example:19530', 'corpus.database': 'team'}
    """
    if text.endswith(".db") and "://" not in text:
        return {
            "corpus.engine": "milvus",
            "corpus.uri": os.path.abspath(Path(text).expanduser()),
            "corpus.database": "",
        }
    parts = urlsplit(text)
    database = parts.path.strip("/")
    if parts.scheme not in _SCHEMES or not parts.hostname or "/" in database or parts.query:
        raise InvalidInput(f"'{text}' is not the address of a corpus", fix=f"write it as {FORM}")
    if parts.username or parts.password:
        raise InvalidInput("the address holds a token", fix="put it into the variable KB_CORPUS__TOKEN instead")
    uri = f"{_SCHEMES[parts.scheme]}://{parts.hostname}:{parts.port or _PORT}"
    return {"corpus.engine": "milvus", "corpus.uri": uri, "corpus.database": database}


def describe_address(uri: str, database: str, collection: str) -> str:
    """Where a corpus is, for messages.

    >>> describe_address("http://db:19530", "team", "kb")
    'http://db:19530/team, collection kb'
    """
    return f"{uri}{f'/{database}' if database else ''}, collection {collection}"
