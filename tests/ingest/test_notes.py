"""Gists and open items: what the context nodes keep of a document."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.drafts import DocumentNotes, OpenItem
from kb.ingest.notes import GIST_SENTENCES, NOTES_VERSION, find_open_items, make_gist, make_notes
from kb.store.database import open_for_writing
from kb.store.notes import count_gists, fetch_gists, heal_notes, list_open_items, write_notes
from kb.text import estimate_tokens

LIGHTHOUSE = (
    "# Lighthouse\n\nThe lighthouse keeper tends the lamp of the lighthouse every night.\n\nSee below.\n\n"
    "Bread is sold in the village.\n\nThe lamp of the lighthouse burns oil, and the keeper fills the lamp with oil at dusk.\n\n"
    "```\nlamp lighthouse keeper oil\n```\n\nWho tends the lamp of the lighthouse?\n"
)
KOREAN = "등대지기는 밤마다 등대의 등불을 돌본다. 마을에서는 빵을 판다. 등대의 등불은 기름으로 타며 등대지기가 기름을 채운다."


def test_a_gist_is_the_documents_own_sentences() -> None:
    gist = make_gist([LIGHTHOUSE])
    assert gist.startswith("The lighthouse keeper tends the lamp of the lighthouse every night.")
    assert "burns oil" in gist
    for absent in ("See below", "Who tends", "#", "```"):
        assert absent not in gist
    # Wrapped lines become one line; a list's marks are taken off.
    assert make_gist(["- A pump lifts\n  the harbour water up.\n"]) == "A pump lifts the harbour water up."


def test_a_korean_gist() -> None:
    assert make_gist([KOREAN]).startswith("등대지기는 밤마다 등대의 등불을 돌본다.")


def test_nothing_to_say() -> None:
    assert make_gist([]) == make_gist(["", "# Title\n", "ok\n"]) == ""


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=300), max_size=15))
def test_a_gist_is_short_deterministic_and_one_line(texts: list[str]) -> None:
    gist = make_gist(texts)
    assert gist == make_gist(texts)
    assert "\n" not in gist
    assert gist == " ".join(gist.split())
    assert estimate_tokens(gist) <= 400 * GIST_SENTENCES
    assert make_notes([(text, 1) for text in texts], "markdown").version == NOTES_VERSION


def test_open_items_with_their_lines() -> None:
    text = "# Todo\n\n- [ ] call Ana\n* [x] done\n  1. [ ] nested\n> - [ ] quoted\n-[ ] none\n- [ ]\n```\n- [ ] code\n```\n+ [ ] 우유 사기"
    assert find_open_items([(text, 10), ("no\n- [ ] later", None)]) == (
        OpenItem(12, "call Ana"),
        OpenItem(14, "nested"),
        OpenItem(15, "quoted"),
        OpenItem(21, "우유 사기"),
        OpenItem(None, "later"),
    )
    assert make_notes([("- [ ] x y", 1)], "code").open_items == ()


def test_older_documents_get_their_notes_once(tmp_path: Path) -> None:
    with open_for_writing(tmp_path) as connection:
        add_document(connection, 1, "a.md", LIGHTHOUSE)
        add_document(connection, 2, "b.md", "- [ ] mend the old net\n- [ ] sell bread")
        assert heal_notes(connection, NOTES_VERSION, make_notes) == 2
        assert heal_notes(connection, NOTES_VERSION, make_notes) == 0
        assert [g.path for g in fetch_gists(connection, [2, 1, 1, 9])] == ["b.md", "a.md"]
        assert (count_gists(connection, 5), count_gists(connection, 1)) == (2, 1)
        assert list_open_items(connection, 1)[0] == 2
        # Another way of making them, and a document that is gone with all that was kept of it.
        assert heal_notes(connection, NOTES_VERSION + 1, lambda chunks, kind: DocumentNotes(2, kind, ())) == 2
        assert list_open_items(connection, 5) == (0, [])
        write_notes(connection, 2, make_notes([("- [ ] mend the net", 3)], "markdown"))
        connection.execute("DELETE FROM documents WHERE doc_id = 2")
        assert list_open_items(connection, 5) == (0, [])
        assert fetch_gists(connection, [2]) == []


def add_document(connection: sqlite3.Connection, doc_id: int, path: str, text: str) -> None:
    """A document of one chunk, without notes: as an older kb has left it."""
    connection.execute("INSERT OR IGNORE INTO sources (source) VALUES ('s')")
    connection.execute(
        "INSERT INTO documents (doc_id, source, path, title, type, language, size_bytes, mtime_ns, content_hash, signature,"
        " indexed_at) VALUES (?, 's', ?, ?, 'markdown', 'en', 1, 1, '', '', '2026-01-01T00:00:00Z')",
        [doc_id, path, path],
    )
    connection.execute(
        "INSERT INTO chunks (doc_id, position, start_char, end_char, start_line, heading_path, text, embed_hash,"
        " token_count) VALUES (?, 0, 0, 1, 1, '[]', ?, '', 1)",
        [doc_id, text],
    )
