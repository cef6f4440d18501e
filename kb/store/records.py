"""Long texts of the history ↔ compressed bytes with a checksum, and the named texts of one answer ↔ one record of them.

A damaged one reads as None, never as another text. Layout: a byte for the kind, the CRC-32 of the text in UTF-8, four
bytes big-endian, and raw deflate. One of a source is read with the source that it was made of. A kind that was published is never changed: stored answers are read with it for ever.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Mapping
from typing import Any

# SQL for the record of a row of `answers`; NULL where it has none.
RECORD = "(SELECT joined(piece_id, piece) FROM answer_records AS held WHERE held.answer_id = answers.answer_id)"
# Four of them fill a page of 4,096 bytes. In one piece, most records would leave half of a page empty.
_PIECE_BYTES = 1_000
_PLAIN, _RECORD, _OF_SOURCE = 1, 2, 3
_HEAD = struct.Struct(">BI")
_WINDOW_BYTES = 1 << 15
# What records have in common: deflate refers to it instead of writing it again. The most frequent stands last.
_WORDS_OF_RECORDS = (
    b'"mode": "ACKNOWLEDGE", "chosen_by": "a question", "included": ["act_history", "client_context",'
    b' "communication_style", "episodic_memory", "focus", "gists", "identity_context", "identity_modulation",'
    b' "onboarding_nudge", "user_traits", "working_memory", "world_state"], "excluded_hard": ["available_skills",'
    b' "available_tools", "facts", "warm_return_hint"], "excluded_soft": ["active_lists"], "recovered_soft": [],'
    b' "deps_added": [], "overrides_applied": [], "est_tokens": 3580, "token_budget_remaining": 4000, "nodes": [{"node":'
    b' "working_memory", "tokens": 0}, {"node": "focus", "tokens": 0}, {"node": "episodic_memory", "tokens": 0}, {"node":'
    b' "gists", "tokens": 0}, {"node": "world_state", "tokens": 0}, {"node": "user_traits", "tokens": 0}, {"node":'
    b' "communication_style", "tokens": 0}, {"node": "identity_context", "tokens": 0}, {"node": "identity_modulation",'
    b' "tokens": 0}, {"node": "onboarding_nudge", "tokens": 0}, {"node": "client_context", "tokens": 0}, {"node":'
    b' "act_history", "tokens": 0}], "decision": null}{"tags": [], "sources": [], "paths": [], "types": [], "languages": [],'
    b' "since": null, "until": null}{"status": "partial", "contradicted", "unsupported", "verified": 1, "total": 1,'
    b' "coverage": 1.0, "sentences": [{"start": 0, "end": , "text": ". [#1]", "markers": [1], "status": "verified", "score":'
    b' 1.0, "misattributed_to": null, "idle_markers": [], "reasons": [], "rests_on": null}], "forged_markers": [],'
    b' "retried": false}{"packed_chunks_json": , "nodes_json": , "raw_answer": , "citations_json": , "packed_json": ,'
    b' "verification_json": , "prompt_json": , "filters_json": , "relevance_json": , "search_terms": }\n'
    b'[{"marker": 1, "uri": ".md#L1-L2", "path": ".md", "quote": "{"system": "", "user": ["<evidence ">\\n[#1 doc=.md heading='
    b' > span=L1-L2]\\n", {"text": ""}, "\\n\\n[#2  doc=", "</evidence>\\n\\nQuestion: "], "language": "en", "max_tokens": 512,'
    b' "stop": [], "by_meaning": true}[{"marker": 1, "chunk_id": 1, "text_hash": "", "score": 0.5, "members": [1], "path":'
    b' ".md", "start": 0, "end": 1, "uri": ".md#L1-L2", "similarity": 0.8, "chunk": {"schema_version": "chunk.v1", "chunk_id":'
    b' 1, "doc_id": 1, "source": "", "path": ".md", "title": "", "heading_path": ["", ""], "citation": {"schema_version":'
    b' "citation.v1", "path": ".md", "uri": ".md#L1-L2", "start_line": 1, "end_line": 2, "page": null, "section": " > "},'
    b' "token_count": 100, "position": 1, "start": 0, "end": 1, "text_hash": "", "tags": [], "indexed_at": "2026-01-01T00:00'
    b':00Z"}}, {"marker": 2, "chunk_id": '
)


def compress(text: str, source: bytes = b"") -> bytes:
    """A text as bytes that `decompress` reads, with the same source.

    source  texts that most of it stands in, in UTF-8; it is referred to and not written again
    """
    return _deflate(_OF_SOURCE if source else _PLAIN, text, source)


def decompress(packed: bytes | None, source: bytes | None = None) -> str | None:
    """The text that was compressed; None where the bytes or the source are damaged, or not there."""
    return _inflate(_OF_SOURCE, packed, source) if source else _inflate(_PLAIN, packed)


def make_record(texts: Mapping[str, str | None]) -> bytes:
    """Named texts as one record; those that are None are left out."""
    held = {name: text for name, text in texts.items() if text is not None}
    # Lengths before the texts, and not one JSON object: quotes within JSON within JSON are not escaped, and compress well.
    head = json.dumps({name: len(text) for name, text in held.items()})
    return _deflate(_RECORD, f"{head}\n{''.join(held.values())}")


def read_record(packed: bytes | None) -> dict[str, str] | None:
    """The named texts of a record; None where it is damaged, or none."""
    whole = _inflate(_RECORD, packed)
    if whole is None:
        return None
    head, _, body = whole.partition("\n")
    texts, at = {}, 0
    for name, length in json.loads(head).items():
        texts[name] = body[at : at + length]
        at += length
    return texts


def insert_record(connection: sqlite3.Connection, answer_id: int, texts: Mapping[str, str | None]) -> None:
    """Write the record of an answer; part of the caller's transaction."""
    record = make_record(texts)
    pieces = [(answer_id, record[at : at + _PIECE_BYTES]) for at in range(0, len(record), _PIECE_BYTES)]
    connection.executemany("INSERT INTO answer_records (answer_id, piece) VALUES (?, ?)", pieces)


