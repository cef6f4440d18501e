"""What is derived from documents, of a corpus in Milvus: tags, notes, neighbours. Relations are not kept there.

See `kb.store.derived` and the protocols in `kb.store.protocol` for each method.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kb.milvus.filters import quoted
from kb.milvus.layout import DOCUMENTS, PLACEHOLDER
from kb.milvus.rows import DOCUMENT_FIELDS, Row, chunk_ids_of_row, lower_tags
from kb.milvus.saving import Saving
from kb.milvus.values import NOWHERE, TAG, VOCABULARY
from kb.store.graph import StoredEdge, StoredName
from kb.store.neighbours import COSINE_DIGITS, Neighbour, PassageText, Project
from kb.store.notes import Gist, MakeNotes, StoredItem
from kb.store.tags import ImportedVocabulary, StoredVocabulary

_IMPORTED = "vocabulary_of"


class NoGraph:
    """Relations, which a corpus in Milvus does not keep: there is nothing to find. kb graph says why."""

    def existing_keys(self, keys: Iterable[str]) -> set[str]:
        """None of them."""
        return set()

    def names_by_key(self, key: str, limit: int, kind: str | None = None) -> list[StoredName]:
        """None."""
        return []

    def forms_by_key(self, key: str, limit: int) -> list[tuple[str, str, int]]:
        """None."""
        return []

    def names_by_document(self, doc_id: int, kind: str, limit: int) -> list[StoredName]:
        """None."""
        return []

    def edges_by_key(self, key: str, limit: int, *, relations_only: bool) -> list[StoredEdge]:
        """None."""
        return []

    def edges_by_document(self, doc_id: int, limit: int, *, relations_only: bool) -> list[StoredEdge]:
        """None."""
        return []

    def count_graph(self) -> tuple[dict[str, int], dict[str, int]]:
        """Nothing of any kind."""
        return {}, {}


class Tags:
    """The vocabulary, and the tags of documents."""

    def __init__(self, corpus: Saving) -> None:
        self._corpus, self._client, self._values = corpus, corpus.client, corpus.values

    def imported_vocabulary(self) -> ImportedVocabulary | None:
        """See TagDoor."""
        found = self._values.read(_IMPORTED)
        return ImportedVocabulary(*found) if found else None

    def save_vocabulary(self, rows: StoredVocabulary, digest: str, origin: str, imported_at: str) -> None:
        """See TagDoor."""
        self._values.write({_IMPORTED: None})
        self._values.write_long(VOCABULARY, [rows.tags, rows.aliases, rows.items])
        self._values.write({_IMPORTED: [digest, origin, imported_at]})

    def forget_vocabulary(self) -> None:
        """See TagDoor."""
        self._values.write({_IMPORTED: None})
        self._values.write_long(VOCABULARY, None)

    def read_vocabulary(self) -> StoredVocabulary:
        """See TagDoor."""
        tags, aliases, items = self._values.read_long(VOCABULARY) or ([], [], [])
        tagged = tuple((tag, category, count, rating) for tag, category, count, rating in tags)
        return StoredVocabulary(tagged, tuple((a, t) for a, t in aliases), tuple(tuple(item) for item in items))

    def document_tag_lists(self) -> dict[int, tuple[str, ...]]:
        """See TagDoor."""
        rows = self._client.scan(DOCUMENTS, 'tags != "[]"', ["doc_id", "tags"])
        return {row["doc_id"]: tuple(json.loads(row["tags"])) for row in rows}

    def applied_tags(self, doc_ids: Sequence[int] | None = None) -> dict[int, tuple[str, ...]]:
        """See TagDoor."""
        rows: Iterable[Row] = (
            self._client.scan(DOCUMENTS, 'applied != "[]"', ["doc_id", "applied"])
            if doc_ids is None
            else self._client.get(DOCUMENTS, doc_ids, ["applied"]).values()
        )
        found = {row["doc_id"]: tuple(tag for tag, _ in json.loads(row["applied"])) for row in rows}
        return {doc_id: tags for doc_id, tags in found.items() if tags}

    def replace_applied_tags(self, tags: Mapping[int, Iterable[tuple[str, float]]]) -> None:
        """See TagDoor."""
        for row in self._client.get(DOCUMENTS, tags, DOCUMENT_FIELDS).values():
            best = sorted(tags[row["doc_id"]], key=lambda entry: (-entry[1], entry[0]))
            applied = json.dumps(best, ensure_ascii=False)
            lower = lower_tags(json.loads(row["tags"]), applied)
            self._values.write({f"{TAG}:{tag}": True for tag, _ in best})
            if lower != list(row["tags_lower"]):
                self._corpus.rewrite({chunk_id: {"tags_lower": lower} for chunk_id in chunk_ids_of_row(row)})
            self._client.upsert(DOCUMENTS, [{**row, "applied": applied, "tags_lower": lower, PLACEHOLDER: NOWHERE}])

    def documents_by_tag(self, tags: Sequence[str]) -> dict[str, set[int]]:
        """See TagDoor."""
        return {
            tag: {
                row["doc_id"]
                for row in self._client.scan(
                    DOCUMENTS, f"array_contains(tags_lower, {quoted(tag.lower())})", ["doc_id"]
                )
            }
            for tag in tags
        }


class Notes:
    """What documents are about, and their open list items: fields of the documents' rows."""

    def __init__(self, corpus: Saving) -> None:
        self._corpus, self._client = corpus, corpus.client

    def heal_notes(self, version: int, make_notes: MakeNotes) -> int:
        """See NoteDoor."""
        rows = list(self._client.scan(DOCUMENTS, f"notes_version != {version}", ["doc_id", *DOCUMENT_FIELDS]))
        for row in rows:
            chunks = [(c.text, c.citation.start_line) for c in self._corpus.chunks_of_document(row["doc_id"])]
            notes = make_notes(chunks, row["type"])
            items = json.dumps([[item.line, item.text] for item in notes.open_items], ensure_ascii=False)
            made = {"notes_version": notes.version, "gist": notes.gist, "open_items": items, PLACEHOLDER: NOWHERE}
            self._client.upsert(DOCUMENTS, [{**row, **made}])
        return len(rows)

    def count_gists(self, most: int) -> int:
        """See NoteDoor."""
        return len(self._client.query(DOCUMENTS, 'gist != ""', ["doc_id"], limit=most))

    def fetch_gists(self, doc_ids: Sequence[int]) -> list[Gist]:
        """See NoteDoor."""
        rows = self._client.get(DOCUMENTS, doc_ids, ["path", "title", "gist"])
        found = {i: Gist(i, row["path"], row["title"], row["gist"]) for i, row in rows.items() if row["gist"]}
        return [found[doc_id] for doc_id in dict.fromkeys(doc_ids) if doc_id in found]

    def list_open_items(self, most: int) -> tuple[int, list[StoredItem]]:
        """See NoteDoor."""
        rows = list(self._client.scan(DOCUMENTS, 'open_items != "[]"', ["doc_id", "path", "mtime_ns", "open_items"]))
        rows.sort(key=lambda row: (-row["mtime_ns"], row["doc_id"]))
        items = [StoredItem(row["path"], line, text) for row in rows for line, text in json.loads(row["open_items"])]
        return len(items), items[:most]


