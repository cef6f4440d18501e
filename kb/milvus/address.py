"""milvus://host:19530/database → the keys of [corpus]; a file that ends in .db is Milvus Lite, inside this process."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from kb.errors import InvalidInput

FORM = "milvus://HOST:19530/DATABASE, milvus+tls://…, or a file that ends in .db; #COLLECTION may follow"
_SCHEMES = {"milvus": "http", "milvus+tls": "https", "http": "http", "https": "https"}
_PORT = 19530


def read_address(text: str) -> dict[str, str]:
    """The config keys, under their full names, that an address stands for.

    raises  InvalidInput for another form, and for a token inside the address: it would show in lists of processes

    >>> read_address("milvus://db.example:19530/team")
    {'corpus.engine': 'milvus', 'corpus.uri': 'http://db.example:19530', 'corpus.database': 'team'}
    """
    text, _, collection = text.partition("#")
    named = {"corpus.collection": collection} if collection else {}
    if is_file(text):
        path = os.path.abspath(Path(text).expanduser())
        return {"corpus.engine": "milvus", "corpus.uri": path, "corpus.database": "", **named}
    parts = urlsplit(text)
    database = parts.path.strip("/")
    if parts.scheme not in _SCHEMES or not parts.hostname or "/" in database or parts.query:
        raise InvalidInput(f"'{text}' is not the address of a corpus", fix=f"write it as {FORM}")
    if parts.username or parts.password:
        raise InvalidInput("the address holds a token", fix="put it into the variable KB_CORPUS__TOKEN instead")
    uri = f"{_SCHEMES[parts.scheme]}://{parts.hostname}:{parts.port or _PORT}"
    return {"corpus.engine": "milvus", "corpus.uri": uri, "corpus.database": database, **named}


def is_file(text: str) -> bool:
    """Whether an address is that of Milvus Lite."""
    return text.endswith(".db") and "://" not in text


def is_address(text: str) -> bool:
    """Whether a text is meant as the address of a corpus in Milvus, and not as a data folder."""
    return "://" in text or is_file(text.partition("#")[0])


def describe_address(uri: str, database: str, collection: str) -> str:
    """Where a corpus is, for messages.

    >>> describe_address("http://db:19530", "team", "kb")
    'http://db:19530/team, collection kb'
    """
    return f"{uri}{f'/{database}' if database else ''}, collection {collection}"
