"""Indexes that follow the store change by change: they rank as ones that were built from nothing, and touch what changed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from kb.arrays import FloatVector
from kb.config import Config, SearchConfig
from kb.drafts import ChunkDraft, DocumentDraft
from kb.errors import KbError
from kb.index import vector_index
from kb.index.keeper import open_index, write_index
from kb.index.protocol import IndexWriter
from kb.index.stamp import INDEX_FOLDER, Origin, read_stamp
from kb.records import Ranking, SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import rank_chunks
from kb.text import query_terms
from tests.contract.test_index import WORDS

DIMENSIONS = 16
DIGEST = "a digest"
DOCUMENTS = 80
EDITS = 500
EDITS_EACH_COMMITTED = 20
RELATIVE, ABSOLUTE = 3e-6, 1e-6  # how far scores may differ that are the same


class Edited(Runtime):
    """A knowledge base that is edited at random, with vectors of random direction in place of an encoder's."""

    def __init__(self, home: Path, config: Config) -> None:
        super().__init__(home, config, write=True)
        self.chance = random.Random(3)
        self.directions = np.random.default_rng(3)
        self.documents: list[int] = []
        self.saved = 0
        self.fewest = 2  # documents; below, one is added
        self.corpus.save_source("notes", "/notes")
        self.corpus.stamp_encoder(("a model", DIGEST, DIMENSIONS))

    def encode_query(self, text: str) -> FloatVector:
        return unit(np.random.default_rng(len(text) + ord(text[0])).normal(size=DIMENSIONS))

    def why_no_encoder(self, query: str | None = None) -> KbError | None:
        return None

    def save(self, replacing: int | None = None, length: int = 60) -> int:
        self.saved += 1
        rows, vectors = [], {}
        title = f"{self.word()} {self.word()}"
        for position in range(self.chance.randint(1, 4)):
            text = " ".join(self.word() for _ in range(self.chance.randint(3, length)))
            name = f"{self.saved}-{position}"
            rows.append((ChunkDraft(position, 0, len(text), text, (self.word(),) * (position + 1), 9, 1, 2), name))
            vectors[name] = unit(self.directions.normal(size=DIMENSIONS)).tobytes()
        path = f"edited-{replacing}.md" if replacing else f"new-{self.saved}.md"
        draft = DocumentDraft("notes", path, title, "markdown", "en", (), 1, self.saved, str(self.saved), "s")
        return self.corpus.save_document(draft, rows, DIGEST, vectors, replacing).doc_id

    def word(self) -> str:
        return self.chance.choices(WORDS, [1 / (i + 1) for i in range(len(WORDS))])[0]

    def edit(self) -> None:
        """One document more, another one in its place, or one less; long ones go more often than they come."""
        what = self.chance.choice(("add", "edit", "delete"))
        if what == "add" or len(self.documents) < self.fewest:
            self.documents.append(self.save(length=25))
        elif what == "edit":
            self.save(self.chance.choice(self.documents))
        else:
            gone = self.documents.pop(self.chance.randrange(len(self.documents) // 2))
            self.corpus.remove_documents([gone])


def unit(vector: np.ndarray) -> np.ndarray:
    return (vector / np.linalg.norm(vector)).astype("<f4")


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[Edited]:
    with Edited(tmp_path / "home", Config()) as kb:
        kb.documents += [kb.save(length=120) for _ in range(DOCUMENTS)]
        kb.refresh_indexes()
        yield kb


def places(kb: Runtime) -> dict[str, str]:
    stamps = {kind: read_stamp(kb.home / INDEX_FOLDER, kind) for kind in ("lexical", "vector")}
    return {kind: stamp.place for kind, stamp in stamps.items() if stamp}


def rankings(kb: Runtime, queries: Sequence[str]) -> dict[str, list[Ranking]]:
    lexical, vector = kb.lexical_index(), kb.vector_index()
    return {
        "lexical": [lexical.search(query_terms(query), 50) for query in queries],
        "vector": [vector.search(kb.encode_query(query), 50) for query in queries],
        "hybrid": [rank_chunks(kb, SearchRequest(query=query, k=50, mode="hybrid")).ranking for query in queries],
    }


def agree(ours: Ranking, theirs: Ranking) -> bool:
    """The same scores in the same places; which of those that are the same to float's precision comes first is open.

    Tantivy takes ln(1 + x) in 32 bits. Of a word that nearly all chunks hold, x is small and loses up to 6e-8 of its
    own, so such scores (.01) agree to 1e-6 and no further.
    """
    scores = np.array([score for _, score in ours]), np.array([score for _, score in theirs])
    if len(ours) != len(theirs) or not np.allclose(*scores, rtol=RELATIVE, atol=ABSOLUTE):
        return False
    last = theirs[-1][1] if theirs else 0.0
    above = [
        {i for i, score in ranking if score > last + 2 * (RELATIVE * last + ABSOLUTE)} for ranking in (ours, theirs)
    ]
    return above[0] == above[1]


def test_after_500_edits_rankings_are_those_of_new_indexes(edited: Edited) -> None:
    """Equal up to ties, for both kinds and for both together; and the indexes were not just built anew each time."""
    commits = followed = 0
    for edit in range(EDITS):
        edited.edit()
        if edit % 25 == 24 or edit >= EDITS - EDITS_EACH_COMMITTED:
            edited.refresh_indexes()
            stamp = read_stamp(edited.home / INDEX_FOLDER, "lexical")
            commits, followed = commits + 1, followed + bool(stamp and stamp.dead)
    assert followed > commits / 2
    chance = random.Random(5)
    queries = [" ".join(chance.sample(WORDS, chance.randint(1, 5))) for _ in range(200)]
    ours = rankings(edited, queries)
    statistics = edited.lexical_index().statistics(WORDS, [tuple(WORDS[:2])])
    edited.refresh_indexes(force=True)
    theirs = rankings(edited, queries)
    for kind, found in ours.items():
        assert sum(map(len, found)) > 5000
        differing = [query for query, a, b in zip(queries, found, theirs[kind], strict=True) if not agree(a, b)]
        assert not differing, f"{kind}: {len(differing)} of {len(queries)} differ: {differing[:5]}"
    assert statistics == edited.lexical_index().statistics(WORDS, [tuple(WORDS[:2])])


def test_cells_that_were_changed_find_as_many_of_the_nearest(tmp_path: Path) -> None:
    """Loose rows are compared with all, and sorted into the cells as they add up; an index that grows gets new cells."""
    config, engine, vectors = SearchConfig(exact_up_to_chunks=300), vector_index.VECTORS, clustered(2400)
    origin = Origin(1, "state", DIGEST, DIMENSIONS)
    rows = {i: vectors[i] for i in range(1, 600)}
    stamp = write_index(tmp_path, engine, origin, config, lambda w: w.upsert((i, v.tobytes()) for i, v in rows.items()))
    chance, kinds = random.Random(1), {stamp.kind}
    for number in range(600, 2400, 20):
        gone = chance.sample(sorted(rows), 6)
        new = {i: vectors[i] for i in range(number, number + 20)}
        rows = {i: v for i, v in (rows | new).items() if i not in gone}

        def change(writer: IndexWriter, gone: list[int] = gone, new: dict[int, np.ndarray] = new) -> None:
            writer.delete(gone)
            writer.upsert((i, v.tobytes()) for i, v in new.items() if i not in gone)

        stamp = write_index(tmp_path, engine, origin, config, change, stamp)
        kinds.add(stamp.kind)
    assert kinds == {"ivf"}
    assert stamp.rows == len(rows)
    index = open_index(tmp_path, engine, stamp, config)
    assert index.chunk_ids() == set(rows)
    ids, matrix = np.array(list(rows)), np.stack(list(rows.values()))
    found = expected = 0
    for query in clustered(2500)[2400:]:
        best = set(ids[np.argsort(-(matrix @ query))[:10]].tolist())
        found += len(best & {i for i, _ in index.search(query, 10)})
        expected += 10
    assert found >= 0.97 * expected


def clustered(count: int) -> np.ndarray:
    """Directions around forty centres, as those of texts are."""
    generator = np.random.default_rng(8)
    centres = generator.normal(size=(40, DIMENSIONS))
    return np.stack(
        [unit(row) for row in centres[np.arange(count) % 40] + 0.5 * generator.normal(size=(count, DIMENSIONS))]
    )


def test_nothing_changed_touches_nothing(edited: Edited) -> None:
    before = places(edited)
    edited.refresh_indexes()
    assert places(edited) == before


CHANGES: dict[str, tuple[Callable[[Edited], object], set[str]]] = {
    "a document more": (lambda kb: kb.save(), {"lexical", "vector"}),
    "a document less": (lambda kb: kb.corpus.remove_documents([kb.documents[0]]), {"lexical", "vector"}),
    "words without vectors": (
        lambda kb: kb.corpus.save_document(
            DocumentDraft("notes", "new.md", "New", "markdown", "en", (), 1, 1, "h", "s"),
            [(ChunkDraft(0, 0, 5, "rabat", (), 9, 1, 2), "no vector")],
            None,
            {},
        ),
        {"lexical"},
    ),
    "a vector alone": (
        lambda kb: kb.corpus.save_vectors(
            DIGEST, {chunks_of(kb)[0]: "its own"}, {"its own": unit(np.ones(DIMENSIONS)).tobytes()}
        ),
        {"vector"},
    ),
    "tags alone": (lambda kb: kb.corpus.tags.replace_applied_tags({kb.documents[0]: [("tag", 0.5)]}), set()),
}


def chunks_of(kb: Edited) -> tuple[int, ...]:
    return kb.corpus.list_documents([kb.documents[0]])[0].chunk_ids


@pytest.mark.parametrize("change", CHANGES)
def test_only_the_index_that_holds_what_changed_is_written(edited: Edited, change: str) -> None:
    make, written = CHANGES[change]
    before = places(edited)
    make(edited)
    edited.refresh_indexes()
    after = places(edited)
    assert {kind for kind in after if after[kind] != before[kind]} == written
    for keeper in edited.index_keepers():
        stamp = keeper.stamp()
        assert stamp
        assert keeper.is_current(stamp)
        assert stamp.revision == edited.corpus_state().revision


def test_another_title_is_another_row(edited: Edited) -> None:
    """Of a document whose chunks stay as they are."""
    document = edited.corpus.list_documents([edited.documents[3]])[0]
    chunks = edited.corpus.chunks_of_document(document.doc_id)
    rows = [
        (ChunkDraft(c.position, 0, len(c.text), c.text, c.heading_path, 9, 1, 2), f"4-{c.position}") for c in chunks
    ]
    draft = DocumentDraft("notes", "renamed.md", "Zanzibar", "markdown", "en", (), 1, 1, "4", "s")
    saved = edited.corpus.save_document(draft, rows, DIGEST, {}, document.doc_id)
    assert saved.chunks_written == 0
    before = places(edited)
    edited.refresh_indexes()
    assert places(edited)["vector"] == before["vector"]
    found = edited.lexical_index().search(["zanzibar"], 50)
    assert sorted(i for i, _ in found) == sorted(document.chunk_ids)


def test_the_log_of_changes_is_emptied(edited: Edited) -> None:
    for _ in range(3):
        edited.edit()
    edited.refresh_indexes()
    state = edited.corpus_state()
    assert edited.corpus.changed_since("lexical", state.revision, state.token) == []
    assert edited.corpus.changed_since("lexical", state.revision - 1, state.token) is None
    edited.edit()
    assert edited.corpus.changed_since("lexical", state.revision, state.token)


def test_files_that_did_not_change_are_shared_and_not_summed_again(edited: Edited) -> None:
    """A change costs by its own size: what was there is linked, with the sum that it had."""
    folder = edited.home / INDEX_FOLDER
    kept = {}
    for kind, place in places(edited).items():
        biggest = max((folder / place).iterdir(), key=lambda file: file.stat().st_size)
        kept[kind] = biggest.name, biggest.stat().st_ino
    edited.save()
    edited.refresh_indexes()
    for kind, place in places(edited).items():
        name, inode = kept[kind]
        assert (folder / place / name).stat().st_ino == inode


def test_an_opened_index_answers_when_its_files_are_gone(edited: Edited) -> None:
    """A reader goes on with the index it opened, whatever writers put in its place."""
    queries = WORDS[:20]
    lexical, vector = edited.lexical_index(), edited.vector_index()
    edited.chance.shuffle(queries)
    expected = (
        [lexical.search([query], 20) for query in queries],
        [vector.search(edited.encode_query(query), 20) for query in queries],
    )
    with Runtime(edited.home, edited.config) as reader:
        opened = reader.lexical_index(), reader.vector_index()
        before = places(edited)
        for _ in range(2):
            edited.save()
            edited.refresh_indexes()
        assert not any((edited.home / INDEX_FOLDER / place).exists() for place in before.values())
        assert [opened[0].search([query], 20) for query in queries] == expected[0]
        assert [opened[1].search(edited.encode_query(query), 20) for query in queries] == expected[1]
        assert opened[0].chunk_ids() == opened[1].chunk_ids()


def test_rankings_agree_up_to_the_precision_of_a_common_words_idf() -> None:
    common = [(24, 0.013759870082139969), (22, 0.013707350939512253)]
    assert agree(common, [(24, 0.01375975925475359), (22, 0.013707241043448448)])
    assert not agree(common, [(24, 0.01376987), (22, 0.01371735)])
    assert not agree(common, [(22, 0.013759870082139969), (24, 0.013707350939512253)])
    assert not agree(common, common[:1])