class Neighbours:
    """Adjacent chunks and projects, computed from the vectors when they are asked for."""

    def __init__(self, corpus: Saving) -> None:
        self._corpus, self._client = corpus, corpus.client
        self._projects: tuple[str, dict[tuple[str, str], Project]] | None = None

    def heal_neighbours(self, encoder_digest: str) -> int:
        """Nothing is stored."""
        return 0

    def neighbours_of(self, encoder_digest: str, chunk_ids: Sequence[int]) -> dict[int, Neighbour]:
        """See NeighbourDoor."""
        found = self._corpus.live_rows(chunk_ids, ["position"])
        sizes = self._client.get(DOCUMENTS, {d.doc_id for _, d in found.values()}, ["chunks"])
        near = {i + step for i in found for step in (-1, 0, 1)}
        vectors = {i: np.frombuffer(v, dtype="<f4") for i, v in self._corpus.vectors_of(encoder_digest, sorted(near))}

        def cosine(one: int, other: int, version: int, chunks: int) -> float | None:
            if not version <= other < version + chunks or one not in vectors or other not in vectors:
                return None
            return round(float(vectors[one] @ vectors[other]), COSINE_DIGITS)

        neighbours = {}
        for i, (row, document) in found.items():
            chunks = sizes[document.doc_id]["chunks"]
            before, after = (cosine(i, i + step, document.version, chunks) for step in (-1, 1))
            project = (document.source, _folder(document.path))
            neighbours[i] = Neighbour(i, document.doc_id, row["position"], chunks, before, after, project)
        return neighbours

    def passage_texts(self, chunk_ids: Iterable[int]) -> dict[int, PassageText]:
        """See NeighbourDoor."""
        found = self._corpus.live_rows(chunk_ids, ["position", "token_count", "heading_path", "text"])
        return {
            i: PassageText(
                i, d.doc_id, row["position"], row["token_count"], f"{d.title}\n{row['heading_path']}\n{row['text']}"
            )
            for i, (row, d) in found.items()
        }

    def chunks_around(self, chunk_ids: Iterable[int], reach: int) -> list[int]:
        """See NeighbourDoor."""
        found = self._corpus.live_rows(chunk_ids, [])
        sizes = self._client.get(DOCUMENTS, {d.doc_id for _, d in found.values()}, ["version", "chunks"])
        return sorted(
            {
                near
                for i, (_, document) in found.items()
                for near in range(i - reach, i + reach + 1)
                if near in chunk_ids_of_row(sizes[document.doc_id])
            }
        )

    def known_tags(self, names: Sequence[str]) -> set[str]:
        """See NeighbourDoor."""
        return {
            name
            for name in names
            if self._client.query(DOCUMENTS, f"array_contains(tags_lower, {quoted(name)})", ["doc_id"], limit=1)
        }

    def has_several_projects(self) -> bool:
        """See NeighbourDoor."""
        seen: set[tuple[str, str]] = set()
        for row in self._client.scan(DOCUMENTS, "", ["source", "path"]):
            seen.add((row["source"], _folder(row["path"])))
            if len(seen) > 1:
                return True
        return False

    def read_projects(self, encoder_digest: str) -> dict[tuple[str, str], Project]:
        """See NeighbourDoor; reads every vector, once for each state of the corpus."""
        token = self._corpus.state().token
        if self._projects is None or self._projects[0] != token:
            self._projects = token, self._sum_projects(encoder_digest)
        return self._projects[1]

    def _sum_projects(self, encoder_digest: str) -> dict[tuple[str, str], Project]:
        is_one_source = len(self._corpus.source_roots()) < 2
        found: dict[tuple[str, str], Project] = {}
        for row, document in self._corpus.scan_live("is_embedded == true", ["dense"]):
            key = (document.source, _folder(document.path) if is_one_source else "")
            vector = np.asarray(row["dense"], dtype=np.float64)
            known = found.get(key)
            found[key] = (
                Project(1, vector) if known is None else Project(known.chunk_count + 1, known.vector_sum + vector)
            )
        return dict(sorted(found.items()))


def _folder(path: str) -> str:
    """The folder at the top of a path, "" for a file at the top of its source."""
    folder, separator, _ = path.partition("/")
    return folder if separator else ""
