"""pymilvus as a few calls over rows, each with a time limit; its errors as problems with a fix. Nothing else imports it.

Every call can be repeated without harm: rows are written by their keys. pymilvus repeats one that a server could not take,
with growing pauses, until the time limit; what then still fails is told, and nothing counts as written.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from kb.config import CorpusConfig
from kb.errors import IoError, KbError
from kb.extras import require
from kb.milvus.address import describe_address, is_file
from kb.milvus.layout import MOST_BYTES, Field, Layout

R = TypeVar("R")
Row = Mapping[str, Any]

# A call may take this long, its repetitions included.
TIMEOUT_SECONDS = 30.0
# A file of Milvus Lite is nobody else's, so that it never waits; but 300,000 chunks take it a minute to count.
FILE_TIMEOUT_SECONDS = 600.0
# A server that restarts is waited for so often, and so long each time; then it does not answer.
_KNOCKS, _KNOCK_SECONDS = 3, 1.0
# The pause after a lost connection, doubled each time.
FIRST_PAUSE_SECONDS = 0.2
# A search sees all that was acknowledged before it began, by whomever: who ingests and then searches, in another process, finds it.
# It costs what Milvus' clock takes to reach the nodes, up to .2 s; "Bounded" would save that and show documents late.
CONSISTENCY = "Strong"
# Milvus answers with this many rows at most.
MOST_ROWS = 16_384
# Keys in one filter, and rows in one message: a message may have 64 MB, a chunk with its vectors comes to about 10 kB.
BATCH = 1_000
# A short text: names, paths, hashes. A path may have 4,096 bytes.
_SHORT_BYTES = 4_096
_MOST_TAGS = 1_024
# What indexes are built with, by their kind: of HNSW the neighbours of a node, and how many are looked at meanwhile.
_BUILT_WITH = {"HNSW": {"M": 24, "efConstruction": 200}, "IVF_SQ8": {"nlist": 4096}}
# How much a search looks at, by kind: the parameter, so many for each row that it is to find, and the least and the most.
_LOOKED_AT = {
    "HNSW": ("ef", 3, 128, 32_768),
    "DISKANN": ("search_list", 3, 128, 32_768),
    "IVF_SQ8": ("nprobe", 1, 64, 512),
}
# The first Milvus with vectors of words, and with inverted indexes.
LEAST_VERSION = (2, 4)
# What Milvus Lite calls its version; a server in a Python wheel has "lite" in it, too: v2.3.5-lite.
_LITE_VERSION = "milvus_lite"
# Of a gRPC error: what the server said.
_DETAILS = re.compile(r'details = "([^"]*)"')
# What the messages of Milvus and of gRPC hold → the problem and its fix.
_PROBLEMS = (
    (("unauthenticated", "auth check", "permission", "privilege"), "refuses this token", "set KB_CORPUS__TOKEN, or ask for rights to the database and its collections"),
    (("database not found", "database not exist", "database:"), "has no such database", "correct corpus.database, or have it made"),
    (("rate limit", "ratelimit", "quota", "exhausted"), "takes no more of this now: a limit is reached", "raise the quota of the database, or try again later"),
    (("no data left in file", "faiss"), "has an index that a full disk cut short", "remove the files *.idx below it: Milvus Lite makes them anew"),
    (("disk", "no space", "memory"), "has no room", "give it more room, then run the same command again"),
    (("deadline", "timeout", "timed out", "unavailable", "connect", "retry"), "does not answer", "start it, or correct corpus.uri"),
)  # fmt: skip


class Client:
    """One corpus of one Milvus database.

    raises  ExtraMissing without pymilvus; IoError where Milvus cannot be used, from every method
    """

    def __init__(self, settings: CorpusConfig) -> None:
        require("a corpus on Milvus needs", "pymilvus", extra="milvus")
        self.settings = settings
        self.where = describe_address(settings.uri, settings.database, settings.collection)
        is_lite_file = is_file(settings.uri)
        if is_lite_file:
            require("a corpus in one file needs", "milvus_lite", extra="milvus")
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its own lines on stderr say nothing that kb does not say
        os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # pymilvus would read the next .env above its own folder
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pymilvus

        for name in ("pymilvus", "milvus_lite", "grpc"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._library: Any = pymilvus
        if not is_lite_file:
            self._knock()
        # A file takes no rights and has no consistency to choose.
        account = {} if is_lite_file else {"token": settings.token}
        self._client: Any = self._ask(
            lambda: pymilvus.MilvusClient(settings.uri, db_name=settings.database, timeout=TIMEOUT_SECONDS, **account)
        )
        self._limit_seconds = FILE_TIMEOUT_SECONDS if is_lite_file else TIMEOUT_SECONDS
        self._known: set[str] = set()
        self._loaded: set[str] = set()
        self._version = str(self._ask(self._client.get_server_version))
        self._is_lite = self._version.startswith(_LITE_VERSION)
        if settings.database and not is_lite_file:
            self._check_database()

    def _knock(self) -> None:
        """Fail within seconds where nobody listens; pymilvus would take its whole time limit."""
        parts = urlsplit(self.settings.uri)
        for attempt in range(_KNOCKS):
            try:
                socket.create_connection((parts.hostname or "", parts.port or 443), TIMEOUT_SECONDS).close()
                return
            except OSError as error:
                if attempt == _KNOCKS - 1:
                    raise self._explain(ConnectionError(f"connect: {error.strerror or error}")) from error
                time.sleep(_KNOCK_SECONDS)

    def _check_database(self) -> None:
        """A server that lists its databases, without the one that is set: an older one would take it for an empty one."""
        try:
            names = self._client.list_databases(**self._limit())
        except Exception as error:
            if _is_of_milvus(error):
                return  # not everybody may list them
            raise
        if names and self.settings.database not in names:
            raise self._explain(LookupError(f"database not found: there are {', '.join(sorted(names))}"))

    def _check_version(self) -> None:
        number = re.match(r"v?(\d+)\.(\d+)", self._version)
        if number and (int(number[1]), int(number[2])) < LEAST_VERSION:
            least = ".".join(map(str, LEAST_VERSION))
            raise IoError(
                f"Milvus at {self.where} is version {self._version.removeprefix('v')}, which cannot keep a corpus of kb",
                fix=f"upgrade it to {least} or later",
                uri=self.settings.uri,
            )

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    # ---- collections

    def has(self, layout: Layout) -> bool:
        """Whether the collection is there."""
        name = self._name(layout)
        if name not in self._known and self._ask(lambda: self._client.has_collection(name, **self._limit())):
            self._known.add(name)
            if self._is_lite and not self._is_loaded(name):  # a server keeps loaded what was loaded; Lite forgets it
                self._ask(lambda: self._client.load_collection(name, **self._limit()))
        return name in self._known

    def create(self, layout: Layout) -> None:
        """Make a collection with its indexes, ready to be searched; or complete one whose maker was killed."""
        name, limit = self._name(layout), self._limit()
        if self.has(layout):
            if name in self._loaded or self._is_loaded(name):
                return
        else:
            self._check_version()
            schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
            for field in layout.fields:
                schema.add_field(field.name, **self._type_of(field, layout))
            make = self._client.create_collection
            self._ask(lambda: make(name, schema=schema, consistency_level=CONSISTENCY, **limit))
        indexes = self._client.prepare_index_params()
        for field in layout.fields:
            self._add_index(indexes, field, is_searched=layout.dimensions > 2)
        self._ask(lambda: self._client.create_index(name, indexes, sync=False, **limit))
        self._ask(lambda: self._client.load_collection(name, **limit))
        self._loaded.add(name)

    def _is_loaded(self, name: str) -> bool:
        state = self._ask(lambda: self._client.get_load_state(name, **self._limit()))["state"]
        if state.name != "Loaded":
            return False
        self._loaded.add(name)
        return True

    def dimensions(self, layout: Layout, field: str) -> int:
        """The length of a field's vectors in a collection that is there."""
        found = self._ask(lambda: self._client.describe_collection(self._name(layout), **self._limit()))
        return next(int(entry["params"]["dim"]) for entry in found["fields"] if entry["name"] == field)

    def drop(self, layout: Layout) -> None:
        """Remove a collection with its rows."""
        self._ask(lambda: self._client.drop_collection(self._name(layout), **self._limit()))
        self._known.discard(self._name(layout))
        self._loaded.discard(self._name(layout))

    # ---- rows

    def upsert(self, layout: Layout, rows: Iterable[Row]) -> None:
        """Write rows by their keys."""
        for batch in batches(rows):
            self._ask(partial(self._client.upsert, self._name(layout), batch, **self._limit()))

    def delete(self, layout: Layout, filter: str) -> None:
        """Delete the rows that pass a filter."""
        self._ask(lambda: self._client.delete(self._name(layout), filter=filter, **self._limit()))

    def delete_keys(self, layout: Layout, keys: Iterable[int | str]) -> None:
        """Delete rows by their keys."""
        for batch in batches(keys):
            self._ask(partial(self._client.delete, self._name(layout), ids=batch, **self._limit()))

    def settle(self, layout: Layout) -> None:
        """Let Milvus Lite index what was written: until then it looks at every row in Python. A server does it by itself."""
        if self._is_lite and self.has(layout):
            self._ask(lambda: self._client.flush(self._name(layout), **self._limit()))

    def get(self, layout: Layout, keys: Iterable[int | str], fields: Sequence[str]) -> dict[Any, Row]:
        """Rows by their keys; those that are gone are left out."""
        found: dict[Any, Row] = {}
        wanted = [layout.key, *fields]
        for batch in batches(dict.fromkeys(keys)) if self.has(layout) else ():
            rows = self._ask(
                partial(self._client.get, self._name(layout), ids=batch, output_fields=wanted, **self._limit())
            )
            found.update((row[layout.key], row) for row in rows)
        return found

    def query(self, layout: Layout, filter: str, fields: Sequence[str], limit: int = MOST_ROWS) -> list[Row]:
        """Rows that pass a filter, `limit` at most, in no order."""
        if not self.has(layout):
            return []
        found = self._ask(
            lambda: self._client.query(
                self._name(layout), filter=filter, output_fields=[*fields], limit=limit, **self._limit()
            )
        )
        return list(found)

    def scan(self, layout: Layout, filter: str, fields: Sequence[str]) -> Iterator[Row]:
        """Every row that passes a filter, in the order of the keys."""
        if not self.has(layout):
            return
        rows = self._ask(
            lambda: self._client.query_iterator(
                self._name(layout),
                batch_size=BATCH,
                filter=filter or _every(layout),
                output_fields=[*fields],
                **self._limit(),
            )
        )
        try:
            while batch := self._ask(rows.next):
                yield from batch
        finally:
            rows.close()

    def count(self, layout: Layout, filter: str = "") -> int:
        """How many rows pass a filter."""
        if not self.has(layout):
            return 0
        rows = self._ask(
            lambda: self._client.query(self._name(layout), filter=filter, output_fields=["count(*)"], **self._limit())
        )
        return int(rows[0]["count(*)"])

    def search(
        self, layout: Layout, field: str, query: Any, depth: int, filter: str, fields: Sequence[str]
    ) -> list[tuple[int, float, Row]]:
        """(key, inner product, fields) of the rows nearest to a vector, best first; `query` is a list, or a dict of a sparse one."""
        if not self.has(layout):
            return []
        wanted = min(depth, MOST_ROWS)
        parameters: dict[str, Any] = {"metric_type": "IP"}
        if not isinstance(query, dict):
            parameters["params"] = self._looked_at(wanted)
        found = self._ask(
            lambda: self._client.search(
                self._name(layout),
                data=[query],
                anns_field=field,
                limit=wanted,
                filter=filter,
                output_fields=[*fields],
                search_params=parameters,
                **self._limit(),
            )
        )
        return [(int(hit[layout.key]), float(hit["distance"]), hit["entity"]) for hit in found[0]]

    # ---- inside

    def _name(self, layout: Layout) -> str:
        return f"{self.settings.collection}_{layout.suffix}"

    def _looked_at(self, rows: int) -> dict[str, int]:
        """The search parameters of the vector index; none for a kind that has no such choice."""
        if (kind := self.settings.vector_index) not in _LOOKED_AT:
            return {}
        name, each, least, most = _LOOKED_AT[kind]
        return {name: min(most, max(least, each * rows))}

    def _limit(self) -> dict[str, float]:
        return {"timeout": self._limit_seconds}

    def _ask(self, call: Callable[[], R]) -> R:
        """The call's result; a connection that is lost is waited for until the time limit."""
        end, pause = time.monotonic() + TIMEOUT_SECONDS, FIRST_PAUSE_SECONDS
        while True:
            try:
                return call()
            except KbError:
                raise
            except Exception as error:
                if not _is_of_milvus(error):
                    raise
                if not _is_lost(error) or time.monotonic() + pause > end:
                    raise self._explain(error) from error
            time.sleep(pause)
            pause *= 2

    def _explain(self, error: Exception) -> IoError:
        said = " ".join(str(getattr(error, "message", error)).split())
        if details := _DETAILS.search(said):
            said = details[1]
        lower = " ".join(f"{cause} {getattr(cause, 'code', '')}" for cause in _causes(error)).lower()
        for words, problem, fix in _PROBLEMS:
            if any(word in lower for word in words):
                if "room" in problem and "memory" not in lower and is_file(self.settings.uri):
                    folder = Path(self.settings.uri).absolute().parent
                    fix = f"make room in {folder} ({shutil.disk_usage(folder).free / 1e6:,.1f} MB are free), then run the same command again"
                return IoError(f"Milvus at {self.where} {problem} ({said[:160]})", fix=fix, uri=self.settings.uri)
        return IoError(
            f"Milvus at {self.where} could not do it: {said[:240]}",
            fix="look this message up in the log or the manual of Milvus",
            uri=self.settings.uri,
        )

    def _type_of(self, field: Field, layout: Layout) -> dict[str, Any]:
        kinds = self._library.DataType
        return {
            "id": {"datatype": kinds.INT64, "is_primary": True},
            "name": {"datatype": kinds.VARCHAR, "max_length": _SHORT_BYTES, "is_primary": True},
            "integer": {"datatype": kinds.INT64},
            "flag": {"datatype": kinds.BOOL},
            "short": {"datatype": kinds.VARCHAR, "max_length": _SHORT_BYTES},
            "text": {"datatype": kinds.VARCHAR, "max_length": MOST_BYTES},
            "words": {
                "datatype": kinds.ARRAY,
                "element_type": kinds.VARCHAR,
                "max_capacity": _MOST_TAGS,
                "max_length": _SHORT_BYTES,
            },
            "sparse": {"datatype": kinds.SPARSE_FLOAT_VECTOR},
            "dense": {"datatype": kinds.FLOAT_VECTOR, "dim": layout.dimensions},
        }[field.kind]

    def _add_index(self, indexes: Any, field: Field, *, is_searched: bool) -> None:
        if field.kind == "sparse":
            indexes.add_index(field.name, index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        elif field.kind == "dense" and is_searched:
            kind = self.settings.vector_index
            indexes.add_index(field.name, index_type=kind, metric_type="IP", params=_BUILT_WITH.get(kind, {}))
        elif field.kind == "dense":
            indexes.add_index(field.name, index_type="FLAT", metric_type="L2")
        elif field.is_filtered and not (field.kind == "words" and self._is_lite):  # Lite has none for arrays
            indexes.add_index(field.name, index_type="INVERTED")


def batches(values: Iterable[Any], most: int = BATCH) -> Iterator[list[Any]]:
    """Values in lists of `most` at most."""
    batch: list[Any] = []
    for value in values:
        batch.append(value)
        if len(batch) == most:
            yield batch
            batch = []
    if batch:
        yield batch


def _is_of_milvus(error: Exception) -> bool:
    """Errors of pymilvus and of gRPC below it; anything else is a bug of kb."""
    return any(base.__module__.partition(".")[0] in ("pymilvus", "grpc") for base in type(error).__mro__)


def _every(layout: Layout) -> str:
    """What every row passes."""
    return f"{layout.key} > 0" if layout.fields[0].kind == "id" else f'{layout.key} != ""'


def _is_lost(error: BaseException) -> bool:
    """Whether a server could not be reached, as one that restarts."""
    said = " ".join(f"{cause} {getattr(cause, 'code', '')}" for cause in _causes(error)).lower()
    refused = any(word in said for words, *_ in _PROBLEMS[:-1] for word in words)
    return not refused and any(word in said for word in ("unavailable", "fail connecting", "connection refused"))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and those it came from: a refused connection is told by the first one alone."""
    met: list[BaseException] = []  # pymilvus raises errors from themselves
    found: BaseException | None = error
    while found is not None and all(found is not other for other in met):
        met.append(found)
        yield found
        found = found.__cause__ or found.__context__