class _Joined:
    """SQL's `joined(number, bytes)`: the pieces of a group, by number, as one."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, bytes]] = []

    def step(self, number: int, piece: bytes = b"") -> None:
        self._pieces.append((number, piece))

    def finalize(self) -> Any:
        if not self._pieces or not all(isinstance(piece, bytes) for _, piece in self._pieces):
            return None
        return b"".join(piece for _, piece in sorted(self._pieces))


def teach_records(connection: sqlite3.Connection) -> None:
    """Let SQL of this connection read them: `plain_text(bytes, source)`, `recorded(bytes, name)`, both NULL for damaged ones; `joined`."""
    connection.create_function("plain_text", 2, decompress, deterministic=True)
    connection.create_function("recorded", 2, lambda packed, name: (read_record(packed) or {}).get(name))
    connection.create_aggregate("joined", 2, _Joined)


def _deflate(kind: int, text: str, source: bytes = b"") -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    known = _known(kind, source)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, known)
    return _HEAD.pack(kind, zlib.crc32(raw)) + deflate.compress(raw) + deflate.flush()


def _inflate(kind: int, packed: bytes | None, source: bytes | None = None) -> str | None:
    if not isinstance(packed, bytes) or len(packed) < _HEAD.size:
        return None
    written, checksum = _HEAD.unpack_from(packed)
    inflate = zlib.decompressobj(-zlib.MAX_WBITS, _known(kind, source or b""))
    try:
        raw = inflate.decompress(packed[_HEAD.size :])
        text = raw.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError):
        return None
    return text if written == kind and inflate.eof and zlib.crc32(raw) == checksum else None


def _known(kind: int, source: bytes) -> bytes:
    """What a text may refer to; deflate looks back 32 kB at most."""
    return {_PLAIN: b"", _RECORD: _WORDS_OF_RECORDS, _OF_SOURCE: source[-_WINDOW_BYTES:]}[kind]
