"""The collections of a corpus and their fields: documents, chunks, counts of words, and single values.

A chunk belongs to a version of its document, and a document's row names the one version that is live: writing that row
is the switch from the old state to the new one. Chunks of a version that no row names are never shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from kb.frozen import dataclass

FORMAT = "1"
# The most bytes that Milvus keeps in one VARCHAR.
MOST_BYTES = 65_535

Kind = Literal["id", "name", "integer", "flag", "short", "text", "words", "sparse", "dense"]
# Milvus wants a vector in every collection; in those that are never searched by one it is this, of two numbers.
PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    kind        id and name are primary keys; words is an array of short texts
    is_filtered  kept in a scalar index of its own
    """

    name: str
    kind: Kind
    is_filtered: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """One collection: its suffix behind the corpus's name, its fields, the length of its dense vectors."""

    suffix: str
    fields: tuple[Field, ...]
    dimensions: int = 2

    @property
    def key(self) -> str:
        """The name of the primary key."""
        return self.fields[0].name

    def names(self, *without: str) -> list[str]:
        """The names of its fields."""
        return [field.name for field in self.fields if field.name not in without]

    def of_length(self, dimensions: int) -> Layout:
        """The same with dense vectors of this length."""
        return replace(self, dimensions=dimensions)


def _fields(kind: Kind, names: str, *, is_filtered: bool = False) -> Iterable[Field]:
    return [Field(name, kind, is_filtered) for name in names.split()]


VALUES = Layout("values", (Field("name", "name"), Field("value", "text"), Field(PLACEHOLDER, "dense")))
WORDS = Layout("words", (Field("word", "id"), Field("chunks", "integer"), Field(PLACEHOLDER, "dense")))
DOCUMENTS = Layout(
    "documents",
    (
        Field("doc_id", "id"),
        *_fields("integer", "version chunks size_bytes notes_version"),
        *_fields("integer", "mtime_ns", is_filtered=True),
        *_fields("short", "source source_lower path type language content_hash", is_filtered=True),
        *_fields("short", "signature file_identity indexed_at"),
        *_fields("text", "title tags applied note gist open_items"),
        Field("tags_lower", "words", is_filtered=True),
        Field(PLACEHOLDER, "dense"),
    ),
)
CHUNKS = Layout(
    "chunks",
    (
        Field("chunk_id", "id"),
        *_fields("integer", "doc_id version mtime_ns", is_filtered=True),
        *_fields("integer", "position start_char end_char start_line end_line page token_count"),
        *_fields("integer", "text_terms headings_terms title_terms"),
        *_fields("short", "source_lower type language embed_hash", is_filtered=True),
        *_fields("short", "text_hash"),
        *_fields("text", "section heading_path text"),
        Field("tags_lower", "words", is_filtered=True),
        Field("is_embedded", "flag"),
        Field("sparse", "sparse"),
        Field("dense", "dense"),
    ),
)
ALL = (VALUES, WORDS, DOCUMENTS, CHUNKS)
